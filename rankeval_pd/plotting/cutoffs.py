"""Pictures of curves over all cut-offs, from data or a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np
import pandas as pd

from rankeval_pd.chance.bounds import random_bound
from rankeval_pd.chance.crossovers import crossovers as crossovers_of
from rankeval_pd.curves import curve_shapes
from rankeval_pd.curves.curve_references import isolines as isolines_of
from rankeval_pd.curves.curve_references import random_band
from rankeval_pd.curves.ranking_areas import area as area_of
from rankeval_pd.errors import check_choice
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.declarations import one_reading
from rankeval_pd.forms.roles.roles import AreaKind, Bound, ListSizes, Space
from rankeval_pd.plotting.curves import curve_drawing
from rankeval_pd.plotting.keywords import (
    CHANCE,
    CurvePlot,
    Levels,
    Picture,
    of_data_or_table,
    parted,
    seen_of,
)
from rankeval_pd.plotting.tables import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_DRAW: dict[str, Callable[..., Axes]] = {
    space: curve_drawing(space) for space in curve_shapes.SPACES
}


def _drawn(space: str) -> Callable[[Picture], Picture]:
    needed = ("measure", "n", *curve_shapes.SPACES[space])
    return of_data_or_table(_DRAW[space], needed, space)


@_drawn("roc")
def roc(
    data: Data,
    *,
    area: bool = True,
    **options: Unpack[CurvePlot],
) -> Axes:
    """Draw ROC curves, what chance reaches beside them, and where the lists of some n end.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.roc`, of one group. ``bands``, ``isolines`` and ``crossovers`` are then
        the results of :func:`rankeval_pd.random_band` (or a list of these),
        :func:`rankeval_pd.isolines` and :func:`rankeval_pd.crossovers`.
    bands : float or sequence of float, optional
        Levels p at which to draw what chance reaches, see :func:`rankeval_pd.random_band`.
    isolines : int or sequence of int, optional
        Sizes n of lists: a thin line for each, on which all lists of n lie.
    simultaneous : bool
        Whether ``bands`` are drawn for all n together too, beside each n alone.
    bound : {"critical", "discrete", "interpolated", "parametric"}
        Which bound the bands are made of.
    crossovers : bool
        Whether to mark the first list of each measure that beats chance, at the p of ``bands``.
    interval : {None, "pointwise", "simultaneous"}
        Of data: the confidence limits of the curve to draw, see :func:`rankeval_pd.roc`.
    level : float
        Of data: their confidence level.
    log : bool
        Whether the axes are logarithmic, so that the head of the list can be seen.
    area : bool
        Of data: whether the key gives the area and its interval, :func:`rankeval_pd.area`. For a
        table, pass the result of ``area``.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    A line is one measure, from the empty list to all candidates. The diagonal is a random order on
    average. With ``bands``, a gray field holds what random orders reach: at all n together up to
    its edge, and at each n alone up to the hairline. The key gives the area and its interval. Of
    more than six measures, the three best are in color. Of more than 20,000 candidates some
    thousand n are drawn, and chance is computed at 2,000 n, for which the field holds together.
    The picture is square where the panel has room for it.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.roc(bands=0.01).get_xlabel()
    'false positive rate'
    """
    return _draw("roc", data, options, area="roc" if area else None)


@_drawn("precision_recall")
def precision_recall(
    data: Data,
    *,
    area: bool = True,
    f_scores: Levels = (),
    **options: Unpack[CurvePlot],
) -> Axes:
    """Draw precision over recall, as :func:`roc` draws its curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.precision_recall`, of one group.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool
        Whether the axis of recall is logarithmic.
    area : bool
        Of data: whether the key gives the average precision, :func:`rankeval_pd.area`.
    f_scores : float or sequence of float
        Values of F1: a hairline for each, on which all lists of this F1 lie.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    A line is one measure, in steps: between two lists nothing is joined. The gray line is the
    precision of a random order. Hairlines are lists of equal F1, whose value stands on the right,
    or with ``isolines`` those of equal n. The key gives the average precision. In a table with n
    above 2,000, lists shorter than 10 are left out.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.precision_recall().get_ylabel()
    'precision'
    """
    return _draw(
        "precision_recall", data, options,
        area="ap" if area else None, drawn={"f_scores": f_scores},
    )  # fmt: skip


@_drawn("det")
def det(
    data: Data,
    **options: Unpack[CurvePlot],
) -> Axes:
    """Draw both kinds of error against each other, as :func:`roc` draws its curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.det`, of one group.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool, optional
        True: both axes are logarithmic; False: linear; unless given they have the scale of normal
        deviates, on which the errors of normally distributed scores are a straight line.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    A line is one measure; the nearer to the lower left corner, the better. Rates of 0 and 1,
    infinitely far away on the scale of normal deviates, are not shown. The gray line is a random
    order on average; chance, lines of one n and crossovers are drawn as :func:`roc` draws them.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.det().get_xscale()
    'function'
    """
    return _draw("det", data, options)


@_drawn("lift")
def lift(
    data: Data,
    n: ListSizes | Literal["deciles"] = None,
    *,
    enrichment: Levels | None = None,
    **options: Unpack[CurvePlot],
) -> Axes:
    """Draw lift over the share of the candidates, as :func:`roc` draws its curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.lift`, of one group.
    n : int, float, sequence, range or "deciles", optional
        Of data: sizes of lists, or shares of the candidates, see :func:`rankeval_pd.lift`.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool, optional
        Whether the axis of the share is logarithmic; unless given of more than 1,000 candidates.
    enrichment : float or sequence of float, optional
        Shares at which a thin line stands, and the lift of each measure in the key: the enrichment
        factors of the smallest lists with these shares.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    A line is one measure: how many times the precision of a random order its lists have. The gray
    line at 1 is a random order, vertical lines are the shares of ``enrichment``. Chance, lines of
    one n and crossovers are drawn as :func:`roc` draws them. In a table with n above 2,000, lists
    shorter than 10 are left out.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.lift().get_ylabel()
    'lift (random order = 1)'
    """
    return _draw(
        "lift", data, options,
        n=n, drawn={"enrichment": enrichment},
    )  # fmt: skip


@_drawn("gain")
def gain(
    data: Data,
    n: ListSizes | Literal["deciles"] = None,
    **options: Unpack[CurvePlot],
) -> Axes:
    """Draw what is found over what is looked at, as :func:`roc` draws its curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.gain`, of one group.
    n : int, float, sequence, range or "deciles", optional
        Of data: as in :func:`rankeval_pd.gain`.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool
        Whether the axis of the share is logarithmic.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    A line is one measure, from the empty list to all candidates. The upper gray line is an order
    with all true positives first, the lower one a random order on average. Chance, lines of one n
    and crossovers are drawn as :func:`roc` draws them.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.gain().get_ylabel()
    'share of the positives found'
    """
    return _draw("gain", data, options, n=n)


_CURVES: dict[str, Callable[..., Any]] = {
    name: getattr(curve_shapes, name) for name in ("roc", "precision_recall", "det", "lift", "gain")
}


def _draw(
    space: Space,
    data: Any,
    options: Mapping[str, Any],
    *,
    area: AreaKind | None = None,
    drawn: Mapping[str, Any] | None = None,
    **asked: Any,
) -> Axes:
    """Compute the curve and what stands beside it, and draw them."""
    chance = {name: options.get(name, default) for name, default in CHANCE.items()}
    p, iso, bound = chance["bands"], chance["isolines"], chance["bound"]
    check_choice("bound", bound, get_args(Bound))
    if p is None and chance["crossovers"]:
        raise ValueError(
            "crossovers=True without bands: name the levels at which a measure is to cross"
            " what chance reaches, bands=0.05."
        )
    look, roles = parted({name: x for name, x in options.items() if name not in CHANCE})
    beside: dict[str, Any] = {}
    drawn_from: Any = {**roles, "pool": "all"}  # one band for all curves
    with one_reading():
        limited = {name: chance[name] for name in ("interval", "level")}
        curve = _CURVES[space](data, **asked, **limited, **roles)
        if p is not None:
            few = shown(curve[curve["n"] > 0] if isinstance(curve, pd.DataFrame) else curve)
            sizes = None if seen_of(data, None, roles) is None else [n for n in few if n]
            beside["bands"] = [random_band(data, space, p, sizes, bound=bound, **drawn_from)]
            if chance["simultaneous"]:
                beside["bands"] += [
                    random_band(data, space, p, sizes, simultaneous=True, **drawn_from)
                ]
            if chance["crossovers"]:
                beside["crossovers"] = crossovers_of(data, p, bound=bound, **drawn_from)
        if iso is not None:
            beside["isolines"] = isolines_of(data, iso, space, **roles)
        if space == "gain" and np.max(np.asarray(curve["n"]), initial=0) > 0:
            ungrouped: Any = {**drawn_from, "groups": None}
            beside["ideal"] = random_bound(data, 0.5, 1, **ungrouped)
        if area is not None:
            beside["area"] = area_of(data, area, **roles)
    return _DRAW[space](curve, **beside, **(drawn or {}), log=chance["log"], **look)
