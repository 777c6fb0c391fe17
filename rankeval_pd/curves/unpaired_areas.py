"""Differences in area between independent samples."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from functools import partial
from typing import NamedTuple, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.curves.ranking_areas import area_rows, p_of_t, spread_of
from rankeval_pd.decisions.families import family_of
from rankeval_pd.decisions.verdicts import GROUP, PAIR, Interval, Rows, decide
from rankeval_pd.doors.rankings import tabulate
from rankeval_pd.errors import check_choice, check_share
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.candidates import Data, above_door, below_door
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles_but
from rankeval_pd.forms.roles.roles import Adjustment, Alternative, AreaKind, AreaTest, RankingRoles
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import differences
from rankeval_pd.stats.intervals.proportions import Limits, quantile_of
from rankeval_pd.stats.rankings import early, roc_areas
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.stats.significance.fisher import ALTERNATIVES

_PAIR_COLUMNS = (
    "area_a",
    "area_b",
    "difference",
    "ci_low",
    "ci_high",
    "z",
    "p_value",
    "p_adjusted",
    "se",
    "better",
    "leaning",
    "ci_low_alone",
    "ci_high_alone",
)
AREA_KINDS = ("roc", "ap")
TESTS = ("t", "delong")


class SampleOptions(NamedTuple):
    """Options for comparing the areas of independent samples."""

    kind: str
    test: str
    level: float
    alternative: str
    adjust: str | None

    @property
    def adjust_over(self) -> str:
        """The family of the tests."""
        return "all"

    @property
    def alpha(self) -> float:
        """The significance level."""
        return 1.0 - self.level


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
    how = SampleOptions(kind, test, level, alternative, adjust)
    kernel = partial(sample_area, kind=kind)
    areas = tabulate(
        data,
        roles,
        lambda candidates, _: area_rows(candidates, kernel),
        ("measure", *_SampleAreas._fields),
        can(unpaired_area),
    )
    return above_door(_pairs_of_samples(below_door(areas), how), data)


def _pairs_of_samples(areas: pd.DataFrame, how: SampleOptions) -> pd.DataFrame:
    """Return one row for each measure and pair of samples."""
    names = list(areas.columns[: list(areas.columns).index("measure")])
    measures = areas["measure"].drop_duplicates()
    samples = _samples(areas[names].drop_duplicates(), names)
    pairs = _sample_pairs(len(samples))
    cells = {
        name: areas[name].to_numpy().reshape(len(samples), measures.size)
        for name in _SampleAreas._fields
    }
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
    table.attrs.update(how._asdict())
    if how.adjust is not None:
        number = measures.nunique(dropna=False)
        of_measures = f" for {number} measures" * (number > 1)
        table.attrs["family"] = family_of(len(pairs)) + of_measures
    return table


def _samples(groups: pd.DataFrame, names: Sequence[Hashable]) -> list[Hashable]:
    """Return the label of each sample; a tuple if several columns define the samples."""
    if not names:
        return [None]
    if len(names) == 1:
        return groups[names[0]].tolist()
    return [tuple(row) for row in groups.itertuples(index=False, name=None)]


def _sample_pairs(samples: int) -> IntArray:
    """Return the numbers of all pairs of samples, (pair, 2); reject a single sample."""
    if samples < 2:
        raise ValueError(
            "unpaired_area compares independent samples, but data contains only one. Pass the"
            " sample column (by=...), or add a sample dimension to the Dataset. To compare"
            " measures on the same candidates, call compare_area."
        )
    return np.array(list(itertools.combinations(range(samples), 2)))


def sample_area(ranking: Ranking, _: IntArray | None = None, *, kind: str) -> dict[str, AnyArray]:
    """Return the area and the data for its limits (see :class:`_SampleAreas`).

    For average precision, the number of negatives is omitted, because the variance under equal
    values is unknown.
    """
    if kind == "roc":
        placed = roc_areas.placements(ranking)
        spread = spread_of(
            placed.placement, placed.gold, placed.present, None, what="unpaired_area"
        )
        area, corrected = placed.area, np.full(placed.area.shape, np.nan)
        negative = spread.negative
    else:
        result = early.influences(ranking)
        spread = spread_of(result.influence, result.gold, result.present, None, warns=False)
        area, corrected = result.value, result.corrected
        negative = np.full(area.shape, np.nan)
    return {
        "area": area,
        "corrected": corrected,
        "variance": spread.spread.variance,
        "freedom": spread.spread.freedom,
        "own_freedom": spread.freedom,
        "positive": np.asarray(spread.positive, dtype=float),
        "negative": np.asarray(negative, dtype=float),
    }


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


def compare_samples(
    cells: Rows, pairs: IntArray, samples: Sequence[Hashable], how: SampleOptions
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
    for side, areas in (("a", a), ("b", b)):
        rows |= {f"{name}_{side}": x for name, x in areas._asdict().items()}
    rows |= {GROUP: np.zeros(number.size, dtype=np.int64), PAIR: np.arange(number.size)}
    rows |= {"measure_a": pairs[number, 0], "measure_b": pairs[number, 1]}
    names = (f"{name}_{side}" for side in "ab" for name in _SampleAreas._fields)
    limits = partial(_sample_limits, kind=how.kind, test=how.test)
    interval = Interval(limits, ("tested", "freedom", "shared", *names))
    return decide(rows, samples, how=how, interval=interval)


def _sample_contrasts(a: _SampleAreas, b: _SampleAreas, how: SampleOptions) -> Rows:
    """Return the differences, their tests and what their limits need."""
    difference, variance = a.area - b.area, a.variance + b.variance
    error = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = variance**2 / (a.variance**2 / a.freedom + b.variance**2 / b.freedom)
        freedom = np.where(variance == 0.0, np.fmin(a.freedom, b.freedom), freedom)
        # the weighted mean of the two areas, and the standard error if both were equal to this mean
        common = (a.area * a.weight + b.area * b.weight) / (a.weight + b.weight)
        at_least = np.sqrt(a.if_it_were(common) + b.if_it_were(common))
        if how.test == "delong":
            at_least, freedom = 0.0 * error, np.full(error.shape, np.inf)
        tested = np.where(np.isnan(error), np.nan, np.fmax(error, at_least))
        z = np.where((tested == 0.0) & (difference == 0.0), 0.0, difference / tested)
    z = np.where(np.isinf(z), np.nan, z)
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
    normal, student = (p_of_t(z, x, how.alternative) for x in (np.inf, np.fmin(freedom, 1e15)))
    return {
        "difference": difference,
        "z": z,
        "p_value": np.where(np.isinf(freedom), normal, student),
        "se": error,
        "tested": tested,
        "freedom": freedom,
        "shared": shared,
    }


def _sample_limits(
    tested: FloatArray,
    freedom: FloatArray,
    shared: FloatArray,
    *sides: FloatArray,
    level: float,
    kind: str,
    test: str,
) -> Limits:
    size = len(_SampleAreas._fields)
    one, other = _SampleAreas(*sides[:size]), _SampleAreas(*sides[size:])
    half, gap = quantile_of(freedom, level) * tested, one.area - other.area
    if test == "delong":
        return np.maximum(gap - half, -1.0), np.minimum(gap + half, 1.0)
    variances = one.variance, other.variance, one.variance + other.variance
    of_both = one.limits(kind, level, shared), other.limits(kind, level, shared)
    return differences.correlated_limits(
        (one.area, other.area), of_both, variances, (gap - half, gap + half)
    )
