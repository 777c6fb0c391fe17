"""Tests of 2x2 tables: Fisher, mid-p, McNemar, and their power.

A table has tp_a true positives among n_a candidates of one region, and tp_b among n_b of another.
Arrays of tables are broadcast. The alternative "greater" means that the proportion in a is larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats import distributions
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray, silent_division
from rankeval_pd.stats.distributions import (
    binomial_laws,
    broadcast_floats,
    first_true,
    hypergeometric_laws,
    support,
    tails_of_sum,
)

# -------------------------------------------------- Fisher's exact test for two difference regions
#
# Evert (2004), section 3.3.

_AS_LIKELY = 1e-7  # as in R, tables within this relative difference are treated as equally likely


class PValues(NamedTuple):
    """P-values from an exact test."""

    p_value: Any
    p_mid: Any  #: P(less likely tables) + P(equally likely tables) / 2


def fisher_test(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, alternative: str
) -> PValues:
    """Test whether tp_a of n_a and tp_b of n_b share the same underlying proportion.

    With equal sizes, the two-sided p-value is twice the smaller tail; otherwise bisection finds the
    tables that are at most as likely as the observed one. p is 1 for uninformative tables.
    """
    tp_a, n_a, tp_b, n_b = broadcast_floats(tp_a, n_a, tp_b, n_b)
    if alternative == "less":
        tp_a, n_a, tp_b, n_b = tp_b, n_b, tp_a, n_a
    total, positive = n_a + n_b, tp_a + tp_b
    # one tail, or twice one tail if the distribution is symmetric, or two tails by bisection
    if alternative != "two-sided":
        one = distributions.tails(tp_a, total, positive, n_a)
        p_value, p_mid = np.exp(one.ge), np.exp(one.mid)
    elif np.array_equal(n_a, n_b):
        larger = np.maximum(tp_a, tp_b)
        upper = distributions.tails(larger, total, positive, n_a)
        middle = tp_a == tp_b
        p_value = np.where(middle, 1.0, 2.0 * np.exp(upper.ge))
        p_mid = np.where(middle, 1.0 - 0.5 * np.exp(upper.pmf), 2.0 * np.exp(upper.mid))
    else:
        margins = np.maximum(total, 1.0), positive, n_a
        observed = distributions.log_pmf_of_hypergeometric(tp_a, *margins)
        p_value = _tail_mass(observed + _AS_LIKELY, total, positive, n_a)
        p_mid = 0.5 * (p_value + _tail_mass(observed - _AS_LIKELY, total, positive, n_a))
    uninformative = _uninformative(n_a, n_b, positive)
    return PValues(
        np.where(uninformative, 1.0, np.minimum(p_value, 1.0)),
        np.where(uninformative, 1.0, np.minimum(p_mid, 1.0)),
    )


def _uninformative(n_a: Any, n_b: Any, positive: Any) -> Any:
    """Return whether a region is empty, or none or all of the candidates are positive."""
    return (n_a == 0) | (n_b == 0) | (positive == 0) | (positive == n_a + n_b)


def _tail_mass(
    limit: FloatArray, total: FloatArray, positive: FloatArray, n: FloatArray
) -> FloatArray:
    """Return the total probability of the counts with a log probability up to ``limit``."""

    def unlikely(inside: FloatArray) -> BoolArray:
        log_p = distributions.log_pmf_of_hypergeometric(inside, np.maximum(total, 1.0), positive, n)
        return np.asarray(log_p <= limit)

    right, left = _first_beside(unlikely, total, positive, n, apart=1.0)
    upper = np.exp(distributions.tails(right, total, positive, n).ge)
    # P(X <= left) is the upper tail of the positives outside the list
    lower = np.exp(distributions.tails(positive - left, total, positive, total - n).ge)
    return upper + lower


def _first_beside(
    predicate: Callable[[FloatArray], BoolArray],
    total: FloatArray,
    positive: FloatArray,
    n: FloatArray,
    *,
    apart: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the first counts that satisfy the predicate, up from the mode and down below it.

    It is true outside the support. The lower search starts ``apart`` below the mode.
    """
    lowest, highest = support(total, positive, n)
    likely = np.floor((n + 1.0) * (positive + 1.0) / (total + 2.0))
    middle = np.clip(likely, lowest, highest)

    def holds(count: FloatArray) -> BoolArray:
        return predicate(np.clip(count, lowest, highest)) | (count < lowest) | (count > highest)

    right = first_true(holds, middle, highest + 1.0)
    return right, -first_true(lambda count: holds(-count), apart - middle, 1.0 - lowest)


# ------------------------------------- Two proportions within strata: Cochran, Mantel and Haenszel
#
# Stratum q has two samples of size m_q, with x_q and y_q positives. With equal proportions, x_q is
# hypergeometric given all margins. The distribution of the sum of the x_q, the test statistic, is a
# convolution, symmetric because the sizes are equal.


def stratified_exact_test(x: IntArray, y: IntArray, m: IntArray, alternative: str) -> PValues:
    """Return exact p-values for x and y positives in two samples of size m per stratum."""
    both = x + y
    # strata with the same m and x + y have the same distribution, which is computed once
    tables, times = np.unique(np.stack([m, both]), axis=1, return_counts=True)
    size, positive = tables.astype(float)
    observed, total = float(x.sum()), float(both.sum())
    away = observed - total / 2.0
    if alternative == "two-sided":
        count, factor = total / 2.0 + abs(away), 2.0
    else:  # the other sample has the same distribution, so "less" is "greater" for the other sample
        count, factor = observed, 1.0
        if alternative != "greater":
            count = total - observed
    if not positive.any() or (positive == 2.0 * size).all():
        return PValues(1.0, 1.0)
    laws = hypergeometric_laws(size, 2.0 * size, positive)
    result = tails_of_sum(count, laws, times.astype(np.int64))
    if alternative == "two-sided" and away == 0.0:
        return PValues(1.0, 1.0 - 0.5 * math.exp(result.pmf))
    p_value, p_mid = factor * math.exp(result.ge), factor * math.exp(result.mid)
    return PValues(min(1.0, p_value), min(1.0, p_mid))


def mantel_haenszel_difference(x: IntArray, y: IntArray, m: IntArray) -> tuple[float, float]:
    """Return the Mantel-Haenszel difference and T. Sato's (1989) error, also for small strata."""
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
# Each method is a classifier, correct if it accepts a positive or rejects a negative. Only method a
# is correct on true positives that only a accepts and on false positives that only b accepts.


def mcnemar_test(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, alternative: str
) -> FloatArray:
    """Return the p-value of McNemar's exact test for two difference regions.

    Method a is correct on tp_a + (n_b - tp_b) of the n_a + n_b candidates, binomial(1/2) under the
    null hypothesis. For two regions of d, its variance is d/2, and not 2 d pi (1 - pi) as for
    Fisher's test, so it is conservative by 1/(4 pi (1 - pi)), much if positives are rare. p is 1 as
    in Fisher's test.
    """
    tp_a, n_a, tp_b, n_b = broadcast_floats(tp_a, n_a, tp_b, n_b)
    total, right_a = n_a + n_b, tp_a + (n_b - tp_b)
    other = total - right_a
    right = {"greater": right_a, "less": other}.get(alternative, np.maximum(right_a, other))
    sides = 1.0 + (alternative == "two-sided")
    tail = np.exp(distributions.tails_of_binomial(right, total, 0.5).ge)
    p_value = np.minimum(sides * tail, 1.0)
    return np.where(_uninformative(n_a, n_b, tp_a + tp_b), 1.0, p_value)


# ---------------------------------------------------------------------------------- The odds ratio


def sample_odds_ratio(tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray) -> FloatArray:
    """Return the sample odds ratio (tp_a fp_b) / (fp_a tp_b) with fp = n - tp."""
    with silent_division():
        odds: FloatArray = np.true_divide(tp_a * (n_b - tp_b), (n_a - tp_a) * tp_b)
    return odds


# --------------------------------------- The unconditional exact test of two paired proportions
#
# R. D. Boschloo (1970), Raised conditional level of significance for the 2x2-table when testing the
# equality of two probabilities, Statistica Neerlandica 24.

_AS_EXTREME = 1e-10  # p-values within this relative difference are treated as equal
_GRID_DENSITY = 8.0  # points of the first grid in two standard deviations of asin(sqrt(pi))
_REFINEMENT = np.arange(-7.0, 8.0, 2.0) / 8.0  # finer points around a peak, in units of the width
_ROUNDS = 9  # rounds, each with a quarter of the width: the error of the maximum is at most 1e-13
_ROUNDING = 1e-15  # an expectation this close to the largest possible value is not refined
MOST_ITEMS = 200  # with more items, the unconditional test of paired proportions gains little


def paired_tails(better: IntArray, worse: IntArray, n: int) -> FloatArray:
    """Apply :func:`paired_boschloo` to many pairs."""
    counts, back = np.unique(np.stack([better, worse]), axis=1, return_inverse=True)
    if n > MOST_ITEMS:
        found = np.exp(distributions.tails_of_binomial(counts[0], counts.sum(axis=0), 0.5).ge)
    else:
        found = np.array([paired_boschloo(*pair, n) for pair in counts.T.tolist()])
    return np.asarray(found[back.reshape(better.shape)])


@lru_cache(maxsize=1 << 14)
def paired_boschloo(only_a: int, only_b: int, n: int) -> float:
    """Return the one-sided p-value for a being correct more often than b on n items.

    Boschloo's idea with McNemar's p-value as the statistic, maximized over the rate of discordant
    items: at most McNemar's p-value, which is used for more than 200 items. If it is below the
    score statistic's p-value, McNemar's is as well, so Tango's interval excludes 0 whenever p is
    significant.
    """
    differ = only_a + only_b
    tail = float(
        np.exp(distributions.tails_of_binomial(np.array(only_a), np.array(differ), 0.5).ge)
    )
    if n > MOST_ITEMS or tail >= 1.0 - _AS_EXTREME:
        return tail
    most = tail * (1.0 + _AS_EXTREME)
    m, count = np.arange(n + 1), np.arange(n + 2)[:, np.newaxis]
    tails = np.where(count > m, 0.0, scipy.special.bdtrc(np.minimum(count, m + 1) - 1.0, m, 0.5))
    tails[0] = 1.0
    value = np.where(tails <= most, tails, 0.0).max(axis=0) / tail
    score = float(scipy.special.ndtr((only_b - only_a) / math.sqrt(differ)))
    return max(tail * _largest_expectation(np.minimum(value, 1.0)), min(score, tail))


def _largest_expectation(value: FloatArray) -> float:
    """Return the maximum over pi of the expectation of value[K], K ~ Binomial(N, pi).

    The values are at most 1, and 0 for K = 0 and K = N. On the scale phi = asin(sqrt(pi)), the
    standard deviation of K/N is 1/(2 sqrt(N)), and the second derivative of the expectation at most
    about 4 N. Within w/2 of a maximum, the value is therefore lower by at most N w^2/2: grid peaks
    lower than that are dropped, and the others refined.
    """
    n = value.size - 1
    stretches = math.ceil(0.5 * math.pi * _GRID_DENSITY * math.sqrt(n))
    width = 0.5 * math.pi / stretches
    phi: FloatArray = np.asarray((np.arange(stretches) + 0.5) * width, dtype=float)
    result = _expectations(value, phi)
    # keep the local maxima on the grid, including the ends
    peak = np.append(True, result[1:] >= result[:-1]) & np.append(result[:-1] >= result[1:], True)
    phi, result = phi[peak], result[peak]
    for _ in range(_ROUNDS):
        highest = float(result.max())
        if highest >= 1.0 - _ROUNDING:  # no expectation exceeds the largest value
            break
        phi = phi[result >= highest - 0.5 * n * width * width]
        # the best of eight finer points around each peak, (peak, point)
        closer = phi[:, None] + width * _REFINEMENT
        at = _expectations(value, closer)
        phi, result = closer[np.arange(len(at)), at.argmax(axis=1)], at.max(axis=1)
        width *= 0.25
    return float(result.max())


def _expectations(value: FloatArray, phi: FloatArray) -> FloatArray:
    """Return the expectations of value[K], K ~ Binomial(N, sin(phi)^2)."""
    n, k = value.size - 1, np.arange(value.size)
    log_p, log_q = 2.0 * np.log(np.abs(np.sin(phi))), 2.0 * np.log(np.abs(np.cos(phi)))
    log_pmf = np.multiply.outer(log_p, k) + np.multiply.outer(log_q, n - k)
    return np.asarray(np.exp(distributions.log_choose(n, k) + log_pmf) @ value)


# ---------------------------------------------------------------------------------- The score test


def score_test(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, alternative: str
) -> FloatArray:
    """Test whether tp_a of n_a and tp_b of n_b have the same underlying proportion.

    The counts can be fractional, divided by an overdispersion. The difference minus half of Yates's
    correction is divided by the standard deviation at the pooled proportion, with the factor N/(N -
    1); the interval "score" approximately inverts this. p is 1 for uninformative tables.
    """
    tp_a, n_a, tp_b, n_b = broadcast_floats(tp_a, n_a, tp_b, n_b)
    total = n_a + n_b
    with silent_division():
        share, sizes = (tp_a + tp_b) / total, 1.0 / n_a + 1.0 / n_b
        sd = np.sqrt(share * (1.0 - share) * sizes * total / (total - 1.0))
        difference = tp_a / n_a - tp_b / n_b
        sides = 1.0
        if alternative == "two-sided":
            sides, difference = 2.0, np.abs(difference)
        if alternative == "less":
            difference = -difference
        z = (difference - 0.25 * sizes) / sd
    p_value = np.minimum(sides * scipy.special.ndtr(-z), 1.0)
    known = (n_a > 0) & (n_b > 0) & (total > 1.0) & (sd > 0.0)
    return np.where(known, p_value, 1.0)


# --------------------- The power of Fisher's exact test for known proportions or for a pilot sample

_RARE = 1e-9  # counts with lower probabilities have no effect on the power
_SMALL = 2_000  # largest number of judgments
_ROWS = 512  # number of rows of the outcome table that are computed at a time
_POINTS = 101  # number of equally probable values compatible with a pilot
_JEFFREYS = 0.5  # added to both counts of a pilot (Jeffreys's prior)


def fisher_power(
    law_a: FloatArray, n_a: int, law_b: FloatArray, n_b: int, alpha: float
) -> FloatArray:
    """Return the power of Fisher's two-sided test for each pair of distributions.

    The distributions (distribution, count) contain the probabilities of 0 to n true positives.
    """
    start_a, end_a, start_b, end_b = (*_ends(law_a), *_ends(law_b))
    law_b, j = law_b[:, start_b:end_b], np.arange(start_b, end_b)
    first, end = start_a + start_b, end_a + end_b - 1
    if n_a + n_b < _SMALL:  # cached because the same sizes recur
        first, end = 0, n_a + n_b + 1
    low, high = _critical(n_a, n_b, alpha, first, end)
    power = np.zeros((len(law_a), len(law_b)))
    for start in range(start_a, end_a, _ROWS):
        i = np.arange(start, min(start + _ROWS, end_a))[:, np.newaxis]
        of_sum = i + j - first
        rejected: BoolArray = (i <= low[of_sum]) | (i >= high[of_sum])
        power += law_a[:, i[:, 0]] @ (rejected @ law_b.T)
    return np.clip(power, 0.0, 1.0)


def _ends(laws: FloatArray) -> tuple[int, int]:
    """Return the range of counts that are likely under any of the distributions."""
    counts = np.flatnonzero((laws > _RARE).any(axis=0))
    return int(counts[0]), int(counts[-1]) + 1


@lru_cache(maxsize=128)
def _critical(n_a: int, n_b: int, alpha: float, least: int, end: int) -> tuple[FloatArray, ...]:
    """Return the low and high critical counts in a for each sum of the two counts."""
    both = np.arange(least, end, dtype=float)
    total, of_a = np.full((2, both.size), [[n_a + n_b], [n_a]], dtype=float)

    def rejected(i: FloatArray) -> BoolArray:
        p_value = fisher_test(i, of_a, both - i, total - of_a, "two-sided").p_value
        return np.asarray(rejects(p_value, alpha))

    high, low = _first_beside(rejected, total, both, of_a, apart=0.0)
    return low, high


class Pilot(NamedTuple):
    """Judged candidates in a region that will be drawn from, with the prior Beta(1/2, 1/2)."""

    tp: float
    judged: float

    @property
    def _beta(self) -> tuple[float, float]:
        return self.tp + _JEFFREYS, self.judged - self.tp + _JEFFREYS

    def law(self, n: int) -> FloatArray:
        """Return the probabilities of 0, 1, ..., n true positives among n more candidates."""
        (a, b), k = self._beta, np.arange(n + 1.0)
        log_choose = -scipy.special.betaln(k + 1.0, n - k + 1.0) - np.log(n + 1.0)
        law: FloatArray = np.exp(
            log_choose + scipy.special.betaln(k + a, n - k + b) - scipy.special.betaln(a, b)
        )
        law /= law.sum()
        return law

    def laws_of_totals(self, n: int, left: int) -> FloatArray:
        """Return distributions for n more candidates, given the region's total: (point, k)."""
        points = (np.arange(_POINTS) + 0.5) / _POINTS
        true = np.searchsorted(np.cumsum(self.law(left)), points).astype(float)
        return drawn_laws(n, left, true)

    def laws_of_rates(self, n: int) -> FloatArray:
        """Return distributions for n draws from an infinite population: (rate, k)."""
        rates = scipy.special.betaincinv(*self._beta, (np.arange(_POINTS) + 0.5) / _POINTS)
        return np.asarray(np.exp(binomial_laws(np.full(_POINTS, float(n)), rates)))


def drawn_laws(n: int, left: int, true: FloatArray) -> FloatArray:
    """Return distributions of true positives in n draws without replacement (point, k)."""
    drawn, of_all, true = broadcast_floats(n, left, true)
    laws = np.exp(hypergeometric_laws(drawn, of_all, true))
    return np.pad(laws, ((0, 0), (0, max(n + 1 - laws.shape[1], 0))))[:, : n + 1]


def rejects(p_value: Any, alpha: float) -> Any:
    """Return whether p-values are at most alpha, up to rounding errors."""
    return p_value <= alpha * (1.0 + 1e-12)
