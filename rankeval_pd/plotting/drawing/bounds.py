"""What a random ranking reaches, beside the measures' curves (Macskassy 2005)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from rankeval_pd.plotting.drawing.canvas import (
    BAND_DASHES,
    GREY,
    Keywords,
    axes,
    draw_curve,
    finish,
    table_of,
    thinned,
)
from rankeval_pd.plotting.drawing.nbest import draw_baseline

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_random_bound(
    bound: pd.DataFrame | xr.Dataset,
    precision: pd.DataFrame | xr.Dataset | None = None,
    envelope: pd.DataFrame | xr.Dataset | None = None,
    *,
    log: bool = False,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw the precision that is significantly above a random ranking's, and the measures' own."""
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
    if log:
        ax.set_xscale("log")
    for number, (p, rows) in enumerate(bound.groupby("p", sort=False)):
        name = f"needed to beat chance, p\u00a0≤\u00a0{p:g}, each n alone"
        _draw_counts(ax, rows, "critical", name, number, "black", band_kw)
    if envelope is not None:
        wider = table_of(envelope, ("alpha", "n", "envelope"), "random_envelope")
        for number, (p, rows) in enumerate(wider.groupby("alpha", sort=False)):
            name = f"needed to beat chance, p\u00a0≤\u00a0{p:g}, all n together"
            _draw_counts(ax, rows, "envelope", name, number, "0.55", band_kw)
    if precision is None and len(bound):
        prior = float(bound["expected"].iloc[0] / bound["n"].iloc[0])
        ax.axhline(
            prior, color=GREY, linewidth=1, linestyle=(0, (2, 2)),
            label=f"baseline, {100 * prior:.2f} %",
        )  # fmt: skip
    return finish(ax, ylabel="precision")


def _draw_counts(
    ax: Axes,
    rows: pd.DataFrame,
    column: str,
    name: str,
    number: int,
    colour: str,
    band_kw: Keywords,
) -> None:
    """Draw counts as precision, where a list can have as many."""
    rows = thinned(rows)
    share = (rows[column] / rows["n"]).where(rows[column] <= rows["n"])
    dash = BAND_DASHES[number % len(BAND_DASHES)]
    line = {"color": colour, "linewidth": 1, "linestyle": dash, "label": name}
    ax.plot(rows["n"], share, **{**line, **(band_kw or {})})
