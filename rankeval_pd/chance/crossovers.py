"""Find crossover points with chance, and envelopes for random rankings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.chance.pools import (
    Pool,
    able_with,
    chosen_pool,
    pool_columns,
    pool_of,
    pool_size,
)
from rankeval_pd.errors import check_choice, check_count, check_shares
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import ask_measures
from rankeval_pd.forms.rankings.values import check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles, with_roles_but
from rankeval_pd.forms.roles.roles import Bound, ListSizes, RankingRoles, Roles
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.populations import Finite
from rankeval_pd.stats.random_model import random_counts
from rankeval_pd.stats.random_model.envelope import Envelope, envelope
from rankeval_pd.stats.rankings.ranking import Ranking

# -------------------------------------------------- Crossover points (Macskassy 2005, section 3.3)

CROSSOVER_COLUMNS = ("measure", "p", "n_first", "n_last", "tp_first")
_EQUAL = 1e-10  # tolerance that lets a count equal to a fractional bound reach the bound


@Capabilities(rankings="Is it better than chance?", lists=True, ends=True, heads=True, layout="row")
@with_roles
def crossovers(
    data: Data,
    p: float | Sequence[float] = 0.05,
    *,
    contiguous: int = 2,
    bound: Bound = "critical",
    pool: Pool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Find the runs of list sizes for which a measure beats chance.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    p : float or list of float
        Significance levels, 0 < p <= 1.
    contiguous : int
        Minimum length of a run. Macskassy (2005) uses 2.
    bound : {"critical", "discrete", "interpolated", "parametric"}
        The bound from :func:`random_bound` that a measure must reach. "critical" gives a test at
        level p for each n, and "discrete" is Macskassy's (2005) bound.
    pool : {"retrieved", "all"} or int, optional
        Candidates that are ranked at random. See :func:`random_test`.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per run (Dataset: dimension row), ordered by measure, p and n. The columns are
        ``measure``, ``p``, ``n_first``, ``n_last`` and ``tp_first``, the number of true positives
        at n_first. The list of all N candidates is excluded because its count is not random. If a
        measure stays at or above the bound until the end, n_last is N - 1.

    Notes
    -----
    The first row for each measure and p is Macskassy's (2005) crossover point. The package follows
    the text; Eq. 19 requires one positive fewer. Each n is a separate test, so the probability that
    a random ranking crosses the bound at least once is far above p. Runs of 2 or more are nearly as
    frequent as single crossings. Use :func:`random_envelope` to account for all n. A lazy Dataset
    is computed immediately. The function takes as long as :func:`random_bound`.

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
    check_choice("bound", bound, random_counts.BOUND_KINDS)
    shortest, pool = check_count("contiguous", contiguous), chosen_pool(pool, roles)

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        return ask_measures(
            inner,
            _reached,
            {"tp": np.int64, "reached": bool, "exists": bool},
            along={"p": levels, "n": sizes},
            options={"p": levels, "bound": bound, "ties": ties, "pool": pool},
        )

    columns = ("measure", "p", "n", "tp", "reached")
    attrs = {"bound": bound, "contiguous": shortest, "pool": pool}
    able = able_with(can(crossovers), pool)
    table = answer(data, roles, question, columns, able, attrs=attrs)
    if isinstance(table, pd.DataFrame):
        result = _runs(tables.keys_apart(table, CROSSOVER_COLUMNS, -len(columns)), shortest)
        result.attrs = dict(table.attrs)
        return result
    frame = table.to_dataframe() if "row" in table.dims else tables.as_frame(table, columns)
    return tables.as_rows(_runs(frame, shortest), attrs=attrs)


_MOST_CACHED = 2**14  # largest group whose bounds are cached across chunks (128 kB)


@lru_cache(maxsize=64)
def _cached_bound(kind: str, p: float, longest: int, model: Finite) -> FloatArray:
    """Return the bound at each n below N, minus the tolerance: (n)."""
    inside = np.arange(1.0, min(model.total, longest + 1.0))
    return random_counts.bound(kind, p, inside, model) - _EQUAL


def _reached(
    ranking: Ranking,
    *,
    p: FloatArray,
    bound: str,
    ties: str,
    pool: Pool,
) -> tuple[AnyArray, ...]:
    """Return true-positive counts, and flags for reached bounds and existing lists."""
    lists, size = ranking.nbest(None, ties), pool_of(ranking, pool)
    tp, exists = (
        np.broadcast_to(x[..., np.newaxis, :], (*x.shape[:-1], p.size, x.shape[-1]))
        for x in (lists.tp, lists.exists)
    )
    reached = np.zeros(tp.shape, dtype=bool)

    # groups of equal size share bounds; bounds for small groups are cached across chunks
    needed = (
        _cached_bound if lists.tp.shape[-1] <= _MOST_CACHED else cache(_cached_bound.__wrapped__)
    )
    for row in np.ndindex(lists.tp.shape[:-1]):
        model = Finite(float(size.total[row]), float(size.positive[row]))
        below = min(max(int(model.total) - 1, 0), lists.tp.shape[-1])
        for level in range(p.size):
            counts = lists.tp[(*row, slice(below))]
            least = needed(bound, float(p[level]), lists.tp.shape[-1], model)
            reached[(*row, level, slice(below))] = counts >= least
    return tp, reached, exists


def _runs(table: pd.DataFrame, shortest: int) -> pd.DataFrame:
    """Return the maximal runs of rows that reach the bound and are long enough."""
    columns: list[Any] = list(table.columns)
    keys = columns[: columns.index("n")]
    # a run ends if the measure, level or group changes, or if the count is below the bound
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
            tp_first=first["tp"].astype(np.int64),  # float if another batch has no rows
        )
        .reset_index(drop=True)
    )


# ------------------------------------------------------------ Envelopes over many list sizes

ENVELOPE_COLUMNS = ("alpha", "n", "expected", "envelope", "local_level", "attainable")


@Capabilities(
    rankings="Is it better than chance?", scores=False, any_ties=True, heads=True, counts=True, layout="alpha n")  # fmt: skip
@with_roles_but(
    "key", "label", "lower_is_better", "ties", "rng",
    measures="Ignored unless missing='drop'.",
)  # fmt: skip
def random_envelope(
    data: Data,
    alpha: float | Sequence[float] = 0.05,
    n: ListSizes = None,
    *,
    progress: bool | None = None,
    pool: Pool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return an envelope that random rankings reach with probability at most alpha.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label. Scores are not used.
    alpha : float or list of float
        Significance levels, 0 < alpha < 1.
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n from 1 to the number of candidates.
    progress : bool, optional
        Whether to show a progress bar for the search over levels. By default, the bar appears after
        two seconds.
    pool : {"retrieved", "all"} or int, optional
        Candidates that are ranked at random. See :func:`random_test`.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per alpha and n (Dataset: dimensions alpha and n). With ``pool="retrieved"``, each
        measure has separate rows. The columns are:

        * ``expected``: the mean number of true positives, n N+ / N;
        * ``envelope``: the critical count. A random ranking reaches the envelope at one or more n
          with a probability of at most alpha. The envelope is min(n, N+) + 1 if no count is rare
          enough;
        * ``local_level``: the largest P(X >= envelope) at a single n;
        * ``attainable``: whether a list of size n can contain ``envelope`` true positives.

    Notes
    -----
    The envelope uses the same level t at every n. At each n the envelope equals ``critical`` from
    :func:`random_bound` at p = t. The level t is the largest for which the overall probability is
    at most alpha. The overall probability is computed exactly by Macskassy's (2005) recursion with
    absorption. The envelope depends on the requested n, so pass only the list sizes that you
    inspect, such as ``range(100, 2001)``. If you treat tied candidates as one block, pass the list
    sizes at which blocks end. An envelope for every n takes one second for 100,000 candidates with
    10,000 positives, and six seconds for a million candidates with 50,000 positives.

    References
    ----------
    Macskassy (2005), Eqs 12 to 15, and figure 7, which connects the bounds for each n. S.
    Aldor-Noiman et al. (2013), The power to see, American Statistician 67 (equal local levels).

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.random_envelope(0.05, [10, 20, 40])
       alpha   n  expected  envelope  local_level  attainable
    0   0.05  10       2.0         6     0.026779        True
    1   0.05  20       4.0         8     0.026779        True
    2   0.05  40       8.0        13     0.026779        True
    """
    levels, pool = check_shares("alpha", alpha), chosen_pool(pool, roles)

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        names = (*ENVELOPE_COLUMNS[2:], "exists")
        lazy = any(variable.chunks is not None for variable in inner.variables.values())
        with progress_bar(
            False if lazy else progress, total=None, what="trying levels", unit="boundaries"
        ) as step:
            columns = xr.apply_ufunc(
                _envelope_columns,
                *pool_size(inner, pool),
                kwargs={"alpha": levels, "n": sizes, "step": step},
                input_core_dims=[[], []],
                output_core_dims=[["alpha", "n"]] * len(names),
                dask="parallelized",
                dask_gufunc_kwargs={"output_sizes": {"alpha": levels.size, "n": sizes.size}},
                output_dtypes=[float, np.int64, float, bool, bool],
            )
        result = tables.as_columns(names, columns)
        return result.assign_coords(alpha=("alpha", levels), n=("n", sizes))

    return answer(
        data, roles, question, pool_columns(ENVELOPE_COLUMNS, pool),
        able_with(can(random_envelope), pool), n=check_n(n), attrs={"pool": pool},
    )  # fmt: skip


@lru_cache(maxsize=64)
def _cached_envelope(alpha: float, n: bytes, model: Finite) -> Envelope:
    """Return an envelope, cached for groups of equal size across chunks."""
    return envelope(alpha, np.frombuffer(n), model)


def _envelope_columns(
    total: IntArray,
    positive: IntArray,
    *,
    alpha: FloatArray,
    n: IntArray,
    step: Callable[[int], object],
) -> tuple[AnyArray, ...]:
    """Return the envelopes for groups of these sizes: (..., alpha, n)."""
    total, positive = np.asarray(total), np.asarray(positive)
    shape = (*total.shape, alpha.size, n.size)
    expected, local = np.full(shape, np.nan), np.full(shape, np.nan)
    counts, exists = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    attainable = np.zeros(shape, dtype=bool)
    sizes = np.stack([total, positive], axis=-1).reshape(-1, 2)
    for size in np.unique(sizes, axis=0):  # groups of equal size share an envelope
        same = (sizes == size).all(axis=-1).reshape(total.shape)
        fits = n <= size[0]
        model = Finite(*size.astype(float).tolist())
        for level in range(alpha.size):
            asked = n[fits].astype(float)
            if total.size > 1 and asked.size <= _MOST_CACHED:
                result = _cached_envelope(float(alpha[level]), asked.tobytes(), model)
            else:
                result = envelope(float(alpha[level]), asked, model, step)
            where = np.ix_(np.flatnonzero(same), np.array([level]), np.flatnonzero(fits))
            for column, values in (
                (expected, n[fits] * model.prior),
                (counts, result.counts),
                (local, result.local_level),
                (attainable, result.counts <= model.support(n[fits].astype(float))[1]),
                (exists, True),
            ):
                column.reshape(total.size, *shape[-2:])[where] = values
    return expected, counts, local, attainable, exists
