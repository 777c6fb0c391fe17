"""Clusters: against candidates that are a cluster each, plain sets, and SciPy."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats import clusters
from rankeval_pd.stats.ranking import nbest_spread


def test_clusters_of_one_candidate_vary_as_single_candidates_do():
    """About their mean, as the edge of the list is no mean of it: the kernel of bands says so."""
    total, n = 20_000, np.array([4_000, 10_000, 16_000])
    rank = np.arange(1, total + 1)
    gold = np.random.default_rng(0).random(total) < 0.8 - 0.6 * rank / total
    tp = np.concatenate([[0], np.cumsum(gold)])
    wanted = nbest_spread(tp, n, np.array(total))
    totals = clusters.ListTotals(gold, (rank,), rank - 1, n, (wanted.edge,), False)
    found = clusters.total_spread(totals)
    assert_allclose(found.influence, wanted.influence, rtol=1e-3)
    assert_array_equal(found.n_groups, n)
    assert_allclose(found.freedom, n - 1.0, rtol=1e-12)


def test_what_differs_between_two_lists_is_what_is_in_one_of_them():
    """One degree of freedom less than clusters, of which few are in either list alone."""
    rng = np.random.default_rng(1)
    size, n = 60, np.array([5, 20, 40])
    ranks = rng.permutation(size) + 1, rng.permutation(size) + 1
    cluster, gold = rng.integers(0, 9, size), rng.random(size) < 0.4
    edge = np.full(n.size, 0.4)
    found = clusters.total_spread(clusters.ListTotals(gold, ranks, cluster, n, (edge, edge), False))
    for k, cut in enumerate(n):
        sizes = np.bincount(cluster[(ranks[0] <= cut) != (ranks[1] <= cut)], minlength=9)
        assert found.n_groups[k] == (sizes > 0).sum()
        assert found.freedom[k] == min(9, 2 * (sizes > 0).sum()) - 1
    assert found.clusters == 9


def test_a_list_has_the_freedom_of_totals_that_vary_as_its_clusters_are_large():
    """Satterthwaite's: a sum of squares of normal totals has the first two moments of chi squared.

    Its mean is sum s^2 and its variance 2 sum s^4 = 2 mean^2 / freedom. With a floor of 4.
    """
    rng = np.random.default_rng(3)
    rank, cluster = rng.permutation(80) + 1, np.sqrt(rng.integers(0, 400, 80)).astype(int)
    n, gold = np.array([3, 6, 70]), rng.random(80) < 0.4
    totals = clusters.ListTotals(gold, (rank,), cluster, n, (np.full(3, 0.4),), False)
    found = clusters.total_spread(totals)
    for k, cut in enumerate(n):
        size = np.unique(cluster[rank <= cut], return_counts=True)[1].astype(float)
        own = min((size**2).sum() ** 2 / (size**4).sum(), size.size - 1.0)
        assert_allclose(found.freedom[k], min(max(own, 4.0), 2 * size.size - 2), rtol=1e-12)
    assert found.freedom[2] > 5.0


def test_few_large_totals_have_fewer_degrees_of_freedom():
    """2 (sum u^2)^2 / sum u^4 of the totals: 20 clusters of 5, of which few lack all labels."""
    cluster, n = np.repeat(np.arange(20), 5), np.array([100])
    for wrong, wanted in ((1, 4.0), (2, None), (10, 19.0)):
        gold, edge = cluster >= wrong, np.array([1.0 - wrong / 20])
        totals = clusters.ListTotals(gold, (np.arange(1, 101),), cluster, n, (edge,), False)
        u = np.bincount(cluster, gold - edge[0])
        own = 2.0 * (u**2).sum() ** 2 / (u**4).sum()
        found = clusters.total_spread(totals).freedom[0]
        assert_allclose(found, own if wanted is None else wanted, rtol=1e-12)
    assert_allclose(clusters.rare_label(np.array([0.0, 0.1, 0.5, 1.0]), 4), [1.0, 0.8**4, 0.1, 1.0])


def test_few_equal_totals_reject_hardly_more_often_than_their_signs():
    """Of k clusters with totals +1 or -1, among many: all signs; with the normal law .125 of 4."""
    for k in range(2, 40):
        plus = np.arange(k + 1)
        total = 2.0 * plus - k
        t = np.abs(total) / np.sqrt(k)
        rejects = 2 * stats.t.sf(t, 2 * k - 1) <= 0.05
        assert stats.binom.pmf(plus[rejects], k, 0.5).sum() <= 0.066
        rank = np.arange(1, 2 * k + 1)  # k candidates of either list alone, one cluster each
        gold = np.append(np.ones(k, dtype=bool), np.zeros(k, dtype=bool))
        found = clusters.total_spread(clusters.ListTotals(
            gold, (rank, rank[::-1]), np.arange(2 * k), np.array([k]), (np.zeros(1), np.zeros(1)),
            False, 10_000,
        ))  # fmt: skip
        assert found.freedom[0] == 2 * (2 * k) - 1


def test_effective_sizes_of_korn_and_graubard():
    """By the binomial variance over that of clusters, and quantiles of z and t, squared."""
    n, share = np.array([50, 50, 50]), np.array([0.2, 0.2, 0.5])
    variance, freedom = np.array([16.0, 4.0, 25.0]), np.array([4.0, 9.0, 0.0])
    found = clusters.ClusterSpread(variance, freedom, np.array([5, 10, 1]), variance, 10)
    t = np.append(stats.t.ppf(0.975, freedom[:2]), np.inf)
    assert_allclose(found.quantile(0.95), t, rtol=1e-10)
    wanted = n * [8 / 16, 1.0, 12.5 / 25] * (stats.norm.ppf(0.975) / t) ** 2
    assert_allclose(
        clusters.effective_size(n, share, found, 0.95), np.maximum(wanted, 1e-6), rtol=1e-10
    )
