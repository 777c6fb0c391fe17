"""Plots that compare systems on test items, as in Berg-Kirkpatrick et al. (2012)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.forms.out.phrases import percent_of
from rankeval_pd.plotting.canvas import LINE, THIN, Canvas, interval_kind
from rankeval_pd.plotting.forests import gain_of
from rankeval_pd.plotting.ink import Ink
from rankeval_pd.plotting.numbers import (
    font,
    panel_size,
    plainly,
    set_chosen_ticks,
    set_ticks,
    settle,
    wide,
)
from rankeval_pd.plotting.panels import picture
from rankeval_pd.plotting.tables import table_of

_CROWD = 300  # more points than this are drawn in a pale color
_LEVEL = 0.95
_LEVELS = (0.95, 0.5, 0.99, 0.999, 0.9, 0.9999, 0.99999, 0.75)
_FEWEST_DRAWS = 1e5  # largest confidence shown: one contradiction in this number of draws


@picture(("system_a", "system_b", "gain", "confidence"), "paired_bootstrap")
def draw_confidence(
    canvas: Canvas, table: pd.DataFrame, thresholds: pd.DataFrame | None = None
) -> None:
    """Plot gain against confidence, 1 - p, for every pair of systems."""
    ax, ink = canvas.ax, canvas.ink
    table = table.assign(p=1.0 - table["confidence"].to_numpy(dtype=float))
    exact = table["exact"].all() if "exact" in table and len(table) else False
    draws = float(table.attrs.get("n_resamples") or 0.0)
    least = 1.0 / (draws + 1.0) if draws and not exact else 1.0 / _FEWEST_DRAWS
    relations = _relations(table)
    several = len(relations) > 1
    positive = table["gain"][table["gain"] > 0]
    lowest = 0.5 * float(positive.min()) if len(positive) else 1e-3
    for name, rows in relations:
        y = -np.log10(rows["p"].clip(lower=least).to_numpy(dtype=float))
        sure = rows["confidence"].to_numpy(dtype=float) >= _LEVEL
        full = rows["p"].to_numpy(dtype=float) <= least * (1.0 + 1e-6)
        x = rows["gain"].clip(lower=lowest).to_numpy(dtype=float)
        own = canvas.color(name) if several else ink.accent
        for which, color in ((~sure, ink.plain), (sure, own)):
            for at, sign, size in ((which & ~full, "o", 4.5), (which & full, "^", 5.5)):
                look = {
                    "marker": sign, "markersize": size, "color": color, "linestyle": "none",
                    "markeredgecolor": ink.bg, "markeredgewidth": 0.6, "zorder": 3,
                    "label": "_pairs",
                }  # fmt: skip
                ax.plot(x[at], y[at], **canvas.look.mark(name, **look))
        if several:
            canvas.curve(name, [], [], label=f"{canvas.text(name)} ({len(rows)})")
    canvas.rule(-np.log10(1.0 - _LEVEL))
    ax.set_xscale("log")
    if not len(positive):
        canvas.limits("x", 0.001, 1.0)
    if len(positive):
        left = lowest if (table["gain"] <= 0).any() else lowest * 1.5
        canvas.limits("x", left, 1.3 * float(positive.max()))
    top = float(max([-np.log10(least) if (table["p"] <= least * (1.0 + 1e-6)).any() else 0.0,
                     *(-np.log10(table["p"].clip(lower=least))), 1.6]))  # fmt: skip
    bottom = -np.log10(max(float(table["p"].max()), least)) if len(table) else 0.15
    canvas.limits("y", min(0.15, bottom), 1.09 * top)
    if thresholds is not None:
        _draw_thresholds(canvas, thresholds, [name for name, _ in relations])
    texts = [percent_of(c) for c in _LEVELS]
    set_chosen_ticks(ax.yaxis, [-np.log10(1.0 - c) for c in _LEVELS], texts)
    set_ticks(ax.xaxis, plainly, 5.0)
    _note_confidence(canvas, table, least, exact=bool(exact))
    canvas.meet = True
    canvas.finish(xlabel=gain_of(table.attrs), ylabel="confidence (1 − p, one-sided)")


def _note_confidence(canvas: Canvas, table: pd.DataFrame, least: float, *, exact: bool) -> None:
    """Write the number of significant pairs and the highest possible confidence."""
    ax, ink = canvas.ax, canvas.ink
    note: dict[str, Any] = {"fontsize": font(ax, "note"), "textcoords": "offset points"}
    sure = int((table["confidence"] >= _LEVEL).sum())
    ax.annotate(
        f"{sure} of {len(table)} pairs", (0.0, -np.log10(1.0 - _LEVEL)), xytext=(4, 3),
        xycoords=("axes fraction", "data"), ha="left", color=ink.text(ink.accent), **note,
    )  # fmt: skip
    canvas.tell(
        "Dots: pairs of systems, with the gain of the better system. A confidence of"
        f" {percent_of(_LEVEL)} corresponds to a one-sided, unadjusted p of 0.05."
    )
    if (table["p"] <= least * (1.0 + 1e-6)).any():
        limit = (
            f"p ≤ {least:.2g}"
            if exact
            else (f"the gain is above 0 in all {round(1 / least - 1):,} resamples")
        )
        canvas.tell(f"Triangles: {limit}.")
    if (table["gain"] <= 0).any():
        canvas.tell("Gains of 0 or below are drawn at the left edge.")


def _relations(table: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    if "relation" not in table:
        return [(None, table)]
    return [(name, table[table["relation"] == name]) for name in table["relation"].unique()]


def _draw_thresholds(canvas: Canvas, thresholds: pd.DataFrame, relations: list[Any]) -> None:
    """Draw gain thresholds, and their intervals as bars at the bottom."""
    ax, ink = canvas.ax, canvas.ink
    needed = ("relation", "threshold", "threshold_low", "threshold_high")
    result = table_of(thresholds, needed, "gain_threshold").dropna(subset=["threshold"])
    low, high = ax.get_xlim()
    most = float(result["threshold"].max()) if len(result) else high
    canvas.limits("x", low, max(high, 1.3 * most))
    for number, row in enumerate(result[list(needed)].to_numpy(dtype=object)):
        relation, threshold, least, largest = row
        known = relation in relations and len(relations) > 1
        color = canvas.color(relation) if known else ink.reference
        line = {"color": color, "linewidth": THIN if not known else 1.2, "zorder": 1.2}
        ax.axvline(threshold, **canvas.look.line(relation, **line, label="_threshold"))
        bar = {"color": color, "linewidth": 3, "alpha": 0.5, "label": "_interval"}
        place = {"transform": ax.get_xaxis_transform(), "zorder": 1.2}
        end = min(float(largest), float(ax.get_xlim()[1]))
        height = 0.02 + 0.03 * number
        ax.hlines(height, max(float(least), float(ax.get_xlim()[0])), end, **place,
                  **canvas.look.band(relation, **bar))  # fmt: skip
        text = f"threshold\n{threshold:.2g}"
        left = np.log(threshold / ax.get_xlim()[0]) > 0.7 * np.log(np.divide(*ax.get_xlim()[::-1]))
        ax.annotate(
            text, (threshold, 0.04 + 0.03 * len(result)), xycoords=("data", "axes fraction"),
            xytext=(-4 if left else 4, 4 + 2.4 * font(ax, "note") * number),
            textcoords="offset points", va="bottom", ha="right" if left else "left",
            fontsize=font(ax, "note"), color=ink.text(color) if known else ink.note,
        )  # fmt: skip
    if len(result):
        kind = interval_kind(thresholds.attrs, "separately for each threshold")
        canvas.tell(f"Vertical lines: gains worth reporting. Bars at the bottom: {kind}.")


# ----------------------------------------------------------- Gains and the size of the test set


@picture(("size", "system_a", "gain", "p_value"), "gain_by_size")
def draw_gain_by_size(
    canvas: Canvas, table: pd.DataFrame, thresholds: pd.DataFrame | None = None
) -> None:
    """Draw gains and gain thresholds against the size of the test set."""
    ax, ink = canvas.ax, canvas.ink
    drawn = table[table["gain"] > 0.0]
    significant = drawn["p_value"] <= 0.05
    faint = 0.3 if len(drawn) > _CROWD else 0.8
    for rows, color, aside in (
        (drawn[~significant], ink.reference, 0.96),
        (drawn[significant], ink.accent, 1.04),
    ):
        look = {
            "linestyle": "none", "marker": "o", "markersize": 3.5, "color": color, "alpha": faint,
            "markeredgewidth": 0, "label": "_pairs",
        }  # fmt: skip
        ax.plot(rows["size"] * aside, rows["gain"], **canvas.look.mark(None, **look))
    one_sided = table.attrs.get("alternative") in ("greater", "less")
    side = "one-sided" if one_sided else "two-sided"
    canvas.tell(f"Dots: pairs of systems, in color if p ≤ 0.05 ({side}, unadjusted).")
    ax.set_xscale("log")
    ax.set_yscale("log")
    if drawn.empty:
        canvas.tell("No gain is above 0.")
        canvas.limits("y", 0.001, 1.0)
    settle(ax)
    if len(table):
        ends = table["size"].min(), table["size"].max()
        canvas.limits("x", ends[0] / 1.15, 1.15 * ends[1])
    if thresholds is not None:
        _draw_sizes(canvas, thresholds)
    sizes = sorted(table["size"].unique())
    order = [*sizes[:1], *sizes[-1:], *sizes[1:-1]]
    set_chosen_ticks(ax.xaxis, order, [f"{size:,}" for size in order])
    set_ticks(ax.yaxis, plainly, 5.0)
    canvas.finish(xlabel="test items", ylabel=gain_of(table.attrs))


def _draw_sizes(canvas: Canvas, thresholds: pd.DataFrame) -> None:
    """Draw the thresholds against size, with intervals and the square-root law."""
    ax = canvas.ax
    needed = ("size", "relation", "threshold", "threshold_low")
    result = table_of(thresholds, needed, "gain_threshold").sort_values("size")
    without = result[result["threshold"].isna()]
    result = result.dropna(subset=["threshold"])
    low, high = (float(limit) for limit in ax.get_ylim())
    most = 1.15 * float(result["threshold"].max()) if len(result) else high
    canvas.limits("y", low, max(high, most))
    high = float(ax.get_ylim()[1])
    beyond = result[result["threshold_high"] > high] if "threshold_high" in result else result[:0]
    for number, relation in enumerate(result["relation"].unique()):
        alone = bool(pd.isna(relation))
        rows = result if alone else result[result["relation"] == relation]
        name = "threshold" if alone else relation
        last = rows.iloc[-1]
        law = last["threshold"] * np.sqrt(last["size"] / rows["size"])
        look = {"color": canvas.ink.reference, "linewidth": THIN, "zorder": 1}
        ax.plot(rows["size"], law, label="_square-root law", **look)
        if number == 0:
            canvas.tell("Thin gray line: a square-root law through the value for the largest size.")
        canvas.curve(name, rows["size"], rows["threshold"], linewidth=LINE)
        lower = rows["threshold_low"].where(rows["threshold_low"] > 0.0, rows["threshold"])
        canvas.bars(name, rows["size"], lower, rows["threshold_high"].clip(upper=high))
        canvas.limits("y", high=high)
    if len(result):
        kind = interval_kind(thresholds.attrs, "separately for each size")
        canvas.tell(f"Line: gains worth reporting, with {kind}.")
    if len(beyond):
        look = {"color": canvas.ink.plain, "markersize": 5, "label": "_beyond"}
        ax.plot(beyond["size"], np.full(len(beyond), high), "^", clip_on=False, **look)
        canvas.tell("Triangles: the interval extends above the panel.")
    if len(without):
        named = ", ".join(f"{size:,}" for size in sorted(without["size"].unique()))
        canvas.tell(f"There is no threshold at {named} items because no pair is near p = 0.05.")


# ------------------------------------------------------------------- Gains on other items


@picture(("p_low", "p_high", "agreement", "ci_low", "ci_high", "expected_agreement"), "calibration")
def draw_calibration(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the observed and expected rates of sign agreement with other data."""
    ax, ink = canvas.ax, canvas.ink
    table = table.sort_values("p_low")
    at = (table["p_low"].clip(lower=1e-6) * table["p_high"]) ** 0.5
    known = table["agreement"].notna()
    expected = {"color": ink.reference, "linewidth": THIN, "zorder": 1, "label": "expected"}
    ax.plot(at, table["expected_agreement"], **canvas.look.line(None, **expected))
    ends = table["expected_agreement"][known].dropna()
    if len(ends):
        ax.annotate(
            "expected", (at[ends.index[-1]], ends.iloc[-1]), xytext=(-6, -4), va="top", ha="right",
            textcoords="offset points", fontsize=font(ax, "note"), color=ink.note,
        )  # fmt: skip
    bars = {"color": ink.accent, "linewidth": 1.1, "alpha": 0.75, "zorder": 2.6}
    ax.vlines(at[known], table["ci_low"][known], table["ci_high"][known],
              **canvas.look.band(None, **bars))  # fmt: skip
    dots = {"color": ink.accent, "marker": "o", "linestyle": "none", "markersize": 5, "zorder": 3}
    ax.plot(at, table["agreement"], **canvas.look.mark(None, **dots, label="observed"))
    ax.set_xscale("log")
    if known.any():  # whole bins
        lowest = table["p_low"].where(table["p_low"] > 0.0, 0.7 * at)[known].min()
        canvas.limits("x", lowest / 1.05, 1.05 * table["p_high"][known].max())
    edges = sorted({*table["p_low"], *table["p_high"]} - {0.0})
    order = [x for k in (4, 2, 1) for x in edges[::-k]]
    order = list(dict.fromkeys([*edges[:1], *order]))
    set_chosen_ticks(ax.xaxis, order, [f"{edge:.3g}" for edge in order])
    if not known.any():
        ax.set_ylim(0.0, 1.0)
        canvas.tell("No bin contains a pair of systems.")
    elif "n_pairs" in table:
        _count_bins(canvas, at[known], table["n_pairs"][known])
    low, high = ax.get_ylim()
    canvas.limits("y", low - 0.08 * (high - low), high)  # room for a name below the last point
    canvas.upwards()
    canvas.tell(
        "Dots: proportion of pairs that keep the sign of the gain, with"
        f" {interval_kind(table.attrs, 'separately for each bin')}.",
        "Gray line: the proportion expected for other items from the same distribution.",
    )
    canvas.finish(xlabel="one-sided p (edges of bins)", ylabel="pairs that keep their sign")


def _count_bins(canvas: Canvas, at: pd.Series[Any], counts: pd.Series[Any]) -> None:
    """Write the number of pairs above each bin without overlap."""
    ax, size = canvas.ax, font(canvas.ax, "note")
    low, high = np.log(ax.get_xlim())
    last, scale = -np.inf, 0.68 * panel_size(ax)[0] / (high - low)
    for place, count in zip(at, counts, strict=True):
        text = f"{int(count):,}"
        here, half = float(np.log(place)) * scale, 0.5 * wide(text, size) + 2.0
        if np.isfinite(here) and here - half > last:
            last = here + half
            ax.annotate(
                text, (place, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2), ha="center",
                textcoords="offset points", fontsize=size, color=Ink.of(ax, outside=True).note,
            )  # fmt: skip
    canvas.reserve_top()
    canvas.tell("Numbers at the top: pairs in each bin.")
