"""Intervals of proportions against published values, mpmath and exact coverage."""

from __future__ import annotations

import itertools
from functools import partial

import mpmath
import numpy as np
import pytest
import scipy
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats

import rankeval_pd
from rankeval_pd.stats import proportions
from rankeval_pd.stats.proportions import (
    INTERVALS,
    LEAST_EXPANDED,
    BetaTail,
    clopper_pearson,
    fit_expansion,
    held_back_t,
    t_of,
    transformed,
    untransformed,
    wilson,
)
from tests.stats import exact

# ---- Intervals


# shifts (a, b) of the distributions Beta(tp + a, fp + b) whose mean tail is (1 - level)/2
SHIFTS = {  # of the lower and of the upper limit
    "clopper-pearson": ((0.0, 1.0), (1.0, 0.0)),
    "jeffreys": ((0.5, 0.5), (0.5, 0.5)),
}

HARD = [  # tp, n, level
    (1, 3, 0.999999),
    (2.5, 7.25, 0.95),  # counts divided by an overdispersion
    (3, 10, 1 - 1e-12),
    (1, 10**7, 0.95),
    (9_999_999, 10**7, 0.95),
    (5 * 10**6, 10**7, 1 - 2**-50),
    (50, 10**5, 1 - 2**-50),
    (0.01, 4.0, 0.95),
    (1, 2, 0.5),
    (200, 500, 0.95),
]


def test_published_intervals():
    """Evert (2004), 200 of 500, computed with R: half of the last digit, and rounding of ours."""
    low, high = 0.356761372060110, 0.444428200757038
    assert_allclose(clopper_pearson(200, 500, 0.95), [low, high], rtol=1e-15, atol=0.5e-15)
    published = {
        "wilson": (0.35798, 0.44355),
        "jeffreys": (0.35774, 0.44342),
    }
    for ci, limits in published.items():
        assert_array_equal(np.round(INTERVALS[ci](200, 500, 0.95), 5), limits)


def beta_tail(p, tp, fp, shift, upper):
    """Return the tail beyond p, with 50 digits."""
    a, b = tp + shift[0], fp + shift[1]
    return exact.betainc(b, a, 1 - p) if upper else exact.betainc(a, b, p)


def limits_and_errors(ci, tp, n, level):
    for limit, shift, upper in zip(INTERVALS[ci](tp, n, level), SHIFTS[ci], (0, 1), strict=True):
        tail = partial(beta_tail, tp=tp, fp=n - tp, shift=shift, upper=upper)
        yield float(limit), exact.root_error(tail, float(limit), (1 - mpf(level)) / 2)


@pytest.mark.parametrize("ci", SHIFTS)
@pytest.mark.parametrize(("tp", "n", "level"), HARD)
def test_limits_solve_their_equation(ci, tp, n, level):
    """Beta tails at the limits, in mpmath with 50 digits; errors are relative to the limits."""
    for limit, error in limits_and_errors(ci, tp, n, level):
        exact.assert_within(error, 1e-10, limit)


@pytest.mark.full
@pytest.mark.parametrize("ci", SHIFTS)
@pytest.mark.parametrize("level", [0.5, 0.9, 1 - 1e-9])
def test_limits_of_large_counts_hold_twelve_digits(ci, level):
    """Relative to the limit and to 1 less the limit, as far as a float64 can hold 1 - limit."""
    for tp, fp in itertools.product((100, 12_345, 10**6), repeat=2):
        for limit, error in limits_and_errors(ci, tp, tp + fp, level):
            assert max(error - 2**-53, 0) * limit <= 3e-13 * min(limit, 1 - limit)


@pytest.mark.parametrize("level", [0.95, 0.999999])
@pytest.mark.parametrize("n", [10**6, 10**8, 10**9, 10**12])
@pytest.mark.parametrize("tp", [0, 1, 2, 63, 64, 20])
def test_a_few_of_very_many(tp, n, level):
    """Binomial tail at the upper limit in mpmath: P(X <= tp) = (1 - level)/2."""
    high = float(clopper_pearson(tp, n, level)[1])
    with mpmath.workdps(60):
        p = mpf(high)
        terms = [
            mpmath.binomial(n, i) * p**i * mpmath.exp((n - i) * mpmath.log1p(-p))
            for i in range(tp + 1)
        ]
        slope = -(n - tp) * terms[-1] / (1 - p)
        error = (mpmath.fsum(terms) - (1 - mpf(level)) / 2) / slope / p
    exact.assert_within(abs(error), 1e-14, high)
    assert clopper_pearson(n - tp, n, level)[0] == pytest.approx(1.0 - high, rel=1e-15)


@pytest.mark.parametrize(
    ("ci", "end"),  # the upper limit at tp = 0 of n = 20, level .95
    [
        ("clopper-pearson", 1 - 0.025 ** (1 / 20)),
        ("wilson", 1.959963984540054**2 / (20 + 1.959963984540054**2)),
        ("jeffreys", stats.beta.ppf(0.975, 0.5, 20.5)),
    ],
)
def test_limits_without_and_with_only_positives(ci, end):
    """Closed forms at tp = 0 and tp = n; (0, 1) without candidates; no elements."""
    low, high = INTERVALS[ci](np.array([0, 20, 0]), np.array([20, 20, 0]), 0.95)
    assert_allclose(low, [0, 1 - end, 0], rtol=1e-13)
    assert_allclose(high, [end, 1, 1], rtol=1e-13)
    for limit in INTERVALS[ci](np.empty(0), np.empty(0), 0.95):
        assert limit.shape == (0,)


@pytest.mark.parametrize("level", [0.95, 1 - 1e-9, 1 - 1e-12])
def test_limits_at_extreme_levels(level):
    """Closed forms: q^n = tail at tp = 0, n; finite at n - 1."""
    tail = (1 - level) / 2
    for n in (1, 5, 10**5):
        low, high = clopper_pearson(np.array([0, n, n - 1]), n, level)
        assert_allclose(high[:2], [-np.expm1(np.log(tail) / n), 1], rtol=1e-10)
        assert_allclose(low[:2], [0, tail ** (1 / n)], rtol=1e-10)
        assert low[2] <= (n - 1) / n < high[2] <= 1


@pytest.mark.parametrize(("tp", "n"), [(1, 10**7), (9_999_999, 10**7), (3, 10**4), (2.5, 7.25)])
def test_wilson_in_mpmath(tp, n):
    """Roots of (n + z2) p^2 - (2 tp + z2) p + tp^2/n = 0, with 50 digits, without cancellation."""
    with mpmath.workdps(50):
        z2 = 2 * mpmath.erfinv(mpf(0.95)) ** 2
        spread = mpmath.sqrt(z2 * (z2 + 4 * mpf(tp) * (n - mpf(tp)) / n))
        low, high = ((2 * mpf(tp) + z2 + sign * spread) / (2 * (n + z2)) for sign in (-1, 1))
    assert_allclose(wilson(tp, n, 0.95), [float(low), float(high)], rtol=1e-13)


@pytest.mark.parametrize("ci", INTERVALS)
@given(st.data())
def test_intervals_are_symmetric_and_grow_with_the_level(ci, data):
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
        ("wilson", 0.952, 0.895),
        ("jeffreys", 0.950, 0.884),
        ("clopper-pearson", 0.969, 0.953),
    ],
)
def test_coverage(ci, mean, least):
    """Coverage for n = 50, the sum of SciPy's binomial probabilities, p = .005, .006, ..., .995."""
    p, tp = np.linspace(0.005, 0.995, 991)[:, None], np.arange(51)
    low, high = INTERVALS[ci](tp, 50, 0.95)
    coverage = (stats.binom.pmf(tp, 50, p) * ((low <= p) & (p <= high))).sum(axis=1)
    assert [round(coverage.mean(), 3), round(coverage.min(), 3)] == [mean, least]
    assert coverage.min() >= 0.95 or ci != "clopper-pearson"


# ---- Limits at the ends of what floats can tell


@pytest.mark.parametrize("level", [0.5, 1 - 1e-12, 1 - 1e-16])
@pytest.mark.parametrize("freedom", [1, 2.5, 1e6])
def test_quantiles_of_student_close_to_a_level_of_one(freedom, level):
    tail = (1 - mpmath.mpf(level)) / 2
    with mpmath.workdps(40):
        t = mpmath.mpf(float(t_of(freedom, level)))
        share = freedom / (freedom + t * t)
        found = mpmath.betainc(mpmath.mpf(freedom) / 2, 0.5, 0, share, regularized=True) / 2
        slope = freedom if t > 5 * freedom else 1 + t * t  # of log tail by log t, at the most
        # SciPy's quantile errs by up to 1e-11 in its lowest version that is allowed
        recent = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17)
        assert abs(found / tail - 1) < (1e-13 if recent else 1e-10) * slope


@pytest.mark.parametrize("ci", ["clopper-pearson", "jeffreys", "wilson"])
@pytest.mark.parametrize("phi", [1.0, 1e6])
@pytest.mark.parametrize("level", [1e-300, 0.05, 0.95, 1.0 - 1e-16])
def test_limits_stay_in_order_however_much_lists_vary(ci, phi, level):
    tp = np.array([0, 1, 5, 10, 1, 2, 10**6, 10**12 - 3, 10**12 - 2])
    n = np.array([10, 10, 10, 10, *[10**12 - 2] * 5])
    low, high = rankeval_pd.precision_interval(tp, n, ci=ci, phi=phi, level=level)
    assert ((low >= 0.0) & (low <= high) & (high <= 1.0)).all()
    if ci == "wilson":  # it always holds the share itself
        np.testing.assert_array_less(low - 1e-12, tp / n)
        np.testing.assert_array_less(tp / n, high + 1e-12)


def test_wilson_without_a_level():
    low, high = rankeval_pd.precision_interval([0, 3], [5, 5], ci="wilson", level=5e-324)
    assert low.tolist() == pytest.approx([0.0, 0.6])
    assert high.tolist() == pytest.approx([0.0, 0.6])


# ---- Quantiles of beta distributions as one polynomial


@pytest.mark.parametrize("ci", SHIFTS)
@pytest.mark.parametrize("level", [1e-9, 0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9, 0.95])
def test_quantiles_are_those_found_by_tails(ci, level):
    rng = np.random.default_rng(0)
    a, b = LEAST_EXPANDED * np.exp(rng.random((2, 500)) * np.log(1e4))
    for upper, shift in enumerate(SHIFTS[ci]):
        tail = BetaTail(shift, (1.0 - level) / 2.0, bool(upper))
        if proportions._cached_expansion(tail) is None:
            assert tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 17)
            pytest.skip("the tails of older versions of SciPy are too noisy for a polynomial")
        counts = a - shift[0], b - shift[1]
        logits = proportions.beta_logits(*counts, tail)
        found = proportions.beta_quantile(*counts, tail)
        assert_allclose(found, special.expit(logits), rtol=3e-13)
        assert_allclose(1.0 - found, special.expit(-logits), rtol=3e-13, atol=2e-16)


def test_logits_near_one_mirror_those_near_zero():
    few = np.array([0.05, 0.1, 0.5, 1.0])
    for tail in (0.25, 0.025, 5e-13):
        near_0 = proportions.beta_logits(few, few, BetaTail((0.0, 1.0), tail, upper=False))
        near_1 = proportions.beta_logits(few, few, BetaTail((1.0, 0.0), tail, upper=True))
        assert_allclose(near_1, -near_0, rtol=1e-9)


@pytest.mark.parametrize("level", [1e-300, 1 - 2**-53, 0.95])
def test_each_limit_is_the_same_whatever_else_is_asked(level):
    tp = np.arange(0, 4000, dtype=np.int64)
    n = tp + tp[::-1] // 3
    low, high = many = clopper_pearson(tp, n, level)
    for k in range(8):
        some = clopper_pearson(tp[k::8], n[k::8], level)
        assert_array_equal([x[k::8] for x in many], some)
    assert ((low <= high) & (low[0] == 0.0) & (high[-1] == 1.0)).all()


def test_what_is_no_polynomial_is_none():
    assert fit_expansion(lambda a, b: np.log(a / b) + np.sqrt(np.abs(a - b)) / (a + b)) is None
    assert fit_expansion(lambda a, b: np.full(a.size, np.nan)) is None


# ---- Hall's transformation of skewed statistics


LEAN = st.floats(-0.99, 0.99)  # one item that differs from all others has a lean of 1
T = st.floats(-30.0, 30.0)


@given(T, LEAN)
def test_halls_cubic_and_its_inverse(t, lean):
    """Hall (1992) writes the cubic as ((1 + a t/3)³ − 1)/a + a/6."""
    found = transformed(np.array(t), np.array(lean))
    with mpmath.workdps(700):  # a may be as small as floats are
        a = mpmath.mpf(lean)
        cube = ((1 + a * t / 3) ** 3 - 1) / a if lean else mpmath.mpf(t)
        assert float(abs(found - cube - a / 6)) <= 1e-10 * max(1.0, abs(float(cube)))
    back = untransformed(found, np.array(lean))  # the cubic is flat at t = -3/a
    assert_allclose(transformed(back, np.array(lean)), found, rtol=1e-9, atol=1e-9)
    assert transformed(np.array(-t), np.array(-lean)) == -found


@given(T, LEAN, st.booleans())
def test_the_statistic_that_rejects_less(t, lean, two_sided):
    found = float(held_back_t(np.array(t), np.array(lean), two_sided=two_sided))
    hall = float(transformed(np.array(t), np.array(lean)))
    if not two_sided:
        assert found == min(t, hall)
    elif np.sign(t) != np.sign(hall):
        assert found == 0.0
    else:
        assert found == np.sign(t) * min(abs(t), abs(hall))
