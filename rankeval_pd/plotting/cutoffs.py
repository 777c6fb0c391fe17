"""Plots of curves over all cutoffs, from data or a table."""

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

    Returns
    -------
    Axes

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
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.precision_recall` for one group.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool
        Whether the recall axis is logarithmic.
    area : bool
        Option for data: whether the key shows the average precision from :func:`rankeval_pd.area`.
    f_scores : float or sequence of float
        Values of F1. A thin line connects all lists with the same F1.
    **look

    Returns
    -------
    Axes

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
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.det` for one group.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool, optional
        Whether the axes are logarithmic (True) or linear (False). By default, the axes have
        normal-deviate scales, so normally distributed scores give a straight line.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each line shows a measure. Better measures are closer to the lower left corner. Rates of 0 and 1
    are not shown because their normal deviates are infinite. The gray line is the mean over random
    orders. The options ``bands``, ``isolines`` and ``crossovers`` are described in :func:`roc`.

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
    """Draw lift against the fraction of candidates.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.lift` for one group.
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

    Returns
    -------
    Axes

    Notes
    -----
    Each line shows the precision of a measure's lists relative to a random order. The gray line at
    1 represents a random order, and vertical lines mark the fractions in ``enrichment``. The
    options ``bands``, ``isolines`` and ``crossovers`` are described in :func:`roc`. If n exceeds
    2,000, lists shorter than 10 are omitted.

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
    """Draw recall against the fraction of candidates.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.gain` for one group.
    n : int, float, sequence, range or "deciles", optional
        Option for data, as in :func:`rankeval_pd.gain`.
    bands, isolines, simultaneous, bound, crossovers, interval, level
        As in :func:`roc`.
    log : bool
        Whether the x axis is logarithmic.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each line shows a measure, from the empty list to all candidates. The upper gray line shows an
    order with all true positives first, and the lower gray line shows the mean over random orders.
    The options ``bands``, ``isolines`` and ``crossovers`` are described in :func:`roc`.

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
    """Compute and draw the curve and its reference lines."""
    chance = {name: options.get(name, default) for name, default in CHANCE.items()}
    p, iso, bound = chance["bands"], chance["isolines"], chance["bound"]
    check_choice("bound", bound, get_args(Bound))
    if p is None and chance["crossovers"]:
        raise ValueError(
            "crossovers=True needs one or more significance levels. Pass them as bands, such as"
            " bands=0.05."
        )
    look, roles = parted({name: x for name, x in options.items() if name not in CHANCE})
    beside: dict[str, Any] = {}
    drawn_from: Any = {**roles, "pool": "all"}  # a single band for all curves
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
