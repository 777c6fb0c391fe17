"""The regularized incomplete beta function in logarithms: a binomial tail made continuous."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import FloatArray
from rankeval_pd.stats.distributions.loader import deviance, real_stirling_remainder
from rankeval_pd.stats.distributions.tails import ratio_sum

_SAFE = 1e-200  # below, SciPy's function may underflow although its value is above 1e-300


def log_betainc(a: FloatArray, b: FloatArray, z: float | FloatArray) -> FloatArray:
    """Return log I_z(a, b) for a > 0, b >= 0, 0 < z < 1; -inf at b = 0 only.

    In the far tail, I_z is its leading term, a binomial probability, times the hypergeometric
    series 2F1(a + b, 1; a + 1; z), whose terms are positive.
    """
    from scipy import special

    a, b, z = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(a, b, z))
    value = np.where(b > 0, special.betainc(a, np.where(b > 0, b, 1.0), z), 0.0)
    with np.errstate(divide="ignore"):
        result = np.log(value)
    tiny = (value < _SAFE) & (b > 0)
    if tiny.any():
        a, b, z = a[tiny], b[tiny], z[tiny]
        n = a + b
        lead = (
            real_stirling_remainder(n)
            - real_stirling_remainder(a)
            - real_stirling_remainder(b)
            - deviance(a, n * z)
            - deviance(b, n * (1.0 - z))
            + np.log(b / n)
        )
        infinite = np.full_like(a, np.inf)
        series = ratio_sum(-n, infinite, a + 1.0, infinite, -z)
        result = np.asarray(result)
        result[tiny] = lead + np.log1p(series)
    return result
