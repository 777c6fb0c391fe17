"""Clusters: against candidates that are a cluster each, plain sets, and SciPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

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


# ---- Agreement of annotators


def alpha_of_pairs(codes):
    """Return alpha from all pairs of votes, as its definition says."""
    units = [column[column >= 0] for column in codes.T]
    units = [u for u in units if u.size > 1]
    observed = sum(
        sum(x != y for x, y in itertools.permutations(u, 2)) / (u.size - 1) for u in units
    )
    votes = np.concatenate(units)
    expected = sum(x != y for x, y in itertools.permutations(votes, 2)) / (votes.size - 1)
    return 1.0 - observed / expected


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 4))
def test_coefficients_equal_statsmodels_and_scikit_learn(seed, annotators, categories):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, 40)
    codes = np.where(
        rng.random((annotators, 40)) < 0.6, truth, rng.integers(0, categories, (annotators, 40))
    )
    counts = np.stack([(codes == k).sum(axis=0) for k in range(categories)], axis=1)
    cohen = clusters.cohen_kappa(codes[0], codes[1], 0.95)
    table = np.zeros((categories, categories))
    np.add.at(table, (codes[0], codes[1]), 1)
    assert cohen.value == pytest.approx(cohen_kappa_score(codes[0], codes[1]), abs=1e-12)
    assert cohen.value == pytest.approx(cohens_kappa(table).kappa, abs=1e-12)
    assert clusters.fleiss_kappa(counts, 0.95).value == pytest.approx(
        fleiss_kappa(counts), abs=1e-12
    )
    holes = np.where(rng.random(codes.shape) < 0.2, -1, codes)
    seen = np.stack([(holes == k).sum(axis=0) for k in range(categories)], axis=1)
    alpha = clusters.krippendorff_alpha(seen, 0.95)
    assert alpha.value == pytest.approx(alpha_of_pairs(holes), abs=1e-12)
    for found in (cohen, alpha):
        assert -1.0 <= found.ci_low <= found.value <= found.ci_high <= 1.0


@pytest.mark.parametrize("share", [0.4, 0.1])
def test_the_interval_is_the_jackknife_of_each_candidate_left_out(share):
    rng = np.random.default_rng(3)
    truth = rng.random(30) < share
    codes = np.where(rng.random((3, 30)) < 0.6 + 0.5 * share, truth, ~truth).astype(int)
    counts = np.stack([(codes == k).sum(axis=0) for k in (0, 1)], axis=1)
    found = clusters.krippendorff_alpha(counts, 0.9)
    left = np.array([clusters.krippendorff_alpha(np.delete(counts, k, 0), 0.9).value
                     for k in range(30)])  # fmt: skip
    squares = (np.arctanh(left) - np.arctanh(left).mean()) ** 2
    error = np.sqrt(29 / 30 * squares.sum())
    freedom = min(1.5 * squares.sum() ** 2 / (squares**2).sum() + 2.0, 29.0)
    half = -special.stdtrit(freedom, 0.05) * error
    z = np.arctanh(found.value)
    assert found.ci_low == pytest.approx(np.tanh(z - half), abs=1e-10)
    assert found.ci_high == pytest.approx(np.tanh(z + half), abs=1e-10)


def test_agreement_at_the_edges():
    same = np.array([0, 1] * 20)
    cohen = clusters.cohen_kappa(same, same, 0.95)
    assert (cohen.value, cohen.ci_high) == (1.0, 1.0)
    # no candidate of 40 apart: the share apart is below 1 - .025^(1/40)
    assert cohen.ci_low == pytest.approx(1 - (1 - 0.025 ** (1 / 40)) / 0.5, abs=1e-12)
    for found in (
        clusters.cohen_kappa(same * 0, same * 0, 0.95),
        clusters.cohen_kappa(same[:1], same[:1], 0.95),
        clusters.fleiss_kappa(np.array([[2, 0], [1, 0]]), 0.95),
        clusters.fleiss_kappa(np.zeros((0, 2), dtype=int), 0.95),
        clusters.krippendorff_alpha(np.zeros((0, 2), dtype=int), 0.95),
    ):
        assert np.isnan([found.value, found.ci_low, found.ci_high]).all()
    lone = same.copy()
    lone[0] = 1
    found = clusters.cohen_kappa(same, lone, 0.95)
    assert -1.0 < found.ci_low < found.value < found.ci_high < 1.0
