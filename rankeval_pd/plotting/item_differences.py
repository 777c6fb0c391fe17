"""Systems over items: differences item by item, and who is ahead of whom."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.forms.items.item_roles import item_roles
from rankeval_pd.forms.items.items import read_dataset, read_frame, to_items
from rankeval_pd.forms.items.metric_columns import as_items
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.roles import AreaKind, FamilyAdjustment, GainInterval, ListSizes
from rankeval_pd.plotting.drawing.canvas import GREY, Canvas, percent, tidy
from rankeval_pd.plotting.drawing.legends import panel_size, shortened
from rankeval_pd.plotting.drawing.look import COLOURS
from rankeval_pd.plotting.drawing.panels import MOST, picture
from rankeval_pd.plotting.drawing.scales import compact, in_percent, set_ticks, small
from rankeval_pd.plotting.drawing.systems import gain_of, score_of
from rankeval_pd.plotting.keywords import AnyPlot, ItemPlot, of_data_or_table, parted
from rankeval_pd.plotting.measures import of_measures_too, pairs_of_measures
from rankeval_pd.stats.resampling.test_items import Items
from rankeval_pd.systems.paired_tests import paired_bootstrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# ---------- Systems over items: paired differences, item by item, and which systems are told apart

_MOST = 20  # characters of a name beside the axis
_BARS = 400  # more bars than this are drawn as an area, which looks the same
DIFFERENCES = ("item", "gain", "system_a", "system_b")


@picture(DIFFERENCES, "plot.paired_differences")
def draw_paired_differences(
    canvas: Canvas, table: pd.DataFrame, whole: pd.DataFrame | None = None
) -> None:
    """Draw the gain of one system over another on each item, sorted, and that on the whole."""
    ax, look = canvas.ax, canvas.look
    gains = np.sort(table["gain"].dropna().to_numpy(dtype=float))[::-1]
    a, b = (canvas.text(table[f"system_{side}"].iloc[0]) for side in "ab")
    x = np.arange(1, gains.size + 1)
    for better, colour, name in (
        (gains > 0, COLOURS[0], f"{a} better ({np.count_nonzero(gains > 0):,})"),
        (gains < 0, COLOURS[3], f"{b} better ({np.count_nonzero(gains < 0):,})"),
    ):
        bar = {"color": colour, "alpha": 0.75, "linewidth": 0, "label": name}
        if gains.size <= _BARS:
            ax.bar(x[better], gains[better], width=0.9, **look.band(None, **bar))
        else:
            heights = np.where(better, gains, 0.0)
            ax.fill_between(x, 0.0, heights, step="mid", **look.band(None, **bar))
    equal = np.count_nonzero(gains == 0)
    if equal:
        canvas.note(f"equal ({equal:,})")
    if whole is not None and len(whole):
        row = whole.iloc[0]
        level = whole.attrs.get("level")
        words = f"{percent(level)} interval" if level else "interval"
        low, high = float(row["ci_low"]), float(row["ci_high"])
        if np.isfinite(low) and np.isfinite(high):
            name = f"{words} of the whole"
            ax.axhspan(low, high, color="black", alpha=0.2, linewidth=0, label=name)
        line = {
            "color": "black",
            "linewidth": 1.2,
            "label": f"gain on the whole, {row['gain']:.3g}",
        }
        ax.axhline(float(row["gain"]), **look.rule(None, **line))
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.set_xlim(0.5, gains.size + 0.5)
    set_ticks(ax.xaxis, compact, 5.0)
    set_ticks(ax.yaxis, lambda value, _=None: f"{value:.3g}", 5.0)
    unit = str(table.attrs.get("unit", "items"))
    canvas.finish(xlabel=f"{unit}, sorted by gain", ylabel=gain_of(table))


@picture(
    ("system_a", "system_b", "score_a", "score_b", "gain", "p_value"),
    "paired_bootstrap with adjust=...",
    own="xy",
)
def draw_critical_difference(canvas: Canvas, table: pd.DataFrame, *, alpha: float = 0.05) -> None:
    """Draw the systems by their scores, and bars that join those that are not told apart."""
    ax = canvas.ax
    better = bool(table.attrs.get("higher_is_better", True))
    scores = _scores(table, better)
    if not scores:
        canvas.finish(xlabel=score_of(table))
        return
    p = table["p_adjusted" if "p_adjusted" in table else "p_value"]
    told = {
        frozenset(pair)
        for *pair, chance in zip(table["system_a"], table["system_b"], p, strict=True)
        if chance <= alpha
    }
    cliques = [c for c in _cliques(list(scores), told) if len(c) > 1]
    cliques = sorted(cliques, key=lambda c: min(list(scores).index(name) for name in c))
    low, high = min(scores.values()), max(scores.values())
    width = (high - low) or 1.0
    rows, bars = -(-len(scores) // 2), len(cliques)
    font = _font(ax, rows, bars)
    most = max(5, min(_MOST, int(0.3 * panel_size(ax)[0] / (0.6 * font))))
    names = {name: shortened(canvas.text(name), most) for name in scores}
    beside = _beside(ax, list(names.values()), font) * width
    _axis(ax, (low - beside, high + beside), rows, bars, better=better)
    if "what" in table.attrs and table.attrs["kind"] is None:
        set_ticks(ax.xaxis, in_percent, 6.0)
    _name_systems(canvas, scores, names, font, rows, bars)
    passing = False
    for level, clique in enumerate(cliques):
        y = -0.7 - 0.55 * level
        for first, last, over in _steps(list(scores), clique):
            line = {"color": "black", "linewidth": 1.0 if over else 2.5}
            style = (0, (1, 1.5)) if over else "-"
            ends = [scores[first], scores[last]]
            ax.plot(ends, [y, y], **canvas.look.band(None, **line, linestyle=style))
            passing = passing or over
        at = [scores[name] for name in clique]
        ax.plot(at, np.full(len(at), y), "|", color="black", markersize=5)
    how = f"adjusted ({table.attrs.get('adjust')})" if "p_adjusted" in table else "each alone"
    name = f"not told apart: every pair p\u00a0>\u00a0{alpha:g}, {how}"
    ax.plot([], [], color="black", linewidth=2.5, label=name)
    if passing:
        said = "passes over one that is told apart from one of them"
        ax.plot([], [], color="black", linewidth=1.0, linestyle=(0, (1, 1.5)), label=said)
    ax.xaxis.set_label_position("top")
    canvas.finish(xlabel=score_of(table))
    ax.spines[["left", "bottom", "right"]].set_visible(False)
    ax.spines["top"].set_visible(True)


def _steps(names: list[Hashable], clique: list[Hashable]) -> list[tuple[Hashable, Hashable, bool]]:
    """Return neighbours in a clique, by score, and whether a system that is not in it lies between.

    Systems that are far apart may not be told apart where nearer ones are: their items vary more.
    """
    place = {name: k for k, name in enumerate(names)}
    inside = sorted(clique, key=place.__getitem__)
    return [(a, b, place[b] - place[a] > 1) for a, b in itertools.pairwise(inside)]


def _scores(table: pd.DataFrame, better: bool) -> dict[Hashable, float]:
    """Return the score of each system, the best first."""
    by_name: dict[Hashable, float] = {}
    for side in "ab":
        by_name |= dict(zip(table[f"system_{side}"], table[f"score_{side}"], strict=True))
    ordered = sorted(by_name.items(), key=lambda item: -item[1] if better else item[1])
    return dict(ordered)


def _cliques(names: list[Hashable], told: set[frozenset[Hashable]]) -> list[list[Hashable]]:
    """Return the largest sets of systems in which no pair is told apart (Bron and Kerbosch)."""
    near = {a: {b for b in names if b != a and frozenset((a, b)) not in told} for a in names}
    listed: list[list[Hashable]] = []

    def grow(inside: set[Hashable], open_: set[Hashable], done: set[Hashable]) -> None:
        if not open_ and not done:
            listed.append([name for name in names if name in inside])
            return
        pivot = max(open_ | done, key=lambda name: len(near[name] & open_))
        for name in [x for x in names if x in open_ - near[pivot]]:
            grow(inside | {name}, open_ & near[name], done & near[name])
            open_ = open_ - {name}
            done = done | {name}

    grow(set(), set(names), set())
    return listed


def _font(ax: Axes, rows: int, bars: int) -> float:
    """Return the size of the letters of the names: as large as there is room."""
    room = 0.5 * panel_size(ax)[1] / (0.7 + 0.55 * bars + rows + 0.4)
    return float(np.clip(room / 1.15, 4.5, 7.0 if small(ax) else 9.0))


def _beside(ax: Axes, names: list[str], font: float) -> float:
    """Return how far the axis goes on at either side of the scores, so that names have room."""
    longest = 0.6 * font * (max(map(len, names), default=1) + 1) / (0.95 * panel_size(ax)[0])
    share = min(max(longest, 0.1), 0.34)
    return share / (1.0 - 2.0 * share)


def _axis(ax: Axes, ends: tuple[float, float], rows: int, bars: int, *, better: bool) -> None:
    """Put the axis of scores on top, the best on the right."""
    left, right = ends
    ax.set_xlim(*((left, right) if better else (right, left)))
    ax.set_ylim(-(0.7 + 0.55 * bars + rows + 0.4), 0.0)
    ax.xaxis.tick_top()
    ax.yaxis.set_visible(False)
    set_ticks(ax.xaxis, lambda value, _=None: f"{value:.4g}", 6.0)
    if small(ax):
        ax.tick_params(axis="x", labelsize=7)


def _name_systems(
    canvas: Canvas,
    scores: dict[Hashable, float],
    names: dict[Hashable, str],
    font: float,
    rows: int,
    bars: int,
) -> None:
    """Write the names on both sides, with a line from each to its score."""
    ax = canvas.ax
    left, right = ax.get_xlim()
    for place, name in enumerate(scores):
        best = place < rows
        row = place if best else len(scores) - 1 - place
        y = -(0.7 + 0.55 * bars + row + 0.4)
        edge = right if best else left
        colour = canvas.look.colour(ax, name) if canvas.look.highlighted else "0.3"
        colour = "0.8" if canvas.look.muted(name) else colour
        score = scores[name]
        ax.plot([score, score, edge], [0.0, y, y], color=colour, linewidth=0.8)
        ax.annotate(
            names[name], (edge, y), xytext=(-2 if best else 2, 1),
            textcoords="offset points", ha="right" if best else "left", va="bottom",
            fontsize=font, annotation_clip=False,
        )  # fmt: skip


# ----------------- Pictures of systems over items: differences item by item, and who is told apart


@of_data_or_table(draw_paired_differences, DIFFERENCES, "plot.paired_differences", forms=["items"])
def paired_differences(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    n_resamples: int = 10_000,
    ci: GainInterval = "bca",
    level: float = 0.95,
    unit: str | None = None,
    progress: bool | None = None,
    **options: Unpack[ItemPlot],
) -> Axes:
    """Draw the gain of one system over another on each item, sorted, and that on the whole.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems over test items, or runs over queries, as :func:`rankeval_pd.per_query` returns
        them of one metric; or a table with the columns ``system_a``,
        ``system_b``, ``item`` and ``gain``, and beside it as ``whole`` the result of
        :func:`rankeval_pd.paired_bootstrap` for the same pairs.
    a, b : names of systems, optional
        Both: this pair. ``a`` alone: a and each other system. Neither: all pairs; a panel each.
    n_resamples, ci, level, progress
        Of items: as in :func:`rankeval_pd.paired_bootstrap`.
    unit : str, optional
        Of items: what the rows are, for the axis; "items" unless given, of queries "queries".
    **look
    line_kw, band_kw, marker_kw : mapping, optional
        ``line_kw`` and ``band_kw``: keywords of the line of the gain on the whole
        (``Axes.axhline``) and of the bars (``Axes.bar``; of more than 400 items, which no paper
        shows one by one, ``Axes.fill_between``). ``marker_kw`` has no effect here.
    **roles
        Of items: which column is what.

    Returns
    -------
    Axes

    Notes
    -----
    A bar is the gain of the first system on one item, that of the item's own statistics where
    the metric is none of means; bars upwards are items on which it is better. The black line and
    the grey band are the gain on the whole and its interval.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [0.9, 0.8, 0.4, 0.7], "y": [0.5, 0.6, 0.5, 0.2]})
    >>> df.rankeval.plot.paired_differences("x", "y", unit="queries").get_xlabel()
    'queries, sorted by gain'
    """
    look, roles = parted(options)
    items: Any = as_items(data)
    if unit is None:
        unit = "queries" if items is not data or _are_queries(data) else "items"
    read = _groups(items, roles)
    _check_panels(read, a, b)
    whole: Any = paired_bootstrap(
        items, a, b, n_resamples=n_resamples, ci=ci, level=level, progress=progress, **roles
    )
    needed: tuple[str, ...] = ("system_a", "system_b", "gain", "ci_low", "ci_high")
    pairs = tidy(whole, needed, "paired_bootstrap")
    parts = [_of_pairs(group, key, names, pairs) for group, key, names in read]
    table = pd.concat([x for part in parts for x in part], ignore_index=True)
    several: bool = len(pairs[["system_a", "system_b"]].drop_duplicates()) > 1
    batch: list[Any] = [name for name in table if name not in DIFFERENCES]
    pairs = pairs[[*batch, *needed]]
    if several:  # a panel each
        for rows in (table, pairs):
            names = rows["system_a"].astype(str) + " − " + rows["system_b"].astype(str)
            rows.insert(len(batch), "systems", names)
    table = table[[*batch, *(["systems"] if several else []), *DIFFERENCES]]
    table.attrs = {**whole.attrs, "unit": unit}
    pairs.attrs = dict(whole.attrs)
    return draw_paired_differences(table, pairs, **look)


def _check_panels(groups: list[Any], a: Hashable, b: Hashable) -> None:
    """Raise a ValueError where there are more pairs of systems than panels."""
    systems = max((len(names) for _, _, names in groups), default=0)
    if b is not None:
        return
    pairs = systems - 1 if a is not None else systems * (systems - 1) // 2
    if pairs * len(groups) > MOST:
        raise ValueError(
            f"there are {pairs:,} pairs of systems{' in each group' if len(groups) > 1 else ''},"
            f" a panel each, and a picture has {MOST} panels at the most. Name a pair, a and b; or"
            " draw all pairs with plot.pairs()."
        )


def _are_queries(data: pd.DataFrame | xr.Dataset) -> bool:
    """Return whether the rows are named as those of queries are."""
    return isinstance(data, pd.DataFrame) and "query" in data.index.names


def _groups(data: Any, roles: Any) -> list[tuple[Items, dict[Any, Any], list[Hashable]]]:
    """Return the items of each group, the key of the group, and the names of the systems."""
    chosen = item_roles(roles)
    if isinstance(data, pd.DataFrame):
        table = read_frame(data, chosen)
        keys = table.keys.to_dict("records") if table.keys.shape[1] else [{}]
        return [
            (table.items(rows), key, table.systems)
            for rows, key in zip(table.members, keys, strict=True)
        ]
    values, metric, systems, cluster, labels = read_dataset(data, chosen)
    batch = [d for d in values.dims if d not in ("system", "item", "statistic")]
    listed = []
    for place in np.ndindex(tuple(values.sizes[d] for d in batch)):
        one = values.isel(dict(zip(batch, place, strict=True)))
        key = {d: _label(one, d, i) for d, i in zip(batch, place, strict=True)}
        listed.append((to_items(one.to_numpy(), metric, systems, labels, cluster), key, systems))
    return listed


def _label(one: xr.DataArray, dim: Hashable, place: int) -> Any:
    return one.coords[dim].item() if dim in one.coords else place


def _of_pairs(
    items: Items, key: dict[Any, Any], names: list[Hashable], pairs: pd.DataFrame
) -> list[pd.DataFrame]:
    """Return the gains of each pair of systems on every item."""
    scores = items.sign * items.score(items.statistics)
    listed = []
    for a, b in pairs[["system_a", "system_b"]].drop_duplicates().to_numpy(dtype=object):
        here = pairs[(pairs["system_a"] == a) & (pairs["system_b"] == b)]
        if key and not (here[list(key)] == pd.Series(key)).all(axis=1).any():
            continue
        gain = scores[names.index(a)] - scores[names.index(b)]
        columns = {**key, "system_a": a, "system_b": b, "item": np.arange(gain.size), "gain": gain}
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
    n_resamples: int | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    alpha: float = 0.05,
    progress: bool | None = None,
    **options: Unpack[AnyPlot],
) -> Axes:
    """Draw systems or measures by their scores, with bars that join those that are not told apart.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems over test items; or the result of :func:`rankeval_pd.paired_bootstrap` or
        :func:`rankeval_pd.paired_permutation` for all pairs. With n or kind candidates with a score
        for each measure and a gold label; or the result of :func:`rankeval_pd.compare` or
        :func:`rankeval_pd.compare_area` for all pairs.
    n, kind
        Of candidates: what the measures are compared by, as in :func:`rankeval_pd.measure_ranks`,
        whose tests are drawn. Several n are a panel each.
    n_resamples, adjust, progress
        Of items: as in :func:`rankeval_pd.paired_bootstrap`, of candidates as in
        :func:`rankeval_pd.measure_ranks`: unlike the classic diagram, this one rests on paired
        tests of the scores themselves, all pairs together.
    alpha : float
        The level at which two systems are told apart.
    **look
    line_kw, band_kw, marker_kw : mapping, optional
        ``band_kw``: keywords of the bars (``Axes.plot``). The others have no effect here.
    **roles
        Of data: which column is what.

    Returns
    -------
    Axes

    Notes
    -----
    The axis on top is the score, the best on the right. A bar joins the systems whose ticks it
    bears, of which no two are told apart: the two-sided p-value of every pair is above alpha
    (adjusted, where the table has adjusted ones). A system between them without a tick is told
    apart from one of them. J. Demšar (2006), Journal of Machine Learning Research 7, drew such
    bars from mean ranks.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame(rng.random((200, 4)) < [0.9, 0.88, 0.7, 0.5], columns=list("wxyz"))
    >>> ax = df.rankeval.plot.critical_difference(n_resamples=500)
    >>> [text.get_text() for text in ax.texts]
    ['w', 'x', 'y', 'z']
    """
    look, roles = parted(options)
    if n is not None or kind is not None:
        asked = {
            "n": n, "kind": kind, "adjust": adjust, "n_resamples": n_resamples, "alpha": alpha,
            "progress": progress,
        }  # fmt: skip
        pairs = pairs_of_measures(data, asked, {}, roles)
        return draw_critical_difference(pairs, alpha=alpha, **look)
    table = paired_bootstrap(
        data, n_resamples=n_resamples, adjust=adjust, alpha=alpha, progress=progress, **roles
    )
    return draw_critical_difference(table, alpha=alpha, **look)
