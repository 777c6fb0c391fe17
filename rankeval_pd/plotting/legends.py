"""Ordinary legends, and line names above all panels of a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rankeval_pd.errors import checked_call
from rankeval_pd.plotting.ink import Ink
from rankeval_pd.plotting.look import Named, in_tex
from rankeval_pd.plotting.numbers import font, wide

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend


def entries(panels: Iterable[Axes]) -> tuple[list[Any], list[str]]:
    """Return the legend entries for these axes, without duplicates."""
    by_name: dict[str, Any] = {}
    for ax in panels:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            by_name.setdefault(name, handle)
    return list(by_name.values()), list(by_name)


def place_legend(ax: Axes, legend: bool | str) -> None:
    """Place an ordinary legend inside the axes, on the right, or below the figure."""
    handles, names = entries([ax])
    if not handles or legend is False:
        return
    names = [in_tex(name) for name in names]
    if legend == "figure":
        shared_legend(ax.figure)
    elif legend == "outside":
        ax.legend(handles, names, loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False,
                  borderaxespad=0.0, fontsize=font(ax, "note"))  # fmt: skip
    else:
        ax.legend(handles, names, fontsize=font(ax, "note"))


def unname(panels: Iterable[Axes]) -> None:
    """Remove the line names from these axes."""
    from rankeval_pd.plotting.names import EndLabels, Key

    for ax in panels:
        for artist in [x for x in ax.get_children() if isinstance(x, EndLabels | Key)]:
            artist.remove()
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()


def name_figure(panels: Sequence[Any], names: Sequence[Named]) -> None:
    """Write the line names of all panels above the panels, in the colors of the lines."""
    from matplotlib.lines import Line2D

    figure = panels[0].figure
    size = font(panels[0], "name")
    handles = [
        Line2D([], [], color=x.color, lw=0.8 if x.reference else 2.0, ls=x.dash) for x in names
    ]
    room = 0.94 * 72.0 * figure.bbox.width / figure.dpi
    widths = [wide(x.text, size) + 3.6 * size for x in names]
    columns = max(1, min(len(names), int(room / max(widths))))
    ink = Ink.of(panels[0], outside=True)
    constrained = type(figure.get_layout_engine()).__name__ == "ConstrainedLayoutEngine"
    figure.legend(
        handles, [x.text for x in names], ncols=columns, frameon=False, fontsize=size,
        loc="outside upper center" if constrained else "upper center", handlelength=1.4,
        labelcolor=[ink.note if x.reference else ink.text(x.color) for x in names],
        columnspacing=1.4, borderaxespad=0.2,
    )  # fmt: skip


@checked_call
def shared_legend(figure: Figure | Any, *, names: Iterable[str] | None = None) -> Legend | None:
    """Place one legend below all panels of a figure, instead of names in the panels.

    Parameters
    ----------
    figure : Figure or SubFigure
        The figure, after all axes are drawn. A name that occurs in several panels appears once.
    names : iterable of str, optional
        Names to include, in legend order. By default, all names are included.

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
    if names is not None:
        known = dict(zip(found, handles, strict=True))
        found = [name for name in names if name in known]
        handles = [known[name] for name in found]
    unname(figure.axes)
    for earlier in list(figure.legends):
        earlier.remove()
    if not handles:
        return None
    size = font(figure.axes[0], "note")
    room = 0.94 * 72.0 * figure.bbox.width / figure.dpi
    columns = max(1, min(len(found), int(room / max(wide(x, size) + 4.0 * size for x in found))))
    constrained = type(figure.get_layout_engine()).__name__ == "ConstrainedLayoutEngine"
    where: Any = "outside lower center" if constrained else "lower center"
    legend: Legend = figure.legend(
        handles, [in_tex(x) for x in found], loc=where, ncols=columns, frameon=False,
        fontsize=size,
    )  # fmt: skip
    if figure.get_layout_engine() is None:
        rows = -(-len(found) // columns)
        figure.subplots_adjust(bottom=0.14 + 1.6 * size * rows / (72.0 * figure.get_figheight()))
    return legend
