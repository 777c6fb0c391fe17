"""The distribution of a random list's true positives (Macskassy 2005, figure 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from rankeval_pd.plotting.drawing.canvas import GREY, Keywords, axes, finish, style, table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = ("discrete", "interpolated", "parametric")


def draw_random_cdf(
    table: pd.DataFrame | xr.Dataset,
    bound: pd.DataFrame | xr.Dataset | None = None,
    *,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw the distribution functions of a random list's true positives, and their bounds."""
    table = table_of(table, ("n", "tp", *_KINDS), "random_cdf")
    sizes = table["n"].drop_duplicates().tolist()
    if len(sizes) > 1:
        raise ValueError(
            f"table has {len(sizes)} list sizes, and a picture shows one. Choose it:"
            f" table[table['n'] == {sizes[0]}]."
        )
    ax = axes(ax)
    for number, kind in enumerate(_KINDS):
        steps = {"drawstyle": "steps-post"} if kind == "discrete" else {}
        look = {**style(number), **steps, "label": kind}
        ax.plot(table["tp"], table[kind], **{**look, **(line_kw or {})})
    if bound is not None and sizes:
        rows = table_of(bound, ("p", "n", *_KINDS), "random_bound")
        for row in rows[rows["n"] == sizes[0]].itertuples():
            height = 1.0 - float(row.p)
            look = {"color": GREY, "linewidth": 0.8, "label": f"1 − p, p\u00a0=\u00a0{row.p:g}"}
            ax.axhline(height, **{**look, **(band_kw or {})})
            for number, kind in enumerate(_KINDS):
                at = float(getattr(row, kind))
                look = {
                    "color": style(number)["color"], "marker": "osD"[number], "markersize": 5,
                    "linestyle": "none", "label": f"{kind} bound {at:.4g}",
                }  # fmt: skip
                ax.plot(at, height, **{**look, **(marker_kw or {})})
    size = f" {sizes[0]:,}" if sizes else ""
    return finish(ax, xlabel=f"true positives among the first{size}", ylabel="P(as many or fewer)")
