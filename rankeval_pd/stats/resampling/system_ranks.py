"""Ranks of systems and how sure they are: from tests of all pairs, or from resampled ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import clopper_pearson
from rankeval_pd.stats.resampling import bootstrap, paired, wild
from rankeval_pd.stats.resampling.asked import AnyItems, Options, Step, quiet
from rankeval_pd.stats.resampling.draws import Draws, draws_of
from rankeval_pd.stats.resampling.enough import settled

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


def system_ranks(items: AnyItems, options: Options, ranks: str, step: Step = quiet) -> Ranks:
    """Return the ranks of systems and how sure they are, from the draws that all share."""
    systems = items.n_systems
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    options = settled(options, len(pairs))
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
    tested = paired.paired_bootstrap(items, pairs, options, draws=draws)
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
        lowest, highest = wild.limits(
            subsets.values[[k]], subsets.weights, draws.factor, every=subsets.every,
            level=options.level, room=np.array([room]),
        )  # fmt: skip
        return float(lowest[0]), float(highest[0])
    return bootstrap.interval(
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
