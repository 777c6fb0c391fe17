r"""Collect the exact head of a ranking that is larger than memory.

Methods for n-best lists up to ``n_max`` need the candidates in the first ``n_max`` ranks of each
measure, a few more candidates, and the total counts N and N+::

    part      part      part      part    all candidates
      |         |         |         |
    reduced   reduced   reduced   reduced    the best of the part, and counts of all rows
        \     /             \     /
         merged              merged       the best of the best, the counts added
              \             /
               finished                   checked, in data order

Merging the heads of all parts gives the head of the complete ranking, because the best candidates
overall are also among the best in their part. Scores are negated before comparisons, so the
smallest value is the best and NaN comes last.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from rankeval_pd.doors.heads import Head, HeadFrame
from rankeval_pd.doors.heads import lower_of as lower_of
from rankeval_pd.doors.heads import needed_ranks as needed_ranks
from rankeval_pd.errors import listed
from rankeval_pd.forms.rankings.tie_keys import label_hashes, refuse_missing, sort_key, value_keys
from rankeval_pd.forms.rankings.values import (
    gold_values,
    refuse_unlabeled,
    refuse_unscored,
    score_values,
    true_values,
)
from rankeval_pd.forms.roles.columns import frame_column, native
from rankeval_pd.forms.roles.label_types import check_kinds
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import cluster_totals
from rankeval_pd.stats.rankings import swap_draws
from rankeval_pd.stats.rankings.ranking import Ranking, Whole

_FIXED = (
    "gold", "positive", "min_grade", "key", "label", "lower_is_better", "missing", "groups", "by",
    "dim",
)  # fmt: skip
_PLACES = 2**40  # the largest possible number of rows in a part
OWN = (  # advice for repeated candidates
    "to break ties, each candidate needs a unique label. Pass the label column as label=..., or"
    " use row numbers across all partitions: label=rankeval_pd.dask.ROWS."
)


class Request(NamedTuple):
    """Store a request for data from every part."""

    gold: Hashable
    measures: tuple[Hashable, ...]
    signs: FloatArray
    key: Hashable | None
    label: tuple[Hashable, ...]
    numbered: bool  #: whether row numbers across all parts are labels
    seed: int
    positive: Any
    min_grade: float | None
    groups: Hashable | None
    keep: int  #: number of ranks to keep; 0 keeps no candidate
    orders: int = 1  #: number of orders of tied candidates, including the key order
    draws: int = 0  #: the seed of the random orders
    padded: bool = False  #: whether rows without gold and scores are padding
    cuts: FloatArray | None = None  #: (measure, cut) thresholds, NaN if missing


class Counts(NamedTuple):
    """Store counts over all candidates."""

    total: int
    positive: int
    unlabeled: int
    unscored: IntArray  #: (measure)
    unscored_true: IntArray  #: (measure): true positives among the unscored candidates
    seen: frozenset[int]  #: values of true positives found in the data
    kinds: frozenset[type]  #: the types of the groups' names

    @classmethod
    def of(cls, rows: pd.DataFrame, worse: FloatArray, truth: FloatArray, request: Request) -> Self:
        """Count the candidates in a part of the data."""
        values = true_values(request.positive)
        gold = frame_column(rows, request.gold, "gold") if values else pd.Series(dtype=object)
        seen = frozenset(i for i, value in enumerate(values) if gold.isin([value]).any())
        positive, unlabeled = int((truth == 1.0).sum()), int(np.isnan(truth).sum())
        lacking = np.isnan(worse)
        both = lacking.sum(axis=1), lacking[:, truth == 1.0].sum(axis=1)
        groups = request.groups
        named = pd.Series() if groups is None else frame_column(rows, groups, "groups").dropna()
        kinds = frozenset(map(type, named.head(1)))
        return cls(len(rows), positive, unlabeled, *both, seen, kinds)

    @classmethod
    def merged(cls, parts: Sequence[Counts]) -> Self:
        """Add the counts of several parts."""
        total, positive, unlabeled, unscored, untrue, seen, kinds = zip(*parts, strict=True)
        lacking = np.sum(unscored, axis=0), np.sum(untrue, axis=0)
        occurring, named = frozenset[int]().union(*seen), frozenset[type]().union(*kinds)
        return cls(sum(total), sum(positive), sum(unlabeled), *lacking, occurring, named)

    def check(self, request: Request, roles: Roles, dropped: str) -> None:
        """Reject missing labels and scores. ``dropped`` is the text for missing="drop"."""
        check_kinds(self.kinds, "groups", request.groups)
        if roles.unjudged == "skip" or roles.ties == "trec":
            raise ValueError(
                f"unjudged={roles.unjudged!r}, ties={roles.ties!r}: without by=, a Dask DataFrame"
                " supports only unjudged='negative' and ties='shared'. Pass these values, or pass"
                " the query column as by=..."
            )
        if roles.unjudged != "negative":
            refuse_unlabeled(self.unlabeled, self.total, request.gold)
        if roles.missing == "raise":
            every = np.full(self.unscored.shape, self.total)
            refuse_unscored(self.unscored, every, self.total, request.measures)
        if roles.missing == "drop" and self.unscored.any():
            raise ValueError(dropped)
        for position, value in enumerate(true_values(request.positive)):
            if position not in self.seen:
                raise ValueError(
                    f"positive={request.positive!r}: no candidate has the value {value!r} in"
                    f" gold={request.gold!r}. Pass values that occur in this column."
                )


class Edge(NamedTuple):
    """Store the cutoff of the kept ranks, with one value per measure."""

    open_: BoolArray  #: whether candidates were omitted
    bound: FloatArray  #: the score of the last kept rank if candidates were omitted
    tied: IntArray  #: numbers of candidates and true positives with the score of the last kept rank
    tied_true: IntArray


class PartialHead(NamedTuple):
    """Store the head of one or more parts of the data."""

    rows: pd.DataFrame  #: the candidates with all columns
    place: IntArray  #: (candidate) the part and the row within the part, encoded in one number
    edge: Edge
    counts: Counts
    #: candidates and true positives of each group, by the hash of the group's name
    clusters: pd.DataFrame
    accepted: IntArray  #: (2, measure, cut) candidates and true positives that thresholds accept


def reduced(
    frame: pd.DataFrame, request: Request, number: int, start: int, limit: FloatArray | None = None
) -> PartialHead:
    """Return the head of part ``number``, which begins at row ``start``.

    ``limit`` contains a score for each measure. Candidates below all limits are dropped. The cost
    is O(rows).
    """
    frame = native(frame)
    truth, worse = truth_of(frame, request), turned(frame, request)
    if request.numbered:
        frame = with_numbers(frame, start)
    if request.padded:
        real = ~(np.isnan(truth) & np.isnan(worse).all(axis=0))
        if not real.all():
            frame, truth, worse = frame[real], truth[real], worse[:, real]
    rows = np.arange(len(frame)) if limit is None else np.flatnonzero(_reach(worse, limit))
    best, edge = _best(worse[:, rows], truth[rows] == 1.0, frame.iloc[rows], request)
    kept = rows[best]
    counts, accepted = Counts.of(frame, worse, truth, request), _accepted(worse, truth, request)
    clusters = _clusters(frame, truth, request)
    return PartialHead(frame.iloc[kept], number * _PLACES + kept, edge, counts, clusters, accepted)


def _clusters(frame: pd.DataFrame, truth: FloatArray, request: Request) -> pd.DataFrame:
    """Count candidates and true positives by the hash of each group's name."""
    if request.groups is None:
        return pd.DataFrame({"size": [], "positive": []})
    column = frame_column(frame, request.groups, "groups")
    codes, names = pd.factorize(column, use_na_sentinel=False)
    sums = {
        "size": np.bincount(codes, minlength=len(names)),
        "positive": np.bincount(codes, truth == 1.0, len(names)),
    }
    return pd.DataFrame(sums, index=label_hashes(pd.Index(names, tupleize_cols=False)))


def with_numbers(frame: pd.DataFrame, start: int) -> pd.DataFrame:
    """Return the rows, numbered across all parts."""
    return frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis=0)


def _accepted(worse: FloatArray, truth: FloatArray, request: Request) -> IntArray:
    """Count accepted candidates and accepted true positives for each threshold."""
    if request.cuts is None:
        return np.zeros((2, len(request.measures), 0), dtype=np.int64)
    cuts = request.cuts * request.signs[:, np.newaxis]
    sets = Ranking.of(-worse, truth == 1.0, ~np.isnan(worse)).accepted(cuts)
    return np.stack([sets.size, sets.tp])


def turned(frame: pd.DataFrame, request: Request) -> FloatArray:
    """Return the negated scores (measure, row)."""
    worse = np.empty((len(request.measures), len(frame)))
    for row, measure in enumerate(request.measures):
        column = frame_column(frame, measure, "measures")
        # avoid changing the memory layout
        plain = column.dtype == np.float64
        scores = column.to_numpy() if plain else score_values(column, measure)
        np.multiply(scores, -request.signs[row], out=worse[row])
    return worse


def merged(parts: Sequence[PartialHead], request: Request) -> PartialHead:
    """Return the head of several parts."""
    if len(parts) == 1:
        return parts[0]
    rows = pd.concat([part.rows for part in parts if len(part.rows)] or [parts[0].rows])
    worse, true = turned(rows, request), truth_of(rows, request) == 1.0
    kept, edge = _best(worse, true, rows, request)
    # candidates tied at the last rank, if their part omitted no better candidate
    tied = np.zeros((2, len(request.measures)), dtype=np.int64)
    same, stop = _equal(worse, edge.bound[:, np.newaxis]), 0
    for part in parts:
        here = slice(stop, stop := stop + len(part.rows))
        own = part.edge
        cut = own.open_ & _equal(own.bound, edge.bound)
        tied[0] += np.where(cut, own.tied, same[:, here].sum(axis=1))
        tied[1] += np.where(cut, own.tied_true, (same[:, here] & true[here]).sum(axis=1))
    return PartialHead(
        rows.iloc[kept],
        np.concatenate([part.place for part in parts])[kept],
        edge._replace(tied=tied[0], tied_true=tied[1]),
        Counts.merged([part.counts for part in parts]),
        pd.concat([part.clusters for part in parts]).groupby(level=0).sum(),
        np.sum([part.accepted for part in parts], axis=0),
    )


def truth_of(rows: pd.DataFrame, request: Request) -> FloatArray:
    """Return the gold label as 1.0, 0.0 or NaN."""
    gold = frame_column(rows, request.gold, "gold")
    return gold_values(gold, request.gold, request.positive, request.min_grade, all_there=False)


def _best(
    worse: FloatArray, true: BoolArray, rows: pd.DataFrame, request: Request
) -> tuple[IntArray, Edge]:
    """Return the positions of candidates ranked high enough by at least one measure.

    The positions are in ascending order. If any candidates are omitted, at least ``keep`` remain.
    """
    count, total = worse.shape
    kept = np.zeros(total, dtype=bool)
    open_, bound = np.zeros(count, dtype=bool), np.full(count, np.nan)
    tied, tied_true = np.zeros((2, count), dtype=np.int64)
    for measure, scores in enumerate(worse if request.keep else ()):
        if total < request.keep:
            kept[:] = True
            continue
        last = np.partition(scores, request.keep - 1)[request.keep - 1]
        better = ~np.isnan(scores) if np.isnan(last) else scores < last
        same = np.flatnonzero(_equal(scores, last))
        more = request.keep - int(better.sum())
        kept |= better
        kept[same if more == same.size else same[_first(rows, same, more, request)]] = True
        open_[measure], bound[measure] = True, last
        tied[measure], tied_true[measure] = same.size, int(true[same].sum())
    return np.flatnonzero(kept), Edge(open_, bound, tied, tied_true)


def _first(rows: pd.DataFrame, chosen: IntArray, count: int, request: Request) -> IntArray:
    """Return the positions of the first ``count`` chosen rows in tie-key order."""
    rows = rows.iloc[chosen]
    first = np.argpartition(tie_keys(rows, request), count - 1)[:count]
    if request.orders == 1:
        return first
    own = _draw_keys(rows, request)
    others = [
        np.argpartition(swap_draws.other_order(own, request.draws, number), count - 1)[:count]
        for number in range(1, request.orders)
    ]
    return np.unique(np.concatenate([first, *others]))


def _draw_keys(rows: pd.DataFrame, request: Request) -> swap_draws.Keys:
    """Return the keys that seed the candidates' random draws."""
    if request.key is not None:
        return value_keys(frame_column(rows, request.key, "key").to_numpy())
    seed = swap_draws.mix(np.array([request.seed % 2**64], dtype=np.uint64))
    return swap_draws.mix(label_hashes(_labels(rows, request)) + seed)


def tie_keys(rows: pd.DataFrame, request: Request) -> AnyArray:
    """Return numbers that determine the order of equal scores."""
    if request.key is not None:
        values = frame_column(rows, request.key, "key")
        refuse_missing(values, request.key)
        ascending = sort_key(values, request.key)
        keys = np.empty(len(rows), dtype=np.int64)
        keys[ascending.index] = np.cumsum((ascending != ascending.shift()).to_numpy(dtype=bool))
        return keys
    return _draw_keys(rows, request)


def _labels(rows: pd.DataFrame, request: Request) -> Any:
    if request.numbered or not request.label:
        return rows.index
    levels = [
        pd.Index(frame_column(rows, name, "label"), tupleize_cols=False) for name in request.label
    ]
    return levels if len(levels) > 1 else levels[0]


def _reach(worse: FloatArray, limit: FloatArray) -> BoolArray:
    """Return the rows that reach the limit for a measure. NaN means no limit."""
    found = np.full(worse.shape[1], bool(np.isnan(limit).any()))
    here = np.empty_like(found)
    for scores, least in zip(worse, limit, strict=True):
        found |= np.less_equal(scores, least, out=here)
    return found


def _equal(one: FloatArray, other: FloatArray | float) -> BoolArray:
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


_DROPPED = (
    "missing='drop': the measures and pairs would use different candidates, so there is no common"
    " head. First drop rows without a score, ddf.dropna(subset=[...]), or pass missing='last' or"
    " 'absent'."
)


def finished(part: PartialHead, request: Request, roles: Roles, n_max: int) -> HeadFrame:
    """Return the checked head with rows in their original order."""
    part.counts.check(request, roles, _DROPPED)
    refuse_repeated(part.rows, request)
    order = np.argsort(part.place, kind="stable")
    frame = HeadFrame(part.rows.iloc[order].copy())
    fixed = {role: getattr(roles, role) for role in _FIXED}
    fixed |= {"gold": request.gold, "lower_is_better": lower_of(roles, request.measures)}
    whole = _whole(part, request, n_max)
    frame.known = Head(whole, request.measures, fixed, request)  # type: ignore[arg-type]
    return frame


def _whole(part: PartialHead, request: Request, n_max: int) -> Whole:
    """Return the total counts, and the last rank in the last kept tie."""
    worse, true = turned(part.rows, request), truth_of(part.rows, request) == 1.0
    edge, counts = part.edge, part.counts
    bound = edge.bound[:, np.newaxis]
    better = np.where(np.isnan(bound), ~np.isnan(worse), worse < bound)
    size, tp = better.sum(axis=1) + edge.tied, (better & true).sum(axis=1) + edge.tied_true
    return Whole(
        total=counts.total,
        positive=counts.positive,
        reach=min(request.keep, counts.total),
        asked=min(n_max, counts.total),
        end=np.where(edge.open_, size, counts.total),
        tp_end=np.where(edge.open_, tp, counts.positive),
        scored=counts.total - counts.unscored,
        tp_scored=counts.positive - counts.unscored_true,
        clusters=len(part.clusters) if request.groups is not None else None,
        positives_variance=cluster_totals.positives_variance(*part.clusters.to_numpy().T),
        orders=request.orders,
        accepted=None if request.cuts is None else part.accepted,
    )


def refuse_repeated(rows: pd.DataFrame, request: Request) -> None:
    """Raise a ValueError if several of the best candidates have the same label."""
    if request.key is not None:
        values = frame_column(rows, request.key, "key")
        what, again = f"key={request.key!r}", values.duplicated().to_numpy()
        shown = values[again].unique()[:3].tolist()
    else:
        labels = _labels(rows, request)
        again = pd.Index(label_hashes(labels)).duplicated()
        what = f"label={listed(request.label)}" if request.label else "the index"
        levels = [labels] if isinstance(labels, pd.Index) else labels
        several = [level[again][:3].tolist() for level in levels]
        shown = several[0] if len(several) == 1 else list(zip(*several, strict=True))
    if again.any():
        raise ValueError(
            f"{what} has {int(again.sum()):,} repeated values among the best candidates"
            f" ({listed(dict.fromkeys(shown))}): {OWN}"
        )
