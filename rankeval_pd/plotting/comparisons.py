"""Plot comparisons of measures over list sizes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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
    LENGTH,
    LINE,
    Canvas,
    level_before,
    thin_table,
    write,
)
from rankeval_pd.plotting.lists import FIRST, draw_lists, shade_blocks
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
    by_name,
    is_log,
    plot_of,
    roles_in,
    seen_of,
    shown,
    size_of,
    table_of,
)
from rankeval_pd.roles import FamilyAdjustment, ListSizes, measures_of
from rankeval_pd.words import ADJUSTED, TESTS, percent_of

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


def _with_simultaneous(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    n: ListSizes = None,
    *,
    alpha: float = 0.05,
    adjust: FamilyAdjustment | None = None,
    n_resamples: int | None = None,
    simultaneous: bool = True,
    **asked: Any,
) -> tuple[Any, Any]:
    """Return the comparison at each n, and the comparison at all n together."""
    roles = roles_in(asked)
    asked |= {"alpha": alpha}
    count = len(measures_of(data, roles, every=False))
    pairs = max(count * (count - 1) // 2, 1)
    if b is not None:
        pairs = 1
    elif a is not None:
        pairs = max(count - 1, 1)
    unread = hushed("target='region'") if pairs == 1 else intervals_unread()
    together = None
    with one_reading(), unread, hushed("ties='shared'"):  # the plot shades these list sizes instead
        sizes, draws = seen_of(data, n, roles), n_resamples
        if draws is None:  # fast, but enough for the level
            affordable = int(_BUDGET / max(size_of(data) * pairs, 1))
            needed = np.ceil(pairs / check_share("alpha", alpha))
            draws = max(min(999, affordable), int(min(needed, 1e18)) - 1, 99)  # fits in memory
        table = compare(data, a, b, sizes, adjust=adjust, n_resamples=draws, **asked)
        # swap tests do not support phi
        if simultaneous and adjust is None and asked.get("phi", 1.0) == 1.0:
            together = compare(data, a, b, shown(table), adjust="max-t", n_resamples=draws, **asked)
            together.attrs.setdefault("n_resamples", draws)
    return table, together


@plot_of(
    compare,
    "measure_a measure_b n precision_a precision_b difference p_value significant overlap",
    tables=_with_simultaneous,
)
def comparison(
    canvas: Canvas,
    table: pd.DataFrame,
    together: pd.DataFrame | None = None,
    /,
    *,
    overlap: bool = False,
    log: bool | None = None,
) -> None:
    """Draw the precision of measures, and mark significant differences.

    Parameters
    ----------
    data : DataFrame or Dataset
        The data for :func:`rankeval_pd.compare`, or its result. A second table can follow a
        result: that of :func:`rankeval_pd.compare` with adjusted p-values.
    simultaneous : bool
        Option for data: whether to add a comparison adjusted by "max-t" over the visible list
        sizes. This option applies only if ``adjust`` is None.
    n_resamples : int, optional
        Option for data: the number of resamples, by default 999. For many candidates, the default
        is smaller so that plotting is fast, and the caption shows the number used.
    overlap : bool
        Whether to draw the percentage of shared candidates, with a scale on the right.
    log : bool, optional
        As in :func:`precision`.

    Notes
    -----
    A single pair has three panels: the curves, a strip that marks significant list sizes, and the
    difference with its band. The bars in the strip have the color of the better measure. Pale bars
    show pointwise tests, and dark bars show simultaneous tests. The strip has one row per pair.
    For more than 20,000 candidates, about 4,000 values of n are tested and drawn, and each bar
    extends halfway to the next n. At most 2,000 are tested simultaneously.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": range(40, 0, -1), "t": range(40), "gold": [True] * 12 + [False] * 28}
    ... )
    >>> df.rankeval.plot.comparison("G2", "t").get_ylabel()
    'precision'
    """
    table = table.sort_values("n", kind="stable")
    pairs = [rows for _, rows in table.groupby(["measure_a", "measure_b"], sort=False)]
    findings = _findings(table, together)
    panels = _stacked(canvas, len(pairs))
    sides = [
        table[[f"measure_{side}", "n", f"precision_{side}"]].set_axis(_CURVE, axis=1)
        for side in "ab"
    ]
    lists = pd.concat(sides).drop_duplicates(["measure", "n"])
    place = pd.factorize(lists["measure"], use_na_sentinel=False)[0]
    lists = lists.iloc[np.lexsort((lists["n"], place))]
    rows = draw_lists(canvas, lists, log)
    if "tie_decides" in table:  # not available for means over all orders
        shade_blocks(canvas, table, "cuts_tie")
    if panels:
        _draw_strips(canvas, panels[0], pairs, findings)
    if len(panels) > 1:
        _draw_difference(canvas, panels[1], pairs[0], together, rows)
    if overlap:
        # the percentage of shared candidates, on a separate scale
        right: Any = canvas.ax.twinx()
        look = {"color": canvas.ink.plain, "linewidth": 1.0, "label": "_overlap"}
        for pair in pairs:
            right.plot(pair["n"], pair["overlap"] / pair["n"], **look)
        right.set_ylim(0.0, 1.0)
        right.set_ylabel("overlap", fontsize=font(canvas.ax, "label"))
        right.tick_params(labelsize=font(canvas.ax, "tick"))
        set_ticks(right.yaxis, in_percent, 4.0)
        right.spines[["top", "left"]].set_visible(False)
        canvas.tell("Thin gray line (scale on the right): share of candidates in both lists.")
    canvas.upwards()
    canvas.across("n")
    canvas.finish(ylabel="precision", xlabel=LENGTH)
    if not panels:
        return
    xlabel = LENGTH
    if canvas.size[0] < 283:
        xlabel = "n"
    for panel in (canvas.ax, *panels):  # only the last panel has labels on the x axis
        bottom = panel is panels[-1]
        panel.tick_params(axis="x", labelbottom=bottom, labelsize=font(canvas.ax, "tick"))
        panel.set_xlabel(xlabel * bottom, fontsize=font(canvas.ax, "label"))
    canvas.ax.tick_params(axis="x", length=0)


def _stacked(canvas: Canvas, count: int) -> list[Any]:
    """Replace a panel with stacked panels that share the x axis; return those below the curves."""
    ax: Any = canvas.ax
    spec, height = ax.get_subplotspec(), canvas.size[1]
    if spec is None:  # Axes at a position that was set manually
        return []
    share = min(_SHARE, max(count, 2) * _ROW / height)
    heights: Sequence[float] = (1.0 - share, share)
    if count == 1 and height >= _TALL:
        heights = _HEIGHTS
    sub = spec.subgridspec(len(heights), 1, height_ratios=heights, hspace=_GAP)
    ax.set_subplotspec(sub[0])
    return [ax.figure.add_subplot(sub[k], sharex=ax) for k in range(1, len(heights))]


def _findings(table: pd.DataFrame, together: Any) -> list[_Finding]:
    """Return the pointwise findings and the simultaneous findings over all n."""
    alpha, adjust = table.attrs.get("alpha"), table.attrs.get("adjust")
    alone = table["significant"].astype(bool)
    if alpha and adjust:
        alone = table["p_value"] <= alpha
    test = TESTS.get(str(table.attrs.get("test")), "the test of the table")
    if alpha:
        test += f" at {percent_of(alpha)}"
    listed = [_Finding(alone, f"{test}, separately at each n", together=False)]
    if adjust:
        together = table
    if together is None:
        return listed
    keys = ["measure_a", "measure_b", "n"]
    other = table_of(together, " ".join([*keys, "significant"]), "compare with adjust=...")
    adjust, alpha = str(other.attrs.get("adjust")), other.attrs.get("alpha")
    words = ADJUSTED.get(adjust, adjust)
    if alpha:
        words += f" at {percent_of(alpha)}"
    draws = other.attrs.get("n_resamples")
    if adjust == "max-t" and draws is not None and draws < 999:
        words += f" ({draws} resamples)"
    other = other.loc[other["significant"].astype(bool), keys]
    hits = pd.MultiIndex.from_frame(table[keys]).isin(pd.MultiIndex.from_frame(other))
    words += ", simultaneously for all n"
    return [*listed, _Finding(pd.Series(hits, table.index), words, together=True)]


def _favored(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return the measure favored by each difference, significant or not."""
    ahead = rows["difference"] > 0
    return rows["measure_a"].where(ahead, rows["measure_b"]).to_numpy(dtype=object)


def _draw_strips(
    canvas: Canvas, strip: Any, pairs: list[pd.DataFrame], findings: list[_Finding]
) -> None:
    """Draw bars where differences are significant: a row per test of one pair, or per pair."""
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
                across = pair["n"].to_numpy(dtype=float)
                if len(across) > FEW:  # the outline keeps narrow bars visible
                    bars = {"color": shade, "linewidth": 0.5}
                    strip.broken_barh(_stretches(across, better), where, **bars)
                    continue
                middle = np.full(np.count_nonzero(better), where[0] + 0.5 * high)
                look = {"marker": "s", "color": shade, "linewidth": 0}
                strip.scatter(across[better], middle, s=22, **look)
    strip.set_ylim(0, max(heights, 1))
    strip.set_yticks([])
    strip.spines[:].set_visible(False)
    strip.tick_params(length=0, which="both")
    strip.grid(visible=False)
    _name_strip_rows(canvas, strip, pairs, findings)
    for finding in findings:
        caption = "Pale bars: lists for which the measure in this color"
        if finding.together:
            caption = caption.replace("Pale", "Full")
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


def _name_strip_rows(
    canvas: Canvas, strip: Any, pairs: list[pd.DataFrame], findings: list[_Finding]
) -> None:
    """Write the better measure on the left of each row and the kind of test on the right."""
    ink, size = Ink.of(strip, outside=True), font(canvas.ax, "note")
    width, height = canvas.size
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


def _draw_difference(
    canvas: Canvas, low: Any, pair: pd.DataFrame, together: Any, rows: Mapping[Any, pd.DataFrame]
) -> None:
    """Draw the difference between the two curves, with the interval of the main table."""
    a, b = (pair[f"measure_{s}"].iloc[0] for s in "ab")
    found, words = pair, "interval, separately at each n"
    if together is not None and "ci_low" in together:
        found, words = table_of(together, "measure_a n", ""), "simultaneous band for all n"
        found = found[(found["measure_a"] == a) & (found["measure_b"] == b)]
    elif pair.attrs.get("adjust") is not None:
        words = "interval, adjusted like the test"
    level = level_before(found.attrs)
    short = len(rows[a]) and rows[a]["n"].min() >= FIRST > pair["n"].min()
    if short:
        found = found[found["n"] >= FIRST]
    found = thin_table(found)
    part = Canvas(low, canvas.look, alone=False)
    ink = part.ink
    part.rule(0.0)
    across = found["n"].to_numpy(dtype=float)
    if "ci_low" in found and found["ci_low"].notna().any():
        least, most = found[["ci_low", "ci_high"]].to_numpy(dtype=float).T
        if len(found) > FEW:
            shade = {"color": ink.fg, "alpha": 0.16, "linewidth": 0, "zorder": 1.5}
            low.fill_between(across, least, most, **shade)
            for limit in (least, most):
                low.plot(across, limit, color=ink.fg, linewidth=HAIR, alpha=0.55, label="_limit")
        else:
            low.vlines(across, least, most, color=ink.fg, linewidth=1.1, alpha=0.75)
        name = f"{canvas.text(a)} − {canvas.text(b)}"
        canvas.tell(f"Lower panel: {name} in percentage points, with the {level}{words}.")
        if len(found) > FEW:
            # wide intervals for short lists would flatten the rest
            bottom = min(np.nanquantile(least, 0.03), found["difference"].min())
            top = max(np.nanquantile(most, 0.97), found["difference"].max())
            low.set_ylim(bottom - 0.05 * (top - bottom), top + 0.05 * (top - bottom))
            if min(least.min(), -most.max()) < min(bottom, -top):
                canvas.tell("The band for short lists extends beyond the panel.")
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


@plot_of(regions.tie_sensitivity, "measure_a measure_b n p_min p_median p_max", clusters=False)
def tie_sensitivity(
    canvas: Canvas, table: pd.DataFrame, *, alpha: float = 0.05, log: bool | None = None
) -> None:
    """Draw the range of a comparison's p-value over different tie-breaking orders.

    Parameters
    ----------
    alpha : float
        Significance level at which to draw the horizontal line.
    log : bool, optional
        Whether the n axis is logarithmic; see :func:`precision`.

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
    canvas.finish(xlabel=LENGTH, ylabel="p-value")
