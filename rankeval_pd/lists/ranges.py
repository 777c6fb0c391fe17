"""Comparisons over many list sizes: significant ranges, mean differences, odds ratios."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd

from rankeval_pd import stats, tables
from rankeval_pd.decisions import Decision, Interval, Rows, limits_with_test
from rankeval_pd.doors import Data, PairRanks, above_door, below_door, check_n, only_pair, tabulate
from rankeval_pd.errors import check_draws, check_share
from rankeval_pd.lists.comparison import compare
from rankeval_pd.lists.groups import whole_size
from rankeval_pd.lists.precision import intervals_unread
from rankeval_pd.lists.regions import rows_of_pair
from rankeval_pd.options import Capabilities, can, with_roles
from rankeval_pd.roles import (
    Alternative,
    DifferenceInterval,
    FamilyAdjustment,
    ListsAdjustOver,
    ListSizes,
    RankingRoles,
    RegionTest,
    Roles,
    Target,
)
from rankeval_pd.stats import FloatArray, IntArray, swaps

# ---- Find list sizes for which one measure is better (Evert 2004, figure 3)

RANGE_COLUMNS = tuple("measure_a measure_b better n_first n_last n_tests p_max n_before".split())
_CLOSE = 1.05  # two runs are joined if the second begins at or before n_last times this factor


def _joined_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Join neighboring runs of significant sizes into one range per measure."""
    if runs.empty:
        return runs.rename(columns={"n_before": "n_gaps"})
    first, last = (runs[name].to_numpy() for name in ("n_first", "n_last"))
    names = [*_groups(runs), "measure_a", "measure_b", "better"]
    same = runs.groupby(names, sort=False, dropna=False, observed=True).ngroup().to_numpy()
    far = (np.diff(same) != 0) | (first[1:] > _CLOSE * last[:-1])
    fresh = np.append(True, far)
    starts, number = np.flatnonzero(fresh), np.cumsum(fresh)
    ends = np.append(starts[1:], len(runs)) - 1
    by_range = runs.groupby(number)
    gaps = runs["n_before"].mask(fresh, 0).groupby(number).sum()
    result = runs.iloc[starts].drop(columns="n_before").reset_index(drop=True)
    result = result.assign(
        n_last=last[ends],
        n_tests=by_range["n_tests"].sum().to_numpy(),
        p_max=by_range["p_max"].max().to_numpy(),
    )
    result.insert(list(result.columns).index("p_max"), "n_gaps", gaps.to_numpy())
    if "undecided_ends" in result:
        at_first = runs["undecided_ends"].isin(["first", "both"]).to_numpy()[starts]
        at_last = runs["undecided_ends"].isin(["last", "both"]).to_numpy()[ends]
        result["undecided_ends"] = _ENDS[at_first + 2 * at_last]
    result.attrs = dict(runs.attrs)
    return result


_ENDS = np.array(["none", "first", "last", "both"])


@Capabilities(
    rankings="Is A better than B?",
    heads=True,
    clusters=True,
    short=_joined_runs,
    layout="row",
    quantity="precision",
)
@with_roles
def significant_ranges(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    n: ListSizes = None,
    *,
    test: RegionTest | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    adjust: FamilyAdjustment | None = None,
    adjust_over: ListsAdjustOver = "all",
    n_resamples: int | None = None,
    level: float = 0.95,
    ci: DifferenceInterval = "score",
    target: Target = "region",
    phi: float = 1.0,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return ranges of list sizes for which one measure is significantly better.

    Parameters
    ----------
    data, a, b, n, test, alternative, alpha, adjust, adjust_over, n_resamples, **roles
        As in :func:`compare`. ``adjust="max-t"`` controls the family-wise error rate over all n.
        "max-t-stepdown" has the same guarantee and more power.
    level, ci, target, phi
        As in :func:`compare`.

    Returns
    -------
    DataFrame or Dataset
        One row per range, ordered by pair and then by n: ``measure_a``, ``measure_b``, ``better``,
        ``n_first``, ``n_last``, ``n_tests`` (number of significant sizes), ``n_gaps`` (number of
        nonsignificant sizes between ``n_first`` and ``n_last``), ``p_max`` (largest p_adjusted
        among the significant sizes, or largest p_value without ``adjust``). A range continues after
        a gap if the next significant n is at most 1.05 times the last n before the gap. With
        ``details=True`` or a Dataset (dimension row), each run of significant sizes is a separate
        row. ``n_before``, the number of sizes since the previous run, then replaces ``n_gaps``.
        ``adjust="max-t"`` adds ``undecided_ends`` ("none", "first", "last" or "both"): ends that
        could move with more draws because a neighboring n is ``undecided`` in :func:`compare`.

    Notes
    -----
    Lazy Datasets are computed. The function takes as long as :func:`compare`.

    References
    ----------
    Evert (2004), figure 3, reports differences "significant for all n-best lists up to n = 1250".

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": range(40, 0, -1), "t": range(40), "gold": [True] * 12 + [False] * 28}
    ... )
    >>> df.rankeval.significant_ranges("G2", "t")
      measure_a measure_b better  n_first  n_last  n_tests  n_gaps     p_max
    0        G2         t     G2        4      36       33       0  0.028571
    """
    Roles.of(roles)  # compare() options such as threshold are rejected
    with intervals_unread():
        answer = compare(
            data,
            a,
            b,
            n,
            test=test,
            alternative=alternative,
            alpha=alpha,
            adjust=adjust,
            adjust_over=adjust_over,
            n_resamples=n_resamples,
            level=level,
            ci=ci,
            target=target,
            phi=phi,
            **roles,
        )
    table = below_door(answer)
    taken = (*RANGE_COLUMNS, "undecided_ends")
    result = _significant_runs(tables.keys_apart(table, taken, len(_groups(table))))
    result.attrs = dict(table.attrs)
    return above_door(result, data)


def _groups(table: pd.DataFrame) -> list[Hashable]:
    """Return the group columns, which precede the measures."""
    return list(table.columns[: list(table.columns).index("measure_a")])


def _significant_runs(table: pd.DataFrame) -> pd.DataFrame:
    """Return maximal runs of sizes for which the same measure is significantly better."""
    groups = _groups(table)
    pairs = table.groupby(
        [*groups, "measure_a", "measure_b"], sort=False, dropna=False, observed=True
    )
    pair = pairs.ngroup().to_numpy()
    order = np.lexsort((table["n"].to_numpy(), pair))
    table, pair = table.iloc[order], pair[order]
    side = np.sign(table["difference"].to_numpy()) * table["significant"].to_numpy(dtype=bool)
    fresh = (np.diff(pair, prepend=-1) != 0) | (np.diff(side, prepend=2.0) != 0)
    place = np.flatnonzero(side)
    inside, run = table.iloc[place], np.cumsum(fresh)[place]
    first = np.flatnonzero(np.diff(run, prepend=0))
    last = np.append(first[1:], len(run))[: len(first)] - 1
    p = "p_adjusted" if "p_adjusted" in table else "p_value"
    rows = inside.iloc[first]
    result = rows[[*groups, "measure_a", "measure_b"]].reset_index(drop=True)
    result = result.assign(
        better=result["measure_a"].where(rows["difference"].to_numpy() > 0, result["measure_b"]),
        n_first=rows["n"].to_numpy(),
        n_last=inside["n"].to_numpy()[last],
        n_tests=last - first + 1,
        p_max=inside[p].groupby(run).max().to_numpy(dtype=float),
    )
    follows = np.diff(pair[place][first], prepend=-1) == 0
    before = np.diff(place[first], prepend=0) - np.append(0, result["n_tests"])[:-1]
    result["n_before"] = np.where(follows, before, 0)
    if "undecided" in table:  # more draws could move the start or the end of a run
        open_, same = table["undecided"].to_numpy(dtype=bool), pair[1:] == pair[:-1]
        at_first, at_last = open_.copy(), open_.copy()
        at_first[1:] |= open_[:-1] & same
        at_last[:-1] |= open_[1:] & same
        which = at_first[place[first]].astype(int) + 2 * at_last[place[last]].astype(int)
        result["undecided_ends"] = _ENDS[which]
    return result


# ---- A single test for a range of list sizes

COLUMNS = tuple(
    "measure_a measure_b n_first n_last difference ci_low ci_high p_value p_stderr "
    "undecided".split()
)


@Capabilities(
    rankings="Is A better than B?",
    heads=True,
    short="measure_a measure_b n_first n_last difference ci_low ci_high p_value",
    layout="pair",
    quantity="precision",
    test="swaps",
    interval="normal",
)
@with_roles
def mean_difference(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: ListSizes,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    n_resamples: int = 9999,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Test the mean difference between two precision curves over a range of n.

    Parameters
    ----------
    data, a, b, alternative, level, **roles
        As in :func:`compare`.
    n : int, sequence of int, range or None
        List sizes over which the difference in precision is averaged with equal weights. None means
        every n. Choose the list sizes before you look at the curves; otherwise the test is invalid.
    alpha : float
        Significance level for ``undecided``.
    n_resamples : int
        Number of swaps for the p-value.

    Returns
    -------
    DataFrame or Dataset
        One row (Dataset: dimension pair) for each group: ``measure_a``, ``measure_b``, ``n_first``,
        ``n_last``, ``difference`` (mean of precision_a - precision_b), ``ci_low``, ``ci_high``
        (one-sided with "greater" or "less"), ``p_value``, ``p_stderr`` (Monte Carlo standard error
        of p_value), and ``undecided`` (whether the 95% Monte Carlo interval of p_value contains
        alpha). Groups without a list for some n have no row.

    Notes
    -----
    The mean difference is the area between the two curves divided by the range of n. The p-value
    comes from random swaps of each candidate's two ranks, as in ``compare(adjust="max-t")``, and
    needs no adjustment. The interval is a normal interval with the n-best variance from
    :func:`difference_band`. The interval includes 0 if the test is not significant at 1 -
    ``level``, and can include 0 even if the test is significant.

    Each swap costs O(largest n). With 9,999 swaps, 10,000 candidates take one second, and a million
    candidates take half a minute.

    References
    ----------
    Evert (2004), section 3.3.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.mean_difference("good", "fair", range(50, 501), n_resamples=999)
      measure_a measure_b  n_first  n_last  difference   ci_low   ci_high  p_value
    0      good      fair       50     500    0.077897  0.04196  0.113834    0.001
    """
    level, alpha = check_share("level", level), check_share("alpha", alpha)
    draws = check_draws("n_resamples", n_resamples)
    sizes = check_n(n)
    chosen = Roles.of(roles)
    how = Decision(adjust=None, alternative=alternative, alpha=alpha, level=level)
    swapping: dict[str, Any] = {"n_resamples": draws, "seed": chosen.swaps}
    kernel = partial(_mean_differences, alternative=alternative, **swapping)
    bar, ties = (draws, "swapping labels", "draws"), chosen.ties
    return tabulate(
        data,
        only_pair(data, a, b, roles),
        partial(rows_of_pair, pair=(a, b), kernel=kernel, bar=bar, ties=ties, over_n=False),
        COLUMNS,
        can(mean_difference),
        n=sizes,
        finish=partial(_decided_means, draws=draws, how=how),
        attrs={
            "alternative": alternative,
            "alpha": alpha,
            "level": level,
            "n_resamples": draws,
            **chosen.noted_seed,
        },
    )


def _mean_differences(
    lists: PairRanks, n: IntArray, *, alternative: str, **swapping: Any
) -> dict[str, stats.AnyArray]:
    """Return the mean difference of precision over all n, and its test: (group, pair)."""
    shape = lists.exists.shape[:-1]
    difference, errors, p_value = np.full((3, *shape), np.nan)
    first, last = (np.zeros(shape, dtype=np.int64) for _ in range(2))
    for row in np.ndindex(shape):
        if not lists.exists[row].any():
            continue
        sizes = np.sort(n[lists.exists[row]])
        a, b, gold = lists.of(row)
        most = int(sizes[-1])
        weight = _from_here_on(1.0 / sizes, sizes, gold.size) / sizes.size  # of each 0-based rank
        listed = gold & (np.minimum(a, b) <= most)
        difference[row] = (weight[a] - weight[b])[listed].sum()
        keys = lists.draws_of(row)
        drawn = swaps.Swaps(a, b, gold, keys, **swapping).sums(weight, most)
        sided = swaps.sided(np.append(difference[row], drawn), alternative)
        p_value[row] = swaps.exceedance(sided[:1], sided[1:])[0]
        first[row], last[row], errors[row] = sizes[0], most, 0.0
        if (stats.nbest_regions(a, b, gold, sizes).overlap < sizes).any():
            total = whole_size(lists.whole, gold.size)
            errors[row] = _standard_error(a, b, gold, sizes, weight, total)
    return {
        "n_first": first,
        "n_last": last,
        "difference": difference,
        "error": errors,
        "p_value": p_value,
    }


def _decided_means(table: Rows, names: Sequence[Hashable], *, draws: int, how: Decision) -> Rows:
    """Add the limits, and whether more draws could change the decision."""
    p_value = table["p_value"]
    levels, drawn = np.full(p_value.shape, how.level), np.full(p_value.shape, float(draws))
    table["ci_low"], table["ci_high"] = limits_with_test(table, p_value, levels, how, _OF_MEANS)
    table["p_stderr"], table["undecided"] = swaps.monte_carlo_error(
        p_value, p_value, drawn, alpha=how.alpha
    )
    return table


def _normal_limits(value: FloatArray, error: FloatArray, level: float) -> stats.Limits:
    """Return normal limits for a difference of precision."""
    half = stats.z_of(level) * error
    return np.maximum(value - half, -1.0), np.minimum(value + half, 1.0)


_OF_MEANS = Interval(_normal_limits, ("difference", "error"))


def _from_here_on(values: FloatArray, n: IntArray, total: int) -> FloatArray:
    """Sum over all lists that contain each rank, starting at rank 0."""
    at = np.zeros(total + 1)
    at[n] = values
    return np.cumsum(at[::-1])[::-1]


def _standard_error(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: stats.BoolArray,
    n: IntArray,
    weight: FloatArray,
    total: int,
) -> float:
    """Return the standard error, computed from each candidate's influence.

    The standard error is the square root of the sum of squared influences. One true and one false
    positive are added to each list at every n (Agresti and Caffo). Candidates that appear in no
    list do not affect the result.
    """
    influence, added = np.zeros(gold.size), 0.0
    listed = np.minimum(rank_a, rank_b) <= n[-1]
    for sign, rank in ((1.0, rank_a), (-1.0, rank_b)):
        tp = stats.up_to_ranks(rank, gold)
        edge = stats.edge_precision(tp, n, np.array([total]))
        lost = _from_here_on(edge / n, n, gold.size) / n.size
        influence += sign * (gold * weight[rank] - lost[rank])
        added += (weight[0] - lost[0]) ** 2 + lost[0] ** 2
    inside = influence[listed]
    mean = inside.sum() / total
    beyond = (total - inside.size) * mean**2
    return float(np.sqrt(np.square(inside - mean).sum() + beyond + added))


# ---- Compute exact odds ratios for two difference regions

_TOGETHER = 20_000  # number of 2x2 tables per progress bar step
ODDS_RATIOS_COLUMNS = tuple(
    "measure_a measure_b n odds_ratio odds_ratio_mle ci_low ci_high".split()
)


@Capabilities(
    rankings="Is A better than B?",
    ends=True,
    heads=True,
    layout="pair n",
    quantity="odds-ratio",
    interval="exact",
)
@with_roles
def odds_ratios(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: ListSizes,
    *,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the odds ratio for two difference regions, with an exact interval.

    Parameters
    ----------
    data, a, b, n, level, **roles
        As in :func:`compare`.

    Returns
    -------
    DataFrame or Dataset
        One row per n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``, ``n``;
        ``odds_ratio``: the sample odds ratio (tp_only_a fp_only_b) / (fp_only_a tp_only_b), which
        is NaN for 0/0; ``odds_ratio_mle``: the conditional maximum-likelihood estimate; ``ci_low``,
        ``ci_high``: the exact confidence interval, which can extend to 0 or inf. The estimate is
        NaN if the regions are empty or contain only one class.

    Notes
    -----
    An odds ratio above 1 means that a is better. The conditional estimate is the odds ratio for
    which the expected 2x2 table equals the observed table, given the margins (Fisher's noncentral
    hypergeometric distribution). The interval excludes 1 if Fisher's test in :func:`compare` is
    significant. The time for each n grows with the square root of the region size. All n for a
    million candidates take half a minute in total.

    References
    ----------
    Evert (2004), section 3.3. J. Cornfield (1956), A statistical problem arising from
    retrospective studies.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.odds_ratios("good", "fair", [100, 200])
      measure_a measure_b    n  odds_ratio  odds_ratio_mle    ci_low    ci_high
    0      good      fair  100     3.97500        3.930301  1.607883  10.282152
    1      good      fair  200    10.73494       10.634243  2.432820  97.182094
    """
    level = check_share("level", level)
    sizes = check_n(n)
    kernel = partial(_odds_ratios_of_lists, level=level)
    bar, ties = (None, "odds ratios", "lists"), Roles.of(roles).ties
    return tabulate(
        data,
        only_pair(data, a, b, roles),
        partial(rows_of_pair, pair=(a, b), kernel=kernel, bar=bar, ties=ties),
        ODDS_RATIOS_COLUMNS,
        can(odds_ratios),
        n=sizes,
        attrs={"level": level},
    )


def _odds_ratios_of_lists(
    lists: PairRanks, n: IntArray, *, level: float, advance: Callable[[int], object]
) -> dict[str, FloatArray]:
    """Return the odds ratios of the difference regions: (group, pair, n)."""
    table, exists = lists.regions(n).table(n), lists.exists
    values = np.full((3, *exists.shape), np.nan)
    places = np.flatnonzero(exists)
    for start in range(0, places.size, _TOGETHER):
        block = places[start : start + _TOGETHER]
        some: Any = np.unravel_index(block, exists.shape)
        tp_a, n_a, tp_b, n_b = (x[some] for x in table)
        values[(slice(None), *some)] = stats.conditional_odds_ratio(tp_a, n_a, tp_b, n_b, level)
        advance(block.size)
    return {
        "odds_ratio": stats.sample_odds_ratio(*table),
        "odds_ratio_mle": values[0],
        "ci_low": values[1],
        "ci_high": values[2],
    }
