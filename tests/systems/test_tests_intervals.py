"""Intervals of gains: SciPy's, the score intervals of right and wrong, their rows' own p-values."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from rankeval_pd.stats import differences
from tests.systems.conftest import agrees

# --------------------------------------------------------------------------- of resampled gains


def skewed(seed: int, n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.exponential(1.0, n) + 0.3, "b": rng.normal(0.8, 0.1, n)})


@pytest.mark.parametrize("kind", ["percentile", "basic"])
def test_intervals_are_scipys(kind):
    data = skewed(3)
    d = (data["a"] - data["b"]).to_numpy()
    found = data.rankeval.paired_bootstrap("a", "b", ci=kind, n_resamples=40_000).iloc[0]
    rng = np.random.default_rng(0)
    drawn = stats.bootstrap((d,), np.mean, n_resamples=40_000, method=kind, rng=rng)
    low, high = drawn.confidence_interval
    limits = (found["ci_low"], found["ci_high"])
    assert limits == pytest.approx((low, high), abs=0.03 * (high - low))


@pytest.mark.parametrize("kind", ["percentile", "basic"])
def test_the_exact_law_and_resamples_give_the_same_interval(kind):
    rng = np.random.default_rng(6)
    data = pd.DataFrame({"a": rng.integers(0, 9, 80), "b": rng.integers(0, 7, 80)})
    ask = partial(data.rankeval.paired_bootstrap, event="recentred", ci=kind, n_resamples=50_000)
    exact, drawn = (ask("a", "b", method=m).iloc[0] for m in ("auto", "monte-carlo"))
    low, high = exact["ci_low"], exact["ci_high"]
    assert (drawn["ci_low"], drawn["ci_high"]) == pytest.approx(
        (low, high), abs=0.03 * (high - low)
    )
    mirrored = ask("b", "a").iloc[0]
    assert mirrored["ci_low"] == pytest.approx(-high, rel=1e-12)


# --------------------------------------------------------------------------- of right and wrong


def test_what_is_right_or_wrong_has_exact_limits_at_the_edge():
    data = pd.DataFrame({"all": [1] * 200, "same": [1] * 200, "some": [1, 0] * 100})
    ranks = data.rankeval(metric="accuracy").system_ranks(n_resamples=99).set_index("system")
    for name, right in (("all", 200), ("some", 100)):
        for kind, level in (("", 1 - 0.05 / 3), ("_alone", 0.95)):  # three systems: Bonferroni
            limits = list(stats.binomtest(right, 200).proportion_ci(level))
            found = ranks.loc[name, [f"ci_low{kind}", f"ci_high{kind}"]].tolist()
            assert found == pytest.approx(limits)
    row = data.rankeval(metric="accuracy").paired_bootstrap("all", "same").iloc[0]
    assert -0.03 < row["ci_low"] < -0.01
    assert row["ci_high"] == pytest.approx(-row["ci_low"])
    assert row["p_one_sided"] == 1.0
    wrong = 1 - data
    turned = wrong.rankeval(higher_is_better=False).system_ranks(n_resamples=99)
    limits = turned.set_index("system").loc["all", ["ci_low", "ci_high"]]
    assert limits.tolist() == pytest.approx([0.0, 1 - ranks.loc["all", "ci_low"]])


CELLS = st.tuples(*[st.integers(0, 40)] * 4).filter(lambda cells: sum(cells) >= 2)


@given(CELLS, st.sampled_from([0.8, 0.95, 0.99]))
def test_tangos_limits_are_where_the_score_test_rejects(cells, level):
    """The most likely share is sought numerically."""
    _, wins, losses, _ = cells
    n = sum(cells)
    z = stats.norm.isf((1 - level) / 2)

    def score(delta: float) -> float:
        def unlikely(share: float) -> float:
            parts = (share + delta, share, 1 - delta - 2 * share)
            counts = (wins, losses, n - wins - losses)
            return -sum(k * np.log(max(p, 1e-300)) for k, p in zip(counts, parts, strict=True))

        low, high = max(0.0, -delta), (1 - delta) / 2
        share = optimize.minimize_scalar(
            unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        ).x
        ends = [x for x in (low, high) if unlikely(x) <= unlikely(share)]
        share = min(ends, key=unlikely) if ends else share
        return (wins - losses - n * delta) / np.sqrt(n * (2 * share + delta - delta**2))

    (low,), (high,) = differences.tango_limits(*np.array([[wins], [losses]]), n, level)
    assert -1 <= low <= (wins - losses) / n <= high <= 1
    if low > -0.999:
        assert score(low) == pytest.approx(z, abs=2e-3)
    if high < 0.999:
        assert score(high) == pytest.approx(-z, abs=2e-3)
    turned = differences.tango_limits(*np.array([[losses], [wins]]), n, level)
    assert np.ravel(turned) == pytest.approx((-high, -low), abs=1e-12)


def test_score_intervals_are_of_zero_and_one_only():
    rng = np.random.default_rng(3)
    right = pd.DataFrame(rng.random((50, 2)) < [0.7, 0.5], columns=["a", "b"])
    a, b = right.to_numpy().T
    counts = np.array([[(a & ~b).sum()], [(~a & b).sum()]])
    row = right.rankeval.paired_bootstrap("a", "b", ci="tango").iloc[0]
    wanted = np.ravel(differences.tango_limits(*counts, 50, 0.95))
    assert row["p_value"] > 0.05
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((min(wanted[0], 0.0), wanted[1]))
    with pytest.raises(ValueError, match="ci='tango' is an interval for paired proportions"):
        (right * 2.5).rankeval.paired_bootstrap(ci="tango")


def test_counts_say_of_right_and_wrong_what_their_sums_do():
    """Spread and lattices from counts, against the same items on which 0 and 1 are 0 and 2."""
    rng = np.random.default_rng(8)
    right = pd.DataFrame(rng.random((60, 3)) < [0.5, 0.6, 0.8], columns=list("abc"))
    for better in (True, False):
        roles = {"metric": "mean", "higher_is_better": better}
        exact = right.rankeval(**roles).paired_permutation(details=True)
        twice = (2.0 * right).rankeval(**roles).paired_permutation(details=True)
        assert exact["p_value"].tolist() == pytest.approx(twice["p_value"].tolist(), rel=1e-9)
        assert (2 * exact["gain_se"]).tolist() == pytest.approx(twice["gain_se"].tolist())


# ----------------------------------------------------------------------- at the last levels


def test_least_levels_of_intervals_by_signs():
    scores = np.random.default_rng(0).random((60, 3)) < 0.4
    for draws in (19, 20, 99):
        table = pd.DataFrame(scores + 0.5).rankeval.paired_bootstrap(
            n_resamples=draws, level=5e-324, adjust=None
        )
        assert (table["ci_low"] <= table["ci_high"]).all()


# -------------------------------------------------------- intervals agree with the p-value beside


@given(
    st.integers(2, 60),
    st.integers(0, 2**32),
    st.sampled_from(["right or wrong", "grades", "real", "equal"]),
    st.sampled_from(["auto", "monte-carlo"]),
)
@pytest.mark.full
@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_a_row_agrees_with_itself_and_no_p_value_is_zero(n, seed, kind, method):
    rng = np.random.default_rng(seed)
    scores = {
        "right or wrong": rng.random((n, 2)) < rng.random(2),
        "grades": rng.integers(0, 4, (n, 2)) + np.array([rng.integers(0, 3), 0]),
        "real": rng.normal([rng.normal(), 0.0], size=(n, 2)),
        "equal": np.ones((n, 1)) * [rng.integers(-1, 2), 0],
    }
    ask = pd.DataFrame(scores[kind] * 1.0).rankeval
    for test in (ask.paired_bootstrap, ask.paired_permutation):
        row = test(n_resamples=199, method=method, rng=seed % 1000).iloc[0]
        assert min(row["p_one_sided"], row["p_two_sided"]) > 0.0
        assert row["gain_se"] == 0.0 if np.isnan(row["ci_low"]) else agrees(row)
        assert not row["ci_low"] > row["gain"]
        assert not row["ci_high"] < row["gain"]


@pytest.mark.full
def test_no_row_of_nearly_equal_classifiers_contradicts_itself():
    """The limits of an exact law are sums that round: 1e-18 leaves 0 out."""
    rng = np.random.default_rng(6)
    hard = rng.random((300, 1))
    right = hard + 0.1 * rng.normal(size=(300, 24)) < np.linspace(0.86, 0.95, 24)
    ask = pd.DataFrame(right).rankeval(metric="accuracy")
    tables = [ask.paired_bootstrap(), ask.paired_permutation()]
    tables += [ask.paired_bootstrap(event=event) for event in ("recentred", "zero")]
    for found in tables:
        assert found.apply(agrees, axis=1).all()
        assert 0.1 < (found["p_two_sided"] <= 0.05).mean() < 0.9


def test_large_differences_of_one_sign_on_a_fine_lattice():
    """Their sum has few values, that of their random signs more than any memory holds."""
    lower = np.arange(40) % 9 / 4
    ask = pd.DataFrame({"lower": lower, "upper": lower + 1e6 + np.arange(40) % 7 / 8}).rankeval
    for test in (ask.paired_bootstrap, ask.paired_permutation):
        assert (test(n_resamples=999)["p_value"] <= 1).all()
    assert ask.system_ranks(n_resamples=999)["letters"].tolist() == ["a", "b"]
