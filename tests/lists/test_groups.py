"""``groups``: whole groups of candidates are what is independent, in every method."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import optimize, stats

import rankeval_pd
from rankeval_pd import RankevalWarning
from rankeval_pd.accessors import LISTING
from rankeval_pd.decisions.verdicts import OF_CLUSTERS
from rankeval_pd.lists import groups as clustered_lists
from rankeval_pd.lists.groups import ListMembers
from rankeval_pd.stats import areas as roc_areas
from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats.ranking import Ranking, Size
from tests.conftest import examples
from tests.questions import ASKED, FRAME

SAID = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
FEW = pytest.mark.filterwarnings("ignore:groups. there are:rankeval_pd.RankevalWarning")
#: the methods that conclude nothing: their numbers are those of the rows, in groups or not
DESCRIBING = {
    "difference_region", "with_judgements", "roc", "precision_recall", "det", "lift", "gain",
}  # fmt: skip
CONCLUDED = ("ci_", "p_", "se", "band_", "significant", "letters", "better", "rank_low")
ROWS = FRAME.assign(clump=np.arange(len(FRAME)) // 2)
ROLES = {"exclude": ["other", "half", "ident", "clump"]}
ALL_ASKED = {
    **ASKED,
    "summary": (([5, 10],), {"n_resamples": 99}),
    "judged_precision": (ASKED["judged_precision"][0], {"gold": "partly"}),
    "judged_recall": (ASKED["judged_recall"][0], {"gold": "partly"}),
    "judged_difference": (("a", "b", [20]), {"gold": "partly"}),
}


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


def ranked(rng, clusters=12, size=4):
    cluster = np.repeat(np.arange(clusters), size)
    gold = rng.random(cluster.size) < 0.4
    gold[:2] = True, False
    score = rng.normal(size=cluster.size) + gold
    here = np.ones(cluster.size, dtype=bool)
    return ListMembers.of(Ranking.of(score, gold, here), (), cluster)


def all_of(gold):
    return Size(np.array(gold.size), gold.sum())


# ---------------------------------------------------------------------- Every method and every plot


def _answer(name, data, **roles):
    positional, keywords = ALL_ASKED[name]
    given = {"gold": "gold", **ROLES, **keywords, **roles}
    return getattr(rankeval_pd, name)(data, *positional, **given, details=True)


@SAID
@pytest.mark.parametrize("name", ALL_ASKED)
def test_every_method_obeys_groups_or_refuses_them(name):
    alone = _answer(name, ROWS)
    if name in LISTING.refusing:
        with pytest.raises(ValueError, match=r"groups.*: .* (independent|random sample)"):
            _answer(name, ROWS, groups="clump")
        return
    together = _answer(name, ROWS, groups="clump")
    same = together.reindex(columns=alone.columns).equals(alone)
    assert same == (name in DESCRIBING)
    if same:
        assert not [x for x in alone.columns if str(x).startswith(CONCLUDED)]


@SAID
def test_the_overview_offers_what_groups_leave():
    asked = ROWS.rankeval(gold="gold", **ROLES, groups="clump")
    there = dir(asked)
    assert not LISTING.refusing & set(there)
    assert set(ALL_ASKED) & set(there) == set(ALL_ASKED) - LISTING.refusing
    text = repr(asked)
    assert "summary" in text
    for name in ("crossovers", "random_bound"):
        assert name not in text
        assert name in repr(ROWS.rankeval(gold="gold", **ROLES))


#: what a plot needs beside the roles, and what one that is not offered answers
ASKED_OF_PLOTS = {
    "measure_ranks": {"n": [5, 10]},
    "tie_sensitivity": {"a": "a", "b": "b", "n": [5, 10], "n_keys": 3},
    "pairs": {"n": 10}, "random_cdf": {"n": 5}, "comparison": {"n_resamples": 99},
}  # fmt: skip
REFUSED = r"groups.*: .* (independent|random sample)|To use groups=, call per_query"


@pytest.mark.full
@SAID
def test_every_plot_obeys_groups_or_refuses_them_and_is_not_offered():
    alone = ROWS.rankeval(gold="gold", **ROLES).plot
    together = ROWS.rankeval(gold="gold", **ROLES, groups="clump").plot
    every, offered = dir(alone), dir(together)
    assert set(offered) == {x for x in every if f"plot.{x}" not in LISTING.refusing}
    for name in every:
        keywords = ASKED_OF_PLOTS.get(name, {})
        if name in offered:
            getattr(together, name)(**keywords)
        else:
            with pytest.raises((TypeError, ValueError), match=REFUSED):
                getattr(together, name)(**keywords)
    assert {"interpolated_precision", "random_bound"} <= set(every) - set(offered)


def test_tests_of_independent_candidates_are_refused():
    data = clumps(0).rankeval(groups="document")
    with pytest.raises(ValueError, match="groups= cannot stand beside test="):
        data.compare("a", "b", 50, test="fisher")
    with pytest.raises(ValueError, match="groups= cannot stand beside test="):
        data.compare_thresholds("a", "b", 1.0, test="fisher")
    with pytest.raises(ValueError, match="this method assumes independent"):
        data.random_bound()
    with pytest.raises(ValueError, match="groups= cannot stand beside phi="):
        data.nbest_precision(50, phi=2.0)
    with pytest.raises(ValueError, match="test='delong' with groups"):
        data.compare_area(test="delong")
    lacking = clumps(0).assign(document=None)
    with pytest.raises(ValueError, match="groups='document' has 200 missing"):
        lacking.rankeval(groups="document").area()


# ---------------------------------------------------------------------------------------- Variances


@given(st.integers(0, 10_000))
@settings(max_examples=examples(25))
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


@FEW
@given(st.integers(0, 1000))
@settings(max_examples=examples(15))
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


def test_variance_of_recall_is_that_of_totals_by_hand():
    one = ranked(np.random.default_rng(0))
    n = np.array([5, 20])
    totals, edge = one.totals(n, "nbest")[0], np.array([0.3, 0.2])
    tp = np.array([one.gold[one.rank <= k].sum() for k in n])
    recall = tp / one.gold.sum()
    found = cluster_totals.whole_spread(
        totals._replace(edges=(edge,)), recall, edge * n / 48, by_positive=True
    )
    for k in range(2):
        inside = (one.rank <= n[k]).astype(float)
        each = one.gold * (inside - recall[k]) - edge[k] * (inside - n[k] / 48)
        positive = np.bincount(one.cluster, one.gold)
        summed = np.bincount(one.cluster, each) / (1.0 - positive / positive.sum())
        assert_allclose(found.spread.variance[k], (summed**2).sum(), rtol=1e-12)
        own = (positive**2).sum() ** 2 / (positive**4).sum()
        own = max(min(own, (positive > 0).sum() - 1.0), 7.0)
        assert_allclose(found.spread.freedom[k], min(own, positive.size - 1.0), rtol=1e-12)
    assert_allclose(found.typical, (positive**2).sum() / positive.sum(), rtol=1e-12)


def test_groups_of_one_random_test_is_the_t_test_of_the_covariance():
    rng = np.random.default_rng(3)
    gold, score = rng.random(400) < 0.3, rng.normal(size=400)
    one = ListMembers.of(Ranking.of(score + 0.3 * gold, gold, gold | True), (), np.arange(400))
    p = clustered_lists.random_p(one, np.array([120]), (), size=all_of(gold))[0][0]
    inside = one.rank <= 120
    apart = (inside - 0.3) * (gold - gold.mean()) / np.sqrt(1.0 - 1.0 / 400)
    excess = (inside & gold).sum() - 120 * gold.mean()
    least = 120 * gold.mean() * (1 - gold.mean()) * 0.7
    t = excess / np.sqrt(max((apart**2).sum(), least))
    assert_allclose(p, stats.t.sf(t, 399), rtol=1e-10)
    table = stats.hypergeom.sf((inside & gold).sum() - 1, 400, gold.sum(), 120)
    assert abs(np.log(p / table)) < 0.5  # the exact law of single candidates is near


def test_two_factors_are_as_statsmodels_has_them():
    """Two-way cluster-robust variances of statsmodels."""
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(2)
    first, second = np.divmod(np.arange(10 * 30), 30)
    y = rng.normal(size=10)[first] + rng.normal(size=30)[second] + rng.normal(size=300)
    options = {"groups": np.column_stack([first, second]), "use_correction": False}
    fit = api.OLS(y, np.ones(300)).fit(cov_type="cluster", cov_kwds=options)
    sums = [np.bincount(x, y - y.mean()) for x in (first, second, np.arange(300))]
    assert_allclose(
        cluster_totals.of_both_factors([(x**2).sum() for x in sums]) / 300**2,
        fit.bse[0] ** 2,
        rtol=1e-10,
    )
    items = pd.DataFrame({"new": y, "old": 0.0, "item": first, "annotator": second})
    found = items.rankeval(measures=["new", "old"], groups=["item", "annotator"])
    row = found.paired_bootstrap("new", "old", details=True).iloc[0]
    own = [(x**2).sum() * k / (k - 1) for x, k in zip(sums, (10, 30, 300), strict=True)]
    error = np.sqrt(own[0] + own[1] - own[2]) / 300
    assert_allclose(row["gain_se"], error, rtol=1e-10)
    assert_allclose(row["p_value"], 2 * stats.t.sf(abs(y.mean()) / error, 9), rtol=1e-9)
    half = stats.t.ppf(0.975, 9) * error
    wanted = y.mean() + half * np.array([-1.0, 1.0])
    assert_allclose(row[["ci_low", "ci_high"]].astype(float), wanted, rtol=1e-9)
    assert row["n_groups"] == 10


def test_cells_are_told_from_clusters_and_keep_their_levels():
    first, second = np.array([0, 0, 1, 2]), np.array([3, 4, 3, 0])
    cells = cluster_totals.packed(first, second)
    found = cluster_totals.factors_of(cells)
    for wanted, levels in zip((first, second, np.arange(4)), found, strict=True):
        same = wanted[:, np.newaxis] == wanted
        assert ((levels[:, np.newaxis] == levels) == same).all()
    assert len(cluster_totals.factors_of(second)) == 1
    one_level = cluster_totals.packed(np.zeros(2, dtype=int), second[:2])
    assert len(cluster_totals.factors_of(one_level)) == 3
    assert cluster_totals.packed(np.array([-1]), np.array([2]))[0] == -1
    one, other, both = (np.array([x]) for x in (3.0, 2.0, 4.5))
    for sums in ([one, other, both], [other, one, both]):
        assert cluster_totals.of_both_factors(sums)[0] == 3.0  # .5 is less than one alone


@SAID
def test_two_crossed_factors_of_rankings_are_allowed_for_or_refused():
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    rows["gold"], rows["verb"] = rng.random(400) < 0.3, np.arange(400) // 20
    rows["particle"] = np.arange(400) % 20
    one = rows.rankeval(measures=["a", "b"], groups="verb").nbest_precision(100)
    crossed = rows.rankeval(measures=["a", "b"], groups=["verb", "particle"])
    two = crossed.nbest_precision(100)
    assert ((two["ci_high"] - two["ci_low"]) >= (one["ci_high"] - one["ci_low"]) - 0.05).all()
    for ask in (crossed.area, lambda: crossed.compare("a", "b", 50, adjust="max-t")):
        with pytest.raises(ValueError, match="two crossed factors are supported only by"):
            ask()


# ------------------------------------------------------------------------------ Intervals and tests


def noisy() -> pd.DataFrame:
    """Return 25 clusters of not quite equal sizes and labels."""
    df = clumps(11, n_clusters=25)[3:]
    df["gold"] ^= np.random.default_rng(1).random(len(df)) < 0.15
    return df


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_the_interval_of_a_difference_contains_what_a_test_of_it_does_not_reject(alternative):
    """By SciPy's root finder, with the variance of the true positives by hand."""
    df = noisy()
    row = (
        df.rankeval(groups="document", key="b")
        .compare("a", "b", 60, alternative=alternative)
        .iloc[0]
    )
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
    df = noisy()
    df["b"] -= 1.5 * df["gold"]
    asked = df.rankeval(groups="document", details=True)
    row = asked.compare_area("a", "b", kind=kind).iloc[0]
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
    mirrored = asked.compare_area("b", "a", kind=kind).iloc[0]
    assert (mirrored["ci_low"], mirrored["ci_high"]) == (-row["ci_high"], -row["ci_low"])


def test_a_difference_has_no_end_if_the_true_positives_of_few_clusters_vary_most():
    """From t^2 moved = 1 on; the sign of a rejected difference stays."""
    columns = np.array([0.5, 0.5, -0.5, 0.0]), np.array([0.4, 0.1, 0.1, 0.0])
    low, high = OF_CLUSTERS[0](*columns, np.full(4, 5.0), np.ones(4), np.full(4, 0.2), level=0.95)
    assert np.array_equal(high, [1.0, 1.0, -low[1], 0.0])
    assert np.array_equal(low, [-1.0, low[1], -1.0, 0.0])
    assert 0.0 < low[1] < 0.5 - stats.t.isf(0.025, 5) * 0.1


@pytest.fixture
def topics():
    """Three measures of candidates in 60 groups, some of which are mostly true."""
    rng = np.random.default_rng(6)
    cluster = np.repeat(np.arange(60), 10)
    topic = rng.normal(size=60)[cluster]
    gold = topic + rng.normal(size=600) > 1
    rows = pd.DataFrame({x: gold + topic + 2 * rng.normal(size=600) for x in "abc"})
    return rows.assign(gold=gold, doc=cluster).rankeval(groups="doc", details=True)


@SAID
def test_no_p_value_depends_on_the_target(topics):
    n = [30, 60, 100, 200]
    region, nbest = (topics.compare("a", "b", n, target=x) for x in ("region", "nbest"))
    assert region["p_value"].tolist() == nbest["p_value"].tolist()
    assert region["ci_low"].tolist() == nbest["ci_low"].tolist()  # the larger variance of both
    ranks = topics.summary(n, baseline="b", adjust=None).query("measure == 'a'")
    assert_allclose(ranks.sort_values("n")["p_value"], region["p_value"], rtol=1e-12)


@SAID
def test_ranks_of_whole_groups_are_those_of_compare_and_of_compare_area(topics):
    pairs = topics.compare_area(kind="ap").query("measure_b == 'c'").set_index("measure_a")
    ranks = topics.summary(baseline="c", adjust=None).set_index("measure")
    assert_allclose(ranks["p_value"].loc[pairs.index], pairs["p_value"], rtol=1e-9)
    for kind in ("roc", "ap"):
        values = topics.measure_ranks(kind=kind).set_index("measure")
        area = topics.area(kind).set_index("measure")
        for name in ("ci_low", "ci_high"):
            assert_allclose(values[f"{name}_alone"].loc[area.index], area[name], rtol=1e-9)
    swapped, compared = topics.measure_ranks(40), topics.compare(n=40, adjust="max-t")
    assert (swapped["rank_low"] > 1).any() == bool(compared["significant"].any())


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


def test_one_cluster_says_nothing():
    data = clumps(0, n_clusters=10).assign(document="all")
    with pytest.warns(RankevalWarning, match="1 groups"):
        row = data.rankeval(groups="document").compare("a", "b", 10).loc[0]
    assert row[["ci_low", "ci_high", "p_value"]].tolist() == [-1.0, 1.0, 1.0]


# ----------------------------------------------------------------------------------------- Warnings


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


def test_lists_of_all_candidates_are_no_worse_than_random_ones():
    """A list of all candidates leaves nothing to chance."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({
        "a": rng.normal(size=200), "b": rng.normal(size=200), "gold": rng.random(200) < 0.3,
        "doc": np.repeat(np.arange(40), 5),
    })  # fmt: skip
    assert len(data.rankeval(groups="doc").measure_ranks(n=200)) == 2  # warnings are errors


def test_the_order_of_equal_scores_is_looked_at_with_groups():
    """420 candidates with one score: with groups too the reader hears that their order decides."""
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({"f": np.ones(420), "g": rng.normal(size=420), "doc": np.arange(420) // 4})
    rows["gold"] = rng.random(420) < 0.3
    rows["g"] += rows["gold"] * 0.55
    asked = rows.rankeval(measures=["g", "f"], groups="doc")
    with pytest.warns(RankevalWarning, match="the order of equal scores determines"):
        found = asked.compare("g", "f", 60, details=True).iloc[0]
    assert found["tie_low"] < found["difference"] < found["tie_high"]
    assert found["p_tie_low"] > 0.05 > found["p_tie_high"]
    with pytest.warns(RankevalWarning, match="the order of equal scores determines"):
        asked.measure_ranks(60)


# ------------------------------------------------------------------------ The committed simulations


REFERENCE = Path(__file__).parents[1] / "simulations"


def test_the_committed_simulations_of_groups_hold_what_is_promised():
    """Coverage .93 and size .06, or a warning in nine of ten; else none, and no wide interval."""
    committed = pd.read_csv(REFERENCE / "dependence.csv")
    table = committed[~committed["setting"].str.contains("lognormal, moving")]
    told, alone = table["warned"] >= 0.9, table["call"].str.contains("alone")
    few = table["setting"].str.startswith("5 x 40")
    assert (table.loc[few & ~alone, "warned"] == 1.0).all()
    quiet = table[~told & ~alone]
    assert len(quiet) > 200
    assert (quiet["samples"] >= 1_990).all()
    assert (quiet["call"] == "precision_band").sum() == 24
    assert (quiet["covers"].dropna() >= 0.93).all()
    assert (quiet["errs"].dropna() <= 0.06).all()
    assert (quiet["warned"] <= 0.1).all()
    assert (quiet["wide"].dropna() <= 1.3).all()


def test_the_committed_simulations_of_areas_of_groups_cover():
    areas = pd.read_csv(REFERENCE / "cluster_areas.csv")
    assert (areas[["area", "difference"]] >= 0.93).all().all()
    assert (areas["test"] <= 0.06).all()
    assert (areas[["wide", "beside"]] <= 1.3).all().all()
    assert areas["samples"].min() >= 2_000


def test_limits_of_many_pairs_of_clusters_have_enough_draws(monkeypatch):
    """Ten draws are expected beyond the quantile of each of 28 pairs, not the two of 999 draws."""
    quality = {f"m{k}": 0.5 + 0.1 * k for k in range(8)}
    frame = rankeval_pd.datasets.simulate_candidates(400, quality=quality).assign(
        verb=np.arange(400) // 4
    )
    drawn = []
    margins = clustered_lists.margins

    def counted(*args, **options):
        drawn.append(options["n_resamples"])
        return margins(*args, **options)

    monkeypatch.setattr(clustered_lists, "margins", counted)
    frame.rankeval(groups="verb").compare(n=[20, 50], adjust="max-t", details=True)
    assert len(drawn) == 28
    assert min(drawn) >= 10 * 28 / 0.05 - 1
