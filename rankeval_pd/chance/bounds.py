"""Compute bounds and distributions for the true positives in random n-best lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.chance.pools import Pool, able_with, chosen_pool, pool_columns, pool_size
from rankeval_pd.chance.published_chance import (
    POPULATIONS,
    TAIL_METHODS,
    population_model,
    random_pvalue,
)
from rankeval_pd.errors import check_choice, check_shares
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.answers import answer, size_now
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.values import check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, check_memory, with_roles_but
from rankeval_pd.forms.roles.roles import ListSizes, PopulationKind, RankingRoles
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.populations import FiniteEach, InfiniteEach
from rankeval_pd.stats.random_model.random_counts import (
    MOST_SEARCHED,
    bounds,
    bounds_each,
    parametric_bound,
    parametric_each,
    unique_rows,
)

# -------------------------------------------------------------- Bounds for each n (Macskassy 2005)

BOUND_COLUMNS = (
    "p",
    "n",
    "expected",
    "discrete",
    "interpolated",
    "parametric",
    "critical",
    "attainable",
)


@Capabilities(
    rankings="Is it better than chance?", scores=False, any_ties=True, heads=True, counts=True,
    short="measure p n expected critical discrete interpolated parametric", layout="p n")  # fmt: skip
@with_roles_but(
    "key", "label", "lower_is_better", "ties", "rng",
    measures="Ignored unless missing='drop'.",
)  # fmt: skip
def random_bound(
    data: Data,
    p: float | Sequence[float] = 0.05,
    n: ListSizes = None,
    *,
    population: PopulationKind = "finite",
    pool: Pool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return bounds for the number of true positives in a random n-best list.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label. Scores are not used.
    p : float or list of float
        Significance levels, 0 < p <= 1.
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n from 1 to the number of candidates.
    population : {"finite", "infinite"}
        Whether the list is drawn from these candidates (hypergeometric distribution) or from an
        infinite population with the same prevalence (binomial distribution). "infinite" allows n
        above N.
    pool : {"retrieved", "all"} or int, optional
        Candidates from which the list is drawn. See :func:`random_test`.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per p and n (Dataset: dimensions p and n). With ``pool="retrieved"``, each measure
        has separate rows. The columns are:

        * ``expected``: the mean number of true positives, n N+ / N;
        * ``discrete``: min{i: P(X > i) < p}, Macskassy's (2005) n(k, p). A test that rejects at
          this count has an error rate *above* p;
        * ``interpolated``: the count (at least 0) at which the interpolated tail probability equals
          p; ``parametric``: the count (at least 0) at which the continuous binomial tail
          probability equals p, for both populations;
        * ``critical``: min{i: P(X >= i) <= p}. A test that rejects at this count has level p.
          ``critical`` is min(n, N+) + 1 if no count is significant;
        * ``attainable``: whether a list of size n can contain ``critical`` true positives.

    Notes
    -----
    Each bound applies to a single n. The probability that a random ranking reaches the bound for at
    least one n is far above p. Probabilities with a relative difference below 1e-12 are treated as
    equal. At p = 1 each bound is the lowest possible count. Errors in ``parametric`` are below
    1e-10. Bounds for every n cost O(N), or one second for a million candidates. The cost for a few
    list sizes does not depend on N.

    References
    ----------
    Macskassy (2005), Eqs 5 to 9 (Eq. 8 corrected), 12 to 18, section 3.2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.random_bound(0.5, 20)
         p   n  expected  critical  discrete  interpolated  parametric
    0  0.5  20       4.0         5         4       3.42541    3.396055
    """
    check_choice("population", population, POPULATIONS)
    levels, sizes = check_shares("p", p, one=True), check_n(n)
    pool = chosen_pool(pool, roles, population)

    def question(inner: xr.Dataset, found: IntArray) -> xr.Dataset:
        asked = sizes if isinstance(sizes, np.ndarray) else found
        names = (*BOUND_COLUMNS[2:], "exists")
        columns = xr.apply_ufunc(
            _bound_columns,
            *pool_size(inner, pool),
            kwargs={"p": levels, "n": asked, "population": population},
            input_core_dims=[[], []],
            output_core_dims=[["p", "n"]] * len(names),
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {"p": levels.size, "n": asked.size}},
            output_dtypes=[float, np.int64, float, float, np.int64, bool, bool],
        )
        result = tables.as_columns(names, columns)
        return result.assign_coords(p=("p", levels), n=("n", asked))

    within = None if population == "infinite" and isinstance(sizes, np.ndarray) else sizes
    return answer(
        data, roles, question, pool_columns(BOUND_COLUMNS, pool),
        able_with(can(random_bound), pool), n=within,
        attrs={"population": population, "pool": pool},
    )  # fmt: skip


def _bound_columns(
    total: IntArray, positive: IntArray, *, p: FloatArray, n: IntArray, population: str
) -> tuple[AnyArray, ...]:
    """Return the bounds for groups of these sizes: (..., p, n)."""
    shape = np.shape(total)
    # compute each group size only once: (size)
    (total, positive), back = unique_rows(np.ravel(total), np.ravel(positive))
    # for a few list sizes, search all groups at once; for many, follow a path within each group
    ask = _side_by_side if n.size <= MOST_SEARCHED else _one_by_one
    result = ask(total, positive, p, n, population)
    return tuple(x[back].reshape(*shape, *x.shape[1:]) for x in result)


def _side_by_side(
    total: IntArray, positive: IntArray, p: FloatArray, n: IntArray, population: str
) -> tuple[AnyArray, ...]:
    """Return bounds for many groups and a few list sizes, using one search."""
    result = _empty_columns(total, p, n)
    expected, discrete, interpolated, parametric, critical, attainable, exists = result
    fits = (n <= total[:, np.newaxis]) | (population == "infinite")
    # one element for each existing list, with the group index and the index of n
    group, place = np.nonzero(fits & (total[:, np.newaxis] > 0))
    size, of_all, of_gold = (x.astype(float) for x in (n[place], total[group], positive[group]))
    prior = of_gold / of_all
    finite = population == "finite"
    drawn_from = FiniteEach(of_all, of_gold) if finite else InfiniteEach(prior)
    most = drawn_from.support(size)[1]
    for level in range(p.size if group.size else 0):
        where = (group, level, place)
        here = bounds_each(float(p[level]), size, drawn_from)
        expected[where], exists[where] = size * prior, True
        discrete[where], critical[where] = here.discrete, here.critical
        attainable[where] = here.critical <= most
        interpolated[where] = here.interpolated
        parametric[where] = parametric_each(float(p[level]), size, prior)
    return result


def _one_by_one(
    total: IntArray, positive: IntArray, p: FloatArray, n: IntArray, population: str
) -> tuple[AnyArray, ...]:
    """Return bounds for many list sizes, moving from size to size in each group."""
    result = _empty_columns(total, p, n)
    expected, discrete, interpolated, parametric, critical, attainable, exists = result
    for group in range(total.size):
        model, prior = population_model(population, float(total[group]), float(positive[group]))
        fits = (n <= total[group]) | (population == "infinite")
        size = n[fits].astype(float)
        for level in range(p.size if total[group] else 0):
            where = (group, level, fits)
            here = bounds(float(p[level]), size, model)
            expected[where], exists[where] = size * prior, True
            discrete[where], critical[where] = here.discrete, here.critical
            attainable[where] = here.critical <= model.support(size)[1]
            interpolated[where] = here.interpolated
            parametric[where] = parametric_bound(float(p[level]), size, prior)
    return result


def _empty_columns(total: IntArray, p: FloatArray, n: IntArray) -> tuple[AnyArray, ...]:
    """Return columns (group, p, n) filled with NaN, 0 or False."""
    shape = (total.size, p.size, n.size)
    expected, interpolated, parametric = (np.full(shape, np.nan) for _ in range(3))
    discrete, critical = (np.zeros(shape, dtype=np.int64) for _ in range(2))
    exists, attainable = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    return expected, discrete, interpolated, parametric, critical, attainable, exists


# ---------------------------------------- The distribution of the count (Macskassy 2005, figure 1)


@Capabilities(
    rankings="Is it better than chance?", scores=False, any_rows=True, any_ties=True, heads=True, layout="row")  # fmt: skip
@with_roles_but(
    "key", "label", "lower_is_better", "ties", "rng",
    measures="Ignored unless missing='drop'.",
)  # fmt: skip
def random_cdf(
    data: Data,
    n: Any,
    *,
    population: str = "finite",
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the distribution of the number of true positives in a random list.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label. Scores are not used.
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n.
    population : {"finite", "infinite"}
        See :func:`random_bound`.
    progress : bool, optional
        Whether to show a progress bar. By default, the bar appears after two seconds.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per n and per number of true positives ``tp`` (Dataset: dimension row). ``tp``
        increases in steps of 0.05, from about four standard deviations below the mean (at least -1)
        to four above. Three columns contain P(X <= tp): ``discrete`` is the exact step function,
        ``interpolated`` is linear between integers, and ``parametric`` is the continuous binomial.

    Notes
    -----
    :func:`random_bound` returns the counts at which the three functions reach 1 - p. For small tail
    probabilities, use :func:`random_pvalue` instead of subtracting from 1.

    References
    ----------
    Macskassy (2005), section 2.1, Eqs 6, 8 and 9 (Eq. 8 corrected), figure 1.

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
    check_choice("population", population, POPULATIONS)
    asked = check_n(n)

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        total, positive = size_now(inner)
        size = xr.DataArray(asked if isinstance(asked, np.ndarray) else sizes, dims="n")
        count, exists = _cdf_grid(size, total, positive)
        if population == "finite":
            exists = exists & (size <= total)
        parts = []
        with progress_bar(
            progress, total=size.size, what="distribution functions", unit="lists"
        ) as advance:
            for start in range(0, max(size.size, 1), _LISTS_AT_ONCE):
                part = {"n": slice(start, start + _LISTS_AT_ONCE)}
                lists = count.isel(part), size.isel(part)
                parts.append(_cdf_columns(*lists, total, positive, population))
                advance(parts[-1].sizes["n"])
        columns = parts[0] if len(parts) == 1 else xr.concat(parts, "n", join="exact")
        result = columns.assign(tp=count, exists=exists)
        return result.transpose(*total.dims, "n", "_point").assign_coords(n=("n", size.to_numpy()))

    return answer(
        data, roles, question, ("n", "tp", *TAIL_METHODS), can(random_cdf),
        n=None if population == "infinite" and isinstance(asked, np.ndarray) else asked,
        attrs={"population": population},
    )  # fmt: skip


_STEPS_PER_COUNT = 20  # values of a distribution function from one integer to the next
_DEVIATIONS = 4.0  # the grid extends this many standard deviations to either side of the mean
_LISTS_AT_ONCE = 100  # number of lists between progress bar updates


def _cdf_columns(
    count: xr.DataArray,
    size: xr.DataArray,
    total: xr.DataArray,
    positive: xr.DataArray,
    population: str,
) -> xr.Dataset:
    """Return distribution functions for these list sizes at counts (..., n, _point)."""
    known = (size, total, positive)
    step = np.arange(count.sizes["_point"])
    # tails are exact at integers; between integers, the interpolated function is linear
    whole = xr.DataArray(np.arange(step.size // _STEPS_PER_COUNT + 2), dims="_whole")
    exact = _tail(count.isel(_point=0, drop=True) + whole, *known, "discrete", population)
    at, after = (
        exact.isel(_whole=xr.DataArray(step // _STEPS_PER_COUNT + k, dims="_point")) for k in (0, 1)
    )
    rest = xr.DataArray(step % _STEPS_PER_COUNT / _STEPS_PER_COUNT, dims="_point")
    return xr.Dataset(
        {
            "discrete": 1.0 - at,
            "interpolated": 1.0 - ((1.0 - rest) * at + rest * after),
            "parametric": 1.0 - _tail(count, *known, "parametric", population),
        }
    )


def _cdf_grid(
    n: xr.DataArray, total: xr.DataArray, positive: xr.DataArray
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the counts at which to evaluate a distribution function, and a mask."""
    prior = positive / np.maximum(total, 1)
    mean = n * prior
    spread = _DEVIATIONS * (mean * (1.0 - prior)) ** 0.5 + 1.0
    first = ((mean - spread) // 1.0).clip(min=-1.0)
    last = (mean + spread) // 1.0 + 1.0
    last = last.where(last < n, n)
    points = int(_STEPS_PER_COUNT * (last - first).max()) + 1 if n.size and total.size else 1
    check_memory(
        12.0 * points * last.size,  # about 12 arrays: columns and intermediate results
        f"the distribution functions of {last.size:,} lists have up to {points:,} points each",
        "Pass only the list sizes you need, n=...",
    )
    step = xr.DataArray(np.arange(points), dims="_point") / _STEPS_PER_COUNT
    return step + first, (step <= last - first) & (total > 0)


def _tail(
    count: xr.DataArray,
    n: xr.DataArray,
    total: xr.DataArray,
    positive: xr.DataArray,
    method: str,
    population: str,
) -> xr.DataArray:
    """Return P(X > count) by the given method."""
    options = {"method": method, "population": population}
    result: xr.DataArray = xr.apply_ufunc(_strict_tail, count, n, total, positive, kwargs=options)
    return result


def _strict_tail(
    count: FloatArray, n: AnyArray, total: AnyArray, positive: AnyArray, **options: Any
) -> FloatArray:
    total = np.maximum(total, 1)
    inside = np.minimum(n, total) if options["population"] == "finite" else n
    result: FloatArray = random_pvalue(
        count, inside, n_candidates=total, n_positive=positive, strict=True, **options
    )
    return result
