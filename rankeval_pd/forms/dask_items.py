"""Items that no machine holds: systems over a Dask DataFrame, or a Dataset in chunks of items.

Each worker adds up the items that it has, for the resamples that all share; what is added are exact
sums, so that the numbers are those of one machine, bit for bit, however the items are spread. One
graph holds all of it. Nothing of Dask is imported before it is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.forms.dask_sums import Asked, Graph, Part
from rankeval_pd.forms.identifiers import warn_of_identifiers
from rankeval_pd.forms.item_checks import check_complete, check_counts
from rankeval_pd.forms.items import ItemTable, item_order, read_frame
from rankeval_pd.forms.metrics import Metric
from rankeval_pd.forms.roles import Roles
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.resampling.blocks import Block
from rankeval_pd.stats.resampling.bootstrap import INTERVALS
from rankeval_pd.stats.resampling.draws import studentises

FEW = 64  # so few items that one machine may look at all of their signs
_BLOCK = 2**22  # numbers of a block of items: 32 MB
_LOOKED_AT = 1_000  # rows that are to show whether a column is an identifier


# ---------------------------------------------------------------------------------- what is refused


def check_asked(asked: Asked | None, roles: Roles, instead: str) -> Asked:
    """Raise a ValueError where items that are spread over workers cannot be asked.

    ``instead`` says how to ask one machine.
    """
    for role in ("by", "groups", "strata", "seeds"):
        if getattr(roles, role) is not None:
            raise ValueError(
                f"{role}={getattr(roles, role)!r}: items of one {_ONE[role]} are spread over the"
                f" workers, and are added up one by one. {_NEXT[role]} {instead}"
            )
    if roles.missing != "raise":
        raise ValueError(
            f"missing={roles.missing!r}: items are spread over the workers, and every system needs"
            f" every one of them. Drop the others, ddf.dropna(). {instead}"
        )
    if asked is None:
        raise ValueError(f"this question takes all items together, which are spread. {instead}")
    options = asked.options
    if studentises(options) and not asked.swaps:
        raise ValueError(
            "event='studentised', ci='studentised' and adjust='max-t' with draws of items need a"
            " standard error of every pair in every resample, for which workers would have to go"
            " through all items again. Give event='wild', which adjust='max-t' is there for, or"
            f" another ci and adjust='holm'. {instead}"
        )
    if options.ci == "bca":
        raise ValueError(
            "ci='bca' leaves out every item in turn, and they are spread over the workers. Give"
            f" {' or '.join(repr(x) for x in INTERVALS if x in _OTHER)}, or leave ci out. {instead}"
        )
    return asked


_OTHER = ("wild", "percentile", "basic")
_ONE = {"by": "domain", "groups": "cluster", "strata": "stratum", "seeds": "training"}
_NEXT = {
    "by": "Ask for each domain, ddf[ddf['domain'] == ...].",
    "groups": (
        "Add up each cluster first, ddf.groupby(...).sum().compute(), and give metric='ratio' or"
        " another of sums."
    ),
    "strata": "Leave it out.",
    "seeds": "Take each system's mean over its seeds, and say so.",
}
OF_FRAME = "What fits a machine is asked as ddf.compute()."

# ---------------------------------------------------------------------------------- Dask DataFrames


def frame_items(graph: Graph, ddf: Any, table: ItemTable, roles: Roles) -> tuple[list[Part], int]:
    """Return the blocks of items of a Dask DataFrame, and how many items there are.

    One run over an index, or the first column, to number the items.
    """
    from dask.base import compute
    from dask.delayed import delayed

    systems, metric = table.systems, table.metric
    meta: pd.DataFrame = ddf._meta
    columns = [c for c in meta.columns if _system_of(c, systems)]
    frames = ddf[columns].to_delayed()
    numbered = isinstance(meta.index, pd.RangeIndex) and not ddf.known_divisions
    one = ddf[columns[:1]].to_delayed()
    cheap = one if len(one) == len(frames) else frames
    look = delayed(_labels, pure=False)
    looked = [look(frame, plain=numbered) for frame in cheap]
    first = None if roles.measures is not None else delayed(_first_rows, pure=False)(frames[0])
    found, rows = compute(looked, first)
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
        parts.append(Part(block, at if ranks is None else graph.add(_cut, ranks, at)))
    return parts, sum(sizes)


def _system_of(column: Any, systems: Sequence[Hashable]) -> bool:
    return any(x in systems for x in (column if isinstance(column, tuple) else (column,))) or (
        column in systems
    )


def _first_rows(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.head(_LOOKED_AT)


class Labels(NamedTuple):
    """What the labels of a partition are like."""

    size: int
    ascending: bool
    ends: tuple[Any, Any] | None


def _labels(frame: pd.DataFrame, *, plain: bool) -> Labels:
    if plain or not len(frame):
        return Labels(len(frame), True, None)
    index = frame.index
    return Labels(len(frame), bool(index.is_monotonic_increasing), (index[0], index[-1]))


def _ascend(found: Sequence[Labels]) -> bool:
    """Return whether all labels ascend, through all partitions."""
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
    """Return where each item stands in the order of all labels."""
    order = item_order(indexes[0].append(list(indexes[1:])))
    ranks = np.empty(order.size, dtype=np.int64)
    ranks[order] = np.arange(order.size)
    return ranks


def _cut(ranks: IntArray, at: slice) -> IntArray:
    return ranks[at].copy()


def _pieces(sizes: Sequence[int], width: int) -> list[list[tuple[int, int, int]]]:
    """Return what goes into each block: numbers of partitions, and which of their rows."""
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
) -> Block:
    """Return the statistics of rows of some partitions, checked, (system, item, statistic)."""
    for frame, (_, _, size) in zip(frames, spans, strict=True):
        if len(frame) != size:
            raise RuntimeError(
                f"a partition was counted as {size:,} rows and read as {len(frame):,}: the files"
                " changed, or were read in other pieces. Give the files an index, or read them"
                " anew."
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


def checked(values: FloatArray, metric: Metric, systems: list[Hashable], labels: pd.Index) -> Block:
    """Return statistics (system, item, statistic) of some items, checked and complete."""
    check_complete(values, systems, labels)
    block = Block(values, metric.ones)
    if metric.counts:
        check_counts(block.statistics, metric, systems, labels)
    return block


# ----------------------------------------------------------------------------------------- Datasets


def dataset_items(
    graph: Graph, values: xr.DataArray, labels: pd.Index, metric: Metric, systems: list[Hashable]
) -> list[Part]:
    """Return the blocks of items of lazy values (system, item, statistic) in chunks of items."""
    data = values.data.rechunk({0: -1, 2: -1})
    width, sizes = data.shape[0] * data.shape[2], list(data.chunks[1])
    chunks = data.to_delayed()[0, :, 0]
    ranks = None if _in_order(labels) else _ranks([labels])
    parts, at = [], 0
    for pieces in _pieces(sizes, width):
        spans = [(start, stop) for _, start, stop in pieces]
        own = slice(at, at + sum(stop - start for start, stop in spans))
        take = functools.partial(_take, spans=spans, metric=metric, systems=systems, at=at)
        block = graph.add(take, [graph.of(chunks[number]) for number, _, _ in pieces])
        parts.append(Part(block, own if ranks is None else graph.add(_same, ranks[own])))
        at = own.stop
    return parts


def _in_order(labels: pd.Index) -> bool:
    """Return whether the items are in the order of their labels, without sorting these."""
    if isinstance(labels, pd.MultiIndex):  # whose order of equal labels may be any
        return labels.is_monotonic_increasing and labels.is_unique
    return bool(labels.is_monotonic_increasing)


def _take(
    chunks: Sequence[FloatArray],
    *,
    spans: Sequence[tuple[int, int]],
    metric: Metric,
    systems: list[Hashable],
    at: int,
) -> Block:
    """Return the statistics of items of some chunks, checked; their numbers begin at ``at``."""
    parts = [chunk[:, start:stop] for chunk, (start, stop) in zip(chunks, spans, strict=True)]
    values = np.concatenate(parts, axis=1)
    return checked(values, metric, systems, pd.RangeIndex(at, at + values.shape[1]))


def _same(x: IntArray) -> IntArray:
    return x
