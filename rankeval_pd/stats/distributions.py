"""Hypergeometric and binomial tails, and the population that a list is drawn from."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import scipy

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray, unended


def broadcast_floats(*arrays: AnyArray | float) -> Sequence[FloatArray]:
    """Return the arrays as floats of one shape."""
    return np.broadcast_arrays(*map(_as_float, arrays))


_as_float = partial(np.asarray, dtype=float)
T = TypeVar("T")

# ----------------------------------------------------------------- The hypergeometric distribution
#
# The random model for a finite population (Macskassy 2005, Eqs 5, 6).


def log_pmf_of_hypergeometric(
    i: FloatArray, total: FloatArray, positive: FloatArray, n: FloatArray
) -> FloatArray:
    """Return log P(X = i) for X positives in a random list of n, to a few times 1e-13."""
    # the 2x2 table, each cell with its row and column sum
    negative = total - positive
    left = total - n
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
    return log_p


def support(
    total: AnyArray | float, positive: AnyArray | float, n: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest possible counts."""
    return np.maximum(0.0, n - (total - positive)), np.minimum(n, positive)


def tails(i: AnyArray, total: AnyArray | float, positive: AnyArray | float, n: AnyArray) -> Tails:
    """Return the log upper tails of X at integers i, inside or outside the support."""
    i, total, positive, n = broadcast_floats(i, total, positive, n)
    lowest, highest = support(total, positive, n)
    inside = np.clip(i, lowest, highest)
    lp = log_pmf_of_hypergeometric(inside, np.maximum(total, 1.0), positive, n)
    # the mode is the most likely count, or the larger of two equally likely counts
    above_mode = inside >= np.floor((n + 1.0) * (positive + 1.0) / (total + 2.0))
    # the other three cells of the table: P(i + 1) / P(i) = only_positive only_listed / ((i + 1)
    # (neither + 1)), and for P(i - 1) / P(i) the two pairs are swapped
    only_listed = n - inside
    only_positive = positive - inside
    neither = (total - positive) - n + inside
    series = series_sum(
        np.where(above_mode, only_positive, inside),
        np.where(above_mode, only_listed, neither),
        np.where(above_mode, inside, only_positive) + 1.0,
        np.where(above_mode, neither, only_listed) + 1.0,
    )
    return _tails_from_series(i, (lowest, highest), lp, series, above_mode)


# ----------------------------------------------------------- Tail sums in units of one probability
#
# A tail is the probability of its first point times ``1 + r1 + r1 r2 + ...``, where each r is a
# ratio of neighboring probabilities: positive terms, and a sum of order one even at 1e-300.

_SUMS_AT_ONCE = 4096  # nine arrays of this size fit into the processor's cache
_STRIDE = 8  # number of terms between two checks for convergence
_MOST_TERMS = 2**22  # eight standard deviations, the relevant terms, in lists of up to 1e12
_NEGLIGIBLE = 1e-18  # the sum ends when a term is smaller than this fraction of the sum
_LOG_HALF = math.log(0.5)


class Tails(NamedTuple):
    """Natural logarithms of the upper tails of X at a count i."""

    ge: FloatArray  #: log P(X >= i)
    gt: FloatArray  #: log P(X > i)
    mid: FloatArray  #: log of P(X > i) + P(X = i) / 2
    pmf: FloatArray  #: log P(X = i)


def series_sum(
    a: FloatArray,
    b: FloatArray,
    c: FloatArray,
    d: FloatArray,
    weight: float | FloatArray = 1.0,
) -> FloatArray:
    """Return the sum over m >= 1 of the product over t < m of weight (a-t)(b-t) / ((c+t)(d+t)).

    The ratios decrease with t and reach 0 at t = min(a, b), where a and b are integers; c and d are
    positive. If b and d, or a or c, are infinite, their factors are 1. The relevant terms span
    about eight standard deviations.
    """
    factors = np.array(np.broadcast_arrays(a, b, c, d, weight), dtype=float)
    flat = factors.reshape(5, -1)
    infinite: Any = np.isinf(flat[:3]).all(axis=1)
    no_a, no_b, no_c = infinite
    out = np.zeros(flat.shape[1])
    for start in range(0, flat.shape[1], _SUMS_AT_ONCE):
        active = np.arange(start, min(start + _SUMS_AT_ONCE, flat.shape[1]))
        a, b, c, d, weights = flat[:, active]
        term = np.ones_like(a)
        total = np.zeros(a.size)
        ratio = np.empty_like(a)
        denominator = np.empty_like(a)
        uniform = bool((weights == 1.0).all())
        for _ in range(_MOST_TERMS // _STRIDE):
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
                    ratio *= weights
                term *= ratio
                total += term
                a -= 1.0
                c += 1.0
            # also stop sums that have overflowed, because they never converge
            going = (term > _NEGLIGIBLE * total) & np.isfinite(total)
            # copying costs more than summing, so compress after a quarter of the sums is done
            if np.count_nonzero(going) <= 0.75 * active.size:
                out[active] = total
                active, term, total = active[going], term[going], total[going]
                a = a[going]
                b = b[going]
                c = c[going]
                d = d[going]
                weights = weights[going]
                ratio, denominator = ratio[going], denominator[going]
            if not active.size:
                break
        else:
            raise unended("the sum of a series", _MOST_TERMS // _STRIDE)
    return out.reshape(factors.shape[1:])


def _tails_from_series(
    i: FloatArray,
    support: tuple[FloatArray, FloatArray],
    log_pmf: FloatArray,
    series: FloatArray,
    above_mode: BoolArray,
) -> Tails:
    """Return the tails, with probability 1 or 0 for counts outside the support.

    ``log_pmf`` is for the count in the support closest to i. ``series`` is P(X > i) / P(X = i) if
    ``above_mode``. Otherwise it is P(X < i) / P(X = i), and the tails are complements.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        strict = log_pmf + np.log(series)
        whole = log_pmf + np.log1p(series)
        half = log_pmf + np.log(0.5 + series)
        # rounding can move the probability of the other tail slightly above 1
        other = np.minimum([strict, whole, half], 0.0)
        rare = other < _LOG_HALF
        # log1p(-p) is accurate for small p, and log(-expm1) for p near 1
        complement = np.where(
            rare, np.log1p(-np.exp(other)), np.log(-np.expm1(np.where(rare, -1.0, other)))
        )
        ge, gt, mid = np.where(above_mode, [whole, strict, half], complement)
    lowest, highest = support
    below = i < lowest
    above = i > highest
    return Tails(
        np.where(i <= lowest, 0.0, np.where(above, -np.inf, ge)),
        np.where(below, 0.0, np.where(i >= highest, -np.inf, gt)),
        np.where(below, 0.0, np.where(above, -np.inf, mid)),
        np.where(below | above, -np.inf, log_pmf),
    )


# --------------------------------------------------- Logarithms of factorials without cancellation
#
# ``lgamma`` of ten million is 1.5e8, so differences between such values lose eight of their sixteen
# digits. Stirling remainders are always small, and deviances are small unless the probability is
# tiny. Reference: C. Loader (2000), Fast and accurate computation of binomial probabilities.

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)

# log(x!) - (x log x - x) for x = 0, ..., 15, from mpmath with 40 digits
_SMALL_REMAINDERS = np.array(
    """
    0.0 1.0 1.3068528194400546 1.4959226032237258
    1.6328763858683832 1.7403021806115442 1.828694396641771 1.9037903176782212
    1.9690705693065629 2.0268062840554952 2.0785616431350586 2.12545984509181
    2.168334698205882 2.207822206123445 2.244418568125061 2.2785183673077407
    """.split(),
    dtype=float,
)


def stirling_remainder(x: FloatArray) -> FloatArray:
    """Return log(x!) - (x log x - x) for integers x >= 0, and any x >= 15, to about 1e-16."""
    small = _SMALL_REMAINDERS[np.minimum(x, 15.0).astype(np.intp)]
    large = np.maximum(x, 15.0)
    # log(2 pi x)/2 + 1/(12 x) - 1/(360 x^3) + ...: for x >= 15, six terms give 1e-16
    u = 1.0 / (large * large)
    series = (
        1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u * (1 / 1188 - u * 691 / 360360))))
    ) / large
    return np.where(x <= 15.0, small, _HALF_LOG_2PI + 0.5 * np.log(large) + series)


def real_stirling_remainder(x: FloatArray) -> FloatArray:
    """Return log Gamma(x + 1) - (x log x - x) for any x >= 0."""
    near = np.minimum(x, 15.0)
    small = scipy.special.gammaln(near + 1.0) - scipy.special.xlogy(near, near) + near
    return np.where(x < 15.0, small, stirling_remainder(np.maximum(x, 15.0)))


def deviance(x: FloatArray, mean: FloatArray, difference: FloatArray | None = None) -> FloatArray:
    """Return x log(x/mean) + mean - x >= 0 (Loader's bd0); ``difference`` is a precise x - mean."""
    x, mean = np.broadcast_arrays(x, mean)
    total = x + mean
    gap = difference
    if gap is None:
        gap = x - mean
    v = gap / np.where(total > 0, total, 1.0)
    v2 = v * v
    # for |v| < 0.1, 2x artanh(v) = 2x (v + v^3/3 + ... + v^21/21); 2x v minus the gap is gap v
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

# halvings of 2**53, the largest range of exact integers, and half as many growing steps before them
MOST_PROBES = 53 + 27 + 2


def first_true(
    predicate: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the smallest integer in [low, high] that satisfies the predicate, or high."""
    low, high = low.copy(), np.maximum(low, high)
    for _ in range(MOST_PROBES):
        if not (low < high).any():
            break
        middle = np.floor(0.5 * (low + high))
        result = predicate(middle)
        high = np.where((low < high) & result, middle, high)
        low = np.where((low < high) & ~result, middle + 1.0, low)
    else:
        raise unended("the first integer of an interval", MOST_PROBES)
    return high


def first_near(
    predicate: Callable[[FloatArray, IntArray], BoolArray],
    low: FloatArray,
    high: FloatArray,
    guess: FloatArray,
) -> FloatArray:
    """Return the result of :func:`first_true`, searching outward from a guess with growing steps.

    ``predicate`` also gets the positions of the undetermined numbers.
    """
    low, high = low.copy(), np.maximum(low, high)
    probe = np.clip(np.floor(guess), low, high)
    step = 1.0
    undecided = np.arange(low.size)
    below = np.zeros(low.shape, dtype=bool)
    for _ in range(MOST_PROBES):
        if not undecided.size:
            break
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
    else:
        raise unended("the integer near a guess", MOST_PROBES)
    return high


# ----------------------------------------------------------------------- The binomial distribution
#
# The random model for an infinite population (Macskassy 2005, Eqs 17, 18).


def log_choose(n: int, k: AnyArray) -> FloatArray:
    """Return the logarithms of binomial coefficients."""
    gammaln = scipy.special.gammaln
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def log_pmf(i: FloatArray, n: FloatArray, z: FloatArray) -> FloatArray:
    """Return log P(X = i) for X ~ Binomial(n, z), with an integer i from 0 to n."""
    return (stirling_remainder(n) - stirling_remainder(i) - stirling_remainder(n - i)) - (
        deviance(i, n * z) + deviance(n - i, n * (1.0 - z))
    )


def tails_of_binomial(i: AnyArray, n: AnyArray, z: AnyArray | float) -> Tails:
    """Return the log upper tails of X ~ Binomial(n, z) at any integers i; z can be 0 or 1."""
    i, n, z = broadcast_floats(i, n, z)
    lowest, highest = Infinite(z).support(n)
    inside = np.clip(i, lowest, highest)
    proper = (z > 0.0) & (z < 1.0)
    zs = np.where(proper, z, 0.5)
    lp = np.where(proper, log_pmf(inside, n, zs), 0.0)
    above_mode = inside >= np.floor((n + 1.0) * zs)
    infinite = np.full_like(n, np.inf)
    # sum one series only: upward from i if i is at or above the mode, otherwise downward
    up = n - inside
    down = inside
    odds = zs / (1.0 - zs)
    series = series_sum(
        np.where(proper, np.where(above_mode, up, down), 0.0),
        infinite,
        np.where(above_mode, down, up) + 1.0,
        infinite,
        np.where(above_mode, odds, 1.0 / odds),
    )
    return _tails_from_series(i, (lowest, highest), lp, series, above_mode)


# ------------------------------------------------------ The incomplete beta function in logarithms
#
# The continuous extension of a binomial tail: I_z(x + 1, n - x) is P(X > x) at integers x.

_UNDERFLOW_LIMIT = 1e-200  # below, SciPy's function can underflow even if it is above 1e-300


def log_betainc(a: FloatArray, b: FloatArray, z: float | FloatArray) -> FloatArray:
    """Return log I_z(a, b), -inf only at b = 0; in the far tail, with a positive series (2F1)."""
    a, b, z = broadcast_floats(a, b, z)
    value = np.where(b > 0, scipy.special.betainc(a, np.where(b > 0, b, 1.0), z), 0.0)
    with np.errstate(divide="ignore"):
        result = np.log(value)
    # tiny values: write the leading term z^a (1 - z)^b / (a B(a, b)) with Stirling remainders
    tiny = (value < _UNDERFLOW_LIMIT) & (b > 0)
    if tiny.any():
        a, b, z = a[tiny], b[tiny], z[tiny]
        n = a + b
        lead = (
            real_stirling_remainder(n)
            - real_stirling_remainder(a)
            - real_stirling_remainder(b)
            - deviance(a, n * z)
            - deviance(b, n * (1.0 - z))
            + np.log(b / n)
        )
        # ratios (n + t) z / (a + 1 + t): the signs of -n and -z cancel
        infinite = np.full_like(a, np.inf)
        series = series_sum(-n, infinite, a + 1.0, infinite, -z)
        result = np.asarray(result)
        result[tiny] = lead + np.log1p(series)
    return result


# ------------------------------------------------------------------------ The Poisson distribution


def poisson_tails(i: AnyArray, mean: AnyArray | float) -> Tails:
    """Return the log upper tails of X ~ Poisson(mean) at any integers i; the mean can be 0."""
    i, mean = broadcast_floats(i, mean)
    lowest = np.zeros(i.shape)
    highest = np.where(mean > 0.0, np.inf, 0.0)
    inside = np.clip(i, 0.0, highest)
    above_mode = inside >= np.floor(mean)
    lp = -stirling_remainder(inside) - deviance(inside, mean)
    series = np.zeros(i.shape)
    # each side of the mean has its own series, and only one of the two series is needed
    for side in (True, False):
        here = above_mode == side
        x = inside[here]
        m = np.where(mean[here] > 0.0, mean[here], 1.0)
        infinite = np.full_like(x, np.inf)
        if side:  # ratios mean/(i + 1), mean/(i + 2), ...
            result = series_sum(infinite, infinite, x + 1.0, infinite, mean[here])
        else:  # ratios i/mean, (i - 1)/mean, ...
            result = series_sum(x, infinite, infinite, infinite, 1.0 / m)
        series[here] = result
    return _tails_from_series(i, (lowest, highest), lp, series, above_mode)


# ------------ Populations for the random model (Macskassy 2005): a finite or an infinite population


class _OfLists:
    """One population for all lists, or one for each list: arrays of the same shape as n."""

    @property
    def each(self) -> bool:
        """Whether each list has its own population."""
        return any(isinstance(x, np.ndarray) for x in vars(self).values())

    def at(self, where: BoolArray) -> Self:
        """Return the population of some of the lists."""
        if not self.each:
            return self
        return type(self)(*(x[where] for x in vars(self).values()))


@dataclass(frozen=True)
class Finite(_OfLists):
    """A finite population of ``total`` candidates, with hypergeometric counts."""

    total: Any  #: float or array
    positive: Any

    @property
    def prior(self) -> Any:
        """The prevalence N+/N, or 0 without candidates."""
        return self.positive / np.maximum(self.total, 1.0)

    @property
    def opposite(self) -> Finite:
        """The same candidates with the labels swapped."""
        return Finite(self.total, self.total - self.positive)

    def support(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest possible count in a list of n."""
        return support(self.total, self.positive, n)

    def tails(self, i: AnyArray, n: AnyArray) -> Tails:
        """Return the log upper tails of X at integers i, inside or outside the support."""
        return tails(i, self.total, self.positive, n)

    def up(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return P(next candidate is positive | i of n were positive), Macskassy's Eq. 12."""
        return np.asarray((self.positive - i) / np.maximum(self.total - n, 1.0))

    def stay(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return P(next candidate is negative | i of n were positive), Macskassy's Eq. 13."""
        chance: FloatArray = (self.total - self.positive - n + i) / np.maximum(self.total - n, 1.0)
        return chance


@dataclass(frozen=True)
class Infinite(_OfLists):
    """An infinite population with prevalence ``prior`` and binomial counts."""

    prior: Any  #: float or array

    @property
    def opposite(self) -> Infinite:
        """The same population with the labels swapped."""
        return Infinite(1.0 - self.prior)

    def support(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest possible count in a list of n."""
        return np.where(self.prior == 1.0, n, 0.0), np.where(self.prior == 0.0, 0.0, n)

    def tails(self, i: AnyArray, n: AnyArray) -> Tails:
        """Return the log upper tails of X at integers i, inside or outside the support."""
        return tails_of_binomial(i, n, self.prior)

    def up(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return the probability of a positive (Macskassy, Eq. 17)."""
        return np.full(np.broadcast(i, n).shape, self.prior)

    def stay(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return the probability of a negative (Macskassy, Eq. 18)."""
        return np.full(np.broadcast(i, n).shape, 1.0 - self.prior)


Population = Finite | Infinite


# ---------------------------------------------------------------------- Sums of independent counts
#
# The distribution of the sum is a convolution, in which all terms are positive. To avoid underflow
# in far tails, every distribution is first tilted by exp(theta i), with theta chosen so that the
# mean of the sum equals the observed count. The tilting is undone at the end.

_NEGLIGIBLE_MASS = 1e-30  # probabilities cut off at the ends of a tilted distribution
_TILT_TOLERANCE = 0.25  # in standard deviations or counts
_MOST_TILTS = (
    200  # Newton's method takes about ten steps, and bisection of a theta up to 1e5 seventy
)


def hypergeometric_laws(n: FloatArray, total: FloatArray, positive: FloatArray) -> FloatArray:
    """Return log P(X = i) for i = 0, 1, ... in random lists of size n: (law, i)."""
    n, total, positive = (x[:, np.newaxis] for x in (n, total, positive))
    lowest, highest = support(total, positive, n)
    i = np.arange(highest.max(initial=0.0) + 1.0)
    log_p = log_pmf_of_hypergeometric(
        np.clip(i, lowest, highest), np.maximum(total, 1.0), positive, n
    )
    return np.where((i >= lowest) & (i <= highest), log_p, -np.inf)


def binomial_laws(n: FloatArray, prior: FloatArray) -> FloatArray:
    """Return log P(X = i) for lists of size n from infinite populations: (law, i)."""
    i = np.arange(n.max(initial=0.0) + 1.0)
    return tails_of_binomial(i, n[:, np.newaxis], prior[:, np.newaxis]).pmf


def tails_of_sum(count: float, laws: FloatArray, times: IntArray) -> Tails:
    """Return the log upper tails of a sum of independent counts, to a relative error of 1e-12.

    ``laws`` (law, i) are log P(X = i), and ``times`` (law) the numbers of counts with each.
    """
    i = np.arange(float(laws.shape[1]))
    possible = laws > -np.inf
    lowest = float((times * possible.argmax(axis=1)).sum())
    highest = float((times * (laws.shape[1] - 1 - possible[:, ::-1].argmax(axis=1))).sum())
    if count < lowest:
        return Tails(*np.array([0.0, 0.0, 0.0, -np.inf]))
    if count > highest:
        return Tails(*np.full(4, -np.inf))
    theta, log_scales = _tilt(count, laws, times, i)
    tilted = np.exp(laws + theta * i - log_scales[:, np.newaxis])
    first, law = _convolved(tilted, times)
    # split the distribution of the sum at the observed count, and undo the tilting
    x = first + np.arange(law.size) - count
    at = float(law[x == 0.0].sum())
    above = float((law[x > 0.0] * np.exp(-theta * x[x > 0.0])).sum())
    upper = np.array([at + above, above, above + 0.5 * at, at])
    with np.errstate(divide="ignore"):
        result = np.log(upper) + float((times * log_scales).sum()) - theta * count
        if theta == 0.0:  # if a tail is near 1, its complement is more accurate
            below = float(law[x < 0.0].sum())
            lower = np.minimum([below, below + at, below + 0.5 * at, 1.0 - at], 1.0)
            result = np.where(upper < 0.5, result, np.log1p(-lower))
    return Tails(*np.minimum(result, 0.0))


def _tilt(
    count: float, laws: FloatArray, times: IntArray, i: FloatArray
) -> tuple[float, FloatArray]:
    """Return a theta >= 0 whose tilted mean is near the count, and each log E exp(theta X)."""
    # Newton's method with bisection as a fallback: the derivative is the tilted variance
    low, high, theta = 0.0, np.inf, 0.0
    log_scales, mean, sd = _tilted(theta, laws, times, i)
    for _ in range(_MOST_TILTS):
        near = abs(mean - count) <= max(_TILT_TOLERANCE * sd, _TILT_TOLERANCE)
        if near or (theta == 0.0 and mean >= count):
            break
        if mean < count:
            low = theta
        else:
            high = theta
        newton = np.inf
        halfway = 0.5 * (low + high)
        if sd > 0.0:
            newton = theta + (count - mean) / sd**2
        if high == np.inf:
            halfway = 2.0 * theta + 1.0
        most = min(high, 2.0 * theta + 5.0)
        theta = halfway
        if low < newton < most:
            theta = newton
        log_scales, mean, sd = _tilted(theta, laws, times, i)
    else:
        raise unended("the tilt of a sum", _MOST_TILTS)
    return theta, log_scales


def _tilted(
    theta: float, laws: FloatArray, times: IntArray, i: FloatArray
) -> tuple[FloatArray, float, float]:
    """Return each log E exp(theta X), and the mean and standard deviation of the tilted sum."""
    exponents = laws + theta * i
    largest = exponents.max(axis=1, keepdims=True)
    weights = np.exp(exponents - largest)
    total = weights.sum(axis=1)
    means = (weights * i).sum(axis=1) / total
    variances = (weights * (i - means[:, np.newaxis]) ** 2).sum(axis=1) / total
    mean = float((times * means).sum())
    sd = float(np.sqrt((times * variances).sum()))
    return largest[:, 0] + np.log(total), mean, sd


def _convolved(laws: FloatArray, times: IntArray) -> tuple[float, FloatArray]:
    """Return the distribution of the sum of all counts, and its lowest count.

    Powers come from squaring; then the two shortest distributions are convolved until one is left.
    """
    parts = []  # (first count, law)
    for law, often in zip(laws, times.tolist(), strict=True):
        first, power = _trimmed(0, law)
        while often:
            if often % 2:
                parts.append((first, power))
            often //= 2
            if often:
                first, power = _trimmed(2 * first, np.convolve(power, power))
    first, law = merged_by_size(parts, lambda part: part[1].size, _sum_of_both)
    return float(first), law


def merged_by_size(parts: Iterable[T], size: Callable[[T], int], merge: Callable[[T, T], T]) -> T:
    """Merge the two smallest parts until one is left; of equal sizes, the first come first."""
    number = itertools.count()
    queue = [(size(part), next(number), part) for part in parts]
    heapq.heapify(queue)
    while len(queue) > 1:
        part = merge(heapq.heappop(queue)[2], heapq.heappop(queue)[2])
        heapq.heappush(queue, (size(part), next(number), part))
    return queue[0][2]


def _sum_of_both(
    one: tuple[int, FloatArray], other: tuple[int, FloatArray]
) -> tuple[int, FloatArray]:
    return _trimmed(one[0] + other[0], np.convolve(one[1], other[1]))


def _trimmed(first: int, law: FloatArray) -> tuple[int, FloatArray]:
    """Return the distribution without negligible probabilities at its ends."""
    kept = np.flatnonzero(law > _NEGLIGIBLE_MASS)
    return first + int(kept[0]), law[kept[0] : kept[-1] + 1]
