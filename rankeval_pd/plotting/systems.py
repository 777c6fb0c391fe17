"""Plot pairs of systems, their gains, and their values on items and queries."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.doors import Data, as_items, each_metric, frame_of, item_roles, read_items
from rankeval_pd.errors import check_known, hushed, listed
from rankeval_pd.lists.comparison import compare
from rankeval_pd.options import with_roles
from rankeval_pd.plotting import forests
from rankeval_pd.plotting.canvas import (
    ABOVE,
    BESIDE,
    LINE,
    THIN,
    Canvas,
    interval_kind,
    joined,
    level_before,
    pairs_kind,
    write,
)
from rankeval_pd.plotting.look import (
    LEAST,
    compact,
    contrast,
    cut_text,
    cycle,
    font,
    interval_text,
    mixed_color,
    number,
    panel_size,
    plainly,
    set_chosen_ticks,
    set_ticks,
    settle,
    small,
    wide,
)
from rankeval_pd.plotting.panels import by_n, by_name, is_table, plot_of, roles_in, table_of, tidy
from rankeval_pd.queries.per_query import query_summary
from rankeval_pd.roles import FamilyAdjustment, ItemRoles, ListSizes
from rankeval_pd.stats import Items, rejects
from rankeval_pd.systems import studies
from rankeval_pd.systems.studies import gain_threshold
from rankeval_pd.systems.tests import paired_bootstrap
from rankeval_pd.tables import Attrs, keys_apart
from rankeval_pd.words.numbers import column_unit, percent_of, unit_of
from rankeval_pd.words.vocabulary import alpha_of, first_of

# ---- Measures in plots that compare pairs of systems
_PAIRS = "measure_a measure_b difference p_value"
# columns for each side of a pair: in tables of pairs, compare and compare_area
_SCORES = ("precision", "area")


def _tests_of_pairs(
    data: Any,
    a: Hashable = None,
    b: Hashable = None,
    *,
    n: ListSizes = None,
    adjust: FamilyAdjustment | None = "max-t",
    **asked: Any,
) -> Any:
    """Return tests of all pairs of systems, or of measures if there are list sizes."""
    if n is not None:
        asked.setdefault("adjust_over", "n")
        return compare(data, a, b, n, adjust=adjust, **asked)
    if asked.get("gold") is not None or "gold" in data:
        raise ValueError(
            "n=None: rankings need a criterion. Pass n=..., the size of the lists, or the result of"
            " compare_area; if 'gold' is a system scored on test items, rename it."
        )
    return paired_bootstrap(data, a, b, adjust=adjust, **asked)


def as_systems(table: Any) -> Any:
    """Return pairs of measures in the columns for pairs of systems, with n as a group column.

    Other data stay as they are.
    """
    if is_table(table, forests.RANKED):
        raise ValueError(
            "table contains ranks of measures but no pairs. Pass the data with n=..., or the result"
            " of compare(adjust='max-t') or compare_area."
        )
    if not is_table(table, _PAIRS):
        return table
    frame = tidy(table, _PAIRS, "compare, or of compare_area")
    score = next((name for name in _SCORES if f"{name}_a" in frame), None)
    if score is None:
        raise ValueError(
            "table has neither the columns precision_a and precision_b nor area_a and area_b. Pass"
            " the result of compare or compare_area with details=True, or the data."
        )
    frame = by_n(frame, "measure_a")
    kind = frame.attrs.get("kind", "roc" if score == "area" else None)
    before = list(frame.columns[: list(frame.columns).index("measure_a")])
    renamed = {
        "measure_a": "system_a",
        "measure_b": "system_b",
        f"{score}_a": "score_a",
        f"{score}_b": "score_b",
        "difference": "gain",
        "p_value": "p_value",
        **{x: x for x in ("p_adjusted", "ci_low", "ci_high") if x in frame},
    }
    result = frame[[*before, *renamed]].rename(columns=renamed)
    result.attrs = {**frame.attrs, "kind": kind}
    result.attrs["what"] = forests.what_of(result.attrs)
    return result


# ---- All pairs of systems as cells in a triangle
_CELL = 20.0  # size in points of a cell that has room for a number
_SIDE = 0.66  # fraction of the panel for the cells


def _square_of(table: pd.DataFrame) -> tuple[float, float]:
    """Return a figure size with room for the cells of many systems."""
    from matplotlib import rcParams

    height = rcParams["figure.figsize"][1]
    needed = 1.6 + 0.22 * min(len({*table["system_a"], *table["system_b"]}), 40)
    return max(1.15 * height, needed + 0.6), max(height, needed)


@plot_of(
    paired_bootstrap,
    "system_a system_b score_a score_b gain p_value",
    tables=_tests_of_pairs,
    also=compare,
    prepared=as_systems,
    forms=["rankings", "items", "pairs"],
    own="xy",
    size=_square_of,
)
def pairs(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the significant gains between all pairs of systems as a matrix.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items; or the result of :func:`rankeval_pd.paired_bootstrap` or
        :func:`rankeval_pd.paired_permutation` for all pairs. To compare measures, pass candidates
        with a score for each measure and a gold label, together with ``n``; or the result of
        :func:`rankeval_pd.compare` or :func:`rankeval_pd.compare_area` for all pairs.
    n
        For candidates: sizes of the lists, as in :func:`rankeval_pd.compare`, whose options then
        apply. Each n has its own panel.

    Notes
    -----
    System names are on the diagonal, sorted by the number of other systems that each system beats.
    A colored cell marks a significant difference. A darker color means a larger gain of the row
    over the column. All other cells are pale gray. Gains are printed in cells that are large
    enough. Intervals are in the table, not in the plot. The size of a new figure increases with the
    number of systems. Measures at a given n
    are compared with swap tests, in which the smallest possible adjusted p-value is pairs
    / (n_resamples + 1).

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> [text.get_text() for text in df.rankeval.plot.pairs().texts[-3:]]
    ['x', 'y', 'z']
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex
    from matplotlib.patches import Rectangle

    ax, ink = canvas.ax, canvas.out
    names = table[["system_a", "system_b"]].astype(object)
    names = names.where(names.notna(), "nan")  # NaN is not equal to NaN
    table = table.assign(system_a=names["system_a"], system_b=names["system_b"])
    # the systems that beat most others come first
    ahead = np.sign(table["gain"].to_numpy())
    both = pd.concat([table["system_a"], table["system_b"]])
    wins = pd.Series([*ahead, *-ahead], index=both).groupby(level=0, sort=False).sum()
    systems = wins.sort_values(ascending=False, kind="stable").index.tolist()
    width, height = panel_size(ax)
    named = max(3, int(_SIDE * min(width, height) / (1.12 * LEAST)))
    left_out = len(systems[named:])
    systems = systems[:named]
    count = len(systems)
    table = table[table["system_a"].isin(systems) & table["system_b"].isin(systems)]
    alpha = float(table.attrs.get("alpha", 0.05))
    p = table.get("p_adjusted", table["p_value"]).to_numpy(dtype=float)
    hue = cycle(canvas.look.colors)[0]
    scale = LinearSegmentedColormap.from_list(
        "gain", [mixed_color(hue, ink.bg, 0.22), ink.line(hue), mixed_color(ink.fg, hue, 0.55)]
    )
    told = rejects(p, alpha)
    high = float(max(table["gain"].abs()[told], default=0.0)) or 1.0
    norm = Normalize(0.0, high)
    pale = mixed_color(ink.fg, ink.bg, 0.08)
    cell = _SIDE * min(width, height) / max(count, 1)
    low = first_of(table, ("ci_low",))
    digits = column_unit(table, "gain", low, percent=False).decimals  # as in tables
    shares = _are_proportions(table.attrs)
    size = font(ax, "note")
    cells, faces = [], []
    for a, b, gain, apart in zip(
        table["system_a"], table["system_b"], table["gain"], told, strict=True
    ):
        i, j = systems.index(a), systems.index(b)
        if i > j:
            i, j, gain = j, i, -gain
        if np.isnan(gain):
            continue
        cells.append(Rectangle((j + 0.03, i + 0.03), 0.94, 0.94))
        face = to_hex(scale(norm(abs(gain)))) if apart else pale
        faces.append(face)
        text = _gain_text(gain, digits, shares=shares)
        if wide(text, size) <= cell - 3.0 and cell >= _CELL * 0.7:
            shade = max((ink.fg, ink.bg), key=lambda c: contrast(c, faces[-1]))
            look = {"color": shade, "ha": "center", "va": "center", "fontsize": size}
            ax.text(j + 0.5, i + 0.5, text, **look)
    drawn = PatchCollection(cells, linewidth=0)
    drawn.set_facecolor(faces or ["none"])
    ax.add_collection(drawn)
    ax.patch.set_visible(False)
    ax.set(xscale="linear", yscale="linear", xlim=(0, max(count, 1)), ylim=(max(count, 1), 0))
    ax.set(xticks=[], yticks=[])
    ax.set_box_aspect(1.0)
    canvas.frame()
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
    size = font(ax, "name")
    if cell < 1.15 * size:
        size = LEAST
    look = {"ha": "right", "va": "center", "fontsize": size, "color": ink.fg}
    for k, name in enumerate(systems):  # on the diagonal, to the left of the cells
        text = cut_text(canvas.text(name), size, k * cell + 0.22 * width)
        write(ax, text, (k + 1, k + 0.5), (-4, 0), annotation_clip=True, **look)
    if told.any():
        # the color scale in the empty corner
        size = font(ax, "note")
        inset = ax.inset_axes([0.0, 0.10, 0.30, 0.03])
        bar = ax.figure.colorbar(ScalarMappable(norm, scale), cax=inset, orientation="horizontal")
        bar.outline.set_visible(False)
        ticks = [0.0, 0.5 * high, high] if not small(ax) else [0.0, high]
        texts = [_gain_text(gain, digits, shares=shares) for gain in ticks]
        bar.set_ticks(ticks, labels=texts, fontsize=size)
        inset.tick_params(length=0, labelcolor=ink.fg)
        inset.minorticks_off()
        inset.set_xlim(0.0, high)
        words = _what(table.attrs).replace("difference in ", "difference,\n")
        note = {"fontsize": size, "color": ink.note}
        corner = {"xycoords": "axes fraction", "va": "center"}
        write(inset, "gray: not distinguished", (0, 0), (0, -2.4 * size), **corner, **note)
        inset.set_title(words.replace("gain in ", "gain in\n"), loc="left", pad=4, **note)
    condition = joined(f"p ≤ {alpha:g}", pairs_kind(table.attrs, len(table)))
    canvas.tell(
        f"Color: {_what(table.attrs)} of the row over the column, if {condition}; pale gray: not"
        f" significant at {percent_of(alpha)}."
    )
    if left_out:
        canvas.tell(f"The {left_out:,} systems that beat the fewest others are not shown.")


def _are_proportions(attrs: Attrs) -> bool:
    """Return whether the scores are the precision of measures."""
    return "what" in attrs and attrs.get("kind") is None


def _what(attrs: Attrs) -> str:
    if "what" not in attrs:
        return forests.gain_of(attrs)
    return f"difference in {attrs['what']}" + " (points)" * _are_proportions(attrs)


def _gain_text(gain: float, digits: int, *, shares: bool) -> str:
    """Format a gain, in percentage points if the scores are proportions."""
    if shares:
        return number(100 * gain, max(digits - 2, 0))
    return number(gain, digits)


# ---- Gains, their confidence and the size of the test set (Berg-Kirkpatrick et al. 2012)
_FEW_PAIRS = 100  # of all bins together, for calibration
_CROWD = 300  # more points than this are drawn in a pale color
_LEVELS = (0.95, 0.5, 0.99, 0.999, 0.9, 0.9999, 0.99999, 0.75)
_FEWEST_DRAWS = 1e5  # largest confidence shown: one contradiction in this number of draws


def _with_thresholds(method: Any, data: Data, *args: Any, **options: Any) -> tuple[Any, Any]:
    """Return the gains, and the smallest gains that are worth reporting."""
    table = method(data, *args, **options)
    with hushed("the window contains"):
        return table, gain_threshold(table)


def _interval_words(thresholds: pd.DataFrame, scope: str) -> str:
    """Describe the intervals of thresholds, and those that have no upper limit."""
    kind = interval_kind(thresholds.attrs, scope)
    if np.isinf(thresholds["threshold_high"]).any():
        kind += "; a threshold without an upper limit tends to be too low"
    return kind


@plot_of(
    paired_bootstrap,
    "system_a system_b gain confidence",
    tables=partial(_with_thresholds, paired_bootstrap),
    forms=["items", "pairs"],
)
def confidence(
    canvas: Canvas, table: pd.DataFrame, thresholds: pd.DataFrame | None = None, /
) -> None:
    """Draw the gain of every pair of systems against the confidence, 1 - p.

    Parameters
    ----------
    data : DataFrame or Dataset
        The data for :func:`rankeval_pd.paired_bootstrap`, or its result, which the result of
        :func:`rankeval_pd.gain_threshold` can follow. Thresholds are drawn as lines with intervals.

    Notes
    -----
    Each dot is a pair of systems. The x axis shows the gain on a logarithmic scale. The y axis
    shows the confidence as one-sided -log10(p), so the distance from 99% to 99.9% is equal to the
    distance from 90% to 99%. A triangle means that no draw contradicted the sign of the gain.
    Vertical lines mark gain thresholds, and bars at the bottom show their intervals. The horizontal
    line marks 1 - alpha, and pairs above this line are in color.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> df.rankeval.plot.confidence().get_ylabel()
    'confidence (1 − p, one-sided)'
    """
    ax, ink = canvas.ax, canvas.ink
    alpha = alpha_of(table.attrs)
    exact = len(table) > 0 and "exact" in table and bool(table["exact"].all())
    draws = float(table.attrs.get("n_resamples") or 0.0)
    least = 1.0 / _FEWEST_DRAWS
    if draws and not exact:
        least = 1.0 / (draws + 1.0)
    positive = table["gain"][table["gain"] > 0]
    lost = (table["gain"] <= 0).any()
    lowest = 0.5 * float(positive.min()) if len(positive) else 1e-3
    p = 1.0 - table["confidence"].astype(float)
    table = table.assign(
        x=table["gain"].clip(lower=lowest),
        y=-np.log10(p.clip(lower=least)),
        sure=table["confidence"] >= 1.0 - alpha,
        most=p <= least * (1.0 + 1e-6),
    )
    relations = {None: table}
    if "relation" in table:
        relations = dict([*table.groupby("relation", sort=False)])
    several = len(relations) > 1
    look = {"markeredgecolor": ink.bg, "markeredgewidth": 0.6, "zorder": 3, "label": "_pairs"}
    for name, rows in relations.items():
        own = canvas.color(name) if several else ink.accent
        for (sure, most), dots in rows.groupby(["sure", "most"]):
            color = own if sure else ink.plain
            mark = {"marker": "^", "markersize": 5.5} if most else {"markersize": 4.5}
            canvas.dots(dots["x"], dots["y"], color, **mark, **look)
        if several:
            canvas.curve(name, [], [], label=f"{canvas.text(name)} ({len(rows)})")
    canvas.rule(-np.log10(alpha))
    ax.set_xscale("log")
    if not len(positive):
        canvas.limits("x", 0.001, 1.0)
    else:
        left = lowest if lost else lowest * 1.5
        canvas.limits("x", left, 1.3 * float(positive.max()))
    heights = table["y"].to_numpy(dtype=float)
    bottom = np.nanmin(heights, initial=0.15)
    top = np.nanmax(heights, initial=1.6)
    canvas.limits("y", float(bottom), 1.09 * float(top))
    if thresholds is not None:
        # gain thresholds, and their intervals as bars at the bottom
        needed = "relation threshold threshold_low threshold_high"
        known = table_of(thresholds, needed, "gain_threshold").dropna(subset=["threshold"])
        low, high = ax.get_xlim()
        most = float(known["threshold"].max()) if len(known) else high
        canvas.limits("x", low, max(high, 1.3 * most))
        for index, row in enumerate(known[needed.split()].to_numpy(dtype=object)):
            relation, threshold, lower, upper = row
            first, last = ax.get_xlim()
            color, width, shade = ink.reference, THIN, ink.note
            if several and relation in relations:
                color = canvas.color(relation)
                width = 1.2
                shade = ink.text(color)
            line = {"color": color, "linewidth": width, "zorder": 1.2}
            ax.axvline(threshold, **line, label="_threshold")
            bar = {"color": color, "linewidth": 3, "alpha": 0.5, "label": "_interval"}
            place = {"transform": ax.get_xaxis_transform(), "zorder": 1.2}
            ends = max(float(lower), first), min(float(upper), last)
            ax.hlines(0.02 + 0.03 * index, *ends, **place, **bar)
            text = f"threshold\n{threshold:.2g}"
            aside, ha = 4, "left"
            if np.log(threshold / first) > 0.7 * np.log(last / first):
                aside, ha = -4, "right"
            moved = aside, 4 + 2.4 * font(ax, "note") * index
            end = threshold, 0.04 + 0.03 * len(known)
            write(ax, text, end, moved, xycoords=ABOVE, va="bottom", ha=ha, color=shade)
        if len(known):
            kind = _interval_words(known, "separately for each threshold")
            canvas.tell(f"Vertical lines: gains worth reporting. Bars at the bottom: {kind}.")
    texts = [percent_of(c) for c in _LEVELS]
    set_chosen_ticks(ax.yaxis, [-np.log10(1.0 - c) for c in _LEVELS], texts)
    set_ticks(ax.xaxis, plainly, 5.0)
    said = f"{table['sure'].sum()} of {len(table)} pairs"
    place = {"xycoords": BESIDE, "color": ink.text(ink.accent)}
    write(ax, said, (0.0, -np.log10(alpha)), (4, 3), **place)
    canvas.tell(
        "Dots: pairs of systems, with the gain of the better system. A confidence of"
        f" {percent_of(1.0 - alpha)} corresponds to a one-sided, unadjusted p of {alpha:g}."
    )
    if table["most"].any():
        limit = f"the gain is above 0 in all {round(1 / least - 1):,} resamples"
        if exact:
            limit = f"p ≤ {least:.2g}"
        canvas.tell(f"Triangles: {limit}.")
    if lost:
        canvas.tell("Gains of 0 or below are drawn at the left edge.")
    canvas.meet = True
    canvas.finish(xlabel=forests.gain_of(table.attrs), ylabel="confidence (1 − p, one-sided)")


@plot_of(
    studies.gain_by_size,
    "size system_a gain p_value",
    tables=partial(_with_thresholds, studies.gain_by_size),
    forms=["items"],
)
def gain_by_size(
    canvas: Canvas, table: pd.DataFrame, thresholds: pd.DataFrame | None = None, /
) -> None:
    """Draw gains and gain thresholds against the size of the test set.

    Parameters
    ----------
    data : DataFrame or Dataset
        The data for :func:`rankeval_pd.gain_by_size`, or its result, which the result of
        :func:`rankeval_pd.gain_threshold` can follow. Thresholds are drawn as lines with intervals.

    Notes
    -----
    Each dot is a pair of systems tested on the first items of the test set. Dots with p ≤ 0.05 are
    in color. The line connects the gain thresholds, and bars show their intervals. The thin gray
    line is the square-root law. Both axes are logarithmic, and gains of 0 are not drawn.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"x": rng.random(400) < 0.7, "y": rng.random(400) < 0.6})
    >>> df.rankeval.plot.gain_by_size([100, 400]).get_xlabel()
    'test items'
    """
    ax, ink = canvas.ax, canvas.ink
    drawn = table[table["gain"] > 0.0]
    significant = drawn["p_value"] <= 0.05
    faint = 0.3 if len(drawn) > _CROWD else 0.8
    for rows, color, aside in (
        (drawn[~significant], ink.reference, 0.96),
        (drawn[significant], ink.accent, 1.04),
    ):
        look = {"markersize": 3.5, "alpha": faint, "markeredgewidth": 0, "label": "_pairs"}
        canvas.dots(rows["size"] * aside, rows["gain"], color, **look)
    side = "two-sided"
    if table.attrs.get("alternative") in ("greater", "less"):
        side = "one-sided"
    canvas.tell(f"Dots: pairs of systems, in color if p ≤ 0.05 ({side}, unadjusted).")
    ax.set_xscale("log")
    ax.set_yscale("log")
    if drawn.empty:
        canvas.tell("No gain is above 0.")
        canvas.limits("y", 0.001, 1.0)
    settle(ax)
    if len(table):
        ends = table["size"].min(), table["size"].max()
        canvas.limits("x", ends[0] / 1.15, 1.15 * ends[1])
    if thresholds is not None:
        # the thresholds against size, with intervals and the square-root law
        needed = "size relation threshold threshold_low"
        lines = table_of(thresholds, needed, "gain_threshold").sort_values("size")
        without = lines[lines["threshold"].isna()]
        lines = lines.dropna(subset=["threshold"])
        low, high = (float(limit) for limit in ax.get_ylim())
        most = 1.15 * float(lines["threshold"].max()) if len(lines) else high
        canvas.limits("y", low, max(high, most))
        high = float(ax.get_ylim()[1])
        beyond = lines[lines["threshold_high"] > high]
        for relation in lines["relation"].unique():
            rows, name = lines, "threshold"
            if not pd.isna(relation):
                rows = lines[lines["relation"] == relation]
                name = relation
            last = rows.iloc[-1]
            law = last["threshold"] * np.sqrt(last["size"] / rows["size"])
            canvas.guide(rows["size"], law, "square-root law")
            canvas.refer("square-root law", float(law.iloc[-1]))
            canvas.curve(name, rows["size"], rows["threshold"], linewidth=LINE)
            lower = rows["threshold_low"].where(rows["threshold_low"] > 0.0, rows["threshold"])
            canvas.bars(
                canvas.color(name), rows["size"], lower, rows["threshold_high"].clip(upper=high)
            )
            canvas.limits("y", high=high)
        if len(lines):
            kind = _interval_words(lines, "separately for each size")
            canvas.tell(
                f"Line: gains worth reporting, with {kind}.",
                "Thin gray line: a square-root law through the value for the largest size.",
            )
        if len(beyond):
            look = {"marker": "^", "markersize": 5, "clip_on": False, "label": "_beyond"}
            canvas.dots(beyond["size"], np.full(len(beyond), high), ink.plain, **look)
            canvas.tell("Triangles: the interval extends above the panel.")
        if len(without):
            named = ", ".join(f"{size:,}" for size in sorted(without["size"].unique()))
            canvas.tell(f"There is no threshold at {named} items because no p is near 0.05.")
    sizes = sorted(table["size"].unique())
    order = [*sizes[:1], *sizes[-1:], *sizes[1:-1]]
    set_chosen_ticks(ax.xaxis, order, [f"{size:,}" for size in order])
    canvas.upwards(plainly, 5.0)
    canvas.finish(xlabel="test items", ylabel=forests.gain_of(table.attrs))


@plot_of(
    studies.calibration,
    "p_low p_high agreement ci_low ci_high expected_agreement",
    forms=["pairs"],
)
def calibration(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw observed and expected rates of sign agreement with other data.

    Parameters
    ----------
    data : DataFrame or Dataset
        Table of pairs from :func:`rankeval_pd.paired_bootstrap`, or the result of
        :func:`rankeval_pd.calibration` or :func:`rankeval_pd.population_calibration`.

    Notes
    -----
    Each dot is a bin of pairs with similar p-values, and each bar shows the interval for the bin.
    The number above a bin is the number of pairs in the bin. The gray line is the expected
    frequency for other items from the same distribution.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> skill = np.linspace(0.60, 0.70, 20)
    >>> here, there = (pd.DataFrame(rng.random((400, 20)) < skill) for _ in range(2))
    >>> pairs = here.rankeval.paired_bootstrap()
    >>> pairs.rankeval.plot.calibration(there, bins=[0.01, 0.05, 0.2]).get_ylabel()
    'pairs that keep their sign'
    """
    ax, ink = canvas.ax, canvas.ink
    table = table.sort_values("p_low")
    at = (table["p_low"].clip(lower=1e-6) * table["p_high"]) ** 0.5
    known = table["agreement"].notna()
    canvas.guide(at[known], table["expected_agreement"][known], "expected")
    ends = table["expected_agreement"][known].dropna()
    if len(ends):
        end = (at[ends.index[-1]], ends.iloc[-1])
        write(ax, "expected", end, (-6, -4), va="top", ha="right", color=ink.note)
    canvas.bars(ink.accent, at[known], table["ci_low"][known], table["ci_high"][known])
    canvas.dots(at, table["agreement"], ink.accent, markersize=5, zorder=3, label="observed")
    ax.set_xscale("log")
    if known.any():  # whole bins
        lowest = table["p_low"].where(table["p_low"] > 0.0, 0.7 * at)[known].min()
        canvas.limits("x", lowest / 1.05, 1.05 * table["p_high"][known].max())
    edges = sorted({*table["p_low"], *table["p_high"]} - {0.0})
    order = [x for k in (4, 2, 1) for x in edges[::-k]]
    order = list(dict.fromkeys([*edges[:1], *order]))
    set_chosen_ticks(ax.xaxis, order, [f"{edge:.3g}" for edge in order])
    if not known.any():
        ax.set_ylim(0.0, 1.0)
        canvas.tell("No bin contains a pair of systems.")
    elif "n_pairs" in table:
        size = font(ax, "note")
        look = {"xycoords": ABOVE, "ha": "center"}
        look["color"] = canvas.out.note
        low, high = np.log(ax.get_xlim())
        last = -np.inf
        scale = 0.68 * panel_size(ax)[0] / (high - low)
        for place, count in zip(at[known], table["n_pairs"][known], strict=True):
            text = f"{int(count):,}"
            middle = float(np.log(place)) * scale
            half = 0.5 * wide(text, size) + 2.0
            if np.isfinite(middle) and middle - half > last:  # without overlap
                last = middle + half
                write(ax, text, (place, 1.0), (0, 2), **look)
        canvas.reserve_top()
        canvas.tell("Numbers at the top: pairs in each bin.")
        total = int(table["n_pairs"].sum())
        if total < _FEW_PAIRS:
            said = f"{total} pairs are too few to judge the calibration"
            write(ax, said, (0.0, 0.0), (4, 4), xycoords="axes fraction", color=canvas.out.note)
            canvas.tell(f"{said}.")
    low, high = ax.get_ylim()
    canvas.limits("y", low - 0.08 * (high - low), high)  # room for a name below the last point
    canvas.upwards()
    canvas.tell(
        "Dots: proportion of pairs that keep the sign of the gain, with"
        f" {interval_kind(table.attrs, 'separately for each bin')}.",
        "Gray line: the proportion expected for other items from the same distribution.",
    )
    canvas.finish(xlabel="one-sided p (edges of bins)", ylabel="pairs that keep their sign")


# ---- Values of pairs of systems on each item, and the gains of one over the other
_VALUES = "system_a system_b item value_a value_b gain"
_Group = tuple[Items, dict[Any, Any], list[Hashable], pd.Index]


def _groups_of_items(data: Any, roles: Any) -> list[_Group]:
    """Return the items and the key of each group, and the names of systems and items."""
    frame, named = frame_of(data, roles, "items")
    strata = named.pop("strata", None)  # the value of one item does not depend on its stratum
    named.pop("average", None)
    if strata in frame:
        frame = frame.drop(columns=strata)
    table = read_items(frame, item_roles(named))
    named_apart = keys_apart(table.keys, _VALUES.split())  # as in a table of pairs
    keys = named_apart.to_dict("records") if table.keys.shape[1] else [{}]
    return [
        (table.items(rows), key, table.systems, table.labels[rows])
        for rows, key in zip(table.members, keys, strict=True)
    ]


def _values_of(groups: list[_Group], pairs: Sequence[Sequence[Any]]) -> list[pd.DataFrame]:
    """Return the values of these pairs of systems on each item, and the gains."""
    parts = []
    for (found, key, names, labels), (a, b) in itertools.product(groups, pairs):
        scores = found.score(found.statistics)
        first = scores[names.index(a)]
        second = scores[names.index(b)]
        values = {"value_a": first, "value_b": second, "gain": found.sign * (first - second)}
        columns = {**key, "system_a": a, "system_b": b, "item": labels, **values}
        parts.append(pd.DataFrame(columns))
    return parts


# ---- Gains of one system over another on each item
_BARS = 400  # more bars than this are drawn as an area, which looks the same
_NAMED = 3  # number of queries named on each side of the diagonal
_MOST_PAIRS = 6  # largest number of pairs of systems in one figure, across all groups


def _with_gains(
    data: Data, a: Hashable = None, b: Hashable = None, **asked: Any
) -> tuple[Any, Any]:
    """Return the gain on each item, and the gain over all items."""
    items: Any = as_items(data)
    by_query = isinstance(data, pd.DataFrame) and "query" in data.index.names
    groups: list[_Group] = _groups_of_items(items, roles_in(asked))
    systems = max((len(names) for _, _, names, _ in groups), default=0)
    count = systems - 1 if a is not None else systems * (systems - 1) // 2
    if b is None and count * len(groups) > _MOST_PAIRS:
        raise ValueError(
            f"there are {count:,} pairs of systems{' in each group' * (len(groups) > 1)}, but this"
            f" plot has at most {_MOST_PAIRS} panels. Pass a and b to choose a pair, or draw all"
            " pairs with plot.pairs()."
        )
    needed: str = "system_a system_b gain ci_low ci_high"
    whole: pd.DataFrame = tidy(paired_bootstrap(items, a, b, **asked), needed, "paired_bootstrap")
    width: int = len(groups[0][1])
    whole = keys_apart(whole, _VALUES.split(), width)
    batch: list[Any] = [*whole.columns[:width]]
    groups = [(x, dict(zip(batch, key.values(), strict=True)), y, z) for x, key, y, z in groups]
    pairs = whole[["system_a", "system_b"]].drop_duplicates().to_numpy(dtype=object).tolist()
    table: pd.DataFrame = pd.concat(_values_of(groups, pairs), ignore_index=True)
    results = table[[*batch, *_VALUES.split()]], whole[[*batch, *needed.split()]]
    if len(pairs) > 1:  # one panel per pair
        for rows in results:
            panels = rows["system_a"].astype(str) + " − " + rows["system_b"].astype(str)
            rows.insert(len(batch), "systems", panels)
    unit = "queries" if items is not data or by_query else "items"
    results[0].attrs, results[1].attrs = {**whole.attrs, "unit": unit}, dict(whole.attrs)
    return results


@plot_of(
    paired_bootstrap,
    "system_a system_b item gain",
    tables=_with_gains,
    made_by="plot.paired_differences",
    forms=["items"],
)
def paired_differences(
    canvas: Canvas, table: pd.DataFrame, whole: pd.DataFrame | None = None, /
) -> None:
    """Draw sorted per-item gains of one system over another, and the overall gain.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or values of runs on queries from
        :func:`rankeval_pd.per_query` with ``wide=True`` for one metric; or a table with the columns
        ``system_a``, ``system_b``, ``item`` and ``gain``, which the result of
        :func:`rankeval_pd.paired_bootstrap` for the same pairs can follow.
    a, b : names of systems, optional
        If you pass both, only this pair is drawn. If you pass only ``a``, it is paired with every
        other system. By default, all pairs are drawn. Each pair has a panel, and there can be at
        most six panels.

    Notes
    -----
    Each bar is the gain of the first system over the second on one item. If the metric is not a
    mean, the gain is computed from the statistics of this item alone. Upward bars, in the color of
    the first system, show items on which the first system is better. The dot and the line on the
    right show the gain over all items and the confidence interval.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [0.9, 0.8, 0.4, 0.7], "y": [0.5, 0.6, 0.5, 0.2]})
    >>> df.rankeval.plot.paired_differences("x", "y").get_xlabel()
    'items, sorted by gain'
    """
    ax, ink = canvas.ax, canvas.ink
    found = table.dropna(subset=["gain"]).sort_values("gain", ascending=False, kind="stable")
    gains = found["gain"].to_numpy(dtype=float)
    a, b = (table[f"system_{side}"].iloc[0] for side in "ab")
    x = np.arange(1, gains.size + 1)
    for name, better in ((a, gains > 0), (b, gains < 0)):
        bar = {"color": canvas.color(name), "linewidth": 0, "label": f"{canvas.text(name)} better"}
        if gains.size <= _BARS:
            ax.bar(x[better], gains[better], width=0.9, **bar)
        else:
            heights = np.where(better, gains, 0.0)
            ax.fill_between(x, 0.0, heights, step="mid", **bar)
    height = float(np.abs(gains).max(initial=0.0)) or 1.0
    canvas.rule(0.0)
    if whole is not None and len(whole):
        # the overall gain with its interval, on the right
        row = whole.iloc[0]
        low, high, gain = (float(row[c]) for c in ("ci_low", "ci_high", "gain"))
        at = gains.size * 1.035
        ends = np.clip([low, high], -1.08 * height, 1.08 * height)
        if np.isfinite(high - low):
            ax.vlines(at, *ends, color=ink.fg, linewidth=1.4, clip_on=False, label="_interval")
        canvas.dots([at], [gain], ink.fg, markersize=5, clip_on=False, label="_gain")
        digits = unit_of([gain], [high - low], percent=False).decimals  # as in tables
        said = f"gain {number(gain, digits)}"
        if np.isfinite(low) or np.isfinite(high):
            said += f"\n({interval_text(low, high, digits)})"
        look = {"color": canvas.out.fg, "annotation_clip": True}
        if small(ax):  # above the bars of losses if there is room
            write(ax, said, (at, max(gain, 0.0)), (-8, 3), va="bottom", ha="right", **look)
        else:
            write(ax, said, (at, gain), (6, 0), va="center", **look)
        kind = interval_kind(whole.attrs, "separately for each pair")
        canvas.tell(f"Dot and line on the right: the gain over all items with {kind}.")
    canvas.limits("x", 0.0, max(1.06 * gains.size, 1.5))
    canvas.limits("y", -1.08 * height, 1.08 * height)
    unit = str(table.attrs.get("unit", "items"))
    numbered = pd.api.types.is_integer_dtype(found["item"]) and unit != "queries"
    if not numbered and not small(ax):
        # names of large gains and losses, with lines to their bars
        size = font(ax, "note")
        count = len(found)
        names = found["item"].astype(str).to_list()
        room = 0.3 * panel_size(ax)[0]
        for k in range(min(_NAMED, count // 4)):
            for index, sign in ((k, 1), (count - 1 - k, -1)):
                if np.sign(gains[index]) != sign:
                    continue
                y = height * (1.0 - 0.13 * k)
                above = int(np.count_nonzero(sign * gains > y - 0.08 * height))
                beside = max(0.075 * count, above)
                end = 1 + beside
                ha = "left"
                if sign < 0:
                    end = count - beside
                    ha = "right"
                line = {"arrowstyle": "-", "lw": 0.5, "color": ink.reference}
                line |= {"shrinkA": 1, "shrinkB": 0}
                text = {"textcoords": "data", "va": "center", "ha": ha, "color": ink.fg}
                label = cut_text(names[index], size, room)
                foot = (index + 1, gains[index])
                write(ax, label, foot, (end, sign * y), arrowprops=line, **text)
    box = {"facecolor": ink.bg, "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
    for name, count, corner, ha, va in (
        (a, (gains > 0).sum(), (0.94, 0.97), "right", "top"),
        (b, (gains < 0).sum(), (0.03, 0.03), "left", "bottom"),
    ):
        size = font(ax, "name")
        color = ink.text(canvas.color(name))
        short = cut_text(canvas.text(name), size, 0.4 * panel_size(ax)[0])
        place = {"transform": ax.transAxes, "ha": ha, "va": va, "bbox": box}
        ax.text(*corner, f"{short} better: {count:,}", fontsize=size, color=color, **place)
    equal = np.count_nonzero(gains == 0)
    set_ticks(ax.xaxis, compact, 5.0)
    canvas.upwards(plainly, 5.0)
    label = f"{unit}, sorted by gain"
    if equal:
        label += f" ({equal:,} equal)"
    gained = forests.gain_of(table.attrs).replace("in mean ", "in ")  # by one item
    canvas.frame(xlabel=label, ylabel=gained)
    ax.spines["bottom"].set_visible(False)


# ---- Search: two runs compared by query, and interpolated precision
_APART = 4.0  # distance in points between a dot and its name


@with_roles
def _values_of_pairs(
    data: Data, a: Hashable = None, b: Hashable = None, **roles: Unpack[ItemRoles]
) -> pd.DataFrame:
    """Return the values of two systems on each item, of each metric.

    Parameters
    ----------
    **roles
        Column roles.
    """
    asked = each_metric(data)
    parts = []
    for metric, one in asked:
        items = as_items(one)
        of = items.attrs.get("metric") if isinstance(items, pd.DataFrame) else None
        groups = _groups_of_items(items, roles)
        names = groups[0][2]
        if a is None and b is None and len(names) == 2:
            a, b = names
        if a is None or b is None:
            raise ValueError(f"a={a!r}, b={b!r}: pass two of the systems {listed(names)}.")
        for role, name in (("a", a), ("b", b)):
            check_known(role, [name], names)
        for part in _values_of(groups, [(a, b)]):
            if len(asked) > 1:
                part.insert(0, "metric", metric)
            parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    table.attrs["unit"] = "queries" if items is not one or of else "items"
    table.attrs["of"] = "value" if len(asked) > 1 else of or "score"
    return table


@plot_of(
    _values_of_pairs,
    "system_a system_b item value_a value_b",
    made_by="plot.queries",
    forms=["items"],
)
def queries(canvas: Canvas, table: pd.DataFrame) -> None:
    """Plot two runs against each other, with one dot per query, and label outliers.

    Parameters
    ----------
    data : DataFrame or Dataset
        Values of runs on queries from :func:`rankeval_pd.per_query` with ``wide=True``, with one
        panel per metric; or scores of systems on test items, or a table with the columns ``item``,
        ``system_a``, ``system_b``, ``value_a``, ``value_b``.
    a, b : names of systems
        Systems on the y axis and the x axis. Optional if the data contain two systems.

    Notes
    -----
    Each dot is a query and lies above the diagonal if ``a`` has the higher value. The three queries
    with the largest differences on each side are labeled if there is room.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [0.9, 0.8, 0.4, 0.7], "y": [0.5, 0.6, 0.5, 0.2]})
    >>> df.rankeval.plot.queries("x", "y").get_ylabel()
    'score of x'
    """
    ax, ink = canvas.ax, canvas.ink
    rows = table.dropna(subset=["value_a", "value_b"])
    a, b = (rows[f"system_{side}"].iloc[0] for side in "ab")
    x, y = (rows[f"value_{side}"].to_numpy(dtype=float) for side in "ba")
    ends = np.array([min(x.min(), y.min(), 0.0), max(x.max(), y.max())])
    ends += np.array([-0.05, 0.05]) * (ends[1] - ends[0] or 1.0)
    for axis in "xy":
        canvas.limits(axis, *ends)
    ax.set_box_aspect(1.0)
    ax.axline((0.0, 0.0), slope=1.0, color=ink.reference, linewidth=0.8, zorder=1, label="_equal")
    size = 5.0 if len(rows) <= 100 else 3.5
    counts = {}
    for name, here in ((a, y > x), (b, y < x), (None, y == x)):
        color, label = ink.muted, "_equal"
        if name is not None:
            color = canvas.color(name)
            label = f"{canvas.text(name)} higher"
        look = {"markersize": size, "markeredgewidth": 0, "alpha": 0.8, "label": label}
        canvas.dots(x[here], y[here], color, **look)
        counts[name] = int(here.sum())
    unit = table.attrs.get("unit", "items")
    metric = table.attrs.get("of", "score")
    first = canvas.text(a)
    second = canvas.text(b)
    if canvas.alone:
        equal = f"; {counts[None]:,} are equal" if counts[None] else ""
        canvas.tell(
            f"Dots: {len(rows):,} {unit}. {first} is higher for {counts[a]:,} (above the diagonal),"
            f" {second} for {counts[b]:,} (below the diagonal){equal}."
        )
    else:
        canvas.tell(f"Dots: {unit}. Above the diagonal, {first} is higher.")
    _name_farthest(canvas, rows["item"].astype(str).to_list(), x, y)
    set_ticks(ax.xaxis, plainly, 5.0)
    canvas.upwards(plainly, 5.0)
    room = 0.5 * min(panel_size(ax))
    first, second = (cut_text(text, font(ax, "label"), room) for text in (first, second))
    canvas.frame(xlabel=f"{metric} of {second}", ylabel=f"{metric} of {first}")


def _name_farthest(canvas: Canvas, names: list[str], x: Any, y: Any) -> None:
    """Write the names of the dots farthest from the diagonal if there is room."""
    from matplotlib.patheffects import withStroke

    ax = canvas.ax
    size = font(canvas.ax, "note")
    if small(ax):
        return
    side = 0.72 * min(panel_size(ax))  # size of the square in points, without ticks and labels
    low, high = ax.get_xlim()
    at = np.column_stack([x, y])
    dots = (at - low) / (high - low) * side
    gap = y - x
    first = np.unique(at, axis=0, return_index=True)[1]  # label one of several identical dots
    order = first[np.argsort(-np.abs(gap[first]), kind="stable")]
    chosen = [k for sign in (1, -1) for k in order[np.sign(gap[order]) == sign][:_NAMED]]
    taken: list[Any] = []
    halo = withStroke(linewidth=2.5, foreground=canvas.ink.bg)  # names may cover dots
    look = {"color": canvas.ink.fg, "zorder": 5, "path_effects": [halo]}
    for k in sorted(chosen, key=lambda k: -abs(gap[k])):
        text = cut_text(names[k], size, 0.35 * side)
        box = np.array([wide(text, size), 1.1 * size])
        for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            middle = dots[k] + (box / 2.0 + _APART) * (right, up)
            corner = middle - box / 2.0, middle + box / 2.0
            if (corner[0] < 0.0).any() or (corner[1] > side).any():
                continue
            if any((corner[0] < t[1]).all() and (t[0] < corner[1]).all() for t in taken):
                continue
            taken.append(corner)
            look["ha"] = {1: "left", 0: "center", -1: "right"}[right]
            look["va"] = {1: "bottom", 0: "center", -1: "top"}[up]
            write(ax, text, (at[k, 0], at[k, 1]), (_APART * right, _APART * up), **look)
            break
    if taken:
        canvas.tell("The dots farthest from the diagonal are labeled.")


_RECALLS = tuple(f"IPrec@{k / 10:.1f}" for k in range(11))


@plot_of(
    query_summary,
    "measure metric value",
    tables=partial(query_summary, metrics=_RECALLS),
    made_by="summary",
    clusters=False,
)
def interpolated_precision(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the mean interpolated precision at recall 0, 0.1, ..., 1 (11-point curve).

    Parameters
    ----------
    data : DataFrame or Dataset
        Runs and judgments, as for :func:`rankeval_pd.per_query`, or the result of ``summary`` for
        the metrics IPrec@recall, at any recall levels.

    Notes
    -----
    Each point is the mean over queries of the highest precision at this or any higher recall. The
    intervals in the table are simultaneous over all runs at the same recall. The plot needs at
    least two runs.

    Examples
    --------
    >>> import rankeval_pd
    >>> found = rankeval_pd.datasets.load_docstring_search()
    >>> found.rankeval.plot.interpolated_precision(n_resamples=99).get_xlabel()
    'recall'
    """
    rows = table[table["metric"].astype(str).str.startswith("IPrec@")]
    if rows.empty:
        raise ValueError(
            "table has no metric IPrec@recall. Pass the runs and judgments, or the result of"
            f" summary([{_RECALLS[0]!r}, ..., {_RECALLS[-1]!r}])."
        )
    recall = rows["metric"].astype(str).str.removeprefix("IPrec@").astype(float)
    rows = rows.assign(n=recall, x=recall).sort_values("x", kind="stable")
    parts = by_name(rows)
    for run in canvas.choose({k: float(v["value"].mean()) for k, v in parts.items()}, "mean"):
        canvas.curve(run, parts[run]["x"], parts[run]["value"])
    canvas.ax.set_xlim(-0.01, 1.02)
    canvas.across("share")
    if "ci_low" in rows and rows["ci_low"].notna().any():
        level = level_before(table.attrs)
        kind = f"{level}confidence intervals, simultaneous for all runs at each recall"
        canvas.uncertainty(parts, "ci_low", "ci_high", kind)
    canvas.start_at(0.0)
    canvas.upwards()
    canvas.tell("Points: the highest precision at this recall or above, averaged over queries.")
    canvas.finish(xlabel="recall", ylabel="interpolated precision")
