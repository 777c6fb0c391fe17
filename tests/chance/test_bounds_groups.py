"""Chance in many groups: pools and their collections, bounds of pools of all sizes."""

from __future__ import annotations

import fractions
import math

import numpy as np
import pandas as pd
import pytest

from rankeval_pd import RankevalWarning, random_bound, random_test
from tests.decisions.test_averages import ROLES, collection


@pytest.mark.parametrize("combine", [False, True])
def test_a_pool_is_drawn_from_its_collection(combine):
    frame = collection(3)
    found = random_test(frame, 5, n_candidates=1000, combine=combine, **ROLES)
    more = [
        pd.DataFrame({"query": q, "a": -1e9, "b": -1e9, "gold": False}, index=range(1000 - size))
        for q, size in frame.groupby("query").size().items()
    ]
    whole = pd.concat([frame, *more], ignore_index=True)
    expected = random_test(whole, 5, combine=combine, **ROLES)
    pd.testing.assert_frame_equal(found, expected)
    assert found.attrs["pool"] == 1000
    same = random_test(frame, 5, pool=1000, combine=combine, **ROLES)
    pd.testing.assert_frame_equal(found, same)


def test_a_collection_holds_its_pool():
    with pytest.raises(ValueError, match="pool=7 is smaller than the number of candidates"):
        random_test(collection(), 5, n_candidates=7, **ROLES)
    with pytest.raises(ValueError, match="size of a finite collection"):
        random_test(collection(), 5, n_candidates=700, population="infinite", **ROLES)


@pytest.mark.parametrize("level", [0.5, 0.05, 1e-6])
def test_bounds_of_pools_of_all_sizes_are_those_of_counting(level):
    """By counting with whole numbers, min{i: P(X >= i) <= p} and min{i: P(X > i) < p}."""
    sizes = [(N, k) for N in (1, 2, 7, 30, 31, 57) for k in {0, 1, N // 3, N}]
    rows = [(f"{i:02}", j < k) for i, (N, k) in enumerate(sizes) for j in range(N)]
    frame = pd.DataFrame(rows, columns=["query", "gold"]).sample(frac=1.0, random_state=1)
    found = random_bound(frame, level, [1, 5, 30], by="query")
    assert len(found) == sum(n <= N for N, _ in sizes for n in (1, 5, 30))
    for row in found.itertuples():
        N, positive = sizes[int(row.query)]
        ways = [
            math.comb(positive, i) * math.comb(N - positive, row.n - i) if i <= row.n else 0
            for i in range(positive + 1)
        ] + [0]
        tail = [fractions.Fraction(sum(ways[i:]), math.comb(N, row.n)) for i in range(len(ways))]
        least = next(i for i, p in enumerate(tail) if p <= level)
        assert row.critical == least
        assert row.attainable == (least <= min(row.n, positive))
        assert row.discrete == next(
            i for i in range(len(tail)) if (tail[i + 1] if i + 1 < len(tail) else 0) < level
        )
        assert row.expected == row.n * (positive / N)


def test_pools_of_many_sizes_count_what_each_measure_scores():
    frame = collection(6).drop(index=[3, 17])
    frame.loc[::7, "a"] = np.nan
    asked = {"by": "query", "missing": "drop", "n": [2, 5]}
    with pytest.warns(RankevalWarning, match="evaluates 'a' without"):
        found = random_bound(frame, 0.05, measures="a", **asked)
    expected = random_bound(frame.dropna(subset=["a"]), 0.05, [2, 5], by="query")
    pd.testing.assert_frame_equal(found, expected)
    with (
        pytest.warns(RankevalWarning, match="evaluates 'a' without"),
        pytest.raises(ValueError, match="the measures score different candidates"),
    ):
        random_bound(frame, 0.05, measures=["a", "b"], **asked)


@pytest.mark.full
def test_bounds_of_many_endless_supplies_are_those_of_each():
    frame = collection(40)
    frame.loc[frame["query"] == 3, "gold"] = False
    frame.loc[frame["query"] == 4, "gold"] = True
    asked = [0.5, 0.05, 1e-12, 1.0]
    found = random_bound(frame, asked, [1, 15, 60], by="query", population="infinite")
    path = [  # of many n, the bounds are walked from one n to the next
        random_bound(rows, asked, range(1, 101), population="infinite").assign(query=q)
        for q, rows in frame.groupby("query")
    ]
    expected = pd.concat(path, ignore_index=True)[found.columns]
    expected = expected[expected["n"].isin([1, 15, 60])].reset_index(drop=True)
    assert len(found) == 40 * 4 * 3
    pd.testing.assert_frame_equal(found, expected, check_exact=False, rtol=1e-8, atol=1e-9)
