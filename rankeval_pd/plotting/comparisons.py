"""Plot comparisons of measures over list sizes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.doors import Data
from rankeval_pd.errors import check_share, hushed
from rankeval_pd.lists import regions
from rankeval_pd.lists.comparison import compare
from rankeval_pd.lists.precision import intervals_unread
from rankeval_pd.options import one_reading
from rankeval_pd.plotting.canvas import (
    BESIDE,
    FEW,
    HAIR,
    LINE,
    XLABELS,
    Canvas,
    level_before,
    thin_table,
    write,
)
from rankeval_pd.plotting.lists import FIRST, draw_lists, draw_marks, draw_references, shade_blocks
from rankeval_pd.plotting.look import (
    LEAST,
    Ink,
    compact,
    cut_text,
    font,
    in_percent,
    in_points,
    mixed_color,
    plainly,
    set_ticks,
    wide,
)
from rankeval_pd.plotting.panels import (
    ComparisonPlot,
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
from rankeval_pd.roles import Across, FamilyAdjustment, ListSizes, measures_of
from rankeval_pd.words import ADJUSTED, TESTS, percent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# ---- Precision curves, their difference, and marks for significant differences (Evert 2004)
_HEIGHTS = (3.0, 0.62, 2.2)  # relative heights of the panels: curves, strip, difference
_ROW = 11.0  # height of a row in the strip, in points
_SHARE = 0.40  # fraction of the height used by the strip for all pairs
_GAP = 0.04  # gap between panels, as a fraction of their height
_TALL = 160.0  # minimum height of the difference panel, in points
_CURVE = ["measure", "n", "precision"]
_BUDGET = 1e8  # this product of candidates and resamples takes a few seconds


class _Finding(NamedTuple):
    """The significant rows, and a description of the test."""

    hits: pd.Series[bool]
    words: str
    together: bool


class _Compared(NamedTuple):
    """The pairs in a plot, their significant rows, and the curves of the measures."""

    pairs: list[pd.DataFrame]
    findings: list[_Finding]
    curves: dict[Hashable, pd.DataFrame]  #: rows for each measure with x positions
    x: str

    def across(self, n: pd.Series[Any], measure: Hashable) -> Any:
        """Return the x positions of the lists for one measure."""
        if self.x == "n":
            return n.to_numpy(dtype=float)
        return n.map(self.curves[measure].set_index("n")["x"]).to_numpy(dtype=float)


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
    panels = _stacked(canvas, len(pairs))
    sides = [
        table[[f"measure_{side}", "n", f"precision_{side}"]].set_axis(_CURVE, axis=1)
        for side in "ab"
    ]
    lists = pd.concat(sides).drop_duplicates(["measure", "n"])
    place = pd.factorize(lists["measure"], use_na_sentinel=False)[0]
    lists = lists.iloc[np.lexsort((lists["n"], place))]
    if curves is not None:
        known = [c for c in ("measure", "n", "recall", "lift") if c in curves]
        chosen = lists["measure"].drop_duplicates()
        lists = lists.merge(curves[known], on=["measure", "n"], how="left")
        curves = curves[curves["measure"].isin(chosen)]
    rows = draw_lists(canvas, lists, x, logarithmic, log)
    compared = _Compared(pairs, findings, rows, x)
    draw_marks(canvas, rows, mark, x)
    if curves is not None:
        draw_references(canvas, curves, x, references)
    if "tie_decides" in table:  # not available for means over all orders
        shade_blocks(canvas, table, "cuts_tie", x)
    if panels:
        _draw_strips(canvas, panels[0], compared)
    if len(panels) > 1:
        _draw_difference(canvas, panels[1], compared, together)
    hits = findings[0].hits.to_numpy()
    if first_run and x == "n" and len(pairs) == 1 and hits.any():
        first = int(hits.argmax())
        length = int((~hits[first:]).argmax())
        if length:  # the run ends before the last n
            last = table["n"].iloc[first + length - 1]
            canvas.upright(float(last), f"{last:,}", name="last n of the first significant range")
            canvas.tell(f"Vertical line: n = {last:,}, the last n of the first significant range.")
    if overlap:
        # the percentage of shared candidates, on a separate scale
        right: Any = canvas.ax.twinx()
        look = {"color": canvas.ink.plain, "linewidth": 1.0, "label": "_overlap"}
        for pair in pairs:
            curve = rows[pair["measure_a"].iloc[0]]
            across = pair["n"].map(curve.set_index("n")["x"])
            right.plot(across, pair["overlap"] / pair["n"], **look)
        right.set_ylim(0.0, 1.0)
        right.set_ylabel("overlap", fontsize=font(canvas.ax, "label"))
        right.tick_params(labelsize=font(canvas.ax, "tick"))
        set_ticks(right.yaxis, in_percent, 4.0)
        right.spines[["top", "left"]].set_visible(False)
        canvas.tell("Thin gray line (scale on the right): share of candidates in both lists.")
    canvas.upwards()
    canvas.across(x, log=logarithmic)
    if not panels:
        canvas.finish(ylabel="precision", xlabel=XLABELS[x])
        return
    canvas.finish(ylabel="precision", xlabel=canvas.ax.get_xlabel())
    xlabel = XLABELS[x]
    if x == "n" and canvas.size[0] < 283:
        xlabel = "n"
    for panel in (canvas.ax, *panels):  # only the last panel has labels on the x axis
        bottom = panel is panels[-1]
        panel.tick_params(axis="x", labelbottom=bottom, labelsize=font(canvas.ax, "tick"))
        panel.set_xlabel(xlabel * bottom, fontsize=font(canvas.ax, "label"))
    canvas.ax.tick_params(axis="x", length=0)


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
    a, b, n, test, alternative, alpha, adjust, n_resamples, level, target
        Options for data, as in :func:`rankeval_pd.compare`. By default, ``n_resamples`` is 999.
        For many candidates, the default is smaller so that plotting is fast, and the caption shows
        the number used.
    simultaneous : bool
        Option for data: whether to add a comparison adjusted by "max-t" over the visible list
        sizes. This option applies only if ``adjust`` is None.
    x, mark, reference, log
        As in :func:`precision`.
    relevant : float
        Smallest relevant difference. Smaller differences are not marked.
    overlap : bool
        Whether to draw the percentage of shared candidates, with a scale on the right.
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
    look, asked = parted({**options, "alpha": alpha})
    roles = roles_in(asked)
    single = b is not None or len(measures_of(data, roles, every=False)) <= 2
    unread = hushed("target='region'") if single else intervals_unread()
    with one_reading(), unread, hushed("ties='shared'"):  # the plot shades these list sizes instead
        sizes, draws = seen_of(data, n, roles), n_resamples
        if draws is None:  # fast, but enough for the level
            count, pairs = len(measures_of(data, roles, every=False)), 1
            if a is None:
                pairs = max(count * (count - 1) // 2, 1)
            elif b is None:
                pairs = max(count - 1, 1)
            affordable = int(_BUDGET / max(size_of(data) * pairs, 1))
            needed = np.ceil(pairs / check_share("alpha", alpha))
            draws = max(min(999, affordable), int(min(needed, 1e18)) - 1, 99)  # fits in memory
        table = compare(data, a, b, sizes, adjust=adjust, n_resamples=draws, **asked)
        together = curves = None
        if simultaneous and adjust is None:
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


def _stacked(canvas: Canvas, count: int) -> list[Any]:
    """Replace a panel with stacked panels that share the x axis; return those below the curves."""
    ax: Any = canvas.ax
    spec, height = ax.get_subplotspec(), canvas.size[1]
    if spec is None and not hasattr(ax.figure, "add_axes"):
        return []
    share = min(_SHARE, max(count, 2) * _ROW / height)
    heights: Sequence[float] = (1.0 - share, share)
    if count == 1 and height >= _TALL:
        heights = _HEIGHTS
    if spec is not None:
        sub = spec.subgridspec(len(heights), 1, height_ratios=heights, hspace=_GAP)
        ax.set_subplotspec(sub[0])
        return [ax.figure.add_subplot(sub[k], sharex=ax) for k in range(1, len(heights))]
    box = ax.get_position()  # set the positions manually
    unit = box.height / (sum(heights) + _GAP * (len(heights) - 1))
    places, top = [], box.y1
    for high in heights:
        places.append((box.x0, top - high * unit, box.width, high * unit))
        top -= (high + _GAP) * unit
    ax.set_position(places[0])
    return [ax.figure.add_axes(place, sharex=ax) for place in places[1:]]


def _findings(table: pd.DataFrame, together: Any, relevant: float) -> list[_Finding]:
    """Return the pointwise findings and the simultaneous findings over all n."""
    alpha, adjust = table.attrs.get("alpha"), table.attrs.get("adjust")
    large = table["difference"].abs() >= relevant
    extent = ""
    if relevant:
        extent = f", and the difference is {100 * relevant:.3g} points or more"
    alone = table["significant"].astype(bool)
    if alpha and adjust:
        alone = table["p_value"] <= alpha
    test = TESTS.get(str(table.attrs.get("test")), "the test of the table")
    if alpha:
        test += f" at {percent_of(alpha)}"
    listed = [_Finding(alone & large, f"{test}, separately at each n{extent}", together=False)]
    if adjust:
        together = table
    if together is not None:
        if "band_low" in together:
            needed = "measure_a measure_b n band_low band_high"
            other = table_of(together, needed, "difference_band")
            words = f"the {level_before(other.attrs)}simultaneous band excludes 0"
            other = other[(other["band_low"] > 0) | (other["band_high"] < 0)]
        else:
            needed = "measure_a measure_b n significant"
            other = table_of(together, needed, "compare with adjust=...")
            adjust, alpha = str(other.attrs.get("adjust")), other.attrs.get("alpha")
            words = ADJUSTED.get(adjust, adjust)
            if alpha:
                words += f" at {percent_of(alpha)}"
            draws = other.attrs.get("n_resamples")
            if adjust == "max-t" and draws is not None and draws < 999:
                words += f" ({draws} resamples)"
            other = other[other["significant"].astype(bool)]
        keys = [name for name in ("measure_a", "measure_b", "n") if name in other]
        hits = pd.MultiIndex.from_frame(table[keys]).isin(pd.MultiIndex.from_frame(other[keys]))
        words += f", simultaneously for all n{extent}"
        listed.append(_Finding(large & hits, words, together=True))
    return listed


def _favored(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return the measure favored by each difference, significant or not."""
    ahead = rows["difference"] > 0
    return rows["measure_a"].where(ahead, rows["measure_b"]).to_numpy(dtype=object)


def _draw_strips(canvas: Canvas, strip: Any, compared: _Compared) -> None:
    """Draw bars where differences are significant: a row per test of one pair, or per pair."""
    pairs, findings = compared.pairs, compared.findings
    strip.patch.set_visible(False)
    ink, single = Ink.of(strip, outside=True), len(pairs) == 1
    heights = len(findings) if single else len(pairs)
    for k, pair in enumerate(pairs):
        if (pair["overlap"] == pair["n"]).all():  # one curve hides the other
            a, b = (canvas.text(pair[f"measure_{s}"].iloc[0]) for s in "ab")
            canvas.tell(f"{a} and {b} have identical lists at each n shown.")
        for number, finding in enumerate(findings):
            row = heights - 1 - (number if single else k)
            high = 0.6 if single or not finding.together else 0.36
            where = row + 0.5 * (1.0 - high), high
            mine = finding.hits.loc[pair.index].to_numpy(dtype=bool)
            for side in "ab":
                measure = pair[f"measure_{side}"].iloc[0]
                better = mine & (_favored(pair) == measure)
                if not better.any():
                    continue
                color = canvas.look.color(canvas.ax, measure)
                shade = color if finding.together else mixed_color(color, ink.bg, 0.45)
                across = compared.across(pair["n"], measure)
                if len(across) > FEW:  # the outline keeps narrow bars visible
                    bars = canvas.look.band(color=shade, linewidth=0.5)
                    strip.broken_barh(_stretches(across, better), where, **bars)
                    continue
                look = {"marker": "s", "color": shade, "markersize": 22, "linewidth": 0}
                squares = canvas.look.band(**look)
                squares["s"] = squares.pop("markersize")
                middle = np.full(np.count_nonzero(better), where[0] + 0.5 * high)
                strip.scatter(across[better], middle, **squares)
    strip.set_ylim(0, max(heights, 1))
    strip.set_yticks([])
    strip.spines[:].set_visible(False)
    strip.tick_params(length=0, which="both")
    strip.grid(visible=False)
    _name_strip_rows(canvas, strip, compared)
    for finding in findings:
        caption = "Pale bars: lists for which the measure in this color"
        if finding.together:
            caption = caption.replace("Pale", "Full")
        if compared.x == "recall":
            caption += " (at its recall)"
        caption += f" is significantly better ({finding.words})."
        if canvas.alone and not finding.hits.any():
            caption += " No list in this plot meets the condition."
        canvas.tell(caption)


def _stretches(across: Any, hits: Any) -> list[tuple[float, float]]:
    """Return the start and width of each run of hits, extended halfway to both neighbors."""
    between = 0.5 * (across[1:] + across[:-1])
    ends = 2.0 * across[0] - between[0], 2.0 * across[-1] - between[-1]
    edge = np.concatenate([ends[:1], between, ends[1:]])
    first, after = np.flatnonzero(np.diff(hits, prepend=False, append=False)).reshape(-1, 2).T
    return [*zip(edge[first], edge[after] - edge[first], strict=True)]


def _name_strip_rows(canvas: Canvas, strip: Axes, compared: _Compared) -> None:
    """Write the better measure on the left of each row and the kind of test on the right."""
    pairs, findings, ink = compared.pairs, compared.findings, Ink.of(strip, outside=True)
    size, (width, height) = font(canvas.ax, "note"), canvas.size
    beside: dict[str, Any] = {"xycoords": BESIDE, "va": "center", "fontsize": size}
    beside["annotation_clip"] = False
    room = 0.38 * width - 60.0
    texts = []
    for rows in pairs:
        a, b = (canvas.text(rows[f"measure_{s}"].iloc[0]) for s in "ab")
        texts.append(cut_text(f"{a} : {b}", size, room))
    if len(pairs) == 1:
        texts = [("each n separately", "all n jointly")[x.together] for x in findings]
        texts = [text * (wide(text, size) < room) for text in texts]
    elif min(_SHARE, len(pairs) * _ROW / height) * height < 1.1 * LEAST * len(pairs):
        canvas.tell(f"Each of the {len(pairs)} rows of bars represents a pair, in table order.")
        return
    for k, text in enumerate(texts):
        if text:
            write(strip, text, (1.0, len(texts) - 0.5 - k), (4, 0), color=ink.note, **beside)
    if len(pairs) != 1:
        return
    favored = _favored(pairs[0])
    better = {name for finding in findings for name in favored[finding.hits]}
    if len(better) == 1:
        name = next(iter(better))
        text = f"{cut_text(canvas.text(name), size, 0.16 * width)}\nbetter"
        beside |= {"color": ink.text(canvas.look.color(canvas.ax, name)), "ha": "right"}
        write(strip, text, (0.0, 0.5 * len(findings)), (-6, 0), **beside)


def _draw_difference(canvas: Canvas, low: Any, compared: _Compared, together: Any) -> None:
    """Draw the difference between the two curves, with the interval of the main table."""
    pair, rows = compared.pairs[0], compared.curves
    a, b = (pair[f"measure_{s}"].iloc[0] for s in "ab")
    found, limits, words = pair, ["ci_low", "ci_high"], "interval, separately at each n"
    bands = [["band_low", "band_high"], limits]
    known = [x for x in bands if together is not None and {*x} <= {*together}]
    if known and together is not None:
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
    across = compared.across(found["n"], a)
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
            # wide intervals for short lists would flatten the rest
            bottom = min(np.nanquantile(least, 0.03), found["difference"].min())
            top = max(np.nanquantile(most, 0.97), found["difference"].max())
            low.set_ylim(bottom - 0.05 * (top - bottom), top + 0.05 * (top - bottom))
            if min(least.min(), -most.max()) < min(bottom, -top):
                canvas.tell("The band for short lists extends beyond the panel.")
    if "difference" in found:
        look = {"color": ink.fg, "linewidth": LINE, "zorder": 3, "label": "_difference"}
        if len(found) <= FEW:
            look |= {"marker": "o", "markersize": 3.5}
        low.plot(across, found["difference"], **look)
    part.frame(ylabel="difference\n(points)")
    set_ticks(low.yaxis, in_points, 4.0)
    set_ticks(low.xaxis, compact, 5.0)
    canvas.ax.figure.align_ylabels([canvas.ax, low])


# ---- Pairs of measures over n: odds ratios, and p-values for several tie-breaking orders
_MANY = 100  # with more values of n per pair, p-values are drawn as a band


def _by_pair(canvas: Canvas, table: pd.DataFrame) -> dict[Hashable, pd.DataFrame]:
    """Return the rows for each pair of measures."""
    named = table[["measure_a", "measure_b"]].drop_duplicates().to_numpy(dtype=object)
    labels = {(a, b): f"{canvas.text(a)} : {canvas.text(b)}" for a, b in named}
    canvas.look = replace(canvas.look, labels=labels, order=list(labels))
    return by_name(table.assign(x=table["n"]), ["measure_a", "measure_b"])


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
        size = 2 if len(rows) > _MANY else 4
        dots = {"marker": "o", "markersize": size, "markeredgewidth": 0, "linestyle": "none"}
        canvas.curve(pair, rows["n"], middle, **dots)
    orders = f"{table.attrs.get('n_keys') or 'the'} orders of equal scores"
    bars = "bars: the range from the smallest to the largest"
    canvas.tell(f"Dots: the median p-value over {orders}; {bars}.")
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
        Candidates, as in :func:`rankeval_pd.tie_sensitivity`, or the result of that method.
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
