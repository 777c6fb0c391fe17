"""A table of pairs of systems, as the paired tests return it: read, and answered in kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import listed, shown
from rankeval_pd.forms.items.item_roles import check_dimension, check_items
from rankeval_pd.forms.out.tables import as_rows, check_names
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.columns import labels_along
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import IntArray

_NEEDED = ("system_a", "system_b", "gain", "gain_se", "p_value", "n_items")


def pairs_table(data: Any) -> tuple[pd.DataFrame, list[Hashable]]:
    """Return the table of pairs as a frame, and the columns that name its groups."""
    check_items(data)
    if isinstance(data, xr.Dataset):
        missing = [name for name in _NEEDED if name not in data.variables]
        if not missing:
            groups = [d for d in data["gain"].dims if d != "pair"]
            table = data.to_dataframe().reset_index().drop(columns="pair")
            return _in_numbers(table), groups
    else:
        missing = [name for name in _NEEDED if name not in data.columns]
        if not missing:
            groups = list(data.columns[: list(data.columns).index("system_a")])
            return _in_numbers(data), groups
    raise ValueError(
        f"data has no columns {listed(missing)}: this is asked of the table of pairs that"
        " paired_bootstrap returns, as by df.rankeval.paired_bootstrap().rankeval."
    )


def _in_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with numbers where numbers belong, or say what stands there."""
    for name in (*_NEEDED, "relation"):
        times = int((table.columns == name).sum())
        if times > 1:
            raise ValueError(
                f"the name {name!r} stands for {times} columns of the table of pairs."
                " Drop all but one of them."
            )
    for name in _NEEDED[2:]:
        column = table[name]
        try:
            table = table.assign(**{name: column.to_numpy(dtype=float, na_value=np.nan)})
        except (TypeError, ValueError):
            raise TypeError(
                f"the table of pairs has {name!r} of dtype {column.dtype}, and it is a column of"
                " numbers. Give the table as paired_bootstrap returned it."
            ) from None
    if not (table["n_items"] > 0).all():
        raise ValueError("the table of pairs has n_items that are no numbers of items above 0.")
    return table


_MADE_BY = ("metric", "higher_is_better", "groups", "test", "event", "seed", "n_resamples")


def made_by(pairs: pd.DataFrame | xr.Dataset) -> dict[str, Any]:
    """Return what a table of pairs says of how its p-values were made."""
    return {name: pairs.attrs[name] for name in _MADE_BY if name in pairs.attrs}


def two_sided(table: pd.DataFrame) -> pd.Series:
    """Return the two-sided p-values of a table of pairs."""
    if "p_two_sided" not in table:
        raise ValueError(
            "alternative='two-sided' needs the column 'p_two_sided' of the table of pairs, and data"
            " has none. Keep it from paired_bootstrap, or give alternative='greater'."
        )
    return table["p_two_sided"]


def related(
    table: pd.DataFrame, groups: list[Hashable]
) -> Iterator[tuple[list[Any], Any, pd.DataFrame]]:
    """Yield the keys of the group, the relation, and the pairs of each."""
    for keys, part in grouped(table, groups):
        if "relation" not in part:
            yield keys, np.nan, part
            continue
        for name in part["relation"].drop_duplicates():
            yield keys, name, part[part["relation"] == name]


def grouped(
    table: pd.DataFrame, groups: list[Hashable]
) -> Iterator[tuple[list[Any], pd.DataFrame]]:
    """Yield the keys of each group, and its pairs."""
    if not groups:
        yield [], table
        return
    for keys, part in table.groupby(groups, sort=False, observed=True):
        yield list(keys), part


def numbers_of(pairs: pd.DataFrame) -> IntArray:
    """Return the pairs as numbers of systems."""
    names = pd.concat([pairs["system_a"], pairs["system_b"]])
    number, _ = pd.factorize(names, sort=False)
    return np.asarray(number.reshape(2, -1).T, dtype=np.int64)


def as_came(
    data: Data,
    rows: list[list[Any]],
    groups: list[Hashable],
    table: pd.DataFrame,
    columns: Sequence[str],
    attrs: dict[str, Any],
) -> Data:
    """Return rows as a frame with the keys' dtypes, or as a Dataset along ``row``."""
    check_names("by=", groups, columns)
    result = pd.DataFrame(rows, columns=pd.Index([*groups, *columns], tupleize_cols=False))
    dtypes: dict[Any, Any] = {name: table[name].dtype for name in groups}
    if "relation" in columns:
        dtypes["relation"] = table["relation"].dtype if "relation" in table else float
    for name in columns:
        if name != "relation":
            dtypes[name] = np.int64 if name == "n_pairs" else float
    result = result.astype(dtypes)
    if isinstance(data, xr.Dataset):
        return as_rows(result, attrs=attrs)
    result.attrs.update(attrs)
    return result


def item_labels(data: Any, roles: Roles) -> pd.Index:
    """Return the labels of the items, or their numbers."""
    if isinstance(data, pd.DataFrame):
        return data.index
    check_dimension(data, roles.dim)
    return labels_along(data, roles.dim)


def take_items(data: Data, rows: IntArray, roles: Roles) -> Data:
    """Return these items, numbered anew: some may stand there several times."""
    if isinstance(data, pd.DataFrame):
        several = data.set_flags(allows_duplicate_labels=True)
        return several.iloc[rows].reset_index(drop=True)
    return data.isel({roles.dim: rows}).drop_vars([roles.dim], errors="ignore")


def check_sizes(sizes: Any, largest: int | None, *, least: int = 2) -> list[int]:
    """Return whole numbers, each once, or say what is allowed."""
    values = list(sizes) if np.iterable(sizes) and not isinstance(sizes, str) else [sizes]
    if not values:
        raise ValueError("sizes is empty: give one number of items or more.")
    upper = "" if largest is None else f" to {largest}, the number of items there are"
    for value in values:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"sizes: {shown(value)} is no whole number. Give numbers of items.")
        if value < least or (largest is not None and value > largest):
            raise ValueError(f"sizes: {shown(value)}: give whole numbers from {least}{upper}.")
    return list(dict.fromkeys(int(value) for value in values))
