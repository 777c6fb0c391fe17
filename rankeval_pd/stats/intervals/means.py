"""Means over queries and ratios of sums over queries, with intervals: the queries are the sample.

Along the last axis lie the queries; NaN is a query that has no value. Intervals are Student's,
with as many degrees of freedom as there are queries less one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.distributions.normal import t_of


class Mean(NamedTuple):
    """A mean and its interval."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    se: FloatArray
    n: IntArray  #: queries that have a value


def mean(values: FloatArray, level: float) -> Mean:
    """Return the mean over queries."""
    return ratio(values, np.where(np.isnan(values), np.nan, 1.0), level)


def ratio(above: FloatArray, below: FloatArray, level: float) -> Mean:
    """Return the sum over queries of one number over the sum of another.

    The standard error is that of the residuals, above - ratio x below (W. Cochran 1977, 6.4).
    """
    known = ~(np.isnan(above) | np.isnan(below))
    count = known.sum(axis=-1)
    over, under = (np.where(known, x, 0.0) for x in (above, below))
    total = under.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(total > 0.0, over.sum(axis=-1) / total, np.nan)
        rest = np.where(known, over - value[..., np.newaxis] * under, 0.0)
        squares = (rest**2).sum(axis=-1)
        se = np.sqrt(np.where(count > 1, count / (count - 1.0), np.nan) * squares) / total
        # what is equal in all queries but for rounding does not vary
        se = np.where(se <= 1e-14 * np.abs(value), 0.0, se)
    half = t_quantile(level, count) * se
    return Mean(value, value - half, value + half, se, count)


def t_quantile(level: float, count: IntArray) -> FloatArray:
    """Return the factor of the standard error, NaN for fewer than two queries."""
    return t_of(np.where(count > 1, count - 1.0, np.nan), level)


def t_test(found: Mean, alternative: str) -> FloatArray:
    """Return the p-value of a mean of 0 that the interval of the mean stands for.

    Where all queries have one and the same difference, Student's p-value would be 0; there it is
    that of all signs alike, 2^-Q.
    """
    from scipy import special

    freedom = np.where(found.n > 1, found.n - 1.0, np.nan)
    signs = np.exp2(-np.maximum(found.n, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = found.value / found.se
        above = np.where(found.se == 0.0, np.where(found.value > 0.0, signs, 1.0),
                         special.stdtr(freedom, -t))  # fmt: skip
        below = np.where(found.se == 0.0, np.where(found.value < 0.0, signs, 1.0),
                         special.stdtr(freedom, t))  # fmt: skip
    if alternative == "greater":
        return np.asarray(above)
    if alternative == "less":
        return np.asarray(below)
    return np.minimum(1.0, 2.0 * np.minimum(above, below))
