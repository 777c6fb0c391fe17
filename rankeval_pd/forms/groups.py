"""The groups that the columns of ``by`` name: their keys, and the group of each row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from rankeval_pd.stats._types import IntArray


def group_numbers(
    columns: Sequence[pd.Series], by: Sequence[Hashable]
) -> tuple[pd.DataFrame, IntArray]:
    """Return the keys of the groups, sorted, and the number of each row's group."""
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
