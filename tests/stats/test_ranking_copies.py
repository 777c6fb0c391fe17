"""Copies: measures that rank alike, pairs that stand for others, groups that repeat a ranking."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankeval_pd.stats.ranking import again_in_groups, same_order, stands_for


def test_two_groups_with_the_same_candidates_are_copies():
    score = np.tile(np.random.default_rng(0).normal(size=(2, 40)), 2)
    number, label = np.repeat([0, 1], 40), np.tile(np.arange(40, dtype=np.uint64), 2)
    assert again_in_groups(score, number, label).all()
    assert again_in_groups(score, number, np.arange(80, dtype=np.uint64)).all()
    half = np.where(np.arange(80) < 60, score, score[:, ::-1] + 1.0)
    assert again_in_groups(half, number, label) is None


@given(st.integers(0, 10_000), st.sampled_from([0, 1, 3]), st.integers(2, 30))
def test_queries_of_the_same_documents_are_no_copies(seed, decimals, queries):
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(queries), 20)
    score = rng.normal(size=(2, number.size)).round(decimals)
    label = np.tile(np.arange(20, dtype=np.uint64), queries)
    assert again_in_groups(score, number, label) is None
    alone = np.arange(number.size, dtype=np.uint64)
    assert again_in_groups(score, number, alone) is None
    assert again_in_groups(score * 0.0, number, label) is None


@given(st.integers(0, 10_000), st.integers(10, 400))
def test_measures_rank_alike_only_if_every_pair_of_candidates_is_ordered_alike(seed, size):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 9, size).astype(float)
    one[:2] = 0, 1
    scores = np.stack([one, np.exp(one), 1.0 - one, one + 1e-15 * one, rng.normal(size=size)])
    np.testing.assert_array_equal(same_order(scores), [0, 0, 2, 0, 4])
    moved = np.exp(one)
    moved[0] = moved[1]
    assert same_order(np.stack([one, moved])).tolist() == [0, 1]
    assert same_order(np.stack([one * 0.0, one * 0.0])).tolist() == [0, 1]
    holes = np.where(rng.random(size) < 0.2, np.nan, one)
    holes[:3] = np.nan, 0, 1
    assert same_order(np.stack([holes, 2.0 * holes, one])).tolist() == [0, 0, 2]


def test_every_candidate_is_looked_at_before_two_measures_rank_alike():
    one = np.arange(2_000.0)
    swapped, tied, rounded = one.copy(), one.copy(), one.copy()
    swapped[[1, 2]] = swapped[[2, 1]]  # two that a look at every eighth candidate misses
    tied[1] = tied[2]
    rounded[1] = rounded[2] * (1.0 + 1e-15)
    assert same_order(np.stack([one, swapped, tied, rounded])).tolist() == [0, 1, 2, 2]


def test_a_pair_stands_for_those_with_the_same_two_rankings():
    a, b = np.array([0, 0, 1, 0, 1, 0]), np.array([1, 0, 0, 1, 2, 2])
    assert stands_for(a, b, ordered=False).tolist() == [0, -1, 0, 0, 4, 5]
    assert stands_for(a, b, ordered=True).tolist() == [0, -1, 2, 0, 4, 5]
