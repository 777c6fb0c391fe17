"""Intervals for the difference of two lists or sets: columns in, two-sided limits out."""

from __future__ import annotations

from functools import partial

import numpy as np

from rankeval_pd.decisions.verdicts import REGIONS, Interval
from rankeval_pd.stats._types import FloatArray
from rankeval_pd.stats.intervals.cluster_totals import alike_share
from rankeval_pd.stats.intervals.differences import (
    DIFFERENCE_INTERVALS,
    delta_method,
    overlap_difference,
    paired_difference,
)
from rankeval_pd.stats.intervals.proportions import Limits, quantile_of


def of_regions(ci: str, phi: float) -> Interval:
    """Return the interval for two difference regions of equal size.

    For small regions, each limit is the wider of the limits for regions and for lists.
    """

    def limits(
        tp_a: FloatArray,
        tp_b: FloatArray,
        only: FloatArray,
        n: FloatArray,
        error: FloatArray,
        level: float,
    ) -> Limits:
        a, b, size = (x / phi for x in (tp_a, tp_b, only))
        low, high = (
            np.where(only == 0, 0.0, x * (only / n))
            for x in DIFFERENCE_INTERVALS[ci](a, size, b, size, level)
        )
        one = np.ones(error.shape)
        few = _of_error((tp_a - tp_b) / n, error, np.inf * one, one, 0.0 * one, level)
        return np.fmin(low, few[0]), np.fmax(high, few[1])

    return Interval(limits, (*REGIONS, "error_of_few"))


def _of_error(
    difference: FloatArray,
    error: FloatArray,
    freedom: FloatArray,
    reach: FloatArray,
    only: FloatArray,
    level: float,
) -> Limits:
    """Return difference ± quantile times standard error.

    With no degrees of freedom, the limits are the ends of the range. If all queries or candidates
    have the same difference, the interval allows for unseen differences.
    """
    known = freedom > 0
    margin = quantile_of(np.where(known, freedom, 1.0), level) * error
    margin = np.where(known, margin, np.where(error > 0, 2.0, 0.0 * error))
    alike = alike_share(np.minimum(freedom + 1.0, only), level)
    share = np.where((error == 0.0) & (only > 0), alike, 1.0)
    margin = margin + (1.0 - share) * reach
    around = share * difference
    return np.maximum(around - margin, -reach), np.minimum(around + margin, reach)


OF_ERROR = Interval(
    _of_error,
    ("difference", "error", "freedom", "reach", "n_only_a"),
)
"""The interval for a difference with a known standard error, limited to ±``reach``."""


def _of_clusters(
    difference: FloatArray,
    error: FloatArray,
    freedom: FloatArray,
    reach: FloatArray,
    moved: FloatArray,
    level: float,
) -> Limits:
    """Return limits for true differences d within t sqrt(error^2 + moved d^2).

    For d = 0, the criterion is the same as the test. As in Fieller's interval, a limit is the end
    of the range if the test does not exclude the largest possible difference.
    """
    known = freedom > 0
    t = quantile_of(np.where(known, freedom, 1.0), level)
    gap, half, more = np.abs(difference), t * error, t * t * np.where(known, moved, 0.0)
    root = np.sqrt(np.maximum(more * gap**2 + (1.0 - more) * half**2, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(more < 1.0, (gap + root) / (1.0 - more), reach)
        near = np.where(gap + root > 0.0, (gap**2 - half**2) / (gap + root), 0.0)
    near = np.where((more >= 1.0) & (gap <= half), -reach, near)
    most = np.where(~known & (error > 0.0), reach, np.nan)
    most = np.where((gap == 0.0) & (error == 0.0), 0.0, most)  # the lists are identical
    near = np.maximum(np.where(np.isnan(most), near, -most), -reach)
    far = np.minimum(np.where(np.isnan(most), far, most), reach)
    back = difference < 0.0
    return np.where(back, -far, near), np.where(back, -near, far)


OF_CLUSTERS = Interval(
    _of_clusters,
    ("difference", "error", "freedom", "reach", "moved"),
)
"""The interval for a difference between lists whose candidates are clustered."""


def of_paired() -> Interval:
    """Return the interval function for paired proportions, and its columns."""
    return Interval(paired_difference, ("tp_overlap", "tp_only_a", "tp_only_b", "of_all"))


def of_sets(ci: str, phi: float) -> Interval:
    """Return the interval function for two acceptance sets, and its columns."""
    names = ("tp_overlap", "tp_only_a", "tp_only_b", "overlap", "n_only_a", "n_only_b")
    return Interval(partial(_of_sets, ci=ci, phi=phi), names)


def _of_sets(*counts: FloatArray, level: float, ci: str, phi: float) -> Limits:
    tp, size = (counts[0], counts[1], counts[2]), (counts[3], counts[4], counts[5])
    both, only_a, only_b = size
    low, high = overlap_difference(tp, size, level, phi)
    if ci == "delta":
        n_a, n_b = both + only_a, both + only_b
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = 1.0 / n_a - 1.0 / n_b, 1.0 / n_a, -1.0 / n_b
            difference = (tp[0] + tp[1]) / n_a - (tp[0] + tp[2]) / n_b
            delta = delta_method(tp, size, weights, difference, level, phi=phi)
        # the delta method gives variance 0 if all candidates are correct
        flat = delta[0] == delta[1]
        low, high = (np.where(flat, x, y) for x, y in zip((low, high), delta, strict=True))
        low, high = np.clip((low, high), -1.0, 1.0)
    same = (only_a == 0) & (only_b == 0) & (both > 0)
    return np.where(same, 0.0, low), np.where(same, 0.0, high)
