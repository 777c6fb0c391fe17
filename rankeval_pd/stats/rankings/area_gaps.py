"""Intervals of differences of two areas on the same candidates, and rankings in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import Limits, t_of
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.rankings.roc_areas import LEAST

_UNSEEN = 0.4  # candidates of a class with extreme scores; with 0.35 a test of a margin had .06
_NORMAL = 0.85, 0.95  # mean area up to which Student's t is used, and from which the normal


def difference_freedom(
    freedom: FloatArray, areas: tuple[FloatArray, FloatArray], sizes: Sequence[Any]
) -> FloatArray:
    """Return the degrees of freedom of a difference of two areas, more near 1.

    A few placements determine a difference near 1. They make both it and its error large, so a
    normal test is conservative. Classes below 5 candidates keep their degrees of freedom.
    """
    far = np.abs(0.5 * (areas[0] + areas[1]) - 0.5) + 0.5
    student, normal = _NORMAL
    with np.errstate(invalid="ignore"):
        more = freedom / np.clip((normal - far) / (normal - student), 1e-6, 1.0)
    return np.where(np.minimum(*sizes) <= LEAST, freedom, more)


def area_difference_limits(
    areas: tuple[FloatArray, FloatArray], variances: tuple[FloatArray, FloatArray, FloatArray],
    freedom: FloatArray, sizes: tuple[IntArray | FloatArray, IntArray | FloatArray], level: float,
) -> Limits:  # fmt: skip
    """Return limits of the difference of two areas that agree with Student's test of it.

    ``variances`` are the variances of both areas and of the difference. A small class has a small
    variance if the sample lacks the few candidates with extreme scores. For a true difference,
    DeLong's variance is therefore raised by the variance that 0.4 candidates of each class add,
    reduced by the correlation, times true / (true - observed). At 0 it is DeLong's. If the test
    rejects, the limit on the side of 0 is the test's.
    """
    gap = np.asarray(areas[0] - areas[1], dtype=float)
    variance, t = variances[2], t_of(np.maximum(freedom, 1.0), level)
    positive, negative = (np.asarray(size, dtype=float) for size in sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        swapped = 2.0 / (positive * negative) ** 2  # the variance of one pair in another order
        apart = (variance + swapped) / (variances[0] + variances[1] + swapped)
        unseen = apart * (_UNSEEN / positive + _UNSEEN / negative) ** 2
        own = np.asarray(t * np.sqrt(variance), dtype=float)

    def distance(side: float) -> FloatArray:
        # bisection between the observed difference, whose distance is 0, and the largest
        inside, outside = 0.0 * own, np.full(own.shape, 2.0)
        for _ in range(60):
            middle = 0.5 * (inside + outside)
            share = np.where(variance > 0.0, np.maximum(1.0 + side * gap / middle, 0.0), 1.0)
            within = middle**2 <= t**2 * (variance + share * unseen)
            inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
        return np.where((own > 0.0) & (own < -side * gap), own, inside)

    return np.maximum(gap - distance(-1.0), -1.0), np.minimum(gap + distance(1.0), 1.0)


def same_order(first: Ranking, second: Ranking) -> BoolArray:
    """Return whether both scores give the same order and the same ties."""
    a, b = (  # (..., rank by the first)
        np.take_along_axis(np.where(np.isnan(score), -np.inf, score), first.order, axis=-1)
        for score in (first.score, second.score)
    )
    # compare the sign of each step from rank to rank: it falls, or it is a tie
    inside = np.arange(1, a.shape[-1]) < first.here[..., np.newaxis]
    falls = [np.sign((x[..., 1:] > x[..., :-1]) * 1 - (x[..., 1:] < x[..., :-1])) for x in (a, b)]
    same: BoolArray = ((falls[0] == falls[1]) | ~inside).all(axis=-1)
    return same
