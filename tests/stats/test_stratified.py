"""The exact test of strata where both samples have as many positives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rankeval_pd.stats.two_by_two import stratified_exact_test


def test_equal_counts_have_p_one_and_half_of_their_probability_less():
    """The law of the sum by SciPy, of two strata."""
    x, m = np.array([3, 2]), np.array([5, 7])
    found = stratified_exact_test(x, x, m, "two-sided")
    laws = [
        stats.hypergeom(2 * b, 2 * a, b).pmf(np.arange(b + 1)) for a, b in zip(x, m, strict=True)
    ]
    chance = np.convolve(*laws)[x.sum()]
    assert found.p_value == 1.0
    assert found.p_mid == pytest.approx(1 - chance / 2, rel=1e-12)
