"""Intervals of differences against published values, statsmodels, R and mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep
from statsmodels.stats.proportion import test_proportions_2indep as proportions_test

from rankeval_pd.stats import differences
from rankeval_pd.stats.differences import (
    corrected_score,
    miettinen_nurminen,
    newcombe,
    one_or_two_sided,
    set_difference,
    set_tails,
)
from tests.stats import exact

# ---- Newcombe's interval


def test_newcombe_published():
    """Newcombe (1998), Table II, method 10: 56/70 - 48/80 and the edge cases of small n."""
    tables = np.array([[56, 70, 48, 80], [9, 10, 3, 10], [6, 7, 2, 7], [5, 56, 0, 29]]).T
    expected = [[0.0524, 0.1705, 0.0582, -0.0381], [0.3339, 0.8090, 0.8062, 0.1926]]
    assert_array_equal(np.round(newcombe(*tables, 0.95), 4), expected)


def test_newcombe_against_statsmodels():
    """statsmodels' confint_proportions_2indep(method="newcomb")."""
    for table in [(3, 17, 9, 20), (1, 2, 1, 3), (63, 192, 34, 192), (400, 10**6, 300, 10**6)]:
        expected = confint_proportions_2indep(*table, method="newcomb", alpha=0.1)
        assert_allclose(newcombe(*table, 0.9), expected, rtol=1e-10)


# ---- The score interval


def test_miettinen_nurminen_published():
    """Newcombe (1998), Table II, method 6."""
    tables = [[56, 70, 48, 80], [9, 10, 3, 10], [6, 7, 2, 7], [5, 56, 0, 29]]
    tables += [[0, 10, 0, 20], [0, 10, 0, 10], [10, 10, 0, 20], [10, 10, 0, 10]]
    low = [0.0528, 0.1700, 0.0342, -0.0326, -0.1658, -0.2879, 0.7156, 0.6636]
    high = [0.3382, 0.8406, 0.8534, 0.1933, 0.2844, 0.2879, 1.0000, 1.0000]
    found = miettinen_nurminen(*np.array(tables).T, 0.95)
    assert_array_equal(np.round(found, 4), [low, high])


def test_difference_intervals_against_r():
    """R's package PropCIs for 7/34 - 1/34: diffscoreci.

    statsmodels 0.14 is no reference for the score interval: a coefficient of its cubic is wrong
    (its issue 10269).
    """
    found = miettinen_nurminen(7, 34, 1, 34, 0.95)
    assert_allclose(found, [0.0270416, 0.3452912], rtol=0, atol=1e-7)


def test_the_score_interval_is_moved_outwards_by_half_of_yates_correction():
    """PropCIs' limits for 7/34 - 1/34, moved by (1/34 + 1/34) / 4; never beyond -1 or 1."""
    found = corrected_score(7, 34, 1, 34, 0.95)
    assert_allclose(found, [0.0270416 - 1 / 68, 0.3452912 + 1 / 68], rtol=0, atol=1e-7)
    assert_array_equal(
        [corrected_score(0, 3, 3, 3, 0.95)[0], corrected_score(3, 3, 0, 3, 0.95)[1]], [-1, 1]
    )


SMALL_TABLES = [(63, 192, 34, 192), (0, 20, 0, 30), (1, 2, 1, 3), (5, 5, 3, 3), (0, 5, 3, 9)]
SMALL_TABLES += [(0, 1, 1, 1), (7, 29, 11, 12), (16, 24, 7, 7), (2.5, 7.25, 0.5, 3.75)]

LARGE_TABLES = [(400, 10**6, 300, 10**6), (1, 10**5, 0, 10**5), (99_999, 10**5, 99_990, 10**5)]


@exact.precisely
def score_statistic(difference, tp_a, n_a, tp_b, n_b):
    """Return the score statistic by bisection of the concave log-likelihood, with 50 digits."""
    cells = ((tp_a, 1, difference), (n_a - tp_a, -1, 1 - difference), (tp_b, 1, 0))
    cells += ((n_b - tp_b, -1, 1),)
    low, high = max(mpf(0), -difference), min(mpf(1), 1 - difference)

    def slope(p):
        return sum(mpf(c) * s / (s * p + shift) for c, s, shift in cells if c)

    least = (high - low) * mpf(10) ** -45
    a, b = low + least, high - least
    p = low if slope(a) <= 0 else high if slope(b) >= 0 else None
    if p is None:
        for _ in range(160):
            p = (a + b) / 2
            a, b = (p, b) if slope(p) > 0 else (a, p)
    other, total = p + difference, mpf(n_a) + n_b
    variance = (other * (1 - other) / n_a + p * (1 - p) / n_b) * total / (total - 1)
    return (mpf(tp_a) / n_a - mpf(tp_b) / n_b - difference) / mpmath.sqrt(variance)


@pytest.mark.parametrize("level", [0.5, 0.9999, 0.95])
@pytest.mark.parametrize("table", [*LARGE_TABLES, *SMALL_TABLES])
def test_miettinen_nurminen_in_mpmath(table, level):
    """Score statistic of -z or +z at the limits, with proportions from mpmath."""
    limits = miettinen_nurminen(*table, level)
    with mpmath.workdps(50):
        z = mpmath.sqrt(2) * mpmath.erfinv(mpf(level))
        for limit, target in zip(limits, (z, -z), strict=True):
            at = mpf(float(limit))
            if abs(at) == 1:
                assert float(target) * (table[0] / table[1] - table[2] / table[3] - at) >= 0
                continue
            step = mpf(10) ** -20
            value = score_statistic(at, *table)
            slope = (score_statistic(at + step, *table) - value) / step
            exact.assert_within(abs((target - value) / slope / at), 1e-10, limit)


def test_miettinen_nurminen_knows_nothing_of_one_candidate():
    """N/(N - 1) grows without bound as N falls to 1; counts of an overdispersion may be less."""
    assert_array_equal(miettinen_nurminen(0.25, 0.5, 0.1, 0.5, 0.95), [-1, 1])
    low, high = miettinen_nurminen(0.25, 0.5, 0.1, 0.500001, 0.95)
    assert low < -0.99
    assert high > 0.99


# ---- Other intervals, and what all have in common


def test_of_large_sets_that_share_candidates_the_limits_are_walds():
    """The variance of what both have, and of what either has, is that of independent binomials."""
    size = np.array([400_000, 500_000, 800_000])
    tp = np.round(0.3 * size)
    n_a, n_b = size[0] + size[1], size[0] + size[2]
    weight = np.array([1 / n_a - 1 / n_b, 1 / n_a, -1 / n_b])
    half = stats.norm.isf(0.025) * np.sqrt(0.3 * 0.7 * (size * weight**2).sum())
    assert_allclose(set_difference(*tp, *size, level=0.95), [-half, half], rtol=2e-3)


def _by_hand(tp, size, added):
    """Kosinski's statistic and its skewness, from a list of all candidates: weight, label."""
    n_a, n_b = size[0] + size[1] + 2 * added, size[0] + size[2] + 2 * added
    weights = np.array([1 / n_a - 1 / n_b, 1 / n_a, -1 / n_b])
    more = np.array([0.0, added, added])
    true, false = tp + more, size - tp + more
    share = (2 * true[0] + true[1] + true[2]) / (n_a + n_b)
    shared = true[0] * (1 - share) ** 2 + false[0] * share**2
    variance = share * (1 - share) * (1 / n_a + 1 / n_b) - 2 * shared / (n_a * n_b)
    third = share * (1 - share) * (1 - 2 * share) * ((true + false) * weights**3).sum()
    return (true * weights).sum() / np.sqrt(variance), third / variance**1.5


@pytest.mark.parametrize(
    "table", [([29, 12, 3], [40, 30, 9]), ([0, 45, 3], [0, 50, 5]), ([19, 9, 1], [20, 11, 2])]
)
def test_the_test_of_sets_by_hand(table):
    """Kosinski's formula; the gamma approximation is SciPy's Pearson type III."""
    tp, size = map(np.array, table)
    greater, less = [], []
    for added in (0.0, 0.5):
        z, lean = _by_hand(tp, size, added)
        greater += [stats.norm.sf(z), stats.pearson3.sf(z, lean)]
        less += [stats.norm.cdf(z), stats.pearson3.cdf(z, lean)]
    assert_allclose(set_tails(tp, size), [max(greater), max(less)], rtol=1e-9)
    both = one_or_two_sided(*set_tails(tp, size), "two-sided")
    assert_allclose(both, min(1.0, 2.0 * min(max(greater), max(less))), rtol=1e-9)


@pytest.mark.parametrize("difference", [-0.01, 0.0, 0.03])
def test_large_sets_that_share_nothing_are_two_proportions(difference):
    """statsmodels' score test (Mee); half counts and skewness matter little."""
    z, p = proportions_test(
        2100, 5000, 2000, 5000, difference, method="score", correction=False, return_results=False
    )
    found = set_tails((0, 2100, 2000), (0, 5000, 5000), difference)
    assert_allclose(found, [stats.norm.sf(z), stats.norm.cdf(z)], rtol=0.03)
    assert one_or_two_sided(*found, "two-sided") >= p


def test_the_interval_of_nested_sets_agrees_with_the_test_at_high_levels():
    """All that only a accepts is true: the test rejects 0, but not some differences below it."""
    table = np.array([[10, 40, 0, 16, 40, 0]]).T
    greater, _ = set_tails(table[:3], table[3:])
    assert greater < 0.0005 < set_tails(table[:3], table[3:], -0.05)[0]
    assert set_difference(*table, level=0.999)[0] >= 0.0


def test_of_sets_that_differ_in_nothing_nothing_is_known():
    assert_allclose(set_difference(*np.array([[3, 0, 0, 5, 0, 0]]).T, level=0.95), 0.0)
    assert_array_equal(set_tails((3, 0, 0), (5, 0, 0)), [0.5, 0.5])
    # of equal precision, however different the sizes: half counts alone would find a difference
    assert_array_equal(set_tails((0, 1000, 1), (0, 1000, 1))[0] >= 0.5, True)
    empty = set_difference(*np.array([[0, 0, 3, 0, 0, 7]]).T, level=0.95)
    assert_array_equal(empty, np.full((2, 1), np.nan))
    assert_array_equal(set_tails((0, 0, 3), (0, 0, 7)), [1.0, 1.0])


@given(
    st.lists(st.tuples(st.integers(0, 40), st.floats(0, 1)), min_size=3, max_size=3),
    st.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_intervals_of_sets_contradict_neither_their_test_nor_each_other(drawn, level):
    """Exchanging the sets, or true and false positives, turns the sign."""
    size = np.array([n for n, _ in drawn])
    tp = np.array([round(n * share) for n, share in drawn])
    assume(size[0] + size[1] > 0 and size[0] + size[2] > 0)
    low, high = set_difference(*tp, *size, level=level)
    observed = tp[:2].sum() / size[:2].sum() - tp[::2].sum() / size[::2].sum()
    assert -1 <= low <= observed + 1e-12
    assert observed - 1e-12 <= high <= 1
    p = one_or_two_sided(*set_tails(tp, size), "two-sided")
    if abs(p - (1 - level)) > 1e-9:
        assert (low > 0 or high < 0) == (p <= 1 - level)
    swapped = set_difference(*tp[[0, 2, 1]], *size[[0, 2, 1]], level=level)
    assert_allclose(swapped, [-high, -low], rtol=1e-6, atol=1e-9)
    turned = set_difference(*(size - tp), *size, level=level)
    assert_allclose(turned, [-high, -low], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("interval", [corrected_score, newcombe, miettinen_nurminen])
def test_difference_intervals_of_an_empty_region(interval):
    """Undefined is NaN; arrays broadcast; nothing in, nothing out."""
    low, high = interval(*np.array([[0, 0, 3, 7], [3, 7, 0, 0]]).T, 0.95)
    assert_array_equal([low, high], np.full((2, 2), np.nan))
    low, high = interval(np.arange(4)[:, None], 9, np.arange(3), 5, 0.95)
    assert low.shape == high.shape == (4, 3)
    assert_allclose([low[3, 1], high[3, 1]], interval(3, 9, 1, 5, 0.95), rtol=1e-13)
    for limit in interval(*np.empty((4, 0)), 0.95):
        assert limit.shape == (0,)


@pytest.mark.parametrize("interval", [miettinen_nurminen, newcombe])
@given(st.tuples(*[st.integers(1, 10**5), st.floats(0, 1)] * 2), st.floats(0.5, 0.999))
def test_difference_intervals_are_antisymmetric(interval, drawn, level):
    """Exchanging a and b, or positives and negatives, turns the sign; a higher level widens."""
    n_a, share_a, n_b, share_b = drawn
    tp_a, tp_b = round(share_a * n_a), round(share_b * n_b)
    low, high = interval(tp_a, n_a, tp_b, n_b, level)
    close = {"rtol": 1e-9, "atol": 1e-14}
    assert_allclose(interval(tp_b, n_b, tp_a, n_a, level), [-high, -low], **close)
    assert_allclose(interval(n_a - tp_a, n_a, n_b - tp_b, n_b, level), [-high, -low], **close)
    assert -1 <= low <= high <= 1
    wider_low, wider_high = interval(tp_a, n_a, tp_b, n_b, 0.9995)
    assert wider_low <= low + 1e-13
    assert high <= wider_high + 1e-13
    assert low <= tp_a / n_a - tp_b / n_b <= high


def test_symmetric_limits_of_each_give_walds_of_the_difference():
    """Zou and Donner's limits with the correlation: z standard errors of the difference."""
    values, variances = (np.array([0.7]), np.array([0.6])), np.array([[0.002], [0.003], [0.0015]])
    half = 1.7 * np.sqrt(variances)
    limits = tuple((value - x, value + x) for value, x in zip(values, half[:2], strict=True))
    found = differences.correlated_limits(values, limits, tuple(variances), (np.array([0.1]),) * 2)
    assert_allclose(found, 0.1 + np.array([-half[2], half[2]]), rtol=1e-12)
