"""Refuse labels that mix text with other types, because 7 and "7" would be two labels."""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Set as AbstractSet

import pandas as pd

#: the roles whose columns identify or group rows
IDENTIFYING = (
    "by", "groups", "strata", "seeds", "key", "label", "item", "system", "measure",
)  # fmt: skip


def check_types(labels: pd.Series | pd.Index, role: str, name: Hashable) -> None:
    """Raise a TypeError if labels mix text with other types."""
    if isinstance(labels.dtype, pd.CategoricalDtype):
        labels = labels.drop_duplicates().astype(object)  # unused categories are no labels
    if labels.dtype == object and pd.api.types.infer_dtype(labels) != "string":
        check_kinds({type(x) for x in labels.dropna()}, role, name)


def check_kinds(kinds: AbstractSet[type], role: str, name: Hashable) -> None:
    """Raise a TypeError if the types of the labels are text and others."""
    if len({issubclass(kind, str) for kind in kinds}) > 1:
        raise mixed_types(kinds, role, name)


def mixed_types(kinds: AbstractSet[type], role: str, name: Hashable) -> TypeError:
    """Return the error for labels of several types."""
    return TypeError(
        f"{role}={name!r} mixes names of types {', '.join(sorted(x.__name__ for x in kinds))}: 7"
        " and '7' would be two. Convert the names to one type, data[...].astype(str), or read them"
        f" as text: pd.read_csv(..., dtype={{{name!r}: str}})."
    )


def check_levels(labels: pd.Index) -> None:
    """Raise a TypeError if a named level of an index mixes text with other types."""
    for level, name in enumerate(labels.names):
        if name is not None:
            check_types(labels.get_level_values(level), "index", name)
