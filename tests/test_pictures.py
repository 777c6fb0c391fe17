"""The picture language, measured: room, letters, overlaps, contrast, colors by name, words.

Every plot is drawn in settings of theme x size x count of names. The ordinary tests take a row of
settings in which each pair of values occurs; the slow lane takes all.
"""

from __future__ import annotations

import itertools
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.text import Text

from rankeval_pd.plotting.look import contrast
from tests.questions import runs

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

THEMES = {"white": "default", "dark": "dark_background", "gray": "grayscale"}
SIZES = {"page": (6.4, 4.8), "column": (3.15, 2.36), "grid": (6.4, 4.8)}
COUNTS = (2, 6, 12, 20)
#: each pair of theme, size and count occurs
PAIRWISE = [
    ("white", "page", 2), ("white", "column", 6), ("white", "grid", 12), ("white", "page", 20),
    ("dark", "column", 2), ("dark", "grid", 6), ("dark", "page", 12), ("dark", "column", 20),
    ("gray", "grid", 2), ("gray", "page", 6), ("gray", "column", 12), ("gray", "grid", 20),
]  # fmt: skip
NAMES = [
    "log-likelihood", "t", "chi-squared", "MI", "frequency", "Dice", "z-score", "odds ratio",
    "MI cubed", "Poisson", "Jaccard", "cosine", "random", "length", "tf-idf", "PMI", "LogDice",
    "delta P", "Ochiai", "Fager",
]  # fmt: skip
N_RESAMPLES = {"n_resamples": 200}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def candidates(count: int, size: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    gold = rng.random(size) < 0.2
    scores = {
        NAMES[k]: rng.normal(size=size) + 1.6 * (1.0 - k / count) * gold for k in range(count)
    }
    return pd.DataFrame({**scores, "gold": gold})


def items(count: int) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    skill = np.linspace(0.9, 0.55, count)
    return pd.DataFrame(rng.random((300, count)) < skill, columns=NAMES[:count])


def samples(count: int) -> pd.DataFrame:
    return candidates(count).assign(part=np.arange(600) % 12)


A, B = NAMES[0], NAMES[1]
PICTURES = {
    "precision": lambda k, ax: candidates(k).rankeval.plot.precision(ax=ax),
    "precision of one": lambda k, ax: candidates(k).rankeval.plot.precision(
        highlight=A, n_resamples=50, ax=ax
    ),
    "precision of few n": lambda k, ax: candidates(k).rankeval.plot.precision(
        [50, 100, 200], ax=ax
    ),
    "comparison": lambda k, ax: candidates(k).rankeval.plot.comparison(A, B, n_resamples=99, ax=ax),
    "comparison of all": lambda k, ax: candidates(min(k, 6)).rankeval.plot.comparison(
        simultaneous=False, ax=ax
    ),
    "recall_band": lambda k, ax: candidates(k).rankeval.plot.recall_band(n_resamples=50, ax=ax),
    "random_bound": lambda k, ax: candidates(k).rankeval.plot.random_bound(ax=ax),
    "random_cdf": lambda k, ax: candidates(k).rankeval.plot.random_cdf(20, 0.05, ax=ax),
    "roc": lambda k, ax: candidates(k).rankeval.plot.roc(bands=0.05, ax=ax),
    "precision_recall": lambda k, ax: candidates(k).rankeval.plot.precision_recall(ax=ax),
    "det": lambda k, ax: candidates(k).rankeval.plot.det(ax=ax),
    "lift": lambda k, ax: candidates(k).rankeval.plot.lift(enrichment=[0.05, 0.1], ax=ax),
    "gain": lambda k, ax: candidates(k).rankeval.plot.gain(ax=ax),
    "area": lambda k, ax: candidates(k).rankeval.plot.area(ax=ax),
    "measure_ranks": lambda k, ax: candidates(k).rankeval.plot.measure_ranks(
        kind="roc", n_resamples=999, ax=ax
    ),
    "odds_ratios": lambda k, ax: candidates(k).rankeval.plot.odds_ratios(A, B, [50, 200], ax=ax),
    "tie_sensitivity": lambda k, ax: (
        candidates(k).round(1).rankeval.plot.tie_sensitivity(A, B, [50, 200], n_keys=4, ax=ax)
    ),
    "mean_difference": lambda k, ax: candidates(k).rankeval.plot.mean_difference(
        A, B, range(30, 90), n_resamples=50, ax=ax
    ),
    "confidence": lambda k, ax: items(k).rankeval.plot.confidence(**N_RESAMPLES, ax=ax),
    "pairs": lambda k, ax: items(k).rankeval.plot.pairs(adjust="holm", ax=ax),
    "system_ranks": lambda k, ax: items(k).rankeval.plot.system_ranks(**N_RESAMPLES, ax=ax),
    "gain_by_size": lambda k, ax: items(max(k, 4)).rankeval.plot.gain_by_size(
        [100, 300], **N_RESAMPLES, ax=ax
    ),
    "calibration": lambda k, ax: (
        items(max(k, 6))
        .rankeval.paired_bootstrap(**N_RESAMPLES, details=True)
        .rankeval.plot.calibration(items(max(k, 6))[::-1], bins=[0.001, 0.01, 0.1, 0.5], ax=ax)
    ),
    "paired_differences": lambda k, ax: items(k).rankeval.plot.paired_differences(
        A, B, **N_RESAMPLES, ax=ax
    ),
    "queries": lambda k, ax: (
        items(k)
        .set_axis([f"query {n} of the collection" for n in range(300)])
        .assign(**{A: np.linspace(0.0, 1.0, 300) ** 2})
        .rankeval.plot.queries(A, B, ax=ax)
    ),
    "interpolated_precision": lambda k, ax: runs(NAMES[:k]).rankeval.plot.interpolated_precision(
        n_resamples=99, ax=ax
    ),
    "critical_difference": lambda k, ax: items(k).rankeval.plot.critical_difference(
        adjust="holm", **N_RESAMPLES, ax=ax
    ),
    "repetition": lambda k, ax: samples(1).rankeval(by="part").plot.repetition(n=10, ax=ax),
}
FORESTS = ("area", "measure_ranks", "system_ranks", "critical_difference", "mean_difference")
NO_CURVES = (*FORESTS, "pairs")


def draw(name: str, theme: str, size: str, count: int):
    """Draw a picture in a setting; return its figure, its Axes, and the rows and columns."""
    rows, columns = (2, 2) if size == "grid" else (1, 1)
    with plt.style.context(THEMES[theme]):
        figure, panels = plt.subplots(
            rows, columns, figsize=SIZES[size], layout="constrained", squeeze=False
        )
        for other in panels.ravel()[1:]:  # neighbors that take what room they need
            other.set(xlabel="n", ylabel="precision")
        PICTURES[name](count, panels[0, 0])
        figure.draw_without_rendering()
    return figure, panels[0, 0], (rows, columns)


def parts(figure, ax, others=()):
    """Return the axes that belong to the picture: what stands in the place of one."""
    neighbors = {x for x in figure.axes if x.get_xlabel() == "n" and x.get_ylabel() == "precision"
                 and not x.lines and not x.collections}  # fmt: skip
    return [x for x in figure.axes if x not in neighbors or x is ax]


def texts(panels):
    """Return every text that is seen."""
    found = []
    for ax in panels:
        for text in ax.findobj(Text):
            if text.get_text().strip() and text.get_visible() and _shown(text, ax):
                found.append(text)
    return list(dict.fromkeys(found))


def _shown(text, ax) -> bool:
    for axis, inside in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        if not axis.get_visible() and text in axis.findobj(Text):
            return False
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            low, high = sorted(inside)
            if text in (tick.label1, tick.label2):
                room = 1e-9 * (high - low)
                drawn = text in ([tick.label1] * tick.label1.get_visible())
                return drawn and low - room <= tick.get_loc() <= high + room
    return True


def behind(text, figure):
    """Return the color behind a text: that of the cell, the axes or the figure it stands on."""
    at = text.get_window_extent()
    middle = (at.x0 + at.x1) / 2, (at.y0 + at.y1) / 2
    for ax in figure.axes:
        if not ax.bbox.contains(*middle):
            continue
        for cells in ax.collections:
            paths, faces = cells.get_paths(), cells.get_facecolors()
            for path, face in zip(
                paths, itertools.cycle(faces) if len(faces) else (), strict=False
            ):
                inside = len(paths) == len(faces) and cells.get_transform().transform_path(path)
                if inside and face[3] == 1 and inside.contains_point(middle):
                    return to_hex(face)
        if ax.patch.get_visible() and to_rgba(ax.get_facecolor())[3] == 1:
            return to_hex(ax.get_facecolor())
    return to_hex(figure.get_facecolor())


API = re.compile(
    r"highlight|intervals?=|bands=|\w+_\w+=|adjust|alpha|n_resamples|max-t|clopper|rankeval|\w+\(\)"
)


def check(name: str, theme: str, size: str, count: int) -> None:
    figure, ax, (rows, columns) = draw(name, theme, size, count)
    panels = parts(figure, ax)
    drawn = texts(panels)
    boxes = [(t, t.get_window_extent()) for t in drawn]
    for text, box in boxes:
        words = repr(text.get_text())
        assert text.get_fontsize() >= 7.0, words
        assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1, words
        assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1, words
        assert contrast(text.get_color(), behind(text, figure)) >= 4.5, words
        assert not API.search(text.get_text()), words
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        shared = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        # extents hold the room of letters that go down or up: a point of it may be shared
        near = min(shared) <= 1.2 * figure.dpi / 72 or one.get_rotation() not in (0, 90)
        assert near, (one.get_text(), other.get_text(), shared)
    _check_room(name, figure, ax, panels, rows, columns)
    _check_lines(figure, panels)


def _check_room(name, figure, ax, panels, rows, columns) -> None:
    wide, high = figure.bbox.width / columns, figure.bbox.height / rows
    own = [p.get_window_extent() for p in panels]
    if name in FORESTS:
        own += [t.get_window_extent() for t in ax.texts]
    box = mpl.transforms.Bbox.union(own)
    square = ax.get_box_aspect() is not None and name != "pairs"
    if name != "pairs":
        assert box.height >= 0.60 * high - 1
    if square:
        assert box.width >= 0.60 * min(wide, high) - 1
    elif name != "pairs":
        assert box.width >= 0.62 * wide - 1


def _check_lines(figure, panels) -> None:
    """Contrast of each line of data of 3:1; muted lines, references and bands are exempt."""
    for ax in panels:
        face = ax.get_facecolor() if ax.patch.get_visible() else figure.get_facecolor()
        bg = to_hex(face)
        for line in ax.get_lines():
            if line.get_zorder() >= 2 and line.get_linestyle() != "None" and len(line.get_xdata()):
                assert contrast(line.get_color(), bg) >= 3.0, line.get_label()
        for bars in ax.collections:
            if isinstance(bars, LineCollection) and bars.get_zorder() >= 2:
                assert all(contrast(color[:3], bg) >= 3.0 for color in bars.get_colors())


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_have_room_for_what_they_say(name):
    place = list(PICTURES).index(name)
    for k in range(3):  # over all pictures every setting; over three runs of one each value
        check(name, *PAIRWISE[(place + 5 * k) % len(PAIRWISE)])


@pytest.mark.full
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PICTURES)
def test_pictures_in_all_settings(name, theme):
    for size, count in itertools.product(SIZES, COUNTS):
        try:
            check(name, theme, size, count)
        except AssertionError as error:
            raise AssertionError(f"{size}, {count} names: {error}") from error
        plt.close("all")
