"""Reshape long frames to one column for each system or measure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from rankeval_pd.errors import listed, shown
from rankeval_pd.forms.roles.columns import frame_column
from rankeval_pd.forms.roles.label_types import check_types
from rankeval_pd.forms.roles.roles import LONG, are_values, as_names

_OF_ITEMS = ("by", "strata", "groups")
_OF_CANDIDATES = ("gold", "key", "label", "groups")


def widened(data: Any, roles: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Reshape data to one column per system or measure, and return the other roles.

    Data without roles for a long frame are returned unchanged.
    """
    given = {name: roles[name] for name in LONG if roles.get(name) is not None}
    rest = {name: x for name, x in roles.items() if name not in LONG}
    if not given:
        return data, rest
    told = ", ".join(f"{name}={shown(x)}" for name, x in given.items())
    role = "system" if "system" in given else "measure"
    instead = f"label={shown(given['item'])}" if {*given} == {"item"} else "none of them"
    if len({"system", "measure"} & set(given)) != 1 or "score" not in given:
        raise ValueError(
            f"{told}: a long frame with one row per score needs system='...' (for rankings"
            " measure='...'), score='...', and item='...' unless the index identifies the items."
            f" Pass these roles, or {instead} if each system has a separate column."
        )
    if not isinstance(data, pd.DataFrame) or data.columns.nlevels > 1 or data.empty:
        raise TypeError(
            f"{told}: these roles need a long frame, an in-memory DataFrame with one row per score"
            " and a one-level header, but data is"
            f" {'empty' if len(data) == 0 else f'a {type(data).__name__}'}. For Dask, call"
            " ddf.compute(); for a Dataset, omit these roles."
        )
    levels = [x for x in data.index.names if x is not None and x not in data.columns]
    frame = data.reset_index(level=levels) if levels else data
    named = {name: _names(name, x, frame) for name, x in {**rest, **given}.items()}
    return _of_systems(frame, named, levels, rest) if role == "system" else _of_measures(
        frame, named, levels, rest
    )  # fmt: skip


def _names(role: str, given: Any, frame: pd.DataFrame) -> list[Hashable]:
    """Return the columns with a role, and reject unknown names."""
    if role not in (*LONG, *_OF_ITEMS, *_OF_CANDIDATES, "seeds"):
        return []
    if any(map(are_values, given if isinstance(given, list) else [given])):
        raise ValueError(
            f"{role} contains values, but a long frame needs the name of a column. Add a column,"
            f" data.assign(part=...), and pass {role}='part'."
        )
    names = as_names(given, frame.columns)
    for name in names:
        frame_column(frame, name, role)  # rejects unknown names and labels of several types
    return names


def _of_systems(
    frame: pd.DataFrame, named: Mapping[str, list[Hashable]], levels: Sequence[Hashable], rest: Any
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return one column per system, statistic and seed, indexed by item."""
    columns = [*named["system"], *named.get("seeds", [])]
    items = named.get("item") or [x for x in levels if x not in columns]
    beside = [name for role in _OF_ITEMS for name in named.get(role, [])]
    rows = _rows(frame, items, "system", columns, beside)
    wide = _spread(frame, rows, columns, named["score"], "system")
    lacking = wide.isna()
    if rest.get("missing") != "ratio" and lacking.to_numpy().any():
        worst: Any = lacking.sum().idxmax()
        column = lacking[worst]
        system = worst[1:] if len(columns) > 1 else worst[1]
        raise ValueError(
            f"system={shown(named['system'][0])}: {shown(system)} has no score for"
            f" {int(column.sum())} of {len(wide)} items ({listed(rows)}), for example"
            f" {shown(column.idxmax())}. Add the rows, keep only the items with scores for every"
            " system, or pass missing='ratio' to score each system on its available items."
        )
    several = len(named["score"]) > 1
    wide = wide.swaplevel(0, 1, axis=1) if several else wide.droplevel(0, axis=1)
    wide.columns.names = ["system", *["statistic"] * several, *columns[1:]]
    found = frame[columns[0]].drop_duplicates().tolist()
    return wide, _settled(rest, found)


def _of_measures(
    frame: pd.DataFrame, named: Mapping[str, list[Hashable]], levels: Sequence[Hashable], rest: Any
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return one column per measure or run, and the candidates' other columns."""
    [measure], by = named["measure"], named.get("by", [])
    by = by or [name for name in ("query",) if name in frame]
    items = named.get("item") or [x for x in ("document",) if x in frame] or list(levels)
    rows = _rows(frame, items, "measure", [measure], by)
    # a row without a measure name is a judged candidate that no list contains
    here = frame[frame[measure].notna()]
    wide = _spread(here, rows, [measure], named["score"][:1], "measure").droplevel(0, axis=1)
    others = [name for name in frame if name not in (*rows, measure, *named["score"])]
    first = frame[~frame.duplicated(rows)].set_index(rows)
    # number the rows in the order of first appearance
    where = frame.groupby(rows, sort=False).ngroup().to_numpy()
    differ = {
        name for name in others if not first[name].iloc[where].array.equals(frame[name].array)
    }
    roles = {x for role in _OF_CANDIDATES for x in named.get(role, [])} | {"gold", "grade"}
    if lost := [name for name in others if name in differ & roles]:
        raise ValueError(
            f"{shown(lost[0])} has several values for one candidate ({listed(rows)}) in the long"
            " frame. Pass all columns that identify a candidate as item=['...', '...'] and by=...,"
            " or correct the values."
        )
    kept = first[[name for name in others if name not in differ]]
    if both := [name for name in wide if name in kept]:
        raise ValueError(
            f"{listed(both)}: both a measure and a column have this name. Rename one of them."
        )
    return kept.join(wide), _settled(rest, list(wide))


def _rows(
    frame: pd.DataFrame, items: Sequence[Hashable], role: str, others: list[Hashable],
    beside: list[Hashable],
) -> list[Hashable]:  # fmt: skip
    """Return the columns that identify an item, and reject missing values."""
    if not items or set(items) & set(others):
        raise ValueError(
            f"{role}={shown(others[0])}, item={shown(list(items) or None)}: no column identifies"
            " the items. Pass one or more columns: item='...' or item=['...', '...']."
        )
    rows = list(dict.fromkeys([*beside, *items] if role == "measure" else [*items, *beside]))
    for name in rows:
        check_types(frame[name], "item", name)
    for name in rows if role == "measure" else [*rows, *others]:
        if missing := int(frame[name].isna().sum()):
            raise ValueError(
                f"{shown(name)} has {missing} missing values in {len(frame)} rows, but this column"
                " identifies the rows of a long frame. Fill in these values, or drop the rows:"
                f" data.dropna(subset=[{name!r}])."
            )
    return rows


def _settled(rest: Mapping[str, Any], found: list[Hashable]) -> dict[str, Any]:
    """Return the roles with the names from a long frame as ``measures``."""
    out = as_names(rest.get("exclude"), found)
    kept = [name for name in found if name not in out]
    return {**rest, "measures": rest.get("measures") or kept, "exclude": None}


def _spread(
    frame: pd.DataFrame, rows: list[Hashable], columns: list[Hashable], scores: list[Hashable],
    role: str,
) -> pd.DataFrame:  # fmt: skip
    """Return scores (item, (score, system, ...)) in order of appearance."""
    for name in scores:
        if not pd.api.types.is_numeric_dtype(frame[name].dtype):
            raise ValueError(
                f"score={shown(name)} is of type {frame[name].dtype}, for example"
                f" {shown(frame[name].iloc[0])}, but scores must be numbers or booleans. Convert"
                " the scores, or pass another column."
            )
    keys = [*rows, *columns]
    again = frame.duplicated(keys)
    if again.any():
        where = frame.loc[again.to_numpy(), keys].iloc[0].to_dict()
        raise ValueError(
            f"the combination of {listed(keys)} is not unique (repeated rows: {int(again.sum())},"
            f" for example {shown(where)}), but a {role} must have one score per item. Pass the"
            " columns that distinguish the rows, item=['...',"
            f" '...']{', seeds=..., strata=...' if role == 'system' else ', by=...'}; or average"
            f" the scores, data.groupby({keys!r}).mean()."
        )
    plain = frame.set_index(keys)[scores]
    order = frame[columns].drop_duplicates()
    if len(plain) < frame[rows].drop_duplicates().shape[0] * len(order):
        plain = plain.astype(float)
    wide: Any = plain.unstack(columns)  # noqa: PD010
    wanted = [(score, *x) for score in scores for x in order.itertuples(index=False)]
    result: pd.DataFrame = wide[wanted]
    return result
