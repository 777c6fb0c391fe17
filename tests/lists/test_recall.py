"""Recall: its bands and intervals, and the precision of the same lists."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from rankeval_pd import datasets


@pytest.fixture(scope="module")
def simulated() -> pd.DataFrame:
    return datasets.simulate_candidates(1_000)


def test_a_band_of_recall_holds_the_intervals_at_each_n(simulated):
    n = [20, 60, 200, 1_000]
    found = simulated.rankeval.precision_band(n, of="recall", n_resamples=999)
    alone = simulated.rankeval.nbest_recall(n, target="nbest")
    assert found["recall"].tolist() == alone["recall"].tolist()
    assert (found["band_low"] <= alone["ci_low"] + 1e-9).all()
    assert (found["band_high"] >= alone["ci_high"] - 1e-9).all()
    inside = found[found["n"] < 1_000]
    assert (inside["band_low"] < alone["ci_low"][inside.index] - 0.005).all()


def test_a_band_of_one_recall_is_its_interval(simulated):
    """With a single n, the band is the interval of the n-best list at the level asked for."""
    band = simulated.rankeval.precision_band(100, of="recall", n_resamples=20_000)
    interval = simulated.rankeval.nbest_recall(100, target="nbest")
    for side in ("low", "high"):
        np.testing.assert_allclose(band[f"band_{side}"], interval[f"ci_{side}"], atol=3e-3)


LISTS = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=20)


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@given(LISTS)
def test_rates_are_those_of_precision_and_limits_hold_recall(rows):
    score, gold = (np.array(x) for x in zip(*rows, strict=True))
    df = pd.DataFrame({"a": score, "gold": gold})
    found = df.rankeval.nbest_recall(target="nbest")
    lists = df.rankeval.nbest_precision(target="nbest")
    shared = ["measure", "n", "threshold", "tp", "precision", "recall", "lift", "tied"]
    pd.testing.assert_frame_equal(found[shared], lists[shared])
    if not gold.any():
        assert found[["ci_low", "ci_high"]].isna().all(axis=None)
        return
    assert (found["ci_low"] <= found["recall"] + 1e-12).all()
    assert (found["recall"] <= found["ci_high"] + 1e-12).all()
    assert found["ci_low"].between(0, 1).all()
    assert found["ci_high"].between(0, 1).all()
    assert found["ci_high"].iloc[-1] == 1


def test_the_region_is_clopper_and_pearsons(simulated):
    """scipy.stats.binomtest(...).proportion_ci(method='exact')."""
    found = simulated.rankeval.nbest_recall([30, 100], target="region", measures="fair")
    positive = int(simulated["gold"].sum())
    for row in found.itertuples():
        wanted = stats.binomtest(row.tp, positive).proportion_ci(method="exact")
        assert (row.ci_low, row.ci_high) == pytest.approx((wanted.low, wanted.high), rel=1e-9)


def with_positives(row, low, high, variance, covariance):
    """Return limits by the search for differences that the wider variance does not reject."""
    limits = []
    for half, far in ((row.difference - low, -1.0), (row.difference - high, 1.0)):
        z = stats.norm.ppf(0.975)

        def excess(x, half=half, z=z):
            return (row.difference - x) ** 2 - half**2 - z**2 * (variance * x - 2 * covariance) * x

        limits.append(optimize.brentq(excess, row.difference, far))
    return limits


def test_recall_and_lift_are_compared_as_precision_is(simulated):
    """Their limits add what N+ varies, by the influence of every candidate (Fieller)."""
    n = [50, 200]
    plain, recall, lift = (
        simulated.rankeval.compare("good", "fair", n, of=of)
        for of in ("precision", "recall", "lift")
    )
    positive, total = int(simulated["gold"].sum()), len(simulated)
    for table, name, times in (
        (recall, "recall", np.array(n) / positive),
        (lift, "lift", total / positive),
    ):
        assert list(table) == [c.replace("precision", name) for c in plain]
        np.testing.assert_allclose(table["difference"], plain["difference"] * times, rtol=1e-12)
        widened = []
        for row in plain.itertuples():
            listed = [simulated[m].rank(ascending=False) for m in ("good", "fair")]
            half = max(20, int(0.5 * row.n**0.8))
            influence = 0.0
            for rank, sign in zip(listed, (1.0, -1.0), strict=True):
                near = rank.between(max(row.n - half, 0) + 1, row.n + half)
                edge = (simulated["gold"][near].sum() + 1) / (near.sum() + 2)
                influence += sign * (rank <= row.n) * (simulated["gold"] - edge)
            centered = simulated["gold"] - positive / total
            shared = (influence * centered).sum() / (row.n * positive)
            widened.append(
                with_positives(
                    row, row.ci_low, row.ci_high, (centered**2).sum() / positive**2, shared
                )
            )
        limits = (np.array(widened).T * times).tolist()
        for column, wanted in zip(("ci_low", "ci_high"), limits, strict=True):
            np.testing.assert_allclose(table[column], wanted, rtol=1e-9)
        np.testing.assert_allclose(table[f"{name}_a"], plain["precision_a"] * times, rtol=1e-12)
        same = ["p_value", "p_mid", "significant", "n_only_a", "odds_ratio", "better"]
        pd.testing.assert_frame_equal(table[same], plain[same])
    alone = simulated.rankeval.nbest_recall(n, measures="good")
    np.testing.assert_allclose(recall["recall_a"], alone["recall"], rtol=1e-12)


def test_recall_refuses_what_does_not_go_together(simulated):
    with pytest.raises(ValueError, match="of='lift'"):
        simulated.rankeval.compare_thresholds(thresholds=1, of="lift")
    with pytest.raises(ValueError, match="of='npv'"):
        simulated.rankeval.compare("good", "fair", 50, of="npv")
    with pytest.raises(ValueError, match="n_resamples=10 is too small for level"):
        simulated.rankeval.precision_band(50, of="recall", n_resamples=10)


def test_a_group_without_true_positives_has_no_recall():
    both = datasets.simulate_candidates(200)
    both["half"] = np.arange(200) % 2
    none = both.assign(gold=both["gold"] & (both["half"] == 0))
    call = none.rankeval(by="half", measures=["good", "fair"])
    found = call.precision_band([0.1, 0.5], of="recall")
    bands = ["recall", "band_low", "band_high"]
    assert list(found) == ["half", "measure", "n", *bands, "share"]
    assert found["share"].tolist() == [0.1, 0.5] * 4
    assert found["n"].tolist() == [10, 50] * 4
    lacking = found["half"] == 1
    assert found.loc[lacking, bands].isna().all(axis=None)
    assert found.loc[~lacking].notna().all(axis=None)
