"""Warn about duplicate measures and candidates, and suggest roles."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_string_dtype

from rankeval_pd.errors import is_hushed, listed, warn
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.copies import again_in_groups

_LEAST = 10  # with fewer candidates, a measure can be a function of the label by chance
_MOST_VOTES = 20
_ANNOTATOR = re.compile(
    r"(?:ann|anno|annot|annotator|rater|judge|coder|expert|vote|votes|label|labels|judgments?)"
    r"[\W_]*(?:\d{1,3}|[a-z])?"
)
_GOLD = re.compile(
    r"is_?\w+|y|y_?true|true|truth|labels?|gold\w*|targets?|class|rel|relevan(t|ce)|correct|positive"
)
_YES = ("yes", "y", "true", "t", "positive", "pos", "relevant", "correct", "1")
_LOOKED_AT = 10_000  # number of rows checked for two distinct values
_NUMBERED = re.compile(r"[arj]\d{1,2}")


def likely_gold(data: object) -> tuple[Hashable, str] | None:
    """Return the only two-valued column and suitable roles, or None.

    If there are several such columns, the function returns the only column whose name suggests a
    gold label.
    """
    if not isinstance(data, pd.DataFrame) or data.columns.nlevels > 1:
        return None
    if not data.columns.is_unique:
        return None
    head = data.head(_LOOKED_AT)
    scores = [x for x in head if is_numeric_dtype(head[x]) and not is_bool_dtype(head[x])]
    counts: dict[Any, Any] = {
        x: head[x].value_counts() for x in head if x in scores or is_string_dtype(head[x])
    }
    two = [name for name, found in counts.items() if len(found) == 2]
    if len(two) > 1:
        two = [name for name in two if _GOLD.fullmatch(str(name).lower())]
    if len(two) != 1 or not any(len(counts[x]) > 2 for x in scores):
        return None
    values = list(counts[two[0]].index)
    # if neither value has a typical name, choose the rarer value
    yes = next((x for x in values if str(x).lower() in _YES), values[-1])
    return two[0], f"gold={two[0]!r}" + ("" if two[0] in scores else f", positive={yes!r}")


def vote_reason(name: Hashable, numbers: FloatArray) -> str | None:
    """Return why a column of whole numbers looks like votes, or None."""
    text = str(name).lower()
    known = numbers[~np.isnan(numbers)]
    low, high = known.min(), known.max()
    if low < 0 or high > (1 if _NUMBERED.fullmatch(text) else _MOST_VOTES):
        return None
    found = _ANNOTATOR.fullmatch(text) or _NUMBERED.fullmatch(text)
    return "votes, judging by the column's name" if found else None


def gold_reason(numbers: FloatArray, truth: FloatArray) -> str | None:
    """Return a reason if the column determines the gold label, otherwise None."""
    if numbers.size < _LEAST or numbers.shape != truth.shape:
        return None
    for few in (slice(100), slice(None)):  # a few rows are enough to reject most columns
        here, label = numbers[few], truth[few]
        true, false = here[label == 1.0], here[label == 0.0]
        if any(x.size and not (x == x[0]).all() for x in (true, false)):
            return None
    if not true.size or not false.size or true[0] == false[0]:
        return None
    return "a function of the gold label"


def warn_of_copied_groups(
    score: FloatArray, number: IntArray, label: AnyArray, by: Sequence[Hashable]
) -> None:
    """Warn if the same candidates occur in several groups in ``by``."""
    if is_hushed("by="):
        return
    again = again_in_groups(score, number, label)
    if again is not None:
        name = repr(by[0]) if len(by) == 1 else repr(list(by))
        warn(
            f"by={name}: {int(again.sum()):,} of {again.size:,} candidates have the same label and"
            " scores as a candidate in another group, so the groups are not independent. If the"
            " groups are annotators, pass one column per annotator, gold=['a1', 'a2', ...];"
            " otherwise pass the cluster column as groups=..."
        )


def warn_of_same_order(measures: Sequence[Hashable], same: Sequence[int]) -> None:
    """Warn about measures that rank all candidates identically."""
    sets = [
        [measures[k] for k in range(len(same)) if same[k] == first] for first in dict.fromkeys(same)
    ]
    alike = [names for names in sets if len(names) > 1]
    told = "; ".join(listed(names) for names in alike[:4])
    copies = [name for names in alike for name in names[1:]]
    warn(
        f"measures: {told} rank all candidates identically and count as one measure when p-values"
        f" are adjusted. Exclude the copies, exclude={copies!r}, or list your measures,"
        " measures=[...]."
    )
