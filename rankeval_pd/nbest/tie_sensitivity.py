"""Measure the sensitivity of a comparison to the order of equal scores."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import NamedTuple, Unpack

import numpy as np

from rankeval_pd.doors.pairs import PairRanks, only_pair
from rankeval_pd.doors.rankings import Candidates, Rows, pair_names, pair_rows, tabulate
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.values import check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles
from rankeval_pd.forms.roles.roles import ListSizes, RankingRoles, Roles
from rankeval_pd.memory import check_draws
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import ranking, swap_draws
from rankeval_pd.stats.rankings.swap_draws import Keys
from rankeval_pd.stats.significance.fisher import fisher_test

COLUMNS = ("measure_a", "measure_b", "n", "p_min", "p_median", "p_max", "cuts_tie")


@Capabilities(rankings="Is A better than B?", lists=True, heads=True, layout="pair n")
@with_roles
def tie_sensitivity(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: ListSizes,
    *,
    n_keys: int = 20,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the range of p-values over orders of equal scores.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures
    n : int, sequence of int, range or None
        Sizes of the n-best lists. None means every n.
    n_keys : int
        Number of orders. The first order is the order in :func:`compare`, and all other orders are
        random. The two measures use the same orders.
    progress : bool, optional
        Whether to show a progress bar. By default, the bar appears after two seconds.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``, ``n``,
        ``p_min``, ``p_median``, ``p_max`` from the two-sided Fisher test, and ``cuts_tie``: whether
        one of the lists excludes candidates with the list's last score.

    Notes
    -----
    Other orders can give p-values outside the range from ``p_min`` to ``p_max``. With 20 orders and
    95% confidence, at most 14% of all orders have a p-value above ``p_max`` (3 / n_keys). Do not
    report ``p_min`` as a test result, because the order was selected by the p-value. The mean
    p-value is not a valid p-value, but twice the mean is valid.

    The function takes as long as :func:`compare`, plus O(N log N) for each order if N candidates
    are tied.

    References
    ----------
    Evert (2004), footnotes 5 and 6, breaks ties with random jitter.

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

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        pairs = pair_names(candidates.measures, a, b)
        total = (keys - 1) * len(candidates.group)
        with progress_bar(progress, total=total, what="ordering ties", unit="orders") as advance:
            kernel = partial(_p_over_orders, n_keys=keys, seed=seed, advance=advance)
            return pair_rows(candidates, pairs, kernel, n, ties=chosen.ties)

    return tabulate(
        data,
        only_pair(data, a, b, roles),
        question,
        COLUMNS,
        can(tie_sensitivity, n_keys=keys),
        n=sizes,
        attrs={"n_keys": keys},
    )


def _p_over_orders(
    lists: PairRanks, n: IntArray, *, n_keys: int, seed: int, advance: Callable[[int], object]
) -> dict[str, AnyArray]:
    """Return the range of p-values over orders of equal scores: (group, pair, n)."""
    shape = lists.exists.shape
    p_values = np.full((3, *shape), np.nan)
    for row in np.ndindex(shape[:-1]):
        sizes = n[lists.exists[row]]
        a, b, gold = lists.of(row)
        present = lists.present[row]
        _refuse_cut_head(lists, row, sizes, n_keys)
        own, most = lists.draws_of(row), int(sizes.max(initial=0))
        sides = ((lists.a, a), (lists.b, b))
        tied = [Tied.of(side.score[row][present], ranks, most) for side, ranks in sides]
        first = _tables(a, b, gold, sizes)
        listed = [_p_value(first)]
        for number in range(1, n_keys):
            if any(x.candidate.size for x in tied):
                keys = swap_draws.other_order(own, seed, number)
                tables = _tables(tied[0].ranks(keys), tied[1].ranks(keys), gold, sizes)
                other = (tables != first).any(axis=0)
                p = listed[0].copy()
                p[other] = _p_value(tables[:, other])
                listed.append(p)
            advance(1)
        if sizes.size:
            quantiles = np.quantile(listed, [0.0, 0.5, 1.0], axis=0)
            p_values[(slice(None), *row, lists.exists[row])] = quantiles
    return {
        "p_min": p_values[0],
        "p_median": p_values[1],
        "p_max": p_values[2],
        "cuts_tie": lists.exists & (lists.a.cuts_tie(n) | lists.b.cuts_tie(n)),
    }


class Tied(NamedTuple):
    """Store one ranking's tied candidates, whose order is arbitrary."""

    rank: IntArray  #: (candidate) ranks of all candidates
    candidate: IntArray  #: the tied candidates, best first
    above: IntArray  #: number of candidates above the tied block

    @classmethod
    def of(cls, score: FloatArray, rank: IntArray, most: int) -> Tied:
        """Return the candidates in tied blocks that begin within the first ``most`` ranks."""
        order = ranking.inverse(rank)
        start, end = ranking.blocks(score[order], np.array(rank.size))
        tied = np.flatnonzero((end - start > 1) & (start < most))
        return cls(rank, order[tied], start[tied])

    def ranks(self, keys: Keys) -> IntArray:
        """Return ranks, with equal scores ordered by different keys."""
        result = self.rank.copy()
        again = np.lexsort((keys[self.candidate], self.above))
        result[self.candidate[again]] = self.rank[self.candidate]
        return result


def _refuse_cut_head(lists: PairRanks, row: tuple[int, ...], n: IntArray, n_keys: int) -> None:
    """Raise a ValueError if other orders need candidates outside the head."""
    whole = lists.whole
    if whole is None or whole.orders >= n_keys or whole.reach == whole.total:
        return
    for falling in (lists.a.scores_by_rank[row], lists.b.scores_by_rank[row]):
        last = falling[whole.reach - 1]
        if (falling[n - 1] == last).any() or (np.isnan(falling[n - 1]) & np.isnan(last)).any():
            raise ValueError(
                f"n_keys={n_keys}: a list ends inside a tie, but the head contains only"
                f" {whole.orders} orders of the tied candidates. Make another head with"
                f" ddf.rankeval.head(n_max, n_keys={n_keys}), or use"
                " ddf.rankeval.tie_sensitivity(...)."
            )


def _tables(rank_a: IntArray, rank_b: IntArray, gold: BoolArray, n: IntArray) -> IntArray:
    """Return an array (4, n) with the true positives and sizes of the two regions."""
    r = ranking.nbest_regions(rank_a, rank_b, gold, n)
    only = n - r.overlap
    return np.stack([r.tp_a - r.tp_overlap, only, r.tp_b - r.tp_overlap, only])


def _p_value(tables: IntArray) -> FloatArray:
    tp_a, n_a, tp_b, n_b = tables
    return fisher_test(tp_a, n_a, tp_b, n_b, "two-sided").p_value
