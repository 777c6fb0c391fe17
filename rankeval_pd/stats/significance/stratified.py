"""Two proportions compared within strata: the exact test of Cochran, Mantel and Haenszel.

Stratum q has two samples of m_q each, with x_q and y_q positives. Given all margins, x_q is
hypergeometric under the hypothesis that no stratum has a difference, and the test statistic is the
sum of the x_q, whose law is the convolution. Samples of equal size make this law symmetric.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.distributions.normal import z_of
from rankeval_pd.stats.distributions.sums import hypergeometric_laws, tails_of_sum


class Exact(NamedTuple):
    """The p-values of one test."""

    p_value: float
    p_mid: float  #: with one half of the probability of what was observed


def exact_test(x: IntArray, y: IntArray, m: IntArray, alternative: str) -> Exact:
    """Return the exact p-values, x being one of two samples of m in each stratum.

    The two-sided p-value is that of sums at least as far from their mean. Cost: that of some
    convolutions, O(the square of the sum's standard deviations).
    """
    both = x + y
    tables, times = np.unique(np.stack([m, both]), axis=1, return_counts=True)
    size, positive = tables.astype(float)
    observed, total = float(x.sum()), float(both.sum())
    away = observed - total / 2.0
    if alternative == "two-sided":
        count, factor = total / 2.0 + abs(away), 2.0
    else:  # of the other sample, whose law is the same, "less" is "greater"
        count, factor = (observed if alternative == "greater" else total - observed), 1.0
    if not positive.any() or (positive == 2.0 * size).all():
        return Exact(1.0, 1.0)
    laws = hypergeometric_laws(size, 2.0 * size, positive)
    result = tails_of_sum(count, laws, times.astype(np.int64))
    if alternative == "two-sided" and away == 0.0:
        return Exact(1.0, 1.0 - 0.5 * math.exp(result.pmf))
    return Exact(*(min(1.0, factor * math.exp(log_p)) for log_p in (result.ge, result.mid)))


def difference(x: IntArray, y: IntArray, m: IntArray, level: float) -> tuple[float, float, float]:
    """Return the Mantel-Haenszel difference of proportions, and Sato's limits.

    The variance holds for few large strata and for many small ones (T. Sato, 1989).
    """
    inside = m > 0
    a, b, n = (np.asarray(v[inside], dtype=float) for v in (x, y, m))
    weight = float(n.sum()) / 2.0
    if weight == 0.0:
        return 0.0, 0.0, 0.0
    result = float((a - b).sum()) / 2.0 / weight
    p: FloatArray = (b - a) / 4.0
    q: FloatArray = (a * (n - b) + b * (n - a)) / (4.0 * n)
    variance = max((result * float(p.sum()) + float(q.sum())) / weight**2, 0.0)
    half = z_of(level) * math.sqrt(variance)
    return result, max(result - half, -1.0), min(result + half, 1.0)
