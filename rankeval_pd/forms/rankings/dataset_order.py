"""Sort the candidates of a Dataset by the tie key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import listed, unknown_name
from rankeval_pd.forms.rankings.tie_keys import label_order, value_keys, value_order
from rankeval_pd.forms.roles.columns import labels_along, one_chunk
from rankeval_pd.forms.roles.label_types import check_types
from rankeval_pd.forms.roles.roles import Roles, as_names
from rankeval_pd.stats._types import AnyArray, IntArray


def in_key_order(
    score: xr.DataArray, truth: xr.DataArray, data: xr.Dataset, roles: Roles, *, scored: bool
) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray, xr.DataArray, Any]:
    """Return scores, gold labels, rows and keys in key order, and repeated labels."""
    if roles.key is None and not scored:  # counts do not depend on the order of candidates
        alone = np.arange(data.sizes[roles.dim])
        row, draws = (
            xr.DataArray(x, dims="candidate") for x in (alone, np.zeros(alone.shape, np.uint64))
        )
        return score, truth, row, draws, None
    if roles.key is None:
        labels = _labels(data, roles)
        alone = np.zeros(data.sizes[roles.dim], dtype=int)
        order, again, hashes = label_order(labels, roles.seed, alone)
        row, draws = (xr.DataArray(x, dims="candidate") for x in (order, hashes[order]))
        return taken(score, row), taken(truth, row), row, draws, (labels, again)
    key = xr.DataArray(data[roles.key].variable).rename({roles.dim: "candidate"})
    core = ["candidate"]
    row = xr.apply_ufunc(
        value_order,
        one_chunk(key, "candidate"),
        truth,
        kwargs={"name": roles.key, "falling": roles.ties == "trec"},
        input_core_dims=[core, core],
        output_core_dims=[core],
        dask="parallelized",
        output_dtypes=[np.int64],
    )
    keys = xr.apply_ufunc(value_keys, key, dask="parallelized", output_dtypes=[np.uint64])
    draws = taken(one_chunk(keys, "candidate"), row)
    return taken(score, row), taken(truth, row), row, draws, None


def _labels(data: xr.Dataset, roles: Roles) -> pd.Index | list[pd.Index]:
    """Return the labels of the candidates from the index or the role ``label``."""
    names = as_names(roles.label, data.variables)
    if not names:
        return labels_along(data, roles.dim)
    levels = []
    for name in names:
        if name not in data.variables:
            raise unknown_name("label", name, data.variables)
        if data[name].dims != (roles.dim,):
            raise ValueError(
                f"label={name!r} has the dimensions {listed(data[name].dims)}: pass a variable"
                f" whose only dimension is {roles.dim!r}."
            )
        levels.append(pd.Index(data[name].to_numpy(), tupleize_cols=False))
        check_types(levels[-1], "label", name)
    return levels if len(levels) > 1 else levels[0]


def taken(values: xr.DataArray, row: xr.DataArray) -> xr.DataArray:
    """Return the candidates' values in key order."""
    if row.ndim == 1 and row.chunks is None:
        return values.isel(candidate=row)
    columns: xr.DataArray = xr.apply_ufunc(
        _take_last,
        values,
        row,
        input_core_dims=[["candidate"]] * 2,
        output_core_dims=[["candidate"]],
        dask="parallelized",
        output_dtypes=[values.dtype],
    )
    return columns


def _take_last(values: AnyArray, positions: IntArray) -> AnyArray:
    values, positions = np.broadcast_arrays(values, positions)
    return np.take_along_axis(values, positions, axis=-1)
