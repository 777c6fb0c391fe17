"""Functions for studies of pairs of systems: thresholds and agreement."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.resampling import resamples


def order_limits(values: FloatArray, quantile: float, level: float) -> tuple[float, float]:
    """Return a distribution-free interval for a quantile from two order statistics.

    If there are too few values, the lower limit is 0 (the smallest possible gain), or the upper
    limit is infinite.
    """
    from scipy.special import bdtr

    ordered = np.sort(values)
    n = ordered.size
    below = bdtr(np.arange(n), n, quantile)  # P(at most this many values lie below the quantile)
    tail = (1.0 - level) / 2.0
    first, last = np.flatnonzero(below <= tail), np.flatnonzero(below >= 1.0 - tail)
    low = float(ordered[first[-1]]) if first.size else 0.0
    return low, float(ordered[last[0]]) if last.size else np.inf


def pair_weights(pairs: IntArray, n_resamples: int, seed: resamples.Seed) -> FloatArray:
    """Return how often each pair occurs if systems are drawn with replacement.

    ``pairs`` (pair, 2) contains the numbers of the systems. The result is (resample, pair).
    """
    systems = int(pairs.max()) + 1
    counts = np.concatenate(list(resamples.count_chunks(systems, n_resamples, seed))).astype(float)
    return np.asarray(counts[:, pairs[:, 0]] * counts[:, pairs[:, 1]])


def weighted_quantiles(values: FloatArray, weights: FloatArray, quantile: float) -> FloatArray:
    """Return the quantile of the values for each row of weights; NaN if all weights are 0."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weights[:, order], axis=1)
    total = running[:, -1:]
    place = np.argmax(running >= quantile * total, axis=1)
    return np.where(total[:, 0] > 0.0, values[order][place], np.nan)


def wider(limits: tuple[float, float], others: tuple[float, float]) -> tuple[float, float]:
    """Return limits that contain both intervals; the second replaces undefined limits."""
    return float(np.fmin(limits[0], others[0])), float(np.fmax(limits[1], others[1]))


def percentile_limits(samples: FloatArray, level: float) -> tuple[float, float]:
    """Return the percentile interval of the defined samples."""
    known = samples[~np.isnan(samples)]
    if not known.size:
        return np.nan, np.nan
    low, high = np.quantile(known, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


def agreement(
    p: ArrayLike, n_items: ArrayLike, n_items_other: ArrayLike, shrinkage: ArrayLike = 1.0
) -> FloatArray:
    """Return how often a gain has the same sign on other items from the same distribution.

    ``shrinkage`` is B, the fraction of the variance of gains that is due to true gains. Given a
    gain g with standard error s, the true gain is normal with mean B g and variance B s².
    """
    from scipy.special import ndtr, ndtri

    z, b = -ndtri(np.asarray(p, dtype=float)), np.asarray(shrinkage, dtype=float)
    noise = np.sqrt(b + np.true_divide(n_items, n_items_other))
    with np.errstate(invalid="ignore", divide="ignore"):
        result = ndtr(b * z / noise)
    return np.asarray(np.where((b == 0.0) & ~np.isnan(z), 0.5, result))


def true_variance(gains: FloatArray, errors: FloatArray) -> float:
    """Estimate the variance of true gains around 0 by the method of moments."""
    known = ~(np.isnan(gains) | np.isnan(errors))
    if not known.any():
        return np.nan
    return max(0.0, float(np.mean(gains[known] ** 2 - errors[known] ** 2)))


def shrinkage(gains: FloatArray, errors: FloatArray) -> FloatArray:
    """Return, for each pair, the fraction of the gain's variance that is due to true gains."""
    variance = true_variance(gains, errors)
    with np.errstate(invalid="ignore"):
        result = variance / (variance + errors**2)
    return np.where(errors == 0.0, 1.0, result)


def normal_quantile(share: float) -> float:
    """Return the normal quantile with an upper tail probability of alpha."""
    from scipy.special import ndtri

    return float(-ndtri(share))
