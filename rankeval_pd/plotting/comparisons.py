"""Precision curves, their difference, and marks for significant differences (Evert 2004)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.forms.out.phrases import ADJUSTED, TESTS, percent_of
from rankeval_pd.plotting.canvas import FEW, LINE, XLABELS, Canvas, tell, thin_table
from rankeval_pd.plotting.ink import Ink, mix
from rankeval_pd.plotting.lists import (
    FIRST,
    draw_lists,
    draw_marks,
    draw_references,
    shade_blocks,
)
from rankeval_pd.plotting.numbers import (
    LEAST,
    compact,
    font,
    in_points,
    set_ticks,
    shortened,
    wide,
)
from rankeval_pd.plotting.panels import picture
from rankeval_pd.plotting.tables import checked, is_log, table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDED = (
    "measure_a", "measure_b", "n", "precision_a", "precision_b", "difference", "p_value",
    "significant", "better", "overlap",
)  # fmt: skip
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
    strip, low = _panels(canvas, len(pairs))
    lists = _lists(table)
    if curves is not None:
        chosen = lists["measure"].drop_duplicates()
        lists = lists.merge(
            curves[[c for c in ("measure", "n", "recall", "lift") if c in curves]],
            on=["measure", "n"], how="left",
        )  # fmt: skip
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
    last = low if low is not None else strip
    label = canvas.ax.get_xlabel()
    canvas.finish(ylabel="precision", xlabel=XLABELS[x] if strip is None else label)
    if last is not None:
        _below(canvas, [p for p in (strip, low) if p is not None], XLABELS[x])


def _panels(canvas: Canvas, count: int) -> tuple[Any, Any]:
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
    _, strip, *rest = _split(ax, heights)
    return strip, (rest[0] if rest else None)


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
    words = "n" if xlabel == XLABELS["n"] and canvas.size[0] < 283 else xlabel
    for panel in (canvas.ax, *panels):
        last = panel is panels[-1]
        panel.tick_params(axis="x", labelbottom=last, labelsize=font(canvas.ax, "tick"))
        panel.set_xlabel(words if last else "", fontsize=font(canvas.ax, "label"))
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
    extent = f", and the difference is {100 * relevant:.3g} points or more" if relevant else ""
    alone = table["p_value"] <= alpha if alpha and adjust else table["significant"]
    words = f"{_test(table)}, separately at each n{extent}"
    listed = [_Finding(alone.to_numpy(dtype=bool) & large, words, together=False)]
    if adjust:
        together = table
    if together is not None:
        hits, words = _adjusted(table, together)
        listed.append(
            _Finding(hits & large, f"{words}, simultaneously for all n{extent}", together=True)
        )
    return listed


def _test(table: pd.DataFrame) -> str:
    alpha = table.attrs.get("alpha")
    name = TESTS.get(str(table.attrs.get("test")), "the test of the table")
    return f"{name} at {percent_of(alpha)}" if alpha else name


def _adjusted(table: pd.DataFrame, together: Any) -> tuple[np.ndarray[Any, Any], str]:
    """Return the rows that are significant after adjustment, and the adjustment."""
    if "band_low" in together:
        other = table_of(together, (*_PAIR, "n", "band_low", "band_high"), "difference_band")
        level = f"{percent_of(other.attrs['level'])} " if "level" in other.attrs else ""
        other = other[(other["band_low"] > 0) | (other["band_high"] < 0)]
        words = f"the {level}simultaneous band excludes 0"
    else:
        other = table_of(together, (*_PAIR, "n", "significant"), "compare with adjust=...")
        adjust, alpha = str(other.attrs.get("adjust")), other.attrs.get("alpha")
        words = ADJUSTED.get(adjust, adjust)
        words = f"{words} at {percent_of(alpha)}" if alpha else words
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
    _name_rows(canvas, strip, pairs, findings, ink)
    for finding in findings:
        shade = "Full" if finding.together else "Pale"
        found = (
            ""
            if finding.hits.any() or not canvas.alone
            else (" No list in this plot meets the condition.")
        )
        where = " (at its recall)" if x == "recall" else ""
        canvas.tell(
            f"{shade} bars: lists for which the measure in this color{where} is significantly"
            f" better ({finding.words}).{found}"
        )


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
    edge = np.concatenate([
        [across[0] - (between[0] - across[0])], between, [across[-1] + (across[-1] - between[-1])],
    ])  # fmt: skip
    runs = np.flatnonzero(np.diff(np.concatenate([[False], hits, [False]]).astype(int)))
    return [
        (float(edge[start]), float(edge[stop] - edge[start])) for start, stop in runs.reshape(-1, 2)
    ]


def _name_rows(
    canvas: Canvas, strip: Axes, pairs: list[pd.DataFrame], findings: list[_Finding], ink: Ink
) -> None:
    """Write the better measure on the left of each row and the kind of test on the right."""
    size, width = font(canvas.ax, "note"), canvas.size[0]
    beside: dict[str, Any] = {
        "xycoords": ("axes fraction", "data"), "textcoords": "offset points", "fontsize": size,
        "va": "center", "annotation_clip": False,
    }  # fmt: skip
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
    shown = [hits for _, hits in ((f, set(_favored(pairs[0])[f.hits])) for f in findings)]
    better = set.union(*shown) if shown else set()
    for row, finding in enumerate(findings):
        text = "all n jointly" if finding.together else "each n separately"
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
    source = found.attrs if found.attrs.get("level") else pair.attrs
    if "measure_a" in found:
        found = found[(found["measure_a"] == a) & (found["measure_b"] == b)]
    short = len(rows[a]) and rows[a]["n"].min() >= FIRST > pair["n"].min()
    found = thin_table(low, found[found["n"] >= FIRST] if short else found)
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
        level = percent_of(source["level"]) + " " if source.get("level") else ""
        name = f"{canvas.text(a)} − {canvas.text(b)}"
        canvas.tell(f"Lower panel: {name} in percentage points, with the {level}{words}.")
    if ordered is not None:
        mark = {"marker": "o", "markersize": 3.5} if len(found) <= FEW else {}
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
    from rankeval_pd.plotting.numbers import in_percent

    set_ticks(right.yaxis, in_percent, 4.0)
    right.spines[["top", "left"]].set_visible(False)
    tell(canvas.ax, "Thin gray line (scale on the right): share of candidates in both lists.")
