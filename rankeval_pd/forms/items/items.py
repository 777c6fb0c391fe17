"""Read systems scored on test items, with the sufficient statistics of a metric.

In a DataFrame, rows are test items. Columns are systems, or the two levels of the header are
systems and statistics. There is no gold label because comparisons use each system's result on each
item.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.errors import listed, shown, warn
from rankeval_pd.forms.items.item_roles import (
    check_items,
    codes,
    item_order,
    item_roles,
    role_column,
    seeds_as_columns,
    system_columns,
)
from rankeval_pd.forms.items.metric_columns import (
    ItemDesign,
    Metric,
    check_complete,
    check_counts,
    check_size,
    crossed,
    find_metric,
    frame_as_items,
)
from rankeval_pd.forms.out.tables import is_missing
from rankeval_pd.forms.rankings.values import as_floats, group_numbers
from rankeval_pd.forms.roles.columns import frame_column, refuse_dim
from rankeval_pd.forms.roles.identifiers import warn_of_identifiers
from rankeval_pd.forms.roles.label_types import check_levels
from rankeval_pd.forms.roles.roles import Roles, are_values, as_names
from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.cluster_totals import factors_of, packed
from rankeval_pd.stats.resampling.test_items import Items, scores_of


class ItemTable(NamedTuple):
    """Store the items of a DataFrame."""

    statistics: FloatArray  #: (system[, seed], item, statistic), sorted by the items' labels
    systems: list[Hashable]
    metric: Metric
    beside: ItemDesign
    labels: pd.Index
    keys: pd.DataFrame  #: one row per group, with the columns in ``by``
    members: list[IntArray]  #: the items of each group

    def items(self, member: IntArray) -> Items:
        """Check and return the items of one group."""
        return to_items(
            self.statistics[..., member, :], self.metric, self.systems, self.labels[member],
            self.beside.of(member),
        )  # fmt: skip


def read_frame(frame: pd.DataFrame, roles: Roles) -> ItemTable:
    """Convert a DataFrame with one row per item to the internal form."""
    refuse_dim(roles.dim, "item")
    frame = frame_as_items(frame)  # tables from per_query are long
    named = [] if are_values(roles.label) else as_names(roles.label, frame.columns)
    if named and {*named} <= {*frame.columns}:
        frame = frame.set_index(named)  # the item-name column is not a system
    by = as_names(roles.by, frame.columns)
    frame = seeds_as_columns(frame, roles, by)
    role_columns = {name: role_column(frame, name, "by") for name in by}
    for name in roles.factors:
        role_columns[name] = role_column(frame, name, "groups")
    if roles.strata is not None:
        role_columns[roles.strata] = role_column(frame, roles.strata, "strata")
    columns = system_columns(frame, list(role_columns), roles)
    systems = list(dict.fromkeys(system for system, _, _ in columns))
    statistics = list(dict.fromkeys(statistic for _, statistic, _ in columns))
    seeds = list(dict.fromkeys(seed for _, _, seed in columns))
    metric = find_metric(roles, statistics, one_level=statistics == [None])
    trained = dict.fromkeys((system, seed) for system, _, seed in columns)
    wanted = {(system, name, seed) for system, seed in trained for name in metric.chosen}
    for system, statistic, _ in sorted(wanted - set(columns), key=str):
        raise ValueError(
            f"system {system!r} has no column for the statistic {statistic!r}, which metric"
            f" {metric.name!r} needs. Every system needs {listed(metric.chosen)}."
        )
    check_levels(frame.index)
    order = item_order(frame.index)
    _warn_of_repeated(frame.index, [role_columns[name] for name in by], roles)
    values = np.full((len(systems), len(seeds), len(frame), len(metric.chosen)), np.nan)
    rows, layers = ({name: k for k, name in enumerate(x)} for x in (systems, seeds))
    for system, seed in trained:
        i, j = rows[system], layers[seed]
        for k, name in enumerate(metric.chosen):
            place = columns[system, name, seed]
            values[i, j, :, k] = _numbers(frame.iloc[order, place], system)
    if roles.seeds is None:
        values = values[:, 0]
    cluster = strata = None
    if roles.factors:
        levels = (codes(role_columns[x].iloc[order], "groups", x) for x in roles.factors)
        cluster = packed(*levels)
    if roles.strata is not None:
        strata = packed(codes(role_columns[roles.strata].iloc[order], "strata", roles.strata))
    beside = ItemDesign.of_roles(roles, cluster, strata, seeds)
    keys, number = group_numbers([role_columns[name].iloc[order] for name in by], by, len(frame))
    members = [np.flatnonzero(number == group) for group in range(len(keys))]
    return ItemTable(values, systems, metric, beside, frame.index[order], keys, members)


def _warn_of_repeated(labels: pd.Index, by: list[pd.Series], roles: Roles) -> None:
    """Warn that repeated items are not independent."""
    given = roles.factors or roles.strata is not None or roles.seeds is not None
    if given or labels.is_unique or labels.names == [None]:
        return
    parts = pd.DataFrame({k: x.to_numpy() for k, x in enumerate([labels.to_series(), *by])})
    again = int(parts.duplicated().sum())
    if again:
        name = labels.names[0] if labels.nlevels == 1 else list(labels.names)
        warn(
            f"the index {name!r} has {again:,} repeated labels, but the test treats rows for the"
            f" same item, such as one per annotator, as independent. Pass groups={name!r},"
            f" or if a column names the annotators, groups=[{name!r}, 'annotator']."
        )


def warn_of_shape(frame: pd.DataFrame, roles: Roles, systems: list[Hashable]) -> None:
    """Warn if the columns of a DataFrame do not look like systems."""
    if roles.measures is not None:
        return
    if len(systems) > len(frame) > 1:
        warn(
            f"data has more systems ({len(systems)}) than items ({len(frame)}). Rows must be"
            " items, and columns must be systems: transpose with data.T. If the layout is correct,"
            " list the systems: measures=list(data)."
        )
    if frame.columns.names == ["system", "statistic"]:  # a Dataset
        first = frame.columns.get_level_values("statistic")[0]
        frame = pd.DataFrame(frame.xs(first, axis=1, level="statistic"))
        warn_of_identifiers({name: frame[name] for name in systems}, taken_as="systems")
    if frame.columns.nlevels > 1 or frame.columns.name == "system":
        return  # only system columns have statistics
    groups = {}
    by = as_names(roles.by, frame.columns)
    if by:
        columns = [role_column(frame, name, "by") for name in by]
        groups["by"] = group_numbers(columns, by, len(frame))[1]
    if len(roles.factors) == 1:
        groups["groups"] = pd.factorize(role_column(frame, roles.groups, "groups"))[0]
    warn_of_identifiers(
        {name: frame_column(frame, name, "measures") for name in systems},
        taken_as="systems",
        groups=groups,
    )


def roles_of_systems(data: pd.DataFrame, roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return roles that list the systems, so that all steps use the same systems.

    The function warns once about columns that do not look like systems.
    """
    chosen = item_roles(roles)
    if chosen.seeds is not None and chosen.seeds not in data.columns.names:
        raise ValueError(
            f"seeds={chosen.seeds!r} names a column, but this method draws subsets of the items,"
            " so each row must be one item. Pass the seeds as a column level:"
            f" data.set_index({chosen.seeds!r}, append=True).unstack()."
        )
    if frame_as_items(data) is not data:
        raise ValueError(
            "data is a long table from per_query, but this method draws subsets of the queries, so "
            "each row must be one query. Call per_query(..., wide=True)."
        )
    systems = read_frame(data, chosen).systems
    warn_of_shape(data, chosen, systems)
    return {**roles, "measures": systems, "exclude": None}


def _numbers(values: pd.Series, name: Hashable) -> FloatArray:
    if values.dtype == object:
        values = pd.to_numeric(values)
    return as_floats(
        values,
        f"{shown(name)} has",
        "and would hide small gains. Subtract the same number from all systems, or round the"
        " scores.",
    )


def system_scores(data: pd.DataFrame, roles: Roles) -> tuple[dict[Hashable, float], int]:
    """Return a score for each system (larger is better), and the number of items."""
    check_items(data)
    table = read_frame(data, roles)
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


def to_items(
    values: FloatArray,
    metric: Metric,
    systems: list[Hashable],
    labels: pd.Index,
    beside: ItemDesign,
) -> Items:
    """Check an array (system[, seed], item, statistic) and return Items."""
    if values.shape[-2] < 2:
        present = "no item"
        if len(labels):
            present = f"one item, {shown(labels[0])}"
        raise ValueError(
            f"data, or a group in data, has {present}, but resampling needs at least two items. Add"
            " items, or omit this group."
        )
    trained: BoolArray = np.ones((len(systems), 1), dtype=bool)
    if beside.seeds is None:
        values = values[:, np.newaxis]
    else:
        trained = np.asarray(~np.isnan(values).all(axis=(2, 3)))
    names: list[Hashable] = [
        systems[i] if beside.seeds is None else f"{systems[i]}, {beside.seeds[j]}"
        for i, j in np.argwhere(trained)
    ]
    ones = np.broadcast_to(
        np.where(trained, 1.0, np.nan)[..., np.newaxis, np.newaxis], (*values.shape[:3], 1)
    )
    if beside.missing == "ratio":
        values, ones = values.copy(), ones.copy()
        values[trained], ones[trained] = _without_missing(values[trained], metric, names)
    check_complete(values[trained], names, labels)
    check_size(np.abs(values[trained]).max(axis=(1, 2), initial=0.0), names)
    if metric.ones:
        values = np.concatenate([values, ones], axis=3)
    if metric.counts:
        check_counts(values[trained], metric, names, labels)
    cluster, factors = beside.cluster, list[IntArray]()
    if cluster is not None:
        factors = factors_of(cluster)
        cluster = np.unique(cluster, return_inverse=True)[1]
        if min(levels.max() for levels in (*factors, cluster)) < 1:
            raise ValueError(
                "groups: there is only one group, but resampling whole groups needs at least two."
                " Omit groups, or pass a column that contains several groups."
            )
    items = crossed(values, trained, metric, systems, cluster, beside)
    if len(factors) > 1:
        items = replace(items, factors=(factors[0], factors[1]))
    return items


def _without_missing(
    values: FloatArray, metric: Metric, names: list[Hashable]
) -> tuple[FloatArray, FloatArray]:
    """Replace missing statistics with 0, and add a count of 1 per available item."""
    if metric.name == "sum" or not metric.names:
        raise ValueError(
            f"missing='ratio' with metric={metric.name!r}: a sum over fewer items is smaller, so"
            " these scores are not comparable. Pass a different metric, such as metric='ratio'."
        )
    known: BoolArray = np.asarray(~np.isnan(values).any(axis=-1, keepdims=True))
    for name, row in zip(names, known, strict=True):
        if not row.any():
            raise ValueError(
                f"system {shown(name)} has no score for any item. Exclude this system: exclude=..."
            )
    return np.where(known, values, 0.0), known.astype(float)
