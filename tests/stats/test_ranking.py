"""Rankings and counts against plain Python loops."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from rankeval_pd.stats import ranking

SCORES = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf, np.nan])
CUTS = np.array([-np.inf, -1.0, 0.0, 0.7, 2.0, np.inf, np.nan])


@st.composite
def batches(draw, scores=1, fewest=0):
    """Return score arrays (batch, candidate), gold (candidate), present (batch, candidate)."""
    shape = draw(st.integers(1, 3)), draw(st.integers(fewest, 9))
    found = [draw(arrays(float, shape, elements=SCORES)) for _ in range(scores)]
    gold = draw(arrays(bool, shape[1:]))
    present = draw(arrays(bool, shape) | st.just(np.ones(shape, bool)))
    return *found, gold, present


def plain_order(score, present):
    """Stable sort by descending score: NaN after every score, who is absent after all."""

    def place(i):
        missing = isnan(score[i])
        return not present[i], missing, 0.0 if missing else -score[i]

    return sorted(range(len(score)), key=place)


def same(x, y):
    """Equality of scores, NaN being equal to NaN."""
    return x == y or (isnan(x) and isnan(y))


@settings(max_examples=150, deadline=None)
@given(batches())
def test_order_and_ranks(batch):
    """sorted() with a key, and list.index for the ranks."""
    score, _, present = batch
    positions = ranking.order(score, present)
    for row, found in enumerate(positions):
        expected = plain_order(score[row], present[row])
        assert found.tolist() == expected
        ranks = [expected.index(i) + 1 for i in range(len(expected))]
        assert ranking.ranks(positions)[row].tolist() == ranks


@settings(max_examples=100, deadline=None)
@given(batches())
def test_restricted_ranks(batch):
    """Ranks of the sorted list without who is absent; the rest follows in the old order."""
    score, _, present = batch
    positions = ranking.order(score, np.ones_like(present))
    found = ranking.restricted_ranks(positions, present)
    for row, old in enumerate(positions.tolist()):
        new = [i for i in old if present[row, i]] + [i for i in old if not present[row, i]]
        assert [new.index(i) + 1 for i in range(len(new))] == found[row].tolist()


@settings(max_examples=150, deadline=None)
@given(batches())
def test_nbest(batch):
    """Lists cut from the sorted list, counted one by one, n above N included."""
    score, gold, present = batch
    n = np.arange(1, score.shape[1] + 3)
    found = ranking.nbest(score, gold, present, n)
    counts = ranking.size(gold, present)
    for row in range(score.shape[0]):
        ordered = [i for i in plain_order(score[row], present[row]) if present[row, i]]
        assert (counts.total[row], counts.positive[row]) == (len(ordered), gold[ordered].sum())
        for column, size in enumerate(n):
            assert found.exists[row, column] == (size <= len(ordered))
            if size > len(ordered):
                continue
            listed, rest = ordered[:size], ordered[size:]
            threshold = score[row, listed[-1]]
            assert found.tp[row, column] == sum(gold[i] for i in listed)
            assert same(found.threshold[row, column], threshold)
            assert found.tied[row, column] == sum(same(score[row, i], threshold) for i in rest)


@settings(max_examples=100, deadline=None)
@given(batches())
def test_block_ends(batch):
    """The last rank with the same score, by comparing all pairs."""
    score, _, present = batch
    ranked = np.take_along_axis(score, ranking.order(score, np.ones_like(present)), axis=-1)
    for row, found in zip(ranked, ranking.block_ends(ranked), strict=True):
        expected = [max(j + 1 for j, y in enumerate(row) if same(x, y)) for x in row]
        assert found.tolist() == expected


@settings(max_examples=100, deadline=None)
@given(batches(scores=2))
def test_acceptance_sets(batch):
    """score >= threshold, one by one; NaN neither accepts nor is accepted."""
    a, b, gold, present = batch
    cuts_a, cuts_b = np.tile(CUTS, (a.shape[0], 1)), np.tile(CUTS[::-1], (a.shape[0], 1))
    found = ranking.accepted(a, gold, present, cuts_a)
    both = ranking.accepted_regions(a, b, gold, present, cuts_a, cuts_b)
    for row, column in np.ndindex(cuts_a.shape):
        sets = [
            {i for i in range(a.shape[1]) if present[row, i] and x[row, i] >= cuts[row, column]}
            for x, cuts in ((a, cuts_a), (b, cuts_b))
        ]
        sets.append(sets[0] & sets[1])
        sizes = [len(s) for s in sets]
        true = [sum(bool(gold[i]) for i in s) for s in sets]
        assert [x[row, column] for x in found] == [sizes[0], true[0]]
        assert [x[row, column] for x in both] == sizes + true


@settings(max_examples=100, deadline=None)
@given(batches(scores=2, fewest=1))
def test_nbest_regions(batch):
    """Intersections of sets cut from two sorted lists of the same candidates."""
    a, b, gold, present = batch
    orders = [ranking.order(x, present) for x in (a, b)]
    total = present.sum(axis=-1)
    n = np.arange(1, a.shape[1] + 3)
    # who is absent is no positive
    found = ranking.nbest_regions(*(ranking.ranks(x) for x in orders), gold & present, total, n)
    for row, column in np.ndindex(a.shape[0], n.size):
        assert found.exists[row, column] == (n[column] <= total[row])
        if not found.exists[row, column]:
            continue
        in_a, in_b = (set(x[row, : n[column]].tolist()) for x in orders)
        assert found.overlap[row, column] == len(in_a & in_b)
        assert found.tp_overlap[row, column] == sum(gold[i] for i in in_a & in_b)
        assert found.tp_a[row, column] == sum(gold[i] for i in in_a)
        assert found.tp_b[row, column] == sum(gold[i] for i in in_b)


def test_leading_axes():
    """Two batch axes against each row alone; gold and present broadcast."""
    rng = np.random.default_rng(1)
    score, gold = rng.integers(0, 4, (2, 3, 20)).astype(float), rng.random(20) < 0.4
    present, n = rng.random((3, 20)) < 0.8, np.array([1, 5, 12, 20])
    found = ranking.nbest(score, gold, present, n)
    regions = ranking.nbest_regions(
        ranking.ranks(ranking.order(score, present)),
        ranking.ranks(ranking.order(-score, present)),
        gold,
        np.broadcast_to(present.sum(axis=-1), (2, 3)),
        n,
    )
    for i, j in np.ndindex(2, 3):
        here = present[j]
        alone = ranking.nbest(score[i, j], gold, here, n)
        assert_array_equal([x[i, j] for x in found], list(alone))
        ranks = [ranking.ranks(ranking.order(s, here)) for s in (score[i, j], -score[i, j])]
        alone = ranking.nbest_regions(*ranks, gold, here.sum(), n)
        assert_array_equal([x[i, j] for x in regions], list(alone))


def test_no_candidates_and_no_lists():
    """Empty axes give empty results of the right shape, and no list exists."""
    none, yes = np.empty((2, 0)), np.empty((2, 0), bool)
    found = ranking.nbest(none, yes, yes, np.array([1, 2]))
    assert found.tp.shape == found.exists.shape == (2, 2)
    assert not found.exists.any()
    score, true = np.ones((2, 4)), np.ones((2, 4), bool)
    assert ranking.nbest(score, true, true, np.empty(0, int)).tp.shape == (2, 0)
    assert ranking.accepted(score, true, true, np.empty((2, 0))).tp.shape == (2, 0)
    assert ranking.accepted_regions(score, score, true, true, *[np.empty((2, 0))] * 2)[0].size == 0


def test_regions_of_no_candidates():
    """As nbest: an empty axis of candidates gives zeros, and no list exists."""
    none, yes = np.empty((2, 0), int), np.empty((2, 0), bool)
    found = ranking.nbest_regions(none, none, yes, np.zeros(2, int), np.array([1, 2]))
    assert found.overlap.shape == (2, 2)
    assert not found.exists.any()


def test_refuse_cut_ties():
    """Scores 3, 2, 2, 1: n = 2 cuts, n = 1, 3, 4 do not; a list that is too long does not exist."""
    score, yes = np.array([3.0, 2.0, 2.0, 1.0]), np.ones(4, bool)
    n = np.array([1, 3, 4, 9])
    ranking.refuse_cut_ties(ranking.nbest(score, yes, yes, n), n)
    n = np.array([1, 2, 3])
    with pytest.raises(ValueError, match=r"1 of the list sizes .* n=2"):
        ranking.refuse_cut_ties(ranking.nbest(score, yes, yes, n), n)
