"""The rankings of many queries at once, and their metrics as trec_eval computes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray

# -------------------------------------------------------------------------------------------------
# The rankings of many queries at once, as flat arrays, and where judged documents stand in them.
#
# A collection is a row per query and document: the number of its query, its grade (NaN where nobody
# judged it) and its score (NaN where a measure did not retrieve it). Nothing here loops over
# queries.

TieRanks = Callable[[IntArray], IntArray]
"""From rows to numbers: of equal scores of one query, the smaller number comes first."""


def summed(query: IntArray, weights: FloatArray, n_queries: int) -> FloatArray:
    """Return the sums of weights of each query, added in the order in which they stand."""
    return np.bincount(query, weights, minlength=n_queries).astype(float, copy=False)


class Judgements(NamedTuple):
    """The judged documents of all queries, query by query in ascending order."""

    n_queries: int
    query: IntArray
    grade: FloatArray

    def tally(self, where: BoolArray) -> IntArray:
        """Return how many of the documents hold something, of each query."""
        return np.bincount(self.query[where], minlength=self.n_queries)


class Retrieved(NamedTuple):
    """The judged documents that a measure retrieved: query by query, the best first.

    ``start`` and ``size`` are those of the block of equal scores that a document is in.
    """

    n_queries: int
    size: IntArray  #: (query) documents retrieved, judged or not
    query: IntArray
    rank: IntArray  #: from 0
    grade: FloatArray
    block_start: IntArray  #: documents of the query with a higher score
    block_size: IntArray

    def add(self, weights: FloatArray, where: BoolArray) -> FloatArray:
        """Return the sums of weights of each query, added in the order of the ranks."""
        return summed(self.query[where], weights[where], self.n_queries)

    def tally(self, where: BoolArray) -> IntArray:
        """Return how many of the documents hold something, of each query."""
        return np.bincount(self.query[where], minlength=self.n_queries)

    def running(self, where: BoolArray) -> IntArray:
        """Return how many documents of the query up to each one hold something, itself too."""
        total = np.cumsum(where)
        counts = np.bincount(self.query, minlength=self.n_queries)
        before = np.concatenate([[0], total])[np.cumsum(counts) - counts]
        return np.asarray(total - before[self.query])


class Blocks(NamedTuple):
    """The blocks of equal scores that hold something of interest, in the order of the ranks."""

    query: IntArray
    start: IntArray  #: documents of the query before the block
    size: IntArray
    hits: IntArray  #: documents of interest in the block
    before: IntArray  #: those in the blocks before


def blocks(retrieved: Retrieved, hit: BoolArray) -> Blocks:
    """Return the blocks of equal scores that hold documents of interest."""
    rows = np.flatnonzero(hit)
    query, start = retrieved.query[rows], retrieved.block_start[rows]
    opens = np.ones(rows.size, dtype=bool)
    opens[1:] = (query[1:] != query[:-1]) | (start[1:] != start[:-1])
    heads = np.flatnonzero(opens)
    before = retrieved.running(hit)[rows[heads]] - 1
    hits = np.diff(heads, append=rows.size)
    return Blocks(query[heads], start[heads], retrieved.block_size[rows[heads]], hits, before)


def judgements(query: IntArray, grade: FloatArray, n_queries: int) -> Judgements:
    """Return the judged documents of a collection."""
    judged = np.flatnonzero(~np.isnan(grade))
    order = judged[np.argsort(query[judged], kind="stable")]
    return Judgements(n_queries, query[order], grade[order])


def retrieve(
    query: IntArray,
    grade: FloatArray,
    score: FloatArray,
    n_queries: int,
    tie_ranks: TieRanks,
    *,
    single: bool,
    blocks: bool,
) -> Retrieved:
    """Rank the retrieved documents of every query, and return where the judged ones stand.

    Parameters
    ----------
    query, grade, score : array
        Of each row of the collection.
    n_queries : int
    tie_ranks : callable
        The order of equal scores; asked of the rows that are tied only.
    single : bool
        Whether scores are compared as float32.
    blocks : bool
        Whether the blocks of equal scores are needed; else they are ranks of one document.

    Notes
    -----
    The cost is that of sorting, O(rows log rows).
    """
    rows = np.flatnonzero(~np.isnan(score))
    asked = query[rows]
    if single:
        key = (asked.astype(np.uint64) << np.uint64(32)) | _descending32(score[rows])
        order = np.argsort(key)
        key = key[order]
        same = key[1:] == key[:-1]
    else:
        order = np.lexsort((-score[rows], asked))
        value, of = score[rows][order], asked[order]
        same = (value[1:] == value[:-1]) & (of[1:] == of[:-1])
    rows = rows[order]
    opens = np.concatenate([[True], ~same])[: rows.size]  # whether a block of equal scores opens
    if same.any():
        block = np.cumsum(opens)
        tied = ~opens | np.concatenate([same, [False]])
        inner = np.lexsort((tie_ranks(rows[tied]), block[tied]))
        rows[tied] = rows[tied][inner]
    size = np.bincount(asked, minlength=n_queries)
    first = np.cumsum(size) - size
    places = np.flatnonzero(~np.isnan(grade[rows]))
    judged = rows[places]
    of = query[judged]
    rank = places - first[of]
    start, length = rank, np.ones_like(rank)
    if blocks:
        heads = np.flatnonzero(opens)
        number = np.searchsorted(heads, places, side="right") - 1
        start = heads[number] - first[of]
        length = np.diff(heads, append=rows.size)[number]
    return Retrieved(n_queries, size, of, rank, grade[judged], start, length)


def _descending32(score: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Return numbers that are smaller for larger scores, equal where scores are as float32."""
    with np.errstate(over="ignore", under="ignore"):
        bits = (score.astype(np.float32) + np.float32(0.0)).view(np.uint32)  # -0 is 0
    negative = bits >> np.uint32(31) == 1
    return np.where(negative, bits, ~(bits | np.uint32(1 << 31))).astype(np.uint64)


# -------------------------------------------------------------------------------------------------
# Metrics of each query: of all queries at once, to the last bit as trec_eval computes them.
#
# Where a sum runs over ranks, its terms are added in the order of the ranks, and logarithms come
# from the C library: sums in another order would differ in the last bit. A metric that is undefined
# for a query, as recall is without positives, is NaN.

_INFAP_EPSILON = 0.00001  # trec_eval's


class Request(NamedTuple):
    """What is asked: a metric with its parameters."""

    metric: str
    cutoff: int | None = None
    least: float = 1.0  #: the least grade of a positive
    exponential: bool = False  #: of nDCG: gains 2^grade - 1
    persistence: float = 0.8  #: of RBP
    top: int = 4  #: of ERR: the highest grade

    def within(self, retrieved: Retrieved) -> BoolArray:
        """Return whether the documents stand above the cutoff."""
        if self.cutoff is None:
            return np.ones(retrieved.rank.shape, dtype=bool)
        return retrieved.rank < self.cutoff


Kernel = Callable[[Request, Judgements, Retrieved], FloatArray]


def over(above: FloatArray | IntArray, below: FloatArray | IntArray) -> FloatArray:
    """Return quotients, NaN where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below == 0, np.nan, above / np.asarray(below, dtype=float))


def _hits(asked: Request, retrieved: Retrieved) -> BoolArray:
    return (retrieved.grade >= asked.least) & asked.within(retrieved)


def positives(asked: Request, judged: Judgements) -> IntArray:
    """Return the number of positives of each query."""
    return judged.tally(judged.grade >= asked.least)


def precision(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the share of positives among the first k, absent documents counting as negatives."""
    return np.asarray(retrieved.tally(_hits(asked, retrieved)) / float(asked.cutoff or 1))


def recall(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the share of the positives that are among the first k."""
    return over(retrieved.tally(_hits(asked, retrieved)), positives(asked, judged))


def success(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return 1 where a positive is among the first k."""
    return (retrieved.tally(_hits(asked, retrieved)) > 0).astype(float)


def f1(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the harmonic mean of precision and recall at k: 2 tp / (k + positives)."""
    tp = retrieved.tally(_hits(asked, retrieved))
    return np.asarray(2.0 * tp / ((asked.cutoff or 0) + positives(asked, judged)))


def average_precision(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the mean over the positives of the precision where each stands, else 0."""
    hit = _hits(asked, retrieved)
    result = retrieved.running(retrieved.grade >= asked.least)
    at = np.asarray(result / (retrieved.rank + 1.0), dtype=np.float64)
    return over(retrieved.add(at, hit), positives(asked, judged))


def reciprocal_rank(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return 1 over the rank of the first positive, 0 without one."""
    hit = _hits(asked, retrieved)
    first = hit & (retrieved.running(retrieved.grade >= asked.least) == 1)
    return retrieved.add(1.0 / (retrieved.rank.astype(float) + 1.0), first)


def r_precision(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the precision of as many documents as there are positives."""
    total = positives(asked, judged)
    hit = (retrieved.grade >= asked.least) & (retrieved.rank < total[retrieved.query])
    return over(retrieved.tally(hit), total)


@lru_cache(maxsize=4)
def _logarithms(size: int) -> FloatArray:
    """Return log2(2), log2(3), ... of the C library, which NumPy's need not equal in each bit."""
    return np.array([math.log2(i) for i in range(2, size + 2)])


def logarithms(last: int) -> FloatArray:
    """Return the discounts of the ranks 0 to ``last`` at least."""
    return _logarithms(1 << max(10, int(last + 1).bit_length()))


def gains(asked: Request, grade: FloatArray) -> FloatArray:
    """Return what a document of each grade is worth, nothing below 0."""
    above = np.maximum(grade, 0.0)
    return np.exp2(above) - 1.0 if asked.exponential else above


def ideal_gain(asked: Request, judged: Judgements) -> FloatArray:
    """Return the discounted gain of the best ranking of all judged documents."""
    gain = gains(asked, judged.grade)
    order = np.lexsort((-gain, judged.query))
    query, gain = judged.query[order], gain[order]
    rank = np.arange(query.size) - np.searchsorted(query, query)
    keep = gain > 0.0
    if asked.cutoff is not None:
        keep &= rank < asked.cutoff
    discount = logarithms(int(rank.max(initial=0)))
    return summed(query[keep], gain[keep] / discount[rank[keep]], judged.n_queries)


def ndcg(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the discounted gain over that of the best ranking."""
    gain = gains(asked, retrieved.grade)
    keep = (gain > 0.0) & asked.within(retrieved)
    discount = logarithms(int(retrieved.rank.max(initial=0)))
    return over(retrieved.add(gain / discount[retrieved.rank], keep), ideal_gain(asked, judged))


def bpref(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the share of judged negatives that stand below the positives (Buckley, Voorhees)."""
    hit = retrieved.grade >= asked.least
    negative = (retrieved.grade >= 0.0) & ~hit
    total = positives(asked, judged)
    most = np.minimum(judged.tally((judged.grade >= 0.0) & (judged.grade < asked.least)), total)
    above = np.minimum(retrieved.running(negative), total[retrieved.query])
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(above > 0, 1.0 - above / most[retrieved.query].astype(float), 1.0)
    return over(retrieved.add(share, hit), total)


def inferred_ap(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return inferred average precision, grades below 0 being the pool's unjudged documents."""
    hit = retrieved.grade >= asked.least
    negative = (retrieved.grade >= 0.0) & ~hit
    before = (retrieved.running(hit) - 1).astype(float)
    wrong, unknown = retrieved.running(negative), retrieved.running(retrieved.grade < 0.0)
    j = retrieved.rank.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (before + wrong + unknown) / j
        relevant = (before + _INFAP_EPSILON) / (before + wrong + 2 * _INFAP_EPSILON)
        term = 1.0 / (j + 1.0) + j / (j + 1.0) * pooled * relevant
    return over(retrieved.add(np.where(j == 0.0, 1.0, term), hit), positives(asked, judged))


def rank_biased_precision(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the gain of a reader who goes on from each document with one probability."""
    p = asked.persistence
    return retrieved.add((1.0 - p) * p ** retrieved.rank.astype(float), _hits(asked, retrieved))


def expected_reciprocal_rank(
    asked: Request, judged: Judgements, retrieved: Retrieved
) -> FloatArray:
    """Return the mean reciprocal of the rank that satisfies a reader (Chapelle et al. 2009)."""
    stop = (np.exp2(np.maximum(retrieved.grade, 0.0)) - 1.0) / 2.0**asked.top
    keep = (stop > 0.0) & asked.within(retrieved)
    place = (retrieved.running(keep) - 1)[keep]
    query, rank, stop = retrieved.query[keep], retrieved.rank[keep], stop[keep]
    # a row per query that has something: the chance to go on is a product along it
    rows, row = np.unique(query, return_inverse=True)
    going = np.ones((rows.size, int(place.max(initial=0)) + 2))
    going[row, place + 1] = 1.0 - stop
    reaching = np.cumprod(going, axis=1)[row, place]
    return summed(query, stop * reaching / (rank + 1.0), judged.n_queries)


def judged_share(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the share of judged ones among the first k documents that there are."""
    size = retrieved.size
    if asked.cutoff is not None:
        size = np.minimum(size, asked.cutoff)
    return over(retrieved.tally(asked.within(retrieved)), size)


def auc(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return how often a retrieved positive scores above a retrieved other one, ties a half."""
    hit = retrieved.grade >= asked.least
    result = retrieved.tally(hit)
    others = retrieved.size - result
    block = blocks(retrieved, hit)
    of = block.query
    below = retrieved.size[of] - block.start - block.size - (result[of] - block.before - block.hits)
    wins = block.hits * (below + 0.5 * (block.size - block.hits))
    return over(summed(of, wins, judged.n_queries), result * others)


METRICS: dict[str, Kernel] = {
    "P": precision,
    "R": recall,
    "Success": success,
    "F1": f1,
    "AP": average_precision,
    "RR": reciprocal_rank,
    "nDCG": ndcg,
    "Rprec": r_precision,
    "Bpref": bpref,
    "infAP": inferred_ap,
    "RBP": rank_biased_precision,
    "ERR": expected_reciprocal_rank,
    "Judged": judged_share,
    "AUC": auc,
}
"""The metrics by the names that ir_measures gives them."""
