"""Compute tie keys, which order tied candidates in the same way for all measures.

By default, the tie key is a hash of the candidate's label, the number of earlier rows with the same
label, and the seed. Results therefore do not depend on the row order or the gold label. The hash
depends on the label but not on the dtype, so 1, 1.0 and Decimal(1) have the same hash.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed
from rankeval_pd.stats._types import AnyArray, BoolArray, IntArray
from rankeval_pd.stats.rankings.swap_draws import Keys, mix

_Labels = pd.Index | Sequence[pd.Index]
# distinguish numbers of different types that have the same bits
_MISSING, _UNSIGNED, _FRACTIONAL = (
    np.uint64(x << 32) for x in (0x6D697373, 0x756E7369, 0x66726163)
)
_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def label_order(labels: _Labels, seed: int, group: IntArray) -> tuple[IntArray, BoolArray, Keys]:
    """Return the positions of candidates, sorted by group and hash.

    ``group`` is the number of each candidate's group. Repeated labels are counted within groups.
    The second result marks rows that repeat the label of an earlier row in the same group. The
    third result contains the hashes. Several indexes are treated as levels of one label.
    """
    hashes = label_hashes(labels)
    again = np.zeros(hashes.size, dtype=bool)
    salt = mix(np.array([seed % 2**64], dtype=np.uint64))
    keys = mix(hashes + salt)
    order = _sorted_rows(keys, group)
    one, other = order[1:], order[:-1]
    if ((keys[one] == keys[other]) & (group[one] == group[other])).any():
        repeat = pd.Series(hashes).groupby([group, hashes]).cumcount().to_numpy()
        again = repeat > 0
        hashes[again] = mix(hashes[again] ^ mix(repeat[again].astype(np.uint64)))
        keys = mix(hashes + salt)
        order = _sorted_rows(keys, group)
    return order, again, keys


def _sorted_rows(keys: Keys, group: IntArray) -> IntArray:
    """Return the rows, sorted by group and key."""
    return np.lexsort((keys, group)) if group.any() else np.argsort(keys, kind="stable")


def label_hashes(labels: _Labels) -> Keys:
    """Return a hash for each label, combining several indexes as levels."""
    if isinstance(labels, pd.MultiIndex):
        return _of_levels(
            [_taken(labels.levels[k], labels.codes[k]) for k in range(labels.nlevels)], len(labels)
        )
    if isinstance(labels, pd.Index):
        return _hash(labels)
    return _of_levels([_hash(level) for level in labels], len(labels[0]))


def _of_levels(levels: list[Keys], size: int) -> Keys:
    """Combine the hashes of elements into hashes of tuples."""
    hashes = np.full(size, np.uint64(len(levels)))
    for level in levels:
        hashes = mix(hashes ^ level)
    return hashes


def _taken(values: pd.Index, codes: AnyArray) -> Keys:
    """Return hashes for the codes of values. Missing values have code -1."""
    hashes = np.append(_hash(values), mix(np.array([_MISSING])))
    return np.asarray(hashes[np.asarray(codes)], dtype=np.uint64)


def _hash(labels: pd.Index) -> Keys:
    """Return hashes of labels that do not depend on the dtype."""
    if isinstance(labels, pd.MultiIndex):
        return label_hashes(labels)
    labels = labels.infer_objects()
    if isinstance(labels, pd.CategoricalIndex):
        return _taken(labels.categories, labels.codes)
    hashes = np.empty(len(labels), dtype=np.uint64)
    known = np.asarray(labels.notna())
    hashes[~known] = mix(np.array([_MISSING]))
    if known.any():
        hashes[known] = _hash_known(labels if known.all() else labels[known])
    return hashes


def _hash_known(labels: pd.Index) -> Keys:
    """Return hashes for nonmissing labels that share a dtype."""
    api = pd.api.types
    if isinstance(labels, pd.DatetimeIndex | pd.TimedeltaIndex):
        return _times(labels.asi8, labels.unit)
    if api.is_numeric_dtype(labels.dtype) and not api.is_complex_dtype(labels.dtype):
        return _numbers(labels)
    values = labels.to_numpy(dtype=object)
    strings = np.fromiter((isinstance(x, str) for x in values), dtype=bool, count=values.size)
    hashes = np.empty(values.size, dtype=np.uint64)
    hashes[strings] = _text(values[strings])
    tuples = np.fromiter((isinstance(x, tuple) for x in values), dtype=bool, count=values.size)
    lengths = np.array([len(x) if isinstance(x, tuple) else -1 for x in values])
    for length in np.unique(lengths[tuples]):
        rows = np.flatnonzero(lengths == length)
        columns = [_objects([x[k] for x in values[rows]]) for k in range(length)]
        hashes[rows] = _of_levels([_hash(column) for column in columns], rows.size)
    for row in np.flatnonzero(~strings & ~tuples):
        hashes[row] = _one(values[row])
    return hashes


def _objects(values: list[Any]) -> pd.Index:
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return pd.Index(held, dtype=object, tupleize_cols=False)


def _text(values: AnyArray) -> Keys:
    return np.asarray(pd.util.hash_array(values, categorize=False), dtype=np.uint64)


def _times(ticks: IntArray, unit: str) -> Keys:
    """Return a hash for each time, using the finest possible unit for each."""
    hashes = np.empty(ticks.size, dtype=np.uint64)
    left = np.ones(ticks.size, dtype=bool)
    for name, size in _UNITS.items():
        if size > _UNITS[unit]:
            break
        factor = _UNITS[unit] // size
        fits = left & (np.abs(ticks) <= np.iinfo(np.int64).max // factor)
        salt = np.uint64(0) if name == "ns" else np.uint64(size << 32)
        hashes[fits] = mix((ticks[fits] * factor).view(np.uint64) ^ salt)
        left &= ~fits
    return hashes


def _numbers(labels: pd.Index) -> Keys:
    """Return the hashes of numbers. Whole numbers are hashed as integers."""
    if pd.api.types.is_unsigned_integer_dtype(labels.dtype):
        large = labels.to_numpy(dtype=np.uint64)
        return mix(np.where(large >= np.uint64(2**63), large ^ _UNSIGNED, large))
    if pd.api.types.is_integer_dtype(labels.dtype):
        return mix(labels.to_numpy(dtype=np.int64).view(np.uint64))
    values = labels.to_numpy(dtype=np.float64) + 0.0
    hashes = values.view(np.uint64) ^ _FRACTIONAL
    whole = values == np.floor(values)
    small = whole & (values >= -(2.0**63)) & (values < 2.0**63)
    hashes[small] = values[small].astype(np.int64).view(np.uint64)
    large = whole & (values >= 2.0**63) & (values < 2.0**64)
    hashes[large] = values[large].astype(np.uint64) ^ _UNSIGNED
    return mix(hashes)


def _one(label: Any) -> np.uint64:
    """Return the hash of a label that is neither a string nor a tuple."""
    label = label.item() if isinstance(label, np.number | np.bool_) else label
    if isinstance(label, numbers.Number):
        return _one_number(label)
    if isinstance(label, np.datetime64 | datetime.datetime):
        # an index would use nanoseconds, which cannot represent distant dates
        stamp = pd.Timestamp(label)
        return np.uint64(_times(np.array([stamp.asm8.astype(np.int64)]), stamp.unit)[0])
    if isinstance(label, np.timedelta64 | datetime.timedelta):
        return np.uint64(_hash_known(pd.TimedeltaIndex([label]))[0])
    if isinstance(label, pd.Interval):
        ends = (_objects([x]) for x in (label.left, label.right, label.closed))
        return np.uint64(_of_levels([_hash(end) for end in ends], 1)[0])
    return _described(label)


def _one_number(label: Any) -> np.uint64:
    if isinstance(label, complex) and label.imag == 0.0:
        label = label.real
    if not isinstance(label, numbers.Real | decimal.Decimal):
        return _described(label)
    try:
        exact = fractions.Fraction(label)  # type: ignore[arg-type]
        near = float(exact)
    except OverflowError:  # infinite or too large for floats
        near = float("inf") if label == float("inf") else float("-inf")
        return _described(label) if label != near else _number(near)
    if exact.denominator == 1 and -(2**63) <= exact < 2**64:
        return _number(int(exact))
    return _number(near) if fractions.Fraction(near) == exact else _described(exact)


def _number(value: float) -> np.uint64:
    return np.uint64(_numbers(pd.Index([value]))[0])


def _described(label: object) -> np.uint64:
    """Return the hash of a label's repr if the repr is stable."""
    description = repr(label)
    if (
        isinstance(label, set | frozenset)
        or " at 0x" in description
        or "frozenset({" in description
        or type(label).__repr__ is object.__repr__
    ):
        raise TypeError(
            f"the label {label!r} is of type {type(label).__name__}, whose text representation "
            "changes between runs, so its hash cannot break ties. Use numbers, strings, dates or "
            "tuples of these as labels: data.set_index(...), label=... or key=..."
        )
    return np.uint64(_text(np.array([f"\0{type(label).__name__}:{description}"], dtype=object))[0])


def column_order(
    values: pd.Series, name: object, group: IntArray, *, falling: bool = False
) -> IntArray:
    """Return the positions of candidates in ascending order of group and value.

    ``falling`` sorts names in descending order as in trec_eval.
    """
    refuse_missing(values, name)
    _refuse_repeated(values, name, group)
    order = np.asarray(sort_key(values.astype(str) if falling else values, name).index)
    order = order[::-1] if falling else order
    return order[np.argsort(group[order], kind="stable")]


def refuse_missing(values: pd.Series, name: object) -> None:
    """Raise a ValueError if a candidate has no key."""
    missing = values.isna().to_numpy(dtype=bool)
    if missing.any():
        raise ValueError(
            f"key={name!r} has {missing.sum()} missing values, but every candidate needs a value."
            " Fill in these values, or omit key to break ties by a hash of the label."
        )


def sort_key(values: pd.Series, name: object) -> pd.Series:
    """Return the sorted key values and their positions."""
    try:
        return pd.Series(values.to_numpy()).sort_values(kind="stable")
    except TypeError as error:
        raise TypeError(
            f"key={name!r} has values that cannot be ordered ({error}). Pass a column of numbers,"
            " strings or dates."
        ) from None


def value_keys(values: AnyArray) -> Keys:
    """Return the hashes of a key's values in an array of the same shape."""
    return label_hashes(pd.Index(np.ravel(values))).reshape(np.shape(values))


def _refuse_repeated(values: pd.Series, name: object, group: IntArray) -> None:
    pairs = pd.DataFrame({"group": group, "value": values.to_numpy()})
    try:
        repeated = values[pairs.duplicated().to_numpy(dtype=bool)]
    except TypeError:  # lists, dicts
        raise TypeError(
            f"key={name!r} has values that cannot be distinguished, such as {values.iloc[0]!r}."
            " Pass a column of numbers, strings or dates."
        ) from None
    if len(repeated):
        raise ValueError(
            f"key={name!r} has repeated values, {listed(repeated.unique()[:3])}: a key must be"
            " unique within each group. If candidates occur in several queries, pass the query"
            " column as by=... Otherwise pass another column, or omit key to break ties by a hash."
        )


def as_compared(scores: Any, ties: str, key: object) -> Any:
    """Return the scores to compare, in single precision if ties="trec"."""
    if ties != "trec":
        return scores
    if key is None:
        raise ValueError(
            "ties='trec' orders equal scores by document name in descending order. Pass the"
            " document column as key=..."
        )
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float32).astype(np.float64)
