"""Differences in area between independent samples."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.curves.ranking_areas import p_of_t, spread_of
from rankeval_pd.errors import check_choice, check_share
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.tables import family_of
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import ask_measures
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles_but
from rankeval_pd.forms.roles.roles import Adjustment, Alternative, AreaKind, AreaTest, RankingRoles
from rankeval_pd.nbest.region_intervals import favored
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import differences
from rankeval_pd.stats.intervals.differences import agree_with_test, one_sided
from rankeval_pd.stats.intervals.proportions import Limits, quantile_of
from rankeval_pd.stats.rankings import early, roc_areas
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS, interval_levels, rejects
from rankeval_pd.stats.significance.adjust import adjust as adjusted
from rankeval_pd.stats.significance.fisher import ALTERNATIVES

_SAMPLE_COLUMNS = (
    "area", "corrected", "variance", "freedom", "own_freedom", "positive", "negative",
)  # fmt: skip
_PAIR_COLUMNS = (
    "area_a", "area_b", "difference", "ci_low", "ci_high", "z", "p_value", "p_adjusted", "se",
    "better", "leaning", "ci_low_alone", "ci_high_alone",
)  # fmt: skip
_IN_FAMILY = ("p_adjusted", "ci_low_alone", "ci_high_alone")  # columns with adjusted p-values
AREA_KINDS = ("roc", "ap")
TESTS = ("t", "delong")


@Capabilities(
    rankings="How good is it overall?",
    any_ties=True,
    short="measure sample_a sample_b difference ci_low ci_high p_value p_adjusted better",
    layout="pair measure",
    pooled=True,
)
@with_roles_but("key", "label", "ties", "rng")
def unpaired_area(
    data: Data,
    *,
    kind: AreaKind = "roc",
    test: AreaTest = "t",
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
    kind : {"roc", "ap"}
        The area under the ROC curve or average precision (see :func:`area`).
    test : {"t", "delong"}
        "t" is described under Notes. "delong" uses the normal distribution and DeLong's standard
        error, as pROC does for unpaired curves. "delong" requires kind="roc" and is too liberal
        if a class is small.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis. "greater" means that the first sample has the larger area.
    adjust : {None, "holm", "bonferroni", "bh", "by"}
        Adjustment of p-values and intervals for all pairs and measures, as in :func:`compare`.
    level : float
        Confidence level of the interval for the difference.
    **roles
        Column roles (see :func:`nbest_precision`). ``by`` identifies the samples.

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
    the coverage of 95% intervals was at least 0.93 (``tests/reference/unpaired.csv``). Average
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
    check_choice("kind", kind, AREA_KINDS)
    check_choice("test", test, TESTS)
    if kind == "ap" and test == "delong":
        raise ValueError(
            "test='delong' compares ROC areas, but kind='ap' computes average precision. Omit test."
        )
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("adjust", adjust, (None, *ADJUSTMENTS))
    level = check_share("level", level)

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        result = ask_measures(
            inner, sample_area, dict.fromkeys(_SAMPLE_COLUMNS, float),
            options={"kind": kind},
        )  # fmt: skip
        return result.assign(exists=xr.ones_like(result["area"], dtype=bool))

    each = answer(data, roles, question, ("measure", *_SAMPLE_COLUMNS), can(unpaired_area))
    options = {
        "kind": kind,
        "test": test,
        "level": level,
        "alternative": alternative,
        "adjust": adjust,
    }
    attrs: dict[str, Any] = dict(options)
    dropped = [] if adjust is not None else list(_IN_FAMILY)
    result: Any = _of_frame(each, options).drop(columns=dropped)
    measures = result["measure"].nunique(dropna=False)
    pairs = len(result) // max(measures, 1)
    if adjust is not None:
        attrs["family"] = family_of(pairs) + (f" for {measures} measures" * (measures > 1))
    result.attrs.update(attrs)
    return result


def _of_frame(each: pd.DataFrame, options: dict[str, Any]) -> pd.DataFrame:
    """Return one row for each measure and pair of groups."""
    names: list[Hashable] = list(each.columns[: list(each.columns).index("measure")])
    measures = each["measure"].drop_duplicates()
    groups = each[names].drop_duplicates()
    samples = _samples(groups, names)
    pairs = _pairs(samples)
    # each column is (sample, measure); selecting rows by pair gives (pair, measure)
    cells = {
        name: each[name].to_numpy().reshape(len(samples), measures.size) for name in _SAMPLE_COLUMNS
    }
    found = area_contrasts(
        *(
            cells[name][[pair[side] for pair in pairs]]
            for side in (0, 1)
            for name in _SAMPLE_COLUMNS
        ),
        **options,
    )
    rows = len(pairs)
    table = pd.DataFrame({"measure": measures.repeat(rows).reset_index(drop=True)})
    sides = [tables.labels([samples[pair[side]] for pair in pairs]) for side in (0, 1)]
    for side, labels in zip("ab", sides, strict=True):
        table[f"sample_{side}"] = pd.Series(list(labels) * measures.size)
    number = np.arange(rows)[:, np.newaxis]
    named = _named(found, number, *sides)
    for name in _PAIR_COLUMNS:
        table[name] = list(np.asarray(named[name]).T.ravel())
    return table


def _named(found: Sequence[Any], number: Any, a: AnyArray, b: AnyArray) -> dict[str, Any]:
    """Return the columns by name, and add the samples with the larger areas."""
    named = dict(zip([x for x in _PAIR_COLUMNS if x not in _FAVORED], found, strict=False))
    columns = xr.apply_ufunc(
        favored, named["difference"], found[-1], number, kwargs={"a": a, "b": b},
        output_core_dims=[[], []], dask="parallelized", output_dtypes=[object, object],
    )  # fmt: skip
    return {**named, **dict(zip(_FAVORED, columns, strict=True))}


_FAVORED = ("leaning", "better")


def _samples(groups: pd.DataFrame, names: list[Hashable]) -> list[Hashable]:
    """Return the label of each sample; a tuple if several columns define the samples."""
    if not names:
        return [None]
    if len(names) == 1:
        return groups[names[0]].tolist()
    return [tuple(row) for row in groups.itertuples(index=False, name=None)]


def _pairs(samples: list[Hashable]) -> list[tuple[int, int]]:
    """Return all pairs of sample indices; reject a single sample."""
    if len(samples) < 2:
        raise ValueError(
            "unpaired_area compares independent samples, but data contains only one. Pass the"
            " sample column (by=...), or add a sample dimension to the Dataset. To compare"
            " measures on the same candidates, call compare_area."
        )
    return list(itertools.combinations(range(len(samples)), 2))


def sample_area(ranking: Ranking, *, kind: str) -> tuple[AnyArray, ...]:
    """Return the area and the data for its limits (see :class:`_SampleAreas`).

    For average precision, the number of negatives is omitted, because the variance under equal
    values is unknown.
    """
    if kind == "roc":
        placed = roc_areas.placements(ranking)
        found = spread_of(placed.placement, placed.gold, placed.present, None, what="unpaired_area")
        value, corrected = placed.area, np.full(placed.area.shape, np.nan)
    else:
        result = early.influences(ranking)
        found = spread_of(result.influence, result.gold, result.present, None, warns=False)
        value, corrected = result.value, result.corrected
    negative = found.negative if kind == "roc" else np.full(value.shape, np.nan)
    sizes = (np.asarray(x, dtype=float) for x in (found.freedom, found.positive, negative))
    return value, corrected, found.spread.variance, found.spread.freedom, *sizes


class _SampleAreas(NamedTuple):
    """The areas of one sample in each pair, with data for comparisons: (pair, measure)."""

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
        return roc_areas.newcombe_variance(area, self.positive, self.negative)

    def limits(self, kind: str, level: float, shared: FloatArray) -> Limits:
        """Return the limits of the area, by default with the area's own degrees of freedom."""
        if kind == "roc":
            spread = roc_areas.AreaSpread(self.variance, self.freedom)
            return roc_areas.newcombe_limits(self.area, spread, self.positive, self.negative, level)
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
        ends = [
            early.ap_limits_at(x.area, x.area, np.sqrt(x.variance), x.positive, t, tail)
            for x in (a, b)
        ]
        up, down = ((ends[k][1] - x.area, x.area - ends[k][0]) for k, x in enumerate((a, b)))
        reach = np.where(gap > 0.0, np.hypot(up[1], down[0]), np.hypot(up[0], down[1]))
        inside = reach < np.abs(gap)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(np.sign(gap) * low / (1.0 - low))


def area_contrasts(
    *given: FloatArray,
    kind: str,
    test: str = "t",
    level: float,
    alternative: str,
    adjust: str | None,
) -> tuple[AnyArray, ...]:
    """Return the columns (pair, measure) from the areas of the first and second samples.

    The last column shows which differences are significant.
    """
    size = len(_SAMPLE_COLUMNS)
    a, b = _SampleAreas(*given[:size]), _SampleAreas(*given[size:])
    difference, variance = a.area - b.area, a.variance + b.variance
    error = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = variance**2 / (a.variance**2 / a.freedom + b.variance**2 / b.freedom)
        freedom = np.where(variance == 0.0, np.fmin(a.freedom, b.freedom), freedom)
        # the weighted mean of the two areas, and the standard error if both were equal to this mean
        common = (a.area * a.weight + b.area * b.weight) / (a.weight + b.weight)
        at_least = np.sqrt(a.if_it_were(common) + b.if_it_were(common))
        if test == "delong":
            at_least, freedom = 0.0 * error, np.full(error.shape, np.inf)
        tested = np.where(np.isnan(error), np.nan, np.fmax(error, at_least))
        z = np.where((tested == 0.0) & (difference == 0.0), 0.0, difference / tested)
    z = np.where(np.isinf(z), np.nan, z)
    shared = np.full(z.shape, np.nan)
    if kind == "ap":
        # without variation, there is no test, and only the areas' own intervals are combined
        uneven = np.maximum(a.positive, b.positive) > _EVEN * np.minimum(a.positive, b.positive)
        uneven &= variance > 0.0
        shared = np.where(uneven, np.maximum(freedom, 1.0), np.nan)
        z = np.where(uneven, _ap_statistic(a, b, shared), z)
        tested = np.where(uneven, 0.0, tested)
    # if the model variance is larger, use the normal distribution, as for a single area
    freedom = np.where(at_least > error, np.inf, np.maximum(freedom, 1.0))
    normal, student = (p_of_t(z, x, alternative) for x in (np.inf, np.fmin(freedom, 1e15)))
    p_value = np.where(np.isinf(freedom), normal, student)

    def limits(*columns: FloatArray, level: float) -> Limits:
        one, other = _SampleAreas(*columns[:size]), _SampleAreas(*columns[size : 2 * size])
        half, gap = quantile_of(columns[-2], level) * columns[-3], one.area - other.area
        if test == "delong":
            return np.maximum(gap - half, -1.0), np.minimum(gap + half, 1.0)
        variances = one.variance, other.variance, one.variance + other.variance
        of_both = one.limits(kind, level, columns[-1]), other.limits(kind, level, columns[-1])
        tested = gap - half, gap + half
        return differences.correlated_limits((one.area, other.area), of_both, variances, tested)

    columns = (*given, tested, freedom, shared)

    def agreeing(levels: FloatArray, p: FloatArray) -> Limits:
        return agree_with_test(
            *one_sided(limits, levels, columns, alternative), p, alternative, level
        )

    levels = np.full(p_value.shape, level)
    own = agreeing(levels, p_value)
    held, low_high = p_value, own
    if adjust is not None:
        held, levels = (
            np.asarray(x).reshape(p_value.shape)
            for x in (
                adjusted(p_value.ravel(), adjust),
                interval_levels(p_value.ravel(), adjust, level),
            )
        )
        low_high = agreeing(levels, held)
    significant = rejects(held, 1.0 - level)
    return (
        a.area, b.area, difference, *low_high, z, p_value, held, error, *own, significant
    )  # fmt: skip
