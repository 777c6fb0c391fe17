"""Counts of true positives in random rankings: tails, critical values, envelopes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats import distributions
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray, at_most, silent_division
from rankeval_pd.stats.distributions import Finite, Infinite, Population, log_betainc, log_pmf

# ------------------------------------- Bounds on the count at a level p (Macskassy 2005, section 2)
#
# For a few list sizes, each bound is found by bisection on the exact tail. For every n, the bounds
# form a path that rises by 0 or 1, split into a few hundred stretches that start from an exact tail
# and advance in parallel with the recursion (Eqs 12 to 15), in units of p.

_LEAST_LOG_P = -700.0  # for smaller p, tails in units of p could overflow
_EQUAL = 1e-12  # a tail within this relative difference of p counts as equal
_WALK_ERROR = 1e-9  # relative errors of tails from the recursion are far smaller
MOST_SEARCHED = 64  # search each n up to this many list sizes, or if their mean gap is larger


class Bounds(NamedTuple):
    """Bounds on the number of true positives in a random ranking."""

    discrete: FloatArray  #: min{i: P(X > i) < p}, Macskassy's n(k, p), Eq 7
    interpolated: FloatArray  #: point at which the interpolated tail P(X > i) is p; at least 0
    critical: FloatArray  #: min{i: P(X >= i) <= p}, a test of level p


BOUND_KINDS = ("critical", "discrete", "interpolated", "parametric")


def bound(kind: str, p: float, n: FloatArray, population: Population) -> FloatArray:
    """Return the named bound, or the envelope, for lists from one or several populations."""
    if kind == "parametric":
        return parametric_bound(p, n, population.prior)
    if kind == "envelope":
        return envelope(p, n, population).counts
    return np.asarray(getattr(bounds(p, n, population), kind))


def bounds(p: float, n: FloatArray, population: Population) -> Bounds:
    """Return the bounds at level p for lists of size n >= 1, in any order."""
    n, back = np.asarray(n, dtype=float), None
    if population.each:
        (n, *columns), back = unique_rows(n, *vars(population).values())
        population = type(population)(*columns)
    lowest, highest = population.support(n)
    if p >= 1.0 - _EQUAL:  # every count has a probability of at most 1
        result = Bounds(lowest, np.maximum(lowest - 1.0, 0.0), lowest)
    elif (lowest == highest).all():  # if none or all are positive, the count is not random
        result = Bounds(lowest, np.maximum(lowest - p, 0.0), lowest + 1.0)
    else:
        # the critical count c, P(X >= c) / p and P(X = c - 1) / p
        critical, tail, below = _critical_tails(math.log(p), n, population)
        # P(X > c - 1) = P(X >= c) is at most p, so the discrete bound is c - 1, or c if it equals p
        discrete = critical - np.where(tail >= 1.0 - _EQUAL, 0.0, 1.0)
        interpolated = np.maximum(critical - 1.0 + (tail - 1.0) / below, 0.0)
        result = Bounds(discrete, interpolated, critical)
    if back is None:
        return result
    return Bounds(*(x[back] for x in result))


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
    log_p, n = np.asarray(log_p, dtype=float)[:, np.newaxis], np.asarray(n, dtype=float)
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
    first, last = float(n.min()), float(n.max())
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
    low, high = lowest.copy(), highest + 1.0
    # guess the count as the rounded normal quantile
    variance = n * population.prior * (1.0 - population.prior)
    if isinstance(population, Finite):
        variance = variance * (population.total - n) / np.maximum(population.total - 1.0, 1.0)
    z = -scipy.special.ndtri_exp(np.minimum(log_p, -1e-6))
    guess = np.round(n * population.prior + z * np.sqrt(variance) + 0.5)
    at, step = np.clip(guess, low, highest), 1.0
    for _ in at_most(distributions.MOST_PROBES, "a critical count"):
        active = low < high
        if not active.any():
            break
        middle = at[active]
        rare = population.at(active).tails(middle, n[active]).ge - log_p[active] <= _EQUAL
        below, above = low[active], high[active]
        below, above = np.where(rare, below, middle + 1.0), np.where(rare, middle, above)
        low[active], high[active] = below, above
        # first probe near the last count with growing steps, then bisect
        half = np.floor(0.5 * (below + above))
        at[active] = np.where(
            rare, np.maximum(half, above - step), np.minimum(half, below + step - 1.0)
        )
        step *= 4.0
    there, under = population.tails(high, n), population.tails(high - 1.0, n)
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
        up, stay = population.up(c, n), population.stay(c, n)
        gain = below * population.up(c - 1.0, n)
        rises = tail + gain > 1.0 + _EQUAL
        # the same counts at n + 1; P(X = c - 2) is replaced by its ratio to P(X = c - 1)
        below = below * population.stay(c - 1.0, n) * (n + 1.0) / (n + 2.0 - c)
        at_next = at * stay + gain
        # if the tail exceeds p, c increases by 1; the terms subtracted are at most p, so accurate
        tail = np.where(rises, np.maximum(tail - at, 0.0) + at * up, tail + gain)
        with silent_division():
            above = at_next * ((n + 1.0 - c) / (c + 1.0)) * (up / stay)
        below, at = np.where(rises, at_next, below), np.where(rises, above, at_next)
        c, n = c + rises, n + 1.0
    return tuple(path.reshape(3, *c.shape[:-1], -1)[..., :count])


def parametric_bound(p: float, n: FloatArray, prior: float | FloatArray) -> FloatArray:
    """Return the x >= 0 with I_z(x + 1, n - x) = p and z = prior (Macskassy's Eqs 8 and 9).

    The printed Eq. 8 has N instead of k, which is corrected here. Each list can have its own prior.
    """
    n = np.asarray(n, dtype=float)
    if p >= 1.0 - _EQUAL:
        return np.zeros_like(n)
    (n, priors), back = unique_rows(n, np.broadcast_to(prior, n.shape))
    result = np.where(priors == 1.0, n, 0.0)
    # the root is above 0 if P(X > 0) is above p, which holds from some n onward
    rough = (priors > 0.0) & (priors < 1.0)
    rough[rough] = -np.expm1(n[rough] * np.log1p(-priors[rough])) > p
    if np.ndim(prior) == 0 and np.count_nonzero(rough) > 2 * _KNOTS:
        # unless a list of positives alone is far rarer than p, the root is near n and not smooth
        smooth = rough & (n * math.log(prior) < math.log(p) - 20.0)
        if np.count_nonzero(smooth) > 2 * _KNOTS:
            # the root is smooth in log n: use a spline and a Newton step, if this step is small
            size = n[smooth]
            first, last = float(size.min()), float(size.max())
            knots = np.unique(np.round(np.geomspace(first, last, _KNOTS)))
            roots = _smooth_root(p, knots, prior)
            # slope of the log tail by a backward difference: a forward one underflows at p = 1e-300
            width = 1e-4 * np.minimum(np.minimum(roots, knots - roots), 1.0)
            slopes = (math.log(p) - _log_tail(roots - width, knots, prior)) / width
            # root / sqrt(n) varies less than the root
            curve = scipy.interpolate.CubicSpline(
                np.log(knots), np.column_stack([roots / np.sqrt(knots), slopes])
            )
            scaled, slope = np.moveaxis(curve(np.log(size)), -1, 0)
            x = np.clip(scaled * np.sqrt(size), 0.0, np.nextafter(size, 0.0))
            with silent_division():
                step = (math.log(p) - _log_tail(x, size, prior)) / slope
            result[smooth] = x + step
            scale = np.minimum(np.maximum(result[smooth], 1e-3), 1e2)
            rough &= ~smooth
            rough[smooth] = ~(np.abs(step) <= 1e-6 * scale)
    result[rough] = _smooth_root(p, n[rough], priors[rough])
    return result[back]


_KNOTS = 1000  # number of exact roots for a spline
_MOST_SECANTS = 200  # about six steps are usual; bisection alone takes 60 to neighboring floats


def _log_tail(x: FloatArray, n: FloatArray, prior: float | FloatArray) -> FloatArray:
    return log_betainc(x + 1.0, n - x, prior)


def _smooth_root(p: float, n: FloatArray, prior: float | FloatArray) -> FloatArray:
    """Return x in (0, n) with I_z(x + 1, n - x) = p by a bracketed secant method."""
    target = math.log(p)
    prior = np.broadcast_to(np.asarray(prior, dtype=float), n.shape)
    low, high = np.zeros_like(n), n.copy()
    sd = np.sqrt(n * prior * (1.0 - prior))
    skew = (1.0 - 2.0 * prior) / 6.0
    z = -float(scipy.special.ndtri(p))
    # start at the Cornish-Fisher quantile with the skewness term (z^2 - 1)(1 - 2 prior)/6
    x = n * prior + z * sd + skew * (z * z - 1.0) - 0.5
    x = np.where((x > low) & (x < high), x, 0.5 * (low + high))
    other = x - 0.01 * np.minimum(sd, x)
    at_other = _log_tail(other, n, prior) - target
    result = np.empty_like(n)
    active = np.arange(n.size)
    for _ in at_most(_MOST_SECANTS, "a root between counts"):
        if not active.size:
            break
        at_x = _log_tail(x, n, prior) - target
        low, high = np.where(at_x >= 0.0, x, low), np.where(at_x <= 0.0, x, high)
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
        active, n, sd, low, high = active[keep], n[keep], sd[keep], low[keep], high[keep]
        prior = prior[keep]
        other, at_other, x = x[keep], at_x[keep], new[keep]
    return result


# --------------------------------------------------------------------- Lists that end inside a tie
#
# With labels in random order, T0 positives are above a block of m tied candidates, which has t. A
# list with j of the m has, averaged over their orderings, T0 + j t / m positives.

_CELLS_AT_ONCE = 2**21  # cells (list, t) in an array: 16 MB
_NEGLIGIBLE_LOG = 45.0  # exp(-45) = 3e-20 added to 1 changes nothing in float64


def averaged_tails(
    above: int, tp_above: int, size: int, tp: int, taken: IntArray, model: Population
) -> tuple[FloatArray, FloatArray]:
    """Return log P(at least the observed T0 + j t / m) and log P(more) for each number j."""
    # the relevant counts t: adding one to the observed T0 or to the observed t gives a larger count
    # for any j, and counts t that are far less likely than these two events do not change the sum
    low, high = model.support(np.array([float(size)]))
    in_block = np.arange(int(low[0]), int(high[0]) + 1)
    whole = in_block.astype(float)
    log_weight = model.tails(whole, np.full_like(whole, float(size))).pmf
    near = np.isin(in_block, (tp, tp + 1))
    t = in_block[near]
    more = log_weight[near] + _conditional_log_tail(tp_above + tp + 1 - t, t, above, size, model)
    matters = log_weight >= more.max() - _NEGLIGIBLE_LOG - np.log(log_weight.size)
    in_block, log_weight = in_block[matters], log_weight[matters]
    # with fewer positives in the block, more are needed above: T0 >= T0_observed + needed/m
    missing = tp - in_block
    given = float(above), float(size), model
    table, first = None, missing
    if taken.size > missing.size:
        # compute each tail only once: all limits for each t, in one array (t, limit)
        lowest, highest = np.minimum(missing, 0), np.maximum(missing, 0) + 1
        counts = highest - lowest + 1
        first = np.cumsum(counts) - counts - lowest
        limits = np.arange(counts.sum()) - np.repeat(first, counts)
        table = _conditional_log_tail(limits + tp_above, np.repeat(in_block, counts), *given)
    ge, gt = np.empty(taken.size), np.empty(taken.size)
    step = max(_CELLS_AT_ONCE // missing.size, 1)
    for start in range(0, taken.size, step):
        part = slice(start, start + step)
        needed = taken[part, np.newaxis] * missing  # (j, t), in units of 1/m
        # round up for "at least", and add one to the rounded-down value for "more"
        for result, more in ((ge, -(-needed // size)), (gt, needed // size + 1)):
            if table is not None:
                tails = table[first + more]
            else:
                tails = _conditional_log_tail(more + tp_above, in_block, *given)
            result[part] = np.logaddexp.reduce(log_weight + tails, axis=-1)
    return np.minimum(ge, 0.0), np.minimum(gt, 0.0)  # rounding can push the sum above 1


def _conditional_log_tail(
    limit: IntArray, in_block: IntArray, above: float, size: float, model: Population
) -> FloatArray:
    """Return log P(T0 >= limit), given t positives in the block."""
    if isinstance(model, Infinite):
        return model.tails(limit.astype(float), np.full(limit.shape, above)).ge
    rest, taken = np.array(max(model.total - size, 1.0)), np.array(above)
    return distributions.tails(limit, rest, model.positive - in_block, taken).ge


# -------------------------------- The probability that a random ranking reaches a boundary at any n
#
# Let X_k be the number of positives among the first k candidates. Macskassy's recursion (2005,
# section 2.2, Eqs 12 to 15) gives the distribution of X_{k+1} from that of X_k. The mass at or
# above the boundary is removed at each k and added up, so all terms are positive and accurate.
#
# * A random order of N candidates is an infinite random sequence, given that N+ of the first N
#   are positive: probabilities are constant (Eqs 17, 18), and each removed mass is weighted by
#   the probability that the rest contains the remaining positives.
# * Very improbable low counts are dropped (see :func:`_lowest_kept`).
# * X_k never decreases, so only the last k before each rise of the boundary is relevant (see
#   :func:`crossing_by_jumps`), except for many boundaries at very many k.

_LOST_SHARE = 1e-13  # largest relative error from dropping low counts
_START = 2.0**800  # mass instead of 1, so that floats represent relative masses down to 1e-500
_LOG_GROWTH = 100.0 * math.log(2.0)  # before rescaling: 2^800 2^100 is below 2^1024
_BOUNDARIES_AT_ONCE = 256  # number of boundaries, one per p-value, in one call
_CACHED_CELLS = 2**16  # counts in all rows: 512 kB of floats fit into the processor's cache
_CELLS_IN_MEMORY = 2**22  # list sizes k in all rows: 32 MB


def boundary_probability(counts: FloatArray, n: FloatArray, population: Population) -> FloatArray:
    """Return P(X_n >= count at some n) for each row of counts, ascending n, to a relative 1e-12."""
    lowest, highest = population.support(n)
    if not counts.size or (lowest == highest).all():  # X_n is not random
        return (counts <= lowest).any(axis=-1).astype(float)
    # X_n never decreases: lower the boundary to its minimum over all later n, (row, n)
    path = np.minimum.accumulate(counts[:, ::-1], axis=-1)[:, ::-1]
    sure = (path <= lowest).any(axis=-1)
    path = np.clip(path, 1.0, highest[-1] + 1.0).astype(np.int64)
    prior = population.prior
    # for a finite population, all priors give the same result: use one with an exact 1 - prior
    if isinstance(population, Finite):
        prior = round(prior * 2.0**53) / 2.0**53
    k = n.astype(np.int64)
    # a ranking that reaches the path at any n is still there at the last n before its next rise
    ends = np.diff(path, append=int(highest[-1]) + 2) > 0
    result, rows = np.ones(path.shape[0]), np.flatnonzero(~sure)
    if _jumps_cost_less(int(ends[rows].sum()), rows.size, int(k[-1])):
        kept = _lowest_kept(k.tobytes(), population)
        for row in rows:
            end = ends[row]
            result[row] = crossing_by_jumps(path[row, end], k[end], kept[end], prior, population)
    elif rows.size:
        result[rows] = _crossing_by_steps(path[rows], k, prior, population)
    return np.minimum(result, 1.0)


def _jumps_cost_less(jumps: int, rows: int, last: int) -> bool:
    """Return whether row-by-row jumps are cheaper than steps for all rows at once."""
    # measured: a step is 6 us + 1 ns for each of sqrt(k) counts, a jump 8 us + 1 ms per boundary
    each = 6e-6 + 1e-9 * math.sqrt(last) * rows
    return 1e-3 * rows + 8e-6 * jumps < last * each


@lru_cache(maxsize=4)  # cached for all boundaries
def _lowest_kept(sizes: bytes, population: Population) -> IntArray:
    """Return the lowest counts that are kept for the list sizes k (int64 as bytes).

    A lower count makes reaching a boundary less likely: high counts are associated on the lattice
    of orderings (Fortuin, Kasteleyn and Ginibre 1971). Its probability therefore bounds the error.
    """
    k = np.frombuffer(sizes, dtype=np.int64).astype(float)
    log_p = np.array([math.log(_LOST_SHARE / k.size)])
    negatives = critical_counts(log_p, k, population.opposite)[0]
    return np.asarray(np.maximum(k - negatives + 1.0, 0.0), dtype=np.int64)


def _crossing_by_steps(
    path: IntArray, k: IntArray, prior: float, population: Population
) -> FloatArray:
    """Return P(X_k >= path at some k) for many boundaries, one candidate at a time."""
    last = int(k[-1])
    # a boundary for every k from 1 to the last: (row, k)
    path = np.repeat(path, np.diff(k, prepend=0), axis=1)
    kept = _lowest_kept(np.arange(1, last + 1).tobytes(), population)
    values = np.zeros(path.shape[0])
    # the widest range of counts kept in a row
    width = max(int((path - kept).max()), 1)
    together = max(1, min(_CACHED_CELLS // width, _CELLS_IN_MEMORY // last))
    for start in range(0, values.size, together):
        part = path[start : start + together]
        taken = _first_crossings(part, kept, prior)
        if isinstance(population, Finite):
            # rows have few distinct counts at each k: compute each once, (count - lowest, k)
            lowest = part.min(axis=0)
            above = np.arange(int((part - lowest).max()) + 1)[:, np.newaxis]
            each = np.arange(1, last + 1)
            if above.size < part.shape[0]:
                factors = completion_factor(lowest + above, each, prior, population)
                taken *= np.take_along_axis(factors, part - lowest, axis=0)
            else:
                taken *= completion_factor(part, each, prior, population)
        values[start : start + together] = taken.sum(axis=-1) / _START
    return values


def _first_crossings(path: IntArray, kept: IntArray, prior: float) -> FloatArray:
    """Return ``_START`` times P(an infinite sequence first reaches the path at k): (row, k)."""
    rows, last = path.shape
    taken = np.zeros((last, rows))
    top = np.minimum(path.max(axis=0), np.arange(1, last + 1))
    rest = 1.0 - prior
    odds = prior / rest
    longest = max(int(min(_LOG_GROWTH / -math.log1p(-prior), last)), 1)
    law, base, scale = np.full((rows, 2), [_START, 0.0]), 0, 1.0
    start = 0
    while start < last:
        # a stretch of k that fits into one array: the highest count grows by about a quarter
        room = (top[start] - base) // 4 + 16
        stop = min(int(np.searchsorted(top, top[start] + room, "right")), start + longest, last)
        low = 0
        if start:
            low = int(kept[start - 1])
        if top[stop - 1] < low:  # no mass is left below the path
            break
        # law (row, count from base), with a last column of zeros against leaks into the next row
        carried = law[:, low - base : -1] * scale
        base, width = low, int(top[stop - 1]) - low + 2
        law = np.zeros((rows, width))
        law[:, : carried.shape[1]] = carried
        cells = law.reshape(-1)
        # place (k, row): the flat cell on the path, or the empty last column if no cell is near
        place = path[:, start:stop].T - base
        place[(place < 0) | (place >= width)] = width - 1
        place += width * np.arange(rows)
        before, after, risen = cells[:-1], cells[1:], np.empty(cells.size - 1)
        # Eqs 12 to 15 with constant chances, divided by 1 - prior: f(i) + odds f(i - 1)
        for k in range(start, stop):
            np.multiply(before, odds, out=risen)
            np.add(after, risen, out=after)
            reached = place[k - start]
            # "clip" writes to ``out`` without a buffer; all indices are in bounds
            cells.take(reached, out=taken[k], mode="clip")
            cells[reached] = 0.0
        # restore the factors 1 - prior that the recursion omits
        powers = rest ** np.arange(1.0, stop - start + 1.0)
        taken[start:stop] *= powers[:, np.newaxis]
        scale = powers[-1]
        start = stop
    return taken.T


EVERY = 3_000  #: largest number of list sizes with a separate recursion each
_ALPHAS = (0.1, 0.05, 0.01, 0.001)  # p-values are never rounded across these levels
# a p-value of 20,000 sizes costs 0.2 seconds, so fewer are computed from there on
_LEVELS, _FEWER, _MANY = 512, 64, 20_000
_MOST_PLACES = 64  # every step halves the distance between two places in an array
_TINY = 1e-6  # up to this value, the sum of probabilities is accurate enough


def simultaneous_p_values(
    log_p: FloatArray,
    tp: FloatArray,
    n: FloatArray,
    population: Population,
    advance: Callable[[int], object] = lambda _: None,
) -> FloatArray:
    """Return, for each p, the probability that any list size has a p-value <= p.

    ``log_p`` (n) are log P(X_n >= tp) for one ranking's counts, with one boundary per distinct p.
    For more than 3,000 list sizes, at most about 550 values are computed, and the others rounded
    up, but never across 0.1, 0.05, 0.01 or 0.001; below 1e-6, to p times the number of list sizes.
    ``advance`` is called with the number of values computed.
    """
    result = np.ones(n.size)
    ascending = np.argsort(n)
    order = np.argsort(log_p, kind="stable")

    def at(rows: IntArray) -> FloatArray:
        counts = critical_counts(log_p[rows], n, population)
        # the observed count must be on its own boundary despite rounding errors
        counts[np.arange(rows.size), rows] = np.minimum(
            counts[np.arange(rows.size), rows], tp[rows]
        )
        advance(rows.size)
        return boundary_probability(counts[:, ascending], n[ascending], population)

    if n.size > EVERY:
        tiny = int(np.searchsorted(log_p[order], np.log(_TINY / n.size), "right"))
        few, rest = order[:tiny], order[tiny:]
        result[few] = n.size * np.exp(log_p[few])
        if rest.size:
            # compute the increasing function at some points, and round up elsewhere
            ordered, count = log_p[rest], _LEVELS
            if rest.size > _MANY:
                count = _FEWER
            levels = np.linspace(ordered[0], ordered[-1], count)
            first = np.searchsorted(ordered, ordered)  # the first among tied p-values
            places = np.unique(np.searchsorted(ordered, [*levels, ordered[-1]]))
            values = at(rest[places])
            for alpha in _ALPHAS:  # bisect until all p-values up to alpha are known individually
                for _ in at_most(_MOST_PLACES, "the p-values around a level"):
                    right = int(np.searchsorted(values, alpha * (1.0 + 1e-12), "right"))
                    if right in (0, places.size) or places[right] - places[right - 1] < 2:
                        break
                    place = np.array([(places[right - 1] + places[right]) // 2])
                    values = np.insert(values, right, at(rest[place]))
                    places = np.insert(places, right, place)
            result[rest] = values[np.searchsorted(places, first)]
            result[few] = np.minimum(result[few], result[rest[0]])
        return np.maximum(result, np.exp(log_p))
    for start in range(0, n.size, _BOUNDARIES_AT_ONCE):
        rows = order[start : start + _BOUNDARIES_AT_ONCE]
        result[rows] = at(rows)
        if result[rows].min() >= 1.0 - _LOST_SHARE:
            break  # p increases, so the remaining simultaneous p-values are 1 as well
    return np.maximum(result, np.exp(log_p))


# ---------------------------------------------------------------------- One boundary, rise by rise
#
# Between two sizes before a rise, the count's distribution is convolved with that of the candidates
# in between, binomial in an infinite sequence, and counts on or above the boundary are removed.
# Counts too low to reach it within a stretch of many rises pass in one convolution; for the others,
# the stretch is halved. The cost for J rises is about J log J, whatever the distribution's width.

_SHORTEST_STRETCH = 16  # number of rises in a stretch that is not halved
_SAMPLED_RISES = 1024  # number of rises among which to search for the one most likely to be reached
_DENSE_FACTOR = 64  # limits are tabulated for lengths up to this multiple of the rises


def crossing_by_jumps(
    path: IntArray, k: IntArray, kept: IntArray, prior: float, population: Population
) -> float:
    """Return P(X_k >= path at some k) for one boundary that rises from each k to the next.

    ``kept`` are the lowest counts kept, and ``prior`` belongs to an infinite sequence.
    """
    # all steps together omit at most a fraction ``_LOST_SHARE`` of the probability of reaching the
    # path: the counts above ``near``, once per rise and level, and both tails at each step
    of = slice(None, None, max(k.size // _SAMPLED_RISES, 1))
    best = float(population.tails(path[of].astype(float), k[of].astype(float)).ge.max())
    if best == -math.inf:
        best = float(population.tails(path.astype(float), k.astype(float)).ge.max())
    if best == -math.inf:  # no count on the path is possible
        return 0.0
    levels = max(math.ceil(math.log2(max(k.size / _SHORTEST_STRETCH, 1.0))), 0)
    # an integer, so that boundaries with similar levels can share cached values
    rare = math.floor(best + math.log(_LOST_SHARE / (k.size * (levels + 4))))
    # the first rise of each stretch, for each level
    starts = [np.arange(0, k.size, _SHORTEST_STRETCH << level) for level in range(levels + 1)]
    before = np.append(0, k)  # number of candidates before each rise
    # number of candidates from the start of the stretch to each rise, at every level: (rise)
    since = [k - np.repeat(before[s], np.diff(s, append=k.size)) for s in starts]
    steps = np.diff(k, prepend=0)
    # the smallest and largest plausible number of positives among candidates of these numbers
    lengths = np.unique(np.concatenate([steps, *since]))
    if lengths[-1] <= _DENSE_FACTOR * k.size:
        lengths = np.arange(1, lengths[-1] + 1)
    key = lengths.astype(float).tobytes()
    most = _largest_counts(rare, key, population)
    fewest = np.maximum(lengths - _largest_counts(rare, key, population.opposite), 0)
    # the distribution for each length that is needed, in one flat array (length, count)
    whole = [np.diff(before[np.append(s, k.size)]) for s in starts]
    needed = np.unique(np.concatenate([steps, *whole]))
    at = np.searchsorted(lengths, needed)
    sizes = most[at] - fewest[at] + 1
    ends = np.cumsum(sizes)
    counts = np.arange(ends[-1]) - np.repeat(ends - sizes - fewest[at], sizes)
    chances = np.array(prior)
    flat = np.exp(log_pmf(counts.astype(float), np.repeat(needed.astype(float), sizes), chances))
    split = zip(fewest[at].tolist(), np.split(flat, ends[:-1]), strict=True)
    laws = dict(zip(needed.tolist(), split, strict=True))
    walk = _Walk(path.tolist(), kept.tolist())
    for m, s, w in zip(since, starts, whole, strict=True):
        reaching = path - most[np.searchsorted(lengths, m)]
        walk.near.append(np.minimum.reduceat(reaching, s).tolist())
        walk.lasts.append(np.append(s[1:], k.size).tolist())
        walk.stretches.append([laws[length] for length in w.tolist()])
    walk.steps = [laws[length] for length in steps.tolist()]
    walk.cross_stretch(levels, 0, np.array([_START]), 0)
    # flatten the parts: (part, count) -> (crossing)
    weights = np.concatenate(walk.weights)
    if isinstance(population, Finite):
        sizes = np.array([x.size for x in walk.weights])
        place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        counts = np.repeat(np.array(walk.firsts), sizes) + place
        weights *= completion_factor(counts, np.repeat(k[walk.rises], sizes), prior, population)
    return float(weights.sum()) / _START


@lru_cache(maxsize=4)  # cached for boundaries with similar levels
def _largest_counts(rare: float, lengths: bytes, population: Population) -> IntArray:
    """Return the largest counts that are not too rare, for lengths passed as float64 bytes."""
    sizes = np.frombuffer(lengths)
    most = critical_counts(np.array([rare]), sizes, population)[0] - 1.0
    return np.asarray(np.minimum(most, sizes), dtype=np.int64)


@dataclass
class _Walk:
    """The distribution of the count below a boundary, by rises.

    Level 0 has stretches of ``_SHORTEST_STRETCH`` rises, each higher level half as many, to one.
    """

    path: list[int]
    kept: list[int]
    #: the lowest count that can reach the path within the stretch, for each level and stretch
    near: list[list[int]] = field(default_factory=list)
    #: the rise after the last one in the stretch
    lasts: list[list[int]] = field(default_factory=list)
    #: fewest positives, and the distribution from there up, for each whole stretch
    stretches: list[list[tuple[int, FloatArray]]] = field(default_factory=list)
    steps: list[tuple[int, FloatArray]] = field(default_factory=list)  #: the same between rises
    # the removed parts: lowest count, probabilities, and rise
    firsts: list[int] = field(default_factory=list)
    weights: list[FloatArray] = field(default_factory=list)
    rises: list[int] = field(default_factory=list)

    def cross_stretch(
        self, level: int, stretch: int, law: FloatArray, base: int
    ) -> tuple[FloatArray, int]:
        """Return the distribution and its lowest count after a stretch."""
        # counts that cannot reach the path in this stretch need only one convolution
        far = self.near[level][stretch] - base
        passed, lowest = law[:0], base
        if far > 0:
            fewest, kernel = self.stretches[level][stretch]
            passed, lowest = np.convolve(law[:far], kernel), base + fewest
            law, base = law[far:], base + far
        # all other counts go through both halves, or rise by rise at the lowest level
        if law.size:
            if level:
                for half in (2 * stretch, 2 * stretch + 1):
                    if law.size and half < len(self.near[level - 1]):
                        law, base = self.cross_stretch(level - 1, half, law, base)
            else:
                law, base = self.cross_rises(stretch, law, base)
            passed, lowest = _sum_of_laws(passed, lowest, law, base)
        start = max(self.kept[self.lasts[level][stretch] - 1] - lowest, 0)
        return passed[start:], lowest + start

    def cross_rises(self, stretch: int, law: FloatArray, base: int) -> tuple[FloatArray, int]:
        """Return the distribution after a stretch at level 0; store parts that reach the path."""
        first, last = stretch * _SHORTEST_STRETCH, self.lasts[0][stretch]
        for rise in range(first, last):
            fewest, kernel = self.steps[rise]
            law = np.convolve(law, kernel)
            base += fewest
            reached = self.path[rise] - base
            if reached < law.size:
                reached = max(reached, 0)
                self.weights.append(law[reached:])
                self.firsts.append(base + reached)
                self.rises.append(rise)
                law = law[:reached]
                if not law.size:  # no mass is left below the path
                    break
        return law, base


def _sum_of_laws(
    one: FloatArray, lowest: int, other: FloatArray, base: int
) -> tuple[FloatArray, int]:
    """Return the sum of two distributions that start at their lowest counts."""
    if not one.size:
        return other, base
    if not other.size:
        return one, lowest
    first = min(lowest, base)
    both = np.zeros(max(lowest + one.size, base + other.size) - first)
    both[lowest - first : lowest - first + one.size] = one
    both[base - first : base - first + other.size] += other
    return both, first


def completion_factor(count: IntArray, k: IntArray, prior: float, population: Finite) -> FloatArray:
    """Return the factor by which conditioning on N+ of N changes a count's probability.

    P(the other N - k contain the rest) / P(N+ positives among N), both in an infinite sequence.
    """
    total, positive = population.total, population.positive
    possible = (count <= positive) & (k - count <= total - positive) & (count <= k)
    needed: FloatArray = np.where(possible, positive - count, 0.0)
    whole = log_pmf(np.array(positive), np.array(total), np.array(prior))
    return np.where(
        possible,
        np.exp(log_pmf(needed, np.asarray(total - k, dtype=float), np.array(prior)) - whole),
        0.0,
    )


# -------------------------------------------- Envelopes with equal local levels for random rankings
#
# The probability of reaching the boundary for a level t is a step function of t, with steps at the
# tails P(X_n >= i): tens of millions for a million candidates. An evaluation is expensive, so the
# search starts from a model, estimates the heights of the steps, and closes in from both ends.

_MOST_STEPS = 2**14  # number of highest steps that are listed; all other steps count as a slope
_MARGIN = 0.03  # relative error allowed for a guess
_LEAST_ASIDE = 1e-4  # minimum fraction of the bracket by which a trial exceeds the guess
_MOST_TRIALS = 200  # about 12 are usual; after a short guess, the next goes four times as far
_FARTHEST_BOUNDARY = 40.0  # standard deviations; beyond, normal tails are below the smallest float
_BOUNDARY_HALVINGS = 26  # to 6e-7 standard deviations, far closer than the model
_CORRELATION_TIME = 0.3  # list sizes further apart than this log-odds time are independent


class Envelope(NamedTuple):
    """Counts that a random ranking reaches at any n with a probability of at most alpha."""

    counts: FloatArray  #: one count for each n
    local_level: float  #: largest P(X_n >= count) over all n


def envelope(
    alpha: float,
    n: FloatArray,
    population: Population,
    step: Callable[[int], object] = lambda _: None,
) -> Envelope:
    """Return the envelope with equal local levels for distinct list sizes n in any order.

    The count at n is min{i: P(X_n >= i) <= t} for the largest t, between alpha / (number of list
    sizes) and alpha, with which a ranking reaches a count at any n with a probability of at most
    alpha. ``step`` is called for every t that is tried.
    """
    if n.size == 0:
        return Envelope(n.copy(), math.nan)
    unsorted, n = n, np.sort(n)
    search = _LevelSearch(alpha, n, population, step)
    best = search.largest_level()
    counts = best.counts[np.searchsorted(n, unsorted)]
    lowest, highest = population.support(n)
    if (lowest == highest).all():
        return Envelope(counts, 0.0)
    critical, tail, _ = _critical_tails(np.array([[best.log_t]]), n, population)
    near = np.ones(n.size, dtype=bool)
    if best.log_t >= _LEAST_LOG_P:  # smaller levels are too small to compare in units of p
        # tails from the recursion are less accurate, so recompute the tails near the largest one
        near = tail[0] >= tail.max() * (1.0 - _WALK_ERROR)
    largest = population.tails(critical[0, near], n[near]).ge.max()
    return Envelope(counts, math.exp(largest))


class _LevelTrial(NamedTuple):
    """A level, its boundary, and the probability that a random ranking reaches the boundary."""

    log_t: float
    counts: FloatArray
    reached: float
    holds: bool  #: whether this probability is <= alpha


class _LevelSearch:
    """The search for the largest level at which the boundary's probability is <= alpha."""

    def __init__(
        self, alpha: float, n: FloatArray, population: Population, step: Callable[[int], object]
    ) -> None:
        self.alpha, self.n, self.population, self.step = alpha, n, population, step
        # the time scale on which X_n resembles an Ornstein-Uhlenbeck process
        self.time: FloatArray = np.log(n) / 2.0
        variance = n * population.prior * (1.0 - population.prior)
        if isinstance(population, Finite):
            self.time -= np.log(np.maximum(population.total - n, 1.0)) / 2.0
            variance = variance * (1.0 - n / population.total)
        # moving the boundary by one standard deviation has the same effect over equal time spans
        gaps = np.minimum(np.diff(self.time), _CORRELATION_TIME)
        around = np.append(gaps, _CORRELATION_TIME) + np.insert(gaps, 0, _CORRELATION_TIME)
        self.heights: FloatArray = around / np.sqrt(variance + 0.25)

    def at(self, log_t: float) -> _LevelTrial:
        """Try a level."""
        counts = critical_counts(np.array([log_t]), self.n, self.population)
        (reached,) = boundary_probability(counts, self.n, self.population)
        self.step(1)
        holds = bool(reached <= self.alpha * (1.0 + _EQUAL))
        return _LevelTrial(log_t, counts[0], float(reached), holds)

    def largest_level(self) -> _LevelTrial:
        """Close the bracket from both ends."""
        low, high = self.bracket()
        behind = 0  # consecutive moves of the nearer end: the guess falls short
        for _ in at_most(_MOST_TRIALS, "the level of an envelope"):
            if high is None:
                break
            log_t = self.between(low, high, _MARGIN * 4.0**behind)
            if log_t is None:
                break
            middle = self.at(log_t)
            # a trial from the nearer end that lands just beyond the level moves the other end
            share = _share_below(self.alpha, low.reached, high.reached)
            behind += 1
            if middle.holds == (share >= 0.5):
                behind = 0
            if middle.holds:
                low = middle
            else:
                high = middle
        return low

    def bracket(self) -> tuple[_LevelTrial, _LevelTrial | None]:
        """Return a level that satisfies the condition, and one that does not (None if all do)."""
        lowest, highest = math.log(self.alpha) - math.log(self.n.size), math.log(self.alpha)
        here = self.at(min(max(self.likely_level(0.0), lowest), highest))
        step = 0.0
        for _ in at_most(_MOST_TRIALS, "the bracket of an envelope"):
            if here.holds and here.log_t == highest:
                break
            up = here.holds
            # the factor by which the model's hazard is off, and the corrected level for alpha
            boundary = -min(float(scipy.special.ndtri_exp(here.log_t)), 0.0)
            off = _log_hazard(here.reached) - math.log(self.hazard(boundary))
            way = 0.5
            if math.isfinite(off):
                way = abs(self.likely_level(off) - here.log_t)
            step = max((1.0 + _MARGIN) * way, 2.0 * step, _LEAST_ASIDE)
            there = self.at(min(max(here.log_t + (step if up else -step), lowest), highest))
            if there.log_t == lowest or there.holds != up:
                if up:
                    return here, there
                return there, here
            here = there
        return here, None

    def between(self, low: _LevelTrial, high: _LevelTrial, margin: float) -> float | None:
        """Return a level just beyond the prediction of the nearer end; None if no step is left."""
        # position of alpha between the hazards of the two ends, shifted by the margin
        share = _share_below(self.alpha, low.reached, high.reached)
        aside = max(min(share, 1.0 - share), _LEAST_ASIDE) * margin
        upwards = share < 0.5
        share = min(max(share + (aside if upwards else -aside), 0.0), 1.0)
        tails, heights, rest = self.steps(low, high)
        known = np.cumsum(heights)
        if rest:  # many small steps are not listed, so add their hazard as a slope
            slope = rest * (tails - low.log_t) / (high.log_t - low.log_t)
            levels = [low.log_t, *np.repeat(tails, 2), high.log_t]
            at = np.stack([known - heights + slope, known + slope], axis=1).reshape(-1)
            whole = rest + heights.sum()
            log_t = float(np.interp(share * whole, [0.0, *at, whole], levels))
            if low.log_t < log_t < high.log_t:
                return log_t
            return (low.log_t + high.log_t) / 2.0
        if tails.size < 2:  # the last step is the boundary for the higher level
            return None
        wanted = share * float(known[-1])
        if upwards:
            place = int(np.searchsorted(known, wanted, "left"))
        else:
            place = int(np.searchsorted(known, wanted, "right")) - 1
        return float(tails[min(max(place, 0), tails.size - 2)])

    def steps(self, low: _LevelTrial, high: _LevelTrial) -> tuple[FloatArray, FloatArray, float]:
        """Return the steps between two levels, relative heights, and the total of the rest."""
        # number of counts between the two boundaries at each n: (n)
        many = (low.counts - high.counts).astype(np.int64)
        whole = float((many * self.heights).sum())
        listed = np.flatnonzero(many)
        if many.sum() > _MOST_STEPS:
            listed = listed[np.argsort(-self.heights[listed], kind="stable")]
            listed = np.sort(listed[np.cumsum(many[listed]) <= _MOST_STEPS])
        # one entry for each listed step: n, and the count above the lower boundary
        times = many[listed]
        at = np.repeat(listed, times)
        above = np.arange(at.size) - np.repeat(np.cumsum(times) - times, times)
        tails = self.population.tails(high.counts[at] + above, self.n[at]).ge
        # steps in ascending order; equal tails are added up
        order = np.argsort(tails)
        tails, heights = tails[order], self.heights[at[order]]
        new = np.diff(tails, prepend=low.log_t) > _EQUAL
        which = np.cumsum(new)
        sums = np.bincount(which, heights, minlength=1)[1:].astype(float)
        rest = 0.0
        if listed.size < np.count_nonzero(many):
            rest = float(whole - float(self.heights[at].sum()))
        return tails[new], sums, rest

    def likely_level(self, off: float) -> float:
        """Return the log t at which the model, corrected by ``off``, has the probability alpha."""
        wanted = -math.log1p(-self.alpha) / math.exp(off)
        # bisection: the hazard decreases as the boundary c (in standard deviations) increases
        low, high = 0.0, _FARTHEST_BOUNDARY
        for _ in range(_BOUNDARY_HALVINGS):
            c = (low + high) / 2.0
            if self.hazard(c) > wanted:
                low = c
            else:
                high = c
        return float(scipy.special.log_ndtr(-low))

    def hazard(self, c: float) -> float:
        """Return the approximate number of upward crossings of c by a Brownian bridge.

        In time log(n / (N - n)) / 2 it is Ornstein-Uhlenbeck: T c phi(c) crossings in a time T.
        """
        above = math.erfc(c / math.sqrt(2.0)) / 2.0
        time = float(self.time[-1] - self.time[0])
        return above + time * c * math.exp(-c * c / 2.0) / math.sqrt(2.0 * math.pi)


def _log_hazard(p: float) -> float:
    """Return log(-log(1 - p)), the log rate of a Poisson process with probability p."""
    if 0.0 < p < 1.0:
        return math.log(-math.log1p(-p))
    if p:
        return math.inf
    return -math.inf


def _share_below(wanted: float, low: float, high: float) -> float:
    """Return how far a probability lies between two others, on the log-rate scale."""
    first, wanted, last = (_log_hazard(p) for p in (low, wanted, high))
    if not (first < last and math.isfinite(last - first)):
        return 0.5
    return min(max((wanted - first) / (last - first), 0.0), 1.0)
