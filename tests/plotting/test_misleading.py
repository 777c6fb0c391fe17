"""Each test is a picture that once misled its reader."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import plotting
from rankeval_pd.plotting import caption, look
from rankeval_pd.plotting.lists import _stretches
from tests.plotting.seen import color, columns, line, written, xy


@pytest.fixture(scope="module")
def ranked():
    return rankeval_pd.datasets.simulate_candidates(3_000)


@pytest.fixture(scope="module")
def items():
    rng = np.random.default_rng(1)
    right = {"a": rng.random(60) < 0.7, "b": rng.random(60) < 0.55}
    return pd.DataFrame({**right, "s": np.repeat(["x", "y"], 30), "g": np.repeat(range(20), 3)})


def test_the_bar_for_all_n_joins_what_the_table_joins(ranked):
    table = ranked.rankeval.compare("good", "fair", range(20, 2_501), details=True)
    sizes = [*range(20, 2_501, 7)]
    joint = ranked.rankeval.compare("good", "fair", sizes, adjust="max-t", details=True)
    ax = plotting.comparison(table, joint)
    strip = ax.figure.axes[1]
    full = color(ax, "good")
    bars = [x for x in strip.collections if plt.matplotlib.colors.same_color(x.get_fc()[0], full)]
    drawn = [tuple(p.get_extents().intervalx) for bar in bars for p in bar.get_paths()]
    hits = joint["significant"].to_numpy(dtype=bool)
    runs = np.diff(np.flatnonzero(np.diff(hits, prepend=False, append=False)).reshape(-1, 2))
    assert len(drawn) == len(runs) < 40
    np.testing.assert_allclose([high - low for low, high in drawn], 7.0 * runs[:, 0])


def test_a_single_size_has_a_bar_of_one():
    assert _stretches(np.array([5.0]), np.array([True])) == [(4.5, 1.0)]
    assert _stretches(np.array([5.0]), np.array([False])) == []


def test_gains_of_items_do_not_depend_on_strata_and_groups(items):
    ax = items.rankeval.plot.paired_differences("a", "b", strata="s", groups="g")
    ahead = items["a"].astype(int) - items["b"]
    assert f"a better: {(ahead > 0).sum()}" in written(ax)
    assert f"b better: {(ahead < 0).sum()}" in written(ax)
    assert "Rows with the same g were treated as a cluster." in caption(ax)
    assert "Scores are macro averages over strata (s)." in caption(ax)


def test_one_sided_tests_are_said(items):
    roles = items.rankeval(exclude=["s", "g"])
    ax = roles.plot.paired_differences("a", "b", alternative="greater")
    assert "Tests and intervals are one-sided (greater)." in caption(ax)
    assert "one-sided" not in caption(roles.plot.paired_differences("a", "b"))


def test_the_line_of_confidence_is_at_alpha():
    rng = np.random.default_rng(1)
    df = pd.DataFrame({f"s{k}": rng.random(200) < 0.5 + 0.05 * k for k in range(5)})
    ax = df.rankeval.plot.confidence(alpha=0.1)
    np.testing.assert_allclose(line(ax, "_rule").get_ydata(), 1.0)
    assert "90% corresponds to a one-sided, unadjusted p of 0.1." in caption(ax)
    table = df.rankeval.paired_bootstrap(details=True)
    assert f"{(table['confidence'] >= 0.9).sum()} of 10 pairs" in written(ax)


def test_a_role_that_a_plot_does_not_have_is_named(ranked):
    grouped = ranked.assign(q=np.arange(3_000) % 12).rankeval(by="q", average="macro")
    for ask in (grouped.plot.random_bound, grouped.random_bound):
        with pytest.raises(TypeError, match=r"'average'.*random_bound.*rankeval\(average=...\)"):
            ask()
    assert len(grouped.plot.comparison("good", "fair", [20, 50]).figure.axes) == 3


def test_ties_are_marked_on_the_line_that_has_them(ranked):
    tied = ranked.assign(freq=np.arange(3_000) % 4)
    ax = tied.rankeval.plot.precision([50, 100, 200])
    [marks] = [x for x in ax.get_lines() if x.get_label() == "_tied"]
    table = tied.rankeval(measures="freq").nbest_precision([50, 100, 200], details=True)
    assert (table["tied"] > 0).all()
    np.testing.assert_allclose(marks.get_xydata(), table[["n", "precision"]])
    assert "Pale edges of a line: lists that end inside a block" in caption(ax)
    assert "Pale edges" not in caption(ranked.rankeval.plot.precision([50, 100]))


def test_only_tests_with_a_bar_are_named(ranked):
    rng = np.random.default_rng(2)
    same = ranked.assign(**{x: rng.random(3_000) for x in ("u", "v")})
    ax = same.rankeval.plot.comparison("u", "v", range(100, 200))
    names = {x for one in ax.figure.axes for x in written(one)}
    assert not names & {"each n separately", "all n jointly"}


def test_names_that_are_cut_stay_different():
    alike = [f"claude-{kind}-with-a-long-name-20240229" for kind in ("opus", "haiku", "sonnet")]
    same = [f"model-from-the-same-family-{k:02d}-of-thirty-in-all" for k in range(30)]
    for names in (alike, same):
        for room in (60.0, 90.0, 140.0):
            cut = look.cut_texts(names, 8.0, room)
            assert len({*cut}) == len(names)
            assert max(map(len, cut)) < min(map(len, names))
    assert look.cut_texts(["a", "b"], 8.0, 60.0) == ["a", "b"]


def test_random_is_written_once_for_all_groups(ranked):
    grouped = ranked.assign(q=np.arange(3_000) % 4)
    panels = grouped.rankeval(by="q").plot.area()
    assert [sum("random" in x for x in written(ax)) for ax in panels] == [1, 0, 0, 0]
    _, (_, second) = plt.subplots(1, 2)
    assert "random 0.500" in written(ranked.rankeval.plot.area(ax=second))


def test_few_samples_are_dots_and_no_bar_is_below_nothing(ranked):
    few, many = (ranked.assign(sample=np.arange(3_000) % count) for count in (5, 60))
    for data, marks in ((few, "Dots"), (many, "Columns")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)  # sizes of samples differ
            [ax, _] = data.rankeval(by="sample").plot.repetition(n=10)
        assert f"{marks}: samples." in caption(ax)
        assert ax.get_xlim()[0] >= 0.0
        assert ax.get_xlim()[1] <= 1.0
        weights = {x.get_text().partition(" ")[0]: x.get_weight() for x in ax.texts}
        assert weights["variance"] == "bold"
        if marks == "Dots":
            samples = data.rankeval(by="sample", measures=["good"]).repetition_samples(n=10)
            np.testing.assert_allclose(xy(ax, "samples")[:, 0], samples["precision"])


def test_the_colors_of_gains_are_a_linear_scale():
    rng = np.random.default_rng(1)
    df = pd.DataFrame({f"s{k}": rng.random(400) < 0.3 + 0.1 * k for k in range(5)})
    [bar] = df.rankeval.plot.pairs().child_axes
    first, middle, last = bar.get_xticks()
    assert middle == pytest.approx(0.5 * (first + last))


def test_p_values_far_below_alpha_do_not_stretch_the_axis(ranked):
    tied = ranked.assign(freq=np.arange(3_000) % 4)
    ax = tied.rankeval.plot.tie_sensitivity("freq", "good", [20, 100, 500], n_keys=5)
    assert ax.get_ylim()[0] > 1e-6
    assert "Marks at the bottom edge: p below 1e-05." in caption(ax)


def test_rare_positives_do_not_leave_a_line_on_the_floor():
    rng = np.random.default_rng(1)
    gold = rng.random(3_000) < 0.01
    df = pd.DataFrame({"a": rng.normal(size=3_000) + 0.5 * gold, "gold": gold})
    ax = df.rankeval.plot.precision_recall()
    assert line(ax, "a").get_ydata().max() > 0.5 * ax.get_ylim()[1]


def test_colors_stay_with_a_measure_when_fewer_are_drawn(ranked):
    more = ranked.assign(other=np.arange(3_000.0))
    whole = more.rankeval.plot.roc()
    part = more.rankeval(measures=["fair", "other"]).plot.roc()
    assert color(whole, "fair") == color(part, "fair")
    assert color(whole, "other") == color(part, "other")


def test_an_axis_can_be_made_logarithmic_afterwards(ranked):
    ax = ranked.rankeval.plot.precision()
    ax.set_xscale("log")
    assert ax.get_xlim()[0] > 0.0


def test_few_pairs_are_too_few_to_judge_calibration(items):
    here, there = items[["a", "b"]].iloc[:30], items[["a", "b"]].iloc[30:]
    ax = here.rankeval.paired_bootstrap().rankeval.plot.calibration(
        there.reset_index(drop=True), bins=[0.001, 0.5]
    )
    assert any("too few to judge the calibration" in text for text in written(ax))


@pytest.mark.parametrize("name", ["pair", "item", "gain", "score_a", "q"])
def test_groups_can_have_the_name_of_a_column_of_the_result(items, name):
    data = items[["a", "b"]].assign(**{name: items["g"] % 2})
    for plot in ("paired_differences", "queries"):
        panels = getattr(data.rankeval(by=name).plot, plot)("a", "b")
        assert [ax.get_title()[-1] for ax in panels] == ["0", "1"]


def test_missing_intervals_are_said(ranked):
    table = ranked.rankeval.nbest_precision([20, 50, 100])
    table.loc[0, ["ci_low", "ci_high"]] = np.nan
    assert "No interval is known for some lists of good." in caption(plotting.precision(table))
    assert "No interval" not in caption(ranked.rankeval.plot.precision([20, 50]))


def test_a_narrow_panel_does_not_explain_the_column_that_it_omits():
    right = np.random.default_rng(1).random((200, 4)) < np.linspace(0.5, 0.8, 4)
    table = pd.DataFrame(right, columns=list("wxyz")).rankeval.system_ranks(details=True)
    _, ax = plt.subplots(figsize=(1.6, 2.0))
    plotting.system_ranks(table, ax=ax)
    assert "rank" not in written(ax)
    assert "Rank:" not in caption(ax)
    assert "Rank:" in caption(plotting.system_ranks(table))


def test_the_bins_of_a_calibration_are_not_called_one_sided():
    rng = np.random.default_rng(1)
    here, there = (pd.DataFrame(rng.random((400, 6)) < np.linspace(0.5, 0.7, 6)) for _ in "ab")
    pairs = here.rankeval.paired_bootstrap(alternative="greater")
    assert "one-sided" not in caption(pairs.rankeval.plot.calibration(there, bins=[0.05, 0.5]))


def test_pictures_have_the_digits_of_tables(ranked):
    scores = np.random.default_rng(1).normal([0.0, 0.1, 0.3], size=(200, 3))
    systems = pd.DataFrame(scores, columns=list("xyz"))
    for plot, table in (
        (plotting.area, ranked.rankeval.area()),
        (plotting.measure_ranks, ranked.rankeval.measure_ranks(50)),
        (plotting.measure_ranks, ranked.rankeval.measure_ranks(1_000)),
        (plotting.system_ranks, systems.rankeval.system_ranks()),
    ):
        cells = rankeval_pd.paper_table(table).to_numpy(dtype=str).ravel()
        values, *_ = columns(plot(table)).values()
        assert [cell.partition(" ")[0] for cell in cells] == [x.rstrip("%") for x in values]


def test_the_expected_line_joins_bins_that_hold_pairs():
    """Bins without pairs interrupted it, so that single points had no line at all."""
    rng = np.random.default_rng(1)
    skill = np.linspace(0.6, 0.7, 6)
    here, there = (pd.DataFrame(rng.random((400, 6)) < skill) for _ in "ab")
    table = here.rankeval.paired_bootstrap().rankeval.calibration(there)
    known = table["expected_agreement"].notna()
    assert not known.all()
    ax = plotting.calibration(table)
    assert line(ax, "expected").get_ydata().tolist() == table["expected_agreement"][known].tolist()
    assert table.attrs["n_outside_bins"] + table["n_pairs"].sum() == 15
    assert "pairs have p-values outside the bins." in rankeval_pd.in_words(table)
