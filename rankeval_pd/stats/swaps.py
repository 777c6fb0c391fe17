"""Random swaps of ranks: the null distribution for a difference between two rankings.

If neither measure is better, the two ranks of a candidate are assigned to the measures at random.
Each draw produces two rankings, sorted by the swapped ranks and then by the key.

Each rank has two slots, one for a and one for b, and each draw assigns every slot to the first or
the second ranking; n-best lists end near slot 2n. Two algorithms give the same counts:

* **windows** (:class:`_Window`), for few list sizes, visit only the slots near the lists' ends;
* **walks** (:class:`ranking.Walk`) are used if the windows together are longer than all the slots.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats import ranking
from rankeval_pd.stats._types import (
    Advance,
    BoolArray,
    FloatArray,
    IntArray,
    running_sums,
    silent_division,
    slices,
)
from rankeval_pd.stats.proportions import clopper_pearson
from rankeval_pd.stats.ranking import (
    Bits,
    Keys,
    Regions,
    Slots,
    Walk,
    by_position,
    nbest_regions,
)

_BLOCK = 250_000  # number of slots times draws that fits in the cache
_EQUAL = 1e-12  # largest relative difference between equal statistics
FIRST = 999  # number of swaps before the first check whether more are needed
_FAR = 6.0  # standard deviations on each side of a window, exceeded once in 1e9 draws


def least_swaps(n_tests: int, alpha: float) -> int:
    """Return the smallest number of swaps that lets an adjusted p-value reach alpha."""
    return math.ceil(max(n_tests, 1) / alpha * (1.0 - 1e-12)) - 1


def enough_swaps(n_tests: int, alpha: float) -> int:
    """Return the least number for 10 times the tests (at most 500, or twice), but at least 999."""
    tests = max(n_tests, 1)
    return max(FIRST, least_swaps(min(10 * tests, max(500, 2 * tests)), alpha))


@dataclass(eq=False)
class Swaps:
    """Random swaps of the ranks of two rankings, from number ``start`` to ``n_resamples``.

    Candidates are in key order, and candidates with equal ``keys`` share their swaps.
    """

    rank_a: IntArray
    rank_b: IntArray
    gold: BoolArray
    keys: Keys | None = None  #: by default, the positions of the candidates
    n_resamples: int = field(kw_only=True)
    start: int = field(kw_only=True, default=0)
    seed: int = field(kw_only=True)
    advance: Advance = field(kw_only=True, default=lambda _: None)

    def __post_init__(self) -> None:
        """Find the slots, and the key of each candidate's draws."""
        self.slots = Slots.of(self.rank_a, self.rank_b)
        self.draws_of = self.keys if self.keys is not None else by_position(self.rank_a.size)

    def counts(self, n: IntArray) -> Iterator[Regions]:
        """Yield blocks of counts for both lists after random swaps, (draw, n)."""
        n = np.minimum(n, self.rank_a.size)
        only = n - nbest_regions(self.rank_a, self.rank_b, self.gold, n).overlap
        # lists of size n end near slot 2n, within about sqrt(number of unshared candidates)
        half = np.ceil(_FAR * np.sqrt(only / 2.0)).astype(np.int64) + 2
        stops = np.minimum(2 * (n + half), self.slots.candidate.size)
        inside = int((stops - 2 * np.maximum(n - half, 0)).sum())
        # many windows overlap and contain more slots in total than precede the last end
        if inside > stops.max(initial=0):
            yield from self._at_many_n(n)
            return
        windows = [
            _Window(int(x), int(y), self.slots, self.gold) for x, y in zip(n, half, strict=True)
        ]
        for start, stop in self._blocks(inside):
            sums = self._sums_ahead(windows, start, stop)
            counts = np.empty((4, stop - start, n.size), dtype=np.int64)
            for column, window in enumerate(windows):
                ahead, result = sums[column], None
                while result is None:
                    keys = self.draws_of[window.candidate]
                    result = window.counts(ranking.coins(keys, self.seed, start, stop), *ahead)
                    if result is None:  # a list ends outside the slots (once in a billion draws)
                        window = _Window(window.n, 4 * window.half, self.slots, self.gold)
                        [ahead] = self._sums_ahead([window], start, stop)
                counts[:, :, column] = result
            yield Regions(*counts)
            self.advance(stop - start)

    def _at_many_n(self, n: IntArray) -> Iterator[Regions]:
        """Yield the counts, computed from all slots that a list can reach."""
        walk = Walk.of(self.slots, self.gold, self.draws_of, n, self._beyond(int(n.max())))
        for start, stop in self._blocks(walk.reach):
            while (counts := walk.counts(self.seed, start, stop)) is None:
                # a list ends outside the slots (once in a billion draws)
                walk = Walk.of(self.slots, self.gold, self.draws_of, n, 4 * walk.half)
            yield Regions(*counts)
            self.advance(stop - start)

    def _sums_ahead(self, windows: list[_Window], start: int, stop: int) -> IntArray:
        """Count the first ranking's slots, and its true positives, before each window.

        A candidate with both slots there counts once, with one if that is in the first ranking:
        (window, all and true, draw).
        """
        slots, gold = self.slots, self.gold
        # (candidate): the bit moves the slot before a window to or from the first ranking, ±1
        early = np.minimum(slots.a, slots.b)
        late = np.maximum(slots.a, slots.b)
        signs = np.where(slots.a < slots.b, -1, 1).astype(np.int32)  # in the first unless swapped
        sums = np.empty((2 * len(windows), stop - start), dtype=np.int64)
        rows, columns = [], []
        for number, window in enumerate(windows):
            once = np.flatnonzero((early < window.start) & (late >= window.start))
            for row, result in ((2 * number, once), (2 * number + 1, once[gold[once]])):
                rows.append(np.full(result.size, row))
                columns.append(result)
                sums[row] = (signs[result] < 0).sum()
            sums[2 * number : 2 * number + 2] += np.array([[window.both], [window.both_true]])
        at = np.concatenate(rows)
        column = np.concatenate(columns)
        needed = np.unique(column)
        # sparse (window and kind, candidate) times (candidate, draw), some candidates at a time
        matrix = scipy.sparse.csc_array(
            (signs[column], (at, np.searchsorted(needed, column))),
            shape=(2 * len(windows), needed.size),
        )
        for part in slices(needed.size, stop - start, _BLOCK):
            drawn = ranking.coins(self.draws_of[needed[part]], self.seed, start, stop)
            sums += np.asarray(matrix[:, part] @ drawn.astype(np.int32), dtype=np.int64)
        return sums.reshape(len(windows), 2, -1)

    def _beyond(self, most: int) -> int:
        """Return the initial number of slots to use beyond the end of a list of size ``most``."""
        only = most - int((np.maximum(self.rank_a, self.rank_b) <= most).sum())
        return int(_FAR * np.sqrt(only / 2.0)) + 2

    def _blocks(self, size: int) -> Iterator[tuple[int, int]]:
        """Yield the first and the last resample of each block of this many slots per draw."""
        width = ranking.WORD * max(1, _BLOCK // (ranking.WORD * max(1, size)))
        first = self.start - self.start % ranking.WORD
        for start in range(first, self.n_resamples, width):
            yield max(start, self.start), min(start + width, self.n_resamples)


class _Window:
    """The slots around the ends of the lists of size n, and the counts before those slots."""

    def __init__(self, n: int, half: int, slots: Slots, gold: BoolArray) -> None:
        """Find the slots of ``half`` ranks before and after n."""
        size = slots.candidate.size
        self.n, self.half = n, half
        self.start, self.stop = 2 * max(n - half, 0), min(2 * (n + half), size)
        self.whole = self.stop == size  #: whether the window includes the last slot
        here = np.arange(self.start, self.stop)
        self.candidate = slots.candidate[here]  #: (slot)
        self.from_a: Bits = slots.from_a[here].view(np.uint8)
        self.true = gold[self.candidate]
        # other slot of each slot's candidate: the two slots add up to a + b
        mate = slots.a[self.candidate] + slots.b[self.candidate] - here
        self.before = mate < self.start  #: whether the candidate's other slot is before the window
        #: slots of candidates with an earlier slot in the window, and the earlier slots
        self.later = np.flatnonzero(~self.before & (mate < here))
        self.earlier = mate[self.later] - self.start
        # candidates with both slots before the window are always in both lists
        ahead = slots.candidate[: self.start]
        both = ahead[np.maximum(slots.a[ahead], slots.b[ahead]) < self.start]  # each one twice
        self.both, self.both_true = both.size // 2, int(gold[both].sum()) // 2
        self.all_true = int(gold[ahead].sum())  #: number of true-positive slots before the window

    def counts(
        self, swap: Bits, ahead: IntArray, ahead_true: IntArray
    ) -> tuple[IntArray, ...] | None:
        """Count the overlap and the true positives; None if the window is too narrow.

        ``swap`` are bits (slot, draw); ``ahead`` are the first ranking's slots before the window.
        """
        first = (swap ^ self.from_a[:, np.newaxis]).view(bool)  # (slot, draw)
        # (draw): places left for this window in each of the two lists
        left, left_second = self.n - ahead, self.n - (self.start - ahead)
        # (slot, draw): slots of the window in the first ranking so far; the others in the second
        kind: Any = np.int32
        if len(first) <= np.iinfo(np.int16).max:
            kind = np.int16
        up_to = running_sums(first.astype(kind))
        place = np.arange(1, len(first) + 1, dtype=kind)[:, np.newaxis]
        end = up_to[-1]
        narrow = min(left.min(), left_second.min()) < 0
        if narrow or not (self.whole or ((end >= left) & (len(first) - end >= left_second)).all()):
            return None
        in_first = first & (up_to <= np.minimum(left, len(first)).astype(kind))
        in_second = ~first & (place - up_to <= np.minimum(left_second, len(first)).astype(kind))
        # a candidate is in both lists if both of its slots are in lists
        listed = in_first | in_second
        pairs = listed[self.later] & listed[self.earlier]
        return (
            self.both + _sum(listed[self.before]) + _sum(pairs),
            self.both_true
            + _sum(listed[self.before & self.true])
            + _sum(pairs[self.true[self.later]]),
            ahead_true + _sum(in_first[self.true]),
            self.all_true - ahead_true + _sum(in_second[self.true]),
        )


def _sum(rows: BoolArray) -> IntArray:
    """Return the number of set slots in each draw."""
    kind: Any = np.int32
    if len(rows) <= np.iinfo(np.uint8).max:
        kind = np.uint8
    return np.asarray(np.add.reduce(rows.view(np.uint8), axis=0, dtype=kind), dtype=np.int64)


def region_statistic(counts: Regions, n: IntArray) -> FloatArray:
    """Return the standardized difference between the true positives in the two regions.

    With K among the 2 d candidates: (T_a - T_b) / sqrt(K (1 - K / 2d)), with a root of at least 1.
    """
    only = np.maximum(n.astype(counts.overlap.dtype) - counts.overlap, 1)
    positive = counts.tp_a + counts.tp_b - 2 * counts.tp_overlap
    variance = positive / (-2.0 * only)
    variance += 1.0
    variance *= positive
    np.maximum(variance, 1.0, out=variance)
    np.sqrt(variance, out=variance)
    return np.asarray((counts.tp_a - counts.tp_b) / variance, dtype=float)


def sided(statistic: FloatArray, alternative: str) -> FloatArray:
    """Return the statistic, oriented so that larger values favor the alternative."""
    if alternative == "two-sided":
        return np.abs(statistic)
    if alternative == "less":
        return -statistic
    return statistic


def exceedance(observed: FloatArray, drawn: FloatArray) -> FloatArray:
    """Return (1 + draws at least as large) / (draws + 1) for each observed value."""
    ordered = np.sort(drawn)
    limit = observed - _EQUAL * np.maximum(np.abs(observed), 1.0)
    as_large = drawn.size - np.searchsorted(ordered, limit)
    return np.asarray((1 + as_large) / (drawn.size + 1), dtype=float)


def monte_carlo_error(
    p_single: FloatArray, p_adjusted: FloatArray, drawn: FloatArray, *, alpha: float
) -> tuple[FloatArray, BoolArray]:
    """Return the Monte Carlo error of adjusted p-values, and whether tests are undecided.

    Adjusted p-values are multiples of ``p_single`` = (1 + hits) / (drawn + 1); a test is undecided
    if the 95% Clopper-Pearson interval contains alpha.
    """
    with silent_division():
        factor = p_adjusted / p_single
        error = factor * np.sqrt(p_single * (1.0 - p_single) / drawn)
    known = ~np.isnan(p_single)
    hits = np.where(known, np.round(p_single * (drawn + 1.0)) - 1.0, 0.0)
    low, high = clopper_pearson(hits, np.where(known, drawn, 1.0), 0.95)
    undecided = known & (factor * low < alpha) & (alpha < factor * high)
    return error, undecided


class SwapTests(NamedTuple):
    """The p-values of swap tests for two rankings at each n."""

    alone: FloatArray  #: pointwise p-value, from the statistic at this n
    together: FloatArray  #: simultaneous p-value, from the largest statistic over all n
    drawn: int  #: number of swaps
    ends: tuple[FloatArray, FloatArray]  #: both p-values for ``ends``: (end, n)


def swap_tests(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    n: IntArray,
    alternative: str,
    keys: Keys | None = None,
    *,
    ends: FloatArray | None = None,
    n_resamples: int,
    most: int = 0,
    tests: Sequence[float] = (),
    alpha: float = 1.0,
    each: bool = False,
    seed: int,
    advance: Advance = lambda _: None,
) -> SwapTests:
    """Return the fraction of swaps that reach the observed statistic, at each n and over all n.

    Both come from the same draws, so the second is never below; ``ends`` are further statistics.
    The draws continue (times 4, to ``most``) while a p-value, multiplied by one of ``tests``, is
    too near alpha to decide; with ``each``, the p-value at any n.
    """
    statistics = [region_statistic(nbest_regions(rank_a, rank_b, gold, n), n)]
    if ends is not None:
        statistics += [*ends]
    looked = sided(np.stack(statistics), alternative)
    limit = looked - _EQUAL * np.maximum(np.abs(looked), 1.0)
    hits = np.zeros(looked.shape, dtype=np.int64)
    largest: list[FloatArray] = []
    start = 0
    while True:
        swaps = Swaps(
            rank_a,
            rank_b,
            gold,
            keys,
            start=start,
            n_resamples=n_resamples,
            seed=seed,
            advance=advance,
        )
        for counts in swaps.counts(n):
            values = sided(region_statistic(counts, n), alternative)
            hits += [(values >= least).sum(axis=0) for least in limit]
            largest.append(values.max(axis=-1))
        alone = (1 + hits) / (n_resamples + 1)
        together = exceedance(looked, np.concatenate(largest))
        p = together[0]
        if each:
            p = alone[0]
        if n_resamples >= most or not _undecided(p, n_resamples, tests, alpha):
            advance(max(most - n_resamples, 0))
            return SwapTests(alone[0], together[0], n_resamples, (alone[1:], together[1:]))
        start, n_resamples = n_resamples, min(4 * n_resamples, most)


def _undecided(p: FloatArray, drawn: int, tests: Sequence[float], alpha: float) -> bool:
    """Return whether any p-value, multiplied by any of ``tests``, is too near alpha to decide."""
    draws = np.full(p.shape, float(drawn))
    adjusted = (np.minimum(times * p, 1.0) for times in tests)
    return any(monte_carlo_error(p, x, draws, alpha=alpha)[1].any() for x in adjusted)
