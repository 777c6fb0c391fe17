"""Unconditional tests against enumeration, SciPy and published values."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats.two_by_two import (
    ALTERNATIVES,
    barnard,
    barnard_cell,
    boschloo,
    boschloo_cell,
    fisher_test,
    paired_boschloo,
)
from tests.stats import exact

TESTS = {"boschloo": boschloo, "barnard": barnard}


def signed_square(tp_a, n_a, tp_b, n_b):
    """Return z abs(z) of the pooled z-score as a fraction, but for a factor of n_a and n_b."""
    gap, positive = tp_a * n_b - tp_b * n_a, tp_a + tp_b
    return Fraction(gap * abs(gap), positive * (n_a + n_b - positive)) if gap else Fraction(0)


def regions(name, table, alternative):
    """Return the sets of pairs of counts whose largest probability makes the p-value."""
    tp_a, n_a, tp_b, n_b = table
    pairs = list(itertools.product(range(n_a + 1), range(n_b + 1)))
    if name == "barnard":
        z = {(i, j): signed_square(i, n_a, j, n_b) for i, j in pairs}
        if alternative == "two-sided":
            z = {pair: abs(value) for pair, value in z.items()}
        sign = -1 if alternative == "less" else 1
        return [[pair for pair in pairs if sign * z[pair] >= sign * z[tp_a, tp_b]]]
    found = []
    for side in ("greater", "less") if alternative == "two-sided" else (alternative,):
        p = {}
        for i, j in pairs:
            law = exact.hypergeometric(n_a + n_b, i + j, n_a)
            p[i, j] = sum(m for k, m in law.items() if (k >= i if side == "greater" else k <= i))
        found.append([pair for pair in pairs if p[pair] <= p[tp_a, tp_b]])
    return found


def largest_probability(region, n_a, n_b):
    """Return the largest probability over pi: 20,001 values, the best by thirds."""
    total = n_a + n_b
    weight = np.zeros(total + 1)
    for i, j in region:
        weight[i + j] += comb(n_a, i) * comb(n_b, j)
    k = np.arange(total + 1)

    def probability(pi):
        pi = np.asarray(pi)[..., None]
        return (weight * pi**k * (1 - pi) ** k[::-1]).sum(axis=-1)

    grid = np.linspace(0, 1, 20_001)
    best = probability(grid).argmax()
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 20_000)]
    for _ in range(60):
        third = (high - low) / 3
        rising = probability(low + third) < probability(high - third)
        low, high = (low + third, high) if rising else (low, high - third)
    return max(probability(low), probability(grid[best]))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize(
    "table",
    [
        (7, 12, 1, 9), (3, 4, 0, 4), (2, 5, 5, 11), (6, 10, 2, 10), (0, 3, 2, 8), (1, 1, 0, 9),
        (4, 4, 3, 6), (5, 8, 5, 8), (2, 7, 1, 14),
    ],
)  # fmt: skip
def test_by_enumeration(name, table, alternative):
    """Rejection regions from fractions; largest probability by numerical search."""
    _, n_a, _, n_b = table
    p = [largest_probability(region, n_a, n_b) for region in regions(name, table, alternative)]
    expected = min(1.0, len(p) * float(min(p)))
    assert_allclose(TESTS[name](*table, alternative), expected, rtol=1e-11)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    "table",
    [(8, 31, 3, 37), (4, 18, 9, 22), (63, 192, 34, 192), (10, 40, 9, 55), (7, 12, 8, 17)],
)
def test_against_scipy(table, alternative):
    """scipy.stats.boschloo_exact and barnard_exact, which search the maximum by sampling."""
    tp_a, n_a, tp_b, n_b = table
    columns = [[tp_a, tp_b], [n_a - tp_a, n_b - tp_b]]
    expected = stats.boschloo_exact(columns, alternative=alternative, n=64).pvalue
    assert_allclose(boschloo_cell(*table, alternative), expected, rtol=1e-6)
    expected = stats.barnard_exact(columns, alternative=alternative, n=64).pvalue
    assert_allclose(barnard_cell(*table, alternative), expected, rtol=1e-6)


def test_published():
    """The examples of SciPy's documentation."""
    # vaccine: 7 of 15 infected against 12 of 15 (table [[7, 12], [8, 3]])
    assert round(barnard_cell(7, 15, 12, 15, "less"), 4) == 0.0341
    # job satisfaction: [[74, 31], [43, 32]], 3.55 %
    assert round(boschloo_cell(74, 117, 31, 63, "greater"), 4) == 0.0356


@pytest.mark.full
@pytest.mark.parametrize("d", [20, 50])
@pytest.mark.parametrize("name", TESTS)
def test_size(name, d):
    """The test rejects with probability .05 at most, whatever pi; Fisher's is smaller still."""
    tp = np.arange(d + 1)
    more, fewer = np.tril_indices(d + 1)
    p_value = np.empty((d + 1, d + 1))
    p_value[more, fewer] = TESTS[name](more, d, fewer, d, "two-sided")
    p_value[fewer, more] = p_value[more, fewer]
    fisher = fisher_test(tp[:, None], d, tp, d, "two-sided").p_value
    pi = np.linspace(0.001, 0.999, 999)[:, None, None]
    chance = stats.binom.pmf(tp[:, None], d, pi) * stats.binom.pmf(tp, d, pi)
    size = (chance * (p_value <= 0.05)).sum(axis=(1, 2))
    assert 0.03 < size.max() <= 0.05
    if name == "boschloo":
        assert (p_value <= fisher * (1 + 1e-9)).all()
        assert (chance * (fisher <= 0.05)).sum(axis=(1, 2)).max() < size.max()
    # rejection rates at pi = .1, .2, .3, .5, summed by another programme
    published = {
        ("boschloo", 50): [0.032, 0.040, 0.042, 0.042],
        ("barnard", 50): [0.038, 0.043, 0.045, 0.042],
        ("barnard", 20): [0.039, 0.049, 0.045, 0.039],
    }
    if (name, d) in published:
        assert_array_equal(np.round(size[[99, 199, 299, 499]], 3), published[name, d])


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize(
    "table", [(0, 0, 3, 9), (3, 9, 0, 0), (0, 0, 0, 0), (0, 5, 0, 7), (5, 5, 7, 7), (0, 1, 0, 1)]
)
def test_no_evidence(name, table, alternative):
    """An empty region, no positives, positives only: p = 1, as in Fisher's test."""
    assert TESTS[name](*table, alternative) == 1.0


@pytest.mark.parametrize("name", TESTS)
def test_arrays(name):
    """Arrays broadcast; every different table is computed once, and ``progress`` sees it."""
    seen = []

    def progress(tables):
        seen.extend(tables)
        return tables

    tp = np.array([4, 2, 4])
    found = TESTS[name](tp[:, None], 9, np.array([1, 3]), 7, "greater", progress=progress)
    assert found.shape == (3, 2)
    assert sorted(seen) == [(2, 9, 1, 7), (2, 9, 3, 7), (4, 9, 1, 7), (4, 9, 3, 7)]
    assert_array_equal(found[0], found[2])
    assert found[1, 1] == TESTS[name](2, 9, 3, 7, "greater")
    assert TESTS[name](*np.empty((4, 0)), "two-sided").shape == (0,)


@pytest.mark.parametrize("name", TESTS)
def test_far_tail(name):
    """Exact probability of the most extreme table, which is largest at pi = 1/2."""
    for d in (5, 100, 500):
        p = TESTS[name](d, d, 0, d, "greater")
        assert_allclose(p, 2.0 ** (-2 * d), rtol=1e-11)
        assert_allclose(TESTS[name](d, d, 0, d, "two-sided"), 2 * p, rtol=1e-11)


@pytest.mark.parametrize("name", TESTS)
@settings(max_examples=25, deadline=None)
@given(st.tuples(*[st.integers(1, 300), st.floats(0, 1)] * 2))
def test_relations(name, drawn):
    """Exchanging a and b, or positives and negatives; not below the conditional probability."""
    n_a, share_a, n_b, share_b = drawn
    tp_a, tp_b = round(share_a * n_a), round(share_b * n_b)
    test = TESTS[name]
    greater = test(tp_a, n_a, tp_b, n_b, "greater")
    two = test(tp_a, n_a, tp_b, n_b, "two-sided")
    close = {"rtol": 1e-9, "atol": 1e-300}
    assert_allclose(test(tp_b, n_b, tp_a, n_a, "less"), greater, **close)
    assert_allclose(test(tp_b, n_b, tp_a, n_a, "two-sided"), two, **close)
    assert_allclose(test(n_a - tp_a, n_a, n_b - tp_b, n_b, "less"), greater, **close)
    assert_allclose(test(n_a - tp_a, n_a, n_b - tp_b, n_b, "two-sided"), two, **close)
    assert 0 < greater <= 1
    if name == "boschloo":
        fisher = fisher_test(tp_a, n_a, tp_b, n_b, "greater").p_value
        assert greater <= fisher * (1 + 1e-9)
    if tp_a < n_a:
        assert test(tp_a + 1, n_a, tp_b, n_b, "greater") <= greater * (1 + 1e-9)


# ------------------------------------------------------------- two proportions of the same items


def largest_paired(only_a, only_b, n):
    """Return the largest probability, over the share that differs, of as small a p of McNemar."""
    counts = [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]
    tail = {(a, m): sum(comb(m, k) for k in range(a, m + 1)) / 2**m for a, m in
            {(a, a + b) for a, b in counts}}  # fmt: skip
    observed = tail[only_a, only_a + only_b]
    weight = np.zeros(n + 1)
    for a, b in counts:
        if tail[a, a + b] <= observed:
            weight[a + b] += comb(n, a + b) * comb(a + b, a) / 2 ** (a + b)
    m = np.arange(n + 1)

    def probability(share):
        share = np.asarray(share)[..., None]
        return (weight * share**m * (1 - share) ** m[::-1]).sum(axis=-1)

    grid = np.linspace(0, 1, 20_001)
    best = int(probability(grid).argmax())
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 20_000)]
    for _ in range(60):
        third = (high - low) / 3
        rising = probability(low + third) < probability(high - third)
        low, high = (low + third, high) if rising else (low, high - third)
    return float(max(probability(low), probability(grid[best])))


@pytest.mark.parametrize(
    ("only_a", "only_b", "n"),
    [(1, 0, 1), (4, 0, 50), (7, 1, 10), (9, 2, 20), (14, 5, 30), (12, 12, 40), (2, 5, 9)],
)
def test_paired_proportions_by_enumeration(only_a, only_b, n):
    """All pairs of counts whose McNemar p is no larger, or the score statistic's p if larger."""
    mcnemar = stats.binomtest(only_a, only_a + only_b, 0.5, "greater").pvalue
    score = stats.norm.sf((only_a - only_b) / np.sqrt(only_a + only_b))
    expected = max(largest_paired(only_a, only_b, n), min(score, mcnemar))
    assert_allclose(paired_boschloo(only_a, only_b, n), expected, rtol=1e-10)


@given(counts=st.tuples(*[st.integers(0, 60)] * 3))
@settings(max_examples=60, deadline=None)
def test_paired_proportions_are_never_above_mcnemar(counts):
    only_a, only_b, same = counts
    found = paired_boschloo(only_a, only_b, sum(counts))
    mcnemar = stats.binom.sf(only_a - 1, only_a + only_b, 0.5)
    assert 0.0 < found <= mcnemar * (1 + 1e-12)
    assert paired_boschloo(only_a + 1, only_b, sum(counts) + 1) <= found * (1 + 1e-9) or same == 0


def test_paired_proportions_at_the_edges():
    assert paired_boschloo(0, 0, 10) == paired_boschloo(0, 0, 0) == paired_boschloo(0, 3, 10) == 1.0
    # above 200 items it is McNemar's, down to the smallest numbers
    assert_allclose(paired_boschloo(990, 0, 1_000_000), 0.5**990, rtol=1e-10)
    assert_allclose(paired_boschloo(30, 12, 201), stats.binom.sf(29, 42, 0.5), rtol=1e-12)


@pytest.mark.parametrize("n", [10, 30, 50])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
def test_paired_proportions_hold_their_level(n, alpha):
    """Over all outcomes of n items, whatever share of them differs."""
    p = np.array([[paired_boschloo(a, b, n) if a + b <= n else 1.0 for b in range(n + 1)]
                  for a in range(n + 1)])  # fmt: skip
    rejected = 2 * p <= alpha
    a, b = np.nonzero(rejected)
    for share in np.linspace(0.02, 1.0, 50):
        law = stats.multinomial([n] * a.size, [share / 2, share / 2, 1 - share])
        assert 2 * law.pmf(np.stack([a, b, n - a - b], axis=1)).sum() <= alpha * (1 + 1e-9)
