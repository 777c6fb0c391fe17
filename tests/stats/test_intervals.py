"""Intervals of proportions against published values, statsmodels, mpmath and exact coverage."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from rankeval_pd.stats.intervals import INTERVALS, delta_method, newcombe, wilson
from tests.stats import exact

# shifts (a, b) of the distributions Beta(tp + a, fp + b) whose mean tail is (1 - level)/2
SHIFTS = {
    "clopper-pearson": ([(0, 1)], [(1, 0)]),
    "jeffreys": ([(0.5, 0.5)], [(0.5, 0.5)]),
    "midp": ([(0, 1), (1, 0)], [(0, 1), (1, 0)]),
}
HARD = [  # tp, n, level
    (200, 500, 0.95),
    (1, 2, 0.5),
    (1, 3, 0.999999),
    (2.5, 7.25, 0.95),  # counts divided by an overdispersion
    (3, 10, 1 - 1e-12),
    (1, 10**7, 0.95),
    (9_999_999, 10**7, 0.95),
    (5 * 10**6, 10**7, 0.95),
    (5 * 10**6, 10**7, 1 - 2**-50),
    (123, 10**6, 0.99),
    (50, 10**5, 1 - 2**-50),
    (0.01, 4.0, 0.95),
]


@pytest.mark.parametrize(
    ("ci", "low", "high", "digits"),
    [
        ("clopper-pearson", 0.356761372060110, 0.444428200757038, 15),
        ("midp", 0.35769, 0.44346, 5),
        ("wilson", 0.35798, 0.44355, 5),
        ("jeffreys", 0.35774, 0.44342, 5),
    ],
)
def test_published(ci, low, high, digits):
    """Evert (2004), 200 of 500, computed with R."""
    found = np.array(INTERVALS[ci](200, 500, 0.95))
    assert_allclose(found, [low, high], rtol=0, atol=0.6 * 10.0**-digits)


@pytest.mark.parametrize("ci", SHIFTS)
@pytest.mark.parametrize(("tp", "n", "level"), HARD)
def test_limits_solve_their_equation(ci, tp, n, level):
    """Beta tails in mpmath with 50 digits at the limits: residual over slope, over the limit."""
    fp, target = n - tp, (1 - mpf(level)) / 2

    def mean_tail(shifts, *, upper):
        def tail(p):
            tails = [
                exact.betainc(fp + b, tp + a, 1 - p) if upper else exact.betainc(tp + a, fp + b, p)
                for a, b in shifts
            ]
            return sum(tails) / len(tails)

        return tail

    low, high = (float(x) for x in INTERVALS[ci](tp, n, level))
    lower, upper = SHIFTS[ci]
    assert exact.root_error(mean_tail(lower, upper=False), low, target) <= 1e-10
    assert exact.root_error(mean_tail(upper, upper=True), high, target) <= 1e-10


@pytest.mark.parametrize(
    ("ci", "method"), [("clopper-pearson", "beta"), ("wilson", "wilson"), ("jeffreys", "jeffreys")]
)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_against_statsmodels(ci, method, level):
    """statsmodels' proportion_confint inside (0, n)."""
    n = np.repeat([2, 5, 40, 1000], 3)
    tp = np.array([1, 1, 1, 1, 2, 4, 1, 13, 39, 1, 300, 999])
    expected = proportion_confint(tp, n, alpha=1 - level, method=method)
    assert_allclose(INTERVALS[ci](tp, n, level), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("ci", "end"),  # the upper limit at tp = 0 of n = 20, level .95
    [
        ("clopper-pearson", 1 - 0.025 ** (1 / 20)),
        ("midp", 1 - 0.05 ** (1 / 20)),
        ("wilson", 1.959963984540054**2 / (20 + 1.959963984540054**2)),
        ("jeffreys", stats.beta.ppf(0.975, 0.5, 20.5)),
    ],
)
def test_edges(ci, end):
    """Closed forms at tp = 0 and tp = n; (0, 1) without candidates; no elements."""
    low, high = INTERVALS[ci](np.array([0, 20, 0]), np.array([20, 20, 0]), 0.95)
    assert_allclose(low, [0, 1 - end, 0], rtol=1e-13)
    assert_allclose(high, [end, 1, 1], rtol=1e-13)
    for limit in INTERVALS[ci](np.empty(0), np.empty(0), 0.95):
        assert limit.shape == (0,)


@pytest.mark.parametrize("ci", INTERVALS)
def test_shapes(ci):
    """Arguments broadcast, and each element is what it is alone."""
    tp, n = np.arange(4)[:, None], np.array([3, 10, 50])
    low, high = INTERVALS[ci](tp, n, 0.9)
    assert low.shape == high.shape == (4, 3)
    for place in np.ndindex(4, 3):
        alone = INTERVALS[ci](tp[place[0], 0], n[place[1]], 0.9)
        assert_allclose([low[place], high[place]], alone, rtol=1e-14)


@pytest.mark.parametrize("ci", INTERVALS)
@settings(max_examples=50, deadline=None)
@given(st.data())
def test_relations(ci, data):
    """Symmetric under tp -> n - tp, holds tp/n, and grows with the level and with tp."""
    n = data.draw(st.integers(1, 10**6))
    tp = data.draw(st.integers(0, n))
    narrow, wide = sorted(data.draw(st.tuples(*[st.floats(0.5, 0.999)] * 2)))
    low, high = INTERVALS[ci](tp, n, narrow)
    mirrored_low, mirrored_high = INTERVALS[ci](n - tp, n, narrow)
    assert_allclose([1 - mirrored_high, 1 - mirrored_low], [low, high], rtol=1e-10, atol=1e-15)
    assert 0.0 <= low <= tp / n <= high <= 1.0
    slack = 1 + 1e-13
    wider_low, wider_high = INTERVALS[ci](tp, n, wide)
    assert wider_low <= low * slack
    assert wider_high * slack >= high
    if tp < n:
        next_low, next_high = INTERVALS[ci](tp + 1, n, narrow)
        assert next_low > low
        assert next_high > high or high == 1.0


@pytest.mark.parametrize(
    ("ci", "mean", "least"),
    [
        ("clopper-pearson", 0.969, 0.953),
        ("midp", 0.955, 0.925),
        ("wilson", 0.952, 0.895),
        ("jeffreys", 0.950, 0.884),
    ],
)
def test_coverage(ci, mean, least):
    """Coverage for n = 50, the sum of SciPy's binomial probabilities, p = .005, .006, ..., .995."""
    p, tp = np.linspace(0.005, 0.995, 991)[:, None], np.arange(51)
    low, high = INTERVALS[ci](tp, 50, 0.95)
    coverage = (stats.binom.pmf(tp, 50, p) * ((low <= p) & (p <= high))).sum(axis=1)
    assert round(coverage.mean(), 3) == mean
    assert round(coverage.min(), 3) == least
    if ci == "clopper-pearson":
        assert coverage.min() >= 0.95


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


def test_newcombe_of_an_empty_region():
    """Undefined is NaN."""
    low, high = newcombe(*np.array([[0, 0, 3, 7], [3, 7, 0, 0]]).T, 0.95)
    assert_array_equal([low, high], np.full((2, 2), np.nan))


@settings(max_examples=50, deadline=None)
@given(st.tuples(*[st.integers(1, 10**5), st.floats(0, 1)] * 2))
def test_newcombe_is_antisymmetric(drawn):
    """Exchanging a and b turns the interval's sign."""
    n_a, share_a, n_b, share_b = drawn
    tp_a, tp_b = round(share_a * n_a), round(share_b * n_b)
    low, high = newcombe(tp_a, n_a, tp_b, n_b, 0.95)
    assert_allclose(newcombe(tp_b, n_b, tp_a, n_a, 0.95), [-high, -low], rtol=1e-12)
    assert -1 <= low <= tp_a / n_a - tp_b / n_b <= high <= 1


def test_delta_method():
    """With no overlap it is Wald's interval: statsmodels' method="wald"; no variance, no width."""
    tp, size = np.array([0, 30, 21]), np.array([0, 80, 90])
    weight = np.array([0.0, 1 / 80, -1 / 90])
    found = delta_method(tp, size, weight, np.float64(30 / 80 - 21 / 90), 0.95)
    assert_allclose(found, confint_proportions_2indep(30, 80, 21, 90, method="wald"), rtol=1e-12)
    found = delta_method(np.array([4, 0, 9]), np.array([4, 0, 9]), weight, np.float64(0.25), 0.95)
    assert_array_equal(found, [0.25, 0.25])


@pytest.mark.parametrize("n", [1, 5, 1000, 10**5])
@pytest.mark.parametrize("level", [0.95, 0.999, 1 - 1e-9, 1 - 1e-12])
def test_extreme_clopper_pearson(n, level):
    """Closed forms: q^n = tail at tp = 0, n; also finite, without a warning, at n - 1."""
    tail = (1 - level) / 2
    low, high = INTERVALS["clopper-pearson"](np.array([0, n, n - 1]), n, level)
    end = -np.expm1(np.log(tail) / n)
    assert_allclose(high[:2], [end, 1], rtol=1e-10)
    assert_allclose(low[:2], [0, tail ** (1 / n)], rtol=1e-10)
    assert low[2] <= (n - 1) / n < high[2] <= 1


@pytest.mark.parametrize("n", [1, 1000, 10**5])
@pytest.mark.parametrize("level", [0.95, 0.999, 1 - 1e-6, 1 - 1e-9])
def test_extreme_jeffreys(n, level):
    """Beta tails in mpmath with 50 digits where no candidate is positive."""
    high = float(INTERVALS["jeffreys"](0, n, level)[1])
    error = exact.root_error(
        lambda p: exact.betainc(n + 0.5, 0.5, 1 - p), high, (1 - mpf(level)) / 2
    )
    assert error <= 1e-10


@pytest.mark.parametrize(("tp", "n"), [(1, 10**7), (9_999_999, 10**7), (3, 10**4), (2.5, 7.25)])
def test_wilson_in_mpmath(tp, n):
    """The roots of (n + z2) p^2 - (2 tp + z2) p + tp^2/n = 0 with 50 digits: no cancellation."""
    with mpmath.workdps(50):
        z2 = 2 * mpmath.erfinv(mpf(0.95)) ** 2
        spread = mpmath.sqrt(z2 * (z2 + 4 * mpf(tp) * (n - mpf(tp)) / n))
        low, high = ((2 * mpf(tp) + z2 + sign * spread) / (2 * (n + z2)) for sign in (-1, 1))
    assert_allclose(wilson(tp, n, 0.95), [float(low), float(high)], rtol=1e-13)
