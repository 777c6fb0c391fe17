"""Ranks of measures and systems from tests of all pairs, and thresholds that keep a promise."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import clopper_pearson, t_of, z_of
from rankeval_pd.stats.rankings import swaps
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.resampling import bootstrap_tests, paired_gains
from rankeval_pd.stats.resampling.item_draws import Draws, draws_of
from rankeval_pd.stats.resampling.test_items import AnyItems, PairOptions, Step, quiet
from rankeval_pd.stats.significance.adjust import adjust as adjusted
from rankeval_pd.stats.significance.adjust import step_down, with_resamples
from rankeval_pd.stats.significance.fisher import fisher_test

# -------------------------------------------------------------------------------------------------
# From the tests of all pairs of measures to the ranks that they leave open.
#
# Where no false decision is made among the pairs, a measure has at least as many better ones as are
# significantly better, and as many worse ones: its rank is between one more than the former and
# the number of measures less the latter (Mogstad, Romano, Shaikh and Wilhelm 2024).

_ZERO = 1e-12  # of a variance, relative to those of the areas: rounding


def pairs(count: int) -> list[tuple[int, int]]:
    """Return the pairs of measures, by number."""
    return list(itertools.combinations(range(count), 2))


class PairTests(NamedTuple):
    """What the tests of all pairs found: (..., pair, n)."""

    measures: int  #: how many
    difference: FloatArray
    half: FloatArray  #: half the width of the interval of the difference
    p_value: FloatArray  #: of a pair, simultaneous over the n where that was asked for

    def put(
        self,
        row: tuple[int, ...],
        a: int,
        b: int,
        there: BoolArray,
        difference: FloatArray,
        half: FloatArray,
        p_value: FloatArray,
    ) -> None:
        """Enter what was found of the pair of a and b."""
        at: Any = (*row, pairs(self.measures).index((a, b)), there)
        self.difference[at], self.half[at], self.p_value[at] = difference, half, p_value


def empty(batch: tuple[int, ...], count: int, sizes: int) -> PairTests:
    """Return a table of pairs with nothing in it."""
    shape = (*batch, count * (count - 1) // 2, sizes)
    return PairTests(count, *(np.full(shape, np.nan) for _ in range(3)))


def p_values(
    observed: FloatArray,
    drawn: FloatArray | None,
    tp_only: tuple[IntArray, IntArray],
    only: IntArray,
) -> FloatArray:
    """Return p-values that hold for all n of a pair, or without draws Fisher's of each n."""
    if drawn is not None:
        return swaps.exceedance(np.abs(observed), drawn)
    return np.asarray(fisher_test(tp_only[0], only, tp_only[1], only, "two-sided").p_value)


def of_influences(
    value: FloatArray,
    influence: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    adjust: str | None,
    *,
    level: float,
    n_resamples: int,
    seed: int,
    student: bool = False,
) -> PairTests:
    """Return the tests of all pairs of areas, from the influence of every candidate.

    With "max-t" the adjusted p-value is the probability that the largest of all standardised
    differences is as large, by Student's joint law with one degree of freedom less than the smaller
    class has candidates; the p-value of a pair alone is DeLong's, by the normal law, or with
    ``student`` by this law, as half the width of the interval of the difference is.
    """
    from scipy import special

    count = value.shape[-1]
    batch = value.shape[:-1]
    result = empty(batch, count, 1)
    chosen = pairs(count)
    left, right = (np.array([pair[side] for pair in chosen], dtype=int) for side in (0, 1))
    gold, present = (np.broadcast_to(x, influence.shape) for x in (gold, present))
    for row in np.ndindex(batch):
        covariance = _covariance(influence[row], gold[row], present[row])
        own = np.diag(covariance)
        variance = own[left] + own[right] - 2.0 * covariance[left, right]
        variance = np.where(variance > _ZERO * (own[left] + own[right]), variance, 0.0)
        difference = value[row][left] - value[row][right]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.abs(np.where(difference == 0.0, 0.0, difference / np.sqrt(variance)))
        z = np.where(np.isinf(z), np.nan, z)
        label, here = gold[row].any(axis=0), present[row].all(axis=0)
        least = min(int((label & here).sum()), int((~label & here).sum()))
        p_value, quantile = special.erfc(z / np.sqrt(2.0)), z_of(level)
        if student:
            freedom = max(least - 1, 1)
            p_value = 2.0 * special.stdtr(freedom, -z)
            quantile = float(t_of(freedom, level))
        if adjust == "max-t" and count > 1 and np.isfinite(covariance).all():
            p_value = _largest(z, covariance, variance, (left, right), least - 1, n_resamples, seed)
        result.difference[row][:, 0], result.p_value[row][:, 0] = difference, p_value
        result.half[row][:, 0] = quantile * np.sqrt(variance)
    return result


def _covariance(influence: FloatArray, gold: BoolArray, present: BoolArray) -> FloatArray:
    """Return the covariance of means of influences over positives and over others."""
    here, label = present.all(axis=0), gold.any(axis=0)
    total: FloatArray = np.zeros((influence.shape[0], influence.shape[0]))
    for group in (here & label, here & ~label):
        size = int(group.sum())
        if size < 2:
            return np.full_like(total, np.nan)
        total = total + np.cov(influence[:, group]).reshape(total.shape) / size
    return total


def _largest(
    z: FloatArray,
    covariance: FloatArray,
    variance: FloatArray,
    sides: tuple[IntArray, IntArray],
    freedom: int,
    n_resamples: int,
    seed: int,
) -> FloatArray:
    """Return how often the largest of all differences is as large, by Student's joint law."""
    roots, vectors = np.linalg.eigh(covariance)
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((n_resamples, roots.size)) * np.sqrt(np.maximum(roots, 0.0))
    areas = drawn @ vectors.T
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.abs(areas[:, sides[0]] - areas[:, sides[1]]) / np.sqrt(variance)
    spread = np.sqrt(rng.chisquare(freedom, n_resamples) / freedom)
    largest = np.where(variance > 0, each, 0.0).max(axis=-1) / spread
    p_value = swaps.exceedance(z, largest)
    return np.where(np.isnan(z), np.nan, p_value)


class RankTable(NamedTuple):
    """Ranks and differences of every measure: (..., measure, n)."""

    rank: IntArray
    rank_low: IntArray
    rank_high: IntArray
    tied_for_best: BoolArray
    difference: FloatArray  #: to the baseline, or to the best measure
    difference_low: FloatArray
    difference_high: FloatArray
    p_adjusted: FloatArray


def decide(
    value: FloatArray,
    tested: PairTests,
    p_value: FloatArray,
    alpha: float,
    baseline: int | None,
) -> RankTable:
    """Return the ranks that the tests leave open, and what tells each measure from one of them.

    ``p_value``: of the pairs, adjusted for all (:func:`over_pairs`).
    """
    count = tested.measures
    shape = (*value.shape[:-2], count, count, value.shape[-1])
    difference, half, p = np.zeros(shape), np.zeros(shape), np.ones(shape)
    for number, (a, b) in enumerate(pairs(count)):
        for one, other, sign in ((a, b, 1.0), (b, a, -1.0)):
            difference[..., one, other, :] = sign * tested.difference[..., number, :] + 0.0
            half[..., one, other, :] = tested.half[..., number, :]
            p[..., one, other, :] = p_value[..., number, :]
    decisive = p <= alpha
    better = (decisive & (difference < 0)).sum(axis=-2)
    worse = (decisive & (difference > 0)).sum(axis=-2)
    known = np.where(np.isnan(value), -np.inf, value)
    rank = 1 + (known[..., np.newaxis, :, :] > known[..., :, np.newaxis, :]).sum(axis=-2)
    reference = np.argmax(known, axis=-2)
    if baseline is not None:
        reference = np.full_like(reference, baseline)
    at = np.broadcast_to(reference[..., np.newaxis, np.newaxis, :], (*shape[:-2], 1, shape[-1]))
    gap, margin, p_reference = (
        np.take_along_axis(x, at, axis=-2)[..., 0, :] for x in (difference, half, p)
    )
    itself = np.arange(count)[:, np.newaxis] == reference[..., np.newaxis, :]
    return RankTable(
        rank, 1 + better, count - worse, better == 0, gap, gap - margin, gap + margin,
        np.where(itself, np.nan, p_reference),
    )  # fmt: skip


def over_pairs(
    p_value: FloatArray, adjust: str | None, *, simultaneous: bool = False
) -> FloatArray:
    """Return the p-values of all pairs (..., pair, n), adjusted for all.

    ``simultaneous`` says that max-t p-values hold for all pairs together already.
    """
    if adjust is None or not p_value.size:
        return p_value
    if adjust == "max-t":
        if simultaneous:
            return p_value
        pairs, sizes = p_value.shape[-2:]
        pair = np.repeat(np.arange(pairs), sizes)
        each = [step_down(row, pair) for row in p_value.reshape(-1, pairs * sizes)]
        return np.stack(each).reshape(p_value.shape)
    flat = p_value.reshape(*p_value.shape[:-2], -1)
    return adjusted(flat, adjust).reshape(p_value.shape)


# -------------------------------------------------------------------------------------------------
# Ranks of systems and how sure they are: from tests of all pairs, or from resampled ranks.

RANKS = ("simultaneous", "percentile")
SCORE_INTERVALS = ("wild", "clopper-pearson", "bca", "percentile", "basic")


class Ranks(NamedTuple):
    """The rows of the table of ranks, one per system."""

    score: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    rank: IntArray
    rank_low: IntArray
    rank_high: IntArray
    p_best: FloatArray
    tied_for_best: BoolArray
    n_groups: IntArray
    family_p: FloatArray  #: (pair,), what is adjusted over groups of the data


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
    p = tested.p_two_sided if options.adjust is None else tested.p_adjusted
    known = np.where(np.isnan(theta), -np.inf, theta)  # who has no score comes last
    rank = 1 + (known[:, np.newaxis] > known).sum(axis=0)
    first, last = rank_limits(rank, p, options.alpha)
    if ranks == "simultaneous":
        low, high = first, last
    limits = np.array([_score_limits(draws, k) for k in range(systems)])
    ci_low, ci_high = limits.T if items.sign > 0 else -limits[:, ::-1].T
    return Ranks(
        items.sign * theta, ci_low, ci_high, rank, low, high, p_best,
        first == 1, np.full(systems, items.n_groups), tested.family_p,
    )  # fmt: skip


def rank_limits(rank: IntArray, p_values: FloatArray, alpha: float) -> tuple[IntArray, IntArray]:
    """Return the least and the largest rank of each system that the tests of all pairs leave open.

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
    sure[a, b] = sure[b, a] = np.isnan(p_values) | (p_values <= alpha)
    better = above & sure
    # no test tells those apart that are better by no more than chance
    return 1 + better.sum(axis=0), rank.size - better.sum(axis=1)


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
