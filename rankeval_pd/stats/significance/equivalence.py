"""Tests of equivalence and non-inferiority with a margin, for proportions and means."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import differences
from rankeval_pd.stats.intervals.proportions import clopper_pearson, z_of
from rankeval_pd.stats.significance.mixed_t import mixed_tail
from rankeval_pd.stats.significance.skewness import held_back

# ------------------------------------------------------------- Equivalence, or non-inferiority


def of_margin(alternative: str, not_worse: Callable[[float], Any]) -> Any:
    """Return the p-value of a test of non-inferiority or equivalence with a margin.

    ``not_worse(1)`` is the p-value for the null hypothesis d <= -margin, and ``not_worse(-1)`` for
    d >= margin. "greater" returns the first p-value, "less" the second, and "two-sided" the larger
    of the two (TOST).
    """
    if alternative == "two-sided":
        return np.maximum(not_worse(1.0), not_worse(-1.0))
    return not_worse(1.0 if alternative == "greater" else -1.0)


def margin_name(alternative: str) -> str:
    """Return the column name for the p-value."""
    return "p_equivalence" if alternative == "two-sided" else "p_noninferior"


# --------------------------------------------------------------------------- Exact tests on counts
#
# Let d = pi_a - pi_b be the difference between two proportions, for the same items or for two
# regions. The null hypothesis is d <= -margin. Tables are ordered by the lower score limit for d at
# the one-sided level 1 - alpha: Tango's limit for paired proportions, and the Miettinen-Nurminen
# limit otherwise. A table is at least as extreme as a table with limit L if the score statistic at
# d = L is at least the normal quantile. Near p = alpha, this order agrees with the order of the
# score statistic at d = -margin (Hsueh, Liu and Chen 2001; Chan and Zhang 1999). Because the order
# does not depend on the margin, a larger margin never has a larger p (Röhmel 2005).
#
# p is the largest probability of such tables under the null hypothesis. The maximum is at d =
# -margin, because tables with more successes for a and fewer for b are more extreme. The nuisance
# parameter q is the proportion of items on which only b is correct, or pi_b for regions. The
# maximum is taken over a confidence interval for q. The probability that the interval excludes q is
# added to p, so the test is exact (Berger and Boos 1994).

ALPHA = 0.05
_LEFT_OUT = 2e-5  # probability that the interval excludes q, as a fraction of alpha
_LEAST = 1e-12
_AS_EXTREME = 1e-7  # smaller differences between score statistics are rounding errors
_POINTS = 96  # initial number of values for q
_PEAKS = 8  # number of values that are refined
_ROUNDS = 6
_REACH = 9.0  # standard deviations from the mean; probabilities farther out are rounding errors

Score = Callable[[AnyArray, AnyArray], FloatArray]


def paired_p(only_a: int, only_b: int, n: int, margin: float, alpha: float = ALPHA) -> float:
    """Return the exact p-value for pi_a - pi_b <= -margin, given paired proportions.

    ``only_a`` and ``only_b`` are the numbers of items on which only a, or only b, is correct.
    """
    limit, _ = differences.tango((0, only_a, only_b, n - only_a - only_b), _two_sided(alpha))

    def score(first: AnyArray, second: AnyArray) -> FloatArray:
        return np.asarray(differences.paired_score(first, second, float(n), limit))

    def share(q: FloatArray) -> FloatArray:
        rest = 1.0 - q
        return np.minimum(q - margin, rest) / np.where(rest > 0.0, rest, 1.0)

    return _largest(score, limit, (only_a, only_b), n, lambda y: n - y, share, margin, alpha)


def region_p(
    tp_a: int, n_a: int, tp_b: int, n_b: int, margin: float, alpha: float = ALPHA
) -> float:
    """Return the exact p-value for pi_a - pi_b <= -margin, given independent samples.

    Without candidates, the difference is 0 by definition, and p is 0.
    """
    if n_a == 0 or n_b == 0:
        return 0.0
    a, size_a, b, size_b = (np.array([x]) for x in (tp_a, n_a, tp_b, n_b))
    [limit], _ = differences.miettinen_nurminen(a, size_a, b, size_b, _two_sided(alpha))

    def score(first: AnyArray, second: AnyArray) -> FloatArray:
        return differences.difference_score(first, size_a, second, size_b, float(limit))

    return _largest(
        score, float(limit), (tp_a, tp_b), n_b, lambda y: np.full_like(y, n_a),
        lambda q: q - margin, margin, alpha,
    )  # fmt: skip


def _two_sided(alpha: float) -> float:
    """Return the level of a two-sided interval with a tail probability of alpha on each side."""
    return max(1.0 - 2.0 * alpha, 1e-3)


def regions_margin_p(
    tp_a: int, tp_b: int, m: int, margin: float, alternative: str, alpha: float
) -> float:
    """Return the p-value of a margin test for two regions of m candidates each."""

    def not_worse(sign: float) -> float:
        first, second = (tp_a, tp_b) if sign > 0.0 else (tp_b, tp_a)
        return region_p(first, m, second, m, margin, alpha)

    return float(of_margin(alternative, not_worse))


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
    from scipy import special

    if margin > 1.0:
        return 0.0
    if limit <= -1.0:
        return 1.0
    left_out = max(_LEFT_OUT * alpha, _LEAST)
    at = np.array(observed[0]), np.array(observed[1])
    low, high = (float(x) for x in clopper_pearson(at[1], np.array(n), 1.0 - left_out))
    if (low := max(low, margin)) > high:
        return left_out
    reach = [_REACH * math.sqrt(n * max(q * (1.0 - q), 1.0 / n)) + 10.0 for q in (low, high)]
    wide = max(*reach, _REACH * 0.5 * math.sqrt(n) * (low < 0.5 < high))
    y = np.arange(max(0, math.floor(n * low - wide)), min(n, math.ceil(n * high + wide)) + 1)
    sizes = size(y)
    least = _least_counts(
        score, y, sizes, min(z_of(_two_sided(alpha)), float(np.squeeze(score(*at))))
    )
    log_choose = special.gammaln(n + 1.0) - special.gammaln(y + 1.0) - special.gammaln(n - y + 1.0)

    def chance(phi: FloatArray) -> FloatArray:
        q = np.clip(np.sin(phi) ** 2, low, high)
        first = np.maximum(np.floor(n * q - wide) - y[0], 0.0).astype(np.int64)
        index = np.minimum(first[:, np.newaxis] + np.arange(int(2.0 * wide) + 3), y.size - 1)
        new = np.diff(index, axis=1, prepend=-1) > 0
        count, pi = y[index].astype(float), q[:, np.newaxis]
        pmf = np.exp(log_choose[index] + special.xlogy(count, pi) + special.xlog1py(n - count, -pi))
        c, rest = least[index], sizes[index] - least[index]
        tail = special.betainc(
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
    """Return the smallest first count with a score of at least ``least``, or inf.

    Rounding is corrected so that smaller second counts are at least as extreme.
    """
    below, reached = np.full_like(sizes, -1), sizes + 1
    while (reached - below > 1).any():
        middle = (below + reached) // 2
        extreme = score(middle, y) >= least - _AS_EXTREME
        moves = reached - below > 1
        reached = np.where(moves & extreme, middle, reached)
        below = np.where(moves & ~extreme, middle, below)
    reached = np.where(reached > sizes, np.iinfo(np.int32).max, reached)
    return np.asarray(np.minimum.accumulate(reached[::-1])[::-1])


# -------------------------------------------------------------- Means and estimates with intervals
#
# Student's t test is liberal if the long tail of skewed differences is on the side of the null
# hypothesis. Hall's (1992) cubic transformation with the sample skewness makes t nearly normal. The
# sample skewness is too small on average and is corrected by Bobee and Robitaille's (1975) factor.
# The p-value is the larger of Student's and Hall's p-values.


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
    from scipy import special

    bias = np.sqrt(n * (n - 1.0)) / np.maximum(n - 2.0, 1.0) * (1.0 + 6.51 / n)
    lean = skewness * bias / np.sqrt(n)
    held = held_back(t, lean, two_sided=False)
    if seeds is not None:
        return mixed_tail(held, seeds[0], freedom, seeds[1])
    return np.asarray(special.stdtr(freedom, -held), dtype=np.float64)


_DEVIATIONS = np.linspace(0.0, 8.0, 161)[1:]  # normal quantiles for one-sided levels


def interval_p(
    limits: Callable[[float], tuple[FloatArray, FloatArray]], margin: AnyArray, alternative: str
) -> FloatArray:
    """Return the p at which an interval with level 1 - 2p just reaches the margin.

    ``limits`` takes a level and returns both limits. p is interpolated between levels.
    """
    from scipy import special

    levels = 1.0 - 2.0 * special.ndtr(-_DEVIATIONS)
    ends = np.array([limits(float(level)) for level in levels])  # (level, side, ...)

    def not_worse(sign: float) -> FloatArray:
        low, high = (ends[:, 0], ends[:, 1]) if sign > 0.0 else (-ends[:, 1], -ends[:, 0])
        above, below = low + margin, high + margin  # distances from the bound
        p = np.where(above[0] > 0.0, _reached(above), 1.0 - _reached(-below))
        p = np.where((above[0] <= 0.0) & (below[0] >= 0.0), 0.5, p)
        return np.where(np.isnan(above[0] + below[0]), np.nan, p)

    return np.asarray(of_margin(alternative, not_worse))


def _reached(above: FloatArray) -> FloatArray:
    """Return the interpolated one-sided level at which decreasing values (level, ...) reach 0."""
    from scipy import special

    inside = np.count_nonzero(above > 0.0, axis=0)
    last = np.clip(inside - 1, 0, len(above) - 2)
    first, second = (np.take_along_axis(above, k[np.newaxis], axis=0)[0] for k in (last, last + 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(first > second, np.clip(first / (first - second), 0.0, 1.0), 1.0)
    step = _DEVIATIONS[1] - _DEVIATIONS[0]
    return np.asarray(special.ndtr(-(_DEVIATIONS[last] + part * step)))
