"""Compute search metrics per query with the same values as trec_eval."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.errors import check_choice, listed, warn
from rankeval_pd.forms.items.metric_columns import COLUMNS, OPEN
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.queries.documents import (
    Queries,
    QueryOptions,
    read_queries,
    with_query_roles,
)
from rankeval_pd.forms.rankings.candidates import Data, above_door, below_door, check_data
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.forms.roles.options import details_wanted
from rankeval_pd.forms.roles.roles import QueryRoles
from rankeval_pd.queries.metric_names import NamedMetric, check_grades, parse_metrics
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.query_metrics import (
    QUERY_METRICS,
    Retrieved,
    TieRanks,
    judged_share,
    judgments,
    retrieve,
)
from rankeval_pd.stats.rankings.query_ties import EXPECTED_METRICS

Undefined = Literal["zero", "skip", "raise"]


@Capabilities(
    rankings="Queries, 2x2 tables",
    dask=(
        "this method works query by query. Compute a subset of the queries:"
        " ddf[ddf['query'].isin(...)].compute()"
    ),
    short={"": "measure metric value", "wide": ""},
    layout="measure metric",
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
    """Return search metrics for every query and measure.

    Parameters
    ----------
    data : DataFrame or Dataset
        One row per query and document, with one score column per measure (run) and a grade column,
        like the result of :func:`read_trec`. A Dataset has a document dimension, and all other
        dimensions identify queries.
    metrics : str or sequence of str
        Names as in ir_measures: ``P@k``, ``R@k``, ``Success@k`` (or ``HitRate@k``), ``F1@k``;
        ``AP``, ``RR``, ``nDCG``, ``DCG``, optionally with @k; ``IPrec@recall``, ``Rprec``,
        ``Bpref``, ``infAP``, ``RBP(p=0.8)``, ``ERR@k``, ``Judged@k``, ``AUC``. Names from
        trec_eval are also allowed, such as ``map``, ``recip_rank``, ``ndcg_cut_10``, ``P_5``,
        ``mrr@10``, ``iprec_at_recall_0.10``. Options: ``nDCG(dcg='exp-log2')@k`` uses gains
        2^grade − 1, ``nDCG(gains={1: 1, 2: 5})@k`` sets gains
        (the gain of any other grade is the grade), ``P(rel=2)@k`` sets ``min_grade``,
        ``ERR(max_rel=3)@k`` sets the highest grade (default 4), and ``AP(norm='min')@k`` divides
        by min(k, positives) as in recommender systems.
    undefined : {"zero", "skip", "raise"}
        Treatment of undefined metrics, such as recall without positives. "zero" gives 0 as in
        trec_eval (NaN for AUC), "skip" omits the row, and "raise" raises an error.
    wide : bool
        For a DataFrame, return one row per query and one column per measure, or a two-level header
        (metric, system) for several metrics. "skip" then omits queries with any undefined metric.
        Pass this form to :func:`paired_bootstrap`, :func:`paired_permutation` or
        :func:`system_ranks`. Select one of several metrics with ``table[["AP"]]``.
    **roles
        Column roles. Data from :func:`read_trec` need no roles.

    Returns
    -------
    DataFrame or Dataset
        One row per query, measure and metric, sorted by query: the columns of the query,
        ``measure``, ``metric`` (as requested), ``value``; ``n_positive``: documents with a grade
        of at least ``min_grade`` (or rel); ``n_retrieved``: documents retrieved by the measure;
        ``n_judged``: documents with a grade. ``details=True`` adds ``tied``: documents below rank
        k with the same score as document k; ``value_low``, ``value_high``: the value for the worst
        and best tie-breaking order; ``judged``: proportion of judged documents up to k;
        ``undefined``: whether the metric is undefined. A Dataset contains one variable per metric,
        over the queries and ``measure`` (NaN for queries without judgments), and the three counts.

    Raises
    ------
    ValueError
        If a query repeats a document, a grade is not a number, or ``ties="expected"`` has no closed
        form for a metric.

    Warns
    -----
    RankevalWarning
        If queries without judgments are omitted, or if no document of a run is judged.

    Notes
    -----
    By default, values are identical to trec_eval's to the last bit. Scores are compared as
    float32, and equal scores are sorted by descending document name. Unjudged documents count as
    negatives, and judged queries missing from a run have the value 0. Grades below 0 count as
    negatives, except for Bpref, infAP and unjudged="skip", which treat them as unjudged documents
    in the pool. Judged@k divides by k, or by the length of a shorter list, as in ir_measures. AUC
    uses only retrieved documents, and ties count as 1/2. ``ties="expected"`` averages over all
    tie-breaking orders, for all metrics except Bpref, infAP and ERR.

    Sorting takes O(rows log rows) per measure. The time for each metric is proportional to the
    number of retrieved judged documents.

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
    named = metrics_asked(metrics, chosen)
    check_data(data)
    ranges = not wide and details_wanted()
    values = frame_values(below_door(data), chosen, named, wide=wide, ranges=ranges)
    value = resolve_undefined(values.numbers.metrics, named, undefined, values.keys)
    if wide:
        table = wide_form(values.keys, value, values.measures, named, undefined)
    else:
        table = _long(values.keys, values.numbers, value, values.measures, named, undefined)
    return above_door(table, data)


class FrameValues(NamedTuple):
    """Store the metrics for each query."""

    keys: pd.DataFrame  #: one row per query with a judgment
    numbers: QueryValues
    measures: list[Hashable]


def frame_values(
    data: pd.DataFrame,
    chosen: QueryOptions,
    named: Sequence[NamedMetric],
    *,
    wide: bool,
    ranges: bool,
) -> FrameValues:
    """Compute metrics for a DataFrame; optionally add ranges over tie-breaking orders."""
    queries = read_queries(data, chosen)
    _refuse_fractions(queries.grade, named, chosen)
    taken = [*COLUMNS, *OPEN]
    if wide:
        taken.append("system")
    keys = tables.keys_apart(queries.keys, taken)
    values = evaluate(queries, named, ranges=ranges)
    known = values.n_judged > 0
    if not known.all():
        _warn_unjudged(keys[~known], int((~known).sum()))
        keys, values = keys[known], values.only(known)
    return FrameValues(keys, values, list(queries.measures))


def _refuse_fractions(
    grade: FloatArray, named: Sequence[NamedMetric], chosen: QueryOptions
) -> None:
    """Raise a ValueError if all grades are fractions and would count as negatives."""
    between = grade[(grade > 0.0) & (grade < 1.0)]
    lost = [one.label for one in named if one.is_binary and one.request.least == 1.0]
    if between.size and lost and not chosen.graded:
        raise ValueError(
            f"gold has {between.size:,} grades between 0 and 1, such as {between[0]:g}, which "
            f"{lost[0]!r} would treat as not relevant. Pass min_grade={between.min():g} or higher, "
            "or a metric that uses grades as gains, such as nDCG@10."
        )


def metrics_asked(metrics: Any, chosen: QueryOptions) -> list[NamedMetric]:
    """Return the named metrics; reject metrics that do not support these roles."""
    named = parse_metrics(metrics, chosen.min_grade)
    if chosen.ties == "expected":
        _check_closed_forms(named)
    return named


def _check_closed_forms(named: Sequence[NamedMetric]) -> None:
    lacking = [one.label for one in named if one.request.metric not in EXPECTED_METRICS]
    if lacking:
        raise ValueError(
            f"ties='expected' has no closed form for {listed(lacking)}, only for"
            f" {listed(EXPECTED_METRICS, most=20)}. Omit the other metrics, or pass ties='trec' or"
            " 'shared'."
        )


def _warn_unjudged(keys: pd.DataFrame, count: int) -> None:
    names = [k if len(keys.columns) > 1 else k[0] for k in keys.head(3).itertuples(index=False)]
    shown = listed(names) + (", ..." if count > 3 else "")
    warn(
        f"{count} queries have no judgments and are left out: {shown}. Judge these queries, or "
        "drop their rows: data[~data['query'].isin([...])]."
    )


class QueryValues(NamedTuple):
    """Store the metrics of all queries; undefined metrics are NaN."""

    metrics: FloatArray  #: (query, measure, metric)
    n_positive: IntArray  #: (query, metric)
    n_retrieved: IntArray  #: (query, measure)
    n_judged: IntArray  #: (query)
    low: FloatArray  #: (query, measure, metric): value for the worst tie-breaking order
    high: FloatArray  #: (query, measure, metric): value for the best tie-breaking order
    tied: IntArray  #: (query, measure, metric): excluded documents with the last score
    judged: FloatArray  #: (query, measure, metric): proportion of judged documents up to the cutoff

    def only(self, queries: AnyArray) -> QueryValues:
        """Return the values for a selection of queries."""
        return QueryValues(**{name: x[queries] for name, x in self._asdict().items()})


def warn_of_reversed_runs(runs: Mapping[int, tuple[int, int]], names: Sequence[Hashable]) -> None:
    """Warn about runs whose scores decrease with relevance in many queries."""
    for place, (below, defined) in runs.items():
        # the two-sided binomial p-value is below 0.001 for a normal deviate above 3.3
        if defined >= 10 and 2 * below - defined > 3.3 * math.sqrt(defined):
            warn(
                f"measures: in {below} of {defined} queries, {names[place]!r} scores relevant"
                " documents lower than other documents on average. If lower scores are better, pass"
                f" lower_is_better={names[place]!r}."
            )


def evaluate(
    queries: Queries, named: Sequence[NamedMetric], *, ranges: bool = False
) -> QueryValues:
    """Compute all metrics for every query and measure.

    Each measure is ranked once. ``ranges`` adds the range over tie-breaking orders, which requires
    two more rankings.
    """
    roles = queries.options
    judged = judgments(queries.query, queries.grade, queries.n_queries)
    check_grades(named, judged)
    kernels = QUERY_METRICS
    if roles.ties == "expected":
        kernels = EXPECTED_METRICS
    shape = queries.n_queries, len(queries.measures), len(named)
    value, size = np.empty(shape), np.empty(shape[:2], dtype=np.int64)
    low, high, share = (np.full(shape, np.nan) for _ in range(3))
    tied, reversed_in = np.zeros(shape, dtype=np.int64), {}
    grade = np.nan_to_num(np.maximum(queries.grade, 0.0))
    for place, score in enumerate(queries.scores()):
        retrieved = _ranked(queries, score, queries.tie_ranks)
        size[:, place] = retrieved.size
        reversed_in[place] = retrieved.reversed_queries(roles.min_grade)
        worst = best = retrieved
        if ranges and (retrieved.block_size > 1).any():
            worst = _ranked(queries, score, grade.__getitem__)
            best = _ranked(queries, score, (-grade).__getitem__)
        for number, one in enumerate(named):
            request = one.request
            value[:, place, number] = kernels[request.metric](request, judged, retrieved)
            if ranges:
                tied[:, place, number] = retrieved.beyond(request.cutoff)
                share[:, place, number] = judged_share(request, judged, retrieved)
                kernel = QUERY_METRICS[request.metric]
                low[:, place, number] = kernel(request, judged, worst)
                high[:, place, number] = kernel(request, judged, best)
    warn_of_reversed_runs(reversed_in, queries.measures)
    positive = [judged.tally(judged.grade >= one.request.least) for one in named]
    return QueryValues(
        metrics=value,
        n_positive=np.stack(positive, axis=1),
        n_retrieved=size,
        n_judged=judged.tally(np.ones(judged.query.shape, dtype=bool)),
        low=low,
        high=high,
        tied=tied,
        judged=share,
    )


def _ranked(queries: Queries, score: FloatArray, order: TieRanks) -> Retrieved:
    """Rank the documents of every query, with equal scores in this order."""
    single = queries.options.ties == "trec"
    return retrieve(queries.query, queries.grade, score, queries.n_queries, order, single=single)


def resolve_undefined(
    value: FloatArray, named: Sequence[NamedMetric], undefined: str, keys: pd.DataFrame | None
) -> FloatArray:
    """Replace undefined values (query, measure, metric), or raise an error."""
    missing = np.isnan(value)
    if undefined == "raise" and missing.any():
        number = int(missing.any(axis=(0, 1)).argmax())
        where = np.flatnonzero(missing[:, :, number].any(axis=1))
        shown = ""
        if keys is not None:
            names = [x[0] if len(x) == 1 else x for x in keys.iloc[where[:3]].to_numpy().tolist()]
            shown = f": {listed(names)}{', ...' if where.size > 3 else ''}"
        raise ValueError(
            f"undefined='raise': {named[number].label!r} is undefined for {where.size} of"
            f" {value.shape[0]} queries{shown}. These queries have no positives or, for AUC, only"
            " positives. Pass undefined='zero', as in trec_eval, or 'skip'."
        )
    if undefined == "zero":
        zero = np.array([one.request.metric != "AUC" for one in named])
        return np.where(missing & zero, 0.0, value)
    return value


def _long(
    keys: pd.DataFrame,
    values: QueryValues,
    value: FloatArray,
    measures: list[Hashable],
    named: Sequence[NamedMetric],
    undefined: str,
) -> pd.DataFrame:
    """Return one row per query, measure and metric; "skip" omits undefined values."""
    kept: BoolArray = np.ones(value.shape, dtype=bool)
    if undefined == "skip":
        kept = ~np.isnan(value)
    query, measure, metric = np.nonzero(kept)
    labels = pd.Series([one.label for one in named])
    columns = {
        "measure": pd.Series(pd.Index(measures, tupleize_cols=False)).array.take(measure),
        "metric": labels.array.take(metric),
        "value": value[kept],
        "n_positive": values.n_positive[query, metric],
        "n_retrieved": values.n_retrieved[query, measure],
        "n_judged": values.n_judged[query],
    }
    if details_wanted():
        columns |= {
            "tied": values.tied[kept],
            "value_low": values.low[kept],
            "value_high": values.high[kept],
            "judged": values.judged[kept],
            "undefined": np.isnan(values.metrics)[kept],
        }
    groups = keys.iloc[query].reset_index(drop=True)
    return pd.concat([groups, pd.DataFrame(columns)], axis=1)


def wide_form(
    keys: pd.DataFrame,
    value: FloatArray,
    measures: list[Hashable],
    named: Sequence[NamedMetric],
    undefined: str,
) -> pd.DataFrame:
    """Return one row per query with columns for measures (and metrics)."""
    if undefined == "skip":
        whole = np.asarray(~np.isnan(value).any(axis=(1, 2)))
        if not whole.all():
            warn(
                f"undefined='skip': {int((~whole).sum())} of {whole.size} queries are left out "
                "because a metric is undefined. Keep them with undefined='zero', as in trec_eval."
            )
        keys, value = keys.loc[whole], value[whole]
    by = list(keys.columns)
    index = keys.set_index(by).index
    names = pd.Index(measures, tupleize_cols=False, name="system")
    header: Any = names
    if len(named) > 1:
        labels = [one.label for one in named]
        header = pd.MultiIndex.from_product([labels, names], names=["metric", "system"])
    # (query, measure, metric) -> (query, column), metric by metric
    flat = np.moveaxis(value, 2, 1).reshape(len(keys), -1)
    table = pd.DataFrame(flat, index=index, columns=header)
    if len(named) == 1:  # used for axis labels and sentences
        table.attrs["metric"] = named[0].label
    return table
