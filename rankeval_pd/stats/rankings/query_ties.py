"""Closed-form means of query metrics over all orderings of tied scores.

If a block of m documents with the same score contains r positives, each position has a positive
with probability r/m. Given a positive at one position, any other position has a positive with
probability (r - 1)/(m - 1) (McSherry and Najork 2008).
"""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import query_metrics
from rankeval_pd.stats.rankings.query_metrics import (
    Judgments,
    Kernel,
    MetricRequest,
    Retrieved,
    TieBlocks,
    positive_counts,
    ratio_or_nan,
    sums_by_query,
    tie_blocks,
)

_CELLS_AT_ONCE = 2_000_000  # cells (block, position) in memory: 16 MB per array


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


def _expected_hits(request: MetricRequest, retrieved: Retrieved, cutoff: IntArray) -> FloatArray:
    """Return the expected number of positives above the cutoff in each query."""
    hit = retrieved.grade >= request.least
    return _expected_count(retrieved, hit, cutoff[retrieved.query])


def _expected_count(retrieved: Retrieved, which: BoolArray, cutoff: IntArray) -> FloatArray:
    """Return the expected number of chosen documents above the cutoff in each query."""
    # a document is above the cutoff with the same probability as a random position in its block
    within = np.clip(cutoff - retrieved.block_start, 0, retrieved.block_size)
    return retrieved.add(within / retrieved.block_size, which)


def _cutoffs(request: MetricRequest, retrieved: Retrieved) -> IntArray:
    deepest = np.iinfo(np.int64).max if request.cutoff is None else request.cutoff
    return np.full(retrieved.n_queries, deepest)


def precision(request: MetricRequest, judged: Judgments, retrieved: Retrieved) -> FloatArray:
    """Return expected precision at k."""
    tp = _expected_hits(request, retrieved, _cutoffs(request, retrieved))
    return np.asarray(tp / float(request.cutoff or 1))


def recall(request: MetricRequest, judged: Judgments, retrieved: Retrieved) -> FloatArray:
    """Return expected recall at k."""
    tp = _expected_hits(request, retrieved, _cutoffs(request, retrieved))
    return ratio_or_nan(tp, positive_counts(request, judged))


def f1(request: MetricRequest, judged: Judgments, retrieved: Retrieved) -> FloatArray:
    """Return expected F1 at k."""
    tp = _expected_hits(request, retrieved, _cutoffs(request, retrieved))
    return np.asarray(2.0 * tp / ((request.cutoff or 0) + positive_counts(request, judged)))


def r_precision(request: MetricRequest, judged: Judgments, retrieved: Retrieved) -> FloatArray:
    """Return expected R-precision."""
    total = positive_counts(request, judged)
    return ratio_or_nan(_expected_hits(request, retrieved, total), total)


def judged_share(request: MetricRequest, judged: Judgments, retrieved: Retrieved) -> FloatArray:
    """Return the expected fraction of judged documents among the first k."""
    cutoff = np.minimum(retrieved.size, _cutoffs(request, retrieved))
    known = retrieved.grade >= 0.0
    return ratio_or_nan(_expected_count(retrieved, known, cutoff[retrieved.query]), cutoff)


def ndcg(request: MetricRequest, judged: Judgments, retrieved: Retrieved) -> FloatArray:
    """Return the expected discounted gain divided by the ideal discounted gain."""
    found = dcg(request, judged, retrieved)
    return ratio_or_nan(found, query_metrics.ideal_gain(request, judged))


def dcg(request: MetricRequest, judged: Judgments, retrieved: Retrieved) -> FloatArray:
    """Return the expected discounted gain."""
    deepest = int(retrieved.size.max(initial=0))
    shown = deepest if request.cutoff is None else min(request.cutoff, deepest)
    weights = 1.0 / query_metrics.rank_discounts(deepest)[:shown]
    gain = query_metrics.gains(request, retrieved.grade) * _mean_weight(retrieved, weights)
    return retrieved.add(gain, gain > 0.0)


def rank_biased_precision(
    request: MetricRequest, judged: Judgments, retrieved: Retrieved
) -> FloatArray:
    """Return expected rank-biased precision."""
    deepest = int(retrieved.size.max(initial=0))
    shown = deepest if request.cutoff is None else min(request.cutoff, deepest)
    p = request.persistence
    weights = (1.0 - p) * p ** np.arange(shown, dtype=float)
    return retrieved.add(_mean_weight(retrieved, weights), retrieved.grade >= request.least)


def average_precision(
    request: MetricRequest, judged: Judgments, retrieved: Retrieved
) -> FloatArray:
    """Return expected average precision.

    Let a block start after s documents, b of which are positive. Position i has a positive with
    probability r/m. Given this positive, the expected number of positives up to i is b + 1 + (i - s
    - 1)(r - 1)/(m - 1). To sum this number divided by i over the block, only a harmonic sum is
    needed. With beside = (r - 1)/(m - 1), the sum is (b + 1 - beside (s + 1)) times the sum of 1/i,
    plus beside times the number of positions.
    """
    block = tie_blocks(retrieved, retrieved.grade >= request.least)
    start = block.start.astype(float)
    most = retrieved.size.max(initial=0) if request.cutoff is None else request.cutoff
    end = np.minimum(block.start + block.size, most)
    within = np.maximum(end - block.start, 0)
    harmonic = np.concatenate(
        [[0.0], np.cumsum(1.0 / np.arange(1.0, retrieved.size.max(initial=0) + 1.0))]
    )
    inverse = np.where(
        within == 1,
        1.0 / (start + 1.0),
        harmonic[block.start + within] - harmonic[block.start],
    )
    beside = (block.hits - 1) / np.maximum(block.size - 1, 1)
    result = (block.before + 1 - beside * (start + 1.0)) * inverse + beside * within
    total = sums_by_query(block.query, result * block.hits / block.size, judged.n_queries)
    return ratio_or_nan(total, query_metrics.ap_norm(request, judged))


def _first_hit_blocks(request: MetricRequest, retrieved: Retrieved) -> TieBlocks:
    """Return the block with the first positive in each query."""
    block = tie_blocks(retrieved, retrieved.grade >= request.least)
    first = block.before == 0
    return TieBlocks(*(x[first] for x in block))


def _mean_first_weight(block: TieBlocks, weights: FloatArray) -> FloatArray:
    """Return the mean weight at the first positive's rank in each block."""
    result = np.empty(block.query.size)
    # positions that the first positive can take; blocks of similar width share a table
    width = np.maximum(block.size - block.hits + 1, 1)
    order = np.argsort(width, kind="stable")
    step = max(1, _CELLS_AT_ONCE // int(width.max(initial=1)))
    for low in range(0, order.size, step):
        rows = order[low : low + step]
        place = np.arange(int(width[rows].max()))
        m, r = (x[rows, np.newaxis].astype(float) for x in (block.size, block.hits))
        # (block, position): P(positive here | none before) times P(none before)
        left = np.maximum(m - place, 1.0)
        here = np.clip(r / left, 0.0, 1.0)
        not_before = np.cumprod(1.0 - here, axis=1)
        chance = here * np.concatenate([np.ones((rows.size, 1)), not_before[:, :-1]], axis=1)
        rank = np.minimum(block.start[rows, np.newaxis] + place, weights.size - 1)
        result[rows] = (chance * weights[rank]).sum(axis=1)
    return result


def _first_hit_mean(
    request: MetricRequest, retrieved: Retrieved, weights: FloatArray
) -> FloatArray:
    if request.cutoff is not None:
        weights = np.where(np.arange(weights.size) < request.cutoff, weights, 0.0)
    block = _first_hit_blocks(request, retrieved)
    return sums_by_query(block.query, _mean_first_weight(block, weights), retrieved.n_queries)


def reciprocal_rank(request: MetricRequest, judged: Judgments, retrieved: Retrieved) -> FloatArray:
    """Return the expected reciprocal of the rank of the first positive."""
    ranks = np.arange(1.0, retrieved.size.max(initial=0) + 2.0)
    return _first_hit_mean(request, retrieved, 1.0 / ranks)


def success(request: MetricRequest, judged: Judgments, retrieved: Retrieved) -> FloatArray:
    """Return the probability of a positive among the first k."""
    return _first_hit_mean(request, retrieved, np.ones(int(retrieved.size.max(initial=0)) + 1))


EXPECTED_METRICS: dict[str, Kernel] = {
    "P": precision,
    "R": recall,
    "Success": success,
    "F1": f1,
    "AP": average_precision,
    "RR": reciprocal_rank,
    "nDCG": ndcg,
    "DCG": dcg,
    "Rprec": r_precision,
    "RBP": rank_biased_precision,
    "Judged": judged_share,
    "AUC": query_metrics.auc,
}
"""The metrics with a closed form."""
