"""Check scores, gold labels, list sizes and labels, and order equal scores."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import math
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd import tables
from rankeval_pd.errors import check_known, check_memory, is_known, listed, shown, warn
from rankeval_pd.roles import (
    USUAL,
    Roles,
    as_names,
    check_types,
    frame_column,
    is_score,
    refuse_missing,
)
from rankeval_pd.stats import AnyArray, BoolArray, FloatArray, IntArray, Keys, Whole, mix, ranking
from rankeval_pd.tables import GROUP, FrameOrDataset, Keywords, Rows, as_list, only_or_all

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
        codes = values.cat.codes.to_numpy(dtype=float)
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
    """Return numbers as float64, and reject whole numbers that would become equal.

    Missing numbers are NaN. The error message begins with ``role`` and ends with ``then``.
    """
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    if dense(values.dtype).kind in "iu" and (np.abs(numbers) >= _EXACT).any():
        raise ValueError(
            f"{role}{shown(name)} has whole numbers of 2**53 or more, which cannot be"
            f" distinguished as float64 {then}"
        )
    return numbers


def dense(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of the numbers in a column."""
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    if isinstance(dtype, pd.SparseDtype):
        dtype = dtype.subtype
    plain: np.dtype[Any] = np.dtype(getattr(dtype, "numpy_dtype", dtype))
    return plain


def as_dtype(numbers: Any, dtype: Any) -> Any:
    """Return thresholds in the dtype of a column, so that 0.7 is a float32 score of 0.7."""
    if not pd.api.types.is_float_dtype(dtype):
        return numbers
    with np.errstate(over="ignore"):  # no number of the dtype reaches the threshold
        return np.asarray(numbers, dtype=dense(dtype)).astype(float)


def cut_scores(cuts: FloatArray, dtypes: Iterable[Any]) -> FloatArray:
    """Return thresholds (measure, ...) in the dtypes of the measures."""
    return np.array([as_dtype(*x) for x in zip(cuts, dtypes, strict=True)])


def gold_values(
    frame: pd.DataFrame, name: Hashable, roles: Roles, *, all_there: bool = True
) -> FloatArray:
    """Return a gold label as 1.0, 0.0, or NaN for missing labels.

    The roles ``positive`` and ``min_grade`` tell what a true positive is. If ``all_there`` is true,
    a value in ``positive`` that does not occur in the data raises an error.
    """
    values = frame_column(frame, name, "gold")
    positive = roles.positive
    min_grade = roles.min_grade
    if positive is not None:
        plain = values.astype(object)
        among = true_values(positive)
        for value in among:
            if all_there:
                refuse_absent(int(plain.isin([value]).sum()), value, name, values)
        marked = plain.isin(among)
        # an empty spreadsheet cell is not a judgment, even if read as empty text
        blank = plain.isna() | plain.isin(["", " "]) & ~marked
        return np.where(blank.to_numpy(dtype=bool), np.nan, marked.to_numpy(dtype=float))
    dtype = values.dtype
    if dtype == np.bool_ and min_grade is None:
        return values.to_numpy(dtype=float)
    values = unboxed(values)
    truth, grades = None, ""
    if _is_number(values.dtype):
        truth = values.to_numpy(dtype=float, na_value=np.nan)
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


def unboxed(values: pd.Series) -> pd.Series:
    """Return objects or categories that are all numbers or flags as floats."""
    if values.dtype == object or isinstance(values.dtype, pd.CategoricalDtype):
        values = pd.Series(values.astype(object).to_numpy(), dtype=object)
        if all(isinstance(x, (bool, np.bool_, int, float, np.number)) for x in values.dropna()):
            values = pd.Series([_float_of(x) for x in values], dtype=float)
    return values


def _float_of(value: Any) -> float:
    """Return a label as a number; an integer too large for a float is neither grade nor label."""
    if pd.isna(value):
        return np.nan
    with contextlib.suppress(OverflowError):
        return float(value)
    return math.inf


def refuse_absent(count: int, value: Any, name: Hashable, values: pd.Series | None = None) -> None:
    """Raise a ValueError if no candidate has a value in ``positive``."""
    if not count:
        there = ""
        if values is not None:
            there = f", which contains {value_counts(values)}"
        raise ValueError(
            f"positive: no candidate has the value {shown(value)} in gold={name!r}{there}. Pass"
            " values that occur in this column."
        )


def true_values(positive: Any) -> list[Any]:
    """Return a list of the values that mark true positives."""
    if positive is None:
        return []
    return as_list(positive)


_SHOWN = 8  # largest number of values in an error


def value_counts(values: pd.Series) -> str:
    """Describe values and their counts as text."""
    counts = values.value_counts()
    with contextlib.suppress(TypeError):  # values of several types
        counts = counts.sort_index()
    counts = counts[counts > 0]
    text = [f"{shown(x)} ({count:,})" for x, count in counts.iloc[:_SHOWN].items()]
    if len(counts) > _SHOWN:
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
        " measure, and pairs are compared where both have scores. If a measure failed to retrieve"
        " these candidates, pass missing='absent'."
    )


# -------------------------------------------------------------------------------------------------
# Check the requested list sizes, thresholds, and groups.

_NEARLY = 1e-9  # tolerance for rounding fractions to whole list sizes
_LARGEST = 2**62


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
    if isinstance(n, range):
        what = f"n={n!r} requests {len(n):,} lists for every measure"
        check_memory(2.0 * len(n), what, "Pass fewer list sizes, or None for every n.")
    values = n
    if not isinstance(n, range) and not (
        isinstance(n, np.ndarray) and n.ndim == 1 and n.dtype.kind in "iu"
    ):
        values = as_list(n)
        shares = [x for x in values if isinstance(x, float | np.floating) and 0.0 < x < 1.0]
        if 0 < len(shares) == len(values):
            return Shares(np.array(list(dict.fromkeys(map(float, shares)))))
        for value in values:
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
                error: type[Exception] = TypeError
                kind = f" is of type {type(value).__name__}"
                if isinstance(value, float | np.floating):  # a share has this type
                    error, kind = ValueError, ""
                raise error(
                    f"n={shown(value)}{kind}: pass integers of at least 1, or only shares of the"
                    " candidates (floats between 0 and 1), or None for every n."
                )
    smallest = min(values, default=0)
    largest = max(values, default=0)
    if smallest < 1 or largest > _LARGEST:
        wrong = smallest
        if smallest >= 1:
            wrong = largest
        if not len(values):
            wrong = "[]"
        raise ValueError(
            f"n={wrong} is no size of a list. Pass whole numbers from 1 to the number of"
            " candidates, shares of the candidates between 0 and 1, or None for every n."
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
    longest = 0
    what = "number of candidates"
    advice = "or None for every n."
    if isinstance(n, np.ndarray):
        longest = int(n.max(initial=0))
    elif n is not None and whole is not None:
        longest = int(n.of(whole.total).max())
    if whole is not None:
        largest, what = whole.asked, "longest list of this head"
        advice = "or collect a longer head: ddf.rankeval.head(n_max)."
    if longest > largest:
        allowed = "more candidates "
        if largest:
            allowed = f"whole numbers from 1 to {largest} "
        raise ValueError(f"n={longest} exceeds the {what}, {largest}. Pass {allowed}{advice}")


def asked_thresholds(
    threshold: Any, measures: Sequence[Hashable], *, unique: bool = True
) -> FloatArray:
    """Return thresholds (measure, cut), padded with NaN.

    ``unique`` drops repeated thresholds of a measure.
    """
    if not isinstance(threshold, Mapping):
        threshold = dict.fromkeys(measures, threshold)
    check_known("threshold", threshold, measures)
    rows = []
    for name in measures:
        values = as_list(threshold.get(name, []))
        values = [x.item() if isinstance(x, np.generic) else x for x in values]
        for value in values:
            number = isinstance(value, int | float)
            number = number and not isinstance(value, bool)
            if not number or not (abs(value) <= sys.float_info.max or abs(value) == np.inf):
                raise TypeError(
                    f"threshold={shown(value)} for {name!r} is of type {type(value).__name__}, but"
                    " a threshold is a number. Pass numbers; inf and -inf are allowed."
                )
        row = list(map(float, values))
        if unique:
            row = list(dict.fromkeys(row))
        rows.append(row)
    result = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for place, row in enumerate(rows):
        result[place, : len(row)] = row
    return result


ONE_GROUP = pd.DataFrame(index=[0])  #: the keys of a single group


def group_numbers(frame: pd.DataFrame, by: Sequence[Hashable]) -> tuple[pd.DataFrame, IntArray]:
    """Return the sorted group keys, and each row's group number."""
    if not by:
        return ONE_GROUP, np.zeros(len(frame), dtype=np.int64)
    columns = [frame_column(frame, name, "by") for name in by]
    for name, column in zip(by, columns, strict=True):
        refuse_missing(column, "by", name)
    header = pd.Index(list(by), tupleize_cols=False)
    keys = pd.concat([x.reset_index(drop=True) for x in columns], axis=1)
    keys = keys.set_flags(allows_duplicate_labels=True)  # a key occurs in many rows
    keys.columns = header
    try:
        if len(by) == 1:  # faster than groups
            number = pd.factorize(columns[0], sort=True)[0]
        else:
            number = np.asarray(keys.groupby(list(by), observed=True).ngroup())
    except TypeError as error:
        for name, column in zip(by, columns, strict=True):
            if column.dtype == object:
                raise unsorted(column, "by", name) from error
        raise
    first = np.empty(number.max(initial=-1) + 1, dtype=np.int64)
    first[number[::-1]] = np.arange(number.size)[::-1]  # the last assignment keeps the first row
    each = keys.iloc[first].reset_index(drop=True)
    if any(isinstance(label, frozenset) for label in each.to_numpy(dtype=object).ravel()):
        raise unsorted(columns[0], "by", by[0])  # sets are compared, but have no order
    return each, number.astype(np.int64)


def groups_with_several(frame: pd.DataFrame, name: Hashable, group: IntArray) -> AnyArray:
    """Return the groups in which a column or index level that repeats has several values."""
    values = pd.factorize(frame_column(frame, name, "by"))[0]
    pairs = pd.DataFrame({0: group, 1: values}).drop_duplicates()
    if len(pairs) == len(frame):  # every row of a group has a value of its own
        return group[:0]
    return pairs.loc[pairs[0].duplicated(), 0].unique()


def refuse_pooled(frame: pd.DataFrame, roles: Roles) -> None:
    """Raise a ValueError if documents of several queries would be ranked as one list."""
    by = as_names(roles.by, frame.columns)
    known = [*frame.columns, *frame.index.names]
    named = [*by, *roles.factors, *as_names(roles.exclude, frame.columns)]
    documents = [x for x in (*USUAL["document"], "grade") if is_known(x, known)]
    queries = [x for x in USUAL["query"] if is_known(x, known) and not is_known(x, named)]
    for name in queries * bool(documents):
        if groups_with_several(frame, name, group_numbers(frame, by)[1]).size:
            key = ""
            if roles.key is None and documents[0] != "grade":
                key = f", key={documents[0]!r}"
            raise ValueError(
                f"by does not name {name!r}, so the documents of all queries would be ranked as one"
                f" list. Pass by={only_or_all([*by, name])!r}{key}. If one list is meant, pass"
                f" exclude={name!r}."
            )


def warn_of_unjudged(
    unlabeled: BoolArray, number: IntArray, gold: Hashable, by: Sequence[Hashable]
) -> None:
    """Warn about groups without labels whose candidates are all counted as negatives."""
    lacking = np.setdiff1d(number, number[~unlabeled]).size
    if by and lacking:
        warn(
            f"gold={gold!r}: {lacking:,} of {number.max() + 1:,} groups of by={list(by)!r} have no"
            " label at all, so their precision counts as 0. If they were not judged, drop their"
            " rows, as per_query and summary do for runs."
        )


def unsorted(values: pd.Series, role: str, name: object) -> TypeError:
    """Return the error for labels that cannot be sorted or distinguished."""
    kinds = listed(sorted({type(x).__name__ for x in values.dropna()}), most=4)
    return TypeError(
        f"{role}={name!r} has labels of the types {kinds}, which cannot be sorted or distinguished."
        f" Convert the labels to text or numbers, for example data[{name!r}].astype(str)."
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


def label_values(frame: pd.DataFrame, label: Sequence[Hashable]) -> Any:
    """Return what identifies the candidates: the index, one column, or several as levels."""
    if not label:
        return frame.index
    levels = [frame_column(frame, name, "label") for name in label]
    return only_or_all([pd.Index(level, tupleize_cols=False) for level in levels])


def label_keys(labels: _Labels, seed: int, group: IntArray) -> tuple[Keys, BoolArray]:
    """Return the candidates' tie keys, hashes of the labels and the seed.

    ``group`` is the number of each candidate's group. Repeated labels are counted within groups.
    The second result marks rows that repeat the label of an earlier row in the same group.
    """
    hashes = label_hashes(labels)
    again = np.zeros(hashes.size, dtype=bool)
    if not isinstance(labels, pd.RangeIndex) and _are_repeated(hashes, group):
        repeat = pd.Series(hashes).groupby([group, hashes]).cumcount().to_numpy()
        again = repeat > 0
        hashes[again] = mix(hashes[again] ^ mix(repeat[again].astype(np.uint64)))
    hashes += ranking.hashed_seed(seed)
    return mix(hashes), again


def _are_repeated(hashes: Keys, group: IntArray) -> bool:
    """Return whether a hash occurs twice in a group."""
    of_both = hashes ^ mix(group.astype(np.uint64))
    of_both.sort()
    return bool((of_both[1:] == of_both[:-1]).any())


def sorted_in_groups(keys: Keys, group: IntArray) -> IntArray:
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
    values = labels.to_numpy(dtype=float) + 0.0
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
    large = isinstance(label, int) and not -(2**63) <= label < 2**64
    if large and label.bit_length() < 1024 and float(label) == label:
        label = float(label)
        large = False
    if isinstance(label, int | float) and not large:
        return label_hashes(pd.Index([label]))
    if isinstance(label, np.datetime64 | datetime.datetime):
        # an index would use nanoseconds, which cannot represent distant dates
        stamp = pd.Timestamp(label)
        return _times(np.array([stamp.asm8.astype(np.int64)]), stamp.unit)
    if isinstance(label, np.timedelta64 | datetime.timedelta):
        return label_hashes(pd.TimedeltaIndex([label]))
    if isinstance(label, pd.Interval):
        return label_hashes([_objects([x]) for x in (label.left, label.right, label.closed)])
    return _hash_of_repr(label)


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
    refuse_missing(values, "key", name)
    pairs = pd.DataFrame({"group": group, "value": values.to_numpy()})
    try:
        repeated = values[pairs.duplicated().to_numpy(dtype=bool)]
    except TypeError:  # lists, dicts
        raise unsorted(values, "key", name) from None
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


def sort_key(values: pd.Series, name: object) -> pd.Series:
    """Return the sorted key values and their positions."""
    try:
        return pd.Series(values.to_numpy()).sort_values(kind="stable")
    except TypeError:
        raise unsorted(values, "key", name) from None


def as_compared(scores: FloatArray, key: object) -> FloatArray:
    """Return the scores in single precision, which ties="trec" compares."""
    if key is None:
        raise ValueError(
            "ties='trec' orders equal scores by document name in descending order. Pass the"
            " document column as key=..."
        )
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float32).astype(float)


# -------------------------------------------------------------------------------------------------
# Warn about identifiers, repeated candidates, and data with only one class.

_LEAST = 10  # with fewer rows, numbers can be distinct, or depend on the group, by chance


_LOOKED_AT = 1_000  # first rows, in which text that names groups is repeated
_ROWS = "query document doc item candidate user annotator fold seed".split()
#: names of columns that number rows
_NUMBERING = {f"{name}{end}" for name in ["", "q", *_ROWS] for end in ("id", "_id")} | {*_ROWS}


def check_guessed(
    frame: pd.DataFrame,
    scores: Mapping[Hashable, pd.Series],
    named: Sequence[Hashable],
    *,
    taken_as: str,
    groups: Mapping[str, IntArray] | None = None,
) -> None:
    """Raise an error, or warn, if numbers that the user did not name are hardly scores.

    ``taken_as`` is "systems" or "measures", ``named`` are the columns with a role, and ``groups``
    contains the group number of each row, by role (by, groups).
    """
    _ask_for_roles(frame, scores, named, items=taken_as == "systems")
    _warn_of_identifiers(scores, taken_as, groups or {})


def _ask_for_roles(
    frame: pd.DataFrame,
    scores: Mapping[Hashable, pd.Series],
    named: Sequence[Hashable],
    *,
    items: bool,
) -> None:
    """Raise an error if columns without a role show that not all numbers are scores.

    Such columns are text that repeats for each item, as in a long frame, numbers named like
    identifiers, and, for ``items``, whole numbers beside systems with scores from 0 to 1.
    """
    whole = {x: v for x, v in scores.items() if pd.api.types.is_integer_dtype(v.dtype)}
    labels: dict[Hashable, tuple[AnyArray, Any]] = {}
    for name, values in frame.items():
        number = is_score(values.dtype) or pd.api.types.is_bool_dtype(values.dtype)
        with contextlib.suppress(TypeError):  # lists and other objects that are no labels
            if not (number or is_known(name, named) or values.iloc[:_LOOKED_AT].is_unique):
                labels[name] = pd.factorize(values)
    items_of = {**labels, **{x: pd.factorize(v) for x, v in whole.items() if labels}}
    for (text, several), (item, one) in itertools.product(labels.items(), items_of.items()):
        if _are_crossed(several, one):
            role = "measure"
            if items:
                role = "system"
            raise ValueError(
                f"data has a row for each combination of {text!r} and {item!r}. For a long frame,"
                f" pass {role}={text!r}, score=... and item={item!r}; for groups of rows, pass"
                f" by={text!r}. For neither, list the columns of scores: measures=[...]."
            )
    odd = [x for x in whole if str(x).lower() in _NUMBERING]
    if items:
        beyond = {x: None for x, v in whole.items() if not is_share(v)}
        if beyond and all(is_share(v) for x, v in scores.items() if x not in beyond):
            odd = list(dict.fromkeys(odd) | beyond)
    if odd and len(odd) < len(scores):
        raise ValueError(
            f"measures: {listed(odd, most=6)} can hardly be scores like the other columns. Pass"
            f" their role, such as by=... or groups=..., or exclude={only_or_all(odd)!r}; if they"
            " are scores, list all columns of scores: measures=[...]."
        )


def is_share(values: pd.Series) -> bool:
    """Return whether all numbers are from 0 to 1."""
    return bool(values.dropna().between(0, 1).all())


def _are_crossed(several: tuple[AnyArray, Any], one: tuple[AnyArray, Any]) -> bool:
    """Return whether each of several labels is combined with each item, once."""
    (label, labels), (item, items) = several, one
    if min(len(labels), len(items)) < 2 or len(labels) * len(items) != label.size:
        return False
    return pd.unique(label * len(items) + item).size == label.size


def _warn_of_identifiers(
    columns: Mapping[Hashable, pd.Series], taken_as: str, groups: Mapping[str, IntArray]
) -> None:
    """Warn about whole numbers that look like identifiers."""
    reasons = {}
    for name, values in columns.items():
        reason = identifier_reason(values, groups)
        if reason is not None:
            reasons[name] = f"{name!r} ({reason})"
    if reasons:
        warn(
            f"columns used as {taken_as} look like identifiers: {'; '.join(reasons.values())}. Pass"
            f" exclude={only_or_all([*reasons])!r} or their role, for example by=... or groups=..."
            f" If they are {taken_as}, list all {taken_as}: measures=[...]."
        )


def identifier_reason(values: pd.Series, groups: Mapping[str, IntArray]) -> str | None:
    """Return why a column of integers looks like an identifier, or None.

    Its numbers are all distinct, or it has one number in each group, as a join gives it.
    """
    if values.size < _LEAST or not pd.api.types.is_integer_dtype(values.dtype):
        return None
    if values.is_unique:
        return "whole numbers that are all distinct"
    for role, number in groups.items():
        first = np.unique(number, return_index=True)[1]
        of_group = values.iloc[first]
        several = len(first) < len(number) and of_group.nunique() > 2
        if several and values.array.equals(of_group.iloc[number].array):
            return f"one value in each group of {role}"
    return None


def factorized(values: pd.Series, role: str, name: Hashable) -> tuple[AnyArray, Any]:
    """Return the number of each row's label, and the labels, all of one type and none missing."""
    check_types(values, role, name)
    refuse_missing(values, role, name)
    try:
        return pd.factorize(values)
    except TypeError as error:
        raise unsorted(values, role, name) from error


def cluster_codes(values: pd.Series, name: Hashable) -> IntArray:
    """Return each candidate's group number, independent of the row order."""
    number, labels = factorized(values, "groups", name)
    order = np.argsort(label_hashes(pd.Index(labels, tupleize_cols=False)))
    return ranking.inverse(order)[number]


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


# -------------------------------------------------------------------------------------------------
# Roles that name index levels, and tables that leave.


def with_levels(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Return a frame in which the index levels with a role are columns, too."""
    names = list(frame.index.names)
    added = {}
    for role in ("gold", "key", "groups", "by", "label", "exclude"):
        for name in as_names(getattr(roles, role), frame.columns):
            if name is not None and is_known(name, names) and not is_known(name, frame.columns):
                added[name] = frame.index.get_level_values(names.index(name)).array
    if not added:
        return frame
    attrs = frame.attrs
    frame = pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis=1)
    frame.attrs = attrs
    return frame


def above_door(table: FrameOrDataset, data: Data) -> Data:
    """Return the table for type checkers as what the door makes of it: a table like the data."""
    return cast("Data", table)


def is_dask_frame(data: object) -> bool:
    """Return whether the data are a Dask DataFrame, without importing Dask."""
    kind = type(data)
    named = kind.__name__ in ("DataFrame", "_Frame")
    return named and kind.__module__.startswith("dask") and hasattr(data, "npartitions")


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
    attrs: Keywords | None,
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
    present = np.flatnonzero(np.bincount(numbers + 1)[1:])
    known = list(map(names.__getitem__, present.tolist())) or list(names)
    for place, name in enumerate(known):
        if tables.is_missing(name):  # tables contain missing names as NaN
            known[place] = np.nan
    header = _header(*known)
    places = np.full(len(names) + 1, -1, dtype=np.intp)
    places[present] = np.arange(present.size)
    return header.array.take(places[numbers], allow_fill=bool(numbers.min(initial=0) < 0))


@lru_cache(maxsize=64, typed=True)  # thousands of calls name the same few systems
def _header(*names: Hashable) -> pd.Index[Any]:
    return pd.Index(names, tupleize_cols=False)


Data = TypeVar("Data", pd.DataFrame, xr.Dataset)


# columns of numbers of names, or -1
NAMES = frozenset("measure measure_a measure_b system system_a system_b leaning better".split())
