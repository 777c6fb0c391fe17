"""Which measure is best, and which cannot be told apart from it?"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_choice, check_share, unknown_name
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.answers import RankingQuestion, answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import pair_names, with_names
from rankeval_pd.forms.rankings.values import Sizes, check_n
from rankeval_pd.forms.roles.declarations import (
    Capabilities,
    can,
    check_draws,
    check_needed,
    with_roles,
)
from rankeval_pd.forms.roles.roles import AreaKind, FamilyAdjustment, ListSizes, RankingRoles, Roles
from rankeval_pd.nbest.precision import warn_of_reversed
from rankeval_pd.progress import drawing_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions import hypergeometric
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.intervals.proportions import INTERVALS, z_of
from rankeval_pd.stats.rankings import early, rank_tests, roc_areas, swaps
from rankeval_pd.stats.rankings.ranking import Ranking, Whole, nbest_regions, restricted_ranks
from rankeval_pd.stats.rankings.swap_draws import Keys
from rankeval_pd.stats.significance.adjust import ADJUSTMENTS

RANKED: dict[str, type] = {
    "value": float, "ci_low": float, "ci_high": float, "rank": np.int64, "rank_low": np.int64,
    "rank_high": np.int64, "tied_for_best": bool,
}  # fmt: skip
VERDICT: dict[str, type] = {
    "value": float, "ci_low": float, "ci_high": float, "rank_low": np.int64,
    "rank_high": np.int64, "difference": float, "difference_low": float, "difference_high": float,
    "p_adjusted": float, "tied_for_best": bool, "better_than_chance": bool,
}  # fmt: skip
_OF_LISTS: dict[str, type] = {"tied": np.int64}
_FOUND = {**RANKED, **VERDICT, **_OF_LISTS}
PAIRS: dict[str, type] = {
    "value_a": float, "value_b": float, "difference": float, "p_value": float, "p_adjusted": float,
}  # fmt: skip
KINDS = ("ap", "roc")


@Capabilities(rankings="Which measure is best?", lists=True, heads=True)
@with_roles
def measure_ranks(
    data: Data,
    n: ListSizes = None,
    *,
    kind: AreaKind | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    n_resamples: int | None = None,
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Rank the measures, with the ranks that the differences between them leave open.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    n : int, sequence of int or range, optional
        Sizes of the lists: the measures are ranked by the precision of their n-best lists.
    kind : {"ap", "roc"}, optional
        In place of n: rank by average precision, or by the area under the ROC curve.
    adjust : {"max-t", "holm", "bonferroni", "bh", "by", None}
        Adjustment of the tests of all pairs, and of all n asked for. Lists are compared by label
        swaps, as in ``compare(adjust="max-t")``, areas by Student's joint distribution of all
        differences. The others adjust the p-values of single tests. Each group of ``by`` is a
        family of its own.
    n_resamples : int, optional
        Number of swaps, or of draws from the joint distribution; None is as many as the pairs and
        the level need, and at least 999 swaps or 9,999 draws.
    level : float
        Of the intervals of the values, each alone, and of the ranks, all together.
    progress : bool, optional
        Whether to show a progress bar; by default where the work takes more than two seconds.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure, the best first (Dataset: dimension measure, in the order of the
        columns); where n was given, one per measure and n: ``measure``, ``n``, ``value``,
        ``ci_low``, ``ci_high``; ``rank``, 1 being the best, equal values sharing the better rank;
        ``rank_low``, ``rank_high``: one more than the number of measures that are significantly
        better, and the number of measures less those that are significantly worse;
        ``tied_for_best``: no other measure is significantly better, so that rank_low is 1;
        of n-best lists ``tied``: candidates left out although they have the score of the last.

    Warns
    -----
    RankevalWarning
        If lists have fewer true positives than random ones have, by more than chance:
        ``lower_is_better`` may be forgotten.

    Notes
    -----
    All true ranks are between their limits together with probability ``level`` (or more), because
    that needs no false decision among the pairs only, and ``adjust`` controls it ("bh" and "by"
    control the share of false decisions instead, None nothing). Intervals of n-best precision are
    Clopper and Pearson's of the acceptance region, those of areas as in :func:`area`. In
    simulations with twelve equally good measures, all ranks were within their limits in .94 of the
    samples or more (``tests/reference/measure_ranks.csv``).

    Cost: as ``compare(adjust="max-t")`` of all pairs; twelve measures, 3 n of 5,000 candidates and
    9,999 swaps take six seconds. Areas take O(N log N) for each measure.

    References
    ----------
    M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm (2024), Inference for ranks with
    applications to mobility across neighbourhoods and academic achievement across countries.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.measure_ranks(100)[["measure", "value", "rank", "rank_low", "rank_high"]]
      measure  value  rank  rank_low  rank_high
    0    good   0.49     1         1          1
    1    fair   0.32     2         2          2
    """
    asked = RankCriterion.of(n, kind, adjust, n_resamples, level, progress, None)
    return best_first(ranked(data, asked, RANKED, roles))


class RankCriterion(NamedTuple):
    """What the measures are ranked by, and how the differences are tested."""

    n: Sizes
    kind: str | None
    adjust: str | None
    n_resamples: int | None
    level: float
    progress: bool | None
    baseline: Hashable
    attrs: dict[str, Any]  #: what readers and plots of the table need to know

    @classmethod
    def of(
        cls,
        n: Any,
        kind: str | None,
        adjust: str | None,
        n_resamples: int | None,
        level: float,
        progress: bool | None,
        baseline: Hashable,
    ) -> RankCriterion:
        """Return the options, checked."""
        if (n is None) == (kind is None):
            raise ValueError(
                f"n={n!r}, kind={kind!r}: give one of the two, sizes of lists or kind='ap' (average"
                " precision) or 'roc' (area under the ROC curve)."
            )
        check_choice("kind", kind, (None, *KINDS))
        check_choice("adjust", adjust, (None, "max-t", *ADJUSTMENTS))
        draws = None if n_resamples is None else check_draws("n_resamples", n_resamples)
        level = check_share("level", level)
        attrs = {"kind": kind, "adjust": adjust, "level": level}
        return cls(check_n(n), kind, adjust, draws, level, progress, baseline, attrs)

    def draws(self, pairs: int) -> int:
        """Return the number of draws: with fewer no pair could be told apart."""
        alpha = 1.0 - self.level
        needed = swaps.least_swaps(pairs, alpha)
        if self.n_resamples is None:
            if self.kind:
                return 9_999
            most = swaps.enough_swaps(pairs, alpha)
            return check_needed(most, f"level={self.level!r}") if self.adjust == "max-t" else most
        if self.kind is None and self.adjust == "max-t" and self.n_resamples < needed:
            raise ValueError(
                f"n_resamples={self.n_resamples} cannot reach level={self.level:g}: the smallest"
                f" p-value of {pairs} pairs is {pairs}/(n_resamples + 1). Give"
                f" n_resamples={needed} or more, or None for as many as are needed."
            )
        return self.n_resamples


def ranked(data: Data, asked: RankCriterion, columns: dict[str, type], roles: Any) -> Data:
    """Return the columns asked for, in the order of the measures."""

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        baseline = None
        if asked.baseline is not None:
            measures = inner.indexes["measure"].tolist()
            if asked.baseline not in measures:
                raise unknown_name("baseline", asked.baseline, measures)
            baseline = measures.index(asked.baseline)
        compute = functools.partial(_columns, baseline=baseline)
        return _tested(inner, sizes, asked, Roles.of(roles), compute, _FOUND, "measure")

    of_lists = _OF_LISTS if asked.kind is None else {}
    return _answered(data, asked, roles, question, ("measure",), {**columns, **of_lists})


def pairs_tested(data: Data, asked: RankCriterion, roles: Any) -> Data:
    """Return the tests of all pairs behind the ranks: a row per pair, and per n."""

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        names = pair_names(inner, None, None)
        result = _tested(inner, sizes, asked, Roles.of(roles), _columns_of_pairs, PAIRS, "pair")
        return with_names(result, names)

    return _answered(data, asked, roles, question, ("measure_a", "measure_b"), PAIRS)


def _answered(
    data: Data,
    asked: RankCriterion,
    roles: Any,
    question: RankingQuestion,
    names: tuple[str, ...],
    columns: dict[str, type],
) -> Data:
    """Return the answer for the whole data, its rows named by ``names``, and by n of lists."""
    over_n: bool = asked.kind is None
    return answer(
        data, roles, question, (*names, *(("n",) if over_n else ()), *columns),
        can(measure_ranks, lists=over_n, any_ties=not over_n, heads=over_n),
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
) -> xr.Dataset:
    """Return the columns of every measure, or of every pair of them, all pairs being tested."""
    over_n: bool = asked.kind is None
    measures = inner.sizes["measure"]
    pairs = measures * (measures - 1) // 2
    draws = asked.draws(pairs)
    if asked.adjust == "max-t":
        asked.attrs["n_resamples"] = draws
    with drawing_bar(inner, asked.progress, draws=draws * pairs, what="swapping labels") as advance:
        computed = xr.apply_ufunc(
            compute,
            inner["score"],
            inner["gold"],
            inner["present"],
            inner["draws"],
            kwargs={
                "asked": asked, "sizes": sizes, "ties": chosen.ties, "n_resamples": draws,
                "seed": chosen.draws, "advance": advance,
                **({"whole": inner.attrs["whole"]} if over_n else {}),
            },
            input_core_dims=[["measure", "candidate"], ["candidate"]] * 2,
            output_core_dims=[[dim, "n"] if over_n else [dim]] * (len(columns) + 1),
            dask="parallelized",
            dask_gufunc_kwargs={
                "output_sizes": {
                    **({"pair": pairs} if dim == "pair" else {}),
                    **({"n": sizes.size} if over_n else {}),
                }
            },
            output_dtypes=[*columns.values(), bool],
        )  # fmt: skip
    result = tables.as_columns([*columns, "exists"], computed)
    return result.assign_coords(n=("n", sizes)) if over_n else result


def best_first(table: Data) -> Data:
    """Return the rows of each group and n with the highest value first; a Dataset as it is."""
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


class _Found(NamedTuple):
    """The values of all measures, the tests of all pairs, and who is better than chance."""

    value: FloatArray  #: (..., measure, n)
    low: FloatArray
    high: FloatArray
    better: BoolArray
    tied: IntArray
    exists: BoolArray
    tested: rank_tests.PairTests

    def p_adjusted(self, asked: RankCriterion) -> FloatArray:
        """Return the p-values of all pairs, adjusted for all that are tested together."""
        together = asked.kind is not None
        return rank_tests.over_pairs(self.tested.p_value, asked.adjust, simultaneous=together)


def _columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    keys: Keys,
    *,
    asked: RankCriterion,
    baseline: int | None,
    **options: Any,
) -> tuple[AnyArray, ...]:
    """Return the columns of the measures that are known, in order, and which rows there are."""
    find = _of_lists if asked.kind is None else _of_areas
    found = find(score, gold, present, keys, asked=asked, **options)
    decided = rank_tests.decide(
        found.value, found.tested, found.p_adjusted(asked), 1.0 - asked.level, baseline
    )
    named = {
        "value": found.value, "ci_low": found.low, "ci_high": found.high,
        "better_than_chance": found.better, "tied": found.tied, **decided._asdict(),
    }  # fmt: skip
    return _leave(asked, [*(named[name] for name in _FOUND), found.exists])


def _columns_of_pairs(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    keys: Keys,
    *,
    asked: RankCriterion,
    **options: Any,
) -> tuple[AnyArray, ...]:
    """Return the columns of the pairs, and which rows there are."""
    find = _of_lists if asked.kind is None else _of_areas
    found = find(score, gold, present, keys, asked=asked, **options)
    of_pairs = rank_tests.pairs(score.shape[-2])
    a, b = ([pair[side] for pair in of_pairs] for side in (0, 1))
    adjusted = found.p_adjusted(asked)
    if asked.adjust is None:
        adjusted = np.full_like(adjusted, np.nan)
    columns = [
        found.value[..., a, :], found.value[..., b, :], found.tested.difference,
        found.tested.p_value, adjusted, found.exists[..., a, :] & found.exists[..., b, :],
    ]  # fmt: skip
    return _leave(asked, columns)


def _leave(asked: RankCriterion, columns: list[AnyArray]) -> tuple[AnyArray, ...]:
    """Return the columns, of areas without the dimension n."""
    return tuple(columns if asked.kind is None else [column[..., 0] for column in columns])


def _of_lists(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    keys: Keys,
    *,
    asked: RankCriterion,
    sizes: IntArray,
    ties: str,
    n_resamples: int,
    seed: int,
    advance: Callable[[int], object],
    whole: Whole | None,
) -> _Found:
    """Return values and tests of n-best lists, from the swaps of all pairs."""
    ranking = Ranking.of(score, gold[..., np.newaxis, :], present, whole=whole)
    lists = ranking.nbest(sizes, ties)
    batch, count = score.shape[:-2], score.shape[-2]
    gold = np.broadcast_to(gold, (*batch, gold.shape[-1]))
    keys = np.broadcast_to(keys, (*batch, keys.shape[-1]))
    exists = lists.exists
    low, high = INTERVALS["clopper-pearson"](
        np.where(exists, lists.tp, 0), np.where(exists, sizes, 1), asked.level
    )
    result = rank_tests.empty(batch, count, sizes.size)
    for row in np.ndindex(batch):
        for a, b in rank_tests.pairs(count):
            both = present[row][a] & present[row][b]
            there = exists[row][a] & exists[row][b]
            if not there.any():
                continue
            n = sizes[there]
            rank_a, rank_b = (restricted_ranks(ranking.order[row][x], both)[both] for x in (a, b))
            true, own = gold[row][both], keys[row][both]
            regions = nbest_regions(rank_a, rank_b, true, n)
            observed = swaps.region_statistic(regions, n)
            drawn = None
            if asked.adjust == "max-t":
                drawn = swaps.largest_statistics(
                    rank_a, rank_b, true, n, "two-sided", own,
                    n_resamples=n_resamples, seed=seed, advance=advance,
                )  # fmt: skip
            only = n - regions.overlap
            tp_only = regions.tp_a - regions.tp_overlap, regions.tp_b - regions.tp_overlap
            total = np.array(true.size if whole is None else whole.total)
            spread = bands.difference_spread(rank_a, rank_b, true, total, n, only, tp_only)
            half = np.where(only > 0, z_of(asked.level) * np.sqrt(spread.variance) / n, 0.0)
            result.put(
                row, a, b, there, (regions.tp_a - regions.tp_b) / n, half,
                rank_tests.p_values(observed, drawn, tp_only, only),
            )  # fmt: skip
    size = ranking.size
    tp, n = (np.where(exists, x, 0).astype(float) for x in (lists.tp, sizes))
    total = np.maximum(size.total, 1).astype(float)[..., np.newaxis]
    positive = size.positive.astype(float)[..., np.newaxis]
    above = np.exp(hypergeometric.tails(tp, total, positive, n).ge)
    below = np.exp(hypergeometric.tails(n - tp, total, total - positive, n).ge)
    better, worse = (exists & (x * count * sizes.size <= 1.0 - asked.level) for x in (above, below))
    warn_of_reversed(worse[exists])
    value = np.where(exists, lists.tp / sizes, np.nan)
    return _Found(value, low, high, better, lists.tied, exists, result)


def _of_areas(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    keys: Keys,
    *,
    asked: RankCriterion,
    sizes: IntArray,
    ties: str,
    n_resamples: int,
    seed: int,
    advance: Callable[[int], object],
) -> _Found:
    """Return values and tests of areas, from the influence of each candidate on each area."""
    label = gold[..., np.newaxis, :]
    ranking = Ranking.of(score, label, present)
    if asked.kind == "roc":
        placed = roc_areas.placements(ranking)
        value, influence = placed.area, placed.placement
        spread = roc_areas.area_spread(influence, placed.gold, placed.present)
        error = np.sqrt(spread.variance)
        there = ranking.size
        counts = there.positive, there.total - there.positive
        low, high = roc_areas.newcombe_limits(value, spread, *counts, asked.level)
        chance = np.full(value.shape, 0.5)
    else:
        result = early.influences(ranking)
        value, influence = result.value, result.influence
        error = np.sqrt(roc_areas.delong_variance(influence, result.gold, result.present))
        positive, total = ((result.gold & present).sum(axis=-1), result.present.sum(axis=-1))
        least = np.minimum(positive, total - positive)
        low, high = early.ap_logit_limits(result, error, least - 1, positive, asked.level)
        chance = early.chance_average_precision(ranking)
    tested = rank_tests.of_influences(
        value, influence, label, present, asked.adjust,
        level=asked.level, n_resamples=n_resamples, seed=seed, student=asked.kind == "ap",
    )  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        better = (value - chance) / error > z_of(1.0 - 2.0 * (1.0 - asked.level) / value.shape[-1])
    value, low, high = (x[..., np.newaxis] for x in (value, low, high))
    exists = np.ones((*better.shape, 1), dtype=bool)
    tied = np.zeros(exists.shape, dtype=np.int64)
    return _Found(value, low, high, better[..., np.newaxis], tied, exists, tested)
