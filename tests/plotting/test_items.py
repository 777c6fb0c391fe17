"""Plots of items and queries: sorted differences, two scores of each, interpolated precision."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal as equal

from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from tests.plotting.conftest import systems_on_items
from tests.plotting.seen import laid_out, segments, written, xy
from tests.questions import B, items, runs


def test_sorted_differences_are_those_of_the_items():
    df = systems_on_items(0, 200)
    ax = df.rankeval.plot.paired_differences("system 0", "system 6", **B)
    gains = (df["system 0"].astype(float) - df["system 6"]).to_numpy()
    equal(np.sort([bar.get_height() for bar in ax.patches]), np.sort(gains[gains != 0]))
    (whole,) = df.rankeval.paired_bootstrap("system 0", "system 6", **B).itertuples()
    assert xy(ax, "_gain")[0, 1] == whole.gain == pytest.approx(gains.mean())
    equal(segments(ax.collections[0])[0, 1:], [whole.ci_low, whole.ci_high])
    first, *better = written(ax)
    assert first.startswith(f"gain {whole.gain:.2f}".replace("-", "−"))
    wins = (gains > 0).sum(), (gains < 0).sum()
    assert better == [f"system 0 better: {wins[0]}", f"system 6 better: {wins[1]}"]
    assert f"items, sorted by gain ({(gains == 0).sum()} equal)" == ax.get_xlabel()


@pytest.mark.full
def test_differences_of_many_items_are_areas():
    many = systems_on_items(0, 900)
    ax = many.rankeval.plot.paired_differences("system 0", "system 6", **B)
    gains = np.sort(many["system 0"].astype(float) - many["system 6"])[::-1]
    for area, sign in zip(ax.collections[:2], (1, -1), strict=True):
        ends = area.get_paths()[0].vertices
        assert set(ends[:, 1]) == {0, sign}
        assert np.abs(np.diff(ends[ends[:, 1] == sign, 0])).sum() >= (gains == sign).sum() - 1


@pytest.mark.full
def test_pairs_of_systems_are_panels_and_more_than_can_be_read_are_refused():
    draw = items(4).rankeval.plot.paired_differences
    assert len(draw(n_resamples=99)) == 6
    titles = [ax.get_title() for ax in draw("system 0", **B)]
    assert titles == [f"systems = system 0 − system {k}" for k in (1, 2, 3)]
    plt.close("all")
    for count, pairs in ((20, 190), (5, 10)):
        match = rf"there are {pairs} pairs of systems, .* has at most 6"
        with pytest.raises(ValueError, match=match):
            items(count).rankeval.plot.paired_differences()
    parts = items(4).assign(part=np.arange(200) % 10).rankeval(by="part").plot
    with pytest.raises(ValueError, match=r"there are 3 pairs of systems in each group"):
        parts.paired_differences("system 0")
    assert not plt.get_fignums()


# ----------------------------------------------------------------------------------------- queries


def test_queries_are_dots_and_those_that_differ_most_are_named():
    rng = np.random.default_rng(2)
    df = pd.DataFrame(rng.random((40, 3)).round(2), columns=["a", "b", "c"])
    df.index = [f"topic {k}" for k in range(301, 341)]
    df.loc["topic 305", ["a", "b"]] = 1.0, 0.0  # in a corner
    df.loc["topic 306", ["a", "b"]] = 0.0, 1.0
    df.iloc[7] = 0.5
    ax = df.rankeval.plot.queries("a", "b")
    higher, lower, equal_ones = (x.get_xydata() for x in ax.lines[1:])
    both = df[["b", "a"]].to_numpy()
    equal(higher, both[df["a"] > df["b"]])
    equal(lower, both[df["a"] < df["b"]])
    equal(equal_ones, both[df["a"] == df["b"]])
    gaps = df["a"] - df["b"]
    named_ones = {text.get_text() for text in ax.texts}
    assert named_ones == {*gaps.nlargest(3).index, *gaps.nsmallest(3).index}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("score of b", "score of a")
    wins, losses = (gaps > 0).sum(), (gaps < 0).sum()
    assert caption(ax) == (
        f"Dots: 40 items. a is higher for {wins} (above the diagonal), b for {losses} (below the"
        f" diagonal); {40 - wins - losses} are equal. The dots farthest from the diagonal are"
        " labeled."
    )
    laid_out(ax.figure)
    with pytest.raises(ValueError, match="a=None, b=None: pass two of the systems 'a', 'b', 'c'"):
        df.rankeval.plot.queries()
    pair = df[["a", "b"]].rankeval.plot.queries()  # of two systems neither is named
    equal(pair.lines[1].get_xydata(), higher)


@pytest.mark.full
def test_each_metric_of_queries_is_a_panel():
    frame = runs(["one", "two"])
    wide = frame.rankeval.per_query(["AP", "RR"], wide=True)
    size = frame.groupby("query").cumcount()
    dataset = frame.assign(candidate=size).set_index(["query", "candidate"]).to_xarray()
    for table in (
        wide, frame.rankeval.per_query(["AP", "RR"]), dataset.rankeval.per_query(["AP", "RR"])
    ):  # fmt: skip
        panels = plotting.queries(table, "one", "two")
        assert [ax.get_title() for ax in panels] == ["metric = AP", "metric = RR"]
        for ax, metric in zip(panels, ("AP", "RR"), strict=True):
            dots = np.concatenate([x.get_xydata() for x in ax.lines[1:]])
            values = wide[metric][["two", "one"]].to_numpy()
            equal(np.sort(dots, axis=0), np.sort(values, axis=0))
    alone = wide[["AP"]].rankeval.plot.queries()
    assert (alone.get_xlabel(), alone.get_ylabel()) == ("AP of two", "AP of one")
    assert "Dots: 40 queries" in caption(alone)
    assert [text.get_text() for text in alone.texts]  # numbers of queries are their names


def test_interpolated_precision_is_that_of_the_summary():
    frame = runs(["one", "two"])
    levels = [f"IPrec@{k / 10}" for k in range(11)]
    table = frame.rankeval.summary(levels, n_resamples=99)
    for ax in (
        frame.rankeval.plot.interpolated_precision(n_resamples=99),
        plotting.interpolated_precision(table),
    ):
        for curve, name in zip(ax.lines, ("one", "two"), strict=False):
            rows = table[table["measure"] == name]
            equal(curve.get_xydata(), np.column_stack([np.arange(11) / 10, rows["value"]]))
            assert (np.diff(curve.get_ydata()) <= 1e-15).all()  # it never rises
        bars = np.sort(segments(ax.collections[0])[:, 1:].ravel())
        first = table[table["measure"] == "one"]
        equal(bars, np.sort(first[["ci_low", "ci_high"]].to_numpy().ravel()))
        assert caption(ax).startswith(
            "Bars: 95% confidence intervals, simultaneous for all runs at each recall"
        )
    short = table.drop(columns=["ci_low", "ci_high"])
    assert not plotting.interpolated_precision(short).collections
    with pytest.raises(ValueError, match="no metric IPrec@recall"):
        plotting.interpolated_precision(frame.rankeval.summary("AP", n_resamples=99))
