"""Comparisons: the published figures, and difference regions counted and tested by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

import rankeval_pd
from rankeval_pd import datasets
from rankeval_pd.stats.differences import corrected_score
from tests.lists.by_hand import odds, p_values

KRENN = {"gold": "is.colloc", "measures": ["log.like", "t.score", "chisq", "freq"]}
REGIONS = [(63, 192, 34), (44, 157, 26)]  # tp_only_a, n_only, tp_only_b at n = 500 and 1250


# ---------------------------------------------------------------------------- The published figures


def test_krenn_difference_regions(krenn):
    found = krenn.rankeval(**KRENN).compare("log.like", "chisq", [500, 1250])
    regions = found[["tp_only_a", "n_only_a", "tp_only_b", "n_only_b"]].to_numpy().tolist()
    assert regions == [[a, size, b, size] for a, size, b in REGIONS]
    assert found["p_value"].map("{:.4g}".format).tolist() == ["0.0009496", "0.02075"]
    assert found["better"].tolist() == ["log.like"] * 2
    exact = [fisher_exact([[a, size - a], [b, size - b]]) for a, size, b in REGIONS]
    assert found["p_value"].tolist() == pytest.approx([x.pvalue for x in exact], rel=1e-10)
    assert found["odds_ratio"].tolist() == pytest.approx([x.statistic for x in exact], rel=1e-14)


def test_krenn_t_score_against_log_like(krenn):
    found = krenn.rankeval(**KRENN).compare("t.score", "log.like", 800).loc[0]
    assert f"{found['p_value']:.5g}" == "0.22665"
    assert not found["significant"]
    assert found["leaning"] == "t.score"
    assert pd.isna(found["better"])


# ------------------------------------------------------------------------------- Every list by hand


def _lists(rows: list[dict], measure: str) -> list[str]:
    ranked = sorted(rows, key=lambda r: (-r[measure], r["id"]))
    return [r["id"] for r in ranked]


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    ("alternative", "test", "level"),
    [("two-sided", "fisher", 0.95), ("greater", "midp", 0.9), ("less", "fisher", 0.8)],
)
def test_every_list_of_every_pair(tied, alternative, test, level):
    roles = {"measures": ["b", "a", "c"], "key": "id"}
    found = rankeval_pd.compare(
        tied, alternative=alternative, test=test, level=level, alpha=0.7, **roles
    )
    lists = rankeval_pd.compare(
        tied, alternative=alternative, test=test, level=level, target="nbest", alpha=0.7, **roles
    )
    rows = tied.to_dict("records")
    gold = {r["id"]: r["gold"] for r in rows}
    ranked = {m: _lists(rows, m) for m in "abc"}
    pairs = [("b", "a"), ("b", "c"), ("a", "c")]
    wanted = [(*pair, n) for pair in pairs for n in range(1, len(rows) + 1)]
    assert list(found[["measure_a", "measure_b", "n"]].itertuples(index=False, name=None)) == wanted
    for row, of_list in zip(found.to_dict("records"), lists.to_dict("records"), strict=True):
        n = row["n"]
        a, b = (set(ranked[row[side]][:n]) for side in ("measure_a", "measure_b"))
        tp_a, tp_b = (sum(gold[i] for i in only) for only in (a - b, b - a))
        only = len(a - b)
        assert row["overlap"] == len(a & b)
        assert (row["n_only_a"], row["n_only_b"]) == (only, only)
        assert (row["tp_only_a"], row["tp_only_b"]) == (tp_a, tp_b)
        assert row["precision_a"] == pytest.approx(sum(gold[i] for i in a) / n, rel=1e-14)
        assert row["precision_b"] == pytest.approx(sum(gold[i] for i in b) / n, rel=1e-14)
        assert row["difference"] == pytest.approx((tp_a - tp_b) / n, rel=1e-14)
        ratio = odds(tp_a, only, tp_b, only)
        assert row["odds_ratio"] == pytest.approx(ratio, rel=1e-14, nan_ok=True)
        fisher, mid = p_values(tp_a, only, tp_b, only, alternative)
        assert row["p_mid"] == pytest.approx(mid, rel=1e-10)
        p_value = fisher if test == "fisher" else mid
        assert row["p_value"] == pytest.approx(p_value, rel=1e-10)
        assert row["significant"] == (row["p_value"] <= 0.7)
        two_sided = alternative == "two-sided"
        own = level if two_sided else 2 * level - 1
        low, high = 0.0, 0.0
        if only:
            low, high = np.multiply(corrected_score(tp_a, only, tp_b, only, own), only / n)
        if p_value > (1 - level) * (1 + 1e-9):  # it reaches 0 where the test does not reject
            low, high = min(low, 0.0), max(high, 0.0)
        if not two_sided and only:  # and ends where the range does
            low, high = (low, 1.0) if alternative == "greater" else (-1.0, high)
        # the outer limits of the regions and of the lists, unless only the former agree with p
        sure = p_value <= (1 - level) * (1 + 1e-9)
        if not (sure and of_list["ci_low"] <= 0 < low):
            low = min(low, of_list["ci_low"])
        if not (sure and high < 0 <= of_list["ci_high"]):
            high = max(high, of_list["ci_high"])
        assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high], rel=1e-10, abs=1e-15)
        leaning = row["measure_a"] if tp_a > tp_b else row["measure_b"]
        assert row["leaning"] == leaning if tp_a != tp_b else pd.isna(row["leaning"])
    assert "p_adjusted" not in found


def test_pairs_are_all_or_those_with_the_named_measures(frame):
    def pairs(*names):
        found = frame.rankeval.compare(*names, n=5)
        return list(zip(found["measure_a"], found["measure_b"], strict=True))

    assert pairs() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs("b") == [("b", "a"), ("b", "c")]
    assert pairs("c", "a") == [("c", "a")]


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_missing_scores_leave_the_pair(frame):
    lacking = frame.assign(a=frame["a"].where(frame["c"] > -1))
    rest = frame[frame["c"] > -1]
    for ask in (
        lambda r: r.compare("a", "b", [5, 9], adjust="max-t", n_resamples=99),
        lambda r: r.difference_band("a", "b", [5, 9], n_resamples=60),
        lambda r: r.tie_sensitivity("a", "b", [5, 9], n_keys=3),
    ):
        pd.testing.assert_frame_equal(ask(lacking.rankeval(missing="drop")), ask(rest.rankeval))


def test_a_measure_is_not_better_than_its_copy(frame):
    twins = frame.assign(copy=frame["a"]).rankeval
    found = twins.compare("a", "copy", adjust="max-t", n_resamples=19)
    assert found[["difference", "ci_low", "ci_high", "n_only_a"]].eq(0).all(axis=None)
    assert found[["p_value", "p_mid", "p_adjusted"]].fillna(1).eq(1).all(axis=None)
    assert found["odds_ratio"].isna().all()
    assert found[["better", "leaning"]].isna().all(axis=None)
    assert twins.significant_ranges("a", "copy").empty
    band = twins.difference_band("a", "copy", n_resamples=50)
    assert band[["difference", "band_low", "band_high"]].eq(0).all(axis=None)


# ------------------------------------------------------------------------ Other tests and intervals


def test_published_p_values_of_mcnemars_test(krenn):
    found = krenn.rankeval(**KRENN).compare("log.like", "chisq", [500, 1250], test="mcnemar")
    assert found["p_value"].round(5).tolist() == [0.00357, 0.04808]


def test_a_one_sided_limit_is_that_of_a_two_sided_interval_with_twice_the_error():
    rank, b = np.arange(200.0), np.random.default_rng(0).random(200)
    df = pd.DataFrame({"a": -rank, "b": b, "gold": rank < 31})
    [two] = df.rankeval.compare("a", "b", n=50, level=0.9).to_dict("records")
    [up] = df.rankeval.compare("a", "b", n=50, alternative="greater").to_dict("records")
    [down] = df.rankeval.compare("b", "a", n=50, alternative="less").to_dict("records")
    low = pytest.approx(two["ci_low"], rel=1e-12)
    assert (up["ci_low"], up["ci_high"]) == (low, 1.0)
    assert (down["ci_low"], -down["ci_high"]) == (-1.0, low)


def test_limits_are_the_wider_of_both_and_agree_with_p():
    df = datasets.simulate_candidates(400, baseline=0.25, quality={"steep": 3.4, "flat": 2.6})
    for alternative in ("two-sided", "greater", "less"):
        both, region, nbest = (
            df.rankeval.compare("steep", "flat", target=target, alternative=alternative)
            for target in ("both", "region", "nbest")
        )
        for name in ("p_value", "difference", "better"):
            pd.testing.assert_series_equal(both[name], region[name])
        sure = both["p_value"] <= 0.05
        outside = (both["ci_low"] > 0) | (both["ci_high"] < 0)
        pd.testing.assert_series_equal(outside, sure, check_names=False)
        kept = 0
        for side, sign in (("ci_low", 1.0), ("ci_high", -1.0)):
            own, other = sign * region[side], sign * nbest[side]
            held = sure & (own > 0) & (other <= 0)
            wanted = own.where(held, np.minimum(own, other))
            np.testing.assert_array_equal(sign * both[side], wanted)
            kept += held.sum()
        assert kept > 5 or alternative == "less"  # lists whose p is just below 0.05
        assert both.attrs["target"] == "both"


# ---------------------------------------------------------------------- Swaps of candidates (max-t)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_krenn_max_t(krenn):
    found = krenn.rankeval(**KRENN).compare("log.like", "chisq", range(100, 2001), adjust="max-t")
    significant = found.loc[found["significant"], "n"]
    for first, last in ((190, 230), (250, 430), (530, 1180)):
        assert set(range(first, last + 1)) <= set(significant)
    assert not significant.between(470, 485).any()
    assert (significant <= 1230).all()
    assert (found.loc[found["significant"], "better"] == "log.like").all()
    smallest = (found["p_adjusted"] * 1000).round(9)
    assert (smallest == smallest.round()).all()
    assert found["p_adjusted"].min() == 1 / 1000
    # the critical value of the largest statistic
    positive = found["tp_only_a"] + found["tp_only_b"]
    statistic = (found["tp_only_a"] - found["tp_only_b"]).abs() / np.sqrt(
        np.maximum(positive * (1 - positive / (2 * found["n_only_a"])), 1)
    )
    edge = statistic[found["significant"]].min(), statistic[~found["significant"]].max()
    assert edge[1] < edge[0]
    assert edge[0] == pytest.approx(3.33, abs=0.06)


def test_too_few_swaps(krenn):
    call = krenn.rankeval(**KRENN)
    asked = {"n": 500, "adjust": "max-t"}
    with pytest.raises(ValueError, match=r"n_resamples=18 cannot reach alpha=.*n_resamples=19"):
        call.compare("log.like", "freq", n_resamples=18, **asked)
    found = call.compare("log.like", "freq", n_resamples=19, **asked)
    assert found["p_adjusted"].notna().all()
    with pytest.raises(ValueError, match=r"6 pairs.*n_resamples=119 or more"):
        call.compare(n_resamples=118, **asked)
