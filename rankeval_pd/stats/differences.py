"""Intervals for the difference between two proportions: independent, overlapping or paired."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray
from rankeval_pd.stats.distributions import broadcast_floats
from rankeval_pd.stats.proportions import Limits, clopper_pearson, wilson, z_of

# --------------------------------------------------------------------- Two independent proportions


def newcombe(tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float) -> Limits:
    """Return Newcombe's (1998, method 10) hybrid score interval for tp_a/n_a - tp_b/n_b.

    The limits are NaN if a sample is empty.
    """
    low_a, high_a = wilson(tp_a, n_a, level)
    low_b, high_b = wilson(tp_b, n_b, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = np.true_divide(tp_a, n_a), np.true_divide(tp_b, n_b)
    difference = a - b
    low = difference - np.hypot(a - low_a, high_b - b)
    high = difference + np.hypot(high_a - a, b - low_b)
    return low, high


def agresti_caffo(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float
) -> Limits:
    """Return Agresti and Caffo's (2000) interval for tp_a/n_a - tp_b/n_b, within [-1, 1].

    This is Wald's interval after adding one positive and one negative to each sample. The limits
    are NaN if a sample is empty.
    """
    tp_a, n_a, tp_b, n_b = broadcast_floats(tp_a, n_a, tp_b, n_b)
    a, b = (tp_a + 1.0) / (n_a + 2.0), (tp_b + 1.0) / (n_b + 2.0)
    variance = a * (1.0 - a) / (n_a + 2.0) + b * (1.0 - b) / (n_b + 2.0)
    margin = z_of(level) * np.sqrt(variance)
    defined = (n_a > 0) & (n_b > 0)
    low, high = np.maximum(a - b - margin, -1.0), np.minimum(a - b + margin, 1.0)
    return np.where(defined, low, np.nan), np.where(defined, high, np.nan)


def miettinen_nurminen(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float
) -> Limits:
    """Return Miettinen and Nurminen's (1985) score interval for tp_a/n_a - tp_b/n_b.

    The interval contains the differences that the score test does not reject. The test uses the
    variance at the most likely proportions with the given difference, times N/(N - 1) with N = n_a
    + n_b, as in the paper. Mee's interval omits this factor. The limits are NaN if a sample is
    empty.
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
    tables, least = ends[:, known], observed[known]
    # The limit is the observed difference plus z standard deviations, which depend on the limit.
    # The equation is nearly linear close to Newcombe's limit, so the secant method takes about five
    # evaluations. The second point is one step with slope 1, kept inside the bracket.
    gap = partial(_score_gap, z_of(level))
    tp_a, n_a, tp_b, n_b = tables
    _, result = newcombe(tp_a, n_a, tp_b, n_b, level)
    result = np.where((result > least) & (result < 1.0), result, 0.5 * (least + 1.0))
    before, short_before = result, gap(result, *tables)
    result = np.clip(before - short_before, 0.9 * least + 0.1 * before, 0.9 + 0.1 * before)
    active = np.arange(result.size)
    for _ in range(_MOST_SECANTS):
        short = gap(result[active], *tables[:, active])
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (short - short_before) / (result[active] - before)
            step = np.where(short == 0.0, 0.0, -short / slope)
        after = result[active] + step
        inside = (after > least[active]) & (after < 1.0)  # False for NaN
        before, short_before = result[active], short
        # drop limits that have converged, and set limits whose step leaves the bracket to NaN
        result[active] = np.where(inside, after, np.nan)
        going = inside & (np.abs(step) > _LAST_STEP * (after - least[active]))
        active, before, short_before = active[going], before[going], short_before[going]
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
    gap, tables = np.abs(difference), np.stack(table)
    # x of n have the smaller proportion s, and y of m have s + gap
    x, n, y, m = np.where(difference >= 0.0, tables[[2, 3, 0, 1]], tables)
    s = restricted_share(gap, x, n, y, m)
    # near the upper end, count negatives instead, because small proportions are more accurate
    turned = s > 0.5 * (1.0 - gap)
    x, n, y, m = np.where(turned, np.stack([m - y, m, n - x, n]), np.stack([x, n, y, m]))
    s = np.where(turned, 1.0 - gap - s, s)
    for _ in range(3):  # Newton's steps recover the digits lost by the arc cosine
        larger, rest = s + gap, 1.0 - s - gap
        score = (y - m * larger) * s * (1.0 - s) + (x - n * s) * larger * rest
        slope = (
            (y - m * larger) * (1.0 - 2.0 * s)
            - m * s * (1.0 - s)
            + (x - n * s) * (rest - larger)
            - n * larger * rest
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            step = score / slope
        s = np.clip(s - np.where(np.abs(step) < 1e-4, step, 0.0), 0.0, 1.0 - gap)
    larger, rest = s + gap, np.maximum(1.0 - s - gap, 0.0)
    variance: FloatArray = s * (1.0 - s) / n + larger * rest / m
    return variance


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
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(u == 0.0, 0.0, np.clip(v / (u * u * u), -1.0, 1.0))
    s = 2.0 * u * np.cos((np.pi + np.arccos(turn)) / 3.0) - c2 / 3.0
    share: FloatArray = np.clip(s, 0.0, 1.0 - gap)
    return share


def corrected_score(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float
) -> Limits:
    """Return Miettinen-Nurminen limits, moved outward by half of Yates's correction.

    The correction is (1/n_a + 1/n_b)/4, and the limits stay within [-1, 1]. With the correction,
    the coverage for regions of equal size is at least the nominal level, by enumeration
    (``tests/reference/differences.csv``). Without the correction, coverage drops to 0.84 if both
    proportions are near 0 or 1. The limits are NaN if a sample is empty.
    """
    low, high = miettinen_nurminen(tp_a, n_a, tp_b, n_b, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = 0.25 * (np.true_divide(1.0, n_a) + np.true_divide(1.0, n_b))
    return np.maximum(low - step, -1.0), np.minimum(high + step, 1.0)


DIFFERENCE_INTERVALS: dict[str, Callable[..., Limits]] = {
    "score": corrected_score,
    "newcombe": newcombe,
    "agresti-caffo": agresti_caffo,
    "miettinen-nurminen": miettinen_nurminen,
}
"""Intervals for the difference between two proportions, by the value of ``ci``."""


def agree_with_test(
    low: FloatArray, high: FloatArray, p_value: FloatArray, alternative: str, level: float
) -> Limits:
    """Return the limits, extended to 0 if the test does not reject a difference of 0.

    The interval can only become wider, so the coverage cannot decrease. A one-sided test gives no
    information about the other side, so the other limit is not changed.
    """
    kept = p_value > (1.0 - level) * (1.0 + 1e-12)
    if alternative != "less":
        low = np.where(kept, np.minimum(low, 0.0), low)
    if alternative != "greater":
        high = np.where(kept, np.maximum(high, 0.0), high)
    return low, high


def overlap_difference(
    tp: Sequence[AnyArray], size: Sequence[AnyArray], level: float, phi: float = 1.0
) -> Limits:
    """Return limits for the difference in precision between two overlapping sets.

    ``tp`` and ``size`` count true positives and candidates in both sets, only in a, and only in b.
    ``phi`` is the variance of the number of true positives divided by the binomial variance.

    The distances between the precision of each set and its Clopper-Pearson limits are combined like
    standard errors (Zou and Donner 2008). The correlation between the two precisions is estimated
    from the labels of the shared candidates, with each precision shrunk slightly toward one half.
    Unlike the delta method, this method does not need large counts. In simulations with sets of two
    or more candidates, the coverage was at least 0.946 (``tests/reference/sets.csv``), whether the
    sizes of the three parts are fixed or random. The limits are NaN if a set is empty.
    """
    both, only_a, only_b, n_both, n_only_a, n_only_b = broadcast_floats(*tp, *size)
    n_a, n_b, tp_a, tp_b = n_both + n_only_a, n_both + n_only_b, both + only_a, both + only_b
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = tp_a / n_a, tp_b / n_b
        # with precisions shrunk toward one half, the correlation is defined at 0 and 1
        near_a, near_b = (tp_a + 0.5) / (n_a + 1.0), (tp_b + 0.5) / (n_b + 1.0)
        shared = both * (1.0 - near_a) * (1.0 - near_b) + (n_both - both) * near_a * near_b
        spread_a = tp_a * (1.0 - near_a) ** 2 + (n_a - tp_a) * near_a**2
        spread_b = tp_b * (1.0 - near_b) ** 2 + (n_b - tp_b) * near_b**2
        correlation = np.clip(shared / np.sqrt(spread_a * spread_b), -1.0, 1.0)
    of_a = clopper_pearson(tp_a / phi, n_a / phi, level)
    of_b = clopper_pearson(tp_b / phi, n_b / phi, level)
    return _mover_limits(a, of_a, b, of_b, correlation)


def _mover_limits(
    a: FloatArray, of_a: Limits, b: FloatArray, of_b: Limits, correlation: FloatArray
) -> Limits:
    """Combine the limits of two proportions into limits for their difference (MOVER)."""
    x = np.stack([a - of_a[0], of_a[1] - a])  # below and above the difference
    y = np.stack([of_b[1] - b, b - of_b[0]])
    below, above = np.sqrt(np.maximum(x**2 + y**2 - 2.0 * correlation * x * y, 0.0))
    return np.maximum(a - b - below, -1.0), np.minimum(a - b + above, 1.0)


def paired_difference(
    both: AnyArray, only_a: AnyArray, only_b: AnyArray, n: AnyArray, level: float
) -> Limits:
    """Return limits for the difference between two proportions of the same n candidates.

    The method is described in :func:`overlap_difference`, with the correlation of the labels. The
    limits are NaN if n is 0.
    """
    both, only_a, only_b, n = broadcast_floats(both, only_a, only_b, n)
    tp_a, tp_b = both + only_a, both + only_b
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = tp_a / n, tp_b / n
        near_a, near_b = (tp_a + 0.5) / (n + 1.0), (tp_b + 0.5) / (n + 1.0)
        spread = near_a * (1.0 - near_a) * near_b * (1.0 - near_b)
        correlation = np.clip((both / n - a * b) / np.sqrt(spread), -1.0, 1.0)
    of_a, of_b = clopper_pearson(tp_a, n, level), clopper_pearson(tp_b, n, level)
    return _mover_limits(a, of_a, b, of_b, correlation)


def correlated_limits(
    values: tuple[FloatArray, FloatArray],
    limits: tuple[Limits, Limits],
    variances: tuple[FloatArray, FloatArray, FloatArray],
    tested: Limits,
    power: Any = 1.0,
) -> Limits:
    """Combine the limits of two values between 0 and 1 into limits for their difference.

    ``variances`` are the variances of both values and of their difference. The test rejects
    differences outside ``tested``. The distances to the limits are combined like standard errors
    (Zou and Donner 2008), with the correlation raised to ``power``. The limits are then widened to
    include all differences that the test does not reject. If the test rejects 0, the limit closer
    to 0 is taken from the test.
    """
    gap = values[0] - values[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = variances[0] + variances[1] - variances[2]
        correlation = shared / (2.0 * np.sqrt(variances[0] * variances[1]))
        correlation = np.where(np.isfinite(correlation), np.clip(correlation, -1.0, 1.0), 0.0)
    (low_a, high_a), (low_b, high_b) = limits
    down_a, up_a = values[0] - low_a, high_a - values[0]
    down_b, up_b = values[1] - low_b, high_b - values[1]

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


def delta_method(
    tp: Sequence[AnyArray],
    size: Sequence[AnyArray],
    weight: Sequence[AnyArray],
    difference: FloatArray,
    level: float,
    phi: float = 1.0,
) -> Limits:
    """Return difference ± z se for a weighted sum of three independent binomial counts.

    ``phi`` is the variance of the counts divided by the binomial variance.
    """
    variance = np.zeros(np.shape(difference))
    for t, n, w in zip(tp, size, weight, strict=True):
        n_safe = np.maximum(n, 1)
        empty: BoolArray = np.asarray(n) == 0
        variance = variance + np.where(empty, 0.0, t * (1.0 - t / n_safe) * np.square(w))
    margin = z_of(level) * np.sqrt(phi * variance)
    return difference - margin, difference + margin


# ------------------------------------------------------------ Two proportions on the same items

PairedCounts = tuple[int, int, int, int]  # both correct, only a, only b, neither


def tango(counts: PairedCounts, level: float) -> tuple[float, float]:
    """Return Tango's (1998) score interval for the difference between paired proportions.

    The interval contains the differences that the score test does not reject. For a difference of
    0, the score test is McNemar's test without continuity correction.
    """
    _, only_a, only_b, _ = counts
    low, high = tango_limits(np.array([only_a]), np.array([only_b]), sum(counts), level)
    return float(low[0]), float(high[0])


def tango_limits(only_a: AnyArray, only_b: AnyArray, n: float, level: float) -> Limits:
    """Return Tango's intervals for many pairs on n items."""
    z, estimate = z_of(level), (only_a - only_b) / n
    one, score = np.ones(estimate.shape), partial(paired_score, only_a, only_b, n)
    low = _bisection_points(lambda delta: score(delta) > z, -one, estimate)
    return low, _bisection_points(lambda delta: score(delta) >= -z, estimate, one)


def paired_score(only_a: AnyArray | int, only_b: AnyArray | int, n: float, delta: Any) -> Any:
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
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = excess / np.sqrt(np.maximum(variance, 0.0))
    return np.where(excess == 0.0, 0.0, ratio)


def _bisection_points(
    below: Callable[[FloatArray], AnyArray], low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the points up to which a condition is true, bisected to neighboring floats."""
    never, always = ~below(low), below(high)
    ends = np.where(never, low, high)
    settled = never | always
    for _ in range(200):
        middle = (low + high) / 2.0
        settled |= (middle == low) | (middle == high)
        if settled.all():
            break
        up = below(middle)
        low, high = np.where(up & ~settled, middle, low), np.where(up | settled, high, middle)
    return np.where(never | always, ends, (low + high) / 2.0)


def paired_newcombe(counts: PairedCounts, level: float) -> tuple[float, float]:
    """Return Newcombe's (1998, method 10) hybrid score interval for paired proportions."""
    both, only_a, only_b, neither = counts
    n = sum(counts)
    right = np.array([both + only_a, both + only_b])
    share = right / n
    low, high = wilson(right, np.array([n, n]), level)
    below, above = share - low, high - share
    product = float(np.prod(right) * np.prod(n - right))
    covered = float(both * neither - only_a * only_b)
    if covered > 0.0:  # with continuity correction
        covered = max(covered - n / 2.0, 0.0)
    phi = 0.0
    if product > 0.0:
        phi = covered / np.sqrt(product)
    gain = float(share[0] - share[1])
    lower = below[0] ** 2 - 2.0 * phi * below[0] * above[1] + above[1] ** 2
    upper = above[0] ** 2 - 2.0 * phi * above[0] * below[1] + below[1] ** 2
    return gain - float(np.sqrt(max(lower, 0.0))), gain + float(np.sqrt(max(upper, 0.0)))


def are_binary(values: FloatArray) -> bool:
    """Return whether all values are 0 or 1."""
    result: BoolArray = (values == 0.0) | (values == 1.0)
    return bool(result.all())
