"""Does precision vary over repeated samples as the binomial model says? (Evert 2004, section 4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.distributions import binomial
from rankeval_pd.stats.intervals.proportions import INTERVALS
from rankeval_pd.stats.search import first_true

_EQUAL = 1e-12  # distances that differ by less are the same


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
            chi2 / special.chdtri(freedom, 1.0 - tail),
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


def goodness_of_fit(tp: IntArray, n: IntArray, *, n_resamples: int, seed: int) -> Fit:
    """Test Eq. 4 by a parametric bootstrap.

    The mean is estimated from the same samples, and counts are whole: both change the law of the
    distance, so that it is simulated, the mean estimated anew each time.
    """
    observed = float(normal_distance(tp, n))
    share = tp.sum() / n.sum()
    if not 0.0 < share < 1.0:
        return Fit(np.nan, np.nan)
    drawn = np.random.default_rng(seed).binomial(n, share, size=(n_resamples, n.size))
    sums = drawn.sum(axis=-1)
    proper = drawn[(sums > 0) & (sums < n.sum())]
    as_far = np.count_nonzero(normal_distance(proper, n) >= observed - _EQUAL)
    return Fit(observed, (1 + as_far) / (len(proper) + 1))


def failure_rate(n: IntArray, share: FloatArray, ci: str, level: float) -> FloatArray:
    """Return the probability that the interval of n candidates leaves out the true share.

    The limits rise with the count, so that the counts that fail are those above one and below
    another.
    """
    size, zero = n.astype(float), np.zeros(n.size)

    def limits(count: FloatArray) -> tuple[FloatArray, FloatArray]:
        return INTERVALS[ci](np.minimum(count, size), size, level)

    above = first_true(lambda t: (limits(t)[0] > share) | (t > size), zero, size + 1.0)
    within = first_true(lambda t: limits(t)[1] >= share, zero, size)
    too_many = np.exp(binomial.tails(above, size, share).ge)
    too_few = -np.expm1(binomial.tails(within, size, share).ge)
    return np.asarray(too_many + too_few, dtype=float)


def at_least(count: int, probability: FloatArray) -> float:
    """Return P(at least ``count`` events), each with a probability of its own (Poisson-binomial).

    A sum of positive terms only, so that small tails are exact.
    """
    law = np.zeros(probability.size + 1)
    law[0] = 1.0
    for p in probability:
        law[1:] = law[1:] * (1.0 - p) + law[:-1] * p
        law[0] *= 1.0 - p
    return float(min(law[count:].sum(), 1.0))
