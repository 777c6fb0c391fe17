"""Quantiles of intervals, and bisection of whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray

# -------------------------------------------------------------------------------------------------
# The quantiles of intervals: of the normal distribution, and of Student's.


def z_of(level: float) -> float:
    """Return how many standard deviations either side of the mean hold this share."""
    from scipy import special

    return -float(special.ndtri((1.0 - level) / 2.0))


def t_of(freedom: Any, level: float) -> FloatArray:
    """Return how many standard errors either side hold this share, by Student's distribution.

    Of the lower tail: close to 1, the upper one is not to be told from 1.
    """
    from scipy import special

    return -np.asarray(special.stdtrit(freedom, (1.0 - level) / 2.0), dtype=np.float64)


# -------------------------------------------------------------------------------------------------
# Bisection of whole numbers, for whole arrays of questions at once.


def first_true(
    predicate: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the least whole number in [low, high] where the rising predicate holds, else high."""
    low, high = low.copy(), np.maximum(low, high)
    while bool((low < high).any()):
        middle = np.floor(0.5 * (low + high))
        result = predicate(middle)
        high = np.where((low < high) & result, middle, high)
        low = np.where((low < high) & ~result, middle + 1.0, low)
    return high


def first_near(
    predicate: Callable[[FloatArray], BoolArray],
    low: FloatArray,
    high: FloatArray,
    guess: FloatArray,
) -> FloatArray:
    """Return what :func:`first_true` does, looked for around a guess.

    From the guess the steps grow fourfold until the change lies between two of them, which are
    halved then: the cost is that of the logarithm of how far off the guess is.
    """
    guess = np.clip(np.floor(guess), low, np.maximum(low, high))
    below = predicate(guess)
    high = np.where(below, guess, np.maximum(low, high))
    low = np.where(below, low, np.minimum(guess + 1.0, high))
    step = 1.0
    while bool((low < high).any()):
        step *= 4.0
        middle = np.floor(0.5 * (low + high))
        probe = np.where(
            below, np.maximum(high - step, middle), np.minimum(low + step - 1.0, middle)
        )
        result = predicate(probe)
        high = np.where((low < high) & result, probe, high)
        low = np.where((low < high) & ~result, probe + 1.0, low)
    return high
