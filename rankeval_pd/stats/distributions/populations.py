"""Populations for the random model (Macskassy 2005), and sums of independent counts."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions import binomial, hypergeometric
from rankeval_pd.stats.distributions.hypergeometric import Tails

# ------------------------------------------------------------- A finite or an infinite population


@dataclass(frozen=True)
class Finite:
    """A finite population of ``total`` candidates, with hypergeometric counts."""

    total: float
    positive: float

    @property
    def prior(self) -> float:
        """The prevalence N+/N, or 0 without candidates."""
        return self.positive / self.total if self.total else 0.0

    @property
    def opposite(self) -> Finite:
        """The same candidates with the labels swapped."""
        return Finite(self.total, self.total - self.positive)

    def at(self, where: BoolArray) -> Finite:
        """Return the population for some of the lists; all lists have the same population."""
        return self

    def support(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest possible count in a list of n."""
        return hypergeometric.support(self.total, self.positive, n)

    def tails(self, i: FloatArray, n: FloatArray) -> Tails:
        """Return the upper tails at counts i in lists of size n."""
        return hypergeometric.tails(i, self.total, self.positive, n)

    def up(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return P(next candidate is positive | i of n were positive), Macskassy's Eq. 12."""
        chance: FloatArray = (self.positive - i) / np.maximum(self.total - n, 1.0)
        return chance

    def stay(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return P(next candidate is negative | i of n were positive), Macskassy's Eq. 13."""
        chance: FloatArray = (self.total - self.positive - n + i) / np.maximum(self.total - n, 1.0)
        return chance


@dataclass(frozen=True)
class FiniteEach:
    """A finite population for each list; ``total`` and ``positive`` have the same shape as n."""

    total: FloatArray
    positive: FloatArray

    @property
    def prior(self) -> FloatArray:
        """The prevalence N+/N."""
        return self.positive / np.maximum(self.total, 1.0)

    def at(self, where: BoolArray) -> FiniteEach:
        """Return the populations for some of the lists."""
        return FiniteEach(self.total[where], self.positive[where])

    def support(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest possible count in a list of n."""
        return hypergeometric.support(self.total, self.positive, n)

    def tails(self, i: FloatArray, n: FloatArray) -> Tails:
        """Return the upper tails at counts i in lists of size n."""
        return hypergeometric.tails(i, self.total, self.positive, n)


@dataclass(frozen=True)
class InfiniteEach:
    """An infinite population for each list; ``prior`` has the same shape as n."""

    prior: FloatArray

    def at(self, where: BoolArray) -> InfiniteEach:
        """Return the infinite populations for some of the lists."""
        return InfiniteEach(self.prior[where])

    def support(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest possible count in a list of n."""
        return np.where(self.prior == 1.0, n, 0.0), np.where(self.prior == 0.0, 0.0, n)

    def tails(self, i: FloatArray, n: FloatArray) -> Tails:
        """Return the upper tails at counts i in lists of size n."""
        return binomial.tails(i, n, self.prior)


@dataclass(frozen=True)
class Infinite:
    """An infinite population with prevalence ``prior`` and binomial counts."""

    prior: float

    @property
    def opposite(self) -> Infinite:
        """The same population with the labels swapped."""
        return Infinite(1.0 - self.prior)

    def at(self, where: BoolArray) -> Infinite:
        """Return the population, which is the same for all lists."""
        return self

    def support(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest possible count in a list of n."""
        n = np.asarray(n, dtype=float)
        return (
            n.copy() if self.prior == 1.0 else np.zeros_like(n),
            np.zeros_like(n) if self.prior == 0.0 else n.copy(),
        )

    def tails(self, i: FloatArray, n: FloatArray) -> Tails:
        """Return the upper tails at counts i in lists of size n."""
        return binomial.tails(i, n, self.prior)

    def up(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return the probability of a positive (Macskassy, Eq. 17)."""
        return np.full(np.broadcast(i, n).shape, self.prior)

    def stay(self, i: FloatArray, n: FloatArray) -> FloatArray:
        """Return the probability of a negative (Macskassy, Eq. 18)."""
        return np.full(np.broadcast(i, n).shape, 1.0 - self.prior)


Population = Finite | Infinite


# ---------------------------------------------------------------------- Sums of independent counts
#
# These functions apply the random model to several queries. The distribution of the sum is a
# convolution of distributions, in which all terms are positive. To avoid underflow in far tails,
# every distribution is first tilted by exp(theta i), with theta chosen so that the mean of the sum
# equals the observed count. The tilting is undone at the end.

_NEGLIGIBLE_MASS = 1e-30  # probabilities cut off at the ends of a tilted distribution
_TILT_TOLERANCE = 0.25  # in standard deviations or counts


def hypergeometric_laws(n: FloatArray, total: FloatArray, positive: FloatArray) -> FloatArray:
    """Return log P(X = i) for i = 0, 1, ... in random lists of size n: (law, i)."""
    n, total, positive = (x[:, np.newaxis] for x in (n, total, positive))
    lowest, highest = hypergeometric.support(total, positive, n)
    i = np.arange(highest.max(initial=0.0) + 1.0)
    log_p = hypergeometric.log_pmf(np.clip(i, lowest, highest), np.maximum(total, 1.0), positive, n)
    return np.where((i >= lowest) & (i <= highest), log_p, -np.inf)


def binomial_laws(n: FloatArray, prior: FloatArray) -> FloatArray:
    """Return log P(X = i) for lists of size n from infinite populations: (law, i)."""
    i = np.arange(n.max(initial=0.0) + 1.0)
    return binomial.tails(i, n[:, np.newaxis], prior[:, np.newaxis]).pmf


def tails_of_sum(count: float, laws: FloatArray, times: IntArray) -> Tails:
    """Return the upper-tail probabilities of sums of independent counts.

    Parameters
    ----------
    count : float
    laws : array (law, i)
        log P(X = i) for i = 0, 1, ...
    times : array (law)
        Number of counts with each distribution.

    Notes
    -----
    The relative error is about 1e-12. The cost is a few convolutions of arrays about twenty
    standard deviations long.
    """
    i = np.arange(float(laws.shape[1]))
    possible = laws > -np.inf
    lowest = float((times * possible.argmax(axis=1)).sum())
    highest = float((times * (laws.shape[1] - 1 - possible[:, ::-1].argmax(axis=1))).sum())
    if count < lowest:
        return Tails(*np.array([0.0, 0.0, 0.0, -np.inf]))
    if count > highest:
        return Tails(*np.full(4, -np.inf))
    theta, log_scales = _tilt(count, laws, times, i)
    tilted = np.exp(laws + theta * i - log_scales[:, np.newaxis])
    first, law = _convolved(tilted, times)
    # split the distribution of the sum at the observed count, and undo the tilting
    x = first + np.arange(law.size) - count
    at = float(law[x == 0.0].sum())
    above = float((law[x > 0.0] * np.exp(-theta * x[x > 0.0])).sum())
    upper = np.array([at + above, above, above + 0.5 * at, at])
    with np.errstate(divide="ignore"):
        result = np.log(upper) + float((times * log_scales).sum()) - theta * count
        if theta == 0.0:  # if a tail is near 1, its complement is more accurate
            below = float(law[x < 0.0].sum())
            lower = np.minimum([below, below + at, below + 0.5 * at, 1.0 - at], 1.0)
            result = np.where(upper < 0.5, result, np.log1p(-lower))
    return Tails(*np.minimum(result, 0.0))


def _tilt(
    count: float, laws: FloatArray, times: IntArray, i: FloatArray
) -> tuple[float, FloatArray]:
    """Return a theta >= 0 with a tilted mean near the count, and each log E exp(theta X).

    If the count is at or below the mean, the tail is not small, and theta is 0.
    """
    # Newton's method with bisection as a fallback: the derivative is the tilted variance
    low, high, theta = 0.0, np.inf, 0.0
    while True:
        exponents = laws + theta * i
        largest = exponents.max(axis=1, keepdims=True)
        weights = np.exp(exponents - largest)
        total = weights.sum(axis=1)
        means = (weights * i).sum(axis=1) / total
        variances = (weights * (i - means[:, np.newaxis]) ** 2).sum(axis=1) / total
        mean, sd = float((times * means).sum()), float(np.sqrt((times * variances).sum()))
        if abs(mean - count) <= max(_TILT_TOLERANCE * sd, _TILT_TOLERANCE) or (
            theta == 0.0 and mean >= count
        ):
            return theta, largest[:, 0] + np.log(total)
        low, high = (theta, high) if mean < count else (low, theta)
        newton = theta + (count - mean) / sd**2 if sd > 0.0 else np.inf
        halfway = 2.0 * theta + 1.0 if high == np.inf else 0.5 * (low + high)
        theta = newton if low < newton < min(high, 2.0 * theta + 5.0) else halfway


def _convolved(laws: FloatArray, times: IntArray) -> tuple[float, FloatArray]:
    """Return the distribution of the sum of all counts, starting at its lowest count.

    Equal distributions are raised to a power by repeated squaring. The two shortest distributions
    are then convolved repeatedly until only one is left, which keeps the arrays short.
    """
    number = itertools.count()
    # (length, number, first count, law): the number breaks ties between equal lengths
    parts: list[tuple[int, int, int, FloatArray]] = []
    for law, often in zip(laws, times.tolist(), strict=True):
        first, power = _trimmed(0, law)
        while often:
            if often % 2:
                parts.append((power.size, next(number), first, power))
            often //= 2
            if often:
                first, power = _trimmed(2 * first, np.convolve(power, power))
    heapq.heapify(parts)
    while len(parts) > 1:
        one, other = heapq.heappop(parts), heapq.heappop(parts)
        first, law = _trimmed(one[2] + other[2], np.convolve(one[3], other[3]))
        heapq.heappush(parts, (law.size, next(number), first, law))
    return float(parts[0][2]), parts[0][3]


def _trimmed(first: int, law: FloatArray) -> tuple[int, FloatArray]:
    """Return the distribution without negligible probabilities at its ends."""
    kept = np.flatnonzero(law > _NEGLIGIBLE_MASS)
    return first + int(kept[0]), law[kept[0] : kept[-1] + 1]
