"""Families of tests: adjusted p-values, levels of intervals and letters."""

from __future__ import annotations

from itertools import combinations, product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from statsmodels.stats.multitest import multipletests

from rankeval_pd.stats import bootstrap
from rankeval_pd.stats.families import (
    adjust,
    interval_levels,
    letters,
    max_t,
    simultaneous_limits,
    step_down,
)
from rankeval_pd.stats.items import ADJUSTMENTS

# ---- Adjusted p-values


STATSMODELS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh", "by": "fdr_by"}


def statsmodels_adjusts(p, method):
    result, tests = np.full(p.shape, np.nan), ~np.isnan(p)
    if tests.any():
        # it collects garbage after each call, which takes a tenth of a second beside other tests
        with mock.patch("gc.collect"):
            result[tests] = multipletests(p[tests], method=STATSMODELS[method])[1]
    return result


@pytest.mark.parametrize("method", ADJUSTMENTS)
@given(arrays(float, st.integers(1, 12), elements=st.floats(0, 1) | st.just(np.nan)))
def test_adjusted_p_values_are_statsmodels(method, p):
    # no subnormal products, whose last digits depend on the order of the factors
    p = np.where(p < 1e-290, 0.0, p)
    assert_allclose(adjust(p, method), statsmodels_adjusts(p, method), rtol=1e-12)


@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_families(method):
    """Each row is a separate family; rows contain NaN, ties and tiny p-values."""
    none = np.nan
    rows = [[0.01, none, 0.04, 0.03, 0.01], [none] * 5, [1e-300, 0.5, 1e-299, 1.0, none], [0.2] * 5]
    p = np.array(rows)
    found = adjust(p.reshape(2, 2, 5), method).reshape(4, 5)
    assert_allclose(found, [statsmodels_adjusts(row, method) for row in p], rtol=1e-12)
    assert_array_equal(adjust(np.array([[0.03], [1.0]]), method), [[0.03], [1.0]])
    assert adjust(np.empty((3, 0)), method).shape == (3, 0)


# ---- Step-down over families


def step_down_by_definition(p, family):
    """Reject one test after the other; a family counts until its last test is rejected."""
    left = [k for k in range(p.size) if not np.isnan(p[k])]
    result, reached = np.full(p.size, np.nan), 0.0
    while left:
        least = min(left, key=lambda k: p[k])
        reached = max(reached, p[least] * len({family[k] for k in left}))
        result[least] = min(reached, 1.0)
        left.remove(least)
    return result


@given(
    p=arrays(float, 9, elements=st.sampled_from([np.nan, 0.0, 0.001, 0.01, 0.02, 0.3, 1.0])),
    family=arrays(np.int64, 9, elements=st.integers(0, 3)),
    order=st.permutations(range(9)),
)
def test_step_down_by_definition(p, family, order):
    """By definition, in any order; at most Bonferroni over families, and Holm of single tests."""
    found, count = step_down(p, family), np.unique(family[~np.isnan(p)]).size
    assert_allclose(found, step_down_by_definition(p, family), rtol=1e-12)
    assert_array_equal(step_down(p[order], family[order]), found[order])
    assert (found >= p)[~np.isnan(p)].all()
    assert (found <= np.minimum(count * p, 1.0) + 1e-15)[~np.isnan(p)].all()
    assert_allclose(step_down(p, np.arange(9)), adjust(p, "holm"), rtol=1e-12)
    assert_array_equal(step_down(p, np.zeros(9, dtype=np.int64)), p)


@pytest.mark.parametrize("together", [1, 10_000, 100])
def test_max_t_steps_down(together, monkeypatch):
    """The largest of each pair and all less significant ones, however many are looked at."""
    monkeypatch.setattr(bootstrap, "_TOGETHER", together)
    rng = np.random.default_rng(3)
    t, moved = rng.normal(size=7) * 2.0, rng.normal(size=(7, 49))
    t[2] = np.nan
    found = max_t(lambda which: moved[which], t, 49, level=0.9, two_sided=True).down
    wanted, worst = np.full(7, np.nan), 0.0
    order = [k for k in np.argsort(-np.abs(t)) if k != 2]
    for place, k in enumerate(order):
        largest = np.abs(moved[order[place:]]).max(axis=0)
        wanted[k] = worst = max(worst, (1 + (largest >= abs(t[k])).sum()) / 50)
    assert_allclose(found, wanted, rtol=1e-12)


# ---- Levels and limits of intervals


@pytest.mark.parametrize(
    ("method", "rejected", "share"),
    [("holm", 4, 1), ("bonferroni", 4, 1), ("bh", 3, 3), ("by", 2, 2 / (25 / 12))],
)
def test_levels_of_intervals_by_hand(method, rejected, share):
    """Benjamini and Yekutieli (2005): 1 - R alpha / m, with R = 1 where nothing is rejected."""
    p = np.array([0.001, 0.01, 0.02, 0.5, np.nan])
    assert_allclose(1.0 - interval_levels(p, method, 0.95), 0.05 * share / 4, rtol=1e-12)
    if method in ("bh", "by"):
        assert (adjust(p, method) <= 0.05).sum() == rejected
    none = 0.05 / 4 / (25 / 12 if method == "by" else 1)
    nothing = interval_levels(np.array([0.3, 0.4, 0.5, 0.6]), method, 0.95)
    assert_allclose(1.0 - nothing, none, rtol=1e-12)
    assert interval_levels(p, method, np.nextafter(1.0, 0.0)).max() < 1.0


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12), st.floats(0.5, 0.99))
def test_an_interval_excludes_0_only_where_its_test_is_rejected(p_values, level):
    p = np.array(p_values)
    for method in ("holm", "bonferroni", "bh", "by"):
        excluded = p < (1.0 - interval_levels(p, method, level)) * (1.0 - 1e-9)
        assert (adjust(p, method)[excluded] <= 1.0 - level).all()


def test_simultaneous_limits_allow_for_either_sign_of_the_skewness():
    """Roots of Hall's cubic by NumPy; a limit that excludes 0 ends there at most."""
    gain, error, t = np.array([9.0, -9.0, 0.1, 3.2]), np.ones(4), 3.0
    lean = np.array([0.2, 0.2, -0.3, 0.2])
    low, high = simultaneous_limits(gain, error, t, 0.0, lean)
    for k, a in enumerate(lean):

        def reached(value: float, a: float) -> float:
            roots = np.roots([a**2 / 27, a / 3, 1.0, a / 6 - value])
            return float(roots[np.abs(roots.imag) < 1e-9].real[0])

        ends = [reached(side * t, sign * a) for side in (1, -1) for sign in (1, -1)]
        wanted = gain[k] - max(t, *ends), gain[k] - min(-t, *ends)
        if k == 3:  # the own sign of the skewness keeps 0 out, the other one does not
            assert wanted[0] < 0.0 < gain[k] - max(t, reached(t, a))
            wanted = 0.0, wanted[1]
        assert_allclose((low[k], high[k]), wanted, rtol=1e-10, atol=1e-12)


# ---- Letters: two rows share one if and only if they are not told apart


def check_letters(told_apart: np.ndarray) -> None:
    """Raise unless the letters show these ties, and are few."""
    found = letters(told_apart)
    m = len(told_apart)
    split = (lambda text: {*text.split()}) if any(" " in x for x in found) else set
    own = [split(text) for text in found]
    assert all(own)
    for i, j in combinations(range(m), 2):
        assert bool(own[i] & own[j]) == (not told_apart[i, j])
    assert len(set().union(*own)) <= max(m, m * m // 4)


@pytest.mark.parametrize("m", [1, 2, 3, 6, 4])
def test_letters_of_all_graphs_up_to_six(m):
    places = list(combinations(range(m), 2))
    for chosen in product([False, True], repeat=len(places)):
        graph = np.zeros((m, m), dtype=bool)
        for (i, j), apart in zip(places, chosen, strict=True):
            graph[i, j] = graph[j, i] = apart
        check_letters(graph)


@pytest.mark.parametrize(("m", "share"), [(30, 0.1), (200, 0.8), (80, 0.5)])
def test_letters_of_random_graphs(m, share):
    drawn = np.triu(np.random.default_rng(m).random((m, m)) < share, 1)
    check_letters(drawn | drawn.T)


def test_cliques_are_never_enumerated():
    # 3**20 maximal cliques (Moon and Moser 1965)
    graph = np.kron(np.eye(20, dtype=bool), np.ones((3, 3), dtype=bool))
    check_letters(graph & ~np.eye(60, dtype=bool))


def test_letters_of_ordered_values_read_from_a():
    value = np.array([9.0, 8.5, 7.9, 7.0, 3.0])
    apart = np.abs(value - value[:, None]) > 1.0
    assert letters(apart) == ["a", "ab", "bc", "c", "d"]
    assert letters(np.ones((28, 28), dtype=bool))[-3:] == ["z", "aa", "ab"]
    assert letters(np.zeros((3, 3), dtype=bool)) == ["a", "a", "a"]
    assert letters(np.zeros((0, 0), dtype=bool)) == []


def test_simultaneous_limits_solve_the_equation_of_the_widened_error():
    low, high = simultaneous_limits(np.array([0.3]), np.array([0.1]), 2.0, 0.1)
    for far in (high - 0.3, 0.3 - low):
        assert far**2 == pytest.approx(2.0**2 * (0.1**2 + 0.1 * far**2))
