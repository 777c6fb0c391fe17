"""Is it better than chance? The random model of Macskassy (2005)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from rankeval_pd.candidates import Data, answer, check_not_above, common_size
from rankeval_pd.errors import check_choice, check_n, check_share, check_shares
from rankeval_pd.roles import RoleKeywords, Roles
from rankeval_pd.stats import ranking
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.beta import log_betainc
from rankeval_pd.stats.binomial import tails as binomial_tails
from rankeval_pd.stats.boundary import adjusted, envelope
from rankeval_pd.stats.bounds import bounds, parametric_bound
from rankeval_pd.stats.hypergeometric import tails as hypergeometric_tails
from rankeval_pd.stats.populations import Finite, Infinite, Population
from rankeval_pd.stats.sums import binomial_laws, hypergeometric_laws, tails_of_sum
from rankeval_pd.stats.tails import Tails
from rankeval_pd.stats.tied import averaged_tails

BOUND_COLUMNS = ("p", "n", "expected", "discrete", "interpolated", "parametric", "critical")
TEST_COLUMNS = (
    "measure", "n", "tp", "expected", "lift", "p_value", "p_mid", "p_strict", "log10_p",
    "p_adjusted",
)  # fmt: skip
ENVELOPE_COLUMNS = ("alpha", "n", "expected", "envelope", "local_level")
POPULATIONS = ("finite", "infinite")
METHODS = ("discrete", "interpolated", "parametric")
ADJUSTMENTS = (None, "envelope")
_LOG10 = math.log(10.0)


def random_bound(
    data: Data,
    p: float | Sequence[float] = 0.05,
    n: Any = None,
    *,
    population: str = "finite",
    **roles: Unpack[RoleKeywords],
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
          min(n, N+) + 1 where no count is significant.

    Notes
    -----
    Each bound is for one n. Over all n, a random ranking reaches the bound somewhere with a
    probability far above p. Two probabilities are equal up to a relative 1e-12. At p = 1 the
    bounds are the lowest possible count. For every n the cost is O(N), a second for a million
    candidates; for a few n it is that of a few tails, whatever N.

    References
    ----------
    Macskassy (2005), Eqs 5 to 9 (Eq. 8 corrected), 12 to 18, section 3.2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.random_bound(0.5, 20).round(4)
         p   n  expected  discrete  interpolated  parametric  critical
    0  0.5  20       4.0         4        3.4254      3.3961         5
    """
    check_choice("population", population, POPULATIONS)
    levels, sizes = check_shares("p", p, one=True), check_n(n)

    def question(inner: xr.Dataset, found: IntArray) -> xr.Dataset:
        asked = found if sizes is None else sizes
        names = (*BOUND_COLUMNS[2:], "exists")
        columns = xr.apply_ufunc(
            _bound_columns,
            *common_size(inner),
            kwargs={"p": levels, "n": asked, "population": population},
            input_core_dims=[[], []],
            output_core_dims=[["p", "n"]] * len(names),
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {"p": levels.size, "n": asked.size}},
            output_dtypes=[float, np.int64, float, float, np.int64, bool],
        )
        result = xr.Dataset(dict(zip(names, columns, strict=True)))
        return result.assign_coords(p=("p", levels), n=("n", asked))

    within = sizes if population == "finite" else None
    attrs = {"population": population}
    return answer(data, roles, question, BOUND_COLUMNS, n=within, scored=False, attrs=attrs)


def _bound_columns(
    total: IntArray, positive: IntArray, *, p: FloatArray, n: IntArray, population: str
) -> tuple[AnyArray, ...]:
    total, positive = np.asarray(total), np.asarray(positive)
    shape = (*total.shape, p.size, n.size)
    expected, interpolated, parametric = (np.full(shape, np.nan) for _ in range(3))
    discrete, critical = (np.zeros(shape, dtype=np.int64) for _ in range(2))
    exists = np.zeros(shape, dtype=bool)
    for batch in np.ndindex(total.shape):
        model, prior = _model(population, float(total[batch]), float(positive[batch]))
        fits = (n <= total[batch]) | (population == "infinite")
        size = n[fits].astype(float)
        for level in range(p.size if total[batch] else 0):
            where = (*batch, level, fits)
            found = bounds(float(p[level]), size, model)
            expected[where], exists[where] = size * prior, True
            discrete[where], critical[where] = found.discrete, found.critical
            interpolated[where] = found.interpolated
            parametric[where] = parametric_bound(float(p[level]), size, prior)
    return expected, discrete, interpolated, parametric, critical, exists


def _model(population: str, total: float, positive: float) -> tuple[Population, float]:
    finite = Finite(total, positive)
    return (finite if population == "finite" else Infinite(finite.prior)), finite.prior


def random_cdf(
    data: Data, n: Any, *, population: str = "finite", **roles: Unpack[RoleKeywords]
) -> Data:
    """Return how the true positives of a random list are distributed, whole counts and between.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label; their scores play no part.
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n.
    population : {"finite", "infinite"}
        See :func:`random_bound`.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per n and number ``tp`` of true positives (Dataset: dimension row), in steps of a
        twentieth, from -1 or some four standard deviations below the mean to as many above it:
        ``n``, ``tp``, and P(X <= tp): ``discrete``, of the whole counts; ``interpolated`` between
        them; ``parametric``, that of the binomial made continuous.

    Notes
    -----
    :func:`random_bound` at p is where these reach 1 - p. For small tails take
    :func:`random_pvalue`: they are not 1 minus these.

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
        total, positive = (x.compute() for x in common_size(inner))
        size = xr.DataArray(sizes if asked is None else asked, dims="n")
        count, exists = _grid(size, total, positive)
        if population == "finite":
            exists = exists & (size <= total)
        columns = {
            method: 1.0
            - xr.apply_ufunc(
                _strict_tail,
                count,
                size,
                total,
                positive,
                kwargs={"method": method, "population": population},
            )
            for method in METHODS
        }
        result = xr.Dataset({"tp": count, **columns, "exists": exists})
        return result.transpose(*total.dims, "n", "_point").assign_coords(n=("n", size.to_numpy()))

    return answer(
        data,
        roles,
        question,
        ("n", "tp", *METHODS),
        n=asked if population == "finite" else None,
        scored=False,
        rows_only=True,
        any_ties=True,
        attrs={"population": population},
    )


_STEPS = 20  # values of a distribution function from one whole count to the next
_DEVIATIONS = 4.0


def _grid(
    n: xr.DataArray, total: xr.DataArray, positive: xr.DataArray
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the counts at which a distribution function is drawn, and which of them exist."""
    prior = positive / np.maximum(total, 1)
    mean = n * prior
    spread = _DEVIATIONS * (mean * (1.0 - prior)) ** 0.5 + 1.0
    first = ((mean - spread) // 1.0).clip(min=-1.0)
    last = (mean + spread) // 1.0 + 1.0
    last = last.where(last < n, n)
    points = int(_STEPS * (last - first).max()) + 1 if n.size and total.size else 1
    step = xr.DataArray(np.arange(points), dims="_point") / _STEPS
    return step + first, (step <= last - first) & (total > 0)


def _strict_tail(
    count: FloatArray, n: AnyArray, total: AnyArray, positive: AnyArray, **options: Any
) -> FloatArray:
    total = np.maximum(total, 1)
    inside = np.minimum(n, total) if options["population"] == "finite" else n
    found: FloatArray = random_pvalue(
        count, inside, n_candidates=total, n_positive=positive, strict=True, **options
    )
    return found


def random_bound_for(
    p: float | Sequence[float],
    n: Any = None,
    *,
    n_candidates: int | None = None,
    n_positive: int | None = None,
    population: str = "finite",
    prior: float | None = None,
) -> pd.DataFrame:
    """Return the bounds of :func:`random_bound` for published figures.

    Parameters
    ----------
    p : float or list of float
        Levels, 0 < p <= 1.
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n from 1 to ``n_candidates``.
    n_candidates, n_positive : int
        Number of candidates N and of true positives N+ among them.
    population : {"finite", "infinite"}
        See :func:`random_bound`.
    prior : float
        The share of positives, in place of the two numbers; the population is then infinite, and
        n must be given.

    Returns
    -------
    DataFrame
        Columns ``p, n, expected, discrete, interpolated, parametric, critical`` as in
        :func:`random_bound`.

    Notes
    -----
    N may be a thousand million for chosen n.

    References
    ----------
    Macskassy (2005), Table 2 (N = 16,769, N+ = 3,123).

    Examples
    --------
    >>> import rankeval_pd
    >>> table = rankeval_pd.random_bound_for(0.1, [5, 10], n_candidates=16769, n_positive=3123)
    >>> table.round(2)
         p   n  expected  discrete  interpolated  parametric  critical
    0  0.1   5      0.93         2          1.72        1.58         3
    1  0.1  10      1.86         3          2.99        2.98         4
    """
    model, share, total = _published_model(population, n_candidates, n_positive, prior)
    levels, sizes = check_shares("p", p, one=True), check_n(n)
    if sizes is None:
        if total is None:
            raise ValueError("n=None: an infinite population has no last n. Give the n asked for.")
        sizes = np.arange(1, total + 1)
    if isinstance(model, Finite):
        check_not_above(sizes, int(model.total))
    parts = []
    for level in levels:
        found = bounds(float(level), sizes.astype(float), model)
        parts.append(
            pd.DataFrame(
                {
                    "p": level,
                    "n": sizes,
                    "expected": sizes * share,
                    "discrete": found.discrete.astype(np.int64),
                    "interpolated": found.interpolated,
                    "parametric": parametric_bound(float(level), sizes.astype(float), share),
                    "critical": found.critical.astype(np.int64),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _published_model(
    population: str, n_candidates: Any, n_positive: Any, prior: Any
) -> tuple[Population, float, int | None]:
    check_choice("population", population, POPULATIONS)
    _check_given(n_candidates, n_positive, prior)
    if prior is not None:
        share = 0.0 if prior == 0 else check_share("prior", prior, one=True)
        return Infinite(share), share, None
    total, positive = (
        _whole("n_candidates", n_candidates),
        _whole("n_positive", n_positive),
    )
    if positive > total or total < 1:
        raise ValueError(
            f"n_positive={positive} of n_candidates={total}: there is at least one candidate, and"
            " no more positives than candidates. Is it n_candidates first?"
        )
    model, share = _model(population, float(total), float(positive))
    return model, share, total


def _check_given(n_candidates: Any, n_positive: Any, prior: Any) -> None:
    """Raise a ValueError unless the two numbers are given, or else the share of positives."""
    if prior is not None and (n_candidates is not None or n_positive is not None):
        raise ValueError(
            f"prior={prior!r} stands in the place of n_candidates and n_positive. Give either."
        )
    if prior is None and (n_candidates is None or n_positive is None):
        raise ValueError(
            f"n_candidates={n_candidates!r}, n_positive={n_positive!r}: give both numbers, or the"
            " share of positives alone: prior=..."
        )


def _whole(argument: str, value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ValueError(f"{argument}={value!r}: give a whole number of 0 or more.")
    return int(value)


def random_envelope(
    data: Data,
    alpha: float | Sequence[float] = 0.05,
    n: Any = None,
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Return counts that a random ranking reaches at any n asked for with probability alpha.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label; their scores play no part.
    alpha : float or list of float
        Levels, 0 < alpha < 1.
    n : int, sequence of int, range or None
        The sizes of lists that are looked at; None is every n from 1 to the number of candidates.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per alpha and n (Dataset: dimensions alpha and n):

        * ``expected``: mean number of true positives, n N+ / N;
        * ``envelope``: a random ranking has as many true positives at one n asked for or more with
          a probability of at most alpha; min(n, N+) + 1 where no count is out of reach enough;
        * ``local_level``: the largest P(X >= envelope) at a single n.

    Notes
    -----
    The envelope has the same level t at every n: it is ``critical`` of :func:`random_bound` at
    p = t, for the largest t that keeps the promise. The probability is exact, by the paper's
    recursion with what reaches the envelope taken out. It depends on the n asked for: name those
    that you look at, such as ``range(100, 2001)``. Where equal scores are to count as one block,
    name the ends of blocks.

    Cost: half a second for every n of 5,102 candidates, seven for every n of 100,000 with 10,000
    positives. Relative errors of the probability are about 1e-12.

    References
    ----------
    Macskassy (2005), Eqs 12 to 15, here with absorption; figure 7 joins bounds that hold for
    one n each. S. Aldor-Noiman et al. (2013), The power to see, American Statistician 67: equal
    local levels.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.random_envelope(0.05, [10, 20, 40]).round(4)
       alpha   n  expected  envelope  local_level
    0   0.05  10       2.0         6       0.0268
    1   0.05  20       4.0         8       0.0268
    2   0.05  40       8.0        13       0.0268
    """
    levels = check_shares("alpha", alpha)

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        names = (*ENVELOPE_COLUMNS[2:], "exists")
        columns = xr.apply_ufunc(
            _envelope_columns,
            *common_size(inner),
            kwargs={"alpha": levels, "n": sizes},
            input_core_dims=[[], []],
            output_core_dims=[["alpha", "n"]] * len(names),
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {"alpha": levels.size, "n": sizes.size}},
            output_dtypes=[float, np.int64, float, bool],
        )
        result = xr.Dataset(dict(zip(names, columns, strict=True)))
        return result.assign_coords(alpha=("alpha", levels), n=("n", sizes))

    return answer(data, roles, question, ENVELOPE_COLUMNS, n=check_n(n), scored=False)


def _envelope_columns(
    total: IntArray, positive: IntArray, *, alpha: FloatArray, n: IntArray
) -> tuple[AnyArray, ...]:
    total, positive = np.asarray(total), np.asarray(positive)
    shape = (*total.shape, alpha.size, n.size)
    expected, local = np.full(shape, np.nan), np.full(shape, np.nan)
    counts, exists = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    sizes = np.stack([total, positive], axis=-1).reshape(-1, 2)
    for size in np.unique(sizes, axis=0):  # groups of one size share their envelope
        same = (sizes == size).all(axis=-1).reshape(total.shape)
        fits = n <= size[0]
        model = Finite(*size.astype(float).tolist())
        for level in range(alpha.size):
            found = envelope(float(alpha[level]), n[fits].astype(float), model)
            where = np.ix_(np.flatnonzero(same), np.array([level]), np.flatnonzero(fits))
            for column, values in (
                (expected, n[fits] * model.prior),
                (counts, found.counts),
                (local, found.local_level),
                (exists, True),
            ):
                column.reshape(total.size, *shape[-2:])[where] = values
    return expected, counts, local, exists


def random_test(
    data: Data,
    n: Any = None,
    *,
    adjust: str | None = None,
    combine: bool = False,
    population: str = "finite",
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Test whether the n-best lists have more true positives than a random ranking's.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n from 1 to the number of candidates.
    adjust : {None, "envelope"}
        Whether to give ``p_adjusted``, for having looked at all the n asked for.
    combine : bool
        Whether to combine the groups of ``by`` (of a Dataset, all batch dimensions) into one test
        for each n: true positives are added up over the groups that have n candidates.
    population : {"finite", "infinite"}
        See :func:`random_bound`.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n), with ``combine`` for all
        groups together:

        * ``tp``, ``expected``, ``lift``: true positives, their mean in a random list, the ratio;
        * ``p_value``: P(X >= tp), the standard one-sided p-value;
        * ``p_mid``: P(X > tp) + P(X = tp)/2;
        * ``p_strict``: P(X > tp), the paper's. It leaves out what was observed and is too small
          for a test: "p_strict < p" is a test of a size above p;
        * ``log10_p``: log10 of p_value, finite where p_value underflows;
        * ``p_adjusted``: with ``adjust="envelope"``, the probability that the smallest p-value of
          a random ranking, over the n asked for, is as small as this; else NaN.

        Under ``ties="expected"`` ``tp`` is the mean over the orders of equal scores, and the
        p-values are those of this mean if the labels are in random order, exactly; under "best"
        and "worst" they are those of an ordinary list with the count that the best or worst order
        has: bounds to look at, not tests, because these orders were chosen by the labels.

    Notes
    -----
    Each ``p_value`` is for one n. The test is exact if every order of the candidates is equally
    likely under the null hypothesis. Errors are below 1e-11 relative. Cost: sorting, and for each
    n a series of some eight standard deviations of X, fewer in the tail.

    The smallest ``p_adjusted`` of a measure is its global p-value: of the hypothesis that the
    whole ranking, as far as it was looked at, is random. It is that hypothesis that is rejected
    with an error of at most alpha, and not one n or another. ``p_adjusted`` at most alpha and tp
    at or above :func:`random_envelope` say the same. Each n takes one recursion over all n asked
    for: eight seconds for a measure at every n of 5,102 candidates, and a tenth of a second for
    each n where the largest is 100,000.

    With ``combine``, tp is the sum of independent counts, each of its group's own law, and the
    p-values are the exact tails of their sum. To test the average as if it were one list, as the
    paper's Tables 3 and 4 do, is wrong by orders of magnitude.

    References
    ----------
    Macskassy (2005), Eqs 5, 6, and 12 to 15, section 3.2. Smallest p-values: P. H. Westfall
    and S. S. Young (1993), Resampling-based multiple testing; here the law is exact.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, True, False, False]})
    >>> df.rankeval.random_test(2)[["measure", "n", "tp", "expected", "p_value"]]
      measure  n  tp  expected   p_value
    0      G2  2   2       1.0  0.166667
    """
    check_choice("population", population, POPULATIONS)
    check_choice("adjust", adjust, ADJUSTMENTS)
    asked, ties = check_n(n), Roles.of(roles).ties
    if combine and adjust is not None:
        raise ValueError(
            f"combine=True with adjust={adjust!r}: the sum over groups has no envelope. Adjust the"
            " p-values of the groups, or combine them at an n that was chosen before."
        )
    if ties == "expected" and (combine or adjust is not None):
        raise ValueError(
            f"ties='expected' with combine={combine!r}, adjust={adjust!r}: a mean over orders of"
            " equal scores is no count of a random ranking, whose law these need. Give"
            " ties='blocks', or 'shared'."
        )

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        if combine:
            return _counted(inner, sizes, asked=asked, ties=ties)
        names = (*TEST_COLUMNS[2:], "exists")
        found = xr.apply_ufunc(
            _test_columns,
            inner["score"],
            inner["gold"],
            inner["present"],
            kwargs={"n": asked, "population": population, "adjust": adjust, "ties": ties},
            input_core_dims=[["candidate"]] * 3,
            output_core_dims=[["n"]] * len(names),
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {"n": sizes.size}},
            output_dtypes=[float if ties == "expected" else np.int64, *[float] * 7, bool],
        )
        return xr.Dataset(dict(zip(names, found, strict=True))).assign_coords(n=("n", sizes))

    def together(counted: xr.Dataset, batch: list[Hashable]) -> xr.Dataset:
        return _combined(counted, batch, population)

    return answer(
        data,
        roles,
        question,
        TEST_COLUMNS,
        n=asked,
        cuts_lists=True,
        any_ties=True,
        combine=together if combine else None,
        attrs={"population": population, "ties": ties, "adjust": adjust, "combine": combine},
    )


def _test_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    *,
    n: IntArray | None,
    population: str,
    adjust: str | None,
    ties: str,
) -> tuple[AnyArray, ...]:
    lists = ranking.nbest(score, gold, present, n, ties)
    n = np.arange(1, score.shape[-1] + 1) if n is None else n
    size = ranking.size(gold, present)
    total, positive = size.total[..., np.newaxis], size.positive[..., np.newaxis]
    inside = np.minimum(n, np.maximum(total, 1))  # lists that do not exist are cut out later
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = n * np.true_divide(positive, total)
        lift = lists.tp / expected
    if population == "finite":
        found = hypergeometric_tails(np.floor(lists.tp), np.maximum(total, 1), positive, inside)
    else:
        found = binomial_tails(np.floor(lists.tp), n, positive / np.maximum(total, 1))
    log_ge, log_gt, log_mid = found.ge, found.gt, found.mid
    if ties == "expected":
        _average_ties(lists, n, size, population, log_ge, log_gt, log_mid)
    p_value, p_mid, p_strict = (np.exp(x) for x in (log_ge, log_mid, log_gt))
    p_adjusted = np.full_like(p_value, np.nan)
    for row in np.ndindex(p_value.shape[:-1]) if adjust else ():
        here = lists.exists[row]
        model, _ = _model(population, float(size.total[row]), float(size.positive[row]))
        p_adjusted[(*row, here)] = adjusted(
            log_ge[(*row, here)],
            lists.tp[(*row, here)].astype(float),
            n[here].astype(float),
            model,
        )
    log10_p = log_ge / _LOG10
    return lists.tp, expected, lift, p_value, p_mid, p_strict, log10_p, p_adjusted, lists.exists


def _counted(inner: xr.Dataset, n: IntArray, *, asked: IntArray | None, ties: str) -> xr.Dataset:
    """Return the true positives of every list, and the size of its group."""

    def count(score: FloatArray, gold: BoolArray, present: BoolArray) -> tuple[AnyArray, ...]:
        lists = ranking.nbest(score, gold, present, asked, ties)
        return lists.tp, lists.exists, *ranking.size(gold, present)

    tp, exists, total, positive = xr.apply_ufunc(
        count,
        inner["score"],
        inner["gold"],
        inner["present"],
        input_core_dims=[["candidate"]] * 3,
        output_core_dims=[["n"], ["n"], [], []],
        dask="parallelized",
        dask_gufunc_kwargs={"output_sizes": {"n": n.size}},
        output_dtypes=[np.int64, bool, np.int64, np.int64],
    )
    columns = {"tp": tp, "exists": exists, "total": total, "positive": positive}
    return xr.Dataset(columns).assign_coords(n=("n", n))


def _combined(counted: xr.Dataset, batch: list[Hashable], population: str) -> xr.Dataset:
    """Return the test of the sum over the groups that have a list of n."""
    names = (*TEST_COLUMNS[2:], "exists")
    whole = dict.fromkeys(batch, -1)
    found = xr.apply_ufunc(
        _combined_columns,
        *(
            (x.chunk(whole) if x.chunks is not None else x)
            for x in (counted[name] for name in ("tp", "exists", "total", "positive"))
        ),
        kwargs={"n": counted["n"].to_numpy(), "population": population, "groups": len(batch)},
        input_core_dims=[[*batch, "n"], [*batch, "n"], batch, batch],
        output_core_dims=[["n"]] * len(names),
        dask="parallelized",
        output_dtypes=[np.int64, *[float] * 7, bool],
    )
    return xr.Dataset(dict(zip(names, found, strict=True))).assign_coords(n=counted["n"])


def _combined_columns(
    tp: IntArray,
    exists: BoolArray,
    total: IntArray,
    positive: IntArray,
    *,
    n: IntArray,
    population: str,
    groups: int,
) -> tuple[AnyArray, ...]:
    outer, inner = tp.shape[: -groups - 1], math.prod(tp.shape[-groups - 1 : -1])
    tp, exists = tp.reshape(*outer, inner, n.size), exists.reshape(*outer, inner, n.size)
    total, positive = (x.reshape(*outer, inner) for x in (total, positive))
    # no sum of the groups whose blocks happen to end here: all that have n candidates, or none
    exists = exists & (exists == (n <= total[..., np.newaxis])).all(axis=-2, keepdims=True)
    tp = np.where(exists, tp, 0).sum(axis=-2)
    priors = (positive / np.maximum(total, 1))[..., np.newaxis]
    expected = np.where(exists, priors, 0.0).sum(axis=-2) * n
    tails = np.full((4, *tp.shape), np.nan)
    for place in np.ndindex(tp.shape):
        row, column = place[:-1], place[-1]
        here = exists[(*row, slice(None), column)]
        if here.any():
            sizes = np.full(int(here.sum()), float(n[column]))
            tails[(slice(None), *place)] = _sum_tails(
                float(tp[place]), sizes, total[row][here], positive[row][here], population
            )
    ge, gt, mid, _ = tails
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = tp / expected
    p_value, p_mid, p_strict = (np.exp(x) for x in (ge, mid, gt))
    nothing = np.full_like(ge, np.nan)
    any_list: BoolArray = np.asarray(exists.any(axis=-2))
    return tp, expected, lift, p_value, p_mid, p_strict, ge / _LOG10, nothing, any_list


def _sum_tails(
    count: float, n: FloatArray, total: AnyArray, positive: AnyArray, population: str
) -> Tails:
    """Return the tails of the sum of independent counts in lists of n; equal lists share a law."""
    lists, times = np.unique(np.stack([n, total, positive]), axis=1, return_counts=True)
    n, total, positive = lists.astype(float)
    if population == "infinite":
        laws = binomial_laws(n, positive / np.maximum(total, 1.0))
    else:
        laws = hypergeometric_laws(n, total, positive)
    return tails_of_sum(count, laws, times.astype(np.int64))


def _average_ties(
    lists: ranking.NBest,
    n: IntArray,
    size: ranking.Size,
    population: str,
    *logs: FloatArray,
) -> None:
    """Put in the exact tails of the averaged count where a list cuts a block of equal scores."""
    log_ge, log_gt, log_mid = logs
    for at in zip(*np.nonzero((lists.tied > 0) & lists.exists), strict=True):
        above, tp_above, block, tp = (int(x[at]) for x in lists.block)
        total, positive = (float(x[at[:-1]]) for x in size)
        model, _ = _model(population, total, positive)
        found = averaged_tails(above, tp_above, block, tp, int(n[at[-1]]) - above, model)
        log_ge[at], log_gt[at] = found
        log_mid[at] = np.logaddexp(*found) - math.log(2.0)


def random_pvalue(
    tp: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    n_candidates: Any = None,
    n_positive: Any = None,
    method: str = "discrete",
    strict: bool = False,
    population: str = "finite",
    prior: Any = None,
    log: bool = False,
) -> Any:
    """Return the probability that a random list of n has as many true positives.

    Parameters
    ----------
    tp : float or array
        True positives in the list, their number, not the precision; an average may be fractional.
        A count that no list can have is reached with probability 0 or 1.
    n : int or array of int
        Size of the list.
    n_candidates, n_positive : int or array of int
        Number of candidates N and of true positives N+ among them.
    method : {"discrete", "interpolated", "parametric"}
        The exact tail; the paper's interpolation of it between whole numbers; the binomial tail
        made continuous, whatever the population.
    strict : bool
        False: P(X >= tp), the standard p-value. True: P(X > floor(tp)), the paper's. For a
        fractional tp the discrete two are equal. The interpolated and the parametric curve are
        the paper's if strict, else the paper's at tp - 1.
    population : {"finite", "infinite"}
        See :func:`random_bound`.
    prior : float or array
        The share of positives, in place of ``n_candidates`` and ``n_positive``; the population is
        then infinite.
    log : bool
        Whether to return log10 p, which does not underflow.

    Returns
    -------
    float or array
        A float for scalars; arguments broadcast.

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
    check_choice("method", method, METHODS)
    check_choice("population", population, POPULATIONS)
    _check_given(n_candidates, n_positive, prior)
    for name, given in (("tp", tp), ("n", n), ("prior", 0 if prior is None else prior)):
        if np.asarray(given).dtype.kind not in "iuf":
            raise TypeError(f"{name}={given!r}: give a number, or an array of numbers.")
    if prior is not None:
        count, size, share = np.broadcast_arrays(tp, n, prior)
        total = positive = np.zeros(count.shape)
        population = "infinite"
        if not ((share >= 0) & (share <= 1)).all():
            raise ValueError(f"prior={prior!r}: a share of positives is a number from 0 to 1.")
    else:
        count, size, total, positive = np.broadcast_arrays(tp, n, n_candidates, n_positive)
        _check_counts(size, total, positive, finite=population == "finite")
        share = positive / np.maximum(total, 1)
    count, size, total, positive, share = (
        np.asarray(x, dtype=float) for x in (count, size, total, positive, share)
    )
    if not np.isfinite(count).all() or (size < 0).any() or (size != np.floor(size)).any():
        raise ValueError(
            f"tp={tp!r}, n={n!r}: tp is a finite number, n a whole number of 0 or more."
        )
    at = count if strict else count - 1.0  # all three methods are curves of P(X > at)
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
    result = np.asarray(log_p) / _LOG10 if log else np.exp(log_p)
    return float(result) if np.ndim(result) == 0 else result


def random_pvalue_mean(
    mean_tp: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    n_candidates: npt.ArrayLike,
    n_positive: npt.ArrayLike,
    n_queries: int,
    decimals: int | None = None,
) -> Any:
    """Return the probability that random rankings of several queries have such a mean.

    Parameters
    ----------
    mean_tp : float or array
        Mean number of true positives in the lists of all queries (or reviewers, or samples).
    n, n_candidates, n_positive : int or array of int
        Size of the list, number of candidates and of true positives; where queries differ, one
        value per query.
    n_queries : int
        Number of queries.
    decimals : int, optional
        The decimals that the mean was printed with. None: it is exact.

    Returns
    -------
    float or array
        P(S >= s), S being the sum over the queries, each ranked at random and independently. s is
        n_queries * mean_tp, the whole number that this equals to 1e-9, else the next above. With
        ``decimals``, s is the smallest sum whose mean is printed so (half a unit may have been
        rounded either way), which gives the largest of the p-values that the print allows.

    Raises
    ------
    ValueError
        If no sum of that many queries has a mean that is printed so.

    Notes
    -----
    The exact convolution of the queries' hypergeometric laws; relative errors are about 1e-12.

    References
    ----------
    Macskassy (2005), Tables 3 and 4, where a mean is tested as if it were one list.

    Examples
    --------
    5.7 of 10, the mean of 15 reviewers of 117 papers, 47 of them relevant (Table 3 has .079):

    >>> import rankeval_pd
    >>> p = rankeval_pd.random_pvalue_mean(
    ...     5.7, 10, n_candidates=117, n_positive=47, n_queries=15, decimals=1
    ... )
    >>> print(f"{p:.3g}")
    1.59e-05
    """
    queries = _whole("n_queries", n_queries)
    if queries < 1:
        raise ValueError(f"n_queries={n_queries!r}: a mean is one of 1 query or more.")
    given = {"n": n, "n_candidates": n_candidates, "n_positive": n_positive}
    for name, values in given.items():
        if np.shape(values) not in ((), (1,), (queries,)):
            raise ValueError(
                f"{name} has {np.size(values)} values, and n_queries={queries}. Give one value, or"
                " one per query."
            )
    sizes, total, positive = (np.broadcast_to(np.asarray(x), (queries,)) for x in given.values())
    _check_counts(sizes, total, positive, finite=True)
    means = np.asarray(mean_tp)
    if means.dtype.kind not in "iuf" or not np.isfinite(means).all():
        raise TypeError(f"mean_tp={mean_tp!r}: give a number, or an array of numbers.")
    found = np.empty(means.shape)
    for where in np.ndindex(means.shape):
        count = _smallest_sum(float(means[where]), queries, decimals)
        found[where] = np.exp(_sum_tails(count, sizes, total, positive, "finite").ge)
    return float(found) if found.ndim == 0 else found


def _smallest_sum(mean: float, queries: int, decimals: int | None) -> float:
    """Return the smallest sum that a mean stands for."""
    if decimals is None:
        nearest = round(queries * mean)
        return float(
            nearest if abs(queries * mean - nearest) <= 1e-9 else math.ceil(queries * mean)
        )
    unit = Fraction(1, 10 ** _whole("decimals", decimals))
    printed = round(Fraction(mean) / unit) * unit
    if abs(float(printed) - mean) > 1e-9:
        raise ValueError(
            f"mean_tp={mean!r} has more than decimals={decimals!r} decimals. Give as many as it was"
            " printed with, or None where it is exact."
        )
    smallest = math.ceil((printed - unit / 2) * queries)
    if smallest > (printed + unit / 2) * queries:
        raise ValueError(
            f"mean_tp={mean!r}: no sum of n_queries={queries} counts has a mean that is printed so"
            f" with decimals={decimals!r}; the nearest are {(smallest - 1) / queries:.6g} and"
            f" {smallest / queries:.6g}. Check the number of queries and the mean."
        )
    return float(smallest)


def _check_counts(n: AnyArray, total: AnyArray, positive: AnyArray, *, finite: bool) -> None:
    for name, values in (("n", n), ("n_candidates", total), ("n_positive", positive)):
        if (
            values.dtype.kind not in "iuf"
            or (values != np.floor(values)).any()
            or (values < 0).any()
        ):
            raise ValueError(
                f"{name}={values.tolist()!r}: give counts, whole numbers of 0 or more."
            )
    if (positive > total).any() or (finite and (n > total).any()):
        raise ValueError(
            f"n={n.tolist()!r}, n_candidates={total.tolist()!r}, n_positive={positive.tolist()!r}:"
            " neither n nor n_positive can be above n_candidates. population='infinite' allows"
            " any n."
        )


def _log_parametric(x: FloatArray, n: FloatArray, share: FloatArray) -> FloatArray:
    """Return log I_z(x + 1, n - x): 0 from x = -1 down, -inf from x = n up."""
    result = np.where(x <= -1.0, 0.0, -np.inf)
    inside = (x > -1.0) & (x < n)
    for z in np.unique(share[inside]) if inside.any() else ():
        here = inside & (share == z)
        if 0.0 < z < 1.0:
            result[here] = log_betainc(x[here] + 1.0, n[here] - x[here], float(z))
        else:
            result[here] = 0.0 if z == 1.0 else -np.inf
    return result
