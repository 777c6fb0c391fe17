"""Systems over items: paired differences, item by item, and which systems are told apart."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rankeval_pd.plotting.drawing.canvas import GREY, Canvas, percent
from rankeval_pd.plotting.drawing.legends import panel_size, shortened
from rankeval_pd.plotting.drawing.look import COLOURS
from rankeval_pd.plotting.drawing.panels import picture
from rankeval_pd.plotting.drawing.scales import compact, in_percent, set_ticks, small
from rankeval_pd.plotting.drawing.systems import gain_of, score_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 20  # characters of a name beside the axis
_BARS = 400  # more bars than this are drawn as an area, which looks the same
DIFFERENCES = ("item", "gain", "system_a", "system_b")


@picture(DIFFERENCES, "plot.paired_differences")
def draw_paired_differences(
    canvas: Canvas, table: pd.DataFrame, whole: pd.DataFrame | None = None
) -> None:
    """Draw the gain of one system over another on each item, sorted, and that on the whole."""
    ax, look = canvas.ax, canvas.look
    gains = np.sort(table["gain"].dropna().to_numpy(dtype=float))[::-1]
    a, b = (canvas.text(table[f"system_{side}"].iloc[0]) for side in "ab")
    x = np.arange(1, gains.size + 1)
    for better, colour, name in (
        (gains > 0, COLOURS[0], f"{a} better ({np.count_nonzero(gains > 0):,})"),
        (gains < 0, COLOURS[3], f"{b} better ({np.count_nonzero(gains < 0):,})"),
    ):
        bar = {"color": colour, "alpha": 0.75, "linewidth": 0, "label": name}
        if gains.size <= _BARS:
            ax.bar(x[better], gains[better], width=0.9, **look.band(None, **bar))
        else:
            heights = np.where(better, gains, 0.0)
            ax.fill_between(x, 0.0, heights, step="mid", **look.band(None, **bar))
    equal = np.count_nonzero(gains == 0)
    if equal:
        canvas.note(f"equal ({equal:,})")
    if whole is not None and len(whole):
        row = whole.iloc[0]
        level = whole.attrs.get("level")
        words = f"{percent(level)} interval" if level else "interval"
        low, high = float(row["ci_low"]), float(row["ci_high"])
        if np.isfinite(low) and np.isfinite(high):
            name = f"{words} of the whole"
            ax.axhspan(low, high, color="black", alpha=0.2, linewidth=0, label=name)
        line = {
            "color": "black",
            "linewidth": 1.2,
            "label": f"gain on the whole, {row['gain']:.3g}",
        }
        ax.axhline(float(row["gain"]), **look.rule(None, **line))
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.set_xlim(0.5, gains.size + 0.5)
    set_ticks(ax.xaxis, compact, 5.0)
    set_ticks(ax.yaxis, lambda value, _=None: f"{value:.3g}", 5.0)
    unit = str(table.attrs.get("unit", "items"))
    canvas.finish(xlabel=f"{unit}, sorted by gain", ylabel=gain_of(table))


@picture(
    ("system_a", "system_b", "score_a", "score_b", "gain", "p_two_sided", "p_adjusted"),
    "paired_bootstrap with adjust=...",
    own="xy",
)
def draw_critical_difference(canvas: Canvas, table: pd.DataFrame, *, alpha: float = 0.05) -> None:
    """Draw the systems by their scores, and bars that join those that are not told apart."""
    ax = canvas.ax
    better = bool(table.attrs.get("higher_is_better", True))
    scores = _scores(table, better)
    if not scores:
        canvas.finish(xlabel=score_of(table))
        return
    adjusted = bool(table["p_adjusted"].notna().any())
    p = table["p_adjusted" if adjusted else "p_two_sided"]
    told = {
        frozenset(pair)
        for *pair, chance in zip(table["system_a"], table["system_b"], p, strict=True)
        if chance <= alpha
    }
    cliques = [c for c in _cliques(list(scores), told) if len(c) > 1]
    cliques = sorted(cliques, key=lambda c: min(list(scores).index(name) for name in c))
    low, high = min(scores.values()), max(scores.values())
    width = (high - low) or 1.0
    rows, bars = -(-len(scores) // 2), len(cliques)
    font = _font(ax, rows, bars)
    most = max(5, min(_MOST, int(0.3 * panel_size(ax)[0] / (0.6 * font))))
    names = {name: shortened(canvas.text(name), most) for name in scores}
    beside = _beside(ax, list(names.values()), font) * width
    _axis(ax, (low - beside, high + beside), rows, bars, better=better)
    if "what" in table.attrs and table.attrs["kind"] is None:
        set_ticks(ax.xaxis, in_percent, 6.0)
    _name_systems(canvas, scores, names, font, rows, bars)
    passing = False
    for level, clique in enumerate(cliques):
        y = -0.7 - 0.55 * level
        for first, last, over in _steps(list(scores), clique):
            line = {"color": "black", "linewidth": 1.0 if over else 2.5}
            style = (0, (1, 1.5)) if over else "-"
            ends = [scores[first], scores[last]]
            ax.plot(ends, [y, y], **canvas.look.band(None, **line, linestyle=style))
            passing = passing or over
        at = [scores[name] for name in clique]
        ax.plot(at, np.full(len(at), y), "|", color="black", markersize=5)
    how = f"adjusted ({table.attrs.get('adjust')})" if adjusted else "each alone"
    name = f"not told apart: every pair p\u00a0>\u00a0{alpha:g}, {how}"
    ax.plot([], [], color="black", linewidth=2.5, label=name)
    if passing:
        said = "passes over one that is told apart from one of them"
        ax.plot([], [], color="black", linewidth=1.0, linestyle=(0, (1, 1.5)), label=said)
    ax.xaxis.set_label_position("top")
    canvas.finish(xlabel=score_of(table))
    ax.spines[["left", "bottom", "right"]].set_visible(False)
    ax.spines["top"].set_visible(True)


def _steps(names: list[Hashable], clique: list[Hashable]) -> list[tuple[Hashable, Hashable, bool]]:
    """Return neighbours in a clique, by score, and whether a system that is not in it lies between.

    Systems that are far apart may not be told apart where nearer ones are: their items vary more.
    """
    place = {name: k for k, name in enumerate(names)}
    inside = sorted(clique, key=place.__getitem__)
    return [(a, b, place[b] - place[a] > 1) for a, b in itertools.pairwise(inside)]


def _scores(table: pd.DataFrame, better: bool) -> dict[Hashable, float]:
    """Return the score of each system, the best first."""
    by_name: dict[Hashable, float] = {}
    for side in "ab":
        by_name |= dict(zip(table[f"system_{side}"], table[f"score_{side}"], strict=True))
    ordered = sorted(by_name.items(), key=lambda item: -item[1] if better else item[1])
    return dict(ordered)


def _cliques(names: list[Hashable], told: set[frozenset[Hashable]]) -> list[list[Hashable]]:
    """Return the largest sets of systems in which no pair is told apart (Bron and Kerbosch)."""
    near = {a: {b for b in names if b != a and frozenset((a, b)) not in told} for a in names}
    listed: list[list[Hashable]] = []

    def grow(inside: set[Hashable], open_: set[Hashable], done: set[Hashable]) -> None:
        if not open_ and not done:
            listed.append([name for name in names if name in inside])
            return
        pivot = max(open_ | done, key=lambda name: len(near[name] & open_))
        for name in [x for x in names if x in open_ - near[pivot]]:
            grow(inside | {name}, open_ & near[name], done & near[name])
            open_ = open_ - {name}
            done = done | {name}

    grow(set(), set(names), set())
    return listed


def _font(ax: Axes, rows: int, bars: int) -> float:
    """Return the size of the letters of the names: as large as there is room."""
    room = 0.5 * panel_size(ax)[1] / (0.7 + 0.55 * bars + rows + 0.4)
    return float(np.clip(room / 1.15, 4.5, 7.0 if small(ax) else 9.0))


def _beside(ax: Axes, names: list[str], font: float) -> float:
    """Return how far the axis goes on at either side of the scores, so that names have room."""
    longest = 0.6 * font * (max(map(len, names), default=1) + 1) / (0.95 * panel_size(ax)[0])
    share = min(max(longest, 0.1), 0.34)
    return share / (1.0 - 2.0 * share)


def _axis(ax: Axes, ends: tuple[float, float], rows: int, bars: int, *, better: bool) -> None:
    """Put the axis of scores on top, the best on the right."""
    left, right = ends
    ax.set_xlim(*((left, right) if better else (right, left)))
    ax.set_ylim(-(0.7 + 0.55 * bars + rows + 0.4), 0.0)
    ax.xaxis.tick_top()
    ax.yaxis.set_visible(False)
    set_ticks(ax.xaxis, lambda value, _=None: f"{value:.4g}", 6.0)
    if small(ax):
        ax.tick_params(axis="x", labelsize=7)


def _name_systems(
    canvas: Canvas,
    scores: dict[Hashable, float],
    names: dict[Hashable, str],
    font: float,
    rows: int,
    bars: int,
) -> None:
    """Write the names on both sides, with a line from each to its score."""
    ax = canvas.ax
    left, right = ax.get_xlim()
    for place, name in enumerate(scores):
        best = place < rows
        row = place if best else len(scores) - 1 - place
        y = -(0.7 + 0.55 * bars + row + 0.4)
        edge = right if best else left
        colour = canvas.look.colour(ax, name) if canvas.look.highlighted else "0.3"
        colour = "0.8" if canvas.look.muted(name) else colour
        score = scores[name]
        ax.plot([score, score, edge], [0.0, y, y], color=colour, linewidth=0.8)
        ax.annotate(
            names[name], (edge, y), xytext=(-2 if best else 2, 1),
            textcoords="offset points", ha="right" if best else "left", va="bottom",
            fontsize=font, annotation_clip=False,
        )  # fmt: skip
