"""Partly judged candidates: what can be said, by hand, by enumeration and by simulation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rankeval_pd

# ------------------------------------------------------------------------------------- estimates


def test_everything_judged_has_the_values_of_the_other_methods(whole):
    tied = whole.round({"good": 1, "fair": 1}).assign(sure=1.0)
    for told in ({}, {"judged_with": "sure"}):
        asked = tied.rankeval(measures=["good", "fair"])
        today = asked.nbest_precision([50, 100])
        for name in ("precision", "recall"):
            table = getattr(asked, f"judged_{name}")([50, 100], **told)
            for column in (name, "ci_low", "ci_high"):
                np.testing.assert_allclose(table[column], today[name], rtol=1e-15)
    pair = whole.rankeval.judged_difference("good", "fair", [50, 100])
    today = whole.rankeval.compare("good", "fair", [50, 100])
    for column in ("difference", "ci_low", "ci_high"):
        np.testing.assert_allclose(pair[column], today["difference"], rtol=1e-12)


def test_counts_and_bounds_are_those_of_the_judged(whole, partly):
    row = partly.rankeval(measures="good").judged_precision(100).iloc[0]
    listed = partly.nlargest(100, "good")["gold"]
    assert row["n_judged"] == listed.notna().sum()
    assert row["tp_judged"] == listed.sum()
    assert row["precision"] == listed.mean()
    bounds = partly.rankeval(measures="good", unjudged="bounds").judged_precision(100).iloc[0]
    assert bounds["ci_low"] == listed.fillna(0).mean()
    assert bounds["ci_high"] == listed.fillna(1).mean()
    pair = partly.rankeval.judged_difference("good", "fair", 100, unjudged="bounds").iloc[0]
    good, fair = (whole[name].rank(ascending=False) <= 100 for name in ("good", "fair"))
    a, b = partly["gold"][good & ~fair], partly["gold"][fair & ~good]
    assert pair["ci_low"] == pytest.approx((a.fillna(0).sum() - b.fillna(1).sum()) / 100)
    assert pair["ci_high"] == pytest.approx((a.fillna(1).sum() - b.fillna(0).sum()) / 100)
    none = partly.assign(gold=np.nan).rankeval.judged_precision(50).iloc[0]
    assert np.isnan(none["precision"])
    assert (none["ci_low"], none["ci_high"]) == (0, 1)


def test_estimates_by_hand(whole, partly):
    """With two rates: the sum over the rates of size times share; with many, weighted."""
    rate = np.where(whole["good"].rank(ascending=False) <= 60, 0.5, 0.25)
    judged = np.random.default_rng(3).random(1_000) < rate
    data = whole.assign(gold=whole["gold"].astype(float).where(judged), rate=rate)
    call = data.rankeval(measures="good")
    listed = data.nlargest(150, "good")
    by_rate = listed.groupby("rate")["gold"]
    wanted = (by_rate.mean() * by_rate.size()).sum() / 150
    row = call.judged_precision(150, judged_with="rate").iloc[0]
    assert row["precision"] == pytest.approx(wanted, rel=1e-12)
    assert row["n_judged"] == listed["gold"].notna().sum()
    by_rate = data.drop(listed.index).groupby("rate")["gold"]
    rest = (by_rate.mean() * by_rate.size()).sum()
    recall = call.judged_recall(150, judged_with="rate")["recall"].item()
    assert recall == pytest.approx(150 * wanted / (150 * wanted + rest), rel=1e-12)
    many = np.random.default_rng(4).uniform(0.2, 0.9, 1_000)  # too many rates for strata
    data = partly.assign(many=many)
    row = data.rankeval(measures="good").judged_precision(150, judged_with="many").iloc[0]
    listed = data.nlargest(150, "good").dropna(subset="gold")
    assert row["precision"] == pytest.approx(np.average(listed["gold"], weights=1 / listed["many"]))


def test_limits_are_within_the_bounds_and_hold_the_estimate(partly):
    n = range(1, 300, 7)
    for name in ("precision", "recall"):
        method = getattr(partly.rankeval, f"judged_{name}")
        found, bounds = method(n), method(n, unjudged="bounds")
        assert (found["ci_low"] >= bounds["ci_low"] - 1e-12).all()
        assert (found["ci_high"] <= bounds["ci_high"] + 1e-12).all()
        known = found.dropna(subset=name)
        assert (known["ci_low"] <= known[name] + 1e-12).all()
        assert (known[name] <= known["ci_high"] + 1e-12).all()
        assert (found["ci_low"][found["tp_judged"] == 0] == 0).all()
    recall = partly.rankeval.judged_recall(100, measures="good", unjudged="bounds").iloc[0]
    listed = partly["good"].rank(ascending=False) <= 100
    least = partly["gold"].fillna((~listed).astype(float))
    assert recall["ci_low"] == pytest.approx(least[listed].sum() / least.sum())


def test_lists_that_cut_ties_say_so(whole):
    rounded = whole.round({"good": 1, "fair": 1})
    judged = np.random.default_rng(4).random(1_000) < 0.5
    partly = rounded.assign(gold=whole["gold"].astype(float).where(judged))
    sizes = [7, 50, 100, 1_000]
    tied = rounded.rankeval.nbest_precision(sizes)["tied"].tolist()
    assert min(tied) == 0 < max(tied)
    assert partly.rankeval.judged_precision(sizes)["tied"].tolist() == tied
    assert partly.rankeval.judged_recall(sizes)["tied"].tolist() == tied
    cuts = rounded.rankeval.compare("good", "fair", sizes)["cuts_tie"].tolist()
    assert partly.rankeval.judged_difference("good", "fair", sizes)["cuts_tie"].tolist() == cuts


def test_what_cannot_be_estimated(partly):
    ask = partly.assign(none=0.0, sure=1.0).rankeval(measures="good").judged_precision
    for name, message in (
        ("none", "no judging probability in"),
        ("sure", "judging probability 1 have no"),
        ("rate", "judged_with: no column 'rate'"),
        (0.3, "judged_with: no column 0.3"),
    ):
        with pytest.raises((ValueError, KeyError), match=message):
            ask(50, judged_with=name)
    with pytest.raises(ValueError, match="unjudged='estimate' is not one of"):
        partly.rankeval.nbest_precision(50, unjudged="estimate")
    chain = partly.rankeval(unjudged="bounds", measures="good")
    assert chain.judged_precision(50).attrs["unjudged"] == "bounds"
    with pytest.raises(ValueError, match="unjudged='bounds' is not one of"):
        chain.nbest_precision(50)


# ----------------------------------------------------------------------- what is no random sample


def test_a_sheet_is_no_sample_of_a_list(whole):
    """Judged from what one list alone has, the estimate of the list is far off, and is said."""
    blank = whole.assign(gold=np.nan)
    sheet = blank.rankeval.annotation_sheet("good", "fair", 100, size=60)
    judged = rankeval_pd.with_judgements(
        blank, sheet.assign(gold=whole.loc[sheet.index, "gold"].astype(bool))
    ).rankeval
    shared = "0 of 37 candidates shared with the list of '(good|fair)' are judged"
    with pytest.warns(rankeval_pd.RankevalWarning, match=shared):
        judged.judged_precision(100)
    with pytest.warns(rankeval_pd.RankevalWarning, match="not a random sample"):
        judged.judged_recall(100)
    judged.judged_difference("good", "fair", 100)
    judged.judged_precision(100, unjudged="bounds")


def test_judged_to_a_depth_is_no_sample_of_longer_lists(whole):
    """As pools of search are judged: all of the best 50, and nothing below."""
    best = (whole[["good", "fair"]].rank(ascending=False) <= 50).any(axis=1)
    pool = whole.assign(gold=whole["gold"].astype(float).where(best))
    assert pool.rankeval.judged_precision(50)["n_judged"].tolist() == [50, 50]
    with pytest.warns(rankeval_pd.RankevalWarning, match="50 of 50 candidates of the best 50"):
        pool.rankeval.judged_precision(100, measures="good")
    with pytest.warns(rankeval_pd.RankevalWarning, match="at n = 100: "):
        pool.rankeval.judged_precision([50, 100])


@pytest.mark.full
def test_a_random_sample_is_seldom_taken_for_chosen(whole):
    """Lists of three n and of three measures: at most .001 of the samples are to be warned of."""
    data = whole.assign(other=whole["good"].to_numpy()[::-1])
    rng = np.random.default_rng(8)
    draws = rng.random((200, 1_000)) < rng.uniform(0.05, 0.9, (200, 1))
    gold = np.where(draws, data["gold"].to_numpy(dtype=float), np.nan)
    warned = 0
    for one in gold:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data.assign(gold=one).rankeval.judged_precision([20, 100, 300])
        warned += len(caught)
    assert warned <= 2  # of 200: more by chance once in a thousand


def test_tied_votes_are_left_out_and_said_and_are_no_missing_judgments(whole):
    rng = np.random.default_rng(5)
    first = whole["gold"].astype(float).where(rng.random(len(whole)) < 0.7)
    second = first.where(rng.random(len(whole)) < 0.8, 1.0 - first)
    votes = whole.drop(columns="gold").assign(a1=first, a2=second)
    settled = votes[first.isna() | (first == second)]
    by_hand = settled.rename(columns={"a1": "gold"}).drop(columns="a2")
    asked = votes.rankeval(gold=["a1", "a2"])
    told = rf"{len(votes) - len(settled):,} of {len(votes):,} candidates are excluded because"
    for ask in (
        lambda r: r.judged_precision([50, 100], details=True),
        lambda r: r.judged_recall(50),
        lambda r: r.judged_difference("good", "fair", 50),
        lambda r: r.plan_annotation("good", "fair", 50),
    ):
        with pytest.warns(rankeval_pd.RankevalWarning, match=told):
            found = ask(asked)
        assert found.to_csv() == ask(by_hand.rankeval).to_csv()
    with pytest.warns(rankeval_pd.RankevalWarning, match=told):
        found = asked.judged_precision(50)
    told_of = "The intervals allow only for the unjudged candidates of these lists. Tests, and"
    assert told_of in rankeval_pd.in_words(found)
    limits = "hypergeometric intervals for the unjudged candidates of these lists"
    assert limits in rankeval_pd.paper_table(found).attrs["caption"]
    assert found.attrs["n_tied_votes"] == len(votes) - len(settled)
    assert "Candidates with tied votes were omitted" in rankeval_pd.in_words(found, methods=True)
    with pytest.warns(rankeval_pd.RankevalWarning, match=told):
        sheet = asked.annotation_sheet("good", "fair", 50)
    assert first[sheet.index].isna().all()
