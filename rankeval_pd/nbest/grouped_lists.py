"""Lists in groups: clusters of candidates, strata of queries, means over queries."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice, check_share, is_known, warn
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.averages import check_average, over_groups
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import (
    PairRanks,
    ask_pairs,
    only_pair,
    pair_names,
)
from rankeval_pd.forms.rankings.values import Shares, Sizes, those
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.forms.roles.roles import Alternative, Names, Roles
from rankeval_pd.nbest.region_intervals import OF_ERROR, decide, decision_columns, family_attr
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import bands, cluster_totals
from rankeval_pd.stats.intervals.proportions import INTERVALS, z_of
from rankeval_pd.stats.rankings.ranking import Ranking, Whole, nbest_regions, up_to_ranks
from rankeval_pd.stats.significance import fisher
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS

# --------------- Lists of candidates that belong together: intervals and tests from whole clusters

FEW = 10
"""Fewer clusters make an interval that is known only roughly; from so many on, it holds."""


def warn_of_few(clusters: int) -> None:
    """Say that there are few clusters."""
    if clusters < FEW:
        warn(
            f"groups: there are {clusters} groups. From fewer than {FEW} the spread between groups"
            " is known only roughly: the interval is wide, and may hold its level less well than it"
            " says. Add groups, or read the interval as a rough one."
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


class ListMembers(NamedTuple):
    """One ranking, the candidates that are in it."""

    gold: BoolArray
    rank: IntArray
    cluster: IntArray  #: whole numbers from 0
    whole: Whole | None = None  #: where this is a head

    @classmethod
    def of(cls, ranking: Ranking, row: tuple[int, ...], cluster: IntArray) -> ListMembers:
        """Return the ranking of one measure in one batch, of those that may be in a list."""
        here = ranking.eligible[row]
        of_row = np.broadcast_to(cluster, ranking.score.shape)[row]
        rank, gold = ranking.ranks[row][here], ranking.gold[row][here]
        return cls(gold, rank, cluster_numbers(of_row[here]), ranking.whole)

    def warn_of_few(self) -> None:
        """Say that there are few clusters: levels, of two factors."""
        found = cluster_totals.factors_of(self.cluster)
        warn_of_few(_everyone(self.whole) or min(int(x.max(initial=-1)) + 1 for x in found))

    def totals(self, n: IntArray, target: str) -> tuple[cluster_totals.ListTotals, FloatArray]:
        """Return the totals of the clusters, and the precision, shrunken towards a half."""
        tp = up_to_ranks(self.rank, self.gold)
        listed = tp[np.minimum(n, self.rank.size)]
        fixed = target == "region"
        total = self.rank.size if self.whole is None else self.whole.total
        edge = listed / n if fixed else bands.edge_precision(tp, n, np.array([total]))
        result = cluster_totals.ListTotals(
            self.gold, (self.rank,), self.cluster, n, (edge,), fixed, _everyone(self.whole)
        )
        return result, (listed + 2.0) / (n + 4.0)


def _everyone(whole: Whole | None) -> int | None:
    return None if whole is None else whole.clusters


def cluster_numbers(cluster: IntArray) -> IntArray:
    """Return the numbers of clusters without gaps, in the same order; cells as they are."""
    if len(cluster_totals.factors_of(cluster)) > 1:
        return cluster
    return np.asarray(np.unique(cluster, return_inverse=True)[1], dtype=np.int64)


def list_spread(
    ranked: ListMembers, n: IntArray, target: str
) -> tuple[cluster_totals.ListTotals, cluster_totals.ClusterSpread, FloatArray]:
    """Return totals, spread and shrunken precision of the lists of one ranking; ``n`` rises."""
    totals, precision = ranked.totals(n, target)
    around = precision if totals.fixed else totals.edges[0]
    # few clusters have the rare label of a share near 0 or 1, and may be lacking by chance
    rare = np.maximum(cluster_totals.ADDED, (1.0 - 2.0 * precision) ** 6)
    added = rare * ((1.0 - around) ** 2 + around**2)
    return totals, cluster_totals.total_spread(totals, added), precision


def weights(
    ranking: Ranking,
    cluster: IntArray,
    n: IntArray,
    exists: BoolArray,
    *,
    target: str,
    level: float,
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return what a candidate of each list counts for in its interval, and the clusters in it.

    And how many times as much as that of a region with a fixed threshold its precision varies.
    """
    weight: FloatArray = np.ones(exists.shape)
    ratio: FloatArray = np.ones(exists.shape)
    n_groups = np.zeros(exists.shape, dtype=np.int64)
    for row in np.ndindex(exists.shape[:-1]):
        asked = exists[row]
        if asked.any():
            ranked = ListMembers.of(ranking, row, cluster)
            ranked.warn_of_few()
            rising, back = np.unique(n[asked], return_inverse=True)
            _, result, precision = list_spread(ranked, rising, target)
            size = cluster_totals.effective_size(rising, precision, result, level)
            weight[(*row, asked)] = (size / rising)[back]
            n_groups[(*row, asked)] = result.n_groups[back]
            if target == "region":
                list_variance = list_spread(ranked, rising, "nbest")[1].variance
                ratio[(*row, asked)] = (list_variance / result.variance)[back]
    return weight, n_groups, ratio


def band(
    ranked: ListMembers, n: IntArray, level: float, **drawing: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of a band that one precision curve is in; ``n`` rises."""
    from scipy import special

    totals, result, precision = list_spread(ranked, n, "nbest")
    warn_of_few(result.clusters)
    drawn = cluster_totals.largest_statistics(totals, result, **drawing)
    within = 1.0 - 2.0 * float(special.ndtr(-bands.critical_value(drawn, level)))
    size = cluster_totals.effective_size(n, precision, result, level)
    tp = up_to_ranks(ranked.rank, ranked.gold)
    return INTERVALS["wilson"](size * tp[n] / n, size, within)


class Difference(NamedTuple):
    """The difference of the true positives of two lists; the last axis is n."""

    value: FloatArray
    error: FloatArray  #: its standard error
    n_groups: IntArray  #: clusters that one list has more of than the other; 0 for equal lists
    spread: cluster_totals.ClusterSpread
    totals: cluster_totals.ListTotals


def difference(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    cluster: IntArray,
    n: IntArray,
    whole: Whole | None = None,
) -> Difference:
    """Return the difference of the true positives and its spread; ``n`` rises.

    The variance is the larger of two, so one law holds for both targets: that of the lists, with
    the precision at the edge of either, and that of the two regions, with their precision together,
    so that what both lists have cancels.
    """
    cluster = cluster_numbers(cluster)
    r = nbest_regions(rank_a, rank_b, gold, n)
    only = n - r.overlap
    pooled = (r.tp_a + r.tp_b - 2 * r.tp_overlap + 1.0) / (2.0 * only + 2.0)
    total = np.array([gold.size if whole is None else whole.total])
    tp = [up_to_ranks(rank, gold) for rank in (rank_a, rank_b)]
    edges = tuple(bands.edge_precision(x, n, total) for x in tp)
    totals = cluster_totals.ListTotals(
        gold, (rank_a, rank_b), cluster, n, edges, False, _everyone(whole)
    )
    found, other = (
        cluster_totals.total_spread(x) for x in (totals, totals._replace(edges=(pooled, pooled)))
    )
    differ, variance = only > 0, np.maximum(found.variance, other.variance)
    return Difference(
        (r.tp_a - r.tp_b).astype(float),
        np.where(differ, np.sqrt(variance), 0.0),
        np.where(differ, found.n_groups, 0),
        found._replace(variance=variance),
        totals,
    )


def p_values(found: Difference, alternative: str) -> FloatArray:
    """Return the p-values of the differences, of Student's t; 1 where there is one cluster."""
    return p_of_gap(found.value, found.error, found.spread.freedom, alternative)


def p_of_gap(
    gap: FloatArray, error: FloatArray, freedom: FloatArray, alternative: str
) -> FloatArray:
    """Return the p-values of differences with these standard errors; 1 where nothing is known."""
    from scipy import special

    t = gap / np.where(error > 0.0, error, 1.0)
    far = {"two-sided": -np.abs(t), "greater": -t, "less": t}[alternative]
    tail = special.stdtr(np.where(freedom > 0.0, freedom, 1.0), far)
    p = np.minimum(1.0, 2.0 * tail) if alternative == "two-sided" else tail
    return np.asarray(np.where((freedom > 0.0) & (error > 0.0), p, 1.0), dtype=float)


def margins(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    cluster: IntArray,
    n: IntArray,
    levels: list[float],
    whole: Whole | None,
    *,
    each: bool,
    **drawing: Any,
) -> FloatArray:
    """Return half the width of the band of a difference of precision, for each level; ``n`` rises.

    Of a head, whose other candidates' clusters are not known, it is Bonferroni's for all n.
    """
    result = difference(rank_a, rank_b, gold, cluster, n, whole)
    if result.n_groups.any():
        warn_of_few(result.spread.clusters)
    known = result.spread.freedom > 0
    if each or n.size == 1 or whole is not None:
        shared = 1 if each else n.size
        factors = [result.spread.quantile(1.0 - (1.0 - level) / shared) for level in levels]
    else:
        drawn = cluster_totals.largest_statistics(result.totals, result.spread, **drawing)
        factors = [
            bands.critical_value(drawn, level) * result.spread.quantile(level) / z_of(level)
            for level in levels
        ]
    half = np.where(known, factors, 0.0) * result.error / n
    half = np.where(known, np.minimum(half, 2.0), 2.0)
    return np.where(result.n_groups > 0, half, 0.0)


_SOME = 1e-300  # an error that is above 0: of lists that differ, though nothing is known of it


def pair_contrast(
    rank_a: IntArray, rank_b: IntArray, gold: BoolArray, cluster: IntArray, n: IntArray,
    whole: Whole | None, alternative: str = "two-sided",
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:  # fmt: skip
    """Return standard error, degrees of freedom and p-value of the difference of two lists.

    And the clusters that one list has more of than the other.
    """
    rising, back = np.unique(n, return_inverse=True)
    found = difference(rank_a, rank_b, gold, cluster, rising, whole)
    if found.n_groups.any():
        warn_of_few(found.spread.clusters)
    error = np.where(found.n_groups > 0, np.fmax(found.error / rising, _SOME), 0.0)
    freedom = np.broadcast_to(found.spread.freedom, rising.shape)
    p = p_values(found, alternative)
    return error[back], freedom[back], p[back], found.n_groups[back]


def cluster_contrasts(
    lists: PairRanks, n: IntArray, *, alternative: str
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Return the same of all pairs of lists, NaN where there is none."""
    shape = lists.exists.shape
    columns = np.full((3, *shape), np.nan)
    n_groups = np.zeros(shape, dtype=np.int64)
    for row in np.ndindex(shape[:-1]):
        asked, cluster = lists.exists[row], lists.clusters_of(row)
        if asked.any() and cluster is not None:
            found = pair_contrast(*lists.of(row), cluster, n[asked], lists.whole, alternative)
            columns[(slice(None), *row, asked)] = found[:3]
            n_groups[(*row, asked)] = found[3]
    return columns[0], columns[1], columns[2], n_groups


# -------------------------------------------------------------------------------------------------
# Is A better than B over all groups: one exact test within strata, or the mean over queries.

_FRONT = (
    "measure_a", "measure_b", "n", "precision_a", "precision_b", "difference", "ci_low", "ci_high",
)  # fmt: skip
_COUNTS = ("overlap", "n_only_a", "n_only_b", "tp_only_a", "tp_only_b")


def check_joined(
    combine: bool, average: str | None, sizes: Sizes, others: Mapping[str, tuple[Any, Any]]
) -> None:
    """Raise a ValueError where an option has no meaning for all groups together.

    ``others`` are options: what was given, and what it is unless given.
    """
    check_average(average, combine=combine)
    asked = "combine=True" if combine else f"average={average!r}"
    for name, (given, usual) in others.items():
        if given is not usual and not is_known(given, [usual]):
            raise ValueError(
                f"{asked} with {name}={given!r}: all groups together have one test, and this"
                f" option is of the rows of single groups. Leave it out, or leave {asked} out."
            )
    if isinstance(sizes, Shares):
        raise ValueError(
            f"{asked} with shares of the candidates: groups of different sizes would have lists of"
            " different n. Give whole numbers."
        )


class JoinedOptions(NamedTuple):
    """How the comparison of all groups together is made."""

    combine: bool
    average: str | None
    alternative: Alternative
    adjust: str | None
    adjust_over: str
    alpha: float
    level: float

    @classmethod
    def of(cls, **given: Any) -> JoinedOptions:
        """Return the options, checked."""
        check_choice("alternative", given["alternative"], ("two-sided", "greater", "less"))
        check_choice("adjust", given["adjust"], (None, *ADJUSTMENTS))
        check_choice("adjust_over", given["adjust_over"], tables.OVER_LISTS)
        for name in ("alpha", "level"):
            given[name] = check_share(name, given[name])
        return cls(combine=given["average"] is None, **given)


def compare_joined(
    data: Data,
    a: Hashable,
    b: Names,
    sizes: IntArray | None,
    roles: Mapping[str, Any],
    options: JoinedOptions,
) -> Data:
    """Compare pairs of measures in all groups together: combined, or with ``average`` averaged."""
    ties = Roles.of(roles).ties
    noted = options._asdict()

    def question(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        pairs, n = pair_names(inner, a, b), those(sizes, asked)
        one = inner.assign_attrs(n_groups=1)
        noted.update(family_attr(options, pairs, one, a, b, 0 if n is None else n.size))
        types: dict[str, type] = dict.fromkeys(("tp_a", "tp_b", *_COUNTS), np.int64)
        return ask_pairs(inner, pairs, _counts, types, n=n, ties=ties)

    def together(lists: xr.Dataset, batch: list[Hashable]) -> xr.Dataset:
        ask = _tested if options.average is None else _averaged
        return decide([ask(lists, batch, options)], [], how=options, interval=OF_ERROR)[0]

    return answer(
        data, only_pair(data, a, b, roles), question,
        _joined_columns(options),
        Capabilities(lists=True, ends=True), n=sizes, combine=together, attrs=noted,
    )  # fmt: skip


def _joined_columns(options: JoinedOptions) -> tuple[str, ...]:
    decision, ending = decision_columns(options)
    counts = ("n_groups", "n_left_out") if options.combine else ("n_queries", "n_missing")
    p_values = ("p_value", "p_mid") if options.combine else ("p_value",)
    return (*_FRONT, *_COUNTS, *p_values, *decision, *counts, *ending)


def _counts(lists: PairRanks, n: IntArray) -> tuple[AnyArray, ...]:
    r = lists.regions(n)
    only = n - r.overlap
    if (lists.exists & (lists.a.cuts_tie(n) | lists.b.cuts_tie(n))).any():
        warn(
            "combine=True or average=...: a list cuts a block of equal scores, and whether their"
            " order decides is not looked at. tie_sensitivity shows it group by group; or choose n"
            " at which no block is cut."
        )
    return r.tp_a, r.tp_b, r.overlap, only, only, r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap


def _sums(lists: xr.Dataset, batch: list[Hashable]) -> dict[str, xr.DataArray]:
    there = lists["exists"]
    return {
        name: lists[name].where(there, 0).sum(batch).astype(np.int64) for name in _COUNTS
    }  # fmt: skip


def _tested(lists: xr.Dataset, batch: list[Hashable], options: JoinedOptions) -> xr.Dataset:
    there = lists["exists"]
    groups, total = there.sum(batch), (lists["n"] * there).sum(batch)
    columns = [lists[name].where(there, 0) for name in ("tp_only_a", "tp_only_b", "n_only_a")]
    columns = [tables.in_one_chunk(x, batch) for x in columns]
    names = ("difference", "error", "reach", "p_value", "p_mid")
    result = xr.apply_ufunc(
        _strata, *columns, total, kwargs={"alternative": options.alternative},
        input_core_dims=[batch, batch, batch, []], output_core_dims=[[]] * len(names),
        dask="parallelized", output_dtypes=[float] * len(names),
    )  # fmt: skip
    listed = total.where(total > 0)
    precision = {
        f"precision_{side}": lists[f"tp_{side}"].where(there, 0).sum(batch) / listed
        for side in "ab"
    }
    return xr.Dataset(
        {**precision, **dict(zip(names, result, strict=True)), **_sums(lists, batch)}
    ).assign(
        freedom=np.inf, n_groups=groups, n_left_out=(~there).sum(batch), exists=there.any(batch)
    )


def _strata(
    tp_a: AnyArray, tp_b: AnyArray, size: AnyArray, total: AnyArray, *, alternative: str
) -> tuple[FloatArray, ...]:
    values = np.full((5, *total.shape), np.nan)
    for row in np.ndindex(total.shape):
        if not total[row]:
            continue
        x, y, m = (np.asarray(v[row]).ravel().astype(np.int64) for v in (tp_a, tp_b, size))
        share = float(m.sum()) / float(total[row])
        difference, error = fisher.mantel_haenszel_difference(x, y, m)
        p = fisher.stratified_exact_test(x, y, m, alternative)
        values[(slice(None), *row)] = (share * difference, share * error, share, *p)
    return tuple(values)


def _averaged(lists: xr.Dataset, batch: list[Hashable], options: JoinedOptions) -> xr.Dataset:
    there = lists["exists"]
    n = lists["n"].where(there)
    tp = {side: lists[f"tp_{side}"].where(there) for side in "ab"}
    gain = tp["a"] - tp["b"]
    if options.average == "macro":
        result = over_groups(gain / n, None, batch, options.alternative)
        precision = {side: over_groups(x / n, None, batch).value for side, x in tp.items()}
    else:
        result = over_groups(gain, n, batch, options.alternative)
        precision = {side: over_groups(x, n, batch).value for side, x in tp.items()}
    return xr.Dataset(
        {
            "precision_a": precision["a"], "precision_b": precision["b"],
            "difference": result.value, "error": result.se, "freedom": result.n_queries - 1.0,
            "p_value": result.p_value,
            "n_queries": result.n_queries, "n_missing": (~there).sum(batch),
            "exists": there.any(batch), **_sums(lists, batch),
        }
    ).assign(reach=1.0)  # fmt: skip
