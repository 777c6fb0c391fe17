"""Compare measures over all groups with a stratified test or with averages."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice, check_share
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.averages import GroupAverage, over_groups
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import PairRanks, ask_pairs, only_pair, pair_names
from rankeval_pd.forms.rankings.values import those
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.forms.roles.roles import Alternative, Names, Roles
from rankeval_pd.nbest.region_intervals import OF_ERROR, decide, decision_columns, family_attr
from rankeval_pd.nbest.tie_verdicts import check_means, of_pair
from rankeval_pd.nbest.tie_warnings import DECIDES, TIE_TYPES
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.cluster_totals import QueryMean, t_test
from rankeval_pd.stats.rankings.tie_orders import order_ends
from rankeval_pd.stats.significance import fisher
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS

_FRONT = (
    "measure_a", "measure_b", "n", "precision_a", "precision_b", "difference", "ci_low", "ci_high",
)  # fmt: skip
_COUNTS = ("overlap", "n_only_a", "n_only_b", "tp_only_a", "tp_only_b")


class JoinedOptions(NamedTuple):
    """Store the options for a comparison over all groups."""

    combine: bool
    average: str | None
    alternative: Alternative
    adjust: str | None
    adjust_over: str
    alpha: float
    level: float

    @classmethod
    def of(cls, **given: Any) -> JoinedOptions:
        """Check and return the options."""
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
    """Compare pairs of measures with a combined test or with averages over groups."""
    ties = Roles.of(roles).ties
    means = ties == "expected"
    if means:
        check_means(data, combine=options.combine)
    noted, count = options._asdict(), partial(_counts, means=means)
    types: dict[str, type] = dict.fromkeys(("tp_a", "tp_b", *_COUNTS), float if means else np.int64)
    types |= {"cuts_tie": bool, **dict.fromkeys(_ORDERS, float)}

    def question(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        pairs, n = pair_names(inner, a, b), those(sizes, asked)
        one = inner.assign_attrs(n_groups=1)
        noted.update(family_attr(options, pairs, one, a, b, 0 if n is None else n.size))
        return ask_pairs(inner, pairs, count, types, n=n, ties=ties)

    def together(lists: xr.Dataset, batch: list[Hashable]) -> xr.Dataset:
        ask = _tested if options.average is None else _averaged
        found = ask(lists, batch, options)
        if means:
            found = found.drop_vars([*TIE_TYPES])
        return decide([found], [], how=options, interval=OF_ERROR)[0]

    return answer(
        data, only_pair(data, a, b, roles), question, _joined_columns(options, means=means),
        Capabilities(lists=True, ends=True, any_ties=means), n=sizes, combine=together, attrs=noted,
    )  # fmt: skip


def _joined_columns(options: JoinedOptions, *, means: bool) -> tuple[str, ...]:
    decision, ending = decision_columns(options)
    counts = ("n_groups", "n_left_out") if options.combine else ("n_queries", "n_missing")
    p_values = ("p_value", "p_mid") if options.combine else ("p_value",)
    tied = () if means else (*TIE_TYPES, DECIDES)
    return (*_FRONT, *_COUNTS, *p_values, *decision, "cuts_tie", *tied, *counts, *ending)


_ORDERS = (
    "gap",
    "variance",
    "only",
    "positive",
)  # over random tie orders in a group


def _counts(lists: PairRanks, n: IntArray, *, means: bool) -> tuple[AnyArray, ...]:
    r = lists.regions(n)
    only, cut = n - r.overlap, lists.a.cuts_tie(n) | lists.b.cuts_tie(n)
    tp_only = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    counts = [r.tp_a, r.tp_b, r.overlap, only, only, *tp_only]
    orders = [r.tp_a - r.tp_b, 0.0 * only, only, tp_only[0] + tp_only[1]]
    found = [np.broadcast_to(x, only.shape).astype(float) for x in (*counts, *orders)]
    for row in np.ndindex(cut.shape[:-1]):
        asked = cut[row] & lists.exists[row]
        if not asked.any():
            continue
        pair = of_pair(lists, row, n[asked])
        (tp_a, tp_b), (of_a, of_b) = pair.tp, pair.tp_only
        if means:
            size = pair.only
            values = [tp_a, tp_b, n[asked] - size, size, size, of_a, of_b, tp_a - tp_b, 0.0 * size,
                      size, of_a + of_b]  # fmt: skip
        else:
            spread = pair.spread_of_orders() ** 2
            values = [*(x[(*row, asked)] for x in counts), tp_a - tp_b, spread,
                      *pair.regions]  # fmt: skip
        for column, value in zip(found, values, strict=True):
            column[(*row, asked)] = value
    kept = found[:7] if means else counts
    return (*kept, cut, *found[7:])


def _sums(lists: xr.Dataset, batch: list[Hashable]) -> dict[str, xr.DataArray]:
    there = lists["exists"]
    sums = {name: lists[name].where(there, 0).sum(batch) for name in _COUNTS}
    kinds = {name: lists[name].dtype for name in _COUNTS}
    return {name: x.astype(kinds[name]) for name, x in sums.items()} | {
        "cuts_tie": (lists["cuts_tie"] & there).any(batch)
    }


def _tested(lists: xr.Dataset, batch: list[Hashable], options: JoinedOptions) -> xr.Dataset:
    there = lists["exists"]
    groups, total = there.sum(batch), (lists["n"] * there).sum(batch)
    columns = [lists[name].where(there, 0) for name in ("tp_only_a", "tp_only_b", "n_only_a")]
    columns += [lists[name].where(there, 0.0) for name in _ORDERS]
    columns = [tables.in_one_chunk(x, batch) for x in columns]
    names = ("difference", "error", "reach", "p_value", "p_mid", *TIE_TYPES)
    result = xr.apply_ufunc(
        _strata, *columns, total, kwargs={"alternative": options.alternative},
        input_core_dims=[batch] * 7 + [[]], output_core_dims=[[]] * len(names),
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


def _strata(*columns: AnyArray, alternative: str) -> tuple[FloatArray, ...]:
    *counts, total = columns
    values = np.full((9, *total.shape), np.nan)
    for row in np.ndindex(total.shape):
        if not total[row]:
            continue
        tp_a, tp_b, size, gap, variance, only, positive = (v[row].ravel() for v in counts)
        x, y, m = (v.astype(np.int64) for v in (tp_a, tp_b, size))
        share = float(m.sum()) / float(total[row])
        difference, error = fisher.mantel_haenszel_difference(x, y, m)
        p = fisher.stratified_exact_test(x, y, m, alternative)
        ends = [share * difference] * 2, [p[0]] * 2
        if (variance > 0.0).any():
            m = np.rint(only).astype(np.int64)
            gaps = _whole(np.stack(order_ends(gap, variance, gap.sum(), variance.sum())))
            both = _whole(positive)
            below = np.clip((both - gaps + 1) // 2, 0, m)
            above = np.clip(below + gaps, 0, m)
            tests = (
                fisher.stratified_exact_test(x, y, m, alternative)
                for x, y in zip(above, below, strict=True)
            )
            ends = list(gaps.sum(axis=1) / float(total[row])), [x[0] for x in tests]
        values[(slice(None), *row)] = (
            share * difference, share * error, share, *p, *ends[0], *ends[1]
        )  # fmt: skip
    return tuple(values)


def _whole(counts: FloatArray) -> IntArray:
    """Round numbers to integers, keeping cumulative sums close to the original sums."""
    sums = np.rint(np.cumsum(counts, axis=-1))
    return np.asarray(np.diff(sums, axis=-1, prepend=0.0).astype(np.int64))


def _averaged(lists: xr.Dataset, batch: list[Hashable], options: JoinedOptions) -> xr.Dataset:
    there = lists["exists"]
    n = lists["n"].where(there)
    macro = options.average == "macro"

    def over(counts: xr.DataArray) -> GroupAverage:
        below = None if macro else n
        return over_groups(counts / n if macro else counts, below, batch, options.alternative)

    tp = {side: lists[f"tp_{side}"].where(there) for side in "ab"}
    result = over(tp["a"] - tp["b"])
    gap, variance = (lists[name].where(there) for name in _ORDERS[:2])
    sums = gap.sum(batch), variance.sum(batch)
    ends = [over(x).value for x in order_ends(gap, variance, *sums)]
    # orders of equal scores change the difference but not the variance between groups
    p_ends = [xr.apply_ufunc(_p_of_mean, x, result.se, result.n_queries, kwargs={
        "alternative": options.alternative}, dask="parallelized", output_dtypes=[float],
    ) for x in ends]  # fmt: skip
    return xr.Dataset(
        {
            **{f"precision_{side}": over(x).value for side, x in tp.items()},
            "difference": result.value, "error": result.se, "freedom": result.n_queries - 1.0,
            "p_value": result.p_value,
            "n_queries": result.n_queries, "n_missing": (~there).sum(batch),
            "exists": there.any(batch), **_sums(lists, batch),
            **dict(zip(TIE_TYPES, (*ends, *p_ends), strict=True)),
        }
    ).assign(reach=1.0)  # fmt: skip


def _p_of_mean(value: FloatArray, se: FloatArray, n: IntArray, *, alternative: str) -> FloatArray:
    return t_test(QueryMean(value, se, n), alternative)
