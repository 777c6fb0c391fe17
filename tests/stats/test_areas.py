"""Areas and average precision: influences, variances and limits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, stats
from sklearn.metrics import average_precision_score, roc_curve

from rankeval_pd.stats import areas
from rankeval_pd.stats.ranking import Ranking

# ---- Differences of two areas


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
        values = (np.array([0.9]), np.array([0.7]))[::sign]
        variances = np.array([[x] for x in (*(a, b)[::sign], together)])
        sizes = np.array([12]), np.array([40])
        low, high = areas.area_difference_limits(
            values, tuple(variances), np.array([30.0]), sizes, 0.95, np.array([moved])
        )
        assert_allclose(sorted((sign * low[0], sign * high[0])), expected, rtol=1e-8)


# ---- Outlines of rankings, against the kernel that has every candidate


def outline(score, gold):
    """Count candidates with, and between, the different scores of true positives."""
    cuts = np.unique(score[gold])[::-1]
    edges, others = itertools.pairwise([np.inf, *cuts, -np.inf]), score[~gold]
    return areas.Outline(
        np.array([(score[gold] == cut).sum() for cut in cuts]),
        np.array([(others == cut).sum() for cut in cuts]),
        np.array([((others < high) & (others > low)).sum() for high, low in edges]),
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("decimals", [9, 0, 1])
def test_an_outline_has_the_area_variance_and_freedom_of_its_ranking(seed, decimals):
    rng = np.random.default_rng(seed)
    gold = rng.random(60) < 0.3
    score = (gold + rng.normal(size=60)).round(decimals)
    here = np.ones(60, dtype=bool)
    placed = areas.placements(Ranking.of(score, gold, here))
    wanted = areas.area_spread(placed.influence, gold, here)
    value, found = areas.outline_area(outline(score, gold))
    assert_allclose(value, placed.value, rtol=1e-14)
    assert_allclose(found.variance, wanted.variance, rtol=1e-12)
    assert_allclose(found.freedom, wanted.freedom, rtol=1e-12)


def test_a_perfect_ranking_varies_not_and_has_the_freedom_of_the_smaller_class():
    value, found = areas.outline_area(outline(np.arange(9.0), np.arange(9) > 5))
    assert (value, found.variance, found.freedom) == (1.0, 0.0, 2.0)


def test_a_few_candidates_that_determine_the_variance_leave_few_degrees_of_freedom():
    gold = np.arange(30) < 20
    one = np.where(np.arange(30) == 29, 1.0, 0.0)  # squared deviations: .81, and nine times .01
    found = areas.area_spread(one, gold, np.ones(30, dtype=bool))
    assert_allclose(found.uneven_freedom(2.0), 2.0 * 0.9**2 / (0.81**2 + 9 * 0.01**2), rtol=1e-12)
    other = areas.area_spread(np.tile([0.0, 1.0], 15), gold, np.ones(30, dtype=bool))
    assert other.uneven_freedom(2.0) == 9.0  # the smaller class
    assert areas.area_spread(0.0 * one, gold, np.ones(30, dtype=bool)).uneven_freedom(2.0) == 9.0


@pytest.mark.parametrize("decimals", [9, 0])
def test_an_outline_has_the_precision_and_freedom_of_its_ranking(decimals):
    rng = np.random.default_rng(3)
    gold = rng.random(60) < 0.8
    score = (gold + rng.normal(size=60)).round(decimals)
    found = areas.influences(Ranking.of(score, gold, np.ones(60, dtype=bool)))
    wanted = areas.area_spread(found.influence, found.gold, found.present)
    ranking = areas.RankingOutline("a", -np.unique(score[gold]), outline(score, gold), 0, 0)
    of_outline = areas.outline_precision(ranking, 1.0, ends=False)
    assert_allclose(of_outline.value, found.value, rtol=1e-12)
    assert_allclose(of_outline.variance, wanted.variance, rtol=1e-12)
    assert_allclose(of_outline.fourth, wanted.fourth, rtol=1e-12)


# ---- Clusters


def test_an_area_has_the_freedom_of_the_class_with_fewer_clusters():
    """Effective numbers of clusters, of positives and of others."""
    rng = np.random.default_rng(2)
    cluster = rng.integers(0, 30, 300)
    gold = np.isin(cluster, [1, 2, 3, 4]) & (rng.random(300) < 0.7)
    here = np.ones(300, dtype=bool)
    placed = areas.placements(Ranking.of(gold + rng.normal(size=300), gold, here))
    found = areas.cluster_spread(placed.influence, gold, here, cluster)
    sizes = [np.bincount(cluster[one]) for one in (gold, ~gold)]
    effective = [x.sum() ** 2 / (x**2).sum() for x in sizes]
    assert effective[0] < 4 < effective[1]
    equal = areas.cluster_spread(np.ones(300), gold, here, cluster)  # without variance
    assert_allclose((equal.positive, equal.negative), effective, rtol=1e-12)
    mixed = 2.0 / (1.0 / 4.0 + 1.0 / 7.0)  # of 4 clusters with positives, at least 4 and at most 7
    assert_allclose(found.freedom, mixed, rtol=1e-12)
    assert found.n_groups == 4
    drift = areas.cluster_spread(placed.influence, gold, here, cluster, np.array(0.2))
    assert_allclose(drift.freedom, 6.0, rtol=1e-12)
    alone = areas.cluster_spread(placed.influence, gold, here, cluster, np.array(0.2), alone=True)
    assert 0.7 * drift.variance < alone.variance < drift.variance  # a smaller correction
    twice = areas.cluster_spread(placed.influence, gold, here, cluster, np.array(0.4))
    assert drift.variance < twice.variance


def test_an_area_alone_has_a_part_of_the_variance_of_one_candidate_per_cluster():
    """Near 1 few clusters are wrong, and may be absent: .02 (2 A - 1)^6 of Newcombe's variance."""
    rng = np.random.default_rng(4)
    cluster, gold, here = np.repeat(np.arange(30), 10), rng.random(300) < 0.3, np.ones(300, bool)
    given = gold, here, cluster
    for shift in (0.5, 3.0):
        placed = areas.placements(Ranking.of(shift * gold + rng.normal(size=300), gold, here))
        of_two, alone = (
            areas.cluster_spread(placed.influence, *given, alone=x) for x in (False, True)
        )
        equal = areas.cluster_spread(np.ones(300), *given)
        few, many = equal.positive, equal.negative
        near = (placed.value * few + 1.0) / (few + 2.0)
        added = 0.02 * (2.0 * placed.value - 1.0) ** 6
        added *= areas.newcombe_variance(near, few, many)
        assert_allclose(alone.variance - of_two.variance, added, rtol=1e-9)
        assert alone.freedom == of_two.freedom


# ---- Average precision


def test_influences_are_derivatives_by_the_weight_of_each_candidate():
    """Scikit-learn's weighted average precision, the numbers of both classes fixed."""
    rng = np.random.default_rng(6)
    gold = rng.random(30) < 0.25
    score = (gold + rng.normal(size=30)).round(1)
    found = areas.influences(Ranking.of(score, gold, np.ones(30, dtype=bool)))
    positive = gold.sum()

    def value(candidate, step):
        weight = np.ones(30)
        weight[candidate] += step
        for group in (gold, ~gold):
            weight[group] *= group.sum() / weight[group].sum()
        return average_precision_score(gold, score, sample_weight=weight)

    slope = np.array([(value(k, 1e-4) - value(k, -1e-4)) / 2e-4 for k in range(30)])
    wanted = np.where(gold, positive, 30 - positive) * slope * positive / (positive - 1)
    assert_allclose(found.influence, wanted, rtol=1e-6, atol=1e-7)


def test_a_difference_of_areas_that_is_rejected_has_limits_on_its_side_of_0():
    for one, other, side in ((0.9, 0.6, 1.0), (0.6, 0.9, -1.0)):
        given = (np.array([one]), np.array([other])), np.array([[0.01], [0.01], [0.0225]])
        limits = areas.area_difference_limits(*given, np.array([1e9]), (5, 5), 0.95)
        near, far = sorted((side * limits[0][0], side * limits[1][0]))
        assert near >= 0.0
        assert far > 0.65  # not cut at twice the gap: small classes lack extreme candidates


def test_the_drift_of_a_mean_moves_both_classes_of_a_cluster_apart():
    rng = np.random.default_rng(0)
    placement, gold, cluster = rng.random(30), np.arange(30) % 3 == 0, np.arange(30) // 5
    totals = np.zeros(6)
    for one, drift in ((gold, 0.2), (~gold, -0.2)):
        for k in range(6):
            inside = one & (cluster == k)
            far = (placement[inside] - placement[one].mean() + drift).sum() / one.sum()
            rest = max(1.0 - inside.sum() / one.sum(), 0.5 / max(inside.sum(), 1))
            totals[k] += far / rest
    found = areas.cluster_spread(
        placement[None], gold[None], np.ones((1, 30), dtype=bool), cluster[None], np.array([0.2])
    )
    assert found.variance[0] == pytest.approx(((totals - totals.mean()) ** 2).sum(), rel=1e-12)


def test_a_negative_in_the_range_lacks_the_true_positives_up_to_its_end():
    rng = np.random.default_rng(0)
    score, gold = rng.integers(0, 6, 60).astype(float), rng.random(60) < 0.4
    moved = areas.area_up_to(Ranking.of(score, gold, np.ones(60, dtype=bool)), 0.37).influence
    fpr, tpr, _ = roc_curve(gold, score, drop_intermediate=False)
    [first], [last] = (np.unique(moved[~gold & (score == x)]) for x in (5, 0))
    expected = (tpr[1] / 2 - np.interp(0.37, fpr, tpr)) / 0.37
    assert first - last == pytest.approx(expected, rel=1e-12)


def test_pairs_at_the_ends_of_a_ranking_enclose_its_scores():
    """Candidates without a score stay last."""
    rng = np.random.default_rng(3)
    score, gold = rng.integers(0, 9, 40).astype(float), rng.random(40) < 0.4
    score[[5, 17, 30]] = np.nan
    found = areas.with_end_pairs(Ranking.of(score, gold, np.ones(40, dtype=bool)))
    in_order = found.score[np.argsort(found.ranks)]
    assert (np.sort(found.ranks) == np.arange(1, 45)).all()
    assert (np.diff(in_order[2:-5]) <= 0.0).all()
    assert_array_equal(in_order[[0, 1, -5, -4, -3]], [np.inf, np.inf, -np.inf, -np.inf, np.nan])


def test_the_corrected_precision_leaves_out_the_positive_at_each_rank():
    score, gold = np.arange(8, 0, -1.0), np.array([1, 0, 1, 1, 0, 0, 1, 0], dtype=bool)
    found = areas.influences(Ranking.of(score, gold, np.ones(8, dtype=bool)))
    # the first positive is alone in its list, of which nothing else is known
    assert found.corrected == pytest.approx((0.0 + 1 / 2 + 2 / 3 + 3 / 6) / 4)
