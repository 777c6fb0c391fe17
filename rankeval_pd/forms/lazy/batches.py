r"""Process lazy Datasets of rankings chunk by chunk, or by merging heads.

Rankings that fit in a worker's memory are processed chunk by chunk::

    chunk of rankings   chunk of rankings      all candidates of each ranking
            |                   |
        read, ask           read, ask          one task per chunk
             \                 /
              columns of the answer            Batches.filled, or a tree: Batches.reduced

If one ranking exceeds a worker's memory, lists of specific sizes need only the head of the ranking.
The data contain one such ranking, or a few such rankings in chunks along both dimensions::

    chunk    chunk    chunk    chunk           along the candidates
      |        |        |        |
    heads    heads    heads    heads           the head of each ranking in the chunk
        \     /            \     /
        merged            merged               ranking by ranking, heads.merged
             \             /
              finish, ask a head is processed like a ranking
                   |
        columns of the answer

A stand-in Dataset without values determines the shapes and dtypes of the answer. Building the graph
does not compute data, hash labels or sort labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import RankevalWarning
from rankeval_pd.forms.lazy import heads
from rankeval_pd.forms.lazy.engine import (
    Batches,
    Chunk,
    Graph,
    Sizes,
    ask_chunks,
    box,
    boxes,
    chunk_bytes,
    content,
    merge_width,
)
from rankeval_pd.forms.lazy.heads import PartialHead, Request
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.annotators import annotators_of
from rankeval_pd.forms.rankings.candidates import read_dataset, read_frame
from rankeval_pd.forms.roles.columns import (
    find_gold,
    find_measures,
    signs_of,
    split_measures,
    with_roles_of,
)
from rankeval_pd.forms.roles.given_values import with_given_dataset
from rankeval_pd.forms.roles.roles import Roles, are_values, as_names
from rankeval_pd.stats._types import AnyArray

SomeRoles = TypeVar("SomeRoles")


def find_batches(
    data: xr.Dataset, roles: Roles, read: Callable[[xr.Dataset, Roles], xr.Dataset], *, scored: bool
) -> Batches | None:
    """Return the rankings of a lazy Dataset in chunks, or None for other data."""
    if roles.by is not None or not all(data.sizes.values()) or roles.dim not in data.dims:
        return None
    if not any(x.chunks is not None for x in data.variables.values()):
        return None
    data, roles = with_given_dataset(data, roles)
    if annotators_of(data, roles):
        return None
    gold = find_gold(data, roles)
    named = with_roles_of(gold, roles, data.variables)
    if any(are_values(name) or name not in data.variables for name in named):
        return None
    measures = find_measures(data, roles, named, needed=scored)
    chosen = replace(roles, gold=gold, exclude=None, lower_is_better=roles.lower_is_better)
    if scored or measures:
        chosen = replace(chosen, measures=list(measures))
    return in_chunks(data, roles.dim, named, measures, chosen, read)


def in_chunks(
    data: xr.Dataset,
    dim: Hashable,
    named: Sequence[Hashable],
    measures: Sequence[Hashable],
    roles: SomeRoles,
    read: Callable[[xr.Dataset, SomeRoles], Any],
) -> Batches | None:
    """Return the rankings along ``dim`` in chunks, or None for other data.

    ``named`` lists the variables with a role. ``read`` receives ``roles`` for each chunk.
    """
    scores = [x for x in measures if x in data.data_vars]
    if len(scores) < len(measures):
        scores += [n for n, x in data.data_vars.items() if "measure" in x.dims and n not in scores]
    kept = data[list(dict.fromkeys([*named, *scores]))]
    batch = [d for d in kept.dims if d not in (dim, "measure")]
    lazy = {n: x for n, x in kept.variables.items() if x.chunks is not None and dim in x.dims}
    if not batch or not lazy:
        return None
    idle = [
        name for name, x in kept.coords.items() if name not in named and set(x.dims) & set(batch)
    ]
    return Batches(kept.drop_vars(idle), data.assign(_without_values(lazy, data)), roles, read)


def _without_values(lazy: Mapping[Hashable, Any], data: xr.Dataset) -> dict[Hashable, Any]:
    import dask.array as da

    return {
        name: (x.dims, da.zeros(x.shape, dtype=x.dtype, chunks=-1), data[name].attrs)
        for name, x in lazy.items()
    }


# ---------------------------------------------- Heads of a few rankings, each in several chunks

_LABEL = "_label"  # the column that contains the labels of an index
_KEY = "_key"
_LARGE = 2**26  # bytes; smaller chunks of rankings are processed without heads


class Columns(NamedTuple):
    """Store a lazy ranking as columns with one value per candidate."""

    variables: dict[Hashable, xr.Variable]
    request: Request  #: the request, before the list sizes are known
    roles: Roles  #: the roles for the head


def chunked_ranking(data: xr.Dataset, roles: Roles) -> Columns | None:
    """Return the columns of a lazy ranking that spans chunks, or None."""
    if roles.groups is not None or roles.missing == "drop" or roles.by is not None:
        return None
    if annotators_of(data, roles):
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
    """Return whether the labels are consecutive numbers from 0."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def stand_in(data: xr.Dataset, columns: Columns) -> tuple[xr.Dataset, dict[str, Any]]:
    """Return a lazy placeholder Dataset with the right shapes, and the roles."""
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


@dataclass(frozen=True)
class HeadBatches(Batches):
    """Process rankings in chunks of candidates, using the heads of the rankings."""

    columns: Columns
    n_max: int
    n_keys: int

    def answered(
        self,
        batch: Sequence[Hashable],
        dims: Mapping[Hashable, tuple[Hashable, ...]],
        ask: Callable[..., xr.Dataset],
        *more: Any,
    ) -> tuple[Any, Sizes]:
        """Return the boxed columns of each chunk of rankings, and the chunk sizes."""
        keep = heads.needed_ranks(self.n_max)
        request = self.columns.request._replace(keep=keep, orders=self.n_keys)
        from dask.base import optimize

        parts, [*sizes, candidates] = self._parts(batch, request)
        [parts] = optimize(parts)  # one task reads and reduces a chunk
        graph = Graph()
        name, tasks = graph.of(parts), {}
        width = merge_width(8 * keep * len(request.measures) * (4 + len(request.measures)))
        for place in np.ndindex(*map(len, sizes)):
            several = [(name, *place, number) for number in range(len(candidates))]
            merged = graph.tree(several, partial(_merged, request=request), width)
            shape = {d: along[i] for d, along, i in zip(batch, sizes, place, strict=True)}
            of_heads = partial(
                _columns_of_heads, request=request, roles=self.columns.roles, n_max=self.n_max,
                ask=ask, more=more, dims=dict(dims), shape=shape,
            )  # fmt: skip
            tasks[place] = (of_heads, merged)
        return boxes(f"answered-{name}", tasks, sizes, graph), sizes

    def _parts(self, batch: Sequence[Hashable], request: Request) -> tuple[Any, Sizes]:
        """Return the boxed heads of each chunk, and the chunk sizes."""
        variables = {
            name: self.data[name].variable if name in self.data.variables else variable
            for name, variable in self.columns.variables.items()
        }
        along = [*batch, self.roles.dim]
        of_part = partial(_part, batch=list(batch), request=request)
        return ask_chunks(of_part, variables, along)


def head_of_chunks(columns: Columns, n_max: int, n_keys: int) -> Batches:
    """Process one ranking in chunks of candidates, using the head of the ranking."""
    dim = next(iter(columns.variables.values())).dims[0]
    roles = replace(columns.roles, dim=dim)
    nothing = xr.Dataset()  # the columns contain all data
    return HeadBatches(nothing, nothing, roles, read_dataset, columns, n_max, n_keys)


def with_heads(batches: Batches, n_max: int, n_keys: int) -> Batches:
    """Process large rankings in chunks using their heads, or return None."""
    data, dim = batches.data, batches.roles.dim
    batch = [d for d in data.dims if d not in (dim, "measure")]
    if "measure" in data.dims:
        return batches
    columns = chunked_ranking(data.isel(dict.fromkeys(batch, 0)), batches.roles)
    if columns is None or chunk_bytes(data, dim) < _LARGE:
        return batches
    return HeadBatches(data, batches.stand_in, batches.roles, batches.read, columns, n_max, n_keys)


def _part(chunk: Chunk, *, batch: list[Hashable], request: Request) -> list[PartialHead]:
    """Return the heads of the rankings in a chunk, in chunk order."""
    variables = {name: xr.Variable(*x) for name, x in chunk.variables.items()}
    sizes = {d: n for x in variables.values() for d, n in x.sizes.items()}
    found = []
    for cell in np.ndindex(*(sizes[d] for d in batch)):
        at = dict(zip(batch, cell, strict=True))
        frame = pd.DataFrame(
            {name: x.isel(at, missing_dims="ignore").to_numpy() for name, x in variables.items()}
        )
        found.append(heads.reduced(frame, request, chunk.place[-1], chunk.begin[-1]))
    return found


def _merged(parts: list[list[PartialHead]], *, request: Request) -> list[PartialHead]:
    return [heads.merged(list(several), request) for several in zip(*parts, strict=True)]


def _columns_of_heads(
    found: Any,
    *,
    request: Request,
    roles: Roles,
    n_max: int,
    ask: Callable[..., xr.Dataset],
    more: Sequence[Any],
    dims: Mapping[Hashable, tuple[Hashable, ...]],
    shape: Mapping[Hashable, int],
) -> AnyArray:
    """Return the boxed columns of a chunk of rankings with this ``shape``."""
    answers = []
    for part in content(found):
        head = heads.finished(part, request, roles, n_max)
        with warnings.catch_warnings():
            if shape:  # some rankings may have no true positives
                warnings.simplefilter("ignore", RankevalWarning)
            inner = read_frame(head, roles).members[0].isel({tables.GROUP: 0}, drop=True)
        answers.append(ask(inner, *more))
    columns = {}
    for name, along in dims.items():
        rest = [d for d in along if d not in shape]
        every = np.stack([x[name].transpose(*rest).to_numpy() for x in answers])
        whole = xr.Variable([*shape, *rest], every.reshape(*shape.values(), *every.shape[1:]))
        lacking = {d: 0 for d in shape if d not in along}
        columns[name] = whole.isel(lacking).transpose(*along).to_numpy()
    return box(columns, len(shape))
