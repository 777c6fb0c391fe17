"""Association measures against SciPy, fractions and mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats.contingency import MEASURES, expected

TABLES = [  # O11, O12, O21, O22
    (10, 20, 30, 400),
    (1, 50, 60, 3),
    (0, 20, 30, 400),
    (5, 0, 3, 12),
    (7, 0, 0, 9),
    (0, 4, 6, 0),
    (30, 1000, 2000, 10**6),
    (123, 4567, 8901, 234_567),
]


def excess(o11, o12, o21, o22):
    """Return O11 - E11 as a fraction."""
    return Fraction(o11 * o22 - o12 * o21, o11 + o12 + o21 + o22)


@pytest.mark.parametrize(("name", "kind"), [("G2", "log-likelihood"), ("X2", "pearson")])
@pytest.mark.parametrize("table", TABLES)
def test_against_scipy(name, kind, table):
    """scipy.stats.chi2_contingency without correction, with the sign of O11 - E11."""
    square = np.reshape(table, (2, 2))
    statistic = stats.chi2_contingency(square, correction=False, lambda_=kind).statistic
    sign = 1 if excess(*table) > 0 else -1
    found = MEASURES[name](*np.array(table, dtype=float))
    assert_allclose(found, sign * statistic, rtol=1e-10)


@pytest.mark.parametrize("table", TABLES)
def test_small_formulas(table):
    """E11, t and MI from fractions; f is O11; log2 0 is -inf, a negative t over 0 too."""
    cells = np.array(table, dtype=float)
    total = sum(table)
    e11 = Fraction((table[0] + table[1]) * (table[0] + table[2]), total)
    assert_allclose(expected(*cells), float(e11), rtol=1e-14)
    assert MEASURES["f"](*cells) == table[0]
    t, mi = MEASURES["t"](*cells), MEASURES["MI"](*cells)
    if table[0]:
        assert_allclose(t, float(excess(*table)) / table[0] ** 0.5, rtol=1e-14)
        assert_allclose(mi, np.log2(float(table[0] / e11)), rtol=1e-13)
    else:
        assert t == mi == -np.inf


@pytest.mark.parametrize(
    "table",
    [
        (10_100, 990_000, 990_000, 98_009_900),
        (1001, 10**4, 10**4, 10**5),
        (30, 10_000, 20_000, 10**8),
        (2500, 2499, 2501, 2500),
        (3, 2 * 10**8, 10, 7 * 10**8),
    ],
)
def test_close_to_independence(table):
    """2 sum O log(O/E) in mpmath with 50 digits: the terms cancel, the result must not."""
    with mpmath.workdps(50):
        a, b, c, d = (mpf(x) for x in table)
        n = a + b + c + d
        cells = ((a, a + b, a + c), (b, a + b, b + d), (c, c + d, a + c), (d, c + d, b + d))
        g2 = float(2 * sum(o * mpmath.log(o * n / (row * column)) for o, row, column in cells))
        x2 = float((a * d - b * c) ** 2 * n / ((a + b) * (c + d) * (a + c) * (b + d)))
    cells = np.array(table, dtype=float)
    assert_allclose(np.abs(MEASURES["G2"](*cells)), g2, rtol=1e-10)
    assert_allclose(np.abs(MEASURES["X2"](*cells)), x2, rtol=1e-10)


@pytest.mark.parametrize("name", ["G2", "X2"])
@pytest.mark.parametrize(
    "table", [(10, 20, 30, 60), (0, 0, 3, 4), (0, 5, 0, 4), (3, 4, 0, 0), (2, 0, 5, 0)]
)
def test_independence_and_empty_margins(name, table):
    """Where O = E, a margin of 0 included, the statistic is 0 by definition."""
    assert_allclose(MEASURES[name](*np.array(table, dtype=float)), 0.0, atol=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_arrays(name):
    """Elements are what they are alone; nothing in, nothing out."""
    cells = np.array(TABLES, dtype=float).T
    alone = [MEASURES[name](*column) for column in cells.T]
    assert_array_equal(MEASURES[name](*cells), alone)
    assert MEASURES[name](*np.empty((4, 0))).shape == (0,)


@settings(max_examples=100, deadline=None)
@given(st.tuples(*[st.integers(0, 10**5)] * 4).filter(any))
def test_relations(table):
    """Transposing changes nothing, exchanging the rows turns the sign, which is O11 - E11's."""
    o11, o12, o21, o22 = (np.float64(x) for x in table)
    sign = (excess(*table) > 0) - (excess(*table) < 0)
    for name in ("G2", "X2"):
        value = MEASURES[name](o11, o12, o21, o22)
        close = {"rtol": 1e-6, "atol": 1e-9}
        assert np.sign(value) in (sign, 0.0) or abs(value) < 1e-9
        assert_allclose(MEASURES[name](o11, o21, o12, o22), value, **close)
        assert_allclose(MEASURES[name](o21, o22, o11, o12), -value, **close)
