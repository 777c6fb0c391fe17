"""Rank several measures, with letters for those that do not differ."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

from rankeval_pd import decisions, doors, errors, stats
from rankeval_pd.curves.area_differences import compared_pair
from rankeval_pd.curves.areas import INTERVAL_OF, spread_of
from rankeval_pd.decisions import UNCUT, RankOptions
from rankeval_pd.doors import Answer, Candidates, Data
from rankeval_pd.lists import groups
from rankeval_pd.lists.comparison import FEW, MORE
from rankeval_pd.lists.precision import (
    IntervalKind,
    difference_margins,
    limits_of_lists,
    warn_of_reversed,
)
from rankeval_pd.lists.regions import check_means
from rankeval_pd.options import Capabilities, can, with_roles
from rankeval_pd.roles import (
    AreaKind,
    EachAdjustOver,
    FamilyAdjustment,
    ListSizes,
    RankingRoles,
    Roles,
)
from rankeval_pd.stats import BoolArray, FloatArray, IntArray, NBest, ranks, swaps
from rankeval_pd.stats import areas as early
from rankeval_pd.tables import Columns, Keywords, Options

# ---- Define criteria for ranking measures, with tests and columns

RANKED = tuple("value ci_low ci_high rank rank_low rank_high tied_for_best".split())
VERDICT = tuple(
    "value ci_low ci_high rank_low rank_high difference difference_low difference_high "
    "p_adjusted tied_for_best better_than_chance".split()
)
OVER_EACH = ("n", "group")


def rank_options(
    n: Any,
    kind: str | None,
    adjust: str | None,
    n_resamples: int | None,
    level: float,
    baseline: Hashable = None,
    *,
    over: str = "n",
) -> RankOptions:
    """Check and return the options."""
    errors.check_one(n=n, kind=kind)
    errors.check_choice("adjust_over", over, OVER_EACH)
    if n_resamples is not None:
        n_resamples = errors.check_draws("n_resamples", n_resamples)
    level = errors.check_share("level", level)
    return RankOptions(
        n=doors.check_n(n),
        kind=kind,
        adjust=adjust,
        adjust_over=over,
        alpha=round(1.0 - level, 12),
        level=level,
        n_resamples=n_resamples,
        baseline=baseline,
    )


def draws_of_ranks(how: RankOptions, pairs: int) -> int:
    """Return the number of draws needed for significant pairs."""
    alpha = 1.0 - how.level
    if how.n_resamples is None:
        if how.kind:
            return 9_999
        most = swaps.enough_swaps(pairs, alpha)
        if how.swapped:
            errors.check_needed(most, f"level={how.level!r}")
        return most
    needed = swaps.least_swaps(pairs, alpha)
    if how.kind is None and how.swapped and how.n_resamples < needed:
        raise ValueError(
            f"n_resamples={how.n_resamples} cannot reach level={how.level:g}: the"
            f" smallest adjusted p-value for {pairs} pairs is {pairs}/(n_resamples + 1). Pass"
            f" n_resamples={needed} or more, or None for the required number."
        )
    return how.n_resamples


# ---- Compute values and intervals of measures, and pairwise tests


@dataclass(frozen=True, eq=False, kw_only=True)
class RankingTask:
    """The measures to rank, and how their pairs are tested."""

    candidates: Candidates
    ranking: stats.Ranking  #: (group, measure)
    sizes: IntArray  #: list sizes; a single placeholder for areas
    how: RankOptions
    ties: str
    baseline: int | None
    stands: IntArray | None  #: (pair): see :func:`standing_pairs`
    families: Mapping[str, int]  #: number of tests in each family, by column ending
    levels: Mapping[str, float]  #: of simultaneous and individual intervals, by column ending
    drawing: Keywords  #: n_resamples, most and seed for each pair
    advance: Callable[[int], object]


# ---- n-best lists


def list_columns(task: RankingTask, lists: NBest) -> Columns:
    """Return precision, its intervals and tests against chance: (group, measure, n)."""
    ranking = task.ranking
    clusters = task.candidates.clusters
    exists = lists.exists
    columns = {
        "value": np.where(exists, lists.tp / task.sizes, np.nan),
        "tied": lists.tied,
        "exists": exists,
    }
    kind = IntervalKind.of(
        "clopper-pearson", task.how.level, target="nbest", clustered=clusters is not None
    )
    columns |= limits_of_lists(
        ranking, task.candidates, lists, task.sizes, task.ties, kind, task.levels
    )
    if clusters is not None:
        more, fewer = groups.random_tails(ranking, clusters, task.sizes, exists)
    else:
        counts = np.where(exists, lists.tp, 0.0)
        size = np.where(exists, task.sizes, 1.0)
        total = np.maximum(ranking.size.total, 1).astype(float)[..., np.newaxis]
        positive = ranking.size.positive.astype(float)[..., np.newaxis]
        tails = stats.tails
        more = np.exp(tails(np.floor(counts), total, positive, size).ge)
        fewer = np.exp(tails(np.floor(size - counts), total, total - positive, size).ge)
    tests = exists.shape[1] * task.sizes.size
    warn_of_reversed(decisions.beats_chance(fewer, tests, task.how)[exists])
    return {**columns, "better_than_chance": exists & decisions.beats_chance(more, tests, task.how)}


def list_tests(task: RankingTask, lists: NBest) -> dict[str, FloatArray]:
    """Return the tests of all pairs of n-best lists, also at both ends over tie orders.

    The columns (group, pair, n) are listed by :func:`ranks.columns_of_tests` and _END_COLUMNS.
    """
    families = []
    if task.how.swapped:
        families = [*task.families]
    names = [*ranks.columns_of_tests(families), *_END_COLUMNS]
    a, b = ranks.all_pairs(lists.exists.shape[1])
    exists = lists.exists[:, a] & lists.exists[:, b]
    compute = partial(_tests_of_pair, task, lists, np.stack([a, b], axis=1))
    return groups.in_rows(exists, names, compute)


def _tests_of_pair(
    task: RankingTask, lists: NBest, pairs: IntArray, row: tuple[int, ...], there: BoolArray
) -> Columns:
    """Return the tests of one pair in one group: (n)."""
    how, candidates, group = task.how, task.candidates, row[0]
    sides = pairs[row[1]].tolist()
    both = candidates.present[group, sides].all(axis=0)
    a, b = (stats.ranking_alone(task.ranking, (group, side), both) for side in sides)
    pair = stats.TiedLists(a, b, task.sizes[there])
    families = {
        ending: tests
        for ending, tests in task.families.items()
        if not ending or task.baseline in sides
    }
    levels = [1.0 - (1.0 - how.level) / tests for tests in families.values()]  # Bonferroni
    swapping = {
        "tests": [*families.values()],
        "alpha": 1.0 - how.level,
        "each": how.each,
        "advance": task.advance,
        **task.drawing,
    }
    n = pair.n
    freedom = np.full(pair.n.shape, np.inf)
    if task.ties == "expected":  # means over all orders of equal scores
        return {
            "difference": (pair.tp[0] - pair.tp[1]) / n,
            "error": pair.error(),
            "freedom": freedom,
            "p_value": pair.p("two-sided"),
        }
    # the tie-breaking order, and both ends over orders
    rank_a, rank_b = (side.ranks for side in pair.pair)
    assert candidates.draws is not None
    keys, cluster, of_clusters = candidates.draws[group][both], None, None
    if candidates.cluster is not None:
        cluster = candidates.cluster[group][both]
        keys = doors.keys_of_clusters(keys, cluster)
    ranked = groups.ListPair(rank_a, rank_b, pair.gold, keys, candidates.whole, cluster)
    r = stats.nbest_regions(*ranked[:3], n)
    table = tp_a, only, tp_b, _ = r.table(n)
    columns = {"difference": (r.tp_a - r.tp_b) / n}
    if cluster is not None:
        contrast = groups.pair_contrast(ranked, n)
        columns |= {name: contrast[name] for name in ("error", "freedom", "p_value")}
        of_clusters = columns["error"], columns["freedom"]
    else:
        spread = stats.difference_spread(*ranked[:3], ranked.size, n, only, (tp_a, tp_b))
        error = np.where(only > 0, np.sqrt(spread.variance) / n, 0.0)
        columns |= {"error": error, "freedom": freedom}
        if not how.swapped:
            columns["p_value"] = stats.fisher_test(*table, "two-sided").p_value
    cut = (lists.tied[group, sides][:, there] > 0).any(axis=0)
    tied = None
    if cut.any():
        tied = pair.ends()
    if not how.swapped:
        if tied is None:
            return columns
        if of_clusters is None:
            p_ends = np.stack([stats.fisher_test(*x, "two-sided").p_value for x in tied.tables])
        else:
            gaps = np.stack([tied.low, tied.high]) / n
            p_ends = groups.p_of_gap(gaps, *of_clusters, "two-sided")
        return columns | _end_columns(tied, n, cut, p_ends, p_ends)
    statistics = tied and tied.statistics()
    swapped = swaps.swap_tests(*ranked[:3], n, "two-sided", keys, ends=statistics, **swapping)
    drawing = {name: swapping[name] for name in ("each", "n_resamples", "seed")}
    margins = [*difference_margins(ranked, n, levels, tested=True, **drawing)]
    ends = {}
    if tied is not None:
        ends = _end_columns(tied, n, cut, *swapped.ends)
    columns["p_value"] = p_family = swapped.alone
    if not how.each:
        p_family = swapped.together
    for family, margin in zip(families, margins, strict=True):
        columns[f"p_family{family}"] = p_family
        columns[f"margin{family}"] = margin
        columns[f"drawn{family}"] = np.full(margin.shape, swapped.drawn)
    return columns | ends


_END_COLUMNS = (
    *"difference_tie_low difference_tie_high p_value_tie_low p_value_tie_high".split(),
    *("p_family_tie_low", "p_family_tie_high", *UNCUT),
)


def _end_columns(
    ends: stats.Ends, n: IntArray, cut: BoolArray, alone: FloatArray, together: FloatArray
) -> Columns:
    """Return the tests of one pair at both ends over tie orders, NaN where no tie is split.

    ``alone`` and ``together`` are p-values at both ends, (end, n): for each n, and simultaneous
    over all n.
    """
    values = np.concatenate([np.stack([ends.low, ends.high]) / n, alone, together])
    tested = np.where(cut, values, np.nan)
    return dict(zip(_END_COLUMNS, [*tested, ends.below, ends.above], strict=True))


# ---- Areas


def area_tests(task: RankingTask) -> tuple[Columns, dict[str, FloatArray]]:
    """Return the columns of areas, (group, measure, 1), and the tests of all pairs.

    The tests use each candidate's influence on the area.
    """
    how, ranking, candidates = task.how, task.ranking, task.candidates
    clusters = candidates.clusters
    placed = early.placements(ranking)
    columns: Columns = {}
    if how.kind == "roc":
        value, influence, drift = placed.value, placed.influence, None
        by = spread_of(placed, clusters, alone=True)
        limits = partial(early.newcombe_limits, value, by)
        above = value > 0.5
    else:
        areas = early.influences(ranking)
        value, influence, drift = areas.value, areas.influence, areas.drift
        own = spread_of(areas, clusters, alone=True)
        limits = partial(early.ap_limits, *early.precision_terms(areas, own))
        above = value > areas.chance
        by = spread_of(placed, clusters, warned=False, alone=True)
    for ending, level in task.levels.items():
        columns[f"ci_low{ending}"], columns[f"ci_high{ending}"] = limits(level=level)
    tests = ranks.of_influences(
        value,
        influence,
        candidates.gold[:, np.newaxis],
        candidates.present,
        score=candidates.score,
        baseline=task.baseline,
        joint=how.swapped,
        level=how.level,
        **task.drawing,
        student=how.kind == "ap",
        cluster=candidates.cluster,
        drift=drift,
    )
    _test_as_compared(tests, task)
    # in a random order, a positive ranks above a negative with probability 1/2
    p = early.p_of_half(placed.value, by)
    better = above & (placed.value > 0.5) & decisions.beats_chance(0.5 * p, value.shape[1], how)
    columns |= {"value": value, "better_than_chance": better}
    return {name: values[..., np.newaxis] for name, values in columns.items()}, tests


def _test_as_compared(tests: dict[str, FloatArray], task: RankingTask) -> None:
    """Test pairs that rank different candidates, or whose areas do not vary, as compare_area."""
    present, measures = task.candidates.present, task.candidates.measures
    kind = str(task.how.kind)
    level = task.how.level
    a, b = stats.all_pairs(len(measures))
    error = tests["error"][..., 0]
    apart = (present != present[:, :1]).any(axis=(1, 2))[:, np.newaxis] | np.isinf(error)
    for pair in np.flatnonzero(apart.any(axis=0)).tolist():
        some = apart[:, pair]
        sides = (measures[a[pair]], measures[b[pair]])
        rows = compared_pair(task.candidates, *sides, kind, level)
        here = (some, pair, 0)
        rows["error"] = np.where(np.isinf(error[:, pair]), np.inf, rows["se"])
        for name in ("difference", "error", "freedom", "p_value"):
            tests[name][here] = rows[name][some]
        for name in tests:
            if name.startswith("p_family"):
                tests[name][here] = np.minimum(1.0, a.size * tests["p_value"][here])


# ---- Rank the measures, and find all measures tied for best


@Capabilities(
    rankings="Which measure is best?",
    heads=True,
    clusters=True,
    short="measure n value ci_low ci_high rank_low rank_high letters",
    details="rank tied_for_best tied ci_low_alone ci_high_alone",
    layout="measure n",
    interval="clopper-pearson",
)
@with_roles
def measure_ranks(
    data: Data,
    n: ListSizes = None,
    *,
    kind: AreaKind | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    adjust_over: EachAdjustOver = "n",
    n_resamples: int | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Rank the measures, with confidence limits for the ranks.

    Parameters
    ----------
    data
    n : int, sequence of int or range, optional
        Sizes of the n-best lists. Measures are ranked by the precision of n-best lists.
    kind
        Quantity used to rank the measures if you do not pass ``n``: average precision or the area
        under the ROC curve.
    adjust
        Adjustment for testing all pairs. For lists, "max-t" uses random swaps as in
        ``compare(adjust="max-t")``, but not with ``ties="expected"``. For areas, "max-t" uses the
        joint t distribution of all differences. The other methods adjust the p-values from
        individual tests, and decide as :func:`compare` and :func:`compare_area` do.
    adjust_over
        Tests that form a family: the pairs at each n, or the pairs at all n. Each group in ``by``
        is always a separate family.
    n_resamples
    level : float
        Simultaneous confidence level for all values, and separately for all ranks.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (and n), best measure first (Dataset: dimension measure, in column
        order), with the columns of :func:`summary`: ``measure``, ``n``, ``value``, ``ci_low``,
        ``ci_high``, ``rank_low``, ``rank_high`` and ``letters``. ``details=True`` adds ``rank``
        (equal values share the better rank), ``tied_for_best``, ``tied`` and the unadjusted
        interval.

    Warns
    -----
    RankevalWarning
        As in :func:`summary`.

    Notes
    -----
    All true ranks lie within the limits with probability at least ``level``, because ``adjust``
    controls the family-wise error rate over the pairs. "bh" and "by" control only the false
    discovery rate, and None controls neither error rate. Intervals for n-best precision are
    those of :func:`nbest_precision`. For areas, see :func:`area`. All intervals
    are Bonferroni-adjusted for the number of measures, multiplied by the number of list sizes if
    ``adjust_over="group"``. The interval for the best measure therefore remains valid after
    selection. In simulations with twelve equally good measures, all ranks were within their limits
    in at least 94% of samples (``tests/simulations/measure_ranks.csv``).

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91,
    https://doi.org/10.1093/restud/rdad006.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.measure_ranks(100)
      measure    n  value    ci_low   ci_high  rank_low  rank_high letters
    0    good  100   0.49  0.360304  0.620673         1          1       a
    1    fair  100   0.32  0.217449  0.436831         2          2       b
    """
    how = rank_options(n, kind, adjust, n_resamples, level, over=adjust_over)
    return ranked(data, how, RANKED, roles)


def ranked(data: Data, how: RankOptions, columns: tuple[str, ...], roles: Keywords) -> Data:
    """Return the requested columns, with the best measure of each group and n first."""
    names = ["measure", "n"]
    names += [name for name in columns if how.adjust is not None or name != "p_adjusted"]
    if how.kind is None:
        names += ["tied", "tie_decides"]
    if how.baseline is None:
        names += ["letters"]
    if "difference" in columns:
        names += ["p_value"]
        if how.adjust is not None:
            names += ["difference_low_alone", "difference_high_alone"]
    names += ["ci_low_alone", "ci_high_alone"]
    table = doors.below_door(_rank_table(data, how, roles, names))
    deciding = table.attrs.pop(_DECIDING, [])
    if deciding:
        decisions.warn_of_rows(deciding, len(deciding))
    before: list[Any] = list(table.columns[: list(table.columns).index("measure")])
    if "n" in table:
        before.append("n")
    number: Any = 0
    if before:
        number = table.groupby(before, sort=False, observed=True).ngroup()
    keys = table.assign(_group=number, _lower=-table["value"])
    order = keys.sort_values(["_group", "_lower"], kind="stable").index
    result = table.loc[order].reset_index(drop=True)
    result.attrs.update(table.attrs)
    return doors.above_door(result, data)


_DECIDING = "deciding"  # the fact that lists the pairs that the order of ties decides


def _rows_of_ranks(
    candidates: Candidates, n: IntArray | None, *, how: RankOptions, chosen: Roles
) -> Answer:
    """Return one row per measure and n, and facts for the record."""
    task, table, tests, facts = _all_pair_tests(candidates, n, how, chosen)
    table |= decisions.rank_columns(table["value"], tests, how, task.baseline, task.stands)
    if how.kind is None:
        # pairs that the order of ties decides, with n and the nearest sizes that split no tie
        differs = decisions.order_decides(tests, how)
        measures = candidates.measures
        table["tie_decides"] = decisions.of_measures(differs, len(measures))
        a, b = stats.all_pairs(len(measures))
        uncut = np.stack([tests[name] for name in UNCUT], axis=-1)
        facts[_DECIDING] = [
            (measures[a[pair]], measures[b[pair]], task.sizes[k], *uncut[row, pair, k])
            for row, pair, k in np.argwhere(differs).tolist()
        ]
    numbers = range(len(candidates.measures))
    return doors.rows_of(table, candidates, "measure", numbers, {"n": task.sizes}), facts


def _test_of(how: RankOptions, chosen: Roles) -> str:
    """Return the name of the test of each pair."""
    if how.kind is not None:
        return {"roc": "delong", "ap": "linearized"}[how.kind]
    if how.swapped:
        return "swaps"
    if chosen.ties == "expected":
        return "score"
    if chosen.groups is not None:
        return "cluster"
    return "fisher"


def _rank_table(
    data: Data,
    how: RankOptions,
    roles: Keywords,
    columns: Sequence[str],
) -> Data:
    """Return the table for all groups, without n for areas."""
    over_n = how.kind is None
    chosen = Roles.of(roles)
    means = over_n and chosen.ties == "expected"
    if means:
        check_means(data, swapped=how.swapped)
    attrs = {name: getattr(how, name) for name in ("kind", "adjust", "level")}
    attrs |= {"intervals": "simultaneous", "quantity": "precision", "interval": "clopper-pearson"}
    attrs["target"] = "nbest"
    attrs["test"] = _test_of(how, chosen)
    if how.kind is not None:
        attrs |= {"quantity": "area", "interval": INTERVAL_OF[how.kind], "target": None}
    elif chosen.groups is not None:
        attrs["interval"] = "wilson"
    if how.adjust is not None:
        attrs["adjust_over"] = how.adjust_over
    return doors.tabulate(
        data,
        roles,
        partial(_rows_of_ranks, how=how, chosen=chosen),
        [name for name in columns if over_n or name != "n"],
        can(measure_ranks, any_ties=not over_n or means, heads=over_n and not means),
        n=how.n,
        attrs=attrs,
    )


def _all_pair_tests(
    candidates: Candidates, n: IntArray | None, how: RankOptions, chosen: Roles
) -> tuple[RankingTask, Columns, dict[str, FloatArray], Options]:
    """Return the values of the measures, all pairwise tests, and how they were made."""
    over_n = how.kind is None
    measures = list(candidates.measures)
    baseline, stands = None, None
    if how.baseline is not None:
        errors.check_known("baseline", [how.baseline], measures)
        baseline = measures.index(how.baseline)
    pairs = []
    if len(measures) > 1:
        pairs = doors.pair_names(measures, None, None)
    tests = doors.distinct_tests(candidates, pairs, "two-sided", how.adjust)
    if how.adjust is not None:
        stands = doors.standing_pairs(candidates, pairs)
    draws = most = draws_of_ranks(how, tests)
    sizes = np.zeros(1, dtype=np.int64)
    seed = chosen.draws
    if over_n:
        sizes = candidates.sizes(n)
        seed = chosen.swaps
    if how.n_resamples is None:
        if not over_n or sizes.size <= FEW:
            most *= MORE  # for pairs near alpha
        if over_n:
            draws = swaps.FIRST
    # the tests of all pairs, and those of the pairs with the baseline
    families = {"": doors.count_distinct(pairs, stands)}
    together = len(measures)
    if baseline is not None:
        with_baseline = ranks.with_one(len(measures), baseline)
        of_baseline = None
        if stands is not None:
            of_baseline = stands[with_baseline]
        families[stats.BASELINE] = doors.count_distinct(with_baseline.tolist(), of_baseline)
        pairs = with_baseline.tolist()
    if not how.each:
        together *= sizes.size
    facts: Options = {}
    if how.swapped:
        facts = {"n_resamples": draws, **chosen.noted_seed}
    if how.adjust is not None:
        facts["family"] = decisions.family_of(
            families.get(stats.BASELINE, tests),
            how.baseline,
            pairs=len(pairs),
            sizes=sizes.size,
            groups=candidates.n_groups,
            over=("group", how.adjust_over),
        )
    total = most * tests * len(candidates.group)
    with errors.progress_bar(total=total, what="swapping labels", unit="draws") as advance:
        task = RankingTask(
            candidates=candidates,
            ranking=candidates.rankings(),
            sizes=sizes,
            how=how,
            ties=chosen.ties,
            baseline=baseline,
            stands=stands,
            families=families,
            levels={"": stats.level_of_each(how.level, together), "_alone": how.level},
            drawing={"n_resamples": draws, "most": most, "seed": seed},
            advance=advance,
        )
        if not over_n:
            return task, *area_tests(task), facts
        lists = task.ranking.nbest(sizes, chosen.ties)
        table = list_columns(task, lists)
        tested = list_tests(task, lists)
    if how.swapped:
        facts["n_resamples"] = int(np.fmax.reduce(tested["drawn"], axis=None, initial=draws))
    return task, table, tested, facts
