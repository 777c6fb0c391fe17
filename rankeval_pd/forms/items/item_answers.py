"""Apply functions to systems scored on items, group by group.

In this module, a question is a function that takes
:class:`rankeval_pd.stats.resampling.test_items.Items` and returns named columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from rankeval_pd.errors import is_known, shown, unknown_name
from rankeval_pd.forms.items.item_roles import check_items, item_roles
from rankeval_pd.forms.items.items import (
    ItemTable,
    read_frame,
    warn_of_shape,
)
from rankeval_pd.forms.items.metric_columns import Metric, frame_as_items, metric_of_queries
from rankeval_pd.forms.lazy.engine import Graph
from rankeval_pd.forms.lazy.frame_heads import is_dask_frame
from rankeval_pd.forms.lazy.item_sums import (
    FEW,
    OF_FRAME,
    ItemNeeds,
    check_asked,
    frame_items,
    gather,
)
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.resampling.test_items import AnyItems

Finish = Callable[[list[xr.Dataset], list[Hashable]], list[xr.Dataset]]


class ItemQuestion(NamedTuple):
    """Declare a function that processes the items in one group."""

    #: a function that takes the items, the pairs and the number of groups
    ask: Callable[[AnyItems, IntArray, int], Sequence[AnyArray]]
    names: tuple[str, ...]  #: dimensions of the resulting columns
    dtypes: tuple[type, ...]
    over: str  #: "pair" or "system"
    of_pairs: tuple[str, ...] = ()  #: columns with one value per pair if ``over`` is "system"
    #: converts all answers and the group dimensions to the final answers
    finish: Finish | None = None
    #: returns the sums needed from distributed items for this number of pairs
    spread: Callable[[int], ItemNeeds] | None = None
    #: describes the family of tests, given the pairs and the number of groups
    family: Callable[[IntArray, int], Mapping[str, Any]] = lambda _pairs, _groups: {}

    def dim(self, name: str) -> str:
        """Return the name of an array's last dimension."""
        return "pair" if name in self.of_pairs else self.over


Relate = Callable[[list[Hashable], IntArray], AnyArray]


def answer_items(
    data: Data,
    roles: Mapping[str, Any],
    question: ItemQuestion,
    columns: Sequence[str],
    *,
    a: Hashable = None,
    b: Hashable = None,
    baseline: Hashable = None,
    relate: Relate | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Data:
    """Apply the question to every group, and return a result of the data's type.

    Parameters
    ----------
    data : DataFrame or Dataset
    roles : mapping
        The roles given as keywords.
    question : Question
    columns : sequence of str
        The columns of the result, in order.
    a, b : names of systems, optional
        Systems to compare. If you pass ``a`` and ``b``, one pair is compared. If you pass only
        ``a``, all pairs with ``a`` are compared. By default, all pairs are compared.
    baseline : name of a system, optional
        The system that every other system is compared with, as an alternative to ``a`` and ``b``.
    relate : callable, optional
        A function that takes the system names and the pairs, and returns the relations.
    attrs : mapping, optional
        Notes on how the result was computed.
    """
    chosen = item_roles(roles)
    ddf: Any = data
    spread = is_dask_frame(ddf)
    if spread:
        check_asked(None if question.spread is None else question.spread(1), chosen, OF_FRAME)
        data = ddf._meta
    check_items(data)
    data = frame_as_items(data)
    table = read_frame(data, chosen)
    if not spread:
        warn_of_shape(data, chosen, table.systems)
    table = table._replace(keys=tables.keys_apart(table.keys, columns))
    pairs = asked_pairs(table.systems, a, b, baseline, needed=question.over == "pair")
    relation: dict[Hashable, Any] = {}
    if relate is not None:
        relation["relation"] = ("pair", relate(table.systems, pairs))
    results = []
    for number, rows in enumerate(table.members):
        items = _gathered(ddf, table, chosen, question, pairs) if spread else table.items(rows)
        computed = question.ask(items, pairs, len(table.members))
        result = xr.Dataset(
            {
                name: (question.dim(name), np.asarray(values))
                for name, values in zip(question.names, computed, strict=True)
            }
        )
        result = _labeled(result, table.systems, pairs, question.over)
        exists = np.ones(result.sizes[question.over], dtype=bool)
        result = result.assign({"exists": (question.over, exists), **relation}).assign_coords(
            {tables.GROUP: number}
        )
        results.append(result)
    if not results:
        raise ValueError(
            "data has no items, but a comparison needs at least two. Pass at least two rows."
        )
    if question.finish is not None:
        results = question.finish(results, [tables.GROUP])
    results = [_in_range(result, table.metric) for result in results]
    family = question.family(pairs, len(table.members))
    notes = {**_metric_notes(table.metric, chosen, data), **(attrs or {}), **family}
    return tables.leave_frame(results, table.keys, columns, attrs=notes)


def _gathered(
    ddf: Any, table: ItemTable, roles: Roles, question: ItemQuestion, pairs: IntArray
) -> AnyItems:
    """Return the statistics of the items in a Dask DataFrame, summed on the workers."""
    graph = Graph()
    parts, n_items = frame_items(graph, ddf, table, roles)
    if n_items <= FEW:
        whole = ddf.compute()
        few = read_frame(whole, replace(roles, measures=table.systems, exclude=None))
        return few.items(np.arange(n_items))
    assert question.spread is not None
    asked = question.spread(len(pairs))
    name = gather(graph, parts, n_items, table.metric, table.systems, pairs, asked)
    gathered: AnyItems = graph.delayed(name).compute()
    return gathered


def _in_range(result: xr.Dataset, metric: Metric) -> xr.Dataset:
    """Clip the limits of scores and gains to the range of the metric."""
    least = -metric.most if "gain" in result else 0.0
    names = ("ci_low", "ci_high", "ci_low_alone", "ci_high_alone")
    if np.isinf(metric.most):
        return result
    return result.assign({x: result[x].clip(least, metric.most) for x in names if x in result})


def _metric_notes(metric: Metric, roles: Roles, data: Any) -> dict[str, Any]:
    """Return attrs that describe the metric and mark user-defined functions."""
    name = metric.name if metric.names else f"function {metric.name}"
    told = {"metric": name, "higher_is_better": metric.sign > 0.0, "groups": roles.groups}
    of = metric_of_queries(data)
    if of is not None and name == "mean":
        told["of"] = of
    if len(roles.factors) == 1:
        told["weight"] = roles.weight or "item"
    if roles.strata is not None:
        told |= {"strata": roles.strata, "average": roles.average or "macro"}
    if roles.seeds is not None:
        told |= {"seeds": roles.seeds, "seed_variance": roles.seed_variance or "each"}
    if roles.missing != "raise":
        told["missing"] = roles.missing
    return told


def _labeled(result: xr.Dataset, systems: list[Hashable], pairs: IntArray, over: str) -> xr.Dataset:
    """Label the result with system names; the better system of each pair comes first."""
    names = tables.labels(systems)
    if over == "system":
        return result.assign_coords(system=("system", names))
    a, b = (xr.DataArray(pairs[:, side], dims="pair") for side in (0, 1))
    swapped = result["swapped"]
    sides = {
        name: xr.apply_ufunc(
            lambda where, first, second: names[np.where(where, second, first)],
            swapped,
            *order,
            dask="parallelized",
            output_dtypes=[object],
        )
        for name, order in {"system_a": (a, b), "system_b": (b, a)}.items()
    }
    lean: xr.DataArray = xr.apply_ufunc(
        lambda gain, first, second: _leaning(gain, names[first], names[second]),
        result["gain"],
        *(xr.where(swapped, *order) for order in ((b, a), (a, b))),
        dask="parallelized",
        output_dtypes=[object],
    )
    return result.assign_coords(sides).assign(leaning=lean)


def _leaning(gain: FloatArray, first: AnyArray, second: AnyArray) -> AnyArray:
    """Return the name of the better system, or NaN if the gain is 0."""
    none = np.full(np.shape(gain), np.nan, dtype=object)
    return np.where(gain > 0.0, first, np.where(gain < 0.0, second, none))


def asked_pairs(
    systems: list[Hashable], a: Hashable, b: Hashable, baseline: Hashable = None, *, needed: bool
) -> IntArray:
    """Return the column numbers of the systems in each pair."""
    if len(systems) < 2:
        there = f"one system, {shown(systems[0])}" if systems else "no system"
        raise ValueError(
            f"data has {there}, but a comparison needs two systems. Add a column with another"
            " system's scores on the same items, or if a column names the systems, pass system=,"
            " score= and item=."
        )
    if b is not None and a is None:
        raise ValueError(f"b={shown(b)} without a: pass both systems, a= and b=.")
    numbers = {}
    places = {name: k for k, name in enumerate(systems)}
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
