"""Ask questions about systems over test items: items come in as arrays, rows leave as a table.

A *question* is a function that takes the items of one group
(:class:`rankeval_pd.stats.items.Items`), the pairs of systems and the number of
groups. It returns named columns and the facts of the group. :func:`tabulate_items` asks it for
every group of a DataFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd import tables
from rankeval_pd.decisions.verdicts import GROUP, Rows
from rankeval_pd.doors.candidates import Data, above_door, is_dask_frame
from rankeval_pd.doors.dask import FROM_FRAME, ItemNeeds, check_needs, sums_of_items
from rankeval_pd.doors.item_tables import (
    ItemTable,
    check_items,
    item_roles,
    read_items,
)
from rankeval_pd.doors.rankings import concatenated, leave_table, named
from rankeval_pd.errors import is_known, shown, unknown_name
from rankeval_pd.progress import progress_bar
from rankeval_pd.roles import Roles
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.items import AnyItems, quiet

ItemQuestion = Callable[[AnyItems, IntArray, int], "tuple[Rows, Any]"]
Relate = Callable[[list[Hashable], IntArray], AnyArray]
_LIMITS = ("ci_low", "ci_high", "ci_low_alone", "ci_high_alone")


def tabulate_items(
    data: Data,
    roles: Mapping[str, Any],
    question: ItemQuestion,
    columns: Sequence[str],
    *,
    record: Callable[[list[Any], int], Mapping[str, Any]],
    a: Hashable = None,
    b: Hashable = None,
    baseline: Hashable = None,
    relate: Relate | None = None,
    finish: Callable[[Rows], Rows] | None = None,
    needs: Callable[[int], ItemNeeds] | None = None,
) -> Data:
    """Ask the question for every group, and return one table.

    Parameters
    ----------
    data : DataFrame or Dask DataFrame
    roles : mapping
        The roles given as keywords.
    question : callable
        A function that takes the items of a group, the pairs and the number of groups, and returns
        columns and facts. Names of systems are numbers in the columns.
    columns : sequence of str
        The columns of the result, in order.
    record : callable
        A function that takes the facts of all groups and the number of pairs, and returns the attrs
        of the result.
    a, b : names of systems, optional
        Systems to compare. If you pass ``a`` and ``b``, one pair is compared. If you pass only
        ``a``, all pairs with ``a`` are compared. By default, all pairs are compared.
    baseline : name of a system, optional
        The system that every other system is compared with, as an alternative to ``a`` and ``b``.
    relate : callable, optional
        A function that takes the system names and the pairs, and returns the relations.
    finish : callable, optional
        A function that takes the rows of all groups, for decisions about families.
    needs : callable, optional
        A function that takes the number of pairs, and returns the sums that the question needs if
        items are distributed.
    """
    chosen = item_roles(roles)
    distributed = is_dask_frame(data)
    frame: Any = data
    if distributed:
        check_needs(None if needs is None else needs(1), chosen, FROM_FRAME)
        frame = frame._meta
    check_items(frame)
    table = read_items(frame, chosen, shape=not distributed)
    keys = tables.keys_apart(table.keys, columns)
    pairs = pairs_of_systems(table.systems, a, b, baseline)
    beside = {}
    if relate is not None:
        beside["relation"] = relate(table.systems, pairs)
    parts, facts = [], []
    for number, members in enumerate(table.members):
        if distributed:
            assert needs is not None
            items = _sums_of(data, table, chosen, needs(len(pairs)), pairs)
        else:
            items = table.items(members)
        rows, of_group = question(items, pairs, len(table.members))
        group = np.full(len(rows[columns[0]]), number)
        parts.append({**rows, **beside, GROUP: group})
        facts.append(of_group)
    if not parts:
        raise ValueError(
            "data has no items, but a comparison needs at least two. Pass at least two rows."
        )
    rows = concatenated(parts)
    if finish is not None:
        rows = finish(rows)
    most = table.metric.formula.most
    if not np.isinf(most):  # clip limits to the range of the metric
        least = -most if "gain" in rows else 0.0
        for name in _LIMITS:
            if name in rows:
                rows[name] = rows[name].clip(least, most)
    for name in columns:
        if rows[name].dtype == object:  # labels
            codes, labels = pd.factorize(rows[name])
            rows[name] = named(codes, labels.tolist())
    notes = {**_metric_notes(table, chosen), **record(facts, len(pairs))}
    return above_door(leave_table(rows, keys, columns, table.systems, notes), data)


def _sums_of(
    ddf: Any, table: ItemTable, roles: Roles, needs: ItemNeeds, pairs: IntArray
) -> AnyItems:
    """Return the statistics of the items in a Dask DataFrame, summed on the workers."""
    sums = sums_of_items(ddf, table, roles, needs, pairs)
    if not isinstance(sums, pd.DataFrame):
        return sums
    few = read_items(sums, replace(roles, measures=table.systems, exclude=None))
    return few.items(np.arange(len(sums)))


def _metric_notes(table: ItemTable, roles: Roles) -> dict[str, Any]:
    """Return attrs that describe the metric and the items, and mark user-defined functions."""
    metric = table.metric
    name = metric.name
    if not metric.formula.statistics:
        name = f"function {name}"
    notes = {"metric": name, "higher_is_better": metric.sign > 0.0, "groups": roles.groups}
    if table.of is not None and name == "mean":
        notes["of"] = table.of
    if len(roles.factors) == 1:
        notes["weight"] = roles.weight or "item"
    if roles.strata is not None:
        notes |= {"strata": roles.strata, "average": roles.average or "macro"}
    if roles.seeds is not None:
        notes |= {"seeds": roles.seeds, "seed_variance": roles.seed_variance or "each"}
    if roles.missing != "raise":
        notes["missing"] = roles.missing
    return notes


@contextmanager
def resampling_bar(data: object, draws: int) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances a progress bar, or does nothing for a Dask DataFrame.

    ``draws`` is 0 if the number of draws is unknown.
    """
    if is_dask_frame(data):
        yield quiet
        return
    work = {"what": "resampling items", "unit": "draws"}
    bar = progress_bar(total=draws or None, alone=True, **work)
    with bar as step:
        yield step


def pairs_of_systems(
    systems: list[Hashable], a: Hashable, b: Hashable, baseline: Hashable = None
) -> IntArray:
    """Return the numbers of the two systems of each pair: (pair, 2)."""
    if len(systems) < 2:
        present = "no system"
        if systems:
            present = f"one system, {shown(systems[0])}"
        raise ValueError(
            f"data has {present}, but a comparison needs two systems. Add a column with another"
            " system's scores on the same items, or if a column names the systems, pass system=,"
            " score= and item=."
        )
    if b is not None and a is None:
        raise ValueError(f"b={shown(b)} without a: pass both systems, a= and b=.")
    numbers = {}
    places = dict(zip(systems, range(len(systems)), strict=True))
    if baseline is not None and (a is not None or b is not None):
        raise ValueError(
            f"baseline={shown(baseline)} with a or b: a baseline is compared with every other"
            " system. Pass baseline alone, or a and b for one pair."
        )
    for role, name in (("a", a), ("b", b), ("baseline", baseline)):
        if name is not None:
            if not is_known(name, places):
                raise unknown_name(role, name, systems)
            numbers[role] = places[name]
    if b is not None:
        if numbers["a"] == numbers["b"]:
            raise ValueError(
                f"a={shown(a)}, b={shown(b)}: these are the same system. Pass two different"
                " systems."
            )
        return np.array([[numbers["a"], numbers["b"]]])
    if baseline is not None:
        base = numbers["baseline"]
        return np.array([[k, base] for k in range(len(systems)) if k != base])
    pairs = np.stack(np.triu_indices(len(systems), 1), axis=1)
    if a is not None:
        others = [k for k in range(len(systems)) if k != numbers["a"]]
        pairs = np.array([[numbers["a"], k] for k in others])
    return pairs
