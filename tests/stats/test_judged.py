"""Totals of partly judged sets: by enumeration of samples, and formulas written out with SciPy."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from rankeval_pd.stats import judged as judged_sums
from rankeval_pd.stats import ranking
from rankeval_pd.stats.judged import Design, JudgedSample, total_difference

TRUE = np.array([True, False, True, True, False, True])
CHANCE = np.array([0.9, 0.5, 0.25, 0.4, 0.8, 0.15])


def sums(design, judged, true, chance):
    stratum = np.zeros(judged.size, dtype=np.int64)
    return design.parts(JudgedSample(judged, true, chance, stratum)).sum(axis=0)


def check_without_bias(totals, variances, wanted, chances=None):
    mean = np.average(totals, weights=chances)
    assert_allclose(mean, wanted, rtol=1e-12)
    spread = np.average((np.array(totals) - mean) ** 2, weights=chances)
    assert_allclose(np.average(variances, weights=chances), spread, rtol=1e-12)


def test_horvitz_and_thompsons_total_and_variance_have_no_bias():
    """Each candidate is judged with its own probability; so of average precision's influences."""
    design = Design(0, "estimate", "horvitz-thompson", 0.95, 1 / CHANCE.min())
    influence, stratum = np.array([0.3, -0.2, 0.5, -0.4, 0.1, -0.6]), np.zeros(6, dtype=np.int64)
    samples = [np.array(x) for x in itertools.product([False, True], repeat=6)]
    chances = [np.where(x, CHANCE, 1 - CHANCE).prod() for x in samples]
    found = [sums(design, x, TRUE, CHANCE) for x in samples]
    check_without_bias([x[4] for x in found], [x[6] for x in found], TRUE.sum(), chances)
    totals = [(influence / CHANCE)[x].sum() for x in samples]
    error_of = np.sqrt(1 - CHANCE) / CHANCE * influence
    variances = [judged_sums._candidate_variance(error_of[x], stratum[x], design) for x in samples]
    check_without_bias(totals, variances, influence.sum(), chances)


def test_the_variance_of_strata_has_no_bias():
    """Over all samples of three of seven and of two of four (Cochran 1977, 5.3)."""
    design = Design(2, "estimate", "ratio", 0.95)
    influence, stratum = np.random.default_rng(3).normal(size=11), np.repeat([0, 1], [7, 4])
    rate = np.repeat([3 / 7, 2 / 4], [7, 4])
    each = itertools.combinations(range(7), 3), itertools.combinations(range(7, 11), 2)
    samples = [[*one, *other] for one, other in itertools.product(*each)]
    error_of = np.sqrt(1 - rate) / rate * influence
    totals = [(influence / rate)[x].sum() for x in samples]
    variances = [judged_sums._candidate_variance(error_of[x], stratum[x], design) for x in samples]
    check_without_bias(totals, variances, influence.sum())


def test_limits_of_average_precision_written_out():
    """Symmetric for the logit, with Student's quantile of one less than the positives."""
    found = judged_sums._judged_limits(0.3, 0.05, 6, (0.0, 1.0), 0.9)
    half = stats.t.ppf(0.95, 5) * 0.05 / (0.3 * 0.7)
    wanted = stats.logistic.cdf(stats.logistic.ppf(0.3) + np.array([-half, half]))
    assert_allclose(found, wanted, rtol=1e-12)
    assert judged_sums._judged_limits(0.3, 0.05, 6, (0.25, 0.31), 0.9) == (0.25, 0.31)


def test_what_stands_at_or_below_each_candidate():
    """Those of equal scores included, by plain comparison."""
    score, values = np.array([5.0, 4, 4, 4, 2, 1, 1]), np.array([1.0, 2, 4, 8, 16, 32, 64])
    wanted = [values[score <= x].sum() for x in score]
    assert_allclose(judged_sums._from_on(values, ranking.block_edges(score)[0]), wanted, rtol=0)


def test_gamma_limits_of_fay_and_feuer():
    """Fay and Feuer's (1997) chi-squared quantiles, with an added candidate of maximum weight."""
    rng = np.random.default_rng(1)
    chance = rng.uniform(0.1, 0.5, 400)
    true, judged = rng.random(400) < 0.3, rng.random(400) < chance
    heaviest = float(1 / chance[~judged].min())
    design = Design(0, "estimate", "horvitz-thompson", 0.9, heaviest)
    found = design.total(sums(design, judged, true, chance))
    weight = 1 / chance[judged & true]
    y, v = weight.sum(), (weight**2 * (1 - chance[judged & true])).sum()
    assert_allclose(found.estimate, y, rtol=1e-12)
    assert_allclose(found.low, v / (2 * y) * stats.chi2.ppf(0.05, 2 * y**2 / v), rtol=1e-10)
    y, v = y + heaviest, v + heaviest**2 * (1 - 1 / heaviest)
    assert_allclose(found.high, v / (2 * y) * stats.chi2.ppf(0.95, 2 * y**2 / v), rtol=1e-10)


def test_limits_of_korn_and_graubard():
    """Clopper-Pearson limits for the effective number of judgments (Korn and Graubard 1998)."""
    rng = np.random.default_rng(2)
    chance = rng.uniform(0.1, 0.5, 60)
    true, judged = rng.random(60) < 0.3, rng.random(60) < chance
    design = Design(0, "estimate", "ratio", 0.9)
    found = design.total(sums(design, judged, true, chance))
    y, w = true[judged], 1 / chance[judged]
    share = np.average(y, weights=w)
    variance = ((1 - 1 / w) * w**2 * (y - share) ** 2).sum() / w.sum() ** 2
    worth = share * (1 - share) / variance
    worth *= (stats.norm.ppf(0.95) / stats.t.ppf(0.95, judged.sum() - 1)) ** 2
    x = share * worth
    assert_allclose(found.estimate, 60 * share, rtol=1e-12)
    assert_allclose(found.low, 60 * stats.beta.ppf(0.05, x, worth - x + 1), rtol=1e-9)
    assert_allclose(found.high, 60 * stats.beta.ppf(0.95, x + 1, worth - x), rtol=1e-9)


def limits(tp, judged, size):
    """Return the numbers that neither tail rejects at .05, of all there are, by SciPy."""
    law = [stats.hypergeom(size, t, judged) for t in range(size + 1)]
    kept = [t for t, x in enumerate(law) if min(x.sf(tp - 1), x.cdf(tp)) > 0.05]
    return kept[0], kept[-1]


def drawn(size, judged, tp):
    """Return the total of a set of which a simple random sample was judged, at level .9."""
    ranks, rate = np.arange(size), np.full(size, judged / size)
    design = Design(1, "estimate", "ratio", 0.9)
    return design.total(sums(design, ranks < judged, ranks < tp, rate))


def test_the_difference_of_two_samples():
    """Zou and Donner (2008), from limits by enumeration; the other way round it is its mirror."""
    size = 40
    for (t_a, m_a), (t_b, m_b) in [((9, 12), (2, 15)), ((0, 5), (3, 30)), ((7, 40), (1, 4))]:
        a, b = size * t_a / m_a, size * t_b / m_b
        (low_a, high_a), (low_b, high_b) = limits(t_a, m_a, size), limits(t_b, m_b, size)
        below, above = np.hypot(a - low_a, high_b - b), np.hypot(high_a - a, b - low_b)
        found = total_difference(drawn(size, m_a, t_a), drawn(size, m_b, t_b))
        assert_allclose(found, (a - b, a - b - below, a - b + above), rtol=1e-12)
