"""Compute values and intervals of measures, and pairwise tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from rankeval_pd.curves.ranking_areas import spread_of
from rankeval_pd.decisions.ranks import beats_chance
from rankeval_pd.doors.pairs import keys_of_clusters
from rankeval_pd.doors.rankings import Candidates
from rankeval_pd.errors import hushed
from rankeval_pd.forms.rankings.copied_measures import count_distinct
from rankeval_pd.nbest.clustered_lists import random_tails
from rankeval_pd.nbest.comparison import FEW, MORE
from rankeval_pd.nbest.grouped_lists import pair_contrast, weights
from rankeval_pd.nbest.precision import warn_of_reversed
from rankeval_pd.nbest.precision_bands import difference_margins
from rankeval_pd.nbest.rank_criteria import RankCriterion
from rankeval_pd.nbest.tie_verdicts import (
    Ends,
    end_columns,
    ends_of,
    half_width,
    p_of_ends,
    swapped_means,
)
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions import hypergeometric
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.intervals.proportions import INTERVALS
from rankeval_pd.stats.rankings import early, measure_pairs, roc_areas, swaps
from rankeval_pd.stats.rankings.measure_pairs import BASELINE
from rankeval_pd.stats.rankings.ranking import NBest, Ranking, nbest_regions
from rankeval_pd.stats.rankings.tie_orders import TiedLists, tied_lists
from rankeval_pd.stats.significance.fisher import fisher_test


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
        return None if cluster is None else cluster[:, np.newaxis]

    @property
    def levels(self) -> dict[str, float]:
        """Return the levels of simultaneous and of individual intervals, by column ending."""
        together = self.criterion.together(self.count, self.sizes.size)
        return {"": together, "_alone": self.criterion.how.level}

    @cached_property
    def families(self) -> dict[str, int]:
        """Return the number of tests in each family, by column ending."""
        pairs = np.arange(measure_pairs.all_pairs(self.count)[0].size)
        families = {"": pairs}
        if self.baseline is not None:
            families[BASELINE] = measure_pairs.with_one(self.count, self.baseline)
        return {
            ending: count_distinct(chosen.tolist(), self.stands_of(chosen))
            for ending, chosen in families.items()
        }

    def stands_of(self, pairs: IntArray) -> IntArray | None:
        """Return, for the chosen pairs, the first pair with the same two rankings."""
        return None if self.stands is None else self.stands[pairs]

    @property
    def most(self) -> int:
        """Return the largest number of draws for pairs near alpha."""
        grows = self.criterion.n_resamples is None
        if self.criterion.kind is None:
            grows &= self.sizes.size <= FEW
        return self.draws * MORE if grows else self.draws


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
    above = np.exp(hypergeometric.tails(np.floor(tp), total, positive, n).ge)
    below = np.exp(hypergeometric.tails(np.floor(n - tp), total, total - positive, n).ge)
    return above, below


def list_tests(task: RankingTask) -> dict[str, FloatArray]:
    """Return the tests of all pairs of n-best lists, also for both ends over tie orders.

    The columns are those of :func:`measure_pairs.empty_tests`, (group, pair, n), and those of
    :func:`end_columns`.
    """
    exists = task.lists.exists
    a, b = measure_pairs.all_pairs(task.count)
    families = [*task.families] if task.criterion.how.swapped else []
    ends = end_columns(None, task.sizes, np.zeros(task.sizes.shape, dtype=bool))
    columns = measure_pairs.empty_tests((len(exists), a.size, task.sizes.size), families, [*ends])
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
    for family, margin in zip(families, margins, strict=True):
        columns[f"p_family{family}"] = swapped.alone if each else swapped.together
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
    whole = candidates.whole
    total = np.array(gold.size if whole is None else whole.total)
    spread = bands.difference_spread(rank_a, rank_b, gold, total, n, only, tp_only)
    columns: dict[str, AnyArray] = {
        "difference": (regions.tp_a - regions.tp_b) / n,
        "error": np.where(only > 0, np.sqrt(spread.variance) / n, 0.0),
        "freedom": np.full(n.shape, np.inf),
    }
    assert candidates.draws is not None
    keys, cluster, of_clusters = candidates.draws[group][both], None, None
    if candidates.cluster is not None:
        cluster = candidates.cluster[group][both]
        keys = keys_of_clusters(keys, cluster)
        error, freedom, p, *_ = pair_contrast(rank_a, rank_b, gold, cluster, n, whole)
        columns |= {"error": error, "freedom": freedom, "p_value": p}
        of_clusters = error, freedom
    elif not how.swapped:
        columns["p_value"] = fisher_test(tp_only[0], only, tp_only[1], only, "two-sided").p_value
    ends: Ends | None = ends_of(pair) if cut.any() else None
    if not how.swapped:
        p_ends = None if ends is None else p_of_ends(ends, n, of_clusters)
        return columns | end_columns(ends, n, cut, p_ends, p_ends)
    swapped = swaps.decided_swap_tests(
        rank_a,
        rank_b,
        gold,
        n,
        "two-sided",
        keys,
        ends=None if ends is None else ends.statistics(),
        **_swap_options(task, [*families.values()]),
    )
    margins = difference_margins(
        rank_a,
        rank_b,
        gold,
        n,
        _levels_of(how.level, families),
        keys,
        whole,
        cluster,
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
    placed = roc_areas.placements(ranking)
    columns: dict[str, AnyArray] = {}
    if task.criterion.kind == "roc":
        value, influence, drift = placed.area, placed.placement, None
        by = spread_of(influence, placed.gold, placed.present, task.clusters, alone=True)
        limits = partial(roc_areas.newcombe_limits, value, by.spread, by.positive, by.negative)
        above = value > 0.5
    else:
        areas = early.influences(ranking)
        value, influence, drift = areas.value, areas.influence, areas.drift
        own = spread_of(influence, areas.gold, areas.present, task.clusters, drift, alone=True)
        limits = partial(early.ap_logit_limits, areas, own.error, own.freedom, own.positive)
        above = value > early.chance_average_precision(ranking)
        by = spread_of(
            placed.placement, placed.gold, placed.present, task.clusters, warns=False, alone=True
        )
    for ending, level in task.levels.items():
        columns[f"ci_low{ending}"], columns[f"ci_high{ending}"] = limits(level)
    tests = measure_pairs.of_influences(
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
    p = roc_areas.p_of_half(placed.area, by.spread, by.positive, by.negative, "newcombe")
    better = above & (placed.area > 0.5) & beats_chance(0.5 * p, task.count, how)
    columns |= {"value": value, "better_than_chance": better}
    return {name: values[..., np.newaxis] for name, values in columns.items()}, tests
