"""Rankings, n-best lists and acceptance sets (Evert 2004, section 2).

Input candidates are sorted by the tie key. Larger scores rank first, and sorting is stable,
so equal scores stay in tie-key order. Candidates that are not ``present`` (excluded
candidates or padding) come last and are not in any list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray


def order(score: FloatArray, present: BoolArray) -> IntArray:
    """Return the positions of the candidates in order of rank; NaN ranks after all scores.

    The cost is a sort, O(N log N).
    """
    # stable: equal scores stay in tie-key order; NaN comes last, even after -inf
    positions = np.argsort(-score, axis=-1, kind="stable")
    if not present.all():
        # a second stable sort by one bit per candidate does not change the order of present
        # candidates
        absent = np.take_along_axis(np.broadcast_to(~present, score.shape), positions, axis=-1)
        last = np.argsort(absent, axis=-1, kind="stable")
        positions = np.take_along_axis(positions, last, axis=-1)
    return positions


def ranks(positions: IntArray) -> IntArray:
    """Return the rank of every candidate, counted from 1."""
    result = np.empty_like(positions)
    np.put_along_axis(result, positions, np.arange(1, positions.shape[-1] + 1), axis=-1)
    return result


def inverse(ranks: IntArray) -> IntArray:
    """Return the positions of the candidates in order of rank, from the ranks."""
    positions = np.empty_like(ranks)
    np.put_along_axis(positions, ranks - 1, np.arange(ranks.shape[-1]), axis=-1)
    return positions


def up_to_ranks(ranks: IntArray, gold: BoolArray) -> IntArray:
    """Return the number of true positives up to each rank, starting at rank 0."""
    tp = np.zeros((*ranks.shape[:-1], ranks.shape[-1] + 1), dtype=np.int64)
    np.put_along_axis(tp, ranks, gold, axis=-1)
    return np.cumsum(tp, axis=-1)


def restricted_ranks(positions: IntArray, present: BoolArray) -> IntArray:
    """Return ranks among present candidates, followed by the absent candidates.

    No sorting is needed, because removing candidates does not change the order of the rest. The
    cost is O(N).
    """
    here = np.take_along_axis(np.broadcast_to(present, positions.shape), positions, axis=-1)
    inside = np.cumsum(here, axis=-1)
    outside = inside[..., -1:] + np.cumsum(~here, axis=-1)
    result = np.empty_like(positions)
    np.put_along_axis(result, positions, np.where(here, inside, outside), axis=-1)
    return result


class NBest(NamedTuple):
    """The n-best lists of one ranking; the last axis is n."""

    tp: FloatArray | IntArray  #: true positives; the mean under ties="expected"
    threshold: FloatArray  #: score of the n-th candidate
    tied: IntArray  #: number of excluded candidates with a score equal to the threshold
    exists: BoolArray  #: whether there are n candidates and, with ties="blocks", a block ends at n
    block: TieBlock


class TieBlock(NamedTuple):
    """The block of candidates with the n-th score, and the candidates above the block."""

    above: IntArray  #: candidates above the block
    tp_above: IntArray  #: true positives above the block
    size: IntArray
    tp: IntArray  #: true positives in the block

    def tp_sd(self, n: IntArray) -> FloatArray:
        """Return the standard deviation of the true positives over random tie orders."""
        inside = n - self.above
        share = self.tp / np.maximum(self.size, 1)
        left = (self.size - inside) / np.maximum(self.size - 1, 1)
        sd: FloatArray = np.sqrt(np.maximum(inside * share * (1.0 - share) * left, 0.0))
        return sd


class Whole(NamedTuple):
    """Properties of full rankings when only the top ranks are in memory.

    The candidates in memory are the union of the top ranks of all measures. The order is complete
    up to rank ``reach``, and later candidates are not in any list.
    """

    total: int  #: N
    positive: int  #: N+
    reach: int
    asked: int  #: size of the longest list that can be requested
    end: IntArray  #: (measure) number of candidates with at least the score at rank ``reach``
    tp_end: IntArray  #: (measure) true positives among these candidates
    scored: IntArray  #: (measure) number of candidates with a score
    tp_scored: IntArray  #: (measure) true positives among these candidates
    clusters: int | None = None  #: clusters among all candidates
    positives_variance: float = 0.0  #: see ``cluster_totals``
    orders: int = 1  #: number of tie orders for which all top candidates are in memory
    accepted: IntArray | None = None  #: (2, measure, cut) sizes and true positives

    def of(self, measures: IntArray) -> Whole:
        """Return the properties of the given measures, which may be repeated."""
        sets = None if self.accepted is None else self.accepted[:, measures]
        return self._replace(
            end=self.end[measures],
            tp_end=self.tp_end[measures],
            scored=self.scored[measures],
            tp_scored=self.tp_scored[measures],
            accepted=sets,
        )


def every(candidates: int, whole: Whole | None = None) -> IntArray:
    """Return all list sizes up to the number of candidates or the last complete rank."""
    return np.arange(1, 1 + (candidates if whole is None else whole.asked))


class Size(NamedTuple):
    """The numbers of candidates and true positives in a ranking."""

    total: IntArray
    positive: IntArray


def size(gold: BoolArray, present: BoolArray, whole: Whole | None = None) -> Size:
    """Count candidates and true positives on the last axis, or return ``whole``'s counts."""
    if whole is None:
        return Size(present.sum(axis=-1), (gold & present).sum(axis=-1))
    shape = np.broadcast_shapes(gold.shape, present.shape)[:-1]
    return Size(np.full(shape, whole.total), np.full(shape, whole.positive))


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidates ranked by a score, sorted once, with lazily computed fields.

    The last axis of an array is either the candidates, in the order of the tie key, or the ranks.
    All other axes are batch axes, and the last batch axis is the measure.
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
        score, gold, present = self.score[row], self.gold[row], self.present[row]
        return replace(self, score=score, gold=gold, present=present, positions=self.order[row])

    def among(self, present: BoolArray) -> Ranking:
        """Return the rankings restricted to fewer candidates, without sorting."""
        if (present == self.present).all():
            return self
        present = np.broadcast_to(present, self.score.shape)
        positions = inverse(restricted_ranks(self.order, present))
        return replace(self, gold=self.gold & present, present=present, positions=positions)

    @cached_property
    def order(self) -> IntArray:
        """(..., rank): the positions of the candidates, with absent candidates last."""
        return order(self.score, self.present) if self.positions is None else self.positions

    @cached_property
    def ranks(self) -> IntArray:
        """(..., candidate): the rank of every candidate, from 1."""
        return ranks(self.order)

    @cached_property
    def scores_by_rank(self) -> FloatArray:
        """(..., rank): the scores in order of rank."""
        return np.take_along_axis(self.score, self.order, axis=-1)

    @cached_property
    def eligible(self) -> BoolArray:
        """(..., candidate): whether the candidate can be in a list."""
        return self.present & ~np.isnan(self.score) if self.ends else self.present

    @cached_property
    def true(self) -> BoolArray:
        """(..., rank): whether the candidate is a true positive that can be in a list."""
        return np.take_along_axis(self.gold & self.eligible, self.order, axis=-1)

    @cached_property
    def tp(self) -> IntArray:
        """(..., rank from 0): the number of true positives up to each rank."""
        return _sums_from_0(self.true)

    @cached_property
    def here(self) -> IntArray:
        """(...): the number of candidates present in memory."""
        return np.asarray(self.present.sum(axis=-1))

    @cached_property
    def size(self) -> Size:
        """(...): N and N+, always for the full ranking."""
        return size(self.gold, self.present, self.whole)

    @cached_property
    def retrieved(self) -> Size:
        """(...): N and N+ among candidates that can be in a list."""
        if self.ends and (known := self.whole) is not None:
            shape, of = self.here.shape, (known.scored, known.tp_scored)
            return Size(*(np.broadcast_to(x, shape) for x in of))
        return size(self.gold, self.eligible) if self.ends else self.size

    @cached_property
    def blocks(self) -> tuple[IntArray, IntArray]:
        """(..., rank): numbers of candidates with a higher score, and with this score or higher."""
        return blocks(self.scores_by_rank, np.array(self.score.shape[-1]))

    @property
    def every(self) -> IntArray:
        """(n): all list sizes."""
        return every(self.score.shape[-1], self.whole)

    def nbest(self, n: IntArray | None, ties: str = "shared") -> NBest:
        """Count the true positives in n-best lists of many sizes; None means every n.

        ``ties`` determines how candidates with the n-th score are counted. "shared" uses the stored
        order, "best" and "worst" rank true positives first or last, and "expected" averages over
        all orderings. "error" raises an error for ties. "blocks" includes all tied candidates. With
        "blocks", a list that splits a block raises an error, or is omitted if every n was
        requested.
        """
        asked, width = self.every if n is None else n, self.score.shape[-1]
        index = np.minimum(asked, width)
        if not index.size or not width:
            none = np.zeros((*self.score.shape[:-1], asked.size), dtype=int)
            return NBest(none, none * np.nan, none, none > 0, TieBlock(none, none, none, none))
        total = self.size.total[..., np.newaxis]
        here = self.eligible.sum(axis=-1)[..., np.newaxis]
        if (whole := self.whole) is not None:
            known = np.asarray(whole.scored if self.ends else whole.total)[..., np.newaxis]
            here = np.broadcast_to(known, here.shape)
        # (..., rank) -> (..., n): the n-th candidate's block, and the true positives around it
        all_n = n is None and asked.size <= width  # no copy in this case
        at, up_to = (slice(k, asked.size + k) if all_n else index - 1 + k for k in (0, 1))
        start, end = (x[..., at] for x in self.blocks)
        end = np.minimum(end, here)
        tp_start, tp_end = self.tp[..., at], self.tp[..., up_to]
        if not ((end - start == 1) | (index > here)).all():  # ties
            edges = (np.minimum(edge, width) for edge in (start, end))
            tp_start, tp_end = (np.take_along_axis(self.tp, edge, axis=-1) for edge in edges)
        if whole is not None:
            end, tp_end = _beyond(self.scores_by_rank, index, (end, tp_end), whole, here[..., 0])
        block = TieBlock(start, tp_start, np.maximum(end - start, 1), tp_end - tp_start)
        counted: FloatArray | IntArray = self.tp[..., up_to]
        inside = index - start
        if ties == "expected":
            counted = tp_start + inside * block.tp / block.size
        elif ties == "best":
            counted = tp_start + np.minimum(inside, block.tp)
        elif ties == "worst":
            counted = tp_start + np.clip(inside - (block.size - block.tp), 0, block.tp)
        tied, exists = np.maximum(end - asked, 0), asked <= total
        result = NBest(counted, self.scores_by_rank[..., at], tied, exists, block)
        return _without_cuts(result, asked, ties, every=n is None)

    def cumulated(self, ties: str = "shared") -> FloatArray | IntArray:
        """Return the number of true positives up to each rank: (..., rank from 0)."""
        if ties in ("shared", "error", "blocks"):
            return self.tp
        tp = self.nbest(np.arange(1, self.score.shape[-1] + 1), ties).tp
        counts: AnyArray = np.concatenate([np.zeros_like(tp[..., :1]), tp], axis=-1)
        return counts

    def cuts_tie(self, n: IntArray) -> BoolArray:
        """Return whether lists of size n exclude candidates tied with the last one.

        The result is (..., n). NaN values count as equal. Only the ranks n and n + 1 are read.
        """
        width = self.score.shape[-1]
        if not width:
            return np.zeros((*self.score.shape[:-1], n.size), dtype=bool)
        last, after = (
            np.take_along_axis(self.score, self.order[..., np.minimum(rank, width) - 1], axis=-1)
            for rank in (n, n + 1)
        )
        same = (last == after) | (np.isnan(last) & np.isnan(after))
        cut: BoolArray = same & (n < self.here[..., np.newaxis])
        return cut

    def accepted(self, threshold: FloatArray) -> Accepted:
        """Count candidates and true positives with scores at or above the threshold.

        ``threshold`` has the same axes as ``score``, with thresholds instead of candidates on the
        last axis. NaN scores are never accepted, and a NaN threshold accepts no candidates. The
        candidates are not sorted; each one is located among the few thresholds.
        """
        usable = self.present & ~np.isnan(self.score)
        cuts = np.broadcast_to(threshold, (*self.score.shape[:-1], threshold.shape[-1]))
        counts = np.zeros((2, *cuts.shape), dtype=np.int64)
        for row in np.ndindex(self.score.shape[:-1]):
            rising, back = np.unique(cuts[row], return_inverse=True)  # NaN is last, never reached
            reached = np.searchsorted(rising, self.score[row][usable[row]], side="right")
            for column, kind in enumerate((reached, reached[self.gold[row][usable[row]]])):
                exactly = np.bincount(kind, minlength=rising.size + 1)  # by thresholds reached
                counts[(column, *row)] = np.cumsum(exactly[::-1])[::-1][1:][back]
        return Accepted(counts[0], counts[1])


def _sums_from_0(true: BoolArray) -> IntArray:
    """Return cumulative true positives: (..., rank) -> (..., rank from 0)."""
    tp = np.zeros((*true.shape[:-1], true.shape[-1] + 1), dtype=np.int64)
    np.cumsum(true, axis=-1, out=tp[..., 1:])
    return tp


def _beyond(
    ranked: FloatArray,
    index: IntArray,
    found: tuple[IntArray, IntArray],
    whole: Whole,
    listed: IntArray,
) -> tuple[IntArray, IntArray]:
    """Return the end of each rank's block, and the number of true positives up to the end.

    A block that extends beyond these candidates ends where the block at rank ``reach`` ends.
    """
    last = ranked[..., whole.reach - 1 : whole.reach]
    chosen = ranked[..., index - 1]
    on = (chosen == last) | (np.isnan(chosen) & np.isnan(last))
    on &= (whole.end <= listed)[..., np.newaxis]  # otherwise no list contains missing scores
    return (
        np.where(on, whole.end[..., np.newaxis], found[0]),
        np.where(on, whole.tp_end[..., np.newaxis], found[1]),
    )


def blocks(ranked: FloatArray, total: IntArray) -> tuple[IntArray, IntArray]:
    """Count the candidates above each rank's score, and those at or above it.

    NaN values count as equal. There are no candidates at ranks above ``total``.
    """
    width = ranked.shape[-1]
    rank = np.broadcast_to(np.arange(1, width + 1), ranked.shape)
    same = ranked[..., 1:] == ranked[..., :-1]
    same |= np.isnan(ranked[..., 1:]) & np.isnan(ranked[..., :-1])
    fresh = np.ones(ranked.shape, dtype=bool)
    fresh[..., 1:] = ~same
    start = np.maximum.accumulate(np.where(fresh, rank - 1, 0), axis=-1)
    last = np.ones(ranked.shape, dtype=bool)
    last[..., :-1] = ~same
    end = np.minimum.accumulate(np.where(last, rank, width)[..., ::-1], axis=-1)[..., ::-1]
    return start, np.minimum(end, total[..., np.newaxis])


def _without_cuts(found: NBest, n: IntArray, ties: str, *, every: bool) -> NBest:
    """Return the lists that do not split forbidden ties, or raise an error."""
    cut = (found.tied > 0) & found.exists
    if ties == "blocks" and every:
        return found._replace(exists=found.exists & ~cut)
    if ties in ("error", "blocks") and cut.any():
        where = np.flatnonzero(cut.any(axis=tuple(range(cut.ndim - 1))))
        first = int(n[where[0]])
        if ties == "error":
            raise ValueError(
                f"ties='error': {where.size} of {n.size} requested lists end inside a tie, first at"
                f" n={first}. Pass other values of n, break the ties by a column, key=..., or break"
                " them by a hash of the labels: ties='shared'."
            )
        row = tuple(np.argwhere(cut[..., where[0]])[0])
        above = int(found.block.above[(*row, where[0])])
        below = above + int(found.block.size[(*row, where[0])])
        ends = f"{above} and {below}" if above else f"nothing and {below}"
        raise ValueError(
            f"ties='blocks': n={first} is inside a block of candidates with equal scores, between"
            f" {ends} ({where.size} of the requested lists split one). Pass the end of a block, or"
            " omit n to use every list that ends with a block."
        )
    return found


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

    @classmethod
    def of(cls, ranking: Ranking) -> Blocks:
        """Return the blocks for rankings that include all candidates."""
        total = ranking.here[..., np.newaxis]
        start, end = (np.minimum(edge, total) for edge in ranking.blocks)
        true = np.take_along_axis(ranking.gold, ranking.order, axis=-1)
        tp = _sums_from_0(true)
        here = np.arange(1, true.shape[-1] + 1) <= total
        return cls(ranking.order, true, here, start, end, tp, tp[..., -1:], total)

    def around(self, counts: AnyArray) -> AnyArray:
        """Return twice the number above the middle of each rank's block: (..., rank)."""
        return np.asarray(sum(np.take_along_axis(counts, x, -1) for x in (self.start, self.end)))


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


def nbest_regions(rank_a: IntArray, rank_b: IntArray, gold: BoolArray, n: IntArray) -> Regions:
    """Count the overlap of two n-best lists for all n in O(N).

    A candidate is in both n-best lists if n is at least as large as both ranks.
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
    columns: list[list[IntArray]] = []
    scores = (score_a, threshold_a), (score_b, threshold_b)
    for cut in range(threshold_a.shape[-1]):
        a, b = ((score >= least[..., cut, np.newaxis]) & present for score, least in scores)
        sets = (a, b, a & b)
        columns.append([x.sum(axis=-1) for x in (*sets, *(x & gold for x in sets))])
    counts = np.array(columns, dtype=np.int64).reshape(-1, 6, *score_a.shape[:-1])
    return AcceptedRegions(*np.moveaxis(counts, 0, -1))
