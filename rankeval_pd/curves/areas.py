"""How good is the whole ranking? The area under the ROC curve, and average precision."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.curves import average_precision
from rankeval_pd.curves.spreads import Found, found_of, p_of_t, spread_of
from rankeval_pd.errors import check_choice, check_share, warn
from rankeval_pd.forms import tables
from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.choices import (
    Adjustment,
    AdjustOver,
    Alternative,
    AreaInterval,
    AreaKind,
    AreaTest,
    EqualScores,
)
from rankeval_pd.forms.families import OVER, adjusted_together
from rankeval_pd.forms.measure_pairs import (
    Pair,
    in_blocks,
    joined,
    only_pair,
    pair_names,
    sides,
    with_names,
)
from rankeval_pd.forms.measures import ask_measures
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles_but
from rankeval_pd.progress import drawing_bar
from rankeval_pd.queries.averages import Average, check_average, of_areas
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.normal import z_of
from rankeval_pd.stats.rankings import areas, outlines
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.stats.significance.fisher import ALTERNATIVES

AREA_COLUMNS = ("measure", "area", "chance", "ci_low", "ci_high", "se", "p_value")
AVERAGED = (*AREA_COLUMNS[:-1], "n_queries", "n_missing")
_COMPARED = (
    "area_a", "area_b", "difference", "ci_low", "ci_high", "z", "p_value",
)  # fmt: skip
COMPARE_COLUMNS = ("measure_a", "measure_b", *_COMPARED, "p_adjusted", "se")
KINDS = ("roc", "ap")
INTERVALS = ("newcombe", "delong", "logit")
TESTS = ("t", "delong")
EQUAL = {"block": "blocks", "mean": "expected"}  # how the kernels call it
_TOGETHER = 1_000_000  # placements that are in memory together, some twenty times
_FEW = 10  # candidates of a class, below which the intervals are known to fall short


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
    """Return the area under the ROC curve of each measure, or its average precision.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    kind : {"roc", "ap"}
        "roc": the probability that a true positive has a higher score than another candidate,
        equal scores counting one half. "ap": the mean over the true positives of the precision of
        the list that ends where each of them stands, equal scores being one block.
    ci : {None, "newcombe", "delong", "logit"}
        Interval; None is "newcombe" of the ROC area, "logit" of average precision. "newcombe" takes
        the standard deviation that each possible area would have, and DeLong's where that is
        larger; it holds its level near 1, and where one class is small. "delong" is area -+ z se,
        pROC's; "logit" the same on the logit scale, NaN where the area is 0 or 1. Of average
        precision there is "logit" alone: with Student's t, around the value and around the value
        in which no positive counts itself; the outer limits of both.
    level : float
        Confidence level of the interval.
    equal : {"block", "mean"}
        Of average precision: equal scores as one block, as scikit-learn has them, or the mean over
        all their orders. In the ROC area the two are the same.
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
        * ``ci_low``, ``ci_high``: the interval; NaN where there are fewer than two candidates of a
          class;
        * ``se``: DeLong's standard error, or that of the influences on average precision; NaN as
          the interval;
        * ``p_value``: two-sided, of a ROC area of one half; it is at most 1 - ``level`` where, and
          only where, the interval excludes one half. NaN with "ap", whose value without
          information depends on the sample (``chance``); not there with ``average``;
        * ``n_groups``, with ``groups`` only: the groups of the class that has fewer of them.

    Warns
    -----
    RankevalWarning
        If there are fewer than 10 candidates of a class: the interval may then cover less
        often than its level says. If an interval lies below one half: ``lower_is_better`` may be
        meant.

    Notes
    -----
    The interval is one of the area in a population of which the candidates are a sample. In
    simulations with normal scores, 95 % intervals "newcombe" covered .939 or more from 5 candidates
    of the smaller class on, where DeLong's cover .34 to .95 (``tests/reference/areas.csv``); of 2
    or 3, .83 and .86. Those of average precision covered .938 or more, of 2 to 1,000 true
    positives at prevalences of .01 to .5 (``tests/reference/average_precision.csv``). O(N log N).

    References
    ----------
    DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Biometrics 44. R. G. Newcombe (2006),
    Statistics in Medicine 25, method 5.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(300)
    >>> df.rankeval.area(measures="good").round(3)
      measure   area  chance  ci_low  ci_high     se  p_value
    0    good  0.894     0.5   0.816     0.94  0.027      0.0
    >>> df.rankeval.area("ap", measures="good").round(3)
      measure   area  chance  ci_low  ci_high    se  p_value
    0    good  0.552   0.122   0.375    0.705  0.08      NaN
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
            kernel = average_precision.columns_of_one
            options = {
                "level": level, "ties": EQUAL[equal], "ends": inner.attrs["ends"],
                "warns": average is None,
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
        return answer(
            data, roles, question, columns, any_ties=True, any_ends=True, any_groups=True,
            attrs=attrs,
        )  # fmt: skip
    if interval != _OWN[kind]:
        raise ValueError(
            f"average={average!r} with ci={ci!r}: the interval of an average is Student's over the"
            " groups. Leave ci out."
        )
    return answer(
        data, roles, question, AVERAGED, any_ties=True,
        any_ends=True, combine=of_areas(average, level), attrs={**attrs, "average": average},
    )  # fmt: skip


_OWN = {"roc": "newcombe", "ap": "logit"}


def _interval(kind: str, ci: str | None) -> str:
    """Return the interval that is meant, or refuse one that this area has not."""
    check_choice("ci", ci, (None, *INTERVALS))
    if kind == "ap" and ci not in (None, "newcombe", "logit"):
        raise ValueError(
            f"ci={ci!r} is an interval of the ROC area, and kind='ap' asks for average precision:"
            " leave ci out, or give 'logit'."
        )
    return _OWN[kind] if kind == "ap" or ci is None else ci


def _roc_alone(
    score: FloatArray, gold: BoolArray, present: BoolArray, **_: Any
) -> tuple[AnyArray, ...]:
    """Return the areas of groups that are averaged, which need no intervals of their own."""
    result = areas.placements(score, gold, present).area
    unknown = np.full(result.shape, np.nan)
    return result, np.where(np.isnan(result), np.nan, 0.5), *([unknown] * 4)


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
    found = spread_of(result.placement, result.gold, result.present, cluster)
    return (*_with_limits(result.area, found, level, ci), *found.groups)


def _with_limits(area: FloatArray, found: Found, level: float, ci: str) -> tuple[AnyArray, ...]:
    """Return the area, chance, the limits, the standard error and the p-value of one half."""
    sizes = found.positive, found.negative
    if ci == "newcombe":
        limits = areas.newcombe(area, found.spread, *sizes, level)
    else:
        interval = {"delong": areas.delong, "logit": areas.logit}[ci]
        limits = interval(area, found.spread, level)
    half = np.where(np.isnan(area), np.nan, 0.5)
    _warn_if_reversed(area, limits[1])
    p_value = areas.p_of_half(area, found.spread, *sizes, ci)
    return (area, half, *limits, found.error, p_value)


def area_of_outlines(
    measures: Sequence[Hashable],
    rankings: Sequence[outlines.Outline],
    *,
    ci: AreaInterval | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return :func:`area` of rankings of which the outlines are known."""
    interval = _interval("roc", ci)
    level = check_share("level", level)
    found = [outlines.area(ranking) for ranking in rankings]
    sizes = (np.array([getattr(x, k) for x in rankings]) for k in ("positive", "negative"))
    spread = areas.Spread(
        np.array([float(x.variance) for _, x in found]),
        np.array([float(x.freedom) for _, x in found]),
    )
    value = np.array([one for one, _ in found])
    values = _with_limits(value, found_of(spread, *sizes), level, interval)
    result = xr.Dataset({k: ("measure", x) for k, x in zip(AREA_COLUMNS[1:], values, strict=True)})
    result = result.assign_coords(measure=("measure", tables.labels(list(measures))))
    exists = xr.ones_like(result["area"], dtype=bool)
    result = result.assign({"exists": exists, tables.GROUP: xr.zeros_like(exists, dtype=int)})
    attrs = {"kind": "roc", "ci": interval, "level": level}
    return tables.leave_frame([result], pd.DataFrame(index=[0]), AREA_COLUMNS, attrs=attrs)


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


@with_roles_but("key", "label", "ties", "rng")
def compare_area(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    kind: AreaKind = "roc",
    test: AreaTest = "t",
    equal: EqualScores = "block",
    alternative: Alternative = "two-sided",
    adjust: Adjustment | None = None,
    adjust_over: AdjustOver = "all",
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare the areas under the ROC curves, or average precision, of two measures or all pairs.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures, optional
        Both: this pair. ``a`` alone: a against each other measure. Neither: all pairs.
    kind : {"roc", "ap"}
        The area under the ROC curve, or average precision, see :func:`area`.
    test : {"t", "delong"}
        "t": DeLong's standard error, with Student's distribution, whose degrees of freedom are
        those of the two classes' parts of it (Welch), and an interval that agrees with the test and
        holds its level near 1. "delong": the normal distribution for both, pROC's; too liberal
        where a class is small, its interval too short. Of average precision there is "t" alone: the
        standard error of the influences, with one degree of freedom less than the smaller class has
        candidates.
    equal : {"block", "mean"}
        Of average precision: what equal scores are, see :func:`area`.
    alternative : {"two-sided", "greater", "less"}
        "greater": the area of a is the larger one.
    adjust : {None, "holm", "bonferroni", "bh", "by"}
        Adjustment for the number of tests, all pairs in all groups.
    adjust_over : {"all", "group"}
        Whether the pairs of all groups of ``by`` are one family, or those of each group.
    level : float
        Confidence level of the interval of the difference.
    progress : bool, optional
        Whether to show a progress bar; by default where the work takes more than two seconds.
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
    (``tests/reference/areas.csv``). Of average precision the test rejected at most .057,
    and the interval covered .94 or more from 3 true positives on (of 2, .70)
    (``tests/reference/average_precision.csv``). O(N log N) for each measure, O(N) for each pair.

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
    check_choice("kind", kind, KINDS)
    check_choice("equal", equal, EQUAL)
    check_choice("test", test, TESTS)
    if kind == "ap" and test == "delong":
        raise ValueError(
            "test='delong' is a test of ROC areas, and kind='ap' asks for average precision: leave"
            " test out."
        )
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
        pairs: list[Pair] = pair_names(inner, a, b)
        clusters: list[xr.DataArray] = [inner["cluster"]] if clustered else []
        options: dict[str, Any] = {"level": level, "alternative": alternative}
        kernel: Callable[..., Any] = _pair_columns
        placed: list[xr.DataArray] = []
        if kind == "ap":
            kernel = average_precision.columns_of_two
            options |= {"ties": EQUAL[equal], "ends": inner.attrs["ends"]}
        else:
            options["test"] = test
            placed = [_placements(inner)]

        batches = inner["gold"].size // max(1, inner.sizes["candidate"])

        def compared(block: Sequence[Pair], advance: Callable[[int], object]) -> xr.Dataset:
            two = [inner["score"], inner["present"], *placed]
            given = [x for array in two for x in sides(array, block)]
            given += [inner["gold"], *clusters]
            computed = xr.apply_ufunc(
                kernel,
                *given,
                kwargs=options,
                input_core_dims=[["candidate"]] * len(given),
                output_core_dims=[[]] * (len(_COMPARED) + 1 + len(clusters)),
                dask="parallelized",
                output_dtypes=[float] * (len(_COMPARED) + 1) + [np.int64] * len(clusters),
            )
            names = (*_COMPARED, "se", "n_groups")[: len(computed)]
            advance(len(block) * batches)
            return xr.Dataset(dict(zip(names, computed, strict=True)))

        with drawing_bar(
            inner, progress, draws=len(pairs), what="comparing areas", unit="pairs"
        ) as advance:
            blocks = [compared(block, advance) for block in in_blocks(pairs, inner, _TOGETHER)]
        result = with_names(joined(blocks, "pair"), pairs)
        return result.assign(exists=xr.ones_like(result["p_value"], dtype=bool))

    def decided(results: list[xr.Dataset], batch: list[Hashable]) -> list[xr.Dataset]:
        p_values = [result["p_value"] for result in results]
        if adjust is None:
            computed = [xr.full_like(p, np.nan) for p in p_values]
        else:
            computed = adjusted_together(p_values, adjust, batch=batch, over=adjust_over)
        return [r.assign(p_adjusted=p) for r, p in zip(results, computed, strict=True)]

    attrs: dict[str, Any] = {
        "kind": kind, "test": test, "alternative": alternative, "adjust": adjust,
        "adjust_over": adjust_over, "level": level,
    }  # fmt: skip
    only = only_pair(data, a, b, roles)
    columns = (*COMPARE_COLUMNS, "n_groups") if clustered else COMPARE_COLUMNS
    return answer(
        data, only, question, columns, any_ties=True, any_ends=True, any_groups=True,
        finish=decided, attrs=attrs,
    )  # fmt: skip


def _placements(inner: xr.Dataset) -> xr.DataArray:
    """Return the placements of the candidates by every measure, so many at a time as fit."""
    blocks = []
    for block in in_blocks(range(inner.sizes["measure"]), inner, _TOGETHER):
        part = inner.isel(measure=list(block))
        placed = xr.apply_ufunc(
            _placed,
            part["score"],
            part["gold"],
            part["present"],
            input_core_dims=[["candidate"]] * 3,
            output_core_dims=[["candidate"]],
            dask="parallelized",
            output_dtypes=[float],
        )
        blocks.append(placed.rename("placed").to_dataset())
    return joined(blocks, "measure")["placed"]


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
    found = spread_of(placed[0] - placed[1], gold, both, cluster)
    sd = found.error
    same = (sd == 0.0) & (difference == 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(same, 0.0, difference / sd)
    z = np.where(np.isinf(z), np.nan, z)
    if test == "delong":
        half = z_of(level) * sd
        low, high = difference - half, difference + half
    else:
        first, second = (spread_of(x, gold, both, cluster, warns=False) for x in placed)
        alone, sizes = (first.spread, second.spread), (found.positive, found.negative)
        low, high = areas.difference((area_a, area_b), alone, found.spread, sizes, level)
        alike = areas.same_order(score_a, score_b, both)
        low, high = (np.where(alike, 0.0 * sd, limit) for limit in (low, high))
    p_value = p_of_t(z, found.spread.freedom if test == "t" else np.inf, alternative)
    return (area_a, area_b, difference, low, high, z, p_value, sd, *found.groups)


def _mean_placement(placement: FloatArray, positive: BoolArray) -> FloatArray:
    """Return the mean over the positives: of placements, the area."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean: FloatArray = np.where(positive, placement, 0.0).sum(axis=-1) / positive.sum(axis=-1)
    return mean
