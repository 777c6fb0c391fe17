"""Test n-best lists against random rankings."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.chance.pools import (
    Pool,
    able_with,
    chosen_pool,
    pool_of,
    warn_of_whole_lists,
)
from rankeval_pd.chance.published_chance import LOG_10, POPULATIONS, population_model, sum_tails
from rankeval_pd.errors import check_choice, check_flag
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import ask_measures
from rankeval_pd.forms.rankings.values import Shares, check_n, those
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles
from rankeval_pd.forms.roles.roles import ListSizes, PopulationKind, RankingRoles, Roles
from rankeval_pd.nbest.clustered_lists import of_rows, random_p
from rankeval_pd.nbest.grouped_lists import ListMembers
from rankeval_pd.progress import drawing_bar, nothing_moves
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.binomial import tails as binomial_tails
from rankeval_pd.stats.distributions.hypergeometric import tails as hypergeometric_tails
from rankeval_pd.stats.random_model.boundary import EVERY, simultaneous_p_values
from rankeval_pd.stats.random_model.random_counts import averaged_tails
from rankeval_pd.stats.rankings.ranking import NBest, Ranking, Size

TEST_COLUMNS = (
    "measure", "n", "tp", "expected", "lift", "p_value", "p_mid", "p_strict", "log10_p",
    "p_adjusted", "n_pool",
)  # fmt: skip
_COMBINED = ("n_groups", "n_left_out")
_SIZES = ("here", "found", "total", "positive")  # sizes: data, retrieved, pool
ADJUSTMENTS = (None, "envelope")


@Capabilities(
    rankings="Is it better than chance?", lists=True, any_ties=True, ends=True, heads=True,
    clusters=True, short="measure n tp expected lift p_value p_adjusted", layout="measure n")  # fmt: skip
@with_roles
def random_test(
    data: Data,
    n: ListSizes = None,
    *,
    adjust: str | None = None,
    combine: bool = False,
    population: PopulationKind = "finite",
    pool: Pool | None = None,
    n_candidates: int | None = None,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Test whether n-best lists contain more true positives than random lists.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n from 1 to the number of candidates.
    adjust : {None, "envelope"}
        Whether to add ``p_adjusted``, which corrects for all requested n.
    combine : bool
        Whether to combine the groups from ``by`` (Dataset: all batch dimensions). Each n then has a
        single test, based on the sum of true positives over all groups with n candidates.
    population : {"finite", "infinite"}
        See :func:`random_bound`.
    pool : {"retrieved", "all"} or int, optional
        Candidates from which a random list is drawn. "retrieved" means the candidates that the
        measure retrieved in each group. The test compares the order of these candidates with
        chance. "all" means all candidates in the data. Pass a number to compare the measure with
        random draws from a collection of this size that contains no other true positives. The
        default is "retrieved" with ``missing="absent"`` and "all" otherwise.
    n_candidates : int, optional
        Former name for a numeric ``pool``.
    progress : bool, optional
        Whether to show a progress bar for ``adjust``. By default, the bar appears after 2 seconds.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n). With ``combine``, each row
        combines all groups:

        * ``tp``, ``expected``, ``lift``: the number of true positives, the mean number in a random
          list, and the ratio of the two numbers;
        * ``p_value``: P(X >= tp), the standard one-sided p-value;
        * ``p_mid``: P(X > tp) + P(X = tp)/2;
        * ``p_strict``: P(X > tp), as in Macskassy (2005). ``p_strict`` is too small because the
          observed count is excluded. A test that rejects if p_strict < p has an error rate above p;
        * ``log10_p``: log10 of p_value, which is finite even if p_value underflows;
        * ``p_adjusted``, with ``adjust="envelope"`` only: the probability that a random ranking has
          a p-value this small at any of the requested n;
        * ``n_pool``: the number of candidates in the pool;
        * ``n_groups``, with ``groups`` only: the number of groups in the list. With ``groups``, the
          three p-values are equal and come from Student's t test for the precision of the list
          minus the prevalence. The variance is estimated between groups;
        * ``n_groups``, ``n_left_out``, with ``combine`` only: the numbers of groups with and
          without size-n lists. ``tp`` can decrease from one n to the next if ``n_groups`` changes.

        With ``ties="expected"``, ``tp`` is the mean over the orders of equal scores, and the
        p-values are exact for this mean under random labels. With "best" and "worst", the p-values
        treat the count in the best or worst order as an ordinary list. With "best" and "worst", the
        p-values are only bounds, because the order depends on the labels.

    Notes
    -----
    Each ``p_value`` applies to a single n. The test is exact if every order of the candidates is
    equally likely under the null hypothesis. Relative errors are below 1e-11. The cost is one sort,
    plus a series over about eight standard deviations of X for each n.

    The smallest ``p_adjusted`` of a measure is a global p-value for the null hypothesis that the
    ranking is random at all requested n. The error rate alpha applies to this null hypothesis, not
    to a single n. ``p_adjusted`` is at most alpha if and only if tp reaches the bound from
    :func:`random_envelope`. Each n requires one recursion over all sizes. With more than 3,000 list
    sizes, about 500 values are computed; with more than 20,000, about 60. Other values are rounded
    up to the next computed value (``attrs["p_adjusted"]``). Rounding never crosses 0.1, 0.05, 0.01
    or 0.001. Values below 1e-6 are rounded up to p times the number of list sizes.

    With ``combine``, the p-values are exact tail probabilities for a sum of independent counts with
    a different distribution for each group. Testing the average as if it came from a single list,
    as in Macskassy's (2005) Tables 3 and 4, is wrong by orders of magnitude. If the same candidates
    rank high in many groups, as can happen for queries on one collection, the counts are dependent
    and the combined p-value is too small.

    References
    ----------
    Macskassy (2005), Eqs 5, 6, and 12 to 15, section 3.2. P. H. Westfall and S. S. Young (1993),
    Resampling-based multiple testing.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, True, False, False]})
    >>> df.rankeval.random_test(2)
      measure  n  tp  expected  lift   p_value
    0      G2  2   2       1.0   2.0  0.166667
    """
    check_choice("population", population, POPULATIONS)
    check_choice("adjust", adjust, ADJUSTMENTS)
    asked, ties = check_n(n), Roles.of(roles).ties
    pool = chosen_pool(n_candidates if pool is None else pool, roles, population)
    check_flag("combine", combine)
    if combine and adjust is not None:
        raise ValueError(
            f"combine=True with adjust={adjust!r}: there is no simultaneous envelope for the sum"
            " over groups. Adjust the p-values of the groups, or combine the groups at a single n"
            " chosen in advance."
        )
    if combine and isinstance(asked, Shares):
        raise ValueError(
            f"combine=True with n={n!r}: a fraction gives lists of different sizes in groups of"
            " different sizes. Pass whole numbers."
        )
    if ties == "expected" and (combine or adjust is not None):
        raise ValueError(
            f"ties='expected' with combine={combine!r}, adjust={adjust!r}: combined and adjusted"
            " tests need counts, but ties='expected' averages over orders of equal scores. Pass"
            " ties='blocks' or ties='shared'."
        )

    clustered: bool = Roles.of(roles).groups is not None
    if clustered:
        given: dict[str, Any] = {"adjust": adjust, "combine": combine or None}
        given["pool"] = None if pool == "all" else pool
        given["ties"] = None if ties in ("shared", "blocks", "error") else ties
        for name, value in given.items():
            if value is not None:
                raise ValueError(
                    f"groups with {name}={value!r}: {name} assumes that individual candidates, not"
                    " whole groups, are in random order. Omit one of the two."
                )

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        if combine:
            return _counted(inner, sizes, asked=those(asked, sizes), ties=ties, pool=pool)
        types: dict[str, type] = dict.fromkeys(TEST_COLUMNS[2:], float)
        types["n_pool"] = np.int64
        types["tp"] = float if ties == "expected" else np.int64
        types |= {"n_groups": np.int64} if clustered else {}
        if adjust is not None and sizes.size > EVERY:
            attrs["p_adjusted"] = "rounded up"
        with drawing_bar(
            inner, progress, draws=None if adjust else 0, what="envelopes", unit="levels"
        ) as advance:
            return ask_measures(
                inner, _test_columns, {**types, "exists": bool}, along={"n": sizes},
                beside=[inner["cluster"]] if clustered else [],
                options={
                    "n": those(asked, sizes), "population": population, "adjust": adjust,
                    "ties": ties, "pool": pool, "advance": advance,
                },
            )  # fmt: skip

    attrs: dict[str, Any] = {
        "population": population, "ties": ties, "adjust": adjust, "combine": combine, "pool": pool
    }  # fmt: skip

    def together(counted: xr.Dataset, batch: list[Hashable]) -> xr.Dataset:
        ending = pool != "all" and Roles.of(roles).ends
        warned = pool == "retrieved" and asked is not None
        return _combined(counted, batch, population, ending=ending, warned=warned)

    counted: tuple[str, ...] = _COMBINED if combine else _COMBINED[: int(clustered)]
    result = answer(
        data, roles, question, (*_columns_of(adjust), *counted),
        able_with(can(random_test, heads=not (combine or clustered)), pool), n=asked,
        combine=together if combine else None,
        attrs=attrs,
    )  # fmt: skip
    if pool == "retrieved" and not (combine or asked is None) and isinstance(result, pd.DataFrame):
        warn_of_whole_lists(result["n_pool"].to_numpy(), result["n"].to_numpy())
    return result


def _columns_of(adjust: str | None) -> tuple[str, ...]:
    """Return the columns for a test, including an adjusted p-value if requested."""
    return TEST_COLUMNS if adjust else tuple(x for x in TEST_COLUMNS if x != "p_adjusted")


def _test_columns(
    ranking: Ranking,
    cluster: IntArray | None = None,
    *,
    n: IntArray | None,
    population: str,
    adjust: str | None,
    ties: str,
    pool: Pool,
    advance: Callable[[int], object],
) -> tuple[AnyArray, ...]:
    lists = ranking.nbest(n, ties)
    size = pool_of(ranking, pool)
    n = ranking.every if n is None else n
    found = _tested(lists, n, size, population, ties, adjust, advance)
    if cluster is None:
        return found

    def of_groups(ranked: ListMembers, n: IntArray, row: tuple[int, ...]) -> tuple[AnyArray, ...]:
        return random_p(ranked, n, int(size.total[row]), int(size.positive[row]))

    p, n_groups = of_rows(of_groups, ranking, cluster, n, lists.exists)
    with np.errstate(divide="ignore"):
        return (*found[:3], p, p, p, np.log10(p), *found[-3:-1], n_groups, found[-1])


def _tested(
    lists: NBest,
    n: IntArray,
    size: Size,
    population: str,
    ties: str,
    adjust: str | None = None,
    advance: Callable[[int], object] = nothing_moves,
) -> tuple[AnyArray, ...]:
    total, positive = size.total[..., np.newaxis], size.positive[..., np.newaxis]
    inside = np.minimum(n, np.maximum(total, 1))  # lists that do not exist are removed later
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = inside * np.true_divide(positive, total)
        lift = lists.tp / expected
    if population == "finite":
        result = hypergeometric_tails(np.floor(lists.tp), np.maximum(total, 1), positive, inside)
    else:
        result = binomial_tails(np.floor(lists.tp), n, positive / np.maximum(total, 1))
    log_ge, log_gt, log_mid = result.ge, result.gt, result.mid
    if ties == "expected":
        _average_ties(lists, n, size, population, log_ge, log_gt, log_mid)
    p_value, p_mid, p_strict = (np.exp(x) for x in (log_ge, log_mid, log_gt))
    p_adjusted = np.full_like(p_value, np.nan)
    for row in np.ndindex(p_value.shape[:-1]) if adjust else ():
        here = lists.exists[row] & (n <= size.total[row])
        p_adjusted[row] = np.where(lists.exists[row], 1.0, np.nan)  # a full list is not random
        model, _ = population_model(population, float(size.total[row]), float(size.positive[row]))
        p_adjusted[(*row, here)] = simultaneous_p_values(
            log_ge[(*row, here)],
            lists.tp[(*row, here)].astype(float),
            n[here].astype(float),
            model,
            advance,
        )
    log10_p = log_ge / LOG_10
    n_pool = np.broadcast_to(total, p_value.shape)
    columns = lists.tp, expected, lift, p_value, p_mid, p_strict, log10_p, p_adjusted, n_pool
    return (*columns, lists.exists)


def _counted(
    inner: xr.Dataset, n: IntArray, *, asked: IntArray | None, ties: str, pool: Pool
) -> xr.Dataset:
    """Return the true positives in each list, and the sizes of groups and pools."""
    sizes: dict[str, type] = dict.fromkeys(_SIZES, np.int64)
    return ask_measures(
        inner, _counts, {"tp": np.int64, "exists": bool, **sizes}, along={"n": n},
        single=tuple(sizes), options={"n": asked, "ties": ties, "pool": pool},
    )  # fmt: skip


def _counts(ranking: Ranking, *, n: IntArray | None, ties: str, pool: Pool) -> tuple[AnyArray, ...]:
    lists = ranking.nbest(n, ties)
    sizes = ranking.size.total, ranking.retrieved.positive
    return lists.tp, lists.exists, *sizes, *pool_of(ranking, pool)


def _combined(
    counted: xr.Dataset, batch: list[Hashable], population: str, *, ending: bool, warned: bool
) -> xr.Dataset:
    """Test the sum of true positives in the lists of size n over all groups."""
    names = (*TEST_COLUMNS[2:], *_COMBINED, "exists")
    columns = xr.apply_ufunc(
        _combined_columns,
        *(tables.in_one_chunk(counted[name], batch) for name in ("tp", "exists", *_SIZES)),
        kwargs={
            "n": counted["n"].to_numpy(),
            "population": population,
            "groups": len(batch),
            "ending": ending,
            "warned": warned,
        },
        input_core_dims=[[*batch, "n"], [*batch, "n"], *[batch] * len(_SIZES)],
        output_core_dims=[["n"]] * len(names),
        dask="parallelized",
        output_dtypes=[np.int64, *[float] * 7, np.int64, np.int64, np.int64, bool],
    )
    return tables.as_columns(names, columns).assign_coords(n=counted["n"])


def _combined_columns(
    tp: IntArray,
    exists: BoolArray,
    *sizes: IntArray,
    n: IntArray,
    population: str,
    groups: int,
    ending: bool,
    warned: bool,
) -> tuple[AnyArray, ...]:
    outer, inner = tp.shape[: -groups - 1], math.prod(tp.shape[-groups - 1 : -1])
    tp, exists = tp.reshape(*outer, inner, n.size), exists.reshape(*outer, inner, n.size)
    here, found, total, positive = (x.reshape(*outer, inner, 1) for x in sizes)
    # sum over all groups with n candidates, even if none of their blocks ends at this n
    exists = exists & (exists == (n <= here)).all(axis=-2, keepdims=True)
    if ending:  # a longer list contains all retrieved candidates
        tp, exists = np.where(exists | (n <= here), tp, found), exists | (n > here) & (here > 0)
    tp = np.where(exists, tp, 0).sum(axis=-2)
    if warned:
        warn_of_whole_lists(total[exists.any(axis=-1)], n)
    drawn = np.minimum(n, total) if population == "finite" else n
    expected = np.where(exists, drawn * positive / np.maximum(total, 1), 0.0).sum(axis=-2)
    tails = np.full((4, *tp.shape), np.nan)
    for place in np.ndindex(tp.shape):
        row, column = place[:-1], place[-1]
        some = exists[(*row, slice(None), column)] & (total[row][..., 0] > 0)
        if some.any():
            of_some = total[row][some, 0], positive[row][some, 0]
            most = of_some[0] if population == "finite" else np.inf
            size = np.broadcast_to(np.minimum(float(n[column]), most), of_some[0].shape)
            tails[(slice(None), *place)] = sum_tails(float(tp[place]), size, *of_some, population)
    ge, gt, mid, _ = tails
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = tp / expected
    p_value, p_mid, p_strict = (np.exp(x) for x in (ge, mid, gt))
    nothing = np.full_like(ge, np.nan)
    counted = exists.sum(axis=-2)
    n_pool = np.where(exists, total, 0).sum(axis=-2)
    columns = tp, expected, lift, p_value, p_mid, p_strict, ge / LOG_10, nothing, n_pool
    return (*columns, counted, (here > 0).sum(axis=-2) - counted, counted > 0)


def _average_ties(
    lists: NBest,
    n: IntArray,
    size: Size,
    population: str,
    *logs: FloatArray,
) -> None:
    """Set exact tail probabilities for lists that end inside a tied block."""
    log_ge, log_gt, log_mid = logs
    for row in np.ndindex(lists.tp.shape[:-1]):
        model, _ = population_model(population, float(size.total[row]), float(size.positive[row]))
        cut = np.flatnonzero((lists.tied[row] > 0) & lists.exists[row])
        blocks = np.stack([x[row][cut] for x in lists.block], axis=-1).astype(np.int64)
        each, of_block = np.unique(blocks, axis=0, return_inverse=True)
        for number, (above, tp_above, block, tp) in enumerate(each.tolist()):
            here = cut[of_block == number]
            result = averaged_tails(above, tp_above, block, tp, n[here] - above, model)
            log_ge[(*row, here)], log_gt[(*row, here)] = result
            log_mid[(*row, here)] = np.logaddexp(*result) - math.log(2.0)
