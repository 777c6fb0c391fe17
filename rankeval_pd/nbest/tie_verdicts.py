"""Compare lists that end inside blocks of equal scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.decisions.verdicts import P_ENDS, TIE_ENDS, UNCUT, Interval
from rankeval_pd.doors.heads import head_of
from rankeval_pd.doors.pairs import PairRanks
from rankeval_pd.errors import warn_of_thresholds
from rankeval_pd.nbest.difference_regions import RegionOptions, region_tests
from rankeval_pd.nbest.grouped_lists import p_of_gap
from rankeval_pd.nbest.precision import LEAST
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.intervals.differences import DIFFERENCE_INTERVALS
from rankeval_pd.stats.intervals.proportions import Limits, z_of
from rankeval_pd.stats.rankings import swaps, tie_orders
from rankeval_pd.stats.rankings.ranking import Regions
from rankeval_pd.stats.rankings.tie_orders import TiedLists
from rankeval_pd.stats.significance.fisher import fisher_test, sample_odds_ratio


def of_pair(lists: PairRanks, row: tuple[int, ...], n: IntArray) -> TiedLists:
    """Return the two lists for one pair, restricted to candidates with both scores."""
    return tie_orders.tied_lists(
        lists.a, lists.b, lists.present[row], row[:-1], (row[-1], row[-1]), n
    )


# ------------------------------------------- The standard error of the difference between two lists


def nbest_error(
    lists: PairRanks, n: IntArray, only: IntArray, tp_only: tuple[IntArray, IntArray], phi: float
) -> tuple[FloatArray, FloatArray]:
    """Return the standard error for random thresholds, and the degrees of freedom."""
    spread = bands.difference_spread(*lists.ranks, lists.gold, lists.total, n, only, tp_only)
    error = np.where(only > 0, np.sqrt(phi * spread.variance) / n, 0.0)
    return error, np.full(only.shape, np.inf)


def error_of_few(
    lists: PairRanks, n: IntArray, only: IntArray, tp_only: tuple[IntArray, IntArray], phi: float,
    cut: BoolArray,
) -> FloatArray:  # fmt: skip
    """Return the standard error for small regions and split ties, or NaN otherwise.

    The function warns if differences between other lists vary far more than differences between
    fixed regions.
    """
    spread = bands.difference_spread(*lists.ranks, lists.gold, lists.total, n, only, tp_only)
    large = (only >= LEAST) & ~cut
    exists = lists.exists & large
    if exists.any():
        shares = ((tp + 1.0) / (only + 2.0) for tp in tp_only)
        regions = (only + 2.0) * sum(share * (1.0 - share) for share in shares)
        ratio, sizes = spread.variance / regions, np.broadcast_to(n, only.shape)
        warn_of_thresholds(ratio, sizes, exists, "difference of the n-best lists")
    return np.where((only > 0) & ~large, np.sqrt(phi * spread.variance) / n, np.nan)


# ------------------------------------------ Effect of the order of equal scores (ties="shared")


class Ends(NamedTuple):
    """Store the effect of random tie orders on lists that split a tie (..., n)."""

    low: IntArray  #: the 2.5% quantile of the difference in true positives
    high: IntArray
    only: IntArray  #: mean number of candidates in only one list
    positive: IntArray  #: total number of true positives in the two difference regions
    below: IntArray  #: nearest n that splits no tie, or 0 if no such n exists
    above: IntArray

    @property
    def regions(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Return the true positives in the two regions at both limits over tie orders."""
        for gap in (self.low, self.high):
            tp_b = (self.positive - gap + 1) // 2  # the sum is odd if the difference is odd
            yield np.clip(tp_b + gap, 0, self.only), np.clip(tp_b, 0, self.only)

    def statistics(self) -> FloatArray:
        """Return the swap statistic (limit, n) at both limits."""
        none = np.zeros_like(self.only)
        return np.stack(
            [swaps.region_statistic(Regions(none, none, *tp), self.only) for tp in self.regions]
        )


def ends_of(lists: TiedLists) -> Ends:
    """Return the limits over tie orders for one pair in one batch element."""
    return Ends(*lists.ends(), *lists.uncut())


def swap_ends(
    lists: PairRanks, row: tuple[int, ...], n: IntArray, cut: BoolArray
) -> FloatArray | None:
    """Return the swap statistic (limit, n), or None if no list splits a tie."""
    there = lists.exists[row]
    if not (cut[row] & there).any():
        return None
    return ends_of(of_pair(lists, row, n[there])).statistics()


def tie_columns(
    lists: PairRanks, n: IntArray, cut: BoolArray, p_value: FloatArray, difference: FloatArray,
    options: RegionOptions, spread: tuple[FloatArray, FloatArray] | None = None,
) -> dict[str, AnyArray]:  # fmt: skip
    """Return columns for both limits, and the nearest n that splits no tie.

    If no list splits a tie, both limits equal the difference. P-values from swap tests are added
    later. ``spread`` contains the standard error and degrees of freedom for independent groups.
    """
    columns = [difference.copy(), difference.copy(), p_value.copy(), p_value.copy()]
    blocks = [np.zeros(cut.shape, dtype=np.int64) for _ in UNCUT]
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
        if spread is not None:
            error, freedom = (x[at] for x in spread)
            for column, gap in zip(columns[2:], columns[:2], strict=True):
                column[at] = p_of_gap(gap[at], error, freedom, options.alternative)
            continue
        there = np.ones(sizes.size, dtype=bool)
        for column, (tp_a, tp_b) in zip(columns[2:], found.regions, strict=True):
            tables = tp_a, found.only, tp_b, found.only
            column[at] = region_tests(*tables, options, there)[1]
    return dict(zip((*TIE_ENDS, *P_ENDS, *UNCUT), (*columns, *blocks), strict=True))


def p_of_ends(
    ends: Ends, n: IntArray, spread: tuple[FloatArray, FloatArray] | None = None
) -> FloatArray:
    """Return p-values at both ends, (end, n), with the standard error for whole groups."""
    if spread is not None:
        return p_of_gap(np.stack([ends.low, ends.high]) / n, *spread, "two-sided")
    regions = [(tp_a, ends.only, tp_b, ends.only) for tp_a, tp_b in ends.regions]
    return np.stack([fisher_test(*of_end, "two-sided").p_value for of_end in regions])


def end_columns(
    ends: Ends | None,
    n: IntArray,
    cut: BoolArray,
    alone: FloatArray | None = None,
    together: FloatArray | None = None,
) -> dict[str, AnyArray]:
    """Return the tests of one pair at both ends over tie orders, NaN where no tie is split.

    ``alone`` and ``together`` are p-values at both ends, (end, n): for each n, and simultaneous
    over all n.
    """
    blocks: AnyArray = np.full((2, n.size), np.nan)
    columns: dict[str, AnyArray] = dict.fromkeys(("difference", "p_value", "p_family"), blocks)
    if ends is not None and alone is not None and together is not None:
        values = np.stack([ends.low, ends.high]) / n, alone, together
        columns = {name: np.where(cut, x, np.nan) for name, x in zip(columns, values, strict=True)}
        blocks = np.stack([ends.below, ends.above])
    at_ends = {
        f"{name}_tie_{end}": values[k]
        for name, values in columns.items()
        for k, end in enumerate(("low", "high"))
    }
    return at_ends | dict(zip(UNCUT, blocks, strict=True))


# --------------------------------------------------- The mean over all orders (ties="expected")


def check_means(
    data: Any, test: str | None = None, phi: float = 1.0, *, clustered: bool = False,
    combine: bool = False,
) -> None:  # fmt: skip
    """Raise an error for options that ties="expected" does not support."""
    head = head_of(data)
    if head is not None and head.whole.reach < head.whole.total:
        raise ValueError(
            "ties='expected' needs all candidates with equal scores, but a head from a Dask"
            " DataFrame may contain only some of them. Pass ties='shared', or compute the columns"
            " you use: ddf[[...]].compute().rankeval."
        )
    given = {f"test={test!r}": test is not None, f"phi={phi:g}": phi > 1.0, "groups": clustered,
             "combine=True": combine}  # fmt: skip
    if refused := [name for name, is_given in given.items() if is_given]:
        raise ValueError(
            f"ties='expected' with {', '.join(refused)}: counts averaged over orders are not whole "
            "numbers and need the score test for independent candidates. Pass ties='shared'."
        )


MEANS: dict[str, type] = dict.fromkeys(("size_a", "size_b", "error", "freedom"), float)


def mean_columns(
    lists: PairRanks,
    n: IntArray,
    *,
    options: RegionOptions,
    **drawing: Any,
) -> dict[str, AnyArray]:
    """Return the columns for a comparison of means over all tie orders."""
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
    columns = dict(zip(names, found, strict=True))
    return {**columns, "cuts_tie": lists.a.cuts_tie(n) | lists.b.cuts_tie(n)}


def _swapped(
    pair: TiedLists, options: RegionOptions, error: FloatArray, *, tests: int, draws: int,
    most: int, advance: Callable[[int], object], intervals: bool,
) -> list[Any]:  # fmt: skip
    """Return swap p-values for each n and for all n, swap counts, and band margins."""
    each, share = options.adjust_over == "n", (1.0 - options.level) / tests
    level = 1.0 - (share if options.alternative == "two-sided" else min(2.0 * share, 0.999))
    found = swapped_means(
        pair, options.alternative, tests=[tests], alpha=options.alpha, each=each, most=most,
        n_resamples=draws, seed=options.seed, advance=advance,
    )  # fmt: skip
    p = found.alone if each else found.together
    return [found.alone, p, found.drawn, half_width(found, error, level, each=each)]


_MEAN_COLUMNS = (
    "precision_a", "precision_b", "difference", "overlap", "n_only_a", "n_only_b", "tp_only_a",
    "tp_only_b", "odds_ratio", "p_value", "p_mid",
)  # fmt: skip


def swapped_means(pair: TiedLists, alternative: str, **how: Any) -> swaps.SwapTests:
    """Test means with random swaps, using more swaps for p-values near alpha."""
    return swaps.decided_swap_tests(pair, alternative, test=tie_orders.swap_tests, **how)


def half_width(
    found: swaps.SwapTests, error: FloatArray, level: float, *, each: bool
) -> FloatArray:
    """Return the half-width of individual or simultaneous intervals."""
    largest = z_of(level) if each else max(z_of(level), bands.critical_value(found.largest, level))
    return np.asarray(largest * error)


def of_means(ci: str) -> Interval:
    """Return limits for means over tie orders, from the wider of two intervals.

    The effective number of candidates in the regions is chosen to match the variance of the means.
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
    return Interval(limits, names)
