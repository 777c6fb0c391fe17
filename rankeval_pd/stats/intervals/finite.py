"""Intervals for a finite population of which a random sample was looked at."""

from __future__ import annotations

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray
from rankeval_pd.stats.distributions import hypergeometric
from rankeval_pd.stats.distributions.normal import z_of
from rankeval_pd.stats.search import first_near


def hypergeometric_limits(
    tp: AnyArray, judged: AnyArray, size: AnyArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest number of positives in all that the sample allows.

    Exact and equal-tailed: the numbers T of ``size`` candidates for which neither tail of the
    hypergeometric law at ``tp`` of ``judged`` is at most (1 - level) / 2 (Buonaccorsi 1987). All
    judged, the limits are the number itself; none judged, 0 and the size.
    """
    tp, judged, size = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(tp, judged, size))
    alpha = 0.5 * (1.0 - level)
    low, high = tp, size - (judged - tp)

    def enough(total: FloatArray) -> BoolArray:
        """Whether so many positives give as many in the sample often enough."""
        inside = np.clip(total, low, high)
        result: BoolArray = np.exp(hypergeometric.tails(tp, size, inside, judged).ge) > alpha
        return result

    def too_many(total: FloatArray) -> BoolArray:
        """Whether so many give as few too rarely: as many negatives as there are, or more."""
        inside = np.clip(total, low, high)
        upper = hypergeometric.tails(judged - tp, size, size - inside, judged).ge
        result: BoolArray = (np.exp(upper) <= alpha) | (total > high)
        return result

    about, largest_about = _about(tp, judged, size, level)
    least = first_near(enough, low, high, about)
    largest = first_near(too_many, low, high + 1.0, largest_about + 1.0) - 1.0
    return np.clip(least, low, high), np.clip(largest, low, high)


def _about(
    tp: FloatArray, judged: FloatArray, size: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return where the limits are, nearly: Wilson's for a sample without replacement.

    It has the variance of as many judgements with replacement, and half a candidate on either side.
    """
    z = z_of(level)
    judged = np.maximum(judged, 1.0)
    worth = judged * np.maximum(size - 1.0, 1.0) / np.maximum(size - judged, 0.5)
    ends = []
    for count, sign in ((tp - 0.5, -1.0), (tp + 0.5, 1.0)):
        share = np.clip(count / judged, 0.0, 1.0)
        spread = np.sqrt(share * (1.0 - share) / worth + (0.5 * z / worth) ** 2)
        ends.append(size * (share + 0.5 * z**2 / worth + sign * z * spread) / (1.0 + z**2 / worth))
    return ends[0], ends[1]
