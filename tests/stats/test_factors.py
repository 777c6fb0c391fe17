"""Strata and training seeds in what is drawn, by hand and with SciPy."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from rankeval_pd.stats import bootstrap as bootstrap_tests
from rankeval_pd.stats import item_gains
from rankeval_pd.stats import items as metric_sums
from rankeval_pd.stats import items as test_items


def test_contributions_within_strata_written_out():
    """Deviations from the stratum's mean, with n - 1, and Welch and Satterthwaite's freedom."""
    rng = np.random.default_rng(1)
    strata = np.repeat([0, 1, 2], [4, 6, 9])
    values = rng.normal(size=(2, 19)) + strata
    found = test_items.within_strata(values, np.ones(19), strata)
    parts, freedom = [], []
    for k, size in enumerate((4, 6, 9)):
        own = values[:, strata == k]
        parts.append((own - own.mean(axis=1, keepdims=True)) * np.sqrt(size / (size - 1)))
        freedom.append(size - 1)
    variance = np.array([(part**2).sum() for part in parts])
    nu = variance.sum() ** 2 / (variance**2 / freedom).sum()
    wider = stats.t.ppf(0.975, nu) / stats.norm.ppf(0.975)
    wanted = values.mean(axis=1, keepdims=True) + wider * np.concatenate(parts, axis=1)
    assert_allclose(found, wanted, rtol=1e-12)
    assert_allclose(found.sum(axis=1), values.sum(axis=1), rtol=1e-12)


def test_the_seeds_part_of_what_is_drawn_is_normal():
    """Whatever signs the items get: here they add nothing."""
    statistics = np.zeros((2, 30, 2))
    statistics[..., 1] = 1.0
    seeds = test_items.Seeds(np.array([0.3, 2.0]), np.array([4.0, 4.0]), np.array([5, 5]))
    items = test_items.Items(statistics, None, metric_sums.ratio, 1.0, "mean", seeds=seeds)
    options = test_items.PairOptions(500, "wild", "auto", "wild", None, 0.05, 0.95, 7, True)
    parts = bootstrap_tests.contributions(items)
    draws = item_gains.Draws(items, np.array([[0, 1]]), options, test_items.quiet)
    found = draws.subsets
    drawn = parts.unit * (parts.values.sum(axis=1, keepdims=True) - 2.0 * found.values)
    for row, error in zip(drawn, seeds.error, strict=True):
        assert stats.kstest(row / error, stats.norm.cdf).pvalue > 1e-3
    assert abs(np.corrcoef(drawn)[0, 1]) < 0.15
