"""Tests of 2x2 tables against enumeration, R, SciPy and mpmath."""

from __future__ import annotations

import itertools
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats import two_by_two
from rankeval_pd.stats.two_by_two import (
    critical_wins,
    fisher_test,
    mcnemar_test,
    paired_tails,
    score_test,
    stratified_exact_test,
)
from tests.stats import exact

REFERENCE = Path(__file__).parents[1] / "simulations" / "regions.csv"
ALTERNATIVES = ("two-sided", "greater", "less")


# ---- Fisher's test


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("n_a", "n_b"), [(1, 4), (5, 5), (20, 13), (11, 11), (7, 3), (6, 9)])
def test_fisher_by_enumeration(n_a, n_b, alternative):
    """Every table of these sizes, in fractions; p = 1 if all or no candidates are positive."""
    for tp_a, tp_b in itertools.product(range(n_a + 1), range(n_b + 1)):
        found = fisher_test(tp_a, n_a, tp_b, n_b, alternative)
        trivial = tp_a + tp_b in (0, n_a + n_b)
        expected = (1, 1) if trivial else exact.fisher(tp_a, n_a, tp_b, n_b, alternative)
        assert_allclose([float(x) for x in found], [float(x) for x in expected], rtol=1e-12)


@pytest.mark.parametrize(
    "table",
    [
        (1300, 1900, 300, 1900),
        (1300, 1900, 290, 1800),
        (515, 10**6, 0, 10**6 + 1),
        (259_500, 10**6, 498_000, 2 * 10**6),
        (2_000_000, 5 * 10**6, 1_943_500, 5 * 10**6 - 1),
        (200, 300, 4000, 10**5),
    ],
)
def test_fisher_of_large_regions(table):
    """Two-sided p and mid-p summed in mpmath with 50 digits, down to 1e-300."""
    found = fisher_test(*table, "two-sided")
    expected = [float(x) for x in exact.big_fisher(*table)]
    assert expected[0] > 1e-305
    assert_allclose([float(x) for x in found], expected, rtol=1e-10)


def test_published_p_values_of_fisher_and_mcnemar():
    """G2 against X2 in Evert's data, n = 500 and 1250, with R's fisher.test and binom.test."""
    tables = np.array([[63, 192, 34, 192], [44, 157, 26, 157]]).T
    assert_allclose(fisher_test(*tables, "two-sided").p_value, [9.496e-4, 0.02075], rtol=5e-4)
    assert_allclose(mcnemar_test(*tables, "two-sided"), [0.00357, 0.0481], rtol=2e-3)


def test_one_odd_size_changes_no_other_p_value_of_fisher():
    tp = np.arange(6)
    equal = fisher_test(tp[:, None], 9, tp, 9, "two-sided")
    mixed = fisher_test(tp[:, None], np.full(7, 9), np.append(tp, 2), [9] * 6 + [11], "two-sided")
    assert equal.p_value.shape == (6, 6)
    for one, other in zip(equal, mixed, strict=True):
        assert_allclose(one, other[:, :6], rtol=1e-12)


@given(st.tuples(*[st.integers(1, 10**5), st.floats(0, 1)] * 2))
def test_fisher_of_exchanged_regions(drawn):
    """Exchanging a and b, or positives and negatives; mid-p below p; the tails make two sides."""
    n_a, share_a, n_b, share_b = drawn
    tp_a, tp_b = round(share_a * n_a), round(share_b * n_b)
    found = {x: fisher_test(tp_a, n_a, tp_b, n_b, x) for x in ALTERNATIVES}
    opposite = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
    for name, one in found.items():
        for turned in ((tp_b, n_b, tp_a, n_a), (n_a - tp_a, n_a, n_b - tp_b, n_b)):
            assert_allclose(fisher_test(*turned, opposite[name]), one, rtol=1e-9, atol=1e-300)
        assert 0.0 <= one.p_mid <= one.p_value <= 1.0
    greater, less = found["greater"].p_value, found["less"].p_value
    assert found["two-sided"].p_value >= min(greater, less) * (1 - 1e-9)
    assert greater + less >= 1 - 1e-9


# ---- McNemar's test of accepting and rejecting


def test_mcnemar_against_r():
    """R's binom.test for the same decisions."""
    reference = pd.read_csv(REFERENCE, comment="#")
    tables = reference[["tp_a", "n_a", "tp_b", "n_b"]].to_numpy().T
    for alternative in ALTERNATIVES:
        column = "mcnemar" if alternative == "two-sided" else f"mcnemar_{alternative}"
        assert_allclose(mcnemar_test(*tables, alternative), reference[column], rtol=1e-10)


@pytest.mark.parametrize(("gap", "d"), [(20, 50), (600, 2000), (12_500, 10**6)])
def test_mcnemar_far_out(gap, d):
    """Twice the binomial tail, summed in mpmath, down to 1e-270."""
    table = (d // 2 + gap, d, d // 2 - gap, d)
    expected = float(2 * exact.big_binomial_tail(d + 2 * gap, 2 * d, 0.5))
    assert_allclose(mcnemar_test(*table, "two-sided"), expected, rtol=1e-10)


@given(st.tuples(*[st.integers(1, 10**4), st.floats(0, 1)] * 2))
def test_mcnemar_of_exchanged_regions(drawn):
    """Exchanging a and b; the tails overlap at one count; two lists of equal size and precision."""
    n_a, share_a, n_b, share_b = drawn
    tp_a, tp_b = round(share_a * n_a), round(share_b * n_b)
    greater = mcnemar_test(tp_a, n_a, tp_b, n_b, "greater")
    less = mcnemar_test(tp_a, n_a, tp_b, n_b, "less")
    two = mcnemar_test(tp_a, n_a, tp_b, n_b, "two-sided")
    assert mcnemar_test(tp_b, n_b, tp_a, n_a, "less") == greater
    assert mcnemar_test(tp_b, n_b, tp_a, n_a, "two-sided") == two
    assert greater + less >= 1 - 1e-12
    assert two == pytest.approx(min(1.0, 2 * min(greater, less)), rel=1e-12)
    assert mcnemar_test(tp_a, n_a, tp_a, n_a, "two-sided") == 1.0


# ---- Boschloo's test


def regions(tp_a, n_a, tp_b, n_b, alternative):
    """Return the sets of pairs of counts whose largest probability makes the p-value."""
    pairs, found = list(itertools.product(range(n_a + 1), range(n_b + 1))), []
    for side in ("greater", "less") if alternative == "two-sided" else (alternative,):
        p = {}
        for i, j in pairs:
            law = exact.hypergeometric(n_a + n_b, i + j, n_a)
            p[i, j] = sum(m for k, m in law.items() if (k >= i if side == "greater" else k <= i))
        found.append([pair for pair in pairs if p[pair] <= p[tp_a, tp_b]])
    return found


def largest_probability(weight):
    """Return the largest probability over the chance of each: 20,001 values, the best by thirds.

    The probability of k of all is its weight times chance^k (1 - chance)^(rest).
    """
    k = np.arange(weight.size)

    def probability(chance):
        chance = np.asarray(chance)[..., None]
        return (weight * chance**k * (1 - chance) ** k[::-1]).sum(axis=-1)

    grid = np.linspace(0, 1, 20_001)
    best = probability(grid).argmax()
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 20_000)]
    for _ in range(60):
        third = (high - low) / 3
        rising = probability(low + third) < probability(high - third)
        low, high = (low + third, high) if rising else (low, high - third)
    return float(max(probability(low), probability(grid[best])))


# ---- Two proportions of the same items


def orders(n):
    """Return the smaller of the mid-p and the score statistic's p: (only a right, only b right)."""
    a, b = np.indices((n + 1, n + 1))
    mid = stats.binom.sf(a, a + b, 0.5) + 0.5 * stats.binom.pmf(a, a + b, 0.5)
    score = stats.norm.sf((a - b) / np.sqrt(np.maximum(a + b, 1)))
    return np.where((a > b) & (a + b <= n), np.minimum(mid, score), 9.0)


@pytest.mark.parametrize(
    ("only_a", "only_b", "n"),
    [(1, 0, 1), (4, 0, 50), (9, 2, 20), (14, 5, 30), (7, 6, 40), (7, 2, 9), (7, 1, 10)],
)
def test_paired_proportions_by_enumeration(only_a, only_b, n):
    """All pairs of counts whose order is no larger."""
    weight, order = np.zeros(n + 1), orders(n)
    for a, b in np.argwhere(order <= order[only_a, only_b] * (1 + 1e-9)):
        weight[a + b] += comb(n, a + b) * comb(a + b, a) / 2 ** int(a + b)
    assert_allclose(paired_tails(only_a, only_b, n), largest_probability(weight), rtol=1e-10)


@given(counts=st.tuples(*[st.integers(0, 60)] * 3))
def test_paired_proportions_decrease_with_wins(counts):
    (only_a, only_b, _), n = counts, sum(counts) + 1
    found, better = paired_tails(np.array([only_a, only_a + 1]), only_b, n)
    assert 0.0 < better <= found * (1 + 1e-9)
    alone = paired_tails(only_a, only_b, np.array([n + 30, n]))[1]
    assert alone == pytest.approx(found, rel=1e-12)
    if only_a <= only_b:
        mcnemar = stats.binom.sf(only_a - 1, only_a + only_b, 0.5)
        assert found == pytest.approx(mcnemar, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01, 0.001])
@pytest.mark.parametrize("n", [30, 200, 2_000, 2_100])
def test_the_size_of_the_test_of_paired_proportions(n, alpha):
    """Above 2,000 discordant items, the test is McNemar's."""
    least = critical_wins(n, alpha / 2)
    m, share = np.arange(n + 1), np.sin(np.linspace(0.0, np.pi / 2, 400))[:, np.newaxis] ** 2
    wins = np.append(least, stats.binom.isf(alpha / 2, m[least.size :], 0.5) + 1)
    size = stats.binom.pmf(m, n, share) @ (2.0 * stats.binom.sf(wins - 1, m, 0.5))
    assert 0.6 * alpha < size.max() <= alpha * (1 + 1e-9)
    rejected = np.where(least <= m[: least.size], least, least - 1)[5:]
    p = paired_tails(rejected, m[5 : least.size] - rejected, n)
    assert_array_equal(2 * p <= alpha, least[5:] <= m[5 : least.size])


@pytest.mark.parametrize(("n", "share", "power"), [(60, 0.999, 0.527), (120, 0.8529, 0.601)])
def test_the_power_of_the_test_of_paired_proportions(n, share, power):
    """8% of the items are discordant; the powers are those of an independent enumeration."""
    least, m = critical_wins(n, 0.025), np.arange(n + 1)
    won = stats.binom.sf(least - 1, m, share) + stats.binom.cdf(m - least, m, share)
    assert stats.binom.pmf(m, n, 0.08) @ won == pytest.approx(power, abs=1e-3)


def test_paired_proportions_at_the_edges():
    assert_array_equal(paired_tails(np.zeros(3), [0, 0, 3], [10, 0, 10]), 1.0)
    # far in the tail, half of the probability of all wins is the order
    assert_allclose(paired_tails(990, 0, 1_000_000), 0.5**990, rtol=0.1)
    p = paired_tails(1_060, 950, 1_000_000)
    assert_allclose(p, stats.binom.sf(1_059, 2_010, 0.5), rtol=1e-10)


@pytest.mark.parametrize("table", [(30, 80, 21, 90), (2.5, 12.5, 6.0, 9.5)])
def test_the_score_statistic_by_hand(table):
    tp_a, n_a, tp_b, n_b = table
    pooled, total, sizes = (tp_a + tp_b) / (n_a + n_b), n_a + n_b, 1 / n_a + 1 / n_b
    sd = np.sqrt(pooled * (1 - pooled) * sizes * total / (total - 1))
    z = (tp_a / n_a - tp_b / n_b - 0.25 * sizes) / sd
    assert_allclose(score_test(*table, "greater"), stats.norm.sf(z), rtol=1e-12)
    z = (tp_b / n_b - tp_a / n_a - 0.25 * sizes) / sd
    assert_allclose(score_test(*table, "less"), stats.norm.sf(z), rtol=1e-12)
    z = (abs(tp_a / n_a - tp_b / n_b) - 0.25 * sizes) / sd
    assert_allclose(score_test(*table, "two-sided"), 2 * stats.norm.sf(z), rtol=1e-12)


# ---- All tests


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("test", [mcnemar_test, fisher_test])
@pytest.mark.parametrize(
    "table", [(0, 0, 3, 9), (3, 9, 0, 0), (0, 0, 0, 0), (0, 5, 0, 7), (5, 5, 7, 7), (0, 1, 0, 1)]
)
def test_no_evidence_has_a_p_value_of_1(test, table, alternative):
    """An empty region, no positives, positives only; of Fisher's test so is the mid-p."""
    assert_array_equal(test(*table, alternative), 1.0)


def test_equal_counts_have_p_one_and_half_of_their_probability_less():
    """The law of the sum by SciPy, of two strata."""
    x, m = np.array([3, 2]), np.array([5, 7])
    found = stratified_exact_test(x, x, m, "two-sided")
    laws = [
        stats.hypergeom(2 * b, 2 * a, b).pmf(np.arange(b + 1)) for a, b in zip(x, m, strict=True)
    ]
    chance = np.convolve(*laws)[x.sum()]
    assert found.p_value == 1.0
    assert found.p_mid == pytest.approx(1 - chance / 2, rel=1e-12)


def test_the_largest_expectation_is_that_on_a_fine_grid():
    """Of values that are 0 but at a few counts, so that there are several peaks."""
    n, shares = 200, np.sin(np.linspace(0.0, np.pi / 2.0, 20_001)) ** 2
    masses = stats.binom.pmf(np.arange(n + 1), n, shares[:, np.newaxis])
    for seed in range(6):
        rng = np.random.default_rng(seed)
        value = np.zeros((1, n + 2))
        value[0, rng.choice(np.arange(1, n), 4, replace=False)] = rng.uniform(0.5, 1.0, 4)
        wanted = (masses @ value[0, :-1]).max()
        assert two_by_two._largest_expectations(value, n) == pytest.approx(wanted, rel=1e-6)
