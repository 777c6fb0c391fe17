"""Precision, recall and F1 of predictions: paired tests of ratios of sums."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankeval_pd.errors import RankevalWarning
from rankeval_pd.stats import item_gains
from rankeval_pd.stats.item_gains import _Law
from tests.conftest import examples


def frame(n_a, right_a, n_b, right_b, shared=0, shared_right=0):
    """Return guesses of two systems, of which some are those of both, and 20 items of neither."""
    parts = {
        (1, 0): (n_a - shared, right_a - shared_right),
        (0, 1): (n_b - shared, right_b - shared_right),
        (1, 1): (shared, shared_right),
        (0, 0): (20, 0),
    }
    sizes, right = np.array(list(parts.values())).T
    is_right = np.concatenate([np.arange(n) < k for n, k in zip(sizes, right, strict=True)])
    columns = {}
    for system, guessed in zip("ab", np.repeat(list(parts), sizes, axis=0).T * 1.0, strict=True):
        columns[system, "correct"], columns[system, "guess"] = guessed * is_right, guessed
    return pd.DataFrame(columns)


def quietly(call, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankevalWarning)
        return call(*args, **options)


@pytest.mark.parametrize("shared", [0, 3, -3])
@pytest.mark.parametrize(("share_a", "share_b"), [(0.5, 0.25), (0.1, 0.4)])
def test_the_law_is_that_of_three_binomials(shared, share_a, share_b):
    n_a, n_b, both = 10, 20, abs(shared)
    p = (n_a * share_a + n_b * share_b) / (n_a + n_b)
    chances = [stats.binom(n, p).pmf(np.arange(n + 1)) for n in (n_a - both, n_b - both, both)]
    up = down = 0.0
    gap = share_a - share_b
    for x, y, z in itertools.product(*(range(len(c)) for c in chances)):
        chance = chances[0][x] * chances[1][y] * chances[2][z]
        # if the correlation is negative, one of the two has each shared answer right: either one
        apart = [(z, both - z, p), (both - z, z, 1 - p)]
        for of_a, of_b, mean in [(z, z, p)] if shared >= 0 else apart:
            differs = (x + of_a) / n_a - (y + of_b) / n_b
            if shared < 0:  # about the mean of shared answers
                differs -= both * (mean / n_a - (1 - mean) / n_b - p / n_a + p / n_b)
            part = chance if shared >= 0 else chance / 2
            up += part * (differs >= gap - 1e-12)
            down += part * (differs <= gap + 1e-12)
    found = _Law(share_a, share_b, n_a, n_b, shared, np.inf).tails(0.0)
    np.testing.assert_allclose(found, (up, down), rtol=1e-10)


@pytest.mark.parametrize("share", [0.25, 0.85, 0.5])
@pytest.mark.parametrize(
    ("n_a", "n_b", "shared"),
    [(830, 801, 0), (2000, 900, -40), (3000, 3000, 1500), (800, 900, 300)],
)
def test_many_answers_are_nearly_normal(n_a, n_b, shared, share, monkeypatch):
    """Within 1% of the exact law, from p = .3 down to .01."""
    variance = share * (1 - share) * (1 / n_a + 1 / n_b - 2 * shared / n_a / n_b)
    for z in (0.6, 1.4, 2.2):
        half = z * variance**0.5 / 2
        shares = round((share + half) * n_a) / n_a, round((share - half) * n_b) / n_b
        law = _Law(*shares, n_a, n_b, shared, np.inf)
        many = law.tails(0.0)
        with monkeypatch.context() as patched:
            patched.setattr(item_gains, "_LARGE", np.inf)
            np.testing.assert_allclose(many, law.tails(0.0), rtol=0.01)


def test_recall_is_mcnemars():
    rng = np.random.default_rng(2)
    right = rng.random((2, 40)) < [[0.8], [0.6]]
    plain = pd.DataFrame(right.T * 1.0, columns=["a", "b"])
    with_others = pd.DataFrame(
        {(s, k): np.r_[right[i] if k == "correct" else np.ones(40), np.zeros(60)] * 1.0
         for i, s in enumerate("ab") for k in ("correct", "gold")}
    )  # fmt: skip
    accuracy = plain.rankeval.paired_bootstrap(metric="accuracy", details=True)
    recall = with_others.rankeval.paired_bootstrap(metric="recall", details=True)
    for name in ("gain", "p_value", "ci_low", "ci_high"):
        assert recall[name][0] == pytest.approx(accuracy[name][0], rel=1e-12)


def test_shared_guesses_are_the_covariance_of_what_is_left_of_the_pooled_share():
    df = frame(30, 20, 40, 16, 12, 9)
    row = df.rankeval.paired_bootstrap("a", "b", metric="precision").iloc[0]
    share = 36 / 70
    left = [df[s, "correct"] - share * df[s, "guess"] for s in "ab"]
    shared = left[0] @ left[1] / (share * (1 - share))
    law = _Law(20 / 30, 16 / 40, 30, 40, shared, np.inf)
    assert row["p_value"] == pytest.approx(2 * min(law.tails(0.0)), rel=1e-9)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(law.limits(0.95), abs=1e-6)


def test_f1_is_tested_as_the_error_rate_that_it_leaves():
    rng = np.random.default_rng(4)
    gold, said = rng.random(200) < 0.4, rng.random((2, 200)) < [[0.3], [0.5]]
    counts, misses = {}, {}
    for system, guess in zip("ab", said * 1.0, strict=True):
        counts[system, "correct"], counts[system, "guess"] = guess * gold, guess
        counts[system, "gold"] = gold * 1.0
        misses[system, "numerator"] = guess + gold - 2 * guess * gold  # 1 - F1, smaller is better
        misses[system, "denominator"] = guess + gold
    table = pd.DataFrame(counts).rankeval.paired_bootstrap("a", "b", metric="f1", details=True)
    turned = pd.DataFrame(misses).rankeval.paired_bootstrap(
        "a", "b", metric="ratio", higher_is_better=False, details=True
    )
    assert table["exact"].all()
    assert turned["gain"][0] == pytest.approx(table["gain"][0])


sizes = st.integers(5, 40)


@settings(max_examples=examples(40))
@given(n_a=sizes, n_b=sizes, data=st.data())
def test_intervals_stay_in_range_and_agree_with_the_test(n_a, n_b, data):
    shared = data.draw(st.integers(0, min(n_a, n_b)))
    both = data.draw(st.integers(0, shared))
    right_a = both + data.draw(st.integers(0, n_a - shared))
    right_b = both + data.draw(st.integers(0, n_b - shared))
    ask = frame(n_a, right_a, n_b, right_b, shared, both).rankeval(metric="precision")
    row, turned = (
        quietly(ask.paired_bootstrap, *names, details=True).iloc[0] for names in ("ab", "ba")
    )
    low, high, p = row[["ci_low", "ci_high", "p_value"]]
    assert -1.0 <= low <= row["gain"] + 1e-9
    assert row["gain"] - 1e-9 <= high <= 1.0
    assert (p <= 0.05) == (low > 0.0 or high < 0.0)
    assert turned["p_value"] == pytest.approx(p, rel=1e-9)
    assert (turned["ci_low"], turned["ci_high"]) == pytest.approx((-high, -low), abs=1e-6)


def test_scores_stay_between_0_and_1():
    table = frame(10, 10, 100, 3).rankeval.system_ranks(metric="precision", details=True)
    for name in ("ci_low", "ci_high", "ci_low_alone", "ci_high_alone"):
        assert table[name].between(0.0, 1.0).all()
    exact = stats.binomtest(10, 10).proportion_ci()
    assert table["ci_low_alone"][table["system"] == "a"].item() == pytest.approx(exact.low)


# ----------------------------------------------------------------------------------- few guesses


def test_two_guesses_that_are_right_say_nothing():
    ask = frame(2, 2, 100, 50).rankeval(metric="precision", details=True)
    with pytest.warns(RankevalWarning, match="2 guesses.*fewer than 5, there is no test"):
        table = ask.paired_bootstrap()
    assert np.isnan(table["p_value"][0])
    assert table["ci_low"][0] <= 0.0 <= table["ci_high"][0]
    with pytest.warns(RankevalWarning, match="there is no test"):
        ranks = ask.system_ranks()
    assert (ranks["letters"] == ranks["letters"][0]).all()
    assert (ranks["rank_low"] == 1).all()


def test_few_guesses_are_not_tested_with_an_adjustment():
    df = frame(3, 3, 100, 50)
    df[("c", "correct")], df[("c", "guess")] = df[("b", "correct")], df[("b", "guess")]
    df.loc[df.index[50:58], ("c", "correct")] = 0.0
    ask = df.rankeval(metric="precision", details=True)
    for adjust in (None, "holm", "max-t"):
        table = quietly(ask.paired_bootstrap, adjust=adjust, n_resamples=999)
        few = (table[["system_a", "system_b"]] == "a").any(axis=1)
        decides = table["p_value" if adjust is None else "p_adjusted"]
        assert decides[few].isna().all()
        assert decides[~few].notna().all()
        assert ((table["ci_low"] <= 0.0) & (table["ci_high"] >= 0.0))[few].all()


def test_a_warning_from_5_to_9_guesses_and_none_from_10():
    with pytest.warns(RankevalWarning, match="7 guesses.*fewer than 10, the test may be"):
        table = frame(7, 3, 100, 50).rankeval.paired_bootstrap(metric="precision")
    assert table["p_value"][0] > 0.5
    frame(10, 5, 100, 50).rankeval.paired_bootstrap(metric="precision")


@pytest.mark.parametrize("n_negative", [0, 30, 3_000])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_a_margin_of_recall_is_tested_on_the_positives_alone(n_negative, alternative):
    """As the accuracy of the same answers, whatever the other candidates; they say so, too."""
    right = np.repeat([[1, 0], [0, 1], [1, 1], [0, 0]], [16, 11, 60, 23], axis=0) * 1.0
    everyone = np.pad(right, ((0, n_negative), (0, 0)))
    gold = np.arange(len(everyone)) < len(right)
    columns = {}
    for k, name in enumerate("ab"):
        columns[name, "correct"], columns[name, "gold"] = everyone[:, k], gold * 1.0
    asked = {"margin": 0.05, "alternative": alternative, "details": True}
    found = pd.DataFrame(columns).rankeval(metric="recall").paired_bootstrap(**asked)
    answers = pd.DataFrame(right, columns=["a", "b"])
    wanted = answers.rankeval(metric="accuracy").paired_bootstrap(**asked)
    name = "p_equivalence" if alternative == "two-sided" else "p_noninferior"
    for column in ("gain", "p_value", "ci_low", "ci_high", name):
        assert found[column].tolist() == pytest.approx(wanted[column].tolist(), rel=1e-12)
    for fact in ("test", "interval"):
        assert found.attrs[fact] == wanted.attrs[fact]


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("sizes", [(60, 40, 50, 30), (60, 40, 50, 30, 20, 15)])
def test_a_margin_is_not_rejected_where_the_interval_of_that_level_ends(sizes, alternative):
    """The p-value of a margin passes 1 - level at the end of a one-sided interval: one law.

    It can jump there, because the differences of small samples are few.
    """
    data = frame(*sizes).rankeval(metric="precision")
    asked = {"alternative": alternative}
    for level in (0.9, 0.95, 0.99):
        [interval] = quietly(data.paired_bootstrap, level=level, **asked).itertuples()
        end = -interval.ci_low if alternative == "greater" else interval.ci_high
        p = [
            quietly(data.paired_bootstrap, margin=end + more, **asked)["p_noninferior"].item()
            for more in (1e-5, -1e-5)
        ]
        assert p[0] <= 1.0 - level + 1e-9
        assert 1.0 - level - 1e-9 <= p[1]
