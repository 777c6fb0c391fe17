"""Families of pairs, limits from random signs, and contributions of items of unequal size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from rankeval_pd.stats import bootstrap as bootstrap_tests
from rankeval_pd.stats import items as metric_sums
from rankeval_pd.stats import items as test_items
from rankeval_pd.stats.bootstrap import needed_resamples
from rankeval_pd.stats.families import adjust, interval_levels


@pytest.mark.parametrize("method", ["holm", "bonferroni", "bh", "by", None])
@pytest.mark.parametrize("pairs", [1, 3, 10])
def test_the_least_number_of_resamples_that_can_decide(method, pairs):
    """Twice the smallest p-value there is, adjusted with others of 1: with one less it cannot."""
    options = test_items.PairOptions(0, "wild", "auto", "", method, 0.05, 0.95, 1, True)
    needed = needed_resamples(options, pairs)

    def smallest(draws):
        p = np.append(2.0 / (draws + 1), np.ones(pairs - 1))
        return p[0] if method is None else adjust(p, method)[0]

    assert smallest(needed) <= 0.05 * (1 + 1e-12)
    assert smallest(needed - 1) > 0.05


@pytest.mark.parametrize(
    ("method", "rejected", "share"),
    [("holm", 4, 1), ("bonferroni", 4, 1), ("bh", 3, 3), ("by", 2, 2 / (25 / 12))],
)
def test_levels_of_intervals_by_hand(method, rejected, share):
    """Benjamini and Yekutieli (2005): 1 - R alpha / m, with R = 1 where nothing is rejected."""
    p = np.array([0.001, 0.01, 0.02, 0.5, np.nan])
    assert_allclose(1.0 - interval_levels(p, method, 0.95), 0.05 * share / 4, rtol=1e-12)
    if method in ("bh", "by"):
        assert (adjust(p, method) <= 0.05).sum() == rejected
    none = 0.05 / 4 / (25 / 12 if method == "by" else 1)
    nothing = interval_levels(np.array([0.3, 0.4, 0.5, 0.6]), method, 0.95)
    assert_allclose(1.0 - nothing, none, rtol=1e-12)
    assert interval_levels(p, method, np.nextafter(1.0, 0.0)).max() < 1.0


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12), st.floats(0.5, 0.99))
def test_an_interval_excludes_0_only_where_its_test_is_rejected(p_values, level):
    p = np.array(p_values)
    for method in ("holm", "bonferroni", "bh", "by"):
        excluded = p < (1.0 - interval_levels(p, method, level)) * (1.0 - 1e-9)
        assert (adjust(p, method)[excluded] <= 1.0 - level).all()


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("size", [50, 64, 99])
def test_limits_are_the_outermost_scores_that_are_not_rejected(size, every):
    """Rejected is what so few are at most, or at least, counted with one more of random ones."""
    sums, added = np.random.default_rng(size).normal(size=size), 0 if every else 1
    tail = 0.05 * (size + added)
    low, high = (
        [s for s in sums if added + (side * sums <= side * s).sum() > tail] for side in (1.0, -1.0)
    )
    least, most = bootstrap_tests.limits(
        sums[np.newaxis], np.ones(size), 1.0, every=every, level=0.9, room=np.array([1e-12])
    )
    assert (least[0], most[0]) == (min(low), max(high))


def test_contributions_of_items_of_unequal_size_are_residuals():
    """Of a ratio they vary by y - r x, over the sum of the x (Cochran 1977, 6.4)."""
    rng = np.random.default_rng(3)
    x = rng.integers(1, 9, 20).astype(float)
    statistics = np.stack([np.stack([rng.binomial(9, 0.5, 20) * x, x], axis=-1) for _ in range(2)])
    parts = bootstrap_tests.contributions(
        test_items.Items(statistics, None, metric_sums.ratio, 1.0, "mean")
    )
    y = statistics[..., 0]
    ratio = y.sum(axis=1, keepdims=True) / x.sum()
    share = parts.weights / parts.weights.sum()
    rest = parts.values - share * parts.values.sum(axis=1, keepdims=True)
    assert_allclose(rest, (y - ratio * x) / x.sum(), rtol=1e-6, atol=1e-8)
    assert_allclose(parts.values.sum(axis=1), ratio[:, 0], rtol=1e-9)
