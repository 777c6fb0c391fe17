"""The law of a random list, in fractions."""

from __future__ import annotations

import math
from fractions import Fraction


def tail(i: int, n: int, total: int, positive: int) -> Fraction:
    """Return P(X > i) of a random list of n."""
    counts = range(max(i + 1, 0), min(n, positive) + 1)
    ways = sum(math.comb(positive, j) * math.comb(total - positive, n - j) for j in counts)
    return Fraction(ways, math.comb(total, n))
