"""Products, differences, roots and quotients against fractions and mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rankeval_pd.stats.contingency import Exact, minus, product, quotient, root

RNG = np.random.default_rng(5)
NUMBERS = RNG.integers(1, 2 ** RNG.integers(1, 50, 2000)).reshape(4, 500)


def whole(x: Exact) -> list[int]:
    """Return the sums of both parts, which are whole numbers."""
    return [int(a) + int(b) for a, b in zip(x.high, x.low, strict=True)]


def test_products_and_differences_of_counts_are_exact():
    a, b, c, d = NUMBERS.astype(float)
    exact = NUMBERS.astype(object)
    assert whole(product(a, b)) == (exact[0] * exact[1]).tolist()
    found = whole(minus(product(a, b), product(c, d)))
    assert found == (exact[0] * exact[1] - exact[2] * exact[3]).tolist()
    # (n + 1)(n - 1) is n^2 - 1: all digits but the last cancel
    one = minus(product(a, a), product(a + 1.0, a - 1.0))
    assert_array_equal(one.high, 1.0)


def test_quotients_are_rounded_once():
    """The float nearest to the fraction, which Python's division of whole numbers gives."""
    a, b, c, d = NUMBERS.astype(float)
    exact = NUMBERS.astype(object)
    wanted = [
        float(Fraction(x, y)) for x, y in zip(exact[0] ** 2, exact[2] * exact[3], strict=True)
    ]
    assert_array_equal(quotient(product(a, a), product(c, d)), wanted)
    wanted = [
        float(Fraction(x, y))
        for x, y in zip(exact[0] * exact[1] ** 2, exact[2] ** 2 * exact[3] ** 2, strict=True)
    ]
    below = product(product(c, d), product(d, c))
    assert_array_equal(quotient(product(a, b, b), below), wanted)


def test_roots_have_twice_the_digits():
    a, b, c, _ = NUMBERS.astype(float)
    with mpmath.workdps(60):
        wanted = [float(x / mpmath.sqrt(int(y) * int(z))) for x, y, z in zip(a, b, c, strict=True)]
    assert_array_equal(quotient(a, root(product(b, c))), wanted)
    assert_array_equal(quotient(a, root(product(a, a))), 1.0)


@pytest.mark.parametrize(
    ("above", "below", "wanted"),
    [(0.0, 0.0, np.nan), (2.0, 0.0, np.inf), (-2.0, 0.0, -np.inf), (0.0, 2.0, 0.0)],
)
def test_zeros(above, below, wanted):
    assert_array_equal(quotient(np.float64(above), np.float64(below)), wanted)
    assert_array_equal(root(product(np.float64(0.0), np.float64(7.0))).high, 0.0)
