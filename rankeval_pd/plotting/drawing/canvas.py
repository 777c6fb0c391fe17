"""What all pictures share: the table read, the axes, colours and dashes, the legend."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito (2008), ordered so that neighbours differ in lightness too
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))
BAND_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
GREY = "0.35"

XLABELS = {
    "n": "n (size of the n-best list)",
    "share": "share of the candidates in the list",
    "recall": "recall of the list",
}

_SPARSE = 40  # up to so many n, each point gets a marker
_POINTS = 4000  # more of a line than any paper shows
_BAND_POINTS = 2000  # as many of a band, each of which costs draws
_LEGEND_WIDTH = 31  # characters: a legend fits a picture of 8 cm
_WIDE = 4.5  # inches of the axes: the legend has two columns
_NARROW = 3.0  # inches of the axes: a small legend
_LEGEND_BELOW = -38.0  # points from the lower spine: tick labels and the axis' name are between

Keywords = Mapping[str, Any] | None


def table_of(
    table: pd.DataFrame | xr.Dataset, needed: Sequence[str], made_by: str, *, grouped: bool = False
) -> pd.DataFrame:
    """Return the table as a tidy DataFrame of one group, or of all; say what is missing."""
    if isinstance(table, xr.Dataset):
        attrs = table.attrs
        table = table.to_dataframe().reset_index()
        table.attrs = dict(attrs)
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table is of type {type(table).__name__}: give the result of {made_by}.")
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise ValueError(
            f"table has no columns {', '.join(missing)}: give the result of {made_by}, which has"
            " them."
        )
    if grouped:
        return table
    first = next((i for i, c in enumerate(table.columns) if c in needed), 0)
    groups = [c for c in table.columns[:first] if c not in ("pair", "cut", "row")]
    if groups and len(table.drop_duplicates(groups)) > 1:
        example = table[groups[0]].iloc[0]
        raise ValueError(
            f"table has {len(table.drop_duplicates(groups))} groups of {groups}, and a picture"
            f" shows one. Choose it in the table, table[table[{groups[0]!r}] == {example!r}], or"
            f" in the data before you ask: data[data[{groups[0]!r}] == {example!r}], of a Dataset"
            f" data.sel({groups[0]}={example!r})."
        )
    return table


def axes(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure that makes room for its legend."""
    if ax is not None:
        # without a layout engine, the legend below the axes would be cut off
        if ax.figure.get_layout_engine() is None:
            ax.figure.set_layout_engine("constrained")  # type: ignore[union-attr]
        return ax
    import matplotlib.pyplot as plt

    _, fresh = plt.subplots(layout="constrained")
    return fresh


def style(number: int) -> dict[str, Any]:
    """Return colour and dash of a line; 49 combinations before one comes again."""
    dash = DASHES[(number + number // len(COLOURS)) % len(DASHES)]
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": dash}


def draw_curve(
    ax: Axes,
    table: pd.DataFrame,
    column: str,
    *,
    number: int,
    name: str,
    line_kw: Keywords,
    marker_kw: Keywords,
) -> pd.DataFrame:
    """Draw a column over x, or over n, and return the rows that were drawn, in the order of n."""
    curve = thinned(table)
    look = {"label": name, **style(number), **markers(len(curve), number, marker_kw)}
    across = curve["x"] if "x" in curve else curve["n"]
    ax.plot(across, curve[column], **{**look, **(line_kw or {})})
    return curve


def thinned(table: pd.DataFrame, most: int = _POINTS) -> pd.DataFrame:
    """Return the table in the order of n, with as many rows as can be seen at the most."""
    table = table.sort_values("n")
    if len(table) <= most:
        return table
    even = np.linspace(0, len(table) - 1, most // 2)
    head = np.geomspace(1, len(table), most // 2) - 1
    return table.iloc[np.unique(np.concatenate([even, head]).astype(int))]


def shown(table: pd.DataFrame | xr.Dataset) -> list[int]:
    """Return the n of a table that a picture shows, fewer than there are where they are many."""
    n = np.unique(np.asarray(table["n"]))
    return [int(x) for x in thinned(pd.DataFrame({"n": n}), _BAND_POINTS)["n"]]


def check_options(x: str, references: Sequence[str], known: Sequence[str]) -> None:
    """Raise a ValueError unless the axis and the curves to compare with are known."""
    if x not in XLABELS:
        raise ValueError(
            f"x={x!r} is not one of {', '.join(map(repr, XLABELS))}. Give one of them."
        )
    for name in references:
        if name not in known:
            raise ValueError(
                f"reference={name!r} is not one of {', '.join(map(repr, known))}. Give one of"
                " these, several, or none: ()."
            )


def check_relevant(relevant: object) -> float:
    """Return the least relevant difference, a share of 1, or say what it is."""
    if isinstance(relevant, (int, float, np.integer, np.floating)) and 0.0 <= relevant < 1.0:
        return float(relevant)
    raise ValueError(
        f"relevant={relevant!r}: give a difference of precision from 0 to 1; 5 points are 0.05."
    )


def check_marks(mark: int | Sequence[int], n: pd.Series[Any]) -> list[int]:
    """Return the list sizes that are marked, each of which the table has."""
    marked = [int(mark)] if isinstance(mark, (int, np.integer)) else list(mark)
    for size in marked:
        if size not in set(n):
            raise ValueError(
                f"mark={size!r} is not one of the n of the table. Ask for it too, or mark another"
                " n."
            )
    return marked


def positions(curve: pd.DataFrame, x: str) -> pd.Series[Any]:
    """Return where the lists of a precision curve stand on the axis to the right."""
    if x == "n":
        return curve["n"]
    if x == "recall":
        return curve["recall"]
    # n / N: of a list with true positives, recall = tp / N+ and precision / lift = N+ / N
    told = curve[curve["recall"] > 0]
    if told.empty:
        return curve["n"] * np.nan
    row = told.iloc[0]
    share: pd.Series[Any] = curve["n"] * float(row["recall"] / row["lift"] / row["n"])
    return share


def draw_marks(
    ax: Axes, curve: pd.DataFrame, column: str, mark: Sequence[int], x: str, *, first: bool
) -> None:
    """Draw a line at each n that is marked, once; with recall to the right, a tick on the curve."""
    for n in mark:
        here = curve[curve["n"] == n]
        if here.empty:  # a measure that scores fewer candidates
            continue
        across, height = float(here["x"].iloc[0]), float(here[column].iloc[0])
        if x == "recall":
            ax.plot([across], [height], marker="|", markersize=14, color=GREY)
            ax.annotate(
                f"{n:,}", (across, height), xytext=(0, 9), textcoords="offset points",
                ha="center", fontsize="x-small", color=GREY,
            )  # fmt: skip
        elif first:
            ax.axvline(across, color=GREY, linewidth=0.8)
            ax.annotate(
                f"{n:,}", (across, 1.0), xycoords=ax.get_xaxis_transform(), xytext=(0, 2),
                textcoords="offset points", ha="center", fontsize="x-small", color=GREY,
            )  # fmt: skip


def sparse(count: int) -> bool:
    """Return whether the n are so few that each point is seen."""
    return count <= _SPARSE


def markers(count: int, number: int, given: Keywords) -> dict[str, Any]:
    """Return the keywords of the points of a line: markers where the n are few."""
    if not sparse(count):
        return {}
    shape = {"marker": "osD^vPX"[number % 7], "markersize": 4}
    renamed = {"s": "markersize", "size": "markersize"}
    return {**shape, **{renamed.get(k, k): v for k, v in dict(given or {}).items()}}


PRECISION_OF_SAMPLE = "precision of the sample"
_IN_PERCENT = (XLABELS["share"], XLABELS["recall"], PRECISION_OF_SAMPLE)


def finish(ax: Axes, *, ylabel: str, xlabel: str = XLABELS["n"]) -> Axes:
    """Label the axes of a curve and put the legend below them."""
    ax.set_xlabel(xlabel)
    if xlabel in _IN_PERCENT:
        ax.xaxis.set_major_formatter(_share_in_percent)
    ax.set_ylabel(ylabel)
    if ylabel == "precision":
        ax.yaxis.set_major_formatter(_share_in_percent)
    return place_legend(ax)


def place_legend(ax: Axes, *, below_axis: float = _LEGEND_BELOW) -> Axes:
    """Put the legend below the axes, off the data, narrow enough for a column."""
    from matplotlib.transforms import ScaledTranslation

    ax.spines[["top", "right"]].set_visible(False)
    handles, names = ax.get_legend_handles_labels()
    if handles:
        below = ScaledTranslation(0.0, below_axis / 72.0, ax.figure.dpi_scale_trans)
        narrow = ax.bbox.width / ax.figure.dpi < _NARROW
        ax.legend(
            handles,
            [textwrap.fill(name, 44 if narrow else _LEGEND_WIDTH) for name in names],
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            bbox_transform=ax.transAxes + below,
            borderaxespad=0.0,
            ncols=2 if len(handles) > 3 and ax.bbox.width / ax.figure.dpi >= _WIDE else 1,
            frameon=False,
            fontsize="x-small" if narrow else "small",
            handlelength=2 if narrow else 3,
            labelspacing=0.3 if narrow else 0.5,
        )
    return ax


def _share_in_percent(value: float, _: object = None) -> str:
    """Return a tick of a share as text; none beyond 0 and 1, where there is only room."""
    return f"{100 * value:.4g}%" if -1e-9 <= value <= 1.0 + 1e-9 else ""


def percent(level: float) -> str:
    """Return a level as text: 95 %."""
    return f"{100 * level:.10g} %"
