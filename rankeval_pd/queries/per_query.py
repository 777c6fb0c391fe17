"""How good is each measure for each query? Search metrics that equal trec_eval's."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice, listed, warn
from rankeval_pd.forms.items.metric_columns import COLUMNS, OPEN
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
from rankeval_pd.forms.roles.options import details_wanted
from rankeval_pd.forms.roles.roles import QueryRoles
from rankeval_pd.queries.metric_names import NamedMetric, parse_metrics
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.query_metrics import (
    QUERY_METRICS,
    Retrieved,
    TieRanks,
    judged_share,
    judgements,
    retrieve,
)
from rankeval_pd.stats.rankings.query_ties import EXPECTED_METRICS

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
        As ir_measures names them: ``P@k``, ``R@k``, ``Success@k`` (or ``HitRate@k``), ``F1@k``;
        ``AP``, ``RR``, ``nDCG``, ``DCG``, with @k or without; ``IPrec@recall``, ``Rprec``,
        ``Bpref``, ``infAP``, ``RBP(p=0.8)``, ``ERR@k``, ``Judged@k``, ``AUC``; or as trec_eval
        and others do: ``map``, ``recip_rank``, ``ndcg_cut_10``, ``P_5``, ``mrr@10``,
        ``iprec_at_recall_0.10``. ``nDCG(dcg='exp-log2')@k`` has the gains 2^grade − 1 for grade,
        ``nDCG(gains={1: 1, 2: 5})@k`` those given, ``P(rel=2)@k`` another least grade than
        ``min_grade``, ``ERR(max_rel=3)@k`` another highest grade than 4; ``AP(norm='min')@k``
        divides by min(k, positives), as recommenders do.
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
        ``n_judged``: documents of the query with a grade. With ``details=True`` also ``tied``:
        documents left out at k with the score of the last one; ``value_low``, ``value_high``: the
        value of the worst and the best order of equal scores; ``judged``: share of documents
        judged up to k; ``undefined``: whether ``value`` stands for none. A Dataset: a variable per
        metric over the queries and ``measure``, NaN for a query without judgements, and the three
        counts.

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
    asked = metrics_asked(metrics, chosen)
    check_data(data)
    if isinstance(data, xr.Dataset):
        if wide:
            raise ValueError(
                "wide=True is the form of a DataFrame. Leave it out; of the result,"
                " found.rename({'query': 'item', 'measure': 'system'})[['AP']] is what the paired"
                " tests take."
            )
        return _of_dataset(data, chosen, asked, undefined)
    found = frame_values(data, chosen, asked, wide=wide, ranges=not wide and details_wanted())
    value = resolve_undefined(found.numbers.metrics, asked, undefined, found.keys)
    if wide:
        return wide_form(found.keys, value, found.measures, asked, undefined)
    return _long(found.keys, found.numbers, value, found.measures, asked, undefined)


class FrameValues(NamedTuple):
    """The metrics of the queries of a DataFrame."""

    keys: pd.DataFrame  #: one row per query with a judgment
    numbers: QueryValues
    measures: list[Hashable]


def frame_values(
    data: pd.DataFrame,
    chosen: QueryOptions,
    asked: Sequence[NamedMetric],
    *,
    wide: bool,
    ranges: bool,
) -> FrameValues:
    """Return the metrics of a DataFrame, and with ``ranges`` what equal scores leave open."""
    table = read_frame(data, chosen)
    _refuse_fractions(table.rows.grade, asked, chosen)
    taken = (*COLUMNS, "system") if wide else COLUMNS
    tables.check_names("by=", table.keys.columns, taken)
    measures = table.measures
    values = evaluate(table.rows, table.scores(), measures, asked, chosen, ranges=ranges)
    keys = table.keys
    known = values.n_judged > 0
    if not known.all():
        _warn_unjudged(keys[~known], int((~known).sum()))
        keys, values = keys[known], values.only(known)
    return FrameValues(keys, values, measures)


def _refuse_fractions(
    grade: FloatArray, asked: Sequence[NamedMetric], chosen: QueryOptions
) -> None:
    """Raise a ValueError where grades between 0 and 1 would all be negatives, unasked."""
    between = grade[(grade > 0.0) & (grade < 1.0)]
    lost = [one.label for one in asked if one.is_binary and one.request.least == 1.0]
    if between.size and lost and not chosen.graded:
        raise ValueError(
            f"gold has {between.size:,} grades between 0 and 1, as {between[0]:g}, and {lost[0]!r}"
            f" needs to know which grades are relevant: give min_grade={between.min():g} or higher,"
            " or a metric that takes grades as gains, such as nDCG@10."
        )


def metrics_asked(metrics: Any, chosen: QueryOptions) -> list[NamedMetric]:
    """Return the metrics that are named, each of which has a value for these roles."""
    asked = parse_metrics(metrics, chosen.min_grade)
    if chosen.ties == "expected":
        _check_closed_forms(asked)
    return asked


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

    metrics: FloatArray  #: (query, measure, metric)
    n_positive: IntArray  #: (query, metric)
    n_retrieved: IntArray  #: (query, measure)
    n_judged: IntArray  #: (query)
    low: FloatArray  #: (query, measure, metric): of the worst order of equal scores
    high: FloatArray  #: and of the best one
    tied: IntArray  #: (query, measure, metric): documents left out with the last one's score
    judged: FloatArray  #: (query, measure, metric): share judged up to the cutoff

    def only(self, queries: AnyArray) -> QueryValues:
        """Return those of some queries."""
        chosen: list[Any] = [x[queries] for x in self]
        return QueryValues(*chosen)


def warn_of_reversed_runs(found: Mapping[int, tuple[int, int]], names: Sequence[Hashable]) -> None:
    """Warn of runs whose scores fall with relevance in more queries than chance explains."""
    for place, (below, defined) in found.items():
        # twice the binomial tail is below .001 when the normal deviate exceeds 3.3
        if defined >= 10 and 2 * below - defined > 3.3 * math.sqrt(defined):
            warn(
                f"measures: in {below} of {defined} queries {names[place]!r} scores relevant"
                " documents lower than others on average. If its small scores are the better ones,"
                f" give lower_is_better={names[place]!r}."
            )


def evaluate(
    rows: QueryRows,
    scores: Iterable[FloatArray],
    names: Sequence[Hashable],
    asked: Sequence[NamedMetric],
    roles: QueryOptions,
    *,
    ranges: bool = False,
) -> QueryValues:
    """Return every metric of every query and measure; each measure is ranked once.

    With ``ranges`` also what equal scores leave open: where there are any, it is ranked twice more.
    """
    judged = judgements(rows.query, rows.grade, rows.n_queries)
    top = judged.grade.max(initial=0.0)
    for one in asked:
        if one.request.metric == "ERR" and top > one.request.top:
            raise ValueError(
                f"metrics: {one.label!r} takes grades up to {one.request.top}, and there is"
                f" {top:g}. Say the highest grade there can be: 'ERR(max_rel={top:g})'."
            )
    kernels = EXPECTED_METRICS if roles.ties == "expected" else QUERY_METRICS
    value = np.empty((rows.n_queries, len(names), len(asked)))
    size = np.empty((rows.n_queries, len(names)), dtype=np.int64)
    low, high, share = (np.full(value.shape, np.nan) for _ in range(3))
    tied, reversed_in = np.zeros(value.shape, dtype=np.int64), {}
    grade = np.nan_to_num(np.maximum(rows.grade, 0.0))

    def ranked(score: FloatArray, order: TieRanks) -> Retrieved:
        here = rows.query, rows.grade, score, rows.n_queries, order
        return retrieve(*here, single=roles.ties == "trec")

    def by_grade(sign: int) -> TieRanks:
        return lambda of: sign * grade[of]

    for place, score in enumerate(scores):
        retrieved = ranked(score, rows.tie_ranks)
        size[:, place] = retrieved.size
        reversed_in[place] = retrieved.reversed_queries(roles.min_grade)
        orders = [retrieved, retrieved]
        if ranges and (retrieved.block_size > 1).any():
            orders = [ranked(score, by_grade(sign)) for sign in (1, -1)]
        for number, one in enumerate(asked):
            request = one.request
            value[:, place, number] = kernels[request.metric](request, judged, retrieved)
            if ranges:
                tied[:, place, number] = retrieved.beyond(request.cutoff)
                share[:, place, number] = judged_share(request, judged, retrieved)
                for side, order in zip((low, high), orders, strict=True):
                    side[:, place, number] = QUERY_METRICS[request.metric](request, judged, order)
    positive = [judged.tally(judged.grade >= one.request.least) for one in asked]
    every = np.ones(judged.query.shape, dtype=bool)
    warn_of_reversed_runs(reversed_in, names)
    counts = np.stack(positive, axis=1), size, judged.tally(every)
    return QueryValues(value, *counts, low, high, tied, share)


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
    if details_wanted():
        left = values.tied, values.low, values.high, values.judged, np.isnan(values.metrics)
        columns |= {name: x[query, measure, metric] for name, x in zip(OPEN, left, strict=True)}
    groups = keys.iloc[query].reset_index(drop=True)
    return pd.concat([groups, pd.DataFrame(columns)], axis=1)


def wide_form(
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
        _refuse_fractions(rows.grade, asked, roles)
        lists = (
            admitted_scores(scores[:, k].ravel()[kept], rows.grade, roles, name)
            for k, name in enumerate(form.measures)
        )
        by_name = evaluate(rows, lists, form.measures, asked, roles)
        value = resolve_undefined(by_name.metrics, asked, undefined, None)
        value[by_name.n_judged == 0] = np.nan
        counts = by_name.n_positive, by_name.n_retrieved, by_name.n_judged
        return tuple(x.reshape(*batch, *x.shape[1:]) for x in (value, *counts))

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
