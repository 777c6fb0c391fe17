"""Name the columns of results, shorten and read results, and record how they were made."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.stats import AnyArray

Keywords = Mapping[str, Any]  #: roles and options by name, to read
Options = dict[str, Any]  #: roles and options by name, to collect
Attrs = Mapping[Any, Any]  #: what a table records about how it was made
FrameOrDataset = pd.DataFrame | xr.Dataset

#: ordered columns of a short table; or a mapping from each keyword that selects columns to them,
#: with "" for all other calls; or a function that returns the short table
Short = str | Mapping[str, str] | Callable[[pd.DataFrame], pd.DataFrame]

#: columns that a keyword adds to the short table
_ADDED = ("share", "relation", "tp_sd", "n_groups", "n_queries", "n_missing")
_IF_TRUE = ("tie_decides",)  # flags that are shown only if at least one value is True
_SHORT_LIST = 20  # largest number of names to store in attrs
_INNER = ("pair", "cut")  # dimensions of results that do not become columns


def labels(names: Sequence[Any]) -> AnyArray:
    """Return names, which can be tuples, as an array of objects."""
    values = np.empty(len(names), dtype=object)
    values[:] = names
    return values


def as_list(values: Any) -> list[Any]:
    """Return several values as a list; text and other single values are one value."""
    if isinstance(values, str | bytes | bytearray) or not np.iterable(values):
        return [values]
    return list(values)


def only_or_all(names: Sequence[Any]) -> Any:
    """Return a single name, or the list of several names."""
    if len(names) == 1:
        return names[0]
    return list(names)


def taken_at(values: Any, rows: Any) -> Any:
    """Return the values at the rows, or None without values."""
    if values is None:
        return None
    return values[rows]


def is_missing(name: Any) -> bool:
    """Return whether a name is None, NaN, NaT or NA."""
    return bool(pd.api.types.is_scalar(name) and pd.isna(name))


def apart(names: Iterable[Hashable], columns: Sequence[str]) -> list[Hashable]:
    """Return the names of group columns, with n renamed to by_n if the result has n."""
    taken = {*columns, *_INNER, "row"}
    result = list(names)
    for place, name in enumerate(result):
        if name in taken:
            while name in {*taken, *result}:
                name = f"by_{name}"
            result[place] = name
    return result


def keys_apart(
    table: pd.DataFrame, columns: Sequence[str], count: int | None = None
) -> pd.DataFrame:
    """Rename the group columns of a table if the result uses the same names."""
    first = list(table.columns[:count])
    names = apart(first, columns)
    if names == first:
        return table
    header = [*names, *table.columns[len(first) :]]
    return table.set_axis(pd.Index(header, tupleize_cols=False), axis=1)


def listed_in(attrs: Attrs, name: str) -> list[Any]:
    """Return a list from the attrs, which can be missing or stored as JSON."""
    value = attrs.get(name, [])
    if isinstance(value, str) and value.startswith("["):
        with suppress(ValueError):
            value = json.loads(value)
    return list(value) if isinstance(value, list | tuple) else [value]


def rows_in(result: xr.Dataset) -> pd.DataFrame:
    """Return the rows of a Dataset, with columns and dimensions in order."""
    variables = sorted(result.data_vars.values(), key=lambda x: -x.ndim)
    order = dict.fromkeys([*(d for x in variables for d in x.dims), *result.dims])
    frame = result.to_dataframe(dim_order=list(order))
    last = [x for x in listed_in(result.attrs, "columns") if x in frame]
    return frame[[*frame.columns.difference(last, sort=False), *last]].reset_index()


def as_rows(table: pd.DataFrame) -> xr.Dataset:
    """Return a table as a Dataset along ``row``."""
    columns = {name: ("row", column.to_numpy()) for name, column in table.items()}
    return xr.Dataset(columns, attrs=table.attrs)


# -------------------------------------------------------------------------------------------------
# Leave with a short table, and with the record of how the table was made.


def shortened(table: pd.DataFrame, short: Short, keywords: Keywords) -> pd.DataFrame:
    """Return the short table, with a note on lists that end inside a tie."""
    if callable(short):
        return short(table)
    if not isinstance(short, str):
        deciding = ""
        for keyword in short:
            value = keywords.get(keyword)
            if deciding == "" and value is not None and value is not False:  # 0 can be a name
                deciding = keyword
        short = short[deciding]
    names = short.split()
    if not names:
        return table
    columns = list(table.columns)
    first = min(map(columns.index, {*names} & {*columns}), default=0)
    shown = dict.fromkeys(columns[:first])
    for name in (*names, *_ADDED, *_IF_TRUE):
        idle = name in _IF_TRUE and name in columns and not table[name].to_numpy().any()
        if name in columns[first:] and not idle:
            shown[name] = None
    result = table.take(list(map(columns.index, shown)), axis=1)
    for cut in ("tied", "cuts_tie"):
        if cut in columns and cut not in result:
            if ending := int((table[cut].to_numpy() > 0).sum()):
                result.attrs["n_ending_in_tie"] = ending
            break
    return result


#: what a record says, in order; other facts follow
_RECORD = (
    "method quantity metric unit noun test interval adjust family alternative alpha level"
    " n_items n_candidates n_groups gold agreement by key groups strata seeds baseline"
    " missing ties unjudged undefined average n_resamples seed"
).split()
#: roles that are noted as the call gave them
_ROLES = (
    "gold min_grade agreement by key groups strata seeds missing ties unjudged undefined metric"
    " baseline"
).split()
#: the unit of each quantity; for systems, the metric is the quantity
_UNITS = {
    "proportion": "precision recall specificity npv f1 tpr fnr area bedroc accuracy"
    " average-precision",
    "ratio": "lift enrichment odds-ratio",
    "candidates": "list-size true-positives",
    "probability": "probability p-value",
    "points": "bleu chrf ter",
    "score": "mean sum threshold coefficient",
}


def record(
    facts: Attrs, method: str, laws: Mapping[str, str], keywords: Keywords
) -> dict[Hashable, Any]:
    """Describe how a table was computed: the only place where a record is written.

    The facts are the options that the kernel got, and what it counted. The laws (quantity, test and
    interval) hold for methods without such an option. Roles in the keywords are noted if the facts
    do not contain them. All values have types for Parquet and netCDF.
    """
    known: dict[Any, Any] = dict(laws)
    for name in _ROLES:
        if name in keywords:
            known[name] = keywords[name]
    known.update(facts)
    known["method"] = method
    if "ci" in known:
        known["interval"] = known.pop("ci")
    if isinstance(known.get("gold"), list) and known.get("quantity") != "coefficient":
        known.setdefault("agreement", "majority")
    if known.get("of"):
        known["quantity"] = known["of"]
    if "quantity" in known:
        measured = known.get("metric") or known["quantity"]
        for unit, names in _UNITS.items():
            if measured in names.split():
                known["unit"] = unit
    notes: dict[Hashable, Any] = {}
    for name in dict.fromkeys([*_RECORD, *known]):
        value = plain(known.get(name))
        if value is not None:
            notes[str(name)] = value
    notes["version"] = sys.modules["rankeval_pd"].__version__
    return notes


def plain(value: Any) -> Any:
    """Return numbers and text unchanged, short lists as JSON, and None for other values.

    netCDF 3 cannot store lists of strings, and netCDF 4 cannot store a list of one string.
    """
    if isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple) and 0 < len(value) <= _SHORT_LIST:
        return json.dumps(value, default=str)
    return None


Rows = dict[str, AnyArray]  # named columns of equal length; names of measures are numbers
Columns = dict[str, AnyArray]  # named arrays over the groups, the measures or pairs, and n
GROUP = "_group"  # number of the group
PLACE = "_place"  # position of n among the list sizes of the group
PAIR = "_pair"  # number of the pair
STANDS = "_stands"  # first pair that has the same two rankings, or -1 for equal rankings
