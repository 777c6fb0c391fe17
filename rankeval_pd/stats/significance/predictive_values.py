"""Paired tests for two classifiers: predictive values and error rates."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray
from rankeval_pd.stats.distributions import binomial


def kosinski_test(
    tp: tuple[AnyArray, AnyArray, AnyArray],
    size: tuple[AnyArray, AnyArray, AnyArray],
    alternative: str,
) -> FloatArray:
    """Return the p-value of the weighted generalized score test for two predictive values.

    Parameters
    ----------
    tp, size : tuple of arrays
        Numbers of true positives and of candidates in both sets, in a only, and in b only.
    alternative : {"two-sided", "greater", "less"}

    Notes
    -----
    A. S. Kosinski (2013), A weighted generalized score statistic for comparison of predictive
    values of diagnostic tests, Statistics in Medicine 32. Unlike the score test of Leisenring,
    Alonzo and Pepe (2000), this test equals the pooled test of two proportions if the sets share no
    candidates. The p-value is 1 if there is no difference or no variation, or if a set is empty.
    """
    from scipy import special

    both, only_a, only_b = (np.asarray(x, dtype=float) for x in tp)
    n_both, n_a, n_b = (np.asarray(x, dtype=float) for x in size)
    n_a, n_b = n_both + n_a, n_both + n_b
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (2.0 * both + only_a + only_b) / (n_a + n_b)
        shared = both * (1.0 - pooled) ** 2 + (n_both - both) * pooled**2
        variance = (pooled * (1.0 - pooled) - 2.0 * shared / (n_a + n_b)) * (1.0 / n_a + 1.0 / n_b)
        difference = (both + only_a) / n_a - (both + only_b) / n_b
        z = difference / np.sqrt(np.maximum(variance, 0.0))
    z = np.where((variance > 1e-15) & (np.abs(difference) > 1e-15), z, 0.0)
    if alternative == "two-sided":
        return np.asarray(2.0 * special.ndtr(-np.abs(z)), dtype=float)
    p_value = np.asarray(special.ndtr(-z if alternative == "greater" else z), dtype=float)
    return np.where(np.isfinite(difference), p_value, 1.0)


def discordant_test(
    only_a: AnyArray, only_b: AnyArray, alternative: str
) -> tuple[FloatArray, FloatArray]:
    """Return McNemar's exact p-value and the mid-p for two paired proportions."""
    a, b = (np.asarray(x, dtype=float) for x in (only_a, only_b))
    right = {"greater": a, "less": b}.get(alternative, np.maximum(a, b))
    tails = binomial.tails(right, a + b, 0.5)
    above, at_least = (np.exp(x) for x in (tails.gt, tails.ge))
    middle = 0.5 * (above + at_least)
    if alternative == "two-sided":
        at_least, middle = 2.0 * at_least, 2.0 * middle
    return np.minimum(at_least, 1.0), np.minimum(middle, 1.0)
