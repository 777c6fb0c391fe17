"""Rank the measures, and find all measures tied for best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from rankeval_pd.decisions.families import family_of
from rankeval_pd.decisions.ranks import adjusted_tests, of_measures, order_decides, rank_columns
from rankeval_pd.decisions.verdicts import PAIR, UNCUT, warn_of_rows
from rankeval_pd.doors.rankings import (
    Candidates,
    RankingQuestion,
    Rows,
    distinct_tests,
    pair_names,
    rows_of,
    standing_pairs,
    tabulate,
    with_pairs,
)
from rankeval_pd.errors import unknown_name
from rankeval_pd.forms.rankings.candidates import Data, above_door, below_door
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles
from rankeval_pd.forms.roles.roles import (
    AreaKind,
    EachAdjustOver,
    FamilyAdjustment,
    ListSizes,
    RankingRoles,
    Roles,
)
from rankeval_pd.nbest.rank_criteria import PAIRS, RANKED, RankCriterion
from rankeval_pd.nbest.tested_measures import RankingTask, area_tests, list_columns, list_tests
from rankeval_pd.nbest.tie_verdicts import check_means
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.measure_pairs import BASELINE, all_pairs


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
    criterion = RankCriterion.of(
        n, kind, adjust, n_resamples, level, progress, None, over=adjust_over
    )
    return best_first(ranked(data, criterion, RANKED, roles))


def ranked(
    data: Data, criterion: RankCriterion, columns: tuple[str, ...], roles: Mapping[str, Any]
) -> Data:
    """Return the requested columns in the order of the measures."""
    chosen, noted = Roles.of(roles), criterion.noted()
    deciding: list[tuple[Any, ...]] = []

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        task, table, tests = _tested(candidates, n, criterion, chosen, noted)
        table |= rank_columns(table["value"], tests, criterion.how, task.baseline, task.stands)
        if criterion.kind is None:
            differs = order_decides(tests, criterion.how)
            table["tie_decides"] = of_measures(differs, task.count)
            deciding.extend(_deciding_rows(task, tests, differs))
        return rows_of(table, candidates, "measure", range(task.count), {"n": task.sizes})

    result = _tabulated(
        data, criterion, roles, question, ("measure",), criterion.columns(columns), noted
    )
    if deciding:
        warn_of_rows(deciding, len(deciding))
    return result


def _deciding_rows(
    task: RankingTask, tests: Mapping[str, FloatArray], differs: BoolArray
) -> list[tuple[Any, ...]]:
    """Return the pairs that the order of ties decides, with n and the nearest sizes without one."""
    names, sides = task.candidates.measures, all_pairs(task.count)
    return [
        (
            *(names[side[pair]] for side in sides),
            task.sizes[place],
            *(tests[name][group, pair, place] for name in UNCUT),
        )
        for group, pair, place in np.argwhere(differs).tolist()
    ]


def pairs_tested(data: Data, criterion: RankCriterion, roles: Mapping[str, Any]) -> Data:
    """Return the pairwise tests for the ranks, with one row per pair and n."""
    chosen, noted = Roles.of(roles), criterion.noted()

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        pairs = pair_names(candidates.measures, None, None)
        task, table, tests = _tested(candidates, n, criterion, chosen, noted)
        a, b = all_pairs(task.count)
        value = table["value"]
        columns: dict[str, AnyArray] = {
            "value_a": value[:, a],
            "value_b": value[:, b],
            "difference": tests["difference"],
            "p_value": tests["p_value"],
            "p_adjusted": adjusted_tests(tests, criterion.how, stands=task.stands).p_adjusted,
        }
        if "exists" in table:
            columns["exists"] = table["exists"][:, a] & table["exists"][:, b]
        rows = rows_of(columns, candidates, PAIR, range(len(pairs)), {"n": task.sizes})
        return with_pairs(rows, candidates, pairs, "two-sided")

    columns = PAIRS if criterion.how.adjust is not None else PAIRS[:-1]
    return _tabulated(data, criterion, roles, question, ("measure_a", "measure_b"), columns, noted)


def _tabulated(
    data: Data,
    criterion: RankCriterion,
    roles: Mapping[str, Any],
    question: RankingQuestion,
    names: tuple[str, ...],
    columns: Sequence[str],
    noted: Mapping[str, Any],
) -> Data:
    """Return the table for all groups, with rows labeled by ``names`` and n."""
    over_n = criterion.kind is None
    means = over_n and Roles.of(roles).ties == "expected"
    if means:
        check_means(data)
    if over_n:
        names = (*names, "n")
    return tabulate(
        data,
        roles,
        question,
        (*names, *columns),
        can(
            measure_ranks,
            lists=over_n,
            any_ties=not over_n or means,
            heads=over_n and not means,
        ),
        n=criterion.n,
        attrs=noted,
    )


def _tested(
    candidates: Candidates,
    n: IntArray | None,
    criterion: RankCriterion,
    chosen: Roles,
    noted: dict[str, Any],
) -> tuple[RankingTask, dict[str, AnyArray], dict[str, FloatArray]]:
    """Return the values of the measures and all pairwise tests, and note how they were made."""
    how, over_n, measures = criterion.how, criterion.kind is None, list(candidates.measures)
    baseline, stands = None, None
    if criterion.baseline is not None:
        if criterion.baseline not in measures:
            raise unknown_name("baseline", criterion.baseline, measures)
        baseline = measures.index(criterion.baseline)
    pairs = []
    if len(measures) > 1:
        pairs = pair_names(measures, None, None)
    tests = len(pairs)
    if how.adjust is not None:
        tests = distinct_tests(candidates, pairs, "two-sided")
        stands = standing_pairs(candidates, pairs)
    draws = criterion.draws(tests)
    sizes = candidates.sizes(n) if over_n else np.zeros(1, dtype=np.int64)
    if how.swapped:
        noted |= {"n_resamples": draws, **chosen.noted_seed}
    total = draws * tests * len(candidates.group)
    with progress_bar(
        criterion.progress, total=total, what="swapping labels", unit="draws"
    ) as advance:
        task = RankingTask(
            candidates=candidates,
            sizes=sizes,
            criterion=criterion,
            ties=chosen.ties,
            seed=chosen.swaps if over_n else chosen.draws,
            draws=draws,
            baseline=baseline,
            stands=stands,
            advance=advance,
        )
        if how.adjust is not None:
            noted["family"] = _family_of_ranks(task, tests, criterion)
        if not over_n:
            return task, *area_tests(task)
        table, tested = list_columns(task), list_tests(task)
    if how.swapped:
        noted["n_resamples"] = int(np.fmax.reduce(tested["drawn"], axis=None, initial=draws))
    return task, table, tested


def _family_of_ranks(task: RankingTask, tests: int, criterion: RankCriterion) -> str:
    """Describe the tests that are adjusted together."""
    if task.baseline is not None:
        tests = task.families[BASELINE]
    return family_of(
        tests,
        criterion.baseline,
        sizes=task.sizes.size,
        groups=task.candidates.n_groups,
        over=("group", criterion.over),
    )


def best_first(data: Data) -> Data:
    """Sort the rows in each group and n by value."""
    table = below_door(data)
    before: list[Any] = list(table.columns[: list(table.columns).index("measure")])
    if "n" in table:
        before.append("n")
    number: Any = 0
    if before:
        number = table.groupby(before, sort=False, observed=True).ngroup()
    keys = table.assign(_group=number, _lower=-table["value"])
    order = keys.sort_values(["_group", "_lower"], kind="stable").index
    result = table.loc[order].reset_index(drop=True)
    result.attrs.update(table.attrs)
    return above_door(result, data)
