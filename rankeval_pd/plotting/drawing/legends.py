"""The legend: off the data, within the figure, and never so large that the picture suffers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rankeval_pd.plotting.drawing.look import in_tex

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

_FONTS = (8.5, 8.0, 7.5, 7.0, 6.5, 6.0, 5.5, 5.0, 4.5)  # the largest that fits, in points
_SMALLER = 4  # how many of these are tried before names are broken into lines
_OVER = 1.08  # how much of the room a legend may take before names are left out
_TALL = 0.6  # of the room, which unbroken names may fill
_HEIGHT = 0.48  # of the panel that the axes keep at least, a little above what is promised
_GAP = 5.0  # points between the labels of the axis and the legend
_PADS = 8.0  # points that the layout leaves around a panel
_LINE = 1.22  # heights of a line of text, by its font
_SPACING = 0.3  # between entries
_HANDLE = 2.0  # lengths of the line before an entry, by the font
_SQUARE_ROOM = 95.0  # points beside a square in which a legend can be read
_SHORTER = (24, 16, 11)  # characters to which names are shortened where there is no room
_COLUMNS = 1.2  # between columns


class _Fit(NamedTuple):
    font: float
    columns: int
    names: list[str]
    width: float
    height: float


def entries(panels: Iterable[Axes]) -> tuple[list[Any], list[str]]:
    """Return what a legend of these axes holds, each name once."""
    by_name: dict[str, Any] = {}
    for ax in panels:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            by_name.setdefault(name, handle)
    return list(by_name.values()), list(by_name)


def panel_size(ax: Axes) -> tuple[float, float]:
    """Return width and height of the part of the figure that the axes may fill, in points."""
    figure = ax.figure
    width, height = (72.0 * side / figure.dpi for side in figure.bbox.size)
    spec: Any = ax.get_subplotspec()
    while spec is not None:
        grid = spec.get_gridspec()
        for ratios, span, across in (
            (grid.get_width_ratios(), spec.colspan, True),
            (grid.get_height_ratios(), spec.rowspan, False),
        ):
            part = sum(ratios[span.start : span.stop]) / sum(ratios)
            width, height = (width * part, height) if across else (width, height * part)
        spec = getattr(grid, "_subplot_spec", None)  # a grid within a grid
    return width, height


def shortened(text: str, most: int) -> str:
    """Return a name with its middle left out where it is too long."""
    if len(text) <= most:
        return text
    half = max(1, (most - 1) // 2)
    return f"{text[: most - 1 - half]}…{text[-half:]}"


def _wide(text: str) -> float:
    """Return the width of text, by the size of its font."""
    from matplotlib import rcParams

    if rcParams["text.usetex"]:
        return 0.5 * len(text)
    return _measured(str(text), tuple(rcParams["font.family"]))


@lru_cache(maxsize=2048)
def _measured(text: str, family: tuple[str, ...]) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    prop = FontProperties(family=list(family), size=10.0)
    width, _, _ = text_to_path.get_text_width_height_descent(text, prop, False)
    return 1.03 * float(width) / 10.0  # letters are set on whole pixels


class _Entry(str):
    """What stands in a legend, and what of it is a name that may be shortened."""

    after: str | None  #: what stands behind the name; None where there is no name

    def __new__(cls, text: str, after: str | None = None) -> _Entry:
        entry = super().__new__(cls, text)
        entry.after = after
        return entry

    def cut(self, most: int) -> _Entry:
        """Return the entry with its name shortened, and nothing else."""
        if self.after is None:
            return self
        name = self[: len(self) - len(self.after)] if self.after else str(self)
        return _Entry(shortened(name, most) + self.after, self.after)


def _fit(names: Sequence[Any], width: float, height: float, *, most_columns: int = 4) -> _Fit:
    """Return font, columns and lines of a legend that fits, the font as large as can be.

    Letters a little smaller are better than names of several lines.
    """
    widths = [_wide(name) for name in names]
    best: _Fit | None = None
    whole = [str(name) for name in names]
    for broken, fonts in ((False, _FONTS[:_SMALLER]), (True, _FONTS)):
        for font in fonts:
            listed = [
                _laid_out(names, widths, font, columns, width)
                for columns in range(1, min(most_columns, len(names)) + 1)
            ]
            fitting = [
                fit
                for fit in listed
                if fit.height <= height and fit.width <= width
                if broken or (fit.names == whole and fit.height <= max(_TALL * height, 60.0))
            ]
            if fitting:
                return min(fitting, key=lambda fit: (round(fit.height), fit.columns))
            best = min(listed, key=lambda fit: (fit.width > width, fit.height))
    if best is None:
        raise ValueError("a legend without names has no size")
    for most in _SHORTER:
        cut = [name.cut(most) if isinstance(name, _Entry) else name for name in names]
        if cut != list(names):
            return _fit(cut, width, height, most_columns=most_columns)
    return best


def _fitted(
    handles: list[Any], names: Sequence[Any], width: float, height: float, **options: Any
) -> tuple[list[Any], _Fit]:
    """Return the entries for which there is room, and how they are set.

    Where not even the smallest letters are enough, the last names of lines are left out, and a
    line says how many.
    """
    from matplotlib.lines import Line2D

    fit = _fit(names, width, height, **options)
    lines = [k for k, name in enumerate(names) if getattr(name, "after", None) is not None]
    count, shown = len(lines), handles
    while count > 1 and (fit.height > _OVER * height or fit.width > _OVER * width):
        count = int(0.8 * count)
        left_out = set(lines[count:])
        kept = [k for k in range(len(names)) if k not in left_out]
        place = kept.index(lines[count - 1]) + 1 if count else 0
        told = [names[k] for k in kept]
        told.insert(place, f"and {len(left_out):,} more")
        shown = [handles[k] for k in kept]
        shown.insert(place, Line2D([], [], linestyle="none"))
        fit = _fit(told, width, height, **options)
    return shown, fit


def _laid_out(
    names: Sequence[Any], widths: list[float], font: float, columns: int, width: float
) -> _Fit:
    handle = (_HANDLE + 0.6) * font
    between = (columns - 1) * _COLUMNS * font
    parts = _parts(len(names), columns)
    widest = [max(widths[part], default=0.0) * font + handle for part in parts]
    room = _cap(widest, width - between) - handle
    filled, high, total = [], 0.0, between
    for part in parts:
        lines = []
        for name, wide in zip(names[part], widths[part], strict=True):
            text = str(name)
            if wide * font > room:
                chars = max(8, int(0.97 * len(name) * room / (wide * font)))
                text = textwrap.fill(text, chars, break_on_hyphens=False)
            lines += text.split("\n")
            filled.append(text)
        total += max((_wide(line) * font + handle for line in lines), default=0.0)
        entries_here = part.stop - part.start
        high = max(high, font * (_LINE * len(lines) + _SPACING * entries_here))
    return _Fit(font, columns, filled, total, high + font * 0.4)


def _parts(count: int, columns: int) -> list[slice]:
    """Return which entries stand in which column, as matplotlib fills them."""
    rows, extra = divmod(count, columns)
    ends = [(column + 1) * rows + min(column + 1, extra) for column in range(columns)]
    return [slice(start, stop) for start, stop in zip([0, *ends], ends, strict=False)]


def _cap(widest: list[float], room: float) -> float:
    """Return the width to which the widest columns are cut, so that all have room together."""
    if sum(widest) <= room:
        return max(widest)
    left, open_ = room, sorted(widest)
    while open_ and open_[0] <= left / len(open_):
        left -= open_.pop(0)
    return left / max(len(open_), 1)


def _keywords(fit: _Fit) -> dict[str, Any]:
    return {
        "frameon": False, "fontsize": fit.font, "ncols": fit.columns, "handlelength": _HANDLE,
        "handletextpad": 0.6, "labelspacing": _SPACING, "columnspacing": _COLUMNS,
        "borderpad": 0.2, "borderaxespad": 0.0,
    }  # fmt: skip


def place_legend(ax: Axes, legend: bool | str, lines: Mapping[str, str] | None = None) -> None:
    """Put the legend where it was asked for; where it was not, below the axes, off the data.

    In a figure without a layout, which makes no room, it stands within the axes. Where not even
    the smallest letters fit, the names of lines are shortened, and nothing else.
    """
    handles, result = entries([ax])
    if legend is False or not handles:
        return
    after = lines or {}
    names = [_Entry(in_tex(name), after.get(name)) for name in result]
    if legend == "figure":
        shared_legend(ax.figure)
    elif legend == "outside":
        _beside(ax, handles, names)
    elif ax.figure.get_layout_engine() is None or ax.get_subplotspec() is None:
        _within(ax, handles, names)
    elif ax.get_box_aspect() is not None:
        _beside_square(ax, handles, names)
    else:
        _below(ax, handles, names)


def _depths(ax: Axes) -> tuple[float, float, float, float]:
    """Return how far labels stand out of the axes: left, below, above and right; in points."""
    scale = 72.0 / ax.figure.dpi
    box = ax.bbox
    below = above = left = 0.0
    across, up = ax.xaxis.get_tightbbox(), ax.yaxis.get_tightbbox()
    if across is not None:
        below, above = (box.y0 - across.y0) * scale, (across.y1 - box.y1) * scale
    if up is not None:
        left = (box.x0 - up.x0) * scale
    if ax.get_title():
        above += 1.6 * float(ax.title.get_fontsize())
    written = [text.get_window_extent().x1 for text in ax.texts if text.get_clip_path() is None]
    right = (max(written, default=box.x1) - box.x1) * scale
    return max(left, 0.0), max(below, 0.0), max(above, 0.0), max(right, 0.0)


def _below(ax: Axes, handles: list[Any], names: Sequence[str]) -> Legend:
    from matplotlib.transforms import ScaledTranslation

    width, height = panel_size(ax)
    left, below, above, right = _depths(ax)
    room = height * (1.0 - _HEIGHT) - below - above - _GAP - _PADS
    handles, fit = _fitted(handles, names, width - right - 4.0 * _PADS, room)
    # what is wider than the axes reaches below the labels on their left, not out of the panel
    centred = fit.width <= width - left - right - 4.0 * _PADS
    if not centred and ax.get_box_aspect() is not None:
        ax.set_anchor("E")  # so that the right end of a square is that of the panel
    shift = ScaledTranslation(0.0, -(below + _GAP) / 72.0, ax.figure.dpi_scale_trans)
    return ax.legend(
        handles, fit.names, loc="upper center" if centred else "upper right",
        bbox_to_anchor=(0.5 if centred else 1.0, 0.0), bbox_transform=ax.transAxes + shift,
        **_keywords(fit),
    )  # fmt: skip


def _beside(ax: Axes, handles: list[Any], names: Sequence[str]) -> Legend:
    from matplotlib.transforms import ScaledTranslation

    width, height = panel_size(ax)
    wide = max(0.33 * width, 90.0)
    handles, fit = _fitted(handles, names, wide, 0.95 * height, most_columns=1)
    written = ScaledTranslation(_depths(ax)[3] / 72.0, 0.0, ax.figure.dpi_scale_trans)
    return ax.legend(
        handles, fit.names, loc="upper left", bbox_to_anchor=(1.02, 1.0),
        bbox_transform=ax.transAxes + written, **_keywords(fit),
    )  # fmt: skip


def _beside_square(ax: Axes, handles: list[Any], names: Sequence[str]) -> Legend:
    """Put the legend in the room that a square leaves on its right, or below it."""
    width, height = panel_size(ax)
    left, below, above, right = _depths(ax)
    room = width - left - right - (height - below - above - _PADS) - 3.0 * _PADS
    if room < _SQUARE_ROOM:
        return _below(ax, handles, names)
    ax.set_anchor("W")
    handles, fit = _fitted(handles, names, room, 0.9 * height, most_columns=1)
    legend = ax.legend(
        handles, fit.names, loc="upper left", bbox_to_anchor=(1.02, 1.0), **_keywords(fit)
    )
    legend.set_in_layout(False)  # the room is there
    return legend


def _within(ax: Axes, handles: list[Any], names: Sequence[str]) -> Legend:
    scale = 72.0 / ax.figure.dpi
    wide, high = 0.94 * scale * ax.bbox.width, 0.55 * scale * ax.bbox.height
    handles, fit = _fitted(handles, names, wide, high)
    return ax.legend(
        handles, fit.names, loc="best",
        **{**_keywords(fit), "frameon": True, "framealpha": 0.75, "borderaxespad": 0.4},
    )  # fmt: skip


def shared_legend(figure: Figure | Any, *, names: Iterable[str] | None = None) -> Legend | None:
    """Put one legend below all panels of a figure, in the place of theirs.

    Parameters
    ----------
    figure : Figure or SubFigure
        Whose axes have been drawn. What stands in several legends stands in this one once.
    names : iterable of str, optional
        Which entries, in which order; all unless given.

    Returns
    -------
    Legend or None
        None where there is nothing to explain.

    Notes
    -----
    A figure with a layout (``plt.subplots(layout="constrained")``) makes room for it; in one
    without, the panels move up.

    Examples
    --------
    >>> import matplotlib.pyplot as plt, rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> figure, axes = plt.subplots(1, 2, layout="constrained")
    >>> _ = df.rankeval.plot.roc(ax=axes[0]), df.rankeval.plot.gain(ax=axes[1])
    >>> legend = rankeval_pd.plotting.shared_legend(figure)
    >>> axes[0].get_legend() is None
    True
    """
    handles, listed = entries(figure.axes)
    if names is not None:
        known = dict(zip(listed, handles, strict=True))
        listed = [name for name in names if name in known]
        handles = [known[name] for name in listed]
    for ax in figure.axes:
        own = ax.get_legend()
        if own is not None:
            own.remove()
    for earlier in list(figure.legends):
        earlier.remove()
    if not handles:
        return None
    width, height = (72.0 * side / figure.dpi for side in figure.bbox.size)
    fit = _fit([in_tex(name) for name in listed], width - 2.0 * _PADS, 0.3 * height, most_columns=5)
    engine = figure.get_layout_engine()
    constrained = type(engine).__name__ == "ConstrainedLayoutEngine"
    where: Any = "outside lower center" if constrained else "lower center"
    legend: Legend = figure.legend(handles, fit.names, loc=where, **_keywords(fit))
    share = (fit.height + _GAP) / height
    if engine is None:
        figure.subplots_adjust(bottom=share + 0.12)
    elif not constrained:
        engine.set(rect=(0.0, share, 1.0, 1.0))  # type: ignore[call-arg]
    return legend
