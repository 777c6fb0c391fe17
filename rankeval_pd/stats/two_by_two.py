"""Tests of 2x2 tables: Fisher, mid-p, McNemar, and their power.

A table has tp_a true positives among n_a candidates of one region, and tp_b among n_b of another.
Arrays of tables are broadcast. The alternative "greater" means that the proportion in a is larger.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache, partial
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
        p_value = np.exp(one.ge)
        p_mid = np.exp(one.mid)
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
        return log_p <= limit

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
    observed = float(x.sum())
    total = float(both.sum())
    away = observed - total / 2.0
    if alternative == "two-sided":
        count = total / 2.0 + abs(away)
        factor = 2.0
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
    p_value = factor * math.exp(result.ge)
    p_mid = factor * math.exp(result.mid)
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
    p = (b - a) / 4.0
    q = (a * (n - b) + b * (n - a)) / (4.0 * n)
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
    total = n_a + n_b
    right_a = tp_a + (n_b - tp_b)
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
# p is the largest probability, over all rates of discordant items, of counts that are at least as
# extreme (G. A. Barnard 1945; R. D. Boschloo 1970). Counts are ordered by the smaller of McNemar's
# mid-p, which has more power at small levels, and the p-value of the score statistic (S. Suissa and
# J. Shuster 1991), which has more power if few items are discordant.
#
# Counts with more than _MOST discordant items have McNemar's p-value. In the probability, they are
# bounded by the largest tail for _MOST / 2 to _MOST discordant items.

_MOST = 2000
_AS_EXTREME = 1e-10  # orders within this relative difference are treated as equal
_GRID_DENSITY = 8.0  # points of the grid in two standard deviations of asin(sqrt(pi))
_PEAKS = 3  # number of peaks that are refined
_ROUNDS = 4  # parabolas through each peak, each on an eighth of the width
_AT_ONCE = 100  # number of pairs whose peaks are refined at a time


def paired_tails(better: AnyArray, worse: AnyArray, n: AnyArray | int) -> FloatArray:
    """Return one-sided p-values for the first of two systems being correct more often on n items.

    ``better`` and ``worse`` count the items that only one system gets right. If there are no more
    wins than losses, the p-value is McNemar's, which is then at least 0.5.
    """
    better, worse, n = np.broadcast_arrays(better, worse, n)
    counts = np.stack([better, worse, n]).reshape(3, -1).astype(np.int64)
    (wins, losses, sizes), back = np.unique(counts, axis=1, return_inverse=True)
    differ = wins + losses
    found = np.empty(sizes.size)
    many = differ > _MOST
    if many.any():
        found[many] = np.exp(distributions.tails_of_binomial(wins[many], differ[many], 0.5).ge)
    for size in np.unique(sizes[~many]).tolist():
        here = np.flatnonzero(~many & (sizes == size))
        order, found[here] = (x[differ[here], wins[here]] for x in _ordered(size))
        more = order < 1.0
        if more.any():
            found[here[more]] = _largest_tails(order[more], size)
    return found[back.reshape(better.shape)]


def _ordered(n: int) -> tuple[FloatArray, FloatArray]:
    """Return the order and McNemar's p-value of counts for n items: (discordant items, wins)."""
    order, tails = _orders(min(1 << n.bit_length(), _MOST))
    return order[: n + 1], tails[: n + 1]


@lru_cache(maxsize=16)
def _orders(most: int) -> tuple[FloatArray, FloatArray]:
    """Return the order and McNemar's p-value of counts: (discordant items, wins).

    The order is 1 for no more wins than losses, and 0 for impossible counts.
    """
    tails = np.zeros((most + 1, most + 3))
    tails[:, 0] = 1.0
    for row in range(most):
        tails[row + 1, 1:] = 0.5 * (tails[row, 1:] + tails[row, :-1])
    differ = np.arange(most + 1.0)[:, np.newaxis]
    wins = np.arange(most + 2.0)
    score = scipy.special.ndtr((differ - 2.0 * wins) / np.sqrt(np.maximum(differ, 1.0)))
    order = np.minimum(0.5 * (tails[:, :-1] + tails[:, 1:]), score)
    return np.where(2.0 * wins > differ, order, 1.0), tails


def _least_wins(order: FloatArray, n: int) -> IntArray:
    """Return the least wins that are as extreme as these orders: (order, discordant items)."""
    rows = _ordered(n)[0]
    bound = -order * (1.0 + _AS_EXTREME)
    return np.stack([(-row).searchsorted(bound) for row in rows], axis=1)


def _largest_tails(order: FloatArray, n: int) -> FloatArray:
    """Return the largest probability of counts at least as extreme as each of these orders."""
    least, (_, tails) = _least_wins(order, n), _ordered(n)
    value = tails[np.arange(least.shape[1]), least]
    beyond = value[:, value.shape[1] // 2 :].max(axis=1)
    value = np.column_stack([value, beyond])
    parts = np.array_split(value, math.ceil(len(value) / _AT_ONCE))
    largest = np.concatenate([_largest_expectations(part, n) for part in parts])
    if n > _MOST:
        largest = np.maximum(largest, beyond)
    return largest


def _largest_tail(order: float, n: int) -> float:
    return float(_largest_tails(np.array([order]), n)[0])


def _largest_expectations(value: FloatArray, n: int) -> FloatArray:
    """Return the maximum over pi of the expectation of value[min(K, last)], K ~ Binomial(n, pi).

    ``value`` is (row, count). On the scale phi = asin(sqrt(pi)), the standard deviation of K/n is
    1/(2 sqrt(n)). The peaks of a grid are refined by parabolas.
    """
    most = value.shape[1] - 2
    phi, chances = _grid(n, most)
    width = phi[2]
    grid = value @ chances.T
    before = grid[:, :-2]
    at = grid[:, 1:-1]
    after = grid[:, 2:]
    rise = (after - before) ** 2 / np.maximum(8.0 * (2.0 * at - before - after), 1e-300)
    peak = np.where((at >= before) & (at >= after), at + np.minimum(rise, at), 0.0)
    center = phi[1 + np.argsort(peak, axis=1)[:, -_PEAKS:]]
    largest = at.max(axis=1)
    for _ in range(_ROUNDS):
        three = center[..., np.newaxis] + width * np.array([-1.0, 0.0, 1.0])
        before, at, after = np.einsum("rpjk,rk->jrp", _chances(three, n, most), value)
        largest = np.maximum(largest, at.max(axis=1))
        bend = 2.0 * at - before - after
        step = 0.5 * (after - before) / np.where(bend > 0.0, bend, np.inf)
        center = center + width * np.clip(step, -4.0, 4.0)
        width /= 8.0
    return np.asarray(largest)


@lru_cache(maxsize=1)
def _grid(n: int, most: int) -> tuple[FloatArray, FloatArray]:
    """Return the grid of phi, and the chances on it."""
    end = math.asin(math.sqrt(min(1.0, 2.0 * most / n)))
    stretches = math.ceil(end * _GRID_DENSITY * math.sqrt(n))
    # the ends, which can be peaks, are inside
    phi = end / stretches * np.arange(-1.0, stretches + 2.0)
    return phi, _chances(phi, n, most)


def _chances(phi: FloatArray, n: int, most: int) -> FloatArray:
    """Return P(K = 0), ..., P(K = most), P(K > most) for K ~ Binomial(n, sin(phi)^2)."""
    k = np.arange(most + 1.0)
    share = np.clip(np.sin(phi[..., np.newaxis]) ** 2, 1e-300, 1 - 1e-16)
    ways = np.append(0.0, np.cumsum(np.log((n - k[:-1]) / k[1:])))
    pmf = np.exp(ways + k * np.log(share) + (n - k) * np.log1p(-share))
    rest = np.maximum(1.0 - pmf.sum(axis=-1, keepdims=True), 0.0)
    return np.concatenate([pmf, rest], axis=-1)


@lru_cache(maxsize=256)
def critical_wins(n: int, tail: float) -> IntArray:
    """Return the least wins that are significant, for each number of ordered discordant items."""
    order = _distinct(min(n, _MOST))
    last = order[[_critical_count(n, tail) - 1]]
    return np.asarray(_least_wins(last, n)[0])


@lru_cache(maxsize=1)
def _distinct(n: int) -> FloatArray:
    """Return the different orders, from 0, that of impossible counts."""
    rows, _ = _ordered(n)
    return np.unique(rows[rows < 1.0])


@lru_cache(maxsize=256)
def _critical_count(n: int, tail: float) -> int:
    """Return the number of different orders that are significant."""
    order, most = _distinct(min(n, _MOST)), tail * (1.0 + 1e-12)
    p_of = partial(_largest_tail, n=n)
    if n > 2 * _MOST:  # usually as for fewer items
        count = _critical_count(2 * _MOST, tail)
        if 0 < count < order.size and p_of(order[count - 1]) <= most < p_of(order[count]):
            return count
    return bisect_right(order, most, key=p_of)


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
        share = (tp_a + tp_b) / total
        sizes = 1.0 / n_a + 1.0 / n_b
        sd = np.sqrt(share * (1.0 - share) * sizes * total / (total - 1.0))
        difference = tp_a / n_a - tp_b / n_b
        sides = 1.0
        if alternative == "two-sided":
            sides = 2.0
            difference = np.abs(difference)
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
    law_b = law_b[:, start_b:end_b]
    j = np.arange(start_b, end_b)
    first = start_a + start_b
    end = end_a + end_b - 1
    if n_a + n_b < _SMALL:  # cached because the same sizes recur
        first = 0
        end = n_a + n_b + 1
    low, high = _critical(n_a, n_b, alpha, first, end)
    power = np.zeros((len(law_a), len(law_b)))
    for start in range(start_a, end_a, _ROWS):
        i = np.arange(start, min(start + _ROWS, end_a))[:, np.newaxis]
        of_sum = i + j - first
        rejected = (i <= low[of_sum]) | (i >= high[of_sum])
        power += law_a[:, i[:, 0]] @ (rejected @ law_b.T)
    return np.clip(power, 0.0, 1.0)


def _ends(laws: FloatArray) -> tuple[int, int]:
    """Return the range of counts that are likely under any of the distributions."""
    counts = np.flatnonzero((laws > _RARE).any(axis=0))
    return int(counts[0]), int(counts[-1]) + 1


@lru_cache
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
        return np.exp(binomial_laws(np.full(_POINTS, float(n)), rates))


def drawn_laws(n: int, left: int, true: FloatArray) -> FloatArray:
    """Return distributions of true positives in n draws without replacement (point, k)."""
    drawn, of_all, true = broadcast_floats(n, left, true)
    laws = np.exp(hypergeometric_laws(drawn, of_all, true))
    return np.pad(laws, ((0, 0), (0, max(n + 1 - laws.shape[1], 0))))[:, : n + 1]


def rejects(p_value: Any, alpha: float) -> Any:
    """Return whether p-values are at most alpha, up to rounding errors."""
    return p_value <= alpha * (1.0 + 1e-12)
