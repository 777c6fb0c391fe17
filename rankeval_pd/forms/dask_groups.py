"""Groups of a Dask DataFrame: every group comes together in one partition, and is asked there.

Files often hold their groups one after the other, so that a group is in one partition or in two
that are neighbours: then its rows are handed on to the first of them. Where groups are spread
widely, the partitions are shuffled. Never is a part of a group asked as if it were the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.forms.columns import frame_column
from rankeval_pd.forms.tie_keys import label_hashes
from rankeval_pd.stats._types import IntArray
from rankeval_pd.stats.resampling.keyed import Keys

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
