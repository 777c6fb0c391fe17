"""Counts of true positives in random rankings: tails, critical values, envelopes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats._types import (
    Advance,
    AnyArray,
    FloatArray,
    IntArray,
    silent_division,
    unended,
)
from rankeval_pd.stats.distributions import (
    MOST_PROBES,
    Finite,
    Infinite,
    Population,
    log_betainc,
    log_pmf,
)

# ------------------------------------- Bounds on the count at a level p (Macskassy 2005, section 2)
#
# For a few list sizes, each bound is found by bisection on the exact tail. For every n, the bounds
# form a path that rises by 0 or 1, split into a few hundred stretches that start from an exact tail
# and advance in parallel with the recursion (Eqs 12 to 15), in units of p.

_MOST_SECANTS = 200  # about six are usual; bisection alone takes 60 to neighboring floats
_LEAST_LOG_P = -700.0  # for smaller p, tails in units of p could overflow
_EQUAL = 1e-12  # a tail within this relative difference of p counts as equal
MOST_SEARCHED = 64  # search each n up to this many list sizes, or if their mean gap is larger


class Bounds(NamedTuple):
    """Bounds on the number of true positives in a random ranking."""

    discrete: FloatArray  #: min{i: P(X > i) < p}, Macskassy's n(k, p), Eq 7
    interpolated: FloatArray  #: point at which the interpolated tail P(X > i) is p; at least 0
    critical: FloatArray  #: min{i: P(X >= i) <= p}, a test of level p


def bound(kind: str, p: float, n: FloatArray, population: Population) -> FloatArray:
    """Return the named bound, or the envelope, for lists from one or several populations."""
    if kind == "parametric":
        return parametric_bound(p, n, population.prior)
    if kind == "envelope":
        return envelope(p, n, population).counts
    return np.asarray(getattr(bounds(p, n, population), kind))


def bounds(p: float, n: FloatArray, population: Population) -> Bounds:
    """Return the bounds at level p for lists of size n >= 1, in any order."""
    n = np.asarray(n, dtype=float)
    lowest, highest = population.support(n)
    if p >= 1.0 - _EQUAL:  # every count has a probability of at most 1
        return Bounds(lowest, np.maximum(lowest - 1.0, 0.0), lowest)
    if (lowest == highest).all():  # if none or all are positive, the count is not random
        return Bounds(lowest, np.maximum(lowest - p, 0.0), lowest + 1.0)
    # the critical count c, P(X >= c) / p and P(X = c - 1) / p
    critical, tail, below = _critical_tails(math.log(p), n, population)
    # P(X > c - 1) = P(X >= c) is at most p, so the discrete bound is c - 1, or c if it equals p
    discrete = critical - np.where(tail >= 1.0 - _EQUAL, 0.0, 1.0)
    interpolated = np.maximum(critical - 1.0 + (tail - 1.0) / below, 0.0)
    return Bounds(discrete, interpolated, critical)


def unique_rows(*columns: AnyArray) -> tuple[list[Any], IntArray]:
    """Return the distinct rows, and each row's index; faster than ``np.unique(axis=...)``."""
    order = np.lexsort(columns)
    ordered = [column[order] for column in columns]
    new = np.ones(order.size, dtype=bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in ordered], axis=0)
    back = np.empty_like(order)
    back[order] = np.cumsum(new) - 1
    return [column[new] for column in ordered], back


def critical_counts(log_p: FloatArray, n: FloatArray, population: Population) -> FloatArray:
    """Return min{i: P(X >= i) <= p} for every level (rows) and list size (columns)."""
    log_p = np.asarray(log_p, dtype=float)[:, np.newaxis]
    n = np.asarray(n, dtype=float)
    lowest, highest = population.support(n)
    if n.size == 0 or log_p.size == 0 or (lowest == highest).all():
        critical = np.broadcast_to(lowest + 1.0, (log_p.size, n.size))
    else:
        critical = _critical_tails(log_p, n, population)[0]
    return np.where(log_p >= -_EQUAL, lowest, critical)


def _critical_tails(
    log_p: float | FloatArray, n: FloatArray, population: Population
) -> tuple[FloatArray, ...]:
    """Return the critical count c, P(X >= c) / p and P(X = c - 1) / p."""
    first = float(n.min())
    last = float(n.max())
    # search if list sizes are few or far apart, or if tails in units of p would overflow
    if (
        population.each
        or n.size <= MOST_SEARCHED
        or last - first > MOST_SEARCHED * n.size
        or np.min(log_p) < _LEAST_LOG_P
    ):
        return _critical_search(log_p, n, population)[:3]
    here = (n - first).astype(np.intp)
    path = _critical_path(log_p, first, last, population)
    return tuple(quantity[..., here] for quantity in path)


def _critical_search(
    log_p: float | FloatArray, n: FloatArray, population: Population
) -> tuple[FloatArray, ...]:
    """Return the critical count c, P(X >= c) / p, P(X = c - 1) / p and P(X = c) / p."""
    n, log_p = np.broadcast_arrays(n, log_p)
    lowest, highest = population.support(n)
    low = lowest.copy()
    high = highest + 1.0
    # guess the count as the rounded normal quantile
    variance = n * population.prior * (1.0 - population.prior)
    if isinstance(population, Finite):
        variance = variance * (population.total - n) / np.maximum(population.total - 1.0, 1.0)
    z = -scipy.special.ndtri_exp(np.minimum(log_p, -1e-6))
    guess = np.round(n * population.prior + z * np.sqrt(variance) + 0.5)
    at = np.clip(guess, low, highest)
    step = 1.0
    for _ in range(MOST_PROBES):
        active = low < high
        if not active.any():
            break
        middle = at[active]
        rare = population.at(active).tails(middle, n[active]).ge - log_p[active] <= _EQUAL
        below, above = low[active], high[active]
        below = np.where(rare, below, middle + 1.0)
        above = np.where(rare, middle, above)
        low[active], high[active] = below, above
        # first probe near the last count with growing steps, then bisect
        half = np.floor(0.5 * (below + above))
        at[active] = np.where(
            rare, np.maximum(half, above - step), np.minimum(half, below + step - 1.0)
        )
        step *= 4.0
    else:
        raise unended("a critical count", MOST_PROBES)
    there = population.tails(high, n)
    under = population.tails(high - 1.0, n)
    with np.errstate(over="ignore"):  # infinite for p below the smallest float
        in_p = [np.exp(x - log_p) for x in (there.ge, under.pmf, there.pmf)]
    return high, *in_p


def _critical_path(
    log_p: float | FloatArray, first: float, last: float, population: Population
) -> tuple[FloatArray, ...]:
    """Return the critical count c, P(X >= c)/p and P(X = c - 1)/p for every n in a range."""
    # split the range of n into sqrt(n) stretches of sqrt(n) steps that advance in parallel
    count = int(last - first) + 1
    steps = math.isqrt(count - 1) + 1
    n = np.arange(first, last + 1.0, steps)
    c, tail, below, at = _critical_search(log_p, n, population)
    path = np.empty((3, *c.shape, steps))  # (quantity, level, stretch, step)
    for step in range(steps):
        path[0, ..., step], path[1, ..., step], path[2, ..., step] = c, tail, below
        # from n to n + 1 by Eqs 12 to 15: P(X' >= c) = P(X >= c) + up(c - 1) P(X = c - 1), and
        # P(X' = c) = stay(c) P(X = c) + up(c - 1) P(X = c - 1)
        up = population.up(c, n)
        stay = population.stay(c, n)
        gain = below * population.up(c - 1.0, n)
        rises = tail + gain > 1.0 + _EQUAL
        # the same counts at n + 1; P(X = c - 2) is replaced by its ratio to P(X = c - 1)
        below = below * population.stay(c - 1.0, n) * (n + 1.0) / (n + 2.0 - c)
        at_next = at * stay + gain
        # if the tail exceeds p, c increases by 1; the terms subtracted are at most p, so accurate
        tail = np.where(rises, np.maximum(tail - at, 0.0) + at * up, tail + gain)
        with silent_division():
            above = at_next * ((n + 1.0 - c) / (c + 1.0)) * (up / stay)
        below = np.where(rises, at_next, below)
        at = np.where(rises, above, at_next)
        c = c + rises
        n = n + 1.0
    return tuple(path.reshape(3, *c.shape[:-1], -1)[..., :count])


def parametric_bound(p: float, n: FloatArray, prior: float | FloatArray) -> FloatArray:
    """Return the x >= 0 with I_z(x + 1, n - x) = p and z = prior (Macskassy's Eqs 8 and 9).

    The printed Eq. 8 has N instead of k, which is corrected here. Each list can have its own prior.
    """
    n = np.asarray(n, dtype=float)
    if p >= 1.0 - _EQUAL:
        return np.zeros_like(n)
    priors = np.broadcast_to(prior, n.shape)
    result = np.where(priors == 1.0, n, 0.0)
    # the root is above 0 if P(X > 0) is above p, which holds from some n onward
    above = (priors > 0.0) & (priors < 1.0)
    above[above] = -np.expm1(n[above] * np.log1p(-priors[above])) > p
    result[above] = _root(p, n[above], priors[above])
    return result


def _root(p: float, n: FloatArray, prior: FloatArray) -> FloatArray:
    """Return x in (0, n) with I_z(x + 1, n - x) = p by a bracketed secant method."""
    target = math.log(p)
    low = np.zeros_like(n)
    high = n.copy()
    sd = np.sqrt(n * prior * (1.0 - prior))
    skew = (1.0 - 2.0 * prior) / 6.0
    z = -float(scipy.special.ndtri(p))
    # start at the Cornish-Fisher quantile with the skewness term (z^2 - 1)(1 - 2 prior)/6
    x = n * prior + z * sd + skew * (z * z - 1.0) - 0.5
    x = np.where((x > low) & (x < high), x, 0.5 * (low + high))
    other = x - 0.01 * np.minimum(sd, x)
    at_other = log_betainc(other + 1.0, n - other, prior) - target
    result = np.empty_like(n)
    active = np.arange(n.size)
    for _ in range(_MOST_SECANTS):
        if not active.size:
            break
        at_x = log_betainc(x + 1.0, n - x, prior) - target
        low = np.where(at_x >= 0.0, x, low)
        high = np.where(at_x <= 0.0, x, high)
        with silent_division():
            secant = x - at_x * (x - other) / (at_x - at_other)
        # bisect if the secant leaves the bracket or if a tail has underflowed
        inside = (secant >= low) & (secant <= high) & np.isfinite(at_x + at_other)
        new = np.where(at_x == 0.0, x, np.where(inside, secant, 0.5 * (low + high)))
        # the error of a secant step is about the product of the errors at both points, in the scale
        ends = np.minimum(np.maximum(new, 1e-3), np.maximum(n - new, 1e-12 * n))
        scale = np.minimum(sd, ends)
        settled = inside & (np.abs(new - x) <= 1e-8 * scale) & (np.abs(x - other) <= 1e-3 * scale)
        settled |= (at_x == 0.0) | (high - low <= 4e-16 * high)
        result[active[settled]] = new[settled]
        keep = ~settled
        active = active[keep]
        n = n[keep]
        sd = sd[keep]
        low = low[keep]
        high = high[keep]
        prior = prior[keep]
        other, at_other, x = x[keep], at_x[keep], new[keep]
    else:
        raise unended("a root between counts", _MOST_SECANTS)
    return result


# -------------------------------- The probability that a random ranking reaches a boundary at any n
#
# Let X_k be the number of positives among the first k candidates. Macskassy's recursion (2005,
# section 2.2, Eqs 12 to 15) gives the distribution of X_{k+1} from that of X_k. The mass at or
# above the boundary is removed at each k and added up, so all terms are positive and accurate.
#
# * A random order of N candidates is an infinite random sequence, given that N+ of the first N
#   are positive: probabilities are constant (Eqs 17, 18), so that several candidates take one
#   convolution, and each removed mass is weighted by the probability that the rest contains the
#   remaining positives.
# * Very improbable counts are dropped (see :func:`_lowest_kept` and :func:`_laws_of_steps`).
# * X_k never decreases, so only the last k before each rise of the boundary is relevant.

_LOST_SHARE = 1e-13  # largest relative error from dropping low counts
_START = 2.0**800  # mass instead of 1, so that floats represent relative masses down to 1e-500
_LEAST_LOG_MASS = -780.0  # of a count of positives that is kept: exp(-780) is below any float64
_BOUNDARIES_AT_ONCE = 256  # number of boundaries, one per p-value, in one call
_SAMPLED = 16  # number of sizes whose tails show how rare a crossing can be at least
_REMOVED_AT_ONCE = 2**20  # masses that are weighted together: 8 MB


def boundary_probability(counts: FloatArray, n: FloatArray, population: Population) -> FloatArray:
    """Return P(X_n >= count at some n) for each row of counts, ascending n, to a relative 1e-12."""
    lowest, highest = population.support(n)
    if not counts.size or (lowest == highest).all():  # X_n is not random
        return (counts <= lowest).any(axis=-1).astype(float)
    # X_n never decreases: lower the boundary to its minimum over all later n, (row, n)
    path = np.minimum.accumulate(counts[:, ::-1], axis=-1)[:, ::-1]
    sure = (path <= lowest).any(axis=-1)
    result = np.ones(sure.size)
    if sure.all():
        return result
    path = np.clip(path[~sure], 1.0, highest[-1] + 1.0).astype(np.int64)
    # a ranking that reaches the path at any n is still there at the last n before its next rise
    ends = (np.diff(path, append=int(highest[-1]) + 2) > 0).any(axis=0)
    result[~sure] = _first_crossings(path[:, ends].T, n[ends].astype(np.int64), population)
    return np.minimum(result, 1.0)


def _first_crossings(path: IntArray, k: IntArray, population: Population) -> FloatArray:
    """Return P(X_k >= path at some k) for several boundaries: (k, row) -> (row)."""
    prior = population.prior
    # for a finite population, all priors give the same result: use one with an exact 1 - prior
    if isinstance(population, Finite):
        prior = round(prior * 2.0**53) / 2.0**53
    steps = np.diff(k, prepend=0)
    rows = path.shape[1]
    laws = _laws_of_steps(path, k, prior, population)
    kept = _lowest_kept(k, population)
    lowest = path.min(axis=1)
    highest = path.max(axis=1)
    result = np.zeros(rows)
    law, base = np.full((rows, 1), _START), 0  # mass of each count from base: (row, count)
    removed = []
    counts = []
    every = np.arange(k[-1] + 1)
    start = cells = 0
    for place, (step, least, low, high) in enumerate(
        zip(*(x.tolist() for x in (steps, kept, lowest, highest)), strict=True)
    ):
        fewest, chances = laws[step]
        # all rows in one convolution, with zeros between them
        apart = np.zeros((rows, law.shape[1] + chances.size - 1))
        apart[:, : law.shape[1]] = law
        law = np.convolve(apart.reshape(-1), chances)[: apart.size].reshape(apart.shape)
        base += fewest
        near = max(low - base, 0)
        count = every[base + near : base + law.shape[1]]
        reached = np.where(count >= path[place, :, np.newaxis], law[:, near:], 0.0)
        law[:, near:] -= reached
        removed.append(reached)
        counts.append(count)
        cells += reached.size
        if cells > _REMOVED_AT_ONCE or place == k.size - 1:
            sizes = np.repeat(k[start : place + 1], [x.size for x in counts])
            weight = _completion_factor(np.concatenate(counts), sizes, prior, population)
            result += np.concatenate(removed, axis=1) @ weight
            removed = []
            counts = []
            start = place + 1
            cells = 0
        first = min(max(least - base, 0), law.shape[1] - 1)
        law = law[:, first : max(high - base, first + 1)]
        base = base + first
    return result / _START


def _lowest_kept(k: IntArray, population: Population) -> IntArray:
    """Return the lowest counts that are kept for the list sizes k.

    A lower count makes reaching a boundary less likely: high counts are associated on the lattice
    of orderings (Fortuin, Kasteleyn and Ginibre 1971). Its probability therefore bounds the error.
    """
    log_p = np.array([math.log(_LOST_SHARE / k.size)])
    negatives = critical_counts(log_p, k.astype(float), population.opposite)[0]
    return np.asarray(np.maximum(k - negatives + 1.0, 0.0), dtype=np.int64)


def _laws_of_steps(
    path: IntArray, k: IntArray, prior: float, population: Population
) -> dict[int, tuple[int, FloatArray]]:
    """Return the fewest positives between two sizes, and the law of their number from there up."""
    # a ranking reaches a path at least as often as at any single size
    some = slice(None, None, max(k.size // _SAMPLED, 1))
    here = population.tails(path[some].astype(float), k[some, np.newaxis].astype(float)).ge
    log_p = float(here.max(axis=0).min()) + math.log(0.5 * _LOST_SHARE / k.size)
    rare = np.array([max(log_p, _LEAST_LOG_MASS)])
    sizes = np.unique(np.diff(k, prepend=0))
    lists = sizes.astype(float)
    most = np.minimum(critical_counts(rare, lists, population)[0] - 1.0, lists)
    fewest = np.maximum(lists - critical_counts(rare, lists, population.opposite)[0] + 1.0, 0.0)
    laws = {}
    for size, first, last in zip(sizes.tolist(), fewest.tolist(), most.tolist(), strict=True):
        counts = np.arange(first, last + 1.0)
        log_law = log_pmf(counts, np.full(counts.size, float(size)), np.array(prior))
        laws[size] = int(first), np.exp(log_law)
    return laws


def _completion_factor(
    count: IntArray, k: IntArray, prior: float, population: Population
) -> FloatArray:
    """Return the factor by which conditioning on N+ of N changes a count's probability.

    P(the other N - k contain the rest) / P(N+ positives among N), both in an infinite sequence.
    """
    if isinstance(population, Infinite):
        return np.ones(count.size)
    total, positive = population.total, population.positive
    possible = (count <= positive) & (k - count <= total - positive) & (count <= k)
    needed = np.where(possible, positive - count, 0.0)
    whole = log_pmf(np.array(positive), np.array(total), np.array(prior))
    of_rest = log_pmf(needed, np.asarray(total - k, dtype=float), np.array(prior))
    return np.where(possible, np.exp(of_rest - whole), 0.0)


EVERY = 300  #: largest number of list sizes with a separate recursion each
_ALPHAS = (0.1, 0.05, 0.01, 0.001)  # p-values are never rounded across these levels
_LEVELS = 96  # number of p-values that are computed first
_ROUNDED, _COARSELY = 0.005, 0.05  # largest rounding errors
_MANY = 20_000  # a p-value of so many sizes costs 0.2 seconds
_MOST_PLACES = 64  # every step halves the distance between two places in an array
_TINY = 1e-6  # up to this value, the sum of probabilities is accurate enough


def simultaneous_p_values(
    log_p: FloatArray,
    tp: FloatArray,
    n: FloatArray,
    population: Population,
    advance: Advance = lambda _: None,
) -> FloatArray:
    """Return, for each p, the probability that any list size has a p-value <= p.

    ``log_p`` (n) are log P(X_n >= tp) for one ranking's counts, with one boundary per distinct p.
    For more than 300 list sizes, some values are computed, and the others rounded up by at most
    0.005 (0.05 for more than 20,000 sizes), but never across 0.1, 0.05, 0.01 or 0.001; below 1e-6,
    to p times the number of list sizes.
    ``advance`` is called with the number of values computed.
    """
    result = np.ones(n.size)
    order = np.argsort(log_p, kind="stable")
    at = partial(_reached_boundaries, log_p, tp, n, population, advance)
    if n.size <= EVERY:
        for start in range(0, n.size, _BOUNDARIES_AT_ONCE):
            rows = order[start : start + _BOUNDARIES_AT_ONCE]
            result[rows] = at(rows)
            if result[rows].min() >= 1.0 - _LOST_SHARE:
                break  # p increases, so the remaining simultaneous p-values are 1 as well
        return np.maximum(result, np.exp(log_p))
    tiny = int(np.searchsorted(log_p[order], np.log(_TINY / n.size), "right"))
    few = order[:tiny]
    rest = order[tiny:]
    result[few] = n.size * np.exp(log_p[few])
    if rest.size:
        # compute the increasing function at some points, and round up elsewhere
        ordered, rounded = log_p[rest], _ROUNDED
        if rest.size > _MANY:
            rounded = _COARSELY
        levels = np.linspace(ordered[0], ordered[-1], _LEVELS)
        first = np.searchsorted(ordered, ordered)  # the first among tied p-values
        places = np.unique(np.searchsorted(ordered, [*levels, ordered[-1]]))
        values = at(rest[places])
        for _ in range(_MOST_PLACES):
            wide = np.flatnonzero((np.diff(values) > rounded) & (np.diff(places) > 1))
            if not wide.size:
                break
            between = (places[wide] + places[wide + 1]) // 2
            values = np.insert(values, wide + 1, at(rest[between]))
            places = np.insert(places, wide + 1, between)
        for alpha in _ALPHAS:  # bisect until all p-values up to alpha are known individually
            for _ in range(_MOST_PLACES):
                right = int(np.searchsorted(values, alpha * (1.0 + 1e-12), "right"))
                if right in (0, places.size) or places[right] - places[right - 1] < 2:
                    break
                place = np.array([(places[right - 1] + places[right]) // 2])
                values = np.insert(values, right, at(rest[place]))
                places = np.insert(places, right, place)
            else:
                raise unended("the p-values around a level", _MOST_PLACES)
        result[rest] = values[np.searchsorted(places, first)]
        result[few] = np.minimum(result[few], result[rest[0]])
    return np.maximum(result, np.exp(log_p))


def _reached_boundaries(
    log_p: FloatArray,
    tp: FloatArray,
    n: FloatArray,
    population: Population,
    advance: Advance,
    rows: IntArray,
) -> FloatArray:
    """Return the probability that any list size has a p-value as small as each of some."""
    counts = critical_counts(log_p[rows], n, population)
    # the observed count must be on its own boundary despite rounding errors
    own = np.arange(rows.size), rows
    counts[own] = np.minimum(counts[own], tp[rows])
    advance(rows.size)
    ascending = np.argsort(n)
    return boundary_probability(counts[:, ascending], n[ascending], population)


# -------------------------------------------- Envelopes with equal local levels for random rankings
#
# The probability of reaching the boundary for a level t is a step function of t, with steps at the
# tails P(X_n >= i): tens of millions for a million candidates. An evaluation is expensive, so each
# trial is placed where a line through the log rates, as a function of log t, reaches log alpha.

_MOST_STEPS = 2**10  # number of steps between two levels that are listed
_MARGIN = 0.03  # part of the bracket by which a trial exceeds the guess, to move the other end
_LEAST_ASIDE = 1e-4  # smallest part
_CORRELATION_TIME = 0.3  # list sizes further apart than this log-odds time are independent
_MOST_TRIALS = 200  # far more than the bisection of all steps takes


class Envelope(NamedTuple):
    """Counts that a random ranking reaches at any n with a probability of at most alpha."""

    counts: FloatArray  #: one count for each n
    local_level: float  #: largest P(X_n >= count) over all n


def envelope(
    alpha: float,
    n: FloatArray,
    population: Population,
    step: Advance = lambda _: None,
) -> Envelope:
    """Return the envelope with equal local levels for distinct list sizes n in any order.

    The count at n is min{i: P(X_n >= i) <= t} for the largest t, between alpha / (number of list
    sizes) and alpha, with which a ranking reaches a count at any n with a probability of at most
    alpha. ``step`` is called for every t that is tried.
    """
    if n.size == 0:
        return Envelope(n.copy(), math.nan)
    unsorted = n
    n = np.sort(n)
    best = _largest_level(alpha, partial(_trial, alpha, n, population, step), n, population)
    largest = population.tails(best.counts, n).ge.max()
    return Envelope(best.counts[np.searchsorted(n, unsorted)], math.exp(largest))


class _LevelTrial(NamedTuple):
    """A level, its boundary, and the probability that a random ranking reaches the boundary."""

    log_t: float
    counts: FloatArray
    reached: float
    holds: bool  #: whether this probability is <= alpha


def _trial(
    alpha: float, n: FloatArray, population: Population, step: Advance, log_t: float
) -> _LevelTrial:
    """Try a level."""
    counts = critical_counts(np.array([log_t]), n, population)
    (reached,) = boundary_probability(counts, n, population)
    step(1)
    return _LevelTrial(log_t, counts[0], float(reached), bool(reached <= alpha * (1.0 + _EQUAL)))


def _largest_level(
    alpha: float, at: Callable[[float], _LevelTrial], n: FloatArray, population: Population
) -> _LevelTrial:
    """Return the trial of the largest level that holds, closing a bracket from both ends."""
    low, high = (at(math.log(alpha) - x) for x in (math.log(n.size), 0.0))
    if high.holds:
        return high
    behind = 0  # consecutive moves of the nearer end: the guess falls short
    for _ in range(_MOST_TRIALS):
        share = _share_below(alpha, low.reached, high.reached)
        nearer_low = share < 0.5
        aside = max(min(share, 1.0 - share), _LEAST_ASIDE) * _MARGIN * 4.0**behind
        beyond = share + math.copysign(aside, 0.5 - share)
        share = min(max(beyond, 0.0), 1.0)
        log_t = low.log_t + share * (high.log_t - low.log_t)
        if (low.counts - high.counts).sum() <= _MOST_STEPS:
            steps, known = _steps_between(low, high, n, population)
            if steps.size < 2:  # the last step is the boundary for the higher level
                break
            place = int(np.searchsorted(known, share * known[-1]))
            log_t = float(steps[min(place, steps.size - 2)])
        elif not low.log_t < log_t < high.log_t:
            log_t = 0.5 * (low.log_t + high.log_t)
        middle = at(log_t)
        # a trial from the nearer end that lands just beyond the level moves the other end
        behind += 1
        if middle.holds != nearer_low:
            behind = 0
        if middle.holds:
            low = middle
        else:
            high = middle
    return low


def _steps_between(
    low: _LevelTrial, high: _LevelTrial, n: FloatArray, population: Population
) -> tuple[FloatArray, FloatArray]:
    """Return the steps between two levels in ascending order, and the sums of their heights."""
    times = (low.counts - high.counts).astype(np.int64)
    at = np.repeat(np.arange(n.size), times)
    above = np.arange(at.size) - np.repeat(np.cumsum(times) - times, times)
    tails = population.tails(high.counts[at] + above, n[at]).ge
    order = np.argsort(tails)
    tails = tails[order]
    known = np.cumsum(_step_heights(n, population)[at[order]])
    last = np.diff(tails, append=np.inf) > _EQUAL  # equal tails are one step
    kept = last & (tails - low.log_t > _EQUAL)
    return tails[kept], known[kept]


def _step_heights(n: FloatArray, population: Population) -> FloatArray:
    """Return how much a step at each n adds to the rate of reaching a boundary, relatively."""
    left = np.ones(n.size)
    if isinstance(population, Finite):
        left = np.maximum(population.total - n, 1.0) / population.total
    # in this time, X_n resembles an Ornstein-Uhlenbeck process: a step of the boundary by one
    # standard deviation has the same effect over equal spans, up to the correlation time
    gaps = np.minimum(np.diff(np.log(n / left) / 2.0), _CORRELATION_TIME)
    spans = np.append(gaps, _CORRELATION_TIME) + np.insert(gaps, 0, _CORRELATION_TIME)
    variance = n * left * population.prior * (1.0 - population.prior)
    return np.asarray(spans / np.sqrt(variance + 0.25))


def _share_below(wanted: float, low: float, high: float) -> float:
    """Return how far a probability lies between two others, on the log-rate scale."""
    first, wanted, last = (_log_rate(p) for p in (low, wanted, high))
    if not (first < last and math.isfinite(last - first)):
        return 0.5
    return min(max((wanted - first) / (last - first), 0.0), 1.0)


def _log_rate(p: float) -> float:
    """Return log(-log(1 - p)), the log rate of a Poisson process with probability p."""
    if 0.0 < p < 1.0:
        return math.log(-math.log1p(-p))
    if p:
        return math.inf
    return -math.inf
