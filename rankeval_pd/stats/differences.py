"""Intervals for the difference between two proportions: independent, overlapping or paired."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats import distributions
from rankeval_pd.stats._types import (
    AnyArray,
    FloatArray,
    IntArray,
    silent_division,
)
from rankeval_pd.stats.distributions import broadcast_floats
from rankeval_pd.stats.proportions import Limits, clopper_pearson, held_back_t, wilson, z_of
from rankeval_pd.stats.two_by_two import critical_wins, paired_tails, rejects

# --------------------------------------------------------------------- Two independent proportions


def newcombe(tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float) -> Limits:
    """Return Newcombe's (1998, method 10) hybrid score interval; NaN if a sample is empty."""
    low_a, high_a = wilson(tp_a, n_a, level)
    low_b, high_b = wilson(tp_b, n_b, level)
    with silent_division():
        a = np.true_divide(tp_a, n_a)
        b = np.true_divide(tp_b, n_b)
    difference = a - b
    low = difference - np.hypot(a - low_a, high_b - b)
    high = difference + np.hypot(high_a - a, b - low_b)
    return low, high


def miettinen_nurminen(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float
) -> Limits:
    """Return Miettinen and Nurminen's (1985) score interval; NaN if a sample is empty.

    It contains the differences that the score test does not reject, with the variance at the most
    likely proportions with that difference, times N/(N - 1), N = n_a + n_b, which Mee's omits.
    """
    from scipy.optimize import elementwise

    each = np.stack(broadcast_floats(tp_a, n_a, tp_b, n_b))
    defined = (each[1] > 0) & (each[3] > 0)
    some = each[:, defined]
    # the lower limit is minus the upper limit with the samples exchanged
    ends = np.concatenate([some[[2, 3, 0, 1]], some], axis=1)
    observed = ends[0] / ends[1] - ends[2] / ends[3]
    # counts divided by an overdispersion can add up to 1 or less; the limit is then 1
    known = (ends[1] + ends[3] > 1.0) & (observed < 1.0)
    tables = ends[:, known]
    least = observed[known]
    # close to Newcombe's limit, the equation is nearly linear: the secant method takes about five
    # evaluations. The second point is one step with slope 1, kept inside the bracket
    gap = partial(_score_gap, z_of(level))
    tp_a, n_a, tp_b, n_b = tables
    _, result = newcombe(tp_a, n_a, tp_b, n_b, level)
    result = np.where((result > least) & (result < 1.0), result, 0.5 * (least + 1.0))
    before = result
    short_before = gap(result, *tables)
    result = np.clip(before - short_before, 0.9 * least + 0.1 * before, 0.9 + 0.1 * before)
    active = np.arange(result.size)
    for _ in range(_MOST_SECANTS):
        short = gap(result[active], *tables[:, active])
        with silent_division():
            slope = (short - short_before) / (result[active] - before)
            step = np.where(short == 0.0, 0.0, -short / slope)
        after = result[active] + step
        inside = (after > least[active]) & (after < 1.0)  # False for NaN
        before, short_before = result[active], short
        # drop limits that have converged, and set limits whose step leaves the bracket to NaN
        result[active] = np.where(inside, after, np.nan)
        going = inside & (np.abs(step) > _LAST_STEP * (after - least[active]))
        active = active[going]
        before = before[going]
        short_before = short_before[going]
        if not active.size:
            break
    # Chandrupatla's bracketing method for limits that the secant method did not find
    result[active] = np.nan
    left = np.isnan(result)
    if left.any():
        bracket = least[left], np.ones(int(left.sum()))
        result[left] = elementwise.find_root(gap, bracket, args=tuple(tables[:, left])).x
    high = np.ones(known.size)
    high[known] = result
    limits = np.full((2, *defined.shape), np.nan)
    limits[:, defined] = high.reshape(2, -1)
    return -limits[0], limits[1]


_NEWTON_STEPS = 3  # the arc cosine has an error below 1e-4, which each step squares
_LAST_STEP = 1e-9  # step relative to the distance below which only rounding errors remain
_MOST_SECANTS = 12  # five steps usually suffice; limits that have not converged are bracketed


def _score_gap(z: float, difference: FloatArray, *table: FloatArray) -> FloatArray:
    """Return how far a difference is beyond the observed one, less z standard deviations."""
    tp_a, n_a, tp_b, n_b = table
    variance = _restricted_variance(difference, *table)
    scale = np.sqrt(variance * ((n_a + n_b) / (n_a + n_b - 1.0)))
    beyond = difference - (tp_a / n_a - tp_b / n_b)
    # the statistic is 0 at the observed difference even if its variance is 0
    return np.where(beyond <= 0.0, -1.0, beyond - z * scale)


def difference_score(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, delta: float
) -> FloatArray:
    """Return the Miettinen-Nurminen score statistic for a difference."""
    x_a, n_a, x_b, n_b = broadcast_floats(tp_a, n_a, tp_b, n_b)
    variance = _restricted_variance(np.full(x_a.shape, delta), x_a, n_a, x_b, n_b)
    variance = variance * ((n_a + n_b) / np.maximum(n_a + n_b - 1.0, 1.0))
    return np.asarray(_over_error(x_a / n_a - x_b / n_b - delta, variance))


def _restricted_variance(difference: FloatArray, *table: FloatArray) -> FloatArray:
    """Return the variance at the most likely proportions with this difference."""
    p_a, q_a, p_b, q_b = _restricted_rates(difference, *table)
    variance: FloatArray = p_a * q_a / table[1] + p_b * q_b / table[3]
    return variance


def _restricted_rates(difference: FloatArray, *table: FloatArray) -> FloatArray:
    """Return the most likely proportions with this difference: a, 1 - a, b, 1 - b."""
    gap = np.abs(difference)
    tables = np.stack(table)
    # x of n have the smaller proportion s, and y of m have s + gap
    x, n, y, m = np.where(difference >= 0.0, tables[[2, 3, 0, 1]], tables)
    s = restricted_share(gap, x, n, y, m)
    # near the upper end, count negatives instead, because small proportions are more accurate
    turned = s > 0.5 * (1.0 - gap)
    x, n, y, m = np.where(turned, np.stack([m - y, m, n - x, n]), np.stack([x, n, y, m]))
    s = np.where(turned, 1.0 - gap - s, s)
    for _ in range(_NEWTON_STEPS):  # recover the digits lost by the arc cosine
        larger = s + gap
        rest = 1.0 - s - gap
        score = (y - m * larger) * s * (1.0 - s) + (x - n * s) * larger * rest
        slope = (
            (y - m * larger) * (1.0 - 2.0 * s)
            - m * s * (1.0 - s)
            + (x - n * s) * (rest - larger)
            - n * larger * rest
        )
        with silent_division():
            step = score / slope
        s = np.clip(s - np.where(np.abs(step) < 1e-4, step, 0.0), 0.0, 1.0 - gap)
    rates = np.stack([s, 1.0 - s, s + gap, np.maximum(1.0 - s - gap, 0.0)])
    rates = np.where(turned, rates[::-1], rates)
    return np.where(difference >= 0.0, rates[[2, 3, 0, 1]], rates)


def restricted_share(gap: Any, x: Any, n: Any, y: Any, m: Any) -> FloatArray:
    """Return an approximate maximum-likelihood s for x of n at s and y of m at s + gap.

    The score equation is a cubic, which is solved as in Farrington and Manning (1990).
    """
    total = m + n
    c2 = ((m + 2.0 * n) * gap - total - x - y) / total
    c1 = ((n * gap - total - 2.0 * x) * gap + x + y) / total
    c0 = x * gap * (1.0 - gap) / total
    third = c2 / 3.0
    v = third * third * third - c1 * c2 / 6.0 + 0.5 * c0
    u = np.copysign(np.sqrt(np.maximum(c2 * c2 / 9.0 - c1 / 3.0, 0.0)), v)
    with silent_division():
        turn = np.where(u == 0.0, 0.0, np.clip(v / (u * u * u), -1.0, 1.0))
    s = 2.0 * u * np.cos((np.pi + np.arccos(turn)) / 3.0) - c2 / 3.0
    share: FloatArray = np.clip(s, 0.0, 1.0 - gap)
    return share


def corrected_score(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float
) -> Limits:
    """Return Miettinen-Nurminen limits, moved outward by half of Yates's correction.

    The coverage for regions of equal size is then at least the level, by enumeration
    (``tests/simulations/differences.csv``); without, 0.84 if both proportions are near 0 or 1.
    """
    low, high = miettinen_nurminen(tp_a, n_a, tp_b, n_b, level)
    with silent_division():
        step = 0.25 * (np.true_divide(1.0, n_a) + np.true_divide(1.0, n_b))
    return np.maximum(low - step, -1.0), np.minimum(high + step, 1.0)


def limits_over(
    difference: FloatArray,
    limits: Limits,
    variance: FloatArray | float,
    covariance: FloatArray | float,
    reach: FloatArray | float,
) -> Limits:
    """Widen limits for a difference of counts per total, whose total varies too (Fieller 1954).

    ``variance`` (of the total) and ``covariance`` (of the difference and the total) are in units of
    the total, times the squared critical value. The result excludes 0 if the limits
    do. If the total can be near 0, the other limit is ``reach``.
    """
    center = difference - covariance
    rest = 1.0 - variance
    ends = []
    for limit, side in zip(limits, (-1.0, 1.0), strict=True):
        beyond = difference**2 - (difference - limit) ** 2
        root = np.sqrt(np.maximum(center**2 - rest * beyond, 0.0))
        known = (rest > 0.0) | ((beyond > 0.0) & (side * difference < 0.0))
        with silent_division():
            ends.append(np.where(known, (center + side * root) / rest, side * reach))
    return ends[0], ends[1]


# ------------------------------------------ Two sets that may overlap: precision or any other rate
#
# A. S. Kosinski (2013), A weighted generalized score statistic for comparison of predictive values
# of diagnostic tests, Statistics in Medicine 32. It is too small if the sets differ in few
# candidates, or in candidates that are nearly all alike; half counts allow for that. If a set is
# much smaller, its counts are skewed; Pearson's gamma approximation allows for that.

SetCounts = Sequence[AnyArray | int]  # in both sets, only in a, only in b
_HALF = 0.5  # true positives, and false positives, that are added to each region
_SYMMETRIC = 1e-6  # skewness below which the gamma approximation is no different


def set_tails(
    tp: SetCounts, size: SetCounts, difference: AnyArray | float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return p-values for a true difference between two sets that is larger, or smaller.

    ``tp`` and ``size`` count true positives and candidates in both sets, in a only, and in b only.
    The p-values are the larger ones of Kosinski's statistic with and without half a true and half a
    false positive more in each region, and of the normal and the gamma approximation. Without
    shared candidates, the plain statistic is the score test of two proportions, also for other
    differences than 0, with the most likely proportions that have this difference. The p-values are
    1 if a set is empty.
    """
    counts = np.stack(broadcast_floats(*tp, *size, difference))
    greater, less = np.zeros((2, *counts.shape[1:]))
    for added in (0.0, _HALF):
        more = added * (counts[4:6] > 0.0)
        both, n_both, gap = counts[0], counts[3], counts[6]
        tp_a, tp_b = both + counts[1:3] + more
        n_a, n_b = n_both + counts[4:6] + 2.0 * more
        with silent_division():
            p_a, q_a, p_b, q_b = _restricted_rates(gap, tp_a, n_a, tp_b, n_b)
            shared = both * q_a * q_b + (n_both - both) * p_a * p_b
            variance = p_a * q_a / n_a + p_b * q_b / n_b - 2.0 * shared / (n_a * n_b)
            z = _over_error(tp_a / n_a - tp_b / n_b - gap, variance)
            third = p_a * q_a * (q_a - p_a) * (1.0 - 3.0 * n_both / n_b) / n_a**2
            third -= p_b * q_b * (q_b - p_b) * (1.0 - 3.0 * n_both / n_a) / n_b**2
            lean = third / variance**1.5
        greater = np.fmax(greater, _skewed_tail(z, lean))
        less = np.fmax(less, _skewed_tail(-z, -lean))
    empty = np.isnan(z)
    return np.where(empty, 1.0, greater), np.where(empty, 1.0, less)


def _skewed_tail(z: FloatArray, lean: FloatArray) -> FloatArray:
    """Return the larger one of the normal and of the gamma upper tail with this skewness."""
    with silent_division():
        shape = 4.0 / lean**2
        at = np.maximum(shape + np.sign(lean) * z * np.sqrt(shape), 0.0)
        tail = np.where(
            lean > 0.0, scipy.special.gammaincc(shape, at), scipy.special.gammainc(shape, at)
        )
    return np.fmax(scipy.special.ndtr(-z), np.where(np.abs(lean) > _SYMMETRIC, tail, 0.0))


def one_or_two_sided(greater: FloatArray, less: FloatArray, alternative: str) -> FloatArray:
    """Return one of two tails, or twice the smaller one."""
    both = np.minimum(2.0 * np.minimum(greater, less), 1.0)
    return {"greater": greater, "less": less}.get(alternative, both)


def set_difference(*counts: AnyArray, level: float) -> Limits:
    """Return the differences between two sets that :func:`set_tails` does not reject.

    ``counts`` are ``tp`` and ``size``. Equal sets have the limits [0, 0], and empty sets NaN.
    """
    tp, size, tail = counts[:3], counts[3:], 0.5 * (1.0 - level)
    both, only_a, only_b = broadcast_floats(*size)
    with silent_division():
        gap = (tp[0] + tp[1]) / (both + only_a) - (tp[0] + tp[2]) / (both + only_b)
    # the search starts at 0 if the test rejects it, so that the limits always agree with the test
    greater, less = set_tails(tp, size)
    low = _bisection_points(
        lambda delta: set_tails(tp, size, delta)[0] <= tail,
        np.where((gap > 0.0) & (greater <= tail), 0.0, -1.0),
        gap,
    )
    high = _bisection_points(
        lambda delta: set_tails(tp, size, delta)[1] > tail,
        gap,
        np.where((gap < 0.0) & (less <= tail), 0.0, 1.0),
    )
    same = (only_a == 0) & (only_b == 0)
    low = np.where(same, 0.0, low)
    high = np.where(same, 0.0, high)
    return np.where(np.isnan(gap), np.nan, low), np.where(np.isnan(gap), np.nan, high)


def correlated_limits(
    values: tuple[FloatArray, FloatArray],
    limits: tuple[Limits, Limits],
    variances: tuple[FloatArray, FloatArray, FloatArray],
    tested: Limits,
    power: Any = 1.0,
) -> Limits:
    """Combine the limits of two values between 0 and 1 into limits for their difference.

    ``variances`` are of both values and of their difference. The distances to the limits are
    combined like standard errors (Zou and Donner 2008), with the correlation raised to ``power``.
    The limits include all differences inside ``tested``; if it excludes 0, it gives the limit
    closer to 0.
    """
    gap = values[0] - values[1]
    with silent_division():
        shared = variances[0] + variances[1] - variances[2]
        correlation = shared / (2.0 * np.sqrt(variances[0] * variances[1]))
        correlation = np.where(np.isfinite(correlation), np.clip(correlation, -1.0, 1.0), 0.0)
    (low_a, high_a), (low_b, high_b) = limits
    down_a = values[0] - low_a
    up_a = high_a - values[0]
    down_b = values[1] - low_b
    up_b = high_b - values[1]

    def together(a: FloatArray, b: FloatArray, other_a: FloatArray, other_b: FloatArray) -> Any:
        alike = np.maximum((a - other_b) ** 2, (other_a - b) ** 2)
        alike = np.where(correlation > 0.0, alike, (a + b) ** 2)
        part = np.abs(correlation) ** power
        return np.sqrt((1.0 - part) * (a**2 + b**2) + part * alike)

    low = gap - together(down_a, up_b, up_a, down_b)
    high = gap + together(up_a, down_b, down_a, up_b)
    # the sides on which the test rejects 0
    positive = (tested[0] > 0.0) & (tested[0] < gap)
    negative = (gap < tested[1]) & (tested[1] < 0.0)
    low = np.where(positive, tested[0], np.minimum(low, tested[0]))
    high = np.where(negative, tested[1], np.maximum(high, tested[1]))
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


# ------------------------------------------------------------ Two proportions on the same items


def tango_limits(only_a: AnyArray, only_b: AnyArray, n: AnyArray | float, level: float) -> Limits:
    """Return Tango's (1998) score intervals for many pairs on n items."""
    z, estimate = z_of(level), (only_a - only_b) / n
    one, score = np.ones(estimate.shape), partial(paired_score, only_a, only_b, n)
    low = _bisection_points(lambda delta: score(delta) > z, -one, estimate)
    return low, _bisection_points(lambda delta: score(delta) >= -z, estimate, one)


def paired_limits(better: AnyArray, worse: AnyArray, n: AnyArray | int, level: float) -> Limits:
    """Return Tango's limits, which exclude 0 if and only if :func:`paired_tails` rejects it.

    If the test rejects and Tango's interval contains 0, the limit is the smallest gain, 1/n.
    """
    low, high = tango_limits(better, worse, n, level)
    up = paired_tails(better, worse, n)
    down = paired_tails(worse, better, n)
    tail = (1.0 - level) / 2.0
    low = np.where(rejects(up, tail), np.where(low > 0.0, low, 1.0 / n), np.minimum(low, 0.0))
    high = np.where(
        rejects(down, tail), np.where(high < 0.0, high, -1.0 / n), np.maximum(high, 0.0)
    )
    return low, high


def paired_score(only_a: AnyArray | int, only_b: AnyArray | int, n: Any, delta: Any) -> Any:
    """Return Tango's score statistic, which decreases as ``delta`` increases."""
    # given the difference, the most likely proportion of items on which only b is correct is the
    # larger root of 2 n q^2 + linear q + constant = 0
    linear = -only_a - only_b + (2.0 * n - only_a + only_b) * delta
    constant = -only_b * delta * (1.0 - delta)
    root = np.sqrt(np.maximum(linear * linear - 8.0 * n * constant, 0.0))
    share = np.maximum((root - linear) / (4.0 * n), np.maximum(0.0, -delta))
    variance = n * (2.0 * share + delta * (1.0 - delta))
    return _over_error(only_a - only_b - n * delta, variance)


def _over_error(excess: Any, variance: Any) -> Any:
    """Return an excess divided by its standard error; 0 or infinite if the variance is 0."""
    with silent_division():
        ratio = excess / np.sqrt(np.maximum(variance, 0.0))
    return np.where(excess == 0.0, 0.0, ratio)


# a bracket of length 2 shrinks to 1e-60: neighboring floats, or a limit that is 0 up to rounding
_MOST_HALVINGS = 200


def _bisection_points(
    below: Callable[[FloatArray], AnyArray], low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the points up to which a condition is true, bisected to neighboring floats."""
    never = ~below(low)
    always = below(high)
    ends = np.where(never, low, high)
    settled = never | always
    for _ in range(_MOST_HALVINGS):
        middle = (low + high) / 2.0
        settled |= (middle == low) | (middle == high)
        if settled.all():
            break
        up = below(middle)
        low = np.where(up & ~settled, middle, low)
        high = np.where(up | settled, high, middle)
    return np.where(never | always, ends, (low + high) / 2.0)


# -------------------------- The t test for a gain with variance from items and seeds, and its power
#
# The variance from seeds has few degrees of freedom (Welch 1947, Satterthwaite 1946), that from
# items has many. A combined number would be too large if the seeds happen to differ little: with
# two seeds, up to 12% of tests at 5% would reject falsely. The critical value is therefore the mean
# of the two critical values, weighted by the variances (Cochran 1964).

_HALVINGS = 60  # a log tail in a bracket of length 230 has an error below 1e-15
_LEAST_LOG = -230.0  # smallest log tail; SciPy's t quantiles are wrong below 1e-109
_ENDLESS, _FARTHEST = 1e9, 1e300  # degrees of freedom treated as normal; value used for infinity


def critical_of(tail: Any, share: Any, freedom: Any, of_seeds: Any) -> FloatArray:
    """Return the critical value for one tail."""
    few = np.minimum(of_seeds, _ENDLESS)
    far = np.minimum(-scipy.special.stdtrit(few, tail), _FARTHEST)
    return np.asarray(
        share * far - (1.0 - share) * scipy.special.stdtrit(np.minimum(freedom, _ENDLESS), tail)
    )


def mixed_tail(t: FloatArray, share: Any, freedom: Any, of_seeds: Any) -> FloatArray:
    """Return the p-value for a t statistic, that is, the tail for this critical value."""
    size = np.abs(t)
    low = np.full(t.shape, _LEAST_LOG)
    high = np.full(t.shape, np.log(0.5))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        beyond = critical_of(np.exp(middle), share, freedom, of_seeds) > size
        low = np.where(beyond, middle, low)
        high = np.where(beyond, high, middle)
    tail = np.exp(high)
    return np.where(np.isnan(t), np.nan, np.where(t < 0.0, 1.0 - tail, tail))


# ---------------------------------------------------------------------------------- Planned power

_MANY, _NODES, _FEW_NODES = 200.0, 20, 8  # degrees of freedom treated as infinite; nodes


class Parts(NamedTuple):
    """The variance of a gain in a planned study, split into parts."""

    items: float
    freedom: float
    seeds: float = 0.0  #: variance for both systems
    of_seeds: float = np.inf  #: degrees of freedom of each system or of the common variance
    pooled: bool = False

    def edges(self, tail: float) -> tuple[FloatArray, FloatArray]:
        """Return the smallest significant gain and the probability of each possible variance."""
        if not self.seeds:
            spread, chance = _chi2(self.freedom, 4 * _NODES)
            return critical_of(tail, 0.0, self.freedom, 1.0) * np.sqrt(self.items * spread), chance
        of_items, chance = np.ones(1), np.ones(1)
        if self.freedom <= _MANY:
            of_items, chance = _chi2(self.freedom, _FEW_NODES)
        a, of_a = _chi2(self.of_seeds, _NODES)
        b, of_b = a, of_a
        if self.pooled:
            b, of_b = np.ones(1), np.ones(1)
        items, a, b = (x.ravel() for x in np.meshgrid(self.items * of_items, a, b, indexing="ij"))
        few: Any = self.of_seeds
        seeds = self.seeds * a
        if not self.pooled:
            few = self.of_seeds * ((a + b) ** 2 / (a**2 + b**2))
            seeds = self.seeds * ((a + b) / 2.0)
        critical = critical_of(tail, seeds / (items + seeds), self.freedom, few)
        chances = np.einsum("i,a,b->iab", chance, of_a, of_b).ravel()
        return critical * np.sqrt(items + seeds), chances

    def power(self, gain: float, edges: tuple[FloatArray, FloatArray], tails: int) -> float:
        """Return the probability that a true gain is significant."""
        (edge, chance), error = edges, np.sqrt(self.items + self.seeds)
        with np.errstate(invalid="ignore"):  # infinite variance
            found = scipy.special.ndtr((gain - edge) / error)
            if tails == 2:
                found = found + scipy.special.ndtr((-gain - edge) / error)
        return float(chance @ found)


def _chi2(freedom: float, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return values of chi-squared / freedom, and weights, by Gauss-Laguerre or Wilson-Hilferty."""
    if freedom > _MANY:
        z, weight = scipy.special.roots_hermitenorm(_FEW_NODES)
        part = 2.0 / (9.0 * freedom)
        return (1.0 - part + z * np.sqrt(part)) ** 3, weight / weight.sum()
    x, weight = scipy.special.roots_genlaguerre(nodes, freedom / 2.0 - 1.0)
    return 2.0 * x / freedom, weight / weight.sum()


def accuracy_power(gain: float, differ: float, n: int, tail: float, tails: int) -> float:
    """Return the power of :func:`paired_tails` on n items, given the discordance rate."""
    if n * differ > _NORMAL:  # use the normal distribution
        parts = Parts((differ - gain**2) / n, n - 1.0)
        return parts.power(gain, parts.edges(tail), tails)

    ends = scipy.special.ndtri(_LEAST) * np.sqrt(n * differ * (1.0 - differ)) - 30.0
    m = np.arange(max(1, int(n * differ + ends)), min(n, int(n * differ - ends)) + 1.0)
    mass = np.exp(distributions.log_pmf(m, np.full(m.shape, float(n)), np.full(m.shape, differ)))
    # McNemar's test, by the normal distribution, if more items are discordant than are ordered
    least = np.ceil(0.5 * (m + 1.0 - scipy.special.ndtri(tail) * np.sqrt(m)))
    wins = critical_wins(n, tail)
    ordered = m < wins.size
    least[ordered] = wins[m[ordered].astype(int)]
    better = (1.0 + gain / differ) / 2.0
    rejected = _upper(least, m, better)
    if tails == 2:
        rejected = rejected + _upper(least, m, 1.0 - better)
    return float(mass @ rejected)


def _upper(least: FloatArray, m: FloatArray, share: float) -> FloatArray:
    """Return the probability of at least this many successes in m trials."""
    inside = (least > 0.0) & (least <= m)
    k = np.where(inside, least, 1.0)
    tail = scipy.special.betainc(k, np.where(inside, m - k + 1.0, 1.0), share)
    return np.where(inside, tail, 1.0 * (least <= 0.0))


_NORMAL = 1e8  # number of differing items above which the normal distribution is used
_LEAST = 1e-9  # probability dropped at each end for the number of differing items


# ------------------------------------------------------------- Equivalence, or non-inferiority


def of_margin(alternative: str, not_worse: Callable[[float], Any]) -> Any:
    """Return the p-value of a test of non-inferiority, or of equivalence: the larger p (TOST).

    ``not_worse(1)`` is the p-value for d <= -margin ("greater"), ``not_worse(-1)`` for d >= margin.
    """
    if alternative == "two-sided":
        return np.maximum(not_worse(1.0), not_worse(-1.0))
    if alternative == "greater":
        return not_worse(1.0)
    return not_worse(-1.0)


def margin_name(alternative: str) -> str:
    """Return the column name for the p-value."""
    if alternative == "two-sided":
        return "p_equivalence"
    return "p_noninferior"


# --------------------------------------------------------------------------- Exact tests on counts
#
# The null hypothesis for d = pi_a - pi_b, on the same items or in two regions, is d <= -margin.
# Tables are ordered by the lower score limit L for d at the one-sided level 1 - alpha (Tango, or
# Miettinen-Nurminen): a table is at least as extreme if the score statistic at L is at least the
# normal quantile. Near p = alpha, this agrees with the order by the statistic at d = -margin
# (Hsueh, Liu and Chen 2001; Chan and Zhang 1999), but a larger margin never has a larger p (Röhmel
# 2005).
#
# p is the largest probability of such tables under the null hypothesis, which is at d = -margin.
# The nuisance parameter q is the proportion of items on which only b is correct, or pi_b for
# regions. The maximum is taken over a confidence interval for q, and the probability that this
# interval excludes q is added to p, so the test is exact (Berger and Boos 1994).

ALPHA = 0.05  # default level of the tests at a margin
_LEFT_OUT = 2e-5  # probability that the interval excludes q, as a fraction of alpha
_EQUIVALENCE_LEAST = 1e-12  # the same as a number, which must exceed rounding errors
_AS_EXTREME = 1e-7  # smaller differences between score statistics are rounding errors
_POINTS = 96  # initial number of values for q
_PEAKS = 8  # number of values that are refined
_ROUNDS = 6  # rounds of refinement, each with a quarter of the distance between values
_REACH = 9.0  # standard deviations from the mean; probabilities farther out are rounding errors

Score = Callable[[AnyArray, AnyArray], FloatArray]


def paired_p(only_a: int, only_b: int, n: int, margin: float, alpha: float = ALPHA) -> float:
    """Return the exact p for pi_a - pi_b <= -margin from the items that only one gets right."""
    counts = np.array([only_a]), np.array([only_b])
    [limit], _ = tango_limits(*counts, n, _two_sided_level(alpha))
    score = partial(paired_score, n=float(n), delta=limit)
    share = partial(_share_of_the_rest, margin)
    return _largest(score, limit, (only_a, only_b), n, lambda y: n - y, share, margin, alpha)


def _share_of_the_rest(margin: float, q: FloatArray) -> FloatArray:
    """Return the proportion of items with only a correct, among those other than only b."""
    rest = 1.0 - q
    return np.minimum(q - margin, rest) / np.where(rest > 0.0, rest, 1.0)


def region_p(
    tp_a: int, n_a: int, tp_b: int, n_b: int, margin: float, alpha: float = ALPHA
) -> float:
    """Return the exact p for pi_a - pi_b <= -margin in two samples; 0 if one is empty."""
    if n_a == 0 or n_b == 0:
        return 0.0
    a, size_a, b, size_b = np.array([[tp_a], [n_a], [tp_b], [n_b]])
    [limit], _ = miettinen_nurminen(a, size_a, b, size_b, _two_sided_level(alpha))
    return _largest(
        lambda i, j: difference_score(i, size_a, j, size_b, float(limit)),
        float(limit),
        (tp_a, tp_b),
        n_b,
        lambda y: np.full_like(y, n_a),
        lambda q: q - margin,
        margin,
        alpha,
    )


def _two_sided_level(alpha: float) -> float:
    """Return the level of a two-sided interval with a tail probability of alpha on each side."""
    return max(1.0 - 2.0 * alpha, 1e-3)


def regions_margin_p(
    tp_a: int, tp_b: int, m: int, margin: float, alternative: str, alpha: float
) -> float:
    """Return the p-value of a margin test for two regions of m candidates each."""
    tables = {1.0: (tp_a, m, tp_b, m), -1.0: (tp_b, m, tp_a, m)}
    return float(of_margin(alternative, lambda sign: region_p(*tables[sign], margin, alpha)))


def paired_margin_p(
    only_a: int, only_b: int, n: int, margin: float, alternative: str, alpha: float
) -> float:
    """Return the p-value of a margin test for two systems on the same n items."""
    counts = {1.0: (only_a, only_b), -1.0: (only_b, only_a)}
    return float(of_margin(alternative, lambda sign: paired_p(*counts[sign], n, margin, alpha)))


def _largest(
    score: Score,
    limit: float,
    observed: tuple[int, int],
    n: int,
    size: Callable[[IntArray], IntArray],
    share: Callable[[FloatArray], FloatArray],
    margin: float,
    alpha: float,
) -> float:
    """Return the largest probability of tables at least as extreme as observed.

    The second count y is binomial(n, q), and the first count is binomial(size(y), share(q)).
    """
    if margin > 1.0:
        return 0.0
    if limit <= -1.0:
        return 1.0
    left_out = max(_LEFT_OUT * alpha, _EQUIVALENCE_LEAST)
    at = np.array(observed[0]), np.array(observed[1])
    low, high = map(float, clopper_pearson(at[1], np.array(n), 1.0 - left_out))
    if (low := max(low, margin)) > high:
        return left_out
    reach = [_REACH * math.sqrt(n * max(q * (1.0 - q), 1.0 / n)) + 10.0 for q in (low, high)]
    wide = max(*reach, _REACH * 0.5 * math.sqrt(n) * (low < 0.5 < high))
    y = np.arange(max(0, math.floor(n * low - wide)), min(n, math.ceil(n * high + wide)) + 1)
    sizes = size(y)
    least = _least_counts(
        score, y, sizes, min(z_of(_two_sided_level(alpha)), float(np.squeeze(score(*at))))
    )
    log_choose = distributions.log_choose(n, y)

    def chance(phi: FloatArray) -> FloatArray:
        q = np.clip(np.sin(phi) ** 2, low, high)
        first = np.maximum(np.floor(n * q - wide) - y[0], 0.0).astype(np.int64)
        index = np.minimum(first[:, np.newaxis] + np.arange(int(2.0 * wide) + 3), y.size - 1)
        new = np.diff(index, axis=1, prepend=-1) > 0
        count, pi = y[index].astype(float), q[:, np.newaxis]
        pmf = np.exp(
            log_choose[index]
            + scipy.special.xlogy(count, pi)
            + scipy.special.xlog1py(n - count, -pi)
        )
        c, rest = least[index], sizes[index] - least[index]
        tail = scipy.special.betainc(
            np.maximum(c, 1), np.maximum(rest, 0) + 1.0, np.clip(share(q), 0.0, 1.0)[:, np.newaxis]
        )
        tail = np.where(c <= 0, 1.0, np.where(rest < 0, 0.0, tail))
        return np.asarray((pmf * tail * new).sum(axis=1))

    ends = math.asin(math.sqrt(low)), math.asin(math.sqrt(high))
    bend = math.asin(math.sqrt(min(max(0.5 + 0.5 * margin, low), high)))  # for paired proportions
    phi, width = np.linspace(*ends, _POINTS), (ends[1] - ends[0]) / (_POINTS - 1)
    phi = np.append(phi, bend)
    found = chance(phi)
    for _ in range(_ROUNDS):
        best = np.argsort(found)[-_PEAKS:]
        phi = np.clip(phi[best, np.newaxis] + width * np.linspace(-1.0, 1.0, 9), *ends).ravel()
        phi, width = np.unique(phi), width / 4.0
        found = np.maximum(chance(phi), 0.0)
    return min(1.0, float(found.max()) + left_out)


def _least_counts(score: Score, y: IntArray, sizes: IntArray, least: float) -> IntArray:
    """Return the least first count with this score, or inf; never less for a larger y."""
    reached = distributions.first_true(
        lambda count: score(count, y) >= least - _AS_EXTREME,
        np.zeros(sizes.shape),
        sizes.astype(float) + 1.0,
    ).astype(np.int64)
    reached = np.where(reached > sizes, np.iinfo(np.int32).max, reached)
    return np.minimum.accumulate(reached[::-1])[::-1]


# -------------------------------------------------------------- Means and estimates with intervals
#
# Student's t test is liberal if the long tail of skewed differences is on the side of the null
# hypothesis. Hall's (1992) cubic transformation makes t nearly normal, with the sample skewness
# times Bobee and Robitaille's (1975) factor. The p-value is the larger of Student's and Hall's.


def mean_p(
    t: FloatArray,
    skewness: FloatArray,
    n: AnyArray | int,
    freedom: AnyArray | float,
    seeds: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """Return the one-sided p-value for a mean that is t standard errors above a bound.

    ``skewness`` is the moment ratio of the n differences. ``seeds`` contains the fraction of the
    variance due to training seeds, and the degrees of freedom for the seeds.
    """
    # the skewness of small samples is too small by this factor (Bobee and Robitaille 1975)
    bias = np.sqrt(n * (n - 1.0)) / np.maximum(n - 2.0, 1.0) * (1.0 + 6.51 / n)
    lean = skewness * bias / np.sqrt(n)
    held = held_back_t(t, lean, two_sided=False)
    if seeds is not None:
        return mixed_tail(held, seeds[0], freedom, seeds[1])
    return np.asarray(scipy.special.stdtr(freedom, -held), dtype=float)


_DEVIATIONS = np.linspace(0.0, 8.0, 161)[1:]  # normal quantiles for one-sided levels


def interval_p(limits: Callable[..., Limits], margin: Any, alternative: str) -> FloatArray:
    """Return the interpolated p at which an interval with level 1 - 2p just reaches the margin."""
    levels = 1.0 - 2.0 * scipy.special.ndtr(-_DEVIATIONS)
    ends = np.array([limits(level=float(level)) for level in levels])  # (level, side, ...)
    return np.asarray(of_margin(alternative, partial(_bound_p, ends, margin)))


def _bound_p(ends: FloatArray, margin: Any, sign: float) -> FloatArray:
    """Return the p-value for one bound, from limits at each level: (level, side, ...)."""
    low, high = ends[:, 0], ends[:, 1]
    if sign < 0.0:
        low, high = -high, -low
    above, below = low + margin, high + margin  # distances from the bound
    p = np.where(above[0] > 0.0, _level_reaching_0(above), 1.0 - _level_reaching_0(-below))
    p = np.where((above[0] <= 0.0) & (below[0] >= 0.0), 0.5, p)
    return np.where(np.isnan(above[0] + below[0]), np.nan, p)


def _level_reaching_0(above: FloatArray) -> FloatArray:
    """Return the interpolated one-sided level at which decreasing values (level, ...) reach 0."""
    inside = np.count_nonzero(above > 0.0, axis=0)
    last = np.clip(inside - 1, 0, len(above) - 2)
    first, second = (np.take_along_axis(above, k[np.newaxis], axis=0)[0] for k in (last, last + 1))
    with silent_division():
        part = np.where(first > second, np.clip(first / (first - second), 0.0, 1.0), 1.0)
    step = _DEVIATIONS[1] - _DEVIATIONS[0]
    return np.asarray(scipy.special.ndtr(-(_DEVIATIONS[last] + part * step)))
