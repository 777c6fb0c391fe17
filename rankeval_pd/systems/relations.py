"""Which two systems are related? Labels for pairs, from the families of the systems."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed, unknown_name
from rankeval_pd.forms import tables
from rankeval_pd.forms.item_answers import Relate
from rankeval_pd.stats._types import AnyArray, IntArray

Families = Mapping[Hashable, Any] | Sequence[Any] | Callable[[Any, Any], Any]


def relation_of(families: Families) -> Relate:
    """Return the function that gives the relation of each pair of systems."""

    def relate(systems: list[Hashable], pairs: IntArray) -> AnyArray:
        if callable(families) and not isinstance(families, Mapping):
            return tables.labels([families(systems[i], systems[j]) for i, j in pairs])
        label = _family_of(families, systems, {systems[k] for k in np.unique(pairs)})
        same = [label[systems[i]] == label[systems[j]] for i, j in pairs]
        return tables.labels(["same" if x else "different" for x in same])

    return relate


def _family_of(
    families: Mapping[Hashable, Any] | Sequence[Any],
    systems: list[Hashable],
    needed: set[Hashable],
) -> Mapping[Hashable, Any]:
    """Return the family of each system, by name."""
    if isinstance(families, pd.Series):
        families = families.to_dict()
    if isinstance(families, Mapping):
        for name in systems:
            if name in needed and name not in families:
                raise unknown_name("families", name, families)
        return families
    if isinstance(families, str) or not np.iterable(families) or len(families) != len(systems):
        raise ValueError(
            f"families={families!r}: give a label for each of the {len(systems)} systems"
            f" {listed(systems)}, as a mapping or in this order, or a function of two names."
        )
    return dict(zip(systems, families, strict=True))
