"""What does a random ranking reach in each n-best list? (Macskassy 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
import xarray as xr

from rankeval_pd.chance.populations import POPULATIONS, population_model
from rankeval_pd.errors import check_choice, check_shares
from rankeval_pd.forms import tables
from rankeval_pd.forms.answers import answer, common_size
from rankeval_pd.forms.choices import ListSizes, PopulationKind
from rankeval_pd.forms.n import check_n
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles
from rankeval_pd.forms.spelled_out import with_roles_but
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.populations import FiniteEach, InfiniteEach
from rankeval_pd.stats.random_model.bounds import (
    FEW,
    bounds,
    bounds_each,
    distinct,
    parametric_bound,
    parametric_each,
)

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


@with_roles_but(
    "key", "label", "groups", "lower_is_better", "ties", "rng",
    measures="no effect here, but under missing='drop'.",
)  # fmt: skip
def random_bound(
    data: Data,
    p: float | Sequence[float] = 0.05,
    n: ListSizes = None,
    *,
    population: PopulationKind = "finite",
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return how many true positives a random ranking has in its n-best list.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label; their scores play no part.
    p : float or list of float
        Levels, 0 < p <= 1.
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n from 1 to the number of candidates.
    population : {"finite", "infinite"}
        Whether the list is drawn from these candidates (hypergeometric) or from an endless
        supply with the same share of positives (binomial). "infinite" allows n above N.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per p and n (Dataset: dimensions p and n):

        * ``expected``: mean number of true positives, n N+ / N;
        * ``discrete``: min{i: P(X > i) < p}, the paper's n(k, p). To reach it is a test of a size
          *above* p;
        * ``interpolated``: where the interpolated tail is p; ``parametric``: the same for the
          binomial tail made continuous, whatever the population; both at least 0;
        * ``critical``: min{i: P(X >= i) <= p}. To reach it is a test of level p;
          min(n, N+) + 1 where no count is significant;
        * ``attainable``: whether a list can have ``critical`` true positives at all.

    Notes
    -----
    Each bound is for one n. Over all n, a random ranking reaches the bound somewhere with a
    probability far above p. Two probabilities are equal up to a relative 1e-12. At p = 1 the
    bounds are the lowest possible count. For every n the cost is O(N), a second for a million
    candidates; for a few n it is that of a few tails, whatever N, and up to 64 n of many groups are
    searched side by side, some ten microseconds each. ``parametric`` has errors below 1e-10.

    References
    ----------
    Macskassy (2005), Eqs 5 to 9 (Eq. 8 corrected), 12 to 18, section 3.2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.random_bound(0.5, 20).round(4).drop(columns="attainable")
         p   n  expected  discrete  interpolated  parametric  critical
    0  0.5  20       4.0         4        3.4254      3.3961         5
    """
    check_choice("population", population, POPULATIONS)
    levels, sizes = check_shares("p", p, one=True), check_n(n)

    def question(inner: xr.Dataset, found: IntArray) -> xr.Dataset:
        asked = sizes if isinstance(sizes, np.ndarray) else found
        names = (*BOUND_COLUMNS[2:], "exists")
        columns = xr.apply_ufunc(
            _bound_columns,
            *common_size(inner),
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
    attrs = {"population": population}
    return answer(
        data,
        roles,
        question,
        BOUND_COLUMNS,
        n=within,
        scored=False,
        any_ties=True,
        counted=True,
        any_heads=True,
        attrs=attrs,
    )


def _bound_columns(
    total: IntArray, positive: IntArray, *, p: FloatArray, n: IntArray, population: str
) -> tuple[AnyArray, ...]:
    shape = np.shape(total)
    (total, positive), back = distinct(np.ravel(total), np.ravel(positive))  # equal ones once
    ask = _side_by_side if n.size <= FEW else _one_by_one
    result = ask(total, positive, p, n, population)
    return tuple(x[back].reshape(*shape, *x.shape[1:]) for x in result)


def _side_by_side(
    total: IntArray, positive: IntArray, p: FloatArray, n: IntArray, population: str
) -> tuple[AnyArray, ...]:
    """Return the bounds of a few n for many groups: a search of all lists at once."""
    result = _nothing(total, p, n)
    expected, discrete, interpolated, parametric, critical, attainable, exists = result
    fits = (n <= total[:, np.newaxis]) | (population == "infinite")
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
    """Return the bounds of many n for one group after the other: a path through the n."""
    result = _nothing(total, p, n)
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


def _nothing(total: IntArray, p: FloatArray, n: IntArray) -> tuple[AnyArray, ...]:
    """Return the columns before anything is known: floats are NaN, counts 0."""
    shape = (total.size, p.size, n.size)
    expected, interpolated, parametric = (np.full(shape, np.nan) for _ in range(3))
    discrete, critical = (np.zeros(shape, dtype=np.int64) for _ in range(2))
    exists, attainable = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    return expected, discrete, interpolated, parametric, critical, attainable, exists
