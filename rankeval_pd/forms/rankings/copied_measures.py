"""Count measures with identical rankings only once in a family of tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.rankings.copies import same_order


class SameOrder(NamedTuple):
    """Store the measures that rank all candidates identically."""

    first: IntArray  #: for each measure, the first measure with the same ranking
    named: bool  #: whether the user named the measures


def known_copies(score: FloatArray, *, named: bool) -> SameOrder | None:
    """Return the measures with identical rankings, or None."""
    first = same_order(score)
    return SameOrder(first, named) if (first != np.arange(first.size)).any() else None


def count_distinct(pairs: Sequence[Any], stands: IntArray | None) -> int:
    """Count distinct tests of pairs, excluding pairs of identical rankings."""
    return len(pairs) if stands is None else max(len({*stands.tolist()} - {-1}), 1)
