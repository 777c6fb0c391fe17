r"""Sum items block by block on the workers, for data larger than memory.

The graph has the following shape for a Dask DataFrame, or a Dataset chunked along items::

    partition or chunk   partition or chunk
             |                    |
        block of items       block of items      about 32 MB of numbers
             |                    |
          facts of              facts of         the first of five such trees: then first sums,
               \                 /               added, squares, laws
                      known                      goes to every block of the next tree
                        |
     sums of each block for a few resamples      signs, swaps, or counts of drawn items
               \        |        /
                     gathered                    the input of tests and intervals

All blocks use the same resamples. Sums are exact, so results do not depend on how the items are
split.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.forms.items.item_roles import item_order
from rankeval_pd.forms.items.items import ItemTable, read_frame
from rankeval_pd.forms.items.metric_columns import Metric, check_complete, check_counts, check_size
from rankeval_pd.forms.lazy.engine import Graph, box, boxes, cluster, lazy_columns
from rankeval_pd.forms.roles.identifiers import warn_of_identifiers
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.resampling import blocks, resamples
from rankeval_pd.stats.resampling.blocks import Facts, ItemStatistics, Plan
from rankeval_pd.stats.resampling.bootstrap_tests import INTERVALS
from rankeval_pd.stats.resampling.gathered_draws import RemoteFacts
from rankeval_pd.stats.resampling.test_items import PairOptions, studentises

FEW = 64  # with this many items or fewer, one machine can enumerate all signs
_BLOCK = 2**22  # how many numbers a block of items holds (32 MB)
_LOOKED_AT = 1_000  # number of rows that are checked to recognize an identifier


# ----------------------------------------------------------------------------------------- refusals


def check_asked(asked: ItemNeeds | None, roles: Roles, instead: str) -> ItemNeeds:
    """Raise a ValueError for methods that do not support distributed items.

    ``instead`` explains how to use one machine.
    """
    for role in ("by", "groups", "strata", "seeds"):
        if getattr(roles, role) is not None:
            raise ValueError(
                f"{role}={getattr(roles, role)!r}: items from the same {_ONE[role]} are spread"
                f" across the workers. {_NEXT[role]} {instead}"
            )
    if roles.missing != "raise":
        raise ValueError(
            f"missing={roles.missing!r}: items are spread across workers, but every system needs"
            f" all items. Drop incomplete items, ddf.dropna(). {instead}"
        )
    if asked is None:
        raise ValueError(f"this method needs all items in memory. {instead}")
    options = asked.options
    if studentises(options) and not asked.swaps:
        raise ValueError(
            "event='studentised', ci='studentised' and adjust='max-t' with resampled items need"
            " another pass over the items for standard errors. Pass event='wild', or another ci"
            f" with adjust='holm'. {instead}"
        )
    if options.ci == "bca":
        raise ValueError(
            "ci='bca' leaves out one item at a time, but the items are spread across workers."
            f" Pass {' or '.join(repr(x) for x in INTERVALS if x in _OTHER)}, or omit ci. {instead}"
        )
    return asked


_OTHER = ("wild", "percentile", "basic")
_ONE = {"by": "domain", "groups": "cluster", "strata": "stratum", "seeds": "training"}
_NEXT = {
    "by": "Call this method for each domain, ddf[ddf['domain'] == ...].",
    "groups": (
        "First sum each cluster, ddf.groupby(...).sum().compute(), then pass metric='ratio' or"
        " another metric based on sums."
    ),
    "strata": "Omit strata.",
    "seeds": "Average each system over its seeds, and mention this in your report.",
}
OF_FRAME = "Call ddf.compute() if the data fit in memory."

# ---------------------------------------------------------------------------------- Dask DataFrames


def frame_items(
    graph: Graph, ddf: Any, table: ItemTable, roles: Roles
) -> tuple[list[ItemBlock], int]:
    """Return the item blocks of a Dask DataFrame, and the number of items.

    To number the items, the scheduler runs once over the index or the first column.
    """
    systems, metric = table.systems, table.metric
    meta: pd.DataFrame = ddf._meta
    columns = [c for c in meta.columns if _system_of(c, systems)]
    frames = ddf[columns].to_delayed()
    numbered = isinstance(meta.index, pd.RangeIndex) and not ddf.known_divisions
    one = ddf[columns[:1]].to_delayed()
    cheap = one if len(one) == len(frames) else frames
    look, sight = Graph(), functools.partial(_labels, plain=numbered)
    looked = look.ask_partitions(sight, cheap)
    if roles.measures is None:
        looked.append(look.add(_first_rows, look.of(frames[0])))
    found = list(look.compute(*looked))
    rows = found.pop() if roles.measures is None else None
    if rows is not None and meta.columns.nlevels == 1:
        warn_of_identifiers({name: rows[name] for name in systems}, taken_as="systems")
    sizes = [labels.size for labels in found]
    in_order = numbered or _ascend(found)
    ranks = None
    if not in_order:
        ranks = graph.add(_ranks, [graph.add(_index_of, graph.of(frame)) for frame in cheap])
    named = {"measures": systems, "metric": roles.metric, "better": roles.higher_is_better}
    parts = []
    for pieces in _pieces(sizes, len(systems) * len(metric.chosen)):
        listed = [graph.of(frames[number]) for number, _, _ in pieces]
        spans = [(start, stop, sizes[number]) for number, start, stop in pieces]
        begins = [sum(sizes[:number]) + start for number, start, _ in pieces]
        stop = begins[0] + sum(stop - start for start, stop, _ in spans)
        at = slice(begins[0], stop)
        block = graph.add(functools.partial(_read, spans=spans, named=named), listed)
        parts.append(ItemBlock(block, at if ranks is None else graph.add(_cut, ranks, at)))
    return parts, sum(sizes)


def _system_of(column: Any, systems: Sequence[Hashable]) -> bool:
    return any(x in systems for x in (column if isinstance(column, tuple) else (column,))) or (
        column in systems
    )


def _first_rows(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.head(_LOOKED_AT)


class Labels(NamedTuple):
    """Summarize the labels of a partition."""

    size: int
    ascending: bool
    ends: tuple[Any, Any] | None


def _labels(frame: pd.DataFrame, *, plain: bool) -> Labels:
    if plain or not len(frame):
        return Labels(len(frame), True, None)
    index = frame.index
    return Labels(len(frame), bool(index.is_monotonic_increasing), (index[0], index[-1]))


def _ascend(found: Sequence[Labels]) -> bool:
    """Return whether labels are in ascending order across all partitions."""
    filled = [labels for labels in found if labels.ends is not None]
    if not all(labels.ascending for labels in filled):
        return False
    ends = [x for labels in filled for x in labels.ends or ()]
    try:
        return all(not last > first for last, first in zip(ends[1::2], ends[2::2], strict=False))
    except TypeError:  # labels of several types
        return False


def _index_of(frame: pd.DataFrame) -> pd.Index:
    return frame.index


def _ranks(indexes: Sequence[pd.Index]) -> IntArray:
    """Return the position of each item in the sorted labels."""
    order = item_order(indexes[0].append(list(indexes[1:])))
    ranks = np.empty(order.size, dtype=np.int64)
    ranks[order] = np.arange(order.size)
    return ranks


def _cut(ranks: IntArray, at: slice) -> IntArray:
    return ranks[at].copy()


def _pieces(sizes: Sequence[int], width: int) -> list[list[tuple[int, int, int]]]:
    """Return the partition numbers and the rows for each block."""
    most = max(1, _BLOCK // max(1, width))
    listed: list[list[tuple[int, int, int]]] = []
    filled = most
    for number, size in enumerate(sizes):
        for start in range(0, size, most):
            stop = min(size, start + most)
            if filled + stop - start > most:
                listed.append([])
                filled = 0
            listed[-1].append((number, start, stop))
            filled += stop - start
    return listed


def _read(
    frames: Sequence[pd.DataFrame], *, spans: Sequence[tuple[int, int, int]], named: dict[str, Any]
) -> ItemStatistics:
    """Return checked statistics (system, item, statistic) for the rows in some partitions."""
    for frame, (_, _, size) in zip(frames, spans, strict=True):
        if len(frame) != size:
            raise RuntimeError(
                f"a partition had {size:,} rows when counted and {len(frame):,} when read: the "
                "files changed or were split differently. Give the files an index, or read them "
                "again."
            )
    rows = [frame.iloc[start:stop] for frame, (start, stop, _) in zip(frames, spans, strict=True)]
    frame = pd.concat(rows) if len(rows) > 1 else rows[0]
    roles = Roles.of(
        {
            "dim": "item", "measures": named["measures"], "metric": named["metric"],
            "higher_is_better": named["better"],
        }
    )  # fmt: skip
    table = read_frame(frame.reset_index(drop=True), roles)
    return checked(table.statistics, table.metric, table.systems, frame.index)


def checked(
    values: FloatArray, metric: Metric, systems: list[Hashable], labels: pd.Index
) -> ItemStatistics:
    """Return statistics (system, item, statistic) if complete, or raise an error."""
    check_complete(values, systems, labels)
    block = ItemStatistics(values, metric.ones)
    if metric.counts:
        check_counts(block.statistics, metric, systems, labels)
    return block


# ----------------------------------------------------------------------------------------- Datasets


def _in_order(labels: pd.Index) -> bool:
    """Return whether the items are sorted by label."""
    if isinstance(labels, pd.MultiIndex):  # equal labels can be in any order
        return labels.is_monotonic_increasing and labels.is_unique
    return bool(labels.is_monotonic_increasing)


def _take(
    chunks: Sequence[FloatArray],
    *,
    spans: Sequence[tuple[int, int]],
    metric: Metric,
    systems: list[Hashable],
    at: int,
) -> ItemStatistics:
    """Return the checked statistics of chunks whose items start at ``at``."""
    parts = [chunk[:, start:stop] for chunk, (start, stop) in zip(chunks, spans, strict=True)]
    values = np.concatenate(parts, axis=1)
    return checked(values, metric, systems, pd.RangeIndex(at, at + values.shape[1]))


def _same(x: IntArray) -> IntArray:
    return x


# -------------------------------------------------------------------------------------------------
# The graph in which workers sum items block by block. All blocks use the same resamples.


class ItemNeeds(NamedTuple):
    """Declare the sums that a function needs from distributed items."""

    options: PairOptions
    signs: bool = False  #: whether random signs of the items' contributions to scores are needed
    swaps: bool = False  #: whether sums over swapped items are needed
    ranked: bool = False  #: whether resampled scores are always needed


class ItemBlock(NamedTuple):
    """Store a block of items, and the task that returns the statistics."""

    block: str  #: the name of the task that returns the array (system, item, statistic)
    positions: Any  #: a slice, item numbers, or a task that returns item numbers


def gather(
    graph: Graph,
    parts: Sequence[ItemBlock],
    n_items: int,
    metric: Metric,
    systems: Sequence[Hashable],
    pairs: IntArray,
    asked: ItemNeeds,
) -> str:
    """Return the task that gathers the statistics of all blocks."""
    plan = Plan(
        n_items, metric.score, metric.sign, metric.linear, asked.options, pairs, asked.signs,
        asked.swaps, asked.ranked,
    )  # fmt: skip
    task, places = graph.add, [(part.block, part.positions) for part in parts]

    def of_all(function: Callable[..., Any], *known: str) -> Any:
        return graph.tree([task(function, x, *known) for x, _ in places], _sum)

    facts = of_all(blocks.facts_of)
    known = task(functools.partial(_known, plan=plan, systems=list(systems)), facts)
    linear = task(blocks.linear_of, of_all(blocks.first_sums, known), known)
    added = of_all(blocks.added_of, known, linear)
    squares = of_all(blocks.squares_of, known, linear, added)
    merge = functools.partial(_laws, n_items=n_items)
    laws = graph.tree([task(blocks.laws_of, x, known) for x, _ in places], merge)
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
            task(blocks.block_totals, [task(blocks.signed_sums, *at, *given, k) for at in places])
            for k in each
        ]
        signed = of_resamples(sums, task(_sizes_added, added))
    if asked.swaps:
        sums = [
            task(
                blocks.block_totals,
                [task(blocks.swapped_sums, *at, known, needs, k) for at in places],
            )
            for k in each
        ]
        swapped = of_resamples(sums, sizes)
    else:
        counted = of_resamples(_counts(graph, places, plan, known, needs), sizes)
    ratios = of_all(blocks.ratio_sums_of, known)
    return task(RemoteFacts, known, laws, linear, added, squares, signed, swapped, counted, ratios)


def _counts(
    graph: Graph, places: Sequence[tuple[str, Any]], plan: Plan, known: str, needs: str
) -> list[str]:
    """Return the tasks that compute the sums for blocks of resamples.

    Each thread draws a separate sequence of blocks. A thread draws a block only after the
    second-to-last block of this sequence has been used.
    """
    task, total, n_items = graph.add, plan.options.n_resamples, plan.n_items
    ready = [(task(blocks.columns_of, x, known, needs), at) for x, at in places]
    threads = max(2, cluster()[1])
    lanes: list[list[str]] = [[] for _ in range(threads)]
    every = []
    for block in range(-(-total // resamples.BLOCK)):
        done = lanes[block % threads]
        before: str | None = None
        for size in resamples.draw_sizes(
            n_items, min(resamples.BLOCK, total - block * resamples.BLOCK)
        ):
            used = done[-2] if len(done) > 1 else None
            drawn = task(blocks.next_counts, before, known, needs, block, size, used)
            before = task(blocks.generator_of, drawn)
            own = [(x, task(blocks.of_items, drawn, at)) for x, at in ready]
            sums = [task(blocks.counted_sums, x, counts) for x, counts in own]
            done.append(task(blocks.block_totals, sums))
            every.append(done[-1])
    return every


def _sum(parts: Sequence[Any]) -> Any:
    found = parts[0]
    for part in parts[1:]:
        found = None if found is None else found.plus(part)
    return found


def _laws(parts: Sequence[blocks.Laws], *, n_items: int) -> blocks.Laws:
    return parts[0].merged(parts[1:], n_items)


def _known(facts: Facts, *, plan: Plan, systems: list[Hashable]) -> blocks.ItemTotals:
    check_size(facts.sizes.max(axis=1), systems)
    return blocks.known_of(facts, plan)


def _sizes_added(added: blocks.ContributionSums | None) -> FloatArray | None:
    return None if added is None else added.sizes


def _sizes_known(known: blocks.ItemTotals) -> FloatArray:
    return known.sizes.reshape(-1)


def later(
    graph: Graph,
    function: Callable[[Any], tuple[Any, ...]],
    name: str,
    shapes: Sequence[tuple[Hashable, int]],
    dtypes: Sequence[type],
) -> list[xr.DataArray]:
    """Return one-dimensional lazy arrays computed from the result of a task."""
    columns = functools.partial(_columns_in_box, function=function)
    answers = boxes(f"answered-{name}", {(): (columns, name)}, [], graph)
    templates: dict[Hashable, xr.DataArray] = {
        k: xr.DataArray(np.empty(size, dtype), dims=[dim])
        for k, ((dim, size), dtype) in enumerate(zip(shapes, dtypes, strict=True))
    }
    found = lazy_columns(answers, [], [], templates)
    return [xr.DataArray(found[k], dims=x.dims) for k, x in templates.items()]


def _columns_in_box(gathered: Any, *, function: Callable[[Any], tuple[Any, ...]]) -> AnyArray:
    return box(dict(enumerate(function(gathered))), 0)
