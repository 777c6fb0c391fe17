"""Ask a question of the candidates of every group, and arrange the answer."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd import tables
from rankeval_pd.capabilities import Capabilities
from rankeval_pd.decisions.averages import check_groups
from rankeval_pd.decisions.verdicts import GROUP, PAIR, PLACE, STANDS, Rows
from rankeval_pd.doors.candidates import (
    SHARE,
    Data,
    Groups,
    SameOrder,
    above_door,
    below_door,
    check_data,
    count_distinct,
    read_frame,
    refuse_each,
)
from rankeval_pd.doors.columns import WIDTH, Shares, Sizes, check_not_above, longest_list
from rankeval_pd.doors.heads import refuse_head
from rankeval_pd.errors import is_known, shown, unknown_name
from rankeval_pd.memory import check_table
from rankeval_pd.progress import progress_bar
from rankeval_pd.roles import Names, Roles, as_names, warn_of_same_order
from rankeval_pd.stats import ranking
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.ranking import Keys, Ranking, Regions, Size, Whole, by_position, stands_for
from rankeval_pd.tables import taken_at

# -------------------------------------------------------------------------------------------------
# Name the compared pairs of measures, and store the two rankings of each pair.


def only_pair(
    data: Any, a: Hashable, b: Names, roles: Mapping[str, Any], *, one: bool = False
) -> dict[str, Any]:
    """Return the roles with the compared measures. ``one`` allows only one pair."""
    check_data(data)
    if one and (b is None or isinstance(b, list)):
        raise TypeError(f"b={b!r}: pass one measure to compare with a.")
    if b is not None and a is None:
        raise ValueError(f"b={b!r} without a: pass both measures, a= and b=.")
    compared = [("a", a), ("b", b)]
    if isinstance(b, list):
        compared[1:] = [("b", name) for name in b]
    for role, name in compared:
        if not is_known(name, [name]):  # names are hashable
            raise unknown_name(role, name, list(data.columns))
    _check_pair_measure("a", a, data.columns)
    for name in others_of(b):
        _check_pair_measure("b", name, data.columns)
    if b is None:
        return dict(roles)
    if a in set(others_of(b)):
        raise ValueError(f"a and b both name {shown(a)}: pass two different measures.")
    if roles.get("measures") is not None:
        meant = as_names(roles["measures"], data.columns)
        for role, name in (("a", a), *(("b", other) for other in others_of(b))):
            if not is_known(name, meant):
                raise unknown_name(role, name, meant)
        known = list(data.columns)
        for name in meant:
            if not is_known(name, known):
                raise unknown_name("measures", name, known)
    return {**roles, "measures": [a, *others_of(b)]}


def others_of(b: Names) -> list[Hashable]:
    """Return a list of the measures to compare with ``a``."""
    if isinstance(b, list):
        return list(dict.fromkeys(b))
    if b is None:
        return []
    return [b]


def _check_pair_measure(role: str, name: Hashable, columns: pd.Index) -> None:
    """Raise an error with a hint if a list size is passed as a measure."""
    size = isinstance(name, (int, np.integer, range, list)) and not isinstance(name, bool)
    if name is None or (isinstance(name, Hashable) and name in columns):
        return
    if size:
        raise TypeError(f"{role}={name!r} is not a measure. For the list size, write n={name!r}.")
    raise unknown_name(role, name, columns)


class PairRanks(NamedTuple):
    """Store two rankings of the candidates that have both scores."""

    a: Ranking
    b: Ranking
    draws: Keys  #: the key for each candidate's random draws
    total: IntArray  #: the number of candidates that both measures rank
    exists: BoolArray  #: whether both lists of size n exist
    cluster: IntArray | None = None  #: the number of each candidate's group, or None

    @property
    def gold(self) -> BoolArray:
        """Return whether each candidate is a true positive that has both scores."""
        return self.a.gold

    @property
    def present(self) -> BoolArray:
        """Return whether each candidate has both scores."""
        return self.a.present

    @property
    def whole(self) -> Whole | None:
        """Return the counts of all candidates for heads."""
        return self.a.whole

    @property
    def ranks(self) -> tuple[IntArray, IntArray]:
        """Return the rank of each candidate in both rankings, starting at 1."""
        return self.a.ranks, self.b.ranks

    def regions(self, n: IntArray) -> Regions:
        """Return the difference regions of lists of size n, and their overlap."""
        return ranking.nbest_regions(*self.ranks, self.gold, n)

    def of(self, row: tuple[int, ...]) -> tuple[IntArray, IntArray, BoolArray]:
        """Return ranks and labels for one pair in one batch element."""
        here = self.present[row]
        return self.a.ranks[row][here], self.b.ranks[row][here], self.gold[row][here]

    def clusters_of(self, row: tuple[int, ...]) -> IntArray | None:
        """Return the candidate groups for one pair in one batch element."""
        if self.cluster is None:
            return None
        result: IntArray = self.cluster[row][self.present[row]]
        return result

    def draws_of(self, row: tuple[int, ...]) -> Keys:
        """Return the keys for random draws, with one key per group."""
        result: Keys = self.draws[row][self.present[row]]
        together = self.clusters_of(row)
        if together is None:
            return result
        return keys_of_clusters(result, together)


def keys_of_clusters(keys: Keys, cluster: IntArray) -> Keys:
    """Return one key per group, so that swaps affect whole groups."""
    numbers, own = np.unique(cluster, return_inverse=True)
    least = np.full(numbers.size, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(least, own, keys)
    return least[own]


def with_empty_places(lists: PairRanks) -> PairRanks:
    """Pad the rankings with empty places after the last score.

    Empty places count as false positives, so that precision refers to n. The two rankings share the
    empty places, so a place that is empty in both lists does not affect comparisons.
    """
    more = max(
        int((x.present & ~x.eligible).sum(axis=-1).max(initial=0)) for x in (lists.a, lists.b)
    )
    if lists.whole is not None:
        more = lists.whole.reach  # a head is padded to the requested number of places
    cluster = lists.cluster
    if cluster is not None:
        # each empty place is a group of its own
        cluster = _padded(cluster, cluster.max(initial=-1) + np.arange(1, more + 1))
    return PairRanks(
        _ranking_with_places(lists.a, more),
        _ranking_with_places(lists.b, more),
        _padded(lists.draws, by_position(more)),
        lists.total,
        lists.exists,
        cluster,
    )


def _ranking_with_places(side: Ranking, more: int) -> Ranking:
    """Return a ranking with empty places after its last score."""
    last = side.eligible.sum(axis=-1)[..., np.newaxis]
    later = np.where(side.ranks > last, side.ranks + more, side.ranks)
    places = np.arange(1, more + 1)
    # (..., candidate) -> (..., candidate and place)
    ranks = np.concatenate([later, last + places], axis=-1)
    # new distinct scores, so that empty places are not tied
    steps = np.finfo(float).min * (1.0 - places * np.finfo(float).eps)
    return replace(
        side,
        score=_padded(side.score, steps),
        gold=_padded(side.gold, np.zeros(more)),
        present=_padded(side.present, np.ones(more)),
        positions=ranking.inverse(ranks),
    )


def _padded(values: AnyArray, filling: AnyArray) -> AnyArray:
    """Return values of candidates, followed by values of the empty places."""
    empty = np.broadcast_to(filling, (*values.shape[:-1], filling.size)).astype(values.dtype)
    return np.concatenate([values, empty], axis=-1)


# -------------------------------------------------------------------------------------------------
# Ask questions about rankings: candidates come in as arrays, rows leave as a table.
#
# A *question* is a function that takes :class:`Candidates` and list sizes and returns :data:`Rows`,
# one row per measure or pair and list size. :func:`tabulate` asks it for every group of a
# DataFrame.

Pair = tuple[Hashable, Hashable]
# columns of numbers, or -1
NAMES = (
    "measure",
    "measure_a",
    "measure_b",
    "system",
    "system_a",
    "system_b",
    "leaning",
    "better",
)
_TOGETHER = 1_000_000  # largest number of scores that are ranked in one call
_LINES = (GROUP, "measure", PAIR, "p", "alpha")  # rows with equal values differ only in n
_RANKS = 4_000_000  # largest number of ranks in one block of pairs


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidates:
    """Groups of equally many candidates, sorted by the tie key."""

    measures: Sequence[Hashable]
    score: FloatArray  #: (group, measure, candidate); larger is better
    gold: BoolArray  #: (group, candidate)
    present: BoolArray  #: (group, measure, candidate): whether the measure ranks the candidate
    row: IntArray  #: (group, candidate): position in the data
    sign: FloatArray  #: (measure): -1 if lower scores are better
    group: IntArray  #: (group): the number of each group
    n_groups: int  #: number of groups in the data
    ends: bool  #: whether lists end before candidates without a score
    dtypes: Sequence[object]  #: (measure): in which thresholds are compared
    draws: Keys | None = None  #: (group, candidate): keys for random draws
    cluster: IntArray | None = None  #: (group, candidate): number of the candidate's cluster
    votes: FloatArray | None = None  #: (group, candidate): mean vote of the annotators
    whole: Whole | None = None  #: counts of all candidates, if these are only the best
    same: SameOrder | None = None  #: measures that rank all candidates identically
    counts: Size | None = None  #: (group, measure): N and N+, if no candidates are known

    @property
    def total(self) -> int:
        """Return the number of candidates in a group."""
        if self.whole is not None:
            return self.whole.total
        return int(self.gold.shape[-1])

    def sizes(self, n: IntArray | None) -> IntArray:
        """Return the list sizes; None means every n."""
        if n is None:
            return ranking.every(self.gold.shape[-1], self.whole)
        return n

    @cached_property
    def order(self) -> IntArray:
        """Return the candidates in order of rank, (group, measure, rank), sorted once."""
        return self.rankings().order

    @property
    def keys(self) -> Keys:
        """Return the keys for random draws, the same for all measures: (group, 1, candidate)."""
        assert self.draws is not None
        return self.draws[:, np.newaxis]

    @property
    def clusters(self) -> IntArray | None:
        """Return the clusters, the same for all measures: (group, 1, candidate), or None."""
        if self.cluster is None:
            return None
        return self.cluster[:, np.newaxis]

    def sides(self, pairs: Sequence[Pair]) -> IntArray:
        """Return the numbers of the two measures of each pair: (pair, 2)."""
        numbers = {name: k for k, name in enumerate(self.measures)}
        return np.array([[numbers[a], numbers[b]] for a, b in pairs], dtype=int).reshape(-1, 2)

    def rankings(self, measures: Sequence[int] | AnyArray | None = None) -> Ranking:
        """Return the ranking of each measure: (group, measure)."""
        score, present, whole = self.score, self.present, self.whole
        order = vars(self).get("order")  # only if already sorted
        if measures is not None:
            chosen = np.asarray(measures)
            score, present = score[:, chosen], present[:, chosen]
            order = taken_at(order, (slice(None), chosen))
            if whole is not None:
                whole = whole.of(chosen)
        gold = self.gold[:, np.newaxis] & present
        return Ranking(score, gold, present, self.ends, whole, order)

    def blocks(self) -> Iterator[list[int]]:
        """Yield blocks of measures whose rankings fit in memory together."""
        width = max(1, _TOGETHER // max(1, self.gold.size))
        if self.whole is not None:
            width = len(self.measures)
        for start in range(0, max(len(self.measures), 1), width):
            yield list(range(start, min(start + width, len(self.measures))))

    def positives(self) -> IntArray:
        """Return the number of true positives that each measure ranks: (group, measure)."""
        counts: IntArray = (self.gold[:, np.newaxis] & self.present).sum(axis=-1)
        return counts

    def common_size(self) -> Size:
        """Return N and N+ of each group, which must be equal for all measures: (group)."""
        counts = self.counts
        if counts is None:
            counts = self.rankings().size
        return Size(*(_same_for_all(count) for count in counts))


def _same_for_all(counts: IntArray) -> IntArray:
    """Drop the measure axis of counts, which must be equal for all measures."""
    if (counts != counts[..., :1]).any():
        raise ValueError(
            "missing='drop': the measures score different candidates, so there"
            " is no common random model. Pass one measure at a time, measures=..., or"
            " missing='last'."
        )
    return counts[..., 0]


def stacks(groups: Groups) -> list[Candidates]:
    """Stack groups of equal size, smallest first."""
    sizes = np.bincount(groups.number, minlength=len(groups.keys))
    starts = np.cumsum(sizes) - sizes
    known = groups.columns
    result = []
    same = groups.same
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        rows = groups.order[starts[chosen, np.newaxis] + np.arange(size)]  # (group, candidate)
        stacked = {name: np.moveaxis(x[..., rows], -2, 0) for name, x in known.items()}
        # kernels read contiguous arrays faster
        arrays = {name: np.ascontiguousarray(x) for name, x in stacked.items()}
        places = groups.places_at(rows)
        result.append(
            Candidates(
                measures=list(groups.measures),
                score=arrays["score"],
                gold=arrays["gold"],
                present=arrays["present"],
                draws=arrays.get("draws"),
                cluster=arrays.get("cluster"),
                votes=arrays.get(SHARE),
                row=places,
                sign=groups.signs,
                group=chosen,
                n_groups=len(groups.keys),
                ends=groups.ends,
                dtypes=groups.dtypes,
                whole=groups.whole,
                same=same,
            )
        )
        if same is not None:
            same = same._replace(named=True)  # warn about measures only once
    return result


def counted(groups: Groups) -> Candidates:
    """Return groups of any size, of which only N and N+ are known."""
    number, measures = len(groups.keys), len(groups.size.total.T)
    nobody = np.zeros((number, 0), dtype=np.int64)
    of_measures = np.zeros((number, measures, 0))
    return Candidates(
        measures=list(groups.measures),
        score=of_measures,
        gold=nobody > 0,
        present=of_measures > 0,
        row=nobody,
        sign=groups.signs,
        group=np.arange(number),
        n_groups=number,
        ends=groups.ends,
        dtypes=groups.dtypes,
        counts=groups.size,
    )


# -------------------------------------------------------------------------------------------------
# Apply a kernel to each measure, or to the two rankings of each pair


def measure_rows(
    candidates: Candidates,
    kernel: Callable[[Ranking, Candidates], Mapping[str, AnyArray]],
    along: Mapping[str, AnyArray] | None = None,
) -> Rows:
    """Return one row per group, measure and list size.

    Parameters
    ----------
    candidates : Candidates
    kernel : callable
        A function that takes the rankings of some measures and the candidates with these measures,
        and returns named columns (group, measure, ...) along the sizes, or (group, measure).
        ``exists`` marks the rows to keep.
    along : mapping, optional
        Names and labels of the axes behind the measures.
    """
    along = along or {}
    wide = int(np.prod([len(labels) for labels in along.values()]))
    number = len(candidates.measures)
    what = f"{number:,} measures at {wide:,} values of {' and '.join(map(str, along))}"
    check_table(len(candidates.group) * number * wide, what)
    blocks = list(candidates.blocks())
    if len(blocks) == 1:
        columns = kernel(candidates.rankings(), candidates)
        return rows_of(columns, candidates, "measure", blocks[0], along)
    parts = []
    bar = progress_bar(total=number, what="ranking candidates", unit="measures", alone=True)
    with bar as advance:
        for block in blocks:
            columns = kernel(candidates.rankings(block), _only(candidates, block))
            parts.append(rows_of(columns, candidates, "measure", block, along))
            advance(len(block))
    return in_group_order(parts)


def _only(candidates: Candidates, measures: list[int]) -> Candidates:
    """Return the candidates with fewer measures."""
    return replace(
        candidates,
        measures=[candidates.measures[k] for k in measures],
        score=candidates.score[:, measures],
        present=candidates.present[:, measures],
        sign=candidates.sign[measures],
        dtypes=[candidates.dtypes[k] for k in measures],
    )


def rows_of(
    columns: Mapping[str, AnyArray],
    candidates: Candidates,
    name: str,
    numbers: Sequence[int] | AnyArray,
    along: Mapping[str, AnyArray],
) -> Rows:
    """Return columns (group, measure or pair, ...) as rows in this order."""
    groups = candidates.group
    shape = (len(groups), len(numbers), *(len(labels) for labels in along.values()))
    labels = [groups, np.asarray(numbers), *along.values()]
    names = [GROUP, name, *along]
    flat: dict[str, AnyArray] = {}
    for axis, (key, values) in enumerate(zip(names, labels, strict=True)):
        flat[key] = _along_rows(np.asarray(values), axis, shape)
    if along:
        axis = 2
        if "n" in along:
            axis = names.index("n")
        flat[PLACE] = _along_rows(np.arange(shape[axis]), axis, shape)
    for key, values in columns.items():
        missing = (1,) * (len(shape) - values.ndim)
        flat[key] = np.broadcast_to(values.reshape(*values.shape, *missing), shape).reshape(-1)
    exists = flat.pop("exists", None)
    if exists is not None and not exists.all():
        flat = {key: values[exists] for key, values in flat.items()}
    return flat


def _along_rows(labels: AnyArray, axis: int, shape: tuple[int, ...]) -> AnyArray:
    """Repeat labels of one axis for all rows."""
    along = [1] * len(shape)
    along[axis] = labels.size
    return np.broadcast_to(labels.reshape(along), shape).reshape(-1)


def in_group_order(parts: Sequence[Rows]) -> Rows:
    """Concatenate rows, with the rows of each group together."""
    if len(parts) == 1:
        return parts[0]
    table = concatenated(parts)
    return rows_at(table, np.argsort(table[GROUP], kind="stable"))


def concatenated(parts: Sequence[Rows]) -> Rows:
    """Concatenate rows with the same columns."""
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def rows_at(table: Rows, rows: AnyArray | slice) -> Rows:
    """Return the rows at these positions, or where a mask is True."""
    return {name: values[rows] for name, values in table.items()}


PairKernel = Callable[[PairRanks, IntArray], Mapping[str, AnyArray]]


def pair_rows(
    candidates: Candidates,
    pairs: Sequence[Pair],
    kernel: PairKernel,
    n: IntArray | None,
    *,
    ties: str,
    over_n: bool = True,
    alternative: str = "two-sided",
    advance: Callable[[int], object] = lambda _: None,
) -> Rows:
    """Return one row per group, pair and list size, for pairs of measures.

    Parameters
    ----------
    candidates : Candidates
    pairs : sequence of pairs of names
    kernel : callable
        A function that takes :class:`PairRanks` and the sizes, and returns named columns
        (group, pair, n), or (group, pair) if not ``over_n``.
    n : array of int or None
        List sizes. None means every n.
    ties : str
        How tied candidates are counted.
    over_n : bool
        Whether there is one row for each n. If not, a row exists if all requested lists exist.
    alternative : str
        Direction of the tests: one-sided tests of (a, b) and (b, a) differ.
    advance : callable, optional
        A function to call with the number of finished pairs, multiplied by the groups.
    """
    sizes = candidates.sizes(n)
    sides = candidates.sides(pairs)
    groups = len(candidates.group)
    along = {}
    if over_n:
        what = f"{len(pairs):,} pairs of measures at {sizes.size:,} list sizes"
        check_table(groups * len(pairs) * sizes.size, what)
        along["n"] = sizes
    width = max(1, _RANKS // max(1, candidates.gold.size))
    parts = []
    for start in range(0, max(len(pairs), 1), width):
        block = sides[start : start + width]
        lists = _pair_ranks(candidates, block, sizes, ties, every=n is None)
        columns = dict(kernel(lists, sizes))
        exists: AnyArray = lists.exists
        if not over_n and n is None:
            exists = np.asarray(exists.any(axis=-1))
        elif not over_n:
            exists = np.asarray(exists.all(axis=-1))
        columns.setdefault("exists", exists)
        chosen = range(start, start + len(block))
        parts.append(rows_of(columns, candidates, PAIR, chosen, along))
        advance(len(block) * groups)
    return with_pairs(in_group_order(parts), candidates, pairs, alternative)


def with_pairs(
    table: Rows, candidates: Candidates, pairs: Sequence[Pair], alternative: str
) -> Rows:
    """Add the two measures of each pair, and the first pair with the same two rankings."""
    place, sides = table[PAIR], candidates.sides(pairs)
    table["measure_a"], table["measure_b"] = sides[place, 0], sides[place, 1]
    stands = standing_pairs(candidates, pairs, alternative)
    if stands is not None:
        table[STANDS] = stands[place]
    return table


def pair_names(measures: Sequence[Hashable], a: Hashable, b: Names) -> list[Pair]:
    """Return the pairs to compare, given up to two names."""
    if a is None:
        pairs = list(itertools.combinations(measures, 2))
    elif a not in set(measures):
        raise unknown_name("a", a, measures)
    else:
        others = others_of(b)
        if b is None:
            others = [m for m in measures if m not in {a}]
        for other in (name for name in others if name not in set(measures)):
            raise unknown_name("b", other, measures)
        pairs = [(a, other) for other in others]
    if not pairs:
        raise ValueError(
            f"a={a!r}, b={b!r}: there is only one measure, {measures[0]!r}, but a comparison needs"
            " two. Add a column with the scores of another measure."
        )
    return pairs


def common_counts(candidates: Candidates, pairs: Sequence[Pair]) -> tuple[IntArray, IntArray]:
    """Return N and N+ among the candidates that both measures rank: (group, pair)."""
    a, b = candidates.sides(pairs).T
    both = candidates.present[:, a] & candidates.present[:, b]
    return both.sum(axis=-1), (both & candidates.gold[:, np.newaxis]).sum(axis=-1)


def _pair_ranks(
    candidates: Candidates, sides: IntArray, sizes: IntArray, ties: str, *, every: bool
) -> PairRanks:
    """Return the two rankings of each pair, among the candidates that both measures rank."""
    both = candidates.present[:, sides[:, 0]] & candidates.present[:, sides[:, 1]]
    _ = candidates.order  # sorts once for all blocks
    a, b = (candidates.rankings(measures).among(both) for measures in sides.T)
    exists = sizes <= a.size.total[..., np.newaxis]  # (group, pair, n)
    if ties != "shared":
        n: IntArray | None = None
        if not every:
            n = sizes
        for side in (a, b):
            exists = exists & side.nbest(n, ties).exists
    draws = np.broadcast_to(candidates.keys, a.score.shape)
    cluster = None
    if candidates.cluster is not None:
        cluster = _for_pairs(candidates.cluster, a.score.shape)
    lists = PairRanks(a, b, draws, a.size.total, exists, cluster)
    if candidates.ends:
        return with_empty_places(lists)
    return lists


def _for_pairs(values: Any, shape: tuple[int, ...]) -> AnyArray:
    """Return values of candidates for every pair: (group, pair, candidate)."""
    return np.broadcast_to(values[:, np.newaxis], shape)


# ----------------------------------------------- Measures with identical rankings count only once


def standing_pairs(
    candidates: Candidates, pairs: Sequence[Pair], alternative: str = "two-sided"
) -> IntArray | None:
    """Return, for each pair, the first pair with the same two rankings, or -1 for equal rankings.

    The result is None if no two measures rank all candidates identically.
    """
    if candidates.same is None:
        return None
    a, b = candidates.same.first[candidates.sides(pairs)].T
    return stands_for(a, b, ordered=alternative != "two-sided")


def distinct_tests(
    candidates: Candidates, pairs: Sequence[Pair], alternative: str, adjust: str | None
) -> int:
    """Count the tests of a family of pairs; identical rankings have none.

    If the user did not name measures that are identical, the function warns once. Without an
    adjustment there is no family, so all pairs count.
    """
    stands = None
    if adjust is not None:
        stands = standing_pairs(candidates, pairs, alternative)
    if stands is None:
        return len(pairs)
    same = candidates.same
    if same is not None and not same.named:
        warn_of_same_order(list(candidates.measures), same.first.tolist())
    return count_distinct(pairs, stands)


# -------------------------------------------------------------------------------------------------
# Ask a question for every group of a DataFrame

Answer = tuple[Rows, Mapping[str, Any]]  # rows, and facts for the record
RankingQuestion = Callable[[Candidates, "IntArray | None"], "Rows | Answer"]
Finish = Callable[[Rows, Sequence[Hashable]], Rows]
Combination = Callable[[Rows, int], Rows]


def tabulate(
    data: Data,
    roles: Mapping[str, Any],
    question: RankingQuestion,
    columns: Sequence[str],
    able: Capabilities,
    *,
    n: Sizes = None,
    combine: Combination | None = None,
    finish: Finish | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Data:
    """Ask the question for every group, and return one table.

    Parameters
    ----------
    data : DataFrame
    roles : mapping
        The roles given as keywords.
    question : callable
        A function that takes :class:`Candidates` and list sizes (None means every n), and returns
        rows with the number of the group in the column ``GROUP``, or these rows and facts for
        ``attrs`` that depend on the data.
    columns : sequence of str
        The columns of the result, in order.
    able : Capabilities
        The capabilities from ``can(function)``, adjusted for the current call.
    n : array of int, Shares, optional
        List sizes. Shares are fractions of the candidates in each group, and add the column
        ``share``.
    combine : callable, optional
        A function that takes the rows of all groups and the number of groups, and returns rows
        without groups.
    finish : callable, optional
        A function that takes all rows and the names of the measures, for decisions
        about families.
    attrs : mapping, optional
        Notes on how the result was computed.
    """
    chosen = Roles.of(roles)
    _check_roles(chosen, able, combine)
    check_data(data)
    frame = below_door(data)
    if len(chosen.factors) > 1:  # a head contains the number of levels only for a single factor
        able = replace(able, heads=False)
    if not able.heads:
        refuse_head(frame)
    groups = read_frame(frame, chosen, scored=able.scores)
    added: list[str] = ["share"] * isinstance(n, Shares)
    groups = replace(groups, keys=tables.keys_apart(groups.keys, [*columns, *added]))
    whole = None
    if able.scores:
        whole = groups.whole
    check_not_above(n, groups.largest, whole)
    if combine is not None:
        check_groups(list(groups.keys.columns))
    if able.heads and able.n_keys == 1 and able.scores and isinstance(n, np.ndarray):
        groups = groups.head(longest_list(n, groups.largest))
    nothing = len(groups.keys) == 0
    if nothing:
        parts = _empty_stack(frame, chosen, able)
    elif able.counts and isinstance(n, np.ndarray):
        parts = [counted(groups)]
    else:
        parts = stacks(groups)
    answers = [_answer_of(question, part, n) for part in parts]
    table = concatenated([rows for rows, _ in answers])
    attrs = {**(attrs or {}), **_facts_of_all([facts for _, facts in answers])}
    if nothing:
        table = rows_at(table, slice(0))
    elif WIDTH.get() is None and (above := _above_all(n, table)):
        raise ValueError(f"{above}. Pass smaller n.")
    if combine is not None:
        table = combine(table, len(groups.keys))
        table[GROUP] = np.zeros(len(table[columns[0]]), dtype=np.int64)
    if finish is not None:
        table = finish(table, groups.measures)
    if isinstance(n, Shares) and "n" in table:
        table = _along_shares(table, n, {k: x.total for x in parts for k in x.group.tolist()})
        columns = [*columns, "share"]
    keys = groups.keys
    if combine is not None:
        keys = pd.DataFrame(index=[0])
    elif len(parts) > 1:
        table = rows_at(table, np.argsort(table[GROUP], kind="stable"))
    return above_door(leave_table(table, keys, columns, groups.measures, attrs), data)


def _check_roles(chosen: Roles, able: Capabilities, combine: Combination | None) -> None:
    """Refuse roles that the question does not support."""
    if not able.any_ties:
        chosen.check_ties()
    if able.scores and not able.ends:
        chosen.check_ends()
    if not (able.clusters and able.crossed):
        chosen.check_groups(crossed=able.clusters)
    if combine is not None:
        refuse_each(chosen, "combine=True or average=...")


def _empty_stack(data: pd.DataFrame, chosen: Roles, able: Capabilities) -> list[Candidates]:
    """Return one group without candidates, whose answer has the columns but no rows."""
    return stacks(read_frame(data, replace(chosen, by=None), scored=able.scores))[:1]


def _answer_of(question: RankingQuestion, candidates: Candidates, n: Sizes) -> Answer:
    """Ask the question for groups of one size."""
    if isinstance(n, Shares):
        n = np.unique(n.of(candidates.total))
    answer = question(candidates, n)
    if isinstance(answer, tuple):
        return answer
    return answer, {}


def _facts_of_all(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the facts of groups of all sizes, with the largest of different numbers."""
    facts: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            if isinstance(value, int):
                value = max(value, facts.get(name, value))
            facts[name] = value
    return facts


def _above_all(n: Sizes, table: Rows) -> str:
    """Return the error text for list sizes larger than every group."""
    if not isinstance(n, np.ndarray):
        return ""
    lacking = n
    if "n" in table:
        lacking = n[~np.isin(n, table["n"])]
    elif table[GROUP].size:  # one row for all list sizes
        return ""
    if not lacking.size:
        return ""
    return (
        f"n={int(lacking.flat[0])} exceeds the number of available candidates (excluding"
        " padding and, if missing='drop', missing scores)"
    )


def _along_shares(table: Rows, n: Shares, totals: Mapping[int, int]) -> Rows:
    """Repeat rows for shares that give the same n, and add the column ``share``."""
    group = table[GROUP]
    taken, share = [], []
    # the rows of one measure or pair (and p) follow one another, with n ascending
    labels = np.stack([table[name] for name in _LINES if name in table])
    starts = np.flatnonzero((labels[:, 1:] != labels[:, :-1]).any(axis=0)) + 1
    for rows in np.split(np.arange(group.size), starts):
        if not rows.size:
            continue
        sizes = n.of(totals[int(group[rows[0]])])
        for value, size in zip(n.values.tolist(), sizes.tolist(), strict=True):  # noqa: PD011
            at = rows[table["n"][rows] == size]
            taken.append(at)
            share.append(np.full(at.size, value))
    if not taken:
        return {**table, "share": np.zeros(0)}
    return {**rows_at(table, np.concatenate(taken)), "share": np.concatenate(share)}


def leave_table(
    table: Rows,
    keys: pd.DataFrame,
    columns: Sequence[str],
    measures: Sequence[Hashable],
    attrs: Mapping[str, Any] | None,
) -> pd.DataFrame:
    """Return rows as a table with the columns in order, and the columns of ``by`` first."""
    leaving = {}
    for name in columns:
        if name in NAMES:
            leaving[name] = named(table[name], measures)
        else:
            leaving[name] = table[name].copy()
    result = pd.DataFrame(leaving, copy=False)
    if keys.shape[1]:
        groups = keys.iloc[table[GROUP]].reset_index(drop=True)
        result = pd.concat([groups, result], axis=1)
    result.attrs.update(attrs or {})
    return result


def named(numbers: IntArray, names: Sequence[Hashable]) -> Any:
    """Return names by number, with the dtype that pandas uses for headers; -1 is missing."""
    present = pd.unique(numbers)
    present = present[present >= 0]
    known = [names[k] for k in present.tolist()] or list(names)
    header = pd.Series(pd.Index(known, tupleize_cols=False))
    place = np.full(len(names) + 1, -1, dtype=np.intp)
    place[present] = np.arange(present.size)
    if numbers.size and numbers.min() < 0:
        return header.reindex(place[numbers]).array
    return header.array.take(place[numbers])
