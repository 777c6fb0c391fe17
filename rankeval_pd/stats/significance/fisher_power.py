"""The power of Fisher's exact test for known proportions or for a pilot sample."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray
from rankeval_pd.stats.distributions.hypergeometric import first_true, mode, support
from rankeval_pd.stats.distributions.populations import binomial_laws, hypergeometric_laws
from rankeval_pd.stats.significance.adjust import rejects
from rankeval_pd.stats.significance.fisher import fisher_test

_RARE = 1e-9  # counts with lower probabilities have no effect on the power
_SMALL = 2_000  # largest number of judgments
_ROWS = 512  # number of rows of the outcome table that are computed at a time
_POINTS = 101  # number of equally probable values compatible with a pilot
_JEFFREYS = 0.5


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
    """Return the low and high critical counts in a for each sum of the two counts.

    Given the sum of the two counts, probabilities decrease from the mode in both directions.
    """
    both = np.arange(least, end, dtype=float)
    sizes = (np.full(both.size, float(n)) for n in (n_a + n_b, n_a))
    total, of_a = sizes
    lowest, highest = support(total, both, of_a)
    middle = np.clip(mode(np.maximum(total, 1.0), both, of_a), lowest, highest)

    def rejected(count: FloatArray) -> BoolArray:
        i = np.clip(count, lowest, highest)
        p_value = fisher_test(i, of_a, both - i, total - of_a, "two-sided").p_value
        found: BoolArray = rejects(p_value, alpha) | (count < lowest) | (count > highest)
        return found

    high = first_true(rejected, middle, highest + 1.0)
    low = -first_true(lambda count: rejected(-count), -middle, 1.0 - lowest)
    return low, high


class Pilot(NamedTuple):
    """Judged candidates in a region from which more candidates will be drawn.

    The rate of true positives has Jeffreys's prior, Beta(1/2, 1/2).
    """

    tp: float
    judged: float

    @property
    def _beta(self) -> tuple[float, float]:
        return self.tp + _JEFFREYS, self.judged - self.tp + _JEFFREYS

    def law(self, n: int) -> FloatArray:
        """Return the probabilities of 0, 1, ..., n true positives among n more candidates."""
        from scipy import special

        (a, b), k = self._beta, np.arange(n + 1.0)
        log_choose = -special.betaln(k + 1.0, n - k + 1.0) - np.log(n + 1.0)
        law: FloatArray = np.exp(
            log_choose + special.betaln(k + a, n - k + b) - special.betaln(a, b)
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
        from scipy import special

        rates = special.betaincinv(*self._beta, (np.arange(_POINTS) + 0.5) / _POINTS)
        laws: FloatArray = np.exp(binomial_laws(np.full(_POINTS, float(n)), rates))
        return laws


def drawn_laws(n: int, left: int, true: FloatArray) -> FloatArray:
    """Return distributions of true positives in n draws without replacement (point, k)."""
    drawn, of = (np.full(true.size, float(x)) for x in (n, left))
    laws = np.exp(hypergeometric_laws(drawn, of, true))
    return np.pad(laws, ((0, 0), (0, max(n + 1 - laws.shape[1], 0))))[:, : n + 1]
