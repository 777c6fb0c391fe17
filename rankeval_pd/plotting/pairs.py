"""Two measures and the n at which they differ significantly (Evert 2004, figure 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.plotting.canvas import (
    GREY,
    Keywords,
    axes,
    draw_curve,
    finish,
    style,
    table_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES = {"fisher": "Fisher's test", "midp": "Fisher's mid-p test"}


def comparison(
    table: pd.DataFrame | xr.Dataset,
    *,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw the precision of two measures, and mark the n at which the difference is significant.

    Parameters
    ----------
    table : DataFrame or Dataset
        Result of :func:`rankeval_pd.compare` for one pair of measures and one group, by n.
    ax : Axes, optional
        Where to draw; a new figure unless given. Give ``layout="constrained"`` to a figure of
        your own, so that it makes room for the legend below.
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the lines (``Axes.plot``), of the bars below the curves, which cover the
        significant n (``Axes.broken_barh``; where the n have gaps, squares, ``Axes.scatter``), and
        of the markers that points get where there are few.

    Returns
    -------
    Axes

    Notes
    -----
    A thin line stands at the last n of the first run of significant n, as in the paper's figure.
    Unless the p-values were adjusted, each n is tested alone.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": range(40, 0, -1), "t": range(40), "gold": [True] * 12 + [False] * 28}
    ... )
    >>> ax = rankeval_pd.plotting.comparison(df.rankeval.compare("G2", "t"))
    >>> ax.get_ylabel()
    'precision'
    """
    needed = ("measure_a", "measure_b", "n", "precision_a", "precision_b", "significant", "better")
    table = table_of(table, needed, "compare by n")
    pairs = table[["measure_a", "measure_b"]].drop_duplicates()
    if len(pairs) > 1:
        a, b = pairs.iloc[0]
        raise ValueError(
            f"table has {len(pairs)} pairs of measures, and a picture shows one. Compare two"
            f" measures, as by compare({a!r}, {b!r}), or choose the rows of one pair."
        )
    ax = axes(ax)
    table = table.sort_values("n")
    rule = _rule(table.attrs)
    marks = []
    for number, side in enumerate("ab"):
        name = str(table[f"measure_{side}"].iloc[0]) if len(table) else side
        draw_curve(
            ax, table, f"precision_{side}", number=number, name=name, line_kw=line_kw,
            marker_kw=marker_kw,
        )  # fmt: skip
        hits = (table["significant"] & (table["better"] == table[f"measure_{side}"])).to_numpy()
        if hits.any():
            # an outline, so that a run of a few n is seen
            look = {
                "color": style(number)["color"],
                "linewidth": 0.8,
                "label": f"{name} better, {rule}",
            }
            marks.append((hits, {**look, **(band_kw or {})}))
    if marks:  # below the curves, in room of their own
        low, high = ax.get_ylim()
        ax.set_ylim(low - 0.06 * len(marks) * (high - low), high)
    else:
        ax.plot([], [], " ", label=f"no n is significant, {rule}")
    n = table["n"].to_numpy()
    for number, (hits, look) in enumerate(marks):
        across = ax.get_xaxis_transform()
        if (np.diff(n) == 1).all() and n.size > 1:
            room = (0.015 + 0.05 * number, 0.03)
            ax.broken_barh(_stretches(n, hits), room, transform=across, **look)
        else:  # between the n there are others, which were not tested
            heights = np.full(np.count_nonzero(hits), 0.03 + 0.05 * number)
            ax.scatter(n[hits], heights, marker="s", s=16, transform=across, **look)
    _mark_end(ax, table)
    return finish(ax, ylabel="precision")


def _rule(attrs: dict[Any, Any]) -> str:
    test = _NAMES.get(str(attrs.get("test")), "significant")
    alpha, adjust = attrs.get("alpha"), attrs.get("adjust")
    level = f", p\u00a0≤\u00a0{alpha:g}" if alpha else ""
    return f"{test}{level}, " + (f"adjusted ({adjust})" if adjust else "each n alone")


def _stretches(n: np.ndarray[Any, Any], hits: np.ndarray[Any, Any]) -> list[tuple[float, float]]:
    """Return start and width of the runs of hits, half a candidate to either side."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], hits, [False]]).astype(int)))
    return [(n[start] - 0.5, float(stop - start)) for start, stop in edges.reshape(-1, 2)]


def _mark_end(ax: Axes, table: pd.DataFrame) -> None:
    """Draw a line at the last n of the first run, unless it lasts to the end."""
    hits = table["significant"].to_numpy(dtype=bool)
    if not hits.any():
        return
    first = int(hits.argmax())
    length = int((~hits[first:]).argmax())
    if length == 0:
        return
    last = table["n"].iloc[first + length - 1]
    ax.axvline(last, color=GREY, linewidth=0.8, label=f"last n of the first run, {last}")
