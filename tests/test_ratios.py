"""Precision, recall and F1 of predictions: paired tests of ratios of sums."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankeval_pd
from rankeval_pd.decisions import gains as paired_gains
from rankeval_pd.decisions.gains import pairs_tested_once
from rankeval_pd.stats import item_gains as ratio_gains
from rankeval_pd.stats.gains import swapped_tests
from rankeval_pd.stats.item_gains import _Law
from rankeval_pd.stats.items import METRICS, Items
from tests.simulations.ratios import PAIR, asked, guesses


def frame(n_a, right_a, n_b, right_b, shared=0, shared_right=0):
    """Return guesses of two systems, of which some are those of both."""
    rows = [(1, right, 0, 0) for right in _marks(n_a - shared, right_a - shared_right)]
    rows += [(0, 0, 1, right) for right in _marks(n_b - shared, right_b - shared_right)]
    rows += [(1, right, 1, right) for right in _marks(shared, shared_right)] + [(0, 0, 0, 0)] * 20
    guess_a, right_a, guess_b, right_b = np.array(rows, dtype=float).T
    return pd.DataFrame(
        {("a", "correct"): right_a * guess_a, ("a", "guess"): guess_a,
         ("b", "correct"): right_b * guess_b, ("b", "guess"): guess_b}
    )  # fmt: skip


def _marks(n, right):
    return [1] * right + [0] * (n - right)


def quietly(call, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
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


@pytest.mark.parametrize(
    ("n_a", "n_b", "shared"),
    [(800, 800, 300), (800, 1000, 300), (830, 801, 0), (2000, 900, -40), (3000, 3000, 1500)],
)
@pytest.mark.parametrize("share", [0.5, 0.25, 0.85])
def test_many_answers_are_nearly_normal(n_a, n_b, shared, share, monkeypatch):
    """Within 1% of the exact law, from p = .3 down to .01."""
    variance = share * (1 - share) * (1 / n_a + 1 / n_b - 2 * shared / n_a / n_b)
    for z in (0.6, 1.4, 2.2):
        half = z * variance**0.5 / 2
        shares = round((share + half) * n_a) / n_a, round((share - half) * n_b) / n_b
        law = _Law(*shares, n_a, n_b, shared, np.inf)
        many = law.tails(0.0)
        with monkeypatch.context() as patched:
            patched.setattr(ratio_gains, "_LARGE", np.inf)
            np.testing.assert_allclose(many, law.tails(0.0), rtol=0.01)


def test_limits_of_many_answers_end_in_the_range():
    """At a gain of 1 nothing varies; both systems have as many guesses."""
    for share_a, share_b in ((1.0, 0.0), (0.9, 0.1), (1.0, 0.5)):
        low, high = _Law(share_a, share_b, 900, 900, 0.0, np.inf).limits(0.95)
        assert 0.0 < low <= share_a - share_b <= high <= 1.0


@pytest.mark.parametrize("freedom", [np.inf, 300.0])
@pytest.mark.parametrize("n", [300, 3_000, 30_000])
def test_limits_of_many_answers_are_two_errors_away(n, freedom):
    for share_a, share_b in ((0.55, 0.5), (0.9, 0.88), (0.5, 0.55)):
        low, high = _Law(share_a, share_b, n, n - 7, 0.3 * n, freedom).limits(0.95)
        error = np.sqrt(1.4 * (share_a * (1 - share_a)) / n)
        assert low == pytest.approx(share_a - share_b - 1.96 * error, abs=0.25 * error)
        assert high == pytest.approx(share_a - share_b + 1.96 * error, abs=0.25 * error)


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


@pytest.mark.parametrize("method", ["paired_bootstrap", "paired_permutation"])
def test_two_guesses_that_are_right_say_nothing(method):
    df = frame(2, 2, 100, 50)
    with pytest.warns(
        rankeval_pd.RankevalWarning, match="2 guesses.*fewer than 5, there is no test"
    ):
        table = getattr(df.rankeval, method)(metric="precision", details=True)
    assert np.isnan(table["p_value"][0])
    assert table["ci_low"][0] <= 0.0 <= table["ci_high"][0]
    with pytest.warns(rankeval_pd.RankevalWarning, match="there is no test"):
        ranks = df.rankeval.system_ranks(metric="precision", details=True)
    assert (ranks["letters"] == ranks["letters"][0]).all()
    assert (ranks["rank_low"] == 1).all()


@pytest.mark.parametrize("adjust", [None, "holm", "max-t"])
def test_few_guesses_are_not_tested_with_an_adjustment(adjust):
    df = frame(3, 3, 100, 50)
    df[("c", "correct")], df[("c", "guess")] = df[("b", "correct")], df[("b", "guess")]
    df.loc[df.index[50:58], ("c", "correct")] = 0.0
    table = quietly(
        df.rankeval.paired_bootstrap, metric="precision", adjust=adjust, details=True,
        n_resamples=999,
    )  # fmt: skip
    few = (table[["system_a", "system_b"]] == "a").any(axis=1)
    decides = table["p_value" if adjust is None else "p_adjusted"]
    assert decides[few].isna().all()
    assert decides[~few].notna().all()
    assert ((table["ci_low"] <= 0.0) & (table["ci_high"] >= 0.0))[few].all()


def test_a_warning_from_5_to_9_guesses_and_none_from_10():
    with pytest.warns(
        rankeval_pd.RankevalWarning, match="7 guesses.*fewer than 10, the test may be unreliable"
    ):
        table = frame(7, 3, 100, 50).rankeval.paired_bootstrap(metric="precision")
    assert table["p_value"][0] > 0.5
    frame(10, 5, 100, 50).rankeval.paired_bootstrap(metric="precision")


@pytest.mark.parametrize(("n_a", "n_b", "shared", "p"), [(5, 100, 0, 0.5), (10, 100, 5, 0.3)])
def test_the_findings_size(n_a, n_b, shared, p):
    """Five guesses against 100, both right half of the time, erred in 0.3 to 0.55 of samples."""
    rng, draw = np.random.default_rng(5), guesses(n_a, n_b, shared, p, p)
    errs = {"bootstrap": 0, "permutation": 0}
    for _ in range(150):
        items = Items(draw(rng), None, METRICS["precision"].score, 1.0, None)
        drawn = paired_gains.bootstrapped_pairs(items, PAIR, asked("wild"))
        swapped = pairs_tested_once(swapped_tests, items, PAIR, asked("recentred"))
        errs["bootstrap"] += drawn["p_value"][0] <= 0.05
        errs["permutation"] += swapped["p_value"][0] <= 0.05
        assert swapped["p_value"][0] >= drawn["p_value"][0] - 1e-12
        for row in (drawn, swapped):
            assert -1.0 <= row["ci_low"][0] <= row["gain"][0] <= row["ci_high"][0] <= 1.0
    # 0.06 and three standard errors of 150 samples
    assert max(errs.values()) <= 150 * 0.06 + 3 * np.sqrt(150 * 0.06 * 0.94)


sizes = st.integers(5, 40)


@settings(max_examples=40, deadline=None)
@given(n_a=sizes, n_b=sizes, data=st.data())
def test_intervals_stay_in_range_and_agree_with_the_test(n_a, n_b, data):
    shared = data.draw(st.integers(0, min(n_a, n_b)))
    both = data.draw(st.integers(0, shared))
    right_a = both + data.draw(st.integers(0, n_a - shared))
    right_b = both + data.draw(st.integers(0, n_b - shared))
    df = frame(n_a, right_a, n_b, right_b, shared, both)
    items = Items(
        np.stack([df["a"].to_numpy(), df["b"].to_numpy()]), None, METRICS["precision"].score, 1.0,
        None,
    )  # fmt: skip
    row = paired_gains.bootstrapped_pairs(items, PAIR, asked("wild"))
    low, high, p = row["ci_low"][0], row["ci_high"][0], row["p_value"][0]
    assert -1.0 <= low <= row["gain"][0] + 1e-9
    assert row["gain"][0] - 1e-9 <= high <= 1.0
    assert (p <= 0.05) == (low > 0.0 or high < 0.0)
    turned = paired_gains.bootstrapped_pairs(items, PAIR[:, ::-1], asked("wild"))
    assert turned["p_value"][0] == pytest.approx(p, rel=1e-9)
    assert (turned["ci_low"][0], turned["ci_high"][0]) == pytest.approx((-high, -low), abs=1e-6)


def test_scores_stay_between_0_and_1():
    df = frame(10, 10, 100, 3)
    table = df.rankeval.system_ranks(metric="precision", details=True)
    for low, high in (("ci_low", "ci_high"), ("ci_low_alone", "ci_high_alone")):
        assert table[low].between(0.0, 1.0).all()
        assert table[high].between(0.0, 1.0).all()
    exact = stats.binomtest(10, 10).proportion_ci()
    assert table["ci_low_alone"][table["system"] == "a"].item() == pytest.approx(exact.low)


def test_f1_and_error_rates_are_ratios_too():
    rng = np.random.default_rng(4)
    gold, said = rng.random(200) < 0.4, rng.random((2, 200)) < [[0.3], [0.5]]
    parts = {
        (s, k): v * 1.0
        for i, s in enumerate("ab")
        for k, v in (("correct", said[i] & gold), ("guess", said[i]), ("gold", gold))
    }
    table = pd.DataFrame(parts).rankeval.paired_bootstrap("a", "b", metric="f1", details=True)
    assert table["exact"].all()
    # the same ratio, in other words: 1 - F1, where smaller is better
    misses = pd.DataFrame(
        {(s, k): v for s in "ab" for k, v in (
            ("numerator", parts[s, "guess"] + parts[s, "gold"] - 2 * parts[s, "correct"]),
            ("denominator", parts[s, "guess"] + parts[s, "gold"]),
        )}
    )  # fmt: skip
    turned = misses.rankeval.paired_bootstrap(
        "a", "b", metric="ratio", higher_is_better=False, details=True
    )
    assert turned["gain"][0] == pytest.approx(table["gain"][0])


def test_dask_has_the_same_numbers():
    dd = pytest.importorskip("dask.dataframe")
    pytest.importorskip("rankeval_pd.dask")
    rng = np.random.default_rng(6)
    said = rng.random((3, 300)) < 0.4
    right = said & (rng.random((3, 300)) < 0.6)
    df = pd.DataFrame(
        {f"{s} {k}": v[i] * 1.0 for i, s in enumerate("abc")
         for k, v in (("correct", right), ("guess", said))}
    )  # fmt: skip
    df.columns = pd.MultiIndex.from_tuples([tuple(x.split()) for x in df])
    here = df.rankeval.paired_bootstrap("c", metric="precision", details=True)
    there = dd.from_pandas(df, npartitions=3).rankeval.paired_bootstrap(
        "c", metric="precision", details=True
    )
    pd.testing.assert_frame_equal(pd.DataFrame(there), here, check_exact=True)
