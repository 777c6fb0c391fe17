"""From the tests of all pairs of measures to the ranks that they leave open.

Where no false decision is made among the pairs, a measure has at least as many better ones as are
significantly better, and as many worse ones: its rank is between one more than the former and
the number of measures less the latter (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.normal import t_of, z_of
from rankeval_pd.stats.rankings import swaps
from rankeval_pd.stats.significance.adjust import adjust as adjusted
from rankeval_pd.stats.significance.adjust import step_down
from rankeval_pd.stats.significance.fisher import fisher_test

_ZERO = 1e-12  # of a variance, relative to those of the areas: rounding


def pairs(count: int) -> list[tuple[int, int]]:
    """Return the pairs of measures, by number."""
    return list(itertools.combinations(range(count), 2))


class Tested(NamedTuple):
    """What the tests of all pairs found: (..., pair, n)."""

    measures: int  #: how many
    difference: FloatArray
    half: FloatArray  #: half the width of the interval of the difference
    p_value: FloatArray  #: of a pair, simultaneous over the n where that was asked for

    def put(
        self,
        row: tuple[int, ...],
        a: int,
        b: int,
        there: BoolArray,
        difference: FloatArray,
        half: FloatArray,
        p_value: FloatArray,
    ) -> None:
        """Enter what was found of the pair of a and b."""
        at: Any = (*row, pairs(self.measures).index((a, b)), there)
        self.difference[at], self.half[at], self.p_value[at] = difference, half, p_value


def empty(batch: tuple[int, ...], count: int, sizes: int) -> Tested:
    """Return a table of pairs with nothing in it."""
    shape = (*batch, count * (count - 1) // 2, sizes)
    return Tested(count, *(np.full(shape, np.nan) for _ in range(3)))


def p_values(
    observed: FloatArray,
    drawn: FloatArray | None,
    tp_only: tuple[IntArray, IntArray],
    only: IntArray,
) -> FloatArray:
    """Return p-values that hold for all n of a pair, or without draws Fisher's of each n."""
    if drawn is not None:
        return swaps.exceedance(np.abs(observed), drawn)
    return np.asarray(fisher_test(tp_only[0], only, tp_only[1], only, "two-sided").p_value)


def of_influences(
    value: FloatArray,
    influence: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    adjust: str | None,
    *,
    level: float,
    n_resamples: int,
    seed: int,
    student: bool = False,
) -> Tested:
    """Return the tests of all pairs of areas, from the influence of every candidate.

    With "max-t" the adjusted p-value is the probability that the largest of all standardised
    differences is as large, by Student's joint law with one degree of freedom less than the smaller
    class has candidates; the p-value of a pair alone is DeLong's, by the normal law, or with
    ``student`` by this law, as half the width of the interval of the difference is.
    """
    from scipy import special

    count = value.shape[-1]
    batch = value.shape[:-1]
    result = empty(batch, count, 1)
    chosen = pairs(count)
    left, right = (np.array([pair[side] for pair in chosen], dtype=int) for side in (0, 1))
    gold, present = (np.broadcast_to(x, influence.shape) for x in (gold, present))
    for row in np.ndindex(batch):
        covariance = _covariance(influence[row], gold[row], present[row])
        own = np.diag(covariance)
        variance = own[left] + own[right] - 2.0 * covariance[left, right]
        variance = np.where(variance > _ZERO * (own[left] + own[right]), variance, 0.0)
        difference = value[row][left] - value[row][right]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.abs(np.where(difference == 0.0, 0.0, difference / np.sqrt(variance)))
        z = np.where(np.isinf(z), np.nan, z)
        label, here = gold[row].any(axis=0), present[row].all(axis=0)
        least = min(int((label & here).sum()), int((~label & here).sum()))
        p_value, quantile = special.erfc(z / np.sqrt(2.0)), z_of(level)
        if student:
            freedom = max(least - 1, 1)
            p_value = 2.0 * special.stdtr(freedom, -z)
            quantile = float(t_of(freedom, level))
        if adjust == "max-t" and count > 1 and np.isfinite(covariance).all():
            p_value = _largest(z, covariance, variance, (left, right), least - 1, n_resamples, seed)
        result.difference[row][:, 0], result.p_value[row][:, 0] = difference, p_value
        result.half[row][:, 0] = quantile * np.sqrt(variance)
    return result


def _covariance(influence: FloatArray, gold: BoolArray, present: BoolArray) -> FloatArray:
    """Return the covariance of means of influences over positives and over others."""
    here, label = present.all(axis=0), gold.any(axis=0)
    total: FloatArray = np.zeros((influence.shape[0], influence.shape[0]))
    for group in (here & label, here & ~label):
        size = int(group.sum())
        if size < 2:
            return np.full_like(total, np.nan)
        total = total + np.cov(influence[:, group]).reshape(total.shape) / size
    return total


def _largest(
    z: FloatArray,
    covariance: FloatArray,
    variance: FloatArray,
    sides: tuple[IntArray, IntArray],
    freedom: int,
    n_resamples: int,
    seed: int,
) -> FloatArray:
    """Return how often the largest of all differences is as large, by Student's joint law."""
    roots, vectors = np.linalg.eigh(covariance)
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((n_resamples, roots.size)) * np.sqrt(np.maximum(roots, 0.0))
    areas = drawn @ vectors.T
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.abs(areas[:, sides[0]] - areas[:, sides[1]]) / np.sqrt(variance)
    spread = np.sqrt(rng.chisquare(freedom, n_resamples) / freedom)
    largest = np.where(variance > 0, each, 0.0).max(axis=-1) / spread
    p_value = swaps.exceedance(z, largest)
    return np.where(np.isnan(z), np.nan, p_value)


class Decided(NamedTuple):
    """Ranks and differences of every measure: (..., measure, n)."""

    rank: IntArray
    rank_low: IntArray
    rank_high: IntArray
    tied_for_best: BoolArray
    difference: FloatArray  #: to the baseline, or to the best measure
    difference_low: FloatArray
    difference_high: FloatArray
    p_adjusted: FloatArray


def decide(
    value: FloatArray,
    tested: Tested,
    p_value: FloatArray,
    alpha: float,
    baseline: int | None,
) -> Decided:
    """Return the ranks that the tests leave open, and what tells each measure from one of them.

    ``p_value``: of the pairs, adjusted for all (:func:`over_pairs`).
    """
    count = tested.measures
    shape = (*value.shape[:-2], count, count, value.shape[-1])
    difference, half, p = np.zeros(shape), np.zeros(shape), np.ones(shape)
    for number, (a, b) in enumerate(pairs(count)):
        for one, other, sign in ((a, b, 1.0), (b, a, -1.0)):
            difference[..., one, other, :] = sign * tested.difference[..., number, :] + 0.0
            half[..., one, other, :] = tested.half[..., number, :]
            p[..., one, other, :] = p_value[..., number, :]
    decisive = p <= alpha
    better = (decisive & (difference < 0)).sum(axis=-2)
    worse = (decisive & (difference > 0)).sum(axis=-2)
    known = np.where(np.isnan(value), -np.inf, value)
    rank = 1 + (known[..., np.newaxis, :, :] > known[..., :, np.newaxis, :]).sum(axis=-2)
    reference = np.argmax(known, axis=-2)
    if baseline is not None:
        reference = np.full_like(reference, baseline)
    at = np.broadcast_to(reference[..., np.newaxis, np.newaxis, :], (*shape[:-2], 1, shape[-1]))
    gap, margin, p_reference = (
        np.take_along_axis(x, at, axis=-2)[..., 0, :] for x in (difference, half, p)
    )
    itself = np.arange(count)[:, np.newaxis] == reference[..., np.newaxis, :]
    return Decided(
        rank, 1 + better, count - worse, better == 0, gap, gap - margin, gap + margin,
        np.where(itself, np.nan, p_reference),
    )  # fmt: skip


def over_pairs(
    p_value: FloatArray, adjust: str | None, *, simultaneous: bool = False
) -> FloatArray:
    """Return the p-values of all pairs (..., pair, n), adjusted for all.

    ``simultaneous`` says that max-t p-values hold for all pairs together already.
    """
    if adjust is None or not p_value.size:
        return p_value
    if adjust == "max-t":
        if simultaneous:
            return p_value
        pairs, sizes = p_value.shape[-2:]
        pair = np.repeat(np.arange(pairs), sizes)
        each = [step_down(row, pair) for row in p_value.reshape(-1, pairs * sizes)]
        return np.stack(each).reshape(p_value.shape)
    flat = p_value.reshape(*p_value.shape[:-2], -1)
    return adjusted(flat, adjust).reshape(p_value.shape)
