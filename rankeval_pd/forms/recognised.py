"""What form do data have? Rankings, systems over test items, pairs of systems, runs, or cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd
import xarray as xr
from pandas.api.types import is_bool_dtype

from rankeval_pd.forms.columns import is_score

Form = Literal["rankings", "items", "pairs"]


def form_of(data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]) -> Form:
    """Return what the data look like: rankings, systems over items, or pairs of systems."""
    if _are_pairs(data):
        return "pairs"
    return "items" if _are_items(data, keywords) else "rankings"


def _are_pairs(data: pd.DataFrame | xr.Dataset) -> bool:
    """Return whether this is a table of pairs of systems: by the columns that say so."""
    names = data.columns if isinstance(data, pd.DataFrame) else data.variables
    return all(name in names for name in ("system_a", "system_b", "gain", "p_value"))


def are_queries(data: pd.DataFrame, keywords: Mapping[str, Any]) -> bool:
    """Return whether this is a table of runs and judgements, as read_trec returns it."""
    told = any(keywords.get(role) is not None for role in ("gold", "positive", "by", "groups"))
    return not told and "grade" in data.columns and "query" in (*data.columns, *data.index.names)


def _are_items(data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]) -> bool:
    """Return whether these are systems over test items: by their roles, or by their form."""
    of_items = ("metric", "higher_is_better", "strata", "average", "seeds")
    if any(keywords.get(role) is not None for role in of_items):
        return True
    if any(
        keywords.get(role) is not None for role in ("gold", "key", "label", "positive", "min_grade")
    ):
        return False
    if isinstance(data, xr.Dataset):
        return "system" in data.dims and keywords.get("dim", "item") in data.dims
    return data.columns.nlevels == 2 or _are_systems(data)


def _are_systems(data: pd.DataFrame) -> bool:
    """Return whether columns of numbers stand there, several, and nothing that could be gold."""
    numbers = sum(map(is_score, data.dtypes))
    labelled = "gold" in data.columns or "grade" in data.columns
    no_label = not labelled and not any(map(is_bool_dtype, data.dtypes))
    return numbers > 1 and no_label and not _has_cells(data)


def _has_cells(data: pd.DataFrame | xr.Dataset) -> bool:
    """Return whether the cells of 2x2 tables stand there, and no measure may do so yet."""
    return isinstance(data, pd.DataFrame) and {"O11", "O12", "O21", "O22"} <= {*data.columns}


def awaits_measures(data: pd.DataFrame | xr.Dataset, keywords: Mapping[str, Any]) -> bool:
    """Return whether there are cells of 2x2 tables, and no label that would make rankings."""
    told = any(keywords.get(role) is not None for role in ("gold", "positive", "min_grade"))
    if told or not isinstance(data, pd.DataFrame) or not _has_cells(data):
        return False
    return "gold" not in data.columns and not any(map(is_bool_dtype, data.dtypes))
