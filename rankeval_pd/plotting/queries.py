"""Plots for search: two runs compared by query, and interpolated precision."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed, unknown_name
from rankeval_pd.forms.items.metric_columns import as_items, each_metric
from rankeval_pd.forms.out.phrases import percent_of
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.roles import QueryRoles
from rankeval_pd.plotting.canvas import Canvas
from rankeval_pd.plotting.item_differences import groups_of_items
from rankeval_pd.plotting.keywords import ItemPlot, Look, of_data_or_table, parted
from rankeval_pd.plotting.numbers import (
    font,
    in_percent,
    panel_size,
    plainly,
    set_ticks,
    shortened,
    small,
    wide,
)
from rankeval_pd.plotting.panels import picture
from rankeval_pd.plotting.tables import by_name
from rankeval_pd.queries.run_summary import query_summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    size = 5.0 if len(rows) <= 100 else 3.5
    counts = {}
    for name, here in ((a, y > x), (b, y < x), (None, y == x)):
        color = ink.muted if name is None else canvas.color(name)
        dots = {"color": color, "marker": "o", "markersize": size, "linestyle": "none",
                "markeredgewidth": 0, "alpha": 0.8, "label": "_equal" if name is None else
                f"{canvas.text(name)} higher"}  # fmt: skip
        ax.plot(x[here], y[here], **canvas.look.mark(name, **dots))
        counts[name] = int(here.sum())
    unit, metric = table.attrs.get("unit", "items"), table.attrs.get("of", "score")
    first, second = canvas.text(a), canvas.text(b)
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
            text, at[k], xytext=(_APART * right, _APART * up), textcoords="offset points",
            fontsize=size, color=canvas.ink.fg, zorder=5, path_effects=[halo],
            ha={1: "left", 0: "center", -1: "right"}[right],
            va={1: "bottom", 0: "center", -1: "top"}[up],
        )  # fmt: skip
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
        "unit": unit or said["unit"], "of": "value" if len(asked) > 1 else said["of"],
    }  # fmt: skip
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
        level = f"{percent_of(table.attrs['level'])} " if "level" in table.attrs else ""
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
