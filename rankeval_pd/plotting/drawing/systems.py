"""Pictures of systems over test items (Berg-Kirkpatrick et al. 2012, figures 2 to 11, table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.plotting.drawing.canvas import (
    COLOURS,
    GREY,
    Keywords,
    axes,
    percent,
    place_legend,
    style,
    table_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS = "o^sDvPX"
_KINDS = {
    "order": "order statistics, pairs as independent", "systems": "systems drawn",
    "clopper-pearson": "Clopper-Pearson, pairs as independent",
}  # fmt: skip


def _tidy(table: Any, needed: Sequence[str], made_by: str) -> pd.DataFrame:
    """Return the table as a tidy DataFrame of one group, batch dimensions first."""
    if isinstance(table, xr.Dataset):
        batch = [d for d in table.dims if d not in ("pair", "system", "row", *needed)]
        frame = table.to_dataframe().reset_index()
        first = [*batch, *(name for name in needed if name in frame)]
        frame = frame[[*first, *(name for name in frame if name not in first)]]
        frame.attrs = dict(table.attrs)
        table = frame
    return table_of(table, needed, made_by)


def _interval(attrs: dict[Any, Any], what: str) -> str:
    """Return the name of an interval: its level and kind."""
    ci, level = attrs.get("ci"), attrs.get("level")
    return f"{what}, {percent(level)} ({_KINDS.get(ci, ci)})" if ci and level else what


def draw_confidence(
    table: pd.DataFrame | xr.Dataset,
    thresholds: pd.DataFrame | xr.Dataset | None = None,
    *,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw the gain of every pair of systems against its confidence, 1 - p."""
    needed = ("system_a", "system_b", "gain", "confidence")
    table = _tidy(table, needed, "paired_bootstrap")
    ax = axes(ax)
    relations = _relations(table)
    for number, (name, rows) in enumerate(relations):
        look = {
            "color": COLOURS[number % len(COLOURS)], "marker": _MARKS[number % len(_MARKS)],
            "linestyle": "none", "markersize": 4, "alpha": 0.6, "markeredgewidth": 0,
            "label": _pair_label(name, len(rows)),
        }  # fmt: skip
        ax.plot(rows["gain"], rows["confidence"], **{**look, **dict(marker_kw or {})})
    if thresholds is not None:
        _draw_thresholds(ax, thresholds, [name for name, _ in relations], line_kw, band_kw)
    ax.axhline(0.95, color=GREY, linewidth=0.8, linestyle=(0, (2, 2)), label="p = .05")
    ax.set_xlabel("gain in score")
    ax.set_ylabel("confidence (1 − p, one-sided)")
    return place_legend(ax)


def _relations(table: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    if "relation" not in table:
        return [(None, table)]
    return [(name, table[table["relation"] == name]) for name in table["relation"].unique()]


def _pair_label(name: Any, count: int) -> str:
    kind = "pairs of systems" if name is None else f"{name}"
    return f"{kind} ({count})"


def _draw_thresholds(
    ax: Axes, thresholds: Any, relations: list[Any], line_kw: Keywords, band_kw: Keywords
) -> None:
    found = _tidy(
        thresholds, ("relation", "threshold", "threshold_low", "threshold_high"), "gain_threshold"
    )
    found = found.dropna(subset=["threshold"])
    left, right = ax.get_xlim()
    across = ax.get_xaxis_transform()
    columns = ["relation", "threshold", "threshold_low", "threshold_high"]
    for number, row in enumerate(found[columns].to_numpy(dtype=object)):
        relation, threshold, low, high = row
        known = relation in relations
        look = {**style(relations.index(relation) if known else 0), "linewidth": 1.2}
        label = f"threshold, {relation}" if known else "threshold"
        look["label"] = f"{label}: {threshold:.3g}"
        ax.axvline(threshold, **{**look, **(line_kw or {})})
        height = 0.03 + 0.04 * number
        bar = {"color": look["color"], "linewidth": 3, "alpha": 0.5, "transform": across}
        bar = {**bar, **(band_kw or {})}
        ax.hlines(height, low, min(high, right), **bar)
        if np.isinf(high):  # no upper limit
            ax.plot(right, height, ">", color=look["color"], transform=across, clip_on=False)
    ax.set_xlim(left, right)
    if len(found):
        name = _interval(thresholds.attrs, "its interval (an arrow: no upper limit)")
        ax.plot([], [], color=GREY, linewidth=3, alpha=0.5, label=name)


def draw_gain_by_size(
    table: pd.DataFrame | xr.Dataset,
    thresholds: pd.DataFrame | xr.Dataset | None = None,
    *,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw gains, and the gain that is significant, against the size of the test set."""
    table = _tidy(table, ("size", "system_a", "gain", "p_value"), "gain_by_size")
    ax = axes(ax)
    drawn = table[table["gain"] > 0.0]
    significant = drawn["p_value"] <= 0.05
    for rows, name, shade, mark, aside in (
        (drawn[~significant], "pairs, p > .05", "0.6", "x", 0.96),
        (drawn[significant], "pairs, p ≤ .05", "0.4", ".", 1.04),
    ):
        look = {
            "linestyle": "none", "marker": mark, "color": shade, "markersize": 4, "alpha": 0.3,
            "label": name,
        }  # fmt: skip
        ax.plot(rows["size"] * aside, rows["gain"], **{**look, **dict(marker_kw or {})})
    if thresholds is not None:
        _draw_sizes(ax, thresholds, line_kw, band_kw)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("test items")
    ax.set_ylabel("gain in score")
    sizes = sorted(table["size"].unique())
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
    ax.set_xticks([], minor=True)
    return place_legend(ax)


def _draw_sizes(ax: Axes, thresholds: Any, line_kw: Keywords, band_kw: Keywords) -> None:
    found = _tidy(thresholds, ("size", "relation", "threshold", "threshold_low"), "gain_threshold")
    high = float(ax.get_ylim()[1])
    found = found.dropna(subset=["threshold"]).sort_values("size")
    for number, relation in enumerate(found["relation"].unique()):
        alone = bool(pd.isna(relation))
        rows = found if alone else found[found["relation"] == relation]
        look = {**style(number), "marker": _MARKS[number % len(_MARKS)], "markersize": 5}
        label = "threshold" if alone else f"threshold, {relation}"
        ax.plot(rows["size"], rows["threshold"], **{**look, "label": label, **(line_kw or {})})
        low = rows["threshold_low"].where(rows["threshold_low"] > 0.0, rows["threshold"])
        bars = {"color": look["color"], "alpha": 0.6, **(band_kw or {})}
        ax.vlines(rows["size"], low, rows["threshold_high"].clip(upper=high), **bars)
        if number == 0:
            name = _interval(thresholds.attrs, "its interval")
            ax.vlines([], 0, 0, color=GREY, alpha=0.6, label=name)
        last = rows.iloc[-1]
        law = last["threshold"] * np.sqrt(last["size"] / rows["size"])
        ax.plot(
            rows["size"], law, color=look["color"], linewidth=0.8, linestyle=(0, (1, 2)),
            label="square-root law" if number == 0 else None,
        )  # fmt: skip


def draw_calibration(
    table: pd.DataFrame | xr.Dataset,
    *,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw how often gains kept their sign on other data, and how often they should have."""
    from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

    needed = ("p_low", "p_high", "agreement", "ci_low", "ci_high", "expected_agreement")
    table = _tidy(table, needed, "calibration").sort_values("p_low")
    ax = axes(ax)
    at = np.sqrt(table["p_low"].clip(lower=1e-6) * table["p_high"])
    line = {
        "color": "black", "linestyle": "--", "linewidth": 1.2,
        "label": "expected if the items are of the same kind",
    }  # fmt: skip
    ax.plot(at, table["expected_agreement"], **{**line, **(line_kw or {})})
    name = _interval(table.attrs, "interval")
    bars = {"color": COLOURS[0], "alpha": 0.6, "label": name, **(band_kw or {})}
    shown = table["agreement"].notna()
    ax.vlines(at[shown], table["ci_low"][shown], table["ci_high"][shown], **bars)
    points = {
        "color": COLOURS[0], "marker": "o", "linestyle": "none", "markersize": 5,
        "label": "observed",
    }  # fmt: skip
    ax.plot(at, table["agreement"], **{**points, **dict(marker_kw or {})})
    ax.set_xscale("log")
    edges = sorted({*table["p_low"], *table["p_high"]} - {0.0})
    ax.xaxis.set_major_locator(FixedLocator(edges))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(edges, [f"{edge:.3g}".lstrip("0") for edge in edges], rotation=45)
    ax.set_xlabel("one-sided p, edges of bins")
    ax.set_ylabel("pairs that keep their sign")
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    return place_legend(ax, below_axis=-62.0)


def draw_system_ranks(
    table: pd.DataFrame | xr.Dataset,
    *,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw the rank of every system and the ranks that it might as well have had."""
    from matplotlib.ticker import MaxNLocator

    needed = ("system", "score", "rank", "rank_low", "rank_high", "tied_for_best")
    table = _tidy(table, needed, "system_ranks").sort_values("rank", kind="stable")
    ax = axes(ax)
    y = np.arange(len(table))
    label = _kind_of_ranks(table)
    bars = {"color": COLOURS[0], "linewidth": 2, "alpha": 0.6, "label": label, **(band_kw or {})}
    ax.hlines(y, table["rank_low"], table["rank_high"], **bars)
    tied = table["tied_for_best"].to_numpy(dtype=bool)
    for which, face, name in (
        (tied, COLOURS[0], "tied for best"),
        (~tied, "white", "worse than the best"),
    ):
        look = {
            "marker": "o", "linestyle": "none", "markersize": 6, "color": COLOURS[0],
            "markerfacecolor": face, "label": name,
        }  # fmt: skip
        ax.plot(table["rank"][which], y[which], **{**look, **dict(marker_kw or {})})
    ax.set_yticks(y, [str(name) for name in table["system"]])
    ax.invert_yaxis()
    ax.set_xlabel("rank")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(axis="x", **{"color": "0.9", **(line_kw or {})})
    ax.set_axisbelow(True)
    return place_legend(ax)


def _kind_of_ranks(table: pd.DataFrame) -> str:
    """Return what the intervals of ranks are."""
    together = table.attrs.get("ranks") == "simultaneous"
    alpha, level = table.attrs.get("alpha"), table.attrs.get("level")
    if together and table.attrs.get("adjust") in ("max-t", "holm", "bonferroni") and alpha:
        return f"{percent(1.0 - alpha)} intervals of ranks, all together"
    if together and alpha:
        return f"ranks that tests at {percent(alpha)} leave, each alone"
    kind = f"{percent(level)} interval of ranks" if level else "interval of each rank"
    return f"{kind}, each alone"


_CLASSES = ((0.001, "p ≤ .001"), (0.01, "p ≤ .01"), (0.05, "p ≤ .05"), (np.inf, "p > .05"))
_SHADES = ("#08306b", "#3f7fb9", "#a9c9e4", "#f2f2f2")
_CELL = 0.33  # inches: so wide a cell has room for its gain


def draw_pairs(
    table: pd.DataFrame | xr.Dataset,
    *,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw the matrix of all pairs of systems: gains, and how significant they are."""
    from matplotlib.colors import ListedColormap

    needed = (
        "system_a", "system_b", "score_a", "score_b", "gain", "p_two_sided", "p_adjusted",
    )  # fmt: skip
    table = _tidy(table, needed, "paired_bootstrap")
    ax = axes(ax)
    systems = _by_wins(table)
    place = {name: k for k, name in enumerate(systems)}
    adjusted = bool(table["p_adjusted"].notna().any())
    p = table["p_adjusted" if adjusted else "p_two_sided"].to_numpy(dtype=float)
    limits = np.array([limit for limit, _ in _CLASSES])
    cells = np.full((len(systems), len(systems)), np.nan)
    font = {"ha": "center", "va": "center", "fontsize": 7, **dict(marker_kw or {})}
    kinds = np.searchsorted(limits, p)
    roomy = 0.6 * ax.figure.bbox.width / ax.figure.dpi >= _CELL * len(systems)
    rows = table[["system_a", "system_b", "gain"]].to_numpy(dtype=object)
    for (a, b, gain), kind in zip(rows, kinds, strict=True):
        i, j = place[a], place[b]
        if i > j:
            i, j, gain = j, i, -gain
        cells[i, j] = kind if not np.isnan(gain) else np.nan
        if roomy:
            shade = "white" if kind < 2 else "black"
            ax.text(j, i, f"{gain:.2g}", **{"color": shade, **font})
    look = {"cmap": ListedColormap(_SHADES), "vmin": -0.5, "vmax": 3.5, "shading": "nearest"}
    y = np.arange(len(systems))
    ax.pcolormesh(y, y, np.ma.masked_invalid(cells), **{**look, **(band_kw or {})})
    line = {"color": "white", "linewidth": 0.5, **(line_kw or {})}
    edges = np.arange(len(systems) + 1) - 0.5
    ax.hlines(edges, edges[0], edges[-1], **line)
    ax.vlines(edges, edges[0], edges[-1], **line)
    for shade, (_, name) in zip(_SHADES, _CLASSES, strict=True):
        ax.fill_between([], [], facecolor=shade, edgecolor=GREY, linewidth=0.5, label=name)
    how = f"adjusted ({table.attrs.get('adjust')})" if adjusted else "each alone"
    for name in ("gain of row over column", f"p: two-sided, {how}"):
        ax.plot([], [], " ", label=name)
    ax.set_yticks(y, [str(name) for name in systems])
    ax.set_xticks(y, [str(name) for name in systems], rotation=45, ha="left")
    ax.xaxis.tick_top()
    ax.set_aspect("equal")
    ax.tick_params(length=0)
    ax.set_xlim(-0.5, len(systems) - 0.5)
    ax.set_ylim(len(systems) - 0.5, -0.5)
    place_legend(ax)
    ax.spines[:].set_visible(False)
    return ax


def _by_wins(table: pd.DataFrame) -> list[Any]:
    """Return the systems from the one that beats most to the one that beats fewest."""
    ahead = pd.concat([
        pd.Series(np.sign(table["gain"].to_numpy()), index=table["system_a"]),
        pd.Series(-np.sign(table["gain"].to_numpy()), index=table["system_b"]),
    ])  # fmt: skip
    wins = ahead.groupby(level=0, sort=False).sum()
    return wins.sort_values(ascending=False, kind="stable").index.tolist()
