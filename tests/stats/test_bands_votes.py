"""Differences of mean votes by hand, and the multipliers of large bands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_pd.stats import bands
from rankeval_pd.stats.bands import vote_difference


def by_hand(rank_a, rank_b, label, n):
    """Return the difference of the means and the sum of squared influences, candidate by candidate.

    Edges are the shares around rank n, as for the precision of lists.
    """
    half = max(20, int(0.5 * n**0.8))
    edges = []
    for rank in (rank_a, rank_b):
        near = (rank > max(n - half, 0)) & (rank <= n + half)
        edges.append((label[near].sum() + 1) / (near.sum() + 2))
    influence = np.zeros(label.size)
    for sign, rank, edge in ((1, rank_a, edges[0]), (-1, rank_b, edges[1])):
        influence += sign * (label - edge) * (rank <= n)
    added = sum(e * (1 - e) for e in edges)
    variance = ((influence - influence.mean()) ** 2).sum() + added
    gap = label[rank_a <= n].sum() - label[rank_b <= n].sum()
    return gap / n, np.sqrt(variance) / n


@given(st.integers(0, 10_000), st.integers(12, 60))
def test_the_mean_of_the_votes_by_hand(seed, size):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 6, size) / 5
    a, b = (rng.permutation(size) + 1 for _ in range(2))
    n = np.array([1, size // 3, size - 1, size])
    found = vote_difference(a, b, label, n)
    for k, asked in enumerate(n):
        only = int(((a <= asked) & (b > asked)).sum())
        gap, error = by_hand(a, b, label, asked)
        assert (found.total_a - found.total_b)[k] / asked == pytest.approx(gap, abs=1e-12)
        assert found.total_only_a[k] == pytest.approx(label[(a <= asked) & (b > asked)].sum())
        assert found.total_only_b[k] == pytest.approx(label[(b <= asked) & (a > asked)].sum())
        assert found.error[k] == pytest.approx(error if only else 0.0, rel=1e-9)
        assert found.freedom[k] == max(2 * only - 2, 0)


def test_a_sum_of_normals_is_one_normal():
    gold = np.arange(600) % 3 == 0
    cells = bands.cells(gold, (np.arange(1, 601),), np.array([5, 100, 400]))
    drawn = cells.multipliers(1, 0, 20_000, at_once=True)
    assert drawn.std(axis=1) == pytest.approx(np.sqrt(cells.size), rel=0.03)
    assert stats.kstest(drawn[0] / np.sqrt(cells.size[0]), "norm").pvalue > 1e-3
    assert np.abs(np.corrcoef(drawn) - np.eye(len(drawn))).max() < 0.04
    parts = [cells.multipliers(1, start, start + 2, at_once=True) for start in range(0, 10, 2)]
    assert (np.concatenate(parts, axis=1) == drawn[:, :10]).all()
