"""Exact distributions of lattice sums, for resampled items or random signs.

Small tail probabilities are computed by exponential tilting. The weights exp(theta s) move the mean
of the distribution to the edge of the tail, where the convolution is accurate. The weights are then
removed. The relative error is about one rounding error per item, even for tiny tails.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray

MOST_POINTS = 1_000_000  # number of computed values in a distribution: 8 MB
_MANY = 64  # number of different values above which distributions are convolved
_LEAST_PLAIN_TAIL = 0.01  # larger tails need no tilting
_SAMPLE_SIZE = 4096  # number of differences that usually suffices to exclude a lattice
_ROUNDING = 1e-12  # numbers within this relative difference are treated as equal
_SPREAD = 12.0, 40  # distance from the mean beyond which the probability is below 1e-20
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
        n, total = int(self.times.sum()), self.total
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

    def negative(self) -> NumberCounts:
        """Return the numbers with their signs reversed."""
        return NumberCounts(-self.values[::-1], self.times[::-1])


def count_numbers(differences: FloatArray, of_items: int) -> NumberCounts | None:
    """Return distinct differences and their counts; None if no lattice is possible.

    The differences can come from only some of the ``of_items`` items.
    """
    # check a sample first, because np.unique would sort all differences
    step = differences.size // _SAMPLE_SIZE
    if step > 1 and has_no_lattice(np.unique(differences[::step]), of_items):
        return None
    values, times = np.unique(differences, return_counts=True)
    return None if has_no_lattice(values, of_items) else NumberCounts(values, times)


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
    found = count_numbers(differences, differences.size)
    return None if found is None else lattice_of(found)


def lattice_of(found: NumberCounts) -> Lattice | None:
    """Return the lattice for counted differences."""
    values, times = found
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
    return Lattice(step, multiples.astype(np.int64), times) if on_it and fits else None


def _least_step(n: int) -> float:
    """Return the smallest step for a sum of n numbers, relative to their spread.

    With many items, only values near the mean are computed; see :func:`_law`.
    """
    return min(n, _SPREAD[0] * math.sqrt(n) + 2.0 * _SPREAD[1]) / MOST_POINTS


def off_lattice(differences: FloatArray) -> BoolArray:
    """Return the rows for which :func:`lattice` is certainly None: (row, number) -> (row).

    For real-valued differences, the two smallest absolute values usually have no common step.
    """
    sizes = np.abs(differences)
    smallest = np.where(sizes > 0.0, sizes, np.inf).min(axis=1)
    next_one = np.where(sizes > smallest[:, np.newaxis], sizes, np.inf).min(axis=1)
    spread = differences.max(axis=1) - differences.min(axis=1)
    largest = sizes.max(axis=1)
    spread = np.where(spread <= _ROUNDING * largest, largest, spread)
    result = np.zeros(len(differences), dtype=bool)
    several = np.flatnonzero(np.isfinite(next_one))
    least = spread[several] * _least_step(differences.shape[1])
    result[several] = _common_steps(next_one[several], smallest[several], least) < least
    return result


def _common_steps(a: FloatArray, b: FloatArray, smallest: FloatArray) -> FloatArray:
    """Return :func:`_common_step` for all pairs at once."""
    a, b = a.copy(), b.copy()
    nothing = 1e-6 * smallest
    going = np.arange(a.size)
    while (going := going[b[going] > nothing[going]]).size:
        few = b[going] < (1.0 - _EQUAL) * smallest[going]
        a[going[few]], b[going[few]] = 0.0, 0.0
        going = going[~few]
        rest = a[going] % b[going]
        a[going] = b[going]
        b[going] = np.where(b[going] - rest <= nothing[going], 0.0, rest)
    return a


def _common_step(a: float, b: float, smallest: float) -> float:
    """Return the greatest common divisor of two positive numbers by Euclid's algorithm.

    The result is 0 if the divisor is below ``smallest``.
    """
    # a remainder within 1e-6 smallest steps of 0 or of the divisor is treated as 0
    nothing = 1e-6 * smallest
    while b > nothing:
        if b < (1.0 - _EQUAL) * smallest:
            return 0.0
        rest = a % b
        a, b = b, 0.0 if b - rest <= nothing else rest
    return a


# -------------------------------------------------------------------------- Draws with replacement


class DrawnSum:
    """The sum of n draws with replacement from n integers."""

    def __init__(self, numbers: IntArray, times: IntArray | None = None) -> None:
        self.n = int(numbers.size if times is None else times.sum())
        self.lowest = int(numbers.min())
        counts = np.bincount(numbers - self.lowest, times)
        self.chances = counts / self.n
        self.start, self.law = self._law(self.chances, float(self.chances @ np.arange(counts.size)))
        self.values = self.n * self.lowest + self.start + np.arange(self.law.size)

    def tail(self, edge: int) -> float:
        """Return P(sum >= edge), using tilting if the tail is small."""
        place = edge - self.n * self.lowest
        plain = _plain_tail(self.law, place - self.start)
        return self._tilted_tail(place) if plain is None else plain

    def _tilted_tail(self, edge: int) -> float:
        """Return the small tail P(sum - n lowest >= edge)."""
        numbers, most = np.arange(self.chances.size), self.n * (self.chances.size - 1)
        if edge >= most:
            return float(self.chances[-1] ** self.n) if edge == most else 0.0
        with np.errstate(divide="ignore"):
            log_chances = np.log(self.chances)
        # tilt the distribution of one draw to move the mean of the sum to the edge
        theta = _tilt(lambda theta: _tilted_mean(log_chances, numbers, theta), edge / self.n)
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


def _plain_tail(law: FloatArray, edge: int) -> float | None:
    """Return the tail with absolute errors near 1e-16; None if the tail is small."""
    if edge <= 0:
        return 1.0
    result = float(law[edge:].sum())
    return min(result, 1.0) if result >= _LEAST_PLAIN_TAIL else None


def _tilted_back(law: FloatArray, edge: int, theta: float) -> float:
    """Return the sum of law(x) exp(-theta (x - edge)) over x >= edge."""
    law = law[max(edge, 0) :]
    farthest = 800.0 / theta if theta > 0.0 else np.inf  # point at which exp(-theta x) underflows
    distances = np.minimum(np.arange(law.size, dtype=float) + max(-edge, 0), farthest)
    return float(law @ np.exp(-theta * distances))


def _tilted_mean(log_chances: FloatArray, numbers: AnyArray, theta: float) -> float:
    log_weights = log_chances + theta * numbers
    weights = np.exp(log_weights - log_weights.max())
    return float(weights @ numbers / weights.sum())


def _tilt(mean: Callable[[float], float], target: float) -> float:
    """Return a theta >= 0 at which the increasing tilted mean is near the target."""
    # double the upper end, then bisect
    low, high = 0.0, 1.0
    while mean(high) < target:
        low, high = high, 2.0 * high
        if high > 700.0:
            return high
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if mean(middle) < target else (low, middle)
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
    start, stop = max(0, math.floor(mean) - half), min(most, math.ceil(mean) + half)
    length = fft.next_fast_len(stop - start + 1, real=True)
    turn = 2.0 * np.pi * fft.fftfreq(length)  # angles around 0, at which sines are accurate
    less_one, waves = -2.0 * np.sin(0.5 * turn) ** 2 - 1j * np.sin(turn), np.arange(length // 2 + 1)
    size, phase, shift = np.zeros(waves.size), np.zeros(waves.size), start
    for numbers, chances, times in parts:
        if numbers.size > _MANY:
            with np.errstate(divide="ignore"):
                powers: Any = np.log(fft.rfft(np.bincount(numbers, chances), length)) * times
            size, phase = size + powers.real, phase + powers.imag
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
    return start, np.asarray(np.maximum(law, 0.0))


# ------------------------------------------------------------------------------------ Random signs


class SignedSum:
    """The sum of integers with random signs, + or - with probability 1/2 each."""

    def __init__(self, numbers: IntArray, times: IntArray | None = None) -> None:
        sizes = np.abs(numbers)
        self.sizes, place = np.unique(sizes[sizes > 0], return_inverse=True)
        often = None if times is None else times[sizes > 0]
        self.times = np.bincount(place, often, minlength=self.sizes.size).astype(np.int64)
        self.total = _dot(self.sizes, self.times)
        self.start, self.law = self._law(0.0)
        self.values = 2 * (self.start + np.arange(self.law.size)) - self.total

    def tail(self, edge: int) -> float:
        """Return P(sum >= edge).

        The sum is 2 P - total, where P is the sum of the numbers with a plus sign. The condition is
        therefore P >= (edge + total)/2, rounded up.
        """
        place = -(-(edge + self.total) // 2)
        plain = _plain_tail(self.law, place - self.start)
        return self._tilted_tail(place) if plain is None else plain

    def _tilted_tail(self, edge: int) -> float:
        """Return the small tail P(sum of the numbers with a plus sign >= edge)."""
        if edge >= self.total:
            return float(2.0 ** -float(self.times.sum())) if edge == self.total else 0.0
        theta = _tilt(lambda theta: float(self.times @ (self.sizes * self._plus(theta))), edge)
        start, law = self._law(theta)
        # log E exp(theta P) is the sum of log((1 + exp(theta size)) / 2), without overflow
        log_total = float(self.times @ np.log1p(np.expm1(-theta * self.sizes) / 2.0)) + (
            theta * self.total
        )
        return float(np.exp(log_total - theta * edge) * _tilted_back(law, edge - start, theta))

    def _plus(self, theta: float) -> FloatArray:
        """Return the probability of a plus sign for each size under tilting."""
        return np.asarray(1.0 / (1.0 + np.exp(-theta * self.sizes)))

    def _law(self, theta: float) -> tuple[int, FloatArray]:
        """Return the smallest sum of plus-sign numbers, and the tilted distribution."""
        plus = self._plus(theta)
        if self.sizes.size > _MANY:
            return 0, self._convolved(plus)
        parts: list[Part] = [
            (np.array([0, size]), np.array([1.0 - p, p]), times)
            for size, p, times in zip(
                self.sizes.tolist(), plus.tolist(), self.times.tolist(), strict=True
            )
        ]
        sizes = self.sizes.astype(float)
        mean, variance = self.times @ (sizes * plus), self.times @ (sizes**2 * plus * (1.0 - plus))
        return _law(parts, float(mean), float(variance), self.total)

    def _convolved(self, plus: FloatArray) -> FloatArray:
        """Return the tilted distribution for many sizes.

        Each size has a binomial distribution on multiples of the size. The two shortest
        distributions are convolved repeatedly until only one is left. A serial number breaks ties,
        so that distributions are never compared.
        """
        queue: list[tuple[int, int, FloatArray]] = []
        for number, (size, times, p) in enumerate(zip(self.sizes, self.times, plus, strict=True)):
            law = np.zeros(size * times + 1)
            law[::size] = _binomial(int(times), float(p))
            queue.append((law.size, number, law))
        heapq.heapify(queue)
        number = len(queue)
        while len(queue) > 1:
            law = _convolved(heapq.heappop(queue)[2], heapq.heappop(queue)[2])
            number += 1
            heapq.heappush(queue, (law.size, number, law))
        return queue[0][2]


def _binomial(n: int, chance: float) -> FloatArray:
    """Return the distribution of Binomial(n, chance)."""
    from rankeval_pd.stats.distributions import binomial

    if n == 1 or chance == 1.0:
        return np.array([*[0.0] * (n - 1), 1.0 - chance, chance])
    i = np.arange(n + 1.0)
    return np.exp(binomial.log_pmf(i, np.full(n + 1, float(n)), np.full(n + 1, chance)))


_DIRECT_LENGTH = 256  # direct convolution is faster up to this length of the shorter distribution


def _convolved(a: FloatArray, b: FloatArray) -> FloatArray:
    from scipy import fft

    if min(a.size, b.size) <= _DIRECT_LENGTH:
        return np.convolve(a, b)
    points = a.size + b.size - 1
    length = fft.next_fast_len(points, real=True)
    law = fft.irfft(fft.rfft(a, length) * fft.rfft(b, length), length)[:points]
    return np.asarray(np.maximum(law, 0.0))
