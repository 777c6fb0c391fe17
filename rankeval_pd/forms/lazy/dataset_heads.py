"""The heads of lazy Datasets: of one ranking in chunks, or of a few large ones."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import RankevalWarning
from rankeval_pd.forms.lazy import heads
from rankeval_pd.forms.lazy.batches import Batches, held
from rankeval_pd.forms.lazy.heads import HeadFrame, Part, Request
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.candidates import read_frame
from rankeval_pd.forms.roles.columns import (
    find_gold,
    find_measures,
    signs_of,
    split_measures,
    with_roles_of,
)
from rankeval_pd.forms.roles.roles import Roles, are_values, as_names
from rankeval_pd.stats._types import AnyArray

# -------------------------------------------------------------------------------------------------
# Lazy Datasets of one ranking, chunked along its candidates: their heads, still lazily.
#
# Such a ranking need not fit in the memory of a worker, and what is asked about lists of given
# sizes needs its head alone. The graph has a task for each chunk, a tree of merged heads, and one
# task that asks the question; nothing is computed while it is built, labels neither hashed nor
# sorted.

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


# -------------------------------------------------------------------------------------------------
# Lazy Datasets of a few rankings, each too large for a worker: the head of each of them.
#
# Each chunk is reduced to the heads of the rankings that it has a part of, heads are merged along
# the candidates, and what is asked of a chunk of rankings is asked of their heads.

_LARGE = 2**26  # bytes: less of a chunk of rankings, with all their candidates, is asked as it is


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
                    key: (_merged_heads, several, self.request)
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
            _head_part,
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


def _head_part(
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


def _merged_heads(parts: list[Any], request: Request) -> list[Part]:
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
