"""The Poisson distribution: a frequency that is rare in a large sample."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.distributions.binomial import outside
from rankeval_pd.stats.distributions.loader import deviance, stirling_remainder
from rankeval_pd.stats.distributions.tails import Tails, combine, ratio_sum


def log_pmf(i: FloatArray, mean: FloatArray) -> FloatArray:
    """Return log P(X = i) for X ~ Poisson(mean); i a whole number of 0 or more."""
    result: FloatArray = -stirling_remainder(i) - deviance(i, mean)
    return result


def tails(i: AnyArray, mean: AnyArray | float) -> Tails:
    """Return the upper tails of X ~ Poisson(mean) at whole numbers i, in logarithms.

    Arguments broadcast; i may be negative, and the mean may be 0.
    """
    i, mean = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(i, mean))
    highest = np.where(mean > 0.0, np.inf, 0.0)
    inside = np.clip(i, 0.0, highest)
    above_mode = inside >= np.floor(mean)
    series = np.zeros(i.shape)
    for side in (True, False):
        here = above_mode == side
        x, m = inside[here], np.where(mean[here] > 0.0, mean[here], 1.0)
        infinite = np.full_like(x, np.inf)
        if side:  # ratios mean/(i + 1), mean/(i + 2), ...
            result = ratio_sum(infinite, infinite, x + 1.0, infinite, mean[here])
        else:  # ratios i/mean, (i - 1)/mean, ...
            result = ratio_sum(x, infinite, infinite, infinite, 1.0 / m)
        series[here] = result
    return outside(
        combine(log_pmf(inside, mean), series, series, above_mode), i, np.zeros(i.shape), highest
    )
