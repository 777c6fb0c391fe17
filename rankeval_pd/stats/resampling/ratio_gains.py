"""Tests and intervals for differences between ratios of sums, such as precision values.

A ratio of sums between 0 and 1 is modeled as the proportion of correct answers among n answers. If
every numerator is 0 or 1 and every denominator is 1, n is the sum of the denominators. Otherwise n
is the effective number of answers that gives the variance of the ratio. The covariance of two
systems is modeled as a number of shared answers. If the true ratios are equal, the difference is

    X / n_a − Y / n_b + Z (1 / n_a − 1 / n_b),

where X, Y and Z are binomial counts of correct answers. X counts answers given only by the first
system, Y those given only by the second, and Z shared answers. Tail probabilities are computed at
the pooled ratio (Storer and Kim 1990 for independent answers; Kosinski 2013 for the variance of
dependent answers). For other differences, tail probabilities are computed at the most likely ratios
with this difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.exact_sums import ExactSums, exact_sums
from rankeval_pd.stats.intervals.differences import restricted_share, tango
from rankeval_pd.stats.intervals.proportions import clopper_pearson, t_of, z_of
from rankeval_pd.stats.resampling.metric_sums import RatioForm
from rankeval_pd.stats.significance.unconditional import paired_boschloo

FEW_ANSWERS = 10  #: minimum number of guesses for which the error rate of the test is at most alpha
LEAST_ANSWERS = 5  #: number of guesses below which there is no test
_LARGE = 100.0  # n p (1 - p) above which a normal distribution is accurate to 1% in the tails
_ROOM = 1e-7  # sums that differ by less than this fraction of an answer are equal


def ratio_sums(values: FloatArray, form: RatioForm, pairs: IntArray) -> ExactSums:
    """Return the sums over items needed for :class:`RatioGains`."""
    above, below = values @ form.above, values @ form.below
    wholes = [values[..., k] ** 2 for k in form.wholes]
    outside = (above < 0.0) | (above > below)
    broken = sum(values[..., k] != np.rint(values[..., k]) for k in form.wholes)
    simple = ((above == 0.0) | (above == below)) & ((below == 0.0) | (below == 1.0))
    own = [*wholes, below**2, 1.0 * outside, 1.0 * ~simple, 1.0 * broken]
    found = [exact_sums(np.asarray(rows)) for rows in own]
    systems = np.arange(len(values))
    for a, b in [*zip(systems, systems, strict=True), *pairs.tolist()]:
        x, y, u, v = above[a], below[a], above[b], below[b]
        found.append(exact_sums(np.stack([x * u, x * v, y * u, y * v])))
    return ExactSums(
        np.concatenate([x.wholes for x in found]), np.concatenate([x.undefined for x in found])
    )


class RatioGains:
    """Tests and intervals for differences between ratios."""

    def __init__(
        self, totals: FloatArray, summed: ExactSums, form: RatioForm, pairs: IntArray, sign: float
    ) -> None:
        """Store the sums of the statistics (system, statistic) and of :func:`ratio_sums`."""
        systems, wholes = len(totals), len(form.wholes)
        own, products = np.split(summed.rounded(), [(wholes + 4) * systems])
        *squares, outside, several, broken = own.reshape(wholes + 4, systems)
        products = products.reshape(-1, 4)
        self._pairs = pairs if sign > 0.0 else pairs[:, ::-1]
        self._own, self._both = products[:systems], products[systems:]
        if sign < 0.0:
            self._both = self._both[:, [0, 2, 1, 3]]
        self._below = totals @ form.below
        with np.errstate(divide="ignore", invalid="ignore"):
            self.share = totals @ form.above / self._below
            # guesses are counts; for other denominators, use the number that gives the same
            # variance
            answers = [
                np.where(broken == 0.0, totals[:, k], totals[:, k] ** 2 / x)
                for k, x in zip(form.wholes, squares, strict=False)
            ]
            items = self._below**2 / squares[-1]
            variance = self._products(self._own, self.share, self.share)
            size = self.share * (1.0 - self.share) * self._below**2 / variance
        # : (system,): effective number of answers, from the variance of the ratio
        self.size = np.where((variance > 1e-12 * self._below) & (size > 0.0), size, items)
        # : (system,): number of guesses, or effective number of answers in the denominator
        self.answers: FloatArray = np.nan_to_num(np.min(answers, axis=0))
        #: whether all numerators are between 0 and their denominators
        self.bounded = not outside.any() and bool((totals[:, form.wholes] >= 0.0).all())
        self._simple = several == 0.0
        # : degrees of freedom of an estimated variance; infinite for binomial variances
        self._freedom = np.where(
            self._simple,
            np.inf,
            np.maximum(np.fmin(items, self.answers) - 1.0, 1.0),
        )

    @staticmethod
    def _products(sums: FloatArray, a: Any, b: Any) -> FloatArray:
        """Return sums of products of residuals, which are numerator - ratio * denominator."""
        xu, xv, yu, yv = sums.T
        return np.asarray(xu - b * xv - a * yu + a * b * yv)

    @cached_property
    def few(self) -> BoolArray:
        """Whether a system in the pair has too few guesses for any test: (pair,)."""
        return np.asarray(self.answers[self._pairs].min(axis=1) < LEAST_ANSWERS)

    @cached_property
    def tails(self) -> tuple[FloatArray, FloatArray]:
        """The gain's two tail probabilities if the systems are equally good: (pair,)."""
        up, down = np.array([self._tails(k) for k in range(len(self._pairs))]).reshape(-1, 2).T
        return up, down

    def _counts(self, k: int) -> tuple[int, int] | None:
        """Return the discordant counts if both systems answer each item once, else None."""
        xu, xv, yu, yv = self._both[k]
        a, b = self._pairs[k]
        same = self._below[a] == self._below[b] == yv
        if not (same and self._simple[a] and self._simple[b]):
            return None
        return int(xv - xu), int(yu - xu)

    def _tails(self, k: int) -> tuple[float, float]:
        if not np.isfinite(self.share[self._pairs[k]]).all():
            return np.nan, np.nan
        counts = self._counts(k)
        if counts is not None:
            n = int(self._both[k, 3])
            return paired_boschloo(*counts, n), paired_boschloo(*counts[::-1], n)
        up, down = self._law(k).tails(0.0)
        return up, down

    def _law(self, k: int) -> _Law:
        pair = self._pairs[k]
        share, size = self.share[pair], self.size[pair]
        pooled = float(share @ size / size.sum())
        product = float(self._products(self._both[k], pooled, pooled)) / self._below[pair].prod()
        varies = pooled * (1.0 - pooled)
        shared = product * size.prod() / varies if varies > 1e-12 else 0.0
        (p_a, p_b), (n_a, n_b) = share.tolist(), size.tolist()
        return _Law(p_a, p_b, n_a, n_b, shared, float(self._freedom[pair].min()))

    @cached_property
    def statistics(self) -> FloatArray:
        """The normal quantiles of the p-values; 0 if there is no test: (pair,)."""
        from scipy.special import ndtri

        up, down = self.tails
        found = np.where(up < down, -ndtri(np.minimum(up, 0.5)), ndtri(np.minimum(down, 0.5)))
        return np.where(self.few, 0.0, found)

    def limits_at(self, statistic: float) -> tuple[FloatArray, FloatArray]:
        """Return the limits of gains whose abs(statistic) is at most this value: (pair,)."""
        from scipy.special import ndtr

        if np.isnan(statistic):  # a score in the family is undefined
            return np.full(len(self._pairs), np.nan), np.full(len(self._pairs), np.nan)
        return self.limits(1.0 - 2.0 * float(ndtr(-statistic)))

    def limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the interval of gains that are not rejected, within [-1, 1]: (pair,)."""
        low, high = np.full((2, len(self._pairs)), np.nan)
        for k, pair in enumerate(self._pairs):
            if np.isfinite(self.share[pair]).all():
                counts = self._counts(k)
                if counts is not None:
                    xu, *_, n = self._both[k].astype(int).tolist()
                    low[k], high[k] = tango((xu, *counts, n - xu - sum(counts)), level)
                else:
                    low[k], high[k] = self._law(k).limits(level)
        return low, high

    def score_limits(self, level: float, sign: float) -> tuple[FloatArray, FloatArray]:
        """Return the interval for each ratio (Korn and Graubard 1998); larger is better."""
        size = self.size * (z_of(level) / t_of(self._freedom, level)) ** 2
        low, high = clopper_pearson(self.share * size, size, level)
        return (low, high) if sign > 0.0 else (-high, -low)


class _Law(NamedTuple):
    """The distribution of a difference between two proportions; see the module docstring."""

    share_a: float
    share_b: float
    size_a: float
    size_b: float
    shared: float
    freedom: float

    def tails(self, gain: float) -> FloatArray:
        """Return both tail probabilities of the difference for a given true gain."""
        n_a, n_b = (max(1, round(x)) for x in (self.size_a, self.size_b))
        gap = abs(gain)
        if gain == 0.0:
            p_a = p_b = (self.share_a * n_a + self.share_b * n_b) / (n_a + n_b)
        elif gain > 0.0:
            p_b = float(restricted_share(gap, self.share_b * n_b, n_b, self.share_a * n_a, n_a))
            p_a = p_b + gap
        else:
            p_a = float(restricted_share(gap, self.share_a * n_a, n_a, self.share_b * n_b, n_b))
            p_b = p_a + gap
        most = min(n_a, n_b)
        shared = min(max(self.shared, -most), most)
        whole = int(np.floor(shared + 1e-9))
        rest = shared - whole
        result = self._tails(n_a, n_b, whole, p_a, p_b)
        if rest > 1e-9:
            result = (1.0 - rest) * result + rest * self._tails(n_a, n_b, whole + 1, p_a, p_b)
        if np.isfinite(self.freedom):
            from scipy.special import ndtri, stdtr

            quantile = ndtri(np.clip(result, 0.0, 1.0))
            return np.asarray(stdtr(self.freedom, quantile), dtype=np.float64)
        return np.minimum(result, 1.0)

    def _tails(self, n_a: int, n_b: int, shared: int, p_a: float, p_b: float) -> FloatArray:
        if shared >= 0:
            return self._weighted(n_a, n_b, shared, p_a, p_b, 1.0 / n_a - 1.0 / n_b)
        # a shared answer is correct for only one system: average the cases for symmetric tails
        weights = 1.0 / n_a + 1.0 / n_b, -1.0 / n_a - 1.0 / n_b
        found = [self._weighted(n_a, n_b, -shared, p_a, p_b, weight) for weight in weights]
        return np.asarray(0.5 * (found[0] + found[1]))

    def _weighted(
        self, n_a: int, n_b: int, both: int, p_a: float, p_b: float, weight: float
    ) -> FloatArray:
        """Return the tails if each shared answer has this weight in the difference."""
        p = (n_a * p_a + n_b * p_b) / (n_a + n_b)
        sizes, shares = (n_a - both, n_b - both, both), (p_a, p_b, p)
        weights = 1.0 / n_a, -1.0 / n_b, weight
        gap = self.share_a - self.share_b - both * (p_a / n_a - p_b / n_b - p * weight)
        if min(n * p * (1.0 - p) for n in (n_a, n_b)) > _LARGE:
            return _nearly_normal(gap, sizes, shares, weights, 0.5 / math.lcm(n_a, n_b))
        (x, of_x), (y, of_y), (z, of_z) = (
            _binomial(n, share) for n, share in zip(sizes, shares, strict=True)
        )
        # up to this y, the difference is at least as large as observed
        bound = n_b * (x[:, np.newaxis] / n_a + weight * z - gap) - y[0]
        below = np.concatenate([[0.0], np.cumsum(of_y)])
        reach = [np.floor(bound + _ROOM) + 1.0, np.ceil(bound - _ROOM)]
        at = [below[np.clip(r, 0, of_y.size).astype(np.int64)] for r in reach]
        return np.array([of_x @ at[0] @ of_z, of_x @ (1.0 - at[1]) @ of_z])

    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval of gains not rejected, consistent with both tails at 0."""
        gap, tail = self.share_a - self.share_b, (1.0 - level) / 2.0

        def end(which: int, far: float) -> float:
            def beyond(gain: float) -> float:
                return float(self.tails(gain)[which]) - tail

            inside, outside = gap, far
            if gap * far < 0.0:
                inside, outside = (0.0, far) if beyond(0.0) > 0.0 else (gap, 0.0)
            return _crossing(beyond, inside, outside)

        return end(0, -1.0), end(1, 1.0)


def _crossing(beyond: Callable[[float], float], inside: float, outside: float) -> float:
    """Return the point between ``inside`` and ``outside`` where a function crosses 0."""
    from scipy.optimize import brentq

    if inside == outside or beyond(outside) >= 0.0:
        return outside
    if beyond(inside) <= 0.0:
        return inside
    return float(brentq(beyond, inside, outside, xtol=1e-9, rtol=1e-9))


def _binomial(n: int, p: float) -> tuple[FloatArray, FloatArray]:
    """Return the counts with probabilities above about 1e-13, and the probabilities."""
    from scipy.special import gammaln

    if n == 0 or p <= 0.0:
        return np.zeros(1), np.ones(1)
    if p >= 1.0:
        return np.array([float(n)]), np.ones(1)
    reach = 8.0 * np.sqrt(n * p * (1.0 - p)) + 12.0
    k = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1.0)
    ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return k, np.exp(ways + k * np.log(p) + (n - k) * np.log1p(-p))


def _nearly_normal(
    gap: float,
    sizes: tuple[int, int, int],
    shares: tuple[float, float, float],
    weights: tuple[float, float, float],
    room: float,
) -> FloatArray:
    """Return both tails from the normal distribution with a skewness term.

    ``room`` is half the step between possible differences, because tails include the observed
    difference.
    """
    from scipy.special import ndtr

    n, p, w = (np.array(x, dtype=float) for x in (sizes, shares, weights))
    variance = float((w**2 * n * p * (1.0 - p)).sum())
    away = gap - float((w * n * p).sum())
    if variance == 0.0:  # there is no variation at the ends of the range
        return np.array([away <= room, away >= -room], dtype=float)
    skewness = float((w**3 * n * p * (1.0 - p) * (1.0 - 2.0 * p)).sum()) / variance**1.5
    z = (away + np.array([-room, room])) / np.sqrt(variance)
    most = 0.5 * np.maximum(np.abs(z), 1.0)  # far out in the tail, this term could change the sign
    z -= np.clip((z * z - 1.0) * skewness / 6.0, -most, most)
    return np.array([ndtr(-z[0]), ndtr(z[1])])
