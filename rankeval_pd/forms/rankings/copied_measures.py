"""Count measures with identical rankings only once in a family of tests."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from rankeval_pd.forms.roles.copies import warn_of_same_order
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.rankings.copies import same_order, stands_for

Pair = tuple[Hashable, Hashable]
ORDERS = ("order_a", "order_b")  # temporary columns with the ranking numbers for each pair


class SameOrder(NamedTuple):
    """Store the measures that rank all candidates identically."""

    first: IntArray  #: for each measure, the first measure with the same ranking
    named: bool  #: whether the user named the measures


def known_copies(score: FloatArray, *, named: bool) -> SameOrder | None:
    """Return the measures with identical rankings, or None."""
    first = same_order(score)
    return SameOrder(first, named) if (first != np.arange(first.size)).any() else None


def distinct_pairs(
    inner: xr.Dataset, pairs: Sequence[Pair], alternative: str = "two-sided", *, said: bool = False
) -> IntArray | None:
    """Return, for each pair, the first pair with the same two rankings.

    Pairs of identical rankings get -1. The result is None if no two measures rank all candidates
    identically. If the user did not name the measures, the function warns once.
    """
    orders = _orders(inner, pairs)
    if orders is None:
        return None
    same = inner.attrs["same"]
    if not (same.named or said):
        warn_of_same_order(inner.indexes["measure"].tolist(), same.first.tolist())
    return stands_for(*orders, ordered=alternative != "two-sided")


def count_distinct(pairs: Sequence[Any], stands: IntArray | None) -> int:
    """Count distinct tests of pairs, excluding pairs of identical rankings."""
    return len(pairs) if stands is None else max(len({*stands.tolist()} - {-1}), 1)


def with_orders(result: xr.Dataset, inner: xr.Dataset, pairs: Sequence[Pair]) -> xr.Dataset:
    """Add numbers for distinct rankings if two measures have the same ranking."""
    orders = _orders(inner, pairs)
    if orders is None:
        return result
    return result.assign({name: ("pair", x) for name, x in zip(ORDERS, orders, strict=True)})


def _orders(inner: xr.Dataset, pairs: Sequence[Pair]) -> tuple[IntArray, IntArray] | None:
    same = inner.attrs.get("same")
    if same is None:
        return None
    measures = inner.indexes["measure"].tolist()
    a, b = (same.first[[measures.index(pair[side]) for pair in pairs]] for side in (0, 1))
    return a, b
