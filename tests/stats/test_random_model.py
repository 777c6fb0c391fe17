"""Random rankings against enumeration, published tables, exact recursions and SciPy."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats import random_model
from rankeval_pd.stats.distributions import Finite, Infinite
from rankeval_pd.stats.random_model import (
    _critical_path,
    boundary_probability,
    bounds,
    critical_counts,
    envelope,
    parametric_bound,
    simultaneous_p_values,
)
from tests.stats import exact

# ---- Bounds of one list


LEVELS = [1e-9, 1e-4, 0.9, 0.5, 0.1, 0.05]
EQUAL = Fraction(1, 10**12)


def enumerated(p, law):
    """Return critical, P(X >= c)/p, P(X = c - 1)/p, discrete and interpolated, by their words."""
    p, counts = Fraction(p), range(min(law), max(law) + 2)
    critical = next(i for i in counts if exact.tail(law, i) <= p * (1 + EQUAL))
    discrete = next(i for i in counts if exact.tail(law, i + 1) < p * (1 - EQUAL))
    # the paper's: between the cumulative probabilities at discrete - 1 and discrete
    step = (exact.tail(law, discrete) - p) / law[discrete]
    interpolated = max(discrete - 1 + step, Fraction(0))
    tail, below = exact.tail(law, critical) / p, law[critical - 1] / p
    return [float(x) for x in (critical, tail, below, discrete, interpolated)]


def check_all(p, population, laws):
    """Compare the walk over n = 1, 2, ... and the bounds of each n with enumeration."""
    n = np.arange(1.0, len(laws) + 1.0)
    expected = np.array([enumerated(p, law) for law in laws]).T
    if population.prior < 1.0:  # where nothing is random, there is no walk
        walked = _critical_path(math.log(p), 1.0, float(len(laws)), population)
        assert_array_equal(walked[0], expected[0])
        # a tail of 0 is reached by subtraction of what is at most p
        assert_allclose(walked[1:], expected[1:3], rtol=1e-10, atol=1e-12)
    found = bounds(p, n, population)
    assert_array_equal(found.critical, expected[0])
    assert_array_equal(found.discrete, expected[3])
    assert_allclose(found.interpolated, expected[4], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("p", LEVELS)
@pytest.mark.parametrize("total", [1, 2, 3, 6, 13])
def test_finite_by_enumeration(p, total):
    """Every n for small sets, computed in fractions, including n = N, N+ = 0 and N+ = N."""
    for positive in range(total + 1):
        laws = [exact.hypergeometric(total, positive, n) for n in range(1, total + 1)]
        check_all(p, Finite(total, positive), laws)


@pytest.mark.parametrize("p", LEVELS)
@pytest.mark.parametrize("prior", [0.0, 1.0, 1e-6, 0.97, 0.5, 0.2])
def test_infinite_by_enumeration(p, prior):
    """Every n up to 30, computed in fractions, including priors of 0 and 1."""
    check_all(p, Infinite(prior), [exact.binomial(n, prior) for n in range(1, 31)])


@pytest.mark.parametrize("total", [12, 7])
def test_a_level_that_is_a_probability_is_reached(total):
    """p is P(X >= i) to rounding for some n and i: equality counts, for every such p."""
    for positive in range(1, total):
        laws = [exact.hypergeometric(total, positive, n) for n in range(1, total + 1)]
        levels = {float(exact.tail(law, i)) for law in laws for i in law} - {1.0}
        for p in levels:
            check_all(p, Finite(total, positive), laws)


def test_macskassy_figure_1_and_rocchio():
    """Macskassy (2005), Figure 1, and section 4's p = 1e-17 at k = 486."""
    found = bounds(0.5, [20.0], Finite(200, 40))
    assert (found.discrete[0], round(found.interpolated[0], 4)) == (4, 3.4254)
    assert round(parametric_bound(0.5, [20.0], 0.2)[0], 4) == 3.3961
    assert bounds(1e-17, [486.0], Finite(16769, 3123)).discrete == 168
    assert bounds(1e-17, [486.0], Infinite(3123 / 16769)).discrete == 170


@pytest.mark.parametrize("population", [Finite(9, 9), Finite(9, 0), Infinite(0.3), Finite(9, 4)])
def test_at_a_level_of_one_the_bound_is_the_lowest_possible_count(population):
    """So it is at a level that equals 1 to a relative 1e-12."""
    n = np.arange(1.0, 10.0)
    found = bounds(1.0, n, population)
    assert_array_equal(found.discrete, population.support(n)[0])
    assert_array_equal(found.critical, found.discrete)
    for near, one in zip(bounds(1 - 1e-13, n, population), found, strict=True):
        assert_allclose(near, one, atol=1e-9)


def test_no_lists_have_no_bounds():
    assert [x.size for x in bounds(0.05, np.empty(0), Finite(10, 3))] == [0, 0, 0]
    assert parametric_bound(0.05, np.empty(0), 0.3).size == 0


@pytest.mark.full
@pytest.mark.parametrize("p", [0.05, 1e-17])
@pytest.mark.parametrize("population", [Finite(10**6, 110_937), Finite(10**6, 7), Infinite(0.11)])
def test_bounds_of_all_n_are_those_of_each_n(p, population):
    """A million n at once against the search of 50 of them."""
    walked = bounds(p, np.arange(1.0, 10**6 + 1.0), population)
    n = np.append([1, 10**6], np.random.default_rng(1).integers(1, 10**6, 48, endpoint=True))
    searched = bounds(p, n.astype(float), population)
    assert_array_equal(walked.critical[n - 1], searched.critical)
    assert_array_equal(walked.discrete[n - 1], searched.discrete)
    assert_allclose(walked.interpolated[n - 1], searched.interpolated, rtol=1e-10, atol=1e-10)
    assert set(np.diff(walked.critical)) <= {0.0, 1.0}


@given(st.data())
def test_bounds_rise_by_0_or_1_and_a_smaller_p_has_larger_ones(data):
    total = data.draw(st.integers(1, 2000))
    population = Finite(total, data.draw(st.integers(0, total)))
    smaller, p = sorted(data.draw(st.tuples(*[st.floats(1e-300, 0.99)] * 2)))
    n = np.arange(1.0, total + 1.0)
    found = bounds(p, n, population)
    for path in (found.discrete, found.critical):
        assert set(np.diff(path)) <= {0.0, 1.0}
    assert (found.discrete <= found.critical).all()
    assert (found.critical <= found.discrete + 1).all()
    assert (found.interpolated <= found.discrete + 1e-9).all()
    assert (found.interpolated >= np.maximum(found.discrete - 1, 0) - 1e-9).all()
    assert (bounds(smaller, n, population).critical >= found.critical).all()


# ---- Parametric bounds


def parametric_error(x, p, n, prior):
    """Return the relative error of the root x of I_z(x + 1, n - x) = p."""
    return exact.root_error(lambda at: exact.betainc(at + 1, mpf(n) - at, prior), x, p)


@pytest.mark.parametrize("p", [0.9, 0.5, 1e-6, 1e-100, 1e-300, 1e-17, 0.05])
@pytest.mark.parametrize("prior", [1e-4, 0.97, 0.5, 0.1109369])
def test_parametric_bound_solves_its_equation(p, prior):
    """I_z(x + 1, n - x) in mpmath with 50 digits; 0 where P(X > 0) = 1 - (1 - z)^n <= p.

    Where p is below z^n the root is in (n - 1, n), or even the float below n has a tail > p.
    """
    n = np.array([1.0, 2, 3, 5, 20, 100, 486, 5000, 10**5, 10**6])
    for size, x in zip(n, parametric_bound(p, n, prior), strict=True):
        if -np.expm1(size * np.log1p(-prior)) <= p:
            assert x == 0.0
        elif x == size:
            below = np.nextafter(size, 0.0)
            assert exact.betainc(below + 1, mpf(size) - below, prior) > p
        else:
            assert x > size - 1 or size * np.log(prior) < np.log(p)
            exact.assert_within(parametric_error(x, p, size, prior), 1e-10, x)


@pytest.mark.parametrize("p", [0.05, 1e-17, 1e-300])
@pytest.mark.parametrize("prior", [0.01, 0.1862, 0.6])
def test_parametric_bound_for_very_many(p, prior):
    """A hundred thousand n, against mpmath at a few of them."""
    n = np.arange(1.0, 10**5 + 1.0)
    found = parametric_bound(p, n, prior)
    assert (np.diff(found) >= 0).all()
    for size in np.random.default_rng(2).choice(n[3000:], 8):
        x = found[int(size) - 1]
        exact.assert_within(parametric_error(x, p, size, prior), 1e-10, x)
    few = np.unique(np.geomspace(1, 10**5, 60).round())
    assert_allclose(found[few.astype(int) - 1], parametric_bound(p, few, prior), rtol=1e-10)


def test_parametric_bounds_without_and_with_only_positives():
    n = np.array([1.0, 7.0])
    assert_array_equal(parametric_bound(1.0, n, 0.3), [0, 0])
    assert_array_equal(parametric_bound(0.1, n, 0.0), [0, 0])
    assert_array_equal(parametric_bound(0.1, n, 1.0), n)


# ---- Probability that a boundary is reached


def crossing_probability(rows, population):
    """Return P(X_k >= row_k for some k), for each row of k = 1, 2, ...; inf: none is asked for."""
    asked = np.flatnonzero(np.isfinite(rows).any(axis=0))
    return boundary_probability(rows[:, asked], (asked + 1).astype(float), population)


def exactly(asked, total: int, positive: int) -> Fraction:
    """Return the probability of reaching the boundary by counting the orders that do."""
    orders, reached = {0: 1}, 0
    for k, bound in enumerate(asked, start=1):
        ahead: dict[int, int] = {}
        for i, ways in orders.items():
            if i < positive:
                ahead[i + 1] = ahead.get(i + 1, 0) + ways
            if k - 1 - i < total - positive:
                ahead[i] = ahead.get(i, 0) + ways
        ways_left = {i: math.comb(total - k, positive - i) for i in ahead}
        reached += sum(ways * ways_left[i] for i, ways in ahead.items() if i >= bound)
        orders = {i: ways for i, ways in ahead.items() if i < bound}
    return Fraction(reached, math.comb(total, positive))


def endless(asked, prior: Fraction) -> Fraction:
    """Return the same for an endless random sequence."""
    law, reached = {0: Fraction(1)}, Fraction(0)
    for bound in asked:
        ahead: dict[int, Fraction] = {}
        for i, p in law.items():
            ahead[i + 1] = ahead.get(i + 1, 0) + p * prior
            ahead[i] = ahead.get(i, 0) + p * (1 - prior)
        reached += sum(p for i, p in ahead.items() if i >= bound)
        law = {i: p for i, p in ahead.items() if i < bound}
    return reached


def boundaries(seed: int, total: int, positive: int) -> np.ndarray:
    """Return five boundaries: near the mean, anywhere, and with gaps where nothing is asked."""
    rng = np.random.default_rng(seed)
    last = rng.integers(1, total + 1)
    mean = np.arange(1, last + 1) * positive / total
    found = np.round(mean + rng.normal([[0.5], [1], [2], [3], [4]], 1.5, (5, last)))
    found[2] = rng.integers(-1, positive + 3, last)
    found[3:, rng.random(last) < 0.6] = np.inf
    return found


@pytest.mark.parametrize("seed", range(25))
def test_every_order_counted(seed):
    """All orders enumerated in fractions."""
    rng = np.random.default_rng(seed)
    total = int(rng.integers(1, 60))
    positive = int(rng.integers(0, total + 1))
    asked = boundaries(seed, total, positive)
    found = crossing_probability(asked, Finite(total, positive))
    for row, p in zip(asked, found, strict=True):
        assert p == pytest.approx(float(exactly(row, total, positive)), rel=1e-13)


@pytest.mark.parametrize("seed", range(10))
def test_a_boundary_of_an_endless_sequence(seed):
    asked = boundaries(seed, 40, 10 + seed)
    prior = (10 + seed) / 40
    found = crossing_probability(asked, Infinite(prior))
    for row, p in zip(asked, found, strict=True):
        assert p == pytest.approx(float(endless(row, Fraction(prior))), rel=1e-13)


def test_no_boundary_is_never_reached_and_what_is_sure_always():
    population = Finite(9.0, 4.0)
    assert crossing_probability(np.empty((0, 3)), population).shape == (0,)
    assert crossing_probability(np.empty((2, 0)), population).tolist() == [0.0, 0.0]
    assert crossing_probability(np.full((1, 9), np.inf), population).tolist() == [0.0]
    assert crossing_probability(np.array([[np.inf, 0.0, 5.0]]), population).tolist() == [1.0]
    for positive in (0, 7):
        sure = np.minimum(np.arange(1.0, 8.0), positive)
        found = crossing_probability(np.array([sure, sure + 1.0]), Finite(7.0, float(positive)))
        assert found.tolist() == [1.0, 0.0]


@pytest.mark.full
@pytest.mark.parametrize(
    ("level", "total", "positive"),
    [(1e-20, 300, 80), (1e-90, 500, 350), (1e-114, 700, 200), (1e-250, 900, 450)],
)
def test_tiny_probabilities(level, total, positive):
    """All orders enumerated in integers."""
    population = Finite(total, positive)
    k = np.arange(1.0, total + 1.0)
    asked = critical_counts(np.log([level]), k, population)
    (found,) = crossing_probability(asked, population)
    wanted = exactly(asked[0], total, positive)
    assert level / 100 < wanted < 1e4 * level
    assert found == pytest.approx(float(wanted), rel=1e-11)


@pytest.mark.parametrize(("n_x", "n_y"), [(8, 12), (30, 50), (200, 37)])
def test_smirnov_of_two_samples(n_x, n_y):
    """Smirnov's test, whose statistic defines a different boundary."""
    total = n_x + n_y
    for seed in range(4):
        drawn = np.random.default_rng(seed).permutation(total) - 0.12 * total * seed
        x, y = np.sort(drawn[:n_x]), np.sort(drawn[n_x:])
        known = stats.ks_2samp(x, y, alternative="greater", method="exact")
        ahead = max(
            Fraction(i + 1, n_x) - Fraction(int((y <= x[i]).sum()), n_y) for i in range(n_x)
        )
        assert float(ahead) == pytest.approx(known.statistic, rel=1e-12)
        scale = Fraction(1, n_x) + Fraction(1, n_y)
        asked = [math.ceil((ahead + Fraction(k, n_y)) / scale) for k in range(1, total + 1)]
        (found,) = crossing_probability(np.array([asked], float), Finite(total, n_x))
        assert found == pytest.approx(known.pvalue, rel=1e-11)


@pytest.mark.parametrize(("k", "count"), [(1000, 1), (5000, 464), (5000, 530), (1000, 40)])
def test_what_nearly_every_ranking_reaches(k, count):
    """One list in which hardly any ranking has fewer; a later list matters no more."""
    asked = np.full((2, 5102), np.inf)
    asked[:, k - 1] = count
    asked[1, 5050] = 565
    found = crossing_probability(asked, Finite(5102.0, 566.0))
    wanted = stats.hypergeom.sf(count - 1, 5102, 566, k)
    assert found == pytest.approx([wanted, found[1]], rel=1e-12)
    assert found[1] >= found[0] * (1 - 1e-12)


def test_boundaries_together_are_those_of_each_alone():
    """Boundaries that differ much, and more of them than are computed together."""
    population = Finite(700.0, 90.0)
    k = np.arange(1.0, 701.0)
    levels = np.log(np.geomspace(1e-200, 0.9, 300))
    asked = critical_counts(levels, k, population)
    asked[::7, ::3] = np.inf
    together = crossing_probability(asked, population)
    alone = [crossing_probability(asked[[i]], population)[0] for i in range(0, 300, 23)]
    assert_allclose(together[::23], alone, rtol=1e-12)


@pytest.mark.parametrize(
    ("kind", "p", "first", "last", "known"),
    [
        ("discrete", 0.05, 1, 5101, 0.972),
        ("discrete", 0.001, 100, 2000, 0.0203),
        ("critical", 0.05, 1, 5101, 0.573),
        ("critical", 0.001, 100, 2000, 0.0133),
    ],
)
def test_bounds_of_single_n_are_reached_somewhere(kind, p, first, last, known):
    """Values of an independent program, 5,102 candidates with 566 positives."""
    population, n = Finite(5102.0, 566.0), np.arange(float(first), last + 1.0)
    asked = random_model.bound(kind, p, n, population)[np.newaxis]
    assert boundary_probability(asked, n, population)[0] == pytest.approx(known, rel=5e-3)


# ---- Envelopes and simultaneous p-values


@given(st.integers(1, 16), st.floats(0.001, 0.999), st.data())
def test_envelope_is_the_largest_level(total, alpha, data):
    positive = data.draw(st.integers(0, total))
    n = data.draw(st.lists(st.integers(1, total), min_size=1, unique=True))
    population = Finite(total, positive)
    found = envelope(alpha, np.array(n, float), population)
    limit = Fraction(alpha) * (1 + Fraction(1, 10**12))  # equal to a relative 1e-12
    laws = {k: exact.hypergeometric(total, positive, k) for k in n}
    tails = {k: {i: exact.tail(law, i) for i in range(positive + 2)} for k, law in laws.items()}
    levels = sorted({p for of_k in tails.values() for p in of_k.values() if p <= limit})

    def at(level):
        return {k: min(i for i in range(k + 2) if tails[k].get(i, 0) <= level) for k in n}

    def reached(level):
        counts = at(level)
        return exactly([counts.get(k, math.inf) for k in range(1, max(n) + 1)], total, positive)

    best = max((p for p in levels if reached(p) <= limit), default=Fraction(0))
    assert found.counts.tolist() == [at(best)[k] for k in n]
    assert found.local_level == pytest.approx(float(best), rel=1e-12)


def test_an_envelope_of_no_n_and_of_n_in_any_order():
    assert math.isnan(envelope(0.05, np.empty(0), Finite(9.0, 3.0)).local_level)
    n = np.array([99_990.0, 4e4, 1e4, 5e3, 10.0, 1.0])
    assert envelope(0.05, n, Finite(1e5, 300.0)).counts[-1] == 1.0


@pytest.mark.parametrize(
    ("first", "last", "level"), [(1, 5102, 0.00157), (1, 2000, 0.0034), (100, 2000, 0.00483)]
)
def test_envelope_of_5102_candidates(first, last, level):
    """Levels of an independent program; its sizes were .04979, .04999, .04997."""
    population, n = Finite(5102.0, 566.0), np.arange(float(first), last + 1.0)
    found = envelope(0.05, n, population)
    assert found.local_level == pytest.approx(level, rel=0.01)
    (size,) = boundary_probability(found.counts[np.newaxis], n, population)
    assert 0.0497 < size <= 0.05


@pytest.mark.parametrize(("total", "positive"), [(9, 4), (11, 3), (10, 5)])
def test_adjusted_by_all_orders(total, positive):
    """Proportion of all orderings whose smallest p-value is at most the observed p-value."""
    n = np.array([2, 3, 5, total - 1, total])
    laws = [exact.hypergeometric(total, positive, int(k)) for k in n]
    tails = [[exact.tail(law, i) for i in range(positive + 1)] for law in laws]
    orders = [np.isin(range(total), c) for c in itertools.combinations(range(total), positive)]
    counts = np.array([np.cumsum(order)[n - 1] for order in orders])
    p_values = [[row[i] for row, i in zip(tails, tp, strict=True)] for tp in counts]
    for place in range(0, len(counts), len(counts) // 12):
        p, tp = p_values[place], counts[place].astype(float)
        log_p = np.array([exact.log(x) for x in p])
        found = simultaneous_p_values(log_p, tp, n.astype(float), Finite(total, positive))
        wanted = [sum(min(each) <= x for each in p_values) / len(p_values) for x in p]
        assert_allclose(found, wanted, rtol=1e-12)


def test_adjusted_p_values_in_any_order_of_the_lists():
    rng = np.random.default_rng(2)
    n = np.arange(1.0, 41.0)
    tp = np.cumsum(rng.random(40) < 0.5).astype(float)
    for population in (Finite(60.0, 25.0), Infinite(0.4)):
        log_p = population.tails(tp, n).ge
        wanted = simultaneous_p_values(log_p, tp, n, population)
        order = rng.permutation(40)
        found = simultaneous_p_values(log_p[order], tp[order], n[order], population)
        assert_allclose(found, wanted[order], rtol=1e-12)
