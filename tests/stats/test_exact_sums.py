"""Exact sums, against Python's fsum and its whole numbers: no order and no cut changes them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankeval_pd.stats.items import exact_sums, exact_total

FLOATS = st.floats(-1e300, 1e300, allow_subnormal=True)


@given(st.lists(FLOATS, min_size=1, max_size=40), st.integers(0, 40))
def test_the_float_nearest_to_the_sum(numbers, cut):
    values = np.array([numbers])
    assert exact_total(values)[0] == math.fsum(numbers)
    parts = exact_sums(values[:, :cut]).plus(exact_sums(values[:, cut:]))
    assert parts.rounded()[0] == math.fsum(numbers)


def test_many_numbers_of_all_sizes():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 50_001)) * 10.0 ** rng.integers(-20, 20, (3, 50_001))
    assert exact_total(values).tolist() == [math.fsum(row) for row in values]
    alike = 1.0 + rng.random((2, 50_001))
    assert exact_total(alike).tolist() == [math.fsum(row) for row in alike]
    shuffled = values[:, rng.permutation(50_001)]
    assert exact_total(shuffled).tolist() == exact_total(values).tolist()
    assert exact_total(values.reshape(3, 3, -1)).shape == (3, 3)


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [
        ([], 0.0),
        ([5e-324] * 3, 1.5e-323),
        ([1e308, 1e308, -1e308], 1e308),
        ([1e308, 1e308], np.inf),
        ([-1e308, -1e308], -np.inf),
        ([1.0, np.inf], np.nan),
        ([np.nan, 2.0], np.nan),
        ([2.0**53, 1.0, 1.0], 2.0**53 + 2.0),
    ],
)
def test_edges(numbers, wanted):
    np.testing.assert_array_equal(exact_total(np.array([numbers], dtype=float)), [wanted])


def test_what_is_undefined_stays_so():
    finite, other = exact_sums(np.ones((2, 3))), exact_sums(np.array([[np.nan], [1.0]]))
    for both in (finite.plus(other), other.plus(finite)):
        np.testing.assert_array_equal(both.rounded(), [np.nan, 4.0])
