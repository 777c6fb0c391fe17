"""Check the roles of systems scored on test items, and find the systems' columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import listed, no_table, shown, unknown_name
from rankeval_pd.forms.roles.columns import frame_column, names_level
from rankeval_pd.forms.roles.identifiers import refuse_text
from rankeval_pd.forms.roles.label_types import check_types
from rankeval_pd.forms.roles.roles import Roles, are_values, as_names, excluded_names
from rankeval_pd.stats._types import IntArray

_OF_RANKINGS = ("gold", "key", "ties")


def item_roles(keywords: Mapping[str, Any]) -> Roles:
    """Return the roles, with ``dim="item"`` by default, and reject ranking roles."""
    roles = Roles.of({"dim": "item", **keywords})
    if keywords.get("lower_is_better") is not None:
        raise ValueError(
            f"lower_is_better={keywords['lower_is_better']!r} applies only to rankings with a gold"
            " label. For systems scored on test items, pass higher_is_better=False if lower scores"
            " are better for all systems."
        )
    _check_weight(roles)
    for name in ("by", "groups", "strata"):
        if any(map(are_values, roles.factors if name == "groups" else [getattr(roles, name)])):
            raise ValueError(
                f"{name} contains values, but systems scored on test items need a column name"
                f" or index level. Add a column, data.assign(part=...), and pass {name}='part'."
            )
    for name in ("unjudged", "ties"):
        if keywords.get(name) in ("negative", "skip", "trec"):
            raise ValueError(
                f"{name}={keywords[name]!r} applies only to rankings, but data contains test"
                f" items. Omit {name}."
            )
    for name in _OF_RANKINGS:
        if keywords.get(name) is not None:
            raise ValueError(
                f"{name}={_as_given(keywords[name])} applies only to rankings with a gold label,"
                f" but this method compares systems scored on test items. Omit {name}, or for"
                f" rankings call compare.{_of_predictions(roles.metric) if name == 'gold' else ''}"
            )
    if roles.missing not in ("raise", "ratio"):
        raise ValueError(
            f"missing={roles.missing!r} applies only to rankings. For systems scored on test items,"
            " pass missing='raise', or missing='ratio' to score each system on the available items."
        )
    if roles.average is not None and roles.strata is None:
        raise ValueError(
            f"average={roles.average!r} combines strata, but there are none. Pass the strata"
            " column as strata=..., or omit average."
        )
    if roles.seed_variance is not None and roles.seeds is None:
        raise ValueError(
            f"seed_variance={roles.seed_variance!r} pools the variances across training seeds, but"
            " there are no seeds. Pass the seed column as seeds=..., or omit seed_variance."
        )
    check_better(roles.higher_is_better)
    return roles


def _check_weight(roles: Roles) -> None:
    """Raise a ValueError if a mean over groups is undefined."""
    if len(roles.factors) == 2 and (roles.strata is not None or roles.seeds is not None):
        raise ValueError(
            f"groups={roles.groups!r} with strata or seeds: two crossed factors cannot be combined"
            " with strata or seeds. Omit strata and seeds, or pass only one factor."
        )
    if roles.weight != "group":
        return
    if len(roles.factors) != 1 or roles.strata is not None or roles.metric == "sum":
        raise ValueError(
            f"weight='group' with groups={roles.groups!r}, strata={roles.strata!r},"
            f" metric={roles.metric!r}: the mean over groups needs one group column, no strata,"
            " and a metric other than a sum. Pass the group column as groups=..., or omit weight."
        )


def check_better(better: object) -> None:
    """Raise a TypeError unless the argument is True, False or None."""
    if better is not None and not isinstance(better, (bool, np.bool_)):
        raise TypeError(
            f"higher_is_better={better!r}: pass False if lower scores are better for all systems,"
            " True if higher scores are better, or None for the metric's default."
        )


def check_dimension(data: xr.Dataset, dim: Hashable) -> None:
    """Raise a ValueError unless the data have this dimension."""
    if dim not in data.dims:
        raise ValueError(
            f"data has no dimension {dim!r}, only {listed(data.dims)}. Systems scored on test items"
            " have the dimensions 'item' (named by dim=) and 'system', and one variable per"
            " statistic. For rankings with a gold label, call compare."
        )


def check_items(data: object) -> None:
    """Raise a TypeError unless the data are a DataFrame."""
    if not isinstance(data, pd.DataFrame):
        wanted = "a pandas DataFrame with one row per test item and one column per system, or an"
        raise no_table("data", data, f"{wanted} xarray Dataset with dimensions 'item' and 'system'")


def _as_given(value: object) -> str:
    """Return a role as text, or the type of the values if a role is given as values."""
    return f"<{type(value).__name__}>" if are_values(value) else shown(value)


def _of_predictions(metric: object) -> str:
    """Return advice for data with predictions and true labels."""
    if not isinstance(metric, str):
        return ""
    if metric == "accuracy":
        return (
            " For predictions, pass whether each prediction is correct: predictions.eq(y_true,"
            " axis=0)."
        )
    if metric in ("f1", "precision", "recall"):
        return (
            f" For predictions, {metric!r} needs three columns for each system: (system, 'correct')"
            " is y_pred & y_true, (system, 'guess') is y_pred, and (system, 'gold') is y_true. See"
            " the how-to 'F1 from predictions'."
        )
    return ""


# ---------------------------- System, statistic and training-seed columns in a DataFrame


def role_column(frame: pd.DataFrame, name: Hashable, role: str) -> pd.Series:
    """Return the column or index level for a role, even with a two-level header."""
    if frame.columns.nlevels > 1 and not names_level(frame, name):
        places = [i for i, c in enumerate(frame.columns) if name in {c, c[0]}]
        if len(places) == 1:
            column = frame.iloc[:, places[0]]
            check_types(column, role, name)
            return column
    return frame_column(frame, name, role)


def seeds_as_columns(frame: pd.DataFrame, roles: Roles, by: list[Hashable]) -> pd.DataFrame:
    """Return one row per item, with training seeds as a column level."""
    seeds = roles.seeds
    if seeds is None or (frame.columns.nlevels > 1 and seeds in frame.columns.names):
        return frame
    seed = role_column(frame, seeds, "seeds")
    if frame.empty:
        raise ValueError(f"seeds={shown(seeds)}: data has no items. Pass at least one row.")
    codes(seed, "seeds", seeds)
    beside = [name for name in (*by, *roles.factors, roles.strata) if name is not None]
    columns = [name for name in (*beside, seeds) if name not in frame.index.names]
    plain = frame.set_index(columns, append=True)
    if plain.index.nlevels == 1 + len(beside) and seeds in frame.index.names:
        raise ValueError(
            f"seeds={seeds!r}: no index level identifies the items. Add the item column to the"
            f" index: data.set_index([..., {seeds!r}])."
        )
    plain = plain.droplevel(seeds)
    parts = {label: plain[(seed == label).to_numpy()] for label in pd.unique(seed)}
    first = next(iter(parts.values())).index
    for label, part in parts.items():
        lacking = first.symmetric_difference(part.index)
        if part.index.has_duplicates or len(lacking):
            raise ValueError(
                f"seeds={seeds!r}: seed {shown(label)} has {len(part)} rows for {len(first)} items,"
                " but each seed needs every item once, with the same by, groups and strata. Index"
                " the rows by item: data.set_index('item')."
            )
    wide: pd.DataFrame = pd.concat(parts, axis=1, names=[seeds, *frame.columns.names])
    return wide


def system_columns(
    frame: pd.DataFrame, named: list[Hashable], roles: Roles
) -> dict[tuple[Hashable, Hashable, Hashable], int]:
    """Return the column position of each system, statistic and training seed."""
    header = frame.columns
    labels: list[Any] = list(header)
    seeds: list[Hashable] = [None] * len(labels)
    if roles.seeds is not None:
        level = list(header.names).index(roles.seeds)
        seeds = header.get_level_values(level).tolist()
        rest = [k for k in range(header.nlevels) if k != level]
        header = pd.MultiIndex.from_frame(header.to_frame().iloc[:, rest])
        header = header.get_level_values(0) if len(rest) == 1 else header
    if header.nlevels > 2:
        raise ValueError(
            f"the header of data has {header.nlevels} levels, but only two are allowed: systems and"
            " statistics. Drop the other levels: data.droplevel(..., axis=1)."
        )
    which = _system_level(header)
    known = list(header) if header.nlevels == 1 else [name for label in header for name in label]
    out = set(excluded_names(roles, dict.fromkeys(known)))
    beside = set(named)
    by_name: dict[tuple[Hashable, Hashable, Hashable], int] = {}
    inner: list[Any] = list(header)
    for place, label in enumerate(inner):
        if labels[place] in beside or (frame.columns.nlevels > 1 and labels[place][0] in beside):
            continue
        system, statistic = label, None
        if header.nlevels == 2:
            system, statistic = label[which], label[1 - which]
        if system in out:
            continue
        key = (system, statistic, seeds[place])
        if not _is_number(frame.iloc[:, place]):
            if str(key[0]) == "system":
                raise ValueError(
                    "data looks like a long table with a column 'system'. Pass the system, score"
                    " and item columns: system='system', score='...', item='...'."
                )
            continue
        if key in by_name:
            raise ValueError(
                f"data has several columns named {key[0]!r}. Rename or drop all but one of them;"
                " data.columns.duplicated() shows repeated names."
            )
        by_name[key] = place
    if roles.measures is None and frame.columns.nlevels == 1:
        refuse_text(frame, roles, [*beside, *(key[0] for key in by_name)], "systems")
    if roles.measures is None and {"query", "document"} <= {*frame.columns, *frame.index.names}:
        _refuse_runs()
    if ("gold", None, None) in by_name or not by_name:
        _refuse_rankings(frame, by_name, roles.metric)
    if roles.measures is not None:
        systems = list(dict.fromkeys(key[0] for key in by_name))
        wanted = as_names(roles.measures, systems)
        for name in wanted:
            if name not in set(systems):
                raise unknown_name("measures", name, systems)
        by_name = {k: by_name[k] for name in wanted for k in by_name if k[0] in {name}}
        if not wanted:
            raise ValueError(
                f"measures={roles.measures!r} contains no names (systems: {listed(systems)}). Name"
                " two or more systems, or omit measures."
            )
    return by_name


def _system_level(header: pd.Index) -> int:
    """Return the level of a two-level header that contains the systems."""
    return 1 if header.nlevels == 2 and header.names[1] == "system" else 0


def _is_number(values: pd.Series) -> bool:
    if values.dtype == object:
        values = values.infer_objects()
        if values.dtype == object:  # a mix of numbers and None
            values = pd.Series(values.dropna().to_list())
    api = pd.api.types
    return (
        api.is_numeric_dtype(values.dtype) or api.is_bool_dtype(values.dtype)
    ) and not api.is_complex_dtype(values.dtype)


def _refuse_runs() -> None:
    """Raise a ValueError for runs, which contain document scores."""
    raise ValueError(
        "data has columns 'query' and 'document', so each row looks like a retrieved document, not"
        " a test item. Call this method on the result of data.rankeval.per_query('nDCG@10',"
        " wide=True), or if the columns are systems, pass their names: measures=[...]."
    )


def _refuse_rankings(frame: pd.DataFrame, found: Mapping[Any, int], metric: object) -> None:
    if not found:
        raise ValueError(
            "data has no numeric or boolean column that can be a system (columns:"
            f" {listed(frame.columns)}). Pass one row per test item and one column per system."
        )
    raise ValueError(
        "data has a column 'gold', but this method compares systems scored on test items, with one"
        " column per system. For rankings with a gold label, call compare; if 'gold' is a system,"
        f" rename the column.{_of_predictions(metric)}"
    )


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
    check_types(values, role, name)
    missing = int(values.isna().sum())
    if missing:
        raise ValueError(
            f"{role}={name!r} has {missing} missing values, but every item needs a group. Fill in"
            f" these values, or drop the rows: data.dropna(subset=[{name!r}])."
        )
    plain = values.astype(object) if isinstance(values.dtype, pd.CategoricalDtype) else values
    try:
        number, labels = pd.factorize(plain)
    except TypeError as error:
        kinds = listed(sorted({type(x).__name__ for x in plain}))
        raise TypeError(
            f"{role}={name!r} has labels of type {kinds}, which cannot be distinguished. Convert"
            f" the labels to text or numbers, for example data[{name!r}].astype(str)."
        ) from error
    rank = np.empty(len(labels), dtype=np.int64)
    rank[item_order(pd.Index(labels))] = np.arange(len(labels))
    return np.asarray(rank[number])
