"""Sets of candidates above thresholds, their rates, and thresholds that keep a promise."""

from __future__ import annotations

import itertools
import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics
from statsmodels.regression.linear_model import OLS

import rankeval_pd
from rankeval_pd import RankevalWarning
from rankeval_pd.stats import ranks as rank_tests
from rankeval_pd.stats import ratio_gap_spread
from rankeval_pd.stats.ranking import Ranking
from tests.conftest import examples
from tests.lists.by_hand import check_rates, odds, p_values

_AIMS = ("precision", "npv", "recall", "specificity")
REFERENCE = Path(__file__).parents[1] / "simulations"


# ----------------------------------------------------------------------------- acceptance_precision


@pytest.mark.parametrize(("ci", "level"), [("clopper-pearson", 0.9), ("wilson", 0.95)])
def test_every_acceptance_set_counted_by_hand(tied, ci, level):
    cuts = {"a": [3, 9, -1, 2.5], "c": [0.2, -9], "b": 0}
    found = rankeval_pd.acceptance_precision(
        tied, cuts, ci=ci, level=level, lower_is_better="c", measures=["a", "b", "c"]
    )
    asked = [("a", 3), ("a", 9), ("a", -1), ("a", 2.5), ("b", 0), ("c", 0.2), ("c", -9)]
    assert list(zip(found["measure"], found["threshold"], strict=True)) == asked
    rows = tied.to_dict("records")
    for _, row in found.iterrows():
        m, cut = row["measure"], row["threshold"]
        chosen = [r for r in rows if (r[m] <= cut if m == "c" else r[m] >= cut)]
        assert row["n_accepted"] == len(chosen)
        check_rates(row, chosen, rows, ci, level)
    empty = found[found["n_accepted"] == 0]
    assert len(empty) == 2
    assert empty["precision"].isna().all()
    assert empty[["ci_low", "ci_high"]].to_numpy().tolist() == [[0.0, 1.0]] * 2


def test_a_number_is_the_threshold_of_every_measure(simulated):
    gold = simulated["gold"]
    found = simulated.rankeval.acceptance_precision([0.5, 1], measures=["good", "fair"])
    assert found["threshold"].tolist() == [0.5, 1.0] * 2
    for _, row in found.iterrows():
        accepted = simulated[row["measure"]] >= row["threshold"]
        assert row["precision"] == pytest.approx(metrics.precision_score(gold, accepted))
        assert row["recall"] == pytest.approx(metrics.recall_score(gold, accepted))


def test_threshold_inf_and_nan_scores():
    df = pd.DataFrame({"a": [np.inf, 1.0, np.nan, -np.inf], "gold": [True, False, True, True]})
    found = df.rankeval.acceptance_precision({"a": [np.inf, 1, -np.inf]}, missing="last")
    assert found["n_accepted"].tolist() == [1, 2, 3]
    assert found["tp"].tolist() == [1, 1, 2]


@pytest.fixture(scope="module")
def simulated():
    return rankeval_pd.datasets.simulate_candidates(1_000)


@pytest.mark.parametrize("threshold", [-1.0, 0.2, 2.0, 0.9])
def test_at_a_threshold_as_scikit_learn(threshold):
    rng = np.random.default_rng(1)
    gold = np.r_[True, False, rng.random(58) < 0.4]
    df = pd.DataFrame({"s": rng.normal(size=60) + gold, "gold": gold})
    row = df.rankeval.acceptance_precision(threshold, details=True).iloc[0]
    said = df["s"] >= threshold
    tn, fp, fn, tp = metrics.confusion_matrix(gold, said).ravel()
    assert row["specificity"] == pytest.approx(tn / (tn + fp), abs=1e-10)
    assert row["f1"] == pytest.approx(metrics.f1_score(gold, said, zero_division=0), abs=1e-10)
    youden = metrics.balanced_accuracy_score(gold, said, adjusted=True)
    assert row["youden"] == pytest.approx(youden, abs=1e-10)
    if tn + fn:
        npv = metrics.precision_score(~gold, ~said)
        exact = stats.binomtest(int(tn), int(tn + fn)).proportion_ci()
        assert row[["npv", "npv_low", "npv_high"]].tolist() == pytest.approx(
            [npv, *exact], abs=1e-9
        )
    exact = stats.binomtest(int(tn), int(tn + fp)).proportion_ci()
    assert row[["spec_low", "spec_high"]].tolist() == pytest.approx([*exact], abs=1e-9)
    exact = np.array(stats.binomtest(int(tp), int(tp + fp + fn)).proportion_ci())
    f1 = row[["f1_low", "f1_high"]].tolist()
    assert f1 == pytest.approx(list(2 * exact / (1 + exact)), abs=1e-9)
    assert row["youden_low"] <= row["youden"] <= row["youden_high"]


def test_rates_of_groups_of_one_and_of_copies(simulated):
    """Each candidate as a group is about independent, and copies of each add no information."""
    df = simulated.assign(patient=np.arange(len(simulated)))
    ask = {"threshold": 0.5, "measures": "good", "details": True}
    plain = df.rankeval.acceptance_precision(ci="wilson", **ask).iloc[0]
    ones = df.rankeval(groups="patient").acceptance_precision(**ask).iloc[0]
    copies = pd.concat([df] * 4, ignore_index=True).rankeval(groups="patient")
    fours = copies.acceptance_precision(**ask).iloc[0]
    for name in ("ci", "recall", "spec", "npv", "f1"):
        ends = [f"{name}_low", f"{name}_high"]
        limits = plain[ends].to_numpy(dtype=float)
        width = limits[1] - limits[0]
        assert ones[ends].to_numpy(dtype=float) == pytest.approx(limits, abs=0.1 * width)
        assert fours[ends].to_numpy(dtype=float) == pytest.approx(limits, abs=0.1 * width)
    ends = ["youden_low", "youden_high"]
    limits = plain[ends].to_numpy(dtype=float)
    width = limits[1] - limits[0]
    for row in (ones, fours):
        assert row["youden"] == plain["youden"]
        assert row[ends].to_numpy(dtype=float) == pytest.approx(limits, abs=0.1 * width)


def test_the_limits_of_j_of_groups_are_those_of_a_sandwich_and_cover_it():
    """In large samples, the error agrees with sums over clusters for a difference of two means."""
    rng, hits = np.random.default_rng(0), 0
    for size in (3_000, *[100] * 100):
        patient = np.repeat(np.arange(size), 1 + rng.poisson(1.25, size))
        own = rng.normal(size=(2, size))[:, patient]
        noise = np.sqrt(0.5) * (own + rng.normal(size=own.shape))
        gold = noise[0] > 0.8
        said = noise[1] > np.where(gold, stats.norm.isf(0.8), stats.norm.isf(0.1))
        frame = pd.DataFrame({"s": 1.0 * said, "gold": gold, "patient": patient})
        row = frame.rankeval(groups="patient").acceptance_precision(1, details=True).iloc[0]
        if size > 100:
            recall, accepted = said[gold].mean(), said[~gold].mean()
            terms = np.where(gold, (said - recall) / gold.sum(), (accepted - said) / (~gold).sum())
            half = stats.norm.ppf(0.975) * np.sqrt((np.bincount(patient, terms) ** 2).sum())
            limits = recall - accepted - half, recall - accepted + half
            assert row[["youden_low", "youden_high"]].tolist() == pytest.approx(limits, abs=0.003)
        else:
            hits += row["youden_low"] <= 0.7 <= row["youden_high"]
    assert hits >= stats.binom.ppf(0.001, 100, 0.95)


def test_the_precision_of_groups_is_that_of_the_list_at_the_threshold(simulated):
    df = simulated.assign(patient=np.arange(len(simulated)) // 4).rankeval(groups="patient")
    found = df.acceptance_precision(n=100, measures="good").iloc[0]
    best = df.nbest_precision(100, measures="good", target="region").iloc[0]
    assert found["n_accepted"] == 100
    ends = ["precision", "ci_low", "ci_high"]
    assert found[ends].tolist() == pytest.approx(best[ends].tolist())
    with pytest.raises(ValueError, match="Omit phi"):
        df.acceptance_precision(0.5, phi=2.0)


def test_the_threshold_of_a_list(simulated):
    call = simulated.rankeval(measures="good")
    found = call.acceptance_precision(n=[50, 200])
    assert found["n_accepted"].tolist() == [50, 200]
    again = call.acceptance_precision({"good": found["threshold"].tolist()})
    pd.testing.assert_frame_equal(found[list(again.columns)], again, check_dtype=False)
    assert call.acceptance_precision(n=0.05)["n"].tolist() == [50]
    with pytest.raises(ValueError, match="pass exactly one"):
        simulated.rankeval.acceptance_precision()


# ------------------------------------------------------------------------------ compare_thresholds


def _tails(a, b, right):
    """Return the p-values of both sides, candidate by candidate (Kosinski's formula, SciPy)."""
    tails = []
    for half in (False, True):
        in_a, in_b, true, weight = a, b, right, np.ones(a.size)
        for only, other in ((a & ~b, False), (b & ~a, True)):
            if half and only.any():  # half a true and half a false positive
                in_a, in_b = np.append(in_a, [not other] * 2), np.append(in_b, [other] * 2)
                true, weight = np.append(true, [True, False]), np.append(weight, [0.5, 0.5])
        n_a, n_b = (weight * in_a).sum(), (weight * in_b).sum()
        pooled = (weight * true * (1.0 * in_a + in_b)).sum() / (n_a + n_b)
        shared = (weight * (true - pooled) ** 2 * (in_a & in_b)).sum() / (n_a + n_b)
        spread = pooled * (1 - pooled)
        variance = (spread - 2 * shared) * (1 / n_a + 1 / n_b)
        share = in_a / n_a - in_b / n_b
        difference = (weight * share * true).sum()
        z, lean = 0.0, 0.0
        if variance > 1e-15 and abs(difference) > 1e-15:
            z = difference / np.sqrt(variance)
            lean = spread * (1 - 2 * pooled) * (weight * share**3).sum() / variance**1.5
        tails.append((stats.norm.sf(z), stats.norm.cdf(z)))
        tails.append((stats.pearson3.sf(z, lean), stats.pearson3.cdf(z, lean)))
    return np.max(tails, axis=0)


def test_every_pair_of_acceptance_sets(tied):
    cuts_a, cuts_c = zip(*itertools.product([0, 1, 2, 3, 4, 5], [-1, -0.4, 0, 0.5]), strict=True)
    call = tied.assign(c=-tied["c"]).rankeval(lower_is_better="c")
    cuts = {"a": cuts_a, "c": [-x for x in cuts_c]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "acceptance sets of", RankevalWarning)
        fisher = call.compare_thresholds("a", "c", cuts, level=0.9, test="fisher")
    found = call.compare_thresholds("a", "c", cuts, level=0.9)
    rows, exact = found.to_dict("records"), fisher.to_dict("records")
    assert len(found) == len(cuts_a)
    gold = tied["gold"].to_numpy(dtype=bool)
    for row, other, cut_a, cut_c in zip(rows, exact, cuts_a, cuts_c, strict=True):
        a, b = (tied["a"] >= cut_a).to_numpy(), (tied["c"] >= cut_c).to_numpy()
        counts = a.sum(), b.sum(), (a & b).sum(), (a & ~b).sum(), (b & ~a).sum()
        names = ["n_a", "n_b", "overlap", "n_only_a", "n_only_b"]
        assert tuple(row[name] for name in names) == tuple(other[name] for name in names) == counts
        table = (gold & a & ~b).sum(), counts[3], (gold & b & ~a).sum(), counts[4]
        assert (row["tp_only_a"], row["tp_only_b"]) == table[::2]
        assert row["recall_a"] == pytest.approx(gold[a].sum() / gold.sum(), rel=1e-14)
        assert row["recall_b"] == pytest.approx(gold[b].sum() / gold.sum(), rel=1e-14)
        assert row["odds_ratio"] == pytest.approx(odds(*table), rel=1e-14, nan_ok=True)
        if a.any() and b.any():
            difference = gold[a].mean() - gold[b].mean()
            assert row["difference"] == pytest.approx(difference, rel=1e-12, abs=1e-15)
            p = min(1.0, 2.0 * _tails(a, b, gold).min())
            assert row["p_value"] == pytest.approx(p, rel=1e-8)
            assert row["ci_low"] <= difference <= row["ci_high"]
            assert (row["ci_low"] > 0 or row["ci_high"] < 0) == (p <= 0.1)
            assert (row["ci_low"] == row["ci_high"]) == (a == b).all()
        else:
            assert math.isnan(row["difference"])
            assert row["p_value"] == 1.0
        p = p_values(*table, "two-sided")[0]
        assert other["p_value"] == pytest.approx(p, rel=1e-10)
        if counts[3] and counts[4]:
            difference = table[0] / table[1] - table[2] / table[3]
            assert other["difference"] == pytest.approx(difference, rel=1e-12, abs=1e-15)
            assert other["ci_low"] <= difference <= other["ci_high"]
            if p > 0.1 * (1 + 1e-9):
                assert other["ci_low"] <= 0 <= other["ci_high"]
        small, large = sorted(counts[:2])
        leaning = np.nan
        if large - small <= 0.1 * large and counts[3] and counts[4] and difference:
            leaning = "a" if difference > 0 else "c"
        assert other["leaning"] == leaning or (pd.isna(other["leaning"]) and pd.isna(leaning))
        shown = leaning if other["significant"] else np.nan
        assert other["better"] == shown or (pd.isna(other["better"]) and pd.isna(shown))


@pytest.mark.parametrize(
    ("size", "step", "warned"),
    [(18, 1, False), (17, 4, False), (17, 1, True)],  # every fourth is true: nothing is rejected
)
def test_sets_of_different_sizes_warn_where_the_test_rejects(size, step, warned):
    rank = np.arange(40)
    gold = (rank % step == 0) & (rank < 10 * step)
    df = pd.DataFrame({"a": -rank * 1.0, "b": rank * 1.0, "gold": gold})
    cuts = {"a": -19, "b": 40 - size}  # 20 candidates against size
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = df.rankeval.compare_thresholds("a", "b", cuts, test="fisher").loc[0]
    assert (found["n_a"], found["n_b"]) == (20, size)
    assert [x.category for x in caught] == [RankevalWarning] * warned
    assert found["significant"] == (step == 1)
    assert isinstance(found["better"], str) == (size == 18)
    if warned:
        assert "20 and 17 candidates differ by more than 10%" in str(caught[0].message)
    printed = df.rankeval.compare_thresholds("a", "b", cuts).loc[0]
    assert printed["significant"] == (printed["better"] == "a") == (step == 1)


def test_thresholds_of_different_numbers():
    df = pd.DataFrame({"a": [3.0, 2, 1], "b": [1.0, 3, 2], "gold": [True, False, True]})
    found = df.rankeval.compare_thresholds("a", "b", {"a": [1, 2], "b": 2})
    assert found["leaning"].tolist()[0] == "a"
    assert found[["n_a", "n_b"]].to_numpy().tolist() == [[3, 2], [2, 2]]
    with pytest.raises(ValueError, match=r"'b' has 2, but 3 are compared.*Pass as many for 'b'"):
        df.rankeval.compare_thresholds("a", "b", {"a": [1, 2, 3], "b": [1, 2]})
    every = {"a": [1, 2], "b": [1, 2]}
    pd.testing.assert_frame_equal(
        df.rankeval.compare_thresholds(thresholds=[1, 2]),
        df.rankeval.compare_thresholds(thresholds=every),
    )


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_recall_of_sets_is_among_the_candidates_that_both_score(four_measures):
    holes = four_measures.assign(z=four_measures["z"].where(np.arange(300) % 3 > 0))
    row = holes.rankeval(missing="drop", details=True).compare_thresholds("y", "z", 0.5).iloc[0]
    both = holes.dropna()
    for side, name in (("a", "y"), ("b", "z")):
        accepted = both[both[name] >= 0.5]["gold"]
        assert row[f"recall_{side}"] == pytest.approx(accepted.sum() / both["gold"].sum())


# ---------------------------------------------------------------- Predictive values and error rates

# Weiner et al. (1979), the data of Leisenring, Alonzo and Pepe (2000): exercise test and chest pain
DISEASED, HEALTHY = (473, 29, 81, 25), (22, 46, 44, 151)


def _coronary():
    rows = [
        (a, b, sick)
        for counts, sick in ((DISEASED, True), (HEALTHY, False))
        for (a, b), times in zip(((1, 1), (1, 0), (0, 1), (0, 0)), counts, strict=True)
        for _ in range(times)
    ]
    return pd.DataFrame(rows, columns=["test", "pain", "gold"])


def test_predictive_values_by_hand():
    df, cuts = _coronary(), {"test": 1, "pain": 1}
    a, b, gold = (df[name].to_numpy() == 1 for name in ("test", "pain", "gold"))
    for asked, (greater, less) in (
        ({"of": "precision"}, _tails(a, b, gold)),
        ({"of": "npv"}, _tails(~a, ~b, ~gold)),
    ):
        for side, p in (
            ("two-sided", 2 * min(greater, less)),
            ("greater", greater),
            ("less", less),
        ):
            found = df.rankeval.compare_thresholds("test", "pain", cuts, alternative=side, **asked)
            row = found.iloc[0]
            assert row["p_value"] == pytest.approx(p, rel=1e-9)
            assert row["ci_low"] <= row["difference"] <= row["ci_high"]


def test_error_rates_are_tested_as_right_or_wrong_items():
    """The same test and interval as for two systems: which positives (negatives) each one finds."""
    df = _coronary()
    for of, (both, a, b, neither) in (("recall", DISEASED), ("specificity", HEALTHY[::-1])):
        sick = of == "recall"
        right = (df.loc[df["gold"] == sick, ["test", "pain"]] == sick).astype(int)
        row = df.rankeval(details=True).compare_thresholds("test", "pain", 1, of=of).iloc[0]
        wanted = rankeval_pd.paired_bootstrap(right, "test", "pain", details=True).iloc[0]
        assert row["difference"] == pytest.approx((a - b) / (both + a + b + neither), abs=1e-12)
        assert row["p_value"] == pytest.approx(wanted["p_two_sided"], rel=1e-10)
        limits = row["ci_low"], row["ci_high"]
        assert limits == pytest.approx((wanted["ci_low"], wanted["ci_high"]), abs=1e-12)
        mcnemar = stats.binomtest(a, a + b).pvalue
        assert 0.5 * mcnemar < row["p_value"] < 1.5 * mcnemar


def test_what_cannot_be_compared():
    for of, test in (("recall", "fisher"), ("npv", "unconditional")):
        with pytest.raises(ValueError, match=f"of='{of}': test='{test}' is not one of None, "):
            _coronary().rankeval.compare_thresholds("test", "pain", 1, of=of, test=test)


# ------------------------------------------------------------------------- Two sets, with clusters

RATES = {  # scikit-learn's function for each rate, and the label of which it is
    "precision": (metrics.precision_score, 1),
    "recall": (metrics.recall_score, 1),
    "specificity": (metrics.recall_score, 0),
    "npv": (metrics.precision_score, 0),
    "f1": (metrics.f1_score, 1),
}


@pytest.mark.parametrize("of", RATES)
def test_rates_of_two_sets_in_groups(simulated, of):
    """As scikit-learn's; groups of one are about independent, and copies add no information."""
    cuts, score = {"good": 0.8, "fair": 0.5}, RATES[of]
    df = simulated.assign(patient=np.arange(len(simulated)))
    copies = pd.concat([df] * 4, ignore_index=True)
    plain = simulated.rankeval.compare_thresholds("good", "fair", cuts, of=of).iloc[0]
    for frame in (df, copies):
        call = frame.rankeval(groups="patient", details=True)
        row = call.compare_thresholds("good", "fair", cuts, of=of).iloc[0]
        for side, name in (("a", "good"), ("b", "fair")):
            guess = frame[name] >= cuts[name]
            wanted = score[0](frame["gold"], guess, pos_label=score[1])
            assert row[f"{of}_{side}"] == pytest.approx(wanted, rel=1e-12)
        limits = plain[["ci_low", "ci_high"]].to_numpy(dtype=float)
        near = pytest.approx(limits, abs=0.1 * (limits[1] - limits[0]))
        assert row[["ci_low", "ci_high"]].to_numpy(dtype=float) == near
        assert (row["p_value"] <= 0.05) == (plain["p_value"] <= 0.05)
        assert 0 < row["n_groups"] <= len(df)


@pytest.mark.parametrize("seed", range(6))
def test_the_error_of_two_sets_in_groups(seed):
    """Over observed precisions, a regression with cluster-robust covariance; else by hand."""
    rng = np.random.default_rng(seed)
    cluster, gold = rng.integers(0, 30, 300), rng.random(300) < 0.4
    sets = rng.random((2, 300)) < np.array([[0.5], [0.2]]) + 0.2 * gold
    found = ratio_gap_spread(1.0 * (sets & gold), 1.0 * sets, cluster, paired=False)
    side, of = np.nonzero(sets)
    fit = OLS(1.0 * gold[of], np.column_stack([np.ones(side.size), side == 0])).fit(
        cov_type="cluster", cov_kwds={"groups": cluster[of], "use_correction": False}
    )
    common = (gold[of].sum() + 1) / (of.size + 2)
    totals = [
        sum(
            ((gold[k] - common) / sets[0].sum() * sets[0, k])
            - (gold[k] - common) / sets[1].sum() * sets[1, k]
            for k in np.flatnonzero(cluster == group)
        )
        for group in range(30)
    ]
    larger = max(fit.bse[1] ** 2, np.sum(np.square(totals)))
    assert found.variance == pytest.approx(larger * 30 / 29, rel=1e-10)
    assert found.n_groups == np.unique(cluster[sets[0] != sets[1]]).size


@settings(max_examples=examples(30), deadline=None)
@given(seed=st.integers(0, 10_000), of=st.sampled_from([*RATES]))
def test_sets_in_groups_whatever_the_order(seed, of):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({name: rng.integers(0, 4, 60) for name in ("a", "b", "patient")})
    df["gold"], df["patient"] = rng.random(60) < 0.4, [f"p{x}" for x in rng.integers(0, 12, 60)]
    call = df.rankeval(groups="patient")
    row = call.compare_thresholds("a", "b", [1, 2], of=of)
    other = df.sample(frac=1, random_state=seed).rankeval(groups="patient")
    pd.testing.assert_frame_equal(row, other.compare_thresholds("a", "b", [1, 2], of=of))
    back = call.compare_thresholds("b", "a", [1, 2], of=of)
    assert back["p_value"].tolist() == pytest.approx(row["p_value"].tolist(), rel=1e-9)
    low, high = (-back["ci_high"]).tolist(), (-back["ci_low"]).tolist()
    assert row["ci_low"].tolist() == pytest.approx(low, abs=1e-9, nan_ok=True)
    assert row["ci_high"].tolist() == pytest.approx(high, abs=1e-9, nan_ok=True)
    assert (row["p_value"] <= 0.05).tolist() == (
        (row["ci_low"] > 0) | (row["ci_high"] < 0)
    ).tolist()


def test_empty_equal_and_perfect_sets_in_groups():
    df = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0), "patient": np.arange(40) // 2})
    call = df.assign(gold=df["a"] >= 20, c=df["a"] - 14).rankeval(groups="patient")
    table = call.compare_thresholds("a", "b", [99, -1, 20])  # no candidate, all, the positives
    assert table["p_value"].tolist() == [1.0, 1.0, 1.0]
    limits = table[["ci_low", "ci_high"]].to_numpy()
    assert np.isnan(limits[0]).all()
    assert (limits[1:] == 0.0).all()
    row = call.compare_thresholds("a", "b", 20, of="recall").iloc[0]
    half = stats.t.ppf(0.975, 3) * math.sqrt(2 * 20 / 19) / 10  # one patient more each way
    assert row["ci_high"] == -row["ci_low"]
    assert half < row["ci_high"] < 1.1 * half  # wider because the number of positives varies
    # both precisions are 1, but c misses seven patients
    row = call.compare_thresholds("a", "c", 20).iloc[0]
    assert row["difference"] == 0.0
    assert row["ci_low"] < 0.0 < row["ci_high"]
    assert call.compare_thresholds("a", "c", 20, of="recall").iloc[0]["better"] == "a"
    for gold in (True, False):
        alike = df.assign(gold=gold, c=df["a"] - 14).rankeval(groups="patient")
        with pytest.warns(RankevalWarning, match="equally good"):
            row = alike.compare_thresholds("a", "c", 20)
        assert row["p_value"].tolist() == [1.0]
    with pytest.raises(ValueError, match="groups= cannot stand beside test="):
        call.compare_thresholds("a", "b", 20, test="kosinski")


# --------------------------------------------------------------------------------- choose_threshold


def _all_of(score, gold) -> Ranking:
    return Ranking.of(score, gold, np.ones(gold.size, dtype=bool))


def _limit(tp: int, n: int, alpha: float) -> float:
    """Clopper and Pearson's lower limit, by SciPy."""
    return stats.beta.ppf(alpha, tp, n - tp + 1) if tp else 0.0


@given(st.integers(0, 10_000), st.integers(1, 120))
def test_the_sequences_one_by_one(seed, size):
    """Every sequence walked through as it is described."""
    rng = np.random.default_rng(seed)
    score, gold = rng.integers(0, 80, size), rng.random(size) < rng.uniform(0.5, 1)
    sets = rank_tests.sets_of(_all_of(score.astype(float), gold))
    count = 1
    while True:
        least = int(np.ceil(np.log(0.05 / count) / np.log(0.6)))
        if least * 2**count > size:
            break
        count += 1
    best = None
    for k in range(count):
        for position, (n, tp) in enumerate(zip(sets.n, sets.tp, strict=True)):
            if n < least * 2**k:
                continue
            if _limit(int(tp), int(n), 0.05 / count) < 0.6:
                break
            best = max(position, -1 if best is None else best)
    found, low = rank_tests.guaranteed_precision(sets, 0.6, 0.95)[:2]
    assert found == best
    if best is not None:
        assert low == pytest.approx(_limit(int(sets.tp[best]), int(sets.n[best]), 0.05 / count))


def test_recall_is_the_limit_of_an_order_statistic():
    """Of 100 positives, the best 87 give at least .8 with 95 % confidence, and 86 do not."""
    assert stats.binom.sf(86, 100, 0.8) <= 0.05 < stats.binom.sf(85, 100, 0.8)
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"m": rng.normal(size=1_000), "gold": np.arange(1_000) < 100})
    row = df.rankeval.choose_threshold(recall=0.8).iloc[0]
    positives = df.loc[df["gold"], "m"].sort_values(ascending=False)
    assert row["threshold"] == positives.iloc[86]
    assert (row["tp"], row["recall"]) == (87, 0.87)
    assert row["n_accepted"] == (df["m"] >= row["threshold"]).sum()
    assert row["ci_low"] == pytest.approx(_limit(87, 100, 0.05))


def test_a_threshold_of_a_measure_of_which_lower_is_better_is_turned():
    rng = np.random.default_rng(0)
    gold = rng.random(400) < 0.4
    df = pd.DataFrame({"up": rng.normal(size=400) + 3 * gold, "gold": gold})
    table = (
        df.assign(down=-df["up"]).rankeval(lower_is_better="down").choose_threshold(precision=0.9)
    )
    assert table.attrs["family"] == "2 measures"  # which share 1 - level
    one = df.rankeval.choose_threshold(precision=0.9, level=0.975)
    assert table["threshold"].tolist() == [one["threshold"][0], -one["threshold"][0]]
    assert (table["n_accepted"] == one["n_accepted"][0]).all()
    assert (table["ci_low"] >= 0.9).all()


def test_nothing_to_promise():
    df = pd.DataFrame({"m": np.sqrt(np.arange(21.0)), "gold": np.arange(21) > 0})
    with pytest.warns(rankeval_pd.RankevalWarning, match="needs at least 29 correct candidates"):
        row = df.rankeval.choose_threshold(precision=0.9).iloc[0]  # 20 of 20 may be .86
    assert np.isnan(row["threshold"])
    assert row["n_accepted"] == 0
    with pytest.warns(rankeval_pd.RankevalWarning, match="true positive"):
        none = df.assign(gold=False).rankeval.choose_threshold(recall=0.5).iloc[0]
    assert np.isnan(none["ci_low"])


def test_specificity_is_the_limit_of_an_order_statistic():
    """Of 100 negatives, 87 that are rejected give at least .8, and 86 do not."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"m": rng.normal(size=1_000), "gold": np.arange(1_000) >= 100})
    row = df.rankeval.choose_threshold(of={"specificity": 0.8}).iloc[0]
    negatives = df.loc[~df["gold"], "m"].sort_values()
    assert negatives.iloc[86] < row["threshold"] <= negatives.iloc[87]
    accepted = df["m"] >= row["threshold"]
    assert row["specificity"] == metrics.recall_score(~df["gold"], ~accepted) == 0.87
    assert row["ci_low"] == pytest.approx(_limit(87, 100, 0.05))


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [("npv", "precision", 0.93), ("specificity", "recall", 0.6)],
)
@pytest.mark.parametrize("groups", [None, "patient"])
def test_rejected_sets_are_those_of_turned_scores_and_labels(simulated, one, other, share, groups):
    df = simulated.assign(patient=np.arange(len(simulated)) // 3)[["good", "gold", "patient"]]
    turned = df.assign(good=-df["good"], gold=~df["gold"])
    row = df.rankeval(groups=groups).choose_threshold(of={one: share}, measures="good").iloc[0]
    back = turned.rankeval(groups=groups).choose_threshold(of={other: share}, measures="good")
    assert row["ci_low"] == pytest.approx(back["ci_low"][0])
    assert len(df) - row["n_accepted"] == back["n_accepted"][0]
    accepted = df["good"] >= row["threshold"]
    labels = ~df["gold"], ~accepted
    scores = {"npv": metrics.precision_score, "specificity": metrics.recall_score}
    assert row[one] == pytest.approx(scores[one](*labels))


@pytest.mark.parametrize(("first", "second"), [*itertools.permutations(_AIMS, 2)])
def test_two_requirements_hold_at_one_threshold(first, second):
    rng = np.random.default_rng(1)
    gold = rng.random(3_000) < 0.4
    df = pd.DataFrame({"m": rng.normal(size=3_000) + 2.5 * gold, "gold": gold})
    aims = {first: 0.75, second: 0.75}
    if {first, second} == {"precision", "npv"}:
        with pytest.raises(ValueError, match="not precision with npv"):
            df.rankeval.choose_threshold(of=aims)
        return
    row = df.rankeval.choose_threshold(of=aims).iloc[0]
    accepted = df["m"] >= row["threshold"]
    tn, fp, fn, tp = metrics.confusion_matrix(gold, accepted).ravel()
    right = {"precision": (tp, tp + fp), "npv": (tn, tn + fn), "recall": (tp, tp + fn)}
    right["specificity"] = tn, tn + fp
    for aim in aims:  # each at half the error rate; predictive values in several sequences
        assert _limit(*right[aim], 0.025) >= 0.75
    assert row["ci_low"] >= 0.75


@pytest.mark.parametrize("sign", [1, -1])
def test_two_requirements_that_exclude_each_other(simulated, sign):
    """The warning names both thresholds, which choose_threshold also finds one at a time."""
    df = simulated.assign(good=sign * simulated["good"])
    call = df.rankeval(measures="good", lower_is_better=["good"] if sign < 0 else None)
    aims = {"recall": 0.9, "specificity": 0.9}
    with pytest.warns(RankevalWarning) as warned:
        found = call.choose_threshold(of=aims)
    assert found["threshold"].isna().all()
    text = str(warned[0].message)
    assert len(text) <= 250
    assert text.startswith("no threshold for 'good' guarantees recall ≥ 0.9 and specificity ≥ 0.9")
    alone = {aim: call.choose_threshold(of={aim: 0.9}, level=0.975).iloc[0] for aim in aims}
    for aim, row in alone.items():
        assert f"{row['n_accepted']} " in text.split(f"{aim} ")[2], aim
        assert f"(threshold {row['threshold']:.4g}" in text
    accepted = sign * df["good"] >= sign * alone["specificity"]["threshold"]
    right = int((accepted & df["gold"]).sum())
    assert f"where recall ≥ {_limit(right, int(df['gold'].sum()), 0.025):.3g})" in text
    told = rankeval_pd.in_words(found)
    assert "a recall of at least 90% and a specificity of at least 90% with 95% conf" in told
    assert "nan" not in rankeval_pd.paper_table(found, "markdown")


def test_each_measure_without_a_threshold_has_its_reason(simulated):
    """A warning names a measure, and what is tested first depends on the requested precision."""
    with pytest.warns(RankevalWarning) as warned:
        simulated.rankeval.choose_threshold(of={"precision": 0.9, "recall": 0.9})
    texts = [str(w.message) for w in warned]
    assert [text.split("'")[1] for text in texts] == ["good", "fair"]
    for text in texts:
        assert (
            "for precision, the first sets tested, of 57 to 912 " in text
        )  # 0.9 ** 57 <= 0.0125 / 5
    many = simulated[["gold"]].assign(
        **{f"m{k}": np.random.default_rng(k).normal(size=1_000) for k in range(8)}
    )
    with pytest.warns(RankevalWarning) as warned:
        many.rankeval.choose_threshold(precision=0.9)
    assert len(warned) == 6
    assert "for 3 other measures" in str(warned[-1].message)
    pairs = pd.concat([many[["gold", "m0"]].assign(part=x) for x in "ab"], ignore_index=True)
    with pytest.warns(RankevalWarning, match=r"in 2 groups \(with the reason for the first\)"):
        pairs.rankeval(by="part", measures="m0").choose_threshold(precision=0.9)


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"of": 0.9}, TypeError, "of=0.9: pass a mapping"),
        ({"of": {"f1": 0.9}}, ValueError, "of='f1' is not one of 'precision'"),
        ({"of": {"npv": 95}}, ValueError, "npv=95 is outside"),
        ({"of": {"recall": 0.9}, "recall": 0.8}, ValueError, "one or two different"),
        ({"of": {"recall": 0.9, "npv": 0.9}, "precision": 0.8}, ValueError, "one or two"),
        ({"specificity": 0.9}, TypeError, "of={'specificity': 0.9"),
    ],
)
def test_requirements_that_cannot_be_read(simulated, asked, error, message):
    with pytest.raises(error, match=message):
        simulated.rankeval.choose_threshold(**asked)


@pytest.mark.parametrize("of", ["recall", "specificity"])
def test_a_margin_of_sets_is_that_of_tango(simulated, of):
    """Tango (1998): the score statistic at a difference of -margin, with his estimate of q21."""
    cuts, margin = {"good": 1.0, "fair": 1.2}, 0.15
    table = simulated.rankeval.compare_thresholds(
        "good", "fair", cuts, of=of, margin=margin, alternative="greater", details=True
    )
    row = table.iloc[0]
    right = simulated["gold"] == (of == "recall")
    a, b = ((simulated[name] >= cut)[right] == (of == "recall") for name, cut in cuts.items())
    n, only_a, only_b, shift = right.sum(), (a & ~b).sum(), (b & ~a).sum(), -margin
    linear = -only_a - only_b + (2 * n - only_a + only_b) * shift
    least = (np.sqrt(linear**2 + 8 * n * only_b * shift * (1 - shift)) - linear) / (4 * n)
    z = (only_a - only_b - n * shift) / np.sqrt(n * (2 * least + shift * (1 - shift)))
    assert row["p_noninferior"] == pytest.approx(stats.norm.sf(z), rel=1e-6)


@pytest.mark.parametrize("of", ["precision", "npv", "f1"])
def test_a_margin_of_sets_agrees_with_the_interval(simulated, of):
    """Two one-sided tests reject at 5% if and only if the 90% interval is within the margin."""
    for margin in (0.05, 0.2):
        row = simulated.rankeval.compare_thresholds(
            "good", "fair", 1.0, of=of, margin=margin, level=0.9
        ).iloc[0]
        inside = -margin < row["ci_low"] and row["ci_high"] < margin
        assert (row["p_equivalence"] <= 0.05) == inside
    with pytest.raises(ValueError, match="test='fisher'"):
        simulated.rankeval.compare_thresholds("good", "fair", 1.0, margin=0.1, test="fisher")


def test_the_first_set_that_can_pass_is_tested():
    """59 correct candidates are the fewest that give .95 with 95% confidence: .05 ** (1 / 59)."""
    df = pd.DataFrame({"x": np.arange(79.0)[::-1], "gold": np.arange(79) < 59})
    row = df.rankeval(measures="x").choose_threshold(precision=0.95).iloc[0]
    assert row["n_accepted"] == 59
    assert row["ci_low"] == pytest.approx(0.05 ** (1 / 59))


def test_youden_is_the_largest(simulated):
    df = simulated
    row = df.rankeval(measures="good").choose_threshold().iloc[0]
    fpr, tpr, cuts = metrics.roc_curve(df["gold"], df["good"], drop_intermediate=False)
    best = np.argmax(tpr - fpr)
    assert [row["threshold"], row["youden"]] == pytest.approx([cuts[best], (tpr - fpr)[best]])
    positive, others = df["gold"].sum(), (~df["gold"]).sum()
    margin = np.sqrt(0.5 * np.log(20.0) * (1 / positive + 1 / others))
    assert row["ci_low"] == pytest.approx(row["youden"] - margin, abs=1e-10)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({}, "the largest J is"),
        ({"recall": 0.99}, "true positives found, the lower confidence limit is"),
    ],
)
def test_why_nothing_is_promised(asked, why):
    rng = np.random.default_rng(2)
    df = pd.DataFrame({"s": rng.normal(size=40), "gold": np.arange(40) % 4 == 0})
    with pytest.warns(RankevalWarning, match=why):
        found = df.rankeval.choose_threshold(**asked)
    assert found["threshold"].isna().all()


# ------------------------------------------------------------------------------------- F1 of sets


def _f1_of(gold, a, b, **options):
    frame = pd.DataFrame({"a": 1.0 * np.array(a), "b": 1.0 * np.array(b), "gold": gold})
    return frame.rankeval.compare_thresholds("a", "b", 0.5, of="f1", details=True, **options)


@given(st.integers(0, 10**6), st.sampled_from([12, 40, 90]), st.sampled_from([0.2, 0.6]))
def test_f1_of_sets_is_that_of_paired_predictions(seed, n, rate):
    rng = np.random.default_rng(seed)
    gold, a, b = (rng.random((3, n)) < rate) | (np.arange(n) < 5)
    row = _f1_of(gold, a, b).iloc[0]
    assert row["f1_a"] == pytest.approx(metrics.f1_score(gold, a))
    assert row["f1_b"] == pytest.approx(metrics.f1_score(gold, b))
    items = rankeval_pd.from_predictions(gold, {"a": a, "b": b}, "f1", positive=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankevalWarning)
        paired = items.rankeval(metric="f1").paired_bootstrap().iloc[0]
    assert row["p_value"] == pytest.approx(paired["p_value"], abs=1e-9)
    names = ["difference", "ci_low", "ci_high"]
    expected = paired[["gain", "ci_low", "ci_high"]].to_numpy(dtype=float)
    if paired["system_a"] == "b":
        expected = -expected[[0, 2, 1]]
    if not np.array_equal(a, b):
        assert row[names].tolist() == pytest.approx(expected.tolist(), abs=1e-7)


def test_f1_of_sets_at_the_edges():
    gold, most = np.arange(40) < 12, np.arange(40) < 20
    every, none = np.ones(40, dtype=bool), np.zeros(40, dtype=bool)
    same = _f1_of(gold, most, most).iloc[0]
    assert same["difference"] == 0.0
    assert same["p_value"] == 1.0
    nested = _f1_of(gold, most, every)
    assert nested["p_value"].iloc[0] < 0.05
    assert nested["better"].iloc[0] == "a"
    assert nested.attrs["test"] == nested.attrs["interval"] == "proportions"
    for labels, a, b in ((gold, none, most), (gold, none, none), (gold[:1], every[:1], none[:1])):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            row = _f1_of(labels, a, b)
        assert row[["p_value", "ci_low", "ci_high"]].isna().all(axis=None)
        told = any("there is no test" in str(x.message) for x in found)
        assert told == bool((a | b).any())
