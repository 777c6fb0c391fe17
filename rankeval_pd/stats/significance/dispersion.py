"""Does precision vary over repeated samples as the binomial model says? (Evert 2004, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray

_EQUAL = 1e-12  # distances that differ by less are the same
_AT_ONCE = 250_000  # counts that are drawn together


class Overdispersion(NamedTuple):
    """How many times as much as binomial counts the true positives vary."""

    phi: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray  #: of as much variation or more, if the model holds


def overdispersion(
    chi2: AnyArray | float, freedom: AnyArray | float, level: float
) -> Overdispersion:
    """Return chi2 / freedom with its interval, chi2 being Pearson's statistic."""
    from scipy import special

    chi2, freedom = np.broadcast_arrays(np.asarray(chi2, dtype=float), freedom)
    tail = (1.0 - level) / 2.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return Overdispersion(
            chi2 / freedom,
            chi2 / special.chdtri(freedom, tail),
            chi2 / (2.0 * special.gammaincinv(0.5 * freedom, tail)),
            special.chdtrc(freedom, chi2),
        )


def pearson(tp: IntArray, n: IntArray) -> float:
    """Return Pearson's statistic of samples with tp true positives among n accepted candidates."""
    share = tp.sum() / n.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.sum(np.square(tp - n * share) / (n * share * (1.0 - share))))


def model_sd(share: AnyArray | float, n: IntArray) -> FloatArray:
    """Return the standard deviation of precision that Eq. 4 expects of samples of such sizes.

    The size that counts is the harmonic mean: what varies is the mean of 1/n.
    """
    return np.sqrt(np.asarray(share) * (1.0 - np.asarray(share)) * np.mean(1.0 / n))


def normal_distance(tp: AnyArray, n: IntArray) -> FloatArray:
    """Return Kolmogorov's distance of the precisions (..., sample) from the normal law of Eq. 4.

    Mean and standard deviation are those of the pooled precision.
    """
    from scipy import special

    share = tp.sum(axis=-1, keepdims=True) / n.sum()
    sd = model_sd(share, n)
    ordered = np.sort(tp / n, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = special.ndtr((ordered - share) / sd)
    steps = np.arange(n.size + 1) / n.size
    distance: FloatArray = np.maximum(steps[1:] - expected, expected - steps[:-1]).max(axis=-1)
    return distance


class Fit(NamedTuple):
    """Goodness of fit of the normal law of Eq. 4."""

    distance: float
    p_value: float


def goodness_of_fit(
    tp: IntArray,
    n: IntArray,
    *,
    n_resamples: int,
    seed: int,
    advance: Callable[[int], object] = lambda _: None,
) -> Fit:
    """Test Eq. 4 by a parametric bootstrap; ``advance`` is told of the draws that are done.

    The mean is estimated from the same samples, and counts are whole: both change the law of the
    distance, so that it is simulated, the mean estimated anew each time.
    """
    observed = float(normal_distance(tp, n))
    share = tp.sum() / n.sum()
    if not 0.0 < share < 1.0:
        return Fit(np.nan, np.nan)
    rng = np.random.default_rng(seed)
    as_far = proper = 0
    at_once = max(_AT_ONCE // n.size, 1)
    for start in range(0, n_resamples, at_once):
        drawn = rng.binomial(n, share, size=(min(at_once, n_resamples - start), n.size))
        sums = drawn.sum(axis=-1)
        drawn = drawn[(sums > 0) & (sums < n.sum())]
        as_far += int(np.count_nonzero(normal_distance(drawn, n) >= observed - _EQUAL))
        proper += len(drawn)
        advance(min(at_once, n_resamples - start))
    return Fit(observed, (1 + as_far) / (proper + 1))
