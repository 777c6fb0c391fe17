"""Hall's (1992) transformation of the t statistic for means of skewed differences.

Random sign tests assume symmetric differences. If a few items contribute most of the variance, a
random sign test rejects too often in one tail. If Hall's test must also reject, the error rate
stays below the level, and no power is lost for symmetric differences.
"""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import FloatArray


def transformed(t: FloatArray, lean: FloatArray) -> FloatArray:
    """Return Hall's statistic, ((1 + a t/3)³ − 1)/a + a/6, which is nearly symmetric.

    Parameters
    ----------
    t : array (...)
        Mean divided by its standard error.
    lean : array (...)
        The value of a: the skewness of the items divided by the square root of the number of items.

    References
    ----------
    P. Hall (1992), On the removal of skewness by transformation, equation 2.4.
    """
    share = lean * t  # use products instead of powers, so that -t and -lean only change the sign
    return np.asarray(t + share * t / 3.0 + share * share * t / 27.0 + lean / 6.0)


def inverse(value: FloatArray | float, lean: FloatArray) -> FloatArray:
    """Return the t statistic that is transformed to this value."""
    moved = value - lean / 6.0
    root = np.cbrt(1.0 + lean * moved)
    return np.asarray(3.0 * moved / (root**2 + root + 1.0))


def upper_tail(t: FloatArray, lean: FloatArray, freedom: float) -> FloatArray:
    """Return the p-value from Hall's statistic for a mean above 0."""
    from scipy.special import stdtr

    return np.asarray(stdtr(freedom, -transformed(t, lean)), dtype=np.float64)


def held_back(t: FloatArray, lean: FloatArray, *, two_sided: bool) -> FloatArray:
    """Return t or Hall's statistic, whichever rejects less often; 0 if their signs differ."""
    other = transformed(t, lean)
    if not two_sided:
        return np.minimum(t, other)
    alike = np.sign(t) == np.sign(other)
    return np.where(alike, np.sign(t) * np.minimum(np.abs(t), np.abs(other)), 0.0)


def reaching(
    limits: tuple[FloatArray, FloatArray],
    estimate: FloatArray,
    error: FloatArray,
    lean: FloatArray,
    critical: FloatArray | float,
) -> tuple[FloatArray, FloatArray]:
    """Return limits widened to include means that Hall's statistic does not reject.

    NaN is returned as NaN. ``critical`` is the critical value and ``error`` the standard error.
    """
    low, high = limits
    with np.errstate(invalid="ignore"):  # infinite critical values
        below = estimate - error * inverse(critical, lean)
        above = estimate - error * inverse(-critical, lean)
    return (
        np.where(np.isnan(below), low, np.minimum(low, below)),
        np.where(np.isnan(above), high, np.maximum(high, above)),
    )
