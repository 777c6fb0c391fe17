"""The distribution of a random list's true positives (Macskassy 2005, figure 1)."""

from __future__ import annotations

import pandas as pd

from rankeval_pd.plotting.drawing.canvas import GREY, Canvas, table_of
from rankeval_pd.plotting.drawing.look import COLOURS, DASHES, MARKS
from rankeval_pd.plotting.drawing.panels import picture
from rankeval_pd.plotting.drawing.scales import compact, set_ticks

_KINDS = ("discrete", "interpolated", "parametric")


@picture(("n", "tp", *_KINDS), "random_cdf")
def draw_random_cdf(canvas: Canvas, table: pd.DataFrame, bound: pd.DataFrame | None = None) -> None:
    """Draw the distribution functions of a random list's true positives, and their bounds."""
    sizes = table["n"].drop_duplicates().tolist()
    if len(sizes) > 1:
        raise ValueError(
            f"table has {len(sizes)} list sizes, and a picture shows one. Choose it:"
            f" table[table['n'] == {sizes[0]}]."
        )
    ax, look = canvas.ax, canvas.look
    for number, kind in enumerate(_KINDS):
        steps = {"drawstyle": "steps-post"} if kind == "discrete" else {}
        line = {"color": COLOURS[number], "linestyle": DASHES[number], **steps, "label": kind}
        ax.plot(table["tp"], table[kind], **look.rule(kind, **line))
    if bound is not None and sizes:
        rows = table_of(bound, ("p", "n", *_KINDS), "random_bound")
        for p, *bounds in rows.loc[rows["n"] == sizes[0], ["p", *_KINDS]].to_numpy(dtype=float):
            height = 1.0 - p
            listed = ", ".join(f"{at:.4g}" for at in bounds)
            name = f"bounds at p\u00a0=\u00a0{p:g}: {listed}"
            rule = {"color": GREY, "linewidth": 0.8, "zorder": 1}
            ax.axhline(height, **look.band(None, **rule))
            for number, at in enumerate(bounds):
                mark = {
                    "color": COLOURS[number], "marker": MARKS[number], "markersize": 5,
                    "linestyle": "none", "label": f"_{_KINDS[number]}",
                }  # fmt: skip
                ax.plot(at, height, **look.mark(_KINDS[number], **mark))
            ax.plot([], [], color=GREY, linewidth=0.8, marker="o", markersize=4, label=name)
    size = f" {sizes[0]:,}" if sizes else ""
    set_ticks(ax.xaxis, compact, 4.0)
    canvas.finish(xlabel=f"true positives among the first{size}", ylabel="P(as many or fewer)")
