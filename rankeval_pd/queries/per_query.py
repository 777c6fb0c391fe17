"""Metrics of each query, their names, and the summary of several runs."""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np
import pandas as pd

from rankeval_pd import doors, tables
from rankeval_pd.decisions import family_of
from rankeval_pd.doors import METRIC, Data, QueryOptions
from rankeval_pd.errors import (
    check_choice,
    check_known,
    details_wanted,
    listed,
    shown,
    warn,
)
from rankeval_pd.options import Capabilities
from rankeval_pd.roles import FamilyAdjustment, MeanTest, QueryRoles
from rankeval_pd.stats import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.queries import (
    EXPECTED_METRICS,
    METRIC_ALIASES,
    QUERY_METRICS,
    Judgments,
    MetricRequest,
    MetricRun,
    gains,
    judged_share,
    judgments,
    named_parts,
    retrieve,
)
from rankeval_pd.systems.tests import adjustment_of, mean_test, system_ranks
from rankeval_pd.tables import Columns, Keywords, Options

# ---- Parse metric names from ir_measures, trec_eval and recommender systems

_WITH_CUTOFF = ("P", "R", "Success", "F1")
_NO_CUTOFF = ("Rprec", "Bpref")
# metrics with binary relevance; the option "rel" sets the lowest positive grade
_BINARY = tuple(name for name in QUERY_METRICS if name not in ("nDCG", "DCG", "ERR", "Judged"))


def parse_metrics(metrics: Any, min_grade: float) -> list[MetricRequest]:
    """Return the distinct metrics for these names in order."""
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    names = dict.fromkeys(str(x) for x in metrics)
    if not names:
        raise ValueError("metrics is empty. Pass one or more names, such as 'nDCG@10'.")
    return [_parse_metric(name, min_grade)._replace(label=name) for name in names]


def _parse_metric(text: str, min_grade: float) -> MetricRequest:
    name, options, at = named_parts(text)
    if name not in QUERY_METRICS:
        near = difflib.get_close_matches(name.lower(), METRIC_ALIASES, n=1, cutoff=0.3)
        hint = "".join(f" Did you mean {METRIC_ALIASES[x]!r}?" for x in near)
        raise ValueError(
            f"metrics: {shown(text, 20)} is not one of {listed(QUERY_METRICS, most=20)}, with"
            f" @k for a cutoff, as in 'nDCG@10'.{_GONE.get(name.lower(), hint)}"
        )
    request = _with_cutoff(MetricRequest(name, least=float(min_grade)), at, text)
    return _with_options(request, options or "", text)


_GONE = {
    **dict.fromkeys(("auc", "roc"), " The area of each query is area(by=...), of one area()."),
    "infap": " For a sample of judgments, call judged_precision.",
}


def _with_cutoff(request: MetricRequest, at: str | None, text: str) -> MetricRequest:
    """Return the metric with the cutoff of the list, or with the recall level of IPrec."""
    name, number = request.metric, math.nan
    if at is not None and at.replace(".", "", 1).isdigit():
        number = float(at)
    if name == "IPrec" and 0.0 <= number <= 1.0:
        return request._replace(level=number)
    if at is None and name not in (*_WITH_CUTOFF, "IPrec"):
        return request
    if name in (*_NO_CUTOFF, "IPrec") or not number.is_integer() or number < 1.0:
        wanted = {"IPrec": "a recall from 0 to 1, as in 'IPrec@0.1'"}
        wanted |= dict.fromkeys(_NO_CUTOFF, f"no @k. Pass {name!r}")
        length = f"a whole number for k, 1 or more, as in '{name}@10'"
        raise ValueError(f"metrics: {text!r}: {name} takes {wanted.get(name, length)}.")
    return request._replace(cutoff=int(number))


_OF_GAINS = {"dcg": "'log2' or 'exp-log2'", "gains": "a mapping such as {1: 1, 2: 5}"}
_OPTIONS = {
    "nDCG": _OF_GAINS,
    "DCG": _OF_GAINS,
    "AP": {"norm": "'min' with @k, or 'all'"},
    "RBP": {"p": "a number in (0, 1)"},
    "ERR": {"max_rel": "the highest grade"},
}


def _with_options(request: MetricRequest, options: str, text: str) -> MetricRequest:
    name = request.metric
    allowed = _OPTIONS.get(name, {})
    if name in _BINARY:
        allowed = {"rel": "the lowest grade of a positive document", **allowed}
    for part in filter(None, (x.strip() for x in _COMMA.split(options))):
        option, _, value = (x.strip().strip("'\"") for x in part.partition("="))
        if option not in allowed:
            judged = " To use only judged documents, pass unjudged='skip'." * ("judged" in option)
            raise ValueError(
                f"metrics: {text!r}: {name} has no option {option!r}, only {listed(allowed)}. "
                f"Omit this option.{judged}"
            )
        try:
            request = request._replace(**_parsed_option(request, option, value))
        except ValueError:
            raise ValueError(
                f"metrics: {text!r}: {option}={value!r} is not {allowed[option]}. Fix this value."
            ) from None
    return request


def _parsed_option(request: MetricRequest, option: str, value: str) -> Options:
    """Return what an option sets; raise a ValueError for invalid values."""
    if option == "dcg" and value in ("log2", "exp-log2"):
        return {"exponential": value == "exp-log2"}
    if option == "norm" and (value == "all" or (value == "min" and request.cutoff is not None)):
        return {"norm": value}
    if option == "gains":
        return {"gains": _gains(value)}
    if option == "max_rel" and 1 <= int(value) <= 1000:
        return {"top": int(value)}
    if option == "p" and 0.0 < float(value) < 1.0:
        return {"persistence": float(value)}
    if option == "rel" and 0.0 < float(value) < math.inf:
        return {"least": float(value)}
    raise ValueError


_COMMA = re.compile(r",(?![^{]*})")  # commas between options, but not within a mapping


def _gains(text: str) -> tuple[tuple[float, float], ...]:
    """Parse a mapping from grades to gains, or raise a ValueError."""
    try:
        grades = ast.literal_eval(text).items()
        gains = tuple((float(grade), float(gain)) for grade, gain in grades)
    except (AttributeError, SyntaxError, TypeError):
        raise ValueError from None
    if not gains or any(not 0.0 <= gain < math.inf for _, gain in gains):
        raise ValueError
    return gains


def check_grades(asked: Sequence[MetricRequest], judged: Judgments) -> None:
    """Raise a ValueError for grades above a metric's highest grade, or infinite gains."""
    top = judged.grade.max(initial=0.0)
    for one in asked:
        if one.metric == "ERR" and top > one.top:
            raise ValueError(
                f"metrics: {one.label!r} takes grades up to {one.top}, but gold "
                f"contains {top:g}. Pass the highest possible grade: 'ERR(max_rel={top:g})'."
            )
        if one.metric in ("nDCG", "DCG"):
            with np.errstate(over="ignore"):
                total = gains(one, judged.grade).sum()
            if not np.isfinite(total):
                raise ValueError(
                    f"metrics: the gains of {one.label!r} are too large for a sum, because gold"
                    f" contains {top:g}. Pass gains={{grade: gain, ...}}, or smaller grades."
                )


# ---- Compute search metrics per query with the same values as trec_eval

Undefined = Literal["zero", "skip"]


@Capabilities(
    rankings="Queries, 2x2 tables",
    dask=(
        "this method works query by query. Compute a subset of the queries:"
        " ddf[ddf['query'].isin(...)].compute()"
    ),
    short={"": "measure metric value", "wide": ""},
    details="n_positive n_retrieved n_judged tied value_low value_high judged undefined",
    layout="measure metric",
)
@doors.with_query_roles
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
        like the result of :func:`read_trec`. Without a query column, candidates with unique labels
        are a single list. A Dataset has a document dimension, and all other dimensions identify
        queries.
    metrics : str or sequence of str
        Names as in ir_measures: ``P@k``, ``R@k``, ``Success@k`` (or ``HitRate@k``), ``F1@k``;
        ``AP``, ``RR``, ``nDCG``, ``DCG``, optionally with @k; ``IPrec@recall``, ``Rprec``,
        ``Bpref``, ``RBP(p=0.8)``, ``ERR@k``, ``Judged@k``. Names from trec_eval are also allowed,
        such as ``map``, ``recip_rank``, ``ndcg_cut_10``, ``P_5``, ``mrr@10``,
        ``iprec_at_recall_0.10``. Options: ``nDCG(dcg='exp-log2')@k`` uses gains 2^grade − 1,
        ``nDCG(gains={1: 1, 2: 5})@k`` sets gains (the gain of any other grade is the grade),
        ``P(rel=2)@k`` sets ``min_grade``, ``ERR(max_rel=3)@k`` sets the highest grade (default 4),
        and ``AP(norm='min')@k`` divides by min(k, positives) as in recommender systems.
    undefined
        Treatment of undefined metrics, such as recall without positives. "zero" gives 0 as in
        trec_eval, and "skip" omits the row.
    wide : bool
        For a DataFrame, return one row per query and one column per measure, or a two-level header
        (metric, system) for several metrics. "skip" then omits queries with any undefined metric;
        :func:`summary` omits them for this metric only.
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
    negatives, except for Bpref and unjudged="skip", which treat them as unjudged documents in the
    pool. Judged@k divides by k, or by the length of a shorter list, as in ir_measures.
    ``ties="expected"`` averages over all tie-breaking orders, for all metrics except Bpref, IPrec
    and ERR. The cost is O(rows log rows) per measure.

    References
    ----------
    * Buckley and Voorhees, trec_eval, https://github.com/usnistgov/trec_eval.
    * MacAvaney, Macdonald and Ounis (2022), Streamlining evaluation with ir-measures, ECIR.
    * McSherry and Najork (2008), ECIR, https://doi.org/10.1007/978-3-540-78646-7_38: tied scores.
    * Chapelle et al. (2009), CIKM, https://doi.org/10.1145/1645953.1646033: ERR.
    * Moffat and Zobel (2008), ACM Transactions on Information Systems 27,
      https://doi.org/10.1145/1416950.1416952: RBP.
    * Järvelin and Kekäläinen (2002), ACM Transactions on Information Systems 20,
      https://doi.org/10.1145/582415.582418: nDCG.
    * Buckley and Voorhees (2004), SIGIR, https://doi.org/10.1145/1008992.1009000: Bpref.

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
    named = metrics_asked(metrics, chosen)
    doors.check_data(data)
    ranges = not wide and details_wanted()
    queries = doors.read_queries(doors.below_door(data), chosen)
    values = frame_values(queries, named, wide=wide, ranges=ranges)
    form = wide_form if wide else _rows_per_metric
    result = form(values, undefined)
    result.attrs |= {"undefined": undefined, **chosen.noted}
    return doors.above_door(result, data)


def frame_values(
    queries: doors.Queries, named: Sequence[MetricRequest], *, wide: bool, ranges: bool
) -> QueryValues:
    """Compute metrics for every query and measure.

    Each measure is ranked once. ``ranges`` adds the range over tie-breaking orders, which requires
    two more rankings.
    """
    grade, chosen = queries.grade, queries.options
    between = grade[(grade > 0.0) & (grade < 1.0)]
    lost = [one.label for one in named if one.metric in _BINARY and one.least == 1.0]
    if between.size and lost and not chosen.graded:
        raise ValueError(
            f"gold has {between.size:,} grades between 0 and 1, such as {between[0]:g}, which "
            f"{lost[0]!r} would treat as not relevant. Pass min_grade={between.min():g} or higher, "
            "or a metric that uses grades as gains, such as nDCG@10."
        )
    taken = [*doors.COLUMNS, *doors.OPEN, *["system"] * wide]
    keys = tables.keys_apart(queries.keys, taken)
    n_queries = len(keys)
    judged = judgments(queries.query, grade, n_queries)
    check_grades(named, judged)
    shape = n_queries, len(queries.measures), len(named)
    value = np.empty(shape)
    size = np.empty(shape[:2], dtype=np.int64)
    low, high, share = np.full((3, *shape), np.nan)
    tied = np.zeros(shape, dtype=np.int64)
    reversed_in = []
    gain = np.nan_to_num(np.maximum(grade, 0.0))
    # rank the documents of every query, with equal scores in a given order
    options: Options = {"n_queries": n_queries, "single": chosen.ties == "trec"}
    ranked = partial(retrieve, queries.query, grade, **options)
    for place, score in enumerate(queries.scores()):
        retrieved = ranked(score=score, tie_ranks=queries.tie_ranks)
        size[:, place] = retrieved.size
        reversed_in.append(retrieved.reversed_queries(chosen.min_grade))
        worst = best = ordered = retrieved.in_order()
        if ranges and (retrieved.block_size > 1).any():
            worst = ranked(score=score, tie_ranks=gain.__getitem__).in_order()
            best = ranked(score=score, tie_ranks=(-gain).__getitem__).in_order()
        asked = ordered
        if chosen.ties == "expected":
            asked = retrieved
        # without ties, the orders are one
        orders = {id(order): order for order in (asked, *[worst, best] * ranges)}
        for number, one in enumerate(named):
            kernel = QUERY_METRICS[one.metric]
            found = {key: kernel(MetricRun(one, judged, x)) for key, x in orders.items()}
            value[:, place, number] = found[id(asked)]
            if ranges:
                tied[:, place, number] = retrieved.beyond(one.cutoff)
                share[:, place, number] = judged_share(MetricRun(one, judged, ordered))
                low[:, place, number] = found[id(worst)]
                high[:, place, number] = found[id(best)]
    for name, (below, defined) in zip(queries.measures, reversed_in, strict=True):
        # the two-sided binomial p-value is below 0.001 for a normal deviate above 3.3
        if defined >= 10 and 2 * below - defined > 3.3 * math.sqrt(defined):
            warn(
                f"measures: in {below} of {defined} queries, {name!r} ranks relevant documents"
                " below other documents on average. Check whether lower_is_better should list it."
            )
    values = QueryValues(
        named=named,
        measures=list(queries.measures),
        keys=keys,
        metrics=value,
        n_positive=np.stack([judged.positives(one.least) for one in named], axis=1),
        n_retrieved=size,
        n_judged=judged.tally(np.ones(judged.query.shape, dtype=bool)),
        low=low,
        high=high,
        tied=tied,
        judged=share,
    )
    known = values.n_judged > 0
    if known.all():
        return values
    left = keys[~known]
    names = [x[0] if len(x) == 1 else x for x in left.head(3).itertuples(index=False, name=None)]
    warn(
        f"Queries without judgments are left out ({len(left)}:"
        f" {listed(names)}{', ...' * (len(left) > 3)}). Judge these queries, or drop their rows:"
        " data[~data['query'].isin([...])]."
    )
    return values.only(known)


def metrics_asked(metrics: Any, chosen: QueryOptions) -> list[MetricRequest]:
    """Return the named metrics; reject metrics that do not support these roles."""
    named = parse_metrics(metrics, chosen.min_grade)
    lacking = [one.label for one in named if one.metric not in EXPECTED_METRICS]
    if chosen.ties == "expected" and lacking:
        raise ValueError(
            f"ties='expected' has no closed form for {listed(lacking)}, only for"
            f" {listed(EXPECTED_METRICS, most=20)}. Omit the other metrics, or pass ties='trec'."
        )
    return named


class QueryValues(NamedTuple):
    """Store the metrics of all queries; undefined metrics are NaN."""

    named: Sequence[MetricRequest]
    measures: list[Hashable]
    keys: pd.DataFrame  #: one row per query
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
        names = [name for name in self._fields if name not in ("named", "measures")]
        return self._replace(**{name: getattr(self, name)[queries] for name in names})

    def defined(self) -> QueryValues:
        """Return the values for queries in which all metrics are defined."""
        return self.only(np.asarray(~np.isnan(self.metrics).any(axis=(1, 2))))

    def each_metric(self) -> list[QueryValues]:
        """Return the values of each metric."""
        names = ("metrics", "n_positive", "low", "high", "tied", "judged")
        return [
            self._replace(named=[one], **{name: getattr(self, name)[..., [k]] for name in names})
            for k, one in enumerate(self.named)
        ]


def _rows_per_metric(values: QueryValues, undefined: str) -> pd.DataFrame:
    """Return one row per query, measure and metric; "skip" omits undefined values."""
    value = values.metrics
    kept = ~np.isnan(value) | (undefined == "zero")
    query, measure, metric = np.nonzero(kept)
    columns = {
        "measure": pd.Series(pd.Index(values.measures, tupleize_cols=False)).array.take(measure),
        "metric": pd.Series([one.label for one in values.named]).array.take(metric),
        "value": np.nan_to_num(value[kept]),
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
            "undefined": np.isnan(value[kept]),
        }
    groups = values.keys.iloc[query].reset_index(drop=True)
    return pd.concat([groups, pd.DataFrame(columns)], axis=1)


def wide_form(values: QueryValues, undefined: str) -> pd.DataFrame:
    """Return one row per query with columns for measures (and metrics)."""
    if undefined == "skip":
        whole = values.defined()
        n_queries, n_left_out = len(values.keys), len(values.keys) - len(whole.keys)
        if n_left_out:
            warn(
                f"undefined='skip': {n_left_out} of {n_queries} queries are left out of all columns"
                " because a metric is undefined. Keep them with undefined='zero', as in trec_eval."
            )
        values = whole
    keys = values.keys
    labels = [one.label for one in values.named]
    index = keys.index
    if keys.shape[1]:
        index = keys.set_index(list(keys.columns)).index
    names = pd.Index(values.measures, tupleize_cols=False, name="system")
    header = names
    if len(labels) > 1:
        header = pd.MultiIndex.from_product([labels, names], names=["metric", "system"])
    # (query, measure, metric) -> (query, column), metric by metric
    flat = np.nan_to_num(np.moveaxis(values.metrics, 2, 1).reshape(len(keys), len(header)))
    table = pd.DataFrame(flat, index=index, columns=header)
    if len(labels) == 1:  # used for axis labels and sentences
        table.attrs["metric"] = labels[0]
    return table


# ---- Summarize a search experiment in one table of means, ranks and differences

_EQUAL = 1e-12  # smaller differences within a query count as ties
OverMetrics = Literal["metrics", "all"]
_RANKED = "value ci_low ci_high rank_low rank_high tied_for_best letters ci_low_alone ci_high_alone"
GAINS = {
    "difference": "gain",
    "difference_low": "ci_low",
    "difference_high": "ci_high",
    "p_adjusted": "p_adjusted",
    "p_value": "p_value",
    "difference_low_alone": "ci_low_alone",
    "difference_high_alone": "ci_high_alone",
}
"""Columns of a summary, and the columns of paired tests from which they are taken."""
_COLUMNS = (
    "value ci_low ci_high rank_low rank_high difference difference_low difference_high p_adjusted"
    " tied_for_best wins ties losses letters p_value difference_low_alone difference_high_alone"
    " ci_low_alone ci_high_alone"
)
_ADJUSTED = ("p_adjusted", "difference_low_alone", "difference_high_alone")
_NOTED = ("event", "level", "n_resamples", "seed", "test")


@doors.with_query_roles
def query_summary(
    data: Data,
    metrics: str | Iterable[Any],
    *,
    baseline: Hashable = None,
    test: MeanTest = "bootstrap",
    adjust: FamilyAdjustment | Literal["auto"] | None = "auto",
    adjust_over: OverMetrics = "metrics",
    undefined: Undefined = "zero",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    level: float = 0.95,
    **roles: Unpack[QueryRoles],
) -> Data:
    """Return :func:`summary` for queries: means, ranks and differences per run and metric.

    The table combines ``per_query(wide=True)`` with :func:`system_ranks` and
    :func:`paired_bootstrap` for each metric.
    """
    doors.check_data(data)
    chosen = QueryOptions.of(roles)
    asked = metrics_asked(metrics, chosen)
    queries = doors.read_queries(doors.below_door(data), chosen)
    found = frame_values(queries, asked, wide=True, ranges=True)
    if len(found.keys) < 2:
        raise ValueError(
            f"summary needs two or more judged queries, but data has {len(found.keys)}. For the"
            f" values of one query or list, call per_query({asked[0].label!r})."
        )
    kept = found.each_metric()
    if undefined == "skip":
        kept = [one.defined() for one in kept]
        _warn_of_skipped(kept, len(found.keys))
    tables = {one.named[0].label: wide_form(one, "zero") for one in kept}
    measures = tables[asked[0].label].columns
    if baseline is not None:
        check_known("baseline", [baseline], measures)
    adjusted = adjustment_of(test, adjust)
    if len(measures) == 1:  # there is nothing to test
        adjusted = None
    check_choice("adjust_over", adjust_over, get_args(OverMetrics))
    options = {
        "by": METRIC,
        "n_resamples": n_resamples,
        "adjust": adjusted,
        "adjust_over": {"metrics": "group", "all": "all"}[adjust_over],
        "alpha": alpha,
        "level": level,
        "rng": roles.get("rng", 0),
    }
    result = _of_metrics(tables, baseline, test, options)
    facts = pd.concat(map(assumed, kept), ignore_index=True)
    cutoff = facts.pop("cutoff").to_numpy()
    depth = facts["depth"]
    shares = facts["judged"][cutoff > 0]
    sizes = [len(table) for table in tables.values()]
    noted: dict[Any, Any] = {
        **result.attrs,
        **{name: int(facts[name].max()) for name in ("n_lacking", "n_undefined", "n_tied")},
        **chosen.noted,
        "noun": "run",
        "n_queries": max(sizes),
        "baseline": baseline,
        "adjust": adjusted,
        "alpha": alpha,
        "undefined": undefined,
    }
    if depth.min() < depth.max():
        noted |= {"depth_low": int(depth.min()), "depth_high": int(depth.max())}
    if shares.notna().any():
        noted["judged_low"] = float(shares.min())
    if min(sizes) < max(sizes):
        noted["n_queries_low"] = min(sizes)
    if adjusted is not None:
        noted["adjust_over"] = adjust_over
    result = pd.concat([result, facts], axis=1)
    result.attrs = noted
    _warn_of_facts(result, cutoff, chosen.ties)
    return doors.above_door(result, data)


def _warn_of_skipped(kept: Sequence[QueryValues], n_queries: int) -> None:
    """Warn about the queries that each metric leaves out because it is undefined."""
    skipped = {one.named[0].label: n_queries - len(one.keys) for one in kept}
    told = [f"{metric} ({count})" for metric, count in skipped.items() if count]
    if told:
        warn(
            f"undefined='skip' leaves out some of the {n_queries} queries, each metric those for"
            f" which it is undefined: {', '.join(told)}. Keep them with undefined='zero', as in"
            " trec_eval."
        )


def assumed(numbers: QueryValues) -> pd.DataFrame:
    """Return a table (metric and measure, fact) that describes the means."""
    n_queries, *shape = numbers.metrics.shape
    # the retrieved documents do not depend on the metric
    lacking = (numbers.n_retrieved == 0).sum(axis=0)[:, np.newaxis]
    deepest = numbers.n_retrieved.max(axis=0, initial=0)[:, np.newaxis]
    judged = pd.DataFrame(numbers.judged.reshape(n_queries, -1)).mean().to_numpy()
    facts = {  # (measure, metric)
        "n_tied": (numbers.tied > 0).sum(axis=0),
        "value_low": np.nan_to_num(numbers.low).mean(axis=0),
        "value_high": np.nan_to_num(numbers.high).mean(axis=0),
        "judged": judged.reshape(shape),
        "n_lacking": np.broadcast_to(lacking, shape),
        "n_undefined": np.isnan(numbers.metrics).sum(axis=0),
        "depth": np.broadcast_to(deepest, shape),
        "cutoff": np.broadcast_to([one.cutoff or 0 for one in numbers.named], shape),
    }
    return pd.DataFrame({name: x.T.ravel() for name, x in facts.items()})


_JUDGED_APART = 0.1  # difference in judged proportions that could explain a difference between runs


def _warn_of_facts(table: pd.DataFrame, cutoff: IntArray, ties: str) -> None:
    """Warn if judged proportions, depths or ties could explain differences."""
    metrics, measures, judged, depths = (
        table[name].to_numpy() for name in ("metric", "measure", "judged", "depth")
    )
    for metric in dict.fromkeys(metrics[cutoff > 0]):
        rows = metrics == metric
        names, shares, depth, end = measures[rows], judged[rows], depths[rows], cutoff[rows][0]
        most, least = np.fmax.reduce(shares), np.fmin.reduce(shares)
        if most - least > _JUDGED_APART:
            warn(
                f"{metric}: up to rank {end}, {most:.0%} of the documents in"
                f" {names[np.nanargmax(shares)]!r} are judged but only {least:.0%} in"
                f" {names[np.nanargmin(shares)]!r}, and unjudged documents count as not relevant."
                " Also compare the runs with unjudged='skip'."
            )
        if depth.min() < min(end, depth.max()):
            warn(
                f"{metric}: {names[depth.argmin()]!r} retrieved at most {depth.min():,} documents"
                f" per query, but {names[depth.argmax()]!r} retrieved {depth.max():,}. Choose a"
                " cutoff that all runs reach."
            )
    low, high = table["value_low"], table["value_high"]
    wide = high - low > (table["ci_high"] - table["ci_low"]) / 2.0
    if wide.any() and ties != "expected":
        columns = [table[name][wide] for name in ("metric", "measure", "value_low", "value_high")]
        open_ties = list(map("{} of {!r} ({:.3g} to {:.3g})".format, *columns))
        warn(
            f"ties: the order of equal scores strongly affects {', '.join(open_ties[:3])}. Pass"
            " ties='expected' to average over all tie-breaking orders."
        )


def _of_metrics(
    parts: dict[str, pd.DataFrame], baseline: Hashable, test: MeanTest, options: Keywords
) -> pd.DataFrame:
    """Convert one wide form per metric to one row per metric and measure."""
    metrics = [*parts]
    header = parts[metrics[0]].columns
    items = pd.concat(parts, names=[METRIC])
    each = np.tile(np.arange(len(header)), len(metrics))
    keys = {"measure": header.take(each), "metric": np.repeat(metrics, len(header))}
    named = {**options, "measures": header.tolist()}  # the names of the measures are known
    ranks = system_ranks(items, test=test, **named)
    tested = ranks
    columns = _of_query_systems(ranks, "system", parts, {name: name for name in _RANKED.split()})
    if baseline is not None:
        tested = mean_test(test)(items, baseline=baseline, **named)
        columns |= _of_query_systems(tested, "system_a", parts, GAINS)
        # the queries above, equal to or below the baseline; the baseline's own counts are NaN
        over = [part.sub(part[baseline], axis=0) for part in parts.values()]
        signs = [np.sign(x.where(x.abs() > _EQUAL, 0.0)) for x in over]
        itself = keys["measure"] == baseline
        for name, sign in (("wins", 1.0), ("ties", 0.0), ("losses", -1.0)):
            total = np.concatenate([(x == sign).sum() for x in signs])
            columns[name] = np.where(itself, np.nan, total)
    kept = [x for x in _COLUMNS.split() if baseline is None or x != "letters"]
    if len(header) == 1:
        kept = [x for x in kept if x in columns]
    if options["adjust"] is None:
        kept = [x for x in kept if x not in _ADJUSTED]
    rows = {name: columns.get(name, np.full(each.size, np.nan)) for name in kept}
    result = pd.DataFrame({**keys, **rows})
    result.attrs = {name: tested.attrs[name] for name in _NOTED if name in tested.attrs}
    family = None
    if options["adjust"] is not None:
        count = len(header) - 1
        if baseline is None:
            count = math.comb(len(header), 2)
        scope = "each metric"
        if options["adjust_over"] == "all" and len(metrics) > 1:
            scope = f"all {len(metrics)} metrics"
        family = f"{family_of(count, baseline)} for {scope}"
    for name in ("interval", "intervals"):
        result.attrs[name] = ranks.attrs.get(name)
    result.attrs["family"] = family
    return result


def _of_query_systems(
    table: pd.DataFrame, role: str, parts: Mapping[str, pd.DataFrame], names: Mapping[str, str]
) -> Columns:
    """Return columns by metric and name; missing rows are NaN."""
    header = parts[next(iter(parts))].columns
    place = pd.Index([*parts]).get_indexer(pd.Index(table[METRIC])) * len(header)
    place += header.get_indexer(pd.Index(table[role], tupleize_cols=False))
    order = np.full(len(parts) * len(header), -1)
    order[place] = np.arange(place.size)
    take: Any = pd.api.extensions.take
    return {
        name: take(table[own].to_numpy(), order, allow_fill=True)
        for name, own in names.items()
        if own in table
    }
