"""Fisher's test against enumeration, SciPy and mpmath."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats.two_by_two import ALTERNATIVES, fisher_test
from tests.conftest import examples
from tests.stats import exact

SIZES = [(1, 1), (1, 4), (5, 5), (7, 3), (6, 12), (11, 11), (20, 13)]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("n_a", "n_b"), SIZES)
def test_by_enumeration(n_a, n_b, alternative):
    """Every table of these sizes, in fractions; p = 1 if all or no candidates are positive."""
    for tp_a, tp_b in itertools.product(range(n_a + 1), range(n_b + 1)):
        found = fisher_test(tp_a, n_a, tp_b, n_b, alternative)
        trivial = tp_a + tp_b in (0, n_a + n_b)
        expected = (1, 1) if trivial else exact.fisher(tp_a, n_a, tp_b, n_b, alternative)
        assert_allclose([float(x) for x in found], [float(x) for x in expected], rtol=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("equal", [True, False])
def test_against_scipy(alternative, equal):
    """scipy.stats.fisher_exact for 200 random tables."""
    rng = np.random.default_rng(1)
    n_a, n_b = rng.integers(1, 200, (2, 200))
    n_b = n_a if equal else n_b
    tp_a, tp_b = rng.binomial(n_a, 0.3), rng.binomial(n_b, 0.4)
    found = fisher_test(tp_a, n_a, tp_b, n_b, alternative).p_value
    tables = np.array([[tp_a, tp_b], [n_a - tp_a, n_b - tp_b]])
    expected = [
        stats.fisher_exact(tables[..., i], alternative=alternative).pvalue for i in range(200)
    ]
    assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(
    "table",
    [
        (63, 192, 34, 192),
        (1300, 1900, 300, 1900),
        (1300, 1900, 290, 1800),
        (60, 10**6, 2, 2 * 10**6),
        (515, 10**6, 0, 10**6 + 1),
        (251_500, 10**6, 249_000, 10**6),
        (259_500, 10**6, 498_000, 2 * 10**6),
        (2_000_000, 5 * 10**6, 1_943_500, 5 * 10**6 - 1),
        (200, 300, 4000, 10**5),
    ],
)
def test_big(table):
    """Two-sided p and mid-p summed in mpmath with 50 digits, down to 1e-300."""
    found = fisher_test(*table, "two-sided")
    expected = [float(x) for x in exact.big_fisher(*table)]
    assert expected[0] > 1e-305
    assert_allclose([float(x) for x in found], expected, rtol=1e-10)


def test_published():
    """G2 against X2 in Evert's data, n = 500 and 1250, computed with R's fisher.test."""
    found = fisher_test(*np.array([[63, 192, 34, 192], [44, 157, 26, 157]]).T, "two-sided")
    assert_allclose(found.p_value, [9.496e-4, 0.02075], rtol=5e-4)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    "table", [(0, 0, 3, 9), (3, 9, 0, 0), (0, 0, 0, 0), (0, 5, 0, 7), (5, 5, 7, 7), (0, 1, 0, 1)]
)
def test_no_evidence(table, alternative):
    """An empty region, no positives, positives only: by definition p = mid-p = 1."""
    assert fisher_test(*table, alternative) == (1.0, 1.0)


def test_arrays():
    """Arrays broadcast, and one odd size does not change the other elements' p; empty arrays."""
    tp = np.arange(6)
    equal = fisher_test(tp[:, None], 9, tp, 9, "two-sided")
    mixed = fisher_test(tp[:, None], np.full(7, 9), np.append(tp, 2), [9] * 6 + [11], "two-sided")
    assert equal.p_value.shape == (6, 6)
    for one, other in zip(equal, mixed, strict=True):
        assert_allclose(one, other[:, :6], rtol=1e-12)
    empty = np.empty(0)
    for alternative in ALTERNATIVES:
        found = fisher_test(empty, empty, empty, empty, alternative)
        assert_array_equal([x.size for x in found], 0)


@settings(max_examples=examples(60))
@given(st.tuples(*[st.integers(1, 10**5), st.floats(0, 1)] * 2))
def test_relations(drawn):
    """Exchanging a and b, or positives and negatives; mid-p below p; the tails make two sides."""
    n_a, share_a, n_b, share_b = drawn
    tp_a, tp_b = round(share_a * n_a), round(share_b * n_b)
    two = fisher_test(tp_a, n_a, tp_b, n_b, "two-sided")
    greater = fisher_test(tp_a, n_a, tp_b, n_b, "greater")
    less = fisher_test(tp_a, n_a, tp_b, n_b, "less")
    close = {"rtol": 1e-9, "atol": 1e-300}
    assert_allclose(fisher_test(tp_b, n_b, tp_a, n_a, "two-sided"), two, **close)
    assert_allclose(fisher_test(n_a - tp_a, n_a, n_b - tp_b, n_b, "two-sided"), two, **close)
    assert_allclose(fisher_test(tp_b, n_b, tp_a, n_a, "less"), greater, **close)
    assert_allclose(fisher_test(n_a - tp_a, n_a, n_b - tp_b, n_b, "greater"), less, **close)
    for test in (two, greater, less):
        assert 0.0 <= test.p_mid <= test.p_value <= 1.0
    assert two.p_value >= min(greater.p_value, less.p_value) * (1 - 1e-9)
    assert greater.p_value + less.p_value >= 1 - 1e-9
