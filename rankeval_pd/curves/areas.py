"""Areas under the curves of rankings, and their differences between samples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Unpack

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
_OWN = {"roc": "newcombe", "ap": "logit"}  # the interval of each kind of area


@Capabilities(
    rankings="How good is it overall?",
    any_ties=True,
    ends=True,
    clusters=True,
    by_groups=True,
    short="measure area ci_low ci_high chance",
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
        deviation at each possible area, or DeLong's if it is larger. It maintains its coverage for
        areas near 1 and for small classes. For two-valued scores, "newcombe" is Miettinen and
        Nurminen's interval for the difference between two proportions. "delong" is area ± z se, as
        in pROC, and NaN if the standard error is 0. Average precision has its own interval, with
        Student's t on the logit scale: the outer limits of an interval around the average precision
        and of one around a version in which no positive contributes to its own precision.
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
    least 5 candidates, but only 0.83 or 0.86 if a class had 2 or 3, and that of DeLong's intervals
    was between 0.34 and 0.95. The coverage for average precision was 0.938 or more with 2 to 1,000
    true positives at prevalences of 0.01 to 0.5. Cost: O(N log N).

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
    decisions.check_average(average)
    interval = _interval_kind(kind, ci)
    level = check_share("level", level)
    attrs: dict[str, Any] = {"kind": kind, "ci": interval, "level": level}
    columns, combine = (*AREA_COLUMNS, "n_groups"), None
    kernel = partial(_roc_columns, level=level, ci=interval)
    if kind == "ap":
        kernel = partial(precision_columns, level=level)
    if average is not None:
        if interval != _OWN[kind]:
            raise ValueError(
                f"average={average!r} with ci={ci!r}: the average over groups has its own interval."
                " Omit ci."
            )
        kernel = partial(_to_average, kind=kind)
        columns, combine = AVERAGED, partial(decisions.average_areas, average=average, level=level)
        attrs["average"] = average
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
    return ci or _OWN[kind]


def _area_of(ranking: Ranking, kind: str) -> early.Influence:
    """Return the area under the ROC curve, or average precision."""
    if kind == "roc":
        return early.placements(ranking)
    return early.influences(ranking)


def _to_average(ranking: Ranking, _: IntArray | None = None, *, kind: str) -> Columns:
    """Return the areas of the groups to be averaged, without separate intervals."""
    (total, positive), result = ranking.size, _area_of(ranking, kind)
    weight = positive
    if kind == "roc":
        weight = positive * (total - positive)
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
            f" (smallest: {float(area[worse].min()):.3g}), so the measure may be reversed. List a"
            " measure in lower_is_better only if smaller values are better."
        )
    chance = np.where(np.isnan(area), np.nan, 0.5)
    values = area, chance, low, high, spread.error, p_value
    return dict(zip(AREA_COLUMNS[1:], values, strict=True)) | spread.counted


def area_of_outlines(
    outlines: Sequence[tuple[Hashable, early.Outline]],
    *,
    ci: AreaInterval = "newcombe",
    level: float = 0.95,
) -> pd.DataFrame:
    """Return :func:`area` for the measures of rankings given by their outlines."""
    level = check_share("level", level)
    names, given = zip(*outlines, strict=True)
    areas, spreads = zip(*map(early.outline_area, given), strict=True)
    spread = early.joined_spreads(spreads)
    _warn_if_few(spread, "area")
    columns = _area_limits(np.array(areas), spread, level, ci)
    measures = pd.Series(pd.Index(names, tupleize_cols=False))
    table = pd.DataFrame({"measure": measures, **{x: columns[x] for x in AREA_COLUMNS[1:]}})
    n_candidates = given[0].positive + given[0].negative
    table.attrs.update(kind="roc", ci=ci, level=level, n_candidates=n_candidates)
    return table


# ---- Average precision with its interval, and the difference between two average precisions


def precision_columns(
    ranking: Ranking, cluster: IntArray | None = None, *, level: float
) -> Columns:
    """Return the columns (group, measure) of average precisions."""
    result = early.influences(ranking)
    warned = "area"
    if cluster is None:  # with few positives the interval is wide, but its coverage is correct
        warned = ""
    spread = spread_of(result, cluster, warned=warned, alone=True)
    value, error, freedom = result.value, spread.error, spread.least_freedom
    low, high = early.ap_limits(value, result.corrected, error, freedom, spread.positive, level)
    values = value, result.chance, low, high, error, np.full(value.shape, np.nan)
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
    gap = spread_of(apart, cluster, warned="compare_area")
    freedom = np.maximum(gap.least_freedom, 1.0)
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
        own = spread_of(result, cluster, warned="", alone=True)
        columns |= {
            f"area_{side}": result.value,
            f"corrected_{side}": result.corrected,
            f"error_{side}": own.error,
            f"freedom_{side}": own.least_freedom,
            f"positive_{side}": own.positive,
        }
    return columns


def t_and_p(
    difference: FloatArray, error: FloatArray, freedom: FloatArray, alternative: str
) -> tuple[FloatArray, FloatArray]:
    """Return Student's t and the p-value for a difference; t is NaN without variation."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((error == 0.0) & (difference == 0.0), 0.0, difference / error)
    t = np.where(np.isinf(t), np.nan, t)
    return t, early.p_of_t(t, freedom, alternative)


def of_precision_gap(*, clustered: bool = False) -> Interval:
    """Return the interval for the difference between two average precisions.

    The correlation is squared for individual candidates, but not for groups of candidates, for
    which intervals would be 1.5 times as wide as needed.
    """
    power = 2.0
    if clustered:
        power = 1.0
    names = ("area", "corrected", "error", "freedom", "positive")
    sides = (f"{name}_{side}" for side in "ab" for name in names)
    columns = ("se", "freedom", "moved", "alike", *sides)
    return Interval(partial(_precision_gap_limits, power=power), columns)


def _precision_gap_limits(*columns: Any, level: float, power: float) -> Limits:
    error, freedom, moved, alike, *sides = columns
    a, b = sides[:5], sides[5:]  # value, corrected value, error, freedom and positives
    gap, reach = a[0] - b[0], 1.0 + 0.0 * error
    of_one = partial(early.ap_limits, level=level)
    low, high = stats.correlated_limits(
        (a[0], b[0]),
        (of_one(*a), of_one(*b)),
        (a[2] ** 2, b[2] ** 2, error**2),
        decisions.OF_CLUSTERS.limits(gap, error, freedom, reach, moved, level=level),
        power,
    )
    return np.where(alike, 0.0 * error, low), np.where(alike, 0.0 * error, high)


# ---- The variance of an area, or of an area difference, and its degrees of freedom

_FEW = 10  # if a class has fewer candidates, the coverage of the intervals is known to be too low


def spread_of(
    result: early.Influence, cluster: IntArray | None, *, warned: str = "area", alone: bool = False
) -> early.AreaSpread:
    """Return the variance over candidates or whole groups; warn about this quantity if few.

    ``alone`` is False if the area is part of a difference.
    """
    given = result.influence, result.gold, result.present
    if cluster is None:
        spread = early.area_spread(*given)
        if warned:
            _warn_if_few(spread, warned)
        return spread
    spread = early.cluster_spread(*given, cluster, result.drift, alone=alone)
    if warned:
        warn_of_few(spread.clusters)
    return spread


def _warn_if_few(spread: early.AreaSpread, what: str) -> None:
    least = np.minimum(spread.positive, spread.negative)
    few = (least > 1) & (least < _FEW)  # no interval for fewer than two candidates
    if few.any():
        warn(
            f"{what}: a class has only {int(least[few].min())} candidates; below {_FEW}, the "
            "interval and test may be unreliable. Treat them as approximate, or pool groups."
        )


# ---- Differences in area between independent samples

_PAIR_COLUMNS = (
    *("area_a", "area_b", "difference", "ci_low", "ci_high", "z", "p_value", "p_adjusted", "se"),
    *("better", "leaning", "ci_low_alone", "ci_high_alone"),
)
_NOTED = ("kind", "test", "level", "alternative", "adjust")


@dataclass(frozen=True, kw_only=True)
class AreaOptions(decisions.Decision):
    """Options for comparing two areas."""

    kind: str
    test: str


@Capabilities(
    rankings="How good is it overall?",
    any_ties=True,
    short="measure sample_a sample_b difference ci_low ci_high p_value p_adjusted better",
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
    kind: AreaKind = "roc",
    alternative: Alternative = "two-sided",
    adjust: Adjustment | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare the areas of each measure between independent samples.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates from two or more samples, with a score for each measure and a gold label. In a
        Dataset, the samples are the elements of the batch dimensions.
    kind
        The area under the ROC curve or average precision (see :func:`area`).
    alternative
        Alternative hypothesis. "greater" means that the first sample has the larger area.
    adjust
        Adjustment of p-values and intervals for all pairs and measures, as in :func:`compare`.
    level, **roles
        As in :func:`area`, for the interval of the difference. ``by`` identifies the samples.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and pair of samples (Dataset: dimensions pair and measure, coordinates
        sample_a and sample_b). The columns are ``measure``, ``sample_a``, ``sample_b`` (tuples for
        several columns of ``by``), ``area_a``, ``area_b``, ``difference`` = area_a - area_b, its
        confidence limits ``ci_low`` and ``ci_high``, ``z``, ``p_value`` and ``se``. ``z`` is the
        difference divided by ``se``. For ROC areas, the standard error under equal areas replaces
        ``se`` if it is larger. For average precision with unequal numbers of true positives, ``z``
        is the Student quantile at which the interval ends at 0. ``better`` and ``leaning`` contain
        samples, and ``adjust`` adds ``p_adjusted``, ``ci_low_alone`` and ``ci_high_alone``, as in
        :func:`compare_area`.

    Warns
    -----
    RankevalWarning
        If a class has fewer than 10 candidates in a sample (kind="roc").

    Notes
    -----
    The samples must not share candidates. To compare two measures on the same candidates, use
    :func:`compare_area`, which has a smaller variance. The variance of the difference is the sum of
    the two areas' variances. The variance under equal areas is Newcombe's (method 5) at the mean of
    the two areas. The test uses Student's distribution with Welch's degrees of freedom, or the
    normal distribution if Newcombe's variance is larger. The interval combines the intervals for
    the two areas by Zou and Donner's method and agrees with the test. If one sample has more than
    1.2 times as many true positives as the other, the difference between average precisions is
    skewed. In this case, the test rejects 0 if Zou and Donner's interval excludes 0. In simulations
    with 5 or more true positives, the 5% test rejected at most 0.060 of true null hypotheses, and
    the coverage of 95% intervals was at least 0.93 (``tests/simulations/unpaired.csv``). Average
    precision depends on the prevalence, which can differ between samples. The cost is O(N log N).

    References
    ----------
    DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Biometrics 44. B. L. Welch (1938),
    Biometrika 29. G. Y. Zou and A. Donner (2008), Statistics in Medicine 27.

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
    question = partial(area_rows, kernel=partial(sample_area, kind=kind))
    columns = ("measure", *_SampleAreas._fields)
    areas = doors.tabulate(data, roles, question, columns, can(unpaired_area))
    how = AreaOptions(
        kind=kind,
        test="t",
        level=level,
        alternative=alternative,
        alpha=round(1.0 - level, 12),
        adjust=adjust,
    )
    return doors.above_door(_pairs_of_samples(doors.below_door(areas), how), data)


def _pairs_of_samples(areas: pd.DataFrame, how: AreaOptions) -> pd.DataFrame:
    """Return one row for each measure and pair of samples."""
    names = list(areas.columns[: list(areas.columns).index("measure")])
    measures = areas["measure"].drop_duplicates()
    groups = areas[names].drop_duplicates()
    if not names or len(groups) < 2:
        raise ValueError(
            "unpaired_area compares independent samples, but data contains only one. Pass the"
            " sample column (by=...), or add a sample dimension to the Dataset. To compare"
            " measures on the same candidates, call compare_area."
        )
    samples: list[Hashable] = groups[names[0]].tolist()
    if len(names) > 1:  # a tuple for several columns
        samples = list(groups.itertuples(index=False, name=None))
    pairs = np.array(list(itertools.combinations(range(len(samples)), 2)))
    shape = len(samples), measures.size
    cells = {name: areas[name].to_numpy().reshape(shape) for name in _SampleAreas._fields}
    rows = compare_samples(cells, pairs, samples, how)
    labels = tables.labels([*samples, np.nan])  # -1 is the missing label
    table = pd.DataFrame({"measure": measures.repeat(len(pairs)).reset_index(drop=True)})
    for side in "ab":
        table[f"sample_{side}"] = pd.Series(list(labels[rows[f"measure_{side}"]]))
    for name in _PAIR_COLUMNS:
        if name in ("better", "leaning"):
            table[name] = list(labels[rows[name]])
        elif name in rows:
            table[name] = rows[name]
    table.attrs.update({name: getattr(how, name) for name in _NOTED})
    if how.adjust is not None:
        number = measures.nunique(dropna=False)
        of_measures = f" for {number} measures" * (number > 1)
        table.attrs["family"] = decisions.family_of(len(pairs)) + of_measures
    return table


def sample_area(ranking: Ranking, _: IntArray | None = None, *, kind: str) -> Columns:
    """Return the area and the data for its limits (see :class:`_SampleAreas`).

    For average precision, the number of negatives is omitted, because the variance under equal
    values is unknown.
    """
    result, warned = _area_of(ranking, kind), "unpaired_area" * (kind == "roc")
    spread = spread_of(result, None, warned=warned)
    columns = {
        "area": result.value,
        "corrected": result.corrected,
        "variance": spread.variance,
        "freedom": spread.freedom,
        "own_freedom": spread.least_freedom,
        "positive": spread.positive.astype(float),
        "negative": spread.negative.astype(float),
    }
    if kind == "roc":
        columns["corrected"] = result.value
    else:
        columns["negative"] = np.full(result.value.shape, np.nan)
    return columns


class _SampleAreas(NamedTuple):
    """The areas of one sample in each pair, with data for comparisons: (row)."""

    area: FloatArray
    corrected: FloatArray  #: for average precision, see :class:`early.Influence`
    variance: FloatArray
    freedom: FloatArray
    own_freedom: FloatArray  #: degrees of freedom for the interval of a single area
    positive: FloatArray
    negative: FloatArray

    @property
    def weight(self) -> FloatArray:
        return self.positive * self.negative / (self.positive + self.negative)

    def if_it_were(self, area: FloatArray) -> FloatArray:
        """Return the variance at this area."""
        return early.newcombe_variance(area, self.positive, self.negative)

    def limits(self, kind: str, level: float, shared: FloatArray) -> Limits:
        """Return the limits of the area, by default with the area's own degrees of freedom."""
        if kind == "roc":
            spread = early.AreaSpread(self.variance, self.freedom, self.positive, self.negative)
            return early.newcombe_limits(self.area, spread, level)
        alone, error = np.isnan(shared), np.sqrt(self.variance)
        corrected = np.where(alone, self.corrected, self.area)
        freedom = np.where(alone, self.own_freedom, shared)
        return early.ap_limits(self.area, corrected, error, freedom, self.positive, level)


_EVEN = 1.2  # up to this ratio of true positives, the difference has little skew


def _ap_statistic(a: _SampleAreas, b: _SampleAreas, freedom: FloatArray) -> FloatArray:
    """Return the Student quantile at which the combined interval for two values ends at 0."""
    from scipy import special

    gap = a.area - b.area
    low, high = np.zeros(gap.shape), np.ones(gap.shape)
    for _ in range(50):  # bisection on t / (1 + t), which is below 1
        middle = 0.5 * (low + high)
        t = middle / (1.0 - middle)
        tail = special.stdtr(freedom, -t)
        low_a, high_a = early.ap_limits_at(a.area, a.area, np.sqrt(a.variance), a.positive, t, tail)
        low_b, high_b = early.ap_limits_at(b.area, b.area, np.sqrt(b.variance), b.positive, t, tail)
        toward_b = np.hypot(high_b - b.area, a.area - low_a)
        toward_a = np.hypot(high_a - a.area, b.area - low_b)
        reach = np.where(gap > 0.0, toward_b, toward_a)
        inside = reach < np.abs(gap)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(np.sign(gap) * low / (1.0 - low))


def compare_samples(
    cells: Rows, pairs: IntArray, samples: Sequence[Hashable], how: AreaOptions
) -> Rows:
    """Compare samples, with one row per measure and pair; ``better`` is the number of a sample.

    ``cells`` contains the columns of :func:`sample_area`, (sample, measure), and ``pairs`` the
    numbers of two samples, (pair, 2).
    """
    measures = cells["area"].shape[1]
    number = np.tile(np.arange(len(pairs)), measures)
    a, b = (
        _SampleAreas(*(cells[x][side].T.ravel() for x in _SampleAreas._fields)) for side in pairs.T
    )
    rows = _sample_contrasts(a, b, how)
    for side, sample in (("a", a), ("b", b)):
        rows |= {f"{name}_{side}": x for name, x in sample._asdict().items()}
    rows |= {GROUP: np.zeros(number.size, dtype=np.int64), decisions.PAIR: np.arange(number.size)}
    rows |= {"measure_a": pairs[number, 0], "measure_b": pairs[number, 1]}
    names = [f"{name}_{side}" for side in "ab" for name in _SampleAreas._fields]
    limits = partial(_sample_limits, kind=how.kind)
    interval = Interval(limits, ("tested", "freedom", "shared", *names))
    return decisions.decide(rows, samples, how=how, interval=interval)


def _sample_contrasts(a: _SampleAreas, b: _SampleAreas, how: AreaOptions) -> Rows:
    """Return the differences, their tests and what their limits need."""
    difference, variance = a.area - b.area, a.variance + b.variance
    error = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = variance**2 / (a.variance**2 / a.freedom + b.variance**2 / b.freedom)
        freedom = np.where(variance == 0.0, np.fmin(a.freedom, b.freedom), freedom)
        # the weighted mean of the two areas, and the standard error if both were equal to this mean
        common = (a.area * a.weight + b.area * b.weight) / (a.weight + b.weight)
        at_least = np.sqrt(a.if_it_were(common) + b.if_it_were(common))
        tested = np.where(np.isnan(error), np.nan, np.fmax(error, at_least))
    z, _ = t_and_p(difference, tested, freedom, how.alternative)
    shared = np.full(z.shape, np.nan)
    if how.kind == "ap":
        # without variation, there is no test, and only the areas' own intervals are combined
        uneven = np.maximum(a.positive, b.positive) > _EVEN * np.minimum(a.positive, b.positive)
        uneven &= variance > 0.0
        shared = np.where(uneven, np.maximum(freedom, 1.0), np.nan)
        z = np.where(uneven, _ap_statistic(a, b, shared), z)
        tested = np.where(uneven, 0.0, tested)
    # if the model variance is larger, use the normal distribution, as for a single area
    freedom = np.where(at_least > error, np.inf, np.maximum(freedom, 1.0))
    return {
        "difference": difference,
        "z": z,
        "p_value": early.p_of_t(z, freedom, how.alternative),
        "se": error,
        "tested": tested,
        "freedom": freedom,
        "shared": shared,
    }


def _sample_limits(*columns: FloatArray, level: float, kind: str) -> Limits:
    tested, freedom, shared, *sides = columns
    size = len(_SampleAreas._fields)
    one, other = _SampleAreas(*sides[:size]), _SampleAreas(*sides[size:])
    half, gap = stats.quantile_of(freedom, level) * tested, one.area - other.area
    variances = one.variance, other.variance, one.variance + other.variance
    of_both = one.limits(kind, level, shared), other.limits(kind, level, shared)
    return stats.correlated_limits(
        (one.area, other.area), of_both, variances, (gap - half, gap + half)
    )
