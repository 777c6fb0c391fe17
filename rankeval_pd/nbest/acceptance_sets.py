"""Is what one threshold accepts better than what another does?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice, is_known, unknown_name, warn
from rankeval_pd.forms import tables
from rankeval_pd.forms.measure_pairs import (
    Pair,
    sides,
    with_names,
)
from rankeval_pd.forms.thresholds import asked_thresholds
from rankeval_pd.nbest.region_tests import REGION_TYPES, SET_INTERVALS, Options, tested
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.differences import agreeing, delta_method, overlapping
from rankeval_pd.stats.rankings import ranking

_UNEQUAL = 0.1  # lists that differ by more in size are not compared in precision alone


def check_threshold(n: Any, threshold: Any, options: Options) -> None:
    """Raise a ValueError for what acceptance sets cannot be asked."""
    if n is not None:
        raise ValueError(
            f"n={n!r} and threshold={threshold!r}: give the sizes of n-best lists, or thresholds"
            " of acceptance sets, not both."
        )
    if options.target == "nbest":
        raise ValueError(
            "target='nbest' and threshold: an acceptance set has a fixed threshold, whose variance"
            " is none. Leave target out, or compare n-best lists: n=..."
        )
    check_choice("ci", options.ci, SET_INTERVALS)
    if options.adjust == "max-t":
        raise ValueError(
            "adjust='max-t' and threshold: the swaps keep the ranks, not the scores, so that they"
            " hold for n-best lists only. Give n=..., or adjust='holm'."
        )


def of_pair(
    data: Any, threshold: Mapping[Hashable, Any], a: Hashable, b: Hashable
) -> Mapping[Hashable, Any]:
    """Return the thresholds of the two measures compared: one mapping may serve several pairs."""
    if b is None or not isinstance(threshold, Mapping):
        return threshold
    columns = data.columns if isinstance(data, pd.DataFrame) else data.variables
    meant = [a, *(b if isinstance(b, list) else [b])]
    others = [name for name in threshold if not is_known(name, meant)]
    for name in others:
        if name not in columns:
            raise unknown_name("threshold", name, columns)
    return {name: given for name, given in threshold.items() if is_known(name, meant)}


def compare_sets(
    inner: xr.Dataset,
    pairs: list[Pair],
    threshold: Mapping[Hashable, Any],
    options: Options,
) -> xr.Dataset:
    """Compare the sets that the thresholds of each pair accept."""
    cuts_a, cuts_b = _paired_cuts(inner, pairs, threshold)
    signs = sides(inner["sign"], pairs)
    core = ["candidate"]
    types = {
        "n_a": np.int64, "n_b": np.int64, **REGION_TYPES, "leaning": float, "recall_a": float,
        "recall_b": float, "exists": bool,
    }  # fmt: skip
    columns = xr.apply_ufunc(
        _set_columns,
        *sides(inner["score"], pairs),
        *sides(inner["present"], pairs),
        inner["gold"],
        xr.DataArray(cuts_a, dims=("pair", "cut")) * signs[0],
        xr.DataArray(cuts_b, dims=("pair", "cut")) * signs[1],
        kwargs={"options": options},
        input_core_dims=[*[core] * 5, ["cut"], ["cut"]],
        output_core_dims=[["cut"]] * len(types),
        dask="parallelized",
        output_dtypes=[*types.values()],
    )
    return with_names(tables.as_columns(types, columns), pairs)


def _paired_cuts(
    inner: xr.Dataset, pairs: list[Pair], threshold: Mapping[Hashable, Any]
) -> tuple[FloatArray, FloatArray]:
    """Return the thresholds of both measures (pair, cut), NaN where a pair has fewer."""
    measures = inner.indexes["measure"].tolist()
    place = {name: k for k, name in enumerate(measures)}  # pd.NA is equal to nothing
    cuts = asked_thresholds(threshold, measures, unique=False)
    sides: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for pair in pairs:
        rows = [row[~np.isnan(row)] for row in (cuts[place[name]] for name in pair)]
        longest = max(row.size for row in rows)
        if not all(row.size for row in rows):
            name = pair[0] if not rows[0].size else pair[1]
            raise ValueError(
                f"threshold={threshold!r} has none for {name!r}, which is compared. Give each"
                " measure a threshold, or name the two measures: compare(a, b, threshold=...)."
            )
        for side, name, row in zip(sides, pair, rows, strict=True):
            if row.size not in (1, longest):
                raise ValueError(
                    f"threshold: {pair[0]!r} has {rows[0].size} thresholds and {pair[1]!r}"
                    f" {rows[1].size}, and they are compared one by one. Give each measure as"
                    f" many, or a single one; {name!r} needs {longest}."
                )
            side.append(np.broadcast_to(row, longest))
    width = max(row.size for row in sides[0])
    a, b = (
        np.array([np.pad(row, (0, width - row.size), constant_values=np.nan) for row in side])
        for side in sides
    )
    return a, b


def _set_columns(
    score_a: FloatArray,
    score_b: FloatArray,
    present_a: BoolArray,
    present_b: BoolArray,
    gold: BoolArray,
    cut_a: FloatArray,
    cut_b: FloatArray,
    *,
    options: Options,
) -> tuple[AnyArray, ...]:
    both = present_a & present_b
    r = ranking.accepted_regions(score_a, score_b, gold, both, cut_a, cut_b)
    only_a, only_b = r.n_a - r.overlap, r.n_b - r.overlap
    tp_only_a, tp_only_b = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    positive = (gold & both).sum(axis=-1)[..., np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision_a, precision_b = r.tp_a / r.n_a, r.tp_b / r.n_b
        recall = r.tp_a / positive, r.tp_b / positive
        leaning = np.sign(tp_only_a / only_a - tp_only_b / only_b)
        difference = precision_a - precision_b
    exists = ~np.isnan(cut_a) & ~np.isnan(cut_b) & np.ones(r.n_a.shape, dtype=bool)
    p_values = tested(tp_only_a, only_a, tp_only_b, only_b, options, exists)
    low, high = _limits(
        (r.tp_overlap, tp_only_a, tp_only_b), (r.overlap, only_a, only_b), p_values[1], options
    )
    unequal = np.abs(r.n_a - r.n_b) > _UNEQUAL * np.maximum(r.n_a, r.n_b)
    if (unequal & exists).any():
        first = tuple(np.argwhere(unequal & exists)[0])
        warn(
            f"acceptance sets of {r.n_a[first]} and {r.n_b[first]} candidates are compared: where"
            " sizes differ by more than 10 %, the smaller set often has the higher precision"
            " whatever the measure (Evert 2004, footnote 13), and 'better' is NaN. Look at recall"
            " too, or compare n-best lists."
        )
    leaning = np.where(unequal, np.nan, leaning)
    counts = r.overlap, only_a, only_b, tp_only_a, tp_only_b
    sizes, precision = (r.n_a, r.n_b), (precision_a, precision_b)
    return (
        *sizes, *precision, difference, low, high, *counts, *p_values, leaning, *recall, exists
    )  # fmt: skip


def _limits(
    tp: tuple[IntArray, ...], size: tuple[IntArray, ...], p_value: FloatArray, options: Options
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of the difference: candidates of both sets, of a alone, of b alone."""
    both, only_a, only_b = size
    n_a, n_b = both + only_a, both + only_b
    if options.ci == "delta":
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = 1.0 / n_a - 1.0 / n_b, 1.0 / n_a, -1.0 / n_b
            difference = (tp[0] + tp[1]) / n_a - (tp[0] + tp[2]) / n_b
            low, high = delta_method(
                (tp[0], tp[1], tp[2]), (both, only_a, only_b), weights, difference, options.level,
                phi=options.phi,
            )  # fmt: skip
    else:
        low, high = overlapping(
            (tp[0], tp[1], tp[2]), (both, only_a, only_b), options.level, options.phi
        )
        low, high = agreeing(low, high, p_value, options.alternative, options.level)
    same = (only_a == 0) & (only_b == 0) & (both > 0)
    return np.where(same, 0.0, low), np.where(same, 0.0, high)
