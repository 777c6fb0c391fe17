"""Intervals for n-best lists, simultaneous bands, and mean votes of lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats import ranking
from rankeval_pd.stats._types import (
    Advance,
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    running_sums,
    silent_division,
)
from rankeval_pd.stats.proportions import Limits, clopper_pearson, z_of
from rankeval_pd.stats.ranking import Keys, Whole

# ----------------------- Variance and simultaneous bands for the precision of n-best lists at all n
#
# If the candidates are a sample, the precision at n varies with the labels in the list (Evert 2004,
# section 3.2) and with the threshold, where the proportion of true positives is ``edge``. The
# influence of a candidate with label y on the precision p of a list of n of the N candidates is
#
#     ((y - edge) [it is in the list] - (p - edge) n / N) N / n,
#
# and the variance is (p (1 - p) + (1 - n/N) (p - edge)^2) / n. If each influence is multiplied by a
# standard normal number, the sums vary like the whole curve. The largest standardized sum at any n
# determines how much wider a band must be than an interval.

_BLOCK = 4_000_000  # multipliers in memory at once
_LARGE = 64  # a sum of at least this many signs is nearly normal: its kurtosis is -2/64
_NOWHERE = ranking.mix(np.arange(2**32, 2**32 + 2, dtype=np.uint64))  # cells outside all lists
_NOTHING = 1e-7  # smaller influences are rounding errors
_MOVED = 512  # draws for a rare quantile: its tail probability is known to about 8%
_TRIED = 10  # number of values between which a rare quantile is interpolated
RARE = 10  # expected number of draws beyond a quantile, below which it is rare


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
        """Return the sum of normal draws in each cell; large cells use signs, nearly normal."""
        if at_once:
            drawn = ranking.normals(self.keys[self.where], seed, start, stop)
            return drawn * np.sqrt(self.size)[:, np.newaxis]
        sums = np.zeros((self.size.size, stop - start))
        beyond = np.flatnonzero(~self.listed)
        apart = ranking.normals(_NOWHERE[: beyond.size], seed, start, stop)
        sums[beyond] = apart * np.sqrt(self.size[beyond])[:, np.newaxis]
        large = self.size >= _LARGE
        small = ~large & self.listed
        signs = large & self.listed
        sums[small] += self._summed(ranking.normals, small, seed, start, stop)
        heads = self._summed(ranking.coins, signs, seed, start, stop)
        sums[signs] += 2.0 * heads - self.size[signs, np.newaxis]
        return sums

    def _summed(
        self, draw: Callable[..., Any], chosen: BoolArray, seed: int, start: int, stop: int
    ) -> Any:
        """Return the sum of the candidates' draws in each chosen cell."""
        number = np.cumsum(chosen) - 1
        candidates = np.flatnonzero(chosen[self.of])
        cell = number[self.of[candidates]]
        # keep the candidates of a cell together, and process a few cells at a time
        order = np.argsort(cell, kind="stable")
        candidates, cell = candidates[order], cell[order]
        kind: Any = np.float64
        if draw is ranking.coins:
            kind = np.int32
        sums: Any = np.zeros((np.count_nonzero(chosen), stop - start), dtype=kind)
        width = max(_LARGE, _BLOCK // (stop - start))
        ends = np.flatnonzero(np.diff(cell, append=-1)) + 1
        last = 0
        while last < candidates.size:
            first = last
            last = min(last + width, candidates.size)
            if kind is np.float64:  # cells are kept whole to fix the order of summation
                last = int(ends[np.searchsorted(ends, last, side="right") - 1])
            part = slice(first, last)
            drawn = draw(self.keys[candidates[part]], seed, start, stop).astype(kind, copy=False)
            low = cell[part][0]
            high = cell[part][-1] + 1
            inside = scipy.sparse.csr_array(
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

    The default keys are positions. With ``whole``, unlisted candidates are only counted, by label.
    """
    if keys is None:
        keys = ranking.by_position(gold.size)
    times = np.ones(gold.size, dtype=np.int64)
    if whole is not None:  # one candidate per label stands for all unlisted ones
        listed = np.min(ranks, axis=0) <= n[-1]
        gold, keys = gold[listed], keys[listed]
        positive = whole.positive - int(gold.sum())
        rest = np.array([whole.total - whole.positive - int((~gold).sum()), positive])
        there = np.flatnonzero(rest)
        behind = np.full(there.size, n[-1] + 1)
        times = np.concatenate([times[listed], rest[there]])
        gold = np.concatenate([gold, there == 1])
        ranks = tuple(np.concatenate([rank[listed], behind]) for rank in ranks)
        keys = np.concatenate([keys, _NOWHERE[: there.size]])
    first = [np.searchsorted(n, rank) for rank in ranks]
    key = gold.astype(np.int64)
    for position in first:
        key = key * (n.size + 1) + position
    _, where, of = np.unique(key, return_index=True, return_inverse=True)
    size = np.bincount(of, weights=times, minlength=where.size)
    true = gold[where]
    return Cells(
        np.asarray(size, dtype=float),
        np.where(true, size, 0.0),
        tuple(position[where] for position in first),
        np.min([position[where] for position in first], axis=0) < n.size,
        of,
        where,
        keys,
    )


class Sums(NamedTuple):
    """The sums of multipliers times influences over the root of ``influence``, Z, at every n.

    With two rankings, the influences are differences. ``center`` is subtracted from all influences,
    ``of_true`` added for true positives.
    """

    cells: Cells
    edges: tuple[FloatArray, ...]
    center: FloatArray
    influence: FloatArray
    of_true: FloatArray | None = None

    @property
    def varies(self) -> IntArray:
        """Return the places of the n at which the sum varies."""
        return np.flatnonzero(np.sqrt(np.maximum(self.influence, 0.0)) > _NOTHING)

    def standardized(self, drawn: FloatArray) -> FloatArray:
        """Return Z, where it varies, for the sum of the multipliers in each cell: (n, draw)."""
        true = self.cells.tp > 0
        z = -np.outer(self.center, drawn.sum(axis=0))
        if self.of_true is not None:
            z += np.outer(self.of_true, drawn[true].sum(axis=0))
        every = np.ones_like(true)
        for sign, first, edge in zip((1.0, -1.0), self.cells.first, self.edges, strict=False):
            # the true-positive cells, and all cells, that enter the list at each n
            for chosen, weight in ((true, np.full(edge.size, sign)), (every, -sign * edge)):
                listed = running_sums(_entering(first, chosen, edge.size) @ drawn)
                listed *= weight[:, np.newaxis]
                z += listed
        varies = self.varies
        return np.asarray(z[varies] / np.sqrt(self.influence[varies, np.newaxis]), dtype=float)

    def of_cells(self, places: IntArray) -> FloatArray:
        """Return the sum of influences in each cell on Z of these n: (cell, place)."""
        true = self.cells.tp[:, np.newaxis] > 0
        result = np.zeros((true.size, places.size)) - self.center[places]
        if self.of_true is not None:
            result += true * self.of_true[places]
        for sign, first, edge in zip((1.0, -1.0), self.cells.first, self.edges, strict=False):
            listed = first[:, np.newaxis] <= places
            np.add(result, sign * (true - edge[places]), out=result, where=listed)
        result *= self.cells.size[:, np.newaxis] / np.sqrt(self.influence[places])
        return result

    def blocks(self, n_resamples: int) -> Iterator[tuple[int, int]]:
        """Yield the first and the last resample of blocks that fit into memory."""
        width = max(2, _BLOCK // max(1, self.cells.size.size, self.center.size))
        width -= width % ranking.WORD if width > ranking.WORD else width % 2
        for start in range(0, n_resamples, width):
            yield start, min(start + width, n_resamples)


def largest(
    sums: Sums,
    *,
    n_resamples: int,
    seed: int,
    advance: Advance = lambda _: None,
    at_once: bool = False,
) -> FloatArray:
    """Return the largest |Z| over all n for each draw of multipliers.

    ``at_once`` draws the sum of the multipliers in each cell directly.
    """
    result = np.empty(n_resamples)
    for start, stop in sums.blocks(n_resamples):
        drawn = sums.cells.multipliers(seed, start, stop, at_once=at_once)
        result[start:stop] = np.abs(sums.standardized(drawn)).max(axis=0, initial=0.0)
        advance(stop - start)
    return result


def rare_values(sums: Sums, levels: Sequence[float], seed: int) -> FloatArray:
    """Return quantiles of the largest |Z| over all n that few plain draws would exceed.

    In each draw, Z of one of the m lists is moved beyond ±c, and the other lists follow it. Then
    the largest exceeds c with the probability 2 m P(Z > c) times the mean of 1 / (number of lists
    beyond ±c) (Adler, Blanchet and Liu 2012).
    """
    places = sums.varies
    moved = places.size * np.arange(_MOVED) // _MOVED  # the list of each draw
    # between the quantiles of a single list and of Bonferroni's inequality
    tried = np.linspace(
        z_of(min(levels)), z_of(1.0 - (1.0 - max(levels)) / max(places.size, 1)), _TRIED
    )
    if not places.size:
        return np.array([z_of(level) for level in levels])
    shares = np.zeros(_TRIED)
    for start, stop in sums.blocks(_MOVED):
        z = sums.standardized(sums.cells.multipliers(seed, start, stop))  # (n, draw)
        here = moved[start:stop]
        own = z[here, np.arange(stop - start)]
        along = sums.standardized(sums.of_cells(places[here]))  # its correlation with every list
        rest = z - along * own
        for number, c in enumerate(tried):
            tail = 2.0 * scipy.special.ndtr(-np.abs(own)) * scipy.special.ndtr(-c)
            beyond = along * np.copysign(scipy.special.ndtri(tail), own)
            beyond += rest
            np.abs(beyond, out=beyond)
            count = (beyond >= c * (1.0 - _NOTHING)).sum(axis=0)
            shares[number] += (1.0 / np.maximum(count, 1)).sum() / _MOVED
    tail = 2.0 * places.size * scipy.special.ndtr(-tried) * shares
    # the logarithm of the tail probability is nearly a straight line in the squares
    falling = np.log(np.minimum.accumulate(tail)[::-1])
    squares = np.interp(np.log1p(-np.array(levels)), falling, tried[::-1] ** 2)
    return np.asarray(np.sqrt(squares), dtype=float)


def _entering(first: IntArray, chosen: BoolArray, n_lists: int) -> Any:
    """Return which of the chosen cells enter the list at each n: (n, cell)."""
    cells = np.flatnonzero(chosen & (first < n_lists))
    shape = (n_lists, first.size)
    return scipy.sparse.csr_array((np.ones(cells.size), (first[cells], cells)), shape=shape)


def draws_needed(level: float) -> int:
    """Return the number of draws needed to expect one draw above the quantile."""
    return math.ceil(level / (1.0 - level) * (1.0 - 1e-12))


def critical_value(largest_of_draw: FloatArray, level: float) -> float:
    """Return the ``level`` quantile of the draws, with the data counted as one draw.

    The result is at least the normal quantile, because draws say nothing about equal labels.
    """
    ordered = np.sort(largest_of_draw)
    rank = math.ceil((ordered.size + 1) * level * (1.0 - 1e-12))
    alone = z_of(level)
    return max(float(ordered[min(rank, ordered.size) - 1]), alone)


# -------------------------- Variance, interval and simultaneous band for the recall of n-best lists
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

_ADDED = ranking.mix(np.arange(2**33, 2**33 + 4, dtype=np.uint64))  # keys no candidate uses
# chosen for the coverage of few true positives in tests/simulations/recall.csv
_LEAST = 0.5  # minimum variance, as a fraction of a fixed region's variance
_PLUS = 2  # number of true positives added at each end


class RecallSpread(NamedTuple):
    """The variance of the recall of n-best lists; the last axis is n."""

    recall: FloatArray  #: recall, including the added true positives
    variance: FloatArray  #: N+ times the variance of the recall
    positive: FloatArray  #: N+, including the added true positives

    def effective(self, positive: Any) -> FloatArray:
        """Return the number of true positives, at most 2 N+, with the same variance of recall.

        In short lists, recall varies far less than in a region, but less than half of the region's
        variance makes the coverage too low.
        """
        with silent_division():
            ratio = self.variance / (self.recall * (1.0 - self.recall))
        return np.asarray(positive / np.fmax(ratio, _LEAST), dtype=float)


def spread(
    tp: AnyArray,
    n: AnyArray,
    total: Any,
    positive: Any,
    edge: FloatArray,
    *,
    added: int = _PLUS,
) -> RecallSpread:
    """Return the variance of recall, kept above 0 by ``added`` positives at each end."""
    n = n + added
    total = total + 2 * added
    positive = positive + 2 * added
    with silent_division():
        recall = np.asarray((tp + added) / positive, dtype=float)
        region = recall * (1.0 - recall) * (1.0 - 2.0 * edge)
        variance = region + edge**2 * (1.0 - n / total) * n / positive
    return RecallSpread(
        recall, np.maximum(variance, 0.0), np.full(recall.shape, positive, dtype=float)
    )


def allow_for_positives(
    high: FloatArray,
    value: FloatArray,
    held: FloatArray,
    size: Sequence[AnyArray],
    interval: Callable[..., Limits],
    *,
    inverse: bool = False,
) -> FloatArray:
    """Return upper limits for a value that is proportional to N+ where ``held`` is nearly 1.

    It is the precision of a list with nearly all true positives, or ``inverse``ly the recall of a
    list with nearly only true positives. The proportion of true positives around the end says
    nothing there about samples with another N+. ``interval`` holds the limits for N+ / N.
    """
    rows = (held >= ranking.NEARLY).any(axis=-1)  # few of many groups
    if not rows.any():
        return high
    total, positive = (x[rows] for x in size)
    rarest, most = interval(positive, total)
    factor = most * total / positive
    if inverse:
        factor = positive / (rarest * total)
    other = np.minimum(value[rows] * factor, 1.0)
    result = high.copy()
    result[rows] = np.where(held[rows] >= ranking.NEARLY, np.fmax(high[rows], other), high[rows])
    return result


def recall_limits(
    tp: AnyArray,
    n: AnyArray,
    size: Sequence[Any],
    counted: FloatArray,
    interval: Callable[..., Limits],
) -> Limits:
    """Return limits for the recall of lists from an effective number of true positives.

    ``size`` are N and N+, of which the limits of the prevalence are computed.
    """
    recall = tp / size[1]
    whole = [np.array([x]) for x in size]
    low, high = interval(recall * counted, counted)
    return low, allow_for_positives(high, recall, tp / n, whole, interval, inverse=True)


def recall_band(ranked: BoolArray, n: IntArray, keys: Keys, level: float, **drawing: Any) -> Limits:
    """Return a band for recall at ascending n, from labels by rank and simulated deviations."""
    counts = np.append(0, np.cumsum(ranked))
    more = np.ones(_PLUS, dtype=bool)
    size = np.array(ranked.size), counts[-1]
    edge = ranking.edge_precision(counts, n, size[0])
    found = spread(counts[n], n, *size, edge)
    longer = np.concatenate([more, ranked, more])
    keys = np.concatenate([_ADDED[:_PLUS], keys, _ADDED[_PLUS:]])
    sums = Sums(
        cells(longer, (np.arange(1, longer.size + 1),), n + _PLUS, keys),
        (edge,),
        -edge * (n + _PLUS) / longer.size,
        found.variance * found.positive,
        of_true=-found.recall,
    )
    drawn = largest(sums, **drawing)
    within = 1.0 - 2.0 * float(scipy.special.ndtr(-critical_value(drawn, level)))
    exact = partial(clopper_pearson, level=within)
    return recall_limits(counts[n], n, size, found.effective(size[1]), exact)


# ------------ Intervals and simultaneous bands for ROC, DET, precision-recall, gain and lift curves
#
# If the candidates are a sample, a curve varies with the candidates in the lists and with the ends
# of the lists. Let y be the label of a candidate, w = 1 if it is in the list of size n (or the
# listed fraction of its block of ties), and ``edge`` the proportion of true positives around the
# end. The influence of a candidate is 1 / N+ times
#
#     y (a + b w) + (1 - y) (d + c w),
#
# where t = tp / N+, u = fp / (N - N+), s = n / N, r = edge / (1 - edge), and
#
#     t at fixed u         a = -t                  b = 1                 c = -r       d = r u
#     t at fixed s         a = edge s - t          b = 1 - edge          c = -edge    d = edge s
#
# (Hsieh and Turnbull 1996; Ash and Hughes-Oliver 2022). The limits are Clopper-Pearson limits for
# the number of candidates that gives this variance.
#
# Precision at t deviates where the ROC curve does, but its limits need no r, which is unknown where
# true positives are rare: the false positives above the threshold of recall t lie between those at
# two order statistics of the true positives. These limits are combined on the log scale with the
# limits of a count (Zou and Donner 2008).

# chosen for the coverage of bands and of single limits in tests/simulations/curve_bands.csv
LEAST = 30  #: minimum number of candidates in each class for a simultaneous band
ENDS = 5  #: minimum number of candidates of a class inside and outside the lists in a band
DRAWS = 1000  # the standard error of a level of 0.95 is 0.007
_POINTS = 200  # number of lists searched for the largest deviation
_BETWEEN = 0.5826  # -zeta(1/2) / sqrt(2 pi): how far a path rises between points (Siegmund 1979)
_AT_ENDS = 2.0  # candidates of each class added at both ends, so that no variance is 0 by chance
_RATIO = 0.5  # minimum variance, in units of the binomial variance


class CurveLists(NamedTuple):
    """The lists of one ranking, shortest first, and the sizes of both classes."""

    n: AnyArray
    tp: AnyArray
    edge: FloatArray  #: proportion of true positives around the end
    above: AnyArray  #: candidates above the block of tied scores at the end of the list, or n
    tp_above: AnyArray
    size: FloatArray  #: candidates in this block, at least 1
    tp_block: FloatArray
    total: int
    positive: int

    def chosen(self, which: AnyArray) -> CurveLists:
        """Return the selected lists."""
        return CurveLists._make([*(x[which] for x in self[:7]), *self[7:]])


def _influence(space: str, x: CurveLists) -> tuple[FloatArray, ...]:
    """Return a, b, c and d for N+ times the height of the curve, with ``_AT_ENDS``."""
    positive = x.positive + 2.0 * _AT_ENDS
    negative = x.total - x.positive + 2.0 * _AT_ENDS
    tp = x.tp + _AT_ENDS
    fp = x.n - x.tp + _AT_ENDS
    if space in ("gain", "lift"):
        d = x.edge * (tp + fp) / (positive + negative)
        return (d - tp / positive, 1.0 - x.edge, -x.edge, d)
    width = np.maximum(40.0, x.n**0.8)  # window of :func:`bands.edge_precision`
    error = np.sqrt(x.edge * (1.0 - x.edge) / width)  # widens limits
    edge = np.clip(x.edge + error, 0.1 / width, 1.0 - 0.1 / width)
    odds = edge / (1.0 - edge)
    return (-tp / positive, np.ones_like(tp), -odds, odds * fp / negative)


def _effective(space: str, x: CurveLists) -> FloatArray:
    """Return the effective number of candidates for the variance of the curve height."""
    if space in ("gain", "lift"):
        return spread(x.tp, x.n, x.total, x.positive, x.edge).effective(x.positive)
    a, b, c, d = _influence(space, x)
    inside = (x.n - x.above) / x.size
    positive = x.positive + 2.0 * _AT_ENDS
    negative = x.total - x.positive + 2.0 * _AT_ENDS
    tp = x.tp_above + _AT_ENDS
    fp = x.above - x.tp_above + _AT_ENDS
    fp_block = x.size * (inside > 0) - x.tp_block
    variance = (
        (a + b) ** 2 * tp
        + (a + b * inside) ** 2 * x.tp_block
        + a**2 * (positive - tp - x.tp_block)
        + (c + d) ** 2 * fp
        + (d + c * inside) ** 2 * fp_block
        + d**2 * (negative - fp - fp_block)
    )
    listed = x.tp + _AT_ENDS
    ratio = variance * positive / (listed * (positive - listed))
    return x.positive / np.maximum(ratio, _RATIO)


def curve_limits(space: str, x: CurveLists, level: float, every: CurveLists) -> Limits:
    """Return pointwise limits for a curve's height at each list size, or recall for det and lift.

    "roc" and "det" are at a fixed false positive rate, "gain" and "lift" at a fixed fraction of the
    candidates, and "precision_recall" at fixed recall. ``every`` has all lists of the ranking.
    """
    if space == "precision_recall":
        return _precision_limits(x, level, every)
    size = _effective(space, x)
    if space in ("roc", "det"):
        return _outermost(x.n - x.tp, *clopper_pearson(x.tp / x.positive * size, size, level))
    exact = partial(clopper_pearson, level=level)
    return recall_limits(x.tp, x.n, (x.total, x.positive), size, exact)


def _precision_limits(x: CurveLists, level: float, every: CurveLists) -> Limits:
    """Return limits for precision at the recall of each list; 0 and 1 at a recall of 0."""
    z = z_of(level)
    true = x.positive + 1.0
    negative = x.total - x.positive
    # the false positives above each true positive, and at both ends
    place, first = np.unique(every.tp, return_index=True)
    above = np.append((every.n - every.tp)[first] - (place == 0), negative)
    place = np.append(place, true)
    sign = np.array([[1.0], [-1.0]])
    angle = np.arcsin(np.sqrt((x.tp + 0.5) / true)) + sign * 0.5 * z / np.sqrt(true)
    fp = np.interp(true * np.sin(np.clip(angle, 0.0, 0.5 * np.pi)) ** 2, place, above)
    # with half a false positive, all logarithms are finite
    center = np.log(np.interp(x.tp + 0.5, place, above) + 0.5)
    end = np.log(fp + 0.5)
    events = np.maximum(fp + (sign > 0.0), 1e-300)  # the lower limit of a count of 0 is 0
    with silent_division():
        count = np.log(scipy.special.gammaincinv(events, scipy.special.ndtr(sign * z)))
        prior = z**2 / x.positive + z**2 / negative
        apart = np.sqrt((end - center) ** 2 + (count - end) ** 2 + prior)
        low, high = x.tp / (x.tp + np.exp(center + sign * apart))
    return low, np.where(x.tp > 0.0, high, 1.0)


def _outermost(across: FloatArray, low: FloatArray, high: FloatArray) -> Limits:
    """Return the outermost limits of the lists at the same position on the x axis."""
    first = np.flatnonzero(np.diff(across, prepend=-1.0) > 0.0)
    times = np.diff(np.append(first, across.size))
    low = np.minimum.reduceat(low, first)
    high = np.maximum.reduceat(high, first)
    return np.repeat(low, times), np.repeat(high, times)


def covered(space: str, x: CurveLists) -> AnyArray:
    """Return whether each list is part of a simultaneous band."""
    negative = x.total - x.positive
    fp = x.n - x.tp
    inside = (x.tp >= ENDS) & (x.tp <= x.positive - ENDS)
    if space in ("roc", "det"):
        inside &= (fp >= ENDS) & (fp <= negative - ENDS)
    return inside & (min(x.positive, negative) >= LEAST)


def band_level(space: str, x: CurveLists, level: float, seed: int) -> float:
    """Return the level of pointwise intervals that are simultaneous over the lists (sup-t).

    If each influence is multiplied by a standard normal number, the sums vary like the whole curve.
    """
    every = x.n.size
    if every > _POINTS:  # evenly spaced lists on the logit scales of both classes
        middle = 0.5 * (x.tp / x.positive + (x.n - x.tp) / (x.total - x.positive))
        middle = np.clip(middle, 1e-9, 1.0 - 1e-9)
        place = np.log(middle / (1.0 - middle))
        kept = np.unique(np.searchsorted(place, np.linspace(place[0], place[-1], _POINTS)))
        x = x.chosen(kept[kept < every])
    a, b, c, d = (v[:, np.newaxis] for v in _influence(space, x))
    inside = ((x.n - x.above) / x.size)[:, np.newaxis]
    end = x.above + np.where(inside[:, 0] > 0, x.size, 0.0)
    edges, back = np.unique(np.concatenate([x.above, end]), return_inverse=True)
    tp = np.zeros(edges.size)
    tp[back] = np.concatenate([x.tp_above, x.tp_above + x.tp_block * (inside[:, 0] > 0)])
    counts = [
        np.diff(y, prepend=-_AT_ENDS, append=last + _AT_ENDS)
        for y, last in ((tp, x.positive), (edges - tp, x.total - x.positive))
    ]
    drawn = np.random.default_rng(seed).standard_normal((2, edges.size + 1, DRAWS))
    first = back[: x.n.size]
    last = back[x.n.size :]
    z = np.zeros((x.n.size, DRAWS))
    for size, normal, (whole, listed) in zip(counts, drawn, ((a, b), (d, c)), strict=True):
        sums = np.cumsum(np.sqrt(np.maximum(size, 0.0))[:, np.newaxis] * normal, axis=0)
        within = sums[first] + inside * (sums[last] - sums[first])
        z += whole * sums[-1] + listed * within
    scale = np.sqrt(np.mean(z**2, axis=1))[:, np.newaxis]
    z /= np.where(scale > 0.0, scale, np.inf)
    factor = critical_value(np.abs(z).max(axis=0, initial=0.0), level)
    if x.n.size < every:  # Siegmund's correction for the lists between two points
        factor += _BETWEEN * float(np.sqrt(np.mean(np.diff(z, axis=0) ** 2)))
    return 1.0 - 2.0 * float(scipy.special.ndtr(-factor))
