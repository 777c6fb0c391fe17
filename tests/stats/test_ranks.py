"""Ranks of measures and of systems, by hand and with SciPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.interpolate import BSpline

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


# ---- Gaffke's limits for means


def test_gaffkes_limits_are_quantiles_of_b_splines_and_of_random_means():
    """A random mean has the density of a B-spline with the values as knots (Curry, Schoenberg)."""
    values = np.array([0.5, 0.3, 0.2, 0.11, 0.05, 0.04])
    levels = np.array([0.95, 0.8])
    lows, highs = ranks.gaffke(values[np.newaxis], 1.0, levels)
    for level, (low,), (high,) in zip(levels, lows, highs, strict=True):
        tail = (1.0 - level) / 2.0
        ends = (low, [0.0, *values], tail), (high, [*values, 1.0], 1.0 - tail)
        for limit, knots, below in ends:
            cumulated = BSpline.basis_element(np.sort(knots)).antiderivative()
            assert_allclose(cumulated(limit) / cumulated(max(knots)), below, rtol=1e-10)
    audited = np.array([0.5, 0.3, 0.2, 0.04, 0, 0, 0, 0, 0, 0])
    weights = np.random.default_rng(0).dirichlet(np.ones(11), 200_000)
    drawn = weights @ np.append(audited, 0.0), weights @ np.append(audited, 1.0)
    wanted = np.quantile(drawn[0], 0.025), np.quantile(drawn[1], 0.975)
    found = ranks.gaffke(audited[np.newaxis], 1.0, np.array([0.95]))
    assert_allclose(np.ravel(found), wanted, atol=0.001)


def test_gaffkes_limits_of_zeros_and_ones_are_clopper_and_pearsons():
    levels = np.array([0.5, 0.99, 0.999999])
    for n in (1, 2, 10, 50):
        right = np.tri(n + 1, n, -1)  # 0, 1, ..., n right answers
        lows, highs = ranks.gaffke(100.0 * right, 100.0, levels)
        for level, low, high in zip(levels, lows, highs, strict=True):
            for k in range(n + 1):
                wanted = stats.binomtest(k, n).proportion_ci(level, "exact")
                limits = (low[k] / 100.0, high[k] / 100.0)
                assert_allclose(limits, (wanted.low, wanted.high), atol=1e-9)


def one_mean(values, level):
    low, high = np.ravel(ranks.gaffke(np.array([values]), 1.0, np.array([level])))
    return low, high


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=50), st.floats(0.5, 0.999))
def test_gaffkes_limits_hold_the_mean_and_mirror_those_of_the_complements(values, level):
    low, high = one_mean(values, level)
    assert 0.0 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 1.0
    least, most = one_mean(1.0 - np.array(values[::-1]), level)
    assert_allclose((1.0 - most, 1.0 - least), (low, high), atol=1e-8)
    wider, _ = one_mean(values, (1.0 + level) / 2.0)
    assert wider <= low + 1e-9
