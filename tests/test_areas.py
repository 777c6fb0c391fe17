"""Areas and average precision: R, scikit-learn, all pairs, all orders of labels."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from rankeval_pd import RankevalWarning, datasets
from rankeval_pd.lists.measure_ranks import pairs_tested, rank_options
from rankeval_pd.stats import areas as early
from rankeval_pd.stats import areas as roc_areas
from rankeval_pd.stats.ranking import Ranking

R = pd.read_csv(Path(__file__).parent / "simulations" / "delong.csv", comment="#")
SCORED = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=15)


@pytest.fixture(scope="module")
def simulated() -> pd.DataFrame:
    quality = {"good": 1.5, "fair": 1.0, "poor": 0.3}
    return datasets.simulate_candidates(300, decimals=1, baseline=0.2, quality=quality)


def test_areas_and_intervals_of_r(simulated):
    """R: DeLong's covariance from all candidate pairs, and wilcox.test."""
    found = simulated.rankeval.area(ci="delong")
    same = R[R["measure_a"] == R["measure_b"]]
    assert found["measure"].tolist() == same["measure_a"].tolist()
    for ours, theirs in (("area", "area_a"), ("ci_low", "ci_low_a"), ("ci_high", "ci_high_a")):
        np.testing.assert_allclose(found[ours], same[theirs], rtol=1e-13)
    assert (found["chance"] == 0.5).all()
    positive = int(simulated["gold"].sum())
    pairs = positive * (len(simulated) - positive)
    np.testing.assert_allclose(found["area"], same["wilcoxon"] / pairs, rtol=1e-15)


def test_delongs_test_of_r(simulated):
    """R: DeLong's covariance from all candidate pairs."""
    found = simulated.rankeval.compare_area(test="delong")
    pairs = R[R["measure_a"] != R["measure_b"]]
    assert found[["measure_a", "measure_b"]].to_numpy().tolist() == (
        pairs[["measure_a", "measure_b"]].to_numpy().tolist()
    )
    for column in ("area_a", "area_b", "z", "p_value"):
        np.testing.assert_allclose(found[column], pairs[column], rtol=1e-11)
    np.testing.assert_allclose(found["difference"], pairs["area_a"] - pairs["area_b"], rtol=1e-12)
    half = stats.norm.ppf(0.975) * found["difference"] / found["z"]
    np.testing.assert_allclose(found["ci_low"], found["difference"] - half, rtol=1e-12)
    np.testing.assert_allclose(found["ci_high"], found["difference"] + half, rtol=1e-12)
    assert "p_adjusted" not in found
    p = found["p_value"]
    held = simulated.rankeval.compare_area(test="delong", adjust="holm")
    assert held["p_adjusted"].to_numpy() == pytest.approx(
        [2 * p[0], 3 * p[1], max(2 * p[0], p[2])], rel=1e-14
    )


def test_ratings_of_hanley_and_mcneil():
    """J. A. Hanley and B. J. McNeil (1982), Radiology 143, Table I: 109 images, area .893."""
    normal, abnormal = [33, 6, 6, 11, 2], [3, 2, 2, 11, 33]
    rating = np.repeat(np.tile(range(1, 6), 2), normal + abnormal)
    df = pd.DataFrame({"rating": rating, "gold": np.repeat([False, True], [58, 51])})
    found = df.rankeval.area(ci="delong").loc[0]
    assert f"{found['area']:.3f}" == "0.893"
    assert found["area"] == metrics.roc_auc_score(df["gold"], df["rating"])
    # the paper's standard error is .032, of Wilcoxon's statistic
    se = (found["ci_high"] - found["area"]) / stats.norm.ppf(0.975)
    assert se == pytest.approx(0.032, abs=0.002)
    assert found["se"] == pytest.approx(se, rel=1e-12)


FEW = pytest.mark.filterwarnings("ignore:(compare_)?area. a class has:rankeval_pd.RankevalWarning")


@FEW
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings(
    "ignore:the area is significantly below 0.5:rankeval_pd.RankevalWarning"
)
@given(SCORED)
def test_against_scikit_learn(rows):
    """scikit-learn's roc_auc_score and average_precision_score."""
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score, "gold": gold})
    roc, ap = df.rankeval.area().loc[0], df.rankeval.area("ap").loc[0]
    if not gold.any():
        assert np.isnan([roc["area"], roc["chance"], ap["area"], ap["chance"]]).all()
    else:
        wanted = metrics.average_precision_score(gold, score)
        assert ap["area"] == pytest.approx(wanted, rel=1e-14)
        if gold.all():
            assert np.isnan(roc["area"])
            assert ap["chance"] == pytest.approx(1.0, rel=1e-14)
        else:
            wanted = metrics.roc_auc_score(gold, score)
            assert roc["area"] == pytest.approx(wanted, rel=1e-14, abs=1e-15)
    enough = gold.sum() > 1 and (~gold).sum() > 1
    assert np.isnan([ap["ci_low"], ap["ci_high"]]).any() != enough
    if enough:
        assert 0 <= ap["ci_low"] <= ap["area"] + 1e-15
        assert ap["area"] <= ap["ci_high"] + 1e-15 <= 1 + 1e-14
    assert np.isnan([roc["ci_low"], roc["ci_high"]]).any() != enough


@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings(
    "ignore:the area is significantly below 0.5:rankeval_pd.RankevalWarning"
)
@FEW
@given(SCORED)
def test_the_test_of_one_half_agrees_with_the_interval(rows):
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score, "gold": gold})
    for ci in ("newcombe", "delong", "logit"):
        row = df.rankeval.area(ci=ci, level=0.9).loc[0]
        if np.isnan(row["p_value"]):
            assert np.isnan(row["ci_low"]) or row["se"] == 0
        elif abs(row["p_value"] - 0.1) > 1e-6:
            assert (row["p_value"] <= 0.1) != (row["ci_low"] <= 0.5 <= row["ci_high"])


def test_the_test_of_one_half_is_z_and_wald(simulated):
    row = simulated.rankeval.area(ci="delong", measures="poor").loc[0]
    z = (row["area"] - 0.5) / row["se"]
    assert row["p_value"] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12)


@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@FEW
@given(SCORED, st.booleans())
def test_average_precision_as_the_mean_over_orders(rows, test_pairs):
    """The tie average is the mean over all orders of equal scores, by enumeration."""
    rows = rows[:6]
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    if not gold.any():
        return
    df = pd.DataFrame({"a": score, "gold": gold})
    values = [
        metrics.average_precision_score(gold[list(order)], -np.arange(len(order)))
        for order in itertools.permutations(range(len(rows)))
        if (np.diff(score[list(order)]) <= 0).all()
    ]
    found = df.rankeval.area("ap", equal="mean").loc[0]
    assert found["area"] == pytest.approx(np.mean(values), rel=1e-13)
    no_ties = df.assign(a=-np.arange(len(df))).rankeval.area("ap").loc[0]
    assert found["chance"] == pytest.approx(no_ties["chance"], rel=1e-13)


@pytest.mark.full
def test_standard_error_of_average_precision_is_that_of_resamples(simulated):
    """Of both ways of ties and of a difference, from 4,000 stratified resamples."""
    rng = np.random.default_rng(5)
    gold = simulated["gold"].to_numpy()
    parts = [np.flatnonzero(gold), np.flatnonzero(~gold)]
    rows = np.hstack([rng.choice(part, (4_000, part.size)) for part in parts])
    scores = [np.round(simulated[name].to_numpy(), 0) for name in ("good", "fair")]
    df = pd.DataFrame({"a": scores[0], "b": scores[1], "gold": gold})
    for equal, ties in (("block", "blocks"), ("mean", "expected")):
        drawn = [
            early.influences(
                Ranking.of(x[rows], gold[rows], np.ones(rows.shape, bool)), ties=ties
            ).value
            for x in scores
        ]
        found = df.rankeval.area("ap", equal=equal)
        np.testing.assert_allclose(found["se"], [x.std() for x in drawn], rtol=0.12)
        pair = df.rankeval.compare_area("a", "b", kind="ap", equal=equal).loc[0]
        assert pair["se"] == pytest.approx((drawn[0] - drawn[1]).std(), rel=0.12)
        assert pair["area_a"] == found["area"][0]
        _agrees(pair)


def test_ranks_by_average_precision_agree_with_area(simulated):
    ranks = simulated.rankeval.measure_ranks(kind="ap").set_index("measure")
    alone = simulated.rankeval.area("ap").set_index("measure").loc[ranks.index]
    np.testing.assert_allclose(ranks["value"], alone["area"], rtol=1e-14)
    own = ranks[["ci_low_alone", "ci_high_alone"]]
    np.testing.assert_allclose(own, alone[["ci_low", "ci_high"]])


@pytest.mark.filterwarnings("ignore:area. a class has only 8:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:compare_area. a class has only 8:rankeval_pd.RankevalWarning")
def test_pairs_behind_ranks_are_those_of_compare_area():
    rng = np.random.default_rng(3)
    gold = np.arange(80) < 8
    df = pd.DataFrame({k: rng.normal(size=80) + gold for k in "abc"} | {"gold": gold})
    ranks = df.rankeval.summary(baseline="a", adjust=None)
    pairs = df.rankeval.compare_area("a", kind="ap").set_index("measure_b")["p_value"]
    mine = ranks.set_index("measure")["p_value"].drop("a")
    np.testing.assert_allclose(mine, pairs.loc[mine.index], rtol=1e-9)
    asked = rank_options(None, "roc", None, None, 0.95)
    tested = pairs_tested(df, asked, {}).set_index(["measure_a", "measure_b"])["p_value"]
    pairs = df.rankeval.compare_area().set_index(["measure_a", "measure_b"])["p_value"]
    np.testing.assert_allclose(tested, pairs.loc[tested.index], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings(
    "ignore:the area is significantly below 0.5:rankeval_pd.RankevalWarning"
)
@FEW
@given(SCORED)
def test_a_comparison_of_average_precision_agrees_with_itself(rows):
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score, "b": (score * 7) % 5, "gold": gold})
    row = df.rankeval.compare_area("a", "b", kind="ap").loc[0]
    if not np.isnan(row["p_value"]):
        _agrees(row)


@pytest.mark.full
def test_coverage_of_average_precision_where_positives_are_few_and_rare():
    """The interval around AP alone begins above the truth in .055 of the samples."""
    rng = np.random.default_rng(6)
    gold, here = np.arange(3_000) < 30, np.ones(3_000, bool)
    quantiles = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    tp, fp = 0.01 * stats.norm.sf(quantiles), 0.99 * stats.norm.sf(quantiles + 1.0)
    truth = (tp / (tp + fp)).mean()
    result = early.influences(Ranking.of(gold + rng.normal(size=(600, 3_000)), gold, here))
    error = np.sqrt(roc_areas.area_spread(result.influence, gold, here).variance)
    low, high = early.ap_limits(result.value, result.corrected, error, np.full(600, 29), 30, 0.95)
    assert (low > truth).mean() <= 0.03
    assert (high < truth).mean() <= 0.05


def test_options_of_the_other_area_are_refused(simulated):
    with pytest.raises(ValueError, match="ci='delong' is an interval for the ROC area"):
        simulated.rankeval.area("ap", ci="delong")
    with pytest.raises(ValueError, match="test='delong' requires kind='roc'"):
        simulated.rankeval.compare_area(kind="ap", test="delong")


@FEW
def test_average_precision_of_groups_of_one_candidate_is_nearly_that_of_none(simulated):
    """Groups that hold one candidate each: nearly the variance of single candidates.

    And that of the number of true positives, which varies with the groups that are drawn.
    """
    alone = simulated.rankeval.area("ap")
    own = simulated.assign(doc=np.arange(len(simulated))).rankeval(groups="doc", exclude="doc")
    found = own.area("ap")
    np.testing.assert_allclose(found["area"], alone["area"], rtol=1e-14)
    gold, moved = simulated["gold"].to_numpy(), []
    for name in found["measure"]:
        ranked = gold[np.argsort(-simulated[name].to_numpy(), kind="stable")]
        precision = (np.cumsum(ranked) / np.arange(1, ranked.size + 1))[ranked]
        moved.append((precision * (1 - precision)).mean())
    share = np.array(moved) ** 2 * (1 / gold.sum() + 1 / (~gold).sum())
    np.testing.assert_allclose(found["se"], np.sqrt(alone["se"] ** 2 + share), rtol=0.02)
    assert (found["n_groups"] == simulated["gold"].sum()).all()
    pair = own.compare_area("good", "fair", kind="ap").loc[0]
    assert pair["ci_low"] < pair["difference"] < pair["ci_high"]


@pytest.mark.full
@FEW
@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings(
    "ignore:the area is significantly below 0.5:rankeval_pd.RankevalWarning"
)
@given(SCORED)
def test_all_pairs(rows):
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    other = (score * 7) % 5
    df = pd.DataFrame({"a": score, "b": other, "gold": gold})
    found = df.rankeval.compare_area("a", "b", test="delong").loc[0]
    if gold.sum() < 2 or (~gold).sum() < 2:
        assert np.isnan(found["p_value"])
        return
    kernels = []
    for x in (score, other):
        wins = [
            [Fraction(int(p > q)) + Fraction(int(p == q), 2) for q in x[~gold].tolist()]
            for p in x[gold].tolist()
        ]
        kernels.append(np.array(wins, dtype=object))
    k = kernels[0] - kernels[1]
    difference = k.mean()
    variance, weighted = Fraction(0), Fraction(0)
    for parts in (k.mean(axis=1), k.mean(axis=0)):
        mean = sum(parts) / len(parts)
        part = sum((x - mean) ** 2 for x in parts) / (len(parts) - 1) / len(parts)
        variance, weighted = variance + part, weighted + part**2 / (len(parts) - 1)
    assert found["difference"] == pytest.approx(float(difference), abs=1e-14)
    if variance == 0:
        assert found["z"] == 0 if difference == 0 else np.isnan(found["z"])
        assert found["p_value"] == 1 if difference == 0 else np.isnan(found["p_value"])
    else:
        z = float(difference) / float(variance) ** 0.5
        assert found["z"] == pytest.approx(z, rel=1e-9, abs=1e-12)
        assert found["p_value"] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)
        least = min(k.shape) - 1  # of fewer than 5 candidates
        freedom = least if least < 4 else float(variance**2 / weighted)
        for side in ("two-sided", "greater", "less"):
            student = df.rankeval.compare_area("a", "b", alternative=side).loc[0]
            p = {
                "two-sided": 2 * stats.t.sf(abs(z), freedom),
                "greater": stats.t.sf(z, freedom),
                "less": stats.t.cdf(z, freedom),
            }[side]
            assert student["p_value"] == pytest.approx(p, rel=1e-9)
            assert student["se"] == pytest.approx(float(variance) ** 0.5, rel=1e-9)
        _agrees(df.rankeval.compare_area("a", "b").loc[0])


def _agrees(row) -> None:
    """The interval holds 0 where, and only where, the test does not reject."""
    held = row["ci_low"] <= 0 <= row["ci_high"]
    assert held == (row["p_value"] > 0.05)
    assert -1 <= row["ci_low"] <= row["difference"] <= row["ci_high"] <= 1


@pytest.mark.parametrize("score", [[9, 8, 7, 6, 5, 4, 3], [3, 3, 2, 2, 2, 1, 1], [1] * 7])
@pytest.mark.parametrize("positive", [1, 3, 6])
def test_chance_is_the_mean_over_all_orders_of_labels(score, positive):
    values = []
    for chosen in itertools.combinations(range(7), positive):
        gold = np.isin(range(7), chosen)
        values.append(metrics.average_precision_score(gold, score))
    df = pd.DataFrame({"a": score, "gold": np.arange(7) < positive})
    found = df.rankeval.area("ap").loc[0]
    assert found["chance"] == pytest.approx(np.mean(values), rel=1e-13)


@pytest.mark.parametrize("ties", ["shared", "blocks"])
def test_ties_change_nothing(simulated, ties):
    found = simulated.rankeval(ties=ties, rng=3).area()
    pd.testing.assert_frame_equal(found, simulated.rankeval.area())
    for data in (simulated.rankeval(ties="expected"), simulated.rankeval(ties="best")):
        pd.testing.assert_frame_equal(data.area("ap"), simulated.rankeval.area("ap"))
        pd.testing.assert_frame_equal(data.compare_area(), simulated.rankeval.compare_area())


def test_a_measure_and_its_copy(simulated):
    df = simulated[["good", "gold"]].assign(copy=simulated["good"] * 3 + 1)
    found = df.rankeval.compare_area("good", "copy").loc[0]
    assert found[["difference", "ci_low", "ci_high", "z"]].tolist() == [0, 0, 0, 0]
    assert found["p_value"] == 1


@FEW
@pytest.mark.filterwarnings(
    "ignore:the area is significantly below 0.5:rankeval_pd.RankevalWarning"
)
def test_a_perfect_ranking_and_its_reverse():
    df = pd.DataFrame({"a": range(6), "b": range(6, 0, -1), "gold": [False] * 3 + [True] * 3})
    found = df.rankeval.compare_area().loc[0]
    assert found["difference"] == 1
    assert found[["z", "p_value"]].isna().all()
    single = df.rankeval.area()
    assert single["area"].tolist() == [1, 0]
    assert single.loc[0, ["ci_low", "ci_high"]].tolist() == [
        pytest.approx(1 - single.loc[1, "ci_high"], abs=1e-12), 1,
    ]  # fmt: skip
    assert 0.3 < single.loc[0, "ci_low"] < 0.9  # three of three say little


def test_newcombes_method():
    """The limits solve (area - x)^2 = z^2 V(x), where DeLong's variance is the smaller one."""
    area, sizes = np.array([0.8, 0.97]), (np.array(10), np.array(30))
    none = roc_areas.AreaSpread(np.zeros(2), np.array([9.0, 9.0]), *sizes)
    low, high = roc_areas.newcombe_limits(area, none, 0.95)
    for x, limit in ((area, low), (area, high)):
        q1, q2 = (1 - limit) / (2 - limit), limit / (1 + limit)
        variance = limit * (1 - limit) * (1 + 19 * q1 + 19 * q2) / 300
        gap = (x - limit) ** 2 / stats.norm.ppf(0.975) ** 2
        np.testing.assert_allclose(gap, variance, rtol=1e-9)
    large = roc_areas.AreaSpread(np.full(2, 0.02), np.array([9.0, 9.0]), *sizes)
    wide = roc_areas.newcombe_limits(area, large, 0.95)
    assert (wide[0] < low).all()
    assert (wide[1] > high).all()


def test_the_logit_interval_of_by_hand(simulated):
    found = simulated.rankeval.area(ci="logit")
    area, se = found["area"], found["se"]
    half = stats.norm.ppf(0.975) * se / (area * (1 - area))
    for sign, name in ((-1, "ci_low"), (1, "ci_high")):
        wanted = 1 / (1 + np.exp(-(np.log(area / (1 - area)) + sign * half)))
        np.testing.assert_allclose(found[name], wanted, rtol=1e-12)


@pytest.mark.parametrize(("least", "warned"), [(9, True), (10, False)])
def test_few_positives_are_said(least, warned):
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    df["gold"] = np.arange(60) < least
    for ask in (df.rankeval.area, df.rankeval.compare_area):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ask()
        assert [x.category for x in caught] == [RankevalWarning] * warned
        assert not caught or "a class has only 9 candidates" in str(caught[0].message)


@FEW
def test_few_positives_and_areas_near_one():
    """What DeLong's intervals and test are too narrow and too liberal for."""
    rng = np.random.default_rng(5)
    size, positive = 1000, 5
    gold = np.broadcast_to(np.arange(100) < positive, (size, 100))
    common = rng.normal(size=gold.shape)
    shift = stats.norm.ppf(0.95) * np.sqrt(2)
    ds = xr.Dataset(
        {
            name: (("sample", "candidate"), (common + rng.normal(size=gold.shape)) / 2**0.5 + s)
            for name, s in (("a", gold * shift), ("b", gold * shift))
        }
    ).assign(gold=(("sample", "candidate"), gold))
    single = ds.rankeval.area(measures="a").isel(measure=0)
    covered = (single["ci_low"] <= 0.95) & (single["ci_high"] >= 0.95)
    assert float(covered.mean()) > 0.93
    short = ds.rankeval.area(measures="a", ci="delong").isel(measure=0)
    assert float(((short["ci_low"] <= 0.95) & (short["ci_high"] >= 0.95)).mean()) < 0.8
    pair = ds.rankeval.compare_area("a", "b").isel(pair=0)
    assert float((pair["p_value"] <= 0.05).mean()) < 0.06
    assert float(((pair["ci_low"] <= 0) & (pair["ci_high"] >= 0)).mean()) > 0.94


def test_many_equal_differences_are_no_variance():
    gold = np.arange(500) < 70
    df = pd.DataFrame({"a": np.where(gold, 3, 1), "b": np.where(gold, 1, 1), "gold": gold})
    assert np.isnan(df.rankeval(measures=["a", "b"]).compare_area().loc[0, "z"])


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_missing_scores(simulated):
    holed = simulated.assign(fair=simulated["fair"].where(simulated["fair"] > -0.5))
    found = holed.rankeval(missing="drop").compare_area().set_index(["measure_a", "measure_b"])
    kept = holed.dropna().rankeval.compare_area().set_index(["measure_a", "measure_b"])
    with_fair = [("good", "fair"), ("fair", "poor")]
    pd.testing.assert_frame_equal(found.loc[with_fair], kept.loc[with_fair])
    full = simulated.rankeval.compare_area("good", "poor")
    assert found.loc[("good", "poor"), "z"] == full.loc[0, "z"]
    last = holed.rankeval(missing="last", measures="fair").area().loc[0, "area"]
    wanted = metrics.roc_auc_score(holed["gold"], holed["fair"].fillna(-99))
    assert last == pytest.approx(wanted, rel=1e-14)


@FEW
def test_groups_and_datasets(ragged):
    asked = (lambda x: x.area("ap"), lambda x: x.area(), lambda x: x.compare_area("a"))
    for ask in asked:
        found = ask(ragged.rankeval(by="query"))
        parts = [ask(part.rankeval(by="query")) for _, part in ragged.groupby("query")]
        pd.testing.assert_frame_equal(found, pd.concat(parts, ignore_index=True))
    rng = np.random.default_rng(0)
    ds = xr.Dataset(
        {
            "a": (("query", "candidate"), rng.integers(0, 5, (3, 20)).astype(float)),
            "b": (("query", "candidate"), rng.normal(size=(3, 20))),
            "gold": (("query", "candidate"), rng.random((3, 20)) < 0.4),
        }
    )
    assert ds.rankeval.area()["area"].dims == ("query", "measure")
    found = ds.rankeval.compare_area(adjust="bh", adjust_over="group")
    assert found["p_adjusted"].dims == ("query", "pair")
    lazy = ds.chunk({"query": 1}).rankeval.compare_area(adjust="bh", adjust_over="group")
    assert lazy["z"].chunks is not None
    xr.testing.assert_allclose(lazy.compute(), found)
    frame = ds.isel(query=1).to_dataframe().rankeval.compare_area(adjust="bh")
    one = found.isel(query=1).to_dataframe().reset_index()
    one = one.astype({name: frame[name].dtype for name in ("better", "leaning")})
    pd.testing.assert_frame_equal(one[list(frame.columns)], frame)


def test_coverage_of_the_interval():
    """95 % of the intervals hold the area of the population, Phi(1 / sqrt(2)); s.e. .007."""
    true = stats.norm.cdf(1 / np.sqrt(2))
    rng = np.random.default_rng(11)
    gold = rng.random((1000, 200)) < 0.3
    ds = xr.Dataset(
        {
            "a": (("sample", "candidate"), rng.normal(size=gold.shape) + gold),
            "gold": (("sample", "candidate"), gold),
        }
    )
    found = ds.rankeval.area()
    inside = (found["ci_low"] <= true) & (true <= found["ci_high"])
    assert 0.93 < float(inside.mean()) < 0.97


def test_size_of_the_test():
    """Two measures of equal quality: 5 % of the p-values are at most .05; s.e. .007."""
    rng = np.random.default_rng(12)
    gold = rng.random((1000, 150)) < 0.3
    common = rng.normal(size=gold.shape) + gold
    ds = xr.Dataset(
        {
            "a": (("sample", "candidate"), common + rng.normal(size=gold.shape)),
            "b": (("sample", "candidate"), common + rng.normal(size=gold.shape)),
            "gold": (("sample", "candidate"), gold),
        }
    )
    found = ds.rankeval.compare_area("a", "b")["p_value"]
    assert 0.03 < float((found <= 0.05).mean()) < 0.075


@pytest.mark.parametrize(
    ("keywords", "message"),
    [({"kind": "pr"}, r"kind='pr' is not one of 'roc', 'ap'"), ({"level": 95}, r"level=95")],
)
def test_errors_of_area(frame, keywords, message):
    with pytest.raises(ValueError, match=message):
        frame.rankeval.area(**keywords)
    with pytest.raises(ValueError, match=r"adjust='max-t' is not one of None, 'holm'"):
        frame.rankeval.compare_area(adjust="max-t")


def test_areas_below_chance_hint_at_the_direction():
    """A measure that ranks the true positives last by more than chance may be turned round."""
    df = datasets.simulate_candidates(300, quality={"good": 1.5, "cost": -1.5})
    with pytest.warns(RankevalWarning, match=r"1 of 2 rankings .* lower_is_better"):
        assert df.rankeval.area()["area"][1] < 0.2
    assert df.rankeval(lower_is_better="cost").area()["area"].min() > 0.8


def test_degrees_of_freedom_of_uneven_clusters():
    """One less than clusters of one size are, by the chance that two candidates are of one."""
    gold, even = np.tile([True, False], 40), np.repeat(np.arange(20), 4)
    uneven = np.where(np.arange(80) < 56, np.arange(80) // 14, np.arange(80) // 2)
    placement = np.random.default_rng(0).random(80)
    for cluster in (even, uneven):
        count = np.bincount(np.unique(cluster[gold], return_inverse=True)[1])
        alike = min(40 * 39 / max((count * (count - 1)).sum(), 1), count.size) - 1
        own, given = max(alike, 4), (placement, gold, np.ones(80, bool), cluster)
        found = roc_areas.cluster_spread(*given, alone=True)
        np.testing.assert_allclose(found.freedom, own, rtol=1e-12)
        found = roc_areas.cluster_spread(*given)  # a difference has more below 7
        np.testing.assert_allclose(found.freedom, 2 / (1 / own + 1 / max(own, 7)), rtol=1e-12)
    two = np.arange(80) // 40
    found = roc_areas.cluster_spread(placement, gold, np.ones(80, bool), two)
    np.testing.assert_allclose(found.freedom, 1.0, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:area. a class has only 3:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:compare_area. a class has only 3:rankeval_pd.RankevalWarning")
def test_few_positives_have_their_own_degrees_of_freedom():
    """Of 3 positives Student's with 2; their placements may be equal by chance (SciPy's t)."""
    rng = np.random.default_rng(1)
    gold = np.arange(60) < 3
    scores = rng.normal(size=(2, 1_000, 60)) + 0.4 * gold
    dims = ("sample", "candidate")
    ds = xr.Dataset({"a": (dims, scores[0]), "b": (dims, scores[1]), "gold": ("candidate", gold)})
    found = ds.rankeval.compare_area("a", "b").isel(pair=0)
    wanted = 2 * stats.t.sf(np.abs(found["z"]), 2)
    np.testing.assert_allclose(found["p_value"], wanted, rtol=1e-12)
    assert (found["p_value"] <= 0.05).mean() <= 0.06
    assert (found["p_value"] <= 0.001).mean() <= 0.002
    excludes = (found["ci_low"] > 0) | (found["ci_high"] < 0)
    assert (excludes == (found["p_value"] <= 0.05)).all()


def test_ranks_of_few_positives_warn_and_chance_is_area_s():
    rng = np.random.default_rng(2)
    gold = np.arange(95) < 9
    df = pd.DataFrame({k: rng.normal(size=95) + 1.1 * gold for k in "abcd"} | {"gold": gold})
    with pytest.warns(RankevalWarning, match=r"a class has only 9 candidates"):
        table = df.rankeval.summary().set_index("measure")
    with pytest.warns(RankevalWarning, match=r"a class has only 9 candidates"):
        df.rankeval.measure_ranks(kind="roc")
    with pytest.warns(RankevalWarning, match=r"a class has only 9 candidates"):
        areas = df.rankeval.area().set_index("measure").loc[table.index]
    one_sided = areas["p_value"] / 2 * 4
    wanted = (areas["area"] > 0.5) & (one_sided <= 0.05)
    assert table["better_than_chance"].tolist() == wanted.tolist()


def test_equal_areas_differ_by_exactly_zero():
    """One positive moves up past a negative, and another moves down past one."""
    rng = np.random.default_rng(0)
    for positives, negatives in itertools.product((9, 15, 22), (9, 13, 29, 37)):
        order = rng.permutation(np.repeat([True, False], [positives, negatives]))
        gold = np.r_[[True, False], order, [False, True]]
        other = np.r_[[False, True], order, [True, False]]
        score = np.arange(gold.size, dtype=float)
        second = np.empty(gold.size)
        for label in (True, False):
            second[gold == label] = score[other == label]
        data = pd.DataFrame({"a": score, "b": second, "gold": gold})
        found = data.rankeval.compare_area(measures=["a", "b"], details=True).iloc[0]
        assert found["area_a"] == found["area_b"]
        assert found["difference"] == found["z"] == 0.0
        assert found["p_value"] == 1.0
        # the area from counts of all pairs, as a fraction
        wins = sum(
            int(score[i] > score[j]) for i in np.flatnonzero(gold) for j in np.flatnonzero(~gold)
        )
        wanted = Fraction(wins, int(gold.sum()) * int((~gold).sum()))
        assert found["area_a"] == float(wanted)
