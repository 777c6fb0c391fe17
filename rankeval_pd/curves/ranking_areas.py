"""The area under the ROC curve, and average precision."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice, check_share, warn
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.averages import Average, check_average, of_areas
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import ask_measures
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles_but
from rankeval_pd.forms.roles.roles import AreaInterval, AreaKind, EqualScores, RankingRoles, Roles
from rankeval_pd.nbest.grouped_lists import warn_of_few
from rankeval_pd.nbest.region_intervals import OF_CLUSTERS
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import differences
from rankeval_pd.stats.intervals.proportions import Limits
from rankeval_pd.stats.rankings import area_gaps, early, roc_areas
from rankeval_pd.stats.rankings.early import influences
from rankeval_pd.stats.rankings.ranking import Ranking

# -------------- The area under the ROC curve, and average precision

AREA_COLUMNS = ("measure", "area", "chance", "ci_low", "ci_high", "se", "p_value")
AVERAGED = (*AREA_COLUMNS[:-1], "n_queries", "n_missing")
KINDS = ("roc", "ap")
INTERVALS = ("newcombe", "delong", "logit")
EQUAL = {"block": "blocks", "mean": "expected"}  # name for average precision in the kernels


@Capabilities(
    rankings="How good is it overall?", any_ties=True, ends=True, clusters=True, by_groups=True,
    short="measure area ci_low ci_high chance", layout="measure")  # fmt: skip
@with_roles_but("key", "label", "ties", "rng")
def area(
    data: Data,
    kind: AreaKind = "roc",
    *,
    ci: AreaInterval | None = None,
    level: float = 0.95,
    equal: EqualScores = "block",
    average: Average | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return each measure's area under the ROC curve or average precision.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    kind : {"roc", "ap"}
        "roc" is the area under the ROC curve. This area is the probability that a true positive has
        a higher score than a negative, with equal scores counting one half. "ap" is average
        precision, the mean of the precision at the rank of each true positive, treating equal
        scores as one block.
    ci : {None, "newcombe", "delong", "logit"}
        Kind of interval. None means "newcombe" for the ROC area and "logit" for average precision.
        "newcombe" uses the standard deviation at each possible area, or DeLong's if it is larger.
        It maintains its coverage for areas near 1 and for small classes. For two-valued scores,
        "newcombe" is Miettinen and Nurminen's interval for the difference between two proportions.
        "delong" is area ± z se, as in pROC, and NaN if the standard error is 0. "logit" is DeLong's
        interval on the logit scale. Average precision allows only "logit", with Student's t. Two
        logit intervals are computed, one around the average precision and one around a version in
        which no positive contributes to its own precision, and their outer limits are returned.
    level : float
        Confidence level of the interval.
    equal : {"block", "mean"}
        Treatment of equal scores in average precision. "block" treats equal scores as one block, as
        scikit-learn does, and "mean" averages over all orderings of them. The ROC area is the same
        in both cases.
    average : {None, "macro", "micro"}
        Whether to average over all groups of ``by`` (Dataset: all batch dimensions). "macro" is the
        mean of the groups' areas. "micro" is the mean over all pairs of a positive and a negative
        from the same group (with "ap", over all positives). The interval treats the groups as the
        sample, as in :func:`nbest_precision`. The columns ``n_queries`` and ``n_missing`` count the
        groups with and without an area.
    **roles
        Column roles (see :func:`nbest_precision`). ``ties`` has no effect.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure):

        * ``measure``, ``area``: the area is NaN if there are no true positives, and with "roc" if
          there are no negatives;
        * ``chance``: the mean of ``area`` over all permutations of the labels. This mean is one
          half for the ROC area and slightly above N+ / N for average precision;
        * ``ci_low``, ``ci_high``: the interval; NaN if a class has fewer than two candidates;
        * ``se``: the standard error, by DeLong's method for the ROC area and from influence values
          for average precision; NaN if the interval is NaN;
        * ``p_value``: two-sided p-value for a test of ROC area = 1/2. It is at most 1 - ``level``
          if and only if the interval excludes one half. The p-value is NaN with "ap", whose chance
          level depends on the sample, and with "delong" or "logit" if ``se`` is 0. With
          ``average``, there is no ``p_value``;
        * ``n_groups``, with ``groups`` only: the number of groups in the class with fewer groups.

    Warns
    -----
    RankevalWarning
        If a class has fewer than 10 candidates, because the coverage of the interval may be below
        ``level``. If an interval lies below one half, because ``lower_is_better`` may be missing.

    Notes
    -----
    The interval is for the area in the population from which the candidates were sampled. In
    simulations with normal scores, the coverage of 95% "newcombe" intervals was 0.939 or more if
    each class had at least 5 candidates, but only 0.83 or 0.86 if a class had 2 or 3. The coverage
    of DeLong's intervals was between 0.34 and 0.95 (``tests/reference/areas.csv``). The coverage
    for average precision was 0.938 or more with 2 to 1,000 true positives at prevalences of 0.01 to
    0.5 (``tests/reference/average_precision.csv``). Cost: O(N log N).

    References
    ----------
    DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Biometrics 44. R. G. Newcombe (2006),
    Statistics in Medicine 25, method 5.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(300)
    >>> df.rankeval.area(measures="good")
      measure     area    ci_low   ci_high  chance
    0    good  0.89424  0.815954  0.939748     0.5
    >>> df.rankeval.area("ap", measures="good")
      measure      area    ci_low   ci_high   chance
    0    good  0.551516  0.374956  0.704546  0.12245
    """
    check_average(average)
    check_choice("kind", kind, KINDS)
    check_choice("equal", equal, EQUAL)
    interval = _interval(kind, ci)
    level = check_share("level", level)
    clustered = average is None and Roles.of(roles).groups is not None
    columns = (*AREA_COLUMNS, "n_groups") if clustered else AREA_COLUMNS

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        clusters = [inner["cluster"]] if clustered else []
        options: dict[str, Any] = {"level": level, "ci": interval}
        kernel: Callable[..., Any] = _roc_columns if average is None else _roc_alone
        if kind == "ap":
            kernel = columns_of_one
            options = {
                "level": level, "ties": EQUAL[equal], "warns": average is None,
            }  # fmt: skip
        types = {name: np.int64 if name == "n_groups" else float for name in columns[1:]}
        result = ask_measures(inner, kernel, types, beside=clusters, options=options)
        if average is not None:
            positive = (inner["gold"] & inner["present"]).sum("candidate")
            others = inner["present"].sum("candidate") - positive
            result = result.assign(weight=positive * others if kind == "roc" else positive)
        return result.assign(exists=xr.ones_like(result["area"], dtype=bool))

    attrs: dict[str, Any] = {"kind": kind, "ci": interval, "level": level}
    if average is None:
        return answer(data, roles, question, columns, can(area), attrs=attrs)
    if interval != _OWN[kind]:
        raise ValueError(
            f"average={average!r} with ci={ci!r}: the average over groups has its own interval."
            " Omit ci."
        )
    return answer(
        data, roles, question, AVERAGED, can(area, clusters=False),
        combine=of_areas(average, level), attrs={**attrs, "average": average},
    )  # fmt: skip


_OWN = {"roc": "newcombe", "ap": "logit"}


def _interval(kind: str, ci: str | None) -> str:
    """Return the kind of interval; reject a kind that is not available for this area."""
    check_choice("ci", ci, (None, *INTERVALS))
    if kind == "ap" and ci not in (None, "newcombe", "logit"):
        raise ValueError(
            f"ci={ci!r} is an interval for the ROC area, but kind='ap' computes average precision."
            " Omit ci, or pass ci='logit'."
        )
    return _OWN[kind] if kind == "ap" or ci is None else ci


def _roc_alone(ranking: Ranking, **_: Any) -> tuple[AnyArray, ...]:
    """Return the areas of the groups to be averaged, without separate intervals."""
    result = roc_areas.placements(ranking).area
    unknown = np.full(result.shape, np.nan)
    return result, np.where(np.isnan(result), np.nan, 0.5), *([unknown] * 4)


def _roc_columns(
    ranking: Ranking, cluster: IntArray | None = None, *, level: float, ci: str,
) -> tuple[AnyArray, ...]:  # fmt: skip
    result = roc_areas.placements(ranking)
    found = spread_of(result.placement, result.gold, result.present, cluster, alone=True)
    if cluster is None:
        found = found._replace(
            spread=found.spread._replace(untied=result.untied, better=result.better)
        )
    return (*_with_limits(result.area, found, level, ci), *found.groups)


def _with_limits(
    area: FloatArray, found: InfluenceSpread, level: float, ci: str
) -> tuple[AnyArray, ...]:
    """Return the area, chance level, limits, standard error and p-value."""
    sizes = found.positive, found.negative
    if ci == "newcombe":
        limits = roc_areas.newcombe_limits(area, found.spread, *sizes, level)
    else:
        interval = {"delong": roc_areas.delong_limits, "logit": roc_areas.delong_logit_limits}[ci]
        limits = interval(area, found.spread, level)
    half = np.where(np.isnan(area), np.nan, 0.5)
    p_value = roc_areas.p_of_half(area, found.spread, *sizes, ci)
    if ci == "newcombe":
        *ends, p_value = roc_areas.with_two_scores(found.spread, sizes, level, limits, p_value)
        limits = ends[0], ends[1]
    _warn_if_reversed(area, limits[1])
    return (area, half, *limits, found.error, p_value)


class WholeRanking(Protocol):
    """Describe a ranking that is larger than memory."""

    @property
    def measure(self) -> Hashable:
        """Return the name of the measure."""
        ...

    @property
    def outline(self) -> roc_areas.Outline:
        """Return the numbers of negatives between the true positives."""
        ...

    @property
    def unscored(self) -> int:
        """Return the number of candidates without a score."""
        ...

    @property
    def unscored_true(self) -> int:
        """Return the number of true positives without a score."""
        ...


def area_of_outlines(
    rankings: Sequence[WholeRanking],
    inverse_ends: Callable[[Any], float],
    *,
    kind: AreaKind = "roc",
    ci: AreaInterval | None = None,
    level: float = 0.95,
    ends: bool = False,
) -> pd.DataFrame:
    """Return :func:`area` for rankings given by their outlines.

    ``inverse_ends`` returns the sum that the chance level of average precision needs.
    """
    interval = _interval(kind, ci)
    level = check_share("level", level)
    if kind == "roc":
        values = _roc_of_outlines([ranking.outline for ranking in rankings], level, interval)
    else:
        values = _precision_of_outlines(rankings, inverse_ends, level, ends)
    result = xr.Dataset({k: ("measure", x) for k, x in zip(AREA_COLUMNS[1:], values, strict=True)})
    names = tables.labels([ranking.measure for ranking in rankings])
    result = result.assign_coords(measure=("measure", names))
    exists = xr.ones_like(result["area"], dtype=bool)
    result = result.assign({"exists": exists, tables.GROUP: xr.zeros_like(exists, dtype=int)})
    attrs = {"kind": kind, "ci": interval, "level": level}
    return tables.leave_frame([result], pd.DataFrame(index=[0]), AREA_COLUMNS, attrs=attrs)


def _roc_of_outlines(
    outlines: Sequence[roc_areas.Outline], level: float, interval: str
) -> tuple[AnyArray, ...]:
    areas = [roc_areas.outline_area(outline) for outline in outlines]
    sizes = (np.array([getattr(x, k) for x in outlines]) for k in ("positive", "negative"))
    spread = roc_areas.AreaSpread(
        np.array([float(x.variance) for _, x in areas]),
        np.array([float(x.freedom) for _, x in areas]),
        untied=np.array([float(x.untied) for _, x in areas]),
        better=(
            np.array([float(x.better[0]) for _, x in areas if x.better]),
            np.array([float(x.better[1]) for _, x in areas if x.better]),
        ),
    )
    return _with_limits(np.array([x for x, _ in areas]), found_of(spread, *sizes), level, interval)


def _precision_of_outlines(
    rankings: Sequence[WholeRanking],
    inverse_ends: Callable[[Any], float],
    level: float,
    ends: bool,
) -> tuple[AnyArray, ...]:
    precisions = [
        roc_areas.outline_precision(
            ranking.outline,
            inverse_ends(ranking),
            ranking.unscored,
            unscored_true=ranking.unscored_true > 0,
            ends=ends,
        )
        for ranking in rankings
    ]
    value, corrected, variance, chance = (np.array(x) for x in zip(*precisions, strict=True))
    positive, negative = (
        np.array([getattr(ranking.outline, k) for ranking in rankings])
        for k in ("positive", "negative")
    )
    _warn_if_few(positive, negative, "area")
    error, freedom = np.sqrt(variance), np.minimum(positive, negative) - 1.0
    limits = early.ap_limits(value, corrected, error, freedom, positive, level)
    return (value, chance, *limits, error, np.full(value.shape, np.nan))


def _warn_if_reversed(area: FloatArray, high: FloatArray) -> None:
    """Warn that a measure ranks worse than chance and may be reversed."""
    worse = high < 0.5
    if worse.any():
        warn(
            f"the area is significantly below 0.5 in {int(worse.sum())} of {area.size} rankings"
            f" (smallest: {float(area[worse].min()):.3g}), so the measure may be reversed. List a"
            " measure in lower_is_better only if smaller values are better."
        )


# -------------------------------------------------------------------------------------------------
# Average precision with its interval, and the difference between two average precisions.


def columns_of_one(
    ranking: Ranking,
    cluster: IntArray | None = None,
    *,
    level: float,
    ties: str,
    warns: bool = True,
) -> tuple[AnyArray, ...]:
    """Return the value, chance level, limits, standard error, and NaN for the p-value."""
    result = influences(ranking, ties=ties)
    # no warning: with few positives the interval is wide but its coverage is correct
    warns = warns and cluster is not None
    found = spread_of(
        result.influence, result.gold, result.present, cluster, result.drift, warns=warns,
        alone=True,
    )  # fmt: skip
    limits = early.ap_logit_limits(result, found.error, found.freedom, found.positive, level)
    chance = early.chance_average_precision(ranking, ties=ties)
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
    alternative: str,
    ties: str,
    ends: bool,
) -> tuple[AnyArray, ...]:
    """Return both values, the difference, t, its p-value, the standard error and more.

    The last columns are the input for :func:`limits_of_two` and the number of groups.
    """
    both = present_a & present_b
    of_a, of_b = (Ranking.of(score, gold, both, ends=ends) for score in (score_a, score_b))
    a, b = (influences(ranking, ties=ties) for ranking in (of_a, of_b))
    difference = np.asarray(a.value - b.value)
    apart, drift = a.influence - b.influence, a.drift - b.drift
    found = spread_of(apart, a.gold, both, cluster, drift, what="compare_area")
    alone = [
        spread_of(x.influence, x.gold, both, cluster, x.drift, warns=False, alone=True)
        for x in (a, b)
    ]
    error = found.error
    freedom = np.maximum(found.freedom, 1.0)
    t, p_value = t_and_p(difference, error, freedom, alternative)
    alike = area_gaps.same_order(of_a, of_b)
    own = [
        x
        for one, by in zip((a, b), alone, strict=True)
        for x in (one.corrected, by.error, by.freedom, by.positive)
    ]
    parts = (*own, freedom, found.moved, alike)
    floats = (np.broadcast_to(np.asarray(x, dtype=float), difference.shape) for x in parts)
    return (a.value, b.value, difference, t, p_value, error, *floats, *found.groups)


def t_and_p(
    difference: FloatArray, error: FloatArray, freedom: FloatArray, alternative: str
) -> tuple[FloatArray, FloatArray]:
    """Return Student's t and the p-value for a difference; t is NaN without variation."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((error == 0.0) & (difference == 0.0), 0.0, difference / error)
    t = np.where(np.isinf(t), np.nan, t)
    return t, p_of_t(t, freedom, alternative)


PARTS_OF_TWO = (
    "corrected_a", "error_a", "freedom_a", "positive_a",
    "corrected_b", "error_b", "freedom_b", "positive_b", "freedom", "moved", "alike",
)  # fmt: skip


def limits_of_two(
    value_a: FloatArray, value_b: FloatArray, error: FloatArray, *parts: FloatArray, level: float,
    power: float = 2.0,
) -> Limits:  # fmt: skip
    """Return the limits for the difference between two average precisions.

    ``power`` is the exponent of the correlation: 2 for individual candidates and 1 for groups. For
    groups, an exponent of 2 made intervals 1.5 times as wide as needed.
    """
    own, freedom, moved, alike = (parts[:4], parts[4:8]), *parts[8:]
    limits = [
        early.ap_limits(value, by[0], by[1], by[2], by[3], level)
        for value, by in zip((value_a, value_b), own, strict=True)
    ]
    variances = own[0][1] ** 2, own[1][1] ** 2, error**2
    tested = OF_CLUSTERS[0](
        value_a - value_b, error, freedom, 1.0 + 0.0 * error, moved, level=level
    )
    ends_at = differences.correlated_limits(
        (value_a, value_b), (limits[0], limits[1]), variances, tested, power
    )
    low, high = (np.where(alike > 0, 0.0 * error, limit) for limit in ends_at)
    return low, high


# -------------------------------------------------------------------------------------------------
# The variance of an area, or of an area difference, and its degrees of freedom.

_FEW = 10  # if a class has fewer candidates, the coverage of the intervals is known to be too low


class InfluenceSpread(NamedTuple):
    """The variance of an area, computed from the influence of each candidate."""

    spread: roc_areas.AreaSpread
    positive: AnyArray  #: number of true positives, or effective number of groups of true positives
    negative: AnyArray
    groups: tuple[IntArray, ...]  #: the number of groups of candidates, if any
    moved: AnyArray | float = 0.0  #: see ``ClusteredSpread``

    @property
    def error(self) -> FloatArray:
        """The standard error."""
        return np.sqrt(self.spread.variance)

    @property
    def freedom(self) -> FloatArray:
        """The number of candidates, or groups, in the smaller class minus one."""
        if self.spread.clustered:
            return self.spread.freedom
        return np.asarray(np.minimum(self.positive, self.negative) - 1.0)


def spread_of(
    influence: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    cluster: IntArray | None,
    drift: FloatArray | None = None,
    *,
    what: str = "area",
    warns: bool = True,
    alone: bool = False,
) -> InfluenceSpread:
    """Return the variance over candidates or whole groups; warn if there are few.

    ``drift`` is the slope of average precision as a function of the prevalence. ``alone`` is False
    if the area is part of a difference.
    """
    positive, negative = _classes(gold, present)
    if cluster is None:
        if warns:
            _warn_if_few(positive, negative, what)
        return InfluenceSpread(
            roc_areas.area_spread(influence, gold, present), positive, negative, ()
        )
    result = roc_areas.cluster_spread(influence, gold, present, cluster, drift, alone=alone)
    if warns:
        warn_of_few(result.clusters)
    # if all ranks are correct or tied, the group variance is 0; count each group as one candidate
    known = result.spread.variance > 0.0
    few, many = result.effective
    positive, negative = np.where(known, positive, few), np.where(known, negative, many)
    return InfluenceSpread(result.spread, positive, negative, (result.n_groups,), result.moved)


def found_of(
    spread: roc_areas.AreaSpread, positive: IntArray, negative: IntArray
) -> InfluenceSpread:
    """Return the variance object for a known variance; warn if a class is small."""
    _warn_if_few(positive, negative, "area")
    return InfluenceSpread(spread, positive, negative, ())


def _classes(gold: BoolArray, present: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of true positives and negatives."""
    gold, present = np.broadcast_arrays(gold, present)
    return (gold & present).sum(axis=-1), (~gold & present).sum(axis=-1)


def _warn_if_few(positive: IntArray, negative: IntArray, what: str) -> None:
    least = np.minimum(positive, negative)
    few = (least > 1) & (least < _FEW)  # no interval for fewer than two candidates
    if few.any():
        warn(
            f"{what}: a class has only {int(least[few].min())} candidates; below {_FEW}, the "
            "interval and test may be unreliable. Treat them as approximate, or pool groups."
        )


def p_of_t(statistic: FloatArray, freedom: FloatArray | float, alternative: str) -> FloatArray:
    """Return the p-value of a t statistic, or of z if ``freedom`` is infinite."""
    from scipy import special

    far = {"two-sided": -np.abs(statistic), "greater": -statistic, "less": statistic}[alternative]
    normal = np.isinf(freedom)
    tail = np.where(normal, special.ndtr(far), special.stdtr(np.where(normal, 1.0, freedom), far))
    return np.asarray(2.0 * tail if alternative == "two-sided" else tail, dtype=float)
