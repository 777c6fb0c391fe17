"""Read candidates from DataFrames and Datasets."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.capabilities import cached_reading
from rankeval_pd.doors.columns import (
    admit,
    as_compared,
    as_indexable,
    cluster_codes,
    column_order,
    gold_values,
    group_numbers,
    label_order,
    refuse_text,
    score_values,
    value_keys,
    warn_of_counts,
    warn_of_identifiers,
    warn_of_one_class,
    warn_of_repeated,
    with_given_frame,
)
from rankeval_pd.doors.heads import head_of, is_dask_frame, needed_ranks
from rankeval_pd.errors import no_table, warn
from rankeval_pd.memory import check_memory
from rankeval_pd.roles import (
    ANNOTATOR,
    Roles,
    are_values,
    as_names,
    check_levels,
    column_names,
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

SHARE = "_share"
"""The variable in the internal form that contains vote proportions (agreement="mean")."""

_SHARES = "shares"  # replaces agreement="mean" if the function supports vote proportions


class OneLabel(NamedTuple):
    """Store data with one gold label, and the combined votes."""

    data: Any  #: with "each", a frame contains each candidate once per annotator
    roles: Roles
    left_out: Any = None  #: candidates with votes but without a label; None for one annotator
    share: Any = None  #: the proportion of positive votes, if needed
    times: int = 1  #: how many times each row of a frame is repeated

    def of_frame(self) -> tuple[pd.DataFrame, FloatArray | None, IntArray | None]:
        """Return the labeled rows with their vote proportions and positions in the data."""
        if self.left_out is None:
            return self.data, None, None
        _warn_of_undecided(self.left_out, self.roles)
        kept = np.flatnonzero(~self.left_out)
        columns = kept % (len(self.data) // self.times or 1)
        return self.data.iloc[kept], taken_at(self.share, kept), columns


def with_shares(roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return the roles for a function that supports agreement="mean"."""
    return {**roles, "agreement": _SHARES}


def annotators_of(roles: Roles) -> list[Hashable]:
    """Return the annotators' names, or an empty list for a single gold label."""
    if isinstance(roles.gold, list):
        names = [_name_of(x, k) for k, x in enumerate(roles.gold)]
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
    return []


def _name_of(entry: Any, place: int) -> Hashable:
    name: Hashable = entry
    if are_values(entry):
        name = getattr(entry, "name", None)
    if name is None:
        return f"annotator {place + 1}"
    return name


def one_label(data: Any, roles: Roles) -> OneLabel:
    """Combine the votes of several annotators into one gold label."""
    names = annotators_of(roles)
    if not names:
        if roles.agreement != "majority":
            raise ValueError(
                f"agreement={_agreement_name(roles)!r} needs several annotators. Pass a list of"
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
    known = column_names(data)
    for name in as_names(roles.measures, known):
        if name in names:
            raise ValueError(
                f"measures: {name!r} is an annotator's column, not a score. Omit this column."
            )
    excluded = [name for name in as_names(roles.exclude, known) if name not in names]
    roles = replace(roles, exclude=excluded or None)
    read = partial(gold_values, positive=roles.positive, min_grade=roles.min_grade, all_there=False)
    return _frame_with_one_label(data, replace(roles, positive=None, min_grade=None), names, read)


def _agreement_name(roles: Roles) -> str:
    if roles.agreement == _SHARES:
        return "mean"
    return roles.agreement


def _label_name(names: list[Hashable], roles: Roles) -> str:
    several = [*map(str, names[:6]), *["..."] * (len(names) > 6)]
    return f"{_agreement_name(roles)} of {', '.join(several)}"


def _frame_with_one_label(
    frame: pd.DataFrame, roles: Roles, names: list[Hashable], read: Any
) -> OneLabel:
    share = None
    votes = np.stack([read(frame_column(frame, name, "gold"), name) for name in names])
    bare = frame.drop(columns=[name for name in names if name in frame.columns])
    gold: Hashable = _label_name(names, roles)
    voted = ~np.isnan(votes).all(axis=0)
    if roles.agreement == "each":
        if ANNOTATOR in frame.columns or ANNOTATOR in frame.index.names:
            raise ValueError(
                f"agreement='each' adds a column {ANNOTATOR!r}, but data has a column with this"
                " name. Rename the column."
            )
        parts = []
        for name, row in zip(names, votes, strict=True):
            annotator = pd.Series([name] * len(bare), index=bare.index)
            added: dict[Any, Any] = {ANNOTATOR: annotator, gold: row}
            parts.append(with_columns(bare, added))
        by = [ANNOTATOR, *as_names(roles.by, frame.columns)]
        label, voted = votes.ravel(), np.tile(voted, len(names))
        whole, roles, times = pd.concat(parts), replace(roles, by=by), len(names)
    else:
        if roles.agreement == _SHARES:
            share = agreed(votes, "mean")
            label = np.rint(share)
        else:
            share, label = None, agreed(votes, roles.agreement)
        whole, times = with_columns(bare, {str(gold): label}), 1
    if frame.columns.nlevels > 1:
        gold = (gold, *[""] * (frame.columns.nlevels - 1))
    return OneLabel(whole, replace(roles, gold=gold), np.isnan(label) & voted, share, times)


def _warn_of_undecided(left_out: Any, roles: Roles) -> None:
    """Warn about candidates that have no label because annotators disagree."""
    count, total = int(left_out.sum()), int(np.size(left_out))
    if count and roles.agreement == "each":
        warn(
            f"gold: {count:,} of {total:,} votes are missing. Each annotator's ranking omits"
            " candidates without a vote from that annotator, so n-best lists include lower scores."
        )
    elif count:
        warn(
            f"gold: {count:,} of {total:,} candidates are excluded because their votes are tied. "
            "Pass agreement='any', 'all' or 'mean' to keep them, or add a vote."
        )


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


def known_copies(score: FloatArray, *, named: bool) -> SameOrder | None:
    """Return the measures with identical rankings, or None."""
    first = same_order(score)
    if (first == np.arange(first.size)).all():
        return None
    return SameOrder(first, named)


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


@dataclass(frozen=True)
class Groups:
    """Store the sorted groups of a DataFrame."""

    keys: pd.DataFrame  #: one row per group, with the columns in ``by``
    number: IntArray  #: the number of each row's group
    order: IntArray  #: the rows, sorted by group and tie key
    #: ``score`` and ``present`` (measure, row), ``gold``, ``draws``, ``cluster`` and ``_share``
    #: (row), as in :class:`rankeval_pd.doors.rankings.Candidates`
    columns: Mapping[str, AnyArray]
    measures: Sequence[Hashable]
    signs: FloatArray  #: -1 for measures whose scores were negated because lower is better
    ends: bool  #: whether lists end with the last scored candidate (missing="absent")
    whole: Whole | None = None  #: counts of all candidates if the data are a head
    places: IntArray | None = None  #: positions in the data if rows were excluded

    same: SameOrder | None = None  #: measures that rank all candidates identically
    dtypes: Sequence[object] = ()  #: dtypes of the measures, in which thresholds are compared

    def head(self, n_max: int) -> Groups:
        """Return the best candidates of each measure if a few candidates are sufficient.

        The candidates are partitioned instead of sorted. All candidates are kept if there are
        groups, if scores are missing, or if many candidates are tied at the last rank.
        """
        keep, total = needed_ranks(n_max), self.number.size
        score, gold = self.columns["score"], self.columns["gold"]
        apart = {"cluster", SHARE} & set(self.columns)
        every = self.columns["present"].all() and not self.ends
        if (
            self.whole is not None
            or total < _LARGE
            or 4 * keep > total
            or len(self.keys) != 1
            or apart
            or not every
        ):
            return self
        best = np.stack([x >= np.partition(x, total - keep)[total - keep] for x in score])
        kept = best.sum(axis=1)
        if (kept < keep).any() or (4 * kept > total).any():  # scores are missing or tied
            return self
        rows = np.flatnonzero(best.any(axis=0))
        place = np.empty(total, dtype=np.int64)
        place[self.order] = np.arange(total)
        positive, every = int(gold.sum()), np.ones_like(kept)
        return replace(
            self,
            number=self.number[rows],
            order=np.argsort(place[rows]),
            columns={name: values[..., rows] for name, values in self.columns.items()},
            places=self.places_at(rows),
            whole=Whole(
                total,
                positive,
                keep,
                n_max,
                kept,
                (best & gold).sum(axis=1),
                total * every,
                positive * every,
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

    def places_at(self, rows: IntArray) -> IntArray:
        """Return the positions of rows in the data."""
        if self.places is None:
            return rows
        return self.places[rows]


@cached_reading
def read_frame(frame: pd.DataFrame, roles: Roles, *, scored: bool = True) -> Groups:
    """Convert a DataFrame with one row per candidate to the internal form."""
    head, asked = head_of(frame), roles
    refuse_dim(roles.dim, "candidate")
    found = one_label(*with_given_frame(frame, roles))
    (frame, share, places), roles = found.of_frame(), found.roles
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
    missing = "last"
    if measures:
        missing = roles.missing
    check_memory(
        4.0 * len(measures) * len(frame),  # original, signed, sorted and requested scores
        f"{len(measures):,} measures of {len(frame):,} candidates",
        "Pass fewer measures at a time, measures=[...]",
    )
    scores = np.full(
        (max(len(measures), 1), len(frame)), np.nan
    )  # without a measure, there are no scores
    dtypes = []
    for row, measure in enumerate(measures):
        column = frame_column(frame, measure, "measures")
        scores[row] = score_values(column, measure)
        dtypes.append(column.dtype)
    scores = as_compared(scores, roles.ties, roles.key)
    whole = None
    if head is not None:
        whole = head.of(measures, asked)
    result, measures = measures, measures or [None]
    signs = signs_of(measures, roles, columns)
    score, true, present = admit(
        scores * signs[:, np.newaxis],
        truth,
        measures=measures,
        gold_name=gold,
        missing=missing,
        unjudged=roles.unjudged,
    )
    keys, number = group_numbers([frame_column(frame, x, "by") for x in by], by, len(frame))
    unnamed = not label and set(frame.index.names) <= set(by)  # the index contains only group names
    cluster = None
    if roles.groups is not None:
        cluster = packed(
            *(cluster_codes(frame_column(frame, x, "groups"), x) for x in roles.factors)
        )
    check_levels(frame.index)
    named_labels = [as_indexable(frame_column(frame, name, "label")) for name in label]
    levels = [pd.Index(column, tupleize_cols=False) for column in named_labels]
    labels: Any = frame.index
    if levels:
        labels = only_or_all(levels)
    if roles.key is None and not scored:  # counts do not depend on the order of candidates
        order, again = np.argsort(number, kind="stable"), np.zeros(len(frame), dtype=bool)
        draws = None
    elif roles.key is None:
        order, again, draws = label_order(labels, roles.seed, number)
    else:
        key = frame_column(frame, roles.key, "key")
        order = column_order(key, roles.key, number, falling=roles.ties == "trec")
        draws = value_keys(key.to_numpy())
        again = np.zeros(len(frame), dtype=bool)  # keys are never repeated
    same = None
    if scored:
        if whole is not None:
            warn_of_counts(whole.positive, whole.total, gold)
        else:
            warn_of_one_class(truth, gold)
        if roles.key is None and cluster is None and not (unnamed and by):
            warn_of_repeated(labels, again, by=by, label=label)
        if roles.measures is None:
            numbers: dict[str, IntArray] = {}
            if by:
                numbers["by"] = number
            if cluster is not None and len(roles.factors) == 1:
                numbers["groups"] = cluster
            columns_found = {name: frame_column(frame, name, "measures") for name in result}
            refuse_text(frame, roles, [*named, *result], "measures")
            warn_of_identifiers(columns_found, taken_as="measures", groups=numbers, truth=truth)
        if by and cluster is None and draws is not None and roles.agreement != "each":
            warn_of_copied_groups(score, number, draws, by)
        if len(result) > 1 and whole is None:
            same = known_copies(score, named=roles.measures is not None)
    inner = {
        "score": score,
        "gold": true,
        "present": present,
        "draws": draws,
        "cluster": cluster,
        SHARE: share,
    }
    known = {name: values for name, values in inner.items() if values is not None}
    return Groups(
        keys, number, order, known, measures, signs, roles.ends, whole, places, same, dtypes
    )
