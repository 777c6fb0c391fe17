"""Tails of sums of random counts against exact convolutions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankeval_pd.stats.distributions import binomial_laws, hypergeometric_laws, tails_of_sum
from tests.conftest import examples
from tests.stats import exact

LISTS = st.lists(
    st.integers(1, 12).flatmap(
        lambda total: st.tuples(st.just(total), st.integers(0, total), st.integers(1, total))
    ),
    min_size=1,
    max_size=5,
)


def summed(laws: list[exact.Law]) -> exact.Law:
    """Return the law of the sum of independent counts."""
    result: exact.Law = {0: Fraction(1)}
    for law in laws:
        ahead: exact.Law = {}
        for i, p in result.items():
            for j, q in law.items():
                ahead[i + j] = ahead.get(i + j, Fraction(0)) + p * q
        result = ahead
    return result


def sized(lists) -> np.ndarray:
    total, positive, n = np.array(lists, dtype=float).T
    return hypergeometric_laws(n, total, positive)


@settings(max_examples=examples(60))
@given(LISTS, st.integers(1, 4), st.data())
def test_every_tail(lists, often, data):
    law = summed([exact.hypergeometric(*size) for size in lists] * often)
    times = np.full(len(lists), often)
    for count in {data.draw(st.integers(-1, max(law) + 1)) for _ in range(4)}:
        found = tails_of_sum(float(count), sized(lists), times)
        at_least, at = exact.tail(law, count), law.get(count, Fraction(0))
        wanted = [at_least, at_least - at, at_least - at / 2, at]
        for x, p in zip(found, wanted, strict=True):
            assert math.exp(x) == pytest.approx(float(p), rel=1e-12, abs=1e-28)
        assert (found.ge == 0.0) == (at_least == 1) or at_least > 1 - 1e-15


def test_one_is_said_only_of_what_is_certain():
    """10 or more of lists of 7 from 11 with 6, and 7 from 12 with 5, four times each."""
    lists = [(11, 6, 7), (12, 5, 7)]
    law = summed([exact.hypergeometric(*size) for size in lists] * 4)
    found = tails_of_sum(10.0, sized(lists), np.array([4, 4]))
    at_least, at = exact.tail(law, 10), law[10]
    rest = [1 - at_least, 1 - at_least + at, 1 - at_least + at / 2]
    assert list(found)[:3] == pytest.approx([-float(p) for p in rest], rel=1e-11)
    assert 0.0 < -found.ge < 2e-15


@pytest.mark.parametrize("count", [60, 100, 200, 390, 400])
def test_far_below_what_a_float_holds(count):
    """Exact p-values from 0.1 to 1e-800 for 400 queries, each with one positive among 100."""
    law = summed([exact.hypergeometric(100, 1, 1)])
    times = np.array([400])
    found = tails_of_sum(float(count), sized([(100, 1, 1)]), times)
    tail = sum(
        Fraction(math.comb(400, i)) * law[1] ** i * law[0] ** (400 - i) for i in range(count, 401)
    )
    assert found.ge == pytest.approx(exact.log(tail), rel=1e-13)


def test_binomials_of_one_prior_are_one_binomial():
    n = np.array([3.0, 0.0, 40.0, 7.0])
    laws = binomial_laws(n, np.full(4, 0.3))
    for count in (0, 10, 15, 40, 50):
        found = tails_of_sum(float(count), laws, np.ones(4, dtype=int))
        assert math.exp(found.ge) == pytest.approx(stats.binom.sf(count - 1, 50, 0.3), rel=1e-11)
        assert math.exp(found.gt) == pytest.approx(stats.binom.sf(count, 50, 0.3), rel=1e-11)


def test_many_different_queries():
    rng = np.random.default_rng(1)
    total = rng.integers(50, 500, 300)
    lists = np.column_stack([total, rng.binomial(total, 0.1), np.full(300, 10)])
    laws = [exact.hypergeometric(*map(int, size)) for size in lists]
    mean = float(sum(sum(i * p for i, p in law.items()) for law in laws))
    # R's way, a plain convolution of floats, holds down to 1e-15
    plain = np.array([1.0])
    for law in laws:
        dense = np.zeros(11)
        dense[list(law)] = [float(p) for p in law.values()]
        plain = np.convolve(plain, dense)
    for count in (round(mean), round(mean) + 60):
        found = tails_of_sum(float(count), sized(lists), np.ones(300, dtype=int))
        assert math.exp(found.ge) == pytest.approx(plain[count:].sum(), rel=1e-11)
