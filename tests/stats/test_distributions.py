"""Tails of random counts against enumeration, mpmath and SciPy."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats import distributions
from rankeval_pd.stats.distributions import (
    Finite,
    binomial_laws,
    deviance,
    first_near,
    first_true,
    hypergeometric_laws,
    log_betainc,
    real_stirling_remainder,
    stirling_remainder,
    tails_of_sum,
)
from tests.stats import exact

# ---- Hypergeometric and binomial tails


BIG = [  # count, total, positive, n: from the mode to p = 1e-300
    (40, 5102, 566, 500),
    (296, 5102, 566, 500),
    (170, 16769, 3123, 486),
    (55_500, 10**6, 100_000, 500_000),
    (10, 10**7, 10, 10**6),
    (2_529_000, 10**7, 5 * 10**6, 5 * 10**6),
    (9_000_050, 10**7, 9_000_001, 9_999_990),
    (107, 10**7, 1000, 10_000),
]

BIG_BINOMIAL = [  # count, n, z
    (170, 486, 0.1862),
    (60, 486, 0.1862),
    (190, 500, 0.01),
    (1_035_000, 10**7, 0.1),
    (990_000, 10**7, 0.1),
    (80, 10**7, 1e-7),
    (9_999_990, 10**7, 0.999999),
]


@exact.precisely
def close(found, ge, gt, atol):
    """Compare all four logarithms: ``atol`` is the relative error of the probability."""
    expected = [exact.log(p) for p in (ge, gt, (ge + gt) / 2, ge - gt)]
    assert_allclose([float(x) for x in found], expected, rtol=0, atol=atol)


@pytest.mark.parametrize("total", [9, 5, 2, 1, 4])
def test_hypergeometric_by_enumeration(total):
    """All lists enumerated, including n = N, n = 0, N+ = 0, N+ = N, and i outside the support."""
    for positive, n in itertools.product(range(total + 1), repeat=2):
        law = exact.hypergeometric(total, positive, n)
        for i in range(-1, total + 2):
            found = distributions.tails(i, total, positive, n)
            close(found, exact.tail(law, i), exact.tail(law, i + 1), atol=1e-13)


@pytest.mark.parametrize("z", [0.0, 1.0, 1e-9, 0.75, 0.1])
def test_binomial_by_enumeration(z):
    """All outcomes, in fractions, including z = 0, z = 1, n = 0, and i outside the support."""
    for n in (0, 1, 2, 7, 30):
        law = exact.binomial(n, z)
        for i in range(-1, n + 2):
            found = distributions.tails_of_binomial(i, n, z)
            close(found, exact.tail(law, i), exact.tail(law, i + 1), atol=1e-12)


@pytest.mark.parametrize(("i", "total", "positive", "n"), BIG)
def test_big_hypergeometric(i, total, positive, n):
    """Series in mpmath with 50 digits."""
    found = distributions.tails(i, total, positive, n)
    ge, gt = (exact.big_hypergeometric_tail(j, total, positive, n) for j in (i, i + 1))
    close(found, ge, gt, atol=1e-10)


@pytest.mark.parametrize(("i", "n", "z"), BIG_BINOMIAL)
def test_big_binomial(i, n, z):
    """Series in mpmath with 50 digits."""
    found = distributions.tails_of_binomial(i, n, z)
    ge, gt = (exact.big_binomial_tail(j, n, z) for j in (i, i + 1))
    close(found, ge, gt, atol=1e-10)


def test_the_tails_of_macskassy_and_of_r():
    """Macskassy (2005): 1 hit in 10 of a million with 100 positives, checked with R's phyper."""
    assert_allclose(np.exp(distributions.tails(1, 10**6, 100, 10).ge), 0.00099955461595902)
    assert_allclose(np.exp(distributions.tails(200, 5102, 566, 500).gt), 4.92e-74, rtol=1e-3)


def test_tails_far_below_the_smallest_float():
    """Only positives in the list: one list of C(2000, 1000); ten thousand successes."""
    one = Fraction(1, comb(2000, 1000))
    assert_allclose(distributions.tails(1000, 2000, 1000, 1000).ge, exact.log(one), rtol=1e-14)
    assert_allclose(
        distributions.tails_of_binomial(10**4, 10**4, 0.1).ge, 10**4 * np.log(0.1), rtol=1e-14
    )


def test_the_logarithm_of_almost_one_keeps_its_digits():
    """1 - P(X < i), of which the probability below is far under what 1 can lose."""
    n, z = 300, 0.5
    below = [Fraction(sum(comb(n, j) for j in range(i)), 2**n) for i in (1, 10, 60)]
    found = distributions.tails_of_binomial(np.array([1, 10, 60]), n, z).ge
    with mpmath.workdps(120):
        wanted = [float(mpmath.log1p(-mpmath.mpf(p.numerator) / p.denominator)) for p in below]
    assert_allclose(found, wanted, rtol=1e-12, atol=0)


def check_relations(found):
    """Check what the tails of every law satisfy, for counts that rise by 1 inside the support."""
    assert (found.ge <= 0.0).all()
    assert (np.diff(found.ge) <= 0.0).all()
    assert_allclose(found.ge, np.logaddexp(found.gt, found.pmf), rtol=1e-14, atol=1e-12)
    half = np.logaddexp(found.gt, found.pmf + np.log(0.5))
    assert_allclose(found.mid, half, rtol=1e-14, atol=1e-12)
    # neighbors are summed separately
    assert_allclose(found.gt[:-1], found.ge[1:], rtol=1e-14, atol=1e-10)


@given(st.data())
def test_hypergeometric_tails_fall_and_lists_and_positives_may_be_exchanged(data):
    total = data.draw(st.integers(1, 10**5))
    positive, n = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
    first = data.draw(st.integers(max(0, n - (total - positive)), min(n, positive)))
    i = np.arange(first, min(first + 40, n + 1, positive + 1), dtype=float)
    found = distributions.tails(i, total, positive, n)
    check_relations(found)
    assert_allclose(found.ge, distributions.tails(i, total, n, positive).ge, rtol=1e-14, atol=1e-10)


@given(st.integers(0, 10**5), st.floats(1e-6, 1 - 1e-6), st.floats(0, 1))
def test_binomial_tails_fall(n, z, share):
    first = int(share * n)
    i = np.arange(first, min(first + 40, n + 1), dtype=float)
    check_relations(distributions.tails_of_binomial(i, n, z))


# ---- Poisson tails


@pytest.mark.parametrize(
    ("i", "mean"),
    [(200, 0.001), (10**6, 10**5), (1_000_500, 10**6), (3, 40.0), (10, 100.0), (0, 0.3), (8, 7.5)],
)
def test_poisson_tails_far_out(i, mean):
    """Logarithm of the tail, far below 1e-308, in mpmath with 50 digits."""
    ge, gt = (exact.big_poisson_tail(j, Fraction(mean)) for j in (i, i + 1))
    found = distributions.poisson_tails(i, mean)
    assert_allclose(found.ge, exact.log(ge), rtol=1e-10)
    close(found, ge, gt, atol=1e-9 * max(1.0, -float(found.ge)))


def test_poisson_tails_at_the_edges():
    found = distributions.poisson_tails(np.array([-1, 0, 1]), 0.0)
    assert_array_equal(found.ge, [0, 0, -np.inf])
    assert_array_equal(found.gt, [0, -np.inf, -np.inf])
    assert_array_equal(found.pmf, [-np.inf, 0, -np.inf])
    assert_array_equal(distributions.poisson_tails(np.array([-3.0, 0.0]), 2.0).ge, [0, 0])
    assert distributions.poisson_tails(np.empty((0, 2)), 1.0).ge.shape == (0, 2)


@given(st.integers(0, 10**5), st.floats(1e-6, 1e5))
def test_poisson_tails_fall_with_the_count_and_rise_with_the_mean(i, mean):
    found, later = distributions.poisson_tails(i, mean), distributions.poisson_tails(i + 1, mean)
    assert found.gt == pytest.approx(later.ge, rel=1e-9, abs=1e-300)
    assert later.ge < found.ge <= 0 or found.ge > -1e-300
    assert distributions.poisson_tails(i, mean * 1.01).ge >= found.ge


# ---- Sums of counts


LISTS = st.lists(
    st.integers(1, 12).flatmap(
        lambda total: st.tuples(st.just(total), st.integers(0, total), st.integers(1, total))
    ),
    min_size=1,
    max_size=5,
)


def law_of_sum(laws: list[exact.Law]) -> exact.Law:
    """Return the law of the sum of independent counts."""
    result: exact.Law = {0: Fraction(1)}
    for law in laws:
        ahead: exact.Law = {}
        for i, p in result.items():
            for j, q in law.items():
                ahead[i + j] = ahead.get(i + j, Fraction(0)) + p * q
        result = ahead
    return result


def laws_of(lists) -> np.ndarray:
    total, positive, n = np.array(lists, dtype=float).T
    return hypergeometric_laws(n, total, positive)


@given(LISTS, st.integers(1, 4), st.data())
def test_every_tail_of_a_sum(lists, often, data):
    law = law_of_sum([exact.hypergeometric(*size) for size in lists] * often)
    times = np.full(len(lists), often)
    for count in {data.draw(st.integers(-1, max(law) + 1)) for _ in range(4)}:
        found = tails_of_sum(float(count), laws_of(lists), times)
        at_least, at = exact.tail(law, count), law.get(count, Fraction(0))
        wanted = [at_least, at_least - at, at_least - at / 2, at]
        for x, p in zip(found, wanted, strict=True):
            assert math.exp(x) == pytest.approx(float(p), rel=1e-12, abs=1e-28)
        assert (found.ge == 0.0) == (at_least == 1) or at_least > 1 - 1e-15


def test_one_is_said_only_of_what_is_certain():
    """10 or more of lists of 7 from 11 with 6, and 7 from 12 with 5, four times each."""
    lists = [(11, 6, 7), (12, 5, 7)]
    law = law_of_sum([exact.hypergeometric(*size) for size in lists] * 4)
    found = tails_of_sum(10.0, laws_of(lists), np.array([4, 4]))
    at_least, at = exact.tail(law, 10), law[10]
    rest = [1 - at_least, 1 - at_least + at, 1 - at_least + at / 2]
    assert list(found)[:3] == pytest.approx([-float(p) for p in rest], rel=1e-11)
    assert 0.0 < -found.ge < 2e-15


@pytest.mark.parametrize("count", [60, 100, 200, 390, 400])
def test_sums_far_below_what_a_float_holds(count):
    """Exact p-values from 0.1 to 1e-800 for 400 queries, each with one positive among 100."""
    law = law_of_sum([exact.hypergeometric(100, 1, 1)])
    times = np.array([400])
    found = tails_of_sum(float(count), laws_of([(100, 1, 1)]), times)
    tail = sum(
        Fraction(math.comb(400, i)) * law[1] ** i * law[0] ** (400 - i) for i in range(count, 401)
    )
    assert found.ge == pytest.approx(exact.log(tail), rel=1e-13)


def test_binomials_of_one_prior_are_one_binomial():
    laws = binomial_laws(np.array([3.0, 0.0, 40.0, 7.0]), np.full(4, 0.3))
    law = stats.binom(50, 0.3)
    for count in (0, 10, 15, 40, 50):
        found = tails_of_sum(float(count), laws, np.ones(4, dtype=int))
        assert_allclose(np.exp(found[:2]), [law.sf(count - 1), law.sf(count)], rtol=1e-11, atol=0)


# ---- The incomplete beta function


BETA = [  # a, b, z: around 1, next to the switch at 1e-200, and far below any float
    (1, 1, 0.25),
    (0.5, 2.5, 0.9),
    (3.4, 0.001, 0.2),
    (286.5, 0.3, 0.2),
    (300.25, 0.25, 0.2),
    (15, 485, 1e-17),
    (15, 0.5, 1e-14),
    (41_500, 10**7, 0.002),
    (5_059_000.5, 4_941_000.5, 0.5),
    (1000, 10**6, 1e-9),
]


@pytest.mark.parametrize(("a", "b", "z"), BETA)
def test_the_incomplete_beta_function_in_mpmath(a, b, z):
    """Series in mpmath with 50 digits; the error is the relative error of I."""
    expected = exact.log(exact.betainc(a, b, z))
    assert_allclose(log_betainc(a, b, z), expected, rtol=1e-14, atol=1e-10)


def test_the_incomplete_beta_function_at_the_edges():
    assert log_betainc(np.empty(0), np.empty(0), 0.3).shape == (0,)
    assert log_betainc(5.0, 0.0, 0.3) == -np.inf


@given(st.integers(1, 10**5), st.floats(0, 1), st.floats(1e-6, 1 - 1e-6))
def test_the_incomplete_beta_function_is_a_binomial_tail(n, share, z):
    """For whole numbers, I_z(i, n - i + 1) = P(X >= i): the sum of another kernel; falls in a."""
    i = 1 + int(share * (n - 1))
    found = log_betainc(np.float64(i), np.float64(n - i + 1), z)
    assert_allclose(found, distributions.tails_of_binomial(i, n, z).ge, rtol=1e-13, atol=1e-10)
    assert log_betainc(np.float64(i + 1), np.float64(n - i + 1), z) <= found


# ---- Stirling remainders and deviances


@exact.precisely
def exact_remainder(x: float) -> float:
    x = mpf(x)
    return float(mpmath.loggamma(x + 1) - (x * mpmath.log(x) - x if x else 0))


@exact.precisely
def exact_deviance(x: float, mean: float) -> float:
    x, mean = mpf(x), mpf(mean)
    return float((x * mpmath.log(x / mean) if x else 0) + mean - x)


def test_stirlings_remainder():
    """mpmath, on both sides of 15, where the table of whole numbers, or log-gamma, ends."""
    x = np.concatenate([np.arange(200.0), [1e3, 12345.0, 1e6, 1e7, 1e9, 1e12]])
    assert_allclose(stirling_remainder(x), [exact_remainder(v) for v in x], rtol=4e-16, atol=1e-16)
    x = np.array([0.0, 1e-9, 0.25, 1.5, 7.75, 14.999999, 15.0, 15.000001, 15.5, 1e7 + 0.5])
    wanted = [exact_remainder(v) for v in x]
    assert_allclose(real_stirling_remainder(x), wanted, rtol=0, atol=1e-14)


def test_deviance():
    """mpmath, on both sides of |x - mean| = 0.1 (x + mean), where the formula changes; 0 log 0."""
    x = np.array([0, 5, 1, 2, 90, 110, 1e7, 1e7 + 1, 1e7, 1, 3e5, 0.001, 1221, 1222, 1223])
    mean = np.array([3.5, 5, 2, 1, 110, 90, 1e7 + 1, 1e7, 1, 1e7, 2.9e5, 1000, 1000, 1000, 1000])
    assert_allclose(deviance(x, mean), [*map(exact_deviance, x, mean)], rtol=1e-14)
    assert deviance(0.0, 0.0) == 0.0


# ---- Populations: chances of the next candidate


@pytest.mark.parametrize("total", [1, 4, 9])
def test_the_next_lists_probabilities_are_macskassys_recursion(total):
    """Macskassy's Eqs 12 to 15: the next list's probabilities, enumerated, from this one's."""
    for positive in range(total + 1):
        population = Finite(total, positive)
        assert population.prior == positive / total
        for n in range(total):
            law, after = (exact.hypergeometric(total, positive, k) for k in (n, n + 1))
            for i in range(n + 2):
                came = law.get(i - 1, 0) * Fraction(float(population.up(i - 1.0, float(n))))
                stayed = law.get(i, 0) * Fraction(float(population.stay(float(i), float(n))))
                assert_allclose(float(came + stayed), float(after.get(i, 0)), atol=1e-15)
            low, high = population.support(float(n))
            assert (low, high) == (min(law), max(law))
    assert Finite(0, 0).prior == 0.0


# ---- Searches


@given(st.data())
def test_a_search_from_a_guess_finds_the_first(data):
    """Wherever the guess is, and where the predicate never holds: the upper end."""
    low = np.array(data.draw(st.lists(st.integers(-50, 50), min_size=1, max_size=6)), dtype=float)
    size = low.size
    counts = st.lists(st.integers(0, 10**6), min_size=size, max_size=size)
    high = low + np.array(data.draw(counts), dtype=float)
    guess = low + np.array(data.draw(counts), dtype=float) - 1_000.0
    change = low + np.array(data.draw(counts), dtype=float) - 3.0

    def rising(x: np.ndarray, these: object = ...) -> np.ndarray:
        return x >= change[these]

    found = first_near(rising, low, high, guess)
    assert found.tolist() == first_true(rising, low, high).tolist()
    assert found.tolist() == np.clip(change, low, high).tolist()
