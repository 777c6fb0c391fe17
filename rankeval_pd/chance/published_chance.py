"""Define populations, and apply the random model to published numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rankeval_pd.errors import brief, check_choice, check_share, check_shares, checked_call
from rankeval_pd.forms.rankings.values import Shares, Sizes, check_n, check_not_above
from rankeval_pd.forms.roles.roles import ListSizes, PopulationKind, TailMethod
from rankeval_pd.memory import check_memory
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.binomial import log_betainc
from rankeval_pd.stats.distributions.binomial import tails as binomial_tails
from rankeval_pd.stats.distributions.hypergeometric import Tails
from rankeval_pd.stats.distributions.hypergeometric import tails as hypergeometric_tails
from rankeval_pd.stats.distributions.populations import (
    Finite,
    Infinite,
    Population,
    binomial_laws,
    hypergeometric_laws,
    tails_of_sum,
)
from rankeval_pd.stats.random_model.random_counts import bounds, parametric_bound

# ------------------------------------------------------------------------------- Published numbers

TAIL_METHODS = ("discrete", "interpolated", "parametric")


@checked_call
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
    p : float or list of float
        Significance levels, 0 < p <= 1.
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n from 1 to ``n_candidates``.
    n_candidates, n_positive : int
        Number of candidates N, and number of true positives N+.
    population : {"finite", "infinite"}
        See :func:`random_bound`.
    prior : float
        Prevalence, as an alternative to ``n_candidates`` and ``n_positive``. The population is then
        infinite, and ``n`` is required.

    Returns
    -------
    DataFrame
        The columns ``p, n, expected, discrete, interpolated, parametric, critical, attainable``, as
        in :func:`random_bound`.

    Notes
    -----
    If you request only a few list sizes, N can be as large as a billion.

    References
    ----------
    Macskassy (2005), Table 2 (N = 16,769, N+ = 3,123).

    Examples
    --------
    >>> import rankeval_pd
    >>> table = rankeval_pd.random_bound_for(0.1, [5, 10], n_candidates=16769, n_positive=3123)
    >>> table
         p   n  expected  discrete  interpolated  parametric  critical  attainable
    0  0.1   5  0.931183         2      1.721096    1.582719         3        True
    1  0.1  10  1.862365         3      2.988192    2.982536         4        True
    """
    model, share, total = _published_model(population, n_candidates, n_positive, prior)
    levels, wanted = check_shares("p", p, one=True), check_n(n)
    if not isinstance(wanted, np.ndarray) and total is None:
        raise ValueError(
            f"n={n!r} needs a finite number of candidates, but the population is infinite. Pass"
            " whole numbers."
        )
    sizes, shares = _sizes_of(wanted, total or 0)
    if isinstance(model, Finite):
        check_not_above(sizes, int(model.total))
    parts = []
    for level in levels.tolist():
        columns = {"p": level, "n": sizes, **bound_columns(level, sizes, model, share), **shares}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def bound_columns(
    p: float, n: IntArray, model: Population, prior: float
) -> dict[str, FloatArray | IntArray | BoolArray]:
    """Return the bounds at level p for lists from one population."""
    size = n.astype(float)
    found = bounds(p, size, model)
    return {
        "expected": size * prior,
        "discrete": found.discrete.astype(np.int64),
        "interpolated": found.interpolated,
        "parametric": parametric_bound(p, size, prior),
        "critical": found.critical.astype(np.int64),
        "attainable": found.critical <= model.support(size)[1],
    }


def _sizes_of(n: Sizes, total: int) -> tuple[IntArray, dict[str, FloatArray]]:
    """Return list sizes for ``total`` candidates, and any requested fractions."""
    if isinstance(n, Shares):
        return n.of(total), {"share": n.values}  # noqa: PD011
    if n is None:
        return np.arange(1, total + 1), {}
    return n, {}


def _published_model(
    population: str, n_candidates: Any, n_positive: Any, prior: Any
) -> tuple[Population, float, int | None]:
    """Return the population, the prevalence, and N if N is known."""
    check_choice("population", population, POPULATIONS)
    _check_population(n_candidates, n_positive, prior)
    if prior is not None:
        none = isinstance(prior, int | float | np.number) and prior == 0 and prior is not False
        share = 0.0 if none else check_share("prior", prior, one=True)
        return Infinite(share), share, None
    total, positive = (
        check_whole("n_candidates", n_candidates),
        check_whole("n_positive", n_positive),
    )
    if positive > total or total < 1:
        raise ValueError(
            f"n_positive={positive} of n_candidates={total}: there must be at least one candidate,"
            " and no more positives than candidates. Pass n_candidates before n_positive."
        )
    model, share = population_model(population, float(total), float(positive))
    return model, share, total


def _check_population(n_candidates: Any, n_positive: Any, prior: Any) -> None:
    """Raise a ValueError unless either the two numbers or the prevalence are passed."""
    if prior is not None and (n_candidates is not None or n_positive is not None):
        raise ValueError(
            f"prior={prior!r} replaces n_candidates and n_positive. Omit prior, or omit"
            " n_candidates and n_positive."
        )
    if prior is None and (n_candidates is None or n_positive is None):
        raise ValueError(
            f"n_candidates={n_candidates!r}, n_positive={n_positive!r}: pass both numbers, or only "
            "the share of positives, prior=..."
        )


def check_whole(argument: str, value: Any) -> int:
    """Return the value as a count, or raise an error if the value is not a count."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ValueError(f"{argument}={value!r}: pass a whole number of at least 0.")
    return int(value)


@checked_call
def random_pvalue(
    tp: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    n_candidates: Any = None,
    n_positive: Any = None,
    method: TailMethod = "discrete",
    strict: bool = False,
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
    n_candidates, n_positive : int or array of int
        Number of candidates N, and number of true positives N+.
    method : {"discrete", "interpolated", "parametric"}
        The exact tail probability, its interpolation between integers (Macskassy 2005), or the
        continuous binomial tail probability. The binomial tail is used for both populations.
    strict : bool
        Whether to return P(X > floor(tp)), as in Macskassy (2005). By default, the function returns
        P(X >= tp), the standard p-value. For a fractional tp the two discrete values are equal. By
        default Macskassy's interpolated and parametric curves are evaluated at tp - 1.
    population : {"finite", "infinite"}
        See :func:`random_bound`.
    prior : float or array
        Prevalence, instead of ``n_candidates`` and ``n_positive``. The population is then infinite.
    log : bool
        Whether to return log10 p, which does not underflow.

    Returns
    -------
    float or array
        A float if all arguments are scalars. Arrays are broadcast.

    References
    ----------
    Macskassy (2005), section 2.1, Eqs 8 and 9 (corrected), Table 2.

    Examples
    --------
    >>> import rankeval_pd
    >>> stocks = {"n_candidates": 16769, "n_positive": 3123}
    >>> round(rankeval_pd.random_pvalue(2, 5, **stocks, strict=True), 3)  # Table 2
    0.048
    >>> round(rankeval_pd.random_pvalue(2, 5, **stocks), 3)
    0.235
    """
    check_choice("method", method, TAIL_METHODS)
    check_choice("population", population, POPULATIONS)
    _check_population(n_candidates, n_positive, prior)
    for name, given in (("tp", tp), ("n", n), ("prior", 0 if prior is None else prior)):
        if np.asarray(given).dtype.kind not in "iuf":
            raise TypeError(f"{name}={given!r}: pass a number, or an array of numbers.")
    if prior is not None:
        count, size, share = _broadcast(tp=tp, n=n, prior=prior)
        total = positive = np.zeros(count.shape)
        population = "infinite"
        if not ((share >= 0) & (share <= 1)).all():
            raise ValueError(f"prior={prior!r}: pass the share of positives, a number from 0 to 1.")
    else:
        count, size, total, positive = _broadcast(
            tp=tp, n=n, n_candidates=n_candidates, n_positive=n_positive
        )
        check_counts(size, total, positive, finite=population == "finite")
        share = positive / np.maximum(total, 1)
    count, size, total, positive, share = (
        np.asarray(x, dtype=float) for x in (count, size, total, positive, share)
    )
    if not np.isfinite(count).all() or (size < 0).any() or (size != np.floor(size)).any():
        raise ValueError(
            f"tp={tp!r}, n={n!r}: pass a finite number for tp, and a whole number of at least 0 for"
            " n."
        )
    # all three methods compute P(X > at), and P(X >= tp) is P(X > tp - 1)
    at = count if strict else count - 1.0
    if method == "parametric":
        log_p = _log_parametric(at, size, share)
    else:
        at = at if strict or method == "interpolated" else np.ceil(count) - 1.0
        whole = np.floor(at)

        def log_tail(i: FloatArray) -> FloatArray:
            if population == "infinite":
                return binomial_tails(i, size, share).gt
            return hypergeometric_tails(i, total, positive, size).gt

        log_p = log_tail(whole)
        if method == "interpolated":
            rest = at - whole
            with np.errstate(divide="ignore"):
                log_p = np.where(
                    rest == 0.0,
                    log_p,
                    np.logaddexp(
                        np.log1p(-rest) + log_p,
                        np.log(rest) + log_tail(whole + 1.0),
                    ),
                )
    result = np.asarray(log_p) / LOG_10 if log else np.exp(log_p)
    return float(result) if np.ndim(result) == 0 else result


def _broadcast(**given: Any) -> tuple[AnyArray, ...]:
    """Broadcast the values to a common shape, or raise an error."""
    shapes = {name: np.shape(values) for name, values in given.items()}
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        shown = ", ".join(f"{name} of shape {shape}" for name, shape in shapes.items() if shape)
        raise ValueError(
            f"{shown}: the shapes do not match. Pass the same number of values for each argument,"
            " or a single number."
        ) from None
    return np.broadcast_arrays(*given.values())


@checked_call
def random_pvalue_mean(
    mean_tp: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    n_candidates: npt.ArrayLike,
    n_positive: npt.ArrayLike,
    n_queries: int,
    decimals: int | None = None,
) -> Any:
    """Return the probability that random rankings for several queries reach a mean.

    Parameters
    ----------
    mean_tp : float or array
        Mean number of true positives in the lists of all queries (or reviewers, or samples).
    n, n_candidates, n_positive : int or array of int
        Size of the list, number of candidates, and number of true positives. Pass one value per
        query if the queries differ.
    n_queries : int
        Number of queries.
    decimals : int, optional
        Number of decimal places in the published mean. By default, the mean is exact.

    Returns
    -------
    float or array
        P(S >= s). S is the sum of true positives over queries whose rankings are random and
        independent. s is n_queries * mean_tp, rounded up unless this product is an integer to
        within 1e-9. With ``decimals``, s is the smallest sum whose mean rounds to the published
        mean. Exact halves can round up or down, so the p-value is the largest possible value.

    Raises
    ------
    ValueError
        If no sum over ``n_queries`` queries has a mean that rounds to ``mean_tp``.

    Notes
    -----
    The p-value is computed from the exact convolution of the queries' hypergeometric distributions.
    Relative errors are about 1e-12.

    References
    ----------
    Macskassy (2005), Tables 3 and 4, which treat a mean as if it came from a single list.

    Examples
    --------
    In Table 3, 15 reviewers find 5.7 relevant papers among 10 on average (p = 0.079). In total 47
    of 117 papers are relevant:

    >>> import rankeval_pd
    >>> p = rankeval_pd.random_pvalue_mean(
    ...     5.7, 10, n_candidates=117, n_positive=47, n_queries=15, decimals=1
    ... )
    >>> print(f"{p:.3g}")
    1.59e-05
    """
    queries = check_whole("n_queries", n_queries)
    if queries < 1:
        raise ValueError(
            f"n_queries={n_queries!r}: a mean needs at least one query. Pass the number of queries."
        )
    given = {"n": n, "n_candidates": n_candidates, "n_positive": n_positive}
    for name, values in given.items():
        if np.shape(values) not in ((), (1,), (queries,)):
            raise ValueError(
                f"{name} has {np.size(values)} values for n_queries={queries}. Pass one value, or "
                "one per query."
            )
    check_memory(3 * queries, f"n_queries={queries} queries", "Pass fewer.")
    sizes, total, positive = (np.broadcast_to(np.asarray(x), (queries,)) for x in given.values())
    check_counts(sizes, total, positive, finite=True)
    means = np.asarray(mean_tp)
    if means.dtype.kind not in "iuf" or not np.isfinite(means).all():
        raise TypeError(f"mean_tp={mean_tp!r}: pass a number, or an array of numbers.")
    result = np.empty(means.shape)
    for where in np.ndindex(means.shape):
        count = _smallest_sum(float(means[where]), queries, decimals)
        result[where] = np.exp(sum_tails(count, sizes, total, positive, "finite").ge)
    return float(result) if result.ndim == 0 else result


def _smallest_sum(mean: float, queries: int, decimals: int | None) -> float:
    """Return the smallest sum whose mean equals ``mean`` or rounds to ``mean``."""
    if decimals is None:
        nearest = round(queries * mean)
        return float(
            nearest if abs(queries * mean - nearest) <= 1e-9 else math.ceil(queries * mean)
        )
    # use fractions, so that float rounding cannot change the result
    unit = Fraction(1, 10 ** check_whole("decimals", decimals))
    printed = round(Fraction(mean) / unit) * unit
    if abs(float(printed) - mean) > 1e-9:
        raise ValueError(
            f"mean_tp={mean!r} has more decimal places than decimals={decimals!r}. Pass the number"
            " of printed decimal places, or None if the mean is exact."
        )
    smallest = math.ceil((printed - unit / 2) * queries)
    if smallest > (printed + unit / 2) * queries:
        raise ValueError(
            f"mean_tp={mean!r}: with n_queries={queries} and decimals={decimals!r}, no counts have"
            f" this mean (the nearest means are {(smallest - 1) / queries:.6g} and"
            f" {smallest / queries:.6g}). Check mean_tp and n_queries."
        )
    return float(smallest)


def check_counts(n: AnyArray, total: AnyArray, positive: AnyArray, *, finite: bool) -> None:
    """Raise a ValueError if the counts are invalid or contradict each other."""
    for name, values in (("n", n), ("n_candidates", total), ("n_positive", positive)):
        if (
            values.dtype.kind not in "iuf"
            or (values != np.floor(values)).any()
            or (values < 0).any()
        ):
            raise ValueError(
                f"{name}={brief(values)}: pass counts, which must be nonnegative integers."
            )
    if (positive > total).any() or (finite and (n > total).any()):
        raise ValueError(
            f"n={brief(n)}, n_candidates={brief(total)}, n_positive={brief(positive)}: n and "
            "n_positive cannot exceed n_candidates. To allow any n, pass population='infinite'."
        )


def _log_parametric(x: FloatArray, n: FloatArray, share: FloatArray) -> FloatArray:
    """Return log I_z(x + 1, n - x), which is 0 for x <= -1 and -inf for x >= n."""
    result = np.where(x <= -1.0, 0.0, -np.inf)
    inside = (x > -1.0) & (x < n)
    for z in np.unique(share[inside]) if inside.any() else ():
        here = inside & (share == z)
        if 0.0 < z < 1.0:
            result[here] = log_betainc(x[here] + 1.0, n[here] - x[here], float(z))
        else:
            result[here] = 0.0 if z == 1.0 else -np.inf
    return result


# ------------------------------------------------------------------------------------- Populations

POPULATIONS = ("finite", "infinite")
LOG_10 = math.log(10.0)


def population_model(population: str, total: float, positive: float) -> tuple[Population, float]:
    """Return the population and its prevalence."""
    finite = Finite(total, positive)
    return (finite if population == "finite" else Infinite(finite.prior)), finite.prior


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
