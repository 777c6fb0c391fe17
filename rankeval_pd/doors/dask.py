"""Reduce Dask DataFrames to frames that fit in memory, by Dask's own tools.

A reduction calls a function for each partition, ``later``, and merges the answers in a tree,
``folded``. A ranking becomes a head or an outline, groups become whole groups in one partition
each, and items become exact sums. Sums are counts or exact, and ties are ordered by labels, so no
result depends on the partitions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, Final, NamedTuple, Self

import numpy as np
import pandas as pd

from rankeval_pd.decisions import GROUP
from rankeval_pd.doors import candidates, columns, item_tables
from rankeval_pd.doors.candidates import Answer, GroupFrame, HeadFrame, Parts, RankingQuestion
from rankeval_pd.doors.item_tables import ItemTable
from rankeval_pd.errors import (
    BEGUN,
    COMPUTE,
    AnyFunction,
    check_known,
    details_wanted,
    held,
    listed,
)
from rankeval_pd.roles import (
    Roles,
    as_names,
    check_kinds,
    find_gold,
    find_measures,
    frame_column,
    native,
    refuse_missing,
    signs_of,
    with_roles_of,
)
from rankeval_pd.stats import (
    AnyArray,
    AnyItems,
    BoolArray,
    ExactSums,
    FloatArray,
    IntArray,
    Outline,
    PairOptions,
    Ranking,
    RankingOutline,
    Whole,
    blocks,
    clusters,
    exact_sums,
    ranking,
)
from rankeval_pd.stats import items as resamples
from rankeval_pd.stats.blocks import ItemStatistics, ItemTotals, RemoteItems
from rankeval_pd.tables import Options

# -------------------------------------------------------------------------------------------------
# Lazy calls and trees

_MERGED = 4  # answers merged at a time; a wider tree needs more memory


def later(function: AnyFunction, *arguments: Any, **options: Any) -> Any:
    """Return a lazy call. Arguments can be lazy too, or lists of lazy objects; options cannot."""
    from dask.delayed import delayed

    return delayed(functools.partial(function, **options))(*arguments)


def folded(parts: Sequence[Any], merge: Callable[[list[Any]], Any]) -> Any:
    """Merge lazy parts in a tree, a few neighbors at a time."""
    while len(parts) > 1:
        starts = range(0, len(parts), _MERGED)
        parts = [later(merge, list(parts[k : k + _MERGED])) for k in starts]
    return parts[0]


def computed(lazy: Sequence[Any]) -> list[Any]:
    """Compute lazy objects in one run of the scheduler."""
    from dask.base import compute

    return list(compute(*lazy))


def kept(lazy: Sequence[Any]) -> list[Any]:
    """Compute lazy objects, and keep the results in the workers' memory."""
    from dask.base import persist

    return list(persist(*lazy))


def refuse_changed(frame: pd.DataFrame, size: int) -> None:
    """Raise an error if a partition has not the number of rows that were counted."""
    if len(frame) != size:
        raise RuntimeError(
            f"a partition had {size:,} rows when counted and {len(frame):,} when read: the files"
            " changed or were split differently. Give the files an index, or read them again."
        )


# -------------------------------------------------------------------------------------------------
# The columns of a ranking, and its partitions


def partitions_of(ddf: Any, request: Request, further: Sequence[Hashable] = ()) -> list[Any]:
    """Return lazy partitions with the columns of the request and further columns."""
    frames: list[Any] = ddf[list(dict.fromkeys([*request.columns, *further]))].to_delayed()
    if not request.numbered:
        return frames
    sizes = computed([later(len, frame) for frame in _narrow(ddf, [request.gold], frames)])
    stops = np.cumsum(sizes).tolist()
    return [
        later(_with_numbers, frame, start=stop - size, size=size)
        for frame, stop, size in zip(frames, stops, sizes, strict=True)
    ]


def _with_numbers(frame: pd.DataFrame, *, start: int, size: int) -> pd.DataFrame:
    """Return the rows, numbered across all partitions."""
    refuse_changed(frame, size)
    return frame.set_axis(pd.RangeIndex(start, start + size))


def _narrow(ddf: Any, names: list[Hashable], frames: list[Any]) -> list[Any]:
    """Return partitions with few columns, if Dask then splits the files in the same way."""
    narrow: list[Any] = ddf[names].to_delayed()
    if len(narrow) == len(frames):
        return narrow
    return frames


def request_of(ddf: Any, roles: Roles, *, scored: bool = True) -> Request:
    """Return the columns of the ranking, checked without reading the data."""
    meta: pd.DataFrame = ddf._meta
    _check_roles(roles)
    numbered = roles.label is ROWS or (roles.label is None and _restarts(ddf))
    if numbered:
        roles = replace(roles, label=None)
    names = as_names(roles.label, meta.columns)
    label = [x for x in names if x in meta.columns or x not in meta.index.names]
    plain = replace(roles, label=label or None)
    gold = find_gold(meta, plain)
    measures = list[Hashable]()
    if scored:
        taken = with_roles_of(gold, plain, meta.columns)
        measures = find_measures(meta, plain, taken, needed=True)
    signs = signs_of(measures, roles, meta.columns)
    request = Request(roles, gold, tuple(measures), signs, tuple(label), numbered)
    _check_columns(meta, request)
    return request


def _check_roles(roles: Roles) -> None:
    if len(roles.factors) > 1:
        raise ValueError(
            f"groups={roles.groups!r}: the cells of two crossed factors are spread across the"
            f" partitions of a Dask DataFrame. {COMPUTE}."
        )
    if roles.by is not None:
        raise ValueError(
            f"by={roles.by!r}: a head contains one ranking, but data has several. For n-best lists"
            " in groups, call ddf.rankeval(by=...).nbest_precision(n) or .compare(n=...)."
        )


def _check_columns(meta: pd.DataFrame, request: Request) -> None:
    roles, gold = request.roles, request.gold
    for name in request.measures:
        if isinstance(frame_column(meta, name, "measures").dtype, pd.CategoricalDtype):
            raise TypeError(
                f"measures: {name!r} is categorical, but partitions may number the categories"
                f" differently. Convert the column with known categories: ddf[{name!r}].cat.codes."
            )
    dtype = frame_column(meta, gold, "gold").dtype
    values = columns.true_values(roles.positive)
    as_text = values and all(isinstance(value, str) for value in values)
    is_text = pd.api.types.is_string_dtype(dtype) and not pd.api.types.is_object_dtype(dtype)
    if is_text and not as_text:
        raise ValueError(
            f"gold={gold!r} contains text (dtype {dtype}), because Dask converts objects to text,"
            " even True and False. Pass the true-positive text, such as positive='True', or turn"
            " off the conversion: dask.config.set({'dataframe.convert-string': False})."
        )
    others = [("key", roles.key), ("groups", roles.groups), *(("label", x) for x in request.label)]
    for role, name in others:
        if name is not None:
            frame_column(meta, name, role)


def _restarts(ddf: Any) -> bool:
    """Return whether the index may restart in every file."""
    return isinstance(ddf._meta.index, pd.RangeIndex) and not ddf.known_divisions


class RowNumbers(Enum):
    """Request the row number across all partitions as a candidate's label."""

    ROWS = "rankeval_pd.dask.ROWS"


ROWS: Final = RowNumbers.ROWS


class Request(NamedTuple):
    """Name the columns of a ranking, and the candidates to keep."""

    roles: Roles
    gold: Hashable
    measures: tuple[Hashable, ...]
    signs: FloatArray  #: (measure) -1 if smaller scores are better
    label: tuple[Hashable, ...]
    numbered: bool  #: whether row numbers across all parts are labels
    keep: int = 0  #: number of ranks to keep; 0 keeps no candidate
    cuts: FloatArray | None = None  #: (measure, cut) thresholds, NaN if missing

    @property
    def columns(self) -> list[Hashable]:
        """Return the columns to read."""
        others = [name for name in (self.roles.key, self.roles.groups) if name is not None]
        return list(dict.fromkeys([self.gold, *self.measures, *others, *self.label]))

    def unordered(self) -> Request:
        """Return the request without the columns that order equal scores."""
        roles = replace(self.roles, label=None, key=None)
        return self._replace(roles=roles, label=(), numbered=False)


# -------------------------------------------------------------------------------------------------
# The columns of one part as arrays


def read_part(rows: pd.DataFrame, request: Request) -> tuple[FloatArray, FloatArray]:
    """Return the negated scores (measure, row), and the gold label (row) as 1.0, 0.0 or NaN."""
    truth = columns.gold_values(rows, request.gold, request.roles, all_there=False)
    return negated_scores(rows, request), truth


def negated_scores(rows: pd.DataFrame, request: Request) -> FloatArray:
    """Return the negated scores (measure, row), so that the smallest is the best."""
    worse = np.empty((len(request.measures), len(rows)))
    for k, measure in enumerate(request.measures):
        scores = columns.score_values(frame_column(rows, measure, "measures"), measure)
        np.multiply(scores, -request.signs[k], out=worse[k])
    return worse


def tie_keys(rows: pd.DataFrame, request: Request) -> AnyArray:
    """Return numbers (row) that determine the order of equal scores."""
    key = request.roles.key
    if key is None:
        seed = ranking.hashed_seed(request.roles.seed)
        return ranking.mix(columns.label_hashes(columns.label_values(rows, request.label)) + seed)
    values = frame_column(rows, key, "key")
    refuse_missing(values, "key", key)
    ascending = columns.sort_key(values, key)
    keys = np.empty(len(rows), dtype=np.int64)
    keys[ascending.index] = np.cumsum((ascending != ascending.shift()).to_numpy(dtype=bool))
    return keys


class Counts(NamedTuple):
    """Store counts over all candidates."""

    total: int
    positive: int
    unlabeled: int
    unscored: IntArray  #: (measure)
    unscored_true: IntArray  #: (measure) true positives among the unscored candidates
    present: IntArray  #: (value) number of candidates with each value that marks true positives
    accepted: IntArray  #: (2, measure, cut) candidates and true positives that thresholds accept
    clusters: pd.DataFrame  #: candidates and true positives by the hash of the group's name
    kinds: frozenset[type]  #: the types of the groups' names

    @classmethod
    def of(cls, rows: pd.DataFrame, worse: FloatArray, truth: FloatArray, request: Request) -> Self:
        """Count the candidates in a part of the data."""
        gold = frame_column(rows, request.gold, "gold")
        roles = request.roles
        present = [int(gold.isin([value]).sum()) for value in columns.true_values(roles.positive)]
        missing = np.isnan(worse)
        true = truth == 1.0
        sizes: Options = {"size": [], "positive": []}
        hashes = None
        kinds = frozenset[type]()
        if roles.groups is not None:
            column = frame_column(rows, roles.groups, "groups")
            codes, names = pd.factorize(column, use_na_sentinel=False)
            sizes["size"] = np.bincount(codes, minlength=len(names))
            sizes["positive"] = np.bincount(codes, true, len(names))
            hashes = columns.label_hashes(pd.Index(names, tupleize_cols=False))
            kinds = frozenset(map(type, column.dropna().head(1)))
        accepted = np.zeros((2, len(worse), 0), dtype=np.int64)
        if request.cuts is not None:
            cuts = request.cuts * request.signs[:, np.newaxis]
            sets = Ranking.of(-worse, true, ~missing).accepted(cuts)
            accepted = np.stack([sets.size, sets.tp])
        return cls(
            total=len(rows),
            positive=int(true.sum()),
            unlabeled=int(np.isnan(truth).sum()),
            unscored=missing.sum(axis=1),
            unscored_true=missing[:, true].sum(axis=1),
            present=np.array(present, dtype=np.int64),
            accepted=accepted,
            clusters=pd.DataFrame(sizes, index=hashes),
            kinds=kinds,
        )

    @classmethod
    def merged(cls, parts: Sequence[Counts]) -> Self:
        """Add the counts of several parts."""
        *counts, sizes, kinds = zip(*parts, strict=True)
        of_clusters = pd.concat(sizes).groupby(level=0).sum()
        return cls._make([*map(sum, counts), of_clusters, frozenset[type]().union(*kinds)])

    def check(self, request: Request) -> None:
        """Reject missing labels and scores."""
        roles = request.roles
        check_kinds(self.kinds, "groups", roles.groups)
        if roles.unjudged == "skip" or roles.ties == "trec":
            raise ValueError(
                f"unjudged={roles.unjudged!r}, ties={roles.ties!r}: without by=, a Dask DataFrame"
                " supports only unjudged='negative' and ties='shared'. Pass these values, or pass"
                " the query column as by=..."
            )
        if roles.unjudged != "negative":
            columns.refuse_unlabeled(self.unlabeled, self.total, request.gold)
        if roles.missing == "raise":
            sizes = np.full(self.unscored.shape, self.total)
            columns.refuse_unscored(self.unscored, sizes, self.total, request.measures)
        if roles.missing == "drop" and self.unscored.any():
            raise ValueError(
                "missing='drop': the measures and pairs would use different candidates. First drop"
                " rows without a score, ddf.dropna(subset=[...]), or pass missing='last' or"
                " 'absent'."
            )
        for value, count in zip(columns.true_values(roles.positive), self.present, strict=True):
            columns.refuse_absent(int(count), value, request.gold)


# -------------------------------------------------------------------------------------------------
# The head of a part, of several parts, and of all. Each round bounds the score of the last kept
# candidate by each measure. The next round reads more partitions, and keeps only candidates that
# reach a bound.

_FIRST, _GROWTH = 2, 3  # number of partitions in the first round, and factor by which it grows


class PartialHead(NamedTuple):
    """Store the head of one or more parts of the data."""

    rows: pd.DataFrame  #: the candidates with all columns, in the order of the data
    bound: FloatArray  #: (measure) the negated score of the last kept rank, or NaN if all are kept
    left_out: IntArray  #: (2, measure) candidates and true positives omitted at the last rank
    counts: Counts


def reduced(
    frame: pd.DataFrame, *, request: Request, limit: FloatArray | None = None
) -> PartialHead:
    """Return the head of a part: O(rows).

    ``limit`` contains a negated score for each measure. Candidates beyond all limits are dropped.
    """
    frame = native(frame)
    worse, truth = read_part(frame, request)
    rows = np.arange(len(frame))
    if limit is not None and not np.isnan(limit).any():
        rows = np.flatnonzero(np.any(worse <= limit[:, np.newaxis], axis=0))
    counts = Counts.of(frame, worse, truth, request)
    return _best(frame.iloc[rows], worse[:, rows], truth[rows] == 1.0, request, counts)


def merged(parts: Sequence[PartialHead], request: Request) -> PartialHead:
    """Return the head of several parts."""
    rows = pd.concat([part.rows for part in parts if len(part.rows)] or [parts[0].rows])
    worse, truth = read_part(rows, request)
    counts = Counts.merged([part.counts for part in parts])
    head = _best(rows, worse, truth == 1.0, request, counts)
    left_out = head.left_out
    for part in parts:
        left_out = left_out + part.left_out * ranking.equal_scores(part.bound, head.bound)
    return head._replace(left_out=left_out)


def _best(
    rows: pd.DataFrame, worse: FloatArray, true: BoolArray, request: Request, counts: Counts
) -> PartialHead:
    """Return the candidates to keep among these rows, with the counts of all rows."""
    (measures, total), keep = worse.shape, request.keep
    bound = np.full(measures, np.nan)
    left_out = np.zeros((2, measures), dtype=np.int64)
    if keep == 0 or total < keep:
        return PartialHead(rows.iloc[: min(total, keep)], bound, left_out, counts)
    kept = np.zeros(total, dtype=bool)
    for k, scores in enumerate(worse):
        bound[k] = np.partition(scores, keep - 1)[keep - 1]
        better = _are_better(scores, bound[k])
        same = np.flatnonzero(ranking.equal_scores(scores, bound[k]))
        free = keep - int(better.sum())
        if free < same.size:
            first = np.argpartition(tie_keys(rows.iloc[same], request), free - 1)
            same = same[first[:free]]
        kept |= better
        kept[same] = True
    omitted = ~kept & ranking.equal_scores(worse, bound[:, np.newaxis])
    left_out[:] = omitted.sum(axis=1), (omitted & true).sum(axis=1)
    return PartialHead(rows[kept], bound, left_out, counts)


def _are_better(worse: FloatArray, bound: FloatArray | float) -> BoolArray:
    return np.where(np.isnan(bound), ~np.isnan(worse), worse < bound)


def collect_head(
    ddf: Any, roles: Roles, n_max: int = 1, *, scored: bool = True, threshold: Any = None
) -> HeadFrame:
    """Return the head of a Dask DataFrame, for lists up to n_max, in O(rows).

    Without scores, or with thresholds, the function counts candidates and keeps none.
    """
    request = request_of(ddf, roles, scored=scored)
    if threshold is not None:
        cuts = columns.asked_thresholds(threshold, request.measures)
        cuts = columns.cut_scores(cuts, ddf._meta[list(request.measures)].dtypes)
        request = request._replace(cuts=cuts)
    if threshold is None and scored:
        request = request._replace(keep=candidates.needed_ranks(n_max))
    else:
        request = request.unordered()
    frames = partitions_of(ddf, request)
    merge = functools.partial(merged, request=request)
    earlier: list[Any] = []  # the head of earlier rounds, on the workers
    first = 0
    stop = len(frames)
    limit = None
    if request.keep:
        stop = min(_FIRST, stop)
    while True:
        rows = frames[first:stop]
        parts = [later(reduced, frame, request=request, limit=limit) for frame in rows]
        head = folded([*earlier, *parts], merge)
        if stop == len(frames):
            return finished(head.compute(), request, n_max)
        head = head.persist()
        earlier = [head]
        limit = head.bound.compute()
        first = stop
        stop = min(_GROWTH * stop, len(frames))


_FIXED = "gold positive min_grade key label missing groups by dim".split()


def lower_of(measures: Sequence[Hashable], signs: FloatArray) -> list[Hashable]:
    """Return the measures whose small values rank first."""
    return [name for name, sign in zip(measures, signs, strict=True) if sign < 0.0]


class Head(NamedTuple):
    """Store a head's counts over all candidates."""

    whole: Whole
    request: Request  #: with the roles that determined the candidates in the head

    def of(self, measures: Sequence[Hashable], roles: Roles) -> Whole:
        """Return the counts of all candidates for these measures and roles."""
        own = list(self.request.measures)
        fixed = self.request.roles
        if roles.gold is None:
            roles = replace(roles, gold=fixed.gold)
        pairs = {role: (getattr(fixed, role), getattr(roles, role)) for role in _FIXED}
        pairs["lower_is_better"] = fixed.lower_is_better, lower_of(own, signs_of(own, roles, own))
        pairs["rng"] = fixed.seed, roles.seed
        for role, (made, wanted) in pairs.items():
            if made is not wanted and made != wanted:
                raise ValueError(
                    f"{role}={wanted!r}, but the head was made with {role}={made!r}, which"
                    " determines the candidates in the head. Make a new head:"
                    f" ddf.rankeval({role}=...).head(n_max)."
                )
        if roles.groups is not None and roles.ends:
            raise ValueError(
                "groups with missing='absent': each empty rank in a list counts as a group, but a"
                " head does not contain the number of empty ranks. Pass missing='last'."
            )
        names = [name for name in measures if name is not None]
        check_known("measures", names, own)
        return self.whole.of(np.array([own.index(x) for x in names], dtype=np.int64))


def finished(part: PartialHead, request: Request, n_max: int) -> HeadFrame:
    """Return the checked head with rows in their original order."""
    counts = part.counts
    roles = request.roles
    bound = part.bound[:, np.newaxis]
    counts.check(request)
    labels = columns.label_values(part.rows, request.label)
    what = "the index"
    if request.label:
        what = f"label={listed(request.label)}"
    repeated = pd.Index(columns.label_hashes(labels)).duplicated()
    if roles.key is not None:
        labels = pd.Index(frame_column(part.rows, roles.key, "key"), tupleize_cols=False)
        what = f"key={roles.key!r}"
        repeated = labels.duplicated()
    if repeated.any():
        examples = dict.fromkeys(columns.label_examples(labels, repeated))
        raise ValueError(
            f"{what} has {int(repeated.sum()):,} repeated values among the best candidates"
            f" ({listed(examples)}): to break ties, each candidate needs a unique label. Pass its"
            " column, label=..., or use row numbers: label=rankeval_pd.dask.ROWS."
        )
    # the block that the last kept rank is in
    worse, truth = read_part(part.rows, request)
    ahead = _are_better(worse, bound) | ranking.equal_scores(worse, bound)
    end, tp_end = np.stack([ahead.sum(axis=1), ahead[:, truth == 1.0].sum(axis=1)]) + part.left_out
    if not 0 < request.keep <= counts.total:
        end, tp_end = np.full_like(end, counts.total), np.full_like(end, counts.positive)
    whole = Whole(
        total=counts.total,
        positive=counts.positive,
        reach=min(request.keep, counts.total),
        asked=min(n_max, counts.total),
        end=end,
        tp_end=tp_end,
        scored=counts.total - counts.unscored,
        tp_scored=counts.positive - counts.unscored_true,
        clusters=None if roles.groups is None else len(counts.clusters),
        positives_variance=clusters.positives_variance(*counts.clusters.to_numpy().T),
        accepted=None if request.cuts is None else counts.accepted,
    )
    frame = HeadFrame(part.rows.copy())
    lower = lower_of(request.measures, request.signs)
    fixed = replace(roles, gold=request.gold, lower_is_better=lower)
    frame.known = Head(whole, request._replace(roles=fixed))
    return frame


# -------------------------------------------------------------------------------------------------
# Groups. Dask shuffles the rows, so that each group is in one partition.


def frame_of_groups(ddf: Any, roles: Roles) -> GroupFrame:
    """Return a frame without rows that stands for the groups in ``by``."""
    meta: pd.DataFrame = ddf._meta
    check_known("by", as_names(roles.by, meta.columns), meta.columns)
    frame = GroupFrame(meta)
    frame.answers = functools.partial(_answers_of_groups, ddf, roles.label)
    return frame


def _answers_of_groups(
    ddf: Any,
    label: Any,
    in_parts: Callable[..., Parts],
    question: RankingQuestion,
    roles: Roles,
    *,
    scored: bool,
) -> tuple[Parts, list[Answer]]:
    """Ask for each group on a worker, and return the answers for all groups."""
    by = as_names(roles.by, ddf.columns)
    exclude = [*as_names(roles.exclude, ()), *by]
    request = request_of(ddf, replace(roles, by=None, label=label, exclude=exclude), scored=scored)
    rows = ddf[list(dict.fromkeys([*by, *request.columns]))]
    if request.numbered:
        import dask.dataframe as dd

        numbered = partitions_of(ddf, request, by)
        rows = dd.from_delayed(numbered, meta=rows._meta, verify_meta=False)
    sizes = ddf[by].groupby(by, dropna=False, observed=True).size().compute()
    if sizes.empty:
        raise ValueError("data has no candidates. Pass at least one row.")
    plain = replace(
        roles,
        measures=list(request.measures) or None,
        lower_is_better=lower_of(request.measures, request.signs),
        exclude=None,
    )
    in_parts = functools.partial(in_parts, n_groups=len(sizes))
    options = {
        "in_parts": in_parts,
        "question": question,
        "largest": int(sizes.max()),
        "roles": plain,
        "scored": scored,
        "details": details_wanted(),
        "begun": BEGUN.get(),
    }
    frames = rows.shuffle(on=by).to_delayed()
    parts = computed([later(_answers_of_part, frame, **options) for frame in frames])
    return _joined_answers([part for part in parts if part is not None], by)


def _answers_of_part(
    frame: pd.DataFrame,
    *,
    in_parts: Callable[..., Parts],
    question: RankingQuestion,
    roles: Roles,
    scored: bool,
    largest: int,
    details: bool,
    begun: float | None,
) -> tuple[Parts, list[Answer]] | None:
    if not len(frame):
        return None
    before = columns.WIDTH.set(largest)
    try:
        with held(details=details, progress=False, begun=begun):
            found = in_parts(candidates.read_frame(frame, roles, scored=scored))
            return found._replace(parts=[]), candidates.answers_of(found, question)
    finally:
        columns.WIDTH.reset(before)


def _joined_answers(
    parts: Sequence[tuple[Parts, list[Answer]]], by: list[Hashable]
) -> tuple[Parts, list[Answer]]:
    """Join the answers, and number all groups in their order."""
    keys = pd.concat([part.keys for part, _ in parts], ignore_index=True)
    keys, number = columns.group_numbers(keys, by)
    starts = np.cumsum([0, *(len(part.keys) for part, _ in parts)])
    answers = []
    for (_, own), start in zip(parts, starts, strict=False):
        for rows, facts in own:
            answers.append(({**rows, GROUP: number[start + rows[GROUP]]}, facts))
    totals = np.empty_like(number)
    totals[number] = np.concatenate([part.totals for part, _ in parts])
    return Parts(keys, parts[0][0].measures, [], totals), answers


# -------------------------------------------------------------------------------------------------
# Areas of a whole ranking. Only true positives are sorted: the first pass collects their scores,
# which must fit in memory, and the second pass counts the negatives at and between these scores.


def outlines_of(ddf: Any, roles: Roles) -> list[RankingOutline]:
    """Return an outline of the ranking by each measure, in two passes over the data."""
    request = request_of(ddf, roles).unordered()
    frames = partitions_of(ddf, request)
    parts = [later(_true_scores, frame, request=request) for frame in frames]
    positives = folded(parts, _joined_scores).persist()
    counts = positives[1].compute()
    counts.check(request)
    columns.warn_of_counts(counts.positive, counts.total, request.gold)
    distinct = later(_distinct_scores, positives[0])
    parts = [later(_negatives_between, frame, distinct, request=request) for frame in frames]
    negatives, scores = computed([folded(parts, sum), distinct])
    rankings, start = [], 0
    for k, (own, tp) in enumerate(scores):
        counted = negatives[start : start + 2 * own.size + 1]
        start += counted.size
        outline = Outline(tp, tied=counted[1::2], between=counted[0::2])
        missing = int(counts.unscored[k]), int(counts.unscored_true[k])
        rankings.append(RankingOutline(request.measures[k], own, outline, *missing))
    return rankings


def _true_scores(frame: pd.DataFrame, *, request: Request) -> tuple[FloatArray, Counts]:
    """Return the negated scores (measure, true positive) of a part, and counts of all rows."""
    worse, truth = read_part(frame, request)
    return worse[:, truth == 1.0], Counts.of(frame, worse, truth, request)


def _joined_scores(parts: Sequence[tuple[FloatArray, Counts]]) -> tuple[FloatArray, Counts]:
    scores, counts = zip(*parts, strict=True)
    return np.concatenate(scores, axis=1), Counts.merged(counts)


def _distinct_scores(positives: FloatArray) -> list[tuple[FloatArray, IntArray]]:
    """Return the ascending distinct scores of each measure, and how often they occur."""
    return [np.unique(scores, return_counts=True) for scores in positives]


def _negatives_between(
    frame: pd.DataFrame, distinct: list[tuple[FloatArray, IntArray]], *, request: Request
) -> IntArray:
    """Count the negatives before, at, and after each score of the true positives."""
    worse, truth = read_part(frame, request)
    counts = []
    for own, (scores, _) in zip(worse[:, truth == 0.0], distinct, strict=True):
        rising = np.sort(own)  # searches in order are faster
        first = np.searchsorted(scores, rising, side="left")
        tied = first < np.searchsorted(scores, rising, side="right")
        counts.append(np.bincount(2 * first + tied, minlength=2 * scores.size + 1))
    return np.concatenate(counts)


def inverse_ends(ddf: Any, roles: Roles, ranked: RankingOutline) -> float:
    """Return the sum of 1 / n over scored candidates, where n is the end of a candidate's block.

    Dask shuffles the distinct scores of each partition by ranges of scores that end at true
    positives, so a range must fit in the memory of a worker. The sum is exact before it is rounded.
    """
    request = request_of(ddf, replace(roles, measures=[ranked.measure])).unordered()
    tp, tied, between = ranked.outline
    known = ~np.isnan(ranked.scores)
    ends = np.cumsum(between[:-1] + tp + tied)[known]
    ranges = ddf.npartitions
    cuts = np.unique(np.searchsorted(ends, np.arange(1, ranges) * ends.max(initial=0) / ranges))
    cuts = cuts[cuts < ends.size]
    scores = ranked.scores[known][cuts]
    starts = np.array([0, *ends[cuts]])
    meta = pd.DataFrame({"range": np.arange(0), "worse": np.zeros(0), "size": np.arange(0)})
    read = ddf[request.columns]
    counted = read.map_partitions(_score_counts, request=request, cuts=scores, meta=meta)
    parts = counted.shuffle(on="range").to_delayed()
    sums = folded([later(_inverse_sums, part, starts=starts) for part in parts], _plus).compute()
    return float(sums.rounded()[0])


def _score_counts(frame: pd.DataFrame, *, request: Request, cuts: FloatArray) -> pd.DataFrame:
    """Return the distinct scores in a partition, their ranges, and how often they occur."""
    [worse] = negated_scores(frame, request)
    scores, size = np.unique(worse[~np.isnan(worse)], return_counts=True)
    return pd.DataFrame({"range": np.searchsorted(cuts, scores), "worse": scores, "size": size})


def _inverse_sums(part: pd.DataFrame, *, starts: IntArray) -> ExactSums:
    sizes = part.groupby(["range", "worse"])["size"].sum()
    before = starts[sizes.index.get_level_values("range").to_numpy(dtype=np.int64)]
    ends = before + sizes.groupby(level="range").cumsum().to_numpy()
    return exact_sums((sizes.to_numpy() / ends)[np.newaxis])


def _plus(parts: Sequence[Any]) -> Any:
    """Add sums that have a method ``plus``."""
    return functools.reduce(lambda total, part: total.plus(part), parts)


# -------------------------------------------------------------------------------------------------
# Items. A partition is a block of items, which stays on a worker, and every block uses the same
# resamples. Sums are exact, so results do not depend on how the items are split.

FEW_ITEMS = 64  # with this many items or fewer, one machine can enumerate all signs
_DRAWN = 4  # blocks of resamples in one run of the scheduler, with 64 MB of counts each
_FROM_FRAME = "Call ddf.compute() if the data fit in memory."
_SPREAD = {  # the advice, by role
    "by": "Call this method for each domain, ddf[ddf['domain'] == ...].",
    "groups": "First sum each cluster, ddf.groupby(...).sum().compute(), then pass metric='ratio'.",
    "strata": "Omit strata.",
    "seeds": "Average each system over its seeds, and mention this in your report.",
    "missing": "Drop incomplete items, ddf.dropna().",
}


def check_distributed(roles: Roles) -> None:
    """Raise a ValueError for methods that do not support distributed items."""
    for role, advice in _SPREAD.items():
        if getattr(roles, role) not in (None, "raise"):
            raise ValueError(
                f"{role}={getattr(roles, role)!r}: items that belong together are spread across the"
                f" workers. {advice} {_FROM_FRAME}"
            )


class Blocks(NamedTuple):
    """Store blocks of items on the workers."""

    statistics: list[Any]  #: lazy :class:`ItemStatistics`
    positions: list[Any]  #: slices, or lazy item numbers in the order of all labels
    n_items: int

    def total(self, function: AnyFunction, **known: Any) -> Any:
        """Return the sum of a function of each block's statistics."""
        return folded([later(function, x, **known) for x in self.statistics], _plus).compute()

    def swapped(self, *, options: PairOptions, **known: Any) -> list[FloatArray]:
        """Return the sums over swapped items for each block of resamples."""
        lazy = []
        for number in range(-(-options.n_resamples // resamples.BLOCK)):
            named = {"options": options, "number": number, **known}
            parts = [
                later(blocks.swapped_block_sums, *block, **named)
                for block in zip(self.statistics, self.positions, strict=True)
            ]
            lazy.append(folded(parts, sum))
        return computed(lazy)

    def counted(self, known: ItemTotals, options: PairOptions) -> list[FloatArray]:
        """Return the sums over drawn items for successive resamples.

        The scheduler runs once for a few blocks of resamples. Within a block, the counts of a step
        are drawn only after those of the second-to-last step have been used.
        """
        statistics = kept([later(blocks.columns_of, x, known=known) for x in self.statistics])
        sums = []
        lazy: list[Any] = []
        for number, start in enumerate(range(0, options.n_resamples, resamples.BLOCK)):
            if number and number % _DRAWN == 0:
                sums += computed(lazy)
                lazy = []
            steps = [None, None]
            generator = later(resamples.block_generator, options.seed, number)
            size_of_block = min(resamples.BLOCK, options.n_resamples - start)
            for size in resamples.draw_sizes(self.n_items, size_of_block):
                drawn = later(blocks.next_counts, generator, self.n_items, size, steps[-2])
                counts, generator = drawn[0], drawn[1]
                parts = [
                    later(blocks.counted_sums, own, counts, positions)
                    for own, positions in zip(statistics, self.positions, strict=True)
                ]
                steps.append(folded(parts, sum))
            lazy += steps[2:]
        return sums + computed(lazy)


def read_distributed_items(ddf: Any, table: ItemTable, roles: Roles) -> AnyItems:
    """Return the items on the workers, or in memory if there are few."""
    items = _item_blocks(ddf, table, roles)
    if items.n_items <= FEW_ITEMS:
        chosen = replace(roles, measures=table.systems, exclude=None)
        return item_tables.read_items(ddf.compute(), chosen).items(np.arange(items.n_items))
    items = items._replace(statistics=kept(items.statistics))
    metric = table.metric
    remote = RemoteItems(items, metric.formula.score, metric.sign, metric.linear)
    item_tables.check_size(remote.known.sizes.max(axis=1), table.systems)
    return remote


def _item_blocks(ddf: Any, table: ItemTable, roles: Roles) -> Blocks:
    """Return the blocks of items, not yet computed, after one run over the index."""
    systems, meta = table.systems, ddf._meta
    names: list[Hashable] = [
        x
        for x in meta.columns
        if x in systems or (isinstance(x, tuple) and not {*x}.isdisjoint(systems))
    ]
    frames = ddf[names].to_delayed()
    indexes = kept([frame.index for frame in _narrow(ddf, names[:1], frames)])
    sizes = computed([later(len, index) for index in indexes])
    ranks = None
    if not _restarts(ddf):
        ranks = later(_item_ranks, indexes).persist()
    if roles.measures is None and meta.columns.nlevels == 1:
        rows = later(pd.DataFrame.head, frames[0], n=1_000).compute()
        scores = {name: rows[name] for name in systems}
        columns.check_guessed(rows, scores, [], taken_as="systems")
    named = {
        "dim": "item",
        "measures": systems,
        "metric": roles.metric,
        "higher_is_better": roles.higher_is_better,
    }
    statistics, positions = [], []
    for frame, size, stop in zip(frames, sizes, np.cumsum(sizes).tolist(), strict=True):
        statistics.append(later(_item_statistics, frame, size=size, named=named))
        own = slice(stop - size, stop)
        positions.append(own if ranks is None else ranks[own])
    return Blocks(statistics, positions, sum(sizes))


def _item_ranks(indexes: Sequence[pd.Index]) -> IntArray:
    """Return the position of each item in the sorted labels."""
    return ranking.inverse(item_tables.item_order(indexes[0].append(list(indexes[1:]))))


def _item_statistics(frame: pd.DataFrame, *, size: int, named: Options) -> ItemStatistics:
    """Return checked statistics (system, item, statistic) for a partition."""
    refuse_changed(frame, size)
    table = item_tables.read_items(frame.reset_index(drop=True), Roles.of(named))
    item_tables.check_complete(table.statistics, table.systems, frame.index)
    block = ItemStatistics(table.statistics, table.metric.ones)
    if table.metric.counts:
        item_tables.check_counts(block.statistics, table.metric, table.systems, frame.index)
    return block
