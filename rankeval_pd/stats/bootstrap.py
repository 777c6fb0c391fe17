"""Bootstrap distributions, exact on a lattice or drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats import items as resamples
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray, silent_division
from rankeval_pd.stats.distributions import merged_by_size
from rankeval_pd.stats.items import ADJUSTMENTS, Items, PairOptions, Score, exact_total
from rankeval_pd.stats.proportions import Limits

# -------------------------------------------------------------------------------------------------
# Exact distributions of lattice sums, for resampled items or random signs.
#
# Small tail probabilities are computed by exponential tilting. The weights exp(theta s) move the
# mean of the distribution to the edge of the tail, where the convolution is accurate. The weights
# are then removed. The relative error is about one rounding error per item, even for tiny tails.

MOST_POINTS = 1_000_000  # number of computed values in a distribution: 8 MB
_MANY = 64  # number of different values above which distributions are convolved
_LEAST_PLAIN_TAIL = 0.01  # larger tails need no tilting
_SAMPLE_SIZE = 4096  # number of differences that usually suffices to exclude a lattice
_ROUNDING = 1e-12  # numbers within this relative difference are treated as equal
_SPREAD = 12.0, 40  # distance from the mean beyond which the probability is below 1e-20
_MOST_TILT = 700.0  # exp of a larger number is near the largest float
_HALVINGS = 60  # a bracket of length 700 shrinks to 6e-16
_EQUAL = 1e-9  # tolerance for a multiple of the step, as a fraction of the step


class Lattice(NamedTuple):
    """Differences as integer multiples of a step."""

    step: float
    multiples: IntArray  #: distinct multiples
    times: IntArray  #: count of each multiple

    @property
    def total(self) -> int:
        """The sum of all multiples."""
        return _dot(self.times, self.multiples)

    @property
    def reach(self) -> int:
        """The sum of absolute multiples, which bounds the sum with random signs."""
        return _dot(self.times, np.abs(self.multiples))

    @property
    def signed_points(self) -> float:
        """The number of computed values for the sum with random signs."""
        sizes = np.unique(np.abs(self.multiples))
        if sizes.size > _MANY:
            return float(self.reach)
        return min(self.reach, _SPREAD[0] * self.size + 2.0 * _SPREAD[1] * float(sizes[-1]))

    @property
    def spread(self) -> float:
        """The square root of the sum of squared deviations of the multiples from the mean."""
        n = int(self.times.sum())
        total = self.total
        return math.sqrt((n * _dot(self.times, self.multiples, self.multiples) - total**2) / n)

    @property
    def size(self) -> float:
        """The square root of the sum of squared multiples."""
        return math.sqrt(_dot(self.times, self.multiples, self.multiples))


def _dot(*numbers: IntArray) -> int:
    """Return the sum of products as Python integers, which do not overflow."""
    return sum(math.prod(row) for row in zip(*(x.tolist() for x in numbers), strict=True))


class NumberCounts(NamedTuple):
    """Distinct numbers in ascending order, and their counts."""

    values: FloatArray
    times: IntArray

    def plus(self, other: NumberCounts) -> NumberCounts:
        """Return the combined numbers of both objects."""
        values, place = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        times = np.zeros(values.size, dtype=np.int64)
        np.add.at(times, place, np.concatenate([self.times, other.times]))
        return NumberCounts(values, times)


def count_numbers(differences: FloatArray, of_items: int) -> NumberCounts | None:
    """Return distinct differences and their counts; None if no lattice is possible.

    The differences can come from only some of the ``of_items`` items.
    """
    # check a sample first, because np.unique would sort all differences
    step = differences.size // _SAMPLE_SIZE
    if step > 1 and has_no_lattice(np.unique(differences[::step]), of_items):
        return None
    values, times = np.unique(differences, return_counts=True)
    if has_no_lattice(values, of_items):
        return None
    return NumberCounts(values, times)


def has_no_lattice(values: FloatArray, of_items: int) -> bool:
    """Return whether sorted numbers from all or some of the items have no lattice.

    The sum can have at most ``MOST_POINTS`` values, so the spread of the numbers implies a smallest
    step. If two different numbers are closer than this step, there is no lattice.
    """
    if values.size < 2:
        return False
    spread = float(values[-1] - values[0])
    # differences between numbers that agree in eight digits are not accurate enough
    if max(abs(values[0]), abs(values[-1])) >= 1e8 * spread:
        return False
    gaps = np.diff(values)
    between = (gaps > 4.0 * _EQUAL * spread) & (gaps < 0.9 * spread * _least_step(of_items))
    return bool(between.any())


def lattice(differences: FloatArray) -> Lattice | None:
    """Return the differences as multiples of the largest possible step.

    Return None if there is no such step, or if the sum has more than ``MOST_POINTS`` values.
    """
    counted = count_numbers(differences, differences.size)
    if counted is None:
        return None
    return lattice_of(counted)


def lattice_of(counted: NumberCounts) -> Lattice | None:
    """Return the lattice for counted differences."""
    values, times = counted
    n = int(times.sum())
    sizes = np.unique(np.abs(values))
    sizes = sizes[sizes > 0.0]
    if sizes.size == 0:
        return Lattice(1.0, np.zeros(1, dtype=np.int64), np.array([n]))
    spread = float(values[-1] - values[0])
    if spread <= _ROUNDING * float(sizes[-1]):  # all differences are equal
        spread = float(sizes[-1])
    # with a smaller step, the sum of n items would have more than MOST_POINTS values
    smallest = spread * _least_step(n)
    step = float(sizes[0])
    for size in sizes[1:]:
        step = _common_step(float(size), step, smallest)
        if step < smallest:
            return None
    multiples = np.rint(values / step)
    # a least-squares step avoids the rounding errors of Euclid's algorithm
    step = math.fsum(times * multiples * values) / math.fsum(times * multiples * multiples)
    multiples = np.rint(values / step)
    on_it = bool((np.abs(values - multiples * step) <= _EQUAL * step).all())
    fits = (multiples.max() - multiples.min()) * _least_step(n) < 1.0
    if on_it and fits:
        return Lattice(step, multiples.astype(np.int64), times)
    return None


def _least_step(n: int) -> float:
    """Return the smallest step for a sum of n numbers, relative to their spread.

    With many items, only values near the mean are computed; see :func:`_law`.
    """
    return min(n, _SPREAD[0] * math.sqrt(n) + 2.0 * _SPREAD[1]) / MOST_POINTS


def _common_step(a: float, b: float, smallest: float) -> float:
    """Return the greatest common divisor of two positive numbers by Euclid's algorithm.

    The result is 0 if the divisor is below ``smallest``.
    """
    # a remainder within 1e-6 smallest steps of 0 or of the divisor is treated as 0
    nothing = 1e-6 * smallest
    while b > nothing:
        if b < (1.0 - _EQUAL) * smallest:
            return 0.0
        a, b = b, a % b
        if a - b <= nothing:
            b = 0.0
    return a


# ---- Draws with replacement


class _ExactSum:
    """The distribution of a sum of integers, with accurate tails."""

    start: int  #: first value of the distribution
    law: FloatArray  #: probabilities of the values from ``start``

    def _tail(self, edge: int) -> float:
        """Return P(value >= edge), using tilting if the tail is small."""
        if edge <= self.start:
            return 1.0
        # the absolute error is near 1e-16
        result = float(self.law[edge - self.start :].sum())
        if result >= _LEAST_PLAIN_TAIL:
            return min(result, 1.0)
        return self._tilted_tail(edge)

    def _tilted_tail(self, edge: int) -> float:
        """Return the small tail P(value >= edge)."""
        raise NotImplementedError


class DrawnSum(_ExactSum):
    """The sum of n draws with replacement from n integers."""

    def __init__(self, numbers: IntArray, times: IntArray | None = None) -> None:
        self.lowest = int(numbers.min())
        counts = np.bincount(numbers - self.lowest, times)
        self.n = int(counts.sum())
        self.chances = counts / self.n
        self.start, self.law = self._law(self.chances, float(self.chances @ np.arange(counts.size)))
        self.values = self.n * self.lowest + self.start + np.arange(self.law.size)

    def tail(self, edge: int) -> float:
        """Return P(sum >= edge)."""
        return self._tail(edge - self.n * self.lowest)

    def _tilted_tail(self, edge: int) -> float:
        """Return the small tail P(sum - n lowest >= edge)."""
        numbers = np.arange(self.chances.size)
        most = self.n * (self.chances.size - 1)
        if edge > most:
            return 0.0
        if edge == most:
            return float(self.chances[-1] ** self.n)
        with np.errstate(divide="ignore"):
            log_chances = np.log(self.chances)
        # tilt the distribution of one draw to move the mean of the sum to the edge
        theta = _tilt_to_mean(partial(_tilted_mean, log_chances, numbers), edge / self.n)
        middle = round(float(self.chances @ numbers))
        tilts = theta * (numbers - middle)
        highest = (log_chances + tilts).max()
        weights = np.exp(log_chances + tilts - highest)
        log_total = highest + np.log(weights.sum())
        if abs(log_total) < 0.5:  # so that the product with n is accurate
            log_total = np.log1p(self.chances @ np.expm1(tilts))
        # P(S >= edge) = total^n exp(-theta edge) sum of law(s) exp(-theta (s - edge)), s >= edge
        start, law = self._law(weights / weights.sum(), edge / self.n)
        back = _tilted_back(law, edge - start, theta)
        return float(np.exp(self.n * log_total - theta * (edge - self.n * middle)) * back)

    def _law(self, chances: FloatArray, mean: float) -> tuple[int, FloatArray]:
        """Return the smallest value and the distribution for the sum of n draws with this mean."""
        numbers = np.flatnonzero(chances)
        part = numbers, chances[numbers], self.n
        variance = float(chances[numbers] @ (numbers - mean) ** 2)
        return _law([part], self.n * mean, self.n * variance, self.n * (chances.size - 1))


def _tilted_back(law: FloatArray, edge: int, theta: float) -> float:
    """Return the sum of law(x) exp(-theta (x - edge)) over x >= edge."""
    law = law[max(edge, 0) :]
    farthest = np.inf
    if theta > 0.0:
        farthest = 800.0 / theta  # point at which exp(-theta x) underflows
    distances = np.minimum(np.arange(law.size, dtype=float) + max(-edge, 0), farthest)
    return float(law @ np.exp(-theta * distances))


def _tilted_mean(log_chances: FloatArray, numbers: AnyArray, theta: float) -> float:
    log_weights = log_chances + theta * numbers
    weights = np.exp(log_weights - log_weights.max())
    return float(weights @ numbers / weights.sum())


def _tilt_to_mean(mean: Callable[[float], float], target: float) -> float:
    """Return a theta >= 0 at which the increasing tilted mean is near the target."""
    # double the upper end, then bisect
    low, high = 0.0, 1.0
    while mean(high) < target:
        low = high
        high = 2.0 * high
        if high > _MOST_TILT:
            return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if mean(middle) < target:
            low = middle
        else:
            high = middle
    return high


Part = tuple[IntArray, FloatArray, int]  #: numbers, probabilities, and the number of terms


def _law(parts: list[Part], mean: float, variance: float, most: int) -> tuple[int, FloatArray]:
    """Return the first value and the distribution of a sum with values from 0 to ``most``.

    Values whose probability is smaller than the rounding error are omitted. Each number is centered
    at an integer near its mean, and log1p is applied to its characteristic function minus 1. The
    n-th power of this function is therefore accurate even for large n.
    """
    from scipy import fft

    widest = max((int(numbers.max()) for numbers, _, _ in parts), default=0)
    half = int(_SPREAD[0] * math.sqrt(max(variance, 0.0))) + _SPREAD[1] * widest + 1
    start = max(0, math.floor(mean) - half)
    stop = min(most, math.ceil(mean) + half)
    length = fft.next_fast_len(stop - start + 1, real=True)
    turn = 2.0 * np.pi * fft.fftfreq(length)  # angles around 0, at which sines are accurate
    less_one = -2.0 * np.sin(0.5 * turn) ** 2 - 1j * np.sin(turn)
    waves = np.arange(length // 2 + 1)
    size = np.zeros(waves.size)
    phase = np.zeros(waves.size)
    shift = start
    for numbers, chances, times in parts:
        if numbers.size > _MANY:
            with np.errstate(divide="ignore"):
                powers: Any = np.log(fft.rfft(np.bincount(numbers, chances), length)) * times
            size = size + powers.real
            phase = phase + powers.imag
            continue
        middle = round(float(chances @ numbers))
        added: Any = np.zeros(waves.size, dtype=complex)
        for x, p in zip((numbers - middle).tolist(), chances.tolist(), strict=True):
            added += p * less_one[x * waves % length]
        a, b = added.real, added.imag
        with np.errstate(divide="ignore"):
            size += 0.5 * times * np.log1p(np.maximum(2.0 * a + a * a + b * b, -1.0))
        phase += times * np.arctan2(b, 1.0 + a)
        shift -= times * middle
    transform = np.exp(size + 1j * (phase + turn[shift % length * waves % length]))
    law = fft.irfft(transform, length)[: stop - start + 1]
    return start, np.maximum(law, 0.0)


# ---- Random signs


class SignedSum(_ExactSum):
    """The sum of integers with random signs, + or - with probability 1/2 each."""

    def __init__(self, numbers: IntArray, times: IntArray | None = None) -> None:
        sizes = np.abs(numbers)
        self.sizes, place = np.unique(sizes[sizes > 0], return_inverse=True)
        if times is not None:
            times = times[sizes > 0]
        self.times = np.bincount(place, times, minlength=self.sizes.size).astype(np.int64)
        self.total = _dot(self.sizes, self.times)
        self.start, self.law = self._law(0.0)
        self.values = 2 * (self.start + np.arange(self.law.size)) - self.total

    def tail(self, edge: int) -> float:
        """Return P(sum >= edge).

        The sum is 2 P - total, where P is the sum of the numbers with a plus sign. The condition is
        therefore P >= (edge + total)/2, rounded up.
        """
        return self._tail(-(-(edge + self.total) // 2))

    def _tilted_tail(self, edge: int) -> float:
        """Return the small tail P(sum of the numbers with a plus sign >= edge)."""
        if edge > self.total:
            return 0.0
        if edge == self.total:
            return float(2.0 ** -float(self.times.sum()))
        theta = _tilt_to_mean(
            lambda theta: float(self.times @ (self.sizes * self._plus(theta))), edge
        )
        start, law = self._law(theta)
        # log E exp(theta P) is the sum of log((1 + exp(theta size)) / 2), without overflow
        log_total = float(self.times @ np.log1p(np.expm1(-theta * self.sizes) / 2.0)) + (
            theta * self.total
        )
        return float(np.exp(log_total - theta * edge) * _tilted_back(law, edge - start, theta))

    def _plus(self, theta: float) -> FloatArray:
        """Return the probability of a plus sign for each size under tilting."""
        return 1.0 / (1.0 + np.exp(-theta * self.sizes))

    def _law(self, theta: float) -> tuple[int, FloatArray]:
        """Return the smallest sum of plus-sign numbers, and the tilted distribution."""
        plus = self._plus(theta)
        if self.sizes.size > _MANY:
            return 0, self._convolved(plus)
        parts = [
            (np.array([0, size]), np.array([1.0 - p, p]), int(times))
            for size, p, times in zip(self.sizes, plus, self.times, strict=True)
        ]
        sizes = self.sizes.astype(float)
        mean = self.times @ (sizes * plus)
        variance = self.times @ (sizes**2 * plus * (1.0 - plus))
        return _law(parts, float(mean), float(variance), self.total)

    def _convolved(self, plus: FloatArray) -> FloatArray:
        """Return the tilted distribution for many sizes.

        Each size has a binomial distribution on multiples of the size. The two shortest
        distributions are convolved repeatedly until only one is left.
        """
        laws = []
        for size, times, p in zip(self.sizes, self.times, plus, strict=True):
            law = np.zeros(size * times + 1)
            law[::size] = _binomial(int(times), float(p))
            laws.append(law)
        return merged_by_size(laws, len, _plain_convolution)


def _binomial(n: int, chance: float) -> FloatArray:
    """Return the distribution of Binomial(n, chance)."""
    from rankeval_pd.stats import distributions as binomial

    if n == 1 or chance == 1.0:
        return np.array([*[0.0] * (n - 1), 1.0 - chance, chance])
    i = np.arange(n + 1.0)
    return np.exp(binomial.log_pmf(i, np.full(n + 1, float(n)), np.full(n + 1, chance)))


_DIRECT_LENGTH = 256  # direct convolution is faster up to this length of the shorter distribution


def _plain_convolution(a: FloatArray, b: FloatArray) -> FloatArray:
    from scipy import fft

    if min(a.size, b.size) <= _DIRECT_LENGTH:
        return np.convolve(a, b)
    points = a.size + b.size - 1
    length = fft.next_fast_len(points, real=True)
    law = fft.irfft(fft.rfft(a, length) * fft.rfft(b, length), length)[:points]
    return np.maximum(law, 0.0)


# -------------------------------------------------------------------------------------------------
# P-values for events, intervals and simultaneous p-values from resampled gains.
#
# ``gains`` holds the gain for one pair in each resample, or NaN where the metric is undefined.
# An undefined resample is treated conservatively: it counts as part of the event, and it lies
# beyond both limits of an interval.

#: for each event, the interval that excludes 0 if the p-value is significant.
DUAL = {"wild": "wild", "recentred": "basic", "strict": "basic", "zero": "percentile"}
_TOGETHER = 2**18  # number of values in a block of pairs that fits into the processor's cache
EQUAL = 1e-12  # tolerance for equal gains, relative to the scale of the score


def pair_blocks(which: IntArray, width: int) -> Iterator[IntArray]:
    """Yield blocks of pairs, given the number of values per pair."""
    size = max(1, _TOGETHER // max(width, 1))
    for start in range(0, which.size, size):
        yield which[start : start + size]


def happened(gains: FloatArray, gain: float, event: str, scale: float) -> int:
    """Count the resamples in which the event from section 2.2 occurred."""
    room = EQUAL * scale
    if event == "strict":
        inside = gains <= 2.0 * gain + room
    elif event == "zero":
        inside = gains > room
    else:
        inside = gains < 2.0 * gain - room
    return int(gains.size - np.count_nonzero(inside))  # NaN is treated as outside


def monte_carlo(hits: Any, n_resamples: int, event: str) -> Any:
    """Return p = (s + 1)/(b + 1), or p = s/b as printed in figure 1 of the paper."""
    if event == "strict":
        return hits / n_resamples
    return (hits + 1) / (n_resamples + 1)


# ---- intervals


def interval(kind: str, theta: float, samples: FloatArray, *, level: float) -> tuple[float, float]:
    """Return the limits of an interval for theta from resampled values."""
    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    low, high = (float(limit[0]) for limit in row_quantiles(samples[np.newaxis], tails))
    if kind == "basic":
        return 2.0 * theta - high, 2.0 * theta - low
    return low, high


def row_quantiles(
    samples: FloatArray, shares: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Return two linearly interpolated quantiles of each row; NaN values lie beyond both."""
    size = samples.shape[1]
    ranks = [share * (size - 1) for share in shares]
    needed = sorted({int(k) for rank in ranks for k in (np.floor(rank), np.ceil(rank))})
    ordered = np.partition(samples, needed, axis=1)
    undefined = np.isnan(samples)
    listed = []
    for rank, missing in zip(ranks, (-np.inf, np.inf), strict=True):
        if undefined.any():
            ordered = np.partition(np.where(undefined, missing, samples), needed, axis=1)
        low = ordered[:, int(np.floor(rank))]
        high = ordered[:, int(np.ceil(rank))]
        part = rank - np.floor(rank)
        if part > 0.0:
            with np.errstate(invalid="ignore"):
                between = np.where(np.isfinite(high), low + part * (high - low), high)
            low = np.where(np.isfinite(low), between, low)
        listed.append(low)
    return listed[0], listed[1]


def law_interval(
    kind: str,
    theta: float,
    values: FloatArray,
    chances: FloatArray,
    *,
    level: float,
) -> tuple[float, float]:
    """Return interval limits from the exact distribution of resampled values."""
    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    # each limit is read from its own side, so a mirrored distribution gives a mirrored interval
    low = float(values[int(np.argmax(np.cumsum(chances) >= tails[0] * (1.0 - 1e-12)))])
    last = int(np.argmax(np.cumsum(chances[::-1]) >= (1.0 - tails[1]) * (1.0 - 1e-12)))
    high = float(values[values.size - 1 - last])
    if kind == "basic":
        return 2.0 * theta - high, 2.0 * theta - low
    return low, high


# ---- errors


def gradients(sums: FloatArray, score: Score) -> FloatArray:
    """Return central-difference derivatives of the score for each sum: (..., statistic).

    A sum of 0 would also be 0 in similar data, so the derivative is set to 0.
    """
    result = np.zeros_like(sums)
    for k in range(sums.shape[-1]):
        step = 1e-6 * np.abs(sums[..., k])
        up, down = sums.copy(), sums.copy()
        up[..., k] += step
        down[..., k] -= step
        width = up[..., k] - down[..., k]
        with silent_division():
            result[..., k] = np.where(width > 0.0, (score(up) - score(down)) / width, 0.0)
    return result


# -------------------------------------------------------------------------------------------------
# The wild bootstrap under the null hypothesis draws random signs for the items' contributions.
#
# A score is a sum of contributions from items or clusters. For means and sums, this is exact; every
# other metric is linearized. If two systems are equally good, an item's contribution to the gain is
# equally likely to favor either system, so the sign is random (Wu 1986, Liu 1988; Cameron, Gelbach
# and Miller 2008 for clusters). The same signs can be used to test any other value of the gain. The
# values that are not rejected lie between quantiles of the gain on random subsets (Hartigan 1969),
# so the p-value and the interval come from one distribution.

LINEARISED = 1e-8  # accuracy of numeric derivatives, relative to the largest contribution
WHOLE = 1e-10  # accuracy without numeric derivatives


class Contributions(NamedTuple):
    """The contributions of items, or clusters, to the score of each system."""

    values: FloatArray  #: (system, drawn)
    weights: FloatArray  #: (drawn,): contribution to a shift of the score
    unit: float  #: contribution to the score per unit of ``values``
    accuracy: float  #: relative accuracy of ``values``


def contributions(items: Items) -> Contributions:
    """Return contributions of items, or clusters, that sum to the scores."""
    drawn = items.drawn
    weights = np.ones(drawn.shape[1])
    if items.cluster is not None:
        weights = np.bincount(items.cluster).astype(float)
    if items.unit is not None:
        return Contributions(items.sign * drawn[..., 0], weights, items.unit, WHOLE)
    # any other metric, from its derivatives
    if items.linear == "mean":
        weights = mean_weights(drawn)
    added = first_order(drawn, gradients(items.totals, items.score))
    about = items.score(items.totals) - exact_total(added)
    values = items.sign * (added + weights / float(exact_total(weights)) * about[:, np.newaxis])
    if items.drawn_strata is not None:
        values = resamples.within_strata(values, weights, items.drawn_strata)
    return Contributions(values, weights, 1.0, LINEARISED)


def mean_weights(drawn: FloatArray) -> FloatArray:
    """Return the mean of the second statistic over systems, summed in a fixed order."""
    summed = np.zeros(drawn.shape[1])
    for own in drawn[..., 1]:
        summed += own
    return summed / len(drawn)


def first_order(drawn: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return the sum of statistics (system, drawn, statistic) times slopes."""
    added = np.zeros(drawn.shape[:2])
    for k in range(drawn.shape[2]):  # the order of summation does not depend on the shape
        added += drawn[..., k] * slopes[:, k, np.newaxis]
    return added


class Subsets(NamedTuple):
    """Sums of contributions over random subsets of items with flipped signs."""

    values: FloatArray  #: (system, subset)
    weights: FloatArray  #: (subset,)
    every: bool  #: whether every subset occurs exactly once


def limits(
    sums: FloatArray,
    weights: FloatArray,
    factor: float,
    *,
    every: bool,
    level: float,
    room: FloatArray,
) -> Limits:
    """Return the range of scores not rejected by random signs at 1 - level.

    ``sums`` are (pair, subset), ``weights`` are (subset,), and ``room`` and the limits are (pair,).

    A score s is rejected as too low if the proportion of subsets with a score of at most s is at
    most (1 - level) / 2. One is added to both counts unless all subsets are enumerated. The empty
    subset is compatible with any score. With few items, a limit can be infinite.
    """
    undefined = np.isnan(sums).any(axis=1)
    added = int(not every)
    filled = weights > 0.0
    used = sums[:, filled]
    scores = factor * used / weights[filled]
    scores[np.abs(used) <= room[:, np.newaxis]] = 0.0
    tail = (1.0 - level) / 2.0 * (weights.size + added)
    most = int(np.floor(tail * (1.0 + 1e-12))) - added - int(np.count_nonzero(~filled))
    if most < 0:
        low, high = np.full((2, len(sums)), [[-np.inf], [np.inf]])
    else:
        last = scores.shape[1] - 1 - most
        if most > last:  # at very low levels, every score is rejected: return the middle
            most = last = (scores.shape[1] - 1) // 2
        low, high = np.partition(scores, [most, last], axis=1)[:, [most, last]].T
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


LEAST = 10_000  # default number of resamples


MORE = 8  # the number of resamples grows by at most this factor if a pair is undecided


_DECIDING = 10  # expected number of resamples beyond the critical value


def needed_resamples(options: PairOptions, n_pairs: int) -> int:
    """Return the smallest number of resamples with which a p-value can be at most alpha."""
    if options.simultaneous:
        return _whole_draws(options.n_alike / options.alpha) - 1
    tests = 1.0
    family = n_pairs * options.n_alike
    if options.adjust is not None:
        tests = float(family)
    if options.adjust == "by":
        tests *= float((1.0 / np.arange(1, family + 1)).sum())
    return _whole_draws(options.tails * tests / options.alpha) - 1


def _whole_draws(draws: float) -> int:
    """Round up a number of draws, capped at 2^62 (too many to fit in memory)."""
    return int(min(np.ceil(draws * (1.0 - 1e-12)), 2.0**62))


def with_resamples(options: PairOptions, n_pairs: int) -> PairOptions:
    """Return the options with the number of resamples that the tests require."""
    if options.n_resamples:
        return options
    deciding = _DECIDING * (needed_resamples(options, n_pairs) + 1)
    tests = 1
    if options.adjust in ADJUSTMENTS:
        tests = n_pairs  # limits lie farther out in the tails
    if options.adjust is not None:
        tests *= options.n_alike
    limiting = _whole_draws(_DECIDING * options.tails * tests / (1.0 - options.level))
    first = max(LEAST, deciding, limiting)
    most = 0
    if options.adjust is not None:
        most = MORE * first
    return replace(options, n_resamples=first, most=most)


def check_enough(options: PairOptions, n_pairs: int) -> None:
    """Raise a ValueError if there are too few resamples for significant adjusted p-values."""
    needed = 0
    if options.adjust is not None:
        needed = needed_resamples(options, n_pairs)
    if options.n_resamples >= needed:
        return
    raise ValueError(
        f"n_resamples={options.n_resamples} cannot reach alpha={options.alpha:g} with"
        f" adjust={options.adjust!r} for {n_pairs * options.n_alike} tests. Pass"
        f" n_resamples={needed} or more, or None for the required number."
    )
