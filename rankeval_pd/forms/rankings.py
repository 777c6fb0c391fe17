"""The door: DataFrames and Datasets of candidates come in and become one labelled form.

The form is an :class:`xarray.Dataset`, its candidates in the order of the tie key, with

* ``score`` (..., measure, candidate): larger is better, NaN where there is no score;
* ``gold`` (..., candidate): True for a true positive;
* ``present`` (..., measure, candidate): False for what a measure leaves out, and for padding;
* ``row`` (..., candidate): the position in the data that came in;
* ``sign`` (measure): -1 where smaller scores rank first and were negated.

The leading dimensions are those of a batch: of a Dataset its own, of a DataFrame ``tables.GROUP``.

A question is a function from this form and the list sizes to a labelled Dataset. :func:`answer`
asks it of every group of a DataFrame, or of a whole Dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import listed, unknown_name
from rankeval_pd.forms import tables
from rankeval_pd.forms.columns import (
    find_gold,
    find_measures,
    frame_column,
    signs_of,
    split_measures,
)
from rankeval_pd.forms.once import kept_once
from rankeval_pd.forms.roles import Roles, as_names
from rankeval_pd.forms.tie_keys import column_order, label_order, value_order
from rankeval_pd.forms.values import admit, gold_values, score_values
from rankeval_pd.stats._types import AnyArray, IntArray

Data = TypeVar("Data", pd.DataFrame, xr.Dataset)


def check_data(data: object) -> None:
    """Raise a TypeError unless the data are a DataFrame or a Dataset."""
    if not isinstance(data, pd.DataFrame | xr.Dataset):
        raise TypeError(
            f"data is of type {type(data).__name__}: give a pandas DataFrame with one row per"
            " candidate, or an xarray Dataset with a dimension 'candidate'."
        )


class Groups(NamedTuple):
    """The groups of a DataFrame, sorted."""

    keys: pd.DataFrame  #: one row per group, the columns of ``by``
    members: list[xr.Dataset]  #: the inner form, groups of one size along ``tables.GROUP``
    largest: int  #: the most candidates that a measure has in a group


@kept_once
def read_frame(frame: pd.DataFrame, roles: Roles, *, scored: bool = True) -> Groups:
    """Bring a DataFrame, one row per candidate, into the inner form."""
    if roles.dim != "candidate":
        raise ValueError(
            f"dim={roles.dim!r} names a dimension of a Dataset, and data is a DataFrame: leave it"
            " out."
        )
    columns = frame.columns
    by = as_names(roles.by, columns)
    gold = find_gold(frame, roles)
    named = [gold, *by, *([] if roles.key is None else [roles.key])]
    measures = find_measures(frame, roles, named, needed=scored)
    truth = gold_values(frame_column(frame, gold, "gold"), gold)
    missing = roles.missing if measures else "last"
    scores = np.full((max(len(measures), 1), len(frame)), np.nan)  # no measure: no score at all
    for row, measure in enumerate(measures):
        scores[row] = score_values(frame_column(frame, measure, "measures"), measure)
    measures = measures or [None]
    signs = signs_of(measures, roles, columns)
    score, true, present = admit(
        scores * signs[:, np.newaxis],
        truth,
        measures=measures,
        gold_name=gold,
        missing=missing,
        padding=False,
    )
    keys, number = _group_numbers(frame, by)
    if roles.key is None:
        order = label_order(frame.index, roles.seed, number)
    else:
        order = column_order(frame_column(frame, roles.key, "key"), roles.key, number)
    # groups of one size are stacked: the cost is that of the sizes that occur, not of the groups
    sizes = np.bincount(number, minlength=len(keys))
    starts = np.cumsum(sizes) - sizes
    members = []
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        rows = order[starts[chosen, np.newaxis] + np.arange(size)]
        members.append(
            xr.Dataset(
                {
                    "score": ((tables.GROUP, "measure", "candidate"), _stack(score, rows)),
                    "gold": ((tables.GROUP, "candidate"), true[rows]),
                    "present": ((tables.GROUP, "measure", "candidate"), _stack(present, rows)),
                    "row": ((tables.GROUP, "candidate"), rows),
                    "sign": ("measure", signs),
                },
                coords={"measure": ("measure", tables.labels(measures)), tables.GROUP: chosen},
            )
        )
    return Groups(keys, members, max(map(_largest, members), default=0))


def _stack(values: AnyArray, rows: IntArray) -> AnyArray:
    """Return (measure, all rows) as (group, measure, candidate)."""
    return np.moveaxis(values[:, rows], 0, 1)


def _largest(inner: xr.Dataset) -> int:
    """Return the most candidates that a measure has."""
    return int(inner["present"].to_numpy().sum(axis=-1).max())


def _group_numbers(frame: pd.DataFrame, by: list[Hashable]) -> tuple[pd.DataFrame, IntArray]:
    """Return the keys of the groups, sorted, and the number of each row's group."""
    if not by:
        return pd.DataFrame(index=[0]), np.zeros(len(frame), dtype=np.int64)
    keys = pd.concat(
        [frame_column(frame, name, "by").reset_index(drop=True) for name in by], axis=1
    )
    missing = keys.isna().to_numpy()
    if missing.any():
        label = by[int(missing.any(axis=0).argmax())]
        raise ValueError(
            f"by={label!r} has {int(missing.any(axis=1).sum())} missing values: every row belongs"
            f" to a group. Fill them, or drop these rows: data.dropna(subset=[{label!r}])."
        )
    number = np.asarray(keys.groupby(by, sort=True, observed=True).ngroup(), dtype=np.int64)
    _, first = np.unique(number, return_index=True)
    return keys.iloc[first], number


def check_dim(data: xr.Dataset, roles: Roles) -> None:
    """Raise a ValueError unless the Dataset has the dimension of the candidates."""
    if roles.dim not in data.dims:
        raise ValueError(
            f"dim={roles.dim!r} is not a dimension of data, which has {listed(data.dims)}. Name"
            " the dimension along which the candidates lie: dim=..."
        )
    if roles.dim != "candidate" and "candidate" in data.dims:
        raise ValueError(
            f"dim={roles.dim!r}, and data has a dimension 'candidate' too, which would be a batch."
            " Leave dim out if the candidates lie along it, else rename it:"
            " data.rename(candidate='batch')."
        )


@kept_once
def read_dataset(data: xr.Dataset, roles: Roles, *, scored: bool = True) -> xr.Dataset:
    """Bring a Dataset into the inner form, lazily where it is lazy."""
    check_dim(data, roles)
    if as_names(roles.by, ()):
        raise ValueError(
            f"by={roles.by!r}: in a Dataset, groups are a dimension of their own beside"
            f" {roles.dim!r} and need no by. Leave it out; data.groupby and unstack make such a"
            " dimension, padded with NaN where groups differ in size."
        )
    gold = find_gold(data, roles)
    named = [gold, *([] if roles.key is None else [roles.key])]
    measures = find_measures(data, roles, named, needed=scored)
    for name in named:
        if name not in data.variables:
            raise unknown_name("gold" if name == gold else "key", name, data.data_vars)
    dims = {roles.dim: "candidate"}
    truth = _one_chunk(_lift(gold_values, data[gold], gold), roles.dim).rename(dims)
    split = split_measures(data, roles, named)
    parts = [
        _one_chunk(_lift(score_values, split[name], name), roles.dim).rename(dims)
        for name in measures
    ]
    missing = roles.missing if measures else "last"
    parts = parts or [xr.full_like(truth, np.nan)]  # no measure: no score at all
    measures = measures or [None]
    score = xr.concat(
        xr.broadcast(*parts), "measure", coords="minimal", compat="override", join="override"
    )
    signs = signs_of(measures, roles, split)
    score = _one_chunk(score * xr.DataArray(signs, dims="measure"), "measure")
    batch = [
        d
        for d in data.dims
        if d in (*score.dims, *truth.dims) and d != roles.dim and d not in ("measure", "candidate")
    ]
    tables.check_names("the dimension ", batch, ())
    score = score.transpose(*[d for d in batch if d in score.dims], "measure", "candidate")
    score, truth, row = _in_key_order(score, truth, data, roles)
    score, true, present = xr.apply_ufunc(
        admit,
        score,
        truth,
        kwargs={
            "measures": measures,
            "gold_name": gold,
            "missing": missing,
            "padding": True,
        },
        input_core_dims=[["measure", "candidate"], ["candidate"]],
        output_core_dims=[
            ["measure", "candidate"],
            ["candidate"],
            ["measure", "candidate"],
        ],
        dask="parallelized",
        output_dtypes=[float, bool, bool],
        keep_attrs=False,
    )
    inner = xr.Dataset(
        {
            "score": score,
            "gold": true,
            "present": present,
            "row": row,
            "sign": ("measure", signs),
        }
    )
    kept = {name: c for name, c in data.coords.items() if c.dims and set(c.dims) <= set(batch)}
    inner = inner.drop_vars(list(inner.coords)).assign_coords(
        {**kept, "measure": ("measure", tables.labels(measures))}
    )
    # what may be missing for some batch is float, whether or not it is missing
    dtype = data[gold].dtype
    whole = isinstance(dtype, np.dtype) and dtype.kind in "bui"
    ragged = roles.missing == "drop" or not whole
    return inner.assign_attrs(ragged=ragged, batch=batch)


def _lift(function: Callable[..., AnyArray], variable: xr.DataArray, name: Hashable) -> Any:
    """Apply a reading of values to a variable, when it is computed if it is lazy."""
    bare = xr.DataArray(variable.variable)
    if isinstance(bare.dtype, pd.api.extensions.ExtensionDtype):
        return bare.copy(data=function(pd.Series(variable.data), name))
    return xr.apply_ufunc(
        lambda values: function(pd.Series(values.ravel()), name).reshape(values.shape),
        bare,
        dask="parallelized",
        output_dtypes=[float],
        keep_attrs=False,
    )


def _one_chunk(variable: xr.DataArray, dim: Hashable) -> xr.DataArray:
    """Return the variable with its candidates in one chunk: a ranking needs them all."""
    return variable.chunk({dim: -1}) if variable.chunks is not None else variable


def _in_key_order(
    score: xr.DataArray, truth: xr.DataArray, data: xr.Dataset, roles: Roles
) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    if roles.key is None:
        labels = data.indexes.get(roles.dim)
        labels = pd.RangeIndex(data.sizes[roles.dim]) if labels is None else labels
        order = label_order(labels, roles.seed, np.zeros(len(labels), dtype=np.int64))
        row = xr.DataArray(order, dims="candidate")
        return score.isel(candidate=order), truth.isel(candidate=order), row
    key = xr.DataArray(data[roles.key].variable).rename({roles.dim: "candidate"})
    core = ["candidate"]
    row = xr.apply_ufunc(
        value_order,
        _one_chunk(key, "candidate"),
        truth,
        kwargs={"name": roles.key},
        input_core_dims=[core, core],
        output_core_dims=[core],
        dask="parallelized",
        output_dtypes=[np.int64],
    )
    score, truth = (
        xr.apply_ufunc(
            _take_last,
            values,
            row,
            input_core_dims=[core, core],
            output_core_dims=[core],
            dask="parallelized",
            output_dtypes=[float],
        )
        for values in (score, truth)
    )
    return score, truth, row


def _take_last(values: AnyArray, positions: IntArray) -> AnyArray:
    values, positions = np.broadcast_arrays(values, positions)
    return np.take_along_axis(values, positions, axis=-1)
