"""Test n-best lists against random rankings, from data or from published counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Unpack, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from rankeval_pd import doors, errors
from rankeval_pd.decisions import GROUP, GroupCells, Rows
from rankeval_pd.doors import Candidates, Data, Shares
from rankeval_pd.errors import brief, shown
from rankeval_pd.lists.groups import of_rows, random_p
from rankeval_pd.options import Capabilities, can, with_roles
from rankeval_pd.roles import ListSizes, PopulationKind, RankingRoles, Roles, TailMethod
from rankeval_pd.stats import (
    AnyArray,
    Finite,
    FloatArray,
    Infinite,
    IntArray,
    Population,
    Ranking,
    Size,
    Tails,
    binomial_laws,
    hypergeometric_laws,
    log_betainc,
    silent_division,
    tails_of_sum,
)
from rankeval_pd.stats.random_model import (
    EVERY,
    bounds,
    parametric_bound,
    simultaneous_p_values,
)
from rankeval_pd.tables import Columns, Keywords, Options

# ---- Determine the pool of candidates from which random lists are drawn

Pool = Literal["retrieved", "all"] | int


def chosen_pool(pool: Any, roles: Keywords, population: str = "finite") -> Pool:
    """Return the pool, which is "retrieved" by default if rankings are incomplete."""
    ends = Roles.of(roles).ends
    if pool is None:
        if ends and population == "finite":
            return "retrieved"
        return "all"
    if isinstance(pool, str):
        errors.check_choice("pool", pool, ("retrieved", "all"))
        if pool == "retrieved" and not ends:
            raise ValueError(
                "pool='retrieved' requires that missing scores mean 'not retrieved'. Pass"
                " missing='absent'."
            )
        return cast("Pool", pool)
    size = errors.check_count("pool", pool)
    if population != "finite" or size >= 2**53:
        raise ValueError(
            f"pool={size} is the size of a finite collection, below 2**53. Omit population, or omit"
            " pool and pass population='infinite'."
        )
    return size


def able_with(able: Capabilities, pool: Pool) -> Capabilities:
    """Return options for a method whose result depends on the retrieved candidates."""
    if pool != "retrieved":
        return able
    return replace(able, scores=True, ends=True, counts=False)


def pool_columns(columns: tuple[str, ...], pool: Pool) -> tuple[str, ...]:
    """Return the columns, with the measure first if pools differ between measures."""
    if pool == "retrieved":
        return ("measure", *columns)
    return columns


def pool_of(ranking: Ranking, pool: Pool) -> Size:
    """Return N and N+ for the pool: (..., measure)."""
    if pool == "retrieved":
        return ranking.retrieved
    return _in_collection(ranking.size, pool)


def pool_sizes(candidates: Candidates, pool: Pool) -> Size:
    """Return N and N+ for the pool: (group, 1), or (group, measure) if the measures differ."""
    if pool == "retrieved":
        return candidates.rankings().retrieved
    total, positive = candidates.common_size()
    return _in_collection(Size(total[:, np.newaxis], positive[:, np.newaxis]), pool)


def _in_collection(size: Size, collection: int | str) -> Size:
    """Return the sizes, with N replaced by the number of candidates in a collection, if any."""
    if isinstance(collection, str):
        return size
    largest = int(size.total.max(initial=0))
    if largest > collection:
        raise ValueError(
            f"pool={collection} is smaller than the number of candidates in the data, {largest}."
            " Pass the size of the whole collection, which includes these candidates."
        )
    return size._replace(total=np.full_like(size.total, collection))


def warn_of_whole_lists(retrieved: IntArray, n: IntArray) -> None:
    """Warn if most lists at some n contain all ``retrieved`` candidates, broadcast with n."""
    sizes, whole = np.broadcast_arrays(n, retrieved <= n)
    for size in np.unique(sizes):
        if (share := whole[sizes == size].mean()) >= 0.5:
            errors.warn(
                f"pool='retrieved': {share:.0%} of the lists at n = {int(size)} contain every"
                " retrieved candidate, so the p-values are 1. Use a smaller n, or pass the number"
                " of documents in the collection, pool=..."
            )
            return


# ---- Apply the random model to published numbers

TAIL_METHODS = ("discrete", "interpolated", "parametric")


@errors.checked_call
def random_bound_for(
    p: float | Sequence[float],
    n: ListSizes = None,
    *,
    n_candidates: int | None = None,
    n_positive: int | None = None,
    population: PopulationKind = "finite",
    prior: float | None = None,
) -> pd.DataFrame:
    """Return the bounds from :func:`random_bound` for published numbers.

    Parameters
    ----------
    p, n, population
        As in :func:`random_bound`. If n is None, every n from 1 to ``n_candidates``.
    n_candidates, n_positive : int
        Number of candidates N, and number of true positives N+.
    prior : float
        Prevalence, as an alternative to ``n_candidates`` and ``n_positive``. The population is then
        infinite, and ``n`` is required.

    Returns
    -------
    DataFrame
        The columns of :func:`random_bound`.

    References
    ----------
    Macskassy (2005), CeDER Working Paper 05-09, New York University, Table 2 (N = 16,769, N+ =
    3,123).

    Examples
    --------
    >>> import rankeval_pd
    >>> table = rankeval_pd.random_bound_for(0.1, [5, 10], n_candidates=16769, n_positive=3123)
    >>> table
         p   n  expected  discrete  interpolated  parametric  critical  attainable
    0  0.1   5  0.931183         2      1.721096    1.582719         3        True
    1  0.1  10  1.862365         3      2.988192    2.982536         4        True
    """
    for name, number in (("n_candidates", n_candidates), ("n_positive", n_positive)):
        if number is not None:
            errors.check_count(name, number, 0)
    if prior is not None:
        errors.check_number("prior", prior)
    model = _published_population(n_candidates, n_positive, prior, population)
    levels = errors.check_shares("p", p, one=True)
    sizes = doors.check_n(n)
    if not isinstance(sizes, np.ndarray) and n_candidates is None:
        raise ValueError(
            f"n={n!r} needs a finite number of candidates, but the population is infinite. Pass"
            " whole numbers."
        )
    shares = {}
    if isinstance(sizes, Shares):
        shares = {"share": sizes.values}  # noqa: PD011
        sizes = sizes.of(n_candidates or 0)
    elif sizes is None:
        if (n_candidates or 0) > _MOST_SIZES:
            raise ValueError(
                f"n is missing: every n up to {n_candidates:,} gives too many rows."
                " Pass the list sizes that you need, such as n=[100, 1000], or shares, n=[0.01]."
            )
        sizes = np.arange(1, (n_candidates or 0) + 1)
    if isinstance(model, Finite):
        doors.check_not_above(sizes, n_candidates or 0)
    parts = []
    for level in levels.tolist():
        columns = {"p": level, "n": sizes, **bound_columns(level, sizes, model), **shares}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def bound_columns(p: float, n: IntArray, model: Population) -> Columns:
    """Return the bounds at level p for lists from one or several populations."""
    size = n.astype(float)
    found = bounds(p, size, model)
    return {
        "expected": size * model.prior,
        "discrete": found.discrete.astype(np.int64),
        "interpolated": found.interpolated,
        "parametric": parametric_bound(p, size, model.prior),
        "critical": found.critical.astype(np.int64),
        "attainable": found.critical <= model.support(size)[1],
    }


_MOST_SIZES = 2_000_000  # every n of a published number of candidates, in some seconds


@errors.checked_call
def random_pvalue(
    tp: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    n_candidates: Any = None,
    n_positive: Any = None,
    n_queries: int | None = None,
    method: TailMethod = "discrete",
    population: PopulationKind = "finite",
    prior: Any = None,
    log: bool = False,
) -> Any:
    """Return the probability that a random list has at least tp true positives.

    Parameters
    ----------
    tp : float or array
        Number of true positives in the list (not the precision). Averages can be fractional. For an
        impossible count, the probability is 0 or 1.
    n : int or array of int
        Size of the list.
    n_queries : int, optional
        Number of queries (or reviewers) whose mean number of true positives is ``tp``, for random
        and independent rankings. If the mean was rounded, pass the smallest mean that rounds to it,
        such as 5.65 for 5.7. The other numbers can have one value per query.
    method
        The exact tail probability, its interpolation between integers (Macskassy 2005), or the
        continuous binomial tail probability of both populations. A mean has the exact probability.
    n_candidates, n_positive, population, prior
        As in :func:`random_bound_for`. The numbers can be arrays.
    log : bool
        Whether to return log10 p, which does not underflow.

    Returns
    -------
    float or array
        P(X >= tp), the standard p-value; a float if all arguments are scalars. Arrays are
        broadcast. For Macskassy's (2005) p-value, P(X > tp), pass tp + 1.

    Notes
    -----
    With ``n_queries``, the distribution of the sum is an exact convolution. Macskassy's (2005)
    Tables 3 and 4 treat a mean as if it came from a single list.

    References
    ----------
    Macskassy (2005), CeDER Working Paper 05-09, New York University, section 2.1, Eqs 8 and 9
    (corrected), Tables 2 to 4.

    Examples
    --------
    >>> import rankeval_pd
    >>> stocks = {"n_candidates": 16769, "n_positive": 3123}
    >>> round(rankeval_pd.random_pvalue(2, 5, **stocks), 3)  # Table 2
    0.235
    >>> round(rankeval_pd.random_pvalue(2 + 1, 5, **stocks), 3)  # as printed
    0.048

    In Table 3, 15 reviewers find 5.7 relevant papers among 10 on average (p = 0.079). In total 47
    of 117 papers are relevant:

    >>> p = rankeval_pd.random_pvalue(5.65, 10, n_candidates=117, n_positive=47, n_queries=15)
    >>> print(f"{p:.3g}")
    1.59e-05
    """
    given = {
        "tp": tp,
        "n": n,
        "n_candidates": n_candidates,
        "n_positive": n_positive,
        "prior": prior,
    }
    if n_queries is None:
        errors.check_together(**{name: x for name, x in given.items() if x is not None})
    model = _published_population(n_candidates, n_positive, prior, population)
    count = _numbers("tp", tp)
    size = _numbers("n", n, whole=True)
    if isinstance(model, Finite) and np.any(size > model.total):
        raise ValueError(
            f"n={brief(n)} exceeds n_candidates={brief(n_candidates)}. To allow any n, pass"
            " population='infinite'."
        )
    if n_queries is not None:
        log_p = _log_p_of_mean(count, size, model, n_queries)
    else:
        if method == "discrete":
            count = np.ceil(count)
        log_p = log_tail(count - 1.0, size, model, method)
    result = np.exp(log_p)
    if log:
        result = log_p / LOG_10
    return number_or_array(result)


def log_tail(at: FloatArray, n: FloatArray, model: Population, method: str) -> FloatArray:
    """Return log P(X > at), by one of the methods."""
    if method == "parametric":
        at, n, prior = np.broadcast_arrays(at, n, model.prior)
        # I_z(x + 1, n - x), which is 1 for x <= -1 or z = 1, and 0 for x >= n
        log_p = np.where((at <= -1.0) | ((at < n) & (prior == 1.0)), 0.0, -np.inf)
        inside = (at > -1.0) & (at < n) & (prior > 0.0) & (prior < 1.0)
        log_p[inside] = log_betainc(at[inside] + 1.0, n[inside] - at[inside], prior[inside])
        return log_p
    whole = np.floor(at)
    log_p = model.tails(whole, n).gt
    if method == "interpolated":
        rest = at - whole
        next_p = model.tails(whole + 1.0, n).gt
        with np.errstate(divide="ignore"):
            between = np.logaddexp(np.log1p(-rest) + log_p, np.log(rest) + next_p)
        log_p = np.where(rest == 0.0, log_p, between)
    return log_p


_MOST_SUMMED = 10**7  # candidates whose laws are convolved within seconds


def _log_p_of_mean(
    mean: FloatArray, n: FloatArray, model: Population, n_queries: int
) -> FloatArray:
    """Return log P(sum >= n_queries * mean) for lists of several queries."""
    queries = errors.check_count("n_queries", n_queries)
    given = {"n": n, "n_candidates": np.ones(()), "n_positive": np.asarray(model.prior)}
    population = "infinite"
    if isinstance(model, Finite):
        population = "finite"
        given |= {"n_candidates": model.total, "n_positive": model.positive}
    for name, values in given.items():
        if np.shape(values) not in ((), (1,), (queries,)):
            raise ValueError(
                f"{name} has {np.size(values)} values for n_queries={queries}. Pass one value, or "
                "one per query."
            )
    counted = int(np.sum(n) * queries / np.size(n))
    if counted > _MOST_SUMMED:
        raise ValueError(
            f"n_queries={queries}: the lists have {counted:,} candidates in all, but the exact law"
            f" of a mean is computed for at most {_MOST_SUMMED:,}. Pass smaller n."
        )
    sizes, total, positive = (np.broadcast_to(x, (queries,)) for x in given.values())
    result = np.empty(mean.shape)
    for where in np.ndindex(mean.shape):
        count = math.ceil(queries * mean[where] - 1e-9)  # a product that is nearly whole is whole
        result[where] = sum_tails(count, sizes, total, positive, population).ge
    return result


def number_or_array(values: Any) -> Any:
    """Return an array without dimensions as a float, and other arrays unchanged."""
    if np.ndim(values) == 0:
        return float(values)
    return values


def _published_population(
    n_candidates: Any, n_positive: Any, prior: Any, population: str
) -> Population:
    """Return the population with these numbers, or with the prevalence alone."""
    whole = n_candidates is not None, n_positive is not None
    if whole != (prior is None, prior is None):
        raise ValueError(
            f"n_candidates={shown(n_candidates)}, n_positive={shown(n_positive)},"
            f" prior={shown(prior)}: pass both numbers, or only the share of positives, prior=..."
        )
    if prior is not None:
        errors.check_numbers("prior", prior, 0.0, 1.0)
        return Infinite(_numbers("prior", prior))
    total = _numbers("n_candidates", n_candidates, whole=True)
    positive = _numbers("n_positive", n_positive, whole=True)
    if (positive > total).any():
        raise ValueError(
            f"n_positive={brief(n_positive)} exceeds n_candidates={brief(n_candidates)}. Pass"
            " n_candidates before n_positive."
        )
    return population_model(population, total, positive)


def _numbers(name: str, values: Any, *, whole: bool = False) -> FloatArray:
    """Return finite numbers, or whole numbers of at least 0, as floats."""
    least = -np.inf
    if whole:
        least = 0.0
    # a population of one number is a scalar's
    return errors.check_numbers(name, values, least, whole=whole)[()]


LOG_10 = math.log(10.0)


def population_model(population: str, total: Any, positive: Any) -> Population:
    """Return the population, or the population of each list if N and N+ are arrays."""
    if population == "finite":
        return Finite(total, positive)
    return Infinite(Finite(total, positive).prior)


def sum_tails(
    count: float, n: FloatArray, total: AnyArray, positive: AnyArray, population: str
) -> Tails:
    """Return tail probabilities for the sum of independent counts in lists of size n."""
    lists, times = np.unique(np.stack([n, total, positive]), axis=1, return_counts=True)
    n, total, positive = lists.astype(float)
    if population == "infinite":
        laws = binomial_laws(n, positive / np.maximum(total, 1.0))
    else:
        laws = hypergeometric_laws(n, total, positive)
    return tails_of_sum(count, laws, times.astype(np.int64))


# ---- Test n-best lists against random rankings

TEST_COLUMNS = tuple(
    "measure n tp expected lift p_value p_mid p_strict log10_p p_adjusted n_pool".split()
)
_COMBINED = ("n_groups", "n_left_out")
_WHOLE_GROUPS = (
    "Candidates are not in random order if whole groups are sampled: omit one of the two."
)
_ALONE = (
    ("combine", "adjust", "Adjust the p-values of the groups, or combine the groups at one n."),
    ("groups", "adjust", _WHOLE_GROUPS),
    ("groups", "combine", _WHOLE_GROUPS),
    ("groups", "pool", _WHOLE_GROUPS),
)


@Capabilities(
    rankings="Is it better than chance?",
    ends=True,
    heads=True,
    clusters=True,
    short="measure n tp expected lift p_value p_adjusted",
    details="p_mid p_strict log10_p n_pool n_left_out",
    layout="measure n",
    quantity="true-positives",
)
@with_roles
def random_test(
    data: Data,
    n: ListSizes = None,
    *,
    adjust: Literal["envelope"] | None = None,
    combine: bool = False,
    population: PopulationKind = "finite",
    pool: Pool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Test whether n-best lists contain more true positives than random lists.

    Parameters
    ----------
    data, n, **roles
        As in :func:`nbest_precision`.
    adjust
        Whether to add ``p_adjusted``, which corrects for all requested n.
    combine : bool
        Whether to combine the groups from ``by`` (Dataset: all batch dimensions). Each n then has a
        single test, based on the sum of true positives over all groups with n candidates.
    population
    pool

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n). With ``combine``, each row
        combines all groups:

        * ``tp``, ``expected``, ``lift``: the number of true positives, the mean number in a random
          list, and the ratio of the two numbers;
        * ``p_value``: P(X >= tp), the standard one-sided p-value;
        * ``p_adjusted``, with ``adjust="envelope"`` only: the probability that a random ranking has
          a p-value this small at any of the requested n;
        * with ``details``: ``p_mid``: P(X > tp) + P(X = tp)/2; ``p_strict``: P(X > tp), Macskassy's
          (2005), which is too small because the observed count is excluded; ``log10_p``: log10 of
          p_value, which does not underflow; ``n_pool``: the number of candidates in the pool;
        * ``n_groups``, with ``groups`` only: the number of groups in the list. The three p-values
          are then equal and come from Student's t test for the precision of the list minus the
          prevalence. The variance is estimated between groups;
        * ``n_groups``, ``n_left_out``, with ``combine`` only: the numbers of groups with and
          without size-n lists. ``tp`` can decrease from one n to the next if ``n_groups`` changes.

    Notes
    -----
    Each ``p_value`` applies to a single n. The test is exact if every order of the candidates is
    equally likely under the null hypothesis. Relative errors are below 1e-11.

    The smallest ``p_adjusted`` of a measure is a global p-value for the null hypothesis that the
    ranking is random at all requested n. ``p_adjusted`` is at most alpha if and only if tp reaches
    the bound from ``random_bound(simultaneous=True)``. With more than 300 list sizes, some
    values are computed and the others are rounded up, by at most 0.005 (0.05 with more than 20,000
    sizes; ``attrs["p_adjusted"]``). Rounding never crosses 0.1, 0.05, 0.01 or 0.001.

    With ``combine``, the p-values are exact tail probabilities for a sum of independent counts.
    Testing the average as if it came from a single list, as in Macskassy's (2005) Tables 3 and 4,
    is wrong by orders of magnitude. If the same candidates rank high in many groups, as can happen
    for queries on one collection, the combined p-value is too small.

    References
    ----------
    * Macskassy (2005), CeDER Working Paper 05-09, New York University, Eqs 5, 6, and 12 to 15,
      section 3.2.
    * Westfall and Young (1993), Resampling-based multiple testing, Wiley.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, True, False, False]})
    >>> df.rankeval.random_test(2)
      measure  n  tp  expected  lift   p_value
    0      G2  2   2       1.0   2.0  0.166667
    """
    sizes = doors.check_n(n)
    chosen = Roles.of(roles)
    clustered = chosen.groups is not None
    pool = chosen_pool(pool, roles, population)
    asked = {"adjust": adjust, "combine": combine or None, "groups": chosen.groups, "pool": pool}
    if pool == "all":
        del asked["pool"]
    errors.refuse_combinations(asked, _ALONE)
    if combine and isinstance(sizes, Shares):
        raise ValueError(
            f"combine=True with n={n!r}: a fraction gives lists of different sizes in groups of"
            " different sizes. Pass whole numbers."
        )
    columns = tuple(x for x in TEST_COLUMNS if adjust or x != "p_adjusted")
    how: Options = {"ties": chosen.ties, "pool": pool}
    question: Any = partial(_tests_of_lists, population=population, adjust=adjust, **how)
    together, test = None, {"finite": "hypergeometric", "infinite": "binomial"}[population]
    if combine:
        columns += _COMBINED
        question = partial(doors.measure_rows, kernel=_list_counts, **how)
        ending = pool != "all" and chosen.ends
        warned = pool == "retrieved" and sizes is not None
        together = partial(_combined_test, population=population, ending=ending, warned=warned)
    elif clustered:
        test = "groups"
        columns += _COMBINED[:1]
    result = doors.tabulate(
        data,
        roles,
        question,
        columns,
        able_with(can(random_test, heads=not (combine or clustered)), pool),
        n=sizes,
        combine=together,
        attrs={
            "test": test,
            "alternative": "greater",
            "adjust": adjust,
            "combine": combine,
            **how,
        },
    )
    if pool == "retrieved" and not (combine or sizes is None):
        warn_of_whole_lists(result["n_pool"].to_numpy(), result["n"].to_numpy())
    return result


def _tests_of_lists(
    candidates: Candidates, n: IntArray | None, *, adjust: str | None, **how: Any
) -> tuple[Rows, Options]:
    """Return one row per group, measure and list, and whether p-values are rounded."""
    facts: Options = {}
    total: int | None = 0
    if adjust is not None:
        total = None  # of an unknown number of levels
        if candidates.sizes(n).size > EVERY:
            facts["p_adjusted"] = "rounded up"
    with errors.progress_bar(total=total, what="envelopes", unit="levels") as advance:
        how |= {"adjust": adjust, "advance": advance}
        return doors.measure_rows(candidates, n, _test_columns, **how), facts


def _test_columns(
    ranking: Ranking,
    candidates: Candidates,
    *,
    n: IntArray | None,
    population: str,
    adjust: str | None,
    ties: str,
    pool: Pool,
    advance: Callable[[int], object],
) -> Columns:
    """Return the columns (group, measure, n) of the tests."""
    lists = ranking.nbest(n, ties)
    size = pool_of(ranking, pool)
    if n is None:
        n = ranking.every
    total = size.total[..., np.newaxis]
    positive = size.positive[..., np.newaxis]
    inside = np.minimum(n, np.maximum(total, 1))  # lists that do not exist are removed later
    with silent_division():
        expected = inside * np.true_divide(positive, total)
        lift = lists.tp / expected
    drawn = np.broadcast_to(n, inside.shape)
    if population == "finite":
        drawn = inside
    tails = population_model(population, np.maximum(total, 1), positive).tails(lists.tp, drawn)
    columns = {
        "tp": lists.tp,
        "expected": expected,
        "lift": lift,
        **_random_p_values(tails),
        "n_pool": np.broadcast_to(total, tails.ge.shape),
        "exists": lists.exists,
    }
    if adjust is not None:
        # simultaneous over the list sizes of each ranking; a full list is not random
        p_adjusted = np.where(lists.exists, 1.0, np.nan)
        for row in np.ndindex(tails.ge.shape[:-1]):
            here = lists.exists[row] & (n <= size.total[row])
            of_row = population_model(population, float(size.total[row]), float(size.positive[row]))
            log_p = tails.ge[*row, here]
            tp = lists.tp[*row, here].astype(float)
            p_adjusted[*row, here] = simultaneous_p_values(
                log_p, tp, n[here].astype(float), of_row, advance
            )
        columns["p_adjusted"] = p_adjusted
    if candidates.clusters is not None:
        of_groups = partial(random_p, size=size)
        names = ("more", "fewer")
        by = of_rows(of_groups, ranking, candidates.clusters, n, lists.exists, names)
        p = by["more"]
        with np.errstate(divide="ignore"):
            log10_p = np.log10(p)
        columns |= {"p_value": p, "p_mid": p, "p_strict": p}
        columns |= {"log10_p": log10_p, "n_groups": by["n_groups"]}
    return columns


def _random_p_values(tails: Tails) -> dict[str, FloatArray]:
    """Return the p-values for logarithms of tail probabilities."""
    return {
        "p_value": np.exp(tails.ge),
        "p_mid": np.exp(tails.mid),
        "p_strict": np.exp(tails.gt),
        "log10_p": tails.ge / LOG_10,
    }


# ---- The sum of true positives over all groups


def _list_counts(
    ranking: Ranking, _: Candidates, *, n: IntArray | None, ties: str, pool: Pool
) -> Columns:
    """Return the true positives in each list, and the sizes of groups and pools in any row."""
    lists = ranking.nbest(n, ties)
    pools = pool_of(ranking, pool)
    return {
        "tp": lists.tp,
        "listed": lists.exists,
        "here": ranking.size.total,
        "found": ranking.retrieved.positive,
        "total": pools.total,
        "positive": pools.positive,
    }


def _combined_test(
    table: Rows, n_groups: int, *, population: str, ending: bool, warned: bool
) -> Rows:
    """Test the sum of true positives in the lists of size n over all groups."""
    cells = GroupCells.of(table, n_groups)
    measure, n = cells.keys["measure"], cells.keys["n"]
    shape = (measure.max(initial=-1) + 1, n_groups)
    sizes = {}
    for name in ("here", "found", "total", "positive"):  # (key, group), the same for every n
        of_groups = np.zeros(shape, dtype=np.int64)
        of_groups[table["measure"], table[GROUP]] = table[name]
        sizes[name] = of_groups[measure]
    here = sizes["here"]
    total = sizes["total"]
    positive = sizes["positive"]
    long = n[:, np.newaxis] > here
    tp = np.where(cells.exists, table["tp"][cells.row], 0)
    exists = cells.exists & table["listed"][cells.row]
    # sum over all groups with n candidates, even if none of their blocks ends at this n
    exists = exists & (exists == ~long).all(axis=-1, keepdims=True)
    if ending:  # a longer list contains all retrieved candidates
        tp = np.where(exists | ~long, tp, sizes["found"])
        exists = exists | (long & (here > 0))
    if warned:
        first = np.unique(measure, return_index=True)[1]
        in_lists = np.logical_or.reduceat(exists, first, axis=0)  # (measure, group)
        warn_of_whole_lists(total[first][in_lists][:, np.newaxis], np.unique(n))
    drawn = np.broadcast_to(n[:, np.newaxis], total.shape)
    if population == "finite":
        drawn = np.minimum(drawn, total)
    tp = np.where(exists, tp, 0).sum(axis=-1)
    expected = np.where(exists, drawn * positive / np.maximum(total, 1), 0.0).sum(axis=-1)
    tails = np.full((4, n.size), np.nan)
    for key in range(n.size):
        some = exists[key] & (total[key] > 0)
        if some.any():
            size, of_all, of_gold = (x[key][some] for x in (drawn, total, positive))
            tails[:, key] = sum_tails(float(tp[key]), size, of_all, of_gold, population)
    with silent_division():
        lift = tp / expected
    counted = exists.sum(axis=-1)
    columns = {
        **cells.keys,
        "tp": tp,
        "expected": expected,
        "lift": lift,
        **_random_p_values(Tails(*tails)),
        "n_pool": np.where(exists, total, 0).sum(axis=-1),
        "n_groups": counted,
        "n_left_out": (here > 0).sum(axis=-1) - counted,
    }
    return doors.rows_at(columns, counted > 0)
