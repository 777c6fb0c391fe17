"""The look of a plot: names, colors, highlights, and keywords for artists."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import category

import numpy as np

from rankeval_pd.errors import check_choice, listed
from rankeval_pd.plotting.ink import MOST, Ink, cycle, slot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEGENDS = (None, True, False, "outside", "figure")
LABELS_AT = (None, "end", "key", "legend")

Keywords = Mapping[str, Any] | None

_SHORT = {
    "lw": "linewidth", "ls": "linestyle", "c": "color", "ms": "markersize", "s": "markersize",
    "size": "markersize", "mec": "markeredgecolor", "mfc": "markerfacecolor",
    "mew": "markeredgewidth", "ec": "edgecolor", "fc": "facecolor",
}  # fmt: skip


@dataclass(frozen=True)
class Look:
    """The requested look of a plot."""

    legend: bool | str | None = None
    colors: Any = None
    labels: Mapping[Any, str] | None = None
    labels_at: str | None = None
    highlight: Any = None
    title: str | None = None
    line_kw: Keywords = None
    band_kw: Keywords = None
    marker_kw: Keywords = None
    order: Sequence[Hashable] = ()  #: names in the data, in color order

    def __post_init__(self) -> None:
        if self.legend not in (None, True, False):
            check_choice("legend", self.legend, LEGENDS)  # type: ignore[arg-type]
        check_choice("labels_at", self.labels_at, LABELS_AT)
        if self.labels is not None and not isinstance(self.labels, Mapping):
            raise TypeError(
                f"labels={self.labels!r} is of type {type(self.labels).__name__}: pass a mapping "
                "from names to labels, as in {'G2': 'log-likelihood'}."
            )
        for text in (*(self.labels or {}).values(), self.title or ""):
            _check_mathematics(str(text))
        for name in ("line_kw", "band_kw", "marker_kw"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(
                    f"{name}={given!r} is of type {type(given).__name__}: pass a mapping"
                    " with keywords for matplotlib, such as {'linewidth': 2}, or a mapping from"
                    " names to such mappings."
                )

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Report the argument name if matplotlib rejects a keyword or its value."""
        try:
            yield
        except (AttributeError, TypeError, ValueError) as error:
            argument = self._refused(error)
            if argument is None:
                raise
            raise ValueError(
                f"{argument}={getattr(self, argument)!r}: matplotlib reports '{error}'. Pass "
                "keywords for these artists, as in {'linewidth': 2}, or map names to keywords."
            ) from error

    def _refused(self, error: Exception) -> str | None:
        """Return the argument to which a matplotlib error refers, if any."""
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
        """Raise a ValueError if a name to be highlighted is not drawn."""
        for name in self.highlighted:
            if name not in known:
                raise ValueError(
                    f"highlight={name!r} is not one of the names in the plot ({listed(known)})."
                    " Pass one or more of these names."
                )

    @property
    def highlighted(self) -> list[Hashable]:
        """The highlighted names; empty if no name is highlighted."""
        if self.highlight is None:
            return []
        if isinstance(self.highlight, str) or not np.iterable(self.highlight):
            return [self.highlight]
        return list(self.highlight)

    def text(self, name: Any) -> str:
        """Return the user's label for a name, or the name itself."""
        if self.labels is not None and name in self.labels:
            return str(self.labels[name])
        return escaped(str(name))

    @property
    def most(self) -> int:
        """The number of names with different colors."""
        listed_colors = self.colors is not None and not isinstance(self.colors, Mapping)
        return max(MOST, len(cycle(self.colors)) if listed_colors else 0)

    def color(self, ax: Axes, name: Hashable) -> Any:
        """Return the color of a name, which is the same in all plots of the same data."""
        if isinstance(self.colors, Mapping) and name in self.colors:
            return self.colors[name]
        known = cycle(self.colors, max(len(self.order), MOST))
        found = known[slot(ax, name, self.order, len(known))]
        return Ink.of(ax).line(found) if self.colors is None else found

    def line(self, name: Hashable = None, **look: Any) -> dict[str, Any]:
        """Return the keywords for a line; the user's keywords take precedence."""
        return merged(look, self.line_kw, name)

    def band(self, name: Hashable = None, **look: Any) -> dict[str, Any]:
        """Return the keywords for bands or interval bars; user keywords take precedence."""
        return merged(look, self.band_kw, name)

    def mark(self, name: Hashable = None, **look: Any) -> dict[str, Any]:
        """Return the keywords for a mark; the user's keywords take precedence."""
        return merged(look, self.marker_kw, name)


class Named(NamedTuple):
    """A name and the position of its line."""

    text: str
    y: float  #: end of the line
    color: Any
    muted: bool = False  #: whether this is a reference line or a gray line
    reference: bool = False
    values: tuple[str, ...] = ()  #: values next to the name in a key
    dash: Any = "-"


def merged(look: Mapping[str, Any], given: Keywords, name: Hashable = None) -> dict[str, Any]:
    """Merge the defaults with the user's keywords for all names and for this name."""
    given = dict(given or {})
    mine = given.get(name)  # type: ignore[call-overload]
    general = {k: v for k, v in given.items() if not isinstance(v, Mapping)}
    own = dict(mine) if isinstance(mine, Mapping) else {}
    return {**look, **_long(general), **_long(own)}


def _long(keywords: Mapping[str, Any]) -> dict[str, Any]:
    return {_SHORT.get(name, name): value for name, value in keywords.items()}


def _check_mathematics(text: str) -> None:
    """Raise a ValueError if matplotlib cannot typeset the mathematics in a string."""
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
            f"labels or title: {text!r} contains math that matplotlib cannot parse ({why}). "
            "Correct the text, or escape dollar signs as \\$."
        ) from None


def escaped(text: str) -> str:
    """Escape text so that $ and a leading _ have no special meaning in matplotlib."""
    import matplotlib as mpl

    if not text.strip():  # matplotlib omits empty names
        return repr(text)
    text = " ".join(text.splitlines())
    text = "".join("\N{REPLACEMENT CHARACTER}" if category(x) == "Cc" else x for x in text)
    if mpl.rcParams["text.usetex"]:
        for sign in "\\{}$&#_%^~":
            text = text.replace(sign, _TEX.get(sign, f"\\{sign}"))
        return text
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text  # matplotlib omits names with this prefix


_TEX = {"\\": "\\textbackslash ", "^": "\\^{}", "~": "\\~{}"}


def in_tex(text: str) -> str:
    """Return the package's own text, escaped if LaTeX typesets the text."""
    import matplotlib as mpl

    if not mpl.rcParams["text.usetex"]:
        return text
    for sign, tex in (("≤", r"$\leq$"), ("≥", r"$\geq$"), ("−", "$-$"), ("%", r"\%")):
        text = text.replace(sign, tex)
    return text
