"""Keywords for all plots, and the choice between data and a finished table."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.doors.datasets import frame_of
from rankeval_pd.errors import argument_check, hushed, no_table
from rankeval_pd.forms.rankings.candidates import read_frame
from rankeval_pd.forms.roles.columns import Form, measures_of
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles_and
from rankeval_pd.forms.roles.options import session_defaults
from rankeval_pd.forms.roles.roles import (
    MEANINGS,
    AdjustOver,
    AnyRoles,
    Bound,
    CurveInterval,
    Event,
    ItemRoles,
    LawMethod,
    RankingRoles,
    Roles,
)
from rankeval_pd.nbest.precision import nbest_precision
from rankeval_pd.plotting.panels import check_look
from rankeval_pd.plotting.tables import LARGE, seen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawable = pd.DataFrame | xr.Dataset
Keywords = Mapping[str, Any] | None
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
    ci: Any
    adjust_over: AdjustOver
    alpha: float
    level: float
    progress: bool | None


class PairTests(RankTests, total=False):
    """Keywords for the pairwise tests that compare systems."""

    event: Event
    method: LawMethod
    families: Any
    baseline: Hashable


class RankingPlot(RankingRoles, Look, total=False):
    """Keywords for plots of rankings."""


class CurvePlot(RankingRoles, Look, Chance, total=False):
    """Keywords for plots of curves over all cutoffs."""


class ItemPlot(ItemRoles, Look, total=False):
    """Keywords for plots that compare systems on test items."""


class RankPlot(ItemRoles, Look, RankTests, total=False):
    """Keywords for plots of system ranks."""


class PairPlot(ItemRoles, Look, PairTests, total=False):
    """Keywords for plots of pairwise tests between systems."""


class AnyPlot(AnyRoles, Look, PairTests, total=False):
    """Keywords for plots of pairwise tests between systems or between measures."""


UNLESS_GIVEN: dict[str, Any] = {
    "ax": None, "legend": None, "colors": None, "labels": None, "labels_at": None,
    "highlight": None, "title": None, "col_wrap": None, "line_kw": None, "band_kw": None,
    "marker_kw": None,
}  # fmt: skip
"""Defaults for the keywords that all plots share."""

CHANCE: dict[str, Any] = {
    "bands": None, "isolines": None, "simultaneous": True, "bound": "critical",
    "crossovers": False, "interval": None, "level": 0.95, "log": None,
}  # fmt: skip
TESTS: dict[str, Any] = {
    "n_resamples": None, "event": "wild", "method": "auto", "ci": None, "families": None,
    "baseline": None, "adjust_over": "all", "alpha": 0.05, "level": 0.95, "progress": None,
}  # fmt: skip

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
"""Documentation for the shared keywords, which come before the keywords for artists."""


def parted(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keywords for the plot and the keywords for the computation."""
    roles = {
        name: given
        for name, given in options.items()
        if name not in UNLESS_GIVEN and name != "order"
    }
    return {name: given for name, given in options.items() if name not in roles}, roles


def of_data_or_table(
    draw: Callable[..., Any],
    needed: Sequence[str],
    made_by: str,
    *,
    forms: Sequence[Form] = ("rankings",),
    clusters: bool = True,
) -> Callable[[Picture], Picture]:
    """Extend a plot function so that it also accepts a finished table.

    Parameters
    ----------
    draw : callable
        Function that draws the table. The function has the same plot keywords, with tables in
        place of the options for data.
    needed : sequence of str
        Columns that identify the table.
    made_by : str
        Name of the method that returns the table.
    forms : sequence of str
        Forms of data that the function can draw.
    clusters : bool
        Whether the function can draw grouped candidates.
    """

    def decorate(picture: Picture) -> Picture:
        headings: dict[str, Any] = dict.fromkeys(forms, "Pictures")
        picture.__doc__ = (picture.__doc__ or "").replace("    **look\n", SHARED)
        check = argument_check(picture)
        spelled = with_roles_and({**CHANCE, **TESTS, **UNLESS_GIVEN})(picture)

        @functools.wraps(picture)
        def drawn(data: Drawable, *args: Any, **options: Any) -> Any:
            check_drawable(data, needed, made_by)
            check_look(options)
            takes = inspect.signature(draw if is_table(data, needed) else picture).parameters
            settings = session_defaults(asked)
            options = {**{k: x for k, x in settings.items() if k in takes}, **options}
            if not is_table(data, needed):
                check((data, *args), options)
                return spelled(data, *args, **options, order=measures_of(data, options))
            for name, given in options.items():
                if name in MEANINGS:
                    raise TypeError(
                        f"{name}={given!r} is a column role, but the table is a result of {made_by}"
                        f" and needs no roles. Omit {name}, or pass the data."
                    )
            return draw(data, *args, **options)

        drawn.draws_tables = True  # type: ignore[attr-defined]
        asked: Any = Capabilities(**headings, clusters=clusters)(drawn)
        return cast(Picture, asked)

    return decorate


def check_drawable(data: object, needed: Sequence[str], made_by: str) -> None:
    """Raise an error if this is neither data nor a complete result."""
    if not isinstance(data, pd.DataFrame | xr.Dataset):
        wanted = f"a DataFrame or a Dataset, the data or the result of {made_by}"
        raise no_table("data", data, wanted)
    names = set(data.variables if isinstance(data, xr.Dataset) else data.columns)
    lacking = [name for name in needed if name not in names]
    if lacking and len(lacking) <= len(needed) / 2:
        raise ValueError(
            f"table has no columns {', '.join(lacking)}: pass the result of {made_by}, or the data."
        )


def is_table(data: Drawable, needed: Sequence[str]) -> bool:
    """Return whether these are the columns of a result table."""
    if isinstance(data, pd.DataFrame):
        return data.columns.nlevels == 1 and all(name in data.columns for name in needed)
    return isinstance(data, xr.Dataset) and all(name in data.variables for name in needed)


def seen_of(data: Drawable, n: Any, roles: Mapping[str, Any]) -> Any:
    """Return the list sizes at which to compute a plot, by default all visible sizes.

    Every n is returned if lists must not split a block of equal scores.
    """
    chosen = Roles.of(roles)
    rows = len(data) if isinstance(data, pd.DataFrame) else max(data.sizes.values(), default=0)
    if n is not None or rows <= LARGE or chosen.ties in ("blocks", "error"):
        return n
    frame, named = frame_of(data, roles)
    groups = read_frame(frame, Roles.of(named))
    sizes = np.unique(groups.tally(groups.columns["present"]))
    return seen(sizes[sizes > 0].tolist())


def curves_of(data: Any, n: Any, **roles: Any) -> Any:
    """Return the precision of n-best lists for lines without intervals.

    The warning about intervals is suppressed, because no intervals are drawn.
    """
    with hushed("target='region'"):
        return nbest_precision(data, n, **roles)
