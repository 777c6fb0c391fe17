"""The Poisson distribution against SciPy and mpmath."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats import distributions as binomial
from tests.stats import exact


@pytest.mark.parametrize("mean", [1e-9, 0.3, 1.0, 7.5, 1000.0])
def test_against_scipy(mean):
    """scipy.stats.poisson for all counts that are not too rare."""
    i = np.arange(int(mean + 12 * mean**0.5) + 3)
    found = binomial.poisson_tails(i, mean)
    law = stats.poisson(mean)
    assert_allclose(np.exp(found.pmf), law.pmf(i), rtol=1e-11)
    assert_allclose(np.exp(found.ge), law.sf(i - 1), rtol=1e-11)
    assert_allclose(np.exp(found.gt), law.sf(i), rtol=1e-11)
    assert_allclose(np.exp(found.mid), law.sf(i) + law.pmf(i) / 2, rtol=1e-11)


@pytest.mark.parametrize(
    ("i", "mean"),
    [(200, 0.001), (5000, 12.5), (10**6, 10**5), (1_000_500, 10**6), (3, 40.0), (10, 100.0)],
)
def test_far_tails(i, mean):
    """Logarithm of the tail, far below 1e-308, in mpmath with 50 digits."""
    wanted = exact.log(exact.big_poisson_tail(i, Fraction(mean)))
    assert_allclose(binomial.poisson_tails(i, mean).ge, wanted, rtol=1e-10)


def test_edges():
    """A mean of 0, counts below 0, nothing."""
    found = binomial.poisson_tails(np.array([-1, 0, 1]), 0.0)
    assert_array_equal(found.ge, [0, 0, -np.inf])
    assert_array_equal(found.gt, [0, -np.inf, -np.inf])
    assert_array_equal(found.pmf, [-np.inf, 0, -np.inf])
    assert_array_equal(binomial.poisson_tails(np.array([-3.0, 0.0]), 2.0).ge, [0, 0])
    assert binomial.poisson_tails(np.empty((0, 2)), 1.0).ge.shape == (0, 2)
    table = binomial.poisson_tails(np.arange(3)[:, None], np.array([0.0, 1.0, 5.0]))
    assert table.ge.shape == (3, 3)
    assert table.ge[2, 1] == binomial.poisson_tails(2, 1.0).ge


@given(st.integers(0, 10**5), st.floats(1e-6, 1e5))
def test_relations(i, mean):
    """Tails fall with the count, rise with the mean, and differ by the probability between."""
    found, later = binomial.poisson_tails(i, mean), binomial.poisson_tails(i + 1, mean)
    assert found.gt == pytest.approx(later.ge, rel=1e-9, abs=1e-300)
    assert later.ge < found.ge <= 0 or found.ge > -1e-300
    assert binomial.poisson_tails(i, mean * 1.01).ge >= found.ge
