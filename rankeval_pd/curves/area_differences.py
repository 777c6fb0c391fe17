"""Differences in area between rankings of the same candidates."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.curves import ranking_areas
from rankeval_pd.curves.early_differences import (
    EARLY_KINDS,
    EARLY_PARTS,
    early_columns,
    early_limits,
    early_options,
)
from rankeval_pd.curves.ranking_areas import (
    EQUAL,
    KINDS,
    PARTS_OF_TWO,
    limits_of_two,
    p_of_t,
    spread_of,
)
from rankeval_pd.errors import check_choice, check_margin, check_share
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.tables import OVER
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.copied_measures import with_orders
from rankeval_pd.forms.rankings.kernel_calls import (
    Pair,
    in_blocks,
    joined,
    only_pair,
    pair_names,
    sides,
    with_names,
)
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles_but
from rankeval_pd.forms.roles.roles import (
    Adjustment,
    AdjustOver,
    Alternative,
    AreaTest,
    ComparedKind,
    EqualScores,
    RankingRoles,
    Roles,
)
from rankeval_pd.nbest.region_intervals import Interval, decide, decision_columns, family_attr
from rankeval_pd.progress import drawing_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import Limits, z_of
from rankeval_pd.stats.rankings import area_gaps, roc_areas
from rankeval_pd.stats.rankings.ranking import Ranking
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS
from rankeval_pd.stats.significance.fisher import ALTERNATIVES

_COMPARED = ("area_a", "area_b", "difference", "z", "p_value", "se")
COMPARE_COLUMNS = (
    "measure_a", "measure_b", "area_a", "area_b", "difference", "ci_low", "ci_high", "z", "p_value",
)  # fmt: skip
_PARTS = ("variance_a", "variance_b", "freedom", "positive", "negative", "moved", "alike")
TESTS = ("t", "delong")
_TOGETHER = 1_000_000  # placements kept in memory at once; about twenty arrays of this size exist


@Capabilities(
    rankings="How good is it overall?", any_ties=True, ends=True, clusters=True, by_groups=True,
    short="measure_a measure_b difference ci_low ci_high p_value p_adjusted p_equivalence"
    " p_noninferior better", layout="pair")  # fmt: skip
@with_roles_but("key", "label", "ties", "rng")
def compare_area(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    kind: ComparedKind = "roc",
    test: AreaTest = "t",
    fpr: float | tuple[float, float] | None = None,
    tpr: float | tuple[float, float] | None = None,
    share: float | None = None,
    bedroc_alpha: float = 20.0,
    equal: EqualScores = "block",
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    adjust: Adjustment | None = None,
    adjust_over: AdjustOver = "all",
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Compare ROC areas, average precision or early retrieval between measures.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures, optional
        If you pass both, only this pair is compared. If you pass only ``a``, it is compared with
        every other measure. By default, all pairs are compared.
    kind : {"roc", "ap", "partial", "bedroc", "enrichment"}
        The quantity to compare: the area under the ROC curve or average precision (see
        :func:`area`), or the value of :func:`partial_area`, :func:`bedroc` or :func:`enrichment`.
        If the list for an enrichment factor splits a tie, the tied candidates count fractionally.
    fpr, tpr : float or pair of floats, optional
        Range of the partial area (see :func:`partial_area`). Used by kind="partial".
    share : float, optional
        Fraction of the candidates in the list. Used by kind="enrichment".
    bedroc_alpha : float
        Weight of early ranks (see ``alpha`` in :func:`bedroc`).
    test : {"t", "delong"}
        "t" uses DeLong's standard error and Student's distribution with Welch's degrees of freedom
        for the two classes. If a class has fewer than 5 candidates, the degrees of freedom are the
        size of the smaller class minus one. A normal distribution is used if the mean area is 0.95
        or more. The interval agrees with the test and allows for extreme candidates that are
        missing from a small sample. "delong" uses the normal distribution, as in pROC, and is too
        liberal if a class is small. Average precision allows only "t", with a standard error from
        influence values. The degrees of freedom are the size of the smaller class minus one.
    equal : {"block", "mean"}
        Treatment of equal scores in average precision (see :func:`area`).
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis. "greater" means that a has the larger area.
    margin : float, optional
        Largest difference that is irrelevant in practice, as in :func:`compare`. The p-value
        ``p_equivalence`` or ``p_noninferior`` is the level at which a one-sided confidence limit
        reaches the margin.
    adjust : {None, "holm", "bonferroni", "bh", "by"}
        Adjustment of p-values and intervals for all pairs in all groups, as in :func:`compare`.
    adjust_over : {"all", "group"}
        Whether to adjust over all pairs in all groups of ``by``, or over the pairs in each group
        separately.
    level : float
        Confidence level of the interval for the difference.
    progress : bool, optional
        Whether to show a progress bar. By default, the bar appears after two seconds.
    **roles
        Column roles (see :func:`nbest_precision`). Equal scores always count one half.

    Returns
    -------
    DataFrame or Dataset
        One row per pair (Dataset: dimension pair) with the columns ``measure_a``, ``measure_b``,
        ``area_a``, ``area_b``, ``difference`` = area_a - area_b, its confidence limits ``ci_low``
        and ``ci_high``, ``z`` = difference / ``se``, ``p_value`` and the standard error ``se``.
        With "greater" or "less", the interval is one-sided and its other limit is the end of the
        possible range. ``better`` is the measure with the larger area if the difference is
        significant at 1 - ``level`` (after any adjustment), and NaN otherwise. ``leaning`` is the
        measure with the larger area whether or not the difference is significant. With ``adjust``,
        the table also has ``p_adjusted`` and the unadjusted interval ``ci_low_alone``,
        ``ci_high_alone``.

    Warns
    -----
    RankevalWarning
        If a class has fewer than 10 candidates.

    Notes
    -----
    The variance accounts for pairing. If the two rankings order every positive-negative pair the
    same way, the difference and z are 0 and p is 1. If the variance is 0 but the difference is not,
    as between a perfect ranking and its reverse, z and p are NaN. In simulations with normal
    scores, the 5% test rejected at most 0.062 of true null hypotheses, and DeLong's test up to
    0.20. With 10 or more true positives, the coverage of the 95% interval was at least 0.93,
    compared with 0.77 for DeLong's (``tests/reference/areas.csv``). For areas up to 0.9, the
    interval was at most 1.3 times as wide as DeLong's. For areas near 1, it was up to 3.3 times as
    wide with 10 true positives and 1.3 times as wide with 100 (``width`` in ``area_laws.csv``). The
    test of average precision rejected at most 0.057 of true null hypotheses, and its interval had a
    coverage of at least 0.93 with 3 or more true positives but only 0.70 with 2
    (``tests/reference/average_precision.csv``). For the other kinds, the tests rejected at most
    0.065. Cost: O(N log N) per measure, O(N) per pair.

    References
    ----------
    DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Biometrics 44.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(300)
    >>> df.rankeval.compare_area("good", "fair")
      measure_a measure_b  difference    ci_low   ci_high   p_value better
    0      good      fair    0.112407  0.030916  0.201643  0.008071   good
    """
    check_choice("kind", kind, (*KINDS, *EARLY_KINDS))
    check_choice("equal", equal, EQUAL)
    check_choice("test", test, TESTS)
    if kind != "roc" and test == "delong":
        raise ValueError(f"test='delong' requires kind='roc', not kind={kind!r}. Omit test.")
    asked: dict[str, Any] = {}
    if kind in EARLY_KINDS or any(x is not None for x in (fpr, tpr, share)):
        asked = early_options(kind, fpr, tpr, share, bedroc_alpha)
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("adjust_over", adjust_over, OVER)
    check_choice("adjust", adjust, (None, *ADJUSTMENTS))
    level = check_share("level", level)
    clustered: bool = Roles.of(roles).groups is not None
    if clustered and test == "delong":
        raise ValueError(
            "test='delong' with groups: DeLong's test assumes independent candidates. Omit test to"
            " use a t test with the variance between groups."
        )

    parts: tuple[str, ...] = {"ap": PARTS_OF_TWO, "roc": _PARTS}.get(kind, EARLY_PARTS)
    names: tuple[str, ...] = (*_COMPARED, *parts, *(("n_groups",) if clustered else ()))
    how = _Options(
        adjust, adjust_over, alternative, round(1.0 - level, 12), level, check_margin(margin)
    )
    noted: dict[str, Any] = {"kind": kind, "test": test, **asked, **how._asdict()}
    del noted["alpha"]
    if adjust is None:
        del noted["adjust_over"]

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        pairs: list[Pair] = pair_names(inner, a, b)
        noted.update(family_attr(how, pairs, inner, a, b, 1))
        clusters: list[xr.DataArray] = [inner["cluster"]] if clustered else []
        options: dict[str, Any] = {"alternative": alternative}
        kernel: Callable[..., Any] = _pair_columns
        placed: list[xr.DataArray] = []
        if kind == "ap":
            kernel = ranking_areas.columns_of_two
            options |= {"ties": EQUAL[equal], "ends": inner.attrs["ends"]}
        elif kind in EARLY_KINDS:
            kernel = early_columns
            options |= {"kind": kind, "asked": asked, "ends": inner.attrs["ends"]}
        else:
            options["test"] = test
            placed = [_placements(inner)]

        batches = inner["gold"].size // max(1, inner.sizes["candidate"])

        def compared(block: Sequence[Pair], advance: Callable[[int], object]) -> xr.Dataset:
            two = [inner["score"], inner["present"], *placed]
            given: list[Any] = [x for array in two for x in sides(array, block)]
            given += [inner["gold"], *clusters]
            computed = xr.apply_ufunc(
                kernel,
                *given,
                kwargs=options,
                input_core_dims=[["candidate"]] * len(given),
                output_core_dims=[[]] * len(names),
                dask="parallelized",
                output_dtypes=[np.int64 if name == "n_groups" else float for name in names],
            )
            advance(len(block) * batches)
            return tables.as_columns(names, computed)

        with drawing_bar(
            inner, progress, draws=len(pairs), what="comparing areas", unit="pairs"
        ) as advance:
            blocks = [compared(block, advance) for block in in_blocks(pairs, inner, _TOGETHER)]
        result = with_orders(with_names(joined(blocks, "pair"), pairs), inner, pairs)
        return result.assign(exists=xr.ones_like(result["p_value"], dtype=bool))

    interval: tuple[Interval, tuple[str, ...]]
    if kind == "ap":
        limits = partial(limits_of_two, power=1.0 if clustered else 2.0)
        interval = limits, ("area_a", "area_b", "se", *parts)
    elif kind in EARLY_KINDS:
        interval = early_limits, ("area_a", "area_b", "se", *parts)
    elif test == "delong":
        interval = _delong_limits, ("difference", "se", "alike")
    else:
        interval = _limits, ("area_a", "area_b", "se", *parts)

    def finish(results: list[xr.Dataset], batch: list[Hashable]) -> list[xr.Dataset]:
        decided = decide(results, batch, how=how, interval=interval)
        return [_with_ends(x) for x in decided] if kind == "enrichment" else decided

    return answer(
        data, only_pair(data, a, b, roles), question, _columns(how, clustered),
        can(compare_area), finish=finish, attrs=noted,
    )  # fmt: skip


def _with_ends(result: xr.Dataset) -> xr.Dataset:
    """Return one-sided intervals for lifts, which end at the largest possible lift."""
    names = [name for name in result if str(name).startswith(("ci_low", "ci_high"))]
    return result.assign(
        {x: xr.where(abs(result[x]) == 1.0, result[x] * result["factor"], result[x]) for x in names}
    )


def _columns(how: _Options, clustered: bool) -> tuple[str, ...]:
    decision, ending = decision_columns(how)
    groups = ("n_groups",) if clustered else ()
    return (*COMPARE_COLUMNS, *decision[:-2], "se", *groups, "better", *ending)


class _Options(NamedTuple):
    """Options for testing and adjusting the pairs."""

    adjust: str | None
    adjust_over: str
    alternative: str
    alpha: float
    level: float
    margin: float | None


def _placements(inner: xr.Dataset) -> xr.DataArray:
    """Return the candidates' placements under every measure, in parts that fit in memory."""
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
    return roc_areas.placements(Ranking.of(score, gold, present)).placement


def _pair_columns(
    score_a: FloatArray, score_b: FloatArray, present_a: BoolArray, present_b: BoolArray,
    placed_a: FloatArray, placed_b: FloatArray, gold: BoolArray, cluster: IntArray | None = None, *,
    test: str, alternative: str,
) -> tuple[AnyArray, ...]:  # fmt: skip
    both = present_a & present_b
    placed = [
        # placements among all scored candidates, unless the other measure has missing scores
        placed if (both == present).all() else _placed(score, gold, both)
        for score, present, placed in (
            (score_a, present_a, placed_a),
            (score_b, present_b, placed_b),
        )
    ]
    area_a, area_b = (_mean_placement(x, gold, both) for x in placed)
    difference = _mean_placement(placed[0] - placed[1], gold, both)
    found = spread_of(placed[0] - placed[1], gold, both, cluster)
    sd = found.error
    same = (sd == 0.0) & (difference == 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(same, 0.0, difference / sd)
    z = np.where(np.isinf(z), np.nan, z)
    alone = [spread_of(x, gold, both, cluster, warns=False).spread.variance for x in placed]
    freedom, sizes = found.spread.freedom, [found.positive, found.negative]
    if cluster is None:
        freedom = area_gaps.difference_freedom(freedom, (area_a, area_b), sizes)
    else:
        # missing extreme candidates may or may not form clusters: use the geometric mean of both
        sizes = [area_gaps.unseen_counts(size, found.groups[0]) for size in sizes]
    alike = np.asarray((placed[0] == placed[1]) | np.isnan(placed[0]) | ~both).all(axis=-1)
    if alike.any():  # in all other cases the orders differ, and no further sorting is needed
        orders = (Ranking.of(score, gold, both) for score in (score_a, score_b))
        alike = alike & area_gaps.same_order(*orders)
    p_value = p_of_t(z, freedom if test == "t" else np.inf, alternative)
    parts = (*alone, freedom, *sizes, found.moved, alike)
    floats = (np.broadcast_to(np.asarray(x, dtype=float), difference.shape) for x in parts)
    return (area_a, area_b, difference, z, p_value, sd, *floats, *found.groups)


def _limits(
    area_a: FloatArray, area_b: FloatArray, sd: FloatArray, *parts: FloatArray, level: float
) -> Limits:
    """Return limits for the difference between two areas; 0 for identical rankings."""
    variance_a, variance_b, freedom, positive, negative, moved, alike = parts
    low, high = area_gaps.area_difference_limits(
        (area_a, area_b),
        (variance_a, variance_b, sd**2),
        freedom,
        (positive, negative),
        level,
        moved,
    )
    low, high = (np.where(alike > 0, 0.0 * sd, limit) for limit in (low, high))
    return low, high


def _delong_limits(
    difference: FloatArray, sd: FloatArray, alike: FloatArray, level: float
) -> Limits:
    # if rankings differ but the variance is 0, the interval contains all possible differences
    half = z_of(level) * np.where((sd == 0.0) & (alike == 0.0), np.inf, sd)
    low, high = np.clip((difference - half, difference + half), -1.0, 1.0)
    return low, high


def _mean_placement(placement: FloatArray, gold: BoolArray, here: BoolArray) -> FloatArray:
    """Return the mean over the positives; the mean of placements is the area.

    Twice the negatives below a positive is a whole number, so equal areas differ by exactly 0.
    """
    positive, halves = gold & here, 2.0 * (~gold & here).sum(axis=-1)
    whole = np.rint(np.where(positive, placement, 0.0) * halves[..., np.newaxis]).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean: FloatArray = whole / (halves * positive.sum(axis=-1))
    return mean
