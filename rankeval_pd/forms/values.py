"""Scores and gold labels as numbers, and who takes part where some are missing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed
from rankeval_pd.forms.columns import is_score
from rankeval_pd.stats._types import BoolArray, FloatArray

_EXACT = 2.0**53  # up to here, float64 tells all whole numbers apart


def score_values(values: pd.Series, name: Hashable) -> FloatArray:
    """Return scores as float64, NaN where they are missing."""
    if values.dtype == object:
        values = values.infer_objects()
    if not (is_score(values.dtype) or pd.api.types.is_bool_dtype(values.dtype)) or isinstance(
        values.dtype, pd.CategoricalDtype
    ):
        raise TypeError(
            f"measures: {name!r} has dtype {values.dtype}, and scores are numbers. Convert it,"
            f" as by pd.to_numeric, or name the measures that are meant: measures=..."
        )
    scores = values.to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.is_integer_dtype(values.dtype) and (np.abs(scores) >= _EXACT).any():
        raise ValueError(
            f"measures: {name!r} has whole numbers of 2**53 or more, which cannot be told apart as"
            f" float64 and would be ties. Use their ranks: data[{name!r}].rank()."
        )
    return scores


def gold_values(values: pd.Series, name: Hashable) -> FloatArray:
    """Return the gold label as 1.0, 0.0 and, where it is missing, NaN."""
    if values.dtype == object or isinstance(values.dtype, pd.CategoricalDtype):
        values = pd.Series(values.astype(object).to_numpy(), dtype=object)
        if all(isinstance(x, (bool, np.bool_, int, float, np.number)) for x in values.dropna()):
            values = pd.Series([np.nan if pd.isna(x) else float(x) for x in values], dtype=float)
    api = pd.api.types
    numeric = (
        api.is_numeric_dtype(values.dtype) or api.is_bool_dtype(values.dtype)
    ) and not api.is_complex_dtype(values.dtype)
    truth = values.to_numpy(dtype=np.float64, na_value=np.nan) if numeric else None
    if truth is None or not (np.isnan(truth) | (truth == 0) | (truth == 1)).all():
        found = values.dropna().unique()[:5].tolist()
        raise ValueError(
            f"gold={name!r} holds {listed(found)}, and a gold label is True or False, 1 or 0. Say"
            f" which values are true positives: data.assign(gold=data[{name!r}] == {found[-1]!r})."
        )
    return truth


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
    if (unlabelled & ~left_out).any():
        raise ValueError(
            f"gold={gold_name!r} is missing for {int((unlabelled & ~left_out).sum())} of"
            f" {gold.size} candidates: whether a candidate is a true positive must be known. Drop"
            " those that were not judged, or say what they are by fillna(False)."
        )
    present = np.broadcast_to(~left_out[..., np.newaxis, :], score.shape)
    lacking = unscored & present
    if missing == "raise" and lacking.any():
        axes = tuple(i for i in range(score.ndim) if i != score.ndim - 2)
        counts = lacking.sum(axis=axes)
        shown = [
            f"{name!r} ({'all' if count == present[..., i, :].sum() else int(count)})"
            for i, (name, count) in enumerate(zip(measures, counts, strict=True))
            if count
        ]
        raise ValueError(
            f"missing='raise': scores are missing in {', '.join(shown)} of {gold.size} candidates."
            " Give missing='last' to rank them after every score, or missing='drop' to leave them"
            " out of the measures that lack them."
        )
    if missing == "drop":
        present = present & ~unscored
    return score, gold == 1.0, present
