"""Curves with confidence, lists of given n, and what holds at a threshold."""

from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

import rankeval_pd
from rankeval_pd import RankevalWarning
from rankeval_pd.curves.shapes import lists_of
from rankeval_pd.stats import bands as curve_bands
from rankeval_pd.stats.differences import paired_difference
from rankeval_pd.stats.ranking import Ranking
from rankeval_pd.stats.two_by_two import discordant_test, kosinski_test

HEIGHT = {
    "roc": "tpr",
    "det": "fnr",
    "gain": "tpr",
    "lift": "lift",
    "precision_recall": "precision",
}


@pytest.fixture(scope="module")
def df():
    return rankeval_pd.datasets.simulate_candidates(1_000)


# ---------------------------------------------------------------------------------- curves


@pytest.mark.parametrize("curve", HEIGHT)
@pytest.mark.parametrize("interval", ["pointwise", "simultaneous"])
def test_limits_hold_the_curve(df, curve, interval):
    plain = getattr(df.rankeval, curve)()
    found = getattr(df.rankeval, curve)(interval=interval)
    assert [*plain.columns, "ci_low", "ci_high"] == list(found.columns)
    pd.testing.assert_frame_equal(found[list(plain.columns)], plain)
    known = found.dropna()
    assert len(known) > 500
    height = known[HEIGHT[curve]]
    assert (known["ci_low"] <= height + 1e-12).all()
    assert (height <= known["ci_high"] + 1e-12).all()


def test_a_band_is_wider_than_an_interval_and_ends_where_it_says(df):
    call = df.rankeval(measures="good")
    alone, band = (call.roc(interval=kind) for kind in ("pointwise", "simultaneous"))
    inside = band["ci_low"].notna()
    positive, others = df["gold"].sum(), (~df["gold"]).sum()
    tp, fp = band["tpr"] * positive, band["fpr"] * others
    least, most = np.minimum(tp, fp), np.minimum(positive - tp, others - fp)
    assert inside.tolist() == ((least > 4.5) & (most > 4.5)).tolist()
    assert (band["ci_low"] <= alone["ci_low"] + 1e-12)[inside].all()
    assert (band["ci_high"] >= alone["ci_high"] - 1e-12)[inside].all()
    assert "5 candidates of a class" in band.attrs["range"]


def test_det_and_lift_are_roc_and_gain_turned(df):
    roc, det, gain, lift = (
        getattr(df.rankeval, name)(interval="pointwise").query("n > 0").reset_index()
        for name in ("roc", "det", "gain", "lift")
    )
    np.testing.assert_allclose(det["ci_low"], 1.0 - roc["ci_high"])
    # no lift exceeds one over the prevalence
    most = 1.0 / stats.beta.ppf(0.025, df["gold"].sum(), (~df["gold"]).sum() + 1)
    np.testing.assert_allclose(lift["ci_high"], np.minimum(gain["ci_high"] / gain["share"], most))


@pytest.mark.filterwarnings("ignore:by=.q.*in another group:rankeval_pd.RankevalWarning")
def test_few_of_a_class_have_no_band(df):
    few = df.sort_values("gold", ascending=False).iloc[60:].reset_index(drop=True)
    with pytest.raises(ValueError, match=r"needs 30 or more .* 29 true positives and 911"):
        few.rankeval.roc(interval="simultaneous")
    assert few.rankeval.roc(interval="pointwise")["ci_low"].notna().any()
    both = pd.concat([df.assign(q=0), few.assign(q=1)], ignore_index=True)
    with pytest.warns(RankevalWarning, match="in one of the groups"):
        found = both.rankeval(by="q").gain(interval="simultaneous")
    assert found.groupby("q")["ci_low"].count().tolist()[1] == 0


def test_intervals_that_have_no_place(df):
    with pytest.raises(ValueError, match="interval='both'"):
        df.rankeval.roc(interval="both")
    by = df.assign(q=np.arange(1_000) % 2).rankeval(by="q")
    with pytest.raises(ValueError, match="average='macro'"):
        by.roc(average="macro", interval="pointwise")


def test_variance_of_roc_is_that_of_the_formula():
    """Hsieh and Turnbull (1996): t (1 - t) / P + r^2 u (1 - u) / Q, r the ratio of densities."""
    rng = np.random.default_rng(1)
    gold = rng.random(800) < 0.3
    ranking = Ranking.of(rng.normal(size=800) + gold, gold, np.ones(800, dtype=bool))
    lists = lists_of(ranking, np.arange(1, 801), "shared")
    found = curve_bands._effective("roc", lists)[300]
    positive, others = gold.sum() + 4.0, (~gold).sum() + 4.0
    t, u = (lists.tp[300] + 2) / positive, (301 - lists.tp[300] + 2) / others
    odds = curve_bands._odds("roc", lists)[300]
    variance = t * (1 - t) + odds**2 * others / positive * u * (1 - u)
    assert found == pytest.approx(gold.sum() * t * (1 - t) / variance, rel=1e-12)


def test_bands_cover():
    """A seeded simulation; the settings of 2,000 samples are in tests/simulations."""
    rng, held = np.random.default_rng(3), []
    cuts = np.linspace(8, -8, 4001)
    others, true = stats.norm.sf(cuts), stats.norm.sf(cuts - 1.0)
    for sample in range(200):
        gold = rng.random(300) < 0.2
        ranking = Ranking.of(rng.normal(size=300) + gold, gold, np.ones(300, dtype=bool))
        lists = lists_of(ranking, np.arange(1, 301), "shared")
        some = lists.chosen(curve_bands.covered("roc", lists))
        level = curve_bands.band_level("roc", some, 0.95, sample)
        low, high = curve_bands.curve_limits("roc", some, level)
        at = np.interp((some.n - some.tp) / (~gold).sum(), others, true)
        held.append(((low <= at) & (at <= high)).all())
    assert np.mean(held) >= 0.93


# -------------------------------------------------------------------- lists of given n


def test_lift_and_gain_take_n(df):
    """They were refused, or broke ties unlike all other lists."""
    gain, lift = df.rankeval.gain([50, 200]), df.rankeval.lift([50, 200])
    pd.testing.assert_frame_equal(gain, lift, check_like=True)
    lists = df.rankeval(details=True).nbest_precision([50, 200])
    np.testing.assert_array_equal(gain["tpr"], lists["recall"])
    np.testing.assert_allclose(lift["lift"], lists["lift"])
    assert gain.attrs["ties"] == "shared"


def test_lists_of_given_n_follow_the_ties():
    tied = pd.DataFrame({"s": [2, 2, 2, 2, 1, 1], "gold": [True, False, False, True, False, True]})
    assert tied.rankeval(ties="expected").lift(1)["lift"].tolist() == [1.0]
    for ties in ("shared", "best", "worst"):
        call = tied.rankeval(ties=ties)
        assert (
            call.gain(3)["tpr"].tolist() == call.nbest_precision(3, details=True)["recall"].tolist()
        )


def test_deciles_are_one_call_and_one_table(df):
    found = df.rankeval(measures="good").gain("deciles", interval="pointwise")
    assert found["share"].tolist() == pytest.approx(np.arange(1, 11) / 10)
    assert list(found.columns) == [
        "measure", "n", "threshold", "share", "tpr", "lift", "ci_low", "ci_high",
    ]  # fmt: skip
    assert found.iloc[-1][["tpr", "lift", "ci_low", "ci_high"]].tolist() == [1.0] * 4
    wide = (
        xr.Dataset.from_dataframe(df.rename_axis("candidate"))
        .rankeval(measures="good")
        .gain("deciles")
    )
    assert wide["tpr"].dims == ("measure", "share")


# ------------------------------------------------------------------------- a threshold


@given(st.integers(0, 10**6), st.floats(-1, 2))
@settings(max_examples=30, deadline=None)
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


def _by_hand(a, b, right):
    """Kosinski's statistic of the predictive values, candidate by candidate."""
    pooled = (right[a].sum() + right[b].sum()) / (a.sum() + b.sum())
    shared = ((right - pooled) ** 2 * (a & b)).sum() / (a.sum() + b.sum())
    variance = (pooled * (1 - pooled) - 2 * shared) * (1 / a.sum() + 1 / b.sum())
    return (right[a].mean() - right[b].mean()) / np.sqrt(variance)


@pytest.mark.parametrize(("of", "test"), [("precision", "kosinski"), ("npv", None)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_predictive_values_by_hand(of, test, alternative):
    df = _coronary()
    cuts = {"test": 1, "pain": 1}
    asked = {"of": of, "test": test, "alternative": alternative, "threshold": cuts}
    row = df.rankeval(details=True).compare("test", "pain", **asked).iloc[0]
    a, b, gold = (df[name].to_numpy() == 1 for name in ("test", "pain", "gold"))
    z = _by_hand(a, b, gold) if of == "precision" else _by_hand(~a, ~b, ~gold)
    wanted = {
        "two-sided": 2 * stats.norm.sf(abs(z)), "greater": stats.norm.sf(z),
        "less": stats.norm.cdf(z),
    }  # fmt: skip
    assert row["p_value"] == pytest.approx(wanted[alternative], rel=1e-10)
    assert row["ci_low"] <= row["difference"] <= row["ci_high"]


@pytest.mark.parametrize("of", ["recall", "specificity"])
def test_error_rates_are_tested_as_by_mcnemar(of):
    asked = {"threshold": {"test": 1, "pain": 1}, "of": of}
    call = _coronary().rankeval(details=True)
    row = call.compare("test", "pain", **asked).iloc[0]
    _, a, b, _ = DISEASED if of == "recall" else HEALTHY[::-1]
    total = sum(DISEASED if of == "recall" else HEALTHY)
    assert row["difference"] == pytest.approx((a - b) / total, abs=1e-12)
    assert row["p_value"] == pytest.approx(stats.binomtest(a, a + b).pvalue, rel=1e-10)
    middle = call.compare("test", "pain", test="midp", **asked).iloc[0]
    below = stats.binomtest(a, a + b).pvalue - stats.binom.pmf(min(a, b), a + b, 0.5)
    assert middle["p_value"] == row["p_mid"] == pytest.approx(below, rel=1e-9)
    assert (row["ci_low"] > 0) == (row["p_value"] <= 0.05 and a > b)


def test_predictive_values_without_shared_candidates_are_two_proportions():
    found = kosinski_test((0, 12, 7), (0, 20, 25), "two-sided")
    table = stats.chi2_contingency([[12, 8], [7, 18]], correction=False)
    assert float(found) == pytest.approx(table.pvalue, rel=1e-10)
    assert float(kosinski_test((3, 0, 0), (5, 0, 0), "two-sided")) == 1.0
    assert [float(x) for x in discordant_test(0, 0, "two-sided")] == [1.0, 1.0]


def test_sizes_and_coverage_of_paired_tests():
    rng = np.random.default_rng(8)
    both, a, b, neither = rng.multinomial(80, [0.5, 0.15, 0.15, 0.2], size=4000).T
    p_value, _ = discordant_test(a, b, "two-sided")
    assert (p_value <= 0.05).mean() <= 0.06
    low, high = paired_difference(both, a, b, both + a + b + neither, 0.95)
    assert ((low <= 0) & (high >= 0)).mean() >= 0.93
    size, true = rng.multinomial(200, [0.3, 0.2, 0.2, 0.3], size=4000).T[:3], 0.6
    p_value = kosinski_test(tuple(rng.binomial(x, true) for x in size), tuple(size), "two-sided")
    assert (p_value <= 0.05).mean() <= 0.06


def test_sets_of_unequal_size_are_warned_of_only_where_the_test_rejects():
    """Half of the calls warned where nothing was significant."""
    rng, warned, cuts = np.random.default_rng(12), 0, {"a": 0.0, "b": 0.0}
    gold, unequal = np.arange(120) < 30, 0
    for _ in range(60):
        scores = rng.normal(size=(2, 120)) + np.where(gold, 0.8, -0.8)
        data = pd.DataFrame({"a": scores[0], "b": scores[1], "gold": gold})
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            row = data.rankeval(details=True).compare("a", "b", threshold=cuts).iloc[0]
        sizes = sorted([row["n_a"], row["n_b"]])
        unequal += (far := sizes[0] < 0.9 * sizes[1])
        assert bool(found) == (far and row["p_value"] <= 0.05)
        assert not (far and isinstance(row["better"], str))
        warned += bool(found)
    assert warned <= 6 < unequal


def test_what_cannot_be_compared(df):
    cuts = {"good": 1.0, "fair": 1.0}
    with pytest.raises(ValueError, match="of='npv'"):
        df.rankeval.compare("good", "fair", 100, of="npv")
    with pytest.raises(ValueError, match="paired test must be 'mcnemar' or 'midp'"):
        df.rankeval.compare("good", "fair", threshold=cuts, of="recall", test="barnard")
    with pytest.raises(ValueError, match="compares acceptance sets"):
        df.rankeval.compare("good", "fair", 100, test="kosinski")


# -------------------------------------------------------------------------------- Youden's J


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


def test_youden_is_the_largest(df):
    row = df.rankeval(measures="good").choose_threshold(youden=True).iloc[0]
    fpr, tpr, cuts = metrics.roc_curve(df["gold"], df["good"], drop_intermediate=False)
    best = np.argmax(tpr - fpr)
    assert [row["threshold"], row["youden"]] == pytest.approx([cuts[best], (tpr - fpr)[best]])
    positive, others = df["gold"].sum(), (~df["gold"]).sum()
    margin = np.sqrt(0.5 * np.log(20.0) * (1 / positive + 1 / others))
    assert row["ci_low"] == pytest.approx(row["youden"] - margin, abs=1e-10)


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


# ---------------------------------------------------------------------------------- pictures


@pytest.mark.parametrize("curve", HEIGHT)
def test_pictures_have_the_band_and_say_so(df, curve):
    call = df.rankeval(measures="good")
    ax = getattr(call.plot, curve)(interval="simultaneous", level=0.9)
    assert "90% confidence limits, for all points together" in rankeval_pd.plotting.caption(ax)
    assert ax.collections
    again = getattr(rankeval_pd.plotting, curve)(getattr(call, curve)(interval="pointwise"))
    assert "for each point separately" in rankeval_pd.plotting.caption(again)
    plt.close("all")


def test_bands_of_chance_are_named_so(df):
    ax = df.rankeval(measures="good").plot.roc(bands=0.05)
    assert "Gray area (chance)" in rankeval_pd.plotting.caption(ax)
    plt.close("all")
