"""Does precision vary over repeated samples as the binomial model says? (Evert 2004, section 4)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions import binomial, hypergeometric
from rankeval_pd.stats.intervals.proportions import INTERVALS

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


class Failures(NamedTuple):
    """How many intervals leave out the precision of the other samples, if the model holds."""

    expected: float
    p_value: float  #: of as many as were observed or more


def failures(n: IntArray, tp: IntArray, observed: int, ci: str, level: float) -> Failures:
    """Return what is to be expected if all samples have the same average precision.

    Both sides vary: the count of the sample, and that of the others. Given the total of the true
    positives, the precision of the others follows from the sample's own count, and the counts are
    binomial ones, given their sum. So the law of the number of failures is exact, whatever the
    precision, by adding up one sample after the other. Sums of positive terms only, so that
    small tails are exact; counts and sums 12 standard deviations from their mean are left out.
    """
    total, positive = int(n.sum()), int(tp.sum())
    share = positive / total
    law = np.zeros((observed + 1, 1))  # failures (the last: as many or more), true positives so far
    law[0, 0] = 1.0
    start = drawn = 0
    expected = 0.0
    for size in n.tolist():
        low, high = _likely(size, total, share)
        count = np.arange(max(low, positive - (total - size)), min(high, positive) + 1)
        fails = _fails(count, size, positive, total, ci, level)
        of_all = (np.asarray(float(x)) for x in (total, positive, size))
        alone = np.exp(hypergeometric.log_pmf(count.astype(float), *of_all))
        expected += float(alone[fails].sum())
        weight = np.exp(_binomial(count, size, share))
        law = _one_more(law, weight, fails)
        start, drawn = start + int(count[0]), drawn + size
        low, high = _likely(drawn, total, share)
        first, last = max(low - start, 0), min(high, positive) - start
        law, start = law[:, first : last + 1], start + first
    at_total = law[:, positive - start]
    return Failures(expected, float(min(at_total[-1] / at_total.sum(), 1.0)) if observed else 1.0)


def _likely(drawn: int, total: int, share: float) -> tuple[int, int]:
    """Return the counts among so many that are within 12 standard deviations of their mean."""
    mean = drawn * share
    reach = 12.0 * math.sqrt(mean * (1.0 - share) * (1.0 - drawn / total)) + 12.0
    return max(0, math.floor(mean - reach)), min(drawn, math.ceil(mean + reach))


def _fails(
    count: IntArray, size: int, positive: int, total: int, ci: str, level: float
) -> BoolArray:
    low, high = INTERVALS[ci](count.astype(float), np.full(count.size, float(size)), level)
    others = (positive - count) / max(total - size, 1)
    return np.asarray((others < low) | (high < others))


def _binomial(count: IntArray, size: int, share: float) -> FloatArray:
    if share in (0.0, 1.0):
        return np.where(count == size * share, 0.0, -np.inf)
    return binomial.log_pmf(count.astype(float), np.asarray(float(size)), np.asarray(share))


def _one_more(law: FloatArray, weight: FloatArray, fails: BoolArray) -> FloatArray:
    """Return the law of failures and true positives with one sample more."""
    missed, held = np.where(fails, weight, 0.0), np.where(fails, 0.0, weight)
    last = law.shape[0] - 1
    rows = []
    for number in range(last + 1):
        row = np.convolve(law[number], weight if number == last else held)
        if number:
            row = row + np.convolve(law[number - 1], missed)
        rows.append(row)
    return np.array(rows)
