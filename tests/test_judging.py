"""Partly judged candidates: what can be said, and which to judge next."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import rankeval_pd
from rankeval_pd.stats.intervals.finite import hypergeometric_limits


@pytest.fixture(scope="module")
def whole() -> pd.DataFrame:
    return rankeval_pd.datasets.simulate_candidates(1_000)


@pytest.fixture(scope="module")
def partly(whole) -> pd.DataFrame:
    judged = np.random.default_rng(1).random(1_000) < 0.3
    return whole.assign(gold=whole["gold"].astype(float).where(judged))


def test_limits_of_a_finite_population():
    """Every number of positives, tried with SciPy's hypergeometric law."""
    for size, judged in [(1, 1), (9, 4), (30, 7), (30, 30), (12, 0), (200, 40)]:
        for tp in range(judged + 1):
            possible = [
                total
                for total in range(tp, size - (judged - tp) + 1)
                if stats.hypergeom.sf(tp - 1, size, total, judged) > 0.025
                and stats.hypergeom.cdf(tp, size, total, judged) > 0.025
            ]
            low, high = hypergeometric_limits(tp, judged, size, 0.95)
            assert (low, high) == (min(possible), max(possible))


def test_the_interval_covers_every_population():
    """Exact coverage, enumerated: at least .95 for each number of positives."""
    size, judged = 40, 12
    low, high = hypergeometric_limits(np.arange(13), judged, size, 0.95)
    for total in range(size + 1):
        inside = (low <= total) & (total <= high)
        assert stats.hypergeom.pmf(np.arange(13), size, total, judged)[inside].sum() >= 0.95


def test_everything_judged_is_today_s_numbers(whole):
    table = rankeval_pd.judged_precision(whole, [50, 100])
    today = whole.rankeval.nbest_precision([50, 100])
    for name in ("precision", "ci_low", "ci_high"):
        assert table[name].tolist() == today["precision"].tolist()
    pair = rankeval_pd.judged_difference(whole, "good", "fair", [50, 100])
    today = whole.rankeval.compare("good", "fair", [50, 100])
    for name in ("difference", "ci_low", "ci_high"):
        np.testing.assert_allclose(pair[name], today["difference"], rtol=1e-12)


def test_counts_are_those_of_the_judged(whole, partly):
    row = rankeval_pd.judged_precision(partly, 100, measures="good").iloc[0]
    listed = partly.nlargest(100, "good")["gold"]
    assert row["n_judged"] == listed.notna().sum()
    assert row["tp_judged"] == listed.sum()
    assert row["precision"] == listed.mean()
    bounds = rankeval_pd.judged_precision(partly, 100, measures="good", unjudged="bounds").iloc[0]
    assert bounds["ci_low"] == listed.fillna(0).mean()
    assert bounds["ci_high"] == listed.fillna(1).mean()
    pair = partly.rankeval.judged_difference("good", "fair", 100, unjudged="bounds").iloc[0]
    only_good = whole["good"].rank(ascending=False) <= 100
    only_fair = whole["fair"].rank(ascending=False) <= 100
    a, b = partly["gold"][only_good & ~only_fair], partly["gold"][only_fair & ~only_good]
    assert pair["ci_low"] == pytest.approx((a.fillna(0).sum() - b.fillna(1).sum()) / 100)
    assert pair["ci_high"] == pytest.approx((a.fillna(1).sum() - b.fillna(0).sum()) / 100)


def test_datasets_and_nothing_judged(partly):
    ds = xr.Dataset.from_dataframe(partly.rename_axis("candidate"))
    frame = partly.rankeval.judged_difference("good", "fair", [50, 100])
    found = ds.rankeval.judged_difference("good", "fair", [50, 100])
    assert found["ci_low"].to_numpy().ravel().tolist() == frame["ci_low"].tolist()
    table = ds.rankeval.judged_precision(50)["precision"].to_numpy().ravel()
    assert table.tolist() == partly.rankeval.judged_precision(50)["precision"].tolist()
    none = partly.assign(gold=np.nan).rankeval.judged_precision(50).iloc[0]
    assert np.isnan(none["precision"])
    assert (none["ci_low"], none["ci_high"]) == (0, 1)


@pytest.mark.slow
def test_intervals_cover_random_judgements(whole):
    rng = np.random.default_rng(2)
    truth = whole.rankeval.compare("good", "fair", 100)["difference"][0]
    found = []
    for _ in range(60):
        judged = rng.random(1_000) < 0.3
        partly = whole.assign(gold=whole["gold"].astype(float).where(judged))
        row = partly.rankeval.judged_difference("good", "fair", 100).iloc[0]
        found.append((row["difference"], row["ci_low"] <= truth <= row["ci_high"]))
    point, covered = np.transpose(found)
    assert covered.mean() >= 0.85  # below by chance once in a thousand
    assert abs(point.mean() - truth) < 4 * point.std() / np.sqrt(60)


@pytest.mark.slow
def test_plan_is_kept(whole):
    """The power that was planned, simulated anew from sheets of that size."""
    region = whole.rankeval.difference_region("good", "fair", 100)
    shares = tuple(region.groupby("list")["gold"].mean())
    blank = whole.assign(gold=np.nan)
    plan = rankeval_pd.plan_annotation(blank, "good", "fair", 100, precisions=shares).iloc[0]
    assert plan["n_region"] == len(region)
    assert plan["region_share"] == len(region) / (100 + len(region) / 2)
    sides = [region.loc[region["list"] == side, "gold"].to_numpy() for side in "ab"]
    rng = np.random.default_rng(5)
    half = int(plan["n_more"] - plan["n_more"] // 2), int(plan["n_more"] // 2)
    hits = []
    for _ in range(1_500):
        a, b = (rng.choice(x, m, replace=False) for x, m in zip(sides, half, strict=True))
        table = [[a.sum(), (~a).sum()], [b.sum(), (~b).sum()]]
        hits.append(stats.fisher_exact(table).pvalue <= 0.05)
    assert np.mean(hits) == pytest.approx(0.8, abs=0.03 + 0.02)
    assert plan["power"] == pytest.approx(np.mean(hits), abs=0.04)
    few = rankeval_pd.plan_annotation(
        blank, "good", "fair", 100, precisions=shares, budget=10
    ).iloc[0]
    assert few["n_more"] == 10
    assert few["power"] < plan["power"]


def test_sheets_there_and_back(whole, partly):
    sheet = rankeval_pd.annotation_sheet(partly, "good", "fair", 100, size=20)
    region = whole.rankeval.difference_region("good", "fair", 100)
    assert list(sheet.columns) == ["gold"]
    assert sheet["gold"].isna().all()
    assert partly.loc[sheet.index, "gold"].isna().all()
    assert region.loc[sheet.index, "list"].value_counts().to_dict() == {"a": 10, "b": 10}
    judged = sheet.assign(gold=whole.loc[sheet.index, "gold"])
    back = rankeval_pd.with_judgements(partly, judged)
    assert back.loc[sheet.index, "gold"].tolist() == whole.loc[sheet.index, "gold"].tolist()
    others = back.index.difference(sheet.index)
    assert back.loc[others, "gold"].isna().tolist() == partly.loc[others, "gold"].isna().tolist()
    every = rankeval_pd.annotation_sheet(whole.assign(gold=np.nan), "good", "fair", 100)
    assert sorted(every.index) == sorted(region.index)
    done = rankeval_pd.with_judgements(
        whole.assign(gold=np.nan), every.assign(gold=whole.loc[every.index, "gold"])
    )
    found = done.rankeval.judged_difference("good", "fair", 100).iloc[0]
    today = whole.rankeval.compare("good", "fair", 100).iloc[0]
    assert found["ci_low"] == found["ci_high"] == pytest.approx(today["difference"])
    with pytest.raises(ValueError, match="candidates that are not judged"):
        rankeval_pd.annotation_sheet(partly, "good", "fair", 100, size=500)
    wrong = pd.DataFrame({"gold": [not whole["gold"].iloc[0]]}, index=whole.index[:1])
    with pytest.raises(ValueError, match="judges 1 candidates otherwise"):
        rankeval_pd.with_judgements(whole, wrong)
    with pytest.raises(ValueError, match="that are not there"):
        rankeval_pd.with_judgements(whole, pd.DataFrame({"gold": [True]}, index=["nobody"]))


def test_published_figures_to_plan_with():
    table = rankeval_pd.needed_candidates(0.4, 0.3, 0.5).iloc[0]
    assert table["power"] >= 0.8
    fewer = rankeval_pd.needed_candidates(0.4, 0.3, 0.5, n=int(table["n"] * 0.8)).iloc[0]
    assert fewer["power"] < 0.8
    # without overlap: two binomial samples, against all tables
    n, p = 60, (0.5, 0.25)
    law = [stats.binom.pmf(np.arange(n + 1), n, x) for x in p]
    exact = sum(
        law[0][a] * law[1][b]
        for a in range(n + 1)
        for b in range(n + 1)
        if law[0][a] * law[1][b] > 1e-7
        and stats.fisher_exact([[a, n - a], [b, n - b]]).pvalue <= 0.05
    )
    assert rankeval_pd.needed_candidates(*p, 0.0, n=n)["power"][0] == pytest.approx(exact, abs=0.02)
    with pytest.raises(ValueError, match="are equal"):
        rankeval_pd.needed_candidates(0.4, 0.4, 0.5)
    with pytest.raises(ValueError, match="cannot have precisions"):
        rankeval_pd.needed_candidates(0.9, 0.1, 0.5)
