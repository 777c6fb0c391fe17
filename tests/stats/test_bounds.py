"""Bounds of random rankings against enumeration, published tables and each other."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal

from rankeval_pd.stats.distributions import Finite, Infinite
from rankeval_pd.stats.random_model import (
    _critical_path,
    _critical_search,
    bounds,
    parametric_bound,
)
from tests.conftest import examples
from tests.stats import exact

LEVELS = [1e-9, 1e-4, 0.05, 0.1, 0.5, 0.9]
EQUAL = Fraction(1, 10**12)


def enumerated(p, law):
    """Return critical, P(X >= c)/p, P(X = c - 1)/p, discrete and interpolated, by their words."""
    p, counts = Fraction(p), range(min(law), max(law) + 2)
    critical = next(i for i in counts if exact.tail(law, i) <= p * (1 + EQUAL))
    discrete = next(i for i in counts if exact.tail(law, i + 1) < p * (1 - EQUAL))
    # the paper's: between the cumulative probabilities at discrete - 1 and discrete
    step = (exact.tail(law, discrete) - p) / law[discrete]
    interpolated = max(discrete - 1 + step, Fraction(0))
    tail, below = exact.tail(law, critical) / p, law[critical - 1] / p
    return [float(x) for x in (critical, tail, below, discrete, interpolated)]


def check_all(p, population, laws):
    """Compare the walk over n = 1, 2, ... and the bounds of each n with enumeration."""
    n = np.arange(1.0, len(laws) + 1.0)
    expected = np.array([enumerated(p, law) for law in laws]).T
    if population.prior < 1.0:  # where nothing is random, there is no walk
        walked = _critical_path(math.log(p), 1.0, float(len(laws)), population)
        assert_array_equal(walked[0], expected[0])
        # a tail of 0 is reached by subtraction of what is at most p
        assert_allclose(walked[1:], expected[1:3], rtol=1e-10, atol=1e-12)
    found = bounds(p, n, population)
    assert_array_equal(found.critical, expected[0])
    assert_array_equal(found.discrete, expected[3])
    assert_allclose(found.interpolated, expected[4], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("p", LEVELS)
@pytest.mark.parametrize("total", [1, 2, 3, 6, 13])
def test_finite_by_enumeration(p, total):
    """Every n for small sets, computed in fractions, including n = N, N+ = 0 and N+ = N."""
    for positive in range(total + 1):
        laws = [exact.hypergeometric(total, positive, n) for n in range(1, total + 1)]
        check_all(p, Finite(total, positive), laws)


@pytest.mark.parametrize("p", LEVELS)
@pytest.mark.parametrize("prior", [0.0, 1e-6, 0.2, 0.5, 0.97, 1.0])
def test_infinite_by_enumeration(p, prior):
    """Every n up to 30, computed in fractions, including priors of 0 and 1."""
    check_all(p, Infinite(prior), [exact.binomial(n, prior) for n in range(1, 31)])


@pytest.mark.full
@pytest.mark.parametrize("total", [7, 12])
def test_equal_probabilities(total):
    """p is P(X >= i) to rounding for some n and i: equality counts, for every such p."""
    for positive in range(1, total):
        laws = [exact.hypergeometric(total, positive, n) for n in range(1, total + 1)]
        levels = {float(exact.tail(law, i)) for law in laws for i in law} - {1.0}
        for p in levels:
            check_all(p, Finite(total, positive), laws)


def test_prior_as_level():
    """P(X >= 1) = N+/N in a list of one: critical 1, and discrete 1 since P(X > 0) < p is false."""
    for positive, total in [(1, 3), (40, 200), (3123, 16769), (566, 5102), (10**6 - 1, 10**7)]:
        found = bounds(float(Fraction(positive, total)), [1.0], Finite(total, positive))
        assert (found.critical, found.discrete) == (1.0, 1.0)
        assert_allclose(found.interpolated, 0.0, atol=1e-12)


@pytest.mark.parametrize("p", [0.1, 0.001])
def test_macskassy_table_2(p):
    """Macskassy (2005), Table 2: N = 16769, N+ = 3123; the parametric ones used z = .1862."""
    n = np.array([5.0, 10, 20, 100])
    discrete, interpolated, parametric = {
        0.1: ([2, 3, 6, 24], [1.72, 2.99, 5.59, 23.18], [1.58, 2.98, 5.50, 23.17]),
        0.001: ([4, 6, 10, 31], [3.84, 5.88, 9.40, 30.91], [3.57, 5.73, 9.25, 30.92]),
    }[p]
    found = bounds(p, n, Finite(16769, 3123))
    assert_array_equal(found.discrete, discrete)
    assert_array_equal(np.round(found.interpolated, 2), interpolated)
    assert_array_equal(np.round(parametric_bound(p, n, 0.1862), 2), parametric)


def test_macskassy_figure_1_and_rocchio():
    """Macskassy (2005), Figure 1, and section 4's p = 1e-17 at k = 486."""
    found = bounds(0.5, [20.0], Finite(200, 40))
    assert (found.discrete[0], round(found.interpolated[0], 4)) == (4, 3.4254)
    assert round(parametric_bound(0.5, [20.0], 0.2)[0], 4) == 3.3961
    assert bounds(1e-17, [486.0], Finite(16769, 3123)).discrete == 168
    assert bounds(1e-17, [486.0], Infinite(3123 / 16769)).discrete == 170


@pytest.mark.parametrize("population", [Finite(9, 4), Finite(9, 9), Finite(9, 0), Infinite(0.3)])
def test_level_of_one(population):
    """Every count is reached with probability at most 1: the lowest possible count."""
    n = np.arange(1.0, 10.0)
    found = bounds(1.0, n, population)
    assert_array_equal(found.discrete, population.support(n)[0])
    assert_array_equal(found.critical, found.discrete)


@pytest.mark.parametrize("population", [Finite(9, 4), Infinite(0.3)])
def test_level_next_to_one(population):
    """A level that equals 1 to a relative 1e-12 gives the bounds of the level 1."""
    for n in ([2.0, 8.0], np.arange(1.0, 10.0)):
        for found, one in zip(
            bounds(1 - 1e-13, n, population), bounds(1.0, n, population), strict=True
        ):
            assert_allclose(found, one, atol=1e-9)


@pytest.mark.parametrize("count", [65, 200])
def test_walk_with_only_positives_to_come(count):
    """With a prior of 1 every list is full of positives: critical n + 1, never reached."""
    n = np.arange(1.0, count + 1.0)
    found = bounds(0.05, n, Infinite(1.0))
    assert_array_equal(found.critical, n + 1)
    assert_array_equal(found.discrete, n)


def test_no_lists():
    """Nothing in, nothing out."""
    assert [x.size for x in bounds(0.05, np.empty(0), Finite(10, 3))] == [0, 0, 0]
    assert parametric_bound(0.05, np.empty(0), 0.3).size == 0


@pytest.mark.parametrize("p", [0.5, 0.05, 1e-6, 1e-100, 1e-300])
@pytest.mark.parametrize(
    "population",
    [
        Finite(600, 0),
        Finite(600, 1),
        Finite(600, 90),
        Finite(600, 599),
        Finite(600, 600),
        Infinite(0.15),
        Infinite(1e-09),
        Infinite(1 - 1e-09),
    ],
)
def test_walk_equals_search(p, population):
    """The walk over all n of a set and the search of each n, which share no step."""
    n = np.arange(1.0, 601.0)
    for walked, searched in zip(
        _critical_path(math.log(p), 1.0, 600.0, population),
        _critical_search(math.log(p), n, population),
        strict=False,
    ):
        assert_allclose(walked, searched, rtol=1e-10, atol=1e-11)


@pytest.mark.full
@pytest.mark.parametrize("p", [0.05, 1e-17])
@pytest.mark.parametrize("population", [Finite(10**6, 110_937), Finite(10**6, 7), Infinite(0.11)])
def test_long_walk(p, population):
    """A million n at once against the search of 50 of them."""
    walked = bounds(p, np.arange(1.0, 10**6 + 1.0), population)
    n = np.random.default_rng(1).integers(1, 10**6, 50, endpoint=True).astype(float)
    n[:2] = 1, 10**6
    searched = bounds(p, n, population)
    index = n.astype(int) - 1
    assert_array_equal(walked.critical[index], searched.critical)
    assert_array_equal(walked.discrete[index], searched.discrete)
    assert_allclose(walked.interpolated[index], searched.interpolated, rtol=1e-10, atol=1e-10)
    assert set(np.diff(walked.critical)) <= {0.0, 1.0}


@settings(max_examples=examples(60))
@given(st.data())
def test_relations(data):
    """Bounds rise by 0 or 1 with n; discrete <= critical <= discrete + 1; smaller p, larger bound.

    The interpolated bound lies in the step below the discrete one.
    """
    total = data.draw(st.integers(1, 2000))
    population = Finite(total, data.draw(st.integers(0, total)))
    smaller, p = sorted(data.draw(st.tuples(*[st.floats(1e-300, 0.99)] * 2)))
    n = np.arange(1.0, total + 1.0)
    found = bounds(p, n, population)
    for path in (found.discrete, found.critical):
        assert set(np.diff(path)) <= {0.0, 1.0}
    assert (found.discrete <= found.critical).all()
    assert (found.critical <= found.discrete + 1).all()
    assert (found.interpolated <= found.discrete + 1e-9).all()
    assert (found.interpolated >= np.maximum(found.discrete - 1, 0) - 1e-9).all()
    assert (bounds(smaller, n, population).critical >= found.critical).all()


def parametric_error(x, p, n, prior):
    """Return the relative error of the root x of I_z(x + 1, n - x) = p."""
    return exact.root_error(lambda at: exact.betainc(at + 1, mpf(n) - at, prior), x, p)


@pytest.mark.full
@pytest.mark.parametrize("p", [0.9, 0.5, 0.05, 1e-6, 1e-17, 1e-100, 1e-300])
@pytest.mark.parametrize("prior", [1e-4, 0.1109369, 0.5, 0.97])
def test_parametric_bound_solves_its_equation(p, prior):
    """I_z(x + 1, n - x) in mpmath with 50 digits; 0 where P(X > 0) = 1 - (1 - z)^n <= p."""
    n = np.array([1.0, 2, 3, 5, 20, 100, 486, 5000, 10**5, 10**6])
    n = n[n * np.log(prior) < np.log(p)]  # the others have a test of their own
    for size, x in zip(n, parametric_bound(p, n, prior), strict=True):
        if -np.expm1(size * np.log1p(-prior)) <= p:
            assert x == 0.0
        else:
            exact.assert_within(parametric_error(x, p, size, prior), 1e-10, x)


@pytest.mark.parametrize("prior", [1e-4, 0.5, 0.97])
@pytest.mark.parametrize("n", [1.0, 2.0, 20.0, 100.0])
def test_parametric_bound_next_to_n(n, prior):
    """Where p is below z^n the root is in (n - 1, n): mpmath, or a float below n has a tail > p."""
    for p in (1e-6, 1e-17, 1e-100, 1e-300):
        if n * np.log(prior) < np.log(p):
            continue
        x = parametric_bound(p, np.array([n]), prior)[0]
        if x == n:
            below = np.nextafter(n, 0.0)
            assert exact.betainc(below + 1, mpf(n) - below, prior) > p
        else:
            assert n - 1 < x < n
            exact.assert_within(parametric_error(x, p, n, prior), 1e-10, x)


@pytest.mark.parametrize("p", [0.05, 1e-17, 1e-300])
@pytest.mark.parametrize("prior", [0.01, 0.1862, 0.6])
def test_parametric_bound_for_very_many(p, prior):
    """A hundred thousand n, which go through a spline, against mpmath at a few of them."""
    n = np.arange(1.0, 10**5 + 1.0)
    found = parametric_bound(p, n, prior)
    assert (np.diff(found) >= 0).all()
    for size in np.random.default_rng(2).choice(n[3000:], 8):
        x = found[int(size) - 1]
        exact.assert_within(parametric_error(x, p, size, prior), 1e-10, x)
    few = np.unique(np.geomspace(1, 10**5, 60).round())
    assert_allclose(found[few.astype(int) - 1], parametric_bound(p, few, prior), rtol=1e-10)


def test_parametric_bound_edges():
    """p = 1 and no positives: 0; positives only: n."""
    n = np.array([1.0, 7.0])
    assert_array_equal(parametric_bound(1.0, n, 0.3), [0, 0])
    assert_array_equal(parametric_bound(0.1, n, 0.0), [0, 0])
    assert_array_equal(parametric_bound(0.1, n, 1.0), n)


@pytest.mark.parametrize("total", [1, 4, 9])
def test_recursion(total):
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


def test_populations():
    """The infinite population's chances are the prior; no candidates have the prior 0."""
    assert Finite(0, 0).prior == 0.0
    i, n = np.arange(3.0)[:, None], np.array([2.0, 5.0])
    assert_array_equal(Infinite(0.3).up(i, n), np.full((3, 2), 0.3))
    assert_array_equal(Infinite(0.3).stay(i, n), np.full((3, 2), 0.7))
    for prior in (0.0, 0.3, 1.0):
        low, high = Infinite(prior).support(np.array([4.0]))
        law = exact.binomial(4, prior)
        assert (low[0], high[0]) == (min(law), max(law))
