"""Pictures of curves over all cutoffs, from data or a table."""

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
    """Draw ROC curves, optionally with chance, crossovers and lists of some n.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.roc` for one group. Then ``bands``, ``isolines`` and ``crossovers`` are
        results of :func:`rankeval_pd.random_band` (or a list of these),
        :func:`rankeval_pd.isolines` and :func:`rankeval_pd.crossovers`.
    bands : float or sequence of float, optional
        Levels p at which to draw the bounds of chance, see :func:`rankeval_pd.random_band`.
    isolines : int or sequence of int, optional
        Sizes n of lists. A thin line for each contains all lists of n.
    simultaneous : bool
        Whether ``bands`` are also drawn for all n together.
    bound : {"critical", "discrete", "interpolated", "parametric"}
        The bound that the bands use.
    crossovers : bool
        Whether to mark the first list of each measure that beats chance, at the p of ``bands``.
    interval : {None, "pointwise", "simultaneous"}
        For data: confidence limits of the curve to draw, see :func:`rankeval_pd.roc`.
    level : float
        For data: the confidence level of these limits.
    log : bool
        Whether the axes are logarithmic, to show the head of the list.
    area : bool
        For data: whether the key shows the area and its interval, :func:`rankeval_pd.area`. For a
        table, pass the result of ``area``.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each line is a measure, from the empty list to all candidates. The diagonal is the mean of a
    random order. With ``bands``, random orders stay in the gray field at all n together, and below
    the hairline at each n alone. The key shows the area and its interval. With more than six
    measures, the three best are in color. Above 20,000 candidates about a thousand n are drawn, and
    the field holds for 2,000 n together. The picture is square if the panel has room.

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
    """Draw precision over recall.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.precision_recall` for one group.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool
        Whether the axis of recall is logarithmic.
    area : bool
        For data: whether the key shows the average precision, :func:`rankeval_pd.area`.
    f_scores : float or sequence of float
        Values of F1. A hairline for each contains all lists of this F1.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each line is a measure, in steps, without interpolation. The gray line is the precision of a
    random order. Hairlines are lists of equal F1, with its value on the right, or of equal n with
    ``isolines``. The key shows the average precision. With n above 2,000, lists shorter than 10 are
    left out.

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
    """Draw detection error trade-off (DET) curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.det` for one group.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool, optional
        True: logarithmic axes; False: linear axes. By default normal deviates, on which the errors
        of normally distributed scores form a straight line.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each line is a measure; the nearer to the lower left corner, the better. Rates of 0 and 1,
    infinite as normal deviates, are not shown. The gray line is the mean of a random order; chance,
    lines of one n and crossovers are drawn as in :func:`roc`.

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
    """Draw lift over the share of the candidates.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.lift` for one group.
    n : int, float, sequence, range or "deciles", optional
        For data: sizes of lists, or shares of the candidates, see :func:`rankeval_pd.lift`.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool, optional
        Whether the axis of the share is logarithmic. By default above 1,000 candidates.
    enrichment : float or sequence of float, optional
        Shares to mark with a thin line. The key shows each measure's lift there, the enrichment
        factor of the smallest list with this share.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each line is a measure: the precision of its lists relative to a random order. The gray line at
    1 is a random order, vertical lines are the shares of ``enrichment``. Chance, lines of one n and
    crossovers are drawn as in :func:`roc`. With n above 2,000, lists shorter than 10 are left out.

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
    """Draw recall over the share of the candidates.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.gain` for one group.
    n : int, float, sequence, range or "deciles", optional
        For data: as in :func:`rankeval_pd.gain`.
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
    Each line is a measure, from the empty list to all candidates. The upper gray line is an order
    with all true positives first, the lower one the mean of a random order. Chance, lines of one n
    and crossovers are drawn as in :func:`roc`.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": np.linspace(9, 1, 40), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.gain().get_ylabel()
    'share of positives found'
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
    """Compute the curve and its references, and draw them."""
    chance = {name: options.get(name, default) for name, default in CHANCE.items()}
    p, iso, bound = chance["bands"], chance["isolines"], chance["bound"]
    check_choice("bound", bound, get_args(Bound))
    if p is None and chance["crossovers"]:
        raise ValueError(
            "crossovers=True needs the levels at which a measure crosses chance. Pass bands=0.05."
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
