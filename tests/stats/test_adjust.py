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

from rankeval_pd.stats.significance.adjust import ADJUSTMENTS, adjust, step_down
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
    """Each row is a family of its own; a row of NaN, ties and tiny p-values."""
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


def test_step_down_of_curves_is_holms_of_their_smallest_p_values():
    """Pairs with p-values at several n, those of one pair NaN; the others are scaled alike."""
    p = np.array([[0.03, 0.2], [0.01, 0.005], [np.nan, np.nan], [0.04, 0.9], [0.6, 0.02]])
    found = step_down(p)
    smallest = np.fmin(p[:, 0], p[:, 1])
    assert_allclose(np.fmin(found[:, 0], found[:, 1]), reference(smallest, "holm"), rtol=1e-12)
    # the second smallest of four: three times as large, but no less than the smallest's
    assert_allclose(found[4], [1.0, 3 * 0.02], rtol=1e-12)
    assert_allclose(found[1], [4 * 0.01, 4 * 0.005], rtol=1e-12)
