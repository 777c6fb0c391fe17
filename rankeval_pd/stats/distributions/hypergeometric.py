"""The hypergeometric distribution, and tail sums for all distributions of counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray

# ----------------------------------------------------------------- The hypergeometric distribution
#
# The random model for a finite population (Macskassy 2005, Eqs 5, 6).


def log_pmf(i: FloatArray, total: FloatArray, positive: FloatArray, n: FloatArray) -> FloatArray:
    """Return log P(X = i) for the number X of positives in a random list of size n.

    i must be a possible count. The error is a few times 1e-13 for a total of ten million, because
    deviances of cells from their expectations replace logarithms of factorials.
    """
    # the 2x2 table, each cell with its row and column sum
    negative, left = total - positive, total - n
    cells = (
        (i, positive, n),
        (n - i, negative, n),
        (positive - i, positive, left),
        (left - (positive - i), negative, left),
    )
    log_p = (
        stirling_remainder(positive)
        + stirling_remainder(negative)
        + stirling_remainder(n)
        + stirling_remainder(left)
        - stirling_remainder(total)
    )
    for cell, row, column in cells:
        log_p = log_p - (stirling_remainder(cell) + deviance(cell, row * (column / total)))
    result: FloatArray = log_p
    return result


def support(
    total: AnyArray | float, positive: AnyArray | float, n: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest possible counts."""
    return np.maximum(0.0, n - (total - positive)), np.minimum(n, positive)


def mode(total: FloatArray, positive: FloatArray, n: FloatArray) -> FloatArray:
    """Return the most likely count, or the larger of two equally likely counts."""
    result: FloatArray = np.floor((n + 1.0) * (positive + 1.0) / (total + 2.0))
    return result


def tails(i: AnyArray, total: AnyArray | float, positive: AnyArray | float, n: AnyArray) -> Tails:
    """Return the log upper tails of X at integers i.

    Arguments are broadcast. i can lie outside the support.
    """
    i, total, positive, n = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(i, total, positive, n)
    )
    lowest, highest = support(total, positive, n)
    inside = np.clip(i, lowest, highest)
    lp = log_pmf(inside, np.maximum(total, 1.0), positive, n)
    above_mode = inside >= mode(total, positive, n)
    # the other three cells of the table: P(i + 1) / P(i) = only_positive only_listed / ((i + 1)
    # (neither + 1)), and for P(i - 1) / P(i) the two pairs are swapped
    only_listed, only_positive = n - inside, positive - inside
    neither = (total - positive) - n + inside
    series = ratio_sum(
        np.where(above_mode, only_positive, inside),
        np.where(above_mode, only_listed, neither),
        np.where(above_mode, inside, only_positive) + 1.0,
        np.where(above_mode, neither, only_listed) + 1.0,
    )
    return tails_beyond_support(
        tails_from_series(lp, series, series, above_mode), i, lowest, highest
    )


# ----------------------------------------------------------- Tail sums in units of one probability
#
# A tail is the probability of its first point times ``1 + r1 + r1 r2 + ...``, where each r is a
# ratio of neighboring probabilities. All terms are positive, so there is no cancellation. The sum
# is of order one even if the probabilities are 1e-300 or less.

_SUMS_AT_ONCE = 4096  # nine arrays of this size fit into the processor's cache
_STRIDE = 8  # number of terms between two checks for convergence
_NEGLIGIBLE = 1e-18  # the sum ends when a term is smaller than this fraction of the sum
_LOG_HALF = math.log(0.5)


class Tails(NamedTuple):
    """Natural logarithms of the upper tails of X at a count i."""

    ge: FloatArray  #: log P(X >= i)
    gt: FloatArray  #: log P(X > i)
    mid: FloatArray  #: log of P(X > i) + P(X = i) / 2
    pmf: FloatArray  #: log P(X = i)


def ratio_sum(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, weight: float | FloatArray = 1.0
) -> FloatArray:
    """Return the sum over m >= 1 of the product over t < m of weight (a-t)(b-t) / ((c+t)(d+t)).

    The ratios decrease with t and reach 0 at t = min(a, b), where a and b are integers. c and d are
    positive. If b and d are infinite, the corresponding factors are 1, and the same applies to an
    infinite a or c. The cost is proportional to the number of relevant terms. These span about
    eight standard deviations, or fewer far from the mode.
    """
    result: FloatArray = _series_sums(a, b, c, d, weight, highest_power=0)[0]
    return result


def ratio_moments(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, weight: float | FloatArray = 1.0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return :func:`ratio_sum`, and its sums with terms weighted by m and by m squared."""
    total, first, second = _series_sums(a, b, c, d, weight, highest_power=2)
    return total, first, second


def _series_sums(
    a: FloatArray,
    b: FloatArray,
    c: FloatArray,
    d: FloatArray,
    weight: float | FloatArray,
    *,
    highest_power: int,
) -> FloatArray:
    """Return the sums of terms times powers of m: (power, ...)."""
    a, b, c, d, weight = np.broadcast_arrays(a, b, c, d, weight)
    shape = a.shape
    flat = [np.ascontiguousarray(x, dtype=float).ravel() for x in (a, b, c, d, weight)]
    out = np.zeros((highest_power + 1, flat[0].size))
    infinite = [bool(np.isinf(x).all()) for x in flat[:3]]
    for start in range(0, flat[0].size, _SUMS_AT_ONCE):
        block = slice(start, start + _SUMS_AT_ONCE)
        out[:, block] = _series_sums_of_block(
            *(x[block].copy() for x in flat), infinite=infinite, highest_power=highest_power
        )
    return out.reshape(highest_power + 1, *shape)


def _series_sums_of_block(
    a: FloatArray,
    b: FloatArray,
    c: FloatArray,
    d: FloatArray,
    weight: FloatArray,
    *,
    infinite: list[bool],
    highest_power: int,
) -> FloatArray:
    """Return the sums for one block, (power, sum); the arguments are overwritten."""
    no_a, no_b, no_c = infinite
    result = np.zeros((highest_power + 1, a.size))
    active = np.arange(a.size)
    term, totals, m = np.ones_like(a), np.zeros_like(result), 0.0
    ratio, denominator = np.empty_like(a), np.empty_like(a)
    uniform = bool((weight == 1.0).all())
    while active.size:
        # add the next terms in place to all sums that have not converged
        for _ in range(_STRIDE):
            if no_a:
                np.reciprocal(c, out=ratio)
            elif no_c:
                np.copyto(ratio, a)
            elif no_b:
                np.divide(a, c, out=ratio)
            else:
                np.multiply(a, b, out=ratio)
                np.multiply(c, d, out=denominator)
                np.divide(ratio, denominator, out=ratio)
                b -= 1.0
                d += 1.0
            if not uniform:
                ratio *= weight
            term *= ratio
            totals[0] += term
            m += 1.0
            for power in range(1, highest_power + 1):
                totals[power] += m**power * term
            a -= 1.0
            c += 1.0
        # also stop sums that have overflowed, because they never converge
        last = totals[highest_power]
        going = (m**highest_power * term > _NEGLIGIBLE * last) & np.isfinite(last)
        # compress the arrays only after a quarter of the sums are done: copying costs more than
        # summing
        if np.count_nonzero(going) <= 0.75 * active.size:
            result[:, active] = totals
            active, term, totals = active[going], term[going], totals[:, going]
            a, b, c, d, weight = a[going], b[going], c[going], d[going], weight[going]
            ratio, denominator = ratio[going], denominator[going]
    return result


def tails_from_series(
    log_pmf: FloatArray, upward: FloatArray, downward: FloatArray, above_mode: BoolArray
) -> Tails:
    """Return the tails, given log P(X = i) and the sum on one side of i.

    If ``above_mode`` is True, ``upward`` is P(X > i) / P(X = i), and the tails are computed as
    sums. Otherwise ``downward`` is P(X < i) / P(X = i), and the large upper tails are computed as
    complements.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        side = np.where(above_mode, upward, downward)
        log_strict = log_pmf + np.log(side)
        log_with = log_pmf + np.log1p(side)
        log_half = log_pmf + np.log(0.5 + side)
        ge = np.where(above_mode, log_with, _log_complement(log_strict))
        gt = np.where(above_mode, log_strict, _log_complement(log_with))
        mid = np.where(above_mode, log_half, _log_complement(log_half))
    return Tails(ge, gt, mid, log_pmf)


def _log_complement(log_p: FloatArray) -> FloatArray:
    """Return log(1 - exp(log_p)), even if rounding moved p slightly above 1."""
    log_p = np.minimum(log_p, 0.0)
    rare = log_p < _LOG_HALF
    # log1p(-p) is accurate for small p, and log(-expm1) for p near 1
    return np.where(rare, np.log1p(-np.exp(log_p)), np.log(-np.expm1(np.where(rare, -1.0, log_p))))


def tails_beyond_support(
    found: Tails, i: FloatArray, lowest: FloatArray, highest: FloatArray
) -> Tails:
    """Return the tails, with probability 1 or 0 for counts outside the support."""
    below, above = i < lowest, i > highest
    ge = np.where(i <= lowest, 0.0, np.where(above, -np.inf, found.ge))
    gt = np.where(below, 0.0, np.where(i >= highest, -np.inf, found.gt))
    mid = np.where(below, 0.0, np.where(above, -np.inf, found.mid))
    pmf = np.where(below | above, -np.inf, found.pmf)
    return Tails(ge, gt, mid, pmf)


# --------------------------------------------------- Logarithms of factorials without cancellation
#
# ``lgamma`` of ten million is 1.5e8, so differences between such values lose eight of their sixteen
# digits. Loader's decomposition expresses binomial and hypergeometric probabilities in terms of
# Stirling remainders and deviances. Stirling remainders are always small, and deviances are small
# unless the probability is tiny.
#
# Reference: C. Loader (2000), Fast and accurate computation of binomial probabilities.

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)

# log(x!) - (x log x - x) for x = 0, ..., 15, from mpmath with 40 digits
_SMALL_REMAINDERS = np.array(
    [
        0.0,
        1.0,
        1.3068528194400546,
        1.4959226032237258,
        1.6328763858683832,
        1.7403021806115442,
        1.828694396641771,
        1.9037903176782212,
        1.9690705693065629,
        2.0268062840554952,
        2.0785616431350586,
        2.12545984509181,
        2.168334698205882,
        2.207822206123445,
        2.244418568125061,
        2.2785183673077407,
    ]
)


def stirling_remainder(x: FloatArray) -> FloatArray:
    """Return log(x!) - (x log x - x) for integers x >= 0, to about 1e-16."""
    x = np.asarray(x, dtype=float)
    small = _SMALL_REMAINDERS[np.minimum(x, 15.0).astype(np.intp)]
    rest: FloatArray = np.where(x <= 15.0, small, _stirling_series(np.maximum(x, 15.0)))
    return rest


def _stirling_series(x: FloatArray) -> FloatArray:
    """Return log Gamma(x + 1) - (x log x - x) for x >= 15."""
    # log(2 pi x)/2 + 1/(12 x) - 1/(360 x^3) + ...: for x >= 15, six terms give 1e-16
    u = 1.0 / (x * x)
    series = (
        1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u * (1 / 1188 - u * 691 / 360360))))
    ) / x
    rest: FloatArray = _HALF_LOG_2PI + 0.5 * np.log(x) + series
    return rest


def real_stirling_remainder(x: FloatArray) -> FloatArray:
    """Return log Gamma(x + 1) - (x log x - x) for any x >= 0."""
    from scipy import special

    x = np.asarray(x, dtype=float)
    near = np.minimum(x, 15.0)
    small = special.gammaln(near + 1.0) - special.xlogy(near, near) + near
    rest: FloatArray = np.where(x < 15.0, small, _stirling_series(np.maximum(x, 15.0)))
    return rest


def deviance(x: FloatArray, mean: FloatArray, difference: FloatArray | None = None) -> FloatArray:
    """Return x log(x/mean) + mean - x >= 0 (Loader's bd0), accurate if x is close to mean.

    0 log 0 counts as 0, and a mean of 0 requires x = 0. Pass ``difference`` = x - mean if it is
    known more precisely than subtraction would give.
    """
    x, mean = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(mean, dtype=float))
    total = x + mean
    gap = x - mean if difference is None else difference
    v = gap / np.where(total > 0, total, 1.0)
    v2 = v * v
    # for |v| < 0.1, x log(x/mean) = 2x artanh(v) = 2x (v + v^3/3 + ... + v^21/21). Use Horner's
    # scheme from v^3; the first term 2x v minus the gap is gap v
    series = np.zeros_like(v)
    for odd in range(21, 2, -2):
        series = (series + 1.0 / odd) * v2
    near = np.asarray(gap * v + 2.0 * x * v * series)
    far = np.abs(v) >= 0.1
    if far.any():
        xf, mf = x[far], mean[far]
        positive = (xf > 0) & (mf > 0)
        ratio = np.where(positive, xf, 1.0) / np.where(positive, mf, 1.0)
        near[far] = xf * np.log(ratio) + mf - xf
    return near


# ------------------------------------------------------------ Bisection over integers, for arrays


def first_true(
    predicate: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the smallest integer in [low, high] that satisfies the predicate, or high."""
    low, high = low.copy(), np.maximum(low, high)
    while bool((low < high).any()):
        middle = np.floor(0.5 * (low + high))
        result = predicate(middle)
        high = np.where((low < high) & result, middle, high)
        low = np.where((low < high) & ~result, middle + 1.0, low)
    return high


def first_near(
    predicate: Callable[[FloatArray, IntArray], BoolArray],
    low: FloatArray,
    high: FloatArray,
    guess: FloatArray,
) -> FloatArray:
    """Return the result of :func:`first_true`, searching outward from a guess.

    From the guess, each step is four times as large as the previous one until the steps bracket the
    change. The bracket is then halved repeatedly. The cost is logarithmic in the error of the
    guess. ``predicate`` is also called with the positions of the numbers that are not yet
    determined.
    """
    low, high = low.copy(), np.maximum(low, high)
    probe, step = np.clip(np.floor(guess), low, high), 1.0
    undecided = np.arange(low.size)
    below = np.zeros(low.shape, dtype=bool)
    while undecided.size:
        holds = predicate(probe, undecided)
        if step == 1.0:
            below = holds
        high[undecided[holds]] = probe[holds]
        low[undecided[~holds]] = np.minimum(probe[~holds] + 1.0, high[undecided[~holds]])
        undecided = undecided[low[undecided] < high[undecided]]
        first, last = low[undecided], high[undecided]
        middle = np.floor(0.5 * (first + last))
        probe = np.where(
            below[undecided],
            np.maximum(last - step, middle),
            np.minimum(first + step - 1.0, middle),
        )
        step *= 4.0
    return high
