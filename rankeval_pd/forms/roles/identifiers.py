"""Warn about identifiers, repeated candidates, and data with only one class."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_string_dtype

from rankeval_pd.errors import listed, warn
from rankeval_pd.forms.rankings.tie_keys import label_hashes
from rankeval_pd.forms.roles.columns import is_score
from rankeval_pd.forms.roles.copies import gold_reason, likely_gold, vote_reason
from rankeval_pd.forms.roles.label_types import check_types
from rankeval_pd.forms.roles.roles import CONTINGENCY, Roles, excluded_names
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray

# ------------------------------------- Warnings about unnamed columns that look like identifiers

_LEAST = 10  # with fewer rows, whole numbers can be distinct by chance
#: words in column names, for each likely role in rankings and runs, and in systems
_WORDS = {
    ("by", "groups"): "query topic user session subject participant batch block page passage line"
    " qid uid sid segment seg sentence sent prompt judge rater annotator",
    ("label", "groups"): "doc document docno docid pid segid item id ids idx index key guid no nr"
    " number row",
    ("gold", "exclude"): "label labels rel relevance relevant grade",
    ("by", "seeds"): "seed rep repeat repetition replicate trial run",
    ("by", "exclude"): "fold split",
    ("exclude", "exclude"): "rank length len year date timestamp",
}
_ROLES = {word: roles for roles, words in _WORDS.items() for word in words.split()}
_LAST = frozenset({
    "id", "ids", "idx", "index", "uid", "sid", "docno", "nr", "number", "fold", "seed", "len",
})  # fmt: skip
_LABELS = frozenset(_WORDS["gold", "exclude"].split()) - {"grade"}
# columns with these names are not measures, even if they contain fractions
_NO_SCORES = frozenset({"rank", "length", "len", "year"})


def warn_of_identifiers(
    columns: Mapping[Hashable, pd.Series],
    *,
    taken_as: str,
    groups: Mapping[str, IntArray] | None = None,
    truth: FloatArray | None = None,
) -> None:
    """Warn about columns that look like identifiers.

    Parameters
    ----------
    columns : mapping
        Columns by name. These columns are used as systems or measures, but the user did not name
        them.
    taken_as : str
        "systems" or "measures".
    groups : mapping, optional
        The group number of each row, by role (by, groups).
    truth : array, optional
        The gold label of rankings. Columns computed from the gold label, and annotators' votes, are
        not measures.

    Notes
    -----
    Checking a column of whole numbers requires one hash table, plus one pass over the rows for each
    role. For other columns, only the first rows are read.
    """
    reasons = {
        name: reason
        for name, values in columns.items()
        if (reason := reason_of(name, values, groups or {}, truth)) is not None
    }
    if not reasons:
        return
    names = list(reasons)
    told = "; ".join(f"{name!r} ({reason})" for name, reason in list(reasons.items())[:6])
    more = f"; and {len(names) - 6} more" if len(names) > 6 else ""
    given = (
        repr(names[0]) if len(names) == 1 else f"{names[:6]!r}"[:-1] + (", ...]" if more else "]")
    )
    side = int(taken_as == "systems")
    known = [name for name, reason in reasons.items() if reason == _BY_NAME]
    own = {name: _ROLES.get(_words(name)[-1], _ROLES["index"])[side] for name in known}
    role, name = next(((r, n) for n, r in own.items() if r != "exclude"), ("", None))
    role = "key" if role == "label" and truth is None else role  # the role for documents is key
    as_role = f"{role}={name!r}" if role else "by=..., groups=..."
    votes = any(reason.startswith("votes") for reason in reasons.values())
    warn(
        f"columns used as {taken_as} look like identifiers or labels: {told}{more}. Pass"
        f" exclude={given} or their role, for example"
        f" {as_role}{' (votes: gold=[...])' if votes else ''}. If they are {taken_as}, list all"
        f" {taken_as}: measures=[...]."
    )


def reason_of(
    name: Hashable,
    values: pd.Series,
    groups: Mapping[str, IntArray] | None = None,
    truth: FloatArray | None = None,
) -> str | None:
    """Return why a column looks like an identifier or a label, or None.

    A column of whole numbers is suspicious in four cases: the name suggests an identifier, all
    values are distinct (in 10 or more rows), values count up in blocks, or values other than 0 and
    1 are constant within groups. Booleans are suspicious if the name suggests a label. Fractions
    are suspicious if the name suggests a rank or a length.
    """
    if truth is not None and is_score(values.dtype) and values.dtype.kind in "iuf":
        copied = gold_reason(values.to_numpy(dtype=np.float64, na_value=np.nan), truth)
        if copied is not None:
            return copied
    words = set(_words(name)) if named_so(name) else set()
    if pd.api.types.is_bool_dtype(values.dtype):
        return _BY_NAME if words and words <= _LABELS else None
    numbers = _whole(values)
    if numbers is None:
        return _BY_NAME if words & _NO_SCORES and is_score(values.dtype) else None
    if truth is not None and (votes := vote_reason(name, numbers)) is not None:
        return votes
    if words:
        return _BY_NAME
    if _counts_up(numbers):
        return "whole numbers that count up from row to row"
    if _all_distinct(numbers):
        return "whole numbers that are all distinct"
    for role, number in (groups or {}).items():
        if _constant_within(numbers, number):
            return f"one value in each group of {role}"
    return None


_BY_NAME = "by its name"


def _whole(values: pd.Series) -> FloatArray | None:
    """Return whole numbers as float64 with NaN, or None for other columns."""
    api = pd.api.types
    if values.dtype == object:
        values = values.infer_objects()
    if not api.is_numeric_dtype(values.dtype) or api.is_complex_dtype(values.dtype):
        return None
    if api.is_bool_dtype(values.dtype) or values.empty:
        return None
    first = values.iloc[:1000].to_numpy(dtype=np.float64, na_value=np.nan)
    if not _are_whole(first):
        return None
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers if _are_whole(numbers) else None


def _are_whole(numbers: FloatArray) -> bool:
    known = numbers[~np.isnan(numbers)]
    return bool((np.isfinite(known) & (known == np.rint(known))).all()) and known.size > 0


def named_so(name: Hashable) -> bool:
    """Return whether the name suggests an identifier or a label, not a score."""
    words = _words(name)
    if not words:
        return False
    # "Unnamed: 0" is an identifier, but "run 3" can be a system
    if any(character.isdigit() for character in str(name)):
        return words in (["unnamed"], ["level"])
    return words[-1] in _LAST or all(word in _ROLES for word in words)


def _words(name: Hashable) -> list[str]:
    """Split a name into lowercase words."""
    if not isinstance(name, str):
        return []
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)  # splits names such as docId
    return re.findall(r"[a-z]+", apart.lower())


def refuse_text(
    frame: pd.DataFrame, roles: Roles, taken: Iterable[Hashable], taken_as: str
) -> None:
    """Raise a ValueError if a column without a role contains scores as text.

    Text counts as scores if it parses as numbers and some of the numbers have a fractional part.
    For systems, the strings 0 and 1, or true and false, also count as scores. Other whole numbers,
    and columns named like identifiers, do not count as scores.
    """
    out = {*taken, *excluded_names(roles, frame.columns), *CONTINGENCY}
    for name in (x for x in frame.columns.drop_duplicates(keep=False) if x not in out):
        values = frame[name]
        if not (values.dtype == object or is_string_dtype(values.dtype)) or named_so(name):
            continue
        text = values.head(1000).dropna().astype(str)
        numbers = pd.to_numeric(text, errors="coerce").to_numpy(dtype=float)
        known = numbers[np.isfinite(numbers)]
        two = taken_as == "systems" and set(text.str.lower()) in ({"0", "1"}, {"false", "true"})
        if two or (2 * known.size >= max(text.size, 1) and (known != np.rint(known)).any()):
            raise ValueError(
                f"the column {name!r} contains scores as text:"
                f" {listed(dict.fromkeys(text), most=3)}. Convert the column to numbers,"
                f" data.assign({name}=pd.to_numeric(data[{name!r}], errors='coerce')), or exclude"
                f" it: exclude={name!r}."
            )


def _counts_up(numbers: FloatArray) -> bool:
    """Return whether each row repeats the previous number or adds 1."""
    with np.errstate(over="ignore"):  # a step that overflows is not a step of 1
        steps = np.diff(numbers)
    return bool(((steps == 0.0) | (steps == 1.0)).all()) and int(steps.sum()) + 1 >= _LEAST


def _all_distinct(numbers: FloatArray) -> bool:
    known = numbers[~np.isnan(numbers)]
    with np.errstate(over="ignore"):
        if known.size < _LEAST or known.max() - known.min() + 1.0 < known.size:
            return False
    return bool(pd.unique(known).size == known.size)


def _constant_within(numbers: FloatArray, number: IntArray) -> bool:
    """Return whether the column differs between groups but not within groups."""
    if numbers.size < _LEAST or set(pd.unique(numbers)) <= {0.0, 1.0}:
        return False
    _, first, where, size = np.unique(
        number, return_index=True, return_inverse=True, return_counts=True
    )
    within = numbers[first][where]
    same = (numbers == within) | (np.isnan(numbers) & np.isnan(within))
    several = int((size > 1).sum())
    return bool(same.all()) and several > 1 and pd.unique(numbers[first]).size > 1


# -------------------------------------------------------------------------------------------------
# Warnings about repeated candidates, and about data with only one class.


def cluster_codes(values: pd.Series, name: Hashable) -> IntArray:
    """Return each candidate's group number, independent of the row order."""
    check_types(values, "groups", name)
    try:
        number, labels = pd.factorize(values)
    except TypeError as error:
        raise TypeError(
            f"groups={name!r} has labels that cannot be distinguished, such as {values.iloc[0]!r}."
            f" Pass a column of text or numbers, for example data[{name!r}].astype(str)."
        ) from error
    check_clusters(int((number < 0).sum()), name)
    place = np.empty(len(labels), dtype=np.int64)
    place[np.argsort(label_hashes(pd.Index(labels, tupleize_cols=False)))] = np.arange(len(labels))
    return np.asarray(place[number])


def check_clusters(missing: int, name: Hashable) -> None:
    """Raise a ValueError if a candidate has no group."""
    if missing:
        raise ValueError(
            f"groups={name!r} has {missing} missing values, but every candidate needs a group. Fill"
            " in the values; a group may contain a single candidate."
        )


def warn_of_repeated(
    labels: pd.Index | Sequence[pd.Index],
    again: BoolArray,
    *,
    by: Sequence[Hashable],
    label: Sequence[Hashable],
) -> None:
    """Warn that repeated candidates are not independent."""
    if not again.any():
        return
    levels = [labels] if isinstance(labels, pd.Index) else list(labels)
    several = [level[again][:3].tolist() for level in levels]
    named = several[0] if len(several) == 1 else list(zip(*several, strict=True))
    shown = {repr(x): x for x in named}.values()  # unhashable labels are compared by repr
    where = "label=" + (repr(label[0]) if len(label) == 1 else repr(list(label)))
    what = where if label else "the index"
    within = f" within one group of by={list(by)!r}" if by else ""
    warn(
        f"{int(again.sum()):,} of {again.size:,} rows repeat the label of an earlier row{within}"
        f" ({what}: {listed(shown)}). If candidates repeat, tests are invalid: pass a cluster"
        " column, groups=..., or a sample column, by=... Otherwise pass a unique label, label=...,"
        " or call data.reset_index()."
    )


def warn_of_one_class(truth: FloatArray, name: Hashable) -> None:
    """Warn if all candidates are true positives, or all are false positives."""
    known = truth[~np.isnan(truth)]
    warn_of_counts(int((known == 1.0).sum()), known.size, name)


def warn_of_counts(positive: int, total: int, name: Hashable) -> None:
    """Warn if the counts contain only one class."""
    if total > 1 and positive in (0, total):
        which = "every candidate is a" if positive else "no"
        warn(
            f"gold={name!r}: {which} true positive ({total:,} candidates), so every ranking is"
            " equally good. Check that the column is correct and the data are complete."
        )


def maybe_gold(data: object, keywords: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a hint if a single two-valued column could be the gold label."""
    found = None if any(keywords.values()) else likely_gold(data)
    if found is None:
        return []
    return [("a gold label?", f"{found[0]!r} has two values: rankeval({found[1]})")]
