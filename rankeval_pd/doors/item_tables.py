"""Read systems scored on test items, and tables of pairs of systems."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.doors.columns import (
    as_floats,
    check_guessed,
    factorized,
    group_numbers,
)
from rankeval_pd.errors import (
    check_choice,
    check_count,
    check_flag,
    check_kind,
    check_known,
    listed,
    near_miss,
    refuse_combinations,
    shown,
    warn,
)
from rankeval_pd.roles import (
    Roles,
    as_names,
    check_levels,
    excluded_names,
    frame_column,
    refuse_dim,
    refuse_foreign,
)
from rankeval_pd.stats import (
    METRICS,
    AnyArray,
    AnyItems,
    BoolArray,
    FloatArray,
    IntArray,
    Items,
    MetricFormula,
    factors_of,
    items,
    numbered_formula,
    packed,
    ranking,
    scores_of,
)
from rankeval_pd.stats.queries import range_of
from rankeval_pd.tables import (
    FrameOrDataset,
    Keywords,
    Options,
    apart,
    as_list,
    is_missing,
    only_or_all,
    taken_at,
)

# -------------------------------------------------------------------------------------------------
# Find the columns for a metric, and the clusters, strata and seeds of test items.

# ---------------------- Metrics as functions of summed statistics, and their columns

_ONE_COLUMN = ("mean", "sum", "rouge")
_COUNTED = ("mean", "rouge", "accuracy")  # the second statistic is 1 per item by default
_SCORES = " Omit metric to compare mean scores per item."


def too_few(told: str, what: str, advice: str) -> ValueError:
    """Return the error for fewer than two systems, items or groups."""
    return ValueError(f"{told}, but a paired test needs at least two {what}. {advice}")


class Metric(NamedTuple):
    """Store a metric and the names of its statistics."""

    name: str
    formula: MetricFormula  #: names no statistics if it is a user's function
    chosen: list[Hashable]  #: the columns of the statistics, in the formula's order
    ones: bool  #: whether the number of items is the last statistic
    counts: bool  #: whether the statistics are counts
    sign: float
    linear: str | None


def find_metric(roles: Roles, statistics: list[Hashable], *, one_level: bool) -> Metric:
    """Return the requested metric and its statistics.

    ``statistics`` lists the statistics in the data. For one column per system, it is [None].
    """
    metric = "mean" if roles.metric is None else roles.metric
    if callable(metric) and not isinstance(metric, type):
        name = getattr(metric, "__name__", type(metric).__name__)
        score = partial(_user_score, function=metric, name=name)
        sign = 1.0 if roles.higher_is_better in (None, True) else -1.0
        return Metric(name, MetricFormula((), score), statistics, False, False, sign, None)
    if not isinstance(metric, str) or metric not in METRICS:
        hint = near_miss(metric, METRICS, cutoff=0.7) or _SCORES * one_level
        raise ValueError(
            f"metric={shown(metric, 20)} is not a known metric.{hint} Pass one of"
            f" {listed(METRICS, 7)}, or a function of sums."
        )
    formula = numbered_formula(metric, statistics)  # the data determine orders and classes
    single = metric in _ONE_COLUMN or (metric == "accuracy" and "correct" not in statistics)
    if single and len(statistics) == 1:
        chosen = statistics
        ones = metric in _COUNTED
    else:
        chosen = _needed(metric, formula, statistics, one_level=one_level)
        ones = metric == "accuracy" and "total" not in chosen
    better = roles.higher_is_better
    if better is None:
        better = formula.higher_is_better
    return Metric(
        metric,
        formula,
        chosen,
        ones,
        counts=metric not in (*_ONE_COLUMN, "ratio", "ter"),
        sign=1.0 if better else -1.0,
        linear={"sum": "sum", **dict.fromkeys(_COUNTED, "mean")}.get(metric),
    )


def _needed(
    metric: str, formula: MetricFormula, statistics: list[Hashable], *, one_level: bool
) -> list[Hashable]:
    """Return the metric's statistics, or raise a ValueError if the data do not have them."""
    needed: list[Hashable] = [*formula.statistics]
    if metric == "accuracy" and "total" not in statistics:
        needed.remove("total")
        counted = [name for name in ("guess", "gold") if name in statistics]
        if counted:  # 'correct' counts the true positives, and an item counts even without one
            raise ValueError(
                f"metric='accuracy': beside {listed(counted)}, 'correct' counts the true positives"
                ' of one class. Call from_predictions(..., "accuracy"), or add the number of all'
                " items as a statistic 'total'."
            )
    wanted = f"the statistics {listed(needed, most=4)}"
    if metric in _ONE_COLUMN:
        wanted = "one column per system"
    elif {*needed} <= {*statistics}:
        return needed
    have = f"the statistics {listed(statistics, most=4)}."
    if one_level:
        have = f"one column per system.{_SCORES}"
    raise ValueError(
        f"metric={metric!r} needs {wanted}, but data has {have} from_sacrebleu and from_predictions"
        " create two-level columns (system, statistic)."
    )


def _user_score(sums: AnyArray, *, function: Callable[[AnyArray], Any], name: str) -> FloatArray:
    """Call a user's function: check the shape, and replace infinity with NaN."""
    wanted = f"scores of shape {sums.shape[:-1]}: write it with S[..., 0], S[..., 1], and so on"
    try:
        with np.errstate(all="ignore"):
            scores = np.asarray(function(np.asarray(sums, dtype=float)))
    except Exception as error:
        raise ValueError(
            f"metric={name} raised {type(error).__name__}: {error}. The function receives the"
            f" sums of {sums.shape[-1]} statistics as an array of shape {sums.shape} and must"
            f" return {wanted}."
        ) from error
    if scores.dtype.kind not in "biuf" or scores.shape != sums.shape[:-1]:
        raise ValueError(
            f"metric={name} returned an array of dtype {scores.dtype} and shape {scores.shape}"
            f" for sums of shape {sums.shape}. The function must return {wanted}."
        )
    scores = scores.astype(float)
    return np.where(np.isfinite(scores), scores, np.nan)  # x/0 and 0/0 are undefined


# ------------------------------------------------------------- Checks of statistics and of counts


def check_complete(values: FloatArray, systems: list[Hashable], labels: pd.Index) -> None:
    """Raise a ValueError unless every system has finite numbers for every item."""
    lacking = np.asarray(~np.isfinite(values).all(axis=2))
    if not lacking.any():
        return
    k = int(lacking.any(axis=1).argmax())
    items = labels[lacking[k]]
    what = "no score"
    advice = "; for ratings, pass missing='ratio'"
    infinite = labels[np.isinf(values[k]).any(axis=1)]
    if len(infinite):
        items, what, advice = infinite, "infinite scores", ""
    raise ValueError(
        f"system {shown(systems[k])} has {what} for {len(items)} of {len(labels)} items:"
        f" {listed(items, most=6)}. A paired test needs every score: correct the scores, or keep"
        " the items that all systems have, data.dropna() (in a long frame, see the page on missing"
        f" scores), but do not fill in 0 unless the system failed{advice}."
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
    places = {name: k for k, name in enumerate(metric.formula.statistics)}
    wrong = [(values[..., k] < 0.0, f"a negative {name!r}") for name, k in places.items()]
    for part, whole in metric.formula.parts:
        above = values[..., places[part]] > values[..., places[whole]]
        wrong.append((above, f"more {part!r} than {whole!r}"))
    for where, what in wrong:
        for k, item in np.argwhere(where)[:1].tolist():
            raise ValueError(
                f"metric={metric.name!r}: system {shown(systems[k])} has {what} at item"
                f" {shown(labels[item])}, but the statistics must be counts. Correct this value."
            )


# -------------------------------------------------------------------------------------------------
# Clusters, strata and training seeds of test items.


class ItemDesign(NamedTuple):
    """Store the clusters, strata and seeds of the items."""

    cluster: IntArray | None  #: the number of each item's cluster
    strata: IntArray | None  #: the number of each item's stratum
    seeds: list[Hashable] | None  #: the labels of the training seeds
    roles: Roles  #: how items, strata and seeds are combined


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
    score, linear = metric.formula.score, metric.linear
    strata = beside.strata
    if beside.roles.weight == "group":
        assert cluster is not None
        sizes = np.bincount(cluster).astype(float)
        values = values * (cluster.size / sizes.size / sizes)[cluster][:, np.newaxis]
    if strata is not None:
        strata = np.unique(strata, return_inverse=True)[1]
        _check_strata(strata, cluster)
    if strata is not None and beside.roles.average in (None, "macro"):
        sizes = np.bincount(strata)
        complete = bool((values[there][..., 1:] == 1.0).all())
        if linear == "mean" and cluster is None and complete:
            values = values.copy()
            values[..., 0] *= (strata.size / (sizes.size * sizes))[strata]
        else:
            score = items.mean_of_strata(score, sizes.size)
            linear = None
            values = items.in_strata(values, strata)
    if beside.seeds is None:
        return Items(values[:, 0], cluster, score, metric.sign, linear, strata)
    alone = [systems[k] for k in np.flatnonzero(there.sum(axis=1) < 2)]
    if alone:
        advice = "Train twice or more; without seeds=, the test compares only these runs."
        raise too_few(f"seeds: {listed(alone)} has a single training run", "runs", advice)
    result = np.full(there.shape, np.nan)
    result[there] = score(values[there].sum(axis=1))
    if np.isnan(result[there]).any():
        k = int(np.isnan(np.where(there, result, 0.0)).any(axis=1).argmax())
        raise ValueError(
            f"seeds: metric {metric.name!r} is undefined for a training run of system "
            f"{shown(systems[k])}. Exclude this system: exclude=..."
        )
    seeds = items.seeds_of(result, pooled=beside.roles.seed_variance == "pooled")
    if linear is not None and bool((values[there][..., 1:] == 1.0).all()):
        averaged = np.where(there[..., np.newaxis, np.newaxis], values, 0.0).sum(axis=1)
        averaged /= there.sum(axis=1)[:, np.newaxis, np.newaxis]
        return Items(averaged, cluster, score, metric.sign, linear, strata, seeds)
    apart = items.mean_of_seeds(score, there.shape[1])
    return Items(items.in_seeds(values, there), cluster, apart, metric.sign, None, strata, seeds)


def _check_strata(strata: IntArray, cluster: IntArray | None) -> None:
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
        few = f"strata: {int((sizes < 2).sum())} of {sizes.size} strata have fewer than two {what}"
        raise too_few(few, what, "Merge small strata, or omit strata.")


# --------------- Tables from :func:`rankeval_pd.per_query` as systems scored on items

METRIC = "_metric"  # the column that says of which metric a row is
COLUMNS = ("measure", "metric", "value", "n_positive", "n_retrieved", "n_judged")
OPEN = ("tied", "value_low", "value_high", "judged", "undefined")  # only with details=True


def each_metric(data: FrameOrDataset) -> list[tuple[str | None, Any]]:
    """Split a table of :func:`per_query` by metric, or return other data with None."""
    if isinstance(data, pd.DataFrame) and data.columns.names == ["metric", "system"]:
        return [(str(x), data[[x]]) for x in data.columns.unique(level=0)]
    return [(None, data)]


def as_items(data: Any) -> Any:
    """Return a table of :func:`per_query` for a single metric as one column per system."""
    if not isinstance(data, pd.DataFrame):
        return data
    if data.columns.names == ["metric", "system"]:
        metrics = data.columns.unique(level=0).tolist()
        if len(metrics) > 1:
            raise ValueError(
                f"data has the metrics {listed(metrics)}, but this method needs one score per"
                f" system and item. Select one metric: data[{metrics[:1]}]."
            )
        data = data.droplevel("metric", axis=1)
        data.attrs["metric"] = str(metrics[0])
    elif {*COLUMNS[:3]} <= {*data.columns}:
        raise ValueError(
            "data is a long table from per_query, but each row must be one query. Call"
            " per_query(..., wide=True)."
        )
    return data


# -------------------------------------------------------------------------------------------------
# Check the roles of systems scored on test items, and find the systems' columns.

_RANKINGS = "Omit {0}, or for rankings with a gold label call compare."
#: roles that only rankings have, and what to do with systems
_OF_RANKINGS_ALONE = {
    "lower_is_better": "Pass higher_is_better=False if lower scores are better for all systems.",
    "gold": "Omit gold, call compare for rankings, or from_predictions for predicted classes.",
    **dict.fromkeys(("positive", "min_grade", "key", "ties", "unjudged"), _RANKINGS),
}
_CROSSED = [
    ("groups", other, "Two crossed factors are combined with neither: pass only one factor.")
    for other in ("strata", "seeds")
]
#: options that mean nothing without another role
_NEEDED_BY = {"average": "strata", "seed_variance": "seeds"}


def item_roles(keywords: Keywords) -> Roles:
    """Return the roles, with ``dim="item"`` by default, and reject ranking roles."""
    roles = Roles.of({"dim": "item", **keywords})
    refuse_foreign(keywords, _OF_RANKINGS_ALONE, "rankings")
    check_choice("missing", roles.missing, ("raise", "ratio"))
    check_flag("higher_is_better", roles.higher_is_better, none=True)
    if len(roles.factors) > 1:
        refuse_combinations(keywords, _CROSSED)
    for option, role in _NEEDED_BY.items():
        if getattr(roles, option) is not None and getattr(roles, role) is None:
            raise ValueError(
                f"{option}={getattr(roles, option)!r} has no meaning without {role}. Pass the"
                f" column as {role}=..., or omit {option}."
            )
    if roles.weight == "group" and (
        len(roles.factors) != 1 or roles.strata is not None or roles.metric == "sum"
    ):
        raise ValueError(
            "weight='group': the mean over groups needs one group column, no strata, and a metric"
            " other than a sum. Pass the group column as groups=..., or omit weight."
        )
    return roles


def check_items(data: object, name: str = "data") -> None:
    """Raise a TypeError unless the data are a DataFrame."""
    wanted = "a pandas DataFrame with one row per test item and one column per system, or an"
    wanted += " xarray Dataset with dimensions 'item' and 'system'"
    check_kind(name, data, pd.DataFrame, wanted)


# ---------------------------- System, statistic and training-seed columns in a DataFrame


#: columns of other forms of data, and what to do with them
_OTHER_FORMS = {
    ("system",): "For a long frame, pass system='system', score='...' and item='...'",
    ("query", "document"): "For retrieved documents, call per_query('nDCG@10', wide=True) first",
    ("gold",): "For rankings with a gold label, call compare",
}


def system_columns(
    frame: pd.DataFrame, named: list[Hashable], roles: Roles
) -> dict[tuple[Hashable, Hashable, Hashable], pd.Series]:
    """Return the column of each system, statistic and training seed."""
    header: Any = frame.columns
    labels: list[Any] = list(header)
    seeds: list[Hashable] = [None] * len(labels)
    if roles.seeds is not None:
        level = list(header.names).index(roles.seeds)
        seeds = header.get_level_values(level).tolist()
        header = header.droplevel(level)
    if header.nlevels > 2:
        raise ValueError(
            f"the header of data has {header.nlevels} levels, but only two are allowed: systems and"
            " statistics. Drop the other levels: data.droplevel(..., axis=1)."
        )
    two_levels = header.nlevels == 2
    which = int(two_levels and header.names[1] == "system")  # the level of the systems
    known = list(header)
    if two_levels:
        known = [name for label in header for name in label]
    out = set(excluded_names(roles, dict.fromkeys(known)))
    beside = set(named)
    by_name: dict[tuple[Hashable, Hashable, Hashable], pd.Series] = {}
    systems: list[Hashable] = []
    columns = [column for _, column in frame.items()]
    for place, label in enumerate(list[Any](header)):
        if labels[place] in beside or (frame.columns.nlevels > 1 and labels[place][0] in beside):
            continue
        system, statistic = label, None
        if two_levels:
            system = label[which]
            statistic = label[1 - which]
        if system in out:
            continue
        key = (system, statistic, seeds[place])
        column = columns[place]
        if column.dtype == object:
            column = column.infer_objects()
            if column.dtype == object:  # a mix of numbers and None
                column = pd.Series(column.dropna().to_list())
        kinds = pd.api.types
        numeric = kinds.is_numeric_dtype(column.dtype) or kinds.is_bool_dtype(column.dtype)
        if not numeric or kinds.is_complex_dtype(column.dtype):
            continue
        if key in by_name:
            raise ValueError(
                f"data has several columns named {system!r}. Rename or drop all but one of them;"
                " data.columns.duplicated() shows repeated names."
            )
        by_name[key] = columns[place]
        systems.append(system)
    present = {*labels, *frame.index.names} - out
    for names, advice in _OTHER_FORMS.items():
        if roles.measures is None and present.issuperset(names):
            raise ValueError(
                f"data has {listed(names)}, but this method compares systems scored on test items,"
                f" with one column per system. {advice}; if all columns are systems, list them:"
                " measures=[...]."
            )
    if not by_name:
        raise ValueError(
            "data has no numeric or boolean column that can be a system (columns:"
            f" {listed(frame.columns)}). Pass one row per test item and one column per system."
        )
    if roles.measures is not None:
        systems = list(dict.fromkeys(systems))
        wanted = as_names(roles.measures, systems)
        check_known("measures", wanted, systems)
        by_name = {k: by_name[k] for name in wanted for k in by_name if k[0] in {name}}
    return by_name


# ---------------------------- The order of items by label, and the number of each item's group


def item_order(labels: pd.Index) -> IntArray:
    """Return the positions that sort the items by label.

    Random draws follow the order of labels, so the order of rows does not affect results.
    """
    try:
        if isinstance(labels, pd.MultiIndex):
            return np.asarray(labels.argsort(), dtype=np.int64)
        return np.asarray(labels.argsort(kind="stable"), dtype=np.int64)
    except TypeError:  # labels of several types
        described = pd.Index([f"{type(x).__name__}:{x}" for x in labels])
        return np.asarray(described.argsort(kind="stable"), dtype=np.int64)


def codes(values: pd.Series, role: str, name: Hashable) -> IntArray:
    """Return the group number of each item, with groups sorted by label."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    number, labels = factorized(values, role, name)
    return ranking.inverse(item_order(pd.Index(labels)))[number]


# -------------------------------------------------------------------------------------------------
# Read systems scored on test items, with the sufficient statistics of a metric.
#
# In a DataFrame, rows are test items. Columns are systems, or the two levels of the header are
# systems and statistics. There is no gold label because comparisons use each system's result on
# each item.


class ItemTable(NamedTuple):
    """Store the items of a DataFrame."""

    statistics: FloatArray  #: (system[, seed], item, statistic), sorted by the items' labels
    systems: list[Hashable]
    metric: Metric
    beside: ItemDesign
    labels: pd.Index
    keys: pd.DataFrame  #: one row per group, with the columns in ``by``
    members: list[IntArray]  #: the items of each group
    of: str | None  #: the ranking metric that :func:`per_query` recorded

    def range_of(self, items: AnyItems, group: int) -> tuple[float, float]:
        """Return the smallest and the largest possible score of a group, or ±inf if unknown."""
        if np.isfinite(self.metric.formula.most):
            return 0.0, self.metric.formula.most
        values = self.statistics[..., self.members[group], 0]
        values = values[~np.isnan(values)]
        top = float(values.max(initial=items.binary))
        if self.metric.ones and top in (1.0, 100.0) and np.isin(values, (0.0, top)).all():
            return 0.0, top
        of = self.of
        if METRIC in self.keys:
            of = self.keys[METRIC].iloc[group]
        least, most = range_of(str(of))
        if not self.metric.ones or values.min(initial=0.0) < 0.0 or not 0.0 < top <= most:
            return -np.inf, np.inf  # not the mean, or the values are not those of the metric
        return least, most

    def items(self, member: IntArray) -> Items:
        """Check and return the items of one group."""
        if self.beside.roles.missing == "ratio":  # items that no system has scored are no items
            lacking = np.isnan(self.statistics[..., member, :]).any(axis=-1)
            member = member[~lacking.reshape(-1, member.size).all(axis=0)]
        values, labels = self.statistics[..., member, :], self.labels[member]
        metric, systems, seeds = self.metric, self.systems, self.beside.seeds
        if len(labels) < 2:
            present = f"data, or a group in data, has {len(labels)} items"
            if len(labels):
                present += f" {listed(labels[:1])}"
            raise too_few(present, "items", "Add items, or omit this group.")
        trained = np.ones((len(systems), 1), dtype=bool)
        if seeds is None:
            values = values[:, np.newaxis]
        else:
            trained = np.asarray(~np.isnan(values).all(axis=(2, 3)))
        names = []
        for i, j in np.argwhere(trained):
            names.append(systems[i] if seeds is None else f"{systems[i]}, {seeds[j]}")
        ones = np.where(trained, 1.0, np.nan)[..., np.newaxis, np.newaxis]
        ones = np.broadcast_to(ones, (*values.shape[:3], 1))
        if self.beside.roles.missing == "ratio":
            known = np.asarray(~np.isnan(values).any(axis=-1, keepdims=True))
            summed = metric.name == "sum" or not metric.formula.statistics
            if summed or not known[trained].any(axis=(1, 2)).all():
                raise ValueError(
                    f"missing='ratio' needs a score of every system, and metric={metric.name!r}"
                    " must not grow with the number of items. Exclude systems without scores,"
                    " exclude=..., or pass a metric such as metric='ratio'."
                )
            # missing statistics are 0, and the last statistic counts the available items
            values = np.where(trained[..., np.newaxis, np.newaxis] & ~known, 0.0, values)
            ones = np.where(trained[..., np.newaxis, np.newaxis], known, ones)
        check_complete(values[trained], names, labels)
        check_size(np.abs(values[trained]).max(axis=(1, 2), initial=0.0), names)
        if metric.ones:
            values = np.concatenate([values, ones], axis=3)
        if metric.counts:
            check_counts(values[trained], metric, names, labels)
        cluster = taken_at(self.beside.cluster, member)
        factors = list[IntArray]()
        if cluster is not None:
            factors = factors_of(cluster)
            cluster = np.unique(cluster, return_inverse=True)[1]
            levels = min(level.max() + 1 for level in (*factors, cluster))
            if levels < 2:
                raise too_few("groups: there is only one group", "groups", "Omit groups.")
        beside = self.beside._replace(strata=taken_at(self.beside.strata, member))
        items = crossed(values, trained, metric, systems, cluster, beside)
        if len(factors) > 1:
            items = replace(items, factors=(factors[0], factors[1]))
        return items


def read_items(frame: pd.DataFrame, roles: Roles, *, first: bool = False) -> ItemTable:
    """Read a frame with one row per item; the ``first`` reading warns of identifiers."""
    refuse_dim(roles.dim, "item")
    frame = as_items(frame)
    label = as_names(roles.label, frame.columns)
    if label and {*label} <= {*frame.columns}:
        frame = frame.set_index(label)  # the item-name column is not a system
    check_levels(frame.index)
    order = item_order(frame.index)
    if (order[1:] < order[:-1]).any():
        frame = frame.iloc[order]

    # the columns of the roles and of the systems
    by = as_names(roles.by, frame.columns)
    factors = roles.factors
    if roles.seeds is not None and roles.seeds not in frame.columns.names:
        raise ValueError(
            f"seeds={shown(roles.seeds)} is not a level of the columns. If it names the seed of a"
            " row, call data.set_index(seeds, append=True).unstack(); for a long frame, also pass"
            " system=, score= and item=."
        )
    strata_names = as_names(roles.strata, frame.columns)
    beside: dict[Hashable, pd.Series] = {}
    for role, names in (("by", by), ("groups", factors), ("strata", strata_names)):
        for name in names:
            beside[name] = frame_column(frame, name, role)
    columns = system_columns(frame, list(beside), roles)
    named_systems, named_statistics, named_seeds = zip(*columns, strict=True)
    systems = [*dict.fromkeys(named_systems)]
    seeds = [*dict.fromkeys(named_seeds)]
    statistics = [*dict.fromkeys(named_statistics)]
    metric = find_metric(roles, statistics, one_level=statistics == [None])
    trained = dict.fromkeys(zip(named_systems, named_seeds, strict=True))
    for (system, seed), name in itertools.product(trained, metric.chosen):
        if (system, name, seed) not in columns:
            raise ValueError(
                f"system {system!r} has no column for the statistic {name!r}, which metric"
                f" {metric.name!r} needs. Every system needs {listed(metric.chosen)}."
            )

    # the items, sorted by label, and their groups
    domains = list(beside.values())[: len(by)]
    index = frame.index
    grouped = factors or roles.strata is not None or roles.seeds is not None
    if not (grouped or index.is_unique or index.names == [None]):
        parts = pd.DataFrame(dict(enumerate(x.to_numpy() for x in [index, *domains])))
        again = int(parts.duplicated().sum())
        if again:
            name = only_or_all(index.names)
            warn(
                f"the index {name!r} has {again:,} repeated labels, but the test treats rows for"
                " the same item, such as one per annotator, as independent. Pass"
                f" groups={name!r}, or if a column names 10 or more annotators, groups=[{name!r},"
                " 'annotator']."
            )
    values = np.full((len(systems), len(seeds), len(frame), len(metric.chosen)), np.nan)
    where = "and would hide small gains. Subtract the same number from all systems, or round the"
    for i, system in enumerate(systems):
        for j, seed in enumerate(seeds):
            for k, name in enumerate(metric.chosen):
                column = columns.get((system, name, seed))
                if column is None:  # a missing training run
                    continue
                if column.dtype == object:
                    column = pd.to_numeric(column)
                values[i, j, :, k] = as_floats(column, system, f"{where} scores.")
    labels: list[Hashable] | None = seeds
    if roles.seeds is None:
        values = values[:, 0]
        labels = None
    cluster = strata = None
    if factors:
        cluster = packed(*[codes(beside[name], "groups", name) for name in factors])
    if roles.strata is not None:
        strata = packed(codes(beside[roles.strata], "strata", roles.strata))
    design = ItemDesign(cluster, strata, labels, roles)
    keys, number = group_numbers(frame, by)
    members = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
    plain = frame.columns.nlevels == 1 and frame.columns.name != "system"
    if first and roles.measures is None and plain:
        groups = {}
        if by:
            groups["by"] = number
        if cluster is not None and len(factors) == 1:
            groups["groups"] = cluster
        scores = dict(zip(systems, columns.values(), strict=True))
        named = [*beside, *as_names(roles.exclude, frame.columns)]
        check_guessed(frame, scores, named, taken_as="systems", groups=groups)
    of = frame.attrs.get("metric")
    if not isinstance(of, str):
        of = None
    return ItemTable(values, systems, metric, design, index, keys, members, of)


def roles_of_systems(data: pd.DataFrame, roles: Keywords) -> Options:
    """Return roles that list the systems, so that all steps use the same systems.

    The function warns once about columns that do not look like systems.
    """
    chosen = item_roles(roles)
    systems = read_items(data, chosen, first=True).systems
    return {**roles, "measures": systems, "exclude": None}


def system_scores(data: pd.DataFrame, roles: Roles) -> tuple[dict[Hashable, float], int]:
    """Return a score for each system (larger is better), and the number of items."""
    check_items(data)
    table = read_items(data, roles)
    if table.keys.shape[1]:
        raise ValueError(
            f"by={roles.by!r}: this method supports only one domain. Omit by, or select one domain."
        )
    for name in filter(is_missing, table.systems):
        raise ValueError(
            f"a system is named {name!r}, which cannot be distinguished from a missing name in a"
            " table of pairs. Rename this system, or exclude it: measures=[...]."
        )
    items = table.items(table.members[0])
    return dict(zip(table.systems, scores_of(items).tolist(), strict=True)), items.n_items


# -------------------------------------------------------------------------------------------------
# Read tables of pairs from paired tests, and return results in the same form.

_NEEDED = ("system_a", "system_b", "gain", "p_value")


def pairs_table(data: Any, *more: str) -> tuple[pd.DataFrame, list[Hashable]]:
    """Return the table of pairs as a frame, and the names of the group columns.

    For every alternative, ``p_value`` becomes one-sided in the direction of the gain. ``more``
    lists further required columns. n_items can also be stored in the attrs.
    """
    check_items(data)
    known = data.columns
    added = {name: data.attrs[name] for name in more if name in data.attrs and name not in known}
    missing = [name for name in (*_NEEDED, *more) if name not in known and name not in added]
    alternative = data.attrs.get("alternative")
    adjusted = str(data.attrs.get("adjust", "")).startswith("max-t")
    told = "lost its attrs, which record whether p_value is one-sided, as pd.concat and merge do"
    if missing:
        told = f"no columns {listed(missing)}"
    elif adjusted:
        told = f"p-values adjusted by {data.attrs['adjust']}, which changes the test"
    if missing or adjusted or (alternative is None and "p_one_sided" not in data):
        raise ValueError(
            f"data has {told}. Pass the table that paired_bootstrap(details=True) returns without"
            " adjust=, or with adjust='holm'."
        )
    groups = list(data.columns[: list(data.columns).index("system_a")])
    table = data.set_flags(allows_duplicate_labels=True).assign(**added)
    table = _in_numbers(table, more)
    if "p_one_sided" in table:
        return table.assign(p_value=table["p_one_sided"]), groups
    p = table["p_value"]
    up = table["gain"] >= 0.0
    if alternative == "two-sided":
        return table.assign(p_value=p / 2.0), groups
    directed = p.where(up == (alternative == "greater"), 1.0 - p)
    return table.assign(p_value=directed), groups


def _in_numbers(table: pd.DataFrame, more: Sequence[str]) -> pd.DataFrame:
    wrong = [name for name in (*_NEEDED, *more, "relation") if (table.columns == name).sum() > 1]
    numbers = [*_NEEDED[2:], *more, *({"p_one_sided", "gain_se"} & {*table})]
    for name in numbers:
        try:
            table = table.assign(**{name: table[name].to_numpy(dtype=float, na_value=np.nan)})
        except (TypeError, ValueError):  # text, or several columns
            wrong.append(name)
    if not wrong and np.isinf(table["gain"]).any():
        wrong = ["gain"]
    elif not wrong and "n_items" in more and not (table["n_items"] > 0).all():
        wrong = ["n_items"]
    if wrong:
        raise ValueError(
            f"the columns {listed(dict.fromkeys(wrong))} of the table of pairs do not contain, once"
            " each, what paired_bootstrap returned. Pass the table that it returned."
        )
    return table


_MADE_BY = ("metric", "higher_is_better", "groups", "test", "event", "seed", "n_resamples")


def made_by(pairs: pd.DataFrame) -> Options:
    """Return attrs that describe the p-values in a table of pairs."""
    return {name: pairs.attrs[name] for name in _MADE_BY if name in pairs.attrs}


def grouped(
    table: pd.DataFrame, groups: list[Hashable]
) -> Iterator[tuple[list[Any], pd.DataFrame]]:
    """Yield the keys and the pairs of each group."""
    if not groups:
        yield [], table
        return
    for keys, part in table.groupby(groups, sort=False, observed=True):
        yield list(keys), part


def numbers_of(pairs: pd.DataFrame) -> IntArray:
    """Return the pairs as system numbers."""
    names = pd.concat([pairs["system_a"], pairs["system_b"]])
    number, _ = pd.factorize(names)
    return np.asarray(number.reshape(2, -1).T, dtype=np.int64)


def as_frame(
    rows: list[list[Any]],
    groups: list[Hashable],
    table: pd.DataFrame,
    columns: Sequence[str],
    attrs: Options,
) -> pd.DataFrame:
    """Return rows as a frame with the keys' dtypes."""
    keys: list[Hashable] = apart(groups, columns)
    header: list[Any] = [*keys, *columns]
    result = pd.DataFrame(rows, columns=pd.Index(header, tupleize_cols=False))
    dtypes: dict[Any, Any] = dict(zip(keys, (table[x].dtype for x in groups), strict=True))
    dtypes |= dict.fromkeys(columns, float)
    if "n_pairs" in columns:
        dtypes["n_pairs"] = np.int64
    if "relation" in columns and "relation" in table:
        dtypes["relation"] = table["relation"].dtype
    result = result.astype(dtypes)
    result.attrs.update(attrs)
    return result


def check_sizes(sizes: Any, largest: int | None) -> list[int]:
    """Return distinct whole numbers, or raise an error."""
    values = as_list(sizes)
    for value in values:
        check_count("sizes", value, 2)
    if not values or (largest is not None and max(values) > largest):
        raise ValueError(
            f"sizes={shown(sizes)}: pass whole numbers from 2 to the number of items ({largest})."
        )
    return list(dict.fromkeys(int(value) for value in values))
