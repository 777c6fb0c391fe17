"""How good is the whole ranking? The area under the ROC curve, and average precision."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice, check_share
from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.measure_pairs import only_pair, pair_names, sides, with_names
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles
from rankeval_pd.forms.spelled_out import with_roles_but
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.normal import z_of
from rankeval_pd.stats.rankings import areas
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.stats.significance.adjust import adjust as adjusted

AREA_COLUMNS = ("measure", "area", "chance", "ci_low", "ci_high")
_COMPARED = (
    "area_a", "area_b", "difference", "ci_low", "ci_high", "z", "p_value",
)  # fmt: skip
COMPARE_COLUMNS = ("measure_a", "measure_b", *_COMPARED, "p_adjusted")
KINDS = ("roc", "ap")


@with_roles_but("key", "ties", "rng")
def area(
    data: Data, kind: str = "roc", *, level: float = 0.95, **roles: Unpack[RankingRoles]
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
    level : float
        Confidence level of the interval.
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
        * ``ci_low``, ``ci_high``: DeLong's interval of the ROC area, within 0 and 1; NaN with
          "ap", for which there is no interval that is known to hold its level, and where there are
          fewer than two candidates of a class.

    Notes
    -----
    DeLong's interval is one of the area in a population of which the candidates are a sample. It is
    an approximation for large samples, too short where the area is close to 1. O(N log N).

    References
    ----------
    DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Biometrics 44.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": [6, 5, 4, 3, 2, 1], "gold": [True, True, False, True, False, False]}
    ... )
    >>> df.rankeval.area().round(3)
      measure   area  chance  ci_low  ci_high
    0      G2  0.889     0.5   0.581      1.0
    >>> df.rankeval.area("ap").round(3)
      measure   area  chance  ci_low  ci_high
    0      G2  0.917   0.645     NaN      NaN
    """
    check_choice("kind", kind, KINDS)
    level = check_share("level", level)

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        found = xr.apply_ufunc(
            _roc_columns if kind == "roc" else _ap_columns,
            inner["score"],
            inner["gold"],
            inner["present"],
            kwargs={"level": level} if kind == "roc" else {"ends": inner.attrs["ends"]},
            input_core_dims=[["candidate"]] * 3,
            output_core_dims=[[]] * 4,
            dask="parallelized",
            output_dtypes=[float] * 4,
        )
        result = xr.Dataset(dict(zip(AREA_COLUMNS[1:], found, strict=True)))
        return result.assign(exists=xr.ones_like(result["area"], dtype=bool))

    attrs: dict[str, Any] = {"kind": kind, "level": level}
    return answer(data, roles, question, AREA_COLUMNS, any_ties=True, any_ends=True, attrs=attrs)


def _roc_columns(
    score: FloatArray, gold: BoolArray, present: BoolArray, *, level: float
) -> tuple[AnyArray, ...]:
    found = areas.placements(score, gold, present)
    half = z_of(level) * np.sqrt(areas.variance(found.placement, found.gold, found.present))
    low, high = np.clip(found.area - half, 0.0, 1.0), np.clip(found.area + half, 0.0, 1.0)
    return found.area, np.where(np.isnan(found.area), np.nan, 0.5), low, high


def _ap_columns(
    score: FloatArray, gold: BoolArray, present: BoolArray, *, ends: bool
) -> tuple[AnyArray, ...]:
    found = areas.average_precision(score, gold, present, ends=ends)
    unknown = np.full(found.value.shape, np.nan)
    return found.value, found.chance, unknown, unknown


@with_roles_but("key", "ties", "rng")
def compare_area(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    adjust: str | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare the areas under the ROC curves of two measures, or of all pairs, by DeLong's test.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures, optional
        Both: this pair. ``a`` alone: a against each other measure. Neither: all pairs.
    adjust : {None, "holm", "bonferroni", "bh", "by"}
        Adjustment for the number of pairs in one group.
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
        ``p_value`` (two-sided), ``p_adjusted`` (NaN without ``adjust``).

    Notes
    -----
    Both measures score the same candidates, and the variance is that of paired areas. Where the
    two rankings agree in every pair of a true positive and another candidate, difference and z are
    0 and p is 1. Where the variance is 0 and the difference is not, as between a perfect ranking
    and its reverse, z and p are NaN: the sample says nothing of how the areas vary. The test is
    an approximation for large samples. O(N log N) for each measure, O(N) for each pair.

    References
    ----------
    DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Biometrics 44.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {
    ...         "G2": [8, 7, 6, 5, 4, 3, 2, 1],
    ...         "t": [4, 8, 3, 7, 6, 2, 5, 1],
    ...         "gold": [True, True, True, False, True, False, False, False],
    ...     }
    ... )
    >>> df.rankeval.compare_area("G2", "t")[["area_a", "area_b", "z", "p_value"]].round(4)
       area_a  area_b       z  p_value
    0  0.9375  0.6875  1.2247   0.2207
    """
    check_choice("adjust", adjust, (None, *ADJUSTMENTS))
    level = check_share("level", level)

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        pairs = pair_names(inner, a, b)
        core = ["candidate"]
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
        found = xr.apply_ufunc(
            _pair_columns,
            *sides(inner["score"], pairs),
            *sides(inner["present"], pairs),
            *sides(placed, pairs),
            inner["gold"],
            kwargs={"level": level},
            input_core_dims=[core] * 7,
            output_core_dims=[[]] * len(_COMPARED),
            dask="parallelized",
            output_dtypes=[float] * len(_COMPARED),
        )
        result = with_names(xr.Dataset(dict(zip(_COMPARED, found, strict=True))), pairs)
        p_value = result["p_value"]
        if adjust is None:
            p_adjusted = xr.full_like(p_value, np.nan)
        else:
            p_adjusted = xr.apply_ufunc(
                adjusted,
                p_value.chunk({"pair": -1}) if p_value.chunks else p_value,
                kwargs={"method": adjust},
                input_core_dims=[["pair"]],
                output_core_dims=[["pair"]],
                dask="parallelized",
                output_dtypes=[float],
            )
        exists = xr.ones_like(p_value, dtype=bool)
        return result.assign(p_adjusted=p_adjusted, exists=exists)

    attrs: dict[str, Any] = {"adjust": adjust, "level": level}
    only = only_pair(data, a, b, roles)
    return answer(data, only, question, COMPARE_COLUMNS, any_ties=True, any_ends=True, attrs=attrs)


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
    *,
    level: float,
) -> tuple[AnyArray, ...]:
    from scipy import special

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
    sd = np.sqrt(areas.variance(placed[0] - placed[1], gold, both))
    half = z_of(level) * sd
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where((sd == 0.0) & (difference == 0.0), 0.0, difference / sd)
    z = np.where(np.isinf(z), np.nan, z)
    p_value = special.erfc(np.abs(z) / np.sqrt(2.0))
    return area_a, area_b, difference, difference - half, difference + half, z, p_value


def _mean_placement(placement: FloatArray, positive: BoolArray) -> FloatArray:
    """Return the mean over the positives: of placements, the area."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean: FloatArray = np.where(positive, placement, 0.0).sum(axis=-1) / positive.sum(axis=-1)
    return mean
