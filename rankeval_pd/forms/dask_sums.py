"""The graph in which workers add up items, block by block, for the resamples that all share."""

from __future__ import annotations

import functools
import operator
import uuid
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from rankeval_pd.forms.dask_frames import cluster
from rankeval_pd.forms.item_checks import check_size
from rankeval_pd.forms.metrics import Metric
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.resampling import blocks, resamples
from rankeval_pd.stats.resampling.asked import Options
from rankeval_pd.stats.resampling.blocks import Facts, Plan
from rankeval_pd.stats.resampling.gathered import Gathered

_MERGED = 16  # answers of blocks that are put together at a time


class Asked(NamedTuple):
    """What a question needs of items that are spread over workers."""

    options: Options
    signs: bool = False  #: what items add to the scores, and random signs of it
    swaps: bool = False  #: sums over items that are swapped
    ranked: bool = False  #: resampled scores in any case


class Part(NamedTuple):
    """A block of items: what gives its statistics, and which items it has."""

    block: str  #: the task that gives (system, item, statistic)
    positions: Any  #: a slice; or numbers of items, or the task that gives these


class Graph:
    """Tasks of one call, which depend on others of theirs and on those of the data."""

    def __init__(self) -> None:
        self._tasks: dict[Any, Any] = {}
        self._data: list[Any] = []
        self._token = uuid.uuid4().hex

    def add(self, function: Callable[..., Any], *given: Any) -> str:
        """Add a task, whose arguments may be tasks or lists of them; return its name."""
        plain = getattr(function, "func", function)
        called = getattr(plain, "__name__", "take").strip("_")
        name = f"{called}-{self._token}-{len(self._tasks)}"
        self._tasks[name] = (function, *given)
        return name

    def of(self, data: Any) -> str:
        """Return the name of what is delayed already: a partition, or a chunk."""
        self._data.append(data)
        name: str = data.key
        return name

    def delayed(self, name: str) -> Any:
        """Return a task as Dask knows it."""
        from dask.delayed import Delayed
        from dask.highlevelgraph import HighLevelGraph

        layer = f"rankeval-{self._token}"
        graph = HighLevelGraph.from_collections(layer, self._tasks, dependencies=self._data)
        return Delayed(name, graph, layer=layer)


def gather(
    graph: Graph,
    parts: Sequence[Part],
    n_items: int,
    metric: Metric,
    systems: Sequence[Hashable],
    pairs: IntArray,
    asked: Asked,
) -> str:
    """Return the task that gives what all blocks of items say: a :class:`Gathered`."""
    plan = Plan(
        n_items, metric.score, metric.sign, metric.linear, asked.options, pairs, asked.signs,
        asked.swaps, asked.ranked,
    )  # fmt: skip
    task, places = graph.add, [(part.block, part.positions) for part in parts]

    def of_all(function: Callable[..., Any], *known: str) -> str:
        return _merged(graph, [task(function, x, *known) for x, _ in places], _sum)

    facts = of_all(blocks.facts_of)
    known = task(functools.partial(_known, plan=plan, systems=list(systems)), facts)
    linear = task(blocks.linear_of, of_all(blocks.first_sums, known), known)
    added = of_all(blocks.added_of, known, linear)
    squares = of_all(blocks.squares_of, known, linear, added)
    merge = functools.partial(_laws, n_items=n_items)
    laws = _merged(graph, [task(blocks.laws_of, x, known) for x, _ in places], merge)
    needs = task(blocks.needs_of, known, laws)
    each = range(-(-asked.options.n_resamples // resamples.BLOCK))

    def of_resamples(sums: list[str], sizes: str) -> str:
        return task(functools.partial(blocks.one_after_another, n_items=n_items), sums, sizes)

    signed: str | None = None
    swapped: str | None = None
    counted: str | None = None
    sizes = task(_sizes_known, known)
    if asked.signs:
        given: tuple[str, ...] = (known, linear, added, needs)
        sums = [
            task(blocks.together, [task(blocks.signed_sums, *at, *given, k) for at in places])
            for k in each
        ]
        signed = of_resamples(sums, task(_sizes_added, added))
    if asked.swaps:
        sums = [
            task(
                blocks.together, [task(blocks.swapped_sums, *at, known, needs, k) for at in places]
            )
            for k in each
        ]
        swapped = of_resamples(sums, sizes)
    else:
        counted = of_resamples(_counts(graph, places, plan, known, needs), sizes)
    return task(Gathered, known, laws, linear, added, squares, signed, swapped, counted)


def _counts(
    graph: Graph, places: Sequence[tuple[str, Any]], plan: Plan, known: str, needs: str
) -> list[str]:
    """Return the sums of each few resamples, as often as items are drawn.

    Blocks of resamples are drawn side by side, as many as there are threads; and in each of these
    lanes nothing is drawn before what was drawn two steps earlier is used up.
    """
    task, total, n_items = graph.add, plan.options.n_resamples, plan.n_items
    ready = [(task(blocks.columns_of, x, known, needs), at) for x, at in places]
    threads = max(2, cluster()[1])
    lanes: list[list[str]] = [[] for _ in range(threads)]
    every = []
    for block in range(-(-total // resamples.BLOCK)):
        done = lanes[block % threads]
        before: str | None = None
        for size in resamples.units(n_items, min(resamples.BLOCK, total - block * resamples.BLOCK)):
            used = done[-2] if len(done) > 1 else None
            drawn = task(blocks.drawn_counts, before, known, needs, block, size, used)
            before = task(blocks.generator_of, drawn)
            own = [(x, task(blocks.of_items, drawn, at)) for x, at in ready]
            sums = [task(blocks.counted_sums, x, counts) for x, counts in own]
            done.append(task(blocks.together, sums))
            every.append(done[-1])
    return every


def _merged(graph: Graph, parts: list[str], merge: Callable[..., Any]) -> str:
    while len(parts) > 1:
        parts = [
            graph.add(merge, parts[start : start + _MERGED])
            for start in range(0, len(parts), _MERGED)
        ]
    return parts[0]


def _sum(parts: Sequence[Any]) -> Any:
    found = parts[0]
    for part in parts[1:]:
        found = None if found is None else found.plus(part)
    return found


def _laws(parts: Sequence[blocks.Laws], *, n_items: int) -> blocks.Laws:
    return parts[0].merged(parts[1:], n_items)


def _known(facts: Facts, *, plan: Plan, systems: list[Hashable]) -> blocks.Known:
    check_size(facts.sizes.max(axis=1), systems)
    return blocks.known_of(facts, plan)


def _sizes_added(added: blocks.Added | None) -> FloatArray | None:
    return None if added is None else added.sizes


def _sizes_known(known: blocks.Known) -> FloatArray:
    return known.sizes.reshape(-1)


def later(
    graph: Graph,
    function: Callable[[Any], tuple[Any, ...]],
    given: str,
    shapes: Sequence[tuple[Hashable, int]],
    dtypes: Sequence[type],
) -> list[xr.DataArray]:
    """Return what a function will return of a task's result: lazy arrays of one dimension."""
    import dask.array as da

    found = graph.add(function, given)
    names = [graph.add(operator.itemgetter(k), found) for k in range(len(shapes))]
    return [
        xr.DataArray(da.from_delayed(graph.delayed(name), (size,), np.dtype(dtype)), dims=[dim])
        for name, (dim, size), dtype in zip(names, shapes, dtypes, strict=True)
    ]
