"""Rankings for many queries at once, and metrics as computed by trec_eval."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray, silent_division, slices
from rankeval_pd.stats.ranking import Keys

# ---------------------------------------------------------------- Judged documents in the rankings
#
# A collection has one row per query and document: the query's number, a grade (NaN if unjudged) and
# a score (NaN if not retrieved), in flat arrays without a loop over queries.

TieRanks = Callable[[IntArray], IntArray]
"""A function that numbers rows; among equal scores in a query, the smallest number comes first."""


def sums_by_query(query: IntArray, weights: FloatArray, n_queries: int) -> FloatArray:
    """Return the sum of the weights in each query, added in the given order: (query)."""
    return np.bincount(query, weights, minlength=n_queries).astype(float, copy=False)


@dataclass(frozen=True, eq=False)
class Judgments:
    """The judged documents for all queries, in ascending query order."""

    n_queries: int
    query: IntArray
    grade: FloatArray

    def tally(self, where: BoolArray) -> IntArray:
        """Return the number of selected documents in each query: (query)."""
        return np.bincount(self.query[where], minlength=self.n_queries)

    def positives(self, least: float) -> IntArray:
        """Return the number of documents with at least this grade in each query: (query)."""
        return self.tally(self.grade >= least)


@dataclass(frozen=True, eq=False)
class Retrieved(Judgments):
    """The judged documents that a measure retrieved, by query and rank.

    The fields have one element per judged document, except the sizes and heads.
    """

    size: IntArray  #: (query) number of retrieved documents, judged or unjudged
    rank: IntArray  #: rank from 0
    block_start: IntArray  #: number of documents in the query with a higher score
    block_size: IntArray  #: number of documents in the query with this score
    heads: IntArray  #: starts of the blocks of equal scores among all documents, by query

    def in_order(self) -> Retrieved:
        """Return the documents in the order in which ties were broken, without blocks."""
        return replace(self, block_start=self.rank, block_size=np.ones_like(self.rank))

    def beyond(self, cutoff: int | None) -> IntArray:
        """Return the number of documents beyond the cutoff that tie with the last one: (query)."""
        result = np.zeros(self.n_queries, dtype=np.int64)
        if cutoff is None or not self.heads.size:
            return result
        longer = np.flatnonzero(self.size > cutoff)
        last = (np.cumsum(self.size) - self.size)[longer] + cutoff - 1
        end = np.append(self.heads, self.size.sum())
        result[longer] = end[np.searchsorted(self.heads, last, side="right")] - last - 1
        return result

    def reversed_queries(self, least: float) -> tuple[int, int]:
        """Return the numbers of queries with an area below one half, and of all queries."""
        hit = self.grade >= least
        found = self.tally(hit)
        others = self.size - found
        # area under the ROC curve, from the sum of the positives' ranks, with mean ranks for ties
        rank = self.block_start + (self.block_size - 1) / 2.0
        behind = self.add(rank, hit) - found * (found - 1) / 2.0
        defined = (found > 0) & (others > 0)
        return int((behind > found * others / 2.0)[defined].sum()), int(defined.sum())

    def add(self, weights: FloatArray, where: BoolArray) -> FloatArray:
        """Return the sum of selected weights in each query, in rank order: (query)."""
        return sums_by_query(self.query[where], weights[where], self.n_queries)

    def running(self, where: BoolArray) -> IntArray:
        """Return a running count of the selected documents in each query: (document)."""
        # a cumulative sum over all queries, minus its value before the query
        total = np.cumsum(where)
        counts = np.bincount(self.query, minlength=self.n_queries)
        before = np.concatenate([[0], total])[np.cumsum(counts) - counts]
        return np.asarray(total - before[self.query])


class TieBlocks(NamedTuple):
    """The blocks of equal scores that contain at least one hit, in rank order."""

    query: IntArray
    start: IntArray  #: number of documents in the query above the block
    size: IntArray
    hits: IntArray  #: number of hits in the block
    before: IntArray  #: number of hits in the query above the block


def judgments(query: IntArray, grade: FloatArray, n_queries: int) -> Judgments:
    """Return the judged documents in a collection."""
    judged = np.flatnonzero(~np.isnan(grade))
    order = judged[np.argsort(query[judged], kind="stable")]
    return Judgments(n_queries, query[order], grade[order])


def retrieve(
    query: IntArray,
    grade: FloatArray,
    score: FloatArray,
    n_queries: int,
    tie_ranks: TieRanks,
    *,
    single: bool,
) -> Retrieved:
    """Rank the retrieved documents in every query in O(rows log rows), and return the judged ones.

    ``tie_ranks`` orders equal scores, from the tied rows only. ``single`` compares float32 scores.
    """
    rows = np.flatnonzero(~np.isnan(score))
    queries = query[rows]
    # sort by query and score, with float32 by 64-bit keys; ``same`` marks equal neighbors
    if single:
        key = (queries.astype(np.uint64) << np.uint64(32)) | _descending32(score[rows])
        order = np.argsort(key)
        key = key[order]
        same = key[1:] == key[:-1]
    else:
        order = np.lexsort((-score[rows], queries))
        value, of = score[rows][order], queries[order]
        same = (value[1:] == value[:-1]) & (of[1:] == of[:-1])
    rows = rows[order]
    opens = np.concatenate([[True], ~same])[: rows.size]  # whether a block of equal scores starts
    # sort only the tied rows by tie key, inside the blocks
    if same.any():
        block = np.cumsum(opens)
        tied = ~opens | np.concatenate([same, [False]])
        inner = np.lexsort((tie_ranks(rows[tied]), block[tied]))
        rows[tied] = rows[tied][inner]
    # ranks among the judged documents only, from 0 in each query
    size = np.bincount(queries, minlength=n_queries)
    first = np.cumsum(size) - size
    places = np.flatnonzero(~np.isnan(grade[rows]))
    judged = rows[places]
    of = query[judged]
    rank = places - first[of]
    heads = np.flatnonzero(opens)
    number = np.searchsorted(heads, places, side="right") - 1
    start = heads[number] - first[of]
    length = np.diff(heads, append=rows.size)[number]
    return Retrieved(n_queries, of, grade[judged], size, rank, start, length, heads)


def _descending32(score: FloatArray) -> Keys:
    """Return integers that decrease as the scores, converted to float32, increase.

    The bits of positive floats increase with the value, and the bits of negative floats decrease.
    """
    with np.errstate(over="ignore", under="ignore"):
        bits = (score.astype(np.float32) + np.float32(0.0)).view(np.uint32)  # -0 + 0 is 0
    negative = bits >> np.uint32(31) == 1
    return np.where(negative, bits, ~(bits | np.uint32(1 << 31))).astype(np.uint64)


# ---------------------------------------------------------------- Metrics, for all queries at once
#
# The values match those of trec_eval to the last bit: sums are added in rank order, and logarithms
# come from the C library. An undefined metric, such as recall without positives, is NaN.


class MetricRequest(NamedTuple):
    """A metric with its parameters."""

    metric: str
    cutoff: int | None = None
    least: float = 1.0  #: the lowest grade of a positive
    exponential: bool = False  #: for nDCG: whether gains are 2^grade - 1
    gains: tuple[tuple[float, float], ...] = ()  #: for (n)DCG: gain per grade
    norm: str = ""  #: for AP: "min" divides by min(k, positives)
    level: float = 0.0  #: for IPrec: the lowest recall
    persistence: float = 0.8  #: for RBP
    top: int = 4  #: for ERR: the highest grade
    label: str = ""  #: the name that the user passed


class MetricRun(NamedTuple):
    """A metric and the rankings of all queries by one measure."""

    request: MetricRequest
    judged: Judgments
    retrieved: Retrieved

    @property
    def hit(self) -> BoolArray:
        """Whether each retrieved document is a positive."""
        return self.retrieved.grade >= self.request.least

    @property
    def within(self) -> BoolArray:
        """Whether each retrieved document is above the cutoff."""
        if self.request.cutoff is None:
            return np.ones(self.retrieved.rank.shape, dtype=bool)
        return self.retrieved.rank < self.request.cutoff

    @property
    def positives(self) -> IntArray:
        """The number of positives in each query, retrieved or not."""
        return self.judged.positives(self.request.least)


Kernel = Callable[[MetricRun], FloatArray]


def ratio_or_nan(above: FloatArray | IntArray, below: FloatArray | IntArray) -> FloatArray:
    """Return quotients; NaN if the denominator is 0."""
    with silent_division():
        return np.where(below == 0, np.nan, above / np.asarray(below, dtype=float))


def tie_blocks(run: MetricRun) -> TieBlocks:
    """Return the blocks of equal scores that contain at least one positive."""
    retrieved, hit = run.retrieved, run.hit
    rows = np.flatnonzero(hit)
    query, start = retrieved.query[rows], retrieved.block_start[rows]
    opens = np.ones(rows.size, dtype=bool)
    opens[1:] = (query[1:] != query[:-1]) | (start[1:] != start[:-1])
    heads = np.flatnonzero(opens)
    before = retrieved.running(hit)[rows[heads]] - 1
    hits = np.diff(heads, append=rows.size)
    return TieBlocks(query[heads], start[heads], retrieved.block_size[rows[heads]], hits, before)


# Metrics are means over the orders of equal scores. With a tie-breaking order, every document is a
# block of its own (:meth:`Retrieved.in_order`). In a block of m documents with r positives, each
# position has one with probability r/m; given this, any other position has one with probability
# (r - 1)/(m - 1) (McSherry and Najork 2008).

_CELLS_AT_ONCE = 2_000_000  # cells (block, position) in memory: 16 MB per array


def _reach(run: MetricRun) -> int:
    """Return the cutoff, or the last rank that a judged document can take."""
    last = int((run.retrieved.block_start + run.retrieved.block_size).max(initial=0))
    if run.request.cutoff is None:
        return last
    return min(run.request.cutoff, last)


def _mean_count(retrieved: Retrieved, which: BoolArray, cutoff: IntArray | int) -> FloatArray:
    """Return the mean number of chosen documents above the cutoff in each query."""
    # a document is above the cutoff with the same probability as a random position in its block
    within = np.clip(cutoff - retrieved.block_start, 0, retrieved.block_size)
    return retrieved.add(within / retrieved.block_size, which)


def _hits(run: MetricRun) -> FloatArray:
    """Return the mean number of positives among the first k in each query."""
    return _mean_count(run.retrieved, run.hit, _reach(run))


def _precision(run: MetricRun) -> FloatArray:
    """Return precision at k; missing documents count as negatives."""
    return _hits(run) / float(run.request.cutoff or 1)


def _recall(run: MetricRun) -> FloatArray:
    """Return recall at k."""
    return ratio_or_nan(_hits(run), run.positives)


def _f1(run: MetricRun) -> FloatArray:
    """Return F1 at k, 2 tp / (k + positives)."""
    return 2.0 * _hits(run) / ((run.request.cutoff or 0) + run.positives)


def _r_precision(run: MetricRun) -> FloatArray:
    """Return precision at k = number of positives."""
    total = run.positives
    cutoff = run.positives[run.retrieved.query]
    return ratio_or_nan(_mean_count(run.retrieved, run.hit, cutoff), total)


def judged_share(run: MetricRun) -> FloatArray:
    """Return the fraction of judged documents among the first k (or fewer).

    A grade below 0 marks an unjudged document.
    """
    retrieved, size = run.retrieved, run.retrieved.size
    if run.request.cutoff is not None:
        size = np.minimum(size, run.request.cutoff)
    known = retrieved.grade >= 0.0
    return ratio_or_nan(_mean_count(retrieved, known, size[retrieved.query]), size)


def _average_precision(run: MetricRun) -> FloatArray:
    """Return average precision, with a precision of 0 for positives not retrieved.

    After s documents, b of them positive, position i of a block has a positive with probability
    r/m, and then b + 1 + (i - s - 1) beside positives up to i are expected, with beside = (r -
    1)/(m - 1). Over i, their sum is (b + 1 - beside (s + 1)) times the harmonic sum, plus beside
    times the positions.
    """
    block, reach = tie_blocks(run), _reach(run)
    start = block.start.astype(float)
    within = np.maximum(np.minimum(block.start + block.size, reach) - block.start, 0)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1.0, reach + 1.0))])
    first = np.minimum(block.start, reach)
    inverse = harmonic[first + within] - harmonic[first]
    beside = (block.hits - 1) / np.maximum(block.size - 1, 1)
    result = (block.before + 1 - beside * (start + 1.0)) * inverse + beside * within
    # differences of sums are not exact for one position
    result = np.where(within == 1, (block.before + 1) / (start + 1.0), result)
    found = sums_by_query(block.query, result * block.hits / block.size, run.judged.n_queries)
    total = run.positives
    if run.request.norm == "min":
        total = np.minimum(total, run.request.cutoff or total)
    return ratio_or_nan(found, total)


def _mean_weight(retrieved: Retrieved, weights: FloatArray) -> FloatArray:
    """Return the mean weight over the positions that each document can take.

    ``weights`` are indexed by rank from 0. The weight is 0 after the last element.
    """
    # the sum over a block is the difference between two cumulative sums
    total = np.concatenate([[0.0], np.cumsum(weights)])
    start = np.minimum(retrieved.block_start, weights.size)
    end = np.minimum(retrieved.block_start + retrieved.block_size, weights.size)
    # use the weight directly for a block of one document, because subtracting sums is inexact
    alone = retrieved.block_size == 1
    single = np.concatenate([weights, [0.0]])[start]
    return np.where(alone, single, (total[end] - total[start]) / retrieved.block_size)


def _rank_biased_precision(run: MetricRun) -> FloatArray:
    """Return rank-biased precision, for a reader with a fixed probability of continuing."""
    p = run.request.persistence
    weights = (1.0 - p) * p ** np.arange(_reach(run), dtype=float)
    return run.retrieved.add(_mean_weight(run.retrieved, weights), run.hit)


@lru_cache(maxsize=4)
def _cached_discounts(size: int) -> FloatArray:
    """Return log2(2), log2(3), ... from the C library; NumPy's last bits can differ."""
    return np.array([math.log2(i) for i in range(2, size + 2)])


def rank_discounts(last: int) -> FloatArray:
    """Return the discounts for the ranks 0 to ``last`` or more."""
    # round up to a power of two, so that cached values can be used for many lengths
    return _cached_discounts(1 << max(10, int(last + 1).bit_length()))


def gains(request: MetricRequest, grade: FloatArray) -> FloatArray:
    """Return the gain for each grade, or 0; as in ir_measures, an unmapped grade is its own."""
    if request.gains:
        known, gain = np.array(sorted(request.gains)).T
        at = np.minimum(np.searchsorted(known, grade), known.size - 1)
        return np.maximum(np.where(known[at] == grade, gain[at], grade), 0.0)
    above = np.maximum(grade, 0.0)
    with np.errstate(over="ignore"):  # the caller refuses infinite gains
        return np.exp2(above) - 1.0 if request.exponential else above


def _ideal_gain(run: MetricRun) -> FloatArray:
    """Return the discounted gain of an ideal ranking of all judged documents."""
    request, judged, _ = run
    gain = gains(request, judged.grade)
    order = np.lexsort((-gain, judged.query))
    query, gain = judged.query[order], gain[order]
    rank = np.arange(query.size) - np.searchsorted(query, query)
    keep = gain > 0.0
    if request.cutoff is not None:
        keep &= rank < request.cutoff
    discount = rank_discounts(int(rank.max(initial=0)))
    return sums_by_query(query[keep], gain[keep] / discount[rank[keep]], judged.n_queries)


def _dcg(run: MetricRun) -> FloatArray:
    """Return the sum of gains divided by log ranks; for nDCG, relative to an ideal ranking."""
    retrieved = run.retrieved
    reach = _reach(run)
    discount = rank_discounts(reach)[:reach]
    mean = _mean_weight(retrieved, 1.0 / discount)
    own = np.append(discount, np.inf)[np.minimum(retrieved.block_start, reach)]
    gain = gains(run.request, retrieved.grade)
    gain = np.where(retrieved.block_size == 1, gain / own, gain * mean)
    result = retrieved.add(gain, gain > 0.0)
    if run.request.metric == "DCG":
        return result
    return ratio_or_nan(result, _ideal_gain(run))


def _first_hit_mean(run: MetricRun, weights: FloatArray) -> FloatArray:
    """Return the mean weight at the first positive's rank in each query; 0 after the last rank."""
    block = tie_blocks(run)
    weights = np.append(weights, 0.0)
    block = TieBlocks(*map(itemgetter(block.before == 0), block))  # with the first positive
    result = np.empty(block.query.size)
    # positions that the first positive can take; blocks of similar width share a table
    width = np.maximum(block.size - block.hits + 1, 1)
    order = np.argsort(width, kind="stable")
    for part in slices(order.size, int(width.max(initial=1)), _CELLS_AT_ONCE):
        rows = order[part]
        place = np.arange(int(width[rows].max()))
        m, r = (x[rows, np.newaxis].astype(float) for x in (block.size, block.hits))
        # (block, position): P(positive here | none before) times P(none before)
        left = np.maximum(m - place, 1.0)
        here = np.clip(r / left, 0.0, 1.0)
        not_before = np.cumprod(1.0 - here, axis=1)
        chance = here * np.concatenate([np.ones((rows.size, 1)), not_before[:, :-1]], axis=1)
        rank = np.minimum(block.start[rows, np.newaxis] + place, weights.size - 1)
        result[rows] = (chance * weights[rank]).sum(axis=1)
    return sums_by_query(block.query, result, run.judged.n_queries)


def _reciprocal_rank(run: MetricRun) -> FloatArray:
    """Return 1 over the rank of the first positive; 0 without a positive."""
    return _first_hit_mean(run, 1.0 / np.arange(1.0, _reach(run) + 1.0))


def _success(run: MetricRun) -> FloatArray:
    """Return whether a positive is among the first k, or the probability."""
    return _first_hit_mean(run, np.ones(_reach(run)))


def _interpolated_precision(run: MetricRun) -> FloatArray:
    """Return the largest precision at this recall or above; 0 if no list has this recall."""
    retrieved, hit, total = run.retrieved, run.hit, run.positives
    needed = (run.request.level * total + 0.9).astype(np.int64)  # rounding as in trec_eval
    found = retrieved.running(hit)
    reached = hit & (found >= needed[retrieved.query])
    result = np.zeros(retrieved.n_queries)
    np.maximum.at(result, retrieved.query[reached], (found / (retrieved.rank + 1.0))[reached])
    enough = retrieved.tally(hit) >= needed
    return np.where(total > 0, np.where(enough, result, 0.0), np.nan)


def _bpref(run: MetricRun) -> FloatArray:
    """Return bpref, based on judged negatives above the positives (Buckley, Voorhees)."""
    request, judged, retrieved = run
    negative = (retrieved.grade >= 0.0) & ~run.hit
    total = run.positives
    most = np.minimum(judged.tally((judged.grade >= 0.0) & (judged.grade < request.least)), total)
    above = np.minimum(retrieved.running(negative), total[retrieved.query])
    # number of judged negatives above each positive, capped at the number of positives
    with silent_division():
        share = np.where(above > 0, 1.0 - above / most[retrieved.query].astype(float), 1.0)
    return ratio_or_nan(retrieved.add(share, run.hit), total)


def _expected_reciprocal_rank(run: MetricRun) -> FloatArray:
    """Return the expected reciprocal rank at which a reader stops (Chapelle et al. 2009)."""
    request, judged, retrieved = run
    stop = (np.exp2(np.maximum(retrieved.grade, 0.0)) - 1.0) / 2.0**request.top
    keep = (stop > 0.0) & run.within
    place = (retrieved.running(keep) - 1)[keep]
    query = retrieved.query[keep]
    rank = retrieved.rank[keep]
    stop = stop[keep]
    # (query, position among kept documents): the probability of reaching a position is a product
    rows, row = np.unique(query, return_inverse=True)
    going = np.ones((rows.size, int(place.max(initial=0)) + 2))
    going[row, place + 1] = 1.0 - stop
    reaching = np.cumprod(going, axis=1)[row, place]
    return sums_by_query(query, stop * reaching / (rank + 1.0), judged.n_queries)


QUERY_METRICS: dict[str, Kernel] = {
    "P": _precision,
    "R": _recall,
    "Success": _success,
    "F1": _f1,
    "AP": _average_precision,
    "RR": _reciprocal_rank,
    "nDCG": _dcg,
    "DCG": _dcg,
    "Rprec": _r_precision,
    "RBP": _rank_biased_precision,
    "Judged": judged_share,
    "IPrec": _interpolated_precision,
    "Bpref": _bpref,
    "ERR": _expected_reciprocal_rank,
}
"""Maps each name in ir_measures to a metric."""

METRIC_ALIASES = {
    "map": "AP",
    "averageprecision": "AP",
    "rprecision": "Rprec",
    "mrr": "RR",
    "reciprank": "RR",
    "precision": "P",
    "recall": "R",
    "hitrate": "Success",
    "hits": "Success",
    "mapcut": "AP",
    "iprecatrecall": "IPrec",
    "ndcgcut": "nDCG",
    **{name.lower(): name for name in QUERY_METRICS},
}
"""Metric names in lowercase without underscores or hyphens."""
# name, (options), and a cutoff such as @10, or _10 and .10 in trec_eval
_METRIC_PATTERN = re.compile(r"([A-Za-z][\w-]*?)(?:\((.*)\))?(?:[@_.]([\d.]+))?")


def named_parts(text: str) -> tuple[str, str | None, str | None]:
    """Return the metric, the options and the cutoff in a name; unknown names are unchanged."""
    parts = _METRIC_PATTERN.fullmatch(text.strip())
    if parts is None:
        return text, None, None
    name, options, at = parts.groups()
    return METRIC_ALIASES.get(name.replace("_", "").replace("-", "").lower(), name), options, at


def range_of(text: str) -> tuple[float, float]:
    """Return the smallest and the largest possible value of a metric, or ±inf if unknown."""
    name = named_parts(text)[0]
    if name not in QUERY_METRICS:
        return -math.inf, math.inf
    return 0.0, math.inf if name == "DCG" else 1.0


EXPECTED_METRICS = tuple(QUERY_METRICS)[:-3]
"""The metrics with a closed form for means over all orders of equal scores."""
