"""Curves over all cut-offs, with chance beside them (Macskassy 2005, figures 4 to 7)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.plotting.drawing.canvas import (
    BAND_DASHES,
    GREY,
    XLABELS,
    Canvas,
    table_of,
    thinned,
)
from rankeval_pd.plotting.drawing.legends import panel_size
from rankeval_pd.plotting.drawing.panels import picture
from rankeval_pd.plotting.drawing.scales import (
    in_percent,
    set_rate_ticks,
    set_ticks,
    use_normal_deviates,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Table = pd.DataFrame | None
_LINEAR_LIFT = 1000  # candidates up to which lift is drawn on linear axes
_INTERVALS = 6  # measures up to which the legend has room for the intervals of their areas
_SQUARE = 250.0  # points of a panel in which a square leaves room for the legend
_POINTS = 4000


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
    "gain": _Space("share", "tpr", XLABELS["share"], "true positive rate", False),
}
NAMED = {
    "roc": ("area", "area under the curve"),
    "precision_recall": ("AP", "average precision"),
}


def curve_drawing(name: str) -> Any:
    """Return the function that draws the table of a curve."""
    space = _SPACES[name]
    draw: Any = partial(_draw_curves, name)
    if name in ("roc", "det"):
        draw.figure_size = _beside_square
    return picture(("measure", "n", space.x, space.y), name)(draw)


def _beside_square(table: pd.DataFrame | None) -> tuple[float, float] | None:
    """Return the size of a figure in which the names of many measures stand beside a square."""
    from matplotlib import rcParams

    width, height = rcParams["figure.figsize"]
    many = table is not None and table["measure"].nunique() > _INTERVALS
    return (max(width, height + 3.4), height) if many and height >= 3.0 else None


def _draw_curves(
    name: str,
    canvas: Canvas,
    curves: pd.DataFrame,
    *,
    bands: Any = None,
    isolines: Table = None,
    crossovers: Table = None,
    area: Table = None,
    ideal: Table = None,
    f_scores: float | Sequence[float] = (),
    enrichment: float | Sequence[float] | None = None,
    log: bool | None = None,
) -> None:
    """Draw a curve of each measure, what chance reaches, and where the lists of some n end.

    ``bands`` is the result of :func:`rankeval_pd.random_band`, or a list of these; the others are
    those of :func:`rankeval_pd.isolines`, :func:`rankeval_pd.crossovers` and
    :func:`rankeval_pd.area`, and ``ideal`` that of :func:`rankeval_pd.random_bound` at one n.
    """
    space, ax = _SPACES[name], canvas.ax
    if name == "lift" and log is None:
        log = len(curves) > 0 and float(curves["n"].max()) > _LINEAR_LIFT
    areas = _areas(area, name)
    if name == "lift" and enrichment is not None:
        areas = _lifts(curves, enrichment)
    if name == "det" and log is None:
        rates = curves[[space.x, space.y]].to_numpy(dtype=float)
        inside = rates[(rates > 0.0) & (rates < 1.0)]
        use_normal_deviates(ax, least=0.5 * float(np.min(inside, initial=0.5)))
    elif log:
        ax.set_xscale("log")
        if space.both_log:
            ax.set_yscale("log")
    for measure in curves["measure"].drop_duplicates():
        curve = thinned(curves[curves["measure"] == measure])
        steps = {"drawstyle": "steps-pre"} if name == "precision_recall" else {}
        after = areas.get(measure, "")
        canvas.curve(measure, curve[space.x], curve[space.y], after=after, **steps)
    if name == "lift" and enrichment is not None:
        _draw_shares(ax, enrichment)
    _draw_chance(ax, curves, name)
    number = 0
    for band in bands if isinstance(bands, (list, tuple)) else [bands]:
        if band is not None:
            number = _draw_bands(canvas, band, name, number)
    if name == "gain":
        _draw_ideal(ax, curves, ideal)
    if crossovers is not None:
        _draw_crossovers(canvas, crossovers, curves, space)
    if name == "det" and log is None:
        _limit_deviates(ax, curves, space)
    if isolines is not None:
        _draw_isolines(ax, isolines, name, log=bool(log) or (name == "det" and log is None))
    if name == "precision_recall":
        _draw_f_scores(ax, f_scores)
    _set_axes(canvas, name, log)
    canvas.finish(xlabel=space.xlabel, ylabel=space.ylabel)


def _areas(area: Table, name: str) -> dict[Any, str]:
    """Return what is written behind the name of each measure: its area, and its interval."""
    if area is None:
        return {}
    rows = table_of(area, ("measure", "area"), "area")
    short = NAMED.get(name, ("area", ""))[0]
    by_name = {}
    for row in rows.to_dict("records"):
        low, high = row.get("ci_low", np.nan), row.get("ci_high", np.nan)
        known = len(rows) <= _INTERVALS and np.isfinite(low) and np.isfinite(high)
        interval = f" ({low:.3f}–{high:.3f})" if known else ""
        by_name[row["measure"]] = f", {short} {row['area']:.3f}{interval}"
    return by_name


def _set_axes(canvas: Canvas, name: str, log: bool | None) -> None:
    """Put ticks on both axes; a square where both are rates of one kind and there is room."""
    ax, space = canvas.ax, _SPACES[name]
    if name == "det" and log is None:
        set_rate_ticks(ax.xaxis)
        set_rate_ticks(ax.yaxis)
    else:
        set_ticks(ax.xaxis, in_percent, 4.0)
        if space.y != "lift":
            set_ticks(ax.yaxis, in_percent, 4.0)
    if name in ("roc", "det") and min(panel_size(ax)) >= _SQUARE:
        ax.set_box_aspect(1.0)


def _limit_deviates(ax: Axes, curves: pd.DataFrame, space: _Space) -> None:
    """Show the rates that there are, and no more of those that are 0 or 1."""
    for name, limits in ((space.x, ax.set_xlim), (space.y, ax.set_ylim)):
        rates = curves[name].to_numpy(dtype=float)
        inside = rates[(rates > 0.0) & (rates < 1.0)]
        if inside.size:
            low, high = float(inside.min()), float(inside.max())
            limits(max(low * 0.7, 1e-9), min(1.0 - 0.7 * (1.0 - high), 1.0 - 1e-9))


def _draw_ideal(ax: Axes, curves: pd.DataFrame, ideal: Table) -> None:
    """Draw what an order with all true positives first finds."""
    result = curves[(curves["tpr"] > 0) & (curves["share"] > 0)]
    if result.empty:
        return
    shares = np.unique(curves["share"].to_numpy(dtype=float))
    known = ideal is not None and len(ideal) > 0
    step = (
        float((ideal["expected"] / ideal["n"]).iloc[0])
        if ideal is not None and known
        else _prior(curves)
    )
    if not np.isfinite(step):
        return
    best = np.minimum(shares / step, 1.0)
    ax.plot(
        shares, best, color=GREY, linewidth=1, linestyle=(0, (6, 2)), label="ideal order",
        zorder=1,
    )  # fmt: skip


def _prior(curves: pd.DataFrame) -> float:
    """Return N+ / N: the least step of the rate is 1 / N+, and that of the share 1 / N."""
    if curves.attrs.get("ties") not in ("shared", "error", "best", "worst"):
        return np.nan  # where a block of ties comes at once, no step is a single true positive
    rates = np.unique(curves["tpr"].dropna().to_numpy(dtype=float))
    steps = np.diff(rates)
    steps = steps[steps > 1e-12]
    told = curves[(curves["share"] > 0) & (curves["n"] > 0)]
    if not steps.size or told.empty:
        return np.nan
    total = float(told["n"].iloc[0] / told["share"].iloc[0])
    return float(round(1.0 / steps.min()) / total)


def _lifts(curves: pd.DataFrame, enrichment: Any) -> dict[Any, str]:
    """Return the lifts of each measure's smallest lists with these shares."""
    shares = np.atleast_1d(np.asarray(enrichment, dtype=float))
    if np.any((shares <= 0.0) | (shares > 1.0)):
        raise ValueError(
            f"enrichment={enrichment!r}: give shares of the candidates in (0, 1], [0.01, 0.05]."
        )
    by_name: dict[Any, str] = {}
    for share in shares:
        long = curves[curves["share"] >= share - 1e-9].sort_values("n")
        values = long.groupby("measure", sort=False)["lift"].first()
        for measure, value in values.items():
            by_name[measure] = by_name.get(measure, "") + f", {value:.3g}"
    return by_name


def _draw_shares(ax: Axes, enrichment: Any) -> None:
    """Draw a line at each share whose lift stands behind the names."""
    shares = np.atleast_1d(np.asarray(enrichment, dtype=float))
    listed = ", ".join(f"{100 * share:g}\u00a0%" for share in shares)
    label = f"lift at {listed}: number{'s' if shares.size > 1 else ''} after the name"
    for share in shares:
        ax.axvline(share, color=GREY, linewidth=0.8, label=label)
        label = "_share"


def _draw_f_scores(ax: Axes, f_scores: float | Sequence[float]) -> None:
    """Draw the lists of equal F1, and its value where each line leaves the panel."""
    asked = np.atleast_1d(np.asarray(f_scores, dtype=float))
    if np.any((asked <= 0.0) | (asked >= 1.0)):
        raise ValueError(f"f_scores={f_scores!r}: give values of F1 between 0 and 1, [0.2, 0.4].")
    if not asked.size:
        return
    ax.set_ylim(*ax.get_ylim())
    label: str | None = "all lists of one F1"
    for value in asked:
        recall = np.linspace(value / (2.0 - value) + 1e-6, 1.0, 200)
        precision = value * recall / (2.0 * recall - value)
        inside = precision <= min(1.0, ax.get_ylim()[1])
        ax.plot(recall[inside], precision[inside], color=GREY, linewidth=0.6, label=label, zorder=1)
        label = None
        if inside.any() and precision[-1] >= ax.get_ylim()[0]:
            ax.annotate(
                f"{value:g}", (1.0, precision[-1]), xycoords=ax.get_yaxis_transform(),
                xytext=(2, 0), textcoords="offset points", va="center", fontsize="x-small",
                color=GREY, annotation_clip=False,
            )  # fmt: skip


def _draw_chance(ax: Axes, curves: pd.DataFrame, name: str) -> None:
    """Draw the mean of random rankings."""
    space = _SPACES[name]
    x = np.sort(curves[space.x].dropna().unique())
    if not x.size:
        return
    if len(x) > _POINTS:
        x = x[np.unique(np.geomspace(1, len(x), _POINTS).astype(int)) - 1]
    if name == "precision_recall":  # of all candidates
        y = np.full(x.size, curves.sort_values("n")["precision"].iloc[-1])
    else:
        y = {"lift": np.ones_like(x), "det": 1.0 - x}.get(name, x)
    ax.plot(x, y, color=GREY, linewidth=1, linestyle=(0, (2, 2)), label="random, on average")


def _draw_bands(canvas: Canvas, band: pd.DataFrame, name: str, number: int) -> int:
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
        canvas.ax.plot(line[space.x], line[space.y], **canvas.look.band(None, **look))
        number += 1
    return number


def _draw_crossovers(
    canvas: Canvas, crossovers: pd.DataFrame, curves: pd.DataFrame, space: _Space
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
    for measure, p, n in first[["measure", "p", "n_first"]].itertuples(index=False):
        here = curves[(curves["measure"] == measure) & (curves["n"] == n)]
        if here.empty:
            continue
        point = float(here[space.x].iloc[0]), float(here[space.y].iloc[0])
        look = {
            "marker": _SHAPES[levels.index(p) % len(_SHAPES)], "markersize": 7,
            "markerfacecolor": "none", "color": canvas.colour(measure), "linestyle": "none",
            "label": f"{name}, p\u00a0≤\u00a0{p:g}" if p not in named else "_named",
        }  # fmt: skip
        canvas.ax.plot(*point, **canvas.look.mark(measure, **look))
        marked.append((point, int(n)))
        named.add(p)
    _label(canvas.ax, marked)


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


def _draw_isolines(ax: Axes, isolines: pd.DataFrame, name: str, *, log: bool) -> None:
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
