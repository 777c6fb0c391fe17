"""Families of tests: adjusted p-values, levels, letters, and skewness."""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray, silent_division
from rankeval_pd.stats.bootstrap import EQUAL, monte_carlo, pair_blocks
from rankeval_pd.stats.proportions import Limits, widened_by_skewness

# ----------------------------------------------------- Adjustment of p-values for multiple testing


def adjust(p_values: FloatArray, method: str) -> FloatArray:
    """Return adjusted p-values for the family on the last axis; NaN means no test.

    "holm" (Holm 1979) and "bonferroni" control the probability of any false rejection. "bh"
    (Benjamini and Hochberg 1995) controls the false discovery rate under positive dependence, and
    "by" (Benjamini and Yekutieli 2001) under any dependence.
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")  # NaN last
    ordered = np.take_along_axis(p, order, axis=-1)
    m = np.count_nonzero(~np.isnan(p), axis=-1, keepdims=True).astype(float)
    rank = np.arange(1.0, p.shape[-1] + 1.0)
    if method == "bonferroni":
        scaled = ordered * m
    elif method == "holm":
        scaled = np.fmax.accumulate(ordered * np.maximum(m - rank + 1.0, 1.0), axis=-1)
    else:
        scaled = ordered * (m / rank)
        if method == "by":
            harmonic = np.concatenate([[0.0], np.cumsum(1.0 / rank)])
            scaled = scaled * harmonic[m.astype(np.intp)]
        scaled = np.fmin.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    scaled = np.where(np.isnan(ordered), np.nan, np.minimum(scaled, 1.0))
    result = np.empty_like(p)
    np.put_along_axis(result, order, scaled, axis=-1)
    return result


def interval_levels(p_values: FloatArray, method: str, level: float) -> FloatArray:
    """Return the level at which the interval for each test agrees with :func:`adjust`.

    Holm's method uses Bonferroni's intervals. For "bh" and "by" the level is 1 - R (1 - level) / m
    if R >= 1 of m tests are rejected (Benjamini and Yekutieli 2005, False discovery rate-adjusted
    multiple confidence intervals for selected parameters).
    """
    p = np.asarray(p_values, dtype=float)
    m = np.maximum(np.isfinite(p).sum(axis=-1, keepdims=True), 1)
    error = np.broadcast_to((1.0 - level) / m, p.shape)
    if method in ("bh", "by"):
        with np.errstate(invalid="ignore"):
            rejected = np.count_nonzero(adjust(p, method) <= 1.0 - level, axis=-1, keepdims=True)
        error = error * np.maximum(rejected, 1)
    if method == "by":
        error = error / np.concatenate([[1.0], np.cumsum(1.0 / np.arange(1, m.max() + 1))])[m]
    return np.minimum(1.0 - error, np.nextafter(1.0, 0.0))  # at level 1, the full range


def level_of_each(level: float, count: int) -> float:
    """Return the level, below 1, for each of ``count`` simultaneous intervals (Bonferroni)."""
    if count < 2:
        return level
    return min(1.0 - (1.0 - level) / count, 1.0 - 2.0**-53)


def step_down(p_values: FloatArray, family: IntArray) -> FloatArray:
    """Adjust p-values over families; within a family, p-values are already simultaneous.

    Holm's method for families, such as pairs with a test for each n: from the smallest on, each p
    is multiplied by the number of families with remaining tests, because the last hypothesis of a
    family can be true even if all others are false. A single family is not changed. NaN means no
    test.
    """
    order = np.argsort(p_values, kind="stable")  # NaN last
    order = order[: np.count_nonzero(~np.isnan(p_values))]
    _, from_end = np.unique(family[order][::-1], return_index=True)
    last = np.sort(order.size - 1 - from_end)
    waiting = last.size - np.searchsorted(last, np.arange(order.size))
    result = np.full(p_values.shape, np.nan)
    result[order] = np.minimum(np.maximum.accumulate(waiting * p_values[order]), 1.0)
    return result


# ------------------------------------------- The largest statistic of all pairs of systems: max-t


class MaxT(NamedTuple):
    """P-values for each pair, unadjusted and adjusted by max-t."""

    alone: FloatArray  #: (pair,)
    single: FloatArray  #: (pair,): single-step; at most alpha if the statistic exceeds ``critical``
    down: FloatArray  #: (pair,): Romano-Wolf step-down p-values
    critical: float  #: value that the largest statistic exceeds with probability 1 - level


def max_t(
    t_star: Callable[[IntArray], FloatArray],
    t: FloatArray,
    n_resamples: int,
    *,
    level: float,
    two_sided: bool,
    every: bool = False,
    centered: Callable[[IntArray], FloatArray] | None = None,
) -> MaxT:
    """Return p-values for studentized gains t, unadjusted and adjusted by max-t.

    ``t_star`` returns (pair, resample): studentized gains minus their mean under the null
    hypothesis. If ``every`` possible resample is enumerated, 1 is not added to the counts.
    ``centered`` is the same for data shifted to gains of 0, and the larger of both results is used:
    if gains differ greatly, ``t_star`` alone overestimates the correlation, and intervals would be
    too narrow.
    """
    largest, about = np.full((2, n_resamples), -np.inf)
    size = t
    if two_sided:
        largest, about = np.zeros((2, n_resamples))
        size = np.abs(t)
    order = np.argsort(-size, kind="stable")[: np.count_nonzero(~np.isnan(size))]
    edge = size - np.where(np.isfinite(size), EQUAL * np.maximum(np.abs(size), 1.0), 0.0)
    own, down = np.zeros((2, size.size), dtype=np.int64)
    for block in pair_blocks(order[::-1], n_resamples):
        moved = t_star(block)
        if two_sided:
            moved = np.abs(moved)
        moved[np.isnan(moved)] = np.inf
        own[block] = np.count_nonzero(moved >= edge[block, np.newaxis], axis=1)
        # the largest statistic over each pair and all less significant pairs
        moved[0] = np.maximum(largest, moved[0])
        np.maximum.accumulate(moved, axis=0, out=moved)
        largest = moved[-1]
        down[block] = np.count_nonzero(moved >= edge[block, np.newaxis], axis=1)
        if centered is not None:
            moved = centered(block)
            if two_sided:
                moved = np.abs(moved)
            about = np.maximum(about, moved.max(axis=0))
    both = np.sort([largest, about])
    single = n_resamples - np.searchsorted(both[0], edge)
    single = np.maximum(single, n_resamples - np.searchsorted(both[1], edge))

    def share(hits: IntArray) -> FloatArray:
        p = hits / n_resamples
        if not every:
            p = monte_carlo(hits, n_resamples, "recentred")
        return np.where(np.isnan(size), np.nan, p)

    stepped = share(down)
    stepped[order] = np.maximum.accumulate(stepped[order])
    # number of resamples that can reach the critical value if p is at most 1 - level
    added = int(not every)
    most = int(np.floor((1.0 - level) * (n_resamples + added) * (1.0 + 1e-12))) - added
    critical = np.inf
    if most >= 0:
        critical = both[:, max(n_resamples - 1 - most, 0)].max()
    return MaxT(share(own), share(single), stepped, float(critical))


def simultaneous_limits(
    gain: FloatArray,
    error: FloatArray,
    critical: float,
    widening: FloatArray | float = 0.0,
    lean: FloatArray | None = None,
) -> Limits:
    """Return simultaneous limits, gain ± critical * error.

    ``widening`` is the increase in the variance per unit of squared distance from the gain, for
    errors estimated under the null hypothesis. There are no limits if the error is 0, or if no
    distance is rejected. With ``lean``, gains not rejected by Hall's statistic are included, for
    either sign of the skewness (often wrong with few items), but not past 0, which is left to the
    test.
    """
    with silent_division():
        left = 1.0 - critical**2 * np.asarray(widening)
        margin = np.where(left > 0.0, critical * error / np.sqrt(left), np.inf)
        margin = np.where(np.isfinite(margin) & (error > 0.0), margin, np.inf)
    limits = gain - margin, gain + margin
    if lean is None:
        return limits
    varies = np.where(error > 0.0, error, 1.0)
    own = widened_by_skewness(limits, gain, varies, lean, margin / varies)
    low, high = widened_by_skewness(own, gain, varies, -lean, margin / varies)
    return (
        np.where(own[0] > 0.0, np.maximum(low, 0.0), low),
        np.where(own[1] < 0.0, np.minimum(high, 0.0), high),
    )


# ----------------------------------------------------------------- Compact letter displays for ties


def letters(told_apart: BoolArray) -> list[str]:
    """Return the letters for each row; two rows share a letter if and only if they are tied.

    A small clique cover of the graph of ties: each clique grows from an uncovered tie, and
    redundant cliques are removed (H.-P. Piepho 2004, An algorithm for a letter-based representation
    of all-pairwise comparisons). Rows of the symmetric matrix ``told_apart`` are ordered from best
    ("a") to worst. After z come aa, ab and so on, with spaces.
    """
    tied = ~np.asarray(told_apart, dtype=bool)
    np.fill_diagonal(tied, val=False)
    m = len(tied)
    cliques = _swept(_greedy(tied), m)
    alone = [[int(i)] for i in np.flatnonzero(~tied.any(axis=1))]
    named = sorted([*cliques, *alone])
    between = " " * (len(named) > len(ascii_lowercase))
    of_rows: list[list[str]] = [[] for _ in range(m)]
    for number, clique in enumerate(named):
        for row in clique:
            of_rows[row].append(_name(number))
    return [between.join(own) for own in of_rows]


def _name(number: int) -> str:
    """Return the name of a letter: a, b, ... z, aa, ab, ..."""
    more, last = divmod(number, len(ascii_lowercase))
    if not more:
        return ascii_lowercase[last]
    return _name(more - 1) + ascii_lowercase[last]


def _greedy(tied: BoolArray) -> list[list[int]]:
    """Return cliques that cover all ties, each grown from the first uncovered tie."""
    left = np.triu(tied)
    cliques = []
    for i in range(len(tied)):
        while left[i].any():
            clique = [i, int(left[i].argmax())]
            fits = tied[clique].all(axis=0)
            while fits.any():
                # the row that fits with the most uncovered ties, and the best of several
                gained = (left[clique].sum(axis=0) + left[:, clique].sum(axis=1)) * fits + fits
                clique.append(int(gained.argmax()))
                fits &= tied[clique[-1]]
            clique.sort()
            left[np.ix_(clique, clique)] = False
            cliques.append([int(row) for row in clique])
    return cliques


def _swept(cliques: list[list[int]], m: int) -> list[list[int]]:
    """Return the cliques that are not redundant; small cliques are dropped first."""
    shown = np.zeros((m, m), dtype=int)
    for clique in cliques:
        shown[np.ix_(clique, clique)] += 1
    kept = []
    for clique in sorted(cliques, key=len):
        here = np.ix_(clique, clique)
        off = ~np.eye(len(clique), dtype=bool)
        if (shown[here][off] > 1).all():
            shown[here] -= 1
        else:
            kept.append(clique)
    return kept
