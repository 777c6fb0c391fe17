"""Arithmetic of the studies of pairs of systems, against NumPy."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from rankeval_pd.stats import gains


def test_weighted_quantiles_are_those_of_repeated_values():
    """At the edge between two values it is the smaller one; without weight there is none."""
    rng = np.random.default_rng(0)
    values, weights = rng.permutation(9) + 0.5, rng.integers(0, 4, (50, 9)).astype(float)
    weights[0], weights[1] = 0.0, 1.0
    weights[2] = np.where(values < 8, 1.0, 0.0)  # eight values: a half of them is a whole number
    for share in (0.25, 0.5, 0.75):
        wanted = [
            np.quantile(np.repeat(values, row.astype(int)), share, method="inverted_cdf")
            for row in weights[1:]
        ]
        assert_array_equal(gains.weighted_quantiles(values, weights, share), [np.nan, *wanted])
