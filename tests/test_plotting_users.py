"""Pictures as suspicious users ask for them: groups, many names, odd names, odd axes, nothing."""

import inspect
import itertools
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from rankeval_pd import plotting
from rankeval_pd.errors import RankevalWarning
from tests.test_plotting_looks import PLOTS, B, candidates, items, overlapping

mpl.use("Agg")

ALL = sorted(set(plotting.__all__) - {"shared_legend", "shown"})
ODD = [r"$\foo$", "", "_", r"a\b", "50 %", r"{x}_$^2$", "#&~", "two\nlines", "x" * 80, "ß→λ", 3]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def parts(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(part=np.arange(len(frame)) % 3)


def many(count: int, size: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    scores = {f"measure number {k}": rng.normal(size=size) for k in range(count)}
    return pd.DataFrame({**scores, "gold": rng.random(size) < 0.3})


def systems(count: int, size: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    right = rng.random((size, count)) < np.linspace(0.9, 0.4, count)
    return pd.DataFrame(right, columns=[f"system {k}" for k in range(count)])


def laid_out(figure) -> None:
    """Draw, and see that no tick labels overlap, and that legends lie within the figure."""
    figure.draw_without_rendering()
    for ax in figure.axes:
        assert not overlapping(ax.xaxis)
        assert not overlapping(ax.yaxis)
    for legend in [*figure.legends, *(ax.get_legend() for ax in figure.axes)]:
        if legend is not None:
            box = legend.get_window_extent()
            assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1
            assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1


# ------------------------------------------------------------------------------------------ groups

GROUPED = {
    "precision": lambda c, i: c.precision([10, 20, 50], n_resamples=50, target="nbest"),
    "comparison": lambda c, i: c.comparison("G2", "_z", n_resamples=200),
    "random_bound": lambda c, i: c.random_bound(0.05),
    "random_cdf": lambda c, i: c.random_cdf(20),
    "roc": lambda c, i: c.roc(bands=0.05),
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
    "critical_difference": lambda c, i: i.critical_difference(adjust=None, n_resamples=200),
}


def test_all_plots_have_groups():
    """But these: repetition's panels are measures; calibration takes a table of pairs."""
    assert set(GROUPED) == set(ALL) - {"repetition", "calibration"}


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPED)
def test_groups_are_panels_with_one_legend(name):
    ranked = parts(candidates(names=4)).rankeval(by="part").plot
    panels = GROUPED[name](ranked, parts(items(4)).rankeval(by="part").plot)
    assert [ax.get_title() for ax in panels] == [f"part = {k}" for k in range(3)]
    assert all(ax.get_legend() is None for ax in panels)
    assert len(panels[0].figure.legends) == 1
    laid_out(panels[0].figure)


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

MANY = {
    "precision": lambda count, ax: many(count).rankeval.plot.precision(n_resamples=50, ax=ax),
    "few": lambda count, ax: many(count).rankeval.plot.precision([20, 50], ax=ax),
    "roc": lambda count, ax: many(count).rankeval.plot.roc(ax=ax),
    "lift": lambda count, ax: many(count).rankeval.plot.lift(enrichment=0.1, ax=ax),
    "area": lambda count, ax: many(count).rankeval.plot.area(ax=ax),
    "confidence": lambda count, ax: systems(count).rankeval.plot.confidence(**B, ax=ax),
    "pairs": lambda count, ax: systems(count).rankeval.plot.pairs(**B, adjust=None, ax=ax),
    "system_ranks": lambda count, ax: systems(count).rankeval.plot.system_ranks(
        **B, adjust=None, ax=ax
    ),
    "critical_difference": lambda count, ax: systems(count).rankeval.plot.critical_difference(
        adjust=None, n_resamples=200, ax=ax
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("count", [20, 40])
@pytest.mark.parametrize("name", MANY)
def test_many_names_leave_room_in_a_small_figure(name, count):
    figure, ax = plt.subplots(figsize=(3.15, 2.36), layout="constrained")
    MANY[name](count, ax)
    laid_out(figure)
    box = ax.get_window_extent()
    assert box.width / figure.dpi >= 0.65 * 3.15
    assert box.height / figure.dpi >= 0.45 * 2.36


@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_many_names_in_a_figure_of_its_own(name):
    ax = MANY[name](40, None)
    laid_out(ax.figure)


@pytest.mark.slow
def test_two_hundred_measures_are_drawn_and_the_legend_says_how_many_it_leaves_out():
    df = many(200, size=40)
    ax = df.rankeval.plot.gain()
    laid_out(ax.figure)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    (said,) = [text for text in texts if re.fullmatch(r"and \d+ more", text)]
    named = [text for text in texts if re.match(r"measu.*\d", text)]  # names may be cut
    assert len(named) + int(said.split()[1]) == 200
    assert "ideal order" in texts
    with pytest.raises(ValueError, match=r"there are 200 measures.*24 panels.*measures=\["):
        df.assign(part=np.arange(40) % 4).rankeval(by="part").plot.repetition(n=5)


def test_more_pairs_than_panels_are_refused_before_anything_is_drawn():
    with pytest.raises(ValueError, match=r"there are 190 pairs of systems, a panel each"):
        systems(20).rankeval.plot.paired_differences()
    with pytest.raises(ValueError, match=r"there are 3 pairs of systems in each group"):
        systems(4).assign(part=np.arange(200) % 10).rankeval(by="part").plot.paired_differences(
            "system 0"
        )


# ------------------------------------------------------------------------------------------- names


@pytest.mark.slow
@pytest.mark.parametrize(("name", "other"), [*itertools.zip_longest(ODD[::2], ODD[1::2])])
def test_odd_names_are_written_without_a_warning(name, other):
    df = candidates(names=3)
    df.columns = pd.Index(["a", name, "c" if other is None else other, "gold"], dtype=object)
    right = df.drop(columns="gold") > 0
    for plot in ("roc", "precision_recall", "area", "lift"):
        laid_out(getattr(df.rankeval.plot, plot)().figure)
    laid_out(df.rankeval.plot.comparison(n=[20, 50], simultaneous=False).figure)
    laid_out(df.rankeval.plot.odds_ratios("a", name, [20, 50]).figure)
    laid_out(df.assign(part=np.arange(300) % 6).rankeval(by="part").plot.repetition(n=9)[0].figure)
    for plot in ("pairs", "system_ranks", "critical_difference"):
        laid_out(getattr(right.rankeval.plot, plot)(adjust=None, n_resamples=200).figure)
    laid_out(right.rankeval.plot.paired_differences("a", name, **B).figure)
    names = [text.get_text() for text in df.rankeval.plot.roc(area=False).get_legend().get_texts()]
    assert len(names) == 4  # none is left out


def test_names_of_no_letters_stand_in_the_legend():
    df = candidates(names=2).rename(columns={"G2": ""})
    texts = [text.get_text() for text in df.rankeval.plot.gain().get_legend().get_texts()]
    assert texts[0] == "''"


def test_mathematics_that_cannot_be_read_is_refused():
    df = candidates(names=2)
    with pytest.raises(ValueError, match=r"labels or title: .*cannot read .*Unknown symbol: .foo"):
        df.rankeval.plot.roc(labels={"G2": r"$\foo$"})
    with pytest.raises(ValueError, match=r"labels or title: '\$x_\$'"):
        df.rankeval.plot.roc(title="$x_$")


# ----------------------------------------------------------------------------- axes and keywords


@pytest.mark.parametrize("name", PLOTS)
def test_axes_that_cannot_hold_a_picture_are_refused(name):
    with pytest.raises(TypeError, match=r"ax=3 is of type int: give an Axes"):
        PLOTS[name](3)
    with pytest.raises(TypeError, match=r"is of type Figure: give an Axes"):
        PLOTS[name](plt.figure())
    with pytest.raises(ValueError, match=r"ax is a polar Axes"):
        PLOTS[name](plt.figure().add_subplot(projection="polar"))
    with pytest.raises(ValueError, match=r"ax is a 3d Axes"):
        PLOTS[name](plt.figure().add_subplot(projection="3d"))


@pytest.mark.slow
@pytest.mark.parametrize("name", PLOTS)
def test_subfigures_hold_pictures(name):
    figure = plt.figure(figsize=(8, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    right.subplots().plot([1, 2])
    ax = left.subplots()
    PLOTS[name](ax)
    laid_out(figure)
    assert ax.get_tightbbox().x1 <= left.bbox.x1 + 1


@pytest.mark.parametrize("given", [{"nonsense": 1}, {"G2": {"alpha": "much"}}])
@pytest.mark.parametrize("keyword", ["line_kw", "marker_kw"])
def test_what_matplotlib_refuses_is_said_of_the_argument_that_holds_it(keyword, given):
    open_before = plt.get_fignums()
    with pytest.raises(ValueError, match=f"{keyword}=.*matplotlib says"):
        candidates().rankeval.plot.precision([10, 50], **{keyword: given}, measures=["G2"])
    assert plt.get_fignums() == open_before


@pytest.mark.parametrize("name", [None, np.nan, pd.NaT, pd.NA])
def test_columns_whose_name_is_missing(name):
    data = candidates().iloc[:40]
    kept = data.set_axis(
        pd.Index([name if x == "G2" else x for x in data.columns], dtype=object), axis=1
    )
    assert len(plotting.precision(kept).get_lines()) > 1
    systems = items()
    first = pd.Index([name, *systems.columns[1:]], dtype=object)
    plotting.pairs(systems.set_axis(first, axis=1).iloc[:, :3])


def test_bounds_and_bands_that_there_are_not():
    with pytest.raises(ValueError, match="bound=True"):
        candidates().rankeval.plot.gain(bound=True)
    with pytest.raises(TypeError, match="bands="):
        candidates().rankeval.plot.precision([10], bands=pd.Series([0.1]))


def test_rows_of_names_on_axes_with_a_logarithmic_scale():
    ax = plt.subplots()[1]
    ax.set_yscale("log")
    plotting.system_ranks(items(), ax=ax)
    assert ax.get_yscale() == "linear"


def test_groups_named_true():
    data = candidates()
    plotting.precision_recall(data.assign(**{"q": 1}).rename(columns={"q": True}), by=True)


@pytest.mark.parametrize("keyword", ["line_kw", "band_kw", "marker_kw"])
def test_keywords_of_artists_are_mappings(keyword):
    df, right = candidates(names=2), items(3)
    for ask in (
        lambda **kw: df.rankeval.plot.precision(**kw),
        lambda **kw: plotting.precision(df.rankeval.nbest_precision([5]), **kw),
        lambda **kw: right.rankeval.plot.pairs(**kw),
        lambda **kw: df.assign(part=0).rankeval(by="part").plot.repetition(n=5, **kw),
    ):
        with pytest.raises(TypeError, match=rf"{keyword}=3 is of type int: give a mapping"):
            ask(**{keyword: 3})


# ------------------------------------------------------------------------------- little or nothing


def test_systems_that_are_identical_are_drawn():
    same = pd.DataFrame({name: np.arange(200) % 3 == 0 for name in "abc"})
    with pytest.warns(RankevalWarning):
        ax = same.rankeval.plot.gain_by_size([50, 200], **B)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "no gain above 0" in texts
    laid_out(ax.figure)


@pytest.mark.parametrize("x", ["n", "share", "recall"])
def test_empty_tables_on_every_axis(x):
    df = candidates()
    table, curves = df.rankeval.compare(n=[20]), df.rankeval.nbest_precision([20])
    laid_out(plotting.precision(curves.iloc[:0], x=x, reference=("random", "ideal")).figure)
    laid_out(plotting.comparison(table.iloc[:0], None, curves.iloc[:0], x=x).figure)
    laid_out(df.iloc[:0].rankeval.plot.precision(x=x).figure)


@pytest.mark.slow
def test_empty_tables_of_the_other_plots():
    df, right = candidates(), items(3)
    pairs = right.rankeval.paired_bootstrap(**B)
    tables = {
        **{name: getattr(df.rankeval, name)() for name in ("roc", "det", "lift", "gain", "area")},
        "precision_recall": df.rankeval.precision_recall(),
        "random_bound": df.rankeval.random_bound(),
        "odds_ratios": df.rankeval.odds_ratios("G2", "_z", [50]),
        "mean_difference": df.rankeval.mean_difference("G2", "_z", range(5, 50), n_resamples=50),
        "tie_sensitivity": df.rankeval.tie_sensitivity("G2", "_z", [50], n_keys=3),
        "random_cdf": df.rankeval.random_cdf(5),
        "confidence": pairs,
        "pairs": pairs,
        "critical_difference": pairs,
        "system_ranks": right.rankeval.system_ranks(**B, adjust=None),
        "gain_by_size": right.rankeval.gain_by_size([50], **B),
    }
    for name, table in tables.items():
        laid_out(getattr(plotting, name)(table.iloc[:0]).figure)
        plt.close("all")
    for name in ("roc", "det", "lift", "gain", "precision_recall"):
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
    assert "triangles: 0 or infinite" in " ".join(
        text.get_text() for text in ax.get_legend().get_texts()
    )


def test_samples_fit_their_panels():
    df = candidates(1200, names=5).assign(part=np.arange(1200) % 20)
    panels = df.rankeval(by="part").plot.repetition(n=10)
    highest = max(bar.get_height() for ax in panels for bar in ax.patches)
    for ax in panels:
        assert highest <= ax.get_ylim()[1] <= 2.0 * highest
    laid_out(panels[0].figure)


def test_no_tick_stands_beyond_shares():
    ax = candidates(names=4).rankeval.plot.comparison(n_resamples=120)
    ax.figure.draw_without_rendering()
    low = ax.get_ylim()[0]
    assert low < 0
    assert min(ax.get_yticks()) >= 0
    assert max(ax.get_yticks()) <= 1


def test_bars_without_room_are_left_out():
    df = candidates(names=5)
    _, small = plt.subplots(figsize=(3.15, 2.36), layout="constrained")
    df.rankeval.plot.precision(range(5, 200, 8), simultaneous=False, target="nbest", ax=small)
    assert not [paths for c in small.collections if (paths := c.get_paths())]
    assert any("highlight=… has them" in t.get_text() for t in small.get_legend().get_texts())
    wide = df.rankeval.plot.precision([20, 50], simultaneous=False, target="nbest")
    assert len([c for c in wide.collections if c.get_paths()]) == 5


def test_the_legend_stays_in_the_figure_beside_written_scores():
    with plt.rc_context({"figure.dpi": 110}):
        ax = systems(5).rankeval.plot.system_ranks(**B, adjust=None)
        laid_out(ax.figure)


# ------------------------------------------------------------------------------------------- help


@pytest.mark.parametrize("name", ALL)
def test_help_says_what_marks_mean_and_names_every_parameter(name):
    plot = getattr(plotting, name)
    text = inspect.getdoc(plot)
    assert text is not None
    sections = re.split(r"\n(\w+)\n-+\n", text)
    by_name = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert len(by_name["Notes"].split()) > 20
    assert f"plot.{name}(" in by_name["Examples"]
    listed = re.findall(r"^(\S.*?) : ", by_name["Parameters"], re.M)
    listed += re.findall(r"^([\w, ]+)$", by_name["Parameters"], re.M)
    named = {one.strip() for line in listed for one in line.split(",")}
    asked = set(inspect.signature(plot).parameters) - {"options", "order"}
    documented_elsewhere = {"roles"} | set(_roles())
    assert asked - named - documented_elsewhere == set()


def _roles():
    from rankeval_pd.forms.roles.roles import MEANINGS

    return MEANINGS
