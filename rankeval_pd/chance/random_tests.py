"""Test n-best lists against random rankings."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from rankeval_pd.chance.pools import (
    Pool,
    able_with,
    chosen_pool,
    pool_of,
    warn_of_whole_lists,
)
from rankeval_pd.chance.published_chance import LOG_10, POPULATIONS, population_model, sum_tails
from rankeval_pd.decisions.averages import GroupCells
from rankeval_pd.decisions.verdicts import GROUP
from rankeval_pd.doors.rankings import Candidates, Rows, measure_rows, rows_at, tabulate
from rankeval_pd.errors import check_choice, check_flag
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.values import Shares, check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles
from rankeval_pd.forms.roles.roles import ListSizes, PopulationKind, RankingRoles, Roles
from rankeval_pd.nbest.clustered_lists import of_rows, random_p
from rankeval_pd.nbest.grouped_lists import ListMembers
from rankeval_pd.progress import nothing_moves, progress_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.binomial import tails as binomial_tails
from rankeval_pd.stats.distributions.hypergeometric import Tails
from rankeval_pd.stats.distributions.hypergeometric import tails as hypergeometric_tails
from rankeval_pd.stats.random_model.boundary import EVERY, simultaneous_p_values
from rankeval_pd.stats.random_model.random_counts import averaged_tails
from rankeval_pd.stats.rankings.ranking import NBest, Ranking, Size

TEST_COLUMNS = (
    "measure",
    "n",
    "tp",
    "expected",
    "lift",
    "p_value",
    "p_mid",
    "p_strict",
    "log10_p",
    "p_adjusted",
    "n_pool",
)
_COMBINED = ("n_groups", "n_left_out")
ADJUSTMENTS = (None, "envelope")


@Capabilities(
    rankings="Is it better than chance?",
    lists=True,
    any_ties=True,
    ends=True,
    heads=True,
    clusters=True,
    short="measure n tp expected lift p_value p_adjusted",
    layout="measure n",
)
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
    sizes, chosen = check_n(n), Roles.of(roles)
    ties, clustered = chosen.ties, chosen.groups is not None
    pool = chosen_pool(n_candidates if pool is None else pool, roles, population)
    check_flag("combine", combine)
    if combine and adjust is not None:
        raise ValueError(
            f"combine=True with adjust={adjust!r}: there is no simultaneous envelope for the sum"
            " over groups. Adjust the p-values of the groups, or combine the groups at a single n"
            " chosen in advance."
        )
    if combine and isinstance(sizes, Shares):
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

    if clustered:
        _check_groups(adjust, combine, pool, ties)
    attrs: dict[str, Any] = {
        "population": population,
        "ties": ties,
        "adjust": adjust,
        "combine": combine,
        "pool": pool,
    }

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        lists = candidates.sizes(n)
        if combine:
            kernel = partial(_counts, n=n, ties=ties, pool=pool)
            return measure_rows(candidates, kernel, {"n": lists})
        if adjust is not None and lists.size > EVERY:
            attrs["p_adjusted"] = "rounded up"
        total = 0 if adjust is None or not candidates.group.size else None
        with progress_bar(progress, total=total, what="envelopes", unit="levels") as advance:
            model = _Model(population, adjust, ties, pool, advance)
            return measure_rows(candidates, partial(_test_columns, n=n, model=model), {"n": lists})

    columns = tuple(x for x in TEST_COLUMNS if adjust or x != "p_adjusted")
    together = None
    if combine:
        columns += _COMBINED
        ending = pool != "all" and chosen.ends
        warned = pool == "retrieved" and sizes is not None
        together = partial(_combined, population=population, ending=ending, warned=warned)
    elif clustered:
        columns += _COMBINED[:1]
    result = tabulate(
        data,
        roles,
        question,
        columns,
        able_with(can(random_test, heads=not (combine or clustered)), pool),
        n=sizes,
        combine=together,
        attrs=attrs,
    )
    if pool == "retrieved" and not (combine or sizes is None):
        warn_of_whole_lists(result["n_pool"].to_numpy(), result["n"].to_numpy())
    return result


def _check_groups(adjust: str | None, combine: bool, pool: Pool, ties: str) -> None:
    """Refuse options that assume that individual candidates are in random order."""
    values: dict[str, Any] = {"adjust": adjust, "combine": combine or None}
    if pool != "all":
        values["pool"] = pool
    if ties not in ("shared", "blocks", "error"):
        values["ties"] = ties
    for name, value in values.items():
        if value is not None:
            raise ValueError(
                f"groups with {name}={value!r}: {name} assumes that individual candidates, not"
                " whole groups, are in random order. Omit one of the two."
            )


class _Model(NamedTuple):
    """Store how lists are compared with random lists."""

    population: str
    adjust: str | None
    ties: str
    pool: Pool
    advance: Callable[[int], object] = nothing_moves


def _test_columns(
    ranking: Ranking, candidates: Candidates, *, n: IntArray | None, model: _Model
) -> dict[str, AnyArray]:
    """Return the columns (group, measure, n) of the tests."""
    lists, size = ranking.nbest(n, model.ties), pool_of(ranking, model.pool)
    n = ranking.every if n is None else n
    columns = _tested(lists, n, size, model)
    if candidates.clusters is None:
        return columns

    def of_groups(ranked: ListMembers, n: IntArray, row: tuple[int, ...]) -> tuple[AnyArray, ...]:
        return random_p(ranked, n, int(size.total[row]), int(size.positive[row]))

    p, n_groups = of_rows(of_groups, ranking, candidates.clusters, n, lists.exists)
    with np.errstate(divide="ignore"):
        log10_p = np.log10(p)
    tests = {"p_value": p, "p_mid": p, "p_strict": p, "log10_p": log10_p, "n_groups": n_groups}
    return {**columns, **tests}


def _tested(lists: NBest, n: IntArray, size: Size, model: _Model) -> dict[str, AnyArray]:
    """Return the tests of lists of independent candidates: (..., n)."""
    total, positive = size.total[..., np.newaxis], size.positive[..., np.newaxis]
    inside = np.minimum(n, np.maximum(total, 1))  # lists that do not exist are removed later
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = inside * np.true_divide(positive, total)
        lift = lists.tp / expected
    if model.population == "finite":
        tails = hypergeometric_tails(np.floor(lists.tp), np.maximum(total, 1), positive, inside)
    else:
        tails = binomial_tails(np.floor(lists.tp), n, positive / np.maximum(total, 1))
    if model.ties == "expected":
        _average_ties(lists, n, size, model.population, tails)
    columns = {
        "tp": lists.tp,
        "expected": expected,
        "lift": lift,
        **_p_values(tails),
        "n_pool": np.broadcast_to(total, tails.ge.shape),
        "exists": lists.exists,
    }
    if model.adjust is not None:
        columns["p_adjusted"] = _adjusted_for_all_n(lists, n, size, model, tails.ge)
    return columns


def _p_values(tails: Tails) -> dict[str, FloatArray]:
    """Return the p-values for logarithms of tail probabilities."""
    return {
        "p_value": np.exp(tails.ge),
        "p_mid": np.exp(tails.mid),
        "p_strict": np.exp(tails.gt),
        "log10_p": tails.ge / LOG_10,
    }


def _adjusted_for_all_n(
    lists: NBest, n: IntArray, size: Size, model: _Model, log_ge: FloatArray
) -> FloatArray:
    """Return p-values that are simultaneous over the list sizes of each ranking."""
    p_adjusted = np.where(lists.exists, 1.0, np.nan)  # a full list is not random
    for row in np.ndindex(log_ge.shape[:-1]):
        here = lists.exists[row] & (n <= size.total[row])
        population, _ = population_model(
            model.population, float(size.total[row]), float(size.positive[row])
        )
        p_adjusted[(*row, here)] = simultaneous_p_values(
            log_ge[(*row, here)],
            lists.tp[(*row, here)].astype(float),
            n[here].astype(float),
            population,
            model.advance,
        )
    return p_adjusted


# ------------------------------------------------- The sum of true positives over all groups


def _counts(
    ranking: Ranking, _: Candidates, *, n: IntArray | None, ties: str, pool: Pool
) -> dict[str, AnyArray]:
    """Return the true positives in each list, and the sizes of groups and pools.

    Rows of lists that do not exist are kept, because they show the sizes of their groups.
    """
    lists, pools = ranking.nbest(n, ties), pool_of(ranking, pool)
    return {
        "tp": lists.tp,
        "listed": lists.exists,
        "here": ranking.size.total,
        "found": ranking.retrieved.positive,
        "total": pools.total,
        "positive": pools.positive,
    }


def _combined(table: Rows, n_groups: int, *, population: str, ending: bool, warned: bool) -> Rows:
    """Test the sum of true positives in the lists of size n over all groups."""
    cells = GroupCells.of(table, n_groups)
    measure, n = cells.keys["measure"], cells.keys["n"]
    shape = (measure.max(initial=-1) + 1, n_groups)
    sizes = {}
    for name in ("here", "found", "total", "positive"):  # (key, group), the same for every n
        of_groups = np.zeros(shape, dtype=np.int64)
        of_groups[table["measure"], table[GROUP]] = table[name]
        sizes[name] = of_groups[measure]
    here, total, positive = sizes["here"], sizes["total"], sizes["positive"]
    long = n[:, np.newaxis] > here
    tp = np.where(cells.exists, table["tp"][cells.row], 0)
    exists = cells.exists & table["listed"][cells.row]
    # sum over all groups with n candidates, even if none of their blocks ends at this n
    exists = exists & (exists == ~long).all(axis=-1, keepdims=True)
    if ending:  # a longer list contains all retrieved candidates
        tp = np.where(exists | ~long, tp, sizes["found"])
        exists = exists | (long & (here > 0))
    if warned:
        _warn_of_groups(cells, exists, total)
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
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = tp / expected
    counted = exists.sum(axis=-1)
    columns = {
        **cells.keys,
        "tp": tp,
        "expected": expected,
        "lift": lift,
        **_p_values(Tails(*tails)),
        "n_pool": np.where(exists, total, 0).sum(axis=-1),
        "n_groups": counted,
        "n_left_out": (here > 0).sum(axis=-1) - counted,
    }
    return rows_at(columns, counted > 0)


def _warn_of_groups(cells: GroupCells, exists: BoolArray, total: IntArray) -> None:
    """Warn if most lists of the groups contain all retrieved candidates."""
    measure = cells.keys["measure"]
    first = np.unique(measure, return_index=True)[1]
    listed = np.logical_or.reduceat(exists, first, axis=0)  # (measure, group)
    warn_of_whole_lists(total[first][listed][:, np.newaxis], np.unique(cells.keys["n"]))


def _average_ties(lists: NBest, n: IntArray, size: Size, population: str, tails: Tails) -> None:
    """Set exact tail probabilities for lists that end inside a tied block."""
    for row in np.ndindex(lists.tp.shape[:-1]):
        model, _ = population_model(population, float(size.total[row]), float(size.positive[row]))
        cut = np.flatnonzero((lists.tied[row] > 0) & lists.exists[row])
        blocks = np.stack([x[row][cut] for x in lists.block], axis=-1).astype(np.int64)
        each, of_block = np.unique(blocks, axis=0, return_inverse=True)
        for number, (above, tp_above, block, tp) in enumerate(each.tolist()):
            at = (*row, cut[of_block == number])
            of_ties = averaged_tails(above, tp_above, block, tp, n[at[-1]] - above, model)
            tails.ge[at], tails.gt[at] = of_ties
            tails.mid[at] = np.logaddexp(*of_ties) - math.log(2.0)
