"""Rank several measures, with letters for those that do not differ."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from rankeval_pd.capabilities import Capabilities, can, with_roles
from rankeval_pd.curves.areas import spread_of
from rankeval_pd.decisions.families import family_of
from rankeval_pd.decisions.ranks import (
    RankOptions,
    adjusted_tests,
    beats_chance,
    of_measures,
    order_decides,
    rank_columns,
)
from rankeval_pd.decisions.verdicts import PAIR, SWAPPED, UNCUT, warn_of_rows
from rankeval_pd.doors.candidates import Data, above_door, below_door, count_distinct
from rankeval_pd.doors.columns import Sizes, check_n
from rankeval_pd.doors.rankings import (
    Answer,
    Candidates,
    RankingQuestion,
    distinct_tests,
    keys_of_clusters,
    pair_names,
    rows_of,
    standing_pairs,
    tabulate,
    with_pairs,
)
from rankeval_pd.errors import check_choice, check_share, hushed, unknown_name
from rankeval_pd.lists.comparison import FEW, MORE
from rankeval_pd.lists.groups import ListPair, pair_contrast, random_tails, weights
from rankeval_pd.lists.precision import difference_margins, warn_of_reversed
from rankeval_pd.lists.regions import (
    Ends,
    check_means,
    end_columns,
    ends_of,
    half_width,
    p_of_ends,
    swapped_means,
)
from rankeval_pd.memory import check_draws, check_needed
from rankeval_pd.progress import progress_bar
from rankeval_pd.roles import (
    AreaKind,
    EachAdjustOver,
    FamilyAdjustment,
    ListSizes,
    RankingRoles,
    Roles,
)
from rankeval_pd.stats import areas as early
from rankeval_pd.stats import bands, distributions, ranks, swaps
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.families import ADJUSTMENTS, level_of_each
from rankeval_pd.stats.proportions import INTERVALS
from rankeval_pd.stats.ranking import NBest, Ranking, nbest_regions
from rankeval_pd.stats.ranks import BASELINE, all_pairs
from rankeval_pd.stats.ties import TiedLists, tied_lists
from rankeval_pd.stats.two_by_two import fisher_test

# -------------------------------------------------------------------------------------------------
# Define criteria for ranking measures, with tests and columns.

RANKED = tuple("value ci_low ci_high rank rank_low rank_high tied_for_best".split())
VERDICT = tuple(
    "value ci_low ci_high rank_low rank_high difference difference_low difference_high "
    "p_adjusted tied_for_best better_than_chance".split()
)
PAIRS = ("value_a", "value_b", "difference", "p_value", "p_adjusted")
KINDS = ("ap", "roc")
OVER_EACH = ("n", "group")


class RankCriterion(NamedTuple):
    """Store the criterion that ranks measures, and the tests of differences."""

    n: Sizes
    kind: str | None
    how: RankOptions
    n_resamples: int | None
    baseline: Hashable

    @classmethod
    def of(
        cls,
        n: Any,
        kind: str | None,
        adjust: str | None,
        n_resamples: int | None,
        level: float,
        baseline: Hashable,
        *,
        over: str = "n",
    ) -> RankCriterion:
        """Check and return the options."""
        if (n is None) == (kind is None):
            raise ValueError(
                f"n={n!r}, kind={kind!r}: pass either list sizes, n=..., or a criterion, kind='ap'"
                " (average precision) or kind='roc' (area under the ROC curve)."
            )
        check_choice("kind", kind, (None, *KINDS))
        check_choice("adjust", adjust, (None, *SWAPPED, *ADJUSTMENTS))
        check_choice("adjust_over", over, OVER_EACH)
        draws = None
        if n_resamples is not None:
            draws = check_draws("n_resamples", n_resamples)
        how = RankOptions(adjust, over == "n", kind is not None, check_share("level", level))
        return cls(check_n(n), kind, how, draws, baseline)

    def noted(self) -> dict[str, Any]:
        """Return attrs that describe the ranks for readers and plots."""
        noted: dict[str, Any] = {
            "kind": self.kind,
            "adjust": self.how.adjust,
            "level": self.how.level,
            "intervals": "simultaneous",
        }
        if self.how.adjust is not None:
            noted["adjust_over"] = self.over
        return noted

    @property
    def over(self) -> str:
        """Return the tests that form a family: "n" or "group"."""
        if self.how.each:
            return "n"
        return "group"

    def together(self, measures: int, sizes: int) -> float:
        """Return the Bonferroni level for each interval in a family."""
        if self.how.each:
            sizes = 1
        return level_of_each(self.how.level, measures * sizes)

    def draws(self, pairs: int) -> int:
        """Return the number of draws needed for significant pairs."""
        alpha, swapped = 1.0 - self.how.level, self.how.swapped
        needed = swaps.least_swaps(pairs, alpha)
        if self.n_resamples is None:
            if self.kind:
                return 9_999
            most = swaps.enough_swaps(pairs, alpha)
            if swapped:
                check_needed(most, f"level={self.how.level!r}")
            return most
        if self.kind is None and swapped and self.n_resamples < needed:
            raise ValueError(
                f"n_resamples={self.n_resamples} cannot reach level={self.how.level:g}: the"
                f" smallest adjusted p-value for {pairs} pairs is {pairs}/(n_resamples + 1). Pass"
                f" n_resamples={needed} or more, or None for the required number."
            )
        return self.n_resamples

    def columns(self, wanted: tuple[str, ...]) -> tuple[str, ...]:
        """Return the fixed and optional column names for this call."""
        adjusted = self.how.adjust is not None
        columns = [name for name in wanted if adjusted or name != "p_adjusted"]
        if self.kind is None:
            columns += ["tied", "tie_decides"]
        if self.baseline is None:
            columns += ["letters"]
        if "difference" in wanted:
            columns += ["p_value"]
            if adjusted:
                columns += ["difference_low_alone", "difference_high_alone"]
        if self.how.swapped:
            columns += ["undecided"]
        return (*columns, "ci_low_alone", "ci_high_alone")


# -------------------------------------------------------------------------------------------------
# Compute values and intervals of measures, and pairwise tests.


@dataclass(frozen=True, eq=False, kw_only=True)
class RankingTask:
    """The measures to rank, and how their pairs are tested."""

    candidates: Candidates
    sizes: IntArray  #: list sizes; a single placeholder for areas
    criterion: RankCriterion
    ties: str
    seed: int
    draws: int  #: number of draws for each pair
    baseline: int | None = None
    stands: IntArray | None = None  #: (pair): see :func:`standing_pairs`
    advance: Callable[[int], object] = lambda _: None

    @property
    def count(self) -> int:
        """Return the number of measures."""
        return len(self.candidates.measures)

    @cached_property
    def ranking(self) -> Ranking:
        """Return the rankings of all measures: (group, measure)."""
        return self.candidates.rankings()

    @cached_property
    def lists(self) -> NBest:
        """Return the n-best lists: (group, measure, n)."""
        return self.ranking.nbest(self.sizes, self.ties)

    @property
    def clusters(self) -> IntArray | None:
        """Return the cluster of each candidate, the same for all measures."""
        cluster = self.candidates.cluster
        if cluster is None:
            return None
        return cluster[:, np.newaxis]

    @property
    def levels(self) -> dict[str, float]:
        """Return the levels of simultaneous and of individual intervals, by column ending."""
        together = self.criterion.together(self.count, self.sizes.size)
        return {"": together, "_alone": self.criterion.how.level}

    @cached_property
    def families(self) -> dict[str, int]:
        """Return the number of tests in each family, by column ending."""
        pairs = np.arange(ranks.all_pairs(self.count)[0].size)
        families = {"": pairs}
        if self.baseline is not None:
            families[BASELINE] = ranks.with_one(self.count, self.baseline)
        return {
            ending: count_distinct(chosen.tolist(), self.stands_of(chosen))
            for ending, chosen in families.items()
        }

    def stands_of(self, pairs: IntArray) -> IntArray | None:
        """Return, for the chosen pairs, the first pair with the same two rankings."""
        if self.stands is None:
            return None
        return self.stands[pairs]

    @property
    def most(self) -> int:
        """Return the largest number of draws for pairs near alpha."""
        grows = self.criterion.n_resamples is None
        if self.criterion.kind is None:
            grows &= self.sizes.size <= FEW
        if grows:
            return self.draws * MORE
        return self.draws


# ------------------------------------------------------------------------------------ n-best lists


def list_columns(task: RankingTask) -> dict[str, AnyArray]:
    """Return precision, its intervals and tests against chance: (group, measure, n)."""
    lists, exists = task.lists, task.lists.exists
    columns: dict[str, AnyArray] = {
        "value": np.where(exists, lists.tp / task.sizes, np.nan),
        "tied": lists.tied,
        "exists": exists,
    }
    tp, n = np.where(exists, lists.tp, 0), np.where(exists, task.sizes, 1)
    for ending, level in task.levels.items():
        weight: FloatArray | float = 1.0
        limits = INTERVALS["clopper-pearson"]
        if task.clusters is not None:
            limits = INTERVALS["wilson"]
            weigh = partial(weights, task.ranking, task.clusters, task.sizes, exists)
            if ending:
                weight = weigh(target="region", level=level)[0]
            else:  # the other level warns about few groups
                with hushed("groups"):
                    weight = weigh(target="region", level=level)[0]
        ends = limits(tp * weight, n * weight, level)
        columns[f"ci_low{ending}"], columns[f"ci_high{ending}"] = ends
    tests = task.count * task.sizes.size
    more, fewer = (exists & beats_chance(p, tests, task.criterion.how) for p in _chance_tails(task))
    warn_of_reversed(fewer[exists])
    return {**columns, "better_than_chance": more}


def _chance_tails(task: RankingTask) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities of at least and of at most as many true positives by chance."""
    exists = task.lists.exists
    if task.clusters is not None:
        return random_tails(task.ranking, task.clusters, task.sizes, exists)
    size = task.ranking.size
    tp, n = (np.where(exists, x, 0).astype(float) for x in (task.lists.tp, task.sizes))
    total = np.maximum(size.total, 1).astype(float)[..., np.newaxis]
    positive = size.positive.astype(float)[..., np.newaxis]
    above = np.exp(distributions.tails(np.floor(tp), total, positive, n).ge)
    below = np.exp(distributions.tails(np.floor(n - tp), total, total - positive, n).ge)
    return above, below


def list_tests(task: RankingTask) -> dict[str, FloatArray]:
    """Return the tests of all pairs of n-best lists, also for both ends over tie orders.

    The result has the columns of ``ranks.empty_tests``, (group, pair, n), and of
    :func:`end_columns`.
    """
    exists = task.lists.exists
    a, b = ranks.all_pairs(task.count)
    families: list[str] = []
    if task.criterion.how.swapped:
        families = [*task.families]
    ends = end_columns(None, task.sizes, np.zeros(task.sizes.shape, dtype=bool))
    columns = ranks.empty_tests((len(exists), a.size, task.sizes.size), families, [*ends])
    for group in range(len(exists)):
        for pair, sides in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            there = exists[group, sides[0]] & exists[group, sides[1]]
            if there.any():
                for name, values in _pair_columns(task, group, sides, there).items():
                    columns[name][group, pair, there] = values
    return columns


def _pair_columns(
    task: RankingTask, group: int, sides: tuple[int, int], there: BoolArray
) -> dict[str, AnyArray]:
    """Return the test of one pair in one group at the sizes of existing lists: (n)."""
    both = np.asarray(task.candidates.present[group, list(sides)].all(axis=0))
    pair = tied_lists(task.ranking, task.ranking, both, (group,), sides, task.sizes[there])
    families = {
        ending: tests
        for ending, tests in task.families.items()
        if not ending or task.baseline in sides
    }
    if task.ties == "expected":
        return _tests_of_means(task, pair, families)
    cut = np.asarray((task.lists.tied[group, list(sides)][:, there] > 0).any(axis=0))
    return _tests_of_lists(task, pair, group, both, cut, families)


def _swap_options(task: RankingTask, tests: Sequence[int]) -> dict[str, Any]:
    """Return the options for enough swaps to resolve p-values near alpha."""
    how = task.criterion.how
    return {
        "tests": tests,
        "alpha": 1.0 - how.level,
        "each": how.each,
        "most": task.most,
        "advance": task.advance,
        "n_resamples": task.draws,
        "seed": task.seed,
    }


def _tests_of_means(
    task: RankingTask, pair: TiedLists, families: dict[str, int]
) -> dict[str, AnyArray]:
    """Return the test of means over all orders of equal scores."""
    how, error = task.criterion.how, pair.error()
    columns: dict[str, AnyArray] = {
        "difference": (pair.tp[0] - pair.tp[1]) / pair.n,
        "error": error,
        "freedom": np.full(error.shape, np.inf),
    }
    if not how.swapped:
        return {**columns, "p_value": pair.p("two-sided")}
    swapped = swapped_means(pair, "two-sided", **_swap_options(task, [*families.values()]))
    margins = [
        half_width(swapped, error, level, each=how.each)
        for level in _levels_of(how.level, families)
    ]
    return columns | _family_columns(swapped, margins, families, each=how.each)


def _levels_of(level: float, families: dict[str, int]) -> list[float]:
    """Return the level of each interval in a family (Bonferroni)."""
    return [1.0 - (1.0 - level) / tests for tests in families.values()]


def _family_columns(
    swapped: swaps.SwapTests,
    margins: Sequence[FloatArray],
    families: dict[str, int],
    *,
    each: bool,
) -> dict[str, AnyArray]:
    """Return the columns of tests with swaps."""
    columns: dict[str, AnyArray] = {"p_value": swapped.alone}
    p_family = swapped.together
    if each:
        p_family = swapped.alone
    for family, margin in zip(families, margins, strict=True):
        columns[f"p_family{family}"] = p_family
        columns[f"margin{family}"] = margin
        columns[f"drawn{family}"] = np.full(margin.shape, swapped.drawn)
    return columns


def _tests_of_lists(
    task: RankingTask,
    pair: TiedLists,
    group: int,
    both: BoolArray,
    cut: BoolArray,
    families: dict[str, int],
) -> dict[str, AnyArray]:
    """Return the test of two lists in the tie-breaking order, and at both ends over orders."""
    candidates, how, n, gold = task.candidates, task.criterion.how, pair.n, pair.gold
    rank_a, rank_b = (side.ranks for side in pair.pair)
    regions = nbest_regions(rank_a, rank_b, gold, n)
    only = n - regions.overlap
    tp_only = regions.tp_a - regions.tp_overlap, regions.tp_b - regions.tp_overlap
    assert candidates.draws is not None
    keys, cluster = candidates.draws[group][both], None
    if candidates.cluster is not None:
        cluster = candidates.cluster[group][both]
        keys = keys_of_clusters(keys, cluster)
    ranked = ListPair(rank_a, rank_b, gold, keys, candidates.whole, cluster)
    total = np.array(ranked.total)
    spread = bands.difference_spread(rank_a, rank_b, gold, total, n, only, tp_only)
    columns: dict[str, AnyArray] = {
        "difference": (regions.tp_a - regions.tp_b) / n,
        "error": np.where(only > 0, np.sqrt(spread.variance) / n, 0.0),
        "freedom": np.full(n.shape, np.inf),
    }
    of_clusters = None
    if cluster is not None:
        contrast = pair_contrast(ranked, n)
        columns |= {name: contrast[name] for name in ("error", "freedom", "p_value")}
        of_clusters = columns["error"], columns["freedom"]
    elif not how.swapped:
        columns["p_value"] = fisher_test(tp_only[0], only, tp_only[1], only, "two-sided").p_value
    ends: Ends | None = None
    if cut.any():
        ends = ends_of(pair)
    if not how.swapped:
        p_ends = ends and p_of_ends(ends, n, of_clusters)
        return columns | end_columns(ends, n, cut, p_ends, p_ends)
    swapped = swaps.decided_swap_tests(
        *ranked[:3],
        n,
        "two-sided",
        keys,
        ends=ends and ends.statistics(),
        **_swap_options(task, [*families.values()]),
    )
    margins = difference_margins(
        ranked,
        n,
        _levels_of(how.level, families),
        each=how.each,
        n_resamples=task.draws,
        seed=task.seed,
    )
    columns |= _family_columns(swapped, [*margins], families, each=how.each)
    return columns | end_columns(ends, n, cut, *swapped.ends)


# ------------------------------------------------------------------------------------------- Areas


def area_tests(task: RankingTask) -> tuple[dict[str, AnyArray], dict[str, FloatArray]]:
    """Return the columns of areas, (group, measure, 1), and the tests of all pairs.

    The tests use each candidate's influence on the area.
    """
    how, ranking = task.criterion.how, task.ranking
    placed = early.placements(ranking)
    columns: dict[str, AnyArray] = {}
    if task.criterion.kind == "roc":
        value, influence, drift = placed.value, placed.influence, None
        by = spread_of(placed, task.clusters, alone=True)
        limits = partial(early.newcombe_limits, value, by)
        above = value > 0.5
    else:
        areas = early.influences(ranking)
        value, influence, drift = areas.value, areas.influence, areas.drift
        own = spread_of(areas, task.clusters, alone=True)
        given = value, areas.corrected, own.error, own.least_freedom, own.positive
        limits = partial(early.ap_limits, *given)
        above = value > areas.chance
        by = spread_of(placed, task.clusters, warned="", alone=True)
    for ending, level in task.levels.items():
        columns[f"ci_low{ending}"], columns[f"ci_high{ending}"] = limits(level)
    tests = ranks.of_influences(
        value,
        influence,
        task.candidates.gold[:, np.newaxis],
        task.candidates.present,
        score=task.candidates.score,
        baseline=task.baseline,
        joint=how.swapped,
        level=how.level,
        n_resamples=task.draws,
        most=task.most,
        seed=task.seed,
        student=task.criterion.kind == "ap",
        cluster=task.candidates.cluster,
        drift=drift,
    )
    # in a random order, a positive ranks above a negative with probability 1/2
    p = early.p_of_half(placed.value, by)
    better = above & (placed.value > 0.5) & beats_chance(0.5 * p, task.count, how)
    columns |= {"value": value, "better_than_chance": better}
    return {name: values[..., np.newaxis] for name, values in columns.items()}, tests


# -------------------------------------------------------------------------------------------------
# Rank the measures, and find all measures tied for best.


@Capabilities(
    rankings="Which measure is best?",
    lists=True,
    heads=True,
    clusters=True,
    short="measure n value ci_low ci_high rank_low rank_high letters",
    layout="measure n",
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
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    n : int, sequence of int or range, optional
        Sizes of the n-best lists. Measures are ranked by the precision of n-best lists.
    kind : {"ap", "roc"}, optional
        Quantity used to rank the measures if you do not pass ``n``: average precision or the area
        under the ROC curve.
    adjust : {"max-t", "max-t-stepdown", "holm", "bonferroni", "bh", "by", None}
        Adjustment for testing all pairs. For lists, "max-t" uses random swaps as in
        ``compare(adjust="max-t")``. For areas, "max-t" uses the joint t distribution of all
        differences. The other methods adjust the p-values from individual tests.
    adjust_over : {"n", "group"}
        Tests that form a family: the pairs at each n, or the pairs at all n. Each group in ``by``
        is always a separate family.
    n_resamples : int, optional
        Number of swaps, or of draws from the joint distribution. By default, the number depends on
        the number of pairs and the level, and is at least 999 swaps or 9,999 draws. As in
        :func:`compare`, pairs near the level get up to 64 times as many swaps or draws.
    level : float
        Simultaneous confidence level for all values, and separately for all ranks.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure, best measure first (Dataset: dimension measure, in column order), or
        one row per measure and n. The columns are ``measure``, ``n``, ``value``, ``ci_low``,
        ``ci_high``; ``rank``: 1 for the best measure (equal values share the better rank);
        ``rank_low``: one plus the number of significantly better measures; ``rank_high``: the
        number of measures minus the number of significantly worse measures; ``tied_for_best``: True
        if no other measure is significantly better; ``tied``: for n-best lists, excluded candidates
        tied with the last candidate; ``letters``: two measures share a letter unless the measures
        differ significantly; ``undecided``: whether more draws could change a decision about the
        measure; ``ci_low_alone``, ``ci_high_alone``: the unadjusted interval.

    Warns
    -----
    RankevalWarning
        If lists contain significantly fewer true positives than random lists (you may need
        ``lower_is_better``), or if ``kind`` is set and a class has fewer than 10 candidates.

    Notes
    -----
    All true ranks lie within the limits with probability at least ``level``, because ``adjust``
    controls the family-wise error rate over the pairs. "bh" and "by" control only the false
    discovery rate, and None controls neither error rate. Intervals for n-best precision are
    Clopper-Pearson intervals for the acceptance region. For areas, see :func:`area`. All intervals
    are Bonferroni-adjusted for the number of measures, multiplied by the number of list sizes if
    ``adjust_over="group"``. The interval for the best measure therefore remains valid after
    selection. In simulations with twelve equally good measures, all ranks were within their limits
    in at least 94% of samples (``tests/reference/measure_ranks.csv``).

    Ranking by lists takes as long as ``compare(adjust="max-t")`` for all pairs: six seconds for 12
    measures, 3 list sizes, 5,000 candidates and 9,999 swaps. Areas cost O(N log N) per measure.

    References
    ----------
    M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm (2024), Inference for ranks with
    applications to mobility across neighbourhoods and academic achievement across countries.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.measure_ranks(100)
      measure    n  value    ci_low   ci_high  rank_low  rank_high letters
    0    good  100   0.49  0.375184  0.605582         1          1       a
    1    fair  100   0.32  0.218978  0.434852         2          2       b
    """
    criterion = RankCriterion.of(n, kind, adjust, n_resamples, level, None, over=adjust_over)
    return best_first(ranked(data, criterion, RANKED, roles))


def ranked(
    data: Data, criterion: RankCriterion, columns: tuple[str, ...], roles: Mapping[str, Any]
) -> Data:
    """Return the requested columns in the order of the measures."""
    question = partial(_rows_of_ranks, criterion=criterion, chosen=Roles.of(roles))
    columns = ("measure", *criterion.columns(columns))
    result = _rank_table(data, criterion, roles, question, columns)
    deciding = result.attrs.pop(_DECIDING, [])
    if deciding:
        warn_of_rows(deciding, len(deciding))
    return result


_DECIDING = "deciding"  # the fact that lists the pairs that the order of ties decides


def _rows_of_ranks(
    candidates: Candidates, n: IntArray | None, *, criterion: RankCriterion, chosen: Roles
) -> Answer:
    """Return one row per measure and n, and facts for the record."""
    task, table, tests, facts = _all_pair_tests(candidates, n, criterion, chosen)
    table |= rank_columns(table["value"], tests, criterion.how, task.baseline, task.stands)
    if criterion.kind is None:
        differs = order_decides(tests, criterion.how)
        table["tie_decides"] = of_measures(differs, task.count)
        facts[_DECIDING] = _deciding_rows(task, tests, differs)
    along = {"n": task.sizes}
    return rows_of(table, candidates, "measure", range(task.count), along), facts


def _deciding_rows(
    task: RankingTask, tests: Mapping[str, FloatArray], differs: BoolArray
) -> list[tuple[Any, ...]]:
    """Return the pairs that the order of ties decides, with n and the nearest sizes without one."""
    names, sides = task.candidates.measures, all_pairs(task.count)
    return [
        (
            *(names[side[pair]] for side in sides),
            task.sizes[place],
            *(tests[name][group, pair, place] for name in UNCUT),
        )
        for group, pair, place in np.argwhere(differs).tolist()
    ]


def pairs_tested(data: Data, criterion: RankCriterion, roles: Mapping[str, Any]) -> Data:
    """Return the pairwise tests for the ranks, with one row per pair and n."""
    columns: tuple[str, ...] = ("measure_a", "measure_b", *PAIRS)
    if criterion.how.adjust is None:
        columns = columns[:-1]
    question = partial(_rows_of_tests, criterion=criterion, chosen=Roles.of(roles))
    return _rank_table(data, criterion, roles, question, columns)


def _rows_of_tests(
    candidates: Candidates, n: IntArray | None, *, criterion: RankCriterion, chosen: Roles
) -> Answer:
    """Return one row per pair and n, and facts for the record."""
    pairs = pair_names(candidates.measures, None, None)
    task, table, tests, facts = _all_pair_tests(candidates, n, criterion, chosen)
    a, b = all_pairs(task.count)
    columns: dict[str, AnyArray] = {
        "value_a": table["value"][:, a],
        "value_b": table["value"][:, b],
        "difference": tests["difference"],
        "p_value": tests["p_value"],
        "p_adjusted": adjusted_tests(tests, criterion.how, stands=task.stands).p_adjusted,
    }
    if "exists" in table:
        columns["exists"] = table["exists"][:, a] & table["exists"][:, b]
    rows = rows_of(columns, candidates, PAIR, range(len(pairs)), {"n": task.sizes})
    return with_pairs(rows, candidates, pairs, "two-sided"), facts


def _rank_table(
    data: Data,
    criterion: RankCriterion,
    roles: Mapping[str, Any],
    question: RankingQuestion,
    columns: tuple[str, ...],
) -> Data:
    """Return the table for all groups, with n behind the names of measures for lists."""
    over_n = criterion.kind is None
    means = over_n and Roles.of(roles).ties == "expected"
    if means:
        check_means(data)
    if over_n:
        columns = _with_n(columns)
    return tabulate(
        data,
        roles,
        question,
        columns,
        can(
            measure_ranks,
            lists=over_n,
            any_ties=not over_n or means,
            heads=over_n and not means,
        ),
        n=criterion.n,
        attrs=criterion.noted(),
    )


def _with_n(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Add n behind the names of one measure or of a pair."""
    first = 2
    if columns[0] == "measure":
        first = 1
    return (*columns[:first], "n", *columns[first:])


def _all_pair_tests(
    candidates: Candidates, n: IntArray | None, criterion: RankCriterion, chosen: Roles
) -> tuple[RankingTask, dict[str, AnyArray], dict[str, FloatArray], dict[str, Any]]:
    """Return the values of the measures, all pairwise tests, and how they were made."""
    how, over_n, measures = criterion.how, criterion.kind is None, list(candidates.measures)
    baseline, stands = None, None
    if criterion.baseline is not None:
        if criterion.baseline not in measures:
            raise unknown_name("baseline", criterion.baseline, measures)
        baseline = measures.index(criterion.baseline)
    pairs = []
    if len(measures) > 1:
        pairs = pair_names(measures, None, None)
    tests = distinct_tests(candidates, pairs, "two-sided", how.adjust)
    if how.adjust is not None:
        stands = standing_pairs(candidates, pairs)
    draws = criterion.draws(tests)
    sizes, seed = np.zeros(1, dtype=np.int64), chosen.draws
    if over_n:
        sizes, seed = candidates.sizes(n), chosen.swaps
    facts: dict[str, Any] = {}
    if how.swapped:
        facts = {"n_resamples": draws, **chosen.noted_seed}
    total = draws * tests * len(candidates.group)
    with progress_bar(total=total, what="swapping labels", unit="draws") as advance:
        task = RankingTask(
            candidates=candidates,
            sizes=sizes,
            criterion=criterion,
            ties=chosen.ties,
            seed=seed,
            draws=draws,
            baseline=baseline,
            stands=stands,
            advance=advance,
        )
        if how.adjust is not None:
            facts["family"] = _family_of_ranks(task, tests, criterion)
        if not over_n:
            return task, *area_tests(task), facts
        table, tested = list_columns(task), list_tests(task)
    if how.swapped:
        facts["n_resamples"] = int(np.fmax.reduce(tested["drawn"], axis=None, initial=draws))
    return task, table, tested, facts


def _family_of_ranks(task: RankingTask, tests: int, criterion: RankCriterion) -> str:
    """Describe the tests that are adjusted together."""
    if task.baseline is not None:
        tests = task.families[BASELINE]
    return family_of(
        tests,
        criterion.baseline,
        sizes=task.sizes.size,
        groups=task.candidates.n_groups,
        over=("group", criterion.over),
    )


def best_first(data: Data) -> Data:
    """Sort the rows in each group and n by value."""
    table = below_door(data)
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
    return above_door(result, data)
