"""Products, differences and quotients with twice the digits of a float (Dekker 1971).

Rounded once at the end, the results do not depend on the order of the factors, and equal quotients
of different counts are equal floats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray

_SPLITTER = 2.0**27 + 1.0  # splits a float into two halves of at most 26 bits


class Exact(NamedTuple):
    """A number as the sum of a float and its rounding error."""

    high: FloatArray
    low: FloatArray | float = 0.0


def product(*factors: FloatArray | Exact) -> Exact:
    """Return the product of floats and other products."""
    result, *others = (x if isinstance(x, Exact) else Exact(x) for x in factors)
    for other in others:
        high = result.high * other.high
        (a, b), (c, d) = _halves(result.high), _halves(other.high)
        low = ((a * c - high) + a * d + b * c) + b * d
        low = low + (result.high * other.low + result.low * other.high)
        result = Exact(high + low, low - ((high + low) - high))
    return result


def _halves(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    scaled = _SPLITTER * x
    upper = scaled - (scaled - x)
    return upper, x - upper


def difference(a: Exact, b: Exact) -> Exact:
    """Return a - b, whose leading digits can cancel."""
    high = a.high - b.high
    part = high - a.high
    low = ((a.high - (high - part)) - (b.high + part)) + (a.low - b.low)
    return Exact(high + low, low - ((high + low) - high))


def root(x: Exact) -> Exact:
    """Return the square root of a positive number, or 0."""
    near = np.sqrt(x.high)
    rest = difference(x, product(near, near)).high
    return Exact(near, rest / np.where(near > 0.0, 2.0 * near, 1.0))


def quotient(above: FloatArray | Exact, below: FloatArray | Exact) -> FloatArray:
    """Return above / below, which is NaN for 0/0 and infinite for any other number / 0."""
    above, below = product(above), product(below)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = above.high / below.high
        rest = difference(above, product(below, near)).high / below.high
    return np.where(np.isfinite(near), near + rest, near)
