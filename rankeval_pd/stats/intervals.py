"""Intervals of a proportion and of the difference of two, for whole arrays of counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray

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
    end = np.log(1.0 - level) / np.maximum(n, 1)
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


INTERVALS: dict[str, Callable[[AnyArray, AnyArray, float], Limits]] = {
    "clopper-pearson": clopper_pearson,
    "wilson": wilson,
    "jeffreys": jeffreys,
    "midp": midp,
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


DIFFERENCE_INTERVALS = {"newcombe": newcombe}
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
