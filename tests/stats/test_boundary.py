"""Boundary-crossing probabilities against exact recursions, enumeration and SciPy."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankeval_pd.stats import random_model as boundary
from rankeval_pd.stats import random_model as random_counts
from rankeval_pd.stats.distributions import Finite, Infinite
from rankeval_pd.stats.random_model import (
    boundary_probability,
    critical_counts,
    envelope,
    simultaneous_p_values,
)
from tests.conftest import examples
from tests.stats import exact

SIZES = st.integers(0, 16).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


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


@pytest.fixture(params=[True, False], ids=["jumps", "steps"])
def either_way(request, monkeypatch):
    """From one end of the boundary to the next, and from candidate to candidate."""
    monkeypatch.setattr(boundary, "_jumps_cost_less", lambda *_: request.param)


@pytest.mark.parametrize("seed", range(40))
def test_every_order_counted(seed, either_way):
    """All orders enumerated in fractions."""
    rng = np.random.default_rng(seed)
    total = int(rng.integers(1, 60))
    positive = int(rng.integers(0, total + 1))
    asked = boundaries(seed, total, positive)
    found = crossing_probability(asked, Finite(float(total), float(positive)))
    for row, p in zip(asked, found, strict=True):
        assert p == pytest.approx(float(exactly(row, total, positive)), rel=1e-13)


@pytest.fixture(params=[1, 3, 16])
def shortest(request, monkeypatch):
    """How many rises a stretch has that is not halved."""
    monkeypatch.setattr(boundary, "_SHORTEST_STRETCH", request.param)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(8))
def test_stretches_are_halved(seed, shortest, monkeypatch):
    """All orders counted: many rises, and few candidates of which any number may be positive."""
    monkeypatch.setattr(boundary, "_jumps_cost_less", lambda *_: True)
    total, positive = 300, 130 + seed
    asked = boundaries(seed, total, positive)
    found = crossing_probability(asked, Finite(float(total), float(positive)))
    for row, p in zip(asked, found, strict=True):
        assert p == pytest.approx(float(exactly(row, total, positive)), rel=1e-13)


@pytest.mark.parametrize(
    ("total", "positive", "log_level"), [(9000, 900, -7.0), (4000, 3000, -90.0), (6000, 30, -3.0)]
)
def test_low_counts_walk_whole_stretches(total, positive, log_level):
    """The same as from candidate to candidate, where most counts are far below the boundary."""
    population, n = Finite(float(total), float(positive)), np.arange(1.0, total + 1.0)
    counts = critical_counts(np.array([log_level]), n, population)
    (p,) = boundary.boundary_probability(counts, n, population)
    prior = round(population.prior * 2.0**53) / 2.0**53
    asked = np.clip(counts, 1.0, positive + 1.0).astype(np.int64)
    (steps,) = boundary._crossing_by_steps(asked, n.astype(np.int64), prior, population)
    assert p == pytest.approx(steps, rel=1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_an_endless_sequence(seed, either_way):
    asked = boundaries(seed, 40, 10 + seed)
    prior = (10 + seed) / 40
    found = crossing_probability(asked, Infinite(prior))
    for row, p in zip(asked, found, strict=True):
        assert p == pytest.approx(float(endless(row, Fraction(prior))), rel=1e-13)


def test_no_row_and_no_k():
    population = Finite(9.0, 4.0)
    assert crossing_probability(np.empty((0, 3)), population).shape == (0,)
    assert crossing_probability(np.empty((2, 0)), population).tolist() == [0.0, 0.0]
    assert crossing_probability(np.full((1, 9), np.inf), population).tolist() == [0.0]
    assert crossing_probability(np.array([[np.inf, 0.0, 5.0]]), population).tolist() == [1.0]


@pytest.mark.parametrize("positive", [0, 7])
def test_nothing_is_random(positive):
    sure = np.minimum(np.arange(1.0, 8.0), positive)
    found = crossing_probability(np.array([sure, sure + 1.0]), Finite(7.0, float(positive)))
    assert found.tolist() == [1.0, 0.0]


@pytest.mark.full
@pytest.mark.parametrize(
    ("level", "total", "positive"),
    [(1e-20, 300, 80), (1e-90, 500, 350), (1e-114, 700, 200), (1e-250, 900, 450)],
)
def test_tiny_probabilities(level, total, positive, either_way):
    """All orders enumerated in integers."""
    population = Finite(float(total), float(positive))
    k = np.arange(1.0, total + 1.0)
    asked = critical_counts(np.log([level]), k, population)
    (found,) = crossing_probability(asked, population)
    wanted = exactly(asked[0], total, positive)
    assert level / 100 < wanted < 1e4 * level
    assert found == pytest.approx(float(wanted), rel=1e-11)


@pytest.mark.parametrize(("n_x", "n_y"), [(8, 12), (30, 50), (200, 37)])
def test_smirnov_of_two_samples(n_x, n_y, either_way):
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
        (found,) = crossing_probability(np.array([asked], float), Finite(float(total), float(n_x)))
        assert found == pytest.approx(known.pvalue, rel=1e-11)


@pytest.mark.parametrize(("k", "count"), [(1000, 1), (1000, 40), (5000, 464), (5000, 530)])
def test_what_nearly_every_ranking_reaches(k, count, either_way):
    """One list in which hardly any ranking has fewer."""
    asked = np.full((2, 5102), np.inf)
    asked[:, k - 1] = count
    asked[1, 5050] = 565  # a later one does not matter where the first is sure
    found = crossing_probability(asked, Finite(5102.0, 566.0))
    wanted = stats.hypergeom.sf(count - 1, 5102, 566, k)
    assert found == pytest.approx([wanted, found[1]], rel=1e-12)
    assert found[1] >= found[0] * (1 - 1e-12)


def test_endless_supply_of_rare_positives():
    asked = np.full((1, 1000), np.inf)
    asked[0, 999] = 2
    (found,) = crossing_probability(asked, Infinite(1e-9))
    assert found == pytest.approx(stats.binom.sf(1, 1000, 1e-9), rel=1e-11)


def test_rows_do_not_meet():
    """Boundaries that differ much, and more of them than are computed together."""
    population = Finite(700.0, 90.0)
    k = np.arange(1.0, 701.0)
    levels = np.log(np.geomspace(1e-200, 0.9, 300))
    asked = critical_counts(levels, k, population)
    asked[::7, ::3] = np.inf
    together = crossing_probability(asked, population)
    alone = [crossing_probability(asked[[i]], population)[0] for i in range(0, 300, 23)]
    np.testing.assert_allclose(together[::23], alone, rtol=1e-12)


@settings(max_examples=examples(60))
@given(SIZES.filter(lambda s: s[0] > 0), st.floats(0.001, 0.999), st.data())
def test_envelope_is_the_largest_level(size, alpha, data):
    total, positive = size
    n = data.draw(st.lists(st.integers(1, total), min_size=1, unique=True))
    population = Finite(float(total), float(positive))
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


def test_envelope_of_no_n():
    assert math.isnan(envelope(0.05, np.empty(0), Finite(9.0, 3.0)).local_level)


@pytest.mark.parametrize(
    ("first", "last", "level"), [(1, 5102, 0.00157), (1, 2000, 0.0034), (100, 2000, 0.00483)]
)
def test_envelope_of_5102_candidates(first, last, level):
    """Levels of an independent program; its sizes were .04979, .04999, .04997."""
    population, n = Finite(5102.0, 566.0), np.arange(float(first), last + 1.0)
    found = envelope(0.05, n, population)
    assert found.local_level == pytest.approx(level, rel=0.01)
    asked = np.full((1, last), np.inf)
    asked[0, first - 1 :] = found.counts
    assert 0.0497 < crossing_probability(asked, population)[0] <= 0.05


@pytest.mark.full
def test_random_rankings_reach_the_envelope_as_often_as_it_says():
    total, positive, draws = 500, 60, 20_000
    found = envelope(0.1, np.arange(1.0, total + 1.0), Finite(float(total), float(positive)))
    asked = found.counts[np.newaxis]
    p = crossing_probability(asked, Finite(float(total), float(positive)))[0]
    assert 0.095 < p <= 0.1
    rng = np.random.default_rng(3)
    true = np.zeros((draws, total), dtype=bool)
    true[:, :positive] = True
    rng.permuted(true, axis=1, out=true)
    times = (np.cumsum(true, axis=1) >= found.counts).any(axis=1).sum()
    assert abs(times / draws - p) < 3.5 * math.sqrt(p * (1 - p) / draws)


@pytest.mark.parametrize(("total", "positive"), [(9, 4), (11, 3), (10, 5)])
def test_adjusted_by_all_orders(total, positive):
    """Proportion of all orderings whose smallest p-value is at most the observed p-value."""
    n = np.array([2, 3, 5, total - 1, total])
    tails = [
        [exact.tail(exact.hypergeometric(total, positive, int(k)), i) for i in range(positive + 1)]
        for k in n
    ]
    orders = [np.isin(range(total), c) for c in itertools.combinations(range(total), positive)]
    counts = np.array([np.cumsum(order)[n - 1] for order in orders])
    smallest = [min(row[i] for row, i in zip(tails, tp, strict=True)) for tp in counts]
    for tp in counts[:: len(counts) // 12]:
        p = [row[i] for row, i in zip(tails, tp, strict=True)]
        log_p = np.array([exact.log(x) for x in p])
        population = Finite(float(total), float(positive))
        found = simultaneous_p_values(log_p, tp.astype(float), n.astype(float), population)
        wanted = [sum(s <= x for s in smallest) / len(smallest) for x in p]
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_adjusted_alone_is_the_p_value():
    population = Finite(5102.0, 566.0)
    for tp in (40.0, 60.0, 150.0, 300.0):
        n = np.array([500.0])
        log_p = population.tails(np.array([tp]), n).ge
        found = simultaneous_p_values(log_p, np.array([tp]), n, population)
        assert found == pytest.approx(np.exp(log_p), rel=1e-11)


@pytest.mark.parametrize(
    ("kind", "p", "first", "last", "known"),
    [
        ("discrete", 0.05, 1, 5101, 0.972),
        ("discrete", 0.001, 1, 5101, 0.907),
        ("discrete", 0.001, 1, 2000, 0.143),
        ("discrete", 0.05, 100, 2000, 0.362),
        ("discrete", 0.001, 100, 2000, 0.0203),
        ("critical", 0.05, 1, 5101, 0.573),
        ("critical", 0.05, 100, 2000, 0.292),
        ("critical", 0.001, 100, 2000, 0.0133),
    ],
)
def test_bounds_of_single_n_are_reached_somewhere(kind, p, first, last, known):
    """Values of an independent program, 5,102 candidates with 566 positives."""
    population, n = Finite(5102.0, 566.0), np.arange(float(first), last + 1.0)
    asked = np.full((1, last), np.inf)
    asked[0, first - 1 :] = random_counts.bound(kind, p, n, population)
    assert crossing_probability(asked, population)[0] == pytest.approx(known, rel=5e-3)


def test_few_n_of_many_candidates():
    """The same from candidate to candidate, and from one n to the next."""
    population, n = Finite(1e5, 300.0), np.array([1.0, 10.0, 5e3, 1e4, 4e4, 99_990.0])
    counts = critical_counts(np.log([0.01]), n, population)
    (p,) = boundary.boundary_probability(counts, n, population)
    asked = counts.astype(np.int64)
    (steps,) = boundary._crossing_by_steps(asked, n.astype(np.int64), population.prior, population)
    assert p == pytest.approx(steps, rel=1e-10)
    assert envelope(0.05, n[::-1], population).counts[-1] == 1.0


def test_adjusted_p_values_in_any_order_of_the_lists():
    rng = np.random.default_rng(2)
    n = np.arange(1.0, 41.0)
    tp = np.cumsum(rng.random(40) < 0.5).astype(float)
    for population in (Finite(60.0, 25.0), Infinite(0.4)):
        log_p = population.tails(tp, n).ge
        wanted = simultaneous_p_values(log_p, tp, n, population)
        order = rng.permutation(40)
        found = simultaneous_p_values(log_p[order], tp[order], n[order], population)
        np.testing.assert_allclose(found, wanted[order], rtol=1e-12)
