"""What a reader of a plot sees: lines, bars, dots, names, texts, and whether they have room."""

from __future__ import annotations

import itertools
from math import ceil, floor
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.text import Text
from numpy.testing import assert_array_equal as equal

from rankeval_pd.plotting.look import Ink, mixed_color
from rankeval_pd.plotting.names import EndLabels, Key

# ----------------------------------------------------------------------------- lines, bars and dots


def line(ax, name):
    """Return the first line whose label has this text."""
    return next(x for x in ax.get_lines() if name in str(x.get_label()))


def xy(ax, name) -> np.ndarray:
    return line(ax, name).get_xydata()


def color(ax, name):
    return next(to_hex(x.get_color()) for x in ax.get_lines() if x.get_label().strip() == name)


def segments(bars) -> np.ndarray:
    """Return place, low and high of each bar upwards."""
    ends = np.array(bars.get_segments())
    equal(ends[:, 0, 0], ends[:, 1, 0])
    return np.column_stack([ends[:, 0, 0], ends[:, :, 1]])


def limits(ax, label="_limit") -> np.ndarray:
    """Return the heights of the two edges of a band."""
    return np.transpose([x.get_ydata() for x in ax.get_lines() if x.get_label() == label])


# ------------------------------------------------------------------------------- names and legends


def written(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def named(ax) -> list[str]:
    """Return the names and values at the ends of lines, in a key, or above the panel."""
    own = [x for x in ax.get_children() if isinstance(x, EndLabels | Key)]
    every = [text.get_text() for x in own for text in x.findobj(Text)]
    return [text for text in every if text.strip()]


def entries(legend) -> list[str]:
    return [text.get_text() for text in legend.get_texts()]


# --------------------------------------------------------------------------- rows, ranks and cells


def columns(ax) -> dict[str, list[str]]:
    """Return the texts on the right of the rows, by their header."""
    found, rows = {}, []
    for text in ax.texts:
        across, upwards = np.broadcast_to(text.xycoords, 2)
        if (across, upwards) == ("axes fraction", "data"):
            rows.append(text.get_text())
        elif across == "axes fraction":
            found[text.get_text()], rows = rows, []
    return found


def rows_of(ax) -> list[str]:
    """Return the names of the rows; of a matrix of pairs, those on the diagonal."""
    diagonal = [t.get_text() for t in ax.texts if getattr(t, "xy", (0, 0))[0] > t.get_position()[0]]
    return [text.get_text() for text in ax.get_yticklabels()] or diagonal


def tied(ax) -> list[set[int]]:
    """Return the rows that each bar on the right joins: where it has dots, those with a dot."""
    groups: list[set[int]] = []
    for drawn in ax.get_lines():
        y = drawn.get_ydata()
        if drawn.get_label() == "_tied" and drawn.get_marker() == "o":
            groups[-1] = {int(k) for k in y}
        elif drawn.get_label() == "_tied":
            groups.append(set(range(ceil(y[0]), floor(y[1]) + 1)))
    return groups


def rank_texts(table) -> list[str]:
    ranks = table[["rank_low", "rank_high"]].itertuples(index=False)
    return [f"{low}" if low == high else f"{low}–{high}" for low, high in ranks]


def cells(ax) -> tuple[dict[tuple[int, int], str | None], list[str]]:
    """Return the color of each cell, None where it is pale, and the names on the diagonal."""
    (drawn,) = ax.collections
    places = [tuple(int(x) for x in path.get_extents().min[::-1]) for path in drawn.get_paths()]
    pale = mixed_color("black", "white", 0.08)
    colors = [to_hex(face) for face in drawn.get_facecolors()]
    shades = [None if shade == pale else shade for shade in colors]
    return dict(zip(places, shades, strict=True)), rows_of(ax)


def check_rows(ax, table, value="value") -> None:
    """Assert that dots and intervals equal the table, row by row."""
    rows = np.arange(len(table))
    equal(ax.collections[1].get_offsets(), np.column_stack([table[value], rows]))
    ends = np.array(ax.collections[0].get_segments())
    drawn = np.column_stack([ends[:, :, 0], ends[:, 0, 1]])
    equal(drawn, np.column_stack([table[["ci_low", "ci_high"]], rows]))


def check_ties(ax, shared) -> None:
    """Assert that a bar joins two rows if, and only if, they are tied."""
    groups = tied(ax)
    for i, j in itertools.combinations(range(len(ax.get_yticks())), 2):
        assert any({i, j} <= group for group in groups) == bool(shared(i, j)), (i, j)


def check_ranks(ax, table, name) -> None:
    """Assert that values, intervals, ranks, ties and colors equal the table."""
    check_rows(ax, table)
    assert rows_of(ax) == table[name].tolist()
    faces = ax.collections[1].get_facecolors()
    assert [to_hex(face) == Ink.of(ax).accent for face in faces] == table["tied_for_best"].tolist()
    assert columns(ax)["rank"] == rank_texts(table)
    letters = [set(x) for x in table["letters"]]
    check_ties(ax, lambda i, j: letters[i] & letters[j])


# --------------------------------------------------------------------------------- texts and room


def texts(panels) -> list[Any]:
    """Return every text that is seen."""
    found = [text for ax in panels for text in ax.findobj(Text) if _is_seen(text, ax)]
    return list(dict.fromkeys(found))


def _is_seen(text, ax) -> bool:
    if not text.get_text().strip() or not text.get_visible():
        return False
    for axis, inside in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        if not axis.get_visible() and text in axis.findobj(Text):
            return False
        low, high = sorted(inside)
        room = 1e-9 * (high - low)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if text is tick.label2:
                return False
            if text is tick.label1:
                return low - room <= tick.get_loc() <= high + room
    return True


def check_places(figure, seen) -> None:
    """Assert that each text lies within the figure, and on no other."""
    boxes = [(text, Text.get_window_extent(text)) for text in seen]  # without arrows
    for text, box in boxes:
        assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1, text.get_text()
        assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1, text.get_text()
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        shared = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        # extents hold the room of letters that go down or up: a point of it may be shared
        near = min(shared) <= 1.2 * figure.dpi / 72 or one.get_rotation() not in (0, 90)
        assert near, (one.get_text(), other.get_text(), shared)


def laid_out(figure) -> None:
    """Draw, and assert that each text has its place."""
    figure.draw_without_rendering()
    above = [text for legend in figure.legends for text in legend.get_texts()]
    check_places(figure, [*texts(figure.axes), *above])
