"""Intervals and ranks from resampled values with ties."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats import bootstrap as bootstrap_tests
from rankeval_pd.stats import gains as gain_tables
from rankeval_pd.stats import ranks as rank_tests
from rankeval_pd.stats.families import max_t


def test_half_of_the_resamples_equal_to_the_estimate_are_below_it():
    """Efron's bias is then 0 for a symmetric law: BCa's limits are the percentiles."""
    samples = np.repeat([-2.0, -1.0, 0.0, 1.0, 2.0], [10, 200, 580, 200, 10])
    asked = {"level": 0.9, "scale": 1.0, "without": np.array([-1.0, 0.0, 1.0])}
    assert bootstrap_tests.interval("bca", 0.0, samples, **asked) == bootstrap_tests.interval(
        "percentile", 0.0, samples, **asked
    )


def test_bca_is_scipys():
    """scipy.stats.bootstrap of the same resamples, whose means are often equal."""
    data = np.random.default_rng(1).integers(0, 6, 25) ** 2.0
    drawn = stats.bootstrap((data,), np.mean, n_resamples=4999, rng=3, confidence_level=0.9)
    samples = drawn.bootstrap_distribution
    without = (data.sum() - data) / (data.size - 1)
    found = bootstrap_tests.interval(
        "bca", float(data.mean()), samples, level=0.9, scale=20.0, without=without
    )
    assert_allclose(found, drawn.confidence_interval, rtol=1e-9)


def test_who_ties_for_best_shares_it():
    scores = np.array([[1.0, 2.0, 3.0, 0.0], [1.0, 2.0, 1.0, 4.0], [1.0, 0.0, 3.0, np.nan]])
    low, high, best = rank_tests.resampled_ranks(scores, 0.95)
    assert_allclose(best, np.array([1 / 3 + 1 / 2 + 1 / 2, 1 / 3 + 1 / 2 + 1, 1 / 3 + 1 / 2]) / 4)
    assert_array_equal([low, high], [[1, 1, 1], [2, 3, 3]])


def test_ranks_are_how_many_are_better():
    """All systems compared with all."""
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 9, (12, 40)) / 7.0
    scores[rng.random(scores.shape) < 0.1] = np.nan
    low, high, _ = rank_tests.resampled_ranks(scores, 0.8)
    known = np.where(np.isnan(scores), -np.inf, scores)
    ranks = 1 + (known[:, np.newaxis] < known - 1e-9).sum(axis=1)
    assert_array_equal(low, np.quantile(ranks, 0.1, axis=1, method="inverted_cdf"))
    assert_array_equal(high, np.quantile(ranks, 0.9, axis=1, method="inverted_cdf"))


def test_rows_are_what_each_alone_is():
    """Quantiles and standard deviations; a row with an undefined resample, one with infinite."""
    rows = np.random.default_rng(2).normal(size=(6, 31))
    rows[1, 3], rows[2], rows[3, [4, 9]] = np.nan, np.nan, [np.inf, -np.inf]
    low, high = bootstrap_tests.row_quantiles(rows, (0.05, 0.95))
    each = [bootstrap_tests.quantiles(row, (0.05, 0.95)) for row in rows]
    assert_array_equal(np.array([low, high]).T, each)
    assert_allclose([low[0], high[0]], np.quantile(rows[0], [0.05, 0.95]), rtol=1e-12)
    finite = np.delete(rows, 3, axis=0)
    assert_array_equal(gain_tables.row_sd(finite), [gain_tables.sd(row) for row in finite])


@pytest.mark.parametrize("together", [1, 100, 10_000])
def test_step_down_p_values_by_definition(together, monkeypatch):
    """The largest of each pair and all less significant ones, however many are looked at."""
    monkeypatch.setattr(bootstrap_tests, "_TOGETHER", together)
    rng = np.random.default_rng(3)
    t, moved = rng.normal(size=7) * 2.0, rng.normal(size=(7, 49))
    t[2] = np.nan
    found = max_t(lambda which: moved[which], t, 49, level=0.9, two_sided=True).down
    wanted, worst = np.full(7, np.nan), 0.0
    order = [k for k in np.argsort(-np.abs(t)) if k != 2]
    for place, k in enumerate(order):
        largest = np.abs(moved[order[place:]]).max(axis=0)
        wanted[k] = worst = max(worst, (1 + (largest >= abs(t[k])).sum()) / 50)
    assert_allclose(found, wanted, rtol=1e-12)
