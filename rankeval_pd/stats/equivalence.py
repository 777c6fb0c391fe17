"""Equivalence tests, and t-tests with two sources of variance."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats import differences, distributions
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.families import held_back_t
from rankeval_pd.stats.proportions import clopper_pearson, z_of
from rankeval_pd.stats.two_by_two import MOST_ITEMS, paired_boschloo

# -------------------------------------------------------------------------------------------------
# The t test for a gain with variance from items and seeds, and its power.
#
# The variance from seeds has few degrees of freedom (Welch 1947, Satterthwaite 1946), and the
# variance from items has many. A combined number of degrees of freedom would be too large if the
# seeds happen to differ only slightly. With two seeds, up to 12% of tests at 5% would then reject a
# true null hypothesis. The critical value is therefore the mean of the two critical values,
# weighted by the variances (Cochran 1964).

_HALVINGS = 60  # relative accuracy of the logarithm of a tail
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
    low, high = np.full(t.shape, _LEAST_LOG), np.full(t.shape, np.log(0.5))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        beyond = critical_of(np.exp(middle), share, freedom, of_seeds) > size
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
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
    """Return values of chi-squared over its degrees of freedom, and their weights.

    The values and weights come from Gauss-Laguerre quadrature. For large degrees of freedom, the
    Wilson-Hilferty normal approximation is used.
    """
    if freedom > _MANY:
        z, weight = scipy.special.roots_hermitenorm(_FEW_NODES)
        part = 2.0 / (9.0 * freedom)
        return (1.0 - part + z * np.sqrt(part)) ** 3, weight / weight.sum()
    x, weight = scipy.special.roots_genlaguerre(nodes, freedom / 2.0 - 1.0)
    return 2.0 * x / freedom, weight / weight.sum()


def accuracy_power(gain: float, differ: float, n: int, tail: float, tails: int) -> float:
    """Return the power of McNemar's exact test on n items, given the discordance rate."""
    if n * differ > _NORMAL:  # use the normal distribution
        parts = Parts((differ - gain**2) / n, n - 1.0)
        return parts.power(gain, parts.edges(tail), tails)

    ends = scipy.special.ndtri(_LEAST) * np.sqrt(n * differ * (1.0 - differ)) - 30.0
    m = np.arange(max(1, int(n * differ + ends)), min(n, int(n * differ - ends)) + 1.0)
    mass = np.exp(distributions.log_pmf(m, np.full(m.shape, float(n)), np.full(m.shape, differ)))
    level = tail
    if n <= MOST_ITEMS:
        level = _unconditional_level(n, tail)
    least = np.maximum(np.floor(m / 2.0 - scipy.special.ndtri(level) * np.sqrt(m) / 2.0) - 3.0, 0.0)
    while (short := (least <= m) & (_upper(least, m, 0.5) > level)).any():
        least += short
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


@functools.lru_cache(maxsize=256)
def _unconditional_level(n: int, tail: float) -> float:
    """Return the largest McNemar p-value at which the unconditional test rejects."""
    counts = [(k, m - k) for m in range(1, n + 1) for k in range(m // 2 + 1, m + 1)]
    k, m = np.array([(a, a + b) for a, b in counts], dtype=float).T
    order = np.argsort(p := _upper(k, m, 0.5))
    low, high = -1, order.size  # positions up to low are rejected
    while high - low > 1:
        middle = (low + high) // 2
        if paired_boschloo(*counts[order[middle]], n) <= tail * (1.0 + 1e-12):
            low = middle
        else:
            high = middle
    if low < 0:
        return 0.0
    return float(p[order[low]]) * (1.0 + 1e-9)


# ------------------------------------------------------------- Equivalence, or non-inferiority


def of_margin(alternative: str, not_worse: Callable[[float], Any]) -> Any:
    """Return the p-value of a test of non-inferiority or equivalence with a margin.

    ``not_worse(1)`` is the p-value for the null hypothesis d <= -margin, and ``not_worse(-1)`` for
    d >= margin. "greater" returns the first p-value, "less" the second, and "two-sided" the larger
    of the two (TOST).
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
_EQUIVALENCE_LEAST = 1e-12
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
    limit, _ = differences.tango((0, only_a, only_b, n - only_a - only_b), _two_sided_level(alpha))
    score = partial(differences.paired_score, n=float(n), delta=limit)
    share = partial(_share_of_the_rest, margin)
    return _largest(score, limit, (only_a, only_b), n, lambda y: n - y, share, margin, alpha)


def _share_of_the_rest(margin: float, q: FloatArray) -> FloatArray:
    """Return the proportion of items with only a correct, among those other than only b."""
    rest = 1.0 - q
    return np.minimum(q - margin, rest) / np.where(rest > 0.0, rest, 1.0)


def region_p(
    tp_a: int, n_a: int, tp_b: int, n_b: int, margin: float, alpha: float = ALPHA
) -> float:
    """Return the exact p-value for pi_a - pi_b <= -margin, given independent samples.

    Without candidates, the difference is 0 by definition, and p is 0.
    """
    if n_a == 0 or n_b == 0:
        return 0.0
    a, size_a, b, size_b = np.array([[tp_a], [n_a], [tp_b], [n_b]])
    [limit], _ = differences.miettinen_nurminen(a, size_a, b, size_b, _two_sided_level(alpha))
    return _largest(
        lambda i, j: differences.difference_score(i, size_a, j, size_b, float(limit)),
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
    log_choose = (
        scipy.special.gammaln(n + 1.0)
        - scipy.special.gammaln(y + 1.0)
        - scipy.special.gammaln(n - y + 1.0)
    )

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
    """Return the smallest first count with a score of at least ``least``, or inf.

    Rounding is corrected so that smaller second counts are at least as extreme.
    """
    reached = distributions.first_true(
        lambda count: score(count, y) >= least - _AS_EXTREME,
        np.zeros(sizes.shape),
        sizes.astype(float) + 1.0,
    ).astype(np.int64)
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
    bias = np.sqrt(n * (n - 1.0)) / np.maximum(n - 2.0, 1.0) * (1.0 + 6.51 / n)
    lean = skewness * bias / np.sqrt(n)
    held = held_back_t(t, lean, two_sided=False)
    if seeds is not None:
        return mixed_tail(held, seeds[0], freedom, seeds[1])
    return np.asarray(scipy.special.stdtr(freedom, -held), dtype=np.float64)


_DEVIATIONS = np.linspace(0.0, 8.0, 161)[1:]  # normal quantiles for one-sided levels


def interval_p(
    limits: Callable[[float], tuple[FloatArray, FloatArray]], margin: AnyArray, alternative: str
) -> FloatArray:
    """Return the p at which an interval with level 1 - 2p just reaches the margin.

    ``limits`` takes a level and returns both limits. p is interpolated between levels.
    """
    levels = 1.0 - 2.0 * scipy.special.ndtr(-_DEVIATIONS)
    ends = np.array([limits(float(level)) for level in levels])  # (level, side, ...)
    return np.asarray(of_margin(alternative, partial(_bound_p, ends, margin)))


def _bound_p(ends: FloatArray, margin: AnyArray, sign: float) -> FloatArray:
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
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(first > second, np.clip(first / (first - second), 0.0, 1.0), 1.0)
    step = _DEVIATIONS[1] - _DEVIATIONS[0]
    return np.asarray(scipy.special.ndtr(-(_DEVIATIONS[last] + part * step)))
