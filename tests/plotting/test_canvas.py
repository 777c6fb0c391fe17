"""What all curves share: colors by name, the best of many, captions, and long lines."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.look import HUES, Ink
from rankeval_pd.tables import listed_in
from tests.plotting.seen import color, laid_out, named, xy
from tests.questions import candidates


def many(count: int, size: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    scores = {f"measure number {k}": rng.normal(size=size) for k in range(count)}
    return pd.DataFrame({**scores, "gold": rng.random(size) < 0.3})


# ----------------------------------------------------------------------------- colors of the names


def test_some_of_the_names_keep_their_colors():
    df = candidates(names=6).rename(columns={"_z": "z", "$MI^3$": "MI"})
    names = list(df)[:6]
    some = {"t": HUES[5].lower(), "MI": HUES[2].lower()}
    curves = df.rankeval.nbest_precision([20, 50], measures=list(some))
    pair = df.rankeval.compare("t", "MI", [20, 50])
    assert all(listed_in(table.attrs, "order") == names for table in (curves, pair))
    gain = df.rename_axis("candidate").to_xarray().rankeval(measures=list(some)).plot.gain()
    for ax in (plotting.precision(curves), plotting.comparison(pair), gain):
        assert {name: color(ax, name) for name in some} == some


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    ("plot", "method", "column"),
    [("precision", "nbest_precision", "precision"), ("roc", "roc", "tpr"), ("det", "det", "fnr"),
     ("random_bound", "nbest_precision", "precision"), ("gain", "gain", "tpr"),
     ("lift", "lift", "lift")],
)  # fmt: skip
def test_of_many_measures_the_best_three_are_in_color(plot, method, column):
    df = many(200, size=100)
    ax = getattr(df.rankeval.plot, plot)()
    laid_out(ax.figure)
    means = getattr(df.rankeval, method)().groupby("measure", sort=False)[column].mean()
    best = set((means if plot == "det" else -means).nsmallest(3).index)
    drawn = {x.get_label(): x.get_color() for x in ax.get_lines() if x.get_label() in means}
    assert set(drawn) == set(means.index)
    assert {name for name in drawn if drawn[name] != Ink.of(ax).muted} == best
    assert len({drawn[name] for name in best}) == 3
    assert {x.partition(" 0.")[0] for x in named(ax) if x.startswith("measure")} == best
    assert "The 3 entries with the highest mean" in caption(ax)
    assert "In gray: the other 197." in caption(ax)


@pytest.mark.parametrize(("highlight", "bars"), [(7, 0), (6, 6), (None, 3)])
def test_uncertainty_of_more_names_than_six_is_left_out(highlight, bars):
    df = many(8)
    ax = df.rankeval.plot.precision([20, 50], highlight=highlight and list(df)[:highlight])
    assert len(ax.collections) == bars  # without a highlight, those of the best three


# --------------------------------------------------------------------------------------- captions


def test_captions_name_intervals_and_tests(two):
    ask = two.rankeval
    ax = plotting.precision(ask.nbest_precision([20, 50], level=0.99, ci="jeffreys"))
    bars = (
        "99% Jeffreys confidence intervals for n-best lists (with the variance of the threshold),"
    )
    assert f"Bars: {bars} separately at each n." in caption(ax)
    area = plotting.area(ask.area(level=0.99))
    assert caption(area).startswith("Lines: 99% Newcombe confidence")
    adjusted = {"test": "midp", "alpha": 0.01, "adjust": "bonferroni"}
    ax = plotting.comparison(ask.compare("good", "poor", [20, 50], **adjusted))
    assert "(the mid-p version of Fisher's test at 1%, separately at each n)" in caption(ax)
    assert "(Bonferroni's method at 1%, simultaneously for all n)" in caption(ax)


def test_captions_say_each_sentence_once():
    df = candidates(names=2)
    _, axes = plt.subplots(1, 2)
    for ax, n in zip(axes, ([20, 50], [30, 60]), strict=True):
        df.rankeval.plot.precision(n, ax=ax)
    words = (
        "Bars: 95% Clopper–Pearson confidence intervals for n-best lists (with the variance of the"
        " threshold), separately at each n."
    )
    assert caption(axes) == caption(axes[0]) == f"{words} Gray line: random order."
    df.rankeval.plot.gain(ax=axes[1])
    assert caption(list(axes)).startswith(caption(axes)[: len(words)])
    assert "ideal order" in caption(axes)
    assert caption(plt.subplots()[1]) == ""


# ---------------------------------------------------------------------------- axes and long lines


def test_of_long_lines_some_points_are_drawn_half_of_them_at_the_start():
    df = candidates(50_000, names=1)
    table = df.rankeval.nbest_precision(measures="G2")
    n, drawn = xy(plotting.precision(table, log=False), "G2").T
    np.testing.assert_array_equal(drawn, table.set_index("n").loc[n, "precision"])
    assert (n[0], n[-1]) == (1, 50_000)
    assert 3000 < len(n) <= 6000
    assert np.diff(n).max() <= np.ceil(50_000 / 2999)
    assert (n <= 500).sum() > 440


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_logarithmic_axes_with_nothing_to_stretch_over():
    """One gain of all but .1, no precision above 0, and counts from 0 on."""
    figure, places = plt.subplots(1, 2)
    for ax in places:
        ax.set(xscale="log", yscale="log")
    systems = pd.DataFrame({"y": [0, 1], "id": [1.0, 0.2]})
    systems.rankeval.plot.gain_by_size([2], n_resamples=50, ax=places[0])
    lone = pd.DataFrame({"z": [2.5], "gold": [False]})
    lone.rankeval.plot.random_bound(ax=places[1])
    figure.canvas.draw()
    assert all(0.0 < low < high for low, high in (ax.get_ylim() for ax in places))
