"""Resamples: their law, their blocks, and sums that are the same whatever the dtype."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from rankeval_pd.stats import items as resamples


def test_counts_are_multinomial():
    counts = resamples.all_counts(4, 40_000, 5)
    assert (counts.sum(axis=1) == 4).all()
    seen, times = np.unique(counts, axis=0, return_counts=True)
    chances = stats.multinomial(4, [0.25] * 4).pmf(seen)
    assert len(seen) == 35
    assert stats.chisquare(times, 40_000 * chances).pvalue > 1e-4


def test_swaps_are_fair_coins():
    swaps = np.concatenate(list(resamples.swap_chunks(5, 32_000, 5)))
    assert set(np.unique(swaps)) == {0.0, 1.0}
    times = np.bincount((swaps @ (1 << np.arange(5))).astype(int), minlength=32)
    assert stats.chisquare(times).pvalue > 1e-4


@pytest.mark.parametrize("draw", [resamples.count_chunks, resamples.swap_chunks])
@pytest.mark.parametrize("n", [3, 700, 70_000])
def test_more_resamples_begin_with_the_same_ones(draw, n):
    few, many = (np.concatenate(list(itertools.chain(draw(n, size, 3)))) for size in (7, 13))
    np.testing.assert_array_equal(few, many[:7])
    other = next(draw(n, 7, 4))
    assert not np.array_equal(other, few[: len(other)])


def test_blocks_are_children_of_one_seed():
    counts = resamples.all_counts(50, 2_500, 11)
    for block, child in enumerate(np.random.SeedSequence(11).spawn(3)):
        rows = np.random.default_rng(child).integers(0, 50, (1000, 50), dtype=np.uint16)
        wanted = [np.bincount(row, minlength=50) for row in rows]
        part = counts[1000 * block : 1000 * (block + 1)]
        np.testing.assert_array_equal(part, wanted[: len(part)])


@pytest.mark.parametrize(("n", "first", "last"), [(5, 0, 5), (999, 100, 777), (9_001, 8, 9_001)])
def test_swaps_of_some_items_alone(n, first, last, monkeypatch):
    """What is drawn for the others is leapt over, also where a chunk ends within a word."""
    monkeypatch.setattr(resamples, "_COUNTS_IN_MEMORY", 7 * n)
    every = np.concatenate(list(resamples.swap_chunks(n, 1_003, 3)))
    for block, size in enumerate((1_000, 3)):
        packed = resamples.swaps_of(n, first, last, block, size, 3)
        found = np.unpackbits(packed, axis=1)[:, first % 8 :][:, : last - first]
        np.testing.assert_array_equal(found, every[1_000 * block :][:size, first:last])


@pytest.mark.parametrize("n", [900, 70_000])
def test_counts_are_drawn_in_any_number_of_steps(n, monkeypatch):
    wanted = resamples.all_counts(n, 7, 5)
    monkeypatch.setattr(resamples, "_DRAWN_BYTES", 2 * n)
    assert sum(resamples.draw_sizes(n, 7)) == 7
    np.testing.assert_array_equal(resamples.all_counts(n, 7, 5), wanted)


def test_all_swaps_are_every_subset_once():
    swaps = np.concatenate(list(resamples.all_swaps(6)))
    assert len(swaps) == len(np.unique(swaps, axis=0)) == 64


def test_whole_numbers_are_summed_exactly():
    rng = np.random.default_rng(0)
    counts = resamples.all_counts(300, 100, 0)
    small, big = rng.integers(0, 50, (300, 7)), rng.integers(0, 10**7, (300, 7))
    for values, dtype in ((small, np.float32), (big, np.float64), (small / 3, np.float64)):
        prepared = resamples.WholeColumns(values.astype(float), 300)
        assert prepared.dtype == dtype
        found = prepared.floats(prepared.sums(counts))
        if values.dtype.kind == "i":
            np.testing.assert_array_equal(found, counts @ values)
        else:
            np.testing.assert_allclose(found, counts.astype(float) @ values, rtol=1e-13)


def test_a_generator_gives_another_seed_each_time():
    rng = np.random.default_rng(3)
    assert resamples.entropy(rng) != resamples.entropy(rng)
    assert resamples.entropy(np.random.default_rng(3)) == resamples.entropy(
        np.random.default_rng(3)
    )
    assert resamples.entropy(None) != resamples.entropy(None)


def test_scores_without_each_item_in_turn():
    values = np.random.default_rng(0).random((3, 7, 2))
    found = resamples.leave_one_out(values, lambda sums: sums[..., 0] / sums[..., 1])
    for item in range(7):
        rest = np.delete(values, item, axis=1).sum(axis=1)
        np.testing.assert_allclose(found[:, item], rest[:, 0] / rest[:, 1], rtol=1e-12)
