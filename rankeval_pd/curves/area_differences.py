"""Compare the areas of two measures on the same candidates."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from rankeval_pd import decisions, doors, stats
from rankeval_pd.curves.areas import (
    AreaOptions,
    Columns,
    of_precision_gap,
    precision_gap,
    spread_of,
    t_and_p,
    to_average,
    warn_if_none,
)
from rankeval_pd.decisions import Interval, Rows
from rankeval_pd.doors import Data
from rankeval_pd.errors import check_choice, check_margin, check_share, progress_bar
from rankeval_pd.options import Capabilities, can, with_roles_but
from rankeval_pd.roles import (
    Adjustment,
    AdjustOver,
    Alternative,
    AreaKind,
    AreaTest,
    RankingRoles,
    Roles,
)
from rankeval_pd.stats import BoolArray, FloatArray, IntArray, Limits, Ranking, areas

# ---- Differences in area between rankings of the same candidates

COMPARE_COLUMNS = (
    *("measure_a", "measure_b", "area_a", "area_b", "difference", "ci_low", "ci_high"),
    *("z", "p_value"),
)
_NOTED = ("kind", "test", "adjust", "alternative", "level", "margin")
PairOfRankings = Callable[..., Columns]
_TOGETHER = 1_000_000  # placements kept in memory at once; about twenty arrays of this size exist


@Capabilities(
    rankings="How good is it overall?",
    any_ties=True,
    ends=True,
    clusters=True,
    by_groups=True,
    short="measure_a measure_b difference ci_low ci_high p_value p_adjusted p_equivalence"
    " p_noninferior better",
    details="area_a area_b z se leaning ci_low_alone ci_high_alone",
    layout="pair",
    quantity="area",
    interval="inverted-t",
)
@with_roles_but("key", "label", "ties", "rng")
def compare_area(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    kind: AreaKind = "roc",
    test: AreaTest = "t",
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    adjust: Adjustment | None = None,
    adjust_over: AdjustOver = "all",
    level: float = 0.95,
    average: decisions.Average | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare areas under the ROC curve or average precision between measures.

    Parameters
    ----------
    data, **roles
        As in :func:`nbest_precision`. Equal scores always count one half.
    a, b
    kind
        The area under the ROC curve or average precision (see :func:`area`). To compare the top of
        the lists, call ``compare(n=share, of="lift")``.
    test
        "t" uses DeLong's standard error and Student's distribution with Welch's degrees of freedom
        for the two classes (normal if the mean area is 0.95 or more). The interval agrees with the
        test and allows for extreme candidates that are missing from a small sample. "delong" uses
        the normal distribution, as in pROC, and is too liberal if a class is small. Average
        precision allows only "t", with a standard error from influence values.
    alternative, margin, adjust, level
        As in :func:`compare`, for the difference in area. "greater" means that a has the larger
        area. The p-value ``p_equivalence`` or ``p_noninferior`` is the level at which a one-sided
        confidence limit reaches the margin.
    adjust_over
        Whether to adjust over all pairs in all groups of ``by``, or in each group separately.
    average
        Whether to average over all groups of ``by``, as in :func:`area`, with Student's t over the
        groups. ``details=True`` then counts the groups with and without areas, ``n_queries`` and
        ``n_missing``.

    Returns
    -------
    DataFrame or Dataset
        One row per pair (Dataset: dimension pair) with the columns ``measure_a``, ``measure_b``,
        ``area_a``, ``area_b`` (with ``missing="drop"``, among the candidates with both scores, so
        they can differ from :func:`area`), ``difference`` = area_a - area_b, its limits ``ci_low``
        and ``ci_high``, ``z`` = difference / ``se``, ``p_value`` and the standard error ``se``.
        With "greater" or "less", the interval is one-sided and its other limit is the end of the
        possible range. ``better`` is the significantly larger measure at 1 - ``level``, after any
        adjustment, and ``leaning`` the larger one in any case. With ``adjust``, the table also has
        ``p_adjusted`` and the unadjusted interval ``ci_low_alone``, ``ci_high_alone``.

    Warns
    -----
    RankevalWarning
        If a class has fewer than 10 candidates, or if ``average`` is over folds.

    Notes
    -----
    The variance accounts for pairing. If the two rankings order every positive-negative pair the
    same way, the difference and z are 0 and p is 1. If the variance is 0 but the difference is not,
    as between a perfect ranking and its reverse, z is NaN, and p is the level at which the interval
    reaches 0 (NaN with "delong"). In simulations, the 5% test of
    ROC areas rejected at most 0.062 of true null hypotheses, and with 10 or more true positives
    the coverage of the 95% interval was at least 0.93, compared with 0.774 for DeLong's. The test
    of average precision rejected at most 0.075, and its interval covered at least 0.942 with 3 or
    more true positives but only 0.69 with 2. Cost: O(N log N) per measure, O(N) per pair.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44, https://doi.org/10.2307/2531595.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(300)
    >>> df.rankeval.compare_area("good", "fair")
      measure_a measure_b  difference    ci_low   ci_high   p_value better
    0      good      fair    0.112407  0.030916  0.201643  0.008071   good
    """
    if kind != "roc" and test == "delong":
        raise ValueError(f"test='delong' requires kind='roc', not kind={kind!r}. Omit test.")
    check_choice("adjust", adjust, (None, *stats.ADJUSTMENTS))
    level = check_share("level", level)
    if average is not None and test == "delong":
        raise ValueError(
            f"average={average!r} with test='delong': the test of an average uses the variance"
            " between groups. Omit test."
        )
    clustered = Roles.of(roles).groups is not None
    if clustered and test == "delong":
        raise ValueError(
            "test='delong' with groups: DeLong's test assumes independent candidates. Omit test to"
            " use a t test with the variance between groups."
        )
    if margin is not None:
        margin = check_margin(margin)
    how = AreaOptions(
        kind=kind,
        test=test,
        level=level,
        alternative=alternative,
        alpha=round(1.0 - level, 12),
        adjust=adjust,
        adjust_over=adjust_over,
        margin=margin,
    )
    noted = {name: getattr(how, name) for name in _NOTED}
    noted |= {"t": {"test": "linearized"}, "delong": {"interval": "delong"}}[test]
    if adjust is not None:
        noted["adjust_over"] = adjust_over
    kernel, interval = _law_of(kind, test, clustered=clustered)
    finish, combine = partial(_decided, how=how, interval=interval), None
    counts = ["n_groups"] * clustered
    if average is not None:
        kernel, counts = partial(_areas_to_average, kind=kind), ["n_queries", "n_missing"]
        finish = partial(decisions.decide, how=how, interval=decisions.OF_ERROR)
        combine = partial(_averaged_gaps, average=average, alternative=alternative)
        noted |= {"test": "groups", "interval": "student", "average": average}
    return doors.tabulate(
        data,
        doors.only_pair(data, a, b, roles),
        partial(_compared_areas, a=a, b=b, kernel=kernel, how=how, joined=average is not None),
        _columns_of_areas(how, counts),
        can(compare_area, clusters=average is None),
        combine=combine,
        finish=finish,
        attrs=noted,
    )


def _law_of(kind: str, test: str, *, clustered: bool) -> tuple[PairOfRankings, Interval]:
    if kind == "ap":
        return precision_gap, of_precision_gap(clustered=clustered)
    return partial(roc_gap, test=test), {"t": OF_ROC_GAP, "delong": _OF_DELONG_GAP}[test]


def _decided(
    table: Rows, names: Sequence[Hashable], *, how: AreaOptions, interval: Interval
) -> Rows:
    """Return the rows with decisions; without variation, p agrees with the interval of "t"."""
    still = (table["se"] == 0.0) & (table["difference"] != 0.0)
    if how.test == "t" and still.any():
        columns = [table[name][still] for name in interval.columns]
        p, limits = table["p_value"].copy(), partial(interval.limits, *columns)
        above = stats.interval_p(limits, 0.0, "greater")
        p[still] = stats.one_or_two_sided(above, 1.0 - above, how.alternative)
        table["p_value"] = p
    return decisions.decide(table, names, how=how, interval=interval)


def _columns_of_areas(how: AreaOptions, groups: Sequence[str]) -> tuple[str, ...]:
    decision, ending = decisions.decision_columns(how)
    return (*COMPARE_COLUMNS, *decision[:-2], "se", *groups, "better", *ending)


def _compared_areas(
    candidates: doors.Candidates,
    _: IntArray | None,
    *,
    a: Hashable,
    b: Hashable,
    kernel: PairOfRankings,
    how: AreaOptions,
    joined: bool = False,
) -> tuple[Rows, dict[str, Any]]:
    """Return one row per group and pair of measures, and the family of the tests.

    The kernel of ROC areas also gets the placements, unless the measures rank different candidates.
    ``joined`` means that the rows of all groups make one test.
    """
    if joined:
        candidates = replace(candidates, n_groups=1)
    warn_if_none(candidates.gold.size)
    pairs = doors.pair_names(candidates.measures, a, b)
    facts: dict[str, Any] = {}
    if how.adjust is not None:
        tests = doors.distinct_tests(candidates, pairs, how.alternative, how.adjust)
        over = [how.adjust_over]
        facts["family"] = decisions.family_of(
            tests,
            decisions.compared_with(a, b),
            pairs=len(pairs),
            groups=candidates.n_groups,
            over=over,
        )
    sides, gold = candidates.sides(pairs), candidates.gold[:, np.newaxis]
    present = candidates.present
    known: list[FloatArray] = []  # values and placements
    if how.kind == "roc" and (present == present[:, :1]).all():
        placed = [areas.placements(ranking)[:2] for _, ranking, _ in candidates.ranked()]
        known = [np.concatenate(x, axis=1) for x in zip(*placed, strict=True)]
    width = max(1, _TOGETHER // max(1, candidates.gold.size))
    parts, total = [], len(pairs) * len(candidates.group)
    with progress_bar(total=total, what="comparing areas", unit="pairs") as advance:
        for start in range(0, len(pairs), width):
            first, second = sides[start : start + width].T
            both = present[:, first] & present[:, second]
            rankings = [
                Ranking.of(candidates.score[:, side], gold, both, ends=candidates.ends)
                for side in (first, second)
            ]
            options: dict[str, Any] = {"alternative": how.alternative}
            if known:
                options["placed"] = [
                    areas.Influence(known[0][:, side], known[1][:, side], gold, both)
                    for side in (first, second)
                ]
            columns = kernel(*rankings, candidates.clusters, **options)
            numbers = range(start, start + first.size)
            parts.append(doors.rows_of(columns, candidates, decisions.PAIR, numbers, {}))
            advance(first.size * len(candidates.group))
    rows = doors.concatenated(parts, decisions.GROUP)
    return doors.with_pairs(rows, candidates, pairs, how.alternative), facts


def compared_pair(
    candidates: doors.Candidates, a: Hashable, b: Hashable, kind: str, level: float
) -> Rows:
    """Return one row per group: the test of two areas, among the candidates that both rank."""
    how = AreaOptions(
        kind=kind, test="t", level=level, alternative="two-sided", alpha=1.0 - level, adjust=None
    )
    kernel, interval = _law_of(kind, "t", clustered=candidates.clusters is not None)
    rows = _compared_areas(candidates, None, a=a, b=b, kernel=kernel, how=how)[0]
    return _decided(rows, candidates.measures, how=how, interval=interval)


# ---- The average difference over groups


def _areas_to_average(
    a: Ranking, b: Ranking, _: IntArray | None = None, *, kind: str, **_options: Any
) -> Columns:
    """Return the two areas of each group, without tests."""
    of_a, of_b = (to_average(ranking, kind=kind) for ranking in (a, b))
    return {"area_a": of_a["area"], "area_b": of_b["area"], "weight": of_a["weight"]}


def _averaged_gaps(gaps: Rows, n_groups: int, *, average: str, alternative: str) -> Rows:
    """Average the differences over groups for each pair, with Student's t over the groups."""
    cells = decisions.GroupCells.of(gaps, n_groups)
    area_a, area_b, weight = (cells.of_column(gaps[x]) for x in ("area_a", "area_b", "weight"))
    known = ~np.isnan(area_a - area_b)
    if average == "macro":
        weight = np.ones(weight.shape)
    weight = np.where(known, weight, np.nan)
    of_a, of_b, result = (
        decisions.over_groups(area * weight, weight, alternative)
        for area in (area_a, area_b, area_a - area_b)
    )
    freedom = result.n_queries.astype(float) - 1.0
    return {
        **cells.keys,
        "area_a": of_a.value,
        "area_b": of_b.value,
        "difference": result.value,
        "z": t_and_p(result.value, result.se, freedom, alternative)[0],
        "p_value": result.p_value,
        "se": result.se,
        "error": result.se,
        "freedom": freedom,
        "reach": np.ones(freedom.shape),
        # without variation, rankings of other groups may still differ, unless the two are equal
        "n_only_a": np.where(result.value == 0.0, 0, result.n_queries),
        "n_queries": result.n_queries,
        "n_missing": (~known).sum(axis=-1),
    }


# ---- The difference between two ROC areas


def roc_gap(
    a: Ranking,
    b: Ranking,
    cluster: IntArray | None = None,
    *,
    test: str,
    alternative: str,
    placed: Sequence[areas.Influence] | None = None,
) -> Columns:
    """Return the columns (group, pair) of two ROC areas and their difference."""
    of_a, of_b = placed or [areas.placements(ranking) for ranking in (a, b)]
    apart = of_a._replace(value=of_a.value - of_b.value, influence=of_a.influence - of_b.influence)
    gap = spread_of(apart, cluster)
    alone = [spread_of(x, cluster, warned=False) for x in (of_a, of_b)]
    freedom, sizes = gap.freedom, [gap.positive, gap.negative]
    if gap.n_groups is None:
        freedom = areas.difference_freedom(freedom, (of_a.value, of_b.value), sizes)
    else:
        # missing extreme candidates may or may not form clusters: use the geometric mean of both
        sizes = [np.minimum(size, np.sqrt(size * gap.n_groups)) for size in sizes]
    alike = np.all(~((np.abs(apart.influence) > 0.0) & a.present), axis=-1)
    if alike.any():  # in all other cases the orders differ, and no further sorting is needed
        alike = alike & areas.have_same_order(a, b)
    tested = freedom
    if test == "delong":
        tested = np.full(freedom.shape, np.inf)
    z, p_value = t_and_p(apart.value, gap.error, tested, alternative)
    return {
        "area_a": of_a.value,
        "area_b": of_b.value,
        "difference": apart.value,
        "z": z,
        "p_value": p_value,
        "se": gap.error,
        "variance_a": alone[0].variance,
        "variance_b": alone[1].variance,
        "freedom": freedom,
        "positive": sizes[0],
        "negative": sizes[1],
        "moved": np.asarray(gap.moved),
        "alike": alike,
        **gap.counted,
    }


def _roc_gap_limits(*columns: Any, level: float) -> Limits:
    """Return limits for the difference between two areas; 0 for identical rankings."""
    area_a, area_b, se, variance_a, variance_b, freedom, positive, negative, moved, alike = columns
    variances, sizes = (variance_a, variance_b, se**2), (positive, negative)
    low, high = areas.area_difference_limits(
        (area_a, area_b), variances, freedom, sizes, level, moved
    )
    return np.where(alike, 0.0 * se, low), np.where(alike, 0.0 * se, high)


OF_ROC_GAP = Interval(
    _roc_gap_limits,
    (
        *("area_a", "area_b", "se", "variance_a", "variance_b"),
        *("freedom", "positive", "negative", "moved", "alike"),
    ),
)
"""The interval for the difference between two ROC areas, which agrees with the t test."""


def _delong_gap_limits(
    difference: FloatArray, se: FloatArray, alike: BoolArray, level: float
) -> Limits:
    # if rankings differ but the variance is 0, the interval contains all possible differences
    half = stats.z_of(level) * np.where((se == 0.0) & ~alike, np.inf, se)
    low, high = np.clip((difference - half, difference + half), -1.0, 1.0)
    return low, high


_OF_DELONG_GAP = Interval(_delong_gap_limits, ("difference", "se", "alike"))
