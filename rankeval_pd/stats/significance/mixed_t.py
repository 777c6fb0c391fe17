"""The t test for a gain with variance from items and seeds, and its power.

The variance from seeds has few degrees of freedom (Welch 1947, Satterthwaite 1946), and the
variance from items has many. A combined number of degrees of freedom would be too large if the
seeds happen to differ only slightly. With two seeds, up to 12% of tests at 5% would then reject a
true null hypothesis. The critical value is therefore the mean of the two critical values, weighted
by the variances (Cochran 1964).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray
from rankeval_pd.stats.distributions import binomial
from rankeval_pd.stats.significance.unconditional import MOST_ITEMS, paired_boschloo

_HALVINGS = 60  # relative accuracy of the logarithm of a tail
_LEAST_LOG = -230.0  # smallest log tail; SciPy's t quantiles are wrong below 1e-109
_ENDLESS, _FARTHEST = 1e9, 1e300  # degrees of freedom treated as normal; value used for infinity


def mixed_critical(level: Any, share: Any, freedom: Any, of_seeds: Any) -> FloatArray:
    """Return the two-sided critical value, given the fraction of variance due to seeds."""
    return critical_of((1.0 - level) / 2.0, share, freedom, of_seeds)


def critical_of(tail: Any, share: Any, freedom: Any, of_seeds: Any) -> FloatArray:
    """Return the critical value for one tail."""
    from scipy.special import stdtrit

    few = np.minimum(of_seeds, _ENDLESS)
    far = np.minimum(-stdtrit(few, tail), _FARTHEST)
    return np.asarray(share * far - (1.0 - share) * stdtrit(np.minimum(freedom, _ENDLESS), tail))


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
        b, of_b = (np.ones(1), np.ones(1)) if self.pooled else (a, of_a)
        items, a, b = (x.ravel() for x in np.meshgrid(self.items * of_items, a, b, indexing="ij"))
        few = self.of_seeds * (1.0 if self.pooled else (a + b) ** 2 / (a**2 + b**2))
        seeds = self.seeds * (a if self.pooled else (a + b) / 2.0)
        critical = critical_of(tail, seeds / (items + seeds), self.freedom, few)
        chances = np.einsum("i,a,b->iab", chance, of_a, of_b).ravel()
        return critical * np.sqrt(items + seeds), chances

    def power(self, gain: float, edges: tuple[FloatArray, FloatArray], tails: int) -> float:
        """Return the probability that a true gain is significant."""
        from scipy.special import ndtr

        (edge, chance), error = edges, np.sqrt(self.items + self.seeds)
        with np.errstate(invalid="ignore"):  # infinite variance
            found = ndtr((gain - edge) / error)
            if tails == 2:
                found = found + ndtr((-gain - edge) / error)
        return float(chance @ found)


def _chi2(freedom: float, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return values of chi-squared over its degrees of freedom, and their weights.

    The values and weights come from Gauss-Laguerre quadrature. For large degrees of freedom, the
    Wilson-Hilferty normal approximation is used.
    """
    from scipy.special import roots_genlaguerre, roots_hermitenorm

    if freedom > _MANY:
        z, weight = roots_hermitenorm(_FEW_NODES)
        part = 2.0 / (9.0 * freedom)
        return (1.0 - part + z * np.sqrt(part)) ** 3, weight / weight.sum()
    x, weight = roots_genlaguerre(nodes, freedom / 2.0 - 1.0)
    return 2.0 * x / freedom, weight / weight.sum()


def accuracy_power(gain: float, differ: float, n: int, tail: float, tails: int) -> float:
    """Return the power of McNemar's exact test on n items, given the discordance rate."""
    from scipy import special

    if n * differ > _NORMAL:  # use the normal distribution
        parts = Parts((differ - gain**2) / n, n - 1.0)
        return parts.power(gain, parts.edges(tail), tails)

    ends = special.ndtri(_LEAST) * np.sqrt(n * differ * (1.0 - differ)) - 30.0
    m = np.arange(max(1, int(n * differ + ends)), min(n, int(n * differ - ends)) + 1.0)
    mass = np.exp(binomial.log_pmf(m, np.full(m.shape, float(n)), np.full(m.shape, differ)))
    level = _unconditional_level(n, tail) if n <= MOST_ITEMS else tail
    least = np.maximum(np.floor(m / 2.0 - special.ndtri(level) * np.sqrt(m) / 2.0) - 3.0, 0.0)
    while (short := (least <= m) & (_upper(least, m, 0.5) > level)).any():
        least += short
    better = (1.0 + gain / differ) / 2.0
    found = _upper(least, m, better)
    return float(mass @ (found + _upper(least, m, 1.0 - better) if tails == 2 else found))


def _upper(least: FloatArray, m: FloatArray, share: float) -> FloatArray:
    """Return the probability of at least this many successes in m trials."""
    from scipy import special

    inside = (least > 0.0) & (least <= m)
    k = np.where(inside, least, 1.0)
    found = special.betainc(k, np.where(inside, m - k + 1.0, 1.0), share)
    return np.where(inside, found, 1.0 * (least <= 0.0))


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
        rejected = paired_boschloo(*counts[order[middle]], n) <= tail * (1.0 + 1e-12)
        low, high = (middle, high) if rejected else (low, middle)
    return float(p[order[low]]) * (1.0 + 1e-9) if low >= 0 else 0.0
