"""Pictures of curves over all cut-offs, from data or a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from rankeval_pd.chance.crossovers import crossovers as crossovers_of
from rankeval_pd.curves import shapes
from rankeval_pd.curves.references import isolines as isolines_of
from rankeval_pd.curves.references import random_band
from rankeval_pd.forms.once import let_in_once
from rankeval_pd.forms.rankings import Data
from rankeval_pd.plotting.asked import Levels, Picture, RankingPlot, of_data_or_table, parted
from rankeval_pd.plotting.drawing.curves import draw_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _drawn(space: str) -> Callable[[Picture], Picture]:
    needed = ("measure", "n", *shapes.SPACES[space])
    return of_data_or_table(partial(draw_curves, space), needed, space)


@_drawn("roc")
def roc(
    data: Data,
    *,
    bands: Levels | None = None,
    isolines: int | Sequence[int] | None = None,
    simultaneous: bool = True,
    bound: str = "critical",
    crossovers: bool = False,
    log: bool = False,
    **options: Unpack[RankingPlot],
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
    log : bool
        Whether the axes are logarithmic, so that the head of the list can be seen.
    ax : Axes, optional
        Where to draw, see :func:`precision`.
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the measures' lines, of the lines of chance (both ``Axes.plot``), and of the
        marks of the crossovers and of points that are few.
    **roles
        Of data: which column is what.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(40, 0, -1), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.roc(bands=0.01).get_xlabel()
    'false positive rate'
    """
    return _draw("roc", data, bands, isolines, simultaneous, bound, crossovers, log, options)


@_drawn("precision_recall")
def precision_recall(
    data: Data,
    *,
    bands: Levels | None = None,
    isolines: int | Sequence[int] | None = None,
    simultaneous: bool = True,
    bound: str = "critical",
    crossovers: bool = False,
    log: bool = False,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw precision over recall, as :func:`roc` draws its curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.precision_recall`, of one group.
    bands, isolines, simultaneous, bound, crossovers, ax, line_kw, band_kw, marker_kw
        As in :func:`roc`.
    log : bool
        Whether the axis of recall is logarithmic.
    **roles
        Of data: which column is what.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(40, 0, -1), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.precision_recall().get_ylabel()
    'precision'
    """
    return _draw(
        "precision_recall", data, bands, isolines, simultaneous, bound, crossovers, log, options
    )


@_drawn("det")
def det(
    data: Data,
    *,
    bands: Levels | None = None,
    isolines: int | Sequence[int] | None = None,
    simultaneous: bool = True,
    bound: str = "critical",
    crossovers: bool = False,
    log: bool = True,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw both kinds of error against each other, as :func:`roc` draws its curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.det`, of one group.
    bands, isolines, simultaneous, bound, crossovers, ax, line_kw, band_kw, marker_kw
        As in :func:`roc`.
    log : bool
        Whether both axes are logarithmic.
    **roles
        Of data: which column is what.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(40, 0, -1), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.det().get_xscale()
    'log'
    """
    return _draw("det", data, bands, isolines, simultaneous, bound, crossovers, log, options)


@_drawn("lift")
def lift(
    data: Data,
    fractions: Levels | None = None,
    *,
    bands: Levels | None = None,
    isolines: int | Sequence[int] | None = None,
    simultaneous: bool = True,
    bound: str = "critical",
    crossovers: bool = False,
    log: bool = True,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw lift over the share of the candidates, as :func:`roc` draws its curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.lift`, of one group.
    fractions : float or sequence of float, optional
        Of data: shares of the candidates, see :func:`rankeval_pd.lift`.
    bands, isolines, simultaneous, bound, crossovers, ax, line_kw, band_kw, marker_kw
        As in :func:`roc`.
    log : bool
        Whether the axis of the share is logarithmic.
    **roles
        Of data: which column is what.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(40, 0, -1), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.lift().get_ylabel()
    'lift'
    """
    return _draw(
        "lift", data, bands, isolines, simultaneous, bound, crossovers, log, options,
        fractions=fractions,
    )  # fmt: skip


@_drawn("gain")
def gain(
    data: Data,
    *,
    bands: Levels | None = None,
    isolines: int | Sequence[int] | None = None,
    simultaneous: bool = True,
    bound: str = "critical",
    crossovers: bool = False,
    log: bool = False,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw what is found over what is looked at, as :func:`roc` draws its curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.gain`, of one group.
    bands, isolines, simultaneous, bound, crossovers, log, ax, line_kw, band_kw, marker_kw
        As in :func:`roc`.
    **roles
        Of data: which column is what.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(40, 0, -1), "gold": [True] * 12 + [False] * 28})
    >>> df.rankeval.plot.gain().get_ylabel()
    'true positive rate'
    """
    return _draw("gain", data, bands, isolines, simultaneous, bound, crossovers, log, options)


_CURVES: dict[str, Callable[..., Any]] = {
    "roc": shapes.roc, "precision_recall": shapes.precision_recall, "det": shapes.det,
    "lift": shapes.lift, "gain": shapes.gain,
}  # fmt: skip


def _draw(
    space: str,
    data: Any,
    p: Levels | None,
    n: int | Sequence[int] | None,
    simultaneous: bool,
    bound: str,
    crossovers: bool,
    log: bool,
    options: Any,
    **asked: Any,
) -> Axes:
    """Compute the curve and what stands beside it, and draw them."""
    if p is None and crossovers:
        raise ValueError(
            "crossovers=True without bands: name the levels at which a measure is to cross"
            " what chance reaches, bands=0.05."
        )
    look, roles = parted(options)
    beside: dict[str, Any] = {}
    with let_in_once():
        curve = _CURVES[space](data, **asked, **roles)
        if p is not None:
            beside["bands"] = [random_band(data, space, p, bound=bound, **roles)]
            if simultaneous:
                beside["bands"] += [random_band(data, space, p, simultaneous=True, **roles)]
            if crossovers:
                beside["crossovers"] = crossovers_of(data, p, bound=bound, **roles)
        if n is not None:
            beside["isolines"] = isolines_of(data, n, space, **roles)
    return draw_curves(space, curve, **beside, log=log, **look)
