"""Intervals of the difference of two proportions of the same items."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray
from rankeval_pd.stats.distributions.normal import z_of
from rankeval_pd.stats.intervals.proportions import wilson

Counts = tuple[int, int, int, int]  # both right, only a, only b, neither


def cells(a: FloatArray, b: FloatArray) -> Counts:
    """Return how often both are 1, only a, only b, neither."""
    right_a, right_b = a == 1.0, b == 1.0
    return (
        int(np.count_nonzero(right_a & right_b)),
        int(np.count_nonzero(right_a & ~right_b)),
        int(np.count_nonzero(~right_a & right_b)),
        int(np.count_nonzero(~right_a & ~right_b)),
    )


def tango(counts: Counts, level: float) -> tuple[float, float]:
    """Return Tango's score interval of the difference of paired proportions (1998).

    The differences that the score test does not reject; at 0 it is McNemar's without correction.
    """
    _, only_a, only_b, _ = counts
    n = float(sum(counts))
    z = z_of(level)

    def score(delta: float) -> float:
        """Return the score statistic, which falls as delta rises."""
        # the most likely share of items that only b has right, given the difference
        linear = -only_a - only_b + (2.0 * n - only_a + only_b) * delta
        constant = -only_b * delta * (1.0 - delta)
        root = np.sqrt(max(linear * linear - 8.0 * n * constant, 0.0))
        share = max((root - linear) / (4.0 * n), 0.0, -delta)
        variance = n * (2.0 * share + delta * (1.0 - delta))
        excess = only_a - only_b - n * delta
        if variance <= 0.0:
            return 0.0 if excess == 0.0 else float(np.copysign(np.inf, excess))
        return float(excess / np.sqrt(variance))

    estimate = (only_a - only_b) / n
    low = _bisected(lambda delta: score(delta) > z, -1.0, estimate)
    high = _bisected(lambda delta: score(delta) >= -z, estimate, 1.0)
    return low, high


def _bisected(below: object, low: float, high: float) -> float:
    """Return where a condition that holds below some point ceases to hold."""
    assert callable(below)
    if not below(low):
        return low
    if below(high):
        return high
    for _ in range(200):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2.0


def newcombe(counts: Counts, level: float) -> tuple[float, float]:
    """Return Newcombe's hybrid score interval of paired proportions (1998, method 10)."""
    both, only_a, only_b, neither = counts
    n = sum(counts)
    right = np.array([both + only_a, both + only_b])
    share = right / n
    low, high = wilson(right, np.array([n, n]), level)
    below, above = share - low, high - share
    product = float(np.prod(right) * np.prod(n - right))
    covered = float(both * neither - only_a * only_b)
    if covered > 0.0:  # corrected for continuity
        covered = max(covered - n / 2.0, 0.0)
    phi = covered / np.sqrt(product) if product > 0.0 else 0.0
    gain = float(share[0] - share[1])
    lower = below[0] ** 2 - 2.0 * phi * below[0] * above[1] + above[1] ** 2
    upper = above[0] ** 2 - 2.0 * phi * above[0] * below[1] + below[1] ** 2
    return gain - float(np.sqrt(max(lower, 0.0))), gain + float(np.sqrt(max(upper, 0.0)))


def are_binary(values: FloatArray) -> bool:
    """Return whether all values are 0 or 1."""
    result: BoolArray = (values == 0.0) | (values == 1.0)
    return bool(result.all())
