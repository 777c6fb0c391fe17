"""Plot the scores of systems on test items and queries."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.doors import Data, as_items, each_metric, frame_of, item_roles, read_items
from rankeval_pd.errors import listed, unknown_name
from rankeval_pd.options import with_roles
from rankeval_pd.plotting.canvas import Canvas, interval_kind, level_before, write
from rankeval_pd.plotting.forests import gain_of
from rankeval_pd.plotting.look import (
    Ink,
    compact,
    cut_text,
    digits_for,
    font,
    in_percent,
    interval_text,
    number,
    panel_size,
    plainly,
    set_ticks,
    small,
    wide,
)
from rankeval_pd.plotting.panels import by_name, plot_of, roles_in, tidy
from rankeval_pd.queries.per_query import query_summary
from rankeval_pd.roles import ItemRoles
from rankeval_pd.stats import Items
from rankeval_pd.systems.tests import paired_bootstrap

# ---- Values of pairs of systems on each item, and the gains of one over the other
_VALUES = "system_a system_b item value_a value_b gain"
_Group = tuple[Items, dict[Any, Any], list[Hashable], pd.Index]


def _groups_of_items(data: Any, roles: Any) -> list[_Group]:
    """Return the items and the key of each group, and the names of systems and items."""
    frame, named = frame_of(data, roles, "items")
    table = read_items(frame, item_roles(named))
    keys = table.keys.to_dict("records") if table.keys.shape[1] else [{}]
    return [
        (table.items(rows), key, table.systems, table.labels[rows])
        for rows, key in zip(table.members, keys, strict=True)
    ]


def _values_of(groups: list[_Group], pairs: Sequence[Sequence[Any]]) -> list[pd.DataFrame]:
    """Return the values of these pairs of systems on each item, and the gains."""
    parts = []
    for (found, key, names, labels), (a, b) in itertools.product(groups, pairs):
        scores = found.score(found.statistics)
        first, second = scores[names.index(a)], scores[names.index(b)]
        values = {"value_a": first, "value_b": second, "gain": found.sign * (first - second)}
        columns = {**key, "system_a": a, "system_b": b, "item": labels, **values}
        parts.append(pd.DataFrame(columns))
    return parts


# ---- Gains of one system over another on each item
_BARS = 400  # more bars than this are drawn as an area, which looks the same
_NAMED = 3  # number of queries named on each side of the diagonal
_PAIRS = 6  # largest number of pairs of systems in one figure, across all groups


def _with_gains(
    data: Data, a: Hashable = None, b: Hashable = None, **asked: Any
) -> tuple[Any, Any]:
    """Return the gain on each item, and the gain over all items."""
    items: Any = as_items(data)
    by_query = isinstance(data, pd.DataFrame) and "query" in data.index.names
    groups: list[_Group] = _groups_of_items(items, roles_in(asked))
    systems = max((len(names) for _, _, names, _ in groups), default=0)
    count = systems - 1 if a is not None else systems * (systems - 1) // 2
    if b is None and count * len(groups) > _PAIRS:
        raise ValueError(
            f"there are {count:,} pairs of systems{' in each group' * (len(groups) > 1)}, but this"
            f" plot has at most {_PAIRS} panels. Pass a and b to choose a pair, or draw all pairs"
            " with plot.pairs()."
        )
    needed: str = "system_a system_b gain ci_low ci_high"
    whole = tidy(paired_bootstrap(items, a, b, **asked), needed, "paired_bootstrap")
    pairs = whole[["system_a", "system_b"]].drop_duplicates().to_numpy(dtype=object).tolist()
    table: pd.DataFrame = pd.concat(_values_of(groups, pairs), ignore_index=True)
    batch: list[Any] = [*groups[0][1]]
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
        :func:`rankeval_pd.per_query` for one metric; or a table with the columns ``system_a``,
        ``system_b``, ``item`` and ``gain``, which the result of
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
        if np.isfinite(low) & np.isfinite(high):
            ax.vlines(at, *ends, color=ink.fg, linewidth=1.4, clip_on=False, label="_interval")
        canvas.dots([at], [gain], ink.fg, markersize=5, clip_on=False, label="_gain")
        digits = digits_for(high - low) if np.isfinite(high - low) else 3
        said = f"gain {number(gain, digits)}"
        if np.isfinite(low) or np.isfinite(high):
            said += f"\n({interval_text(low, high, digits)})"
        top, aside, ha, va = gain, (6, 0), "left", "center"
        if small(ax):  # above the bars of losses if there is room
            top, aside, ha, va = max(gain, 0.0), (-8, 3), "right", "bottom"
        color = Ink.of(ax, outside=True).fg
        write(ax, said, (at, top), aside, va=va, ha=ha, color=color, annotation_clip=True)
        kind = interval_kind(whole.attrs, "separately for each pair")
        canvas.tell(f"Dot and line on the right: the gain over all items with {kind}.")
    canvas.limits("x", 0.0, max(1.06 * gains.size, 1.5))
    canvas.limits("y", -1.08 * height, 1.08 * height)
    unit = str(table.attrs.get("unit", "items"))
    numbered = pd.api.types.is_integer_dtype(found["item"]) and unit != "queries"
    if not numbered and not small(ax):
        # names of large gains and losses, with lines to their bars
        size, count, names = font(ax, "note"), len(found), found["item"].astype(str).to_list()
        room = 0.3 * panel_size(ax)[0]
        for k in range(min(_NAMED, count // 4)):
            for index, sign in ((k, 1), (count - 1 - k, -1)):
                if np.sign(gains[index]) != sign:
                    continue
                y = height * (1.0 - 0.13 * k)
                above = int(np.count_nonzero(sign * gains > y - 0.08 * height))
                beside = max(0.075 * count, above)
                end, ha = 1 + beside, "left"
                if sign < 0:
                    end, ha = count - beside, "right"
                line = {"arrowstyle": "-", "lw": 0.5, "color": ink.reference}
                line |= {"shrinkA": 1, "shrinkB": 0}
                text = {"textcoords": "data", "va": "center", "ha": ha, "color": ink.fg}
                label, foot = cut_text(names[index], size, room), (index + 1, gains[index])
                write(ax, label, foot, (end, sign * y), arrowprops=line, **text)
    box = {"facecolor": ink.bg, "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
    for name, count, corner, ha, va in (
        (a, (gains > 0).sum(), (0.94, 0.97), "right", "top"),
        (b, (gains < 0).sum(), (0.03, 0.03), "left", "bottom"),
    ):
        size, color = font(ax, "name"), ink.text(canvas.color(name))
        short = cut_text(canvas.text(name), size, 0.4 * panel_size(ax)[0])
        place = {"transform": ax.transAxes, "ha": ha, "va": va, "bbox": box}
        ax.text(*corner, f"{short} better: {count:,}", fontsize=size, color=color, **place)
    equal = np.count_nonzero(gains == 0)
    set_ticks(ax.xaxis, compact, 5.0)
    set_ticks(ax.yaxis, plainly, 5.0)
    label = f"{unit}, sorted by gain"
    if equal:
        label += f" ({equal:,} equal)"
    canvas.frame(xlabel=label, ylabel=gain_of(table.attrs))
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
        items: Any = as_items(one)
        of = items.attrs.get("metric") if isinstance(items, pd.DataFrame) else None
        groups = _groups_of_items(items, roles)
        names = groups[0][2]
        if a is None and b is None and len(names) == 2:
            a, b = names
        if a is None or b is None:
            raise ValueError(f"a={a!r}, b={b!r}: pass two of the systems {listed(names)}.")
        for role, name in (("a", a), ("b", b)):
            if name not in names:
                raise unknown_name(role, name, names)
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
        Values of runs on queries from :func:`rankeval_pd.per_query`, with one panel per metric; or
        scores of systems on test items, or a table with the columns ``item``, ``system_a``,
        ``system_b``, ``value_a``, ``value_b``.
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
            color, label = canvas.color(name), f"{canvas.text(name)} higher"
        look = {"markersize": size, "markeredgewidth": 0, "alpha": 0.8, "label": label}
        canvas.dots(x[here], y[here], color, **look)
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
    first, second = (cut_text(text, font(ax, "label"), room) for text in (first, second))
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
    look: dict[str, Any] = {"color": canvas.ink.fg, "zorder": 5, "path_effects": [halo]}
    for k in sorted(chosen, key=lambda k: -abs(gap[k])):
        text = cut_text(names[k], size, 0.35 * side)
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
        look["ha"] = {1: "left", 0: "center", -1: "right"}[right]
        look["va"] = {1: "bottom", 0: "center", -1: "top"}[up]
        write(ax, text, (at[k, 0], at[k, 1]), (_APART * right, _APART * up), **look)
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
    canvas.upwards(in_percent)
    canvas.tell("Points: the highest precision at this recall or above, averaged over queries.")
    canvas.finish(xlabel="recall", ylabel="interpolated precision")
