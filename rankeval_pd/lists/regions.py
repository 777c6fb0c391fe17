"""Where two lists differ, and what the order of tied candidates could change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from rankeval_pd import decisions, doors, errors, stats
from rankeval_pd.decisions import GROUP, Interval, Rows
from rankeval_pd.doors import Candidates, Data, Pair, PairRanks, Shares
from rankeval_pd.lists.groups import in_rows
from rankeval_pd.options import NO_CONCLUSION, Capabilities, can, with_roles, with_roles_but
from rankeval_pd.roles import (
    ListSizes,
    Names,
    RankingRoles,
    Roles,
    find_gold,
    native,
    refuse_taken,
    with_columns,
)
from rankeval_pd.stats import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    TiedLists,
    ranking,
    ties,
)
from rankeval_pd.tables import Columns, Options, labels

# ---- Find and test difference regions (Evert 2004, section 3.3)


@Capabilities(rankings="Is A better than B?", own_rows=True, clusters=True, layout="data")
@with_roles_but("gold", "positive", "min_grade", groups=NO_CONCLUSION)
def difference_region(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    n: float | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the candidates found in only one of two n-best lists, or whole lists.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure. No gold label is needed.
    a, b : names, optional
        The two measures. Pass only ``a`` for its whole list, or neither for the whole list of each
        measure.
    n : int or float
        Size of each list, or its size as a fraction of the candidates.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        The rows found in only one list, with their original order and index (Dataset: dimension
        row). The column ``list`` contains "a" or "b", and ``rank_a`` and ``rank_b`` contain the
        1-based ranks in the two rankings (NaN if a measure did not retrieve the candidate, with
        ``missing="absent"``). For whole lists, the rows of each list, best first, with
        the columns ``measure`` and ``rank``.

    Notes
    -----
    If a list ends inside a tie, ``ties`` determines which of the candidates with equal scores are
    returned. For a part of the data, such as one query, pass the same roles (``by``, ``key``,
    ``missing``) as for all data, because the default of ``ties`` depends on them.

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, section 3.3, defines the regions D1 and
    D2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": [3.0, 2.0, 1.0], "t": [1.0, 2.0, 3.0], "gold": [True, False, False]},
    ...     index=["kick bucket", "take place", "be there"],
    ... )
    >>> df.rankeval.difference_region("G2", "t", 1)
                  G2    t   gold list  rank_a  rank_b
    kick bucket  3.0  1.0   True    a       1       3
    be there     1.0  3.0  False    b       3       1
    >>> df.rankeval.difference_region(n=1)
                  G2    t   gold measure  rank
    kick bucket  3.0  1.0   True      G2     1
    be there     1.0  3.0  False       t     1
    """
    head = doors.head_of(data)
    if b is not None and head is not None and head.whole.reach < head.whole.total:
        raise ValueError(
            "a head does not contain the ranks of some candidates that are in only one list."
            f" {errors.COMPUTE}."
        )
    return doors.above_door(_rows_found(doors.below_door(data), a, b, n, roles), data)


def _rows_found(
    data: pd.DataFrame, a: Hashable, b: Hashable, n: float | None, roles: RankingRoles
) -> pd.DataFrame:
    """Return the rows found in only one of two lists, or the rows of each list, with ranks."""
    doors.check_data(data)
    sizes = doors.check_n(n)
    if sizes is None or np.size(sizes) != 1:
        raise ValueError(
            f"n={errors.shown(n)}: pass the size of the lists as one whole number or fraction."
        )
    chosen = Roles.of(doors.only_pair(data, a, b, roles, one=b is not None))
    added: tuple[str, ...] = _OF_REGION
    rows_of, order = _only_one_list, ["row"]
    if b is None:
        rows_of, added, order = _whole_lists, _OF_LISTS, ["rank", "number", GROUP]
        if a is not None:
            chosen = replace(chosen, measures=[a])
    chosen.check_ties()
    refuse_taken(added, data.columns)
    groups = _read_unlabeled(data, chosen)
    doors.check_not_above(sizes, groups.largest, groups.whole)
    candidates = doors.stacks(groups)
    if not candidates:
        return with_columns(native(data).iloc[:0], {name: [] for name in added})
    if isinstance(sizes, np.ndarray):
        totals = [part.total + 0 * part.group for part in candidates]
        doors.warn_of_short_groups(np.concatenate(totals), sizes)
    parts = [rows_of(part, sizes, chosen.ties) for part in candidates]
    table = doors.concatenated(parts)
    table = doors.rows_at(table, np.lexsort([table[name] for name in order]))
    return with_columns(native(data).iloc[table["row"]], {name: table[name] for name in added})


_OF_REGION, _OF_LISTS = ("list", "rank_a", "rank_b"), ("measure", "rank")


def _read_unlabeled(data: pd.DataFrame, roles: Roles) -> doors.Groups:
    """Read candidates whose gold label, if there is one, may have missing values."""
    roles = replace(roles, unjudged=roles.unjudged or "negative")
    if roles.gold is None:
        try:
            find_gold(data, roles)
        except ValueError:  # no label, so every candidate gets the same; grades are no measure
            data = with_columns(data.drop(columns="grade", errors="ignore"), {"gold": False})
            roles = replace(roles, gold=data.columns[-1], positive=None, min_grade=None)
    elif (
        isinstance(roles.gold, str)
        and roles.gold in data
        and roles.positive is None
        and data[roles.gold].dtype.kind in "iuf"
    ):
        roles = replace(roles, min_grade=1)  # the label has no effect
    with errors.hushed("gold="):  # labels that are all equal
        return doors.read_frame(data, roles)


def _whole_lists(candidates: Candidates, n: Shares | IntArray, ties: str) -> Rows:
    """Return the candidates of each list, as columns ``row`` and ``_OF_LISTS``."""
    size = n.of(candidates.total) if isinstance(n, Shares) else n
    ranking = candidates.rankings()
    exists = ranking.nbest(size, ties).exists  # (group, list, 1)
    listed = (ranking.ranks <= size) & ranking.eligible & exists
    group, number, candidate = np.nonzero(listed)
    return {
        GROUP: candidates.group[group],
        "number": number,
        "row": candidates.row[group, candidate],
        "measure": labels(candidates.measures)[number],
        "rank": ranking.ranks[listed],
    }


def _only_one_list(candidates: Candidates, n: Shares | IntArray, ties: str) -> Rows:
    """Return the candidates found in only one of two lists, as ``row`` and ``_OF_REGION``."""
    size = n.of(candidates.total) if isinstance(n, Shares) else n
    score = candidates.score  # (group, list, candidate)
    both = candidates.present.all(axis=1, keepdims=True)
    there = np.broadcast_to(both, score.shape)
    ranking = stats.Ranking.of(score, candidates.gold[:, np.newaxis], there, whole=candidates.whole)
    ranking.nbest(size, ties)  # this check rejects lists that end inside a tie
    rows, ranks = both, ranking.ranks
    if candidates.ends:
        rows = both & ~np.isnan(score)
        ranks = np.where(rows, ranks, np.nan)
    in_a, in_b = np.moveaxis((ranking.ranks <= size) & rows, 1, 0)
    only = (in_a != in_b) & (size <= both.sum(axis=-1))
    return {
        "row": candidates.row[only],
        "list": np.where(in_a, "a", "b").astype(object)[only],
        "rank_a": ranks[:, 0][only],
        "rank_b": ranks[:, 1][only],
    }


# ---- Tests of two difference regions, and the options for a comparison
REGION_COLUMNS = tuple(
    "precision_a precision_b difference ci_low ci_high overlap n_only_a n_only_b "
    "tp_only_a tp_only_b odds_ratio p_value p_mid".split()
)

_NOTED = "test alternative ci level target adjust adjust_over alpha n_resamples margin".split()


@dataclass(frozen=True, kw_only=True)
class Comparison(decisions.Decision):
    """The measures to compare, and the options of the comparison."""

    a: Hashable
    b: Names
    of: str
    test: str
    ci: str = "score"
    ties: str = "shared"
    target: str = "region"
    n_resamples: int | None = None
    seed: int = 0  #: draws of the swaps

    @classmethod
    def of_options(cls, **options: Any) -> Comparison:
        """Check and return the options."""
        for name in ("alpha", "level"):
            options[name] = errors.check_share(name, options[name])
        if options.get("n_resamples") is not None:
            options["n_resamples"] = errors.check_draws("n_resamples", options["n_resamples"])
        return cls(**options)

    def noted(self) -> Options:
        """Return attrs that describe the comparison for readers and plots."""
        noted: Options = dict(zip(_NOTED, attrgetter(*_NOTED)(self), strict=True))
        if self.of != "precision":
            noted["of"] = self.of
        if not self.swapped:
            del noted["n_resamples"]
        if self.adjust is None:
            del noted["adjust_over"]
        if self.swapped:
            noted["test"] = "swaps"
        elif self.test == "expected":
            noted["test"] = "score"
        return noted

    def family(
        self, candidates: Candidates, pairs: Sequence[Pair], lists: IntArray | None
    ) -> tuple[int, Options]:
        """Return the number of tests at each n, and the attribute that describes the family."""
        if self.adjust is None:
            return len(pairs), {}
        sizes = 0  # None means every n
        if lists is not None:
            sizes = lists.size
        tests = doors.distinct_tests(candidates, pairs, self.alternative, self.adjust)
        text = decisions.family_of(
            tests,
            decisions.compared_with(self.a, self.b),
            pairs=len(pairs),
            sizes=sizes,
            groups=candidates.n_groups,
            over=[self.adjust_over],
        )
        return tests, {"family": text}


def region_tests(table: Sequence[AnyArray], how: Comparison) -> tuple[FloatArray, FloatArray]:
    """Return the p-value and mid-p for two difference regions: tp_a, n_a, tp_b, n_b."""
    tp_a, n_a, tp_b, n_b = table
    table = np.clip(tp_a, 0, n_a), n_a, np.clip(tp_b, 0, n_b), n_b  # includes missing lists
    exact = stats.fisher_test(*table, how.alternative)
    p_value = exact.p_value
    if how.test == "midp":
        p_value = exact.p_mid
    elif how.test == "mcnemar":
        p_value = stats.mcnemar_test(*table, how.alternative)
    return p_value, exact.p_mid


# ---- Compare lists that end inside blocks of equal scores


def of_pair(lists: PairRanks, row: tuple[int, ...], n: IntArray) -> TiedLists:
    """Return the two lists for one pair, restricted to candidates with both scores."""
    a, b = (ties.ranking_alone(side, row, lists.present[row]) for side in (lists.a, lists.b))
    return TiedLists(a, b, n)


# ---- The mean over all orders (ties="expected")


def check_means(data: Any, *, swapped: bool = False) -> None:
    """Raise an error for ties="expected" with swaps, or if a head of the data may split ties."""
    if swapped:
        raise ValueError(
            "ties='expected' with adjust='max-t': label swaps need lists of whole candidates. Pass"
            " another adjustment, such as adjust='holm', or ties='shared'."
        )
    head = doors.head_of(data)
    if head is not None and head.whole.reach < head.whole.total:
        raise ValueError(
            "ties='expected' needs all candidates with equal scores, but a head from a Dask"
            " DataFrame may contain only some of them. Pass ties='shared', or compute the columns"
            " you use: ddf[[...]].compute().rankeval."
        )


def mean_columns(lists: PairRanks, n: IntArray, alternative: str) -> Columns:
    """Return the columns for a comparison of means over all tie orders."""
    names = [*REGION_COLUMNS[:3], *REGION_COLUMNS[5:], "size_a", "size_b", "error", "freedom"]
    names += ["edge_a", "edge_b"]
    compute = partial(_means_of_pair, lists, n, alternative=alternative)
    columns = in_rows(lists.exists, names, compute)
    return {**columns, "cuts_tie": lists.cuts_tie(n)}


def _means_of_pair(
    lists: PairRanks,
    n: IntArray,
    row: tuple[int, ...],
    there: BoolArray,
    *,
    alternative: str,
) -> Options:
    """Return the columns of one pair."""
    sizes = n[there]
    pair = of_pair(lists, row, sizes)
    (tp_a, tp_b), (only_a, only_b) = pair.tp, pair.tp_only
    size_a, size_b = pair.effective()
    return {
        "precision_a": tp_a / sizes,
        "precision_b": tp_b / sizes,
        "difference": (tp_a - tp_b) / sizes,
        "overlap": sizes - pair.only,
        "n_only_a": pair.only,
        "n_only_b": pair.only,
        "tp_only_a": only_a,
        "tp_only_b": only_b,
        "odds_ratio": stats.sample_odds_ratio(only_a, pair.only, only_b, pair.only),
        "size_a": size_a,
        "size_b": size_b,
        "error": pair.error(),
        "edge_a": pair.edges[0],
        "edge_b": pair.edges[1],
        "freedom": np.inf,
        "p_value": pair.p(alternative),
    }


def _limits_of_means(*columns: FloatArray, level: float) -> stats.Limits:
    """Return limits for means over tie orders, from the wider of two intervals.

    The effective number of candidates in the regions is chosen to match the variance of the means.
    """
    tp_a, tp_b, only, n, size_a, size_b, error = columns
    whole = np.where(only > 0.0, only, 1.0)
    share_a = np.clip(tp_a / whole, 0.0, 1.0)
    share_b = np.clip(tp_b / whole, 0.0, 1.0)
    low, high = stats.corrected_score(share_a * size_a, size_a, share_b * size_b, size_b, level)
    low = np.where(only > 0.0, low * (only / n), 0.0)
    high = np.where(only > 0.0, high * (only / n), 0.0)
    difference = (tp_a - tp_b) / n
    half = stats.z_of(level) * error
    low = np.fmin(low, difference - half)
    high = np.fmax(high, difference + half)
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


OF_MEANS = Interval(_limits_of_means, (*decisions.REGIONS, "size_a", "size_b", "error"))
"""The interval for a difference of means over all orders of equal scores."""


# ---- Measure the sensitivity of a comparison to the order of equal scores

COLUMNS = tuple("measure_a measure_b n p_min p_median p_max cuts_tie".split())


@Capabilities(rankings="Is A better than B?", layout="pair n", quantity="p-value", test="fisher")
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
    """Return the range of p-values over orders of equal scores.

    Parameters
    ----------
    data, a, b, n, **roles
        As in :func:`compare`.
    n_keys : int
        Number of orders. The first order is the order in :func:`compare`, and all other orders are
        random. The two measures use the same orders.

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

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, footnotes 5 and 6, breaks ties with
    random jitter.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"f": [3, 2, 2, 2, 2, 1, 1, 1], "G2": range(8, 0, -1)})
    >>> df["gold"] = [True] * 3 + [False] * 5
    >>> df.rankeval.tie_sensitivity("G2", "f", [3, 5])
      measure_a measure_b  n     p_min  p_median  p_max  cuts_tie
    0        G2         f  3  0.333333       1.0    1.0      True
    1        G2         f  5  1.000000       1.0    1.0     False
    """
    keys = errors.check_draws("n_keys", n_keys)
    sizes = doors.check_n(n)
    chosen = Roles.of(roles)
    return doors.tabulate(
        data,
        doors.only_pair(data, a, b, roles),
        partial(_rows_of_orders, pair=(a, b), n_keys=keys, seed=chosen.draws, ties=chosen.ties),
        COLUMNS,
        can(tie_sensitivity),
        n=sizes,
        attrs={"n_keys": keys},
    )


def _rows_of_orders(
    candidates: Candidates, n: IntArray | None, *, pair: Pair, n_keys: int, seed: int, ties: str
) -> Rows:
    """Return the rows of one pair."""
    pairs = doors.pair_names(candidates.measures, *pair)
    total = (n_keys - 1) * len(candidates.group)
    with errors.progress_bar(total=total, what="ordering ties", unit="orders") as advance:
        kernel = partial(_p_over_orders, n_keys=n_keys, seed=seed, advance=advance)
        return doors.pair_rows(candidates, pairs, kernel, n, ties=ties)


def _p_over_orders(
    lists: PairRanks, n: IntArray, *, n_keys: int, seed: int, advance: Callable[[int], object]
) -> Columns:
    """Return the range of p-values over orders of equal scores: (group, pair, n)."""
    shape = lists.exists.shape
    p_values = np.full((3, *shape), np.nan)
    for row in np.ndindex(shape[:-1]):
        sizes = n[lists.exists[row]]
        a, b, gold = lists.of(row)
        present = lists.present[row]
        own = lists.draws_of(row)
        most = int(sizes.max(initial=0))
        sides = ((lists.a, a), (lists.b, b))
        tied = [Tied.of(side.score[row][present], ranks, most) for side, ranks in sides]
        first = np.stack(ranking.nbest_regions(a, b, gold, sizes).table(sizes))
        listed = [_p_value(first)]
        for number in range(1, n_keys):
            if any(x.candidate.size for x in tied):
                keys = ranking.other_order(own, seed, number)
                r = ranking.nbest_regions(tied[0].ranks(keys), tied[1].ranks(keys), gold, sizes)
                table = np.stack(r.table(sizes))
                other = (table != first).any(axis=0)
                p = listed[0].copy()
                p[other] = _p_value(table[:, other])
                listed.append(p)
            advance(1)
        if sizes.size:
            quantiles = np.quantile(listed, [0.0, 0.5, 1.0], axis=0)
            p_values[slice(None), *row, lists.exists[row]] = quantiles
    return {
        "p_min": p_values[0],
        "p_median": p_values[1],
        "p_max": p_values[2],
        "cuts_tie": lists.exists & lists.cuts_tie(n),
    }


class Tied(NamedTuple):
    """Store one ranking's tied candidates, whose order is arbitrary."""

    rank: IntArray  #: (candidate) ranks of all candidates
    candidate: IntArray  #: the tied candidates, best first
    above: IntArray  #: number of candidates above the tied block

    @classmethod
    def of(cls, score: FloatArray, rank: IntArray, most: int) -> Tied:
        """Return the candidates in tied blocks that begin within the first ``most`` ranks."""
        order = ranking.inverse(rank - 1)
        start, end = ranking.block_edges(score[order])
        tied = np.flatnonzero((end - start > 1) & (start < most))
        return cls(rank, order[tied], start[tied])

    def ranks(self, keys: stats.Keys) -> IntArray:
        """Return ranks, with equal scores ordered by different keys."""
        result = self.rank.copy()
        again = np.lexsort((keys[self.candidate], self.above))
        result[self.candidate[again]] = self.rank[self.candidate]
        return result


def _p_value(table: IntArray) -> FloatArray:
    tp_a, n_a, tp_b, n_b = table
    result: FloatArray = stats.fisher_test(tp_a, n_a, tp_b, n_b, "two-sided").p_value
    return result
