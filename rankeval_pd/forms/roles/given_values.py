"""Add columns for roles that are passed as an array, a Series, or an index level."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.forms.roles.columns import frame_column, labels_along
from rankeval_pd.forms.roles.roles import Roles, are_values

_ONE = ("gold", "key", "groups")
_SEVERAL = ("by", "label")


def with_given_frame(frame: pd.DataFrame, roles: Roles) -> tuple[pd.DataFrame, Roles]:
    """Return a frame with a column for every role, and the column names.

    Arrays and index levels become columns of a shallow copy. No column is replaced.
    """
    named = {role: _entries(getattr(roles, role), frame.columns) for role in (*_ONE, *_SEVERAL)}
    added: dict[Hashable, pd.Series] = {}
    for role, entries in named.items():
        for place, entry in enumerate(entries):
            if are_values(entry):
                values = _as_column(_aligned(entry, frame.index, role), frame.index)
                name = _own_name(entry, role)
                if not _holds(frame, name, values):
                    name = _unused(name, {*frame.columns, *frame.index.names, *added})
            elif _is_level(entry, frame):
                name = entry
                level = frame.index.get_level_values(list(frame.index.names).index(name))
                values = _as_column(level, frame.index)
            else:
                continue
            entries[place] = name
            if name not in frame.columns:
                added[name] = values
    if added:
        attrs = frame.attrs
        frame = pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis=1)
        frame.attrs = attrs
    return frame, _renamed(roles, named)


def _as_column(values: Any, index: pd.Index) -> pd.Series:
    return pd.Series(values.array if hasattr(values, "array") else values, index=index)


def _holds(frame: pd.DataFrame, name: Hashable, values: pd.Series) -> bool:
    """Return whether a column or index level has this name and these values."""
    try:
        return frame_column(frame, name, "by").equals(values)
    except (KeyError, TypeError, ValueError):  # no column, several, or mixed types
        return False


def with_given_dataset(data: xr.Dataset, roles: Roles) -> tuple[xr.Dataset, Roles]:
    """Return a Dataset with a variable for every role, and the variable names."""
    named = {role: _entries(getattr(roles, role), data.variables) for role in (*_ONE, "label")}
    added: dict[Hashable, xr.DataArray] = {}
    for role, entries in named.items():
        for place, entry in enumerate(entries):
            if not are_values(entry):
                continue
            if isinstance(entry, xr.DataArray):
                values = xr.align(data, entry, join="exact")[1].drop_vars(
                    [c for c in entry.coords if c not in entry.dims]
                )
            else:
                array = np.asarray(_aligned(entry, labels_along(data, roles.dim), role))
                values = xr.DataArray(array, dims=[roles.dim])
            name = _own_name(entry, role)
            if not _stores(data, name, values):
                measures = data.indexes.get("measure", ())
                name = _unused(name, {*data.variables, *data.dims, *measures, *added})
                added[name] = values
            entries[place] = name
    return data.assign(added), _renamed(roles, named)


def _stores(data: xr.Dataset, name: Hashable, values: xr.DataArray) -> bool:
    """Return whether a variable has this name and these values."""
    if name not in data.variables:
        return False
    own, given = data[name].variable, values.variable
    if own.chunks or given.chunks:  # lazy values are not computed
        return bool(own.data is given.data)
    return bool(own.equals(given))


def _entries(given: Any, columns: Any) -> list[Any]:
    """Return names and values for a role."""
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
        several = role not in _ONE or isinstance(getattr(roles, role), list)
        if entries and not isinstance(getattr(roles, role), str):
            by_name[role] = entries if several else entries[0]
    return replace(roles, **by_name)


def _own_name(values: Any, role: str) -> Hashable:
    """Return the name of the values, or the role."""
    own: Hashable = getattr(values, "name", None)
    return role if own is None else own


def _unused(name: Hashable, taken: set[Hashable]) -> Hashable:
    while name in taken:
        name = f"{name}_given"
    return name


def _is_level(name: Any, frame: pd.DataFrame) -> bool:
    return not _is_in(name, frame.columns) and _is_in(name, list(frame.index.names))


def _is_in(name: Any, names: Any) -> bool:
    try:
        return name is not None and name in names
    except TypeError:
        return False


def _aligned(values: Any, index: pd.Index, role: str) -> Any:
    """Return values in row order. A Series is aligned by index."""
    if np.ndim(values) != 1 or len(values) != len(index):
        raise ValueError(
            f"{role} has values of shape {np.shape(values)} for {len(index)} candidates: pass one"
            " value for each candidate, or the name of a column."
        )
    if not isinstance(values, pd.Series) or values.index.equals(index):
        return values
    there, here = values.index, index
    if there.is_unique and here.is_unique and there.isin(here).all():
        return values.reindex(here)
    raise ValueError(
        f"{role} is a Series whose index differs from the data's index, so the values cannot be"
        " matched to the rows. Give the Series the data's index, or pass .to_numpy() if the values"
        " are in row order."
    )
