"""Areas under the curves of rankings, and their differences between samples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd

from rankeval_pd import decisions, doors, stats, tables
from rankeval_pd.decisions import GROUP, Interval, Rows
from rankeval_pd.doors import Data
from rankeval_pd.errors import check_share, warn
from rankeval_pd.lists.groups import warn_of_few
from rankeval_pd.options import Capabilities, can, with_roles_but
from rankeval_pd.roles import (
    Adjustment,
    Alternative,
    AreaInterval,
    AreaKind,
    RankingRoles,
)
from rankeval_pd.stats import AnyArray, FloatArray, IntArray, Limits, Ranking
from rankeval_pd.stats import areas as early

# ---- The area under the ROC curve, and average precision

AREA_COLUMNS = ("measure", "area", "chance", "ci_low", "ci_high", "se", "p_value")
AVERAGED = (*AREA_COLUMNS[:-1], "n_queries", "n_missing")
Columns = dict[str, AnyArray]  # (group, measure), or (group, pair)
INTERVAL_OF = {"roc": "newcombe", "ap": "logit"}  # the interval of each kind of area


@Capabilities(
    rankings="How good is it overall?",
    any_ties=True,
    ends=True,
    clusters=True,
    by_groups=True,
    short="measure area ci_low ci_high chance",
    details="se p_value",
    layout="measure",
    quantity="area",
    test="score",
)
@with_roles_but("key", "label", "ties", "rng")
def area(
    data: Data,
    kind: AreaKind = "roc",
    *,
    ci: AreaInterval | None = None,
    level: float = 0.95,
    average: decisions.Average | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return each measure's area under the ROC curve or average precision.

    Parameters
    ----------
    data, level, **roles
        As in :func:`nbest_precision`. ``ties`` has no effect.
    kind
        "roc" is the area under the ROC curve. This area is the probability that a true positive has
        a higher score than a negative, with equal scores counting one half. "ap" is average
        precision, the mean of the precision at the rank of each true positive, treating equal
        scores as one block, as in scikit-learn.
    ci
        Kind of interval for the ROC area, by default "newcombe". "newcombe" uses the standard
        deviation at each possible area, or DeLong's if it is larger. It is meant for
        areas near 1 and for small classes. For two-valued scores, "newcombe" is Miettinen and
        Nurminen's interval for the difference between two proportions. "delong" is area ± z se, as
        in pROC, and NaN if the standard error is 0. Average precision has its own interval, with
        Student's t on the logit scale between the least possible value (all negatives first) and 1.
        Its lower limit also allows for a version in which no positive contributes to its own
        precision.
    average
        Whether to average over all groups of ``by`` (Dataset: all batch dimensions), which are then
        the sample. "macro" is the mean of the groups' areas. "micro" is the mean over all pairs of
        a positive and a negative from the same group (with "ap", over all positives). The columns
        ``n_queries`` and ``n_missing`` count the groups with and without an area.

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
        * ``p_value``: two-sided p-value for a test of ROC area = 1/2, which agrees with the
          interval; NaN with "ap", whose chance level depends on the sample, and with "delong" if
          ``se`` is 0; none with ``average``;
        * ``n_groups``, with ``groups`` only: the number of groups in the class with fewer groups.

    Warns
    -----
    RankevalWarning
        If a class has fewer than 10 candidates, because the coverage of the interval may be below
        ``level``. If an interval lies below one half, because ``lower_is_better`` may be missing.

    Notes
    -----
    The interval is for the area in the population from which the candidates were sampled. In
    simulations, the coverage of 95% "newcombe" intervals was 0.939 or more if each class had at
    least 5 candidates, but only 0.833 or 0.86 if a class had 2 or 3, and that of DeLong's intervals
    was between 0.209 and 0.953. The coverage for average precision was 0.951 or more with 2 to
    1,000 true positives at prevalences of 0.01 to 0.99, but only 0.91 if positives were the
    majority and negatives varied more. Cost: O(N log N).

    References
    ----------
    * DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44, https://doi.org/10.2307/2531595.
    * Newcombe (2006), Statistics in Medicine 25, https://doi.org/10.1002/sim.2324, method 5.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(300)
    >>> df.rankeval.area(measures="good")
      measure     area    ci_low   ci_high  chance
    0    good  0.89424  0.815954  0.939748     0.5
    >>> df.rankeval.area("ap", measures="good")
      measure      area    ci_low   ci_high   chance
    0    good  0.551516  0.350536  0.706408  0.12245
    """
    interval = _interval_kind(kind, ci)
    level = check_share("level", level)
    attrs: dict[str, Any] = {"kind": kind, "ci": interval, "level": level}
    columns, combine = (*AREA_COLUMNS, "n_groups"), None
    kernel = partial(_roc_columns, level=level, ci=interval)
    if kind == "ap":
        kernel = partial(precision_columns, level=level)
    if average is not None:
        if interval != INTERVAL_OF[kind]:
            raise ValueError(
                f"average={average!r} with ci={ci!r}: the average over groups has its own interval."
                " Omit ci."
            )
        kernel = partial(to_average, kind=kind)
        columns, combine = AVERAGED, partial(decisions.average_areas, average=average, level=level)
        attrs |= {"average": average, "ci": "korn-graubard"}
    return doors.tabulate(
        data,
        roles,
        partial(area_rows, kernel=kernel),
        columns,
        can(area, clusters=average is None),
        combine=combine,
        attrs=attrs,
    )


def area_rows(
    candidates: doors.Candidates,
    _: IntArray | None,
    *,
    kernel: Callable[..., Columns],
) -> Rows:
    """Return one row per group and measure, from a function of rankings and clusters."""
    warn_if_none(candidates.gold.size)
    parts = []
    for numbers, ranking, _part in candidates.ranked():
        columns = kernel(ranking, candidates.clusters)
        parts.append(doors.rows_of(columns, candidates, "measure", numbers, {}))
    return doors.concatenated(parts, GROUP)


def _interval_kind(kind: str, ci: str | None) -> str:
    """Return the kind of interval; reject a kind that is not available for this area."""
    if kind == "ap" and ci is not None:
        raise ValueError(
            f"ci={ci!r} is an interval for the ROC area, but kind='ap' computes average precision,"
            " which has its own interval. Omit ci."
        )
    return ci or INTERVAL_OF[kind]


def to_average(ranking: Ranking, _: IntArray | None = None, *, kind: str) -> Columns:
    """Return the areas of the groups to be averaged, without separate intervals."""
    total, positive = ranking.size
    if kind == "roc":
        result, weight = early.placements(ranking), positive * (total - positive)
    else:
        result, weight = early.influences(ranking), positive
    return {"area": result.value, "chance": result.chance, "weight": weight}


def _roc_columns(
    ranking: Ranking, cluster: IntArray | None = None, *, level: float, ci: str
) -> Columns:
    """Return the columns (group, measure) of ROC areas."""
    result = early.placements(ranking)
    spread = spread_of(result, cluster, alone=True)
    if cluster is None:
        spread = spread._replace(untied=result.untied, better=result.better)
    return _area_limits(result.value, spread, level, ci)


def _area_limits(area: FloatArray, spread: early.AreaSpread, level: float, ci: str) -> Columns:
    """Return the area, chance level, limits, standard error, p-value and any clusters."""
    if ci == "newcombe":
        limits, p_value = early.newcombe_limits(area, spread, level), early.p_of_half(area, spread)
        low, high, p_value = early.with_two_scores(spread, level, limits, p_value)
    else:
        low, high, p_value = early.delong(area, spread, level)
    worse = high < 0.5
    if worse.any():
        warn(
            f"the area is significantly below 0.5 in {int(worse.sum())} of {area.size} rankings"
            f" (smallest: {float(area[worse].min()):.3g}), so the measure may be reversed. Check"
            " whether lower_is_better should list it."
        )
    chance = np.where(np.isnan(area), np.nan, 0.5)
    values = area, chance, low, high, spread.error, p_value
    return dict(zip(AREA_COLUMNS[1:], values, strict=True)) | spread.counted


def area_of_outlines(
    rankings: Sequence[early.RankingOutline],
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
    interval = _interval_kind(kind, ci)
    level = check_share("level", level)
    if kind == "roc":
        areas, spreads = zip(*(early.outline_area(x.outline) for x in rankings), strict=True)
        spread = early.joined_spreads(spreads)
        _warn_if_few(spread)
        columns = _area_limits(np.array(areas), spread, level, interval)
    else:
        precisions = [
            early.outline_precision(ranking, inverse_ends(ranking), ends=ends)
            for ranking in rankings
        ]
        found = early.OutlinePrecision(*np.array(precisions).T)
        positive = np.array([ranking.outline.positive for ranking in rankings])
        negative = np.array([ranking.outline.negative for ranking in rankings])
        least = np.minimum(positive, negative) - 1.0
        spread = early.AreaSpread(found.variance, least, positive, negative, fourth=found.fourth)
        _warn_if_few(spread)
        columns = _columns_of_precision(found, spread, level)
    names = pd.Index([ranking.measure for ranking in rankings], tupleize_cols=False)
    leaving = {name: columns[name] for name in AREA_COLUMNS[1:]}
    table = pd.DataFrame({"measure": pd.Series(names), **leaving})
    table.attrs.update({"kind": kind, "ci": interval, "level": level})
    outline = rankings[0].outline
    table.attrs["n_candidates"] = outline.positive + outline.negative
    warn_if_none(table.attrs["n_candidates"])
    return table


# ---- Average precision with its interval, and the difference between two average precisions


_OF_AP = ("area", "corrected", "least", "error", "freedom", "fewer")  # as in precision_terms


def precision_columns(
    ranking: Ranking, cluster: IntArray | None = None, *, level: float
) -> Columns:
    """Return the columns (group, measure) of average precisions."""
    result = early.influences(ranking)
    spread = spread_of(result, cluster, alone=True)
    return _columns_of_precision(result, spread, level)


def _columns_of_precision(
    found: early.Influence | early.OutlinePrecision, spread: early.AreaSpread, level: float
) -> dict[str, AnyArray]:
    """Return the columns of average precisions."""
    low, high = early.ap_limits(*early.precision_terms(found, spread), level=level)
    values = found.value, found.chance, low, high, spread.error, np.nan * found.value
    return dict(zip(AREA_COLUMNS[1:], values, strict=True)) | spread.counted


def precision_gap(
    a: Ranking, b: Ranking, cluster: IntArray | None = None, *, alternative: str
) -> Columns:
    """Return the columns (group, pair) of two average precisions and their difference."""
    of_a, of_b = early.influences(a), early.influences(b)
    apart = of_a._replace(
        value=of_a.value - of_b.value,
        influence=of_a.influence - of_b.influence,
        drift=of_a.drift - of_b.drift,
    )
    gap = spread_of(apart, cluster)
    freedom = np.maximum(gap.uneven_freedom(early.AP_GAP_FREEDOM), 1.0)
    t, p_value = t_and_p(apart.value, gap.error, freedom, alternative)
    columns: Columns = {
        "difference": apart.value,
        "z": t,
        "p_value": p_value,
        "se": gap.error,
        "freedom": freedom,
        "moved": np.asarray(gap.moved),
        "alike": early.have_same_order(a, b),
        **gap.counted,
    }
    for side, result in (("a", of_a), ("b", of_b)):
        own = spread_of(result, cluster, warned=False, alone=True)
        terms = early.precision_terms(result, own, early.AP_GAP_FREEDOM)
        for name, values in zip(_OF_AP, terms, strict=True):
            columns[f"{name}_{side}"] = values
    return columns


def t_and_p(
    difference: FloatArray, error: FloatArray, freedom: FloatArray, alternative: str
) -> tuple[FloatArray, FloatArray]:
    """Return Student's t and the p-value for a difference; t is NaN without variation."""
    with stats.silent_division():
        t = np.where((error == 0.0) & (difference == 0.0), 0.0, difference / error)
    t = np.where(np.isinf(t), np.nan, t)
    return t, stats.p_of_t(t, freedom, alternative)


def of_precision_gap(*, clustered: bool = False) -> Interval:
    """Return the interval for the difference between two average precisions.

    The correlation is squared for individual candidates, but not for groups of candidates, for
    which intervals would be 1.5 times as wide as needed.
    """
    power = 2.0
    if clustered:
        power = 1.0
    sides = (f"{name}_{side}" for side in "ab" for name in _OF_AP)
    columns = ("se", "freedom", "moved", "alike", *sides)
    return Interval(partial(_precision_gap_limits, power=power), columns)


def _precision_gap_limits(*columns: Any, level: float, power: float) -> Limits:
    error, freedom, moved, alike, *sides = columns
    a, b = sides[:6], sides[6:]  # value, corrected and least value, error, freedom, smaller class
    gap, reach = a[0] - b[0], 1.0 + 0.0 * error
    of_one = partial(early.ap_limits, level=level)
    low, high = stats.correlated_limits(
        (a[0], b[0]),
        (of_one(*a), of_one(*b)),
        (a[3] ** 2, b[3] ** 2, error**2),
        decisions.OF_CLUSTERS.limits(gap, error, freedom, reach, moved, level=level),
        power,
    )
    most = 1.0 - np.fmin(a[2], b[2])  # both average precisions have at least this value
    low, high = np.maximum(low, -most), np.minimum(high, most)
    return np.where(alike, 0.0 * error, low), np.where(alike, 0.0 * error, high)


# ---- The variance of an area, or of an area difference, and its degrees of freedom

# coverage in tests/simulations/areas.csv and average_precision.csv
_FEW = 10  # if a class has fewer candidates, the coverage of the intervals is known to be too low


def spread_of(
    result: early.Influence, cluster: IntArray | None, *, warned: bool = True, alone: bool = False
) -> early.AreaSpread:
    """Return the variance over candidates or whole groups; warn if these are few.

    ``alone`` is False if the area is part of a difference.
    """
    given = result.influence, result.gold, result.present
    if cluster is None:
        spread = early.area_spread(*given)
        if warned:
            _warn_if_few(spread)
        return spread
    spread = early.cluster_spread(*given, cluster, result.drift, alone=alone)
    if warned:
        warn_of_few(spread.clusters)
    return spread


def _warn_if_few(spread: early.AreaSpread) -> None:
    least = np.minimum(spread.positive, spread.negative)
    few = (least > 1) & (least < _FEW)  # no interval for fewer than two candidates
    if few.any():
        warn(
            f"area: a class has only {int(least[few].min())} candidates; below {_FEW}, the "
            "interval and test may be unreliable. Treat them as approximate, or pool groups."
        )


def warn_if_none(total: int) -> None:
    """Warn if there are no candidates, so that areas are missing."""
    if not total:
        warn(
            "area: there are no candidates, so no area is known. Check that the data are complete."
        )


# ---- Differences in area between independent samples


@dataclass(frozen=True, kw_only=True)
class AreaOptions(decisions.Decision):
    """Options for comparing two areas."""

    kind: str
    test: str


_NOTED = ("kind", "test", "level", "alternative", "adjust")
_OF_SAMPLE = ("area", *early.AreaSpread._fields[:4])
_OF_PAIR = (
    *("area_a", "area_b", "difference", "ci_low", "ci_high", "z", "p_value", "p_adjusted", "se"),
    *("better", "leaning", "ci_low_alone", "ci_high_alone"),
)


@Capabilities(
    rankings="How good is it overall?",
    any_ties=True,
    short="measure sample_a sample_b difference ci_low ci_high p_value p_adjusted better",
    details="area_a area_b z se leaning ci_low_alone ci_high_alone",
    layout="pair measure",
    pooled=True,
    quantity="area",
    test="welch",
    interval="mover",
)
@with_roles_but("key", "label", "ties", "rng")
def unpaired_area(
    data: Data,
    *,
    alternative: Alternative = "two-sided",
    adjust: Adjustment | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare the ROC areas of each measure between independent samples.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates from two or more samples that share no candidates. In a Dataset, the samples are
        the elements of the batch dimensions.
    alternative
        "greater" means that the first sample has the larger area.
    adjust
    level, **roles
        As in :func:`area`, for the interval of the difference. ``by`` identifies the samples.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and pair of samples (Dataset: dimensions pair and measure): ``measure``,
        ``sample_a``, ``sample_b`` (tuples for several columns of ``by``), ``area_a``, ``area_b``,
        ``difference``, ``ci_low``, ``ci_high``, ``z``, ``p_value``, ``se``, and the samples
        ``better`` and ``leaning``, as in :func:`compare_area`. In ``z``, the standard error under
        equal areas (Newcombe's method 5) replaces ``se`` if it is larger.

    Notes
    -----
    The test uses Student's distribution with Welch's degrees of freedom, or the normal distribution
    if Newcombe's variance is larger. The interval combines the intervals for the two areas by Zou
    and Donner's method and agrees with the test. In simulations with 5 or more true positives, the
    5% test rejected at most 0.051 of true null hypotheses, and the coverage of 95% intervals was at
    least 0.949 (``tests/simulations/unpaired.csv``). Cost: O(N log N).

    References
    ----------
    * Welch (1938), Biometrika 29, https://doi.org/10.1093/biomet/29.3-4.350.
    * Zou and Donner (2008), Statistics in Medicine 27, https://doi.org/10.1002/sim.3095.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df["corpus"] = ["x", "y"] * 500
    >>> df.rankeval.unpaired_area(by="corpus", measures="good")
      measure sample_a sample_b  difference    ci_low   ci_high   p_value  better
    0    good        x        y   -0.008899 -0.089173  0.066616  0.815202     NaN
    """
    level = check_share("level", level)
    alpha = round(1.0 - level, 12)
    question = partial(area_rows, kernel=sample_area)
    areas = doors.tabulate(data, roles, question, ("measure", *_OF_SAMPLE), can(unpaired_area))
    how = AreaOptions(
        kind="roc", test="t", level=level, alternative=alternative, alpha=alpha, adjust=adjust
    )
    return doors.above_door(compare_samples(doors.below_door(areas), how), data)


def sample_area(ranking: Ranking, _: IntArray | None = None) -> dict[str, AnyArray]:
    """Return the area, and its variance, degrees of freedom and classes."""
    result = early.placements(ranking)
    spread = spread_of(result, None)
    return {"area": result.value, **{name: getattr(spread, name) for name in _OF_SAMPLE[1:]}}


def compare_samples(areas: pd.DataFrame, how: AreaOptions) -> pd.DataFrame:
    """Return one row for each measure and pair of the samples that have these areas."""
    names = [*areas.columns[: -1 - len(_OF_SAMPLE)]]
    measures, groups = areas["measure"].drop_duplicates(), areas[names].drop_duplicates()
    if not names or len(groups) < 2:
        raise ValueError(
            "unpaired_area compares independent samples, but data contains only one. Pass the"
            " sample column (by=...), or add a sample dimension to the Dataset. To compare"
            " measures on the same candidates, call compare_area."
        )
    samples: list[Hashable] = groups[names[0]].tolist()
    if len(names) > 1:  # a tuple for several columns
        samples = list(groups.itertuples(index=False, name=None))
    pairs = np.array([*itertools.combinations(range(len(samples)), 2)])
    number = np.tile(np.arange(len(pairs)), measures.size)
    values = areas[[*_OF_SAMPLE]].to_numpy(dtype=float)
    cells = values.reshape(len(samples), measures.size, -1).swapaxes(0, 1)
    sides = [cells[:, side].reshape(number.size, -1).T for side in pairs.T]
    rows = {
        f"{name}_{k}": x
        for k, side in zip("ab", sides, strict=True)
        for name, x in zip(_OF_SAMPLE, side, strict=True)
    }
    rows |= _difference_of_samples(sides[0], sides[1], how.alternative)
    rows |= {GROUP: 0 * number, decisions.PAIR: np.arange(number.size)}
    rows |= {f"measure_{k}": pairs[number, place] for place, k in enumerate("ab")}
    columns = (*(f"{name}_{k}" for k in "ab" for name in _OF_SAMPLE), "tested", "freedom")
    interval = Interval(_sample_limits, columns)
    rows = decisions.decide(rows, samples, how=how, interval=interval)
    labels = tables.labels([*samples, np.nan])  # -1 is the missing label
    table = pd.DataFrame({"measure": measures.repeat(len(pairs)).reset_index(drop=True)})
    for k in "ab":
        table[f"sample_{k}"] = pd.Series(list(labels[rows[f"measure_{k}"]]))
    for name in _OF_PAIR:
        if name in ("better", "leaning"):
            table[name] = list(labels[rows[name]])
        elif name in rows:
            table[name] = rows[name]
    table.attrs.update({name: getattr(how, name) for name in _NOTED} | {"test": "welch"})
    if how.adjust is not None:
        of_measures = f" for {measures.size} measures" * (measures.size > 1)
        table.attrs["family"] = decisions.family_of(len(pairs)) + of_measures
    return table


def _difference_of_samples(of_a: FloatArray, of_b: FloatArray, alternative: str) -> Rows:
    """Return the differences, their tests and what their limits need."""
    (a, *_), (b, *_) = of_a, of_b
    spreads = [early.AreaSpread(*side[1:]) for side in (of_a, of_b)]
    weights = [x.positive * x.negative / (x.positive + x.negative) for x in spreads]
    variance = of_a[1] + of_b[1]
    error = np.sqrt(variance)
    with stats.silent_division():
        freedom = variance**2 / sum(x.variance**2 / x.freedom for x in spreads)
        # the standard error if both areas were equal to their weighted mean
        common = (a * weights[0] + b * weights[1]) / sum(weights)
        equal = [early.newcombe_variance(common, x.positive, x.negative) for x in spreads]
        at_least = np.sqrt(sum(equal))
    tested = np.where(np.isnan(error), np.nan, np.fmax(error, at_least))
    # if the model variance is larger, use the normal distribution, as for a single area
    freedom = np.where(at_least > error, np.inf, np.fmax(freedom, 1.0))
    z, p_value = t_and_p(a - b, tested, freedom, alternative)
    found = {"difference": a - b, "z": z, "p_value": p_value, "se": error}
    return found | {"tested": tested, "freedom": freedom}


def _sample_limits(*columns: Any, level: float) -> Limits:
    *sides, tested, freedom = columns
    (a, *of_a), (b, *of_b) = sides[:5], sides[5:]
    one, other = early.AreaSpread(*of_a), early.AreaSpread(*of_b)
    half = stats.quantile_of(freedom, level) * tested
    variances = one.variance, other.variance, one.variance + other.variance
    alone = early.newcombe_limits(a, one, level), early.newcombe_limits(b, other, level)
    return stats.correlated_limits((a, b), alone, variances, (a - b - half, a - b + half))
