"""Ranks of systems from pairwise tests, and thresholds with guarantees."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import clopper_pearson, t_of
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.resampling import bootstrap_tests, paired_gains
from rankeval_pd.stats.resampling.crossed_gains import refuse_crossed
from rankeval_pd.stats.resampling.item_draws import Draws, draws_of
from rankeval_pd.stats.resampling.metric_sums import leans
from rankeval_pd.stats.resampling.test_items import AnyItems, PairOptions, Step, quiet
from rankeval_pd.stats.significance import skewness
from rankeval_pd.stats.significance.adjust import (
    level_of_each,
    max_t,
    rejects,
    simultaneous_limits,
    with_resamples,
)
from rankeval_pd.stats.significance.letters import letters

# -------------------------------------------------------------------------------------------------
# Ranks of systems with uncertainty, from pairwise tests or from resampled ranks.

RANKS = ("simultaneous", "percentile")
SCORE_INTERVALS = ("wild", "clopper-pearson", "bca", "percentile", "basic")


class Ranks(NamedTuple):
    """The rows of the rank table, one per system."""

    value: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    ci_low_alone: FloatArray
    ci_high_alone: FloatArray
    rank: IntArray
    rank_low: IntArray
    rank_high: IntArray
    p_best: FloatArray
    tied_for_best: BoolArray
    n_groups: IntArray
    letters: AnyArray
    undecided: BoolArray
    n_resamples: IntArray
    family_p: FloatArray  #: (pair,): p-values to adjust over groups of the data
    family_low: FloatArray  #: limits of the Monte Carlo interval
    family_high: FloatArray


def system_ranks(items: AnyItems, options: PairOptions, ranks: str, step: Step = quiet) -> Ranks:
    """Return the ranks of systems with uncertainty, from shared draws."""
    refuse_crossed(items, "system_ranks")
    systems = items.n_systems
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    options = with_resamples(options, len(pairs))
    if options.ci == "clopper-pearson" and not items.binary:
        raise ValueError(
            "ci='clopper-pearson' is an interval for a proportion: it requires scores of 0 or 1"
            " for every item, with metric='accuracy' or 'mean' and without groups=. Pass ci='wild',"
            " or omit ci."
        )
    if not options.ci:
        options = options._replace(ci="clopper-pearson" if items.binary else "wild")
    draws = draws_of(items, pairs, options, step)
    theta = draws.theta
    low, high, p_best = resampled_ranks(draws.ranked_scores, options.level)
    tested = paired_gains.paired_bootstrap(items, pairs, options, draws=draws)
    # systems with too few guesses are not tested
    untested = np.isnan(tested.p_value) & np.isfinite(theta[pairs]).all(axis=1)
    p, family_p = (
        np.where(untested, 1.0, x)
        for x in (
            tested.p_value if options.adjust is None else tested.p_adjusted, tested.family_p,
        )
    )  # fmt: skip
    drawn = max(options.n_resamples, int(tested.n_resamples.max(initial=0)))
    known = np.where(np.isnan(theta), -np.inf, theta)  # systems without a score come last
    rank = 1 + (known[:, np.newaxis] > known).sum(axis=0)
    limits = rank_limits(rank, p, options.alpha)
    if ranks == "simultaneous":
        low, high = limits.low, limits.high
    alone = _score_limits(draws, options.level)
    lowest, highest = _together(draws, options)
    together = np.minimum(lowest, alone[0]), np.maximum(highest, alone[1])
    if items.sign < 0.0:
        together, alone = ((-high, -low) for low, high in (together, alone))
    return Ranks(
        items.sign * theta, *together, *alone, rank, low, high, p_best,
        limits.low == 1, np.full(systems, items.n_groups), limits.letters,
        any_of_system(tested.undecided, systems), np.full(systems, drawn), family_p,
        tested.family_low, tested.family_high,
    )  # fmt: skip


class RankLimits(NamedTuple):
    """The possible ranks given all pairwise tests, (system,)."""

    low: IntArray  #: smallest possible rank
    high: IntArray
    letters: AnyArray  #: two systems share a letter if and only if they do not differ significantly


def any_of_system(undecided: BoolArray, systems: int) -> BoolArray:
    """Return, for each system, whether any of its pairs is undecided."""
    result = np.zeros(systems, dtype=bool)
    result[np.stack(np.triu_indices(systems, 1))[:, undecided].ravel()] = True
    return result


def rank_limits(rank: IntArray, p_values: FloatArray, alpha: float) -> RankLimits:
    """Return each system's possible ranks and letters, given all pairwise tests.

    Parameters
    ----------
    rank : array (system,)
    p_values : array (pair,)
        One p-value for each pair, in the order of ``np.triu_indices``; NaN if a score is undefined.
    alpha : float
    """
    above = rank[:, np.newaxis] < rank
    sure = np.zeros_like(above)
    a, b = np.triu_indices(rank.size, 1)
    sure[a, b] = sure[b, a] = np.isnan(p_values) | rejects(p_values, alpha)
    better = above & sure
    # systems that the tests cannot tell apart share a letter
    order, named = np.argsort(rank, kind="stable"), np.empty(rank.size, dtype=object)
    named[order] = letters((better | better.T)[np.ix_(order, order)])
    return RankLimits(1 + better.sum(axis=0), rank.size - better.sum(axis=1), named)


Limits = tuple[FloatArray, FloatArray]


def _together(draws: Draws, options: PairOptions) -> Limits:
    """Return simultaneous intervals for all scores; larger scores are better."""
    if options.ci == "wild" and draws.parametric is None:
        return _largest_limits(draws, options)
    shared = draws.items.n_systems * options.n_alike
    return _score_limits(draws, level_of_each(options.level, shared))


def _score_limits(draws: Draws, level: float) -> Limits:
    """Return the interval for each system's score; larger scores are better."""
    items, options = draws.items, draws.options
    if options.ci == "clopper-pearson":
        right = items.totals[:, 0]
        low, high = clopper_pearson(right, np.full(right.shape, items.n_items), level)
        return (low, high) if items.sign > 0.0 else (-high, -low)
    if options.ci == "wild" and draws.parametric is not None:
        return draws.parametric.score_limits(level, items.sign)
    every, error = np.arange(items.n_systems), _errors(draws)
    if options.ci == "wild":
        subsets = draws.subsets
        found: Any = bootstrap_tests.limits(
            subsets.values, subsets.weights, draws.factor, every=subsets.every,
            level=level, room=draws.room_of(every),
        )  # fmt: skip
        critical = t_of(items.n_drawn - 1.0, level) * draws.student_factor
        found = skewness.reaching(found, draws.theta, error, _leans(draws), critical)
    else:
        found = np.full((2, every.size), np.nan)
        for k in np.flatnonzero(error > 0.0):
            found[:, k] = bootstrap_tests.interval(
                options.ci, draws.theta[k], draws.scores[k], level=level,
                scale=float(draws.scale[k]),
                without=draws.without[k] if options.ci == "bca" else np.empty(0),
            )  # fmt: skip
    low, high = (np.where(error > 0.0, limit, np.nan) for limit in found)
    return low, high


def _largest_limits(draws: Draws, options: PairOptions) -> Limits:
    """Return limits for the scores by inverting the max-statistic test over systems."""
    every = np.arange(draws.items.n_systems)
    about, room = np.sqrt(draws.spread.systems), draws.room_of(every)
    varies = about > room
    scale = np.where(varies, about, np.inf)[:, np.newaxis]

    def centered(which: IntArray) -> FloatArray:
        shift = draws.subsets.weights / draws.level.weight
        moved = draws.level.sums[which, np.newaxis] * shift - draws.subsets.values[which]
        return np.asarray(2.0 * moved / scale[which])

    found = max_t(
        centered, np.zeros(every.size), draws.subsets.weights.size, two_sided=True,
        every=draws.subsets.every, level=level_of_each(options.level, options.n_alike),
    )  # fmt: skip
    limits = simultaneous_limits(
        np.zeros(every.size), _errors(draws), found.critical, 1.0 / draws.items.n_drawn,
        _leans(draws),
    )  # fmt: skip
    low, high = (np.where(varies, draws.theta + limit, np.nan) for limit in limits)
    return low, high


def _errors(draws: Draws) -> FloatArray:
    """Return the standard error of each score by linearization, or 0 if there is no variation."""
    error = np.sqrt(draws.spread.systems)
    varies = error > draws.room_of(np.arange(error.size))
    return np.where(varies & ~np.isnan(draws.theta), draws.unit * error, 0.0)


def _leans(draws: Draws) -> FloatArray:
    every = np.arange(draws.items.n_systems)[:, np.newaxis]
    return leans(draws.spread.systems, draws.spread.system_cubes, draws.level, every)


def resampled_ranks(scores: FloatArray, level: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Return limits for each system's rank, and how often each system is best.

    Systems that tie for the best rank share it equally. A system with an undefined score ranks last
    and is never best.
    """
    systems, size = scores.shape
    low, high = np.empty(systems, dtype=np.int64), np.empty(systems, dtype=np.int64)
    best = np.empty(systems)
    known = np.where(np.isnan(scores), -np.inf, scores)
    room = 1e-12 * np.abs(np.nan_to_num(scores)).max(axis=0)
    top = known.max(axis=0) - room
    winners = np.maximum((known >= top).sum(axis=0), 1)
    tail = (1.0 - level) / 2.0
    for k in range(systems):
        better = np.count_nonzero(known > known[k] + room, axis=0)
        share = np.cumsum(np.bincount(better + 1, minlength=systems + 1)) / size
        low[k] = int(np.argmax(share > tail))
        high[k] = int(np.argmax(share >= 1.0 - tail))
        wins = (known[k] >= top) & ~np.isnan(scores[k])
        best[k] = float((wins / winners).mean())
    return low, high, best


# -------------------------------------------------------------------------------------------------
# Thresholds whose precision or recall is guaranteed despite a search over all thresholds.


class Sets(NamedTuple):
    """The acceptance sets of one ranking, smallest first, which never split equal scores."""

    threshold: FloatArray
    n: IntArray
    tp: IntArray
    positive: int  #: total number of true positives
    others: int  #: total number of negatives
    groups: IntArray | None = None  #: number of groups in each set, with clusters only
    weigh: Callable[[float], FloatArray] | None = None
    """Returns a candidate's weight in a set, or in all positives, at a confidence level."""

    def low(self, size: AnyArray, level: float) -> FloatArray:
        """Return the lower limit for the proportion tp / size at this confidence level."""
        weight = 1.0 if self.weigh is None else self.weigh(level)
        return clopper_pearson(self.tp * weight, size * weight, level)[0]


class Promise(NamedTuple):
    """The chosen set with a guaranteed lower limit, or None, NaN and the reason."""

    chosen: int | None
    low: float
    why: str = ""


def sets_of(ranking: Ranking) -> Sets:
    """Return the acceptance sets that one ranking's scores allow."""
    scored = int((ranking.present & ~np.isnan(ranking.score)).sum())
    ranked, tp = (
        ranking.scores_by_rank[:scored],
        ranking.tp[: scored + 1],
    )  # (rank), and (rank from 0)
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)[:scored])
    positive = int(tp[-1])
    return Sets(ranked[ends], ends + 1, tp[ends + 1], positive, int(ranking.here) - positive)


def precision(sets: Sets, wanted: float, level: float) -> Promise:
    """Return the largest set with a guaranteed precision.

    The first sequence of tests starts at the smallest size that could pass, and further sequences
    start at 2, 4, 8, ... times this size. Each sequence continues with larger sets until a test
    fails. The level is divided among the sequences.
    """
    if not sets.n.size:
        return Promise(None, np.nan, "no candidate has a score")
    reach = sets.n if sets.groups is None else sets.groups
    alpha, most = 1.0 - level, int(reach[-1])
    sequences = 1
    while True:  # the smallest size that could pass depends on the number of sequences
        least = math.ceil(math.log(alpha / sequences) / math.log(wanted))
        starts = least * 2 ** np.arange(sequences)
        if least * 2**sequences > most:
            break
        sequences += 1
    low = sets.low(sets.n, 1.0 - 2.0 * alpha / sequences)
    passed = low >= wanted
    failures = np.append(np.flatnonzero(~passed), sets.n.size)
    first = np.searchsorted(reach, starts)
    last = failures[np.searchsorted(failures, first)] - 1
    reached = last[(last >= first) & (first < sets.n.size)]
    if not reached.size:
        if least > most:
            why = (
                f"a guarantee needs at least {least} correct candidates, but there are only {most}"
                " candidates"
            )
        else:
            best = float(low[np.minimum(first, sets.n.size - 1)].max())
            why = f"the lower confidence limit of the first sets tested is at most {best:.3g}"
        return Promise(None, np.nan, f"{why}. Request a lower precision")
    chosen = int(reached.max())
    return Promise(chosen, float(low[chosen]))


def recall(sets: Sets, wanted: float, level: float) -> Promise:
    """Return the smallest set with a guaranteed recall.

    Recall never increases as the set becomes smaller, so a single sequence of tests at the full
    level is sufficient. The sequence starts at the largest set.
    """
    if not sets.n.size or not sets.positive:
        return Promise(None, np.nan, "no true positive has a score")
    total = np.full(sets.tp.shape, sets.positive)
    low = sets.low(total, 2.0 * level - 1.0) if level > 0.5 else sets.tp * 0.0
    passed = np.flatnonzero(low >= wanted)
    if not passed.size:
        why = (
            f"with all {sets.positive} true positives found, the lower confidence limit is"
            f" {low[-1]:.3g}"
        )
        return Promise(None, np.nan, f"{why}. Request a lower recall, or judge more candidates")
    return Promise(int(passed[0]), float(low[passed[0]]))


def youden(sets: Sets, _: float, level: float) -> Promise:
    """Return the set with the largest Youden's J, and a lower limit valid for all sets."""
    if not sets.n.size or not sets.positive or not sets.others:
        return Promise(None, np.nan, "J requires candidates in both classes")
    index = sets.tp / sets.positive - (sets.n - sets.tp) / sets.others
    chosen = int(np.argmax(index))
    margin = math.sqrt(-0.5 * math.log(1.0 - level) * (1.0 / sets.positive + 1.0 / sets.others))
    low = float(index[chosen]) - margin
    if low <= 0.0:
        best = f"{index[chosen]:.3g}"
        why = (
            f"the largest J is {best}, but a search over all thresholds can reach {margin:.3g} by"
            " chance"
        )
        return Promise(None, np.nan, f"{why}. Judge more candidates")
    return Promise(chosen, low)
