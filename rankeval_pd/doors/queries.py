"""Read documents for queries, with grades and retrieval scores.

A frame has one row per query and document. The kernels in
:mod:`rankeval_pd.stats.queries` take flat arrays with one value per row.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import get_args

import numpy as np
import pandas as pd

from rankeval_pd.doors.columns import (
    check_guessed,
    dense,
    group_numbers,
    groups_with_several,
    score_values,
    unboxed,
    with_levels,
)
from rankeval_pd.errors import (
    check_choice,
    check_known,
    check_number,
    is_known,
    listed,
    unknown_keyword,
    warn,
)
from rankeval_pd.options import with_roles_and
from rankeval_pd.roles import (
    USUAL,
    Names,
    QueryMissing,
    QueryTies,
    Roles,
    Unjudged,
    as_names,
    find_gold,
    find_measures,
    frame_column,
    refuse_dim,
    signs_of,
)
from rankeval_pd.stats import FloatArray, IntArray, ranking
from rankeval_pd.stats.queries import TieRanks
from rankeval_pd.tables import Keywords, Options

_ROLE_DOCS = {
    "gold": "The grades, which are whole numbers or booleans. The default is a column named grade"
    " or gold, or the only boolean column. A document without a grade is unjudged.",
    "measures": "The score columns, with one column per run. The default is every numeric column"
    " without another role.",
    "by": "The query column or index level, or several that name a query together, such as"
    " collection and query. The default is query.",
    "key": "The column or index level that names the document and breaks ties. The default is"
    " document, or the index label.",
    "ties": "How equal scores are ordered: trec (scores as float32, then descending document"
    " names) or expected (the mean over all orders).",
    "missing": "How missing scores are treated: absent (not retrieved).",
    "min_grade": "The lowest grade of a positive document.",
    "unjudged": "How retrieved documents without a grade are treated: negative or skip (as if not"
    " retrieved).",
}

with_query_roles = with_roles_and(
    {"ties": "trec", "missing": "absent", "min_grade": 1, "unjudged": "negative"}, _ROLE_DOCS
)
"""Decorator that adds the roles for queries, with trec_eval's defaults."""


@dataclass(frozen=True)
class QueryOptions:
    """Store the roles for queries, with defaults filled in."""

    gold: Hashable | None = None
    measures: Names = None
    exclude: Names = None
    by: Names = None
    key: Hashable | None = None
    lower_is_better: Names = ()
    ties: str = "trec"
    missing: str = "absent"
    rng: int | np.random.Generator | None = 0
    dim: Hashable = "candidate"
    min_grade: float = 1
    unjudged: str = "negative"
    graded: bool = False  #: whether the user passed min_grade
    settled: bool = False  #: whether the user passed unjudged

    @classmethod
    def of(cls, keywords: Keywords) -> QueryOptions:
        """Check the roles without data, and fill in defaults."""
        known = [field.name for field in fields(cls) if field.name not in ("graded", "settled")]
        for name in keywords.keys() - {*known}:
            hint = ""
            if name in ("groups", "strata", "seeds"):  # roles of items
                hint = (
                    f" To use {name}=, call per_query(metric, wide=True), add the column to the"
                    f" result, and call a paired test on the result with {name}=..."
                )
            raise unknown_keyword(name, known, hint)
        passed = "min_grade" in keywords, "unjudged" in keywords
        chosen = replace(cls(), **keywords, graded=passed[0], settled=passed[1])
        check_choice("ties", chosen.ties, get_args(QueryTies))
        check_choice("missing", chosen.missing, get_args(QueryMissing))
        check_choice("unjudged", chosen.unjudged, get_args(Unjudged))
        if check_number("min_grade", chosen.min_grade) <= 0.0:
            raise ValueError(
                f"min_grade={chosen.min_grade!r}: pass a finite number above 0. Grade 0 marks a"
                " negative document, and a grade below 0 an unjudged document."
            )
        _ = chosen.common.seed  # raises an error for an rng that is not a seed
        return chosen

    @property
    def noted(self) -> Options:
        """Return what the record says of metrics."""
        return {"ties": self.ties, "unjudged": self.unjudged}

    @property
    def common(self) -> Roles:
        """Return the roles that also apply to rankings."""
        shared = ("gold", "measures", "exclude", "by", "key", "lower_is_better", "rng", "dim")
        return Roles.of({name: getattr(self, name) for name in shared})


@dataclass(frozen=True, eq=False, kw_only=True)
class Queries:
    """Documents of queries, with grades and the scores of the measures."""

    keys: pd.DataFrame  #: one row per query, with the columns in ``by``
    measures: Sequence[Hashable]
    query: IntArray  #: (row): number of the query
    grade: FloatArray  #: (row): NaN for unjudged documents
    columns: Sequence[FloatArray]  #: for each measure, scores (row); NaN for missing scores
    sign: FloatArray  #: (measure): -1 if lower scores are better
    tie_ranks: TieRanks  #: takes rows with equal scores, and returns their order
    options: QueryOptions

    def scores(self) -> Iterator[FloatArray]:
        """Check and yield each measure's scores: (row), NaN for absent or skipped documents."""
        judged = self.grade >= 0.0
        relevant = (self.grade >= self.options.min_grade).any()
        for measure, values, sign in zip(self.measures, self.columns, self.sign, strict=True):
            score = sign * values
            retrieved = ~np.isnan(values)
            if relevant and retrieved.any() and not (retrieved & judged).any():
                warn(
                    f"measures: {measure!r} retrieved {int(retrieved.sum()):,} documents, and none"
                    " of them is judged. Check that the run and the judgments use the same names."
                )
            if self.options.unjudged == "skip":
                score = np.where(judged, score, np.nan)
            yield score


def read_queries(frame: pd.DataFrame, options: QueryOptions) -> Queries:
    """Convert a DataFrame with one row per query and document to arrays."""
    refuse_dim(options.dim, "candidate")
    roles = options.common
    defaults: Options = {"by": "query", "key": "document"}
    for role, name in defaults.items():
        if getattr(roles, role) is None and (name in frame.columns or name in frame.index.names):
            roles = replace(roles, **{role: name})
    there = {role: [x for x in USUAL[kind] if x in frame] for role, kind in defaults.items()}
    if roles.by is None and (there["by"] or not frame.index.is_unique):
        told = ", ".join(f"{role}={found[0]!r}" for role, found in there.items() if found)
        raise ValueError(
            "by is missing, and there is no column or index level 'query' (columns:"
            f" {listed(frame.columns)}). Pass the query column, {told or 'by=...'}, or give the"
            " candidates of a single list unique labels."
        )
    frame = with_levels(frame, roles)
    by = as_names(roles.by, frame.columns)
    key = roles.key
    gold = roles.gold
    if gold is not None:
        check_known("gold", [gold], frame.columns)
    if gold is None and "grade" in frame.columns:
        gold = "grade"
    gold = find_gold(frame, replace(roles, gold=gold))
    taken = [gold, *by]
    if key is not None:
        taken.append(key)
    measures = find_measures(frame, roles, taken, needed=True)
    grade = grade_values(frame_column(frame, gold, "gold"), gold)
    keys, query = group_numbers(frame, by)
    if options.by is None:
        _refuse_merged(frame, query, [*taken, *as_names(roles.exclude, frame.columns)])
    signs = signs_of(measures, roles, frame.columns)
    columns = [frame_column(frame, name, "measures") for name in measures]
    if roles.measures is None:
        read = dict(zip(measures, columns, strict=True))
        named = [*taken, *as_names(roles.exclude, frame.columns)]
        check_guessed(frame, read, named, taken_as="measures", groups={"by": query})
    documents: pd.Series | pd.Index = frame.index
    if key is not None:
        documents = frame_column(frame, key, "key")
    tie_ranks = tie_breaker(documents, query, options, name=key)
    unjudged = int(np.isnan(grade).sum())
    if unjudged and not by and not options.settled:
        warn(
            f"gold={gold!r} is missing for {unjudged:,} of {grade.size:,} candidates, which count"
            " as not relevant. Pass unjudged='skip' to omit them, or unjudged='negative' if this is"
            " meant."
        )
    return Queries(
        keys=keys,
        measures=measures,
        query=query,
        grade=grade,
        columns=[score_values(x, name) for x, name in zip(columns, measures, strict=True)],
        sign=np.asarray(signs, dtype=float),
        tie_ranks=tie_ranks,
        options=options,
    )


#: usual names of the collection of a query
_COLLECTIONS = ("collection", "dataset", "corpus")


def _refuse_merged(frame: pd.DataFrame, query: IntArray, named: Sequence[Hashable]) -> None:
    """Raise a ValueError if queries of several collections would be merged by their ids."""
    known = [*frame.columns, *filter(None, frame.index.names)]
    for name in (*_COLLECTIONS, *frame.index.names):
        if not is_known(name, known) or is_known(name, named):
            continue
        if merged := groups_with_several(frame, name, query).size:
            raise ValueError(
                f"{name!r} has several values in each of {merged:,} queries, so queries of several"
                f" collections would be merged. Pass by=[{name!r}, {named[1]!r}], or if the queries"
                f" are the same, exclude={name!r}."
            )


def grade_values(values: pd.Series, name: Hashable) -> FloatArray:
    """Return grades as float64, with NaN for unjudged documents."""
    values = unboxed(values)
    api = pd.api.types
    if not (api.is_numeric_dtype(values.dtype) or api.is_bool_dtype(values.dtype)):
        labels = values.dropna().unique()[:5].tolist()
        raise ValueError(
            f"gold={name!r} contains {listed(labels)}, but grades must be numbers or booleans. Map"
            f" the grades to numbers: data.assign(grade=data[{name!r}].map({{...}}))."
        )
    grades = values.to_numpy(dtype=float, na_value=np.nan)
    if api.is_float_dtype(values.dtype):  # 0.7 as float32 reaches min_grade=0.7
        kinds, place = np.unique(grades, return_inverse=True)
        grades = kinds.astype(dense(values.dtype)).astype(str).astype(float)[place]
    if np.isinf(grades).any():
        raise ValueError(
            f"gold={name!r} has {int(np.isinf(grades).sum())} infinite grades. Correct these"
            " grades, or replace them with NaN if the documents were not judged."
        )
    return grades


# The order of equal scores


def tie_breaker(
    documents: pd.Series | pd.Index, query: IntArray, roles: QueryOptions, *, name: Hashable
) -> TieRanks:
    """Return a function that orders rows with equal scores."""
    if roles.ties == "expected":
        return np.asarray  # any order
    if isinstance(documents, pd.MultiIndex):  # constant within a query
        constant = [level for level in documents.names if level in as_names(roles.by, ())]
        documents = documents.droplevel(constant[: documents.nlevels - 1]).to_flat_index()
    values = pd.Series(documents).reset_index(drop=True)
    if values.isna().any():
        raise ValueError(
            f"key={name!r} has {int(values.isna().sum())} missing values, but every row needs a"
            " document. Fill in these values, or drop the rows."
        )
    if name is not None:
        _refuse_repeated_documents(values, query, name)
    return partial(_document_ranks, values)


def _document_ranks(values: pd.Series, rows: IntArray) -> IntArray:
    """Return the order of rows by descending document names."""
    codes, unique = pd.factorize(values.iloc[rows])
    order = np.argsort(np.array([str(x) for x in unique], dtype=object), kind="stable")
    return -ranking.inverse(order)[codes]


_DOCUMENTS_AT_ONCE = 2**15  # number of documents in each hash table


def _refuse_repeated_documents(values: pd.Series, query: IntArray, name: Hashable) -> None:
    """Raise a ValueError if a query repeats a document; names with the same text are the same.

    Hash tables are small because each table contains a block of complete queries.
    """
    for rows in _whole_queries(query):
        codes, unique = pd.factorize(values.iloc[rows])
        if values.dtype == object:
            codes = pd.factorize(np.array([str(x) for x in unique], dtype=object))[0][codes]
        pair = query[rows] * (codes.max(initial=0) + 1) + codes
        repeated = pd.Index(pair).duplicated()
        if repeated.any():
            row = int(repeated.argmax())
            document = values.iloc[rows].iloc[row]
            times = np.count_nonzero(pair == pair[row])
            raise ValueError(
                f"key={name!r}: the document {document!r} occurs {times} times in a query. Pass"
                " all columns that name a query or a document, as by=['collection', 'query'] and"
                " key=..., or drop the repeated rows."
            )


def _whole_queries(query: IntArray) -> Iterator[slice]:
    """Yield blocks of complete queries, or all rows for unsorted queries."""
    changes = np.diff(query)
    if (changes < 0).any():
        yield slice(None)
        return
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    wanted = np.unique(np.searchsorted(starts, np.arange(0, query.size, _DOCUMENTS_AT_ONCE)))
    bounds = [*starts[wanted[wanted < starts.size]].tolist(), query.size]
    yield from map(slice, bounds[:-1], bounds[1:])
