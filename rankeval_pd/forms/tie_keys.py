"""The tie key: one order of the candidates, shared by all measures, in which equal scores stand.

Without a key of the user's, it is a hash of the candidate's label, of how many earlier rows have
the same label, and of the seed: the order of the rows then changes no number, and neither does
the label of the truth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray

_Hashes = np.ndarray[Any, np.dtype[np.uint64]]


def label_order(labels: pd.Index, seed: int, group: IntArray) -> IntArray:
    """Return the positions of the candidates, group by group, in the order of their hashes.

    ``group`` is the number of each candidate's group; repeated labels are counted within it.
    """
    hashes = _hash(labels)
    if labels.has_duplicates:
        repeat = pd.Series(hashes).groupby([group, hashes]).cumcount().to_numpy()
        again = repeat > 0
        hashes[again] = _mix(hashes[again] ^ _mix(repeat[again].astype(np.uint64)))
    hashes = _mix(hashes + _mix(np.array([seed % 2**64], dtype=np.uint64)))
    return np.lexsort((hashes, group))


def _mix(x: _Hashes) -> _Hashes:
    """Return splitmix64 of x: every bit of the input changes half of the bits of the output."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _hash(labels: pd.Index) -> _Hashes:
    """Return hashes that are the same whatever the dtype that holds the same labels."""
    if not isinstance(labels, pd.MultiIndex):
        labels = labels.infer_objects()
        if labels.dtype == object and len(labels) and all(isinstance(x, tuple) for x in labels):
            labels = pd.MultiIndex.from_tuples(labels)
    if isinstance(labels, pd.MultiIndex):
        hashes = np.full(len(labels), np.uint64(labels.nlevels))
        for level in range(labels.nlevels):
            hashes = _mix(hashes ^ _hash(labels.get_level_values(level)))
        return hashes
    if isinstance(labels.dtype, pd.CategoricalDtype):
        labels = pd.Index(labels.astype(object)).infer_objects()
    if isinstance(labels, pd.DatetimeIndex | pd.TimedeltaIndex):
        return _mix(_nanoseconds(labels).view(np.uint64))
    if pd.api.types.is_numeric_dtype(labels.dtype) and not pd.api.types.is_complex_dtype(
        labels.dtype
    ):
        return _mix(_numbers(labels).view(np.uint64))
    text = np.array([x if isinstance(x, str) else _described(x) for x in labels], dtype=object)
    return np.asarray(pd.util.hash_array(text, categorize=not labels.is_unique), dtype=np.uint64)


def _nanoseconds(labels: pd.DatetimeIndex | pd.TimedeltaIndex) -> IntArray:
    try:
        return labels.as_unit("ns").asi8.copy()
    except (pd.errors.OutOfBoundsDatetime, pd.errors.OutOfBoundsTimedelta):
        return labels.as_unit("us").asi8.copy()


def _numbers(labels: pd.Index) -> AnyArray:
    """Return whole numbers as int64, whatever held them, and others as float64."""
    if pd.api.types.is_unsigned_integer_dtype(labels.dtype) and not labels.hasnans:
        return labels.to_numpy(dtype=np.uint64)
    if pd.api.types.is_integer_dtype(labels.dtype) and not labels.hasnans:
        return labels.to_numpy(dtype=np.int64)
    values = labels.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0
    whole = np.isfinite(values) & (np.abs(values) < 2.0**63)
    if whole.all() and (values == np.floor(values)).all():
        return values.astype(np.int64)
    return values


def _described(label: object) -> str:
    value = label.item() if isinstance(label, np.generic) else label
    return f"\0{type(value).__name__}:{value!r}"


def column_order(values: pd.Series, name: object, group: IntArray) -> IntArray:
    """Return the positions of the candidates, group by group, the smaller value first."""
    missing = values.isna().to_numpy(dtype=bool)
    if missing.any():
        raise ValueError(
            f"key={name!r} has {missing.sum()} missing values: every candidate needs a value that"
            " no other has. Fill them, or leave key out: then a hash of the label breaks ties."
        )
    _refuse_repeated(values, name, group)
    try:
        order = np.asarray(pd.Series(values.to_numpy()).sort_values(kind="stable").index)
        return order[np.argsort(group[order], kind="stable")]
    except TypeError as error:
        raise TypeError(
            f"key={name!r} has values that cannot be ordered ({error}). Give a column of numbers,"
            " strings or dates."
        ) from None


def _refuse_repeated(values: pd.Series, name: object, group: IntArray) -> None:
    pairs = pd.DataFrame({"group": group, "value": values.to_numpy()})
    repeated = values[pairs.duplicated().to_numpy(dtype=bool)]
    if len(repeated):
        raise ValueError(
            f"key={name!r} has repeated values, {listed(repeated.unique()[:3])}: a key breaks ties"
            " only if no two candidates of a group share it. Give another column, or leave key"
            " out: then a hash of the label breaks ties."
        )


def value_order(values: AnyArray, gold: FloatArray, name: object) -> IntArray:
    """Return the same for an array with candidates last; padding, without gold, comes last."""
    values, gold = np.broadcast_arrays(values, gold)
    result = np.empty(values.shape, dtype=np.int64)
    for row in np.ndindex(values.shape[:-1]):
        key = pd.Series(values[row])
        padding = np.isnan(gold[row])
        real = np.flatnonzero(~(padding & key.isna().to_numpy(dtype=bool)))
        found = real[column_order(key.iloc[real], name, np.zeros(real.size, dtype=np.int64))]
        result[row] = np.concatenate([found, np.setdiff1d(np.arange(len(key)), real)])
    return result
