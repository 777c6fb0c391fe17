"""What all plots share: colors by name, names, legends, captions, themes; and the forests."""

import inspect
import itertools
import re
import warnings
from math import ceil, floor

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color, to_hex
from numpy.testing import assert_array_equal as equal

import rankeval_pd
from rankeval_pd import RankevalWarning, plotting
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.look import Ink, mixed_color
from rankeval_pd.plotting.panels import seen
from tests.questions import NAMES, PLOTS, candidates, items
from tests.test_pictures import PICTURES, _close_figures, texts  # noqa: F401
from tests.test_plotting import line, named, written, xy

ALL = sorted(set(plotting.__all__) - {"caption", "shared_legend", "shown"})


def color(ax, name):
    return next(to_hex(x.get_color()) for x in ax.get_lines() if x.get_label().strip() == name)


def test_every_plot_is_measured():
    assert set(ALL) == set(PLOTS) - {"few", "marked"}
    assert set(ALL) == {name.partition(" ")[0] for name in PICTURES}


@pytest.mark.parametrize("name", PLOTS)
def test_a_later_title_stands_on_nothing(name):
    figure, ax = plt.subplots(layout="constrained")
    PLOTS[name](ax)
    ax.set_title("a title, which is about as wide as the panel below it")
    figure.draw_without_rendering()
    title = ax.title.get_window_extent()
    for text in texts(figure.axes):
        if text is not ax.title:
            assert not title.overlaps(text.get_window_extent()), text.get_text()


@pytest.mark.parametrize("layout", [None, "tight", "constrained"])
@pytest.mark.parametrize("name", ["few", "precision", "roc", "area"])
def test_figure_that_was_given_keeps_its_layout(name, layout):
    figure, ax = plt.subplots(layout=layout)
    before = figure.get_layout_engine()
    PLOTS[name](ax)
    assert figure.get_layout_engine() is before
    figure.draw_without_rendering()
    for text in texts([ax]):
        box = text.get_window_extent()
        assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1, text.get_text()
        assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1, text.get_text()
    if layout is None:
        figure.tight_layout()  # without a warning


# --------------------------------------------------------------------------------------- colors


def test_colors_stay_in_the_same_axes():
    table = candidates().rename(columns={"_z": "z"}).rankeval.nbest_precision([10, 20])
    table.attrs.clear()
    ax = plotting.precision(table[table["measure"] == "z"])
    plotting.precision(table[table["measure"] == "G2"], ax=ax)
    plotting.precision(table[table["measure"] == "z"], ax=ax)
    lines = [x for x in ax.get_lines() if x.get_label() == "z"]
    assert lines[0].get_color() == lines[1].get_color() != line(ax, "G2").get_color()


def test_colors_that_are_asked_for():
    ask = candidates(names=2).rankeval.plot.gain
    for colors, wanted in (
        ({"G2": "red"}, "red"), (["C3", "C4"], "C3"), ("tab10", mpl.color_sequences["tab10"][0]),
        ("viridis", mpl.colormaps["viridis"](0.05)),
    ):  # fmt: skip
        assert same_color(line(ask(colors=colors), "G2").get_color(), wanted)
    with plt.rc_context({"axes.prop_cycle": plt.cycler(color=["navy", "lime"])}):
        ax = ask()
    assert same_color(color(ax, "G2"), "navy")
    assert color(ax, "_z") == Ink.of(ax).line("lime") != to_hex("lime")  # 3:1 on white
    with pytest.raises(ValueError, match="colors='no such' is neither a color nor a palette of"):
        ask(colors="no such")


# ------------------------------------------------------------------------------ names and legends


def test_names_are_written_as_they_stand():
    ax = candidates().rankeval.plot.roc(area=False)
    assert [text.strip() for text in named(ax)[:3]] == ["G2", "_z", r"\$MI^3\$"]
    ax.figure.draw_without_rendering()
    assert "$G^2$" in named(candidates().rankeval.plot.roc(area=False, labels={"G2": "$G^2$"}))
    with plt.rc_context({"text.usetex": True}):
        from rankeval_pd.plotting.look import escaped, in_tex

        assert escaped("90 %_x") == r"90 \%\_x"
        assert in_tex("95% band, p ≤ 0.05") == r"95\% band, p $\leq$ 0.05"


def test_keywords_by_name_and_highlight():
    ask = candidates().rankeval.plot.precision
    ax = ask(line_kw={"G2": {"lw": 5}}, highlight=["G2"], simultaneous=False, target="nbest")
    others = [line(ax, name.replace("$", r"\$")) for name in NAMES[1:5]]
    assert line(ax, "G2").get_linewidth() == 5
    assert {x.get_color() for x in others} == {Ink.of(ax).muted}
    assert max(x.get_zorder() for x in others) < line(ax, "G2").get_zorder()
    assert len(ax.collections) == 1  # one band
    assert "In gray:  _z, " in caption(ax)
    assert len(ax.get_lines()) == 5 + 2 + 1  # the edges of the band, and a random order
    with pytest.raises(ValueError, match="highlight='X2' is not one of the names in the plot"):
        ask([5], highlight="X2")


# ---------------------------------------------------------------------------------------- forests


def columns(ax) -> dict[str, list[str]]:
    """Return the texts on the right of the rows, by their header."""
    found, rows = {}, []
    for text in ax.texts:
        across, upwards = np.broadcast_to(text.xycoords, 2)
        if (across, upwards) == ("axes fraction", "data"):
            rows.append(text.get_text())
        elif across == "axes fraction":
            found[text.get_text()], rows = rows, []
    return found


def tied(ax) -> list[set[int]]:
    """Return the rows that each bar on the right joins: where it has dots, those with a dot."""
    groups: list[set[int]] = []
    for drawn in ax.get_lines():
        y = drawn.get_ydata()
        if drawn.get_label() == "_tied" and drawn.get_marker() == "o":
            groups[-1] = {int(k) for k in y}
        elif drawn.get_label() == "_tied":
            groups.append(set(range(ceil(y[0]), floor(y[1]) + 1)))
    return groups


def check_rows(ax, table, value="value") -> None:
    """Assert that dots and intervals equal the table, row by row."""
    rows = np.arange(len(table))
    equal(ax.collections[1].get_offsets(), np.column_stack([table[value], rows]))
    ends = np.array(ax.collections[0].get_segments())
    drawn = np.column_stack([ends[:, :, 0], ends[:, 0, 1]])
    equal(drawn, np.column_stack([table[["ci_low", "ci_high"]], rows]))


def check_ties(ax, shared) -> None:
    """Assert that a bar joins two rows if, and only if, they are tied."""
    groups = tied(ax)
    for i, j in itertools.combinations(range(len(ax.get_yticks())), 2):
        assert any({i, j} <= group for group in groups) == bool(shared(i, j)), (i, j)


def rank_texts(table) -> list[str]:
    ranks = table[["rank_low", "rank_high"]].itertuples(index=False)
    return [f"{low}" if low == high else f"{low}–{high}" for low, high in ranks]


def check_ranks(ax, table, name) -> None:
    """Assert that values, intervals, ranks, ties and colors equal the table."""
    check_rows(ax, table)
    assert [text.get_text() for text in ax.get_yticklabels()] == table[name].tolist()
    faces = ax.collections[1].get_facecolors()
    assert [to_hex(face) == Ink.of(ax).accent for face in faces] == table["tied_for_best"].tolist()
    assert columns(ax)["rank"] == rank_texts(table)
    letters = [set(x) for x in table["letters"]]
    check_ties(ax, lambda i, j: letters[i] & letters[j])


def test_ranks_of_measures_are_the_table():
    df = candidates().rename(columns={"_z": "z", "$MI^3$": "MI"})
    table = df.rankeval.measure_ranks(40)
    ax = plotting.measure_ranks(table)
    check_ranks(ax, table, "measure")
    assert 0 < table["tied_for_best"].sum() < 5
    ends = (100 * table[["ci_low", "ci_high"]]).to_numpy()
    assert columns(ax) == {
        "precision": [f"{100 * x:.0f}%" for x in table["value"]],
        "95% interval": [f"{a:.0f}–{b:.0f}%" for a, b in ends],
        "rank": rank_texts(table),
        "tied": [],
    }
    again = df.rankeval.plot.measure_ranks(40)
    assert columns(again) == columns(ax)
    text = "adjusted for all 10 pairs by max-t within each pair and Bonferroni across pairs"
    assert text in caption(again)
    assert text in caption(ax)
    bare = plotting.measure_ranks(df.rankeval.summary(40))
    assert bare.get_xlabel() == ax.get_xlabel() == "precision, n = 40"
    alone = df.rankeval.plot.measure_ranks(kind="roc", adjust=None)
    assert "unadjusted" in caption(alone)
    assert alone.get_xlabel() == "area under the ROC curve"
    with pytest.raises(ValueError, match="ranks of measures but no pairs"):
        plotting.pairs(table)


def test_forest_of_areas_is_the_table():
    df = candidates(names=3)
    table = df.rankeval.area().sort_values("area", ascending=False)
    ax = plotting.area(table)
    check_rows(ax, table, "area")
    assert columns(ax) == {
        "AUC": [f"{x:.2f}" for x in table["area"]],
        "95% interval": [f"{a:.2f}–{b:.2f}" for a, b in table[["ci_low", "ci_high"]].to_numpy()],
    }
    assert "random 0.50" in written(ax)
    bare = plotting.area(df.rankeval.area("ap").drop(columns=["ci_low", "ci_high"]))
    assert bare.get_xlabel() == "average precision"
    assert len(bare.collections) == 1
    some = plotting.area(table, band_kw={"linewidth": 9}, marker_kw={"s": 55}, highlight="G2")
    assert (some.collections[0].get_linewidth(), some.collections[1].get_sizes()) == (9, 55)
    bright = [to_hex(face) == Ink.of(some).accent for face in some.collections[1].get_facecolors()]
    assert bright == (table["measure"] == "G2").tolist()


def test_mean_differences_are_the_table():
    df = candidates(names=3)
    asked = {"n_resamples": 99, "level": 0.9}
    table = df.rankeval.mean_difference("G2", "_z", range(20, 60), **asked)
    compared = df.rankeval.compare("G2", "_z", range(20, 60))
    ax = plotting.mean_difference(table, compared)
    check_rows(ax, table, "difference")
    equal(xy(ax, "_at each n")[:, 0], compared["difference"])
    (row,) = table.itertuples()
    assert columns(ax)["points"] == [f"{100 * row.difference:+.0f}".replace("-", "−")]
    assert columns(ax)["p"] == [f"{row.p_value:.{3 if row.p_value < 0.0995 else 2}f}"]


def test_bars_join_systems_that_are_not_distinguished():
    """In the second table A and C are tied, B and C are not: B stands between them."""
    rng = np.random.default_rng(0)
    a, b = (x - x.mean() for x in rng.normal(size=(2, 100)))
    c = b + 0.15 + (lambda x: x - x.mean())(0.2 * rng.normal(size=100))
    gaps = pd.DataFrame({"A": a + 0.32, "B": b + 0.3, "C": c})
    for systems, dotted in ((items(5), False), (gaps, True)):
        table = systems.rankeval.paired_bootstrap(adjust="max-t", n_resamples=500)
        ax = plotting.critical_difference(table)
        names = [text.get_text() for text in ax.get_yticklabels()]
        scores = systems.mean().sort_values(ascending=False)
        assert names == scores.index.tolist()
        np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], scores, rtol=1e-12)
        rows = table[["system_a", "system_b", "p_adjusted"]].itertuples(index=False)
        p = {frozenset((a, b)): chance for a, b, chance in rows}
        check_ties(ax, lambda i, j, p=p, names=names: p[frozenset((names[i], names[j]))] > 0.05)
        assert ("only the rows with a dot" in caption(ax)) == dotted
        assert "Tests at 5%, adjusted for all" in caption(ax)


@pytest.mark.parametrize("name", ["measure_ranks", "area", "pairs", "critical_difference"])
def test_every_panel_names_its_own_rows(name):
    """The order of the rows differs from group to group, and each panel says its own."""
    frame = candidates(names=3).rename(columns={"_z": "z"})
    turned = frame.rename(columns={"G2": "$MI^3$", "$MI^3$": "G2"})
    both = pd.concat([frame, turned[frame.columns]], keys=["here", "there"], names=["part", "row"])
    asked = {"area": {}}.get(name, {"kind": "roc"})
    panels = getattr(both.rankeval(by="part").plot, name)(**asked)
    orders = []
    for panel, part in zip(panels, (frame, turned[frame.columns]), strict=True):
        alone = getattr(part.rankeval.plot, name)(**asked)
        assert (_rows(panel), panel.get_ylim()) == (_rows(alone), alone.get_ylim())
        orders.append(_rows(panel))
    assert orders[0] == orders[1][::-1]


def _rows(ax) -> list[str]:
    diagonal = [t.get_text() for t in ax.texts if getattr(t, "xy", (0, 0))[0] > t.get_position()[0]]
    return [text.get_text() for text in ax.get_yticklabels()] or diagonal


def test_a_panel_for_each_n():
    df = candidates()
    panels = df.rankeval.plot.measure_ranks([20, 40])
    assert [ax.get_title() for ax in panels] == ["n = 20", "n = 40"]
    ds = df.rename_axis("candidate").to_xarray()
    others = plotting.measure_ranks(ds.rankeval.measure_ranks([20, 40]))
    table = df.rankeval.measure_ranks([20, 40])
    for n, one, other in zip([20, 40], panels, others, strict=True):
        check_rows(one, table[table["n"] == n].sort_values("value", ascending=False, kind="stable"))
        assert columns(one) == columns(other)
    panels = df.rankeval.plot.pairs(n=[20, 40])
    assert [ax.get_title() for ax in panels] == ["n = 20", "n = 40"]


def cells(ax) -> tuple[dict[tuple[int, int], str | None], list[str]]:
    """Return the color of each cell, None where it is pale, and the names on the diagonal."""
    (drawn,) = ax.collections
    places = [tuple(int(x) for x in path.get_extents().min[::-1]) for path in drawn.get_paths()]
    pale = mixed_color("black", "white", 0.08)
    colors = [to_hex(face) for face in drawn.get_facecolors()]
    shades = [None if shade == pale else shade for shade in colors]
    return dict(zip(places, shades, strict=True)), _rows(ax)


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("asked", [{"n": 40}, {"kind": "ap"}])
def test_pairs_of_measures_are_those_behind_the_ranks(asked):
    df = candidates().rename(columns={"_z": "z", "$MI^3$": "MI"})
    ranks = df.rankeval.measure_ranks(**asked).set_index("measure")
    shades, names = cells(df.rankeval.plot.pairs(**asked))
    told = {place for place, shade in shades.items() if shade}
    assert set(shades) == {(i, j) for j in range(5) for i in range(j)}
    for i, name in enumerate(names):  # those to the right are worse, those above are better
        assert ranks.loc[name, "rank_high"] == 5 - sum(a == i for a, _ in told)
        assert ranks.loc[name, "rank_low"] == 1 + sum(b == i for _, b in told)
    ax = df.rankeval.plot.critical_difference(**asked)
    order = [names.index(text.get_text()) for text in ax.get_yticklabels()]
    check_ties(ax, lambda i, j: tuple(sorted((order[i], order[j]))) not in told)
    if "n" in asked:
        table = df.rankeval.compare(n=40, adjust="max-t", n_resamples=999)
        assert plotting.pairs(table).get_title() == ""
        assert cells(plotting.pairs(table)) == (shades, names)
    with pytest.raises(ValueError, match=r"n=None, kind=None: .* need a criterion"):
        df.rankeval.plot.critical_difference()
    with pytest.raises(ValueError, match="event='zero' applies only to systems"):
        df.rankeval.plot.pairs(event="zero", **asked)


@pytest.mark.full
def test_many_candidates_are_computed_at_some_n():
    df = candidates(25_000, names=2)
    ax = df.rankeval.plot.random_bound()
    assert ax.get_xscale() == "log"
    n, drawn = line(ax, "chance 5%").get_data()
    assert len(n) <= 4000
    assert (n[0], n[-1]) == (10, 25_000)
    envelope = df.rankeval.random_envelope(0.05, seen([25_000])).set_index("n").loc[n]
    possible = envelope["envelope"] <= np.minimum(n, df["gold"].sum())
    equal(drawn, (envelope["envelope"] / n).where(possible))
    assert df.rankeval.plot.random_bound(log=False).get_xscale() == "linear"


# ------------------------------------------------------------------------------------------- help


@pytest.mark.parametrize("name", ALL)
def test_help_says_what_marks_mean_and_names_every_parameter(name):
    from rankeval_pd.roles import MEANINGS

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
    asked = set(inspect.signature(plot).parameters) - {"options", "order"}
    assert asked - known - {"roles", *MEANINGS} == set()


def test_the_mean_of_differences_warns_of_nothing_that_it_does_not_show():
    """Lists of terms vary far more than fixed regions do, and no region's interval is drawn."""
    scored = rankeval_pd.datasets.load_terms().rankeval.with_association_measures(["G2", "t"])
    asked = scored.rankeval(gold="gold", measures=["G2", "t"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked.plot.mean_difference("G2", "t", range(100, 300), n_resamples=99)
    with pytest.warns(RankevalWarning, match="target='region'"):
        asked.compare("G2", "t", [100])
