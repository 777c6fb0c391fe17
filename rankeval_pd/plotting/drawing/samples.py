"""Precision over repeated samples beside what the model expects (Evert 2004, figure 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rankeval_pd.plotting.drawing.canvas import GREY, Canvas, table_of
from rankeval_pd.plotting.drawing.legends import place_legend
from rankeval_pd.plotting.drawing.panels import MOST, end, given_panels, looks, new_panels, one_of
from rankeval_pd.plotting.drawing.scales import in_percent, set_ticks, write_above

if TYPE_CHECKING:
    import numpy.typing as npt


def draw_repetition(table: Any, samples: Any, **options: Any) -> npt.NDArray[Any]:
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
    ax, wrap, look = looks(options)
    look.check_names(table["measure"].tolist())
    panels = _panels(ax, len(table), wrap)
    high = 0.0
    for panel, (_, row) in zip(panels, table.iterrows(), strict=True):
        result = samples.loc[samples["measure"] == row["measure"], "precision"].dropna()
        high = max(high, _draw(Canvas(panel, look, alone=False), result.to_numpy(), row))
    _share(panels, high)
    if len(panels) > 1:
        end(panels, look, ours=ax is None)
    elif len(panels):
        place_legend(panels[0], look.legend)
        if look.title is not None:
            panels[0].set_title(look.title)
    return panels


def _panels(ax: Any, count: int, wrap: int | None) -> npt.NDArray[Any]:
    """Return the axes given, one a measure, or those of a new figure."""
    if count > MOST:
        raise ValueError(
            f"there are {count} measures, and a picture has {MOST} panels at the most. Choose some:"
            " data.rankeval(measures=[...])."
        )
    if ax is not None:
        return given_panels(ax, count, "measures")
    return np.array([one_of(None)], dtype=object)[:count] if count < 2 else new_panels(count, wrap)


def _share(panels: npt.NDArray[Any], high: float) -> None:
    """Give all panels the limits that show what is in any of them."""
    ends = np.array([panel.get_xlim() for panel in panels]).reshape(-1, 2)
    for panel in panels:
        panel.set_xlim(ends[:, 0].min(), ends[:, 1].max())
        least = 0.5 if panel.get_yscale() == "log" else 0.0  # half a sample has no bar
        panel.set_ylim(least, 1.05 * high or 1.0)


def _draw(canvas: Canvas, found: npt.NDArray[Any], row: pd.Series[Any]) -> float:
    """Draw the samples of one measure and the normal distribution that the model expects.

    Return how high they are.
    """
    panel, look, measure = canvas.ax, canvas.look, row["measure"]
    bars = max(5, round(2.0 * found.size ** (1.0 / 3.0)))
    bar = {"alpha": 0.45, "edgecolor": "white", "label": f"{found.size} samples"}
    filled = look.band(measure, color=canvas.colour(measure), **bar)
    counts, edges, _ = panel.hist(found, bins=bars, **filled)
    mean, sd = float(row["precision"]), float(row["sd_expected"])
    low, high = min(edges[0], mean - 3.5 * sd), max(edges[-1], mean + 3.5 * sd)
    across = np.linspace(max(low, 0.0), min(high, 1.0), 300)
    with np.errstate(divide="ignore", invalid="ignore"):  # no spread, no curve
        density = np.exp(-0.5 * ((across - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi))
    curve = {"color": "black", "linewidth": 1.2, "label": "expected by the model"}
    height = density * found.size * (edges[1] - edges[0])
    panel.plot(across, height, **look.rule(measure, **curve))
    line = {"color": GREY, "linewidth": 1, "linestyle": (0, (2, 2)), "label": "pooled precision"}
    panel.axvline(mean, **look.mark(measure, **line))
    set_ticks(panel.xaxis, in_percent, 5.0)
    said = f"sd {row['sd_ratio']:.2f} × the model's {100 * sd:.2g} points"
    canvas.finish(ylabel="samples", xlabel="precision of the sample")
    font = min(float(panel.xaxis.label.get_fontsize()), 9.0)
    # the name is the title, as in every panel, and what was found stands below it
    panel.set_title(canvas.text(measure), fontsize=font + 0.5)
    write_above(panel, said, fontsize=0.75 * font, color=GREY)
    return float(max(np.max(counts, initial=0.0), height.max(initial=0.0)))
