"""Thresholds as users give them: one number, or a mapping from measure to one or several."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from rankeval_pd.errors import is_known, listed, unknown_name
from rankeval_pd.stats._types import FloatArray


def asked_thresholds(
    threshold: Any, measures: Sequence[Hashable], *, unique: bool = True
) -> FloatArray:
    """Return the thresholds (measure, cut), NaN where a measure has fewer than others or none.

    ``unique`` keeps each threshold of a measure once.
    """
    if not isinstance(threshold, Mapping):
        if len(measures) != 1:
            raise ValueError(
                f"threshold={threshold!r}: a number is for one measure, and there are"
                f" {listed(measures)}. Give a mapping from measure to a number or a list of"
                f" numbers: threshold={{{measures[0]!r}: ...}}."
            )
        threshold = {measures[0]: threshold}
    for name in threshold:
        if not is_known(name, measures):
            raise unknown_name("threshold", name, measures)
    rows = [_numbers(name, threshold[name]) if name in threshold else [] for name in measures]
    rows = [list(dict.fromkeys(row)) for row in rows] if unique else rows
    result = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for row, numbers in zip(result, rows, strict=True):
        row[: len(numbers)] = numbers
    return result


def _numbers(name: Hashable, given: Any) -> list[float]:
    values = list(given) if np.iterable(given) and not isinstance(given, str) else [given]
    for value in values:
        if isinstance(value, (bool, np.bool_)) or not isinstance(
            value, (int, float, np.integer, np.floating)
        ):
            raise TypeError(
                f"threshold: {value!r} for {name!r} is of type {type(value).__name__}. Give a"
                " number, or a list of numbers."
            )
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            raise ValueError(
                f"threshold: a whole number for {name!r} is beyond all floats. Give a number; inf"
                " and -inf are allowed."
            )
        if np.isnan(value):
            raise ValueError(
                f"threshold: NaN for {name!r} accepts nothing and rejects nothing. Give a number;"
                " inf and -inf are allowed."
            )
    return [float(value) for value in values]
