"""The t test of a gain whose variance has two parts, of items and of seeds, and its power.

The part of seeds has few degrees of freedom (Welch 1947, Satterthwaite 1946), the part of items
many. One number for the sum would be too large in those samples whose seeds happen to differ
little: two equal systems of two seeds would differ significantly in up to 12% of tests at 5%. So
the critical value is the mean of those of the two parts, weighted by their variances (Cochran
1964).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankeval_pd.stats._types import FloatArray

_HALVINGS = 60  # of the logarithm of a tail
_ENDLESS, _FARTHEST = 1e9, 1e300  # degrees of freedom of the normal law, and what is infinite


def mixed_critical(level: Any, share: Any, freedom: Any, of_seeds: Any) -> FloatArray:
    """Return the critical value of a two-sided interval; ``share`` of the variance is of seeds."""
    return critical_of((1.0 - level) / 2.0, share, freedom, of_seeds)


def critical_of(tail: Any, share: Any, freedom: Any, of_seeds: Any) -> FloatArray:
    """Return the critical value of one tail."""
    from scipy.special import stdtrit

    few = np.minimum(of_seeds, _ENDLESS)
    far = np.minimum(-stdtrit(few, tail), _FARTHEST)
    return np.asarray(share * far - (1.0 - share) * stdtrit(np.minimum(freedom, _ENDLESS), tail))


def mixed_tail(t: FloatArray, share: Any, freedom: Any, of_seeds: Any) -> FloatArray:
    """Return the p-value of a t statistic: the tail whose critical value it is."""
    size = np.abs(t)
    low, high = np.full(t.shape, -700.0), np.full(t.shape, np.log(0.5))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        beyond = critical_of(np.exp(middle), share, freedom, of_seeds) > size
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    tail = np.exp(high)
    return np.where(np.isnan(t), np.nan, np.where(t < 0.0, 1.0 - tail, tail))
