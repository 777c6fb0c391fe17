"""Tests and intervals for gains between systems trained with several seeds."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.resampling.test_items import Seeds
from rankeval_pd.stats.significance import skewness
from rankeval_pd.stats.significance.mixed_t import mixed_critical, mixed_tail

Limits = tuple[FloatArray, FloatArray]


class SeedGains:
    """Tests and intervals for the gain of each pair of systems with training seeds."""

    def __init__(
        self,
        theta: FloatArray,
        pairs: IntArray,
        seeds: Seeds,
        items: tuple[FloatArray, FloatArray],
        lean: tuple[FloatArray, FloatArray],
        freedom: float,
    ) -> None:
        """Store scores (larger is better), and the variances and skewness from items.

        ``items`` and ``lean`` contain one array for systems and one array for pairs.
        """
        self._theta, self._seeds, self._items, self._lean = theta, seeds, items, lean
        self._gain, self._freedom = theta[pairs[:, 0]] - theta[pairs[:, 1]], freedom
        squares = seeds.error**2
        self._of_pairs = seeds.freedom_of(pairs), squares[pairs].sum(axis=1)
        self._of_systems = seeds.freedom, squares
        self.n_systems, self.fewest = theta.size, int(seeds.trained.min())

    @cached_property
    def few(self) -> BoolArray:
        """Whether a pair cannot be tested: (pair,), always False."""
        return np.zeros(self._gain.size, dtype=bool)

    @cached_property
    def tails(self) -> Limits:
        """The gain's two tail probabilities if the systems are equally good: (pair,)."""
        variance = self._items[1] + self._of_pairs[1]
        t = self._gain / np.sqrt(np.where(variance > 0.0, variance, np.inf))
        lean = self._lean[1]

        def tail(side: float) -> FloatArray:
            other = skewness.transformed(side * t, side * lean)
            both = (mixed_tail(x, self._share(1), self._freedom, self._of_pairs[0])
                    for x in (side * t, other))  # fmt: skip
            return np.where(variance > 0.0, np.fmax(*both), 1.0)

        return tail(1.0), tail(-1.0)

    def _share(self, which: int) -> FloatArray:
        """Return the fraction of the variance due to seeds, for systems (0) or pairs (1)."""
        of_items, of_seeds = self._items[which], (self._of_systems, self._of_pairs)[which][1]
        total = of_items + of_seeds
        return of_seeds / np.where(total > 0.0, total, 1.0)

    @cached_property
    def statistics(self) -> FloatArray:
        """The normal quantiles of the p-values: (pair,)."""
        from scipy.special import ndtri

        up, down = self.tails
        return np.where(up < down, -ndtri(np.minimum(up, 0.5)), ndtri(np.minimum(down, 0.5)))

    def limits_at(self, statistic: float) -> Limits:
        """Return the limits of gains whose abs(statistic) is at most this value: (pair,)."""
        from scipy.special import ndtr

        return self.limits(1.0 - 2.0 * float(ndtr(-statistic)))

    def limits(self, level: float) -> Limits:
        """Return the interval of gains that are not rejected: (pair,); NaN without variation."""
        return self._limits(level, 1, self._gain)

    def score_limits(self, level: float, _: float) -> Limits:
        """Return the interval for each system's score; larger is better."""
        return self._limits(level, 0, self._theta)

    def _limits(self, level: float, which: int, about: FloatArray) -> Limits:
        freedom, of_seeds = (self._of_systems, self._of_pairs)[which]
        error = np.sqrt(self._items[which] + of_seeds)
        critical = mixed_critical(level, self._share(which), self._freedom, freedom)
        found = about - critical * error, about + critical * error
        found = skewness.reaching(found, about, error, self._lean[which], critical)
        low, high = (np.where(error > 0.0, limit, np.nan) for limit in found)
        return low, high

    def widening(self, level: float) -> float:
        """Return the median ratio of interval widths with seeds to those without seeds."""
        from rankeval_pd.stats.intervals.proportions import t_of

        share = self._share(1)
        with np.errstate(divide="ignore"):
            wider = mixed_critical(level, share, self._freedom, self._of_pairs[0])
            wider = wider / np.sqrt(1.0 - share) / t_of(self._freedom, level)
        return float(np.median(wider))
