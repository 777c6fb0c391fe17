"""The ranks, among all candidates of a Dask DataFrame, of a few of them: counted, not sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.forms import heads
from rankeval_pd.forms.heads import Request
from rankeval_pd.stats._types import FloatArray, IntArray


def ahead(frame: pd.DataFrame, request: Request, few: pd.DataFrame, start: int = 0) -> IntArray:
    """Return how many rows of a part come before each of a few candidates: (measure, candidate).

    O(rows log candidates).
    """
    if request.numbered:
        frame = frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis=0)
    counts = [
        _ahead_of(scores, theirs, frame, few, request)
        for scores, theirs in zip(
            heads.turned(frame, request), heads.turned(few, request), strict=True
        )
    ]
    return np.array(counts, dtype=np.int64).reshape(len(request.measures), len(few))


def _ahead_of(
    scores: FloatArray,
    theirs: FloatArray,
    frame: pd.DataFrame,
    few: pd.DataFrame,
    request: Request,
) -> IntArray:
    by_score = np.sort(theirs)
    place = np.searchsorted(by_score, scores, side="left")
    same = np.flatnonzero(place < np.searchsorted(by_score, scores, side="right"))
    of_few = np.searchsorted(by_score, theirs, side="left")
    # the few, and the rows with the score of one of them, by score and key: a row comes before
    # those of the few that come after it, and not before itself
    together = pd.concat([few, frame.iloc[same]]) if same.size else few
    keys = heads.tie_keys(together, request)
    is_row = np.arange(len(together)) >= len(few)
    order = np.lexsort((is_row, keys, np.concatenate([of_few, place[same]])))
    before = np.cumsum(~is_row[order])
    position = np.empty_like(before)
    position[order] = before
    place[same] = position[len(few) :]
    rows = np.cumsum(np.bincount(place, minlength=len(few) + 1))
    result: IntArray = rows[position[: len(few)] - 1]
    return result


def ranks_of(ddf: Any, request: Request, few: pd.DataFrame) -> IntArray:
    """Return the ranks from 1, (measure, candidate), in one pass over the data."""
    from dask.delayed import delayed

    from rankeval_pd.forms import dask_frames

    frames, starts = dask_frames.frames_of(ddf, request)
    counted, added = delayed(ahead, pure=False), delayed(sum, pure=False)
    given = delayed(few, pure=False)
    parts = [
        counted(frame, request, given, start)
        for frame, start in zip(frames, starts[:-1], strict=True)
    ]
    ranks: IntArray = 1 + added(parts).compute()
    return ranks
