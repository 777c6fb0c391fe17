"""Variance, interval and simultaneous band of the recall of n-best lists.

If the candidates are a sample, the recall k = tp / N+ of the list of n among N varies by which true
positives the list has, by where it ends, and by how many there are. With ``edge``, the share of
true positives around its end, the influence of a candidate with label y on N+ times the recall is

    (y - edge) [it is in the list] - k y + edge n / N,

and its variance, for each true positive, k (1 - k)(1 - 2 edge) + edge^2 (1 - n/N) n / N+ ("EmProc",
J. R. Ash and J. M. Hughes-Oliver 2022, Confidence bands and hypothesis tests for hit enrichment
curves).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.intervals.proportions import Limits, clopper_pearson
from rankeval_pd.stats.resampling import keyed
from rankeval_pd.stats.resampling.keyed import Keys

_ADDED = keyed.mix(np.arange(2**33, 2**33 + 4, dtype=np.uint64))  # keys of nobody
_NEAR = 1_000  # ranks to either side that the kernel estimate of the edge sees
_LEAST = 0.5  # of the variance of a fixed region
_PLUS = 2  # true positives that are added to either end


class Spread(NamedTuple):
    """What the recall of n-best lists varies by; the last axis is n."""

    recall: FloatArray  #: with what was added
    variance: FloatArray  #: N+ times the variance of the recall
    positive: FloatArray  #: N+, with what was added

    @property
    def ratio(self) -> FloatArray:
        """How many times as much as that of a fixed region the recall varies."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.variance / (self.recall * (1.0 - self.recall)), dtype=float)

    def effective(self, positive: IntArray) -> FloatArray:
        """Return how many true positives of a fixed region vary as much; at most 2 N+.

        In short lists of many true positives the recall varies far less than that of a region, but
        a count out of N+ says little of how: limits made of less than half the variance miss.
        """
        return np.asarray(positive / np.fmax(self.ratio, _LEAST), dtype=float)


def spread(
    tp: FloatArray | IntArray,
    n: IntArray,
    total: IntArray,
    positive: IntArray,
    edge: FloatArray,
    *,
    added: int = _PLUS,
) -> Spread:
    """Return what the recall of lists of n with tp true positives varies by.

    ``added`` true positives more come first, and as many last, so that no variance is 0 by chance.
    """
    n, total, positive = n + added, total + 2 * added, positive + 2 * added
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = np.asarray((tp + added) / positive, dtype=float)
        region = recall * (1.0 - recall) * (1.0 - 2.0 * edge)
        variance = region + edge**2 * (1.0 - n / total) * n / positive
    return Spread(
        recall, np.maximum(variance, 0.0), np.full(recall.shape, positive, dtype=np.float64)
    )


class Sup(NamedTuple):
    """What the band of one ranking is made of, at every n asked for."""

    tp: FloatArray
    spread: Spread
    factor: float  #: that all standardised deviations stay within, with the probability asked for


def sup_t(
    ranked: BoolArray,
    n: IntArray,
    edge: FloatArray,
    tp: IntArray,
    keys: Keys,
    level: float,
    *,
    added: int,
    n_resamples: int,
    seed: int,
    advance: Callable[[int], object],
) -> Sup:
    """Return the largest deviation over all n that the draws stay within, of one ranking.

    ``ranked`` are labels, best first; ``n`` rises; ``tp`` are the true positives of each list.
    ``added`` true positives more come first, and as many last.
    """
    total, positive = np.array(ranked.size), np.array(int(ranked.sum()))
    found = spread(tp, n, total, positive, edge, added=added)
    more = np.ones(added, dtype=bool)
    extra = _ADDED[: 2 * added]
    longer = np.concatenate([more, ranked, more])
    keys = np.concatenate([extra[:added], keys, extra[added:]])
    rank = np.arange(1, longer.size + 1)
    cells = bands.cells(longer, (rank,), n + added, keys)
    largest = bands.largest(
        cells,
        (edge,),
        -edge * (n + added) / longer.size,
        found.variance * found.positive,
        of_true=-found.recall,
        n_resamples=n_resamples,
        seed=seed,
        advance=advance,
    )
    return Sup(tp.astype(float), found, bands.critical_value(largest, level))


def exact_band(found: Sup, positive: int) -> Limits:
    """Return limits of Clopper and Pearson at the level that the largest deviation asks for."""
    from scipy import special

    within = 1.0 - 2.0 * float(special.ndtr(-found.factor))
    size = found.spread.effective(np.array(positive))
    return clopper_pearson(found.tp / positive * size, size, within)


def emproc_band(found: Sup, n: IntArray, positive: int) -> Limits:
    """Return recall -+ factor times se, within 0 and the recall of a perfect ranking."""
    half = found.factor * np.sqrt(found.spread.variance / found.spread.positive)
    centre, ideal = found.spread.recall, np.minimum(1.0, n / positive)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, ideal)


class KernelLists(NamedTuple):
    """Lists of the candidates above the score of the (n + 1)-th, and what is at their ends."""

    tp: IntArray
    edge: FloatArray


def kernel_lists(score: FloatArray, ranked: BoolArray, n: IntArray) -> KernelLists:
    """Return true positives, and the share of them at the end by a kernel of the scores.

    ``score`` falls. The kernel is normal with the bandwidth N^(-1/5) sd, over the 1,000 ranks to
    either side (Nadaraya and Watson); O(n) of at most 2,001 candidates for each list.
    """
    total = score.size
    tp, edge = np.zeros(n.size, dtype=np.int64), np.zeros(n.size)
    counts = np.concatenate([[0], np.cumsum(ranked)])
    spread = score.std(ddof=1) if total > 1 else 0.0
    width = total**-0.2 * spread
    for k, size in enumerate(n.tolist()):
        last = score[min(size, total - 1)]
        above = total if size == total else int(np.searchsorted(-score, -last, side="left"))
        tp[k] = counts[above]
        near = slice(max(0, size - _NEAR - 1), min(total, size + _NEAR))
        far = (score[near] - last) / width if width > 0.0 else np.zeros(score[near].size)
        weight = np.exp(-0.5 * far**2)
        edge[k] = (weight @ ranked[near]) / weight.sum()
    return KernelLists(tp, edge)
