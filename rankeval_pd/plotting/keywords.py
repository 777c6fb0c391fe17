"""What all plots share that take data, or a table that is there: the keywords, and which it is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import hushed
from rankeval_pd.forms.out.tables import is_missing
from rankeval_pd.forms.rankings.candidates import read_dataset, read_frame
from rankeval_pd.forms.roles.columns import Form, find_gold, find_measures
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles_and
from rankeval_pd.forms.roles.roles import (
    MEANINGS,
    AnyRoles,
    ItemRoles,
    RankingRoles,
    Roles,
    as_names,
)
from rankeval_pd.nbest.precision import nbest_precision
from rankeval_pd.plotting.drawing.canvas import seen
from rankeval_pd.plotting.drawing.panels import check_look
from rankeval_pd.plotting.drawing.scales import LARGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawable = pd.DataFrame | xr.Dataset
Keywords = Mapping[str, Any] | None
Levels = float | Sequence[float]
Picture = TypeVar("Picture", bound=Callable[..., Any])


class Look(TypedDict, total=False):
    """The keywords of all plots: where, and how."""

    ax: Axes | Any
    legend: bool | Literal["outside", "figure"]
    colors: Any
    labels: Mapping[Any, str] | None
    labels_at: Literal["legend", "end"]
    highlight: Any
    title: str | None
    col_wrap: int | None
    line_kw: Keywords
    band_kw: Keywords
    marker_kw: Keywords


class RankingPlot(RankingRoles, Look, total=False):
    """The keywords of the plots of rankings."""


class ItemPlot(ItemRoles, Look, total=False):
    """The keywords of the plots of systems over test items."""


class AnyPlot(AnyRoles, Look, total=False):
    """The keywords of the plots of systems over test items that show measures of rankings too."""


UNLESS_GIVEN: dict[str, Any] = {
    "ax": None, "legend": True, "colors": None, "labels": None, "labels_at": "legend",
    "highlight": None, "title": None, "col_wrap": None, "line_kw": None, "band_kw": None,
    "marker_kw": None,
}  # fmt: skip
"""What the keywords of all plots are unless given."""

SHARED = """    ax : Axes or array of Axes, optional
        Where to draw; a new figure unless given. With groups, one Axes for each. A figure of your
        own keeps its layout: in one with ``layout="constrained"`` the legend stands below the
        axes, in one without a layout it stands within them.
    legend : bool, "outside" or "figure"
        Below the axes and off the data; none; on the right; or one for the whole figure, which
        takes the place of those of its panels (:func:`rankeval_pd.plotting.shared_legend`).
    colors : mapping, list or str, optional
        Colours by name, a cycle of colours, or the name of a palette of matplotlib (or seaborn,
        where it is installed). Unless given those of ``axes.prop_cycle`` where a style has set it,
        else a cycle that the colour-blind can tell apart. A name has the colour of its place in
        the data, and keeps it in the same Axes.
    labels : mapping, optional
        What is written in the place of a name: ``{"G2": "log-likelihood"}``. It may hold
        mathematics; names as they stand are written as they are.
    labels_at : {"legend", "end"}
        Where the names of lines stand: in the legend, or at their ends, where there is room.
    highlight : name or sequence of names, optional
        What stands out: the others are thin grey lines without bands.
    title : str, optional
        Of the axes; with groups, of the figure.
    col_wrap : int, optional
        With groups: how many panels stand in a row.
"""
"""What the keywords of all plots mean, before those for artists."""


def parted(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keywords of the picture, and the roles of the columns."""
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
) -> Callable[[Picture], Picture]:
    """Make a function that computes and draws also draw a table that is there.

    Parameters
    ----------
    draw : callable
        Draws the table: the same keywords of the picture, and the tables beside it in the place of
        what is asked of data.
    needed : sequence of str
        The columns by which the table is known.
    made_by : str
        The method whose result it is.
    forms : sequence of str
        The forms of data that it draws.
    """

    def decorate(picture: Picture) -> Picture:
        headings: dict[str, Any] = dict.fromkeys(forms, "Pictures")
        picture.__doc__ = (picture.__doc__ or "").replace("    **look\n", SHARED)
        spelled = with_roles_and(UNLESS_GIVEN)(picture)

        @functools.wraps(picture)
        def drawn(data: Drawable, *args: Any, **options: Any) -> Any:
            check_drawable(data, needed, made_by)
            check_look(options)
            if not is_table(data, needed):
                return spelled(data, *args, **options, order=names_of(data, options))
            for name, given in options.items():
                if name in MEANINGS:
                    raise TypeError(
                        f"{name}={given!r} is a role of the columns of data, and this is the"
                        f" result of {made_by}, whose roles are settled. Leave it out, or give"
                        " the data."
                    )
            return draw(data, *args, **options)

        return cast(Picture, Capabilities(**headings)(drawn))

    return decorate


def names_of(data: Drawable, options: Mapping[str, Any], *, every: bool = True) -> list[Hashable]:
    """Return the measures of the data, whichever are asked for: their place gives the colour.

    ``every=False`` returns those that are asked for.
    """
    known = {f.name for f in fields(Roles)} - ({"measures"} if every else set())
    try:
        roles = Roles.of({name: given for name, given in options.items() if name in known})
        gold = find_gold(data, roles)
        taken = [gold, *as_names(roles.by, getattr(data, "columns", ()))]
        taken += [] if roles.key is None else [roles.key]
        with hushed():  # what is odd, the question itself says
            found = find_measures(data, roles, taken, needed=True)
        # in a table names that are missing are NaN
        return [np.nan if is_missing(x) else x for x in found]
    except (ValueError, TypeError, KeyError):  # the question itself says what is wrong
        return []


def check_drawable(data: object, needed: Sequence[str], made_by: str) -> None:
    """Raise an error unless these may be data, or are a whole result."""
    if not isinstance(data, pd.DataFrame | xr.Dataset):
        raise TypeError(
            f"data is of type {type(data).__name__}: give a DataFrame or a Dataset, the data or"
            f" the result of {made_by}."
        )
    names = set(data.variables if isinstance(data, xr.Dataset) else data.columns)
    lacking = [name for name in needed if name not in names]
    if lacking and len(lacking) <= len(needed) / 2:
        raise ValueError(
            f"table has no columns {', '.join(lacking)}: give the result of {made_by}, which has"
            " them, or the data."
        )


def is_table(data: Drawable, needed: Sequence[str]) -> bool:
    """Return whether this is a result, by the columns that it has."""
    if isinstance(data, pd.DataFrame):
        return data.columns.nlevels == 1 and all(name in data.columns for name in needed)
    return isinstance(data, xr.Dataset) and all(name in data.variables for name in needed)


def seen_of(data: Drawable, n: Any, roles: Mapping[str, Any]) -> Any:
    """Return the n to compute for a picture: those asked for, or those that can be seen.

    Where lists must end with a block of equal scores, or may cut none, it is every n.
    """
    chosen = Roles.of(roles)
    rows = len(data) if isinstance(data, pd.DataFrame) else max(data.sizes.values(), default=0)
    if n is not None or rows <= LARGE or chosen.ties in ("blocks", "error"):
        return n
    if isinstance(data, pd.DataFrame):
        members = read_frame(data, chosen).members
    else:
        members = [read_dataset(data, chosen)]
    sizes = [int(x) for inner in members for x in np.unique(inner["present"].sum("candidate"))]
    return seen([size for size in dict.fromkeys(sizes) if size])


def curves_of(data: Any, n: Any, **roles: Any) -> Any:
    """Return the precision of n-best lists, for lines without intervals.

    The warning that says what the intervals are of has no place where none is drawn.
    """
    with hushed("target='region'"):
        return nbest_precision(data, n, **roles)
