"""The outlines of the rankings in a Dask DataFrame: two passes, and nothing is sorted but N+."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.forms import dask_frames, heads
from rankeval_pd.forms.heads import Request
from rankeval_pd.forms.roles import Roles
from rankeval_pd.forms.values import refuse_unlabelled, refuse_unscored
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.rankings.outlines import Outline

_MERGED = 16  # counts that are added up at a time


class _Positives(NamedTuple):
    scores: FloatArray  #: (measure, true positive) with the sign turned
    total: int
    unlabelled: int
    unscored: IntArray


def positives(frame: pd.DataFrame, request: Request) -> _Positives:
    """Return the scores of the true positives of a partition, and what is missing in it."""
    worse, truth = heads.turned(frame, request), heads.truth_of(frame, request)
    return _Positives(
        worse[:, truth == 1.0],
        len(frame),
        int(np.isnan(truth).sum()),
        np.isnan(worse).sum(axis=1),
    )


def others(frame: pd.DataFrame, request: Request, scores: Sequence[FloatArray]) -> list[IntArray]:
    """Return how many others there are at each of the scores, rising, and between them.

    O(rows log rows).
    """
    worse, truth = heads.turned(frame, request), heads.truth_of(frame, request)
    counts = []
    for own, values in zip(worse[:, truth == 0.0], scores, strict=True):
        rising = np.sort(own)
        first = np.searchsorted(values, rising, side="left")
        tied = first < np.searchsorted(values, rising, side="right")
        counts.append(np.bincount(2 * first + tied, minlength=2 * values.size + 1))
    return counts


def _added(parts: Sequence[list[IntArray]]) -> list[IntArray]:
    return [np.sum(counts, axis=0) for counts in zip(*parts, strict=True)]


def outlines(ddf: Any, roles: Roles) -> tuple[Request, list[Outline]]:
    """Return the outline of each measure's ranking.

    A worker holds a partition, the scores of all true positives, and up to sixteen counts of them.
    """
    from dask.base import compute
    from dask.delayed import delayed

    request = dask_frames.request_of(ddf, roles)
    frames, _ = dask_frames.frames_of(ddf, request._replace(numbered=False))
    found = compute(*[delayed(positives, pure=False)(frame, request) for frame in frames])
    total = sum(one.total for one in found)
    refuse_unlabelled(sum(one.unlabelled for one in found), total, request.gold)
    unscored = np.sum([one.unscored for one in found], axis=0)
    if roles.missing == "raise":
        refuse_unscored(unscored, np.full(unscored.shape, total), total, request.measures)
    elif roles.missing == "drop" and unscored.any():
        raise ValueError(
            "missing='drop' leaves other candidates out of each measure. Leave them out before:"
            " ddf.dropna(subset=[...])."
        )
    every = np.concatenate([one.scores for one in found], axis=1)
    known = [np.unique(scores, return_counts=True, equal_nan=True) for scores in every]
    given = delayed([values for values, _ in known], pure=False)
    counted, added = delayed(others, pure=False), delayed(_added, pure=False)
    level = [counted(frame, request, given) for frame in frames]
    while len(level) > 1:
        level = [added(level[i : i + _MERGED]) for i in range(0, len(level), _MERGED)]
    counts: list[IntArray] = level[0].compute()
    return request, [
        Outline(tp, count[1::2], count[0::2]) for (_, tp), count in zip(known, counts, strict=True)
    ]
