"""The influences on average precision, of both ways of ties."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from sklearn.metrics import average_precision_score

from rankeval_pd.stats import areas as early
from rankeval_pd.stats.ranking import Ranking


def test_without_ties_the_mean_over_orders_is_that_of_the_one_order():
    rng = np.random.default_rng(4)
    score, gold, here = rng.normal(size=(3, 40)), rng.random((3, 40)) < 0.3, rng.random(40) < 0.9
    one, mean = (
        early.influences(Ranking.of(score, gold, here), ties=ties)
        for ties in ("blocks", "expected")
    )
    assert_allclose(mean.value, one.value, rtol=1e-13)
    assert_allclose(mean.corrected, one.corrected, rtol=1e-13)
    assert_allclose(mean.influence, one.influence, rtol=1e-12, atol=1e-14)


def test_influences_are_derivatives_by_the_weight_of_each_candidate():
    """Scikit-learn's weighted average precision, the numbers of both classes fixed."""
    rng = np.random.default_rng(6)
    gold = rng.random(30) < 0.25
    score = (gold + rng.normal(size=30)).round(1)
    found = early.influences(Ranking.of(score, gold, np.ones(30, dtype=bool)))
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
