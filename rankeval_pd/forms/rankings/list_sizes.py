"""List sizes, thresholds, and the groups of rows."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.errors import is_known, listed, unknown_name
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.rankings.ranking import Whole

# -------------------------------------------------------------------------------------------------
# The sizes of lists that are asked for: whole numbers, or shares of the candidates.

_NEARLY = 1e-9  # a share of the candidates that is a whole number but for rounding is that number
_LARGEST = 2**62
_MOST = 10**9


class Shares(NamedTuple):
    """Sizes of lists as shares of the candidates, each once, in the order asked for."""

    values: FloatArray

    def of(self, total: int) -> IntArray:
        """Return the least n of which each is at least this share of ``total``, 1 or more."""
        return np.array([least_n(share, total) for share in self.values], dtype=np.int64)


Sizes = IntArray | Shares | None


def least_n(share: float, total: int) -> int:
    """Return the least n >= share * total, and 1 at least."""
    return max(math.ceil(share * total - _NEARLY), 1)


def those(sizes: Sizes, asked: IntArray) -> IntArray | None:
    """Return the list sizes of one group, None where every n was asked for."""
    return None if sizes is None else asked


def check_n(n: Any) -> Sizes:
    """Return the list sizes asked for, each once, in the order asked for; None is every n.

    Floats between 0 and 1 are shares of the candidates.
    """
    if n is None:
        return None
    if isinstance(n, range) and len(n) > _MOST:
        raise ValueError(
            f"n={n!r} asks for {len(n):,} lists of every measure, which no memory holds. Give"
            " fewer n, or None for every n there is."
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
                f"n={above} is above the number of candidates that any data have. Give whole"
                " numbers from 1 to the number of candidates, or None for every n there is."
            )
        sizes = np.array([max(int(value), 0) for value in values], dtype=np.int64)
    if not sizes.size:
        raise ValueError(
            f"n={n!r} asks for no list. Give whole numbers from 1 to the number of candidates, or"
            " None for every n."
        )
    if first:
        raise ValueError(
            f"n={first[0]!r}: a list has 1 candidate or more. Give whole numbers from 1 to the"
            " number of candidates, shares of the candidates between 0 and 1, or None for every n."
        )
    _, kept = np.unique(sizes, return_index=True)
    return sizes[np.sort(kept)]


def _is_share(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and 0.0 < float(value) < 1.0


def _shares(values: list[Any], count: int) -> Shares:
    if count < len(values):
        other = next(value for value in values if not _is_share(value))
        raise TypeError(
            f"n={values!r} has shares of the candidates, between 0 and 1, and {other!r}, which is"
            " none. Give whole numbers, or shares, not both."
        )
    return Shares(np.array(list(dict.fromkeys(float(value) for value in values))))


def _check_whole(value: Any) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return int(value)
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    hint = f" Write {int(value)}." if whole else ""
    raise TypeError(
        f"n={value!r} is of type {type(value).__name__}: the size of a list is a whole number, 1"
        " or more, a share of the candidates as a float between 0 and 1, or None for every n."
        f"{hint}"
    )


def longest_list(n: Sizes, total: int) -> int:
    """Return the size of the longest list among N candidates, 1 where none is named."""
    sizes = n.of(total) if isinstance(n, Shares) else n
    return 1 if sizes is None else int(sizes.max(initial=1))


def check_not_above(n: Sizes, largest: int, whole: Whole | None = None) -> None:
    """Raise a ValueError where a list size is above the number of candidates."""
    if whole is not None:
        if (longest := longest_list(n, whole.total)) > whole.asked:
            raise ValueError(
                f"n={longest} is above {whole.asked}, the longest list that this head of"
                f" {whole.total:,} candidates was made for. Make a longer one:"
                " ddf.rankeval.head(n_max), at most the number of candidates."
            )
    elif isinstance(n, np.ndarray) and n.size and int(n.max()) > largest:
        allowed = f"whole numbers from 1 to {largest}" if largest else "no n: there is no candidate"
        raise ValueError(
            f"n={int(n.max())} is above the number of candidates, {largest}. Allowed are {allowed},"
            " or None for every n there is."
        )


# -------------------------------------------------------------------------------------------------
# Thresholds as users give them: one number, or a mapping from measure to one or several.


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


# -------------------------------------------------------------------------------------------------
# The groups that the columns of ``by`` name: their keys, and the group of each row.


def group_numbers(
    columns: Sequence[pd.Series], by: Sequence[Hashable], rows: int
) -> tuple[pd.DataFrame, IntArray]:
    """Return the keys of the groups, sorted, and the number of each row's group."""
    if not by:
        return pd.DataFrame(index=[0]), np.zeros(rows, dtype=np.int64)
    keys = pd.concat([column.reset_index(drop=True) for column in columns], axis=1)
    keys = keys.set_flags(allows_duplicate_labels=True)  # a key stands in many rows of a table
    keys.columns = pd.Index(list(by), tupleize_cols=False)
    for name, column in zip(by, columns, strict=True):
        missing = int(column.isna().sum())
        if missing:
            raise ValueError(
                f"by={name!r} has {missing} missing values: every row belongs to a group. Fill"
                f" them, or drop these rows: data.dropna(subset=[{name!r}])."
            )
    try:
        number = np.asarray(keys.groupby(list(by), sort=True, observed=True).ngroup())
    except TypeError as error:
        raise TypeError(_unsorted(columns, by)) from error
    first = np.empty(number.max(initial=-1) + 1, dtype=np.int64)
    first[number[::-1]] = np.arange(number.size)[::-1]  # what is written last stays
    each = keys.iloc[first]
    if any(isinstance(label, frozenset) for label in each.to_numpy(dtype=object).ravel()):
        raise TypeError(_unsorted(columns, by))  # only subsets have an order
    return each, number.astype(np.int64)


def _unsorted(columns: Sequence[pd.Series], by: Sequence[Hashable]) -> str:
    kinds = {
        name: sorted({type(x).__name__ for x in column})
        for name, column in zip(by, columns, strict=True)
        if column.dtype == object
    }
    told = "; ".join(f"{name!r} of type {' and '.join(given)}" for name, given in kinds.items())
    return (
        f"by has labels that cannot be sorted: {told}. Make them text or numbers, as by"
        f" data[{next(iter(kinds), by[0])!r}].astype(str)."
    )
