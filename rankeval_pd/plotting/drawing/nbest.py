"""Precision curves with their intervals and bands (Evert 2004, figures 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
    sparse,
    style,
    table_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = {
    "clopper-pearson": "Clopper-Pearson", "wilson": "Wilson", "jeffreys": "Jeffreys",
    "midp": "mid-p", "blaker": "Blaker",
}  # fmt: skip
REFERENCES = ("random", "ideal")


def draw_precision(
    table: pd.DataFrame | xr.Dataset,
    band: pd.DataFrame | xr.Dataset | None = None,
    *,
    x: str = "n",
    mark: Sequence[int] = (),
    relevant: float = 0.0,
    reference: str | Sequence[str] = ("random",),
    ax: Axes | None = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> Axes:
    """Draw the precision of n-best lists, its intervals and bands, and the baseline."""
    needed = ("measure", "n", "precision", "recall", "lift", "ci_low", "ci_high")
    table = table_of(table, needed, "nbest_precision")
    references = [reference] if isinstance(reference, str) else list(reference or ())
    check_options(x, references, REFERENCES)
    relevant, mark = check_relevant(relevant), check_marks(mark, table["n"])
    if band is not None:
        band = table_of(band, ("measure", "n", "band_low", "band_high"), "precision_band")
        _check_same_lists(table, band)
    ax = axes(ax)
    for number, measure in enumerate(table["measure"].drop_duplicates()):
        rows = table[table["measure"] == measure]
        rows = rows.assign(x=positions(rows, x))
        curve = draw_curve(
            ax, rows, "precision", number=number, name=str(measure), line_kw=line_kw,
            marker_kw=marker_kw,
        )  # fmt: skip
        look = {"color": style(number)["color"], **(band_kw or {})}
        _draw_band(ax, curve, ("ci_low", "ci_high"), look, simultaneous=False)
        if band is not None:
            wide = band[band["measure"] == measure].merge(rows[["n", "x"]], on="n").sort_values("n")
            _draw_band(ax, wide, ("band_low", "band_high"), look, simultaneous=True)
        draw_marks(ax, rows, "precision", mark, x, first=number == 0)
    if "random" in references:
        draw_baseline(ax, table)
    if relevant:
        _draw_relevant(ax, table, relevant)
    if "ideal" in references:
        draw_ideal(ax, table, x)
    if len(table):
        _name_bands(ax, table, band)
    return finish(ax, ylabel="precision", xlabel=XLABELS[x])


def _check_same_lists(table: pd.DataFrame, band: pd.DataFrame) -> None:
    """Raise a ValueError where the band is not one of the lists of the table."""
    pairs = table[["measure", "n"]].drop_duplicates()
    common = pairs.merge(band[["measure", "n"]].drop_duplicates())
    if len(band) > len(common) or set(common["measure"]) != set(pairs["measure"]):
        raise ValueError(
            "band has other measures or other n than table. Give the precision_band of the same"
            " data, measures and n."
        )


def _draw_band(
    ax: Axes, rows: pd.DataFrame, limits: tuple[str, str], look: Keywords, *, simultaneous: bool
) -> None:
    low, high = limits
    interval = rows["x"], rows[low], rows[high]
    look = dict(look or {})
    if sparse(len(rows)):
        width = {"linewidth": 1.2, "alpha": 0.5} if simultaneous else {"linewidth": 4, "alpha": 0.6}
        ax.vlines(*interval, **{**width, **look})
    else:
        alpha = 0.1 if simultaneous else 0.22
        ax.fill_between(*interval, **{"alpha": alpha, "linewidth": 0, **look})


def _name_bands(ax: Axes, table: pd.DataFrame, band: pd.DataFrame | None) -> None:
    names = [(_interval_name(table), 0.35, 4.0)]
    if band is not None and len(band):
        names.append((_band_name(table, band), 0.14, 1.2))
    for name, alpha, width in names:
        if sparse(table["n"].nunique()):  # as the bars are drawn
            ax.plot([], [], color=GREY, alpha=0.6, linewidth=width, label=name)
        else:
            ax.fill_between([], [], color=GREY, alpha=alpha, linewidth=0, label=name)


def _interval_name(table: pd.DataFrame) -> str:
    attrs = table.attrs
    ci, level = attrs.get("ci"), attrs.get("level")
    kind = f"{percent(level)} {_KINDS.get(ci, ci)} interval" if ci and level else "interval"
    phi = f", phi\u00a0=\u00a0{attrs['phi']:.3g}" if attrs.get("phi", 1.0) != 1.0 else ""
    target = ", of the n-best list" if attrs.get("target") == "nbest" else ""
    return f"{kind}{phi}{target}, pointwise"


def _band_name(table: pd.DataFrame, band: pd.DataFrame) -> str:
    level = band.attrs.get("level")
    short = " (too narrow above 90\u00a0%)" if (table["precision"] > 0.9).any() else ""
    return f"{percent(level) + ' ' if level else ''}sup-t band, all n together{short}"


def _sizes(table: pd.DataFrame) -> tuple[float, float]:
    """Return how many candidates and true positives there are; NaN where no row tells."""
    told = table[(table["precision"] > 0) & (table["recall"] > 0)]
    if told.empty:
        return np.nan, np.nan
    row = told.iloc[0]
    positive = row["n"] * row["precision"] / row["recall"]
    return float(positive * row["lift"] / row["precision"]), float(positive)


def draw_ideal(ax: Axes, table: pd.DataFrame, x: str) -> None:
    """Draw the precision of an order with all true positives first."""
    total, positive = _sizes(table)
    n = np.unique(table["n"].to_numpy())
    found = np.minimum(n, positive)
    across = {"n": n, "share": n / total, "recall": found / positive}[x]
    ax.plot(across, found / n, color=GREY, linewidth=1, linestyle=(0, (6, 2)), label="ideal order")


def _draw_relevant(ax: Axes, table: pd.DataFrame, relevant: float) -> None:
    """Draw a line at the least gain over the baseline that is relevant."""
    shares = (table["precision"] / table["lift"]).dropna()
    if len(shares):
        name = f"relevant: baseline + {100 * relevant:.3g} points"
        ax.axhline(
            float(shares.iloc[0]) + relevant, color=GREY, linewidth=1, linestyle=(0, (1, 1)),
            label=name,
        )  # fmt: skip


def draw_baseline(ax: Axes, table: pd.DataFrame) -> None:
    """Draw the precision of a random choice, N+/N, which is precision over lift."""
    shares = (table["precision"] / table["lift"]).round(12).dropna()
    for number, share in enumerate(shares.drop_duplicates()):
        name = f"baseline, {100 * share:.2f} %" if number == 0 else None
        ax.axhline(share, color=GREY, linewidth=1, linestyle=(0, (2, 2)), label=name)
