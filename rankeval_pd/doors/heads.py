r"""Collect the exact head of a ranking that is larger than memory.

Methods for n-best lists up to ``n_max`` need the candidates in the first ``n_max`` ranks of each
measure, a few more candidates, and the counts N and N+ of all candidates::

    part      part      part      part    all candidates
      |         |         |         |
    reduced   reduced   reduced   reduced    the best of the part, and counts of all rows
        \     /             \     /
         merged              merged       the best of the best, the counts added
              \             /
               finished                   checked, in data order: a HeadFrame

The best candidates of all are also among the best of their part, so the head is exact. Scores are
negated before comparisons: the smallest value is the best, and NaN comes last.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, Self

import numpy as np
import pandas as pd

from rankeval_pd.doors.candidates import HeadFrame
from rankeval_pd.doors.columns import (
    gold_values,
    label_examples,
    label_hashes,
    refuse_missing,
    refuse_unlabeled,
    refuse_unscored,
    score_values,
    sort_key,
    true_values,
)
from rankeval_pd.errors import listed
from rankeval_pd.roles import Roles, as_names, check_kinds, frame_column, native
from rankeval_pd.stats import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    Ranking,
    Whole,
    clusters,
    ranking,
)
from rankeval_pd.tables import only_or_all

_FIXED = "gold positive min_grade key label lower_is_better missing groups by dim".split()
UNIQUE = (  # advice for repeated candidates
    "to break ties, each candidate needs a unique label. Pass the label column as label=..., or"
    " use row numbers across all partitions: label=rankeval_pd.dask.ROWS."
)
_DROPPED = (
    "missing='drop': the measures and pairs would use different candidates, so there is no common"
    " head. First drop rows without a score, ddf.dropna(subset=[...]), or pass missing='last' or"
    " 'absent'."
)


class RowNumbers:
    """Request the row number across all partitions as a candidate's label."""

    def __repr__(self) -> str:
        return "rankeval_pd.dask.ROWS"

    def __reduce__(self) -> str:
        return "ROWS"


ROWS: Final = RowNumbers()


class Request(NamedTuple):
    """Name the columns of a ranking, the order of ties, and the candidates to keep."""

    roles: Roles
    gold: Hashable
    measures: tuple[Hashable, ...]
    signs: FloatArray  #: (measure) -1 if smaller scores are better
    label: tuple[Hashable, ...]
    numbered: bool  #: whether row numbers across all parts are labels
    keep: int  #: number of ranks to keep; 0 keeps no candidate
    orders: int = 1  #: number of orders of tied candidates, including the key order
    cuts: FloatArray | None = None  #: (measure, cut) thresholds, NaN if missing

    @property
    def columns(self) -> list[Hashable]:
        """Return the columns to read."""
        others = [name for name in (self.roles.key, self.roles.groups) if name is not None]
        return list(dict.fromkeys([self.gold, *self.measures, *others, *self.label]))


# -------------------------------------------------------------------------------------------------
# The columns of one part as arrays


def true_labels(rows: pd.DataFrame, request: Request) -> FloatArray:
    """Return the gold label (row) as 1.0, 0.0 or NaN."""
    gold = frame_column(rows, request.gold, "gold")
    roles = request.roles
    return gold_values(gold, request.gold, roles.positive, roles.min_grade, all_there=False)


def negated_scores(rows: pd.DataFrame, request: Request) -> FloatArray:
    """Return the negated scores (measure, row), so that the smallest is the best."""
    worse = np.empty((len(request.measures), len(rows)))
    for k, measure in enumerate(request.measures):
        column = frame_column(rows, measure, "measures")
        scores = column.to_numpy()
        if column.dtype != np.float64:  # otherwise avoid changing the memory layout
            scores = score_values(column, measure)
        np.multiply(scores, -request.signs[k], out=worse[k])
    return worse


def tie_keys(rows: pd.DataFrame, request: Request) -> AnyArray:
    """Return numbers (row) that determine the order of equal scores."""
    key = request.roles.key
    if key is None:
        return _draw_keys(rows, request)
    values = frame_column(rows, key, "key")
    refuse_missing(values, key)
    ascending = sort_key(values, key)
    keys = np.empty(len(rows), dtype=np.int64)
    keys[ascending.index] = np.cumsum((ascending != ascending.shift()).to_numpy(dtype=bool))
    return keys


def _draw_keys(rows: pd.DataFrame, request: Request) -> ranking.Keys:
    """Return the keys that seed the candidates' random draws."""
    roles = request.roles
    if roles.key is not None:
        return label_hashes(pd.Index(frame_column(rows, roles.key, "key").to_numpy()))
    seed = ranking.mix(np.array([roles.seed % 2**64], dtype=np.uint64))
    return ranking.mix(label_hashes(_label_values(rows, request)) + seed)


def _label_values(rows: pd.DataFrame, request: Request) -> Any:
    if request.numbered or not request.label:
        return rows.index
    columns = [frame_column(rows, name, "label") for name in request.label]
    levels = [pd.Index(column, tupleize_cols=False) for column in columns]
    return only_or_all(levels)


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
        gold, roles = frame_column(rows, request.gold, "gold"), request.roles
        present = [int(gold.isin([value]).sum()) for value in true_values(roles.positive)]
        missing, true = np.isnan(worse), truth == 1.0
        sizes: dict[str, Any] = {"size": [], "positive": []}
        hashes, kinds = None, frozenset[type]()
        if roles.groups is not None:
            column = frame_column(rows, roles.groups, "groups")
            codes, names = pd.factorize(column, use_na_sentinel=False)
            sizes["size"] = np.bincount(codes, minlength=len(names))
            sizes["positive"] = np.bincount(codes, true, len(names))
            hashes = label_hashes(pd.Index(names, tupleize_cols=False))
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
        *columns, sizes, kinds = zip(*parts, strict=True)
        of_clusters = pd.concat(sizes).groupby(level=0).sum()
        return cls._make([*map(sum, columns), of_clusters, frozenset[type]().union(*kinds)])

    def check(self, request: Request, dropped: str = _DROPPED) -> None:
        """Reject missing labels and scores. ``dropped`` is the text for missing="drop"."""
        roles = request.roles
        check_kinds(self.kinds, "groups", roles.groups)
        if roles.unjudged == "skip" or roles.ties == "trec":
            raise ValueError(
                f"unjudged={roles.unjudged!r}, ties={roles.ties!r}: without by=, a Dask DataFrame"
                " supports only unjudged='negative' and ties='shared'. Pass these values, or pass"
                " the query column as by=..."
            )
        if roles.unjudged != "negative":
            refuse_unlabeled(self.unlabeled, self.total, request.gold)
        if roles.missing == "raise":
            sizes = np.full(self.unscored.shape, self.total)
            refuse_unscored(self.unscored, sizes, self.total, request.measures)
        if roles.missing == "drop" and self.unscored.any():
            raise ValueError(dropped)
        for value, count in zip(true_values(roles.positive), self.present, strict=True):
            if count == 0:
                raise ValueError(
                    f"positive={roles.positive!r}: no candidate has the value {value!r} in"
                    f" gold={request.gold!r}. Pass values that occur in this column."
                )


# -------------------------------------------------------------------------------------------------
# The head of a part, of several parts, and of all


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
    truth, worse = true_labels(frame, request), negated_scores(frame, request)
    rows = np.arange(len(frame))
    if limit is not None and not np.isnan(limit).any():
        rows = np.flatnonzero(np.any(worse <= limit[:, np.newaxis], axis=0))
    counts = Counts.of(frame, worse, truth, request)
    return _best(frame.iloc[rows], worse[:, rows], truth[rows] == 1.0, request, counts)


def merged(parts: Sequence[PartialHead], request: Request) -> PartialHead:
    """Return the head of several parts."""
    if len(parts) == 1:
        return parts[0]
    rows = pd.concat([part.rows for part in parts if len(part.rows)] or [parts[0].rows])
    worse, true = negated_scores(rows, request), true_labels(rows, request) == 1.0
    counts = Counts.merged([part.counts for part in parts])
    head = _best(rows, worse, true, request, counts)
    left_out = head.left_out
    for part in parts:
        left_out = left_out + part.left_out * _equal_or_missing(part.bound, head.bound)
    return head._replace(left_out=left_out)


def _best(
    rows: pd.DataFrame, worse: FloatArray, true: BoolArray, request: Request, counts: Counts
) -> PartialHead:
    """Return the candidates to keep among these rows, with the counts of all rows."""
    (measures, total), keep = worse.shape, request.keep
    bound, left_out = np.full(measures, np.nan), np.zeros((2, measures), dtype=np.int64)
    if keep == 0 or total < keep:
        kept_rows = rows.iloc[: total * (keep > 0 and measures > 0)]
        return PartialHead(kept_rows, bound, left_out, counts)
    kept = np.zeros(total, dtype=bool)
    for k, scores in enumerate(worse):
        bound[k] = np.partition(scores, keep - 1)[keep - 1]
        better = _are_better(scores, bound[k])
        same = np.flatnonzero(_equal_or_missing(scores, bound[k]))
        free = keep - int(better.sum())
        if free < same.size:
            same = same[_first_in_order(rows.iloc[same], free, request)]
        kept |= better
        kept[same] = True
    omitted = ~kept & _equal_or_missing(worse, bound[:, np.newaxis])
    left_out[:] = omitted.sum(axis=1), (omitted & true).sum(axis=1)
    return PartialHead(rows[kept], bound, left_out, counts)


def _first_in_order(rows: pd.DataFrame, count: int, request: Request) -> IntArray:
    """Return the positions of the first ``count`` rows in every requested order of ties."""
    orders = [tie_keys(rows, request)]
    if request.orders > 1:
        own = _draw_keys(rows, request)
        numbers = range(1, request.orders)
        orders += [ranking.other_order(own, request.roles.draws, number) for number in numbers]
    return np.unique([np.argpartition(order, count - 1)[:count] for order in orders])


def _are_better(worse: FloatArray, bound: FloatArray | float) -> BoolArray:
    return np.asarray(np.where(np.isnan(bound), ~np.isnan(worse), worse < bound))


def _equal_or_missing(one: FloatArray, other: FloatArray | float) -> BoolArray:
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


# -------------------------------------------------------------------------------------------------
# The finished head, which leaves as a DataFrame that knows the counts of all candidates


def lower_of(roles: Roles, measures: Sequence[Hashable]) -> list[Hashable]:
    """Return the measures whose small values rank first."""
    if isinstance(roles.lower_is_better, bool):
        return list(measures) * roles.lower_is_better
    lower = as_names(roles.lower_is_better, measures)
    return [name for name in measures if name in lower]


class Head(NamedTuple):
    """Store a head's counts over all candidates."""

    whole: Whole
    request: Request  #: with the roles that determined the candidates in the head

    def of(self, measures: Sequence[Hashable], roles: Roles) -> Whole:
        """Return the counts of all candidates for these measures and roles."""
        own, fixed = self.request.measures, self.request.roles
        for role in _FIXED:
            made, wanted = getattr(fixed, role), getattr(roles, role)
            if role == "gold" and wanted is None:
                continue
            if role == "lower_is_better":
                wanted = lower_of(roles, own)
            if made is not wanted and made != wanted:
                raise ValueError(
                    f"{role}={wanted!r}, but the head was made with {role}={made!r}, which"
                    " determines the candidates in the head. Make a new head:"
                    " ddf.rankeval(...).head(n_max)."
                )
        if roles.groups is not None and roles.ends:
            raise ValueError(
                "groups with missing='absent': each empty rank in a list counts as a group, but a"
                " head does not contain the number of empty ranks. Pass missing='last'."
            )
        if roles.seed != fixed.seed:
            raise ValueError(
                f"rng={roles.rng!r}, but the head was made with the seed {fixed.seed}, "
                "which determines the order of equal scores. Make a new head: "
                "ddf.rankeval(rng=...).head(n_max)."
            )
        names = [name for name in measures if name is not None]
        for name in names:
            if name not in own:
                raise ValueError(
                    f"measures: {name!r} is not one of the head's measures,"
                    f" {listed(own)}. Collect a head with this measure:"
                    " ddf.rankeval(measures=...).head(n_max)."
                )
        return self.whole.of(np.array([own.index(x) for x in names], dtype=np.int64))


def finished(part: PartialHead, request: Request, n_max: int) -> HeadFrame:
    """Return the checked head with rows in their original order."""
    counts, roles, bound = part.counts, request.roles, part.bound[:, np.newaxis]
    counts.check(request)
    if roles.key is not None:
        labels = pd.Index(frame_column(part.rows, roles.key, "key"), tupleize_cols=False)
        what, repeated = f"key={roles.key!r}", labels.duplicated()
    else:
        labels, what = _label_values(part.rows, request), "the index"
        if request.label:
            what = f"label={listed(request.label)}"
        repeated = pd.Index(label_hashes(labels)).duplicated()
    if repeated.any():
        examples = dict.fromkeys(label_examples(labels, repeated))
        raise ValueError(
            f"{what} has {int(repeated.sum()):,} repeated values among the best candidates"
            f" ({listed(examples)}): {UNIQUE}"
        )
    # the block that the last kept rank is in
    worse, true = negated_scores(part.rows, request), true_labels(part.rows, request) == 1.0
    ahead = _are_better(worse, bound) | _equal_or_missing(worse, bound)
    end, tp_end = np.stack([ahead.sum(axis=1), (ahead & true).sum(axis=1)]) + part.left_out
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
        orders=request.orders,
        accepted=None if request.cuts is None else counts.accepted,
    )
    frame = HeadFrame(part.rows.copy())
    lower = lower_of(roles, request.measures)
    fixed = replace(roles, gold=request.gold, lower_is_better=lower)
    frame.known = Head(whole, request._replace(roles=fixed))
    return frame
