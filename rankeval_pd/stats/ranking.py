"""Rankings, n-best lists and acceptance sets (Evert 2004, section 2).

Candidates come in the order of the tie key, larger scores rank first, and sorting is stable:
equal scores stay in the order of the key. Candidates that are not ``present`` (left out, or mere
padding) come after all others and are in no list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray


def order(score: FloatArray, present: BoolArray) -> IntArray:
    """Return the positions of the candidates, best first; NaN after every score.

    The cost is that of sorting, O(N log N).
    """
    positions = np.argsort(-score, axis=-1, kind="stable")
    if not present.all():
        absent = np.take_along_axis(np.broadcast_to(~present, score.shape), positions, axis=-1)
        last = np.argsort(absent, axis=-1, kind="stable")
        positions = np.take_along_axis(positions, last, axis=-1)
    return positions


def ranks(positions: IntArray) -> IntArray:
    """Return the rank, from 1, of every candidate."""
    result = np.empty_like(positions)
    np.put_along_axis(result, positions, np.arange(1, positions.shape[-1] + 1), axis=-1)
    return result


def restricted_ranks(positions: IntArray, present: BoolArray) -> IntArray:
    """Return the ranks among those that are present; the others get the ranks after them."""
    here = np.take_along_axis(np.broadcast_to(present, positions.shape), positions, axis=-1)
    inside = np.cumsum(here, axis=-1)
    outside = inside[..., -1:] + np.cumsum(~here, axis=-1)
    result = np.empty_like(positions)
    np.put_along_axis(result, positions, np.where(here, inside, outside), axis=-1)
    return result


class NBest(NamedTuple):
    """N-best lists of one ranking; the last axis is n."""

    tp: IntArray  #: true positives in the list
    threshold: FloatArray  #: score of the n-th candidate
    tied: IntArray  #: candidates left out although their score is the threshold
    exists: BoolArray  #: whether there are n candidates


class Size(NamedTuple):
    """How many candidates a ranking has."""

    total: IntArray
    positive: IntArray


def size(gold: BoolArray, present: BoolArray) -> Size:
    """Count candidates and true positives along the last axis."""
    return Size(present.sum(axis=-1), (gold & present).sum(axis=-1))


def nbest(score: FloatArray, gold: BoolArray, present: BoolArray, n: IntArray) -> NBest:
    """Count the true positives in the n-best lists, for all n at once.

    score, gold and present have the candidates last and broadcast; the result has n last.
    """
    score, gold, present = np.broadcast_arrays(score, gold, present)
    positions = order(score, present)
    total = present.sum(axis=-1)[..., np.newaxis]
    index = np.minimum(n, score.shape[-1]) - 1
    if index.size == 0 or score.shape[-1] == 0:
        empty = np.zeros((*score.shape[:-1], n.size))
        none = empty.astype(np.int64)
        return NBest(none, empty * np.nan, none, empty > 0)
    ranked = np.take_along_axis(score, positions, axis=-1)
    true = np.take_along_axis(gold & present, positions, axis=-1)
    tp = np.cumsum(true, axis=-1, dtype=np.int64)[..., index]
    tied = np.minimum(block_ends(ranked), total)[..., index] - n
    return NBest(tp, ranked[..., index], np.maximum(tied, 0), n <= total)


def block_ends(ranked: FloatArray) -> IntArray:
    """Return, for every rank, the last rank with the same score; NaN equals NaN."""
    same = ranked[..., 1:] == ranked[..., :-1]
    same |= np.isnan(ranked[..., 1:]) & np.isnan(ranked[..., :-1])
    rank = np.arange(1, ranked.shape[-1] + 1)
    ends = np.broadcast_to(rank, ranked.shape).copy()
    ends[..., :-1][same] = ranked.shape[-1]
    return np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]


class Accepted(NamedTuple):
    """Acceptance sets of one measure; the last axis is the threshold."""

    size: IntArray
    tp: IntArray


def accepted(
    score: FloatArray, gold: BoolArray, present: BoolArray, threshold: FloatArray
) -> Accepted:
    """Count the candidates with score >= threshold and the true positives among them.

    ``threshold`` has the axes of ``score`` but the last, and the thresholds last. NaN scores are
    never accepted, a NaN threshold accepts nothing.
    """
    score, gold, present = np.broadcast_arrays(score, gold, present)
    usable = present & ~np.isnan(score)
    cuts = np.broadcast_to(threshold, (*score.shape[:-1], threshold.shape[-1]))
    counts = np.zeros((2, *cuts.shape), dtype=np.int64)
    for row in np.ndindex(score.shape[:-1]):
        for column, chosen in enumerate((usable[row], usable[row] & gold[row])):
            rising = np.sort(score[row][chosen])
            below = np.searchsorted(rising, cuts[row], side="left")
            counts[(column, *row)] = np.where(np.isnan(cuts[row]), 0, rising.size - below)
    return Accepted(counts[0], counts[1])


class Regions(NamedTuple):
    """Difference regions of two lists (Evert 2004, section 3.3)."""

    overlap: IntArray  #: candidates in both lists
    tp_overlap: IntArray  #: true positives in both lists
    tp_a: IntArray
    tp_b: IntArray
    exists: BoolArray


def nbest_regions(
    rank_a: IntArray, rank_b: IntArray, gold: BoolArray, total: IntArray, n: IntArray
) -> Regions:
    """Count the overlap of two n-best lists for all n at once, in O(N).

    A candidate is in both n-best lists from the larger of its two ranks on.
    """
    rank_a, rank_b, gold = np.broadcast_arrays(rank_a, rank_b, gold)
    shape, width = rank_a.shape[:-1], rank_a.shape[-1]
    both = np.maximum(rank_a, rank_b)
    index = np.minimum(n, width)
    counts = np.empty((4, *shape, n.size), dtype=np.int64)
    for row in np.ndindex(shape):
        a, b, later, true = (x[row] for x in (rank_a, rank_b, both, gold))
        for column, rank in enumerate((later, later[true], a[true], b[true])):
            cumulated = np.cumsum(np.bincount(rank, minlength=width + 1))
            counts[(column, *row)] = cumulated[index]
    overlap, tp_overlap, tp_a, tp_b = counts
    return Regions(overlap, tp_overlap, tp_a, tp_b, n <= total[..., np.newaxis])


class AcceptedRegions(NamedTuple):
    """Two acceptance sets and their overlap; the last axis is the pair of thresholds."""

    n_a: IntArray
    n_b: IntArray
    overlap: IntArray
    tp_a: IntArray
    tp_b: IntArray
    tp_overlap: IntArray


def accepted_regions(
    score_a: FloatArray,
    score_b: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    threshold_a: FloatArray,
    threshold_b: FloatArray,
) -> AcceptedRegions:
    """Count two acceptance sets and their overlap, in O(N) per pair of thresholds."""
    score_a, score_b, gold, present = np.broadcast_arrays(score_a, score_b, gold, present)
    columns: list[list[IntArray]] = []
    for cut in range(threshold_a.shape[-1]):
        a = (score_a >= threshold_a[..., cut, np.newaxis]) & present
        b = (score_b >= threshold_b[..., cut, np.newaxis]) & present
        sets = (a, b, a & b)
        columns.append([x.sum(axis=-1) for x in (*sets, *(x & gold for x in sets))])
    counts = np.array(columns, dtype=np.int64).reshape(-1, 6, *score_a.shape[:-1])
    return AcceptedRegions(*np.moveaxis(counts, 0, -1))


def refuse_cut_ties(lists: NBest, n: IntArray) -> None:
    """Raise a ValueError where a list cuts through candidates with the same score."""
    cut = (lists.tied > 0) & lists.exists
    if cut.any():
        where = np.flatnonzero(cut.any(axis=tuple(range(cut.ndim - 1))))
        first = int(n[where[0]])
        raise ValueError(
            f"ties='error': {where.size} of the list sizes asked for cut through candidates with"
            f" equal scores, the first of them n={first}. Ask for other n, break the ties by"
            " key=..., or let a hash of the labels break them: ties='shared'."
        )
