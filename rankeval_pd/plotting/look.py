"""Colors, line styles, looks and the axes' numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial, partialmethod
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import category

import numpy as np

from rankeval_pd.errors import check_flag, check_kind, listed
from rankeval_pd.words.numbers import percent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from rankeval_pd.stats import FloatArray

# ---- The colors of a plot: one hue per name, and grays mixed from text and background colors

HUES = ("#0072B2", "#D55E00", "#049A78", "#9E2E6D", "#9172FE", "#944812")
"""Hues that color-blind readers can distinguish, with a contrast of 3:1 on white and black."""

MOST = len(HUES)  # number of names with different hues; if there are more, only a few are in color
_STEPS = np.linspace(0.0, 1.0, 41)  # steps of 2.5% from a color toward the text color
_SEVERAL = 20  # a palette with more colors is a continuous scale and is sampled


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


def mixed_color(a: Any, b: Any, share: float) -> str:
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

        faces = [(1.0, 1.0, 1.0, 1.0), to_rgba(ax.figure.get_facecolor())]
        if not outside and ax.patch.get_visible():
            faces.append(to_rgba(ax.get_facecolor()))
        bg = "#ffffff"
        for face in faces:  # the last one that is not transparent
            if face[3] > 0.5:
                bg = to_hex(face)
        fg = to_hex(mpl.rcParams["text.color"])
        if contrast(fg, bg) < 4.5:  # the style of the figure may no longer be active
            fg = max(("#000000", "#ffffff"), key=lambda color: contrast(color, bg))
        return cls(fg, bg)

    def legible(self, color: Any, least: float) -> str:
        """Shift the color toward the text color until the contrast is sufficient."""
        for share in _STEPS:
            mixed = mixed_color(self.fg, color, share)
            if contrast(mixed, self.bg) >= least:
                return mixed
        return self.fg

    line = partialmethod(legible, least=3.0)  # WCAG 1.4.11
    text = partialmethod(legible, least=4.5)  # WCAG 1.4.3

    def gray(self, share: float) -> str:
        """Return a gray with this proportion of the text color."""
        return mixed_color(self.fg, self.bg, share)

    dark = property(lambda ink: luminance(ink.bg) < 0.18)  #: whether the background is dark
    reference = property(lambda ink: ink.gray(0.45))  #: reference lines, behind the data
    muted = property(lambda ink: ink.gray(0.24))  #: data that are not highlighted
    plain = property(lambda ink: ink.line(ink.gray(0.55)))  #: data if hues do not represent names
    note = property(lambda ink: ink.text(ink.gray(0.60)))  #: small text next to the data
    accent = property(lambda ink: ink.line(cycle()[0]))  #: highlights if the names are on an axis


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
    raise ValueError(
        f"colors={colors!r} is neither a color nor a palette of matplotlib. Pass a name such as"
        " 'tab10' or 'viridis', a list of colors, or a mapping from names to colors."
    )


# ---- The look of a plot: names, colors, highlights, and keywords for artists


@dataclass(frozen=True)
class Look:
    """The requested look of a plot."""

    legend: bool | None = None
    colors: Any = None
    labels: Mapping[Any, str] | None = None
    highlight: Any = None
    title: str | None = None
    order: Sequence[Hashable] = ()  #: names in the data, in color order
    highlighted: list[Hashable] = field(init=False)  #: empty if no name is highlighted

    def __post_init__(self) -> None:
        check_flag("legend", self.legend, none=True)
        wanted = "a mapping from names to labels, as in {'G2': 'log-likelihood'}"
        check_kind("labels", self.labels, Mapping | None, wanted)
        highlighted = [] if self.highlight is None else [self.highlight]
        if np.iterable(self.highlight) and not isinstance(self.highlight, str):
            highlighted = [*self.highlight]
        object.__setattr__(self, "highlighted", highlighted)

    def check_names(self, known: Sequence[Hashable]) -> None:
        """Raise a ValueError if a name to be highlighted is not drawn."""
        for name in self.highlighted:
            if name not in known:
                raise ValueError(
                    f"highlight={name!r} is not one of the names in the plot ({listed(known)})."
                    " Pass one or more of these names."
                )

    @property
    def most(self) -> int:
        """The number of names with different colors."""
        if self.colors is None or isinstance(self.colors, Mapping):
            return MOST
        return max(MOST, len(cycle(self.colors)))

    def color(self, ax: Axes, name: Hashable) -> Any:
        """Return the color of a name, which is the same in all plots of the same data."""
        if isinstance(self.colors, Mapping) and name in self.colors:
            return self.colors[name]
        known = cycle(self.colors, max(len(self.order), MOST))
        record = Record.of(ax)
        taken = record.slots
        size = len(known)
        slot = (record.calls, name)
        if slot not in taken:  # a name keeps its position within a call
            names = list(self.order)
            place = (names.index(name) if name in names else len(names)) % size
            while place in taken.values() and len(set(taken.values())) < size:
                place = (place + 1) % size
            taken[slot] = place
        color = known[taken[slot]]
        return Ink.of(ax).line(color) if self.colors is None else color


@dataclass
class Record:
    """What the calls so far have drawn on an Axes; it is pickled with the Axes."""

    calls: int = 0
    plot: str = ""  #: the name of the last plot
    slots: dict[tuple[int, Hashable], int] = field(default_factory=dict)  #: in the color cycle
    caption: list[str] = field(default_factory=list)
    names: list[Named] = field(default_factory=list)  #: what the key names
    headers: dict[str, None] = field(default_factory=dict)  #: the columns of the key

    @classmethod
    def of(cls, ax: Any) -> Record:
        """Return the record of an Axes, which is a new one if nothing is drawn."""
        own: Record = vars(ax).setdefault("_rankeval_pd", cls())
        return own


class Named(NamedTuple):
    """A name and the position of its line."""

    text: str
    y: float  #: end of the line
    color: Any
    muted: bool = False  #: whether this is a reference line or a gray line
    reference: bool = False
    values: Mapping[str, str] = {}  #: values next to the name in a key, by header
    dash: Any = "-"

    @property
    def width(self) -> float:
        """The width of the line in a key."""
        return 0.8 if self.reference else 2.0

    def shade(self, ink: Ink) -> Any:
        """Return the color of the text."""
        return ink.note if self.reference else ink.text(self.color)


def escaped(text: str) -> str:
    """Escape text so that $ and a leading _ have no special meaning in matplotlib."""
    import matplotlib as mpl

    if not text.strip():  # matplotlib omits empty names
        return repr(text)
    text = " ".join(text.splitlines())
    if not text.isprintable():
        text = "".join("\N{REPLACEMENT CHARACTER}" if category(x) == "Cc" else x for x in text)
    if mpl.rcParams["text.usetex"]:
        for sign in "\\{}$&#_%^~":
            text = text.replace(sign, _TEX.get(sign, f"\\{sign}"))
        return text
    text = text.replace("$", r"\$")
    if text.startswith("_"):  # matplotlib omits names with this prefix
        return f" {text}"
    return text


_TEX = {"\\": "\\textbackslash ", "^": "\\^{}", "~": "\\~{}"}


def in_tex(text: str) -> str:
    """Return the package's own text, escaped if LaTeX typesets the text."""
    import matplotlib as mpl

    if not mpl.rcParams["text.usetex"]:
        return text
    for sign, tex in (("≤", r"$\leq$"), ("≥", r"$\geq$"), ("−", "$-$"), ("%", r"\%")):
        text = text.replace(sign, tex)
    return text


# ---- Number formats in a plot, and axis ticks

LARGE_RATIO = 2000.0  # ratio of largest to smallest n above which the axis is logarithmic
WIDE = 100.0  # panel width in mm below which the font is smaller
_SIZES = {"label": (9.5, 8.0), "name": (9.0, 8.0), "tick": (8.5, 7.5), "note": (8.0, 7.0)}
LEAST = 7.0  # smallest font size in points
_TICK = 14.0  # distance in mm between two ticks on the x axis
_POINT = 25.4 / 72.0  # mm


def panel_size(ax: Axes) -> tuple[float, float]:
    """Return the width and height available for the Axes, in points."""
    figure = ax.figure
    width, height = 72.0 * np.asarray(figure.bbox.size) / figure.dpi
    spec: Any = ax.get_subplotspec()
    while spec is not None:
        grid = spec.get_gridspec()
        wide = grid.get_width_ratios()
        high = grid.get_height_ratios()
        width *= sum(wide[spec.colspan.start : spec.colspan.stop]) / sum(wide)
        height *= sum(high[spec.rowspan.start : spec.rowspan.stop]) / sum(high)
        spec = getattr(grid, "_subplot_spec", None)  # nested grids
    return float(width), float(height)


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


def cut_text(text: str, size: float, room: float, share: float = 0.5) -> str:
    """Shorten a name that is wider than ``room`` points; this share of what is left is its end."""
    if wide(text, size) <= room:
        return text
    most = max(4, int(len(text) * room / max(wide(text, size), 1.0)))
    end = max(1, int(share * (most - 1)))
    cut = f"{text[: most - 1 - end]}…{text[-end:]}"
    return min(text, cut, key=len)


def cut_texts(texts: Iterable[str], size: float, room: float) -> list[str]:
    """Shorten names so that different names stay different if possible."""
    known = list(texts)
    start = next((k for k, x in enumerate(zip(*known, strict=False)) if len({*x}) > 1), 0)
    for share in (0.5, 0.8, 0.2):
        for names in (known, [f"…{text[start:]}" for text in known]):
            cut = [cut_text(text, size, room, share) for text in names]
            if len({*cut}) == len({*known}):
                return cut
    return cut


def percent(share: float) -> str:
    """Format a proportion as a percentage, such as 11% or 0.43%."""
    decimals = (share < 0.0995) + (share < 0.0095)
    return f"{100.0 * share:.{decimals}f}%"


def rate_text(p: float) -> str:
    """Format the level p of a test, such as 5%, 0.1% or 1e-17."""
    return f"{p:g}" if p < 1e-4 else percent_of(p)


def most_text(p: float) -> str:
    """Format the remaining proportion, such as 95% or "all but 1e-17"."""
    return f"all but {p:g}" if p < 1e-4 else percent_of(1.0 - p)


def number(value: float, digits: int) -> str:
    """Format a number with the given number of decimals and a true minus sign."""
    if np.isnan(value):
        return "–"
    if np.isinf(value):
        return {np.inf: "∞"}.get(value, "−∞")
    text = f"{value:,.{digits}f}"
    plain = text.lstrip("+-")
    return plain if not float(plain.replace(",", "")) else text.replace("-", "−")


def interval_text(low: float, high: float, digits: int) -> str:
    """Format an interval, such as 0.26–0.32 or −0.05 to 0.05."""
    between = "–" if low >= 0.0 else " to "
    return f"{number(low, digits)}{between}{number(high, digits)}"


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
    return "" if not -1e-9 <= value <= 1.0 + 1e-9 else f"{100 * value:.4g}%"


def in_points(value: float, _: object = None) -> str:
    """Format a difference of proportions in percentage points, such as +10, −2.5 or 0."""
    return "0" if abs(value) <= 1e-12 else f"{100 * value:+.4g}".replace("-", "−")


def plainly(value: float, _: object = None) -> str:
    """Format a tick value as a plain number."""
    return f"{value:.4g}".replace("-", "−")


def _length_and_room(axis: Axis, characters: float) -> tuple[float, float]:
    """Return the approximate length of the axis and of a tick label, in points."""
    (width, height), size = panel_size(axis.axes), font(axis.axes, "tick")
    if axis.axis_name == "x":  # type: ignore[attr-defined]
        return 0.68 * width, max((0.62 * characters + 0.9) * size, _TICK / _POINT)
    return 0.55 * height, 1.9 * size


def settle(ax: Axes) -> None:
    """Set the range of logarithmic axes if the data have at most one positive value."""
    for axis in (ax.xaxis, ax.yaxis):
        low = float(axis.get_minpos())
        high = float(axis.get_data_interval()[1])
        if axis.get_scale() != "log" or low * (1.0 + 1e-9) < high or not np.isfinite(high):
            continue
        ends = (0.1 * high, 10.0 * high) if high > 0.0 else (0.001, 1.0)
        across = axis.axis_name == "x"
        ax.update_datalim([(end, end) for end in ends], updatex=across, updatey=not across)


def set_ticks(axis: Axis, text: Callable[..., str], characters: float) -> None:
    """Set as many ticks on an axis as fit, formatted by ``text``."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    settle(axis.axes)
    length, room = _length_and_room(axis, characters)
    most = int(np.clip(length / room, 2, 8))
    if axis.get_scale() == "log":
        low, high = sorted(axis.get_view_interval())
        subs: tuple[float, ...] = (1.0,)
        if low > 0 and np.log10(high / low) < min(2.0, most / 3.0):
            subs = (1.0, 2.0, 5.0)
        axis.set_major_locator(LogLocator(subs=subs, numticks=most + 1))
        axis.set_minor_locator(LogLocator(subs=(2.0, 5.0), numticks=most + 1))
        axis.set_minor_formatter(NullFormatter())
    elif axis.get_scale() == "linear":
        locator = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=text is compact)
        if text is in_percent:
            locator.tick_values = partial(_share_ticks, locator)  # type: ignore[method-assign]
        axis.set_major_locator(locator)
    axis.set_major_formatter(FuncFormatter(text))


def _share_ticks(locator: Any, low: float, high: float) -> Any:
    """Return the ticks of a locator in the range from 0 to 1."""
    ticks = np.asarray(type(locator).tick_values(locator, low, high))
    return ticks[(ticks >= -1e-9) & (ticks <= 1.0 + 1e-9)]


def set_chosen_ticks(
    axis: Axis, places: Sequence[float], texts: Sequence[str], *, characters: float | None = None
) -> None:
    """Set the ticks that fit on an axis, in order of priority."""
    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = sorted(axis.get_view_interval())
    forward = axis.get_transform().transform
    ends = forward(np.array([low, high], dtype=float))
    length, room = _length_and_room(axis, characters or max(map(len, texts), default=1))
    scale = length / max(float(abs(ends[1] - ends[0])), 1e-300)
    kept = {}
    taken: list[float] = []
    for place, text in zip(places, texts, strict=True):
        at = float(forward(np.array([place], dtype=float))[0]) * scale
        if low <= place <= high and all(abs(at - other) >= room for other in taken):
            taken.append(at)
            kept[place] = text
    axis.set_major_locator(FixedLocator(sorted(kept)))
    axis.set_ticklabels([kept[place] for place in sorted(kept)])
    axis.set_minor_locator(NullLocator())


def use_normal_deviates(ax: Axes, least: float) -> None:
    """Use a normal-deviate scale for both axes."""
    from scipy.special import ndtr

    functions = (partial(_deviates, max(least, 1e-12)), ndtr)
    ax.set_xscale("function", functions=functions)
    ax.set_yscale("function", functions=functions)


def _deviates(edge: float, rate: FloatArray) -> Any:
    """Return the normal deviates of rates, which are kept away from 0 and 1."""
    from scipy.special import ndtri

    return ndtri(np.clip(rate, 0.1 * edge, 1.0 - 0.1 * edge))
