"""Quantiles of beta distributions as one polynomial, against continued fractions in mpmath."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest
import scipy.special
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal

from rankeval_pd.stats import proportions
from rankeval_pd.stats.proportions import LEAST_EXPANDED, BetaTail, fit_expansion

LEVELS = (1e-9, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1 - 1e-6, 1 - 1e-9)
KINDS = {
    "clopper-pearson": (((0.0, 1.0),), ((1.0, 0.0),)),
    "jeffreys": (((0.5, 0.5),), ((0.5, 0.5),)),
    "midp": (((0.0, 1.0), (1.0, 0.0)),) * 2,
}
CORNERS = (100, 101, 250, 1_000, 12_345, 10**6)


def tail_and_density(a: float, b: float, p: mpf) -> tuple[mpf, mpf]:
    """I_p(a, b), by the continued fraction 8.17.22 of the DLMF, and its derivative by p."""
    a, b = mpf(a), mpf(b)
    lead = a * mpmath.log(p) + b * mpmath.log1p(-p) - mpmath.loggamma(a) - mpmath.loggamma(b)
    mass = mpmath.exp(lead + mpmath.loggamma(a + b))
    tiny = mpf(10) ** -300
    c, d = mpf(1), 1 - (a + b) * p / (a + 1)
    d = 1 / d
    value = d
    for m in itertools.count(1):
        for top in (
            m * (b - m) * p / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * p / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + top * d) or tiny)
            c = (1 + top / c) or tiny
            value *= c * d
        if abs(c * d - 1) < mpf(10) ** -32:
            return mass * value / a, mass / (p * (1 - p))


def see_polynomial(shifts, tail: float, upper: bool) -> None:
    """See that one is found; some tails of older versions of SciPy are too noisy for it."""
    law = proportions._cached_expansion(BetaTail(shifts, tail, upper))
    version = tuple(int(part) for part in scipy.__version__.split(".")[:2])
    if law is None and version < (1, 17):
        pytest.skip("of this SciPy's tails no polynomial is found, and limits are solved for")
    assert law is not None


def errors(tp: float, fp: float, shifts, tail: float, p: float, *, upper: bool) -> float:
    """The error of p, the tail's residual over its slope, relative to p and to 1 - p.

    What p cannot hold of 1 - p as a float64 is left aside.
    """
    with mpmath.workdps(45):
        area = slope = mpf(0)
        at = mpf(p)
        for a, b in shifts:
            # beyond its mean the fraction would converge slowly: both tails lie before it
            one = (fp + b, tp + a, 1 - at) if upper else (tp + a, fp + b, at)
            more, steeper = tail_and_density(*one)
            area, slope = area + more / len(shifts), slope + steeper / len(shifts)
        error = abs(area - mpf(tail)) / slope
        return float(max(error - mpf(2) ** -53 * at, 0) / min(at, 1 - at))


def proven(corners, levels, kinds) -> float:
    worst = 0.0
    for kind, level, upper in itertools.product(kinds, levels, (False, True)):
        shifts, tail = KINDS[kind][upper], (1.0 - level) / 2.0
        see_polynomial(shifts, tail, upper)
        shift = np.mean(shifts, axis=0)
        for a, b in itertools.product(corners, corners):
            counts = np.array([a - shift[0]]), np.array([b - shift[1]])
            p = float(proportions.beta_quantile(*counts, BetaTail(shifts, tail, upper))[0])
            one = (a - shift[0], b - shift[1], shifts, tail, p)
            worst = max(worst, errors(*one, upper=upper))
    return worst


def test_the_fraction_is_mpmaths_beta():
    with mpmath.workdps(45):
        for a, b, p in ((100, 150.5, 0.35), (250, 101, 0.7)):
            wanted = mpmath.betainc(a, b, 0, mpf(p), regularized=True)
            assert abs(tail_and_density(a, b, mpf(p))[0] / wanted - 1) < mpf(10) ** -28


def test_in_mpmath():
    assert proven((100, 1_000), (0.95,), ("clopper-pearson",)) < 1e-13


@pytest.mark.full
def test_in_mpmath_at_every_corner():
    """1e-12 is what is promised, relative to the limit and to 1 less the limit."""
    assert proven(CORNERS, (0.5, 0.95, 1 - 1e-9), ("clopper-pearson",)) < 3e-13
    assert proven((*CORNERS[::3], 10**8), (1e-9, 0.9, 1 - 1e-6), ("jeffreys", "midp")) < 3e-13


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", LEVELS)
def test_as_by_tails(kind, level):
    rng = np.random.default_rng(0)
    a, b = LEAST_EXPANDED * np.exp(rng.random((2, 500)) * np.log(1e4))
    for upper in (False, True):
        shifts, tail = KINDS[kind][upper], (1.0 - level) / 2.0
        see_polynomial(shifts, tail, upper)
        shift = np.mean(shifts, axis=0)
        counts = a - shift[0], b - shift[1]
        logits = proportions.beta_logits(*counts, BetaTail(shifts, tail, upper))
        found = proportions.beta_quantile(*counts, BetaTail(shifts, tail, upper))
        assert_allclose(found, scipy.special.expit(logits), rtol=3e-13)
        assert_allclose(1.0 - found, scipy.special.expit(-logits), rtol=3e-13, atol=2e-16)


def test_few_of_very_many_are_roots():
    """SciPy's quantiles of the Beta distribution, which hold there."""
    few = np.array([1.0, 2.0, 7.0, 30.0])
    for tp in (few, 1e5 - few):
        low, high = proportions.clopper_pearson(tp, np.full(4, 1e5), 0.95)
        assert_allclose(low, scipy.special.betaincinv(tp, 1e5 - tp + 1.0, 0.025), rtol=1e-11)
        assert_allclose(high, scipy.special.betaincinv(tp + 1.0, 1e5 - tp, 0.975), rtol=1e-11)


@pytest.mark.parametrize("level", [0.95, 1e-300, 1 - 2**-53])
def test_each_limit_is_the_same_whatever_else_is_asked(level):
    tp = np.arange(0, 4000, dtype=np.int64)
    n = tp + tp[::-1] // 3
    many = proportions.clopper_pearson(tp, n, level)
    few = [proportions.clopper_pearson(tp[k::8], n[k::8], level) for k in range(8)]
    for k in range(8):
        for all_, some in zip(many, few[k], strict=True):
            assert_array_equal(all_[k::8], some)
    low, high = many
    assert ((low <= high) & (low[0] == 0.0) & (high[-1] == 1.0)).all()


def test_what_is_no_polynomial_is_none():
    assert fit_expansion(lambda a, b: np.log(a / b) + np.sqrt(np.abs(a - b)) / (a + b)) is None
    assert fit_expansion(lambda a, b: np.full(a.size, np.nan)) is None
