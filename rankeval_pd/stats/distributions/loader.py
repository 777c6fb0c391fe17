"""Logarithms of factorials without cancellation (Loader 2000).

``lgamma`` of ten million is 1.5e8, and the difference of a few of those has lost eight of its
sixteen digits. Loader's decomposition writes every binomial and hypergeometric probability as
Stirling remainders, which are small, and deviances, which are small wherever the probability
is not.

References
----------
C. Loader, *Fast and accurate computation of binomial probabilities*, 2000.
"""

from __future__ import annotations

import math

import numpy as np

from rankeval_pd.stats._types import FloatArray

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)

# log(x!) - (x log x - x) for x = 0, ..., 15, from mpmath with 40 digits
_SMALL = np.array(
    [
        0.0,
        1.0,
        1.3068528194400546,
        1.4959226032237258,
        1.6328763858683832,
        1.7403021806115442,
        1.828694396641771,
        1.9037903176782212,
        1.9690705693065629,
        2.0268062840554952,
        2.0785616431350586,
        2.12545984509181,
        2.168334698205882,
        2.207822206123445,
        2.244418568125061,
        2.2785183673077407,
    ]
)


def stirling_remainder(x: FloatArray) -> FloatArray:
    """Return log(x!) - (x log x - x) of whole numbers x >= 0, to about 1e-16."""
    x = np.asarray(x, dtype=float)
    small = _SMALL[np.minimum(x, 15.0).astype(np.intp)]
    rest: FloatArray = np.where(x <= 15.0, small, _stirling_series(np.maximum(x, 15.0)))
    return rest


def _stirling_series(x: FloatArray) -> FloatArray:
    """Return log Gamma(x + 1) - (x log x - x) of x >= 15."""
    u = 1.0 / (x * x)
    series = (
        1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u * (1 / 1188 - u * 691 / 360360))))
    ) / x
    rest: FloatArray = _HALF_LOG_2PI + 0.5 * np.log(x) + series
    return rest


def real_stirling_remainder(x: FloatArray) -> FloatArray:
    """Return log Gamma(x + 1) - (x log x - x) of any x >= 0."""
    from scipy import special

    x = np.asarray(x, dtype=float)
    near = np.minimum(x, 15.0)
    small = special.gammaln(near + 1.0) - special.xlogy(near, near) + near
    rest: FloatArray = np.where(x < 15.0, small, _stirling_series(np.maximum(x, 15.0)))
    return rest


def deviance(x: FloatArray, mean: FloatArray, difference: FloatArray | None = None) -> FloatArray:
    """Return x log(x/mean) + mean - x >= 0 (Loader's bd0), accurate where x is close to mean.

    0 log 0 is 0; a mean of 0 needs x = 0. ``difference`` is x - mean, where it is known better
    than by subtraction.
    """
    x, mean = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(mean, dtype=float))
    total = x + mean
    gap = x - mean if difference is None else difference
    v = gap / np.where(total > 0, total, 1.0)
    v2 = v * v
    # x log(x/mean) = 2x artanh(v): the series from v^3 on, for |v| < 0.1
    series = np.zeros_like(v)
    for odd in range(21, 2, -2):
        series = (series + 1.0 / odd) * v2
    near = np.asarray(gap * v + 2.0 * x * v * series)
    far = np.abs(v) >= 0.1
    if far.any():
        xf, mf = x[far], mean[far]
        positive = (xf > 0) & (mf > 0)
        ratio = np.where(positive, xf, 1.0) / np.where(positive, mf, 1.0)
        near[far] = xf * np.log(ratio) + mf - xf
    return near
