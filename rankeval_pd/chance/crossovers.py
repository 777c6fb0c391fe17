"""Find crossover points with chance, and envelopes for random rankings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache, lru_cache, partial
from typing import Unpack

import numpy as np

from rankeval_pd.chance.bounds import UNRANKED
from rankeval_pd.chance.pools import (
    Pool,
    able_with,
    chosen_pool,
    of_each_size,
    pool_columns,
    pool_of,
    pool_sizes,
)
from rankeval_pd.decisions.verdicts import GROUP
from rankeval_pd.doors.rankings import Candidates, Rows, measure_rows, rows_of, tabulate
from rankeval_pd.errors import check_choice, check_count, check_shares
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.values import check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles
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

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        kernel = partial(_reached, p=levels, bound=bound, ties=ties, pool=pool)
        return measure_rows(candidates, kernel, {"p": levels, "n": candidates.sizes(n)})

    return tabulate(
        data,
        roles,
        question,
        CROSSOVER_COLUMNS,
        able_with(can(crossovers), pool),
        finish=partial(_runs, shortest=shortest),
        attrs={"bound": bound, "contiguous": shortest, "pool": pool},
    )


_MOST_CACHED = 2**14  # largest group whose bounds are cached across chunks (128 kB)


@lru_cache(maxsize=64)
def _cached_bound(kind: str, p: float, longest: int, model: Finite) -> FloatArray:
    """Return the bound at each n below N, minus the tolerance: (n)."""
    inside = np.arange(1.0, min(model.total, longest + 1.0))
    return random_counts.bound(kind, p, inside, model) - _EQUAL


def _reached(
    ranking: Ranking,
    _: Candidates,
    *,
    p: FloatArray,
    bound: str,
    ties: str,
    pool: Pool,
) -> dict[str, AnyArray]:
    """Return true positives and whether they reach the bound: (group, measure, p, n)."""
    lists, size = ranking.nbest(None, ties), pool_of(ranking, pool)
    *rows, longest = lists.tp.shape
    shape = (*rows, p.size, longest)
    reached = np.zeros(shape, dtype=bool)
    # groups of equal size share bounds; bounds for small groups are cached across calls
    needed = _cached_bound
    if longest > _MOST_CACHED:
        needed = cache(_cached_bound.__wrapped__)
    for row in np.ndindex(*rows):
        model = Finite(float(size.total[row]), float(size.positive[row]))
        below = slice(min(max(int(model.total) - 1, 0), longest))
        for level in range(p.size):
            least = needed(bound, float(p[level]), longest, model)
            reached[(*row, level, below)] = lists.tp[(*row, below)] >= least
    tp, exists = (np.broadcast_to(x[..., np.newaxis, :], shape) for x in (lists.tp, lists.exists))
    return {"tp": tp, "reached": reached, "exists": exists}


def _runs(rows: Rows, _: Sequence[Hashable], *, shortest: int) -> Rows:
    """Return the maximal runs of rows that reach the bound and are long enough."""
    reached = rows["reached"]
    # a run ends if the group, measure or level changes, or if the count is below the bound
    fresh = np.ones(reached.size, dtype=bool)
    fresh[1:] = False
    for name in (GROUP, "measure", "p", "reached"):
        fresh[1:] |= rows[name][1:] != rows[name][:-1]
    start = np.flatnonzero(fresh)
    stop = np.append(start[1:], reached.size)[: start.size]
    kept = reached[start] & (stop - start >= shortest)
    first, last = start[kept], stop[kept] - 1
    return {
        GROUP: rows[GROUP][first],
        "measure": rows["measure"][first],
        "p": rows["p"][first],
        "n_first": rows["n"][first],
        "n_last": rows["n"][last],
        "tp_first": rows["tp"][first],
    }


# ------------------------------------------------------------ Envelopes over many list sizes

ENVELOPE_COLUMNS = ("alpha", "n", "expected", "envelope", "local_level", "attainable")


@Capabilities(
    rankings="Is it better than chance?",
    scores=False,
    any_ties=True,
    heads=True,
    counts=True,
    layout="alpha n",
)
@UNRANKED
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

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        lists, pools = candidates.sizes(n), pool_sizes(candidates, pool)
        with progress_bar(progress, total=None, what="trying levels", unit="boundaries") as step:
            several = pools.total.size > 1
            compute = partial(_envelopes, alpha=levels, n=lists, cached=several, step=step)
            columns = of_each_size(pools, compute)
        numbers = range(pools.total.shape[1])
        return rows_of(columns, candidates, "measure", numbers, {"alpha": levels, "n": lists})

    return tabulate(
        data,
        roles,
        question,
        pool_columns(ENVELOPE_COLUMNS, pool),
        able_with(can(random_envelope), pool),
        n=check_n(n),
        attrs={"pool": pool},
    )


@lru_cache(maxsize=64)
def _cached_envelope(alpha: float, n: bytes, model: Finite) -> Envelope:
    """Return an envelope, cached for groups of equal size across chunks."""
    return envelope(alpha, np.frombuffer(n), model)


def _envelopes(
    total: IntArray,
    positive: IntArray,
    *,
    alpha: FloatArray,
    n: IntArray,
    cached: bool,
    step: Callable[[int], object],
) -> dict[str, AnyArray]:
    """Return the envelopes for groups of these sizes: (group, alpha, n)."""
    shape = (total.size, alpha.size, n.size)
    columns: dict[str, AnyArray] = {
        "expected": np.full(shape, np.nan),
        "envelope": np.zeros(shape, dtype=np.int64),
        "local_level": np.full(shape, np.nan),
        "attainable": np.zeros(shape, dtype=bool),
        "exists": np.zeros(shape, dtype=bool),
    }
    for group in range(total.size):
        fits = n <= total[group]
        lists = n[fits].astype(float)
        model = Finite(float(total[group]), float(positive[group]))
        for level in range(alpha.size):
            if cached and lists.size <= _MOST_CACHED:
                found = _cached_envelope(float(alpha[level]), lists.tobytes(), model)
            else:
                found = envelope(float(alpha[level]), lists, model, step)
            values = {
                "expected": n[fits] * model.prior,
                "envelope": found.counts,
                "local_level": found.local_level,
                "attainable": found.counts <= model.support(lists)[1],
                "exists": True,
            }
            for name, x in values.items():
                columns[name][group, level, fits] = x
    return columns
