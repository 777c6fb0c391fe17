"""Unconditional tests for two difference regions, and for paired proportions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions import binomial, hypergeometric

# ------------------------------------------------------------ Boschloo's and Barnard's exact tests
#
# Fisher's test conditions on the number K of true positives in both regions and is conservative.
# An unconditional p-value is the probability that a pair of counts is at least as extreme as the
# observed pair, maximized over the unknown common precision pi.
#
# Given K = k, the number of true positives in a is hypergeometric for any pi, and K is binomial:
#
#     P(extreme; pi) = sum over k of Binomial(k; n_a + n_b, pi) P(extreme | K = k).
#
# The second factor does not depend on pi. A table therefore needs only n_a + n_b hypergeometric
# tails, instead of n_a n_b probabilities for every pi.
#
# References: G. A. Barnard (1947), Significance tests for 2x2 tables, Biometrika 34. R. D. Boschloo
# (1970), Raised conditional level of significance for the 2x2-table when testing the equality of
# two probabilities, Statistica Neerlandica 24.

_AS_EXTREME = 1e-10  # Fisher p-values within this relative difference are treated as equal
# points of the first grid per 1/sqrt(N) of phi = asin(sqrt(pi)), which is two standard deviations
_GRID_DENSITY = 8.0
_REFINEMENT = np.arange(-7.0, 8.0, 2.0) / 8.0  # finer points around a peak, in units of the width
_ROUNDS = 9  # rounds, each with a quarter of the width: the error of the maximum is at most 1e-13
_ROUNDING = 1e-15
_REACH = 9.0  # standard deviations of K; probabilities farther out are only rounding errors
_CELLS_AT_ONCE = 1 << 18  # number of probabilities (phi, k) in memory: 2 MB

Cell = tuple[int, int, int, int]
Progress = Callable[[Iterable[Cell]], Iterable[Cell]]


def boschloo(
    tp_a: AnyArray,
    n_a: AnyArray,
    tp_b: AnyArray,
    n_b: AnyArray,
    alternative: str,
    progress: Progress = iter,
) -> FloatArray:
    """Return p-values of Boschloo's test, in which the statistic is Fisher's one-sided p.

    Parameters
    ----------
    tp_a, n_a, tp_b, n_b : array of int
        True positives and sizes of the two regions. The arrays are broadcast.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis. "greater" means that the proportion in a is larger. The two-sided
        p-value is twice the smaller one-sided p-value, but at most 1.
    progress : callable
        Function that iterates over the distinct tables and shows progress, like ``tqdm``.

    Notes
    -----
    p is 1 if a region is empty, or if none or all of the candidates are true positives. Memory
    is proportional to N = n_a + n_b, and time at most to N^1.5. A table takes 2 ms for two regions
    of 50 candidates, 5 ms for 200, 30 ms for 2,000 and 200 ms for 10,000. The relative accuracy is
    1e-11, and a p-value below 1e-300 may be returned as 0.
    """
    return _p_values(boschloo_cell, tp_a, n_a, tp_b, n_b, alternative, progress)


def barnard(
    tp_a: AnyArray,
    n_a: AnyArray,
    tp_b: AnyArray,
    n_b: AnyArray,
    alternative: str,
    progress: Progress = iter,
) -> FloatArray:
    """Return p-values of Barnard's test, in which the statistic is the pooled z-score.

    The two-sided test includes all tables whose abs(z) is at least as large as observed. Integer
    arithmetic detects equal z-scores exactly. The parameters and notes are described in
    :func:`boschloo`.
    """
    return _p_values(barnard_cell, tp_a, n_a, tp_b, n_b, alternative, progress)


def _p_values(
    test: Callable[[int, int, int, int, str], float],
    tp_a: AnyArray,
    n_a: AnyArray,
    tp_b: AnyArray,
    n_b: AnyArray,
    alternative: str,
    progress: Progress,
) -> FloatArray:
    """Return the p-value of a test for each table; equal tables are tested once."""
    tables = np.stack(np.broadcast_arrays(tp_a, n_a, tp_b, n_b), axis=-1).astype(np.int64)
    different, which = np.unique(tables.reshape(-1, 4), axis=0, return_inverse=True)
    cells: list[Cell] = [(int(a), int(b), int(c), int(d)) for a, b, c, d in different]
    p_values = np.array([test(*cell, alternative) for cell in progress(cells)], dtype=float)
    return p_values[which.ravel()].reshape(tables.shape[:-1])


def boschloo_cell(tp_a: int, n_a: int, tp_b: int, n_b: int, alternative: str) -> float:
    """Return the p-value of Boschloo's test for one table."""
    if alternative == "less":
        return boschloo_cell(tp_b, n_b, tp_a, n_a, "greater")
    if alternative == "two-sided":
        if tp_a * n_b < tp_b * n_a:
            tp_a, n_a, tp_b, n_b = tp_b, n_b, tp_a, n_a
        observed = _one_sided_boschloo(tp_a, n_a, tp_b, n_b)
        # the other tail matters only if its p is smaller; a few values of pi usually rule this out
        return min(
            1.0, 2.0 * min(observed, _one_sided_boschloo(tp_b, n_b, tp_a, n_a, enough=observed))
        )
    return _one_sided_boschloo(tp_a, n_a, tp_b, n_b)


def _one_sided_boschloo(
    tp_a: int, n_a: int, tp_b: int, n_b: int, enough: float = math.inf
) -> float:
    """Return the p-value for "greater", or ``enough`` if the p-value is larger."""
    positive = tp_a + tp_b
    if _uninformative(n_a, n_b, positive):
        return 1.0
    fisher = math.exp(_tail_from(np.array(tp_a), np.array(positive), n_a, n_b))
    if fisher == 0.0:
        return 0.0  # Boschloo's p-value is at most Fisher's p-value, which underflowed
    if fisher >= 1.0 - _AS_EXTREME:
        return 1.0
    return fisher * _largest_expectation(_attained_levels(fisher, n_a, n_b), enough / fisher)


def _attained_levels(level: float, n_a: int, n_b: int) -> FloatArray:
    """Return the attained levels of Fisher's one-sided tests, in units of ``level``.

    For each number of positives k = 0, ..., n_a + n_b, the attained level is P(X >= c), where c is
    the smallest count for which this probability is at most the level. From k to k + 1, c increases
    by 0 or 1, and the probabilities are computed recursively (Macskassy 2005, Eqs 12 to 15). Each
    step adds a rounding error of 1e-16 times the level.
    """
    total = n_a + n_b
    attained = [0.0]
    # P(X >= c), P(X = c - 1) and P(X = c)
    c, tail, below, at = 1, 0.0, 1.0 / level, 0.0
    for k in range(total):
        left, other = total - k, n_b - k + c
        gain = below * (n_a - c + 1) / left
        below *= (other - 1) / left * (k + 1) / (k + 2 - c)
        at_next = at * other / left + gain
        if tail + gain > 1.0 + _AS_EXTREME:
            # c increases; P(X >= c) and P(X = c) are at most the level, so the difference is
            # accurate
            tail = max(tail - at, 0.0) + at * (n_a - c) / left
            below, at = at_next, at_next * (k + 1 - c) / (c + 1) * (n_a - c) / other
            c += 1
        else:
            tail, at = tail + gain, at_next
        attained.append(tail)
    return np.array(attained)


MOST_ITEMS = 200  # with more items, the unconditional test of paired proportions gains little


def paired_tails(better: IntArray, worse: IntArray, n: int) -> FloatArray:
    """Apply :func:`paired_boschloo` to many pairs."""
    counts, back = np.unique(np.stack([better, worse]), axis=1, return_inverse=True)
    if n > MOST_ITEMS:
        found = np.exp(binomial.tails(counts[0], counts.sum(axis=0), 0.5).ge)
    else:
        found = np.array([paired_boschloo(*pair, n) for pair in counts.T.tolist()])
    return np.asarray(found[back.reshape(better.shape)])


@functools.lru_cache(maxsize=1 << 14)
def paired_boschloo(only_a: int, only_b: int, n: int) -> float:
    """Return the one-sided p-value for a being correct more often than b on n items.

    Parameters
    ----------
    only_a, only_b : int
        Numbers of items on which only a, or only b, is correct.
    n : int
        Number of items. Above 200, McNemar's test is used.

    Notes
    -----
    The test applies Boschloo's idea to McNemar's exact test and uses McNemar's p-value as the
    statistic. p is the probability of a statistic at most as large as observed, maximized over the
    rate of discordant items. p is therefore at most McNemar's p-value. If p is below the p-value of
    the score statistic, McNemar's p-value is below it as well. Tango's interval therefore excludes
    0 whenever p is significant.
    """
    from scipy import special

    differ = only_a + only_b
    tail = float(np.exp(binomial.tails(np.array(only_a), np.array(differ), 0.5).ge))
    if n > MOST_ITEMS or tail >= 1.0 - _AS_EXTREME:
        return tail
    most = tail * (1.0 + _AS_EXTREME)
    m, count = np.arange(n + 1), np.arange(n + 2)[:, np.newaxis]
    tails = np.where(count > m, 0.0, special.bdtrc(np.minimum(count, m + 1) - 1.0, m, 0.5))
    tails[0] = 1.0
    value = np.where(tails <= most, tails, 0.0).max(axis=0) / tail
    score = float(special.ndtr((only_b - only_a) / math.sqrt(differ)))
    return max(tail * _largest_expectation(np.minimum(value, 1.0)), min(score, tail))


def barnard_cell(tp_a: int, n_a: int, tp_b: int, n_b: int, alternative: str) -> float:
    """Return the p-value of Barnard's test for one table."""
    if alternative == "less":
        return barnard_cell(tp_b, n_b, tp_a, n_a, "greater")
    total, positive = n_a + n_b, tp_a + tp_b
    # up to a constant factor, z is D / sqrt(S), with D = tp_a (n_a + n_b) - k n_a and
    # S = k (n_a + n_b - k)
    gap = tp_a * total - positive * n_a
    if alternative == "two-sided":
        gap = abs(gap)
    # p = 1 if z <= 0: as pi goes to 0 there are no positives, and z = 0 is at least as extreme
    if _uninformative(n_a, n_b, positive) or gap <= 0:
        return 1.0
    spread = positive * (total - positive)
    k = np.arange(1, total)
    extreme = _tail_from(_least_extreme_counts(k, n_a, n_b, gap, spread), k, n_a, n_b)
    if alternative == "two-sided":
        extreme = np.logaddexp(
            extreme, _tail_from(_least_extreme_counts(k, n_b, n_a, gap, spread), k, n_b, n_a)
        )
    unit = float(extreme.max())
    value = np.zeros(total + 1)
    value[1:-1] = np.exp(extreme - unit)
    return min(1.0, math.exp(unit) * _largest_expectation(value))


def _least_extreme_counts(k: IntArray, n_a: int, n_b: int, gap: int, spread: int) -> IntArray:
    """Return the smallest count in a, given k positives, with D/sqrt(S) >= gap/sqrt(spread).

    The gap is positive. A floating-point result is corrected by at most 1, using Python integers
    (dtype object), for which D^2 spread >= gap^2 S is exact.
    """
    total = n_a + n_b
    whole = k.astype(object)
    limit = gap * gap * whole * (total - whole)

    def reaches(count: IntArray) -> BoolArray:
        d = count.astype(object) * total - whole * n_a
        result: BoolArray = ((d > 0) & (d * d * spread >= limit)).astype(bool)
        return result

    root = gap * np.sqrt(k * (total - k) / spread)
    guess: IntArray = np.ceil((root + k * float(n_a)) / total).astype(np.int64)
    guess = np.where(reaches(guess - 1), guess - 1, guess)
    return np.where(reaches(guess), guess, guess + 1)


def _tail_from(count: IntArray, k: IntArray, n_a: int, n_b: int) -> FloatArray:
    """Return log P(X >= count), where X is how many of the k positives are in a."""
    return hypergeometric.tails(count, float(n_a + n_b), float(n_a), k).ge


def _uninformative(n_a: int, n_b: int, positive: int) -> bool:
    return n_a == 0 or n_b == 0 or positive in (0, n_a + n_b)


def _largest_expectation(value: FloatArray, enough: float = math.inf) -> float:
    """Return the maximum over pi of the expectation of value[K], K ~ Binomial(N, pi).

    The values are at most 1, and 0 for K = 0 and K = N.

    On the scale phi = asin(sqrt(pi)), the standard deviation of K/N is 1/(2 sqrt(N)) for all pi,
    and the second derivative of the expectation is at most about 4 N. The value at a phi within w/2
    of a maximum is therefore lower by at most N w^2/2. Grid peaks that are lower than the highest
    peak by more than this bound are dropped, and all other peaks are refined. ``enough`` is
    returned as soon as the maximum is at least as large.
    """
    n = value.size - 1
    stretches = math.ceil(0.5 * math.pi * _GRID_DENSITY * math.sqrt(n))
    width = 0.5 * math.pi / stretches
    phi: FloatArray = np.asarray((np.arange(stretches) + 0.5) * width, dtype=float)
    expectation = _binomial_mean(value)
    result = expectation(phi)
    if float(result.max()) >= enough:
        return enough
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
        at = expectation(closer.ravel()).reshape(closer.shape)
        best = at.argmax(axis=1)[:, None]
        phi, result = (np.take_along_axis(x, best, axis=1)[:, 0] for x in (closer, at))
        width *= 0.25
    # the final expectation uses every k, with exact probabilities
    k, pi = np.arange(n + 1.0), np.array(math.sin(float(phi[result.argmax()])) ** 2)
    return float(np.sum(np.exp(binomial.log_pmf(k, np.array(float(n)), pi)) * value))


def _binomial_mean(value: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return the function phi -> mean of value[K], K ~ Binomial(N, sin(phi)^2)."""
    from scipy import special

    n = value.size - 1
    reach = min(n, math.ceil(_REACH * 0.5 * math.sqrt(n)) + 10)
    k = np.arange(n + 1.0)
    log_choose = special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
    # padding, because counts outside 0, ..., N have probability 0
    log_choose = np.pad(log_choose, reach, constant_values=-np.inf)
    value = np.pad(value, reach)
    offsets = np.arange(2 * reach + 1)

    def mean(phi: FloatArray) -> FloatArray:
        result = np.empty(phi.size)
        step = max(1, _CELLS_AT_ONCE // offsets.size)
        for start in range(0, phi.size, step):
            block = slice(start, start + step)
            # refined points can lie just outside [0, pi/2]; the mean is symmetric about both ends
            sine, cosine = np.abs(np.sin(phi[block])), np.abs(np.cos(phi[block]))
            # index of K = middle - reach in the padded arrays; arrays are (phi, k) from here on
            first = np.round(n * sine**2).astype(np.intp)
            index = first[:, None] + offsets
            count = (index - reach).astype(float)
            log_p, log_q = 2.0 * np.log(sine), 2.0 * np.log(cosine)
            log_pmf = log_choose[index] + count * log_p[:, None] + (n - count) * log_q[:, None]
            result[block] = np.einsum("ij,ij->i", np.exp(log_pmf), value[index])
        return result

    return mean


# ---------------------------------------------------------------------------------- The score test
#
# The score test can also be used for overdispersed counts.


def score_test(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, alternative: str
) -> FloatArray:
    """Test whether tp_a of n_a and tp_b of n_b have the same underlying proportion.

    Parameters
    ----------
    tp_a, n_a, tp_b, n_b : array
        True positives and sizes of the two regions. Divide overdispersed counts and sizes by the
        overdispersion; the values can be fractional. The arrays are broadcast.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis. "greater" means that the proportion in a is larger.

    Notes
    -----
    The numerator is the difference minus half of Yates's correction, (1/n_a + 1/n_b)/4. The
    denominator is the standard deviation at the pooled proportion, with Miettinen and Nurminen's
    factor N/(N - 1). The interval "score" approximately inverts this test. p is 1 if a region is
    empty, or if none or all of the candidates are true positives.
    """
    from scipy import special

    tp_a, n_a, tp_b, n_b = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp_a, n_a, tp_b, n_b)
    )
    total = n_a + n_b
    with np.errstate(divide="ignore", invalid="ignore"):
        share, sizes = (tp_a + tp_b) / total, 1.0 / n_a + 1.0 / n_b
        sd = np.sqrt(share * (1.0 - share) * sizes * total / (total - 1.0))
        difference = tp_a / n_a - tp_b / n_b
        signed = difference if alternative != "less" else -difference
        further = np.abs(difference) if alternative == "two-sided" else signed
        z = (further - 0.25 * sizes) / sd
    sides = 2.0 if alternative == "two-sided" else 1.0
    p_value = np.minimum(sides * special.ndtr(-z), 1.0)
    known = (n_a > 0) & (n_b > 0) & (total > 1.0) & (sd > 0.0)
    return np.where(known, p_value, 1.0)
