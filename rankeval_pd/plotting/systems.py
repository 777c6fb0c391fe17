"""Plot tests of all pairs of systems or measures."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.doors import Data
from rankeval_pd.errors import check_share, checked_call
from rankeval_pd.lists.measure_ranks import pairs_tested, rank_options
from rankeval_pd.options import unbound
from rankeval_pd.plotting import forests
from rankeval_pd.plotting.canvas import (
    ABOVE,
    BESIDE,
    LINE,
    THIN,
    Canvas,
    interval_kind,
    joined,
    pairs_kind,
    write,
)
from rankeval_pd.plotting.look import (
    LEAST,
    Ink,
    contrast,
    cut_text,
    cycle,
    digits_for,
    font,
    mixed_color,
    number,
    panel_size,
    plainly,
    set_chosen_ticks,
    set_ticks,
    settle,
    wide,
)
from rankeval_pd.plotting.panels import (
    AnyPlot,
    CalibrationPlot,
    GainPlot,
    PairTests,
    Picture,
    by_n,
    is_table,
    of_data_or_table,
    parted,
    picture,
    table_of,
    tidy,
)
from rankeval_pd.roles import AreaKind, FamilyAdjustment, ListSizes
from rankeval_pd.stats import letters as letters_of
from rankeval_pd.stats import rejects
from rankeval_pd.systems import studies
from rankeval_pd.systems.studies import gain_threshold
from rankeval_pd.systems.tests import paired_bootstrap
from rankeval_pd.words import percent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# ---- Measures in plots that compare pairs of systems
_PAIRS = "measure_a measure_b difference p_value"
_DEFAULTS = inspect.signature(paired_bootstrap).parameters
# columns for each side of a pair: in tables of pairs, compare and compare_area
_SCORES = ("value", "precision", "area")


def of_measures_too(picture: Picture) -> Picture:
    """Make a plot function for system pairs also accept measure pairs."""

    @checked_call
    @functools.wraps(picture)
    def drawn(data: Any, *args: Any, **options: Any) -> Any:
        (data, *others), options = unbound((data, *args), options)
        if is_table(data, forests.RANKED):
            raise ValueError(
                "table contains ranks of measures but no pairs. Pass the data with n=... or"
                " kind=..., or the result of compare(adjust='max-t') or compare_area."
            )
        names = getattr(data, "columns", getattr(data, "variables", ()))
        asked = any(options.get(name) is not None for name in ("n", "kind", "measures"))
        if not asked and (options.get("gold") is not None or "gold" in names):
            raise ValueError(
                "n=None, kind=None: rankings need a criterion. Pass n=..., the size of the lists,"
                " or kind='ap' or 'roc'; if 'gold' is a system scored on test items, rename it."
            )
        return picture(as_systems(data) if is_table(data, _PAIRS) else data, *others, **options)

    return cast(Picture, drawn)


def tests_of_pairs(
    data: Any, n: ListSizes, kind: Any, adjust: Any, asked: Mapping[str, Any]
) -> Any:
    """Return tests of all pairs of systems, or of measures if there is a criterion, in one form.

    ``asked`` contains the column roles and the options; only three options apply to rankings.
    """
    if n is None and kind is None:
        return paired_bootstrap(data, adjust=adjust, **asked)
    ranked: dict[str, Any] = {"n_resamples": None, "alpha": 0.05}
    roles: dict[str, Any] = {}
    for name, given in asked.items():
        if name not in {*PairTests.__annotations__, "a", "b"}:
            roles[name] = given
        elif name not in ranked and given not in (None, _DEFAULTS[name].default):
            raise ValueError(
                f"{name}={given!r} applies only to systems scored on test items, but n and kind"
                f" apply to rankings. Omit {name}; choose measures with measures=[...]."
            )
        else:
            ranked[name] = given
    level = 1.0 - check_share("alpha", ranked["alpha"])
    options = rank_options(n, kind, adjust, ranked["n_resamples"], level)
    return as_systems(pairs_tested(data, options, roles))


def as_systems(table: pd.DataFrame | xr.Dataset) -> pd.DataFrame:
    """Return pairs of measures in the columns for pairs of systems, with n as a group column."""
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


def _systems_high(table: pd.DataFrame) -> tuple[float, float]:
    """Return the figure size for one row per system."""
    return forests.rows_high({*table["system_a"], *table["system_b"]})


@picture(
    "system_a system_b score_a score_b gain p_value",
    "paired_bootstrap with adjust=...",
    own="y",
    size=_systems_high,
)
def draw_critical_difference(canvas: Canvas, table: pd.DataFrame, *, alpha: float = 0.05) -> None:
    """Draw systems by score, with bars that connect indistinguishable systems."""
    attrs = table.attrs
    scores: dict[Any, float] = {}
    for side in "ab":
        scores |= dict(zip(table[f"system_{side}"], table[f"score_{side}"], strict=True))
    sign = 1.0 if not attrs.get("higher_is_better", True) else -1.0
    order = sorted(scores, key=lambda name: sign * scores[name])
    p = table.get("p_adjusted", table["p_value"]).to_numpy(dtype=float)
    place = {name: k for k, name in enumerate(order)}
    apart = np.zeros((len(order), len(order)), dtype=bool)
    for a, b, chance in zip(table["system_a"], table["system_b"], p, strict=True):
        apart[place[a], place[b]] = apart[place[b], place[a]] = rejects(chance, alpha)
    numbers = forests.PRECISION if _are_proportions(attrs) else forests.Numbers()
    rows = pd.DataFrame({"name": pd.Series(order, dtype=object), "low": np.nan, "high": np.nan})
    rows["value"] = [scores[name] for name in order]
    rows["accent"], rows["letters"] = ~apart[:1].ravel(), letters_of(apart)
    forests.draw_forest(canvas, rows, forests.score_of(attrs), numbers)
    how = pairs_kind(attrs, len(table))
    canvas.tell(f"{joined(f'Tests at {percent_of(alpha)}', how)}.")
    canvas.tell("Colored systems do not differ significantly from the best.")


@of_measures_too
@of_data_or_table(
    draw_critical_difference,
    "system_a system_b score_a score_b gain",
    paired_bootstrap,
    forms=["rankings", "items", "pairs"],
)
def critical_difference(
    data: Data,
    *,
    n: ListSizes = None,
    kind: AreaKind | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    **options: Unpack[AnyPlot],
) -> Axes:
    """Draw systems or measures in order of score, with bars that connect ties.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items; or the result of :func:`rankeval_pd.paired_bootstrap` or
        :func:`rankeval_pd.paired_permutation` for all pairs. To compare measures, pass candidates
        with a score for each measure and a gold label, together with ``n`` or ``kind``; or the
        result of :func:`rankeval_pd.compare` or :func:`rankeval_pd.compare_area` for all pairs.
    n, kind
        Option for candidates: the criterion by which measures are compared, as in
        :func:`rankeval_pd.measure_ranks`. Each n has its own panel.
    n_resamples, event, method, ci, families, baseline, adjust, adjust_over, level
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`. For candidates, only
        n_resamples and adjust are available, as in :func:`rankeval_pd.measure_ranks`.
    alpha : float
        Significance level of the tests.
    **look

    Notes
    -----
    Each dot is a system's score, with the best system at the top. A vertical bar on the right
    connects systems that do not differ significantly: no pair of them has a two-sided p-value at or
    below alpha (adjusted, if the table has adjusted p-values). If a bar has dots, only rows with a
    dot belong to the bar. The classic diagram is based on mean ranks (J. Demšar, 2006, Journal of
    Machine Learning Research 7). This plot uses paired tests of the scores, adjusted for all
    pairs.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame(rng.random((200, 4)) < [0.9, 0.88, 0.7, 0.5], columns=list("wxyz"))
    >>> ax = df.rankeval.plot.critical_difference(n_resamples=500)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['w', 'x', 'y', 'z']
    """
    look, asked = parted(options)
    table = tests_of_pairs(data, n, kind, adjust, asked)
    return draw_critical_difference(table, alpha=asked.get("alpha", 0.05), **look)


# ---- All pairs of systems as cells in a triangle
_CELL = 20.0  # size in points of a cell that has room for a number
_SIDE = 0.66  # fraction of the panel for the cells


def _square_of(table: pd.DataFrame) -> tuple[float, float]:
    """Return a figure size with room for the cells of many systems."""
    from matplotlib import rcParams

    height = rcParams["figure.figsize"][1]
    needed = 1.6 + 0.22 * min(len({*table["system_a"], *table["system_b"]}), 40)
    return max(1.15 * height, needed + 0.6), max(height, needed)


@picture(
    "system_a system_b score_a score_b gain p_value", "paired_bootstrap", own="xy", size=_square_of
)
def draw_pairs(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw a triangle of all pairs, with significant gains in color."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm, to_hex
    from matplotlib.patches import Rectangle

    ax, ink = canvas.ax, Ink.of(canvas.ax, outside=True)
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
    count = min(len(systems), named)  # the last row represents the remaining systems
    place = {name: min(k, count - 1) for k, name in enumerate(systems)}
    folded = len(systems) - count + 1 if len(systems) > count else 0
    alpha = float(table.attrs.get("alpha", 0.05))
    p = table.get("p_adjusted", table["p_value"]).to_numpy(dtype=float)
    hue = cycle(canvas.look.colors)[0]
    scale = LinearSegmentedColormap.from_list(
        "gain", [mixed_color(hue, ink.bg, 0.22), ink.line(hue), mixed_color(ink.fg, hue, 0.55)]
    )
    told = rejects(p, alpha)
    most = float(table["gain"].abs()[told].max()) if told.any() else 1.0
    high = most or 1.0
    norm, pale = PowerNorm(0.5, 0.0, high), mixed_color(ink.fg, ink.bg, 0.08)
    cell = _SIDE * min(width, height) / max(count, 1)
    digits = digits_for(0.5 * most)
    shares = _are_proportions(table.attrs)
    size = font(ax, "note")
    cells, faces = [], []
    pairs: dict[tuple[int, int], tuple[float, bool]] = {}
    for a, b, gain, apart in zip(
        table["system_a"], table["system_b"], table["gain"], told, strict=True
    ):
        i, j = place[a], place[b]
        if i > j:
            i, j, gain = j, i, -gain
        if i != j and not np.isnan(gain):  # gain over the remaining systems, and its significance
            least, before = pairs.get((i, j), (np.inf, True))
            pairs[i, j] = min(gain, least), bool(apart) and before
    for (i, j), (gain, apart) in pairs.items():
        cells.append(Rectangle((j + 0.03, i + 0.03), 0.94, 0.94))
        face = to_hex(scale(norm(abs(gain)))) if apart else pale
        faces.append(face)
        text = _gain_text(gain, digits, shares=shares)
        if wide(text, size) <= cell - 3.0 and cell >= _CELL * 0.7:
            shade = max((ink.fg, ink.bg), key=lambda c: contrast(c, faces[-1]))
            look = {"color": shade, "ha": "center", "va": "center", "fontsize": size}
            ax.text(j + 0.5, i + 0.5, text, **canvas.look.mark(**look))
    drawn = PatchCollection(cells, linewidth=0)
    drawn.set_facecolor(faces or ["none"])
    drawn.set(**canvas.look.band())
    ax.add_collection(drawn)
    ax.patch.set_visible(False)
    ax.set(xscale="linear", yscale="linear", xlim=(0, max(count, 1)), ylim=(max(count, 1), 0))
    ax.set(xticks=[], yticks=[])
    ax.set_box_aspect(1.0)
    canvas.frame()
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
    shown = [canvas.text(name) for name in systems[: count - (folded > 0)]]
    if folded:
        shown.append(f"{folded:,} more")
    size = font(ax, "name")
    if cell < 1.15 * size:
        size = LEAST
    look = {"ha": "right", "va": "center", "fontsize": size, "color": ink.fg}
    for k, name in enumerate(shown):  # on the diagonal, to the left of the cells
        text = cut_text(name, size, k * cell + 0.22 * width)
        write(ax, text, (k + 1, k + 0.5), (-4, 0), annotation_clip=True, **look)
    if told.any():
        # the color scale in the empty corner
        size = font(ax, "note")
        inset = ax.inset_axes([0.0, 0.10, 0.30, 0.03])
        bar = ax.figure.colorbar(ScalarMappable(norm, scale), cax=inset, orientation="horizontal")
        bar.outline.set_visible(False)
        ticks = [0.0, high]
        if panel_size(ax)[0] >= 283:
            ticks.insert(1, 0.25 * high)
        digits = digits_for(0.5 * high)
        texts = [_gain_text(gain, digits, shares=shares) for gain in ticks]
        bar.set_ticks(ticks, labels=texts, fontsize=size)
        inset.tick_params(length=0, labelcolor=ink.fg)
        inset.minorticks_off()
        inset.set_xlim(0.0, high)
        words = _what(table.attrs).replace("difference in ", "difference,\n")
        note: dict[str, Any] = {"fontsize": size, "color": ink.note}
        corner = {"xycoords": "axes fraction", "va": "center"}
        write(inset, "gray: not distinguished", (0, 0), (0, -2.4 * size), **corner, **note)
        inset.set_title(words.replace("gain in ", "gain in\n"), loc="left", pad=4, **note)
    condition = joined(f"p ≤ {alpha:g}", pairs_kind(table.attrs, len(table)))
    canvas.tell(
        f"Color: {_what(table.attrs)} of the row over the column, if {condition}; pale gray: not"
        f" significant at {percent_of(alpha)}."
    )
    if folded:
        canvas.tell(
            f"Last column: the smallest gain over {folded:,} more systems, in color if all gains"
            " are significant."
        )


@of_measures_too
@of_data_or_table(
    draw_pairs,
    "system_a system_b gain p_value",
    paired_bootstrap,
    forms=["rankings", "items", "pairs"],
)
def pairs(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    n: ListSizes = None,
    kind: AreaKind | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    **options: Unpack[AnyPlot],
) -> Axes:
    """Draw the significant gains between all pairs of systems as a matrix.

    Parameters
    ----------
    data, n, kind
        As in :func:`critical_difference`.
    a, b, n_resamples, event, method, ci, families, baseline
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    adjust, adjust_over, alpha, level
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`, adjusted as in
        :func:`system_ranks`. For candidates, only adjust, alpha and n_resamples are
        available, as in :func:`rankeval_pd.measure_ranks`.
    **look

    Notes
    -----
    System names are on the diagonal, sorted by the number of other systems that each system beats.
    A colored cell marks a significant difference. A darker color means a larger gain of the row
    over the column. All other cells are pale gray. Gains are printed in cells that are large
    enough. The size of a new figure increases with the number of systems. Measures at a given n
    are compared with swap tests, in which the smallest possible adjusted p-value is pairs
    / (n_resamples + 1).

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> [text.get_text() for text in df.rankeval.plot.pairs().texts[-3:]]
    ['x', 'y', 'z']
    """
    look, asked = parted(options)
    return draw_pairs(tests_of_pairs(data, n, kind, adjust, {"a": a, "b": b, **asked}), **look)


def _are_proportions(attrs: Mapping[Any, Any]) -> bool:
    """Return whether the scores are the precision of measures."""
    return "what" in attrs and attrs.get("kind") is None


def _what(attrs: Mapping[Any, Any]) -> str:
    if "what" not in attrs:
        return forests.gain_of(attrs)
    return f"difference in {attrs['what']}" + " (points)" * _are_proportions(attrs)


def _gain_text(gain: float, digits: int, *, shares: bool) -> str:
    """Format a gain, in percentage points if the scores are proportions."""
    if shares:
        return number(100 * gain, max(digits - 2, 0))
    return number(gain, digits)


# ---- Gains, their confidence and the size of the test set (Berg-Kirkpatrick et al. 2012)
_CROWD = 300  # more points than this are drawn in a pale color
_LEVEL = 0.95
_LEVELS = (0.95, 0.5, 0.99, 0.999, 0.9, 0.9999, 0.99999, 0.75)
_FEWEST_DRAWS = 1e5  # largest confidence shown: one contradiction in this number of draws


@picture("system_a system_b gain confidence", "paired_bootstrap")
def draw_confidence(
    canvas: Canvas, table: pd.DataFrame, thresholds: pd.DataFrame | None = None
) -> None:
    """Plot gain against confidence, 1 - p, for every pair of systems."""
    ax, ink = canvas.ax, canvas.ink
    table = table.assign(p=1.0 - table["confidence"].to_numpy(dtype=float))
    exact = len(table) > 0 and "exact" in table and bool(table["exact"].all())
    draws = float(table.attrs.get("n_resamples") or 0.0)
    least = 1.0 / _FEWEST_DRAWS
    if draws and not exact:
        least = 1.0 / (draws + 1.0)
    relations = [(None, table)]
    if "relation" in table:
        relations = [(x, table[table["relation"] == x]) for x in table["relation"].unique()]
    several = len(relations) > 1
    positive = table["gain"][table["gain"] > 0]
    lowest = 0.5 * float(positive.min()) if len(positive) else 1e-3
    for name, rows in relations:
        y = -np.log10(rows["p"].clip(lower=least).to_numpy(dtype=float))
        sure = rows["confidence"].to_numpy(dtype=float) >= _LEVEL
        full = rows["p"].to_numpy(dtype=float) <= least * (1.0 + 1e-6)
        x = rows["gain"].clip(lower=lowest).to_numpy(dtype=float)
        own = canvas.color(name) if several else ink.accent
        look = {"markeredgecolor": ink.bg, "markeredgewidth": 0.6, "zorder": 3, "label": "_pairs"}
        for which, color in ((~sure, ink.plain), (sure, own)):
            for at, sign, size in ((which & ~full, "o", 4.5), (which & full, "^", 5.5)):
                canvas.dots(x[at], y[at], color, name=name, marker=sign, markersize=size, **look)
        if several:
            canvas.curve(name, [], [], label=f"{canvas.text(name)} ({len(rows)})")
    canvas.rule(-np.log10(1.0 - _LEVEL))
    ax.set_xscale("log")
    if not len(positive):
        canvas.limits("x", 0.001, 1.0)
    else:
        left = lowest * 1.5 if not (table["gain"] <= 0).any() else lowest
        canvas.limits("x", left, 1.3 * float(positive.max()))
    heights = -np.log10(table["p"].clip(lower=least).to_numpy())
    bottom, top = np.nanmin(heights, initial=0.15), np.nanmax(heights, initial=1.6)
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
            if several and relation in dict(relations):
                color, width = canvas.color(relation), 1.2
                shade = ink.text(color)
            line = {"color": color, "linewidth": width, "zorder": 1.2}
            ax.axvline(threshold, **canvas.look.line(relation, **line, label="_threshold"))
            bar = {"color": color, "linewidth": 3, "alpha": 0.5, "label": "_interval"}
            place = {"transform": ax.get_xaxis_transform(), "zorder": 1.2}
            ends = max(float(lower), first), min(float(upper), last)
            ax.hlines(0.02 + 0.03 * index, *ends, **place, **canvas.look.band(relation, **bar))
            text = f"threshold\n{threshold:.2g}"
            aside, ha = 4, "left"
            if np.log(threshold / first) > 0.7 * np.log(last / first):
                aside, ha = -4, "right"
            moved = aside, 4 + 2.4 * font(ax, "note") * index
            end = threshold, 0.04 + 0.03 * len(known)
            write(ax, text, end, moved, xycoords=ABOVE, va="bottom", ha=ha, color=shade)
        if len(known):
            kind = interval_kind(thresholds.attrs, "separately for each threshold")
            canvas.tell(f"Vertical lines: gains worth reporting. Bars at the bottom: {kind}.")
    texts = [percent_of(c) for c in _LEVELS]
    set_chosen_ticks(ax.yaxis, [-np.log10(1.0 - c) for c in _LEVELS], texts)
    set_ticks(ax.xaxis, plainly, 5.0)
    count = int((table["confidence"] >= _LEVEL).sum())
    look = {"xycoords": BESIDE, "color": ink.text(ink.accent)}
    write(ax, f"{count} of {len(table)} pairs", (0.0, -np.log10(1.0 - _LEVEL)), (4, 3), **look)
    canvas.tell(
        "Dots: pairs of systems, with the gain of the better system. A confidence of"
        f" {percent_of(_LEVEL)} corresponds to a one-sided, unadjusted p of 0.05."
    )
    if (table["p"] <= least * (1.0 + 1e-6)).any():
        limit = f"the gain is above 0 in all {round(1 / least - 1):,} resamples"
        if exact:
            limit = f"p ≤ {least:.2g}"
        canvas.tell(f"Triangles: {limit}.")
    if (table["gain"] <= 0).any():
        canvas.tell("Gains of 0 or below are drawn at the left edge.")
    canvas.meet = True
    canvas.finish(xlabel=forests.gain_of(table.attrs), ylabel="confidence (1 − p, one-sided)")


@of_data_or_table(
    draw_confidence, "system_a gain confidence", paired_bootstrap, forms=["items", "pairs"]
)
def confidence(
    data: Data, a: Hashable = None, b: Hashable = None, **options: Unpack[GainPlot]
) -> Axes:
    """Draw the gain of every pair of systems against the confidence, 1 - p.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or the result of :func:`rankeval_pd.paired_bootstrap`. If
        you pass a result, you can add ``thresholds``, the result of
        :func:`rankeval_pd.gain_threshold`, which is drawn as lines with intervals.
    a, b, n_resamples, event, method, ci, families, baseline, adjust, adjust_over, alpha, level
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    **look

    Notes
    -----
    Each dot is a pair of systems. The x axis shows the gain on a logarithmic scale. The y axis
    shows the confidence as one-sided -log10(p), so the distance from 99% to 99.9% is equal to the
    distance from 90% to 99%. A triangle means that no draw contradicted the sign of the gain.
    Vertical lines mark gain thresholds, and bars at the bottom show their intervals. The horizontal
    line marks 95%, and pairs above this line are in color.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> df.rankeval.plot.confidence().get_ylabel()
    'confidence (1 − p, one-sided)'
    """
    look, asked = parted(options)
    table = paired_bootstrap(data, a, b, **asked)
    return draw_confidence(table, gain_threshold(table), **look)


@picture("size system_a gain p_value", "gain_by_size")
def draw_gain_by_size(
    canvas: Canvas, table: pd.DataFrame, thresholds: pd.DataFrame | None = None
) -> None:
    """Draw gains and gain thresholds against the size of the test set."""
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
        beyond = lines[:0]
        if "threshold_high" in lines:
            beyond = lines[lines["threshold_high"] > high]
        for place, relation in enumerate(lines["relation"].unique()):
            rows, name = lines, "threshold"
            if not pd.isna(relation):
                rows, name = lines[lines["relation"] == relation], relation
            last = rows.iloc[-1]
            law = last["threshold"] * np.sqrt(last["size"] / rows["size"])
            canvas.guide(rows["size"], law, "_square-root law")
            if place == 0:
                law_line = "a square-root law through the value for the largest size"
                canvas.tell(f"Thin gray line: {law_line}.")
            canvas.curve(name, rows["size"], rows["threshold"], linewidth=LINE)
            lower = rows["threshold_low"].where(rows["threshold_low"] > 0.0, rows["threshold"])
            canvas.bars(name, rows["size"], lower, rows["threshold_high"].clip(upper=high))
            canvas.limits("y", high=high)
        if len(lines):
            kind = interval_kind(thresholds.attrs, "separately for each size")
            canvas.tell(f"Line: gains worth reporting, with {kind}.")
        if len(beyond):
            look = {"color": canvas.ink.plain, "markersize": 5, "label": "_beyond"}
            ax.plot(beyond["size"], np.full(len(beyond), high), "^", clip_on=False, **look)
            canvas.tell("Triangles: the interval extends above the panel.")
        if len(without):
            named = ", ".join(f"{size:,}" for size in sorted(without["size"].unique()))
            canvas.tell(f"There is no threshold at {named} items because no pair is near p = 0.05.")
    sizes = sorted(table["size"].unique())
    order = [*sizes[:1], *sizes[-1:], *sizes[1:-1]]
    set_chosen_ticks(ax.xaxis, order, [f"{size:,}" for size in order])
    set_ticks(ax.yaxis, plainly, 5.0)
    canvas.finish(xlabel="test items", ylabel=forests.gain_of(table.attrs))


@of_data_or_table(
    draw_gain_by_size, "size system_a gain p_value", studies.gain_by_size, forms=["items"]
)
def gain_by_size(data: Data, sizes: Sequence[int], **options: Unpack[GainPlot]) -> Axes:
    """Draw gains and gain thresholds against the size of the test set.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or the result of :func:`rankeval_pd.gain_by_size`. If you
        pass a result, you can add ``thresholds``, the result of :func:`rankeval_pd.gain_threshold`.
        The thresholds are drawn as lines, with the square-root law through the largest size.
    sizes : sequence of int
        Option for items: numbers of items; see :func:`rankeval_pd.gain_by_size`.
    n_resamples, event, method, ci, families, baseline, adjust, adjust_over, alpha, level
        Options for items, as in :func:`rankeval_pd.gain_by_size`.
    **look

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
    look, asked = parted(options)
    table = studies.gain_by_size(data, sizes, **asked)
    return draw_gain_by_size(table, gain_threshold(table), **look)


@picture("p_low p_high agreement ci_low ci_high expected_agreement", "calibration")
def draw_calibration(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the observed and expected rates of sign agreement with other data."""
    ax, ink = canvas.ax, canvas.ink
    table = table.sort_values("p_low")
    at = (table["p_low"].clip(lower=1e-6) * table["p_high"]) ** 0.5
    known = table["agreement"].notna()
    canvas.guide(at, table["expected_agreement"], "expected", **canvas.look.line())
    ends = table["expected_agreement"][known].dropna()
    if len(ends):
        end = (at[ends.index[-1]], ends.iloc[-1])
        write(ax, "expected", end, (-6, -4), va="top", ha="right", color=ink.note)
    look = canvas.look.band(color=ink.accent, linewidth=1.1, alpha=0.75, zorder=2.6)
    ax.vlines(at[known], table["ci_low"][known], table["ci_high"][known], **look)
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
        size, look = font(ax, "note"), {"xycoords": ABOVE, "ha": "center"}
        look["color"] = Ink.of(ax, outside=True).note
        low, high = np.log(ax.get_xlim())
        last, scale = -np.inf, 0.68 * panel_size(ax)[0] / (high - low)
        for place, count in zip(at[known], table["n_pairs"][known], strict=True):
            text = f"{int(count):,}"
            middle, half = float(np.log(place)) * scale, 0.5 * wide(text, size) + 2.0
            if np.isfinite(middle) and middle - half > last:  # without overlap
                last = middle + half
                write(ax, text, (place, 1.0), (0, 2), **look)
        canvas.reserve_top()
        canvas.tell("Numbers at the top: pairs in each bin.")
    low, high = ax.get_ylim()
    canvas.limits("y", low - 0.08 * (high - low), high)  # room for a name below the last point
    canvas.upwards()
    canvas.tell(
        "Dots: proportion of pairs that keep the sign of the gain, with"
        f" {interval_kind(table.attrs, 'separately for each bin')}.",
        "Gray line: the proportion expected for other items from the same distribution.",
    )
    canvas.finish(xlabel="one-sided p (edges of bins)", ylabel="pairs that keep their sign")


@of_data_or_table(draw_calibration, "p_low p_high agreement", studies.calibration, forms=["pairs"])
def calibration(
    data: Data, other: pd.DataFrame | xr.Dataset, **options: Unpack[CalibrationPlot]
) -> Axes:
    """Draw observed and expected rates of sign agreement with other data.

    Parameters
    ----------
    data : DataFrame or Dataset
        Table of pairs from :func:`rankeval_pd.paired_bootstrap`, or the result of
        :func:`rankeval_pd.calibration` or :func:`rankeval_pd.population_calibration`.
    other : DataFrame or Dataset
        Option for a table of pairs: scores of the same systems on other items.
    bins, ci, level, n_resamples
        Options for a table of pairs, as in :func:`rankeval_pd.calibration`.
    **look

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
    look, asked = parted(options)
    return draw_calibration(studies.calibration(data, other, **asked), **look)
