"""Intervals and ranks from resampled values with ties."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats.resampling import bootstrap, system_ranks


def test_half_of_the_resamples_equal_to_the_estimate_are_below_it():
    """Efron's bias is then 0 for a symmetric law: BCa's limits are the percentiles."""
    samples = np.repeat([-2.0, -1.0, 0.0, 1.0, 2.0], [10, 200, 580, 200, 10])
    asked = {"level": 0.9, "scale": 1.0, "without": np.array([-1.0, 0.0, 1.0])}
    assert bootstrap.interval("bca", 0.0, samples, **asked) == bootstrap.interval(
        "percentile", 0.0, samples, **asked
    )


def test_bca_is_scipys():
    """scipy.stats.bootstrap of the same resamples, whose means are often equal."""
    data = np.random.default_rng(1).integers(0, 6, 25) ** 2.0
    drawn = stats.bootstrap((data,), np.mean, n_resamples=4999, rng=3, confidence_level=0.9)
    samples = drawn.bootstrap_distribution
    without = (data.sum() - data) / (data.size - 1)
    found = bootstrap.interval(
        "bca", float(data.mean()), samples, level=0.9, scale=20.0, without=without
    )
    assert_allclose(found, drawn.confidence_interval, rtol=1e-9)


def test_who_ties_for_best_shares_it():
    scores = np.array([[1.0, 2.0, 3.0, 0.0], [1.0, 2.0, 1.0, 4.0], [1.0, 0.0, 3.0, np.nan]])
    low, high, best = system_ranks.resampled_ranks(scores, 0.95)
    assert_allclose(best, np.array([1 / 3 + 1 / 2 + 1 / 2, 1 / 3 + 1 / 2 + 1, 1 / 3 + 1 / 2]) / 4)
    assert_array_equal([low, high], [[1, 1, 1], [2, 3, 3]])
