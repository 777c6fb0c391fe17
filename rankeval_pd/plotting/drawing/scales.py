"""Axes: ticks that do not overlap, numbers that can be read, scales that suit rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankeval_pd.plotting.drawing.legends import panel_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.ticker import MaxNLocator

    from rankeval_pd.stats._types import FloatArray

LARGE = 20_000  # above so many candidates, n is drawn on a logarithmic axis unless asked
_SMALL = (270.0, 200.0)  # points of a panel, below which the letters are smaller
_FONTS = (8.0, 7.0)  # labels and ticks in small panels


def small(ax: Axes) -> bool:
    """Return whether the panel is too small for letters of the usual size."""
    width, height = panel_size(ax)
    return width < _SMALL[0] or height < _SMALL[1]


def fit_letters(ax: Axes) -> None:
    """Make the letters smaller in a small panel, never larger."""
    if not small(ax):
        return
    for label in (ax.xaxis.label, ax.yaxis.label, ax.title):
        label.set_fontsize(min(label.get_fontsize(), _FONTS[0]))
    for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        size = min(_font(axis), _FONTS[1])
        ax.tick_params(axis=name, labelsize=size)  # type: ignore[arg-type]


def write_on_top(ax: Axes, places: Sequence[float], texts: Sequence[str], **letters: Any) -> None:
    """Write texts above a panel, at these places along it."""
    top = _top(ax)
    top.set_xticks(places, texts)
    top.tick_params(pad=1.5, **letters)


def write_above(ax: Axes, text: str, **letters: Any) -> None:
    """Write a text above the middle of a panel."""
    _top(ax).set_xlabel(text, labelpad=1.0, **letters)


def _top(ax: Axes) -> Any:
    """Return an empty axis above a panel: a title, also one that comes later, makes room for it."""
    top: Any = ax.secondary_xaxis("top")
    top.set_xticks([])
    top.set_xticks([], minor=True)
    top.tick_params(length=0)
    top.spines["top"].set_visible(False)
    return top


def _font(axis: Axis) -> float:
    """Return the size of the letters of the ticks."""
    ticks = axis.get_major_ticks(1)
    return float(ticks[0].label1.get_fontsize()) if ticks else 10.0


def length(axis: Axis) -> float:
    """Return about how long the axis will be, in points."""
    width, height = panel_size(axis.axes)
    return 0.68 * width if axis.axis_name == "x" else 0.48 * height  # type: ignore[attr-defined]


def _needed(axis: Axis, characters: float) -> float:
    """Return the room that a tick's label needs, in points."""
    font = _font(axis)
    return (0.62 * characters + 0.9) * font if axis.axis_name == "x" else 1.5 * font  # type: ignore[attr-defined]


def compact(value: float, _: object = None) -> str:
    """Return a count as text: 5,000, 20k, 1M; nothing where it is no count."""
    if value < 0 or (abs(value - round(value)) > 1e-6 and value < 1e3):
        return ""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= max(size, 1e4):
            return f"{value / size:.4g}{unit}"
    return f"{round(value):,}"


def in_percent(value: float, _: object = None) -> str:
    """Return a tick of a share as text; none beyond 0 and 1, where there is only room."""
    return f"{100 * value:.4g}%" if -1e-9 <= value <= 1.0 + 1e-9 else ""


def settle(ax: Axes) -> None:
    """Give logarithmic axes some width where their data give none: one value, or none above 0."""
    for axis in (ax.xaxis, ax.yaxis):
        low, high = float(axis.get_minpos()), float(axis.get_data_interval()[1])
        if axis.get_scale() != "log" or low * (1.0 + 1e-9) < high or not np.isfinite(high):
            continue
        ends = (0.1 * high, 10.0 * high) if high > 0.0 else (0.001, 1.0)
        across = axis.axis_name == "x"
        ax.update_datalim([(end, end) for end in ends], updatex=across, updatey=not across)


def set_ticks(axis: Axis, text: Callable[..., str], characters: float) -> None:
    """Put as many ticks as have room on an axis, written by ``text``."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    settle(axis.axes)
    most = int(np.clip(length(axis) / _needed(axis, characters), 2, 8))
    if axis.get_scale() == "log":
        low, high = sorted(axis.get_view_interval())
        decades = np.log10(high / low) if low > 0 else 9.0
        subs = (1.0, 2.0, 5.0) if decades < min(2.0, most / 3.0) else (1.0,)
        axis.set_major_locator(LogLocator(subs=subs, numticks=max(most, 3)))
        axis.set_minor_formatter(NullFormatter())
    elif axis.get_scale() == "linear":
        locator = MaxNLocator(most, integer=text is compact, steps=[1, 2, 5, 10])
        axis.set_major_locator(_of_shares(locator) if text is in_percent else locator)
    axis.set_major_formatter(FuncFormatter(text))


def _of_shares(locator: MaxNLocator) -> MaxNLocator:
    """Make a locator leave out what is no share: beyond 0 and 1 there is only room."""
    every = locator.tick_values

    def within(low: float, high: float) -> Any:
        ticks = np.asarray(every(low, high))
        return ticks[(ticks >= -1e-9) & (ticks <= 1.0 + 1e-9)]

    locator.tick_values = within  # type: ignore[method-assign, assignment]
    return locator


def set_chosen_ticks(
    axis: Axis, places: Sequence[float], texts: Sequence[str], *, characters: float | None = None
) -> None:
    """Put the ticks that have room on an axis, those that come first before the others."""
    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = sorted(axis.get_view_interval())
    forward = axis.get_transform().transform
    ends = forward(np.array([low, high], dtype=float))
    scale = length(axis) / max(float(abs(ends[1] - ends[0])), 1e-300)
    wide = characters or max((len(text) for text in texts), default=1)
    room = _needed(axis, wide)
    kept: list[tuple[float, float, str]] = []
    for place, text in zip(places, texts, strict=True):
        at = float(forward(np.array([place], dtype=float))[0]) * scale
        if low <= place <= high and all(abs(at - other) >= room for other, _, _ in kept):
            kept.append((at, place, text))
    kept.sort(key=lambda tick: tick[1])
    axis.set_major_locator(FixedLocator([place for _, place, _ in kept]))
    axis.set_ticklabels([text for _, _, text in kept])
    axis.set_minor_locator(NullLocator())


_RATES = (
    0.5, 0.01, 0.99, 0.1, 0.9, 0.001, 0.999, 1e-4, 0.05, 0.2, 0.8, 0.95, 1e-5, 0.9999, 0.02, 0.98,
)  # fmt: skip
_CONFIDENCES = (0.95, 0.5, 0.99, 0.999, 0.9, 0.9999, 0.75, 0.1, 0.01, 0.99999, 0.25)


def use_normal_deviates(ax: Axes, least: float) -> None:
    """Give both axes the scale on which the errors of normal scores are a straight line."""
    from scipy.special import ndtr, ndtri

    edge = max(least, 1e-12)

    def forward(rate: FloatArray) -> Any:
        return ndtri(np.clip(rate, 0.1 * edge, 1.0 - 0.1 * edge))

    ax.set_xscale("function", functions=(forward, ndtr))
    ax.set_yscale("function", functions=(forward, ndtr))


def set_rate_ticks(axis: Axis) -> None:
    """Write rates in percent where there is room, on whatever scale."""
    texts = [f"{100 * rate:g}%" for rate in _RATES]
    set_chosen_ticks(axis, _RATES, texts, characters=4.5)


def use_confidences(ax: Axes, values: FloatArray) -> None:
    """Give the axis upwards the scale on which .99 and .999 are as far apart as .9 and .99."""
    least = float(np.min(np.minimum(values, 1.0 - values), initial=0.04))
    edge = max(min(0.02, 0.5 * least), 1e-5)  # nobody asks by how much it is beyond

    def forward(x: FloatArray) -> Any:
        x = np.clip(x, edge, 1.0 - edge)
        return np.log(x / (1.0 - x))

    def inverse(x: FloatArray) -> Any:
        return 1.0 / (1.0 + np.exp(-x))

    ax.set_yscale("function", functions=(forward, inverse))
    lowest = float(np.nanmin(values, initial=0.5))
    ax.set_ylim(max(edge, 0.8 * lowest), 1.0 - edge)
    texts = [f"{x:g}".lstrip("0") for x in _CONFIDENCES]
    if (values > 1.0 - edge).any():
        top = 1.0 - edge
        set_chosen_ticks(ax.yaxis, [top, *_CONFIDENCES], [f"≥{top:.6g}".replace("0.", "."), *texts])
    else:
        set_chosen_ticks(ax.yaxis, _CONFIDENCES, texts)
