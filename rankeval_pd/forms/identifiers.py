"""Columns that were found, not named, and look like identifiers: said, with the way out."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping

import numpy as np
import pandas as pd

from rankeval_pd.errors import warn
from rankeval_pd.stats._types import FloatArray, IntArray

_LEAST = 10  # rows, below which whole numbers are all distinct by chance
_NAMES = frozenset({
    "id", "ids", "idx", "index", "key", "uid", "guid", "qid", "pid", "docid", "docno", "segid",
    "no", "nr", "number", "fold", "split", "rep", "repeat", "repetition", "replicate", "trial",
    "seed", "run", "query", "topic", "doc", "document", "item", "segment", "seg", "sentence",
    "sent", "line", "row", "page", "user", "session", "batch", "block", "subject", "participant",
    "annotator", "timestamp", "date", "year", "rel", "relevance", "grade",
})  # fmt: skip
_LAST = frozenset({"id", "ids", "idx", "index", "uid", "docno", "nr", "number", "fold", "seed"})


def warn_of_identifiers(
    columns: Mapping[Hashable, pd.Series],
    *,
    taken_as: str,
    groups: Mapping[str, IntArray] | None = None,
    lead: str = "",
) -> None:
    """Give a RankevalWarning that names the columns that look like identifiers, if there are any.

    Parameters
    ----------
    columns : mapping
        The columns that were found to be systems or measures and that nobody named, by name.
    taken_as : str
        What they were found to be, in the plural: "systems" or "measures".
    groups : mapping, optional
        By the name of the role (by, groups) the number of each row's group.
    lead : str, optional
        A sentence to be added.

    Notes
    -----
    Cost: of a column of whole numbers one hash table, and a pass over the rows for each role; of
    any other column a look at its first rows.
    """
    reasons = {
        name: reason
        for name, values in columns.items()
        if (reason := reason_of(name, values, groups or {})) is not None
    }
    if not reasons:
        return
    names = list(reasons)
    told = "; ".join(f"{name!r} ({reason})" for name, reason in list(reasons.items())[:6])
    more = f"; and {len(names) - 6} more" if len(names) > 6 else ""
    given = (
        repr(names[0]) if len(names) == 1 else f"{names[:6]!r}"[:-1] + (", ...]" if more else "]")
    )
    warn(
        f"taken as {taken_as}, and they look like identifiers or labels: {told}{more}. Leave them"
        f" out by exclude={given}, or give them their role, as by=... or groups=...; if they are"
        f" meant, name all {taken_as}: measures=[...].{lead}"
    )


def reason_of(
    name: Hashable, values: pd.Series, groups: Mapping[str, IntArray] | None = None
) -> str | None:
    """Return why a column looks like an identifier, or None.

    Only whole numbers do: by their name; by being all distinct (10 rows or more), or counting up in
    blocks; or, if they are not 0 and 1 only, by being the same within each group.
    """
    numbers = _whole(values)
    if numbers is None:
        return None
    if _named_so(name):
        return "by its name"
    if _counts_up(numbers):
        return "whole numbers that count up from row to row"
    if _all_distinct(numbers):
        return "whole numbers that are all distinct"
    for role, number in (groups or {}).items():
        if _constant_within(numbers, number):
            return f"one value in each group of {role}"
    return None


def _whole(values: pd.Series) -> FloatArray | None:
    """Return a column of whole numbers as float64, NaN where missing; None for any other."""
    api = pd.api.types
    if values.dtype == object:
        values = values.infer_objects()
    if api.is_bool_dtype(values.dtype) or not api.is_numeric_dtype(values.dtype):
        return None
    if api.is_complex_dtype(values.dtype) or values.empty:
        return None
    first = values.iloc[:1000].to_numpy(dtype=np.float64, na_value=np.nan)
    if not _are_whole(first):
        return None
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers if _are_whole(numbers) else None


def _are_whole(numbers: FloatArray) -> bool:
    known = numbers[~np.isnan(numbers)]
    return bool((np.isfinite(known) & (known == np.rint(known))).all()) and known.size > 0


def _named_so(name: Hashable) -> bool:
    if not isinstance(name, str):
        return False
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)  # docId
    words = re.findall(r"[a-z]+", apart.lower())
    if not words:
        return False
    if any(character.isdigit() for character in name):  # "Unnamed: 0"; "run 3" may be a system
        return words in (["unnamed"], ["level"])
    return words[-1] in _LAST or all(word in _NAMES for word in words)


def _counts_up(numbers: FloatArray) -> bool:
    """Return whether each row has the number of the row before it or the next one."""
    with np.errstate(over="ignore"):  # steps beyond all floats are no steps of 1
        steps = np.diff(numbers)
    return bool(((steps == 0.0) | (steps == 1.0)).all()) and int(steps.sum()) + 1 >= _LEAST


def _all_distinct(numbers: FloatArray) -> bool:
    known = numbers[~np.isnan(numbers)]
    with np.errstate(over="ignore"):
        if known.size < _LEAST or known.max() - known.min() + 1.0 < known.size:
            return False
    return bool(pd.unique(known).size == known.size)


def _constant_within(numbers: FloatArray, number: IntArray) -> bool:
    """Return whether the column tells groups apart and not the rows of any group."""
    if numbers.size < _LEAST or set(pd.unique(numbers)) <= {0.0, 1.0}:
        return False
    _, first, where, size = np.unique(
        number, return_index=True, return_inverse=True, return_counts=True
    )
    within = numbers[first][where]
    same = (numbers == within) | (np.isnan(numbers) & np.isnan(within))
    several = int((size > 1).sum())
    return bool(same.all()) and several > 1 and pd.unique(numbers[first]).size > 1
