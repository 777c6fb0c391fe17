"""How much does a comparison depend on the order of equal scores?"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Unpack

import numpy as np
import xarray as xr

from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import PairRanks, ask_pairs, only_pair, pair_names
from rankeval_pd.forms.rankings.values import check_n, those
from rankeval_pd.forms.roles.declarations import Capabilities, can, check_draws, with_roles
from rankeval_pd.forms.roles.roles import ListSizes, RankingRoles, Roles
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import ranking, swap_draws
from rankeval_pd.stats.significance.fisher import fisher_test

_TYPES: dict[str, type] = {"p_min": float, "p_median": float, "p_max": float, "cuts_tie": bool}
COLUMNS = ("measure_a", "measure_b", "n", *_TYPES)


@Capabilities(rankings="Which candidates make it?", lists=True, heads=True)
@with_roles
def tie_sensitivity(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: ListSizes,
    *,
    n_keys: int = 20,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the smallest, the median and the largest p-value over orders of equal scores.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures
    n : int, sequence of int, range or None
        Sizes of the n-best lists; None is every n.
    n_keys : int
        How many orders: the first is the one that :func:`compare` takes, the others are random.
        Each is the same for both measures.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``, ``n``,
        ``p_min``, ``p_median``, ``p_max`` of the two-sided Fisher test, and ``cuts_tie``: whether
        one of the two lists leaves out candidates with the score of its last one.

    Notes
    -----
    The extremes are those of the orders that were tried, not of all: other orders may lie beyond.
    With 20 of them, at most 14 % of all orders have a p-value above ``p_max``, at a confidence of
    95 % (3 / n_keys). To call a difference significant by ``p_min`` is to choose the order by the
    result. A mean of the p-values is no p-value, but twice the mean is.

    The cost is ``n_keys`` times that of :func:`compare`.

    References
    ----------
    Evert (2004), footnotes 5 and 6, breaks ties by random jitter.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {
    ...         "f": [3, 2, 2, 2, 2, 1, 1, 1],
    ...         "G2": [8, 7, 6, 5, 4, 3, 2, 1],
    ...         "gold": [True, True, True, False, False, False, False, False],
    ...     }
    ... )
    >>> df.rankeval.tie_sensitivity("G2", "f", [3, 5])
      measure_a measure_b  n     p_min  p_median  p_max  cuts_tie
    0        G2         f  3  0.333333       1.0    1.0      True
    1        G2         f  5  1.000000       1.0    1.0     False
    """
    keys = check_draws("n_keys", n_keys)
    sizes = check_n(n)
    chosen = Roles.of(roles)
    seed = chosen.draws

    def question(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        return ask_pairs(
            inner,
            pair_names(inner, a, b),
            _columns,
            _TYPES,
            n=those(sizes, asked),
            ties=chosen.ties,
            options={"n_keys": keys, "seed": seed},
        )

    return answer(
        data, only_pair(data, a, b, roles), question, COLUMNS, can(tie_sensitivity, n_keys=keys),
        n=sizes, attrs={"n_keys": keys},
    )  # fmt: skip


def _columns(lists: PairRanks, n: IntArray, *, n_keys: int, seed: int) -> tuple[AnyArray, ...]:
    shape = lists.exists.shape
    p_values = np.full((3, *shape), np.nan)
    cuts = lists.exists & (lists.a.cuts_tie(n) | lists.b.cuts_tie(n))
    for row in np.ndindex(shape[:-1]):
        asked = lists.exists[row]
        a, b, gold = lists.of(row)
        here = lists.present[row]
        scores = lists.a.score[row][here], lists.b.score[row][here]
        _refuse_cut_head(lists, row, n[asked], n_keys)
        own = lists.draws_of(row)
        listed = [_p_value(a, b, gold, n[asked])]
        for number in range(1, n_keys):
            key = np.argsort(swap_draws.other_order(own, seed, number), kind="stable")
            everyone = np.ones(gold.size, dtype=bool)
            rank_a, rank_b = (ranking.ranks(ranking.order(x[key], everyone)) for x in scores)
            listed.append(_p_value(rank_a, rank_b, gold[key], n[asked]))
        if asked.any():
            p_values[(slice(None), *row, asked)] = np.quantile(listed, [0.0, 0.5, 1.0], axis=0)
    return (*p_values, cuts)


def _refuse_cut_head(lists: PairRanks, row: tuple[int, ...], n: IntArray, n_keys: int) -> None:
    """Raise a ValueError where other orders have candidates in the lists that a head has not."""
    whole = lists.whole
    if whole is None or whole.orders >= n_keys or whole.reach == whole.total:
        return
    for falling in (lists.a.scores_by_rank[row], lists.b.scores_by_rank[row]):
        last = falling[whole.reach - 1]
        if (falling[n - 1] == last).any() or (np.isnan(falling[n - 1]) & np.isnan(last)).any():
            raise ValueError(
                f"n_keys={n_keys}: lists asked for end among candidates with equal scores of which"
                f" the head has those that come first in {whole.orders} orders. Make another,"
                f" ddf.rankeval.head(n_max, n_keys={n_keys}), or ask"
                " ddf.rankeval.tie_sensitivity(...)."
            )


def _p_value(rank_a: IntArray, rank_b: IntArray, gold: BoolArray, n: IntArray) -> FloatArray:
    r = ranking.nbest_regions(rank_a, rank_b, gold, n)
    only = n - r.overlap
    return fisher_test(
        r.tp_a - r.tp_overlap, only, r.tp_b - r.tp_overlap, only, "two-sided"
    ).p_value
