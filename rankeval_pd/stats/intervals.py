"""Intervals of a proportion and of the difference of two, for whole arrays of counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray
from rankeval_pd.stats.search import first_true

Limits = tuple[FloatArray, FloatArray]


def clopper_pearson(tp: AnyArray, n: AnyArray, level: float) -> Limits:
    """Return the limits of Clopper and Pearson: tests of level (1 - level)/2 on either side."""
    return _limits(tp, n, level, lower=((0.0, 1.0),), upper=((1.0, 0.0),))


def jeffreys(tp: AnyArray, n: AnyArray, level: float) -> Limits:
    """Return the quantiles of Beta(tp + 1/2, n - tp + 1/2), with 0 at tp = 0 and 1 at tp = n."""
    return _limits(tp, n, level, lower=((0.5, 0.5),), upper=((0.5, 0.5),))


def midp(tp: AnyArray, n: AnyArray, level: float) -> Limits:
    """Return the proportions whose mid-p tails, P(beyond tp) + P(tp)/2, are (1 - level)/2."""
    halves = ((0.0, 1.0), (1.0, 0.0))
    low, high = _limits(tp, n, level, lower=halves, upper=halves, inner=True)
    tp, n = np.broadcast_arrays(tp, n)
    end = np.log(1.0 - level) / np.where(n > 0, n, 1.0)
    low = np.where((tp == n) & (n > 0), np.exp(end), low)
    high = np.where((tp == 0) & (n > 0), -np.expm1(end), high)
    return low, high


def _limits(
    tp: AnyArray,
    n: AnyArray,
    level: float,
    *,
    lower: tuple[tuple[float, float], ...],
    upper: tuple[tuple[float, float], ...],
    inner: bool = False,
) -> Limits:
    """Return the limits at which the mean tail of Beta(tp + a, fp + b) is (1 - level)/2.

    ``lower`` and ``upper`` list the (a, b). The lower limit is 0 at tp = 0, the upper 1 at tp = n;
    with ``inner`` neither is sought at tp = 0 or tp = n.
    """
    tail = (1.0 - level) / 2.0
    tp, n = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp, n))
    fp = n - tp
    some = (tp > 0) & (fp > 0) if inner else tp > 0
    not_all = (tp > 0) & (fp > 0) if inner else fp > 0
    low, high = np.zeros(tp.shape), np.ones(tp.shape)
    low[some] = beta_quantile(tp[some], fp[some], lower, tail, upper_tail=False)
    high[not_all] = beta_quantile(tp[not_all], fp[not_all], upper, tail, upper_tail=True)
    return low, high


_SETTLED = 1e-5  # Halley's steps are cubic: after one this small the error is below 1e-15
_LONGEST = 4.0  # a step from where the tail is flat leads nowhere
_FAR = 1.0  # further away than this in log tail, Newton's steps, which never diverge, are taken


def beta_quantile(
    tp: FloatArray,
    fp: FloatArray,
    shifts: tuple[tuple[float, float], ...],
    tail: float,
    *,
    upper_tail: bool,
) -> FloatArray:
    """Return p at which the mean tail of the distributions Beta(tp + a, fp + b) is ``tail``.

    The logarithm of the tail is a concave function of logit p, so that Newton's steps converge
    from anywhere; Halley's finish them. Two or three evaluations of the incomplete beta function
    suffice, and the result holds to some 1e-14, relative to p and to 1 - p (SciPy's inverse is
    off by 1e-10 where the list is long and the count small).
    """
    from scipy import special

    incomplete = special.betaincc if upper_tail else special.betainc
    sign = -1.0 if upper_tail else 1.0
    target = np.log(tail)
    shape = tp.shape
    x = _first_guess(tp.ravel(), fp.ravel(), shifts, tail, upper_tail=upper_tail)
    active = np.arange(x.size)
    ab = [(tp.ravel() + a, fp.ravel() + b) for a, b in shifts]
    log_beta = [special.betaln(a, b) for a, b in ab]
    for _ in range(100):
        p = special.expit(x[active])
        log_p, log_q = special.log_expit(x[active]), special.log_expit(-x[active])
        area = density = bend = np.zeros(active.size)
        for (a, b), lb in zip(ab, log_beta, strict=True):
            mass = np.exp(a * log_p + b * log_q - lb)  # p (1 - p) times the density
            area = area + incomplete(a, b, p)
            density = density + mass
            bend = bend + mass * (a - (a + b) * p)
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = np.log(area / len(ab)) - target
            first = sign * density / area
            second = sign * bend / area - first * first
            newton = np.clip(-gap / first, -_LONGEST, _LONGEST)
            halley = newton / (1.0 + 0.5 * newton * second / first)
        step = np.where((np.abs(gap) < _FAR) & np.isfinite(halley), halley, newton)
        # a tail that underflowed says no more than that the middle is nearer
        lost = (area == 0.0) | ~np.isfinite(step)
        step = np.where(lost, 0.5 * (np.log(ab[0][0] / ab[0][1]) - x[active]), step)
        x[active] += step
        going = np.abs(step) > _SETTLED
        if not going.any():
            break
        active = active[going]
        ab = [(a[going], b[going]) for a, b in ab]
        log_beta = [lb[going] for lb in log_beta]
    quantile: FloatArray = special.expit(x).reshape(shape)
    return quantile


def _first_guess(
    tp: FloatArray,
    fp: FloatArray,
    shifts: tuple[tuple[float, float], ...],
    tail: float,
    *,
    upper_tail: bool,
) -> FloatArray:
    """Return the logit of an approximate quantile (Abramowitz and Stegun 1964, 26.5.22)."""
    from scipy import special

    a = tp + sum(s[0] for s in shifts) / len(shifts)
    b = fp + sum(s[1] for s in shifts) / len(shifts)
    y = float(special.ndtri(tail)) * (1.0 if upper_tail else -1.0)
    u, v = 1.0 / np.maximum(2.0 * a - 1.0, 0.5), 1.0 / np.maximum(2.0 * b - 1.0, 0.5)
    h, k = 2.0 / (u + v), (y * y - 3.0) / 6.0
    w = y * np.sqrt(np.maximum(h + k, 0.0)) / h - (v - u) * (k + 5.0 / 6.0 - 2.0 / (3.0 * h))
    guess: FloatArray = np.log(a / b) - 2.0 * w
    return guess


def wilson(tp: AnyArray, n: AnyArray, level: float) -> Limits:
    """Return the limits of Wilson's score test; (0, 1) for an empty list."""
    from scipy import special

    tp, n = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp, n))
    z2 = float(special.ndtri((1.0 - level) / 2.0)) ** 2
    size = np.maximum(n, 1.0)
    # The limits are the roots of (n + z2) p^2 - (2 tp + z2) p + tp^2/n = 0. The smaller root of
    # p and that of 1 - p follow from the product of the roots, without cancellation.
    spread = np.sqrt(z2 * (z2 + 4.0 * tp * (n - tp) / size))
    high = (2.0 * tp + z2 + spread) / (2.0 * (n + z2))
    low = 2.0 * tp * (tp / size) / (2.0 * tp + z2 + spread)
    return np.where(n > 0, low, 0.0), np.where((n > 0) & (tp < n), high, 1.0)


def blaker(tp: AnyArray, n: AnyArray, level: float) -> Limits:
    """Return the least and the greatest proportion that Blaker's test does not reject (2000).

    The acceptability of a proportion is the smaller tail at tp plus the largest tail on the other
    side that is not larger; a proportion is rejected where it is at most 1 - level. The
    proportions that are not rejected need not be an interval: gaps between the limits are
    ignored. So the coverage is at least the level, the limits lie within Clopper and Pearson's,
    and a higher level never gives a narrower interval. Counts divided by an overdispersion need
    not be whole: tails are then those of Beta distributions. Some 60 microseconds for each.
    """
    tp, n = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp, n))
    fp = n - tp
    low, high = np.zeros(tp.shape), np.ones(tp.shape)
    some, not_all = tp > 0, fp > 0
    low[some] = _expit(_blaker_low(tp[some], fp[some], 1.0 - level))
    # the upper limit is the lower one of the other kind, turned round before digits are lost
    high[not_all] = _expit(-_blaker_low(fp[not_all], tp[not_all], 1.0 - level))
    return low, high


def _expit(x: FloatArray) -> FloatArray:
    from scipy import special

    p: FloatArray = special.expit(x)
    return p


def _blaker_low(tp: FloatArray, fp: FloatArray, alpha: float) -> FloatArray:
    """Return the logit of the least proportion whose acceptability is above ``alpha``, tp > 0.

    Let p rise from Clopper and Pearson's limit, where P(X >= tp) = alpha/2, and let k be the first
    count whose P(X <= k) is still above that. As long as this is so, the acceptability is
    P(X >= tp) + P(X <= k - 1), which falls and then rises, from at most alpha. Where
    P(X <= k) has fallen to P(X >= tp), it jumps to twice the latter: above alpha. What comes first,
    rising through alpha or the jump, is the limit.
    """
    from scipy import special
    from scipy.optimize import elementwise

    def upper(x: FloatArray, tp: FloatArray, fp: FloatArray) -> FloatArray:
        return np.asarray(special.betainc(tp, fp + 1.0, special.expit(x)), dtype=float)

    def lower(x: FloatArray, k: FloatArray, tp: FloatArray, fp: FloatArray) -> FloatArray:
        rest = tp + fp - k
        found = special.betainc(rest, np.maximum(k, 0.0) + 1.0, special.expit(-x))
        return np.where(k >= 0.0, found, 0.0)

    def gap(x: FloatArray, k: FloatArray, tp: FloatArray, fp: FloatArray) -> FloatArray:
        tail = upper(x, tp, fp)
        risen, left = tail + lower(x, k - 1.0, tp, fp), lower(x, k, tp, fp)
        return np.maximum((risen - alpha) / (risen + alpha), (tail - left) / (tail + left))

    at = ((0.0, 1.0),)
    start: FloatArray = special.logit(beta_quantile(tp, fp, at, 0.5 * alpha, upper_tail=False))
    k = first_true(
        lambda k: lower(start, k, tp, fp) > 0.5 * alpha, np.zeros(tp.shape), np.ceil(tp) - 1.0
    )
    # rounding apart, the limit is Clopper and Pearson's where the gap is not negative
    found = start.copy()
    inner = gap(start, k, tp, fp) < 0.0
    args = (k[inner], tp[inner], fp[inner])
    step = np.sqrt(1.0 / tp[inner] + 1.0 / (fp[inner] + 1.0))
    high = start[inner] + step
    while (short := gap(high, *args) < 0.0).any():
        high = high + short * step
    found[inner] = elementwise.find_root(gap, (start[inner], high), args=args).x
    return found


INTERVALS: dict[str, Callable[[AnyArray, AnyArray, float], Limits]] = {
    "clopper-pearson": clopper_pearson,
    "wilson": wilson,
    "jeffreys": jeffreys,
    "midp": midp,
    "blaker": blaker,
}
"""Intervals of one proportion by the name of the argument ``ci``."""


def newcombe(tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float) -> Limits:
    """Return Newcombe's hybrid score interval of tp_a/n_a - tp_b/n_b (1998, method 10).

    NaN where one of the two is empty.
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
    """Return Agresti and Caffo's interval of tp_a/n_a - tp_b/n_b (2000), within [-1, 1].

    Wald's, after one positive and one negative are added to either sample. NaN where one of the
    two is empty.
    """
    from scipy import special

    tp_a, n_a, tp_b, n_b = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp_a, n_a, tp_b, n_b)
    )
    a, b = (tp_a + 1.0) / (n_a + 2.0), (tp_b + 1.0) / (n_b + 2.0)
    variance = a * (1.0 - a) / (n_a + 2.0) + b * (1.0 - b) / (n_b + 2.0)
    margin = -float(special.ndtri((1.0 - level) / 2.0)) * np.sqrt(variance)
    defined = (n_a > 0) & (n_b > 0)
    low, high = np.maximum(a - b - margin, -1.0), np.minimum(a - b + margin, 1.0)
    return np.where(defined, low, np.nan), np.where(defined, high, np.nan)


def miettinen_nurminen(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float
) -> Limits:
    """Return Miettinen and Nurminen's score interval of tp_a/n_a - tp_b/n_b (1985).

    The differences that the score test does not reject; its variance is that of the most likely
    proportions with that difference, times N/(N - 1), N = n_a + n_b, as in their paper (Mee's
    interval lacks this factor). NaN where one of the two is empty.
    """
    tables = [np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp_a, n_a, tp_b, n_b)]
    _, n_a, _, n_b = tables
    defined = (n_a > 0) & (n_b > 0)
    low, high = np.full(defined.shape, np.nan), np.full(defined.shape, np.nan)
    x_a, n_a, x_b, n_b = (x[defined] for x in tables)
    low[defined] = -_score_high(x_b, n_b, x_a, n_a, level)
    high[defined] = _score_high(x_a, n_a, x_b, n_b, level)
    return low, high


def _score_high(
    tp_a: FloatArray, n_a: FloatArray, tp_b: FloatArray, n_b: FloatArray, level: float
) -> FloatArray:
    """Return the difference above the observed one where the score statistic is z."""
    from scipy import special
    from scipy.optimize import elementwise

    z = -float(special.ndtri((1.0 - level) / 2.0))
    total = n_a + n_b
    observed = tp_a / n_a - tp_b / n_b
    # counts divided by an overdispersion may add up to 1 or less: then nothing is known
    known = (total > 1.0) & (observed < 1.0)

    def gap(
        difference: FloatArray,
        tp_a: FloatArray,
        n_a: FloatArray,
        tp_b: FloatArray,
        n_b: FloatArray,
    ) -> FloatArray:
        variance = _restricted_variance(difference, tp_a, n_a, tp_b, n_b)
        scale = np.sqrt(variance * ((n_a + n_b) / (n_a + n_b - 1.0)))
        beyond = difference - (tp_a / n_a - tp_b / n_b)
        # the statistic is 0 at the observed difference even where its variance is 0
        found: FloatArray = np.where(beyond <= 0.0, -1.0, beyond - z * scale)
        return found

    high = np.ones(total.shape)
    args = tuple(x[known] for x in (tp_a, n_a, tp_b, n_b))
    high[known] = elementwise.find_root(gap, (observed[known], np.ones(args[0].shape)), args=args).x
    return high


def _restricted_variance(
    difference: FloatArray, tp_a: FloatArray, n_a: FloatArray, tp_b: FloatArray, n_b: FloatArray
) -> FloatArray:
    """Return the variance of the difference for the most likely proportions that differ so."""
    gap = np.abs(difference)
    tables = np.stack([tp_a, n_a, tp_b, n_b])
    # x of n where the proportion is the smaller one, s, and y of m where it is s + gap
    x, n, y, m = np.where(difference >= 0.0, tables[[2, 3, 0, 1]], tables)
    s = _restricted(gap, x, n, y, m)
    # near the upper end, the same of negatives: their proportions keep their digits
    turned = s > 0.5 * (1.0 - gap)
    x, n, y, m = np.where(turned, np.stack([m - y, m, n - x, n]), np.stack([x, n, y, m]))
    s = np.where(turned, 1.0 - gap - s, s)
    for _ in range(3):  # Newton's steps give back the digits that the arc cosine has lost
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


def _restricted(
    gap: FloatArray, x: FloatArray, n: FloatArray, y: FloatArray, m: FloatArray
) -> FloatArray:
    """Return the most likely s if x of n come from s and y of m from s + gap, nearly.

    The score equation is a cubic, solved as by Farrington and Manning (1990).
    """
    total = m + n
    c2 = ((m + 2.0 * n) * gap - total - x - y) / total
    c1 = ((n * gap - total - 2.0 * x) * gap + x + y) / total
    c0 = x * gap * (1.0 - gap) / total
    v = (c2 / 3.0) ** 3 - c1 * c2 / 6.0 + 0.5 * c0
    u = np.copysign(np.sqrt(np.maximum(c2 * c2 / 9.0 - c1 / 3.0, 0.0)), v)
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(u == 0.0, 0.0, np.clip(v / u**3, -1.0, 1.0))
    s = 2.0 * u * np.cos((np.pi + np.arccos(turn)) / 3.0) - c2 / 3.0
    return np.clip(s, 0.0, 1.0 - gap)


DIFFERENCE_INTERVALS: dict[
    str, Callable[[AnyArray, AnyArray, AnyArray, AnyArray, float], Limits]
] = {
    "newcombe": newcombe,
    "agresti-caffo": agresti_caffo,
    "miettinen-nurminen": miettinen_nurminen,
}
"""Intervals of the difference of two proportions by the name of the argument ``ci``."""


def delta_method(
    tp: tuple[AnyArray, AnyArray, AnyArray],
    size: tuple[AnyArray, AnyArray, AnyArray],
    weight: tuple[AnyArray, AnyArray, AnyArray],
    difference: FloatArray,
    level: float,
    phi: float = 1.0,
) -> Limits:
    """Return difference -+ z se for a weighted sum of the counts of three independent binomials.

    ``phi`` is how many times as much as binomial counts they vary.
    """
    from scipy import special

    variance = np.zeros(np.shape(difference))
    for t, n, w in zip(tp, size, weight, strict=True):
        n_safe = np.maximum(n, 1)
        empty: BoolArray = np.asarray(n) == 0
        variance = variance + np.where(empty, 0.0, t * (1.0 - t / n_safe) * np.square(w))
    margin = -float(special.ndtri((1.0 - level) / 2.0)) * np.sqrt(phi * variance)
    return difference - margin, difference + margin
