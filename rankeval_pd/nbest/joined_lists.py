"""Compare measures over all groups with a stratified test or with averages."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.decisions.averages import GroupAverage, GroupCells, over_groups
from rankeval_pd.decisions.families import OVER_LISTS, compared_with, family_note
from rankeval_pd.decisions.intervals import OF_ERROR
from rankeval_pd.decisions.verdicts import P_ENDS, TIE_COLUMNS, TIE_ENDS, decide, decision_columns
from rankeval_pd.doors.pairs import PairRanks, only_pair
from rankeval_pd.doors.rankings import (
    Candidates,
    Rows,
    distinct_tests,
    pair_names,
    pair_rows,
    tabulate,
)
from rankeval_pd.errors import check_choice, check_share
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.forms.roles.roles import Alternative, Names, Roles
from rankeval_pd.nbest.tie_verdicts import check_means, of_pair
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.cluster_totals import QueryMean, t_test
from rankeval_pd.stats.rankings.tie_orders import order_ends
from rankeval_pd.stats.significance import fisher
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS

_FRONT = (
    "measure_a",
    "measure_b",
    "n",
    "precision_a",
    "precision_b",
    "difference",
    "ci_low",
    "ci_high",
)
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
        check_choice("adjust_over", given["adjust_over"], OVER_LISTS)
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
    noted = options._asdict()

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        pairs = pair_names(candidates.measures, a, b)
        tests = distinct_tests(candidates, pairs, options.alternative)
        one = replace(candidates, n_groups=1)
        noted.update(family_note(options, tests, one, n, compared_with(a, b)))
        kernel = partial(_counts_of_lists, means=means)
        return pair_rows(candidates, pairs, kernel, n, ties=ties, alternative=options.alternative)

    return tabulate(
        data,
        only_pair(data, a, b, roles),
        question,
        _joined_columns(options, means=means),
        Capabilities(lists=True, ends=True, any_ties=means),
        n=sizes,
        combine=partial(_combined, options=options, means=means),
        finish=partial(decide, how=options, interval=OF_ERROR),
        attrs=noted,
    )


def _joined_columns(options: JoinedOptions, *, means: bool) -> tuple[str, ...]:
    """Return the columns of the comparison, in order."""
    decision, ending = decision_columns(options)
    counts = ("n_queries", "n_missing")
    p_values: tuple[str, ...] = ("p_value",)
    if options.combine:
        counts, p_values = ("n_groups", "n_left_out"), ("p_value", "p_mid")
    tied = () if means else TIE_COLUMNS
    return (*_FRONT, *_COUNTS, *p_values, *decision, "cuts_tie", *tied, *counts, *ending)


# the difference of true positives over random orders of equal scores in a group: mean and variance,
# candidates in only one list, and true positives among these candidates
_ORDERS = ("gap", "variance", "only", "positive")


def _counts_of_lists(lists: PairRanks, n: IntArray, *, means: bool) -> dict[str, AnyArray]:
    """Return the counts for each pair, and their distribution over orders of equal scores."""
    r = lists.regions(n)
    only, cut = n - r.overlap, lists.a.cuts_tie(n) | lists.b.cuts_tie(n)
    tp_only = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    counts: dict[str, AnyArray] = {
        "tp_a": r.tp_a,
        "tp_b": r.tp_b,
        "overlap": r.overlap,
        "n_only_a": only,
        "n_only_b": only,
        "tp_only_a": tp_only[0],
        "tp_only_b": tp_only[1],
    }
    if means:
        counts = {name: values.astype(float) for name, values in counts.items()}
    orders = {
        "gap": (r.tp_a - r.tp_b).astype(float),
        "variance": np.zeros(only.shape),
        "only": only.astype(float),
        "positive": (tp_only[0] + tp_only[1]).astype(float),
    }
    for row in np.ndindex(cut.shape[:-1]):
        tied = cut[row] & lists.exists[row]
        if not tied.any():
            continue
        at, pair = (*row, tied), of_pair(lists, row, n[tied])
        (tp_a, tp_b), (only_a, only_b) = pair.tp, pair.tp_only
        orders["gap"][at] = tp_a - tp_b
        if not means:
            orders["variance"][at] = pair.spread_of_orders() ** 2
            orders["only"][at], orders["positive"][at] = pair.regions
            continue
        orders["only"][at], orders["positive"][at] = pair.only, only_a + only_b
        values = (tp_a, tp_b, n[tied] - pair.only, pair.only, pair.only, only_a, only_b)
        for name, value in zip(counts, values, strict=True):
            counts[name][at] = value
    return {**counts, **orders, "cuts_tie": cut}


def _combined(table: Rows, n_groups: int, *, options: JoinedOptions, means: bool) -> Rows:
    """Return one row per pair and n for all groups."""
    cells = GroupCells.of(table, n_groups)
    compute = _tested_strata if options.combine else _averaged
    rows = {**cells.keys, **compute(cells, table, options)}
    rows |= {name: cells.sums(table[name]) for name in _COUNTS}
    rows["cuts_tie"] = cells.sums(table["cuts_tie"].astype(np.int64)) > 0
    if means:
        for name in TIE_COLUMNS:
            rows.pop(name, None)
    return rows


def _tested_strata(cells: GroupCells, table: Rows, options: JoinedOptions) -> Rows:
    """Test the counts of all groups with each group as a stratum."""
    exists = cells.exists
    n_groups, total = exists.sum(axis=-1), cells.sums(table["n"])
    names = ("tp_only_a", "tp_only_b", "n_only_a", *_ORDERS)
    strata = [np.nan_to_num(cells.of_column(table[name])) for name in names]
    tests = [
        _stratified_test(*(x[key] for x in strata), total=int(size), how=options.alternative)
        for key, size in enumerate(total)
    ]
    columns = {name: np.array([test[name] for test in tests]) for name in _TESTED}
    for side in "ab":
        columns[f"precision_{side}"] = cells.sums(table[f"tp_{side}"]) / total
    columns["freedom"] = np.full(total.shape, np.inf)
    return {**columns, "n_groups": n_groups, "n_left_out": (~exists).sum(axis=-1)}


_TESTED = ("difference", "error", "reach", "p_value", "p_mid", *TIE_ENDS, *P_ENDS)


def _stratified_test(
    tp_a: FloatArray,
    tp_b: FloatArray,
    only: FloatArray,
    gap: FloatArray,
    variance: FloatArray,
    only_expected: FloatArray,
    positive: FloatArray,
    *,
    total: int,
    how: str,
) -> dict[str, float]:
    """Return the stratified test of the counts of all groups, also at both ends over tie orders."""
    x, y, m = (counts.astype(np.int64) for counts in (tp_a, tp_b, only))
    share = float(m.sum()) / float(total)
    difference, error = fisher.mantel_haenszel_difference(x, y, m)
    p_value, p_mid = fisher.stratified_exact_test(x, y, m, how)
    columns = {
        "difference": share * difference,
        "error": share * error,
        "reach": share,
        "p_value": p_value,
        "p_mid": p_mid,
        **dict.fromkeys(TIE_ENDS, share * difference),
        **dict.fromkeys(P_ENDS, p_value),
    }
    if not (variance > 0.0).any():
        return columns
    m = np.rint(only_expected).astype(np.int64)
    gaps = _whole(np.stack(order_ends(gap, variance, gap.sum(), variance.sum())))
    below = np.clip((_whole(positive) - gaps + 1) // 2, 0, m)
    above = np.clip(below + gaps, 0, m)
    for end, p_end, x, y, moved in zip(TIE_ENDS, P_ENDS, above, below, gaps, strict=True):
        columns[end] = moved.sum() / float(total)
        columns[p_end] = fisher.stratified_exact_test(x, y, m, how)[0]
    return columns


def _whole(counts: FloatArray) -> IntArray:
    """Round numbers to integers, keeping cumulative sums close to the original sums."""
    sums = np.rint(np.cumsum(counts, axis=-1))
    return np.asarray(np.diff(sums, axis=-1, prepend=0.0).astype(np.int64))


def _averaged(cells: GroupCells, table: Rows, options: JoinedOptions) -> Rows:
    """Average the differences over groups, with Student's t over the groups."""
    n = cells.of_column(table["n"])
    average = partial(_average_of_lists, n=n, options=options)
    tp = {side: cells.of_column(table[f"tp_{side}"]) for side in "ab"}
    result = average(tp["a"] - tp["b"])
    gap, variance = cells.of_column(table["gap"]), cells.of_column(table["variance"])
    sums = np.nansum(gap, axis=-1, keepdims=True), np.nansum(variance, axis=-1, keepdims=True)
    columns: Rows = {f"precision_{side}": average(counts).value for side, counts in tp.items()}
    columns |= {
        "difference": result.value,
        "error": result.se,
        "freedom": result.n_queries - 1.0,
        "reach": np.ones(result.value.shape),
        "p_value": result.p_value,
        "n_queries": result.n_queries,
        "n_missing": (~cells.exists).sum(axis=-1),
    }
    # orders of equal scores change the difference but not the variance between groups
    for end, p_end, moved in zip(TIE_ENDS, P_ENDS, order_ends(gap, variance, *sums), strict=True):
        columns[end] = average(moved).value
        mean = QueryMean(columns[end], result.se, result.n_queries)
        columns[p_end] = t_test(mean, options.alternative)
    return columns


def _average_of_lists(counts: FloatArray, *, n: FloatArray, options: JoinedOptions) -> GroupAverage:
    """Return the macro or micro average of counts in lists of size n: (..., group)."""
    if options.average == "macro":
        return over_groups(counts / n, alternative=options.alternative)
    return over_groups(counts, n, alternative=options.alternative)
