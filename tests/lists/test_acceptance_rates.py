"""Rates at a threshold and Youden's J: scikit-learn, SciPy, simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

import rankeval_pd
from rankeval_pd import RankevalWarning
from tests.conftest import examples


@pytest.fixture(scope="module")
def df():
    return rankeval_pd.datasets.simulate_candidates(1_000)


@given(st.integers(0, 10**6), st.floats(-1, 2))
@settings(max_examples=examples(30), deadline=None)
def test_at_a_threshold_as_scikit_learn(seed, threshold):
    rng = np.random.default_rng(seed)
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


def test_the_threshold_of_a_list(df):
    call = df.rankeval(measures="good")
    found = call.acceptance_precision(n=[50, 200])
    assert found["n_accepted"].tolist() == [50, 200]
    again = call.acceptance_precision({"good": found["threshold"].tolist()})
    pd.testing.assert_frame_equal(found[list(again.columns)], again, check_dtype=False)
    assert call.acceptance_precision(n=0.05)["n"].tolist() == [50]
    with pytest.raises(ValueError, match="pass either"):
        df.rankeval.acceptance_precision()


def test_youden_is_the_largest(df):
    row = df.rankeval(measures="good").choose_threshold(youden=True).iloc[0]
    fpr, tpr, cuts = metrics.roc_curve(df["gold"], df["good"], drop_intermediate=False)
    best = np.argmax(tpr - fpr)
    assert [row["threshold"], row["youden"]] == pytest.approx([cuts[best], (tpr - fpr)[best]])
    positive, others = df["gold"].sum(), (~df["gold"]).sum()
    margin = np.sqrt(0.5 * np.log(20.0) * (1 / positive + 1 / others))
    assert row["ci_low"] == pytest.approx(row["youden"] - margin, abs=1e-10)


@pytest.mark.full
def test_the_promise_of_youden_is_kept():
    rng, broken, warned = np.random.default_rng(5), 0, 0
    for _ in range(300):
        gold = rng.random(200) < 0.3
        df = pd.DataFrame({"s": rng.normal(size=200) + 1.5 * gold, "gold": gold})
        row = rankeval_pd.choose_threshold(df, youden=True).iloc[0]
        true = stats.norm.sf(row["threshold"] - 1.5) - stats.norm.sf(row["threshold"])
        broken += row["ci_low"] > true
        warned += np.isnan(row["threshold"])
    assert broken <= 0.05 * 300
    assert warned == 0


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"youden": True}, "the largest J is"),
        ({"precision": 0.99}, "needs at least .* correct candidates"),
        ({"recall": 0.99}, "true positives found, the lower confidence limit is"),
    ],
)
def test_why_nothing_is_promised(asked, why):
    rng = np.random.default_rng(2)
    df = pd.DataFrame({"s": rng.normal(size=40), "gold": np.arange(40) % 4 == 0})
    with pytest.warns(RankevalWarning, match=why):
        found = df.rankeval.choose_threshold(**asked)
    assert found["threshold"].isna().all()
