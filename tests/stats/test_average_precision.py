"""The influences on average precision, of both ways of ties."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from rankeval_pd.stats.rankings import average_precision


def test_without_ties_the_mean_over_orders_is_that_of_the_one_order():
    rng = np.random.default_rng(4)
    score, gold, here = rng.normal(size=(3, 40)), rng.random((3, 40)) < 0.3, rng.random(40) < 0.9
    one, mean = (
        average_precision.influences(score, gold, here, ties=ties)
        for ties in ("blocks", "expected")
    )
    assert_allclose(mean.value, one.value, rtol=1e-13)
    assert_allclose(mean.corrected, one.corrected, rtol=1e-13)
    assert_allclose(mean.influence, one.influence, rtol=1e-12, atol=1e-14)
