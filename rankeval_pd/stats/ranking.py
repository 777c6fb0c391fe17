"""Rank candidates, count true positives, find copies of measures, and draw keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from rankeval_pd.stats._types import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    running_sums,
    slices,
)

# ------------------------------- Rankings, n-best lists and acceptance sets (Evert 2004, section 2)
#
# Input candidates are sorted by the tie key, and sorting by decreasing score is stable. Candidates
# that are not ``present`` (excluded, or padding) come last and are in no list.


def inverse(order: IntArray) -> IntArray:
    """Return the place of each position in an order, or the order of these places; from 0."""
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.arange(order.shape[-1]), axis=-1)
    return places


def up_to_ranks(ranks: IntArray, gold: BoolArray) -> IntArray:
    """Return the number of true positives up to each rank, starting at rank 0."""
    tp = np.zeros((*ranks.shape[:-1], ranks.shape[-1] + 1), dtype=np.int64)
    np.put_along_axis(tp, ranks, gold, axis=-1)
    return np.cumsum(tp, axis=-1)


def sums_before(values: AnyArray) -> AnyArray:
    """Return the sums of the values before each rank, and the total: (..., rank from 0)."""
    shape = (*values.shape[:-1], values.shape[-1] + 1)
    sums = np.zeros(shape, dtype=np.result_type(values, np.int64))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


def _absent_last(positions: IntArray, present: BoolArray) -> IntArray:
    """Move absent candidates behind all others: (..., rank).

    A stable sort by one bit per candidate keeps the order of all others in O(N).
    """
    absent = np.take_along_axis(np.broadcast_to(~present, positions.shape), positions, axis=-1)
    last = np.argsort(absent, kind="stable")
    return np.take_along_axis(positions, last, axis=-1)


class NBest(NamedTuple):
    """The n-best lists of one ranking; the last axis is n."""

    tp: FloatArray | IntArray  #: true positives; the mean under ties="expected"
    threshold: FloatArray  #: score of the n-th candidate
    n: IntArray  #: sizes of the lists
    exists: BoolArray  #: whether there are n candidates
    block: TieBlock

    @property
    def tied(self) -> IntArray:
        """Return the number of excluded candidates with a score equal to the threshold."""
        return np.asarray(np.maximum(self.block.through - self.n, 0))


class TieBlock(NamedTuple):
    """The block of candidates with the n-th score, and the candidates above the block."""

    above: IntArray  #: candidates above the block
    tp_above: IntArray  #: true positives above the block
    through: IntArray  #: candidates above or in the block
    tp_through: IntArray  #: true positives above or in the block

    @property
    def size(self) -> IntArray:
        """Return the number of candidates in the block."""
        return np.asarray(np.maximum(self.through - self.above, 1))

    @property
    def tp(self) -> IntArray:
        """Return the number of true positives in the block."""
        return self.tp_through - self.tp_above

    def tp_sd(self, n: IntArray) -> FloatArray:
        """Return the standard deviation of the true positives over random tie orders."""
        inside = n - self.above
        share = self.tp / np.maximum(self.size, 1)
        left = (self.size - inside) / np.maximum(self.size - 1, 1)
        return np.sqrt(np.maximum(inside * share * (1.0 - share) * left, 0.0))


class Whole(NamedTuple):
    """Properties of full rankings when only the union of the measures' top ranks is in memory."""

    total: int  #: N
    positive: int  #: N+
    reach: int  #: rank up to which the order is complete; later candidates are in no list
    asked: int  #: size of the longest list that can be requested
    end: IntArray  #: (measure) number of candidates with at least the score at rank ``reach``
    tp_end: IntArray  #: (measure) true positives among these candidates
    scored: IntArray  #: (measure) number of candidates with a score
    tp_scored: IntArray  #: (measure) true positives among these candidates
    clusters: int | None = None  #: clusters among all candidates
    positives_variance: float = 0.0  #: see ``cluster_totals``
    accepted: IntArray | None = None  #: (2, measure, cut) sizes and true positives

    def size(self, *shape: int) -> Size:
        """Return N and N+, repeated in this shape."""
        return Size(np.full(shape, self.total), np.full(shape, self.positive))

    def of(self, measures: IntArray) -> Whole:
        """Return the properties of the given measures, which may be repeated."""
        sets = self.accepted
        if sets is not None:
            sets = sets[:, measures]
        return self._replace(
            end=self.end[measures],
            tp_end=self.tp_end[measures],
            scored=self.scored[measures],
            tp_scored=self.tp_scored[measures],
            accepted=sets,
        )


def every(candidates: int, whole: Whole | None = None) -> IntArray:
    """Return all list sizes up to the number of candidates or the last complete rank."""
    if whole is not None:
        candidates = whole.asked
    return np.arange(1, 1 + candidates)


class Size(NamedTuple):
    """The numbers of candidates and true positives in a ranking."""

    total: IntArray
    positive: IntArray


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidates ranked by a score, sorted once, with lazily computed fields.

    The last axis is the candidates, in tie-key order, or the ranks; the one before, the measure.
    """

    score: FloatArray  #: (..., candidate)
    gold: BoolArray  #: (..., candidate): whether the candidate is present and a true positive
    present: BoolArray  #: (..., candidate)
    ends: bool = False  #: whether lists end before candidates without a score
    whole: Whole | None = None  #: properties of the full rankings, for heads
    positions: IntArray | None = None  #: (..., rank): the order, if known without sorting

    @classmethod
    def of(
        cls,
        score: FloatArray,
        gold: BoolArray,
        present: BoolArray,
        *,
        ends: bool = False,
        whole: Whole | None = None,
        positions: IntArray | None = None,
    ) -> Ranking:
        """Broadcast the arrays, and return the rankings by score."""
        score, true, present = np.broadcast_arrays(score, gold & present, present)
        if positions is not None:
            positions = np.broadcast_to(positions, score.shape)
        return cls(score, true, present, ends, whole, positions)

    def row(self, row: tuple[int, ...]) -> Ranking:
        """Return the ranking of one measure in one batch without sorting; requires all ranks."""
        score = self.score[row]
        gold = self.gold[row]
        present = self.present[row]
        return replace(self, score=score, gold=gold, present=present, positions=self.order[row])

    def among(self, present: BoolArray) -> Ranking:
        """Return the rankings restricted to fewer candidates, without sorting."""
        if (present == self.present).all():
            return self
        present = np.broadcast_to(present, self.score.shape)
        positions = _absent_last(self.order, present)
        return replace(self, gold=self.gold & present, present=present, positions=positions)

    @cached_property
    def order(self) -> IntArray:
        """(..., rank): the positions of the candidates; NaN after -inf, then absent ones."""
        if self.positions is not None:
            return self.positions
        positions = np.argsort(-self.score)
        # the default sort is faster than the stable one: restore the tie-key order of equal scores
        ranked = np.take_along_axis(self.score, positions, axis=-1)
        if equal_scores(ranked[..., 1:], ranked[..., :-1]).any():
            block = block_edges(ranked)[0] * ranked.shape[-1]
            positions = np.sort(block + positions) - block
        if self.present.all():
            return positions
        return _absent_last(positions, self.present)

    @cached_property
    def ranks(self) -> IntArray:
        """(..., candidate): the rank of every candidate, from 1."""
        return inverse(self.order) + 1

    @cached_property
    def scores_by_rank(self) -> FloatArray:
        """(..., rank): the scores in order of rank."""
        return np.take_along_axis(self.score, self.order, axis=-1)

    @cached_property
    def eligible(self) -> BoolArray:
        """(..., candidate): whether the candidate can be in a list."""
        if not self.ends:
            return self.present
        return self.present & ~np.isnan(self.score)

    @cached_property
    def tp(self) -> IntArray:
        """(..., rank from 0): the number of true positives up to each rank, if in a list."""
        return sums_before(np.take_along_axis(self.gold & self.eligible, self.order, axis=-1))

    @cached_property
    def here(self) -> IntArray:
        """(...): the number of candidates present in memory."""
        return np.asarray(self.present.sum(axis=-1))

    @cached_property
    def size(self) -> Size:
        """(...): N and N+, always for the full ranking."""
        known = self.whole
        if known is None:
            return Size(self.present.sum(axis=-1), self.gold.sum(axis=-1))
        return known.size(*self.score.shape[:-1])

    @cached_property
    def retrieved(self) -> Size:
        """(...): N and N+ among candidates that can be in a list."""
        if not self.ends:
            return self.size
        if (known := self.whole) is not None:
            shape = self.score.shape[:-1]
            return Size(*(np.broadcast_to(x, shape) for x in (known.scored, known.tp_scored)))
        return Size(self.eligible.sum(axis=-1), (self.gold & self.eligible).sum(axis=-1))

    @cached_property
    def blocks(self) -> tuple[IntArray, IntArray]:
        """(..., rank): numbers of candidates with a higher score, and with this score or higher."""
        return block_edges(self.scores_by_rank)

    @property
    def every(self) -> IntArray:
        """(n): all list sizes."""
        return every(self.score.shape[-1], self.whole)

    def nbest(self, n: IntArray | None, ties: str = "shared") -> NBest:
        """Count the true positives in n-best lists of many sizes; None means every n.

        Of candidates with the n-th score, ``ties`` counts those first in the stored order
        ("shared"), true positives first or last ("best", "worst"), or the mean ("expected"); with
        "error", a list that splits a block raises an error.
        """
        asked = self.every if n is None else n
        width = self.score.shape[-1]
        index = asked
        if index.max(initial=0) > width:
            index = np.minimum(asked, width)
        if not index.size or not width:
            none = np.zeros((*self.score.shape[:-1], asked.size), dtype=int)
            return NBest(none, none * np.nan, asked, none > 0, TieBlock(none, none, none, none))
        total = self.size.total[..., np.newaxis]
        here = self.eligible.sum(axis=-1)[..., np.newaxis]
        if (whole := self.whole) is not None:
            known = np.asarray(whole.scored if self.ends else whole.total)[..., np.newaxis]
            here = np.broadcast_to(known, here.shape)
        # (..., rank) -> (..., n): the n-th candidate's block, and the true positives around it
        at: Any = index - 1
        up_to: Any = index
        if n is None and asked.size <= width:  # no copy in this case
            at = slice(0, asked.size)
            up_to = slice(1, asked.size + 1)
        start = self.blocks[0][..., at]
        end = self.blocks[1][..., at]
        if (here < width).any():
            end = np.minimum(end, here)
        tp_start = self.tp[..., at]
        tp_end = self.tp[..., up_to]
        if not ((end - start == 1) | (index > here)).all():  # ties
            tp_start = np.take_along_axis(self.tp, np.minimum(start, width), axis=-1)
            tp_end = np.take_along_axis(self.tp, np.minimum(end, width), axis=-1)
        if whole is not None:
            # a block that extends beyond these candidates ends where the block at ``reach`` ends
            last = self.scores_by_rank[..., whole.reach - 1 : whole.reach]
            on = equal_scores(self.scores_by_rank[..., index - 1], last)
            on &= whole.end[..., np.newaxis] <= here  # otherwise no list contains missing scores
            end = np.where(on, whole.end[..., np.newaxis], end)
            tp_end = np.where(on, whole.tp_end[..., np.newaxis], tp_end)
        block = TieBlock(start, tp_start, end, tp_end)
        counted: FloatArray | IntArray = self.tp[..., up_to]
        if ties == "expected":
            counted = tp_start + (index - start) * block.tp / block.size
        elif ties == "best":
            counted = tp_start + np.minimum(index - start, block.tp)
        elif ties == "worst":
            counted = tp_start + np.clip(index - start - (block.size - block.tp), 0, block.tp)
        result = NBest(counted, self.scores_by_rank[..., at], asked, asked <= total, block)
        if ties == "error":
            _refuse_cuts(result)
        return result

    def cumulated(self, ties: str = "shared") -> FloatArray | IntArray:
        """Return the number of true positives up to each rank: (..., rank from 0)."""
        if ties in ("shared", "error"):
            return self.tp
        tp = self.nbest(np.arange(1, self.score.shape[-1] + 1), ties).tp
        return cast("FloatArray", np.concatenate([np.zeros_like(tp[..., :1]), tp], axis=-1))

    def cuts_tie(self, n: IntArray) -> BoolArray:
        """Return whether lists of size n exclude candidates tied with the last one: (..., n)."""
        width = self.score.shape[-1]
        if not width:
            return np.zeros((*self.score.shape[:-1], n.size), dtype=bool)
        rank = np.minimum(np.concatenate([n, n + 1]), width)
        edges = np.take_along_axis(self.score, self.order[..., rank - 1], axis=-1)
        last = edges[..., : n.size]
        after = edges[..., n.size :]
        return equal_scores(last, after) & (n < self.size.total[..., np.newaxis])

    def accepted(self, threshold: FloatArray) -> Accepted:
        """Count candidates and true positives with scores at or above thresholds, on the last axis.

        NaN scores and thresholds accept nothing. Scores are located among the thresholds, not
        sorted.
        """
        usable = self.present & ~np.isnan(self.score)
        cuts = np.broadcast_to(threshold, (*self.score.shape[:-1], threshold.shape[-1]))
        counts = np.zeros((2, *cuts.shape), dtype=np.int64)
        for row in np.ndindex(self.score.shape[:-1]):
            rising, back = np.unique(cuts[row], return_inverse=True)  # NaN is last, never reached
            reached = np.searchsorted(rising, self.score[row][usable[row]], side="right")
            for column, kind in enumerate((reached, reached[self.gold[row][usable[row]]])):
                exactly = np.bincount(kind, minlength=rising.size + 1)  # by thresholds reached
                counts[column, *row] = np.cumsum(exactly[::-1])[::-1][1:][back]
        return Accepted(counts[0], counts[1])


def equal_scores(one: FloatArray, other: FloatArray | float) -> BoolArray:
    """Return whether scores are equal; NaN is equal to NaN."""
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def block_edges(ranked: FloatArray) -> tuple[IntArray, IntArray]:
    """Count the candidates above each rank's score, and those at or above it; NaN equals NaN."""
    width = ranked.shape[-1]
    rank = np.broadcast_to(np.arange(width + 1), (*ranked.shape[:-1], width + 1))
    tied = equal_scores(ranked[..., 1:], ranked[..., :-1])  # (..., rank but the last)
    if not tied.any():
        return rank[..., :-1], rank[..., 1:]
    edges = np.ones(rank.shape, dtype=bool)  # between two blocks
    edges[..., 1:-1] = ~tied
    start = np.maximum.accumulate(np.where(edges[..., :-1], rank[..., :-1], 0), axis=-1)
    end = np.where(edges[..., 1:], rank[..., 1:], width)
    return start, np.minimum.accumulate(end[..., ::-1], axis=-1)[..., ::-1]


def _refuse_cuts(found: NBest) -> None:
    """Raise a ValueError if a list ends inside a tie."""
    n = found.n
    cut = (found.tied > 0) & found.exists
    if cut.any():
        where = np.flatnonzero(cut.any(axis=tuple(range(cut.ndim - 1))))
        raise ValueError(
            f"ties='error': {where.size} of {n.size} requested lists end inside a tie, first at"
            f" n={int(n[where[0]])}. Pass other values of n, break the ties by a column, key=...,"
            " or break them by a hash of the labels: ties='shared'."
        )


class Blocks(NamedTuple):
    """The candidates that are present, in rank order, and the blocks of equal scores."""

    positions: IntArray  #: (..., rank)
    true: BoolArray  #: (..., rank)
    here: BoolArray  #: (..., rank): whether a candidate has this rank
    start: IntArray  #: (..., rank): number of candidates above the block
    end: IntArray  #: (..., rank): number of candidates above or in the block
    tp: IntArray  #: (..., rank from 0): number of true positives up to each rank
    positive: IntArray  #: (..., 1): N+
    total: IntArray  #: (..., 1): N
    untied: bool  #: whether every block is one candidate

    @classmethod
    def of(cls, ranking: Ranking) -> Blocks:
        """Return the blocks for rankings that include all candidates."""
        total = ranking.here[..., np.newaxis]
        start, end = ranking.blocks
        if not ranking.present.all():
            start = np.minimum(start, total)
            end = np.minimum(end, total)
        true = np.take_along_axis(ranking.gold, ranking.order, axis=-1)
        tp = sums_before(true)
        here = np.arange(1, true.shape[-1] + 1) <= total
        untied = bool((end - start == 1).all())
        return cls(ranking.order, true, here, start, end, tp, tp[..., -1:], total, untied)

    def at_edges(self, counts: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Return the numbers above each rank's block, and above or in the block: (..., rank)."""
        if self.untied:
            return counts[..., :-1], counts[..., 1:]
        above = np.take_along_axis(counts, self.start, axis=-1)
        return above, np.take_along_axis(counts, self.end, axis=-1)

    def around(self, counts: AnyArray) -> AnyArray:
        """Return twice the number above the middle of each rank's block: (..., rank)."""
        above, through = self.at_edges(counts)
        return above + through

    def by_candidate(self, values: FloatArray) -> FloatArray:
        """Return the values (..., rank) in the order of the candidates."""
        result = np.empty(values.shape)
        np.put_along_axis(result, self.positions, values, axis=-1)
        return result


class Accepted(NamedTuple):
    """The acceptance sets of one measure; the last axis is the threshold."""

    size: IntArray
    tp: IntArray


class Regions(NamedTuple):
    """The difference regions of two lists (Evert 2004, section 3.3)."""

    overlap: IntArray  #: number of candidates in both lists
    tp_overlap: IntArray  #: number of true positives in both lists
    tp_a: IntArray
    tp_b: IntArray

    def table(self, n: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return the true positives and sizes of the regions: tp_a, n_a, tp_b, n_b."""
        size = n - self.overlap
        return self.tp_a - self.tp_overlap, size, self.tp_b - self.tp_overlap, size


def nbest_regions(rank_a: IntArray, rank_b: IntArray, gold: BoolArray, n: IntArray) -> Regions:
    """Count the overlap of two n-best lists for all n in O(N), from the larger of both ranks."""
    rank_a, rank_b, gold = np.broadcast_arrays(rank_a, rank_b, gold)
    shape = rank_a.shape[:-1]
    width = rank_a.shape[-1]
    both = np.maximum(rank_a, rank_b)
    index = np.minimum(n, width)
    counts = np.empty((4, *shape, n.size), dtype=np.int64)
    for row in np.ndindex(shape):
        later, true = both[row], gold[row]
        ranks = later, later[true], rank_a[row][true], rank_b[row][true]
        for column, rank in enumerate(ranks):
            cumulated = np.cumsum(np.bincount(rank, minlength=width + 1))
            counts[column, *row] = cumulated[index]
    overlap, tp_overlap, tp_a, tp_b = counts
    return Regions(overlap, tp_overlap, tp_a, tp_b)


class AcceptedRegions(NamedTuple):
    """Two acceptance sets with overlap; the last axis is the pair of thresholds."""

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
    """Count two acceptance sets and the overlap in O(N) per pair of thresholds."""
    score_a, score_b, gold, present = np.broadcast_arrays(score_a, score_b, gold, present)
    columns = []
    scores = (score_a, threshold_a), (score_b, threshold_b)
    for cut in range(threshold_a.shape[-1]):
        a, b = ((score >= least[..., cut, np.newaxis]) & present for score, least in scores)
        sets = (a, b, a & b)
        columns.append([x.sum(axis=-1) for x in (*sets, *(x & gold for x in sets))])
    counts = np.array(columns, dtype=np.int64).reshape(-1, 6, *score_a.shape[:-1])
    return AcceptedRegions(*np.moveaxis(counts, 0, -1))


# -------------------------- Find measures with identical rankings, and candidates in several groups

_LOOKED_AT = 256  # number of candidates checked before all candidates are compared
_LEAST = 10  # with fewer candidates, two measures can be equal by chance
_ROUNDING = 1e-12  # relative difference below which scores count as equal


def same_order(score: FloatArray) -> IntArray:
    """Return each measure's first measure with the same ranking, up to rounding: (measure)."""
    count, size = score.shape
    result = np.arange(count)
    if count < 2 or size < _LEAST:
        return result
    few = score[:, :: -(-size // _LOOKED_AT)]
    first: dict[bytes, list[int]] = {}
    for k in range(count):
        order = np.argsort(few[k], kind="stable")
        places = np.empty(order.size, dtype=np.int64)
        places[order] = np.concatenate([[0], np.cumsum(_steps(few[k][order]))])
        alike = first.setdefault(places.tobytes(), [])
        for i in alike:
            if _alike(score[i], score[k]):
                result[k] = i
                break
        else:
            alike.append(k)
    return result


def _steps(ordered: FloatArray) -> BoolArray:
    """Return whether the next score is different; NaN comes last."""
    low = ordered[:-1]
    high = ordered[1:]
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(high - low) <= _ROUNDING * np.abs(high)
    return np.asarray(~((low == high) | close | np.isnan(low)))


def _alike(one: FloatArray, other: FloatArray) -> bool:
    """Return whether two measures have the same ranking with at least two scores."""
    if (np.isnan(one) != np.isnan(other)).any():
        return False
    order = np.argsort(one, kind="stable")
    there = other[order]
    up = _steps(one[order])
    with np.errstate(invalid="ignore"):
        down = there[1:] < there[:-1]
    apart = _steps(there)
    return bool(up.any() and (up == apart).all() and not (down & apart).any())


def stands_for(a: IntArray, b: IntArray, *, ordered: bool) -> IntArray:
    """Return the first pair with the same rankings, or reversed if not ``ordered``; -1 if equal."""
    first: dict[tuple[int, int], int] = {}
    result = []
    for place, key in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        low, high = key
        if low > high and not ordered:
            low, high = high, low
        result.append(-1 if low == high else first.setdefault((low, high), place))
    return np.array(result, dtype=np.int64)


# ----------------------- The slots of two rankings, and the lists of swapped rankings for each draw
#
# Each rank has two slots, one for a and one for b. In each draw, every slot is assigned to the
# first or the second swapped ranking.

_CELLS = 250_000  # slots times draws that fit into the cache


class Slots(NamedTuple):
    """The slots in rank order, with one slot for a and one for b at each rank."""

    candidate: IntArray  #: (slot)
    from_a: BoolArray  #: (slot)
    a: IntArray  #: slot of each candidate's rank in a
    b: IntArray

    @classmethod
    def of(cls, rank_a: IntArray, rank_b: IntArray) -> Slots:
        """Return the slots of two rankings whose ranks run from 1 without gaps."""
        candidates = np.arange(rank_a.size)
        of_a, of_b = inverse(rank_a - 1), inverse(rank_b - 1)  # (rank): the candidate
        candidate = np.empty(2 * rank_a.size, dtype=np.int64)
        # at each rank, the candidate with the earlier key has the first slot
        candidate[0::2], candidate[1::2] = np.minimum(of_a, of_b), np.maximum(of_a, of_b)
        from_a = np.empty(candidate.size, dtype=bool)
        from_a[0::2], from_a[1::2] = of_a <= of_b, of_a > of_b
        a = 2 * (rank_a - 1) + (of_b[rank_a - 1] < candidates)
        b = 2 * (rank_b - 1) + (of_a[rank_b - 1] <= candidates)
        return cls(candidate, from_a, a, b)


class Walk(NamedTuple):
    """The slots up to the end of the largest list, for as many draws at once as fit into the cache.

    A few passes over two or four bytes per slot: a million candidates take less than a gigabyte.
    """

    most: int  #: size of the largest list
    half: int  #: number of ranks used after the largest list
    reach: int  #: slots
    place: IntArray  #: (n): place of the list among all lists in order of size
    row: IntArray  #: (rank from 0 and label): row of the first list that contains the rank
    keys: Keys  #: (slot)
    from_a: Bits  #: (slot, 1)
    later: IntArray  #: later slot of each candidate with both slots within reach
    earlier: IntArray  #: earlier slot of the same candidates
    later_true: BoolArray  #: (candidate, 1): whether the candidate is a true positive
    true: IntArray  #: slots of true positives

    @classmethod
    def of(cls, slots: Slots, gold: BoolArray, keys: Keys, n: IntArray, half: int) -> Walk:
        """Return the walk for lists of these sizes."""
        sizes, place = np.unique(n, return_inverse=True)
        reach = min(2 * (int(sizes[-1]) + half), slots.candidate.size)
        candidate = slots.candidate[:reach]
        here = np.arange(reach)
        mate = slots.a[candidate] + slots.b[candidate] - here
        later = np.flatnonzero(mate < here)
        return cls(
            int(sizes[-1]),
            half,
            reach,
            place,
            np.add.outer(2 * np.searchsorted(sizes, np.arange(reach + 1)), [0, 1]).ravel(),
            keys[candidate],
            slots.from_a[:reach, np.newaxis].view(np.uint8),
            later,
            mate[later],
            gold[candidate[later], np.newaxis],
            np.flatnonzero(gold[candidate]),
        )

    def counts(self, seed: int, start: int, stop: int) -> Any:
        """Count the overlap and its true positives, and those in each list: (4, draw, n).

        Return None if a list ends after these slots.
        """
        kind: Any = np.int32
        if 2 * (self.reach + 2) <= np.iinfo(np.int16).max:
            kind = np.int16
        result = np.empty((4, self.place.size, stop - start), dtype=kind)
        place = np.arange(1, self.reach + 1, dtype=kind)[:, np.newaxis]
        drawn = words(self.keys, seed, start, stop)  # (slot, word)
        before = start % WORD
        for part in slices(stop - start, self.reach, _CELLS):
            last = min(part.stop, stop - start)
            # the first ranking gets the a slots of unswapped and the b slots of swapped candidates
            first = bits_of(drawn, before + part.start, before + last) ^ self.from_a  # (slot, draw)
            up_to = running_sums(first.astype(kind))
            if min(up_to[-1].min(), self.reach - up_to[-1].max()) < self.most:
                return None
            rank = place - up_to + first * (2 * up_to - place)  # up_to or the rest; faster than if
            both = np.maximum(rank[self.later], rank[self.earlier])
            rest, tp_overlap = self._counted(both, self.later_true)
            tp_b, tp_a = self._counted(rank[self.true], first[self.true])
            result[:, :, part] = rest + tp_overlap, tp_overlap, tp_a, tp_b
        return np.moveaxis(result, -1, 1)

    def _counted(self, rank: IntArray, label: AnyArray) -> Any:
        """Count the slots in each list, by label: (label, n, draw)."""
        draws = rank.shape[-1]
        # one number encodes the first list, label and draw, so a single count suffices
        number = self.row.take(2 * rank + label) * draws
        number += np.arange(draws)
        counts = np.bincount(number.ravel(), minlength=draws * (int(self.row[-1]) + 1))
        counts = running_sums(counts.astype(rank.dtype).reshape(-1, 2 * draws))
        return np.moveaxis(counts.reshape(-1, 2, draws)[self.place], 1, 0)


# ------- A candidate's random numbers depend only on the seed, the resample and the candidate's key
#
# Draws from a part of the data that contains all requested lists are therefore equal to draws from
# the full data. The row order and the other candidates have no effect.

Keys = np.ndarray[Any, np.dtype[np.uint64]]
Bits = np.ndarray[Any, np.dtype[np.uint8]]
WORD = 64  #: number of resamples whose bits are in one hash
_CACHED = 20_000  # hashes, or pairs of normal numbers, that fit into the cache
# increment and mixing of SplitMix64 (Steele, Lea and Flood 2014)
_STEP = np.uint64(0x9E3779B97F4A7C15)


def mix(x: Keys) -> Keys:
    """Return splitmix64 of x, in which each input bit changes half of the output bits."""
    x = x + _STEP
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def words(keys: Keys, seed: int, start: int, stop: int) -> Keys:
    """Return words of 64 fair bits (key, word), the first resample of each in the lowest bit."""
    blocks = mix(np.arange(start // WORD, -(-stop // WORD), dtype=np.uint64))  # rounded up
    result = np.empty((keys.size, blocks.size), dtype=np.uint64)
    for part in slices(keys.size, blocks.size, _CACHED):
        result[part] = mix(_seeded(keys[part], seed, 0)[:, np.newaxis] + blocks)
    return result


def coins(keys: Keys, seed: int, start: int, stop: int) -> Bits:
    """Return one fair bit for each key and resample, from a hash for 64: (key, resample)."""
    before = start % WORD
    return bits_of(words(keys, seed, start, stop), before, before + stop - start)


def bits_of(drawn: Keys, first: int, last: int) -> Bits:
    """Return the bits of words in a range of places: (key, bit)."""
    # little-endian bytes, so the lowest bits come first on every machine
    octets = np.ascontiguousarray(drawn, dtype="<u8").view(np.uint8)
    start = first // 8
    octets = octets[:, start : -(-last // 8)]  # rounded up
    bits = np.unpackbits(octets, axis=-1, bitorder="little", count=last - 8 * start)
    return bits[:, first - 8 * start :]


def normals(keys: Keys, seed: int, start: int, stop: int) -> FloatArray:
    """Return one normal number per key and resample from an even ``start`` (Box and Muller)."""
    pairs = np.arange(start // 2, -(-stop // 2), dtype=np.uint64)
    values = np.empty((keys.size, 2 * pairs.size))
    for part in slices(keys.size, pairs.size, _CACHED):
        first, second = (
            mix(_seeded(keys[part], seed, stream)[:, np.newaxis] + mix(pairs)) >> np.uint64(11)
            for stream in (1, 2)
        )
        # 53 bits fill a float's mantissa; adding one avoids taking the logarithm of 0
        radius = np.sqrt(-2.0 * np.log((first + np.uint64(1)) * 2.0**-53))
        # with angles in single precision (2^24 of them), this takes a third of the time
        angle = (second * (2.0**-53 * 2.0 * np.pi)).astype(np.float32)
        values[part, 0::2], values[part, 1::2] = radius * np.cos(angle), radius * np.sin(angle)
    return values[:, : stop - start]


def _seeded(keys: Keys, seed: int, stream: int) -> Keys:
    return mix(keys ^ mix(hashed_seed(seed) + np.uint64(stream)))


def hashed_seed(seed: int) -> Keys:
    """Return the hash (1) of a seed."""
    return mix(np.array([seed % 2**64], dtype=np.uint64))


def other_order(keys: Keys, seed: int, number: int) -> Keys:
    """Return keys that order the candidates differently for each number >= 1."""
    return _seeded(keys, seed, 2 + number)


def by_position(size: int) -> Keys:
    """Return keys based on positions for candidates without keys."""
    place = np.arange(size)
    return mix(place.astype(np.uint64))


class Spread(NamedTuple):
    """The variance of the precision of n-best lists; the last axis is n."""

    precision: FloatArray  #: shrunk toward one half, never 0 or 1
    edge: FloatArray  #: proportion of true positives around the n-th candidate
    variance: FloatArray  #: n times the variance of the precision
    influence: FloatArray  #: sum of squared influences on n times the unshrunk precision

    def effective(self, n: IntArray) -> FloatArray:
        """Return the size, at most n, of a fixed region with the same variance of precision."""
        ratio = self.variance / (self.precision * (1.0 - self.precision))
        return np.asarray(n / np.maximum(ratio, 1.0), dtype=float)


NEARLY = 0.9  #: share of true positives in a list, or of N+, that counts as nearly all


def edge_precision(
    tp: AnyArray, n: IntArray, total: IntArray, positive: IntArray | None = None
) -> FloatArray:
    """Return the share of true positives within n^0.8 / 2 (at least 20) ranks of n.

    With ``positive``, N+, it is 0 for lists with nearly all true positives, as behind them.
    """
    half = np.maximum(20, (0.5 * n**0.8).astype(np.int64))
    low = np.maximum(n - half, 0)
    high = np.minimum(n + half, total)
    first = np.take_along_axis(tp, np.minimum(low, high), axis=-1)
    inside = np.take_along_axis(tp, high, axis=-1) - first
    share: FloatArray = (inside + 1.0) / (np.maximum(high - low, 0) + 2.0)
    if positive is not None:
        share = np.where(np.take_along_axis(tp, n, axis=-1) >= NEARLY * positive, 0.0, share)
    return share


def nbest_spread(tp: AnyArray, n: IntArray, total: IntArray) -> Spread:
    """Return the variance of the precision of n-best lists; ``tp`` is (..., rank from 0)."""
    total = total[..., np.newaxis]
    n = np.minimum(np.broadcast_to(n, (*tp.shape[:-1], n.size)), np.maximum(total, 1))
    n = np.minimum(n, tp.shape[-1] - 1)
    edge = edge_precision(tp, n, total)
    listed = np.take_along_axis(tp, n, axis=-1)
    precision = np.asarray((listed + 2.0) / (n + 4.0), dtype=float)
    beyond = 1.0 - n / np.maximum(total, 1)
    variance = precision * (1.0 - precision) + beyond * (precision - edge) ** 2
    squares = listed * (1.0 - edge) ** 2 + (n - listed) * edge**2
    influence = squares - n * (1.0 - beyond) * (listed / n - edge) ** 2
    return Spread(precision, edge, variance, influence)


class DifferenceSpread(NamedTuple):
    """The variance of the difference in precision between two n-best lists; the last axis is n."""

    edge_a: FloatArray  #: proportion of true positives around the n-th candidate in each ranking
    edge_b: FloatArray
    center: FloatArray  #: mean influence of a candidate on n times the difference
    variance: FloatArray  #: variance of n times the difference
    influence: FloatArray  #: sum of squared influences, without added candidates


def difference_spread(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    size: Size,
    n: IntArray,
    only: IntArray,
    tp_only: tuple[IntArray, IntArray],
) -> DifferenceSpread:
    """Return the variance of the difference in precision between two n-best lists.

    The influence of a candidate on n times the difference is y - edge_a if the first list contains
    it, minus y - edge_b if the second list does. ``only`` is the size of each difference region.
    One positive and one negative are added to each region (Agresti and Caffo).
    """
    total, positive = (x[..., np.newaxis] for x in size)
    listed = np.minimum(np.broadcast_to(n, only.shape), np.maximum(total, 1))
    tp_a = up_to_ranks(rank_a, gold)
    tp_b = up_to_ranks(rank_b, gold)
    edge_a, edge_b = (edge_precision(tp, listed, total, positive) for tp in (tp_a, tp_b))
    share_a = np.take_along_axis(tp_a, listed, axis=-1) / listed
    share_b = np.take_along_axis(tp_b, listed, axis=-1) / listed
    drift = (share_a - edge_a) - (share_b - edge_b)
    only_a, only_b = tp_only
    squares = (
        only_a * (1.0 - edge_a) ** 2
        + (only - only_a) * edge_a**2
        + only_b * (1.0 - edge_b) ** 2
        + (only - only_b) * edge_b**2
        + (listed - only) * (edge_a - edge_b) ** 2
    )
    added = (1.0 - edge_a) ** 2 + edge_a**2 + ((1.0 - edge_b) ** 2 + edge_b**2)
    reach = listed / np.maximum(total, 1)
    influence = squares - listed * reach * drift**2
    return DifferenceSpread(edge_a, edge_b, drift * reach, influence + added, influence)
