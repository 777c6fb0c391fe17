"""Plots over the size of the list: what is drawn equals the columns of the tables, and is said."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal as equal

from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.panels import seen
from tests.plotting.seen import line, named, segments, xy
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
    bars = "Bars: 90% Wilson confidence intervals, separately at each n."
    assert caption(ax) == f"{bars} Gray line: random order."
    table.attrs.clear()
    assert "Bars: confidence intervals, separately at each n." in caption(plotting.precision(table))


@pytest.mark.parametrize(
    ("options", "method", "ends", "words"),
    [
        ({"simultaneous": False}, "nbest_precision", "ci",
         "Clopper–Pearson confidence intervals, separately at each n"),
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
    words = "95% Korn-Graubard confidence intervals over queries, separately at each n"
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
    assert f"Gray area: 95% {below} the edge at any single n." in caption(ax)
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
        equal(xy(ax, name)[:, 1], rows["critical"] / rows["n"])
    field = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert field.max() == xy(ax, "chance 5%")[:, 1].max()
    bound = two.rankeval.random_bound(0.05, n)
    equal(xy(ax, "_each n separately")[:, 1], bound["critical"] / bound["n"])
    assert ax.get_xscale() == "log"
    words = "below the edge at every n; the hairline is the bound for a single n"
    assert words in caption(ax)
    alone = two.rankeval.plot.random_bound(0.05, simultaneous=False)
    endless = two.rankeval.plot.random_bound(0.05, range(1, 700), population="infinite")
    assert not any("all n together" in caption(ax) for ax in (alone, endless))


@pytest.mark.full
def test_many_candidates_are_computed_at_some_n():
    df = candidates(25_000, names=2)
    ax = df.rankeval.plot.random_bound()
    assert ax.get_xscale() == "log"
    n, drawn = line(ax, "chance 5%").get_data()
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
