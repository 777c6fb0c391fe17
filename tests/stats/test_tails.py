"""Hypergeometric and binomial tails against enumeration and mpmath."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from rankeval_pd.stats import distributions as binomial
from rankeval_pd.stats import distributions as hypergeometric
from tests.conftest import examples
from tests.stats import exact

SMALL = [
    (total, positive, n)
    for total in (1, 2, 5, 9)
    for positive in range(total + 1)
    for n in range(total + 1)
]
BIG = [  # count, total, positive, n: from the mode to p = 1e-300
    (40, 5102, 566, 500),
    (200, 5102, 566, 500),
    (296, 5102, 566, 500),
    (170, 16769, 3123, 486),
    (50_000, 10**6, 100_000, 500_000),
    (49_000, 10**6, 100_000, 500_000),
    (55_500, 10**6, 100_000, 500_000),
    (5, 10**7, 10, 10**6),
    (10, 10**7, 10, 10**6),
    (2_500_000, 10**7, 5 * 10**6, 5 * 10**6),
    (2_503_000, 10**7, 5 * 10**6, 5 * 10**6),
    (2_529_000, 10**7, 5 * 10**6, 5 * 10**6),
    (9_000_050, 10**7, 9_000_001, 9_999_990),
    (60, 10**7, 1000, 10_000),
    (107, 10**7, 1000, 10_000),
]
BIG_BINOMIAL = [  # count, n, z
    (170, 486, 0.1862),
    (95, 486, 0.1862),
    (60, 486, 0.1862),
    (190, 500, 0.01),
    (10**6, 10**7, 0.1),
    (1_035_000, 10**7, 0.1),
    (990_000, 10**7, 0.1),
    (3, 10**7, 1e-7),
    (80, 10**7, 1e-7),
    (9_999_990, 10**7, 0.999999),
]


@exact.precisely
def close(found, ge, gt, atol):
    """Compare all four logarithms: ``atol`` is the relative error of the probability."""
    expected = [exact.log(p) for p in (ge, gt, (ge + gt) / 2, ge - gt)]
    assert_allclose([float(x) for x in found], expected, rtol=0, atol=atol)


@pytest.mark.parametrize(("total", "positive", "n"), SMALL)
def test_hypergeometric_by_enumeration(total, positive, n):
    """All lists enumerated, including n = N, n = 0, N+ = 0, N+ = N, and i outside the support."""
    law = exact.hypergeometric(total, positive, n)
    for i in range(-1, total + 2):
        found = hypergeometric.tails(i, total, positive, n)
        close(found, exact.tail(law, i), exact.tail(law, i + 1), atol=1e-13)


@pytest.mark.parametrize("z", [0.0, 1e-9, 0.1, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 30])
def test_binomial_by_enumeration(n, z):
    """All outcomes, in fractions, including z = 0, z = 1, n = 0, and i outside the support."""
    law = exact.binomial(n, z)
    for i in range(-1, n + 2):
        close(
            binomial.tails_of_binomial(i, n, z),
            exact.tail(law, i),
            exact.tail(law, i + 1),
            atol=1e-12,
        )


@pytest.mark.parametrize(("i", "total", "positive", "n"), BIG)
def test_big_hypergeometric(i, total, positive, n):
    """Series in mpmath with 50 digits."""
    found = hypergeometric.tails(i, total, positive, n)
    ge, gt = (exact.big_hypergeometric_tail(j, total, positive, n) for j in (i, i + 1))
    close(found, ge, gt, atol=1e-10)


@pytest.mark.parametrize(("i", "n", "z"), BIG_BINOMIAL)
def test_big_binomial(i, n, z):
    """Series in mpmath with 50 digits."""
    found = binomial.tails_of_binomial(i, n, z)
    ge, gt = (exact.big_binomial_tail(j, n, z) for j in (i, i + 1))
    close(found, ge, gt, atol=1e-10)


def test_against_scipy():
    """SciPy, good to some 1e-12 at this size, over the whole support at once."""
    i = np.arange(-1.0, 61.0)
    found = hypergeometric.tails(i, 400, 60, 130)
    assert_allclose(np.exp(found.gt), stats.hypergeom.sf(i, 400, 60, 130), rtol=1e-10)
    found = binomial.tails_of_binomial(i, 60, 0.3)
    assert_allclose(np.exp(found.gt), stats.binom.sf(i, 60, 0.3), rtol=1e-10)


def test_known_values():
    """Macskassy (2005): 1 hit in 10 of a million with 100 positives, checked with R's phyper."""
    assert_allclose(np.exp(hypergeometric.tails(1, 10**6, 100, 10).ge), 0.00099955461595902)
    assert_allclose(np.exp(hypergeometric.tails(200, 5102, 566, 500).gt), 4.92e-74, rtol=1e-3)


def test_far_below_the_smallest_float():
    """Only positives in the list: one list of C(2000, 1000); ten thousand successes."""
    one = Fraction(1, comb(2000, 1000))
    assert_allclose(hypergeometric.tails(1000, 2000, 1000, 1000).ge, exact.log(one), rtol=1e-14)
    assert_allclose(
        binomial.tails_of_binomial(10**4, 10**4, 0.1).ge, 10**4 * np.log(0.1), rtol=1e-14
    )


def test_shapes():
    """Arguments broadcast; nothing in, nothing out."""
    i, n = np.arange(3.0)[:, None], np.arange(4.0)
    assert hypergeometric.tails(i, 10, 4, n).ge.shape == (3, 4)
    assert binomial.tails_of_binomial(i, n, 0.5).mid.shape == (3, 4)
    assert hypergeometric.tails(np.empty(0), 10, 4, 3).gt.shape == (0,)
    assert binomial.tails_of_binomial(np.empty(0), 10, 0.5).pmf.shape == (0,)


def check_relations(found):
    """Check what the tails of every law satisfy, for counts that rise by 1 inside the support."""
    assert (found.ge <= 0.0).all()
    assert (np.diff(found.ge) <= 0.0).all()
    assert_allclose(found.ge, np.logaddexp(found.gt, found.pmf), rtol=1e-14, atol=1e-12)
    half = found.pmf + np.log(0.5)
    assert_allclose(found.mid, np.logaddexp(found.gt, half), rtol=1e-14, atol=1e-12)
    # neighbors are summed separately
    assert_allclose(found.gt[:-1], found.ge[1:], rtol=1e-14, atol=1e-10)


@settings(max_examples=examples(60))
@given(st.data())
def test_hypergeometric_relations(data):
    """Tails fall in i; ge = gt + pmf; lists and positives may be exchanged."""
    total = data.draw(st.integers(1, 10**5))
    positive, n = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
    first = data.draw(st.integers(max(0, n - (total - positive)), min(n, positive)))
    i = np.arange(first, min(first + 40, n + 1, positive + 1), dtype=float)
    found = hypergeometric.tails(i, total, positive, n)
    check_relations(found)
    assert_allclose(
        found.ge, hypergeometric.tails(i, total, n, positive).ge, rtol=1e-14, atol=1e-10
    )


@settings(max_examples=examples(60))
@given(st.integers(0, 10**5), st.floats(1e-6, 1 - 1e-6), st.floats(0, 1))
def test_binomial_relations(n, z, share):
    """Tails fall in i; ge = gt + pmf."""
    first = int(share * n)
    i = np.arange(first, min(first + 40, n + 1), dtype=float)
    check_relations(binomial.tails_of_binomial(i, n, z))


def test_the_logarithm_of_almost_one_keeps_its_digits():
    """1 - P(X < i), of which the probability below is far under what 1 can lose."""
    n, z = 300, 0.5
    below = [Fraction(sum(comb(n, j) for j in range(i)), 2**n) for i in (1, 10, 60)]
    found = binomial.tails_of_binomial(np.array([1, 10, 60]), n, z).ge
    with mpmath.workdps(120):
        wanted = [float(mpmath.log1p(-mpmath.mpf(p.numerator) / p.denominator)) for p in below]
    assert_allclose(found, wanted, rtol=1e-12, atol=0)
