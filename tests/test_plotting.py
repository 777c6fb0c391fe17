"""The pictures: what is drawn, what the legend says, and that it all lies inside the canvas."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import plotting

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """600 candidates, one good measure and one that is hardly better than chance."""
    rng = np.random.default_rng(7)
    gold = rng.random(600) < 0.2
    return pd.DataFrame(
        {"good": rng.normal(size=600) + 1.5 * gold, "poor": rng.normal(size=600), "gold": gold}
    )


DRAWN = {
    "precision": lambda df, ax: df.rankeval.plot.precision(range(20, 500), ax=ax),
    "comparison": lambda df, ax: df.rankeval.plot.comparison("good", "poor", ax=ax),
    "random_bound": lambda df, ax: df.rankeval.plot.random_bound([0.05, 1e-6], ax=ax),
}


def legend(ax) -> str:
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    return "\n".join(names).replace("\n", " ").replace("\u00a0", " ")


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("width", [3.15, 6.4])
def test_everything_lies_inside_and_legend_is_off_the_data(frame, name, width):
    figure, ax = plt.subplots(figsize=(width, 3.8), layout="constrained")
    assert DRAWN[name](frame, ax) is ax
    figure.canvas.draw()
    canvas = figure.bbox
    for artist in (ax.get_legend(), ax.xaxis.label, ax.yaxis.label, ax.title):
        box = artist.get_window_extent()
        assert box.width == 0 or canvas.x0 <= box.x0 <= box.x1 <= canvas.x1
        assert box.height == 0 or canvas.y0 <= box.y0 <= box.y1 <= canvas.y1
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())
    assert not ax.get_legend().get_window_extent().overlaps(ax.xaxis.label.get_window_extent())


def test_precision_draws_the_table(frame):
    table = frame.rankeval.nbest_precision([50, 100, 200], ci="wilson", level=0.9)
    ax = plotting.precision(table)
    curve = next(line for line in ax.get_lines() if line.get_label() == "good")
    drawn = table[table["measure"] == "good"]
    np.testing.assert_array_equal(curve.get_xydata(), drawn[["n", "precision"]])
    assert curve.get_marker() == "o"  # few n: points are marked
    bars = np.array(ax.collections[0].get_segments())  # few n: bars in place of a band
    np.testing.assert_array_equal(bars[:, :, 1], drawn[["ci_low", "ci_high"]])
    assert "90 % Wilson interval, pointwise" in legend(ax)
    assert f"baseline, {100 * frame['gold'].mean():.2f} %" in legend(ax)


def test_precision_draws_a_band_for_many_n(frame):
    table = frame.rankeval.nbest_precision(measures="good")
    band = plotting.precision(table).collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == table["ci_low"].min()
    assert band[:, 1].max() == table["ci_high"].max()


def test_n_with_gaps_are_marked_one_by_one(frame):
    table = frame.rankeval.compare("good", "poor", [50, 100, 300])
    (squares,) = plotting.comparison(table).collections
    hits = table.loc[table["significant"], "n"]
    assert len(hits)
    np.testing.assert_array_equal(squares.get_offsets()[:, 0], hits)


def test_many_measures_have_different_lines():
    df = pd.DataFrame({f"m{i}": range(9) for i in range(20)} | {"gold": [True] * 9})
    lines = df.rankeval.plot.precision([3, 5]).get_lines()[:20]
    assert len({(x.get_color(), str(x._dash_pattern)) for x in lines}) == 20


def test_axes_of_a_figure_without_layout(frame):
    figure, ax = plt.subplots()
    frame.rankeval.plot.precision(range(10, 90), ax=ax)
    figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert figure.bbox.y0 <= box.y0
    assert box.x1 <= figure.bbox.x1


def test_comparison_marks_the_significant_n(frame):
    table = frame.rankeval.compare("good", "poor", alpha=0.01, adjust="holm")
    ax = plotting.comparison(table)
    (bars,) = ax.collections
    marked = np.zeros(len(table), dtype=bool)
    for path in bars.get_paths():
        x = path.vertices[:, 0]
        marked |= ((table["n"] > x.min()) & (table["n"] < x.max())).to_numpy()
    np.testing.assert_array_equal(marked, table["significant"])
    assert "good better, Fisher's test, p ≤ 0.01, adjusted (holm)" in legend(ax)


def test_comparison_without_any_significant_n(frame):
    ax = frame.rankeval.plot.comparison("good", "poor", range(1, 4))
    assert not ax.collections
    assert "no n is significant, Fisher's test, p ≤ 0.05, each n alone" in legend(ax)


def test_random_bound_draws_critical_over_n(frame):
    bound = frame.rankeval.random_bound([0.05, 0.001], [100, 200])
    ax = plotting.random_bound(bound)
    line = next(x for x in ax.get_lines() if "0.001" in str(x.get_label()))
    rows = bound[bound["p"] == 0.001]
    np.testing.assert_array_equal(line.get_ydata(), rows["critical"] / rows["n"])


def test_dataset_and_frame_give_the_same_lines(frame):
    data = xr.Dataset({c: ("candidate", frame[c].to_numpy()) for c in frame})
    for name, draw in DRAWN.items():
        lines = [
            [line.get_xydata() for line in draw(x, plt.figure().gca()).get_lines()]
            for x in (frame, data)
        ]
        for a, b in zip(*lines, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=name)


def test_keywords_reach_the_artists(frame):
    ax = frame.rankeval.plot.precision(
        [10, 20], measures="good", line_kw={"linewidth": 7}, band_kw={"alpha": 0.9},
        marker_kw={"marker": "x"},
    )  # fmt: skip
    line = ax.get_lines()[0]
    assert (line.get_linewidth(), line.get_marker()) == (7, "x")
    assert ax.collections[0].get_alpha() == 0.9


def test_long_curves_are_thinned_but_keep_their_ends():
    n = 200_000
    df = pd.DataFrame({"m": np.arange(n), "gold": np.arange(n) % 3 == 0})
    line = df.rankeval.plot.precision().get_lines()[0]
    assert len(line.get_xdata()) < 5000
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (1, n)


@pytest.mark.parametrize("name", ["precision", "comparison", "random_bound"])
def test_wrong_tables_are_refused(name):
    draw = getattr(plotting, name)
    with pytest.raises(ValueError, match=r"table has no columns .*give the result of"):
        draw(pd.DataFrame({"n": [1]}))
    with pytest.raises(TypeError, match="table is of type list: give the result of"):
        draw([1, 2])


def test_several_pairs_or_groups_are_refused(frame):
    three = frame.assign(third=range(600))
    with pytest.raises(ValueError, match=r"table has 3 pairs of measures.*compare.'good', 'poor'"):
        plotting.comparison(three.rankeval.compare(n=10))
    grouped = frame.assign(group=np.arange(600) % 2).rankeval(by="group")
    with pytest.raises(ValueError, match=r"table has 2 groups of \['group'\].*Choose it"):
        plotting.precision(grouped.nbest_precision(10))
    table = grouped.nbest_precision(10)
    assert plotting.precision(table[table["group"] == 1]).get_lines()


def test_table_without_its_notes_is_drawn_still(frame):
    table = frame.rankeval.nbest_precision([10, 20])
    table.attrs.clear()
    assert "interval, pointwise" in legend(plotting.precision(table))


def test_empty_table_gives_empty_axes(frame):
    empty = frame.iloc[:0].rankeval.nbest_precision()
    assert rankeval_pd.plotting.precision(empty).get_ylabel() == "precision"
