"""How good is each measure for each query? Search metrics that equal trec_eval's."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice, check_count, listed, warn
from rankeval_pd.forms.items.metric_columns import COLUMNS
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.queries.documents import (
    QueryOptions,
    QueryRows,
    admitted_scores,
    find_query_batches,
    read_dataset,
    read_frame,
    rows_of_arrays,
    with_query_roles,
)
from rankeval_pd.forms.rankings.candidates import Data, check_data
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.forms.roles.roles import QueryRoles
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.query_metrics import (
    QUERY_METRICS,
    MetricRequest,
    judgements,
    retrieve,
)
from rankeval_pd.stats.rankings.query_ties import EXPECTED_METRICS

# --------------------------------------------------------------------------- Metrics of each query

Undefined = Literal["zero", "skip", "raise"]


@Capabilities(
    rankings="And per query?",
    dask="it takes each query by itself. Compute some, ddf[ddf['query'].isin(...)].compute()",
    short={"": "measure metric value", "wide": ""},
)
@with_query_roles
def per_query(
    data: Data,
    metrics: str | Iterable[Any],
    *,
    undefined: Undefined = "zero",
    wide: bool = False,
    **roles: Unpack[QueryRoles],
) -> Data:
    """Return metrics of search for every query and measure.

    Parameters
    ----------
    data : DataFrame or Dataset
        A row per query and document, a column of scores per measure (run), and the grades: what
        :func:`read_trec` returns. A Dataset with a dimension of documents; its other dimensions
        are those of the queries.
    metrics : str or sequence of str
        As ir_measures names them: ``P@k``, ``R@k``, ``Success@k``, ``F1@k``; ``AP``, ``RR``,
        ``nDCG``, with @k or without; ``Rprec``, ``Bpref``, ``infAP``, ``RBP(p=0.8)``, ``ERR@k``,
        ``Judged@k``, ``AUC``. ``nDCG(dcg='exp-log2')@k`` has the gains 2^grade − 1 for grade,
        ``P(rel=2)@k`` another least grade than ``min_grade``, ``ERR(max_rel=3)@k`` another
        highest grade than 4.
    undefined : {"zero", "skip", "raise"}
        What a metric is that a query does not define, recall without positives: 0 as trec_eval has
        it (AUC, which it does not have, stays NaN); left out; an error.
    wide : bool
        Of a DataFrame: a row per query and a column per measure, with several metrics a header of
        two levels, metric and system. With "skip", queries that any metric leaves undefined are
        left out. This is the form that :func:`paired_bootstrap`, :func:`paired_permutation` and
        :func:`system_ranks` take; of several metrics ``table["AP"]``.
    **roles
        Which column is what. What :func:`read_trec` returns needs none.

    Returns
    -------
    DataFrame or Dataset
        One row per query, measure and metric, the queries sorted: the columns of the query,
        ``measure``, ``metric`` (as asked for), ``value``; ``n_positive``: documents with at least
        ``min_grade`` (or rel); ``n_retrieved``: documents that the measure retrieved;
        ``n_judged``: documents of the query with a grade. A Dataset: a variable per metric over
        the queries and ``measure``, NaN for a query without judgements, and the three counts.

    Raises
    ------
    ValueError
        If a document stands twice for a query, a grade is no number, ``ties="expected"`` has no
        closed form for a metric.

    Warns
    -----
    RankevalWarning
        If queries without any judgement are left out.

    Notes
    -----
    With the defaults the values equal trec_eval's to the last bit: scores are compared as float32,
    equal ones stand in the descending order of the documents' names, unjudged documents count as
    negatives, judged queries that a run lacks are 0. A grade below 0 means, for Bpref, infAP and
    unjudged="skip", that the document was in the pool and nobody judged it; elsewhere it is no
    positive. Judged@k divides by k, or the length of a shorter list, as ir_measures does; AUC is
    taken over what the measure retrieved, ties a half. ``ties="expected"`` gives the mean over all
    orders of equal scores, of all metrics but Bpref, infAP and ERR.

    Cost: sorting each measure once, O(rows log rows), whatever the number of queries; each metric
    adds time in proportion to the judged documents retrieved.

    References
    ----------
    C. Buckley, E. Voorhees, trec_eval. S. MacAvaney, C. Macdonald, I. Ounis (2022), Streamlining
    evaluation with ir-measures. F. McSherry, M. Najork (2008), Computing information retrieval
    performance measures efficiently in the presence of tied scores. O. Chapelle et al. (2009),
    Expected reciprocal rank for graded relevance. A. Moffat, J. Zobel (2008), Rank-biased
    precision. E. Yilmaz, J. Aslam (2006), Estimating average precision with incomplete judgments.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {
    ...         "query": ["1", "1", "1", "2", "2"],
    ...         "document": ["a", "b", "c", "a", "b"],
    ...         "bm25": [3.0, 2.0, 1.0, 1.0, 2.0],
    ...         "grade": [0, 1, 1, 1, 0],
    ...     }
    ... )
    >>> df.rankeval.per_query(["P@2", "AP"])
      query measure metric     value
    0     1    bm25    P@2  0.500000
    1     1    bm25     AP  0.583333
    2     2    bm25    P@2  0.500000
    3     2    bm25     AP  0.500000
    """
    chosen = QueryOptions.of(roles)
    check_choice("undefined", undefined, ("zero", "skip", "raise"))
    asked = parse_metrics(metrics, chosen.min_grade)
    if chosen.ties == "expected":
        _check_closed_forms(asked)
    check_data(data)
    if isinstance(data, xr.Dataset):
        if wide:
            raise ValueError(
                "wide=True is the form of a DataFrame. Leave it out; of the result,"
                " found.rename({'query': 'item', 'measure': 'system'})[['AP']] is what the paired"
                " tests take."
            )
        return _of_dataset(data, chosen, asked, undefined)
    table = read_frame(data, chosen)
    taken = (*COLUMNS, "system") if wide else COLUMNS
    tables.check_names("by=", table.keys.columns, taken)
    values = evaluate(table.rows, table.scores(), len(table.measures), asked, chosen)
    keys = table.keys
    known = values.n_judged > 0
    if not known.all():
        _warn_unjudged(keys[~known], int((~known).sum()))
        keys, values = keys[known], values.only(known)
    value = resolve_undefined(values.value, asked, undefined, keys)
    if wide:
        return _wide(keys, value, table.measures, asked, undefined)
    return _long(keys, values, value, table.measures, asked, undefined)


def _check_closed_forms(asked: Sequence[NamedMetric]) -> None:
    lacking = [one.label for one in asked if one.request.metric not in EXPECTED_METRICS]
    if lacking:
        raise ValueError(
            f"ties='expected' has no closed form for {listed(lacking)}; it has one for"
            f" {listed(EXPECTED_METRICS, most=20)}. Leave these out, or give ties='trec'"
            " or 'shared'."
        )


def _warn_unjudged(keys: pd.DataFrame, count: int) -> None:
    names = [k if len(keys.columns) > 1 else k[0] for k in keys.head(3).itertuples(index=False)]
    shown = listed(names) + (", ..." if count > 3 else "")
    warn(
        f"{count} queries have no judgement and are left out: {shown}. Judge them, or drop their"
        " rows, data.dropna(subset=...)."
    )


class QueryValues(NamedTuple):
    """Metrics of all queries; undefined ones are NaN."""

    value: FloatArray  #: (query, measure, metric)
    n_positive: IntArray  #: (query, metric)
    n_retrieved: IntArray  #: (query, measure)
    n_judged: IntArray  #: (query)

    def only(self, queries: AnyArray) -> QueryValues:
        """Return those of some queries."""
        return QueryValues(
            self.value[queries], self.n_positive[queries], self.n_retrieved[queries],
            self.n_judged[queries],
        )  # fmt: skip


def evaluate(
    rows: QueryRows,
    scores: Iterable[FloatArray],
    n_measures: int,
    asked: Sequence[NamedMetric],
    roles: QueryOptions,
) -> QueryValues:
    """Return every metric of every query and measure; each measure is ranked once."""
    judged = judgements(rows.query, rows.grade, rows.n_queries)
    top = judged.grade.max(initial=0.0)
    for one in asked:
        if one.request.metric == "ERR" and top > one.request.top:
            raise ValueError(
                f"metrics: {one.label!r} takes grades up to {one.request.top}, and there is"
                f" {top:g}. Say the highest grade there can be: 'ERR(max_rel={top:g})'."
            )
    kernels = EXPECTED_METRICS if roles.ties == "expected" else QUERY_METRICS
    value = np.empty((rows.n_queries, n_measures, len(asked)))
    size = np.empty((rows.n_queries, n_measures), dtype=np.int64)
    # only means over tied orders, and AUC, need the blocks of equal scores
    blocks = roles.ties == "expected" or any(one.request.metric == "AUC" for one in asked)
    for place, score in enumerate(scores):
        retrieved = retrieve(
            rows.query, rows.grade, score, rows.n_queries, rows.tie_ranks,
            single=roles.ties == "trec", blocks=blocks,
        )  # fmt: skip
        size[:, place] = retrieved.size
        for number, one in enumerate(asked):
            value[:, place, number] = kernels[one.request.metric](one.request, judged, retrieved)
    positive = [judged.tally(judged.grade >= one.request.least) for one in asked]
    every = np.ones(judged.query.shape, dtype=bool)
    return QueryValues(value, np.stack(positive, axis=1), size, judged.tally(every))


def resolve_undefined(
    value: FloatArray, asked: Sequence[NamedMetric], undefined: str, keys: pd.DataFrame | None
) -> FloatArray:
    """Return the values (query, measure, metric), undefined ones set to 0, left NaN, or refused."""
    missing = np.isnan(value)
    if undefined == "raise" and missing.any():
        number = int(missing.any(axis=(0, 1)).argmax())
        where = np.flatnonzero(missing[:, :, number].any(axis=1))
        shown = ""
        if keys is not None:
            names = [x[0] if len(x) == 1 else x for x in keys.iloc[where[:3]].to_numpy().tolist()]
            shown = f": {listed(names)}{', ...' if where.size > 3 else ''}"
        raise ValueError(
            f"undefined='raise': {asked[number].label!r} is undefined for {where.size} of"
            f" {value.shape[0]} queries{shown}. They have no positive, or for AUC nothing beside"
            " positives. Give undefined='zero', as trec_eval has it, or 'skip'."
        )
    if undefined == "zero":
        zero = np.array([one.request.metric != "AUC" for one in asked])
        return np.where(missing & zero, 0.0, value)
    return value


def _long(
    keys: pd.DataFrame,
    values: QueryValues,
    value: FloatArray,
    measures: list[Hashable],
    asked: Sequence[NamedMetric],
    undefined: str,
) -> pd.DataFrame:
    """Return a row per query, measure and metric; with "skip" without undefined values."""
    shape = value.shape
    rows = np.flatnonzero(~np.isnan(value).ravel()) if undefined == "skip" else slice(None)
    query, measure, metric = (x.ravel()[rows] for x in np.indices(shape, sparse=False))
    labels = pd.Series([one.label for one in asked])
    columns = {
        "measure": pd.Series(pd.Index(measures, tupleize_cols=False)).array.take(measure),
        "metric": labels.array.take(metric),
        "value": value.ravel()[rows],
        "n_positive": values.n_positive[query, metric],
        "n_retrieved": values.n_retrieved[query, measure],
        "n_judged": values.n_judged[query],
    }
    groups = keys.iloc[query].reset_index(drop=True)
    return pd.concat([groups, pd.DataFrame(columns)], axis=1)


def _wide(
    keys: pd.DataFrame,
    value: FloatArray,
    measures: list[Hashable],
    asked: Sequence[NamedMetric],
    undefined: str,
) -> pd.DataFrame:
    """Return a row per query, and a column per measure, or per metric and measure."""
    if undefined == "skip":
        whole = np.asarray(~np.isnan(value).any(axis=(1, 2)))
        if not whole.all():
            warn(
                f"undefined='skip': {int((~whole).sum())} of {whole.size} queries are left out,"
                " for which a metric is undefined. undefined='zero' keeps them, as trec_eval does."
            )
        keys, value = keys.loc[whole], value[whole]
    by = list(keys.columns)
    index = keys.set_index(by).index
    names = pd.Index(measures, tupleize_cols=False, name="system")
    header: Any = names
    if len(asked) > 1:
        labels = [one.label for one in asked]
        header = pd.MultiIndex.from_product([labels, names], names=["metric", "system"])
    # (query, measure, metric) -> (query, column), metric by metric
    flat = np.moveaxis(value, 2, 1).reshape(len(keys), -1)
    return pd.DataFrame(flat, index=index, columns=header)


def _of_dataset(
    data: xr.Dataset, roles: QueryOptions, asked: Sequence[NamedMetric], undefined: str
) -> xr.Dataset:
    """Return the metrics; those of a lazy Dataset are computed chunk by chunk."""
    batches = find_query_batches(data, roles)
    if batches is None:
        return _of_memory(data, roles, asked, undefined)
    template = _of_memory(batches.stand_in, roles, asked, undefined)
    batch = [d for d in template.dims if d not in ("measure", "metric")]

    def ask(part: tuple[xr.Dataset, QueryOptions]) -> xr.Dataset:
        return _of_memory(*part, asked, undefined)

    return batches.filled(template, batch, ask)


def _of_memory(
    data: xr.Dataset, roles: QueryOptions, asked: Sequence[NamedMetric], undefined: str
) -> xr.Dataset:
    form = read_dataset(data, roles)
    labels = [one.label for one in asked]
    counts = ("n_positive", "n_retrieved", "n_judged")
    tables.check_names("the dimension ", form.batch, (*labels, *counts, "metric"))
    core = ["candidate"]
    outputs = [["measure", "metric"], ["metric"], ["measure"], []]

    def ask(grade: FloatArray, score: FloatArray, document: AnyArray) -> tuple[AnyArray, ...]:
        # flatten the batch to queries: grades and documents (query, candidate), scores (query,
        # measure, candidate); rows_of_arrays then drops padding
        batch = np.broadcast_shapes(grade.shape[:-1], score.shape[:-2], document.shape[:-1])
        size = (int(np.prod(batch)), grade.shape[-1])
        flat = np.broadcast_to(grade, (*batch, size[1])).reshape(size)
        scores = np.broadcast_to(score, (*batch, *score.shape[-2:]))
        scores = scores.reshape(size[0], -1, size[1])
        documents = np.broadcast_to(document, (*batch, size[1])).reshape(size)
        scored = np.asarray(~np.isnan(scores).all(axis=1))
        rows, kept = rows_of_arrays(flat, documents, scored, roles, named=form.named)
        lists = (
            admitted_scores(scores[:, k].ravel()[kept], rows.grade, roles, name)
            for k, name in enumerate(form.measures)
        )
        by_name = evaluate(rows, lists, len(form.measures), asked, roles)
        value = resolve_undefined(by_name.value, asked, undefined, None)
        value[by_name.n_judged == 0] = np.nan
        return tuple(x.reshape(*batch, *x.shape[1:]) for x in (value, *by_name[1:]))

    value, positive, retrieved, judged = xr.apply_ufunc(
        ask, form.grade, form.score, form.document,
        input_core_dims=[core, ["measure", *core], core],
        output_core_dims=outputs,
        dask="parallelized",
        dask_gufunc_kwargs={"output_sizes": {"metric": len(asked)}},
        output_dtypes=[float, np.int64, np.int64, np.int64],
    )  # fmt: skip
    by_name = {one: value.isel(metric=k, drop=True) for k, one in enumerate(labels)}
    if len({one.request.least for one in asked}) == 1:
        positive = positive.isel(metric=0, drop=True)
    result = xr.Dataset(
        {**by_name, **dict(zip(counts, (positive, retrieved, judged), strict=True))}
    )
    result = result.assign_coords(measure=("measure", tables.labels(form.measures)))
    if "metric" in result.dims:
        result = result.assign_coords(metric=labels)
    return result.transpose(*form.batch, ...)


# -------------------------------------------------------------------------------- Names of metrics
#
# They are written as in ir_measures: ``nDCG@10``, ``P(rel=2)@5``, ``RBP(p=0.9)``.

_METRIC_ALIASES = {
    "MAP": "AP", "MRR": "RR", "NDCG": "nDCG", "Precision": "P", "Recall": "R", "BPref": "Bpref",
    "RPrec": "Rprec", "InfAP": "infAP",
}  # fmt: skip
_WITH_CUTOFF = ("P", "R", "Success", "F1")
_NO_CUTOFF = ("Rprec", "Bpref", "infAP", "AUC")
# metrics with positives and negatives, whose least grade the option "rel" sets
_BINARY = tuple(name for name in QUERY_METRICS if name not in ("nDCG", "ERR", "Judged"))
_METRIC_PATTERN = re.compile(r"(\w+?)(?:\((.*)\))?(?:@(\d+))?")  # name, (options), @cutoff


class NamedMetric(NamedTuple):
    """A metric with the name that the caller used."""

    label: str
    request: MetricRequest


def parse_metrics(given: Any, min_grade: float) -> list[NamedMetric]:
    """Return the metrics of the given names, in their order, each once."""
    several = [given] if isinstance(given, str) or not isinstance(given, Iterable) else [*given]
    if not several:
        raise ValueError("metrics is empty: name a metric, as 'nDCG@10', or several.")
    names = dict.fromkeys(str(x) for x in several)
    return [NamedMetric(name, _parse_metric(name, min_grade)) for name in names]


def _parse_metric(text: str, min_grade: float) -> MetricRequest:
    result = _METRIC_PATTERN.fullmatch(text.strip())
    name = result[1] if result else text
    name = _METRIC_ALIASES.get(name, name)
    if result is None or name not in QUERY_METRICS:
        hint = _near_miss(name, result[3] if result else None)
        raise ValueError(
            f"metrics: {text!r} is not one of {listed(QUERY_METRICS, most=20)}, with @k where it"
            f" is cut at k, as 'nDCG@10'.{hint}"
        )
    cutoff = None if result[3] is None else check_count(f"metrics: k of {text!r}", int(result[3]))
    if cutoff is None and name in _WITH_CUTOFF:
        raise ValueError(f"metrics: {text!r} needs the length of the list, as '{name}@10'.")
    if cutoff is not None and name in _NO_CUTOFF:
        raise ValueError(f"metrics: {text!r}: {name} takes no @k. Give {name!r}.")
    return _with_options(MetricRequest(name, cutoff, float(min_grade)), result[2] or "", text)


def _near_miss(name: str, cutoff: str | None) -> str:
    """Return a hint with the nearest name, and with the given cut-off if it takes one."""
    plain = {"hits": "Success"} | {known.lower(): known for known in QUERY_METRICS}
    plain |= {also.lower(): known for also, known in _METRIC_ALIASES.items()}
    near = difflib.get_close_matches(name.lower(), plain, n=1, cutoff=0.3)
    if not near:
        return ""
    meant = plain[near[0]]
    at = "" if cutoff is None or meant in _NO_CUTOFF else f"@{cutoff}"
    return f" Did you mean '{meant}{at}'?"


def _with_options(request: MetricRequest, options: str, text: str) -> MetricRequest:
    """Return the request with the options in parentheses."""
    name = request.metric
    allowed = {
        **({"rel": "the least grade of a positive"} if name in _BINARY else {}),
        **({"dcg": "'log2' or 'exp-log2'"} if name == "nDCG" else {}),
        **({"p": "a number in (0, 1)"} if name == "RBP" else {}),
        **({"max_rel": "the highest grade"} if name == "ERR" else {}),
    }
    for part in filter(None, (x.strip() for x in options.split(","))):
        option, _, value = (x.strip().strip("'\"") for x in part.partition("="))
        if option not in allowed:
            judged = (
                " For judged documents only give unjudged='skip'." if "judged" in option else ""
            )
            raise ValueError(
                f"metrics: {text!r}: {name} has no option {option!r}; it has {listed(allowed)}."
                f" Leave it out.{judged}"
            )
        try:
            request = _with_option(request, option, value)
        except ValueError:
            raise ValueError(
                f"metrics: {text!r}: {option}={value!r}, and it is {allowed[option]}. Correct it."
            ) from None
    return request


def _with_option(request: MetricRequest, option: str, value: str) -> MetricRequest:
    """Return the request with one option; a ValueError for a value that is not allowed."""
    if option == "dcg":
        if value not in ("log2", "exp-log2"):
            raise ValueError
        return request._replace(exponential=value == "exp-log2")
    if option == "max_rel":
        top = int(value)
        if not 1 <= top <= 1000:
            raise ValueError
        return request._replace(top=top)
    number = float(value)
    if not (0.0 < number < (1.0 if option == "p" else float("inf"))):
        raise ValueError
    if option == "p":
        return request._replace(persistence=number)
    return request._replace(least=number)
