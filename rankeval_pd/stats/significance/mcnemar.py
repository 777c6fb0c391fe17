"""McNemar's exact test of two ranking methods as classifiers that accept or reject.

A method is right where it accepts a positive or rejects a negative. Two methods differ in their
difference regions only: a is right and b wrong at the true positives that only a accepts and at
the false positives that only b accepts.
"""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.distributions import binomial


def mcnemar_test(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, alternative: str
) -> FloatArray:
    """Return the p-value of McNemar's exact test: is a right where b is wrong half of the time?

    Parameters
    ----------
    tp_a, n_a, tp_b, n_b : array of whole numbers
        True positives and sizes of the two difference regions; they broadcast.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is right more often than b.

    Notes
    -----
    Of the n_a + n_b candidates, a is right at tp_a + (n_b - tp_b), a number that is binomial with
    probability 1/2 if both methods are right equally often. For two lists of d candidates each
    this assumes the variance d/2, where that of the binomial model of the two regions is
    2 d pi (1 - pi): the test is conservative by the factor 1/(4 pi (1 - pi)), hopelessly so where
    positives are rare. An empty region, or regions with no or only true positives, have p = 1,
    as in Fisher's test.
    """
    tp_a, n_a, tp_b, n_b = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp_a, n_a, tp_b, n_b)
    )
    total, positive = n_a + n_b, tp_a + tp_b
    right_a = tp_a + (n_b - tp_b)
    right_b = total - right_a
    if alternative == "two-sided":
        # the null distribution is symmetric: twice the smaller tail
        p_value = 2.0 * np.exp(binomial.tails(np.maximum(right_a, right_b), total, 0.5).ge)
    else:
        right = right_a if alternative == "greater" else right_b
        p_value = np.exp(binomial.tails(right, total, 0.5).ge)
    uninformative = (n_a == 0) | (n_b == 0) | (positive == 0) | (positive == total)
    return np.where(uninformative, 1.0, np.minimum(p_value, 1.0))
