"""Check whether the conclusion is the same with each annotator's votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from rankeval_pd.errors import hushed
from rankeval_pd.forms.out.phrases import join
from rankeval_pd.forms.rankings.annotators import annotators_of
from rankeval_pd.forms.rankings.candidates import Data, below_door
from rankeval_pd.forms.roles.roles import ANNOTATOR, Roles

_MOST_ROWS = 50  # size of the largest table that is recomputed for each annotator
_MOST_VOTES = 2_000_000  # the largest product of annotators and candidates
_INNER = ("pair", "measure", "measure_a", "measure_b", "n", "share")


def with_verdicts(
    table: Data, data: Data, roles: Mapping[str, Any], ask: Callable[[dict[str, Any]], Data]
) -> Data:
    """Add attrs that show which annotators' votes change the conclusion.

    ``ask`` recomputes the table with different roles. ``attrs["annotators"]`` lists the annotators.
    ``attrs["annotators_differ"]`` contains a message for each annotator whose votes change the
    conclusion.
    """
    chosen = Roles.of(roles)
    names = annotators_of(chosen)
    if not names or chosen.agreement == "each" or len(names) * len(data) > _MOST_VOTES:
        return table
    if not 0 < len(table) <= _MOST_ROWS:
        return table
    with hushed():
        each = below_door(ask({**roles, "agreement": "each"}))
    overall = _verdicts(below_door(table))
    differ = []
    for name, part in each.groupby(ANNOTATOR, sort=False, observed=True):
        own = _verdicts(part.drop(columns=ANNOTATOR))
        other = [
            f"{where if len(overall) > 1 else ''}{own[where]}"
            for where, verdict in overall.items()
            if own.get(where, verdict) != verdict
        ]
        if other:
            more = f"; and {len(other) - 2} more" if len(other) > 2 else ""
            differ.append(f"{name} ({'; '.join(other[:2])}{more})")
    table.attrs["annotators"] = [str(name) for name in names]
    table.attrs |= {"annotators_differ": differ} if differ else {}
    return table


def _verdicts(table: pd.DataFrame) -> dict[str, str]:
    """Return the better measure for each row, or for each list size."""
    first = "measure_a" if "measure_a" in table else "measure"
    groups = [x for x in _order(table, first) if x not in _INNER]
    where: list[Any] = [*groups, *(x for x in ("n",) if x in table)]
    if first == "measure_a":
        where += ["measure_a", "measure_b"]
    result = {}
    parts = table.groupby(where, sort=False, observed=True) if where else [((), table)]
    for values, part in parts:
        key: dict[Any, Any] = dict(
            zip(where, values if isinstance(values, tuple) else (values,), strict=True)
        )
        texts = [f"{name} {key[name]}" for name in groups]
        texts += [f"n = {int(key['n']):,}"] if "n" in key else []
        if first == "measure_a":
            better = part["better"].iloc[0]
            pair = join([key["measure_a"], key["measure_b"]])
            texts.append(pair)
            said = "not significant" if pd.isna(better) else f"{better} is better"
        else:
            best = part.loc[part["tied_for_best"].astype(bool), "measure"]
            said = f"{join(sorted(map(str, best)))} {'is' if len(best) == 1 else 'are'} best"
        result[f"{', '.join(texts)}: " if texts else ""] = said
    return result


def _order(table: pd.DataFrame, first: str) -> list[Any]:
    """Return the names of the group columns, which come first."""
    values = ("difference", "value", "precision_a", "rank_low", "lift_a", "recall_a")
    columns = list(table.columns)
    end = min(columns.index(x) for x in (first, *values) if x in columns)
    return columns[:end]
