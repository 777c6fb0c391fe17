"""Curves over all cut-offs, with chance beside them (Macskassy 2005, figures 4 to 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.plotting.drawing.canvas import (
    BAND_DASHES,
    GREY,
    XLABELS,
    Keywords,
    axes,
    finish,
    markers,
    style,
    table_of,
    thinned,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Table = pd.DataFrame | xr.Dataset | None


class _Space(NamedTuple):
    """What a curve is drawn over."""

    x: str
    y: str
    xlabel: str
    ylabel: str
    both_log: bool  #: whether both axes can be logarithmic
    log: bool = False  #: whether they are, unless asked


_FPR = "false positive rate"
_SPACES = {
    "roc": _Space("fpr", "tpr", _FPR, "true positive rate", True),
    "precision_recall": _Space("recall", "precision", XLABELS["recall"], "precision", False),
    "det": _Space("fpr", "fnr", _FPR, "false negative rate", True, True),
    "lift": _Space("share", "lift", XLABELS["share"], "lift", False, True),
    "gain": _Space("share", "tpr", XLABELS["share"], "true positive rate", True),
}


def draw_curves(
    name: str,
    table: pd.DataFrame | xr.Dataset,
    *,
    bands: Any = None,
    isolines: Table = None,
    crossovers: Table = None,
    log: bool | None = None,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw a curve of each measure, what chance reaches, and where the lists of some n end.

    ``bands`` is the result of :func:`rankeval_pd.random_band`, or a list of these; the others are
    those of :func:`rankeval_pd.isolines` and :func:`rankeval_pd.crossovers`.
    """
    space = _SPACES[name]
    log = space.log if log is None else log
    curves = table_of(table, ("measure", "n", space.x, space.y), name)
    ax = axes(ax)
    if log:
        ax.set_xscale("log")
        if space.both_log:
            ax.set_yscale("log")
    for number, measure in enumerate(curves["measure"].drop_duplicates()):
        curve = thinned(curves[curves["measure"] == measure])
        look = {"label": str(measure), **style(number), **markers(len(curve), number, marker_kw)}
        ax.plot(curve[space.x], curve[space.y], **{**look, **(line_kw or {})})
    _draw_chance(ax, curves, name)
    number = 0
    for band in bands if isinstance(bands, (list, tuple)) else [bands]:
        if band is not None:
            number = _draw_bands(ax, band, name, number, band_kw)
    if crossovers is not None:
        _draw_crossovers(ax, crossovers, curves, space, marker_kw)
    if isolines is not None:
        _draw_isolines(ax, isolines, name, log=log)
    return finish(ax, xlabel=space.xlabel, ylabel=space.ylabel)


def _draw_chance(ax: Axes, curves: pd.DataFrame, name: str) -> None:
    """Draw the mean of random rankings."""
    space = _SPACES[name]
    x = np.sort(curves[space.x].dropna().unique())
    if not x.size:
        return
    if name == "precision_recall":  # of all candidates
        y = np.full(x.size, curves.sort_values("n")["precision"].iloc[-1])
    else:
        y = {"lift": np.ones_like(x), "det": 1.0 - x}.get(name, x)
    ax.plot(x, y, color=GREY, linewidth=1, linestyle=(0, (2, 2)), label="random, on average")


def _draw_bands(
    ax: Axes, band: pd.DataFrame | xr.Dataset, name: str, number: int, band_kw: Keywords
) -> int:
    """Draw a line for each p and return the number of the next line."""
    space = _SPACES[name]
    rows = table_of(band, ("p", "n", space.x, space.y), f"random_band in space={name!r}")
    together = rows.attrs.get("simultaneous")
    kind = "" if together is None else "all n together" if together else "each n alone"
    bound = rows.attrs.get("bound", "critical")
    chance = "chance" if bound == "critical" else f"chance, {bound} bound, no test of level p,"
    for p, line in rows.groupby("p", sort=False):
        line = thinned(line)
        look = {
            "color": "0.55" if together else "black",
            "linewidth": 1.2,
            "linestyle": BAND_DASHES[number % len(BAND_DASHES)],
            "label": f"{chance} p\u00a0≤\u00a0{p:g}" + (f", {kind}" if kind else ""),
        }
        ax.plot(line[space.x], line[space.y], **{**look, **(band_kw or {})})
        number += 1
    return number


def _draw_crossovers(
    ax: Axes,
    crossovers: pd.DataFrame | xr.Dataset,
    curves: pd.DataFrame,
    space: _Space,
    marker_kw: Keywords,
) -> None:
    """Mark, on each measure's curve, the first list that beats chance at each p."""
    runs = table_of(crossovers, ("measure", "p", "n_first"), "crossovers")
    contiguous = runs.attrs.get("contiguous")
    name = f"first of ≥\u00a0{contiguous} n above chance" if contiguous else "first n above chance"
    marked: list[tuple[tuple[float, float], int]] = []
    named: set[float] = set()
    first = runs.drop_duplicates(["measure", "p"])
    strangers = sorted(set(map(str, runs["measure"])) - set(map(str, curves["measure"])))
    if strangers:
        raise ValueError(
            f"crossovers has measures that the curves have not, {', '.join(strangers)}. Give the"
            " crossovers of the same measures."
        )
    levels = list(first["p"].drop_duplicates())
    colours = {m: style(i)["color"] for i, m in enumerate(curves["measure"].drop_duplicates())}
    for measure, p, n in first[["measure", "p", "n_first"]].itertuples(index=False):
        here = curves[(curves["measure"] == measure) & (curves["n"] == n)]
        if here.empty:
            continue
        point = float(here[space.x].iloc[0]), float(here[space.y].iloc[0])
        look = {
            "marker": _SHAPES[levels.index(p) % len(_SHAPES)], "markersize": 7,
            "markerfacecolor": "none", "color": colours[measure], "linestyle": "none",
            "label": f"{name}, p\u00a0≤\u00a0{p:g}" if p not in named else "_",
        }  # fmt: skip
        ax.plot(*point, **{**look, **(marker_kw or {})})
        marked.append((point, int(n)))
        named.add(p)
    _label(ax, marked)


_SHAPES = "os^Dv"  # one for each p
_APART = 14.0  # points between two labels that can be read


def _label(ax: Axes, marked: list[tuple[tuple[float, float], int]]) -> None:
    """Write n beside each mark that is not too near to one before."""
    scale = 72.0 / ax.figure.dpi
    written: list[np.ndarray[Any, Any]] = []
    for point, n in marked:
        with np.errstate(divide="ignore"):
            place = scale * ax.transData.transform(point)
        if all(np.hypot(*(place - other)) >= _APART for other in written):
            written.append(place)
            ax.annotate(
                f"n\u00a0=\u00a0{n:,}", point, xytext=(7, -9), textcoords="offset points",
                fontsize="x-small",
            )  # fmt: skip


def _draw_isolines(ax: Axes, isolines: pd.DataFrame | xr.Dataset, name: str, *, log: bool) -> None:
    """Draw a thin line for each n, and its n at the better end."""
    space = _SPACES[name]
    rows = table_of(isolines, ("n", space.x, space.y), f"isolines in space={name!r}")
    label: str | None = "all lists of one n"
    for n, line in rows.groupby("n", sort=False):
        ax.plot(
            line[space.x], line[space.y], color=GREY, linewidth=0.6, label=label, zorder=1,
        )  # fmt: skip
        ends = line[(line[space.x] > 0) & (line[space.y] > 0)] if log else line
        if len(ends):
            end = ends.iloc[-1]
            ax.annotate(
                f"{n:,}", (end[space.x], end[space.y]), xytext=(2, 1), clip_on=True,
                textcoords="offset points", fontsize="x-small", color=GREY,
            )  # fmt: skip
        label = None
