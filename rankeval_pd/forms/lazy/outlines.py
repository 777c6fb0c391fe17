r"""Evaluate rankings of Dask DataFrames without sorting all candidates.

An outline of a ranking needs two passes over the data, and only true positives are sorted::

    partition   partition   partition
        |           |           |
    positives   positives   positives     pass 1: the true positives, and counts of all rows
           \        |        /
              known scores                kept on the workers
           /        |        \
     others      others      others       pass 2: how many others lie between these scores
           \        |        /
                  added                   in a tree
                    |
                outlines

Counting the ranks of a few candidates takes one pass over the data::

    partition   partition   partition
        |           |           |
      ahead       ahead       ahead       how many rows precede each candidate
           \        |        /
                  added                   in a tree: the ranks
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.forms.lazy import frame_heads, heads
from rankeval_pd.forms.lazy.engine import Graph, merge_width
from rankeval_pd.forms.lazy.heads import Counts, Request
from rankeval_pd.forms.roles.identifiers import warn_of_counts
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.roc_areas import Outline, Turns, scores_at, turns
from rankeval_pd.stats.rankings.swap_draws import Keys

# -------------------------------------------------------------------------------------------------
# Outlines of the rankings in a Dask DataFrame take two passes, and only true positives are sorted.


class _Positives(NamedTuple):
    rows: pd.DataFrame  #: the true positives, with only the columns that are needed
    counts: Counts


class _Known(NamedTuple):
    """Store the sorted distinct scores of true positives with their counts."""

    scores: list[FloatArray]
    tp: list[IntArray]


class _Others(NamedTuple):
    """Count false positives at and between the scores of true positives."""

    counts: list[IntArray]
    last: list[FloatArray]  #: the largest negated score in each gap, or -inf for an empty gap


class OutlineFacts(NamedTuple):
    """Store the outlines of the rankings and their counts."""

    request: Request
    outlines: list[Outline]
    scores: list[FloatArray]  #: sorted negated scores of the true positives for each measure
    #: last false-positive score before each true-positive score, and the last of all
    last: list[FloatArray]
    rows: Any  #: the delayed true positives
    counts: Counts


def positives(frame: pd.DataFrame, request: Request, start: int = 0) -> _Positives:
    """Return the true positives and the missing values of a partition."""
    worse, truth = heads.turned(frame, request), heads.truth_of(frame, request)
    if request.numbered:
        frame = heads.with_numbers(frame, start)
    return _Positives(frame.loc[truth == 1.0], Counts.of(frame, worse, truth, request))


def _together(parts: Sequence[_Positives]) -> _Positives:
    rows = pd.concat([one.rows for one in parts if len(one.rows)] or [parts[0].rows])
    return _Positives(rows, Counts.merged([one.counts for one in parts]))


def _known(of_all: _Positives, request: Request, *, ends: bool) -> _Known:
    found = [
        np.unique(scores[~np.isnan(scores)] if ends else scores, return_counts=True)
        for scores in heads.turned(of_all.rows, request)
    ]
    return _Known([scores for scores, _ in found], [tp for _, tp in found])


def others(frame: pd.DataFrame, known: _Known, request: Request, *, ends: bool = False) -> _Others:
    """Count the false positives at and between the scores of true positives.

    If ``ends`` is true, candidates without a score are ignored. The cost is O(rows log rows).
    """
    worse, truth = heads.turned(frame, request), heads.truth_of(frame, request)
    found = _Others([], [])
    for own, values in zip(worse[:, truth == 0.0], known.scores, strict=True):
        rising = np.sort(own[~np.isnan(own)] if ends else own)
        first = np.searchsorted(values, rising, side="left")
        tied = first < np.searchsorted(values, rising, side="right")
        found.counts.append(np.bincount(2 * first + tied, minlength=2 * values.size + 1))
        last = np.full(values.size + 1, -np.inf)
        last[first[~tied]] = rising[~tied]  # values ascend, so the last value in each gap remains
        found.last.append(last)
    return found


def _added(parts: Sequence[_Others]) -> _Others:
    return _Others(
        [np.sum(counts, axis=0) for counts in zip(*(part.counts for part in parts), strict=True)],
        [np.max(last, axis=0) for last in zip(*(part.last for part in parts), strict=True)],
    )


def outlines(ddf: Any, roles: Roles, *, ends: bool = False, labeled: bool = False) -> OutlineFacts:
    """Return an outline of the ranking for each measure.

    ``ends`` limits the outlines to candidates with a score. ``labeled`` adds labels to the true
    positives. A partition, the scores of all true positives, and the counts for one merge must fit
    in the memory of a worker.
    """
    request = frame_heads.request_of(ddf, roles)._replace(groups=None)
    if not labeled:
        request = request._replace(key=None, label=(), numbered=False)
    frames, starts = frame_heads.frames_of(ddf, request)
    first = Graph()
    collect = functools.partial(positives, request=request)
    parts = first.ask_partitions(collect, frames, start=starts[:-1])
    of_all = first.add(_together, parts)
    known = first.add(functools.partial(_known, request=request, ends=ends), of_all)
    # keep the results on the workers, outside the graphs
    held, held_known = first.persist(of_all, known)
    second = Graph()
    of_all, known = second.of(held), second.of(held_known)
    rows, counted = (second.add(operator.itemgetter(k), of_all) for k in (0, 1))
    [counts] = second.compute(counted)
    _check(counts, request, roles)
    count = functools.partial(others, request=request, ends=ends)
    parts = second.ask_partitions(count, frames, known)
    width = merge_width(24 * counts.positive * len(request.measures))
    between, (scores, tp) = second.compute(second.tree(parts, _added, width), known)
    found = [
        Outline(number, here[1::2], here[0::2])
        for number, here in zip(tp, between.counts, strict=True)
    ]
    return OutlineFacts(request, found, scores, between.last, second.delayed(rows), counts)


def _check(counts: Counts, request: Request, roles: Roles) -> None:
    """Check the candidates, and warn if all candidates are in one class."""
    dropped = (
        "missing='drop' drops different candidates for each measure. First drop all rows with a"
        " missing score: ddf.dropna(subset=[...])."
    )
    counts.check(request, roles, dropped)
    warn_of_counts(counts.positive, counts.total, request.gold)


class Curves(NamedTuple):
    """Store the list sizes at which the curve for each measure changes direction."""

    measures: tuple[Hashable, ...]
    turns: list[Turns]
    thresholds: list[FloatArray]  #: the score of the last candidate in each list
    total: int  #: N
    positive: int  #: N+


def curves(ddf: Any, roles: Roles) -> Curves:
    """Return the list sizes at which the curves change direction.

    These lists end just before or just after a true positive. The function makes two passes over
    the data, or three passes with ``ties="shared"`` to count ranks.
    """
    if roles.ties == "error":
        raise ValueError(
            "ties='error' is not supported for Dask DataFrames because ties without a true"
            " positive are not examined. Pass 'expected', 'blocks', 'shared', 'best' or 'worst'."
        )
    shared = roles.ties == "shared"
    found = outlines(ddf, roles, ends=roles.ends, labeled=shared)
    request = found.request
    ranks: list[IntArray | None] = [None] * len(found.outlines)
    if shared:
        ranks = list(_ranks(ddf, found, ends=roles.ends))
    turning = [
        turns(outline, roles.ties, own) for outline, own in zip(found.outlines, ranks, strict=True)
    ]
    thresholds = [
        sign * -scores_at(lists.n, outline, scores, last) + 0.0
        for lists, sign, outline, scores, last in zip(
            turning, request.signs, found.outlines, found.scores, found.last, strict=True
        )
    ]
    total, positive = found.counts.total, found.counts.positive
    return Curves(request.measures, turning, thresholds, total, positive)


def _ranks(ddf: Any, found: OutlineFacts, *, ends: bool) -> list[IntArray]:
    """Return the ranks of the true positives, or only of scored true positives."""
    rows = found.rows.compute()
    heads.refuse_repeated(rows, found.request)
    ranks = ranks_of(ddf, found.request, found.rows, len(rows))
    if not ends:
        return list(ranks)
    worse = heads.turned(rows, found.request)
    return [own[~np.isnan(scores)] for own, scores in zip(ranks, worse, strict=True)]


# -------------------------------------------------------------------------------------------------
# Count the ranks of a few candidates in a Dask DataFrame without sorting.


class RowsAhead(NamedTuple):
    """Store the number of rows ranked above each of a few candidates."""

    rows: IntArray  #: (measure, candidate)
    alike: int  #: number of rows with the score and key of a candidate, over all measures


class FewRanks(NamedTuple):
    """Store the candidates to rank, prepared once for all partitions."""

    worse: FloatArray  #: (measure, candidate) negated scores; smaller is better
    by_score: FloatArray  #: the negated scores in ascending order
    keys: Keys | None  #: hashes that break ties
    rows: pd.DataFrame | None  #: the candidates if a column breaks ties

    @classmethod
    def of(cls, rows: pd.DataFrame, request: Request) -> FewRanks:
        """Prepare rows for counting ranks."""
        worse = heads.turned(rows, request)
        hashed = request.key is None
        keys = heads.tie_keys(rows, request) if hashed else None
        return cls(worse, np.sort(worse, axis=1), keys, None if hashed else rows)

    def keys_with(self, rows: pd.DataFrame, request: Request) -> tuple[AnyArray, AnyArray]:
        """Return comparable tie keys for the candidates and for other rows."""
        if self.rows is None:
            assert self.keys is not None
            return self.keys, heads.tie_keys(rows, request)
        both = heads.tie_keys(pd.concat([self.rows, rows]) if len(rows) else self.rows, request)
        return both[: len(self.rows)], both[len(self.rows) :]


def ahead(frame: pd.DataFrame, few: FewRanks, request: Request, start: int = 0) -> RowsAhead:
    """Count the rows of a part before each of a few candidates.

    The cost is O(rows log candidates).
    """
    if request.numbered:
        frame = heads.with_numbers(frame, start)
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
    return RowsAhead(counts, alike)


def _ahead_of(
    place: IntArray, same: IntArray, of_few: IntArray, keys: tuple[AnyArray, AnyArray]
) -> tuple[IntArray, int]:
    """Count rows before each candidate, and rows equal to a candidate.

    ``place`` is the position of each row's score among the candidates' scores. ``same`` contains
    the rows whose score equals a candidate's score. ``of_few`` contains the positions of the
    candidates. ``keys`` contains the keys of the candidates and of ``same``.
    """
    # sort the candidates and the rows with equal scores by score and key; a row counts for every
    # candidate that follows in this order, except itself
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
    first = order[fresh][np.cumsum(fresh) - 1]  # the first row with the same score and key
    alike = int((is_row[order] & ~is_row[first]).sum())
    return rows[position[: of_few.size] - 1], alike


def _added_ranks(parts: Sequence[RowsAhead]) -> RowsAhead:
    rows, alike = zip(*parts, strict=True)
    return RowsAhead(np.sum(rows, axis=0), sum(alike))


def ranks_of(ddf: Any, request: Request, few: Any, count: int | None = None) -> IntArray:
    """Return ranks (measure, candidate), starting at 1, in one pass over the data.

    ``few`` is a frame, or a delayed frame with ``count`` rows.
    """
    from dask.delayed import delayed

    frames, starts = frame_heads.frames_of(ddf, request)
    graph = Graph()
    known = graph.add(functools.partial(FewRanks.of, request=request), graph.of(delayed(few)))
    each = functools.partial(ahead, request=request)
    width = merge_width(8 * len(request.measures) * (len(few) if count is None else count))
    parts = graph.ask_partitions(each, frames, known, start=starts[:-1])
    found: RowsAhead
    [found] = graph.compute(graph.tree(parts, _added_ranks, width))
    if found.alike != found.rows.size:  # each candidate matches only itself
        what = f"label={list(request.label)!r}" if request.label else "the index"
        what = what if request.key is None else f"key={request.key!r}"
        raise ValueError(f"{what} has repeated values among tied candidates: {heads.OWN}")
    return 1 + found.rows
