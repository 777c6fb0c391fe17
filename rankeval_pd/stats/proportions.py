"""Intervals for proportions, and the dispersion of several proportions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats._types import (
    AnyArray,
    FloatArray,
    IntArray,
    silent_division,
    unended,
)
from rankeval_pd.stats.distributions import broadcast_floats

# ---------------------------------------------------------------------- Intervals for a proportion

Limits = tuple[FloatArray, FloatArray]


class BetaTail(NamedTuple):
    """The tail probability at a limit, of Beta(tp + a, fp + b)."""

    shift: tuple[float, float]  #: (a, b)
    tail: float
    upper: bool


_AT_LEAST, _MORE, _JEFFREYS = (0.0, 1.0), (1.0, 0.0), (0.5, 0.5)  # P(X >= tp), P(X > tp)


def _beta_limits(
    tp: AnyArray,
    n: AnyArray,
    level: float,
    *,
    lower: tuple[float, float],
    upper: tuple[float, float],
) -> Limits:
    """Return the limits at which the tails of Beta(tp + a, fp + b) are (1 - level)/2."""
    tail = (1.0 - level) / 2.0
    tp, n = np.broadcast_arrays(np.asarray(tp, dtype=float), np.asarray(n, dtype=float))
    fp = n - tp
    some, not_all = tp > 0, fp > 0
    low = np.zeros(tp.shape)
    high = np.ones(tp.shape)
    low[some] = beta_quantile(tp[some], fp[some], BetaTail(lower, tail, upper=False))
    high[not_all] = beta_quantile(tp[not_all], fp[not_all], BetaTail(upper, tail, upper=True))
    return np.minimum(low, high), high  # at tiny levels, both limits are equal up to rounding


clopper_pearson = partial(_beta_limits, lower=_AT_LEAST, upper=_MORE)
"""Clopper-Pearson limits, which invert one-sided tests at (1 - level)/2."""

jeffreys = partial(_beta_limits, lower=_JEFFREYS, upper=_JEFFREYS)
"""The quantiles of Beta(tp + 1/2, n - tp + 1/2), with 0 at tp = 0 and 1 at tp = n."""


_LAST_STEP = 1e-5  # after a Halley step of this size the error is below 1e-15
_MOST_STEPS = 400  # about five are usual; from 1e-300 to 1 - 1e-300, with the longest, 346
_LONGEST_STEP = 4.0  # largest step in logits, to avoid overshooting on flat tails
_NEAR_ONE = 1e-9  # if 1 - p is smaller, p has too few digits for steps of 1e-5
_HALLEY_RANGE = 1.0  # farther away in log tail, use Newton's method, which never diverges


def beta_quantile(tp: FloatArray, fp: FloatArray, wanted: BetaTail) -> FloatArray:
    """Return the p at which flat counts have this tail, with an error of p and 1 - p of 1e-13.

    If both counts are 100 or more, quantiles come from one polynomial (:func:`fit_expansion`), also
    for single counts, because a limit must not depend on other counts.
    """
    a = tp + wanted.shift[0]
    b = fp + wanted.shift[1]
    large = np.minimum(a, b) >= LEAST_EXPANDED
    coefficients = None
    if large.any():
        coefficients = _cached_expansion(wanted)
    if coefficients is None:
        large[:] = False
    result = np.empty(tp.size)
    result[~large] = scipy.special.expit(beta_logits(tp[~large], fp[~large], wanted))
    places = np.flatnonzero(large)
    for start in range(0, places.size, _QUANTILES_AT_ONCE):
        part = places[start : start + _QUANTILES_AT_ONCE]
        a_part, b_part = a[part], b[part]
        square = 1.0 / a_part + 1.0 / b_part
        width = np.sqrt(square)
        slant = width * (b_part - a_part) / (a_part + b_part)
        # Horner's scheme in both variables, in place
        value = np.zeros(part.size)
        row = np.empty(part.size)
        for powers in reversed(coefficients or ()):
            row.fill(powers[-1])
            for coefficient in reversed(powers[:-1]):
                row *= square
                row += coefficient
            value *= slant
            value += row
        # expit(log(a/b) + w P) = a / (a + b exp(-w P)), without another logarithm
        value *= -width
        np.exp(value, out=value)
        value *= b_part
        value += a_part
        result[part] = a_part / value
    return result


@lru_cache(maxsize=64)
def _cached_expansion(wanted: BetaTail) -> Coefficients | None:
    """Return the polynomial for the quantiles of a tail, or None if it is not accurate enough."""
    shift = wanted.shift
    return fit_expansion(lambda a, b: beta_logits(a - shift[0], b - shift[1], wanted))


def beta_logits(tp: FloatArray, fp: FloatArray, wanted: BetaTail) -> FloatArray:
    """Return the logits of the quantiles, for flat arrays.

    The log tail is concave in logit p, so Newton's method converges; Halley's takes the last steps.
    (SciPy's inverse has an error of 1e-13 at 49,001 of 50,000 in SciPy 1.15, and 3e-12 in 1.17.)
    """
    at_zero: Any = scipy.special.betainc
    at_one: Any = scipy.special.betaincc
    if wanted.upper:
        at_zero, at_one = at_one, at_zero
    sign = 1.0 - 2.0 * wanted.upper
    target = np.log(wanted.tail)
    # start at the approximate quantile of Abramowitz and Stegun (1964), 26.5.22
    a = tp + wanted.shift[0]
    b = fp + wanted.shift[1]
    y = sign * float(-scipy.special.ndtri(wanted.tail))
    u = 1.0 / np.maximum(2.0 * a - 1.0, 0.5)
    v = 1.0 / np.maximum(2.0 * b - 1.0, 0.5)
    h = 2.0 / (u + v)
    k = (y * y - 3.0) / 6.0
    w = y * np.sqrt(np.maximum(h + k, 0.0)) / h - (v - u) * (k + 5.0 / 6.0 - 2.0 / (3.0 * h))
    x: FloatArray = np.log(a / b) - 2.0 * w
    # logits are infinite for tiny fractional counts, if the quantile rounds to 0 or 1
    few = np.flatnonzero(np.minimum(tp, fp) + min(wanted.shift) < _FRACTION_OF_SUCCESS)
    if few.size:
        area_0 = at_zero(a[few], b[few], _LEAST_QUANTILE)
        area_1 = at_one(b[few], a[few], _LEAST_QUANTILE)
        x[few[sign * (area_0 - wanted.tail) > 0.0]] = -np.inf
        x[few[sign * (area_1 - wanted.tail) < 0.0]] = np.inf
    active = np.flatnonzero(np.isfinite(x))
    a, b = a[active], b[active]
    log_beta = scipy.special.betaln(a, b)
    for _ in range(_MOST_STEPS):
        now = x[active]
        p = scipy.special.expit(now)
        q = scipy.special.expit(-now)
        area = np.asarray(at_zero(a, b, p), dtype=float)
        far = q < _NEAR_ONE
        if far.any():
            area[far] = at_one(b[far], a[far], q[far])
        successes, trials, share = b, a, q  # I_p(a, b) is the upper tail of Beta(b, a) at q
        if wanted.upper:
            successes, trials, share = a, b, p
        # SciPy's function is less accurate for a few successes in very many trials
        rare = (successes <= _FEW_TERMS) & (trials >= _MANY_TRIALS)
        rare &= successes == np.floor(successes)
        if rare.any():
            area[rare] = _rare_tail(successes[rare], trials[rare], share[rare])
        # the tail, its first derivative in x = logit p, and its second
        density = np.exp(  # p (1 - p) times the density
            a * scipy.special.log_expit(now) + b * scipy.special.log_expit(-now) - log_beta
        )
        bend = density * (a - (a + b) * p)
        with silent_division():
            gap = np.log(area) - target
            first = sign * density / area
            second = sign * bend / area - first * first
            newton = np.clip(-gap / first, -_LONGEST_STEP, _LONGEST_STEP)
            halley = newton / (1.0 + 0.5 * newton * second / first)
        step = np.where((np.abs(gap) < _HALLEY_RANGE) & np.isfinite(halley), halley, newton)
        # if a tail underflowed, x is too extreme: move halfway back to the middle
        lost = (area == 0.0) | ~np.isfinite(step)
        step = np.where(lost, 0.5 * (np.log(a / b) - now), step)
        x[active] += step
        going = np.abs(step) > _LAST_STEP
        if not going.any():
            break
        active = active[going]
        a = a[going]
        b = b[going]
        log_beta = log_beta[going]
    else:
        raise unended("a beta quantile", _MOST_STEPS)
    return x


# for a or b from the first number on, quantiles are not closer to 0 or 1 than the second: at the
# smallest tail, 5.5e-17, this holds from 0.0542 on
_FRACTION_OF_SUCCESS, _LEAST_QUANTILE = 0.06, 1e-300
# if a is at most the first and b at least the second number, sum the tail term by term
_FEW_TERMS, _MANY_TRIALS = 64.0, 1e6


def _rare_tail(a: FloatArray, b: FloatArray, p: FloatArray) -> FloatArray:
    """Return 1 - I_p(a, b), term by term: (1 - p)^b (1 + b p + b (b + 1) p^2 / 2 + ...)."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        term = np.exp(b * np.log1p(-p))
        total = term.copy()
        for k in range(1, int(a.max())):
            term = term * ((b + k - 1.0) * p / k)
            total += np.where(k < a, term, 0.0)
    return total


def alike_share(count: AnyArray, level: float) -> FloatArray:
    """Return Clopper-Pearson's lower limit for the share of equal values if all agree."""
    with silent_division():
        return np.asarray((0.5 - 0.5 * level) ** (1.0 / np.asarray(count, dtype=float)))


def wilson(tp: AnyArray, n: AnyArray, level: float) -> Limits:
    """Return the Wilson score interval; (0, 1) for an empty list."""
    tp, n = broadcast_floats(tp, n)
    z2 = z_of(level) ** 2
    size = np.where(n > 0, n, 1.0)  # n can be below 1 after division by the overdispersion
    share = tp / size
    # The limits are the roots of (n + z2) p^2 - (2 tp + z2) p + tp^2/n = 0. The smaller roots
    # for p and for 1 - p follow from the product of the roots, without cancellation.
    spread = np.sqrt(z2 * (z2 + 4.0 * tp * (n - tp) / size))
    twice = 2.0 * tp + z2 + spread
    high = twice / (2.0 * (size + z2))
    low = 2.0 * tp * share / np.where(twice > 0.0, twice, 1.0)
    # rounding must not move the limits past the proportion, or beyond 1
    low = np.minimum(low, share)
    high = np.clip(high, share, 1.0)
    return np.where(n > 0, low, 0.0), np.where((n > 0) & (tp < n), high, 1.0)


INTERVALS: dict[str, Callable[[AnyArray, AnyArray, float], Limits]] = {
    "clopper-pearson": clopper_pearson,
    "wilson": wilson,
    "jeffreys": jeffreys,
}
"""Intervals for one proportion, by the value of ``ci``."""


# ---------------------------------------------------------------- Beta quantiles as one polynomial
#
# For millions of counts, a polynomial replaces root finding. The logit of a beta variable is the
# difference of the logarithms of two gamma variables, with polygamma functions as cumulants. With
#
#     σ² = 1/a + 1/b,    t = (b - a)/(a + b),
#
# the m-th term of the Cornish-Fisher expansion at a fixed level is σ^(m + 1) times a polynomial in
# t of degree m, even or odd. The logit of a quantile is therefore
#
#     log(a/b) + σ P(σ², σ t)
#
# with one polynomial P for all a and b, fitted to exact quantiles at Chebyshev points. The
# residuals are about 1e-14 with ten powers for a, b >= 100. Temme's uniform inversion (1992) has
# the same small parameter, but its coefficients are expensive functions of a/b.

LEAST_EXPANDED = 100.0  #: smallest a and b for which the polynomial is used
_DEGREE = 10  # residuals at a level of 1 - 1e-10 are then 2e-13, with 8 powers 1e-11
_GRID_POINTS = 16  # number of grid points in each direction
_WORST_RESIDUAL = 2e-13  # largest acceptable absolute error of a logit
_QUANTILES_AT_ONCE = 1 << 14  # a few arrays of this size fit into the processor's cache

# one polynomial for one level: (power of σ t, power of σ²)
Coefficients = tuple[tuple[float, ...], ...]


def fit_expansion(exact: Callable[[FloatArray, FloatArray], FloatArray]) -> Coefficients | None:
    """Return the polynomial for a function of exact logits, or None beyond an error of 2e-13."""
    # Chebyshev points for t in [-1, 1] and for σ relative to its maximum, flattened: (point)
    turn = np.cos((np.arange(_GRID_POINTS) + 0.5) * np.pi / _GRID_POINTS)
    t, part = (x.ravel() for x in np.meshgrid(turn, 0.5 * (1.0 + turn), indexing="ij"))
    # at the largest σ for this t, the smaller of a and b has its minimum value
    width = part * np.sqrt(2.0 / (LEAST_EXPANDED * (1.0 + np.abs(t))))
    a = 2.0 / (width**2 * (1.0 + t))
    b = 2.0 / (width**2 * (1.0 - t))
    wanted = exact(a, b) - np.log(a / b)
    # least squares for the coefficients (point, power), with columns scaled to 1
    powers = [(k, i) for k in range(_DEGREE + 1) for i in range((_DEGREE - k) // 2 + 1)]
    terms = np.stack([width ** (2 * i + 1) * (width * t) ** k for k, i in powers], axis=1)
    scale = np.abs(terms).max(axis=0)
    fitted = np.linalg.lstsq(terms / scale, wanted, rcond=None)[0]
    left = np.abs(terms / scale @ fitted - wanted).max()
    if not left <= _WORST_RESIDUAL:
        return None
    values = dict(zip(powers, (fitted / scale).tolist(), strict=True))
    return tuple(
        tuple(values[k, i] for i in range((_DEGREE - k) // 2 + 1)) for k in range(_DEGREE + 1)
    )


# ---------------------------------------------------------------- Normal and Student's t quantiles


def _tail_of(level: Any) -> Any:
    """Return the probability of one tail beyond an interval, below one half for tiny levels."""
    return np.minimum((1.0 - level) / 2.0, np.nextafter(0.5, 0.0))


def z_of(level: float) -> float:
    """Return the normal two-sided critical value for this level."""
    return -float(scipy.special.ndtri(_tail_of(level)))


def t_of(freedom: Any, level: float | FloatArray) -> FloatArray:
    """Return Student's two-sided critical value, from the lower tail, which is not rounded to 1."""
    return -np.asarray(scipy.special.stdtrit(freedom, _tail_of(level)), dtype=float)


def quantile_of(freedom: FloatArray, level: float | FloatArray) -> FloatArray:
    """Return :func:`t_of`, or the normal critical value for infinite degrees of freedom."""
    endless = np.isinf(freedom)
    normal = -scipy.special.ndtri((1.0 - np.asarray(level)) / 2.0)
    return np.where(endless, normal, t_of(np.where(endless, 1.0, freedom), level))


def p_of_t(statistic: FloatArray, freedom: FloatArray | float, alternative: str) -> FloatArray:
    """Return the p-value of a t statistic, or of z if ``freedom`` is infinite."""
    far = {"two-sided": -np.abs(statistic), "greater": -statistic, "less": statistic}[alternative]
    endless = np.isinf(freedom)
    student = scipy.special.stdtr(np.where(endless, 1.0, freedom), far)
    tail = np.where(endless, scipy.special.ndtr(far), student)
    if alternative == "two-sided":
        tail = 2.0 * tail
    return np.asarray(tail, dtype=float)


# ------------------------------------------ Overdispersion, and the fit of the normal distribution

_EQUAL = 1e-12  # smaller relative differences between statistics are rounding errors
_COUNTS_AT_ONCE = 250_000  # number of counts drawn at a time
_MOST_TABLES = 20_000  # number of possible tables that are enumerated


def overdispersion(
    chi2: AnyArray | float, freedom: AnyArray | float, level: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return Pearson's statistic divided by its degrees of freedom, with limits and p-value."""
    chi2, freedom = np.broadcast_arrays(np.asarray(chi2, dtype=float), freedom)
    tail = (1.0 - level) / 2.0
    with silent_division():
        return (
            chi2 / freedom,
            chi2 / scipy.special.chdtri(freedom, tail),
            # no upper limit if the counts are constant
            np.where(
                chi2 == 0.0, np.inf, chi2 / (2.0 * scipy.special.gammaincinv(0.5 * freedom, tail))
            ),
            scipy.special.chdtrc(freedom, chi2),
        )


def pearson(tp: IntArray, n: IntArray) -> FloatArray:
    """Return Pearson's statistic for true positives (..., sample) among n candidates."""
    share = tp.sum(axis=-1, keepdims=True) / n.sum()
    with silent_division():
        return np.asarray((np.square(tp - n * share) / (n * share * (1.0 - share))).sum(axis=-1))


def model_sd(share: AnyArray | float, n: IntArray) -> FloatArray:
    """Return the sd of precision predicted by Eq. 4 for the mean sample size."""
    return np.sqrt(share * (1.0 - share) / np.mean(n))


def normal_distance(tp: AnyArray, n: IntArray) -> FloatArray:
    """Return the Kolmogorov distance between precision values (..., sample) and Eq. 4, pooled."""
    share = tp.sum(axis=-1, keepdims=True) / n.sum()
    sd = model_sd(share, n)
    ordered = np.sort(tp / n)
    with silent_division():
        expected = scipy.special.ndtr((ordered - share) / sd)
    # compare both ends of every jump in the empirical distribution
    steps = np.arange(n.size + 1) / n.size
    distance: FloatArray = np.maximum(steps[1:] - expected, expected - steps[:-1]).max(axis=-1)
    return distance


class Variation(NamedTuple):
    """The variation of precision between samples, compared with the binomial model."""

    phi: float
    phi_low: float
    phi_high: float
    icc: float  #: the correlation between labels in the same sample
    icc_low: float
    icc_high: float
    p_dispersion: float
    distance: float  #: Kolmogorov's
    p_distance: float
    failures: int  #: intervals that exclude the precision of the other samples
    failures_expected: float
    p_failures: float


def variation(
    tp: IntArray, n: IntArray, ci: str, level: float, *, n_resamples: int, seed: int
) -> Variation:
    """Compare samples with the binomial model, given their sizes and the total.

    The limits for phi divide Pearson's statistic by its quantiles under the model.
    """
    tables = _tables_of_samples(tp, n, n_resamples, seed)
    drawn = ((_statistics(counts, n, ci, level), weight) for counts, weight in tables)
    found, weight = (np.concatenate(x, axis=-1) for x in zip(*drawn, strict=True))
    own = _statistics(tp[np.newaxis], n, ci, level)
    total = weight.sum()
    p = np.minimum((found >= own * (1.0 - _EQUAL)) @ weight / total, 1.0)
    p_dispersion, p_distance, p_failures = np.where(np.isnan(own[:, 0]), np.nan, p)
    chi2, distance, failures = own[:, 0]
    order = np.argsort(found[0])
    freedom = n.size - 1.0
    ends = (0.5 - 0.5 * level) * total, (0.5 + 0.5 * level) * total
    first, last = found[0, order[np.searchsorted(weight[order].cumsum(), ends)]]
    # the nearest values beyond which there is at most the share of one tail
    lowest = found[0][found[0] < first * (1.0 - _EQUAL)].max(initial=0.0)
    highest = found[0][found[0] > last * (1.0 + _EQUAL)].min(initial=np.inf)
    # the size at which phi is the design effect 1 + (size - 1) icc
    size = (n.sum() - np.square(n).sum() / n.sum()) / freedom
    with silent_division():
        phi = chi2 / np.array([freedom, max(highest, freedom), min(lowest, freedom)])
        if chi2 < _EQUAL:  # no upper limit if the precision is constant
            phi[2] = np.inf
        icc = np.minimum((phi - 1.0) / (size - 1.0), 1.0)
    expected = float(found[2] @ weight / total)
    tests = p_dispersion, distance, p_distance, int(failures), expected, p_failures
    return Variation._make([*phi, *icc, *tests])


def _statistics(tp: IntArray, n: IntArray, ci: str, level: float) -> FloatArray:
    """Return Pearson's and Kolmogorov's statistics, and the failures, of tables (table, sample)."""
    total = int(n.sum())
    positive = int(tp[0].sum())
    failed = np.zeros(len(tp))
    for size in np.unique(n).tolist():
        count, place = np.unique(tp[:, n == size], return_inverse=True)
        low, high = INTERVALS[ci](count.astype(float), np.full(count.size, float(size)), level)
        others = (positive - count) / (total - size)
        fails = (others < low) | (high < others)
        failed += fails[place.reshape(len(tp), -1)].sum(axis=-1)
    return np.stack([pearson(tp, n), normal_distance(tp, n), failed])


def are_few(n: IntArray, tp: IntArray) -> bool:
    """Return whether all counts (sample) with the observed total can be enumerated."""
    most = np.minimum(n[:-1], tp.sum()) + 1.0
    return bool(np.log(most).sum() <= np.log(_MOST_TABLES))


def _tables_of_samples(
    tp: IntArray, n: IntArray, n_resamples: int, seed: int
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield counts (table, sample) with the observed total, and their weights.

    All tables are enumerated if they are few. Otherwise they are drawn, and the data count as one
    of the draws.
    """
    positive = int(tp.sum())
    if are_few(n, tp):
        shape = (np.minimum(n[:-1], positive) + 1).tolist()
        first = np.indices(shape).reshape(n.size - 1, -1)
        last = positive - first.sum(axis=0)
        tables = np.vstack([first, last])[:, (last >= 0) & (last <= n[-1])].T
        log = -scipy.special.betaln(tables + 1.0, n - tables + 1.0).sum(axis=-1)
        yield tables, np.exp(log - log.max())
        return
    yield tp[np.newaxis], np.ones(1)
    rng = np.random.default_rng(seed)
    at_once = max(_COUNTS_AT_ONCE // n.size, 1)
    for start in range(0, n_resamples, at_once):
        size = min(at_once, n_resamples - start)
        drawn = rng.multivariate_hypergeometric(n, positive, size, method="marginals")
        yield drawn, np.ones(size)


# ----------------------------------------- Hall's (1992) transformation of t for skewed differences
#
# Random sign tests assume symmetric differences, and reject too often in one tail if a few items
# contribute most of the variance. They do not, and keep their power, if Hall's must reject too.


def transformed(t: FloatArray, lean: FloatArray) -> FloatArray:
    """Return ((1 + a t/3)³ − 1)/a + a/6, a = ``lean`` (P. Hall 1992, equation 2.4)."""
    share = lean * t  # use products instead of powers, so that -t and -lean only change the sign
    return np.asarray(t + share * t / 3.0 + share * share * t / 27.0 + lean / 6.0)


def untransformed(value: FloatArray | float, lean: FloatArray) -> FloatArray:
    """Return the t statistic that is transformed to this value."""
    moved = value - lean / 6.0
    root = np.cbrt(1.0 + lean * moved)
    return np.asarray(3.0 * moved / (root**2 + root + 1.0))


def held_back_t(t: FloatArray, lean: FloatArray, *, two_sided: bool) -> FloatArray:
    """Return t or Hall's statistic, whichever rejects less often; 0 if their signs differ."""
    other = transformed(t, lean)
    if not two_sided:
        return np.minimum(t, other)
    alike = np.sign(t) == np.sign(other)
    return np.where(alike, np.sign(t) * np.minimum(np.abs(t), np.abs(other)), 0.0)


def widened_by_skewness(
    limits: Limits,
    estimate: FloatArray,
    error: FloatArray,
    lean: FloatArray,
    critical: FloatArray | float,
) -> Limits:
    """Return limits widened to include means that Hall's statistic does not reject, or NaN."""
    low, high = limits
    with np.errstate(invalid="ignore"):  # infinite critical values
        below = estimate - error * untransformed(critical, lean)
        above = estimate - error * untransformed(-critical, lean)
    return (
        np.where(np.isnan(below), low, np.minimum(low, below)),
        np.where(np.isnan(above), high, np.maximum(high, above)),
    )


def agree_with_test(
    low: FloatArray, high: FloatArray, p_value: FloatArray, alternative: str, level: float
) -> Limits:
    """Return the limits, widened to 0 if the test does not reject 0, so coverage is kept."""
    kept = p_value > (1.0 - level) * (1.0 + 1e-12)
    if alternative != "less":
        low = np.where(kept, np.minimum(low, 0.0), low)
    if alternative != "greater":
        high = np.where(kept, np.maximum(high, 0.0), high)
    return low, high


def reaching(limits: tuple[Any, Any], p_value: Any, level: float) -> Limits:
    """Widen limits to include 0 if the reported p-value exceeds 1 - level, or is NaN."""
    return agree_with_test(*limits, np.where(np.isnan(p_value), 1.0, p_value), "two-sided", level)
