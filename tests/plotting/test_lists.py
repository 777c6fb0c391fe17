"""Plots over the size of the list: what is drawn equals the columns of the tables, and is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal as equal
from numpy.testing import assert_equal

from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.look import mixed_color
from rankeval_pd.plotting.panels import seen
from tests.plotting.seen import limits, line, named, segments, written, xy
from tests.questions import candidates

# --------------------------------------------------------------------------------- precision over n


def test_precision_draws_the_table(two):
    table = two.rankeval.nbest_precision([50, 100, 200], ci="wilson", level=0.9)
    ax = plotting.precision(table)
    for name, bars in zip(["good", "poor"], ax.collections, strict=True):
        rows = table[table["measure"] == name]
        equal(xy(ax, name), rows[["n", "precision"]])
        equal(segments(bars), rows[["n", "ci_low", "ci_high"]])
        assert line(ax, name).get_marker() == "o"  # few n: points are marked
        assert to_hex(bars.get_color()) == to_hex(line(ax, name).get_color())
    places = [bars.get_transform().transform((50, 0.5))[0] for bars in ax.collections]
    assert np.diff(places) == pytest.approx(3.4 * ax.figure.dpi / 72)  # bars stand side by side
    assert named(ax) == ["good", "poor", f"random {100 * two['gold'].mean():.0f}%"]
    bars = "90% Wilson confidence intervals for n-best lists (with the variance of the threshold)"
    assert caption(ax) == f"Bars: {bars}, separately at each n. Gray line: random order."
    table.attrs.clear()
    assert "Bars: confidence intervals, separately at each n." in caption(plotting.precision(table))


@pytest.mark.parametrize(
    ("options", "method", "ends", "words"),
    [
        ({"simultaneous": False}, "nbest_precision", "ci",
         "Clopper–Pearson confidence intervals for n-best lists (with the variance of the"
         " threshold), separately at each n"),
        ({}, "precision_band", "band", "simultaneous confidence band, valid jointly at all n"),
    ],
)  # fmt: skip
def test_one_name_has_one_band(two, options, method, ends, words):
    n = range(50, 300)
    ax = two.rankeval.plot.precision(n, measures="good", **options)
    table = getattr(two.rankeval, method)(n, measures="good")[[f"{ends}_low", f"{ends}_high"]]
    (band,) = ax.collections
    drawn = band.get_paths()[0].vertices[:, 1]
    assert (drawn.min(), drawn.max()) == (table.min().iloc[0], table.max().iloc[1])
    edges = [x.get_ydata() for x in ax.get_lines() if x.get_zorder() == 1.5]
    equal(np.transpose(edges), table)
    assert f"Band: 95% {words}." in caption(ax)
    assert caption(ax).count("Band") == 1


@pytest.mark.full
def test_several_names_have_bars_at_a_few_n(two):
    table = two.rankeval.nbest_precision(range(20, 601))
    band = two.rankeval.precision_band(range(20, 601), n_resamples=50)
    for ends, source, beside in (("ci", table, ()), ("band", band, (band,))):
        ax = plotting.precision(table, *beside)
        for name, bars in zip(["good", "poor"], ax.collections, strict=True):
            rows = source[source["measure"] == name].set_index("n")
            drawn = segments(bars)
            equal(drawn[:, 1:], rows.loc[drawn[:, 0], [f"{ends}_low", f"{ends}_high"]])
            assert 3 <= len(drawn) <= 12
        assert f"at n = {', '.join(f'{n:,.0f}' for n in drawn[:, 0])}, " in caption(ax)


def test_a_band_of_another_table_is_refused(two):
    lists = two.rankeval.nbest_precision(range(50, 100))
    for n, measures in ((range(200, 300), None), (range(60, 70), "good")):
        band = two.rankeval.precision_band(n, measures=measures, n_resamples=19)
        with pytest.raises(ValueError, match="band and table differ in their measures"):
            plotting.precision(lists, band)


@pytest.mark.full
def test_averages_of_queries_say_what_they_are():
    rng = np.random.default_rng(1)
    gold = rng.random(300) < 0.3
    scores = {name: gold + rng.normal(size=300) for name in ("a", "b")}
    data = pd.DataFrame({**scores, "gold": gold, "query": np.arange(300) % 10})
    call = data.rankeval(by="query", gold="gold", measures=["a", "b"])
    one = plotting.measure_ranks(call.summary(["nDCG@10"]))
    assert one.get_xlabel() == "mean nDCG@10 over queries"
    panels = plotting.measure_ranks(call.summary(["nDCG@10", "AP"]))
    assert [ax.get_title() for ax in panels] == ["metric = nDCG@10", "metric = AP"]
    assert {ax.get_xlabel() for ax in panels} == {"mean over queries"}
    ax = plotting.precision(call.nbest_precision([5, 10], average="macro"))
    words = "95% Korn-Graubard confidence intervals for the macro average over query"
    assert words in caption(ax)
    assert not any("random" in text for text in named(ax))


# ------------------------------------------------------------------------------------------ chance


def test_random_bound_draws_critical_over_n(two):
    bound = two.rankeval.random_bound([0.05, 0.001], [100, 200])
    ax = plotting.random_bound(bound)
    for p, name in ((0.05, "chance 5%"), (0.001, "chance 0.1%")):
        rows = bound[bound["p"] == p]
        equal(xy(ax, name)[:, 1], rows["critical"] / rows["n"])
    assert named(ax) == ["chance 5%", "chance 0.1%", "random 20%"]
    below = "of random orders stay below"
    assert f"Gray area: 95% {below} the edge, “chance 5%”, at any single n." in caption(ax)
    assert f"Line “chance 0.1%”: 99.9% {below} the line at any single n." in caption(ax)


def test_bounds_that_no_list_can_reach_are_not_drawn():
    """Without curves the table alone says that there are three true positives."""
    df = pd.DataFrame({"a": np.arange(60.0), "gold": np.arange(60) < 3})
    bound = df.rankeval.random_bound(1e-3, range(1, 40))
    assert 0 < bound["attainable"].sum() < len(bound)
    drawn = xy(plotting.random_bound(bound), "chance 0.1%")[:, 1]
    equal(np.isfinite(drawn), bound["attainable"])


@pytest.mark.full
def test_envelope_beside_the_bound(two):
    n = range(20, 100)
    ax = two.rankeval.plot.random_bound([0.05, 0.001], n, log=True)
    counts = two.rankeval.random_bound([0.05, 0.001], n, simultaneous=True)
    for p, name in ((0.05, "chance 5%"), (0.001, "chance 0.1%")):
        rows = counts[counts["p"] == p]
        equal(xy(ax, f"{name}, all n")[:, 1], rows["critical"] / rows["n"])
    field = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert field.max() == xy(ax, "chance 5%, all n")[:, 1].max()
    bound = two.rankeval.random_bound(0.05, n)
    equal(xy(ax, "chance 5%, each n")[:, 1], bound["critical"] / bound["n"])
    assert ax.get_xscale() == "log"
    words = "edge, “chance 5%, all n”, at every n; the hairline, “chance 5%, each n”, is the bound"
    assert words in caption(ax)
    alone = two.rankeval.plot.random_bound(0.05, simultaneous=False)
    endless = two.rankeval.plot.random_bound(0.05, range(1, 700), population="infinite")
    assert not any("all n together" in caption(ax) for ax in (alone, endless))


@pytest.mark.full
def test_many_candidates_are_computed_at_some_n():
    df = candidates(25_000, names=2)
    ax = df.rankeval.plot.random_bound()
    assert ax.get_xscale() == "log"
    n, drawn = line(ax, "chance 5%, all n").get_data()
    assert len(n) <= 4000
    assert (n[0], n[-1]) == (10, 25_000)
    bound = df.rankeval.random_bound(0.05, seen([25_000]), simultaneous=True)
    bound = bound.set_index("n").loc[n]
    possible = bound["critical"] <= np.minimum(n, df["gold"].sum())
    equal(drawn, (bound["critical"] / n).where(possible))
    assert df.rankeval.plot.random_bound(log=False).get_xscale() == "linear"


def test_distribution_functions_are_the_table(two):
    table = two.rankeval.random_cdf(20)
    bound = two.rankeval.random_bound([0.5, 0.1], 20)
    ax = plotting.random_cdf(table, bound)
    for kind in ("discrete", "interpolated", "parametric"):
        equal(xy(ax, kind), table[["tp", kind]])
        places = [x.get_xydata()[0] for x in ax.get_lines() if x.get_label() == f"_{kind}"]
        equal(places, np.column_stack([bound[kind], 1 - bound["p"]]))
        assert {f"{value:.4g}" for value in bound[kind]} <= set(named(ax))
    assert {"bound, 50%", "bound, 10%"} <= set(named(ax))
    with pytest.raises(ValueError, match=r"table has 2 list sizes, but a plot shows only one"):
        plotting.random_cdf(two.rankeval.random_cdf([5, 6]))


def marked(ax, n) -> dict:
    """Return which n the bars of the strip cover, by row, height and color."""
    found: dict = {}
    for bars in ax.figure.axes[1].collections:
        for path in bars.get_paths():
            (left, low), (right, high) = path.get_extents().get_points()
            key = int((low + high) / 2), round(high - low, 2), to_hex(bars.get_facecolor()[0])
            hits = found.setdefault(key, np.zeros(len(n), dtype=bool))
            hits |= ((n > left) & (n < right)).to_numpy()
    return found


def to_mark(ax, table, *findings, row=None) -> dict:
    """Return what is to be marked: pale bars for each n alone, full ones for all n together."""
    rows: dict = {}
    for kind, hits in enumerate(findings):
        for side, ahead in (("a", table["difference"] > 0), ("b", table["difference"] < 0)):
            color = line(ax, table[f"measure_{side}"].iloc[0]).get_color()
            place = (1 - kind, 0.6) if row is None else (row, (0.6, 0.36)[kind])
            covered = np.asarray(hits) & ahead.to_numpy()
            if covered.any():
                rows[(*place, mixed_color(color, "white", (0.45, 1.0)[kind]))] = covered
    return rows


def test_comparison_draws_the_table(two):
    table = two.rankeval.compare("good", "poor", alpha=0.01, adjust="holm")
    ax = plotting.comparison(table)
    curves, strip, below = ax.figure.axes
    assert curves is ax
    equal(xy(ax, "good"), table[["n", "precision_a"]])
    equal(xy(ax, "poor"), table[["n", "precision_b"]])
    both = table["p_value"] <= 0.01, table["significant"]
    assert 0 < both[1].sum() < both[0].sum()
    bars = to_mark(ax, table, *both)
    assert len(bars) == 2
    assert_equal(marked(ax, table["n"]), bars)
    equal(xy(below, "_difference"), table[["n", "difference"]])
    equal(limits(below), table[["ci_low", "ci_high"]])
    assert written(strip) == ["each n separately", "all n jointly", "good\nbetter"]
    assert "(Fisher's exact test at 1%, separately at each n)" in caption(ax)
    assert "(Holm's method at 1%, simultaneously for all n)" in caption(ax)
    assert "good − poor in percentage points, with the 95% interval, adjusted like" in caption(ax)


def test_n_with_gaps_are_marked_one_by_one(two):
    table = two.rankeval.compare("good", "poor", [50, 100, 300])
    _, strip, below = plotting.comparison(table).figure.axes
    (squares,) = strip.collections
    assert table["significant"].any()
    equal(squares.get_offsets()[:, 0], table.loc[table["significant"], "n"])
    equal(segments(below.collections[0]), table[["n", "ci_low", "ci_high"]])


def test_every_pair_has_a_row(two):
    three = two.assign(third=np.linspace(1.0, 0.0, 600) ** 2)
    table = three.rankeval.compare(n=range(20, 300))
    together = three.rankeval.compare(n=range(20, 300), adjust="max-t", n_resamples=199)
    ax = plotting.comparison(table, together)
    assert [x.get_label() for x in ax.get_lines()] == ["good", "poor", "third"]
    assert written(ax.figure.axes[1]) == ["good : poor", "good : third", "poor : third"]
    bars: dict = {}
    for row, (pair, rows) in enumerate(table.groupby(["measure_a", "measure_b"], sort=False)):
        mine = together.set_index(["measure_a", "measure_b"]).loc[[pair]]
        bars |= to_mark(ax, rows, rows["significant"], mine["significant"], row=2 - row)
    assert len({row for row, *_ in bars}) > 1
    assert_equal(marked(ax, table["n"].iloc[:280]), bars)


@pytest.mark.full
@pytest.mark.parametrize("joined", [{"average": "macro"}, {"combine": True}])
def test_comparison_of_all_groups_together_draws_the_table(two, joined):
    data = two.assign(q=np.arange(len(two)) % 3).rankeval(by="q")
    table = data.compare("good", "poor", [20, 40, 80], details=True, **joined)
    ax = data.plot.comparison("good", "poor", [20, 40, 80], **joined)
    for side in "ab":
        equal(xy(ax, table[f"measure_{side}"][0])[:, 1], table[f"precision_{side}"])


def test_comparison_without_any_significant_n(two):
    ax = two.rankeval.plot.comparison("good", "poor", range(1, 4))
    assert not ax.figure.axes[1].collections
    none = "No list in this plot meets the condition."
    assert f"(Fisher's exact test at 5%, separately at each n). {none}" in caption(ax)
    assert f"method at 5%, simultaneously for all n). {none}" in caption(ax)
    assert "the same list" not in caption(ax)
    twins = two.assign(twin=2 * two["good"])
    ax = twins.rankeval.plot.comparison("good", "twin", range(1, 4))
    assert "good and twin have identical lists at each n shown." in caption(ax)


def test_impossible_levels_of_a_picture_are_refused(df):
    for alpha, error in ((0, ValueError), ("x", TypeError)):
        with pytest.raises(error, match=f"alpha={alpha!r}"):
            df.rankeval.plot.comparison("x", "y", [5], alpha=alpha)
    with pytest.raises(MemoryError, match="draws"):
        df.rankeval.plot.comparison("x", "y", [5], alpha=5e-324)


# ------------------------------------------------------------------------------------- broken ties


def test_p_values_of_broken_ties_are_those_of_the_table():
    table = candidates().round(1).rankeval.tie_sensitivity("G2", "_z", [20, 50, 90], n_keys=4)
    ax = plotting.tie_sensitivity(table)
    equal(line(ax, "G2 :  _z").get_xydata(), table[["n", "p_median"]])
    paths = [path for x in ax.collections for path in x.get_paths()]
    heights = np.concatenate([path.vertices[:, 1] for path in paths])
    assert {*table["p_min"], *table["p_max"]} <= {*heights}
