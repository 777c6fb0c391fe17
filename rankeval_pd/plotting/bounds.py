"""What a random ranking reaches, beside the measures' curves (Macskassy 2005)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from rankeval_pd.plotting.canvas import (
    GREY,
    Keywords,
    axes,
    draw_curve,
    finish,
    table_of,
    thinned,
)
from rankeval_pd.plotting.nbest import draw_baseline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BOUND_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))


def random_bound(
    bound: pd.DataFrame | xr.Dataset,
    precision: pd.DataFrame | xr.Dataset | None = None,
    *,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw the precision that is significantly above a random ranking's, and the measures' own.

    Parameters
    ----------
    bound : DataFrame or Dataset
        Result of :func:`rankeval_pd.random_bound` or :func:`rankeval_pd.random_bound_for`, of one
        group.
    precision : DataFrame or Dataset, optional
        Result of :func:`rankeval_pd.nbest_precision`: the curves beside the bound.
    ax : Axes, optional
        Where to draw; a new figure unless given. Give ``layout="constrained"`` to a figure of
        your own, so that it makes room for the legend below.
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the measures' lines, of the bounds' lines (both ``Axes.plot``), and of the
        markers that points get where there are few.

    Returns
    -------
    Axes

    Notes
    -----
    The bound is the column ``critical``: a count that reaches it is a test of level p, at this n
    alone. Where no count is significant the bound is above 100 % and is not drawn.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [4.0, 3.0, 2.0, 1.0], "gold": [True, True, False, False]})
    >>> ax = rankeval_pd.plotting.random_bound(
    ...     df.rankeval.random_bound(0.2), df.rankeval.nbest_precision()
    ... )
    >>> ax.get_ylabel()
    'precision'
    """
    bound = table_of(bound, ("p", "n", "expected", "critical"), "random_bound")
    ax = axes(ax)
    if precision is not None:
        curves = table_of(precision, ("measure", "n", "precision", "lift"), "nbest_precision")
        for number, measure in enumerate(curves["measure"].drop_duplicates()):
            draw_curve(
                ax, curves[curves["measure"] == measure], "precision", number=number,
                name=str(measure), line_kw=line_kw, marker_kw=marker_kw,
            )  # fmt: skip
        draw_baseline(ax, curves)
    for number, (p, rows) in enumerate(bound.groupby("p", sort=False)):
        rows = thinned(rows)
        share = (rows["critical"] / rows["n"]).where(rows["critical"] <= rows["n"])
        dash = _BOUND_DASHES[number % len(_BOUND_DASHES)]
        name = f"needed to beat chance, p\u00a0≤\u00a0{p:g}, each n alone"
        line = {"color": "black", "linewidth": 1, "linestyle": dash, "label": name}
        ax.plot(rows["n"], share, **{**line, **(band_kw or {})})
    if precision is None and len(bound):
        prior = float(bound["expected"].iloc[0] / bound["n"].iloc[0])
        ax.axhline(
            prior, color=GREY, linewidth=1, linestyle=(0, (2, 2)),
            label=f"baseline, {100 * prior:.2f} %",
        )  # fmt: skip
    return finish(ax, ylabel="precision")
