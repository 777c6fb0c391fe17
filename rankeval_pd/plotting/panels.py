"""Tables for plots, panels for groups, and the keywords of plots."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.doors import frame_of, read_frame
from rankeval_pd.errors import argument_check, checked_call, held, hushed, no_table
from rankeval_pd.lists.precision import nbest_precision
from rankeval_pd.options import (
    FILLED,
    LONG_ROLES,
    Capabilities,
    as_written,
    in_wide_form,
    settings,
    unbound,
    with_roles_and,
)
from rankeval_pd.plotting.canvas import XLABELS, Canvas, name_figure, shared_legend, some
from rankeval_pd.plotting.look import LARGE_RATIO, Keywords, cut_text, escaped, font, panel_size
from rankeval_pd.plotting.look import Look as Look_of_look
from rankeval_pd.roles import (
    MEANINGS,
    AdjustOver,
    Alternative,
    AnyRoles,
    AreaKind,
    Bound,
    CalibrationInterval,
    CurveInterval,
    Event,
    FamilyAdjustment,
    Form,
    ItemRoles,
    LawMethod,
    ProportionInterval,
    RankingRoles,
    RegionTest,
    Roles,
    Target,
    measures_of,
)
from rankeval_pd.tables import listed_in, rows_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# -------------------------------------------------------------------------------------------------
# Functions that read and check tables for plots, and thin them to the visible points.

LARGE = 20_000  # number of candidates above which a plot omits some list sizes
_POINTS = 4000  # number of values of n that are then computed
_BAND_POINTS = 2000  # largest number of values of n in a band that is based on draws
_INNER = ("pair", "cut", "row")  # dimensions in results that are not groups
REFERENCES = ("random", "ideal")


def tidy(table: pd.DataFrame | xr.Dataset, needed: str, made_by: str) -> pd.DataFrame:
    """Return the table as a tidy DataFrame, with groups and batch dimensions first."""
    if isinstance(table, xr.Dataset):
        names, frame = needed.split(), rows_in(table)
        inner = (*names, *_INNER, "measure", "n", "p", "alpha", "system")
        batch = [d for d in table.dims if d not in inner]
        named = [d for d in table.dims if d in names]
        if "row" not in table.dims:
            order = dict.fromkeys([*batch, *named, *names, *frame])
            frame = frame[[name for name in order if name in frame]]
        frame.attrs = dict(table.attrs)
        table = frame
    if not isinstance(table, pd.DataFrame):
        raise no_table("table", table, f"the result of {made_by}")
    lacking = lacking_in(table, needed)
    if lacking:  # a short table, or a table from another method
        raise ValueError(
            f"table has no columns {', '.join(lacking)}: pass the result of {made_by} with"
            " details=True."
        )
    return table


def lacking_in(table: pd.DataFrame | xr.Dataset, needed: str) -> list[str]:
    """Return the columns that a table does not have."""
    names = {*(table.variables if isinstance(table, xr.Dataset) else table.columns)}
    return [*filterfalse(names.__contains__, needed.split())]


def groups_of(table: pd.DataFrame, needed: str) -> list[Any]:
    """Return the group columns, which come before the table's own columns."""
    groups: list[Any] = []
    for name in table.columns:
        if name in needed.split():
            return groups
        if name not in _INNER:
            groups.append(name)
    return []


def table_of(table: pd.DataFrame | xr.Dataset, needed: str, made_by: str) -> pd.DataFrame:
    """Check the columns and return a tidy DataFrame with one group."""
    table = tidy(table, needed, made_by)
    groups = groups_of(table, needed)
    count = len(table.drop_duplicates(groups or None))
    if groups and count > 1:
        raise ValueError(
            f"table has {count} groups of {groups}, but the accompanying table has different"
            " groups. Pass results for the same data."
        )
    return table


def by_name(table: pd.DataFrame, column: Any = "measure") -> dict[Any, pd.DataFrame]:
    """Return the rows for each name, including a missing name, in order of n."""
    parts: dict[Any, pd.DataFrame] = {}
    for name, rows in table.groupby(column, sort=False, dropna=False):
        parts[name] = rows
        if not rows["n"].is_monotonic_increasing:
            parts[name] = rows.sort_values("n", kind="stable")
    return parts


def by_n(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the table, grouped by n or metric if that column has several values."""
    asked = next((column for column in ("n", "metric") if column in table), None)
    if asked is None:
        return table
    columns, attrs = [*table.columns.drop(asked)], dict(table.attrs)
    if len(table[asked].unique()) > 1:
        columns.insert(columns.index(name), asked)
        if asked == "metric":
            attrs[asked] = ""
    else:
        attrs[asked] = table[asked].iloc[0] if len(table) else None
    result = table[columns]
    result.attrs = attrs
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
    if len(n) > _BAND_POINTS:
        n = n[some(len(n), _BAND_POINTS)]
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
    if x == "recall":
        return tidy(curve, "recall", "nbest_precision for x='recall'")["recall"]
    total, _ = totals_of(curve)
    share: pd.Series[Any] = curve["n"] / total
    return share


def totals_of(table: pd.DataFrame) -> tuple[float, float]:
    """Return the numbers of candidates and true positives; NaN if unknown.

    Both follow from recall = tp / N+ and precision / lift = N+ / N if there are true positives.
    """
    tidy(table, "recall", "nbest_precision")
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
    return [*map(float, shares.drop_duplicates())]


# -------------------------------------------------------------------------------------------------
# Axes, look and line names for a single plot or for one panel per group.

MOST = 24  # largest readable number of panels
_PANEL = (3.1, 2.5)  # size in inches
_NAMES = ("measure", "measure_a", "measure_b")


def picture(
    needed: str,
    made_by: str,
    *,
    own: str = "",
    size: Callable[[pd.DataFrame], tuple[float, float]] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Axes]]:
    """Make a function that draws one group on a canvas draw a table, with one panel per group.

    ``own`` names the axes ("x", "y" or both) that the panels do not share, because the order of the
    names on their ticks differs between groups. ``size`` returns the size of a new figure for a
    table with one group. The new function also takes the keywords shared by all plots.
    """

    def decorate(draw: Callable[..., Any]) -> Callable[..., Axes]:
        @functools.wraps(draw)
        def drawn(table: Any, *beside: Any, **options: Any) -> Any:
            ax, wrap, look, options = looks(options)
            whole = tidy(table, needed, made_by)
            names: dict[Any, None] = {}
            for column in _NAMES:
                if column in whole:
                    names |= dict.fromkeys(whole[column].dropna().unique())
            look.check_names(list(names) or look.highlighted)
            order = dict.fromkeys([*look.order, *listed_in(whole.attrs, "order"), *names])
            look = replace(look, order=[*order])
            groups = groups_of(whole, needed)
            keys: list[Any] = []
            if groups:
                keys = [key for _, key in _columns(whole, groups).drop_duplicates().iterrows()]
            alone = len(keys) <= 1
            if not alone:
                panels = panels_of(ax, wrap, groups, keys, own)
            elif ax is None:
                panels, keys = grid_of(1, 1, size and size(whole)), [None]
            else:
                panels, keys = given_axes(ax), [None]
                if panels.size != 1:
                    raise ValueError(
                        f"ax has {panels.size} Axes for one panel. Pass a single Axes."
                    )
            canvases: list[Canvas] = []
            for panel in panels:  # before other panels share the figure
                canvases.append(Canvas(panel, look, alone=alone))
            for canvas, key in zip(canvases, keys, strict=True):
                tables = _parts([whole, *beside], groups, key)
                more = _parts(options.values(), groups, key)
                try:
                    draw(canvas, *tables, **dict(zip(options, more, strict=True)))
                except Exception as error:
                    if ax is None:
                        import matplotlib.pyplot as plt

                        plt.close(canvas.ax.figure)
                    look.blame(error)
                    raise
                if not alone:  # the group above its panel
                    size_of_key = font(canvas.ax, "label")
                    text = escaped(", ".join(f"{group} = {x}" for group, x in key.items()))
                    text = cut_text(text, size_of_key, panel_size(canvas.ax)[0])
                    canvas.ax.set_title(text, fontsize=size_of_key)
            if alone:
                return panels[0]
            end(canvases, look, ours=ax is None)
            return panels

        return cast("Callable[..., Axes]", drawn)

    return decorate


def looks(options: Mapping[str, Any]) -> tuple[Any, int | None, Look_of_look, dict[str, Any]]:
    """Check the keywords shared by all plots, and return the other options, too."""
    shared, rest = parted(options)
    ax, wrap = shared.pop("ax", None), shared.pop("col_wrap", None)
    look = Look_of_look(**shared)
    if ax is not None:
        given_axes(ax)
    return ax, wrap, look, rest


def _parts(tables: Iterable[Any], groups: list[Any], key: pd.Series[Any] | None) -> list[Any]:
    """Return the rows of tables for one group; other objects stay as they are."""
    parts = []
    for table in tables:
        if isinstance(table, xr.Dataset):
            table = tidy(table, "", "")
        if isinstance(table, list | tuple):
            table = type(table)(_parts(table, groups, key))
        elif isinstance(table, pd.DataFrame) and key is not None and {*groups} <= {*table}:
            chosen = (_columns(table, groups) == key.array).all(axis=1)
            attrs, table = dict(table.attrs), table[chosen].drop(columns=groups)
            table.attrs = attrs
        parts.append(table)
    return parts


def _columns(table: pd.DataFrame, names: list[Any]) -> pd.DataFrame:
    """Return columns by name; the names can also be True or False."""
    places = [table.columns.get_loc(name) for name in names]
    return table.take(cast("list[int]", places), axis=1)


def given_axes(ax: Any) -> np.ndarray[Any, Any]:
    """Return the given Axes as an array; raise an error for unsuitable Axes."""
    from matplotlib.axes import Axes

    given = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    for one in given:
        if not isinstance(one, Axes):
            raise TypeError(
                f"ax={one!r} is of type {type(one).__name__}: pass an Axes, such as plt.gca() or"
                " the second value of plt.subplots(), or an array of Axes."
            )
        if "top" not in one.spines or one.name == "3d":
            raise ValueError(
                f"ax is a {one.name} Axes, but this plot needs rectilinear axes. Pass Axes made"
                " without projection=."
            )
    return given


def panels_of(
    ax: Any, wrap: int | None, groups: Sequence[Any], keys: Sequence[Any], own: str
) -> np.ndarray[Any, Any]:
    """Return the given Axes, or the Axes of a new figure; all scales except ``own`` are shared."""
    count = wide = len(keys)
    if count > MOST:
        first = keys[0][groups[0]]
        raise ValueError(
            f"there are {count} groups of {', '.join(map(str, groups))}, but a figure has at most"
            f" {MOST} panels. Choose groups: data[data[{groups[0]!r}].isin([{first!r}, ...])], or"
            f" for a Dataset data.sel({groups[0]}=[...]), or draw a table for all groups."
        )
    if ax is not None:
        return given_panels(ax, count, "groups")
    if wrap is not None and (isinstance(wrap, bool) or int(wrap) < 1):
        raise ValueError(f"col_wrap={wrap!r}: pass the number of panels in a row, 1 or more.")
    if wrap:
        wide = min(count, int(wrap))
    elif count > 3:
        wide = int(np.ceil(count**0.5))
    rows = -(-count // wide)
    size = (_PANEL[0] * wide, _PANEL[1] * rows + 0.5)
    fresh = grid_of(count, wide, size, sharex="x" not in own, sharey="y" not in own)
    if own:  # room for names next to the following panel
        fresh[0].figure.get_layout_engine().set(w_pad=0.12)
    for over in fresh[count - wide : (rows - 1) * wide]:  # nothing below
        over.xaxis.set_tick_params(which="both", labelbottom=True)
    return fresh


def given_panels(ax: Any, count: int, what: str) -> np.ndarray[Any, Any]:
    """Return the given Axes, one per panel."""
    given = given_axes(ax)
    if given.size != count:
        raise ValueError(f"ax has {given.size} Axes for {count} {what}. Pass one Axes for each.")
    return given


def grid_of(
    count: int, wide: int, size: tuple[float, float] | None, **shared: bool
) -> np.ndarray[Any, Any]:
    """Return this many Axes of a new figure."""
    import matplotlib.pyplot as plt

    rows = -(-count // wide)
    look: dict[str, Any] = {"figsize": size, "layout": "constrained", **shared}
    figure, fresh = plt.subplots(rows, wide, squeeze=False, **look)
    for spare in fresh.ravel()[count:]:
        figure.delaxes(spare)
    return np.asarray(fresh.ravel()[:count])


def end(canvases: Sequence[Canvas], look: Look_of_look, *, ours: bool) -> None:
    """Write the line names of all panels once, and label only the outer axes."""
    panels = [canvas.ax for canvas in canvases]
    figure: Any = panels[0].figure
    if ours:  # axis labels along the left and bottom edges only
        specs = [panel.get_subplotspec().get_topmost_subplotspec() for panel in panels]
        tops = {(spec.rowspan.start, spec.colspan.start) for spec in specs}
        for panel, spec in zip(panels, specs, strict=True):
            if not spec.is_first_col():
                panel.set_ylabel("")
            if (spec.rowspan.stop, spec.colspan.start) in tops:
                panel.set_xlabel("")
    if look.title is not None and ours:
        figure.suptitle(look.title, fontsize=font(panels[0], "label") + 1.0)
    if look.legend is not None or look.labels_at == "legend":
        if look.legend is not False:
            shared_legend(figure)
        return
    if not ours or any(canvas.headers for canvas in canvases):
        for canvas in canvases:
            canvas.name()
        return
    every = [x for canvas in canvases for x in canvas.finished() if not x.muted or x.reference]
    found = {x.text: x for x in sorted(every, key=lambda x: x.reference)}
    if found:
        name_figure(panels, list(found.values()))


# -------------------------------------------------------------------------------------------------
# Keywords for all plots, and the choice between data and a finished table.

Drawable = pd.DataFrame | xr.Dataset
Levels = float | Sequence[float]
Picture = TypeVar("Picture", bound=Callable[..., Any])


class Look(TypedDict, total=False):
    """Keywords for all plots."""

    ax: Axes | Any
    legend: bool | Literal["outside", "figure"] | None
    colors: Any
    labels: Mapping[Any, str] | None
    labels_at: Literal["end", "key", "legend"] | None
    highlight: Any
    title: str | None
    col_wrap: int | None
    line_kw: Keywords
    band_kw: Keywords
    marker_kw: Keywords


class Chance(TypedDict, total=False):
    """Keywords for reference lines next to a curve over all cutoffs."""

    bands: Levels | None
    isolines: int | Sequence[int] | None
    simultaneous: bool
    bound: Bound
    crossovers: bool
    interval: CurveInterval | None
    level: float
    log: bool | None


class RankTests(TypedDict, total=False):
    """Keywords for the tests that compare systems."""

    n_resamples: int | None
    adjust_over: AdjustOver
    alpha: float
    level: float


class PairTests(RankTests, total=False):
    """Keywords for the pairwise tests that compare systems."""

    ci: Any
    event: Event
    method: LawMethod
    families: Any
    baseline: Hashable


class RankingPlot(RankingRoles, Look, total=False):
    """Keywords for plots of rankings."""


class LevelPlot(RankingPlot, total=False):
    """Keywords for plots of rankings with intervals of one kind."""

    level: float


class PrecisionPlot(RankingPlot, total=False):
    """Keywords for plots of precision."""

    ci: ProportionInterval
    target: Target
    phi: float


class SamplePlot(LevelPlot, total=False):
    """Keywords for plots of repeated samples."""

    ci: ProportionInterval


class ComparisonPlot(LevelPlot, total=False):
    """Keywords for plots of comparisons."""

    test: RegionTest | None
    alternative: Alternative
    target: Target


class MeasurePlot(LevelPlot, total=False):
    """Keywords for plots of measure ranks."""

    kind: AreaKind | None
    adjust: FamilyAdjustment | None
    n_resamples: int | None


class CurvePlot(RankingRoles, Look, Chance, total=False):
    """Keywords for plots of curves over all cutoffs."""


class ItemPlot(ItemRoles, Look, total=False):
    """Keywords for plots that compare systems on test items."""


class CalibrationPlot(ItemPlot, total=False):
    """Keywords for plots of gains on other items."""

    bins: Sequence[float]
    ci: CalibrationInterval
    level: float
    n_resamples: int


class RankPlot(ItemRoles, Look, RankTests, total=False):
    """Keywords for plots of system ranks."""


class PairPlot(ItemRoles, Look, PairTests, total=False):
    """Keywords for plots of pairwise tests between systems."""


class GainPlot(PairPlot, total=False):
    """Keywords for plots of gains."""

    adjust: FamilyAdjustment | None


class AnyPlot(AnyRoles, Look, PairTests, total=False):
    """Keywords for plots of pairwise tests between systems or between measures."""


UNLESS_GIVEN: dict[str, Any] = dict.fromkeys(Look.__annotations__)  # of the shared keywords

CHANCE: dict[str, Any] = dict.fromkeys(Chance.__annotations__)
CHANCE |= {"simultaneous": True, "bound": "critical", "crossovers": False, "level": 0.95}

# documentation of the shared keywords
SHARED = """    ax : Axes or array of Axes, optional
        The axes to draw on. By default, a new figure is created. Pass one Axes per group. The
        layout of an existing figure is kept. With ``layout="constrained"``, names are placed
        beside or above the axes. Without a layout engine, names are placed inside the axes.
    legend : bool, "outside" or "figure", optional
        The kind of legend. True draws an ordinary legend, "outside" a legend on the right, and
        "figure" one legend below the figure (:func:`rankeval_pd.plotting.shared_legend`). False
        omits all names. By default, names are written as ``labels_at`` specifies.
    colors : mapping, list or str, optional
        A mapping from names to colors, a cycle of colors, or the name of a palette in matplotlib
        or seaborn. The default is the style's ``axes.prop_cycle`` if set, otherwise a cycle for
        color-blind readers. A color depends on the position of a name among all names in the data.
    labels : mapping, optional
        Labels for names, such as ``{"G2": "log-likelihood"}``. Labels can contain mathematical
        text; names are shown literally.
    labels_at : {"end", "key", "legend"}, optional
        Where to write names: at the ends of lines, in a key inside the axes, or in a legend. The
        default depends on the available space.
    highlight : name or sequence of names, optional
        Names to draw in color; all others are gray. The default is all names if there are at
        most six, otherwise the best three.
    title : str, optional
        Title of the axes, or of the figure if there are groups.
    col_wrap : int, optional
        Number of panels in a row if there are groups.
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of matplotlib for lines (``Axes.plot``), for bands and interval bars
        (``Axes.fill_between``, ``Axes.vlines``), and for dots and other marks. To change single
        names, pass a mapping from names to such mappings.
    **roles
        Column roles, if you pass data.
"""
RESULT = "\n    Returns\n    -------\n    Axes\n"  # of a plot without this section


def parted(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keywords for the plot and the keywords for the computation."""
    look, asked = {}, dict(options)
    for name in (*UNLESS_GIVEN, "order"):
        if name in asked:
            look[name] = asked.pop(name)
    return look, asked


def roles_in(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the column roles among the keywords for the computation."""
    return {name: given for name, given in asked.items() if name in MEANINGS}


def of_data_or_table(
    draw: Callable[..., Any],
    needed: str,
    method: Callable[..., Any],
    *,
    made_by: str = "",
    forms: Sequence[Form] = ("rankings",),
    clusters: bool = True,
) -> Callable[[Picture], Picture]:
    """Make a plot function public, which then also accepts a finished table.

    The function ``draw`` draws the table and has the same plot keywords, with tables in place of
    the options for data. The columns ``needed`` identify a table of the ``method``, whose options
    have the same defaults in the plot. ``made_by`` names another function that returns the table.
    """
    made_by = made_by or method.__name__
    defaults = dict(CHANCE)
    for name, parameter in inspect.signature(method).parameters.items():
        if name not in MEANINGS:
            defaults[name] = parameter.default

    def decorate(picture: Picture) -> Picture:
        text = as_written(picture.__doc__)
        result = "" if "    Returns\n" in text else RESULT
        picture.__doc__ = text.replace("    **look\n", SHARED + result)
        check, check_data = argument_check(picture), argument_check(picture, 1)
        with_roles_and({**defaults, **UNLESS_GIVEN})(picture)

        @functools.wraps(picture)
        def drawn(
            *args: Any, details: bool | None = None, progress: bool | None = None, **options: Any
        ) -> Any:
            choices = settings(details, progress)
            args, options = unbound(args, options)
            check_data(args, options)  # a finished table needs no other arguments
            if not LONG_ROLES.isdisjoint(options):
                args, options = in_wide_form(args, options)
            data, *others = args or [options.pop("data")]
            if not isinstance(data, Drawable):
                wanted = f"a DataFrame or a Dataset, the data or the result of {made_by}"
                raise no_table("data", data, wanted)
            lacking = lacking_in(data, needed)
            if lacking and len(lacking) <= len(needed.split()) / 2:
                raise ValueError(
                    f"table has no columns {', '.join(lacking)}: pass the result of {made_by}, or"
                    " the data."
                )
            looks(options)
            takes = inspect.signature(picture if lacking else draw).parameters
            for name in FILLED:
                if name in choices and name in takes:
                    options.setdefault(name, choices[name])
            with held(details=choices["details"], progress=choices["progress"]):
                if lacking:
                    check((data, *others), options)
                    return picture(data, *others, **options, order=measures_of(data, options))
                for name, given in options.items():
                    if name in MEANINGS:
                        raise TypeError(
                            f"{name}={given!r} is a column role, but the table is a result of"
                            f" {made_by} and needs no roles. Omit {name}, or pass the data."
                        )
                return draw(data, *others, **options)

        headings: dict[str, Any] = dict.fromkeys(forms, "Pictures")
        drawn.capabilities = Capabilities(**headings, clusters=clusters)  # type: ignore[attr-defined]
        return cast(Picture, drawn)

    return decorate


def is_table(data: object, needed: str) -> bool:
    """Return whether these are the columns of a result table."""
    return isinstance(data, Drawable) and not lacking_in(data, needed)


def size_of(data: Drawable) -> int:
    """Return the number of rows, or the length of the longest dimension."""
    return len(data) if isinstance(data, pd.DataFrame) else max(data.sizes.values(), default=0)


def seen_of(data: Drawable, n: Any, roles: Mapping[str, Any]) -> Any:
    """Return the list sizes at which to compute a plot, by default all visible sizes."""
    if n is not None or size_of(data) <= LARGE:
        return n
    roles = roles_in(roles)
    if Roles.of(roles).ties == "error":  # lists must not split a block
        return n
    frame, named = frame_of(data, roles)
    groups = read_frame(frame, Roles.of(named))
    sizes = np.unique(groups.tally(groups.columns["present"]))
    return seen(sizes[sizes > 0].tolist())


def curves_of(data: Any, n: Any, **roles: Any) -> Any:
    """Return the precision of n-best lists, without the warning about intervals not drawn."""
    with hushed("target='region'"):
        return nbest_precision(data, n, **roles)
