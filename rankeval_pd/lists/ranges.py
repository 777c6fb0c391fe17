"""Find ranges of list sizes in which one measure is significantly better."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Unpack

import numpy as np
import pandas as pd

from rankeval_pd import tables
from rankeval_pd.doors import Data, above_door, below_door
from rankeval_pd.lists.comparison import compare
from rankeval_pd.lists.precision import intervals_unread
from rankeval_pd.options import Capabilities, with_roles
from rankeval_pd.roles import (
    Alternative,
    FamilyAdjustment,
    ListsAdjustOver,
    ListSizes,
    RankingRoles,
    RegionTest,
    Roles,
)

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
    starts = np.flatnonzero(fresh)
    number = np.cumsum(fresh)
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
    result.attrs = dict(runs.attrs)
    return result


@Capabilities(
    rankings="Is A better than B?",
    heads=True,
    clusters=True,
    short=_joined_runs,
    details="n_before",
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
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return ranges of list sizes for which one measure is significantly better.

    Parameters
    ----------
    data, a, b, n, test, alternative, alpha, adjust, adjust_over, n_resamples, **roles
        As in :func:`compare`. ``adjust="max-t"`` controls the family-wise error rate over all n.
        "max-t-stepdown" has the same guarantee and more power.

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

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, figure 3, reports differences
    "significant for all n-best lists up to n = 1250".

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
    Roles.of(roles)  # other options of compare() are rejected
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
            **roles,
        )
    table = below_door(answer)
    result = _significant_runs(tables.keys_apart(table, RANGE_COLUMNS, len(_groups(table))))
    intervals = ("ci", "level", "target")  # a range has none
    result.attrs = {name: x for name, x in table.attrs.items() if name not in intervals}
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
    inside = table.iloc[place]
    run = np.cumsum(fresh)[place]
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
    return result
