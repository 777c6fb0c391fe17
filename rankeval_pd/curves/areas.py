"""How good is the whole ranking? The area under the ROC curve, and average precision."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice, check_share, warn
from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.choices import (
    Adjustment,
    AdjustOver,
    Alternative,
    AreaInterval,
    AreaKind,
    AreaTest,
)
from rankeval_pd.forms.families import OVER, adjusted_together
from rankeval_pd.forms.measure_pairs import only_pair, pair_names, sides, with_names
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles_but
from rankeval_pd.nbest.clustered import warn_of_few
from rankeval_pd.queries.averages import Average, check_average, of_areas
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.normal import z_of
from rankeval_pd.stats.rankings import areas, ranking
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.stats.significance.fisher import ALTERNATIVES

AREA_COLUMNS = ("measure", "area", "chance", "ci_low", "ci_high", "se")
_COMPARED = (
    "area_a", "area_b", "difference", "ci_low", "ci_high", "z", "p_value",
)  # fmt: skip
COMPARE_COLUMNS = ("measure_a", "measure_b", *_COMPARED, "p_adjusted", "se")
KINDS = ("roc", "ap")
INTERVALS = ("newcombe", "delong", "logit")
TESTS = ("t", "delong")
_FEW = 10  # candidates of a class, below which the intervals are known to fall short


@with_roles_but("key", "label", "ties", "rng")
def area(
    data: Data,
    kind: AreaKind = "roc",
    *,
    ci: AreaInterval = "newcombe",
    level: float = 0.95,
    average: Average | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the area under the ROC curve of each measure, or its average precision.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    kind : {"roc", "ap"}
        "roc": the probability that a true positive has a higher score than another candidate,
        equal scores counting one half. "ap": the mean over the true positives of the precision of
        the list that ends where each of them stands, equal scores being one block.
    ci : {"newcombe", "delong", "logit"}
        Interval of the ROC area. "newcombe" takes the standard deviation that each possible area
        would have, and DeLong's where that is larger; it holds its level near 1, and where one
        class is small. "delong" is area -+ z se, pROC's; "logit" the same on the logit scale, NaN
        where the area is 0 or 1.
    level : float
        Confidence level of the interval.
    average : {None, "macro", "micro"}
        One row for all groups of ``by`` (of a Dataset, all batch dimensions): the mean of their
        areas, or the mean over pairs of a true positive and another candidate of one group (with
        "ap" over true positives). The interval is Student's over the groups. Columns
        ``n_queries``, ``n_missing`` count the groups that have an area, and those that have none.
    **roles
        Which column is what, see :func:`nbest_precision`. ``ties`` changes nothing.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure):

        * ``measure``, ``area``: NaN where there is no true positive, and with "roc" where there is
          nothing else;
        * ``chance``: the mean of ``area`` over all orders of the labels: one half, or the expected
          average precision, which is somewhat above the baseline N+ / N;
        * ``ci_low``, ``ci_high``: the interval of the ROC area; NaN with "ap", for which there is
          no interval that is known to hold its level, and where there are fewer than two
          candidates of a class;
        * ``se``: DeLong's standard error, NaN as the interval.

    Warns
    -----
    RankevalWarning
        If there are fewer than 10 candidates of a class: the interval of "roc" may then cover less
        often than its level says. If an interval lies below one half: ``lower_is_better`` may be
        meant.

    Notes
    -----
    The interval is one of the area in a population of which the candidates are a sample. In
    simulations with normal scores, 95 % intervals "newcombe" covered .939 or more from 5 candidates
    of the smaller class on, where DeLong's cover .34 to .95 (``tests/reference/areas.csv``); of 2
    or 3, .83 and .86.
    O(N log N).

    References
    ----------
    DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Biometrics 44. R. G. Newcombe (2006),
    Statistics in Medicine 25, method 5.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(300)
    >>> df.rankeval.area(measures="good").round(3)
      measure   area  chance  ci_low  ci_high     se
    0    good  0.894     0.5   0.816     0.94  0.027
    >>> df.rankeval.area("ap", measures="good").round(3)
      measure   area  chance  ci_low  ci_high  se
    0    good  0.552   0.122     NaN      NaN NaN
    """
    check_average(average)
    check_choice("kind", kind, KINDS)
    check_choice("ci", ci, INTERVALS)
    level = check_share("level", level)
    clustered = kind == "roc" and Roles.of(roles).groups is not None
    columns = (*AREA_COLUMNS, "n_groups") if clustered else AREA_COLUMNS
    options = {"level": level, "ci": ci} if average is None else {}
    roc = _roc_columns if average is None else _roc_alone
    kernel = roc if kind == "roc" else _ap_columns

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        clusters = [inner["cluster"]] if clustered else []
        computed = xr.apply_ufunc(
            kernel,
            inner["score"],
            inner["gold"],
            inner["present"],
            *clusters,
            kwargs=options if kind == "roc" else {"ends": inner.attrs["ends"]},
            input_core_dims=[["candidate"]] * (3 + len(clusters)),
            output_core_dims=[[]] * (5 + len(clusters)),
            dask="parallelized",
            output_dtypes=[float] * 5 + [np.int64] * len(clusters),
        )
        result = xr.Dataset(dict(zip(columns[1:], computed, strict=True)))
        if average is not None:
            positive = (inner["gold"] & inner["present"]).sum("candidate")
            others = inner["present"].sum("candidate") - positive
            result = result.assign(weight=positive * others if kind == "roc" else positive)
        return result.assign(exists=xr.ones_like(result["area"], dtype=bool))

    attrs: dict[str, Any] = {"kind": kind, "ci": ci, "level": level}
    if average is None:
        return answer(
            data, roles, question, columns, any_ties=True, any_ends=True, any_groups=True,
            attrs=attrs,
        )  # fmt: skip
    if ci != "newcombe":
        raise ValueError(
            f"average={average!r} with ci={ci!r}: the interval of an average is Student's over the"
            " groups. Leave ci out."
        )
    return answer(
        data, roles, question, (*AREA_COLUMNS, "n_queries", "n_missing"), any_ties=True,
        any_ends=True, combine=of_areas(average, level), attrs={**attrs, "average": average},
    )  # fmt: skip


def _roc_alone(score: FloatArray, gold: BoolArray, present: BoolArray) -> tuple[AnyArray, ...]:
    """Return the areas of groups that are averaged, which need no intervals of their own."""
    result = areas.placements(score, gold, present).area
    unknown = np.full(result.shape, np.nan)
    return result, np.where(np.isnan(result), np.nan, 0.5), unknown, unknown, unknown


def _roc_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    cluster: IntArray | None = None,
    *,
    level: float,
    ci: str,
) -> tuple[AnyArray, ...]:
    result = areas.placements(score, gold, present)
    spread, (positive, negative), groups = _spread(
        result.placement, result.gold, result.present, cluster
    )
    if ci == "newcombe":
        limits = areas.newcombe(result.area, spread, positive, negative, level)
    else:
        limits = {"delong": areas.delong, "logit": areas.logit}[ci](result.area, spread, level)
    half = np.where(np.isnan(result.area), np.nan, 0.5)
    _warn_if_reversed(result.area, limits[1])
    return (result.area, half, *limits, np.sqrt(spread.variance), *groups)


def _warn_if_reversed(area: FloatArray, high: FloatArray) -> None:
    """Say that a measure ranks worse than chance: it may be meant the other way round."""
    worse = high < 0.5
    if worse.any():
        warn(
            f"area: {int(worse.sum())} of {area.size} areas are below one half by more than chance,"
            f" the least {float(area[worse].min()):.3g}: such a measure ranks the true positives"
            " last. If its small values are the better ones, name it in lower_is_better, or take"
            " it out there."
        )


def _spread(
    placement: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    cluster: IntArray | None,
    *,
    warns: bool = True,
) -> tuple[areas.Spread, tuple[AnyArray, AnyArray], tuple[IntArray, ...]]:
    """Return what an area varies by, the sizes of both classes, and the number of groups."""
    sizes = _classes(gold, present)
    if cluster is None:
        if warns:
            _warn_if_few(*sizes)
        return areas.spread(placement, gold, present), sizes, ()
    result = areas.cluster_spread(placement, gold, present, cluster)
    if warns:
        warn_of_few(result.n_groups[result.n_groups > 0])
    # where all stand right, or all alike, groups show no variance: each counts as one candidate
    known = result.spread.variance > 0.0
    positive, negative = (
        np.where(known, size, some) for size, some in zip(sizes, result.effective, strict=True)
    )
    return result.spread, (positive, negative), (result.n_groups,)


def _classes(gold: BoolArray, present: BoolArray) -> tuple[IntArray, IntArray]:
    """Return how many true positives there are, and how many other candidates."""
    gold, present = np.broadcast_arrays(gold, present)
    return (gold & present).sum(axis=-1), (~gold & present).sum(axis=-1)


def _warn_if_few(positive: IntArray, negative: IntArray) -> None:
    least = np.minimum(positive, negative)
    few = (least > 1) & (least < _FEW)  # of fewer than two there is no interval
    if few.any():
        warn(
            f"area: a class has {int(least[few].min())} candidates, and from fewer than {_FEW} the"
            " interval, or the test, may hold its level less well than it says. Read it as a rough"
            " one, or pool groups."
        )


def _ap_columns(
    score: FloatArray, gold: BoolArray, present: BoolArray, *, ends: bool
) -> tuple[AnyArray, ...]:
    result = areas.average_precision(score, gold, present, ends=ends)
    unknown = np.full(result.value.shape, np.nan)
    return result.value, result.chance, unknown, unknown, unknown


@with_roles_but("key", "label", "ties", "rng")
def compare_area(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    test: AreaTest = "t",
    alternative: Alternative = "two-sided",
    adjust: Adjustment | None = None,
    adjust_over: AdjustOver = "all",
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare the areas under the ROC curves of two measures, or of all pairs.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures, optional
        Both: this pair. ``a`` alone: a against each other measure. Neither: all pairs.
    test : {"t", "delong"}
        "t": DeLong's standard error, with Student's distribution, whose degrees of freedom are
        those of the two classes' parts of it (Welch), and an interval that agrees with the test and
        holds its level near 1. "delong": the normal distribution for both, pROC's; too liberal
        where a class is small, its interval too short.
    alternative : {"two-sided", "greater", "less"}
        "greater": the area of a is the larger one.
    adjust : {None, "holm", "bonferroni", "bh", "by"}
        Adjustment for the number of tests, all pairs in all groups.
    adjust_over : {"all", "group"}
        Whether the pairs of all groups of ``by`` are one family, or those of each group.
    level : float
        Confidence level of the interval of the difference.
    **roles
        Which column is what, see :func:`nbest_precision`. ``ties`` changes nothing: equal scores
        count one half.

    Returns
    -------
    DataFrame or Dataset
        One row per pair (Dataset: dimension pair): ``measure_a``, ``measure_b``, ``area_a``,
        ``area_b``, ``difference`` = area_a - area_b with its limits ``ci_low``, ``ci_high``, ``z``,
        ``p_value``, ``p_adjusted`` (NaN without ``adjust``), ``se``: z is the difference by its
        standard error se, whichever the test.

    Warns
    -----
    RankevalWarning
        If there are fewer than 10 candidates of a class.

    Notes
    -----
    Both measures score the same candidates, and the variance is that of paired areas. Where the
    two rankings agree in every pair of a true positive and another candidate, difference and z are
    0 and p is 1. Where the variance is 0 and the difference is not, as between a perfect ranking
    and its reverse, z and p are NaN: the sample says nothing of how the areas vary. In simulations
    with normal scores the test at 5 % rejected at most .057 of true hypotheses from 5 true
    positives on (.08 of 3, .11 of 2), DeLong's up to .20, and the interval covered .95 or more
    (``tests/reference/areas.csv``). O(N log N) for each measure, O(N) for each pair.

    References
    ----------
    DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Biometrics 44. G. Y. Zou and A. Donner
    (2008), Statistics in Medicine 27.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(300)
    >>> found = df.rankeval.compare_area("good", "fair")
    >>> found[["area_a", "area_b", "z", "p_value", "ci_low", "ci_high"]].round(3)
       area_a  area_b      z  p_value  ci_low  ci_high
    0   0.894   0.782  2.787    0.008   0.031    0.207
    """
    check_choice("test", test, TESTS)
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("adjust_over", adjust_over, OVER)
    check_choice("adjust", adjust, (None, *ADJUSTMENTS))
    level = check_share("level", level)
    clustered = Roles.of(roles).groups is not None
    if clustered and test == "delong":
        raise ValueError(
            "test='delong' with groups: DeLong's test takes the candidates for independent. Leave"
            " test out: Obuchowski's variance of whole groups is taken then, with Student's t."
        )

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        pairs = pair_names(inner, a, b)
        core = ["candidate"]
        clusters = [inner["cluster"]] if clustered else []
        placed = xr.apply_ufunc(
            _placed,
            inner["score"],
            inner["gold"],
            inner["present"],
            input_core_dims=[core] * 3,
            output_core_dims=[core],
            dask="parallelized",
            output_dtypes=[float],
        )
        computed = xr.apply_ufunc(
            _pair_columns,
            *sides(inner["score"], pairs),
            *sides(inner["present"], pairs),
            *sides(placed, pairs),
            inner["gold"],
            *clusters,
            kwargs={"level": level, "test": test, "alternative": alternative},
            input_core_dims=[core] * (7 + len(clusters)),
            output_core_dims=[[]] * (len(_COMPARED) + 1 + len(clusters)),
            dask="parallelized",
            output_dtypes=[float] * (len(_COMPARED) + 1) + [np.int64] * len(clusters),
        )
        names = (*_COMPARED, "se", "n_groups")[: len(computed)]
        result = with_names(xr.Dataset(dict(zip(names, computed, strict=True))), pairs)
        return result.assign(exists=xr.ones_like(result["p_value"], dtype=bool))

    def decided(results: list[xr.Dataset], batch: list[Hashable]) -> list[xr.Dataset]:
        p_values = [result["p_value"] for result in results]
        if adjust is None:
            computed = [xr.full_like(p, np.nan) for p in p_values]
        else:
            computed = adjusted_together(p_values, adjust, batch=batch, over=adjust_over)
        return [r.assign(p_adjusted=p) for r, p in zip(results, computed, strict=True)]

    attrs: dict[str, Any] = {
        "test": test, "alternative": alternative, "adjust": adjust, "adjust_over": adjust_over,
        "level": level,
    }  # fmt: skip
    only = only_pair(data, a, b, roles)
    columns = (*COMPARE_COLUMNS, "n_groups") if clustered else COMPARE_COLUMNS
    return answer(
        data, only, question, columns, any_ties=True, any_ends=True, any_groups=True,
        finish=decided, attrs=attrs,
    )  # fmt: skip


def _placed(score: FloatArray, gold: BoolArray, present: BoolArray) -> FloatArray:
    return areas.placements(score, gold, present).placement


def _pair_columns(
    score_a: FloatArray,
    score_b: FloatArray,
    present_a: BoolArray,
    present_b: BoolArray,
    placed_a: FloatArray,
    placed_b: FloatArray,
    gold: BoolArray,
    cluster: IntArray | None = None,
    *,
    level: float,
    test: str,
    alternative: str,
) -> tuple[AnyArray, ...]:
    both = present_a & present_b
    placed = [
        # among all that a measure scores, unless the other lacks some of them
        placed if (both == present).all() else _placed(score, gold, both)
        for score, present, placed in (
            (score_a, present_a, placed_a),
            (score_b, present_b, placed_b),
        )
    ]
    area_a, area_b = (_mean_placement(x, gold & both) for x in placed)
    difference = _mean_placement(placed[0] - placed[1], gold & both)
    spread, sizes, groups = _spread(placed[0] - placed[1], gold, both, cluster)
    sd = np.sqrt(spread.variance)
    same = (sd == 0.0) & (difference == 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(same, 0.0, difference / sd)
    z = np.where(np.isinf(z), np.nan, z)
    if test == "delong":
        half = z_of(level) * sd
        low, high = difference - half, difference + half
    else:
        first, second = (_spread(x, gold, both, cluster, warns=False) for x in placed)
        alone = first[0], second[0]
        low, high = areas.difference((area_a, area_b), alone, spread, sizes, level)
        alike = _same_order(score_a, score_b, both)
        low, high = (np.where(alike, 0.0 * sd, limit) for limit in (low, high))
    p_value = _p_value(z, spread.freedom if test == "t" else np.inf, alternative)
    return (area_a, area_b, difference, low, high, z, p_value, sd, *groups)


def _same_order(score_a: FloatArray, score_b: FloatArray, present: BoolArray) -> BoolArray:
    """Return whether both scores put the candidates in the same order, equal ones alike."""
    score_a, score_b, present = np.broadcast_arrays(score_a, score_b, present)
    positions = ranking.order(score_a, present)
    a, b = (
        np.take_along_axis(np.where(np.isnan(score), -np.inf, score), positions, axis=-1)
        for score in (score_a, score_b)
    )
    inside = np.arange(1, score_a.shape[-1]) < present.sum(axis=-1)[..., np.newaxis]
    falls = [np.sign((x[..., 1:] > x[..., :-1]) * 1 - (x[..., 1:] < x[..., :-1])) for x in (a, b)]
    same: BoolArray = ((falls[0] == falls[1]) | ~inside).all(axis=-1)
    return same


def _p_value(z: FloatArray, freedom: FloatArray | float, alternative: str) -> FloatArray:
    """Return the p-value of Student's t, or with endless freedom of the normal distribution."""
    from scipy import special

    far = {"two-sided": -np.abs(z), "greater": -z, "less": z}[alternative]
    tail = special.ndtr(far) if np.isscalar(freedom) else special.stdtr(freedom, far)
    return np.asarray(2.0 * tail if alternative == "two-sided" else tail, dtype=float)


def _mean_placement(placement: FloatArray, positive: BoolArray) -> FloatArray:
    """Return the mean over the positives: of placements, the area."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean: FloatArray = np.where(positive, placement, 0.0).sum(axis=-1) / positive.sum(axis=-1)
    return mean
