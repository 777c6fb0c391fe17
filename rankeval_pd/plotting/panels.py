"""Axes, look and line names for a single plot or for one panel per group."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.forms.out.tables import listed_in
from rankeval_pd.plotting.canvas import Canvas
from rankeval_pd.plotting.look import Look, escaped
from rankeval_pd.plotting.numbers import font, panel_size, shortened
from rankeval_pd.plotting.tables import groups_of, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 24  # largest readable number of panels
_PANEL = (3.1, 2.5)  # size in inches
_NAMES = ("measure", "measure_a", "measure_b")

Drawing = Callable[..., Any]


def picture(
    needed: Sequence[str], made_by: str, *, own: str = ""
) -> Callable[[Drawing], Callable[..., Axes]]:
    """Make a single-group plot function accept a table, with one panel per group.

    ``own`` names the axes ("x", "y" or both) that the panels do not share. The ticks on such an
    axis are labeled with names in an order that differs between groups.

    The new function accepts the table, additional tables, options, and the keywords shared by all
    plots, and returns the Axes or an array of Axes.
    """

    def decorate(draw: Drawing) -> Callable[..., Axes]:
        @functools.wraps(draw)
        def drawn(table: Any, *beside: Any, **options: Any) -> Any:
            ax, wrap, look = _asked(options)
            whole = tidy(table, needed, made_by)
            names = dict.fromkeys(
                x for name in _NAMES if name in whole for x in whole[name].dropna().unique()
            )
            look.check_names(list(names) or list(look.highlighted))
            look = _ordered(look, [*listed_in(whole.attrs, "order"), *names])
            groups = groups_of(whole, needed)
            keys = _columns(whole, groups).drop_duplicates() if groups else pd.DataFrame(index=[0])
            if len(keys) <= 1:
                rest = [_part(x, groups, None) for x in beside]
                more = {k: _part(x, groups, None) for k, x in options.items()}
                place = one_of(ax, draw, whole)
                with _no_torso(ax, place), look.blamed():
                    draw(Canvas(place, look), whole, *rest, **more)
                return place
            panels = panels_of(ax, len(keys), wrap, groups, keys, own)
            canvases = [Canvas(panel, look, alone=False) for panel in panels]
            for canvas, (_, key) in zip(canvases, keys.iterrows(), strict=True):
                rest = [_part(x, groups, key) for x in (whole, *beside)]
                more = {k: _part(x, groups, key) for k, x in options.items()}
                with _no_torso(ax, canvas.ax), look.blamed():
                    draw(canvas, *rest, **more)
                name = ", ".join(f"{group} = {key[group]}" for group in groups)
                size = font(canvas.ax, "label")
                name = shortened(escaped(name), size, panel_size(canvas.ax)[0])
                canvas.ax.set_title(name, fontsize=size)
            end(canvases, look, ours=ax is None)
            return panels

        return cast("Callable[..., Axes]", drawn)

    return decorate


@contextmanager
def _no_torso(given: Any, ax: Axes) -> Iterator[None]:
    """Close a new figure if drawing fails."""
    try:
        yield
    except Exception:
        if given is None:
            import matplotlib.pyplot as plt

            plt.close(ax.figure)  # type: ignore[arg-type]
        raise


def _asked(options: dict[str, Any]) -> tuple[Any, int | None, Look]:
    """Remove the keywords shared by all plots from the options."""
    ax, wrap = options.pop("ax", None), options.pop("col_wrap", None)
    fields = (
        "legend", "colors", "labels", "labels_at", "highlight", "title", "line_kw", "band_kw",
        "marker_kw", "order",
    )  # fmt: skip
    return ax, wrap, Look(**{name: options.pop(name) for name in fields if name in options})


def _ordered(look: Look, names: list[Hashable]) -> Look:
    """Return the look with names in order: names in the data first, then in the table."""
    from dataclasses import replace

    return replace(look, order=[*dict.fromkeys([*look.order, *names])])


def _part(table: Any, groups: list[Any], key: pd.Series[Any] | None) -> Any:
    """Return the rows for one group."""
    if isinstance(table, list | tuple) and any(
        isinstance(x, pd.DataFrame | xr.Dataset) for x in table
    ):
        return [_part(x, groups, key) for x in table]
    if isinstance(table, xr.Dataset):
        table = tidy(table, (), "")
    if not isinstance(table, pd.DataFrame) or key is None or not groups:
        return table
    if not all(group in table for group in groups):
        return table
    chosen = (_columns(table, groups) == key.array).all(axis=1)
    part = table[chosen].drop(columns=groups)
    part.attrs = dict(table.attrs)
    return part


def _columns(table: pd.DataFrame, names: list[Any]) -> pd.DataFrame:
    """Return columns by name; the names can also be True or False."""
    places = [table.columns.get_loc(name) for name in names]
    return table.take(cast("list[int]", places), axis=1)


def one_of(ax: Any, draw: Drawing | None = None, table: pd.DataFrame | None = None) -> Axes:
    """Return the given Axes, or the Axes of a new figure with room for a legend."""
    if ax is not None:
        given = given_axes(ax)
        if given.size != 1:
            raise ValueError(f"ax has {given.size} Axes for one panel. Pass a single Axes.")
        return given[0]  # type: ignore[no-any-return]
    import matplotlib.pyplot as plt

    size = getattr(draw, "figure_size", lambda _: None)(table)
    _, fresh = plt.subplots(layout="constrained", figsize=size)
    return fresh


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
    ax: Any,
    count: int,
    wrap: int | None,
    groups: Sequence[Any],
    keys: pd.DataFrame,
    own: str = "",
) -> np.ndarray[Any, Any]:
    """Return the given Axes, or the Axes of a new figure with shared scales."""
    if count > MOST:
        first = keys.iloc[0][groups[0]]
        raise ValueError(
            f"there are {count} groups of {', '.join(map(str, groups))}, but a figure has at most"
            f" {MOST} panels. Choose groups: data[data[{groups[0]!r}].isin([{first!r}, ...])], or"
            f" for a Dataset data.sel({groups[0]}=[...]), or draw a table for all groups."
        )
    if ax is not None:
        return given_panels(ax, count, "groups")
    return new_panels(count, wrap, own)


def given_panels(ax: Any, count: int, what: str) -> np.ndarray[Any, Any]:
    """Return the given Axes, one per panel."""
    given = given_axes(ax)
    if given.size != count:
        raise ValueError(f"ax has {given.size} Axes for {count} {what}. Pass one Axes for each.")
    return given


def new_panels(count: int, wrap: int | None, own: str = "") -> np.ndarray[Any, Any]:
    """Return the Axes of a new figure; all scales except ``own`` are shared."""
    import matplotlib.pyplot as plt

    if wrap is not None and (isinstance(wrap, bool) or int(wrap) < 1):
        raise ValueError(f"col_wrap={wrap!r}: pass the number of panels in a row, 1 or more.")
    wide = min(count, int(wrap) if wrap else (count if count <= 3 else int(np.ceil(count**0.5))))
    rows = -(-count // wide)
    figure, fresh = plt.subplots(
        rows, wide, figsize=(_PANEL[0] * wide, _PANEL[1] * rows + 0.5), squeeze=False,
        layout="constrained", sharex="x" not in own,
        sharey="y" not in own,
    )  # fmt: skip
    if own:  # room for names next to the following panel
        figure.get_layout_engine().set(w_pad=0.12)  # type: ignore[union-attr, call-arg]
    for spare in fresh.ravel()[count:]:
        above = spare.get_subplotspec()
        figure.delaxes(spare)
        if above is not None and above.rowspan.start:
            over: Any = fresh[above.rowspan.start - 1, above.colspan.start]
            over.xaxis.set_tick_params(which="both", labelbottom=True)
    return np.asarray(fresh.ravel()[:count])


def end(canvases: Sequence[Canvas], look: Look, *, ours: bool) -> None:
    """Write the line names of all panels once, and label only the outer axes."""
    from rankeval_pd.plotting import legends

    panels = [canvas.ax for canvas in canvases]
    figure: Any = panels[0].figure
    if ours:
        _label_edges(panels)
    if look.title is not None and ours:
        figure.suptitle(look.title, fontsize=font(panels[0], "label") + 1.0)
    if look.legend is not None or look.labels_at == "legend":
        if look.legend is not False:
            legends.shared_legend(figure)
        return
    if not ours or any(canvas.headers for canvas in canvases):
        for canvas in canvases:
            canvas.name()
        return
    every = [x for canvas in canvases for x in canvas.finished() if not x.muted or x.reference]
    found = {x.text: x for x in sorted(every, key=lambda x: x.reference)}
    if found:
        legends.name_figure(panels, list(found.values()))


def _label_edges(panels: Sequence[Any]) -> None:
    """Keep only the axis labels along the left and bottom edges of a grid."""
    for panel in panels:
        spec = panel.get_subplotspec().get_topmost_subplotspec()
        if not spec.is_first_col():
            panel.set_ylabel("")
        below = spec.rowspan.stop
        if any(
            other.get_subplotspec().get_topmost_subplotspec().colspan == spec.colspan
            and other.get_subplotspec().get_topmost_subplotspec().rowspan.start == below
            for other in panels
        ):
            panel.set_xlabel("")


def check_look(options: Mapping[str, Any]) -> None:
    """Check the keywords shared by all plots before any computation."""
    ax, _, _ = looks(options)
    if ax is not None:
        given_axes(ax)


def looks(options: Mapping[str, Any]) -> tuple[Any, int | None, Look]:
    """Return the Axes, the number of panels per row, and the look."""
    return _asked(dict(options))
