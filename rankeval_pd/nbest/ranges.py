"""At which list sizes is one measure significantly better? (Evert 2004, figure 3)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Unpack

import numpy as np
import pandas as pd

from rankeval_pd.forms import tables
from rankeval_pd.forms.choices import (
    AdjustOver,
    Alternative,
    DifferenceInterval,
    FamilyAdjustment,
    ListSizes,
    RegionTest,
    Target,
)
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.nbest.comparison import DRAWN, NBEST_COLUMNS, compare
from rankeval_pd.nbest.precision_intervals import intervals_unread
from rankeval_pd.stats._types import AnyArray, BoolArray

RANGE_COLUMNS = ("measure_a", "measure_b", "better", "n_first", "n_last", "n_tests", "p_max")


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
    adjust_over: AdjustOver = "all",
    n_resamples: int | None = None,
    level: float = 0.95,
    ci: DifferenceInterval = "score",
    target: Target = "region",
    phi: float = 1.0,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the runs of list sizes at which one measure is significantly better.

    Parameters
    ----------
    data, a, b, n, test, alternative, alpha, adjust, adjust_over, n_resamples, **roles
        As in :func:`compare`. With ``adjust="max-t"`` the runs hold together.
    level, ci, target, phi, progress
        As in :func:`compare`.

    Returns
    -------
    DataFrame or Dataset
        One row per run (Dataset: dimension row), in the order of pairs, then of n:
        ``measure_a``, ``measure_b``, ``better``, ``n_first``, ``n_last``, ``n_tests`` (how many n
        of those asked for are in the run), ``p_max`` (the largest p_adjusted in it, without
        ``adjust`` the largest p_value). Neighbours are neighbours among the n asked for. With
        ``adjust="max-t"`` also ``undecided_ends``: "none", "first", "last" or "both", the ends of
        the run that other draws may move: there the last n in the run, or its neighbour outside,
        is ``undecided`` in :func:`compare`.

    Notes
    -----
    Costs what :func:`compare` costs, and of a lazy Dataset computes it.

    References
    ----------
    Evert (2004), figure 3: "significant for all n-best lists up to n = 1250".

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": range(40, 0, -1), "t": range(40), "gold": [True] * 12 + [False] * 28}
    ... )
    >>> df.rankeval.significant_ranges("G2", "t").round(3)
      measure_a measure_b better  n_first  n_last  n_tests  p_max
    0        G2         t     G2        4      36       33  0.029
    """
    Roles.of(roles)  # what compare would take, as threshold, is no option here
    with intervals_unread():
        table = compare(
            data, a, b, n, test=test, alternative=alternative, alpha=alpha, adjust=adjust,
            adjust_over=adjust_over, n_resamples=n_resamples, level=level, ci=ci, target=target,
            phi=phi, progress=progress, **roles,
        )  # fmt: skip
    if isinstance(table, pd.DataFrame):
        tables.check_names("by=", _groups(table), (*RANGE_COLUMNS, "undecided_ends"))
        result = _runs(table)
        result.attrs = dict(table.attrs)
        return result
    columns: tuple[str, ...] = (*NBEST_COLUMNS, *DRAWN) if adjust == "max-t" else NBEST_COLUMNS
    columns = (*columns, "share") if "share" in table.dims else columns
    frame = table.to_dataframe() if "row" in table.dims else tables.as_frame(table, columns)
    return tables.as_rows(_runs(frame), attrs=table.attrs)


def _groups(table: pd.DataFrame) -> list[Hashable]:
    """Return the columns that name the group of each row: they stand before the measures."""
    return list(table.columns[: list(table.columns).index("measure_a")])


def _runs(table: pd.DataFrame) -> pd.DataFrame:
    """Return the maximal runs of neighbouring n that are significant for the same measure."""
    groups = _groups(table)
    pair = (
        table.groupby([*groups, "measure_a", "measure_b"], sort=False, dropna=False, observed=True)
        .ngroup()
        .to_numpy()
    )
    order = np.lexsort((table["n"].to_numpy(), pair))
    table, pair = table.iloc[order], pair[order]
    side = np.sign(table["difference"].to_numpy()) * table["significant"].to_numpy(dtype=bool)
    fresh = (np.diff(pair, prepend=-1) != 0) | (np.diff(side, prepend=2.0) != 0)
    run = np.cumsum(fresh)
    ends = _undecided_ends(table, pair) if "undecided" in table else None
    inside = np.abs(side) == 1.0
    table, run = table[inside], run[inside]
    p = "p_value" if table["p_adjusted"].isna().all() else "p_adjusted"
    first = np.flatnonzero(np.diff(run, prepend=0))
    last = np.append(first[1:], len(run))[: len(first)] - 1
    rows = table.iloc[first]
    result = rows[[*groups, "measure_a", "measure_b"]].reset_index(drop=True)
    result = result.assign(
        better=result["measure_a"].where(rows["difference"].to_numpy() > 0, result["measure_b"]),
        n_first=rows["n"].to_numpy(),
        n_last=table["n"].to_numpy()[last],
        n_tests=last - first + 1,
        p_max=table[p].groupby(run).max().to_numpy(dtype=float),
    )
    if ends is None:
        return result
    at_first, at_last = (x[inside] for x in ends)
    which = at_first[first].astype(int) + 2 * at_last[last].astype(int)
    return result.assign(undecided_ends=np.array(["none", "first", "last", "both"])[which])


def _undecided_ends(table: pd.DataFrame, pair: AnyArray) -> tuple[BoolArray, BoolArray]:
    """Return whether a run that begins, or ends, at each row might do so elsewhere."""
    open_ = table["undecided"].to_numpy(dtype=bool)
    same = pair[1:] == pair[:-1]
    at_first, at_last = open_.copy(), open_.copy()
    at_first[1:] |= open_[:-1] & same
    at_last[:-1] |= open_[1:] & same
    return at_first, at_last
