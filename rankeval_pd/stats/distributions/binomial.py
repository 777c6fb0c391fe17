"""The binomial distribution, its continuous form, and the Poisson distribution."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.distributions.hypergeometric import (
    Tails,
    deviance,
    ratio_sum,
    real_stirling_remainder,
    stirling_remainder,
    tails_beyond_support,
    tails_from_series,
)

# ----------------------------------------------------------------------- The binomial distribution
#
# The random model for an infinite population (Macskassy 2005, Eqs 17, 18).


def log_pmf(i: FloatArray, n: FloatArray, z: FloatArray) -> FloatArray:
    """Return log P(X = i) for X ~ Binomial(n, z), with an integer i from 0 to n."""
    rest: FloatArray = (
        stirling_remainder(n) - stirling_remainder(i) - stirling_remainder(n - i)
    ) - (deviance(i, n * z) + deviance(n - i, n * (1.0 - z)))
    return rest


def tails(i: AnyArray, n: AnyArray, z: AnyArray | float) -> Tails:
    """Return the log upper tails of X ~ Binomial(n, z) at integers i.

    Arguments are broadcast. i can lie outside 0, ..., n, and z can be 0 or 1.
    """
    i, n, z = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(i, n, z))
    lowest, highest = np.where(z == 1.0, n, 0.0), np.where(z == 0.0, 0.0, n)
    inside = np.clip(i, lowest, highest)
    proper = (z > 0.0) & (z < 1.0)
    zs = np.where(proper, z, 0.5)
    lp = np.where(proper, log_pmf(inside, n, zs), 0.0)
    above_mode = inside >= np.floor((n + 1.0) * zs)
    infinite = np.full_like(n, np.inf)
    # sum one series only: upward from i if i is at or above the mode, otherwise downward
    up, down = n - inside, inside
    odds = zs / (1.0 - zs)
    series = ratio_sum(
        np.where(proper, np.where(above_mode, up, down), 0.0),
        infinite,
        np.where(above_mode, down, up) + 1.0,
        infinite,
        np.where(above_mode, odds, 1.0 / odds),
    )
    return tails_beyond_support(
        tails_from_series(lp, series, series, above_mode), i, lowest, highest
    )


# ------------------------------------------------------ The incomplete beta function in logarithms
#
# The continuous extension of a binomial tail: I_z(x + 1, n - x) is P(X > x) at integers x.

# below this value SciPy's function can underflow even when the true value is above 1e-300
_UNDERFLOW_LIMIT = 1e-200


def log_betainc(a: FloatArray, b: FloatArray, z: float | FloatArray) -> FloatArray:
    """Return log I_z(a, b) for a > 0, b >= 0, 0 < z < 1, which is -inf only at b = 0.

    In the far tail, I_z is its leading term, a binomial probability, times the hypergeometric
    series 2F1(a + b, 1; a + 1; z), whose terms are positive.
    """
    from scipy import special

    a, b, z = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(a, b, z))
    value = np.where(b > 0, special.betainc(a, np.where(b > 0, b, 1.0), z), 0.0)
    with np.errstate(divide="ignore"):
        result = np.log(value)
    # tiny values: write the leading term z^a (1 - z)^b / (a B(a, b)) with Stirling remainders
    tiny = (value < _UNDERFLOW_LIMIT) & (b > 0)
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
        # ratios (n + t) z / (a + 1 + t): the signs of -n and -z cancel
        infinite = np.full_like(a, np.inf)
        series = ratio_sum(-n, infinite, a + 1.0, infinite, -z)
        result = np.asarray(result)
        result[tiny] = lead + np.log1p(series)
    return result


# ------------------------------------------------------------------------ The Poisson distribution


def poisson_log_pmf(i: FloatArray, mean: FloatArray) -> FloatArray:
    """Return log P(X = i) for X ~ Poisson(mean), with an integer i >= 0."""
    result: FloatArray = -stirling_remainder(i) - deviance(i, mean)
    return result


def poisson_tails(i: AnyArray, mean: AnyArray | float) -> Tails:
    """Return the log upper tails of X ~ Poisson(mean) at integers i.

    Arguments are broadcast. i can be negative, and the mean can be 0.
    """
    i, mean = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(i, mean))
    highest = np.where(mean > 0.0, np.inf, 0.0)
    inside = np.clip(i, 0.0, highest)
    above_mode = inside >= np.floor(mean)
    series = np.zeros(i.shape)
    # each side of the mean has its own series, and only one of the two series is needed
    for side in (True, False):
        here = above_mode == side
        x, m = inside[here], np.where(mean[here] > 0.0, mean[here], 1.0)
        infinite = np.full_like(x, np.inf)
        if side:  # ratios mean/(i + 1), mean/(i + 2), ...
            result = ratio_sum(infinite, infinite, x + 1.0, infinite, mean[here])
        else:  # ratios i/mean, (i - 1)/mean, ...
            result = ratio_sum(x, infinite, infinite, infinite, 1.0 / m)
        series[here] = result
    return tails_beyond_support(
        tails_from_series(poisson_log_pmf(inside, mean), series, series, above_mode),
        i,
        np.zeros(i.shape),
        highest,
    )
