"""Number formats in a plot, and axis ticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rankeval_pd.forms.out.phrases import percent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from rankeval_pd.stats._types import FloatArray

LARGE_RATIO = 2000.0  # ratio of largest to smallest n above which the axis is logarithmic
WIDE = 100.0  # panel width in mm below which the font is smaller
_SIZES = {"label": (9.5, 8.0), "name": (9.0, 8.0), "tick": (8.5, 7.5), "note": (8.0, 7.0)}
LEAST = 7.0  # smallest font size in points
_TICK = 14.0  # distance in mm between two ticks on the x axis
_POINT = 25.4 / 72.0  # mm


# ----------------------------------------------------------------- Room for text


def panel_size(ax: Axes) -> tuple[float, float]:
    """Return the width and height available for the Axes, in points."""
    figure = ax.figure
    width, height = (72.0 * side / figure.dpi for side in figure.bbox.size)
    spec: Any = ax.get_subplotspec()
    if spec is None:
        return width, height
    while spec is not None:
        grid = spec.get_gridspec()
        for ratios, span, across in (
            (grid.get_width_ratios(), spec.colspan, True),
            (grid.get_height_ratios(), spec.rowspan, False),
        ):
            part = sum(ratios[span.start : span.stop]) / sum(ratios)
            width, height = (width * part, height) if across else (width, height * part)
        spec = getattr(grid, "_subplot_spec", None)  # nested grids
    return width, height


def small(ax: Axes) -> bool:
    """Return whether the panel is too narrow for the usual font size."""
    return bool(panel_size(ax)[0] * _POINT < WIDE)


def font(ax: Axes, role: str) -> float:
    """Return the font size for a "label", "name", "tick" or "note"; at least 7 points."""
    from matplotlib import rcParams

    return max(LEAST, _SIZES[role][small(ax)] * float(rcParams["font.size"]) / 10.0)


def wide(text: str, size: float) -> float:
    """Return the approximate width of a string in points."""
    from matplotlib import rcParams

    if rcParams["text.usetex"]:
        return 0.5 * len(text) * size
    return size * _measured(str(text), tuple(rcParams["font.family"]))


@lru_cache(maxsize=4096)
def _measured(text: str, family: tuple[str, ...]) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    prop = FontProperties(family=list(family), size=10.0)
    width, _, _ = text_to_path.get_text_width_height_descent(text, prop, False)
    return 1.03 * float(width) / 10.0  # letters are placed on whole pixels


def shortened(text: str, size: float, room: float) -> str:
    """Shorten a name in the middle if the name is wider than ``room`` points."""
    if wide(text, size) <= room:
        return text
    most = max(4, int(len(text) * room / max(wide(text, size), 1.0)))
    half = max(1, (most - 1) // 2)
    cut = f"{text[: most - 1 - half]}…{text[-half:]}"
    return cut if len(cut) < len(text) else text


# -------------------------------------------------------------------------- Formats of numbers


def percent(share: float) -> str:
    """Format a proportion as a percentage, such as 11% or 0.43%."""
    return f"{100.0 * share:.{0 if share >= 0.0995 else 1 if share >= 0.0095 else 2}f}%"


def rate_text(p: float) -> str:
    """Format the level p of a test, such as 5%, 0.1% or 1e-17."""
    return percent_of(p) if p >= 1e-4 else f"{p:g}"


def most_text(p: float) -> str:
    """Format the remaining proportion, such as 95% or "all but 1e-17"."""
    return percent_of(1.0 - p) if p >= 1e-4 else f"all but {p:g}"


def digits_for(width: float) -> int:
    """Return the decimal places needed to resolve a quarter of the interval's width."""
    if not np.isfinite(width) or width <= 0.0:
        return 2
    return int(np.clip(np.ceil(-np.log10(width / 4.0)), 0, 6))


def number(value: float, digits: int, *, signed: bool = False) -> str:
    """Format a number with the given number of decimals and a true minus sign."""
    if np.isnan(value):
        return "–"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:+,.{digits}f}" if signed else f"{value:,.{digits}f}"
    plain = text.lstrip("+-")
    return plain if not float(plain.replace(",", "")) else text.replace("-", "−")


def interval(low: float, high: float, digits: int, *, signed: bool = False) -> str:
    """Format an interval, such as 0.26–0.32 or −0.05 to 0.05."""
    between = "–" if low >= 0.0 and not signed else " to "
    return f"{number(low, digits, signed=signed)}{between}{number(high, digits, signed=signed)}"


def compact(value: float, _: object = None) -> str:
    """Format a count, such as 5,000, 20k or 1M; return "" if it is not a count."""
    if value < 0 or (abs(value - round(value)) > 1e-6 and value < 1e3):
        return ""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= max(size, 1e4):
            return f"{value / size:.4g}{unit}"
    return f"{round(value):,}"


def in_percent(value: float, _: object = None) -> str:
    """Format a tick on an axis of proportions; return "" outside 0 to 1."""
    return f"{100 * value:.4g}%" if -1e-9 <= value <= 1.0 + 1e-9 else ""


def in_points(value: float, _: object = None) -> str:
    """Format a difference of proportions in percentage points, such as +10, −2.5 or 0."""
    return f"{100 * value:+.4g}".replace("-", "−") if abs(value) > 1e-12 else "0"


def plainly(value: float, _: object = None) -> str:
    """Format a tick value as a plain number."""
    return f"{value:.4g}".replace("-", "−")


# --------------------------------------------------------------------- Spacing of ticks


def length(axis: Axis) -> float:
    """Return the approximate length of the axis in points."""
    width, height = panel_size(axis.axes)
    return 0.68 * width if axis.axis_name == "x" else 0.55 * height  # type: ignore[attr-defined]


def _needed(axis: Axis, characters: float) -> float:
    """Return the space that a tick label needs, in points."""
    size = font(axis.axes, "tick")
    if axis.axis_name == "x":  # type: ignore[attr-defined]
        return max((0.62 * characters + 0.9) * size, _TICK / _POINT)
    return 1.9 * size


def settle(ax: Axes) -> None:
    """Set the range of logarithmic axes if the data have at most one positive value."""
    for axis in (ax.xaxis, ax.yaxis):
        low, high = float(axis.get_minpos()), float(axis.get_data_interval()[1])
        if axis.get_scale() != "log" or low * (1.0 + 1e-9) < high or not np.isfinite(high):
            continue
        ends = (0.1 * high, 10.0 * high) if high > 0.0 else (0.001, 1.0)
        across = axis.axis_name == "x"
        ax.update_datalim([(end, end) for end in ends], updatex=across, updatey=not across)


def set_ticks(axis: Axis, text: Callable[..., str], characters: float) -> None:
    """Set as many ticks on an axis as fit, formatted by ``text``."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    settle(axis.axes)
    most = int(np.clip(length(axis) / _needed(axis, characters), 2, 8))
    if axis.get_scale() == "log":
        low, high = sorted(axis.get_view_interval())
        decades = np.log10(high / low) if low > 0 else 9.0
        subs = (1.0, 2.0, 5.0) if decades < min(2.0, most / 3.0) else (1.0,)
        axis.set_major_locator(LogLocator(subs=subs, numticks=most + 1))
        axis.set_minor_formatter(NullFormatter())
    elif axis.get_scale() == "linear":
        locator = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=text is compact)
        axis.set_major_locator(_of_shares(locator) if text is in_percent else locator)
    axis.set_major_formatter(FuncFormatter(text))


def _of_shares(locator: Any) -> Any:
    """Make a locator omit ticks outside the range from 0 to 1."""
    every = locator.tick_values

    def within(low: float, high: float) -> Any:
        ticks = np.asarray(every(low, high))
        return ticks[(ticks >= -1e-9) & (ticks <= 1.0 + 1e-9)]

    locator.tick_values = within
    return locator


def set_chosen_ticks(
    axis: Axis, places: Sequence[float], texts: Sequence[str], *, characters: float | None = None
) -> None:
    """Set the ticks that fit on an axis, in order of priority."""
    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = sorted(axis.get_view_interval())
    forward = axis.get_transform().transform
    ends = forward(np.array([low, high], dtype=float))
    scale = length(axis) / max(float(abs(ends[1] - ends[0])), 1e-300)
    room = _needed(axis, characters or max((len(text) for text in texts), default=1))
    kept: list[tuple[float, float, str]] = []
    for place, text in zip(places, texts, strict=True):
        at = float(forward(np.array([place], dtype=float))[0]) * scale
        if low <= place <= high and all(abs(at - other) >= room for other, _, _ in kept):
            kept.append((at, place, text))
    kept.sort(key=lambda tick: tick[1])
    axis.set_major_locator(FixedLocator([place for _, place, _ in kept]))
    axis.set_ticklabels([text for _, _, text in kept])
    axis.set_minor_locator(NullLocator())


# -------------------------------------------------------------------- Scales for rates and p-values

_RATES = (
    0.5, 0.01, 0.99, 0.1, 0.9, 0.001, 0.999, 1e-4, 0.05, 0.2, 0.8, 0.95, 1e-5, 0.9999, 0.02, 0.98,
)  # fmt: skip


def use_normal_deviates(ax: Axes, least: float) -> None:
    """Use a normal-deviate scale for both axes."""
    from scipy.special import ndtr, ndtri

    edge = max(least, 1e-12)

    def forward(rate: FloatArray) -> Any:
        return ndtri(np.clip(rate, 0.1 * edge, 1.0 - 0.1 * edge))

    ax.set_xscale("function", functions=(forward, ndtr))
    ax.set_yscale("function", functions=(forward, ndtr))


def set_rate_ticks(axis: Axis) -> None:
    """Set as many percentage ticks as fit, on any scale."""
    set_chosen_ticks(axis, _RATES, [f"{100 * rate:g}%" for rate in _RATES], characters=4.5)
