"""Adjustment of p-values for multiple testing."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray

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


def step_down(p_values: FloatArray, family: IntArray) -> FloatArray:
    """Return p-values, each simultaneous over its family, made so over the families too.

    Holm's step-down for families (as pairs of measures are, with a test for each n): from the
    smallest p-value on, each is multiplied by the number of families that still have a test whose
    turn has not come. A family counts until its last test is rejected, because that one may be
    true although all others are not. Of one test each it is Holm's method; of one family nothing
    changes.

    Parameters
    ----------
    p_values : array (test)
        NaN is no test and stays NaN.
    family : array (test)
        The number of the family of each test.
    """
    order = np.argsort(p_values, kind="stable")  # NaN last
    order = order[: np.count_nonzero(~np.isnan(p_values))]
    _, from_end = np.unique(family[order][::-1], return_index=True)
    last = np.sort(order.size - 1 - from_end)
    waiting = last.size - np.searchsorted(last, np.arange(order.size))
    result = np.full(p_values.shape, np.nan)
    result[order] = np.minimum(np.maximum.accumulate(waiting * p_values[order]), 1.0)
    return result
