"""The odds ratio of two difference regions given their margins: estimate and exact interval.

Given both sizes and the number of positives, the true positives in a follow Fisher's noncentral
hypergeometric distribution, whose one parameter is the odds ratio of positives in a and in b.
Everything is solved on theta, the logarithm of the odds ratio. Probabilities enter in units of
that of the observed table, as sums of positive terms, so that nothing cancels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.distributions.tails import ratio_moments

_SETTLED = 1e-8  # Newton's steps are quadratic: after one this small, nothing is left to gain
_LONGEST = 3.0  # a step from where the function is flat leads nowhere
_MARGIN = 1e-3


class OddsRatio(NamedTuple):
    """Conditional estimate of the odds ratio and its exact interval."""

    mle: FloatArray  #: the odds ratio under which the observed count is the expected one
    low: FloatArray  #: the odds ratio with P(X >= observed) = (1 - level)/2; 0 if there is none
    high: FloatArray  #: the odds ratio with P(X <= observed) = (1 - level)/2; inf if there is none


def conditional_odds_ratio(
    tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray, level: float
) -> OddsRatio:
    """Return the conditional maximum-likelihood odds ratio and Cornfield's exact interval.

    Parameters
    ----------
    tp_a, n_a, tp_b, n_b : array of whole numbers
        True positives and sizes of the two regions; they broadcast.
    level : float
        Confidence level; either tail of the interval has (1 - level)/2.

    Notes
    -----
    The estimate is 0 or inf where the count is the lowest or the highest possible, and NaN where
    only one count is possible: an empty region, no positives, or positives only. Logarithms of
    all results hold to 1e-12 or so; the cost of a table grows with the standard deviation of its
    count. The interval inverts two one-sided tests: the two-sided Fisher test, which orders tables
    by their probability, may reject an odds ratio of 1 that is inside, and the other way round.
    """
    tp_a, n_a, tp_b, n_b = (
        np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp_a, n_a, tp_b, n_b)
    )
    fp_a, fp_b = n_a - tp_a, n_b - tp_b
    tail = (1.0 - level) / 2.0
    lowest, highest = (tp_a == 0) | (fp_b == 0), (tp_b == 0) | (fp_a == 0)
    mle = np.where(highest, np.inf, 0.0)
    mle[lowest & highest] = np.nan
    inner = ~(lowest | highest)
    mle[inner] = np.exp(_log_mle(tp_a[inner], fp_a[inner], tp_b[inner], fp_b[inner]))
    low, high = np.zeros(mle.shape), np.full(mle.shape, np.inf)
    some = ~lowest
    low[some] = np.exp(_log_low(tp_a[some], fp_a[some], tp_b[some], fp_b[some], tail))
    some = ~highest
    # exchanging the regions turns the odds ratio upside down
    high[some] = np.exp(-_log_low(tp_b[some], fp_b[some], tp_a[some], fp_a[some], tail))
    return OddsRatio(mle, low, high)


def _log_mle(tp_a: FloatArray, fp_a: FloatArray, tp_b: FloatArray, fp_b: FloatArray) -> FloatArray:
    """Return theta at which the expected count is tp_a; all four cells are positive.

    It lies between 0 and the logarithm of the sample's odds ratio (Mantel and Hankey 1975). The
    log-likelihood is concave: Newton's steps, halved by the bracket where they leave it.
    """
    sample = np.log(tp_a) + np.log(fp_b) - np.log(fp_a) - np.log(tp_b)
    low, high = np.minimum(sample, 0.0) - _MARGIN, np.maximum(sample, 0.0) + _MARGIN
    theta = sample.copy()
    active = np.arange(theta.size)
    while active.size:
        cells = tp_a[active], fp_a[active], tp_b[active], fp_b[active]
        now = theta[active]
        (up, up1, up2), (down, down1, down2) = _sides(*cells, now)
        mass = 1.0 + up + down
        excess = (up1 - down1) / mass  # expected less observed count
        variance = (up2 + down2) / mass - excess * excess
        low[active] = np.where(excess < 0.0, now, low[active])
        high[active] = np.where(excess > 0.0, now, high[active])
        new = now - excess / variance
        inside = (new >= low[active]) & (new <= high[active])
        theta[active] = np.where(inside, new, 0.5 * (low[active] + high[active]))
        active = active[np.abs(theta[active] - now) > _SETTLED]
    return theta


def _log_low(
    tp_a: FloatArray, fp_a: FloatArray, tp_b: FloatArray, fp_b: FloatArray, tail: float
) -> FloatArray:
    """Return theta with P(X >= tp_a) = ``tail``; tp_a is not the lowest possible count.

    The logarithm of the tail is concave in theta, since the variance of X given X >= tp_a is below
    that of X: Newton's steps converge from anywhere, from below after the first.
    """
    from scipy import special

    a, b, c, d = (x + 0.5 for x in (tp_a, fp_a, tp_b, fp_b))
    start = np.log(a) + np.log(d) - np.log(b) - np.log(c)
    spread = np.sqrt(1.0 / a + 1.0 / b + 1.0 / c + 1.0 / d)
    theta = start + float(special.ndtri(tail)) * spread
    active = np.arange(theta.size)
    while active.size:
        cells = tp_a[active], fp_a[active], tp_b[active], fp_b[active]
        (up, up1, _), (down, down1, _) = _sides(*cells, theta[active])
        log_tail = -np.log1p(down / (1.0 + up))
        slope = (up1 * down + down1 * (1.0 + up)) / ((1.0 + up) * (1.0 + up + down))
        step = np.clip((math.log(tail) - log_tail) / slope, -_LONGEST, _LONGEST)
        theta[active] += step
        active = active[np.abs(step) > _SETTLED]
    return theta


Moments = tuple[FloatArray, FloatArray, FloatArray]


def _sides(
    tp_a: FloatArray, fp_a: FloatArray, tp_b: FloatArray, fp_b: FloatArray, theta: FloatArray
) -> tuple[Moments, Moments]:
    """Return the mass above and below the observed count, its first and its second moment.

    Mass is in units of the probability of the observed count, moments are about this count.
    """
    odds = np.exp(theta)
    above = ratio_moments(tp_b, fp_a, tp_a + 1.0, fp_b + 1.0, odds)
    below = ratio_moments(tp_a, fp_b, tp_b + 1.0, fp_a + 1.0, 1.0 / odds)
    return above, below


def sample_odds_ratio(tp_a: AnyArray, n_a: AnyArray, tp_b: AnyArray, n_b: AnyArray) -> FloatArray:
    """Return (tp_a fp_b) / (fp_a tp_b), fp = n - tp: 0, inf, or NaN for 0/0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds: FloatArray = np.true_divide(tp_a * (n_b - tp_b), (n_a - tp_a) * tp_b)
    return odds
