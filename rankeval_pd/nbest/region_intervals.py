"""Compute intervals and decisions for comparisons, adjusted for families."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from rankeval_pd.decisions.intervals import OF_CLUSTERS as OF_CLUSTERS
from rankeval_pd.decisions.verdicts import decision_columns as decision_columns
from rankeval_pd.forms.out.tables import adjusted_together, family_of, levels_together
from rankeval_pd.forms.rankings.copied_measures import count_distinct, distinct_pairs
from rankeval_pd.forms.rankings.kernel_calls import Pair
from rankeval_pd.forms.roles.roles import Names
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.differences import agree_with_test, one_sided
from rankeval_pd.stats.intervals.proportions import Limits
from rankeval_pd.stats.rankings.copies import stands_for
from rankeval_pd.stats.significance.adjust import rejects
from rankeval_pd.stats.significance.equivalence import interval_p, margin_name

_LIMITS = ("ci_low", "ci_high")
_ALONE = ("ci_low_alone", "ci_high_alone")

# a function from columns and a level to two-sided limits
Interval = Callable[..., Limits]


Decision = Any  # the options adjust, adjust_over, alternative, alpha, level, and optionally margin


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
) -> list[xr.Dataset]:
    """Return the results with intervals, adjusted p-values and decisions.

    The results must include all groups. Decisions are based on p_adjusted, or on p_value if
    p-values are not adjusted. An interval includes 0 if the p-value is above 1 - level.

    Parameters
    ----------
    results : list of Dataset
        Results with ``p_value``.
    batch : list of names
        Dimensions of the groups.
    how : options
    interval : function and names
        A function and the names of its columns. The function takes the columns and a level, and
        returns limits and the ends of the range.
    """
    if getattr(how, "margin", None) is not None:
        results = [_with_margin(result, how, interval) for result in results]
    bare = [result["p_value"].where(result["exists"]) for result in results]
    levels = [xr.where(result["exists"], how.level, np.nan) for result in results]
    alone = [
        _limits(result, p, level, how, interval)
        for result, p, level in zip(results, bare, levels, strict=True)
    ]
    if how.adjust is None:
        return [
            _decided(result.assign(_named(_LIMITS, own)), p, how)
            for result, p, own in zip(results, bare, alone, strict=True)
        ]
    family: dict[str, Any] = {"batch": batch, "over": how.adjust_over}
    stands = [_stands_for(result, how.alternative) for result in results]
    given = [_once(p, x) for p, x in zip(bare, stands, strict=True)]
    held = _shared(adjusted_together(given, how.adjust, **family), bare, stands)
    wider = _shared(levels_together(given, how.adjust, level=how.level, **family), levels, stands)
    together = [
        _limits(result, p, level, how, interval)
        for result, p, level in zip(results, held, wider, strict=True)
    ]
    return [
        _decided(
            result.assign({**_named(_ALONE, own), **_named(_LIMITS, limits), "p_adjusted": p}),
            p,
            how,
        )
        for result, own, limits, p in zip(results, alone, together, held, strict=True)
    ]


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
    """Add the unadjusted p-value for the margin to each row, which agrees with the interval."""
    kernel, names = interval

    def asked(exists: BoolArray, margin: FloatArray, *columns: AnyArray) -> FloatArray:
        exists, *arrays = np.broadcast_arrays(exists, margin, *columns)
        p_value = np.full(exists.shape, np.nan)
        within, *rows = (x[exists] for x in arrays)
        p_value[exists] = interval_p(
            lambda level: kernel(*rows, level=level), within, how.alternative
        )
        return p_value

    p_value = xr.apply_ufunc(
        asked,
        result["exists"],
        xr.DataArray(how.margin),
        *(result[name] for name in names),
        dask="parallelized",
        output_dtypes=[float],
    )
    return result.assign({margin_name(how.alternative): p_value})


def _named(names: tuple[str, str], arrays: tuple[Any, Any]) -> dict[str, Any]:
    return dict(zip(names, arrays, strict=True))


def _decided(result: xr.Dataset, p: xr.DataArray, how: Decision) -> xr.Dataset:
    """Add the better measure."""
    return with_better(result.assign(significant=rejects(p, how.alpha)))


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
