"""What is asked of every measure: a kernel, its columns, and the dimensions that these lie along.

The twin for two rankings at a time is :func:`rankeval_pd.forms.measure_pairs.ask_pairs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import xarray as xr

from rankeval_pd.forms import tables
from rankeval_pd.forms.measure_pairs import in_blocks, joined
from rankeval_pd.forms.memory import check_rows
from rankeval_pd.stats._types import AnyArray

MeasureKernel = Callable[..., Any]
_TOGETHER = 1_000_000  # scores of as many measures as are asked at a time


def ask_measures(
    inner: xr.Dataset,
    kernel: MeasureKernel,
    columns: Mapping[str, type],
    *,
    along: Mapping[str, AnyArray] | None = None,
    single: Sequence[str] = (),
    beside: Sequence[xr.DataArray] = (),
    options: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Ask a kernel of every measure, in every group and batch; lazily where the data are lazy.

    Parameters
    ----------
    inner : Dataset
        The inner form, see :mod:`rankeval_pd.forms.rankings`.
    kernel : callable
        From score, gold and present, candidates last, from what stands beside them, and from the
        options as keywords, to the columns.
    columns : mapping
        Name and type of what the kernel returns.
    along : mapping, optional
        The dimensions that the columns have last, and the labels there.
    single : sequence of str
        The columns without these dimensions: one value for each measure.
    beside : sequence of DataArray
        More arguments: values for each measure, each candidate, or along dimensions of ``along``.
    options : mapping, optional
        Keywords of the kernel.

    Returns
    -------
    Dataset
        The columns.
    """
    along = along or {}
    if along:
        number, wide = inner.sizes["measure"], math.prod(map(len, along.values()))
        what = f"{number:,} measures at {wide:,} {' and '.join(map(str, along))}"
        check_rows(inner, number * wide, len(columns), what)
    core, inside = ["candidate"], {"candidate", *along}

    def asked(inner: xr.Dataset, beside: Sequence[xr.DataArray]) -> xr.Dataset:
        computed = xr.apply_ufunc(
            kernel,
            inner["score"],
            inner["gold"],
            inner["present"],
            *beside,
            kwargs=dict(options or {}),
            input_core_dims=[core] * 3 + [[d for d in x.dims if d in inside] for x in beside],
            output_core_dims=[[] if name in single else list(along) for name in columns],
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {d: len(labels) for d, labels in along.items()}},
            output_dtypes=list(columns.values()),
        )
        arrays = computed if len(columns) > 1 else [computed]
        return tables.as_columns(columns, arrays, along)

    measures = range(inner.sizes["measure"])
    blocks = [*in_blocks(measures, inner, _TOGETHER)]
    if not along or inner.attrs["whole"] is not None:
        blocks = [measures]
    if len(blocks) == 1 or any(x.chunks is not None for x in inner.variables.values()):
        return asked(inner, beside)
    return joined([asked(*_of_block(block, inner, beside)) for block in blocks], "measure")


def _of_block(
    block: Sequence[int], inner: xr.Dataset, beside: Sequence[xr.DataArray]
) -> tuple[xr.Dataset, list[xr.DataArray]]:
    """Return the data of some of the measures, and what stands beside them."""
    part = {"measure": list(block)}
    return inner.isel(part), [x.isel(part, missing_dims="ignore") for x in beside]
