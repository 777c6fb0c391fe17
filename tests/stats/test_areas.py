"""Limits of the difference of two areas, from the limits of each."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats

from rankeval_pd.stats import areas as area_gaps
from rankeval_pd.stats import differences


def test_symmetric_limits_of_each_give_walds_of_the_difference():
    """Zou and Donner's limits with the correlation: z standard errors of the difference."""
    values, variances = (np.array([0.7]), np.array([0.6])), np.array([[0.002], [0.003], [0.0015]])
    half = 1.7 * np.sqrt(variances)
    limits = tuple((value - x, value + x) for value, x in zip(values, half[:2], strict=True))
    found = differences.correlated_limits(values, limits, tuple(variances), (np.array([0.1]),) * 2)
    assert_allclose(found, 0.1 + np.array([-half[2], half[2]]), rtol=1e-12)


@pytest.mark.parametrize("moved", [0.0, 0.02])
def test_limits_of_correlated_areas_by_scipys_root_finder(moved):
    """The side of 0 has no unseen candidates; the other side has 0.4 of each class."""
    a, b, together, gap, t = 0.002, 0.003, 0.0015, 0.9 - 0.7, stats.t.isf(0.025, 30)
    swapped = 2.0 / (12 * 40) ** 2
    unseen = (together + swapped) / (a + b + swapped) * (0.4 / 12 + 0.4 / 40) ** 2

    def beyond(true: float) -> float:
        extra = unseen * max(true / (true - gap), 0.0) + moved * true**2
        return (true - gap) ** 2 - t**2 * (together + extra)

    expected = optimize.brentq(beyond, 0.0, gap - 1e-9), optimize.brentq(beyond, gap + 1e-9, 1.0)
    for sign in (1, -1):
        areas = (np.array([0.9]), np.array([0.7]))[::sign]
        variances = np.array([[x] for x in (*(a, b)[::sign], together)])
        sizes = np.array([12]), np.array([40])
        low, high = area_gaps.area_difference_limits(
            areas, tuple(variances), np.array([30.0]), sizes, 0.95, np.array([moved])
        )
        assert_allclose(sorted((sign * low[0], sign * high[0])), expected, rtol=1e-8)
