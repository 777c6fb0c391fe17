"""Plot ROC, precision-recall, DET, lift and gain curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np
import pandas as pd

from rankeval_pd.chance.bounds import crossovers, random_bound
from rankeval_pd.curves import shapes
from rankeval_pd.curves.areas import area as area_of
from rankeval_pd.curves.shapes import isolines, random_band
from rankeval_pd.doors import Data
from rankeval_pd.errors import check_choice
from rankeval_pd.options import one_reading
from rankeval_pd.plotting import panels
from rankeval_pd.plotting.canvas import (
    HAIR,
    THIN,
    XLABELS,
    Canvas,
    interval_header,
    interval_kind,
    thin_table,
    write,
)
from rankeval_pd.plotting.lists import FIRST
from rankeval_pd.plotting.look import (
    LARGE_RATIO,
    Ink,
    digits_for,
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
from rankeval_pd.plotting.panels import CHANCE, CurvePlot, Levels, Picture, table_of
from rankeval_pd.roles import AreaKind, Bound, ListSizes, Space
from rankeval_pd.words import percent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankeval_pd.stats import FloatArray

# ---- Draw curves over all cutoffs

Table = pd.DataFrame | None
_SCOPES = {"pointwise": "each point separately", "simultaneous": "all points together"}
_LINEAR_LIFT = 1000  # lift is drawn on linear axes up to this number of candidates
#: tick labels in percent, the most important first
_RATES = (50, 1, 99, 10, 90, 0.1, 99.9, 0.01, 5, 20, 80, 95, 0.001, 99.99, 2, 98)
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
    "lift": Curve("share", "lift", XLABELS["share"], "lift (random order = 1)", "one", first=True),
    "gain": Curve("share", "tpr", XLABELS["share"], "share of positives found", "diagonal"),
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
    """Draw the curve of each measure, the chance level, and lines of equal n.

    ``bands`` is one or more results of :func:`rankeval_pd.random_band`, ``ideal`` a result of
    :func:`rankeval_pd.random_bound` at one n, and any other table that of the function of its name.
    """
    largest = float(curves["n"].max()) if len(curves) else 0.0
    if spec.chance == "one" and log is None:
        log = largest > _LINEAR_LIFT
    deviates = spec.chance == "falling" and log is None
    linear, ax = not (log or deviates), canvas.ax
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
    _values(canvas, curves, spec, area, enrichment)
    for measure in drawn:
        rows = parts[measure]
        canvas.curve(measure, rows[spec.x], rows[spec.y], drawstyle=spec.drawstyle)
    scope = _SCOPES.get(str(curves.attrs.get("interval")))
    if scope and "ci_low" in curves:
        kind = f"{percent_of(curves.attrs['level'])} confidence limits, for {scope}"
        for name, rows in parts.items():
            parts[name] = rows.dropna(subset=["ci_low"]).rename(columns={spec.x: "x"})
        canvas.uncertainty(parts, "ci_low", "ci_high", kind)
    fields = _draw_bands(canvas, bands, curves, spec)
    _draw_chance(canvas, curves, spec, fields, linear=linear)
    if spec is CURVES["gain"] and ((curves["tpr"] > 0) & (curves["share"] > 0)).any():
        step = _prior(curves)  # an order with all true positives first
        if ideal is not None and len(ideal):
            step = float((ideal["expected"] / ideal["n"]).iloc[0])
        if np.isfinite(step):
            shares = np.unique(np.append(curves["share"].to_numpy(dtype=float), step))
            canvas.guide(shares, np.minimum(shares / step, 1.0), "ideal order")
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
                write(ax, f"{n:,}", end, (2, 1), clip_on=True, color=canvas.ink.note)
        canvas.tell("Thin lines: all lists with the same n.")
    if spec.y == "precision":
        _draw_f_scores(canvas, f_scores)
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
            places, texts = [x / 100.0 for x in _RATES], [f"{x:g}%" for x in _RATES]
            set_chosen_ticks(ticks, places, texts, characters=4.5)
        return
    if ax.get_xscale() == "linear":
        ax.set_xlim(-0.005, 1.005)
    if spec.y == "lift":
        canvas.start_at(0.0)
    elif ax.get_yscale() == "linear":
        ax.set_ylim(-0.005, 1.01)
    canvas.across("share", log=False)
    canvas.upwards(plainly if spec.y == "lift" else in_percent)


def _values(
    canvas: Canvas, curves: pd.DataFrame, spec: Curve, area: Table, enrichment: Any
) -> None:
    """Write each measure's area and interval, or its lift at given fractions, in the key."""
    if area is not None and spec.area:
        rows = table_of(area, "measure area", "area")
        known = "ci_low" in rows and rows["ci_low"].notna().any()
        width = float((rows["ci_high"] - rows["ci_low"]).median()) if known else 0.04
        digits = max(2, digits_for(width))
        areas = rows.set_index("measure")["area"]
        canvas.values(spec.area, {name: number(value, digits) for name, value in areas.items()})
        if known:
            limits = zip(rows["measure"], rows["ci_low"], rows["ci_high"], strict=True)
            header = interval_header(rows.attrs.get("level"))
            canvas.values(header, {n: interval_text(a, b, digits) for n, a, b in limits})
            canvas.tell(f"{spec.area}: {interval_kind(rows.attrs, 'separately for each measure')}.")
    if enrichment is not None and spec.y == "lift":
        shares = np.atleast_1d(np.asarray(enrichment, dtype=float))
        if np.any((shares <= 0.0) | (shares > 1.0)):
            raise ValueError(
                f"enrichment={enrichment!r}: pass shares in (0, 1], as in [0.01, 0.05]."
            )
        for share in shares:
            long = curves[curves["share"] >= share - 1e-9].sort_values("n")
            values = long.groupby("measure", sort=False, dropna=False)["lift"].first()
            header = f"at {percent_of(float(share))}"
            canvas.values(header, {name: f"{value:.3g}" for name, value in values.items()})
            canvas.upright(float(share), name=f"_{header}")


def _draw_chance(
    canvas: Canvas, curves: pd.DataFrame, spec: Curve, fields: str, *, linear: bool
) -> None:
    """Draw and label the mean of random rankings."""
    x = np.sort(curves[spec.x].dropna().unique())
    if not x.size:
        return
    if len(x) > 4000:
        x = x[np.unique(np.geomspace(1, len(x), 4000).astype(int)) - 1]
    y = _mean_of_chance(spec, x, curves)
    canvas.guide(x, y, "random order")
    canvas.tell("Gray line: mean over random orders.")
    if spec.chance == "diagonal" and linear:
        look: dict[str, Any] = {"rotation": 45, "rotation_mode": "anchor", "va": "top"}
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
            needed, made_by = f"p n {spec.x} {spec.y}", f"random_band for {spec.y}"
            tables.append(table_of(band, needed, made_by))
    tables.sort(key=lambda table: not table.attrs.get("simultaneous"))
    named = ""
    for key, rows in [group for table in tables for group in table.groupby("p", sort=False)]:
        p = float(str(key))
        bound = rows.attrs.get("bound", "critical")
        kind, scope, line, width = "", "", "hairline", HAIR
        if bound != "critical":
            kind = f" ({bound} bound, not a test at level p)"
        if rows.attrs.get("simultaneous"):
            scope, line, width = "at every n", "line", THIN
        elif "simultaneous" in rows.attrs:
            scope = "at any single n"
        rows = thin_table(rows)
        x, y = rows[spec.x], rows[spec.y]
        label = f"chance {rate_text(p)} {scope}".strip()
        orders = f"{most_text(p)} of random orders"
        if not named:
            canvas.field(x, _mean_of_chance(spec, x, curves), y, label)
            named = orders
            said = f"Gray area (chance): {named} stay within the area {scope}{kind}."
            canvas.tell(said.replace(" .", "."))
        else:
            canvas.guide(x, y, label, width, **canvas.look.band(zorder=1.04))
            canvas.tell(f"Gray {line} (chance): {orders} stay below the line {scope}{kind}.")
    return named


def _prior(curves: pd.DataFrame) -> float:
    """Compute N+ / N from the smallest steps of the rate (1 / N+) and the fraction (1 / N)."""
    if curves.attrs.get("ties") not in ("shared", "error", "best", "worst"):
        return np.nan  # inside a tie, a step is not exactly one true positive
    rates = np.unique(curves["tpr"].dropna().to_numpy(dtype=float))
    steps = np.diff(rates)
    steps = steps[steps > 1e-12]
    if not steps.size:
        return np.nan
    first = curves[(curves["share"] > 0) & (curves["n"] > 0)].iloc[0]
    total = float(first["n"] / first["share"])
    return float(round(1.0 / steps.min()) / total)


def _draw_f_scores(canvas: Canvas, f_scores: float | Sequence[float]) -> None:
    """Draw lines of equal F1, with the value of F1 at the edge of the panel."""
    asked = np.atleast_1d(np.asarray(f_scores, dtype=float))
    if np.any((asked <= 0.0) | (asked >= 1.0)):
        raise ValueError(f"f_scores={f_scores!r}: pass F1 values in (0, 1), as in [0.2, 0.4].")
    ax = canvas.ax
    outside = Ink.of(ax, outside=True)
    for value in asked:
        recall = np.linspace(value / (2.0 - value) + 1e-6, 1.0, 200)
        precision = value * recall / (2.0 * recall - value)
        inside = precision <= min(1.0, ax.get_ylim()[1])
        canvas.guide(recall[inside], precision[inside], f"_F1 = {value:g}", HAIR)
        if inside.any() and precision[-1] >= ax.get_ylim()[0]:
            end = (1.0, float(precision[-1]))
            write(ax, f"F1 {value:g}", end, (3, 0), va="center", color=outside.note)


_SHAPES = "os^Dv"  # markers, one for each p
_APART = 16.0  # minimum distance in points between two readable labels


def _draw_crossovers(
    canvas: Canvas, crossovers: pd.DataFrame, curves: pd.DataFrame, spec: Curve
) -> None:
    """Mark the first list on each measure's curve that beats chance at each p."""
    runs = table_of(crossovers, "measure p n_first", "crossovers")
    first = runs.drop_duplicates(["measure", "p"])
    strangers = sorted(set(map(str, runs["measure"])) - set(map(str, curves["measure"])))
    if strangers:
        raise ValueError(
            f"crossovers contains measures without a curve: {', '.join(strangers)}. Pass"
            " crossovers for the measures in the plot."
        )
    levels = list(first["p"].drop_duplicates())
    scale = 72.0 / canvas.ax.figure.dpi
    written: list[Any] = []
    for measure, p, n in first[["measure", "p", "n_first"]].itertuples(index=False):
        here = curves[(curves["measure"] == measure) & (curves["n"] == n)]
        if here.empty:
            continue
        point = float(here[spec.x].iloc[0]), float(here[spec.y].iloc[0])
        color = canvas.color(measure)
        look: dict[str, Any] = {"marker": _SHAPES[levels.index(p) % len(_SHAPES)], "markersize": 6}
        look |= {"markerfacecolor": canvas.ink.bg, "label": f"_crossover, p ≤ {p:g}", "zorder": 4}
        canvas.dots(*point, color, name=measure, **look)
        with np.errstate(divide="ignore"):
            place = scale * canvas.ax.transData.transform(point)
        if canvas.stands_out(measure) and all(np.hypot(*(place - x)) >= _APART for x in written):
            written.append(place)
            write(canvas.ax, f"n = {int(n):,}", point, (7, -9), color=canvas.ink.text(color))
    p_values = ", ".join(map(rate_text, levels))
    canvas.tell(f"Open marks: the first of 2 successive lists above chance ({p_values}).")


# ---- Plots of curves over all cutoffs, from data or a table

_CURVES: dict[str, Callable[..., Any]] = {space: getattr(shapes, space) for space in shapes.SPACES}
_DRAW: dict[str, Callable[..., Axes]] = {}


def _drawn(space: str) -> Callable[[Picture], Picture]:
    """Draw a kind of curve, from data or a table."""
    spec, needed = CURVES[space], " ".join(["measure n", *shapes.SPACES[space]])
    curve = panels.picture(
        f"measure n {spec.x} {spec.y}", space, size=_squarely if spec.square else None
    )
    _DRAW[space] = curve(partial(_draw_curves, spec))
    return panels.of_data_or_table(_DRAW[space], needed, _CURVES[space])


@_drawn("roc")
def roc(data: Data, *, area: bool = True, **options: Unpack[CurvePlot]) -> Axes:
    """Draw ROC curves, optionally with chance bounds, crossovers and isolines.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.roc` for one group. In the latter case, ``bands``, ``isolines`` and
        ``crossovers`` must also be results, from :func:`rankeval_pd.random_band` (or a list of such
        results), :func:`rankeval_pd.isolines` and :func:`rankeval_pd.crossovers`.
    bands : float or sequence of float, optional
        Levels p at which to draw the bounds for random rankings; see
        :func:`rankeval_pd.random_band`.
    isolines : int or sequence of int, optional
        Sizes n of lists. All lists of size n lie on a thin line.
    simultaneous : bool
        Whether to also draw ``bands`` that are simultaneous over all n.
    bound : {"critical", "discrete", "interpolated", "parametric"}
        Kind of bound to draw for ``bands``.
    crossovers : bool
        Whether to mark the first list of each measure that beats chance at the levels in ``bands``.
    interval : {None, "pointwise", "simultaneous"}
        Option for data: kind of confidence limits to draw; see :func:`rankeval_pd.roc`.
    level : float
        Option for data: confidence level of the limits.
    log : bool
        Whether the axes are logarithmic. Logarithmic axes enlarge the top of the ranking.
    area : bool
        Whether the key shows the area and its interval from :func:`rankeval_pd.area`. If
        ``data`` is a table, pass the result of ``area``.
    **look

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
    return _draw_space("roc", data, options, area="roc" if area else None)


@_drawn("precision_recall")
def precision_recall(
    data: Data, *, area: bool = True, f_scores: Levels = (), **options: Unpack[CurvePlot]
) -> Axes:
    """Draw precision over recall.

    Parameters
    ----------
    data : DataFrame or Dataset
        As in :func:`roc`, or the result of :func:`rankeval_pd.precision_recall` for one group.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool
        Whether the recall axis is logarithmic.
    area : bool
        Option for data: whether the key shows the average precision from :func:`rankeval_pd.area`.
    f_scores : float or sequence of float
        Values of F1. A thin line connects all lists with the same F1.
    **look

    Notes
    -----
    Each line is the step function for a measure, without interpolation. The gray line is the
    precision of a random order. Each thin line connects lists with the same F1, which is written
    on the right. With ``isolines``, thin lines also connect lists of the same size n. The key
    shows the average precision. If n exceeds 2,000, lists shorter than 10 are omitted.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.precision_recall().get_ylabel()
    'precision'
    """
    kind: AreaKind | None = "ap" if area else None
    return _draw_space("precision_recall", data, options, area=kind, drawn={"f_scores": f_scores})


@_drawn("det")
def det(data: Data, **options: Unpack[CurvePlot]) -> Axes:
    """Draw detection error trade-off (DET) curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        As in :func:`roc`, or the result of :func:`rankeval_pd.det` for one group.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool, optional
        Whether the axes are logarithmic (True) or linear (False). By default, the axes have
        normal-deviate scales, so normally distributed scores give a straight line.
    **look

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
    return _draw_space("det", data, options)


@_drawn("lift")
def lift(
    data: Data,
    n: ListSizes | Literal["deciles"] = None,
    *,
    enrichment: Levels | None = None,
    **options: Unpack[CurvePlot],
) -> Axes:
    """Draw lift against the fraction of candidates.

    Parameters
    ----------
    data : DataFrame or Dataset
        As in :func:`roc`, or the result of :func:`rankeval_pd.lift` for one group.
    n : int, float, sequence, range or "deciles", optional
        Option for data: sizes of lists, or fractions of the candidates; see
        :func:`rankeval_pd.lift`.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool, optional
        Whether the x axis is logarithmic. By default, the axis is logarithmic for more than 1,000
        candidates.
    enrichment : float or sequence of float, optional
        Fractions of the candidates to mark with thin lines. The key shows each measure's
        enrichment factor, which is the lift of the smallest list with this fraction.
    **look

    Notes
    -----
    Each line shows the precision of a measure's lists relative to a random order. The gray line at
    1 represents a random order, and vertical lines mark the fractions in ``enrichment``. If n
    exceeds 2,000, lists shorter than 10 are omitted.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.lift().get_ylabel()
    'lift (random order = 1)'
    """
    return _draw_space("lift", data, options, n=n, drawn={"enrichment": enrichment})


@_drawn("gain")
def gain(
    data: Data, n: ListSizes | Literal["deciles"] = None, **options: Unpack[CurvePlot]
) -> Axes:
    """Draw recall against the fraction of candidates.

    Parameters
    ----------
    data : DataFrame or Dataset
        As in :func:`roc`, or the result of :func:`rankeval_pd.gain` for one group.
    n : int, float, sequence, range or "deciles", optional
        Option for data, as in :func:`rankeval_pd.gain`.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool
        Whether the x axis is logarithmic.
    **look

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
    return _draw_space("gain", data, options, n=n)


def _draw_space(
    space: Space,
    data: Any,
    options: Mapping[str, Any],
    *,
    area: AreaKind | None = None,
    drawn: Mapping[str, Any] | None = None,
    **asked: Any,
) -> Axes:
    """Compute and draw the curve and its reference lines."""
    chance = {name: options.get(name, default) for name, default in CHANCE.items()}
    p, iso, bound = chance["bands"], chance["isolines"], chance["bound"]
    check_choice("bound", bound, get_args(Bound))
    if p is None and chance["crossovers"]:
        raise ValueError(
            "crossovers=True needs one or more significance levels. Pass them as bands, such as"
            " bands=0.05."
        )
    look, roles = panels.parted({name: x for name, x in options.items() if name not in CHANCE})
    beside: dict[str, Any] = {}
    drawn_from: Any = {**roles, "pool": "all"}  # a single band for all curves
    with one_reading():
        limited = {name: chance[name] for name in ("interval", "level")}
        curve = _CURVES[space](data, **asked, **limited, **roles)
        if p is not None:
            sizes = panels.seen_of(data, None, roles)
            if sizes is not None:
                few = panels.shown(
                    curve[curve["n"] > 0] if isinstance(curve, pd.DataFrame) else curve
                )
                sizes = [n for n in few if n]
            beside["bands"] = [random_band(data, space, p, sizes, bound=bound, **drawn_from)]
            if chance["simultaneous"]:
                together = random_band(data, space, p, sizes, simultaneous=True, **drawn_from)
                beside["bands"].append(together)
            if chance["crossovers"]:
                beside["crossovers"] = crossovers(data, p, bound=bound, **drawn_from)
        if iso is not None:
            beside["isolines"] = isolines(data, iso, space, **roles)
        if space == "gain" and np.max(np.asarray(curve["n"]), initial=0) > 0:
            ungrouped: Any = {**drawn_from, "groups": None}
            beside["ideal"] = random_bound(data, 0.5, 1, **ungrouped)
        if area is not None:
            beside["area"] = area_of(data, area, **roles)
    return _DRAW[space](curve, **beside, **(drawn or {}), log=chance["log"], **look)
