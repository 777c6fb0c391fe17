"""Two rankings whose labels are swapped per candidate: what the difference is by chance alone.

If neither measure is better, it is a matter of chance which of its two ranks a candidate owes to
which measure. Every swap gives two rankings, whose ranks are formed anew: the candidates are put
in the order of the ranks they now have, and where two have the same one, in the order of the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import clopper_pearson
from rankeval_pd.stats.rankings.ranking import Regions

Advance = Callable[[int], object]
_BLOCK = 400_000  # candidates times draws in memory together, few enough for the cache
_EQUAL = 1e-12  # relative difference up to which two statistics are the same


def swapped_ranks(
    rank_a: IntArray,
    rank_b: IntArray,
    chosen: BoolArray,
    *,
    n_resamples: int,
    seed: int,
    advance: Advance = lambda _: None,
    together: IntArray | None = None,
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the ranks of the chosen candidates in both swapped rankings, (draw, candidate).

    The candidates come in the order of the key and each draws one number per resample, so that
    the numbers depend neither on the blocks nor on the order of the rows. Those of one number in
    ``together`` are swapped together: each of these numbers draws one.
    """
    rng = np.random.default_rng(seed)
    slots = _Slots.of(rank_a, rank_b)
    drawing, own = rank_a.size, np.zeros(0, dtype=np.int64)
    if together is not None:
        numbers, own = np.unique(together, return_inverse=True)
        drawing = numbers.size
    width = max(1, _BLOCK // max(1, rank_a.size))
    for start in range(0, n_resamples, width):
        stop = min(start + width, n_resamples)
        swap = rng.random((stop - start, drawing)) < 0.5
        yield slots.ranks(swap if together is None else swap[:, own], chosen)
        advance(stop - start)


def swapped(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    n: IntArray,
    *,
    n_resamples: int,
    seed: int,
    advance: Advance = lambda _: None,
    together: IntArray | None = None,
) -> Iterator[Regions]:
    """Yield the counts of both lists after random swaps, (draw, n), block by block.

    O(N) per resample.
    """
    total = rank_a.size
    n = np.minimum(n, total)
    everyone = np.ones(total, dtype=bool)
    for a, b in swapped_ranks(
        rank_a, rank_b, everyone, n_resamples=n_resamples, seed=seed, advance=advance,
        together=together,
    ):  # fmt: skip
        both = np.maximum(a, b)
        yield Regions(
            _counted(both, total, n),
            *(_counted(ranks[:, gold], total, n) for ranks in (both, a, b)),
        )


class _Slots(NamedTuple):
    """The places in the order of ranks, two for each rank: that of a, and that of b."""

    candidate: IntArray  #: (slot)
    from_a: BoolArray  #: (slot)
    a: IntArray  #: the slot of each candidate's rank in a
    b: IntArray

    @classmethod
    def of(cls, rank_a: IntArray, rank_b: IntArray) -> _Slots:
        candidate = np.concatenate([np.arange(rank_a.size)] * 2)
        order = np.lexsort((candidate, np.concatenate([rank_a, rank_b])))
        place = np.empty(order.size, dtype=np.int64)
        place[order] = np.arange(order.size)
        return cls(
            candidate[order], order < rank_a.size, place[: rank_a.size], place[rank_a.size :]
        )

    def ranks(self, swap: BoolArray, chosen: BoolArray) -> tuple[IntArray, IntArray]:
        """Return the ranks of the chosen candidates (draw, candidate) in the swapped rankings.

        The first ranking has the slots of a whose candidates stay and those of b whose candidates
        are swapped; the second has the others. A rank is how many of them there are up to the slot.
        """
        up_to = np.cumsum(swap[:, self.candidate] ^ self.from_a, axis=-1, dtype=np.int32)
        a, b, swap = self.a[chosen], self.b[chosen], swap[:, chosen]
        at_a, at_b = up_to[:, a], up_to[:, b]
        first = np.where(swap, at_b, at_a)
        second = np.where(swap, a + 1 - at_a, b + 1 - at_b)
        return first, second


def _counted(ranks: IntArray, total: int, n: IntArray) -> IntArray:
    """Return how many ranks of each draw are at most n."""
    draws = ranks.shape[0]
    shifted = ranks + (total + 1) * np.arange(draws)[:, np.newaxis]
    counts = np.bincount(shifted.ravel(), minlength=draws * (total + 1))
    sums: IntArray = np.cumsum(counts.reshape(draws, total + 1), axis=-1)[:, n]
    return sums


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
    """Return the standard error of adjusted p-values, and whether other draws may decide else.

    ``p_single`` is (1 + hits) / (drawn + 1); the adjusted p-value is taken as a multiple of it.
    Undecided is what the 95 % Clopper-Pearson interval of the hits leaves open.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = p_adjusted / p_single
        error = factor * np.sqrt(p_single * (1.0 - p_single) / drawn)
    known = ~np.isnan(p_single)
    hits = np.where(known, np.round(p_single * (drawn + 1.0)) - 1.0, 0.0)
    low, high = clopper_pearson(hits, np.where(known, drawn, 1.0), 0.95)
    undecided: BoolArray = known & (factor * low < alpha) & (alpha < factor * high)
    return error, undecided


def largest_statistics(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    n: IntArray,
    alternative: str,
    *,
    n_resamples: int,
    seed: int,
    advance: Advance = lambda _: None,
    together: IntArray | None = None,
) -> FloatArray:
    """Return, for each draw of swaps, the largest statistic of the regions over the n."""
    draws = swapped(
        rank_a, rank_b, gold, n, n_resamples=n_resamples, seed=seed, advance=advance,
        together=together,
    )  # fmt: skip
    return np.concatenate(
        [sided(region_statistic(counts, n), alternative).max(axis=-1) for counts in draws]
    )
