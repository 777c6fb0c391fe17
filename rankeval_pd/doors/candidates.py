"""Read candidates from DataFrames and Datasets."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.capabilities import READINGS, earlier_reading
from rankeval_pd.doors.columns import (
    as_compared,
    as_indexable,
    cluster_codes,
    column_order,
    gold_values,
    group_numbers,
    label_hashes,
    label_order,
    refuse_text,
    refuse_unlabeled,
    refuse_unscored,
    score_values,
    warn_of_counts,
    warn_of_dropped,
    warn_of_identifiers,
    warn_of_repeated,
    with_given_frame,
)
from rankeval_pd.errors import no_table, warn
from rankeval_pd.memory import check_memory
from rankeval_pd.roles import (
    ANNOTATOR,
    Roles,
    are_values,
    as_names,
    check_levels,
    find_gold,
    find_measures,
    frame_column,
    refuse_dim,
    signs_of,
    warn_of_copied_groups,
    with_columns,
    with_roles_of,
)
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.clusters import agreed, packed
from rankeval_pd.stats.ranking import Size, Whole, same_order
from rankeval_pd.tables import only_or_all, taken_at

# -------------------------------------------------------------------------------------------------
# Combine votes of several annotators, or evaluate each annotator separately.

_SHARES = "shares"  # replaces agreement="mean" if the function supports vote proportions


class OneLabel(NamedTuple):
    """Store data with one gold label, and the combined votes."""

    data: Any  #: with "each", a frame contains each candidate once per annotator
    roles: Roles
    left_out: Any = None  #: candidates with votes but without a label; None for one annotator
    share: FloatArray | None = None  #: the proportion of positive votes, if needed
    times: int = 1  #: how many times each row of a frame is repeated

    def of_frame(self) -> tuple[pd.DataFrame, FloatArray | None, IntArray]:
        """Return the labeled rows with their vote proportions and positions in the data."""
        count, total = int(self.left_out.sum()), int(np.size(self.left_out))
        if count and self.roles.agreement == "each":
            warn(
                f"gold: {count:,} of {total:,} votes are missing. Each annotator's ranking omits"
                " candidates without a vote from that annotator, so n-best lists include lower"
                " scores."
            )
        elif count:
            warn(
                f"gold: {count:,} of {total:,} candidates are excluded because their votes are"
                " tied. Pass agreement='any', 'all' or 'mean' to keep them, or add a vote."
            )
        kept = np.flatnonzero(~self.left_out)
        columns = kept % (len(self.data) // self.times or 1)
        return self.data.iloc[kept], taken_at(self.share, kept), columns


def with_shares(roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return the roles for a function that supports agreement="mean"."""
    return {**roles, "agreement": _SHARES}


def annotators_of(roles: Roles) -> list[Hashable]:
    """Return the annotators' names, or an empty list for a single gold label."""
    if not isinstance(roles.gold, list):
        return []
    names: list[Hashable] = []
    for place, entry in enumerate(roles.gold):
        name = entry
        if are_values(entry):
            name = getattr(entry, "name", None)
        if name is None:
            name = f"annotator {place + 1}"
        names.append(name)
    if not names:
        raise ValueError(
            "gold=[] contains no names. Pass the name of the gold label, or the names of"
            " several annotators."
        )
    if len(dict.fromkeys(names)) < len(names) or len(names) < 2:
        raise ValueError(
            f"gold={names!r}: a list must name two or more annotators, each once. For a single"
            f" gold label, pass gold={names[0]!r}."
        )
    return names


def one_label(data: Any, roles: Roles) -> OneLabel:
    """Combine the votes of several annotators into one gold label."""
    names, agreement = annotators_of(roles), roles.agreement
    if agreement == _SHARES:
        agreement = "mean"
    if not names:
        if roles.agreement != "majority":
            raise ValueError(
                f"agreement={agreement!r} needs several annotators. Pass a list of"
                f" their columns, gold=['a1', 'a2', 'a3'], or add the dimension {ANNOTATOR!r} to"
                " the gold label of a Dataset."
            )
        return OneLabel(data, roles)
    if roles.agreement == "mean":
        raise ValueError(
            "agreement='mean' gives each candidate a vote proportion, but this method counts true"
            " positives. Call compare, which tests differences in mean votes, or pass"
            " agreement='majority', 'any', 'all' or 'each'."
        )
    known = data.columns
    for name in as_names(roles.measures, known):
        if name in names:
            raise ValueError(
                f"measures: {name!r} is an annotator's column, not a score. Omit this column."
            )
    excluded = [name for name in as_names(roles.exclude, known) if name not in names]
    of_each = []
    for name in names:
        column = frame_column(data, name, "gold")
        how = roles.positive, roles.min_grade
        of_each.append(gold_values(column, name, *how, all_there=False))
    roles = replace(roles, exclude=excluded or None, positive=None, min_grade=None)
    # the data with one label from the votes (annotator, candidate)
    votes = np.stack(of_each)
    several = ", ".join([*map(str, names[:6]), *["..."] * (len(names) > 6)])
    gold: Any = f"{agreement} of {several}"
    bare = data.drop(columns=[name for name in names if name in known])
    voted = ~np.isnan(votes).all(axis=0)
    share, times = None, 1
    if roles.agreement == "each":
        if ANNOTATOR in known or ANNOTATOR in data.index.names:
            raise ValueError(
                f"agreement='each' adds a column {ANNOTATOR!r}, but data has a column with this"
                " name. Rename the column."
            )
        parts = []
        for name, label in zip(names, votes, strict=True):
            annotator = pd.Series([name] * len(bare), index=bare.index)
            parts.append(with_columns(bare, {ANNOTATOR: annotator, gold: label}))
        whole, times = pd.concat(parts), len(names)
        roles = replace(roles, by=[ANNOTATOR, *as_names(roles.by, known)])
        label, voted = votes.ravel(), np.tile(voted, times)
    else:
        if roles.agreement == _SHARES:
            share = agreed(votes, "mean")
            label = np.rint(share)
        else:
            label = agreed(votes, roles.agreement)
        whole = with_columns(bare, {gold: label})
    if known.nlevels > 1:
        gold = (gold, *[""] * (known.nlevels - 1))
    return OneLabel(whole, replace(roles, gold=gold), np.isnan(label) & voted, share, times)


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

Data = TypeVar("Data", pd.DataFrame, xr.Dataset)
_LARGE = 10_000  # above this number of candidates, short lists use only the best candidates


def check_data(data: object) -> None:
    """Raise a TypeError unless the data are a DataFrame or a Dataset."""
    if isinstance(data, pd.DataFrame | xr.Dataset):
        return
    if is_dask_frame(data):
        raise TypeError(
            "data is a Dask DataFrame, but functions need data in memory. Import rankeval_pd.dask "
            "and call its accessor, ddf.rankeval.nbest_precision(n), or collect the head, "
            "ddf.rankeval.head(n_max)."
        )
    wanted = "a pandas DataFrame with one row per candidate, or an xarray Dataset with a dimension"
    raise no_table("data", data, f"{wanted} 'candidate'; from_scores(y_true, scores) creates one")


def below_door(data: pd.DataFrame | xr.Dataset) -> pd.DataFrame:
    """Return the data as a DataFrame for type checkers, because the door answers Datasets."""
    return cast("pd.DataFrame", data)


def above_door(table: pd.DataFrame | xr.Dataset, data: Data) -> Data:
    """Return the table for type checkers as what the door makes of it: a table like the data."""
    return cast("Data", table)


def is_dask_frame(data: object) -> bool:
    """Return whether the data are a Dask DataFrame, without importing Dask."""
    kind = type(data)
    named = kind.__name__ in ("DataFrame", "_Frame")
    return named and kind.__module__.startswith("dask") and hasattr(data, "npartitions")


class HeadFrame(pd.DataFrame):
    """Store the candidates of a head. Pandas methods return a plain DataFrame."""

    _metadata = ["known"]  # noqa: RUF012
    known: Any  #: a :class:`rankeval_pd.doors.heads.Head`

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame


class GroupFrame(pd.DataFrame):
    """Stand for the groups of a Dask DataFrame: the columns without rows."""

    _metadata = ["answers"]  # noqa: RUF012
    answers: Callable[..., Any]  #: asks the workers, and returns the answers for all groups

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
    """Store the sorted groups of a DataFrame."""

    keys: pd.DataFrame  #: one row per group, with the columns in ``by``
    number: IntArray  #: the number of each row's group
    order: IntArray  #: the rows, sorted by group and tie key
    #: ``score`` and ``present`` (measure, row), ``gold``, ``draws``, ``cluster`` and ``votes``
    #: (row), as in :class:`rankeval_pd.doors.rankings.Candidates`
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
        score, gold, n_max = self.columns["score"], self.columns["gold"], int(n.max(initial=1))
        keep = needed_ranks(n_max)
        apart = "cluster" in self.columns or "votes" in self.columns
        if 4 * keep > total or apart or not self.columns["present"].all():
            return self
        best = np.stack([x >= np.partition(x, total - keep)[total - keep] for x in score])
        kept = best.sum(axis=1)
        if (kept < keep).any() or (4 * kept > total).any():  # scores are missing or tied
            return self
        rows = np.flatnonzero(best.any(axis=0))
        place = np.empty(total, dtype=np.int64)
        place[self.order] = np.arange(total)
        positive, every = int(gold.sum()), np.ones_like(kept)
        places = rows
        if self.places is not None:
            places = self.places[rows]
        return replace(
            self,
            number=self.number[rows],
            order=np.argsort(place[rows]),
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
        present, gold, whole = self.columns["present"], self.columns["gold"], self.whole
        if whole is not None:
            shape = (1, len(present))
            return Size(np.full(shape, whole.total), np.full(shape, whole.positive))
        return Size(self.tally(present), self.tally(present & gold))

    @property
    def largest(self) -> int:
        """Return the largest number of candidates that a measure has in a group."""
        if self.whole is not None:
            return int(np.max(self.whole.total, initial=0))
        present = self.columns["present"]
        if present.all():
            return int(np.bincount(self.number).max(initial=0))
        return int(self.tally(present).max(initial=0))

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
    head = None
    if isinstance(data, HeadFrame):
        head = data.known
    if asked.dim != "candidate":
        refuse_dim(asked.dim, "candidate")
    frame, roles = with_given_frame(data, asked)
    share = places = None
    if isinstance(roles.gold, list) or roles.agreement != "majority":
        label_of_all = one_label(frame, roles)
        (frame, share, places), roles = label_of_all.of_frame(), label_of_all.roles
    columns = frame.columns
    by, label = as_names(roles.by, columns), as_names(roles.label, columns)
    gold = find_gold(frame, roles)
    named = with_roles_of(gold, roles, columns)
    measures = find_measures(frame, roles, named, needed=scored)
    truth = gold_values(
        frame_column(frame, gold, "gold"),
        gold,
        roles.positive,
        roles.min_grade,
        all_there=head is None,
    )
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
    score = scores * signs[:, np.newaxis]
    # missing labels and scores; "last" and "absent" sort candidates without a score last
    true, unlabeled, unscored = truth == 1.0, np.isnan(truth), np.isnan(score)
    present = np.ones(score.shape, dtype=bool)
    if roles.unjudged == "skip":
        present = np.broadcast_to(~unlabeled, score.shape)
    elif roles.unjudged != "negative" and unlabeled.any():
        refuse_unlabeled(int(unlabeled.sum()), truth.size, gold)
    lacking = unscored & present
    if measures and roles.missing in ("raise", "drop") and lacking.any():
        if roles.missing == "raise":
            refuse_unscored(lacking.sum(axis=1), present.sum(axis=1), truth.size, ranked)
        warn_of_dropped(lacking, present, true, ranked)
        present = present & ~unscored
    keys, number = pd.DataFrame(index=[0]), np.zeros(len(frame), dtype=np.int64)
    if by:
        keys, number = group_numbers([frame_column(frame, x, "by") for x in by], by, len(frame))
    cluster = None
    if roles.groups is not None:
        cluster = packed(
            *(cluster_codes(frame_column(frame, x, "groups"), x) for x in roles.factors)
        )
    check_levels(frame.index)
    labels: Any = frame.index
    if label:
        levels = [as_indexable(frame_column(frame, name, "label")) for name in label]
        labels = only_or_all([pd.Index(level, tupleize_cols=False) for level in levels])
    draws = again = None
    if roles.key is not None:
        key = frame_column(frame, roles.key, "key")
        order = column_order(key, roles.key, number, falling=roles.ties == "trec")
        draws = label_hashes(pd.Index(key.to_numpy()))
    elif scored:
        order, again, draws = label_order(label_hashes(labels), roles.seed, number)
    else:  # counts do not depend on the order of candidates
        order = np.argsort(number, kind="stable")
    same = None
    if scored:
        positive, total = int((truth == 1.0).sum()), int((~np.isnan(truth)).sum())
        if whole is not None:
            positive, total = whole.positive, whole.total
        if positive in (0, total):
            warn_of_counts(positive, total, gold)
        unnamed = not label and set(frame.index.names) <= set(by)  # only names of groups
        if again is not None and again.any() and cluster is None and not (unnamed and by):
            warn_of_repeated(labels, again, by=by, label=label)
        if roles.measures is None:
            numbers: dict[str, IntArray] = {}
            if by:
                numbers["by"] = number
            if cluster is not None and len(roles.factors) == 1:
                numbers["groups"] = cluster
            taken = {*named, *measures}
            if not taken.issuperset(columns):
                refuse_text(frame, roles, taken, "measures")
            warn_of_identifiers(columns_read, taken_as="measures", groups=numbers, truth=truth)
        if by and cluster is None and draws is not None and roles.agreement != "each":
            warn_of_copied_groups(score, number, draws, by)
        if len(measures) > 1 and whole is None:
            first = same_order(score)
            if (first != np.arange(first.size)).any():
                same = SameOrder(first, roles.measures is not None)
    arrays: dict[str, AnyArray] = {"score": score, "gold": true, "present": present}
    for name, values in (("draws", draws), ("cluster", cluster), ("votes", share)):
        if values is not None:
            arrays[name] = values
    groups = Groups(
        keys,
        number,
        order,
        arrays,
        ranked,
        signs,
        roles.missing == "absent",
        whole,
        places,
        same,
        dtypes,
    )
    if readings is not None:
        readings.append((data, asked, scored, groups))
    return groups
