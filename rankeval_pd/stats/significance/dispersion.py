"""Tests whether precision across samples fits the binomial model (Evert 2004, section 4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions import binomial, hypergeometric
from rankeval_pd.stats.intervals.proportions import INTERVALS

# ------------------------------------------ Overdispersion, and the fit of the normal distribution

_EQUAL = 1e-12  # smaller differences between distances are rounding errors
_COUNTS_AT_ONCE = 250_000  # number of counts drawn at a time


class Overdispersion(NamedTuple):
    """The ratio of the variance of the true positives to the binomial variance."""

    phi: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray  #: probability of at least this variation under the model


def overdispersion(
    chi2: AnyArray | float, freedom: AnyArray | float, level: float
) -> Overdispersion:
    """Return Pearson's statistic divided by its degrees of freedom, with an interval."""
    from scipy import special

    chi2, freedom = np.broadcast_arrays(np.asarray(chi2, dtype=float), freedom)
    tail = (1.0 - level) / 2.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return Overdispersion(
            chi2 / freedom,
            chi2 / special.chdtri(freedom, tail),
            # no upper limit if the counts are constant
            np.where(chi2 == 0.0, np.inf, chi2 / (2.0 * special.gammaincinv(0.5 * freedom, tail))),
            special.chdtrc(freedom, chi2),
        )


def pearson(tp: IntArray, n: IntArray) -> float:
    """Return Pearson's statistic for samples with tp true positives among n candidates."""
    share = tp.sum() / n.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.sum(np.square(tp - n * share) / (n * share * (1.0 - share))))


def model_sd(share: AnyArray | float, n: IntArray) -> FloatArray:
    """Return the standard deviation of precision predicted by Eq. 4 for these sample sizes.

    The effective size is the harmonic mean, because the variance is a mean of 1/n.
    """
    return np.sqrt(np.asarray(share) * (1.0 - np.asarray(share)) * np.mean(1.0 / n))


def normal_distance(tp: AnyArray, n: IntArray) -> FloatArray:
    """Return the Kolmogorov distance between precision values and the Eq. 4 distribution.

    The array of precision values is (..., sample). The mean and the standard deviation of the
    distribution are computed from the pooled precision.
    """
    from scipy import special

    share = tp.sum(axis=-1, keepdims=True) / n.sum()
    sd = model_sd(share, n)
    ordered = np.sort(tp / n, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = special.ndtr((ordered - share) / sd)
    # compare both ends of every jump in the empirical distribution
    steps = np.arange(n.size + 1) / n.size
    distance: FloatArray = np.maximum(steps[1:] - expected, expected - steps[:-1]).max(axis=-1)
    return distance


class GoodnessOfFit(NamedTuple):
    """Goodness of fit for the normal distribution in Eq. 4."""

    distance: float
    p_value: float


def goodness_of_fit(
    tp: IntArray,
    n: IntArray,
    *,
    n_resamples: int,
    seed: int,
    advance: Callable[[int], object] = lambda _: None,
) -> GoodnessOfFit:
    """Test Eq. 4 by a parametric bootstrap; ``advance`` receives the number of new draws.

    The distribution of the distance is simulated, with a new estimate of the mean in each draw. A
    standard table would be wrong, because the mean is estimated from the same samples and counts
    are integers.
    """
    observed = float(normal_distance(tp, n))
    share = tp.sum() / n.sum()
    if not 0.0 < share < 1.0:
        return GoodnessOfFit(np.nan, np.nan)
    rng = np.random.default_rng(seed)
    as_far = proper = 0
    at_once = max(_COUNTS_AT_ONCE // n.size, 1)
    for start in range(0, n_resamples, at_once):
        # (draw, sample); draws with one kind of label have no distance and are excluded
        drawn = rng.binomial(n, share, size=(min(at_once, n_resamples - start), n.size))
        sums = drawn.sum(axis=-1)
        drawn = drawn[(sums > 0) & (sums < n.sum())]
        as_far += int(np.count_nonzero(normal_distance(drawn, n) >= observed - _EQUAL))
        proper += len(drawn)
        advance(min(at_once, n_resamples - start))
    return GoodnessOfFit(observed, (1 + as_far) / (proper + 1))


# --------------------------------------- Intervals that exclude the precision of the other samples
#
# The number of such intervals, called failures, is compared with the exact distribution under the
# model. The joint distribution of failures and true positives is convolved by Fourier transforms,
# after tilting the mean to the observed pair. Small tails are accurate, because none of them is
# computed as a difference.

_REACH = 14.0  # standard deviations on each side; probabilities farther out are below 1e-40
_NEGLIGIBLE_LOG = -60.0  # logarithm of negligible terms
_CELLS_AT_ONCE = 500_000  # number of cells (angle of the failures, angle of the sum) in memory


class IntervalFailures(NamedTuple):
    """The number of intervals that exclude the precision of the other samples."""

    expected: float
    p_value: float  #: P(at least the observed number)


class _SizeClass(NamedTuple):
    """Samples of the same size."""

    size: int
    times: int  #: number of samples
    counts: IntArray  #: likely counts of true positives
    weight: FloatArray  #: probabilities of the counts
    fails: BoolArray  #: whether the interval excludes the precision of the other samples


def failures(n: IntArray, tp: IntArray, observed: int, ci: str, level: float) -> IntervalFailures:
    """Return the expected number of failures and the p-value under equal mean precision.

    The counts in all samples are random. Given the total number of true positives, the count in a
    sample determines the precision of the other samples, and the counts are binomial variables with
    a fixed sum. The distribution of the number of failures is therefore exact for any precision.
    Counts more than 12 standard deviations from the mean are omitted.

    The cost is one fast Fourier transform over the likely numbers of failures and of true positives
    for each sample size. The computation takes a second for 20,000 samples of 55 different sizes.
    """
    total, positive = int(n.sum()), int(tp.sum())
    share = positive / total
    expected, kinds = 0.0, []
    for size, times in zip(*(x.tolist() for x in np.unique(n, return_counts=True)), strict=True):
        low, high = _likely_range(size, total, share)
        count = np.arange(max(low, positive - (total - size)), min(high, positive) + 1)
        fails = _exclusions(count, size, positive, total, ci, level)
        # the count in one sample is hypergeometric given the total; jointly, counts are binomial
        of_all = (np.asarray(float(x)) for x in (total, positive, size))
        alone = np.exp(hypergeometric.log_pmf(count.astype(float), *of_all))
        expected += times * float(alone[fails].sum())
        kinds.append(
            _SizeClass(size, times, count, np.exp(_log_binomial(count, size, share)), fails)
        )
    if observed == 0:
        return IntervalFailures(expected, 1.0)
    if not any(kind.fails.any() for kind in kinds):
        return IntervalFailures(expected, 0.0)
    return IntervalFailures(expected, min(_tail_probability(kinds, observed, total, positive), 1.0))


def _likely_range(drawn: int, total: int, share: float) -> tuple[int, int]:
    """Return the range of counts within 12 standard deviations of the mean."""
    mean = drawn * share
    reach = 12.0 * math.sqrt(mean * (1.0 - share) * (1.0 - drawn / total)) + 12.0
    return max(0, math.floor(mean - reach)), min(drawn, math.ceil(mean + reach))


def _exclusions(
    count: IntArray, size: int, positive: int, total: int, ci: str, level: float
) -> BoolArray:
    low, high = INTERVALS[ci](count.astype(float), np.full(count.size, float(size)), level)
    others = (positive - count) / max(total - size, 1)
    return np.asarray((others < low) | (high < others))


def _log_binomial(count: IntArray, size: int, share: float) -> FloatArray:
    if share in (0.0, 1.0):
        return np.where(count == size * share, 0.0, -np.inf)
    return binomial.log_pmf(count.astype(float), np.asarray(float(size)), np.asarray(share))


class _TiltedLaw(NamedTuple):
    """The normalized distribution of failures f and counts c, weighted by exp(u f + v c)."""

    kinds: list[_SizeClass]
    log_norm: float
    mean: FloatArray  #: means for the failures and the true positives over all samples
    covariance: FloatArray


def _tilted_law(kinds: list[_SizeClass], tilt: FloatArray) -> _TiltedLaw:
    found, log_norm = [], 0.0
    mean, covariance = np.zeros(2), np.zeros((2, 2))
    for kind in kinds:
        # (statistic, count): failures and true positives for a sample with this count
        both = np.stack([kind.fails.astype(float), kind.counts.astype(float)])
        with np.errstate(divide="ignore"):
            logs = np.log(kind.weight) + tilt @ both
        most = logs.max()
        weight = np.exp(logs - most)
        norm = weight.sum()
        weight /= norm
        center = both @ weight
        away = both - center[:, np.newaxis]
        mean += kind.times * center
        covariance += kind.times * (away * weight) @ away.T
        log_norm += kind.times * (float(most) + math.log(norm))
        found.append(kind._replace(weight=weight))
    return _TiltedLaw(found, log_norm, mean, covariance)


def _tilt_to(kinds: list[_SizeClass], wanted: FloatArray) -> tuple[FloatArray, _TiltedLaw]:
    """Return the tilt with the desired means, by Newton's method on a convex function."""
    tilt = np.zeros(2)
    here = _tilted_law(kinds, tilt)
    for _ in range(100):
        away = wanted - here.mean
        if (np.abs(away) < 1e-3 * np.sqrt(np.diag(here.covariance) + 1e-12)).all():
            break
        # the ridge allows for a singular covariance; a step changes the tilt of f by at most 2
        ridge = 1e-9 * np.diag(np.diag(here.covariance)) + 1e-12 * np.eye(2)
        step = np.linalg.solve(here.covariance + ridge, away)
        step *= min(1.0, 2.0 / max(abs(step[0]), 1e-300))
        # halve the step while it increases the objective log_norm - tilt . wanted
        before = here.log_norm - tilt @ wanted
        for _ in range(40):
            there = _tilted_law(kinds, tilt + step)
            if there.log_norm - (tilt + step) @ wanted <= before:
                break
            step = 0.5 * step
        else:
            break
        tilt, here = tilt + step, there
    return tilt, here


def _tail_probability(kinds: list[_SizeClass], observed: int, total: int, positive: int) -> float:
    """Return the probability of at least this number of failures, given the true positives."""
    # tilt only for small tails above the mean
    center = _tilted_law(kinds, np.zeros(2)).mean
    if observed > center[0]:
        tilt, tilted = _tilt_to(kinds, np.array([observed, positive], dtype=float))
        middle = observed
    else:
        tilt, tilted = np.zeros(2), _tilted_law(kinds, np.zeros(2))
        middle = round(center[0])
    sd_failures, sd_sum = np.sqrt(np.diag(tilted.covariance))
    samples = sum(kind.times for kind in kinds)
    span = sum(kind.times * (kind.counts.size - 1) for kind in kinds)
    # failures modulo ``width``, true positives modulo ``length``, with negligible wrap-around
    width = min(samples + 1, 2 * math.ceil(_REACH * sd_failures + 20.0))
    length = min(span + 1, 2 * math.ceil(_REACH * sd_sum + 20.0))
    first = 0 if width == samples + 1 else min(max(middle - width // 2, 0), samples + 1 - width)
    at_total = _failure_law(tilted.kinds, positive, length, width)
    # undo the tilting by exp(-u (f - middle)), with constant factors in the logarithm
    number = np.arange(max(first, observed), first + width)
    terms = np.maximum(at_total[number % width], 0.0)
    tail = float(np.sum(np.exp(-tilt[0] * (number - middle)) * terms))
    if tail == 0.0:
        return 0.0
    share = positive / total
    log_sum = _log_binomial(np.array([positive]), total, share)[0]
    return math.exp(
        math.log(tail) + tilted.log_norm - tilt[0] * middle - tilt[1] * positive - float(log_sum)
    )


def _failure_law(kinds: list[_SizeClass], total: int, length: int, width: int) -> FloatArray:
    """Return P(sum = total, failures = f), f modulo the width: (f).

    The transform of the distribution over all samples is the product of the samples' transforms.
    Only one total is needed, so one term of the inverse transform of the sum suffices. For the
    failures, the full inverse transform is computed.
    """
    # for each size, the transforms (angle of the sum) for counts inside and outside the interval
    parts = []
    for kind in kinds:
        held, missed = (
            np.fft.fft(np.bincount(kind.counts % length, np.where(x, kind.weight, 0.0), length))
            for x in (~kind.fails, kind.fails)
        )
        parts.append((kind.times, held, missed))
    parts.sort(key=lambda part: -part[0])  # large powers make most cells negligible
    angles = np.arange(width // 2 + 1)
    turn = np.exp(-2j * np.pi * angles / width)
    # phases of the inverse transform at the total; % keeps the integer product small
    back = np.exp(2j * np.pi * (np.arange(length) * (total % length) % length) / length)
    at_angles = np.empty(angles.size, dtype=complex)
    rows = max(_CELLS_AT_ONCE // length, 1)
    for start in range(0, angles.size, rows):
        block = angles[start : start + rows]
        # flat cells (angle of the failures, angle of the sum); drop negligible cells in each step
        row, place = (x.ravel() for x in np.indices((block.size, length)))
        logs = np.zeros(row.size, dtype=complex)
        for times, held, missed in parts:
            with np.errstate(divide="ignore", invalid="ignore"):  # drop log 0
                logs += times * np.log(held[place] + turn[block[row]] * missed[place])
            near = logs.real > _NEGLIGIBLE_LOG
            row, place, logs = row[near], place[near], logs[near]
        terms = (np.exp(logs) * back[place]).view(float).reshape(-1, 2)  # real and imaginary parts
        at_angles[block] = np.bincount(row, terms[:, 0], block.size) + 1j * np.bincount(
            row, terms[:, 1], block.size
        )
    return np.fft.irfft(at_angles / length, width)
