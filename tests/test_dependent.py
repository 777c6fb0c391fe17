"""Candidates that belong together: whole groups are what is independent."""

from __future__ import annotations

import importlib
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from rankeval_pd import RankevalWarning, datasets
from rankeval_pd.decisions.verdicts import OF_CLUSTERS
from rankeval_pd.stats import areas as roc_areas
from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats.ranking import Ranking

FEW = pytest.mark.filterwarnings("ignore:groups. there are:rankeval_pd.RankevalWarning")


def clumps(seed: int, n_clusters: int = 40, size: int = 5, noise: float = 0.1) -> pd.DataFrame:
    """Return clusters of nearly equal candidates, and two measures."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    gold = (rng.random(n_clusters) < 0.3)[cluster]
    scores = {
        name: rng.normal(size=n_clusters)[cluster]
        + strength * gold
        + noise * rng.normal(size=cluster.size)
        for name, strength in (("a", 1.2), ("b", 0.3))
    }
    names = [f"d{c}" for c in cluster]
    return pd.DataFrame({**scores, "gold": gold, "document": names})


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_the_variance_is_that_of_the_jackknife(seed):
    """Of a region, a ratio: leave each cluster out and take the precision of the rest."""
    rng = np.random.default_rng(seed)
    cluster = np.sort(rng.integers(0, 8, 60))
    gold, rank, n = rng.random(60) < 0.4, rng.permutation(60) + 1, 30
    number = np.unique(cluster, return_inverse=True)[1]
    tp = np.array([gold[rank <= n].sum()])
    totals = cluster_totals.ListTotals(gold, (rank,), number, np.array([n]), (tp / n,), True)
    found = cluster_totals.total_spread(totals)
    listed = rank <= n
    groups = np.unique(number[listed])
    left = [gold[listed & (number != g)].mean() for g in groups if (listed & (number != g)).any()]
    moved = np.array(left) - tp / n
    assert found.n_groups[0] == groups.size
    assert found.variance[0] == pytest.approx(n**2 * np.sum(moved**2), rel=1e-9)


def test_against_statsmodels():
    """Cluster-robust variance of a mean (CR1), without jackknifed totals."""
    api = pytest.importorskip("statsmodels.api")
    data = clumps(3)
    listed = data.nlargest(60, "a")
    number = pd.factorize(listed["document"])[0]
    y = listed["gold"].to_numpy(dtype=float)
    fit = api.OLS(y, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": number})
    groups = number.max() + 1
    wanted = fit.bse[0] ** 2 * (groups - 1) / groups  # CR0, but for (N - 1) / (N - 1)
    totals = cluster_totals.ListTotals(
        y > 0, (np.arange(60) + 1,), number, np.array([60]), (np.array([y.mean()]),), True
    )
    (total, size) = next(totals.blocks())
    assert (total**2).sum() / 60**2 == pytest.approx(wanted, rel=1e-9)
    jackknifed = total / (1.0 - size / 60)
    assert cluster_totals.total_spread(totals).variance[0] == pytest.approx(
        (jackknifed**2).sum(), rel=1e-12
    )


@FEW
@given(st.integers(0, 1000))
@settings(max_examples=15)
def test_an_area_of_single_candidates_is_delong_s(seed):
    """DeLong's variance, and Bell and McCaffrey's formula computed cluster by cluster."""
    rng = np.random.default_rng(seed)
    score, gold = rng.integers(0, 9, 40) * 1.0, rng.random(40) < 0.4
    gold[:4] = [True, True, False, False]
    here = np.ones(40, dtype=bool)
    placed = roc_areas.placements(Ranking.of(score, gold, here)).influence
    alone = roc_areas.cluster_spread(placed, gold, here, np.arange(40))
    assert alone.variance == pytest.approx(
        roc_areas.area_spread(placed, gold, here).variance, rel=1e-9
    )
    # each class's totals by the root of 1 - h, cluster by cluster
    cluster = rng.integers(0, 12, 40)
    totals = []
    for g in np.unique(cluster):
        total = 0.0
        for one in (gold, ~gold):
            mine, count = one & (cluster == g), one.sum()
            away = (placed[mine] - placed[one].mean()).sum() / count
            total += away / np.sqrt(1.0 - mine.sum() / count)
        totals.append(total)
    wanted = ((np.array(totals) - np.mean(totals)) ** 2).sum()
    found = roc_areas.cluster_spread(placed, gold, here, cluster)
    assert found.variance == pytest.approx(wanted, rel=1e-9)
    assert found.n_groups == min(np.unique(cluster[one]).size for one in (gold, ~gold))


@FEW
@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
def test_what_the_columns_say():
    data = clumps(0).rankeval(groups="document")
    found = data.nbest_precision([50, 100])
    assert list(found.columns[-3:]) == ["n_groups", "ci_low_best", "ci_high_best"]
    assert (found["n_groups"] <= 40).all()
    alone = clumps(0).rankeval(exclude=None, measures=["a", "b"]).nbest_precision([50, 100])
    for name in ("tp", "precision", "recall", "threshold"):
        assert (found[name] == alone[name]).all()
    assert (found["ci_high"] - found["ci_low"] > 1.4 * (alone["ci_high"] - alone["ci_low"])).all()
    compared = data.compare("a", "b", [50, 100])
    assert compared["p_mid"].isna().all()
    assert list(compared.columns[-2:]) == ["n_groups", "leaning"]
    assert data.area().columns[-1] == "n_groups"
    assert list(data.compare_area().columns[-3:]) == ["n_groups", "better", "leaning"]
    assert "n_groups" not in data.roc().columns


@FEW
@given(st.integers(0, 500), st.sampled_from(["two-sided", "greater", "less"]))
@settings(max_examples=15)
def test_interval_and_test_agree(seed, alternative):
    data = clumps(seed, n_clusters=25).rankeval(groups="document")
    for target in ("region", "nbest"):
        found = data.compare("a", "b", [20, 40, 80], target=target, alternative=alternative)
        outside = (found["ci_low"] > 0) | (found["ci_high"] < 0)
        if alternative == "two-sided":
            assert (outside == found["significant"]).all()
        side = {"two-sided": 1, "greater": found["difference"] > 0, "less": found["difference"] < 0}
        assert not (outside & (side[alternative] == 1) & ~found["significant"]).any()


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_the_interval_of_a_difference_contains_what_a_test_of_it_does_not_reject(alternative):
    """By SciPy's root finder, with the variance of the true positives by hand, also on Dask."""
    df = clumps(11, n_clusters=25)[3:]
    df["gold"] ^= np.random.default_rng(1).random(len(df)) < 0.15
    given = {"groups": "document", "key": "b"}
    row = df.rankeval(**given).compare("a", "b", 60, alternative=alternative).iloc[0]
    moved, k = 0.2 * positives_variance(df), df["document"].nunique()
    freedom, two = min(k, 2 * row["n_groups"]) - 1, alternative == "two-sided"
    error = row["difference"] / stats.t.isf(row["p_value"] / (1 + two), freedom)
    t = stats.t.isf(0.025 if two else 0.05, freedom)

    def beyond(true: float) -> float:
        return (true - row["difference"]) ** 2 - t**2 * (error**2 + moved * true**2)

    low = optimize.brentq(beyond, -1.0, row["difference"], xtol=1e-14)
    assert row["ci_low"] == pytest.approx(low, rel=1e-9)
    high = optimize.brentq(beyond, row["difference"], 1.5, xtol=1e-14) if two else 1.0
    assert high == pytest.approx(row["ci_high"], rel=1e-9)
    wider = row["difference"] + t * error
    assert moved > 0.004
    assert not two or row["ci_high"] > wider + 0.001
    chunked = pytest.importorskip("dask.dataframe").from_pandas(df, npartitions=3)
    importlib.import_module("rankeval_pd.dask")
    same = chunked.rankeval(**given).compare("a", "b", 60, alternative=alternative)
    pd.testing.assert_frame_equal(same.reset_index(drop=True), row.to_frame().T.astype(same.dtypes))


def positives_variance(df: pd.DataFrame) -> float:
    """Return the relative variance of the number of true positives, by analysis of variance."""
    size, positive = df.groupby("document")["gold"].agg(["size", "sum"]).to_numpy(float).T
    p, n, k = df["gold"].mean(), len(df), size.size
    apart = (size * (positive / size - p) ** 2).sum() / (k - 1)
    within = (df["gold"] - df.groupby("document")["gold"].transform("mean")).pow(2).sum() / (n - k)
    typical = (n - (size**2).sum() / n) / (k - 1)
    alike = (apart - within) / (apart + (typical - 1) * within)
    return float(alike * (size**2).sum() / n**2 * (1 - p) / p)


@pytest.mark.parametrize("kind", ["roc", "ap"])
def test_a_difference_of_areas_allows_for_the_number_of_true_positives(kind):
    """The limit on the side of 0 by SciPy's root finder, and its mirror image."""
    df = clumps(11, n_clusters=25)[3:]
    df["gold"] ^= np.random.default_rng(1).random(len(df)) < 0.15
    df["b"] -= 1.5 * df["gold"]
    given = {"groups": "document", "details": True}
    row = df.rankeval(**given).compare_area("a", "b", kind=kind).iloc[0]
    moved, z = 0.1 * positives_variance(df), row["z"]
    freedom = optimize.brentq(lambda x: 2 * stats.t.sf(z, x) - row["p_value"], 1.0, 1e4, xtol=1e-12)
    t = stats.t.isf(0.025, freedom)
    low = optimize.brentq(
        lambda x: (row["difference"] - x) ** 2 - t**2 * (row["se"] ** 2 + moved * x**2),
        0.0, row["difference"], xtol=1e-14,
    )  # fmt: skip
    assert row["p_value"] < 0.05
    assert row["ci_low"] == pytest.approx(low, rel=1e-7)
    assert row["ci_low"] < row["difference"] - t * row["se"] - 1e-5
    mirrored = df.rankeval(**given).compare_area("b", "a", kind=kind).iloc[0]
    assert (mirrored["ci_low"], mirrored["ci_high"]) == (-row["ci_high"], -row["ci_low"])


def test_a_difference_has_no_end_if_the_true_positives_of_few_clusters_vary_most():
    """From t^2 moved = 1 on; the sign of a rejected difference stays."""
    columns = np.array([0.5, 0.5, -0.5, 0.0]), np.array([0.4, 0.1, 0.1, 0.0])
    low, high = OF_CLUSTERS[0](*columns, np.full(4, 5.0), np.ones(4), np.full(4, 0.2), level=0.95)
    assert np.array_equal(high, [1.0, 1.0, -low[1], 0.0])
    assert np.array_equal(low, [-1.0, low[1], -1.0, 0.0])
    assert 0.0 < low[1] < 0.5 - stats.t.isf(0.025, 5) * 0.1


@FEW
@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:precision reaches :rankeval_pd.RankevalWarning")
def test_the_order_of_rows_and_names_of_groups_change_nothing():
    data = clumps(1)
    data.index = [f"x{i}" for i in range(len(data))]
    asks = (
        lambda x: x.nbest_precision([30, 60]),
        lambda x: x.compare(n=[30, 60], adjust="max-t", n_resamples=99),
        lambda x: x.precision_band([30, 60], n_resamples=50),
        lambda x: x.difference_band(n=[30, 60], n_resamples=50),
        lambda x: x.area(),
        lambda x: x.compare_area(),
    )
    shuffled = data.sample(frac=1, random_state=2)
    lazy = xr.Dataset.from_dataframe(data.rename_axis("candidate"))
    for ask in asks:
        wanted = ask(data.rankeval(groups="document"))
        found = ask(shuffled.rankeval(groups=shuffled["document"].to_numpy(), exclude=None))
        pd.testing.assert_frame_equal(found, wanted, rtol=1e-9)
        for form in (lazy, lazy.chunk()):
            there = ask(form.rankeval(groups="document")).compute().to_dataframe().reset_index()
            numbers = wanted.select_dtypes("number").columns
            assert there[numbers].to_numpy(float) == pytest.approx(
                wanted[numbers].to_numpy(float), nan_ok=True, rel=1e-9
            )


@FEW
def test_groups_within_groups():
    data = pd.concat([clumps(s).assign(sample=s) for s in (0, 1)], ignore_index=True)
    both = data.rankeval(by="sample", groups="document").compare("a", "b", 60)
    for sample, rows in data.groupby("sample"):
        alone = rows.drop(columns="sample").rankeval(groups="document").compare("a", "b", 60)
        row = both[both["sample"] == sample].drop(columns="sample").reset_index(drop=True)
        numbers = ["ci_low", "ci_high", "p_value", "n_groups"]
        pd.testing.assert_frame_equal(row[numbers], alone[numbers])


def test_whole_clusters_are_swapped():
    """With all of a cluster alike, swaps of clusters are swaps of one candidate of each."""
    data = clumps(5, n_clusters=12, noise=0.0)
    data["a"] += np.tile(np.arange(5) * 1e-6, 12)
    data["b"] += np.tile(np.arange(5) * 1e-6, 12)
    found = data.rankeval(groups="document").compare(
        "a", "b", [10, 20, 30], adjust="max-t", n_resamples=1999
    )
    single = data.iloc[::5].rankeval(measures=["a", "b"])
    wanted = single.compare("a", "b", [2, 4, 6], adjust="max-t", n_resamples=1999)
    assert found["p_adjusted"].to_numpy() == pytest.approx(
        wanted["p_adjusted"].to_numpy(), abs=0.05
    )


def test_few_groups_are_said():
    few = clumps(0, n_clusters=9).rankeval(groups="document")
    for ask in (lambda r: r.area(), lambda r: r.nbest_precision(20), lambda r: r.nbest_recall(20),
                lambda r: r.compare("a", "b", 20), lambda r: r.measure_ranks(20)):  # fmt: skip
        with pytest.warns(RankevalWarning, match="there are 9 groups, but"):
            ask(few)
    for groups in (10, 200):  # from 10 the intervals hold, with which warnings are errors
        many = clumps(0, n_clusters=groups).rankeval(groups="document")
        many.nbest_precision(2 * groups)
        many.compare("a", "b", 2 * groups)
        many.area()


def test_tests_of_independent_candidates_are_refused():
    data = clumps(0).rankeval(groups="document")
    for options in ({"test": "fisher"}, {"ci": "newcombe"}, {"phi": 2.0}):
        with pytest.raises(ValueError, match="with groups"):
            data.compare("a", "b", 50, **options)
    with pytest.raises(ValueError, match="threshold with groups"):
        data.compare("a", "b", threshold={"a": 1.0, "b": 1.0})
    with pytest.raises(ValueError, match="phi=2 with groups"):
        data.nbest_precision(50, phi=2.0)
    with pytest.raises(ValueError, match="test='delong' with groups"):
        data.compare_area(test="delong")
    for ask in ("crossovers", "local_precision", "random_envelope"):
        with pytest.raises(ValueError, match="assumes independent candidates"):
            getattr(data, ask)()
    lacking = clumps(0).assign(document=None)
    with pytest.raises(ValueError, match="every candidate needs a group"):
        lacking.rankeval(groups="document").area()


def test_one_cluster_says_nothing():
    data = clumps(0, n_clusters=10).assign(document="all")
    with pytest.warns(RankevalWarning, match="1 groups"):
        row = data.rankeval(groups="document").compare("a", "b", 10).loc[0]
    assert row[["ci_low", "ci_high", "p_value"]].tolist() == [-1.0, 1.0, 1.0]


@FEW
@pytest.mark.filterwarnings("ignore:.*rows repeat the label:rankeval_pd.RankevalWarning")
def test_repeats_of_a_study_in_one_frame():
    """Five repeats of one set of candidates: not five times the evidence."""
    one = clumps(2, n_clusters=150, size=1, noise=0.0)
    one.index = pd.Index([f"c{i}" for i in range(150)], name="candidate")
    rng = np.random.default_rng(0)
    repeats = pd.concat(
        [one.assign(a=one["a"] + 0.05 * rng.normal(size=150)) for _ in range(5)]
    ).drop(columns="document")
    with pytest.warns(RankevalWarning, match="600 of 750 rows repeat the label"):
        naive = repeats.rankeval.compare("a", "b", 200).loc[0]
    whole = repeats.rankeval(groups="candidate").compare("a", "b", 200).loc[0]
    alone = one.drop(columns="document").rankeval.compare("a", "b", 40).loc[0]
    assert naive["p_value"] < alone["p_value"] / 10
    assert whole["p_value"] == pytest.approx(alone["p_value"], rel=1.0)


@FEW
@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
def test_coverage_of_clumps():
    """A small part of tests/simulations/clusters.py; the interval of single candidates has .6."""
    parts = pd.concat(
        [clumps(seed, n_clusters=60).assign(sample=seed) for seed in range(80)], ignore_index=True
    )
    whole = parts.rankeval(by="sample", groups="document", measures="a").nbest_precision(60)
    alone = parts.rankeval(by="sample", measures="a").nbest_precision(60)
    truth = whole["precision"].mean()
    held = [((x["ci_low"] <= truth) & (truth <= x["ci_high"])).mean() for x in (whole, alone)]
    assert held[0] >= 0.93
    assert held[1] < 0.8


def test_groups_warn_of_thresholds_too():
    """The interval of the region is not the list's where a ranking is steep at n."""
    df = datasets.simulate_candidates(400, baseline=0.25, quality={"x": 5.0})
    df["group"] = np.arange(400) // 4
    with pytest.warns(RankevalWarning, match=r"target='region'.*At n=100"):
        df.rankeval(groups="group").nbest_precision(100)
    assert len(df.rankeval(groups="group").nbest_precision(100, target="nbest")) == 1


def test_it_is_said_where_the_region_does_not_hold():
    """As in tests/simulations/clusters.py: .8 of good rankings warn, one in a hundred of others."""

    def said(strength: float) -> int:
        rng = np.random.default_rng(0)
        document = np.repeat(np.arange(150), 5)

        def together():
            shared = rng.normal(size=150)[document]
            return np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=750)

        parts = []
        for sample in range(20):
            gold = together() > 0.674
            parts.append(
                pd.DataFrame({"a": strength * gold + together(), "gold": gold, "d": document})
            )
            parts[-1]["sample"] = sample
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pd.concat(parts).rankeval(by="sample", groups="d", measures="a").nbest_precision(150)
        found = [
            re.search(r"too narrow for (\d+) of 20 n-best lists", str(x.message)) for x in caught
        ]
        return sum(int(x[1]) for x in found if x)

    assert said(3.0) >= 12
    assert said(1.0) <= 3
