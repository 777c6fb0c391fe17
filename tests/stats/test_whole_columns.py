"""Weighted sums of columns: exact in whole numbers, whatever the library, order and cut."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankeval_pd.stats.items import WholeColumns


def sizes_of(values: np.ndarray) -> np.ndarray:
    return np.abs(values).max(axis=0, initial=0.0)


def columns(n: int = 500) -> np.ndarray:
    """Real numbers of several sizes, whole ones, 0 and 1, ones twice, nothing."""
    rng = np.random.default_rng(n)
    return np.stack(
        [
            rng.normal(size=n), rng.normal(size=n) * 1e-9, rng.exponential(size=n) ** 4,
            rng.integers(-9, 9, n), rng.integers(0, 2, n), np.ones(n), np.ones(n), np.zeros(n),
        ],
        axis=1,
    )  # fmt: skip


def weighted(whole: WholeColumns, weights: np.ndarray) -> np.ndarray:
    return whole.floats(whole.sums(weights))


def counts(rows: int, n: int = 500) -> np.ndarray:
    return np.random.default_rng(rows).multinomial(n, np.full(n, 1 / n), rows).astype(np.uint8)


def exactly(weights: np.ndarray, values: np.ndarray) -> list[list[Fraction]]:
    return [
        [sum(int(w) * Fraction(float(x)) for w, x in zip(row, c, strict=True)) for c in values.T]
        for row in weights
    ]


def test_sums_are_the_exact_ones_rounded():
    """Up to 2^-60 of the largest number for each item, and one rounding."""
    values, weights = columns(), counts(7)
    found = weighted(WholeColumns(values, 500), weights)
    for row, wanted in zip(found, exactly(weights, values), strict=True):
        for number, exact, size in zip(row, wanted, sizes_of(values), strict=True):
            room = 500 * size * 2.0**-61 + abs(float(exact)) * 2.0**-53
            assert abs(Fraction(float(number)) - exact) <= Fraction(room)
    assert (found[:, 3:] == weights.astype(int) @ values[:, 3:].astype(int)).all()


@given(st.permutations(range(60)), st.integers(0, 60), st.integers(1, 3))
def test_no_order_and_no_cut_changes_a_digit(order, cut, rows):
    values, weights = columns(60), counts(rows, 60)
    sizes = sizes_of(values)
    whole = WholeColumns(values, 60, sizes)
    order = np.array(order)
    parts = [
        WholeColumns(values[part], 60, sizes).sums(weights[:, part])
        for part in (order[:cut], order[cut:])
    ]
    assert (whole.floats(parts[0] + parts[1]) == weighted(whole, weights)).all()
    assert (weighted(whole, weights)[:1] == weighted(whole, weights[:1])).all()


@pytest.mark.parametrize("places", [np.arange(3, 403), np.random.default_rng(0).permutation(400)])
def test_bits_as_weights(places):
    values = columns(400)
    bits = np.random.default_rng(1).integers(0, 2, (9, 408)).astype(np.uint8)
    whole = WholeColumns(values, 400)
    found = whole.sums(np.packbits(bits, axis=1), places)
    assert (found == whole.sums(bits[:, places])).all()


def test_small_whole_numbers_are_summed_in_single_precision():
    """Where it is exact; multiples of any power of two are."""
    for step in (1.0, 0.25, 2.0**40):
        values = np.random.default_rng(0).integers(0, 50, (300, 4)) * step
        small = WholeColumns(values, 300)
        assert small.dtype == np.float32
        assert (weighted(small, counts(5, 300)) == counts(5, 300) @ values).all()
    assert WholeColumns(values, 2.0**21).dtype == np.float64
    assert WholeColumns(values / 3, 300).dtype == np.float64


def test_what_is_not_finite_is_undefined():
    values = np.array([[1.0, 2.0], [np.nan, 3.0]])
    found = weighted(WholeColumns(values, 2), np.ones((1, 2), dtype=np.uint8))
    np.testing.assert_array_equal(found, [[np.nan, 5.0]])


@pytest.mark.parametrize("most", [1.0, 2.0**20, 2.0**30, 2.0**40])
def test_pieces_are_so_small_that_their_sums_are_exact(most):
    values = np.random.default_rng(3).normal(size=(100, 1)) * 10.0**5
    whole = WholeColumns(values, most)
    pieces = whole.sums(np.eye(100, dtype=np.uint8))
    assert (pieces == np.rint(pieces)).all()
    assert np.abs(pieces).max() * most <= 2.0**53
    assert np.abs(whole.floats(pieces) - values).max() <= np.abs(values).max() * 2.0**-53
