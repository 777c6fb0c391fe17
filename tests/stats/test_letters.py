"""Compact letter displays: two rows share a letter if and only if not distinguished."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from rankeval_pd.stats.families import _edges_and_triangles, letters


def check(told_apart: np.ndarray) -> None:
    """Raise unless the letters show these ties, and are few."""
    found = letters(told_apart)
    m = len(told_apart)
    split = (lambda text: {*text.split()}) if any(" " in x for x in found) else set
    own = [split(text) for text in found]
    assert all(own)
    for i, j in combinations(range(m), 2):
        assert bool(own[i] & own[j]) == (not told_apart[i, j])
    assert len(set().union(*own)) <= max(m, m * m // 4)


@pytest.mark.parametrize("m", [*range(1, 6), pytest.param(6, marks=pytest.mark.full)])
def test_all_graphs_up_to_six(m):
    places = list(combinations(range(m), 2))
    for chosen in product([False, True], repeat=len(places)):
        graph = np.zeros((m, m), dtype=bool)
        for (i, j), apart in zip(places, chosen, strict=True):
            graph[i, j] = graph[j, i] = apart
        check(graph)


@pytest.mark.parametrize(("m", "share"), [(30, 0.1), (80, 0.5), (200, 0.2), (200, 0.8)])
def test_random_graphs(m, share):
    drawn = np.triu(np.random.default_rng(m).random((m, m)) < share, 1)
    check(drawn | drawn.T)


def test_cliques_are_never_enumerated():
    # 3**20 maximal cliques (Moon and Moser 1965)
    graph = np.kron(np.eye(20, dtype=bool), np.ones((3, 3), dtype=bool))
    check(graph & ~np.eye(60, dtype=bool))


def test_ordered_values_read_from_a():
    value = np.array([9.0, 8.5, 7.9, 7.0, 3.0])
    apart = np.abs(value - value[:, None]) > 1.0
    assert letters(apart) == ["a", "ab", "bc", "c", "d"]
    assert letters(np.ones((28, 28), dtype=bool))[-3:] == ["z", "aa", "ab"]
    assert letters(np.zeros((3, 3), dtype=bool)) == ["a", "a", "a"]
    assert letters(np.zeros((0, 0), dtype=bool)) == []


def test_edges_and_triangles_are_few():
    rng = np.random.default_rng(1)
    for m in (7, 20, 40):
        tied = np.triu(rng.random((m, m)) < 0.9, 1)
        tied |= tied.T
        found = _edges_and_triangles(tied)
        shown = np.zeros_like(tied)
        for clique in found:
            shown[np.ix_(clique, clique)] = True
        assert len(found) <= m * m // 4
        assert (shown & ~np.eye(m, dtype=bool) == tied).all()
