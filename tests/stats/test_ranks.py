"""Ranks of measures and of systems, by hand and with SciPy."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from rankeval_pd.decisions.ranks import RankOptions, adjusted_tests
from rankeval_pd.stats import areas, ranks
from rankeval_pd.stats.ranking import Ranking

# ---- Pairs of areas


def test_pairs_of_areas_have_delongs_p_values_and_intervals():
    """From the variance of the difference, which agrees with R's pROC, by Student's t."""
    rng = np.random.default_rng(5)
    gold, here = np.arange(80) < 20, np.ones(80, dtype=bool)
    score = 0.7 * gold + rng.normal(size=80) + rng.normal(size=(3, 80))
    placed = areas.placements(Ranking.of(score, gold, here))
    for student in (False, True):
        how = RankOptions(adjust=None, adjust_over="n", alpha=0.1, level=0.9, kind="roc")
        found = ranks.of_influences(
            placed.value, placed.influence, gold, here, joint=False, level=0.9,
            score=score, baseline=None, n_resamples=1, most=1, seed=1, student=student,
        )  # fmt: skip
        half = adjusted_tests(found, how).half
        for number, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
            gap = placed.value[a] - placed.value[b]
            spread = areas.area_spread(placed.influence[a] - placed.influence[b], gold, here)
            error, law = np.sqrt(spread.variance), stats.t(19 if student else spread.freedom)
            assert_allclose(found["difference"][number, 0], gap, rtol=1e-12)
            assert_allclose(found["p_value"][number, 0], 2 * law.sf(abs(gap) / error), rtol=1e-9)
            assert_allclose(half[number, 0], law.ppf(0.95) * error, rtol=1e-9)
