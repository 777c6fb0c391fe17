"""Wilcoxon's signed-rank test: SciPy, enumeration, and the Walsh averages of its interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankeval_pd
from rankeval_pd.stats import ranks


def wilcoxon(d, **keywords) -> pd.Series:
    data = pd.DataFrame({"a": np.asarray(d, dtype=float), "b": 0.0})
    ask = data.rankeval(details=True)
    return ask.paired_permutation("a", "b", test="wilcoxon", **keywords).iloc[0]


def walsh(d) -> np.ndarray:
    """Return the sorted means of all pairs, of each with itself too."""
    i, j = np.triu_indices(len(d))
    return np.sort((np.asarray(d)[i] + np.asarray(d)[j]) / 2)


def law_of(ranks_of_moved) -> np.ndarray:
    """Return the chances of the sums of ranks with random signs."""
    law = np.array([1.0])
    for rank in ranks_of_moved:
        law = np.convolve(law, np.r_[0.5, np.zeros(rank - 1), 0.5])
    return law


def enumerated(d) -> float:
    """Return the two-sided p-value from the law of the signed ranks, without zeros."""
    moved = d[np.abs(d) > 1e-9]
    doubled = np.rint(2 * stats.rankdata(np.abs(moved.round(9)))).astype(int)
    law, place = law_of(doubled), int(doubled[moved > 0].sum())
    return min(1.0, 2 * min(law[place:].sum(), law[: place + 1].sum()))


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("n", [6, 9, 48, 25])
def test_the_signed_rank_test_is_scipys_and_its_limits_are_walsh_averages(n):
    d = np.random.default_rng(n).normal(0.3, 1.0, n)
    row, averages = wilcoxon(d), walsh(d)
    assert row["p_value"] == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-9)
    assert row["gain"] == pytest.approx(np.median(averages))
    for side in ("greater", "less"):
        wanted = stats.wilcoxon(d, method="exact", alternative=side).pvalue
        assert wilcoxon(d, alternative=side)["p_value"] == pytest.approx(wanted, rel=1e-9)
    # as in R: as many averages from the ends as the law allows
    k = int((np.cumsum(law_of(range(1, n + 1))) <= 0.025).sum())
    limits = (averages[k - 1], averages[-k]) if k else (-np.inf, np.inf)
    assert (row["ci_low"], row["ci_high"]) == limits


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_ties_and_differences_of_0_are_enumerated():
    rng = np.random.default_rng(4)
    samples = [np.array([-2, -1, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4.0])]
    for n, zeros in ((20, 0.8), (60, 0.5), (500, 0.9)):
        for values in (rng.normal(size=n), rng.integers(-3, 4, n).astype(float)):
            samples.append(np.where(rng.random(n) < zeros, 0.0, values))
    for sample in samples:
        for x in (sample, -sample, 1e-9 * sample):
            row, averages, scale = wilcoxon(x), walsh(x), np.abs(x).max()
            assert row["p_value"] == pytest.approx(enumerated(x / scale), rel=1e-9)
            assert row["gain"] == pytest.approx(np.median(averages), abs=1e-11 * scale)
            limits = np.round([row["ci_low"], row["ci_high"]], 20)
            assert np.isin(limits, averages.round(20)).all()


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_the_search_for_the_median_ends_where_most_differences_are_0():
    a, b = [1] * 20 + [0] * 4 + [1] * 6, [1] * 20 + [1] * 4 + [0] * 6
    df = pd.DataFrame({"a": a, "b": b})
    row = df.rankeval.paired_permutation(test="wilcoxon", metric="accuracy").iloc[0]
    assert row["p_value"] == pytest.approx(stats.binomtest(6, 10).pvalue)
    assert row["ci_low"] <= row["gain"] == 0 <= row["ci_high"]
    rng = np.random.default_rng(4)
    noisy = np.where(rng.random(400) < 0.5, 0.1 + 0.2 - 0.3, rng.normal(size=400))
    row = wilcoxon(noisy)  # the zeros are rounding errors of 5.6e-17
    wanted = stats.wilcoxon(noisy.round(12), zero_method="wilcox").pvalue
    assert row["p_value"] == pytest.approx(wanted, abs=0.01)


def test_many_items_have_the_normal_law_of_ranks():
    d = np.random.default_rng(5).normal(0.02, 1.0, 6_000)
    row = wilcoxon(d)
    assert row["p_value"] == pytest.approx(stats.wilcoxon(d, correction=True).pvalue, rel=0.01)
    assert row["ci_low"] < row["gain"] < row["ci_high"]


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=40), st.integers(1, 10**6))
def test_walsh_averages_are_those_of_the_list(d, which):
    ordered = np.sort(np.array(d, dtype=float))
    averages = walsh(ordered)
    which = (which - 1) % averages.size + 1
    assert ranks.walsh_average(ordered, which) == averages[which - 1]
    assert ranks.hodges_lehmann(ordered) == np.median(averages)


def test_what_wilcoxons_test_says_and_refuses():
    rng = np.random.default_rng(6)
    data = pd.DataFrame(rng.normal([0, 0.3, 0.8], size=(40, 3)), columns=list("abc"))
    table = data.rankeval.paired_permutation("c", "a", test="wilcoxon")
    words = rankeval_pd.in_words(table)
    assert words.startswith("c scores")
    assert "(Hodges–Lehmann estimate; 95% interval" in words
    assert "Wilcoxon's signed-rank test" in rankeval_pd.in_words(table, methods=True)
    holm = data.rankeval.paired_permutation(test="wilcoxon", adjust="holm", details=True)
    assert (holm["p_adjusted"] >= holm["p_value"]).all()
    assert (holm["ci_low"] <= holm["ci_low_alone"]).all()
    few = data.assign(doc=np.arange(40) // 2)
    for keywords, message in (
        ({"groups": "doc"}, "supports only items in memory"),
        ({"metric": "sum"}, "supports only items in memory"),
        ({"adjust": "max-t"}, "without draws, the largest of several"),
    ):
        with pytest.raises(ValueError, match=message):
            few.rankeval(measures=list("abc")).paired_permutation(test="wilcoxon", **keywords)
    with pytest.warns(rankeval_pd.RankevalWarning, match="most differences are 0"):
        wilcoxon([0.0] * 30 + [1.0] * 9)


# ---- The same numbers elsewhere


def p_values(a, b, **keywords):
    data = pd.DataFrame({"a": a, "b": b})
    return data.rankeval(details=True).paired_permutation("a", "b", **keywords).iloc[0]


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_swaps_and_t_are_scipys(alternative):
    """SciPy enumerates the swaps, and doubles the smaller of two one-sided p-values."""
    rng = np.random.default_rng(7)
    for shift in (0.0, 0.6, -0.6):
        a, b = rng.exponential(size=10) + shift, rng.exponential(size=10)
        found = p_values(a, b, alternative=alternative)
        swaps = stats.permutation_test(
            (a, b), lambda x, y, axis: (x - y).mean(axis), permutation_type="samples",
            vectorized=True, alternative=alternative, n_resamples=np.inf,
        )  # fmt: skip
        assert found["p_value"] == pytest.approx(swaps.pvalue, rel=1e-10)
        assert found["exact"]
        t = stats.ttest_rel(a, b, alternative=alternative).pvalue
        assert p_values(a, b, alternative=alternative, test="t")["p_value"] == pytest.approx(t)


@given(st.integers(0, 40), st.integers(0, 40))
def test_swaps_of_right_or_wrong_items_are_the_binomial_test(only_a, only_b):
    a = np.repeat([1, 0, 0, 1], [only_a, only_b, 3, 2])
    b = np.repeat([0, 1, 0, 1], [only_a, only_b, 3, 2])
    row, differ = p_values(a, b), max(only_a + only_b, 1)
    wins = max(only_a, only_b)
    assert row["p_value"] == pytest.approx(
        stats.binomtest(wins, differ).pvalue if wins else 1.0, rel=1e-10
    )
    one = stats.binomtest(wins, differ, alternative="greater").pvalue
    assert row["p_one_sided"] == pytest.approx(one, rel=1e-10)


def test_swaps_of_bleu_are_sacrebleus():
    significance = pytest.importorskip("sacrebleu.significance")
    bleu = pytest.importorskip("sacrebleu.metrics").BLEU
    rng = np.random.default_rng(1)
    words = np.array("a b c d e f g h".split())
    gold = words[rng.integers(0, 8, (60, 8))]
    outputs = {
        name: [" ".join(x) for x in np.where(rng.random(gold.shape) < rate, "z", gold)]
        for name, rate in (("one", 0.25), ("two", 0.32))
    }
    references = [" ".join(x) for x in gold]
    test = significance.PairedTest(
        [*outputs.items()], {"BLEU": bleu(references=[references])}, [references], "ar", 4_000
    )
    theirs = test()[1]["BLEU"][1].p_value
    items = rankeval_pd.from_sacrebleu(outputs, references, "bleu")
    ours = items.rankeval(metric="bleu").paired_permutation("one", "two", n_resamples=10_000)
    error = np.sqrt(theirs * (1 - theirs) * (1 / 4_000 + 1 / 10_000))
    assert 0.01 < theirs < 0.9
    assert ours["p_value"].item() == pytest.approx(theirs, abs=4 * error)


def test_skewed_gains_and_uneven_ratios_are_said():
    rng = np.random.default_rng(3)
    skewed = rng.lognormal(size=60)
    with pytest.warns(rankeval_pd.RankevalWarning, match="60 items.*paired_bootstrap corrects"):
        p_values(skewed - np.exp(0.5), 0.0 * skewed)
    p_values(rng.standard_t(3, size=60), np.zeros(60))  # long tails on both sides are harmless
    guess = {("a", "guess"): np.repeat([1.0, 0.0], [10, 30]), ("b", "guess"): np.ones(40)}
    right = {(x, "correct"): guess[x, "guess"] * (np.arange(40) % 2) for x in "ab"}
    ask = pd.DataFrame(guess | right).rankeval(metric="precision")
    with pytest.warns(rankeval_pd.RankevalWarning, match="differ more than twofold"):
        ask.paired_permutation()
