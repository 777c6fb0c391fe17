"""The area under the ROC curve with DeLong's variance, and average precision.

Equal scores count as one block: a pair of a positive and a negative with the same score counts one
half, and precision is that at the end of the block.

References
----------
DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Comparing the areas under two or more
correlated receiver operating characteristic curves, Biometrics 44. X. Sun and W. Xu (2014), Fast
implementation of DeLong's algorithm: ranks in the place of all pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import ranking

_ROUNDING = 1e-14


class Placements(NamedTuple):
    """Where positives stand among negatives, and the other way round."""

    area: FloatArray  #: mean of the placements of positives, and of negatives too
    placement: (
        FloatArray  #: (..., candidate): share of the other class that is ranked the right way
    )
    gold: BoolArray
    present: BoolArray


def placements(score: FloatArray, gold: BoolArray, present: BoolArray) -> Placements:
    """Return the area under the ROC curve and its parts, in O(N log N).

    Without candidates of both classes the area is NaN.
    """
    score, gold, present = np.broadcast_arrays(score, gold, present)
    ranked = _ranked(score, gold, present)
    positive, negative = ranked.tp[..., -1:], ranked.fp[..., -1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        beaten = 1.0 - 0.5 * (ranked.at(ranked.fp)) / negative
        ahead = 0.5 * (ranked.at(ranked.tp)) / positive
    placed = np.empty(score.shape)
    np.put_along_axis(placed, ranked.positions, np.where(ranked.true, beaten, ahead), axis=-1)
    gold = gold & present
    wrong = np.where(ranked.true, ranked.at(ranked.fp), 0).sum(axis=-1)  # twice, a whole number
    with np.errstate(divide="ignore", invalid="ignore"):
        area = 1.0 - wrong / (2.0 * positive[..., 0] * negative[..., 0])
    return Placements(area, placed, gold, present)


def variance(placement: FloatArray, gold: BoolArray, present: BoolArray) -> FloatArray:
    """Return DeLong's variance of an area, or of a difference of areas, from its placements.

    NaN where a class has fewer than two candidates.
    """
    placement, gold, present = np.broadcast_arrays(placement, gold, present)
    total = np.zeros(placement.shape[:-1])
    for group in (gold & present, ~gold & present):
        size = group.sum(axis=-1)
        inside = np.where(group, placement, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (inside.sum(axis=-1) / size)[..., np.newaxis]
            far = np.where(group, np.abs(inside - mean), 0.0)
            # equal placements differ by rounding only; others by half of 1 / N at least
            far = np.where(far.max(axis=-1, keepdims=True, initial=0.0) < _ROUNDING, 0.0, far)
            squares = (far**2).sum(axis=-1)
            total = total + squares / (size * np.where(size > 1, size - 1.0, np.nan))
    return total


class AveragePrecision(NamedTuple):
    """Average precision, and what it is on average if the labels are in random order."""

    value: FloatArray
    chance: FloatArray


def average_precision(
    score: FloatArray, gold: BoolArray, present: BoolArray, *, ends: bool = False
) -> AveragePrecision:
    """Return average precision: the mean over the positives of the precision where each stands.

    ``ends``: a ranking ends with its last score, and a positive without one has the precision 0.
    """
    score, gold, present = np.broadcast_arrays(score, gold, present)
    ranked = _ranked(score, gold, present)
    listed = (present & ~np.isnan(score)).sum(axis=-1) if ends else ranked.total
    end = np.maximum(ranked.end, 1)
    tp_end = np.take_along_axis(ranked.tp, ranked.end, axis=-1)
    inside = np.arange(score.shape[-1]) < listed[..., np.newaxis]
    positive = ranked.tp[..., -1]
    # of another candidate in the block, given that one is positive
    share = (positive - 1.0) / np.maximum(ranked.total - 1.0, 1.0)
    expected = (1.0 + (end - 1.0) * share[..., np.newaxis]) / end
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(ranked.true & inside, tp_end / end, 0.0).sum(axis=-1) / positive
        chance = np.where(inside, expected, 0.0).sum(axis=-1) / ranked.total
    return AveragePrecision(value, np.where(positive > 0, chance, np.nan))


class _Ranked(NamedTuple):
    positions: IntArray
    true: BoolArray  #: by rank
    start: IntArray  #: candidates above the block of each rank
    end: IntArray  #: candidates above or in it
    tp: IntArray  #: true positives up to each rank, from 0
    fp: IntArray
    total: IntArray

    def at(self, counts: IntArray) -> IntArray:
        """Return twice the count above the middle of the block of each rank."""
        first, last = (np.take_along_axis(counts, x, axis=-1) for x in (self.start, self.end))
        return first + last


def _ranked(score: FloatArray, gold: BoolArray, present: BoolArray) -> _Ranked:
    positions = ranking.order(score, present)
    total = present.sum(axis=-1)
    start, end = ranking.blocks(np.take_along_axis(score, positions, axis=-1), total)
    inside = np.arange(score.shape[-1]) < total[..., np.newaxis]
    true = np.take_along_axis(gold & present, positions, axis=-1)
    counts = np.zeros((2, *score.shape[:-1], score.shape[-1] + 1), dtype=np.int64)
    np.cumsum(true, axis=-1, out=counts[0, ..., 1:])
    np.cumsum(inside & ~true, axis=-1, out=counts[1, ..., 1:])
    start = np.minimum(start, total[..., np.newaxis])
    return _Ranked(positions, true, start, end, counts[0], counts[1], total)
