"""Lists of candidates that belong together: intervals and tests from whole clusters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.errors import warn
from rankeval_pd.forms.measure_pairs import PairRanks
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.normal import z_of
from rankeval_pd.stats.intervals import bands, clusters
from rankeval_pd.stats.intervals.proportions import INTERVALS
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.ranking import Whole

FEW = 20
"""So few clusters make an interval that is known only roughly."""


def warn_of_few(n_groups: IntArray) -> None:
    """Say that there are few clusters, at one of the n asked for."""
    if n_groups.size and n_groups.min() < FEW:
        warn(
            f"groups: a row rests on {int(n_groups.min())} groups, and from fewer than {FEW} the"
            " spread between groups is known only roughly: the interval is wide, and may hold its"
            " level less well than it says. See n_groups; ask for longer lists, or add groups."
        )


def check_clustered(test: Any, ci: Any, phi: Any, threshold: Any) -> None:
    """Raise a ValueError where candidates that belong together are to be taken for independent."""
    if test not in (None, "cluster"):
        raise ValueError(
            f"test={test!r} with groups: this test takes the candidates for independent. Leave test"
            " out: the test is that of whole groups then."
        )
    if ci not in ("score", "cluster"):
        raise ValueError(
            f"ci={ci!r} with groups: this interval takes the candidates for independent. Leave ci"
            " out: the interval is that of whole groups then."
        )
    if phi != 1.0:
        raise ValueError(
            f"phi={phi!r} with groups: groups find out from the data how much more than binomial"
            " the true positives vary. Leave one of the two out."
        )
    if threshold is not None:
        raise ValueError(
            "threshold with groups: acceptance sets are compared candidate by candidate. Give n,"
            " the sizes of n-best lists."
        )


class Ranked(NamedTuple):
    """One ranking, the candidates that are in it."""

    gold: BoolArray
    rank: IntArray
    cluster: IntArray  #: whole numbers from 0
    whole: Whole | None = None  #: where this is a head

    @classmethod
    def of(
        cls,
        score: FloatArray,
        gold: BoolArray,
        here: BoolArray,
        cluster: IntArray,
        whole: Whole | None = None,
    ) -> Ranked:
        """Return the ranking of the candidates that are here."""
        rank = ranking.ranks(ranking.order(score[here], np.ones(int(here.sum()), dtype=bool)))
        return cls(gold[here], rank, numbered(cluster[here]), whole)

    def totals(self, n: IntArray, target: str) -> tuple[clusters.ListTotals, FloatArray]:
        """Return the totals of the clusters, and the precision, shrunken towards a half."""
        tp = np.concatenate([[0], np.cumsum(self.gold[np.argsort(self.rank)])])
        listed = tp[np.minimum(n, self.rank.size)]
        fixed = target == "region"
        total = self.rank.size if self.whole is None else self.whole.total
        edge = listed / n if fixed else bands.edge_precision(tp, n, np.array([total]))
        result = clusters.ListTotals(
            self.gold, (self.rank,), self.cluster, n, (edge,), fixed, _everyone(self.whole)
        )
        return result, (listed + 2.0) / (n + 4.0)


def _everyone(whole: Whole | None) -> int | None:
    return None if whole is None else whole.clusters


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
    whole: Whole | None,
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return what a candidate of each list counts for in its interval, and the clusters in it.

    And how many times as much as that of a region with a fixed threshold its precision varies.
    """
    score, gold, present, cluster = np.broadcast_arrays(score, gold, present, cluster)
    weight: FloatArray = np.ones(exists.shape)
    ratio: FloatArray = np.ones(exists.shape)
    n_groups = np.zeros(exists.shape, dtype=np.int64)
    for row in np.ndindex(exists.shape[:-1]):
        asked = exists[row]
        if asked.any():
            here = present[row] & ~np.isnan(score[row]) if ends else present[row]
            ranked = Ranked.of(score[row], gold[row], here, cluster[row], whole)
            rising, back = np.unique(n[asked], return_inverse=True)
            _, result, precision = list_spread(ranked, rising, target)
            size = clusters.effective(rising, precision, result, level)
            weight[(*row, asked)] = (size / rising)[back]
            n_groups[(*row, asked)] = result.n_groups[back]
            if target == "region":
                list_variance = list_spread(ranked, rising, "nbest")[1].variance
                ratio[(*row, asked)] = (list_variance / result.variance)[back]
    warn_of_few(n_groups[exists])
    return weight, n_groups, ratio


def band(
    ranked: Ranked, n: IntArray, level: float, **drawing: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of a band that one precision curve is in; ``n`` rises."""
    from scipy import special

    totals, result, precision = list_spread(ranked, n, "nbest")
    warn_of_few(result.n_groups)
    drawn = clusters.largest(totals, result, **drawing)
    within = 1.0 - 2.0 * float(special.ndtr(-bands.critical_value(drawn, level)))
    size = clusters.effective(n, precision, result, level)
    tp = np.concatenate([[0], np.cumsum(ranked.gold[np.argsort(ranked.rank)])])
    return INTERVALS["clopper-pearson"](size * tp[n] / n, size, within)


class Difference(NamedTuple):
    """The difference of the true positives of two lists; the last axis is n."""

    value: FloatArray
    error: FloatArray  #: its standard error
    n_groups: IntArray  #: clusters that one list has more of than the other; 0 for equal lists
    spread: clusters.ClusterSpread
    totals: clusters.ListTotals


def difference(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    cluster: IntArray,
    n: IntArray,
    target: str,
    whole: Whole | None = None,
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
        total = np.array([gold.size if whole is None else whole.total])
        edges = tuple(bands.edge_precision(x, n, total) for x in tp)  # type: ignore[assignment]
    totals = clusters.ListTotals(
        gold, (rank_a, rank_b), cluster, n, edges, target == "region", _everyone(whole)
    )
    added = sum((1.0 - edge) ** 2 + edge**2 for edge in edges)
    result = clusters.spread(totals, added)
    differ = only > 0
    error = np.where(differ, np.sqrt(result.variance), 0.0)
    n_groups = np.where(differ, result.n_groups, 0)
    return Difference((r.tp_a - r.tp_b).astype(float), error, n_groups, result, totals)


def p_values(found: Difference, alternative: str) -> FloatArray:
    """Return the p-values of the differences, of Student's t; 1 where there is one cluster."""
    from scipy import special

    t = found.value / np.where(found.error > 0, found.error, 1.0)
    far = {"two-sided": -np.abs(t), "greater": -t, "less": t}[alternative]
    freedom = found.spread.freedom
    tail = special.stdtr(np.where(freedom > 0, freedom, 1.0), far)
    p = np.minimum(1.0, 2.0 * tail) if alternative == "two-sided" else tail
    return np.asarray(np.where((freedom > 0) & (found.n_groups > 0), p, 1.0), dtype=float)


def margin(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    cluster: IntArray,
    n: IntArray,
    level: float,
    **drawing: Any,
) -> tuple[FloatArray, FloatArray]:
    """Return the difference of precision and half the width of its band; ``n`` rises."""
    result = difference(rank_a, rank_b, gold, cluster, n, "nbest")
    warn_of_few(result.n_groups[result.n_groups > 0])
    drawn = clusters.largest(result.totals, result.spread, **drawing)
    known = result.spread.freedom > 0
    wider = np.where(known, result.spread.quantile(level), 0.0) / z_of(level)
    half = bands.critical_value(drawn, level) * wider * result.error / n
    half = np.where(known, np.minimum(half, 2.0), 2.0)
    return result.value / n, np.where(result.n_groups > 0, half, 0.0)


def compared(
    lists: PairRanks, n: IntArray, *, target: str, level: float, alternative: str
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Return limits and p-value of the difference of precision, and the clusters that differ."""
    shape = (*lists.a.shape[:-1], n.size)
    low, high, p_value = np.full((3, *shape), np.nan)
    n_groups = np.zeros(shape, dtype=np.int64)
    for row in np.ndindex(shape[:-1]):
        asked = lists.exists[row]
        cluster = lists.clusters_of(row)
        if not asked.any() or cluster is None:
            continue
        rising, back = np.unique(n[asked], return_inverse=True)
        result = difference(*lists.of(row), cluster, rising, target, lists.whole)
        known = result.spread.freedom > 0
        t = np.where(known, result.spread.quantile(level), 2.0 * rising)
        half = np.where(result.n_groups > 0, t * result.error, 0.0)
        half = np.where(known | (result.n_groups == 0), half, 2.0 * rising)
        at = (*row, asked)
        low[at] = np.maximum((result.value - half) / rising, -1.0)[back]
        high[at] = np.minimum((result.value + half) / rising, 1.0)[back]
        p_value[at] = p_values(result, alternative)[back]
        n_groups[at] = result.n_groups[back]
    warn_of_few(n_groups[lists.exists & (n_groups > 0)])
    return low, high, p_value, n_groups
