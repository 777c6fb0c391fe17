"""Compute values, intervals and pairwise tests for measures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.curves.ranking_areas import spread_of
from rankeval_pd.errors import hushed
from rankeval_pd.forms.rankings.copied_measures import count_distinct
from rankeval_pd.forms.rankings.kernel_calls import keys_of_clusters
from rankeval_pd.nbest.clustered_lists import random_tails
from rankeval_pd.nbest.comparison import FEW, MORE
from rankeval_pd.nbest.grouped_lists import pair_contrast, weights
from rankeval_pd.nbest.precision import warn_of_reversed
from rankeval_pd.nbest.precision_bands import difference_margins
from rankeval_pd.nbest.rank_criteria import RankCriterion
from rankeval_pd.nbest.tie_verdicts import PairEnds, ends_of, half_width, swapped_means
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions import hypergeometric
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.intervals.proportions import INTERVALS, Limits
from rankeval_pd.stats.rankings import early, measure_pairs, roc_areas, swaps
from rankeval_pd.stats.rankings.measure_pairs import PairTests
from rankeval_pd.stats.rankings.ranking import Ranking, Whole, nbest_regions
from rankeval_pd.stats.rankings.swap_draws import Keys
from rankeval_pd.stats.rankings.tie_orders import tied_lists
from rankeval_pd.stats.significance.adjust import rejects
from rankeval_pd.stats.significance.fisher import fisher_test


class Found(NamedTuple):
    """Store values of measures, pairwise tests, and tests against chance."""

    value: FloatArray  #: (..., measure, n)
    limits: Limits  #: simultaneous limits for the values of all measures
    alone: Limits
    better: BoolArray
    tied: IntArray
    exists: BoolArray
    tested: PairTests
    decides: BoolArray  #: whether the order of equal scores changes a decision


def of_lists(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    keys: Keys,
    cluster: IntArray | None = None,
    *,
    asked: RankCriterion,
    baseline: int | None,
    stands: IntArray | None,
    sizes: IntArray,
    ties: str,
    n_resamples: int,
    seed: int,
    advance: Callable[[int], object],
    whole: Whole | None,
    rows: list[Any] | None = None,
) -> Found:
    """Return values for n-best lists, and swap tests for all pairs."""
    ranking = Ranking.of(score, gold[..., np.newaxis, :], present, whole=whole)
    lists = ranking.nbest(sizes, ties)
    batch, count = score.shape[:-2], score.shape[-2]
    gold = np.broadcast_to(gold, (*batch, gold.shape[-1]))
    keys = np.broadcast_to(keys, (*batch, keys.shape[-1]))
    exists = lists.exists
    levels = asked.together(count, sizes.size), asked.how.level
    by: list[FloatArray | float] = [1.0, 1.0]
    if cluster is not None:
        cluster = np.broadcast_to(cluster, (*batch, cluster.shape[-1]))
        weigh = partial(
            weights, ranking, cluster[..., np.newaxis, :], sizes, exists, target="region"
        )
        with hushed("groups"):
            by[0] = weigh(level=levels[0])[0]
        by[1] = weigh(level=levels[1])[0]
    counts = np.where(exists, lists.tp, 0), np.where(exists, sizes, 1)
    limits, alone = (
        INTERVALS["clopper-pearson" if cluster is None else "wilson"](
            counts[0] * weight, counts[1] * weight, level
        )
        for weight, level in zip(by, levels, strict=True)
    )
    of_pairs = measure_pairs.pairs(count)
    families = [count_distinct(of_pairs, stands)]
    if baseline is not None:
        shown = measure_pairs.with_one(count, baseline)
        families.append(count_distinct(shown, None if stands is None else stands[shown]))
    result = PairTests.empty(batch, count, sizes.size, len(families) if asked.swapped else 0)
    most = n_resamples
    if asked.n_resamples is None and sizes.size <= FEW:
        most *= MORE
    drawing: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed}
    deciding: dict[str, Any] = {
        "alpha": 1.0 - asked.how.level, "each": asked.how.each, "most": most, "advance": advance
    }  # fmt: skip
    far = PairEnds.of(result)
    for row in np.ndindex(batch):
        for number, (a, b) in enumerate(of_pairs):
            both = present[row][a] & present[row][b]
            there = exists[row][a] & exists[row][b]
            if not there.any():
                continue
            n, at = sizes[there], (*row, number, there)
            ours = families if baseline in (a, b) else families[:1]
            edges = [1.0 - (1.0 - asked.how.level) / tests for tests in ours]
            pair = tied_lists(ranking, ranking, both, row, (a, b), n)
            cut = np.asarray((lists.tied[row][[a, b]][:, there] > 0).any(axis=0))
            ends = ends_of(pair) if cut.any() and ties != "expected" else None
            result.freedom[at] = np.inf
            if ties == "expected":
                result.difference[at] = (pair.tp[0] - pair.tp[1]) / n
                result.error[at] = error = pair.error()
                if not asked.swapped:
                    result.p_value[at] = pair.p("two-sided")
                    continue
                found = swapped_means(pair, "two-sided", tests=ours, **deciding, **drawing)
                margins = [half_width(found, error, x, each=asked.how.each) for x in edges]
            else:
                rank_a, rank_b = (x.ranks for x in pair.pair)
                true, own, together, p = pair.gold, keys[row][both], None, np.empty(0)
                of_groups: tuple[FloatArray, FloatArray] | None = None
                regions = nbest_regions(rank_a, rank_b, true, n)
                only = n - regions.overlap
                tp_only = regions.tp_a - regions.tp_overlap, regions.tp_b - regions.tp_overlap
                total = np.array(true.size if whole is None else whole.total)
                spread = bands.difference_spread(rank_a, rank_b, true, total, n, only, tp_only)
                result.difference[at] = (regions.tp_a - regions.tp_b) / n
                result.error[at] = np.where(only > 0, np.sqrt(spread.variance) / n, 0.0)
                if cluster is not None:
                    together = cluster[row][both]
                    own = keys_of_clusters(own, together)
                    error, freedom, p, *_ = pair_contrast(rank_a, rank_b, true, together, n, whole)
                    result.error[at], result.freedom[at] = of_groups = error, freedom
                elif not asked.swapped:
                    p = fisher_test(tp_only[0], only, tp_only[1], only, "two-sided").p_value
                if not asked.swapped:
                    result.p_value[at] = p
                    far.look(at, ends, n, cut, p, of_groups)
                    continue
                found = swaps.decided_swap_tests(
                    rank_a, rank_b, true, n, "two-sided", own, tests=ours,
                    ends=None if ends is None else ends.statistics(), **deciding, **drawing,
                )  # fmt: skip
                margins = [*difference_margins(
                    rank_a, rank_b, true, n, edges, own, whole, together,
                    each=asked.how.each, **drawing,
                )]  # fmt: skip
            result.p_value[at] = found.alone
            asked.attrs["n_resamples"] = max(asked.attrs["n_resamples"], found.drawn)
            for family, margin in zip(result.families, margins, strict=False):
                family.p_value[at] = found.alone if asked.how.each else found.together
                family.margin[at], family.drawn[at] = margin, found.drawn
            far.look(at, ends, n, cut, found)
    decides = far.decide(result, asked.how, sizes, rows)
    size = ranking.size
    tp, n = (np.where(exists, x, 0).astype(float) for x in (lists.tp, sizes))
    total = np.maximum(size.total, 1).astype(float)[..., np.newaxis]
    positive = size.positive.astype(float)[..., np.newaxis]
    above = np.exp(hypergeometric.tails(np.floor(tp), total, positive, n).ge)
    below = np.exp(hypergeometric.tails(np.floor(n - tp), total, total - positive, n).ge)
    if cluster is not None:
        above, below = random_tails(ranking, cluster[..., np.newaxis, :], sizes, exists)
    better, worse = (
        exists & (x * count * sizes.size <= 1.0 - asked.how.level) for x in (above, below)
    )
    warn_of_reversed(worse[exists])
    value = np.where(exists, lists.tp / sizes, np.nan)
    return Found(value, limits, alone, better, lists.tied, exists, result, decides)


def of_areas(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    keys: Keys,
    cluster: IntArray | None = None,
    *,
    asked: RankCriterion,
    baseline: int | None,
    stands: IntArray | None,
    sizes: IntArray,
    ties: str,
    n_resamples: int,
    seed: int,
    advance: Callable[[int], object],
) -> Found:
    """Return values and tests for areas, using each candidate's influence."""
    label = gold[..., np.newaxis, :]
    ranking = Ranking.of(score, label, present)
    placed = roc_areas.placements(ranking)
    group = None if cluster is None else cluster[..., np.newaxis, :]
    levels = asked.together(score.shape[-2], 1), asked.how.level
    if asked.kind == "roc":
        value, influence, drift = placed.area, placed.placement, None
        by = spread_of(influence, placed.gold, placed.present, group, alone=True)
        counts = by.positive, by.negative
        limits, alone = (
            roc_areas.newcombe_limits(value, by.spread, *counts, level) for level in levels
        )
        above = value > 0.5
    else:
        result = early.influences(ranking)
        value, influence, drift = result.value, result.influence, result.drift
        found = spread_of(influence, result.gold, result.present, group, drift, alone=True)
        limits, alone = (
            early.ap_logit_limits(result, found.error, found.freedom, found.positive, level)
            for level in levels
        )
        above = value > early.chance_average_precision(ranking)
        by = spread_of(
            placed.placement, placed.gold, placed.present, group, warns=False, alone=True
        )
    tested = measure_pairs.of_influences(
        value, influence, label, present, asked.how, score=score, baseline=baseline,
        n_resamples=n_resamples,
        most=n_resamples * (MORE if asked.n_resamples is None else 1), seed=seed,
        student=asked.kind == "ap", cluster=cluster, drift=drift,
    )  # fmt: skip
    # in a random order, a positive ranks above a negative with probability 1/2
    p = roc_areas.p_of_half(placed.area, by.spread, by.positive, by.negative, "newcombe")
    better = above & (placed.area > 0.5)
    better &= rejects(0.5 * p * value.shape[-1], 1.0 - asked.how.level)
    value = value[..., np.newaxis]
    limits, alone = ((low[..., np.newaxis], high[..., np.newaxis]) for low, high in (limits, alone))
    exists = np.ones((*better.shape, 1), dtype=bool)
    tied = np.zeros(exists.shape, dtype=np.int64)
    return Found(value, limits, alone, better[..., np.newaxis], tied, exists, tested, tied > 0)
