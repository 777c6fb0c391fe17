"""Scores and gold labels as numbers, and who takes part where some are missing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import warn
from rankeval_pd.forms.roles.columns import is_score
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray

_EXACT = 2.0**53  # up to here, float64 tells all whole numbers apart


def score_values(values: pd.Series, name: Hashable) -> FloatArray:
    """Return scores as float64, NaN where they are missing."""
    if values.dtype == object:
        values = values.infer_objects()
    if isinstance(values.dtype, pd.CategoricalDtype) and values.dtype.ordered:
        codes = values.cat.codes.to_numpy(dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)
    _check_scores(values.dtype, name)
    return as_floats(
        values,
        f"measures: {name!r} has",
        f"and would be ties. Use their ranks: data[{name!r}].rank().",
    )


def _check_scores(dtype: Any, name: Hashable) -> None:
    if not (is_score(dtype) or pd.api.types.is_bool_dtype(dtype)):
        raise TypeError(
            f"measures: {name!r} has dtype {dtype}, and scores are numbers. Convert it,"
            f" as by pd.to_numeric, or name the measures that are meant: measures=..."
        )


def lifted_scores(variable: xr.DataArray, name: Hashable) -> Any:
    """Read scores of a variable; what can be none is refused before it is computed."""
    if variable.dtype != object:
        _check_scores(variable.dtype, name)
    return lifted(score_values, variable, name)


def lifted(function: Callable[..., AnyArray], variable: xr.DataArray, name: Hashable) -> Any:
    """Apply a reading of values to a variable, when it is computed if it is lazy."""
    bare = xr.DataArray(variable.variable)
    if isinstance(bare.dtype, pd.api.extensions.ExtensionDtype):
        return bare.copy(data=function(pd.Series(variable.data), name))
    if bare.dtype.kind == "c":  # Dask would cast what is none to the numbers that come of it
        bare = bare.astype(object)
    return xr.apply_ufunc(
        lambda values: function(pd.Series(values.ravel()), name).reshape(values.shape),
        bare,
        dask="parallelized",
        output_dtypes=[float],
        keep_attrs=False,
    )


def as_floats(values: pd.Series, who: str, then: str) -> FloatArray:
    """Return numbers as float64, NaN where missing; refuse those that would be alike.

    ``who`` and ``then`` begin and end what is said.
    """
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.is_integer_dtype(values.dtype):
        if (np.abs(numbers) >= _EXACT).any():
            raise ValueError(
                f"{who} whole numbers of 2**53 or more, which cannot be told apart as float64"
                f" {then}"
            )
    elif _is_finer(values.dtype):
        there = values.to_numpy()[~np.isnan(numbers)]  # pandas tells no more apart than float64
        alike = len(np.unique(there)) - len(np.unique(numbers[~np.isnan(numbers)]))
        if alike:
            raise ValueError(
                f"{who} numbers of dtype {values.dtype}, {alike} of which cannot be told apart as"
                f" float64 {then}"
            )
    return numbers


def _is_finer(dtype: Any) -> bool:
    """Return whether numbers of this dtype have more digits than those of float64."""
    dense = dtype.subtype if isinstance(dtype, pd.SparseDtype) else dtype
    plain = np.dtype(getattr(dense, "numpy_dtype", dense))
    return bool(plain.kind == "O" or plain.itemsize > 8)


def gold_values(
    values: pd.Series,
    name: Hashable,
    positive: Any = None,
    min_grade: float | None = None,
    *,
    all_there: bool = True,
) -> FloatArray:
    """Return the gold label as 1.0, 0.0 and, where it is missing, NaN.

    ``positive`` are the values of true positives, ``min_grade`` is their least grade;
    ``all_there`` says that these are all values, so that a value that is lacking is a mistake.
    """
    if positive is not None:
        return _among(values, name, positive, all_there=all_there)
    if values.dtype == object or isinstance(values.dtype, pd.CategoricalDtype):
        values = pd.Series(values.astype(object).to_numpy(), dtype=object)
        if all(isinstance(x, (bool, np.bool_, int, float, np.number)) for x in values.dropna()):
            values = pd.Series([_as_float(x) for x in values], dtype=float)
    api = pd.api.types
    numeric = (
        api.is_numeric_dtype(values.dtype) or api.is_bool_dtype(values.dtype)
    ) and not api.is_complex_dtype(values.dtype)
    truth = values.to_numpy(dtype=np.float64, na_value=np.nan) if numeric else None
    if min_grade is not None:
        if truth is None:
            raise ValueError(
                f"min_grade={min_grade!r}, and gold={name!r} holds {counted(values)}, which are no"
                " grades. Say which values are true positives: positive=..., a value or a list."
            )
        return np.where(np.isnan(truth), np.nan, truth >= min_grade)
    if truth is None or not (np.isnan(truth) | (truth == 0) | (truth == 1)).all():
        grades = "" if truth is None else ", or the least grade that makes one, min_grade=..."
        raise ValueError(
            f"gold={name!r} holds {counted(values)}, and a gold label is True or False, 1 or 0. Say"
            f" which values are true positives: positive=..., a value or a list{grades}."
        )
    return truth


def _as_float(value: Any) -> float:
    try:
        return np.nan if pd.isna(value) else float(value)
    except OverflowError:  # a whole number beyond all floats: no grade, and no label
        return np.inf if value > 0 else -np.inf


def _among(values: pd.Series, name: Hashable, positive: Any, *, all_there: bool) -> FloatArray:
    """Return 1.0 where a value is one of those of true positives."""
    plain = values.astype(object) if values.dtype != object else values
    among = true_values(positive)
    for value in among if all_there else []:
        if not plain.isin([value]).any():
            raise ValueError(
                f"positive={positive!r}: no candidate has the value {value!r}; gold={name!r} holds"
                f" {counted(values)}. Give values that occur."
            )
    result = plain.isin(among).to_numpy(dtype=np.float64)
    return np.where(plain.isna().to_numpy(dtype=bool), np.nan, result)


def true_values(positive: Any) -> list[Any]:
    """Return the values of true positives, one or several, as a list."""
    if positive is None:
        return []
    several = isinstance(positive, list | tuple | set | frozenset | np.ndarray | pd.Series)
    return list(positive) if several else [positive]


def counted(values: pd.Series, most: int = 8) -> str:
    """Return the values that there are, and how often each occurs, as text."""
    counts = values.value_counts(dropna=True)
    with contextlib.suppress(TypeError):  # values of several types
        counts = counts.sort_index()
    counts = counts[counts > 0]
    shown = [
        f"{x.item() if isinstance(x, np.generic) else x!r} ({count:,})"
        for x, count in counts.iloc[:most].items()
    ]
    more = f", ... ({len(counts):,} values in all)" if len(counts) > most else ""
    missing = int(values.isna().sum())
    shown += [f"missing ({missing:,})"] if missing and not more else []
    return ", ".join(shown) + more or "nothing"


def admit(
    score: FloatArray,
    gold: FloatArray,
    *,
    measures: Sequence[Hashable],
    gold_name: Hashable,
    missing: str,
    padding: bool,
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return scores, gold and who is present; refuse what is missing without leave.

    score (..., measure, candidate) and gold (..., candidate) broadcast.
    """
    batch = np.broadcast_shapes(score.shape[:-2], gold.shape[:-1])
    score = np.broadcast_to(score, (*batch, *score.shape[-2:]))
    gold = np.broadcast_to(gold, (*batch, gold.shape[-1]))
    unscored = np.isnan(score)
    unlabelled = np.isnan(gold)
    left_out = unlabelled & unscored.all(axis=-2) if padding else np.zeros_like(unlabelled)
    refuse_unlabelled(int((unlabelled & ~left_out).sum()), gold.size, gold_name)
    present = np.broadcast_to(~left_out[..., np.newaxis, :], score.shape)
    lacking = unscored & present
    if missing == "raise" and lacking.any():
        axes = tuple(i for i in range(score.ndim) if i != score.ndim - 2)
        refuse_unscored(lacking.sum(axis=axes), present.sum(axis=axes), gold.size, measures)
    if missing == "drop" and lacking.any():
        _warn_of_dropped(lacking, present, gold == 1.0, measures)
        present = present & ~unscored
    return score, gold == 1.0, present


def refuse_unlabelled(lacking: int, total: int, gold_name: Hashable) -> None:
    """Raise a ValueError where candidates have no gold label."""
    if lacking:
        raise ValueError(
            f"gold={gold_name!r} is missing for {lacking} of"
            f" {total} candidates: whether a candidate is a true positive must be known. Judge"
            " them, or decide what they are: to call all of them false, by fillna(False), gives a"
            " lower bound of precision; to leave them out makes lists of the judged alone, which"
            " reach further down and, if the top was judged first, look better than they are. If"
            " those judged are a random sample, judged_precision and judged_difference estimate."
        )


def refuse_unscored(
    lacking: IntArray, present: IntArray, total: int, measures: Sequence[Hashable]
) -> None:
    """Raise a ValueError where candidates have no score, and nothing is said of what it means."""
    if lacking.any():
        shown = [
            f"{name!r} ({'all' if count == every else int(count)})"
            for name, count, every in zip(measures, lacking, present, strict=True)
            if count
        ]
        raise ValueError(
            f"missing='raise': scores are missing in {', '.join(shown)} of {total} candidates."
            " Say what that means: missing='absent', the measure did not retrieve them and its"
            " list ends before; missing='last', they are tied after every score; missing='drop',"
            " the measure is judged without them, as if they did not exist."
        )


def _warn_of_dropped(
    lacking: BoolArray, present: BoolArray, true: BoolArray, measures: Sequence[Hashable]
) -> None:
    """Say what each measure is judged without."""
    axes = tuple(i for i in range(lacking.ndim) if i != lacking.ndim - 2)
    true = np.broadcast_to(true[..., np.newaxis, :], lacking.shape)
    counts = (x.sum(axis=axes) for x in (lacking, lacking & true, present, present & true))
    taken = [
        f"{name!r} without {int(out):,} of {int(every):,} candidates ({int(out_true):,} of"
        f" {int(every_true):,} true positives)"
        for name, out, out_true, every, every_true in zip(measures, *counts, strict=True)
        if out
    ]
    warn(
        f"missing='drop' judges {'; '.join(taken)}: a measure is not made worse by what it does not"
        " score. If it was asked for them and did not retrieve them, give missing='absent'."
    )
