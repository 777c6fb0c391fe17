"""Adjustment of p-values for multiple testing, and how many resamples it needs."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.resampling.test_items import PairOptions

# ----------------------------------------------------- Adjustment of p-values for multiple testing

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


def interval_levels(p_values: FloatArray, method: str, level: float) -> FloatArray:
    """Return the level of each test's own interval, so that the intervals agree with `adjust`.

    An interval of this level that is dual to its test excludes 0 only if the adjusted p-value is
    at most 1 - level. Bonferroni's intervals serve Holm's method too. For "bh" and "by" the levels
    are those of Benjamini and Yekutieli (2005), False discovery rate-adjusted multiple confidence
    intervals for selected parameters: 1 - R (1 - level) / m with R rejected of m, and R = 1 if
    nothing is rejected.

    Parameters
    ----------
    p_values : array (..., test)
        The family is the last axis, NaN is no test.
    method : {"holm", "bonferroni", "bh", "by"}
    level : float
    """
    p = np.asarray(p_values, dtype=float)
    m = np.maximum(np.count_nonzero(~np.isnan(p), axis=-1, keepdims=True), 1)
    error = np.broadcast_to((1.0 - level) / m, p.shape)
    if method in ("holm", "bonferroni"):
        return 1.0 - error
    with np.errstate(invalid="ignore"):
        rejected = np.count_nonzero(adjust(p, method) <= 1.0 - level, axis=-1, keepdims=True)
    error = error * np.maximum(rejected, 1)
    if method == "by":
        error = error / np.concatenate([[1.0], np.cumsum(1.0 / np.arange(1, m.max() + 1))])[m]
    return 1.0 - error


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


# --------------------------- How many resamples do a family, its adjustment, alpha and level need?

LEAST = 10_000  # resamples, unless another number is given

_DECIDING = 10  # so many resamples are to be expected beyond the edge of a decision


def needed_resamples(options: PairOptions, n_pairs: int) -> int:
    """Return the least number of resamples of which one p-value could be at most alpha."""
    if options.adjust == "max-t":
        return _whole(options.n_alike / options.alpha) - 1
    tests, family = 1.0, n_pairs * options.n_alike
    if options.adjust is not None:
        tests = float(family)
    if options.adjust == "by":
        tests *= float((1.0 / np.arange(1, family + 1)).sum())
    return _whole(2.0 * tests / options.alpha) - 1


def _whole(draws: float) -> int:
    """Return so many draws, rounding left aside; at most what no memory holds, and is refused."""
    return int(min(np.ceil(draws * (1.0 - 1e-12)), 2.0**62))


def with_resamples(options: PairOptions, n_pairs: int) -> PairOptions:
    """Return the options with as many resamples as family, adjustment, alpha and level need."""
    if options.n_resamples:
        return options
    deciding = _DECIDING * (needed_resamples(options, n_pairs) + 1)
    limiting = int(np.ceil(_DECIDING * 2.0 / (1.0 - options.level) * (1.0 - 1e-12)))
    return options._replace(n_resamples=max(LEAST, deciding, limiting))


def check_enough(options: PairOptions, n_pairs: int) -> None:
    """Raise a ValueError where no adjusted p-value could be significant with so few resamples."""
    needed = needed_resamples(options, n_pairs)
    if options.adjust is None or options.n_resamples >= needed:
        return
    alike = options.n_alike
    factor = f"{alike}" if options.adjust == "max-t" else f"{2 * n_pairs * alike}"
    in_groups = "" if alike == 1 else f" in each of {alike} groups (adjust_over='all')"
    if options.adjust == "by":
        factor += " (1 + 1/2 + ...)"
    raise ValueError(
        f"n_resamples={options.n_resamples} cannot reach alpha={options.alpha:g} with"
        f" adjust={options.adjust!r}: the smallest adjusted p-value of {n_pairs}"
        f" pair{'s'[: n_pairs != 1]}{in_groups} is {factor}/(n_resamples + 1). Give"
        f" n_resamples={needed} or more, or None for as many as are needed."
    )
