"""What items' contributions add up to: sums, squares and largest ones, whatever their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.exact_sums import Sums, exact_sums

_TOGETHER = 1_000_000  # differences of pairs that are in memory together
_WIDE = 2**12  # of these, as many of each row


class Level(NamedTuple):
    """How large the contributions of systems are."""

    sums: FloatArray  #: (system,)
    sizes: FloatArray  #: (system,): the largest absolute contribution
    weight: float  #: the sum of the weights

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray) -> Level:
        """Return the level of contributions (system, drawn) with these weights (drawn,)."""
        summed = exact_sums(np.vstack([values, weights])).rounded()
        return cls(summed[:-1], sizes_of(values), float(summed[-1]))


class Spread(NamedTuple):
    """Sums of squared contributions: of systems less their mean, and of the pairs' differences."""

    systems: FloatArray  #: (system,)
    pairs: FloatArray  #: (pair,): less their mean
    raw: FloatArray  #: (pair,): as they are; none where they are not asked for


def sizes_of(values: FloatArray) -> FloatArray:
    """Return the largest absolute number of each row, 0 of none, NaN where there is one."""
    return np.asarray(np.abs(values).max(axis=1, initial=0.0))


def squares(
    values: FloatArray, weights: FloatArray, level: Level, pairs: IntArray, *, raw: bool
) -> Sums:
    """Return the sums of squares of contributions (system, drawn): see :func:`spread_of`."""
    own = np.arange(len(values))[:, np.newaxis]
    asked = [(own, True), (pairs, True)] + ([(pairs, False)] if raw else [])
    width = min(max(values.shape[1], 1), _WIDE)
    height = max(1, _TOGETHER // width)
    found = []
    for of, centred in asked:
        for start in range(0, len(of), height):
            rows = of[start : start + height]
            found.append(_squared(values, weights, level, rows, width, centred=centred))
    return Sums(
        np.concatenate([x.wholes for x in found]), np.concatenate([x.undefined for x in found])
    )


def _squared(
    values: FloatArray,
    weights: FloatArray,
    level: Level,
    rows: IntArray,
    width: int,
    *,
    centred: bool,
) -> Sums:
    """Return the sums of squares of some systems, (row, 1), or of some pairs, (row, 2)."""
    gains = _less(level.sums, rows)[:, np.newaxis]
    found = None
    for start in range(0, max(values.shape[1], 1), width):
        part = slice(start, start + width)
        numbers = _less(values[:, part], rows)
        if centred:
            numbers = numbers - weights[part] / level.weight * gains
        added = exact_sums(np.square(numbers))
        found = added if found is None else found.plus(added)
    assert found is not None
    return found


def _less(values: FloatArray, rows: IntArray) -> FloatArray:
    """Return the values of systems, or those of the first of a pair less those of the second."""
    return values[rows[:, 0]] if rows.shape[1] == 1 else values[rows[:, 0]] - values[rows[:, 1]]


def spread_of(summed: Sums, systems: int, pairs: int) -> Spread:
    """Return the sums of squares by what they are of."""
    found = summed.rounded()
    return Spread(found[:systems], found[systems : systems + pairs], found[systems + pairs :])
