"""Families of tests that are adjusted together: of one group, or of all groups of the data."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import xarray as xr

from rankeval_pd.forms.tables import in_one_chunk
from rankeval_pd.stats._types import FloatArray
from rankeval_pd.stats.significance.adjust import adjust, step_down

OVER = ("all", "group")
_FAMILY = ("pair", "n", "cut")


def adjusted_together(
    p_values: Sequence[xr.DataArray], method: str, *, batch: Sequence[Hashable], over: str
) -> list[xr.DataArray]:
    """Return the adjusted p-values of each part of the data, NaN being no test.

    Parameters
    ----------
    p_values : sequence of DataArray
        Of each part, with dimensions pair and n or cut, and those of the groups. Several parts
        are computed; a single one may be lazy.
    method : {"holm", "bonferroni", "bh", "by", "max-t"}
        With "max-t" the p-values hold for all n together, and are made to hold over the rest.
    batch : sequence of names
        The dimensions of the groups.
    over : {"all", "group"}
        Whether all groups are one family.
    """
    if over == "group":
        return [_one_part(part, method, []) for part in p_values]
    if len(p_values) == 1:
        return [_one_part(p_values[0], method, [d for d in batch if d in p_values[0].dims])]
    parts = [part.transpose(..., *_family(part)) for part in p_values]
    result = _adjusted([part.to_numpy() for part in parts], method)
    return [part.copy(data=values) for part, values in zip(parts, result, strict=True)]


def _family(part: xr.DataArray) -> list[Hashable]:
    return [name for name in _FAMILY if name in part.dims]


def _one_part(part: xr.DataArray, method: str, groups: list[Hashable]) -> xr.DataArray:
    core = [*groups, *_family(part)]

    def alone(values: FloatArray) -> FloatArray:
        outer = values.shape[: values.ndim - len(core)]
        computed = np.empty_like(values)
        for row in np.ndindex(outer):
            computed[row] = _adjusted([values[row]], method)[0]
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
    flat = np.concatenate([part.ravel() for part in parts])
    if method == "max-t":
        sizes = [part.shape[-1] for part in parts for _ in range(math.prod(part.shape[:-1]))]
        flat = step_down(flat, np.repeat(np.arange(len(sizes)), sizes))
    else:
        flat = adjust(flat, method)
    ends = np.cumsum([part.size for part in parts])[:-1]
    return [
        values.reshape(part.shape) for values, part in zip(np.split(flat, ends), parts, strict=True)
    ]
