"""Outlines of rankings against the kernel that has every candidate, which R's pROC agrees with."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rankeval_pd.stats import areas as roc_areas
from rankeval_pd.stats.ranking import Ranking


def outline(score, gold):
    """Count candidates with, and between, the different scores of true positives."""
    cuts = np.unique(score[gold])[::-1]
    tp = [int((score[gold] == cut).sum()) for cut in cuts]
    tied = [int((score[~gold] == cut).sum()) for cut in cuts]
    edges = [np.inf, *cuts, -np.inf]
    between = [
        int(((score[~gold] < high) & (score[~gold] > low)).sum())
        for high, low in itertools.pairwise(edges)
    ]
    return roc_areas.Outline(np.array(tp), np.array(tied), np.array(between))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_area_variance_and_freedom(seed, decimals):
    rng = np.random.default_rng(seed)
    gold = rng.random(60) < 0.3
    score = (gold + rng.normal(size=60)).round(decimals)
    here = np.ones(60, dtype=bool)
    placed = roc_areas.placements(Ranking.of(score, gold, here))
    wanted = roc_areas.area_spread(placed.influence, gold, here)
    value, found = roc_areas.outline_area(outline(score, gold))
    assert_allclose(value, placed.value, rtol=1e-14)
    assert_allclose(found.variance, wanted.variance, rtol=1e-12)
    assert_allclose(found.freedom, wanted.freedom, rtol=1e-12)


def test_a_perfect_ranking_varies_not_and_has_the_freedom_of_the_smaller_class():
    value, found = roc_areas.outline_area(outline(np.arange(9.0), np.arange(9) > 5))
    assert (value, float(found.variance), float(found.freedom)) == (1.0, 0.0, 2.0)
