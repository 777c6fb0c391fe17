"""Ranks of systems from tests of all pairs, and thresholds that keep a promise."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import clopper_pearson
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.resampling import bootstrap_tests, paired_gains
from rankeval_pd.stats.resampling.item_draws import Draws, draws_of
from rankeval_pd.stats.resampling.test_items import AnyItems, PairOptions, Step, quiet
from rankeval_pd.stats.significance.adjust import rejects, with_resamples
from rankeval_pd.stats.significance.letters import letters

# -------------------------------------------------------------------------------------------------
# Ranks of systems and how sure they are: from tests of all pairs, or from resampled ranks.

RANKS = ("simultaneous", "percentile")
SCORE_INTERVALS = ("wild", "clopper-pearson", "bca", "percentile", "basic")


class Ranks(NamedTuple):
    """The rows of the table of ranks, one per system."""

    value: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    rank: IntArray
    rank_low: IntArray
    rank_high: IntArray
    p_best: FloatArray
    tied_for_best: BoolArray
    n_groups: IntArray
    letters: AnyArray
    undecided: BoolArray
    n_resamples: IntArray
    family_p: FloatArray  #: (pair,), what is adjusted over groups of the data
    family_low: FloatArray  #: the limits of its Monte Carlo interval
    family_high: FloatArray


def system_ranks(items: AnyItems, options: PairOptions, ranks: str, step: Step = quiet) -> Ranks:
    """Return the ranks of systems and how sure they are, from the draws that all share."""
    systems = items.n_systems
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    options = with_resamples(options, len(pairs))
    if options.ci == "clopper-pearson" and not items.binary:
        raise ValueError(
            "ci='clopper-pearson' is an interval of a proportion: every item has to be right or"
            " wrong, 0 or 1, with metric='accuracy' or 'mean' and without groups=. Give ci='wild',"
            " or leave ci out."
        )
    if not options.ci:
        options = options._replace(ci="clopper-pearson" if items.binary else "wild")
    draws = draws_of(items, pairs, options, step)
    theta = draws.theta
    low, high, p_best = resampled_ranks(draws.scores, options.level)
    tested = paired_gains.paired_bootstrap(items, pairs, options, draws=draws)
    p = tested.p_value if options.adjust is None else tested.p_adjusted
    drawn = max(options.n_resamples, int(tested.n_resamples.max(initial=0)))
    known = np.where(np.isnan(theta), -np.inf, theta)  # who has no score comes last
    rank = 1 + (known[:, np.newaxis] > known).sum(axis=0)
    limits = rank_limits(rank, p, options.alpha)
    if ranks == "simultaneous":
        low, high = limits.low, limits.high
    scores = np.array([_score_limits(draws, k) for k in range(systems)])
    ci_low, ci_high = scores.T if items.sign > 0 else -scores[:, ::-1].T
    return Ranks(
        items.sign * theta, ci_low, ci_high, rank, low, high, p_best,
        limits.low == 1, np.full(systems, items.n_groups), limits.letters,
        any_of_system(tested.undecided, systems), np.full(systems, drawn), tested.family_p,
        tested.family_low, tested.family_high,
    )  # fmt: skip


class RankLimits(NamedTuple):
    """What the tests of all pairs leave open, (system,)."""

    low: IntArray  #: the least rank
    high: IntArray
    letters: AnyArray  #: two systems share one if and only if they are not distinguished


def any_of_system(undecided: BoolArray, systems: int) -> BoolArray:
    """Return for each system whether this holds for one of its pairs."""
    result = np.zeros(systems, dtype=bool)
    result[np.stack(np.triu_indices(systems, 1))[:, undecided].ravel()] = True
    return result


def rank_limits(rank: IntArray, p_values: FloatArray, alpha: float) -> RankLimits:
    """Return the ranks of each system that the tests of all pairs leave open, and its letters.

    Parameters
    ----------
    rank : array (system,)
    p_values : array (pair,)
        Of the pairs in the order of ``np.triu_indices``; NaN where a score is undefined.
    alpha : float
    """
    above = rank[:, np.newaxis] < rank
    sure = np.zeros_like(above)
    a, b = np.triu_indices(rank.size, 1)
    sure[a, b] = sure[b, a] = np.isnan(p_values) | rejects(p_values, alpha)
    better = above & sure
    # no test tells those apart that are better by no more than chance
    order, named = np.argsort(rank, kind="stable"), np.empty(rank.size, dtype=object)
    named[order] = letters((better | better.T)[np.ix_(order, order)])
    return RankLimits(1 + better.sum(axis=0), rank.size - better.sum(axis=1), named)


def _score_limits(draws: Draws, k: int) -> tuple[float, float]:
    """Return the interval of one system's score, the larger the better."""
    items, options = draws.items, draws.options
    theta = draws.theta[k]
    if np.isnan(theta):
        return np.nan, np.nan
    if options.ci == "clopper-pearson":
        right, n = items.totals[k, :1], np.array([items.n_items])
        low, high = (float(x[0]) for x in clopper_pearson(right, n, options.level))
        return (low, high) if items.sign > 0.0 else (-high, -low)
    room = float(draws.room_of(np.array(k)))
    if np.sqrt(draws.spread.systems[k]) <= room:
        return np.nan, np.nan  # nothing varies
    if options.ci == "wild":
        subsets = draws.subsets
        lowest, highest = bootstrap_tests.limits(
            subsets.values[[k]], subsets.weights, draws.factor, every=subsets.every,
            level=options.level, room=np.array([room]),
        )  # fmt: skip
        return float(lowest[0]), float(highest[0])
    return bootstrap_tests.interval(
        options.ci, theta, draws.scores[k], level=options.level, scale=float(draws.scale[k]),
        without=draws.without[k] if options.ci == "bca" else np.empty(0),
    )  # fmt: skip


def resampled_ranks(scores: FloatArray, level: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the limits of each system's rank, and how often it is best, ties shared.

    Where its score is undefined, a system ranks last and is not best.
    """
    systems, size = scores.shape
    low, high = np.empty(systems, dtype=np.int64), np.empty(systems, dtype=np.int64)
    best = np.empty(systems)
    known = np.where(np.isnan(scores), -np.inf, scores)
    room = 1e-12 * np.abs(np.nan_to_num(scores)).max(axis=0)
    top = known.max(axis=0) - room
    winners = np.maximum((known >= top).sum(axis=0), 1)
    tail = (1.0 - level) / 2.0
    better = np.empty((systems, size), dtype=np.int64)
    for resample, column in enumerate(known.T):
        no_more = np.searchsorted(np.sort(column), column + room[resample], "right")
        better[:, resample] = systems - no_more
    for k in range(systems):
        share = np.cumsum(np.bincount(better[k] + 1, minlength=systems + 1)) / size
        low[k] = int(np.argmax(share > tail))
        high[k] = int(np.argmax(share >= 1.0 - tail))
        wins = (known[k] >= top) & ~np.isnan(scores[k])
        best[k] = float((wins / winners).mean())
    return low, high, best


# -------------------------------------------------------------------------------------------------
# Thresholds of which a precision or a recall can be promised after a search over all of them.


class Sets(NamedTuple):
    """The acceptance sets of one ranking, the smallest first; none cuts equal scores."""

    threshold: FloatArray
    n: IntArray
    tp: IntArray
    positive: int  #: true positives in all


def sets_of(ranking: Ranking) -> Sets:
    """Return the sets that the scores of one ranking allow."""
    scored = int((ranking.present & ~np.isnan(ranking.score)).sum())
    ranked, tp = (
        ranking.scores_by_rank[:scored],
        ranking.tp[: scored + 1],
    )  # by rank, and by rank from 0
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)[:scored])
    return Sets(ranked[ends], ends + 1, tp[ends + 1], int(tp[-1]))


def precision(sets: Sets, wanted: float, level: float) -> tuple[int | None, float]:
    """Return the largest set whose precision is promised, and the lower limit, or None and NaN.

    Sequences of tests start at the least size that could pass and at twice, four times, ... it;
    each goes on to larger sets until one fails. They share the level.
    """
    if not sets.n.size:
        return None, np.nan
    alpha, most = 1.0 - level, int(sets.n[-1])
    sequences = 1
    while True:  # the least size that could pass depends on how many sequences there are
        least = math.ceil(math.log(alpha / sequences) / math.log(wanted))
        starts = least * 2 ** np.arange(sequences)
        if least * 2**sequences > most:
            break
        sequences += 1
    low = clopper_pearson(sets.tp, sets.n, 1.0 - 2.0 * alpha / sequences)[0]
    passed = low >= wanted
    failures = np.append(np.flatnonzero(~passed), sets.n.size)
    first = np.searchsorted(sets.n, starts)
    last = failures[np.searchsorted(failures, first)] - 1
    reached = last[(last >= first) & (first < sets.n.size)]
    if not reached.size:
        return None, np.nan
    chosen = int(reached.max())
    return chosen, float(low[chosen])


def recall(sets: Sets, wanted: float, level: float) -> tuple[int | None, float]:
    """Return the smallest set whose recall is promised, and the lower limit, or None and NaN.

    Recall falls with the threshold, so that the sets that fail are those before the first that
    passes: one sequence from the largest set down, at the full level.
    """
    if not sets.n.size or not sets.positive:
        return None, np.nan
    total = np.full(sets.tp.shape, sets.positive)
    low = clopper_pearson(sets.tp, total, 2.0 * level - 1.0)[0] if level > 0.5 else sets.tp * 0.0
    passed = np.flatnonzero(low >= wanted)
    if not passed.size:
        return None, np.nan
    return int(passed[0]), float(low[passed[0]])
