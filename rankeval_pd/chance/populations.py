"""The population that a random list is drawn from."""

from __future__ import annotations

import math

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.distributions.populations import Finite, Infinite, Population
from rankeval_pd.stats.distributions.sums import binomial_laws, hypergeometric_laws, tails_of_sum
from rankeval_pd.stats.distributions.tails import Tails

POPULATIONS = ("finite", "infinite")
LOG_10 = math.log(10.0)


def population_model(population: str, total: float, positive: float) -> tuple[Population, float]:
    """Return the population, and the share of positives in it."""
    finite = Finite(total, positive)
    return (finite if population == "finite" else Infinite(finite.prior)), finite.prior


def sum_tails(
    count: float, n: FloatArray, total: AnyArray, positive: AnyArray, population: str
) -> Tails:
    """Return the tails of the sum of independent counts in lists of n; equal lists share a law."""
    lists, times = np.unique(np.stack([n, total, positive]), axis=1, return_counts=True)
    n, total, positive = lists.astype(float)
    if population == "infinite":
        laws = binomial_laws(n, positive / np.maximum(total, 1.0))
    else:
        laws = hypergeometric_laws(n, total, positive)
    return tails_of_sum(count, laws, times.astype(np.int64))
