"""Read and check list sizes, thresholds, scores and gold labels."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.errors import is_known, listed, unknown_name, warn
from rankeval_pd.forms.roles.columns import is_score
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.ranking import Whole

# ------------------------------------------ Scores and gold labels as numbers, and missing values

_EXACT = 2.0**53  # float64 represents all whole numbers up to this number


def score_values(values: pd.Series, name: Hashable) -> FloatArray:
    """Return scores as float64, with NaN for missing scores."""
    if values.dtype == object:
        values = values.infer_objects()
    if isinstance(values.dtype, pd.CategoricalDtype) and values.dtype.ordered:
        codes = values.cat.codes.to_numpy(dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)
    _check_scores(values.dtype, name)
    return as_floats(
        values,
        f"measures: {name!r} has",
        f"and would be tied. Pass the ranks instead: data[{name!r}].rank().",
    )


def _check_scores(dtype: Any, name: Hashable) -> None:
    if not (is_score(dtype) or pd.api.types.is_bool_dtype(dtype)):
        raise TypeError(
            f"measures: {name!r} has dtype {dtype}, but scores must be numbers. Convert the"
            " scores, for example with pd.to_numeric, or pass measures=..."
        )


def as_floats(values: pd.Series, who: str, then: str) -> FloatArray:
    """Return numbers as float64, and reject distinct numbers that would become equal.

    Missing numbers are NaN. The error message begins with ``who`` and ends with ``then``.
    """
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.is_integer_dtype(values.dtype):
        if (np.abs(numbers) >= _EXACT).any():
            raise ValueError(
                f"{who} whole numbers of 2**53 or more, which cannot be distinguished as float64"
                f" {then}"
            )
    elif _is_finer(values.dtype):
        # pandas compares numbers at float64 precision
        there = values.to_numpy()[~np.isnan(numbers)]
        alike = len(np.unique(there)) - len(np.unique(numbers[~np.isnan(numbers)]))
        if alike:
            raise ValueError(
                f"{who} numbers of dtype {values.dtype}, {alike} of which cannot be distinguished"
                f" as float64 {then}"
            )
    return numbers


def _is_finer(dtype: Any) -> bool:
    """Return whether this dtype has more precision than float64."""
    plain = dense(dtype)
    return bool(plain.kind == "O" or plain.itemsize > 8)


def dense(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of the numbers in a column."""
    inner = dtype.subtype if isinstance(dtype, pd.SparseDtype) else dtype
    return np.dtype(getattr(inner, "numpy_dtype", inner))


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
        return _among(values, name, positive, all_there=all_there)
    dtype = values.dtype
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
                f"min_grade={min_grade!r}, but gold={name!r} contains {value_counts(values)},"
                " which are not grades. Pass the value(s) that mark true positives as positive=..."
            )
        return np.where(np.isnan(truth), np.nan, truth >= as_dtype(min_grade, dtype))
    if truth is None or not (np.isnan(truth) | (truth == 0) | (truth == 1)).all():
        grades = "" if truth is None else ", or their lowest grade as min_grade=1"
        kinds = value_counts(values)
        if api.is_complex_dtype(values.dtype):
            kinds = "complex numbers"
        raise ValueError(
            f"gold={name!r} contains {kinds}, but a gold label is True or False, 1"
            f" or 0. Pass the value(s) that mark true positives as positive=...{grades}."
        )
    return truth


def _as_float(value: Any) -> float:
    try:
        return np.nan if pd.isna(value) else float(value)
    except OverflowError:  # an integer too large for a float is neither a grade nor a label
        return np.inf if value > 0 else -np.inf


def _among(values: pd.Series, name: Hashable, positive: Any, *, all_there: bool) -> FloatArray:
    """Return 1.0 for values that mark true positives and 0.0 for other values."""
    plain = values.astype(object) if values.dtype != object else values
    among = true_values(positive)
    for value in among if all_there else []:
        if not plain.isin([value]).any():
            raise ValueError(
                f"positive={positive!r}: no candidate has the value {value!r}; gold={name!r}"
                f" contains {value_counts(values)}. Pass values that occur in this column."
            )
    result = plain.isin(among).to_numpy(dtype=np.float64)
    # an empty spreadsheet cell is not a judgment, even if read as empty text
    blank = plain.isna() | plain.isin(["", " "]) & ~plain.isin(among)
    return np.where(blank.to_numpy(dtype=bool), np.nan, result)


def true_values(positive: Any) -> list[Any]:
    """Return a list of the values that mark true positives."""
    if positive is None:
        return []
    several = isinstance(positive, list | tuple | set | frozenset | np.ndarray | pd.Series)
    return list(positive) if several else [positive]


def value_counts(values: pd.Series, most: int = 8) -> str:
    """Describe values and their counts as text."""
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
    unjudged: str | None,
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return scores, gold labels and presence flags, or reject missing values.

    The arrays are score (measure, candidate) and gold (candidate).
    """
    unscored = np.isnan(score)
    unlabeled = np.isnan(gold)
    present = np.ones(score.shape, dtype=bool)
    if unjudged == "skip":
        present = np.broadcast_to(~unlabeled, score.shape)
    elif unjudged != "negative":  # unjudged candidates are not true positives
        refuse_unlabeled(int(unlabeled.sum()), gold.size, gold_name)
    lacking = unscored & present
    # "last" and "absent" sort the candidate last; with "absent", the Ranking ends before this
    # candidate (Ranking.eligible)
    if missing == "raise" and lacking.any():
        refuse_unscored(lacking.sum(axis=1), present.sum(axis=1), gold.size, measures)
    if missing == "drop" and lacking.any():
        _warn_of_dropped(lacking, present, gold == 1.0, measures)
        present = present & ~unscored
    return score, gold == 1.0, present


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
        shown = [
            f"{name!r} ({'all' if count == every else int(count)})"
            for name, count, every in zip(measures, lacking, present, strict=True)
            if count
        ]
        raise ValueError(
            f"missing='raise': some of the {total} candidates have no score in {', '.join(shown)}."
            " Pass missing='absent' if the measure did not retrieve these candidates, 'last' to"
            " rank them at the end, tied, or 'drop' to exclude them."
        )


def _warn_of_dropped(
    lacking: BoolArray, present: BoolArray, true: BoolArray, measures: Sequence[Hashable]
) -> None:
    """Warn about candidates that are dropped for each measure."""
    counts = (x.sum(axis=1) for x in (lacking, lacking & true, present, present & true))
    taken = [
        f"{name!r} without {int(out):,} of {int(every):,} candidates ({int(out_true):,} of"
        f" {int(every_true):,} true positives)"
        for name, out, out_true, every, every_true in zip(measures, *counts, strict=True)
        if out
    ]
    warn(
        f"missing='drop' evaluates {'; '.join(taken)}, so a missing score does not count against a"
        " measure. If a measure failed to retrieve these candidates, pass missing='absent'."
    )


# -------------------------------------------------- List sizes, thresholds, and the groups of rows

# -------------------------- The requested list sizes: whole numbers, or fractions of the candidates

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
    if isinstance(n, range) or (isinstance(n, np.ndarray) and n.ndim == 1 and n.dtype.kind in "iu"):
        if len(n) and max(int(max(n)), -int(min(n))) > _LARGEST:
            return check_n(list(n))
        sizes = np.array(n, dtype=np.int64)
        first = sizes[sizes < 1][:1].tolist()
    else:
        values = [n] if isinstance(n, str | bytes | bytearray) or not np.iterable(n) else list(n)
        shares = [value for value in values if _is_share(value)]
        if shares:
            return _shares(values, len(shares))
        first = [value for value in map(_check_whole, values) if value < 1][:1]
        for above in (value for value in map(_check_whole, values) if value > _LARGEST):
            raise ValueError(
                f"n={above} exceeds any possible number of candidates. Pass whole numbers from 1 to"
                " the number of candidates, or None for every n."
            )
        sizes = np.array([max(int(value), 0) for value in values], dtype=np.int64)
    if not sizes.size:
        raise ValueError(
            f"n={n!r} requests no lists. Pass whole numbers from 1 to the number of candidates, or "
            "None for every n."
        )
    if first:
        raise ValueError(
            f"n={first[0]!r}: a list has at least one candidate. Pass whole numbers from 1 to the "
            "number of candidates, shares of the candidates between 0 and 1, or None for every n."
        )
    _, kept = np.unique(sizes, return_index=True)
    return sizes[np.sort(kept)]


def _is_share(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and 0.0 < float(value) < 1.0


def _shares(values: list[Any], count: int) -> Shares:
    if count < len(values):
        other = next(value for value in values if not _is_share(value))
        raise TypeError(
            f"n={values!r} mixes shares of the candidates, between 0 and 1, with {other!r}, which "
            "is not a share. Pass either whole numbers or shares."
        )
    return Shares(np.array(list(dict.fromkeys(float(value) for value in values))))


def _check_whole(value: Any) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return int(value)
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    hint = f" Write {int(value)}." if whole else ""
    raise TypeError(
        f"n={value!r} is of type {type(value).__name__}: pass a whole number of at least 1, a share"
        f" of the candidates (a float between 0 and 1), or None for every n.{hint}"
    )


def longest_list(n: Sizes, total: int) -> int:
    """Return the size of the longest list for N candidates, at least 1."""
    sizes = n.of(total) if isinstance(n, Shares) else n
    return 1 if sizes is None else int(sizes.max(initial=1))


#: number of candidates along the dimension of a Dataset, in which groups can be padded
WIDTH: ContextVar[int | None] = ContextVar("WIDTH", default=None)


def check_not_above(n: Sizes, largest: int, whole: Whole | None = None) -> None:
    """Raise a ValueError if a list size exceeds the number of candidates."""
    width = WIDTH.get()
    largest = largest if width is None else width
    if whole is not None:
        if (longest := longest_list(n, whole.total)) > whole.asked:
            raise ValueError(
                f"n={longest} exceeds {whole.asked}, the size of the longest list in this head of"
                f" {whole.total:,} candidates. Collect a longer head: ddf.rankeval.head(n_max),"
                " with n_max up to the number of candidates."
            )
    elif isinstance(n, np.ndarray) and n.size and int(n.max()) > largest:
        allowed = f"whole numbers from 1 to {largest} or " if largest else ""
        raise ValueError(
            f"n={int(n.max())} exceeds the number of candidates, {largest}. Pass {allowed}None"
            " for every n."
        )


# ---------- User thresholds: a number, or a mapping from measures to one or more numbers


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
                f"threshold: {value!r} for {name!r} is of type {type(value).__name__}. Pass a"
                " number, or a list of numbers."
            )
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            raise ValueError(
                f"threshold: a whole number for {name!r} is too large for a float. Pass a smaller"
                " number, inf or -inf."
            )
        if np.isnan(value):
            raise ValueError(
                f"threshold: NaN for {name!r} is not a threshold. Pass a number;"
                " inf and -inf are allowed."
            )
    return [float(value) for value in values]


# ----------------------------- Keys of the groups in ``by``, and the group of each row


def group_numbers(
    columns: Sequence[pd.Series], by: Sequence[Hashable], rows: int
) -> tuple[pd.DataFrame, IntArray]:
    """Return the sorted group keys, and each row's group number."""
    if not by:
        return pd.DataFrame(index=[0]), np.zeros(rows, dtype=np.int64)
    # pandas has no 16-bit index
    columns = [x.astype(np.float32) if x.dtype == np.float16 else x for x in columns]
    keys = pd.concat([column.reset_index(drop=True) for column in columns], axis=1)
    keys = keys.set_flags(allows_duplicate_labels=True)  # a key occurs in many rows
    keys.columns = pd.Index(list(by), tupleize_cols=False)
    for name, column in zip(by, columns, strict=True):
        missing = int(column.isna().sum())
        if missing:
            raise ValueError(
                f"by={name!r} has {missing} missing values, but every row needs a group. Fill in"
                f" these values, or drop the rows: data.dropna(subset=[{name!r}])."
            )
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
