"""Limits of proportions at the ends of what floats can tell."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy

import rankeval_pd
from rankeval_pd.stats.proportions import t_of


@pytest.mark.parametrize("ci", ["midp", "clopper-pearson", "jeffreys", "wilson"])
def test_parts_of_a_success_have_the_limits_that_floats_can_tell(ci):
    """0.000001 of a million: half of the mass of Beta(1e-6, 1e6) is below 2^-1,000,000."""
    found = rankeval_pd.precision_interval([1, 2, 3], 10**12, ci=ci, level=0.5, phi=1e6)
    assert (np.diff(found.ci_low) >= 0).all()
    if ci in ("midp", "clopper-pearson"):
        assert found.ci_low.tolist() == [0.0] * 3
    turned = rankeval_pd.precision_interval(10**6 - 1, 10**6, ci=ci, level=0.95, phi=1e6)
    assert 0.0 <= turned.ci_low < turned.ci_high <= 1.0


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
        exact = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17)
        assert abs(found / tail - 1) < (1e-13 if exact else 1e-10) * slope


@pytest.mark.parametrize("ci", ["clopper-pearson", "jeffreys", "midp", "blaker", "wilson"])
@pytest.mark.parametrize("phi", [1.0, 1e6])
@pytest.mark.parametrize("level", [1e-300, 0.05, 0.95, 1.0 - 1e-16])
def test_limits_stay_in_order_however_much_lists_vary(ci, phi, level):
    tp = np.array([0, 1, 5, 10, 10**6, 10**12 - 3, 10**12 - 2])
    n = np.array([10, 10, 10, 10, *[10**12 - 2] * 3])
    low, high = rankeval_pd.precision_interval(tp, n, ci=ci, phi=phi, level=level)
    assert ((low >= 0.0) & (low <= high) & (high <= 1.0)).all()
    if ci == "wilson":  # it always holds the share itself
        np.testing.assert_array_less(low - 1e-12, tp / n)
        np.testing.assert_array_less(tp / n, high + 1e-12)


def test_wilson_without_a_level():
    low, high = rankeval_pd.precision_interval([0, 3], [5, 5], ci="wilson", level=5e-324)
    assert low.tolist() == pytest.approx([0.0, 0.6])
    assert high.tolist() == pytest.approx([0.0, 0.6])
