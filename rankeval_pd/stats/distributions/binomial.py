"""The binomial distribution: the random model of an infinite population (Macskassy, Eqs 17, 18)."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.distributions.loader import deviance, stirling_remainder
from rankeval_pd.stats.distributions.tails import Tails, combine, ratio_sum


def log_pmf(i: FloatArray, n: FloatArray, z: FloatArray) -> FloatArray:
    """Return log P(X = i) for X ~ Binomial(n, z); i a whole number in 0, ..., n."""
    rest: FloatArray = (
        stirling_remainder(n) - stirling_remainder(i) - stirling_remainder(n - i)
    ) - (deviance(i, n * z) + deviance(n - i, n * (1.0 - z)))
    return rest


def tails(i: AnyArray, n: AnyArray, z: AnyArray | float) -> Tails:
    """Return the upper tails of X ~ Binomial(n, z) at whole numbers i, in logarithms.

    Arguments broadcast; i may lie outside 0, ..., n, and z may be 0 or 1.
    """
    i, n, z = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(i, n, z))
    lowest, highest = np.where(z == 1.0, n, 0.0), np.where(z == 0.0, 0.0, n)
    inside = np.clip(i, lowest, highest)
    proper = (z > 0.0) & (z < 1.0)
    zs = np.where(proper, z, 0.5)
    lp = np.where(proper, log_pmf(inside, n, zs), 0.0)
    above_mode = inside >= np.floor((n + 1.0) * zs)
    infinite = np.full_like(n, np.inf)
    # one series suffices: up from i where i is right of the mode, else down from i
    up, down = n - inside, inside
    odds = zs / (1.0 - zs)
    series = ratio_sum(
        np.where(proper, np.where(above_mode, up, down), 0.0),
        infinite,
        np.where(above_mode, down, up) + 1.0,
        infinite,
        np.where(above_mode, odds, 1.0 / odds),
    )
    return outside(combine(lp, series, series, above_mode), i, lowest, highest)


def outside(found: Tails, i: FloatArray, lowest: FloatArray, highest: FloatArray) -> Tails:
    """Return the tails with the sure and the impossible put in where i is beyond the support."""
    below, above = i < lowest, i > highest
    ge = np.where(i <= lowest, 0.0, np.where(above, -np.inf, found.ge))
    gt = np.where(below, 0.0, np.where(i >= highest, -np.inf, found.gt))
    mid = np.where(below, 0.0, np.where(above, -np.inf, found.mid))
    pmf = np.where(below | above, -np.inf, found.pmf)
    return Tails(ge, gt, mid, pmf)
