"""Differences between n-best lists in mean labels from 0 to 1, such as vote fractions.

Let e be the mean label at the end of a list. The contribution u of a candidate is y - e if the
first list contains the candidate, minus y - e for the second list if that list contains the
candidate. The variance of the difference is the sum over all candidates of (u - mean of u)^2.
This is the delta method for lists with a random threshold; see
:mod:`rankeval_pd.stats.intervals.bands`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.intervals.bands import edge_precision


class VoteDifference(NamedTuple):
    """The two lists of a pair; the last axis is n."""

    overlap: IntArray
    total_a: FloatArray  #: sum of the labels in the list
    total_b: FloatArray
    total_only_a: FloatArray  #: sum of the labels of candidates in only one list
    total_only_b: FloatArray
    error: FloatArray  #: standard error of the difference between the means
    freedom: FloatArray  #: degrees of freedom for the standard error


def vote_difference(
    rank_a: IntArray, rank_b: IntArray, label: FloatArray, n: IntArray
) -> VoteDifference:
    """Return totals and standard errors for every n in O(candidates)."""
    size = label.size
    both = np.maximum(rank_a, rank_b)

    def summed(rank: IntArray, weight: FloatArray) -> FloatArray:
        sums: FloatArray = np.cumsum(
            np.bincount(rank, weights=weight, minlength=size + 1), dtype=np.float64
        )
        return sums

    (a, a2), (b, b2), (shared, shared2) = (
        (summed(rank, label), summed(rank, label**2)) for rank in (rank_a, rank_b, both)
    )
    overlap = np.cumsum(np.bincount(both, minlength=size + 1))[n]
    edges = [edge_precision(x, n, np.array([size])) for x in (a, b)]
    only = n - overlap
    squares = (edges[0] - edges[1]) ** 2 * overlap
    mean, extra = np.zeros(n.shape), np.zeros(n.shape)
    for sign, one, two, edge in ((1.0, a, a2, edges[0]), (-1.0, b, b2, edges[1])):
        first, second = one[n] - shared[n], two[n] - shared2[n]
        squares = squares + second - 2.0 * edge * first + edge**2 * only
        mean = mean + sign * (one[n] - edge * n)
        extra = extra + edge * (1.0 - edge)  # keep the variance above 0 even if all labels agree
    variance = np.maximum(squares - mean**2 / size, 0.0) + extra
    error = np.where(only > 0, np.sqrt(variance) / n, 0.0)
    freedom = np.maximum(2.0 * only - 2.0, 0.0)
    return VoteDifference(overlap, a[n], b[n], a[n] - shared[n], b[n] - shared[n], error, freedom)
