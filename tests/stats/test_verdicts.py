"""Tests of all pairs of areas, and the ranks that they leave open, by hand."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats.rankings import rank_tests, roc_areas
from rankeval_pd.stats.rankings.ranking import Ranking


def test_pairs_of_areas_have_delongs_p_values_and_intervals():
    """From the variance of the difference, which agrees with R's pROC; z, or Student's t."""
    rng = np.random.default_rng(5)
    gold, here = np.arange(80) < 20, np.ones(80, dtype=bool)
    score = 0.7 * gold + rng.normal(size=80) + rng.normal(size=(3, 80))
    placed = roc_areas.placements(Ranking.of(score, gold, here))
    for student, law in ((False, stats.norm()), (True, stats.t(19))):
        found = rank_tests.of_influences(
            placed.area, placed.placement, gold, here, None,
            level=0.9, n_resamples=1, seed=1, student=student,
        )  # fmt: skip
        for number, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
            gap = placed.area[a] - placed.area[b]
            error = np.sqrt(
                roc_areas.delong_variance(placed.placement[a] - placed.placement[b], gold, here)
            )
            assert_allclose(found.difference[number, 0], gap, rtol=1e-12)
            assert_allclose(found.p_value[number, 0], 2 * law.sf(abs(gap) / error), rtol=1e-9)
            assert_allclose(found.half[number, 0], law.ppf(0.95) * error, rtol=1e-9)


def test_ranks_that_decisions_leave_open():
    """Of three measures the first and the last are told apart; at alpha itself, too."""
    value, p = np.array([[0.9], [0.7], [0.5]]), np.array([[0.06], [0.05], [0.5]])
    gaps, half = np.array([[0.2], [0.4], [0.2]]), np.full((3, 1), 0.3)
    found = rank_tests.decide(value, rank_tests.PairTests(3, gaps, half, p), p, 0.05, None)
    assert_array_equal(found.rank[:, 0], [1, 2, 3])
    assert_array_equal(found.rank_low[:, 0], [1, 1, 2])
    assert_array_equal(found.rank_high[:, 0], [2, 3, 3])
    assert_array_equal(found.tied_for_best[:, 0], [True, True, False])
    assert_allclose(found.difference[:, 0], [0, -0.2, -0.4], atol=1e-15)
    assert_allclose(found.difference_low[1:, 0], [-0.5, -0.7])
    assert_allclose(found.difference_high[1:, 0], [0.1, -0.1], atol=1e-15)
    assert_array_equal(found.p_adjusted[:, 0], [np.nan, 0.06, 0.05])
