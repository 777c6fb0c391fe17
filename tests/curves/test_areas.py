"""One area, and areas of independent samples: R, scikit-learn, enumeration, published ratings."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from scipy import integrate, stats
from sklearn import metrics

from rankeval_pd import RankevalWarning, datasets
from rankeval_pd.stats import areas
from tests.curves.conftest import QUIET, SCORED

REFERENCE = Path(__file__).parents[1] / "simulations"

# -------------------------------------------------------------------------------- the ROC area


def test_areas_and_intervals_of_r(simulated):
    """R: DeLong's covariance from all candidate pairs, and wilcox.test."""
    pairs = pd.read_csv(REFERENCE / "delong.csv", comment="#")
    same = pairs[pairs["measure_a"] == pairs["measure_b"]]
    found = simulated.rankeval.area(ci="delong")
    assert found["measure"].tolist() == same["measure_a"].tolist()
    for ours, theirs in (("area", "area_a"), ("ci_low", "ci_low_a"), ("ci_high", "ci_high_a")):
        np.testing.assert_allclose(found[ours], same[theirs], rtol=1e-13)
    assert (found["chance"] == 0.5).all()
    positive = int(simulated["gold"].sum())
    wilcoxon = same["wilcoxon"] / (positive * (len(simulated) - positive))
    np.testing.assert_allclose(found["area"], wilcoxon, rtol=1e-15)
    z = (found["area"] - 0.5) / found["se"]  # the test of one half is Wald's
    np.testing.assert_allclose(found["p_value"], 2 * stats.norm.sf(abs(z)), rtol=1e-12)


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


@QUIET
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
    for row in (roc, ap):
        assert np.isnan([row["ci_low"], row["ci_high"]]).any() != enough
    if enough:
        assert 0 <= ap["ci_low"] <= ap["area"] + 1e-15
        assert ap["area"] <= ap["ci_high"] + 1e-15 <= 1 + 1e-14


def test_ties_change_nothing(simulated):
    for ties in ("shared", "expected", "best"):
        data = simulated.rankeval(ties=ties)
        for ask in (lambda x: x.area(), lambda x: x.area("ap"), lambda x: x.compare_area()):
            pd.testing.assert_frame_equal(ask(data), ask(simulated.rankeval))


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_missing_scores(simulated):
    holed = simulated.assign(fair=simulated["fair"].where(simulated["fair"] > -0.5))
    found = holed.rankeval(missing="drop").compare_area().set_index(["measure_a", "measure_b"])
    full = simulated.rankeval.compare_area("good", "poor")
    assert found.loc[("good", "poor"), "z"] == full.loc[0, "z"]
    last = holed.rankeval(missing="last", measures="fair").area().loc[0, "area"]
    wanted = metrics.roc_auc_score(holed["gold"], holed["fair"].fillna(-99))
    assert last == pytest.approx(wanted, rel=1e-14)


# -------------------------------------------------------------- intervals, tests of one half


@QUIET
@given(SCORED)
def test_the_test_of_one_half_agrees_with_the_interval(rows):
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score, "gold": gold})
    for ci in ("newcombe", "delong"):
        row = df.rankeval.area(ci=ci, level=0.9).loc[0]
        if np.isnan(row["p_value"]):
            assert np.isnan(row["ci_low"]) or row["se"] == 0
        elif abs(row["p_value"] - 0.1) > 1e-6:
            assert (row["p_value"] <= 0.1) != (row["ci_low"] <= 0.5 <= row["ci_high"])


@QUIET
def test_two_scores_have_mann_whitneys_test():
    rng = np.random.default_rng(5)
    gold = np.arange(120) < 20
    for sure, wrong in [(0.6, 0.3), (0.3, 0.1), (0.5, 0.5)] * 4:
        score = (rng.random(120) < np.where(gold, sure, wrong)) * 1.0
        if len(set(score[gold])) < 2:
            continue
        row = pd.DataFrame({"rule": score, "gold": gold}).rankeval.area(details=True).loc[0]
        wanted = stats.mannwhitneyu(
            score[gold], score[~gold], method="asymptotic", use_continuity=False
        )
        assert row["p_value"] == pytest.approx(wanted.pvalue, rel=1e-9)
        assert (row["p_value"] <= 0.05) == (row["ci_low"] > 0.5 or row["ci_high"] < 0.5)


def test_newcombes_method():
    """The limits solve (area - x)^2 = z^2 V(x), where DeLong's variance is the smaller one."""
    area, sizes = np.array([0.8, 0.97]), (np.array(10), np.array(30))
    none = areas.AreaSpread(np.zeros(2), np.array([9.0, 9.0]), *sizes)
    low, high = areas.newcombe_limits(area, none, 0.95)
    for x, limit in ((area, low), (area, high)):
        q1, q2 = (1 - limit) / (2 - limit), limit / (1 + limit)
        variance = limit * (1 - limit) * (1 + 19 * q1 + 19 * q2) / 300
        gap = (x - limit) ** 2 / stats.norm.ppf(0.975) ** 2
        np.testing.assert_allclose(gap, variance, rtol=1e-9)
    large = areas.AreaSpread(np.full(2, 0.02), np.array([9.0, 9.0]), *sizes)
    wide = areas.newcombe_limits(area, large, 0.95)
    assert (wide[0] < low).all()
    assert (wide[1] > high).all()


@QUIET
def test_a_perfect_ranking_and_its_reverse():
    df = pd.DataFrame({"a": range(6), "b": range(6, 0, -1), "gold": [False] * 3 + [True] * 3})
    pair = df.rankeval.compare_area().loc[0]
    assert pair["difference"] == 1
    assert np.isnan(pair["z"])
    # of three candidates in each class, 0.4 are missed: Student's t of 1 / (0.4 / 3 + 0.4 / 3)
    tail = stats.t.sf(3.75, 2)
    for alternative, p in (("two-sided", 2 * tail), ("greater", 1 - tail), ("less", tail)):
        row = df.rankeval.compare_area("b", "a", alternative=alternative).loc[0]
        assert row["p_value"] == pytest.approx(p, rel=1e-3)
    best, worst = (df.rankeval.area().loc[k] for k in (0, 1))
    assert (best["area"], worst["area"], best["ci_high"]) == (1, 0, 1)
    assert best["ci_low"] == pytest.approx(1 - worst["ci_high"], abs=1e-12)
    assert 0.3 < best["ci_low"] < 0.9  # three of three say little


def test_few_positives_are_said():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(60, 2))
    for least, warned in ((9, True), (10, False)):
        df = pd.DataFrame(scores, columns=["a", "b"]).assign(gold=np.arange(60) < least).rankeval
        for ask in (df.area, df.compare_area, df.summary, lambda x=df: x.measure_ranks(kind="roc")):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ask()
            assert [x.category for x in caught] == [RankevalWarning] * warned
            assert not caught or "a class has only 9 candidates" in str(caught[0].message)


def test_areas_below_chance_hint_at_the_direction():
    df = datasets.simulate_candidates(300, quality={"good": 1.5, "cost": -1.5})
    with pytest.warns(RankevalWarning, match=r"1 of 2 rankings .* lower_is_better"):
        assert df.rankeval.area()["area"][1] < 0.2
    assert df.rankeval(lower_is_better="cost").area()["area"].min() > 0.8


# -------------------------------------------------------------------------- average precision


@QUIET
def test_chance_is_the_mean_over_all_orders_of_labels():
    for score, positive in (([9, 8, 7, 6, 5, 4], 3), ([3, 3, 2, 2, 2, 1], 4), ([1] * 6, 1)):
        values = [
            metrics.average_precision_score(np.isin(range(6), chosen), score)
            for chosen in itertools.combinations(range(6), positive)
        ]
        df = pd.DataFrame({"a": score, "gold": np.arange(6) < positive})
        found = df.rankeval.area("ap").loc[0]
        assert found["chance"] == pytest.approx(np.mean(values), rel=1e-13)


@QUIET
@pytest.mark.parametrize(("positives", "others"), [(87, 2), (3, 60), (40, 40)])
def test_average_precision_stays_within_what_is_possible(positives, others):
    """With all negatives first, the precision at recall t is t / (t + (1 - share) / share)."""
    odds = others / positives
    least = integrate.quad(lambda t: t / (t + odds), 0, 1)[0]
    rng = np.random.default_rng(positives)
    gold = np.arange(positives + others) < positives
    scores = rng.normal(size=(6, gold.size)) - 2.0 * gold * np.arange(-2, 4)[:, np.newaxis]
    df = pd.DataFrame(dict(zip("abcdef", scores, strict=True))).assign(gold=gold, w=-1.0 * gold)
    found = df.rankeval(details=True).area("ap")
    assert (least - 1e-12 <= found["ci_low"]).all()
    assert (found["ci_low"] <= found["area"]).all()
    assert (found["area"] <= found["ci_high"]).all()
    pairs = df.rankeval.compare_area(kind="ap")
    assert (pairs[["ci_low", "ci_high"]].abs() <= 1.0 - least + 1e-12).all(axis=None)
    # a list that ends may have no true positive
    short = df.assign(a=df["a"].where(np.arange(gold.size) >= 4 * positives // 5))
    ended = short.rankeval(measures="a", missing="last").area("ap").loc[0]
    assert 0.0 <= ended["ci_low"] <= ended["area"]


@QUIET
def test_a_perfect_average_precision_against_equal_scores():
    """Neither varies: p is the level at which the interval just reaches 0."""
    gold = np.arange(24) < 12
    df = pd.DataFrame({"a": 24.0 - np.arange(24), "b": 1.0, "gold": gold}).rankeval
    row = df.compare_area(kind="ap", details=True).loc[0]
    assert (row["se"], row["difference"]) == (0.0, 0.5)
    assert 0.0 < row["p_value"] < 1e-4
    low, high = (
        df.compare_area(kind="ap", level=1.0 - times * row["p_value"]).loc[0, "ci_low"]
        for times in (1.02, 0.98)
    )
    assert high <= 0.0 < low


# -------------------------------------------------------------------------- independent samples


def test_areas_of_independent_samples(simulated):
    """The variances of both areas are added; Welch's degrees of freedom, by hand."""
    parts = {"x": simulated.iloc[:120], "y": simulated.iloc[120:]}
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
    turned = both.assign(part=both["part"].map({"x": 2, "y": 1})).rankeval.unpaired_area(by="part")
    np.testing.assert_allclose(turned["difference"], -found["difference"])
    np.testing.assert_allclose(turned["ci_low"], -found["ci_high"])
    assert turned["sample_a"].tolist() == [1, 1, 1]


@QUIET
def test_pairs_of_several_samples_and_of_batches(simulated):
    thirds = simulated.assign(part=np.arange(300) % 3, flag=np.arange(300) // 150)
    found = thirds.rankeval(exclude="flag").unpaired_area(by="part", adjust="holm")
    assert found["sample_a"].tolist() == [0, 0, 1] * 3
    assert found["sample_b"].tolist() == [1, 2, 2] * 3
    assert (found["p_adjusted"] >= found["p_value"]).all()
    pairs = thirds.rankeval.unpaired_area(by=["part", "flag"], measures="good")
    assert (len(pairs), pairs["sample_a"][0]) == (15, (0, 0))
    thirds = thirds.drop(columns="flag").assign(candidate=np.arange(300) // 3)
    dataset = thirds.set_index(["part", "candidate"]).to_xarray()
    two = xr.concat([dataset, dataset], "half").rankeval.unpaired_area()
    assert two["sample_b"].to_numpy().tolist()[:3] == [(0, 1), (0, 2), (1, 0)]


def _placed(frame: pd.DataFrame) -> tuple[float, list[float], list[int]]:
    """Return the area, and the variance that either class gives it, with its size."""
    s, gold = frame["z"].to_numpy(), frame["gold"].to_numpy()
    wins = np.sign(s[gold][:, np.newaxis] - s[~gold]) / 2 + 0.5
    parts = [wins.mean(axis=1), wins.mean(axis=0)]
    return wins.mean(), [x.var(ddof=1) / x.size for x in parts], [x.size for x in parts]


@QUIET
def test_two_samples_have_the_normal_law_or_welchs_by_hand(four_measures):
    """The model's variance with the normal law where it is larger, else DeLong's with Student's."""
    laws = set()
    for split, spread in [(60, 1.0), (150, 1.0), (190, 9.0), (100, 9.0)]:
        part = np.arange(300) < split
        wide = four_measures["z"] * np.where(four_measures["gold"], spread, 1.0)
        frame = four_measures.assign(part=part, z=wide)
        found = frame.rankeval(by="part", details=True, measures="z").unpaired_area().iloc[0]
        a, b = (_placed(frame[frame["part"] == x]) for x in (False, True))
        gap = a[0] - b[0]
        assert found["difference"] == pytest.approx(gap)
        variance = [*a[1], *b[1]]
        freedom = sum(variance) ** 2 / sum(
            v**2 / (n - 1) for v, n in zip(variance, [*a[2], *b[2]], strict=True)
        )
        error = np.sqrt(sum(variance))
        model = gap / found["z"] > error * (1 + 1e-9)
        laws.add(bool(model))
        law = stats.norm if model else stats.t(freedom)
        assert found["p_value"] == pytest.approx(2 * law.sf(abs(found["z"])), rel=1e-6)
        # Zou and Donner's limits of independent areas, widened to what the test does not reject
        alone = frame.rankeval(by="part", measures="z").area().set_index("part")
        half = law.ppf(0.975) * abs(gap / found["z"])
        low, high = (
            gap
            + sign * np.hypot(alone.loc[False, f"ci_{x}"] - a[0], alone.loc[True, f"ci_{y}"] - b[0])
            for sign, x, y in ((-1, "low", "high"), (1, "high", "low"))
        )
        if found["p_value"] > 0.05:
            assert found["ci_low"] == pytest.approx(min(low, gap - half), rel=1e-6)
            assert found["ci_high"] == pytest.approx(max(high, gap + half), rel=1e-6)
    assert laws == {True, False}


def test_errors_of_areas(simulated):
    with pytest.raises(ValueError, match="ci='delong' is an interval for the ROC area"):
        simulated.rankeval.area("ap", ci="delong")
    with pytest.raises(ValueError, match=r"unpaired_area compares independent samples"):
        simulated.rankeval.unpaired_area()


@QUIET
def test_areas_of_two_samples_differ_where_p_is_at_most_one_minus_the_level(simulated):
    data = simulated.assign(corpus=np.arange(300) % 2).rankeval(by="corpus", measures="good")
    p = data.unpaired_area().loc[0, "p_value"]
    assert 0.0 < p < 0.6
    assert data.unpaired_area(level=1.0 - 1.5 * p)["better"].notna().all()
    assert data.unpaired_area(level=1.0 - 0.75 * p)["better"].isna().all()
