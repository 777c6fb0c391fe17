"""Find the columns for a metric, and the clusters, strata and seeds of test items."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import listed, near_miss, shown, warn
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.resampling import test_items
from rankeval_pd.stats.resampling.metric_sums import METRICS, MetricFormula, Score, chrf_formula
from rankeval_pd.stats.resampling.test_items import Items

# ---------------------- Metrics as functions of summed statistics, and their columns

_ONE_COLUMN = ("mean", "sum", "rouge")
_COUNTED = ("mean", "rouge", "accuracy")  # the second statistic is 1 per item by default
_SCORES = " If the columns contain per-item scores, omit metric to compare the mean scores."


class Metric(NamedTuple):
    """Store a metric and the names of its statistics."""

    name: str
    score: Score
    chosen: list[Hashable]  #: the columns of the statistics, in the formula's order
    ones: bool  #: whether the number of items is the last statistic
    names: tuple[str, ...]  #: the names of the statistics in the formula
    parts: tuple[tuple[str, str], ...]
    counts: bool  #: whether the statistics are counts
    sign: float
    linear: str | None
    most: float = np.inf  #: the largest possible score if scores start at 0


def find_metric(roles: Roles, statistics: list[Hashable], *, one_level: bool) -> Metric:
    """Return the requested metric and its statistics.

    ``statistics`` lists the statistics in the data. For one column per system, it is [None].
    """
    metric = roles.metric
    if metric is None:
        metric = "mean"
    _check_no_scorer(metric)
    if callable(metric):
        better = roles.higher_is_better in (None, True)
        name = getattr(metric, "__name__", type(metric).__name__)
        return Metric(
            name, _vectorised(metric, name), statistics, False, (), (), False,
            1.0 if better else -1.0, None,
        )  # fmt: skip
    if not isinstance(metric, str) or metric not in METRICS:
        hint = near_miss(metric, METRICS, cutoff=0.7) or (_SCORES if one_level else "")
        raise ValueError(
            f"metric={shown(metric)} is not a known metric.{hint} Pass one of {listed(METRICS)}, or"
            " a function of summed statistics, f(S[..., statistic])."
        )
    formula = _formula(metric, statistics)
    chosen, ones = _chosen(metric, formula, statistics, one_level=one_level)
    if roles.higher_is_better is not None:
        better = bool(roles.higher_is_better)
    else:
        better = formula.higher_is_better
    linear = {"sum": "sum", **dict.fromkeys(_COUNTED, "mean")}.get(metric)
    return Metric(
        metric, formula.score, chosen, ones, formula.statistics, formula.parts,
        metric not in (*_ONE_COLUMN, "ratio", "ter"), 1.0 if better else -1.0, linear,
        formula.most,
    )  # fmt: skip


def _check_no_scorer(metric: Any) -> None:
    """Raise a ValueError if the metric is an object that scores text or labels."""
    is_class = isinstance(metric, type)
    if isinstance(metric, str) or (callable(metric) and not is_class):
        return
    kind = metric if is_class else type(metric)
    name = next((x for x in METRICS if kind.__name__.lower().startswith(x)), None)
    if name is None and not is_class:
        return
    known = "the name of a metric"
    if name is not None:
        known = f"metric={name!r} and the statistics {listed(METRICS[name].statistics)}"
    raise ValueError(
        f"metric={kind.__name__}{'' if is_class else '()'} scores text or labels, but a paired"
        f" test needs the statistics of each item. Pass {known} as two-level columns (system,"
        " statistic), or a function of summed statistics, f(S[..., statistic])."
    )


def _formula(metric: str, statistics: list[Hashable]) -> MetricFormula:
    """Return the metric's formula. For chrF, the data determine the n-gram orders."""
    if metric != "chrf":
        return METRICS[metric]
    orders = 0
    while all(f"{kind}_{orders + 1}" in statistics for kind in ("hyp", "ref", "match")):
        orders += 1
    return chrf_formula(max(orders, 1))


def _chosen(
    metric: str, formula: MetricFormula, statistics: list[Hashable], *, one_level: bool
) -> tuple[list[Hashable], bool]:
    """Return the metric's statistics, and whether the formula needs an item count."""
    single = metric in _ONE_COLUMN or (metric == "accuracy" and "correct" not in statistics)
    if single and len(statistics) == 1:
        return statistics, metric in _COUNTED
    if metric in _ONE_COLUMN:
        raise ValueError(
            f"metric={metric!r} takes one column per system, but data has the statistics"
            f" {listed(statistics)}. Choose one of them, for example data.xs({statistics[0]!r},"
            " axis=1, level=...), or pass a metric that uses several statistics, such as"
            " metric='f1' or 'bleu'."
        )
    needed = [
        name
        for name in formula.statistics
        if name in statistics or (metric, name) != ("accuracy", "total")
    ]
    missing = [name for name in needed if name not in statistics]
    if missing:
        have = f"the statistics {listed(statistics)}, without {listed(missing)}."
        raise ValueError(
            f"metric={metric!r} needs the statistics {listed(needed, most=4)}, but data has"
            f" {f'one column per system.{_SCORES}' if one_level else have} from_sacrebleu and"
            " from_predictions create two-level columns (system, statistic)."
        )
    return list(needed), metric == "accuracy" and "total" not in needed


def _kind(returned: AnyArray) -> str:
    return type(returned.item()).__name__ if returned.ndim == 0 else f"dtype {returned.dtype}"


def _vectorised(function: Callable[[AnyArray], Any], name: str) -> Score:
    """Wrap a user's function: check the shape, and replace infinity with NaN."""

    def score(sums: AnyArray) -> FloatArray:
        try:
            with np.errstate(all="ignore"):
                scores = np.asarray(function(np.asarray(sums, dtype=float)))
        except Exception as error:
            raise ValueError(
                f"metric={name} raised {type(error).__name__}: {error}. The function receives the"
                f" sums of {sums.shape[-1]} statistics as an array of shape {sums.shape} and must"
                f" return scores of shape {sums.shape[:-1]}: write it with S[..., 0], S[..., 1],"
                " and so on."
            ) from error
        if scores.dtype.kind not in "biuf":
            raise TypeError(
                f"metric={name} returned {_kind(scores)}, but scores must be real numbers. Return "
                f"an array of shape {sums.shape[:-1]}."
            )
        scores = scores.astype(float)
        if scores.shape != sums.shape[:-1]:
            raise ValueError(
                f"metric={name} returned shape {scores.shape} instead of {sums.shape[:-1]} for sums"
                f" of shape {sums.shape}. The statistics are on the last axis: write the function"
                " with S[..., 0], S[..., 1], and so on."
            )
        return np.where(np.isfinite(scores), scores, np.nan)  # x/0 and 0/0 are undefined

    return score


# ------------------------------------------------------------- Checks of statistics and of counts


def check_complete(values: FloatArray, systems: list[Hashable], labels: pd.Index) -> None:
    """Raise a ValueError unless every system has finite numbers for every item."""
    lacking: BoolArray = np.asarray(~np.isfinite(values).all(axis=2))
    if not lacking.any():
        return
    k = int(lacking.any(axis=1).argmax())
    infinite = labels[np.isinf(values[k]).any(axis=1)]
    if len(infinite):
        raise ValueError(
            f"system {shown(systems[k])} has infinite scores for {len(infinite)} of {len(labels)}"
            f" items: {listed(infinite, most=6)}. Sums over items need finite numbers. Correct"
            " these scores, or drop these items for all systems."
        )
    items = labels[lacking[k]]
    raise ValueError(
        f"system {shown(systems[k])} has no score for {len(items)} of {len(labels)} items:"
        f" {listed(items, most=6)}. A paired test needs every score: drop these items with"
        " data.dropna(), or run the system on them, but do not fill in 0. For missing ratings, pass"
        " missing='ratio'."
    )


def check_size(sizes: FloatArray, systems: list[Hashable]) -> None:
    """Raise a ValueError if squares of the largest numbers overflow or underflow."""
    for name, largest in zip(systems, sizes, strict=True):
        if largest > 1e150 or 0.0 < largest < 1e-150:
            raise ValueError(
                f"for system {shown(name)}, the largest absolute value is {largest:.3g}, and its"
                " square overflows or underflows float64. Divide the scores of all systems by the"
                " same constant, or take their logarithms."
            )


def check_counts(
    values: FloatArray, metric: Metric, systems: list[Hashable], labels: pd.Index
) -> None:
    """Raise a ValueError if a count is negative or exceeds its total."""

    def refuse(where: BoolArray, what: str) -> None:
        if where.any():
            k, item = (int(x) for x in np.argwhere(where)[0])
            raise ValueError(
                f"metric={metric.name!r}: system {shown(systems[k])} has {what} at item"
                f" {shown(labels[item])}, but the statistics must be counts. Correct this value."
            )

    places = {name: k for k, name in enumerate(metric.names)}
    for name, place in places.items():
        refuse(values[..., place] < 0.0, f"a negative {name!r}")
    for part, whole in metric.parts:
        above = values[..., places[part]] > values[..., places[whole]]
        refuse(above, f"more {part!r} than {whole!r}")


# -------------------------------------------------------------------------------------------------
# Clusters, strata and training seeds of test items.


class ItemDesign(NamedTuple):
    """Store the clusters, strata and seeds of the items."""

    cluster: IntArray | None  #: the number of each item's cluster
    strata: IntArray | None  #: the number of each item's stratum
    average: str  #: how to average over strata
    seeds: list[Hashable] | None  #: the labels of the training seeds
    missing: str
    weight: str = "item"  #: whether items or groups have equal weight
    pooled: bool = False  #: whether all systems share one variance between seeds

    @classmethod
    def of_roles(
        cls,
        roles: Roles,
        cluster: IntArray | None,
        strata: IntArray | None,
        seeds: list[Hashable] | None = None,
    ) -> ItemDesign:
        """Return the design that the roles define. ``seeds`` contains labels."""
        known = None if roles.seeds is None else seeds
        weight = roles.weight or "item"
        pooled = roles.seed_variance == "pooled"
        return cls(cluster, strata, roles.average or "macro", known, roles.missing, weight, pooled)

    def of(self, member: IntArray) -> ItemDesign:
        """Return the design for a selection of the items."""
        cluster = None if self.cluster is None else self.cluster[member]
        strata = None if self.strata is None else self.strata[member]
        return self._replace(cluster=cluster, strata=strata)


def crossed(
    values: FloatArray,
    there: BoolArray,
    metric: Metric,
    systems: list[Hashable],
    cluster: IntArray | None,
    beside: ItemDesign,
) -> Items:
    """Return Items for an array (system, seed, item, statistic) with strata and seeds.

    For means and sums, strata determine the items' weights, and seeds are averaged. For other
    metrics, each stratum and seed has separate sums.
    """
    score, linear = metric.score, metric.linear
    strata = beside.strata
    if beside.weight == "group":
        assert cluster is not None
        sizes = np.bincount(cluster).astype(float)
        values = values * (cluster.size / sizes.size / sizes)[cluster][:, np.newaxis]
    if strata is not None:
        strata = np.unique(strata, return_inverse=True)[1]
        _check_strata(strata, cluster)
    if strata is not None and beside.average == "macro":
        sizes = np.bincount(strata)
        complete = bool((values[there][..., 1:] == 1.0).all())
        if linear == "mean" and cluster is None and complete:
            values = values.copy()
            values[..., 0] *= (strata.size / (sizes.size * sizes))[strata]
        else:
            score, linear = test_items.mean_of_strata(score, sizes.size), None
            values = test_items.in_strata(values, strata)
    if beside.seeds is None:
        return Items(values[:, 0], cluster, score, metric.sign, linear, strata)
    seeds = _seeds(values, there, metric, systems, score, pooled=beside.pooled)
    if linear is not None and bool((values[there][..., 1:] == 1.0).all()):
        averaged = np.where(there[..., np.newaxis, np.newaxis], values, 0.0).sum(axis=1)
        averaged /= there.sum(axis=1)[:, np.newaxis, np.newaxis]
        return Items(averaged, cluster, score, metric.sign, linear, strata, seeds)
    apart = test_items.mean_of_seeds(score, there.shape[1])
    return Items(
        test_items.in_seeds(values, there), cluster, apart, metric.sign, None, strata, seeds
    )


def _check_strata(strata: IntArray, cluster: IntArray | None) -> None:
    """Raise a ValueError if a stratum has fewer than two units or splits a cluster."""
    drawn, what = strata, "items"
    if cluster is not None:
        pairs = np.unique(np.stack([cluster, strata]), axis=1)
        if pairs.shape[1] > cluster.max() + 1:
            raise ValueError(
                "strata and groups: a group spans several strata, but resampling draws whole"
                " groups within one stratum. Pass only one of the two, or use finer groups."
            )
        drawn, what = pairs[1], "groups"
    sizes = np.bincount(drawn)
    if sizes.min() < 2:
        raise ValueError(
            f"strata: {int((sizes < 2).sum())} of {sizes.size} strata have fewer than two {what},"
            " but resampling within a stratum needs two. Merge small strata, or omit strata."
        )


def _seeds(
    values: FloatArray,
    there: BoolArray,
    metric: Metric,
    systems: list[Hashable],
    score: Score,
    *,
    pooled: bool,
) -> test_items.Seeds:
    """Return the variation of scores between two or more training seeds."""
    alone = [systems[k] for k in np.flatnonzero(there.sum(axis=1) < 2)]
    if alone:
        raise ValueError(
            f"seeds: a single training run of {listed(alone)} cannot show the variation between"
            " runs. Train with at least two seeds (preferably five); without seeds=, the test"
            " compares only these runs and rejects far too often."
        )
    result = np.full(there.shape, np.nan)
    result[there] = score(values[there].sum(axis=1))
    if np.isnan(result[there]).any():
        k = int(np.isnan(np.where(there, result, 0.0)).any(axis=1).argmax())
        raise ValueError(
            f"seeds: metric {metric.name!r} is undefined for a training run of system "
            f"{shown(systems[k])}. Exclude this system: exclude=..."
        )
    return test_items.seeds_of(result, pooled=pooled)


# --------------- Convert long tables from :func:`rankeval_pd.per_query` to systems scored on items

COLUMNS = ("measure", "metric", "value", "n_positive", "n_retrieved", "n_judged")
OPEN = ("tied", "value_low", "value_high", "judged", "undefined")  # only with details=True
_COUNTS = ("n_positive", "n_retrieved", "n_judged")
_BESIDE = (*_COUNTS, *OPEN)


def as_items(data: pd.DataFrame | xr.Dataset) -> pd.DataFrame | xr.Dataset:
    """Convert :func:`per_query` results to systems scored on items; keep other data as is."""
    if isinstance(data, xr.Dataset):
        if "measure" not in data.dims or not all(name in data for name in _COUNTS):
            return data
        metrics = [name for name in data.data_vars if name not in _BESIDE]
        _check_one_metric(metrics, f"data[{[metrics[0], *_COUNTS]}]")
        known = data[metrics[0]].where(data["n_judged"] > 0)
        flat: pd.DataFrame = known.to_series().unstack("measure")  # noqa: PD010
        return _of_metric(
            flat.reindex(columns=data["measure"].to_numpy()).dropna(how="all"), metrics
        )
    return frame_as_items(data)


def each_metric(data: pd.DataFrame | xr.Dataset) -> list[tuple[str | None, Any]]:
    """Split :func:`per_query` results by metric, or return other data with None."""
    if isinstance(data, xr.Dataset):
        if "measure" in data.dims and all(name in data for name in _COUNTS):
            return [(str(x), data[[x, *_COUNTS]]) for x in data.data_vars if x not in _BESIDE]
    elif data.columns.names == ["metric", "system"]:
        return [(str(x), data[[x]]) for x in data.columns.unique(level=0)]
    elif _is_long(data):
        return [(str(x), part) for x, part in data.groupby("metric", sort=False)]
    return [(None, data)]


def _is_long(data: pd.DataFrame) -> bool:
    """Return whether the data are a table from :func:`per_query`."""
    if data.columns.nlevels > 1:
        return False
    place = [*data.columns].index("measure") if "measure" in data.columns else 0
    values = [*data.columns[place:]]
    return place > 0 and tuple(values[:3]) == COLUMNS[:3] and {*values} <= {*COLUMNS, *OPEN}


def frame_as_items(data: pd.DataFrame) -> pd.DataFrame:
    """Convert a :func:`per_query` table of a single metric to one row per query."""
    if data.columns.names == ["metric", "system"]:
        metrics = data.columns.unique(level=0).tolist()
        _check_one_metric(metrics, f"data[[{metrics[0]!r}]]" if metrics else "")
        return _of_metric(data.droplevel("metric", axis=1), metrics)
    if not _is_long(data):
        return data
    metrics = data["metric"].unique().tolist()
    _check_one_metric(metrics, f"data[data['metric'] == {metrics[0]!r}]" if metrics else "")
    queries = [name for name in data.columns if name not in (*COLUMNS, *OPEN)]
    table = data.pivot(index=queries, columns="measure", values="value")  # noqa: PD010
    table = table[data["measure"].unique()].rename_axis(columns="system")
    lacking = int(table.isna().any(axis=1).sum())
    if lacking:
        warn(
            f"{lacking} of {len(table)} queries are excluded because the metric is undefined for a"
            " measure. Call per_query(undefined='zero') to keep these queries, as trec_eval does."
        )
    return _of_metric(table.dropna(), metrics)


def _of_metric(table: pd.DataFrame, metrics: Sequence[Hashable]) -> pd.DataFrame:
    """Record the metric in the attrs of the table."""
    table.attrs["metric"] = str(metrics[0])
    return table


def metric_of_queries(data: pd.DataFrame) -> str | None:
    """Return the metric that is recorded for per-query values, if any."""
    metric = data.attrs.get("metric")
    if isinstance(metric, str):
        return metric
    return None


def _check_one_metric(metrics: Sequence[Hashable], one: str) -> None:
    if len(metrics) != 1:
        raise ValueError(
            f"data has the metrics {listed(metrics)}, but this method needs one score per system"
            f" and item. Select one metric: {one}."
        )
