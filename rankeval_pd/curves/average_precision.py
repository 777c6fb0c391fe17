"""Average precision with its interval, and the difference of two: columns of the area questions."""

from __future__ import annotations

import numpy as np

from rankeval_pd.curves.spreads import p_of_t, spread_of
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import areas, average_precision
from rankeval_pd.stats.rankings.average_precision import influences


def columns_of_one(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    cluster: IntArray | None = None,
    *,
    level: float,
    ties: str,
    ends: bool,
    warns: bool = True,
) -> tuple[AnyArray, ...]:
    """Return value, chance, limits, standard error, and NaN for the test of one half."""
    result = influences(score, gold, present, ties=ties, ends=ends)
    # with few positives the interval is wide, and holds its level: that is no reason to warn
    warns = warns and cluster is not None
    found = spread_of(result.influence, result.gold, result.present, cluster, warns=warns)
    limits = average_precision.logit_limits(
        result, found.error, found.freedom, found.positive, level
    )
    chance = average_precision.chance(score, gold, present, ties=ties, ends=ends)
    none = np.full(result.value.shape, np.nan)
    return (result.value, chance, *limits, found.error, none, *found.groups)


def columns_of_two(
    score_a: FloatArray,
    score_b: FloatArray,
    present_a: BoolArray,
    present_b: BoolArray,
    gold: BoolArray,
    cluster: IntArray | None = None,
    *,
    level: float,
    alternative: str,
    ties: str,
    ends: bool,
) -> tuple[AnyArray, ...]:
    """Return both values, the difference with its limits, t, its p-value and standard error."""
    both = present_a & present_b
    a, b = (influences(x, gold, both, ties=ties, ends=ends) for x in (score_a, score_b))
    difference = np.asarray(a.value - b.value)
    found = spread_of(a.influence - b.influence, a.gold, both, cluster, what="compare_area")
    alone = [spread_of(x.influence, x.gold, both, cluster, warns=False) for x in (a, b)]
    error = found.error
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((error == 0.0) & (difference == 0.0), 0.0, difference / error)
    t = np.where(np.isinf(t), np.nan, t)
    freedom = np.maximum(found.freedom, 1.0)
    limits = [
        average_precision.logit_limits(one, by.error, by.freedom, by.positive, level)
        for one, by in zip((a, b), alone, strict=True)
    ]
    variances = alone[0].spread.variance, alone[1].spread.variance, found.spread.variance
    half = average_precision.quantile(freedom, level) * error
    ends_at = areas.of_two((a.value, b.value), (limits[0], limits[1]), variances, half)
    alike = areas.same_order(score_a, score_b, both)
    low, high = (np.where(alike, 0.0 * error, limit) for limit in ends_at)
    p_value = p_of_t(t, freedom, alternative)
    return (a.value, b.value, difference, low, high, t, p_value, error, *found.groups)
