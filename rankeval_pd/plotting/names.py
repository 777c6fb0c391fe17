"""Names in a plot: at the ends of lines, in a key, or above the panel."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea, HPacker, TextArea, VPacker
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox, ScaledTranslation

from rankeval_pd.plotting.look import LEAST, Ink, Named, cut_texts, font, panel_size, wide
from rankeval_pd.stats import AnyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 1.12  # line height of names, relative to the font size
_MOVED = 0.35  # largest relative shift of a name without a leader line
_KEPT = 0.62  # fraction of a panel's width reserved for the axes
_APART = 0.01  # smallest difference between line ends, relative to the range
_MARGIN = 14.0  # margin around a key in points


def spread_apart(wanted: Any, least: float, low: float, high: float) -> AnyArray:
    """Return positions close to the desired positions, within limits and at least this far apart.

    The method is isotonic regression (pool adjacent violators) of the positions minus the space for
    each name.
    """
    order = np.argsort(wanted, kind="stable")
    pools = []
    for k, place in enumerate(np.asarray(wanted, dtype=float)[order]):
        pools.append((place - k * least, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [((a * m + b * n) / (m + n), m + n)]
    flat = np.repeat([value for value, _ in pools], [count for _, count in pools])
    flat = np.clip(flat, low, max(low, high - (len(flat) - 1) * least))
    result = np.empty(len(flat))
    result[order] = flat + np.arange(len(flat)) * least
    return result


class Names(Artist):
    """Names of lines, placed at draw time, after zooming, resizing and layout."""

    def __init__(self, ax: Axes) -> None:
        super().__init__()
        self.axes: Any = ax
        self.set_figure(ax.figure)
        self.set_clip_on(False)
        self.set_zorder(5)
        ax.add_artist(self)


class EndLabels(Names):
    """Names next to the panel, level with the line ends but without overlap."""

    def __init__(self, ax: Axes, names: Sequence[Named], size: float) -> None:
        super().__init__(ax)
        self.names, self.size = list(names), size
        ink = Ink.of(ax, outside=True)
        self.texts = []
        for x in names:
            color = ink.note if x.muted else ink.text(x.color)
            look: dict[str, Any] = {"fontsize": size, "va": "center_baseline"}
            self.texts.append(Text(0, 0, x.text, color=color, figure=ax.figure, **look))

    def get_children(self) -> list[Artist]:
        """Return the label artists."""
        return list(self.texts)

    def _place(self) -> list[Any]:
        """Move the labels to their positions, and return the ends of the leader lines."""
        ax = self.axes
        pixels = self.axes.figure.dpi / 72.0
        right = ax.get_xlim()[1]
        ends = np.array([ax.transData.transform((right, x.y))[1] for x in self.names])
        own = np.clip(np.nan_to_num(ends, nan=ax.bbox.y0), ax.bbox.y0, ax.bbox.y1)
        size = self.size
        while size > LEAST and _LINE * size * pixels * len(own) > ax.bbox.height:
            size -= 0.5
        room = 2.0 * pixels
        places = spread_apart(own, _LINE * size * pixels, ax.bbox.y0 - room, ax.bbox.y1 + room)
        moved = bool(np.abs(places - own).max(initial=0.0) > _MOVED * size * pixels)
        start = ax.bbox.x1 + room
        stop = ax.bbox.x1 + (13.0 if moved else 5.0) * pixels
        for text, y in zip(self.texts, places, strict=True):
            text.set_fontsize(size)
            text.set_position((stop + room * moved, y))
        return [((start, a), (stop, b)) for a, b in zip(own, places, strict=True)] * moved

    def get_window_extent(self, renderer: Any = None) -> Bbox:
        """Return the extent of the labels."""
        self._place()
        return Bbox.union([text.get_window_extent(renderer) for text in self.texts])

    def draw(self, renderer: Any) -> None:
        """Draw the labels, with leader lines for labels that were moved."""
        if not self.get_visible():
            return
        ink = Ink.of(self.axes, outside=True)
        for ((x0, y0), (x1, y1)), name in zip(self._place(), self.names, strict=False):
            color = ink.reference if name.muted else name.color
            leader = Line2D([x0, x0 + 0.35 * (x1 - x0), x1], [y0, y1, y1], lw=0.6, color=color)
            leader.set_figure(self.axes.figure)
            leader.draw(renderer)
        for text in self.texts:
            text.draw(renderer)


class Key(Names):
    """A table of names in a corner that contains no lines, or above the panel."""

    def __init__(self, ax: Axes, inside: Any, above: Sequence[Any]) -> None:
        super().__init__(ax)
        self.names = list(above)
        self.inside: Any = AnchoredOffsetbox(
            "lower right", child=inside, frameon=False, pad=0, borderpad=0.7
        )
        self._join(self.inside)
        self.inside.set_bbox_to_anchor(ax.bbox)

    def _join(self, box: Any) -> None:
        box.set_figure(self.axes.figure)
        box.axes = self.axes

    def get_children(self) -> list[Artist]:
        """Return the table, or the rows above the panel."""
        return [self._chosen(self.axes.figure.canvas.get_renderer())]

    def _chosen(self, renderer: Any) -> Any:
        ax = self.axes
        pixels = self.axes.figure.dpi / 72.0
        extent = self.inside.get_child().get_bbox(renderer)
        margin = _MARGIN * pixels
        place = corner(
            ax, (extent.width + margin) / ax.bbox.width, (extent.height + margin) / ax.bbox.height
        )
        if place is not None:
            self.inside.loc = AnchoredOffsetbox.codes[place]
            return self.inside
        for item in self.names:
            item.set_figure(ax.figure)
        sizes = [item.get_bbox(renderer).width + 9.0 * pixels for item in self.names]
        rows: list[list[Any]] = [[]]
        room = left = max(ax.bbox.width, 0.76 * panel_size(ax)[0] * pixels) + 10.0 * pixels
        for item, size in zip(self.names, sizes, strict=True):
            if size > left and rows[-1]:
                rows.append([])
                left = room
            rows[-1].append(item)
            left -= size
        written = any(ax.get_title(loc) for loc in ("left", "center", "right"))
        tall = 1.5 * ax.title.get_fontsize() / 72.0 if written else 0.0
        title = ScaledTranslation(0, tall, ax.figure.dpi_scale_trans)
        lines: list[Any] = [HPacker(children=row, pad=0, sep=9) for row in rows]
        box = AnchoredOffsetbox(
            "lower left",
            child=VPacker(children=lines, pad=0, sep=2),
            frameon=False,
            pad=0,
            borderpad=0.3,
            bbox_to_anchor=(0, 1),
            bbox_transform=ax.transAxes + title,
        )
        self._join(box)
        return box

    def get_window_extent(self, renderer: Any = None) -> Bbox:
        """Return the extent of the names."""
        renderer = renderer or self.axes.figure.canvas.get_renderer()
        return self._chosen(renderer).get_window_extent(renderer)  # type: ignore[no-any-return]

    def draw(self, renderer: Any) -> None:
        """Draw the names."""
        if self.get_visible():
            self._chosen(renderer).draw(renderer)


def corner(ax: Axes, across: float, upwards: float) -> str | None:
    """Return the corner in which a box of this size covers no data.

    If no corner is free and the layout can reserve space above the panel, return None. Otherwise
    return the corner with the least data.
    """
    drawn = drawn_paths(ax)
    hits = {}
    for height, side in itertools.product(("upper", "lower"), ("right", "left")):
        x = (1.0 - across) * (side == "right")
        y = (1.0 - upwards) * (height == "upper")
        box = Bbox.from_bounds(x, y, across, upwards)
        hits[f"{height} {side}"] = sum(
            path.intersects_bbox(box, filled=False) + box.count_contains(path.vertices)
            for path in drawn
        )
    best = min(hits, key=hits.__getitem__)
    free = hits[best] == 0 and max(across, upwards) <= 1.0
    return best if free or ax.figure.get_layout_engine() is None else None


def drawn_paths(ax: Axes) -> list[Path]:
    """Return the outlines of data and text, in units of the panel."""
    drawn = [
        line.get_transform().transform(line.get_xydata())
        for line in ax.get_lines()
        if line.get_zorder() >= 1.0
    ]
    for bars in ax.collections:
        for path in bars.get_paths() if bars.get_zorder() > 1.05 else ():
            drawn.append(bars.get_transform().transform(path.vertices))
        if not hasattr(bars, "get_segments") and len(np.asarray(bars.get_offsets())):  # points
            drawn += [ax.transData.transform([p]) for p in np.asarray(bars.get_offsets())]
    drawn += [text.get_window_extent().corners()[[0, 1, 3, 2]] for text in ax.texts]
    shares = [ax.transAxes.inverted().transform(points) for points in drawn]
    return [Path(x[np.isfinite(x).all(axis=1)]) for x in shares if np.isfinite(x).any()]


# ---- Positions of names


def name_lines(ax: Axes, names: Sequence[Named], headers: Sequence[str], *, meet: bool) -> None:
    """Write line names at the line ends, in a key, or above the panel, where they fit.

    If ``meet`` is True, all lines end at one point. ``headers`` are the column titles in a key.
    """
    bright = [x for x in names if not x.muted or x.reference]
    # only a layout reserves space on the right
    if not (meet or headers) and ax.figure.get_layout_engine() is not None:
        for named in (names, bright):
            if named and _ends_fit(ax, named):
                EndLabels(ax, named, font(ax, "name"))
                return
    if bright:
        _add_key(ax, bright, headers)


def remove_names(ax: Axes) -> None:
    """Remove the names of lines that an earlier call wrote."""
    for artist in [x for x in ax.get_children() if isinstance(x, Names)]:
        artist.remove()


def _ends_fit(ax: Axes, names: Sequence[Named]) -> bool:
    """Return whether there is room for names next to the panel."""
    width, height = panel_size(ax)
    if _LINE * LEAST * len(names) > 0.62 * height:
        return False
    size = font(ax, "name")
    widest = 0.0
    ends = []
    for x in names:
        widest = max(widest, wide(x.text, size))
        if not x.reference:
            ends.append(x.y)
    axis = 4.2 * font(ax, "tick") + 1.3 * font(ax, "label") + 8.0  # on the left
    low, high = ax.get_ylim()
    together = len(ends) > 2 and max(ends) - min(ends) < _APART * max(abs(high - low), 1e-300)
    return widest + 16.0 <= (1.0 - _KEPT) * width - axis and not together


def _add_key(ax: Axes, names: Sequence[Named], headers: Sequence[str]) -> None:
    """Add a row for each name, with a dash, the name in color, and values."""
    ink = Ink.of(ax)
    out = Ink.of(ax, outside=True)
    size = font(ax, "note")
    room = 0.45 * panel_size(ax)[0]
    texts = cut_texts([x.text for x in names], size, room)
    names = [x._replace(text=text) for x, text in zip(names, texts, strict=True)]

    most = 0.62 * panel_size(ax)[0]
    needed = 19.0 + max(wide(x.text, size) for x in names)
    kept: list[str] = []
    for title in headers:
        column = [title, *(x.values.get(title, "") for x in names)]
        needed += 7.0 + max(wide(word, size) for word in column)
        if needed <= most:
            kept.append(title)
    rows: list[list[Any]] = []
    above: list[Any] = []
    if headers:
        titles = [_words(title, ink.note, size) for title in kept]
        rows.append([DrawingArea(14, size, 0, 0), _words(" ", ink.note, size), *titles])
    if kept:
        above.append(_words(headers[0], out.note, size))
    for x in names:
        values = [_words(x.values.get(title, ""), ink.fg, size) for title in kept]
        dash = DrawingArea(14, size, 0, 0)
        look = {"lw": x.width, "color": x.color, "ls": x.dash}
        dash.add_artist(Line2D([0, 14], [0.4 * size] * 2, **look))
        rows.append([dash, _words(x.text, x.shade(ink), size), *values])
        words = x.text
        if kept and x.values.get(kept[0]):
            words += f" {x.values[kept[0]]}"
        above.append(_words(words, x.shade(out), size))
    columns: list[Any] = [
        VPacker(children=list(cells), pad=0, sep=2.5, align="right" if k > 1 else "left")
        for k, cells in enumerate(zip(*rows, strict=True))
    ]
    Key(ax, HPacker(children=columns, pad=0, sep=5, align="top"), above)


def _words(words: str, color: Any, size: float) -> TextArea:
    return TextArea(words, textprops={"fontsize": size, "color": color})
