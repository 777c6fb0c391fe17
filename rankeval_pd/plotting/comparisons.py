"""Plot comparisons of measures over list sizes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.capabilities import one_reading
from rankeval_pd.doors.candidates import Data
from rankeval_pd.errors import check_share, hushed
from rankeval_pd.lists import ranges, regions
from rankeval_pd.lists.comparison import compare
from rankeval_pd.lists.precision import intervals_unread
from rankeval_pd.plotting.canvas import (
    BESIDE,
    FEW,
    HAIR,
    LINE,
    XLABELS,
    Canvas,
    interval_kind,
    level_before,
    thin_table,
    write,
)
from rankeval_pd.plotting.lists import (
    FIRST,
    draw_lists,
    draw_marks,
    draw_references,
    shade_blocks,
)
from rankeval_pd.plotting.look import (
    LEAST,
    Ink,
    compact,
    font,
    in_percent,
    in_points,
    mix,
    plainly,
    set_ticks,
    shortened,
    wide,
)
from rankeval_pd.plotting.panels import (
    ComparisonPlot,
    LevelPlot,
    RankingPlot,
    by_name,
    checked,
    curves_of,
    is_log,
    of_data_or_table,
    parted,
    picture,
    roles_in,
    seen_of,
    shown,
    size_of,
    table_of,
)
from rankeval_pd.roles import (
    Across,
    FamilyAdjustment,
    ListSizes,
    measures_of,
)
from rankeval_pd.words import ADJUSTED, TESTS, percent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# -------------------------------------------------------------------------------------------------
# Precision curves, their difference, and marks for significant differences (Evert 2004).
_HEIGHTS = (3.0, 0.62, 2.2)  # relative heights of the panels: curves, strip, difference
_ROW = 11.0  # height of a row in the strip, in points
_SHARE = 0.40  # fraction of the height used by the strip for all pairs
_GAP = 0.04  # gap between panels, as a fraction of their height
_TALL = 160.0  # minimum height of the difference panel, in points
_BUDGET = 1e8  # this product of candidates and resamples takes a few seconds


class _Finding(NamedTuple):
    """The significant rows, and a description of the test."""

    hits: np.ndarray[Any, Any]
    words: str
    together: bool


@picture(
    "measure_a measure_b n precision_a precision_b difference p_value significant better overlap",
    "compare by n",
)
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
        curves = table_of(curves, "measure n precision lift", "nbest_precision")
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
    draw_marks(canvas, rows, mark, x)
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


@of_data_or_table(draw_comparison, "measure_a n precision_a significant", compare)
def comparison(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    n: ListSizes = None,
    *,
    alpha: float = 0.05,
    adjust: FamilyAdjustment | None = None,
    n_resamples: int | None = None,
    phi: float = 1.0,
    simultaneous: bool = True,
    x: Across = "n",
    mark: Sequence[int] = (),
    relevant: float = 0.0,
    reference: str | Sequence[str] = (),
    overlap: bool = False,
    log: bool | None = None,
    first_run: bool = False,
    **options: Unpack[ComparisonPlot],
) -> Axes:
    """Draw the precision of measures, and mark significant differences.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.compare` for any pairs of measures at several n. If you pass a result,
        you can add ``together`` and ``curves``. ``together`` is a result of
        :func:`rankeval_pd.compare` with adjusted p-values, or of
        :func:`rankeval_pd.difference_band`. ``curves`` is the result of
        :func:`rankeval_pd.nbest_precision`, required if ``x`` is not n or ``reference`` is given.
    a, b, n, test, alternative, alpha, adjust, n_resamples, level, ci, target, phi
        Options for data, as in :func:`rankeval_pd.compare`. By default, ``n_resamples`` is 999.
        For many candidates, the default is smaller so that plotting is fast, and the caption shows
        the number used.
    simultaneous : bool
        Option for data: whether to add a comparison adjusted by "max-t" over the visible list
        sizes. This option applies only if ``adjust`` is None.
    x : {"n", "share", "recall"}
        Quantity on the x axis; see :func:`precision`.
    mark : sequence of int
        Sizes of lists to mark; see :func:`precision`.
    relevant : float
        Smallest relevant difference. Smaller differences are not marked.
    reference : {"random", "ideal"} or sequence of these
        Reference curves to draw; see :func:`precision`.
    overlap : bool
        Whether to draw the percentage of shared candidates, with a scale on the right.
    log : bool, optional
        Whether the n axis is logarithmic; see :func:`precision`.
    first_run : bool
        Whether to mark the last n of the first significant range, as in Evert's (2004) figure 3.
        Only available for a single pair.
    **look

    Notes
    -----
    A single pair has three panels: the curves, a strip that marks significant list sizes, and the
    difference with its band. The bars in the strip have the color of the better measure. Pale bars
    show pointwise tests, and dark bars show simultaneous tests. The strip has one row per pair.
    Compared lists always have the same size n. With x="recall", a bar is drawn at the recall of
    the better measure. For more than 20,000 candidates, about 4,000 values of n are tested and
    drawn, and each bar extends halfway to the next n. At most 2,000 are tested simultaneously.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": range(40, 0, -1), "t": range(40), "gold": [True] * 12 + [False] * 28}
    ... )
    >>> df.rankeval.plot.comparison("G2", "t").get_ylabel()
    'precision'
    """
    look, asked = parted({**options, "alpha": alpha, "phi": phi})
    roles = roles_in(asked)
    single = b is not None or len(measures_of(data, roles, every=False)) <= 2
    unread = hushed("target='region'") if single else intervals_unread()
    with one_reading(), unread, hushed("ties='shared'"):  # the plot shades these list sizes instead
        sizes = seen_of(data, n, roles)
        draws = n_resamples if n_resamples is not None else _draws(data, a, b, alpha, roles)
        table = compare(data, a, b, sizes, adjust=adjust, n_resamples=draws, **asked)
        together = curves = None
        if simultaneous and adjust is None and phi == 1.0:  # swap tests do not support phi
            together = compare(data, a, b, shown(table), adjust="max-t", n_resamples=draws, **asked)
            together.attrs.setdefault("n_resamples", draws)
        if x != "n" or reference:
            curves = curves_of(data, sizes, **roles)
    return draw_comparison(
        table,
        together,
        curves,
        x=x,
        log=log,
        mark=mark,
        relevant=relevant,
        reference=reference,
        overlap=overlap,
        first_run=first_run,
        **look,
    )


def _draws(data: Any, a: Hashable, b: Hashable, alpha: float, roles: Mapping[str, Any]) -> int:
    """Return a number of resamples that is fast but large enough for the level."""
    alpha = check_share("alpha", alpha)
    count = len(measures_of(data, roles, every=False))
    pairs = 1
    if a is None:
        pairs = max(count * (count - 1) // 2, 1)
    elif b is None:
        pairs = max(count - 1, 1)
    affordable = int(_BUDGET / max(size_of(data) * pairs, 1))
    needed = min(np.ceil(pairs / alpha), 1e18)  # too many to fit in memory
    return max(min(999, affordable), int(needed) - 1, 99)


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
    columns = ["measure", "n", "precision"]
    sides = [
        table[[f"measure_{side}", "n", f"precision_{side}"]].set_axis(columns, axis=1)
        for side in "ab"
    ]
    lists = pd.concat(sides).drop_duplicates(["measure", "n"])
    place = pd.factorize(lists["measure"], use_na_sentinel=False)[0]
    order = np.lexsort((lists["n"], place))
    return lists.iloc[order]


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
        other = table_of(together, "measure_a measure_b n band_low band_high", "difference_band")
        words = f"the {level_before(other.attrs)}simultaneous band excludes 0"
        other = other[(other["band_low"] > 0) | (other["band_high"] < 0)]
    else:
        other = table_of(together, "measure_a measure_b n significant", "compare with adjust=...")
        adjust, alpha = str(other.attrs.get("adjust")), other.attrs.get("alpha")
        words = ADJUSTED.get(adjust, adjust)
        if alpha:
            words += f" at {percent_of(alpha)}"
        draws = other.attrs.get("n_resamples")
        if adjust == "max-t" and draws is not None and draws < 999:
            words += f" ({draws} resamples)"
        other = other[other["significant"].astype(bool)]
    keys = [name for name in ("measure_a", "measure_b", "n") if name in other]
    result = pd.MultiIndex.from_frame(table[keys]).isin(pd.MultiIndex.from_frame(other[keys]))
    return np.asarray(result, dtype=bool), words


def _favored(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return the measure favored by each difference, significant or not."""
    ahead = rows["difference"] > 0
    return rows["measure_a"].where(ahead, rows["measure_b"]).to_numpy(dtype=object)


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
    strip.spines[:].set_visible(False)
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
    return n.map(rows[measure].set_index("n")["x"]).to_numpy(dtype=float)


def _draw_hits(
    canvas: Canvas, strip: Axes, across: Any, hits: Any, color: Any, where: tuple[float, float]
) -> None:
    """Draw significant list sizes as bars, or as squares if there are few sizes."""
    if len(across) > FEW:  # the outline keeps narrow bars visible
        bars = canvas.look.band(color=color, linewidth=0.5)
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
    ends = 2.0 * across[0] - between[0], 2.0 * across[-1] - between[-1]
    edge = np.concatenate([ends[:1], between, ends[1:]])
    first, after = np.flatnonzero(np.diff(hits, prepend=False, append=False)).reshape(-1, 2).T
    return [*zip(edge[first], edge[after] - edge[first], strict=True)]


def _name_strip_rows(
    canvas: Canvas, strip: Axes, pairs: list[pd.DataFrame], findings: list[_Finding], ink: Ink
) -> None:
    """Write the better measure on the left of each row and the kind of test on the right."""
    size, width = font(canvas.ax, "note"), canvas.size[0]
    beside: dict[str, Any] = {"xycoords": BESIDE, "va": "center", "fontsize": size}
    beside["annotation_clip"] = False
    if len(pairs) > 1:
        share = min(_SHARE, len(pairs) * _ROW / canvas.size[1])
        if share * canvas.size[1] / len(pairs) < 1.1 * LEAST:
            canvas.tell(f"Each of the {len(pairs)} rows of bars represents a pair, in table order.")
            return
        room = 0.38 * width - 60.0
        for k, rows in enumerate(pairs):
            a, b = (canvas.text(rows[f"measure_{s}"].iloc[0]) for s in "ab")
            text = shortened(f"{a} : {b}", size, room)
            write(strip, text, (1.0, len(pairs) - 0.5 - k), (4, 0), color=ink.note, **beside)
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
            write(strip, text, (1.0, len(findings) - 0.5 - row), (4, 0), color=ink.note, **beside)
    if len(better) == 1:
        name = next(iter(better))
        text = f"{shortened(canvas.text(name), size, 0.16 * width)}\nbetter"
        color = ink.text(canvas.look.color(canvas.ax, name))
        at = (0.0, 0.5 * len(findings))
        write(strip, text, at, (-6, 0), ha="right", color=color, **beside)


def _tell_same_lists(canvas: Canvas, rows: pd.DataFrame) -> None:
    """Note in the caption that one curve hides another because the lists are identical."""
    if (rows["overlap"] == rows["n"]).all():
        a, b = (canvas.text(rows[f"measure_{s}"].iloc[0]) for s in "ab")
        canvas.tell(f"{a} and {b} have identical lists at each n shown.")


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
    found, limits, words = pair, ["ci_low", "ci_high"], "interval, separately at each n"
    bands = [["band_low", "band_high"], limits]
    known = [x for x in bands if together is not None and {*x} <= {*together}]
    if known:
        found, limits = table_of(together, "measure_a n", ""), known[0]
        words = "simultaneous band for all n"
    elif pair.attrs.get("adjust") is not None:
        words = "interval, adjusted like the test"
    level = level_before(found.attrs) or level_before(pair.attrs)
    if "measure_a" in found:
        found = found[(found["measure_a"] == a) & (found["measure_b"] == b)]
    short = len(rows[a]) and rows[a]["n"].min() >= FIRST > pair["n"].min()
    if short:
        found = found[found["n"] >= FIRST]
    found = thin_table(found)
    part = Canvas(low, canvas.look, alone=False)
    ink = part.ink
    part.rule(0.0)
    across = _across(found["n"], rows, a, x)
    if limits[0] in found and found[limits[0]].notna().any():
        least, most = found[limits].to_numpy(dtype=float).T
        if len(found) > FEW:
            shade = canvas.look.band(color=ink.fg, alpha=0.16, linewidth=0, zorder=1.5)
            low.fill_between(across, least, most, **shade)
            for limit in (least, most):
                low.plot(across, limit, color=ink.fg, linewidth=HAIR, alpha=0.55, label="_limit")
        else:
            low.vlines(across, least, most, color=ink.fg, linewidth=1.1, alpha=0.75)
        name = f"{canvas.text(a)} − {canvas.text(b)}"
        canvas.tell(f"Lower panel: {name} in percentage points, with the {level}{words}.")
        if "difference" in found and len(found) > FEW:
            _focus(canvas, low, found["difference"], least, most)
    if "difference" in found:
        look = {"color": ink.fg, "linewidth": LINE, "zorder": 3, "label": "_difference"}
        if len(found) <= FEW:
            look |= {"marker": "o", "markersize": 3.5}
        low.plot(across, found["difference"], **look)
    part.frame(ylabel="difference\n(points)")
    set_ticks(low.yaxis, in_points, 4.0)
    set_ticks(low.xaxis, compact, 5.0)
    canvas.ax.figure.align_ylabels([canvas.ax, low])


def _focus(canvas: Canvas, low: Any, found: pd.Series[Any], least: Any, most: Any) -> None:
    """Limit the panel, because wide intervals for short lists flatten the rest."""
    bottom = min(np.nanquantile(least, 0.03), found.min())
    top = max(np.nanquantile(most, 0.97), found.max())
    low.set_ylim(bottom - 0.05 * (top - bottom), top + 0.05 * (top - bottom))
    if min(least.min(), -most.max()) < min(bottom, -top):
        canvas.tell("The band for short lists extends beyond the panel.")


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
        across = pair["n"].map(rows[pair["measure_a"].iloc[0]].set_index("n")["x"])
        right.plot(across, pair["overlap"] / pair["n"], **look)
    right.set_ylim(0.0, 1.0)
    right.set_ylabel("overlap", fontsize=font(canvas.ax, "label"))
    right.tick_params(labelsize=font(canvas.ax, "tick"))
    set_ticks(right.yaxis, in_percent, 4.0)
    right.spines[["top", "left"]].set_visible(False)
    canvas.tell("Thin gray line (scale on the right): share of candidates in both lists.")


# -------------------------------------------------------------------------------------------------
# Pairs of measures over n: odds ratios, and p-values for several tie-breaking orders.
_MANY = 100  # with more values of n per pair, p-values are drawn as a band


def _by_pair(canvas: Canvas, table: pd.DataFrame) -> dict[Hashable, pd.DataFrame]:
    """Return the rows for each pair of measures."""
    named = table[["measure_a", "measure_b"]].drop_duplicates().to_numpy(dtype=object)
    labels = {(a, b): f"{canvas.text(a)} : {canvas.text(b)}" for a, b in named}
    canvas.look = replace(canvas.look, labels=labels, order=list(labels))
    return by_name(table.assign(x=table["n"]), ["measure_a", "measure_b"])


@picture("measure_a measure_b n odds_ratio_mle ci_low ci_high", "odds_ratios")
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


@of_data_or_table(
    draw_odds_ratios,
    "measure_a n odds_ratio odds_ratio_mle",
    ranges.odds_ratios,
    clusters=False,
)
def odds_ratios(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: Any,
    *,
    log: bool | None = None,
    **options: Unpack[LevelPlot],
) -> Axes:
    """Draw the odds ratio between two measures over n, on a logarithmic scale.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.odds_ratios`.
    a, b, n, level
        Options for data, as in :func:`rankeval_pd.odds_ratios`.
    log : bool, optional
        Whether the n axis is logarithmic; see :func:`precision`.
    **look

    Notes
    -----
    The line is the conditional maximum-likelihood estimate. Bars, or a band for many n, show exact
    pointwise intervals. A triangle at the edge represents a ratio of 0 or infinity. The gray line
    at 1 marks equal odds.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> df.rankeval.plot.odds_ratios("good", "fair", [50, 100, 200]).get_yscale()
    'log'
    """
    look, asked = parted(options)
    return draw_odds_ratios(ranges.odds_ratios(data, a, b, n, **asked), log=log, **look)


@picture("measure_a measure_b n p_min p_median p_max", "tie_sensitivity")
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


@of_data_or_table(
    draw_tie_sensitivity,
    "measure_a n p_min p_median p_max",
    regions.tie_sensitivity,
    clusters=False,
)
def tie_sensitivity(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: Any,
    *,
    n_keys: int = 20,
    alpha: float = 0.05,
    log: bool | None = None,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw the range of a comparison's p-value over different tie-breaking orders.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.tie_sensitivity`.
    a, b, n, n_keys
        Options for data, as in :func:`rankeval_pd.tie_sensitivity`.
    alpha : float
        Significance level at which to draw the horizontal line.
    log : bool, optional
        Whether the n axis is logarithmic; see :func:`precision`.
    **look

    Notes
    -----
    Each dot is the median p-value over several tie-breaking orders, and each bar extends from the
    smallest to the largest p-value. If a bar crosses the gray line, significance depends on the
    tie-breaking order.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500).round(1)
    >>> df.rankeval.plot.tie_sensitivity("good", "fair", [50, 100], n_keys=5).get_ylabel()
    'p-value'
    """
    look, roles = parted(options)
    table = regions.tie_sensitivity(data, a, b, n, n_keys=n_keys, **roles)
    table.attrs.setdefault("n_keys", n_keys)
    return draw_tie_sensitivity(table, alpha=alpha, log=log, **look)
