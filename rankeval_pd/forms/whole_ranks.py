"""The ranks, among all candidates of a Dask DataFrame, of a few of them: counted, not sorted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.forms import heads
from rankeval_pd.forms.heads import Request
from rankeval_pd.stats._types import FloatArray, IntArray

_MERGED = 8  # counts that are added up at a time


class Ahead(NamedTuple):
    """How many rows come before each of a few candidates."""

    rows: IntArray  #: (measure, candidate)
    alike: int  #: rows with the score and the key of one of them, over all measures


def ahead(frame: pd.DataFrame, request: Request, few: pd.DataFrame, start: int = 0) -> Ahead:
    """Return how many rows of a part come before each of a few candidates.

    O(rows log candidates).
    """
    if request.numbered:
        frame = frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis=0)
    counts = np.empty((len(request.measures), len(few)), dtype=np.int64)
    alike = 0
    both = zip(heads.turned(frame, request), heads.turned(few, request), strict=True)
    for measure, (scores, theirs) in enumerate(both):
        counts[measure], found = _ahead_of(scores, theirs, frame, few, request)
        alike += found
    return Ahead(counts, alike)


def _ahead_of(
    scores: FloatArray,
    theirs: FloatArray,
    frame: pd.DataFrame,
    few: pd.DataFrame,
    request: Request,
) -> tuple[IntArray, int]:
    by_score = np.sort(theirs)
    place = np.searchsorted(by_score, scores, side="left")
    same = np.flatnonzero(place < np.searchsorted(by_score, scores, side="right"))
    of_few = np.searchsorted(by_score, theirs, side="left")
    # the few, and the rows with the score of one of them, by score and key: a row comes before
    # those of the few that come after it, and not before itself
    together = pd.concat([few, frame.iloc[same]]) if same.size else few
    keys = heads.tie_keys(together, request)
    is_row = np.arange(len(together)) >= len(few)
    block = np.concatenate([of_few, place[same]])
    order = np.lexsort((is_row, keys, block))
    before = np.cumsum(~is_row[order])
    position = np.empty_like(before)
    position[order] = before
    place[same] = position[len(few) :]
    rows = np.cumsum(np.bincount(place, minlength=len(few) + 1))
    fresh = np.ones(order.size, dtype=bool)
    fresh[1:] = (np.diff(block[order]) != 0) | (np.diff(keys[order]) != 0)
    first = order[fresh][np.cumsum(fresh) - 1]  # the first one with the same score and key
    alike = int((is_row[order] & ~is_row[first]).sum())
    return rows[position[: len(few)] - 1], alike


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
    counted, given = delayed(ahead, pure=False), delayed(few, pure=False)
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
