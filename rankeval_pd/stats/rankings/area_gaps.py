"""Intervals for differences between two areas on the same candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import Limits, t_of
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.rankings.roc_areas import LEAST

_UNSEEN = 0.4  # extreme candidates to add per class; with 0.35 a margin test had a size of 0.06
_NORMAL = 0.85, 0.95  # mean area: Student's t up to the first, normal from the second on


def difference_freedom(
    freedom: FloatArray, areas: tuple[FloatArray, FloatArray], sizes: Sequence[Any]
) -> FloatArray:
    """Return the degrees of freedom for an area difference, increased for areas near 1.

    For areas near 1, a few placements determine the difference. These placements increase both the
    difference and its standard error, so a normal test is conservative. If a class has fewer than 5
    candidates, the degrees of freedom are not changed.
    """
    far = np.abs(0.5 * (areas[0] + areas[1]) - 0.5) + 0.5
    student, normal = _NORMAL
    with np.errstate(invalid="ignore"):
        more = freedom / np.clip((normal - far) / (normal - student), 1e-6, 1.0)
    return np.where(np.minimum(*sizes) <= LEAST, freedom, more)


def unseen_counts(size: AnyArray, groups: AnyArray | int) -> FloatArray:
    """Return the effective class size used for unseen candidates, at most ``size``.

    It is the geometric mean of the candidate and group counts, because group members are similar.
    """
    return np.asarray(np.minimum(size, np.sqrt(size * groups)), dtype=float)


def area_difference_limits(
    areas: tuple[FloatArray, FloatArray], variances: tuple[FloatArray, FloatArray, FloatArray],
    freedom: FloatArray, sizes: tuple[IntArray | FloatArray, IntArray | FloatArray], level: float,
    moved: AnyArray | float = 0.0,
) -> Limits:  # fmt: skip
    """Return limits for the difference between two areas that agree with Student's test.

    ``variances`` are the variances of both areas and of the difference. The variance of a small
    class is too small if the sample lacks the few candidates with extreme scores. For a given true
    difference, the variance of 0.4 candidates in each class, reduced by the correlation, is
    therefore multiplied by true / (true - observed) and added to DeLong's variance. For a true
    difference of 0, nothing is added. If the test rejects 0, the limit nearer to 0 comes from the
    test. A positive ``moved`` shifts this limit toward 0. ``moved`` is the variance due to the
    number of true positives divided by the squared true difference (see ``ClusteredSpread``).
    """
    gap = np.asarray(areas[0] - areas[1], dtype=float)
    variance, t = variances[2], t_of(np.maximum(freedom, 1.0), level)
    positive, negative = (np.asarray(size, dtype=float) for size in sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        swapped = 2.0 / (positive * negative) ** 2  # the variance if one pair is reversed
        apart = (variance + swapped) / (variances[0] + variances[1] + swapped)
        unseen = apart * (_UNSEEN / positive + _UNSEEN / negative) ** 2
        own = np.asarray(t * np.sqrt(variance), dtype=float)

    def distance(side: float) -> FloatArray:
        # bisection between the observed difference (distance 0) and the largest possible one, or 0
        # if the test rejects 0
        inside, excluded = 0.0 * own, (own > 0.0) & (own < -side * gap)
        outside = np.where(excluded, np.abs(gap), 2.0)
        for _ in range(60):
            middle = 0.5 * (inside + outside)
            share = np.where(variance > 0.0, np.maximum(1.0 + side * gap / middle, 0.0), 1.0)
            extra = share * unseen + moved * (gap + side * middle) ** 2
            within = middle**2 <= t**2 * (variance + extra)
            inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
        return inside

    return np.maximum(gap - distance(-1.0), -1.0), np.minimum(gap + distance(1.0), 1.0)


def same_order(first: Ranking, second: Ranking) -> BoolArray:
    """Return whether both scores give the same ranking, including ties."""
    a, b = (  # (..., rank by the first score)
        np.take_along_axis(np.where(np.isnan(score), -np.inf, score), first.order, axis=-1)
        for score in (first.score, second.score)
    )
    # compare the sign of each step from rank to rank: a decrease or a tie
    inside = np.arange(1, a.shape[-1]) < first.here[..., np.newaxis]
    falls = [np.sign((x[..., 1:] > x[..., :-1]) * 1 - (x[..., 1:] < x[..., :-1])) for x in (a, b)]
    same: BoolArray = ((falls[0] == falls[1]) | ~inside).all(axis=-1)
    return same
