"""Check scores, gold labels, list sizes and labels, and order equal scores."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import fractions
import math
import numbers
import re
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr
from pandas.api.types import is_string_dtype

from rankeval_pd import tables
from rankeval_pd.errors import is_known, listed, shown, unknown_name, warn
from rankeval_pd.roles import (
    CONTINGENCY,
    Roles,
    are_values,
    check_levels,
    check_types,
    excluded_names,
    frame_column,
    is_score,
    likely_gold,
    vote_reason,
)
from rankeval_pd.stats import AnyArray, BoolArray, FloatArray, IntArray, Keys, Whole, mix
from rankeval_pd.tables import GROUP, Rows, as_list, only_or_all

# -------------------------------------------------------------------------------------------------
# Read scores and gold labels as numbers, and check missing values.

_EXACT = 2.0**53  # float64 represents all whole numbers up to this number


def score_values(values: pd.Series, name: Hashable) -> FloatArray:
    """Return scores as float64, with NaN for missing scores."""
    if values.dtype == np.float64:
        return values.to_numpy()
    if values.dtype == object:
        values = values.infer_objects()
    if isinstance(values.dtype, pd.CategoricalDtype) and values.dtype.ordered:
        codes = values.cat.codes.to_numpy(dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)
    if not _is_number(values.dtype):
        raise TypeError(
            f"measures: {name!r} has dtype {values.dtype}, but scores must be numbers. Convert the"
            " scores, for example with pd.to_numeric, or pass measures=..."
        )
    advice = f"and would be tied. Pass the ranks instead: data[{name!r}].rank()."
    return as_floats(values, name, advice, "measures: ")


def _is_number(dtype: Any) -> bool:
    """Return whether a column of this dtype contains real numbers or booleans."""
    return is_score(dtype) or pd.api.types.is_bool_dtype(dtype)


def as_floats(values: pd.Series, name: Hashable, then: str, role: str = "") -> FloatArray:
    """Return numbers as float64, and reject distinct numbers that would become equal.

    Missing numbers are NaN. The error message begins with ``role`` and ends with ``then``.
    """
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    plain = dense(values.dtype)
    if plain.kind in "iu":
        if (np.abs(numbers) >= _EXACT).any():
            raise ValueError(
                f"{role}{shown(name)} has whole numbers of 2**53 or more, which cannot be"
                f" distinguished as float64 {then}"
            )
    elif plain.kind == "O" or plain.itemsize > 8:  # finer than float64
        # pandas compares numbers at float64 precision
        known = ~np.isnan(numbers)
        alike = len(np.unique(values.to_numpy()[known])) - len(np.unique(numbers[known]))
        if alike:
            raise ValueError(
                f"{role}{shown(name)} has numbers of dtype {values.dtype}, {alike} of which cannot"
                f" be distinguished as float64 {then}"
            )
    return numbers


def dense(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of the numbers in a column."""
    if isinstance(dtype, pd.SparseDtype):
        dtype = dtype.subtype
    plain: np.dtype[Any] = np.dtype(getattr(dtype, "numpy_dtype", dtype))
    return plain


def as_dtype(numbers: Any, dtype: Any) -> Any:
    """Return thresholds in the dtype of a column, so that 0.7 is a float32 score of 0.7."""
    if not pd.api.types.is_float_dtype(dtype):
        return numbers
    with np.errstate(over="ignore"):  # no number of the dtype reaches the threshold
        return np.asarray(numbers, dtype=dense(dtype)).astype(np.float64)


def cut_scores(cuts: FloatArray, dtypes: Iterable[Any]) -> FloatArray:
    """Return thresholds (measure, ...) in the dtypes of the measures."""
    return np.array([as_dtype(*x) for x in zip(cuts, dtypes, strict=True)])


def gold_values(
    values: pd.Series,
    name: Hashable,
    positive: Any = None,
    min_grade: float | None = None,
    *,
    all_there: bool = True,
) -> FloatArray:
    """Return the gold label as 1.0, 0.0, or NaN for missing labels.

    ``positive`` contains the values that mark true positives, and ``min_grade`` is the lowest grade
    of a true positive. If ``all_there`` is true, a value in ``positive`` that does not occur in the
    data raises an error.
    """
    if positive is not None:
        plain, among = values.astype(object), true_values(positive)
        for value in among:
            if all_there and not plain.isin([value]).any():
                raise ValueError(
                    f"positive={positive!r}: no candidate has the value {value!r}; gold={name!r}"
                    f" contains {value_counts(values)}. Pass values that occur in this column."
                )
        marked = plain.isin(among)
        # an empty spreadsheet cell is not a judgment, even if read as empty text
        blank = plain.isna() | plain.isin(["", " "]) & ~marked
        return np.where(blank.to_numpy(dtype=bool), np.nan, marked.to_numpy(dtype=np.float64))
    dtype = values.dtype
    if dtype == np.bool_ and min_grade is None:
        return values.to_numpy(dtype=np.float64)
    if values.dtype == object or isinstance(dtype, pd.CategoricalDtype):
        values = pd.Series(values.astype(object).to_numpy(), dtype=object)
        if all(isinstance(x, (bool, np.bool_, int, float, np.number)) for x in values.dropna()):
            values = pd.Series([_float_of(x) for x in values], dtype=float)
    truth, grades = None, ""
    if _is_number(values.dtype):
        truth = values.to_numpy(dtype=np.float64, na_value=np.nan)
        grades = ", or their lowest grade as min_grade=1"
    if min_grade is not None:
        if truth is None:
            raise ValueError(
                f"min_grade={min_grade!r}, but gold={name!r} contains {value_counts(values)},"
                " which are not grades. Pass the value(s) that mark true positives as positive=..."
            )
        return np.where(np.isnan(truth), np.nan, truth >= as_dtype(min_grade, dtype))
    if truth is None or not (np.isnan(truth) | (truth == 0) | (truth == 1)).all():
        kinds = "complex numbers"
        if not pd.api.types.is_complex_dtype(values.dtype):
            kinds = value_counts(values)
        raise ValueError(
            f"gold={name!r} contains {kinds}, but a gold label is True or False, 1"
            f" or 0. Pass the value(s) that mark true positives as positive=...{grades}."
        )
    return truth


def _float_of(value: Any) -> float:
    try:
        return np.nan if pd.isna(value) else float(value)
    except OverflowError:  # an integer too large for a float is neither a grade nor a label
        return np.inf if value > 0 else -np.inf


def true_values(positive: Any) -> list[Any]:
    """Return a list of the values that mark true positives."""
    if positive is None:
        return []
    if isinstance(positive, list | tuple | set | frozenset | np.ndarray | pd.Series):
        return list(positive)
    return [positive]


def value_counts(values: pd.Series, most: int = 8) -> str:
    """Describe values and their counts as text."""
    counts = values.value_counts(dropna=True)
    with contextlib.suppress(TypeError):  # values of several types
        counts = counts.sort_index()
    counts = counts[counts > 0]
    text = [f"{shown(x)} ({count:,})" for x, count in counts.iloc[:most].items()]
    if len(counts) > most:
        text.append(f"... ({len(counts):,} values in all)")
    elif missing := int(values.isna().sum()):
        text.append(f"missing ({missing:,})")
    return ", ".join(text) or "nothing"


def refuse_unlabeled(lacking: int, total: int, gold_name: Hashable) -> None:
    """Raise a ValueError if candidates have no gold label."""
    if lacking:
        raise ValueError(
            f"gold={gold_name!r} is missing for {lacking} of {total} candidates. Pass"
            " unjudged='negative' (a lower bound for precision) or 'skip' (optimistic if the top"
            " ranks were judged first). If a random sample was judged, call judged_precision or"
            " judged_difference."
        )


def refuse_unscored(
    lacking: IntArray, present: IntArray, total: int, measures: Sequence[Hashable]
) -> None:
    """Raise a ValueError if scores are missing and no role allows missing scores."""
    if lacking.any():
        counts = np.where(lacking == present, "all", lacking.astype(str))
        unscored = [f"{measures[k]!r} ({counts[k]})" for k in np.flatnonzero(lacking).tolist()]
        raise ValueError(
            f"missing='raise': some of the {total} candidates have no score in"
            f" {', '.join(unscored)}."
            " Pass missing='absent' if the measure did not retrieve these candidates, 'last' to"
            " rank them at the end, tied, or 'drop' to exclude them."
        )


def warn_of_dropped(
    lacking: BoolArray, present: BoolArray, true: BoolArray, measures: Sequence[Hashable]
) -> None:
    """Warn about candidates that are dropped for each measure."""
    counts = [x.sum(axis=1) for x in (lacking, present, lacking & true, present & true)]
    taken = [
        f"{name!r} without {out:,} of {every:,} candidates ({out_true:,} of {every_true:,} true"
        " positives)"
        for name, out, every, out_true, every_true in zip(measures, *counts, strict=True)
        if out
    ]
    warn(
        f"missing='drop' evaluates {'; '.join(taken)}, so a missing score does not count against a"
        " measure. If a measure failed to retrieve these candidates, pass missing='absent'."
    )


# -------------------------------------------------------------------------------------------------
# Check the requested list sizes, thresholds, and groups.

_NEARLY = 1e-9  # tolerance for rounding fractions to whole list sizes
_LARGEST = 2**62
_MOST = 10**9


class Shares(NamedTuple):
    """Store distinct list sizes as fractions of the candidates, in order."""

    values: FloatArray

    def of(self, total: int) -> IntArray:
        """Return the smallest list sizes n >= share * total, at least 1."""
        return np.array([least_n(share, total) for share in self.values], dtype=np.int64)


Sizes = IntArray | Shares | None


def least_n(share: float, total: int) -> int:
    """Return the smallest n >= share * total, at least 1."""
    return max(math.ceil(share * total - _NEARLY), 1)


def check_n(n: Any) -> Sizes:
    """Return the distinct requested list sizes in order. None means every n.

    Floats between 0 and 1 are fractions of the candidates.
    """
    if n is None:
        return None
    if isinstance(n, range) and len(n) > _MOST:
        raise ValueError(
            f"n={n!r} requests {len(n):,} lists for every measure, too many to fit in memory. Pass"
            " fewer list sizes, or None for every n."
        )
    values = n
    if not isinstance(n, range) and not (
        isinstance(n, np.ndarray) and n.ndim == 1 and n.dtype.kind in "iu"
    ):
        values, shares = [], []
        for value in as_list(n):
            if isinstance(value, (float, np.floating)) and 0.0 < float(value) < 1.0:
                shares.append(float(value))
            else:
                values.append(value)
        if shares and values:
            raise TypeError(
                f"n={as_list(n)!r} mixes shares of the candidates, between 0 and 1, with"
                f" {values[0]!r}, which is not a share. Pass either whole numbers or shares."
            )
        if shares:
            return Shares(np.array(list(dict.fromkeys(shares))))
        for value in values:
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
                hint = ""
                if isinstance(value, (float, np.floating)) and float(value).is_integer():
                    hint = f" Write {int(value)}."
                raise TypeError(
                    f"n={value!r} is of type {type(value).__name__}: pass a whole number of at"
                    " least 1, a share of the candidates (a float between 0 and 1), or None for"
                    f" every n.{hint}"
                )
    if not len(values):
        raise ValueError(
            f"n={n!r} requests no lists. Pass whole numbers from 1 to the number of candidates, or "
            "None for every n."
        )
    if max(values) > _LARGEST:
        above = next(value for value in values if value > _LARGEST)
        raise ValueError(
            f"n={above} exceeds any possible number of candidates. Pass whole numbers from 1 to"
            " the number of candidates, or None for every n."
        )
    if min(values) < 1:
        below = next(value for value in values if value < 1)
        raise ValueError(
            f"n={int(below)}: a list has at least one candidate. Pass whole numbers from 1 to the "
            "number of candidates, shares of the candidates between 0 and 1, or None for every n."
        )
    sizes = np.array(values, dtype=np.int64)
    _, kept = np.unique(sizes, return_index=True)
    return sizes[np.sort(kept)]


#: number of candidates along the dimension of a Dataset, in which groups can be padded
WIDTH: ContextVar[int | None] = ContextVar("WIDTH", default=None)


def check_not_above(n: Sizes, largest: int, whole: Whole | None = None) -> None:
    """Raise a ValueError if a list size exceeds the number of candidates."""
    if (width := WIDTH.get()) is not None:
        largest = width
    if whole is not None:
        longest = 1
        if isinstance(n, Shares):
            longest = int(n.of(whole.total).max())
        elif n is not None:
            longest = int(n.max())
        if longest > whole.asked:
            raise ValueError(
                f"n={longest} exceeds {whole.asked}, the size of the longest list in this head of"
                f" {whole.total:,} candidates. Collect a longer head: ddf.rankeval.head(n_max),"
                " with n_max up to the number of candidates."
            )
    elif isinstance(n, np.ndarray) and n.size and int(n.max()) > largest:
        allowed = ""
        if largest:
            allowed = f"whole numbers from 1 to {largest} or "
        raise ValueError(
            f"n={int(n.max())} exceeds the number of candidates, {largest}. Pass {allowed}None"
            " for every n."
        )


def asked_thresholds(
    threshold: Any, measures: Sequence[Hashable], *, unique: bool = True
) -> FloatArray:
    """Return thresholds (measure, cut), padded with NaN.

    ``unique`` drops repeated thresholds of a measure.
    """
    if not isinstance(threshold, Mapping):
        if len(measures) != 1:
            raise ValueError(
                f"threshold={threshold!r}: a single number requires a single measure, but there are"
                f" {listed(measures)}. Pass a mapping from each measure to a number or a list of"
                f" numbers: threshold={{{measures[0]!r}: ...}}."
            )
        threshold = {measures[0]: threshold}
    for name in threshold:
        if not is_known(name, measures):
            raise unknown_name("threshold", name, measures)
    rows = []
    for name in measures:
        values = as_list(threshold.get(name, []))
        for value in values:
            if isinstance(value, (bool, np.bool_)) or not isinstance(
                value, (int, float, np.integer, np.floating)
            ):
                raise TypeError(
                    f"threshold: {value!r} for {name!r} is of type {type(value).__name__}. Pass a"
                    " number, or a list of numbers."
                )
            if isinstance(value, int) and abs(value) > sys.float_info.max:
                raise ValueError(
                    f"threshold: a whole number for {name!r} is too large for a float. Pass a"
                    " smaller number, inf or -inf."
                )
            if np.isnan(value):
                raise ValueError(
                    f"threshold: NaN for {name!r} is not a threshold. Pass a number;"
                    " inf and -inf are allowed."
                )
        row = list(map(float, values))
        if unique:
            row = list(dict.fromkeys(row))
        rows.append(row)
    result = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for place, row in enumerate(rows):
        result[place, : len(row)] = row
    return result


def as_indexable(values: pd.Series) -> pd.Series:
    """Return a column whose dtype an index can have, which excludes 16-bit floats."""
    if values.dtype == np.float16:
        return values.astype(np.float32)
    return values


def group_numbers(
    columns: Sequence[pd.Series], by: Sequence[Hashable], rows: int
) -> tuple[pd.DataFrame, IntArray]:
    """Return the sorted group keys, and each row's group number."""
    if not by:
        return pd.DataFrame(index=[0]), np.zeros(rows, dtype=np.int64)
    for name, column in zip(by, columns, strict=True):
        missing = int(column.isna().sum())
        if missing:
            raise ValueError(
                f"by={name!r} has {missing} missing values, but every row needs a group. Fill in"
                f" these values, or drop the rows: data.dropna(subset=[{name!r}])."
            )
    header = pd.Index(list(by), tupleize_cols=False)
    values = columns[0].to_numpy()
    if rows and len(by) == 1 and values.dtype.kind in "iu" and (values[1:] >= values[:-1]).all():
        new = np.append(True, values[1:] != values[:-1])  # the rows are sorted
        return pd.DataFrame({0: columns[0].array[new]}).set_axis(header, axis=1), new.cumsum() - 1
    keys = pd.concat([as_indexable(x).reset_index(drop=True) for x in columns], axis=1)
    keys = keys.set_flags(allows_duplicate_labels=True)  # a key occurs in many rows
    keys.columns = header
    try:
        number = np.asarray(keys.groupby(list(by), sort=True, observed=True).ngroup())
    except TypeError as error:
        raise TypeError(_unsorted(columns, by)) from error
    first = np.empty(number.max(initial=-1) + 1, dtype=np.int64)
    first[number[::-1]] = np.arange(number.size)[::-1]  # the last assignment keeps the first row
    each = keys.iloc[first]
    if any(isinstance(label, frozenset) for label in each.to_numpy(dtype=object).ravel()):
        raise TypeError(_unsorted(columns, by))  # sets cannot be sorted
    return each, number.astype(np.int64)


def _unsorted(columns: Sequence[pd.Series], by: Sequence[Hashable]) -> str:
    kinds = {
        name: sorted({type(x).__name__ for x in column})
        for name, column in zip(by, columns, strict=True)
        if column.dtype == object
    }
    told = "; ".join(f"{name!r} of type {' and '.join(given)}" for name, given in kinds.items())
    return (
        f"by has labels that cannot be sorted: {told}. Convert the labels to text or numbers, for"
        f" example data[{next(iter(kinds), by[0])!r}].astype(str)."
    )


# -------------------------------------------------------------------------------------------------
# Compute a grid of list sizes to use instead of every n for large rankings.

_EVERY = 20_000  # largest number of candidates for which every n is computed
_RISE = 0.01  # relative step between neighboring list sizes in the grid


def few_or(sizes: Sizes, asked: IntArray) -> tuple[IntArray | None, dict[str, int]]:
    """Return the requested sizes, or a grid of sizes and its size if every n is requested.

    The grid contains every n up to about 70. Above 70, each n is about 1% larger than the previous
    n.
    """
    if sizes is not None:
        return asked, {}
    if asked.size <= _EVERY:
        return None, {}
    last = float(asked[-1])
    grid = np.geomspace(1.0, last, math.ceil(math.log(last) / _RISE))
    found = np.unique(np.rint(grid).astype(np.int64))
    return found, {"n_grid": found.size}


# -------------------------------------------------------------------------------------------------
# Compute tie keys, which order tied candidates in the same way for all measures.
#
# By default, the tie key is a hash of the candidate's label, the number of earlier rows with the
# same label, and the seed. Results therefore do not depend on the row order or the gold label. The
# hash depends on the label but not on the dtype, so 1, 1.0 and Decimal(1) have the same hash.

_Labels = pd.Index | Sequence[pd.Index]
# distinguish numbers of different types that have the same bits
_MISSING, _UNSIGNED, _FRACTIONAL = (
    np.uint64(x << 32) for x in (0x6D697373, 0x756E7369, 0x66726163)
)
_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def label_order(hashes: Keys, seed: int, group: IntArray) -> tuple[IntArray, BoolArray, Keys]:
    """Return the positions of candidates, sorted by group and hash of the label.

    ``group`` is the number of each candidate's group. Repeated labels are counted within groups.
    The second result marks rows that repeat the label of an earlier row in the same group. The
    third result contains the hashes, which then also depend on the seed.
    """
    again = np.zeros(hashes.size, dtype=bool)
    salt = mix(np.array([seed % 2**64], dtype=np.uint64))
    keys = mix(hashes + salt)
    order = _sorted_in_groups(keys, group)
    ranked = keys[order]
    alike = np.flatnonzero(ranked[1:] == ranked[:-1])
    if (group[order[alike]] == group[order[alike + 1]]).any():
        repeat = pd.Series(hashes).groupby([group, hashes]).cumcount().to_numpy()
        again = repeat > 0
        hashes[again] = mix(hashes[again] ^ mix(repeat[again].astype(np.uint64)))
        keys = mix(hashes + salt)
        order = np.lexsort((keys, group))
    return order, again, keys


def _sorted_in_groups(keys: Keys, group: IntArray) -> IntArray:
    """Return the positions of candidates, sorted by group and key."""
    sizes = np.bincount(group)
    equal = sizes.size and (sizes == sizes[0]).all() and (group[1:] >= group[:-1]).all()
    if not equal:
        return np.lexsort((keys, group))
    by_group = keys.reshape(sizes.size, -1)
    if (by_group == by_group[0]).all():  # the groups of a Dataset have the same labels
        by_group = by_group[:1]
    order = np.argsort(by_group, axis=1)
    starts = np.arange(0, keys.size, sizes[0])[:, np.newaxis]
    if len(order) == 1 < len(starts):
        return (starts + order).reshape(-1)
    order += starts
    return order.reshape(-1)


def label_hashes(labels: _Labels) -> Keys:
    """Return hashes of labels that do not depend on the dtype; several indexes are levels."""
    if isinstance(labels, pd.MultiIndex):
        levels = zip(labels.levels, labels.codes, strict=True)
        return _of_levels([_hashes_of_codes(*level) for level in levels], len(labels))
    if not isinstance(labels, pd.Index):
        return _of_levels([label_hashes(level) for level in labels], len(labels[0]))
    labels = labels.infer_objects()
    if isinstance(labels, pd.CategoricalIndex):
        return _hashes_of_codes(labels.categories, labels.codes)
    known = np.asarray(labels.notna())
    if not known.all():
        hashes = np.full(len(labels), mix(np.array([_MISSING])))
        if known.any():
            hashes[known] = label_hashes(labels[known])
        return hashes
    if isinstance(labels, pd.DatetimeIndex | pd.TimedeltaIndex):
        return _times(labels.asi8, labels.unit)
    if pd.api.types.is_unsigned_integer_dtype(labels.dtype):
        large = labels.to_numpy(dtype=np.uint64)
        return mix(np.where(large >= np.uint64(2**63), large ^ _UNSIGNED, large))
    if pd.api.types.is_integer_dtype(labels.dtype):
        return mix(labels.to_numpy(dtype=np.int64).view(np.uint64))
    if not _is_number(labels.dtype):
        return _hashes_of_objects(labels.to_numpy(dtype=object))
    # whole numbers have the same hashes as integers
    values = labels.to_numpy(dtype=np.float64) + 0.0
    hashes = values.view(np.uint64) ^ _FRACTIONAL
    whole = values == np.floor(values)
    small = whole & (values >= -(2.0**63)) & (values < 2.0**63)
    hashes[small] = values[small].astype(np.int64).view(np.uint64)
    large = whole & (values >= 2.0**63) & (values < 2.0**64)
    hashes[large] = values[large].astype(np.uint64) ^ _UNSIGNED
    return mix(hashes)


def _of_levels(levels: list[Keys], size: int) -> Keys:
    """Combine the hashes of elements into hashes of tuples."""
    hashes = np.full(size, np.uint64(len(levels)))
    for level in levels:
        hashes = mix(hashes ^ level)
    return hashes


def _hashes_of_codes(values: pd.Index, codes: AnyArray) -> Keys:
    """Return hashes for the codes of values. Missing values have code -1."""
    hashes = np.append(label_hashes(values), mix(np.array([_MISSING])))
    return np.asarray(hashes[np.asarray(codes)], dtype=np.uint64)


def _hashes_of_objects(values: AnyArray) -> Keys:
    """Return hashes for nonmissing strings, tuples and other objects."""
    hashes = np.empty(values.size, dtype=np.uint64)
    strings = np.array([isinstance(x, str) for x in values], dtype=bool)
    hashes[strings] = _text(values[strings])
    lengths = np.array([len(x) if isinstance(x, tuple) else -1 for x in values], dtype=int)
    for length in np.unique(lengths[lengths >= 0]):
        rows = np.flatnonzero(lengths == length)
        columns = [_objects([x[k] for x in values[rows]]) for k in range(length)]
        hashes[rows] = _of_levels([label_hashes(column) for column in columns], rows.size)
    for row in np.flatnonzero(~strings & (lengths < 0)):
        hashes[[row]] = _one(values[row])
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
        salt = np.uint64((name != "ns") * size << 32)
        hashes[fits] = mix((ticks[fits] * factor).view(np.uint64) ^ salt)
        left &= ~fits
    return hashes


def _one(label: Any) -> Keys:
    """Return the hash (1) of a label that is neither a string nor a tuple."""
    if isinstance(label, np.number | np.bool_):
        label = label.item()
    if isinstance(label, numbers.Number):
        return _one_number(label)
    if isinstance(label, np.datetime64 | datetime.datetime):
        # an index would use nanoseconds, which cannot represent distant dates
        stamp = pd.Timestamp(label)
        return _times(np.array([stamp.asm8.astype(np.int64)]), stamp.unit)
    if isinstance(label, np.timedelta64 | datetime.timedelta):
        return label_hashes(pd.TimedeltaIndex([label]))
    if isinstance(label, pd.Interval):
        return label_hashes([_objects([x]) for x in (label.left, label.right, label.closed)])
    return _hash_of_repr(label)


def _one_number(label: Any) -> Keys:
    if isinstance(label, complex) and label.imag == 0.0:
        label = label.real
    if not isinstance(label, numbers.Real | decimal.Decimal):
        return _hash_of_repr(label)
    try:
        exact = fractions.Fraction(label)  # type: ignore[arg-type]
        near = float(exact)
    except OverflowError:  # infinite or too large for floats
        if abs(label) == math.inf:
            return label_hashes(pd.Index([float(label)]))
        return _hash_of_repr(label)
    if exact.denominator == 1 and -(2**63) <= exact < 2**64:
        return label_hashes(pd.Index([int(exact)]))
    if fractions.Fraction(near) == exact:
        return label_hashes(pd.Index([near]))
    return _hash_of_repr(exact)


def _hash_of_repr(label: object) -> Keys:
    """Return the hash (1) of a label's repr if the repr is stable."""
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
    return _text(np.array([f"\0{type(label).__name__}:{description}"], dtype=object))


def column_order(
    values: pd.Series, name: object, group: IntArray, *, falling: bool = False
) -> IntArray:
    """Return the positions of candidates in ascending order of group and value.

    ``falling`` sorts names in descending order as in trec_eval.
    """
    refuse_missing(values, name)
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
    if falling:
        values = values.astype(str)
    order = np.asarray(sort_key(values, name).index)
    if falling:
        order = order[::-1]
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


def as_compared(scores: FloatArray, key: object) -> FloatArray:
    """Return the scores in single precision, which ties="trec" compares."""
    if key is None:
        raise ValueError(
            "ties='trec' orders equal scores by document name in descending order. Pass the"
            " document column as key=..."
        )
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float32).astype(np.float64)


# -------------------------------------------------------------------------------------------------
# Warn about identifiers and text, repeated candidates, and data with only one class.

_LEAST = 10  # with fewer rows, numbers can be distinct, or depend on the label, by chance
#: words in column names, for each likely role in rankings and runs, and in systems
_WORDS = {
    ("by", "groups"): "query topic user session subject participant batch block page passage line"
    " qid uid sid segment seg sentence sent prompt judge rater annotator",
    ("label", "groups"): "doc document docno docid pid segid item id ids idx index key guid no nr"
    " number row",
    ("gold", "exclude"): "label labels rel relevance relevant grade",
    ("by", "seeds"): "seed rep repeat repetition replicate trial run",
    ("by", "exclude"): "fold split",
    ("exclude", "exclude"): "rank length len year date timestamp",
}
_ROLES = {word: roles for roles, words in _WORDS.items() for word in words.split()}
_LAST = frozenset({
    "id", "ids", "idx", "index", "uid", "sid", "docno", "nr", "number", "fold", "seed", "len",
})  # fmt: skip
_LABELS = frozenset(_WORDS["gold", "exclude"].split()) - {"grade"}
# columns with these names are not measures, even if they contain fractions
_NO_SCORES = frozenset({"rank", "length", "len", "year"})


def warn_of_identifiers(
    columns: Mapping[Hashable, pd.Series],
    *,
    taken_as: str,
    groups: Mapping[str, IntArray] | None = None,
    truth: FloatArray | None = None,
) -> None:
    """Warn about columns that look like identifiers, and that the user did not name.

    ``taken_as`` is "systems" or "measures", and ``groups`` contains the group number of each row,
    by role (by, groups). ``truth`` is the gold label of rankings: columns computed from the gold
    label, and annotators' votes, are not measures.
    """
    reasons = {}
    for name, values in columns.items():
        reason = reason_of(name, values, groups or {}, truth)
        if reason is not None:
            reasons[name] = reason
    if not reasons:
        return
    names = list(reasons)
    told = "; ".join(f"{name!r} ({reason})" for name, reason in list(reasons.items())[:6])
    exclude, more = repr(only_or_all(names[:6])), ""
    if len(names) > 6:
        exclude, more = f"{exclude[:-1]}, ...]", f"; and {len(names) - 6} more"
    side = int(taken_as == "systems")
    as_role = "by=..., groups=..."
    for name in (name for name, reason in reasons.items() if reason == _BY_NAME):
        role = _ROLES.get(telling_words(name)[-1], _ROLES["index"])[side]
        if role == "label" and truth is None:
            role = "key"  # the role for documents is key
        if role != "exclude":
            as_role = f"{role}={name!r}"
            break
    if any(reason.startswith("votes") for reason in reasons.values()):
        as_role += " (votes: gold=[...])"
    warn(
        f"columns used as {taken_as} look like identifiers or labels: {told}{more}. Pass"
        f" exclude={exclude} or their role, for example {as_role}. If they are {taken_as}, list all"
        f" {taken_as}: measures=[...]."
    )


def reason_of(
    name: Hashable,
    values: pd.Series,
    groups: Mapping[str, IntArray] | None = None,
    truth: FloatArray | None = None,
) -> str | None:
    """Return why a column looks like an identifier or a label, or None.

    A column of whole numbers is suspicious in four cases: the name suggests an identifier, all
    values are distinct (in 10 or more rows), values count up in blocks, or values other than 0 and
    1 are constant within groups. Booleans are suspicious if the name suggests a label. Fractions
    are suspicious if the name suggests a rank or a length.
    """
    inferred, numbers = values, None
    if values.dtype == object:
        inferred = values.infer_objects()
    if is_score(inferred.dtype) and not isinstance(inferred.dtype, pd.CategoricalDtype):
        numbers = inferred.to_numpy(dtype=np.float64, na_value=np.nan)
    if truth is not None and numbers is not None and values.dtype.kind in "iuf":
        for few in (slice(100), slice(None)):  # a few rows are enough to reject most columns
            here, label = numbers[few], truth[few]
            true, false = here[label == 1.0], here[label == 0.0]
            if (true != true[:1]).any() or (false != false[:1]).any():
                break
        else:
            both = numbers.size >= _LEAST and true.size and false.size
            if both and true[0] != false[0]:
                return "a function of the gold label"
    words = {*telling_words(name)}
    if pd.api.types.is_bool_dtype(values.dtype):
        if words and words <= _LABELS:
            return _BY_NAME
        return None
    for rows in (slice(1000), slice(None)):  # the first rows are enough for most columns
        if numbers is not None:
            known = numbers[rows][~np.isnan(numbers[rows])]
            if not known.size or not (np.isfinite(known) & (known == np.rint(known))).all():
                numbers = None
    if numbers is None:
        if words & _NO_SCORES and is_score(values.dtype):
            return _BY_NAME
        return None
    if truth is not None and (votes := vote_reason(name, numbers)) is not None:
        return votes
    if words:
        return _BY_NAME
    if _counts_up(numbers):
        return "whole numbers that count up from row to row"
    if _all_distinct(numbers):
        return "whole numbers that are all distinct"
    for role, number in (groups or {}).items():
        if _constant_within(numbers, number):
            return f"one value in each group of {role}"
    return None


_BY_NAME = "by its name"


def telling_words(name: Hashable) -> list[str]:
    """Return the words of a name that suggests an identifier or a label, not a score."""
    if not isinstance(name, str):
        return []
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)  # splits names such as docId
    words = re.findall(r"[a-z]+", apart.lower())
    if any(map(str.isdigit, name)):
        # "Unnamed: 0" is an identifier, but "run 3" can be a system
        telling = words in (["unnamed"], ["level"])
    else:
        telling = bool(words) and (words[-1] in _LAST or {*words} <= _ROLES.keys())
    if telling:
        return words
    return []


def refuse_text(
    frame: pd.DataFrame, roles: Roles, taken: Iterable[Hashable], taken_as: str
) -> None:
    """Raise a ValueError if a column without a role contains scores as text.

    Text counts as scores if it parses as numbers and some of the numbers have a fractional part.
    For systems, the strings 0 and 1, or true and false, also count as scores. Other whole numbers,
    and columns named like identifiers, do not count as scores.
    """
    out = {*taken, *excluded_names(roles, frame.columns), *CONTINGENCY}
    for name in frame.columns.drop_duplicates(keep=False):
        if name in out:
            continue
        values = frame[name]
        if not (values.dtype == object or is_string_dtype(values.dtype)) or telling_words(name):
            continue
        text = values.head(1000).dropna().astype(str)
        numbers = pd.to_numeric(text, errors="coerce").to_numpy(dtype=float)
        known = numbers[np.isfinite(numbers)]
        two = taken_as == "systems" and set(text.str.lower()) in ({"0", "1"}, {"false", "true"})
        if two or (2 * known.size >= max(text.size, 1) and (known != np.rint(known)).any()):
            raise ValueError(
                f"the column {name!r} contains scores as text:"
                f" {listed(dict.fromkeys(text), most=3)}. Convert the column to numbers,"
                f" data.assign({name}=pd.to_numeric(data[{name!r}], errors='coerce')), or exclude"
                f" it: exclude={name!r}."
            )


def _counts_up(numbers: FloatArray) -> bool:
    """Return whether each row repeats the previous number or adds 1."""
    with np.errstate(over="ignore"):  # a step that overflows is not a step of 1
        steps = np.diff(numbers)
    return bool(((steps == 0.0) | (steps == 1.0)).all()) and int(steps.sum()) + 1 >= _LEAST


def _all_distinct(numbers: FloatArray) -> bool:
    known = numbers[~np.isnan(numbers)]
    with np.errstate(over="ignore"):
        if known.size < _LEAST or known.max() - known.min() + 1.0 < known.size:
            return False
    return bool(pd.unique(known).size == known.size)


def _constant_within(numbers: FloatArray, number: IntArray) -> bool:
    """Return whether the column differs between groups but not within groups."""
    if numbers.size < _LEAST or set(pd.unique(numbers)) <= {0.0, 1.0}:
        return False
    _, first, where, size = np.unique(
        number, return_index=True, return_inverse=True, return_counts=True
    )
    within = numbers[first][where]
    same = (numbers == within) | (np.isnan(numbers) & np.isnan(within))
    several = int((size > 1).sum())
    return bool(same.all()) and several > 1 and pd.unique(numbers[first]).size > 1


def cluster_codes(values: pd.Series, name: Hashable) -> IntArray:
    """Return each candidate's group number, independent of the row order."""
    check_types(values, "groups", name)
    try:
        number, labels = pd.factorize(values)
    except TypeError as error:
        raise TypeError(
            f"groups={name!r} has labels that cannot be distinguished, such as {values.iloc[0]!r}."
            f" Pass a column of text or numbers, for example data[{name!r}].astype(str)."
        ) from error
    missing = int((number < 0).sum())
    if missing:
        raise ValueError(
            f"groups={name!r} has {missing} missing values, but every candidate needs a group. Fill"
            " in the values; a group may contain a single candidate."
        )
    place = np.empty(len(labels), dtype=np.int64)
    place[np.argsort(label_hashes(pd.Index(labels, tupleize_cols=False)))] = np.arange(len(labels))
    return np.asarray(place[number])


def label_examples(labels: pd.Index | Sequence[pd.Index], rows: BoolArray) -> list[Any]:
    """Return up to three labels of the rows, as tuples for several columns."""
    if isinstance(labels, pd.Index):
        return labels[rows][:3].tolist()
    return list(zip(*(level[rows][:3].tolist() for level in labels), strict=True))


def warn_of_repeated(
    labels: pd.Index | Sequence[pd.Index],
    again: BoolArray,
    *,
    by: Sequence[Hashable],
    label: Sequence[Hashable],
) -> None:
    """Warn that repeated candidates are not independent."""
    if not again.any():
        return
    # unhashable labels are compared by repr
    examples = {repr(x): x for x in label_examples(labels, again)}.values()
    what, within = "the index", ""
    if label:
        what = f"label={only_or_all(label)!r}"
    if by:
        within = f" within one group of by={list(by)!r}"
    warn(
        f"{int(again.sum()):,} of {again.size:,} rows repeat the label of an earlier row{within}"
        f" ({what}: {listed(examples)}). If candidates repeat, tests are invalid: pass a cluster"
        " column, groups=..., or a sample column, by=... Otherwise pass a unique label, label=...,"
        " or call data.reset_index()."
    )


def warn_of_counts(positive: int, total: int, name: Hashable) -> None:
    """Warn if the counts contain only one class."""
    if total > 1 and positive in (0, total):
        which = "no"
        if positive:
            which = "every candidate is a"
        warn(
            f"gold={name!r}: {which} true positive ({total:,} candidates), so every ranking is"
            " equally good. Check that the column is correct and the data are complete."
        )


def maybe_gold(data: object, keywords: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a hint if a single two-valued column could be the gold label."""
    if any(keywords.values()) or (likely := likely_gold(data)) is None:
        return []
    return [("a gold label?", f"{likely[0]!r} has two values: rankeval({likely[1]})")]


# -------------------------------------------------------------------------------------------------
# Add columns for roles that are passed as an array, a Series, or an index level.

_ONE = ("gold", "key", "groups")
_SEVERAL = ("by", "label")


def with_given_frame(frame: pd.DataFrame, roles: Roles) -> tuple[pd.DataFrame, Roles]:
    """Return a frame with a column for every role, and the column names.

    Arrays and index levels become columns of a shallow copy. No column is replaced.
    """
    named: dict[str, list[Any]] = {}
    added: dict[Hashable, pd.Series] = {}
    for role in (*_ONE, *_SEVERAL):
        if getattr(roles, role) is None:
            continue
        named[role] = _entries(getattr(roles, role), frame.columns)
        for place, entry in enumerate(named[role]):
            if are_values(entry):
                given = _aligned(entry, frame.index, role)
                name = _own_name(entry, role)
            elif not _is_in(entry, frame.columns) and _is_in(entry, list(frame.index.names)):
                given = frame.index.get_level_values(list(frame.index.names).index(entry))
                name = entry
            else:
                continue
            values = pd.Series(getattr(given, "array", given), index=frame.index)
            if are_values(entry) and not _holds(frame, name, values):
                name = _unused(name, {*frame.columns, *frame.index.names, *added})
            named[role][place] = name
            if name not in frame.columns:
                added[name] = values
    if added:
        attrs = frame.attrs
        frame = pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis=1)
        frame.attrs = attrs
    if named:
        roles = _renamed(roles, named)
    return frame, roles


def _holds(frame: pd.DataFrame, name: Hashable, values: pd.Series) -> bool:
    """Return whether a column or index level has this name and these values."""
    try:
        return frame_column(frame, name, "by").equals(values)
    except (KeyError, TypeError, ValueError):  # no column, several, or mixed types
        return False


def with_given_dataset(data: xr.Dataset, roles: Roles) -> tuple[xr.Dataset, Roles]:
    """Return a Dataset with a variable for every role, and the variable names."""
    named = {role: _entries(getattr(roles, role), data.variables) for role in (*_ONE, "label")}
    added: dict[Hashable, xr.DataArray] = {}
    for role, entries in named.items():
        for place, entry in enumerate(entries):
            if not are_values(entry):
                continue
            if isinstance(entry, xr.DataArray):
                values = xr.align(data, entry, join="exact")[1].drop_vars(
                    [c for c in entry.coords if c not in entry.dims]
                )
            else:
                index = data.indexes.get(roles.dim, pd.RangeIndex(data.sizes[roles.dim]))
                check_levels(index)
                array = np.asarray(_aligned(entry, index, role))
                values = xr.DataArray(array, dims=[roles.dim])
            name = _own_name(entry, role)
            if not _stores(data, name, values):
                measures = data.indexes.get("measure", ())
                name = _unused(name, {*data.variables, *data.dims, *measures, *added})
                added[name] = values
            entries[place] = name
    return data.assign(added), _renamed(roles, named)


def _stores(data: xr.Dataset, name: Hashable, values: xr.DataArray) -> bool:
    """Return whether a variable has this name and these values."""
    if name not in data.variables:
        return False
    own, given = data[name].variable, values.variable
    if own.chunks or given.chunks:  # lazy values are not computed
        return bool(own.data is given.data)
    return bool(own.equals(given))


def _entries(given: Any, columns: Any) -> list[Any]:
    """Return names and values for a role."""
    if given is None:
        return []
    if are_values(given) or isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    if isinstance(given, tuple) and _is_in(given, columns):
        return [given]
    return list(given)


def _renamed(roles: Roles, named: dict[str, list[Any]]) -> Roles:
    by_name: dict[str, Any] = {}
    for role, entries in named.items():
        if entries and not isinstance(getattr(roles, role), str):
            by_name[role] = entries
            if role in _ONE and not isinstance(getattr(roles, role), list):
                by_name[role] = entries[0]
    return replace(roles, **by_name)


def _own_name(values: Any, role: str) -> Hashable:
    """Return the name of the values, or the role."""
    own: Hashable = getattr(values, "name", None)
    return role if own is None else own


def _unused(name: Hashable, taken: set[Hashable]) -> Hashable:
    while name in taken:
        name = f"{name}_given"
    return name


def _is_in(name: Any, names: Any) -> bool:
    try:
        return name is not None and name in names
    except TypeError:
        return False


def _aligned(values: Any, index: pd.Index, role: str) -> Any:
    """Return values in row order. A Series is aligned by index."""
    if np.ndim(values) != 1 or len(values) != len(index):
        raise ValueError(
            f"{role} has values of shape {np.shape(values)} for {len(index)} candidates: pass one"
            " value for each candidate, or the name of a column."
        )
    if not isinstance(values, pd.Series) or values.index.equals(index):
        return values
    there, here = values.index, index
    if there.is_unique and here.is_unique and there.isin(here).all():
        return values.reindex(here)
    raise ValueError(
        f"{role} is a Series whose index differs from the data's index, so the values cannot be"
        " matched to the rows. Give the Series the data's index, or pass .to_numpy() if the values"
        " are in row order."
    )


def above_door(table: pd.DataFrame | xr.Dataset, data: Data) -> Data:
    """Return the table for type checkers as what the door makes of it: a table like the data."""
    return cast("Data", table)


def is_dask_frame(data: object) -> bool:
    """Return whether the data are a Dask DataFrame, without importing Dask."""
    kind = type(data)
    named = kind.__name__ in ("DataFrame", "_Frame")
    return named and kind.__module__.startswith("dask") and hasattr(data, "npartitions")


def refuse_taken(added: Iterable[str], taken: Iterable[Hashable], how: str) -> None:
    """Raise a ValueError if the data have a column that the result adds."""
    for name in added:
        if name in taken:
            raise ValueError(
                f"data has a column {name!r}, but the result adds a column of the same name."
                f" Rename the column: data.rename({how}{{{name!r}: ...}})."
            )


def concatenated(parts: Sequence[Rows], by: str | None = None) -> Rows:
    """Concatenate rows with the same columns, sorted by the column ``by`` if given.

    The columns leave the parts one by one, so that large tables are not in memory twice.
    """
    if len(parts) == 1:
        return parts[0]
    table = {name: np.concatenate([part.pop(name) for part in parts]) for name in [*parts[0]]}
    if by is None or (table[by][1:] >= table[by][:-1]).all():
        return table
    order = np.argsort(table[by], kind="stable")
    for name in table:
        table[name] = table[name][order]
    return table


def rows_at(table: Rows, rows: AnyArray | slice) -> Rows:
    """Return the rows at these positions, or where a mask is True."""
    return {name: values[rows] for name, values in table.items()}


def leave_table(
    table: Rows,
    keys: pd.DataFrame,
    columns: Sequence[str],
    measures: Sequence[Hashable],
    attrs: Mapping[str, Any] | None,
) -> pd.DataFrame:
    """Return rows as a table with the columns in order, and the columns of ``by`` first.

    Columns leave the rows one by one, so that the largest tables are not in memory twice.
    """
    leaving: dict[Hashable, Any] = {}
    for place in range(keys.shape[1]):
        key = keys.iloc[:, place]  # a Series keeps the dtype of objects
        leaving[place] = pd.Series(key.array.take(table[GROUP]), dtype=key.dtype, copy=False)
    for name in columns:
        values = table.pop(name)
        if name in NAMES:
            leaving[name] = named(values, measures)
        else:
            leaving[name] = values.copy()
    result = pd.DataFrame(leaving, copy=False)
    if keys.shape[1]:
        result.columns = keys.columns.append(pd.Index(columns))
    result.attrs.update(attrs or {})
    return result


def named(numbers: IntArray, names: Sequence[Hashable]) -> Any:
    """Return names by number, with the dtype that pandas uses for headers; -1 is missing."""
    present = pd.unique(numbers)
    present = present[present >= 0]
    known = list(map(names.__getitem__, present.tolist())) or list(names)
    for place, name in enumerate(known):
        if tables.is_missing(name):  # tables contain missing names as NaN
            known[place] = np.nan
    header = pd.Index(known, tupleize_cols=False)
    places = np.full(len(names) + 1, -1, dtype=np.intp)
    places[present] = np.arange(present.size)
    if numbers.size and numbers.min() < 0:
        return pd.Series(header).reindex(places[numbers]).array
    return header.array.take(places[numbers])


Data = TypeVar("Data", pd.DataFrame, xr.Dataset)


# columns of numbers of names, or -1
NAMES = frozenset("measure measure_a measure_b system system_a system_b leaning better".split())
