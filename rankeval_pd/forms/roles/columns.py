"""Find the gold label, measures and other roles, and the form of the data."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from pandas.api.types import is_bool_dtype

from rankeval_pd.errors import hushed, listed, unknown_name
from rankeval_pd.forms.out.tables import is_missing, listed_in
from rankeval_pd.forms.roles.copies import likely_gold
from rankeval_pd.forms.roles.label_types import IDENTIFYING, check_levels, check_types
from rankeval_pd.forms.roles.roles import (
    CONTINGENCY,
    MARGINS,
    Roles,
    are_values,
    as_names,
    excluded_names,
)
from rankeval_pd.stats._types import FloatArray

# ----------------------------------------------- Find the gold label and the measures


def native(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with numbers in native byte order, which pandas requires."""
    result = frame
    for place, (_, column) in enumerate(frame.items()):
        if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
            result = frame.copy(deep=False) if result is frame else result
            result.isetitem(place, column.to_numpy().astype(column.dtype.newbyteorder("=")))
    return result


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Add columns to a frame, which can have a multi-level header."""
    if frame.columns.nlevels == 1:
        return frame.assign(**columns)
    result = frame.copy(deep=False)
    for name, values in columns.items():
        result[(name, *[""] * (frame.columns.nlevels - 1))] = values
    return result


def frame_column(frame: pd.DataFrame, name: Hashable, role: str) -> pd.Series:
    """Return a column by label, or an index level by name."""
    try:
        result = _place(frame.columns, name)
    except (KeyError, TypeError, pd.errors.InvalidIndexError):
        if role in ("by", "groups", "strata", "seeds") and names_level(frame, name):
            level = list(frame.index.names).index(name)
            return frame.index.get_level_values(level).to_series(index=frame.index)
        levels = [level for level in frame.index.names if level is not None]
        known = frame.columns if role in ("measures", "cells") else [*frame.columns, *levels]
        raise unknown_name(role, name, known) from None
    if not isinstance(result, int):
        times = int(np.count_nonzero(np.arange(frame.shape[1])[result] + 1))
        if isinstance(result, np.ndarray) and result.dtype == bool:
            times = int(result.sum())
        raise ValueError(
            f"{role}: data has {times} columns named {name!r}. Rename or drop all but one of them;"
            " data.columns.duplicated() shows repeated names."
        )
    column = frame.iloc[:, result]
    if role in IDENTIFYING:
        check_types(column, role, name)
    return column


def names_level(frame: pd.DataFrame, name: object) -> bool:
    """Return whether a level of the index has this name."""
    try:
        return name in set(frame.index.names)  # a set does not compare pd.NA, but a list does
    except TypeError:  # lists and other unhashable objects are not names
        return False


def _place(columns: pd.Index, name: Hashable) -> Any:
    """Return a column's position or mask, without a sorting warning from pandas."""
    if isinstance(columns, pd.MultiIndex) and name not in set(columns):
        mask = np.array([name in {label[0]} for label in columns], dtype=bool)
        if not mask.any():
            raise KeyError(name)
        return mask
    return columns.get_loc(name)


def split_measures(data: xr.Dataset, roles: Roles, named: list[Hashable]) -> dict[Hashable, Any]:
    """Split a Dataset into possible measures along ``measure``."""
    by_name: dict[Hashable, Any] = {}
    for name, variable in data.data_vars.items():
        if roles.dim not in variable.dims or name in named:
            continue
        if "measure" not in variable.dims:
            by_name[name] = variable
            continue
        for position, label in enumerate(data["measure"].to_numpy().tolist()):
            if label in by_name or label in data.data_vars:
                raise ValueError(
                    f"measures: the Dataset has several measures named {label!r}, as variables or"
                    " along the dimension 'measure'. Rename or drop all but one of them."
                )
            by_name[label] = variable.isel(measure=position, drop=True)
    return by_name


def variables_of(data: pd.DataFrame | xr.Dataset, roles: Roles) -> dict[Hashable, list[Any]]:
    """Return the dtypes of columns, or of variables along candidates."""
    by_name: dict[Hashable, list[Any]] = {}
    if isinstance(data, pd.DataFrame):
        for label, dtype in zip(data.columns, data.dtypes, strict=True):
            by_name.setdefault(label, []).append(dtype)
    else:
        for name, variable in data.data_vars.items():
            if roles.dim in variable.dims:
                by_name[name] = [variable.dtype]
    return by_name


def is_score(dtype: Any) -> bool:
    """Return whether a column of this dtype can contain scores."""
    api = pd.api.types
    return (
        api.is_numeric_dtype(dtype)
        and not api.is_bool_dtype(dtype)
        and not api.is_complex_dtype(dtype)
    ) or (isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered))


def with_roles_of(gold: Hashable, roles: Roles, columns: Any) -> list[Hashable]:
    """Return the names of columns with a role other than measure."""
    one = [name for name in (roles.key, *roles.factors) if name is not None]
    return [gold, *as_names(roles.by, columns), *one, *as_names(roles.label, columns)]


def find_gold(data: pd.DataFrame | xr.Dataset, roles: Roles) -> Hashable:
    """Return the gold label: the role, column ``gold``, or the only boolean column."""
    if roles.higher_is_better is not None:
        raise ValueError(
            f"higher_is_better={roles.higher_is_better!r} applies only to systems scored on test"
            " items, but this method needs candidates with a gold label. Pass the measures whose"
            " small values rank first as lower_is_better=... For systems, use paired_bootstrap."
        )
    if roles.missing == "ratio":
        raise ValueError(
            "missing='ratio', the mean of the available scores, applies only to systems scored on"
            " test items. For rankings, pass 'raise', 'last', 'drop' or 'absent'."
        )
    for role in ("metric", "strata", "seeds", "average", "weight", "seed_variance"):
        if getattr(roles, role) is not None:
            raise ValueError(
                f"{role}={getattr(roles, role)!r} applies only to systems scored on test items, but"
                f" this method needs candidates with a gold label. Omit {role}, or call"
                " paired_bootstrap, paired_permutation, system_ranks or gain_by_size."
            )
    columns = variables_of(data, roles)
    if isinstance(roles.gold, list):  # votes are combined earlier if data are in memory
        raise ValueError(
            f"gold={roles.gold!r} names several annotators, but data is lazy. First compute one"
            " label per candidate, for example ddf.assign(gold=ddf[['a1', 'a2',"
            " 'a3']].mean(axis=1) > 0.5)."
        )
    if roles.gold is not None:
        if roles.gold in columns or (isinstance(data, xr.Dataset) and roles.gold in data.variables):
            gold: Hashable = roles.gold
            return gold
        raise unknown_name("gold", roles.gold, columns)
    if "gold" in columns:
        return "gold"
    candidates = [name for name, dtypes in columns.items() if pd.api.types.is_bool_dtype(dtypes[0])]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise ValueError(
            f"gold is missing and could be any of {listed(candidates)}. Pass the column that marks"
            " true positives as gold=... If the columns are systems that are right or wrong on"
            " each item, call system_ranks, summary or paired_bootstrap."
        )
    if "grade" in columns:
        raise ValueError(
            "gold is not given, but the column 'grade' may contain it. Pass gold='grade' and the"
            " lowest positive grade (min_grade=1), or call per_query('AP') or summary(['AP'])."
        )
    if (likely := likely_gold(data)) is not None:
        raise ValueError(
            f"gold is not given. The column {likely[0]!r} looks like the gold label: pass"
            f" {likely[1]}."
        )
    raise ValueError(
        "gold is not given, and no column is boolean or named 'gold' (columns:"
        f" {listed(columns, most=6)}). Pass the column that marks true positives as gold=..., or"
        " if nothing is judged, add a column: data.assign(gold=float('nan')). Systems scored on"
        " test items need no gold label: call paired_bootstrap."
    )


def measures_of(
    data: pd.DataFrame | xr.Dataset, options: Mapping[str, Any], *, every: bool = True
) -> list[Hashable]:
    """Return the measures, or an empty list if the measures are unclear."""
    known = {f.name for f in fields(Roles)} - ({"measures"} if every else set())
    try:
        roles = Roles.of({name: given for name, given in options.items() if name in known})
        if isinstance(roles.gold, list):
            out = [*as_names(roles.exclude, ()), *roles.gold[1:]]
            roles = replace(roles, gold=roles.gold[0], exclude=out)
        taken = with_roles_of(find_gold(data, roles), roles, getattr(data, "columns", ()))
        with hushed():  # the called method warns about suspicious columns
            found = find_measures(data, roles, taken, needed=True)
    except (ValueError, TypeError, KeyError):  # the called method raises the error
        return []
    # tables contain missing names as NaN
    return [np.nan if is_missing(x) else x for x in found]


def find_measures(
    data: pd.DataFrame | xr.Dataset, roles: Roles, taken: list[Hashable], *, needed: bool
) -> list[Hashable]:
    """Return the measures, by default every numeric column without a role.

    If the function needs no measure, the list is empty unless unscored candidates are dropped.
    """
    if isinstance(data, pd.DataFrame):
        columns = variables_of(data, roles)
    else:
        columns = {k: [v.dtype] for k, v in split_measures(data, roles, taken).items()}
    out = excluded_names(roles, columns)
    beside = {*taken, *out, *CONTINGENCY, *listed_in(data.attrs, MARGINS)}
    if roles.measures is not None:
        names = list(dict.fromkeys(as_names(roles.measures, columns)))
        if not names:
            raise ValueError(
                f"measures={roles.measures!r} contains no names (columns: {listed(columns)}). Pass"
                " the names of measures, or omit measures to use all of them."
            )
        for name in names:
            if name in {taken[0]}:
                raise ValueError(f"measures: {name!r} is the gold label and cannot be a measure.")
            if name not in columns:
                raise unknown_name("measures", name, columns)
    else:
        names = [
            name
            for name, dtypes in columns.items()
            if all(map(is_score, dtypes)) and name not in beside
        ]
    if not needed and roles.missing != "drop":
        return []
    if needed and not names:
        advice = "Add a column with the scores of each measure"
        if "O11" in columns:
            advice = "Call .rankeval.with_association_measures() to add scores"
        raise ValueError(
            f"measures: every numeric column has another role (columns: {listed(columns)})."
            f" {advice}, or pass the columns as measures=..."
        )
    return names


def signs_of(measures: list[Hashable], roles: Roles, columns: Any) -> FloatArray:
    """Return -1 for measures that rank small scores first, and 1 for other measures."""
    lower = set(roles.lower(measures, columns))
    return np.array([-1.0 if name in lower else 1.0 for name in measures])


# ------------------------------------------------- Functions for rankings, items and queries


def refuse_dim(dim: Hashable, own: str) -> None:
    """Raise a ValueError if ``dim`` is passed with a DataFrame."""
    if dim != own:
        raise ValueError(
            f"dim={dim!r} names a dimension of a Dataset, but data is a DataFrame. Omit dim."
        )


def refuse_by(by: Any, dim: Hashable, groups: str, advice: str) -> None:
    """Raise a ValueError if ``by`` is passed with a Dataset."""
    if by is not None and (are_values(by) or as_names(by, ())):
        raise ValueError(
            f"by={'values' if are_values(by) else repr(by)}: a Dataset stores {groups} along a"
            f" dimension other than {dim!r}, so by does not apply. {advice}"
        )


def labels_along(data: xr.Dataset, dim: Hashable) -> pd.Index:
    """Return the labels along a dimension, or numbers if there are no labels."""
    labels: pd.Index = data.indexes.get(dim, pd.RangeIndex(data.sizes[dim]))
    check_levels(labels)
    return labels


# -------------------------------------------------------------------------------------------------
# Detect rankings, systems scored on test items, pairs of systems, runs, and 2x2 tables.

Form = Literal["rankings", "items", "pairs"]


def form_of(data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]) -> Form:
    """Guess whether the data are rankings, systems scored on items, or system pairs."""
    if _are_pairs(data):
        return "pairs"
    return "items" if _are_items(data, keywords) else "rankings"


def _are_pairs(data: pd.DataFrame | xr.Dataset) -> bool:
    """Return whether the columns form a table of system pairs."""
    names = data.columns if isinstance(data, pd.DataFrame) else data.variables
    return all(name in names for name in ("system_a", "system_b", "gain", "p_value"))


def are_queries(data: pd.DataFrame, keywords: Mapping[str, Any]) -> bool:
    """Return whether the data are runs and judgments from read_trec."""
    told = any(keywords.get(role) is not None for role in ("gold", "positive", "by", "groups"))
    return not told and "grade" in data.columns and "query" in (*data.columns, *data.index.names)


def _are_items(data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]) -> bool:
    """Return whether the data are systems scored on test items."""
    of_items = (
        "system", "metric", "higher_is_better", "strata", "average", "seeds", "seed_variance",
        "weight",
    )  # fmt: skip
    if any(keywords.get(role) is not None for role in of_items):
        return True
    of_rankings = ("gold", "key", "label", "positive", "min_grade", "measure")
    if any(keywords.get(role) is not None for role in of_rankings):
        return False
    if isinstance(data, xr.Dataset):
        return "system" in data.dims and keywords.get("dim", "item") in data.dims
    return data.columns.nlevels == 2 or _are_systems(data)


def _are_systems(data: pd.DataFrame) -> bool:
    """Return whether the data have several numeric columns and no gold label."""
    numbers, flags = (sum(map(kind, data.dtypes)) for kind in (is_score, is_bool_dtype))
    labeled = "gold" in data.columns or "grade" in data.columns
    # columns that record right and wrong answers
    several = (numbers > 1 and not flags) or (flags > 1 and not numbers)
    return several and not labeled and not _has_cells(data)


def _has_cells(data: pd.DataFrame | xr.Dataset) -> bool:
    """Return whether the data have 2x2 cell counts and no measures."""
    return isinstance(data, pd.DataFrame) and {"O11", "O12", "O21", "O22"} <= {*data.columns}


def awaits_measures(data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]) -> bool:
    """Return whether the data have 2x2 cell counts and no gold label."""
    told = any(keywords.get(role) is not None for role in ("gold", "positive", "min_grade"))
    if told or not isinstance(data, pd.DataFrame) or not _has_cells(data):
        return False
    return "gold" not in data.columns and not any(map(is_bool_dtype, data.dtypes))
