"""Compute intervals and decisions for comparisons, adjusted for families."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from rankeval_pd.forms.out.tables import adjusted_together, family_of, levels_together
from rankeval_pd.forms.rankings.copied_measures import count_distinct, distinct_pairs
from rankeval_pd.forms.rankings.kernel_calls import Pair
from rankeval_pd.forms.roles.declarations import check_needed
from rankeval_pd.forms.roles.roles import Names
from rankeval_pd.nbest.tie_warnings import P_ENDS, decides, warn_of_order
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.cluster_totals import alike_share
from rankeval_pd.stats.intervals.differences import (
    DIFFERENCE_INTERVALS,
    agree_with_test,
    delta_method,
    one_sided,
    overlap_difference,
    paired_difference,
)
from rankeval_pd.stats.intervals.proportions import Limits, quantile_of
from rankeval_pd.stats.rankings import swaps
from rankeval_pd.stats.rankings.copies import stands_for
from rankeval_pd.stats.significance.adjust import rejects
from rankeval_pd.stats.significance.equivalence import (
    interval_p,
    margin_name,
    regions_margin_p,
)

_LIMITS = ("ci_low", "ci_high")
_ALONE = ("ci_low_alone", "ci_high_alone")
_MULTIPLES = ("difference", *_LIMITS, *_ALONE, "tie_low", "tie_high")

# a function from columns and a level to two-sided limits
Interval = Callable[..., Limits]


Decision = Any  # the options adjust, adjust_over, alternative, alpha, level, and optionally margin


def decision_columns(how: Decision) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the decision columns for the middle and for the end of a table."""
    margin = getattr(how, "margin", None)
    beside = () if margin is None else (margin_name(how.alternative),)
    if how.adjust is None:
        return (*beside, "significant", "better"), ("leaning",)
    return ("p_adjusted", *beside, "significant", "better"), ("leaning", *_ALONE)


def family_attr(
    how: Decision, pairs: Sequence[Pair], inner: xr.Dataset, a: Hashable, b: Names, sizes: int
) -> dict[str, str]:
    """Return the attribute that describes the family for adjusted p-values."""
    if how.adjust is None:
        return {}
    one = a if a is not None and (b is None or isinstance(b, list)) else None
    groups = inner.attrs["n_groups"]
    tests = count_distinct(pairs, distinct_pairs(inner, pairs, how.alternative))
    words = family_of(tests, one, sizes=sizes, groups=groups, over=[how.adjust_over])
    return {"family": words}


def decide(
    results: list[xr.Dataset],
    batch: list[Hashable],
    *,
    how: Decision,
    interval: tuple[Interval, tuple[str, ...]],
    towards: str = "difference",
) -> list[xr.Dataset]:
    """Return the results with intervals, adjusted p-values and decisions.

    The results must include all groups. Decisions are based on p_adjusted, or on p_value if
    p-values are not adjusted. An interval includes 0 if the p-value is above 1 - level.

    Parameters
    ----------
    results : list of Dataset
        Results with ``p_value``. For max-t, the results also contain ``p_swaps``, ``drawn`` and
        ``margin``, the half-width of the simultaneous band.
    batch : list of names
        Dimensions of the groups.
    how : options
    interval : function and names
        A function and the names of its columns. The function takes the columns and a level, and
        returns limits and the ends of the range.
    towards : str
        Column whose sign shows which measure is better.
    """
    if getattr(how, "margin", None) is not None:
        results = [_with_margin(result, how, interval) for result in results]
    bare = [result["p_value"].where(result["exists"]) for result in results]
    levels = [xr.where(result["exists"], how.level, np.nan) for result in results]
    alone = [
        _limits(result, p, level, how, interval)
        for result, p, level in zip(results, bare, levels, strict=True)
    ]
    swapped = (how.adjust or "").startswith("max-t")
    ends = [[result[x] for x in P_ENDS if x in result] for result in results]
    drawn = "drawn" in results[0]
    if how.adjust is None:
        decided = [
            _decided(result.assign(_named(_LIMITS, own)), p, how, towards, of_ends)
            for result, p, own, of_ends in zip(results, bare, alone, ends, strict=True)
        ]
        warn_of_order(decided)
        return (
            [_with_error(x, how.alpha, p) for x, p in zip(decided, bare, strict=True)]
            if drawn
            else decided
        )
    family: dict[str, Any] = {"batch": batch, "over": how.adjust_over}
    stands = [_stands_for(result, how.alternative) for result in results]
    each = [result["p_swaps"] for result in results] if swapped else bare
    given = [_once(p, x) for p, x in zip(each, stands, strict=True)]
    held = _shared(adjusted_together(given, how.adjust, **family), each, stands)
    if swapped:
        strict = _shared(adjusted_together(given, "max-t", **family), each, stands)
        together = [
            _band(result, own, p, how)
            for result, own, p in zip(results, alone, strict, strict=True)
        ]
    else:
        wider = _shared(
            levels_together(given, how.adjust, level=how.level, **family), levels, stands
        )
        together = [
            _limits(result, p, level, how, interval)
            for result, p, level in zip(results, held, wider, strict=True)
        ]
    if ends[0]:  # all rows at the lower limits, followed by all rows at the upper limits
        sides = [
            adjusted_together(list(side), how.adjust, **family) for side in zip(*ends, strict=True)
        ]
        ends = [list(of) for of in zip(*sides, strict=True)]
    decided = [
        _decided(
            result.assign({**_named(_ALONE, own), **_named(_LIMITS, limits), "p_adjusted": p}),
            p, how, towards, of_ends,
        )
        for result, own, limits, p, of_ends in zip(
            results, alone, together, held, ends, strict=True
        )
    ]  # fmt: skip
    warn_of_order(decided)
    return [_with_error(x, how.alpha, x["p_adjusted"]) for x in decided] if drawn else decided


def _stands_for(result: xr.Dataset, alternative: str) -> IntArray | None:
    """Map each pair to the first pair with the same test, or return None."""
    if "order_a" not in result:
        return None
    orders = result["order_a"].to_numpy(), result["order_b"].to_numpy()
    return stands_for(*orders, ordered=alternative != "two-sided")


def _once(p: xr.DataArray, stands: IntArray | None) -> xr.DataArray:
    """Return the p-values, with NaN for repeated pairs and identical rankings."""
    if stands is None:
        return p
    return p.where(xr.DataArray(stands == np.arange(stands.size), dims="pair"))


def _shared(
    found: list[xr.DataArray], own: list[xr.DataArray], stands: list[IntArray | None]
) -> list[xr.DataArray]:
    """Copy results from distinct pairs to all pairs except identical rankings."""
    return [
        x
        if pair is None
        else x.isel(pair=np.maximum(pair, 0)).where(xr.DataArray(pair >= 0, dims="pair"), alone)
        for x, alone, pair in zip(found, own, stands, strict=True)
    ]


def _with_margin(
    result: xr.Dataset, how: Decision, interval: tuple[Interval, tuple[str, ...]]
) -> xr.Dataset:
    """Add the unadjusted p-value for the margin to each row.

    The p-value is exact for two regions. For other comparisons, the p-value agrees with the
    interval.
    """
    kernel, names = interval
    margin = how.margin / result["times"] if "times" in result else xr.DataArray(how.margin)

    def asked(exists: BoolArray, margin: FloatArray, *columns: AnyArray) -> FloatArray:
        exists, *arrays = np.broadcast_arrays(exists, margin, *columns)
        p_value = np.full(exists.shape, np.nan)
        within, *rows = (x[exists] for x in arrays)
        p_value[exists] = (
            _of_two_regions(within, *rows[:4], how=how)
            if names[:4] == _REGIONS
            else interval_p(lambda level: kernel(*rows, level=level), within, how.alternative)
        )
        return p_value

    p_value = xr.apply_ufunc(
        asked, result["exists"], margin, *(result[name] for name in names), dask="parallelized",
        output_dtypes=[float],
    )  # fmt: skip
    return result.assign({margin_name(how.alternative): p_value})


def _of_two_regions(
    margin: FloatArray, tp_a: IntArray, tp_b: IntArray, only: IntArray, n: IntArray, *,
    how: Decision,
) -> FloatArray:  # fmt: skip
    """Return exact p-values, with the margin multiplied by n / n_only."""
    columns = np.column_stack(np.broadcast_arrays(margin, tp_a, tp_b, only, n))
    rows, back = np.unique(columns, axis=0, return_inverse=True)
    found = [
        regions_margin_p(
            int(a), int(b), int(m), share * size / m if m else np.inf, how.alternative, how.alpha
        )
        if share > 0.0
        else np.nan  # recall and lift are undefined without true positives
        for share, a, b, m, size in rows.tolist()
    ]
    return np.array(found, dtype=float)[back.ravel()]


def _named(names: tuple[str, str], arrays: tuple[Any, Any]) -> dict[str, Any]:
    return dict(zip(names, arrays, strict=True))


def _decided(
    result: xr.Dataset,
    p: xr.DataArray,
    how: Decision,
    towards: str,
    ends: Sequence[xr.DataArray] = (),
) -> xr.Dataset:
    """Add the better measure, and convert precision to recall or lift."""
    if ends:
        result = decides(result, p, ends, how.alpha, towards)
    result = with_better(result.assign(significant=rejects(p, how.alpha)), towards)
    if "times" not in result:
        return result
    times, most = result["times"], result["most"]
    return result.assign(
        {x: result[x].clip(-most, most) * times for x in _MULTIPLES if x in result}
    )


def with_better(result: xr.Dataset, towards: str = "difference") -> xr.Dataset:
    """Add the columns ``leaning`` and ``better``.

    ``leaning`` is the first measure if ``towards`` is above 0, the second measure if ``towards`` is
    below 0, and NaN at 0. ``better`` is ``leaning`` if ``significant`` is True, and NaN otherwise.
    """
    sign = result[towards]
    columns = xr.apply_ufunc(
        favored,
        sign,
        result["significant"] if "significant" in result else xr.zeros_like(sign, dtype=bool),
        xr.DataArray(np.arange(result.sizes["pair"]), dims="pair"),
        kwargs={side: result[f"measure_{side}"].to_numpy() for side in "ab"},
        output_core_dims=[[], []],
        dask="parallelized",
        output_dtypes=[object, object],
    )
    return result.assign(
        {n: x.variable for n, x in zip(("leaning", "better"), columns, strict=True)}
    )


def favored(
    sign: FloatArray, significant: BoolArray, pair: IntArray, *, a: AnyArray, b: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Return the columns ``leaning`` and ``better``, which contain measure names."""
    leaning = np.where(sign > 0, a[pair], b[pair]).astype(object)
    leaning[~(np.abs(sign) > 0)] = np.nan
    better = leaning.copy()
    better[~significant] = np.nan
    return leaning, better


_ROWS = 1 << 16  # number of rows per step, small enough to fit in the cache


def _limits(
    result: xr.Dataset,
    p: xr.DataArray,
    level: xr.DataArray,
    how: Decision,
    interval: tuple[Interval, tuple[str, ...]],
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return limits at the given levels, including 0 if the test is not significant."""
    kernel, names = interval

    shown = False if level.chunks is not None else getattr(how, "progress", None)

    def limits(level: FloatArray, p: FloatArray, *columns: AnyArray) -> Limits:
        rows = [x.ravel() for x in np.broadcast_arrays(level, p, *columns)]
        found, total = np.empty((2, level.size)), level.size
        bar = progress_bar(shown, total=total, what="intervals of differences", unit="rows")
        with bar as advance:
            for start in range(0, total, _ROWS):
                some = slice(start, start + _ROWS)
                at_level, own, *few = (x[some] for x in rows)
                low, high = one_sided(kernel, at_level, few, how.alternative)
                found[:, some] = agree_with_test(low, high, own, how.alternative, how.level)
                advance(own.size)
        low, high = found.reshape(2, *level.shape)
        return low, high

    low, high = xr.apply_ufunc(
        limits, level, p, *(result[name] for name in names), output_core_dims=[[], []],
        dask="parallelized", output_dtypes=[float, float],
    )  # fmt: skip
    return low, high


def _band(
    result: xr.Dataset, own: tuple[xr.DataArray, xr.DataArray], p: xr.DataArray, how: Decision
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return simultaneous limits, at least as wide as the individual interval."""

    def limits(
        low: FloatArray, high: FloatArray, difference: FloatArray, margin: FloatArray, p: FloatArray
    ) -> Limits:
        low = np.minimum(low, np.maximum(difference - margin, -1.0))
        high = np.maximum(high, np.minimum(difference + margin, 1.0))
        return agree_with_test(low, high, p, how.alternative, how.level)

    low, high = xr.apply_ufunc(
        limits, *own, result["difference"], result["margin"], p, output_core_dims=[[], []],
        dask="parallelized", output_dtypes=[float, float],
    )  # fmt: skip
    return low, high


def _with_error(result: xr.Dataset, alpha: float, p: xr.DataArray) -> xr.Dataset:
    """Add the standard error of p_adjusted, and the column ``undecided``."""
    error, undecided = xr.apply_ufunc(
        swaps.monte_carlo_error,
        result["p_swaps"],
        p,
        result["drawn"],
        kwargs={"alpha": alpha},
        output_core_dims=[[], []],
        dask="parallelized",
        output_dtypes=[float, bool],
    )
    return result.assign(p_stderr=error, undecided=undecided)


# ------------------------------------------------- Functions that convert columns to limits


_REGIONS = ("tp_only_a", "tp_only_b", "n_only_a", "n")


def of_regions(ci: str, phi: float) -> tuple[Interval, tuple[str, ...]]:
    """Return the interval for two difference regions of equal size.

    For small regions, each limit is the wider of the limits for regions and for lists.
    """

    def limits(
        tp_a: FloatArray, tp_b: FloatArray, only: FloatArray, n: FloatArray, error: FloatArray,
        level: float,
    ) -> Limits:  # fmt: skip
        a, b, size = (x / phi for x in (tp_a, tp_b, only))
        low, high = (
            np.where(only == 0, 0.0, x * (only / n))
            for x in DIFFERENCE_INTERVALS[ci](a, size, b, size, level)
        )
        one = np.ones(error.shape)
        few = _of_error((tp_a - tp_b) / n, error, np.inf * one, one, 0.0 * one, level)
        return np.fmin(low, few[0]), np.fmax(high, few[1])

    return limits, (*_REGIONS, "error_of_few")


def _of_error(
    difference: FloatArray,
    error: FloatArray,
    freedom: FloatArray,
    reach: FloatArray,
    only: FloatArray,
    level: float,
) -> Limits:
    """Return difference ± quantile times standard error.

    With no degrees of freedom, the limits are the ends of the range. If all queries or candidates
    have the same difference, the interval allows for unseen differences.
    """
    known = freedom > 0
    margin = quantile_of(np.where(known, freedom, 1.0), level) * error
    margin = np.where(known, margin, np.where(error > 0, 2.0, 0.0 * error))
    alike = alike_share(np.minimum(freedom + 1.0, only), level)
    share = np.where((error == 0.0) & (only > 0), alike, 1.0)
    margin = margin + (1.0 - share) * reach
    around = share * difference
    return np.maximum(around - margin, -reach), np.minimum(around + margin, reach)


OF_ERROR: tuple[Interval, tuple[str, ...]] = (
    _of_error, ("difference", "error", "freedom", "reach", "n_only_a"),
)  # fmt: skip
"""The interval for a difference with a known standard error, limited to ±``reach``."""


def _of_clusters(
    difference: FloatArray,
    error: FloatArray,
    freedom: FloatArray,
    reach: FloatArray,
    moved: FloatArray,
    level: float,
) -> Limits:
    """Return limits for true differences d within t sqrt(error^2 + moved d^2).

    For d = 0, the criterion is the same as the test. As in Fieller's interval, a limit is the end
    of the range if the test does not exclude the largest possible difference.
    """
    known = freedom > 0
    t = quantile_of(np.where(known, freedom, 1.0), level)
    gap, half, more = np.abs(difference), t * error, t * t * np.where(known, moved, 0.0)
    root = np.sqrt(np.maximum(more * gap**2 + (1.0 - more) * half**2, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(more < 1.0, (gap + root) / (1.0 - more), reach)
        near = np.where(gap + root > 0.0, (gap**2 - half**2) / (gap + root), 0.0)
    near = np.where((more >= 1.0) & (gap <= half), -reach, near)
    most = np.where(~known & (error > 0.0), reach, np.nan)
    most = np.where((gap == 0.0) & (error == 0.0), 0.0, most)  # the lists are identical
    near = np.maximum(np.where(np.isnan(most), near, -most), -reach)
    far = np.minimum(np.where(np.isnan(most), far, most), reach)
    back = difference < 0.0
    return np.where(back, -far, near), np.where(back, -near, far)


OF_CLUSTERS: tuple[Interval, tuple[str, ...]] = (
    _of_clusters, ("difference", "error", "freedom", "reach", "moved"),
)  # fmt: skip
"""The interval for a difference between lists whose candidates are clustered."""


def of_paired() -> tuple[Interval, tuple[str, ...]]:
    """Return the interval function for paired proportions, and its columns."""
    return paired_difference, ("tp_overlap", "tp_only_a", "tp_only_b", "of_all")


def of_sets(ci: str, phi: float) -> tuple[Interval, tuple[str, ...]]:
    """Return the interval function for two acceptance sets, and its columns."""
    names = ("tp_overlap", "tp_only_a", "tp_only_b", "overlap", "n_only_a", "n_only_b")
    return partial(_of_sets, ci=ci, phi=phi), names


def _of_sets(*counts: FloatArray, level: float, ci: str, phi: float) -> Limits:
    tp, size = (counts[0], counts[1], counts[2]), (counts[3], counts[4], counts[5])
    both, only_a, only_b = size
    low, high = overlap_difference(tp, size, level, phi)
    if ci == "delta":
        n_a, n_b = both + only_a, both + only_b
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = 1.0 / n_a - 1.0 / n_b, 1.0 / n_a, -1.0 / n_b
            difference = (tp[0] + tp[1]) / n_a - (tp[0] + tp[2]) / n_b
            delta = delta_method(tp, size, weights, difference, level, phi=phi)
        # the delta method gives variance 0 if all candidates are correct
        flat = delta[0] == delta[1]
        low, high = (np.where(flat, x, y) for x, y in zip((low, high), delta, strict=True))
        low, high = np.clip((low, high), -1.0, 1.0)
    same = (only_a == 0) & (only_b == 0) & (both > 0)
    return np.where(same, 0.0, low), np.where(same, 0.0, high)


_MOST_SWAPS = 1e15


def enough_draws(n_tests: int, options: Decision) -> int:
    """Return the number of draws, and reject numbers too small for significance."""
    if n_tests / options.alpha > _MOST_SWAPS:
        raise ValueError(
            f"alpha={options.alpha:g}: a resampling test would need more than {_MOST_SWAPS:.0e} "
            "draws. Pass a larger alpha."
        )
    if options.n_resamples is None:
        return check_needed(swaps.enough_swaps(n_tests, options.alpha), f"alpha={options.alpha!r}")
    needed = swaps.least_swaps(n_tests, options.alpha)
    if options.n_resamples < needed:
        what = "pairs in all groups" if options.adjust_over == "all" else "pairs"
        raise ValueError(
            f"n_resamples={options.n_resamples} cannot reach alpha={options.alpha:g}: the smallest"
            f" adjusted p-value for {n_tests} {what if n_tests > 1 else 'pair'} is"
            f" {n_tests}/(n_resamples + 1). Pass n_resamples={needed} or more, or omit n_resamples."
        )
    return int(options.n_resamples)
