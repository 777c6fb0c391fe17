"""Totals of partly judged sets: by enumeration of samples, and formulas written out with SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from rankeval_pd.stats.judged import Design, JudgedSample, hypergeometric_limits, total_difference

TRUE = np.array([True, False, True, True, False, True])
CHANCE = np.array([0.9, 0.5, 0.25, 0.4, 0.8, 0.15])


def sums(design, judged, true, chance):
    stratum = np.zeros(judged.size, dtype=np.int64)
    return design.parts(JudgedSample(judged, true, chance, stratum)).sum(axis=0)


def test_limits_of_korn_and_graubard():
    """Clopper-Pearson limits for the effective number of judgments (Korn and Graubard 1998)."""
    rng = np.random.default_rng(2)
    chance = rng.uniform(0.1, 0.5, 60)
    true, judged = rng.random(60) < 0.3, rng.random(60) < chance
    design = Design(0, "estimate", 0.9)
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
    design = Design(1, "estimate", 0.9)
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


# ---- Samples of strata, enumerated with SciPy's laws


def test_limits_of_a_finite_population_are_those_of_every_number_of_positives():
    for size, judged in ((1, 1), (9, 4), (30, 7), (30, 30), (12, 0), (60, 12)):
        for tp in range(judged + 1):
            assert hypergeometric_limits(tp, judged, size, 0.9) == limits(tp, judged, size)


def _strata(n_sizes, truths, counts):
    """Enumerate every sample of two strata: probabilities, and what was seen."""
    for judged in np.ndindex(*(t + 1 for t in counts)):
        law = [
            stats.hypergeom.pmf(t, size, true, m)
            for t, size, true, m in zip(judged, n_sizes, truths, counts, strict=True)
        ]
        yield np.prod(law), judged


def test_two_rates_cover_and_are_unbiased_in_every_sample():
    """All samples of two strata, by SciPy's law: the mean of the estimates, and the coverage."""
    design = Design(2, "estimate", 0.95)
    sizes, counts = (30, 20), (6, 10)
    for truths in [(10, 10), (3, 15), (25, 2), (0, 9)]:
        samples = [(p, tp) for p, tp in _strata(sizes, truths, counts) if p > 0]
        sums = np.array([[50, 16, sum(tp), *sizes, *counts, *tp] for _, tp in samples], dtype=float)
        found = design.total(sums)
        law = np.array([p for p, _ in samples])
        assert law @ found.estimate == pytest.approx(sum(truths), rel=1e-9)
        inside = (found.low <= sum(truths)) & (sum(truths) <= found.high)
        assert law @ inside >= 0.94


def test_a_region_without_judgements_has_the_limits_of_what_is_possible():
    """Every truth of the unseen region is in them, whatever the seen one shows."""
    design = Design(1, "estimate", 0.95)
    counts = np.array([[5.0, 3.0, 3.0, 5.0, 3.0, 3.0], [5.0, 0.0, 0.0, 5.0, 0.0, 0.0]])
    seen, unseen = (design.total(row) for row in counts)
    for a, b in ((seen, unseen), (unseen, seen)):
        found = total_difference(a, b)
        assert np.isnan(found.estimate)
        assert (found.low, found.high) == (a.low - b.high, a.high - b.low)
        assert -5 <= found.low < found.high <= 5
