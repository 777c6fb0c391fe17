"""The quantiles of intervals: of the normal distribution, and of Student's."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankeval_pd.stats._types import FloatArray


def z_of(level: float) -> float:
    """Return how many standard deviations either side of the mean hold this share."""
    from scipy import special

    return -float(special.ndtri((1.0 - level) / 2.0))


def t_of(freedom: Any, level: float) -> FloatArray:
    """Return how many standard errors either side hold this share, by Student's distribution.

    Of the lower tail: close to 1, the upper one is not to be told from 1.
    """
    from scipy import special

    return -np.asarray(special.stdtrit(freedom, (1.0 - level) / 2.0), dtype=np.float64)
