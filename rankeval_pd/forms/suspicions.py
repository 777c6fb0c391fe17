"""What is odd about candidates and is said before they are counted: repeated, of one class."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_string_dtype

from rankeval_pd.errors import listed, warn
from rankeval_pd.forms.columns import is_score
from rankeval_pd.forms.tie_keys import label_hashes
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray

LOOKED_AT = 10_000  # rows in which a column of two values is looked for


def cluster_codes(values: pd.Series, name: Hashable) -> IntArray:
    """Return the number of each candidate's group, whatever the order of the rows."""
    number, labels = pd.factorize(values)
    check_clusters(int((number < 0).sum()), name)
    place = np.empty(len(labels), dtype=np.int64)
    place[np.argsort(label_hashes(pd.Index(labels, tupleize_cols=False)))] = np.arange(len(labels))
    return np.asarray(place[number])


def check_clusters(missing: int, name: Hashable) -> None:
    """Raise a ValueError where candidates have no group."""
    if missing:
        raise ValueError(
            f"groups={name!r} has {missing} missing values: every candidate belongs to a group,"
            " if to one of its own. Fill them."
        )


def warn_of_repeated(
    labels: pd.Index | Sequence[pd.Index],
    again: BoolArray,
    *,
    by: Sequence[Hashable],
    label: Sequence[Hashable],
) -> None:
    """Say that candidates occur more than once, which are not independent then."""
    if not again.any():
        return
    levels = [labels] if isinstance(labels, pd.Index) else list(labels)
    several = [level[again][:3].tolist() for level in levels]
    shown = several[0] if len(several) == 1 else list(zip(*several, strict=True))
    where = "label=" + (repr(label[0]) if len(label) == 1 else repr(list(label)))
    what = where if label else "the index"
    within = f" within one group of by={list(by)!r}" if by else ""
    warn(
        f"{int(again.sum()):,} of {again.size:,} rows repeat the label of an earlier row{within}"
        f" ({what}: {listed(dict.fromkeys(shown))}): are these the same candidates again? Then they"
        " depend on each other, and intervals and p-values of independent candidates do not hold:"
        " name what belongs together, groups=..., or what each row is a sample of, by=... If they"
        " are different candidates, name what tells them apart, label=..., or give them an index"
        " of their own: data.reset_index()."
    )


def warn_of_one_class(truth: FloatArray, name: Hashable) -> None:
    """Say that all candidates are true positives, or none is."""
    known = truth[~np.isnan(truth)]
    warn_of_counts(int((known == 1.0).sum()), known.size, name)


def warn_of_counts(positive: int, total: int, name: Hashable) -> None:
    """Say the same of counts."""
    if total > 1 and positive in (0, total):
        which = "every candidate is a true positive" if positive else "no true positive"
        warn(
            f"gold={name!r}: {which} among {total:,} candidates, so that no ranking of them is"
            " better than another. Is it the right column, and the whole of the data?"
        )


def maybe_gold(data: object, keywords: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say which column of two values, beside scores that have more, may be a gold label."""
    if not isinstance(data, pd.DataFrame) or data.columns.nlevels > 1 or any(keywords.values()):
        return []
    if not data.columns.is_unique:
        return []
    head = data.head(LOOKED_AT)
    scores = [name for name in head if is_score(head[name].dtype)]
    counts = {
        name: head[name].value_counts()
        for name in head
        if name in scores or is_string_dtype(head[name])
    }
    two = [name for name, found in counts.items() if len(found) == 2]
    if len(two) != 1 or not any(len(counts[name]) > 2 for name in scores):
        return []
    positive = "" if two[0] in scores else f", positive={counts[two[0]].index[-1]!r}"
    return [("a gold label?", f"{two[0]!r} has two values: rankeval(gold={two[0]!r}{positive})")]
