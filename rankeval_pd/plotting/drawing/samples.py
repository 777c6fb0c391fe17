"""Precision over repeated samples beside what the model expects (Evert 2004, figure 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.plotting.drawing.canvas import (
    GREY,
    PRECISION_OF_SAMPLE,
    Keywords,
    finish,
    style,
    table_of,
)

if TYPE_CHECKING:
    import numpy.typing as npt


def draw_repetition(
    table: pd.DataFrame | xr.Dataset,
    samples: pd.DataFrame | xr.Dataset,
    *,
    ax: Any = None,
    line_kw: Keywords = None,
    band_kw: Keywords = None,
    marker_kw: Keywords = None,
) -> npt.NDArray[Any]:
    """Draw how precision is distributed over samples, one panel a measure."""
    table = table_of(
        table, ("measure", "threshold", "precision", "sd_expected", "sd_ratio"), "repetition"
    )
    needed = ("measure", "threshold", "n_accepted", "precision")
    samples = table_of(samples, needed, "repetition_samples", grouped=True)
    thresholds = samples.drop_duplicates(["measure", "threshold"]).set_index("measure")["threshold"]
    if not thresholds.reindex(table["measure"]).equals(table.set_index("measure")["threshold"]):
        raise ValueError(
            "samples are not those of table: their measures or thresholds differ. Give repetition"
            " and repetition_samples of the same data, with the same threshold or n."
        )
    panels = _panels(ax, len(table))
    for number, (panel, (_, row)) in enumerate(zip(panels, table.iterrows(), strict=True)):
        found = samples.loc[samples["measure"] == row["measure"], "precision"].dropna()
        _draw(panel, found.to_numpy(), row, number, line_kw, band_kw, marker_kw)
    return panels


def _panels(ax: Any, count: int) -> npt.NDArray[Any]:
    """Return the axes given, one a measure, or those of a new figure."""
    if ax is None:
        import matplotlib.pyplot as plt

        width = max(1, min(count, 2))
        rows = max(1, -(-count // width))
        figure, fresh = plt.subplots(
            rows, width, figsize=(3.6 * width + 0.4, 3.6 * rows), squeeze=False,
            layout="constrained",
        )  # fmt: skip
        for spare in fresh.ravel()[count:]:
            figure.delaxes(spare)
        return np.asarray(fresh.ravel()[:count])
    given = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if given.size != count:
        raise ValueError(
            f"ax has {given.size} Axes, and there are {count} measures. Give one for each."
        )
    return given


def _draw(
    panel: Any,
    found: npt.NDArray[Any],
    row: pd.Series[Any],
    number: int,
    line_kw: Keywords,
    band_kw: Keywords,
    marker_kw: Keywords,
) -> None:
    bars = max(5, round(2.0 * found.size ** (1.0 / 3.0)))
    look = {
        "color": style(number)["color"], "alpha": 0.45, "edgecolor": "white",
        "label": f"{found.size} samples",
    }  # fmt: skip
    _, edges, _ = panel.hist(found, bins=bars, **{**look, **(band_kw or {})})
    mean, sd = float(row["precision"]), float(row["sd_expected"])
    low, high = min(edges[0], mean - 3.5 * sd), max(edges[-1], mean + 3.5 * sd)
    across = np.linspace(max(low, 0.0), min(high, 1.0), 300)
    density = np.exp(-0.5 * ((across - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi))
    curve = {
        "color": "black", "linewidth": 1.2,
        "label": f"expected by the model, sd {100 * sd:.1f} points",
    }  # fmt: skip
    panel.plot(across, density * found.size * (edges[1] - edges[0]), **{**curve, **(line_kw or {})})
    line = {"color": GREY, "linewidth": 1, "linestyle": (0, (2, 2)), "label": "pooled precision"}
    panel.axvline(mean, **{**line, **(marker_kw or {})})
    panel.plot([], [], " ", label=f"sd found: {row['sd_ratio']:.2f} times as large")
    panel.set_title(str(row["measure"]), fontsize="medium")
    finish(panel, ylabel="samples", xlabel=PRECISION_OF_SAMPLE)
