"""Association measures of 2x2 contingency tables, from the four observed frequencies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankeval_pd.stats._types import FloatArray
from rankeval_pd.stats.loader import deviance

Measure = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]


def expected(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return E11, the frequency of the pair if its words were independent."""
    total = o11 + o12 + o21 + o22
    found: FloatArray = (o11 + o12) * ((o11 + o21) / total)
    return found


def _excess(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return O11 - E11, without the cancellation that the difference itself has."""
    return (o11 * o22 - o12 * o21) / (o11 + o12 + o21 + o22)


def log_likelihood(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return Dunning's G2 with the sign of O11 - E11.

    The sum of O log(O/E) is the sum of the four deviances, each of which is positive, because the
    O - E add up to 0.
    """
    total = o11 + o12 + o21 + o22
    excess = _excess(o11, o12, o21, o22)
    result = np.zeros_like(total)
    for cell, row, column, difference in (
        (o11, o11 + o12, o11 + o21, excess),
        (o12, o11 + o12, o12 + o22, -excess),
        (o21, o21 + o22, o11 + o21, -excess),
        (o22, o21 + o22, o12 + o22, excess),
    ):
        result = result + deviance(cell, row * (column / total), difference)
    return np.copysign(2.0 * result, excess) + 0.0


def chi_squared(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return Pearson's X2 with the sign of O11 - E11; 0 where a margin is 0."""
    total = o11 + o12 + o21 + o22
    excess = _excess(o11, o12, o21, o22)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = ((o11 + o12) / total) * (o21 + o22) * ((o11 + o21) / total) * (o12 + o22)
        statistic = excess * np.abs(excess) * (total / shares)
    return np.where(shares > 0, statistic, 0.0)


def t_score(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return (O11 - E11) / sqrt(O11)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        score: FloatArray = _excess(o11, o12, o21, o22) / np.sqrt(o11)
    return score


def mutual_information(
    o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray
) -> FloatArray:
    """Return log2(O11 / E11)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        score: FloatArray = np.log2(o11 / expected(o11, o12, o21, o22))
    return score


def frequency(o11: FloatArray, o12: FloatArray, o21: FloatArray, o22: FloatArray) -> FloatArray:
    """Return O11."""
    return o11 + 0.0


MEASURES: dict[str, Measure] = {
    "G2": log_likelihood,
    "X2": chi_squared,
    "t": t_score,
    "f": frequency,
    "MI": mutual_information,
}
"""Association measures by name."""
