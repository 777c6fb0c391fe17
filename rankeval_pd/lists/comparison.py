"""Compare the n-best lists of two measures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd

from rankeval_pd import decisions, doors, errors, stats
from rankeval_pd.decisions import (
    OF_CLUSTERS,
    OF_ERROR,
    OF_REGIONS,
    P_ENDS,
    TIE_COLUMNS,
    TIE_ENDS,
    GroupCells,
    Rows,
)
from rankeval_pd.doors import Answer, Candidates, Data, PairRanks, Sizes
from rankeval_pd.lists import regions
from rankeval_pd.lists.groups import (
    OTHER_TEST,
    ListPair,
    cluster_contrasts,
    in_rows,
    of_all_groups,
    p_of_gap,
)
from rankeval_pd.lists.precision import INTERVALS_READ, difference_margins
from rankeval_pd.lists.recall import precision_as
from rankeval_pd.lists.regions import OF_MEANS, REGION_COLUMNS, Comparison
from rankeval_pd.options import Capabilities, can, with_roles
from rankeval_pd.roles import (
    ANNOTATOR,
    Alternative,
    ComparedShare,
    FamilyAdjustment,
    ListsAdjustOver,
    ListSizes,
    Names,
    RankingRoles,
    RegionTest,
    Roles,
    TargetOfPair,
)
from rankeval_pd.stats import BoolArray, FloatArray, IntArray, QueryMean
from rankeval_pd.tables import Columns, Keywords, Options

# ---- Check whether the conclusion is the same with each annotator's votes

_MOST_ROWS = 50  # size of the largest table that is recomputed for each annotator
_MOST_VOTES = 2_000_000  # the largest product of annotators and candidates
_VALUES = ("value", "difference", "precision_a", "lift_a", "recall_a")  # the first value column


def with_verdicts(table: Data, data: Data, roles: Keywords, ask: Callable[[Options], Data]) -> Data:
    """Add attrs that show which annotators' votes change the conclusion.

    ``ask`` recomputes the table with different roles. ``attrs["annotators"]`` lists the annotators,
    and ``attrs["annotators_differ"]`` those whose votes change the conclusion.
    """
    chosen = Roles.of(roles)
    names = doors.annotators_of(chosen)
    if not names or chosen.agreement == "each" or len(names) * len(data) > _MOST_VOTES:
        return table
    if not 0 < len(table) <= _MOST_ROWS:
        return table
    with errors.hushed():
        each = doors.below_door(ask({**roles, "agreement": "each"}))
    overall = _verdicts(doors.below_door(table))
    differ = []
    for name, part in each.groupby(ANNOTATOR, sort=False, observed=True):
        own = _verdicts(part.drop(columns=ANNOTATOR))
        if any(own.get(row, verdict) != verdict for row, verdict in overall.items()):
            differ.append(str(name))
    table.attrs["annotators"] = [str(name) for name in names]
    if differ:
        table.attrs["annotators_differ"] = differ
    return table


def _verdicts(table: pd.DataFrame) -> dict[tuple[Any, ...], str]:
    """Return the better measure of each pair, or whether each measure is tied for best."""
    columns = list(table.columns)
    first = min(columns.index(name) for name in _VALUES if name in columns)
    verdict = "tied_for_best"
    if "better" in columns:
        verdict = "better"
    rows = table.iloc[:, :first].itertuples(index=False, name=None)
    return dict(zip(rows, table[verdict].astype(str), strict=True))


# ---- Compare measures over all groups with a stratified test or with averages

_COUNTS = ("overlap", "n_only_a", "n_only_b", "tp_only_a", "tp_only_b")


def _compare_joined(
    data: Data, sizes: Sizes, how: Comparison, average: str | None, roles: Keywords
) -> Data:
    """Compare pairs of measures with a combined test or with averages over groups."""
    means = how.ties == "expected"
    combine = average is None
    if means:
        regions.check_means(data)
    p_values: tuple[str, ...] = ("p_value",)
    counts: tuple[str, ...] = ("n_queries", "n_missing")
    if combine:
        p_values = ("p_value", "p_mid")
        counts = ("n_groups", "n_left_out")
    if not means:
        counts = (*TIE_COLUMNS, *counts)
    noted = ("alternative", "adjust", "adjust_over", "alpha", "level")
    attrs = {"combine": combine, "average": average, **{x: getattr(how, x) for x in noted}}
    attrs |= {"of": how.of, "test": "groups", "interval": "student"}
    if combine:
        attrs |= {"test": "stratified", "interval": "normal"}
    return doors.tabulate(
        data,
        doors.only_pair(data, how.a, how.b, roles),
        partial(_rows_of_groups, how=how),
        _columns_of_pairs(how, p_values, *counts),
        Capabilities(ends=True, any_ties=means),
        n=sizes,
        combine=partial(_combined_pairs, how=how, average=average),
        finish=partial(decisions.decide, how=how, interval=OF_ERROR),
        attrs=attrs,
    )


def _rows_of_groups(candidates: Candidates, n: IntArray | None, *, how: Comparison) -> Answer:
    """Return one row per group, pair and n, and the facts about the family."""
    pairs = doors.pair_names(candidates.measures, how.a, how.b)
    _, facts = how.family(replace(candidates, n_groups=1), pairs, n)
    kernel = partial(_counts_of_lists, means=how.ties == "expected")
    rows = doors.pair_rows(candidates, pairs, kernel, n, ties=how.ties, alternative=how.alternative)
    return rows, facts


# the difference of true positives over random orders of equal scores in a group: mean and variance,
# candidates in only one list, and true positives among these candidates
_ORDERS = ("gap", "variance", "only", "positive")


def _counts_of_lists(lists: PairRanks, n: IntArray, *, means: bool) -> Columns:
    """Return the counts for each pair, and their distribution over orders of equal scores."""
    r = lists.regions(n)
    cut = lists.cuts_tie(n)
    tp_only_a, only, tp_only_b, _ = r.table(n)
    counts = {
        "tp_a": r.tp_a,
        "tp_b": r.tp_b,
        "overlap": r.overlap,
        "n_only_a": only,
        "n_only_b": only,
        "tp_only_a": tp_only_a,
        "tp_only_b": tp_only_b,
    }
    if means:
        counts = {name: values.astype(float) for name, values in counts.items()}
    orders = {
        "gap": (r.tp_a - r.tp_b).astype(float),
        "variance": np.zeros(only.shape),
        "only": only.astype(float),
        "positive": (tp_only_a + tp_only_b).astype(float),
    }
    for row in np.ndindex(cut.shape[:-1]):
        tied = cut[row] & lists.exists[row]
        if not tied.any():
            continue
        at = (*row, tied)
        pair = regions.of_pair(lists, row, n[tied])
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


def _combined_pairs(table: Rows, n_groups: int, *, how: Comparison, average: str | None) -> Rows:
    """Return one row per pair and n for all groups."""
    cells = GroupCells.of(table, n_groups)
    if average is None:
        rows = {**cells.keys, **_tested_strata(cells, table, how.alternative)}
    else:
        rows = {**cells.keys, **_averaged(cells, table, average, how.alternative)}
    rows |= {name: cells.sums(table[name]) for name in _COUNTS}
    rows["cuts_tie"] = cells.sums(table["cuts_tie"].astype(np.int64)) > 0
    if how.ties == "expected":
        for name in TIE_COLUMNS:
            rows.pop(name, None)
    return rows


def _tested_strata(cells: GroupCells, table: Rows, alternative: str) -> Rows:
    """Test the counts of all groups with each group as a stratum."""
    n_groups = cells.exists.sum(axis=-1)
    total = cells.sums(table["n"])
    names = ("tp_only_a", "tp_only_b", "n_only_a", *_ORDERS)
    strata = [np.nan_to_num(cells.of_column(table[name])) for name in names]
    tests = [
        _stratified_test([x[key] for x in strata], float(size), alternative)
        for key, size in enumerate(total)
    ]
    columns = {name: np.array([test[name] for test in tests]) for name in _TESTED}
    for side in "ab":
        columns[f"precision_{side}"] = cells.sums(table[f"tp_{side}"]) / total
    columns["freedom"] = np.full(total.shape, np.inf)
    return {**columns, "n_groups": n_groups, "n_left_out": (~cells.exists).sum(axis=-1)}


_TESTED = ("difference", "error", "reach", "p_value", "p_mid", *TIE_ENDS, *P_ENDS)


def _stratified_test(
    strata: Sequence[FloatArray], total: float, alternative: str
) -> dict[str, float]:
    """Return the stratified test of the counts of all groups, also at both ends over tie orders."""
    tp_a, tp_b, only, gap, variance, only_expected, positive = strata
    x, y, m = (counts.astype(np.int64) for counts in (tp_a, tp_b, only))
    share = float(m.sum()) / total
    difference, error = stats.mantel_haenszel_difference(x, y, m)
    p_value, p_mid = stats.stratified_exact_test(x, y, m, alternative)
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
    gaps = _rounded_counts(np.stack(stats.order_ends(gap, variance, gap.sum(), variance.sum())))
    below = np.clip((_rounded_counts(positive) - gaps + 1) // 2, 0, m)
    above = np.clip(below + gaps, 0, m)
    for end, p_end, x, y, moved in zip(TIE_ENDS, P_ENDS, above, below, gaps, strict=True):
        columns[end] = moved.sum() / total
        columns[p_end] = stats.stratified_exact_test(x, y, m, alternative)[0]
    return columns


def _rounded_counts(counts: FloatArray) -> IntArray:
    """Round numbers to integers, keeping cumulative sums close to the original sums."""
    sums = np.rint(np.cumsum(counts, axis=-1))
    return np.diff(sums, prepend=0.0).astype(np.int64)


def _averaged(cells: GroupCells, table: Rows, average: str, alternative: str) -> Rows:
    """Average the differences over groups, with Student's t over the groups."""
    columns = {x: cells.of_column(table[x]) for x in ("n", "tp_a", "tp_b", "gap", "variance")}
    gap, variance = columns["gap"], columns["variance"]
    mean = partial(_mean_of_lists, columns["n"], average, alternative)
    result = mean(columns["tp_a"] - columns["tp_b"])
    rows = {
        "precision_a": mean(columns["tp_a"]).value,
        "precision_b": mean(columns["tp_b"]).value,
        "difference": result.value,
        "error": result.se,
        "freedom": result.n_queries - 1.0,
        "reach": np.ones(result.value.shape),
        "p_value": result.p_value,
        "n_queries": result.n_queries,
        "n_missing": (~cells.exists).sum(axis=-1),
    }
    # orders of equal scores change the difference but not the variance between groups
    sums = np.nansum(gap, axis=-1, keepdims=True), np.nansum(variance, axis=-1, keepdims=True)
    for end, p_end, moved in zip(
        TIE_ENDS, P_ENDS, stats.order_ends(gap, variance, *sums), strict=True
    ):
        rows[end] = mean(moved).value
        rows[p_end] = stats.t_test(QueryMean(rows[end], result.se, result.n_queries), alternative)
    return rows


def _mean_of_lists(
    n: FloatArray, average: str, alternative: str, counts: FloatArray
) -> decisions.GroupAverage:
    """Return the macro or micro average of counts in lists of size n: (..., group)."""
    if average == "macro":
        return decisions.over_groups(counts / n, alternative=alternative)
    return decisions.over_groups(counts, n, alternative=alternative)


# ---- Compare two n-best lists using their difference regions (Evert 2004, section 3.3)

FEW = 20  # with at most this many list sizes, pairs near alpha get more swaps
MORE = 64  # largest factor for the number of swaps
_ONE_TEST = "test target of margin n_resamples n"
_INTERVALS = {"both": "score, normal", "region": "score", "nbest": "normal"}
#: options of compare that cannot stand together, and what to do instead
_REFUSED = (
    ("average", "combine", "An average is over groups, and a combined test is of their sum."),
    *of_all_groups("combine", _ONE_TEST),
    *of_all_groups("average", _ONE_TEST),
    OTHER_TEST,
    ("margin", "target", "Omit target='nbest', for which no test with a margin is known."),
    ("ties", "combine", "Means over tie orders are no counts: pass ties='shared'."),
    ("ties", "test", "Means over tie orders are no counts: pass ties='shared', or omit test=."),
    ("ties", "groups", "Means over tie orders need independent candidates: pass ties='shared'."),
)


@Capabilities(
    rankings="Is A better than B?",
    ends=True,
    clusters=True,
    crossed=True,
    heads=True,
    short="measure_a measure_b n difference ci_low ci_high p_value p_adjusted p_equivalence"
    " p_noninferior better",
    details="precision_a precision_b recall_a recall_b lift_a lift_b overlap n_only_a"
    " n_only_b tp_only_a tp_only_b odds_ratio p_mid p_stderr significant"
    " leaning cuts_tie tie_low tie_high p_tie_low p_tie_high ci_low_alone"
    " ci_high_alone",
    layout="pair n",
    quantity="precision",
)
@with_roles
def compare(
    data: Data,
    a: Hashable = None,
    b: Names = None,
    n: ListSizes = None,
    *,
    of: ComparedShare = "precision",
    test: RegionTest | None = None,
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    alpha: float = 0.05,
    adjust: FamilyAdjustment | None = None,
    adjust_over: ListsAdjustOver = "all",
    n_resamples: int | None = None,
    level: float = 0.95,
    target: TargetOfPair = "both",
    combine: bool = False,
    average: decisions.Average | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare measures using the candidates found in only one of two n-best lists.

    :func:`compare_thresholds` compares acceptance sets.

    Parameters
    ----------
    data
    a
    b : name or list of names, optional
        Second measure, or several.
    n
    of
        Quantity to compare. "recall" is precision times n / N+, and "lift" is precision times N /
        N+, with the same test.
    test
        None means "fisher" as in Evert (2004), which is conservative for small regions. "midp" can
        exceed the level slightly. "mcnemar" has little power if positives are rare.
    alternative
    margin : float, optional
        Largest negligible difference. Adds ``p_equivalence``, the p-value for a difference within
        ±margin, or for one-sided alternatives ``p_noninferior``.
    alpha
    adjust
        Adjustment of p-values and intervals for all rows of a family. "max-t" uses the largest
        difference over all n under random swaps of the two ranks of a candidate, and Bonferroni's
        method across pairs ("max-t-stepdown": Holm's).
    adjust_over
        Rows that form a family: all rows, the rows for each n, or the rows for each group.
    n_resamples
    level
    target
        What the interval covers. "region" treats thresholds as fixed, as in Evert (2004), and
        "nbest" includes their variance. "both" uses the wider limit on each side, but keeps the
        region's limit if only this limit agrees with p ≤ 1 - ``level``.
    combine : bool
        Whether to combine the groups in one exact Cochran-Mantel-Haenszel test for each n, with
        each group as a stratum.
    average
        Whether to return one row for all groups. "macro" averages over groups, and "micro" divides
        summed true positives by summed n. Both use Student's t over the groups.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per pair and n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``,
        ``n``, ``difference``, its limits ``ci_low`` and ``ci_high``, ``p_value``, ``p_adjusted``
        (with ``adjust``), ``p_equivalence`` or ``p_noninferior`` (with ``margin``, unadjusted), and
        ``better``, the better measure if the difference is significant.

        ``details=True`` adds:

        * ``precision_a``, ``precision_b`` (or recall, lift); ``overlap``: candidates in both lists;
          ``n_only_a``, ``n_only_b``: candidates in only one list (the difference regions);
          ``tp_only_a``, ``tp_only_b``: true positives in the regions; ``odds_ratio`` of the
          regions; ``p_mid``: Fisher's mid-p; ``significant``; ``leaning``: the measure with the
          higher value;
        * ``cuts_tie``: whether a list excludes candidates with its last score; ``tie_low``,
          ``tie_high``: 2.5% and 97.5% quantiles of the difference over random orders of equal
          scores; ``p_tie_low``, ``p_tie_high``: p-values at these quantiles; ``tie_decides``:
          whether this order can change the decision;
        * ``p_stderr``: Monte Carlo error of p_adjusted; ``ci_low_alone``, ``ci_high_alone``: the
          unadjusted interval; ``n_groups``, ``n_left_out`` or ``n_queries``, ``n_missing``: groups
          with and without lists of size n, with ``combine`` or ``average``.

    Warns
    -----
    RankevalWarning
        If ``tie_decides`` is True.

    Notes
    -----
    The two-sided p-value is twice the smaller tail probability. The interval is Miettinen and
    Nurminen's with half a continuity correction, times n_only / n. For "nbest", it is the
    difference ± z standard errors. The limits of recall and lift also allow for the variance of
    N+ (Fieller). Intervals include 0 if the test is not significant. Adjusted intervals are
    Bonferroni's, those of Benjamini and Yekutieli (2005) with "bh" and "by", or the bands of
    :func:`difference_band` with "max-t".

    References
    ----------
    * Evert (2004), COLING, https://aclanthology.org/C04-1136, section 3.3, figure 3.
    * Miettinen and Nurminen (1985), Statistics in Medicine 4,
      https://doi.org/10.1002/sim.4780040211.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [6, 5, 4, 3, 2, 1], "t": [1, 2, 3, 4, 5, 6]})
    >>> df["gold"] = [True, True, True, False, False, False]
    >>> df.rankeval.compare("G2", "t", n=3)
      measure_a measure_b  n  difference    ci_low  ci_high  p_value better
    0        G2         t  3         1.0 -0.035632      1.0      0.1    NaN
    """
    sizes = doors.check_n(n)
    chosen = Roles.of(roles)
    clustered = chosen.groups is not None
    means = chosen.ties == "expected"
    passed = {
        "average": average,
        "combine": combine or None,
        "groups": chosen.groups,
        "margin": margin,
        "n": isinstance(sizes, doors.Shares) or None,  # lists of different sizes in each group
        "n_resamples": n_resamples,
        "of": of != "precision" or None,
        "target": target == "nbest" or None,
        "test": test,
        "ties": means or None,
    }
    errors.refuse_combinations(passed, _REFUSED)
    if margin is not None:
        margin = errors.check_margin(margin, **{"n=None": n is None and not clustered})
    how = Comparison.of_options(
        a=a,
        b=b,
        of=of,
        test=test or "fisher",
        ties=chosen.ties,
        target=target,
        ci=_INTERVALS[target],
        alternative=alternative,
        alpha=alpha,
        level=level,
        adjust=adjust,
        adjust_over=adjust_over,
        n_resamples=n_resamples,
        margin=margin,
    )
    if combine or average is not None:
        errors.check_choice("adjust", adjust, (None, *stats.ADJUSTMENTS))
        return _compare_joined(data, sizes, how, average, roles)
    extra: tuple[str, ...] = TIE_COLUMNS
    interval = OF_REGIONS
    if clustered:
        how = replace(how, test="cluster", ci="cluster")
        interval = OF_CLUSTERS
    if means:
        regions.check_means(data, swapped=how.swapped)
        how = replace(how, test="expected")
        interval = OF_MEANS
        extra = ()
    if target == "nbest" and not clustered:
        interval = OF_ERROR
    attrs = how.noted() | {"ties": chosen.ties}
    if how.swapped:
        how = replace(how, seed=chosen.swaps)
        attrs |= chosen.noted_seed
        extra += ("p_stderr",)
    if clustered:
        extra += ("n_groups",)
    paired = doors.only_pair(data, a, b, roles)
    ask: Callable[[Options], Data] = partial(
        doors.tabulate,
        data,
        question=partial(_rows_of_lists, how=how),
        columns=_columns_of_pairs(how, REGION_COLUMNS[10:], *extra),
        able=can(compare, any_ties=means, heads=not means, crossed=not how.swapped),
        n=sizes,
        finish=partial(decisions.decide, how=how, interval=interval),
        attrs=attrs,
    )
    table = ask(paired)
    if isinstance(chosen.gold, list):
        table = with_verdicts(table, data, paired, ask)
    return table


def _rows_of_lists(candidates: Candidates, n: IntArray | None, *, how: Comparison) -> Answer:
    """Return one row per pair and n, and facts for the record.

    Each n has a test of its own, or swaps test all n together.
    """
    candidates, sizes = candidates.in_order(), candidates.sizes(n)
    pairs = doors.pair_names(candidates.measures, how.a, how.b)
    tests, facts = how.family(candidates, pairs, n)
    total = len(pairs) * len(candidates.group)
    what = "comparing lists"
    unit = "pairs"
    drawing = {}
    if how.swapped:
        if how.adjust_over != "group":
            tests *= max(1, candidates.n_groups)
        draws = most = decisions.enough_draws(tests, how)
        if how.n_resamples is None:
            draws = stats.FIRST
            if sizes.size <= FEW:
                most *= MORE
        drawing = {"tests": [tests], "n_resamples": draws, "most": most}
        total = total * most
        what = "swapping labels"
        unit = "draws"
    parts = []
    with errors.progress_bar(total=total, what=what, unit=unit) as advance:
        if how.swapped:  # the bar counts draws, not pairs
            drawing["advance"] = advance
            advance = errors.nothing_moves
        for lists in doors.pair_lists(candidates, pairs, n, how.ties):
            if how.test == "expected":
                columns = regions.mean_columns(lists, sizes, how.alternative)
            else:
                columns = _region_columns(lists, sizes, how=how, drawing=drawing)
            columns["exists"] = lists.exists
            parts.append(
                doors.rows_of(columns, candidates, decisions.PAIR, lists.pairs, {"n": sizes})
            )
            advance(len(lists.pairs) * len(candidates.group))
    table = doors.with_pairs(
        doors.concatenated(parts, decisions.GROUP), candidates, pairs, how.alternative
    )
    table["reach"] = np.ones(table["difference"].shape)
    if how.test != "expected":
        counts = table["tp_only_a"], table["n_only_a"], table["tp_only_b"], table["n_only_b"]
        table["odds_ratio"] = stats.sample_odds_ratio(*counts)
        if how.swapped or how.test == "cluster":
            table["p_mid"] = np.full(table["reach"].shape, np.nan)
        else:
            table["p_value"], table["p_mid"] = regions.region_tests(counts, how)
        if not how.swapped:  # both ends are equal if no list splits a tie
            for name in P_ENDS:
                table[name] = np.where(table["cuts_tie"], table[name], table["p_value"])
    if how.swapped and not np.isnan(table["drawn"]).all():
        facts["n_resamples"] = int(np.nanmax(table["drawn"]))
    if how.of != "precision":
        table = precision_as(table, candidates, pairs, how.of)
    return table, facts


def _columns_of_pairs(how: Comparison, p_values: tuple[str, ...], *extra: str) -> tuple[str, ...]:
    """Return the columns of a comparison of lists, in order."""
    decision, ending = decisions.decision_columns(how)
    values = " ".join(REGION_COLUMNS[:10]).replace("precision", how.of).split()
    front = ("measure_a", "measure_b", "n", *values)
    return (*front, *p_values, *decision, "cuts_tie", *extra, *ending)


def _region_columns(
    lists: PairRanks, n: IntArray, *, how: Comparison, drawing: Keywords
) -> Columns:
    """Return the columns (group, pair, n) for the two lists of each pair, but not exact tests."""
    r = stats.nbest_regions(lists.a.ranks, lists.b.ranks, lists.a.gold, n)
    only = n - r.overlap
    tp_only_a = r.tp_a - r.tp_overlap
    tp_only_b = r.tp_b - r.tp_overlap
    cut = lists.a.cuts_tie(n) | lists.b.cuts_tie(n)
    columns = {
        "precision_a": r.tp_a / n,
        "precision_b": r.tp_b / n,
        "difference": (tp_only_a - tp_only_b) / n,
        "overlap": r.overlap,
        "n_only_a": only,
        "n_only_b": only,
        "tp_only_a": tp_only_a,
        "tp_only_b": tp_only_b,
        "cuts_tie": cut,
    }
    if how.test == "cluster":
        columns |= cluster_contrasts(lists, n, alternative=how.alternative)
    else:
        ranks = (lists.a.ranks, lists.b.ranks)
        tp_only = (tp_only_a, tp_only_b)
        spread = stats.difference_spread(*ranks, lists.a.gold, lists.size, n, only, tp_only)
        columns["error"] = np.where(only > 0, np.sqrt(spread.variance) / n, 0.0)
        both = (only > 0) & (how.target == "both")
        columns["error_of_lists"] = np.where(both, columns["error"], np.nan)
        columns["freedom"] = np.full(only.shape, np.inf)
        columns["edge_a"], columns["edge_b"] = spread.edge_a, spread.edge_b
    if how.swapped:
        names = ("p_value", "p_swaps", "drawn", "margin", *P_ENDS)
        compute = partial(_swaps_of_pair, lists, n, cut, how=how, drawing=drawing)
        columns |= in_rows(lists.exists, names, compute)
    # at both ends over tie orders; without a tie, they equal the difference, and p-values are NaN
    gaps = np.stack([columns["difference"], columns["difference"]])
    p_ends = np.full(gaps.shape, np.nan)
    uncut = np.zeros(gaps.shape, dtype=np.int64)
    tied = cut & lists.exists
    for row in np.ndindex(tied.shape[:-1]):
        if not tied[row].any():
            continue
        at = (*row, tied[row])
        sizes = n[tied[row]]
        ends = regions.of_pair(lists, row, sizes).ends()
        both_ends = (slice(None), *at)
        gaps[both_ends] = ends.low / sizes, ends.high / sizes
        uncut[both_ends] = ends.below, ends.above
        if how.test == "cluster":
            error, freedom = columns["error"][at], columns["freedom"][at]
            p_ends[both_ends] = p_of_gap(gaps[both_ends], error, freedom, how.alternative)
        elif not how.swapped:
            p_ends[both_ends] = [regions.region_tests(table, how)[0] for table in ends.tables]
    names = *TIE_ENDS, *P_ENDS, *decisions.UNCUT
    # swaps have p-values at both ends
    return {**dict(zip(names, (*gaps, *p_ends, *uncut), strict=True)), **columns}


def _swaps_of_pair(
    lists: PairRanks,
    n: IntArray,
    cut: BoolArray,
    row: tuple[int, ...],
    there: BoolArray,
    *,
    how: Comparison,
    drawing: Keywords,
) -> Options:
    """Return swap p-values for each n and for all n, swap counts, and band margins.

    ``p_tie_low`` and ``p_tie_high`` are the p-values for the two extreme tie orders.
    """
    pair = ListPair.of(lists, row)
    sizes = n[there]
    ends = None
    if (cut[row] & there).any():
        ends = regions.of_pair(lists, row, sizes).ends().statistics()
    each = how.adjust_over == "n"
    drawn: Options = {"alpha": how.alpha, "seed": how.seed, "each": each, "ends": ends, **drawing}
    found = stats.swap_tests(*pair[:3], sizes, how.alternative, pair.keys, **drawn)
    p_swaps, of_ends = found.together, found.ends[1]
    if each:
        p_swaps, of_ends = found.alone, found.ends[0]
    p_low, p_high = p_swaps, p_swaps
    if ends is not None:
        p_low, p_high = of_ends
    margin: FloatArray | float = np.nan
    if INTERVALS_READ.get():
        share = (1.0 - how.level) / drawing["tests"][0]  # Bonferroni
        if how.alternative != "two-sided":
            share = min(2.0 * share, 0.999)
        level = 1.0 - share
        draws = {"n_resamples": drawing["n_resamples"], "seed": how.seed}
        margin = difference_margins(pair, sizes, [level], each=each, tested=True, **draws)[0]
    return {
        "p_value": found.alone,
        "p_swaps": p_swaps,
        "drawn": found.drawn,
        "margin": margin,
        "p_tie_low": p_low,
        "p_tie_high": p_high,
    }
