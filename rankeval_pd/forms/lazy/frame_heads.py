r"""Collect heads and groups of Dask DataFrames in one pass over the files.

Collecting a head takes a few rounds, and each round reads more partitions than the previous round::

    partition   partition        partition   partition   partition   partition
        |           |                |           |           |           |
     reduced     reduced          reduced     reduced     reduced     reduced
          \     /                      \          \         /          /
          merged -- limit, head -->               merged  -- limit, head --> ...

If a group spans several partitions, all rows of the group move to the first of these partitions::

    partition        partition        partition     census: which groups, how many rows
        |             /     |          /     |
        |      passed on   kept  passed on  kept    parted
         \      /            \     /         |
          concat             concat       kept      each asked in one task
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.errors import unknown_name
from rankeval_pd.forms.lazy import heads
from rankeval_pd.forms.lazy.engine import Graph, cluster, merge_width
from rankeval_pd.forms.lazy.heads import HeadFrame, PartialHead, Request
from rankeval_pd.forms.rankings.tie_keys import label_hashes
from rankeval_pd.forms.rankings.values import asked_thresholds, cut_scores, true_values
from rankeval_pd.forms.roles.columns import (
    find_gold,
    find_measures,
    frame_column,
    signs_of,
    with_roles_of,
)
from rankeval_pd.forms.roles.label_types import check_types
from rankeval_pd.forms.roles.roles import Roles, are_values, as_names
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.rankings.swap_draws import Keys

# -------------------------------------------------------------------------------------------------
# Each round bounds the score of the last candidate in the head for each measure. The next round
# reads more partitions and keeps only candidates that reach the bound.


class RowNumbers:
    """Request the row number across all partitions as a candidate's label."""

    def __repr__(self) -> str:
        return "rankeval_pd.dask.ROWS"

    def __reduce__(self) -> str:
        return "ROWS"


ROWS: Final = RowNumbers()

_GROWTH = 3  # factor by which the number of partitions grows in each round


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

    The head keeps the first candidates for each of ``n_keys`` orders of tied candidates. The head
    contains the columns in use and those in ``columns``. If ``threshold`` is given, the function
    counts accepted candidates and keeps none.

    The scheduler runs a few times, and the last run reads two thirds of the partitions. The cost is
    O(rows). A partition and several heads must fit in memory.
    """
    request, numbered = _request(ddf, roles, n_max, scored=scored)
    request = request._replace(orders=n_keys, draws=roles.draws)
    if threshold is not None:
        cuts = asked_thresholds(threshold, request.measures)
        cuts = cut_scores(cuts, ddf._meta[list(request.measures)].dtypes)
        request = request._replace(keep=0, cuts=cuts, numbered=False)
    numbered = request.numbered
    frames, starts = frames_of(ddf, request, columns)
    part = _in_rounds(frames, starts, request, _row_bytes(ddf._meta[_columns(request)]))
    _check_total(part.counts.total, starts, numbered)
    whole_roles = replace(roles, label=None) if numbered or threshold is not None else roles
    return heads.finished(part, request, whole_roles, n_max)


def _in_rounds(
    frames: Sequence[Any], starts: Sequence[int], request: Request, row_bytes: int
) -> PartialHead:
    """Return the head of all partitions, collected in several rounds."""
    keep = request.keep * max(1, len(request.measures))
    width = merge_width(keep * row_bytes)
    merge = functools.partial(heads.merged, request=request)
    stops = _stops(len(frames)) if request.keep and request.measures else [len(frames)]
    limit = None
    before: list[Any] = []  # references keep results on the cluster until the next round ends

    def head_of(graph: Graph, first: int, stop: int) -> str:
        reduce = functools.partial(heads.reduced, request=request, limit=limit)
        numbers, own = range(first, stop), starts[first:stop]
        parts = graph.ask_partitions(reduce, frames[first:stop], number=numbers, start=own)
        head: str = graph.tree([*map(graph.of, before), *parts], merge, width)
        return head

    for first, stop in zip([0, *stops], stops[:-1], strict=False):
        graph, following = Graph(), Graph()
        [bound] = graph.persist(head_of(graph, first, stop))
        [limit] = following.compute(following.add(_limit, following.of(bound)))
        before = [bound]
    last = Graph()
    part: PartialHead
    [part] = last.compute(head_of(last, stops[-2] if len(stops) > 1 else 0, stops[-1]))
    return part


def frames_of(
    ddf: Any, request: Request, columns: Sequence[Hashable] = ()
) -> tuple[list[Any], list[int]]:
    """Return the partitions, and their first row numbers if rows are numbered."""
    frames = ddf[list(dict.fromkeys([*_columns(request), *columns]))].to_delayed()
    starts = _starts(ddf, request.gold, frames) if request.numbered else [0] * (len(frames) + 1)
    return frames, starts


def groups_of(
    ddf: Any, roles: Roles
) -> tuple[pd.DataFrame, list[Hashable], list[Any], list[Any], list[Hashable]]:
    """Return the template, measures, partitions, groups and columns."""
    meta: pd.DataFrame = ddf._meta
    by = as_names(roles.by, meta.columns)
    for name in by:
        if name not in meta.columns:
            raise unknown_name("by", name, meta.columns)
    request, numbered_here = _request(ddf, replace(roles, by=None, exclude=_others(roles, by)), 1)
    columns = list(dict.fromkeys([*by, *_columns(request)]))
    frames, starts = frames_of(ddf, request, columns)
    if numbered_here:
        graph = Graph()
        numbered = graph.ask_partitions(heads.with_numbers, frames, start=starts[:-1])
        frames = [graph.delayed(name) for name in numbered]
    few = ddf[by].to_delayed()  # there are fewer pieces if Dask fuses files
    named = few if len(few) == len(frames) else frames
    return meta[columns], list(request.measures), frames, named, by


def _others(roles: Roles, by: list[Hashable]) -> list[Hashable]:
    """Return the names of excluded columns and group columns."""
    return list(dict.fromkeys([*as_names(roles.exclude, ()), *by]))


def request_of(ddf: Any, roles: Roles) -> Request:
    """Return the request for every partition, without list sizes."""
    return _request(ddf, roles, 1)[0]


def _limit(part: PartialHead) -> FloatArray:
    """Return the score of the last rank, or NaN for shorter heads."""
    return np.where(part.edge.open_, part.edge.bound, np.nan)


def _stops(count: int) -> list[int]:
    """Return the last partition of each round. Rounds grow by a constant factor."""
    stops = [min(max(1, cluster()[1]), count)]
    while stops[-1] < count:
        stops.append(min(_GROWTH * stops[-1], count))
    return stops


def _row_bytes(meta: pd.DataFrame) -> int:
    """Estimate the size of a row in bytes, including scores and position."""
    columns = sum(8 if dtype.kind in "biufcmM" else 64 for dtype in meta.dtypes)
    return columns + 8 * (2 + meta.shape[1])


def _request(ddf: Any, roles: Roles, n_max: int, *, scored: bool = True) -> tuple[Request, bool]:
    """Return the request for every partition, and whether row numbers are labels."""
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
    plain = replace(roles, label=None) if numbered or named_index else roles
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
                f"{role} is given as values, but the rows of a Dask DataFrame are spread across"
                f" its partitions. Add a column, ddf.assign({role}=...), and pass its name."
            )
    if len(roles.factors) > 1:
        raise ValueError(
            f"groups={roles.groups!r}: the cells of two crossed factors are spread across the"
            " partitions of a Dask DataFrame. Compute the columns that you use,"
            " ddf[[...]].compute()."
        )
    if roles.by is not None:
        raise ValueError(
            f"by={roles.by!r}: a head contains one ranking, but data has several. For n-best lists"
            " in groups, call ddf.rankeval(by=...).nbest_precision(n) or .compare(n=...)."
        )


def _check_measure(column: pd.Series, name: Hashable) -> None:
    if isinstance(column.dtype, pd.CategoricalDtype):
        raise TypeError(
            f"measures: {name!r} is categorical, but partitions may number the categories"
            f" differently. Convert the column with known categories: ddf[{name!r}].cat.codes."
        )


def _check_gold(column: pd.Series, name: Hashable, roles: Roles) -> None:
    text = pd.api.types.is_string_dtype(column.dtype) and column.dtype != object
    among = true_values(roles.positive)
    if text and not (among and all(isinstance(value, str) for value in among)):
        raise ValueError(
            f"gold={name!r} contains text (dtype {column.dtype}), because Dask converts objects to"
            " text, even True and False. Pass the true-positive text, such as positive='True', or"
            " turn off the conversion: dask.config.set({'dataframe.convert-string': False})."
        )


def _starts(ddf: Any, gold: Hashable, frames: Sequence[Any]) -> list[int]:
    """Return the row number at which each frame starts."""
    one = ddf[[gold]].to_delayed()
    graph = Graph()
    cheap = one if len(one) == len(frames) else frames
    sizes = graph.compute(*graph.ask_partitions(len, cheap))
    return [0, *np.cumsum(sizes).tolist()]


def _check_total(total: int, starts: Sequence[int], numbered: bool) -> None:
    if numbered and total != starts[-1]:
        raise RuntimeError(
            f"the partitions had {starts[-1]:,} rows when counted and {total:,} when read: the"
            " files changed or were split differently. Pass the column that identifies a candidate"
            " as label=..., or give the files an index."
        )


# -------------------------------------------------------------------------------------------------
# Files often store group after group, so a group is usually in one partition or in two neighboring
# partitions. The rows of such a group move to the first of the two partitions. If many groups span
# partitions, the partitions are shuffled. Part of a group is never treated as a whole group.

_HANDED = 2  # groups are shuffled if partitions pass on more groups than this on average
Asked = Callable[[pd.DataFrame, int], pd.DataFrame | None]


class Census(NamedTuple):
    """Store the groups of one partition."""

    groups: Keys  #: a hash of each group's keys
    sizes: IntArray


def census(frame: pd.DataFrame, by: Sequence[Hashable]) -> Census:
    """Return the groups of a partition and the number of rows in each group."""
    return Census(*np.unique(_hashes(frame, by), return_counts=True))


def _hashes(frame: pd.DataFrame, by: Sequence[Hashable]) -> Keys:
    columns = [frame_column(frame, name, "by") for name in by]
    for name, column in zip(by, columns, strict=True):
        if column.isna().any():
            raise ValueError(
                f"by={name!r} has {int(column.isna().sum())} missing values, but every row needs a"
                f" group. Fill in these values, or drop the rows: ddf.dropna(subset=[{name!r}])."
            )
    codes = [pd.factorize(column) for column in columns]  # the remaining groups are few and large
    hashes = [label_hashes(pd.Index(names, tupleize_cols=False))[number] for number, names in codes]
    result = hashes[0]
    for more in hashes[1:]:
        result = result * np.uint64(0x9E3779B97F4A7C15) ^ more
    return result


def _parted(frame: pd.DataFrame, *, by: list[Hashable], away: list[Keys]) -> list[pd.DataFrame]:
    """Split rows into rows that stay in a partition and rows to pass on."""
    hashes = _hashes(frame, by)
    handed = [np.isin(hashes, groups) for groups in away]
    return [frame.loc[~np.any(handed, axis=0)], *(frame.loc[rows] for rows in handed)]


def whole_groups(
    frames: Sequence[Any], named: Sequence[Any], by: list[Hashable], meta: pd.DataFrame
) -> tuple[list[Any], list[int | None], int]:
    """Return delayed frames of complete groups, and the largest group size in each.

    The scheduler runs once to count the groups. Counting needs 16 bytes per group and partition.
    ``named`` contains only the group columns of the partitions. The largest group of a shuffled
    frame is unknown.
    """
    graph, count = Graph(), functools.partial(census, by=by)
    found = graph.compute(*graph.ask_partitions(count, named))
    graph, rows = Graph(), [int(one.sizes.sum()) for one in found]
    kept = graph.ask_partitions(_as_counted, frames, rows=rows)
    groups = np.concatenate([one.groups for one in found])
    partition = np.repeat(np.arange(len(found)), [one.groups.size for one in found])
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    sizes = np.bincount(number, weights=np.concatenate([one.sizes for one in found])).astype(int)
    owner = partition[first][number]
    moved = owner != partition
    if moved.sum() > _HANDED * len(frames):
        shuffled = _shuffled([graph.delayed(frame) for frame in kept], by, meta)
        return shuffled, [None] * len(shuffled), int(sizes.max(initial=0))
    given: list[list[str]] = [[] for _ in frames]
    for place in np.unique(partition[moved]):
        away = moved & (partition == place)
        to = np.unique(owner[away])
        handed = [groups[away & (owner == other)] for other in to]
        parts = graph.add(functools.partial(_parted, by=by, away=handed), kept[place])
        kept[place], *others = [
            graph.add(operator.itemgetter(k), parts) for k in range(1 + to.size)
        ]
        for other, part in zip(to, others, strict=True):
            given[other].append(part)
    largest = np.zeros(len(frames), dtype=int)
    np.maximum.at(largest, owner, sizes[number])
    whole = [
        graph.add(pd.concat, [x, *more]) if more else x for x, more in zip(kept, given, strict=True)
    ]
    return [graph.delayed(frame) for frame in whole], largest.tolist(), int(sizes.max(initial=0))


def _as_counted(frame: pd.DataFrame, *, rows: int) -> pd.DataFrame:
    """Check the number of rows of a partition, and return the partition."""
    if len(frame) != rows:
        raise RuntimeError(
            f"a partition had {rows:,} rows when its groups were counted and {len(frame):,} when"
            " it was read: the files changed or were split differently. Call the method again, or"
            " rewrite the files as parts of equal size."
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
    """Return the answers for all partitions, sorted by group.

    ``each`` contains the size of the largest group in each frame, if known. ``largest`` is the size
    of the largest group across all frames.
    """
    graph, answered = Graph(), functools.partial(_answered, ask=ask, by=by)
    found = graph.compute(*graph.ask_partitions(answered, frames, largest=each))
    tables = [table for table in found if table is not None]
    if not tables:
        raise ValueError(
            "no group is large enough for the requested list sizes: the largest group has"
            f" {largest} candidates."
        )
    table = pd.concat(tables, ignore_index=True)
    for name in by:
        check_types(table[name], "by", name)
    number = table.groupby(by, sort=True, observed=True).ngroup().to_numpy()
    result: pd.DataFrame = table.iloc[np.argsort(number, kind="stable")].reset_index(drop=True)
    result.attrs = dict(tables[0].attrs)
    return result


def _answered(
    frame: pd.DataFrame, *, ask: Asked, by: list[Hashable], largest: int | None
) -> pd.DataFrame | None:
    if not len(frame):
        return None
    return ask(frame, int(census(frame, by).sizes.max()) if largest is None else largest)
