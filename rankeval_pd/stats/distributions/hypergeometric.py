"""The hypergeometric distribution: the random model of a finite set (Macskassy, Eqs 5, 6)."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.distributions.binomial import outside
from rankeval_pd.stats.distributions.tails import (
    Tails,
    combine,
    deviance,
    ratio_sum,
    stirling_remainder,
)


def log_pmf(i: FloatArray, total: FloatArray, positive: FloatArray, n: FloatArray) -> FloatArray:
    """Return log P(X = i), X positives in a random list of n of ``total`` with ``positive``.

    i is a possible count. The error is a few 1e-13 at a total of ten million: the four cells of
    the table enter by their deviance from expectation, never by the logarithm of a factorial.
    """
    negative, left = total - positive, total - n
    cells = (
        (i, positive, n),
        (n - i, negative, n),
        (positive - i, positive, left),
        (left - (positive - i), negative, left),
    )
    log_p = (
        stirling_remainder(positive)
        + stirling_remainder(negative)
        + stirling_remainder(n)
        + stirling_remainder(left)
        - stirling_remainder(total)
    )
    for cell, row, column in cells:
        log_p = log_p - (stirling_remainder(cell) + deviance(cell, row * (column / total)))
    result: FloatArray = log_p
    return result


def support(
    total: AnyArray | float, positive: AnyArray | float, n: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest possible count."""
    return np.maximum(0.0, n - (total - positive)), np.minimum(n, positive)


def mode(total: FloatArray, positive: FloatArray, n: FloatArray) -> FloatArray:
    """Return the most likely count (the larger of two that are equally likely)."""
    result: FloatArray = np.floor((n + 1.0) * (positive + 1.0) / (total + 2.0))
    return result


def tails(i: AnyArray, total: AnyArray | float, positive: AnyArray | float, n: AnyArray) -> Tails:
    """Return the upper tails of X at whole numbers i, in logarithms.

    Arguments broadcast; i may lie outside the support.
    """
    i, total, positive, n = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(i, total, positive, n)
    )
    lowest, highest = support(total, positive, n)
    inside = np.clip(i, lowest, highest)
    lp = log_pmf(inside, np.maximum(total, 1.0), positive, n)
    above_mode = inside >= mode(total, positive, n)
    only_listed, only_positive = n - inside, positive - inside
    neither = (total - positive) - n + inside
    series = ratio_sum(
        np.where(above_mode, only_positive, inside),
        np.where(above_mode, only_listed, neither),
        np.where(above_mode, inside, only_positive) + 1.0,
        np.where(above_mode, neither, only_listed) + 1.0,
    )
    return outside(combine(lp, series, series, above_mode), i, lowest, highest)
