"""From which n on is a measure above chance? Crossover points (Macskassy 2005, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice, check_count, check_shares
from rankeval_pd.forms import tables
from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.choices import Bound
from rankeval_pd.forms.measures import ask_measures
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.populations import Finite
from rankeval_pd.stats.random_model import bounds
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.ranking import Whole

COLUMNS = ("measure", "p", "n_first", "n_last", "tp_first")
_EQUAL = 1e-10  # a count reaches a fractional bound that it equals


@with_roles
def crossovers(
    data: Data,
    p: float | Sequence[float] = 0.05,
    *,
    contiguous: int = 2,
    bound: Bound = "critical",
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the runs of list sizes at which a measure reaches what chance does not.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    p : float or list of float
        Levels, 0 < p <= 1.
    contiguous : int
        Runs of fewer n are left out. The paper's demonstration asks for 2.
    bound : {"critical", "discrete", "interpolated", "parametric"}
        Which bound of :func:`random_bound` is to be reached: "critical" is a test of level p at
        each n, "discrete" the paper's.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per run (Dataset: dimension row), in the order of measures, of p, of n:
        ``measure``, ``p``, ``n_first``, ``n_last``, and ``tp_first``, the true positives at
        n_first. n = N, where nothing is left to chance, is not looked at: a measure that never
        drops below the bound again has a run with n_last = N - 1.

    Notes
    -----
    The first row of a measure and p is the paper's crossover point. Its Eq. 19 describes one
    positive less than its text, which is followed here. Each n is a test of its own, so that a
    random ranking crosses somewhere with a probability far above p, and a run of 2 or more hardly
    less often: see :func:`random_envelope` for counts that it does not reach anywhere.

    Costs what :func:`random_bound` costs, and of a lazy Dataset computes it.

    References
    ----------
    Macskassy (2005), section 3.3, figure 6.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": [x / 2 for x in range(40, 0, -1)], "gold": [True] * 5 + [False] * 35}
    ... )
    >>> df.rankeval.crossovers(0.05)
      measure     p  n_first  n_last  tp_first
    0      G2  0.05        2      22         2
    """
    levels, ties = check_shares("p", p, one=True), Roles.of(roles).ties
    check_choice("bound", bound, bounds.KINDS)
    shortest = check_count("contiguous", contiguous)

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        return ask_measures(
            inner,
            _reached,
            {"tp": np.int64, "reached": bool, "exists": bool},
            along={"p": levels, "n": sizes},
            options={
                "p": levels, "bound": bound, "ties": ties, "ends": inner.attrs["ends"],
                "whole": inner.attrs["whole"],
            },
        )  # fmt: skip

    columns = ("measure", "p", "n", "tp", "reached")
    attrs = {"bound": bound, "contiguous": shortest}
    table = answer(
        data, roles, question, columns, cuts_lists=True, any_ends=True, any_heads=True, attrs=attrs
    )
    if isinstance(table, pd.DataFrame):
        tables.check_names("by=", table.columns[: -len(columns)], COLUMNS)
        result = _runs(table, shortest)
        result.attrs = dict(table.attrs)
        return result
    frame = table.to_dataframe() if "row" in table.dims else tables.as_frame(table, columns)
    return tables.as_rows(_runs(frame, shortest), attrs=attrs)


_MOST_KEPT = 2**14  # candidates of groups whose bounds are kept for other chunks


@lru_cache(maxsize=64)
def _needed(kind: str, p: float, longest: int, model: Finite) -> FloatArray:
    """Return the bound at each n below N, less what rounding may do."""
    inside = np.arange(1.0, min(model.total, longest + 1.0))
    return bounds.bound(kind, p, inside, model) - _EQUAL


def _reached(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    *,
    p: FloatArray,
    bound: str,
    ties: str,
    ends: bool,
    whole: Whole | None,
) -> tuple[AnyArray, ...]:
    """Return true positives, whether they reach the bound below N, and whether the list exists."""
    lists = ranking.nbest(score, gold, present, None, ties, ends=ends, whole=whole)
    size = ranking.size(gold, present, whole)
    tp, exists = (
        np.broadcast_to(x[..., np.newaxis, :], (*x.shape[:-1], p.size, x.shape[-1]))
        for x in (lists.tp, lists.exists)
    )
    reached = np.zeros(tp.shape, dtype=bool)

    # groups of one size share their bounds, and small ones chunk after chunk in one process
    needed = _needed if lists.tp.shape[-1] <= _MOST_KEPT else cache(_needed.__wrapped__)
    for row in np.ndindex(lists.tp.shape[:-1]):
        model = Finite(float(size.total[row]), float(size.positive[row]))
        below = min(max(int(model.total) - 1, 0), lists.tp.shape[-1])
        for level in range(p.size):
            counts = lists.tp[(*row, slice(below))]
            least = needed(bound, float(p[level]), lists.tp.shape[-1], model)
            reached[(*row, level, slice(below))] = counts >= least
    return tp, reached, exists


def _runs(table: pd.DataFrame, shortest: int) -> pd.DataFrame:
    """Return the maximal runs of rows that reach the bound, of at least the shortest length."""
    columns: list[Any] = list(table.columns)
    keys = columns[: columns.index("n")]
    one = table.groupby(keys, sort=False, dropna=False, observed=True).ngroup().to_numpy()
    reached = table["reached"].to_numpy(dtype=bool)
    fresh = (np.diff(one, prepend=-1) != 0) | (np.diff(reached, prepend=False) != 0)
    start = np.flatnonzero(fresh)
    stop = np.append(start[1:], len(table))[: start.size]
    kept = reached[start] & (stop - start >= shortest)
    first, last = table.iloc[start[kept]], table.iloc[stop[kept] - 1]
    return (
        first[keys]
        .assign(
            n_first=first["n"],
            n_last=last["n"].to_numpy(),
            tp_first=first["tp"].astype(np.int64),  # float where other batches lack rows
        )
        .reset_index(drop=True)
    )
