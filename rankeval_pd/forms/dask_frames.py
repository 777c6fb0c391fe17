"""Dask DataFrames of candidates: their heads, and the counts of all, in one pass over the files.

The first partitions give a score for each measure that the head's last candidate has at least, and
of the others only what reaches it is looked at; each round of partitions does so for the next one,
which is larger. Nothing of Dask is imported before it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from rankeval_pd.errors import unknown_name
from rankeval_pd.forms import dask_groups, heads
from rankeval_pd.forms.columns import (
    find_gold,
    find_measures,
    frame_column,
    signs_of,
    with_roles_of,
)
from rankeval_pd.forms.heads import HeadFrame, Part, Request
from rankeval_pd.forms.roles import Roles, are_values, as_names
from rankeval_pd.forms.thresholds import asked_thresholds
from rankeval_pd.forms.values import true_values
from rankeval_pd.stats._types import FloatArray


class RowNumbers:
    """Says that the number of the row, counted over all partitions, identifies a candidate."""

    def __repr__(self) -> str:
        return "rankeval_pd.dask.ROWS"

    def __reduce__(self) -> str:
        return "ROWS"


ROWS: Final = RowNumbers()

_GROWTH = 3  # after each round, so many times as many partitions have been looked at
_MERGED = 16  # heads that are merged at a time, at most
_MEMORY = 2**30  # of a worker, where it is not known


def is_dask_frame(data: object) -> bool:
    """Return whether the data are a Dask DataFrame, without importing Dask."""
    of = type(data)
    return of.__module__.startswith("dask") and hasattr(data, "npartitions") and of.__name__ in (
        "DataFrame", "_Frame",
    )  # fmt: skip


def collect_head(
    ddf: Any,
    roles: Roles,
    n_max: int,
    *,
    scored: bool = True,
    n_keys: int = 1,
    columns: Sequence[Hashable] = (),
    threshold: Any = None,
) -> HeadFrame:
    """Return the head of a Dask DataFrame, for lists up to n_max.

    ``n_keys`` are the orders of equal scores whose first candidates are in it, ``columns`` those
    that it is to have beside the ones in use. With ``threshold`` nobody is in it, and who is
    accepted is counted.

    A few runs of the scheduler, the last of them over two thirds of the partitions. O(rows), and in
    memory a partition and the heads that are merged at a time.
    """
    request, numbered = _request(ddf, roles, n_max, scored=scored)
    request = request._replace(orders=n_keys, draws=roles.draws)
    if threshold is not None:
        cuts = asked_thresholds(threshold, request.measures)
        request = request._replace(keep=0, cuts=cuts, numbered=False)
    numbered = request.numbered
    frames, starts = frames_of(ddf, request, columns)
    part = _in_rounds(frames, starts, request, _row_bytes(ddf._meta[_columns(request)]))
    _check_total(part, starts, numbered)
    whole_roles = heads.replace_label(roles) if numbered or threshold is not None else roles
    return heads.finished(part, request, whole_roles, n_max)


def _in_rounds(
    frames: Sequence[Any], starts: Sequence[int], request: Request, row_bytes: int
) -> Part:
    """Return the head of all partitions, each round of them bounding what the next one keeps."""
    from dask.delayed import delayed

    reduced, merged = (delayed(f, pure=False) for f in (heads.reduced, heads.merged))
    memory, workers = cluster()
    split = _split(request, row_bytes, memory)
    stops = _stops(len(frames), workers) if request.keep and request.measures else [len(frames)]
    limit = None
    begun: list[Any] = []  # held until what is made of it is there: a cluster forgets what is not

    def head_of(first: int, stop: int) -> Any:
        parts = [
            reduced(frames[number], request, number, starts[number], limit)
            for number in range(first, stop)
        ]
        return _tree([*begun, *parts], request, merged, split)

    for first, stop in zip([0, *stops], stops[:-1], strict=False):
        head = head_of(first, stop).persist()
        limit = delayed(_limit, pure=False)(head).compute()
        begun = [head]
    part: Part = head_of(stops[-2] if len(stops) > 1 else 0, stops[-1]).compute()
    return part


def frames_of(
    ddf: Any, request: Request, columns: Sequence[Hashable] = ()
) -> tuple[list[Any], list[int]]:
    """Return the partitions, and the number of the first row of each where rows are numbered."""
    frames = ddf[list(dict.fromkeys([*_columns(request), *columns]))].to_delayed()
    starts = _starts(ddf, request.gold, frames) if request.numbered else [0] * (len(frames) + 1)
    return frames, starts


def groups_of(
    ddf: Any, roles: Roles
) -> tuple[pd.DataFrame, list[Hashable], list[Any], list[Any], list[Hashable]]:
    """Return what partitions look like, measures, partitions, their groups, and their columns."""
    from dask.delayed import delayed

    meta: pd.DataFrame = ddf._meta
    by = as_names(roles.by, meta.columns)
    for name in by:
        if name not in meta.columns:
            raise unknown_name("by", name, meta.columns)
    request, numbered = _request(ddf, replace(roles, by=None, exclude=_others(roles, by)), 1)
    columns = list(dict.fromkeys([*by, *_columns(request)]))
    frames, starts = frames_of(ddf, request, columns)
    if numbered:
        number = delayed(dask_groups.numbered, pure=False)
        frames = [number(frame, at) for frame, at in zip(frames, starts[:-1], strict=True)]
    few = ddf[by].to_delayed()  # which may come in fewer pieces, files being fused
    named = few if len(few) == len(frames) else frames
    return meta[columns], list(request.measures), frames, named, by


def _others(roles: Roles, by: list[Hashable]) -> list[Hashable]:
    """Return what is no measure: what is excluded, and the groups."""
    return list(dict.fromkeys([*as_names(roles.exclude, ()), *by]))


def request_of(ddf: Any, roles: Roles) -> Request:
    """Return what is asked of every partition, for no list in particular."""
    return _request(ddf, roles, 1)[0]


def _limit(part: Part) -> FloatArray:
    """Return the score of the last rank, NaN where there is no such rank yet."""
    return np.where(part.open_, part.bound, np.nan)


def _tree(parts: Sequence[Any], request: Request, merged: Any, split: int) -> Any:
    """Return one head of many, merging some at a time."""
    while len(parts) > 1:
        parts = [
            merged(list(batch), request) if len(batch) > 1 else batch[0]
            for batch in (parts[start : start + split] for start in range(0, len(parts), split))
        ]
    return parts[0]


def _stops(count: int, workers: int) -> list[int]:
    """Return where the rounds end: a partition for each worker, then ever more of them."""
    stops = [min(max(1, workers), count)]
    while stops[-1] < count:
        stops.append(min(_GROWTH * stops[-1], count))
    return stops


def _row_bytes(meta: pd.DataFrame) -> int:
    """Return roughly how many bytes a row takes, its scores and its place beside it."""
    columns = sum(8 if dtype.kind in "biufcmM" else 64 for dtype in meta.dtypes)
    return columns + 8 * (2 + meta.shape[1])


def _split(request: Request, row_bytes: int, memory: int) -> int:
    """Return how many heads are merged at a time: they share a quarter of a thread's memory."""
    largest = request.keep * max(1, len(request.measures)) * row_bytes
    return int(min(max(memory // 4 // max(1, largest), 2), _MERGED))


def cluster() -> tuple[int, int]:
    """Return the memory of a thread of the smallest worker in use, and how many threads there are.

    Without a cluster, the threads of this process.
    """
    try:
        from distributed import get_client

        workers = get_client().scheduler_info(n_workers=-1)["workers"].values()
    except (ImportError, ValueError):
        return _MEMORY, os.cpu_count() or 1
    limits = [w["memory_limit"] // max(1, w["nthreads"]) for w in workers if w["memory_limit"]]
    return int(min(limits, default=_MEMORY)), sum(w["nthreads"] for w in workers)


def _request(ddf: Any, roles: Roles, n_max: int, *, scored: bool = True) -> tuple[Request, bool]:
    """Return what is asked of every partition, and whether rows are known by their numbers."""
    meta: pd.DataFrame = ddf._meta
    _refuse_values(roles)
    numbered = roles.label is ROWS or (
        roles.label is None
        and isinstance(meta.index, pd.RangeIndex)
        and not getattr(ddf, "known_divisions", False)
    )
    label = () if roles.label is ROWS else tuple(as_names(roles.label, meta.columns))
    label = tuple(name for name in label if name in meta.columns or name not in meta.index.names)
    named_index = roles.label is not None and not label and roles.label is not ROWS
    plain = heads.replace_label(roles) if numbered or named_index else roles
    gold = find_gold(meta, plain)
    named = with_roles_of(gold, plain, meta.columns)
    measures = find_measures(meta, plain, named, needed=scored) if scored else []
    for name in measures:
        _check_measure(frame_column(meta, name, "measures"), name)
    _check_gold(frame_column(meta, gold, "gold"), gold, roles)
    for role in ("key", "groups"):
        if getattr(roles, role) is not None:
            frame_column(meta, getattr(roles, role), role)
    for name in label:
        frame_column(meta, name, "label")
    request = Request(
        gold=gold,
        measures=tuple(measures),
        signs=signs_of(measures, roles, meta.columns),
        key=roles.key,
        label=label,
        numbered=numbered,
        seed=roles.seed,
        positive=roles.positive,
        min_grade=roles.min_grade,
        groups=roles.groups,
        keep=heads.needed_ranks(n_max),
    )
    return request, numbered


def _columns(request: Request) -> list[Hashable]:
    others = [name for name in (request.key, request.groups) if name is not None]
    return list(dict.fromkeys([request.gold, *request.measures, *others, *request.label]))


def _refuse_values(roles: Roles) -> None:
    for role in ("gold", "key", "label", "groups", "by"):
        if are_values(getattr(roles, role)):
            raise ValueError(
                f"{role} is given as values, and the rows of a Dask DataFrame are spread over its"
                f" partitions: give the name of a column, ddf.assign({role}=...)."
            )
    if roles.by is not None:
        raise ValueError(
            f"by={roles.by!r}: a head is of one ranking, and these would be many. Ask for lists of"
            " groups by ddf.rankeval(by=...).nbest_precision(n) or .compare(n=...)."
        )


def _check_measure(column: pd.Series, name: Hashable) -> None:
    if isinstance(column.dtype, pd.CategoricalDtype):
        raise TypeError(
            f"measures: {name!r} is categorical, and partitions may number the categories"
            f" differently. Make numbers of them: ddf[{name!r}].cat.codes, the categories known."
        )


def _check_gold(column: pd.Series, name: Hashable, roles: Roles) -> None:
    text = pd.api.types.is_string_dtype(column.dtype) and column.dtype != object
    among = true_values(roles.positive)
    if text and not (among and all(isinstance(value, str) for value in among)):
        raise ValueError(
            f"gold={name!r} is text, dtype {column.dtype}: Dask makes text of columns of objects,"
            " True and False among them. Say which texts are true positives, positive='True', or"
            " read the labels as they are: dask.config.set({'dataframe.convert-string': False})."
        )


def _starts(ddf: Any, gold: Hashable, frames: Sequence[Any]) -> list[int]:
    """Return the number of the first row of each of the frames.

    A cheap column may be read in fewer pieces than all that are needed, files being fused: then
    the frames themselves are counted.
    """
    from dask.base import compute
    from dask.delayed import delayed

    one = ddf[[gold]].to_delayed()
    counted = one if len(one) == len(frames) else frames
    length = delayed(len, pure=False)
    sizes = compute(*[length(frame) for frame in counted])
    return [0, *np.cumsum(sizes).tolist()]


def _check_total(part: Part, starts: Sequence[int], numbered: bool) -> None:
    if numbered and part.total != starts[-1]:
        raise RuntimeError(
            f"the partitions were counted as {starts[-1]:,} rows and read as {part.total:,}: the"
            " files changed, or were read in other pieces. Name what identifies a candidate,"
            " label=..., or give the files an index."
        )
