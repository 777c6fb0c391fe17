"""Pictures of systems over test items (Berg-Kirkpatrick et al. 2012, figures 2 to 11, table 1)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rankeval_pd.plotting.drawing.canvas import GREY, Canvas, percent, table_of
from rankeval_pd.plotting.drawing.legends import panel_size, shortened
from rankeval_pd.plotting.drawing.look import COLOURS, DASHES, MARKS
from rankeval_pd.plotting.drawing.panels import picture
from rankeval_pd.plotting.drawing.scales import (
    compact,
    set_chosen_ticks,
    set_ticks,
    settle,
    small,
    use_confidences,
    write_on_top,
)
from rankeval_pd.stats.resampling.metric_sums import WRITTEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = {
    "order": "order statistics, pairs as independent", "systems": "systems drawn",
    "clopper-pearson": "Clopper-Pearson, pairs as independent",
}  # fmt: skip
_ROWS = 80  # rows for which a figure grows
_FLAT = 6.0  # points: smaller names below the cells stand upright
_CROWD = 300  # points: where there are more, they are drawn faintly
_LEAST = 4.5  # points: smaller letters cannot be read


def _interval(attrs: dict[Any, Any], what: str) -> str:
    """Return the name of an interval: its level and kind."""
    ci, level = attrs.get("ci"), attrs.get("level")
    return f"{what}, {percent(level)} ({_KINDS.get(ci, ci)})" if ci and level else what


def gain_of(table: pd.DataFrame) -> str:
    """Return what the gain is a gain in: the metric, where the table says it."""
    metric = table.attrs.get("metric")
    if metric in (None, "mean", "sum"):
        return "gain in score"
    return f"gain in {WRITTEN.get(metric, metric)}"


def score_of(table: pd.DataFrame) -> str:
    """Return what the scores are: the metric, where the table says it."""
    if "what" in table.attrs:  # of measures
        return str(table.attrs["what"])
    metric = table.attrs.get("metric")
    return "score" if metric in (None, "mean", "sum") else str(WRITTEN.get(metric, metric))


def name_rows(ax: Axes, names: list[str]) -> float:
    """Write names beside the axis upwards, as large as there is room; return the letters' size."""
    width, height = panel_size(ax)
    font = float(np.clip(0.52 * height / max(len(names), 1) / 1.1, _LEAST, 7.0 if small(ax) else 9))
    most = max(6, int(0.24 * width / (0.58 * font)))
    ax.set_yticks(np.arange(len(names)), [shortened(name, most) for name in names])
    ax.tick_params(axis="y", labelsize=font)
    room = 1.1 * font * len(names) / (0.52 * height)
    if room > 1.0:  # below the floor, every second or third is named
        step = int(np.ceil(room))
        kept = np.arange(0, len(names), step)
        ax.set_yticks(kept, [shortened(names[k], most) for k in kept])
    return font


@picture(("system_a", "system_b", "gain", "confidence"), "paired_bootstrap")
def draw_confidence(
    canvas: Canvas, table: pd.DataFrame, thresholds: pd.DataFrame | None = None
) -> None:
    """Draw the gain of every pair of systems against its confidence, 1 - p."""
    ax, look = canvas.ax, canvas.look
    relations = _relations(table)
    for name, rows in relations:
        number = look.number(ax, name)
        mark = {
            "color": canvas.colour(name), "marker": MARKS[number % len(MARKS)],
            "linestyle": "none", "markersize": 4, "alpha": 0.6, "markeredgewidth": 0,
            "label": _pair_label(canvas, name, len(rows)), "clip_on": rows.empty,
        }  # fmt: skip
        ax.plot(rows["gain"], rows["confidence"], **look.mark(name, **mark))
    use_confidences(ax, table["confidence"].dropna().to_numpy(dtype=float))
    ax.margins(x=0.05)
    if thresholds is not None:
        _draw_thresholds(canvas, thresholds, [name for name, _ in relations])
    ax.axhline(0.95, color=GREY, linewidth=0.8, linestyle=(0, (2, 2)), label="p = .05")
    set_ticks(ax.xaxis, lambda value, _=None: f"{value:g}", 5.0)
    canvas.finish(xlabel=gain_of(table), ylabel="confidence (1 − p, one-sided)")


def _relations(table: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    if "relation" not in table:
        return [(None, table)]
    return [(name, table[table["relation"] == name]) for name in table["relation"].unique()]


def _pair_label(canvas: Canvas, name: Any, count: int) -> str:
    kind = "pairs of systems" if name is None else canvas.text(name)
    return f"{kind} ({count})"


def _draw_thresholds(canvas: Canvas, thresholds: pd.DataFrame, relations: list[Any]) -> None:
    ax, look = canvas.ax, canvas.look
    needed = ("relation", "threshold", "threshold_low", "threshold_high")
    result = table_of(thresholds, needed, "gain_threshold").dropna(subset=["threshold"])
    left, right = ax.get_xlim()
    right = max(right, 1.05 * float(result["threshold"].max())) if len(result) else right
    across = ax.get_xaxis_transform()
    for number, row in enumerate(result[list(needed)].to_numpy(dtype=object)):
        relation, threshold, low, high = row
        known = relation in relations
        name = relation if known else relations[0]
        colour, dash = canvas.colour(name), DASHES[look.number(ax, name) % len(DASHES)]
        label = f"threshold, {canvas.text(relation)}" if known else "threshold"
        said = f"{label}: {threshold:.3g}"
        line = {"color": colour, "linestyle": dash, "linewidth": 1.2, "label": said}
        ax.axvline(threshold, **look.rule(name, **line))
        bar = {"color": colour, "linewidth": 3, "alpha": 0.5, "transform": across}
        height = 0.03 + 0.04 * number
        ax.hlines(height, low, min(high, right), **look.band(name, **bar))
        if np.isinf(high):  # no upper limit
            ax.plot(right, height, ">", color=colour, transform=across, clip_on=False)
    ax.set_xlim(left, right)
    if len(result):
        name = _interval(thresholds.attrs, "its interval (an arrow: no upper limit)")
        shade = canvas.colour(relations[0]) if len(result) == 1 == len(relations) else GREY
        ax.plot([], [], color=shade, linewidth=3, alpha=0.5, label=name)


@picture(("size", "system_a", "gain", "p_value"), "gain_by_size")
def draw_gain_by_size(
    canvas: Canvas, table: pd.DataFrame, thresholds: pd.DataFrame | None = None
) -> None:
    """Draw gains, and the gain that is significant, against the size of the test set."""
    ax, look = canvas.ax, canvas.look
    drawn = table[table["gain"] > 0.0]
    significant = drawn["p_value"] <= 0.05
    faint = 0.3 if len(drawn) > _CROWD else 0.8
    for rows, name, shade, mark, aside in (
        (drawn[~significant], "pairs, one-sided p > .05", "0.6", "x", 0.96),
        (drawn[significant], "pairs, one-sided p ≤ .05", "0.4", ".", 1.04),
    ):
        points = {
            "linestyle": "none", "marker": mark, "color": shade, "markersize": 4, "alpha": faint,
            "label": name,
        }  # fmt: skip
        ax.plot(rows["size"] * aside, rows["gain"], **look.mark(None, **points))
    ax.set_xscale("log")
    ax.set_yscale("log")
    if drawn.empty:
        canvas.note("no gain above 0")
        ax.set_ylim(0.001, 1.0)
    settle(ax)
    if len(table):
        ends = table["size"].min(), table["size"].max()
        ax.set_xlim(ends[0] / 1.15, 1.15 * ends[1])
    if thresholds is not None:
        _draw_sizes(canvas, thresholds)
    sizes = sorted(table["size"].unique())
    order = [*sizes[:1], *sizes[-1:], *sizes[1:-1]]
    set_chosen_ticks(ax.xaxis, order, [f"{size:,}" for size in order])
    set_ticks(ax.yaxis, lambda value, _=None: f"{value:.3g}", 5.0)
    canvas.finish(xlabel="test items", ylabel=gain_of(table))


def _draw_sizes(canvas: Canvas, thresholds: pd.DataFrame) -> None:
    ax, look = canvas.ax, canvas.look
    needed = ("size", "relation", "threshold", "threshold_low")
    result = table_of(thresholds, needed, "gain_threshold").sort_values("size")
    without = result[result["threshold"].isna()]
    result = result.dropna(subset=["threshold"])
    low, high = (float(limit) for limit in ax.get_ylim())
    ax.set_ylim(low, max(high, 1.15 * float(result["threshold"].max())) if len(result) else high)
    high = float(ax.get_ylim()[1])
    beyond = result[result["threshold_high"] > high] if "threshold_high" in result else result[:0]
    for number, relation in enumerate(result["relation"].unique()):
        alone = bool(pd.isna(relation))
        rows = result if alone else result[result["relation"] == relation]
        name = None if alone else relation
        colour = canvas.colour(name)
        place = look.number(ax, name)
        line = {
            "color": colour, "linestyle": DASHES[place % len(DASHES)],
            "marker": MARKS[place % len(MARKS)], "markersize": 5,
            "label": "threshold" if alone else f"threshold, {canvas.text(relation)}",
        }  # fmt: skip
        ax.plot(rows["size"], rows["threshold"], **look.rule(name, **line))
        lower = rows["threshold_low"].where(rows["threshold_low"] > 0.0, rows["threshold"])
        bars = look.band(name, color=colour, alpha=0.6)
        ax.vlines(rows["size"], lower, rows["threshold_high"].clip(upper=high), **bars)
        if number == 0:
            label = _interval(thresholds.attrs, "its interval")
            shade = colour if len(rows) == len(result) else GREY
            ax.plot([], [], color=shade, alpha=0.6, label=label)
        last = rows.iloc[-1]
        law = last["threshold"] * np.sqrt(last["size"] / rows["size"])
        ax.plot(
            rows["size"], law, color=colour, linewidth=0.8, linestyle=(0, (1, 2)),
            label="square-root law" if number == 0 else "_law",
        )  # fmt: skip
    if len(beyond):
        ax.plot(
            beyond["size"], np.full(len(beyond), high), "^", color=GREY, markersize=5,
            clip_on=False, label="the interval goes on above the panel",
        )  # fmt: skip
    if len(without):
        named = ", ".join(f"{size:,}" for size in sorted(without["size"].unique()))
        canvas.note(f"no threshold at {named} items: no pair near p = .05")


@picture(("p_low", "p_high", "agreement", "ci_low", "ci_high", "expected_agreement"), "calibration")
def draw_calibration(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw how often gains kept their sign on other data, and how often they should have."""
    ax, look = canvas.ax, canvas.look
    table = table.sort_values("p_low")
    at = (table["p_low"].clip(lower=1e-6) * table["p_high"]) ** 0.5
    line = {
        "color": "black", "linestyle": "--", "linewidth": 1.2,
        "label": "expected if the items are of the same kind",
    }  # fmt: skip
    ax.plot(at, table["expected_agreement"], **look.rule(None, **line))
    name = _interval(table.attrs, "interval")
    bars = {"color": COLOURS[0], "alpha": 0.6, "label": name}
    known = table["agreement"].notna()
    ax.vlines(at[known], table["ci_low"][known], table["ci_high"][known], **look.band(None, **bars))
    points = {
        "color": COLOURS[0], "marker": "o", "linestyle": "none", "markersize": 5,
        "label": "observed",
    }  # fmt: skip
    ax.plot(at, table["agreement"], **look.mark(None, **points))
    ax.set_xscale("log")
    if known.any():  # whole bins
        lowest = table["p_low"].where(table["p_low"] > 0.0, 0.7 * at)[known].min()
        ax.set_xlim(lowest / 1.05, 1.05 * table["p_high"][known].max())
    edges = sorted({*table["p_low"], *table["p_high"]} - {0.0})
    order = [x for k in (4, 2, 1) for x in edges[::-k]]
    order = list(dict.fromkeys([*edges[:1], *order]))
    set_chosen_ticks(ax.xaxis, order, [f"{edge:.3g}".lstrip("0") for edge in order])
    if not known.any():
        ax.set_ylim(0.0, 1.0)
        ax.plot([], [], " ", label="no pair of systems in any bin")
    elif "n_pairs" in table:
        _count_bins(ax, at, table["n_pairs"])
    set_ticks(ax.yaxis, lambda value, _=None: f"{100 * value:.4g}%", 4.0)
    canvas.finish(xlabel="one-sided p, edges of bins", ylabel="pairs that keep their sign")


def _count_bins(ax: Axes, at: pd.Series[Any], counts: pd.Series[Any]) -> None:
    """Write how many pairs each bin has above it, where they do not run into each other."""
    low, high = np.log(ax.get_xlim())
    font, last = (5.5 if small(ax) else 7.5), -np.inf
    scale = 0.7 * panel_size(ax)[0] / (high - low)
    written = {}
    for place, count in zip(at, counts, strict=True):
        text = f"{int(count):,}"
        here, half = float(np.log(place)) * scale, 0.33 * font * len(text) + 1.0
        if np.isfinite(here) and here - half > last:
            last = here + half
            written[float(place)] = text
    write_on_top(ax, [*written], [*written.values()], labelsize=font, labelcolor=GREY)
    ax.plot([], [], " ", label="above: pairs in the bin")


def rows_high(table: pd.DataFrame | None) -> tuple[float, float] | None:
    """Return the size of a figure in which many rows have room; the usual one for a few."""
    from matplotlib import rcParams

    width, height = rcParams["figure.figsize"]
    needed = 1.5 + 0.19 * (0 if table is None else min(len(table), _ROWS))
    return (width, needed) if needed > height and height >= 3.0 else None


@picture(
    ("system", "value", "rank", "rank_low", "rank_high", "tied_for_best"), "system_ranks", own="y"
)
def draw_system_ranks(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the rank of every system and the ranks that it might as well have had."""
    ax, look = canvas.ax, canvas.look
    table = table.sort_values(["rank", "value"], kind="stable", ascending=[True, False])
    table = table.sort_values("rank", kind="stable")
    y = np.arange(len(table))
    _shade_clusters(ax, table)
    bars = {"color": COLOURS[0], "linewidth": 2, "alpha": 0.6, "label": _kind_of_ranks(table)}
    ax.hlines(y, table["rank_low"], table["rank_high"], **look.band(None, **bars))
    tied = table["tied_for_best"].to_numpy(dtype=bool)
    for which, face, name in (
        (tied, COLOURS[0], "tied for best"),
        (~tied, "white", "significantly worse than another"),
    ):
        mark = {
            "marker": "o", "linestyle": "none", "markersize": 4 if small(ax) else 6,
            "color": COLOURS[0], "markerfacecolor": face, "label": name,
        }  # fmt: skip
        ax.plot(table["rank"][which], y[which], **look.mark(None, **mark))
    ax.set_yscale("linear")  # where a row stands is no number
    font = name_rows(ax, [canvas.text(name) for name in table["system"]])
    ax.set_ylim(len(table) - 0.4, -0.6)
    set_ticks(ax.xaxis, compact, 3.0)
    high = float(max(table["rank_high"].max(), 2)) if len(table) else 2.0
    ax.set_xlim(0.7, high + 0.3)
    inside = [float(t) for t in ax.xaxis.get_major_locator().tick_values(1.0, high) if t >= 2]
    order = [1.0, *inside]
    set_chosen_ticks(ax.xaxis, order, [f"{round(t)}" for t in order])
    ax.grid(axis="x", **look.rule(None, color="0.9"))
    ax.set_axisbelow(True)
    _write_scores(ax, table, font)
    canvas.finish(xlabel="rank")


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


def _shade_clusters(ax: Axes, table: pd.DataFrame) -> None:
    """Shade every second cluster: systems that the intervals of ranks tell apart from others."""
    high = np.maximum.accumulate(table["rank_high"].to_numpy(dtype=float))
    low = np.minimum.accumulate(table["rank_low"].to_numpy(dtype=float)[::-1])[::-1]
    edges = [0, *(np.flatnonzero(high[:-1] < low[1:]) + 1), len(table)]
    if len(edges) < 3:
        return
    label = "clusters of systems (shaded by turns)"
    for start, stop in list(itertools.pairwise(edges))[::2]:
        ax.axhspan(start - 0.5, stop - 0.5, color="0.94", linewidth=0, zorder=0, label=label)
        label = "_cluster"


def _write_scores(ax: Axes, table: pd.DataFrame, font: float) -> None:
    """Write the score and its interval beside each rank, where there is room for them."""
    if small(ax) or "ci_low" not in table:
        return
    scores = table[["value", "ci_low", "ci_high"]].to_numpy(dtype=float)
    spread = float(np.nanmax(np.abs(scores[:, 2] - scores[:, 1]), initial=0.0))
    digits = int(np.clip(1 - np.floor(np.log10(spread)), 0, 4)) if spread > 0 else 3
    for y, (score, low, high) in enumerate(scores):
        ax.annotate(
            f"{score:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})", (1.0, y),
            xycoords=ax.get_yaxis_transform(), xytext=(4, 0), textcoords="offset points",
            va="center", fontsize=min(font, 8.0), annotation_clip=False,
        )  # fmt: skip


draw_system_ranks.__wrapped__.figure_size = rows_high  # type: ignore[attr-defined]

_CLASSES = ((0.001, "p ≤ .001"), (0.01, "p ≤ .01"), (0.05, "p ≤ .05"), (np.inf, "p > .05"))
_STARS = ("***", "**", "*", "")
_SHADES = ("#08306b", "#3f7fb9", "#a9c9e4", "#f2f2f2")
_FONTS = (4.5, 7.5)  # points of what is written in a cell: below them only its colour speaks


@picture(
    ("system_a", "system_b", "score_a", "score_b", "gain", "p_value"),
    "paired_bootstrap",
    own="xy",
)
def draw_pairs(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the triangle of all pairs of systems: gains, and how significant they are."""
    from matplotlib.colors import ListedColormap

    ax, look = canvas.ax, canvas.look
    names = table[["system_a", "system_b"]].astype(object)
    named = names.where(names.notna(), "nan")  # no NaN is equal to another
    table = table.assign(system_a=named["system_a"], system_b=named["system_b"])
    systems = _by_wins(table)
    place = {name: k for k, name in enumerate(systems)}
    p = table["p_adjusted" if "p_adjusted" in table else "p_value"].to_numpy(dtype=float)
    limits = np.array([limit for limit, _ in _CLASSES])
    cells = np.full((len(systems), len(systems)), np.nan)
    kinds = np.minimum(np.searchsorted(limits, p), len(_STARS) - 1)  # an undefined p shows nothing
    font = _cell_font(ax, len(systems))
    text = {"ha": "center", "va": "center", "fontsize": font, "linespacing": 0.8}
    rows = table[["system_a", "system_b", "gain"]].to_numpy(dtype=object)
    for (a, b, gain), kind in zip(rows, kinds, strict=True):
        i, j = place[a], place[b]
        if i > j:
            i, j, gain = j, i, -gain
        cells[i, j] = kind if not np.isnan(gain) else np.nan
        if font:
            shade = "white" if kind < 2 else "black"
            said = f"{gain:.2g}"
            said = said.replace("0.", ".", 1) if len(said) > 5 else said  # as much as a cell holds
            said += f"\n{_STARS[kind]}" if _STARS[kind] else ""
            ax.text(j, i, said, **look.mark(None, color=shade, **text))
    mesh = {"cmap": ListedColormap(_SHADES), "vmin": -0.5, "vmax": 3.5, "shading": "nearest"}
    y = np.arange(len(systems))
    if systems:
        ax.pcolormesh(y, y, np.ma.masked_invalid(cells), **look.band(None, **mesh))
    line = look.rule(None, color="white", linewidth=0.5)
    edges = np.arange(len(systems) + 1) - 0.5
    ax.hlines(edges, edges[0], edges[-1], **line)
    ax.vlines(edges, edges[0], edges[-1], **line)
    for shade, (_, name), stars in zip(_SHADES, _CLASSES, _STARS, strict=True):
        label = f"{stars}  {name}" if font and stars else name
        ax.fill_between([], [], facecolor=shade, edgecolor=GREY, linewidth=0.5, label=label)
    how = f"adjusted ({table.attrs.get('adjust')})" if "p_adjusted" in table else "each alone"
    measures = "what" in table.attrs
    if font:
        what = f"{table.attrs['what']}: row less column" if measures else "gain of row over column"
        canvas.note(what)
    elif measures:
        canvas.note(str(table.attrs["what"]))
    canvas.note(f"p: two-sided, {how}")
    _name_cells(canvas, systems)
    ax.tick_params(length=0)
    last = max(len(systems), 2) - 0.5  # the first is no column, the last no row: of a triangle
    ax.set_xlim(0.5, last)
    ax.set_ylim(last - 1.0, -0.5)
    canvas.finish()
    ax.spines[:].set_visible(False)


def _cell_font(ax: Axes, count: int) -> float:
    """Return the size of the letters in a cell: 0 where its gain has no room."""
    width, height = panel_size(ax)
    wide, high = 0.66 * width / max(count, 1), 0.5 * height / max(count, 1)
    font = min(wide / 3.1, high / 2.3, _FONTS[1])
    return font if font >= _FONTS[0] else 0.0


def _name_cells(canvas: Canvas, systems: list[Any]) -> None:
    """Name the rows on the left and the columns below, aslant; where there is room, all."""
    ax = canvas.ax
    width, height = panel_size(ax)
    names = [canvas.text(name) for name in systems]
    font = name_rows(ax, names)
    cell = 0.66 * width / max(len(names), 1)
    font = float(np.clip(cell / 1.15, _LEAST, font))
    step = int(np.ceil(1.1 * font / cell))
    kept = np.arange(0, len(names), max(step, 1))
    flat = min(font, cell / (0.6 * (max(map(len, names), default=1) + 1)))
    if flat >= _FLAT:
        ax.set_xticks(kept, [names[k] for k in kept])
        font = flat
    else:
        most = max(4, int(0.2 * height / (0.58 * font)))
        ax.set_xticks(kept, [shortened(names[k], most) for k in kept], rotation=90)
    ax.tick_params(axis="x", labelsize=font)


def _square(table: pd.DataFrame | None) -> tuple[float, float] | None:
    """Return the size of a figure in which the cells of many systems have room."""
    from matplotlib import rcParams

    width, height = rcParams["figure.figsize"]
    if table is None or height < 3.0:
        return None
    count = len(set(table["system_a"]) | set(table["system_b"]))
    needed = 1.8 + 0.3 * min(count, 40)
    return (max(width, needed + 0.6), needed + 0.4) if needed > height else None


draw_pairs.__wrapped__.figure_size = _square  # type: ignore[attr-defined]


def _by_wins(table: pd.DataFrame) -> list[Any]:
    """Return the systems from the one that beats most to the one that beats fewest."""
    ahead = pd.concat([
        pd.Series(np.sign(table["gain"].to_numpy()), index=table["system_a"]),
        pd.Series(-np.sign(table["gain"].to_numpy()), index=table["system_b"]),
    ])  # fmt: skip
    wins = ahead.groupby(level=0, sort=False).sum()
    return wins.sort_values(ascending=False, kind="stable").index.tolist()
