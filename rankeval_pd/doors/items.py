"""Ask questions about systems over test items: items come in as arrays, rows leave as a table.

A *question* (:class:`ItemQuestion`) takes the items of one group
(:class:`rankeval_pd.stats.items.Items`), the pairs of systems and the number of groups. It returns
named columns and the facts of the group. :func:`tabulate_items` asks it for every group of a
DataFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext
from typing import Any, Protocol, cast

import numpy as np
import pandas as pd

from rankeval_pd import tables
from rankeval_pd.decisions import GROUP, Rows
from rankeval_pd.doors.columns import (
    Data,
    concatenated,
    is_dask_frame,
    leave_table,
    named,
)
from rankeval_pd.doors.dask import check_distributed, read_distributed_items
from rankeval_pd.doors.item_tables import (
    check_items,
    item_roles,
    read_items,
    too_few,
)
from rankeval_pd.errors import check_known, listed, progress_bar, refuse_combinations, shown
from rankeval_pd.roles import check_pair
from rankeval_pd.stats import AnyArray, AnyItems, IntArray, PairOptions, Step, quiet
from rankeval_pd.tables import Keywords, Options

Families = Mapping[Hashable, Any] | Callable[[Any, Any], Any]
_LIMITS = ("ci_low", "ci_high", "ci_low_alone", "ci_high_alone")


class ItemQuestion(Protocol):
    """What a question about systems has."""

    roles: Keywords  #: the roles given as keywords
    options: PairOptions
    a: Hashable  #: compared with ``b``, or with all other systems
    b: Hashable
    baseline: Hashable  #: compared with every other system
    families: Families | None  #: of the systems
    least: int  #: fewest systems

    @property
    def columns(self) -> list[str]:
        """Return the columns of the table, in order."""
        ...

    def answer(
        self, items: AnyItems, pairs: IntArray, n_groups: int, step: Step
    ) -> tuple[Rows, Any]:
        """Return the rows and the facts of a group; names of systems are numbers."""
        ...

    def finish(self, rows: Rows) -> Rows:
        """Return the rows of all groups after decisions about families."""
        ...

    def attrs(self, facts: list[Any], n_pairs: int) -> Options:
        """Return the attrs of the table from the facts of all groups."""
        ...


def tabulate_items(data: Data, question: ItemQuestion) -> Data:
    """Ask the question for every group, and return one table."""
    chosen = item_roles(question.roles)
    distributed = is_dask_frame(data)
    frame: Any = data
    if distributed:
        check_distributed(chosen)
        frame = frame._meta
    check_items(frame)
    table = read_items(frame, chosen, first=not distributed)
    columns = question.columns
    keys = tables.keys_apart(table.keys, columns)
    if len(table.systems) < question.least:
        advice = "If a column names the systems, pass system=, score= and item=."
        raise too_few(f"data has the systems {listed(table.systems)}", "systems", advice)
    pairs = pairs_of_systems(table.systems, question.a, question.b, question.baseline)
    beside = {}
    if question.families is not None:
        beside["relation"] = relations(question.families, table.systems, pairs)
    rows: Rows
    parts, facts = [], []
    bar: Any = nullcontext(quiet)
    if not distributed:
        total = question.options.n_resamples or None  # 0 if the number of draws is unknown
        bar = progress_bar(total=total, what="resampling items", unit="draws", alone=True)
    with bar as step:
        for number, members in enumerate(table.members):
            if distributed:
                items = read_distributed_items(data, table, chosen)
            else:
                items = table.items(members)
            least, items.most = table.range_of(items, number)
            rows, of_group = question.answer(items, pairs, len(table.members), step)
            if "gain" in rows:
                least = -items.most
            for name in {*_LIMITS} & {*rows}:
                rows[name] = rows[name].clip(least, items.most)
            group = np.full(len(rows[columns[0]]), number)
            parts.append({**rows, **beside, GROUP: group})
            facts.append(of_group)
    if not parts:
        raise too_few("data has no items", "items", "Add rows.")
    rows = question.finish(concatenated(parts))
    metric = table.metric
    columns = [name for name in columns if name in rows]
    for name in columns:
        if rows[name].dtype == object:  # labels
            codes, labels = pd.factorize(rows[name])
            rows[name] = named(codes, labels.tolist())
    notes = {"metric": metric.name, "higher_is_better": metric.sign > 0.0, "groups": chosen.groups}
    if not metric.formula.statistics:  # a user's function
        notes["metric"] = f"function {metric.name}"
    if metric.name in ("bleu", "chrf", "ter"):
        notes["signature"] = frame.attrs.get("signature")
    if table.of is not None and notes["metric"] == "mean":
        notes["of"] = table.of
    if len(chosen.factors) == 1:
        notes["weight"] = chosen.weight or "item"
    if chosen.strata is not None:
        notes |= {"strata": chosen.strata, "average": chosen.average or "macro"}
    if chosen.seeds is not None:
        notes |= {"seeds": chosen.seeds, "seed_variance": chosen.seed_variance or "each"}
    if chosen.missing != "raise":
        notes["missing"] = chosen.missing
    notes |= question.attrs(facts, len(pairs))
    result: Any = leave_table(rows, keys, columns, table.systems, notes)
    return cast("Data", result)


_ALONE = [
    ("baseline", name, "A baseline is compared with every other system: omit a and b, or baseline.")
    for name in ("a", "b")
]


def pairs_of_systems(
    systems: list[Hashable], a: Hashable, b: Hashable, baseline: Hashable = None
) -> IntArray:
    """Return the numbers of the two systems of each pair: (pair, 2)."""
    if b is not None:
        check_pair(a, [b])
    refuse_combinations({"a": a, "b": b, "baseline": baseline}, _ALONE)
    for role, name in (("a", a), ("b", b), ("baseline", baseline)):
        if name is not None:
            check_known(role, [name], systems)
    places = dict(zip(systems, range(len(systems)), strict=True))
    if b is not None:
        return np.array([[places[a], places[b]]])
    if baseline is not None:
        return np.array([[k, places[baseline]] for k in places.values() if k != places[baseline]])
    if a is not None:
        return np.array([[places[a], k] for k in places.values() if k != places[a]])
    return np.stack(np.triu_indices(len(systems), 1), axis=1)


def relations(families: Families, systems: list[Hashable], pairs: IntArray) -> AnyArray:
    """Return the relation between the two systems of each pair."""
    if callable(families) and not isinstance(families, Mapping):
        return tables.labels([families(systems[i], systems[j]) for i, j in pairs])
    if isinstance(families, pd.Series):
        families = families.to_dict()
    if not isinstance(families, Mapping):
        raise TypeError(
            f"families={shown(families)}: pass a mapping from each system to its family, or a"
            " function of two names that returns the relation."
        )
    check_known("families", [systems[k] for k in np.unique(pairs)], families)
    label = families
    words = ("different", "same")
    return tables.labels([words[bool(label[systems[i]] == label[systems[j]])] for i, j in pairs])
