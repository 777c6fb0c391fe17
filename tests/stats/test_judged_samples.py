"""Totals of judged samples: every population and every sample, enumerated with SciPy's laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score

from rankeval_pd.stats import judged as totals
from rankeval_pd.stats.distributions import first_near, first_true
from rankeval_pd.stats.judged import average_precision_bounds, hypergeometric_limits


def test_limits_of_a_finite_population_are_those_of_every_number_of_positives():
    for size, judged in ((1, 1), (9, 4), (30, 7), (30, 30), (12, 0), (60, 12)):
        for tp in range(judged + 1):
            total = np.arange(tp, size - (judged - tp) + 1)
            above = stats.hypergeom.sf(tp - 1, size, total, judged) > 0.025
            possible = total[above & (stats.hypergeom.cdf(tp, size, total, judged) > 0.025)]
            found = hypergeometric_limits(tp, judged, size, 0.95)
            assert found == (possible.min(), possible.max())


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
    design = totals.Design(2, "estimate", "ratio", 0.95)
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
    design = totals.Design(1, "estimate", "ratio", 0.95)
    counts = np.array([[5.0, 3.0, 3.0, 5.0, 3.0, 3.0], [5.0, 0.0, 0.0, 5.0, 0.0, 0.0]])
    seen, unseen = (design.total(row) for row in counts)
    for a, b in ((seen, unseen), (unseen, seen)):
        found = totals.total_difference(a, b)
        assert np.isnan(found.estimate)
        assert (found.low, found.high) == (a.low - b.high, a.high - b.low)
        assert -5 <= found.low < found.high <= 5


def test_bounds_of_average_precision_are_those_of_every_completion():
    rng = np.random.default_rng(0)
    for trial in range(30):
        size = int(rng.integers(2, 8))
        score = -np.sort(-rng.integers(0, 4 if trial % 2 else 99, size).astype(float))
        true, judged = rng.random((2, size)) < 0.5
        tried = []
        for filled in np.ndindex(*([2] * int((~judged).sum()))):
            label = true.copy()
            label[~judged] = np.array(filled, dtype=bool)
            if label.any():
                tried.append(average_precision_score(label, score))
        if tried:
            found = average_precision_bounds(score, true, judged)
            assert found == pytest.approx((min(tried), max(tried)), rel=1e-12)


@pytest.mark.parametrize(("ends", "rates"), [([50, 200], (1.0, 0.3, 0.05)), ([], (0.3,))])
def test_average_precision_of_pools_and_of_few_is_covered(ends, rates):
    rng, held, lowest = np.random.default_rng(4), [], []
    stratum = np.searchsorted(ends, np.arange(1, 1_001))
    rate = np.array(rates)[stratum]
    design = totals.Design(len(rates), "estimate", "ratio", 0.95)
    for _ in range(300):
        score = rng.normal(size=1_000) + 1.5 * (np.arange(1_000) < 100)
        order = np.argsort(-score)
        gold, seen = order < 100, rng.random(1_000) < rate
        sample = totals.JudgedSample(seen, gold & seen, rate, stratum)
        value, low, high = totals.inferred_average_precision(score[order], sample, design)
        assert low <= value <= high
        truth = (np.arange(1, 101) / (np.flatnonzero(gold) + 1)).mean()
        held.append(low <= truth <= high)
        if ends:  # no positive is missed but those that the total allows
            every = design.total(design.parts(sample).sum(axis=0))
            lowest.append(low / (value * every.estimate / every.high))
    assert np.mean(held) >= 0.92
    assert not ends or np.median(lowest) == pytest.approx(1.0)


@given(st.data())
def test_a_search_from_a_guess_finds_the_first(data):
    """Wherever the guess is, and where the predicate never holds: the upper end."""
    low = np.array(data.draw(st.lists(st.integers(-50, 50), min_size=1, max_size=6)), dtype=float)
    size = low.size
    counts = st.lists(st.integers(0, 10**6), min_size=size, max_size=size)
    high = low + np.array(data.draw(counts), dtype=float)
    guess = low + np.array(data.draw(counts), dtype=float) - 1_000.0
    change = low + np.array(data.draw(counts), dtype=float) - 3.0

    def rising(x: np.ndarray, these: object = ...) -> np.ndarray:
        return x >= change[these]

    found = first_near(rising, low, high, guess)
    assert found.tolist() == first_true(rising, low, high).tolist()
    assert found.tolist() == np.clip(change, low, high).tolist()
