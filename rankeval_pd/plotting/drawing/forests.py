"""Estimates and ranks with their intervals, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.plotting.drawing.canvas import (
    GREY,
    XLABELS,
    Canvas,
    is_log,
    percent,
    table_of,
    thinned,
    tidy,
)
from rankeval_pd.plotting.drawing.legends import panel_size
from rankeval_pd.plotting.drawing.lists import beside
from rankeval_pd.plotting.drawing.panels import picture
from rankeval_pd.plotting.drawing.scales import in_percent, set_ticks, small
from rankeval_pd.plotting.drawing.systems import name_rows, rows_high
from rankeval_pd.stats.resampling.metric_sums import WRITTEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# ---------- Estimates and their intervals side by side: areas, odds ratios, tests under other ties

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


# ------------- Measures of rankings: their ranks, and their pairs as pictures of systems show them

NEEDED = ("measure", "value", "ci_low", "ci_high", "rank_low", "rank_high", "tied_for_best")
_AREA_NAMES = {"ap": "average precision", "roc": "area under the ROC curve"}
# of each side of a pair of measures: the tables of pairs, of compare, and of compare_area
_SCORES = ("value", "precision", "area")
_TOGETHER = ("max-t", "holm", "bonferroni")


def draw_measure_ranks(table: pd.DataFrame | xr.Dataset, **look: Any) -> Any:
    """Draw the value of each measure with its interval, and its ranks.

    A panel for each n, or of queries for each metric.
    """
    frame = tidy(table, NEEDED, "measure_ranks")
    frame = frame.drop(columns=["row"], errors="ignore")
    return _draw_measure_ranks(_by_n(frame, "measure"), **look)


def _by_n(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the table with n, or the metric, among its groups, where it has several."""
    asked = next((column for column in ("n", "metric") if column in table), None)
    if asked is None:
        return table
    columns = [column for column in table.columns if column != asked]
    if len(table[asked].unique()) > 1:
        place = columns.index(name)
        columns = [*columns[:place], asked, *columns[place:]]
        result = table[columns]
        if asked == "metric":
            result.attrs = {**table.attrs, "metric": ""}  # its name stands over the panel
        return result
    result = table[columns]
    result.attrs = {**table.attrs, asked: table[asked].iloc[0] if len(table) else None}
    return result


@picture(NEEDED, "measure_ranks", own="y")
def _draw_measure_ranks(canvas: Canvas, table: pd.DataFrame) -> None:
    ax, look = canvas.ax, canvas.look
    table = table.sort_values("value", ascending=False, kind="stable")
    row_high = 0.5 * panel_size(ax)[1] / max(len(table), 1)  # points
    for y, row in enumerate(table.to_dict("records")):
        name = row["measure"]
        colour = canvas.colour(name)
        wide = float(np.clip(0.3 * row_high, 0.8, 2.0))
        bar = look.band(name, color=colour, linewidth=wide, alpha=0.6)
        ax.hlines(y, row["ci_low"], row["ci_high"], **bar)
        size = float(np.clip(0.8 * row_high, 2.5, 4.0 if small(ax) else 6.0))
        mark = {
            "marker": "o", "linestyle": "none", "markersize": size,
            "markeredgewidth": wide / 2,
            "color": colour, "markerfacecolor": colour if row["tied_for_best"] else "white",
        }  # fmt: skip
        ax.plot([row["value"]], [y], **look.mark(name, **mark))
    font = name_rows(ax, [canvas.text(name) for name in table["measure"]])
    ax.set_ylim(len(table) - 0.4, -0.6)
    of_lists = table.attrs.get("kind") is None and "metric" not in table.attrs
    digits = in_percent if of_lists else (lambda value, _=None: f"{value:.3g}")
    set_ticks(ax.xaxis, digits, 4.0)
    ax.grid(axis="x", **look.rule(None, color="0.92"))
    ax.set_axisbelow(True)
    _write_ranks(ax, table, font)
    _explain(canvas, table)
    canvas.finish(xlabel=_what(table.attrs))


_draw_measure_ranks.__wrapped__.figure_size = rows_high  # type: ignore[attr-defined]


def _what(attrs: Mapping[Any, Any]) -> str:
    """Return what the measures are ranked by."""
    kind = attrs.get("kind")
    if kind is not None:
        return _AREA_NAMES.get(str(kind), "value")
    if "metric" in attrs:
        metric = WRITTEN.get(attrs["metric"], attrs["metric"])
        return f"mean {metric} over queries" if metric else "mean over queries"
    return f"precision, n = {attrs['n']:,}" if attrs.get("n") else "precision of the n-best list"


def _write_ranks(ax: Axes, table: pd.DataFrame, font: float) -> None:
    """Write the ranks that are left open on the right, in the rows that are named."""
    named = {round(float(place)) for place in ax.get_yticks()}
    ranks = table[["rank_low", "rank_high"]].to_numpy(dtype=float)
    for y, (low, high) in enumerate(ranks):
        if y in named and np.isfinite(low):
            said = f"{low:.0f}" if low == high else f"{low:.0f}–{high:.0f}"
            ax.annotate(
                said, (1.0, y), xycoords=ax.get_yaxis_transform(), xytext=(4, 0),
                textcoords="offset points", va="center", fontsize=font, annotation_clip=False,
            )  # fmt: skip
    head = min(font, 8.0) if panel_size(ax)[0] > 300 else min(font, 6.0)
    ax.annotate(
        "rank", (1.0, 1.0), xycoords="axes fraction", xytext=(4, 1), textcoords="offset points",
        va="bottom", fontsize=head, color=GREY, annotation_clip=False,
    )  # fmt: skip


def _explain(canvas: Canvas, table: pd.DataFrame) -> None:
    """Say in the legend what points, bars and the numbers on the right are."""
    ax, attrs = canvas.ax, table.attrs
    tied = table["tied_for_best"].astype(bool)
    point: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 4, "color": GREY}
    for there, face, name in (
        (tied.any(), GREY, "tied for best"),
        ((~tied).any(), "white", "significantly worse than another"),
    ):
        if there:
            ax.plot([], [], **point, markerfacecolor=face, label=name)
    level = f"{percent(attrs['level'])} " if "level" in attrs else ""
    name = f"{level}interval of the value, each alone"
    ax.plot([], [], color=GREY, linewidth=2, alpha=0.6, label=name)
    how = "all together" if attrs.get("adjust") in _TOGETHER else "not all together"
    how = "each pair alone" if attrs.get("adjust", "max-t") is None else how
    canvas.note(f"right: {level}interval of the rank, {how}")


def as_systems(table: pd.DataFrame | xr.Dataset) -> pd.DataFrame:
    """Return the pairs of measures in the columns of pairs of systems, n among the groups."""
    needed = ("measure_a", "measure_b", "difference", "p_value")
    frame = tidy(table, needed, "compare, or of compare_area")
    score = next((name for name in _SCORES if f"{name}_a" in frame), None)
    if score is None:
        raise ValueError(
            "table has neither precision_a, precision_b nor area_a, area_b: give the result of"
            " compare with n, or of compare_area, or the data."
        )
    frame = _by_n(frame, "measure_a")
    kind = frame.attrs.get("kind", "roc" if score == "area" else None)
    before = list(frame.columns[: list(frame.columns).index("measure_a")])
    renamed = {
        "measure_a": "system_a", "measure_b": "system_b", f"{score}_a": "score_a",
        f"{score}_b": "score_b", "difference": "gain", "p_value": "p_two_sided",
        "p_adjusted": "p_adjusted",
    }  # fmt: skip
    frame = frame if "p_adjusted" in frame else frame.assign(p_adjusted=np.nan)
    result = frame[[*before, *renamed]].rename(columns=renamed)
    result["p_value"] = result["p_two_sided"]
    result.attrs = {**frame.attrs, "kind": kind}
    result.attrs["what"] = _what(result.attrs)
    return result
