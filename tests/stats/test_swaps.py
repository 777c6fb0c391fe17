"""Label swaps against plain re-ranking, and against all swaps there are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from rankeval_pd.stats import ranking, swaps


@st.composite
def rankings(draw, most=9):
    size = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    return rng.permutation(size) + 1, rng.permutation(size) + 1, rng.random(size) < 0.5


def plain(rank_a, rank_b, gold, swap, n):
    """Swap the labels one by one, sort anew with the position as the key, and count sets."""
    a = [y if s else x for x, y, s in zip(rank_a, rank_b, swap, strict=True)]
    b = [x if s else y for x, y, s in zip(rank_a, rank_b, swap, strict=True)]
    orders = [sorted(range(len(r)), key=lambda i, r=r: (r[i], i)) for r in (a, b)]
    sets = [[set(order[:size]) for size in n] for order in orders]
    true = set(np.flatnonzero(gold).tolist())
    return [
        (len(x & y), len(x & y & true), len(x & true), len(y & true))
        for x, y in zip(*sets, strict=True)
    ]


def counted(rank_a, rank_b, gold, n, **options):
    """Return the counts (count, draw, n)."""
    found = swaps.Swaps(rank_a, rank_b, gold, **options).counts(n)
    return np.array([np.concatenate(parts) for parts in zip(*found, strict=True)])


@given(rankings())
def test_swapped_rankings(case):
    rank_a, rank_b, gold = case
    n = np.arange(1, rank_a.size + 1)
    drawn = ranking.coins(ranking.by_position(rank_a.size), 5, 0, 7).T.astype(bool)
    found = counted(rank_a, rank_b, gold, n, n_resamples=7, seed=5)
    wanted = [plain(rank_a, rank_b, gold, swap, n) for swap in drawn]
    assert found.transpose(1, 2, 0).tolist() == [[list(row) for row in x] for x in wanted]


def test_blocks_of_draws_change_no_number(monkeypatch):
    rng = np.random.default_rng(0)
    a, b, gold = rng.permutation(50) + 1, rng.permutation(50) + 1, rng.random(50) < 0.3
    asked = (a, b, gold, np.array([5, 20, 50]), "two-sided")
    once = swaps.swap_tests(*asked, n_resamples=200, seed=1)
    monkeypatch.setattr(swaps, "_BLOCK", 120)
    again = swaps.swap_tests(*asked, n_resamples=200, seed=1)
    assert_array_equal(again[:2], once[:2])


@pytest.mark.full
@pytest.mark.parametrize("alternative", ["less", "greater", "two-sided"])
def test_p_value_of_all_swaps(alternative):
    """The Monte-Carlo p-value beside the share of all 2^12 swaps with as large a statistic."""
    rng = np.random.default_rng(3)
    a, b = rng.permutation(12) + 1, rng.permutation(12) + 1
    gold, n = a <= 5, np.arange(2, 12)

    def statistic(counts):
        overlap, both, t_a, t_b = np.array(counts, dtype=float).T
        positive, only = t_a + t_b - 2 * both, np.maximum(n - overlap, 1)
        z = (t_a - t_b) / np.sqrt(np.maximum(positive * (1 - positive / (2 * only)), 1))
        return {"two-sided": np.abs(z), "greater": z, "less": -z}[alternative]

    observed = statistic(plain(a, b, gold, [False] * 12, n))
    swapped = product([False, True], repeat=12)
    every = np.array([statistic(plain(a, b, gold, swap, n)) for swap in swapped])
    found = swaps.swap_tests(a, b, gold, n, alternative, n_resamples=20_000, seed=2)
    largest = every.max(axis=-1, keepdims=True)
    for drawn, law in ((found.alone, every), (found.together, largest)):
        exact = (law >= observed - 1e-12).mean(axis=0)
        margin = 4.5 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4
        assert (np.abs(drawn - exact) < margin).all()
        assert drawn.min() < 0.1 or alternative == "less"
    assert (found.together >= found.alone).all()


def test_draws_go_on_near_alpha():
    """Four times as many, as long as the interval of the adjusted p-value holds alpha."""
    rng = np.random.default_rng(3)
    gold = rng.random(200) < 0.3
    a, b = ((-(q * gold + rng.normal(size=200))).argsort().argsort() + 1 for q in (1.4, 0.7))
    asked = (a, b, gold, np.array([20, 60]), "two-sided")
    drawing = {"most": 1584, "n_resamples": 99, "seed": 5, "each": False, "tests": [1.0]}
    assert swaps.swap_tests(*asked, alpha=0.99, **drawing).drawn == 99
    once = swaps.swap_tests(*asked, n_resamples=1584, seed=5)
    found = swaps.swap_tests(*asked, alpha=float(once.together[0]), **drawing)
    assert found.drawn == 1584
    assert_array_equal(found.together, once.together)


def test_the_smallest_p_value_is_one_in_draws_plus_one():
    assert swaps.exceedance(np.array([5.0, 1.0]), np.array([1.0, 2.0, 3.0])).tolist() == [0.25, 1.0]
    rank, n = np.arange(1, 41), np.array([20])
    found = swaps.swap_tests(rank, rank[::-1], rank <= 20, n, "two-sided", n_resamples=9, seed=0)
    assert found.alone.tolist() == found.together.tolist() == [0.1]


@pytest.mark.parametrize("far", [0.3, 6.0])
def test_few_n_and_many_n_count_alike(monkeypatch, far):
    """Windows around single n against walks; too narrow ones are widened."""
    monkeypatch.setattr(swaps, "_FAR", far)
    rng = np.random.default_rng(7)
    quality = rng.normal(size=900)
    a, b = ((-quality - rng.normal(size=900)).argsort().argsort() + 1 for _ in "ab")
    gold = quality + rng.normal(size=900) > 1
    n, every = np.array([300, 1, 40, 900, 300]), np.arange(1, 901)
    asked = (n, every, every[:200], np.array([450]))
    few, many, head, one = (counted(a, b, gold, x, n_resamples=130, seed=3) for x in asked)
    assert_array_equal(few, many[..., n - 1])
    assert_array_equal(head, many[..., :200])
    assert_array_equal(one, many[..., [449]])


def test_a_head_that_holds_the_lists_draws_the_same():
    """Candidates that neither list can reach change no number, and neither does the order."""
    rng = np.random.default_rng(1)
    quality = rng.normal(size=2_000)
    scores = quality + rng.normal(size=(2, 2_000))
    keys = ranking.mix(np.arange(2_000, dtype=np.uint64))
    gold = quality > 1
    ranks = (-scores).argsort().argsort() + 1
    head = np.flatnonzero(ranks.min(axis=0) <= 300)
    inner = np.array([np.argsort(np.argsort(rank[head])) + 1 for rank in ranks])
    n = np.array([50, 100])
    options = {"n_resamples": 99, "seed": 4}
    whole = swaps.swap_tests(*ranks, gold, n, "two-sided", keys, **options)
    part = swaps.swap_tests(*inner, gold[head], n, "two-sided", keys[head], **options)
    assert_array_equal(part[:2], whole[:2])


def test_enough_swaps():
    """Ten times as many as one p-value at alpha needs, 999 at least, and of many tests fewer."""
    found = {tests: swaps.enough_swaps(tests, 0.05) for tests in (0, 1, 6, 28, 66, 250, 1000)}
    assert found == {0: 999, 1: 999, 6: 1199, 28: 5599, 66: 9999, 250: 9999, 1000: 39_999}
    assert swaps.least_swaps(28, 0.05) == 559
