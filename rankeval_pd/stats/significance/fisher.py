"""Fisher's, McNemar's and Cochran-Mantel-Haenszel exact tests, and odds ratios."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions import binomial, hypergeometric
from rankeval_pd.stats.distributions.hypergeometric import first_true, ratio_moments
from rankeval_pd.stats.distributions.populations import hypergeometric_laws, tails_of_sum

# -------------------------------------------------- Fisher's exact test for two difference regions
#
# Evert (2004), section 3.3.

_AS_LIKELY = 1e-7  # as in R, tables within this relative difference are treated as equally likely

ALTERNATIVES = ("two-sided", "greater", "less")


class FisherTest(NamedTuple):
    """P-values from Fisher's test."""

    p_value: FloatArray  #: exact p-value
    p_mid: FloatArray  #: P(less likely tables) + P(equally likely tables) / 2


def fisher_test(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, alternative: str
) -> FisherTest:
    """Test whether tp_a of n_a and tp_b of n_b share the same underlying proportion.

    Parameters
    ----------
    tp_a, n_a, tp_b, n_b : array of int
        True positives and sizes of the two regions. The arrays are broadcast.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis. "greater" means that the proportion in a is larger.

    Notes
    -----
    Regions of equal size have a symmetric null distribution, and the two-sided p-value is twice the
    smaller tail. For regions of different sizes, bisection on both sides of the mode finds the
    tables that are at most as likely as the observed table. p is 1 if a region is empty, or if none
    or all of the candidates are true positives.
    """
    tp_a, n_a, tp_b, n_b = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp_a, n_a, tp_b, n_b)
    )
    if alternative == "less":
        tp_a, n_a, tp_b, n_b = tp_b, n_b, tp_a, n_a
    total, positive = n_a + n_b, tp_a + tp_b
    # one tail, or twice one tail if the distribution is symmetric, or two tails by bisection
    if alternative != "two-sided":
        one = hypergeometric.tails(tp_a, total, positive, n_a)
        p_value, p_mid = np.exp(one.ge), np.exp(one.mid)
    elif np.array_equal(n_a, n_b):
        p_value, p_mid = _symmetric(np.maximum(tp_a, tp_b), total, positive, n_a)
    else:
        p_value, p_mid = _two_sided(tp_a, total, positive, n_a)
    uninformative = (n_a == 0) | (n_b == 0) | (positive == 0) | (positive == total)
    return FisherTest(
        np.where(uninformative, 1.0, np.minimum(p_value, 1.0)),
        np.where(uninformative, 1.0, np.minimum(p_mid, 1.0)),
    )


def _symmetric(
    larger: FloatArray, total: FloatArray, positive: FloatArray, n: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return p and mid-p for two regions of equal size, given the larger count.

    A count and its mirror image are equally likely, and more extreme counts are less likely.
    """
    upper = hypergeometric.tails(larger, total, positive, n)
    middle = larger * 2.0 == positive
    p_value = np.where(middle, 1.0, 2.0 * np.exp(upper.ge))
    p_mid = np.where(middle, 1.0 - 0.5 * np.exp(upper.pmf), 2.0 * np.exp(upper.mid))
    return p_value, p_mid


def _two_sided(
    i: FloatArray, total: FloatArray, positive: FloatArray, n: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return p and mid-p from the tables that are at most as likely as count i, for any margins."""
    observed = hypergeometric.log_pmf(i, np.maximum(total, 1.0), positive, n)
    at_most = _tail_mass(observed + _AS_LIKELY, total, positive, n)
    less = _tail_mass(observed - _AS_LIKELY, total, positive, n)
    return at_most, 0.5 * (at_most + less)


def _tail_mass(
    limit: FloatArray, total: FloatArray, positive: FloatArray, n: FloatArray
) -> FloatArray:
    """Return the total probability of the counts with a log probability up to ``limit``."""
    lowest, highest = hypergeometric.support(total, positive, n)
    mode = np.clip(hypergeometric.mode(total, positive, n), lowest, highest)

    def unlikely(count: FloatArray) -> BoolArray:
        inside = np.clip(count, lowest, highest)
        low: BoolArray = (
            hypergeometric.log_pmf(inside, np.maximum(total, 1.0), positive, n) <= limit
        )
        return low | (count < lowest) | (count > highest)

    # probabilities decrease on both sides of the mode, so bisect for the first unlikely count
    right = first_true(unlikely, mode, highest + 1.0)
    left = -first_true(lambda count: unlikely(-count), 1.0 - mode, 1.0 - lowest)
    upper = np.exp(hypergeometric.tails(right, total, positive, n).ge)
    # P(X <= left) is the upper tail of the positives outside the list
    lower = np.exp(hypergeometric.tails(positive - left, total, positive, total - n).ge)
    return upper + lower


# ------------------------------------- Two proportions within strata: Cochran, Mantel and Haenszel
#
# Stratum q has two samples of size m_q, with x_q and y_q positives. If the two proportions are
# equal in every stratum, x_q is hypergeometric given all margins. The test statistic is the sum of
# the x_q. The distribution of this sum is a convolution, which is symmetric because the samples
# have equal sizes.


class StratifiedTest(NamedTuple):
    """P-values from a single test across strata."""

    p_value: float
    p_mid: float  #: mid-p, with half the probability of the observed sum


def stratified_exact_test(
    x: IntArray, y: IntArray, m: IntArray, alternative: str
) -> StratifiedTest:
    """Return exact p-values for x and y positives in two samples of size m per stratum.

    The two-sided p-value is the probability of sums at least as far from the mean as observed. The
    cost of the convolutions is proportional to the variance of the sum.
    """
    both = x + y
    # strata with the same m and x + y have the same distribution, which is computed once
    tables, times = np.unique(np.stack([m, both]), axis=1, return_counts=True)
    size, positive = tables.astype(float)
    observed, total = float(x.sum()), float(both.sum())
    away = observed - total / 2.0
    if alternative == "two-sided":
        count, factor = total / 2.0 + abs(away), 2.0
    else:  # the other sample has the same distribution, so "less" is "greater" for the other sample
        count, factor = (observed if alternative == "greater" else total - observed), 1.0
    if not positive.any() or (positive == 2.0 * size).all():
        return StratifiedTest(1.0, 1.0)
    laws = hypergeometric_laws(size, 2.0 * size, positive)
    result = tails_of_sum(count, laws, times.astype(np.int64))
    if alternative == "two-sided" and away == 0.0:
        return StratifiedTest(1.0, 1.0 - 0.5 * math.exp(result.pmf))
    return StratifiedTest(
        *(min(1.0, factor * math.exp(log_p)) for log_p in (result.ge, result.mid))
    )


def mantel_haenszel_difference(x: IntArray, y: IntArray, m: IntArray) -> tuple[float, float]:
    """Return the Mantel-Haenszel difference in proportions and Sato's standard error.

    The standard error is valid for a few large strata and for many small strata (T. Sato 1989).
    """
    inside = m > 0
    a, b, n = (np.asarray(v[inside], dtype=float) for v in (x, y, m))
    weight = float(n.sum()) / 2.0
    if weight == 0.0:
        return 0.0, 0.0
    result = float((a - b).sum()) / 2.0 / weight
    # Sato's estimate: (difference P + Q) / weight^2, here for samples of equal size
    p: FloatArray = (b - a) / 4.0
    q: FloatArray = (a * (n - b) + b * (n - a)) / (4.0 * n)
    variance = max((result * float(p.sum()) + float(q.sum())) / weight**2, 0.0)
    return result, math.sqrt(variance)


# ---------------------------------------------------- McNemar's exact test for two ranking methods
#
# Each method is a classifier that is correct if it accepts a positive or rejects a negative. Two
# methods differ only in the difference regions. Only method a is correct on true positives
# that only a accepts and on false positives that only b accepts.


def mcnemar_test(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, alternative: str
) -> FloatArray:
    """Return the p-value of McNemar's exact test for two difference regions.

    Parameters
    ----------
    tp_a, n_a, tp_b, n_b : array of int
        True positives and sizes of the two difference regions. The arrays are broadcast.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis. "greater" means that a is correct more often than b.

    Notes
    -----
    Method a is correct on tp_a + (n_b - tp_b) of the n_a + n_b candidates. Under the null
    hypothesis, this number is binomial with probability 1/2. For two regions of d candidates each,
    the variance of this number is d/2, compared with 2 d pi (1 - pi) in the binomial model for the
    regions. The test is therefore conservative by a factor of 1/(4 pi (1 - pi)), which is large if
    positives are rare. As in Fisher's test, p is 1 if a region is empty, or if none or all of the
    candidates are true positives.
    """
    tp_a, n_a, tp_b, n_b = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp_a, n_a, tp_b, n_b)
    )
    total, positive = n_a + n_b, tp_a + tp_b
    right_a = tp_a + (n_b - tp_b)
    right_b = total - right_a
    if alternative == "two-sided":
        # the null distribution is symmetric, so take twice the smaller tail
        p_value = 2.0 * np.exp(binomial.tails(np.maximum(right_a, right_b), total, 0.5).ge)
    else:
        right = right_a if alternative == "greater" else right_b
        p_value = np.exp(binomial.tails(right, total, 0.5).ge)
    uninformative = (n_a == 0) | (n_b == 0) | (positive == 0) | (positive == total)
    return np.where(uninformative, 1.0, np.minimum(p_value, 1.0))


# ----------------------- The odds ratio, conditional on the margins: estimate and exact interval
#
# Given both sizes and the number of positives, the number of true positives in a follows Fisher's
# noncentral hypergeometric distribution. The only parameter is the odds ratio between a and b. All
# equations are solved for theta, the logarithm of the odds ratio. Probabilities are computed
# relative to the observed table, as sums of positive terms, so there is no cancellation.

_LAST_STEP = 1e-8  # after a Newton step of this size the error is 1e-16
_LONGEST_STEP = 3.0  # longest step, to avoid overshooting
_MANY = 1_000  # with at least this many tables, starting values are interpolated between neighbors
_BRACKET_MARGIN = 1e-3  # tolerance for rounding errors around the bracket of the estimate


class OddsRatio(NamedTuple):
    """The conditional estimate of the odds ratio, with an exact interval."""

    mle: FloatArray  #: odds ratio for which the expected count equals the observed count
    low: FloatArray  #: odds ratio with P(X >= observed) = (1 - level)/2, or 0
    high: FloatArray  #: odds ratio with P(X <= observed) = (1 - level)/2, or inf


def conditional_odds_ratio(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float
) -> OddsRatio:
    """Return the conditional maximum-likelihood odds ratio with Cornfield's exact interval.

    Parameters
    ----------
    tp_a, n_a, tp_b, n_b : array of int
        True positives and sizes of the two regions. The arrays are broadcast.
    level : float
        Confidence level. Each tail has a probability of (1 - level)/2.

    Notes
    -----
    The estimate is 0 or inf if the count is the lowest or the highest possible count. The estimate
    is NaN if only one count is possible, that is, if a region is empty, or if none or all of the
    candidates are positive. The logarithms of all results are accurate to about 1e-12. The cost
    increases with the standard deviation of the count. The interval inverts two one-sided tests.
    The two-sided Fisher test orders tables by probability instead. The test can therefore reject an
    odds ratio of 1 that is inside the interval, or accept one that is outside.
    """
    tp_a, n_a, tp_b, n_b = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp_a, n_a, tp_b, n_b)
    )
    fp_a, fp_b = n_a - tp_a, n_b - tp_b
    tail = (1.0 - level) / 2.0
    lowest, highest = (tp_a == 0) | (fp_b == 0), (tp_b == 0) | (fp_a == 0)
    mle = np.where(highest, np.inf, 0.0)
    mle[lowest & highest] = np.nan
    inner = ~(lowest | highest)
    mle[inner] = np.exp(_log_mle(tp_a[inner], fp_a[inner], tp_b[inner], fp_b[inner]))
    low, high = np.zeros(mle.shape), np.full(mle.shape, np.inf)
    some = ~lowest
    low[some] = np.exp(_log_low(tp_a[some], fp_a[some], tp_b[some], fp_b[some], tail))
    some = ~highest
    # exchanging the regions inverts the odds ratio, so the upper limit is 1 / lower limit
    high[some] = np.exp(-_log_low(tp_b[some], fp_b[some], tp_a[some], fp_a[some], tail))
    return OddsRatio(mle, low, high)


def _log_mle(tp_a: FloatArray, fp_a: FloatArray, tp_b: FloatArray, fp_b: FloatArray) -> FloatArray:
    """Return the theta at which the expected count is tp_a; all four cells are positive.

    theta lies between 0 and the logarithm of the sample odds ratio (Mantel and Hankey 1975).
    Newton's method converges because the log-likelihood is concave. Steps that leave the bracket
    are replaced by bisection.
    """
    sample = np.log(tp_a) + np.log(fp_b) - np.log(fp_a) - np.log(tp_b)
    return _from_neighbors(_newton_mle, sample, tp_a, fp_a, tp_b, fp_b)


def _from_neighbors(
    solve: Callable[..., FloatArray], start: FloatArray, *tables: FloatArray
) -> FloatArray:
    """Solve many neighboring tables, starting from the solution for every eighth table.

    An interpolated starting value is used only if neighboring solutions differ by at most a fifth
    of Wald's standard error.
    """
    if start.size < _MANY:
        return solve(start, *tables)
    some = np.arange(0, start.size, 8)
    moved = solve(start[some], *(x[some] for x in tables)) - start[some]
    moved = np.interp(np.arange(start.size), some, moved)
    near = moved**2 < 0.04 * sum(1.0 / (x + 0.5) for x in tables)
    return solve(start + np.where(near, moved, 0.0), *tables)


def _newton_mle(
    start: FloatArray, tp_a: FloatArray, fp_a: FloatArray, tp_b: FloatArray, fp_b: FloatArray
) -> FloatArray:
    """Return the solution from a starting value, which is first moved into the bracket."""
    sample = np.log(tp_a) + np.log(fp_b) - np.log(fp_a) - np.log(tp_b)
    low, high = np.minimum(sample, 0.0) - _BRACKET_MARGIN, np.maximum(sample, 0.0) + _BRACKET_MARGIN
    theta = np.clip(start, low, high)
    active = np.arange(theta.size)
    while active.size:
        cells = tp_a[active], fp_a[active], tp_b[active], fp_b[active]
        now = theta[active]
        (up, up1, up2), (down, down1, down2) = _sides(*cells, now)
        mass = 1.0 + up + down
        # mean and variance of the count about tp_a, from the moments on both sides
        excess = (up1 - down1) / mass  # expected minus observed count
        variance = (up2 + down2) / mass - excess * excess
        low[active] = np.where(excess < 0.0, now, low[active])
        high[active] = np.where(excess > 0.0, now, high[active])
        new = now - excess / variance
        inside = (new >= low[active]) & (new <= high[active])
        theta[active] = np.where(inside, new, 0.5 * (low[active] + high[active]))
        active = active[np.abs(theta[active] - now) > _LAST_STEP]
    return theta


def _log_low(
    tp_a: FloatArray, fp_a: FloatArray, tp_b: FloatArray, fp_b: FloatArray, tail: float
) -> FloatArray:
    """Return the theta with P(X >= tp_a) = ``tail``; tp_a is not the lowest possible count.

    The logarithm of the tail is concave in theta, because X given X >= tp_a has a smaller variance
    than X. Newton's method converges from any starting value, and from below after the first step.
    """
    from scipy import special

    # start at Wald's limit for the log odds ratio after adding 1/2 to each cell
    a, b, c, d = (x + 0.5 for x in (tp_a, fp_a, tp_b, fp_b))
    start = np.log(a) + np.log(d) - np.log(b) - np.log(c)
    spread = np.sqrt(1.0 / a + 1.0 / b + 1.0 / c + 1.0 / d)
    start = start + float(special.ndtri(tail)) * spread
    return _from_neighbors(partial(_newton_low, tail=tail), start, tp_a, fp_a, tp_b, fp_b)


def _newton_low(
    theta: FloatArray, tp_a: FloatArray, fp_a: FloatArray, tp_b: FloatArray, fp_b: FloatArray, *,
    tail: float,
) -> FloatArray:  # fmt: skip
    """Return the solution from a starting value, which is overwritten."""
    active = np.arange(theta.size)
    while active.size:
        cells = tp_a[active], fp_a[active], tp_b[active], fp_b[active]
        (up, up1, _), (down, down1, _) = _sides(*cells, theta[active])
        # in units of P(X = tp_a): P(X >= tp_a) = 1 + up, P(X < tp_a) = down
        log_tail = -np.log1p(down / (1.0 + up))
        slope = (up1 * down + down1 * (1.0 + up)) / ((1.0 + up) * (1.0 + up + down))
        step = np.clip((math.log(tail) - log_tail) / slope, -_LONGEST_STEP, _LONGEST_STEP)
        theta[active] += step
        active = active[np.abs(step) > _LAST_STEP]
    return theta


Moments = tuple[FloatArray, FloatArray, FloatArray]


def _sides(
    tp_a: FloatArray, fp_a: FloatArray, tp_b: FloatArray, fp_b: FloatArray, theta: FloatArray
) -> tuple[Moments, Moments]:
    """Return the mass and the first two moments above and below the observed count.

    The mass is relative to the probability of the observed count, and moments are about this count.
    """
    odds = np.exp(theta)
    above = ratio_moments(tp_b, fp_a, tp_a + 1.0, fp_b + 1.0, odds)
    below = ratio_moments(tp_a, fp_b, tp_b + 1.0, fp_a + 1.0, 1.0 / odds)
    return above, below


def sample_odds_ratio(tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray) -> FloatArray:
    """Return the sample odds ratio (tp_a fp_b) / (fp_a tp_b) with fp = n - tp."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds: FloatArray = np.true_divide(tp_a * (n_b - tp_b), (n_a - tp_a) * tp_b)
    return odds
