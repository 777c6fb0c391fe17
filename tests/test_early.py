"""Enrichment, BEDROC, partial and unpaired areas: RDKit, scikit-learn, resamples, coverage."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from rankeval_pd import datasets
from rankeval_pd.curves.areas import AreaOptions, compare_samples, sample_area
from rankeval_pd.stats import areas as early
from rankeval_pd.stats.ranking import Ranking

RDKIT = pd.read_csv(
    Path(__file__).parent / "simulations" / "bedroc.csv", comment="#", dtype={"labels": str}
)
SCORED = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=15)
QUIET = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


@pytest.fixture(scope="module")
def simulated() -> pd.DataFrame:
    return datasets.simulate_candidates(600, baseline=0.15)


@QUIET
@pytest.mark.parametrize("row", list(RDKIT.itertuples()), ids=range(len(RDKIT)))
def test_bedroc_and_enrichment_of_rdkit(row):
    """RDKit's CalcBEDROC and CalcEnrichment."""
    gold = np.array([x == "1" for x in row.labels])
    df = pd.DataFrame({"a": -np.arange(gold.size), "gold": gold})
    found = df.rankeval.bedroc(row.alpha).loc[0]
    assert found["value"] == pytest.approx(row.bedroc, rel=1e-11, abs=1e-13)
    assert 0 <= found["ci_low"] <= found["value"] <= found["ci_high"] <= 1
    factor = df.rankeval.enrichment(0.05).loc[0]
    assert factor["lift"] == pytest.approx(row.ef_5, rel=1e-13)


@pytest.mark.parametrize("alpha", [0.5, 20.0, 400.0])
def test_the_formula_of_truchon_and_bayly(simulated, alpha):
    """Equation 36, as it is printed."""
    found = simulated.rankeval.bedroc(alpha).set_index("measure")["value"]
    gold, total = simulated["gold"], len(simulated)
    share = gold.mean()
    for name in ("good", "fair"):
        rank = simulated[name].rank(ascending=False)[gold]
        with np.errstate(over="ignore"):
            times = share * np.sinh(alpha / 2)
            times /= np.cosh(alpha / 2) - np.cosh(alpha / 2 - alpha * share)
            every = (1 - np.exp(-alpha)) / (np.exp(alpha / total) - 1) / total
            rie = np.exp(-alpha * rank / total).mean() / every
            wanted = rie * times + 1 / (1 - np.exp(alpha * (1 - share)))
        assert found[name] == pytest.approx(wanted, rel=1e-9)


@QUIET
@given(SCORED, st.sampled_from([0.3, 5.0, 50.0]))
def test_bedroc_of_ties_is_the_mean_over_orders_and_chance_that_over_labels(rows, alpha):
    rows = rows[:6]
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score, "gold": gold})
    found = df.rankeval.bedroc(alpha).loc[0]
    if gold.all() or not gold.any():
        assert found[1:].isna().all()
        return

    def of(labels):
        here = np.ones(labels.size, bool)
        ordered = early.bedroc_influence(
            Ranking.of(-np.arange(labels.size) * 1.0, labels, here), alpha
        )
        return float(ordered.value)

    orders = [
        list(order)
        for order in itertools.permutations(range(len(rows)))
        if (np.diff(score[list(order)]) <= 0).all()
    ]
    assert found["value"] == pytest.approx(np.mean([of(gold[x]) for x in orders]), abs=1e-12)
    labels = set(itertools.permutations(gold.tolist()))
    wanted = np.mean([of(np.array(x)) for x in labels])
    assert found["chance"] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.full
@QUIET
@given(SCORED, st.sampled_from([0.05, 0.3, 0.77, 1.0]))
def test_partial_areas_of_scikit_learn(rows, fpr):
    """scikit-learn's roc_auc_score(max_fpr=...)."""
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score, "gold": gold})
    found, back = (df.rankeval.partial_area(**asked).loc[0] for asked in ({"fpr": fpr}, {"tpr": 0}))
    if gold.all() or not gold.any():
        assert np.isnan([found["area"], found["chance"], found["ci_low"]]).all()
        return
    wanted = metrics.roc_auc_score(gold, score, max_fpr=fpr)
    assert found["area"] == pytest.approx(wanted, abs=1e-12)
    assert back["area"] == pytest.approx(metrics.roc_auc_score(gold, score), abs=1e-12)
    if gold.sum() > 1 and (~gold).sum() > 1:
        assert found["ci_low"] <= found["area"] + 1e-12
        assert found["area"] <= found["ci_high"] + 1e-12
    # from a true positive rate on, the two classes have changed places
    turned = pd.DataFrame({"a": -score, "gold": ~gold})
    if fpr < 1:
        from_tpr = turned.rankeval.partial_area(tpr=1 - fpr).loc[0]
        assert from_tpr["area"] == pytest.approx(found["area"], abs=1e-12)


def test_whole_area_is_the_roc_area_with_delongs_error(simulated):
    found = simulated.rankeval.partial_area(fpr=1)
    wanted = simulated.rankeval.area()
    for column in ("area", "se"):
        np.testing.assert_allclose(found[column], wanted[column], rtol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("decimals", [3, 0])
def test_standard_errors_are_those_of_resamples(simulated, decimals):
    score = simulated["good"].round(decimals).to_numpy()
    gold = simulated["gold"].to_numpy()
    rng = np.random.default_rng(3)
    parts = [np.flatnonzero(gold), np.flatnonzero(~gold)]
    rows = np.hstack([rng.choice(part, (3_000, part.size)) for part in parts])
    here = np.ones(rows.shape, bool)
    df = pd.DataFrame({"a": score, "gold": gold})
    drawn = early.area_up_to(Ranking.of(score[rows], gold[rows], here), 0.2).value.std()
    found = df.rankeval.partial_area(fpr=0.2).loc[0, "se"]
    assert found == pytest.approx(drawn * 0.5 / 0.9, rel=0.07)
    drawn = early.bedroc_influence(Ranking.of(score[rows], gold[rows], here), 20.0).value.std()
    assert df.rankeval.bedroc().loc[0, "se"] == pytest.approx(drawn, rel=0.07)


@QUIET
@pytest.mark.parametrize("alpha", [0.5, 5.0, 20.0, 80.5, 160.9])
def test_the_ends_of_bedroc_are_0_and_1(alpha):
    """Rounding gave .9999999999999999 [0, 1], and values above 1 or below 0."""
    for total, positive in itertools.product((4, 20, 100, 1_000), (0.01, 0.1, 0.5, 0.9)):
        positive = round(positive * total)
        if not 2 <= positive <= total - 2:
            continue
        gold = np.arange(total) < positive
        df = pd.DataFrame({"a": -np.arange(total), "b": np.arange(total), "gold": gold})
        tied = df.assign(a=1.0 * gold, b=-1.0 * gold)
        for data in (df, tied):
            best, worst = (data.rankeval.bedroc(alpha).loc[k] for k in (0, 1))
            assert (best["value"], best["ci_high"]) == (1.0, 1.0)
            assert (worst["value"], worst["ci_low"]) == (0.0, 0.0)
            assert 1e-6 < best["ci_low"] < 1
            assert 0 < worst["ci_high"] < 1 - 1e-6
        both = df.rankeval(details=True).compare_area(kind="bedroc", bedroc_alpha=alpha).loc[0]
        assert (both["area_a"], both["area_b"], both["difference"]) == (1, 0, 1)
        assert -1 <= both["ci_low"] <= both["ci_high"] <= 1


@QUIET
@pytest.mark.parametrize("levels", [200, 20, 5])
def test_limits_near_1_do_not_reach_0(levels):
    """One exchanged pair: the logit scale turned a small error into [0, 1]."""
    gold = np.arange(200) < 100
    found = []
    for place in (50, 75, 99):
        gold_of = gold.copy()
        gold_of[[place, 100]] = False, True
        df = pd.DataFrame({"a": -(np.arange(200) * levels // 200), "gold": gold_of})
        found += [df.rankeval.bedroc(alpha).loc[0] for alpha in (20.0, 80.5)]
    for row in found:
        assert 0.01 < row["ci_low"] < row["value"] <= row["ci_high"] <= 1


def test_no_candidate_of_a_perfect_ranking_changes_bedroc():
    """Deleting a candidate leaves the value at 1, so that all influences are equal."""
    for total, positive in ((12, 4), (200, 100), (1_000, 20)):
        gold = np.arange(total) < positive
        ranking = Ranking.of(-1.0 * np.arange(total), gold, np.ones(total, bool))
        assert np.abs(early.bedroc_influence(ranking, 20.0).influence).max() < 1e-12


@QUIET
def test_enrichment_is_at_most_one_over_the_lowest_plausible_prevalence():
    """N = 60 and N+ = 30; the lower Clopper-Pearson limit is a quantile of Beta(30, 31)."""
    rng = np.random.default_rng(2)
    df = pd.DataFrame({"a": -np.arange(60.0), "b": rng.normal(size=60), "gold": np.arange(60) < 30})
    least = stats.beta.ppf(0.025, 30, 31)
    row = df.rankeval(measures="a").enrichment(0.1).loc[0]
    assert row["lift"] == 2
    assert row["ci_high"] == pytest.approx(1 / least)
    curve = df.rankeval(measures="a").lift([0.05], interval="pointwise").loc[0]
    assert curve["ci_high"] == pytest.approx(1 / least)
    both = df.rankeval.compare_area("a", "b", kind="enrichment", share=0.05).loc[0]
    assert both["ci_high"] == pytest.approx(1 / least)
    dataset = xr.Dataset.from_dataframe(df.rename_axis("candidate"))[["a", "gold"]]
    assert dataset.rankeval.enrichment(0.1)["ci_high"].item() == row["ci_high"]
    grouped = df.assign(q=np.arange(60) // 5).rankeval(measures="a", groups="q").enrichment(0.1)
    assert grouped.loc[0, "ci_high"] >= 1 / least


@QUIET
@pytest.mark.parametrize(("prevalence", "quality"), [(0.5, 9.0), (0.5, 2.0), (0.3, 0.0)])
def test_capped_enrichment_covers_as_often_as_it_says(prevalence, quality):
    rng = np.random.default_rng(5)
    gold = rng.random((2_000, 60)) < prevalence
    score = gold * quality + rng.normal(size=gold.shape)
    cuts = np.linspace(-6, 16, 200_001)
    reached = stats.norm.sf(cuts - quality)
    listed = prevalence * reached + (1 - prevalence) * stats.norm.sf(cuts)
    truth = reached[np.abs(listed - 0.1).argmin()] / 0.1
    batch = xr.Dataset({"a": (("s", "candidate"), score), "gold": (("s", "candidate"), gold)})
    found = batch.rankeval.enrichment(0.1)
    covers = (found["ci_low"] <= truth) & (truth <= found["ci_high"])
    assert covers.mean() >= 0.95


def test_enrichment_is_recall_by_the_share(simulated):
    found = simulated.rankeval.enrichment([0.05, 1.0, 0.1])
    assert found["share"].tolist() == [0.05, 1.0, 0.1] * 2
    assert found["n"].tolist() == [30, 600, 60] * 2
    recall = simulated.rankeval.nbest_recall([30, 600, 60])
    times = 600 / found["n"]
    for ours, theirs in (("lift", "recall"), ("ci_low", "ci_low"), ("ci_high", "ci_high")):
        np.testing.assert_allclose(found[ours], recall[theirs] * times, rtol=1e-12)
    assert found["lift"][1] == pytest.approx(1.0)
    dataset = xr.Dataset.from_dataframe(simulated.rename_axis("candidate"))
    same = dataset.rankeval.enrichment([0.05, 0.1])
    assert same["lift"].dims == ("measure", "share")
    assert same["lift"].sel(measure="good", share=0.1).item() == pytest.approx(found["lift"][2])


def test_coverage_where_the_top_decides():
    """30 positives of 60, a range of 1.5 others: the plain interval covers .84, .85."""
    from rankeval_pd.curves.early_retrieval import bedroc_columns, partial_columns

    rng = np.random.default_rng(8)
    gold, here = np.arange(60) < 30, np.ones((1_000, 60), bool)
    score = gold + rng.normal(size=here.shape)
    rate = stats.norm.cdf(1.0 + stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000 * 0.05)).mean()
    truth = 0.5 * (1 + (rate - 0.025) / 0.975)
    found = partial_columns(
        Ranking.of(score, gold, here), limits=(0.0, 0.05), turned=False, level=0.95
    )
    assert ((found["ci_low"] <= truth) & (truth <= found["ci_high"])).mean() >= 0.95
    top = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    share = 0.5 * stats.norm.sf(top) + 0.5 * stats.norm.sf(top + 1.0)
    best = (1 - np.exp(-10.0)) / 10.0
    truth = (np.exp(-20.0 * share).mean() - best * np.exp(-10.0)) / (best - best * np.exp(-10.0))
    found = bedroc_columns(Ranking.of(score, gold, here), alpha=20.0, level=0.95)
    assert ((found["ci_low"] <= truth) & (truth <= found["ci_high"])).mean() >= 0.95


def test_areas_of_independent_samples(simulated):
    """The variances of both areas are added; Welch's degrees of freedom, by hand."""
    parts = {"x": simulated.iloc[:200], "y": simulated.iloc[200:]}
    both = pd.concat(parts, names=["part", None]).reset_index("part")
    found = both.rankeval.unpaired_area(by="part")
    alone = {name: part.rankeval.area().set_index("measure") for name, part in parts.items()}
    for row in found.itertuples():
        a, b = (alone[name].loc[row.measure] for name in ("x", "y"))
        assert (row.area_a, row.area_b) == pytest.approx((a["area"], b["area"]))
        assert row.se == pytest.approx(np.hypot(a["se"], b["se"]), rel=1e-12)
        # Newcombe's method 5, at the mean of the areas
        gold = [part["gold"] for part in parts.values()]
        sizes = [(x.sum(), (~x).sum()) for x in gold]
        weight = [p * q / (p + q) for p, q in sizes]
        mean = np.average([a["area"], b["area"]], weights=weight)
        rising = (1 - mean) / (2 - mean) + mean / (1 + mean)
        equal = sum(
            mean * (1 - mean) * (1 + ((p + q) / 2 - 1) * rising) / (p * q) for p, q in sizes
        )
        error = max(row.se, np.sqrt(equal))
        assert row.z == pytest.approx((a["area"] - b["area"]) / error, rel=1e-10)
        assert (row.ci_low <= 0 <= row.ci_high) == (row.p_value > 0.05)
        # from the normal law to Student's with the smallest class's freedom
        least = 2 * stats.norm.sf(abs(row.z)) * (1 - 1e-12)
        assert least <= row.p_value < 2 * stats.t.sf(abs(row.z), 20)
    turned = both.assign(part=both["part"].map({"x": 2, "y": 1})).rankeval.unpaired_area(by="part")
    np.testing.assert_allclose(turned["difference"], -found["difference"])
    np.testing.assert_allclose(turned["ci_low"], -found["ci_high"])
    assert turned["sample_a"].tolist() == [1, 1]


def test_average_precisions_that_do_not_vary_have_no_test():
    """Scores that are all equal: each value is the prevalence, whatever the sample."""
    gold = [1] * 4 + [0] * 16 + [1] * 13 + [0] * 16
    df = pd.DataFrame({"a": 1.0, "gold": gold, "part": [0] * 20 + [1] * 29})
    row = df.rankeval(by="part", details=True).unpaired_area(kind="ap").iloc[0]
    assert row["difference"] == pytest.approx(4 / 20 - 13 / 29)
    assert row["ci_low"] < row["difference"] < row["ci_high"]
    assert np.isnan(row["p_value"])
    assert pd.isna(row["better"])


@QUIET
def test_unpaired_areas_of_several_samples_and_of_datasets(simulated):
    thirds = simulated.assign(part=np.arange(600) % 3, flag=np.arange(600) // 300)
    found = thirds.rankeval(exclude="flag").unpaired_area(by="part", adjust="holm")
    assert found["sample_a"].tolist() == [0, 0, 1] * 2
    assert found["sample_b"].tolist() == [1, 2, 2] * 2
    assert (found["p_adjusted"] >= found["p_value"]).all()
    pairs = thirds.rankeval.unpaired_area(by=["part", "flag"], measures="good")
    assert pairs["sample_a"][0] == (0, 0)
    assert len(pairs) == 15
    dataset = xr.concat(
        [
            xr.Dataset.from_dataframe(
                part.drop(columns=["part", "flag"]).reset_index(drop=True)
                .rename_axis("candidate")
            )
            for _, part in thirds.groupby("part")
        ],
        "part",
    )  # fmt: skip
    same = dataset.rankeval.unpaired_area(adjust="holm")
    assert same["p_value"].dims == ("pair", "measure")
    for column in ("difference", "ci_low", "p_value", "p_adjusted"):
        np.testing.assert_allclose(same[column].to_numpy().T.ravel(), found[column], rtol=1e-10)
    two = xr.concat([dataset, dataset.isel(part=[1, 2, 0])], "half").rankeval.unpaired_area()
    assert two["sample_a"].to_numpy().tolist()[:3] == [(0, 0), (0, 0), (0, 0)]
    assert two["sample_b"].to_numpy().tolist()[:3] == [(0, 1), (0, 2), (1, 0)]


def test_bad_questions(simulated):
    with pytest.raises(ValueError, match=r"unpaired_area compares independent samples"):
        simulated.rankeval.unpaired_area()
    with pytest.raises(
        ValueError, match=r"fpr=None, tpr=None: pass the largest false positive rate"
    ):
        simulated.rankeval.partial_area()
    with pytest.raises(ValueError, match=r"fpr=1.5"):
        simulated.rankeval.partial_area(fpr=1.5)
    with pytest.raises(ValueError, match=r"alpha=-1"):
        simulated.rankeval.bedroc(-1)
    with pytest.raises(ValueError, match=r"share=0"):
        simulated.rankeval.enrichment(0.0)


@pytest.mark.parametrize("quality", [1.0, 2.0, 3.0])
def test_precisions_of_unequal_samples_hold_their_level(quality):
    """10 positives against 100; p is where the interval of this level ends at 0."""
    rng = np.random.default_rng(3)

    def sample(positive):
        gold = np.arange(10 * positive) < positive
        score = rng.normal(size=(600, gold.size)) + quality * gold
        return sample_area(Ranking.of(score, gold, np.ones(gold.size, bool)), kind="ap")

    few, many = sample(10), sample(100)
    both = {name: np.stack([few[name], many[name]]) for name in few}

    def compared(cells, level=0.95, alternative="two-sided"):
        options = AreaOptions(
            kind="ap",
            test="t",
            level=level,
            alpha=1.0 - level,
            alternative=alternative,
            adjust=None,
        )
        return compare_samples(cells, np.array([[0, 1]]), ["few", "many"], options)

    found = compared(both)
    low, high, p = found["ci_low"], found["ci_high"], found["p_value"]
    assert (p <= 0.05).mean() <= 0.06
    assert (((low > 0) | (high < 0)) == (p <= 0.05)).all()
    for k in range(3):
        edge = compared({name: x[:, k : k + 1] for name, x in both.items()}, level=1 - p[k])
        assert min(abs(edge["ci_low"][0]), abs(edge["ci_high"][0])) < 1e-6
    greater, less = (compared(both, alternative=side)["p_value"] for side in ("greater", "less"))
    np.testing.assert_allclose(greater + less, 1.0)
    np.testing.assert_allclose(2 * np.minimum(greater, less), p)
