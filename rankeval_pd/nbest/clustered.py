"""Lists of candidates that belong together: intervals and tests from whole clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.errors import warn
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import bands, clusters
from rankeval_pd.stats.intervals.proportions import INTERVALS
from rankeval_pd.stats.rankings import ranking

FEW = 20
"""So few clusters make an interval that is known only roughly."""


def warn_of_few(n_groups: IntArray) -> None:
    """Say that there are few clusters, at one of the n asked for."""
    if n_groups.size and n_groups.min() < FEW:
        warn(
            f"groups: what is asked rests on {int(n_groups.min())} groups at one of the n, and on"
            f" fewer than {FEW} the spread between groups is known only roughly: intervals are wide"
            " and p-values cautious. See the column n_groups; ask for longer lists, or add groups."
        )


class Ranked(NamedTuple):
    """One ranking, the candidates that are in it."""

    gold: BoolArray
    rank: IntArray
    cluster: IntArray  #: whole numbers from 0

    @classmethod
    def of(cls, score: FloatArray, gold: BoolArray, here: BoolArray, cluster: IntArray) -> Ranked:
        """Return the ranking of the candidates that are here."""
        rank = ranking.ranks(ranking.order(score[here], np.ones(int(here.sum()), dtype=bool)))
        return cls(gold[here], rank, numbered(cluster[here]))

    def totals(self, n: IntArray, target: str) -> tuple[clusters.ListTotals, FloatArray]:
        """Return the totals of the clusters, and the precision, shrunken towards a half."""
        tp = np.concatenate([[0], np.cumsum(self.gold[np.argsort(self.rank)])])
        listed = tp[np.minimum(n, self.rank.size)]
        fixed = target == "region"
        edge = listed / n if fixed else bands.edge_precision(tp, n, np.array([self.rank.size]))
        found = clusters.ListTotals(self.gold, (self.rank,), self.cluster, n, (edge,), fixed)
        return found, (listed + 2.0) / (n + 4.0)


def numbered(cluster: IntArray) -> IntArray:
    """Return the numbers of clusters without gaps, in the same order."""
    return np.asarray(np.unique(cluster, return_inverse=True)[1], dtype=np.int64)


def list_spread(
    ranked: Ranked, n: IntArray, target: str
) -> tuple[clusters.ListTotals, clusters.ClusterSpread, FloatArray]:
    """Return totals, spread and shrunken precision of the lists of one ranking; ``n`` rises."""
    totals, precision = ranked.totals(n, target)
    around = precision if totals.fixed else totals.edges[0]
    return totals, clusters.spread(totals, (1.0 - around) ** 2 + around**2), precision


def weights(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    cluster: IntArray,
    n: IntArray,
    exists: BoolArray,
    *,
    target: str,
    level: float,
    ends: bool,
) -> tuple[FloatArray, IntArray]:
    """Return what a candidate of each list counts for in its interval, and the clusters in it."""
    score, gold, present, cluster = np.broadcast_arrays(score, gold, present, cluster)
    weight, n_groups = np.ones(exists.shape), np.zeros(exists.shape, dtype=np.int64)
    for row in np.ndindex(exists.shape[:-1]):
        asked = exists[row]
        if asked.any():
            here = present[row] & ~np.isnan(score[row]) if ends else present[row]
            ranked = Ranked.of(score[row], gold[row], here, cluster[row])
            rising, back = np.unique(n[asked], return_inverse=True)
            _, found, precision = list_spread(ranked, rising, target)
            size = clusters.effective(rising, precision, found, level)
            weight[(*row, asked)] = (size / rising)[back]
            n_groups[(*row, asked)] = found.n_groups[back]
    warn_of_few(n_groups[exists])
    return weight, n_groups


def band(
    ranked: Ranked, n: IntArray, level: float, **drawing: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of a band that one precision curve is in; ``n`` rises."""
    from scipy import special

    totals, found, precision = list_spread(ranked, n, "nbest")
    warn_of_few(found.n_groups)
    drawn = clusters.largest(totals, found, **drawing)
    within = 1.0 - 2.0 * float(special.ndtr(-bands.critical_value(drawn, level)))
    size = clusters.effective(n, precision, found, level)
    tp = np.concatenate([[0], np.cumsum(ranked.gold[np.argsort(ranked.rank)])])
    return INTERVALS["clopper-pearson"](size * tp[n] / n, size, within)


class Difference(NamedTuple):
    """The difference of the true positives of two lists; the last axis is n."""

    statistic: FloatArray  #: by its standard error
    error: FloatArray
    spread: clusters.ClusterSpread
    totals: clusters.ListTotals


def difference(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    cluster: IntArray,
    n: IntArray,
    target: str,
) -> Difference:
    """Return the difference of the true positives and its spread; ``n`` rises.

    With ``target="region"`` the edge of both is the precision in the two regions together, so that
    what both lists have cancels.
    """
    cluster = numbered(cluster)
    r = ranking.nbest_regions(rank_a, rank_b, gold, n)
    only = n - r.overlap
    if target == "region":
        positive = r.tp_a + r.tp_b - 2 * r.tp_overlap
        pooled = (positive + 1.0) / (2.0 * only + 2.0)
        edges = pooled, pooled
    else:
        tp = (np.concatenate([[0], np.cumsum(gold[np.argsort(rank)])]) for rank in (rank_a, rank_b))
        edges = tuple(bands.edge_precision(x, n, np.array([gold.size])) for x in tp)  # type: ignore[assignment]
    totals = clusters.ListTotals(gold, (rank_a, rank_b), cluster, n, edges, target == "region")
    added = sum((1.0 - edge) ** 2 + edge**2 for edge in edges)
    found = clusters.spread(totals, added)
    error = np.sqrt(found.variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(only > 0, (r.tp_a - r.tp_b) / error, 0.0)
    return Difference(statistic, error, found, totals)


def p_values(found: Difference, alternative: str) -> FloatArray:
    """Return the p-values of the differences, of Student's t; 1 where there is one cluster."""
    from scipy import special

    signed = {"two-sided": -np.abs(found.statistic), "greater": -found.statistic}
    freedom = found.spread.freedom
    tail = special.stdtr(
        np.where(freedom > 0, freedom, 1.0), signed.get(alternative, found.statistic)
    )
    p = np.minimum(1.0, 2.0 * tail) if alternative == "two-sided" else tail
    return np.where(freedom > 0, p, 1.0)


def over_rows(
    shape: tuple[int, ...],
    exists: BoolArray,
    n: IntArray,
    kernel: Callable[[tuple[int, ...], IntArray], tuple[FloatArray, ...]],
    count: int,
) -> FloatArray:
    """Return what a kernel says of every row and rising n, in the order asked for."""
    result = np.full((count, *shape, n.size), np.nan)
    for row in np.ndindex(shape):
        asked = exists[row]
        if asked.any():
            rising, back = np.unique(n[asked], return_inverse=True)
            for k, values in enumerate(kernel(row, rising)):
                result[(k, *row, asked)] = values[back]
    return result
