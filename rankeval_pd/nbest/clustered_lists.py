"""Compute recall, chance tests and thresholds for grouped candidates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from rankeval_pd.errors import hushed
from rankeval_pd.nbest.grouped_lists import ListMembers, list_spread, warn_of_few
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import cluster_totals
from rankeval_pd.stats.rankings.rank_tests import Sets
from rankeval_pd.stats.rankings.ranking import Ranking, up_to_ranks


def of_rows(
    compute: Callable[..., tuple[AnyArray, ...]],
    ranking: Ranking,
    cluster: IntArray,
    n: IntArray,
    exists: BoolArray,
) -> tuple[FloatArray, IntArray]:
    """Compute values for the lists in each ranking, with NaN for missing lists.

    The last return value is the number of clusters in each list. ``compute`` takes the members, n
    in ascending order, and the position of the ranking.
    """
    value, n_groups = np.full(exists.shape, np.nan), np.zeros(exists.shape, dtype=np.int64)
    for row in np.ndindex(exists.shape[:-1]):
        asked = exists[row]
        if asked.any():
            ranked = ListMembers.of(ranking, row, cluster)
            ranked.warn_of_few()
            rising, back = np.unique(n[asked], return_inverse=True)
            found, groups = compute(ranked, rising, row)
            value[(*row, asked)], n_groups[(*row, asked)] = found[back], groups[back]
    return value, n_groups


def recall_sizes(
    ranked: ListMembers, n: IntArray, level: float, *, fixed: bool
) -> tuple[FloatArray, IntArray]:
    """Return the effective number of true positives for recall.

    The second return value is the number of clusters in the list. ``n`` must ascend.
    """
    totals = ranked.totals(n, "region" if fixed else "nbest")[0]
    tp, positive = up_to_ranks(ranked.rank, ranked.gold)[n], float(ranked.gold.sum())
    edge = totals.edges[0] * (not fixed)
    recall: FloatArray = np.asarray((tp + 1.0) / (positive + 2.0), dtype=np.float64)
    found = cluster_totals.whole_spread(
        totals._replace(edges=(edge,)), tp / max(positive, 1.0), edge * n / ranked.gold.size,
        by_positive=True,
    )  # fmt: skip
    added = 0.5 * cluster_totals.ADDED * ((1.0 - recall) ** 2 + recall**2) * found.typical
    spread = found.spread._replace(variance=found.spread.variance + added)
    every = np.full(n.shape, positive)
    size = cluster_totals.effective_size(every, recall, spread, level, most=2.0)
    return size, spread.n_groups


def set_weights(ranked: ListMembers, sets: Sets, *, of_recall: bool) -> Sets:
    """Return the number of groups in each set, and the weight of a candidate."""
    _, found, precision = list_spread(ranked, sets.n, "region")
    warn_of_few(found.clusters)

    def weigh(level: float) -> FloatArray:
        if of_recall:
            return recall_sizes(ranked, sets.n, level, fixed=True)[0] / max(sets.positive, 1)
        return cluster_totals.effective_size(sets.n, precision, found, level) / sets.n

    return sets._replace(groups=found.n_groups, weigh=weigh)


def random_p(
    ranked: ListMembers,
    n: IntArray,
    total: int,
    positive: int,
    *,
    alone: bool = False,
    fewer: bool = False,
) -> tuple[FloatArray, IntArray]:
    """Return P(X >= tp) for a list of random clusters, and the number of clusters.

    With ``fewer``, the function returns P(X <= tp).

    The test is Student's t test for the covariance between label and list membership, summed over
    clusters. The variance is at least the variance for independent candidates. With ``alone``, the
    test uses only clusters in the list, because a head contains no others. ``n`` must ascend.
    """
    from scipy import special

    prior, inside = positive / max(total, 1), n / max(total, 1)
    totals = ranked.totals(n, "nbest")[0]._replace(edges=(np.full(n.shape, prior),))
    if alone:
        spread = cluster_totals.total_spread(totals)
    else:
        spread = cluster_totals.whole_spread(
            totals, inside, inside * prior, by_positive=False
        ).spread
    least = n * prior * (1.0 - prior) * (1.0 - inside)
    variance = np.maximum(spread.variance, least)
    tp, known = up_to_ranks(ranked.rank, ranked.gold)[n], (least > 0.0) & (spread.freedom > 0.0)
    t = (tp - n * prior) / np.sqrt(np.where(known, variance, 1.0))
    p = special.stdtr(np.where(known, spread.freedom, 1.0), t if fewer else -t)
    return np.where(known, p, 1.0), spread.n_groups


def random_tails(
    ranking: Ranking, cluster: IntArray, n: IntArray, exists: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return upper and lower tail probabilities for a random list."""
    size = ranking.size

    def of(
        ranked: ListMembers, n: IntArray, row: tuple[int, ...], *, fewer: bool
    ) -> tuple[FloatArray, IntArray]:
        counts = int(size.total[row]), int(size.positive[row])
        return random_p(ranked, n, *counts, alone=True, fewer=fewer)

    with hushed("groups"):
        above, below = (
            of_rows(partial(of, fewer=fewer), ranking, cluster, n, exists)[0]
            for fewer in (False, True)
        )
    return above, below
