"""Read candidates from DataFrames and Datasets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from rankeval_pd import tables
from rankeval_pd.decisions import GROUP, PAIR, PLACE, STANDS, Rows, check_groups
from rankeval_pd.doors.columns import (
    ONE_GROUP,
    WIDTH,
    Data,
    Shares,
    Sizes,
    as_compared,
    check_guessed,
    check_not_above,
    cluster_codes,
    column_order,
    concatenated,
    gold_values,
    group_numbers,
    is_dask_frame,
    label_hashes,
    label_keys,
    label_values,
    leave_table,
    refuse_pooled,
    refuse_unlabeled,
    refuse_unscored,
    rows_at,
    score_values,
    sorted_in_groups,
    warn_of_counts,
    warn_of_dropped,
    warn_of_repeated,
    warn_of_unjudged,
    with_levels,
)
from rankeval_pd.errors import (
    AnyFunction,
    check_known,
    check_memory,
    check_table,
    no_table,
    progress_bar,
    shown,
    warn,
)
from rankeval_pd.options import READINGS, Capabilities, earlier_reading
from rankeval_pd.roles import (
    ANNOTATOR,
    Names,
    Roles,
    as_names,
    check_levels,
    check_pair,
    find_gold,
    find_measures,
    frame_column,
    refuse_dim,
    refuse_taken,
    signs_of,
    warn_of_same_order,
    with_columns,
    with_roles_of,
)
from rankeval_pd.stats import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    Keys,
    Ranking,
    Regions,
    Size,
    Whole,
    agreed,
    by_position,
    packed,
    ranking,
    same_order,
    stands_for,
)
from rankeval_pd.tables import Columns, FrameOrDataset, Keywords, Options, taken_at

# -------------------------------------------------------------------------------------------------
# Combine votes of several annotators, or evaluate each annotator separately.


class OneLabel(NamedTuple):
    """Store data with one gold label, and the combined votes."""

    data: Any  #: with "each", a frame contains each candidate once per annotator
    roles: Roles
    left_out: Any = None  #: candidates with votes but without a label; None for one annotator
    times: int = 1  #: how many times each row of a frame is repeated

    def of_frame(self) -> tuple[pd.DataFrame, IntArray | None]:
        """Return the rows to rank, with their positions in the data for several annotators."""
        if self.left_out is None:
            return self.data, None
        count = int(self.left_out.sum())
        total = int(np.size(self.left_out))
        if count and self.roles.agreement == "each":
            warn(
                f"gold: {count:,} of {total:,} votes are missing. Each annotator's ranking omits"
                " candidates without a vote from that annotator, so n-best lists include lower"
                " scores."
            )
        elif count:
            warn(
                f"gold: {count:,} of {total:,} candidates are excluded because their votes are"
                " tied. Pass agreement='any' or 'all' to keep them, or add a vote."
            )
        kept = np.flatnonzero(~self.left_out)
        columns = kept % (len(self.data) // self.times or 1)
        return self.data.iloc[kept], columns


def annotators_of(roles: Roles) -> list[Hashable]:
    """Return the annotators' names, or an empty list for a single gold label."""
    names = roles.gold
    if not isinstance(names, list):
        return []
    if len(dict.fromkeys(names)) < len(names) or len(names) < 2:
        raise ValueError(
            f"gold={shown(names)}: a list must name two or more annotators, each once. For a"
            f" single gold label, pass gold={names[0]!r}."
        )
    return names


def one_label(data: Any, roles: Roles) -> OneLabel:
    """Combine the votes of several annotators into one gold label."""
    names = annotators_of(roles)
    agreement = roles.agreement
    if not names:
        if roles.agreement != "majority":
            raise ValueError(
                f"agreement={agreement!r} needs several annotators. Pass a list of"
                f" their columns, gold=['a1', 'a2', 'a3'], or add the dimension {ANNOTATOR!r} to"
                " the gold label of a Dataset."
            )
        return OneLabel(data, roles)
    known = data.columns
    excluded = [name for name in as_names(roles.exclude, known) if name not in names]
    votes = np.stack([gold_values(data, name, roles, all_there=False) for name in names])
    roles = replace(roles, exclude=excluded or None, positive=None, min_grade=None)
    # the data with one label from the votes (annotator, candidate)
    several = ", ".join([*map(str, names[:6]), *["..."] * (len(names) > 6)])
    gold: Any = f"{agreement} of {several}"
    bare = data.drop(columns=[name for name in names if name in known])
    voted = ~np.isnan(votes).all(axis=0)
    times = 1
    if roles.agreement == "each":
        refuse_taken([ANNOTATOR], [*known, *data.index.names])
        parts = []
        for name, label in zip(names, votes, strict=True):
            annotator = pd.Series([name] * len(bare), index=bare.index)
            parts.append(with_columns(bare, {ANNOTATOR: annotator, gold: label}))
        whole = pd.concat(parts)
        times = len(names)
        roles = replace(roles, by=[ANNOTATOR, *as_names(roles.by, known)])
        label = votes.ravel()
        voted = np.tile(voted, times)
    else:
        label = agreed(votes, roles.agreement)
        whole = with_columns(bare, {gold: label})
    if known.nlevels > 1:
        gold = (gold, *[""] * (known.nlevels - 1))
    return OneLabel(whole, replace(roles, gold=gold), np.isnan(label) & voted, times)


def refuse_each(roles: Roles, what: str) -> None:
    """Raise a ValueError if annotators would be treated as independent samples."""
    if roles.agreement == "each":
        raise ValueError(
            f"agreement='each' with {what}: the annotators judge the same candidates, so their"
            " rankings are not independent. Pass agreement='majority', 'any' or 'all'."
        )


# -------------------------------------------------------------------------------------------------
# Count measures with identical rankings only once in a family of tests.


class SameOrder(NamedTuple):
    """Store the measures that rank all candidates identically."""

    first: IntArray  #: for each measure, the first measure with the same ranking
    named: bool  #: whether the user named the measures


def count_distinct(pairs: Sequence[Any], stands: IntArray | None) -> int:
    """Count distinct tests of pairs, excluding pairs of identical rankings."""
    if stands is None:
        return len(pairs)
    return max(len({*stands.tolist()} - {-1}), 1)


# -------------------------------------------------------------------------------------------------
# Read a DataFrame of candidates as arrays, and sort the rows by group and tie key.

_LARGE = 10_000  # above this number of candidates, short lists use only the best candidates


def check_data(data: object) -> None:
    """Raise a TypeError unless the data are a DataFrame or a Dataset."""
    if isinstance(data, FrameOrDataset):
        return
    if is_dask_frame(data):
        raise TypeError(
            "data is a Dask DataFrame, but functions need data in memory. Import rankeval_pd.dask "
            "and call its accessor, ddf.rankeval.nbest_precision(n), or collect the head, "
            "ddf.rankeval.head(n_max)."
        )
    wanted = "a pandas DataFrame with one row per candidate, or an xarray Dataset with a dimension"
    raise no_table("data", data, f"{wanted} 'candidate'; from_scores(y_true, scores) creates one")


def below_door(data: FrameOrDataset) -> pd.DataFrame:
    """Return the data as a DataFrame for type checkers, because the door answers Datasets."""
    return cast("pd.DataFrame", data)


class HeadFrame(pd.DataFrame):
    """Store the candidates of a head. Pandas methods return a plain DataFrame."""

    _metadata = ["known"]  # noqa: RUF012
    known: Any  #: a :class:`rankeval_pd.doors.dask.Head`

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame


class GroupFrame(pd.DataFrame):
    """Stand for the groups of a Dask DataFrame: the columns without rows."""

    _metadata = ["answers"]  # noqa: RUF012
    answers: AnyFunction  #: asks the workers, and returns the answers for all groups

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame


def head_of(data: object) -> Any:
    """Return the counts of all candidates if the data are a head, otherwise None."""
    if isinstance(data, HeadFrame):
        return data.known
    return None


def refuse_head(data: object) -> None:
    """Raise a ValueError if a head is not sufficient."""
    if isinstance(data, HeadFrame):
        whole = data.known.whole
        raise ValueError(
            f"this method needs all {whole.total:,} candidates, but the head contains only the"
            f" best {whole.asked:,} for each measure. Call the method on ddf.rankeval, or on a"
            " sample: ddf.sample(frac=...).compute().rankeval."
        )


def needed_ranks(n_max: int) -> int:
    """Return the last rank to keep for lists up to n_max.

    The precision at the end of a list is estimated from candidates near the end. Swapping labels
    moves the end by up to six standard deviations; this limit allows for four times that distance.
    """
    around = max(20, int(0.5 * n_max**0.8) + 1)
    swapped = 4 * (math.ceil(6.0 * math.sqrt(n_max / 2.0)) + 2)
    return n_max + max(around, swapped)


@dataclass(frozen=True)
class Groups:
    """Store the groups of a DataFrame."""

    keys: pd.DataFrame  #: one row per group, with the columns in ``by``
    number: IntArray  #: the number of each row's group
    tie_key: Keys  #: by which the rows of a group are sorted
    #: ``score`` and ``present`` (measure, row), ``gold``, ``draws``, ``cluster`` and ``votes``
    #: (row), as in :class:`rankeval_pd.doors.candidates.Candidates`
    columns: Mapping[str, AnyArray]
    measures: Sequence[Hashable]
    signs: FloatArray  #: -1 for measures whose scores were negated because lower is better
    ends: bool  #: whether lists end with the last scored candidate (missing="absent")
    whole: Whole | None  #: counts of all candidates if the data are a head
    places: IntArray | None  #: positions in the data if rows were excluded
    same: SameOrder | None  #: measures that rank all candidates identically
    dtypes: Sequence[object]  #: dtypes of the measures, in which thresholds are compared

    def head(self, n: IntArray) -> Groups:
        """Return the best candidates of each measure if a few are sufficient for lists of size n.

        The candidates are partitioned instead of sorted. All candidates are kept if there are
        groups, if scores are missing, or if many candidates are tied at the last rank.
        """
        total = self.number.size
        if total < _LARGE or self.whole is not None or len(self.keys) != 1 or self.ends:
            return self
        score = self.columns["score"]
        gold = self.columns["gold"]
        n_max = int(n.max(initial=1))
        keep = needed_ranks(n_max)
        apart = "cluster" in self.columns
        if 2 * keep > total or apart or not self.columns["present"].all():
            return self
        best = np.stack([x >= np.partition(x, total - keep)[total - keep] for x in score])
        kept = best.sum(axis=1)
        if (kept < keep).any() or (2 * kept > total).any():  # scores are missing or tied
            return self
        rows = np.flatnonzero(best.any(axis=0))
        positive = int(gold.sum())
        every = np.ones_like(kept)
        places = rows
        if self.places is not None:
            places = self.places[rows]
        return replace(
            self,
            number=self.number[rows],
            tie_key=self.tie_key[rows],
            columns={name: values[..., rows] for name, values in self.columns.items()},
            places=places,
            whole=Whole(
                total,
                positive,
                reach=keep,
                asked=n_max,
                end=kept,
                tp_end=(best & gold).sum(axis=1),
                scored=total * every,
                tp_scored=positive * every,
            ),
        )

    @property
    def size(self) -> Size:
        """Return N and N+: (group, measure)."""
        present = self.columns["present"]
        gold = self.columns["gold"]
        if self.whole is not None:
            return self.whole.size(1, len(present))
        return Size(self.tally(present), self.tally(present & gold))

    @property
    def largest(self) -> int:
        """Return the largest number of candidates that a measure has in a group."""
        if self.whole is not None:
            return self.whole.total
        return int(self.tally(self.columns["present"]).max(initial=0))

    def tally(self, of: BoolArray) -> IntArray:
        """Count rows by group, converting (measure, row) to (group, measure)."""
        counts = []
        for row in of:
            number = self.number
            if not row.all():
                number = number[row]
            counts.append(np.bincount(number, minlength=len(self.keys)))
        return np.stack(counts, axis=-1)


def read_frame(data: pd.DataFrame, asked: Roles, *, scored: bool = True) -> Groups:
    """Convert a DataFrame with one row per candidate to the internal form."""
    readings = READINGS.get()
    if readings is not None:
        known: Groups | None = earlier_reading(readings, data, asked, scored=scored)
        if known is not None:
            return known
    head = head_of(data)
    refuse_dim(asked.dim, "candidate")
    frame = with_levels(data, asked)
    refuse_pooled(frame, asked)
    label_of_all = one_label(frame, asked)
    (frame, places), roles = label_of_all.of_frame(), label_of_all.roles
    columns = frame.columns
    by = as_names(roles.by, columns)
    label = as_names(roles.label, columns)
    gold = find_gold(frame, roles)
    named = with_roles_of(gold, roles, columns)
    measures = find_measures(frame, roles, named, needed=scored)
    truth = gold_values(frame, gold, roles, all_there=head is None)
    check_memory(
        4.0 * len(measures) * len(frame),  # original, signed, sorted and requested scores
        f"{len(measures):,} measures of {len(frame):,} candidates",
        "Pass fewer measures at a time, measures=[...]",
    )
    # without a measure, there are no scores
    scores = np.full((max(len(measures), 1), len(frame)), np.nan)
    columns_read, dtypes = {}, []
    for row, measure in enumerate(measures):
        column = frame_column(frame, measure, "measures")
        scores[row] = score_values(column, measure)
        columns_read[measure] = column
        dtypes.append(column.dtype)
    if roles.ties == "trec":
        scores = as_compared(scores, roles.key)
    whole = None
    if head is not None:
        whole = head.of(measures, asked)
    ranked: list[Hashable] = measures or [None]
    signs = signs_of(ranked, roles, columns)
    scores *= signs[:, np.newaxis]  # larger is better
    # missing labels and scores; "last" and "absent" sort candidates without a score last
    true = truth == 1.0
    unlabeled = np.isnan(truth)
    unscored = np.isnan(scores)
    present = np.ones(scores.shape, dtype=bool)
    if roles.unjudged == "skip":
        present = np.broadcast_to(~unlabeled, scores.shape)
    elif roles.unjudged != "negative" and unlabeled.any():
        refuse_unlabeled(int(unlabeled.sum()), truth.size, gold)
    lacking = unscored & present
    if measures and roles.missing in ("raise", "drop") and lacking.any():
        if roles.missing == "raise":
            refuse_unscored(lacking.sum(axis=1), present.sum(axis=1), truth.size, ranked)
        warn_of_dropped(lacking, present, true, ranked)
        present = present & ~unscored
    keys, number = group_numbers(frame, by)
    if roles.unjudged == "negative" and scored:
        warn_of_unjudged(unlabeled, number, gold, by)
    cluster = None
    if roles.groups is not None:
        cluster = packed(
            *(cluster_codes(frame_column(frame, x, "groups"), x) for x in roles.factors)
        )
    check_levels(frame.index)
    labels = label_values(frame, label)
    draws = again = None
    if roles.key is not None:
        key = frame_column(frame, roles.key, "key")
        order = column_order(key, roles.key, number, falling=roles.ties == "trec")
        tie_key = ranking.inverse(order).view(np.uint64)
        draws = label_hashes(pd.Index(key.to_numpy()))
    elif scored:
        tie_key, again = label_keys(labels, roles.seed, number)
        draws = tie_key
    else:  # counts do not depend on the order of candidates
        tie_key = np.arange(number.size, dtype=np.uint64)
    same = None
    if scored:
        positive = int(true.sum())
        total = int((~unlabeled).sum())
        if whole is not None:
            positive, total = whole.positive, whole.total
        warn_of_counts(positive, total, gold)
        unnamed = not label and set(frame.index.names) <= set(by)  # only names of groups
        if again is not None and cluster is None and not (unnamed and by):
            warn_of_repeated(labels, again, by=by, label=label)
        if roles.measures is None:
            numbers: dict[str, IntArray] = {}
            if by:
                numbers["by"] = number
            if cluster is not None and len(roles.factors) == 1:
                numbers["groups"] = cluster
            named += as_names(roles.exclude, columns)
            check_guessed(frame, columns_read, named, taken_as="measures", groups=numbers)
        if len(measures) > 1 and whole is None:
            first = same_order(scores)
            if (first != np.arange(first.size)).any():
                same = SameOrder(first, roles.measures is not None)
    arrays: Columns = {"score": scores, "gold": true, "present": present}
    for name, values in (("draws", draws), ("cluster", cluster)):
        if values is not None:
            arrays[name] = values
    groups = Groups(
        keys,
        number,
        tie_key,
        arrays,
        ranked,
        signs,
        roles.ends,
        whole,
        places,
        same,
        dtypes,
    )
    if readings is not None:
        readings.append((data, asked, scored, groups))
    return groups


# -------------------------------------------------------------------------------------------------
# Name the compared pairs of measures, and store the two rankings of each pair.


def only_pair(data: Any, a: Hashable, b: Names, roles: Keywords, *, one: bool = False) -> Options:
    """Return the roles with the compared measures. ``one`` allows only one pair."""
    check_data(data)
    if one and (b is None or isinstance(b, list)):
        raise TypeError(f"b={shown(b)}: pass one measure to compare with a.")
    others = others_of(b)
    columns = data.columns
    check_pair(a, others)
    if a is None:
        return dict(roles)
    meant = as_names(roles.get("measures"), columns)
    for role, names in (("a", [a]), ("b", others), ("measures", meant)):
        check_known(role, names, columns)
        if meant and others:
            check_known(role, names, meant)
    if not others:
        return dict(roles)
    return {**roles, "measures": [a, *others]}


def others_of(b: Names) -> list[Hashable]:
    """Return a list of the measures to compare with ``a``."""
    if isinstance(b, list):
        return list(b)
    if b is None:
        return []
    return [b]


class PairRanks(NamedTuple):
    """Store two rankings of the candidates that have both scores."""

    a: Ranking
    b: Ranking
    draws: Keys  #: the key for each candidate's random draws
    size: Size  #: the candidates that both measures rank
    exists: BoolArray  #: whether both lists of size n exist
    cluster: IntArray | None  #: the number of each candidate's group, or None
    pairs: range  #: the numbers of the pairs

    @property
    def present(self) -> BoolArray:
        """Return whether each candidate has both scores."""
        return self.a.present

    @property
    def whole(self) -> Whole | None:
        """Return the counts of all candidates for heads."""
        return self.a.whole

    def regions(self, n: IntArray) -> Regions:
        """Return the difference regions of lists of size n, and their overlap."""
        return ranking.nbest_regions(self.a.ranks, self.b.ranks, self.a.gold, n)

    def cuts_tie(self, n: IntArray) -> BoolArray:
        """Return whether a list of size n excludes candidates with its last score."""
        return self.a.cuts_tie(n) | self.b.cuts_tie(n)

    def of(self, row: tuple[int, ...]) -> tuple[IntArray, IntArray, BoolArray]:
        """Return ranks and labels for one pair in one batch element."""
        here = self.present[row]
        return self.a.ranks[row][here], self.b.ranks[row][here], self.a.gold[row][here]

    def clusters_of(self, row: tuple[int, ...]) -> IntArray | None:
        """Return the candidate groups for one pair in one batch element."""
        result: IntArray | None = taken_at(taken_at(self.cluster, row), self.present[row])
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
    return lists._replace(
        a=_ranking_with_places(lists.a, more),
        b=_ranking_with_places(lists.b, more),
        draws=_padded(lists.draws, by_position(more)),
        cluster=cluster,
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
        positions=ranking.inverse(ranks - 1),
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
OPTIONAL = frozenset({"tp_sd", "n_groups"})  # columns that only some roles give
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
    n_measures: int  #: number of measures in the data
    ends: bool  #: whether lists end before candidates without a score
    dtypes: Sequence[object]  #: (measure): in which thresholds are compared
    draws: Keys | None = None  #: (group, candidate): keys for random draws
    cluster: IntArray | None = None  #: (group, candidate): number of the candidate's cluster
    whole: Whole | None = None  #: counts of all candidates, if these are only the best
    same: SameOrder | None = None  #: measures that rank all candidates identically
    counts: Size | None = None  #: (group, measure): N and N+, if no candidates are known
    order: IntArray | None = None  #: (group, measure, rank): the candidates, if already sorted

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

    def in_order(self) -> Candidates:
        """Return the candidates with their order, so that they are sorted once."""
        return replace(self, order=self.rankings().order)

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
        numbers = dict(zip(self.measures, range(len(self.measures)), strict=True))
        names = itertools.chain.from_iterable(pairs)
        return np.array(list(map(numbers.__getitem__, names)), dtype=int).reshape(-1, 2)

    def rankings(self, measures: Sequence[int] | AnyArray | None = None) -> Ranking:
        """Return the ranking of each measure: (group, measure)."""
        score = self.score
        present = self.present
        whole = self.whole
        order = self.order
        if measures is not None:
            chosen = np.asarray(measures)
            score = score[:, chosen]
            present = present[:, chosen]
            if order is not None:
                order = order[:, chosen]
            if whole is not None:
                whole = whole.of(chosen)
        gold = self.gold[:, np.newaxis] & present
        return Ranking(score, gold, present, self.ends, whole, order)

    def ranked(self) -> Iterator[tuple[range, Ranking, Candidates]]:
        """Yield the numbers, rankings and candidates of as many measures as fit in memory."""
        width = max(1, _TOGETHER // max(1, self.gold.size))
        number = len(self.measures)
        if self.whole is not None or number <= width:
            yield range(number), self.rankings(), self
            return
        bar = progress_bar(total=number, what="ranking candidates", unit="measures", alone=True)
        with bar as advance:
            for start in range(0, number, width):
                block = range(start, min(start + width, number))
                part = replace(
                    self,
                    measures=[self.measures[k] for k in block],
                    score=self.score[:, block],
                    present=self.present[:, block],
                    sign=self.sign[block],
                    dtypes=[self.dtypes[k] for k in block],
                    order=None,
                )
                yield block, self.rankings(block), part
                advance(len(block))

    def common_size(self) -> Size:
        """Return N and N+ of each group, which must be equal for all measures: (group)."""
        counts = self.counts
        if counts is None:
            counts = self.rankings().size
        if any((count != count[..., :1]).any() for count in counts):
            raise ValueError(
                "missing='drop': the measures score different candidates, so there"
                " is no common random model. Pass one measure at a time, measures=..., or"
                " missing='last'."
            )
        return Size(counts.total[..., 0], counts.positive[..., 0])


def stacks(groups: Groups, *, counts: bool = False) -> list[Candidates]:
    """Stack groups of equal size, smallest first; with ``counts``, keep only N and N+ of each."""
    shared: Options = {
        "measures": list(groups.measures),
        "sign": groups.signs,
        "n_groups": len(groups.keys),
        "n_measures": len(groups.measures),
        "ends": groups.ends,
        "dtypes": groups.dtypes,
        "whole": groups.whole,
        "same": groups.same,
    }
    if counts:  # of groups of any size
        size = groups.size
        nobody = np.zeros((*size.total.shape, 0))
        arrays: Options = {"score": nobody, "gold": nobody[:, 0] > 0, "present": nobody > 0}
        row = nobody[:, 0].astype(np.int64)
        group = np.arange(len(size.total))
        shared.update(whole=None, same=None)  # both describe all candidates
        return [Candidates(**shared, **arrays, row=row, group=group, counts=size)]
    sizes = np.bincount(groups.number, minlength=len(groups.keys))
    starts = np.cumsum(sizes) - sizes
    order = sorted_in_groups(groups.tie_key, groups.number)
    result = []
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        rows = order[starts[chosen, np.newaxis] + np.arange(size)]  # (group, candidate)
        arrays = {}
        for name, values in groups.columns.items():
            # kernels read contiguous arrays faster
            taken = np.moveaxis(np.take(values, rows, axis=-1), -2, 0)
            arrays[name] = np.ascontiguousarray(taken)
        if groups.places is not None:
            rows = groups.places[rows]
        result.append(Candidates(**shared, **arrays, row=rows, group=chosen))
        if groups.same is not None:
            shared["same"] = groups.same._replace(named=True)  # warn about measures only once
    return result


# -------------------------------------------------------------------------------------------------
# Apply a kernel to each measure, or to the two rankings of each pair


def measure_rows(
    candidates: Candidates,
    n: IntArray | None,
    kernel: Callable[..., Mapping[str, AnyArray]],
    along: Mapping[str, AnyArray] | None = None,
    **options: Any,
) -> Rows:
    """Return one row per group, measure and list size: a question, given a kernel.

    ``kernel`` takes the rankings of some measures, the candidates with these measures, ``n`` and
    the options. The kernel returns named columns (group, measure, ...); ``exists`` marks the rows
    to keep. ``along`` contains names and labels of the axes behind the measures, by default "n".
    """
    if along is None:
        along = {"n": candidates.sizes(n)}
    number = len(candidates.measures)
    wide = math.prod(map(len, along.values()))
    what = f"{number:,} measures at {wide:,} values of {' and '.join(along)}"
    check_table(len(candidates.group) * number * wide, what)
    parts = []
    for numbers, ranked, part in candidates.ranked():
        columns = kernel(ranked, part, n=n, **options)
        parts.append(rows_of(columns, candidates, "measure", numbers, along))
    return concatenated(parts, GROUP)


def rows_of(
    columns: Mapping[str, AnyArray],
    candidates: Candidates,
    name: str,
    numbers: Sequence[int] | AnyArray,
    along: Mapping[str, AnyArray],
) -> Rows:
    """Return columns (group, measure or pair, ...) as rows in this order."""
    labels = [candidates.group, np.asarray(numbers), *along.values()]
    shape = tuple(map(len, labels))
    names = [GROUP, name, *along]
    places = np.indices(shape, sparse=True)
    flat = {}
    for key, values, place in zip(names, labels, places, strict=True):
        flat[key] = np.broadcast_to(values[place], shape).reshape(-1)
    if along:
        axis = 2
        if "n" in along:
            axis = names.index("n")
        flat[PLACE] = np.broadcast_to(places[axis], shape).reshape(-1)
    for key, values in columns.items():
        missing = (1,) * (len(shape) - values.ndim)
        flat[key] = np.broadcast_to(values.reshape(*values.shape, *missing), shape).reshape(-1)
    exists = flat.pop("exists", None)
    if exists is not None and not exists.all():
        return rows_at(flat, exists)
    return flat


def pair_lists(
    candidates: Candidates,
    pairs: Sequence[Pair],
    n: IntArray | None,
    ties: str,
) -> Iterator[PairRanks]:
    """Yield the two rankings of each pair, in blocks of pairs that fit in memory.

    Only candidates that both measures rank are in the rankings. ``n`` contains the list sizes; None
    means every n.
    """
    sizes = candidates.sizes(n)
    what = f"{len(pairs):,} pairs of measures at {sizes.size:,} list sizes"
    check_table(len(candidates.group) * len(pairs) * sizes.size, what)
    assert candidates.draws is not None
    sides = candidates.sides(pairs)
    width = max(1, _RANKS // max(1, candidates.gold.size))
    for start in range(0, max(len(pairs), 1), width):
        first, second = sides[start : start + width].T
        both = candidates.present[:, first] & candidates.present[:, second]
        a = candidates.rankings(first).among(both)
        b = candidates.rankings(second).among(both)
        exists = sizes <= a.size.total[..., np.newaxis]  # (group, pair, n)
        if ties != "shared":
            exists = exists & a.nbest(n, ties).exists & b.nbest(n, ties).exists
        cluster = candidates.cluster
        if cluster is not None:
            cluster = np.broadcast_to(cluster[:, np.newaxis], both.shape)
        draws = np.broadcast_to(candidates.draws[:, np.newaxis], both.shape)
        exists = np.broadcast_to(exists, (*both.shape[:-1], sizes.size))
        lists = PairRanks(a, b, draws, a.size, exists, cluster, range(start, start + first.size))
        if candidates.ends:
            lists = with_empty_places(lists)
        yield lists


def pair_rows(
    candidates: Candidates,
    pairs: Sequence[Pair],
    kernel: Callable[[PairRanks, IntArray], Mapping[str, AnyArray]],
    n: IntArray | None,
    *,
    ties: str,
    alternative: str = "two-sided",
) -> Rows:
    """Return one row per group, pair and list size, for pairs of measures.

    ``kernel`` takes :class:`PairRanks` and the sizes, and returns named columns (group, pair, n).
    """
    candidates, sizes, parts = candidates.in_order(), candidates.sizes(n), []
    for lists in pair_lists(candidates, pairs, n, ties):
        columns = {"exists": lists.exists, **kernel(lists, sizes)}
        parts.append(rows_of(columns, candidates, PAIR, lists.pairs, {"n": sizes}))
    return with_pairs(concatenated(parts, GROUP), candidates, pairs, alternative)


def with_pairs(
    table: Rows, candidates: Candidates, pairs: Sequence[Pair], alternative: str
) -> Rows:
    """Add the two measures of each pair, and the first pair with the same two rankings."""
    place = table[PAIR]
    table["measure_a"], table["measure_b"] = candidates.sides(pairs)[place].T
    if candidates.same is not None:
        table[STANDS] = taken_at(standing_pairs(candidates, pairs, alternative), place)
    return table


def pair_names(measures: Sequence[Hashable], a: Hashable, b: Names) -> list[Pair]:
    """Return the pairs to compare, given up to two names."""
    if a is None:
        pairs = list(itertools.combinations(measures, 2))
    else:
        others = others_of(b)
        if b is None:
            others = [m for m in measures if m not in {a}]
        check_known("a", [a], measures)
        check_known("b", others, measures)
        pairs = [(a, other) for other in dict.fromkeys(others)]
    if not pairs:
        raise ValueError(
            f"a={a!r}, b={b!r}: there is only one measure, {measures[0]!r}, but a comparison needs"
            " two. Add a column of scores, which must be real numbers: text and complex numbers are"
            " skipped, and so are booleans unless measures=... names them."
        )
    return pairs


def common_counts(candidates: Candidates, pairs: Sequence[Pair]) -> tuple[IntArray, IntArray]:
    """Return N and N+ among the candidates that both measures rank: (group, pair)."""
    if candidates.whole is not None:
        return candidates.whole.size(len(candidates.group), len(pairs))
    a, b = candidates.sides(pairs).T
    both = candidates.present[:, a] & candidates.present[:, b]
    return both.sum(axis=-1), (both & candidates.gold[:, np.newaxis]).sum(axis=-1)


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
    same = candidates.same
    if same is None or adjust is None:
        return len(pairs)
    if not same.named:
        warn_of_same_order(list(candidates.measures), same.first.tolist())
    return count_distinct(pairs, standing_pairs(candidates, pairs, alternative))


# -------------------------------------------------------------------------------------------------
# Ask a question for every group of a DataFrame

Answer = tuple[Rows, Keywords]  # rows, and facts for the record
RankingQuestion = Callable[[Candidates, "IntArray | None"], "Rows | Answer"]
Finish = Callable[[Rows, Sequence[Hashable]], Rows]
Combination = Callable[[Rows, int], Rows]


def tabulate(
    data: Data,
    roles: Keywords,
    question: RankingQuestion,
    columns: Sequence[str],
    able: Capabilities,
    *,
    n: Sizes = None,
    combine: Combination | None = None,
    finish: Finish | None = None,
    attrs: Keywords | None = None,
) -> Data:
    """Ask the question for every group, and return one table with these columns and attrs.

    The question takes :class:`Candidates` and list sizes (None means every n). It returns rows with
    the number of the group in the column ``GROUP``, or these rows and facts for ``attrs`` that
    depend on the data. ``able`` are the capabilities of the current call. If ``n`` contains shares
    of the candidates in each group, the table has a column ``share``. ``combine`` takes the rows
    of all groups and the number of groups, and returns rows without groups. ``finish`` takes all
    rows and the names of the measures, for decisions about families.
    """
    check_data(data)
    frame: Any = data  # the door answers Datasets
    chosen = Roles.of(roles)
    # roles that the question does not support
    if not able.any_ties:
        chosen.check_ties()
    if able.scores and not able.ends and chosen.ends:
        raise ValueError(
            "missing='absent' is supported only for n-best lists (nbest_precision, compare,"
            " significant_ranges, random_test), acceptance sets, curves and"
            " areas. Pass missing='last' to rank candidates without a score at the end."
        )
    if not (able.clusters and able.crossed):
        chosen.check_groups(crossed=able.clusters)
    if combine is not None:
        refuse_each(chosen, "combine=True or average=...")
        if (attrs or {}).get("average") is not None:
            _warn_of_folds(as_names(chosen.by, frame.columns))
    # a head contains the number of levels only for a single factor, and a list has two
    heads = able.heads and not isinstance(chosen.groups, list)
    if not heads:
        refuse_head(frame)
    in_parts = partial(parts_of, able=able, n=n, heads=heads, together=combine is not None)
    noted: Options = {}
    if isinstance(frame, GroupFrame):  # on the workers of a Dask DataFrame
        found, answers = frame.answers(in_parts, question, chosen, scored=able.scores)
    else:
        groups = read_frame(frame, chosen, scored=able.scores)
        if "cluster" in groups.columns and len(chosen.factors) == 1 and groups.whole is None:
            noted["n_groups"] = int(np.unique(groups.columns["cluster"]).size)
        if groups.places is not None and chosen.agreement != "each":
            noted["n_tied_votes"] = len(frame) - groups.number.size or None
        found = in_parts(groups)
        del groups  # the parts hold what is asked
        answers = answers_of(found, question)
    keys = found.keys
    n_rankings = len(keys)
    facts: Options = {}
    parts: list[Rows] = []
    for rows, of_part in answers:
        parts.append(rows)
        for name, value in of_part.items():
            if isinstance(value, int):  # the largest of the groups
                facts[name] = max(value, facts.get(name, 0))
            elif isinstance(value, list):
                facts[name] = facts.get(name, []) + value
            else:
                facts[name] = value
    table = concatenated(parts)
    if not len(keys):
        table = rows_at(table, slice(0))
    elif isinstance(n, np.ndarray) and WIDTH.get() is None:
        lacking = n
        if "n" in table:
            lacking = n[~np.isin(n, table["n"])]
        elif table[GROUP].size:  # one row for all list sizes
            lacking = n[:0]
        if lacking.size:
            raise ValueError(
                f"n={int(lacking.flat[0])} exceeds the number of available candidates (excluding"
                " padding and, if missing='drop', missing scores). Pass smaller n."
            )
        if combine is None:
            warn_of_short_groups(found.totals, n)
    if combine is not None:
        table = combine(table, len(keys))
        table[GROUP] = np.zeros(len(table[columns[0]]), dtype=np.int64)
        keys = ONE_GROUP
    if finish is not None:
        table = finish(table, found.measures)
    names: list[str] = [name for name in columns if name in table or name not in OPTIONAL]
    if keys.shape[1]:
        keys = tables.keys_apart(keys, [*names, "share"] if isinstance(n, Shares) else names)
    if isinstance(n, Shares) and "n" in table:
        table = _along_shares(table, n, found.totals)
        names.append("share")
    if combine is None and len(answers) > 1:
        table = rows_at(table, np.argsort(table[GROUP], kind="stable"))
    if "n" in names and able.scores:
        noted["ties"] = chosen.ties
    noted |= {"n_candidates": int(found.totals.sum()), **(attrs or {}), **facts}
    if chosen.by is not None:
        noted["n_rankings"] = n_rankings
    result: Any = leave_table(table, keys, names, found.measures, noted)
    return cast("Data", result)


def _warn_of_folds(by: Sequence[Hashable]) -> None:
    """Warn if an average is over folds, which are no sample of independent groups."""
    if folds := [name for name in by if "fold" in str(name).lower()]:
        warn(
            f"by={shown(folds[0])}: folds share their training data, so they are not independent,"
            " and the interval and test of their average are overconfident. Rank the candidates of"
            " all folds together if their scores have one scale: omit by and average."
        )


def warn_of_short_groups(totals: IntArray, n: IntArray) -> None:
    """Warn if groups have fewer candidates than a list, and therefore no row or no value."""
    short = int((totals < n.max(initial=0)).sum())
    if short:
        warn(
            f"{short:,} of {totals.size:,} groups have fewer than n={n.max()} candidates and are"
            " left out for such lists. Pass smaller n, or shares of the candidates such as n=0.1."
        )


class Parts(NamedTuple):
    """Store the candidates of all groups, as they are asked."""

    keys: pd.DataFrame  #: one row per group, with the columns in ``by``
    measures: Sequence[Hashable]
    parts: list[tuple[Candidates, IntArray | None]]  #: groups of each size, and their list sizes
    totals: IntArray  #: the number of candidates of each group


def parts_of(
    groups: Groups,
    *,
    able: Capabilities,
    n: Sizes,
    heads: bool,
    together: bool,
    n_groups: int | None = None,
) -> Parts:
    """Return the candidates of all groups, as they are asked.

    ``heads`` means that a head is sufficient, and ``together`` that the groups are combined.
    ``n_groups`` is the number of all groups if the frame contains only some of them.
    """
    whole = None
    if able.scores:
        whole = groups.whole
    if n is not None:
        check_not_above(n, groups.largest, whole)
    if together:
        check_groups(list(groups.keys.columns))
    if heads and able.scores and isinstance(n, np.ndarray):
        groups = groups.head(n)
    if not len(groups.keys):  # one group without candidates has the columns but no rows
        parts = stacks(replace(groups, keys=ONE_GROUP))
    else:
        parts = stacks(groups, counts=able.counts and isinstance(n, np.ndarray))
    totals = np.zeros(max(len(groups.keys), 1), dtype=np.int64)
    asked = []
    for part in parts:
        if n_groups is not None:  # whether measures are identical is not known either
            part = replace(part, n_groups=n_groups, same=None)
        sizes = n
        totals[part.group] = part.total if part.counts is None else part.counts.total.max(axis=-1)
        if isinstance(sizes, Shares):
            sizes = np.unique(sizes.of(part.total))
        asked.append((part, sizes))
    return Parts(groups.keys, groups.measures, asked, totals)


def answers_of(found: Parts, question: RankingQuestion) -> list[Answer]:
    """Ask the question for the groups of each size; rows alone have no facts for the record."""
    answers = []
    for part in found.parts:
        answer = question(*part)
        answers.append(answer if isinstance(answer, tuple) else (answer, {}))
    return answers


def _along_shares(table: Rows, n: Shares, totals: IntArray) -> Rows:
    """Repeat rows for shares that give the same n, and add the column ``share``."""
    [shares] = n
    sizes = np.array([n.of(total) for total in totals.tolist()], dtype=np.int64)
    sizes = sizes.reshape(-1, shares.size)[table[GROUP]]  # (row, share)
    row, share = np.nonzero(table["n"][:, np.newaxis] == sizes)
    # the rows of one measure or pair (and p) follow one another, with n ascending
    labels = np.stack([table[name] for name in _LINES if name in table])
    line = np.cumsum((labels != np.roll(labels, 1, axis=1)).any(axis=0))
    order = np.lexsort((row, share, line[row]))
    return {**rows_at(table, row[order]), "share": shares[share[order]]}
