"""What items' contributions add up to: sums, squares and largest ones, whatever their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.exact_sums import Sums, exact_sums

_TOGETHER = 1_000_000  # differences of pairs that are in memory together


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
    step = max(1, _TOGETHER // (len(values) + 2 * len(pairs)))
    found = None
    for start in range(0, max(values.shape[1], 1), step):
        part = slice(start, start + step)
        own, w = values[:, part], weights[part]
        share = w / level.weight
        differences = own[pairs[:, 0]] - own[pairs[:, 1]]
        gains = (level.sums[pairs[:, 0]] - level.sums[pairs[:, 1]])[:, np.newaxis]
        rows = [own - share * level.sums[:, np.newaxis], differences - share * gains]
        rows += [differences] if raw else []
        added = exact_sums(np.square(np.concatenate(rows)))
        found = added if found is None else found.plus(added)
    assert found is not None
    return found


def spread_of(summed: Sums, systems: int, pairs: int) -> Spread:
    """Return the sums of squares by what they are of."""
    found = summed.rounded()
    return Spread(found[:systems], found[systems : systems + pairs], found[systems + pairs :])
