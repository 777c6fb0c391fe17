"""Bisection of whole numbers, for whole arrays of questions at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray


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
