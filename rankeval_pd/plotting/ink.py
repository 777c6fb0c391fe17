"""The colors of a plot: one hue per name, and grays mixed from text and background colors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HUES = ("#0072B2", "#D55E00", "#049A78", "#9E2E6D", "#9172FE", "#944812")
"""Hues that color-blind readers can distinguish, with a contrast of 3:1 on white and black."""

MOST = len(HUES)  # number of names with different hues; if there are more, only a few are in color
_STEPS = np.linspace(0.0, 1.0, 41)  # steps of 2.5% from a color toward the text color
_SEVERAL = 20  # a palette with more colors is a continuous scale and is sampled
_SLOTS: WeakKeyDictionary[Any, dict[Hashable, int]] = WeakKeyDictionary()


def luminance(color: Any) -> float:
    """Return the relative luminance of a color, as defined in WCAG 2.2."""
    from matplotlib.colors import to_rgb

    c = np.asarray(to_rgb(color))
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a: Any, b: Any) -> float:
    """Return the contrast ratio of two colors, from 1 to 21, as defined in WCAG 2.2."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def mix(a: Any, b: Any, share: float) -> str:
    """Mix two colors, with this proportion of ``a``."""
    from matplotlib.colors import to_hex, to_rgb

    mixed = share * np.asarray(to_rgb(a)) + (1.0 - share) * np.asarray(to_rgb(b))
    return to_hex(tuple(mixed))


@dataclass(frozen=True)
class Ink:
    """The colors for one Axes, derived from the text and background colors."""

    fg: str
    bg: str

    @classmethod
    def of(cls, ax: Axes, *, outside: bool = False) -> Ink:
        """Return the colors for drawing inside the Axes, or next to the Axes on the figure."""
        import matplotlib as mpl
        from matplotlib.colors import to_hex, to_rgba

        faces = [to_rgba(ax.figure.get_facecolor())]
        if not outside and ax.patch.get_visible():
            faces.insert(0, to_rgba(ax.get_facecolor()))
        bg = next((face for face in faces if face[3] > 0.5), (1.0, 1.0, 1.0, 1.0))
        fg = mpl.rcParams["text.color"]
        if contrast(fg, bg) < 4.5:  # the style of the figure may no longer be active
            fg = max(("#000000", "#FFFFFF"), key=lambda color: contrast(color, bg))
        return cls(to_hex(fg), to_hex(bg))

    @property
    def dark(self) -> bool:
        """Whether the background is dark."""
        return luminance(self.bg) < 0.18

    def legible(self, color: Any, least: float) -> str:
        """Shift the color toward the text color until the contrast is sufficient."""
        mixed = (mix(self.fg, color, share) for share in _STEPS)
        return next((x for x in mixed if contrast(x, self.bg) >= least), self.fg)

    def line(self, color: Any) -> str:
        """Return a line color with a contrast of at least 3:1 (WCAG 1.4.11)."""
        return self.legible(color, 3.0)

    def text(self, color: Any) -> str:
        """Return a text color with a contrast of at least 4.5:1 (WCAG 1.4.3)."""
        return self.legible(color, 4.5)

    def gray(self, share: float) -> str:
        """Return a gray with this proportion of the text color."""
        return mix(self.fg, self.bg, share)

    @property
    def reference(self) -> str:
        """The color of reference lines, visible but less prominent than the data."""
        return self.gray(0.45)

    @property
    def muted(self) -> str:
        """The color of data that are not highlighted."""
        return self.gray(0.24)

    @property
    def plain(self) -> str:
        """The color of data if hues do not represent names."""
        return self.line(self.gray(0.55))

    @property
    def note(self) -> str:
        """The color of small text next to the data."""
        return self.text(self.gray(0.60))

    @property
    def accent(self) -> str:
        """The color of highlights if the names are on an axis."""
        return self.line(cycle()[0])


def cycle(colors: Any = None, count: int = MOST) -> list[Any]:
    """Return the requested colors or palette, or the default colors of the style or package."""
    import matplotlib as mpl

    if colors is None:
        own = mpl.rcParams["axes.prop_cycle"]
        if own == mpl.rcParamsDefault["axes.prop_cycle"] or "color" not in own.keys:
            return list(HUES)
        return list(dict.fromkeys(own.by_key()["color"]))
    from matplotlib.colors import is_color_like

    if isinstance(colors, Mapping):
        return [c for c in HUES if c not in colors.values()] or list(HUES)
    if not isinstance(colors, str):
        if not np.iterable(colors) or not len(list(colors)):
            raise TypeError(
                f"colors={colors!r}: pass a mapping from names to colors, a list of colors, or"
                " the name of a palette, such as 'tab10'."
            )
        return list(colors)
    if colors in mpl.color_sequences:
        return list(mpl.color_sequences[colors])
    if colors in mpl.colormaps:
        scale = mpl.colormaps[colors]
        own = getattr(scale, "colors", None)
        if own is not None and len(own) <= _SEVERAL:
            return list(own)
        return [scale(x) for x in np.linspace(0.05, 0.95, max(count, 2))]
    if is_color_like(colors):
        return [colors]
    try:
        return list(import_module("seaborn").color_palette(colors, count))
    except (ImportError, ValueError):
        raise ValueError(
            f"colors={colors!r} is neither a color nor a palette of matplotlib or seaborn. Pass a "
            "name such as 'tab10' or 'viridis', a list of colors, or a mapping from names to "
            "colors."
        ) from None


def slot(ax: Axes, name: Hashable, order: Sequence[Hashable], size: int) -> int:
    """Return a name's position in the color cycle, based on its position in the data.

    A name keeps its position within the same Axes. If the position is taken, the name is assigned
    the next free position.
    """
    taken = _SLOTS.setdefault(ax, {})
    if name not in taken:
        names = list(order)
        place = (names.index(name) if name in names else len(names)) % size
        while place in taken.values() and len(set(taken.values())) < size:
            place = (place + 1) % size
        taken[name] = place
    return taken[name]
