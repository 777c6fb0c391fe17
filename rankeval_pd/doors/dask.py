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
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.decisions import GROUP, Rows
from rankeval_pd.doors import heads
from rankeval_pd.doors.candidates import (
    Answer,
    GroupFrame,
    HeadFrame,
    Parts,
    RankingQuestion,
    needed_ranks,
    read_frame,
)
from rankeval_pd.doors.columns import (
    WIDTH,
    asked_thresholds,
    cut_scores,
    group_numbers,
    true_values,
    warn_of_counts,
    warn_of_identifiers,
)
from rankeval_pd.doors.heads import ROWS, Counts, Request
from rankeval_pd.doors.item_tables import (
    ItemTable,
    check_complete,
    check_counts,
    check_size,
    item_order,
    read_items,
)
from rankeval_pd.errors import details_wanted, held, unknown_name
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
from rankeval_pd.stats import (
    AnyItems,
    ExactSums,
    FloatArray,
    IntArray,
    Outline,
    PairOptions,
    RankingOutline,
    blocks,
    exact_sums,
)
from rankeval_pd.stats import items as resamples
from rankeval_pd.stats.blocks import ItemStatistics, ItemTotals, RemoteItems
from rankeval_pd.stats.bootstrap import INTERVALS

# -------------------------------------------------------------------------------------------------
# Lazy calls and trees

_MERGED = 4  # answers merged at a time; a wider tree needs more memory


def later(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
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


def partitions_of(ddf: Any, request: Request, columns: Sequence[Hashable] = ()) -> list[Any]:
    """Return lazy partitions with the columns of the request and further columns."""
    frames: list[Any] = ddf[list(dict.fromkeys([*request.columns, *columns]))].to_delayed()
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
    return frame.set_axis(pd.RangeIndex(start, start + size), axis=0)


def _narrow(ddf: Any, columns: list[Hashable], frames: list[Any]) -> list[Any]:
    """Return partitions with few columns, if Dask then splits the files in the same way."""
    narrow: list[Any] = ddf[columns].to_delayed()
    if len(narrow) == len(frames):
        return narrow
    return frames


def request_of(
    ddf: Any, roles: Roles, n_max: int = 1, *, scored: bool = True, orders: int = 1
) -> Request:
    """Return the columns of the ranking, checked without reading the data."""
    meta: pd.DataFrame = ddf._meta
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
    numbered = roles.label is ROWS or (roles.label is None and _restarts(ddf))
    label: list[Hashable] = []
    if roles.label is not ROWS:
        names = as_names(roles.label, meta.columns)
        label = [x for x in names if x in meta.columns or x not in meta.index.names]
    plain = replace(roles, label=label or None)
    gold = find_gold(meta, plain)
    named = with_roles_of(gold, plain, meta.columns)
    measures = find_measures(meta, plain, named, needed=True) if scored else []
    for name in measures:
        if isinstance(frame_column(meta, name, "measures").dtype, pd.CategoricalDtype):
            raise TypeError(
                f"measures: {name!r} is categorical, but partitions may number the categories"
                f" differently. Convert the column with known categories: ddf[{name!r}].cat.codes."
            )
    labels = frame_column(meta, gold, "gold")
    text = pd.api.types.is_string_dtype(labels.dtype) and labels.dtype != object
    values = true_values(roles.positive)
    if text and not (values and all(isinstance(value, str) for value in values)):
        raise ValueError(
            f"gold={gold!r} contains text (dtype {labels.dtype}), because Dask converts objects to"
            " text, even True and False. Pass the true-positive text, such as positive='True', or"
            " turn off the conversion: dask.config.set({'dataframe.convert-string': False})."
        )
    others = [("key", roles.key), ("groups", roles.groups), *(("label", x) for x in label)]
    for role, name in others:
        if name is not None:
            frame_column(meta, name, role)
    return Request(
        roles=roles,
        gold=gold,
        measures=tuple(measures),
        signs=signs_of(measures, roles, meta.columns),
        label=tuple(label),
        numbered=numbered,
        keep=needed_ranks(n_max),
        orders=orders,
    )


def _restarts(ddf: Any) -> bool:
    """Return whether the index may restart in every file."""
    return isinstance(ddf._meta.index, pd.RangeIndex) and not ddf.known_divisions


# -------------------------------------------------------------------------------------------------
# The head of a ranking. Each round bounds the score of the last candidate in the head for each
# measure. The next round reads more partitions, and keeps only candidates that reach the bound.

_FIRST, _GROWTH = 2, 3  # number of partitions in the first round, and factor by which it grows


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
    request = request_of(ddf, roles, n_max, scored=scored, orders=n_keys)
    if threshold is not None:
        cuts = asked_thresholds(threshold, request.measures)
        cuts = cut_scores(cuts, ddf._meta[list(request.measures)].dtypes)
        request = request._replace(keep=0, cuts=cuts, numbered=False)
    frames = partitions_of(ddf, request, columns)
    if request.numbered:
        request = request._replace(roles=replace(roles, label=None))
    merge = functools.partial(heads.merged, request=request)
    earlier: list[Any] = []  # the head of earlier rounds, on the workers
    first, stop, limit = 0, len(frames), None
    if request.keep and request.measures:
        stop = min(_FIRST, stop)
    while True:
        rows = frames[first:stop]
        parts = [later(heads.reduced, frame, request=request, limit=limit) for frame in rows]
        head = folded([*earlier, *parts], merge)
        if stop == len(frames):
            return heads.finished(head.compute(), request, n_max)
        head = head.persist()
        earlier, limit = [head], head.bound.compute()
        first, stop = stop, min(_GROWTH * stop, len(frames))


# -------------------------------------------------------------------------------------------------
# The ranks of a few candidates, counted without sorting


def ranks_of(ddf: Any, request: Request, few: pd.DataFrame) -> IntArray:
    """Return the ranks (measure, candidate) of a few rows, from 1, in one pass over the data."""
    candidates = later(pd.DataFrame, few).persist()
    frames = partitions_of(ddf, request)
    parts = [later(_rows_ahead, frame, candidates, request=request) for frame in frames]
    before, through = folded(parts, sum).compute()
    if (through - before != 1).any():  # each candidate equals only itself
        what = "the index"
        if request.label:
            what = f"label={list(request.label)!r}"
        if request.roles.key is not None:
            what = f"key={request.roles.key!r}"
        raise ValueError(f"{what} has repeated values among tied candidates: {heads.UNIQUE}")
    ranks: IntArray = 1 + before
    return ranks


def _rows_ahead(frame: pd.DataFrame, few: pd.DataFrame, *, request: Request) -> IntArray:
    """Count the rows of a part before each of a few candidates, and through its own row.

    The result is (2, measure, candidate), in O(rows log rows).
    """
    own, worse = heads.negated_scores(few, request), heads.negated_scores(frame, request)
    counts = np.empty((2, *own.shape), dtype=np.int64)
    for k, scores in enumerate(worse):
        tied = pd.Series(scores).isin(own[k]).to_numpy()
        # a key column is numbered within the rows at hand, so both are numbered together
        near = pd.concat([few, frame[tied]])
        is_row = np.arange(len(near)) >= len(few)
        keys, near_scores = heads.tie_keys(near, request), np.append(own[k], scores[tied])
        apart = np.searchsorted(np.sort(scores[~tied]), own[k])
        for side, last in enumerate((is_row, ~is_row)):  # a candidate before or after its own row
            order = np.lexsort((last, keys, near_scores))
            place = np.argsort(order)[: len(few)]
            counts[side, k] = apart + np.cumsum(is_row[order])[place]
    return counts


# -------------------------------------------------------------------------------------------------
# Groups. Dask shuffles the rows, so that each group is in one partition.


def frame_of_groups(ddf: Any, roles: Roles) -> GroupFrame:
    """Return a frame without rows that stands for the groups in ``by``."""
    meta: pd.DataFrame = ddf._meta
    for name in as_names(roles.by, meta.columns):
        if name not in meta.columns:
            raise unknown_name("by", name, meta.columns)
    request_of(ddf, _of_one_group(roles))
    frame = GroupFrame(meta)
    frame.answers = functools.partial(_answers_of_groups, ddf, roles.label)
    return frame


def _of_one_group(roles: Roles) -> Roles:
    return replace(roles, by=None, exclude=[*as_names(roles.exclude, ()), *as_names(roles.by, ())])


def _answers_of_groups(
    ddf: Any,
    label: Any,
    in_parts: Callable[..., Parts],
    question: RankingQuestion,
    roles: Roles,
    *,
    scored: bool,
) -> tuple[Parts, list[Rows | Answer]]:
    """Ask for each group on a worker, and return the answers for all groups.

    Only the columns in use are read. Dask moves the rows of each group to one partition.
    """
    by = as_names(roles.by, ddf.columns)
    request = request_of(ddf, _of_one_group(replace(roles, label=label)), scored=scored)
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
        lower_is_better=heads.lower_of(roles, request.measures),
        exclude=None,
    )
    in_parts = functools.partial(in_parts, n_groups=len(sizes))
    options = {"in_parts": in_parts, "question": question, "largest": int(sizes.max())}
    options |= {"roles": plain, "scored": scored, "details": details_wanted()}
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
) -> tuple[Parts, list[Rows | Answer]] | None:
    if not len(frame):
        return None
    before = WIDTH.set(largest)
    try:
        with held(details=details, progress=False):
            found = in_parts(read_frame(frame, roles, scored=scored))
            answers = [question(*part) for part in found.parts]
            return found._replace(parts=[]), answers
    finally:
        WIDTH.reset(before)


def _joined_answers(
    parts: Sequence[tuple[Parts, list[Rows | Answer]]], by: list[Hashable]
) -> tuple[Parts, list[Rows | Answer]]:
    """Join the answers, and number all groups in their order."""
    keys = pd.concat([part.keys for part, _ in parts], ignore_index=True)
    for name in by:
        check_types(keys[name], "by", name)
    keys, number = group_numbers([keys[name] for name in by], by, len(keys))
    starts = np.cumsum([0, *(len(part.keys) for part, _ in parts)])
    answers: list[Rows | Answer] = []
    for (_, own), start in zip(parts, starts, strict=False):
        for answer in own:
            rows, facts = answer if isinstance(answer, tuple) else (answer, {})
            answers.append(({**rows, GROUP: number[start + rows[GROUP]]}, facts))
    totals = np.empty_like(number)
    totals[number] = np.concatenate([part.totals for part, _ in parts])
    return Parts(keys, parts[0][0].measures, [], totals), answers


# -------------------------------------------------------------------------------------------------
# Areas of a whole ranking. Only true positives are sorted: the first pass collects their scores,
# and the second pass counts the negatives at and between these scores.


def outlines_of(ddf: Any, roles: Roles) -> list[RankingOutline]:
    """Return an outline of the ranking by each measure, in two passes over the data.

    A partition, the scores of all true positives, and the counts for one merge must fit in the
    memory of a worker.
    """
    request = request_of(ddf, roles)
    unordered = replace(roles, groups=None, key=None)
    request = request._replace(roles=unordered, label=(), numbered=False)
    frames = partitions_of(ddf, request)
    parts = [later(_true_scores, frame, request=request) for frame in frames]
    positives = folded(parts, _joined_scores).persist()
    counts = positives[1].compute()
    counts.check(
        request,
        "missing='drop' drops different candidates for each measure. First drop all rows with a"
        " missing score: ddf.dropna(subset=[...]).",
    )
    warn_of_counts(counts.positive, counts.total, request.gold)
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
    worse, truth = heads.negated_scores(frame, request), heads.true_labels(frame, request)
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
    worse, truth = heads.negated_scores(frame, request), heads.true_labels(frame, request)
    counts = []
    for own, (scores, _) in zip(worse[:, truth == 0.0], distinct, strict=True):
        rising = np.sort(own)  # searches in order are faster
        first = np.searchsorted(scores, rising, side="left")
        tied = first < np.searchsorted(scores, rising, side="right")
        counts.append(np.bincount(2 * first + tied, minlength=2 * scores.size + 1))
    return np.concatenate(counts)


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
    """Add sums that have a method ``plus``."""
    return functools.reduce(lambda total, part: total.plus(part), parts)


# -------------------------------------------------------------------------------------------------
# Items. Blocks of items stay on the workers, and every block uses the same resamples. Sums are
# exact, so results do not depend on how the items are split.

FEW_ITEMS = 64  # with this many items or fewer, one machine can enumerate all signs
_BLOCK = 2**22  # how many numbers a block of items contains at most (32 MB)
_DRAWN = 4  # blocks of resamples in one run of the scheduler, with 64 MB of counts each
_FIRST_ROWS = 1_000  # number of rows that are checked to recognize an identifier
_FROM_FRAME = "Call ddf.compute() if the data fit in memory."


_SPREAD = {  # what consists of several items, and the advice, by role
    "by": ("domain", "Call this method for each domain, ddf[ddf['domain'] == ...]."),
    "groups": (
        "cluster",
        "First sum each cluster, ddf.groupby(...).sum().compute(), then pass metric='ratio' or"
        " another metric based on sums.",
    ),
    "strata": ("stratum", "Omit strata."),
    "seeds": (
        "training",
        "Average each system over its seeds, and mention this in your report.",
    ),
}


def check_distributed(roles: Roles, options: PairOptions, *, studentises: bool) -> None:
    """Raise a ValueError for methods that do not support distributed items."""
    for role, (whole, advice) in _SPREAD.items():
        if getattr(roles, role) is not None:
            raise ValueError(
                f"{role}={getattr(roles, role)!r}: items from the same {whole} are spread"
                f" across the workers. {advice} {_FROM_FRAME}"
            )
    if roles.missing != "raise":
        raise ValueError(
            f"missing={roles.missing!r}: items are spread across workers, but every system needs"
            f" all items. Drop incomplete items, ddf.dropna(). {_FROM_FRAME}"
        )
    if studentises:
        raise ValueError(
            "event='studentised', ci='studentised' and adjust='max-t' with resampled items need"
            " another pass over the items for standard errors. Pass event='wild', or another ci"
            f" with adjust='holm'. {_FROM_FRAME}"
        )
    if options.ci == "bca":
        others = [repr(x) for x in INTERVALS if x in ("wild", "percentile", "basic")]
        raise ValueError(
            "ci='bca' leaves out one item at a time, but the items are spread across workers."
            f" Pass {' or '.join(others)}, or omit ci. {_FROM_FRAME}"
        )


class Blocks(NamedTuple):
    """Store blocks of items on the workers."""

    statistics: list[Any]  #: lazy :class:`ItemStatistics`
    positions: list[Any]  #: slices, or lazy item numbers in the order of all labels
    n_items: int

    def total(self, function: Callable[..., Any], **known: Any) -> Any:
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
        columns = kept([later(blocks.columns_of, x, known=known) for x in self.statistics])
        sums: list[FloatArray] = []
        lazy: list[Any] = []
        for number, start in enumerate(range(0, options.n_resamples, resamples.BLOCK)):
            if number and number % _DRAWN == 0:
                sums += computed(lazy)
                lazy = []
            steps: list[Any] = [None, None]
            generator = later(resamples.block_generator, options.seed, number)
            size_of_block = min(resamples.BLOCK, options.n_resamples - start)
            for size in resamples.draw_sizes(self.n_items, size_of_block):
                drawn = later(blocks.next_counts, generator, self.n_items, size, steps[-2])
                counts, generator = drawn[0], drawn[1]
                parts = [
                    later(blocks.counted_sums, own, counts, positions)
                    for own, positions in zip(columns, self.positions, strict=True)
                ]
                steps.append(folded(parts, sum))
            lazy += steps[2:]
        return sums + computed(lazy)


def read_distributed_items(ddf: Any, table: ItemTable, roles: Roles) -> AnyItems:
    """Return the items on the workers, or in memory if there are few."""
    items = _item_blocks(ddf, table, roles)
    if items.n_items <= FEW_ITEMS:
        few = read_items(ddf.compute(), replace(roles, measures=table.systems, exclude=None))
        return few.items(np.arange(items.n_items))
    items = items._replace(statistics=kept(items.statistics))
    metric = table.metric
    remote = RemoteItems(items, metric.formula.score, metric.sign, metric.linear)
    check_size(remote.known.sizes.max(axis=1), table.systems)
    return remote


def _item_blocks(ddf: Any, table: ItemTable, roles: Roles) -> Blocks:
    """Return the blocks of items, not yet computed.

    To number the items, the scheduler runs once over the index.
    """
    systems, meta = table.systems, ddf._meta
    columns: list[Hashable] = [
        x
        for x in meta.columns
        if x in systems or (isinstance(x, tuple) and not {*x}.isdisjoint(systems))
    ]
    frames = ddf[columns].to_delayed()
    indexes = kept([frame.index for frame in _narrow(ddf, columns[:1], frames)])
    sizes = computed([later(len, index) for index in indexes])
    ranks = None
    if not _restarts(ddf):
        ranks = later(_item_ranks, indexes).persist()
    if roles.measures is None and meta.columns.nlevels == 1:
        rows = later(pd.DataFrame.head, frames[0], n=_FIRST_ROWS).compute()
        warn_of_identifiers({name: rows[name] for name in systems}, taken_as="systems")
    most = max(1, _BLOCK // max(1, len(systems) * len(table.metric.chosen)))
    named = {
        "dim": "item",
        "measures": systems,
        "metric": roles.metric,
        "higher_is_better": roles.higher_is_better,
    }
    statistics, positions, begin = [], [], 0
    for frame, size in zip(frames, sizes, strict=True):
        for start in range(0, size, most):
            rows_of_block = slice(start, min(start + most, size))
            statistics.append(
                later(_item_statistics, frame, rows=rows_of_block, size=size, named=named)
            )
            own = slice(begin + rows_of_block.start, begin + rows_of_block.stop)
            positions.append(own if ranks is None else ranks[own])
        begin += size
    return Blocks(statistics, positions, begin)


def _item_ranks(indexes: Sequence[pd.Index]) -> IntArray:
    """Return the position of each item in the sorted labels."""
    order = item_order(indexes[0].append(list(indexes[1:])))
    ranks = np.empty(order.size, dtype=np.int64)
    ranks[order] = np.arange(order.size)
    return ranks


def _item_statistics(
    frame: pd.DataFrame, *, rows: slice, size: int, named: dict[str, Any]
) -> ItemStatistics:
    """Return checked statistics (system, item, statistic) for some rows of a partition."""
    refuse_changed(frame, size)
    frame = frame.iloc[rows]
    table = read_items(frame.reset_index(drop=True), Roles.of(named))
    check_complete(table.statistics, table.systems, frame.index)
    block = ItemStatistics(table.statistics, table.metric.ones)
    if table.metric.counts:
        check_counts(block.statistics, table.metric, table.systems, frame.index)
    return block
