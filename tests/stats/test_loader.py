"""Stirling remainders and deviances against mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose

from rankeval_pd.stats.distributions import deviance, real_stirling_remainder, stirling_remainder
from tests.conftest import examples
from tests.stats.exact import precisely


@precisely
def exact_remainder(x: float) -> float:
    x = mpf(x)
    return float(mpmath.loggamma(x + 1) - (x * mpmath.log(x) - x if x else 0))


@precisely
def exact_deviance(x: float, mean: float) -> float:
    x, mean = mpf(x), mpf(mean)
    return float((x * mpmath.log(x / mean) if x else 0) + mean - x)


def test_remainder_of_whole_numbers():
    """mpmath, on both sides of the table's end at 15 and up to 1e12."""
    x = np.concatenate([np.arange(200.0), [1e3, 12345.0, 1e6, 1e7, 1e9, 1e12]])
    assert_allclose(stirling_remainder(x), [exact_remainder(v) for v in x], rtol=4e-16, atol=1e-16)


@pytest.mark.parametrize(
    "x", [0.0, 1e-9, 0.25, 0.5, 1.5, 7.75, 14.5, 14.999999, 15.0, 15.000001, 15.5, 1e7 + 0.5]
)
def test_remainder_of_real_numbers(x):
    """mpmath, on both sides of 15, where log-gamma gives way to the series."""
    assert_allclose(real_stirling_remainder(x), exact_remainder(x), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("x", "mean"),
    [
        (0, 3.5),
        (5, 5),
        (1, 2),
        (2, 1),
        (110, 90),
        (90, 110),
        (10000000.0, 10000000.0 + 1),
        (10000000.0 + 1, 10000000.0),
        (10000000.0, 1),
        (1, 10000000.0),
        (300000.0, 290000.0),
        (0.001, 1000.0),
        (1221, 1000),
        (1222, 1000),
        (1223, 1000),
    ],
)
def test_deviance(x, mean):
    """mpmath, on both sides of |x - mean| = 0.1 (x + mean), where the formula changes."""
    assert_allclose(deviance(x, mean), exact_deviance(x, mean), rtol=1e-14)


def test_deviance_of_nothing():
    """0 log 0 = 0."""
    assert deviance(0.0, 0.0) == 0.0
    assert deviance(np.empty(0), np.empty(0)).shape == (0,)


@settings(max_examples=examples(100))
@given(st.floats(1e-3, 1e9), st.floats(1e-3, 1e9))
def test_deviance_is_a_distance(x, mean):
    """It is 0 only at x = mean, and D(x, mean) + D(mean, x) = (x - mean) log(x/mean)."""
    there, back = deviance(x, mean), deviance(mean, x)
    assert there >= 0.0
    assert (there == 0.0) == (x == mean)
    with mpmath.workdps(50):
        both = float((mpf(x) - mpf(mean)) * mpmath.log(mpf(x) / mpf(mean)))
    assert_allclose(there + back, both, rtol=1e-13)
