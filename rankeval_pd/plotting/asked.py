"""What all plots share that take data, or a table that is there: the keywords, and which it is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

import pandas as pd
import xarray as xr

from rankeval_pd.forms.roles import MEANINGS, ItemRoles, RankingRoles
from rankeval_pd.forms.spelled_out import with_roles_and

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawable = pd.DataFrame | xr.Dataset
Keywords = Mapping[str, Any] | None
Levels = float | Sequence[float]
Picture = TypeVar("Picture", bound=Callable[..., Any])


class Look(TypedDict, total=False):
    """The keywords of all plots: where, and how."""

    ax: Axes | Any
    line_kw: Keywords
    band_kw: Keywords
    marker_kw: Keywords


class RankingPlot(RankingRoles, Look, total=False):
    """The keywords of the plots of rankings."""


class ItemPlot(ItemRoles, Look, total=False):
    """The keywords of the plots of systems over test items."""


UNLESS_GIVEN: dict[str, Any] = {"ax": None, "line_kw": None, "band_kw": None, "marker_kw": None}
"""What the keywords of all plots are unless given."""


def parted(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keywords of the picture, and the roles of the columns."""
    roles = {name: given for name, given in options.items() if name not in UNLESS_GIVEN}
    return {name: options[name] for name in UNLESS_GIVEN if name in options}, roles


def of_data_or_table(
    draw: Callable[..., Any], needed: Sequence[str], made_by: str
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
    """

    def decorate(picture: Picture) -> Picture:
        spelled = with_roles_and(UNLESS_GIVEN)(picture)

        @functools.wraps(picture)
        def drawn(data: Drawable, *args: Any, **options: Any) -> Any:
            check_drawable(data, needed, made_by)
            if not is_table(data, needed):
                return spelled(data, *args, **options)
            for name, given in options.items():
                if name in MEANINGS:
                    raise TypeError(
                        f"{name}={given!r} is a role of the columns of data, and this is the"
                        f" result of {made_by}, whose roles are settled. Leave it out, or give"
                        " the data."
                    )
            return draw(data, *args, **options)

        return cast(Picture, drawn)

    return decorate


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
