"""McNemar's exact test of accepting and rejecting against R, SciPy and enumeration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from rankeval_pd.stats.two_by_two import ALTERNATIVES, mcnemar_test
from tests.stats import exact

REFERENCE = Path(__file__).parents[1] / "simulations" / "regions.csv"
TABLES = [(63, 192, 34, 192), (7, 12, 1, 9), (1, 5, 3, 9), (5, 5, 3, 9), (40, 700, 20, 650)]


def test_published():
    """G2 against X2 in Evert's data, n = 500 and 1250, computed with R's binom.test."""
    assert round(float(mcnemar_test(63, 192, 34, 192, "two-sided")), 5) == 0.00357
    assert round(float(mcnemar_test(44, 157, 26, 157, "two-sided")), 4) == 0.0481


@pytest.mark.parametrize(
    ("alternative", "column"),
    [("two-sided", "mcnemar"), ("greater", "mcnemar_greater"), ("less", "mcnemar_less")],
)
def test_against_r(alternative, column):
    """R's binom.test for the same decisions."""
    reference = pd.read_csv(REFERENCE, comment="#")
    found = mcnemar_test(*reference[["tp_a", "n_a", "tp_b", "n_b"]].to_numpy().T, alternative)
    assert_allclose(found, reference[column], rtol=1e-10)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("table", TABLES)
def test_against_scipy(table, alternative):
    """scipy.stats.binomtest of the decisions in which a is right and b is wrong."""
    tp_a, n_a, tp_b, n_b = table
    right = tp_a + n_b - tp_b
    expected = stats.binomtest(right, n_a + n_b, 0.5, alternative).pvalue
    assert_allclose(mcnemar_test(*table, alternative), expected, rtol=1e-10)


@pytest.mark.parametrize(("gap", "d"), [(20, 50), (600, 2000), (12_500, 10**6)])
def test_far_tail(gap, d):
    """Twice the binomial tail, summed in mpmath, down to 1e-270."""
    table = (d // 2 + gap, d, d // 2 - gap, d)
    expected = float(2 * exact.big_binomial_tail(d + 2 * gap, 2 * d, 0.5))
    assert_allclose(mcnemar_test(*table, "two-sided"), expected, rtol=1e-10)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    "table", [(0, 0, 3, 9), (3, 9, 0, 0), (0, 0, 0, 0), (0, 5, 0, 7), (5, 5, 7, 7), (0, 1, 0, 1)]
)
def test_no_evidence(table, alternative):
    """As in Fisher's test: an empty region, no positives, positives only."""
    assert mcnemar_test(*table, alternative) == 1.0


def test_arrays():
    tp = np.arange(6)
    found = mcnemar_test(tp[:, None], 9, tp, 7, "greater")
    assert found.shape == (6, 6)
    assert found[4, 2] == mcnemar_test(4, 9, 2, 7, "greater")
    assert mcnemar_test(*np.empty((4, 0)), "two-sided").shape == (0,)


@given(st.tuples(*[st.integers(1, 10**4), st.floats(0, 1)] * 2))
def test_relations(drawn):
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
