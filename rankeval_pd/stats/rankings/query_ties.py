"""Metrics of each query as means over all orders of equal scores, in closed form.

Of a block of m documents with one score, r of them positives, each place holds a positive with
probability r/m, and a positive beside another with (r - 1)/(m - 1) (McSherry and Najork 2008).
"""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import query_metrics
from rankeval_pd.stats.rankings.query_metrics import (
    Blocks,
    Judgements,
    Kernel,
    Request,
    Retrieved,
    blocks,
    over,
    positives,
    summed,
)

_CELLS = 2_000_000  # of a table of blocks and places that is in memory at once


def _mean_weight(retrieved: Retrieved, weights: FloatArray) -> FloatArray:
    """Return the mean weight of the places that each document can have.

    ``weights`` are those of the ranks from 0 on, 0 behind the last.
    """
    total = np.concatenate([[0.0], np.cumsum(weights)])
    start = np.minimum(retrieved.block_start, weights.size)
    end = np.minimum(retrieved.block_start + retrieved.block_size, weights.size)
    alone = retrieved.block_size == 1  # no difference of sums where one term is known
    single = np.concatenate([weights, [0.0]])[start]
    return np.where(alone, single, (total[end] - total[start]) / retrieved.block_size)


def _hits_within(asked: Request, retrieved: Retrieved, cutoff: IntArray) -> FloatArray:
    """Return the expected number of positives among the first documents of each query."""
    hit = retrieved.grade >= asked.least
    return _share_within(retrieved, hit, cutoff[retrieved.query])


def _share_within(retrieved: Retrieved, which: BoolArray, cutoff: IntArray) -> FloatArray:
    within = np.clip(cutoff - retrieved.block_start, 0, retrieved.block_size)
    return retrieved.add(within / retrieved.block_size, which)


def _cutoffs(asked: Request, retrieved: Retrieved) -> IntArray:
    deepest = np.iinfo(np.int64).max if asked.cutoff is None else asked.cutoff
    return np.full(retrieved.n_queries, deepest)


def precision(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return expected precision at k."""
    tp = _hits_within(asked, retrieved, _cutoffs(asked, retrieved))
    return np.asarray(tp / float(asked.cutoff or 1))


def recall(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return expected recall at k."""
    tp = _hits_within(asked, retrieved, _cutoffs(asked, retrieved))
    return over(tp, positives(asked, judged))


def f1(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return expected F1 at k."""
    tp = _hits_within(asked, retrieved, _cutoffs(asked, retrieved))
    return np.asarray(2.0 * tp / ((asked.cutoff or 0) + positives(asked, judged)))


def r_precision(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return expected R-precision."""
    total = positives(asked, judged)
    return over(_hits_within(asked, retrieved, total), total)


def judged_share(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the expected share of judged ones among the first k documents that there are."""
    cutoff = np.minimum(retrieved.size, _cutoffs(asked, retrieved))
    every = np.ones(retrieved.rank.shape, dtype=bool)
    return over(_share_within(retrieved, every, cutoff[retrieved.query]), cutoff)


def ndcg(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the expected discounted gain over that of the best ranking."""
    deepest = int(retrieved.size.max(initial=0))
    shown = deepest if asked.cutoff is None else min(asked.cutoff, deepest)
    weights = 1.0 / query_metrics.logarithms(deepest)[:shown]
    gain = query_metrics.gains(asked, retrieved.grade) * _mean_weight(retrieved, weights)
    return over(retrieved.add(gain, gain > 0.0), query_metrics.ideal_gain(asked, judged))


def rank_biased_precision(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return expected rank-biased precision."""
    deepest = int(retrieved.size.max(initial=0))
    shown = deepest if asked.cutoff is None else min(asked.cutoff, deepest)
    p = asked.persistence
    weights = (1.0 - p) * p ** np.arange(shown, dtype=float)
    return retrieved.add(_mean_weight(retrieved, weights), retrieved.grade >= asked.least)


def average_precision(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return expected average precision.

    At place i of a block that starts after s documents with b positives stands a positive with
    probability r/m, and then b + 1 + (i - s - 1)(r - 1)/(m - 1) positives are found.
    """
    block = blocks(retrieved, retrieved.grade >= asked.least)
    start = block.start.astype(float)
    most = retrieved.size.max(initial=0) if asked.cutoff is None else asked.cutoff
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
    total = summed(block.query, result * block.hits / block.size, judged.n_queries)
    return over(total, positives(asked, judged))


def _firsts(asked: Request, retrieved: Retrieved) -> Blocks:
    """Return, of each query, the block with its first positive."""
    block = blocks(retrieved, retrieved.grade >= asked.least)
    first = block.before == 0
    return Blocks(*(x[first] for x in block))


def _first_at(block: Blocks, weights: FloatArray) -> FloatArray:
    """Return the mean of the weights of the first positive's rank, for each block."""
    result = np.empty(block.query.size)
    width = np.maximum(block.size - block.hits + 1, 1)  # places that the first positive can have
    order = np.argsort(width, kind="stable")
    step = max(1, _CELLS // int(width.max(initial=1)))
    for low in range(0, order.size, step):
        rows = order[low : low + step]
        place = np.arange(int(width[rows].max()))
        m, r = (x[rows, np.newaxis].astype(float) for x in (block.size, block.hits))
        left = np.maximum(m - place, 1.0)
        here = np.clip(r / left, 0.0, 1.0)
        not_before = np.cumprod(1.0 - here, axis=1)
        chance = here * np.concatenate([np.ones((rows.size, 1)), not_before[:, :-1]], axis=1)
        rank = np.minimum(block.start[rows, np.newaxis] + place, weights.size - 1)
        result[rows] = (chance * weights[rank]).sum(axis=1)
    return result


def _of_first(asked: Request, retrieved: Retrieved, weights: FloatArray) -> FloatArray:
    if asked.cutoff is not None:
        weights = np.where(np.arange(weights.size) < asked.cutoff, weights, 0.0)
    block = _firsts(asked, retrieved)
    return summed(block.query, _first_at(block, weights), retrieved.n_queries)


def reciprocal_rank(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the expected reciprocal of the rank of the first positive."""
    ranks = np.arange(1.0, retrieved.size.max(initial=0) + 2.0)
    return _of_first(asked, retrieved, 1.0 / ranks)


def success(asked: Request, judged: Judgements, retrieved: Retrieved) -> FloatArray:
    """Return the chance of a positive among the first k."""
    return _of_first(asked, retrieved, np.ones(int(retrieved.size.max(initial=0)) + 1))


EXPECTED: dict[str, Kernel] = {
    "P": precision,
    "R": recall,
    "Success": success,
    "F1": f1,
    "AP": average_precision,
    "RR": reciprocal_rank,
    "nDCG": ndcg,
    "Rprec": r_precision,
    "RBP": rank_biased_precision,
    "Judged": judged_share,
    "AUC": query_metrics.auc,
}
"""The metrics that have a closed form."""
