"""The parts of all pictures: colors, styles, names, captions, numbers, long lines, bars of ties."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from rankeval_pd import plotting
from rankeval_pd.datasets import simulate_candidates
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.canvas import thin
from rankeval_pd.plotting.forests import _lanes
from rankeval_pd.plotting.look import (
    HUES,
    Ink,
    contrast,
    digits_for,
    interval_text,
    luminance,
    mixed_color,
    number,
    percent,
)
from rankeval_pd.plotting.names import EndLabels, Key, spread_apart
from rankeval_pd.stats.families import letters
from rankeval_pd.tables import listed_in
from rankeval_pd.words import p_text
from tests.questions import PLOTS, candidates
from tests.test_pictures import _close_figures  # noqa: F401
from tests.test_plotting import named, xy
from tests.test_plotting_looks import color

# ----------------------------------------------------------------------------------------- colors


@pytest.mark.parametrize(
    ("one", "other", "published"),
    [  # WebAIM's contrast checker and WCAG's techniques G17, G18
        ("black", "white", 21.0), ("#777777", "white", 4.48), ("#767676", "white", 4.54),
        ("#949494", "white", 3.03), ("red", "white", 4.0), ("blue", "white", 8.59),
        ("#595959", "white", 7.0), ("white", "white", 1.0),
    ],
)  # fmt: skip
def test_contrast_is_that_of_wcag(one, other, published):
    assert contrast(one, other) == contrast(other, one) == pytest.approx(published, abs=0.005)
    assert luminance("white") == pytest.approx(1.0)
    assert luminance("black") == 0.0


@pytest.mark.parametrize(("fg", "bg"), [("#000000", "#ffffff"), ("#ffffff", "#000000")])
def test_ink_is_legible_on_white_and_black(fg, bg):
    ink = Ink(fg, bg)
    assert ink.dark == (bg == "#000000")
    for hue in (*HUES, "yellow", "#eeeeee", "#111111"):
        assert contrast(ink.line(hue), bg) >= 3.0
        assert contrast(ink.text(hue), bg) >= 4.5
    for hue in HUES:
        assert ink.line(hue) == hue.lower()  # as they are
    assert contrast(ink.note, bg) >= 4.5
    assert contrast(ink.reference, bg) >= 3.0
    assert contrast(ink.muted, bg) < contrast(ink.reference, bg)
    assert mixed_color("white", "black", 0.2) == "#333333"


def test_ink_is_that_of_the_axes_and_of_the_figure_around():
    _, ax = plt.subplots(facecolor="black")
    assert Ink.of(ax) == Ink("#000000", "#ffffff")
    assert Ink.of(ax, outside=True) == Ink("#ffffff", "#000000")  # black on black is none
    ax.patch.set_visible(False)
    assert Ink.of(ax) == Ink.of(ax, outside=True)


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
def test_a_name_has_one_color_in_all_pictures_of_the_data():
    df = candidates(names=6).rename(columns={"_z": "z", "$MI^3$": "MI"})
    names = list(df)[:6]
    asked = {"comparison": {"simultaneous": False}, "roc": {"area": False}}
    for plot in ("precision", "roc", "lift", "gain", "det", "comparison", "random_bound"):
        ax = getattr(df.rankeval.plot, plot)(**asked.get(plot, {}))
        assert [color(ax, name) for name in names] == [x.lower() for x in HUES], plot
    some = {"t": HUES[5].lower(), "MI": HUES[2].lower()}
    for data in (df, df.rename_axis("candidate").to_xarray()):
        curves = data.rankeval.nbest_precision([20, 50], measures=list(some))
        pair = data.rankeval.compare("t", "MI", [20, 50])
        roc = data.rankeval(measures=list(some)).roc()
        assert all(listed_in(table.attrs, "order") == names for table in (curves, pair, roc))
        for ax in (
            plotting.precision(curves),
            plotting.comparison(pair),
            plotting.roc(roc),
            data.rankeval.plot.precision([20], measures=list(some)),
            data.rankeval(measures=list(some)).plot.gain(),
        ):
            assert {name: color(ax, name) for name in some} == some


@pytest.mark.parametrize("name", PLOTS)
def test_plots_read_the_style_and_change_nothing_of_it(name):
    with plt.style.context("dark_background"):
        before = dict(mpl.rcParams)
        PLOTS[name](plt.subplots()[1])
        assert dict(mpl.rcParams) == before


# ------------------------------------------------------------------------------ names and legends

CURVES = (
    "precision", "recall_band", "comparison", "random_bound", "random_cdf", "roc",
    "precision_recall", "det", "lift", "gain", "odds_ratios", "tie_sensitivity",
)  # fmt: skip


def entries(legend) -> list[str]:
    return [text.get_text() for text in legend.get_texts()]


def test_names_stand_where_they_are_asked_for():
    ask = candidates(names=3).rankeval.plot.precision
    wanted = ["G2", " _z", r"\$MI^3\$", "random 17%"]
    for at, kind in (("end", EndLabels), ("key", Key)):
        ax = ask([20, 50], labels_at=at)
        assert [type(x) for x in ax.get_children() if isinstance(x, EndLabels | Key)] == [kind]
        assert named(ax) == wanted
        assert ax.get_legend() is None
    for options in ({"labels_at": "legend"}, {"legend": True}, {"legend": "outside"}):
        ax = ask([20, 50], **options)
        assert named(ax) == []
        assert entries(ax.get_legend()) == wanted
    ax.figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().x0 > ax.bbox.x1
    ax = ask([20, 50], legend="figure")
    assert [entries(x) for x in ax.figure.legends] == [wanted]
    assert named(ax) == []
    ax = ask([20, 50], legend=False)
    assert (named(ax), ax.get_legend(), ax.figure.legends) == ([], None, [])
    assert "Bars: 95%" in caption(ax)
    for name in ("legend", "labels_at"):
        with pytest.raises(ValueError, match=f"{name}='left' is not one of"):
            ask([20], **{name: "left"})


@pytest.mark.parametrize("name", CURVES)
def test_lines_carry_labels_for_an_ordinary_legend(name):
    _, ax = plt.subplots()
    PLOTS[name](ax)
    found = entries(ax.legend())
    pair = ["G2 :  _z"]
    others = {"random_cdf": ["discrete"], "odds_ratios": pair, "tie_sensitivity": pair}
    assert set(others.get(name, ["G2", " _z", r"\$MI^3\$"])) <= set(found)
    assert len(found) == len(set(found))
    assert not any(text.startswith("_") for text in found)


def test_one_legend_for_a_figure():
    df = candidates(names=2)
    figure, axes = plt.subplots(1, 2, layout="constrained")
    df.rankeval.plot.roc(ax=axes[0], area=False)
    df.rankeval.plot.gain(ax=axes[1], legend=True)
    assert plotting.shared_legend(figure) is not None
    shared = plotting.shared_legend(figure)  # in the place of the first
    assert figure.legends == [shared]
    assert not any(named(ax) or ax.get_legend() for ax in axes)
    assert entries(shared) == ["G2", " _z", "random order", "ideal order"]
    figure.draw_without_rendering()
    assert not any(shared.get_window_extent().overlaps(ax.get_tightbbox()) for ax in axes)
    assert plotting.shared_legend(plt.figure()) is None


# ---------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("width", "digits"),
    [(40.0, 0), (4.0, 0), (3.9, 1), (0.4, 1), (0.06, 2), (0.0039, 4), (0.0, 2), (np.nan, 2),
     (np.inf, 2), (1e-12, 6)],
)  # fmt: skip
def test_a_fourth_of_an_interval_is_seen(width, digits):
    assert digits_for(width) == digits


def test_numbers_are_written_as_in_print():
    assert [number(x, 2) for x in (0.256, -0.05, -0.001, 1234.5, np.nan, -np.inf)] == [
        "0.26", "−0.05", "0.00", "1,234.50", "–", "−∞",
    ]  # fmt: skip
    assert [number(x, 0, signed=True) for x in (10.2, -3.0, 0.2)] == ["+10", "−3", "0"]
    assert interval_text(0.26, 0.32, 2) == "0.26–0.32"
    assert interval_text(-0.05, 0.05, 2) == "−0.05 to 0.05"
    assert interval_text(1.0, 3.0, 0, signed=True) == "+1 to +3"
    assert [percent(x) for x in (0.11, 0.0995, 0.098, 0.0095, 0.0043, 1.0)] == [
        "11%", "10%", "9.8%", "0.9%", "0.43%", "100%",
    ]  # fmt: skip
    assert [p_text(x) for x in (0.0004, 0.0301, 0.25)] == ["p < 0.001", "p = 0.030", "p = 0.25"]


# --------------------------------------------------------------------------------------- captions


def test_captions_say_what_the_tables_are():
    df = candidates(names=3)
    for level, ci, words in ((0.9, "wilson", "90% Wilson"), (0.99, "jeffreys", "99% Jeffreys")):
        ax = plotting.precision(df.rankeval.nbest_precision([20, 50], level=level, ci=ci))
        assert f"Bars: {words} confidence intervals, separately at each n." in caption(ax)
    for test, alpha, adjust, words in (
        ("midp", 0.01, "holm", ("the mid-p version of Fisher's test at 1%", "Holm's method at 1%")),
        ("mcnemar", 0.05, "bonferroni", ("McNemar's test at 5%", "Bonferroni's method at 5%")),
    ):
        table = df.rankeval.compare("G2", "_z", [20, 50], test=test, alpha=alpha, adjust=adjust)
        ax = plotting.comparison(table)
        assert f"({words[0]}, separately at each n)" in caption(ax)
        assert f"({words[1]}, simultaneously for all n)" in caption(ax)
    holm = "adjusted for all 3 pairs by Holm's method"
    for adjust, words in ((None, "unadjusted"), ("holm", holm)):
        table = df.rankeval.measure_ranks(40, adjust=adjust, level=0.9)
        assert f"Rank: 90% interval for the rank, {words}" in caption(plotting.measure_ranks(table))
    assert caption(df.rankeval.plot.area(level=0.8)).startswith("Lines: 80% Newcombe confidence")
    ax = df.rankeval.plot.mean_difference("G2", "_z", range(20, 60), n_resamples=50, level=0.9)
    assert "Lines: 90% normal confidence intervals" in caption(ax)
    assert ax.get_xlabel().endswith("n = 20 to 59")


def test_captions_say_each_sentence_once():
    df = candidates(names=2)
    _, axes = plt.subplots(1, 2, layout="constrained")
    for ax, n in zip(axes, ([20, 50], [30, 60]), strict=True):
        df.rankeval.plot.precision(n, ax=ax)
    words = "Bars: 95% Clopper–Pearson confidence intervals, separately at each n."
    assert caption(axes) == caption(axes[0]) == f"{words} Gray line: random order."
    df.rankeval.plot.gain(ax=axes[1])
    assert caption(list(axes)).startswith(caption(axes)[: len(words)])
    assert "ideal order" in caption(axes)
    panels = df.assign(part=np.arange(300) % 3).rankeval(by="part").plot.precision([20, 50])
    assert caption(panels) == f"{words} Gray line: random order."
    assert caption(plt.subplots()[1]) == ""


# ----------------------------------------------------------------------------- places of the names

HEIGHTS = st.lists(st.integers(0, 1000).map(float), min_size=1, max_size=12)


@given(HEIGHTS, st.integers(0, 80), st.integers(0, 200), st.integers(0, 1200), st.data())
def test_names_stand_as_near_as_they_can(wanted, least, low, room, data):
    """Of all places that keep order, distance and limits, no others are nearer (squares)."""
    needed = (len(wanted) - 1) * least
    high = float(low + needed + room)
    found = spread_apart(wanted, float(least), float(low), high)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(found[order]) >= least - 1e-9).all()
    assert low - 1e-9 <= found.min() <= found.max() <= high + 1e-9
    steps = np.arange(len(wanted)) * least
    free = isotonic_regression(np.asarray(wanted)[order] - steps).x
    np.testing.assert_allclose(found[order], free.clip(low, low + room) + steps, atol=1e-9)
    # a projection on a convex set: from it, every other of its points is away from the wanted one
    shares = np.sort(
        data.draw(st.lists(st.floats(0, 1), min_size=len(wanted), max_size=len(wanted)))
    )
    other = low + steps + room * shares
    assert (np.asarray(wanted)[order] - found[order]) @ (other - found[order]) <= 1e-6


def test_names_without_room_keep_their_distance():
    assert spread_apart([5.0, 5.0, 5.0], 10.0, 0.0, 12.0).tolist() == [0.0, 10.0, 20.0]


# ------------------------------------------------------------------------------------- long lines


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("holes", [False, True])
def test_of_each_column_first_last_least_and_largest_are_drawn(log, holes):
    ax = plt.subplots()[1]
    ax.set_xscale("log" if log else "linear")
    x, y = np.arange(1.0, 50_001.0), np.random.default_rng(2).normal(size=50_000)
    if holes:
        y[:300] = y[20_000:20_400] = y[30_000] = np.nan
    kept, values = thin(ax, x, y)
    np.testing.assert_array_equal(values, y[kept.astype(int) - 1])
    at = np.log(x) if log else x
    column = ((at - at[0]) / (at[-1] - at[0]) * 1499).astype(int)
    assert (np.bincount(column[np.isin(x, kept)]) <= 4).all()
    assert np.isnan(values[(kept > 20_000) & (kept <= 20_400)]).any() == holes  # still a gap
    for k in np.unique(column):
        across, upwards = x[column == k], y[column == k]
        known = np.isfinite(upwards).any()
        extremes = (np.nanargmin(upwards), np.nanargmax(upwards)) if known else ()
        assert all(across[place] in kept for place in (0, -1, *extremes))
    few = np.arange(6000.0)
    assert thin(ax, few, few)[1] is few


@pytest.mark.parametrize("x", ["share", "recall"])
@pytest.mark.filterwarnings("ignore:.*no true positive:rankeval_pd.RankevalWarning")
def test_long_lists_without_true_positives_have_no_place_to_the_right(x):
    df = pd.DataFrame({"m": np.linspace(0, 1, 7000), "gold": False})
    ax = df.rankeval.plot.precision(x=x, simultaneous=False)
    assert not np.isfinite(ax.get_lines()[0].get_xdata()).any()


# ----------------------------------------------------------------------- panels of a comparison


def test_a_comparison_stays_in_the_place_that_was_chosen_by_hand():
    ax = plt.figure().add_axes((0.2, 0.3, 0.6, 0.5))
    candidates().rankeval.plot.comparison("G2", "_z", ax=ax)
    places = [panel.get_position() for panel in ax.figure.axes]
    assert len(places) == 3
    for above, below in itertools.pairwise(places):
        assert above.y0 > below.y1
    assert (places[-1].y0, places[0].y1) == pytest.approx((0.3, 0.8), abs=0.005)
    assert {(box.x0, box.x1) for box in places} == {(places[0].x0, places[0].x1)}


def test_the_end_of_the_first_run_is_marked():
    frame = simulate_candidates(600)
    ax = frame.rankeval.plot.comparison("good", "fair", simultaneous=False, first_run=True)
    table = frame.rankeval.compare("good", "fair")
    hits = table["significant"].to_numpy()
    last = table["n"].iloc[hits.argmax() + (~hits[hits.argmax() :]).argmax() - 1]
    assert xy(ax, "last n of the first significant range")[0, 0] == last < 600
    assert f"n = {last}, the last n of the first significant range" in caption(ax)


# ------------------------------------------------------------------------------------ bars of ties


def told(size: int, seed: int, share: float) -> np.ndarray:
    """Return which pairs are distinguished, at random."""
    upper = np.triu(np.random.default_rng(seed).random((size, size)) < share, 1)
    return upper | upper.T


@pytest.mark.parametrize(
    ("size", "seed", "share"),
    [(1, 0, 0.5), (6, 1, 0.0), (6, 2, 0.5), (12, 3, 0.3), (30, 4, 0.5), (40, 5, 0.2)],
)
def test_lanes_hold_the_letters_and_no_bars_overlap(size, seed, share):
    apart_ = told(size, seed, share)
    texts = letters(apart_)
    lanes = _lanes(texts)
    for lane in {lane for lane, _ in lanes}:
        ends = sorted((rows[0], rows[-1]) for own, rows in lanes if own == lane)
        assert all(a[1] < b[0] for a, b in itertools.pairwise(ends))
    spaced = any(" " in text for text in texts)
    own = [text.split() if spaced else text for text in texts]
    names = sorted({name for row in own for name in row})
    assert (len(names) > 26) == (size >= 30)
    groups = [[k for k in range(size) if name in own[k]] for name in names]
    assert sorted(rows for _, rows in lanes) == sorted(x for x in groups if len(x) > 1)
    for i in range(size):
        for j in range(i):
            assert any({i, j} <= set(rows) for _, rows in lanes) == (not apart_[i, j])
