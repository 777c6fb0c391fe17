"""Bounds on the precision of random rankings, and where a measure crosses them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np

from rankeval_pd import stats
from rankeval_pd.chance import random_tests
from rankeval_pd.chance.random_tests import TAIL_METHODS, Pool, log_tail
from rankeval_pd.decisions import GROUP, Rows
from rankeval_pd.doors import Candidates, Data, Sizes, check_n, measure_rows, rows_of, tabulate
from rankeval_pd.errors import AnyFunction, check_memory, check_shares, progress_bar
from rankeval_pd.options import Capabilities, can, with_roles, with_roles_but
from rankeval_pd.roles import Bound, ListSizes, PopulationKind, RankingRoles, Roles
from rankeval_pd.stats import AnyArray, Finite, FloatArray, IntArray, Population, Size
from rankeval_pd.stats.random_model import MOST_SEARCHED, envelope, unique_rows
from rankeval_pd.tables import Columns, only_or_all

# ---- Bounds for each n (Macskassy 2005)

BOUND_COLUMNS = tuple("p n expected discrete interpolated parametric critical attainable".split())
UNRANKED = with_roles_but(
    "key", "label", "lower_is_better", "ties", "rng", measures="Ignored unless missing='drop'."
)


@Capabilities(
    rankings="Is it better than chance?",
    scores=False,
    any_ties=True,
    heads=True,
    counts=True,
    short="measure p n expected critical discrete interpolated parametric",
    details="attainable local_level",
    layout="p n",
    quantity="true-positives",
)
@UNRANKED
def random_bound(
    data: Data,
    p: float | Sequence[float] = 0.05,
    n: ListSizes = None,
    *,
    simultaneous: bool = False,
    population: PopulationKind = "finite",
    pool: Pool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return bounds for the number of true positives in a random n-best list.

    Parameters
    ----------
    data, n, **roles
        As in :func:`nbest_precision`. Scores are not used.
    p : float or list of float
        Significance levels, 0 < p <= 1, and below 1 with ``simultaneous``.
    simultaneous : bool
        Whether a random ranking reaches the bound at one or more n with a probability of at most p.
        By default, each bound applies to a single n.
    population
    pool

    Returns
    -------
    DataFrame or Dataset
        One row per p and n (Dataset: dimensions p and n). With ``pool="retrieved"``, each measure
        has separate rows. The columns are:

        * ``expected``: the mean number of true positives, n N+ / N;
        * ``critical``: min{i: P(X >= i) <= p}. A test that rejects at this count has level p.
          ``critical`` is min(n, N+) + 1 if no count is significant;
        * ``discrete``: min{i: P(X > i) < p}, Macskassy's (2005) n(k, p). A test that rejects at
          this count has an error rate *above* p;
        * ``interpolated`` and ``parametric``: the counts (at least 0) at which the interpolated
          tail probability, or the continuous binomial one for both populations, equals p;
        * ``attainable``, with ``details``: whether a list can contain ``critical`` true positives.

        ``simultaneous`` gives ``critical``, and ``local_level``: the largest P(X >= critical) at a
        single n.

    Notes
    -----
    By default, the probability that a random ranking reaches the bound for at least one n is far
    above p. Simultaneous bounds form an envelope: all list sizes use the same level, the largest
    for which the overall probability is at most p. This probability is exact (Macskassy's recursion
    with absorption). The envelope depends on the requested n, so pass only the list sizes that you
    inspect, such as ``range(100, 2001)``. An envelope for every n takes two seconds for 100,000
    candidates with 10,000 positives, and twelve for a million candidates with 50,000 positives.

    Probabilities with a relative difference below 1e-12 are treated as equal. Errors in
    ``parametric`` are below 1e-10. Bounds for every n cost O(N), or seven seconds for a million
    candidates. The cost for a few list sizes does not depend on N.

    References
    ----------
    * Macskassy (2005), CeDER Working Paper 05-09, New York University, Eqs 5 to 9 (Eq. 8
      corrected), 12 to 18, section 3.2, and figure 7, which connects the bounds for each n.
    * Aldor-Noiman et al. (2013), The American Statistician 67,
      https://doi.org/10.1080/00031305.2013.847865 (equal local levels).

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.random_bound(0.5, 20)
         p   n  expected  critical  discrete  interpolated  parametric
    0  0.5  20       4.0         5         4       3.42541    3.396055
    """
    levels = check_shares("p", p, one=not simultaneous)
    sizes, beyond = _split_sizes(check_n(n), population)
    pool = random_tests.chosen_pool(pool, roles, population)
    columns: tuple[str, ...] = BOUND_COLUMNS
    of_lists: AnyFunction = random_tests.bound_columns
    if simultaneous:
        columns, of_lists = SIMULTANEOUS_COLUMNS, _envelope_columns
    return tabulate(
        data,
        roles,
        partial(
            _rows_of_bounds,
            levels=levels,
            beyond=beyond,
            pool=pool,
            of_lists=of_lists,
            population=population,
            most=MOST_SEARCHED * (not simultaneous),
        ),
        random_tests.pool_columns(columns, pool),
        random_tests.able_with(can(random_bound), pool),
        n=sizes,
        attrs={
            "p": only_or_all(levels.tolist()),
            "simultaneous": simultaneous,
            "population": population,
            "pool": pool,
        },
    )


def _rows_of_bounds(
    candidates: Candidates,
    n: IntArray | None,
    *,
    levels: FloatArray,
    beyond: IntArray | None,
    **lists: Any,
) -> Rows:
    """Return one row per p and n for lists from each pool; ``beyond`` are sizes above N."""
    if beyond is not None:
        n = beyond
    return rows_of_pools(candidates, {"p": levels, "n": candidates.sizes(n)}, **lists)


def _split_sizes(sizes: Sizes, population: str) -> tuple[Sizes, IntArray | None]:
    """Return the list sizes up to N, or those that can exceed N in an infinite population."""
    if population == "infinite" and isinstance(sizes, np.ndarray):
        return None, sizes
    return sizes, None


def rows_of_pools(
    candidates: Candidates,
    along: Mapping[str, AnyArray],
    pool: Pool,
    of_lists: Callable[..., Mapping[str, AnyArray]],
    *,
    population: str = "finite",
    most: float = MOST_SEARCHED,
) -> Rows:
    """Return one row per pool, level and list size, which are the labels in ``along``.

    ``of_lists`` (level, list sizes, population) is called once for each N and N+, or for up to
    ``most`` list sizes, once for the lists from all pools.
    """
    pools = random_tests.pool_sizes(candidates, pool)
    (total, positive), back = unique_rows(pools.total.ravel(), pools.positive.ravel())
    levels, n = along.values()
    exists = (total > 0)[:, np.newaxis] & ((n <= total[:, np.newaxis]) | (population == "infinite"))
    numbers = np.arange(total.size)
    parts = list(numbers[:, np.newaxis])
    if n.size <= most:
        parts = [numbers]
    columns = {}
    for part in parts:
        row, place = np.nonzero(exists[part])
        row = part[row]
        size = float(total[part[0]]), float(positive[part[0]])
        if n.size <= most:
            size = total[row].astype(float), positive[row].astype(float)
        model = random_tests.population_model(population, *size)
        for level, p in enumerate(levels.tolist()):
            for name, x in of_lists(p, n[place], model).items():
                if name not in columns:
                    columns[name] = np.zeros((total.size, levels.size, n.size), dtype=x.dtype)
                columns[name][row, level, place] = x
    columns["exists"] = np.repeat(exists[:, np.newaxis], levels.size, axis=1)
    shape = pools.total.shape
    columns = {name: x[back].reshape(*shape, *x.shape[1:]) for name, x in columns.items()}
    return rows_of(columns, candidates, "measure", range(shape[1]), along)


# ---- The distribution of the count (Macskassy 2005, figure 1)


@Capabilities(
    rankings="Is it better than chance?",
    scores=False,
    any_rows=True,
    any_ties=True,
    heads=True,
    layout="row",
    quantity="probability",
)
@UNRANKED
def random_cdf(
    data: Data, n: Any, *, population: PopulationKind = "finite", **roles: Unpack[RankingRoles]
) -> Data:
    """Return the distribution of the number of true positives in a random list.

    Parameters
    ----------
    data, n, population, **roles
        As in :func:`random_bound`.

    Returns
    -------
    DataFrame or Dataset
        One row per n and number of true positives ``tp`` (Dataset: dimension row), in steps of
        0.05, up to four standard deviations from the mean. Three columns contain P(X <= tp):
        ``discrete`` is the exact step function, ``interpolated`` is linear between integers, and
        ``parametric`` is the continuous binomial. For small tails, use :func:`random_pvalue`.

    References
    ----------
    Macskassy (2005), CeDER Working Paper 05-09, New York University, section 2.1, Eqs 6, 8 and 9
    (Eq. 8 corrected), figure 1.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> table = df.rankeval.random_cdf(20)
    >>> table[table["tp"].between(3.4, 3.5)].round(4)
         n    tp  discrete  interpolated  parametric
    88  20  3.40    0.4022        0.4942      0.5009
    89  20  3.45    0.4022        0.5057      0.5120
    90  20  3.50    0.4022        0.5172      0.5230
    """
    sizes, beyond = _split_sizes(check_n(n), population)
    return tabulate(
        data,
        roles,
        partial(_rows_of_cdf, beyond=beyond, population=population),
        ("n", "tp", *TAIL_METHODS),
        can(random_cdf),
        n=sizes,
        attrs={"population": population},
    )


_STEPS_PER_COUNT = 20  # values of a distribution function from one integer to the next
_DEVIATIONS = 4.0  # the grid extends this many standard deviations to either side of the mean


def _rows_of_cdf(
    candidates: Candidates, n: IntArray | None, *, beyond: IntArray | None, population: str
) -> Rows:
    """Return one row per n and count; ``beyond`` are sizes above N."""
    if beyond is not None:
        n = beyond
    lists = candidates.sizes(n)
    size = candidates.common_size()
    count, exists = _cdf_grid(lists, size)
    total = np.maximum(size.total[:, np.newaxis, np.newaxis], 1).astype(float)
    positive = size.positive[:, np.newaxis, np.newaxis].astype(float)
    drawn = lists[:, np.newaxis].astype(float)
    if population == "finite":
        exists = exists & (drawn <= total)
        drawn = np.minimum(drawn, total)
    model = random_tests.population_model(population, total, positive)
    # tails are exact at integers; between integers, the interpolated function is linear
    step = np.arange(count.shape[-1])
    whole = np.arange(step.size // _STEPS_PER_COUNT + 2)
    exact = np.exp(log_tail(count[..., :1] + whole, drawn, model, "discrete"))
    at = exact[..., step // _STEPS_PER_COUNT]
    after = exact[..., step // _STEPS_PER_COUNT + 1]
    rest = step % _STEPS_PER_COUNT / _STEPS_PER_COUNT
    columns = {
        "tp": count,
        "discrete": 1.0 - at,
        "interpolated": 1.0 - ((1.0 - rest) * at + rest * after),
        "parametric": 1.0 - np.exp(log_tail(count, drawn, model, "parametric")),
        "exists": exists,
    }
    columns = {name: x[:, np.newaxis] for name, x in columns.items()}
    return rows_of(columns, candidates, "measure", [0], {"n": lists, "_point": step})


def _cdf_grid(n: IntArray, size: Size) -> tuple[FloatArray, stats.BoolArray]:
    """Return the counts at which to evaluate a distribution function, and a mask."""
    prior = (size.positive / np.maximum(size.total, 1))[:, np.newaxis]
    mean = n * prior
    spread = _DEVIATIONS * (mean * (1.0 - prior)) ** 0.5 + 1.0
    first = np.maximum((mean - spread) // 1.0, -1.0)
    last = np.minimum((mean + spread) // 1.0 + 1.0, n)
    points = int(_STEPS_PER_COUNT * np.max(last - first, initial=0.0)) + 1
    check_memory(
        24.0 * points * last.size,  # about 24 arrays: columns and intermediate results
        f"the distribution functions of {last.size:,} lists have up to {points:,} points each",
        "Pass only the list sizes you need, n=...",
    )
    step = np.arange(points) / _STEPS_PER_COUNT
    first = first[..., np.newaxis]
    last = last[..., np.newaxis]
    return step + first, (step <= last - first) & (size.total[:, np.newaxis, np.newaxis] > 0)


# ---- Crossover points with chance (Macskassy 2005, section 3.3)

CROSSOVER_COLUMNS = ("measure", "p", "n_first", "n_last", "tp_first")
_EQUAL = 1e-10  # tolerance that lets a count equal to a fractional bound reach the bound


@Capabilities(
    rankings="Is it better than chance?",
    ends=True,
    heads=True,
    layout="row",
    quantity="list-size",
)
@with_roles
def crossovers(
    data: Data,
    p: float | Sequence[float] = 0.05,
    *,
    bound: Bound = "critical",
    pool: Pool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Find the runs of list sizes for which a measure beats chance.

    Parameters
    ----------
    data, **roles
        As in :func:`nbest_precision`.
    p, pool
        As in :func:`random_bound`, for all candidates or the pool in random order.
    bound
        The bound from :func:`random_bound` that a measure must reach. "critical" gives a test at
        level p for each n, and "discrete" is Macskassy's (2005) bound.

    Returns
    -------
    DataFrame or Dataset
        One row per run of at least two sizes (Dataset: dimension row), ordered by measure, p and n.
        The columns are ``measure``, ``p``, ``n_first``, ``n_last`` and ``tp_first``, the number of
        true positives at n_first. The list of all N candidates is excluded because its count is not
        random. If a measure stays at or above the bound until the end, n_last is N - 1.

    Notes
    -----
    The first row for each measure and p is Macskassy's (2005) crossover point, by the text; Eq. 19
    requires one positive fewer. Each n is a separate test, so the probability that a random ranking
    crosses the bound at least once is far above p. Use ``random_bound(simultaneous=True)`` to
    account for all n. A lazy Dataset is computed immediately.

    References
    ----------
    Macskassy (2005), CeDER Working Paper 05-09, New York University, section 3.3, figure 6.

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
    levels = check_shares("p", p, one=True)
    ties = Roles.of(roles).ties
    pool = random_tests.chosen_pool(pool, roles)
    return tabulate(
        data,
        roles,
        partial(_sizes_at_bound, p=levels, bound=bound, ties=ties, pool=pool),
        CROSSOVER_COLUMNS,
        random_tests.able_with(can(crossovers), pool),
        finish=_runs_above_bound,
        attrs={
            "p": only_or_all(levels.tolist()),
            "bound": bound,
            "population": "finite",
            "pool": pool,
        },
    )


def _sizes_at_bound(
    candidates: Candidates, n: IntArray | None, *, p: FloatArray, **how: Any
) -> Rows:
    """Return one row per measure, level and list size, with the lists that reach the bound."""
    along = {"p": p, "n": candidates.sizes(n)}
    return measure_rows(candidates, n, _lists_at_bound, along, p=p, **how)


def _lists_at_bound(
    ranking: stats.Ranking,
    _: Candidates,
    *,
    n: IntArray | None,
    p: FloatArray,
    bound: str,
    ties: str,
    pool: Pool,
) -> Columns:
    """Return true positives and whether they reach the bound: (group, measure, p, n)."""
    lists = ranking.nbest(n, ties)
    size = random_tests.pool_of(ranking, pool)
    *rows, longest = lists.tp.shape
    # groups of equal size share bounds; the list of all candidates has none
    sizes, back = unique_rows(size.total.ravel(), size.positive.ravel())
    least = np.full((sizes[0].size, p.size, longest), np.inf)
    for place, (total, positive) in enumerate(zip(*(x.tolist() for x in sizes), strict=True)):
        model = Finite(float(total), float(positive))
        inside = np.arange(1.0, total)[:longest]
        for level, at in enumerate(p.tolist()):
            least[place, level, : inside.size] = stats.bound(bound, at, inside, model) - _EQUAL
    tp = np.broadcast_to(lists.tp[..., np.newaxis, :], (*rows, p.size, longest))
    exists = np.broadcast_to(lists.exists[..., np.newaxis, :], tp.shape)
    return {"tp": tp, "reached": tp >= least[back].reshape(tp.shape), "exists": exists}


def _runs_above_bound(rows: Rows, _: Sequence[Hashable]) -> Rows:
    """Return the maximal runs of two or more rows that reach the bound."""
    reached = rows["reached"]
    # a run ends if the group, measure or level changes, or if the count is below the bound
    fresh = np.ones(reached.size, dtype=bool)
    fresh[1:] = False
    for name in (GROUP, "measure", "p", "reached"):
        fresh[1:] |= rows[name][1:] != rows[name][:-1]
    start = np.flatnonzero(fresh)
    stop = np.append(start[1:], reached.size)[: start.size]
    kept = reached[start] & (stop - start >= 2)
    first = start[kept]
    last = stop[kept] - 1
    return {
        GROUP: rows[GROUP][first],
        "measure": rows["measure"][first],
        "p": rows["p"][first],
        "n_first": rows["n"][first],
        "n_last": rows["n"][last],
        "tp_first": rows["tp"][first],
    }


# ---- Bounds that hold at all n together

SIMULTANEOUS_COLUMNS = ("p", "n", "expected", "critical", "local_level", "attainable")


def _envelope_columns(alpha: float, n: IntArray, model: Population) -> Columns:
    """Return the envelope for lists from one pool."""
    lists = n.astype(float)
    with progress_bar(total=None, what="trying levels", unit="boundaries") as step:
        found = envelope(alpha, lists, model, step)
    return {
        "expected": n * model.prior,
        "critical": found.counts.astype(np.int64),
        "local_level": np.full(n.shape, found.local_level),
        "attainable": found.counts <= model.support(lists)[1],
    }
