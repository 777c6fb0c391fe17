"""Name the columns of results, and read results and their attrs."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.stats._types import AnyArray

_INNER = ("pair", "cut")  # dimensions of results that do not become columns


def labels(names: Sequence[Any]) -> AnyArray:
    """Return names, which can be tuples, as an array of objects."""
    values = np.empty(len(names), dtype=object)
    values[:] = names
    return values


def as_list(values: Any) -> list[Any]:
    """Return several values as a list; text and other single values are one value."""
    if isinstance(values, str | bytes | bytearray) or not np.iterable(values):
        return [values]
    return list(values)


def only_or_all(names: Sequence[Any]) -> Any:
    """Return a single name, or the list of several names."""
    if len(names) == 1:
        return names[0]
    return list(names)


def taken_at(values: Any, rows: Any) -> Any:
    """Return the values at the rows, or None without values."""
    if values is None:
        return None
    return values[rows]


def is_missing(name: Any) -> bool:
    """Return whether a name is None, NaN, NaT or NA."""
    return bool(pd.api.types.is_scalar(name) and pd.isna(name))


def apart(names: Iterable[Hashable], columns: Sequence[str]) -> list[Hashable]:
    """Return the names of group columns, with n renamed to by_n if the result has n."""
    taken, result = {*columns, *_INNER, "row"}, list(names)
    for place, name in enumerate(result):
        if name in taken:
            while name in {*taken, *result}:
                name = f"by_{name}"
            result[place] = name
    return result


def keys_apart(
    table: pd.DataFrame, columns: Sequence[str], count: int | None = None
) -> pd.DataFrame:
    """Rename the group columns of a table if the result uses the same names."""
    first = list(table.columns[:count])
    names = apart(first, columns)
    if names == first:
        return table
    header = [*names, *table.columns[len(first) :]]
    return table.set_axis(pd.Index(header, tupleize_cols=False), axis=1)


def listed_in(attrs: Mapping[Any, Any], name: str) -> list[Any]:
    """Return a list from the attrs, which can be missing or stored as JSON."""
    value = attrs.get(name, [])
    if isinstance(value, str) and value.startswith("["):
        with suppress(ValueError):
            value = json.loads(value)
    return list(value) if isinstance(value, list | tuple) else [value]


def rows_in(result: xr.Dataset) -> pd.DataFrame:
    """Return the rows of a Dataset, with columns and dimensions in order."""
    variables = sorted(result.data_vars.values(), key=lambda x: -x.ndim)
    order = dict.fromkeys([*(d for x in variables for d in x.dims), *result.dims])
    frame = result.to_dataframe(dim_order=list(order))
    last = [x for x in listed_in(result.attrs, "columns") if x in frame]
    return frame[[*frame.columns.difference(last, sort=False), *last]].reset_index()


def as_rows(table: pd.DataFrame) -> xr.Dataset:
    """Return a table as a Dataset along ``row``."""
    columns = {name: ("row", column.to_numpy()) for name, column in table.items()}
    return xr.Dataset(columns, attrs=table.attrs)
