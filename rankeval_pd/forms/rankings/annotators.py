"""Combine votes of several annotators, or evaluate each annotator separately."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.errors import warn
from rankeval_pd.forms.rankings.values import gold_values
from rankeval_pd.forms.roles.columns import frame_column, with_columns
from rankeval_pd.forms.roles.roles import ANNOTATOR, Roles, are_values, as_names
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.agreement import agreed

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
        share = None if self.share is None else self.share[kept]
        return self.data.iloc[kept], share, kept % (len(self.data) // self.times or 1)


def with_shares(roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return the roles for a function that supports agreement="mean"."""
    return {**roles, "agreement": _SHARES}


def annotators_of(roles: Roles) -> list[Hashable]:
    """Return the annotators' names, or an empty list for a single gold label."""
    if isinstance(roles.gold, list):
        names = [_name_of(x, k) for k, x in enumerate(roles.gold)]
        if len(dict.fromkeys(names)) < len(names) or len(names) < 2:
            raise ValueError(
                f"gold={names!r}: a list must name two or more annotators, each once. For a single"
                f" gold label, pass gold={names[0]!r}."
                if names
                else (
                    "gold=[] contains no names. Pass the name of the gold label, or the names of"
                    " several annotators."
                )
            )
        return names
    return []


def _name_of(entry: Any, place: int) -> Hashable:
    name = getattr(entry, "name", None) if are_values(entry) else entry
    return f"annotator {place + 1}" if name is None else name


def one_label(data: Any, roles: Roles) -> OneLabel:
    """Combine the votes of several annotators into one gold label."""
    names = annotators_of(roles)
    if not names:
        if roles.agreement != "majority":
            raise ValueError(
                f"agreement={_said(roles)!r} needs several annotators. Pass a list of their"
                f" columns, gold=['a1', 'a2', 'a3'], or add the dimension {ANNOTATOR!r} to the"
                " gold label of a Dataset."
            )
        return OneLabel(data, roles)
    if roles.agreement == "mean":
        raise ValueError(
            "agreement='mean' gives each candidate a vote proportion, but this method counts true"
            " positives. Call compare, which tests differences in mean votes, or pass"
            " agreement='majority', 'any', 'all' or 'each'."
        )
    known = data.columns if isinstance(data, pd.DataFrame) else data.variables
    for name in as_names(roles.measures, known):
        if name in names:
            raise ValueError(
                f"measures: {name!r} is an annotator's column, not a score. Omit this column."
            )
    excluded = [name for name in as_names(roles.exclude, known) if name not in names]
    roles = replace(roles, exclude=excluded or None)
    read = partial(gold_values, positive=roles.positive, min_grade=roles.min_grade, all_there=False)
    return _of_frame(data, replace(roles, positive=None, min_grade=None), names, read)


def _said(roles: Roles) -> str:
    return "mean" if roles.agreement == _SHARES else roles.agreement


def _label_name(names: list[Hashable], roles: Roles) -> str:
    several = ", ".join(map(str, names[:6])) + (", ..." if len(names) > 6 else "")
    return f"{_said(roles)} of {several}"


def _of_frame(frame: pd.DataFrame, roles: Roles, names: list[Hashable], read: Any) -> OneLabel:
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
        parts = [
            with_columns(bare, {ANNOTATOR: pd.Series([name] * len(bare), index=bare.index),
                                gold: row})  # type: ignore[dict-item]
            for name, row in zip(names, votes, strict=True)
        ]  # fmt: skip
        by = [ANNOTATOR, *as_names(roles.by, frame.columns)]
        label, voted = votes.ravel(), np.tile(voted, len(names))
        whole, roles, times = pd.concat(parts), replace(roles, by=by), len(names)
    else:
        share = agreed(votes, "mean") if roles.agreement == _SHARES else None
        label = agreed(votes, roles.agreement) if share is None else np.rint(share)
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
