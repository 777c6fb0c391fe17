"""Estimates and their intervals side by side: areas, odds ratios, tests under other ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.plotting.drawing.canvas import (
    GREY,
    XLABELS,
    Canvas,
    is_log,
    percent,
    table_of,
    thinned,
)
from rankeval_pd.plotting.drawing.nbest import beside
from rankeval_pd.plotting.drawing.panels import picture
from rankeval_pd.plotting.drawing.scales import set_ticks, small
from rankeval_pd.plotting.drawing.systems import name_rows, rows_high

_INTERVALS = {"newcombe": "Newcombe", "delong": "DeLong"}
_AREAS = {"roc": "area under the ROC curve", "ap": "average precision"}


@picture(("measure", "area", "chance"), "area", own="y")
def draw_area(canvas: Canvas, table: pd.DataFrame, *, sort: bool = True) -> None:
    """Draw the area of each measure, its interval, and what chance reaches."""
    ax = canvas.ax
    if sort:
        table = table.sort_values("area", ascending=False, kind="stable")
    attrs = table.attrs
    for y, row in enumerate(table.to_dict("records")):
        colour = canvas.colour(row["measure"])
        low, high = row.get("ci_low", np.nan), row.get("ci_high", np.nan)
        if np.isfinite(low) and np.isfinite(high):
            bar = canvas.look.band(row["measure"], color=colour, linewidth=2, alpha=0.6)
            ax.hlines(y, low, high, **bar)
        mark = {"marker": "o", "markersize": 4 if small(ax) else 6, "linestyle": "none"}
        ax.plot([row["area"]], [y], **canvas.look.mark(row["measure"], color=colour, **mark))
    chances = table["chance"].dropna().round(9).unique()
    for number, chance in enumerate(chances):
        name = f"chance, {chance:.3g}" if number == 0 else "_chance"
        ax.axvline(chance, color=GREY, linewidth=1, linestyle=(0, (2, 2)), label=name)
    level = f"{percent(attrs['level'])} " if "level" in attrs else ""
    if "ci_low" in table and table["ci_low"].notna().any():
        kind = f", {_INTERVALS.get(attrs['ci'], attrs['ci'])}" if attrs.get("ci") else ""
        name = f"{level}interval{kind}, each alone"
        ax.plot([], [], color=GREY, linewidth=2, alpha=0.6, label=name)
    name_rows(ax, [canvas.text(name) for name in table["measure"]])
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.grid(axis="x", color="0.92")
    ax.set_axisbelow(True)
    set_ticks(ax.xaxis, lambda value, _=None: f"{value:.3g}", 5.0)
    canvas.finish(xlabel=_AREAS.get(str(attrs.get("kind")), "area"))


draw_area.__wrapped__.figure_size = rows_high  # type: ignore[attr-defined]


def pairs_of(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each pair of measures, by the name of the pair."""
    result = table.groupby(["measure_a", "measure_b"], sort=False)
    return [((a, b), rows.sort_values("n")) for (a, b), rows in result]  # type: ignore[misc]


def _pair(canvas: Canvas, pair: Any) -> str:
    return f"{canvas.text(pair[0])} : {canvas.text(pair[1])}"


@picture(("measure_a", "measure_b", "n", "odds_ratio_mle", "ci_low", "ci_high"), "odds_ratios")
def draw_odds_ratios(canvas: Canvas, table: pd.DataFrame, *, log: bool | None = None) -> None:
    """Draw the odds ratios of the two difference regions over n, on a logarithmic scale."""
    ax = canvas.ax
    logarithmic = is_log(log, table["n"])
    estimates = table[["odds_ratio_mle", "ci_low", "ci_high"]].to_numpy(dtype=float)
    inside = estimates[np.isfinite(estimates) & (estimates > 0.0)]
    low, high = (float(inside.min()), float(inside.max())) if inside.size else (0.1, 10.0)
    low, high = min(low, 0.5) / 1.5, max(high, 2.0) * 1.5
    pairs = pairs_of(table)
    for number, (pair, rows) in enumerate(pairs):
        rows = thinned(rows)
        at = beside(rows["n"], number, len(pairs), log=logarithmic)
        odds, colour = rows["odds_ratio_mle"], canvas.colour(pair)
        known = np.isfinite(odds) & (odds > 0.0)  # no line leads to 0 or to infinity
        canvas.curve(pair, at, odds.where(known), label=_pair(canvas, pair))
        for beyond, edge, sign in ((np.isposinf(odds), high, "^"), (odds == 0.0, low, "v")):
            mark = {"color": colour, "marker": sign, "linestyle": "none", "markersize": 6}
            if beyond.any():  # without a point, what is not clipped stands in the corner
                ax.plot(at[beyond], np.full(beyond.sum(), edge), clip_on=False, **mark)
        limits = rows["ci_low"].clip(low, high), rows["ci_high"].clip(low, high)
        if len(rows) <= 40:
            bar = canvas.look.band(pair, color=colour, alpha=0.6, linewidth=2)
            ax.vlines(at, *limits, **bar)
        else:
            band = canvas.look.band(pair, color=colour, alpha=0.2, linewidth=0)
            ax.fill_between(at, *limits, **band)
    ax.axhline(1.0, color=GREY, linewidth=1, linestyle=(0, (2, 2)), label="no difference")
    level = f"{percent(table.attrs['level'])} " if "level" in table.attrs else ""
    ax.plot([], [], color=GREY, alpha=0.5, linewidth=3, label=f"{level}exact interval, pointwise")
    if not np.isfinite(estimates).all() or (estimates == 0.0).any():
        canvas.note("triangles: 0 or infinite, a region without true or false positives")
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    set_ticks(ax.yaxis, lambda value, _=None: f"{value:g}", 4.0)
    canvas.across("n", log=logarithmic)
    canvas.finish(xlabel=XLABELS["n"], ylabel="odds ratio")


@picture(("measure_a", "measure_b", "n", "p_min", "p_median", "p_max"), "tie_sensitivity")
def draw_tie_sensitivity(
    canvas: Canvas, table: pd.DataFrame, *, alpha: float = 0.05, log: bool | None = None
) -> None:
    """Draw how far the p-value depends on the order of equal scores."""
    ax = canvas.ax
    logarithmic = is_log(log, table["n"])
    p = table[["p_min", "p_max"]].to_numpy(dtype=float)
    least = max(float(np.min(p[p > 0.0], initial=1.0)), 1e-300)
    pairs = pairs_of(table)
    for number, (pair, rows) in enumerate(pairs):
        rows = thinned(rows)
        at = beside(rows["n"], number, len(pairs), log=logarithmic)
        canvas.curve(pair, at, rows["p_median"].clip(lower=least), label=_pair(canvas, pair))
        limits = rows["p_min"].clip(lower=least), rows["p_max"].clip(lower=least)
        colour = canvas.colour(pair)
        if len(rows) <= 40:
            bar = canvas.look.band(pair, color=colour, alpha=0.5, linewidth=3)
            ax.vlines(at, *limits, **bar)
        else:
            band = canvas.look.band(pair, color=colour, alpha=0.25, linewidth=0)
            ax.fill_between(at, *limits, **band)
    keys = table.attrs.get("n_keys")
    orders = f"{keys} orders of equal scores" if keys else "the orders of equal scores"
    ax.plot([], [], color=GREY, alpha=0.5, linewidth=3, label=f"least to largest p of {orders}")
    ax.axhline(
        alpha, color=GREY, linewidth=1, linestyle=(0, (2, 2)), label=f"p\u00a0=\u00a0{alpha:g}"
    )
    canvas.note("lines: the median p")
    if (p == 0.0).any():
        canvas.note(f"at the bottom: p below {least:.0e}")
    ax.set_yscale("log")
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, min(top, 1.3))
    set_ticks(ax.yaxis, lambda value, _=None: f"{value:.3g}", 5.0)
    canvas.across("n", log=logarithmic)
    canvas.finish(xlabel=XLABELS["n"], ylabel="p-value")


@picture(
    ("measure_a", "measure_b", "n_first", "n_last", "difference", "ci_low", "ci_high"),
    "mean_difference",
)
def draw_mean_difference(
    canvas: Canvas, table: pd.DataFrame, differences: pd.DataFrame | None = None
) -> None:
    """Draw the mean difference of precision and its interval over the n that it is a mean of."""
    ax = canvas.ax
    drawn = [*table["n_last"]]
    for row in table.to_dict("records"):
        pair = (row["measure_a"], row["measure_b"])
        if differences is not None:
            needed = ("measure_a", "measure_b", "n", "difference")
            result = table_of(differences, needed, "compare")
            same = (result["measure_a"] == pair[0]) & (result["measure_b"] == pair[1])
            rows = thinned(result[same])
            drawn += [*rows["n"]]
            ax.plot(rows["n"], rows["difference"], color="0.6", linewidth=0.8, label="at each n")
        colour = canvas.colour(pair)
        across = [row["n_first"], row["n_last"]]
        level = f"{percent(table.attrs['level'])} " if "level" in table.attrs else ""
        band = {
            "color": colour,
            "alpha": 0.25,
            "linewidth": 0,
            "label": f"{level}interval of the mean",
        }
        ax.fill_between(across, row["ci_low"], row["ci_high"], **canvas.look.band(pair, **band))
        name = f"{canvas.text(pair[0])} − {canvas.text(pair[1])}:"
        name += f" mean {100 * row['difference']:.3g} points"
        name += f", p\u00a0=\u00a0{row['p_value']:.2g}" if "p_value" in row else ""
        line = {"color": colour, "linewidth": 2, "label": name}
        ax.plot(across, [row["difference"]] * 2, **canvas.look.rule(pair, **line))
    ax.axhline(0.0, color=GREY, linewidth=1, linestyle=(0, (2, 2)), label="no difference")
    canvas.across("n", log=is_log(None, drawn))
    set_ticks(ax.yaxis, lambda value, _=None: f"{100 * value:.4g}%", 5.0)
    canvas.finish(xlabel=XLABELS["n"], ylabel="difference of precision")
