"""The ranks, among all candidates of a Dask DataFrame, of a few of them: counted, not sorted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.forms import heads
from rankeval_pd.forms.heads import Request
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.resampling.keyed import Keys

_MERGED = 8  # counts that are added up at a time


class Ahead(NamedTuple):
    """How many rows come before each of a few candidates."""

    rows: IntArray  #: (measure, candidate)
    alike: int  #: rows with the score and the key of one of them, over all measures


class Few(NamedTuple):
    """The candidates whose ranks are counted, what each partition needs of them made once."""

    worse: FloatArray  #: (measure, candidate), smaller is better
    by_score: FloatArray  #: the same, rising
    keys: Keys | None  #: the hashes that break ties
    rows: pd.DataFrame | None  #: the candidates, where a column breaks ties

    @classmethod
    def of(cls, rows: pd.DataFrame, request: Request) -> Few:
        """Return what is needed of these rows."""
        worse = heads.turned(rows, request)
        hashed = request.key is None
        keys = heads.tie_keys(rows, request) if hashed else None
        return cls(worse, np.sort(worse, axis=1), keys, None if hashed else rows)

    def keys_with(self, rows: pd.DataFrame, request: Request) -> tuple[AnyArray, AnyArray]:
        """Return the tie keys of the candidates, and of other rows, on one scale."""
        if self.rows is None:
            assert self.keys is not None
            return self.keys, heads.tie_keys(rows, request)
        both = heads.tie_keys(pd.concat([self.rows, rows]) if len(rows) else self.rows, request)
        return both[: len(self.rows)], both[len(self.rows) :]


def ahead(frame: pd.DataFrame, request: Request, few: Few, start: int = 0) -> Ahead:
    """Return how many rows of a part come before each of a few candidates.

    O(rows log candidates).
    """
    if request.numbered:
        frame = frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis=0)
    places, ties = [], []
    for scores, rising in zip(heads.turned(frame, request), few.by_score, strict=True):
        places.append(np.searchsorted(rising, scores, side="left"))
        ties.append(places[-1] < np.searchsorted(rising, scores, side="right"))
    tied = np.flatnonzero(np.any(ties, axis=0))
    own, keys = few.keys_with(frame.iloc[tied], request)
    counts, alike = np.empty(few.worse.shape, dtype=np.int64), 0
    for measure, (place, here) in enumerate(zip(places, ties, strict=True)):
        of_few = np.searchsorted(few.by_score[measure], few.worse[measure], side="left")
        same = np.flatnonzero(here)
        counts[measure], found = _ahead_of(place, same, of_few, (own, keys[here[tied]]))
        alike += found
    return Ahead(counts, alike)


def _ahead_of(
    place: IntArray, same: IntArray, of_few: IntArray, keys: tuple[AnyArray, AnyArray]
) -> tuple[IntArray, int]:
    """Return how many rows come before each of the few, and how many are like one of them.

    ``place`` is where each row's score stands among those of the few, ``same`` the rows that have
    one of these, ``of_few`` where the few stand, and ``keys`` are those of the few and of ``same``.
    """
    # the few, and the rows with the score of one of them, by score and key: a row comes before
    # those of the few that come after it, and not before itself
    together = np.concatenate(keys)
    is_row = np.arange(together.size) >= of_few.size
    block = np.concatenate([of_few, place[same]])
    order = np.lexsort((is_row, together, block))
    before = np.cumsum(~is_row[order])
    position = np.empty_like(before)
    position[order] = before
    place[same] = position[of_few.size :]
    rows = np.cumsum(np.bincount(place, minlength=of_few.size + 1))
    fresh = np.ones(order.size, dtype=bool)
    fresh[1:] = (np.diff(block[order]) != 0) | (np.diff(together[order]) != 0)
    first = order[fresh][np.cumsum(fresh) - 1]  # the first one with the same score and key
    alike = int((is_row[order] & ~is_row[first]).sum())
    return rows[position[: of_few.size] - 1], alike


def in_tree(parts: Sequence[Any], added: Callable[[Sequence[Any]], Any]) -> Any:
    """Return what many tasks return, added up some at a time, delayed."""
    from dask.delayed import delayed

    add, level = delayed(added, pure=False), list(parts)
    while len(level) > 1:
        level = [add(level[i : i + _MERGED]) for i in range(0, len(level), _MERGED)]
    return level[0]


def _added(parts: Sequence[Ahead]) -> Ahead:
    rows, alike = zip(*parts, strict=True)
    return Ahead(np.sum(rows, axis=0), sum(alike))


def ranks_of(ddf: Any, request: Request, few: Any) -> IntArray:
    """Return the ranks from 1, (measure, candidate), in one pass over the data.

    ``few`` is a frame, or delayed.
    """
    from dask.delayed import delayed

    from rankeval_pd.forms import dask_frames

    frames, starts = dask_frames.frames_of(ddf, request)
    counted, given = delayed(ahead, pure=False), delayed(Few.of, pure=False)(few, request)
    parts = [
        counted(frame, request, given, start)
        for frame, start in zip(frames, starts[:-1], strict=True)
    ]
    found: Ahead = in_tree(parts, _added).compute()
    if found.alike != found.rows.size:  # each finds itself, and nobody else
        what = f"label={list(request.label)!r}" if request.label else "the index"
        raise ValueError(
            f"{what if request.key is None else f'key={request.key!r}'} repeats where scores are"
            " equal: what breaks ties must be each candidate's own. Name what tells them apart,"
            " label=..., or take the numbers of the rows over all partitions,"
            " label=rankeval_pd.dask.ROWS."
        )
    return 1 + found.rows
