r"""Build graphs for lazy data: process chunks, merge answers, box results.

Every lazy graph has the following shape. Other files define the functions for chunks and merges::

    chunk   chunk   chunk   chunk     blocks of a Dataset, or partitions of a DataFrame
      |       |       |       |
     ask     ask     ask     ask      ask_chunks, Graph.ask_partitions: one task per chunk
       \     /         \     /
       merge           merge          Graph.tree: at most MERGED answers at a time
            \         /
             finish                   Graph.add: one task
            /   |   \
      column  column  column          lazy_columns: one task per column of the result

A box is an array that contains one object, so any answer can be stored in a Dask array. Building a
graph computes no data, and Dask is imported only when needed.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import os
import sys
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import xarray as xr

from rankeval_pd.stats._types import AnyArray

MERGED = 16  # answers merged at a time; a wider tree needs more memory and saves few tasks
_MEMORY = 2**30  # bytes per thread if no cluster sets a limit
_JOINED = 2**25  # bytes of neighboring answers that are merged into one answer

Sizes = list[tuple[int, ...]]  # sizes of the chunks along each dimension


class Chunk(NamedTuple):
    """Store a block of the data and its position."""

    place: tuple[int, ...]  #: the chunk's number along each dimension
    begin: tuple[int, ...]  #: the chunk's start along each dimension
    variables: dict[Hashable, tuple[tuple[Hashable, ...], AnyArray]]


# ------------------------------------------------------------------------------------------- boxes


def box(content: Any, ndim: int) -> AnyArray:
    """Return an array that contains one object and has ``ndim`` dimensions."""
    boxed = np.empty((1,) * ndim, dtype=object)
    boxed[(0,) * ndim] = content
    return boxed


def content(part: Any) -> Any:
    """Return the content of a box. Answers without a box are returned unchanged."""
    return part.item() if isinstance(part, np.ndarray) and part.dtype == object else part


# ------------------------------------------------------------------------------------------- trees


def cluster() -> tuple[int, int]:
    """Return the memory per thread and the number of threads."""
    alone = _MEMORY, os.cpu_count() or 1
    if "distributed" not in sys.modules:  # looking for a cluster imports distributed, which is slow
        return alone
    from distributed import get_client

    try:
        workers = get_client().scheduler_info(n_workers=-1)["workers"].values()
    except ValueError:
        return alone
    limits = [w["memory_limit"] // max(1, w["nthreads"]) for w in workers if w["memory_limit"]]
    return int(min(limits, default=_MEMORY)), sum(w["nthreads"] for w in workers)


def merge_width(answer_bytes: float) -> int:
    """Return how many large answers fit in a quarter of a thread's memory."""
    return int(min(max(cluster()[0] // 4 // max(1.0, answer_bytes), 2), MERGED))


class Graph:
    """Collect the tasks of one call.

    The arguments of a task are names of other tasks, or lists of such names. Use
    ``functools.partial`` for all other arguments.
    """

    def __init__(self) -> None:
        self._tasks: dict[Any, Any] = {}
        self._data: list[Any] = []
        self._token = uuid.uuid4().hex
        self._layers: Any = None  # many results share the layers, which are rebuilt after a change

    def add(self, function: Callable[..., Any], *names: Any) -> str:
        """Add a task and return the task's name."""
        plain = getattr(function, "func", function)
        called = getattr(plain, "__name__", "take").strip("_")
        name = f"{called}-{self._token}-{len(self._tasks)}"
        self._tasks[name] = (function, *names)
        self._layers = None
        return name

    def of(self, data: Any) -> str:
        """Return the name of a delayed object, or the shared name of an array's blocks."""
        self._data.append(data)
        self._layers = None
        name: str = data.key if hasattr(data, "key") else data.name
        return name

    def ask_partitions(
        self, ask: Callable[..., Any], partitions: Sequence[Any], *names: str, **own: Sequence[Any]
    ) -> list[str]:
        """Return one task for each partition, with shared and individual arguments."""
        each = [dict(zip(own, x, strict=True)) for x in zip(*own.values(), strict=True)]
        return [
            self.add(functools.partial(ask, **keywords), self.of(partition), *names)
            for partition, keywords in zip(partitions, each or [{}] * len(partitions), strict=True)
        ]

    def tree(
        self, answers: Sequence[Any], merge: Callable[[list[Any]], Any], width: int = MERGED
    ) -> Any:
        """Return a task that merges all answers step by step."""
        join, level = functools.partial(_merge_contents, merge=merge), list(answers)
        while len(level) > 1:
            batches = [level[start : start + width] for start in range(0, len(level), width)]
            level = [self.add(join, x) if len(x) > 1 else x[0] for x in batches]
        return level[0]

    def __dask_graph__(self) -> Any:
        """Return the tasks of this graph and of the data."""
        from dask.highlevelgraph import HighLevelGraph

        if self._layers is None:
            [layer], tasks = self.__dask_layers__(), cast(Any, self._tasks)
            self._layers = HighLevelGraph.from_collections(layer, tasks, dependencies=self._data)
        return self._layers

    def __dask_layers__(self) -> tuple[str]:
        return (f"rankeval-{self._token}",)

    def delayed(self, name: str) -> Any:
        """Return a task as a Dask delayed object."""
        from dask.delayed import Delayed

        return Delayed(name, self.__dask_graph__(), layer=self.__dask_layers__()[0])

    def compute(self, *names: str) -> tuple[Any, ...]:
        """Compute these tasks in one run of the scheduler, and return the results."""
        from dask.base import compute

        return tuple(compute(*map(self.delayed, names)))

    def persist(self, *names: str) -> tuple[Any, ...]:
        """Return delayed tasks whose results stay in the workers' memory."""
        from dask.base import persist

        return tuple(persist(*map(self.delayed, names)))


def _merge_contents(parts: list[Any], *, merge: Callable[[list[Any]], Any]) -> Any:
    return merge([content(part) for part in parts])


# ------------------------------------------------------------------------------------------ chunks


def ask_chunks(
    ask: Callable[..., Any],
    variables: Mapping[Hashable, xr.Variable],
    along: Sequence[Hashable],
    *more: Any,
) -> tuple[Any, Sizes]:
    """Return an array of boxed answers, and the sizes of the chunks.

    Every block along the dimensions ``along`` is a chunk. Blocks along other dimensions are
    concatenated. ``ask`` takes a :class:`Chunk` and ``more``, which can be delayed objects.
    """
    import dask.array as da
    from dask.layers import ArrayBlockIdDep

    lazy = {name: x for name, x in variables.items() if x.chunks is not None}
    every = [*along, *itertools.chain.from_iterable(x.dims for x in variables.values())]
    number = {d: i for i, d in enumerate(dict.fromkeys(every))}
    axes = {name: tuple(number[d] for d in x.dims) for name, x in variables.items()}
    pairs = [(x.data, axes[name]) for name, x in lazy.items()]
    chunks, blocks = cast(Any, da).core.unify_chunks(*itertools.chain.from_iterable(pairs))
    arrays = dict(zip(lazy, blocks, strict=True))
    for name, x in variables.items():
        for axis, size in zip(axes[name], x.shape, strict=True):
            chunks.setdefault(axis, (size,))
        if name not in lazy:
            own = tuple(chunks[axis] for axis in axes[name])
            arrays[name] = cast(Any, da.from_array)(np.asarray(x.data), chunks=own)
    sizes = [chunks[number[d]] for d in along]
    blockwise: Any = da.blockwise
    out = tuple(range(len(along)))
    answers = blockwise(
        _ask_in_box,
        out,
        ArrayBlockIdDep(tuple(sizes)),  # Dask passes the chunk's position without a task
        out,
        *itertools.chain.from_iterable((arrays[name], axes[name]) for name in variables),
        begins=[np.cumsum([0, *own[:-1]]).tolist() for own in sizes],
        dims={name: x.dims for name, x in variables.items()},
        ask=ask,
        more=list(more),
        concatenate=True,
        align_arrays=False,
        adjust_chunks=dict.fromkeys(out, 1),
        dtype=object,
        meta=np.empty((0,) * len(along), dtype=object),
    )
    return answers, sizes


def _ask_in_box(
    place: tuple[int, ...],
    *blocks: AnyArray,
    begins: list[list[int]],
    dims: Mapping[Hashable, tuple[Hashable, ...]],
    ask: Callable[..., Any],
    more: list[Any],
) -> AnyArray:
    """Return the boxed answer for one chunk."""
    variables = {
        name: (along, block) for (name, along), block in zip(dims.items(), blocks, strict=True)
    }
    begin = tuple(own[number] for own, number in zip(begins, place, strict=True))
    return box(ask(Chunk(place, begin, variables), *more), len(place))


# ----------------------------------------------------------------------------------------- columns


def lazy_array(
    name: str, tasks: Mapping[tuple[int, ...], Any], chunks: Any, source: Any, dtype: Any
) -> Any:
    """Return a lazy array with one task for each block."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    layer = {(name, *place): task for place, task in tasks.items()}
    graph = HighLevelGraph.from_collections(name, cast(Any, layer), dependencies=[source])
    return cast(Any, da.Array)(graph, name, chunks, dtype=dtype)


def boxes(name: str, tasks: Mapping[tuple[int, ...], Any], sizes: Sizes, source: Any) -> Any:
    """Return a lazy array of boxes with one task per chunk."""
    return lazy_array(name, tasks, tuple((1,) * len(x) for x in sizes), source, object)


def lazy_columns(
    answers: Any,
    sizes: Sizes,
    batch: Sequence[Hashable],
    templates: Mapping[Hashable, xr.DataArray],
) -> dict[Hashable, Any]:
    """Return lazy columns, shaped like the templates, from named answers.

    Small answers from neighboring chunks are merged first to reduce the number of tasks.
    """
    dims = {name: x.dims for name, x in templates.items()}
    answer_bytes = sum(x.nbytes for x in templates.values()) / math.prod(map(len, sizes))
    together = int(min(max(_JOINED // max(1.0, answer_bytes), 1), MERGED))
    answers, sizes = _joined(answers, sizes, batch, dims, together)
    return {name: _column(answers, sizes, batch, name, x) for name, x in templates.items()}


def _joined(
    answers: Any,
    sizes: Sizes,
    batch: Sequence[Hashable],
    dims: Mapping[Hashable, tuple[Hashable, ...]],
    together: int,
) -> tuple[Any, Sizes]:
    """Merge neighboring answers along the dimension with the most chunks."""
    along = max(sizes, key=len, default=())
    if min(together, len(along)) <= 1:
        return answers, sizes
    axis = sizes.index(along)
    starts = range(0, len(along), together)
    fewer = list(sizes)
    fewer[axis] = tuple(sum(along[start : start + together]) for start in starts)
    axes = {name: own.index(batch[axis]) for name, own in dims.items() if batch[axis] in own}
    join = functools.partial(_concatenate, axes=axes)
    tasks = {}
    for place in np.ndindex(*map(len, fewer)):
        first = together * place[axis]
        numbers = range(first, min(first + together, len(along)))
        tasks[place] = (
            join,
            [(answers.name, *place[:axis], number, *place[axis + 1 :]) for number in numbers],
        )
    return boxes(f"joined-{answers.name}", tasks, fewer, answers), fewer


def _concatenate(parts: list[AnyArray], *, axes: Mapping[Hashable, int]) -> AnyArray:
    answers = [content(part) for part in parts]
    joined = {
        name: np.concatenate([x[name] for x in answers], axis=axes[name]) if name in axes else own
        for name, own in answers[0].items()
    }
    return box(joined, parts[0].ndim)


def _column(
    answers: Any, sizes: Sizes, batch: Sequence[Hashable], name: Hashable, template: xr.DataArray
) -> Any:
    """Return one column of the answers."""
    of_batch = dict(zip(batch, sizes, strict=True))
    axes = {d: i for i, d in enumerate(template.dims)}
    chunks = tuple(
        of_batch.get(d, (size,)) for d, size in zip(template.dims, template.shape, strict=True)
    )
    take = functools.partial(_taken, name=name)
    tasks = {
        place: (take, (answers.name, *(place[axes[d]] if d in axes else 0 for d in batch)))
        for place in np.ndindex(*map(len, chunks))
    }
    return lazy_array(f"column-{name}-{answers.name}", tasks, chunks, answers, template.dtype)


def _taken(answer: AnyArray, *, name: Hashable) -> AnyArray:
    column: AnyArray = content(answer)[name]
    return column


# ----------------------------------------------------------------------------------------- batches


@dataclass(frozen=True)
class Batches:
    """Store rankings in chunks."""

    data: xr.Dataset  #: the variables in use
    stand_in: xr.Dataset  #: a Dataset with the same shape but no lazy values
    roles: Any  #: roles by name, for rankings or queries
    read: Callable[[xr.Dataset, Any], Any]  #: converts a chunk to the argument of ``ask``

    def filled(
        self,
        template: xr.Dataset,
        batch: Sequence[Hashable],
        ask: Callable[..., xr.Dataset],
        *more: Any,
    ) -> xr.Dataset:
        """Fill the template with the answers for all chunks of rankings.

        ``ask`` takes the internal form of a chunk, and ``more``, which can be delayed objects.
        """
        lazy = {name: x for name, x in template.data_vars.items() if x.chunks is not None}
        dims = {name: x.dims for name, x in lazy.items()}
        answers, sizes = self.answered(batch, dims, ask, *more)
        columns = lazy_columns(answers, sizes, batch, lazy)
        return template.assign({n: (dims[n], columns[n], x.attrs) for n, x in lazy.items()})

    def answered(
        self,
        batch: Sequence[Hashable],
        dims: Mapping[Hashable, tuple[Hashable, ...]],
        ask: Callable[..., xr.Dataset],
        *more: Any,
    ) -> tuple[Any, Sizes]:
        """Return the boxed columns of each chunk, and the chunk sizes.

        ``dims`` maps the names of the columns to their dimensions.
        """

        def columns_of(inner: xr.Dataset, *more: Any) -> dict[Hashable, AnyArray]:
            found = ask(inner, *more)
            return {n: found[n].transpose(*along).to_numpy() for n, along in dims.items()}

        return self._answers(batch, columns_of, *more)

    def reduced(
        self,
        batch: Sequence[Hashable],
        ask: Callable[[xr.Dataset], Any],
        merged: Callable[[list[Any]], Any],
    ) -> Any:
        """Merge the answers for all chunks lazily. No answer can be larger than a chunk."""
        answers, sizes = self._answers(batch, ask)
        graph = Graph()
        name = graph.of(answers)
        places = [(name, *place) for place in np.ndindex(*map(len, sizes))]
        width = merge_width(chunk_bytes(self.data, self.roles.dim))
        return graph.delayed(graph.add(content, graph.tree(places, merged, width)))

    def collected(
        self, batch: Sequence[Hashable], ask: Callable[[xr.Dataset], Any]
    ) -> list[tuple[tuple[int, ...], Any]]:
        """Return each chunk's computed answer and its start in the batch."""
        answers, sizes = self._answers(batch, ask)
        starts = [np.cumsum([0, *along[:-1]]).tolist() for along in sizes]
        found = answers.compute()
        places = np.ndindex(found.shape)
        return [(tuple(map(operator.getitem, starts, at)), found[at]) for at in places]

    def _answers(
        self, batch: Sequence[Hashable], ask: Callable[..., Any], *more: Any
    ) -> tuple[Any, Sizes]:
        """Return the boxed answers for the chunks, and the chunk sizes."""
        cut = {n: x for n, x in self.data.variables.items() if _is_cut(x, batch)}
        beside = self.data.drop_vars(list(cut))
        let_in = functools.partial(
            _let_in, beside=beside, roles=self.roles, read=self.read, ask=ask
        )
        return ask_chunks(let_in, cut, batch, *more)


def _let_in(
    chunk: Chunk,
    *more: Any,
    beside: xr.Dataset,
    roles: Any,
    read: Callable[[xr.Dataset, Any], Any],
    ask: Callable[..., Any],
) -> Any:
    """Convert one chunk to the internal form, and return the answer."""
    return ask(read(beside.assign(chunk.variables), roles), *more)


def _is_cut(variable: xr.Variable, batch: Sequence[Hashable]) -> bool:
    """Return whether a variable is lazy or has a value for each ranking."""
    return variable.chunks is not None or bool(set(variable.dims) & set(batch))


def chunk_bytes(data: xr.Dataset, dim: Hashable) -> int:
    """Return the size in bytes of the largest chunk of complete rankings."""
    return 8 * sum(
        math.prod(
            size if d == dim else max(sizes)
            for d, size, sizes in zip(x.dims, x.shape, x.chunks, strict=True)
        )
        for x in data.variables.values()
        if x.chunks
    )
