"""Clusters: against candidates that are a cluster each, plain sets, and SciPy."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats.intervals import bands, cluster_totals
from rankeval_pd.stats.rankings import roc_areas
from rankeval_pd.stats.rankings.ranking import Ranking


def test_clusters_of_one_candidate_vary_as_single_candidates_do():
    """About their mean, as the edge of the list is no mean of it: the kernel of bands says so."""
    total, n = 20_000, np.array([4_000, 10_000, 16_000])
    rank = np.arange(1, total + 1)
    gold = np.random.default_rng(0).random(total) < 0.8 - 0.6 * rank / total
    tp = np.concatenate([[0], np.cumsum(gold)])
    wanted = bands.nbest_spread(tp, n, np.array(total))
    totals = cluster_totals.ListTotals(gold, (rank,), rank - 1, n, (wanted.edge,), False)
    found = cluster_totals.total_spread(totals)
    assert_allclose(found.influence, wanted.influence, rtol=1e-3)
    assert_array_equal(found.n_groups, n)
    assert_allclose(found.freedom, n - 1.0, rtol=1e-12)


def test_what_differs_between_two_lists_is_what_is_in_one_of_them():
    """Effective numbers of clusters (Kish 1965), from sets of candidates."""
    rng = np.random.default_rng(1)
    size, n = 60, np.array([5, 20, 40])
    ranks = rng.permutation(size) + 1, rng.permutation(size) + 1
    cluster, gold = rng.integers(0, 9, size), rng.random(size) < 0.4
    edge = np.full(n.size, 0.4)
    found = cluster_totals.total_spread(
        cluster_totals.ListTotals(gold, ranks, cluster, n, (edge, edge), False)
    )
    for k, cut in enumerate(n):
        sizes = np.bincount(cluster[(ranks[0] <= cut) != (ranks[1] <= cut)], minlength=9)
        assert found.n_groups[k] == (sizes > 0).sum()
        assert_allclose(found.freedom[k], sizes.sum() ** 2 / (sizes**2).sum() - 1, rtol=1e-12)


def test_effective_sizes_of_korn_and_graubard():
    """By the binomial variance over that of clusters, and quantiles of z and t, squared."""
    n, share = np.array([50, 50, 50]), np.array([0.2, 0.2, 0.5])
    variance, freedom = np.array([16.0, 4.0, 25.0]), np.array([4.0, 9.0, 0.0])
    found = cluster_totals.ClusterSpread(variance, freedom, np.array([5, 10, 1]), variance)
    t = np.append(stats.t.ppf(0.975, freedom[:2]), np.inf)
    assert_allclose(found.quantile(0.95), t, rtol=1e-10)
    wanted = n * [8 / 16, 1.0, 12.5 / 25] * (stats.norm.ppf(0.975) / t) ** 2
    assert_allclose(
        cluster_totals.effective_size(n, share, found, 0.95), np.maximum(wanted, 1e-6), rtol=1e-10
    )


def test_an_area_has_the_freedom_of_the_class_with_fewer_clusters():
    """Effective numbers of clusters, of positives and of others."""
    rng = np.random.default_rng(2)
    cluster = rng.integers(0, 30, 300)
    gold = np.isin(cluster, [1, 2, 3, 4]) & (rng.random(300) < 0.7)
    here = np.ones(300, dtype=bool)
    placed = roc_areas.placements(Ranking.of(gold + rng.normal(size=300), gold, here))
    found = roc_areas.cluster_spread(placed.placement, gold, here, cluster)
    sizes = [np.bincount(cluster[one]) for one in (gold, ~gold)]
    effective = [x.sum() ** 2 / (x**2).sum() for x in sizes]
    assert effective[0] < 4 < effective[1]
    assert_allclose(found.effective, effective, rtol=1e-12)
    assert_allclose(found.spread.freedom, effective[0] - 1, rtol=1e-12)
    assert found.n_groups == 4
