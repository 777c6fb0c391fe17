r"""Reduce Dask DataFrames to frames that fit in memory, by Dask's own tools.

Each reduction has the same shape: a function for one partition, and a function that merges::

    partition   partition   partition   partition
        |           |           |           |
     function    function    function    function     Lazy calls, ``later``
          \       /               \       /
            merge                   merge             ``folded``: a tree
                 \                 /
                        merge

* A ranking becomes a :class:`rankeval_pd.doors.candidates.HeadFrame`: :func:`collect_head`.
* Groups become whole groups in one partition each, whose rows are joined: :class:`WholeGroups`.
* A ranking becomes an outline, for its areas: :func:`outlines_of`.
* Items become exact sums: :func:`sums_of_items`.

Sums are counts or exact, and ties are ordered by labels, so no result depends on the partitions.
"""

from __future__ import annotations

import functools
import operator
import os
import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.doors import heads
from rankeval_pd.doors.candidates import HeadFrame, needed_ranks
from rankeval_pd.doors.columns import (
    asked_thresholds,
    cut_scores,
    true_values,
    warn_of_counts,
    warn_of_identifiers,
)
from rankeval_pd.doors.heads import ROWS, Counts, PartialHead, Request
from rankeval_pd.doors.item_tables import (
    ItemTable,
    check_complete,
    check_counts,
    check_size,
    item_order,
    read_frame,
)
from rankeval_pd.errors import unknown_name
from rankeval_pd.roles import (
    Roles,
    are_values,
    as_names,
    check_types,
    find_gold,
    find_measures,
    frame_column,
    signs_of,
    with_roles_of,
)
from rankeval_pd.stats import blocks
from rankeval_pd.stats import items as resamples
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.areas import Outline
from rankeval_pd.stats.blocks import ItemStatistics, ItemTotals, Needs, Plan, RemoteFacts
from rankeval_pd.stats.bootstrap import INTERVALS
from rankeval_pd.stats.items import ExactSums, PairOptions, exact_sums, studentises

# -------------------------------------------------------------------------------------------------
# Lazy calls and trees

_MERGED = 16  # answers merged at a time; a wider tree needs more memory and saves few tasks
_MEMORY = 2**30  # bytes per thread if no cluster sets a limit


def later(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return a lazy call. Arguments can be lazy too, or lists of lazy objects; options cannot."""
    from dask.delayed import delayed

    return delayed(functools.partial(function, **options))(*arguments)


def folded(parts: Sequence[Any], merge: Callable[[list[Any]], Any], width: int = _MERGED) -> Any:
    """Merge lazy parts in a tree, a few neighbors at a time."""
    while len(parts) > 1:
        neighbors = [list(parts[k : k + width]) for k in range(0, len(parts), width)]
        parts = [later(merge, several) for several in neighbors]
    return parts[0]


def computed(lazy: Sequence[Any]) -> list[Any]:
    """Compute lazy objects in one run of the scheduler."""
    from dask.base import compute

    return list(compute(*lazy))


def kept(lazy: Sequence[Any]) -> list[Any]:
    """Compute lazy objects, and keep the results in the workers' memory."""
    from dask.base import persist

    return list(persist(*lazy))


def _cluster() -> tuple[int, int]:
    """Return the memory per thread and the number of threads."""
    alone = _MEMORY, os.cpu_count() or 1
    if "distributed" not in sys.modules:  # looking for a cluster imports distributed, which is slow
        return alone
    from distributed import get_client

    try:
        workers = get_client().scheduler_info(n_workers=-1)["workers"].values()
    except ValueError:
        return alone
    limits = [w["memory_limit"] // max(1, w["nthreads"]) for w in workers if w["memory_limit"]]
    return int(min(limits, default=_MEMORY)), sum(w["nthreads"] for w in workers)


def _merge_width(part_bytes: float) -> int:
    """Return how many large parts fit in a quarter of a thread's memory."""
    return int(min(max(_cluster()[0] // 4 // max(1.0, part_bytes), 2), _MERGED))


# -------------------------------------------------------------------------------------------------
# The columns of a ranking, and its partitions


class Partitions(NamedTuple):
    """Store lazy partitions and the number of their first rows, if rows are numbered."""

    frames: list[Any]
    starts: list[int]  #: one more than frames; zeros if rows are not numbered

    def each(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> list[Any]:
        """Return a lazy call of the function for each partition."""
        return [
            later(function, frame, *arguments, start=start, **options)
            for frame, start in zip(self.frames, self.starts[:-1], strict=True)
        ]


def partitions_of(ddf: Any, request: Request, columns: Sequence[Hashable] = ()) -> Partitions:
    """Return the partitions with the columns of the request and further columns."""
    frames = ddf[list(dict.fromkeys([*request.columns, *columns]))].to_delayed()
    if not request.numbered:
        return Partitions(frames, [0] * (len(frames) + 1))
    sizes = computed([later(len, frame) for frame in _narrow(ddf, [request.gold], frames)])
    return Partitions(frames, [0, *np.cumsum(sizes).tolist()])


def _narrow(ddf: Any, columns: list[Hashable], frames: list[Any]) -> list[Any]:
    """Return partitions with few columns, if Dask then splits the files in the same way."""
    narrow: list[Any] = ddf[columns].to_delayed()
    if len(narrow) == len(frames):
        return narrow
    return frames


def request_of(ddf: Any, roles: Roles, n_max: int = 1, *, scored: bool = True) -> Request:
    """Return the columns of the ranking, checked without reading the data."""
    meta: pd.DataFrame = ddf._meta
    _refuse_values(roles)
    label: list[Hashable] = []
    if roles.label is not ROWS:
        names = as_names(roles.label, meta.columns)
        label = [x for x in names if x in meta.columns or x not in meta.index.names]
    restarts = isinstance(meta.index, pd.RangeIndex) and not ddf.known_divisions
    plain = roles
    if not label:
        plain = replace(roles, label=None)
    gold = find_gold(meta, plain)
    named = with_roles_of(gold, plain, meta.columns)
    measures = find_measures(meta, plain, named, needed=True) if scored else []
    for name in measures:
        _check_lazy_scores(frame_column(meta, name, "measures"), name)
    _check_gold(frame_column(meta, gold, "gold"), gold, roles)
    for role in ("key", "groups"):
        if getattr(roles, role) is not None:
            frame_column(meta, getattr(roles, role), role)
    for name in label:
        frame_column(meta, name, "label")
    return Request(
        gold=gold,
        measures=tuple(measures),
        signs=signs_of(measures, roles, meta.columns),
        key=roles.key,
        label=tuple(label),
        numbered=roles.label is ROWS or (roles.label is None and restarts),
        seed=roles.seed,
        positive=roles.positive,
        min_grade=roles.min_grade,
        groups=roles.groups,
        keep=needed_ranks(n_max),
        draws=roles.draws,
    )


def _refuse_values(roles: Roles) -> None:
    for role in ("gold", "key", "label", "groups", "by"):
        if are_values(getattr(roles, role)):
            raise ValueError(
                f"{role} is given as values, but the rows of a Dask DataFrame are spread across"
                f" its partitions. Add a column, ddf.assign({role}=...), and pass its name."
            )
    if len(roles.factors) > 1:
        raise ValueError(
            f"groups={roles.groups!r}: the cells of two crossed factors are spread across the"
            " partitions of a Dask DataFrame. Compute the columns that you use,"
            " ddf[[...]].compute()."
        )
    if roles.by is not None:
        raise ValueError(
            f"by={roles.by!r}: a head contains one ranking, but data has several. For n-best lists"
            " in groups, call ddf.rankeval(by=...).nbest_precision(n) or .compare(n=...)."
        )


def _check_lazy_scores(column: pd.Series, name: Hashable) -> None:
    if isinstance(column.dtype, pd.CategoricalDtype):
        raise TypeError(
            f"measures: {name!r} is categorical, but partitions may number the categories"
            f" differently. Convert the column with known categories: ddf[{name!r}].cat.codes."
        )


def _check_gold(column: pd.Series, name: Hashable, roles: Roles) -> None:
    text = pd.api.types.is_string_dtype(column.dtype) and column.dtype != object
    values = true_values(roles.positive)
    if text and not (values and all(isinstance(value, str) for value in values)):
        raise ValueError(
            f"gold={name!r} contains text (dtype {column.dtype}), because Dask converts objects to"
            " text, even True and False. Pass the true-positive text, such as positive='True', or"
            " turn off the conversion: dask.config.set({'dataframe.convert-string': False})."
        )


# -------------------------------------------------------------------------------------------------
# The head of a ranking. Each round bounds the score of the last candidate in the head for each
# measure. The next round reads more partitions, and keeps only candidates that reach the bound.

_GROWTH = 3  # factor by which the number of partitions grows in each round


def collect_head(
    ddf: Any,
    roles: Roles,
    n_max: int,
    *,
    scored: bool = True,
    n_keys: int = 1,
    columns: Sequence[Hashable] = (),
    threshold: Any = None,
) -> HeadFrame:
    """Return the head of a Dask DataFrame, for lists up to n_max.

    The head keeps the first candidates for each of ``n_keys`` orders of tied candidates. The head
    contains the columns in use and those in ``columns``. If ``threshold`` is given, the function
    counts accepted candidates and keeps none. The cost is O(rows). A partition and several heads
    must fit in memory.
    """
    request = request_of(ddf, roles, n_max, scored=scored)._replace(orders=n_keys)
    if threshold is not None:
        cuts = asked_thresholds(threshold, request.measures)
        cuts = cut_scores(cuts, ddf._meta[list(request.measures)].dtypes)
        request = request._replace(keep=0, cuts=cuts, numbered=False)
    partitions = partitions_of(ddf, request, columns)
    part = _in_rounds(partitions, request, _row_bytes(ddf._meta[request.columns]))
    if request.numbered and part.counts.total != partitions.starts[-1]:
        raise RuntimeError(
            f"the partitions had {partitions.starts[-1]:,} rows when counted and"
            f" {part.counts.total:,} when read: the files changed or were split differently. Pass"
            " the column that identifies a candidate as label=..., or give the files an index."
        )
    if request.numbered or threshold is not None:
        roles = replace(roles, label=None)
    return heads.finished(part, request, roles, n_max)


def _in_rounds(partitions: Partitions, request: Request, row_bytes: int) -> PartialHead:
    """Return the head of all partitions, collected in several rounds."""
    width = _merge_width(request.keep * max(1, len(request.measures)) * row_bytes)
    merge = functools.partial(heads.merged, request=request)
    frames, starts = partitions
    earlier: list[Any] = []  # the head of earlier rounds, on the workers
    first, stop, limit = 0, len(frames), None
    if request.keep and request.measures:
        stop = min(max(1, _cluster()[1]), len(frames))
    while True:
        options = {"request": request, "limit": limit}
        parts = [
            later(heads.reduced, frames[k], number=k, start=starts[k], **options)
            for k in range(first, stop)
        ]
        head = folded([*earlier, *parts], merge, width)
        if stop == len(frames):
            part: PartialHead = head.compute()
            return part
        earlier = kept([head])
        limit = later(_limit, *earlier).compute()
        first, stop = stop, min(_GROWTH * stop, len(frames))


def _limit(part: PartialHead) -> FloatArray:
    """Return the score of the last rank, or NaN for shorter heads."""
    return np.where(part.edge.omits, part.edge.bound, np.nan)


def _row_bytes(meta: pd.DataFrame) -> int:
    """Estimate the size of a row in bytes, including scores and position."""
    columns = sum(8 if dtype.kind in "biufcmM" else 64 for dtype in meta.dtypes)
    return columns + 8 * (2 + meta.shape[1])


# -------------------------------------------------------------------------------------------------
# The ranks of a few candidates, counted without sorting


class RowsAhead(NamedTuple):
    """Store the number of rows ranked above each of a few candidates."""

    rows: IntArray  #: (measure, candidate)
    alike: int  #: number of rows with the score and key of a candidate, over all measures

    @classmethod
    def added(cls, parts: Sequence[RowsAhead]) -> RowsAhead:
        """Add the counts of several parts."""
        return cls(np.sum([x.rows for x in parts], axis=0), sum(x.alike for x in parts))


def ranks_of(ddf: Any, request: Request, few: pd.DataFrame) -> IntArray:
    """Return the ranks (measure, candidate) of a few rows, from 1, in one pass over the data."""
    width = _merge_width(8 * len(request.measures) * len(few))
    candidates = kept([later(pd.DataFrame, few)])
    parts = partitions_of(ddf, request).each(rows_ahead, *candidates, request=request)
    ahead: RowsAhead = folded(parts, RowsAhead.added, width).compute()
    if ahead.alike != ahead.rows.size:  # each candidate equals only itself
        what = "the index"
        if request.label:
            what = f"label={list(request.label)!r}"
        if request.key is not None:
            what = f"key={request.key!r}"
        raise ValueError(f"{what} has repeated values among tied candidates: {heads.UNIQUE}")
    return 1 + ahead.rows


def rows_ahead(frame: pd.DataFrame, few: pd.DataFrame, request: Request, start: int) -> RowsAhead:
    """Count the rows of a part before each of a few candidates: O(rows log rows)."""
    if request.numbered:
        frame = heads.with_numbers(frame, start)
    own, worse = heads.negated_scores(few, request), heads.negated_scores(frame, request)
    tied = np.stack([_are_among(scores, some) for scores, some in zip(worse, own, strict=True)])
    rows = np.flatnonzero(tied.any(axis=0))
    # a key column is numbered within the rows at hand, so both are numbered together
    keys = heads.tie_keys(pd.concat([few, frame.iloc[rows]]), request)
    is_row = np.arange(keys.size) >= len(few)
    counts, alike = np.empty(own.shape, dtype=np.int64), 0
    for k in range(len(own)):
        apart = np.sort(worse[k, ~tied[k]])
        counts[k] = np.searchsorted(apart, own[k])
        same = np.concatenate([np.ones(len(few), dtype=bool), tied[k, rows]])
        scores = np.concatenate([own[k], worse[k, rows]])[same]
        order = np.lexsort((is_row[same], keys[same], scores))  # a candidate before its own row
        candidates = np.flatnonzero(~is_row[same][order])
        counts[k, order[candidates]] += candidates - np.arange(len(few))
        equal = np.lexsort((~is_row[same], keys[same], scores))  # and after it
        alike += int((np.flatnonzero(~is_row[same][equal]) - candidates).sum())
    return RowsAhead(counts, alike)


def _are_among(scores: FloatArray, some: FloatArray) -> BoolArray:
    """Return which scores are equal to one of some scores; NaN equals NaN."""
    rising = np.sort(some)
    first, last = (np.searchsorted(rising, scores, side=side) for side in ("left", "right"))
    return np.asarray(first < last)


# -------------------------------------------------------------------------------------------------
# Groups. Dask shuffles the rows, so that each group is in one partition.


class WholeGroups(NamedTuple):
    """Store lazy frames that contain each group as a whole."""

    frames: list[Any]
    by: list[Hashable]
    measures: list[Hashable]

    def rows(self, rows: Callable[..., pd.DataFrame | None]) -> tuple[pd.DataFrame | None, int]:
        """Return the rows of all groups, sorted by group, and the size of the largest group.

        ``rows`` takes a frame of whole groups and the size of its largest group.
        """
        parts = computed([later(_rows_of, x, rows=rows, by=self.by) for x in self.frames])
        largest = max(size for _, size in parts)
        tables = [table for table, _ in parts if table is not None]
        if not tables:
            return None, largest
        table = pd.concat(tables, ignore_index=True)
        for name in self.by:
            check_types(table[name], "by", name)
        number = table.groupby(self.by, sort=True, observed=True).ngroup().to_numpy()
        table = table.iloc[np.argsort(number, kind="stable")].reset_index(drop=True)
        table.attrs = dict(tables[0].attrs)
        return table, largest


def whole_groups(ddf: Any, roles: Roles) -> WholeGroups:
    """Return frames with whole groups, and only the columns in use."""
    meta: pd.DataFrame = ddf._meta
    by = as_names(roles.by, meta.columns)
    for name in by:
        if name not in meta.columns:
            raise unknown_name("by", name, meta.columns)
    others = list(dict.fromkeys([*as_names(roles.exclude, ()), *by]))
    request = request_of(ddf, replace(roles, by=None, exclude=others))
    columns = list(dict.fromkeys([*by, *request.columns]))
    rows = ddf[columns]
    if request.numbered:
        import dask.dataframe as dd

        numbered = partitions_of(ddf, request, columns).each(heads.with_numbers)
        rows = dd.from_delayed(numbered, meta=meta[columns], verify_meta=False)
    frames = rows.shuffle(on=by).to_delayed()
    return WholeGroups(frames, by, list(request.measures))


def _rows_of(
    frame: pd.DataFrame, *, rows: Callable[..., pd.DataFrame | None], by: list[Hashable]
) -> tuple[pd.DataFrame | None, int]:
    if not len(frame):
        return None, 0
    largest = int(frame.groupby(by, observed=True, sort=False, dropna=False).size().max())
    return rows(frame, largest), largest


# -------------------------------------------------------------------------------------------------
# Areas of a whole ranking. Only true positives are sorted: the first pass collects their scores,
# and the second pass counts the negatives at and between these scores.


class TrueScores(NamedTuple):
    """Store the negated scores of true positives, and counts of all candidates."""

    scores: FloatArray  #: (measure, true positive)
    counts: Counts

    @classmethod
    def of(cls, frame: pd.DataFrame, request: Request, start: int) -> TrueScores:
        """Return the scores of the true positives in a partition."""
        del start  # rows need no numbers
        worse, truth = heads.negated_scores(frame, request), heads.true_labels(frame, request)
        return cls(worse[:, truth == 1.0], Counts.of(frame, worse, truth, request))

    @classmethod
    def joined(cls, parts: Sequence[TrueScores]) -> TrueScores:
        """Join the scores of several parts."""
        scores = np.concatenate([part.scores for part in parts], axis=1)
        return cls(scores, Counts.merged([part.counts for part in parts]))

    def distinct(self) -> list[tuple[FloatArray, IntArray]]:
        """Return the ascending distinct scores of each measure, and how often they occur."""
        return [np.unique(scores, return_counts=True) for scores in self.scores]


class RankingOutline(NamedTuple):
    """Store the outline of one ranking."""

    measure: Hashable
    scores: FloatArray  #: (score) ascending negated scores of the true positives
    outline: Outline
    unscored: int
    unscored_true: int


def outlines_of(ddf: Any, roles: Roles) -> list[RankingOutline]:
    """Return an outline of the ranking by each measure, in two passes over the data.

    A partition, the scores of all true positives, and the counts for one merge must fit in the
    memory of a worker.
    """
    request = request_of(ddf, roles)
    request = request._replace(groups=None, key=None, label=(), numbered=False)
    partitions = partitions_of(ddf, request)
    positives = kept([folded(partitions.each(TrueScores.of, request=request), TrueScores.joined)])
    [counts] = computed([later(operator.attrgetter("counts"), positives[0])])
    counts.check(
        request,
        roles,
        "missing='drop' drops different candidates for each measure. First drop all rows with a"
        " missing score: ddf.dropna(subset=[...]).",
    )
    warn_of_counts(counts.positive, counts.total, request.gold)
    distinct = later(TrueScores.distinct, positives[0])
    parts = partitions.each(_negatives_between, distinct, request=request)
    width = _merge_width(16 * counts.positive * len(request.measures))
    negatives, scores = computed([folded(parts, _added, width), distinct])
    rankings = []
    for k, measure in enumerate(request.measures):
        own, tp = scores[k]
        outline = Outline(tp, tied=negatives[k][1::2], between=negatives[k][0::2])
        missing = int(counts.unscored[k]), int(counts.unscored_true[k])
        rankings.append(RankingOutline(measure, own, outline, *missing))
    return rankings


def _negatives_between(
    frame: pd.DataFrame,
    distinct: list[tuple[FloatArray, IntArray]],
    request: Request,
    start: int,
) -> list[IntArray]:
    """Count the negatives before, at, and after each score of the true positives."""
    del start
    worse, truth = heads.negated_scores(frame, request), heads.true_labels(frame, request)
    counts = []
    for own, (scores, _) in zip(worse[:, truth == 0.0], distinct, strict=True):
        rising = np.sort(own)  # searches in order are faster
        first = np.searchsorted(scores, rising, side="left")
        tied = first < np.searchsorted(scores, rising, side="right")
        counts.append(np.bincount(2 * first + tied, minlength=2 * scores.size + 1))
    return counts


def _added(parts: Sequence[list[IntArray]]) -> list[IntArray]:
    return [np.sum(counts, axis=0) for counts in zip(*parts, strict=True)]


def inverse_ends(ddf: Any, roles: Roles, ranking: RankingOutline) -> float:
    """Return the sum of 1 / n over scored candidates, where n is the end of a candidate's block.

    Dask shuffles the distinct scores of each partition by ranges of scores that end at true
    positives, so a range must fit in the memory of a worker. The sum is exact before it is rounded.
    """
    request = request_of(ddf, replace(roles, measures=[ranking.measure]))
    tp, tied, between = ranking.outline
    known = ~np.isnan(ranking.scores)
    ends = np.cumsum(between[:-1] + tp + tied)[known]
    ranges = ddf.npartitions
    cuts = np.unique(np.searchsorted(ends, np.arange(1, ranges) * ends.max(initial=0) / ranges))
    cuts = cuts[cuts < ends.size]
    scores, starts = ranking.scores[known][cuts], np.array([0, *ends[cuts]])
    meta = pd.DataFrame({"range": np.arange(0), "worse": np.zeros(0), "size": np.arange(0)})
    columns = ddf[request.columns]
    counted = columns.map_partitions(_score_counts, request=request, cuts=scores, meta=meta)
    parts = counted.shuffle(on="range").to_delayed()
    sums = folded([later(_inverse_sums, part, starts=starts) for part in parts], _plus).compute()
    return float(sums.rounded()[0])


def _score_counts(frame: pd.DataFrame, *, request: Request, cuts: FloatArray) -> pd.DataFrame:
    """Return the distinct scores in a partition, their ranges, and how often they occur."""
    [worse] = heads.negated_scores(frame, request)
    scores, size = np.unique(worse[~np.isnan(worse)], return_counts=True)
    return pd.DataFrame({"range": np.searchsorted(cuts, scores), "worse": scores, "size": size})


def _inverse_sums(part: pd.DataFrame, *, starts: IntArray) -> ExactSums:
    sizes = part.groupby(["range", "worse"])["size"].sum()
    before = starts[sizes.index.get_level_values("range").to_numpy(dtype=np.int64)]
    ends = before + sizes.groupby(level="range").cumsum().to_numpy()
    return exact_sums((sizes.to_numpy() / ends)[np.newaxis])


def _plus(parts: Sequence[Any]) -> Any:
    """Add sums that have a method ``plus``; None if there are no sums."""
    total = parts[0]
    for part in parts[1:]:
        if total is not None:
            total = total.plus(part)
    return total


# -------------------------------------------------------------------------------------------------
# Items. Blocks of items stay on the workers, and every block uses the same resamples. Sums are
# exact, so results do not depend on how the items are split.

FEW_ITEMS = 64  # with this many items or fewer, one machine can enumerate all signs
_BLOCK = 2**22  # how many numbers a block of items contains at most (32 MB)
_FIRST_ROWS = 1_000  # number of rows that are checked to recognize an identifier
FROM_FRAME = "Call ddf.compute() if the data fit in memory."


class ItemNeeds(NamedTuple):
    """Declare the sums that a function needs from distributed items."""

    options: PairOptions
    signs: bool = False  #: whether random signs of the items' contributions to scores are needed
    swaps: bool = False  #: whether sums over swapped items are needed
    ranked: bool = False  #: whether resampled scores are always needed


_SPREAD = {"by": "domain", "groups": "cluster", "strata": "stratum", "seeds": "training"}
_ADVICE = {
    "by": "Call this method for each domain, ddf[ddf['domain'] == ...].",
    "groups": (
        "First sum each cluster, ddf.groupby(...).sum().compute(), then pass metric='ratio' or"
        " another metric based on sums."
    ),
    "strata": "Omit strata.",
    "seeds": "Average each system over its seeds, and mention this in your report.",
}


def check_needs(needs: ItemNeeds | None, roles: Roles, instead: str) -> ItemNeeds:
    """Raise a ValueError for methods that do not support distributed items.

    ``instead`` explains how to use one machine.
    """
    for role, whole in _SPREAD.items():
        if getattr(roles, role) is not None:
            raise ValueError(
                f"{role}={getattr(roles, role)!r}: items from the same {whole} are spread"
                f" across the workers. {_ADVICE[role]} {instead}"
            )
    if roles.missing != "raise":
        raise ValueError(
            f"missing={roles.missing!r}: items are spread across workers, but every system needs"
            f" all items. Drop incomplete items, ddf.dropna(). {instead}"
        )
    if needs is None:
        raise ValueError(f"this method needs all items in memory. {instead}")
    if studentises(needs.options) and not needs.swaps:
        raise ValueError(
            "event='studentised', ci='studentised' and adjust='max-t' with resampled items need"
            " another pass over the items for standard errors. Pass event='wild', or another ci"
            f" with adjust='holm'. {instead}"
        )
    if needs.options.ci == "bca":
        others = [repr(x) for x in INTERVALS if x in ("wild", "percentile", "basic")]
        raise ValueError(
            "ci='bca' leaves out one item at a time, but the items are spread across workers."
            f" Pass {' or '.join(others)}, or omit ci. {instead}"
        )
    return needs


class Blocks(NamedTuple):
    """Store blocks of items on the workers."""

    statistics: list[Any]  #: lazy :class:`ItemStatistics`
    positions: list[Any]  #: slices, or lazy item numbers in the order of all labels
    n_items: int

    def total(self, function: Callable[..., Any], **known: Any) -> Any:
        """Return the sum of a function of each block's statistics."""
        return folded([later(function, x, **known) for x in self.statistics], _plus).compute()

    def drawn(self, function: Callable[..., Any], number: int, **known: Any) -> Any:
        """Return the lazy total of a function of each block and one block of resamples."""
        parts = [
            later(function, *block, number=number, **known)
            for block in zip(self.statistics, self.positions, strict=True)
        ]
        return folded(parts, blocks.block_totals)


def sums_of_items(
    ddf: Any, table: ItemTable, roles: Roles, needs: ItemNeeds, pairs: IntArray
) -> RemoteFacts | pd.DataFrame:
    """Return the sums over all items for tests of these pairs, or all items if there are few."""
    items = _item_blocks(ddf, table, roles)
    if items.n_items <= FEW_ITEMS:
        whole: pd.DataFrame = ddf.compute()
        return whole
    items = items._replace(statistics=kept(items.statistics))
    metric, n_items = table.metric, items.n_items
    plan = Plan(
        n_items=n_items,
        score=metric.score,
        sign=metric.sign,
        linear=metric.linear,
        options=needs.options,
        pairs=pairs,
        signs=needs.signs,
        swaps=needs.swaps,
        ranked=needs.ranked,
    )
    facts = items.total(blocks.facts_of)
    check_size(facts.sizes.max(axis=1), table.systems)
    known = blocks.known_of(facts, plan)
    linear = blocks.linear_of(items.total(blocks.first_sums, known=known), known)
    added = items.total(blocks.added_of, known=known, linear=linear)
    squares = items.total(blocks.squares_of, known=known, linear=linear, added=added)
    laws_of_blocks = [later(blocks.laws_of, x, known=known) for x in items.statistics]
    merge = functools.partial(_merged_laws, n_items=n_items)
    laws = folded(laws_of_blocks, merge).compute()
    draws = blocks.needs_of(known, laws)
    numbers = range(-(-needs.options.n_resamples // resamples.BLOCK))
    sizes = known.sizes.reshape(-1)
    signed, swapped, counted = None, None, None
    if draws.signs and added is not None:
        contributions: dict[str, Any] = {
            "known": known,
            "linear": linear,
            "added": added,
            "needs": draws,
        }
        sums = computed([items.drawn(blocks.signed_sums, k, **contributions) for k in numbers])
        signed = blocks.one_after_another(sums, added.sizes, n_items=n_items)
    if draws.swaps:
        lazy = [
            items.drawn(blocks.swapped_block_sums, k, known=known, needs=draws) for k in numbers
        ]
        swapped = blocks.one_after_another(computed(lazy), sizes, n_items=n_items)
    if draws.counts:
        sums = _counted_sums(items, known, draws)
        counted = blocks.one_after_another(sums, sizes, n_items=n_items)
    ratios = items.total(blocks.ratio_sums_of, known=known)
    return RemoteFacts(known, laws, linear, added, squares, signed, swapped, counted, ratios)


def _merged_laws(parts: Sequence[blocks.Laws], *, n_items: int) -> blocks.Laws:
    return parts[0].merged(parts[1:], n_items)


def _counted_sums(items: Blocks, known: ItemTotals, needs: Needs) -> list[Any]:
    """Return the sums over drawn items, as successive parts of all resamples.

    The scheduler runs once for as many blocks of resamples as there are threads.
    """
    columns = kept(
        [later(blocks.columns_of, x, known=known, needs=needs) for x in items.statistics]
    )
    total, threads = known.plan.options.n_resamples, max(2, _cluster()[1])
    sums: list[Any] = []
    first = range(0, total, resamples.BLOCK)
    for k in range(0, len(first), threads):
        lazy = []
        for number in range(k, min(k + threads, len(first))):
            size = min(resamples.BLOCK, total - first[number])
            lazy += _counted_block(items, columns, known, needs, number, size)
        sums += computed(lazy)
    return sums


def _counted_block(
    items: Blocks, columns: list[Any], known: ItemTotals, needs: Needs, number: int, n: int
) -> list[Any]:
    """Return lazy sums for one block of resamples, a few resamples at a time.

    The counts of a step are drawn only after those of the second-to-last step have been used.
    """
    totals: list[Any] = []
    generator = None
    for size in resamples.draw_sizes(items.n_items, n):
        used = totals[-2] if len(totals) > 1 else None
        drawn = later(blocks.next_counts, generator, known, needs, number, size, used)
        generator = later(blocks.generator_of, drawn)
        parts = [
            later(blocks.counted_sums, own, later(blocks.of_items, drawn, positions))
            for own, positions in zip(columns, items.positions, strict=True)
        ]
        totals.append(folded(parts, blocks.block_totals))
    return totals


class Labels(NamedTuple):
    """Summarize the labels of a partition."""

    size: int
    ascending: bool
    ends: tuple[Any, Any] | None  #: the first and the last label, if labels are compared

    @classmethod
    def of(cls, frame: pd.DataFrame, *, plain: bool) -> Labels:
        """Return the number of labels, and whether they ascend."""
        index = frame.index
        if plain or not len(index):
            return cls(len(index), True, None)
        return cls(len(index), bool(index.is_monotonic_increasing), (index[0], index[-1]))


def _item_blocks(ddf: Any, table: ItemTable, roles: Roles) -> Blocks:
    """Return the blocks of items, not yet computed.

    To number the items, the scheduler runs once over the index or the first column.
    """
    systems, meta = table.systems, ddf._meta
    columns = [c for c in meta.columns if _names_system(c, systems)]
    frames = ddf[columns].to_delayed()
    narrow = _narrow(ddf, columns[:1], frames)
    numbered = isinstance(meta.index, pd.RangeIndex) and not ddf.known_divisions
    looks = [later(Labels.of, frame, plain=numbered) for frame in narrow]
    labels = computed(looks)
    if roles.measures is None and meta.columns.nlevels == 1:
        rows = later(pd.DataFrame.head, frames[0], n=_FIRST_ROWS).compute()
        warn_of_identifiers({name: rows[name] for name in systems}, taken_as="systems")
    ranks = None
    if not (numbered or _ascend(labels)):
        indexes = [later(operator.attrgetter("index"), frame) for frame in narrow]
        ranks = kept([later(_item_ranks, indexes)])[0]
    most = max(1, _BLOCK // max(1, len(systems) * len(table.metric.chosen)))
    named = {
        "dim": "item",
        "measures": systems,
        "metric": roles.metric,
        "higher_is_better": roles.higher_is_better,
    }
    statistics, positions, begin = [], [], 0
    for frame, size in zip(frames, [one.size for one in labels], strict=True):
        for start in range(0, size, most):
            rows_of_block = slice(start, min(start + most, size))
            statistics.append(
                later(_item_statistics, frame, rows=rows_of_block, size=size, named=named)
            )
            own = slice(begin + rows_of_block.start, begin + rows_of_block.stop)
            positions.append(own if ranks is None else later(_positions, ranks, own=own))
        begin += size
    return Blocks(statistics, positions, begin)


def _names_system(column: Any, systems: Sequence[Hashable]) -> bool:
    levels = column if isinstance(column, tuple) else (column,)
    return column in systems or any(level in systems for level in levels)


def _ascend(labels: Sequence[Labels]) -> bool:
    """Return whether labels are in ascending order across all partitions."""
    filled = [own for own in labels if own.ends is not None]
    if not all(own.ascending for own in filled):
        return False
    ends = [x for own in filled for x in own.ends or ()]
    try:
        return all(not last > first for last, first in zip(ends[1::2], ends[2::2], strict=False))
    except TypeError:  # labels of several types
        return False


def _item_ranks(indexes: Sequence[pd.Index]) -> IntArray:
    """Return the position of each item in the sorted labels."""
    order = item_order(indexes[0].append(list(indexes[1:])))
    ranks = np.empty(order.size, dtype=np.int64)
    ranks[order] = np.arange(order.size)
    return ranks


def _positions(ranks: IntArray, *, own: slice) -> IntArray:
    return ranks[own].copy()


def _item_statistics(
    frame: pd.DataFrame, *, rows: slice, size: int, named: dict[str, Any]
) -> ItemStatistics:
    """Return checked statistics (system, item, statistic) for some rows of a partition."""
    if len(frame) != size:
        raise RuntimeError(
            f"a partition had {size:,} rows when counted and {len(frame):,} when read: the files"
            " changed or were split differently. Give the files an index, or read them again."
        )
    frame = frame.iloc[rows]
    table = read_frame(frame.reset_index(drop=True), Roles.of(named))
    check_complete(table.statistics, table.systems, frame.index)
    block = ItemStatistics(table.statistics, table.metric.ones)
    if table.metric.counts:
        check_counts(block.statistics, table.metric, table.systems, frame.index)
    return block
