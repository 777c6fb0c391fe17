"""The rankings of many queries at once, as flat arrays, and where judged documents stand in them.

A collection is a row per query and document: the number of its query, its grade (NaN where nobody
judged it) and its score (NaN where a measure did not retrieve it). Nothing here loops over
queries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray

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
