"""Differences between two measures in partial area, BEDROC and enrichment factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankeval_pd.curves.early_retrieval import positive_number, rate_range, turned_over
from rankeval_pd.curves.ranking_areas import spread_of, t_and_p
from rankeval_pd.errors import check_share
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import differences
from rankeval_pd.stats.intervals.proportions import Limits, clopper_pearson
from rankeval_pd.stats.rankings import area_gaps, early
from rankeval_pd.stats.rankings.early import EarlyShare
from rankeval_pd.stats.rankings.ranking import Ranking

EARLY_KINDS = ("partial", "bedroc", "enrichment")
_OF_ONE = ("error", "freedom", "positive", "added", "added_error", "added_positive")
EARLY_PARTS = (
    "base", "factor", *(f"{name}_{side}" for side in "ab" for name in _OF_ONE), "freedom", "alike",
    "true", "total",
)  # fmt: skip


def early_options(kind: str, fpr: Any, tpr: Any, share: Any, bedroc_alpha: float) -> dict[str, Any]:
    """Check and return the options for a kind; reject options for other kinds."""
    for name, given, own in (
        ("fpr", fpr, "partial"), ("tpr", tpr, "partial"), ("share", share, "enrichment"),
    ):  # fmt: skip
        if given is not None and kind != own:
            raise ValueError(
                f"{name}={given!r} applies only to kind={own!r}, not kind={kind!r}. Omit {name}."
            )
    if kind == "partial":
        limits, turned = rate_range(fpr, tpr)
        return {"limits": limits, "turned": turned}
    if kind == "bedroc":
        return {"alpha": positive_number("bedroc_alpha", bedroc_alpha)}
    if share is None:
        raise ValueError(
            "kind='enrichment': pass the share of candidates at the top of the list, such as"
            " share=0.01."
        )
    return {"share": check_share("share", share, one=True)}


def _share_of(ranking: Ranking, kind: str, asked: dict[str, Any]) -> EarlyShare:
    if kind == "bedroc":
        return early.bedroc(ranking, asked["alpha"]).early
    if kind == "enrichment":
        return early.found_early(ranking, asked["share"])
    return early.area_between(ranking, *asked["limits"])


def early_columns(
    score_a: FloatArray, score_b: FloatArray, present_a: BoolArray, present_b: BoolArray,
    gold: BoolArray, cluster: IntArray | None = None, *, alternative: str, kind: str, ends: bool,
    asked: dict[str, Any],
) -> tuple[AnyArray, ...]:  # fmt: skip
    """Return both values, the difference, t, p-value, standard error and other columns."""
    both = present_a & present_b
    rankings = [Ranking.of(score, gold, both, ends=ends) for score in (score_a, score_b)]
    if asked.get("turned"):
        rankings = [turned_over(ranking) for ranking in rankings]
    found, parts = [], []
    for ranking in rankings:
        one, more = (_share_of(x, kind, asked) for x in (ranking, early.with_end_pairs(ranking)))
        own = spread_of(one.influence, one.gold, both, cluster, warns=False)
        added = spread_of(more.influence, more.gold, more.present, None, warns=False)
        found.append(one)
        parts += [own.error, own.freedom, own.positive, more.share, added.error, added.positive]
    a, b = found
    varies = spread_of(a.influence - b.influence, a.gold, both, cluster, what="compare_area")
    freedom = np.asarray(varies.freedom, dtype=float)
    if kind == "partial":  # a narrow range contains few candidates
        low, high = asked["limits"]
        inside = (high - low) * (~a.gold & both).sum(axis=-1)
        freedom = np.minimum(freedom, inside - 1.0)
    freedom = np.maximum(freedom, 1.0)
    difference = np.asarray(a.share - b.share)
    t, p_value = t_and_p(difference, varies.error, freedom, alternative)
    base, factor = 0.0, np.float64(1.0)
    true, total = np.zeros((2, *difference.shape))
    if kind == "partial":  # standardize the area as McClish does
        least = 0.5 * sum(asked["limits"])
        base, factor = 0.5 - 0.5 * least / (1.0 - least), np.float64(0.5 / (1.0 - least))
    if kind == "enrichment":
        true, total = (np.asarray(x.sum(axis=-1), dtype=float) for x in (a.gold & both, both))
        factor = total / np.ceil(asked["share"] * total - 1e-9)
    columns = (
        base, factor, *parts, freedom, area_gaps.same_order(*rankings), true, total,
    )  # fmt: skip
    floats = (np.broadcast_to(np.asarray(x, dtype=float), difference.shape) for x in columns)
    return (
        base + factor * a.share, base + factor * b.share, factor * difference, t, p_value,
        factor * varies.error, *floats, *varies.groups,
    )  # fmt: skip


def early_limits(
    value_a: FloatArray, value_b: FloatArray, error: FloatArray, base: FloatArray,
    factor: FloatArray, *parts: FloatArray, level: float,
) -> Limits:  # fmt: skip
    """Return the limits for the difference, computed from the limits for each proportion."""
    sides, freedom, alike = (parts[:6], parts[6:12]), parts[12], parts[13]
    shares, limits = [], []
    for value, side in zip((value_a, value_b), sides, strict=True):
        own, free, positive, added, added_error, added_positive = side
        free = np.minimum(free, freedom)
        share = np.clip((value - base) / factor, 0.0, 1.0)
        ends = (
            early.logit_limits(share, own, free, positive, level),
            early.logit_limits(added, added_error, free, added_positive, level),
        )
        shares.append(share)
        limits.append((np.fmin(ends[0][0], ends[1][0]), np.fmax(ends[0][1], ends[1][1])))
    spread = error / factor
    variances = sides[0][0] ** 2, sides[1][0] ** 2, spread**2
    gap, half = shares[0] - shares[1], early.student_quantile(freedom, level) * spread
    low, high = differences.correlated_limits(
        (shares[0], shares[1]), (limits[0], limits[1]), variances, (gap - half, gap + half)
    )
    with np.errstate(divide="ignore"):  # a lift is at most one over the prevalence
        most = np.fmin(factor, 1.0 / clopper_pearson(parts[14], parts[15], level)[0])
    low, high = (
        np.where(alike > 0, 0.0 * error, np.clip(factor * limit, -most, most))
        for limit in (low, high)
    )
    return low, high
