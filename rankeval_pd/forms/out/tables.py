"""Create tidy DataFrames and Datasets of results, and adjust p-values."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.significance.adjust import adjust, step_down

# ------------------------------- Conversion of labeled results to tidy DataFrames or plain Datasets


def labels(names: Sequence[Any]) -> AnyArray:
    """Return names, which can be tuples, as an array of objects."""
    values = np.empty(len(names), dtype=object)
    values[:] = names
    return values


def in_one_chunk(values: xr.DataArray, dims: Iterable[Hashable]) -> xr.DataArray:
    """Return lazy values with one chunk along these dimensions."""
    if values.chunks is None:
        return values
    return values.copy(data=values.variable.chunk(dict.fromkeys(dims, -1)).data)


def is_missing(name: Any) -> bool:
    """Return whether a name is None, NaN, NaT or NA."""
    return bool(pd.api.types.is_scalar(name) and pd.isna(name))


def as_columns(
    names: Iterable[str],
    arrays: Sequence[xr.DataArray],
    along: Mapping[str, AnyArray] | None = None,
) -> xr.Dataset:
    """Name a kernel's results, and label their dimensions.

    All arrays share the coordinates of the kernel's arguments, so no alignment is necessary.
    """
    variables: dict[str, Any] = {n: x.variable for n, x in zip(names, arrays, strict=True)}
    coords = max((x.coords for x in arrays), key=len)
    variables |= {d: (d, labels) for d, labels in (along or {}).items()}
    return xr.Dataset(variables, coords=coords)


GROUP = "_group"  # the dimension for stacked groups of a DataFrame
_INNER = ("pair", "cut", "_point")  # dimensions of results that do not become columns
_TAKEN = (*_INNER, "row", "score", "present", "sign", "exists", "towards", GROUP)


def check_names(role: str, names: Iterable[Hashable], columns: Sequence[str]) -> None:
    """Raise a ValueError if a batch name is also a variable in the result."""
    for name in names:
        if name in {*columns, *_TAKEN}:
            raise ValueError(
                f"{role}{name!r}: the result has a column with this name, or the name is reserved."
                f" Rename this column: data.rename({{{name!r}: 'by_{name}'}})."
            )


def apart(names: Iterable[Hashable], columns: Sequence[str]) -> list[Hashable]:
    """Return the names of group columns, with n renamed to by_n if the result has n."""
    taken, result = {*columns, *_INNER, "row"}, list(names)
    for place, name in enumerate(result):
        if name in taken:
            while name in {*taken, *result}:
                name = f"by_{name}"
            result[place] = name
    return result


_OWN = ("measure", "candidate", "item", "system", "statistic", "annotator")


def dims_apart(data: xr.Dataset, roles: object, columns: Sequence[str]) -> xr.Dataset:
    """Rename the batch dimension n to ``by_n`` if the result has a column n.

    Coordinates along the dimension are also renamed. Names given for roles do not change.
    """
    known = {*_OWN, *(x for role in vars(roles).values() for x in _each(role))}
    dims = [d for d in data.dims if d not in known]
    names = dims + [x for x, c in data.coords.items() if c.dims and x not in known | {*dims}
                    and set(c.dims) <= set(dims)]  # fmt: skip
    taken = {*columns, *_TAKEN}
    renamed = {}
    for name in (x for x in names if x in taken):
        new = f"by_{name}"
        while new in {*taken, *data.variables, *data.dims}:
            new = f"by_{new}"
        renamed[name] = new
    return data.rename(renamed) if renamed else data


def _each(role: object) -> list[Hashable]:
    """Return the names given for a role."""
    listed = role if isinstance(role, (list, tuple, set)) else [role]
    return [x for x in listed if isinstance(x, Hashable)]


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


def leave_frame(
    results: list[xr.Dataset],
    keys: pd.DataFrame,
    columns: Sequence[str],
    *,
    attrs: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Concatenate the existing rows of all groups, with group keys first.

    ``attrs`` describes how the table was computed. The function empties the list of results so that
    only one copy of each column is in memory.
    """
    named = [result[x].to_numpy() for result in results[:1] for x in _NAMED if x in result.coords]
    known = [x for names in named for x in names.tolist()]
    parts = [_rows(results.pop(0), [GROUP, *columns]) for _ in range(len(results))]
    number = _one_after_the_other([part[GROUP] for part in parts])
    order = np.argsort(number, kind="stable") if len(parts) > 1 else slice(None)
    filled = {}
    for name in columns:
        values = _one_after_the_other([part.pop(name) for part in parts])[order]
        filled[name] = _column(values, known) if values.dtype == object else values.copy()
    table = pd.DataFrame(filled, copy=False)
    if keys.shape[1]:
        groups = keys.iloc[number[order]].reset_index(drop=True)
        table = pd.concat([groups, table], axis=1)
    table.attrs.update(attrs or {})
    return table


def rows_of(
    columns: Mapping[str, Sequence[AnyArray]], *, attrs: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Combine the parts of each column into a tidy table for one ranking."""
    whole = {name: ("row", np.concatenate(parts)) for name, parts in columns.items()}
    size = sum(map(len, next(iter(columns.values()))))
    inner = {"exists": ("row", np.ones(size, dtype=bool)), GROUP: ("row", np.zeros(size, int))}
    return leave_frame(
        [xr.Dataset(whole | inner)], pd.DataFrame(index=[0]), list(columns), attrs=attrs
    )


def _one_after_the_other(parts: list[AnyArray]) -> AnyArray:
    """Concatenate parts, without a copy if there is only one part."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _rows(result: xr.Dataset, columns: Sequence[str]) -> dict[str, AnyArray]:
    exists = result["exists"]
    keep = exists.to_numpy().ravel()
    everything = bool(keep.all())
    shape = dict(zip(exists.dims, exists.shape, strict=True))
    rows = {}
    for name in columns:
        column = result.variables[name]
        if column.dims != exists.dims:
            column = column.set_dims(shape).transpose(*exists.dims)
        values = column.to_numpy().ravel()
        rows[name] = values if everything else values[keep]
    return rows


_NAMED = ("measure", "measure_a", "measure_b")


def _column(values: AnyArray, known: list[Any]) -> Any:
    """Return names with the dtype that pandas uses for headers; names can be missing."""
    codes, names = pd.factorize(values)
    index = pd.Index(list(names) or known, tupleize_cols=False)
    named = pd.Series(index)
    if codes.min(initial=0) < 0:
        return named.reindex(codes).array  # -1 is not a valid number and becomes NaN
    return named.array.take(codes)


def leave_dataset(
    result: xr.Dataset,
    columns: Sequence[str],
    *,
    ragged: bool,
    attrs: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Return columns as variables. If rows are missing, counts become float with NaN."""
    exists = result["exists"]
    leaving = {}
    for name in columns:
        variable = result[name]
        if name in result.coords:
            continue
        if ragged and variable.dtype != bool:
            whole = variable.dtype.kind in "iu"
            variable = (variable.astype(float) if whole else variable).where(exists)
        leaving[name] = variable.variable
    # assign coordinates last; otherwise their dimensions come first in to_dataframe()
    return xr.Dataset(leaving, attrs=dict(attrs or {})).assign_coords(result.coords)


def as_frame(result: xr.Dataset, columns: Sequence[str]) -> pd.DataFrame:
    """Convert a result to a tidy table with batch dimensions first."""
    result = result.compute()  # compute all columns in one run
    return _existing(result.assign(exists=xr.ones_like(result[columns[-1]], dtype=bool)), columns)


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


def leave_rows(
    result: xr.Dataset, columns: Sequence[str], *, attrs: Mapping[str, Any] | None = None
) -> xr.Dataset:
    """Compute a result, and return its existing rows along ``row``."""
    return as_rows(_existing(result.compute(), columns), attrs=attrs)


def as_rows(table: pd.DataFrame, *, attrs: Mapping[str, Any] | None = None) -> xr.Dataset:
    """Return a table as a Dataset along ``row``."""
    return xr.Dataset(
        {name: ("row", column.to_numpy()) for name, column in table.items()},
        attrs=dict(attrs or {}),
    )


def _existing(result: xr.Dataset, columns: Sequence[str]) -> pd.DataFrame:
    """Return the existing rows as a table with batch dimensions first."""
    exists = result["exists"]
    batch = [str(d) for d in exists.dims if d not in (*columns, *_INNER)]
    numbered = {d: np.arange(exists.sizes[d]) for d in batch if d not in result.coords}
    whole = result.assign_coords(numbered).assign({GROUP: xr.zeros_like(exists, dtype=int)})
    return leave_frame([whole], pd.DataFrame(index=[0]), [*batch, *columns])


# -------------------------------------------------------------------------------------------------
# A family of tests covers one group, one n, or the whole table.

OVER = ("all", "group")
OVER_LISTS = ("all", "n", "group")
_FAMILY = ("pair", "n", "cut")
# a function that adjusts one family's p-values, which are passed in parts
_Compute = Callable[[list[FloatArray]], list[FloatArray]]


def adjusted_together(
    p_values: Sequence[xr.DataArray], method: str, *, batch: Sequence[Hashable], over: str
) -> list[xr.DataArray]:
    """Return adjusted p-values for each part of the data.

    Parameters
    ----------
    p_values : sequence of DataArray
        One array for each part, with the dimension pair, the dimension n or cut, and the group
        dimensions. Missing tests are NaN. A single part can be lazy; several parts are computed.
    method : {"holm", "bonferroni", "bh", "by", "max-t", "max-t-stepdown"}
        Adjustment method. With "max-t", the p-values are simultaneous over all list sizes in a
        family and are multiplied by the number of pairs in all groups. "max-t-stepdown" replaces
        the number of pairs with Holm's step-down factors.
    batch : sequence of names
        The group dimensions.
    over : {"all", "n", "group"}
        Rows that form a family: all rows, rows with the same n, or rows in the same group.
    """
    return _by_family(p_values, partial(_adjusted, method=method), batch, over)


def _by_family(
    parts: Sequence[xr.DataArray], compute: _Compute, batch: Sequence[Hashable], over: str
) -> list[xr.DataArray]:
    each = over == "n"
    if over == "group":
        return [_one_part(part, compute, _family(part), each=False) for part in parts]
    if len(parts) == 1:
        core = [d for d in batch if d in parts[0].dims] + _family(parts[0])[: 1 if each else None]
        return [_one_part(parts[0], compute, core, each=each)]
    parts = [part.transpose(..., *_family(part)) for part in parts]
    values = [part.to_numpy() for part in parts]
    result = compute(values)
    if each:
        result = [np.empty_like(x) for x in values]
        for k in range(max(x.shape[-1] for x in values)):
            here = [i for i, x in enumerate(values) if k < x.shape[-1]]
            for i, x in zip(here, compute([values[i][..., k : k + 1] for i in here]), strict=True):
                result[i][..., k : k + 1] = x
    return [part.copy(data=x) for part, x in zip(parts, result, strict=True)]


def _family(part: xr.DataArray) -> list[Hashable]:
    return [name for name in _FAMILY if name in part.dims]


def _one_part(
    part: xr.DataArray, compute: _Compute, core: list[Hashable], *, each: bool
) -> xr.DataArray:
    def alone(values: FloatArray) -> FloatArray:
        outer = values.shape[: values.ndim - len(core)]
        computed = np.empty_like(values)
        for row in np.ndindex(outer):
            tests = values[row][..., np.newaxis] if each else values[row]
            computed[row] = compute([tests])[0].reshape(values[row].shape)
        return computed

    result: xr.DataArray = xr.apply_ufunc(
        alone,
        in_one_chunk(part, core),
        input_core_dims=[core],
        output_core_dims=[core],
        dask="parallelized",
        output_dtypes=[float],
    )
    return result


def _adjusted(parts: list[FloatArray], method: str) -> list[FloatArray]:
    """Adjust p-values as one family. With "max-t", the last axis is n."""
    if not method.startswith("max-t"):
        return _flat(parts, lambda p: adjust(p, method))
    if method == "max-t":
        pairs = sum(int((~np.isnan(part)).any(axis=-1).sum()) for part in parts)
        return [np.minimum(pairs * part, 1.0) for part in parts]
    sizes = [part.shape[-1] for part in parts for _ in range(math.prod(part.shape[:-1]))]
    return _flat(parts, lambda p: step_down(p, np.repeat(np.arange(len(sizes)), sizes)))


def _flat(parts: list[FloatArray], of_all: Callable[[FloatArray], FloatArray]) -> list[FloatArray]:
    flat = of_all(np.concatenate([part.ravel() for part in parts]))
    ends = np.cumsum([part.size for part in parts])[:-1]
    return [
        values.reshape(part.shape) for values, part in zip(np.split(flat, ends), parts, strict=True)
    ]


def family_of(
    pairs: int, one: Any = None, *, sizes: int = 1, groups: int = 1, over: Collection[str] = ()
) -> str:
    """Describe the family of all pairs, or of all comparisons with ``one``.

    ``sizes=0`` means every n. ``over`` contains "n" and "group" if n and groups define families.
    """
    who = "1 pair" if pairs == 1 else f"all {pairs} pairs"
    if one is not None:
        who = f"{pairs} comparison{'s'[: pairs != 1]} with {one}"
    if sizes != 1:
        all_of_them = f" at {sizes} sizes" if sizes else " at every n"
        who += " at each n" if "n" in over else all_of_them
    if groups > 1:
        who += " in each group" if "group" in over else f" in all {groups} groups"
    return who
