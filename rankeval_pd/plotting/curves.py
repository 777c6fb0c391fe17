"""Plot ROC, precision-recall, DET, lift and gain curves."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.chance.bounds import crossovers as crossovers_of
from rankeval_pd.chance.bounds import random_bound
from rankeval_pd.curves import shapes
from rankeval_pd.curves.areas import area as area_of
from rankeval_pd.curves.shapes import isolines as isolines_of
from rankeval_pd.curves.shapes import random_band
from rankeval_pd.errors import AnyFunction
from rankeval_pd.options import as_written, one_reading
from rankeval_pd.plotting import panels
from rankeval_pd.plotting.canvas import (
    HAIR,
    SHARE,
    THIN,
    Canvas,
    interval_header,
    interval_kind,
    some,
    thin_table,
    write,
)
from rankeval_pd.plotting.lists import FIRST
from rankeval_pd.plotting.look import (
    LARGE_RATIO,
    font,
    in_percent,
    interval_text,
    most_text,
    number,
    panel_size,
    plainly,
    rate_text,
    set_chosen_ticks,
    use_normal_deviates,
)
from rankeval_pd.plotting.panels import Levels, PublicPlot, table_of
from rankeval_pd.roles import AreaKind, Space
from rankeval_pd.stats import FloatArray
from rankeval_pd.words.numbers import percent_of, unit_of

# ---- Draw curves over all cutoffs

Table = pd.DataFrame | None
_SCOPES = {"pointwise": "each point separately", "simultaneous": "all points together"}
_LINEAR_LIFT = 1000  # lift is drawn on linear axes up to this number of candidates
#: tick labels in percent, the most important first
_RATES = (50, 1, 99, 10, 90, 0.1, 99.9, 0.01, 5, 20, 80, 95, 0.001, 99.99, 2, 98)
_ENDS = 0.9  # curves that end before this share of the x axis are drawn to their end
_SQUARE = 160.0  # size in points of a panel that can contain a square


@dataclass(frozen=True)
class Curve:
    """The axes and reference lines of a curve over all cutoffs."""

    x: str
    y: str
    xlabel: str
    ylabel: str
    chance: str  #: line for a random order: "diagonal", "falling", "prior", "one"
    square: bool = False
    drawstyle: str = "default"
    first: bool = False  #: whether short lists are omitted from long tables
    area: str = ""  #: header of the area column in the key


_FPR = "false positive rate"
CURVES = {
    "roc": Curve("fpr", "tpr", _FPR, "true positive rate", "diagonal", square=True, area="AUC"),
    "precision_recall": Curve(
        "recall",
        "precision",
        "recall",
        "precision",
        "prior",
        drawstyle="steps-pre",
        first=True,
        area="AP",
    ),
    "det": Curve("fpr", "fnr", _FPR, "false negative rate", "falling", square=True),
    "lift": Curve("share", "lift", SHARE, "lift (random order = 1)", "one", first=True),
    "gain": Curve("share", "tpr", SHARE, "share of positives found", "diagonal"),
}


def _squarely(table: pd.DataFrame) -> tuple[float, float]:
    """Return the size of a figure for a square panel."""
    from matplotlib import rcParams

    width, height = rcParams["figure.figsize"]
    return (min(width, 1.13 * height), height)


def _draw_curves(
    spec: Curve,
    canvas: Canvas,
    curves: pd.DataFrame,
    ideal: Table = None,
    /,
    bands: Any = None,
    isolines: Table = None,
    crossovers: Table = None,
    area: Table = None,
    *,
    log: bool | None = None,
) -> None:
    """Draw the curve of each measure, the chance level, and lines of equal n."""
    largest = float(curves["n"].max()) if len(curves) else 0.0
    if spec.chance == "one" and log is None:
        log = largest > _LINEAR_LIFT
    deviates = spec.chance == "falling" and log is None
    linear = not (log or deviates)
    ax = canvas.ax
    if deviates:
        inside = _inside(curves[[spec.x, spec.y]])
        use_normal_deviates(ax, least=0.5 * float(np.min(inside, initial=0.5)))
    elif log:
        ax.set_xscale("log")
        if spec.square:
            ax.set_yscale("log")
    if spec.square and min(panel_size(ax)) >= _SQUARE:
        ax.set_box_aspect(1.0)
        ax.set_anchor("W")  # room for names on the right
    if spec.first and largest > LARGE_RATIO:
        curves = curves[(curves["n"] >= FIRST) | (curves["n"] == 0)]
        canvas.tell(f"Lists shorter than {FIRST} are omitted.")
    parts = panels.by_name(curves)
    better = {"falling": -1.0}.get(spec.chance, 1.0)
    scores = {name: better * float(part[spec.y].mean()) for name, part in parts.items()}
    drawn = canvas.choose(scores, f"mean {spec.ylabel.partition(' (')[0]}")
    _write_areas(canvas, spec, area)
    for measure in drawn:
        rows = parts[measure]
        canvas.curve(measure, rows[spec.x], rows[spec.y], drawstyle=spec.drawstyle)
    scope = _SCOPES.get(str(curves.attrs.get("intervals")))
    if scope and "ci_low" in curves:
        kind = f"{percent_of(curves.attrs['level'])} confidence limits, for {scope}"
        for name, rows in parts.items():
            parts[name] = rows.dropna(subset=["ci_low"]).rename(columns={spec.x: "x"})
        canvas.uncertainty(parts, "ci_low", "ci_high", kind)
    fields = _draw_bands(canvas, bands, curves, spec)
    _draw_chance(canvas, curves, spec, fields, linear=linear)
    if ideal is not None and len(ideal) and ideal["expected"].iloc[0] > 0.0:
        prior = float((ideal["expected"] / ideal["n"]).iloc[0])
        shares = np.unique(np.append(curves["share"].to_numpy(dtype=float), prior))
        canvas.guide(shares, np.minimum(shares / prior, 1.0), "ideal order")
        canvas.tell("Upper gray line: ideal order, with all true positives first.")
    if crossovers is not None:
        _draw_crossovers(canvas, crossovers, curves, spec)
    _set_limits(canvas, curves, spec, deviates=deviates)
    if isolines is not None:
        lines = table_of(isolines, f"n {spec.x} {spec.y}", f"isolines for {spec.y}")
        for n, line in lines.groupby("n", sort=False):
            canvas.guide(line[spec.x], line[spec.y], f"_n = {n}", HAIR)
            ends = line if linear else line[(line[spec.x] > 0) & (line[spec.y] > 0)]
            if len(ends):  # n is written at the better end
                end = (ends[spec.x].iloc[-1], ends[spec.y].iloc[-1])
                box = {"facecolor": canvas.ink.bg, "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
                look = {"clip_on": True, "color": canvas.ink.note, "va": "top", "zorder": 4}
                write(ax, f"{n:,}", end, (3, -2), bbox=box, **look)
        canvas.tell("Thin lines: all lists with the same n.")
    canvas.meet = True
    canvas.finish(xlabel=spec.xlabel, ylabel=spec.ylabel)


def _inside(rates: pd.DataFrame | pd.Series[Any]) -> FloatArray:
    """Return the rates that are neither 0 nor 1."""
    values = rates.to_numpy(dtype=float)
    return values[(values > 0.0) & (values < 1.0)]


def _set_limits(canvas: Canvas, curves: pd.DataFrame, spec: Curve, *, deviates: bool) -> None:
    """Set the limits from the data, or to 0 and 1 on linear axes, and write the ticks."""
    ax = canvas.ax
    if deviates:
        for name, axis in ((spec.x, "x"), (spec.y, "y")):
            inside = _inside(curves[name])
            if inside.size:
                high = min(1.0 - 0.7 * (1.0 - float(inside.max())), 1.0 - 1e-9)
                canvas.limits(axis, max(float(inside.min()) * 0.7, 1e-9), high)
        for ticks in (ax.xaxis, ax.yaxis):
            places = [x / 100.0 for x in _RATES]
            texts = [f"{x:g}%" for x in _RATES]
            set_chosen_ticks(ticks, places, texts, characters=4.5)
        return
    if ax.get_xscale() == "linear":
        last = float(curves[spec.x].max())  # averages of groups may end before 1
        ax.set_xlim(-0.005, 1.005 * (last if 0.0 < last < _ENDS else 1.0))
    if spec.y in ("lift", "precision"):
        canvas.start_at(0.0)
    elif ax.get_yscale() == "linear":
        ax.set_ylim(-0.005, 1.01)
    canvas.across("share")
    canvas.upwards(plainly if spec.y == "lift" else in_percent)


def _write_areas(canvas: Canvas, spec: Curve, area: Table) -> None:
    """Write each measure's area and interval in the key."""
    if area is None or not spec.area:
        return
    rows = table_of(area, "measure area", "area")
    known = "ci_low" in rows and rows["ci_low"].notna().any()
    widths: Any = rows["ci_high"] - rows["ci_low"] if known else []
    digits = unit_of(rows["area"], widths, percent=False).decimals  # as in tables and sentences
    areas = rows.set_index("measure")["area"]
    canvas.values(spec.area, {name: number(value, digits) for name, value in areas.items()})
    if known:
        limits = zip(rows["measure"], rows["ci_low"], rows["ci_high"], strict=True)
        header = interval_header(rows.attrs.get("level"))
        canvas.values(header, {n: interval_text(a, b, digits) for n, a, b in limits})
        canvas.tell(f"{spec.area}: {interval_kind(rows.attrs, 'separately for each measure')}.")


def _draw_chance(
    canvas: Canvas, curves: pd.DataFrame, spec: Curve, fields: str, *, linear: bool
) -> None:
    """Draw and label the mean of random rankings."""
    x = np.sort(curves[spec.x].dropna().unique())
    if not x.size:
        return
    x = x[some(len(x), 4000)]
    y = _mean_of_chance(spec, x, curves)
    first = canvas.guide(x, y, "random order")
    canvas.tell("Gray line: mean over random orders.")
    if spec.chance == "diagonal" and linear:
        if not first:
            return
        look = {"rotation": 45, "rotation_mode": "anchor", "va": "top"}
        look |= {"transform_rotates_text": True, "ha": "center", "clip_on": True}
        look |= {"fontsize": font(canvas.ax, "note"), "color": canvas.ink.note}
        canvas.ax.text(0.66, 0.64, fields or "random order", **look)
    elif spec.chance == "prior":
        canvas.refer(canvas.random(float(y[0])), float(y[0]))
    elif spec.chance != "one":
        canvas.refer(fields or "random order", float(y[-1]))


def _mean_of_chance(spec: Curve, x: Any, curves: pd.DataFrame) -> Any:
    """Return the mean over random orders at these x."""
    if spec.chance == "prior":  # value for all candidates
        return np.full(len(x), curves.sort_values("n")["precision"].iloc[-1])
    return {"one": np.ones(len(x)), "falling": 1.0 - x, "diagonal": x}[spec.chance]


def _draw_bands(canvas: Canvas, bands: Any, curves: pd.DataFrame, spec: Curve) -> str:
    """Draw a gray area up to the simultaneous bound, and lines for others; return its name."""
    tables = []
    for band in bands if isinstance(bands, list | tuple) else [bands]:
        if band is not None:
            needed = f"p n {spec.x} {spec.y}"
            made_by = f"random_band for {spec.y}"
            tables.append(table_of(band, needed, made_by))
    mean, side = partial(_mean_of_chance, spec, curves=curves), "below"
    if spec.chance == "falling":
        side = "above"
    tables.sort(key=lambda table: not table.attrs.get("simultaneous"))
    named = ""
    for key, rows in [group for table in tables for group in table.groupby("p", sort=False)]:
        p = float(str(key))
        bound = rows.attrs.get("bound", "critical")
        kind = ""
        scope = ""
        line = "hairline"
        width = HAIR
        if bound != "critical":
            kind = f" ({bound} bound, not a test at level p)"
        if rows.attrs.get("simultaneous"):
            scope, line, width = "at every n", "line", THIN
        elif "simultaneous" in rows.attrs:
            scope = "at any single n"
        rows = thin_table(rows)
        x, y = (rows[name].to_numpy() for name in (spec.x, spec.y))
        if spec.chance in ("diagonal", "falling"):  # the last lists cannot reach a bound
            known = ~np.isnan(x + y)
            x = np.append(x[known], 1.0)
            y = np.append(y[known], mean(x[-1:]))
        label = f"chance {rate_text(p)} {scope}".strip()
        orders = f"{most_text(p)} of random orders"
        if not named:
            canvas.field(x, mean(x), y, label)
            named = f"outer edge: {orders}"
            said = f"Gray area (chance): {orders} stay {side} its outer edge {scope}{kind}."
            canvas.tell(said.replace(" .", "."))
        else:
            canvas.guide(x, y, label, width, zorder=1.04)
            canvas.tell(f"Gray {line} (chance): {orders} stay {side} the line {scope}{kind}.")
    return named


_APART = 16.0  # minimum distance in points between two readable labels


def _draw_crossovers(
    canvas: Canvas, crossovers: pd.DataFrame, curves: pd.DataFrame, spec: Curve
) -> None:
    """Mark the first list on each measure's curve that beats chance at each p."""
    runs = table_of(crossovers, "measure p n_first", "crossovers")
    first = runs.drop_duplicates(["measure", "p"])
    levels = list(first["p"].drop_duplicates())
    scale = 72.0 / canvas.ax.figure.dpi
    written: list[Any] = []
    for measure, p, n in first[["measure", "p", "n_first"]].itertuples(index=False):
        here = curves[(curves["measure"] == measure) & (curves["n"] == n)]
        if here.empty:
            continue
        point = float(here[spec.x].iloc[0]), float(here[spec.y].iloc[0])
        color = canvas.color(measure)
        look = {"markersize": 6, "markerfacecolor": canvas.ink.bg, "zorder": 4}
        canvas.dots(*point, color, label=f"_crossover, p ≤ {p:g}", **look)
        with np.errstate(divide="ignore"):
            place = scale * canvas.ax.transData.transform(point)
        if canvas.stands_out(measure) and all(np.hypot(*(place - x)) >= _APART for x in written):
            written.append(place)
            write(canvas.ax, f"n = {int(n):,}", point, (7, -9), color=canvas.ink.text(color))
    p_values = ", ".join(map(rate_text, levels))
    canvas.tell(f"Open marks: the first of 2 successive lists above chance ({p_values}).")


# ---- Plots of curves over all cutoffs, from data or a table

_CURVES: dict[str, AnyFunction] = {space: getattr(shapes, space) for space in shapes.SPACES}
_AREAS: Mapping[str, AreaKind] = {"roc": "roc", "precision_recall": "ap"}
_BESIDE = """    bands : float or sequence of float, optional
        Levels p at which to draw the bounds for random rankings; see
        :func:`rankeval_pd.random_band`.
    isolines : int or sequence of int, optional
        Sizes n of lists. All lists of size n lie on a thin line.
    crossovers : bool
        Whether to mark the first list of each measure that beats chance at the levels in ``bands``.
    simultaneous : bool
        Whether to also draw ``bands`` that are simultaneous over all n.
    area : DataFrame or Dataset, optional
        Beside a table: the result of :func:`rankeval_pd.area`, written in a key. Then ``bands``,
        ``isolines`` and ``crossovers`` are results, too, of :func:`rankeval_pd.random_band` (or a
        list of them), :func:`rankeval_pd.isolines` and :func:`rankeval_pd.crossovers`.
"""


def _with_references(
    space: Space,
    data: Any,
    *args: Any,
    bands: Levels | None = None,
    isolines: int | Sequence[int] | None = None,
    crossovers: bool = False,
    simultaneous: bool = True,
    **asked: Any,
) -> tuple[Any, ...]:
    """Return the curve, and the bands, isolines, crossovers and areas to draw beside it."""
    if bands is None and crossovers:
        raise ValueError(
            "crossovers=True needs one or more significance levels. Pass them as bands, such as"
            " bands=0.05."
        )
    roles = panels.roles_in(asked)
    pooled = {**roles, "pool": "all"}  # a single band for all curves
    drawn_bands = []
    lines = None
    marks = None
    areas = None
    ideal = None
    with one_reading():
        curve = _CURVES[space](data, *args, **asked)
        if bands is not None:
            sizes = panels.seen_of(data, None, roles)
            if sizes is not None:
                few = panels.shown(
                    curve[curve["n"] > 0] if isinstance(curve, pd.DataFrame) else curve
                )
                sizes = [n for n in few if n]
            drawn_bands.append(random_band(data, space, bands, sizes, **pooled))
            if simultaneous:
                drawn_bands.append(
                    random_band(data, space, bands, sizes, simultaneous=True, **pooled)
                )
            if crossovers:
                marks = crossovers_of(data, bands, **pooled)
        if isolines is not None:
            lines = isolines_of(data, isolines, space, **roles)
        if space == "gain" and np.max(np.asarray(curve["n"]), initial=0) > 0:
            ungrouped = {**pooled, "groups": None}
            ideal = random_bound(data, 0.5, 1, **ungrouped)
        if space in _AREAS:
            areas = area_of(data, _AREAS[space], **roles)
    return curve, ideal, drawn_bands, lines, marks, areas


def _plot_of_curve(described: Callable[[], None]) -> PublicPlot:
    """Make the plot of the kind of curve that a function names and describes."""
    space: Any = described.__name__
    spec = CURVES[space]
    draw = partial(_draw_curves, spec)
    draw.__signature__ = inspect.signature(draw)  # type: ignore[attr-defined]
    functools.update_wrapper(draw, described)
    draw.__doc__ = as_written(described.__doc__).replace("    **beside\n", _BESIDE)
    needed = " ".join(["measure n", *shapes.SPACES[space]])
    tables = partial(_with_references, space)
    size = _squarely if spec.square else None
    return panels.plot_of(_CURVES[space], needed, tables=tables, size=size)(draw)


@_plot_of_curve
def roc() -> None:
    """Draw ROC curves, optionally with chance bounds, crossovers and isolines.

    Parameters
    ----------
    **beside
    log : bool
        Whether the axes are logarithmic. Logarithmic axes enlarge the top of the ranking.

    Notes
    -----
    Each line shows a measure, from the empty list to all candidates. The diagonal is the mean over
    random orders. With ``bands``, the gray area is the simultaneous range of random orders, and the
    thin line is the pointwise bound. The key shows the area and its interval. With more than six
    measures, only the best three are in color. For more than 20,000 candidates, about 1,000 values
    of n are drawn, and the gray area covers 2,000. In a large enough panel, the plot is square.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.roc(bands=0.01).get_xlabel()
    'false positive rate'
    """


@_plot_of_curve
def precision_recall() -> None:
    """Draw precision over recall.

    Parameters
    ----------
    **beside
    log : bool
        Whether the recall axis is logarithmic.

    Notes
    -----
    Each line is the step function for a measure, without interpolation. The gray line is the
    precision of a random order. With ``isolines``, thin lines connect lists of the same size n. The
    key shows the average precision. If n exceeds 2,000, lists shorter than 10 are omitted.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.precision_recall().get_ylabel()
    'precision'
    """


@_plot_of_curve
def det() -> None:
    """Draw detection error trade-off (DET) curves.

    Parameters
    ----------
    **beside
    log : bool, optional
        Whether the axes are logarithmic (True) or linear (False). By default, the axes have
        normal-deviate scales, so normally distributed scores give a straight line.

    Notes
    -----
    Each line shows a measure. Better measures are closer to the lower left corner. Rates of 0 and 1
    are not shown because their normal deviates are infinite. The gray line is the mean over random
    orders.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.det().get_xscale()
    'function'
    """


@_plot_of_curve
def lift() -> None:
    """Draw lift against the fraction of candidates.

    Parameters
    ----------
    **beside
    log : bool, optional
        Whether the x axis is logarithmic. By default, the axis is logarithmic for more than 1,000
        candidates.

    Notes
    -----
    Each line shows the precision of a measure's lists relative to a random order. The gray line at
    1 represents a random order. If n exceeds 2,000, lists shorter than 10 are omitted.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.lift().get_ylabel()
    'lift (random order = 1)'
    """


@_plot_of_curve
def gain() -> None:
    """Draw recall against the fraction of candidates.

    Parameters
    ----------
    **beside
    log : bool
        Whether the x axis is logarithmic.

    Notes
    -----
    Each line shows a measure, from the empty list to all candidates. The upper gray line shows an
    order with all true positives first, and the lower gray line shows the mean over random orders.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.gain().get_ylabel()
    'share of positives found'
    """
