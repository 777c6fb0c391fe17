"""True positives in random lists, including ties (Macskassy 2005, section 2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.distributions import hypergeometric
from rankeval_pd.stats.distributions.binomial import log_betainc
from rankeval_pd.stats.distributions.populations import (
    FiniteEach,
    Infinite,
    InfiniteEach,
    Population,
)

# --------------------------------------------------------------- Bounds on the count at a level p
#
# Two algorithms give the same bounds. For a few list sizes, each bound is found by bisection on the
# exact tail. For every n, the bounds form a path that rises by 0 or 1 at each candidate. The path
# is split into a few hundred stretches. Each stretch starts from an exact tail, and all stretches
# advance in parallel with the recursion (Eqs 12 to 15), with all quantities in units of p.

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
    """Return the named bound."""
    if kind == "parametric":
        return parametric_bound(p, n, population.prior)
    result: FloatArray = getattr(bounds(p, n, population), kind)
    return result


def bound_each(kind: str, p: float, n: FloatArray, population: FiniteEach) -> FloatArray:
    """Return the named bound for lists that each have their own population."""
    if kind == "parametric":
        return parametric_each(p, n, population.prior)
    result: FloatArray = getattr(bounds_each(p, n, population), kind)
    return result


def bounds(p: float, n: FloatArray, population: Population) -> Bounds:
    """Return the bounds at level p for lists of size n >= 1, in any order."""
    n = np.asarray(n, dtype=float)
    if n.size == 0:
        return Bounds(n.copy(), n.copy(), n.copy())
    lowest, highest = population.support(n)
    if p >= 1.0 - _EQUAL:  # every count has a probability of at most 1
        return Bounds(lowest, np.maximum(lowest - 1.0, 0.0), lowest)
    if (lowest == highest).all():  # if none or all are positive, the count is not random
        return Bounds(lowest, np.maximum(lowest - p, 0.0), lowest + 1.0)
    return _bounds_from_tails(*_critical_tails(math.log(p), n, population))


def bounds_each(p: float, n: FloatArray, population: FiniteEach | InfiniteEach) -> Bounds:
    """Return the bounds at level p when each list has its own population.

    All distinct lists are searched in parallel. The cost per list is a few tail evaluations, or a
    few microseconds, regardless of the number of populations.
    """
    if isinstance(population, InfiniteEach):
        lists, back = unique_rows(n, population.prior)
        n, population = lists[0], InfiniteEach(lists[1])
    else:
        lists, back = unique_rows(n, population.total, population.positive)
        n, population = lists[0], FiniteEach(lists[1], lists[2])
    if p >= 1.0 - _EQUAL:
        lowest = population.support(n)[0]
        result = Bounds(lowest, np.maximum(lowest - 1.0, 0.0), lowest)
    else:
        result = _bounds_from_tails(*_critical_search(math.log(p), n, population)[:3])
    return Bounds(*(x[back] for x in result))


def unique_rows(*columns: AnyArray) -> tuple[list[Any], IntArray]:
    """Return the distinct rows of values, and each row's index among them.

    ``np.unique(axis=...)`` gives the same result but takes several times as long.
    """
    order = np.lexsort(columns)
    ordered = [column[order] for column in columns]
    new = np.ones(order.size, dtype=bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in ordered], axis=0)
    back = np.empty_like(order)
    back[order] = np.cumsum(new) - 1
    return [column[new] for column in ordered], back


def _bounds_from_tails(critical: FloatArray, tail: FloatArray, below: FloatArray) -> Bounds:
    """Compute the bounds from the critical count c, P(X >= c) / p and P(X = c - 1) / p."""
    # P(X > c - 1) = P(X >= c) is at most p, so the discrete bound is c - 1, or c if it equals p
    discrete = critical - np.where(tail >= 1.0 - _EQUAL, 0.0, 1.0)
    interpolated = np.maximum(critical - 1.0 + (tail - 1.0) / below, 0.0)
    return Bounds(discrete, interpolated, critical)


def critical_counts(log_p: FloatArray, n: FloatArray, population: Population) -> FloatArray:
    """Return min{i: P(X >= i) <= p} for every level (rows) and list size (columns)."""
    log_p, n = np.asarray(log_p, dtype=float)[:, np.newaxis], np.asarray(n, dtype=float)
    lowest, highest = population.support(n)
    if n.size == 0 or log_p.size == 0 or (lowest == highest).all():
        critical = np.broadcast_to(lowest + 1.0, (log_p.size, n.size))
    else:
        critical = _critical_tails(log_p, n, population)[0]
    return np.where(log_p >= -_EQUAL, lowest, critical)


def largest_tail(log_p: float, n: FloatArray, population: Population) -> float:
    """Return the logarithm of the largest P(X >= critical count) over some lists."""
    lowest, highest = population.support(n)
    if (lowest == highest).all():
        return -math.inf
    critical, tail, _ = _critical_tails(np.array([[log_p]]), n, population)
    if log_p < _LEAST_LOG_P:  # too small to compare in units of p
        return float(population.tails(critical[0], n).ge.max())
    # tails from the recursion are less accurate, so recompute the tails near the largest one
    near = tail[0] >= tail.max() * (1.0 - _WALK_ERROR)
    return float(population.tails(critical[0, near], n[near]).ge.max())


def _critical_tails(
    log_p: float | FloatArray, n: FloatArray, population: Population
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the critical count c, P(X >= c) / p and P(X = c - 1) / p."""
    first, last = float(n.min()), float(n.max())
    # search if list sizes are few or far apart, or if tails in units of p would overflow
    if (
        n.size <= MOST_SEARCHED
        or last - first > MOST_SEARCHED * n.size
        or np.min(log_p) < _LEAST_LOG_P
    ):
        return _critical_search(log_p, n, population)[:3]
    here = (n - first).astype(np.intp)
    critical, tail, below = (x[..., here] for x in _critical_path(log_p, first, last, population))
    return critical, tail, below


def _critical_search(
    log_p: float | FloatArray, n: FloatArray, population: Population | FiniteEach | InfiniteEach
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the critical count c, P(X >= c) / p, P(X = c - 1) / p and P(X = c) / p."""
    n, log_p = np.broadcast_arrays(n, log_p)
    lowest, highest = population.support(n)
    low, high = lowest.copy(), highest + 1.0
    at, step = np.clip(_normal_quantile(log_p, n, population), low, highest), 1.0
    while (active := low < high).any():
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
    return high, in_p[0], in_p[1], in_p[2]


def _normal_quantile(
    log_p: FloatArray, n: FloatArray, population: Population | FiniteEach | InfiniteEach
) -> FloatArray:
    """Return the rounded normal quantile, a guess at the count with an upper tail of p."""
    from scipy import special

    variance = n * population.prior * (1.0 - population.prior)
    if not isinstance(population, Infinite | InfiniteEach):
        variance = variance * (population.total - n) / np.maximum(population.total - 1.0, 1.0)
    z = -special.ndtri_exp(np.minimum(log_p, -1e-6))
    return np.asarray(np.round(n * population.prior + z * np.sqrt(variance) + 0.5))


def _critical_path(
    log_p: float | FloatArray, first: float, last: float, population: Population
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the critical count c, P(X >= c)/p and P(X = c - 1)/p for every n in a range."""
    # split the range of n into sqrt(n) stretches of sqrt(n) steps that advance in parallel
    count = int(last - first) + 1
    steps = math.isqrt(count - 1) + 1
    n = np.arange(first, last + 1.0, steps)
    c, tail, below, at = _critical_search(log_p, n, population)
    path = np.empty((3, *c.shape, steps))  # (quantity, level, stretch, step)
    for step in range(steps):
        path[0, ..., step], path[1, ..., step], path[2, ..., step] = c, tail, below
        c, tail, below, at = _next_size(c, tail, below, at, n + step, population)
    c_path, tail_path, below_path = path.reshape(3, *c.shape[:-1], -1)[..., :count]
    return c_path, tail_path, below_path


def _next_size(
    c: FloatArray,
    tail: FloatArray,
    below: FloatArray,
    at: FloatArray,
    n: FloatArray,
    population: Population,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Advance a result of :func:`_critical_search` from n to n + 1.

    Eqs 12 to 15: P(X' >= c) = P(X >= c) + up(c - 1) P(X = c - 1), and
    P(X' = c) = stay(c) P(X = c) + up(c - 1) P(X = c - 1).
    """
    up, stay = population.up(c, n), population.stay(c, n)
    gain = below * population.up(c - 1.0, n)
    rises = tail + gain > 1.0 + _EQUAL
    # the same counts at n + 1; P(X = c - 2) is replaced by its ratio to P(X = c - 1)
    below = below * population.stay(c - 1.0, n) * (n + 1.0) / (n + 2.0 - c)
    at_next = at * stay + gain
    # if the tail exceeds p, c increases by 1. P(X' >= c + 1) is computed from P(X >= c) - P(X = c).
    # Both terms are at most p, so the subtraction is accurate enough
    tail = np.where(rises, np.maximum(tail - at, 0.0) + at * up, tail + gain)
    with np.errstate(divide="ignore", invalid="ignore"):
        above = at_next * ((n + 1.0 - c) / (c + 1.0)) * (up / stay)
    below, at = np.where(rises, at_next, below), np.where(rises, above, at_next)
    return c + rises, tail, below, at


def parametric_bound(p: float, n: FloatArray, prior: float) -> FloatArray:
    """Return the x >= 0 with I_z(x + 1, n - x) = p and z = prior (Macskassy's Eqs 8 and 9).

    The printed Eq. 8 has N instead of k, which is corrected here. The regularized incomplete beta
    function with z = N+/N is a continuous extension of the binomial upper tail P(X > x).
    """
    n = np.asarray(n, dtype=float)
    if p >= 1.0 - _EQUAL or prior == 0.0:
        return np.zeros_like(n)
    if prior == 1.0:
        return n.copy()
    result = np.zeros_like(n)
    # the root is above 0 if P(X > 0) is above p, which holds from some n onward
    positive = -np.expm1(n * np.log1p(-prior)) > p
    # use a spline only if a list of positives alone is far rarer than p; otherwise the root is
    # close to n and not smooth
    smooth = positive & (n * math.log(prior) < math.log(p) - 20.0)
    if np.count_nonzero(smooth) <= 2 * _KNOTS:
        smooth = np.zeros_like(positive)
    rough = positive & ~smooth
    result[rough] = _smooth_root(p, n[rough], prior)
    if smooth.any():
        result[smooth] = _interpolated_root(p, n[smooth], prior)
    return result


_KNOTS = 1000  # number of exact roots for a spline


def parametric_each(p: float, n: FloatArray, prior: FloatArray) -> FloatArray:
    """Return :func:`parametric_bound` for lists with different priors."""
    n, prior = np.asarray(n, dtype=float), np.asarray(prior, dtype=float)
    if p >= 1.0 - _EQUAL:
        return np.zeros_like(n)
    (n, prior), back = unique_rows(n, prior)
    result = np.where(prior == 1.0, n, 0.0)
    inside = (prior > 0.0) & (prior < 1.0)
    inside[inside] = -np.expm1(n[inside] * np.log1p(-prior[inside])) > p
    result[inside] = _smooth_root(p, n[inside], prior[inside])
    return np.asarray(result[back])


def _log_tail(x: FloatArray, n: FloatArray, prior: float | FloatArray) -> FloatArray:
    return log_betainc(x + 1.0, n - x, prior)


def _smooth_root(p: float, n: FloatArray, prior: float | FloatArray) -> FloatArray:
    """Return x in (0, n) with I_z(x + 1, n - x) = p by a bracketed secant method."""
    from scipy import special

    target = math.log(p)
    prior = np.broadcast_to(np.asarray(prior, dtype=float), n.shape)
    low, high = np.zeros_like(n), n.copy()
    sd = np.sqrt(n * prior * (1.0 - prior))
    skew = (1.0 - 2.0 * prior) / 6.0
    z = -float(special.ndtri(p))
    # start at the Cornish-Fisher quantile with the skewness term (z^2 - 1)(1 - 2 prior)/6
    x = n * prior + z * sd + skew * (z * z - 1.0) - 0.5
    x = np.where((x > low) & (x < high), x, 0.5 * (low + high))
    other = x - 0.01 * np.minimum(sd, x)
    at_other = _log_tail(other, n, prior) - target
    result = np.empty_like(n)
    active = np.arange(n.size)
    while active.size:
        at_x = _log_tail(x, n, prior) - target
        low, high = np.where(at_x >= 0.0, x, low), np.where(at_x <= 0.0, x, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            secant = x - at_x * (x - other) / (at_x - at_other)
        # bisect if the secant leaves the bracket or if a tail has underflowed
        inside = (secant >= low) & (secant <= high) & np.isfinite(at_x + at_other)
        new = np.where(at_x == 0.0, x, np.where(inside, secant, 0.5 * (low + high)))
        # the error of a secant step is roughly the product of the errors at the two points, divided
        # by the scale
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


def _interpolated_root(p: float, n: FloatArray, prior: float) -> FloatArray:
    """Return the root for very many list sizes, from a spline and a Newton step.

    The root is a smooth function of log n. If the Newton step is not small, the root is computed
    exactly.
    """
    from scipy.interpolate import CubicSpline

    first, last = float(n.min()), float(n.max())
    knots = np.unique(np.round(np.geomspace(first, last, _KNOTS)))
    roots = _smooth_root(p, knots, prior)
    # slope of the log tail at each knot, by a backward difference, because a forward difference
    # would underflow at p = 1e-300
    width = 1e-4 * np.minimum(np.minimum(roots, knots - roots), 1.0)
    slopes = (math.log(p) - _log_tail(roots - width, knots, prior)) / width
    # one spline over log n for root / sqrt(n), which varies less than the root, and for the slope
    curve = CubicSpline(np.log(knots), np.column_stack([roots / np.sqrt(knots), slopes]))
    scaled, slope = np.moveaxis(curve(np.log(n)), -1, 0)
    x = np.clip(scaled * np.sqrt(n), 0.0, np.nextafter(n, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        step = (math.log(p) - _log_tail(x, n, prior)) / slope
    x = x + step
    rough = ~(np.abs(step) <= 1e-6 * np.minimum(np.maximum(x, 1e-3), 1e2))
    x[rough] = _smooth_root(p, n[rough], prior)
    return np.asarray(x)


# --------------------------------------------------------------------- Lists that end inside a tie
#
# Equal scores form a block, and counts are averaged over the orderings of each block. If the labels
# of N candidates are in random order, there are T0 positives above the block and t positives in the
# block. The list contains j of the m candidates in the block, so its mean count is T0 + j t / m.

_CELLS_AT_ONCE = 2**21  # cells (list, t) in an array: 16 MB
_NEGLIGIBLE_LOG = 45.0  # exp(-45) = 3e-20 added to 1 changes nothing in float64


class LogTails(NamedTuple):
    """Logarithms of P(at least the observed count) and of P(a larger count)."""

    ge: FloatArray
    gt: FloatArray


def averaged_tails(
    above: int, tp_above: int, size: int, tp: int, taken: IntArray, model: Population
) -> LogTails:
    """Return the tails of T0 + j t / m at the observed counts, for each number j.

    T0 m + j t is compared as an integer, so rounding errors cannot affect equality. The limits for
    T0 repeat from one j to the next. With J values of j and T values of t, only about T^2 / 2 of
    the J T tails are therefore distinct.
    """
    in_block, log_weight = _block_counts(above, tp_above, size, tp, model)
    # with fewer positives in the block, more are needed above: T0 >= T0_observed + needed/m
    missing = tp - in_block
    # tabulate the tails if j takes more values than t; otherwise compute them on demand
    tails_of = _tail_table if taken.size > missing.size else _tail_function
    lookup = tails_of(missing, in_block, float(above), float(size), model, tp_above)
    ge, gt = np.empty(taken.size), np.empty(taken.size)
    step = max(_CELLS_AT_ONCE // missing.size, 1)
    for start in range(0, taken.size, step):
        part = slice(start, start + step)
        needed = taken[part, np.newaxis] * missing  # (j, t), in units of 1/m
        # round up for "at least", and add one to the rounded-down value for "more"
        ge[part] = np.logaddexp.reduce(log_weight + lookup(-(-needed // size)), axis=-1)
        gt[part] = np.logaddexp.reduce(log_weight + lookup(needed // size + 1), axis=-1)
    return LogTails(np.minimum(ge, 0.0), np.minimum(gt, 0.0))  # rounding can push the sum above 1


def _block_counts(
    above: int, tp_above: int, size: int, tp: int, model: Population
) -> tuple[IntArray, FloatArray]:
    """Return the relevant counts t in the block, and their log probabilities.

    Adding one to the observed T0 or to the observed t gives a larger count for any j. Counts t that
    are far less likely than these two events do not change the sum.
    """
    low, high = model.support(np.array([float(size)]))
    in_block = np.arange(int(low[0]), int(high[0]) + 1)
    whole = in_block.astype(float)
    log_weight = model.tails(whole, np.full_like(whole, float(size))).pmf
    near = np.isin(in_block, (tp, tp + 1))
    t = in_block[near]
    more = log_weight[near] + _conditional_log_tail(tp_above + tp + 1 - t, t, above, size, model)
    matters = log_weight >= more.max() - _NEGLIGIBLE_LOG - np.log(log_weight.size)
    return in_block[matters], log_weight[matters]


TailLookup = Callable[[IntArray], FloatArray]  # (j, t) of T0 minus the observed T0 -> log tails


def _tail_table(
    missing: IntArray, in_block: IntArray, above: float, size: float, model: Population, seen: int
) -> TailLookup:
    """Compute every tail with 0 < j <= m and a limit between 0 and ``missing``."""
    # all limits from the lowest to the highest for each t, in one array: (t, limit)
    lowest, highest = np.minimum(missing, 0), np.maximum(missing, 0) + 1
    counts = highest - lowest + 1
    first = np.cumsum(counts) - counts - lowest
    limits = np.arange(counts.sum()) - np.repeat(first, counts)
    table = _conditional_log_tail(limits + seen, np.repeat(in_block, counts), above, size, model)
    return lambda more: table[first + more]


def _tail_function(
    missing: IntArray, in_block: IntArray, above: float, size: float, model: Population, seen: int
) -> TailLookup:
    return lambda more: _conditional_log_tail(more + seen, in_block, above, size, model)


def _conditional_log_tail(
    limit: IntArray, in_block: IntArray, above: float, size: float, model: Population
) -> FloatArray:
    """Return log P(T0 >= limit), given t positives in the block."""
    if isinstance(model, Infinite):
        return model.tails(limit.astype(float), np.full(limit.shape, above)).ge
    rest, taken = np.array(max(model.total - size, 1.0)), np.array(above)
    return hypergeometric.tails(limit, rest, model.positive - in_block, taken).ge
