"""What a random ranking reaches, beside the measures' curves (Macskassy 2005)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rankeval_pd.plotting.drawing.canvas import (
    BAND_DASHES,
    GREY,
    XLABELS,
    Canvas,
    is_log,
    table_of,
    thinned,
)
from rankeval_pd.plotting.drawing.nbest import draw_baseline, sizes_of
from rankeval_pd.plotting.drawing.panels import picture


@picture(("p", "n", "expected", "critical"), "random_bound")
def draw_random_bound(
    canvas: Canvas,
    bound: pd.DataFrame,
    precision: pd.DataFrame | None = None,
    envelope: pd.DataFrame | None = None,
    *,
    log: bool | None = None,
) -> None:
    """Draw the precision that is significantly above a random ranking's, and the measures' own."""
    ax = canvas.ax
    positive = np.inf
    if precision is not None:
        needed = ("measure", "n", "precision", "recall", "lift")
        curves = table_of(precision, needed, "nbest_precision")
        _, positive = sizes_of(curves)
        for measure in curves["measure"].drop_duplicates():
            rows = thinned(curves[curves["measure"] == measure])
            canvas.curve(measure, rows["n"], rows["precision"])
        draw_baseline(ax, curves)
    for number, (p, rows) in enumerate(bound.groupby("p", sort=False)):
        name = f"chance p\u00a0≤\u00a0{p:g}, each n alone"
        _draw_counts(canvas, rows, "critical", name, number, "black", positive)
    if envelope is not None:
        wider = table_of(envelope, ("alpha", "n", "envelope"), "random_envelope")
        for number, (p, rows) in enumerate(wider.groupby("alpha", sort=False)):
            name = f"chance p\u00a0≤\u00a0{p:g}, all n together"
            _draw_counts(canvas, rows, "envelope", name, number, "0.55", positive)
    if precision is None and len(bound):
        prior = float(bound["expected"].iloc[0] / bound["n"].iloc[0])
        ax.axhline(
            prior, color=GREY, linewidth=1, linestyle=(0, (2, 2)),
            label=f"baseline, {100 * prior:.2f}\u00a0%",
        )  # fmt: skip
    canvas.across("n", log=is_log(log, bound["n"]))
    canvas.upwards_in_percent()
    canvas.finish(xlabel=XLABELS["n"], ylabel="precision")


def _draw_counts(
    canvas: Canvas,
    rows: pd.DataFrame,
    column: str,
    name: str,
    number: int,
    colour: str,
    positive: float,
) -> None:
    """Draw counts as precision, where a list can have as many."""
    rows = thinned(rows)
    most = np.minimum(rows["n"], positive if np.isfinite(positive) else rows["n"])
    possible = rows[column] <= most + 1e-6
    if "attainable" in rows:  # without curves nothing else tells how many true positives there are
        possible &= rows["attainable"].astype(bool)
    share = (rows[column] / rows["n"]).where(possible)
    dash = BAND_DASHES[number % len(BAND_DASHES)]
    look = {"color": colour, "linewidth": 1, "linestyle": dash, "label": name}
    canvas.ax.plot(rows["n"], share, **canvas.look.band(None, **look))
