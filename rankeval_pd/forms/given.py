"""Roles that are given as values: an array, a Series, or a level of the index."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.forms.roles import Names, Roles, are_values

_ONE = ("gold", "key", "groups")
_SEVERAL = ("by", "label")


def with_given_frame(frame: pd.DataFrame, roles: Roles) -> tuple[pd.DataFrame, Roles]:
    """Return a frame in which every role is a column, and the roles by the columns' names.

    What is given as values, and levels of the index, become columns of a shallow copy.
    """
    named = {role: _entries(getattr(roles, role), frame.columns) for role in (*_ONE, *_SEVERAL)}
    added: dict[Hashable, Any] = {}
    taken = _named_measures(roles)
    for role, entries in named.items():
        for place, entry in enumerate(entries):
            if are_values(entry):
                name = _name_of(entry, role, {*taken, *added})
                added[name] = _aligned(entry, frame.index, role)
            elif _is_level(entry, frame):
                name = entry
                added[name] = frame.index.get_level_values(list(frame.index.names).index(entry))
            else:
                continue
            entries[place] = name
    if not added:
        return frame, roles
    kept = frame.drop(columns=[name for name in added if name in frame.columns])
    columns = {
        name: pd.Series(values.array if hasattr(values, "array") else values, index=frame.index)
        for name, values in added.items()
    }
    whole = pd.concat([kept, pd.DataFrame(columns, index=frame.index)], axis=1)
    return whole, _renamed(roles, named)


def with_given_dataset(data: xr.Dataset, roles: Roles) -> tuple[xr.Dataset, Roles]:
    """Return a Dataset in which every role is a variable, and the roles by their names."""
    named = {role: _entries(getattr(roles, role), data.variables) for role in (*_ONE, "label")}
    added: dict[Hashable, Any] = {}
    for role, entries in named.items():
        for place, entry in enumerate(entries):
            if not are_values(entry):
                continue
            name = _name_of(entry, role, {*_named_measures(roles), *added})
            if isinstance(entry, xr.DataArray):
                added[name] = xr.align(data, entry, join="exact")[1].drop_vars(
                    [c for c in entry.coords if c not in entry.dims]
                )
            else:
                index = data.indexes.get(roles.dim, pd.RangeIndex(data.sizes[roles.dim]))
                added[name] = (roles.dim, np.asarray(_aligned(entry, index, role)))
            entries[place] = name
    if not added:
        return data, roles
    return data.drop_vars([n for n in added if n in data]).assign(added), _renamed(roles, named)


def _entries(given: Any, columns: Any) -> list[Any]:
    """Return what a role was given: names and values."""
    if given is None:
        return []
    if are_values(given) or isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    if isinstance(given, tuple) and _is_in(given, columns):
        return [given]
    return list(given)


def _renamed(roles: Roles, named: dict[str, list[Any]]) -> Roles:
    by_name: dict[str, Any] = {}
    for role, entries in named.items():
        if entries:
            by_name[role] = entries[0] if role in _ONE else entries
    return replace(roles, **by_name)


def _named_measures(roles: Roles) -> list[Hashable]:
    given: Names = roles.measures
    if given is None or isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    return list(given)


def _name_of(values: Any, role: str, taken: set[Hashable]) -> Hashable:
    """Return the name under which values are added: their own, if they have one that is free."""
    own = getattr(values, "name", None)
    name = role if own is None else own
    while name in taken:
        name = f"{role}_given" if name == own else f"{name}_"
    return name


def _is_level(name: Any, frame: pd.DataFrame) -> bool:
    return not _is_in(name, frame.columns) and _is_in(name, list(frame.index.names))


def _is_in(name: Any, names: Any) -> bool:
    try:
        return name is not None and name in names
    except TypeError:
        return False


def _aligned(values: Any, index: pd.Index, role: str) -> Any:
    """Return values in the order of the rows; a Series is taken by its index."""
    if np.ndim(values) != 1 or len(values) != len(index):
        raise ValueError(
            f"{role} has values of shape {np.shape(values)} for {len(index)} candidates: give one"
            " value for each, or the name of a column."
        )
    if not isinstance(values, pd.Series) or values.index.equals(index):
        return values
    there, here = values.index, index
    if there.is_unique and here.is_unique and there.isin(here).all():
        return values.reindex(here)
    raise ValueError(
        f"{role} is a Series whose index is not that of the data: which value belongs to which row"
        " is not clear. Give it the index of the data, or, if its values are in the order of the"
        " rows, its values alone: .to_numpy()."
    )
