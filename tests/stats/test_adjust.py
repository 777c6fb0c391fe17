"""Adjusted p-values against statsmodels."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from statsmodels.stats.multitest import multipletests

from rankeval_pd.stats.families import adjust, step_down
from rankeval_pd.stats.items import ADJUSTMENTS
from tests.conftest import examples

STATSMODELS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh", "by": "fdr_by"}


def reference(p, method):
    """Adjust what is not NaN with statsmodels."""
    result, tests = np.full(p.shape, np.nan), ~np.isnan(p)
    if tests.any():
        # it collects garbage after each call, which takes a tenth of a second beside other tests
        with mock.patch("gc.collect"):
            result[tests] = multipletests(p[tests], method=STATSMODELS[method])[1]
    return result


@pytest.mark.parametrize("method", ADJUSTMENTS)
@settings(max_examples=examples(100))
@given(arrays(float, st.integers(1, 12), elements=st.floats(0, 1) | st.just(np.nan)))
def test_against_statsmodels(method, p):
    """statsmodels' multipletests of the entries that are not NaN."""
    # no subnormal products, whose last digits depend on the order of the factors
    p = np.where(p < 1e-290, 0.0, p)
    assert_allclose(adjust(p, method), reference(p, method), rtol=1e-12)


@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_families(method):
    """Each row is a separate family; rows contain NaN, ties and tiny p-values."""
    p = np.array(
        [
            [0.01, np.nan, 0.04, 0.03, 0.01],
            [np.nan] * 5,
            [1e-300, 0.5, 1e-299, 1.0, np.nan],
            [0.2, 0.2, 0.2, 0.2, 0.2],
        ]
    )
    found = adjust(p.reshape(2, 2, 5), method).reshape(4, 5)
    assert_allclose(found, [reference(row, method) for row in p], rtol=1e-12)


@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_one_test_and_none(method):
    """One test needs no adjustment; no test has no p-value; the input is not changed."""
    p = np.array([[0.03], [1.0]])
    assert_array_equal(adjust(p, method), [[0.03], [1.0]])
    assert adjust(np.empty(0), method).shape == (0,)
    assert adjust(np.empty((3, 0)), method).shape == (3, 0)


@pytest.mark.parametrize("method", ADJUSTMENTS)
@settings(max_examples=examples(50))
@given(p=arrays(float, 8, elements=st.floats(0, 1)), order=st.permutations(range(8)))
def test_relations(method, p, order):
    """Never below p, above 1 or above Bonferroni (times the harmonic sum), in any order."""
    found = adjust(p, method)
    assert (found >= p).all()
    assert (found <= 1.0).all()
    assert_array_equal(adjust(p[order], method), found[order])
    if method in ("holm", "bh"):
        assert (found <= adjust(p, "bonferroni")).all()


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


def test_step_down_of_families():
    """Pairs with p-values at several n, those of one pair NaN."""
    p = np.array([0.03, 0.2, 0.01, 0.005, np.nan, np.nan, 0.04, 0.9, 0.6, 0.002])
    pair = np.repeat(np.arange(5), 2)
    found = step_down(p, pair)
    assert_allclose(found, step_down_by_definition(p, pair), rtol=1e-12)
    # all four pairs have a test left at .002, .005 and .01; three of them after that
    assert_allclose(found[[9, 3, 2]], [0.008, 0.02, 0.04], rtol=1e-12)
    assert_allclose(found[[0, 6]], [3 * 0.03, 3 * 0.04], rtol=1e-12)
    assert step_down(np.empty(0), np.empty(0, dtype=np.int64)).shape == (0,)


@settings(max_examples=examples(50))
@given(
    p=arrays(float, 9, elements=st.sampled_from([np.nan, 0.0, 0.001, 0.01, 0.02, 0.3, 1.0])),
    family=arrays(np.int64, 9, elements=st.integers(0, 3)),
    order=st.permutations(range(9)),
)
def test_step_down_relations(p, family, order):
    """By definition, in any order; at most Bonferroni over families, and Holm of single tests."""
    found, count = step_down(p, family), np.unique(family[~np.isnan(p)]).size
    assert_allclose(found, step_down_by_definition(p, family), rtol=1e-12)
    assert_array_equal(step_down(p[order], family[order]), found[order])
    assert (found >= p)[~np.isnan(p)].all()
    assert (found <= np.minimum(count * p, 1.0) + 1e-15)[~np.isnan(p)].all()
    assert_allclose(step_down(p, np.arange(9)), adjust(p, "holm"), rtol=1e-12)
    assert_array_equal(step_down(p, np.zeros(9, dtype=np.int64)), p)


def test_a_pair_that_differs_at_one_n_still_counts_at_the_others():
    """Sixteen pairs with a great difference at one n and none at another: at most 5 % err.

    Multiplied as the smallest p-value of their pair is, 17 % would.
    """
    runs, pairs = 4000, 16
    null = np.random.default_rng(5).random((runs, pairs))
    great = np.random.default_rng(6).random((runs, pairs)) * 1e-9
    family = np.tile(np.arange(pairs), 2)
    wrong = [
        (step_down(np.concatenate(both), family)[pairs:] <= 0.05).any()
        for both in zip(great, null, strict=True)
    ]
    assert np.mean(wrong) == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / runs))
