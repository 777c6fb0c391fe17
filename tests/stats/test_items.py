"""Test items: exact sums, resamples, metrics and strata."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankeval_pd.stats import items
from rankeval_pd.stats.items import (
    METRICS,
    WholeColumns,
    bleu,
    chrf,
    chrf_formula,
    exact_sums,
    exact_total,
)

# ---- What is known of items before anything is drawn


def test_right_or_wrong_is_one_of_one():
    statistics = np.ones((2, 9, 2))
    statistics[0, ::2, 0] = 0.0
    assert items.Items(statistics, None, items.ratio, 1.0, "mean").binary
    statistics = statistics.copy()
    statistics[..., 1] = 2.0  # one of two, of every item: no count of right ones
    of_two = items.Items(statistics, None, items.ratio, 1.0, "mean")
    assert not of_two.binary
    assert of_two.unit == 1 / 18


# ---- Metrics of sums


def test_bleu_is_sacrebleus():
    """sacrebleu's BLEU.compute_bleu."""
    sacre = pytest.importorskip("sacrebleu.metrics").BLEU
    rng = np.random.default_rng(0)
    lengths = np.stack([rng.integers(0, 30, 500), rng.integers(1, 40, 500)], axis=1)
    possible = np.maximum(lengths[:, :1] - np.arange(4), 0)
    correct = rng.integers(0, possible + 1) * (np.arange(4) < rng.integers(0, 5, (500, 1)))
    wanted = [
        sacre.compute_bleu(right, all_, *size, "exp").score
        for right, all_, size in zip(
            correct.tolist(), possible.tolist(), lengths.tolist(), strict=True
        )
    ]
    assert np.count_nonzero(wanted) > 200
    assert_allclose(bleu(np.hstack([lengths, correct, possible])), wanted, rtol=1e-12)


def test_chrf_is_sacrebleus():
    """sacrebleu's CHRF, with word bigrams."""
    sacre = pytest.importorskip("sacrebleu.metrics").CHRF(char_order=6, word_order=2)
    rng = np.random.default_rng(1)
    hyp, ref = rng.integers(0, 20, (2, 300, 8))
    match = rng.integers(0, np.minimum(hyp, ref) + 1)
    sums = np.stack([hyp, ref, match], axis=-1).reshape(300, 24)
    wanted = [sacre._compute_f_score(row.tolist()) for row in sums]
    assert_allclose(chrf(sums), wanted, rtol=1e-12)
    assert chrf(np.zeros(24)) == 0.0
    assert chrf_formula(2).statistics == ("hyp_1", "ref_1", "match_1", "hyp_2", "ref_2", "match_2")


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_precision_recall_f1_and_aer_by_definition(correct, more_guess, more_gold, sure):
    guess, gold = correct + more_guess, correct + more_gold
    precision = METRICS["precision"].score(np.array([correct, guess]))
    recall = METRICS["recall"].score(np.array([correct, gold]))
    f1 = METRICS["f1"].score(np.array([correct, guess, gold]))
    assert np.isnan(precision) == (guess == 0)
    assert np.isnan(recall) == (gold == 0)
    assert np.isnan(f1) == (guess + gold == 0)
    if correct:
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall), rel=1e-14)
    aer = METRICS["aer"].score(np.array([sure + correct, guess, correct, guess]))
    assert np.isnan(aer) == (guess + sure + correct == 0)


def test_aer_of_och_and_ney():
    """|A & S| = 3 and |A & P| = 5 of |A| = 6 links and |S| = 4 sure ones: 1 - 8/10."""
    assert METRICS["aer"].score(np.array([4, 6, 3, 5])) == pytest.approx(0.2, rel=1e-14)
    assert not METRICS["aer"].higher_is_better


# ---- Exact sums


FLOATS = st.floats(-1e300, 1e300, allow_subnormal=True)


@given(st.lists(FLOATS, min_size=1, max_size=40), st.integers(0, 40))
def test_an_exact_total_is_the_float_nearest_to_the_sum(numbers, cut):
    values = np.array([numbers])
    assert exact_total(values)[0] == math.fsum(numbers)
    parts = exact_sums(values[:, :cut]).plus(exact_sums(values[:, cut:]))
    assert parts.rounded()[0] == math.fsum(numbers)


def test_exact_totals_of_many_numbers_of_all_sizes():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 50_001)) * 10.0 ** rng.integers(-20, 20, (2, 50_001))
    alike = 1.0 + rng.random((1, 50_001))
    values = np.concatenate([values, alike])
    assert exact_total(values).tolist() == [math.fsum(row) for row in values]
    assert exact_total(values.reshape(3, 3, -1)).shape == (3, 3)


def test_exact_totals_at_the_edges():
    totals = {
        (): 0.0,
        (5e-324,) * 3: 1.5e-323,
        (1e308, 1e308, -1e308): 1e308,
        (1e308, 1e308): np.inf,
        (-1e308, -1e308): -np.inf,
        (1.0, np.inf): np.nan,
        (np.nan, 2.0): np.nan,
        (2.0**53, 1.0, 1.0): 2.0**53 + 2.0,
    }
    for numbers, wanted in totals.items():
        assert_array_equal(exact_total(np.array([numbers], dtype=float)), [wanted])
    finite, other = exact_sums(np.ones((2, 3))), exact_sums(np.array([[np.nan], [1.0]]))
    for both in (finite.plus(other), other.plus(finite)):
        assert_array_equal(both.rounded(), [np.nan, 4.0])


# ---- Weighted sums of columns


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


def times_drawn(rows: int, n: int = 500) -> np.ndarray:
    return np.random.default_rng(rows).multinomial(n, np.full(n, 1 / n), rows).astype(np.uint8)


def test_weighted_sums_are_the_exact_ones_rounded():
    """Up to 2^-60 of the largest number for each item, and one rounding; NaN stays undefined."""
    values, weights = columns(), times_drawn(7)
    found = weighted(WholeColumns(values, 500), weights)
    for (row, k), number in np.ndenumerate(found):
        column = [Fraction(float(x)) for x in values[:, k]]
        wanted = sum(int(w) * x for w, x in zip(weights[row], column, strict=True))
        room = 500 * np.abs(values[:, k]).max() * 2.0**-61 + abs(float(wanted)) * 2.0**-53
        assert abs(Fraction(float(number)) - wanted) <= Fraction(room)
    assert (found[:, 3:] == weights.astype(int) @ values[:, 3:].astype(int)).all()
    undefined = WholeColumns(np.array([[1.0, 2.0], [np.nan, 3.0]]), 2)
    assert_array_equal(weighted(undefined, np.ones((1, 2), dtype=np.uint8)), [[np.nan, 5.0]])


@given(st.permutations(range(60)), st.integers(0, 60), st.integers(1, 3))
def test_no_order_and_no_cut_changes_a_digit(order, cut, rows):
    values, weights = columns(60), times_drawn(rows, 60)
    sizes = np.abs(values).max(axis=0)
    whole = WholeColumns(values, 60, sizes)
    order = np.array(order)
    parts = [
        WholeColumns(values[part], 60, sizes).sums(weights[:, part])
        for part in (order[:cut], order[cut:])
    ]
    assert (whole.floats(parts[0] + parts[1]) == weighted(whole, weights)).all()
    assert (weighted(whole, weights)[:1] == weighted(whole, weights[:1])).all()


@pytest.mark.parametrize("rows", [9, 300])
def test_bits_as_weights(rows):
    """A few subsets by products, and many subsets of the first items from tables."""
    whole = WholeColumns(columns(397), 400)
    bits = np.random.default_rng(1).integers(0, 2, (rows, 400)).astype(np.uint8)
    for places in (np.arange(397), np.arange(3, 400), np.random.default_rng(0).permutation(397)):
        found = whole.sums(np.packbits(bits[:, : places.max() + 1], axis=1), places)
        assert (found == whole.sums(bits[:, places])).all()


@pytest.mark.parametrize("most", [1.0, 2.0**40, 2.0**20])
def test_pieces_are_so_small_that_their_sums_are_exact(most):
    """Small whole numbers, and multiples of any power of two, are summed in single precision."""
    values = np.random.default_rng(3).normal(size=(100, 1)) * 10.0**5
    whole = WholeColumns(values, most)
    pieces = whole.sums(np.eye(100, dtype=np.uint8))
    assert (pieces == np.rint(pieces)).all()
    assert np.abs(pieces).max() * most <= 2.0**53
    assert np.abs(whole.floats(pieces) - values).max() <= np.abs(values).max() * 2.0**-53
    for step in (1.0, 0.25, 2.0**40):
        values = np.random.default_rng(0).integers(0, 50, (300, 4)) * step
        small = WholeColumns(values, 300)
        assert small.dtype == np.float32
        drawn = times_drawn(5, 300)
        assert (weighted(small, drawn) == drawn @ values).all()
    assert WholeColumns(values, 2.0**21).dtype == np.float64


# ---- Resamples


def test_counts_are_multinomial_and_swaps_fair_coins():
    counts = items.all_counts(4, 40_000, 5)
    assert (counts.sum(axis=1) == 4).all()
    seen, times = np.unique(counts, axis=0, return_counts=True)
    chances = stats.multinomial(4, [0.25] * 4).pmf(seen)
    assert len(seen) == 35
    assert stats.chisquare(times, 40_000 * chances).pvalue > 1e-4
    swaps = np.concatenate(list(items.swap_chunks(5, 32_000, 5)))
    times = np.bincount(swaps[:, 0] >> 3, minlength=32)
    assert stats.chisquare(times).pvalue > 1e-4
    every = np.concatenate(list(items.all_swaps(6)))
    assert len(every) == len(np.unique(every, axis=0)) == 64


@pytest.mark.parametrize("draw", [items.count_chunks, items.swap_chunks])
@pytest.mark.parametrize("n", [3, 70_000, 700])
def test_more_resamples_begin_with_the_same_ones(draw, n):
    few, many = (np.concatenate(list(draw(n, size, 3))) for size in (7, 13))
    assert_array_equal(few, many[:7])
    other = next(draw(n, 7, 4))
    assert not np.array_equal(other, few[: len(other)])


def test_blocks_are_children_of_one_seed():
    counts = items.all_counts(50, 2_500, 11)
    for block, child in enumerate(np.random.SeedSequence(11).spawn(3)):
        rows = np.random.default_rng(child).integers(0, 50, (1000, 50), dtype=np.uint16)
        wanted = [np.bincount(row, minlength=50) for row in rows]
        part = counts[1000 * block : 1000 * (block + 1)]
        assert_array_equal(part, wanted[: len(part)])


@pytest.mark.parametrize(("n", "first", "last"), [(5, 0, 5), (999, 100, 777), (9_001, 8, 9_001)])
def test_swaps_of_some_items_alone(n, first, last, monkeypatch):
    """What is drawn for the others is leapt over, also where a chunk ends within a word."""
    monkeypatch.setattr(items, "_COUNTS_IN_MEMORY", 7 * n)
    every = np.concatenate(list(items.swap_chunks(n, 1_003, 3)))
    for block, size in enumerate((1_000, 3)):
        packed = items.swaps_of(n, first, last, block, size, 3)
        found = np.unpackbits(packed, axis=1)[:, first % 8 :][:, : last - first]
        bits = np.unpackbits(every[1_000 * block :][:size], axis=1)
        assert_array_equal(found, bits[:, first:last])


@pytest.mark.parametrize("n", [900, 70_000])
def test_counts_are_drawn_in_any_number_of_steps(n, monkeypatch):
    wanted = items.all_counts(n, 7, 5)
    monkeypatch.setattr(items, "_DRAWN_BYTES", 2 * n)
    assert sum(items.draw_sizes(n, 7)) == 7
    assert_array_equal(items.all_counts(n, 7, 5), wanted)


def test_a_generator_gives_another_seed_each_time():
    rng = np.random.default_rng(3)
    assert items.entropy(rng) != items.entropy(rng)
    assert items.entropy(np.random.default_rng(3)) == items.entropy(np.random.default_rng(3))
    assert items.entropy(None) != items.entropy(None)


# ---- Strata


def test_contributions_within_strata_written_out():
    """Deviations from the stratum's mean, with n - 1, and Welch and Satterthwaite's freedom."""
    rng = np.random.default_rng(1)
    strata = np.repeat([0, 1, 2], [4, 6, 9])
    values = rng.normal(size=(2, 19)) + strata
    found = items.within_strata(values, np.ones(19), strata)
    parts, freedom = [], []
    for k, size in enumerate((4, 6, 9)):
        own = values[:, strata == k]
        parts.append((own - own.mean(axis=1, keepdims=True)) * np.sqrt(size / (size - 1)))
        freedom.append(size - 1)
    variance = np.array([(part**2).sum() for part in parts])
    nu = variance.sum() ** 2 / (variance**2 / freedom).sum()
    wider = stats.t.ppf(0.975, nu) / stats.norm.ppf(0.975)
    wanted = values.mean(axis=1, keepdims=True) + wider * np.concatenate(parts, axis=1)
    assert_allclose(found, wanted, rtol=1e-12)
    assert_allclose(found.sum(axis=1), values.sum(axis=1), rtol=1e-12)


def test_sums_of_many_numbers_are_rounded_once():
    values = np.random.default_rng(0).random((20, 3_000))
    assert exact_total(values).tolist() == [math.fsum(row) for row in values]
