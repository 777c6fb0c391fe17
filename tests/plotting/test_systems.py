"""Plots of systems and their pairs: what is drawn equals the columns of the tables, and is said."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_array_equal as equal

from rankeval_pd import plotting
from rankeval_pd.errors import RankevalWarning
from rankeval_pd.plotting import caption
from tests.plotting.conftest import systems_on_items
from tests.plotting.seen import cells, check_ties, laid_out, line, named, segments, written, xy
from tests.questions import B, candidates, items

FAMILIES = ["one", "one", "one", "two", "two", "two", "two"]


def ordered(points) -> np.ndarray:
    return points[np.lexsort(points.T)]


def dots(ax) -> np.ndarray:
    """Return the places of the dots of all pairs, sorted."""
    return ordered(
        np.concatenate([x.get_xydata() for x in ax.get_lines() if x.get_label() == "_pairs"])
    )


# ------------------------------------------------------------------ gains, thresholds, calibration


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
    assert "95% order-statistic confidence intervals, separately for each threshold" in caption(ax)
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


def test_sizes_are_drawn_with_the_square_root_law(seven):
    table = seven.rankeval.gain_by_size([100, 300], **B)
    found = table.rankeval.gain_threshold(window=(0.01, 0.3))
    ax = plotting.gain_by_size(table, found)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    equal(xy(ax, "threshold"), found[["size", "threshold"]])
    limits = found[["size", "threshold_low", "threshold_high"]].to_numpy()
    limits[:, 2] = np.minimum(limits[:, 2], ax.get_ylim()[1])
    equal(segments(ax.collections[0]), limits)
    law = line(ax, "_square-root law").get_ydata()
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
    counts = [text for text in written(ax) if text != "expected"]
    assert counts == [str(x) for x in known["n_pairs"]]
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


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("asked", [{"kind": "ap"}, {"n": 40}])
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
