"""Comparisons over n, and the distribution of a random list."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.plotting.drawing.canvas import (
    GREY,
    XLABELS,
    Canvas,
    draw_marks,
    is_log,
    percent,
    positions,
    sparse,
    table_of,
    thinned,
)
from rankeval_pd.plotting.drawing.legends import panel_size, shortened
from rankeval_pd.plotting.drawing.lists import checked, draw_baseline, draw_ideal
from rankeval_pd.plotting.drawing.look import COLOURS, DASHES, MARKS
from rankeval_pd.plotting.drawing.panels import picture
from rankeval_pd.plotting.drawing.scales import compact, set_ticks, small

# ------------------- Measures, and the n at which they differ significantly (Evert 2004, figure 3)

_NAMES = {
    "fisher": "Fisher's test", "midp": "Fisher's mid-p test", "mcnemar": "McNemar's test",
    "boschloo": "Boschloo's test", "barnard": "Barnard's test", "swaps": "label swaps",
}  # fmt: skip
NEEDED = (
    "measure_a", "measure_b", "n", "precision_a", "precision_b", "difference", "p_value",
    "significant", "better", "overlap",
)  # fmt: skip
_PAIR = ("measure_a", "measure_b")
_ASIDE = {"a": 0.12, "b": -0.12}  # of a strip: the bars of the first measure stand higher
_STRIP = 0.055  # of the height of the axes, for each pair
_MOST = 0.45  # of it for all pairs
_LETTERS = 4.0  # points that a strip needs to be named


class _Finding(NamedTuple):
    """What is significant: which rows, and the words for it."""

    hits: np.ndarray[Any, Any]
    words: str
    together: bool


@picture(NEEDED, "compare by n")
def draw_comparison(
    canvas: Canvas,
    table: pd.DataFrame,
    together: pd.DataFrame | None = None,
    curves: pd.DataFrame | None = None,
    *,
    x: str = "n",
    log: bool | None = None,
    mark: Sequence[int] = (),
    relevant: float = 0.0,
    reference: str | Sequence[str] = (),
    overlap: bool = False,
    first_run: bool = False,
) -> None:
    """Draw the precision of measures, and mark the n at which the differences are significant."""
    references, relevant, mark = checked(table, x, mark, relevant, reference)
    if curves is not None:
        curves = table_of(curves, ("measure", "n", "precision", "lift"), "nbest_precision")
    elif x != "n" or references:
        raise ValueError(
            f"x={x!r}, reference={references!r}: the table of a comparison does not say how many"
            " candidates there are. Give curves=data.rankeval.nbest_precision(n, measures=...)."
        )
    ax = canvas.ax
    table = table.sort_values("n", kind="stable")
    for number, (measure, rows) in enumerate(_lists(table).items()):
        rows = rows.assign(x=_across(rows["n"], curves, measure, x))
        curve = thinned(rows)
        canvas.curve(measure, curve["x"], curve["precision"])
        draw_marks(ax, rows, "precision", mark, x, first=number == 0)
    if curves is not None and "random" in references:
        draw_baseline(ax, curves)
    if curves is not None and "ideal" in references:
        draw_ideal(ax, curves, x)
    canvas.across(x, log=x != "recall" and is_log(log, table["n"]))
    pairs = [rows for _, rows in table.groupby(["measure_a", "measure_b"], sort=False)]
    findings = _findings(table, together, relevant)
    _draw_strips(canvas, table, pairs, findings, curves, x)
    if first_run and x == "n" and len(pairs) == 1:
        _mark_end(canvas, table, findings[0])
    if overlap:
        _draw_overlap(canvas, pairs, curves, x)
    canvas.upwards_in_percent()
    canvas.finish(ylabel="precision", xlabel=XLABELS[x])


def _lists(table: pd.DataFrame) -> dict[Hashable, pd.DataFrame]:
    """Return the precision of the lists of each measure, in the order in which they are named."""
    sides = [
        table[[f"measure_{side}", "n", f"precision_{side}"]].set_axis(
            ["measure", "n", "precision"], axis=1
        )
        for side in "ab"
    ]
    named = [table["measure_a"].iloc[:1], *(side["measure"] for side in sides)]
    every = pd.concat(sides).drop_duplicates(["measure", "n"])
    names = pd.concat(named).drop_duplicates()
    return {m: every[every["measure"] == m].sort_values("n") for m in names}


def _across(
    n: pd.Series[Any], curves: pd.DataFrame | None, measure: Hashable, x: str
) -> pd.Series[Any]:
    """Return where the lists of one measure stand on the axis to the right."""
    if curves is None or x == "n":
        return n
    curve = curves[curves["measure"] == measure]
    return n.map(dict(zip(curve["n"], positions(curve, x), strict=True)))


def _findings(table: pd.DataFrame, together: Any, relevant: float) -> list[_Finding]:
    """Return what holds at each n alone, and what holds for all n together."""
    alpha, adjust = table.attrs.get("alpha"), table.attrs.get("adjust")
    large = (table["difference"].abs() >= relevant).to_numpy(dtype=bool)
    extent = f", {100 * relevant:.3g} points or more" if relevant else ""
    alone = table["p_value"] <= alpha if alpha and adjust else table["significant"]
    words = f"{_test(table)}, each n alone{extent}"
    listed = [_Finding(alone.to_numpy(dtype=bool) & large, words, together=False)]
    if adjust:
        together = table
    if together is not None:
        hits, words = _adjusted(table, together)
        listed.append(_Finding(hits & large, f"{words}, all n together{extent}", together=True))
    return listed


def _test(table: pd.DataFrame) -> str:
    alpha = table.attrs.get("alpha")
    name = _NAMES.get(str(table.attrs.get("test")), "significant")
    return f"{name}, p\u00a0≤\u00a0{alpha:g}" if alpha else name


def _adjusted(table: pd.DataFrame, together: Any) -> tuple[np.ndarray[Any, Any], str]:
    """Return the rows whose difference is significant together with all others, and why."""
    if "band_low" in together:
        other = table_of(together, (*_PAIR, "n", "band_low", "band_high"), "difference_band")
        level = f"{percent(other.attrs['level'])} " if "level" in other.attrs else ""
        other = other[(other["band_low"] > 0) | (other["band_high"] < 0)]
        words = f"{level}sup-t band without 0"
    else:
        other = table_of(together, (*_PAIR, "n", "significant"), "compare with adjust=...")
        adjust = other.attrs.get("adjust")
        words = f"{_test(other)}, adjusted ({adjust})"
        if adjust == "max-t":
            words = f"max-t, p\u00a0≤\u00a0{other.attrs['alpha']:g}"
        draws = other.attrs.get("n_resamples")
        if adjust == "max-t" and draws is not None and draws < 999:
            words += f" ({draws} resamples)"
        other = other[other["significant"].astype(bool)]
    keys = [name for name in ("measure_a", "measure_b", "n") if name in other]
    result = pd.MultiIndex.from_frame(table[keys]).isin(pd.MultiIndex.from_frame(other[keys]))
    return np.asarray(result, dtype=bool), words


def _draw_strips(
    canvas: Canvas,
    table: pd.DataFrame,
    pairs: list[pd.DataFrame],
    findings: list[_Finding],
    curves: pd.DataFrame | None,
    x: str,
) -> None:
    """Draw a strip of significance for each pair below the curves, in the better one's colour."""
    ax = canvas.ax
    by_name = {finding.together: pd.Series(finding.hits, index=table.index) for finding in findings}
    low, high = ax.get_ylim()
    height = min(_STRIP, _MOST / max(len(pairs), 1))
    share = height * (len(pairs) + 0.5)
    if ax.get_yscale() == "linear":  # another one is the user's, with no room below to make
        ax.set_ylim(low - (high - low) * share / (1.0 - share), high)
    named = 0.5 * height * panel_size(ax)[1] >= _LETTERS
    if not named:
        canvas.note(f"{len(pairs)} strips, a pair each, in the order of the table")
    for rows in pairs:
        _note_same_lists(canvas, rows)
    for row, rows in enumerate(pairs):
        middle = height * (len(pairs) - row - 0.25)
        if len(pairs) > 1 and named:
            _name_strip(canvas, rows, middle, height)
        for finding in findings:
            hits = by_name[finding.together].loc[rows.index].to_numpy(dtype=bool)
            for side in "ab":
                measure = rows[f"measure_{side}"].iloc[0]
                better = hits & (_favored(rows) == measure)
                across = _across(rows["n"], curves, measure, x).to_numpy(dtype=float)
                if better.any():
                    look = {"color": canvas.colour(measure)}
                    aside = _ASIDE[side] * height  # seen without colours too
                    _draw_hits(
                        canvas, across, better, look, middle + aside, height, finding.together
                    )
    where = " (at its recall)" if x == "recall" else ""
    for finding in findings:
        if not finding.hits.any():
            canvas.note(f"no n: {finding.words}")
            continue
        size = 7 if finding.together else 3
        better = set(_favored(table)[finding.hits])
        one = next(iter(better)) if len(better) == 1 else None
        who = f"{canvas.text(one)} better" if one is not None else "colour: the better"
        colour = GREY if one is None else canvas.colour(one)
        ax.plot([], [], "s", color=colour, markersize=size, label=f"{who}, {finding.words}{where}")


def _favored(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return the measure that each difference favors, significant or not."""
    ahead = rows["difference"] > 0
    return rows["measure_a"].where(ahead, rows["measure_b"]).to_numpy(dtype=object)


def _note_same_lists(canvas: Canvas, rows: pd.DataFrame) -> None:
    """Say that two measures put the same candidates on top: no curve shows it, as one is hidden."""
    if (rows["overlap"] == rows["n"]).all():
        a, b = (canvas.text(rows[f"measure_{s}"].iloc[0]) for s in "ab")
        canvas.note(f"{a}, {b}: the same lists at each n drawn")


def _name_strip(canvas: Canvas, rows: pd.DataFrame, middle: float, height: float) -> None:
    """Write the names of a pair beside its strip."""
    most = 7 if small(canvas.ax) else 16
    a, b = (shortened(canvas.text(rows[f"measure_{s}"].iloc[0]), most) for s in "ab")
    canvas.ax.annotate(
        f"{a}:{b}", (1.0, middle), xycoords="axes fraction", xytext=(2, 0),
        textcoords="offset points", va="center", fontsize=5.0 if small(canvas.ax) else 6.5,
        color=GREY, annotation_clip=False,
    )  # fmt: skip


def _draw_hits(
    canvas: Canvas,
    across: np.ndarray[Any, Any],
    hits: np.ndarray[Any, Any],
    look: dict[str, Any],
    middle: float,
    height: float,
    together: bool,
) -> None:
    ax = canvas.ax
    if not sparse(len(across)):  # with an outline, so that a run of a few n is seen
        high = height * (0.6 if together else 0.15)
        where = (middle - high / 2, high)
        bars = canvas.look.band(None, linewidth=0.8, **look)
        ax.broken_barh(_stretches(across, hits), where, transform=ax.get_xaxis_transform(), **bars)
    else:  # between the n there are others, which were not tested
        size = 22 if together else 7
        heights = np.full(np.count_nonzero(hits), middle)
        squares = canvas.look.band(None, marker="s", **look)
        squares["s"] = squares.pop("markersize", size)
        ax.scatter(across[hits], heights, transform=ax.get_xaxis_transform(), **squares)


def _stretches(
    across: np.ndarray[Any, Any], hits: np.ndarray[Any, Any]
) -> list[tuple[float, float]]:
    """Return start and width of the runs of hits, half way to the neighbours on either side."""
    between = 0.5 * (across[1:] + across[:-1])
    edge = np.concatenate([
        [across[0] - (between[0] - across[0])], between, [across[-1] + (across[-1] - between[-1])],
    ])  # fmt: skip
    runs = np.flatnonzero(np.diff(np.concatenate([[False], hits, [False]]).astype(int)))
    return [
        (float(edge[start]), float(edge[stop] - edge[start])) for start, stop in runs.reshape(-1, 2)
    ]


def _mark_end(canvas: Canvas, table: pd.DataFrame, finding: _Finding) -> None:
    """Draw a line at the last n of the first run, unless it lasts to the end."""
    if not finding.hits.any():
        return
    first = int(finding.hits.argmax())
    length = int((~finding.hits[first:]).argmax())
    if length == 0:
        return
    last = table["n"].iloc[first + length - 1]
    name = f"last n of the first run, {last}"
    canvas.ax.axvline(last, color=GREY, linewidth=0.8, label=name)


def _draw_overlap(
    canvas: Canvas, pairs: list[pd.DataFrame], curves: pd.DataFrame | None, x: str
) -> None:
    """Draw the share of the candidates that both lists have, on a scale of its own."""
    from matplotlib.ticker import PercentFormatter

    right = canvas.ax.twinx()
    for rows in pairs:
        across = _across(rows["n"], curves, rows["measure_a"].iloc[0], x)
        right.plot(across, rows["overlap"] / rows["n"], color="0.55", linewidth=1, linestyle="-.")
    right.set_ylim(0.0, 1.0)
    label = "overlap" if small(canvas.ax) else "overlap of the two lists"
    right.set_ylabel(label, color="0.4")
    right.yaxis.set_major_formatter(PercentFormatter(1.0))
    right.spines[["top", "left"]].set_visible(False)
    if small(canvas.ax):
        right.tick_params(labelsize=7)
        right.yaxis.label.set_fontsize(8)
    name = "overlap (scale on the right)"
    canvas.ax.plot([], [], color="0.55", linewidth=1, linestyle="-.", label=name)


# ------------------- The distribution of a random list's true positives (Macskassy 2005, figure 1)

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
