"""Curves over n for the precision and recall of n-best lists and for random rankings."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.forms.out.phrases import percent_of
from rankeval_pd.plotting.canvas import (
    HAIR,
    SPARSE,
    THIN,
    XLABELS,
    Canvas,
    interval_kind,
    thin_table,
)
from rankeval_pd.plotting.numbers import font, most_text, rate_text
from rankeval_pd.plotting.panels import picture
from rankeval_pd.plotting.tables import (
    by_name,
    checked,
    is_log,
    positions,
    priors_of,
    sizes_of,
    table_of,
)

Table = pd.DataFrame | None
FIRST = 10  # in long tables, shorter lists are too noisy to draw
_BELOW = 0.08  # fraction of the height below the baseline


# ------------------------------------------ Precision of n-best lists (Evert 2004, figures 1 and 2)

NEEDED = ("measure", "n", "precision", "lift", "ci_low", "ci_high")


@picture(NEEDED, "nbest_precision")
def draw_precision(
    canvas: Canvas,
    table: pd.DataFrame,
    band: pd.DataFrame | None = None,
    *,
    x: str = "n",
    log: bool | None = None,
    mark: Sequence[int] = (),
    relevant: float = 0.0,
    reference: str | Sequence[str] = ("random",),
    intervals: bool | None = None,
    bands: bool | None = None,
) -> None:
    """Draw the precision of n-best lists with its uncertainty and the baseline."""
    if band is not None:
        band = table_of(band, ("measure", "n", "band_low", "band_high"), "precision_band")
        _check_same_lists(table, band)
    references, relevant, mark = checked(table, x, mark, relevant, reference)
    logarithmic = x != "recall" and is_log(log, table["n"])
    rows = draw_lists(canvas, table, x, logarithmic, log)
    for measure in rows:
        draw_marks(canvas, rows[measure], "precision", mark, x, first=measure == next(iter(rows)))
    _uncertainty(canvas, table, band, rows, intervals, bands)
    shade_blocks(canvas, table[table["measure"].isin([*rows])], "tied", x)
    draw_references(canvas, table, x, references, relevant)
    canvas.finish(ylabel="precision", xlabel=XLABELS[x])


@picture(("measure", "n", "recall", "band_low", "band_high"), "recall_band")
def draw_recall_band(canvas: Canvas, table: pd.DataFrame, *, log: bool | None = None) -> None:
    """Draw the recall of n-best lists, a simultaneous band, and a random order."""
    logarithmic = is_log(log, table["n"])
    rows = draw_lists(canvas, table, "n", logarithmic, log, "recall")
    level = percent_of(table.attrs["level"]) + " " if "level" in table.attrs else ""
    canvas.uncertainty(
        rows,
        "band_low",
        "band_high",
        f"{level}simultaneous confidence band, valid jointly at all n",
    )
    if "expected" in table and len(table):
        chance = table.drop_duplicates("n").sort_values("n")
        _reference(canvas, chance["n"], chance["expected"], "random order")
        canvas.tell("Gray line: random order.")
    canvas.upwards()
    canvas.finish(ylabel="recall", xlabel=XLABELS["n"])


def draw_lists(
    canvas: Canvas,
    table: pd.DataFrame,
    x: str,
    logarithmic: bool,
    log: bool | None = None,
    y: str = "precision",
) -> dict[Hashable, pd.DataFrame]:
    """Draw the curve of each measure, and return the rows with x positions."""
    parts = by_name(table)
    scores = {name: float(part[y].mean()) for name, part in parts.items()}
    rows = {}
    short = logarithmic and log is None  # if every n were drawn, the first ranks would be too noisy
    for measure in canvas.choose(scores, f"mean {y}"):
        mine = parts[measure]
        mine = mine[mine["n"] >= FIRST] if short else mine
        rows[measure] = mine.assign(x=positions(mine, x))
    canvas.across(x, log=logarithmic)
    for measure, mine in rows.items():
        canvas.curve(measure, mine["x"], mine[y])
    if short and len(table):
        canvas.tell(f"Lists shorter than {FIRST} are omitted.")
    ends = [mine["x"].max() for mine in rows.values() if len(mine)]
    if ends and np.isfinite(max(ends)) and x == "n":
        # names are at the ends of lines; if there are few values of n, each has an interval
        room = 1.03 if table["n"].nunique() <= SPARSE else 1.0
        canvas.limits("x", high=float(max(ends)) * room)
    canvas.across(x, log=logarithmic)
    return {name: rows[name] for name in scores}


def shade_blocks(canvas: Canvas, table: pd.DataFrame, column: str, x: str) -> None:
    """Shade list sizes inside ties, where lists depend on the tie-breaking order."""
    if x != "n" or column not in table or table.attrs.get("ties") in ("expected", "blocks"):
        return
    inside = (table[column] > 0).groupby(table["n"]).any()
    if not inside.any():
        return
    look: dict[str, Any] = {"color": canvas.ink.gray(0.5), "alpha": 0.12, "linewidth": 0}
    canvas.ax.fill_between(
        inside.index, 0.0, 1.0, where=inside, step="mid", zorder=0.5,
        transform=canvas.ax.get_xaxis_transform(), **look,
    )  # fmt: skip
    canvas.tell("Shaded: lists that end inside a block of equal scores.")


def _uncertainty(
    canvas: Canvas, table: pd.DataFrame, band: Table, rows: Any, intervals: Any, bands: Any
) -> None:
    """Draw simultaneous bands if available, and pointwise intervals otherwise."""
    alone = bool(intervals) or (intervals is None and (band is None or bands is False))
    together = band is not None and (bands or (bands is None and not intervals))
    if band is not None and together:
        parts = by_name(band)
        wide = {
            name: parts[name].merge(mine[["n", "x"]], on="n")
            for name, mine in rows.items()
            if name in parts
        }
        level = percent_of(band.attrs["level"]) + " " if "level" in band.attrs else ""
        high = (table["precision"] > 0.9).any()
        canvas.uncertainty(
            wide, "band_low", "band_high",
            f"{level}simultaneous confidence band, valid jointly at all n"
            + (" (too narrow where precision is above 90%)" if high else ""),
        )  # fmt: skip
    if alone:
        kind = interval_kind(table.attrs, "separately at each n")
        canvas.uncertainty(rows, "ci_low", "ci_high", kind)


def draw_references(
    canvas: Canvas, table: pd.DataFrame, x: str, references: Sequence[str], relevant: float = 0.0
) -> None:
    """Draw reference curves for a random and an ideal order, and the relevant gain."""
    ax = canvas.ax
    priors = priors_of(table)
    canvas.upwards()
    if "random" in references and priors:
        prior = min(priors)
        canvas.start_at(prior - _BELOW * (ax.dataLim.y1 - prior), floor=-0.02)
        for number_, share in enumerate(priors):
            canvas.rule(share, "" if number_ else canvas.random(share))
        canvas.tell("Gray line: random order.")
    if relevant and priors:
        canvas.rule(priors[0] + relevant, f"+{100 * relevant:.3g} points")
        canvas.tell(f"Upper gray line: {100 * relevant:.3g} points above a random order.")
    if "ideal" in references:
        total, positive = sizes_of(table)
        n = np.unique(table["n"].to_numpy())
        found = np.minimum(n, positive)
        across = {"n": n, "share": n / total, "recall": found / positive}[x]
        _reference(canvas, across, found / n, "ideal order")
    canvas.upwards()


def _reference(canvas: Canvas, x: Any, y: Any, name: str) -> None:
    """Draw a reference curve with a name at its end."""
    canvas.ax.plot(x, y, color=canvas.ink.reference, linewidth=THIN, zorder=1, label=name)
    known = np.asarray(y, dtype=float)[np.isfinite(np.asarray(y, dtype=float))]
    if len(known):
        canvas.refer(name, float(known[-1]))


def _check_same_lists(table: pd.DataFrame, band: pd.DataFrame) -> None:
    """Raise a ValueError if the band and the table do not cover the same lists."""
    pairs = table[["measure", "n"]].drop_duplicates()
    common = pairs.merge(band[["measure", "n"]].drop_duplicates())
    if len(band) > len(common) or set(common["measure"]) != set(pairs["measure"]):
        raise ValueError(
            "band and table differ in their measures or n. Pass the precision_band for the same"
            " data, measures and n."
        )


def draw_marks(
    canvas: Canvas, rows: pd.DataFrame, column: str, mark: Sequence[int], x: str, *, first: bool
) -> None:
    """Draw a line at each marked n, or a tick on the curve if the x axis is recall."""
    for n in mark:
        here = rows[rows["n"] == n]
        if here.empty:  # this measure has fewer scored candidates
            continue
        across, height = float(here["x"].iloc[0]), float(here[column].iloc[0])
        if x == "recall":
            canvas.ax.plot([across], [height], "|", markersize=12, color=canvas.ink.plain)
            canvas.ax.annotate(
                f"{n:,}", (across, height), xytext=(0, 9), textcoords="offset points",
                ha="center", fontsize=font(canvas.ax, "note"), color=canvas.ink.note,
            )  # fmt: skip
        elif first:
            canvas.upright(across, f"{n:,}")


# ---------------------- Random rankings next to the measures' curves (Macskassy 2005)


@picture(("p", "n", "expected", "critical"), "random_bound")
def draw_random_bound(
    canvas: Canvas,
    bound: pd.DataFrame,
    precision: pd.DataFrame | None = None,
    envelope: pd.DataFrame | None = None,
    *,
    log: bool | None = None,
) -> None:
    """Draw precision curves and the lowest precision significantly above chance."""
    ax, positive = canvas.ax, np.inf
    logarithmic = is_log(log, bound["n"])
    canvas.across("n", log=logarithmic)
    prior = float(bound["expected"].iloc[0] / bound["n"].iloc[0]) if len(bound) else np.nan
    if precision is not None:
        needed = ("measure", "n", "precision", "recall", "lift")
        curves = table_of(precision, needed, "nbest_precision")
        _, positive = sizes_of(curves)
        draw_lists(canvas, curves, "n", logarithmic, log)
    wider = None
    if envelope is not None:
        wider = table_of(envelope, ("alpha", "n", "envelope"), "random_envelope")
    short = FIRST if logarithmic and log is None else 1
    for place, (level, rows) in enumerate(bound.groupby("p", sort=False)):
        p = float(level)  # type: ignore[arg-type]
        together = None if wider is None else wider[wider["alpha"] == p]
        held = together is not None and len(together) > 0
        outer = (together if held else rows).sort_values("n")  # type: ignore[union-attr]
        name = f"chance {rate_text(p)}"
        _draw_bound(canvas, outer, "envelope" if held else "critical", name, positive, prior, short,
                    filled=place == 0)  # fmt: skip
        kept = most_text(p)
        said = f"Gray area: {kept} of random orders stay below the edge"
        if place == 0 and held:
            _draw_bound(canvas, rows, "critical", "", positive, prior, short, filled=False)
            canvas.tell(f"{said} at every n; the hairline is the bound for a single n.")
        elif place == 0:
            canvas.tell(f"{said} at any single n.")
        else:
            scope = "at every n" if held else "at any single n"
            canvas.tell(
                f"Line “{name}”: {most_text(p)} of random orders stay below the line {scope}."
            )
    if np.isfinite(prior):
        canvas.upwards()
        canvas.start_at(prior - _BELOW * (ax.dataLim.y1 - prior))
        canvas.rule(prior, canvas.random(prior))
    ends = bound["n"].max() if precision is None and len(bound) else np.nan
    if np.isfinite(ends) and ends > bound["n"].min():
        canvas.limits("x", high=float(ends))
    canvas.across("n", log=logarithmic)
    canvas.upwards()
    canvas.finish(xlabel=XLABELS["n"], ylabel="precision")


def _draw_bound(
    canvas: Canvas, rows: pd.DataFrame, column: str, name: str, positive: float, prior: float,
    first: int, *, filled: bool,
) -> None:  # fmt: skip
    """Draw counts as precision at each n that allows that many true positives."""
    rows = thin_table(canvas.ax, rows[rows["n"] >= first])
    most = np.minimum(rows["n"], positive if np.isfinite(positive) else rows["n"])
    possible = rows[column] <= most + 1e-6
    if "attainable" in rows:  # without curves, no other line shows the number of true positives
        possible &= rows["attainable"].astype(bool)
    share = (rows[column] / rows["n"]).where(possible)
    if filled:
        canvas.field(rows["n"], prior, share, name)
    else:
        look = {"color": canvas.ink.reference, "linewidth": THIN if name else HAIR, "zorder": 1.04}
        label = {"label": name or "_each n separately"}
        canvas.ax.plot(rows["n"], share, **canvas.look.band(None, **look, **label))
    known = share.dropna()
    if name and len(known):
        canvas.refer(name, float(known.iloc[-1]))
