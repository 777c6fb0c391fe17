"""Differences between two measures in partial area, BEDROC and enrichment factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankeval_pd.curves.early_retrieval import positive_number, rate_range, turned_over
from rankeval_pd.curves.ranking_areas import spread_of, t_and_p
from rankeval_pd.decisions.verdicts import Interval
from rankeval_pd.errors import check_share
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import differences
from rankeval_pd.stats.intervals.proportions import Limits, clopper_pearson
from rankeval_pd.stats.rankings import area_gaps, early
from rankeval_pd.stats.rankings.early import EarlyShare
from rankeval_pd.stats.rankings.ranking import Ranking

EARLY_KINDS = ("partial", "bedroc", "enrichment")


def early_options(kind: str, fpr: Any, tpr: Any, share: Any, bedroc_alpha: float) -> dict[str, Any]:
    """Check and return the options for a kind; reject options for other kinds."""
    owners = {"fpr": (fpr, "partial"), "tpr": (tpr, "partial"), "share": (share, "enrichment")}
    for name, (value, own) in owners.items():
        if value is not None and kind != own:
            raise ValueError(
                f"{name}={value!r} applies only to kind={own!r}, not kind={kind!r}. Omit {name}."
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


def _share_of(ranking: Ranking, kind: str, options: dict[str, Any]) -> EarlyShare:
    if kind == "bedroc":
        return early.bedroc(ranking, options["alpha"]).early
    if kind == "enrichment":
        return early.found_early(ranking, options["share"])
    return early.area_between(ranking, *options["limits"])


_OF_ONE = ("area", "error", "freedom", "positive", "added", "added_error", "added_positive")


def early_gap(
    a: Ranking,
    b: Ranking,
    cluster: IntArray | None = None,
    *,
    alternative: str,
    kind: str,
    options: dict[str, Any],
) -> dict[str, AnyArray]:
    """Return the columns (group, pair) of two values of early retrieval and their difference."""
    if options.get("turned"):
        a, b = turned_over(a), turned_over(b)
    columns: dict[str, AnyArray] = {}
    both = [_share_of(ranking, kind, options) for ranking in (a, b)]
    for side, ranking, one in zip("ab", (a, b), both, strict=True):
        more = _share_of(early.with_end_pairs(ranking), kind, options)
        own = spread_of(one.influence, one.gold, one.present, cluster, warns=False)
        added = spread_of(more.influence, more.gold, more.present, None, warns=False)
        values = (
            one.share,
            own.error,
            own.freedom,
            own.positive,
            more.share,
            added.error,
            added.positive,
        )
        columns |= {f"{name}_{side}": x for name, x in zip(_OF_ONE, values, strict=True)}
    gold, present = both[0].gold, both[0].present
    influence = both[0].influence - both[1].influence
    gap = spread_of(influence, gold, present, cluster, what="compare_area")
    freedom = np.asarray(gap.freedom, dtype=float)
    true, total = (np.asarray(x.sum(axis=-1), dtype=float) for x in (gold & present, present))
    base, factor = np.zeros(()), np.ones(())
    if kind == "partial":
        low, high = options["limits"]
        # a narrow range contains few candidates
        freedom = np.minimum(freedom, (high - low) * (~gold & present).sum(axis=-1) - 1.0)
        least = 0.5 * sum(options["limits"])  # standardize the area as McClish does
        base, factor = (
            np.asarray(0.5 - 0.5 * least / (1.0 - least)),
            np.asarray(0.5 / (1.0 - least)),
        )
    if kind == "enrichment":
        factor = total / np.ceil(options["share"] * total - 1e-9)
    else:
        true, total = np.zeros(total.shape), np.zeros(total.shape)
    freedom = np.maximum(freedom, 1.0)
    difference = np.asarray(both[0].share - both[1].share)
    t, p_value = t_and_p(difference, gap.error, freedom, alternative)
    columns |= {f"area_{side}": base + factor * columns[f"area_{side}"] for side in "ab"}
    columns |= {
        "difference": factor * difference,
        "z": t,
        "p_value": p_value,
        "se": factor * gap.error,
        "base": base,
        "factor": factor,
        "freedom": freedom,
        "alike": area_gaps.same_order(a, b),
        "true": true,
        "total": total,
    }
    return columns | gap.counted


def _early_gap_limits(
    error: FloatArray,
    base: FloatArray,
    factor: FloatArray,
    freedom: FloatArray,
    alike: BoolArray,
    true: FloatArray,
    total: FloatArray,
    *sides: FloatArray,
    level: float,
) -> Limits:
    """Return the limits for the difference, computed from the limits for each proportion."""
    shares, limits = [], []
    for side in (sides[:7], sides[7:]):
        value, own, free, positive, added, added_error, added_positive = side
        free = np.minimum(free, freedom)
        share = np.clip((value - base) / factor, 0.0, 1.0)
        low, high = early.logit_limits(share, own, free, positive, level)
        lower, higher = early.logit_limits(added, added_error, free, added_positive, level)
        shares.append(share)
        limits.append((np.fmin(low, lower), np.fmax(high, higher)))
    spread = error / factor
    variances = sides[1] ** 2, sides[8] ** 2, spread**2
    gap, half = shares[0] - shares[1], early.student_quantile(freedom, level) * spread
    low, high = differences.correlated_limits(
        (shares[0], shares[1]), (limits[0], limits[1]), variances, (gap - half, gap + half)
    )
    with np.errstate(divide="ignore"):  # a lift is at most one over the prevalence
        most = np.fmin(factor, 1.0 / clopper_pearson(true, total, level)[0])
    low, high = (
        np.where(alike, 0.0 * error, np.clip(factor * limit, -most, most)) for limit in (low, high)
    )
    return low, high


OF_EARLY_GAP = Interval(
    _early_gap_limits,
    (
        *("se", "base", "factor", "freedom", "alike", "true", "total"),
        *(f"{name}_{side}" for side in "ab" for name in _OF_ONE),
    ),
)
"""The interval for a difference in partial area, BEDROC or enrichment factor."""
