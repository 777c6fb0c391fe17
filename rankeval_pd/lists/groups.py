"""Average n-best lists over groups, and over candidates in clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd import doors, errors, stats
from rankeval_pd.stats import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    Limits,
    ListTotals,
    Ranking,
    Whole,
    effective_size,
    factors_of,
    total_spread,
    up_to_ranks,
)
from rankeval_pd.tables import Columns

# ---- Compute intervals and tests for lists of clustered candidates

FEW = 10
"""Intervals are only approximate if there are fewer clusters."""


# the row of refused options: tests of independent candidates
OTHER_TEST = ("groups", "test", "The tests assume independent candidates: omit test=.")


def warn_of_few(clusters: int) -> None:
    """Warn that the number of clusters is small."""
    if clusters < FEW:
        errors.warn(
            f"groups: there are {clusters} groups, but the variance between groups can be estimated"
            f" reliably only from {FEW} or more. Add groups, or treat the interval as approximate."
        )


def of_all_groups(joint: str, options: str) -> tuple[tuple[str, str, str], ...]:
    """Return rows of refused options: those that do not apply to all groups together.

    Here, ``n`` stands for fractions of the candidates.
    """
    rows = []
    for option in options.split():
        advice = f"All groups have one result: omit {option}= or {joint}=."
        if option == "n":
            advice = "Groups of different sizes need the same list sizes: pass whole numbers."
        rows.append((joint, option, advice))
    return tuple(rows)


def in_rows(
    exists: BoolArray,
    names: Iterable[str],
    compute: Callable[[tuple[int, ...], BoolArray], Mapping[str, Any]],
    counts: Iterable[str] = (),
) -> Columns:
    """Return columns computed for one ranking or pair at a time: (..., n).

    ``compute`` takes the position of the ranking or pair, and which of its lists exist. The columns
    of other lists are NaN, or 0 for ``counts``.
    """
    columns = {name: np.full(exists.shape, np.nan) for name in names}
    columns |= {name: np.zeros(exists.shape, dtype=np.int64) for name in counts}
    for row in np.ndindex(exists.shape[:-1]):
        there = exists[row]
        if there.any():
            for name, values in compute(row, there).items():
                columns[name][*row, there] = values
    return columns


class ListMembers(NamedTuple):
    """Store a ranking and its candidates."""

    gold: BoolArray
    rank: IntArray
    cluster: IntArray  #: whole numbers from 0
    whole: Whole | None = None  #: the properties of all candidates, if the data is a head

    @classmethod
    def of(cls, ranking: Ranking, row: tuple[int, ...], cluster: IntArray) -> ListMembers:
        """Return the ranking of one measure in one batch element."""
        here = ranking.eligible[row]
        of_row = np.broadcast_to(cluster, ranking.score.shape)[row]
        rank, gold = ranking.ranks[row][here], ranking.gold[row][here]
        return cls(gold, rank, cluster_numbers(of_row[here]), ranking.whole)

    def turned(self) -> ListMembers:
        """Return the reversed ranking, in which negatives are right."""
        return self._replace(gold=~self.gold, rank=self.rank.size + 1 - self.rank)

    def warn_of_few(self) -> None:
        """Warn if there are few clusters, or few levels of a factor."""
        found = factors_of(self.cluster)
        warn_of_few(_everyone(self.whole) or min(int(x.max(initial=-1)) + 1 for x in found))

    def totals(self, n: IntArray, target: str) -> tuple[ListTotals, FloatArray]:
        """Return cluster totals, and the precision shrunk toward 1/2."""
        tp = up_to_ranks(self.rank, self.gold)
        listed = tp[np.minimum(n, self.rank.size)]
        edge = listed / n
        fixed = target == "region"
        if not fixed:
            total = whole_size(self.whole, self.rank.size)
            edge = stats.edge_precision(tp, n, np.array([total]))
        result = ListTotals(
            self.gold, (self.rank,), self.cluster, n, (edge,), fixed, _everyone(self.whole)
        )
        return result, (listed + 2.0) / (n + 4.0)


def whole_size(whole: Whole | None, size: int) -> int:
    """Return the number of all candidates, also if the data is a head of this size."""
    if whole is None:
        return size
    return whole.total


def _everyone(whole: Whole | None) -> int | None:
    return whole and whole.clusters


def cluster_numbers(cluster: IntArray) -> IntArray:
    """Renumber clusters without gaps, and leave cells of crossed factors unchanged."""
    if len(factors_of(cluster)) > 1:
        return cluster
    return np.asarray(np.unique(cluster, return_inverse=True)[1], dtype=np.int64)


def list_spread(
    ranked: ListMembers, n: IntArray, target: str
) -> tuple[ListTotals, stats.ClusterSpread, FloatArray]:
    """Return totals, spread and shrunken precision for lists with sorted sizes ``n``."""
    totals, precision = ranked.totals(n, target)
    around = totals.edges[0]
    if totals.fixed:
        around = precision
    added = stats.rare_label(precision, 4) * ((1.0 - around) ** 2 + around**2)
    return totals, total_spread(totals, added), precision


def list_weights(
    ranked: ListMembers, n: IntArray, _: tuple[int, ...], *, target: str, levels: Sequence[float]
) -> list[AnyArray]:
    """Return a candidate's weight in the interval of each list per level, and count clusters.

    ``n`` must ascend.
    """
    spread, precision = list_spread(ranked, n, target)[1:]
    columns = [effective_size(n, precision, spread, level) / n for level in levels]
    return [*columns, spread.n_groups]


def band(ranked: ListMembers, n: IntArray, level: float, **drawing: Any) -> Limits:
    """Return the limits of a band around one precision curve, for sorted ``n``."""
    totals, result, precision = list_spread(ranked, n, "nbest")
    warn_of_few(result.clusters)
    drawn = stats.largest_statistics(totals, result, **drawing)
    within = 1.0 - 2.0 * float(scipy.special.ndtr(-stats.critical_value(drawn, level)))
    result = result._replace(freedom=stats.band_freedom(result, ranked.cluster))
    size = effective_size(n, precision, result, within)
    tp = up_to_ranks(ranked.rank, ranked.gold)
    return stats.INTERVALS["wilson"](size * tp[n] / n, size, within)


class Difference(NamedTuple):
    """Store differences in true positives between two lists, with n as the last axis."""

    value: FloatArray
    error: FloatArray  #: the standard error of the difference
    n_groups: IntArray  #: number of clusters with unequal counts in the two lists
    spread: stats.ClusterSpread
    totals: ListTotals


class ListPair(NamedTuple):
    """Two rankings of the same candidates."""

    rank_a: IntArray
    rank_b: IntArray
    gold: BoolArray
    keys: stats.Keys  #: for random draws, one per candidate or cluster
    whole: Whole | None
    cluster: IntArray | None

    @classmethod
    def of(cls, lists: doors.PairRanks, row: tuple[int, ...]) -> ListPair:
        """Return the two rankings of one pair in one group."""
        return cls(*lists.of(row), lists.draws_of(row), lists.whole, lists.clusters_of(row))

    @property
    def size(self) -> stats.Size:
        """Return N and N+, also if the data is a head."""
        whole = self.whole or stats.Size(np.array(self.gold.size), np.array(self.gold.sum()))
        return stats.Size(np.array(whole.total), np.array(whole.positive))


def difference(pair: ListPair, n: IntArray) -> Difference:
    """Return the difference in true positives and its spread, for sorted ``n``.

    The larger of two variances is used, so that the variance is valid for both targets. The
    variance for lists uses the precision at the end of each list. The variance for regions uses the
    pooled precision in the regions.
    """
    assert pair.cluster is not None
    ranks = (pair.rank_a, pair.rank_b)
    gold = pair.gold
    total = np.array([pair.size.total])
    r = stats.nbest_regions(*ranks, gold, n)
    only = n - r.overlap
    pooled = (r.tp_a + r.tp_b - 2 * r.tp_overlap + 1.0) / (2.0 * only + 2.0)
    edges = tuple(stats.edge_precision(up_to_ranks(rank, gold), n, total) for rank in ranks)
    totals = ListTotals(
        gold, ranks, cluster_numbers(pair.cluster), n, edges, False, _everyone(pair.whole)
    )
    found = total_spread(totals)
    other = total_spread(totals._replace(edges=(pooled, pooled)))
    differ = only > 0
    variance = np.maximum(found.variance, other.variance)
    return Difference(
        (r.tp_a - r.tp_b).astype(float),
        np.where(differ, np.sqrt(variance), 0.0),
        np.where(differ, found.n_groups, 0),
        found._replace(variance=variance),
        totals,
    )


def p_of_gap(
    gap: FloatArray, error: FloatArray, freedom: FloatArray, alternative: str
) -> FloatArray:
    """Return p-values for differences. Unknown standard errors give p = 1."""
    t = gap / np.where(error > 0.0, error, 1.0)
    p_value = stats.p_of_t(t, np.where(freedom > 0.0, freedom, 1.0), alternative)
    return np.where((freedom > 0.0) & (error > 0.0), np.minimum(p_value, 1.0), 1.0)


def margins(
    pair: ListPair, n: IntArray, levels: list[float], *, each: bool, **drawing: Any
) -> FloatArray:
    """Return the half-width of a difference band per level, for sorted ``n``.

    A head does not contain all clusters. The band for a head therefore uses a Bonferroni width.
    """
    result = difference(pair, n)
    if result.n_groups.any():
        warn_of_few(result.spread.clusters)
    known = result.spread.freedom > 0
    if each or n.size == 1 or pair.whole is not None:
        shared = n.size
        if each:
            shared = 1
        factors = [result.spread.quantile(stats.level_of_each(level, shared)) for level in levels]
    else:
        drawn = stats.largest_statistics(result.totals, result.spread, **drawing)
        factors = [
            stats.critical_value(drawn, level) * result.spread.quantile(level) / stats.z_of(level)
            for level in levels
        ]
    half = np.where(known, factors, 0.0) * result.error / n
    half = np.where(known, np.minimum(half, 2.0), 2.0)
    return np.where(result.n_groups > 0, half, 0.0)


_SOME = 1e-300  # a tiny value replaces unknown standard errors if the lists differ


def pair_contrast(pair: ListPair, n: IntArray, alternative: str = "two-sided") -> dict[str, Any]:
    """Return the standard error, degrees of freedom and p-value for two lists.

    ``n_groups`` is the number of clusters with unequal counts in the two lists, and ``moved`` an
    extra variance.
    """
    rising, back = np.unique(n, return_inverse=True)
    found = difference(pair, rising)
    if found.n_groups.any():
        warn_of_few(found.spread.clusters)
    error = np.where(found.n_groups > 0, np.fmax(found.error / rising, _SOME), 0.0)
    freedom = np.broadcast_to(found.spread.freedom, rising.shape)
    return {
        "error": error[back],
        "freedom": freedom[back],
        "p_value": p_of_gap(found.value, found.error, freedom, alternative)[back],
        "n_groups": found.n_groups[back],
        "moved": moved(found.totals.gold, found.totals.cluster, pair.whole),
    }


# factor for the variance of the true positives; with 0.25, intervals were up to 1.34 times as wide
# as needed
_MOVED = 0.2


def moved(gold: BoolArray, cluster: IntArray, whole: Whole | None) -> float:
    """Return the extra variance for a difference, divided by the squared difference.

    The true difference increases with the number of true positives, and this number varies by
    chance in samples with few or unequal clusters.
    """
    if whole is not None:
        return _MOVED * whole.positives_variance
    return _MOVED * max(
        stats.positives_variance(np.bincount(x), np.bincount(x, gold)) for x in factors_of(cluster)
    )


def cluster_contrasts(lists: doors.PairRanks, n: IntArray, *, alternative: str) -> Columns:
    """Return the test columns and ``moved`` for all pairs."""
    return in_rows(
        lists.exists,
        ("error", "freedom", "p_value", "moved"),
        lambda row, there: pair_contrast(ListPair.of(lists, row), n[there], alternative),
        ("n_groups",),
    )


# ---- Compute recall, chance tests and thresholds for grouped candidates


def of_rows(
    compute: Callable[..., Sequence[AnyArray]],
    ranking: Ranking,
    cluster: IntArray,
    n: IntArray,
    exists: BoolArray,
    names: Sequence[str] = ("value",),
) -> Columns:
    """Return columns of the lists in each ranking, and ``n_groups``, the clusters in each list.

    ``compute`` takes the members, n in ascending order, and the position of the ranking.
    """
    columns = {name: np.full(exists.shape, np.nan) for name in names}
    columns["n_groups"] = np.zeros(exists.shape, dtype=np.int64)
    for row in np.ndindex(exists.shape[:-1]):
        there = exists[row]
        if there.any():
            ranked = ListMembers.of(ranking, row, cluster)
            ranked.warn_of_few()
            rising, back = np.unique(n[there], return_inverse=True)
            for values, own in zip(columns.values(), compute(ranked, rising, row), strict=True):
                values[*row, there] = own[back]
    return columns


def recall_sizes(
    ranked: ListMembers, n: IntArray, level: float, target: str
) -> tuple[FloatArray, IntArray]:
    """Return the effective number of true positives for recall.

    The second return value is the number of clusters in the list. ``n`` must ascend.
    """
    totals, _ = ranked.totals(n, target)
    tp = up_to_ranks(ranked.rank, ranked.gold)[n]
    positive = float(ranked.gold.sum())
    edge = totals.edges[0] * (target == "nbest")
    recall = np.asarray((tp + 1.0) / (positive + 2.0), dtype=float)
    found = stats.whole_spread(
        totals._replace(edges=(edge,)),
        tp / max(positive, 1.0),
        edge * n / ranked.gold.size,
        by_positive=True,
    )
    added = 0.5 * stats.ADDED * ((1.0 - recall) ** 2 + recall**2) * found.typical
    spread = found.spread._replace(variance=found.spread.variance + added)
    every = np.full(n.shape, positive)
    size = effective_size(every, recall, spread, level, most=2.0)
    return size, spread.n_groups


def set_weights(ranked: ListMembers, sets: stats.Sets, *, of_recall: bool) -> stats.Sets:
    """Return the number of groups in each set, and the weight of a candidate."""
    n, (_, spread, precision) = sets.n, list_spread(ranked, sets.n, "region")
    warn_of_few(spread.clusters)
    sets = sets._replace(groups=spread.n_groups)
    if not of_recall:
        return sets._replace(weigh=lambda level: effective_size(n, precision, spread, level) / n)
    positive = max(sets.positive, 1)
    return sets._replace(weigh=lambda level: recall_sizes(ranked, n, level, "region")[0] / positive)


def random_p(
    ranked: ListMembers, n: IntArray, row: tuple[int, ...], *, size: stats.Size, alone: bool = False
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return P(X >= tp) and P(X <= tp) for a list of random clusters, and the number of clusters.

    ``row`` is the position of the ranking in ``size``, the numbers of candidates in all rankings.
    The test is Student's t test for the covariance between label and list membership, summed over
    clusters. The variance is at least the variance for independent candidates. With ``alone``, the
    test uses only clusters in the list, because a head contains no others. ``n`` must ascend.
    """
    total = max(int(size.total[row]), 1)
    prior = int(size.positive[row]) / total
    inside = n / total
    totals = ranked.totals(n, "nbest")[0]._replace(edges=(np.full(n.shape, prior),))
    if alone:
        spread = total_spread(totals)
    else:
        spread = stats.whole_spread(totals, inside, inside * prior, by_positive=False).spread
    least = n * prior * (1.0 - prior) * (1.0 - inside)
    variance = np.maximum(spread.variance, least)
    tp = up_to_ranks(ranked.rank, ranked.gold)[n]
    known = (least > 0.0) & (spread.freedom > 0.0)
    t = (tp - n * prior) / np.sqrt(np.where(known, variance, 1.0))
    freedom = np.where(known, spread.freedom, 1.0)
    more, fewer = scipy.special.stdtr(freedom, np.stack([-t, t]))
    return np.where(known, more, 1.0), np.where(known, fewer, 1.0), spread.n_groups


def random_tails(
    ranking: Ranking, cluster: IntArray, n: IntArray, exists: BoolArray
) -> tuple[AnyArray, AnyArray]:
    """Return upper and lower tail probabilities for a random list."""
    tails = partial(random_p, size=ranking.size, alone=True)
    with errors.hushed("groups"):
        columns = of_rows(tails, ranking, cluster, n, exists, ("more", "fewer"))
    return columns["more"], columns["fewer"]
