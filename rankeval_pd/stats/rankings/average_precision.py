"""Average precision with its variance, from the influence of every candidate.

Average precision is the mean over the positives of P = tp / n, the precision of the list that ends
where each stands, equal scores being one block. With the numbers N+ and N- of positives and others
fixed, tp / N+ and fp / N- are shares of two samples, and P changes with them by N+ fp / n^2 and
-N- tp / n^2. So the influence of a positive is its own P less the mean, and what it adds to the
lists of the positives at or below it; that of another candidate is what it takes from them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import ranking


class Influence(NamedTuple):
    """Average precision and the influence of each candidate on it; the candidates come last."""

    value: FloatArray
    influence: FloatArray  #: (..., candidate), of mean 0 in either class; 0 for what is absent
    gold: BoolArray
    present: BoolArray


def influences(score: FloatArray, gold: BoolArray, present: BoolArray) -> Influence:
    """Return average precision and the influences, in O(N log N); NaN without positives."""
    score, gold, present = np.broadcast_arrays(score, gold & present, present)
    positions = ranking.order(score, present)
    total = present.sum(axis=-1)
    start, end = ranking.blocks(np.take_along_axis(score, positions, axis=-1), total)
    true = np.take_along_axis(gold, positions, axis=-1)
    here = np.take_along_axis(present, positions, axis=-1)
    tp = _up_to(true)
    positive = tp[..., -1:]
    negative = total[..., np.newaxis] - positive
    n = np.maximum(end, 1)
    tp_end = np.take_along_axis(tp, end, axis=-1)
    fp_end = np.where(here, n - tp_end, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (np.where(true, tp_end / n, 0.0).sum(axis=-1, keepdims=True)) / positive
        gained = _from_block_on(np.where(true, positive * fp_end / n**2, 0.0), start) / positive
        lost = _from_block_on(np.where(true, negative * tp_end / n**2, 0.0), start) / positive
        of_positive = tp_end / n - value + gained
        of_positive -= np.where(true, of_positive, 0.0).sum(axis=-1, keepdims=True) / positive
        of_other = -lost
        of_other = of_other - (
            np.where(here & ~true, of_other, 0.0).sum(axis=-1, keepdims=True) / negative
        )
    result = np.where(here, np.where(true, of_positive, of_other), 0.0)
    influence = np.empty(score.shape)
    np.put_along_axis(influence, positions, result, axis=-1)
    return Influence(value[..., 0], influence, gold, present)


def tie_average(score: FloatArray, gold: BoolArray, present: BoolArray) -> FloatArray:
    """Return the mean of average precision over all orders of equal scores.

    In a block of m candidates with t positives after n0 candidates with tp0, the k-th is positive
    with probability t / m, and then tp0 + 1 + (k - 1)(t - 1) / (m - 1) are up to it.
    """
    score, gold, present = np.broadcast_arrays(score, gold & present, present)
    positions = ranking.order(score, present)
    total = present.sum(axis=-1)
    start, end = ranking.blocks(np.take_along_axis(score, positions, axis=-1), total)
    tp = _up_to(np.take_along_axis(gold, positions, axis=-1))
    before, after = (np.take_along_axis(tp, edge, axis=-1) for edge in (start, end))
    rank = np.arange(1, score.shape[-1] + 1)
    size, true = np.maximum(end - start, 1), after - before
    others = (rank - start - 1) * (true - 1) / np.maximum(size - 1, 1)
    expected = true / size * (before + 1.0 + others) / rank
    inside = rank <= total[..., np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean: FloatArray = np.where(inside, expected, 0.0).sum(axis=-1) / tp[..., -1]
    return mean


def _up_to(true: BoolArray) -> IntArray:
    counts = np.zeros((*true.shape[:-1], true.shape[-1] + 1), dtype=np.int64)
    np.cumsum(true, axis=-1, out=counts[..., 1:])
    return counts


def _from_block_on(values: FloatArray, start: IntArray) -> FloatArray:
    """Return the sum of the values from the first candidate of each one's block on."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values[..., ::-1], axis=-1, out=sums[..., 1:])
    below = sums[..., ::-1]
    result: FloatArray = np.take_along_axis(below, start, axis=-1)
    return result


def standard_error(influence: FloatArray, gold: BoolArray, present: BoolArray) -> FloatArray:
    """Return the root of the variance of a mean of influences over two independent samples.

    NaN where a class has fewer than two candidates.
    """
    variance = np.zeros(np.broadcast_shapes(influence.shape, gold.shape)[:-1])
    for group in (gold & present, present & ~gold):
        size = group.sum(axis=-1)
        squares = np.where(group, influence**2, 0.0).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = variance + squares / (size * np.where(size > 1, size - 1.0, np.nan))
    return np.sqrt(variance)


def logit_limits(
    value: FloatArray, error: FloatArray, positive: IntArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of an average precision, symmetric on the logit scale.

    The quantile is Student's with N+ - 1 degrees of freedom. Where all positives come first,
    nothing varies; the lower limit is then that of a share of N+ in N+.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(value) - np.log1p(-value)
        half = quantile(positive, level) * error / (value * (1.0 - value))
        low, high = 1.0 / (1.0 + np.exp(half - odds)), 1.0 / (1.0 + np.exp(-half - odds))
        alone = (0.5 - 0.5 * level) ** (1.0 / positive)
    first = value == 1.0
    return np.where(first, alone, low), np.where(first, 1.0, high)


def quantile(positive: IntArray, level: float) -> FloatArray:
    """Return Student's quantile, two-sided, with one degree of freedom less than positives."""
    from scipy import special

    result = special.stdtrit(np.maximum(positive - 1.0, 1.0), 0.5 + 0.5 * level)
    return np.asarray(result, dtype=np.float64)


def p_value(difference: FloatArray, error: FloatArray, positive: IntArray) -> FloatArray:
    """Return the two-sided p-value of a difference, by Student's law of as many degrees."""
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((error == 0.0) & (difference == 0.0), 0.0, np.abs(difference) / error)
    t = np.where(np.isinf(t), np.nan, t)
    result: FloatArray = 2.0 * special.stdtr(np.maximum(positive - 1.0, 1.0), -t)
    return result
