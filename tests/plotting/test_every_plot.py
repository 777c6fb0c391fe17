"""Walks over all plots: room, letters, contrast and words; styles, groups, Datasets, refusals."""

from __future__ import annotations

import inspect
import pickle
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgba

from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.look import Record, contrast
from rankeval_pd.plotting.names import EndLabels, Key
from rankeval_pd.plotting.panels import SHARING, PlotOptions
from rankeval_pd.roles import MEANINGS
from tests.plotting.seen import check_places, entries, laid_out, named, texts, written
from tests.questions import NAMES, OF_ITEMS, OF_RANKINGS, PLOTS, B, candidates, drawn, items

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
ALL = sorted(set(plotting.__all__) - {"caption", "shared_legend"})

THEMES = {"white": "default", "dark": "dark_background", "gray": "grayscale"}
SIZES = {"page": (6.4, 4.8), "column": (3.15, 2.36), "grid": (6.4, 4.8)}
#: each pair of theme, size and count occurs
SETTINGS = [
    ("white", "page", 2), ("white", "column", 6), ("white", "grid", 12), ("white", "page", 20),
    ("dark", "column", 2), ("dark", "grid", 6), ("dark", "page", 12), ("dark", "column", 20),
    ("gray", "grid", 2), ("gray", "page", 6), ("gray", "column", 12), ("gray", "grid", 20),
]  # fmt: skip
FORESTS = ("area", "measure_ranks", "system_ranks")


def test_every_plot_is_measured():
    assert set(ALL) == {name.partition(" ")[0] for name in PLOTS}


# ------------------------------------------------------------------------------ room and legibility


@pytest.mark.full
@pytest.mark.parametrize("name", PLOTS)
def test_pictures_have_room_for_what_they_say(name):
    for theme, size, count in SETTINGS:
        try:
            check_picture(name, theme, size, count)
        except AssertionError as error:
            raise AssertionError(f"{theme}, {size}, {count} names: {error}") from error
        plt.close("all")


def test_a_picture_has_room_for_what_it_says():
    check_picture("measure_ranks", "dark", "grid", 6)


API = re.compile(
    r"highlight|intervals?=|bands=|\w+_\w+=|adjust|alpha|n_resamples|max-t|clopper|rankeval|\w+\(\)"
)


def picture(name: str, theme: str, size: str, count: int) -> tuple[plt.Figure, plt.Axes, list]:
    """Draw a plot in a setting; return the figure, the panel and its neighbors."""
    rows, columns = (2, 2) if size == "grid" else (1, 1)
    with plt.style.context(THEMES[theme]):
        figure, panels = plt.subplots(
            rows, columns, figsize=SIZES[size], layout="constrained", squeeze=False
        )
        ax, *neighbors = panels.ravel()
        for other in neighbors:  # that take what room they need
            other.set(xlabel="n", ylabel="precision")
        drawn(name, ax, count)
        figure.draw_without_rendering()
    return figure, ax, neighbors


def check_picture(name: str, theme: str, size: str, count: int) -> None:
    figure, ax, neighbors = picture(name, theme, size, count)
    panels = [x for x in figure.axes if x not in neighbors]
    seen = texts(panels)
    check_places(figure, seen)
    for text in seen:
        words = repr(text.get_text())
        assert text.get_fontsize() >= 7.0, words
        assert contrast(text.get_color(), behind(text, figure)) >= 4.5, words
        assert not API.search(text.get_text()), words
    if name != "pairs":
        own = [p.get_window_extent() for p in panels]
        if name in FORESTS:
            own += [t.get_window_extent() for t in ax.texts]
        side = 1 + (size == "grid")
        check_room(figure, mpl.transforms.Bbox.union(own), ax, side)
    for panel in panels:
        check_lines(figure, panel)


def check_room(figure, box, ax, side) -> None:
    """Assert that names and notes leave most of the place to what is drawn."""
    wide, high = figure.bbox.width / side, figure.bbox.height / side
    assert box.height >= 0.60 * high - 1
    if ax.get_box_aspect() is not None:  # square
        assert box.width >= 0.60 * min(wide, high) - 1
    else:
        assert box.width >= 0.62 * wide - 1


def check_lines(figure, ax) -> None:
    """Contrast of each line of data of 3:1; muted lines, references and bands are exempt."""
    face = ax.get_facecolor() if ax.patch.get_visible() else figure.get_facecolor()
    bg = to_hex(face)
    for line in ax.get_lines():
        if line.get_zorder() >= 2 and line.get_linestyle() != "None" and len(line.get_xdata()):
            assert contrast(line.get_color(), bg) >= 3.0, line.get_label()
    for bars in ax.collections:
        if isinstance(bars, LineCollection) and bars.get_zorder() >= 2:
            assert all(contrast(color[:3], bg) >= 3.0 for color in bars.get_colors())


def behind(text, figure):
    """Return the color behind a text: that of the cell, the axes or the figure it stands on."""
    at = text.get_window_extent()
    middle = (at.x0 + at.x1) / 2, (at.y0 + at.y1) / 2
    for ax in figure.axes:
        if not ax.bbox.contains(*middle):
            continue
        for cells in ax.collections:
            paths, faces = cells.get_paths(), cells.get_facecolors()
            if len(paths) != len(faces):
                continue
            for path, face in zip(paths, faces, strict=True):
                inside = cells.get_transform().transform_path(path)
                if face[3] == 1 and inside.contains_point(middle):
                    return to_hex(face)
        if ax.patch.get_visible() and to_rgba(ax.get_facecolor())[3] == 1:
            return to_hex(ax.get_facecolor())
    return to_hex(figure.get_facecolor())


@pytest.mark.full
@pytest.mark.parametrize("name", PLOTS)
def test_a_subfigure_holds_a_plot_with_a_later_title_in_any_style(name):
    with plt.style.context("dark_background"):
        before = dict(mpl.rcParams)
        figure = plt.figure(figsize=(12, 5), layout="constrained")
        left, right = figure.subfigures(1, 2)
        right.subplots().plot([1, 2])
        ax = left.subplots()
        drawn(name, ax)
        assert dict(mpl.rcParams) == before
    ax.set_title("a title, which is about as wide as the panel below it")
    laid_out(figure)
    for text in texts(left.axes):
        assert text.get_window_extent().x1 <= left.bbox.x1 + 1, text.get_text()


CURVES = (
    "precision", "comparison of all", "random_bound", "random_cdf", "roc", "precision_recall",
    "det", "lift", "tie_sensitivity", "gain",
)  # fmt: skip


@pytest.mark.parametrize("name", CURVES)
def test_lines_carry_labels_for_an_ordinary_legend(name):
    _, ax = plt.subplots()
    drawn(name, ax)
    found = entries(ax.legend())
    others = {"random_cdf": ["discrete"], "tie_sensitivity": ["G2 :  _z"]}
    assert set(others.get(name, ["G2", " _z", r"\$MI^3\$"])) <= set(found)
    assert len(found) == len(set(found))
    assert not any(text.startswith("_") for text in found)


# ----------------------------------------------------------------------- pickles, and a second call


@pytest.mark.parametrize("name", PLOTS)
def test_a_figure_is_pickled_and_drawn_again(name):
    figure, ax = plt.subplots(layout="constrained")
    drawn(name, ax, 3)
    again = pickle.loads(pickle.dumps(figure))
    laid_out(again)
    assert [caption(x) for x in again.axes] == [caption(x) for x in figure.axes]
    assert [named(x) for x in again.axes] == [named(x) for x in figure.axes]
    assert [written(x) for x in again.axes] == [written(x) for x in figure.axes]


@pytest.mark.parametrize("name", PLOTS)
def test_a_second_call_on_the_same_axes_shares_them_or_is_refused(name):
    """As for training and test data: other colors, one key of both, each reference once."""
    figure, ax = plt.subplots(layout="constrained")
    drawn(name, ax, 3)
    before = {to_hex(x.color): x.text for x in Record.of(ax).names}
    references = [x for x in ax.get_lines() if x.get_zorder() == 1]
    if name.partition(" ")[0] not in SHARING:
        with pytest.raises(ValueError, match=r"^ax shows the plot \w+, and \w+ cannot be drawn"):
            drawn(name, ax, 3)
        return
    drawn(name, ax, 3)
    assert [x for x in ax.get_lines() if x.get_zorder() == 1] == references
    names = Record.of(ax).names
    lines = [to_hex(x.color) for x in names if not (x.muted or x.reference)]
    assert len(lines) == len({*lines}) >= 2
    assert {*before} < {*lines, *(to_hex(x.color) for x in names)}
    assert len([x for x in ax.get_children() if isinstance(x, EndLabels | Key)]) == 1
    assert len([x for x in names if x.reference]) == len({x.text for x in names if x.reference})
    laid_out(figure)
    assert len(entries(ax.legend())) >= len(lines)


# ------------------------------------------------------------------------------ groups and Datasets

ASKED = {**OF_RANKINGS, **OF_ITEMS}
#: once for the figure; the others have names on an axis, or values of their own in a key
NAMED = ("precision", "comparison", "random_bound", "det", "gain")


def data_of(name):
    """Return 300 candidates, or 300 items, of four names."""
    if name in OF_RANKINGS:
        return candidates(names=4)
    return pd.concat([items(4), items(4)[:100]], ignore_index=True).set_axis(NAMES[:4], axis=1)


def parts(frame):
    return frame.assign(part=np.arange(len(frame)) % 3).rankeval(by="part").plot


@pytest.mark.full
@pytest.mark.parametrize("name", ASKED)
def test_groups_are_panels_with_one_set_of_names(name):
    panels = ASKED[name](parts(data_of(name)), None)
    assert [ax.get_title() for ax in panels] == [f"part = {k}" for k in range(3)]
    figure = panels[0].figure
    laid_out(figure)
    above = [name for legend in figure.legends for name in entries(legend)]
    assert name not in NAMED or above[:2] == ["G2", " _z"]
    assert len(above) == len(set(above))
    assert not (above and any(named(ax) for ax in panels))
    assert all(ax.get_legend() is None for ax in panels)


@pytest.mark.parametrize("name", ASKED)
def test_datasets_give_the_same_picture(name):
    frame = data_of(name)
    ds = frame.rename_axis("candidate").to_xarray()
    if name in OF_ITEMS:
        ds = ds.rename(candidate="item").to_dataarray("system").to_dataset(name="score")
    both = []
    for data in (frame, ds):
        ax = ASKED[name](data.rankeval.plot, None)
        lines = [x.get_xydata() for part in ax.figure.axes for x in part.get_lines()]
        dots = [np.asarray(x.get_offsets()) for x in ax.collections]
        colors = [x.get_facecolors() for x in ax.collections]
        both.append((lines, dots, colors, named(ax), written(ax), caption(ax)))
    np.testing.assert_equal(*both)


# ------------------------------------------------------------------------------- refusals and help


@pytest.mark.parametrize("name", PLOTS)
def test_axes_that_cannot_hold_a_picture_are_refused(name):
    with pytest.raises(TypeError, match=r"ax is of type int: pass an Axes"):
        drawn(name, 3)
    with pytest.raises(TypeError, match=r"ax is of type matplotlib.Figure: pass an Axes"):
        drawn(name, plt.figure())


@pytest.mark.parametrize(
    ("name", "some"),
    [("comparison", "measure_a measure_b n precision_a p_value"), ("random_cdf", "n tp discrete"),
     ("confidence", "system_a gain"), ("system_ranks", "system value rank_low"),
     ("calibration", "p_low p_high agreement"), ("precision", "n precision lift")],
)  # fmt: skip
def test_wrong_tables_are_refused(name, some):
    draw_it = getattr(plotting, name)
    with pytest.raises(ValueError, match=r"table has no columns .*pass the result of"):
        draw_it(pd.DataFrame(columns=some.split()))
    with pytest.raises(TypeError, match=r"(data|table|pairs) is of type list: .*the result of"):
        draw_it([1, 2])


@pytest.mark.parametrize("name", ALL)
def test_help_says_what_marks_mean_and_names_every_parameter(name):
    plot = getattr(plotting, name)
    text = inspect.getdoc(plot)
    assert text is not None
    assert "**look" not in text
    sections = re.split(r"\n(\w+)\n-+\n", text)
    by_name = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert len(by_name["Notes"].split()) > 20
    assert f"plot.{name}(" in by_name["Examples"]
    listed = re.findall(r"^(\S.*?) : ", by_name["Parameters"], re.M)
    listed += re.findall(r"^([\w, ]+)$", by_name["Parameters"], re.M)
    known = {one.strip() for line in listed for one in line.split(",")}
    asked = {*inspect.signature(plot).parameters}
    assert asked - known - {*MEANINGS} == set()
    assert asked - {"data", *PlotOptions.__annotations__} == set()  # known to type checkers


@pytest.mark.full
def test_empty_tables_are_drawn():
    df, pairs = candidates(), items(3).rankeval.paired_bootstrap(**B)
    lists, compared = df.rankeval.nbest_precision([20]), df.rankeval.compare(n=[20])
    laid_out(plotting.precision(lists.iloc[:0]).figure)
    laid_out(plotting.comparison(compared.iloc[:0]).figure)
    curves = ("roc", "det", "lift", "gain", "precision_recall", "area", "random_bound")
    tables = {
        **{name: getattr(df.rankeval, name)() for name in curves},
        "measure_ranks": df.rankeval.measure_ranks(20),
        "random_cdf": df.rankeval.random_cdf(5),
        **dict.fromkeys(["confidence", "pairs"], pairs),
        "calibration": pairs.rankeval.calibration(items(3)),
        "gain_by_size": items(3).rankeval.gain_by_size([50], **B),
    }
    for name, table in tables.items():
        laid_out(getattr(plotting, name)(table.iloc[:0]).figure)
        plt.close("all")


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "other"),
    [(r"$\foo$", ""), ("_", r"a\b"), ("50 %", r"{x}_$^2$"), ("#&~", "two\nlines"),
     ("x" * 80, "ß→λ"), (3, "no\x00font")],
)  # fmt: skip
def test_odd_names_are_written_without_a_warning(name, other):
    df = candidates(names=3).set_axis(["a", name, other, "gold"], axis=1)
    right = df.drop(columns="gold") > 0
    for plot in ("roc", "precision_recall", "area", "lift"):
        laid_out(getattr(df.rankeval.plot, plot)().figure)
    laid_out(df.rankeval.plot.comparison(n=[20, 50], simultaneous=False).figure)
    laid_out(parts(df).repetition(n=9)[0].figure)
    for plot in ("pairs", "system_ranks"):
        laid_out(getattr(right.rankeval.plot, plot)(adjust=None, n_resamples=200).figure)
    laid_out(right.rankeval.plot.paired_differences("a", name, **B).figure)
    ax = plotting.roc(df.rankeval.roc())
    assert len(named(ax)) == 3  # none is left out
    assert len(entries(ax.legend())) == 4  # nor here; a random order is named on its line
