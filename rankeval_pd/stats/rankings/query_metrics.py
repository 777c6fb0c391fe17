"""Metrics of each query: of all queries at once, to the last bit as trec_eval computes them.

Where a sum runs over ranks, its terms are added in the order of the ranks, and logarithms come
from the C library: sums in another order would differ in the last bit. A metric that is undefined
for a query, as recall is without positives, is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.queries import Judgements, Retrieved, blocks, summed

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
