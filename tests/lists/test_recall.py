"""Recall: R's chemmodlab, the precision of the same lists, coverage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_pd import datasets
from rankeval_pd.stats import bands


@pytest.fixture(scope="module")
def simulated() -> pd.DataFrame:
    return datasets.simulate_candidates(1_000)


# ------------------------------------------------------------------------------- chemmodlab's bands


@pytest.mark.parametrize(("ci", "plus"), [("emproc", False), ("emproc-plus", True)])
def test_bands_of_chemmodlab(docking, docking_bands, ci, plus):
    """The recall to rounding, the limits to the Monte-Carlo errors of their and of our factor."""
    wanted = docking_bands[docking_bands["plus"] == plus].reset_index(drop=True)
    n = wanted["n"].tolist()
    asked = docking[["surf", "gold"]].rankeval
    found = asked.recall_band(n, ci=ci, n_resamples=5_000, progress=False)
    np.testing.assert_allclose(found["recall"], wanted["est"], rtol=1e-13)
    # of a quantile of 5,000 and 20,000 draws, at a density of about .12 where it is 2.9
    error = np.hypot(*(np.sqrt(0.05 * 0.95 / draws) / 0.12 for draws in (5_000, 20_000))) / 2.88
    # chemmodlab gives n = N - 1, where nothing varies, a deviation of its own: 2.900 for 2.873
    room = (0.01 if ci == "emproc" else 0.0) + 3.0 * error
    center = wanted["est"] if ci == "emproc" else (wanted["est"] * 85 + 2) / 89
    for side, limit in (("band_low", "lo"), ("band_high", "hi")):
        half = np.abs(wanted[limit] - center)
        np.testing.assert_array_less(np.abs(found[side] - wanted[limit]), room * half + 1e-12)


def test_the_kernel_estimates_are_those_that_chemmodlabs_widths_ask_for(docking, docking_bands):
    """(recall - lower limit) by our standard error is one factor at all n: to 4 in 10,000."""
    score, gold = docking["surf"].to_numpy(), docking["gold"].to_numpy() == 1
    order = np.argsort(-score, kind="stable")
    for plus, added in ((False, 0), (True, 2)):
        wanted = docking_bands[docking_bands["plus"] == plus]
        n = wanted["n"].to_numpy()[:-1]
        lists = bands.kernel_lists(score[order], gold[order], n)
        found = bands.spread(
            lists.tp, n, np.array(score.size), np.array(85), lists.edge, added=added
        )
        factor = (found.recall - wanted["lo"][:-1]) / np.sqrt(found.variance / found.positive)
        np.testing.assert_allclose(factor, factor.mean(), rtol=4e-4)


# -------------------------------------------------------------------------------- Values and limits


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


@pytest.mark.filterwarnings("ignore:target=:rankeval_pd.RankevalWarning")
def test_recall_and_lift_are_compared_as_precision_is(simulated):
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
        for column in ("difference", "ci_low", "ci_high"):
            np.testing.assert_allclose(table[column], plain[column] * times, rtol=1e-12)
        np.testing.assert_allclose(table[f"{name}_a"], plain["precision_a"] * times, rtol=1e-12)
        same = ["p_value", "p_mid", "significant", "n_only_a", "odds_ratio", "better"]
        pd.testing.assert_frame_equal(table[same], plain[same])
    alone = simulated.rankeval.nbest_recall(n, measures="good")
    np.testing.assert_allclose(recall["recall_a"], alone["recall"], rtol=1e-12)


# ------------------------------------------------------------------------------- Refusals and edges


def test_recall_refuses_what_does_not_go_together(simulated):
    with pytest.raises(ValueError, match="of='lift'"):
        simulated.rankeval.compare(of="lift", threshold={"good": 1, "fair": 1})
    with pytest.raises(ValueError, match="of='npv'"):
        simulated.rankeval.compare("good", "fair", 50, of="npv")
    with pytest.raises(ValueError, match="n_resamples=10 is too small for level"):
        simulated.rankeval.recall_band(50, n_resamples=10)


def test_a_group_without_true_positives_has_no_recall():
    both = datasets.simulate_candidates(200)
    both["half"] = np.arange(200) % 2
    none = both.assign(gold=both["gold"] & (both["half"] == 0))
    found = none.rankeval(by="half", measures=["good", "fair"]).recall_band([0.1, 0.5])
    bands = ["recall", "band_low", "band_high"]
    assert list(found) == ["half", "measure", "n", *bands, "expected", "share"]
    assert found["expected"].tolist() == [0.1, 0.5] * 4
    assert found["n"].tolist() == [10, 50] * 4
    lacking = found["half"] == 1
    assert found.loc[lacking, bands].isna().all(axis=None)
    assert found.loc[~lacking].notna().all(axis=None)
