"""Partly judged candidates: what can be said, and which to judge next."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score

import rankeval_pd
from rankeval_pd.judging.annotation import _State
from rankeval_pd.stats import judged as totals
from rankeval_pd.stats.distributions import first_near, first_true
from rankeval_pd.stats.judged import average_precision_bounds, hypergeometric_limits
from rankeval_pd.stats.two_by_two import fisher_test


@pytest.fixture(scope="module")
def whole() -> pd.DataFrame:
    return rankeval_pd.datasets.simulate_candidates(1_000)


@pytest.fixture(scope="module")
def partly(whole) -> pd.DataFrame:
    judged = np.random.default_rng(1).random(1_000) < 0.3
    return whole.assign(gold=whole["gold"].astype(float).where(judged))


@pytest.mark.full
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


def test_blocks_of_lists_are_the_whole_and_the_bar_moves_to_its_end(partly, monkeypatch):
    pair = {"a": "good", "b": "fair"}
    asked = {"judged_precision": {}, "judged_recall": {}, "judged_difference": pair}
    alone = {name: getattr(partly.rankeval, name)(n=None, **kw) for name, kw in asked.items()}
    moved: list[int] = []

    @contextmanager
    def counted(*_: object, total: int, **__: object) -> Iterator[Callable[[int], object]]:
        moved.append(-total)
        yield moved.append

    monkeypatch.setattr("rankeval_pd.errors.progress_bar", counted)
    monkeypatch.setattr("rankeval_pd.judging.judged._TOGETHER", 7)
    for name, kw in asked.items():
        moved.clear()
        table = getattr(partly.rankeval, name)(n=None, **kw)
        pd.testing.assert_frame_equal(table, alone[name])
        assert len(moved) > 100
        assert sum(moved) == 0


@given(st.data())
def test_a_search_from_a_guess_finds_the_first(data):
    """Wherever the guess is, and where the predicate never holds: the upper end."""
    low = np.array(data.draw(st.lists(st.integers(-50, 50), min_size=1, max_size=6)), dtype=float)
    size = low.size
    counts = st.lists(st.integers(0, 10**6), min_size=size, max_size=size)
    high = low + np.array(data.draw(counts), dtype=float)
    guess = low + np.array(data.draw(counts), dtype=float) - 1_000.0
    change = low + np.array(data.draw(counts), dtype=float) - 3.0

    def rising(x: np.ndarray, these: object = ...) -> np.ndarray:
        return x >= change[these]

    found = first_near(rising, low, high, guess)
    assert found.tolist() == first_true(rising, low, high).tolist()
    assert found.tolist() == np.clip(change, low, high).tolist()


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


@pytest.mark.full
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


@pytest.mark.full
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
    tp = [
        rng.hypergeometric(x.sum(), (~x).sum(), m, 10_000) for x, m in zip(sides, half, strict=True)
    ]
    hits = (fisher_test(tp[0], half[0], tp[1], half[1], "two-sided").p_value <= 0.05).mean()
    assert hits == pytest.approx(0.8, abs=0.03)
    assert plan["power"] == pytest.approx(hits, abs=0.02)
    few = rankeval_pd.plan_annotation(
        blank, "good", "fair", 100, precisions=shares, budget=10
    ).iloc[0]
    assert few["n_more"] == 10
    assert few["power"] < plan["power"]


def test_the_power_of_a_plan_is_exact():
    """All samples of two small regions, a start judged already, by SciPy's laws and Fisher test."""
    found = pd.Series(
        {"n_judged_a": 3, "n_judged_b": 2, "tp_judged_a": 2, "tp_judged_b": 0, "n_only": 14}
    )
    state = _State.of(found, (10 / 14, 2 / 14))
    new_a, new_b = 5, 6
    total = 0.0
    for i in range(new_a + 1):
        for j in range(new_b + 1):
            law = stats.hypergeom.pmf(i, 11, 8, new_a) * stats.hypergeom.pmf(j, 12, 2, new_b)
            table = [[2 + i, 6 - i], [j, 8 - j]]
            total += law * (stats.fisher_exact(table).pvalue <= 0.05) if law else 0.0
    assert state.power(0.05, new_a + new_b) == pytest.approx(total, abs=1e-7)
    estimated = _State.of(found, None).precisions
    assert estimated == pytest.approx(((2 + 11 * 2.5 / 4) / 14, (12 * 0.5 / 3) / 14))


def test_plans_where_nothing_is_left(whole):
    plan = whole.rankeval.plan_annotation("good", "fair", 100).iloc[0]
    assert (plan["n_more"], plan["power"]) == (0, 1.0)
    region = whole.rankeval.difference_region("good", "fair", 100)
    shares = region.groupby("list")["gold"].mean()
    assert [plan["precision_a"], plan["precision_b"]] == pytest.approx(shares.tolist())
    with pytest.warns(rankeval_pd.RankevalWarning, match="both lists contain the same candidates"):
        same = whole.assign(again=whole["good"]).rankeval.plan_annotation("good", "again", 100)
    assert (same["n_region"][0], same["n_more"][0], same["power"][0]) == (0, 0, 0.0)


def test_plans_that_show_nothing_say_so(whole):
    """With 4 and 4 judged, not even all against none is rare: p = 1/35 at an alpha of .01."""
    blank = whole.assign(gold=np.nan)
    ask = {"precisions": (0.9, 0.1), "alpha": 0.01}
    with pytest.warns(
        rankeval_pd.RankevalWarning, match="power is 0: no outcome of 8 additional .*Judge more"
    ):
        plan = blank.rankeval.plan_annotation("good", "fair", 100, budget=8, **ask)
    assert plan["power"][0] == 0.0
    assert blank.rankeval.plan_annotation("good", "fair", 100, budget=12, **ask)["power"][0] > 0
    with pytest.warns(
        rankeval_pd.RankevalWarning,
        match=r"power=0.8 is out of reach: judging all 126 .* 0 \(expected: 25 and \d+ true .*p = ",
    ):
        plan = blank.rankeval.plan_annotation("good", "fair", 100, precisions=(0.4, 0.3))
    assert plan["power"][0] == 0  # 25 against 19 of 63 each, whoever they are
    assert plan["n_more"][0] == 126


def test_plans_of_groups(partly):
    both = pd.concat([partly, partly.iloc[:500]], keys=["all", "half"], names=["part", "item"])
    ask = {"precisions": (0.6, 0.2)}
    table = both.rankeval.plan_annotation("good", "fair", 100, by="part", **ask)
    alone = partly.rankeval.plan_annotation("good", "fair", 100, **ask)
    assert table["part"].tolist() == ["all", "half"]
    pd.testing.assert_frame_equal(table.iloc[:1].drop(columns="part"), alone)


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
    with pytest.raises(ValueError, match="unjudged candidates"):
        rankeval_pd.annotation_sheet(partly, "good", "fair", 100, size=500)
    wrong = pd.DataFrame({"gold": [not whole["gold"].iloc[0]]}, index=whole.index[:1])
    with pytest.raises(ValueError, match="judgments of 1 candidates"):
        rankeval_pd.with_judgements(whole, wrong)
    with pytest.raises(ValueError, match="unknown candidates"):
        rankeval_pd.with_judgements(whole, pd.DataFrame({"gold": [True]}, index=["nobody"]))


def test_lists_that_cut_ties_say_so(whole):
    rounded = whole.assign(good=whole["good"].round(1), fair=whole["fair"].round(1))
    judged = np.random.default_rng(4).random(1_000) < 0.5
    partly = rounded.assign(gold=whole["gold"].astype(float).where(judged))
    sizes = [7, 50, 100, 1_000]
    tied = rounded.rankeval.nbest_precision(sizes)["tied"].tolist()
    assert 0 in tied
    assert max(tied) > 10
    assert partly.rankeval.judged_precision(sizes)["tied"].tolist() == tied
    assert partly.rankeval.judged_recall(sizes)["tied"].tolist() == tied
    assert rounded.rankeval.enrichment([0.05, 0.1])["tied"].tolist() == [
        tied[k] for k in (1, 2, 5, 6)
    ]
    cuts = rounded.rankeval.compare("good", "fair", sizes)["cuts_tie"].tolist()
    assert partly.rankeval.judged_difference("good", "fair", sizes)["cuts_tie"].tolist() == cuts


@pytest.mark.parametrize("size", [60, None])
def test_a_sheet_is_no_sample_of_a_list(whole, size):
    """Judged from what one list alone has, the estimate of the list is far off, and is said."""
    blank = whole.assign(gold=np.nan)
    sheet = rankeval_pd.annotation_sheet(blank, "good", "fair", 100, size=size)
    judged = rankeval_pd.with_judgements(
        blank, sheet.assign(gold=whole.loc[sheet.index, "gold"].astype(bool))
    )
    shared = "0 of 37 candidates shared with the list of '(good|fair)' are judged"
    with pytest.warns(rankeval_pd.RankevalWarning, match=shared):
        judged.rankeval.judged_precision(100)
    with pytest.warns(rankeval_pd.RankevalWarning, match="not a random sample"):
        judged.rankeval.judged_recall(100)
    with pytest.raises(
        ValueError, match=r"not a random sample.*of the best 100 are judged, compared"
    ):
        judged.rankeval.judged_average_precision()
    judged.rankeval.judged_difference("good", "fair", 100)
    judged.rankeval.judged_precision(100, unjudged="bounds")
    judged.rankeval.judged_precision(200, windows=[100])


def test_judged_to_a_depth_is_no_sample_of_longer_lists(whole):
    """As pools of search are judged: all of the best 50, and nothing below."""
    best = (whole[["good", "fair"]].rank(ascending=False) <= 50).any(axis=1)
    pool = whole.assign(gold=whole["gold"].astype(float).where(best))
    assert pool.rankeval.judged_precision(50)["n_judged"].tolist() == [50, 50]
    with pytest.warns(rankeval_pd.RankevalWarning, match="50 of 50 candidates of the best 50"):
        pool.rankeval.judged_precision(100, measures="good")
    ds = xr.Dataset.from_dataframe(pool.rename_axis("candidate"))
    with pytest.warns(rankeval_pd.RankevalWarning, match="at n = 100: "):
        ds.rankeval.judged_precision([50, 100])


@pytest.mark.full
def test_a_random_sample_is_seldom_taken_for_chosen(whole):
    """400 samples, lists of three n and of three measures: at most .001 are to be warned of."""
    data = whole.assign(other=whole["good"].to_numpy()[::-1])
    rng = np.random.default_rng(8)
    draws = rng.random((400, 1_000)) < rng.uniform(0.05, 0.9, (400, 1))
    gold = np.where(draws, data["gold"].to_numpy(dtype=float), np.nan)
    warned = 0
    for one in gold:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data.assign(gold=one).rankeval.judged_precision([20, 100, 300])
        warned += len(caught)
    assert warned <= 3  # of 400 at .001: more by chance less than once in a thousand


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


def _strata(n_sizes, truths, counts):
    """Enumerate every sample of two strata: probabilities, and what was seen."""
    for judged in np.ndindex(*(t + 1 for t in counts)):
        law = [
            stats.hypergeom.pmf(t, size, true, m)
            for t, size, true, m in zip(judged, n_sizes, truths, counts, strict=True)
        ]
        yield np.prod(law), judged


def test_two_rates_cover_and_are_unbiased_in_every_sample():
    """All samples of two strata, by SciPy's law: the mean of the estimates, and the coverage."""
    design = totals.Design(2, "estimate", "ratio", 0.95)
    sizes, counts = (30, 20), (6, 10)
    for truths in [(10, 10), (3, 15), (25, 2), (0, 9)]:
        samples = [(p, tp) for p, tp in _strata(sizes, truths, counts) if p > 0]
        sums = np.array([[50, 16, sum(tp), *sizes, *counts, *tp] for _, tp in samples], dtype=float)
        found = design.total(sums)
        law = np.array([p for p, _ in samples])
        assert law @ found.estimate == pytest.approx(sum(truths), rel=1e-9)
        inside = (found.low <= sum(truths)) & (sum(truths) <= found.high)
        assert law @ inside >= 0.94


def test_inverse_probabilities_are_unbiased():
    """All subsets of eight candidates with rates of their own: sums, recall's parts and AP."""
    rate = np.array([0.9, 0.8, 0.5, 0.5, 0.4, 0.3, 0.3, 0.6])
    true = np.array([1, 0, 1, 1, 0, 1, 0, 1], dtype=bool)
    design = totals.Design(0, "estimate", "horvitz-thompson", 0.95, 1 / 0.3)
    none = np.zeros(8, dtype=np.int64)
    whole, variance = 0.0, 0.0
    pairs = 0.0
    for chosen in np.ndindex(*([2] * 8)):
        judged = np.array(chosen, dtype=bool)
        p = float(np.prod(np.where(judged, rate, 1 - rate)))
        parts = design.parts(totals.JudgedSample(judged, true & judged, rate, none))
        found = design._horvitz_thompson(parts.sum(axis=0), np.array(8.0 - judged.sum()))
        whole += p * found.estimate
        variance += p * (found.estimate - 5.0) ** 2
        weight = np.where(judged & true, 1 / rate, 0.0)
        others = np.cumsum(weight) - weight
        pairs += p * float((weight * (1 + others) / np.arange(1, 9)).sum())
    assert whole == pytest.approx(5.0, rel=1e-12)
    assert variance == pytest.approx(((1 - rate) / rate)[true].sum(), rel=1e-12)
    precision = np.cumsum(true) / np.arange(1, 9)
    assert pairs == pytest.approx(precision[true].sum(), rel=1e-12)


def test_bounds_of_average_precision_are_those_of_every_completion():
    rng = np.random.default_rng(0)
    for trial in range(60):
        size = int(rng.integers(2, 9))
        score = -np.sort(-rng.integers(0, 4 if trial % 2 else 99, size).astype(float))
        true, judged = rng.random((2, size)) < 0.5
        tried = []
        for filled in np.ndindex(*([2] * int((~judged).sum()))):
            label = true.copy()
            label[~judged] = np.array(filled, dtype=bool)
            if label.any():
                tried.append(average_precision_score(label, score))
        if tried:
            found = average_precision_bounds(score, true, judged)
            assert found == pytest.approx((min(tried), max(tried)), rel=1e-12)


def test_everything_judged_is_today_s_recall_and_average_precision(whole):
    tied = whole.round({"good": 1, "fair": 1})
    for told in ({}, {"windows": [30, 100]}, {"judged_with": 1.0}):
        table = tied.rankeval.judged_recall([50, 100], **told)
        today = tied.rankeval.nbest_precision([50, 100])
        for name in ("recall", "ci_low", "ci_high"):
            np.testing.assert_allclose(table[name], today["recall"], rtol=1e-15)
        table = tied.rankeval.judged_average_precision(**told)
        for name in ("average_precision", "ci_low", "ci_high"):
            np.testing.assert_allclose(table[name], tied.rankeval.area("ap")["area"], rtol=1e-13)
        precision = tied.rankeval.judged_precision([50, 100], **told)
        for name in ("precision", "ci_low", "ci_high"):
            assert precision[name].tolist() == today["precision"].tolist()


def test_estimates_by_hand(whole, partly):
    """With two rates: the sum over the rates of size times share, and of 1 / rate."""
    rate = np.where(whole["good"].rank(ascending=False) <= 60, 0.5, 0.25)
    judged = np.random.default_rng(3).random(1_000) < rate
    data = whole.assign(gold=whole["gold"].astype(float).where(judged), rate=rate)
    listed = data.nlargest(150, "good")
    by_rate = listed.groupby("rate")["gold"]
    wanted = (by_rate.mean() * by_rate.size()).sum() / 150
    row = data.rankeval.judged_precision(150, judged_with="rate", measures="good").iloc[0]
    assert row["precision"] == pytest.approx(wanted, rel=1e-12)
    assert row["n_judged"] == listed["gold"].notna().sum()
    windows = data.drop(columns="rate").rankeval(measures="good").judged_precision(
        150, windows=[60]
    )  # fmt: skip
    assert windows["ci_low"].tolist() == [row["ci_low"]]
    known = data.rankeval.judged_precision(
        150, judged_with="rate", estimator="horvitz-thompson", measures="good"
    ).iloc[0]
    inverse = (listed["gold"].fillna(0) / listed["rate"]).sum() / 150
    assert known["precision"] == pytest.approx(inverse, rel=1e-12)
    as_values = data.drop(columns="rate").rankeval.judged_precision(
        150, judged_with=data["rate"], measures="good"
    )
    assert as_values.iloc[0].equals(row)
    out = data.drop(listed.index)
    by_rate = out.groupby("rate")["gold"]
    rest = (by_rate.mean() * by_rate.size()).sum()
    recall = data.rankeval.judged_recall(150, judged_with="rate", measures="good").iloc[0]
    assert recall["recall"] == pytest.approx(150 * wanted / (150 * wanted + rest), rel=1e-12)
    many = np.random.default_rng(4).uniform(0.2, 0.9, 1_000)  # too many rates for strata
    row = partly.rankeval.judged_precision(150, judged_with=many, measures="good").iloc[0]
    listed = partly.assign(many=many).nlargest(150, "good").dropna(subset="gold")
    assert row["precision"] == pytest.approx(np.average(listed["gold"], weights=1 / listed["many"]))


def test_limits_are_within_the_bounds_and_hold_the_estimate(partly):
    for ask in ("judged_precision", "judged_recall"):
        method = getattr(partly.rankeval, ask)
        found, bounds = method(range(1, 300, 7)), method(range(1, 300, 7), unjudged="bounds")
        assert (found["ci_low"] >= bounds["ci_low"] - 1e-12).all()
        assert (found["ci_high"] <= bounds["ci_high"] + 1e-12).all()
        point = found[ask.removeprefix("judged_")]
        assert (found["ci_low"][found["tp_judged"] == 0] == 0).all()
        known = point.notna()
        assert (found["ci_low"] <= point + 1e-12)[known].all()
        assert (point <= found["ci_high"] + 1e-12)[known].all()
    found = partly.rankeval.judged_average_precision()
    bounds = partly.rankeval.judged_average_precision(unjudged="bounds")
    assert (bounds["ci_low"] <= found["ci_low"]).all()
    assert (found["ci_high"] <= bounds["ci_high"]).all()
    recall = partly.rankeval.judged_recall(100, measures="good", unjudged="bounds").iloc[0]
    listed = partly["good"].rank(ascending=False) <= 100
    least = partly["gold"].fillna((~listed).astype(float))
    assert recall["ci_low"] == pytest.approx(least[listed].sum() / least.sum())


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:by='part'.*in another group:rankeval_pd.RankevalWarning")
def test_padded_datasets_and_groups(partly):
    both = pd.concat({"x": partly, "y": partly.iloc[:400]}, names=["part", "item"])
    frame = both.reset_index()
    ask = {"by": "part", "label": "item", "measures": ["good", "fair"]}
    ds = both.astype(float).to_xarray().rename(item="candidate")
    for name, where in (
        ("judged_precision", {"n": [50, 100]}),
        ("judged_recall", {"n": [50, 100]}),
        ("judged_average_precision", {}),
        ("judged_difference", {"a": "good", "b": "fair", "n": [50, 100]}),
    ):
        for told in ({}, {"windows": [40]}, {"unjudged": "bounds"}):
            table = getattr(frame.rankeval, name)(**where, **told, **ask)
            found = getattr(ds.rankeval, name)(**where, **told)
            flat = found.to_dataframe().reset_index()
            np.testing.assert_allclose(
                np.sort(flat["ci_low"].to_numpy()), np.sort(table["ci_low"].to_numpy()), rtol=1e-12
            )
            assert sorted(flat.filter(like="n_judged").iloc[:, 0]) == sorted(
                table.filter(like="n_judged").iloc[:, 0]
            )


def test_what_cannot_be_estimated(partly):
    ask = partly.rankeval.judged_precision
    with pytest.raises(ValueError, match="divides by known judging probabilities"):
        ask(50, estimator="horvitz-thompson")
    with pytest.raises(ValueError, match="with judged_with: both define"):
        ask(50, windows=[9], judged_with=0.3)
    with pytest.raises(ValueError, match="no judging probability in"):
        ask(50, judged_with=np.zeros(1_000))
    with pytest.raises(ValueError, match="judging probability 1 have no"):
        ask(50, judged_with=1.0)
    with pytest.raises(KeyError, match="judged_with: no column 'rate'"):
        ask(50, judged_with="rate")
    with pytest.raises(ValueError, match="values of shape"):
        ask(50, judged_with=np.ones(7))
    with pytest.raises(ValueError, match="unjudged='skip' is not one of"):
        ask(50, unjudged="skip")
    with pytest.raises(ValueError, match="supported only by judged_precision, judged_recall"):
        partly.rankeval.nbest_precision(50, unjudged="estimate")
    chain = partly.rankeval(unjudged="bounds", measures="good")
    assert chain.judged_precision(50).attrs["unjudged"] == "bounds"
    with pytest.raises(ValueError, match="Call one of these"):
        chain.nbest_precision(50)
    before = partly.copy()
    ask(50)
    pd.testing.assert_frame_equal(partly, before)


@pytest.mark.full
def test_unequal_rates_cover(whole):
    """Two hundred samples at once, as a batch of a Dataset: twice the rate in the first 100."""
    rng = np.random.default_rng(6)
    rate = np.where(whole["good"].rank(ascending=False) <= 100, 0.4, 0.2)
    gold = np.where(rng.random((200, 1_000)) < rate, whole["gold"].astype(float), np.nan)
    data = whole.drop(columns="gold").rename_axis("candidate").to_xarray()
    data = data.assign(gold=(("sample", "candidate"), gold), rate=("candidate", rate))
    today = whole.rankeval(measures="good")
    truth = today.nbest_precision(200).iloc[0]
    ap = today.area("ap")["area"][0]
    ask = data.rankeval(measures="good")
    for found, name, true in (
        (ask.judged_precision(200, judged_with="rate"), "precision", truth["precision"]),
        (ask.judged_recall(200, judged_with="rate"), "recall", truth["recall"]),
        (ask.judged_average_precision(judged_with="rate"), "average_precision", ap),
    ):
        point, low, high = (found[x].to_numpy().ravel() for x in (name, "ci_low", "ci_high"))
        assert ((low <= true) & (true <= high)).mean() >= 0.89  # of .94, less three errors
        assert abs(point.mean() - true) < 4 * point.std() / np.sqrt(200)


@pytest.mark.parametrize("words", [["yes", "no"], [1, 0], [True, False], [1.0, 0.0]])
def test_judgements_in_words_and_numbers(words):
    before = pd.array([True, None, None], dtype="boolean")
    candidates = pd.DataFrame({"m": [3.0, 2, 1], "gold": before}, index=list("xyz"))
    sheet = pd.DataFrame({"gold": words}, index=["y", "z"])
    said = {"positive": "yes"} if words[0] == "yes" else {}
    found = rankeval_pd.with_judgements(candidates, sheet, **said)
    assert found["gold"].tolist() == [True, True, False]
    if said:
        with pytest.raises(ValueError, match=r"'no' \(1\), 'yes' \(1\).*positive="):
            rankeval_pd.with_judgements(candidates, sheet)


def test_with_both_regions_judged_the_test_needs_no_more():
    truth = rankeval_pd.datasets.simulate_candidates(500, rng=3)
    region = truth.rankeval.difference_region("good", "fair", 50)
    known = truth["gold"].astype("boolean").where(truth.index.isin(region.index))
    judged = truth.assign(gold=known)
    found = judged.fillna({"gold": False}).rankeval.compare("good", "fair", 50)
    whole = truth.rankeval.compare("good", "fair", 50)
    columns = ["difference", "ci_low", "ci_high", "tp_only_a", "tp_only_b", "p_value"]
    pd.testing.assert_frame_equal(found[columns], whole[columns])


def test_a_region_without_judgements_has_the_limits_of_what_is_possible():
    """Every truth of the unseen region is in them, whatever the seen one shows."""
    design = totals.Design(1, "estimate", "ratio", 0.95)
    counts = np.array([[5.0, 3.0, 3.0, 5.0, 3.0, 3.0], [5.0, 0.0, 0.0, 5.0, 0.0, 0.0]])
    seen, unseen = (design.total(row) for row in counts)
    for a, b in ((seen, unseen), (unseen, seen)):
        found = totals.total_difference(a, b)
        assert np.isnan(found.estimate)
        assert (found.low, found.high) == (a.low - b.high, a.high - b.low)
        assert -5 <= found.low < found.high <= 5


@pytest.mark.parametrize(("ends", "rates"), [([50, 200], (1.0, 0.3, 0.05)), ([], (0.3,))])
def test_average_precision_of_pools_and_of_few_is_covered(ends, rates):
    rng, held, lowest = np.random.default_rng(4), [], []
    stratum = np.searchsorted(ends, np.arange(1, 1_001))
    rate = np.array(rates)[stratum]
    design = totals.Design(len(rates), "estimate", "ratio", 0.95)
    for _ in range(300):
        score = rng.normal(size=1_000) + 1.5 * (np.arange(1_000) < 100)
        order = np.argsort(-score)
        gold, seen = order < 100, rng.random(1_000) < rate
        sample = totals.JudgedSample(seen, gold & seen, rate, stratum)
        value, low, high = totals.inferred_average_precision(score[order], sample, design)
        assert low <= value <= high
        truth = (np.arange(1, 101) / (np.flatnonzero(gold) + 1)).mean()
        held.append(low <= truth <= high)
        if ends:  # no positive is missed but those that the total allows
            every = design.total(design.parts(sample).sum(axis=0))
            lowest.append(low / (value * every.estimate / every.high))
    assert np.mean(held) >= 0.92
    assert not ends or np.median(lowest) == pytest.approx(1.0)


def test_an_empty_cell_of_a_sheet_is_no_judgment():
    """Also where the sheet was read without missing values, as words like "nan" need it."""
    df = pd.DataFrame({"m": [4, 3, 2, 1], "gold": [None] * 4}, index=list("wxyz"))
    sheet = pd.DataFrame({"gold": ["yes", "", "no", " "]}, index=list("wxyz"))
    back = rankeval_pd.with_judgements(df, sheet, positive="yes")["gold"]
    assert back.isna().tolist() == [False, True, False, True]
    assert back.dropna().tolist() == [True, False]
    with pytest.raises(ValueError, match="missing"):
        df.assign(gold=sheet["gold"]).rankeval(positive="yes").nbest_precision(2)
    empty = df.assign(gold=["", "no", "no", "no"])
    assert empty.rankeval(positive="").nbest_precision(1)["tp"].tolist() == [1]
