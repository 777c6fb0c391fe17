"""Compare the n-best lists of two measures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.capabilities import Capabilities, can, with_roles
from rankeval_pd.decisions.averages import Average, GroupAverage, GroupCells, over_groups
from rankeval_pd.decisions.families import OVER_LISTS, compared_with, enough_draws, family_note
from rankeval_pd.decisions.verdicts import (
    OF_CLUSTERS,
    OF_ERROR,
    P_ENDS,
    TIE_COLUMNS,
    TIE_ENDS,
    Interval,
    Rows,
    decide,
    decision_columns,
    of_regions,
)
from rankeval_pd.doors.candidates import Data, annotators_of, below_door, with_shares
from rankeval_pd.doors.columns import Sizes, check_n
from rankeval_pd.doors.rankings import (
    Candidates,
    Pair,
    PairRanks,
    distinct_tests,
    only_pair,
    pair_names,
    pair_rows,
    tabulate,
)
from rankeval_pd.errors import check_choice, check_flag, check_margin, check_share, hushed, is_known
from rankeval_pd.lists.acceptance import OF_SETS, check_threshold, compare_thresholds
from rankeval_pd.lists.groups import check_clustered, check_joined, cluster_contrasts
from rankeval_pd.lists.precision import difference_margins, intervals_read
from rankeval_pd.lists.recall import precision_as
from rankeval_pd.lists.regions import (
    REGION_COLUMNS,
    RegionOptions,
    check_means,
    error_of_few,
    mean_columns,
    nbest_error,
    of_means,
    of_pair,
    region_tests,
    swap_ends,
    tie_columns,
)
from rankeval_pd.progress import nothing_moves, progress_bar
from rankeval_pd.roles import (
    ANNOTATOR,
    Alternative,
    ComparedShare,
    DifferenceInterval,
    FamilyAdjustment,
    ListsAdjustOver,
    ListSizes,
    Names,
    RankingRoles,
    RegionTest,
    Roles,
    Target,
)
from rankeval_pd.stats import bands, swaps, two_by_two
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.bands import vote_difference
from rankeval_pd.stats.clusters import QueryMean, t_test
from rankeval_pd.stats.differences import DIFFERENCE_INTERVALS
from rankeval_pd.stats.families import ADJUSTMENTS
from rankeval_pd.stats.ties import order_ends
from rankeval_pd.stats.two_by_two import sample_odds_ratio
from rankeval_pd.words import join

# -------------------------------------------------------------------------------------------------
# Check whether the conclusion is the same with each annotator's votes.

_MOST_ROWS = 50  # size of the largest table that is recomputed for each annotator
_MOST_VOTES = 2_000_000  # the largest product of annotators and candidates
_INNER = ("pair", "measure", "measure_a", "measure_b", "n", "share")


def with_verdicts(
    table: Data, data: Data, roles: Mapping[str, Any], ask: Callable[[dict[str, Any]], Data]
) -> Data:
    """Add attrs that show which annotators' votes change the conclusion.

    ``ask`` recomputes the table with different roles. ``attrs["annotators"]`` lists the annotators.
    ``attrs["annotators_differ"]`` contains a message for each annotator whose votes change the
    conclusion.
    """
    chosen = Roles.of(roles)
    names = annotators_of(chosen)
    if not names or chosen.agreement == "each" or len(names) * len(data) > _MOST_VOTES:
        return table
    if not 0 < len(table) <= _MOST_ROWS:
        return table
    with hushed():
        each = below_door(ask({**roles, "agreement": "each"}))
    overall = _verdict_texts(below_door(table))
    differ = []
    for name, part in each.groupby(ANNOTATOR, sort=False, observed=True):
        own = _verdict_texts(part.drop(columns=ANNOTATOR))
        other = []
        for where, verdict in overall.items():
            if own.get(where, verdict) == verdict:
                continue
            if len(overall) > 1:
                other.append(f"{where}{own[where]}")
            else:
                other.append(own[where])
        if len(other) > 2:
            other[2:] = [f"and {len(other) - 2} more"]
        if other:
            differ.append(f"{name} ({'; '.join(other)})")
    table.attrs["annotators"] = [str(name) for name in names]
    if differ:
        table.attrs["annotators_differ"] = differ
    return table


def _verdict_texts(table: pd.DataFrame) -> dict[str, str]:
    """Return the better measure for each row, or for each list size."""
    paired = "measure_a" in table
    first = "measure_a" if paired else "measure"
    groups = [x for x in _order(table, first) if x not in _INNER]
    where: list[Any] = [*groups, *(x for x in ("n",) if x in table)]
    if paired:
        where += ["measure_a", "measure_b"]
    if not where:
        return {"": _verdict_text(table)}
    result = {}
    for values, part in table.groupby(where, sort=False, observed=True):
        key: dict[Any, Any] = dict(zip(where, as_tuple(values), strict=True))
        texts = [f"{name} {key[name]}" for name in groups]
        if "n" in key:
            texts.append(f"n = {int(key['n']):,}")
        if paired:
            texts.append(join([key["measure_a"], key["measure_b"]]))
        result[f"{', '.join(texts)}: "] = _verdict_text(part)
    return result


def as_tuple(key: Any) -> tuple[Any, ...]:
    """Return the key of a group, which old pandas does not wrap if it is the only one."""
    if isinstance(key, tuple):
        return key
    return (key,)


def _verdict_text(part: pd.DataFrame) -> str:
    """Name the better measure of a pair, or the best measures of a ranking."""
    if "measure_a" not in part:
        best = part.loc[part["tied_for_best"].astype(bool), "measure"]
        verb = "is" if len(best) == 1 else "are"
        return f"{join(sorted(map(str, best)))} {verb} best"
    better = part["better"].iloc[0]
    if pd.isna(better):
        return "not significant"
    return f"{better} is better"


def _order(table: pd.DataFrame, first: str) -> list[Any]:
    """Return the names of the group columns, which come first."""
    values = ("difference", "value", "precision_a", "rank_low", "lift_a", "recall_a")
    columns = list(table.columns)
    end = min(columns.index(x) for x in (first, *values) if x in columns)
    return columns[:end]


# -------------------------------------------------------------------------------------------------
# Compare lists by the mean votes from several annotators (agreement="mean").

_COLUMNS = (
    "precision_a",
    "precision_b",
    "difference",
    "overlap",
    "n_only_a",
    "n_only_b",
    "tp_only_a",
    "tp_only_b",
    "p_value",
)


def check_votes(options: RegionOptions, **others: tuple[Any, Any]) -> None:
    """Raise a ValueError if an option in ``others`` requires integer counts."""
    for name, (given, usual) in others.items():
        if given is not usual and not is_known(given, [usual]):
            raise ValueError(
                f"agreement='mean' with {name}={given!r}: mean votes are compared with a t test,"
                f" but {name} needs counts of true positives. Omit {name}, or pass"
                " agreement='majority'."
            )
    if options.swapped:
        raise ValueError(
            f"agreement='mean' with adjust={options.adjust!r}: label swaps need true positives."
            " Pass adjust='holm', or agreement='majority'."
        )


def compare_votes(
    data: Data,
    a: Hashable,
    b: Names,
    sizes: Sizes,
    options: RegionOptions,
    roles: Mapping[str, Any],
    able: Capabilities,
) -> Data:
    """Compare the mean votes in n-best lists, and return one row per pair and n."""
    options = options._replace(test="votes", ci="votes", target="nbest")
    noted, ties = options.noted(), Roles.of(roles).ties

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        pairs = pair_names(candidates.measures, a, b)
        tests = distinct_tests(candidates, pairs, options.alternative, options.adjust)
        noted.update(family_note(options, tests, candidates, n, compared_with(a, b)))
        # codes for vote proportions replace the groups; each candidate keeps its code
        assert candidates.votes is not None
        shares, number = np.unique(candidates.votes, return_inverse=True)
        coded = replace(candidates, cluster=number.reshape(candidates.gold.shape))
        kernel = partial(_vote_columns, shares=shares, alternative=options.alternative)
        return pair_rows(coded, pairs, kernel, n, ties=ties, alternative=options.alternative)

    return tabulate(
        data,
        with_shares(only_pair(data, a, b, roles)),
        question,
        _columns_of_votes(options),
        able,
        n=sizes,
        finish=partial(decide, how=options, interval=OF_ERROR),
        attrs=noted,
    )


def _columns_of_votes(options: RegionOptions) -> tuple[str, ...]:
    """Return the ordered column names of the table."""
    decision, ending = decision_columns(options)
    front = ("measure_a", "measure_b", "n", *_COLUMNS[:3], "ci_low", "ci_high")
    return (*front, *_COLUMNS[3:], *decision, "cuts_tie", *ending)


def _vote_columns(
    lists: PairRanks, n: IntArray, *, shares: FloatArray, alternative: str
) -> dict[str, AnyArray]:
    """Return the columns (group, pair, n) of the lists' mean votes."""
    shape = lists.exists.shape
    columns = {name: np.full(shape, np.nan) for name in (*_COLUMNS, "error", "freedom")}
    for name in ("overlap", "n_only_a", "n_only_b"):
        columns[name] = np.zeros(shape, dtype=np.int64)
    for row in np.ndindex(shape[:-1]):
        exists, number = lists.exists[row], lists.clusters_of(row)
        if not exists.any() or number is None:
            continue
        # the padding in a short list forms a separate group without votes
        label = np.append(shares, 0.0)[np.minimum(number, shares.size)]
        sizes = n[exists]
        r = vote_difference(*lists.of(row)[:2], label, sizes)
        gap = (r.total_a - r.total_b) / sizes
        units = (np.maximum(r.freedom, 1.0) + 1.0).astype(np.int64)
        tested = t_test(QueryMean(gap, r.error, units), alternative)
        values = {
            "precision_a": r.total_a / sizes,
            "precision_b": r.total_b / sizes,
            "difference": gap,
            "overlap": r.overlap,
            "n_only_a": sizes - r.overlap,
            "n_only_b": sizes - r.overlap,
            "tp_only_a": r.total_only_a,
            "tp_only_b": r.total_only_b,
            "p_value": np.where(r.freedom > 0.0, tested, 1.0),
            "error": r.error,
            "freedom": r.freedom,
        }
        for name, value in values.items():
            columns[name][(*row, exists)] = value
    reach = np.ones(shape)
    return {**columns, "reach": reach, "cuts_tie": lists.a.cuts_tie(n) | lists.b.cuts_tie(n)}


# -------------------------------------------------------------------------------------------------
# Compare measures over all groups with a stratified test or with averages.

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
        tests = distinct_tests(candidates, pairs, options.alternative, options.adjust)
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
        combine=partial(_combined_pairs, options=options, means=means),
        finish=partial(decide, how=options, interval=OF_ERROR),
        attrs=noted,
    )


def _joined_columns(options: JoinedOptions, *, means: bool) -> tuple[str, ...]:
    """Return the columns of the comparison, in order."""
    decision, ending = decision_columns(options)
    counts: tuple[str, ...] = ("n_queries", "n_missing")
    p_values: tuple[str, ...] = ("p_value",)
    if options.combine:
        counts, p_values = ("n_groups", "n_left_out"), ("p_value", "p_mid")
    if not means:
        counts = (*TIE_COLUMNS, *counts)
    return (*_FRONT, *_COUNTS, *p_values, *decision, "cuts_tie", *counts, *ending)


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


def _combined_pairs(table: Rows, n_groups: int, *, options: JoinedOptions, means: bool) -> Rows:
    """Return one row per pair and n for all groups."""
    cells = GroupCells.of(table, n_groups)
    compute = _averaged
    if options.combine:
        compute = _tested_strata
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
    difference, error = two_by_two.mantel_haenszel_difference(x, y, m)
    p_value, p_mid = two_by_two.stratified_exact_test(x, y, m, how)
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
    gaps = _rounded_counts(np.stack(order_ends(gap, variance, gap.sum(), variance.sum())))
    below = np.clip((_rounded_counts(positive) - gaps + 1) // 2, 0, m)
    above = np.clip(below + gaps, 0, m)
    for end, p_end, x, y, moved in zip(TIE_ENDS, P_ENDS, above, below, gaps, strict=True):
        columns[end] = moved.sum() / float(total)
        columns[p_end] = two_by_two.stratified_exact_test(x, y, m, how)[0]
    return columns


def _rounded_counts(counts: FloatArray) -> IntArray:
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


# -------------------------------------------------------------------------------------------------
# Compare two n-best lists using their difference regions (Evert 2004, section 3.3).

NBEST_COLUMNS = ("measure_a", "measure_b", "n", *REGION_COLUMNS, "cuts_tie")
DRAWN = ("p_stderr", "undecided")  # columns added by adjust="max-t"
FEW = 20  # with at most this many list sizes, pairs near alpha get more swaps
MORE = 64  # largest factor for the number of swaps
COMPARED = ("precision", "recall", "lift")


@Capabilities(
    rankings="Is A better than B?",
    lists=True,
    ends=True,
    clusters=True,
    crossed=True,
    heads=True,
    short="measure_a measure_b n n_a n_b difference ci_low ci_high p_value p_adjusted p_equivalence"
    " p_noninferior better",
    layout={"": "pair n", "threshold": "pair cut"},
)
@with_roles
def compare(
    data: Data,
    a: Hashable = None,
    b: Names = None,
    n: ListSizes = None,
    *,
    of: ComparedShare = "precision",
    threshold: Mapping[Hashable, Any] | None = None,
    test: RegionTest | None = None,
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    alpha: float = 0.05,
    adjust: FamilyAdjustment | None = None,
    adjust_over: ListsAdjustOver = "all",
    n_resamples: int | None = None,
    level: float = 0.95,
    ci: DifferenceInterval = "score",
    target: Target = "region",
    phi: float = 1.0,
    combine: bool = False,
    average: Average | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare measures using the candidates found in only one of two n-best lists.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures, optional
        Measures to compare. ``b`` can be a list. Pass only ``a`` to compare one measure with every
        other measure. By default all pairs are compared.
    n : int, sequence of int, range or None
        Sizes of the n-best lists. None means every n from 1 to the number of candidates.
    of : {"precision", "recall", "lift", "specificity", "npv"}
        Quantity to compare. For n-best lists, "recall" is precision times n / N+, and "lift" is
        precision times N / N+, with the same test. See Notes for ``threshold``.
    threshold : mapping, optional
        Mapping from measure to one or more thresholds. Acceptance sets are then compared.
    test : {None, "fisher", "midp", "mcnemar", "boschloo", "barnard", "score", "kosinski"}
        Test for ``p_value``. None means "fisher" as in Evert (2004), or "score" if ``phi`` is above
        1. Fisher's test is conservative for small regions. The mid-p test can exceed the level
        slightly. Boschloo's and Barnard's tests are exact and more powerful, but take milliseconds
        for each n. McNemar's test has little power if positives are rare. Only the score test
        supports ``phi``. Do not pass ``test`` with ``ties="expected"``.
    alternative : {"two-sided", "greater", "less"}
        "greater" tests whether a is better than b.
    margin : float, optional
        Largest difference that is negligible in practice. ``margin`` adds ``p_equivalence``, the
        p-value for a difference within ±margin. With "greater" or "less", ``margin`` adds
        ``p_noninferior``, the p-value for a difference above -margin or below margin.
    alpha : float
        A row is significant if p ≤ alpha.
    adjust : {None, "holm", "bonferroni", "bh", "by", "max-t", "max-t-stepdown"}
        Adjustment of p-values and intervals for the number of rows (groups, pairs and n). "max-t"
        uses the largest difference over all n under random swaps, which exchange the two ranks of a
        candidate. Across pairs and groups, "max-t" multiplies p-values by the number of pairs.
        "max-t-stepdown" uses Holm's step-down method across pairs, which gives smaller p-values and
        the same intervals. Measures with identical rankings are counted once.
    adjust_over : {"all", "n", "group"}
        Rows that form a family: all rows, the rows for each n, or the rows for each group in ``by``
        (Dataset: each element of the batch dimensions).
    n_resamples : int, optional
        Number of random swaps for "max-t". None uses at least 999 swaps, and enough swaps for
        adjusted p-values as small as alpha / 10 (with more than 50 pairs: alpha / 2, or 500 / alpha
        swaps). With up to 20 list sizes, pairs near alpha get up to 64 times as many swaps.
    level : float
        Confidence level of the interval for the difference. With ``adjust``, the intervals in a
        family are simultaneous (see Notes for "bh" and "by").
    ci : {"score", "newcombe", "agresti-caffo", "miettinen-nurminen", "delta"}
        Interval for the difference between the two regions, multiplied by n_only / n. "score"
        (Miettinen and Nurminen's interval with half a continuity correction) has at least the
        nominal coverage. The coverage of "newcombe", "agresti-caffo" and "miettinen-nurminen" can
        be as low as 0.8 near 0 and 1. With ``threshold``, "score" combines the Clopper-Pearson
        limits for both sets, and "delta" is too narrow for small sets or regions. If the test in a
        row is not significant, the interval includes 0.
    target : {"region", "nbest"}
        The quantity that the interval covers. "region" treats thresholds as fixed, as in Evert
        (2004). For regions with fewer than 10 candidates, the wider limits from the "region" and
        "nbest" intervals are used. "nbest" includes the variance of the thresholds and replaces
        ``ci`` with the normal approximation from :func:`difference_band`. The "nbest" interval can
        contain 0 even if the test is significant.
    phi : float
        Known overdispersion, at least 1, for example from :func:`repetition`. Values above 1 widen
        the interval, select the score test, and set ``p_mid`` to NaN.
    combine : bool
        Whether to combine the groups in ``by`` (Dataset: all batch dimensions) in one exact
        Cochran-Mantel-Haenszel test for each n, with each group as a stratum.
    average : {None, "macro", "micro"}
        Whether to return one row for all groups. "macro" averages over groups, and "micro" divides
        summed true positives by summed n. Both averages use Student's t over the groups.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per pair and n (Dataset: dimensions pair and n, coordinates measure_a and
        measure_b):

        * ``measure_a``, ``measure_b``, ``n``;
        * ``precision_a``, ``precision_b`` (or ``recall_a``, ``recall_b``; ``lift_a``, ``lift_b``),
          their ``difference`` and confidence limits ``ci_low``, ``ci_high``: simultaneous with
          ``adjust``, and one-sided with "greater" or "less" (the other limit is the end of the
          range);
        * ``overlap``: candidates in both lists; ``n_only_a``, ``n_only_b``: candidates in only one
          list (the difference regions); ``tp_only_a``, ``tp_only_b``: true positives in the
          regions;
        * ``odds_ratio``: (tp_only_a fp_only_b) / (fp_only_a tp_only_b), NaN for 0/0;
        * ``p_value``: the p-value from ``test``, or with "max-t" a Monte Carlo estimate, the
          proportion of swaps with a difference at least this large; ``p_mid``: Fisher's mid-p, or
          NaN with "max-t"; ``p_adjusted``: only with ``adjust``, at least as large as p_value;
        * ``p_equivalence`` or ``p_noninferior``: only with ``margin``, unadjusted, from an exact
          unconditional test of the two regions (Student's t with ``groups``);
        * ``significant``: whether p_adjusted (or p_value without ``adjust``) is at most alpha;
        * ``better``: the better measure if the difference is significant, and NaN otherwise;
        * ``cuts_tie``: whether a list excludes candidates with the list's last score; ``tie_low``,
          ``tie_high``: 2.5% and 97.5% quantiles of the difference over random orders of equal
          scores; ``p_tie_low``, ``p_tie_high``: p-values at these quantiles; ``tie_decides``:
          whether the order of equal scores can change the decision. ``ties="expected"`` without
          ``combine`` averages over all orders and omits the tie columns;
        * ``p_stderr``: Monte Carlo standard error of p_adjusted, only with "max-t"; ``undecided``:
          whether the 95% Monte Carlo interval contains alpha, so you need more swaps;
        * ``leaning``: the measure with the higher value, significant or not, or NaN if equal;
        * ``ci_low_alone``, ``ci_high_alone``: the unadjusted interval, only with ``adjust``.

        ``attrs["family"]`` describes the family of tests. With ``combine``, counts are sums over
        groups, and ``n_groups`` and ``n_left_out`` count the groups with and without lists of size
        n. With ``average``, ``n_queries`` and ``n_missing`` are the two counts.
        ``missing="absent"`` pads short lists with irrelevant candidates.

        With ``threshold``, ``n_a`` and ``n_b`` replace ``n``, and ``recall_a`` and ``recall_b``
        replace ``cuts_tie`` (Dataset: dimensions pair and cut). With ``threshold``, ``better`` and
        ``leaning`` depend on the difference regions.

    Warns
    -----
    RankevalWarning
        If target="region" and the variance for n-best lists is more than 1.6 times the variance for
        fixed thresholds; if acceptance sets with significantly different precision differ in size
        by more than 10%, in which case "better" and "leaning" are NaN (Evert's footnote 13); if
        p-values are adjusted and measures that you did not name have identical rankings; if
        ``tie_decides`` is True.

    Notes
    -----
    With ``threshold``, "precision" compares difference regions, or positive predictive values if
    ``test="kosinski"``. "npv" uses Kosinski's weighted generalized score test on rejected
    candidates. "recall" and "specificity" use McNemar's exact test on accepted true positives or
    rejected negatives. ``test="midp"`` is more powerful, with error rates of up to 0.054 in
    simulations (``tests/reference/thresholds.csv``).

    As in R, the two-sided p-value sums the probabilities of all tables that are no more likely than
    the observed table (relative tolerance 1e-7). The two difference regions of n-best lists have
    equal size, so the p-value is twice the smaller tail probability, at most 1. p_value and p_mid
    are 1 if the regions are empty or contain only one class.

    For lists that end inside a tie, the wider limits from the "region" and "nbest" intervals are
    used. ``ties="expected"`` uses the score test, or swaps with "max-t". See the page on ties.

    "holm" and "bonferroni" use Bonferroni intervals. "bh" and "by" use the intervals of Benjamini
    and Yekutieli (2005) at level 1 - R (1 - level) / m if R of m tests are significant. "max-t"
    uses the bands of :func:`difference_band` at level 1 - (1 - level) / F for F pairs in all
    groups. Every interval includes 0 if p_adjusted is above 1 - ``level``. "holm" and
    "max-t-stepdown" can reject even if the interval contains 0.

    With ``agreement="mean"``, true positives are sums of vote proportions. The test is Student's t
    over candidates with the variance for ``target="nbest"``. The result contains no odds ratios or
    mid-p values. The null hypothesis for "max-t" is that the two ranks of every candidate are
    exchangeable given the gold label. Draws depend on ``rng`` and tie keys. "max-t" takes O(n) per
    swap and pair.

    References
    ----------
    Evert (2004), section 3.3, figure 3, footnote 13. Miettinen and Nurminen (1985), Comparative
    analysis of two rates. Newcombe (1998), Interval estimation for the difference between
    independent proportions. Zou and Donner (2008), Construction of confidence limits about effect
    measures. Benjamini and Yekutieli (2005), False discovery rate-adjusted confidence intervals.
    Kosinski (2013), A weighted generalized score statistic for comparison of predictive values.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [6, 5, 4, 3, 2, 1], "t": [1, 2, 3, 4, 5, 6]})
    >>> df["gold"] = [True, True, True, False, False, False]
    >>> df.rankeval.compare("G2", "t", n=3)
      measure_a measure_b  n  difference    ci_low  ci_high  p_value better
    0        G2         t  3         1.0 -0.035632      1.0      0.1    NaN
    """
    sizes = check_n(n)
    check_choice("of", of, OF_SETS if threshold is not None else COMPARED)
    if test == "kosinski" and threshold is None:
        raise ValueError("test='kosinski' compares acceptance sets. Pass threshold={...}.")
    check_flag("combine", combine)
    if combine or average is not None:
        only = {
            "of": (of, "precision"),
            "threshold": (threshold, None),
            "test": (test, None),
            "ci": (ci, "score"),
            "target": (target, "region"),
            "phi": (phi, 1.0),
            "n_resamples": (n_resamples, None),
            "margin": (margin, None),
        }
        check_joined(combine, average, sizes, only)
        joined = JoinedOptions.of(
            average=average,
            alternative=alternative,
            alpha=alpha,
            adjust=adjust,
            adjust_over=adjust_over,
            level=level,
        )
        whole: IntArray | None = None  # shares were refused
        if sizes is not None:
            whole = np.asarray(sizes, dtype=np.int64)
        return compare_joined(data, a, b, whole, roles, joined)
    clustered = Roles.of(roles).groups is not None
    several = {"target='nbest'": target == "nbest", "n=None": n is None and not clustered}
    if clustered:
        check_clustered(test, ci, phi, threshold)
        test = None
    options = RegionOptions.of(
        test=test,
        alternative=alternative,
        ci=ci,
        level=level,
        target=target,
        phi=phi,
        adjust=adjust,
        adjust_over=adjust_over,
        alpha=alpha,
        n_resamples=n_resamples,
        seed=0,
        margin=check_margin(margin, threshold=threshold is not None, phi=phi != 1.0, **several),
    )
    ask = partial(_compare_lists, data, a, b, sizes, of, options)
    if Roles.of(roles).agreement == "mean":
        check_votes(
            options,
            of=(of, "precision"),
            threshold=(threshold, None),
            test=(test, None),
            ci=(ci, "score"),
            phi=(phi, 1.0),
            groups=(Roles.of(roles).groups, None),
        )
        table = compare_votes(data, a, b, sizes, options, roles, can(compare, heads=False))
        return with_verdicts(table, data, roles, ask)
    if threshold is not None:
        options = check_threshold(n, threshold, of, options)
        able = can(compare, lists=False)
        return compare_thresholds(data, a, b, threshold, of, options, roles, able)
    if test in ("boschloo", "barnard") and n is None:
        raise ValueError(
            f"test={test!r} and n=None: this test takes milliseconds for each n. Pass the list"
            " sizes that you need, or test='midp', which is nearly as powerful."
        )
    check_choice("ci", ci, DIFFERENCE_INTERVALS)
    if clustered:
        options = options._replace(test="cluster", ci="cluster")
    if Roles.of(roles).ties == "expected":
        check_means(data, test, phi, clustered=clustered)
        options = options._replace(test="expected")
    ask = partial(_compare_lists, data, a, b, sizes, of, options)
    return with_verdicts(ask(roles), data, roles, ask)


def _compare_lists(
    data: Data, a: Hashable, b: Names, sizes: Sizes, of: str, options: RegionOptions, roles: Any
) -> Data:
    """Compare n-best lists with one test for each n, or with swaps for all n."""
    chosen = Roles.of(roles)
    noted = options.noted()
    if of != "precision":
        noted["of"] = of
    if options.swapped:
        options = options._replace(seed=chosen.swaps)
        noted |= chosen.noted_seed

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        pairs = pair_names(candidates.measures, a, b)
        tests = distinct_tests(candidates, pairs, options.alternative, options.adjust)
        noted.update(family_note(options, tests, candidates, n, compared_with(a, b)))
        table = _rows_of_pairs(candidates, pairs, n, tests, options, chosen.ties)
        if options.swapped and not np.isnan(table["drawn"]).all():
            noted["n_resamples"] = int(np.nanmax(table["drawn"]))
        if of != "precision":
            table = precision_as(table, candidates, pairs, of)
        return table

    means = options.means
    return tabulate(
        data,
        only_pair(data, a, b, roles),
        question,
        tuple(name.replace("precision", of) for name in _comparison_columns(options)),
        can(compare, any_ties=means, heads=not means, crossed=not options.swapped),
        n=sizes,
        finish=partial(decide, how=options, interval=_interval_of(options)),
        attrs=noted,
    )


def _interval_of(options: RegionOptions) -> Interval:
    """Return the interval for the difference of two lists."""
    if options.test == "cluster":
        return OF_CLUSTERS
    if options.target == "nbest":
        return OF_ERROR
    if options.means:
        return of_means(options.ci)
    return of_regions(options.ci, options.phi)


def _rows_of_pairs(
    candidates: Candidates,
    pairs: Sequence[Pair],
    n: IntArray | None,
    tests: int,
    options: RegionOptions,
    ties: str,
) -> Rows:
    """Return one row per pair and n, with the counts and tests of the two lists."""
    work: dict[str, Any] = {"what": "comparing lists", "unit": "pairs", "draws": len(pairs)}
    swapping: dict[str, Any] = {}
    if options.swapped:
        if options.adjust_over != "group":
            tests *= max(1, candidates.n_groups)
        draws = most = enough_draws(tests, options)
        if options.n_resamples is None and candidates.sizes(n).size <= FEW:
            most *= MORE
        swapping = {"tests": tests, "draws": draws, "most": most, "intervals": intervals_read()}
        work = {"what": "swapping labels", "unit": "draws", "draws": len(pairs) * draws}
    total = work.pop("draws") * len(candidates.group)
    columns_of = _list_columns
    if options.means:
        columns_of = mean_columns
    with progress_bar(total=total, **work) as advance:
        if options.swapped:  # the bar counts draws, not pairs
            swapping["advance"], advance = advance, nothing_moves
        table = pair_rows(
            candidates,
            pairs,
            partial(columns_of, options=options, **swapping),
            n,
            ties=ties,
            alternative=options.alternative,
            advance=advance,
        )
    table["reach"] = np.ones(table["difference"].shape)
    return table


def _comparison_columns(options: RegionOptions) -> tuple[str, ...]:
    """Return the ordered column names for a comparison of lists."""
    decision, ending = decision_columns(options)
    columns: tuple[str, ...] = (*NBEST_COLUMNS[:-1], *decision, NBEST_COLUMNS[-1])
    if not options.means:
        columns += TIE_COLUMNS
    if options.swapped:
        columns += DRAWN
    if options.test == "cluster":
        columns += ("n_groups",)
    return (*columns, *ending)


def _list_columns(
    lists: PairRanks, n: IntArray, *, options: RegionOptions, **swapping: Any
) -> dict[str, AnyArray]:
    """Return the columns (group, pair, n) for the two lists of each pair."""
    r = lists.regions(n)
    only, cut = n - r.overlap, lists.a.cuts_tie(n) | lists.b.cuts_tie(n)
    tp_only_a, tp_only_b = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    tables = tp_only_a, only, tp_only_b, only
    columns: dict[str, AnyArray] = {
        "precision_a": r.tp_a / n,
        "precision_b": r.tp_b / n,
        "difference": (tp_only_a - tp_only_b) / n,
        "overlap": r.overlap,
        "n_only_a": only,
        "n_only_b": only,
        "tp_only_a": tp_only_a,
        "tp_only_b": tp_only_b,
        "odds_ratio": sample_odds_ratio(*tables),
        "p_mid": np.full(only.shape, np.nan),
        "cuts_tie": cut,
    }
    spread: tuple[AnyArray, AnyArray] | None = None
    if options.test == "cluster":
        names = ("error", "freedom", "p_value", "n_groups", "moved")
        contrasts = cluster_contrasts(lists, n, alternative=options.alternative)
        columns |= dict(zip(names, contrasts, strict=True))
        spread = columns["error"], columns["freedom"]
    elif options.target == "nbest":
        errors = nbest_error(lists, n, only, (tp_only_a, tp_only_b), options.phi)
        columns["error"], columns["freedom"] = errors
    else:
        columns["error_of_few"] = error_of_few(
            lists, n, only, (tp_only_a, tp_only_b), options.phi, cut
        )
    if options.swapped:
        columns |= _swap_columns(lists, n, cut, options=options, **swapping)
    elif options.test != "cluster":
        tests = region_tests(*tables, options, lists.exists)
        columns["odds_ratio"], columns["p_value"], columns["p_mid"] = tests
    difference, p_value = columns["difference"], columns["p_value"]
    ends = tie_columns(lists, n, cut & lists.exists, p_value, difference, options, spread)
    return {**ends, **columns}  # swaps have their own p-values at both ends


def _swap_columns(
    lists: PairRanks,
    n: IntArray,
    cut: BoolArray,
    *,
    options: RegionOptions,
    tests: int,
    draws: int,
    most: int,
    intervals: bool,
    advance: Callable[[int], object],
) -> dict[str, AnyArray]:
    """Return swap p-values for each n and for all n, swap counts, and band margins.

    ``p_tie_low`` and ``p_tie_high`` are the p-values for the two extreme tie orders.
    """
    shape = lists.exists.shape
    p_alone, p_swaps, drawn, margin = (np.full(shape, np.nan) for _ in range(4))
    p_ends = np.full((2, *shape), np.nan)
    each, share = options.adjust_over == "n", (1.0 - options.level) / tests
    if options.alternative != "two-sided":
        share = min(2.0 * share, 0.999)
    for row in np.ndindex(shape[:-1]):
        exists = lists.exists[row]
        if not exists.any():
            continue
        at, ranks, keys = (*row, exists), lists.of(row), lists.draws_of(row)
        ends = swap_ends(lists, row, n, cut)
        swapped = swaps.decided_swap_tests(
            *ranks,
            n[exists],
            options.alternative,
            keys,
            tests=[tests],
            alpha=options.alpha,
            each=each,
            ends=ends,
            most=most,
            n_resamples=draws,
            seed=options.seed,
            advance=advance,
        )
        p_alone[at], drawn[at] = swapped.alone, swapped.drawn
        p_swaps[at] = swapped.alone if each else swapped.together
        p_ends[(slice(None), *at)] = p_swaps[at]
        if ends is not None:
            p_ends[(slice(None), *at)] = swapped.ends[0 if each else 1]
        if intervals:
            margin[at] = difference_margins(
                *ranks,
                n[exists],
                [1.0 - share],
                keys,
                lists.whole,
                lists.clusters_of(row),
                each=each,
                n_resamples=max(draws, bands.draws_needed(1.0 - share)),
                seed=options.seed,
            )[0]
    return {
        "p_value": p_alone,
        "p_swaps": p_swaps,
        "drawn": drawn,
        "margin": margin,
        "p_tie_low": p_ends[0],
        "p_tie_high": p_ends[1],
    }
