"""Swap two rankings' labels per candidate: the distribution of their difference by chance alone.

If neither measure is better, chance assigns a candidate's two ranks to the measures. Every swap
gives two rankings, sorted by the swapped ranks and then by the key.

There are two slots for each rank, that of a and that of b, and a slot goes to the first ranking or
to the second. An n-best list ends near slot 2n in every swap. There are three algorithms, which
draw the same swaps and give the same counts:

* **windows** (:class:`_Window`), for few n: only the slots around the ends of the lists are walked
  through, and what is before them is a sum over candidates;
* **ranks** (:func:`_rank_blocks`), where the windows together are longer than all slots;
* **walks** (:class:`swap_draws.Walk`), where a block of draws does not fit the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import clopper_pearson
from rankeval_pd.stats.rankings import swap_draws
from rankeval_pd.stats.rankings.ranking import Regions, nbest_regions
from rankeval_pd.stats.rankings.swap_draws import Bits, Keys, Slots, TrueSlots, Walk

Advance = Callable[[int], object]
_BLOCK = 1_000_000  # slots times draws in memory together, few enough for the cache
_STRETCH = 2_000  # slots summed at a time, to stay in the processor's cache
_EQUAL = 1e-12  # relative difference up to which two statistics are the same
_LONG = 100_000  # slots from which on the draws of a word no longer fit the cache together
_FAR = 6.0  # standard deviations to either side of a window: outside once in 1e9 draws


def least_swaps(n_tests: int, alpha: float) -> int:
    """Return the smallest number of swaps with which an adjusted p-value can reach alpha."""
    return math.ceil(max(n_tests, 1) / alpha * (1.0 - 1e-12)) - 1


def enough_swaps(n_tests: int, alpha: float) -> int:
    """Return the default number of swaps: ten times the least, and at least 999.

    For more than fifty tests it is at most the least number for five hundred tests, or twice their
    own.
    """
    tests = max(n_tests, 1)
    return max(999, least_swaps(min(10 * tests, max(500, 2 * tests)), alpha))


def swapped_sums(
    rank_a: IntArray, rank_b: IntArray, gold: BoolArray, weight: FloatArray, keys: Keys, *,
    most: int, n_resamples: int, seed: int, advance: Advance = lambda _: None,
) -> FloatArray:  # fmt: skip
    """Return the weight of the first swapped ranking's true positives minus the second's: (draw).

    ``weight`` is by the rank, from 0, and nothing above ``most``. The candidates come in the order
    of the key; those of one of ``keys`` are swapped together. O(slots) for each draw.
    """
    slots, half = Slots.of(rank_a, rank_b), _half(rank_a, rank_b, most)
    result, every = np.empty(n_resamples), slots.candidate.size
    part = TrueSlots.of(slots, gold, keys, min(2 * (most + half), every))
    for start in range(0, n_resamples, swap_draws.WORD):
        stop, found = min(start + swap_draws.WORD, n_resamples), None
        while found is None:
            whole = part.keys.size == every
            found = part.sums(weight, most, seed, start, stop, whole=whole)
            if found is None:  # a list ends outside: once in a thousand million draws
                part = TrueSlots.of(slots, gold, keys, min(4 * part.keys.size, every))
        result[start:stop] = found
        advance(stop - start)
    return result


def _rank_blocks(
    rank_a: IntArray,
    rank_b: IntArray,
    keys: Keys,
    most: int,
    *,
    n_resamples: int,
    seed: int,
    advance: Advance,
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Yield the candidates that can come up to rank ``most``, and both their ranks."""
    slots = Slots.of(rank_a, rank_b)
    half = _half(rank_a, rank_b, most)
    for start, stop in _blocks(n_resamples, min(2 * (most + half), 2 * rank_a.size)):
        result, wider = None, half
        while result is None:
            result = _ranks(slots, keys, most, wider, (seed, start, stop))
            wider *= 4
        yield result
        advance(stop - start)


def _ranks(
    slots: Slots, keys: Keys, most: int, half: int, draws: tuple[int, int, int]
) -> tuple[IntArray, IntArray, IntArray] | None:
    """Return candidates and ranks, or None: a list of ``most`` ends outside the slots looked at.

    The first ranking has the slots of a whose candidates stay and those of b whose candidates are
    swapped; the second has the others. A rank is how many of them there are up to the slot.
    """
    reach = min(2 * (most + half), slots.candidate.size)
    # candidates with a slot within reach; only they draw
    near = np.flatnonzero(np.minimum(slots.a, slots.b) < reach)
    place = np.empty(keys.size, dtype=np.int64)
    place[near] = np.arange(near.size)
    swap = swap_draws.coins(keys[near], *draws)  # (near, draw), 0 or 1
    first = swap[place[slots.candidate[:reach]]]  # (slot, draw)
    # a swap takes a slot of a from the first ranking, and gives it one of b: exclusive or of bytes
    first ^= slots.from_a[:reach].view(np.uint8)[:, np.newaxis]
    # (slot, draw): the slots of the first ranking up to each one, which are its ranks
    up_to = np.empty((reach + 1, swap.shape[1]), dtype=np.int32)
    for start in range(0, reach, _STRETCH):
        stretch = slice(start, min(start + _STRETCH, reach))
        np.cumsum(first[stretch], axis=0, dtype=np.int32, out=up_to[stretch])
        if start:
            up_to[stretch] += up_to[start - 1]
    listed = up_to[reach - 1] if reach else np.zeros(1, dtype=np.int32)
    if 0 < reach < slots.candidate.size and min(listed.min(), reach - listed.max()) < most:
        return None
    up_to[-1] = most + 1  # behind what is looked at
    # (near, draw): whether swapped, and the first ranking's slots up to that of a, and of b
    moved = swap.view(bool)
    of_a, of_b = (up_to[np.minimum(side[near], reach)] for side in (slots.a, slots.b))
    del up_to, first, swap
    first_rank = np.where(moved, of_b, of_a)
    # the other slots up to a slot are those of the second ranking: its ranks, in the same arrays
    for counts, side in ((of_a, slots.a[near]), (of_b, slots.b[near])):
        slot = np.where(side < reach, side + 1, 2 * (most + 1)).astype(np.int32)
        np.subtract(slot[:, np.newaxis], counts, out=counts)
    second_rank = np.where(moved, of_a, of_b)
    for ranks in (first_rank, second_rank):
        np.minimum(ranks, most + 1, out=ranks)
    return near, first_rank.T, second_rank.T


def swapped(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    n: IntArray,
    keys: Keys | None = None,
    *,
    n_resamples: int,
    seed: int,
    advance: Advance = lambda _: None,
) -> Iterator[Regions]:
    """Yield the counts of both lists after random swaps, (draw, n), block by block.

    ``keys`` are the keys of the candidates' draws, by default their places.
    """
    n = np.minimum(n, rank_a.size)
    slots = Slots.of(rank_a, rank_b)
    keys = swap_draws.by_position(rank_a.size) if keys is None else keys
    only = n - nbest_regions(rank_a, rank_b, gold, n).overlap
    # a list of n ends at slot 2n, give or take the root of the candidates that only one list has
    half = np.ceil(_FAR * np.sqrt(only / 2.0)).astype(np.int64) + 2
    stops = np.minimum(2 * (n + half), slots.candidate.size)
    inside = int((stops - 2 * np.maximum(n - half, 0)).sum())
    # the windows overlap where n are many: then all slots up to the last end are fewer
    if inside > stops.max(initial=0):
        yield from _at_many_n(
            rank_a, rank_b, gold, n, keys, n_resamples=n_resamples, seed=seed, advance=advance
        )
        return
    windows = [_Window.around(int(x), int(y), slots, gold) for x, y in zip(n, half, strict=True)]
    for start, stop in _blocks(n_resamples, inside):
        sums = _sums_ahead(slots, gold, windows, keys, seed, start, stop)
        counts = np.empty((4, stop - start, n.size), dtype=np.int64)
        for column, window in enumerate(windows):
            result = window.counts(
                swap_draws.coins(keys[window.candidate], seed, start, stop), *sums[column]
            )
            while result is None:  # a list ends outside: once in a thousand million draws
                window = _Window.around(window.n, 4 * window.half, slots, gold)
                again = _sums_ahead(slots, gold, [window], keys, seed, start, stop)
                result = window.counts(
                    swap_draws.coins(keys[window.candidate], seed, start, stop), *again[0]
                )
            counts[:, :, column] = result
        yield Regions(*counts)
        advance(stop - start)


def _at_many_n(
    rank_a: IntArray, rank_b: IntArray, gold: BoolArray, n: IntArray, keys: Keys, **drawing: Any
) -> Iterator[Regions]:
    """Yield the counts from the ranks of all candidates that a list can reach."""
    # walks where the slots of a block of draws would not fit the cache, else ranks
    if 2 * int(n.max()) > _LONG:
        yield from _draw_by_draw(rank_a, rank_b, gold, n, keys, **drawing)
        return
    most = int(n.max())
    sizes, place = np.unique(n, return_inverse=True)  # (list), rising, and back to (n)
    listed = np.searchsorted(sizes, np.arange(most + 2))  # the first list that a rank is in
    # (draw, candidate) -> (draw, list) -> (draw, n)
    for candidates, a, b in _rank_blocks(rank_a, rank_b, keys, most, **drawing):
        both, true = np.maximum(a, b), gold[candidates]
        yield Regions(
            _counted(both, listed)[:, place],
            *(_counted(ranks[:, true], listed)[:, place] for ranks in (both, a, b)),
        )


def _draw_by_draw(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    n: IntArray,
    keys: Keys,
    *,
    n_resamples: int,
    seed: int,
    advance: Advance = lambda _: None,
) -> Iterator[Regions]:
    """Yield the counts of one walk through the slots for each draw."""
    slots = Slots.of(rank_a, rank_b)
    sizes, place = np.unique(n, return_inverse=True)
    walk = Walk.of(slots, gold, keys, sizes, _half(rank_a, rank_b, int(sizes[-1])))
    for start in range(0, n_resamples, swap_draws.WORD):
        stop = min(start + swap_draws.WORD, n_resamples)
        counts = walk.counts(seed, start, stop)
        while counts is None:  # a list ends outside: once in a thousand million draws
            walk = Walk.of(slots, gold, keys, sizes, 4 * walk.half)
            counts = walk.counts(seed, start, stop)
        yield Regions(*counts[:, :, place])
        advance(stop - start)


def _half(rank_a: IntArray, rank_b: IntArray, most: int) -> int:
    """Return how many slots after the lists of ``most`` candidates are used first."""
    only = most - int((np.maximum(rank_a, rank_b) <= most).sum())
    return int(_FAR * np.sqrt(only / 2.0)) + 2


def _counted(ranks: IntArray, listed: IntArray) -> IntArray:
    """Count the ranks of each draw in each list; ``listed`` has the first list by rank."""
    lists = int(listed[-1])
    counts = [np.bincount(listed[drawn], minlength=lists + 1)[:lists] for drawn in ranks]
    return np.cumsum(np.array(counts, dtype=np.int64).reshape(-1, lists), axis=-1)


def _blocks(n_resamples: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last resample of blocks that fit the memory."""
    width = swap_draws.WORD * max(1, _BLOCK // (swap_draws.WORD * max(1, size)))
    for start in range(0, n_resamples, width):
        yield start, min(start + width, n_resamples)


class _Window(NamedTuple):
    """The slots around the end of the lists of n, and the counts before them."""

    n: int
    half: int  #: how many ranks before and behind n
    start: int
    stop: int
    whole: bool  #: whether the last slot of all is among them
    candidate: IntArray  #: (slot)
    from_a: Bits  #: (slot), 0 or 1
    true: BoolArray  #: (slot)
    before: BoolArray  #: whether the candidate's other slot is before the window
    later: IntArray  #: slots whose candidate has an earlier one in the window too,
    earlier: IntArray  #: and those
    both: int  #: candidates that have both slots before the window: they are in both lists
    both_true: int
    all_true: int  #: slots of true positives before the window

    @classmethod
    def around(cls, n: int, half: int, slots: Slots, gold: BoolArray) -> _Window:
        size = slots.candidate.size
        start, stop = 2 * max(n - half, 0), min(2 * (n + half), size)
        candidate = slots.candidate[start:stop]
        # the other slot of each slot's candidate: both sum up to a + b
        mate = slots.a[candidate] + slots.b[candidate] - np.arange(start, stop)
        later = np.flatnonzero((mate >= start) & (mate < np.arange(start, stop)))
        # before the window: candidates that have both slots there, in both lists for sure
        ahead = slots.candidate[:start]
        second = ahead[np.maximum(slots.a[ahead], slots.b[ahead]) < start]  # each twice
        return cls(
            n, half, start, stop, stop == size, candidate,
            slots.from_a[start:stop].view(np.uint8), gold[candidate], mate < start,
            later, mate[later] - start, second.size // 2, int(gold[second].sum()) // 2,
            int(gold[ahead].sum()),
        )  # fmt: skip

    def counts(
        self, swap: Bits, ahead: IntArray, ahead_true: IntArray
    ) -> tuple[IntArray, ...] | None:
        """Return overlap, its true positives and those of both lists, or None: it is too narrow.

        ``swap`` are the bits of the candidates (slot, draw); ``ahead`` counts the slots before the
        window that the first ranking has, ``ahead_true`` those of true positives.
        """
        first = (swap ^ self.from_a[:, np.newaxis]).view(bool)  # (slot, draw)
        # (slot, draw): ranks in the first ranking; place - up_to are those in the second
        up_to = np.cumsum(first, axis=0, dtype=np.int32)
        up_to += ahead.astype(np.int32)
        place = np.arange(self.start + 1, self.stop + 1, dtype=np.int32)[:, np.newaxis]
        end = up_to[-1]
        narrow = max(ahead.max(), (self.start - ahead).max()) > self.n
        if narrow or not (self.whole or min(end.min(), (self.stop - end).min()) >= self.n):
            return None
        in_first = first & (up_to <= self.n)
        in_second = ~first & (place - up_to <= self.n)
        # a slot belongs to one ranking; a candidate is in both lists if both of its slots are
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
    """Return the number of slots in each draw."""
    result: IntArray = np.add.reduce(rows, axis=0, dtype=np.int32).astype(np.int64)
    return result


def _sums_ahead(
    slots: Slots,
    gold: BoolArray,
    windows: list[_Window],
    keys: Keys,
    seed: int,
    start: int,
    stop: int,
) -> IntArray:
    """Count the first ranking's slots before each window, all and true ones.

    A candidate that has both there counts once. Others count where the slot before the
    window is the first ranking's: one bit, or 1 minus it. (window, all and true, draw)
    """
    from scipy import sparse

    # (candidate): its bit moves its one slot before a window from or to the first ranking, +-1
    early, late = np.minimum(slots.a, slots.b), np.maximum(slots.a, slots.b)
    signs = np.where(slots.a < slots.b, -1, 1).astype(np.int32)  # the first's unless it is swapped
    sums = np.empty((2 * len(windows), stop - start), dtype=np.int64)
    rows, columns = [], []
    for number, window in enumerate(windows):
        once = np.flatnonzero((early < window.start) & (late >= window.start))
        for row, result in ((2 * number, once), (2 * number + 1, once[gold[once]])):
            rows.append(np.full(result.size, row))
            columns.append(result)
            sums[row] = (signs[result] < 0).sum()
        sums[2 * number : 2 * number + 2] += np.array([[window.both], [window.both_true]])
    at, column = np.concatenate(rows), np.concatenate(columns)
    needed = np.unique(column)
    # (window and kind, candidate) sparse times (candidate, draw), so many candidates at a time
    width = max(1, _BLOCK // (stop - start))
    matrix = sparse.csc_array(
        (signs[column], (at, np.searchsorted(needed, column))),
        shape=(2 * len(windows), needed.size),
    )
    for first in range(0, needed.size, width):
        part = slice(first, first + width)
        drawn = swap_draws.coins(keys[needed[part]], seed, start, stop).astype(np.int32)
        sums += np.asarray(matrix[:, part] @ drawn, dtype=np.int64)
    return sums.reshape(len(windows), 2, -1)


def region_statistic(counts: Regions, n: IntArray) -> FloatArray:
    """Return the difference of the true positives in the regions, by its standard deviation.

    With K true positives among the 2 d candidates of the two regions, this is
    (T_a - T_b) / sqrt(K (1 - K / 2d)), the root at least 1; 0 where the lists are equal.
    """
    only = np.maximum(n - counts.overlap, 1)
    positive = counts.tp_a + counts.tp_b - 2 * counts.tp_overlap
    variance = np.maximum(positive * (1.0 - positive / (2.0 * only)), 1.0)
    return np.asarray((counts.tp_a - counts.tp_b) / np.sqrt(variance), dtype=float)


def sided(statistic: FloatArray, alternative: str) -> FloatArray:
    """Return the statistic, the larger the stronger the evidence for the alternative."""
    if alternative == "two-sided":
        return np.abs(statistic)
    return statistic if alternative == "greater" else -statistic


def exceedance(observed: FloatArray, drawn: FloatArray) -> FloatArray:
    """Return (1 + draws at least as large) / (draws + 1) for each observed value."""
    ordered = np.sort(drawn)
    limit = observed - _EQUAL * np.maximum(np.abs(observed), 1.0)
    as_large = drawn.size - np.searchsorted(ordered, limit)
    return np.asarray((1 + as_large) / (drawn.size + 1), dtype=float)


def monte_carlo_error(
    p_single: FloatArray, p_adjusted: FloatArray, drawn: FloatArray, *, alpha: float
) -> tuple[FloatArray, BoolArray]:
    """Return the standard error of adjusted p-values, and whether tests are undecided.

    ``p_single`` is (1 + hits) / (drawn + 1); the adjusted p-value is taken as a multiple of it.
    A test is undecided if the 95% Clopper-Pearson interval of the hits contains alpha.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = p_adjusted / p_single
        error = factor * np.sqrt(p_single * (1.0 - p_single) / drawn)
    known = ~np.isnan(p_single)
    hits = np.where(known, np.round(p_single * (drawn + 1.0)) - 1.0, 0.0)
    low, high = clopper_pearson(hits, np.where(known, drawn, 1.0), 0.95)
    undecided: BoolArray = known & (factor * low < alpha) & (alpha < factor * high)
    return error, undecided


class SwapTests(NamedTuple):
    """The p-values of two rankings by swaps, for each n."""

    alone: FloatArray  #: of the statistic at this n by itself
    together: FloatArray  #: of the largest statistic over all n: simultaneous
    drawn: int  #: how many swaps there were
    largest: FloatArray  #: the largest statistic over all n, of each swap
    ends: tuple[FloatArray, FloatArray]  #: alone and together, of more statistics: (end, n)


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
    seed: int,
    advance: Advance = lambda _: None,
) -> SwapTests:
    """Return the share of swaps with a statistic as large as observed, or as ``ends``.

    At n itself, or at any n; the add-one p-values of both are of the same draws, so that the second
    is never below the first.
    """
    observed = region_statistic(nbest_regions(rank_a, rank_b, gold, n), n)
    drawing: Any = {"n_resamples": n_resamples, "seed": seed, "advance": advance}
    swaps = swapped(rank_a, rank_b, gold, n, keys, **drawing)
    drawn = (region_statistic(counts, n) for counts in swaps)
    return share_of_swaps(observed, drawn, alternative, n_resamples, ends)


def share_of_swaps(
    observed: FloatArray,
    drawn: Iterable[FloatArray],
    alternative: str,
    n_resamples: int,
    ends: FloatArray | None = None,
) -> SwapTests:
    """Return the share of the draws (draw, n) that are as large as the observed statistic (n)."""
    looked = sided(np.stack([observed, *(() if ends is None else ends)]), alternative)
    limit = looked - _EQUAL * np.maximum(np.abs(looked), 1.0)
    hits, largest = np.zeros(looked.shape, dtype=np.int64), []
    for block in drawn:
        values = sided(block, alternative)
        hits += [(values >= least).sum(axis=0) for least in limit]
        largest.append(values.max(axis=-1))
    every = np.concatenate(largest)
    alone, together = (1 + hits) / (n_resamples + 1), exceedance(looked, every)
    return SwapTests(alone[0], together[0], n_resamples, every, (alone[1:], together[1:]))


def decided_swap_tests(
    *rankings: Any,
    test: Callable[..., SwapTests] | None = None,
    tests: Sequence[float],
    alpha: float,
    each: bool,
    most: int,
    n_resamples: int,
    **drawing: Any,
) -> SwapTests:
    """Return :func:`swap_tests` with enough swaps to decide p-values near alpha.

    What decides is the p-value times one of ``tests``; with ``each`` that of each n by itself. The
    swaps are four times as many as long as its Monte-Carlo interval holds alpha, up to ``most``.
    """
    draws = n_resamples
    while True:
        found = (test or swap_tests)(*rankings, n_resamples=draws, **drawing)
        p = found.alone if each else found.together
        drawn = np.full(p.shape, float(draws))
        held = (np.minimum(times * p, 1.0) for times in tests)
        if draws >= most or not any(
            monte_carlo_error(p, x, drawn, alpha=alpha)[1].any() for x in held
        ):
            return found
        draws = min(4 * draws, most)
