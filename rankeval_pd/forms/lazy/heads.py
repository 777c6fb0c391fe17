r"""The head of a ranking that no machine holds: the best candidates of each measure, exactly.

Questions about n-best lists up to ``n_max`` need the candidates in the first ``n_max`` ranks of
some measure, a few behind them, and the numbers N and N+ of all::

    part      part      part      part    all candidates
      |         |         |         |
    reduced   reduced   reduced   reduced    the best of the part, and counts of all of it
        \     /             \     /
         merged              merged       the best of the best, the counts added
              \             /
               finished                   checked, in the order of the data

A merged head is the head of the whole: the best of all are among the best of their part. Scores
are compared with the sign turned, so the smallest is the best, and NaN the last.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed
from rankeval_pd.forms.rankings.tie_keys import label_hashes, refuse_missing, sort_key, value_keys
from rankeval_pd.forms.rankings.values import (
    gold_values,
    refuse_unlabelled,
    refuse_unscored,
    score_values,
    true_values,
)
from rankeval_pd.forms.roles.columns import frame_column, native
from rankeval_pd.forms.roles.roles import Roles, as_names
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import swap_draws
from rankeval_pd.stats.rankings.ranking import Ranking, Whole

_FIXED = (
    "gold", "positive", "min_grade", "key", "label", "lower_is_better", "missing", "groups", "by",
    "dim",
)  # fmt: skip
_PLACES = 2**40  # rows of a part, at most
OWN = (  # the advice where candidates repeat
    "what breaks ties must be each candidate's own. Name what tells them apart, label=..., or take"
    " the numbers of the rows over all partitions, label=rankeval_pd.dask.ROWS."
)


def needed_ranks(n_max: int) -> int:
    """Return up to which rank candidates are kept, for lists of n_max.

    The share of true positives at the end of a list is looked for around it, and swapped labels
    move its end: six standard deviations, or where that is once not enough, 24.
    """
    around = max(20, int(0.5 * n_max**0.8) + 1)
    swapped = 4 * (math.ceil(6.0 * math.sqrt(n_max / 2.0)) + 2)
    return n_max + max(around, swapped)


class Request(NamedTuple):
    """What is asked of every part of the data."""

    gold: Hashable
    measures: tuple[Hashable, ...]
    signs: FloatArray
    key: Hashable | None
    label: tuple[Hashable, ...]
    numbered: bool  #: whether the number of the row, over all parts, identifies a candidate
    seed: int
    positive: Any
    min_grade: float | None
    groups: Hashable | None
    keep: int  #: ranks; 0 keeps nobody
    orders: int = 1  #: of equal scores, whose first candidates are kept: that of the key, others
    draws: int = 0  #: the seed of the others
    padded: bool = False  #: whether rows without gold and scores are none
    cuts: FloatArray | None = None  #: (measure, cut) thresholds, NaN where there is none


class Counts(NamedTuple):
    """What is counted of all candidates."""

    total: int
    positive: int
    unlabelled: int
    unscored: IntArray  #: (measure)
    unscored_true: IntArray  #: (measure): true positives among them
    seen: frozenset[int]  #: which of the values of true positives occur

    @classmethod
    def of(cls, rows: pd.DataFrame, worse: FloatArray, truth: FloatArray, request: Request) -> Self:
        """Return the counts of a part of the data."""
        values = true_values(request.positive)
        gold = frame_column(rows, request.gold, "gold") if values else pd.Series(dtype=object)
        seen = frozenset(i for i, value in enumerate(values) if gold.isin([value]).any())
        positive, unlabelled = int((truth == 1.0).sum()), int(np.isnan(truth).sum())
        lacking = np.isnan(worse)
        both = lacking.sum(axis=1), lacking[:, truth == 1.0].sum(axis=1)
        return cls(len(rows), positive, unlabelled, *both, seen)

    @classmethod
    def merged(cls, parts: Sequence[Counts]) -> Self:
        """Return the counts of several parts."""
        total, positive, unlabelled, unscored, untrue, seen = zip(*parts, strict=True)
        lacking = np.sum(unscored, axis=0), np.sum(untrue, axis=0)
        occurring = frozenset[int]().union(*seen)
        return cls(sum(total), sum(positive), sum(unlabelled), *lacking, occurring)

    def check(self, request: Request, roles: Roles, dropped: str) -> None:
        """Refuse missing labels and scores; ``dropped`` is the message for missing="drop"."""
        if roles.unjudged == "skip" or roles.ties == "trec":
            raise ValueError(
                f"unjudged={roles.unjudged!r}, ties={roles.ties!r}: of a whole Dask DataFrame, give"
                " unjudged='negative' or nothing, and ties='shared'; or ask of queries, by=..."
            )
        if roles.unjudged != "negative":
            refuse_unlabelled(self.unlabelled, self.total, request.gold)
        if roles.missing == "raise":
            every = np.full(self.unscored.shape, self.total)
            refuse_unscored(self.unscored, every, self.total, request.measures)
        if roles.missing == "drop" and self.unscored.any():
            raise ValueError(dropped)
        for position, value in enumerate(true_values(request.positive)):
            if position not in self.seen:
                raise ValueError(
                    f"positive={request.positive!r}: no candidate has the value {value!r} in"
                    f" gold={request.gold!r}. Give values that occur."
                )


class Edge(NamedTuple):
    """Where the kept ranks of each measure end: (measure)."""

    open_: BoolArray  #: whether candidates were left out
    bound: FloatArray  #: where they were, the score of the last rank that is kept
    tied: IntArray  #: and how many candidates have it, and how many true positives
    tied_true: IntArray


class PartialHead(NamedTuple):
    """The head of a part of the data, or of several."""

    rows: pd.DataFrame  #: the candidates, with all their columns
    place: IntArray  #: (candidate) the number of the part and of the row in it, in one number
    edge: Edge
    counts: Counts
    clusters: frozenset[int]
    accepted: IntArray  #: (2, measure, cut) candidates and true positives that thresholds accept


def reduced(
    frame: pd.DataFrame, request: Request, number: int, start: int, limit: FloatArray | None = None
) -> PartialHead:
    """Return the head of one part: number ``number``, whose first row is ``start`` of all.

    ``limit`` has a score for each measure, and what is worse is known to be of no list. O(rows).
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
    clusters: frozenset[int] = frozenset()
    if request.groups is not None:
        names = frame_column(frame, request.groups, "groups").unique()
        clusters = frozenset(label_hashes(pd.Index(names, tupleize_cols=False)).tolist())
    counts, accepted = Counts.of(frame, worse, truth, request), _accepted(worse, truth, request)
    return PartialHead(frame.iloc[kept], number * _PLACES + kept, edge, counts, clusters, accepted)


def with_numbers(frame: pd.DataFrame, start: int) -> pd.DataFrame:
    """Return the rows with their numbers over all parts."""
    return frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis=0)


def _accepted(worse: FloatArray, truth: FloatArray, request: Request) -> IntArray:
    """Count the candidates that each threshold accepts, and the true positives among them."""
    if request.cuts is None:
        return np.zeros((2, len(request.measures), 0), dtype=np.int64)
    cuts = request.cuts * request.signs[:, np.newaxis]
    sets = Ranking.of(-worse, truth == 1.0, ~np.isnan(worse)).accepted(cuts)
    return np.stack([sets.size, sets.tp])


def turned(frame: pd.DataFrame, request: Request) -> FloatArray:
    """Return the scores with the sign turned: (measure, row)."""
    worse = np.empty((len(request.measures), len(frame)))
    for row, measure in enumerate(request.measures):
        column = frame_column(frame, measure, "measures")
        # as they lie in memory, where they can be read so
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
    # those with the score of the last rank, of a part that left none better out
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
        frozenset().union(*(part.clusters for part in parts)),
        np.sum([part.accepted for part in parts], axis=0),
    )


def truth_of(rows: pd.DataFrame, request: Request) -> FloatArray:
    """Return the gold label as 1.0, 0.0 and, where it is missing, NaN."""
    gold = frame_column(rows, request.gold, "gold")
    return gold_values(gold, request.gold, request.positive, request.min_grade, all_there=False)


def _best(
    worse: FloatArray, true: BoolArray, rows: pd.DataFrame, request: Request
) -> tuple[IntArray, Edge]:
    """Return the positions, rising, of candidates in the ranks to keep of some measure.

    Of a part that has left some out they are ``keep`` at least.
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
    """Return the positions, among the rows chosen, of those that come first by the tie key."""
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
    """Return what the random draws of the candidates depend on."""
    if request.key is not None:
        return value_keys(frame_column(rows, request.key, "key").to_numpy())
    seed = swap_draws.mix(np.array([request.seed % 2**64], dtype=np.uint64))
    return swap_draws.mix(label_hashes(_labels(rows, request)) + seed)


def tie_keys(rows: pd.DataFrame, request: Request) -> AnyArray:
    """Return numbers in the order in which equal scores stand."""
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
        pd.Index(frame_column(rows, name, "by"), tupleize_cols=False) for name in request.label
    ]
    return levels if len(levels) > 1 else levels[0]


def _reach(worse: FloatArray, limit: FloatArray) -> BoolArray:
    """Return which rows some measure scores as well as its limit, NaN being none."""
    found = np.full(worse.shape[1], bool(np.isnan(limit).any()))
    here = np.empty_like(found)
    for scores, least in zip(worse, limit, strict=True):
        found |= np.less_equal(scores, least, out=here)
    return found


def _equal(one: FloatArray, other: FloatArray | float) -> BoolArray:
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def lower_of(roles: Roles, measures: Sequence[Hashable]) -> list[Hashable]:
    """Return those of the measures whose small values rank first."""
    if isinstance(roles.lower_is_better, bool):
        return list(measures) if roles.lower_is_better else []
    lower = as_names(roles.lower_is_better, measures)
    return [name for name in measures if name in lower]


class Head(NamedTuple):
    """What a head knows beside its candidates."""

    whole: Whole
    measures: tuple[Hashable, ...]
    roles: dict[str, Any]  #: those it was made with, which decide who is in it
    request: Request

    def of(self, measures: Sequence[Hashable], roles: Roles) -> Whole:
        """Return what is known of the whole, for a question of these measures with these roles."""
        for role in _FIXED:
            made, asked = self.roles[role], getattr(roles, role)
            if role == "gold" and asked is None:
                continue
            if role == "lower_is_better":
                asked = lower_of(roles, self.measures)
            if made is not asked and made != asked:
                raise ValueError(
                    f"{role}={asked!r}, and the head was made with {role}={made!r}, which decides"
                    " who is in it. Make another: ddf.rankeval(...).head(n_max)."
                )
        if roles.groups is not None and roles.ends:
            raise ValueError(
                "groups with missing='absent': the places that a list leaves empty count as groups"
                " of their own, and how many there are a head does not know. Give missing='last'."
            )
        if roles.seed != self.request.seed:
            raise ValueError(
                f"rng={roles.rng!r}, and the head was made with the seed {self.request.seed},"
                " which decides the order of equal scores. Make another:"
                " ddf.rankeval(rng=...).head(n_max)."
            )
        for name in measures:
            if name is not None and name not in self.measures:
                raise ValueError(
                    f"measures: {name!r} is none of those that the head has,"
                    f" {listed(self.measures)}: who is in its lists is not known. Make a head with"
                    " it: ddf.rankeval(measures=...).head(n_max)."
                )
        places = [self.measures.index(name) for name in measures if name is not None]
        return self.whole.of(np.array(places, dtype=np.int64))


class HeadFrame(pd.DataFrame):
    """The candidates of a head; what pandas makes of it is a DataFrame and no head any more."""

    _metadata = ["known"]  # noqa: RUF012
    known: Head

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame


def head_of(data: object) -> Head | None:
    """Return what is known of the whole, where the data are a head."""
    return data.known if isinstance(data, HeadFrame) else None


def refuse_head(data: object) -> None:
    """Raise a ValueError where a head has no answer."""
    head = head_of(data)
    if head is not None:
        raise ValueError(
            f"what was asked here takes all {head.whole.total:,} candidates, and the data are a"
            f" head: the best {head.whole.asked:,} of each measure, and the numbers of all. Ask it"
            " of the whole, ddf.rankeval, or where that does not have it either, of a sample:"
            " ddf.sample(frac=...).compute().rankeval."
        )


_DROPPED = (
    "missing='drop': each measure, and each pair, would have candidates of its own, and none of"
    " them a head in common. Leave the rows without a score out before: ddf.dropna(subset=[...]),"
    " or say what it means: missing='last' or 'absent'."
)


def finished(part: PartialHead, request: Request, roles: Roles, n_max: int) -> HeadFrame:
    """Return the head, the rows in the order of the data, or refuse what is wrong with them."""
    part.counts.check(request, roles, _DROPPED)
    refuse_repeated(part.rows, request)
    order = np.argsort(part.place, kind="stable")
    frame = HeadFrame(part.rows.iloc[order].copy())
    fixed = {role: getattr(roles, role) for role in _FIXED}
    fixed |= {"gold": request.gold, "lower_is_better": lower_of(roles, request.measures)}
    whole = _whole(part, request, n_max)
    frame.known = Head(whole, request.measures, fixed, request)
    return frame


def _whole(part: PartialHead, request: Request, n_max: int) -> Whole:
    """Return the counts of the whole, and where its last kept rank's block of scores ends."""
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
        orders=request.orders,
        accepted=None if request.cuts is None else part.accepted,
    )


def refuse_repeated(rows: pd.DataFrame, request: Request) -> None:
    """Raise a ValueError where candidates among the best cannot be told apart."""
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
            f"{what} repeats {int(again.sum()):,} times among the best candidates"
            f" ({listed(dict.fromkeys(shown))}): {OWN}"
        )
