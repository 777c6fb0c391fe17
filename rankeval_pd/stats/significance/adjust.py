"""Adjustment of p-values for multiple testing."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import FloatArray

ADJUSTMENTS = ("holm", "bonferroni", "bh", "by")


def adjust(p_values: FloatArray, method: str) -> FloatArray:
    """Return adjusted p-values; the family is the last axis, NaN is no test and stays NaN.

    Parameters
    ----------
    p_values : array (..., test)
    method : {"holm", "bonferroni", "bh", "by"}
        Holm (1979) and Bonferroni control the probability of one false rejection or more,
        Benjamini and Hochberg (1995) the expected share of false rejections where tests are
        positively dependent, Benjamini and Yekutieli (2001) under any dependence.
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, axis=-1, kind="stable")  # NaN last
    ordered = np.take_along_axis(p, order, axis=-1)
    m = np.count_nonzero(~np.isnan(p), axis=-1, keepdims=True).astype(float)
    rank = np.arange(1.0, p.shape[-1] + 1.0)
    if method == "bonferroni":
        scaled = ordered * m
    elif method == "holm":
        scaled = np.fmax.accumulate(ordered * np.maximum(m - rank + 1.0, 1.0), axis=-1)
    else:
        scaled = ordered * (m / rank)
        if method == "by":
            harmonic = np.concatenate([[0.0], np.cumsum(1.0 / rank)])
            scaled = scaled * harmonic[m.astype(np.intp)]
        scaled = np.fmin.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    scaled = np.where(np.isnan(ordered), np.nan, np.minimum(scaled, 1.0))
    result = np.empty_like(p)
    np.put_along_axis(result, order, scaled, axis=-1)
    return result


def step_down(p_values: FloatArray) -> FloatArray:
    """Return p-values (..., pair, n), each simultaneous over n, made so over the pairs too.

    Holm's step-down goes over the pairs in the order of their smallest p-values; every p-value of
    a pair is multiplied as the smallest is, and is at least the smallest of the pair before.
    """
    p = np.asarray(p_values, dtype=float)
    smallest = np.where(np.isnan(p), np.inf, p).min(axis=-1, initial=np.inf)
    return scaled(p, *step_down_factors(np.where(np.isinf(smallest), np.nan, smallest)))


def step_down_factors(smallest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what the p-values of each pair (..., pair) are multiplied by, and their least value.

    ``smallest`` is the smallest p-value of each pair, NaN where there is none.
    """
    order = np.argsort(smallest, axis=-1, kind="stable")  # NaN last
    rank = np.argsort(order, axis=-1, kind="stable")
    pairs = np.count_nonzero(~np.isnan(smallest), axis=-1, keepdims=True)
    factor = np.maximum(pairs - rank, 1).astype(float)
    floor = np.zeros_like(smallest)
    if smallest.shape[-1]:
        stepped = np.take_along_axis(factor * smallest, order, axis=-1)
        reached = np.fmax.accumulate(stepped, axis=-1)
        before = np.concatenate([np.zeros_like(reached[..., :1]), reached[..., :-1]], axis=-1)
        floor = np.take_along_axis(before, rank, axis=-1)
    return factor, floor


def scaled(p_values: FloatArray, factor: FloatArray, floor: FloatArray) -> FloatArray:
    """Return the p-values (..., n) times the factor of their pair, from its floor to 1."""
    limits = np.clip(factor[..., np.newaxis] * p_values, floor[..., np.newaxis], 1.0)
    return np.where(np.isnan(p_values), np.nan, limits)
