"""What all pictures share: the table read, the axes, lines by name, the legend."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.plotting.drawing.legends import panel_size, place_legend
from rankeval_pd.plotting.drawing.look import FEW, MUTED, Look, in_tex
from rankeval_pd.plotting.drawing.scales import (
    LARGE,
    compact,
    fit_letters,
    in_percent,
    set_ticks,
    small,
    write_on_top,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
GREY = "0.35"

XLABELS = {
    "n": "n (size of the n-best list)",
    "share": "share of the candidates in the list",
    "recall": "recall of the list",
}
_SHORT = {
    XLABELS["n"]: "n (list size)",
    XLABELS["share"]: "share of candidates",
    "confidence (1 − p, one-sided)": "1 − p, one-sided",
}

_POINTS = 4000  # more of a line than any paper shows
_BAND_POINTS = 2000  # as many of a band, each of which costs draws
_INNER = ("pair", "cut", "row")  # dimensions of results that are no groups


class Canvas:
    """Axes to draw on, and how."""

    def __init__(self, ax: Axes, look: Look, *, alone: bool = True) -> None:
        self.ax, self.look, self.alone = ax, look, alone
        self.ended: list[tuple[Hashable, float, float]] = []
        self.named: dict[str, str] = {}

    def text(self, name: Any) -> str:
        """Return what is written for a name."""
        return self.look.text(name)

    def colour(self, name: Hashable) -> Any:
        """Return the colour of a name, grey where others stand out."""
        return MUTED if self.look.muted(name) else self.look.colour(self.ax, name)

    def curve(self, name: Hashable, x: Any, y: Any, *, after: str = "", **more: Any) -> None:
        """Draw the line of a name, with markers where its points are few."""
        look = {**self.look.line(self.ax, name, len(x)), **more}
        look["label"] = str(look.get("label", "")) + after
        if self.look.muted(name):
            look["label"] = "others"
        self.ax.plot(x, y, **look)
        self.named[str(look["label"])] = after
        known = np.isfinite(np.asarray(x, dtype=float)) & np.isfinite(np.asarray(y, dtype=float))
        if known.any() and not self.look.muted(name):
            last = int(np.flatnonzero(known)[-1])
            self.ended.append((name, float(np.asarray(x)[last]), float(np.asarray(y)[last])))

    def note(self, words: str) -> None:
        """Say something in the legend that has no mark."""
        self.ax.plot([], [], " ", label=words)

    def finish(self, *, xlabel: str | None = None, ylabel: str | None = None) -> None:
        """Label the axes, and put the legend where there is room."""
        ax, look = self.ax, self.look
        ax.spines[["top", "right"]].set_visible(False)
        if xlabel is not None:
            ax.set_xlabel(in_tex(_SHORT.get(xlabel, xlabel) if small(ax) else xlabel))
        if ylabel is not None:
            ax.set_ylabel(in_tex(_SHORT.get(ylabel, ylabel) if small(ax) else ylabel))
        if look.title is not None and self.alone:
            ax.set_title(look.title)
        fit_letters(ax)
        if look.labels_at == "end":
            self._label_ends()
        if self.alone:
            place_legend(ax, look.legend, self.named)

    def across(self, x: str, *, log: bool = False) -> None:
        """Put ticks on the axis to the right: sizes of lists, shares, or recalls."""
        if log:
            self.ax.set_xscale("log")
        set_ticks(self.ax.xaxis, *((compact, 5.0) if x == "n" else (in_percent, 4.0)))

    def upwards_in_percent(self) -> None:
        """Write the axis upwards in percent."""
        set_ticks(self.ax.yaxis, in_percent, 4.0)

    def _label_ends(self) -> None:
        """Write the names at the ends of their lines, unless there is no room for them."""
        ax = self.ax
        ended = [end for end in self.ended if ax.get_xlim()[0] <= end[1] <= ax.get_xlim()[1]]
        width, height = panel_size(ax)
        font = 7.0 if small(ax) else 8.5
        texts = {name: self.text(name) for name, _, _ in ended}
        high = 0.6 * height
        wide = 0.6 * font * max((len(text) for text in texts.values()), default=0)
        if not ended or wide > 0.17 * width or 1.2 * font * len(ended) > high:
            return
        low, top = ax.transData.transform([(0, y) for y in ax.get_ylim()])[:, 1]
        scale = high / (top - low)
        places = [scale * (ax.transData.transform((x, y))[1] - low) for _, x, y in ended]
        for (name, x, y), place, own in zip(
            ended, _apart(places, 1.2 * font, high), places, strict=True
        ):
            ax.annotate(
                texts[name], (x, y), xytext=(5, place - own), textcoords="offset points",
                va="center", fontsize=font, color=self.colour(name), annotation_clip=False,
            )  # fmt: skip
            for line in ax.get_lines():
                if line.get_label() == texts[name]:
                    line.set_label("_named at its end")


def _apart(places: list[float], least: float, high: float) -> list[float]:
    """Return the places moved so that neighbours have a distance, in their order."""
    order = np.argsort(places, kind="stable")
    moved = np.array(places, dtype=float)
    for lower, upper in itertools.pairwise(order):
        moved[upper] = max(moved[upper], moved[lower] + least)
    beyond = moved[order[-1]] - high
    if beyond > 0:
        moved[order[-1]] = max(moved[order[-1]] - beyond, places[order[-1]] - beyond)
        for upper, lower in zip(order[::-1], order[::-1][1:], strict=False):
            moved[lower] = min(moved[lower], moved[upper] - least)
    return [float(x) for x in moved]


def tidy(table: pd.DataFrame | xr.Dataset, needed: Sequence[str], made_by: str) -> pd.DataFrame:
    """Return the table as a tidy DataFrame, groups and batch dimensions first."""
    if isinstance(table, xr.Dataset):
        attrs, inner = table.attrs, (*needed, *_INNER, "measure", "n", "p", "alpha", "system")
        batch = [d for d in table.dims if d not in inner]
        named = [d for d in table.dims if d in needed]
        frame = table.to_dataframe().reset_index()
        first = [*batch, *named, *(name for name in needed if name in frame and name not in named)]
        if "row" not in table.dims:
            frame = frame[[*first, *(name for name in frame if name not in first)]]
        frame.attrs = dict(attrs)
        table = frame
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table is of type {type(table).__name__}: give the result of {made_by}.")
    check_columns(table, needed, made_by)
    return table


def check_columns(table: pd.DataFrame, needed: Sequence[str], made_by: str) -> None:
    """Raise a ValueError if the table is a short one, or of another method."""
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise ValueError(
            f"table has no columns {', '.join(missing)}: give the result of {made_by} with"
            " details=True."
        )


def groups_of(table: pd.DataFrame, needed: Sequence[str]) -> list[Any]:
    """Return the columns of a table that name groups: those before the first of its own."""
    first = next((i for i, c in enumerate(table.columns) if c in needed), 0)
    return [c for c in table.columns[:first] if c not in _INNER]


def table_of(
    table: pd.DataFrame | xr.Dataset, needed: Sequence[str], made_by: str, *, grouped: bool = False
) -> pd.DataFrame:
    """Return the table as a tidy DataFrame of one group, or of all; say what is missing."""
    table = tidy(table, needed, made_by)
    groups = groups_of(table, needed)
    if not grouped and groups and len(table.drop_duplicates(groups)) > 1:
        raise ValueError(
            f"table has {len(table.drop_duplicates(groups))} groups of {groups}, and the one that"
            " it stands beside has others. Give the results of the same data."
        )
    return table


def thinned(table: pd.DataFrame, most: int = _POINTS) -> pd.DataFrame:
    """Return the table in the order of n, with as many rows as can be seen at the most."""
    table = table.sort_values("n")
    if len(table) <= most:
        return table
    return table.iloc[_some(len(table), most)]


def _some(count: int, most: int) -> np.ndarray[Any, Any]:
    """Return positions, half of them evenly spaced and half of them densest at the start."""
    even = np.linspace(0, count - 1, most // 2)
    head = np.geomspace(1, count, most // 2) - 1
    return np.unique(np.concatenate([even, head]).astype(int))


def seen(sizes: Sequence[int]) -> list[int] | None:
    """Return the n to compute for a picture of as many candidates; None where every n is seen."""
    if max(sizes, default=0) <= LARGE:
        return None
    return sorted({int(n) + 1 for size in sizes for n in _some(size, _POINTS)})


def shown(table: pd.DataFrame | xr.Dataset) -> list[int]:
    """Return the n of a table that a picture shows, fewer than there are where they are many.

    Parameters
    ----------
    table : DataFrame or Dataset
        A table with a column ``n``.

    Returns
    -------
    list of int
        The n, evenly spread where there are many.

    Examples
    --------
    >>> import rankeval_pd
    >>> table = rankeval_pd.datasets.simulate_candidates(500).rankeval.nbest_precision([10, 20])
    >>> rankeval_pd.plotting.shown(table)
    [10, 20]
    """
    n = np.unique(np.asarray(table["n"]))
    return [int(x) for x in thinned(pd.DataFrame({"n": n}), _BAND_POINTS)["n"]]


def is_log(log: bool | None, n: Any) -> bool:
    """Return whether n is drawn on a logarithmic axis: as asked, else where there are many."""
    return bool(log) if log is not None else len(n) > 0 and float(np.max(n)) > LARGE


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
    check_columns(curve, ("recall",), f"nbest_precision for x={x!r}")
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
    on_top = {}
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
            on_top[across] = f"{n:,}"
    if on_top:
        write_on_top(ax, [*on_top], [*on_top.values()], labelsize="x-small", labelcolor=GREY)


def sparse(count: int) -> bool:
    """Return whether the n are so few that each point is seen."""
    return count <= FEW


def percent(level: float) -> str:
    """Return a level as text: 95 %."""
    return f"{100 * level:.10g} %"
