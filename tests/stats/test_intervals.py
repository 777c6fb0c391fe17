"""Intervals of proportions against published values, statsmodels, mpmath and exact coverage."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from rankeval_pd.stats.differences import (
    DIFFERENCE_INTERVALS,
    agresti_caffo,
    corrected_score,
    delta_method,
    miettinen_nurminen,
    newcombe,
    overlap_difference,
)
from rankeval_pd.stats.proportions import INTERVALS, blaker, clopper_pearson, wilson
from tests.conftest import examples
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
        ("blaker", 0.35750, 0.44390, 5),
    ],
)
def test_published(ci, low, high, digits):
    """Evert (2004), 200 of 500, computed with R: half of the last digit, and rounding of ours."""
    found = np.array(INTERVALS[ci](200, 500, 0.95))
    assert_allclose(found, [low, high], rtol=1e-15, atol=0.5 * 10.0**-digits)


@pytest.mark.parametrize("ci", SHIFTS)
@pytest.mark.parametrize(("tp", "n", "level"), HARD)
def test_limits_solve_their_equation(ci, tp, n, level):
    """Beta tails at the limits, in mpmath with 50 digits; errors are relative to the limits."""
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
    lower_shifts, upper_shifts = SHIFTS[ci]
    for limit, shifts, upper in ((low, lower_shifts, False), (high, upper_shifts, True)):
        error = exact.root_error(mean_tail(shifts, upper=upper), limit, target)
        exact.assert_within(error, 1e-10, limit)


@pytest.mark.parametrize("level", [0.95, 0.999999])
@pytest.mark.parametrize("n", [10**6, 10**8, 10**9, 10**12])
@pytest.mark.parametrize("tp", [0, 1, 2, 20, 63, 64])
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
@settings(max_examples=examples(50))
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
    if ci == "blaker":
        outer_low, outer_high = clopper_pearson(tp, n, narrow)
        assert low * slack >= outer_low
        assert high <= outer_high * slack


@pytest.mark.parametrize(
    ("ci", "mean", "least"),
    [
        ("clopper-pearson", 0.969, 0.953),
        ("midp", 0.955, 0.925),
        ("wilson", 0.952, 0.895),
        ("jeffreys", 0.950, 0.884),
        ("blaker", 0.960, 0.950),
    ],
)
def test_coverage(ci, mean, least):
    """Coverage for n = 50, the sum of SciPy's binomial probabilities, p = .005, .006, ..., .995."""
    p, tp = np.linspace(0.005, 0.995, 991)[:, None], np.arange(51)
    low, high = INTERVALS[ci](tp, 50, 0.95)
    coverage = (stats.binom.pmf(tp, 50, p) * ((low <= p) & (p <= high))).sum(axis=1)
    assert round(coverage.mean(), 3) == mean
    assert round(coverage.min(), 3) == least
    if ci in ("clopper-pearson", "blaker"):
        assert coverage.min() >= 0.95


@pytest.mark.parametrize(
    ("tp", "n", "low", "high"),
    [
        (3, 10, 0.08726443, 0.61941066),
        # here short intervals lie outside gaps; a search in steps of 1e-4 or 1e-6 leaps over them
        (29, 99, 0.2097022, 0.3929079),
        (59, 355, 0.1300807, 0.2090809),
    ],
)
def test_blaker_published(tp, n, low, high):
    """Examples of R's package BlakerCI (Klaschka 2010), binom.blaker.limits."""
    assert_allclose(blaker(tp, n, 0.95), [low, high], rtol=0, atol=6e-8)


def acceptability(tp, n, p):
    """Return the probability of all counts whose smaller tail is at most that of tp."""
    law = [mpmath.binomial(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
    smaller = [min(sum(law[: i + 1]), sum(law[i:])) for i in range(n + 1)]
    limit = smaller[tp] * (1 + mpf(10) ** -40)
    return sum(mass for mass, tail in zip(law, smaller, strict=True) if tail <= limit)


@pytest.mark.full
@pytest.mark.parametrize(("n", "level"), [(4, 0.5), (9, 0.8), (12, 0.95), (13, 0.999)])
def test_blaker_by_scanning(n, level):
    """Acceptability in mpmath: at most 1 - level all over outside, above just inside."""
    low, high = blaker(np.arange(n + 1), n, level)
    with mpmath.workdps(60):
        alpha = 1 - mpf(level)
        for tp in range(n + 1):
            inside = [float(low[tp]) * (1 + 1e-13)] * (tp > 0)
            inside += [float(high[tp]) * (1 - 1e-13)] * (tp < n)
            outside = [*np.linspace(0, low[tp], 30, endpoint=False)[1:], low[tp] * (1 - 1e-13)]
            above = [high[tp] + (1 - high[tp]) * mpf(i) / 30 for i in range(1, 30)]
            assert all(acceptability(tp, n, mpf(p)) > alpha for p in inside)
            if tp > 0:
                assert all(acceptability(tp, n, mpf(p)) <= alpha for p in outside)
            if tp < n:
                above.append(mpf(float(high[tp])) * (1 + mpf("1e-13")))
                assert all(acceptability(tp, n, p) <= alpha for p in above)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(
    ("tp", "n", "level"),
    [
        (200, 500, 0.95),
        (1, 3, 0.999999),
        (2.5, 7.25, 0.95),
        (3, 10, 1 - 1e-12),
        (1, 10**7, 0.95),
        (9_999_999, 10**7, 0.95),
        (50, 10**5, 1 - 2**-50),
        (49_990, 10**5, 0.95),
    ],
)
def test_blaker_solves_its_equation(tp, n, level, mirrored):
    """Beta tails at the limits (roots or points of equal tails), in mpmath with 50 digits."""
    low, high = blaker(n - tp if mirrored else tp, n, level)
    limit = float(high if mirrored else low)

    def chance(p):
        return 1 - p if mirrored else p

    def beyond(p):
        return exact.betainc(tp, n - tp + 1, chance(p))

    def opposite(p, k):
        return exact.betainc(n - k, k + 1, 1 - chance(p)) if k >= 0 else mpf(0)

    # the first count whose tail is not below that of tp, found with SciPy
    k, last = 0, int(np.ceil(tp)) - 1
    while k < last:
        middle, p = (k + last) // 2, chance(limit)
        tail = special.betaincc(middle + 1, n - middle, p) / special.betainc(tp, n - tp + 1, p)
        k, last = (k, middle) if tail > 1 - 1e-9 else (middle + 1, last)
    rising = exact.root_error(lambda p: beyond(p) + opposite(p, k - 1), limit, 1 - mpf(level))
    jumping = exact.root_error(lambda p: beyond(p) - opposite(p, k), limit, mpf(0))
    exact.assert_within(min(rising, jumping), 1e-10, limit)


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


@settings(max_examples=examples(50))
@given(st.tuples(*[st.integers(1, 10**5), st.floats(0, 1)] * 2))
def test_newcombe_is_antisymmetric(drawn):
    """Exchanging a and b turns the interval's sign."""
    n_a, share_a, n_b, share_b = drawn
    tp_a, tp_b = round(share_a * n_a), round(share_b * n_b)
    low, high = newcombe(tp_a, n_a, tp_b, n_b, 0.95)
    assert_allclose(newcombe(tp_b, n_b, tp_a, n_a, 0.95), [-high, -low], rtol=1e-12)
    assert -1 <= low <= tp_a / n_a - tp_b / n_b <= high <= 1


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [
        ((56, 70, 48, 80), 0.0528, 0.3382),
        ((9, 10, 3, 10), 0.1700, 0.8406),
        ((6, 7, 2, 7), 0.0342, 0.8534),
        ((5, 56, 0, 29), -0.0326, 0.1933),
        ((0, 10, 0, 20), -0.1658, 0.2844),
        ((0, 10, 0, 10), -0.2879, 0.2879),
        ((10, 10, 0, 20), 0.7156, 1.0000),
        ((10, 10, 0, 10), 0.6636, 1.0000),
    ],
)
def test_miettinen_nurminen_published(table, low, high):
    """Newcombe (1998), Table II, method 6."""
    assert_array_equal(np.round(miettinen_nurminen(*table, 0.95), 4), [low, high])


def test_difference_intervals_against_r():
    """R's package PropCIs for 7/34 - 1/34: diffscoreci and wald2ci(adjust="AC").

    statsmodels 0.14 is no reference for the score interval: a coefficient of its cubic is wrong
    (its issue 10269).
    """
    found = miettinen_nurminen(7, 34, 1, 34, 0.95)
    assert_allclose(found, [0.0270416, 0.3452912], rtol=0, atol=1e-7)
    assert_allclose(agresti_caffo(7, 34, 1, 34, 0.95), [0.01161167, 0.32172166], atol=1e-8)


def test_the_score_interval_is_moved_outwards_by_half_of_yates_correction():
    """PropCIs' limits for 7/34 - 1/34, moved by (1/34 + 1/34) / 4; never beyond -1 or 1."""
    found = corrected_score(7, 34, 1, 34, 0.95)
    assert_allclose(found, [0.0270416 - 1 / 68, 0.3452912 + 1 / 68], rtol=0, atol=1e-7)
    assert_array_equal(
        [corrected_score(0, 3, 3, 3, 0.95)[0], corrected_score(3, 3, 0, 3, 0.95)[1]], [-1, 1]
    )


def test_of_large_sets_that_share_candidates_the_limits_are_walds():
    """The variance of what both have, and of what either has, is that of independent binomials."""
    size = np.array([400_000, 500_000, 800_000])
    tp = np.round(0.3 * size)
    n_a, n_b = size[0] + size[1], size[0] + size[2]
    weight = np.array([1 / n_a - 1 / n_b, 1 / n_a, -1 / n_b])
    half = stats.norm.isf(0.025) * np.sqrt(0.3 * 0.7 * (size * weight**2).sum())
    assert_allclose(overlap_difference(tuple(tp), tuple(size), 0.95), [-half, half], rtol=2e-3)
    wider = overlap_difference(tuple(tp), tuple(size), 0.95, phi=4.0)
    assert_allclose(wider, [-2 * half, 2 * half], rtol=4e-3)


def test_agresti_caffo_against_statsmodels():
    """statsmodels' confint_proportions_2indep(method="agresti-caffo"), clipped to [-1, 1]."""
    for table in [(3, 17, 9, 20), (1, 2, 1, 3), (63, 192, 34, 192), (400, 10**6, 300, 10**6)]:
        expected = confint_proportions_2indep(*table, method="agresti-caffo", alpha=0.1)
        assert_allclose(agresti_caffo(*table, 0.9), expected, rtol=1e-10)
    low, high = agresti_caffo(np.array([0, 2]), 2, np.array([2, 0]), 2, 0.9999)
    assert_array_equal([low[0], high[1]], [-1, 1])


SMALL_TABLES = [
    (63, 192, 34, 192), (0, 20, 0, 30), (1, 2, 1, 3), (5, 5, 3, 3), (0, 5, 3, 9), (0, 1, 1, 1),
    (400, 10**6, 300, 10**6), (1, 1, 0, 1), (7, 29, 11, 12), (16, 24, 7, 7), (2.5, 7.25, 0.5, 3.75),
]  # fmt: skip
LARGE_TABLES = [
    (40_012, 10**5, 39_730, 10**5), (1, 10**5, 0, 10**5), (99_999, 10**5, 99_990, 10**5),
    (12.4, 310.0, 7.0, 310.0),
]  # fmt: skip


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


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("table", [*SMALL_TABLES, *LARGE_TABLES])
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


@pytest.mark.parametrize("ci", DIFFERENCE_INTERVALS)
def test_difference_intervals_of_an_empty_region(ci):
    """Undefined is NaN; arrays broadcast; nothing in, nothing out."""
    interval = DIFFERENCE_INTERVALS[ci]
    low, high = interval(*np.array([[0, 0, 3, 7], [3, 7, 0, 0]]).T, 0.95)
    assert_array_equal([low, high], np.full((2, 2), np.nan))
    low, high = interval(np.arange(4)[:, None], 9, np.arange(3), 5, 0.95)
    assert low.shape == high.shape == (4, 3)
    assert_allclose([low[3, 1], high[3, 1]], interval(3, 9, 1, 5, 0.95), rtol=1e-13)
    for limit in interval(*np.empty((4, 0)), 0.95):
        assert limit.shape == (0,)


@pytest.mark.full
@pytest.mark.parametrize("ci", ["agresti-caffo", "miettinen-nurminen"])
@settings(max_examples=examples(50))
@given(st.tuples(*[st.integers(1, 10**5), st.floats(0, 1)] * 2), st.floats(0.5, 0.999))
def test_difference_intervals_are_antisymmetric(ci, drawn, level):
    """Exchanging a and b, or positives and negatives, turns the sign; a higher level widens."""
    n_a, share_a, n_b, share_b = drawn
    tp_a, tp_b = round(share_a * n_a), round(share_b * n_b)
    interval = DIFFERENCE_INTERVALS[ci]
    low, high = interval(tp_a, n_a, tp_b, n_b, level)
    close = {"rtol": 1e-9, "atol": 1e-14}
    assert_allclose(interval(tp_b, n_b, tp_a, n_a, level), [-high, -low], **close)
    assert_allclose(interval(n_a - tp_a, n_a, n_b - tp_b, n_b, level), [-high, -low], **close)
    assert -1 <= low <= high <= 1
    wider_low, wider_high = interval(tp_a, n_a, tp_b, n_b, 0.9995)
    assert wider_low <= low + 1e-13
    assert high <= wider_high + 1e-13
    if ci == "miettinen-nurminen":
        assert low <= tp_a / n_a - tp_b / n_b <= high


def test_miettinen_nurminen_knows_nothing_of_one_candidate():
    """N/(N - 1) grows without bound as N falls to 1; counts of an overdispersion may be less."""
    assert_array_equal(miettinen_nurminen(0.25, 0.5, 0.1, 0.5, 0.95), [-1, 1])
    low, high = miettinen_nurminen(0.25, 0.5, 0.1, 0.500001, 0.95)
    assert low < -0.99
    assert high > 0.99


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
    exact.assert_within(error, 1e-10, high)


@pytest.mark.parametrize(("tp", "n"), [(1, 10**7), (9_999_999, 10**7), (3, 10**4), (2.5, 7.25)])
def test_wilson_in_mpmath(tp, n):
    """Roots of (n + z2) p^2 - (2 tp + z2) p + tp^2/n = 0, with 50 digits, without cancellation."""
    with mpmath.workdps(50):
        z2 = 2 * mpmath.erfinv(mpf(0.95)) ** 2
        spread = mpmath.sqrt(z2 * (z2 + 4 * mpf(tp) * (n - mpf(tp)) / n))
        low, high = ((2 * mpf(tp) + z2 + sign * spread) / (2 * (n + z2)) for sign in (-1, 1))
    assert_allclose(wilson(tp, n, 0.95), [float(low), float(high)], rtol=1e-13)
