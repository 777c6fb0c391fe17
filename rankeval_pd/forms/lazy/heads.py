"""The head of a ranking that no machine holds: the best candidates of each measure, exactly.

What is asked about n-best lists up to ``n_max`` needs the candidates that are in the first
``n_max`` ranks of some measure, a few behind them, and the numbers N and N+ of all. Each part of
the data is reduced to its own head, heads are merged in a tree, and what a merged head has is what
the whole has: a candidate that is among the best of all is among the best of its part.

Scores are compared here with the sign turned, so that the smallest is the best, and NaN the last.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed
from rankeval_pd.forms.rankings.tie_keys import label_hashes, value_keys
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
from rankeval_pd.stats.rankings import ranking, swap_draws
from rankeval_pd.stats.rankings.ranking import Whole

_FIXED = (
    "gold", "positive", "min_grade", "key", "label", "lower_is_better", "missing", "groups", "by",
    "dim",
)  # fmt: skip


_PLACES = 2**40  # rows of a part, at most


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


class Part(NamedTuple):
    """The head of a part of the data, or of several."""

    rows: pd.DataFrame  #: the candidates, with all their columns
    place: IntArray  #: (candidate) the number of the part and of the row in it, in one number
    open_: BoolArray  #: (measure) whether candidates were left out
    bound: FloatArray  #: (measure) where they were, the score of the last rank that is kept
    tied: IntArray  #: (measure) and how many candidates have it, and how many true positives
    tied_true: IntArray
    total: int
    positive: int
    unlabelled: int
    unscored: IntArray  #: (measure)
    seen: frozenset[int]  #: which of the values of true positives occur
    clusters: frozenset[int]
    accepted: IntArray  #: (2, measure, cut) candidates and true positives that thresholds accept


def reduced(
    frame: pd.DataFrame,
    request: Request,
    number: int,
    start: int = 0,
    limit: FloatArray | None = None,
) -> Part:
    """Return the head of one part: number ``number``, whose first row is ``start`` of all.

    ``limit`` has a score for each measure, and what is worse is known to be of no list. O(rows).
    """
    frame = native(frame)
    truth, worse = truth_of(frame, request), turned(frame, request)
    if request.numbered:
        frame = frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis=0)
    rows = np.arange(len(frame))
    if request.padded:
        real = ~(np.isnan(truth) & np.isnan(worse).all(axis=0))
        if not real.all():
            frame, truth, worse = frame[real], truth[real], worse[:, real]
            rows = np.arange(len(frame))
    worse_of_all = worse
    if limit is not None:
        rows = np.flatnonzero(_reach(worse, limit))
    here = frame.iloc[rows]
    found = _best(worse[:, rows], truth[rows] == 1.0, here, request)
    kept = rows[found.kept]
    clusters: frozenset[int] = frozenset()
    if request.groups is not None:
        names = pd.Index(
            frame_column(frame, request.groups, "groups").unique(), tupleize_cols=False
        )
        clusters = frozenset(label_hashes(names).tolist())
    return Part(
        frame.iloc[kept],
        number * _PLACES + kept,
        found.open_,
        found.bound,
        found.tied,
        found.tied_true,
        len(frame),
        int((truth == 1.0).sum()),
        int(np.isnan(truth).sum()),
        np.isnan(worse).sum(axis=1),
        seen(frame, request),
        clusters,
        _accepted(worse_of_all, truth, request),
    )


def _accepted(worse: FloatArray, truth: FloatArray, request: Request) -> IntArray:
    """Count the candidates that each threshold accepts, and the true positives among them."""
    if request.cuts is None:
        return np.zeros((2, len(request.measures), 0), dtype=np.int64)
    cuts = request.cuts * request.signs[:, np.newaxis]
    sets = ranking.accepted(-worse, truth == 1.0, ~np.isnan(worse), cuts)
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


def merged(parts: Sequence[Part], request: Request) -> Part:
    """Return the head of several parts."""
    if len(parts) == 1:
        return parts[0]
    rows = pd.concat([part.rows for part in parts if len(part.rows)] or [parts[0].rows])
    worse, true = turned(rows, request), _true(rows, request)
    found = _best(worse, true, rows, request)
    # those with the score of the last rank, of a part that left none better out
    counts = np.zeros((2, len(request.measures)), dtype=np.int64)
    same, stop = _equal(worse, found.bound[:, np.newaxis]), 0
    for part in parts:
        here = slice(stop, stop := stop + len(part.rows))
        cut = part.open_ & _equal(part.bound, found.bound)
        counts[0] += np.where(cut, part.tied, same[:, here].sum(axis=1))
        counts[1] += np.where(cut, part.tied_true, (same[:, here] & true[here]).sum(axis=1))
    kept = found.kept
    return Part(
        rows.iloc[kept],
        np.concatenate([part.place for part in parts])[kept],
        found.open_,
        found.bound,
        counts[0],
        counts[1],
        sum(part.total for part in parts),
        sum(part.positive for part in parts),
        sum(part.unlabelled for part in parts),
        np.sum([part.unscored for part in parts], axis=0),
        frozenset().union(*(part.seen for part in parts)),
        frozenset().union(*(part.clusters for part in parts)),
        np.sum([part.accepted for part in parts], axis=0),
    )


def truth_of(rows: pd.DataFrame, request: Request) -> FloatArray:
    """Return the gold label as 1.0, 0.0 and, where it is missing, NaN."""
    gold = frame_column(rows, request.gold, "gold")
    return gold_values(gold, request.gold, request.positive, request.min_grade, all_there=False)


def _true(rows: pd.DataFrame, request: Request) -> BoolArray:
    return np.asarray(truth_of(rows, request) == 1.0)


class _Best(NamedTuple):
    kept: IntArray  #: positions, rising
    open_: BoolArray
    bound: FloatArray
    tied: IntArray
    tied_true: IntArray


def _best(worse: FloatArray, true: BoolArray, rows: pd.DataFrame, request: Request) -> _Best:
    """Return the candidates that are in the ranks to keep of some measure.

    Those of a part that has left some out are ``keep`` at least.
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
    return _Best(np.flatnonzero(kept), open_, bound, tied, tied_true)


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
        if values.isna().any():
            raise ValueError(
                f"key={request.key!r} has missing values: every candidate needs a value that no"
                " other has. Fill them, or leave key out: then a hash of the label breaks ties."
            )
        try:
            rising = pd.Series(values.to_numpy()).sort_values(kind="stable")
        except TypeError as error:
            raise TypeError(
                f"key={request.key!r} has values that cannot be ordered ({error}). Give a column of"
                " numbers, strings or dates."
            ) from None
        keys = np.empty(len(rows), dtype=np.int64)
        keys[rising.index] = np.cumsum((rising != rising.shift()).to_numpy(dtype=bool))
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


def seen(frame: pd.DataFrame, request: Request) -> frozenset[int]:
    """Return the numbers of the values of true positives that occur."""
    values = true_values(request.positive)
    gold = frame_column(frame, request.gold, "gold") if values else None
    return frozenset(i for i, x in enumerate(values) if gold is not None and gold.isin([x]).any())


def replace_label(roles: Roles) -> Roles:
    """Return the roles of a head whose index, and nothing else, identifies a candidate."""
    return replace(roles, label=None)


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
    seed: int
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
        if roles.seed != self.seed:
            raise ValueError(
                f"rng={roles.rng!r}, and the head was made with the seed {self.seed}, which decides"
                " the order of equal scores. Make another: ddf.rankeval(rng=...).head(n_max)."
            )
        for name in measures:
            if name is not None and name not in self.measures:
                raise ValueError(
                    f"measures: {name!r} is none of those that the head has,"
                    f" {listed(self.measures)}: who is in its lists is not known. Make a head with"
                    " it:"
                    " ddf.rankeval(measures=...).head(n_max)."
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


def finished(part: Part, request: Request, roles: Roles, n_max: int) -> HeadFrame:
    """Return the head, the rows in the order of the data, or refuse what is wrong with them."""
    refuse_unlabelled(part.unlabelled, part.total, request.gold)
    if roles.missing == "raise":
        every = np.full(part.unscored.shape, part.total)
        refuse_unscored(part.unscored, every, part.total, request.measures)
    if roles.missing == "drop" and part.unscored.any():
        raise ValueError(
            "missing='drop': each measure, and each pair, would have candidates of its own, and"
            " none of them a head in common. Leave the rows without a score out before:"
            " ddf.dropna(subset=[...]), or say what it means: missing='last' or 'absent'."
        )
    refuse_unseen(part.seen, request)
    refuse_repeated(part.rows, request)
    order = np.argsort(part.place, kind="stable")
    frame = HeadFrame(part.rows.iloc[order].copy())
    frame.known = Head(
        _whole(part, request, n_max),
        request.measures,
        {
            **{role: getattr(roles, role) for role in _FIXED},
            "gold": request.gold,
            "lower_is_better": lower_of(roles, request.measures),
        },
        roles.seed,
        request,
    )
    return frame


def _whole(part: Part, request: Request, n_max: int) -> Whole:
    """Return the counts of the whole, and where its last kept rank's block of scores ends."""
    worse, true = turned(part.rows, request), _true(part.rows, request)
    bound = part.bound[:, np.newaxis]
    better = np.where(np.isnan(bound), ~np.isnan(worse), worse < bound)
    end = np.where(part.open_, better.sum(axis=1) + part.tied, part.total)
    tp_end = np.where(part.open_, (better & true).sum(axis=1) + part.tied_true, part.positive)
    return Whole(
        total=part.total,
        positive=part.positive,
        reach=min(request.keep, part.total),
        asked=min(n_max, part.total),
        end=end,
        tp_end=tp_end,
        scored=part.total - part.unscored,
        clusters=len(part.clusters) if request.groups is not None else None,
        orders=request.orders,
        accepted=None if request.cuts is None else part.accepted,
    )


def refuse_unseen(occurring: frozenset[int], request: Request) -> None:
    """Raise a ValueError where a value of true positives occurs nowhere."""
    for position, value in enumerate(true_values(request.positive)):
        if position not in occurring:
            raise ValueError(
                f"positive={request.positive!r}: no candidate has the value {value!r} in"
                f" gold={request.gold!r}. Give values that occur."
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
            f" ({listed(dict.fromkeys(shown))}): what breaks ties must be each candidate's own."
            " Name what tells them apart, label=..., or take the numbers of the rows over all"
            " partitions, label=rankeval_pd.dask.ROWS."
        )
