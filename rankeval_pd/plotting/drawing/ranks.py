"""Measures of rankings: their ranks, and their pairs as pictures of systems show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.plotting.drawing.canvas import GREY, Canvas, percent, tidy
from rankeval_pd.plotting.drawing.legends import panel_size
from rankeval_pd.plotting.drawing.panels import picture
from rankeval_pd.plotting.drawing.scales import in_percent, set_ticks, small
from rankeval_pd.plotting.drawing.systems import name_rows, rows_high
from rankeval_pd.stats.resampling.metrics import WRITTEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDED = ("measure", "value", "ci_low", "ci_high", "rank_low", "rank_high", "tied_for_best")
_AREAS = {"ap": "average precision", "roc": "area under the ROC curve"}
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
        return _AREAS.get(str(kind), "value")
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
    result = frame[[*before, *renamed]].rename(columns=renamed)
    result["p_value"] = result["p_two_sided"]
    result.attrs = {**frame.attrs, "kind": kind}
    result.attrs["what"] = _what(result.attrs)
    return result
