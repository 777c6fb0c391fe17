"""Plot systems over test items and queries."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.doors.candidates import Data
from rankeval_pd.doors.datasets import frame_of
from rankeval_pd.doors.item_tables import as_items, each_metric, item_roles, read_frame
from rankeval_pd.errors import listed, unknown_name
from rankeval_pd.plotting.canvas import Canvas, level_before
from rankeval_pd.plotting.forests import (
    DIFFERENCES,
    draw_calibration,
    draw_confidence,
    draw_critical_difference,
    draw_gain_by_size,
    draw_paired_differences,
    draw_pairs,
    draw_system_ranks,
)
from rankeval_pd.plotting.look import (
    font,
    in_percent,
    panel_size,
    plainly,
    set_ticks,
    shortened,
    small,
    wide,
)
from rankeval_pd.plotting.panels import (
    TESTS,
    AnyPlot,
    ItemPlot,
    Look,
    PairPlot,
    RankPlot,
    by_name,
    of_data_or_table,
    parted,
    picture,
    tidy,
)
from rankeval_pd.plotting.rankings import of_measures_too, pairs_of_measures
from rankeval_pd.queries.per_query import query_summary
from rankeval_pd.roles import (
    AreaKind,
    CalibrationInterval,
    Draw,
    FamilyAdjustment,
    ListSizes,
    QueryRoles,
    RankKind,
)
from rankeval_pd.stats.items import Items
from rankeval_pd.systems import studies, tests
from rankeval_pd.systems.studies import PAPER_BINS, gain_threshold
from rankeval_pd.systems.tests import paired_bootstrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# -------------------------------------------------------------------------------------------------
# Plots of per-item differences between systems, and of critical differences.

_PAIRS = 6  # largest number of pairs of systems in one figure, across all groups

# ----------------- Per-item differences, and critical differences


@of_data_or_table(draw_paired_differences, DIFFERENCES, "plot.paired_differences", forms=["items"])
def paired_differences(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    unit: str | None = None,
    **options: Unpack[PairPlot],
) -> Axes:
    """Draw sorted per-item gains of one system over another, and the overall gain.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or values of runs on queries from
        :func:`rankeval_pd.per_query` for one metric; or a table with the columns ``system_a``,
        ``system_b``, ``item`` and ``gain``. If you pass a table, you can add ``whole``, the result
        of :func:`rankeval_pd.paired_bootstrap` for the same pairs.
    a, b : names of systems, optional
        If you pass both, only this pair is drawn. If you pass only ``a``, it is paired with every
        other system. By default, all pairs are drawn. Each pair has a panel, and there can be at
        most six panels.
    n_resamples, event, method, ci, families, baseline, alpha, level
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    adjust_over
        No effect, because each panel shows a single pair.
    unit : str, optional
        Option for items: name for the rows on the axis. By default, the name is "queries" for
        queries and "items" otherwise.
    **look

    Returns
    -------
    Axes

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
    >>> df.rankeval.plot.paired_differences("x", "y", unit="queries").get_xlabel()
    'queries, sorted by gain'
    """
    look, asked = parted(options)
    roles = {name: given for name, given in asked.items() if name not in TESTS}
    items: Any = as_items(data)
    if unit is None:
        unit = "queries" if items is not data or _are_queries(data) else "items"
    read = groups_of_items(items, roles)
    _check_panels(read, a, b)
    whole: Any = paired_bootstrap(items, a, b, **asked)
    needed: tuple[str, ...] = ("system_a", "system_b", "gain", "ci_low", "ci_high")
    pairs = tidy(whole, needed, "paired_bootstrap")
    parts = [_of_pairs(*group, pairs) for group in read]
    table = pd.concat([x for part in parts for x in part], ignore_index=True)
    several: bool = len(pairs[["system_a", "system_b"]].drop_duplicates()) > 1
    batch: list[Any] = [name for name in table if name not in DIFFERENCES]
    pairs = pairs[[*batch, *needed]]
    if several:  # one panel per pair
        for rows in (table, pairs):
            names = rows["system_a"].astype(str) + " − " + rows["system_b"].astype(str)
            rows.insert(len(batch), "systems", names)
    table = table[[*batch, *["systems"] * several, *DIFFERENCES]]
    table.attrs = {**whole.attrs, "unit": unit}
    pairs.attrs = dict(whole.attrs)
    return draw_paired_differences(table, pairs, **look)


def _check_panels(groups: list[Any], a: Hashable, b: Hashable) -> None:
    """Raise a ValueError if there are more pairs of systems than panels."""
    systems = max((len(names) for _, _, names, _ in groups), default=0)
    if b is not None:
        return
    pairs = systems - 1 if a is not None else systems * (systems - 1) // 2
    if pairs * len(groups) > _PAIRS:
        raise ValueError(
            f"there are {pairs:,} pairs of systems{' in each group' if len(groups) > 1 else ''}, "
            f"but this plot has at most {_PAIRS} panels. Pass a and b to choose a pair, or draw "
            "all pairs with plot.pairs()."
        )


def _are_queries(data: pd.DataFrame | xr.Dataset) -> bool:
    """Return whether the row names identify queries."""
    return isinstance(data, pd.DataFrame) and "query" in data.index.names


_Group = tuple[Items, dict[Any, Any], list[Hashable], pd.Index]


def groups_of_items(data: Any, roles: Any) -> list[_Group]:
    """Return the items and the key of each group, and the names of systems and items."""
    frame, named = frame_of(data, roles, "items")
    table = read_frame(frame, item_roles(named))
    keys = table.keys.to_dict("records") if table.keys.shape[1] else [{}]
    return [
        (table.items(rows), key, table.systems, table.labels[rows])
        for rows, key in zip(table.members, keys, strict=True)
    ]


def _of_pairs(
    items: Items,
    key: dict[Any, Any],
    names: list[Hashable],
    labels: pd.Index,
    pairs: pd.DataFrame,
) -> list[pd.DataFrame]:
    """Return the gain for each pair of systems on each item."""
    scores = items.sign * items.score(items.statistics)
    listed = []
    for a, b in pairs[["system_a", "system_b"]].drop_duplicates().to_numpy(dtype=object):
        here = pairs[(pairs["system_a"] == a) & (pairs["system_b"] == b)]
        if key and not (here[list(key)] == pd.Series(key)).all(axis=1).any():
            continue
        gain = scores[names.index(a)] - scores[names.index(b)]
        columns = {**key, "system_a": a, "system_b": b, "item": labels, "gain": gain}
        listed.append(pd.DataFrame(columns))
    return listed


@of_measures_too
@of_data_or_table(
    draw_critical_difference,
    ("system_a", "system_b", "score_a", "score_b", "gain"),
    "paired_bootstrap",
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

    Returns
    -------
    Axes

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
    alpha = asked.get("alpha", 0.05)
    if n is not None or kind is not None:
        table = pairs_of_measures(data, n, kind, adjust, asked)
    else:
        table = paired_bootstrap(data, adjust=adjust, **asked)
    return draw_critical_difference(table, alpha=alpha, **look)


# -------------------------------------------------------------------------------------------------
# Plots that compare systems on test items, drawn from scores or a table.


@of_data_or_table(
    draw_confidence,
    ("system_a", "gain", "confidence"),
    "paired_bootstrap",
    forms=["items", "pairs"],
)
def confidence(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    adjust: FamilyAdjustment | None = None,
    **options: Unpack[PairPlot],
) -> Axes:
    """Draw the gain of every pair of systems against the confidence, 1 - p.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or the result of :func:`rankeval_pd.paired_bootstrap`. If
        you pass a result, you can add ``thresholds``, the result of
        :func:`rankeval_pd.gain_threshold`, which is drawn as lines with intervals.
    a, b, n_resamples, event, method, ci, families, baseline
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    adjust, adjust_over, alpha, level
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    **look

    Returns
    -------
    Axes

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
    table = paired_bootstrap(data, a, b, adjust=adjust, **asked)
    return draw_confidence(table, gain_threshold(table), **look)


@of_measures_too
@of_data_or_table(
    draw_pairs,
    ("system_a", "system_b", "gain", "p_value"),
    "paired_bootstrap",
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
    data : DataFrame or Dataset
        Scores of systems on test items, or the result of :func:`rankeval_pd.paired_bootstrap` or
        :func:`rankeval_pd.paired_permutation`. To compare measures, pass candidates with a score
        for each measure and a gold label, together with ``n`` or ``kind``, or the result of
        :func:`rankeval_pd.compare` or :func:`rankeval_pd.compare_area`.
    n, kind
        Option for candidates: the criterion by which measures are compared, as in
        :func:`rankeval_pd.measure_ranks`. Each n has its own panel.
    a, b, n_resamples, event, method, ci, families, baseline
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    adjust, adjust_over, alpha, level
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`, adjusted as in
        :func:`system_ranks`. For candidates, only adjust, alpha and n_resamples are
        available, as in :func:`rankeval_pd.measure_ranks`.
    **look

    Returns
    -------
    Axes

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
    if n is not None or kind is not None:
        table = pairs_of_measures(data, n, kind, adjust, {"a": a, "b": b, **asked})
    else:
        table = paired_bootstrap(data, a, b, adjust=adjust, **asked)
    return draw_pairs(table, **look)


@of_data_or_table(
    draw_system_ranks,
    ("system", "value", "rank_low", "rank_high"),
    "system_ranks",
    forms=["items"],
)
def system_ranks(
    data: Data,
    *,
    ranks: RankKind = "simultaneous",
    adjust: FamilyAdjustment | None = "max-t",
    **options: Unpack[RankPlot],
) -> Axes:
    """Draw the score of each system with its interval and rank.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or the result of :func:`rankeval_pd.system_ranks`.
    n_resamples, ranks, ci, adjust, adjust_over, alpha, level
        Options for items, as in :func:`rankeval_pd.system_ranks`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each dot marks a system's score, and each line shows its unadjusted interval. The
    numbers on the right are the score, the interval and the rank limits. A bar on the right
    connects systems that do not differ significantly. A system is in color if no other system is
    significantly better.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> df.rankeval.plot.system_ranks().get_xlabel()
    'score'
    """
    look, asked = parted(options)
    table = tests.system_ranks(data, ranks=ranks, adjust=adjust, **asked)
    return draw_system_ranks(table, **look)


@of_data_or_table(
    draw_gain_by_size, ("size", "system_a", "gain", "p_value"), "gain_by_size", forms=["items"]
)
def gain_by_size(
    data: Data,
    sizes: Sequence[int],
    *,
    draw: Draw = "prefix",
    adjust: FamilyAdjustment | None = None,
    **options: Unpack[PairPlot],
) -> Axes:
    """Draw gains and gain thresholds against the size of the test set.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or the result of :func:`rankeval_pd.gain_by_size`. If you
        pass a result, you can add ``thresholds``, the result of :func:`rankeval_pd.gain_threshold`.
        The thresholds are drawn as lines, with the square-root law through the largest size.
    sizes : sequence of int
        Option for items: numbers of items; see :func:`rankeval_pd.gain_by_size`.
    draw, n_resamples, event, method, ci, families, baseline
        Options for items, as in :func:`rankeval_pd.gain_by_size`.
    adjust, adjust_over, alpha, level
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    **look

    Returns
    -------
    Axes

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
    table = studies.gain_by_size(data, sizes, draw=draw, adjust=adjust, **asked)
    return draw_gain_by_size(table, gain_threshold(table), **look)


@of_data_or_table(
    draw_calibration, ("p_low", "p_high", "agreement"), "calibration", forms=["pairs"]
)
def calibration(
    data: Data,
    other: pd.DataFrame | xr.Dataset,
    *,
    bins: Sequence[float] = PAPER_BINS,
    ci: CalibrationInterval = "clopper-pearson",
    level: float = 0.95,
    n_resamples: int = 1000,
    **options: Unpack[ItemPlot],
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

    Returns
    -------
    Axes

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
    look, roles = parted(options)
    table = studies.calibration(
        data, other, bins=bins, ci=ci, level=level, n_resamples=n_resamples, **roles
    )
    return draw_calibration(table, **look)


# -------------------------------------------------------------------------------------------------
# Plots for search: two runs compared by query, and interpolated precision.

# ------------------------------------------------------- Two runs, with one dot per query

_VALUES = ("item", "system_a", "system_b", "value_a", "value_b")
_NAMED = 3  # number of queries named on each side of the diagonal
_APART = 4.0  # distance in points between a dot and its name


@picture(_VALUES, "plot.queries")
def draw_queries(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the values of two systems, with one dot per item and names for outliers."""
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
    size = 3.5
    if len(rows) <= 100:
        size = 5.0
    counts = {}
    for name, here in ((a, y > x), (b, y < x), (None, y == x)):
        color = ink.muted if name is None else canvas.color(name)
        dots = {
            "color": color,
            "marker": "o",
            "markersize": size,
            "linestyle": "none",
            "markeredgewidth": 0,
            "alpha": 0.8,
            "label": "_equal" if name is None else f"{canvas.text(name)} higher",
        }
        ax.plot(x[here], y[here], **canvas.look.mark(name, **dots))
        counts[name] = int(here.sum())
    unit, metric = table.attrs.get("unit", "items"), table.attrs.get("of", "score")
    first, second = canvas.text(a), canvas.text(b)
    if canvas.alone:
        equal = ""
        if counts[None]:
            equal = f"; {counts[None]:,} are equal"
        canvas.tell(
            f"Dots: {len(rows):,} {unit}. {first} is higher for {counts[a]:,} (above the diagonal),"
            f" {second} for {counts[b]:,} (below the diagonal){equal}."
        )
    else:
        canvas.tell(f"Dots: {unit}. Above the diagonal, {first} is higher.")
    _name_farthest(canvas, rows["item"].astype(str).to_list(), x, y)
    set_ticks(ax.xaxis, plainly, 5.0)
    set_ticks(ax.yaxis, plainly, 5.0)
    room = 0.5 * min(panel_size(ax))
    first, second = (shortened(text, font(ax, "label"), room) for text in (first, second))
    canvas.frame(xlabel=f"{metric} of {second}", ylabel=f"{metric} of {first}")


def _name_farthest(canvas: Canvas, names: list[str], x: Any, y: Any) -> None:
    """Write the names of the dots farthest from the diagonal if there is room."""
    from matplotlib.patheffects import withStroke

    ax, size = canvas.ax, font(canvas.ax, "note")
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
    for k in sorted(chosen, key=lambda k: -abs(gap[k])):
        text = shortened(names[k], size, 0.35 * side)
        box = np.array([wide(text, size), 1.1 * size])
        best = None
        for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            middle = dots[k] + (box / 2.0 + _APART) * (right, up)
            corner = middle - box / 2.0, middle + box / 2.0
            if (corner[0] < 0.0).any() or (corner[1] > side).any():
                continue
            if any((corner[0] < t[1]).all() and (t[0] < corner[1]).all() for t in taken):
                continue
            hit = int(((dots > corner[0] - 2.0) & (dots < corner[1] + 2.0)).all(axis=1).sum())
            if best is None or hit < best[0]:
                best = hit, corner, (right, up)
        if best is None:
            continue
        taken.append(best[1])
        right, up = best[2]
        ax.annotate(
            text,
            at[k],
            xytext=(_APART * right, _APART * up),
            textcoords="offset points",
            fontsize=size,
            color=canvas.ink.fg,
            zorder=5,
            path_effects=[halo],
            ha={1: "left", 0: "center", -1: "right"}[right],
            va={1: "bottom", 0: "center", -1: "top"}[up],
        )
    if taken:
        canvas.tell("The dots farthest from the diagonal are labeled.")


@of_data_or_table(draw_queries, _VALUES, "plot.queries", forms=["items"])
def queries(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    unit: str | None = None,
    **options: Unpack[ItemPlot],
) -> Axes:
    """Plot two runs against each other, with one dot per query, and label outliers.

    Parameters
    ----------
    data : DataFrame or Dataset
        Values of runs on queries from :func:`rankeval_pd.per_query`, with one panel per metric; or
        scores of systems on test items, or a table with the columns ``item``, ``system_a``,
        ``system_b``, ``value_a``, ``value_b``.
    a, b : names of systems
        Systems on the y axis and the x axis. Optional if the data contain two systems.
    unit : str, optional
        What to call the rows in the caption. The default is "queries" for tables of queries and
        "items" otherwise.
    **look

    Returns
    -------
    Axes

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
    look, roles = parted(options)
    asked = each_metric(data)
    parts = [part for metric, one in asked for part in _of_two(metric, one, a, b, roles)]
    table = pd.concat(parts, ignore_index=True)
    if len(asked) == 1:
        table = table.drop(columns="metric", errors="ignore")
    said = parts[0].attrs
    table.attrs = {
        "unit": unit or said["unit"],
        "of": "value" if len(asked) > 1 else said["of"],
    }
    return draw_queries(table, **look)


def _of_two(
    metric: str | None, data: Any, a: Hashable, b: Hashable, roles: Any
) -> Iterator[pd.DataFrame]:
    """Yield the values of two systems on every item in each group."""
    items: Any = as_items(data)
    of = items.attrs.get("metric") if isinstance(items, pd.DataFrame) else None
    unit = "queries" if items is not data or of is not None else "items"
    for found, key, names, labels in groups_of_items(items, roles):
        if a is None and b is None and len(names) == 2:
            a, b = names
        if a is None or b is None:
            raise ValueError(f"a={a!r}, b={b!r}: pass two of the systems {listed(names)}.")
        for role, name in (("a", a), ("b", b)):
            if name not in names:
                raise unknown_name(role, name, names)
        scores = found.score(found.statistics)
        columns = {**({} if metric is None else {"metric": metric}), **key, "item": labels}
        columns |= {"system_a": a, "system_b": b}
        columns |= {f"value_{s}": scores[names.index(x)] for s, x in (("a", a), ("b", b))}
        part = pd.DataFrame(columns)
        part.attrs = {"of": of or "score", "unit": unit}
        yield part


# ------------------------------------------------------------ Interpolated precision over recall

_LEVELS = tuple(f"IPrec@{k / 10:.1f}" for k in range(11))


@picture(("measure", "metric", "value"), "summary")
def draw_interpolated_precision(canvas: Canvas, table: pd.DataFrame) -> None:
    """Draw the mean interpolated precision of each run at several recall levels."""
    rows = table[table["metric"].astype(str).str.startswith("IPrec@")]
    if rows.empty:
        raise ValueError(
            "table has no metric IPrec@recall. Pass the runs and judgments, or the result of"
            f" summary([{_LEVELS[0]!r}, ..., {_LEVELS[-1]!r}])."
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
    canvas.upwards(in_percent)
    canvas.tell("Points: the highest precision at this recall or above, averaged over queries.")
    canvas.finish(xlabel="recall", ylabel="interpolated precision")


class RunPlot(QueryRoles, Look, total=False):
    """Keywords for plots of runs and judgments."""


@of_data_or_table(
    draw_interpolated_precision, ("measure", "metric", "value"), "summary", clusters=False
)
def interpolated_precision(
    data: Data,
    *,
    level: float = 0.95,
    n_resamples: int | None = None,
    **options: Unpack[RunPlot],
) -> Axes:
    """Draw the mean interpolated precision at recall 0, 0.1, ..., 1 (11-point curve).

    Parameters
    ----------
    data : DataFrame or Dataset
        Runs and judgments, as for :func:`rankeval_pd.per_query`, or the result of ``summary`` for
        the metrics IPrec@recall, at any recall levels.
    level, n_resamples
        Options for data, as in :func:`rankeval_pd.summary` for runs.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each point is the mean over queries of the highest precision at this or any higher recall. The
    intervals in the table are simultaneous over all runs at the same recall. The plot needs at
    least two runs.

    Examples
    --------
    >>> import rankeval_pd
    >>> found = rankeval_pd.datasets.load_docstring_search(progress=False)
    >>> found.rankeval.plot.interpolated_precision(n_resamples=99).get_xlabel()
    'recall'
    """
    look, roles = parted(options)
    table = query_summary(data, _LEVELS, level=level, n_resamples=n_resamples, **roles)
    return draw_interpolated_precision(table, **look)
