"""Variance and simultaneous bands for precision and recall at all n."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import Limits, clopper_pearson, z_of
from rankeval_pd.stats.rankings import swap_draws
from rankeval_pd.stats.rankings.ranking import Whole, up_to_ranks
from rankeval_pd.stats.rankings.swap_draws import Keys

# -------------------------------------------------------------------------------------------------
# Variance and simultaneous bands for the precision of n-best lists at all n.
#
# An n-best list has no fixed threshold. If the candidates are a sample, the precision at n has two
# sources of variation. One is the random labels of the candidates in the list, with the binomial
# variance of Evert (2004, section 3.2). The other is the threshold at the end of the list, where
# the proportion of true positives is ``edge``. The influence of a candidate with label y on the
# precision p of a list of n of the N candidates is
#
#     ((y - edge) [it is in the list] - (p - edge) n / N) N / n,
#
# and the variance is (p (1 - p) + (1 - n/N) (p - edge)^2) / n. If each influence is multiplied by a
# standard normal number, the sums of the influences vary like the whole curve. The largest
# standardized sum at any n determines how much wider a band must be than an interval.

Advance = Callable[[int], object]
_BLOCK = 4_000_000  # multipliers in memory at once
_LARGE = 64  # with at least this many candidates, a sum of signs is nearly normal
_NOWHERE = swap_draws.mix(np.arange(2**32, 2**32 + 2, dtype=np.uint64))  # cells outside all lists
_NOTHING = 1e-7  # smaller influences are rounding errors


class Spread(NamedTuple):
    """The variance of the precision of n-best lists; the last axis is n."""

    precision: FloatArray  #: shrunk toward one half, never 0 or 1
    edge: FloatArray  #: proportion of true positives around the n-th candidate
    variance: FloatArray  #: n times the variance of the precision
    influence: FloatArray  #: sum of squared influences on n times the unshrunk precision

    @property
    def ratio(self) -> FloatArray:
        """The ratio of the variance to the variance for a fixed region of n candidates."""
        return np.asarray(self.variance / (self.precision * (1.0 - self.precision)), dtype=float)

    def effective(self, n: IntArray) -> FloatArray:
        """Return the size, at most n, of a fixed region with the same variance of precision."""
        return np.asarray(n / np.maximum(self.ratio, 1.0), dtype=float)


def edge_precision(tp: FloatArray | IntArray, n: IntArray, total: IntArray) -> FloatArray:
    """Return the proportion of true positives among the candidates around rank n.

    ``tp`` counts the true positives up to each rank, from rank 0. The window includes n^0.8 / 2
    candidates, but at least 20, on each side.
    """
    half = np.maximum(20, (0.5 * n**0.8).astype(np.int64))
    low = np.maximum(n - half, 0)
    high = np.minimum(n + half, total)
    inside = np.take_along_axis(tp, high, axis=-1) - np.take_along_axis(
        tp, np.minimum(low, high), axis=-1
    )
    share: FloatArray = (inside + 1.0) / (np.maximum(high - low, 0) + 2.0)
    return share


def nbest_spread(tp: FloatArray | IntArray, n: IntArray, total: IntArray) -> Spread:
    """Return the variance of the precision of n-best lists.

    ``tp`` (..., rank from 0) is the number of true positives, and ``total`` (...) the number of
    candidates.
    """
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
    return Spread(
        precision, edge, np.asarray(variance, dtype=float), np.asarray(influence, dtype=float)
    )


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
    total: IntArray,
    n: IntArray,
    only: IntArray,
    tp_only: tuple[IntArray, IntArray],
) -> DifferenceSpread:
    """Return the variance of the difference in precision between two n-best lists.

    The influence of a candidate on n times the difference is y - edge_a if the first list contains
    the candidate, minus y - edge_b if the second list does. ``only`` is the size of each
    difference region. One positive and one negative are added to each region (Agresti and Caffo),
    so that the variance is positive. ``total`` (...) is the number of candidates.
    """
    total = total[..., np.newaxis]
    size = np.minimum(np.broadcast_to(n, only.shape), np.maximum(total, 1))
    tp_a, tp_b = (up_to_ranks(rank, gold) for rank in (rank_a, rank_b))
    edge_a, edge_b = (edge_precision(tp, size, total) for tp in (tp_a, tp_b))
    share_a, share_b = (np.take_along_axis(tp, size, axis=-1) / size for tp in (tp_a, tp_b))
    drift = (share_a - edge_a) - (share_b - edge_b)
    only_a, only_b = tp_only
    squares = (
        only_a * (1.0 - edge_a) ** 2
        + (only - only_a) * edge_a**2
        + only_b * (1.0 - edge_b) ** 2
        + (only - only_b) * edge_b**2
        + (size - only) * (edge_a - edge_b) ** 2
    )
    added = sum((1.0 - edge) ** 2 + edge**2 for edge in (edge_a, edge_b))
    reach = size / np.maximum(total, 1)
    influence = squares - size * reach * drift**2
    return DifferenceSpread(edge_a, edge_b, drift * reach, influence + added, influence)


class Cells(NamedTuple):
    """Groups (cells) of candidates that are in the same lists at every requested n."""

    size: FloatArray
    tp: FloatArray  #: size if the candidates are true positives, otherwise 0
    first: tuple[IntArray, ...]  #: first requested n whose list contains the cell, per ranking
    listed: BoolArray  #: whether any list contains the cell
    of: IntArray  #: the cell of each candidate
    where: IntArray  #: one candidate from each cell
    keys: Keys  #: key of each candidate's draws

    def multipliers(self, seed: int, start: int, stop: int, *, at_once: bool = False) -> FloatArray:
        """Return the sum of standard normal draws, one per candidate, for each cell.

        Large cells use random signs instead of normal numbers, because the sum is nearly normal.
        Candidates outside all lists form separate cells. With ``at_once``, each sum is a single
        normal draw that uses one candidate's key.
        """
        if at_once:
            drawn = swap_draws.normals(self.keys[self.where], seed, start, stop)
            return drawn * np.sqrt(self.size)[:, np.newaxis]
        sums: Any = np.zeros((self.size.size, stop - start))
        beyond = np.flatnonzero(~self.listed)
        apart = swap_draws.normals(_NOWHERE[: beyond.size], seed, start, stop)
        sums[beyond] = apart * np.sqrt(self.size[beyond])[:, np.newaxis]
        large = self.size >= _LARGE
        small, signs = ~large & self.listed, large & self.listed
        sums[small] += self._summed(swap_draws.normals, small, seed, start, stop)
        heads = self._summed(swap_draws.coins, signs, seed, start, stop)
        sums[signs] += 2.0 * heads - self.size[signs, np.newaxis]
        result: FloatArray = np.asarray(sums, dtype=np.float64)
        return result

    def _summed(
        self, draw: Callable[..., Any], chosen: BoolArray, seed: int, start: int, stop: int
    ) -> Any:
        """Return the sum of the candidates' draws in each chosen cell."""
        from scipy import sparse

        number = np.cumsum(chosen) - 1
        candidates = np.flatnonzero(chosen[self.of])
        cell = number[self.of[candidates]]
        order = np.argsort(
            cell, kind="stable"
        )  # keep the candidates of a cell together, and process a few cells at a time
        candidates, cell = candidates[order], cell[order]
        kind: Any = np.int32 if draw is swap_draws.coins else np.float64
        sums: Any = np.zeros((np.count_nonzero(chosen), stop - start), dtype=kind)
        width = max(_LARGE, _BLOCK // (stop - start))
        ends = np.flatnonzero(np.diff(cell, append=-1)) + 1
        last = 0
        while last < candidates.size:
            first, last = last, min(last + width, candidates.size)
            if kind is np.float64:  # cells are kept whole to fix the order of summation
                last = int(ends[np.searchsorted(ends, last, side="right") - 1])
            part = slice(first, last)
            drawn = draw(self.keys[candidates[part]], seed, start, stop).astype(kind, copy=False)
            low, high = cell[part][0], cell[part][-1] + 1
            inside = sparse.csc_array(
                (np.ones(len(drawn), dtype=kind), (cell[part] - low, np.arange(len(drawn)))),
                shape=(high - low, len(drawn)),
            )
            sums[low:high] += inside @ drawn
        return sums


def cells(
    gold: BoolArray,
    ranks: tuple[IntArray, ...],
    n: IntArray,
    keys: Keys | None = None,
    whole: Whole | None = None,
) -> Cells:
    """Group candidates into cells by ascending ``n``; the last is outside all lists.

    ``keys`` are the keys of the candidates' draws, by default the positions of the candidates. If
    ``whole`` is given, candidates outside all lists are only counted, in one cell for each label.
    """
    keys = swap_draws.by_position(gold.size) if keys is None else keys
    times: IntArray = np.ones(gold.size, dtype=np.int64)
    if whole is not None:
        gold, ranks, keys, times = _with_rest(gold, ranks, n, keys, whole)
    first = [np.searchsorted(n, rank, side="left") for rank in ranks]
    key = gold.astype(np.int64)
    for position in first:
        key = key * (n.size + 1) + position
    _, where, of = np.unique(key, return_index=True, return_inverse=True)
    size = np.bincount(of, weights=times, minlength=where.size)
    true = gold[where]
    return Cells(
        np.asarray(size, dtype=np.float64),
        np.where(true, size, 0.0),
        tuple(position[where] for position in first),
        np.min([position[where] for position in first], axis=0) < n.size,
        of,
        where,
        keys,
    )


def _with_rest(
    gold: BoolArray, ranks: tuple[IntArray, ...], n: IntArray, keys: Keys, whole: Whole
) -> tuple[BoolArray, tuple[IntArray, ...], Keys, IntArray]:
    """Return listed candidates, one candidate per label for the unlisted ones, and counts."""
    listed = np.min(ranks, axis=0) <= n[-1]
    positive = int(gold[listed].sum())
    rest = np.array(
        [whole.total - whole.positive - (int(listed.sum()) - positive), whole.positive - positive]
    )
    there = np.flatnonzero(rest)
    behind = np.full(there.size, n[-1] + 1)
    return (
        np.concatenate([gold[listed], there == 1]),
        tuple(np.concatenate([rank[listed], behind]) for rank in ranks),
        np.concatenate([keys[listed], _NOWHERE[: there.size]]),
        np.concatenate([np.ones(int(listed.sum()), dtype=np.int64), rest[there]]),
    )


def largest(
    found: Cells,
    edges: tuple[FloatArray, ...],
    center: FloatArray,
    influence: FloatArray,
    *,
    of_true: FloatArray | None = None,
    n_resamples: int,
    seed: int,
    advance: Advance = lambda _: None,
    at_once: bool = False,
) -> FloatArray:
    """Return the largest |Z| over all n for each draw of multipliers.

    Z is the sum of multipliers times influences over the candidates, divided by its standard
    deviation, the square root of ``influence``. ``center`` is subtracted from the influences of all
    candidates, and ``of_true`` is added to the influences of all true positives. For two rankings,
    Z uses the differences of the influences. ``at_once`` draws the sum of the multipliers in each
    cell directly.
    """
    true = found.tp > 0
    lists = [_entering(first, true, center.size) for first in found.first]
    scale = np.sqrt(np.maximum(influence, 0.0))
    varies = scale > _NOTHING
    result = np.empty(n_resamples)
    width = max(2, _BLOCK // max(1, found.size.size))
    width -= width % swap_draws.WORD if width > swap_draws.WORD else width % 2
    for start in range(0, n_resamples, width):
        stop = min(start + width, n_resamples)
        drawn = found.multipliers(seed, start, stop, at_once=at_once)
        z = -np.outer(center, drawn.sum(axis=0))
        if of_true is not None:
            z += np.outer(of_true, drawn[true].sum(axis=0))
        for sign, (every, trues), edge in zip((1.0, -1.0), lists, edges, strict=False):
            listed, tp = (np.cumsum(entering @ drawn, axis=0) for entering in (every, trues))
            z += sign * (tp - edge[:, np.newaxis] * listed)
        deviations = np.abs(z[varies] / scale[varies, np.newaxis])
        result[start:stop] = deviations.max(axis=0, initial=0.0)
        advance(stop - start)
    return result


def _entering(first: IntArray, true: BoolArray, n_lists: int) -> tuple[Any, Any]:
    """Return the cells that enter the list at each n, (n, cell), and the true-positive cells."""
    from scipy import sparse

    def of(chosen: BoolArray) -> Any:
        cells = np.flatnonzero(chosen & (first < n_lists))
        shape = (n_lists, first.size)
        return sparse.csr_array((np.ones(cells.size), (first[cells], cells)), shape=shape)

    return of(np.ones_like(true)), of(true)


def draws_needed(level: float) -> int:
    """Return the number of draws needed to expect one draw above the quantile."""
    return math.ceil(level / (1.0 - level) * (1.0 - 1e-12))


def critical_value(largest_of_draw: FloatArray, level: float) -> float:
    """Return the ``level`` quantile of the draws, with the data counted as one draw.

    The result is at least the normal quantile for a single n. The draws are uninformative if all
    candidates in the lists have the same label.
    """
    ordered = np.sort(largest_of_draw)
    rank = math.ceil((ordered.size + 1) * level * (1.0 - 1e-12))
    alone = z_of(level)
    return max(float(ordered[min(rank, ordered.size) - 1]), alone)


# -------------------------------------------------------------------------------------------------
# Variance, interval and simultaneous band for the recall of n-best lists.
#
# If the candidates are a sample, the recall k = tp / N+ of a list of n of the N candidates varies
# with the true positives in the list, with the threshold, and with N+. Let ``edge`` be the
# proportion of true positives around the end of the list. The influence of a candidate with label y
# on N+ times the recall is
#
#     (y - edge) [it is in the list] - k y + edge n / N,
#
# and the variance per true positive is k (1 - k)(1 - 2 edge) + edge^2 (1 - n/N) n / N+ ("EmProc",
# J. R. Ash and J. M. Hughes-Oliver 2022, Confidence bands and hypothesis tests for hit
# enrichment curves).

_ADDED = swap_draws.mix(np.arange(2**33, 2**33 + 4, dtype=np.uint64))  # keys no candidate uses
_NEAR = 1_000  # number of ranks on each side in the kernel estimate of the edge
_LEAST = 0.5  # minimum variance, as a fraction of a fixed region's variance
_PLUS = 2  # number of true positives added at each end


class RecallSpread(NamedTuple):
    """The variance of the recall of n-best lists; the last axis is n."""

    recall: FloatArray  #: recall, including the added true positives
    variance: FloatArray  #: N+ times the variance of the recall
    positive: FloatArray  #: N+, including the added true positives

    @property
    def ratio(self) -> FloatArray:
        """The ratio of the variance to the variance for a fixed region."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.variance / (self.recall * (1.0 - self.recall)), dtype=float)

    def effective(self, positive: IntArray) -> FloatArray:
        """Return the number of true positives, at most 2 N+, with the same variance of recall.

        In short lists with many true positives, recall varies far less than in a fixed region.
        However, using less than half of the region's variance makes the coverage too low.
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
) -> RecallSpread:
    """Return the variance of the recall of lists of size n with tp true positives.

    ``added`` true positives are added at the top and at the bottom, so that no variance is 0 by
    chance.
    """
    n, total, positive = n + added, total + 2 * added, positive + 2 * added
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = np.asarray((tp + added) / positive, dtype=float)
        region = recall * (1.0 - recall) * (1.0 - 2.0 * edge)
        variance = region + edge**2 * (1.0 - n / total) * n / positive
    return RecallSpread(
        recall, np.maximum(variance, 0.0), np.full(recall.shape, positive, dtype=np.float64)
    )


class Sup(NamedTuple):
    """The components of a band for one ranking, at every requested n."""

    tp: FloatArray
    spread: RecallSpread
    factor: float  #: bound on all standardized deviations, with the requested probability


def sup_t(
    ranked: BoolArray,
    n: IntArray,
    edge: FloatArray,
    tp: IntArray,
    keys: Keys,
    level: float,
    *,
    added: int,
    **drawing: Any,
) -> Sup:
    """Return a simulated bound on one ranking's largest deviation at any n.

    ``ranked`` contains the labels by rank, ``n`` is in ascending order, and ``tp`` is the number of
    true positives in each list. ``added`` true positives are added at the top and at the bottom.
    """
    total, positive = np.array(ranked.size), np.array(int(ranked.sum()))
    found = spread(tp, n, total, positive, edge, added=added)
    more = np.ones(added, dtype=bool)
    extra = _ADDED[: 2 * added]
    longer = np.concatenate([more, ranked, more])
    keys = np.concatenate([extra[:added], keys, extra[added:]])
    rank = np.arange(1, longer.size + 1)
    cells_here = cells(longer, (rank,), n + added, keys)
    largest_here = largest(
        cells_here,
        (edge,),
        -edge * (n + added) / longer.size,
        found.variance * found.positive,
        of_true=-found.recall,
        **drawing,
    )
    return Sup(tp.astype(float), found, critical_value(largest_here, level))


def exact_band(found: Sup, positive: int) -> Limits:
    """Return Clopper-Pearson limits at the level of the largest deviation."""
    from scipy import special

    within = 1.0 - 2.0 * float(special.ndtr(-found.factor))
    size = found.spread.effective(np.array(positive))
    return clopper_pearson(found.tp / positive * size, size, within)


def emproc_band(found: Sup, n: IntArray, positive: int) -> Limits:
    """Return recall ± factor * se, between 0 and the recall of a perfect ranking."""
    half = found.factor * np.sqrt(found.spread.variance / found.spread.positive)
    center, ideal = found.spread.recall, np.minimum(1.0, n / positive)
    return np.maximum(center - half, 0.0), np.minimum(center + half, ideal)


class KernelLists(NamedTuple):
    """Lists of the candidates with scores above the (n + 1)-th score, and their edges."""

    tp: IntArray
    edge: FloatArray


def kernel_lists(score: FloatArray, ranked: BoolArray, n: IntArray) -> KernelLists:
    """Return true positives, and a kernel estimate of their proportion at the edge.

    ``score`` is in descending order. The Nadaraya-Watson estimate uses a normal kernel with
    bandwidth N^(-1/5) sd over 1,000 ranks on each side. The cost is O(n).
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
