"""Two measures and the n at which they differ significantly (Evert 2004, figure 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.plotting.drawing.canvas import (
    GREY,
    XLABELS,
    Keywords,
    axes,
    check_marks,
    check_options,
    check_relevant,
    draw_curve,
    draw_marks,
    finish,
    percent,
    positions,
    style,
    table_of,
)
from rankeval_pd.plotting.drawing.nbest import REFERENCES, draw_baseline, draw_ideal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES = {
    "fisher": "Fisher's test", "midp": "Fisher's mid-p test", "mcnemar": "McNemar's test",
    "boschloo": "Boschloo's test", "barnard": "Barnard's test",
}  # fmt: skip


def draw_comparison(
    table: pd.DataFrame | xr.Dataset,
    together: pd.DataFrame | xr.Dataset | None = None,
    curves: pd.DataFrame | xr.Dataset | None = None,
    *,
    x: str = "n",
    mark: Sequence[int] = (),
    relevant: float = 0.0,
    reference: str | Sequence[str] = (),
    overlap: bool = False,
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw the precision of two measures, and mark the n at which the difference is significant."""
    needed = (
        "measure_a", "measure_b", "n", "precision_a", "precision_b", "difference", "p_value",
        "significant", "better", "overlap",
    )  # fmt: skip
    table = table_of(table, needed, "compare by n")
    references = [reference] if isinstance(reference, str) else list(reference or ())
    check_options(x, references, REFERENCES)
    relevant, mark = check_relevant(relevant), check_marks(mark, table["n"])
    _check_one_pair(table)
    if curves is not None:
        curves = table_of(
            curves, ("measure", "n", "precision", "recall", "lift"), "nbest_precision"
        )
    elif x != "n" or references:
        raise ValueError(
            f"x={x!r}, reference={references!r}: the table of a comparison does not say how many"
            " candidates there are. Give curves=data.rankeval.nbest_precision(n, measures=...)."
        )
    ax = axes(ax)
    table = table.sort_values("n")
    for number, side in enumerate("ab"):
        name = str(table[f"measure_{side}"].iloc[0]) if len(table) else side
        column = f"precision_{side}"
        rows = table.assign(x=_across(table, curves, side, x))
        draw_curve(ax, rows, column, number=number, name=name, line_kw=line_kw, marker_kw=marker_kw)
        draw_marks(ax, rows, column, mark, x, first=number == 0)
    if curves is not None and "random" in references:
        draw_baseline(ax, curves)
    if curves is not None and "ideal" in references:
        draw_ideal(ax, curves, x)
    findings = _findings(table, together, relevant)
    places = {side: _across(table, curves, side, x).to_numpy() for side in "ab"}
    _draw_significance(ax, table, findings, places, band_kw, at="recall" if x == "recall" else "n")
    if x == "n":
        _mark_end(ax, table, relevant)
    if overlap:
        _draw_overlap(ax, table, _across(table, curves, "a", x))
    return finish(ax, ylabel="precision", xlabel=XLABELS[x])


def _check_one_pair(table: pd.DataFrame) -> None:
    pairs = table[["measure_a", "measure_b"]].drop_duplicates()
    if len(pairs) > 1:
        a, b = pairs.iloc[0]
        raise ValueError(
            f"table has {len(pairs)} pairs of measures, and a picture shows one. Compare two"
            f" measures, as by compare({a!r}, {b!r}), or choose the rows of one pair."
        )


def _across(table: pd.DataFrame, curves: pd.DataFrame | None, side: str, x: str) -> pd.Series[Any]:
    """Return where the lists of one measure stand on the axis to the right."""
    if curves is None or x == "n":
        return table["n"]
    curve = curves[curves["measure"] == table[f"measure_{side}"].iloc[0]].set_index("n")
    placed = positions(curve.reset_index(), x).to_numpy()
    return table["n"].map(dict(zip(curve.index, placed, strict=True)))


class _Finding:
    """What is significant: a mask of n for each side, and the words for it."""

    def __init__(self, hits: pd.Series[bool], words: str, *, together: bool) -> None:
        self.hits, self.words, self.together = hits.to_numpy(dtype=bool), words, together


def _findings(
    table: pd.DataFrame, together: pd.DataFrame | xr.Dataset | None, relevant: float
) -> list[_Finding]:
    """Return what holds at each n alone, and what holds for all n together."""
    alpha, adjust = table.attrs.get("alpha"), table.attrs.get("adjust")
    large = table["difference"].abs() >= relevant
    extent = f", {100 * relevant:.3g} points or more" if relevant else ""
    alone = table["p_value"] <= alpha if alpha and adjust else table["significant"]
    words = f"{_test(table)}, each n alone{extent}"
    found = [_Finding(alone & large, words, together=False)]
    if adjust:
        together = table
    if together is not None:
        n, words = _adjusted(together)
        hits = table["n"].isin(n) & large
        found.append(_Finding(hits, f"{words}, all n together{extent}", together=True))
    return found


def _test(table: pd.DataFrame) -> str:
    alpha = table.attrs.get("alpha")
    name = _NAMES.get(str(table.attrs.get("test")), "significant")
    return f"{name}, p\u00a0≤\u00a0{alpha:g}" if alpha else name


def _adjusted(together: pd.DataFrame | xr.Dataset) -> tuple[pd.Series[Any], str]:
    """Return the n at which the difference is significant together with all others, and why."""
    if "band_low" in together:
        band = table_of(together, ("n", "band_low", "band_high"), "difference_band")
        level = f"{percent(band.attrs['level'])} " if "level" in band.attrs else ""
        outside = band[(band["band_low"] > 0) | (band["band_high"] < 0)]
        return outside["n"], f"{level}sup-t band without 0"
    table = table_of(together, ("n", "significant"), "compare with adjust=...")
    adjust = table.attrs.get("adjust")
    words = f"{_test(table)}, adjusted ({adjust})"
    if adjust == "max-t":
        words = f"max-t, p\u00a0≤\u00a0{table.attrs['alpha']:g}"
    return table.loc[table["significant"], "n"], words


def _draw_significance(
    ax: Axes,
    table: pd.DataFrame,
    findings: list[_Finding],
    places: dict[str, np.ndarray[Any, Any]],
    band_kw: Keywords,
    *,
    at: str,
) -> None:
    """Draw bars below the curves, a row for each measure that is better somewhere."""
    sides = [side for side in "ab" if _better(table, side, findings[0]).any()]
    where = " (at its recall)" if at == "recall" else ""
    for finding in findings:
        if not finding.hits.any():
            ax.plot([], [], " ", label=f"no n: {finding.words}")
    low, high = ax.get_ylim()
    ax.set_ylim(low - 0.06 * len(sides) * (high - low), high)
    dense = bool((np.diff(table["n"]) == 1).all()) and len(table) > 1
    for row, side in enumerate(sides):
        number = "ab".index(side)
        name = str(table[f"measure_{side}"].iloc[0])
        for finding in findings:
            hits = _better(table, side, finding)
            if not hits.any():
                continue
            look = {
                "color": style(number)["color"],
                "label": f"{name} better, {finding.words}{where}", **(band_kw or {}),
            }  # fmt: skip
            _draw_hits(ax, places[side], hits, look, row, dense, finding.together)


def _better(table: pd.DataFrame, side: str, finding: _Finding) -> np.ndarray[Any, Any]:
    return finding.hits & (table["better"] == table[f"measure_{side}"]).to_numpy()


def _draw_hits(
    ax: Axes,
    across: np.ndarray[Any, Any],
    hits: np.ndarray[Any, Any],
    look: dict[str, Any],
    row: int,
    dense: bool,
    together: bool,
) -> None:
    middle = 0.03 + 0.05 * row
    if dense:  # with an outline, so that a run of a few n is seen
        height = 0.032 if together else 0.008
        where = (middle - height / 2, height)
        name = look.pop("label")
        look = {"linewidth": 0.8, **look}
        ax.broken_barh(_stretches(across, hits), where, transform=ax.get_xaxis_transform(), **look)
        size = 8 if together else 3
        ax.plot([], [], "s", color=look["color"], markersize=size, label=name)
    else:  # between the n there are others, which were not tested
        size = 22 if together else 7
        heights = np.full(np.count_nonzero(hits), middle)
        ax.scatter(
            across[hits], heights, marker="s", s=size, transform=ax.get_xaxis_transform(), **look
        )


def _stretches(
    across: np.ndarray[Any, Any], hits: np.ndarray[Any, Any]
) -> list[tuple[float, float]]:
    """Return start and width of the runs of hits, half a candidate to either side."""
    half = 0.5 * float(across[-1] - across[0]) / (len(across) - 1)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], hits, [False]]).astype(int)))
    return [
        (across[start] - half, float(across[stop - 1] - across[start]) + 2 * half)
        for start, stop in edges.reshape(-1, 2)
    ]


def _mark_end(ax: Axes, table: pd.DataFrame, relevant: float) -> None:
    """Draw a line at the last n of the first run, unless it lasts to the end."""
    finding = _findings(table, None, relevant)[0]
    if not finding.hits.any():
        return
    first = int(finding.hits.argmax())
    length = int((~finding.hits[first:]).argmax())
    if length == 0:
        return
    last = table["n"].iloc[first + length - 1]
    ax.axvline(last, color=GREY, linewidth=0.8, label=f"last n of the first run, {last}")


def _draw_overlap(ax: Axes, table: pd.DataFrame, across: pd.Series[Any]) -> None:
    """Draw the share of the candidates that both lists have, on a scale of its own."""
    from matplotlib.ticker import PercentFormatter

    right = ax.twinx()
    right.plot(across, table["overlap"] / table["n"], color="0.55", linewidth=1, linestyle="-.")
    right.set_ylim(0.0, 1.0)
    right.set_ylabel("overlap of the two lists", color="0.4")
    right.yaxis.set_major_formatter(PercentFormatter(1.0))
    right.spines[["top", "left"]].set_visible(False)
    ax.plot([], [], color="0.55", linewidth=1, linestyle="-.", label="overlap (scale on the right)")
