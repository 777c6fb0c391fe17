"""The way out: tidy DataFrames and Datasets, and the families of tests in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.significance.adjust import adjust, interval_levels, step_down

# --------------- The door out: a labelled result leaves as a tidy DataFrame, or as a plain Dataset


def labels(names: Sequence[Any]) -> AnyArray:
    """Return names, tuples among them, as an array of objects."""
    values = np.empty(len(names), dtype=object)
    values[:] = names
    return values


def in_one_chunk(values: xr.DataArray, dims: Iterable[Hashable]) -> xr.DataArray:
    """Return values that are lazy with these dimensions in one chunk each.

    Their coordinates stay as they are: those that are here, DataArray.chunk would make lazy.
    """
    if values.chunks is None:
        return values
    return values.copy(data=values.variable.chunk(dict.fromkeys(dims, -1)).data)


def is_missing(name: Any) -> bool:
    """Return whether a name is None, NaN, NaT or NA: all the same in a table of results."""
    return bool(pd.api.types.is_scalar(name) and pd.isna(name))


def as_columns(
    names: Iterable[str],
    arrays: Sequence[xr.DataArray],
    along: Mapping[str, AnyArray] | None = None,
) -> xr.Dataset:
    """Return what one call of a kernel gave, under these names, with the labels along dimensions.

    The arrays have the coordinates of the kernel's arguments, all the same, and are not aligned.
    """
    variables: dict[str, Any] = {n: x.variable for n, x in zip(names, arrays, strict=True)}
    coords = max((x.coords for x in arrays), key=len)
    variables |= {d: (d, labels) for d, labels in (along or {}).items()}
    return xr.Dataset(variables, coords=coords)


GROUP = "_group"  # the dimension along which groups of a DataFrame are stacked
_INNER = ("pair", "cut", "_point")  # dimensions of results that are no columns
_TAKEN = (*_INNER, "row", "score", "present", "sign", "exists", "towards", GROUP)


def check_names(role: str, names: Iterable[Hashable], columns: Sequence[str]) -> None:
    """Raise a ValueError where the name of a group would hide a column of the result."""
    for name in names:
        if name in {*columns, *_TAKEN}:
            argument = "columns=" if role == "by=" else ""
            raise ValueError(
                f"{role}{name!r}: the result has a column of this name, or it is needed inside."
                f" Rename the input's: data.rename({argument}{{{name!r}: 'query'}})."
            )


def leave_frame(
    results: Sequence[xr.Dataset],
    keys: pd.DataFrame,
    columns: Sequence[str],
    *,
    attrs: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Return the rows that exist of all groups, one under the other, the groups' keys first.

    ``attrs`` is a note of how the table was made.
    """
    parts = [_rows(result, [GROUP, *columns]) for result in results]
    number = _one_after_the_other([part[GROUP] for part in parts])
    order = np.argsort(number, kind="stable") if len(parts) > 1 else slice(None)
    known = [
        x
        for name in _NAMED
        if name in results[0].coords
        for x in results[0][name].to_numpy().tolist()
    ]
    table = pd.DataFrame(
        {
            name: _column(_one_after_the_other([part.pop(name) for part in parts])[order], known)
            for name in columns
        }
    )
    if keys.shape[1]:
        groups = keys.iloc[number[order]].reset_index(drop=True)
        table = pd.concat([groups, table], axis=1)
    table.attrs.update(attrs or {})
    return table


def rows_of(
    columns: Mapping[str, Sequence[AnyArray]], *, attrs: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Return columns, each in parts, as a tidy table: that of one ranking without groups."""
    whole = {name: ("row", np.concatenate(parts)) for name, parts in columns.items()}
    size = sum(map(len, next(iter(columns.values()))))
    inner = {"exists": ("row", np.ones(size, dtype=bool)), GROUP: ("row", np.zeros(size, int))}
    return leave_frame(
        [xr.Dataset(whole | inner)], pd.DataFrame(index=[0]), list(columns), attrs=attrs
    )


def _one_after_the_other(parts: list[AnyArray]) -> AnyArray:
    """Return parts as one array, a single one as it is."""
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
    """Return names with the dtype that pandas gives to a header of them, if none is there too."""
    if values.dtype != object:
        return values
    codes, names = pd.factorize(values)
    index = pd.Index(list(names) or known, tupleize_cols=False)
    named = pd.Series(index)
    if codes.min(initial=0) < 0:
        return named.reindex(codes).array  # -1 is nobody's number, and becomes NaN
    return named.array.take(codes)


def leave_dataset(
    result: xr.Dataset,
    columns: Sequence[str],
    *,
    ragged: bool,
    attrs: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Return the columns as variables; where batches may lack rows, counts are float and NaN."""
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
    # coordinates last: their dimensions would otherwise come first in to_dataframe()
    return xr.Dataset(leaving, attrs=dict(attrs or {})).assign_coords(result.coords)


def as_frame(result: xr.Dataset, columns: Sequence[str]) -> pd.DataFrame:
    """Return a Dataset that has left as a tidy table, its batch dimensions first."""
    result = result.compute()  # all columns in one run
    return _existing(result.assign(exists=xr.ones_like(result[columns[-1]], dtype=bool)), columns)


def leave_rows(
    result: xr.Dataset, columns: Sequence[str], *, attrs: Mapping[str, Any] | None = None
) -> xr.Dataset:
    """Return the rows that exist along ``row``, computed: their number depends on the data."""
    return as_rows(_existing(result.compute(), columns), attrs=attrs)


def as_rows(table: pd.DataFrame, *, attrs: Mapping[str, Any] | None = None) -> xr.Dataset:
    """Return a table as a Dataset along ``row``."""
    return xr.Dataset(
        {name: ("row", column.to_numpy()) for name, column in table.items()},
        attrs=dict(attrs or {}),
    )


def _existing(result: xr.Dataset, columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows that exist as a table, the batch dimensions first."""
    exists = result["exists"]
    batch = [str(d) for d in exists.dims if d not in (*columns, *_INNER)]
    numbered = {d: np.arange(exists.sizes[d]) for d in batch if d not in result.coords}
    whole = result.assign_coords(numbered).assign({GROUP: xr.zeros_like(exists, dtype=int)})
    return leave_frame([whole], pd.DataFrame(index=[0]), [*batch, *columns])


# -------------------------------------------------------------------------------------------------
# Families of tests that are adjusted together: of one group, of one n, or of all that is shown.

OVER = ("all", "group")
OVER_LISTS = ("all", "n", "group")
_FAMILY = ("pair", "n", "cut")
_Compute = Callable[[list[FloatArray]], list[FloatArray]]  # of the tests of one family, in parts


def adjusted_together(
    p_values: Sequence[xr.DataArray], method: str, *, batch: Sequence[Hashable], over: str
) -> list[xr.DataArray]:
    """Return the adjusted p-values of each part of the data, NaN being no test.

    Parameters
    ----------
    p_values : sequence of DataArray
        Of each part, with dimensions pair and n or cut, and those of the groups. Several parts
        are computed; a single one may be lazy.
    method : {"holm", "bonferroni", "bh", "by", "max-t", "max-t-stepdown"}
        With "max-t" the p-values hold for all n of a family together, and are multiplied by the
        number of pairs in it, groups counted; "max-t-stepdown" does so in Holm's way.
    batch : sequence of names
        The dimensions of the groups.
    over : {"all", "n", "group"}
        Whether all rows are one family, or those of each n, or of each group.
    """
    return _by_family(p_values, partial(_adjusted, method=method), batch, over)


def levels_together(
    p_values: Sequence[xr.DataArray],
    method: str,
    *,
    batch: Sequence[Hashable],
    over: str,
    level: float,
) -> list[xr.DataArray]:
    """Return the level of the interval of each row that agrees with the adjustment."""
    compute = partial(_flat, of_all=lambda p: interval_levels(p, method, level))
    return _by_family(p_values, compute, batch, over)


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
    """Return the p-values adjusted as one family; with "max-t" the last axis is n."""
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
    """Return the words for what is adjusted together: pairs, or comparisons with ``one``.

    ``sizes`` 0 is every n. ``over`` names what has families of its own, of "n" and "group".
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
