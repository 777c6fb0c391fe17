"""How early the true positives come: BEDROC, and the part of the ROC area that is looked at.

Both are means over two samples, positives and others, whose numbers are fixed; the influence of
each candidate on them gives their variance.

References
----------
J.-F. Truchon and C. I. Bayly (2007), Evaluating virtual screening methods: good and bad metrics for
the "early recognition" problem, Journal of Chemical Information and Modeling 47. L. E. Dodd and
M. S. Pepe (2003), Partial AUC estimation and regression, Biometrics 59. D. K. McClish (1989),
Analyzing a portion of the ROC curve, Medical Decision Making 9.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.average_precision import quantile


class Early(NamedTuple):
    """A share between 0 and 1, and the influence of each candidate on it, the candidates last."""

    share: FloatArray
    influence: FloatArray  #: of mean 0 in either class; 0 for what is absent
    gold: BoolArray
    present: BoolArray


class _Blocks(NamedTuple):
    """The candidates by rank, and the blocks of equal scores."""

    positions: IntArray
    true: BoolArray
    here: BoolArray
    start: IntArray
    end: IntArray
    tp: IntArray  #: up to each rank, from 0
    positive: IntArray  #: (..., 1)
    total: IntArray

    @classmethod
    def of(cls, score: FloatArray, gold: BoolArray, present: BoolArray) -> _Blocks:
        positions = ranking.order(score, present)
        total = present.sum(axis=-1)[..., np.newaxis]
        start, end = ranking.blocks(np.take_along_axis(score, positions, axis=-1), total[..., 0])
        true = np.take_along_axis(gold, positions, axis=-1)
        here = np.take_along_axis(present, positions, axis=-1)
        tp = np.zeros((*score.shape[:-1], score.shape[-1] + 1), dtype=np.int64)
        np.cumsum(true, axis=-1, out=tp[..., 1:])
        return cls(positions, true, here, np.minimum(start, total), end, tp, tp[..., -1:], total)

    def back(self, of_positive: FloatArray, of_other: FloatArray) -> FloatArray:
        """Return influences by candidate, centred in either class."""
        result = np.zeros(of_positive.shape)
        for group, values in ((self.true, of_positive), (self.here & ~self.true, of_other)):
            size = np.maximum(group.sum(axis=-1, keepdims=True), 1)
            mean = np.where(group, values, 0.0).sum(axis=-1, keepdims=True) / size
            result = np.where(group, values - mean, result)
        influence = np.empty(result.shape)
        np.put_along_axis(influence, self.positions, result, axis=-1)
        return influence


class Bedroc(NamedTuple):
    """BEDROC, which is a multiple of the mean weight of the positives, and what chance gives."""

    early: Early
    chance: FloatArray


def bedroc(score: FloatArray, gold: BoolArray, present: BoolArray, alpha: float) -> Bedroc:
    """Return BEDROC with its influences, in O(N log N); NaN without candidates of both classes.

    The candidate of rank r has the weight exp(-alpha r / N); equal scores have the mean of theirs.
    """
    score, gold, present = np.broadcast_arrays(score, gold & present, present)
    at = _Blocks.of(score, gold, present)
    size = np.maximum(at.total, 1)
    start, end = at.start, np.maximum(at.end, at.start + 1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # the mean weight of a block is a geometric series
        step = np.expm1(alpha / size)
        falls = np.exp(-alpha * start / size) * -np.expm1(-alpha * (end - start) / size)
        weight = falls / step / (end - start)
        share = at.positive / size
        every = -np.expm1(-alpha) / step / size  # mean weight of all candidates
        mean = np.where(at.true, weight, 0.0).sum(axis=-1, keepdims=True) / at.positive
        # the positives first: exp(-alpha N- / N) times as much last
        best = -np.expm1(-alpha * share) / step / at.positive
        worst = best * np.exp(-alpha * (1.0 - share))
        scale = np.where((share > 0.0) & (share < 1.0), 1.0 / (best - worst), np.nan)
        value, chance = (mean - worst) * scale, (every - worst) * scale
        moved = _from_half(np.where(at.true, weight, 0.0), at) * alpha / size
        of_positive = (weight - moved) * scale
        of_other = -moved * (at.total - at.positive) / at.positive * scale
        influence = at.back(of_positive, of_other)
    early = Early(value[..., 0], influence, gold, present)
    return Bedroc(early, chance[..., 0])


def _from_half(values: FloatArray, at: _Blocks) -> FloatArray:
    """Return the sum of the values below the block of each rank, and half of those in it."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values[..., ::-1], axis=-1, out=sums[..., 1:])
    below = sums[..., ::-1]
    first, last = (np.take_along_axis(below, edge, axis=-1) for edge in (at.start, at.end))
    half: FloatArray = 0.5 * (first + last)
    return half


def partial_area(score: FloatArray, gold: BoolArray, present: BoolArray, most: float) -> Early:
    """Return the mean true positive rate over false positive rates from 0 to ``most``.

    Blocks of equal scores are straight pieces of the curve, as in scikit-learn. O(N log N); NaN
    without candidates of both classes.
    """
    score, gold, present = np.broadcast_arrays(score, gold & present, present)
    at = _Blocks.of(score, gold, present)
    negative = at.total - at.positive
    tp_first, tp_last = (np.take_along_axis(at.tp, x, axis=-1) for x in (at.start, at.end))
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (at.start - tp_first) / negative, (at.end - tp_last) / negative
        rate, later = tp_first / at.positive, tp_last / at.positive
        width = np.where(high > low, high - low, 1.0)
        inside = np.where(high > low, np.clip((most - low) / width, 0.0, 1.0), 1.0 * (low < most))
        # of a positive: how much of the range it is found in
        found = np.where(high <= most, most - 0.5 * (low + high), 0.5 * inside**2 * width)
        found = np.where(low >= most, 0.0, found) / most
        value = np.where(at.true, found, 0.0).sum(axis=-1, keepdims=True) / at.positive
        # of another one: the positives that it is behind, against those at the end of the range
        reached = np.where(at.here & (low <= most), rate + inside * (later - rate), 0.0)
        last = reached.max(axis=-1, keepdims=True, initial=0.0)
        behind = inside * (rate + 0.5 * inside * (later - rate) - last) / most
        influence = at.back(found, behind)
    known = (at.positive > 0) & (negative > 0)
    return Early(np.where(known, value, np.nan)[..., 0], influence, gold, present)


class Added(NamedTuple):
    """The candidates, and two true positives and two others more."""

    score: FloatArray
    gold: BoolArray
    present: BoolArray


def with_added(score: FloatArray, gold: BoolArray, present: BoolArray) -> Added:
    """Return the candidates with a true positive and another one before all, and two such last."""
    score, gold, present = np.broadcast_arrays(score, gold & present, present)
    shape = (*score.shape[:-1], 2)
    pair = np.broadcast_to(np.array([True, False]), shape)
    top, bottom, here = np.full(shape, np.inf), np.full(shape, -np.inf), np.ones(shape, dtype=bool)
    return Added(
        np.concatenate([top, score, bottom], axis=-1),
        np.concatenate([pair, gold, pair], axis=-1),
        np.concatenate([here, present, here], axis=-1),
    )


def logit_limits(
    share: FloatArray,
    error: FloatArray,
    freedom: FloatArray | IntArray,
    positive: FloatArray | IntArray,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Return limits that are symmetric on the logit scale, with Student's quantile.

    Where the share is 0 or 1 nothing varies, and the other limit is that of none, or all, of
    ``positive``.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        odds = np.log(share) - np.log1p(-share)
        half = quantile(freedom, level) * error / (share * (1.0 - share))
        low, high = 1.0 / (1.0 + np.exp(half - odds)), 1.0 / (1.0 + np.exp(-half - odds))
        alone = (0.5 - 0.5 * level) ** (1.0 / positive)
    low = np.where(share >= 1.0, alone, np.where(share <= 0.0, 0.0, low))
    high = np.where(share <= 0.0, 1.0 - alone, np.where(share >= 1.0, 1.0, high))
    known = ~np.isnan(error) & ~np.isnan(share)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)
