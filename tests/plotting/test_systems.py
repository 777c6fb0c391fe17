"""Plots of systems and their items: what is drawn equals the tables, and is said."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_array_equal as equal

from rankeval_pd import paper_table, plotting
from rankeval_pd.errors import RankevalWarning
from rankeval_pd.plotting import caption
from tests.plotting.conftest import systems_on_items
from tests.plotting.seen import cells, laid_out, line, named, segments, written, xy
from tests.questions import B, candidates, items, runs

FAMILIES = ["one", "one", "one", "two", "two", "two", "two"]
FEW = pytest.mark.filterwarnings("ignore:the window contains:rankeval_pd.RankevalWarning")


def ordered(points) -> np.ndarray:
    return points[np.lexsort(points.T)]


def dots(ax) -> np.ndarray:
    """Return the places of the dots of all pairs, sorted."""
    return ordered(
        np.concatenate([x.get_xydata() for x in ax.get_lines() if x.get_label() == "_pairs"])
    )


# ------------------------------------------------------------------ gains, thresholds, calibration


@FEW
def test_confidence_draws_every_pair_and_the_thresholds(seven):
    table = seven.rankeval.paired_bootstrap(families=dict(zip(seven, FAMILIES, strict=True)), **B)
    found = table.rankeval.gain_threshold(window=(0.01, 0.2))
    ax = plotting.confidence(table, found)
    p = np.maximum(1 - table["confidence"], 1e-5 if table["exact"].all() else 1 / 201)
    assert (table["gain"] > 0).all()
    points = np.column_stack([table["gain"], -np.log10(p)])
    np.testing.assert_allclose(dots(ax), ordered(points), rtol=1e-12)
    thresholds = [x.get_xdata()[0] for x in ax.get_lines() if x.get_label() == "_threshold"]
    assert thresholds == found["threshold"].tolist()
    drawn = [bars.get_segments()[0][:, 0] for bars in ax.collections]
    equal(drawn, np.clip(found[["threshold_low", "threshold_high"]], *ax.get_xlim()))
    names = [f"{name} ({len(rows)})" for name, rows in table.groupby("relation", sort=False)]
    assert named(ax) == names
    sure = (table["confidence"] >= 0.95).sum()
    assert {f"{sure} of 21 pairs", *(f"threshold\n{x:.2g}" for x in thresholds)} <= {*written(ax)}
    assert "95% system bootstrap confidence intervals, separately for each threshold" in caption(ax)
    bare = plotting.confidence(table.drop(columns="relation"))
    assert named(bare) == []
    equal(dots(bare), dots(ax))


@pytest.mark.full
def test_confidence_ends_where_draws_end(seven):
    rng = np.random.default_rng(5)
    scores = seven + rng.normal(scale=1e-6, size=seven.shape)
    table = scores.assign(best=1.5).rankeval.paired_bootstrap(n_resamples=500)
    assert not table["exact"].any()
    full = table["confidence"] >= 1 - 1 / 501
    assert full.any()
    ax = plotting.confidence(table)
    triangles = [x.get_ydata() for x in ax.get_lines() if x.get_marker() == "^"]
    assert np.concatenate(triangles) == pytest.approx(np.full(full.sum(), np.log10(501)))
    assert "Triangles: the gain is above 0 in all 500 resamples." in caption(ax)


@FEW
def test_sizes_are_drawn_with_the_square_root_law(seven):
    table = seven.rankeval.gain_by_size([100, 300], **B)
    found = table.rankeval.gain_threshold(window=(0.01, 0.3))
    ax = plotting.gain_by_size(table, found)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    equal(xy(ax, "threshold"), found[["size", "threshold"]])
    limits = found[["size", "threshold_low", "threshold_high"]].to_numpy()
    limits[:, 2] = np.minimum(limits[:, 2], ax.get_ylim()[1])
    equal(segments(ax.collections[0]), limits)
    law = line(ax, "square-root law").get_ydata()
    assert law[1] == found["threshold"][1]
    assert law[0] == pytest.approx(law[1] * np.sqrt(3))
    drawn = table[table["gain"] > 0]
    aside = np.where(drawn["p_value"] <= 0.05, 1.04, 0.96)
    points = np.column_stack([drawn["size"] * aside, drawn["gain"]])
    np.testing.assert_allclose(dots(ax), ordered(points))
    assert "in color if p ≤ 0.05" in caption(ax)


def test_systems_that_are_identical_are_drawn():
    same = pd.DataFrame({name: np.arange(200) % 3 == 0 for name in "abc"})
    with pytest.warns(RankevalWarning):
        ax = same.rankeval.plot.gain_by_size([50, 200], **B)
    assert "No gain is above 0." in caption(ax)
    laid_out(ax.figure)


def test_calibration_draws_observed_and_expected(seven):
    pairs = seven.rankeval.paired_bootstrap(**B)
    table = pairs.rankeval.calibration(systems_on_items(1), bins=[0.001, 0.01, 0.1, 0.5])
    ax = plotting.calibration(table)
    assert table.rankeval.plot.calibration().get_ylabel() == ax.get_ylabel()
    equal(xy(ax, "observed")[:, 1], table["agreement"])
    equal(xy(ax, "expected")[:, 1], table["expected_agreement"])
    known = table[table["agreement"].notna()]
    equal(segments(ax.collections[0])[:, 1:], known[["ci_low", "ci_high"]])
    few = f"{known['n_pairs'].sum()} pairs are too few to judge the calibration"
    assert [x for x in written(ax) if x != "expected"] == [*map(str, known["n_pairs"]), few]
    assert "95% Clopper–Pearson confidence intervals, separately for each bin" in caption(ax)
    with pytest.raises(TypeError, match="'other' must be given: call calibration"):
        pairs.rankeval.plot.calibration()


# ----------------------------------------------------------------------- pairs and what they share


@pytest.mark.parametrize("adjust", [None, "holm"])
def test_the_matrix_of_pairs(seven, adjust):
    table = seven.rankeval.paired_bootstrap(adjust=adjust, **B)
    ax = plotting.pairs(table)
    shades, names = cells(ax)
    assert set(shades) == {(i, j) for j in range(7) for i in range(j)}
    p = "p_value" if adjust is None else "p_adjusted"
    texts = {text.get_position(): text.get_text().replace("−", "-") for text in ax.texts}
    told = []
    for row in table.to_dict("records"):
        i, j = sorted(names.index(row[f"system_{x}"]) for x in "ab")
        ahead = row["gain"] if names[i] == row["system_a"] else -row["gain"]
        assert float(texts[j + 0.5, i + 0.5]) == pytest.approx(ahead, abs=0.005)
        assert (shades[i, j] is not None) == (row[p] <= 0.05)
        if shades[i, j]:
            told.append((abs(row["gain"]), -np.mean(to_rgb(shades[i, j]))))
    assert sorted(told) == sorted(told, key=lambda x: x[1])  # darker where the gain is larger
    words = "adjusted for all 21 pairs by Holm's method" if adjust else "unadjusted"
    assert f"if p ≤ 0.05, {words}; pale gray: not significant at 5%" in caption(ax)


def test_pairs_of_measures_are_those_behind_the_ranks():
    df = candidates().rename(columns={"_z": "z", "$MI^3$": "MI"})
    ranks = df.rankeval.measure_ranks(40).set_index("measure")
    shades, names = cells(df.rankeval.plot.pairs(n=40))
    told = {place for place, shade in shades.items() if shade}
    assert set(shades) == {(i, j) for j in range(5) for i in range(j)}
    for i, name in enumerate(names):  # those to the right are worse, those above are better
        assert ranks.loc[name, "rank_high"] == 5 - sum(a == i for a, _ in told)
        assert ranks.loc[name, "rank_low"] == 1 + sum(b == i for _, b in told)
    table = df.rankeval.compare(n=40, adjust="max-t", n_resamples=999)
    assert plotting.pairs(table).get_title() == ""
    assert cells(plotting.pairs(table)) == (shades, names)
    with pytest.raises(ValueError, match=r"n=None: .* need a criterion"):
        df.rankeval.plot.pairs()
    with pytest.raises(TypeError, match=r"kind.*Pass the result of compare_area"):
        df.rankeval.plot.pairs(kind="ap")


def test_gains_in_cells_have_the_digits_of_tables():
    scores = np.random.default_rng(3).normal([60.0, 68.0], 25.0, (150, 2))
    table = pd.DataFrame(scores, columns=["old", "new"]).rankeval.paired_bootstrap()
    text = plotting.pairs(table).texts[0].get_text()
    assert text == f"{table['gain'].item():.1f}"
    assert paper_table(table)["gain"].item().startswith(f"{text} [")


def test_sorted_differences_are_those_of_the_items():
    df = systems_on_items(0, 200)
    ax = df.rankeval.plot.paired_differences("system 0", "system 6", **B)
    gains = (df["system 0"].astype(float) - df["system 6"]).to_numpy()
    equal(np.sort([bar.get_height() for bar in ax.patches]), np.sort(gains[gains != 0]))
    (whole,) = df.rankeval.paired_bootstrap("system 0", "system 6", **B).itertuples()
    assert xy(ax, "_gain")[0, 1] == whole.gain == pytest.approx(gains.mean())
    equal(segments(ax.collections[0])[0, 1:], [whole.ci_low, whole.ci_high])
    first, *better = written(ax)
    assert first.startswith(f"gain {whole.gain:.3f}".replace("-", "−"))
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
    panels = plotting.queries(wide, "one", "two")
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
