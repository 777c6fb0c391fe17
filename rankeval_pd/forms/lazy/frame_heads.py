"""The heads and the groups of Dask DataFrames, in one pass over the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.errors import unknown_name
from rankeval_pd.forms.lazy import heads
from rankeval_pd.forms.lazy.heads import HeadFrame, Part, Request
from rankeval_pd.forms.rankings.list_sizes import asked_thresholds
from rankeval_pd.forms.rankings.tie_keys import label_hashes
from rankeval_pd.forms.rankings.values import true_values
from rankeval_pd.forms.roles.columns import (
    find_gold,
    find_measures,
    frame_column,
    signs_of,
    with_roles_of,
)
from rankeval_pd.forms.roles.roles import Roles, are_values, as_names
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.rankings.swap_draws import Keys

# -------------------------------------------------------------------------------------------------
# Dask DataFrames of candidates: their heads, and the counts of all, in one pass over the files.
#
# The first partitions give a score for each measure that the head's last candidate has at least,
# and of the others only what reaches it is looked at; each round of partitions does so for the next
# one, which is larger. Nothing of Dask is imported before it is asked for.


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
    request, numbered_here = _request(ddf, replace(roles, by=None, exclude=_others(roles, by)), 1)
    columns = list(dict.fromkeys([*by, *_columns(request)]))
    frames, starts = frames_of(ddf, request, columns)
    if numbered_here:
        number = delayed(numbered, pure=False)
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


# -------------------------------------------------------------------------------------------------
# Groups of a Dask DataFrame: every group comes together in one partition, and is asked there.
#
# Files often hold their groups one after the other, so that a group is in one partition or in two
# that are neighbours: then its rows are handed on to the first of them. Where groups are spread
# widely, the partitions are shuffled. Never is a part of a group asked as if it were the whole.

_HANDED = 2  # groups that a partition hands on, on average; with more, all are shuffled
Asked = Callable[[pd.DataFrame, int], pd.DataFrame | None]


class Census(NamedTuple):
    """The groups of one partition."""

    groups: Keys  #: a hash of each
    sizes: IntArray


def census(frame: pd.DataFrame, by: Sequence[Hashable]) -> Census:
    """Return which groups a partition has rows of, and how many."""
    return Census(*np.unique(_hashes(frame, by), return_counts=True))


def _hashes(frame: pd.DataFrame, by: Sequence[Hashable]) -> Keys:
    columns = [frame_column(frame, name, "by") for name in by]
    for name, column in zip(by, columns, strict=True):
        if column.isna().any():
            raise ValueError(
                f"by={name!r} has {int(column.isna().sum())} missing values: every row belongs to a"
                f" group. Fill them, or drop these rows: ddf.dropna(subset=[{name!r}])."
            )
    codes = [pd.factorize(column) for column in columns]  # few groups, many rows
    hashes = [label_hashes(pd.Index(names, tupleize_cols=False))[number] for number, names in codes]
    result = hashes[0]
    for more in hashes[1:]:
        result = result * np.uint64(0x9E3779B97F4A7C15) ^ more
    return result


def numbered(frame: pd.DataFrame, start: int) -> pd.DataFrame:
    """Return the rows with their numbers over all partitions."""
    return frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis=0)


def _parted(frame: pd.DataFrame, by: Sequence[Hashable], given: list[Keys]) -> list[pd.DataFrame]:
    """Return the rows that stay in a partition, and those of the groups that are handed on."""
    hashes = _hashes(frame, by)
    handed = [np.isin(hashes, groups) for groups in given]
    return [frame.loc[~np.any(handed, axis=0)], *(frame.loc[rows] for rows in handed)]


def together(
    frames: Sequence[Any], named: Sequence[Any], by: list[Hashable], meta: pd.DataFrame
) -> tuple[list[Any], list[int | None], int]:
    """Return delayed frames that have whole groups, the largest group of each, and that of all.

    One run of the scheduler counts the groups: 16 bytes for each, in each partition that has it.
    ``named`` are the partitions' columns of groups alone. Where groups are shuffled is not known
    before, nor the largest of each frame.
    """
    from dask.base import compute
    from dask.delayed import delayed

    counted: Any = delayed(census, pure=False)
    as_counted: Any = delayed(_as_counted, pure=False)
    found = compute(*[counted(frame, by) for frame in named])
    frames = [
        as_counted(frame, int(one.sizes.sum())) for frame, one in zip(frames, found, strict=True)
    ]
    groups = np.concatenate([one.groups for one in found])
    partition = np.repeat(np.arange(len(found)), [one.groups.size for one in found])
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    sizes = np.bincount(number, weights=np.concatenate([one.sizes for one in found])).astype(int)
    owner = partition[first][number]
    moved = owner != partition
    if moved.sum() > _HANDED * len(frames):
        shuffled = _shuffled(frames, by, meta)
        return shuffled, [None] * len(shuffled), int(sizes.max(initial=0))
    joined = delayed(pd.concat, pure=False)
    kept: list[Any] = list(frames)
    given: list[list[Any]] = [[] for _ in frames]
    for place in np.unique(partition[moved]):
        away = moved & (partition == place)
        to = np.unique(owner[away])
        parts: Any = delayed(_parted, pure=False, nout=1 + to.size)(
            frames[place], by, [groups[away & (owner == other)] for other in to]
        )
        kept[place] = parts[0]
        for other, part in zip(to, list(parts)[1:], strict=True):
            given[other].append(part)
    largest = np.zeros(len(frames), dtype=int)
    np.maximum.at(largest, owner, sizes[number])
    whole = [joined([x, *more]) if more else x for x, more in zip(kept, given, strict=True)]
    return whole, largest.tolist(), int(sizes.max(initial=0))


def _as_counted(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Return a partition, which has the rows that its groups were counted in."""
    if len(frame) != rows:
        raise RuntimeError(
            f"the groups of a partition were counted in {rows:,} rows, and {len(frame):,} were"
            " read: the files changed, or were read in other pieces. Ask again, or write them in"
            " pieces of one size."
        )
    return frame


def _shuffled(frames: Sequence[Any], by: list[Hashable], meta: pd.DataFrame) -> list[Any]:
    import dask.dataframe as dd

    spread: Any = dd.from_delayed(list(frames), meta=meta, verify_meta=False)
    shuffled: list[Any] = spread.shuffle(on=by).to_delayed()
    return shuffled


def ask_groups(
    frames: Sequence[Any], ask: Asked, by: list[Hashable], each: Sequence[int | None], largest: int
) -> pd.DataFrame:
    """Return the answers of all partitions, the groups sorted.

    ``each`` is the size of the largest group of each frame, where it is known, ``largest`` that of
    all.
    """
    from dask.base import compute
    from dask.delayed import delayed

    answered = delayed(_answered, pure=False)
    found = compute(
        *[answered(frame, ask, by, here) for frame, here in zip(frames, each, strict=True)]
    )
    tables = [table for table in found if table is not None]
    if not tables:
        raise ValueError(
            f"no group has a list of the sizes asked for: the largest has {largest} candidates."
        )
    table = pd.concat(tables, ignore_index=True)
    number = table.groupby(by, sort=True, observed=True).ngroup().to_numpy()
    result: pd.DataFrame = table.iloc[np.argsort(number, kind="stable")].reset_index(drop=True)
    result.attrs = dict(tables[0].attrs)
    return result


def _answered(
    frame: pd.DataFrame, ask: Asked, by: list[Hashable], largest: int | None
) -> pd.DataFrame | None:
    if not len(frame):
        return None
    return ask(frame, int(census(frame, by).sizes.max()) if largest is None else largest)
