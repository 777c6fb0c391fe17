"""Tables for plots, panels for groups, and the keywords of plots."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import filterfalse
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Unpack, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.doors import frame_of, read_frame
from rankeval_pd.errors import (
    AnyFunction,
    argument_check,
    check_kind,
    held,
    no_table,
    unknown_keyword,
)
from rankeval_pd.errors import shown as shown_text
from rankeval_pd.options import (
    FILLED,
    Capabilities,
    as_written,
    in_wide_form,
    settings,
    with_meanings,
)
from rankeval_pd.plotting.canvas import Canvas, name_figure, shared_legend, some
from rankeval_pd.plotting.look import (
    LARGE_RATIO,
    Record,
    cut_text,
    escaped,
    font,
    panel_size,
)
from rankeval_pd.plotting.look import Look as Look_of_look
from rankeval_pd.roles import (
    MEANINGS,
    Alternative,
    AnyRoles,
    AreaKind,
    CurveInterval,
    Event,
    FamilyAdjustment,
    Form,
    LawMethod,
    Roles,
    Target,
    measures_of,
)
from rankeval_pd.stats import AnyArray
from rankeval_pd.tables import Keywords, Options, listed_in, rows_in
from rankeval_pd.words.vocabulary import drawn_of, handled, side_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# -------------------------------------------------------------------------------------------------
# Functions that read and check tables for plots, and thin them to the visible points.

LARGE = 20_000  # number of candidates above which a plot omits some list sizes
_POINTS = 4000  # number of values of n that are then computed
_BAND_POINTS = 2000  # largest number of values of n in a band that is based on draws
_INNER = ("pair", "cut", "row")  # dimensions in results that are not groups


def tidy(table: Drawable, needed: str, made_by: str) -> pd.DataFrame:
    """Return the table as a tidy DataFrame, with groups and batch dimensions first."""
    if isinstance(table, xr.Dataset):
        names = needed.split()
        frame = rows_in(table)
        inner = (*names, *_INNER, "measure", "n", "p", "alpha", "system")
        batch = [d for d in table.dims if d not in inner]
        named = [d for d in table.dims if d in names]
        if "row" not in table.dims:
            order = dict.fromkeys([*batch, *named, *names, *frame])
            frame = frame[[name for name in order if name in frame]]
        frame.attrs = dict(table.attrs)
        table = frame
    check_kind("table", table, pd.DataFrame, f"the result of {made_by}")
    lacking = lacking_in(table, needed)
    if lacking:  # a short table, or a table from another method
        raise ValueError(
            f"table has no columns {', '.join(lacking)}: pass the result of {made_by} with"
            " details=True."
        )
    return table


def lacking_in(table: Drawable, needed: str) -> list[str]:
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


def table_of(table: Drawable, needed: str, made_by: str) -> pd.DataFrame:
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
    parts = {}
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
    columns = [*table.columns.drop(asked)]
    attrs = dict(table.attrs)
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


def shown(table: Drawable) -> list[int]:
    """Return the list sizes in the table, or evenly spaced ones if there are many."""
    n = np.unique(np.asarray(table["n"]))
    return [int(x) for x in n[some(len(n), _BAND_POINTS)]]


def is_log(log: bool | None, n: Any) -> bool:
    """Return whether the n axis is logarithmic, which is the default for a wide range."""
    if log is not None or not len(n):
        return bool(log)
    return float(np.max(n)) > LARGE_RATIO * max(float(np.min(n)), 1.0)


def positives_of(table: pd.DataFrame) -> float:
    """Return the number of true positives, n precision / recall; NaN if unknown."""
    told = table[(table["precision"] > 0) & (table["recall"] > 0)]
    found = told["n"] * told["precision"] / told["recall"]
    return float(found.iloc[0]) if len(found) else np.nan


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

#: plots of lines, of which several can share an Axes
SHARING = set(
    "precision random_bound random_cdf tie_sensitivity interpolated_precision roc precision_recall"
    " det lift gain".split()
)
MOST = 24  # largest readable number of panels
_PANEL = (3.1, 2.5)  # size in inches
_NAMES = ("measure", "measure_a", "measure_b")


def looks(options: Keywords) -> tuple[Any, Look_of_look, Options]:
    """Check the keywords shared by all plots, and return the other options, too."""
    rest = dict(options)
    shared = {name: rest.pop(name) for name in LOOK if name in rest}
    ax = shared.pop("ax", None)
    look = Look_of_look(**shared)
    if ax is not None:
        given_axes(ax)
    return ax, look, rest


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
            attrs = dict(table.attrs)
            table = table[chosen].drop(columns=groups)
            table.attrs = attrs
        parts.append(table)
    return parts


def _columns(table: pd.DataFrame, names: list[Any]) -> pd.DataFrame:
    """Return columns by name; the names can also be True or False."""
    places = [table.columns.get_loc(name) for name in names]
    return table.take(cast("list[int]", places), axis=1)


def given_axes(ax: Any) -> AnyArray:
    """Return the given Axes as an array."""
    from matplotlib.axes import Axes

    given = np.asarray(ax, dtype=object).ravel()
    for one in given:
        wanted = "an Axes, such as plt.gca() or the second value of plt.subplots(), or an array"
        check_kind("ax", one, Axes, wanted)
    return given


def panels_of(ax: Any, groups: Sequence[Any], keys: Sequence[Any], own: str) -> AnyArray:
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
    if count > 3:
        wide = int(np.ceil(count**0.5))
    rows = -(-count // wide)
    size = (_PANEL[0] * wide, _PANEL[1] * rows + 0.5)
    fresh = grid_of(count, wide, size, sharex="x" not in own, sharey="y" not in own)
    if own:  # room for names next to the following panel
        fresh[0].figure.get_layout_engine().set(w_pad=0.12)
    for over in fresh[count - wide : (rows - 1) * wide]:  # nothing below
        over.xaxis.set_tick_params(which="both", labelbottom=True)
    return fresh


def given_panels(ax: Any, count: int, what: str) -> AnyArray:
    """Return the given Axes, one per panel."""
    given = given_axes(ax)
    if given.size != count:
        raise ValueError(f"ax has {given.size} Axes for {count} {what}. Pass one Axes for each.")
    return given


def grid_of(count: int, wide: int, size: tuple[float, float] | None, **shared: bool) -> AnyArray:
    """Return this many Axes of a new figure."""
    import matplotlib.pyplot as plt

    rows = -(-count // wide)
    look: Options = {"figsize": size, "layout": "constrained", **shared}
    figure, fresh = plt.subplots(rows, wide, squeeze=False, **look)
    for spare in fresh.ravel()[count:]:
        figure.delaxes(spare)
    return fresh.ravel()[:count]


def end(canvases: Sequence[Canvas], look: Look_of_look, *, ours: bool) -> None:
    """Write the line names of all panels once, and label only the outer axes."""
    panels = [canvas.ax for canvas in canvases]
    figure = panels[0].figure
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
    if look.legend is not None:
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
# Plots take a table, or the arguments of the method that makes the table.

Drawable = pd.DataFrame | xr.Dataset
Levels = float | Sequence[float]
_Beside: Any = Drawable | list | tuple | None  # what can be drawn beside a table


class Look(TypedDict, total=False):
    """Keywords for all plots."""

    ax: Axes | Any
    legend: bool | None
    colors: Any
    labels: Mapping[Any, str] | None
    highlight: Any
    title: str | None


class PlotOptions(AnyRoles, Look, total=False):
    """Keywords of plots and of their methods, for type checkers."""

    a: Hashable
    b: Hashable
    n: Any
    p: Levels
    kind: AreaKind | None
    threshold: Any
    sizes: Sequence[int]
    other: Drawable
    level: float
    alpha: float
    ci: Any
    test: str | None
    alternative: Alternative
    margin: float | None
    adjust: FamilyAdjustment | Literal["auto"] | None
    adjust_over: str
    n_resamples: int | None
    of: str
    target: Target
    phi: float
    combine: bool
    interval: CurveInterval | None
    population: str
    pool: Any
    n_keys: int
    metrics: Any
    event: Event
    method: LawMethod
    families: Any
    baseline: Hashable
    skewness: bool
    bins: Sequence[float]
    undefined: str
    simultaneous: bool
    log: bool | None
    bands: Any
    isolines: Any
    crossovers: Any
    area: Drawable | None


class PublicPlot(Protocol):
    """Describe a plot to type checkers."""

    def __call__(self, data: Drawable, *args: Any, **options: Unpack[PlotOptions]) -> Axes:
        """Draw a table, or the data from which its method makes the table."""
        ...


LOOK = {
    name: inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind.__forward_arg__
    )
    for name, kind in Look.__annotations__.items()
}

# documentation of the shared keywords
SHARED = """    ax : Axes or array of Axes, optional
        The axes to draw on. By default, a new figure is created. Pass one Axes per group. The
        layout of an existing figure is kept. With ``layout="constrained"``, names are placed
        beside or above the axes. Without a layout engine, names are placed inside the axes. A
        second call draws lines in other colors: pass ``labels=`` to distinguish their names.
    legend : bool, optional
        True draws an ordinary legend, below the figure if there are groups. False omits all names.
        By default, names are written at the ends of lines, in a key, or above the panels.
    colors : mapping, list or str, optional
        A mapping from names to colors, a cycle of colors, or the name of a palette in matplotlib.
        The default is the style's ``axes.prop_cycle`` if set, otherwise a cycle for
        color-blind readers. A color depends on the position of a name among all names in the data.
    labels : mapping, optional
        Labels for names, such as ``{"G2": "log-likelihood"}``. Labels can contain mathematical
        text; names are shown literally.
    highlight : name or sequence of names, optional
        Names to draw in color; all others are gray. The default is all names if there are at
        most six, otherwise the best three.
    title : str, optional
        Title of the axes, or of the figure if there are groups.
    **roles
        Column roles, for data.
"""
_PARAMETERS = "    Parameters\n    ----------\n"
_AXES = "    Axes\n\n"  # what a plot without the section returns
_ENTRIES = re.compile(r"(?m)^    (\w+(?:, \w+)*)(?: :.*)?$")


@dataclass(frozen=True)
class Plot:
    """How to draw a table, and the method that makes the table from data."""

    #: draws one group: takes the canvas, the group's table, and tables beside it; keyword-only
    #: arguments are options of the plot
    draw: AnyFunction
    method: AnyFunction
    needed: str  #: the columns of the method's table
    #: makes the table and those beside it from data, if there are some; its keywords are options
    tables: AnyFunction | None = None
    highlights: bool = False  #: whether ``tables`` takes the highlighted names
    also: AnyFunction | None = None  #: a second method whose options ``tables`` takes
    prepared: Callable[[Any], pd.DataFrame] | None = None  #: changes the table before it is drawn
    made_by: str = ""  #: another function that makes the table
    #: whether ``draw`` makes its own panels, and takes the Axes and the look instead of a canvas
    whole: bool = False
    #: the axes ("x", "y" or both) that panels do not share, because the order of the names on their
    #: ticks differs between groups
    own: str = ""
    #: the size of a new figure for a table with one group
    size: Callable[[pd.DataFrame], tuple[float, float]] | None = None

    @property
    def maker(self) -> str:
        """The name of the function that makes the table."""
        return self.made_by or self.method.__name__

    @cached_property
    def beside(self) -> dict[str, inspect.Parameter]:
        """The named tables that can be drawn beside a table."""
        return self._drawn_as(inspect.Parameter.POSITIONAL_OR_KEYWORD)

    @cached_property
    def options(self) -> dict[str, inspect.Parameter]:
        """The plot's own options for drawing."""
        return self._drawn_as(inspect.Parameter.KEYWORD_ONLY)

    def _drawn_as(self, kind: Any) -> dict[str, inspect.Parameter]:
        drawn = [*inspect.signature(self.draw).parameters.values()][2:]  # canvas and table
        return {p.name: p.replace(kind=p.KEYWORD_ONLY) for p in drawn if p.kind is kind}

    @cached_property
    def asked(self) -> dict[str, inspect.Parameter]:
        """The arguments for data: those of the method, and of the functions for more tables."""
        asked = dict(inspect.signature(self.method).parameters)
        if self.also is not None:
            for name, p in inspect.signature(self.also).parameters.items():
                if p.kind is p.KEYWORD_ONLY:
                    asked.setdefault(name, p)
        if self.tables is not None:
            for name, p in inspect.signature(self.tables).parameters.items():
                if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and name not in LOOK:
                    asked[name] = p
        return asked

    def signature(self) -> inspect.Signature:
        """Return the signature, with the options of the plot and the arguments of the method."""
        every = {**self.asked, **self.beside, **self.options, **LOOK}
        order = sorted(every.values(), key=lambda p: (p.kind, p.name in MEANINGS))  # roles last
        return inspect.Signature(order, return_annotation="Axes")

    def docstring(self) -> str | None:
        """Return the docstring of ``draw``, with the options of the method and of all plots."""
        head, notes, after = as_written(self.draw.__doc__).partition("    Notes\n")
        head, _, result = head.partition("    Returns\n    -------\n")
        before, _, own = head.partition(_PARAMETERS)
        source = f":func:`rankeval_pd.{self.maker}`"
        if "." in self.maker:  # another plot
            source = f":func:`rankeval_pd.{self.method.__name__}`"
        if "    data :" not in own:
            words = f"The data for {source}, or its result."
            own = f"    data : DataFrame or Dataset\n        {words}\n{own}"
        named = {x for line in _ENTRIES.findall(own) for x in line.split(", ")}
        left = [x for x in self.asked if x not in {"data", *named, *MEANINGS}]
        entry = ""
        if left:
            entry = f"    {', '.join(left)}\n        Options of {source}.\n"
        parameters = f"{_PARAMETERS}{own.rstrip()}\n{entry}{SHARED}"
        returns = f"    Returns\n    -------\n{result or _AXES}"
        text = f"{before}{parameters}\n{returns}{notes}{after}"
        return with_meanings(text, {x: MEANINGS[x] for x in self.asked if x in MEANINGS})

    def is_result(self, data: object) -> bool:
        """Return whether the data are a table of the method, which has the needed columns."""
        wanted = f"a DataFrame or a Dataset, the data or the result of {self.maker}"
        if not isinstance(data, Drawable):
            raise no_table("data", data, wanted)
        lacking = lacking_in(data, self.needed)
        if lacking and len(lacking) <= len(self.needed.split()) / 2:
            raise ValueError(
                f"table has no columns {', '.join(lacking)}: pass the result of {self.maker} with"
                " details=True, or the data."
            )
        return not lacking

    def of_table(self, table: Any, beside: Sequence[Any], options: Keywords) -> Any:
        """Draw a table of the method; refuse arguments that would make another table."""
        named = dict(zip(self.asked, [table, *beside], strict=False))
        given = {
            name: x for name, x in named.items() if name != "data" and not isinstance(x, _Beside)
        }
        known = {*self.options, *LOOK, *self.beside}
        given |= {name: x for name, x in options.items() if name not in known}
        for name, value in given.items():
            if name not in self.asked:
                raise unknown_keyword(name, known)
            raise TypeError(
                f"{name}={shown_text(value)} is an argument of {self.maker}, but the table is"
                f" already its result. Pass {name} to {self.maker}, or the data to the plot."
            )
        ax, look, options = looks(options)
        return self.panels([table, *beside], options, ax, look)

    def parted(self, data: Any, options: Keywords) -> tuple[Any, Look_of_look, Options]:
        """Return the Axes and the look, and the options for data."""
        for name in {*self.beside} & {*options} - {*self.asked}:
            raise TypeError(
                f"{name}={shown_text(options[name])} stands beside a table. Pass it with the result"
                f" of {self.maker}, or omit it."
            )
        ax, look, asked = looks(options)
        if self.highlights:
            asked["highlight"] = look.highlight
        return ax, replace(look, order=measures_of(data, asked)), asked

    def panels(self, tables: Sequence[Any], options: Keywords, ax: Any, look: Look_of_look) -> Any:
        """Draw tables in one panel per group, on Axes that have room for them."""
        for one in () if ax is None else given_axes(ax):
            earlier = Record.of(one).plot
            if one.has_data() and earlier and not {earlier, self.draw.__name__} <= SHARING:
                raise ValueError(
                    f"ax shows the plot {earlier}, and {self.draw.__name__} cannot be drawn over"
                    " it. Pass other Axes, or call ax.clear() first."
                )
        table, *beside = tables
        if self.prepared is not None:
            table = self.prepared(table)
        whole = tidy(table, self.needed, self.maker)
        names: dict[Any, None] = {}
        for column in _NAMES:
            if column in whole:
                names |= dict.fromkeys(whole[column].dropna().unique())
        look.check_names(list(names) or look.highlighted)
        order = dict.fromkeys([*look.order, *listed_in(whole.attrs, "order"), *names])
        look = replace(look, order=[*order])
        if self.whole:
            return self.draw((ax, look), whole, *beside, **options)
        groups = groups_of(whole, self.needed)
        keys: list[Any] = []
        if groups:
            keys = [key for _, key in _columns(whole, groups).drop_duplicates().iterrows()]
        alone = len(keys) <= 1
        if not alone:
            panels = panels_of(ax, groups, keys, self.own)
        elif ax is None:
            panels = grid_of(1, 1, self.size and self.size(whole))
            keys = [None]
        else:
            panels = given_panels(ax, 1, "panel")
            keys = [None]
        drawn = drawn_of(whole.attrs)
        canvases: list[Canvas] = []
        for panel in panels:  # before other panels share the figure
            canvases.append(Canvas(panel, look, self.draw.__name__, alone=alone))
        for canvas, key in zip(canvases, keys, strict=True):
            parts = _parts([whole, *beside], groups, key)
            more = _parts(options.values(), groups, key)
            try:
                self.draw(canvas, *parts, **dict(zip(options, more, strict=True)))
                canvas.tell(*handled(whole.attrs, ("strata", "groups", "missing")))
                side = side_of(whole.attrs)
                if side != "two-sided" and "agreement" not in whole:  # bins are not tested
                    canvas.tell(f"Tests and intervals are {side}.")
                canvas.tell(drawn and f"Drawn: {drawn}.")
            except Exception:
                if ax is None:
                    import matplotlib.pyplot as plt

                    plt.close(canvas.ax.figure)
                raise
            if not alone:  # the group above its panel
                size = font(canvas.ax, "label")
                text = escaped(", ".join(f"{group} = {x}" for group, x in key.items()))
                text = cut_text(text, size, panel_size(canvas.ax)[0])
                canvas.ax.set_title(text, fontsize=size)
        if alone:
            return panels[0]
        end(canvases, look, ours=ax is None)
        return panels


def plot_of(
    method: AnyFunction,
    needed: str,
    *,
    forms: Sequence[Form] = ("rankings",),
    clusters: bool = True,
    **more: Any,
) -> Callable[[AnyFunction], PublicPlot]:
    """Make a function that draws one group on a canvas a public plot of a method.

    The plot takes the method's table, or the arguments of the method. Its signature and docstring
    join the options of the function with those of the method. ``more`` are fields of :class:`Plot`.
    """

    def decorate(draw: AnyFunction) -> PublicPlot:
        plot = Plot(draw, method, needed, **more)

        @functools.wraps(draw)
        def drawn(
            *args: Any, details: bool | None = None, progress: bool | None = None, **options: Any
        ) -> Any:
            choices = settings(details, progress)
            check_data(args, options)
            args, options = in_wide_form(args, options)
            data, *others = args or [options.pop("data")]
            if plot.prepared is not None:
                data = plot.prepared(data)
            made = plot.is_result(data)
            takes = plot.options if made else parameters
            with held(details=choices["details"], progress=choices["progress"]):
                if not made:
                    check((data, *others), options)
                for name in FILLED:
                    if name in choices and name in takes:
                        options.setdefault(name, choices[name])
                if made:
                    return plot.of_table(data, others, options)
                ax, look, asked = plot.parted(data, options)
                own = {name: asked.pop(name) for name in plot.options if name in asked}
                tables = (plot.tables or plot.method)(data, *others, **asked)
                if not isinstance(tables, tuple):
                    tables = (tables,)
                return plot.panels(tables, own, ax, look)

        signature = plot.signature()
        parameters = signature.parameters
        drawn.__signature__ = signature  # type: ignore[attr-defined]
        drawn.__doc__, drawn.__annotations__ = plot.docstring(), {}
        check_data, check = argument_check(drawn, 1), argument_check(drawn, closed=True)
        headings: Options = dict.fromkeys(forms, "Pictures")
        drawn.capabilities = Capabilities(**headings, clusters=clusters)  # type: ignore[attr-defined]
        return cast(PublicPlot, drawn)

    return decorate


def is_table(data: object, needed: str) -> bool:
    """Return whether these are the columns of a result table."""
    return isinstance(data, Drawable) and not lacking_in(data, needed)


def size_of(data: Drawable) -> int:
    """Return the number of rows, or the length of the longest dimension."""
    return len(data) if isinstance(data, pd.DataFrame) else max(data.sizes.values(), default=0)


def seen_of(data: Drawable, n: Any, roles: Keywords) -> Any:
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


def roles_in(asked: Keywords) -> Options:
    """Return the column roles among the keywords for the computation."""
    return {name: given for name, given in asked.items() if name in MEANINGS}
