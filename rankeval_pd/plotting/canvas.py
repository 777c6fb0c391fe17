"""Figures, Axes, legends and captions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rankeval_pd.errors import checked_call
from rankeval_pd.plotting.look import (
    Ink,
    Look,
    Named,
    Record,
    compact,
    escaped,
    font,
    in_percent,
    in_tex,
    panel_size,
    percent,
    set_ticks,
    settle,
    small,
    wide,
)
from rankeval_pd.tables import Attrs, Options
from rankeval_pd.words.numbers import percent_of
from rankeval_pd.words.vocabulary import adjustment, laws_of, over_of, target_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

# ---- Elements that all plots share (lines, intervals, references), and the caption

LINE, THIN, HAIR = 1.6, 0.8, 0.5  # line widths in points: data; references; edges of bands
FEW = 40  # lines with up to this many points have markers
SPARSE = 12  # up to this many n, every interval is drawn
_POINTS = 6000  # points of a line or band: four for each column of pixels
_DODGE = 3.4  # distance in points between the bars of two names
_DASHES: Any = ("-", (0, (5, 2)), (0, (1, 1.5)))  # used in turn if the color cycle repeats
_STAND_OUT = 3  # number of names in color if there are more names than hues
_NARROW = 170.0  # panel size in points below which lines are thinner

LENGTH = "n (length of the list)"
SHARE = "share of the list read"
ABOVE = ("data", "axes fraction")  # coordinates of text at the top of the axes
BESIDE = ("axes fraction", "data")
_SHORT = {LENGTH: "n", "confidence (1 − p, one-sided)": "confidence"}


def write(
    ax: Any, text: str, at: tuple[Any, Any], aside: tuple[float, float] = (0, 0), **look: Any
) -> None:
    """Write a small text at a position, moved aside by some points."""
    look = {"textcoords": "offset points", "fontsize": font(ax, "note"), **look}
    ax.annotate(text, at, xytext=aside, **look)


@checked_call
def caption(ax: Any) -> str:
    """Return the caption of a plot, which explains the lines, bars and colors.

    Parameters
    ----------
    ax : Axes or array of Axes
        The Axes that a plot function returned, or all panels of a figure.

    Returns
    -------
    str
        Sentences ready for a paper. The caption describes the kind of interval, whether the
        interval is pointwise or simultaneous, the test and the adjustment. A sentence that
        applies to several panels appears only once.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> rankeval_pd.plotting.caption(df.rankeval.plot.precision([50, 100]))
    'Bars: 95% Clopper–Pearson confidence intervals for n-best lists (with the variance of the
    threshold), separately at each n. Gray line: random order.'
    """
    first = np.asarray(ax, dtype=object).ravel()[0]
    drawn = [one for one in first.figure.axes if one.has_data()]
    return " ".join(dict.fromkeys(x for one in drawn for x in Record.of(one).caption))


class Canvas:
    """The Axes to draw on, the requested look, and a record of the drawn elements."""

    def __init__(self, ax: Axes, look: Look, plot: str, *, alone: bool = True) -> None:
        if not ax.has_data():  # an earlier plot, now cleared
            vars(ax).pop("_rankeval_pd", None)
        self.ax: Any = ax
        self.record = Record.of(ax)
        self.record.calls += 1
        self.record.plot = plot
        self.look, self.alone = look, alone
        self.ink, self.out = Ink.of(ax), Ink.of(ax, outside=True)
        self.gray = {"color": self.ink.reference, "linewidth": THIN, "zorder": 1}
        self.size = panel_size(ax)  #: size in points, before other panels share the figure
        self.bright: list[Hashable] | None = None
        self.named: list[Named] = []
        self.drawn: dict[Hashable, int] = {}
        self.headers: dict[str, Mapping[Hashable, str]] = {}
        self.meet = False

    def tell(self, *sentences: str) -> None:
        """Add sentences to the caption."""
        self.record.caption.extend(filter(None, sentences))

    def text(self, name: Any) -> str:
        """Return the user's label for a name, or the name itself."""
        labels = self.look.labels or {}
        return str(labels[name]) if name in labels else escaped(str(name))

    def choose(self, scores: Mapping[Hashable, float], what: str) -> list[Hashable]:
        """Return the names, ordered so that highlighted names (or the best of many) come last."""
        names = list(scores)
        self.bright = self.look.highlighted or None
        if self.bright is None and len(names) > self.look.most:
            known = [x for x in names if np.isfinite(scores[x])]
            self.bright = sorted(known, key=lambda x: -scores[x])[:_STAND_OUT]
            self.tell(f"The {_STAND_OUT} entries with the highest {what} are in color.")
        if self.bright is None:
            return names
        left = [self.text(x) for x in names if not self.stands_out(x)]
        if left:
            listed = f"the other {len(left)}" if len(left) > 12 else ", ".join(left)
            self.tell(f"In gray: {listed}.")
        return sorted(names, key=self.stands_out)

    def stands_out(self, name: Hashable) -> bool:
        """Return whether a name is drawn in its own color."""
        return self.bright is None or name in self.bright

    def color(self, name: Hashable) -> Any:
        """Return the color of a name; gray if other names are highlighted."""
        return self.ink.muted if not self.stands_out(name) else self.look.color(self.ax, name)

    def curve(self, name: Hashable, x: Any, y: Any, **more: Any) -> None:
        """Draw the line for a name, with markers if the line has few points."""
        from matplotlib.colors import to_hex

        bright = self.stands_out(name)
        color = self.color(name)
        dashes, width, layer = _DASHES[0], THIN, 1.8
        look: Options = {"label": self.text(name)}
        look |= {"solid_capstyle": "round", "solid_joinstyle": "round"}
        if bright:
            before = 0
            for line in [*self.record.names, *self.named]:
                before += not line.muted and to_hex(line.color) == to_hex(color)
            dashes = _DASHES[min(before, 2)]
            width, layer = LINE, 3
            if panel_size(self.ax)[0] <= _NARROW:
                width = 1.2
            if len(x) <= FEW:
                look |= {"marker": "o", "markersize": 4, "markeredgewidth": 0}
        look = {"color": color, "linewidth": width, "linestyle": dashes, "zorder": layer, **look}
        x = np.asarray(x, dtype=float)
        y = np.asarray(y, dtype=float)
        kept = some(len(x), _POINTS)
        (line,) = self.ax.plot(x[kept], y[kept], **{**look, **more})
        self.drawn[name] = len(self.named)
        ends = y[np.isfinite(x) & np.isfinite(y)]
        end = float(ends[-1]) if len(ends) else np.nan
        ending = Named(str(line.get_label()), end, line.get_color(), not bright, dash=dashes)
        self.named.append(ending)

    def band(self, color: Any, x: Any, low: Any, high: Any) -> None:
        """Draw one pale band with thin lines along its edges."""
        alpha = 0.30 if self.ink.dark else 0.16
        look = {"color": color, "zorder": 1.5}
        self.ax.fill_between(x, low, high, alpha=alpha, linewidth=0, **look)
        for limit in (low, high):
            self.ax.plot(x, limit, linewidth=HAIR, alpha=0.55, label="_limit", **look)

    def bars(
        self, color: Any, x: Any, low: Any, high: Any, *, place: int = 0, count: int = 1
    ) -> None:
        """Draw intervals at the given x values, slightly shifted for each name."""
        from matplotlib.collections import LineCollection
        from matplotlib.transforms import ScaledTranslation

        aside = (place - 0.5 * (count - 1)) * _DODGE / 72.0
        shift = ScaledTranslation(aside, 0, self.ax.figure.dpi_scale_trans)
        ends = np.array([[x, low], [x, high]], dtype=float).transpose(2, 0, 1)  # (bar, end, axis)
        look = {"color": color, "linewidth": 1.1, "alpha": 0.75, "zorder": 2.6}
        bars = LineCollection([*ends], **look, transform=self.ax.transData + shift)
        self.ax.add_collection(bars, autolim=False)
        self.ax.update_datalim(ends[np.isfinite(ends).all(axis=2)])
        self.ax.autoscale_view()

    def uncertainty(
        self, tables: Mapping[Hashable, pd.DataFrame], low: str, high: str, kind: str
    ) -> None:
        """Draw intervals for the colored names: a band for one name, bars for several.

        ``tables`` have the columns n, x and the limits. ``kind`` begins the sentence in the
        caption.
        """
        names = list(filter(self.stands_out, tables))
        sizes = np.empty(0)
        for name in names:
            sizes = np.union1d(sizes, tables[name]["n"])
        if not len(sizes):
            return
        lacking = [self.text(x) for x in names if tables[x][low].isna().any()]
        if lacking:
            self.tell(f"No interval is known for some lists of {', '.join(lacking)}.")
        if len(names) == 1 and len(sizes) > SPARSE:
            rows = thin_table(tables[names[0]])
            self.band(self.color(names[0]), rows["x"], rows[low], rows[high])
            self.tell(f"Band: {kind}.")
            return
        if len(names) > self.look.most:
            return
        at = sizes
        room = 0.68 * panel_size(self.ax)[0] / (_DODGE * (len(names) + 1))
        if len(sizes) > min(SPARSE, max(room, 3)):  # a few, near the ticks
            x, n = (tables[names[0]][axis].to_numpy() for axis in ("x", "n"))
            order = np.argsort(x)[: np.count_nonzero(~np.isnan(x))]
            x = x[order]
            first, last = self.ax.get_xlim()
            inner = self.ax.xaxis.get_majorticklocs()
            inner = inner[(max(first, x[0]) < inner) & (inner < min(last, x[-1]))]
            if len(inner) > 3:
                inner = inner[1:-1]
            if len(names) <= 3:
                inner = np.append(x[len(x) // 20], inner)
            at = np.unique(n[order][np.searchsorted(x, inner).clip(0, len(x) - 1)])
        for place, name in enumerate(names):
            rows = tables[name][tables[name]["n"].isin(at)]
            at_these = rows["x"], rows[low], rows[high]
            self.bars(self.color(name), *at_these, place=place, count=len(names))
        kind, comma, after = kind.partition(",")
        if len(at) < len(sizes):
            kind += f" at n = {', '.join(map('{:,.0f}'.format, at))}"
        self.tell(f"Bars: {kind}{comma}{after}.")

    def rule(self, y: float, name: str = "") -> None:
        """Draw a horizontal reference line with a name at its end."""
        if not self._has_guide(name or "_rule", [0.0, 1.0], [y, y]):
            self.ax.axhline(y, label=name or "_rule", **self.gray)
        if name:
            self.refer(name, y)

    def random(self, share: float) -> str:
        """Return the name for a random order; include its precision for a single group."""
        return f"random {percent(share)}" if self.alone else "random order"

    def refer(self, name: str, y: float) -> None:
        """Label a reference line that ends at this height on the right."""
        self.named.append(Named(in_tex(name), y, self.ink.reference, True, reference=True))

    def guide(self, x: Any, y: Any, name: str, width: float = THIN, **more: Any) -> bool:
        """Draw a gray line that is not data, unless an earlier call did; return whether."""
        if self._has_guide(name, x, y):
            return False
        self.ax.plot(x, y, **{**self.gray, "linewidth": width, "label": name, **more})
        return True

    def _has_guide(self, name: str, x: Any, y: Any) -> bool:
        """Return whether the Axes has a line of this name along these points."""
        lines = [line for line in self.ax.get_lines() if line.get_label() == name and len(x)]
        return any(np.allclose(np.interp(x, *line.get_data()), y) for line in lines)

    def dots(self, x: Any, y: Any, color: Any, **more: Any) -> None:
        """Draw marks without a line."""
        look = {"color": color, "marker": "o", "linestyle": "none", "label": "_dots", **more}
        self.ax.plot(x, y, **look)

    def field(self, x: Any, low: Any, high: Any, name: str) -> None:
        """Draw the range of random rankings as a gray area with an upper edge."""
        look = {"color": self.ink.fg, "alpha": 0.10, "linewidth": 0, "zorder": 1}
        if self.guide(x, high, name, zorder=1.04):
            self.ax.fill_between(x, low, high, **look)

    def values(self, header: str, values: Mapping[Hashable, str]) -> None:
        """Add a column to the key, with a value for each name."""
        if values:
            self.headers[header] = values

    def across(self, x: str, *, log: bool = False) -> None:
        """Put ticks for list sizes, fractions or recall values on the x axis."""
        if log:
            self.ax.set_xscale("log")
        if x == "n":
            set_ticks(self.ax.xaxis, compact, 5.0)
        else:
            set_ticks(self.ax.xaxis, in_percent, 4.0)

    def upwards(self, text: Any = in_percent, characters: float = 4.0) -> None:
        """Put ticks on the y axis."""
        set_ticks(self.ax.yaxis, text, characters)

    def limits(self, axis: str, low: float | None = None, high: float | None = None) -> None:
        """Set the limits of an axis, but keep the wider limits of panels that share the axis."""
        settle(self.ax)
        first, last = getattr(self.ax, f"get_{axis}lim")()
        if low is None:
            low = first
        if high is None:
            high = last
        if not getattr(self.ax, f"get_autoscale{axis}_on")():
            low = min(low, first)
            high = max(high, last)
        ends: Any = np.array([low, high])
        if getattr(self.ax, f"get_{axis}scale")() == "log":  # a log axis cannot show 0
            ends = np.where(ends <= 0.0, None, ends)
        getattr(self.ax, f"set_{axis}lim")(*ends.tolist())

    def start_at(self, bottom: float, floor: float = 0.0) -> None:
        """Start the y axis at or below this value, and leave space around the data."""
        low, high = self.ax.dataLim.intervaly
        if self.ax.get_yscale() == "linear" and np.isfinite(high - low):
            room = 0.05 * (high - low)
            self.limits("y", max(floor, min(bottom, low - room)), high + room)

    def reserve_top(self) -> None:
        """Keep existing and later titles above the text at the top of the axes."""
        same = (np.positive, np.positive)  # matplotlib's own functions are not pickled
        top = self.ax.secondary_xaxis("top", functions=same)
        top.set_xticks([])
        top.set_xticks([], minor=True)
        top.set_xlabel(" ", fontsize=font(self.ax, "note"), labelpad=3)
        top.spines["top"].set_visible(False)

    def frame(self, xlabel: str | None = None, ylabel: str | None = None) -> None:
        """Label the axes, using a single text size."""
        ax, look = self.ax, self.look
        ax.spines[["top", "right"]].set_visible(False)
        # labels of ticks reach farther than spines, which take long to measure
        ax.spines[:].set_in_layout(not self.alone)
        for label, setter in ((xlabel, ax.set_xlabel), (ylabel, ax.set_ylabel)):
            if label is not None:
                words = _SHORT.get(label, label) if small(ax) else label
                setter(in_tex(words), fontsize=font(ax, "label"))
        if look.title is not None and self.alone:
            ax.set_title(look.title, loc="left", fontsize=font(ax, "label"))
        ax.tick_params(labelsize=font(ax, "tick"), length=3, width=0.8)

    def finish(self, *, xlabel: str | None = None, ylabel: str | None = None) -> None:
        """Label the axes and name the lines."""
        self.frame(xlabel, ylabel)
        if self.alone:
            self.name()

    def finished(self) -> list[Named]:
        """Return the names with their values."""
        names = dict(zip(self.drawn.values(), self.drawn, strict=True))
        rows = list(self.named)
        for k, row in enumerate(rows if self.headers else ()):
            values = {title: x.get(names.get(k), "") for title, x in self.headers.items()}
            rows[k] = row._replace(values=values)
        places: dict[int, None] = {}  # in color order
        for name in filter(self.drawn.__contains__, self.look.order):
            places[self.drawn[name]] = None
        places |= dict.fromkeys(range(len(rows)))
        return [*map(rows.__getitem__, places)]

    def name(self) -> None:
        """Label the lines as requested: directly, in a legend, or not at all."""
        legend = self.look.legend
        if legend is None:
            from rankeval_pd.plotting.names import name_lines, remove_names

            remove_names(self.ax)  # one key names the lines of all calls, and each reference once
            record = self.record
            known = {x.text for x in record.names if x.reference}
            added = [x for x in self.finished() if not (x.reference and x.text in known)]
            record.names = sorted([*record.names, *added], key=lambda x: x.reference)
            record.headers |= dict.fromkeys(self.headers)
            name_lines(self.ax, record.names, [*record.headers], meet=self.meet)
            return
        handles, names = entries([self.ax])
        if legend and handles:
            self.ax.legend(handles, list(map(in_tex, names)), fontsize=font(self.ax, "note"))


def thin_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in order of n, thinned to the number that a band can show."""
    rows = rows.sort_values("n")
    return rows.iloc[some(len(rows), _POINTS)]


def some(count: int, most: int) -> np.ndarray[Any, Any]:
    """Return all positions, or if there are many, as many even ones as ones near the start."""
    if count <= most:
        return np.arange(count)
    even = np.linspace(0, count - 1, most // 2)
    head = np.geomspace(1, count, most // 2) - 1
    return np.unique(np.concatenate([even, head]).astype(int))


def level_before(attrs: Attrs) -> str:
    """Return the confidence level to write before a noun, such as "95% "; "" if unknown."""
    return "" if not attrs.get("level") else f"{percent_of(attrs['level'])} "


def joined(*parts: str) -> str:
    """Return the parts that are not empty, separated by commas."""
    return ", ".join(filter(None, parts))


def interval_header(level: float | None) -> str:
    """Return the header of a column of intervals."""
    return "confidence interval" if not level else f"{percent_of(level)} interval"


def interval_kind(attrs: Attrs, scope: str) -> str:
    """Return a description, such as "95% Wilson confidence intervals, at each n"."""
    words = [level_before(attrs).rstrip(), laws_of(attrs), "confidence intervals"]
    if attrs.get("average") and "strata" not in attrs:
        words.append(f"for the {over_of(attrs)}")
    words.append(target_of(attrs))
    return f"{' '.join(filter(None, words))}, {scope}"


def pairs_kind(attrs: Attrs, count: int) -> str:
    """Return the adjustment for pairwise tests: "for all 10 pairs" or "unadjusted"."""
    return adjustment(attrs) or "unadjusted" * (count > 1)


# ---- Ordinary legends, and line names above all panels of a figure


def entries(panels: Iterable[Axes]) -> tuple[list[Any], list[str]]:
    """Return the legend entries for these axes, without duplicates."""
    found: dict[tuple[str, Any], Any] = {}
    for ax in panels:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            color = getattr(handle, "get_color", handle.get_label)()
            found.setdefault((name, str(color)), handle)
    return list(found.values()), [name for name, _ in found]


def name_figure(panels: Sequence[Any], names: Sequence[Named]) -> None:
    """Write the line names of all panels above the panels, in the colors of the lines."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=x.color, lw=x.width, ls=x.dash) for x in names]
    ink = Ink.of(panels[0], outside=True)
    colors = [x.shade(ink) for x in names]
    look = {"handlelength": 1.4, "labelcolor": colors, "columnspacing": 1.4, "borderaxespad": 0.2}
    texts = [x.text for x in names]
    _legend(panels[0].figure, "upper", handles, texts, font(panels[0], "name"), 3.6, **look)


def _legend(
    figure: Any,
    side: str,
    handles: list[Any],
    texts: list[str],
    size: float,
    handle: float,
    **look: Any,
) -> Legend:
    """Place a legend above or below the panels, in as many columns as fit."""
    room = 0.94 * 72.0 * figure.bbox.width / figure.dpi
    widest = max(wide(text, size) for text in texts) + handle * size
    columns = max(1, min(len(texts), int(room / widest)))
    place = f"{side} center"
    if type(figure.get_layout_engine()).__name__ == "ConstrainedLayoutEngine":
        place = f"outside {place}"
    legend: Legend = figure.legend(
        handles, texts, ncols=columns, loc=place, frameon=False, fontsize=size, **look
    )
    if side == "lower" and figure.get_layout_engine() is None:
        rows = -(-len(texts) // columns)
        figure.subplots_adjust(bottom=0.14 + 1.6 * size * rows / (72.0 * figure.get_figheight()))
    return legend


@checked_call
def shared_legend(figure: Figure | Any) -> Legend | None:
    """Place one legend below all panels of a figure, instead of names in the panels.

    Parameters
    ----------
    figure : Figure or SubFigure
        The figure, after all axes are drawn. A name that occurs in several panels appears once.

    Returns
    -------
    Legend or None
        The legend, or None if no line has a name.

    Notes
    -----
    Use a constrained layout (``plt.subplots(layout="constrained")``) to reserve space for the
    legend.

    Examples
    --------
    >>> import matplotlib.pyplot as plt, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> figure, axes = plt.subplots(1, 2, layout="constrained")
    >>> _ = df.rankeval.plot.roc(ax=axes[0]), df.rankeval.plot.gain(ax=axes[1])
    >>> legend = rankeval_pd.plotting.shared_legend(figure)
    >>> [text.get_text() for text in legend.get_texts()]
    ['good', 'fair', 'random order', 'ideal order']
    """
    handles, found = entries(figure.axes)
    from rankeval_pd.plotting.names import remove_names

    earlier = [ax.get_legend() for ax in figure.axes if ax.get_legend() is not None]
    for ax in figure.axes:
        remove_names(ax)
    for artist in [*earlier, *figure.legends]:
        artist.remove()
    if not handles:
        return None
    texts = [in_tex(name) for name in found]
    return _legend(figure, "lower", handles, texts, font(figure.axes[0], "note"), 4.0)
