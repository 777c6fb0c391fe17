"""Read tables of pairs from paired tests, and return results in the same form."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed, shown
from rankeval_pd.forms.items.item_roles import check_items
from rankeval_pd.forms.out.tables import apart
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import IntArray

_NEEDED = ("system_a", "system_b", "gain", "p_value")


def pairs_table(data: Any, *more: str) -> tuple[pd.DataFrame, list[Hashable]]:
    """Return the table of pairs as a frame, and the names of the group columns.

    For every alternative, ``p_value`` becomes one-sided in the direction of the gain. ``more``
    lists further required columns. n_items can also be stored in the attrs.
    """
    check_items(data)
    if str(data.attrs.get("adjust", "")).startswith("max-t"):
        raise ValueError(
            f"data has p-values adjusted by {data.attrs['adjust']}, which changes the test. Pass"
            " the table that paired_bootstrap returns without adjust=, or with adjust='holm'."
        )
    known = data.columns
    added = {name: data.attrs[name] for name in more if name in data.attrs and name not in known}
    missing = [name for name in (*_NEEDED, *more) if name not in known and name not in added]
    if missing:
        raise ValueError(
            f"data has no columns {listed(missing)}. Pass the table of pairs that paired_bootstrap"
            " returns, computed with details=True if necessary."
        )
    groups = list(data.columns[: list(data.columns).index("system_a")])
    table = data.set_flags(allows_duplicate_labels=True).assign(**added)
    return _directed(_in_numbers(table, more), data.attrs), groups


def _directed(table: pd.DataFrame, attrs: Mapping[Any, Any]) -> pd.DataFrame:
    """Return one-sided p-values in the direction of each gain."""
    if "p_one_sided" in table:
        return table.assign(p_value=table["p_one_sided"])
    alternative = attrs.get("alternative")
    if alternative is None:
        raise ValueError(
            "data has lost its attrs, which record whether p_value is one-sided; pd.concat and"
            " merge drop attrs. Pass the table that paired_bootstrap(details=True) returned."
        )
    p, up = table["p_value"], table["gain"] >= 0.0
    if alternative == "two-sided":
        return table.assign(p_value=p / 2.0)
    return table.assign(p_value=p.where(up == (alternative == "greater"), 1.0 - p))


def _in_numbers(table: pd.DataFrame, more: Sequence[str]) -> pd.DataFrame:
    """Return the table with numeric columns, or raise an error."""
    for name in (*_NEEDED, *more, "relation"):
        times = int((table.columns == name).sum())
        if times > 1:
            raise ValueError(
                f"the table of pairs has {times} columns named {name!r}. Drop all but one of them."
            )
    for name in (*_NEEDED[2:], *more, *({"p_one_sided", "gain_se"} & {*table})):
        column = table[name]
        try:
            table = table.assign(**{name: column.to_numpy(dtype=float, na_value=np.nan)})
        except (TypeError, ValueError):
            raise TypeError(
                f"the column {name!r} in the table of pairs has dtype {column.dtype}, but must be"
                " numeric. Pass the table that paired_bootstrap returned."
            ) from None
    if np.isinf(table["gain"]).any():
        raise ValueError("the table of pairs has infinite gains. Drop these rows.")
    if "n_items" in more and not (table["n_items"] > 0).all():
        raise ValueError(
            "n_items must be positive in a table of pairs. Pass the table that paired_bootstrap"
            " returned."
        )
    return table


_MADE_BY = ("metric", "higher_is_better", "groups", "test", "event", "seed", "n_resamples")


def made_by(pairs: pd.DataFrame) -> dict[str, Any]:
    """Return attrs that describe the p-values in a table of pairs."""
    return {name: pairs.attrs[name] for name in _MADE_BY if name in pairs.attrs}


def related(
    table: pd.DataFrame, groups: list[Hashable]
) -> Iterator[tuple[list[Any], Any, pd.DataFrame]]:
    """Yield the keys, the relation and the pairs of each group."""
    for keys, part in grouped(table, groups):
        if "relation" not in part:
            yield keys, np.nan, part
            continue
        for name in part["relation"].drop_duplicates():
            yield keys, name, part[part["relation"] == name]


def grouped(
    table: pd.DataFrame, groups: list[Hashable]
) -> Iterator[tuple[list[Any], pd.DataFrame]]:
    """Yield the keys and the pairs of each group."""
    if not groups:
        yield [], table
        return
    for keys, part in table.groupby(groups, sort=False, observed=True):
        yield list(keys), part


def numbers_of(pairs: pd.DataFrame) -> IntArray:
    """Return the pairs as system numbers."""
    names = pd.concat([pairs["system_a"], pairs["system_b"]])
    number, _ = pd.factorize(names, sort=False)
    return np.asarray(number.reshape(2, -1).T, dtype=np.int64)


def as_frame(
    rows: list[list[Any]],
    groups: list[Hashable],
    table: pd.DataFrame,
    columns: Sequence[str],
    attrs: dict[str, Any],
) -> pd.DataFrame:
    """Return rows as a frame with the keys' dtypes."""
    keys: list[Hashable] = apart(groups, columns)
    header: list[Any] = [*keys, *columns]
    result = pd.DataFrame(rows, columns=pd.Index(header, tupleize_cols=False))
    dtypes: dict[Any, Any] = dict(zip(keys, (table[x].dtype for x in groups), strict=True))
    dtypes |= dict.fromkeys(columns, float)
    if "n_pairs" in columns:
        dtypes["n_pairs"] = np.int64
    if "relation" in columns and "relation" in table:
        dtypes["relation"] = table["relation"].dtype
    result = result.astype(dtypes)
    result.attrs.update(attrs)
    return result


def take_items(data: pd.DataFrame, rows: IntArray, roles: Roles) -> pd.DataFrame:
    """Return the requested items, numbered from 0. Items can occur repeatedly."""
    taken = data.set_flags(allows_duplicate_labels=True).iloc[rows]
    numbers: pd.Index = pd.RangeIndex(len(rows))
    name: Any = roles.strata
    if name is not None and name in taken.index.names:
        strata = taken.index.get_level_values(name)
        numbers = pd.MultiIndex.from_arrays([numbers, strata])
    return taken.set_axis(numbers)


def check_sizes(sizes: Any, largest: int | None, *, least: int = 2) -> list[int]:
    """Return distinct whole numbers, or raise an error."""
    values = list(sizes) if np.iterable(sizes) and not isinstance(sizes, str) else [sizes]
    if not values:
        raise ValueError("sizes is empty: pass at least one number of items.")
    upper = "" if largest is None else f" to {largest}, the number of items"
    for value in values:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"sizes: {shown(value)} is not a whole number. Pass whole numbers.")
        if value < least or (largest is not None and value > largest):
            raise ValueError(f"sizes: {shown(value)}: pass whole numbers from {least}{upper}.")
    return list(dict.fromkeys(int(value) for value in values))
