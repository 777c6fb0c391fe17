"""Columns that look like identifiers, and candidates that are repeated or of one class."""

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
from rankeval_pd.forms.roles.copies import gold_reason, vote_reason
from rankeval_pd.forms.roles.roles import CONTINGENCY, Roles, excluded_names
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray

# ----------- Columns that were found, not named, and look like identifiers: said, with the way out

_LEAST = 10  # rows, below which whole numbers are all distinct by chance
#: words of names, by the role that a column of this name has: of rankings and runs, of systems
_WORDS = {
    ("by", "groups"): "query topic user session subject participant batch block page passage line"
    " qid uid sid segment seg sentence sent prompt judge rater annotator",
    ("label", "groups"): "doc document docno docid pid segid item id ids idx index key guid no nr"
    " number row",
    ("gold", "exclude"): "label labels rel relevance relevant grade",
    ("by", "seeds"): "seed rep repeat repetition replicate trial run",
    ("by", "exclude"): "fold split",
    ("exclude", "exclude"): "rank length year date timestamp",
}
_ROLES = {word: roles for roles, words in _WORDS.items() for word in words.split()}
_LAST = frozenset({
    "id", "ids", "idx", "index", "uid", "sid", "docno", "nr", "number", "fold", "seed",
})  # fmt: skip
_LABELS = frozenset(_WORDS["gold", "exclude"].split()) - {"grade"}
_NO_SCORES = frozenset({"rank", "length", "year"})  # fractions too


def warn_of_identifiers(
    columns: Mapping[Hashable, pd.Series],
    *,
    taken_as: str,
    groups: Mapping[str, IntArray] | None = None,
    truth: FloatArray | None = None,
) -> None:
    """Give a RankevalWarning that names the columns that look like identifiers, if there are any.

    Parameters
    ----------
    columns : mapping
        The columns that were found to be systems or measures and that nobody named, by name.
    taken_as : str
        What they were found to be, in the plural: "systems" or "measures".
    groups : mapping, optional
        By the name of the role (by, groups) the number of each row's group.
    truth : array, optional
        The gold label of rankings: a measure is no function of it, and no vote of annotators.

    Notes
    -----
    Cost: of a column of whole numbers one hash table, and a pass over the rows for each role; of
    any other column a look at its first rows.
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
    role = "key" if role == "label" and truth is None else role  # of documents
    as_role = f"{role}={name!r}" if role else "by=..., groups=..."
    votes = any(reason.startswith("votes") for reason in reasons.values())
    warn(
        f"taken as {taken_as}, and they look like identifiers or labels: {told}{more}. Leave them"
        f" out by exclude={given}, or pass them their role, as {as_role}"
        f"{' or, of annotators, gold=[...]' if votes else ''}; if they are"
        f" meant, name all {taken_as}: measures=[...]."
    )


def reason_of(
    name: Hashable,
    values: pd.Series,
    groups: Mapping[str, IntArray] | None = None,
    truth: FloatArray | None = None,
) -> str | None:
    """Return why a column looks like an identifier, or a label, or None.

    Whole numbers do: by their name; by being all distinct (10 rows or more), or counting up in
    blocks; or, if they are not 0 and 1 only, by being the same within each group. By its name alone
    True and False may be a label, and fractions a rank or a length.
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
    """Return a column of whole numbers as float64, NaN where missing; None for any other."""
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
    """Return whether a column of this name is rather an identifier, or a label, than a score."""
    words = _words(name)
    if not words:
        return False
    if any(character.isdigit() for character in str(name)):  # "Unnamed: 0"; "run 3" may be a system
        return words in (["unnamed"], ["level"])
    return words[-1] in _LAST or all(word in _ROLES for word in words)


def _words(name: Hashable) -> list[str]:
    """Return the words of a name, in small letters."""
    if not isinstance(name, str):
        return []
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)  # docId
    return re.findall(r"[a-z]+", apart.lower())


def refuse_text(
    frame: pd.DataFrame, roles: Roles, taken: Iterable[Hashable], taken_as: str
) -> None:
    """Raise a ValueError where a column that is not taken, and has no role, holds scores as text.

    Text that reads as numbers, some with a fraction, is a score; so are 0 and 1, true and false of
    systems. Identifiers, by their names or as whole numbers, are not.
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
                f"the column {name!r} holds scores as text, {listed(dict.fromkeys(text), most=3)},"
                f" and {taken_as} are numbers. Convert it, as by"
                f" data.assign({name}=pd.to_numeric(data[{name!r}], errors='coerce')), or leave it"
                f" out: exclude={name!r}."
            )


def _counts_up(numbers: FloatArray) -> bool:
    """Return whether each row has the number of the row before it or the next one."""
    with np.errstate(over="ignore"):  # steps beyond all floats are no steps of 1
        steps = np.diff(numbers)
    return bool(((steps == 0.0) | (steps == 1.0)).all()) and int(steps.sum()) + 1 >= _LEAST


def _all_distinct(numbers: FloatArray) -> bool:
    known = numbers[~np.isnan(numbers)]
    with np.errstate(over="ignore"):
        if known.size < _LEAST or known.max() - known.min() + 1.0 < known.size:
            return False
    return bool(pd.unique(known).size == known.size)


def _constant_within(numbers: FloatArray, number: IntArray) -> bool:
    """Return whether the column tells groups apart and not the rows of any group."""
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
# What is odd about candidates and is said before they are counted: repeated, of one class.

LOOKED_AT = 10_000  # rows in which a column of two values is looked for


def cluster_codes(values: pd.Series, name: Hashable) -> IntArray:
    """Return the number of each candidate's group, whatever the order of the rows."""
    try:
        number, labels = pd.factorize(values)
    except TypeError as error:
        raise TypeError(
            f"groups={name!r} has labels that cannot be distinguished, such as"
            f" {values.iloc[0]!r}. Pass"
            f" a column of text or numbers, as data[{name!r}].astype(str)."
        ) from error
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
    named = several[0] if len(several) == 1 else list(zip(*several, strict=True))
    shown = {repr(x): x for x in named}.values()  # some have no hash
    where = "label=" + (repr(label[0]) if len(label) == 1 else repr(list(label)))
    what = where if label else "the index"
    within = f" within one group of by={list(by)!r}" if by else ""
    warn(
        f"{int(again.sum()):,} of {again.size:,} rows repeat the label of an earlier row{within}"
        f" ({what}: {listed(shown)}): are these the same candidates again? Then they"
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
