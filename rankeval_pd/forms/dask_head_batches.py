"""Lazy Datasets of a few rankings, each too large for a worker: the head of each of them.

Each chunk is reduced to the heads of the rankings that it has a part of, heads are merged along the
candidates, and what is asked of a chunk of rankings is asked of their heads.
"""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import xarray as xr

from rankeval_pd.errors import RankevalWarning
from rankeval_pd.forms import heads, tables
from rankeval_pd.forms.dask_batches import Batches, held
from rankeval_pd.forms.dask_datasets import Columns, chunked_ranking
from rankeval_pd.forms.heads import Part, Request
from rankeval_pd.forms.rankings import read_frame
from rankeval_pd.forms.roles import Roles
from rankeval_pd.stats._types import AnyArray

_LARGE = 2**26  # bytes: less of a chunk of rankings, with all their candidates, is asked as it is
_MERGED = 8  # heads that are merged at a time


@dataclass(frozen=True)
class HeadBatches(Batches):
    """Rankings of which the heads are asked."""

    columns: Columns
    n_max: int
    n_keys: int

    def answered(
        self,
        batch: Sequence[Hashable],
        dims: Mapping[Hashable, tuple[Hashable, ...]],
        ask: Callable[..., xr.Dataset],
        *given: Any,
    ) -> tuple[Any, list[tuple[int, ...]]]:
        """Return the columns of each chunk of rankings, and the sizes of the chunks."""
        import dask.array as da
        from dask.highlevelgraph import HighLevelGraph

        parts, sizes, candidates = self._parts(batch)
        name = f"answered-{parts.name}"
        tasks: dict[Any, Any] = {}
        for place in np.ndindex(*map(len, sizes)):
            level: list[Any] = [(parts.name, *place, k) for k in range(candidates)]
            for round_ in itertools.count():
                if len(level) == 1:
                    break
                batches = [level[i : i + _MERGED] for i in range(0, len(level), _MERGED)]
                keys = [(f"merged-{name}", *place, round_, i) for i in range(len(batches))]
                tasks |= {
                    key: (_merged, several, self.request)
                    for key, several in zip(keys, batches, strict=True)
                }
                level = list(keys)
            shape = [along[i] for along, i in zip(sizes, place, strict=True)]
            tasks[(name, *place)] = (
                _answer, level[0], self.request, self.columns.roles, self.n_max, ask, list(given),
                dict(dims), list(batch), shape,
            )  # fmt: skip
        graph = HighLevelGraph.from_collections(name, tasks, dependencies=[parts])
        chunks = tuple((1,) * len(along) for along in sizes)
        meta = np.empty((0,) * len(batch), dtype=object)
        return cast(Any, da.Array)(graph, name, chunks, meta=meta), sizes

    @property
    def request(self) -> Request:
        """What is asked of every chunk."""
        keep = heads.needed_ranks(self.n_max)
        return self.columns.request._replace(keep=keep, orders=self.n_keys)

    def _parts(self, batch: Sequence[Hashable]) -> tuple[Any, list[tuple[int, ...]], int]:
        """Return the heads in each chunk, an object for each, the sizes, and how many there are."""
        import dask.array as da

        number = {d: i for i, d in enumerate([*batch, self.roles.dim])}
        size = self.data.sizes[self.roles.dim]
        variables = {
            name: self.data[name].variable if name in self.data.variables else variable
            for name, variable in self.columns.variables.items()
        }
        lazy = max((x for x in variables.values() if x.chunks), key=lambda x: len(x.chunks or ()))
        along = lazy.chunks[lazy.dims.index(self.roles.dim)] if lazy.chunks else (size,)
        place = cast(Any, da.arange)(size, chunks=(along,))
        pairs: list[Any] = [(place, (number[self.roles.dim],))]
        for x in variables.values():
            data = x.data if x.chunks else cast(Any, da.from_array)(np.asarray(x), chunks=-1)
            pairs.append((data, tuple(number[d] for d in x.dims)))
        chunks, arrays = cast(Any, da).core.unify_chunks(*itertools.chain.from_iterable(pairs))
        candidates = chunks[number[self.roles.dim]]
        indices = [places for _, places in pairs]
        parts = cast(Any, da.blockwise)(
            _part,
            tuple(number.values()),
            *itertools.chain.from_iterable(zip(arrays, indices, strict=True)),
            names=list(variables),
            dims=[x.dims for x in variables.values()],
            batch=list(batch),
            starts=np.cumsum([0, *candidates[:-1]]).tolist(),
            request=self.request,
            adjust_chunks=dict.fromkeys(number.values(), _one),
            dtype=object,
            meta=np.empty((0,) * len(number), dtype=object),
        )
        return parts, [chunks[number[d]] for d in batch], len(candidates)


def with_heads(batches: Batches, n_max: int, n_keys: int) -> Batches:
    """Return rankings of which the heads are asked, where they are large and come in chunks."""
    data, dim = batches.data, batches.roles.dim
    batch = [d for d in data.dims if d not in (dim, "measure")]
    if "measure" in data.dims:
        return batches
    columns = chunked_ranking(data.isel(dict.fromkeys(batch, 0)), batches.roles)
    if columns is None:
        return batches
    chunk = sum(
        math.prod(
            size if d == dim else max(sizes)
            for d, size, sizes in zip(x.dims, x.shape, x.chunks, strict=True)
        )
        for x in data.variables.values()
        if x.chunks
    )
    if 8 * chunk < _LARGE:
        return batches
    return HeadBatches(
        batches.data, batches.stand_in, batches.roles, batches.read, columns, n_max, n_keys
    )


def _one(_: int) -> int:
    return 1


def _part(
    place: AnyArray,
    *blocks: AnyArray,
    names: list[Hashable],
    dims: list[tuple[Hashable, ...]],
    batch: list[Hashable],
    starts: list[int],
    request: Request,
) -> AnyArray:
    """Return the heads of the rankings in a chunk, in the order of their places."""
    import pandas as pd

    given = {
        name: xr.Variable(along, block)
        for name, along, block in zip(names, dims, blocks, strict=True)
    }
    sizes = {d: n for x in given.values() for d, n in x.sizes.items()}
    start = int(place[0])
    found = []
    for cell in np.ndindex(*(sizes[d] for d in batch)):
        at = dict(zip(batch, cell, strict=True))
        frame = pd.DataFrame(
            {
                name: x.isel({d: i for d, i in at.items() if d in x.dims}).to_numpy()
                for name, x in given.items()
            }
        )
        found.append(heads.reduced(frame, request, bisect.bisect(starts, start) - 1, start))
    return held(found, len(batch) + 1)


def _merged(parts: list[Any], request: Request) -> list[Part]:
    of_chunks = [x.item() if isinstance(x, np.ndarray) else x for x in parts]
    return [heads.merged(list(several), request) for several in zip(*of_chunks, strict=True)]


def _answer(
    found: Any,
    request: Request,
    roles: Roles,
    n_max: int,
    ask: Callable[..., xr.Dataset],
    given: list[Any],
    dims: Mapping[Hashable, tuple[Hashable, ...]],
    batch: list[Hashable],
    shape: list[int],
) -> AnyArray:
    """Return the columns of a chunk of rankings, in an array of one object."""
    parts: list[Part] = found.item() if isinstance(found, np.ndarray) else found
    answers = []
    for part in parts:
        head = heads.finished(part, request, roles, n_max)
        with warnings.catch_warnings():  # one ranking may well have no true positive
            warnings.simplefilter("ignore", RankevalWarning)
            inner = read_frame(head, roles).members[0].isel({tables.GROUP: 0}, drop=True)
        answers.append(ask(inner, *given))
    columns = {}
    for name, along in dims.items():
        rest = [d for d in along if d not in batch]
        every = np.stack([x[name].transpose(*rest).to_numpy() for x in answers])
        whole = xr.Variable([*batch, *rest], every.reshape(*shape, *every.shape[1:]))
        lacking = {d: 0 for d in batch if d not in along}
        columns[name] = whole.isel(lacking).transpose(*along).to_numpy()
    return held(columns, len(batch))
