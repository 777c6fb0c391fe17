"""What all plots share: room, colours by name, legends, groups; seen on the artists."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import plotting
from tests.questions import NAMES, PLOTS, B, candidates, items  # noqa: F401

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def overlapping(axis) -> bool:
    boxes = [
        label.get_window_extent()
        for label in axis.get_ticklabels()
        if label.get_text() and label.get_visible()
    ]
    inside = [box for box in boxes if box.width and box.height]
    return any(one.overlaps(other) for k, one in enumerate(inside) for other in inside[k + 1 :])


OF_MEASURES = {
    "pairs": lambda ax: candidates().rankeval.plot.pairs(n=40, ax=ax),
    "critical_difference": lambda ax: candidates().rankeval.plot.critical_difference(n=40, ax=ax),
    "thirty": lambda ax: many().rankeval.plot.measure_ranks(kind="ap", n_resamples=999, ax=ax),
}


def many() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    gold = rng.random(300) < 0.2
    scores = {f"measure {k}": rng.normal(size=300) + 0.05 * k * gold for k in range(30)}
    return pd.DataFrame({**scores, "gold": gold})


def test_every_plot_is_measured():
    plots = set(plotting.__all__) - {"shared_legend", "shown"}
    assert plots == set(PLOTS) - {"few", "marked"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PLOTS, *(f"{name} of measures" for name in OF_MEASURES)])
@pytest.mark.parametrize("grid", [False, True])
def test_small_panels_have_room(name, grid):
    """At 8 x 6 cm, and in a 2 x 2 grid of 6.4 x 4.8 inches, drawn without any warning."""
    if grid:
        figure, axes = plt.subplots(2, 2, figsize=(6.4, 4.8), layout="constrained")
        width, height, ax = 3.2, 2.4, axes[0, 0]
        for other in axes.ravel()[1:]:  # neighbours that take what room they need
            other.set(xlabel="n", ylabel="precision")
    else:
        figure, ax = plt.subplots(figsize=(3.15, 2.36), layout="constrained")
        width, height = 3.15, 2.36
    draw = OF_MEASURES[name.removesuffix(" of measures")] if " of " in name else PLOTS[name]
    draw(ax)
    figure.draw_without_rendering()
    box = ax.get_window_extent()
    assert box.width / figure.dpi >= 0.65 * width
    assert box.height / figure.dpi >= 0.45 * height
    legend = ax.get_legend().get_window_extent()
    assert figure.bbox.x0 - 1 <= legend.x0 <= legend.x1 <= figure.bbox.x1 + 1
    assert figure.bbox.y0 - 1 <= legend.y0 <= legend.y1 <= figure.bbox.y1 + 1
    assert not legend.overlaps(box)
    assert not overlapping(ax.xaxis)
    assert not overlapping(ax.yaxis)


@pytest.mark.parametrize("name", PLOTS)
def test_a_later_title_stands_on_nothing(name):
    figure, ax = plt.subplots(layout="constrained")
    PLOTS[name](ax)
    ax.set_title("a title, which is about as wide as the panel below it")
    figure.draw_without_rendering()
    title = ax.title.get_window_extent()
    above = [x for top in ax.child_axes for x in (*top.get_xticklabels(), top.xaxis.label)]
    for text in (*ax.texts, *above):
        if text.get_text() and text.get_visible():
            assert not title.overlaps(text.get_window_extent()), text.get_text()


@pytest.mark.parametrize("layout", [None, "tight", "constrained"])
def test_figure_that_was_given_keeps_its_layout(layout):
    figure, ax = plt.subplots(layout=layout)
    before = figure.get_layout_engine()
    PLOTS["few"](ax)
    assert figure.get_layout_engine() is before
    figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    assert figure.bbox.x0 <= legend.x0
    assert figure.bbox.y0 <= legend.y0
    if layout is None:
        figure.tight_layout()  # without a warning


def colour(ax, name):
    return next(x.get_color() for x in ax.get_lines() if x.get_label() == name)


def test_colours_go_by_the_place_in_the_data_and_stay():
    df = candidates().rename(columns={"_z": "z"})
    whole = df.rankeval.plot.roc(area=False)
    alone = df.rankeval(measures=["t" if "t" in df else "90 % odds"]).plot.roc(area=False)
    assert colour(alone, "90 % odds") == colour(whole, "90 % odds") != colour(whole, "G2")
    table = df.rankeval.nbest_precision([10, 20])
    ax = plotting.precision(table[table["measure"] == "z"])
    plotting.precision(table[table["measure"] == "G2"], ax=ax)
    plotting.precision(table[table["measure"] == "z"], ax=ax)
    lines = [x for x in ax.get_lines() if x.get_label() == "z"]
    assert lines[0].get_color() == lines[1].get_color() != colour(ax, "G2")


def test_colours_that_are_asked_for():
    df = candidates(names=2)
    ask = df.rankeval.plot.gain
    assert colour(ask(colors={"G2": "red"}), "G2") == "red"
    assert colour(ask(colors=["C3", "C4"]), "G2") == "C3"
    assert colour(ask(colors="tab10"), "G2") == mpl.color_sequences["tab10"][0]
    assert colour(ask(colors="viridis"), "G2") == mpl.colormaps["viridis"](0.05)
    with plt.rc_context({"axes.prop_cycle": plt.cycler(color=["lime", "navy"])}):
        assert colour(ask(), "G2") == "lime"
    with pytest.raises(ValueError, match="colors='no such' is no palette of matplotlib"):
        ask(colors="no such")


def test_names_are_written_as_they_stand():
    ax = candidates().rankeval.plot.roc(area=False)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text.strip() for text in texts[:3]] == ["G2", "_z", r"\$MI^3\$"]
    ax.figure.draw_without_rendering()
    named = candidates().rankeval.plot.roc(area=False, labels={"G2": "$G^2$"})
    assert named.get_legend().get_texts()[0].get_text() == "$G^2$"
    with plt.rc_context({"text.usetex": True}):
        from rankeval_pd.plotting.drawing.look import escaped, in_tex

        assert escaped("90 %_x") == r"90 \%\_x"
        assert in_tex("95 % band, p\u00a0≤\u00a00.05") == r"95\,\% band, p~$\leq$~0.05"


def test_keywords_by_name_highlight_and_ends_of_lines():
    ax = candidates().rankeval.plot.precision(
        line_kw={"G2": {"lw": 5}},
        highlight=["G2"],
        labels_at="end",
        simultaneous=False,
        target="nbest",
    )
    lines = ax.get_lines()
    assert lines[0].get_linewidth() == 5
    assert {line.get_color() for line in lines[1:5]} == {"0.78"}
    drawn = [paths for c in ax.collections if (paths := c.get_paths())]
    assert len([paths for paths in drawn if len(paths[0].vertices) > 10]) == 1  # one band
    assert "G2" in [text.get_text() for text in ax.texts]
    assert "G2" not in [text.get_text() for text in ax.get_legend().get_texts()]
    with pytest.raises(ValueError, match="highlight='X2' is none of the names that are drawn"):
        candidates().rankeval.plot.precision([5], highlight="X2")


def test_legends():
    df = candidates(names=2)
    assert df.rankeval.plot.gain(legend=False).get_legend() is None
    figure, axes = plt.subplots(1, 2, layout="constrained")
    df.rankeval.plot.roc(ax=axes[0], area=False)
    df.rankeval.plot.gain(ax=axes[1])
    shared = plotting.shared_legend(figure)
    assert all(ax.get_legend() is None for ax in axes)
    texts = [text.get_text() for text in shared.get_texts()]
    assert texts.count("G2") == 1
    assert "ideal order" in texts
    figure.draw_without_rendering()
    assert not any(shared.get_window_extent().overlaps(ax.get_tightbbox()) for ax in axes)
    with pytest.raises(ValueError, match="legend='left' is not one of"):
        df.rankeval.plot.gain(legend="left")


@pytest.mark.slow
def test_many_candidates_are_computed_at_some_n():
    df = candidates(25_000, names=2)
    ax = df.rankeval.plot.random_bound()
    assert ax.get_xscale() == "log"
    line = next(x for x in ax.get_lines() if "all n together" in str(x.get_label()))
    n = line.get_xdata()
    assert len(n) <= 4000
    assert (n[0], n[-1]) == (1, 25_000)
    envelope = df.rankeval.random_envelope(0.05, [int(x) for x in n])
    possible = envelope["envelope"] <= np.minimum(envelope["n"], df["gold"].sum())
    drawn = np.where(possible, envelope["envelope"] / envelope["n"], np.nan)
    np.testing.assert_array_equal(line.get_ydata(), drawn)
    assert df.rankeval.plot.random_bound(log=False).get_xscale() == "linear"


def test_sorted_differences_are_those_of_the_items():
    df = items(3)
    ax = df.rankeval.plot.paired_differences("system 0", "system 2", **B)
    gains = (df["system 0"].astype(float) - df["system 2"]).to_numpy()
    heights = np.sort([bar.get_height() for bar in ax.patches if bar.get_height() in (-1.0, 1.0)])
    np.testing.assert_array_equal(heights, np.sort(gains[gains != 0]))
    whole = next(x for x in ax.get_lines() if "on the whole" in str(x.get_label()))
    assert whole.get_ydata()[0] == pytest.approx(gains.mean())
    panels = df.rankeval.plot.paired_differences("system 0", **B)
    titles = [ax.get_title() for ax in panels]
    assert titles == ["systems = system 0 − system 1", "systems = system 0 − system 2"]


def test_bars_join_systems_that_are_not_told_apart():
    table = items(5).rankeval.paired_bootstrap(adjust="max-t", n_resamples=500)
    ax = plotting.critical_difference(table)
    scores = {}
    for side in "ab":
        scores |= dict(zip(table[f"system_{side}"], table[f"score_{side}"], strict=True))
    joined = [set(x.get_xdata()) for x in ax.get_lines() if x.get_marker() == "|"]
    for a, b, p in table[["system_a", "system_b", "p_adjusted"]].itertuples(index=False):
        together = any({scores[a], scores[b]} <= bar for bar in joined)
        assert together == (p > 0.05)


def test_a_bar_is_dotted_over_who_is_told_apart():
    """A and C are not told apart, B and C are: their items vary less; B stands between them."""
    rng = np.random.default_rng(0)
    a, b = (x - x.mean() for x in rng.normal(size=(2, 100)))
    c = b + 0.15 + (lambda x: x - x.mean())(0.2 * rng.normal(size=100))
    systems = pd.DataFrame({"A": a + 0.32, "B": b + 0.3, "C": c})
    table = systems.rankeval.paired_bootstrap(adjust="max-t").set_index(["system_a", "system_b"])
    assert table.loc[("A", "C"), "p_adjusted"] > 0.05 > table.loc[("B", "C"), "p_adjusted"]
    ax = systems.rankeval.plot.critical_difference()
    lines = [x for x in ax.get_lines() if x.get_linestyle() != "None"]
    bars = [x for x in lines if len(x.get_xdata()) == 2 and np.ptp(x.get_ydata()) == 0]
    drawn = {tuple(np.sort(x.get_xdata()).round(2)): x.get_linestyle() for x in bars}
    assert drawn[(0.3, 0.32)] == "-"
    assert drawn[(0.15, 0.32)] != "-"


def test_ranks_of_measures_are_the_table():
    df = candidates()
    table = df.rankeval.measure_ranks(40)
    ax = plotting.measure_ranks(table)
    points = [line for line in ax.get_lines() if len(line.get_xdata())]
    assert [line.get_xdata()[0] for line in points] == table["value"].tolist()
    full = [line.get_markerfacecolor() != "white" for line in points]
    assert full == table["tied_for_best"].tolist()
    assert not all(full)
    bars = [bar.get_segments()[0][:, 0].tolist() for bar in ax.collections]
    assert bars == table[["ci_low", "ci_high"]].to_numpy().tolist()
    ranks = table[["rank_low", "rank_high"]].itertuples(index=False)
    said = [f"{low}" if low == high else f"{low}–{high}" for low, high in ranks]
    assert [text.get_text() for text in ax.texts] == [*said, "rank"]
    legend = "\n".join(text.get_text() for text in ax.get_legend().get_texts())
    assert "right: 95 % interval of the rank, all together" in legend.replace("\n", " ")
    again = df.rankeval.plot.measure_ranks(40)
    assert [text.get_text() for text in again.texts] == [text.get_text() for text in ax.texts]
    bare = plotting.measure_ranks(df.rankeval.summary(40))
    assert bare.get_xlabel() == ax.get_xlabel() == "precision, n = 40"
    alone = df.rankeval.plot.measure_ranks(kind="roc", adjust=None)
    legend = " ".join(text.get_text() for text in alone.get_legend().get_texts())
    assert "each pair alone" in legend.replace("\n", " ")
    assert alone.get_xlabel() == "area under the ROC curve"


@pytest.mark.parametrize("name", ["measure_ranks", "area", "pairs", "critical_difference"])
def test_every_panel_names_its_own_rows(name):
    """The order of the rows differs from group to group, and each panel says its own."""
    frame = candidates(names=3).rename(columns={"_z": "z"})
    turned = frame.rename(columns={"G2": "$MI^3$", "$MI^3$": "G2"})
    both = pd.concat([frame, turned[frame.columns]], keys=["here", "there"], names=["part", "row"])
    asked = {"area": {}, "measure_ranks": {"kind": "roc"}}.get(name, {"kind": "roc"})
    panels = getattr(both.rankeval(by="part").plot, name)(**asked)
    for panel, part in zip(panels, (frame, turned[frame.columns]), strict=True):
        alone = getattr(part.rankeval.plot, name)(**asked)
        said, wanted = (
            [[text.get_text() for text in ax.texts] for ax in (panel, alone)]
            if name == "critical_difference"
            else [[text.get_text() for text in ax.get_yticklabels()] for ax in (panel, alone)]
        )
        assert said == wanted
        assert panel.get_ylim() == alone.get_ylim()
    assert len({str([x.get_text() for x in ax.get_yticklabels()]) for ax in panels}) == 2 or (
        name == "critical_difference"
    )


def test_legend_beside_leaves_room_for_what_is_written():
    ax = candidates().rankeval.plot.measure_ranks(40, legend="outside")
    ax.figure.draw_without_rendering()
    written = max(text.get_window_extent().x1 for text in ax.texts)
    assert ax.get_legend().get_window_extent().x0 >= written
    table = candidates().rankeval.measure_ranks(40)
    with pytest.raises(ValueError, match="ranks of measures, and no pairs"):
        plotting.pairs(table)


@pytest.mark.slow
def test_a_panel_for_each_n():
    df = candidates()
    panels = df.rankeval.plot.measure_ranks([20, 40])
    assert [ax.get_title() for ax in panels] == ["n = 20", "n = 40"]
    ds = df.rename_axis("candidate").to_xarray()
    others = plotting.measure_ranks(ds.rankeval.measure_ranks([20, 40]))
    for one, other in zip(panels, others, strict=True):
        for line, same in zip(one.get_lines(), other.get_lines(), strict=True):
            assert list(line.get_xdata()) == list(same.get_xdata())
    panels = df.rankeval.plot.pairs(n=[20, 40])
    assert [ax.get_title() for ax in panels] == ["n = 20", "n = 40"]


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("asked", [{"n": 40}, {"kind": "ap"}])
def test_pairs_of_measures_are_those_behind_the_ranks(asked):
    df = candidates().rename(columns={"_z": "z"})
    ranks = df.rankeval.measure_ranks(**asked).set_index("measure")
    ax = df.rankeval.plot.pairs(**asked)
    names = [x.get_text() for x in ax.get_yticklabels()]
    told = np.ma.filled(ax.collections[0].get_array().astype(float), 3.0) < 3
    text = {name.replace("$", r"\$"): name for name in ranks.index}
    for i, name in enumerate(names):  # those to the right are worse, those above are better
        row = ranks.loc[text[name]]
        assert row["rank_high"] == 5 - told[i].sum()
        assert row["rank_low"] == 1 + told[:, i].sum()
    ax = df.rankeval.plot.critical_difference(**asked)
    joined = [set(x.get_xdata()) for x in ax.get_lines() if x.get_marker() == "|"]
    value = [ranks["value"][text[name]] for name in names]
    for i in range(5):
        for j in range(i + 1, 5):
            together = any({value[i], value[j]} <= bar for bar in joined)
            assert together == (not told[i, j])
    if "n" in asked:
        table = df.rankeval.compare(n=40, adjust="max-t", n_resamples=999)
        assert plotting.pairs(table).get_title() == ""
        assert (plotting.pairs(table).collections[0].get_array() < 3).sum() == told.sum()
    with pytest.raises(ValueError, match="Say by what their measures are compared"):
        df.rankeval.plot.critical_difference()
    with pytest.raises(ValueError, match="event='zero' is an option of systems"):
        df.rankeval.plot.pairs(event="zero", **asked)


def test_forest_of_areas_is_the_table():
    df = candidates(names=3)
    table = df.rankeval.area().sort_values("area", ascending=False)
    ax = plotting.area(table)
    assert [line.get_xdata()[0] for line in ax.get_lines()[:3]] == table["area"].tolist()
    bars = [bar.get_segments()[0][:, 0].tolist() for bar in ax.collections]
    assert bars == table[["ci_low", "ci_high"]].to_numpy().tolist()
    bare = plotting.area(df.rankeval.area("ap").drop(columns=["ci_low", "ci_high"]))
    assert bare.get_xlabel() == "average precision"


def test_help_shows_the_keywords():
    text = rankeval_pd.plotting.area.__doc__
    assert "highlight : name or sequence of names" in text
    assert "**look" not in text
