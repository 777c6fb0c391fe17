"""Compare the areas of two measures on the same candidates."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np

from rankeval_pd import decisions, doors, stats
from rankeval_pd.curves.areas import (
    EQUAL,
    AreaOptions,
    gap_columns,
    of_precision_gap,
    precision_gap,
    spread_of,
    t_and_p,
)
from rankeval_pd.curves.early_retrieval import positive_number, rate_range, turned_over
from rankeval_pd.decisions import Interval, Rows
from rankeval_pd.doors import Data
from rankeval_pd.errors import check_choice, check_margin, check_share, progress_bar
from rankeval_pd.options import Capabilities, can, with_roles_but
from rankeval_pd.roles import (
    Adjustment,
    AdjustOver,
    Alternative,
    AreaTest,
    ComparedKind,
    EqualScores,
    RankingRoles,
    Roles,
)
from rankeval_pd.stats import AnyArray, BoolArray, FloatArray, IntArray, Limits, Ranking, areas

# ---- Differences between two measures in partial area, BEDROC and enrichment factor

EARLY_KINDS = ("partial", "bedroc", "enrichment")


def early_options(kind: str, fpr: Any, tpr: Any, share: Any, bedroc_alpha: float) -> dict[str, Any]:
    """Check and return the options for a kind; reject options for other kinds."""
    owners = {"fpr": (fpr, "partial"), "tpr": (tpr, "partial"), "share": (share, "enrichment")}
    for name, (value, own) in owners.items():
        if value is not None and kind != own:
            raise ValueError(
                f"{name}={value!r} applies only to kind={own!r}, not kind={kind!r}. Omit {name}."
            )
    if kind == "partial":
        limits, turned = rate_range(fpr, tpr)
        return {"limits": limits, "turned": turned}
    if kind == "bedroc":
        return {"alpha": positive_number("bedroc_alpha", bedroc_alpha)}
    if share is None:
        raise ValueError(
            "kind='enrichment': pass the share of candidates at the top of the list, such as"
            " share=0.01."
        )
    return {"share": check_share("share", share, one=True)}


def _share_of(ranking: Ranking, kind: str, options: Mapping[str, Any]) -> areas.Influence:
    if kind == "bedroc":
        return areas.bedroc_influence(ranking, options["alpha"])
    if kind == "enrichment":
        return areas.found_early(ranking, options["share"])
    return areas.area_between(ranking, *options["limits"])


_OF_ONE = ("area", "error", "freedom", "positive", "added", "added_error", "added_positive")


def early_gap(
    a: Ranking,
    b: Ranking,
    cluster: IntArray | None = None,
    *,
    alternative: str,
    kind: str,
    options: Mapping[str, Any],
) -> dict[str, AnyArray]:
    """Return the columns (group, pair) of two values of early retrieval and their difference."""
    if options.get("turned"):
        a, b = turned_over(a), turned_over(b)
    columns: dict[str, AnyArray] = {}
    both = [_share_of(ranking, kind, options) for ranking in (a, b)]
    for side, ranking, one in zip("ab", (a, b), both, strict=True):
        more = _share_of(areas.with_end_pairs(ranking), kind, options)
        own, added = spread_of(one, cluster, warned=""), spread_of(more, None, warned="")
        values = (
            *(one.value, own.error, own.least_freedom, own.positive),
            *(more.value, added.error, added.positive),
        )
        columns |= {f"{name}_{side}": x for name, x in zip(_OF_ONE, values, strict=True)}
    total, true = a.size
    base, factor, freedom = np.zeros(()), np.ones(()), np.full(true.shape, np.inf)
    if kind == "partial":
        low, high = options["limits"]
        freedom = (high - low) * (total - true) - 1.0  # a narrow range contains few candidates
        least = 0.5 * (low + high)  # standardize the area as McClish does
        base, factor = np.array(0.5 - 0.5 * least / (1.0 - least)), np.array(0.5 / (1.0 - least))
    if kind == "enrichment":
        factor = total / np.ceil(options["share"] * total - 1e-9)
    else:
        true, total = np.zeros_like(true), np.zeros_like(total)
    columns |= gap_columns(a, b, both[0].minus(both[1]), cluster, alternative, freedom)
    for name in ("difference", "se"):
        columns[name] = factor * columns[name]
    for name in ("area_a", "area_b"):
        columns[name] = base + factor * columns[name]
    return columns | {"base": base, "factor": factor, "true": true * 1.0, "total": total * 1.0}


def _early_gap_limits(*columns: FloatArray, level: float) -> Limits:
    """Return the limits for the difference, computed from the limits for each proportion."""
    error, base, factor, freedom, alike, true, total, *sides = columns
    shares, limits = [], []
    for side in (sides[:7], sides[7:]):
        value, own, free, positive, added, added_error, added_positive = side
        free = np.minimum(free, freedom)
        share = np.clip((value - base) / factor, 0.0, 1.0)
        low, high = areas.logit_limits(share, own, free, positive, level)
        lower, higher = areas.logit_limits(added, added_error, free, added_positive, level)
        shares.append(share)
        limits.append((np.fmin(low, lower), np.fmax(high, higher)))
    spread = error / factor
    variances = sides[1] ** 2, sides[8] ** 2, spread**2
    gap, half = shares[0] - shares[1], areas.student_quantile(freedom, level) * spread
    low, high = stats.correlated_limits(
        (shares[0], shares[1]), (limits[0], limits[1]), variances, (gap - half, gap + half)
    )
    with np.errstate(divide="ignore"):  # a lift is at most one over the prevalence
        most = np.fmin(factor, 1.0 / stats.clopper_pearson(true, total, level)[0])
    low, high = (
        np.where(alike, 0.0 * error, np.clip(factor * limit, -most, most)) for limit in (low, high)
    )
    return low, high


OF_EARLY_GAP = Interval(
    _early_gap_limits,
    (
        *("se", "base", "factor", "freedom", "alike", "true", "total"),
        *(f"{name}_{side}" for side in "ab" for name in _OF_ONE),
    ),
)
"""The interval for a difference in partial area, BEDROC or enrichment factor."""


# ---- Differences in area between rankings of the same candidates

COMPARE_COLUMNS = (
    *("measure_a", "measure_b", "area_a", "area_b", "difference", "ci_low", "ci_high"),
    *("z", "p_value"),
)
PairOfRankings = Callable[..., dict[str, AnyArray]]
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
    interval="student",
)
@with_roles_but("key", "label", "ties", "rng")
def compare_area(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    kind: ComparedKind = "roc",
    test: AreaTest = "t",
    fpr: float | tuple[float, float] | None = None,
    tpr: float | tuple[float, float] | None = None,
    share: float | None = None,
    bedroc_alpha: float = 20.0,
    equal: EqualScores = "block",
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    adjust: Adjustment | None = None,
    adjust_over: AdjustOver = "all",
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare ROC areas, average precision or early retrieval between measures.

    Parameters
    ----------
    data, **roles
        As in :func:`nbest_precision`. Equal scores always count one half.
    a, b : names of measures, optional
        If you pass both, only this pair is compared. If you pass only ``a``, it is compared with
        every other measure. By default, all pairs are compared.
    kind
        The quantity to compare: the area under the ROC curve or average precision (see
        :func:`area`), or the value of :func:`partial_area`, :func:`bedroc` or :func:`enrichment`.
        If the list for an enrichment factor splits a tie, the tied candidates count fractionally.
    fpr, tpr, share, bedroc_alpha
        Range of the partial area (see :func:`partial_area`), used by kind="partial"; fraction of
        the candidates in the list, used by kind="enrichment"; weight of early ranks (see ``alpha``
        in :func:`bedroc`).
    test
        "t" uses DeLong's standard error and Student's distribution with Welch's degrees of freedom
        for the two classes. If a class has fewer than 5 candidates, the degrees of freedom are the
        size of the smaller class minus one. A normal distribution is used if the mean area is 0.95
        or more. The interval agrees with the test and allows for extreme candidates that are
        missing from a small sample. "delong" uses the normal distribution, as in pROC, and is too
        liberal if a class is small. Average precision allows only "t", with a standard error from
        influence values. The degrees of freedom are the size of the smaller class minus one.
    equal
        Treatment of equal scores in average precision (see :func:`area`).
    alternative, margin, adjust, level
        As in :func:`compare`, for the difference in area. "greater" means that a has the larger
        area. The p-value ``p_equivalence`` or ``p_noninferior`` is the level at which a one-sided
        confidence limit reaches the margin.
    adjust_over
        Whether to adjust over all pairs in all groups of ``by``, or in each group separately.

    Returns
    -------
    DataFrame or Dataset
        One row per pair (Dataset: dimension pair) with the columns ``measure_a``, ``measure_b``,
        ``area_a``, ``area_b``, ``difference`` = area_a - area_b, its confidence limits ``ci_low``
        and ``ci_high``, ``z`` = difference / ``se``, ``p_value`` and the standard error ``se``.
        With "greater" or "less", the interval is one-sided and its other limit is the end of the
        possible range. ``better`` is the measure with the larger area if the difference is
        significant at 1 - ``level`` (after any adjustment), and NaN otherwise. ``leaning`` is the
        measure with the larger area whether or not the difference is significant. With ``adjust``,
        the table also has ``p_adjusted`` and the unadjusted interval ``ci_low_alone``,
        ``ci_high_alone``.

    Warns
    -----
    RankevalWarning
        If a class has fewer than 10 candidates.

    Notes
    -----
    The variance accounts for pairing. If the two rankings order every positive-negative pair the
    same way, the difference and z are 0 and p is 1. If the variance is 0 but the difference is not,
    as between a perfect ranking and its reverse, z and p are NaN. In simulations with normal
    scores, the 5% test rejected at most 0.062 of true null hypotheses, and DeLong's test up to
    0.20. With 10 or more true positives, the coverage of the 95% interval was at least 0.93,
    compared with 0.77 for DeLong's (``tests/simulations/areas.csv``). For areas up to 0.9, the
    interval was at most 1.3 times as wide as DeLong's. For areas near 1, it was up to 3.3 times as
    wide with 10 true positives and 1.3 times as wide with 100 (``width`` in ``area_laws.csv``). The
    test of average precision rejected at most 0.057 of true null hypotheses, and its interval had a
    coverage of at least 0.93 with 3 or more true positives but only 0.70 with 2
    (``tests/simulations/average_precision.csv``). For the other kinds, the tests rejected at most
    0.065. Cost: O(N log N) per measure, O(N) per pair.

    References
    ----------
    DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Biometrics 44.

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
    early: dict[str, Any] = {}
    if kind in EARLY_KINDS or any(x is not None for x in (fpr, tpr, share)):
        early = early_options(kind, fpr, tpr, share, bedroc_alpha)
    check_choice("adjust", adjust, (None, *stats.ADJUSTMENTS))
    level = check_share("level", level)
    clustered = Roles.of(roles).groups is not None
    if clustered and test == "delong":
        raise ValueError(
            "test='delong' with groups: DeLong's test assumes independent candidates. Omit test to"
            " use a t test with the variance between groups."
        )
    how = AreaOptions(
        kind=kind,
        test=test,
        level=level,
        alternative=alternative,
        alpha=round(1.0 - level, 12),
        adjust=adjust,
        adjust_over=adjust_over,
        margin=check_margin(margin),
    )
    noted: dict[str, Any] = {"kind": kind, "test": test}
    if kind != "bedroc":
        noted |= early
    noted["adjust"] = adjust
    if adjust is not None:
        noted["adjust_over"] = adjust_over
    noted |= {"alternative": alternative, "level": level, "margin": how.margin}
    if kind == "ap":
        kernel: PairOfRankings = partial(precision_gap, ties=EQUAL[equal])
        interval = of_precision_gap(clustered=clustered)
    elif kind in EARLY_KINDS:
        kernel = partial(early_gap, kind=kind, options=early)
        interval = OF_EARLY_GAP
    else:
        kernel = partial(roc_gap, test=test)
        interval = {"t": OF_ROC_GAP, "delong": _OF_DELONG_GAP}[test]
    return doors.tabulate(
        data,
        doors.only_pair(data, a, b, roles),
        partial(_compared_areas, a=a, b=b, kernel=kernel, how=how),
        _columns_of_areas(how, ["n_groups"] * clustered),
        can(compare_area),
        finish=partial(_decided, how=how, interval=interval),
        attrs=noted,
    )


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
) -> tuple[Rows, dict[str, Any]]:
    """Return one row per group and pair of measures, and the family of the tests.

    The kernel of ROC areas also gets the placements, unless the measures rank different candidates.
    """
    pairs = doors.pair_names(candidates.measures, a, b)
    facts: dict[str, Any] = {}
    if how.adjust is not None:
        tests = doors.distinct_tests(candidates, pairs, how.alternative, how.adjust)
        over = [how.adjust_over]
        facts["family"] = decisions.family_of(
            tests, decisions.compared_with(a, b), groups=candidates.n_groups, over=over
        )
    sides, gold = candidates.sides(pairs), candidates.gold[:, np.newaxis]
    present = candidates.present
    known: FloatArray | None = None
    if how.kind == "roc" and (present == present[:, :1]).all():
        placed = [areas.placements(ranking).influence for _, ranking, _ in candidates.ranked()]
        known = np.concatenate(placed, axis=1)
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
            if known is not None:
                options["placed"] = [known[:, first], known[:, second]]
            columns = kernel(*rankings, candidates.clusters, **options)
            numbers = range(start, start + first.size)
            parts.append(doors.rows_of(columns, candidates, decisions.PAIR, numbers, {}))
            advance(first.size * len(candidates.group))
    rows = doors.concatenated(parts, decisions.GROUP)
    return doors.with_pairs(rows, candidates, pairs, how.alternative), facts


def _decided(
    rows: Rows, names: Sequence[Hashable], *, how: AreaOptions, interval: Interval
) -> Rows:
    """Decide the pairs; one-sided intervals for lifts end at the largest possible lift."""
    rows = decisions.decide(rows, names, how=how, interval=interval)
    if how.kind != "enrichment":
        return rows
    for name in ("ci_low", "ci_high", "ci_low_alone", "ci_high_alone"):
        if name in rows:
            ends = np.abs(rows[name]) == 1.0
            rows[name] = np.where(ends, rows[name] * rows["factor"], rows[name])
    return rows


# ---- The difference between two ROC areas


def roc_gap(
    a: Ranking,
    b: Ranking,
    cluster: IntArray | None = None,
    *,
    test: str,
    alternative: str,
    placed: Sequence[FloatArray] | None = None,
) -> dict[str, AnyArray]:
    """Return the columns (group, pair) of two ROC areas and their difference."""
    gold, both = a.gold, a.present
    if placed is None:
        placed = [areas.placements(ranking).influence for ranking in (a, b)]
    of_a, of_b, apart = (
        areas.Influence(_mean_placement(x, gold, both), x, gold, both)
        for x in (*placed, placed[0] - placed[1])
    )
    gap = spread_of(apart, cluster)
    alone = [spread_of(x, cluster, warned="") for x in (of_a, of_b)]
    freedom, sizes = gap.freedom, [gap.positive, gap.negative]
    if gap.n_groups is None:
        freedom = areas.difference_freedom(freedom, (of_a.value, of_b.value), sizes)
    else:
        # missing extreme candidates may or may not form clusters: use the geometric mean of both
        sizes = [areas.unseen_counts(size, gap.n_groups) for size in sizes]
    alike = ((placed[0] == placed[1]) | np.isnan(placed[0]) | ~both).all(axis=-1)
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


def _mean_placement(placement: FloatArray, gold: BoolArray, here: BoolArray) -> FloatArray:
    """Return the mean over the positives; the mean of placements is the area.

    Twice the negatives below a positive is a whole number, so equal areas differ by exactly 0.
    """
    positive, halves = gold & here, 2.0 * (~gold & here).sum(axis=-1)
    whole = np.rint(np.where(positive, placement, 0.0) * halves[..., np.newaxis]).sum(axis=-1)
    with stats.silent_division():
        mean: FloatArray = whole / (halves * positive.sum(axis=-1))
    return mean


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
