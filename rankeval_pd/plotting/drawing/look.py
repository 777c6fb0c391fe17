"""How a picture looks: colours and dashes by name, labels, keywords for artists."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any
from unicodedata import category
from weakref import WeakKeyDictionary

import numpy as np

from rankeval_pd.errors import check_choice, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito (2008), ordered so that neighbours differ in lightness too
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
# the same, darker (of black, lighter), for more names than there are colours
DARKER = ("#003A5C", "#7F5700", "#00543D", "#7A3600", "#1D6A94", "#7F3F65", "#8A8A8A")
DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))
MARKS = "osD^vPX"
MUTED = "0.78"  # the lines that are not highlighted
LEGENDS = (True, False, "outside", "figure")
LABELS_AT = ("legend", "end")

Keywords = Mapping[str, Any] | None

_SHORT = {
    "lw": "linewidth", "ls": "linestyle", "c": "color", "ms": "markersize", "s": "markersize",
    "size": "markersize", "mec": "markeredgecolor", "mfc": "markerfacecolor",
    "mew": "markeredgewidth", "ec": "edgecolor", "fc": "facecolor",
}  # fmt: skip
_SEVERAL = 20  # a palette of more colours is a scale, of which as many are taken as are needed


@dataclass(frozen=True)
class Look:
    """What was asked of the looks of a picture."""

    legend: bool | str = True
    colors: Any = None
    labels: Mapping[Any, str] | None = None
    labels_at: str = "legend"
    highlight: Any = None
    title: str | None = None
    line_kw: Keywords = None
    band_kw: Keywords = None
    marker_kw: Keywords = None
    order: Sequence[Hashable] = ()  #: the names of the data, whose place decides the colour
    numbers: WeakKeyDictionary[Any, dict[Hashable, int]] = field(default_factory=lambda: _DRAWN)

    def __post_init__(self) -> None:
        if self.legend is not True and self.legend is not False:
            check_choice("legend", self.legend, LEGENDS)  # type: ignore[arg-type]
        check_choice("labels_at", self.labels_at, LABELS_AT)
        if self.labels is not None and not isinstance(self.labels, Mapping):
            raise TypeError(
                f"labels={self.labels!r} is of type {type(self.labels).__name__}: give a mapping"
                " from names to what is written in their place, {'G2': 'log-likelihood'}."
            )
        for text in (*(self.labels or {}).values(), self.title or ""):
            _check_mathematics(str(text))
        for name in ("line_kw", "band_kw", "marker_kw"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(
                    f"{name}={given!r} is of type {type(given).__name__}: give a mapping of"
                    " keywords of matplotlib's artists, {'linewidth': 2}, or of names to such"
                    " mappings."
                )

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Say which argument it was where matplotlib refuses a keyword, or its value."""
        try:
            yield
        except (AttributeError, TypeError, ValueError) as error:
            argument = self._refused(error)
            if argument is None:
                raise
            raise ValueError(
                f"{argument}={getattr(self, argument)!r}: matplotlib says '{error}'. Give keywords"
                " that its artists here take, {'linewidth': 2}, or a mapping of names to such."
            ) from error

    def _refused(self, error: Exception) -> str | None:
        """Return the argument that holds what an error of matplotlib speaks of, if one does."""
        step = error.__traceback__
        while step is not None and step.tb_next is not None:
            step = step.tb_next
        module = "" if step is None else str(step.tb_frame.f_globals.get("__name__"))
        if not module.startswith("matplotlib"):
            return None
        for argument in ("line_kw", "band_kw", "marker_kw"):
            given = dict(getattr(self, argument) or {})
            own = [keywords for keywords in given.values() if isinstance(keywords, Mapping)]
            for keywords in (given, *own):
                for name, value in (*keywords.items(), *_long(keywords).items()):
                    if str(name) in str(error) or repr(value) in str(error):
                        return argument
        return None

    def check_names(self, known: Sequence[Hashable]) -> None:
        """Raise a ValueError where a name to highlight is not drawn."""
        for name in self.highlighted:
            if name not in known:
                raise ValueError(
                    f"highlight={name!r} is none of the names that are drawn, {listed(known)}."
                    " Give one of these, or several."
                )

    @property
    def highlighted(self) -> list[Hashable]:
        """The names that stand out; none where all are alike."""
        if self.highlight is None:
            return []
        if isinstance(self.highlight, str) or not np.iterable(self.highlight):
            return [self.highlight]
        return list(self.highlight)

    def muted(self, name: Hashable) -> bool:
        """Return whether others stand out, and this name does not."""
        return bool(self.highlighted) and name not in self.highlighted

    def text(self, name: Any) -> str:
        """Return what is written for a name: as the user has it, or the name as it stands."""
        if self.labels is not None and name in self.labels:
            return str(self.labels[name])
        return escaped(str(name))

    def number(self, ax: Axes, name: Hashable) -> int:
        """Return the place of a name in the cycle: that in the data, unless another has it."""
        known = self.numbers.setdefault(ax, {})
        if name not in known:
            order = list(self.order)
            wanted = order.index(name) if name in order else len(order)
            while wanted in known.values():
                wanted += 1
            known[name] = wanted
        return known[name]

    def colour(self, ax: Axes, name: Hashable) -> Any:
        """Return the colour of a name: in one picture always the same."""
        number = self.number(ax, name)
        if isinstance(self.colors, Mapping):
            if name in self.colors:
                return self.colors[name]
            free = [c for c in COLOURS if c not in self.colors.values()] or list(COLOURS)
            return free[number % len(free)]
        cycle = palette(self.colors, max(len(self.order), number + 1))
        return cycle[number % len(cycle)]

    def line(self, ax: Axes, name: Hashable, count: int = 10**9) -> dict[str, Any]:
        """Return the keywords of the line of a name, with markers where the points are few."""
        number = self.number(ax, name)
        if self.muted(name):
            return {"color": MUTED, "linestyle": "-", "linewidth": 0.8, "zorder": 1.5}
        dash = DASHES[(number + number // len(COLOURS)) % len(DASHES)]
        look = {"color": self.colour(ax, name), "linestyle": dash, "label": self.text(name)}
        if count <= FEW:
            look |= {"marker": MARKS[number % len(MARKS)], "markersize": 4}
            look |= merged({}, self.marker_kw, name)
        return merged(look, self.line_kw, name)

    def band(self, name: Hashable = None, **look: Any) -> dict[str, Any]:
        """Return the keywords of a band, those of the user on top."""
        return merged(look, self.band_kw, name)

    def mark(self, name: Hashable = None, **look: Any) -> dict[str, Any]:
        """Return the keywords of a mark, those of the user on top."""
        return merged(look, self.marker_kw, name)

    def rule(self, name: Hashable = None, **look: Any) -> dict[str, Any]:
        """Return the keywords of a line that belongs to no name, those of the user on top."""
        return merged(look, self.line_kw, name)


FEW = 40  # up to so many n, each point gets a marker
_DRAWN: WeakKeyDictionary[Any, dict[Hashable, int]] = WeakKeyDictionary()


def merged(look: Mapping[str, Any], given: Keywords, name: Hashable = None) -> dict[str, Any]:
    """Return keywords with the user's on top: those for all names, then those for this one."""
    given = dict(given or {})
    mine = given.get(name)  # type: ignore[call-overload]
    general = {k: v for k, v in given.items() if not isinstance(v, Mapping)}
    own = dict(mine) if isinstance(mine, Mapping) else {}
    return {**look, **_long(general), **_long(own)}


def _long(keywords: Mapping[str, Any]) -> dict[str, Any]:
    return {_SHORT.get(name, name): value for name, value in keywords.items()}


def palette(colors: Any, count: int) -> list[Any]:
    """Return the colours of a cycle: ours, the user's style's, a palette's, or those given."""
    import matplotlib as mpl

    if colors is None:
        cycle = mpl.rcParams["axes.prop_cycle"]
        if cycle == mpl.rcParamsDefault["axes.prop_cycle"] or "color" not in cycle.keys:
            return [*COLOURS, *DARKER]
        return list(cycle.by_key()["color"])
    from matplotlib.colors import is_color_like

    if not isinstance(colors, str):
        if not np.iterable(colors) or not len(list(colors)):
            raise TypeError(
                f"colors={colors!r}: give a mapping from names to colours, a list of colours, or"
                " the name of a palette, 'tab10'."
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
            f"colors={colors!r} is no palette of matplotlib (or of seaborn, where it is installed),"
            " and no colour. Give a name such as 'tab10' or 'viridis', a list of colours, or a"
            " mapping from names to colours."
        ) from None


def _check_mathematics(text: str) -> None:
    """Raise a ValueError where matplotlib cannot set the mathematics of a text."""
    import matplotlib as mpl
    from matplotlib.cbook import is_math_text
    from matplotlib.mathtext import MathTextParser

    if mpl.rcParams["text.usetex"] or not is_math_text(text):
        return
    try:
        MathTextParser("path").parse(text)
    except ValueError as error:
        why = str(error).splitlines()[-1]
        raise ValueError(
            f"labels or title: {text!r} holds mathematics that matplotlib cannot read ({why})."
            " Mend it, or write a dollar sign that is meant as such as \\$."
        ) from None


def escaped(text: str) -> str:
    """Return text as it is to be read: no mathematics between $, no name left out for its _."""
    import matplotlib as mpl

    if not text.strip():  # matplotlib leaves out what is empty
        return repr(text)
    text = " ".join(text.splitlines())
    text = "".join("\N{REPLACEMENT CHARACTER}" if category(x) == "Cc" else x for x in text)
    if mpl.rcParams["text.usetex"]:
        for sign in "\\{}$&#_%^~":
            text = text.replace(sign, _TEX.get(sign, f"\\{sign}"))
        return text
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text  # matplotlib leaves out what begins so


_TEX = {"\\": "\\textbackslash ", "^": "\\^{}", "~": "\\~{}"}


def in_tex(text: str) -> str:
    """Return words of ours as LaTeX needs them, where it sets the text."""
    import matplotlib as mpl

    if not mpl.rcParams["text.usetex"]:
        return text
    for sign, tex in (("\u00a0", "~"), ("≤", r"$\leq$"), ("≥", r"$\geq$"), ("−", "$-$")):
        text = text.replace(sign, tex)
    return text.replace(" %", r"\,\%")
