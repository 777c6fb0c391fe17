"""The conditional odds ratio against mpmath, SciPy and R."""

from __future__ import annotations

from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats.contingency import odds_ratio

from rankeval_pd.stats import distributions as hypergeometric
from rankeval_pd.stats.two_by_two import conditional_odds_ratio
from tests.conftest import examples
from tests.stats import exact

REFERENCE = Path(__file__).parents[1] / "simulations" / "regions.csv"
TABLES = [
    (63, 192, 34, 192), (44, 157, 26, 157), (1, 5, 3, 9), (5, 9, 5, 9), (1, 2, 1, 2),
    (700, 1900, 400, 1800), (1, 1000, 2, 10**5), (30, 31, 2, 40), (499, 500, 1, 500),
]  # fmt: skip
EDGES = [(0, 5, 3, 9), (5, 5, 3, 9), (4, 9, 0, 6), (4, 9, 6, 6), (5, 5, 0, 6), (0, 5, 6, 6)]


@mpmath.workdps(40)
def law(table, odds):
    """Return P(X = i) of Fisher's noncentral hypergeometric distribution for every count."""
    tp_a, n_a, tp_b, n_b = table
    positive = tp_a + tp_b
    counts = range(max(0, positive - n_b), min(positive, n_a) + 1)
    term, terms = mpf(1), [mpf(1)]
    for i in counts[:-1]:
        term *= odds * (n_a - i) * (positive - i) / mpf((i + 1) * (n_b - positive + i + 1))
        terms.append(term)
    total = mpmath.fsum(terms)
    return {i: t / total for i, t in zip(counts, terms, strict=True)}


def log_error(function, root, target):
    """Return the error of log root: the residual of ``function`` over its slope."""
    at, step = mpmath.log(mpf(float(root))), mpf("1e-15")
    value = function(mpmath.exp(at))
    slope = (function(mpmath.exp(at + step)) - value) / step
    return abs((value - target) / slope)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999999])
@pytest.mark.parametrize("table", TABLES)
def test_equations_in_mpmath(table, level):
    """Mean and tails at the results, with 40 digits; errors refer to the log odds ratio."""
    found = conditional_odds_ratio(*table, level)
    with mpmath.workdps(40):
        tail = (1 - mpf(level)) / 2

        def mean(odds):
            return sum(i * p for i, p in law(table, odds).items())

        def above(odds):
            return sum(p for i, p in law(table, odds).items() if i >= table[0])

        def below(odds):
            return sum(p for i, p in law(table, odds).items() if i <= table[0])

        for function, root, target in zip(
            (mean, above, below), found, (table[0], tail, tail), strict=True
        ):
            exact.assert_within(log_error(function, root, target), 1e-12, float(root))


@pytest.mark.parametrize("table", [*TABLES[:6], *EDGES])
def test_against_scipy(table):
    """scipy.stats.contingency.odds_ratio(kind="conditional") and its interval."""
    tp_a, n_a, tp_b, n_b = table
    reference = odds_ratio([[tp_a, n_a - tp_a], [tp_b, n_b - tp_b]])
    interval = reference.confidence_interval(0.9)
    found = conditional_odds_ratio(*table, 0.9)
    expected = [reference.statistic, interval.low, interval.high]
    assert_allclose([float(x) for x in found], expected, rtol=1e-8)


def test_against_r():
    """R's fisher.test, whose roots stop at an error of 1e-4 in the odds ratio or its inverse."""
    reference = pd.read_csv(REFERENCE, comment="#")
    found = conditional_odds_ratio(*reference[["tp_a", "n_a", "tp_b", "n_b"]].to_numpy().T, 0.9)
    for column, values in zip(["odds_ratio", "low", "high"], found, strict=True):
        for value, expected in zip(values, reference[column], strict=True):
            if 0 < expected < np.inf:
                assert abs(min(value, 1 / value) - min(expected, 1 / expected)) <= 2e-4
            else:
                assert value == expected


def test_edges():
    """The lowest count possible has 0, the highest inf, the only one possible NaN and (0, inf)."""
    tables = np.array(
        [*EDGES, (0, 0, 3, 9), (3, 9, 0, 0), (0, 0, 0, 0), (0, 5, 0, 7), (5, 5, 7, 7)]
    )
    mle, low, high = conditional_odds_ratio(*tables.T, 0.95)
    only = [np.nan] * 5
    assert_array_equal(mle, [0, np.inf, np.inf, 0, np.inf, 0, *only])
    assert_array_equal(low == 0, [True, False, False, True, False, True, *[True] * 5])
    assert_array_equal(np.isinf(high), [False, True, True, False, True, False, *[True] * 5])
    # one candidate in a: the odds themselves, from P(X = 1) = 5 psi / (5 psi + 4) of 9
    found = conditional_odds_ratio(1, 1, 4, 8, 0.95)
    assert_allclose(found.low, 0.025 / 0.975 * 4 / 5, rtol=1e-12)


def test_independence():
    """Equal shares have the odds ratio 1."""
    found = conditional_odds_ratio(
        [20, 1, 3000], [50, 2, 10**6], [40, 5, 3000], [100, 10, 10**6], 0.9
    )
    assert_allclose(found.mle, 1.0, rtol=1e-11)


def test_large_counts_agree_with_a_tail():
    """At the limit 1, Fisher's one-sided p is the tail: a level made so that it must be."""
    for table in [(50_600, 10**6, 49_900, 10**6), (30, 10**6, 42, 2 * 10**6)]:
        tp_a, n_a, tp_b, n_b = (float(x) for x in table)
        tail = float(np.exp(hypergeometric.tails(tp_a, n_a + n_b, tp_a + tp_b, n_a).ge))
        found = conditional_odds_ratio(*table, 1 - 2 * tail)
        assert_allclose(np.log(found.low), 0.0, atol=1e-10)
        assert found.low < found.mle < found.high


def test_arrays():
    tp = np.arange(6)
    found = conditional_odds_ratio(tp[:, None], 9, tp, 7, 0.8)
    assert found.mle.shape == found.low.shape == found.high.shape == (6, 6)
    assert_array_equal([x[4, 2] for x in found], conditional_odds_ratio(4, 9, 2, 7, 0.8))
    assert [x.shape for x in conditional_odds_ratio(*np.empty((4, 0)), 0.95)] == [(0,)] * 3


@pytest.mark.full
@settings(max_examples=examples(40))
@given(st.tuples(*[st.integers(1, 10**4), st.floats(0, 1)] * 2), st.floats(0.5, 0.999))
def test_relations(drawn, level):
    """Exchanging a and b, or positives and negatives, inverts; the estimate is inside, near 1."""
    n_a, share_a, n_b, share_b = drawn
    tp_a, tp_b = round(share_a * n_a), round(share_b * n_b)
    mle, low, high = conditional_odds_ratio(tp_a, n_a, tp_b, n_b, level)
    with np.errstate(divide="ignore"):
        inverse = [1 / mle, 1 / high, 1 / low]
    for turned in [(tp_b, n_b, tp_a, n_a), (n_a - tp_a, n_a, n_b - tp_b, n_b)]:
        assert_allclose(conditional_odds_ratio(*turned, level), inverse, rtol=1e-9)
    if np.isnan(mle):
        assert (low, high) == (0.0, np.inf)
        return
    assert low <= mle <= high
    wider = conditional_odds_ratio(tp_a, n_a, tp_b, n_b, 0.9995)
    assert wider.low <= low * (1 + 1e-9)
    assert high <= wider.high * (1 + 1e-9)
    if 0.0 < mle < np.inf:
        sample = np.log(tp_a * (n_b - tp_b)) - np.log((n_a - tp_a) * tp_b)
        assert abs(np.log(mle)) <= abs(sample) + 1e-9
        assert np.log(mle) * sample >= -1e-9
