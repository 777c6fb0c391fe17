"""Average results over queries as means or as ratios of sums."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice
from rankeval_pd.forms.out.tables import in_one_chunk
from rankeval_pd.forms.roles.roles import Alternative
from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.intervals import cluster_totals

Average = Literal["macro", "micro"]


def check_average(average: str | None, *, combine: bool = False) -> None:
    """Raise a ValueError for an unknown average, or for combine=True with an average."""
    check_choice("average", average, (None, "macro", "micro"))
    if average is not None and combine:
        raise ValueError(
            f"average={average!r} with combine=True: average= averages over the groups, but"
            " combine=True tests the sum over the groups. Pass one of the two."
        )


def check_groups(names: Collection[Hashable]) -> None:
    """Raise a ValueError if there are no groups to combine."""
    if len(names) == 0:
        raise ValueError(
            "average= and combine=True combine groups, but there are none. Pass the name of the"
            " group column as by=..., or add a group dimension to the Dataset."
        )


class GroupAverage(NamedTuple):
    """Store the average of a quantity over groups, and the test of this average."""

    value: xr.DataArray
    p_value: xr.DataArray
    n_queries: xr.DataArray
    se: xr.DataArray


def over_groups(
    above: xr.DataArray,
    below: xr.DataArray | None,
    batch: list[Hashable],
    alternative: Alternative = "two-sided",
) -> GroupAverage:
    """Return the mean of ``above`` over groups, or a ratio of sums if ``below`` is given.

    Groups without a value contain NaN. For lazy data, the result is lazy.
    """

    def ask(over: FloatArray, under: FloatArray) -> tuple[AnyArray, ...]:
        # contiguous arrays, so that sums always follow group order
        over, under = (
            np.ascontiguousarray(x.reshape(*x.shape[: x.ndim - len(batch)], -1))
            for x in (over, under)
        )
        columns = cluster_totals.query_ratio(over, under)
        p = cluster_totals.t_test(columns, alternative)
        return columns.value, p, columns.n, columns.se

    given = [above, xr.ones_like(above).where(above.notnull()) if below is None else below]
    given = [x.astype(float) for x in xr.broadcast(*given)]
    given = [in_one_chunk(x, batch) for x in given]
    columns = xr.apply_ufunc(
        ask, *given, input_core_dims=[batch, batch], output_core_dims=[[]] * 4,
        dask="parallelized", output_dtypes=[float, float, np.int64, float],
    )  # fmt: skip
    return GroupAverage(*columns)


def _limits(found: GroupAverage, level: float) -> dict[str, xr.DataArray]:
    """Return the confidence limits for an average of proportions."""
    low, high = xr.apply_ufunc(
        cluster_totals.share_limits, found.value, found.se, found.n_queries,
        kwargs={"level": level}, output_core_dims=[[], []], dask="parallelized",
        output_dtypes=[float, float],
    )  # fmt: skip
    return {"ci_low": low, "ci_high": high}


Combination = Callable[[xr.Dataset, list[Hashable]], xr.Dataset]


def of_lists(average: str, level: float) -> Combination:
    """Return a function that averages n-best lists over groups."""

    def combine(lists: xr.Dataset, batch: list[Hashable]) -> xr.Dataset:
        there = lists["exists"]
        tp, positive, total, drawn, n = (
            lists[name].where(there) for name in ("tp", "positive", "total", "drawn", "n")
        )
        with_positives = there & (positive > 0)
        if average == "macro":
            precision = over_groups(lists["precision"].where(there), None, batch)
            recall = over_groups(lists["recall"].where(there), None, batch).value
            lift = over_groups(lists["lift"].where(there), None, batch).value
        else:
            precision = over_groups(tp, n, batch)
            recall = over_groups(tp.where(with_positives), positive, batch).value
            lift = over_groups(tp, n * drawn / total, batch).value
        result = xr.Dataset(
            {
                "tp": tp.sum(batch), "precision": precision.value, "recall": recall, "lift": lift,
                **_limits(precision, level), "n_queries": precision.n_queries,
                "n_missing": (~there).sum(batch), "exists": there.any(batch),
            }
        )  # fmt: skip
        whole = lists["tp"].dtype.kind != "f"
        return result.assign(tp=result["tp"].astype(np.int64)) if whole else result

    return combine


_RATES = {
    "fpr": ("false", "others"),
    "tpr": ("tp", "positive"),
    "recall": ("tp", "positive"),
    "precision": ("tp", "n"),
}
"""The numerator and denominator of a rate."""


def of_curves(average: str, rates: tuple[str, str], level: float) -> Combination:
    """Return a function that averages curves over groups."""
    judged = "precision" if "precision" in rates else "tpr"

    def combine(curves: xr.Dataset, batch: list[Hashable]) -> xr.Dataset:
        positive, others = (curves[name].where(curves[name] > 0) for name in ("positive", "others"))
        if judged == "tpr":  # like an ROC area, an ROC curve needs both classes
            positive, others = positive.where(others > 0), others.where(positive > 0)
        there = curves["exists"]
        n = curves["n"].where(there)
        tp = curves["tp"].where(there)
        n, tp = (_held(x) for x in (n, tp))
        counts = {"n": n.where(n > 0), "tp": tp, "false": n - tp}
        counts |= {"positive": positive, "others": others}
        by_name = {}
        for rate in rates:
            above, below = (counts[name] for name in _RATES[rate])
            macro = average == "macro"
            by_name[rate] = over_groups(
                above / below if macro else above.where(below.notnull()),
                None if macro else below,
                batch,
            )
        interval = by_name[judged]
        whole = xr.zeros_like(interval.n_queries) + int(np.prod([curves.sizes[d] for d in batch]))
        return xr.Dataset(
            {
                **{rate: x.value for rate, x in by_name.items()},
                **_limits(interval, level), "n_queries": interval.n_queries,
                "n_missing": whole - interval.n_queries, "exists": there.any(batch),
            }
        )  # fmt: skip

    return combine


def _held(counts: xr.DataArray) -> xr.DataArray:
    """Return counts along n. Lists that end early keep the last count."""

    def hold(values: FloatArray) -> FloatArray:
        known = ~np.isnan(values)
        last = np.maximum.accumulate(np.where(known, np.arange(values.shape[-1]), -1), axis=-1)
        held = np.take_along_axis(values, np.maximum(last, 0), axis=-1)
        return np.where(last >= 0, held, np.nan)

    held: xr.DataArray = xr.apply_ufunc(
        hold, counts, input_core_dims=[["n"]], output_core_dims=[["n"]], dask="parallelized",
        output_dtypes=[float],
    )  # fmt: skip
    return held


def of_areas(average: str, level: float) -> Combination:
    """Return a function that averages areas over groups for each measure."""

    def combine(areas: xr.Dataset, batch: list[Hashable]) -> xr.Dataset:
        known = areas["area"].notnull()
        weight = areas["weight"].where(known) if average == "micro" else None
        times = 1.0 if weight is None else weight
        result = over_groups(areas["area"] * times, weight, batch)
        chance = over_groups(areas["chance"].where(known) * times, weight, batch)
        return xr.Dataset(
            {
                "area": result.value, "chance": chance.value, **_limits(result, level),
                "se": result.se, "n_queries": result.n_queries,
                "n_missing": (~known).sum(batch), "exists": areas["exists"].any(batch),
            }
        )  # fmt: skip

    return combine
