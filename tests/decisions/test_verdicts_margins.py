"""Margins: exact tests against enumeration, means against SciPy, and what users see."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

import rankeval_pd
from rankeval_pd import RankevalWarning
from rankeval_pd.stats.differences import interval_p, mean_p, paired_p, region_p
from tests.conftest import examples

OUT = 1e-6  # of the interval of the nuisance parameter
Z = stats.norm.isf(0.05)


# --------------------------------------------- By definition: every table, every nuisance parameter


def most_likely(shares_at, counts, low, high):
    """Return the nuisance parameter with the largest likelihood of these counts."""

    def loss(q):
        return -special.xlogy(counts, np.maximum(shares_at(q), 0.0)).sum()

    found = optimize.minimize_scalar(
        loss, bounds=(low, high), method="bounded", options={"xatol": 1e-14}
    )
    return found.x


def limits(score, tables):
    """Return for each table the least difference that its score test does not reject at 5%."""
    found = []
    for table, estimate in tables:
        edge = -1.0 + 1e-12
        if estimate <= edge or score(*table, edge) <= Z:
            found.append(-1.0)
        else:
            gap = optimize.brentq(lambda d, t=table: score(*t, d) - Z, edge, estimate, xtol=1e-14)
            found.append(gap)
    return np.array(found)


def nuisance(count, n, margin):
    low = 0.0 if count == 0 else stats.beta.ppf(OUT / 2, count, n - count + 1)
    high = 1.0 if count == n else stats.beta.isf(OUT / 2, count + 1, n - count)
    return np.append(
        np.linspace(max(low, margin), high, 3001), np.clip(0.5 + margin / 2, low, high)
    )


def by_enumeration(chance, tables, ordered, observed, q):
    extreme = ordered >= ordered[tables.index(observed)] - 1e-8
    x, y = np.array(tables)[extreme].T[:, :, np.newaxis]
    return min(1.0, float(chance(x, y, q).sum(axis=0).max()) + OUT)


def paired_by_definition(n, margin):
    def score(b, c, delta):
        q = most_likely(
            lambda q: np.array([q + delta, q, 1.0 - 2.0 * q - delta]), [b, c, n - b - c],
            max(0.0, -delta), (1.0 - delta) / 2.0,
        )  # fmt: skip
        variance = n * (2.0 * q + delta - delta**2)
        return (b - c - n * delta) / np.sqrt(max(variance, 1e-300))

    tables = [(b, c) for b in range(n + 1) for c in range(n - b + 1)]
    ordered = limits(score, [(t, (t[0] - t[1]) / n) for t in tables])

    def chance(x, y, q):
        p = np.clip(np.minimum(q - margin, 1.0 - q), 0.0, 1.0)
        rest = np.clip(1.0 - p - q, 0.0, 1.0)
        return stats.binom.pmf(y, n, q) * stats.binom.pmf(
            x, n - y, p / np.maximum(p + rest, 1e-300)
        )

    return {
        (b, c): by_enumeration(chance, tables, ordered, (b, c), nuisance(c, n, margin))
        for b, c in [(n // 2, 0), (n // 3, 1), (2, 2), (1, n // 2), (0, 0), (n - 2, 2), (0, n)]
    }


@pytest.mark.parametrize(("n", "margin"), [(12, 0.05), (9, 0.3), (5, 0.1)])
def test_paired_proportions_by_enumeration(n, margin):
    for (b, c), expected in paired_by_definition(n, margin).items():
        assert paired_p(b, c, n, margin) == pytest.approx(expected, rel=2e-5, abs=1e-9), (b, c)


@pytest.mark.parametrize(("n_a", "n_b", "margin"), [(7, 10, 0.5), (9, 6, 0.3), (4, 4, 0.1)])
def test_two_regions_by_enumeration(n_a, n_b, margin):
    def score(x, y, delta):
        s = most_likely(
            lambda s: np.array([s + delta, 1.0 - s - delta, s, 1.0 - s]),
            [x, n_a - x, y, n_b - y], max(0.0, -delta), min(1.0, 1.0 - delta),
        )  # fmt: skip
        total = n_a + n_b
        variance = (s + delta) * (1.0 - s - delta) / n_a + s * (1.0 - s) / n_b
        return (x / n_a - y / n_b - delta) / np.sqrt(max(variance, 1e-300) * total / (total - 1))

    tables = [(x, y) for x in range(n_a + 1) for y in range(n_b + 1)]
    ordered = limits(score, [(t, t[0] / n_a - t[1] / n_b) for t in tables])

    def chance(x, y, q):
        return stats.binom.pmf(x, n_a, np.clip(q - margin, 0.0, 1.0)) * stats.binom.pmf(y, n_b, q)

    for table in [(n_a, 0), (n_a - 1, 1), (2, 2), (1, n_b - 1), (0, n_b), (0, 0), (n_a, n_b)]:
        if stats.beta.isf(OUT / 2, table[1] + 1, max(n_b - table[1], 1e-9)) < margin:
            continue
        q = nuisance(table[1], n_b, margin)
        expected = by_enumeration(chance, tables, ordered, table, q)
        found = region_p(table[0], n_a, table[1], n_b, margin)
        assert found == pytest.approx(expected, rel=2e-5, abs=1e-9), table


def test_the_sizes_of_the_reference():
    table = pd.read_csv(Path(__file__).parents[1] / "simulations" / "equivalence.csv")
    exact = table["kind"].isin(["paired", "regions"])
    assert (table.loc[exact, "size"] <= 0.05).all()
    assert table.loc[exact, "other"].max() > 0.07  # Tango's at 30 items, Farrington and Manning's
    areas = table["kind"] == "roc"  # their intervals and tests have one law
    assert (table.loc[~areas, "size"] <= 0.055).all()
    assert (table["size"] <= 0.06).all()


@given(
    st.integers(1, 25), st.integers(0, 25), st.integers(0, 25), st.floats(0.01, 1.2),
    st.floats(0.001, 0.5),
)  # fmt: skip
@settings(max_examples=examples(40))
def test_a_larger_margin_never_has_a_larger_p(n, b, c, margin, more):
    b, c = min(b, n), min(c, n - min(b, n))
    for one in (paired_p, lambda b, c, n, d: region_p(b, n, c, n, d)):
        assert one(b, c, n, margin + more) <= one(b, c, n, margin) * (1.0 + 1e-5)
        if b > 0:  # more for b is less for a
            assert one(b - 1, c, n, margin) >= one(b, c, n, margin) * (1.0 - 1e-5)


@pytest.mark.full
def test_large_numbers_are_exact_and_near_the_score_test():
    z = (40 - 60 + 100_000 * 0.0004) / np.sqrt(100)  # nearly
    assert paired_p(40, 60, 100_000, 0.0004) == pytest.approx(stats.norm.sf(z), abs=0.01)
    assert region_p(20_000, 50_000, 20_400, 50_000, 0.013) == pytest.approx(
        stats.norm.sf(0.005 / np.sqrt(2 * 0.404 * 0.596 / 50_000)), abs=0.005
    )


# ------------------------------------------------------------------------------ Means and intervals


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_p_value_of_a_mean(sign):
    x = sign * np.random.default_rng(8).gamma(2.0, size=25)
    for bound in sign * np.array([1.2, 2.0, 2.5]):
        student = stats.ttest_1samp(x, bound, alternative="greater")
        lean = stats.skew(x, bias=False) * (1 + 6.51 / 25) / 5
        root = 1.0 + lean * student.statistic / 3.0  # Hall's cubic, ((1 + a t / 3)^3 - 1) / a + a/6
        hall = (root**3 - 1.0) / lean + lean / 6.0
        expected = max(student.pvalue, stats.t.sf(hall, 24))
        found = mean_p(np.array(student.statistic), stats.skew(x), 25, 24.0)
        assert float(found) == pytest.approx(expected, rel=1e-10)


def test_the_p_value_of_an_interval_is_its_level():
    difference, error = np.array([0.3, -0.2, 0.0, -0.9]), np.array([0.1, 0.2, 0.4, 0.3])

    def interval(level):
        half = stats.norm.isf((1 - level) / 2) * error
        return difference - half, difference + half

    above = stats.norm.sf((difference + 0.25) / error)
    below = stats.norm.sf((0.25 - difference) / error)
    for alternative, expected in {
        "greater": above, "less": below, "two-sided": np.maximum(above, below)
    }.items():  # fmt: skip
        found = interval_p(interval, np.full(4, 0.25), alternative)
        np.testing.assert_allclose(found, expected, atol=1e-6, rtol=1e-6)


# ------------------------------------------------------------------------------------------ Systems


@pytest.fixture(scope="module")
def right():
    rng = np.random.default_rng(5)
    chance = rng.random((60, 1))
    return pd.DataFrame((chance + rng.normal(0, 0.2, (60, 3)) < 0.6) * 1, columns=list("abc"))


def test_items_that_are_right_or_wrong(right):
    table = right.rankeval(details=False).paired_bootstrap(margin=0.1, adjust="holm")
    assert list(table.columns[-3:]) == ["p_value", "p_adjusted", "p_equivalence"]
    assert table.attrs["margin"] == 0.1
    for row in table.to_dict("records"):
        a, b = right[row["system_a"]], right[row["system_b"]]
        only = int((a > b).sum()), int((b > a).sum())
        expected = max(paired_p(*only, 60, 0.1), paired_p(*only[::-1], 60, 0.1))
        assert row["p_equivalence"] == expected


def test_the_sides_of_a_margin(right):
    of = right.rankeval
    one = of.paired_bootstrap("a", "b", margin=0.1, alternative="greater")
    only = int((right["a"] > right["b"]).sum()), int((right["b"] > right["a"]).sum())
    assert one["p_noninferior"].item() == paired_p(*only, 60, 0.1)
    errors = (1 - right).rankeval(higher_is_better=False)
    same = errors.paired_bootstrap("a", "b", margin=0.1, alternative="greater")
    assert same["p_noninferior"].item() == one["p_noninferior"].item()
    both = of.paired_bootstrap("b", "a", margin=0.1)["p_equivalence"].item()
    assert both == of.paired_bootstrap("a", "b", margin=0.1)["p_equivalence"].item() >= both


def test_a_margin_of_means_is_a_t_test_of_each_side():
    rng = np.random.default_rng(5)
    items = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    difference = items["a"] - items["b"]
    sides = []
    for sign in (1.0, -1.0):
        t = stats.ttest_1samp(sign * difference, -0.5, alternative="greater").statistic
        sides.append(float(mean_p(np.array(t), stats.skew(sign * difference), 40, 39.0)))
    found = items.rankeval.paired_bootstrap("a", "b", margin=0.5)
    assert found["p_equivalence"].item() == pytest.approx(max(sides), rel=1e-9)
    # every document twice: the same means and errors, whole documents counted
    twice = pd.concat([items.assign(document=range(40))] * 2)
    grouped = twice.rankeval(groups="document").paired_bootstrap("a", "b", margin=0.5)
    assert grouped["p_equivalence"].item() == pytest.approx(max(sides), rel=1e-9)
    base = rng.integers(0, 9, 40) / 8.0
    flat = pd.DataFrame({"a": base + 1.0, "b": base})
    with pytest.warns(RankevalWarning, match="No interval"):
        assert np.isnan(flat.rankeval.paired_bootstrap(margin=2.0)["p_equivalence"].item())


@pytest.mark.full
def test_scores_of_workers_have_no_margin(right):
    frames = pytest.importorskip("dask.dataframe")
    importlib.import_module("rankeval_pd.dask")
    many = pd.concat([right] * 3, ignore_index=True)
    found = frames.from_pandas(many, npartitions=3).rankeval.paired_bootstrap(margin=0.1)
    pd.testing.assert_frame_equal(found, many.rankeval.paired_bootstrap(margin=0.1))
    with pytest.raises(ValueError, match="needs the items in memory"):
        frames.from_pandas(many + 0.5, npartitions=3).rankeval.paired_bootstrap(margin=0.1)


def test_training_seeds_widen_the_margin_test():
    rng = np.random.default_rng(12)
    long = 3.0 * rng.gamma(0.5, size=40)
    rows = [
        (system, seed, item, (system == "a") * long[item] + rng.normal() + 0.1 * drift)
        for system in "ab"
        for seed, drift in enumerate(rng.normal(size=3))
        for item in range(40)
    ]
    items = pd.DataFrame(rows, columns=["system", "seed", "item", "score"])
    wide = items.pivot_table(index="item", columns=["system", "seed"], values="score")
    mean = wide.T.groupby(level="system").mean().T
    apart = float(mean["a"].mean() - mean["b"].mean())
    error = wide.mean().groupby("system").std() / np.sqrt(3)
    variance = stats.sem(mean["a"] - mean["b"]) ** 2
    total = variance + (error**2).sum()
    few = 2 * (error**2).sum() ** 2 / (error**4).sum()
    seeds = np.array((error**2).sum() / total), np.array(few)
    skewness = stats.skew(mean["a"] - mean["b"]) * (variance / total) ** 1.5
    data = wide.rankeval(seeds="seed")
    for side, alternative in ((1.0, "greater"), (-1.0, "less")):
        t = np.array((side * apart + 3.0) / np.sqrt(total))
        expected = float(mean_p(t, side * skewness, 40, 39, seeds))
        found = data.paired_bootstrap("a", "b", margin=3.0, alternative=alternative)
        assert found["p_noninferior"].item() == pytest.approx(expected, rel=1e-6)


# ---------------------------------------------------------------------------------- Lists and areas


@pytest.fixture(scope="module")
def lists():
    return rankeval_pd.datasets.simulate_candidates(600)


def test_margins_of_lists_are_those_of_their_regions(lists):
    table = lists.rankeval(details=True).compare("good", "fair", [50, 100], margin=0.15)
    for row in table.to_dict("records"):
        m, margin = row["n_only_a"], 0.15 * row["n"] / row["n_only_a"]
        a, b = row["tp_only_a"], row["tp_only_b"]
        expected = max(region_p(a, m, b, m, margin), region_p(b, m, a, m, margin))
        assert row["p_equivalence"] == pytest.approx(expected, rel=1e-12)
    short = lists.rankeval(details=False).compare(
        "good", "fair", 50, margin=0.15, adjust="bonferroni"
    )
    assert list(short.columns[-4:]) == ["p_value", "p_adjusted", "p_equivalence", "better"]
    turned = lists.rankeval.compare("fair", "good", 50, margin=0.15)
    assert turned["p_equivalence"].item() == table["p_equivalence"].iloc[0]
    positive = int(lists["gold"].sum())
    recall = lists.rankeval.compare("good", "fair", 50, margin=0.15 * 50 / positive, of="recall")
    assert recall["p_equivalence"].item() == pytest.approx(table["p_equivalence"].iloc[0])


def test_lists_that_differ_by_less_than_the_margin(lists):
    same = lists.assign(copy=lists["good"])
    table = same.rankeval.compare("good", "copy", 50, margin=0.01)
    assert table["p_equivalence"].item() == 0.0
    whole = lists.rankeval.compare("good", "fair", 600, margin=0.01)
    assert whole["p_equivalence"].item() == 0.0
    assert region_p(0, 3, 3, 3, 1.01) == 0.0 < region_p(0, 3, 3, 3, 1.0) == 1.0


def test_a_margin_of_clusters_agrees_with_the_interval(lists):
    grouped = lists.assign(document=np.arange(600) // 5).rankeval(groups="document")
    table = grouped.compare("good", "fair", 200, margin=0.2, details=True)
    low = grouped.compare("good", "fair", 200, level=0.9, alternative="two-sided", alpha=0.1)
    p = table["p_equivalence"].item()
    inside = low["ci_low"].item() > -0.2 and low["ci_high"].item() < 0.2
    assert (p <= 0.05) == inside
    assert 0.0 < p < 1.0


@pytest.mark.parametrize("options", [{}, {"kind": "ap"}, {"test": "delong"}])
def test_areas_agree_with_their_intervals(lists, options):
    of = lists.rankeval(details=True)
    limits = of.compare_area(level=0.9, **options)
    for factor in (0.97, 1.03):
        # the margin just beyond, or just inside, the interval of the level 1 - 2 alpha
        alone = limits["ci_high"].item() if limits["difference"].item() > 0 else -limits["ci_low"]
        p = of.compare_area(margin=alone * factor, **options)["p_equivalence"].item()
        assert (p <= 0.05) == (factor > 1.0)
    row = of.compare_area("good", "fair", margin=0.05, alternative="greater", **options).iloc[0]
    mirror = of.compare_area("fair", "good", margin=0.05, alternative="less", **options).iloc[0]
    assert row["p_noninferior"] == pytest.approx(mirror["p_noninferior"], rel=1e-9)
    if options.get("test") == "delong":
        expected = stats.norm.sf((row["difference"] + 0.05) / row["se"])
        assert row["p_noninferior"] == pytest.approx(expected, rel=1e-3)


# ------------------------------------------------------------------------------- Words and refusals


def test_a_margin_in_words(right, lists):
    text = rankeval_pd.in_words(
        right.rankeval(metric="accuracy").paired_bootstrap("a", "b", margin=0.9)
    )
    assert " are equivalent with a margin of 90 points (p < 0.001)." in text
    assert "not significant at the 5% level." in text
    text = rankeval_pd.in_words(lists.rankeval.compare("good", "fair", 100, margin=0.01))
    assert "good and fair are not shown to be equivalent with a margin of 1 point (p" in text
    table = lists.rankeval.compare_area("good", "fair", margin=0.02, alternative="greater")
    assert (
        "good is non-inferior to fair with a margin of 0.02 (p < 0.001)."
        in rankeval_pd.in_words(table)
    )
    table = lists.rankeval.compare_area("fair", "good", margin=0.02, alternative="less")
    assert (
        "good is non-inferior to fair with a margin of 0.02 (p < 0.001)."
        in rankeval_pd.in_words(table)
    )


@pytest.mark.parametrize("margin", [0.0, -0.1, np.nan, np.inf])
def test_a_margin_is_a_positive_number(right, lists, margin):
    calls = (
        lambda: right.rankeval.paired_bootstrap(margin=margin),
        lambda: lists.rankeval.compare(n=50, margin=margin),
        lambda: lists.rankeval.compare_area(margin=margin),
    )
    for call in calls:
        with pytest.raises((ValueError, TypeError), match="margin="):
            call()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n": 50, "target": "nbest"}, "margin= cannot stand beside target="),
        ({}, "n=None"),
        ({"n": 50, "combine": True}, "combine= cannot stand beside margin="),
        ({"n": 50, "average": "macro"}, "average= cannot stand beside margin="),
    ],
)
def test_comparisons_without_a_test_with_a_margin(lists, options, told):
    data = lists.assign(query=np.arange(600) % 3).rankeval(by="query")
    with pytest.raises(ValueError, match=told):
        data.compare("good", "fair", margin=0.1, **options)
