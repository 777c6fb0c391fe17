"""Lazy Datasets of one ranking, chunked along its candidates: their heads, still lazily.

Such a ranking need not fit in the memory of a worker, and what is asked about lists of given sizes
needs its head alone. The graph has a task for each chunk, a tree of merged heads, and one task that
asks the question; nothing is computed while it is built, labels neither hashed nor sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.forms import heads
from rankeval_pd.forms.columns import (
    find_gold,
    find_measures,
    signs_of,
    split_measures,
    with_roles_of,
)
from rankeval_pd.forms.heads import HeadFrame, Part, Request
from rankeval_pd.forms.roles import Roles, are_values, as_names
from rankeval_pd.stats._types import AnyArray

_LABEL = "_label"  # the column that holds the labels of an index
_KEY = "_key"
_MERGED = 8  # heads that are merged at a time


class Columns(NamedTuple):
    """One ranking of a lazy Dataset: a variable along the candidates for each column."""

    variables: dict[Hashable, xr.DataArray]
    request: Request  #: for lists of no length yet
    roles: Roles  #: those of the head


def chunked_ranking(data: xr.Dataset, roles: Roles) -> Columns | None:
    """Return the columns of one lazy ranking in several chunks, or None if the data are no such."""
    if roles.groups is not None or roles.missing == "drop" or roles.by is not None:
        return None
    if any(are_values(getattr(roles, role)) for role in ("gold", "key", "label")):
        return None
    if roles.dim not in data.dims:
        return None
    gold = find_gold(data, roles)
    named = with_roles_of(gold, roles, data.variables)
    measures = find_measures(data, roles, named, needed=True)
    split = split_measures(data, roles, named)
    if any(name not in split for name in measures) or gold not in data.variables:
        return None
    variables = {gold: data[gold], **{name: split[name] for name in measures}}
    lazy = all(x.chunks is not None and x.dims == (roles.dim,) for x in variables.values())
    if not lazy or max(len(x.chunks[0]) for x in variables.values()) < 2:
        return None
    if any(not isinstance(x.dtype, np.dtype) or x.dtype.kind in "Oc" for x in variables.values()):
        return None
    label = as_names(roles.label, data.variables)
    others = [*([] if roles.key is None else [roles.key]), *label]
    if any(name not in data.variables or data[name].dims != (roles.dim,) for name in others):
        return None
    variables |= {name: data[name] for name in others}
    index = data.indexes.get(roles.dim)
    numbered = roles.key is None and not label and (index is None or _counts_rows(index))
    if roles.key is None and not label and not numbered:
        if isinstance(index, pd.MultiIndex | pd.CategoricalIndex):
            return None
        variables[_LABEL] = xr.DataArray(np.asarray(index), dims=[roles.dim])
        label = [_LABEL]
    request = Request(
        gold=gold,
        measures=tuple(measures),
        signs=signs_of(measures, roles, split),
        key=roles.key,
        label=() if roles.key is not None else tuple(label),
        numbered=numbered,
        seed=roles.seed,
        positive=roles.positive,
        min_grade=roles.min_grade,
        groups=None,
        keep=0,
        draws=roles.draws,
        padded=True,
    )
    kept: dict[str, Any] = {
        "gold": gold,
        "measures": list(measures),
        "label": list(request.label) or None,
        "lower_is_better": heads.lower_of(roles, measures),
    }
    names = ("positive", "min_grade", "key", "ties", "missing", "rng")
    return Columns(
        {name: x.variable for name, x in variables.items()},
        request,
        Roles(**kept, **{name: getattr(roles, name) for name in names}),
    )


def _counts_rows(index: pd.Index) -> bool:
    """Return whether labels are the numbers of the candidates, from 0."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def lazy_head(columns: Columns, n_max: int, n_keys: int = 1) -> Any:
    """Return the head for lists up to n_max, delayed."""
    import dask.array as da
    from dask.delayed import delayed

    keep = heads.needed_ranks(n_max)
    request = columns.request._replace(keep=keep, orders=n_keys)
    first = next(iter(columns.variables.values()))
    chunks = min((x.chunks for x in columns.variables.values() if x.chunks), key=_largest)
    blocks = [
        x.data.rechunk(chunks)
        if x.chunks
        else cast(Any, da.from_array)(np.asarray(x), chunks=chunks)
        for x in columns.variables.values()
    ]
    sizes = chunks[0]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).tolist()
    parts = da.map_blocks(
        _part,
        *blocks,
        names=list(columns.variables),
        request=request,
        starts=starts,
        dtype=object,
        chunks=((1,) * len(sizes),),
        meta=np.empty(0, dtype=object),
    ).to_delayed()
    merged = delayed(_merged, pure=False)
    level = parts.tolist()
    while len(level) > 1:
        level = [merged(level[i : i + _MERGED], request) for i in range(0, len(level), _MERGED)]
    assert first.ndim == 1
    return delayed(_finished, pure=False)(level[0], request, columns.roles, n_max)


def _largest(chunks: Any) -> int:
    return int(max(chunks[0]))


def _part(
    *blocks: AnyArray,
    names: list[Hashable],
    request: Request,
    starts: list[int],
    block_id: tuple[int, ...] = (0,),
) -> AnyArray:
    """Return the head of one chunk, in an array of one object."""
    frame = pd.DataFrame({name: block for name, block in zip(names, blocks, strict=True)})  # noqa: C416
    held = np.empty(1, dtype=object)
    held[0] = heads.reduced(frame, request, block_id[0], starts[block_id[0]])
    return held


def _merged(parts: list[AnyArray], request: Request) -> AnyArray:
    held = np.empty(1, dtype=object)
    held[0] = heads.merged([part[0] for part in parts], request)
    return held


def _finished(held: AnyArray, request: Request, roles: Roles, n_max: int) -> HeadFrame:
    part: Part = held[0]
    return heads.finished(part, request, roles, n_max)


def stand_in(data: xr.Dataset, columns: Columns) -> tuple[xr.Dataset, dict[str, Any]]:
    """Return a lazy Dataset of the same form and dtypes, without values, and its roles.

    What it is asked has the names, shapes and dtypes that the answer has.
    """
    import dask.array as da

    request, roles = columns.request, columns.roles
    size = next(iter(columns.variables.values())).size
    nothing = {
        name: ("candidate", da.zeros(size, dtype=columns.variables[name].dtype, chunks=-1))
        for name in (request.gold, *request.measures)
    }
    nothing[_KEY] = ("candidate", cast(Any, da.arange)(size, chunks=-1))
    known = {
        "gold": request.gold,
        "measures": list(request.measures),
        "key": _KEY,
        "ties": roles.ties,
        "missing": roles.missing,
    }
    return xr.Dataset(nothing, attrs=data.attrs), known


def answered(
    template: xr.Dataset, head: Any, ask: Callable[[HeadFrame], Mapping[Hashable, AnyArray]]
) -> xr.Dataset:
    """Return the template with the values of the answer, which is asked once for all of them."""
    import dask.array as da
    from dask.delayed import delayed

    result: Any = delayed(ask, pure=False)(head)
    filled = {
        name: (x.dims, da.from_delayed(result[name], x.shape, dtype=x.dtype))
        for name, x in template.data_vars.items()
        if x.chunks is not None
    }
    return template.assign(filled)
