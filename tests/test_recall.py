"""Recall: R's chemmodlab, counts by hand, the precision of the same lists, coverage."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_pd import RankevalWarning, datasets
from rankeval_pd.stats import bands
from rankeval_pd.stats import bands as recalls
from rankeval_pd.stats import ranking as swap_draws

LISTS = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=20)


@pytest.fixture(scope="module")
def simulated() -> pd.DataFrame:
    return datasets.simulate_candidates(1_000)


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
        lists = recalls.kernel_lists(score[order], gold[order], n)
        found = recalls.spread(
            lists.tp, n, np.array(score.size), np.array(85), lists.edge, added=added
        )
        factor = (found.recall - wanted["lo"][:-1]) / np.sqrt(found.variance / found.positive)
        np.testing.assert_allclose(factor, factor.mean(), rtol=4e-4)


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@given(LISTS)
def test_counts_and_limits(rows):
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


def test_the_variance_is_that_of_resamples(simulated):
    """The recall of the best tenth of 4,000 resamples of all candidates."""
    rng = np.random.default_rng(1)
    score, gold = simulated["fair"].to_numpy(), simulated["gold"].to_numpy()
    rows = rng.integers(0, gold.size, (4_000, gold.size))
    order = np.argsort(-score[rows], axis=1)[:, :100]
    drawn = np.take_along_axis(gold[rows], order, axis=1).sum(axis=1) / gold[rows].sum(axis=1)
    ranked = gold[np.argsort(-score)]
    counts = np.concatenate([[0], np.cumsum(ranked)])
    n, total, positive = np.array([100]), np.array(gold.size), np.array(gold.sum())
    edge = bands.edge_precision(counts, n, total)
    found = recalls.spread(counts[n], n, total, positive, edge, added=0)
    assert np.sqrt(found.variance / positive)[0] == pytest.approx(drawn.std(), rel=0.08)


def test_draws_have_the_variance_that_they_are_divided_by(simulated):
    """Each standardized deviation of the band is standard normal: 95% within 1.96 at one n."""
    gold = simulated["gold"].to_numpy()[np.argsort(-simulated["fair"].to_numpy())]
    counts = np.concatenate([[0], np.cumsum(gold)])
    n = np.array([150])
    edge = bands.edge_precision(counts, n, np.array(gold.size))
    found = recalls.sup_t(
        gold, n, edge, counts[n], swap_draws.by_position(gold.size), 0.95, added=2,
        n_resamples=20_000, seed=1, advance=lambda _: None,
    )  # fmt: skip
    assert found.factor == pytest.approx(1.96, abs=0.04)


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


def test_coverage_where_good_rankings_end():
    """300 of 1,000 positives, n = 300: that of a region covers .88, of the list .95."""
    rng = np.random.default_rng(4)
    gold = rng.random((600, 1_000)) < 0.3
    cuts = stats.norm.isf(np.linspace(0.2, 1e-6, 200_001))
    listed = 0.3 * stats.norm.sf(cuts - 3.0) + 0.7 * stats.norm.sf(cuts)
    truth = stats.norm.sf(cuts[np.argmin(np.abs(listed - 0.3))] - 3.0)
    samples = xr.Dataset(
        {
            "a": (("sample", "candidate"), 3.0 * gold + rng.normal(size=gold.shape)),
            "gold": (("sample", "candidate"), gold),
        }
    )
    covered = {}
    for target in ("nbest", "region"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankevalWarning)
            found = samples.rankeval.nbest_recall(300, target=target)
        held = (found["ci_low"] <= truth) & (truth <= found["ci_high"])
        covered[target] = float(held.mean())
    assert covered["nbest"] >= 0.93
    assert covered["region"] <= 0.91


@pytest.mark.full
def test_coverage_of_the_band():
    """At 20 n together; 200 samples, so that .95 is seen as .91 or more."""
    rng = np.random.default_rng(9)
    gold = rng.random((200, 300)) < 0.2
    n = np.unique(np.round(300 * np.geomspace(0.05, 0.8, 20)).astype(int))
    cuts = stats.norm.isf(np.linspace(1 - 1e-6, 1e-6, 100_001))
    listed = 0.2 * stats.norm.sf(cuts - 1.0) + 0.8 * stats.norm.sf(cuts)
    truth = stats.norm.sf(np.interp(n / 300, listed[::-1], cuts[::-1]) - 1.0)
    samples = xr.Dataset(
        {
            "a": (("sample", "candidate"), gold + rng.normal(size=gold.shape)),
            "gold": (("sample", "candidate"), gold),
        }
    )
    found = samples.rankeval.recall_band(n, n_resamples=200, progress=False)
    wanted = xr.DataArray(truth, dims="n")
    held = ((found["band_low"] <= wanted) & (wanted <= found["band_high"])).all("n")
    assert float(held.mean()) >= 0.91


def test_what_does_not_go_together_is_refused(simulated):
    with pytest.raises(ValueError, match="of='lift'"):
        simulated.rankeval.compare(of="lift", threshold={"good": 1, "fair": 1})
    with pytest.raises(ValueError, match="of='npv'"):
        simulated.rankeval.compare("good", "fair", 50, of="npv")
    with pytest.raises(ValueError, match="of='tpr'"):
        simulated.rankeval.compare("good", "fair", 50, of="tpr")
    with pytest.raises(ValueError, match="n_resamples=10 is too small for level"):
        simulated.rankeval.recall_band(50, n_resamples=10)
    doubled = pd.concat([simulated, simulated], keys=[0, 1], names=["doc", "i"])
    with pytest.raises(ValueError, match="groups: this method assumes independent"):
        doubled.rankeval(groups="doc").recall_band(50)


def test_groups_shares_and_nothing_true():
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
