"""Plots that show all pairs of systems as cells in a triangle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.forms.out.phrases import percent_of
from rankeval_pd.plotting.canvas import Canvas, pairs_kind
from rankeval_pd.plotting.forests import gain_of
from rankeval_pd.plotting.ink import Ink, contrast, cycle, mix
from rankeval_pd.plotting.numbers import (
    LEAST,
    digits_for,
    font,
    number,
    panel_size,
    shortened,
    wide,
)
from rankeval_pd.plotting.panels import picture
from rankeval_pd.stats.significance.adjust import rejects

_CELL = 20.0  # size in points of a cell that has room for a number
_SIDE = 0.66  # fraction of the panel for the cells


@picture(
    ("system_a", "system_b", "score_a", "score_b", "gain", "p_value"),
    "paired_bootstrap", own="xy",
)  # fmt: skip
def draw_pairs(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw a triangle of all pairs, with significant gains in color."""
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm, to_hex
    from matplotlib.patches import Rectangle

    ax, ink = canvas.ax, Ink.of(canvas.ax, outside=True)
    names = table[["system_a", "system_b"]].astype(object)
    names = names.where(names.notna(), "nan")  # NaN is not equal to NaN
    table = table.assign(system_a=names["system_a"], system_b=names["system_b"])
    systems = by_wins(table)
    width, height = panel_size(ax)
    named = max(3, int(_SIDE * min(width, height) / (1.12 * LEAST)))
    count = min(len(systems), named)  # the last row represents the remaining systems
    place = {name: min(k, count - 1) for k, name in enumerate(systems)}
    folded = len(systems) - count + 1 if len(systems) > count else 0
    alpha = float(table.attrs.get("alpha", 0.05))
    p = table["p_adjusted" if "p_adjusted" in table else "p_value"].to_numpy(dtype=float)
    hue = cycle(canvas.look.colors)[0]
    scale = LinearSegmentedColormap.from_list(
        "gain", [mix(hue, ink.bg, 0.22), ink.line(hue), mix(ink.fg, hue, 0.55)]
    )
    told = rejects(p, alpha)
    most = float(table["gain"].abs()[told].max()) if told.any() else 1.0
    norm, pale = PowerNorm(0.5, 0.0, most or 1.0), mix(ink.fg, ink.bg, 0.08)
    cell = _SIDE * min(width, height) / max(count, 1)
    digits = digits_for(0.5 * most) if most else 2
    shares = "what" in table.attrs and table.attrs.get("kind") is None
    size = font(ax, "note")
    cells, faces = [], []
    pairs: dict[tuple[int, int], tuple[float, bool]] = {}
    for a, b, gain, apart in zip(
        table["system_a"], table["system_b"], table["gain"], told, strict=True
    ):
        i, j = place[a], place[b]
        if i > j:
            i, j, gain = j, i, -gain
        if i != j and not np.isnan(gain):  # gain over the remaining systems, and its significance
            least, before = pairs.get((i, j), (np.inf, True))
            pairs[i, j] = min(gain, least), bool(apart) and before
    for (i, j), (gain, apart) in pairs.items():
        cells.append(Rectangle((j + 0.03, i + 0.03), 0.94, 0.94))
        faces.append(to_hex(scale(norm(abs(gain)))) if apart else pale)
        text = number(100 * gain if shares else gain, max(digits - 2, 0) if shares else digits)
        if wide(text, size) <= cell - 3.0 and cell >= _CELL * 0.7:
            shade = max((ink.fg, ink.bg), key=lambda c: contrast(c, faces[-1]))
            look = {"color": shade, "ha": "center", "va": "center", "fontsize": size}
            ax.text(j + 0.5, i + 0.5, text, **canvas.look.mark(None, **look))
    drawn = PatchCollection(cells, linewidth=0)
    drawn.set_facecolor(faces or ["none"])
    drawn.set(**canvas.look.band(None))
    ax.add_collection(drawn)
    ax.patch.set_visible(False)
    ax.set(xscale="linear", yscale="linear", xlim=(0, max(count, 1)), ylim=(max(count, 1), 0))
    ax.set(xticks=[], yticks=[])
    ax.set_box_aspect(1.0)
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
    shown = [canvas.text(name) for name in systems[: count - (folded > 0)]]
    _name_diagonal(canvas, [*shown, *([f"{folded:,} more"] if folded else [])], cell, ink)
    if told.any():
        _scale_bar(canvas, scale, norm, table, ink, shares=shares)
    if canvas.look.title is not None and canvas.alone:
        ax.set_title(canvas.look.title, loc="left", fontsize=font(ax, "label"))
    how = pairs_kind(table.attrs, len(table))
    canvas.tell(
        f"Color: {_what(table.attrs)} of the row over the column, if p ≤"
        f" {alpha:g}{f', {how}' if how else ''}; pale gray: not significant at {percent_of(alpha)}."
    )
    if folded:
        canvas.tell(
            f"Last column: the smallest gain over {folded:,} more systems, in color if all gains"
            " are significant."
        )


def _what(attrs: Any) -> str:
    if "what" not in attrs:
        return gain_of(attrs)
    points = " (points)" if attrs.get("kind") is None else ""
    return f"difference in {attrs['what']}{points}"


def _name_diagonal(canvas: Canvas, names: list[str], cell: float, ink: Ink) -> None:
    """Write the row names on the diagonal, to the left of the cells."""
    ax = canvas.ax
    size = font(ax, "name") if cell >= 1.15 * font(ax, "name") else LEAST
    width = panel_size(ax)[0]
    for k, name in enumerate(names):
        ax.annotate(
            shortened(name, size, k * cell + 0.22 * width), (k + 1, k + 0.5), xytext=(-4, 0),
            textcoords="offset points", ha="right", va="center", fontsize=size, color=ink.fg,
            annotation_clip=True,
        )  # fmt: skip


def _scale_bar(
    canvas: Canvas, scale: Any, norm: Any, table: pd.DataFrame, ink: Ink, *, shares: bool
) -> None:
    """Draw the color scale in the empty corner."""
    from matplotlib.cm import ScalarMappable

    ax: Any = canvas.ax
    size = font(ax, "note")
    inset = ax.inset_axes([0.0, 0.10, 0.30, 0.03])
    bar = ax.figure.colorbar(ScalarMappable(norm, scale), cax=inset, orientation="horizontal")
    bar.outline.set_visible(False)
    digits = digits_for(0.5 * norm.vmax)
    ticks = [0.0, norm.vmax] if panel_size(ax)[0] < 283 else [0.0, 0.25 * norm.vmax, norm.vmax]
    texts = [number(100 * x if shares else x, max(digits - 2, 0) if shares else digits)
             for x in ticks]  # fmt: skip
    bar.set_ticks(ticks, labels=texts, fontsize=size)
    inset.tick_params(length=0, labelcolor=ink.fg)
    inset.minorticks_off()
    inset.set_xlim(0.0, norm.vmax)
    words = _what(table.attrs).replace("difference in ", "difference,\n")
    inset.annotate(
        "gray: not distinguished", (0, 0), xycoords="axes fraction", xytext=(0, -2.4 * size),
        textcoords="offset points", va="center", fontsize=size, color=ink.note,
    )  # fmt: skip
    inset.set_title(words.replace("gain in ", "gain in\n"), fontsize=size, loc="left",
                    color=ink.note, pad=4)  # fmt: skip


def figure_size(table: pd.DataFrame | None) -> tuple[float, float]:
    """Return a figure size with room for the cells of many systems."""
    from matplotlib import rcParams

    height = rcParams["figure.figsize"][1]
    count = 2
    if table is not None:
        count = len(set(table["system_a"]) | set(table["system_b"]))
    needed = 1.6 + 0.22 * min(count, 40)
    return (max(1.15 * height, needed + 0.6), max(height, needed))


draw_pairs.__wrapped__.figure_size = figure_size  # type: ignore[attr-defined]


def by_wins(table: pd.DataFrame) -> list[Any]:
    """Sort the systems by the number of systems that they beat, largest first."""
    ahead = pd.concat([
        pd.Series(np.sign(table["gain"].to_numpy()), index=table["system_a"]),
        pd.Series(-np.sign(table["gain"].to_numpy()), index=table["system_b"]),
    ])  # fmt: skip
    wins = ahead.groupby(level=0, sort=False).sum()
    return wins.sort_values(ascending=False, kind="stable").index.tolist()
