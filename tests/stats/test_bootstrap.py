"""Bootstrap intervals, and exact distributions of drawn and signed sums."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rankeval_pd.stats import bootstrap, gains, items
from rankeval_pd.stats.bootstrap import (
    DrawnSum,
    NumberCounts,
    SignedSum,
    count_numbers,
    has_no_lattice,
    lattice,
    lattice_of,
    needed_resamples,
)
from rankeval_pd.stats.families import adjust
from tests.stats import exact

# ---- Intervals of resampled values


def test_rows_are_what_each_alone_is():
    """Quantiles and standard deviations; a row with an undefined resample, one with infinite."""
    rows = np.random.default_rng(2).normal(size=(6, 31))
    rows[1, 3], rows[2], rows[3, [4, 9]] = np.nan, np.nan, [np.inf, -np.inf]
    low, high = bootstrap.row_quantiles(rows, (0.05, 0.95))
    each = [bootstrap.row_quantiles(row[np.newaxis], (0.05, 0.95)) for row in rows]
    assert_array_equal(np.array([low, high]).T, np.squeeze(each))
    assert_allclose([low[0], high[0]], np.quantile(rows[0], [0.05, 0.95]), rtol=1e-12)
    finite = np.delete(rows, 3, axis=0)
    assert_array_equal(gains.row_sd(finite), [gains.row_sd(row[np.newaxis])[0] for row in finite])


# ---- Random signs


@pytest.mark.parametrize("method", ["holm", "bonferroni", "bh", "by", None])
@pytest.mark.parametrize("pairs", [1, 3, 10])
def test_the_least_number_of_resamples_that_can_decide(method, pairs):
    """Twice the smallest p-value there is, adjusted with others of 1: with one less it cannot."""
    options = items.PairOptions(0, "wild", "auto", "", method, 0.05, 0.95, 1, True)
    needed = needed_resamples(options, pairs)

    def smallest(draws):
        p = np.append(2.0 / (draws + 1), np.ones(pairs - 1))
        return p[0] if method is None else adjust(p, method)[0]

    assert smallest(needed) <= 0.05 * (1 + 1e-12)
    assert smallest(needed - 1) > 0.05


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("size", [50, 64, 99])
def test_limits_are_the_outermost_scores_that_are_not_rejected(size, every):
    """Rejected is what so few are at most, or at least, counted with one more of random ones."""
    sums, added = np.random.default_rng(size).normal(size=size), 0 if every else 1
    tail = 0.05 * (size + added)
    low, high = (
        [s for s in sums if added + (side * sums <= side * s).sum() > tail] for side in (1.0, -1.0)
    )
    least, most = bootstrap.limits(
        sums[np.newaxis], np.ones(size), 1.0, every=every, level=0.9, room=np.array([1e-12])
    )
    assert (least[0], most[0]) == (min(low), max(high))


def test_contributions_of_items_of_unequal_size_are_residuals():
    """Of a ratio they vary by y - r x, over the sum of the x (Cochran 1977, 6.4)."""
    rng = np.random.default_rng(3)
    x = rng.integers(1, 9, 20).astype(float)
    statistics = np.stack([np.stack([rng.binomial(9, 0.5, 20) * x, x], axis=-1) for _ in range(2)])
    parts = bootstrap.contributions(items.Items(statistics, None, items.ratio, 1.0, "mean"))
    y = statistics[..., 0]
    ratio = y.sum(axis=1, keepdims=True) / x.sum()
    share = parts.weights / parts.weights.sum()
    rest = parts.values - share * parts.values.sum(axis=1, keepdims=True)
    assert_allclose(rest, (y - ratio * x) / x.sum(), rtol=1e-6, atol=1e-8)
    assert_allclose(parts.values.sum(axis=1), ratio[:, 0], rtol=1e-9)


# ---- Exact distributions of sums


def power_of(coefficients: list[int], n: int) -> list[int]:
    """Return the coefficients of a polynomial's n-th power, by one power of a big integer."""
    bits = (sum(coefficients) ** n).bit_length() + 1
    packed = sum(c << (bits * i) for i, c in enumerate(coefficients)) ** n
    mask = (1 << bits) - 1
    return [(packed >> (bits * i)) & mask for i in range((len(coefficients) - 1) * n + 1)]


def check_tail(found: float, wanted: Fraction | mpmath.mpf, limit: float = 1e-10) -> None:
    with mpmath.workdps(40):
        if isinstance(wanted, Fraction):
            wanted = mpmath.mpf(wanted.numerator) / wanted.denominator
        if wanted > 1e-300:
            exact.assert_within(abs(mpmath.mpf(found) / wanted - 1), limit, float(wanted))


def check_law(found, start, law):
    """Of values that are left out the chance is below rounding."""
    inside = law[start : start + found.size]
    assert_allclose(found, inside, rtol=0, atol=1e-14)
    assert sum(law) - sum(inside) < 1e-15


@pytest.mark.parametrize(
    "counts",
    [(0, 49, 1), (1, 190, 9), (20, 200, 80), (10, 5, 3, 7, 20, 15), (1, 498, 1), (30, 0, 0, 0, 1)],
)
def test_drawn_sums_are_exact_in_the_far_tail(counts):
    """Power of a polynomial with integer coefficients."""
    numbers = np.repeat(np.arange(len(counts)) - 1, counts)
    n, lowest = numbers.size, int(numbers.min())
    law = power_of(np.bincount(numbers - lowest).tolist(), n)
    drawn = DrawnSum(numbers)
    tails = list(itertools.accumulate(reversed(law)))[::-1]
    edges = sorted({*range(1, len(law), max(1, len(law) // 40)), len(law) - 1, len(law) - 2})
    for edge in edges:
        check_tail(drawn.tail(edge + n * lowest), Fraction(tails[edge], n**n), 1e-11)
    assert drawn.tail(n * lowest) == 1.0
    assert drawn.tail(n * lowest + len(law)) == 0.0
    check_law(drawn.law, drawn.start, [x / n**n for x in law])
    first = n * lowest + drawn.start
    assert drawn.values.tolist() == list(range(first, first + drawn.law.size))


@pytest.mark.parametrize(
    "sizes",
    [(1,) * 30, (1, 2, 3) * 10, tuple(range(1, 40)), (5, 7, 300) * 5, (1,) * 1500, (3,), (2,) * 9],
    ids=str,
)
def test_signed_sums_are_exact_in_the_far_tail(sizes):
    """All signs enumerated in integers."""
    law = [1]
    for size in sizes:
        wider = [*law, *[0] * size]
        for i, ways in enumerate(law):
            wider[i + size] += ways
        law = wider
    total, ways = sum(sizes), 2 ** len(sizes)
    signed = SignedSum(np.array(sizes) * np.where(np.arange(len(sizes)) % 2, 1, -1))
    tails = list(itertools.accumulate(reversed(law)))[::-1]
    for edge in sorted({*range(1, total + 1, max(1, total // 40)), total}):
        if tails[edge]:
            check_tail(signed.tail(2 * edge - total), Fraction(tails[edge], ways), 1e-11)
            assert signed.tail(2 * edge - total - 1) == signed.tail(2 * edge - total)
    assert signed.tail(-total) == 1.0
    assert signed.tail(total + 1) == 0.0
    check_law(signed.law, signed.start, [x / ways for x in law])
    assert signed.values[0] == 2 * signed.start - total


@pytest.mark.parametrize("n", [10**7, 10**6, 10**4])
def test_no_number_of_items_is_too_large(n):
    """0/1 items of which a tenth differ: the law of signs is binomial, that of draws trinomial."""
    better, worse = n // 20 + 2 * math.isqrt(n // 10), n // 20 - 2 * math.isqrt(n // 10)
    numbers, times = np.array([1, -1, 0]), np.array([better, worse, n - better - worse])
    for wins in (better, better + better // 50):
        found = SignedSum(numbers, times).tail(wins - (better + worse - wins))
        check_tail(found, exact.big_binomial_tail(wins, better + worse, 0.5))
    # of two values the sum is binomial
    rare = DrawnSum(np.array([1, 0]), np.array([n // 1000, n - n // 1000]))
    for hits in (n // 1000 + 3, n // 1000 + 12 * math.isqrt(n // 1000)):
        check_tail(rare.tail(hits), exact.big_binomial_tail(hits, n, 0.001))
    # mirrored, and complete
    drawn, turned = DrawnSum(numbers, times), DrawnSum(-numbers, times)
    assert drawn.law.sum() == pytest.approx(1.0, abs=1e-12)
    rest = 1 - turned.tail(worse - better + 1)
    assert drawn.tail(better - worse) == pytest.approx(rest, rel=1e-9)


@given(st.lists(st.integers(-3, 4), min_size=2, max_size=6))
def test_drawn_and_signed_sums_against_enumeration(numbers):
    sums = [sum(draw) for draw in itertools.product(numbers, repeat=len(numbers))]
    signs = itertools.product((-1, 1), repeat=len(numbers))
    signed = [sum(np.multiply(sign, numbers)) for sign in signs]
    for law, every in ((DrawnSum, sums), (SignedSum, signed)):
        found = law(np.array(numbers))
        for edge in range(min(every) - 1, max(every) + 2):
            share = sum(x >= edge for x in every) / len(every)
            assert found.tail(edge) == pytest.approx(share, rel=1e-12)


def test_no_tail_of_signs_is_above_one():
    """Transforms of laws add up to one and a little."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        numbers = rng.integers(-3, 4, 200)
        for law in (SignedSum(numbers), DrawnSum(numbers)):
            lowest = int(law.values[0])
            for edge in range(lowest, lowest + 60):
                assert law.tail(edge) <= 1.0


def test_the_moments_of_multiples():
    numbers = np.array([3, -1, 3, 7, 0, 3])
    found = lattice(numbers.astype(float))
    assert found.total == numbers.sum()
    assert found.spread == pytest.approx(np.sqrt(6) * numbers.std(), rel=1e-15)
    assert found.size == pytest.approx(np.sqrt((numbers**2).sum()), rel=1e-15)
    for law in (DrawnSum, SignedSum):
        assert_array_equal(law(found.multiples, found.times).law, law(numbers).law)


# ---- Lattices: differences that are multiples of one step


def test_what_lies_on_no_lattice_and_what_has_too_many_points():
    off = [[np.pi, 1.0], [1.0, 1.0 + 1e-7], [0.1, 0.2 + 3e-9], np.sqrt(np.arange(2.0, 9.0))]
    assert [lattice(np.array(differences)) for differences in off] == [None] * 4
    differences = np.append([2170.0, 1.0], np.zeros(998))
    assert lattice(differences) is not None
    differences[0] = 2190.0
    assert lattice(differences) is None


@given(
    st.lists(st.integers(-40, 40), min_size=2, max_size=30),
    st.sampled_from([1.0, 0.1, 1 / 3, 0.01, 7.7, 1e-6, 100 / 11]),
)
def test_the_step_is_the_largest_that_all_are_multiples_of(multiples, step):
    found, differences = lattice(np.array(multiples) * step), np.array(multiples) * step
    largest = math.gcd(*multiples) * step or 1.0
    values, times = np.unique(differences, return_counts=True)
    assert found.step == pytest.approx(largest, rel=1e-9)
    assert_allclose(found.multiples * found.step, values, atol=1e-9 * step)
    assert found.times.tolist() == times.tolist()


@given(
    st.lists(st.integers(-9, 9), min_size=2, max_size=30),
    st.sampled_from([1.0, 0.1, 1 / 3, 7.7]),
    st.sampled_from([0.0, 1e-12, 1e-4]),
    st.integers(2, 300_000),
    st.integers(0, 30),
)
def test_what_is_called_hopeless_lies_on_no_lattice(multiples, step, noise, n, cut):
    """Nor does what is looked at in parts: that is counted as the whole is."""
    rng = np.random.default_rng(cut)
    differences = np.array(multiples) * step + noise * step * rng.normal(size=len(multiples))
    values, times = np.unique(differences, return_counts=True)
    times[0] += n - times.sum() if n > times.sum() else 0
    if lattice_of(NumberCounts(values, times)) is not None:
        assert not has_no_lattice(values, int(times.sum()))
        assert not has_no_lattice(np.unique(differences[:cut]), int(times.sum()))
    parts = [count_numbers(x, differences.size) for x in (differences[:cut], differences[cut:])]
    if None not in parts:
        together = parts[0].plus(parts[1])
        assert together.values.tolist() == values.tolist()
        mirrored = count_numbers(-differences, differences.size)
        assert mirrored is None or mirrored.values.tolist() == (-together.values[::-1]).tolist()


def test_what_is_equal_but_for_rounding_is_one_step():
    """Scores that one system raises by the same everywhere."""
    scores = np.random.default_rng(1).random(60)
    found = lattice((scores + 0.01) - scores)
    assert set(found.multiples.tolist()) == {1}
    assert found.times.sum() == 60
    assert found.step == pytest.approx(0.01)
