"""Rank the measures, and find all measures tied for best."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Unpack

import xarray as xr

from rankeval_pd.errors import unknown_name
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.answers import RankingQuestion, answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.copied_measures import count_distinct, distinct_pairs
from rankeval_pd.forms.rankings.kernel_calls import pair_names, with_names
from rankeval_pd.forms.roles.declarations import (
    Capabilities,
    can,
    with_roles,
)
from rankeval_pd.forms.roles.roles import (
    AreaKind,
    EachAdjustOver,
    FamilyAdjustment,
    ListSizes,
    RankingRoles,
    Roles,
)
from rankeval_pd.nbest.rank_criteria import FOUND, PAIRS, RANKED, RankCriterion
from rankeval_pd.nbest.tested_measures import of_areas, of_lists
from rankeval_pd.nbest.tie_verdicts import check_means
from rankeval_pd.nbest.tie_warnings import DECIDES, warn_of_rows
from rankeval_pd.progress import drawing_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import measure_pairs
from rankeval_pd.stats.rankings.swap_draws import Keys


@Capabilities(
    rankings="Which measure is best?",
    lists=True,
    heads=True,
    clusters=True,
    short="measure n value ci_low ci_high rank_low rank_high letters",
    layout="measure n",
)
@with_roles
def measure_ranks(
    data: Data,
    n: ListSizes = None,
    *,
    kind: AreaKind | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    adjust_over: EachAdjustOver = "n",
    n_resamples: int | None = None,
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Rank the measures, with confidence limits for the ranks.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    n : int, sequence of int or range, optional
        Sizes of the n-best lists. Measures are ranked by the precision of n-best lists.
    kind : {"ap", "roc"}, optional
        Quantity used to rank the measures if you do not pass ``n``: average precision or the area
        under the ROC curve.
    adjust : {"max-t", "max-t-stepdown", "holm", "bonferroni", "bh", "by", None}
        Adjustment for testing all pairs. For lists, "max-t" uses random swaps as in
        ``compare(adjust="max-t")``. For areas, "max-t" uses the joint t distribution of all
        differences. The other methods adjust the p-values from individual tests.
    adjust_over : {"n", "group"}
        Tests that form a family: the pairs at each n, or the pairs at all n. Each group in ``by``
        is always a separate family.
    n_resamples : int, optional
        Number of swaps, or of draws from the joint distribution. By default, the number depends on
        the number of pairs and the level, and is at least 999 swaps or 9,999 draws. As in
        :func:`compare`, pairs near the level get up to 64 times as many swaps or draws.
    level : float
        Simultaneous confidence level for all values, and separately for all ranks.
    progress : bool, optional
        Whether to show a progress bar. By default, the bar appears after two seconds.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure, best measure first (Dataset: dimension measure, in column order), or
        one row per measure and n. The columns are ``measure``, ``n``, ``value``, ``ci_low``,
        ``ci_high``; ``rank``: 1 for the best measure (equal values share the better rank);
        ``rank_low``: one plus the number of significantly better measures; ``rank_high``: the
        number of measures minus the number of significantly worse measures; ``tied_for_best``: True
        if no other measure is significantly better; ``tied``: for n-best lists, excluded candidates
        tied with the last candidate; ``letters``: two measures share a letter unless the measures
        differ significantly; ``undecided``: whether more draws could change a decision about the
        measure; ``ci_low_alone``, ``ci_high_alone``: the unadjusted interval.

    Warns
    -----
    RankevalWarning
        If lists contain significantly fewer true positives than random lists (you may need
        ``lower_is_better``), or if ``kind`` is set and a class has fewer than 10 candidates.

    Notes
    -----
    All true ranks lie within the limits with probability at least ``level``, because ``adjust``
    controls the family-wise error rate over the pairs. "bh" and "by" control only the false
    discovery rate, and None controls neither error rate. Intervals for n-best precision are
    Clopper-Pearson intervals for the acceptance region. For areas, see :func:`area`. All intervals
    are Bonferroni-adjusted for the number of measures, multiplied by the number of list sizes if
    ``adjust_over="group"``. The interval for the best measure therefore remains valid after
    selection. In simulations with twelve equally good measures, all ranks were within their limits
    in at least 94% of samples (``tests/reference/measure_ranks.csv``).

    Ranking by lists takes as long as ``compare(adjust="max-t")`` for all pairs: six seconds for 12
    measures, 3 list sizes, 5,000 candidates and 9,999 swaps. Areas cost O(N log N) per measure.

    References
    ----------
    M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm (2024), Inference for ranks with
    applications to mobility across neighbourhoods and academic achievement across countries.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.measure_ranks(100)
      measure    n  value    ci_low   ci_high  rank_low  rank_high letters
    0    good  100   0.49  0.375184  0.605582         1          1       a
    1    fair  100   0.32  0.218978  0.434852         2          2       b
    """
    asked = RankCriterion.of(n, kind, adjust, n_resamples, level, progress, None, over=adjust_over)
    return best_first(ranked(data, asked, RANKED, roles))


def ranked(data: Data, asked: RankCriterion, columns: dict[str, type], roles: Any) -> Data:
    """Return the requested columns in the order of the measures."""
    chosen = Roles.of(roles)
    rows: list[Any] = []

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        baseline, own = None, list[Any]()  # chunks of a Dataset are processed in several threads
        if asked.baseline is not None:
            measures = inner.indexes["measure"].tolist()
            if asked.baseline not in measures:
                raise unknown_name("baseline", asked.baseline, measures)
            baseline = measures.index(asked.baseline)
        compute = functools.partial(_columns, baseline=baseline)
        more = {} if asked.kind else {"rows": own}
        result = _tested(inner, sizes, asked, chosen, compute, FOUND, "measure", **more)
        names = inner.indexes["measure"]
        rows.extend([(names[a], names[b], *row) for a, b, *row in own])
        return result

    result = _answered(data, asked, roles, question, ("measure",), asked.columns(columns))
    warn_of_rows(rows)
    return result


def pairs_tested(data: Data, asked: RankCriterion, roles: Any) -> Data:
    """Return the pairwise tests for the ranks, with one row per pair and n."""

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        names = pair_names(inner, None, None)
        result = _tested(inner, sizes, asked, Roles.of(roles), _columns_of_pairs, PAIRS, "pair")
        return with_names(result, names)

    columns = {x: t for x, t in PAIRS.items() if x != "p_adjusted" or asked.how.adjust is not None}
    return _answered(data, asked, roles, question, ("measure_a", "measure_b"), columns)


def _answered(
    data: Data,
    asked: RankCriterion,
    roles: Any,
    question: RankingQuestion,
    names: tuple[str, ...],
    columns: dict[str, type],
) -> Data:
    """Return the result for all data, with rows labeled by ``names`` and n."""
    over_n: bool = asked.kind is None
    if means := over_n and Roles.of(roles).ties == "expected":
        check_means(data)
    return answer(
        data, roles, question, (*names, *(("n",) if over_n else ()), *columns),
        can(measure_ranks, lists=over_n, any_ties=not over_n or means, heads=over_n and not means),
        n=asked.n, attrs=asked.attrs,
    )  # fmt: skip


def _tested(
    inner: xr.Dataset,
    sizes: IntArray,
    asked: RankCriterion,
    chosen: Roles,
    compute: Callable[..., tuple[AnyArray, ...]],
    columns: dict[str, type],
    dim: str,
    **more: Any,
) -> xr.Dataset:
    """Compute the columns for measures or pairs from all pairwise tests."""
    over_n: bool = asked.kind is None
    measures = inner.sizes["measure"]
    every = pair_names(inner, None, None) if measures > 1 else []
    stands = None if asked.how.adjust is None else distinct_pairs(inner, every)
    pairs = count_distinct(every, stands)
    draws = asked.draws(pairs)
    if asked.swapped:
        asked.attrs["n_resamples"] = draws
        asked.attrs.update(chosen.noted_seed)
    if asked.how.adjust is not None:
        one, tests = asked.baseline, pairs
        if one is not None:
            shown = measure_pairs.with_one(measures, inner.indexes["measure"].tolist().index(one))
            tests = count_distinct(shown, None if stands is None else stands[shown])
        asked.attrs["family"] = tables.family_of(
            tests,
            one,
            sizes=sizes.size if over_n else 1,
            groups=inner.attrs["n_groups"], over=("group", "n" if asked.how.each else "group"),
        )  # fmt: skip
    clusters = [inner["cluster"]] if "cluster" in inner else []
    with drawing_bar(inner, asked.progress, draws=draws * pairs, what="swapping labels") as advance:
        computed = xr.apply_ufunc(
            compute,
            inner["score"],
            inner["gold"],
            inner["present"],
            inner["draws"],
            *clusters,
            kwargs={
                "asked": asked, "stands": stands, "sizes": sizes, "ties": chosen.ties,
                "n_resamples": draws,
                "seed": chosen.swaps if over_n else chosen.draws, "advance": advance,
                **({"whole": inner.attrs["whole"]} if over_n else {}), **more,
            },
            input_core_dims=[["measure", "candidate"], ["candidate"]] * 2
            + [["candidate"]] * len(clusters),
            output_core_dims=[[dim, "n"] if over_n else [dim]] * (len(columns) + 1),
            dask="parallelized",
            dask_gufunc_kwargs={
                "output_sizes": {
                    **({"pair": len(every)} if dim == "pair" else {}),
                    **({"n": sizes.size} if over_n else {}),
                }
            },
            output_dtypes=[*columns.values(), bool],
        )  # fmt: skip
    result = tables.as_columns([*columns, "exists"], computed)
    return result.assign_coords(n=("n", sizes)) if over_n else result


def best_first(table: Data) -> Data:
    """Sort the rows in each group and n by value. Datasets are returned unchanged."""
    if isinstance(table, xr.Dataset):
        return table
    before: list[Any] = list(table.columns[: list(table.columns).index("measure")])
    before += ["n"] if "n" in table else []
    number = table.groupby(before, sort=False, observed=True).ngroup() if before else 0
    keys = table.assign(_group=number, _lower=-table["value"])
    order = keys.sort_values(["_group", "_lower"], kind="stable").index
    result = table.loc[order].reset_index(drop=True)
    result.attrs.update(table.attrs)
    return result


def _columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    keys: Keys,
    cluster: IntArray | None = None,
    *,
    asked: RankCriterion,
    baseline: int | None,
    stands: IntArray | None,
    **options: Any,
) -> tuple[AnyArray, ...]:
    """Return the ordered columns for measures, and the rows to keep."""
    find = of_lists if asked.kind is None else of_areas
    found = find(
        score,
        gold,
        present,
        keys,
        cluster,
        asked=asked,
        baseline=baseline,
        stands=stands,
        **options,
    )
    decided = measure_pairs.decide(found.value, found.tested, asked.how, baseline, stands)
    named = {
        "value": found.value, "ci_low": found.limits[0], "ci_high": found.limits[1],
        "ci_low_alone": found.alone[0], "ci_high_alone": found.alone[1],
        "better_than_chance": found.better, "tied": found.tied, **decided._asdict(),
        DECIDES: found.decides,
    }  # fmt: skip
    return _leave(asked, [*(named[name] for name in FOUND), found.exists])


def _columns_of_pairs(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    keys: Keys,
    cluster: IntArray | None = None,
    *,
    asked: RankCriterion,
    stands: IntArray | None,
    **options: Any,
) -> tuple[AnyArray, ...]:
    """Return the columns for pairs, and the rows to keep."""
    find = of_lists if asked.kind is None else of_areas
    found = find(
        score, gold, present, keys, cluster, asked=asked, baseline=None, stands=stands, **options
    )
    of_pairs = measure_pairs.pairs(score.shape[-2])
    a, b = ([pair[side] for pair in of_pairs] for side in (0, 1))
    adjusted = measure_pairs.decided(found.tested, asked.how, stands=stands).p_adjusted
    columns = [
        found.value[..., a, :], found.value[..., b, :], found.tested.difference,
        found.tested.p_value, adjusted, found.exists[..., a, :] & found.exists[..., b, :],
    ]  # fmt: skip
    return _leave(asked, columns)


def _leave(asked: RankCriterion, columns: list[AnyArray]) -> tuple[AnyArray, ...]:
    """Return the columns, without the dimension n for areas."""
    return tuple(columns if asked.kind is None else [column[..., 0] for column in columns])
