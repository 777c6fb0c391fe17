"""Draw lines and comparisons over list sizes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.plotting.canvas import (
    FEW,
    HAIR,
    LINE,
    SPARSE,
    THIN,
    XLABELS,
    Canvas,
    interval_kind,
    level_before,
    tell,
    thin_table,
)
from rankeval_pd.plotting.look import (
    LEAST,
    Ink,
    compact,
    font,
    in_points,
    mix,
    most_text,
    plainly,
    rate_text,
    set_ticks,
    shortened,
    wide,
)
from rankeval_pd.plotting.panels import (
    by_name,
    checked,
    is_log,
    picture,
    positions,
    priors_of,
    sizes_of,
    table_of,
)
from rankeval_pd.words import ADJUSTED, TESTS, percent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# -------------------------------------------------------------------------------------------------
# Curves over n for the precision and recall of n-best lists and for random rankings.

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
    canvas.uncertainty(
        rows,
        "band_low",
        "band_high",
        f"{level_before(table.attrs)}simultaneous confidence band, valid jointly at all n",
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
        if short:
            mine = mine[mine["n"] >= FIRST]
        rows[measure] = mine.assign(x=positions(mine, x))
    canvas.across(x, log=logarithmic)
    for measure, mine in rows.items():
        canvas.curve(measure, mine["x"], mine[y])
    if short and len(table):
        canvas.tell(f"Lists shorter than {FIRST} are omitted.")
    ends = [mine["x"].max() for mine in rows.values() if len(mine)]
    if ends and np.isfinite(max(ends)) and x == "n":
        # names are at the ends of lines; if there are few values of n, each has an interval
        room = 1.0
        if table["n"].nunique() <= SPARSE:
            room = 1.03
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
        inside.index,
        0.0,
        1.0,
        where=inside,
        step="mid",
        zorder=0.5,
        transform=canvas.ax.get_xaxis_transform(),
        **look,
    )
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
        kind = f"{level_before(band.attrs)}simultaneous confidence band, valid jointly at all n"
        if (table["precision"] > 0.9).any():
            kind += " (too narrow where precision is above 90%)"
        canvas.uncertainty(wide, "band_low", "band_high", kind)
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
        first, *others = priors
        canvas.rule(first, canvas.random(first))
        for share in others:
            canvas.rule(share)
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
                f"{n:,}",
                (across, height),
                xytext=(0, 9),
                textcoords="offset points",
                ha="center",
                fontsize=font(canvas.ax, "note"),
                color=canvas.ink.note,
            )
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
    prior = np.nan
    if len(bound):
        prior = float(bound["expected"].iloc[0] / bound["n"].iloc[0])
    if precision is not None:
        needed = ("measure", "n", "precision", "recall", "lift")
        curves = table_of(precision, needed, "nbest_precision")
        _, positive = sizes_of(curves)
        draw_lists(canvas, curves, "n", logarithmic, log)
    wider = None
    if envelope is not None:
        wider = table_of(envelope, ("alpha", "n", "envelope"), "random_envelope")
    short = 1
    if logarithmic and log is None:
        short = FIRST
    for place, (level, rows) in enumerate(bound.groupby("p", sort=False)):
        p = float(level)  # type: ignore[arg-type]
        outer, column, scope = rows, "critical", "at any single n"
        held = wider is not None and bool((wider["alpha"] == p).any())
        if wider is not None and held:
            outer, column, scope = wider[wider["alpha"] == p], "envelope", "at every n"
        name = f"chance {rate_text(p)}"
        _draw_bound(
            canvas,
            outer.sort_values("n"),
            column,
            name,
            positive,
            prior,
            short,
            filled=place == 0,
        )
        kept = most_text(p)
        said = f"Gray area: {kept} of random orders stay below the edge"
        if place == 0 and held:
            _draw_bound(canvas, rows, "critical", "", positive, prior, short, filled=False)
            canvas.tell(f"{said} at every n; the hairline is the bound for a single n.")
        elif place == 0:
            canvas.tell(f"{said} {scope}.")
        else:
            canvas.tell(f"Line “{name}”: {kept} of random orders stay below the line {scope}.")
    if np.isfinite(prior):
        canvas.upwards()
        canvas.start_at(prior - _BELOW * (ax.dataLim.y1 - prior))
        canvas.rule(prior, canvas.random(prior))
    if precision is None and bound["n"].max() > bound["n"].min():
        canvas.limits("x", high=float(bound["n"].max()))
    canvas.across("n", log=logarithmic)
    canvas.upwards()
    canvas.finish(xlabel=XLABELS["n"], ylabel="precision")


def _draw_bound(
    canvas: Canvas,
    rows: pd.DataFrame,
    column: str,
    name: str,
    positive: float,
    prior: float,
    first: int,
    *,
    filled: bool,
) -> None:
    """Draw counts as precision at each n that allows that many true positives."""
    rows = thin_table(canvas.ax, rows[rows["n"] >= first])
    most = np.minimum(rows["n"], positive)
    possible = rows[column] <= most + 1e-6
    if "attainable" in rows:  # without curves, no other line shows the number of true positives
        possible &= rows["attainable"].astype(bool)
    share = (rows[column] / rows["n"]).where(possible)
    if filled:
        canvas.field(rows["n"], prior, share, name)
    else:
        look = {"color": canvas.ink.reference, "linewidth": HAIR, "zorder": 1.04}
        if name:
            look["linewidth"] = THIN
        label = {"label": name or "_each n separately"}
        canvas.ax.plot(rows["n"], share, **canvas.look.band(None, **look, **label))
    known = share.dropna()
    if name and len(known):
        canvas.refer(name, float(known.iloc[-1]))


# -------------------------------------------------------------------------------------------------
# Precision curves, their difference, and marks for significant differences (Evert 2004).

COMPARISONS_NEEDED = (
    "measure_a",
    "measure_b",
    "n",
    "precision_a",
    "precision_b",
    "difference",
    "p_value",
    "significant",
    "better",
    "overlap",
)
_PAIR = ("measure_a", "measure_b")
_HEIGHTS = (3.0, 0.62, 2.2)  # relative heights of the panels: curves, strip, difference
_ROW = 11.0  # height of a row in the strip, in points
_SHARE = 0.40  # fraction of the height used by the strip for all pairs
_GAP = 0.04  # gap between panels, as a fraction of their height
_TALL = 160.0  # minimum height of the difference panel, in points


class _Finding(NamedTuple):
    """The significant rows, and a description of the test."""

    hits: np.ndarray[Any, Any]
    words: str
    together: bool


@picture(COMPARISONS_NEEDED, "compare by n")
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
    """Draw the precision of measures, and mark significant differences."""
    references, relevant, mark = checked(table, x, mark, relevant, reference)
    if curves is not None:
        curves = table_of(curves, ("measure", "n", "precision", "lift"), "nbest_precision")
    elif x != "n" or references:
        raise ValueError(
            f"x={x!r}, reference={references!r}: the table does not contain the number of"
            " candidates. Pass curves=data.rankeval.nbest_precision(n, measures=...)."
        )
    table = table.sort_values("n", kind="stable")
    pairs = [rows for _, rows in table.groupby(["measure_a", "measure_b"], sort=False)]
    findings = _findings(table, together, relevant)
    logarithmic = x != "recall" and is_log(log, table["n"])
    strip, low = _strip_and_difference(canvas, len(pairs))
    lists = _lists(table)
    if curves is not None:
        chosen = lists["measure"].drop_duplicates()
        lists = lists.merge(
            curves[[c for c in ("measure", "n", "recall", "lift") if c in curves]],
            on=["measure", "n"],
            how="left",
        )
        curves = curves[curves["measure"].isin(chosen)]
    rows = draw_lists(canvas, lists, x, logarithmic, log)
    for measure, mine in rows.items():
        first = measure == next(iter(rows))
        draw_marks(canvas, mine, "precision", mark, x, first=first)
    if curves is not None:
        draw_references(canvas, curves, x, references)
    if "tie_decides" in table:  # not available for means over all orders
        shade_blocks(canvas, table, "cuts_tie", x)
    _draw_strips(canvas, strip, table, pairs, findings, rows, x)
    if low is not None:
        _draw_difference(canvas, low, pairs[0], findings, together, rows, x)
    if first_run and x == "n" and len(pairs) == 1:
        _mark_end(canvas, table, findings[0])
    if overlap:
        _draw_overlap(canvas, pairs, rows)
    canvas.upwards()
    canvas.across(x, log=logarithmic)
    below = [panel for panel in (strip, low) if panel is not None]
    if below:
        canvas.finish(ylabel="precision", xlabel=canvas.ax.get_xlabel())
        _below(canvas, below, XLABELS[x])
    else:
        canvas.finish(ylabel="precision", xlabel=XLABELS[x])


def _strip_and_difference(canvas: Canvas, count: int) -> tuple[Any, Any]:
    """Replace a panel with stacked panels that share the x axis, and return them.

    A single pair has a panel for the difference. For several pairs, the strip has a row per pair.
    """
    ax: Any = canvas.ax
    height = canvas.size[1]
    if ax.get_subplotspec() is None and not hasattr(ax.figure, "add_axes"):
        return None, None
    if count == 1 and height >= _TALL:
        heights: Sequence[float] = _HEIGHTS
    else:
        share = min(_SHARE, max(count, 2) * _ROW / height)
        heights = (1.0 - share, share)
    _, strip, low, *_ = [*_split(ax, heights), None]
    return strip, low


def _split(ax: Any, heights: Sequence[float]) -> list[Any]:
    """Replace a panel with stacked panels that share the x axis."""
    spec = ax.get_subplotspec()
    if spec is None:  # set the positions manually
        box = ax.get_position()
        unit = box.height / (sum(heights) + _GAP * (len(heights) - 1))
        places, top = [], box.y1
        for height in heights:
            places.append((box.x0, top - height * unit, box.width, height * unit))
            top -= (height + _GAP) * unit
        ax.set_position(places[0])
        return [ax, *(ax.figure.add_axes(place, sharex=ax) for place in places[1:])]
    sub = spec.subgridspec(len(heights), 1, height_ratios=heights, hspace=_GAP)
    ax.set_subplotspec(sub[0])
    return [ax, *(ax.figure.add_subplot(sub[k], sharex=ax) for k in range(1, len(heights)))]


def _below(canvas: Canvas, panels: Sequence[Any], xlabel: str) -> None:
    """Label the x axis on the last panel only."""
    if xlabel == XLABELS["n"] and canvas.size[0] < 283:
        xlabel = "n"
    for panel in (canvas.ax, *panels):
        last = panel is panels[-1]
        panel.tick_params(axis="x", labelbottom=last, labelsize=font(canvas.ax, "tick"))
        panel.set_xlabel(xlabel * last, fontsize=font(canvas.ax, "label"))
    canvas.ax.tick_params(axis="x", length=0)


def _lists(table: pd.DataFrame) -> pd.DataFrame:
    """Return each measure's list precision values, in order of first occurrence."""
    sides = [
        table[[f"measure_{side}", "n", f"precision_{side}"]].set_axis(
            ["measure", "n", "precision"], axis=1
        )
        for side in "ab"
    ]
    first = table["measure_a"].iloc[:1]
    every = pd.concat(sides).drop_duplicates(["measure", "n"])
    names = pd.concat([first, *(side["measure"] for side in sides)]).drop_duplicates()
    parts = [every[every["measure"] == name].sort_values("n") for name in names]
    return pd.concat(parts) if parts else every


# --------------------------------------------------------------------- Significant differences


def _findings(table: pd.DataFrame, together: Any, relevant: float) -> list[_Finding]:
    """Return the pointwise findings and the simultaneous findings over all n."""
    alpha, adjust = table.attrs.get("alpha"), table.attrs.get("adjust")
    large = (table["difference"].abs() >= relevant).to_numpy(dtype=bool)
    extent = ""
    if relevant:
        extent = f", and the difference is {100 * relevant:.3g} points or more"
    alone = table["significant"]
    if alpha and adjust:
        alone = table["p_value"] <= alpha
    words = f"{_test(table)}, separately at each n{extent}"
    listed = [_Finding(alone.to_numpy(dtype=bool) & large, words, together=False)]
    if adjust:
        together = table
    if together is not None:
        hits, words = _adjusted_hits(table, together)
        listed.append(
            _Finding(hits & large, f"{words}, simultaneously for all n{extent}", together=True)
        )
    return listed


def _test(table: pd.DataFrame) -> str:
    alpha = table.attrs.get("alpha")
    name = TESTS.get(str(table.attrs.get("test")), "the test of the table")
    if not alpha:
        return name
    return f"{name} at {percent_of(alpha)}"


def _adjusted_hits(table: pd.DataFrame, together: Any) -> tuple[np.ndarray[Any, Any], str]:
    """Return the rows that are significant after adjustment, and the adjustment."""
    if "band_low" in together:
        other = table_of(together, (*_PAIR, "n", "band_low", "band_high"), "difference_band")
        words = f"the {level_before(other.attrs)}simultaneous band excludes 0"
        other = other[(other["band_low"] > 0) | (other["band_high"] < 0)]
    else:
        other = table_of(together, (*_PAIR, "n", "significant"), "compare with adjust=...")
        adjust, alpha = str(other.attrs.get("adjust")), other.attrs.get("alpha")
        words = ADJUSTED.get(adjust, adjust)
        if alpha:
            words += f" at {percent_of(alpha)}"
        draws = other.attrs.get("n_resamples")
        if adjust == "max-t" and draws is not None and draws < 999:
            words += f" ({draws} resamples)"
        other = other[other["significant"].astype(bool)]
    keys = [name for name in (*_PAIR, "n") if name in other]
    result = pd.MultiIndex.from_frame(table[keys]).isin(pd.MultiIndex.from_frame(other[keys]))
    return np.asarray(result, dtype=bool), words


def _favored(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return the measure favored by each difference, significant or not."""
    ahead = rows["difference"] > 0
    return rows["measure_a"].where(ahead, rows["measure_b"]).to_numpy(dtype=object)


# ------------------------------------------------------------------------ The significance strip


def _draw_strips(
    canvas: Canvas,
    strip: Any,
    table: pd.DataFrame,
    pairs: list[pd.DataFrame],
    findings: list[_Finding],
    rows: dict[Hashable, pd.DataFrame],
    x: str,
) -> None:
    """Draw bars where differences are significant, in the better measure's color.

    A single pair has one row for each kind of test. With several pairs, each pair has one row, with
    pale bars for pointwise tests and dark bars for simultaneous tests.
    """
    if strip is None:
        return
    strip.patch.set_visible(False)
    ink, single = Ink.of(strip, outside=True), len(pairs) == 1
    heights = len(findings) if single else len(pairs)
    by_kind = [pd.Series(finding.hits, index=table.index) for finding in findings]
    for k, pair in enumerate(pairs):
        _tell_same_lists(canvas, pair)
        for number, (finding, hits) in enumerate(zip(findings, by_kind, strict=True)):
            row = heights - 1 - (number if single else k)
            high = 0.6 if single or not finding.together else 0.36
            low = row + 0.5 * (1.0 - high)
            mine = hits.loc[pair.index].to_numpy(dtype=bool)
            for side in "ab":
                measure = pair[f"measure_{side}"].iloc[0]
                better = mine & (_favored(pair) == measure)
                if better.any():
                    color = canvas.look.color(canvas.ax, measure)
                    shade = color if finding.together else mix(color, ink.bg, 0.45)
                    across = _across(pair["n"], rows, measure, x)
                    _draw_hits(canvas, strip, across, better, shade, (low, high))
    strip.set_ylim(0, max(heights, 1))
    strip.set_yticks([])
    strip.spines[["top", "right", "left", "bottom"]].set_visible(False)
    strip.tick_params(length=0, which="both")
    strip.grid(visible=False)
    _name_strip_rows(canvas, strip, pairs, findings, ink)
    for finding in findings:
        caption = "Pale bars: lists for which the measure in this color"
        if finding.together:
            caption = caption.replace("Pale", "Full")
        if x == "recall":
            caption += " (at its recall)"
        caption += f" is significantly better ({finding.words})."
        if canvas.alone and not finding.hits.any():
            caption += " No list in this plot meets the condition."
        canvas.tell(caption)


def _across(n: Any, rows: dict[Hashable, pd.DataFrame], measure: Hashable, x: str) -> Any:
    """Return the x positions of the lists for one measure."""
    if x == "n":
        return n.to_numpy(dtype=float)
    mine = rows[measure]
    return n.map(dict(zip(mine["n"], mine["x"], strict=True))).to_numpy(dtype=float)


def _draw_hits(
    canvas: Canvas, strip: Axes, across: Any, hits: Any, color: Any, where: tuple[float, float]
) -> None:
    """Draw significant list sizes as bars, or as squares if there are few sizes."""
    if len(across) > FEW:  # the outline keeps narrow bars visible
        bars = canvas.look.band(None, color=color, linewidth=0.5)
        strip.broken_barh(_stretches(across, hits), where, **bars)
        return
    heights = np.full(np.count_nonzero(hits), where[0] + 0.5 * where[1])
    squares: dict[str, Any] = canvas.look.band(
        None, marker="s", color=color, markersize=22, linewidth=0
    )
    squares["s"] = squares.pop("markersize")
    strip.scatter(across[hits], heights, **squares)


def _stretches(across: Any, hits: Any) -> list[tuple[float, float]]:
    """Return the start and width of each run of hits, extended halfway to both neighbors."""
    between = 0.5 * (across[1:] + across[:-1])
    edge = np.concatenate(
        [
            [across[0] - (between[0] - across[0])],
            between,
            [across[-1] + (across[-1] - between[-1])],
        ]
    )
    runs = np.flatnonzero(np.diff(np.concatenate([[False], hits, [False]]).astype(int)))
    return [
        (float(edge[start]), float(edge[stop] - edge[start])) for start, stop in runs.reshape(-1, 2)
    ]


def _name_strip_rows(
    canvas: Canvas, strip: Axes, pairs: list[pd.DataFrame], findings: list[_Finding], ink: Ink
) -> None:
    """Write the better measure on the left of each row and the kind of test on the right."""
    size, width = font(canvas.ax, "note"), canvas.size[0]
    beside: dict[str, Any] = {
        "xycoords": ("axes fraction", "data"),
        "textcoords": "offset points",
        "fontsize": size,
        "va": "center",
        "annotation_clip": False,
    }
    if len(pairs) > 1:
        share = min(_SHARE, len(pairs) * _ROW / canvas.size[1])
        if share * canvas.size[1] / len(pairs) < 1.1 * LEAST:
            canvas.tell(f"Each of the {len(pairs)} rows of bars represents a pair, in table order.")
            return
        room = 0.38 * width - 60.0
        for k, rows in enumerate(pairs):
            a, b = (canvas.text(rows[f"measure_{s}"].iloc[0]) for s in "ab")
            text = shortened(f"{a} : {b}", size, room)
            at = (1.0, len(pairs) - 0.5 - k)
            strip.annotate(text, at, xytext=(4, 0), color=ink.note, **beside)
        return
    if not len(pairs):
        return
    favored = _favored(pairs[0])
    better = {name for finding in findings for name in favored[finding.hits]}
    for row, finding in enumerate(findings):
        text = "each n separately"
        if finding.together:
            text = "all n jointly"
        if wide(text, size) < 0.38 * width - 60.0:
            at = (1.0, len(findings) - 0.5 - row)
            strip.annotate(text, at, xytext=(4, 0), color=ink.note, **beside)
    if len(better) == 1:
        name = next(iter(better))
        text = f"{shortened(canvas.text(name), size, 0.16 * width)}\nbetter"
        color = ink.text(canvas.look.color(canvas.ax, name))
        at = (0.0, 0.5 * len(findings))
        strip.annotate(text, at, xytext=(-6, 0), ha="right", color=color, **beside)


def _tell_same_lists(canvas: Canvas, rows: pd.DataFrame) -> None:
    """Note in the caption that one curve hides another because the lists are identical."""
    if (rows["overlap"] == rows["n"]).all():
        a, b = (canvas.text(rows[f"measure_{s}"].iloc[0]) for s in "ab")
        canvas.tell(f"{a} and {b} have identical lists at each n shown.")


# --------------------------------------------------------------------------------- The difference


def _draw_difference(
    canvas: Canvas,
    low: Any,
    pair: pd.DataFrame,
    findings: list[_Finding],
    together: Any,
    rows: dict[Hashable, pd.DataFrame],
    x: str,
) -> None:
    """Draw the difference between the two curves, with the interval of the main table."""
    a, b = (pair[f"measure_{s}"].iloc[0] for s in "ab")
    found, columns, words = pair, ("ci_low", "ci_high"), "interval, separately at each n"
    if together is not None and {"band_low", "band_high"} <= set(together):
        found, columns = table_of(together, ("measure_a", "n"), ""), ("band_low", "band_high")
        words = "simultaneous band for all n"
    elif together is not None and {"ci_low", "ci_high"} <= set(together):
        found, words = table_of(together, ("measure_a", "n"), ""), "simultaneous band for all n"
    elif pair.attrs.get("adjust") is not None:
        words = "interval, adjusted like the test"
    level = level_before(found.attrs) or level_before(pair.attrs)
    if "measure_a" in found:
        found = found[(found["measure_a"] == a) & (found["measure_b"] == b)]
    short = len(rows[a]) and rows[a]["n"].min() >= FIRST > pair["n"].min()
    if short:
        found = found[found["n"] >= FIRST]
    found = thin_table(low, found)
    part = Canvas(low, canvas.look, alone=False)
    ink = part.ink
    low.axhline(0.0, color=ink.reference, linewidth=0.8, zorder=1, label="_no difference")
    across = _across(found["n"], rows, a, x)
    known = columns[0] in found and found[columns[0]].notna().any()
    ordered = found.get("difference")
    limits = [found[c].to_numpy(dtype=float) for c in columns if known]
    if known:
        if len(found) > FEW:
            shade = canvas.look.band(None, color=ink.fg, alpha=0.16, linewidth=0, zorder=1.5)
            low.fill_between(across, *limits, **shade)
            for limit in limits:
                low.plot(across, limit, color=ink.fg, linewidth=0.5, alpha=0.55, label="_limit")
        else:
            low.vlines(across, *limits, color=ink.fg, linewidth=1.1, alpha=0.75)
        name = f"{canvas.text(a)} − {canvas.text(b)}"
        canvas.tell(f"Lower panel: {name} in percentage points, with the {level}{words}.")
    if ordered is not None:
        mark: dict[str, Any] = {}
        if len(found) <= FEW:
            mark = {"marker": "o", "markersize": 3.5}
        low.plot(
            across, ordered, color=ink.fg, linewidth=LINE, zorder=3, label="_difference", **mark
        )
        if known and len(found) > FEW:  # wide intervals for short lists flatten the rest
            least, most = (np.nanquantile(x, q) for x, q in zip(limits, (0.03, 0.97), strict=True))
            least, most = min(least, ordered.min()), max(most, ordered.max())
            low.set_ylim(least - 0.05 * (most - least), most + 0.05 * (most - least))
            if min(limits[0].min(), -limits[1].max()) < min(least, -most):
                canvas.tell("The band for short lists extends beyond the panel.")
    part.frame(ylabel="difference\n(points)")
    set_ticks(low.yaxis, in_points, 4.0)
    set_ticks(low.xaxis, compact, 5.0)
    canvas.ax.figure.align_ylabels([canvas.ax, low])


def _mark_end(canvas: Canvas, table: pd.DataFrame, finding: _Finding) -> None:
    """Draw a line at the last n of the first run, unless the run extends to the end."""
    if not finding.hits.any():
        return
    first = int(finding.hits.argmax())
    length = int((~finding.hits[first:]).argmax())
    if length == 0:
        return
    last = table["n"].iloc[first + length - 1]
    canvas.upright(float(last), f"{last:,}", name="last n of the first significant range")
    canvas.tell(f"Vertical line: n = {last:,}, the last n of the first significant range.")


def _draw_overlap(
    canvas: Canvas, pairs: list[pd.DataFrame], rows: dict[Hashable, pd.DataFrame]
) -> None:
    """Draw the percentage of shared candidates on a separate scale."""
    right: Any = canvas.ax.twinx()
    look = {"color": canvas.ink.plain, "linewidth": 1.0, "label": "_overlap"}
    for pair in pairs:
        mine = rows[pair["measure_a"].iloc[0]]
        across = pair["n"].map(dict(zip(mine["n"], mine["x"], strict=True)))
        right.plot(across, pair["overlap"] / pair["n"], **look)
    right.set_ylim(0.0, 1.0)
    right.set_ylabel("overlap", fontsize=font(canvas.ax, "label"))
    right.tick_params(labelsize=font(canvas.ax, "tick"))
    from rankeval_pd.plotting.look import in_percent

    set_ticks(right.yaxis, in_percent, 4.0)
    right.spines[["top", "left"]].set_visible(False)
    tell(canvas.ax, "Thin gray line (scale on the right): share of candidates in both lists.")


# -------------------------------------------------------------------------------------------------
# Plots of odds ratios and p-values over n, and of the distribution for random lists.

_MANY = 100  # with more values of n per pair, p-values are drawn as a band

# ------------ Pairs of measures over n: odds ratios, and p-values for several tie-breaking orders


def _by_pair(canvas: Canvas, table: pd.DataFrame) -> dict[Hashable, pd.DataFrame]:
    """Return the rows for each pair of measures."""
    named = table[["measure_a", "measure_b"]].drop_duplicates().to_numpy(dtype=object)
    labels = {(a, b): f"{canvas.text(a)} : {canvas.text(b)}" for a, b in named}
    canvas.look = replace(canvas.look, labels=labels, order=list(labels))
    groups = table.groupby(["measure_a", "measure_b"], sort=False, dropna=False)
    return {pair: rows.sort_values("n").assign(x=rows["n"]) for pair, rows in groups}


@picture(("measure_a", "measure_b", "n", "odds_ratio_mle", "ci_low", "ci_high"), "odds_ratios")
def draw_odds_ratios(canvas: Canvas, table: pd.DataFrame, *, log: bool | None = None) -> None:
    """Draw the odds ratio for the two difference regions over n, on a logarithmic scale."""
    ax = canvas.ax
    logarithmic = is_log(log, table["n"])
    estimates = table[["odds_ratio_mle", "ci_low", "ci_high"]].to_numpy(dtype=float)
    inside = estimates[np.isfinite(estimates) & (estimates > 0.0)]
    low, high = 0.1, 10.0
    if inside.size:
        low, high = float(inside.min()), float(inside.max())
    low, high = min(low, 0.5) / 1.5, max(high, 2.0) * 1.5
    ax.set_yscale("log")
    canvas.limits("y", low, high)
    pairs = _by_pair(canvas, table)
    means = {pair: float(rows["odds_ratio_mle"].mean()) for pair, rows in pairs.items()}
    canvas.choose(means, "odds ratios")
    canvas.across("n", log=logarithmic)
    for pair, rows in pairs.items():
        odds = rows["odds_ratio_mle"]
        known = np.isfinite(odds) & (odds > 0.0)  # lines do not extend to 0 or infinity
        canvas.curve(pair, rows["n"], odds.where(known))
        for beyond, edge, sign in ((np.isposinf(odds), high, "^"), (odds == 0.0, low, "v")):
            if beyond.any():  # an unclipped line without points is drawn in the corner
                look = {"color": canvas.color(pair), "marker": sign, "markersize": 6}
                ax.plot(
                    rows["n"][beyond],
                    np.full(beyond.sum(), edge),
                    clip_on=False,
                    linestyle="none",
                    label=f"_{sign}",
                    **look,
                )
        pairs[pair] = rows.assign(
            low=rows["ci_low"].clip(low, high), high=rows["ci_high"].clip(low, high)
        )
    canvas.across("n", log=logarithmic)
    canvas.uncertainty(
        pairs, "low", "high", interval_kind(table.attrs, ("exact, separately at each n"))
    )
    canvas.rule(1.0, "no difference")
    if not np.isfinite(estimates).all() or (estimates == 0.0).any():
        canvas.tell(
            "Triangles: odds ratios of 0 or infinity, from a region without true or false"
            " positives."
        )
    canvas.limits("y", low, high)
    canvas.upwards(plainly)
    if len(table) and table["n"].min() < table["n"].max():
        canvas.limits("x", high=float(table["n"].max()) * 1.02)
    canvas.finish(xlabel=XLABELS["n"], ylabel="odds ratio")


@picture(("measure_a", "measure_b", "n", "p_min", "p_median", "p_max"), "tie_sensitivity")
def draw_tie_sensitivity(
    canvas: Canvas, table: pd.DataFrame, *, alpha: float = 0.05, log: bool | None = None
) -> None:
    """Draw the range of the p-value over different tie-breaking orders."""
    ax = canvas.ax
    logarithmic = is_log(log, table["n"])
    p = table[["p_min", "p_max"]].to_numpy(dtype=float)
    least = max(float(np.min(p[p > 0.0], initial=1.0)), 1e-300)
    ax.set_yscale("log")
    pairs = _by_pair(canvas, table)
    canvas.choose({pair: -float(rows["p_median"].mean()) for pair, rows in pairs.items()}, "rank")
    canvas.across("n", log=logarithmic)
    for place, (pair, rows) in enumerate(pairs.items()):
        low, middle, high = (rows[f"p_{x}"].clip(lower=least) for x in ("min", "median", "max"))
        if len(rows) > _MANY:
            canvas.band(pair, rows["n"], low, high)
        else:
            canvas.bars(pair, rows["n"], low, high, place=place, count=len(pairs))
        size = {"marker": "o", "markersize": 4, "markeredgewidth": 0}
        if len(rows) > _MANY:
            size["markersize"] = 2
        canvas.curve(pair, rows["n"], middle, linestyle="none", **size)
    keys = table.attrs.get("n_keys")
    orders = f"{keys or 'the'} orders of equal scores"
    canvas.tell(
        f"Dots: the median p-value over {orders}; bars: the range from the smallest to the largest."
    )
    if (p == 0.0).any():
        canvas.tell(f"Marks at the bottom edge: p below {least:.0e}.")
    canvas.rule(alpha, f"p = {alpha:g}")
    bottom, top = ax.get_ylim()
    canvas.limits("y", bottom, min(top, 1.3))
    canvas.upwards(plainly, 5.0)
    canvas.across("n", log=logarithmic)
    canvas.finish(xlabel=XLABELS["n"], ylabel="p-value")


# ------------------- The distribution of a random list's true positives (Macskassy 2005, figure 1)

_LAWS = ("discrete", "interpolated", "parametric")


@picture(("n", "tp", *_LAWS), "random_cdf")
def draw_random_cdf(canvas: Canvas, table: pd.DataFrame, bound: pd.DataFrame | None = None) -> None:
    """Draw distribution functions of the number of true positives in a random list."""
    sizes = table["n"].drop_duplicates().tolist()
    if len(sizes) > 1:
        raise ValueError(
            f"table has {len(sizes)} list sizes, but a plot shows only one. Choose a size:"
            f" table[table['n'] == {sizes[0]}]."
        )
    ax = canvas.ax
    canvas.look = replace(canvas.look, order=_LAWS)
    for law in _LAWS:
        style = {"discrete": "steps-post"}.get(law, "default")
        canvas.curve(law, table["tp"], table[law], marker="none", drawstyle=style)
    if bound is not None and sizes:
        rows = table_of(bound, ("p", "n", *_LAWS), "random_bound")
        found = rows.loc[rows["n"] == sizes[0], ["p", *_LAWS]].to_numpy(dtype=float)
        for p, *bounds in found:
            look = canvas.look.band(None, color=canvas.ink.reference, linewidth=THIN, zorder=1)
            ax.axhline(1.0 - p, **look)
            for law, at in zip(_LAWS, bounds, strict=True):
                mark = {"color": canvas.color(law), "marker": "o", "markersize": 5, "zorder": 4}
                mark |= {"markeredgecolor": canvas.ink.bg, "label": f"_{law}"}
                ax.plot(at, 1.0 - p, linestyle="none", **canvas.look.mark(law, **mark))
            canvas.values(
                f"bound, {rate_text(p)}",
                {law: f"{at:.4g}" for law, at in zip(_LAWS, bounds, strict=True)},
            )
        canvas.tell("Dots: the bounds, where each distribution function reaches 1 − p.")
    label = "true positives among the first"
    if sizes:
        label += f" {sizes[0]:,}"
    canvas.meet = True
    ax.set_ylim(0.0, 1.02)
    canvas.upwards()

    set_ticks(ax.xaxis, compact, 4.0)
    canvas.finish(xlabel=label, ylabel="P(as many or fewer)")
