"""Pictures as suspicious users ask for them: groups, many names, odd names, odd axes, nothing."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from rankeval_pd import plotting
from rankeval_pd.errors import RankevalWarning
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.look import Ink
from tests.questions import PLOTS, B, candidates, items
from tests.test_pictures import _close_figures, texts  # noqa: F401
from tests.test_plotting import line, named, written
from tests.test_plotting_looks import ALL, columns, rank_texts, tied
from tests.test_plotting_parts import entries

ODD = [r"$\foo$", "", "_", r"a\b", "50 %", r"{x}_$^2$", "#&~", "two\nlines", "x" * 80, "ß→λ", 3]


def parts(frame: pd.DataFrame, count: int = 3) -> pd.DataFrame:
    return frame.assign(part=np.arange(len(frame)) % count)


def many(count: int, size: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    scores = {f"measure number {k}": rng.normal(size=size) for k in range(count)}
    return pd.DataFrame({**scores, "gold": rng.random(size) < 0.3})


def systems(count: int, size: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    right = rng.random((size, count)) < np.linspace(0.9, 0.4, count)
    return pd.DataFrame(right, columns=[f"system {k}" for k in range(count)])


def laid_out(figure) -> None:
    """Draw, and see that each text lies within the figure, and on no other."""
    figure.draw_without_rendering()
    own = [text for legend in figure.legends for text in legend.get_texts()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in (*texts(figure.axes), *own)]
    for text, box in boxes:
        assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1, text
        assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1, text
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        shared = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(shared) <= 1.2 * figure.dpi / 72, (one, other)


# ------------------------------------------------------------------------------------------ groups

ASKED = {  # of candidates, and of systems scored on items
    "precision": lambda c, i: c.precision([10, 20, 50], n_resamples=50, target="nbest"),
    "comparison": lambda c, i: c.comparison("G2", "_z", n_resamples=200),
    "random_bound": lambda c, i: c.random_bound(0.05),
    "random_cdf": lambda c, i: c.random_cdf(20),
    "roc": lambda c, i: c.roc(bands=0.05),
    "recall_band": lambda c, i: c.recall_band([10, 20, 50], n_resamples=50),
    "precision_recall": lambda c, i: c.precision_recall(f_scores=0.3),
    "det": lambda c, i: c.det(),
    "lift": lambda c, i: c.lift(enrichment=0.1),
    "gain": lambda c, i: c.gain(log=True),
    "area": lambda c, i: c.area(),
    "measure_ranks": lambda c, i: c.measure_ranks(20),
    "odds_ratios": lambda c, i: c.odds_ratios("G2", "_z", [20, 50]),
    "tie_sensitivity": lambda c, i: c.tie_sensitivity("G2", "_z", [20, 50], n_keys=3),
    "mean_difference": lambda c, i: c.mean_difference("G2", "_z", range(9, 50), n_resamples=50),
    "confidence": lambda c, i: i.confidence(**B),
    "pairs": lambda c, i: i.pairs(**B, adjust=None),
    "system_ranks": lambda c, i: i.system_ranks(**B, adjust=None),
    "gain_by_size": lambda c, i: i.gain_by_size([30, 60], **B),
    "paired_differences": lambda c, i: i.paired_differences("system 0", "system 3", **B),
    "queries": lambda c, i: i.queries("system 0", "system 3"),
    "critical_difference": lambda c, i: i.critical_difference(adjust=None, n_resamples=200),
}
TWO, PAIR = ["G2", " _z"], ["G2 :  _z"]
NAMED = {  # once for the figure; the others have names on an axis, or values of their own in a key
    **dict.fromkeys(["precision", "recall_band", "comparison", "random_bound", "det", "gain"], TWO),
    **dict.fromkeys(["odds_ratios", "tie_sensitivity"], PAIR),
}


def test_all_plots_have_groups():
    """But these: panels are measures; a table of pairs is taken; groups are queries."""
    assert set(ASKED) == set(ALL) - {"repetition", "calibration", "interpolated_precision"}


@pytest.mark.full
@pytest.mark.parametrize("name", ASKED)
def test_groups_are_panels_with_one_set_of_names(name):
    ranked = parts(candidates(names=4)).rankeval(by="part").plot
    panels = ASKED[name](ranked, parts(items(4)).rankeval(by="part").plot)
    assert [ax.get_title() for ax in panels] == [f"part = {k}" for k in range(3)]
    figure = panels[0].figure
    laid_out(figure)
    above = [name for legend in figure.legends for name in entries(legend)]
    assert above[: len(NAMED.get(name, []))] == NAMED.get(name, [])
    assert len(above) == len(set(above))
    assert not (above and any(named(ax) for ax in panels))
    assert all(ax.get_legend() is None for ax in panels)


@pytest.mark.parametrize("name", ASKED)
def test_datasets_give_the_same_picture(name):
    frames = candidates(names=4), items(4)
    first, second = (frame.rename_axis("item").to_xarray() for frame in frames)
    sets = first.rename(item="candidate"), second.to_dataarray("system").to_dataset(name="score")
    both = []
    for data in (frames, sets):
        ax = ASKED[name](*(x.rankeval.plot for x in data))
        lines = [x.get_xydata() for part in ax.figure.axes for x in part.get_lines()]
        dots = [np.asarray(x.get_offsets()) for x in ax.collections]
        colors = [x.get_facecolors() for x in ax.collections]
        both.append((lines, dots, colors, named(ax), written(ax), caption(ax)))
    np.testing.assert_equal(*both)


def test_domains_of_a_calibration():
    pairs = items(8).rankeval.paired_bootstrap(**B)
    tables = {
        name: pairs.rankeval.calibration(items(8).sample(frac=1, replace=True, random_state=seed))
        for seed, name in enumerate(["news", "talks"])
    }
    table = pd.concat(tables, names=["domain", None]).reset_index("domain")
    panels = plotting.calibration(table)
    assert [ax.get_title() for ax in panels] == ["domain = news", "domain = talks"]
    laid_out(panels[0].figure)


# -------------------------------------------------------------------------------------------- many


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("count", [40, 200])
@pytest.mark.parametrize(
    ("plot", "method", "column"),
    [("precision", "nbest_precision", "precision"), ("roc", "roc", "tpr"), ("det", "det", "fnr"),
     ("random_bound", "nbest_precision", "precision"), ("gain", "gain", "tpr"),
     ("lift", "lift", "lift")],
)  # fmt: skip
def test_of_many_measures_the_best_three_are_in_color(plot, method, column, count):
    df = many(count, size=100)
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
    assert f"In gray: the other {count - 3}." in caption(ax)


@pytest.mark.full
@pytest.mark.parametrize("count", [40, 120])
def test_many_rows_of_a_forest(count):
    """Up to 60 rows stand on the page; of more the best 59, and the rest in one row."""
    ax = systems(count).rankeval.plot.system_ranks(**B)
    laid_out(ax.figure)
    table = systems(count).rankeval.system_ranks(**B).sort_values("rank", kind="stable")
    written = [text.get_text() for text in ax.get_yticklabels()]
    shown = table.iloc[: count if count <= 60 else 59]
    rest = [f"{count - 59} more"] if count > 60 else []
    assert written == [*shown["system"], *rest]
    assert ("Ticks in the last row" in caption(ax)) == (count > 60)
    assert columns(ax)["rank"] == rank_texts(shown)
    drawn = bool(tied(ax))
    assert drawn == ("Bars on the right" in caption(ax))
    assert ("tied" in columns(ax) and not drawn) == ("share a letter" in caption(ax))


def test_more_panels_than_can_be_read_are_refused_before_anything_is_drawn():
    with pytest.raises(ValueError, match=r"there are 190 pairs of systems, .* has at most 6"):
        systems(20).rankeval.plot.paired_differences()
    with pytest.raises(ValueError, match=r"there are 10 pairs of systems, .* has at most 6"):
        systems(5).rankeval.plot.paired_differences()
    assert len(systems(4).rankeval.plot.paired_differences(n_resamples=99)) == 6
    plt.close("all")
    with pytest.raises(ValueError, match=r"there are 3 pairs of systems in each group"):
        parts(systems(4), 10).rankeval(by="part").plot.paired_differences("system 0")
    df = parts(many(30, size=40), 4)
    with pytest.raises(ValueError, match=r"there are 30 measures.*24 panels.*measures=\["):
        df.rankeval(by="part").plot.repetition(n=5)
    assert not plt.get_fignums()


# ------------------------------------------------------------------------------------------- names


@pytest.mark.full
@pytest.mark.parametrize(("name", "other"), [*itertools.zip_longest(ODD[::2], ODD[1::2])])
def test_odd_names_are_written_without_a_warning(name, other):
    df = candidates(names=3)
    df.columns = pd.Index(["a", name, "c" if other is None else other, "gold"], dtype=object)
    right = df.drop(columns="gold") > 0
    for plot in ("roc", "precision_recall", "area", "lift"):
        laid_out(getattr(df.rankeval.plot, plot)().figure)
    laid_out(df.rankeval.plot.comparison(n=[20, 50], simultaneous=False).figure)
    laid_out(df.rankeval.plot.odds_ratios("a", name, [20, 50]).figure)
    laid_out(parts(df, 6).rankeval(by="part").plot.repetition(n=9)[0].figure)
    for plot in ("pairs", "system_ranks", "critical_difference"):
        laid_out(getattr(right.rankeval.plot, plot)(adjust=None, n_resamples=200).figure)
    laid_out(right.rankeval.plot.paired_differences("a", name, **B).figure)
    ax = df.rankeval.plot.roc(area=False)
    assert len(named(ax)) == 3  # none is left out
    assert len(entries(ax.legend())) == 4  # nor here; a random order is named on its line


def test_names_of_no_letters_are_written_and_wrong_mathematics_is_refused():
    df = candidates(names=2)
    ax = df.rename(columns={"G2": ""}).rankeval.plot.gain(legend=True)
    assert entries(ax.get_legend())[0] == "''"
    with pytest.raises(ValueError, match=r"labels or title: .*cannot parse .*Unknown symbol: .foo"):
        df.rankeval.plot.roc(labels={"G2": r"$\foo$"})
    with pytest.raises(ValueError, match=r"labels or title: '\$x_\$'"):
        df.rankeval.plot.roc(title="$x_$")


@pytest.mark.parametrize("name", [None, np.nan, pd.NaT, pd.NA])
def test_columns_whose_name_is_missing(name):
    data = candidates().iloc[:40]
    names = [name if x == "G2" else x for x in data.columns]
    kept = data.set_axis(pd.Index(names, dtype=object), axis=1)
    assert "nan" in named(plotting.precision(kept))
    first = pd.Index([name, *items().columns[1:]], dtype=object)
    ax = plotting.pairs(items().set_axis(first, axis=1).iloc[:, :3])
    assert "nan" in written(ax)


# --------------------------------------------------------------------- tables, axes and keywords


@pytest.mark.parametrize(
    ("name", "some"),
    [
        ("precision", "n precision"), ("comparison", "measure_a n precision_a"),
        ("recall_band", "n recall"), ("random_bound", "p n expected"),
        ("random_cdf", "n tp discrete"),
        ("roc", "measure n fpr"), ("confidence", "system_a gain"),
        ("pairs", "system_a system_b gain"), ("system_ranks", "system rank_low"),
        ("gain_by_size", "size system_a gain"), ("calibration", "p_low p_high"),
    ],
)  # fmt: skip
def test_wrong_tables_are_refused(name, some):
    draw = getattr(plotting, name)
    with pytest.raises(ValueError, match=r"table has no columns .*pass the result of"):
        draw(pd.DataFrame(columns=some.split()))
    with pytest.raises(TypeError, match=r"(data|table|pairs) is of type list: .*the result of"):
        draw([1, 2])


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("name", ["precision", "roc"])
def test_of_a_table_no_role_is_asked(name):
    method = {"precision": "nbest_precision"}.get(name, name)
    table = getattr(candidates(names=2).rankeval, method)()
    with pytest.raises(TypeError, match=rf"gold='gold' is a column role.* a result of {method}"):
        getattr(plotting, name)(table, gold="gold")
    assert getattr(table.rankeval.plot, name)().get_lines()


def test_keywords_reach_the_artists():
    ax = candidates().rankeval.plot.precision(
        [10, 20], measures="G2", line_kw={"linewidth": 7}, band_kw={"alpha": 0.9},
        marker_kw={"marker": "x"},
    )  # fmt: skip
    assert (line(ax, "G2").get_linewidth(), line(ax, "G2").get_marker()) == (7, "x")
    assert ax.collections[0].get_alpha() == 0.9
    ask = items().rankeval.plot
    look = {"band_kw": {"linewidth": 9}, "marker_kw": {"markersize": 11}}
    bars, dots = ask.system_ranks(**look, **B).collections
    assert (bars.get_linewidth(), dots.get_sizes()) == (9, 11)
    ax = ask.confidence(marker_kw={"markersize": 11}, **B)
    assert line(ax, "_pairs").get_markersize() == 11
    assert ask.pairs(band_kw={"linewidth": 3}, **B).collections[0].get_linewidth() == 3


@pytest.mark.parametrize("name", PLOTS)
def test_axes_that_cannot_hold_a_picture_are_refused(name):
    with pytest.raises(TypeError, match=r"ax=3 is of type int: pass an Axes"):
        PLOTS[name](3)
    with pytest.raises(TypeError, match=r"is of type Figure: pass an Axes"):
        PLOTS[name](plt.figure())
    with pytest.raises(ValueError, match=r"ax is a polar Axes"):
        PLOTS[name](plt.figure().add_subplot(projection="polar"))
    with pytest.raises(ValueError, match=r"ax is a 3d Axes"):
        PLOTS[name](plt.figure().add_subplot(projection="3d"))


@pytest.mark.full
@pytest.mark.parametrize("name", PLOTS)
def test_subfigures_hold_pictures(name):
    figure = plt.figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    right.subplots().plot([1, 2])
    ax = left.subplots()
    PLOTS[name](ax)
    laid_out(figure)
    for text in texts(left.axes):
        assert text.get_window_extent().x1 <= left.bbox.x1 + 1, text.get_text()


@pytest.mark.parametrize("given", [{"nonsense": 1}, {"G2": {"alpha": "much"}}])
@pytest.mark.parametrize("keyword", ["line_kw", "marker_kw"])
def test_what_matplotlib_refuses_is_said_of_the_argument_that_holds_it(keyword, given):
    open_before = plt.get_fignums()
    with pytest.raises(ValueError, match=f"{keyword}=.*matplotlib reports"):
        candidates().rankeval.plot.precision([10, 50], **{keyword: given}, measures=["G2"])
    assert plt.get_fignums() == open_before


@pytest.mark.parametrize("keyword", ["line_kw", "band_kw", "marker_kw"])
def test_keywords_of_artists_are_mappings(keyword):
    df, right = candidates(names=2), items(3)
    for ask in (
        lambda **kw: df.rankeval.plot.precision(**kw),
        lambda **kw: plotting.precision(df.rankeval.nbest_precision([5]), **kw),
        lambda **kw: right.rankeval.plot.pairs(**kw),
        lambda **kw: df.assign(part=0).rankeval(by="part").plot.repetition(n=5, **kw),
    ):
        with pytest.raises(TypeError, match=rf"{keyword}=3 is of type int: pass a mapping"):
            ask(**{keyword: 3})


def test_what_is_no_band_is_refused():
    with pytest.raises(ValueError, match="bound=True"):
        candidates().rankeval.plot.gain(bound=True)
    with pytest.raises(TypeError, match="bands="):
        candidates().rankeval.plot.precision([10], bands=pd.Series([0.1]))


def test_rows_of_names_are_no_logarithms_and_groups_may_be_named_true():
    ax = plt.subplots()[1]
    ax.set_yscale("log")
    assert plotting.system_ranks(items(), ax=ax).get_yscale() == "linear"
    data = candidates().assign(q=1).rename(columns={"q": True})
    plotting.precision_recall(data, by=True)


# ------------------------------------------------------------------------------- little or nothing


def test_systems_that_are_identical_are_drawn():
    same = pd.DataFrame({name: np.arange(200) % 3 == 0 for name in "abc"})
    with pytest.warns(RankevalWarning):
        ax = same.rankeval.plot.gain_by_size([50, 200], **B)
    assert "No gain is above 0." in caption(ax)
    laid_out(ax.figure)


@pytest.mark.parametrize("x", ["n", "share", "recall"])
def test_empty_tables_on_every_axis(x):
    df = candidates()
    table, curves = df.rankeval.compare(n=[20]), df.rankeval.nbest_precision([20])
    laid_out(plotting.precision(curves.iloc[:0], x=x, reference=("random", "ideal")).figure)
    laid_out(plotting.comparison(table.iloc[:0], None, curves.iloc[:0], x=x).figure)
    laid_out(df.iloc[:0].rankeval.plot.precision(x=x).figure)


@pytest.mark.full
def test_empty_tables_of_the_other_plots():
    df, right = candidates(), items(3)
    curves = ("roc", "det", "lift", "gain", "precision_recall")
    pairs = right.rankeval.paired_bootstrap(**B)
    tables = {
        **{name: getattr(df.rankeval, name)() for name in (*curves, "area", "random_bound")},
        "odds_ratios": df.rankeval.odds_ratios("G2", "_z", [50]),
        "mean_difference": df.rankeval.mean_difference("G2", "_z", range(5, 50), n_resamples=50),
        "measure_ranks": df.rankeval.measure_ranks(20),
        "recall_band": df.rankeval.recall_band([20], n_resamples=50),
        "tie_sensitivity": df.rankeval.tie_sensitivity("G2", "_z", [50], n_keys=3),
        "random_cdf": df.rankeval.random_cdf(5),
        **dict.fromkeys(["confidence", "pairs", "critical_difference"], pairs),
        "calibration": pairs.rankeval.calibration(right),
        "system_ranks": right.rankeval.system_ranks(**B, adjust=None),
        "gain_by_size": right.rankeval.gain_by_size([50], **B),
    }
    for name, table in tables.items():
        laid_out(getattr(plotting, name)(table.iloc[:0]).figure)
        plt.close("all")
    for name in curves:
        laid_out(getattr(df.iloc[:0].rankeval.plot, name)().figure)


# ------------------------------------------------------------------------------------------ marks


def test_odds_of_zero_and_infinity_are_triangles_and_no_line_leads_there():
    df = pd.DataFrame({"a": range(40, 0, -1), "b": range(40), "gold": [True] * 10 + [False] * 30})
    table = df.rankeval.odds_ratios("a", "b", [5, 10, 20])
    ax = plotting.odds_ratios(table)
    beyond = np.isinf(table["odds_ratio_mle"])
    assert beyond.any()
    assert np.isnan(ax.get_lines()[0].get_ydata()[beyond.to_numpy()]).all()
    (marks,) = [line for line in ax.get_lines() if line.get_marker() == "^"]
    np.testing.assert_array_equal(marks.get_xdata(), table["n"][beyond])
    assert "Triangles: odds ratios of 0 or infinity" in caption(ax)


def test_samples_fit_their_panels():
    df = parts(candidates(1200, names=5), 20)
    panels = df.rankeval(by="part").plot.repetition(n=10)
    heights = [bar.get_height() for ax in panels for bar in ax.patches]
    highest = max(heights + [x.get_ydata().max() for ax in panels for x in ax.get_lines()])
    assert all(highest <= ax.get_ylim()[1] <= 2.0 * highest for ax in panels)
    laid_out(panels[0].figure)


def test_no_tick_stands_beyond_shares():
    for names, ask in ((4, {}), (2, {"n": range(1, 40)})):
        ax = candidates(names=names).rankeval.plot.comparison(n_resamples=120, **ask)
        ax.figure.draw_without_rendering()
        low, high = ax.get_ylim()
        ticks = [t.get_loc() for t in ax.yaxis.get_major_ticks() if low <= t.get_loc() <= high]
        assert min(ticks) >= 0
        assert max(ticks) <= 1


def test_uncertainty_of_more_names_than_six_is_left_out():
    df = many(8)
    assert not df.rankeval.plot.precision([20, 50], highlight=list(df)[:7]).collections
    assert len(df.rankeval.plot.precision([20, 50], highlight=list(df)[:6]).collections) == 6
    assert len(df.rankeval.plot.precision([20, 50]).collections) == 3  # the best three


def test_the_scores_stay_in_the_figure_at_any_resolution():
    with plt.rc_context({"figure.dpi": 110}):
        ax = systems(5).rankeval.plot.system_ranks(**B, adjust=None)
        laid_out(ax.figure)
