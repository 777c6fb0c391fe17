"""Limits of the difference of two areas, from the limits of each."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from rankeval_pd.stats.intervals import differences


def test_symmetric_limits_of_each_give_walds_of_the_difference():
    """Zou and Donner's limits with the correlation: z standard errors of the difference."""
    values, variances = (np.array([0.7]), np.array([0.6])), np.array([[0.002], [0.003], [0.0015]])
    half = 1.7 * np.sqrt(variances)
    limits = tuple((value - x, value + x) for value, x in zip(values, half[:2], strict=True))
    found = differences.correlated_limits(values, limits, tuple(variances), (np.array([0.1]),) * 2)
    assert_allclose(found, 0.1 + np.array([-half[2], half[2]]), rtol=1e-12)
