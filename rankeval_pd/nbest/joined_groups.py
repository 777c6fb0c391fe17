"""Is A better than B over all groups: one exact test within strata, or the mean over queries."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice, check_share, is_known
from rankeval_pd.forms import tables
from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.choices import Alternative
from rankeval_pd.forms.measure_pairs import PairRanks, ask_pairs, only_pair, pair_names
from rankeval_pd.forms.n import Shares, Sizes, those
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import Roles
from rankeval_pd.queries.averages import check_average, over_groups
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.differences import agreeing
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.significance import stratified
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.stats.significance.adjust import adjust as adjusted

_FRONT = (
    "measure_a", "measure_b", "n", "precision_a", "precision_b", "difference", "ci_low", "ci_high",
)  # fmt: skip
_COUNTS = ("overlap", "n_only_a", "n_only_b", "tp_only_a", "tp_only_b")
_DECIDED = ("p_adjusted", "significant", "better")
COMBINED_COLUMNS = (*_FRONT, *_COUNTS, "p_value", "p_mid", *_DECIDED, "n_groups", "n_left_out")
AVERAGED_COLUMNS = (*_FRONT, *_COUNTS, "p_value", *_DECIDED, "n_queries", "n_missing")


def check_joined(
    combine: bool, average: str | None, sizes: Sizes, others: Mapping[str, tuple[Any, Any]]
) -> None:
    """Raise a ValueError where an option has no meaning for all groups together.

    ``others`` are options: what was given, and what it is unless given.
    """
    check_average(average, combine=combine)
    asked = "combine=True" if combine else f"average={average!r}"
    for name, (given, usual) in others.items():
        if given is not usual and not is_known(given, [usual]):
            raise ValueError(
                f"{asked} with {name}={given!r}: all groups together have one test, and this"
                f" option is of the rows of single groups. Leave it out, or leave {asked} out."
            )
    if isinstance(sizes, Shares):
        raise ValueError(
            f"{asked} with shares of the candidates: groups of different sizes would have lists of"
            " different n. Give whole numbers."
        )


def compare_joined(
    data: Data,
    a: Hashable,
    b: Hashable,
    sizes: IntArray | None,
    roles: Mapping[str, Any],
    *,
    average: str | None,
    alternative: Alternative,
    alpha: float,
    adjust: str | None,
    level: float,
) -> Data:
    """Compare pairs of measures in all groups together: combined, or with ``average`` averaged."""
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    check_choice("adjust", adjust, (None, *ADJUSTMENTS))
    alpha, level = check_share("alpha", alpha), check_share("level", level)
    ties = Roles.of(roles).ties

    def question(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        pairs = pair_names(inner, a, b)
        types: dict[str, type] = dict.fromkeys(("tp_a", "tp_b", *_COUNTS), np.int64)
        return ask_pairs(inner, pairs, _counts, types, n=those(sizes, asked), ties=ties)

    def together(lists: xr.Dataset, batch: list[Hashable]) -> xr.Dataset:
        if average is None:
            result = _tested(lists, batch, alternative, level)
        else:
            result = _averaged(lists, batch, average, alternative, level)
        return _named(_decided(result, adjust, alpha))

    return answer(
        data, only_pair(data, a, b, roles), question,
        COMBINED_COLUMNS if average is None else AVERAGED_COLUMNS,
        n=sizes, cuts_lists=True, any_ends=True, combine=together,
        attrs={
            "combine": average is None, "average": average, "alternative": alternative,
            "adjust": adjust, "alpha": alpha, "level": level,
        },
    )  # fmt: skip


def _counts(lists: PairRanks, n: IntArray) -> tuple[AnyArray, ...]:
    r = ranking.nbest_regions(lists.a, lists.b, lists.gold, n)
    only = n - r.overlap
    return r.tp_a, r.tp_b, r.overlap, only, only, r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap


def _sums(lists: xr.Dataset, batch: list[Hashable]) -> dict[str, xr.DataArray]:
    there = lists["exists"]
    return {
        name: lists[name].where(there, 0).sum(batch).astype(np.int64) for name in _COUNTS
    }  # fmt: skip


def _tested(lists: xr.Dataset, batch: list[Hashable], alternative: str, level: float) -> xr.Dataset:
    there = lists["exists"]
    groups, total = there.sum(batch), (lists["n"] * there).sum(batch)
    columns = [lists[name].where(there, 0) for name in ("tp_only_a", "tp_only_b", "n_only_a")]
    columns = [tables.in_one_chunk(x, batch) for x in columns]
    result = xr.apply_ufunc(
        _strata, *columns, total,
        kwargs={"alternative": alternative, "level": level, "groups": len(batch)},
        input_core_dims=[batch, batch, batch, []], output_core_dims=[[]] * 5,
        dask="parallelized", output_dtypes=[float] * 5,
    )  # fmt: skip
    names = ("difference", "ci_low", "ci_high", "p_value", "p_mid")
    listed = total.where(total > 0)
    precision = {
        f"precision_{side}": lists[f"tp_{side}"].where(there, 0).sum(batch) / listed
        for side in "ab"
    }
    return xr.Dataset(
        {**precision, **dict(zip(names, result, strict=True)), **_sums(lists, batch)}
    ).assign(n_groups=groups, n_left_out=(~there).sum(batch), exists=there.any(batch))


def _strata(
    tp_a: AnyArray, tp_b: AnyArray, size: AnyArray, total: AnyArray, *, alternative: str,
    level: float, groups: int,
) -> tuple[FloatArray, ...]:  # fmt: skip
    values = np.full((5, *total.shape), np.nan)
    for row in np.ndindex(total.shape):
        if not total[row]:
            continue
        x, y, m = (np.asarray(v[row]).ravel().astype(np.int64) for v in (tp_a, tp_b, size))
        p = stratified.exact_test(x, y, m, alternative)
        share = float(m.sum()) / float(total[row])
        values[(slice(None), *row)] = (
            *(share * limit for limit in stratified.difference(x, y, m, level)), *p,
        )  # fmt: skip
    difference, low, high, p_value, p_mid = values
    return difference, *agreeing(low, high, p_value, alternative, level), p_value, p_mid


def _averaged(
    lists: xr.Dataset, batch: list[Hashable], average: str, alternative: Alternative, level: float
) -> xr.Dataset:
    there = lists["exists"]
    n = lists["n"].where(there)
    tp = {side: lists[f"tp_{side}"].where(there) for side in "ab"}
    gain = tp["a"] - tp["b"]
    if average == "macro":
        result = over_groups(gain / n, None, batch, level, alternative)
        precision = {side: over_groups(x / n, None, batch, level).value for side, x in tp.items()}
    else:
        result = over_groups(gain, n, batch, level, alternative)
        precision = {side: over_groups(x, n, batch, level).value for side, x in tp.items()}
    return xr.Dataset(
        {
            "precision_a": precision["a"], "precision_b": precision["b"],
            "difference": result.value, "ci_low": result.low.clip(-1.0, 1.0),
            "ci_high": result.high.clip(-1.0, 1.0), "p_value": result.p_value,
            "n_queries": result.n_queries, "n_missing": (~there).sum(batch),
            "exists": there.any(batch), **_sums(lists, batch),
        }
    )  # fmt: skip


def _decided(result: xr.Dataset, adjust: str | None, alpha: float) -> xr.Dataset:
    """Add the adjusted p-values, of all pairs and n, and what they decide."""
    p = result["p_value"]
    computed = xr.full_like(p, np.nan)
    if adjust is not None:
        core = list(p.dims)
        computed = xr.apply_ufunc(
            lambda x: adjusted(x.ravel(), adjust).reshape(x.shape),
            tables.in_one_chunk(p, core), input_core_dims=[core], output_core_dims=[core],
            dask="parallelized", output_dtypes=[float],
        )  # fmt: skip
    return result.assign(
        p_adjusted=computed, significant=(p if adjust is None else computed) <= alpha
    )


def _named(result: xr.Dataset) -> xr.Dataset:
    """Add the name of the measure that the difference favours."""
    a, b = (result[f"measure_{side}"].to_numpy() for side in "ab")

    def favoured(difference: FloatArray, pair: IntArray) -> AnyArray:
        names = np.where(difference > 0, a[pair], b[pair]).astype(object)
        names[~(np.abs(difference) > 0)] = np.nan
        return names

    better = xr.apply_ufunc(
        favoured,
        result["difference"],
        xr.DataArray(np.arange(result.sizes["pair"]), dims="pair"),
        dask="parallelized",
        output_dtypes=[object],
    )
    return result.assign(better=better)
