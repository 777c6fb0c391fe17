"""Precision curves with their intervals (Evert 2004, figures 1 and 2)."""

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
    percent,
    sparse,
    style,
    table_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = {
    "clopper-pearson": "Clopper-Pearson", "wilson": "Wilson", "jeffreys": "Jeffreys",
    "midp": "mid-p", "blaker": "Blaker",
}  # fmt: skip


def precision(
    table: pd.DataFrame | xr.Dataset,
    *,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw the precision of n-best lists, its intervals, and the baseline.

    Parameters
    ----------
    table : DataFrame or Dataset
        Result of :func:`rankeval_pd.nbest_precision`, of one group.
    ax : Axes, optional
        Where to draw; a new figure unless given. Give ``layout="constrained"`` to a figure of
        your own, so that it makes room for the legend below.
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the lines (``Axes.plot``), of the bands (``Axes.fill_between``; where the n are
        few, of the bars, ``Axes.vlines``), and of the markers that points get where they are few.

    Returns
    -------
    Axes

    Notes
    -----
    The bands are pointwise: the interval at each n holds for this n alone.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [4.0, 3.0, 2.0, 1.0], "gold": [True, True, False, False]})
    >>> ax = rankeval_pd.plotting.precision(df.rankeval.nbest_precision())
    >>> ax.get_ylabel()
    'precision'
    """
    needed = ("measure", "n", "precision", "lift", "ci_low", "ci_high")
    table = table_of(table, needed, "nbest_precision")
    ax = axes(ax)
    for number, measure in enumerate(table["measure"].drop_duplicates()):
        curve = draw_curve(
            ax, table[table["measure"] == measure], "precision", number=number,
            name=str(measure), line_kw=line_kw, marker_kw=marker_kw,
        )  # fmt: skip
        interval = curve["n"], curve["ci_low"], curve["ci_high"]
        look = {"color": style(number)["color"], **(band_kw or {})}
        if sparse(len(curve)):
            ax.vlines(*interval, **{"alpha": 0.6, **look})
        else:
            ax.fill_between(*interval, **{"alpha": 0.2, "linewidth": 0, **look})
    draw_baseline(ax, table)
    if len(table):
        ax.fill_between([], [], color=GREY, alpha=0.3, linewidth=0, label=_band_name(table))
    return finish(ax, ylabel="precision")


def _band_name(table: pd.DataFrame) -> str:
    ci, level = table.attrs.get("ci"), table.attrs.get("level")
    kind = f"{percent(level)} {_KINDS.get(ci, ci)} interval" if ci and level else "interval"
    return f"{kind}, pointwise"


def draw_baseline(ax: Axes, table: pd.DataFrame) -> None:
    """Draw the precision of a random choice, N+/N, which is precision over lift."""
    shares = (table["precision"] / table["lift"]).round(12).dropna()
    for number, share in enumerate(shares.drop_duplicates()):
        name = f"baseline, {100 * share:.2f} %" if number == 0 else None
        ax.axhline(share, color=GREY, linewidth=1, linestyle=(0, (2, 2)), label=name)
