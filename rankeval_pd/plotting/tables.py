"""Functions that read and check tables for plots, and thin them to the visible points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import checked_call, no_table
from rankeval_pd.forms.out.tables import rows_in
from rankeval_pd.plotting.canvas import XLABELS, some
from rankeval_pd.plotting.numbers import LARGE_RATIO

LARGE = 20_000  # number of candidates above which a plot omits some list sizes
_POINTS = 4000  # number of values of n that are then computed
_BAND_POINTS = 2000  # largest number of values of n in a band that is based on draws
_INNER = ("pair", "cut", "row")  # dimensions in results that are not groups
REFERENCES = ("random", "ideal")


def tidy(table: pd.DataFrame | xr.Dataset, needed: Sequence[str], made_by: str) -> pd.DataFrame:
    """Return the table as a tidy DataFrame, with groups and batch dimensions first."""
    if isinstance(table, xr.Dataset):
        attrs, inner = table.attrs, (*needed, *_INNER, "measure", "n", "p", "alpha", "system")
        batch = [d for d in table.dims if d not in inner]
        named = [d for d in table.dims if d in needed]
        frame = rows_in(table)
        first = [*batch, *named, *(name for name in needed if name in frame and name not in named)]
        if "row" not in table.dims:
            frame = frame[[*first, *(name for name in frame if name not in first)]]
        frame.attrs = dict(attrs)
        table = frame
    if not isinstance(table, pd.DataFrame):
        raise no_table("table", table, f"the result of {made_by}")
    check_columns(table, needed, made_by)
    return table


def check_columns(table: pd.DataFrame, needed: Sequence[str], made_by: str) -> None:
    """Raise a ValueError for short tables and for tables from another method."""
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise ValueError(
            f"table has no columns {', '.join(missing)}: pass the result of {made_by} with"
            " details=True."
        )


def groups_of(table: pd.DataFrame, needed: Sequence[str]) -> list[Any]:
    """Return the group columns, which come before the table's own columns."""
    first = next((i for i, c in enumerate(table.columns) if c in needed), 0)
    return [c for c in table.columns[:first] if c not in _INNER]


def table_of(
    table: pd.DataFrame | xr.Dataset, needed: Sequence[str], made_by: str, *, grouped: bool = False
) -> pd.DataFrame:
    """Check the columns and return a tidy DataFrame with one group or all groups."""
    table = tidy(table, needed, made_by)
    groups = groups_of(table, needed)
    if not grouped and groups and len(table.drop_duplicates(groups)) > 1:
        raise ValueError(
            f"table has {len(table.drop_duplicates(groups))} groups of {groups}, but the"
            " accompanying table has different groups. Pass results for the same data."
        )
    return table


def by_name(table: pd.DataFrame, column: Any = "measure") -> dict[Any, pd.DataFrame]:
    """Return the rows for each name, including a missing name, in order of n."""
    groups = table.groupby(column, sort=False, dropna=False)
    return {
        name: rows if rows["n"].is_monotonic_increasing else rows.sort_values("n", kind="stable")
        for name, rows in groups
    }


def by_n(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the table, grouped by n or metric if that column has several values."""
    asked = next((column for column in ("n", "metric") if column in table), None)
    if asked is None:
        return table
    columns = [column for column in table.columns if column != asked]
    several = len(table[asked].unique()) > 1
    if several:
        place = columns.index(name)
        columns = [*columns[:place], asked, *columns[place:]]
    result = table[columns]
    value = "" if several else table[asked].iloc[0] if len(table) else None
    result.attrs = {**table.attrs, **({} if several and asked == "n" else {asked: value})}
    return result


def seen(sizes: Sequence[int]) -> list[int] | None:
    """Return the list sizes to compute for these candidates; None means every size."""
    if max(sizes, default=0) <= LARGE:
        return None
    return sorted({int(n) + 1 for size in sizes for n in some(size, _POINTS)})


@checked_call
def shown(table: pd.DataFrame | xr.Dataset) -> list[int]:
    """Return the list sizes that a plot of the table shows.

    Parameters
    ----------
    table : DataFrame or Dataset
        A table that contains the column ``n``.

    Returns
    -------
    list of int
        All list sizes in the table, or evenly spaced ones if there are many.

    Examples
    --------
    >>> import rankeval_pd
    >>> table = rankeval_pd.datasets.simulate_candidates(500).rankeval.nbest_precision([10, 20])
    >>> rankeval_pd.plotting.shown(table)
    [10, 20]
    """
    n = np.unique(np.asarray(table["n"]))
    n = n if len(n) <= _BAND_POINTS else n[some(len(n), _BAND_POINTS)]
    return [int(x) for x in n]


def is_log(log: bool | None, n: Any) -> bool:
    """Return whether the n axis is logarithmic, which is the default for a wide range."""
    if log is not None or not len(n):
        return bool(log)
    return float(np.max(n)) > LARGE_RATIO * max(float(np.min(n)), 1.0)


def checked(
    table: pd.DataFrame, x: str, mark: Any, relevant: Any, reference: Any
) -> tuple[list[str], float, list[int]]:
    """Check and return the reference curves, the relevant gain and the marks."""
    references: list[Any] = [reference]
    if reference is None or reference is False:
        references = []
    elif np.iterable(reference) and not isinstance(reference, str):
        references = list(reference)
    if x not in XLABELS:
        raise ValueError(
            f"x={x!r} is not one of {', '.join(map(repr, XLABELS))}. Pass one of them."
        )
    for name in references:
        if name not in REFERENCES:
            raise ValueError(
                f"reference={name!r} is not one of {', '.join(map(repr, REFERENCES))}. Pass one of"
                " these, several of them, or an empty tuple."
            )
    known = isinstance(relevant, int | float | np.integer | np.floating)
    if not (known and 0.0 <= relevant < 1.0):
        raise ValueError(
            f"relevant={relevant!r}: pass a difference in precision from 0 to 1; 5 percentage"
            " points are 0.05."
        )
    marked = [int(mark)] if isinstance(mark, int | np.integer) else list(mark)
    for size in marked:
        if size not in set(table["n"]):
            raise ValueError(
                f"mark={size!r} is not a value of n in the table. Compute the table for this n,"
                " or mark another n."
            )
    return references, float(relevant), marked


def positions(curve: pd.DataFrame, x: str) -> pd.Series[Any]:
    """Return the x positions of the lists on a precision curve."""
    if x == "n":
        return curve["n"]
    check_columns(curve, ("recall",), f"nbest_precision for x={x!r}")
    if x == "recall":
        return curve["recall"]
    # with true positives, n / N follows from recall = tp / N+ and precision / lift = N+ / N
    told = curve[curve["recall"] > 0]
    if told.empty:
        return curve["n"] * np.nan
    row = told.iloc[0]
    share: pd.Series[Any] = curve["n"] * float(row["recall"] / row["lift"] / row["n"])
    return share


def sizes_of(table: pd.DataFrame) -> tuple[float, float]:
    """Return the numbers of candidates and true positives; NaN if unknown."""
    check_columns(table, ("recall",), "nbest_precision")
    told = table[(table["precision"] > 0) & (table["recall"] > 0)]
    if told.empty:
        return np.nan, np.nan
    row = told.iloc[0]
    positive = row["n"] * row["precision"] / row["recall"]
    return float(positive * row["lift"] / row["precision"]), float(positive)


def priors_of(table: pd.DataFrame) -> list[float]:
    """Return the precision of a random order, N+ / N, which is precision divided by lift.

    For averages over queries, this precision is undefined, because it differs between queries.
    """
    if "n_queries" in table:
        return []
    shares = (table["precision"] / table["lift"]).round(12).dropna()
    return [float(share) for share in shares.drop_duplicates()]
