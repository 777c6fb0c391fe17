"""Lazy Datasets of many rankings: each chunk of them is let in and asked in one task.

The form of the answer is that of a stand-in of the same shapes and dtypes, without values. Answers
of neighbouring chunks that are small are put together before their columns are taken, so that the
graph has some ten tasks for each chunk, whatever the question and the number of its columns.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
import xarray as xr

from rankeval_pd.forms.roles.columns import (
    find_gold,
    find_measures,
    with_given_dataset,
    with_roles_of,
)
from rankeval_pd.forms.roles.roles import Roles, are_values
from rankeval_pd.stats._types import AnyArray

SomeRoles = TypeVar("SomeRoles")

_JOINED = 16  # neighbouring chunks whose answers are put together, at most
_MERGED = 4  # answers that are merged at a time: each may be as large as a chunk
_ROOM = 2**25  # bytes of the answers that are


@dataclass(frozen=True)
class Batches:
    """Rankings that come in chunks."""

    data: xr.Dataset  #: the variables in use
    stand_in: xr.Dataset  #: of the same form, without the values that are lazy
    roles: Any  #: by name, of rankings or of queries
    read: Callable[[xr.Dataset, Any], Any]  #: what ``ask`` takes of a chunk

    def filled(
        self,
        template: xr.Dataset,
        batch: Sequence[Hashable],
        ask: Callable[..., xr.Dataset],
        *given: Any,
    ) -> xr.Dataset:
        """Return the template with the values that the question has of each chunk of rankings.

        ``ask`` takes the inner form of a chunk, and what is given, which may be delayed.
        """
        lazy = {name: x for name, x in template.data_vars.items() if x.chunks is not None}
        dims = {name: x.dims for name, x in lazy.items()}

        answers, sizes = self.answered(batch, dims, ask, *given)
        bytes_ = sum(x.nbytes for x in lazy.values()) / math.prod(map(len, sizes))
        together = int(min(max(_ROOM // max(1.0, bytes_), 1), _JOINED))
        answers, sizes = _joined(answers, sizes, batch, dims, together)
        columns = {
            name: (x.dims, _column(answers, sizes, batch, name, x), x.attrs)
            for name, x in lazy.items()
        }
        return template.assign(columns)

    def answered(
        self,
        batch: Sequence[Hashable],
        dims: Mapping[Hashable, tuple[Hashable, ...]],
        ask: Callable[..., xr.Dataset],
        *given: Any,
    ) -> tuple[Any, list[tuple[int, ...]]]:
        """Return an array of the columns, an object for each chunk, and the sizes of the chunks.

        ``dims`` are the names and the dimensions of the columns.
        """

        def columns_of(inner: xr.Dataset, *given: Any) -> dict[Hashable, AnyArray]:
            found = ask(inner, *given)
            return {n: found[n].transpose(*along).to_numpy() for n, along in dims.items()}

        return self._asked(batch, columns_of, *given)

    def reduced(
        self,
        batch: Sequence[Hashable],
        ask: Callable[[xr.Dataset], Any],
        merged: Callable[[list[Any]], Any],
    ) -> Any:
        """Return what is asked of all chunks, some merged at a time, delayed."""
        from dask.delayed import delayed

        answers, _ = self._asked(batch, ask)
        merge = delayed(_merged, pure=False)
        level = answers.to_delayed().ravel().tolist()
        while len(level) > 1 or level[0].key[0] == answers.name:
            level = [merge(level[i : i + _MERGED], merged) for i in range(0, len(level), _MERGED)]
        return level[0]

    def collected(
        self, batch: Sequence[Hashable], ask: Callable[[xr.Dataset], Any]
    ) -> list[tuple[tuple[int, ...], Any]]:
        """Return what is asked of each chunk, computed, and where in the batch the chunk begins."""
        answers, sizes = self._asked(batch, ask)
        starts = [np.cumsum([0, *along[:-1]]).tolist() for along in sizes]
        found = answers.compute()
        return [
            (tuple(along[i] for along, i in zip(starts, place, strict=True)), found[place])
            for place in np.ndindex(found.shape)
        ]

    def _asked(
        self, batch: Sequence[Hashable], ask: Callable[..., Any], *given: Any
    ) -> tuple[Any, list[tuple[int, ...]]]:
        """Return an array of the answers, an object for each chunk, and the sizes of the chunks."""
        import dask.array as da

        cut = {n: x for n, x in self.data.variables.items() if _is_cut(x, batch)}
        number = {d: i for i, d in enumerate(dict.fromkeys([*batch, *self.data.dims]))}
        pairs = [(_as_lazy(x), tuple(number[d] for d in x.dims)) for x in cut.values()]
        chunks, arrays = cast(Any, da).core.unify_chunks(*itertools.chain.from_iterable(pairs))
        asked = cast(Any, da.blockwise)(
            _answer,
            tuple(number[d] for d in batch),
            *itertools.chain.from_iterable(
                zip(arrays, (places for _, places in pairs), strict=True)
            ),
            variables={name: x.dims for name, x in cut.items()},
            beside=self.data.drop_vars(list(cut)),
            roles=self.roles,
            read=self.read,
            ask=ask,
            given=list(given),
            count=len(batch),
            concatenate=True,
            adjust_chunks={number[d]: _one for d in batch},
            dtype=object,
            meta=np.empty((0,) * len(batch), dtype=object),
        )
        return asked, [chunks[number[d]] for d in batch]


def find_batches(
    data: xr.Dataset, roles: Roles, read: Callable[[xr.Dataset, Roles], xr.Dataset], *, scored: bool
) -> Batches | None:
    """Return the rankings of a lazy Dataset in chunks, or None if the data are no such."""
    if roles.by is not None or not all(data.sizes.values()) or roles.dim not in data.dims:
        return None
    if not any(x.chunks is not None for x in data.variables.values()):
        return None
    data, roles = with_given_dataset(data, roles)
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
    """Return the rankings along ``dim`` in chunks, or None if they are no such.

    ``named`` are the variables with a role, ``roles`` what ``read`` takes with each chunk.
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


def _is_cut(variable: xr.Variable, batch: Sequence[Hashable]) -> bool:
    """Return whether a variable comes in parts: it is lazy, or has a value for each ranking."""
    return variable.chunks is not None or bool(set(variable.dims) & set(batch))


def _as_lazy(variable: xr.Variable) -> Any:
    import dask.array as da

    if variable.chunks is not None:
        return variable.data
    return cast(Any, da.from_array)(np.asarray(variable.data), chunks=-1)


def _one(_: int) -> int:
    return 1


def _answer(
    *blocks: AnyArray,
    variables: Mapping[Hashable, tuple[Hashable, ...]],
    beside: xr.Dataset,
    roles: Any,
    read: Callable[[xr.Dataset, Any], Any],
    ask: Callable[..., Any],
    given: list[Any],
    count: int,
) -> AnyArray:
    """Return the answer of one chunk, in an array of one object."""
    cut = {
        name: (along, block) for (name, along), block in zip(variables.items(), blocks, strict=True)
    }
    return held(ask(read(beside.assign(cut), roles), *given), count)


def _merged(parts: list[Any], merged: Callable[[list[Any]], Any]) -> Any:
    return merged([part.item() if isinstance(part, np.ndarray) else part for part in parts])


def held(columns: Any, count: int) -> AnyArray:
    """Return an array of one object, of so many dimensions."""
    one = np.empty((1,) * count, dtype=object)
    one[(0,) * count] = columns
    return one


def _joined(
    answers: Any,
    sizes: list[tuple[int, ...]],
    batch: Sequence[Hashable],
    dims: Mapping[Hashable, tuple[Hashable, ...]],
    together: int,
) -> tuple[Any, list[tuple[int, ...]]]:
    """Return the answers of neighbouring chunks, along the dimension that has most, as one."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    axis = int(np.argmax([len(x) for x in sizes]))
    together = min(together, len(sizes[axis]))
    if together == 1:
        return answers, sizes
    starts = range(0, len(sizes[axis]), together)
    joined = [sum(sizes[axis][start : start + together]) for start in starts]
    places = {
        name: along.index(batch[axis]) for name, along in dims.items() if batch[axis] in along
    }
    shape = [len(x) for x in sizes]
    shape[axis] = len(joined)
    name = f"joined-{answers.name}"
    tasks: dict[Any, Any] = {}
    for place in np.ndindex(*shape):
        first = together * place[axis]
        last = min(first + together, len(sizes[axis]))
        parts = [
            (answers.name, *place[:axis], number, *place[axis + 1 :])
            for number in range(first, last)
        ]
        tasks[(name, *place)] = (_put_together, parts, places)
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[answers])
    chunks = tuple((1,) * count for count in shape)
    meta = np.empty((0,) * len(shape), dtype=object)
    found = cast(Any, da.Array)(graph, name, chunks, meta=meta)
    return found, [*sizes[:axis], tuple(joined), *sizes[axis + 1 :]]


def _put_together(parts: list[AnyArray], places: Mapping[Hashable, int]) -> AnyArray:
    columns: list[dict[Hashable, AnyArray]] = [part.item() for part in parts]
    return held(
        {
            name: np.concatenate([x[name] for x in columns], axis=places[name])
            if name in places
            else values
            for name, values in columns[0].items()
        },
        parts[0].ndim,
    )


def _column(
    answers: Any,
    sizes: list[tuple[int, ...]],
    batch: Sequence[Hashable],
    name: Hashable,
    template: xr.DataArray,
) -> Any:
    """Return one column of the answers."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    of_batch = dict(zip(batch, sizes, strict=True))
    chunks = tuple(
        of_batch.get(d, (size,)) for d, size in zip(template.dims, template.shape, strict=True)
    )
    of_answer = {d: i for i, d in enumerate(template.dims)}
    key = f"column-{name}-{answers.name}"
    tasks: dict[Any, Any] = {
        (key, *place): (
            _taken,
            (answers.name, *(place[of_answer[d]] if d in of_answer else 0 for d in batch)),
            str(name),
        )
        for place in np.ndindex(*map(len, chunks))
    }
    graph = HighLevelGraph.from_collections(key, tasks, dependencies=[answers])
    return cast(Any, da.Array)(graph, key, chunks, dtype=template.dtype)


def _taken(answer: AnyArray, name: str) -> AnyArray:
    column: AnyArray = answer.item()[name]
    return column
