"""Curves over all cut-offs, with chance beside them (Macskassy 2005, figures 4 to 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.plotting.canvas import (
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


_FPR = "false positive rate"
_SPACES = {
    "roc": _Space("fpr", "tpr", _FPR, "true positive rate", True),
    "precision_recall": _Space("recall", "precision", XLABELS["recall"], "precision", False),
    "det": _Space("fpr", "fnr", _FPR, "false negative rate", True),
    "lift": _Space("share", "lift", XLABELS["share"], "lift", False),
    "gain": _Space("share", "tpr", XLABELS["share"], "true positive rate", True),
}


def roc(
    table: pd.DataFrame | xr.Dataset,
    *,
    bands: Table = None,
    isolines: Table = None,
    crossovers: Table = None,
    log: bool = False,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw ROC curves, what chance reaches beside them, and where the lists of some n end.

    Parameters
    ----------
    table : DataFrame or Dataset
        Result of :func:`rankeval_pd.roc`, of one group.
    bands : DataFrame or Dataset, or a list of them, optional
        Results of :func:`rankeval_pd.random_band` in this space: a line for each p.
    isolines : DataFrame or Dataset, optional
        Result of :func:`rankeval_pd.isolines` in this space: a thin line for each n, with its n.
    crossovers : DataFrame or Dataset, optional
        Result of :func:`rankeval_pd.crossovers`: the first of each measure and p is marked.
    log : bool
        Whether the axes are logarithmic, so that the head of the list can be seen.
    ax : Axes, optional
        Where to draw; a new figure unless given. Give ``layout="constrained"`` to a figure of
        your own, so that it makes room for the legend below.
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the measures' lines, of the lines of chance (both ``Axes.plot``), and of the
        marks of the crossovers and of points that are few.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(40, 0, -1), "gold": [True] * 12 + [False] * 28})
    >>> ax = rankeval_pd.plotting.roc(df.rankeval.roc(), bands=df.rankeval.random_band(p=0.01))
    >>> ax.get_xlabel()
    'false positive rate'
    """
    return _draw(
        "roc", table, bands, isolines, crossovers, log=log, ax=ax, line_kw=line_kw,
        band_kw=band_kw, marker_kw=marker_kw,
    )  # fmt: skip


def precision_recall(
    table: pd.DataFrame | xr.Dataset,
    *,
    bands: Table = None,
    isolines: Table = None,
    crossovers: Table = None,
    log: bool = False,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw precision over recall, as :func:`roc` draws its curves.

    Parameters
    ----------
    table : DataFrame or Dataset
        Result of :func:`rankeval_pd.precision_recall`, of one group.
    bands, isolines, crossovers, ax, line_kw, band_kw, marker_kw
        As in :func:`roc`.
    log : bool
        Whether the axis of recall is logarithmic.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(40, 0, -1), "gold": [True] * 12 + [False] * 28})
    >>> rankeval_pd.plotting.precision_recall(df.rankeval.precision_recall()).get_ylabel()
    'precision'
    """
    return _draw(
        "precision_recall", table, bands, isolines, crossovers, log=log, ax=ax, line_kw=line_kw,
        band_kw=band_kw, marker_kw=marker_kw,
    )  # fmt: skip


def det(
    table: pd.DataFrame | xr.Dataset,
    *,
    bands: Table = None,
    isolines: Table = None,
    crossovers: Table = None,
    log: bool = True,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw both kinds of error against each other, as :func:`roc` draws its curves.

    Parameters
    ----------
    table : DataFrame or Dataset
        Result of :func:`rankeval_pd.det`, of one group.
    bands, isolines, crossovers, ax, line_kw, band_kw, marker_kw
        As in :func:`roc`.
    log : bool
        Whether both axes are logarithmic.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(40, 0, -1), "gold": [True] * 12 + [False] * 28})
    >>> rankeval_pd.plotting.det(df.rankeval.det()).get_xscale()
    'log'
    """
    return _draw(
        "det", table, bands, isolines, crossovers, log=log, ax=ax, line_kw=line_kw,
        band_kw=band_kw, marker_kw=marker_kw,
    )  # fmt: skip


def lift(
    table: pd.DataFrame | xr.Dataset,
    *,
    bands: Table = None,
    isolines: Table = None,
    crossovers: Table = None,
    log: bool = True,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw lift over the share of the candidates, as :func:`roc` draws its curves.

    Parameters
    ----------
    table : DataFrame or Dataset
        Result of :func:`rankeval_pd.lift`, of one group.
    bands, isolines, crossovers, ax, line_kw, band_kw, marker_kw
        As in :func:`roc`.
    log : bool
        Whether the axis of the share is logarithmic.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(40, 0, -1), "gold": [True] * 12 + [False] * 28})
    >>> rankeval_pd.plotting.lift(df.rankeval.lift()).get_ylabel()
    'lift'
    """
    return _draw(
        "lift", table, bands, isolines, crossovers, log=log, ax=ax, line_kw=line_kw,
        band_kw=band_kw, marker_kw=marker_kw,
    )  # fmt: skip


def gain(
    table: pd.DataFrame | xr.Dataset,
    *,
    bands: Table = None,
    isolines: Table = None,
    crossovers: Table = None,
    log: bool = False,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw what is found over what is looked at, as :func:`roc` draws its curves.

    Parameters
    ----------
    table : DataFrame or Dataset
        Result of :func:`rankeval_pd.gain`, of one group.
    bands, isolines, crossovers, log, ax, line_kw, band_kw, marker_kw
        As in :func:`roc`.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(40, 0, -1), "gold": [True] * 12 + [False] * 28})
    >>> rankeval_pd.plotting.gain(df.rankeval.gain()).get_ylabel()
    'true positive rate'
    """
    return _draw(
        "gain", table, bands, isolines, crossovers, log=log, ax=ax, line_kw=line_kw,
        band_kw=band_kw, marker_kw=marker_kw,
    )  # fmt: skip


def _draw(
    name: str,
    table: pd.DataFrame | xr.Dataset,
    bands: Any,
    isolines: Table,
    crossovers: Table,
    *,
    log: bool,
    ax: Axes | None,
    line_kw: Keywords,
    band_kw: Keywords,
    marker_kw: Keywords,
) -> Axes:
    space = _SPACES[name]
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
