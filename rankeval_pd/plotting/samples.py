"""Plots of single values: per-item gains, and precision over repeated samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rankeval_pd.plotting.canvas import LINE, Canvas, interval_kind, tell
from rankeval_pd.plotting.forests import gain_of
from rankeval_pd.plotting.ink import Ink, mix
from rankeval_pd.plotting.numbers import (
    compact,
    digits_for,
    font,
    in_percent,
    interval,
    number,
    panel_size,
    plainly,
    set_ticks,
    shortened,
    small,
)
from rankeval_pd.plotting.panels import MOST, given_panels, looks, one_of, picture
from rankeval_pd.plotting.tables import table_of

# ------------------------------------------------------ Per-item gains of one system over another

DIFFERENCES = ("item", "gain", "system_a", "system_b")
_BARS = 400  # more bars than this are drawn as an area, which looks the same
_NAMED = 3  # number of items named on each side


@picture(DIFFERENCES, "plot.paired_differences")
def draw_paired_differences(
    canvas: Canvas, table: pd.DataFrame, whole: pd.DataFrame | None = None
) -> None:
    """Draw the sorted gains of one system over another on each item, and the mean gain."""
    ax, look, ink = canvas.ax, canvas.look, canvas.ink
    found = table.dropna(subset=["gain"]).sort_values("gain", ascending=False, kind="stable")
    gains = found["gain"].to_numpy(dtype=float)
    a, b = (table[f"system_{side}"].iloc[0] for side in "ab")
    x = np.arange(1, gains.size + 1)
    for name, better in ((a, gains > 0), (b, gains < 0)):
        bar = {"color": canvas.color(name), "linewidth": 0, "label": f"{canvas.text(name)} better"}
        if gains.size <= _BARS:
            ax.bar(x[better], gains[better], width=0.9, **look.band(name, **bar))
        else:
            heights = np.where(better, gains, 0.0)
            ax.fill_between(x, 0.0, heights, step="mid", **look.band(name, **bar))
    height = float(np.abs(gains).max(initial=0.0)) or 1.0
    ax.axhline(0.0, color=ink.reference, linewidth=0.8, zorder=1, label="_no difference")
    most = gains.size * 1.06
    if whole is not None and len(whole):
        _draw_mean(canvas, whole, gains.size, height)
    canvas.limits("x", 0.0, max(most, 1.5))
    canvas.limits("y", -1.08 * height, 1.08 * height)
    unit = str(table.attrs.get("unit", "items"))
    numbered = pd.api.types.is_integer_dtype(found["item"]) and unit != "queries"
    if not numbered and not small(ax):
        _name_items(canvas, found["item"].astype(str).to_list(), gains, height)
    for name, count, up in ((a, (gains > 0).sum(), True), (b, (gains < 0).sum(), False)):
        short = shortened(canvas.text(name), font(ax, "name"), 0.4 * panel_size(ax)[0])
        ax.text(
            0.94 if up else 0.03, 0.97 if up else 0.03, f"{short} better: {count:,}",
            ha="right" if up else "left", va="top" if up else "bottom", transform=ax.transAxes,
            fontsize=font(ax, "name"), color=ink.text(canvas.color(name)),
            bbox={"facecolor": ink.bg, "edgecolor": "none", "alpha": 0.85, "pad": 1.0},
        )  # fmt: skip
    equal = np.count_nonzero(gains == 0)
    set_ticks(ax.xaxis, compact, 5.0)
    set_ticks(ax.yaxis, plainly, 5.0)
    same = f" ({equal:,} equal)" if equal else ""
    canvas.frame(xlabel=f"{unit}, sorted by gain{same}", ylabel=gain_of(table.attrs))
    ax.spines["bottom"].set_visible(False)


def _draw_mean(canvas: Canvas, whole: pd.DataFrame, count: int, height: float) -> None:
    """Draw the overall gain with its interval on the right."""
    ax, ink, row = canvas.ax, canvas.ink, whole.iloc[0]
    low, high, gain = (float(row[c]) for c in ("ci_low", "ci_high", "gain"))
    at = count * 1.035
    limits = np.clip([low, high], -1.08 * height, 1.08 * height)
    if np.isfinite(low + high):
        ax.vlines(at, *limits, color=ink.fg, linewidth=1.4, clip_on=False, label="_interval")
    dot = {"color": ink.fg, "marker": "o", "markersize": 5, "linestyle": "none", "label": "_gain"}
    ax.plot([at], [gain], clip_on=False, **canvas.look.line(None, **dot))
    digits = digits_for(high - low) if np.isfinite(high - low) else 3
    said = f"gain {number(gain, digits)}"
    if np.isfinite(low) or np.isfinite(high):
        said += f"\n({interval(low, high, digits)})"
    inside = small(ax)  # above the bars of losses if there is room
    ax.annotate(
        said, (at, max(gain, 0.0) if inside else gain), xytext=(-8 if inside else 6, 3 * inside),
        textcoords="offset points", va="bottom" if inside else "center",
        ha="right" if inside else "left",
        fontsize=font(ax, "note"), color=Ink.of(ax, outside=True).fg, annotation_clip=True,
    )  # fmt: skip
    kind = interval_kind(whole.attrs, "separately for each pair")
    canvas.tell(f"Dot and line on the right: the gain over all items with {kind}.")


def _name_items(canvas: Canvas, names: list[str], gains: Any, height: float) -> None:
    """Label items with large gains and losses, and draw leader lines to their bars."""
    ax, size, count = canvas.ax, font(canvas.ax, "note"), len(names)
    room = 0.3 * panel_size(ax)[0]
    for k in range(min(_NAMED, count // 4)):
        for place, sign in ((k, 1), (count - 1 - k, -1)):
            if np.sign(gains[place]) != sign:
                continue
            y = height * (1.0 - 0.13 * k)
            above = int(np.count_nonzero(sign * gains > y - 0.08 * height))
            beside = max(0.075 * count, above)
            at = (1 + beside if sign > 0 else count - beside, sign * y)
            line = {"arrowstyle": "-", "lw": 0.5, "color": canvas.ink.reference,
                    "shrinkA": 1, "shrinkB": 0}  # fmt: skip
            ax.annotate(
                shortened(names[place], size, room), (place + 1, gains[place]), xytext=at,
                fontsize=size, color=canvas.ink.fg, va="center",
                ha="left" if sign > 0 else "right", arrowprops=line,
            )  # fmt: skip


# ------------ Precision over repeated samples and the binomial model (Evert 2004, figure 4)


def draw_repetition(table: Any, samples: Any, **options: Any) -> npt.NDArray[Any]:
    """Draw the distribution of precision over samples, in one stacked panel per measure."""
    table = table_of(
        table, ("measure", "threshold", "precision", "sd_expected", "sd_observed"), "repetition"
    )
    needed = ("measure", "threshold", "n_accepted", "precision")
    samples = table_of(samples, needed, "repetition_samples", grouped=True)
    thresholds = samples.drop_duplicates(["measure", "threshold"]).set_index("measure")["threshold"]
    if not thresholds.reindex(table["measure"]).equals(table.set_index("measure")["threshold"]):
        raise ValueError(
            "samples and table differ in their measures or thresholds. Pass repetition and"
            " repetition_samples for the same data, with the same threshold or n."
        )
    ax, wrap, look = looks(options)
    look.check_names(table["measure"].tolist())
    panels = _panels(ax, len(table), wrap)
    found = samples["precision"].dropna()
    edges = _edges(found)
    high = 0.0
    for panel, (_, row) in zip(panels, table.iterrows(), strict=True):
        mine = samples.loc[samples["measure"] == row["measure"], "precision"].dropna()
        canvas = Canvas(panel, look, alone=False)
        high = max(high, _draw(canvas, mine.to_numpy(dtype=float), row, edges))
    for panel in panels:
        share = min(0.5, 4.2 * font(panel, "note") / (0.62 * panel_size(panel)[1]))
        top = high / (1.0 - share * _tall(panel))  # the lines of text are above the histogram
        panel.set_ylim(0.5 if panel.get_yscale() == "log" else 0.0, 1.05 * top or 1.0)
        if panel.get_xscale() == "linear":
            panel.set_xlim(edges[0], edges[-1])
        set_ticks(panel.xaxis, in_percent, 5.0)
        set_ticks(panel.yaxis, compact, 3.0)
        last = ax is not None or panel.get_subplotspec().is_last_row()
        panel.set_xlabel("precision of the sample" if last else "", fontsize=font(panel, "label"))
    if len(panels):
        tell(
            panels[0],
            "Columns: samples. Colored curve: normal distribution with the standard deviation of"
            " the samples. Gray curve: normal distribution with the standard deviation of the"
            " binomial model.",
        )
        if look.title is not None:
            panels[0].figure.suptitle(look.title, fontsize=font(panels[0], "label") + 1.0)
    return panels


def _tall(panel: Any) -> bool:
    """Return whether a panel has room for three lines of text."""
    width, height = panel_size(panel)
    return width > 200 and height > 110


def _edges(found: pd.Series[Any]) -> Any:
    """Return the bin edges, which are the same in all panels."""
    if found.empty:
        return np.array([0.0, 1.0])
    low, high = float(found.min()), float(found.max())
    room = max(high - low, 0.01)
    wide = room / max(8, min(40, round(2.5 * len(found) ** (1.0 / 3.0))))
    start = low - 2.5 * wide
    count = int(np.ceil((high + 2.5 * wide - start) / wide))
    return start + wide * np.arange(count + 1)


def _panels(ax: Any, count: int, wrap: int | None) -> npt.NDArray[Any]:
    """Return the given Axes, one per measure, or the stacked Axes of a new figure."""
    import matplotlib.pyplot as plt

    if count > MOST:
        raise ValueError(
            f"there are {count} measures, but a figure has at most {MOST} panels. Choose some: "
            "data.rankeval(measures=[...])."
        )
    if ax is not None:
        return given_panels(ax, count, "measures")
    if count < 2:
        return np.array([one_of(None)], dtype=object)[:count]
    wide = int(wrap) if wrap else 1 if count <= 6 else 2
    rows = -(-count // wide)
    figure, fresh = plt.subplots(
        rows, wide, figsize=(6.4 if wide < 3 else 3.1 * wide, 1.7 * rows + 0.4), squeeze=False,
        sharex=True, sharey=True, layout="constrained",
    )  # fmt: skip
    for spare in fresh.ravel()[count:]:
        figure.delaxes(spare)
    return np.asarray(fresh.ravel()[:count])


def _draw(canvas: Canvas, found: npt.NDArray[Any], row: pd.Series[Any], edges: Any) -> float:
    """Draw one measure's samples with two normal curves; return the largest height."""
    panel, look, measure, ink = canvas.ax, canvas.look, row["measure"], canvas.ink
    color = canvas.color(measure)
    bars = {"color": mix(color, ink.bg, 0.38), "edgecolor": ink.bg, "linewidth": 0.8}
    counts, _, _ = panel.hist(found, bins=edges, **look.band(measure, **bars, label="samples"))
    across = np.linspace(edges[0], edges[-1], 400)
    wide, high = edges[1] - edges[0], float(np.max(counts, initial=0.0))
    for sd, shade, name in (
        (float(row["sd_expected"]), ink.line(ink.gray(0.7)), "expected by the model"),
        (float(row["sd_observed"]), color, "observed"),
    ):
        with np.errstate(divide="ignore", invalid="ignore"):  # no curve without variation
            z = (across - float(row["precision"])) / sd
            height = found.size * wide * np.exp(-0.5 * z**2) / (sd * np.sqrt(2.0 * np.pi))
        line: dict[str, Any] = {
            "color": shade,
            "linewidth": LINE if name == "observed" else 1.1,
            "label": name,
        }
        panel.plot(across, height, **look.line(measure, **line, zorder=3))
        high = max(high, float(np.nanmax(height, initial=0.0)))
    canvas.frame(ylabel="samples")
    phi = interval(row["phi_low"], row["phi_high"], 1) if "phi_low" in row else ""
    own = ink.text(color)
    lines = [
        (f"{found.size:,} samples vary by {100 * row['sd_observed']:.1f} points (sd)", own),
        (f"the model expects {100 * row['sd_expected']:.1f} points", ink.note),
        (f"variance {row['phi']:.1f} times the model's" + (f" ({phi})" if phi else ""), ink.fg),
    ]  # fmt: skip
    size = font(panel, "note")
    name = shortened(canvas.text(measure), font(panel, "name"), 0.6 * panel_size(panel)[0])
    panel.set_title(name, fontsize=font(panel, "name"), loc="left",
                    color=Ink.of(panel, outside=True).text(color))  # fmt: skip
    tall = _tall(panel)
    for k, (text, shade) in enumerate(lines if tall else lines[2:]):
        panel.annotate(
            text, (1, 1), xycoords="axes fraction", xytext=(0, -2 - 1.35 * size * k if tall else 2),
            textcoords="offset points", ha="right", va="top" if tall else "bottom", fontsize=size,
            color=shade,
        )  # fmt: skip
    return high
