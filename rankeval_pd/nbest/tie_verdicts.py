"""Comparisons of lists that cut blocks of equal scores: by means, or whether the order decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.forms.rankings.kernel_calls import PairRanks
from rankeval_pd.nbest.difference_regions import RegionOptions, region_tests
from rankeval_pd.nbest.region_intervals import Interval
from rankeval_pd.nbest.tie_warnings import BLOCKS
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.intervals.differences import DIFFERENCE_INTERVALS
from rankeval_pd.stats.intervals.proportions import Limits, z_of
from rankeval_pd.stats.rankings import swaps, tie_orders
from rankeval_pd.stats.rankings.ranking import Regions
from rankeval_pd.stats.rankings.tie_orders import TiedLists
from rankeval_pd.stats.significance.fisher import sample_odds_ratio


def of_pair(lists: PairRanks, row: tuple[int, ...], n: IntArray) -> TiedLists:
    """Return the lists of one pair in one batch, of the candidates that both measures score."""
    return tie_orders.tied_lists(
        lists.a, lists.b, lists.present[row], row[:-1], (row[-1], row[-1]), n
    )


# ------------------------------------------ Does the order of equal scores decide? (ties="shared")


class Ends(NamedTuple):
    """What random orders of equal scores make of the lists that cut a block: (..., n)."""

    low: FloatArray  #: the difference of true positives at its 2.5 % point
    high: FloatArray
    only: IntArray  #: candidates that only one list has, by their mean
    positive: IntArray  #: true positives of both difference regions
    below: IntArray  #: nearest n that cuts no block, 0 where there is none
    above: IntArray

    @property
    def regions(self) -> Iterator[tuple[IntArray, IntArray]]:
        """The true positives of the two regions at both ends."""
        for gap in (self.low, self.high):
            tp_b = np.rint((self.positive - gap) / 2.0).astype(np.int64)
            tp_a = np.clip(tp_b + gap, 0, self.only).astype(np.int64)
            yield tp_a, np.clip(tp_b, 0, self.only)

    def statistics(self) -> FloatArray:
        """Return the statistic of swaps at both ends: (end, n)."""
        none = np.zeros_like(self.only)
        return np.stack(
            [swaps.region_statistic(Regions(none, none, *tp), self.only) for tp in self.regions]
        )


def ends_of(lists: TiedLists) -> Ends:
    """Return the ends of one pair in one batch."""
    return Ends(*lists.ends(), *lists.uncut())


def swap_ends(
    lists: PairRanks, row: tuple[int, ...], n: IntArray, cut: BoolArray
) -> FloatArray | None:
    """Return the statistic of swaps at both ends, (end, n) of lists that exist; None uncut."""
    there = lists.exists[row]
    if not (cut[row] & there).any():
        return None
    return ends_of(of_pair(lists, row, n[there])).statistics()


def tie_columns(
    lists: PairRanks, n: IntArray, cut: BoolArray, p_value: FloatArray, difference: FloatArray,
    options: RegionOptions,
) -> tuple[AnyArray, ...]:  # fmt: skip
    """Return the difference and its p-value at both ends, and the nearest n that cut no block.

    Where no block is cut, both ends are the difference itself. With swaps, p-values follow later.
    """
    columns = [difference.copy(), difference.copy(), p_value.copy(), p_value.copy()]
    blocks = [np.zeros(cut.shape, dtype=np.int64) for _ in BLOCKS]
    for row in np.ndindex(cut.shape[:-1]):
        asked = cut[row]
        if not asked.any():
            continue
        at, sizes = (*row, asked), n[asked]
        found = ends_of(of_pair(lists, row, sizes))
        columns[0][at], columns[1][at] = found.low / sizes, found.high / sizes
        blocks[0][at], blocks[1][at] = found.below, found.above
        if options.swapped:
            continue
        there = np.ones(sizes.size, dtype=bool)
        for column, (tp_a, tp_b) in zip(columns[2:], found.regions, strict=True):
            tables = tp_a, found.only, tp_b, found.only
            column[at] = region_tests(*tables, options, there)[1]
    return *columns, *blocks


# --------------------------------------------------- The mean over all orders (ties="expected")


def check_means(test: str | None, phi: float, clustered: bool) -> None:
    """Raise an error where means over orders have no version of what is asked."""
    given = {f"test={test!r}": test is not None, f"phi={phi:g}": phi > 1.0, "groups": clustered}
    if refused := [name for name, is_given in given.items() if is_given]:
        raise ValueError(
            f"ties='expected' with {', '.join(refused)}: a mean over orders is no whole count, and"
            " has the score test of single candidates. Leave it out, or give ties='shared'."
        )


MEANS: dict[str, type] = dict.fromkeys(("size_a", "size_b", "error", "freedom"), float)


def mean_columns(
    lists: PairRanks,
    n: IntArray,
    *,
    options: RegionOptions,
    **drawing: Any,
) -> tuple[AnyArray, ...]:
    """Return the columns of a comparison of means over all orders of equal scores."""
    swapped = ("p_swaps", "drawn", "margin") if options.swapped else ()
    names = (*_MEAN_COLUMNS, *MEANS, *swapped)
    found = np.full((len(names), *lists.exists.shape), np.nan)
    for row in np.ndindex(lists.exists.shape[:-1]):
        asked = lists.exists[row]
        if not asked.any():
            continue
        sizes, pair = n[asked], of_pair(lists, row, n[asked])
        (tp_a, tp_b), (only_a, only_b), error = pair.tp, pair.tp_only, pair.error()
        result = (
            _swapped(pair, options, error, **drawing) if swapped else [pair.p(options.alternative)]
        )
        found[(slice(None), *row, asked)] = np.stack(
            np.broadcast_arrays(
                tp_a / sizes, tp_b / sizes, (tp_a - tp_b) / sizes, sizes - pair.only, pair.only,
                pair.only, only_a, only_b, sample_odds_ratio(only_a, pair.only, only_b, pair.only),
                result[0], np.nan, *pair.effective(), error, np.inf, *result[1:],
            )
        )  # fmt: skip
    before, own = found[: len(_MEAN_COLUMNS)], found[len(_MEAN_COLUMNS) :]
    return *before, lists.a.cuts_tie(n) | lists.b.cuts_tie(n), *own


def _swapped(
    pair: TiedLists, options: RegionOptions, error: FloatArray, *, tests: int, draws: int,
    most: int, advance: Callable[[int], object], intervals: bool,
) -> list[Any]:  # fmt: skip
    """Return p-values of swaps, alone and for all n, their number, and the bands' margins."""
    each, share = options.adjust_over == "n", (1.0 - options.level) / tests
    level = 1.0 - (share if options.alternative == "two-sided" else min(2.0 * share, 0.999))
    found = tested(
        pair, options.alternative, tests=[tests], alpha=options.alpha, each=each, most=most,
        n_resamples=draws, seed=options.seed, advance=advance,
    )  # fmt: skip
    p = found.alone if each else found.together
    return [found.alone, p, found.drawn, half_width(found, error, level, each=each)]


_MEAN_COLUMNS = (
    "precision_a", "precision_b", "difference", "overlap", "n_only_a", "n_only_b", "tp_only_a",
    "tp_only_b", "odds_ratio", "p_value", "p_mid",
)  # fmt: skip


def tested(pair: TiedLists, alternative: str, **how: Any) -> swaps.SwapTests:
    """Return the swap test of means, of so many swaps that no p-value near alpha is undecided."""
    return swaps.decided_swap_tests(pair, alternative, test=tie_orders.swap_tests, **how)


def half_width(
    found: swaps.SwapTests, error: FloatArray, level: float, *, each: bool
) -> FloatArray:
    """Return half the width of the intervals that hold at each n, or at all n together."""
    largest = z_of(level) if each else max(z_of(level), bands.critical_value(found.largest, level))
    return np.asarray(largest * error)


def of_means(ci: str) -> tuple[Interval, tuple[str, ...]]:
    """Return the outer limits of the regions' interval and the lists', of means over orders.

    The regions count as so many whole candidates as vary like the shares.
    """

    def limits(
        tp_a: FloatArray, tp_b: FloatArray, only: FloatArray, n: FloatArray, size_a: FloatArray,
        size_b: FloatArray, error: FloatArray, level: float,
    ) -> Limits:  # fmt: skip
        whole = np.where(only > 0.0, only, 1.0)
        low, high = (
            np.where(only > 0.0, x * (only / n), 0.0)
            for x in DIFFERENCE_INTERVALS[ci](
                np.clip(tp_a / whole, 0.0, 1.0) * size_a, size_a,
                np.clip(tp_b / whole, 0.0, 1.0) * size_b, size_b, level,
            )
        )  # fmt: skip
        difference, half = (tp_a - tp_b) / n, z_of(level) * error
        low, high = np.fmin(low, difference - half), np.fmax(high, difference + half)
        return np.maximum(low, -1.0), np.minimum(high, 1.0)

    names = ("tp_only_a", "tp_only_b", "n_only_a", "n", "size_a", "size_b", "error")
    return limits, names
