"""The logarithm of the incomplete beta function against mpmath and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import special

from rankeval_pd.stats import distributions as binomial
from rankeval_pd.stats.distributions import log_betainc
from tests.conftest import examples
from tests.stats import exact

CASES = [  # a, b, z: around 1, next to the switch at 1e-200, and far below any float
    (1, 1, 0.25),
    (0.5, 2.5, 0.9),
    (3.4, 0.001, 0.2),
    (24.17, 76.83, 0.1862),
    (170, 317, 0.1862),
    (286.5, 0.3, 0.2),
    (300.25, 0.25, 0.2),
    (15, 15, 1e-16),
    (15, 485, 1e-17),
    (15, 0.5, 1e-14),
    (500, 10**5, 1e-4),
    (40_000.5, 60_000.5, 0.35),
    (41_500, 10**7, 0.002),
    (5_059_000.5, 4_941_000.5, 0.5),
    (1_040_000, 8_960_000, 0.1),
    (1000, 10**6, 1e-9),
]


@pytest.mark.parametrize(("a", "b", "z"), CASES)
def test_against_mpmath(a, b, z):
    """Series in mpmath with 50 digits; the error is the relative error of I."""
    expected = exact.log(exact.betainc(a, b, z))
    assert_allclose(log_betainc(a, b, z), expected, rtol=1e-14, atol=1e-10)


def test_against_scipy():
    """SciPy's betainc where it is far from underflow."""
    a, b = np.meshgrid([0.5, 1.0, 7.25, 60.0], [0.5, 1.0, 7.25, 60.0])
    for z in (0.01, 0.5, 0.99):
        assert_allclose(log_betainc(a, b, z), np.log(special.betainc(a, b, z)), rtol=1e-12)


def test_edges():
    """No elements; I_z(a, 0) = 0; arguments broadcast."""
    assert log_betainc(np.empty(0), np.empty(0), 0.3).shape == (0,)
    assert log_betainc(5.0, 0.0, 0.3) == -np.inf
    assert log_betainc(np.ones((2, 1)), np.ones(3), 0.3).shape == (2, 3)


@pytest.mark.parametrize("z", [0.01, 0.3, 0.8])
def test_smooth_at_the_switch(z):
    """Concave in a without a step where the series takes over at 1e-200."""
    a = np.linspace(0.5, 1.5, 4001) * (-200 * np.log(10) / np.log(z))
    slopes = np.diff(log_betainc(a, 2.5, z))
    assert (slopes < 0).all()
    assert_allclose(slopes[1:], slopes[:-1], rtol=1e-3)


@settings(max_examples=examples(60))
@given(st.integers(1, 10**5), st.floats(0, 1), st.floats(1e-6, 1 - 1e-6))
def test_is_a_binomial_tail(n, share, z):
    """For whole numbers, I_z(i, n - i + 1) = P(X >= i): the sum of another kernel; falls in a."""
    i = 1 + int(share * (n - 1))
    found = log_betainc(np.float64(i), np.float64(n - i + 1), z)
    assert_allclose(found, binomial.tails_of_binomial(i, n, z).ge, rtol=1e-13, atol=1e-10)
    assert log_betainc(np.float64(i + 1), np.float64(n - i + 1), z) <= found
