"""Wilcoxon's signed-rank test for all pairs, with Hodges-Lehmann estimates and limits."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import z_of
from rankeval_pd.stats.resampling.gain_tables import (
    Limits,
    Pairs,
    as_each_p_says,
    family_options,
    no_rows,
    table,
)
from rankeval_pd.stats.resampling.lattice import MOST_POINTS, SignedSum
from rankeval_pd.stats.resampling.test_items import (
    AnyItems,
    Items,
    PairOptions,
    Step,
    quiet,
    scores_of,
)

_EQUAL = 1e-12  # relative to the largest difference; closer differences share a rank


def signed_rank_pairs(
    items: AnyItems, pairs: IntArray, options: PairOptions, _: Step = quiet
) -> Pairs:
    """Return signed-rank tests for all pairs; the gain is the median Walsh average.

    Differences of 0 are dropped (Wilcoxon 1945), and equal absolute differences get the mean rank.
    The null distribution is the exact distribution over random signs of the ranks. If the sum has
    more than a million values, a normal distribution with a kurtosis term is used.
    """
    single = isinstance(items, Items) and items.linear == "mean" and items.cluster is None
    if not isinstance(items, Items) or not single or items.unit() is None:
        raise ValueError(
            "test='wilcoxon' supports only items in memory, with metric='mean' or 'accuracy' and"
            " without groups, strata or seeds. Omit test."
        )
    if options.simultaneous:
        raise ValueError(
            f"test='wilcoxon' with adjust={options.adjust!r}: signed ranks have no t statistic."
            " Pass adjust='holm'."
        )
    theta = scores_of(items)
    values = items.sign * items.statistics[..., 0]
    scale = np.abs(values).max(axis=1)
    sorted_ = [np.sort(values[a] - values[b]) for a, b in pairs]
    n, room = items.n_items, _EQUAL * scale[pairs].max(axis=1)
    gain = np.array([hodges_lehmann(x) for x in sorted_])
    gain[np.abs(gain) <= room] = 0.0
    swapped = np.zeros(gain.size, dtype=bool) if options.keep_order else gain < 0.0
    turned = swapped != (options.alternative == "less")
    pairs = np.where(turned[:, np.newaxis], pairs[:, ::-1], pairs)
    sorted_ = [-x[::-1] if turn else x for x, turn in zip(sorted_, turned, strict=True)]
    gain = np.where(turned, -gain, gain)
    rows = no_rows(len(pairs))
    for k, x in enumerate(sorted_):
        up, down = signed_rank_tails(x, float(room[k]))
        rows.put(k, np.nan, up, min(up, down))  # a gain of 0 has no sign, but the ranks may differ

    near = np.array([_next_to_0(x, float(r)) for x, r in zip(sorted_, room, strict=True)])

    def limits_at(options: PairOptions) -> Limits:
        first = _first_walsh(n, options.two_tailed)
        ends = [
            (-np.inf, np.inf) if first < 1 else
            (walsh_average(x, first), walsh_average(x, n * (n + 1) // 2 + 1 - first))
            for x in sorted_
        ]  # fmt: skip
        low, high = np.array(ends).reshape(-1, 2).T
        flat = np.array([x[0] == x[-1] for x in sorted_], dtype=bool)
        low, high = np.where(flat, np.nan, low), np.where(flat, np.nan, high)
        doubled = np.minimum(1.0, 2.0 * rows.ordered)
        return as_each_p_says((low, high), gain, doubled, near, options)

    rows.low[:], rows.high[:] = limits_at(options)
    with np.errstate(invalid="ignore"):
        rows.error[:] = (rows.high - rows.low) / (2.0 * z_of(options.two_tailed))
    family = None if options.adjust is None else limits_at(family_options(rows, options))
    found = table(items, theta, pairs, swapped, rows, options, family, None, every=True)
    return found._replace(gain=-gain if options.alternative == "less" else gain)


def signed_rank_tails(differences: FloatArray, room: float = 0.0) -> tuple[float, float]:
    """Return the one-sided p-values for differences above 0 and below 0."""
    from scipy.stats import rankdata

    moved = differences[np.abs(differences) > room]
    if not moved.size:
        return 1.0, 1.0
    sizes = np.abs(moved)
    order = np.argsort(sizes)  # absolute values that differ only by rounding are tied
    step = np.cumsum(np.diff(sizes[order], prepend=0.0) > room)
    level = np.empty(step.size, dtype=np.int64)
    level[order] = step
    ranks = np.rint(2.0 * rankdata(level)).astype(np.int64)  # doubled to get integers
    total = int((np.sign(moved).astype(np.int64) * ranks).sum())
    if int(ranks.sum()) <= 2 * MOST_POINTS:
        distinct, times = np.unique(ranks, return_counts=True)
        unit = int(np.gcd.reduce(distinct))
        law = SignedSum(distinct // unit, times)
        return law.tail(total // unit), law.tail(-total // unit)
    return _nearly_normal(total, ranks), _nearly_normal(-total, ranks)


def _nearly_normal(total: int, ranks: IntArray) -> float:
    """Return the upper tail probability, corrected for continuity and kurtosis."""
    from scipy.special import ndtr

    squares = ranks.astype(float) ** 2
    variance = float(squares.sum())
    step = 1.0 if (ranks % 2).any() else 2.0  # half the distance between sums
    z = (total - step) / np.sqrt(variance)
    kurtosis = -2.0 * float((squares**2).sum()) / variance**2
    density = np.exp(-z * z / 2.0) / np.sqrt(2.0 * np.pi)
    return float(np.clip(ndtr(-z) + density * kurtosis / 24.0 * (z**3 - 3.0 * z), 0.0, 1.0))


@lru_cache(maxsize=64)
def _first_walsh(n: int, level: float) -> int:
    """Return the rank of the Walsh average at the lower limit; 0 if there is no limit."""
    tail = (1.0 - level) / 2.0
    most = n * (n + 1) // 2
    if most <= MOST_POINTS:
        ranks = np.arange(1, n + 1)
        law = SignedSum(ranks)
        chances = np.cumsum(law.law)  # distribution of the sum of positive ranks, starting at 0
        return int(np.count_nonzero(chances <= tail * (1.0 + 1e-12)))
    spread = np.sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0)
    return max(0, int(np.floor(most / 2.0 + 0.5 - z_of(level) * spread)))


def hodges_lehmann(ordered: FloatArray) -> float:
    """Return the median of all pairwise means, including each number with itself."""
    count = ordered.size * (ordered.size + 1) // 2
    middle = walsh_average(ordered, (count + 1) // 2)
    return middle if count % 2 else (middle + walsh_average(ordered, count // 2 + 1)) / 2.0


def _partners(ordered: FloatArray, most: float) -> IntArray:
    """Return the first position after each number at which their mean exceeds ``most``."""
    found = np.searchsorted(ordered, 2.0 * most - ordered[::-1], "right")[::-1]
    return np.maximum(found, np.arange(ordered.size))


def _count_means(ordered: FloatArray, most: float) -> int:
    """Count the pairs of numbers with a mean of at most ``most``."""
    return int((_partners(ordered, most) - np.arange(ordered.size)).sum())


def _next_to_0(ordered: FloatArray, room: float) -> tuple[float, float]:
    """Return the largest mean below 0 and the smallest mean above 0; 0 if none."""
    below, above = _count_means(ordered, -2.0 * room), _count_means(ordered, room) + 1
    last = ordered.size * (ordered.size + 1) // 2
    return (
        walsh_average(ordered, below) if below else 0.0,
        walsh_average(ordered, above) if above <= last else 0.0,
    )


def walsh_average(ordered: FloatArray, which: int) -> float:
    """Return the Walsh average at this position among all Walsh averages.

    The means are counted, and only the last few candidates are listed. The time equals about
    20 sorts of n numbers.
    """
    n, place = ordered.size, np.arange(ordered.size)
    low, high = float(ordered[0]), float(ordered[-1])
    below, reached = _count_means(ordered, low), n * (n + 1) // 2
    if below >= which:
        return low
    halve, least = False, _EQUAL**2 * max(abs(low), abs(high))  # near 0, no distance is relative
    while reached - below > 4 * n and high - low > max(_EQUAL * max(abs(low), abs(high)), least):
        part = 0.5 if halve else min(max((which - below) / (reached - below), 0.01), 0.99)
        middle, halve = low + part * (high - low), not halve
        count = _count_means(ordered, middle)
        if count >= which:
            high, reached = middle, count
        else:
            low, below = middle, count
    start, stop = _partners(ordered, low), _partners(ordered, high)
    if reached - below > 4 * n:  # many equal means
        there = start < stop
        return float(((ordered[there] + ordered[start[there]]) / 2.0).min())
    first = np.repeat(place, stop - start)
    ends = np.cumsum(stop - start)
    second = np.arange(first.size) - np.repeat(ends - (stop - start), stop - start)
    means = (ordered[first] + ordered[second + start[first]]) / 2.0
    return float(np.partition(means, which - 1 - below)[which - 1 - below])
