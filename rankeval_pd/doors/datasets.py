"""Answer a Dataset as the DataFrame that it equals.

::

    Dataset        one row per candidate, item, or query and document; the other dimensions
       |           (the batch) become columns with the numbers of the groups, by=[...]
    DataFrame      the functions only get DataFrames
       |
    table          one row per group, measure or pair, and n
       |
    Dataset        the layout that is declared beside the function: Capabilities(layout="pair n")

A Dataset in chunks stays lazy: :func:`xarray.map_blocks` asks the same question of each block of
groups. A block of the same shape with made-up values shows the labels and dtypes of the answer.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import prod
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from pandas.api.extensions import ExtensionDtype

from rankeval_pd.doors.columns import WIDTH, check_n, true_values, with_given_dataset
from rankeval_pd.doors.item_tables import check_dimension
from rankeval_pd.errors import hushed, listed, warn
from rankeval_pd.memory import check_memory
from rankeval_pd.options import details_wanted, held
from rankeval_pd.progress import SHOWN
from rankeval_pd.roles import (
    ANNOTATOR,
    Roles,
    are_values,
    as_names,
    default_of,
    form_of,
    is_score,
    refuse_by,
)
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.tables import as_list, as_rows, labels

# -------------------------------------------------------------------------------------------------
# The door: what is asked, and of which kind of data


def taking_datasets(function: Callable[..., Any], able: Any) -> Callable[..., Any]:
    """Let a function of DataFrames answer Datasets, in the layout of its capabilities."""
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def answered(*args: Any, **keywords: Any) -> Any:
        data = args[0] if args else keywords.get("data")
        if not isinstance(data, xr.Dataset):
            return function(*args, **keywords)
        named = dict(zip(names, args, strict=False))
        if {*named} & {*keywords}:
            return function(*args, **keywords)  # raises Python's error
        del (options := {**named, **keywords})[names[0]]
        return answer_dataset(function, able, data, options)

    return answered


@dataclass(frozen=True)
class Question:
    """Store what is asked of a Dataset."""

    function: Callable[..., Any]  #: takes a DataFrame, and returns a table
    form: str  #: rankings, items or queries
    layout: tuple[str, ...]  #: the dimensions of the result after those of the batch
    options: dict[str, Any]  #: the other arguments
    dim: Hashable  #: the dimension of the candidates or items
    scored: bool  #: whether the function needs scores
    pooled: bool = False  #: whether all groups together make one result


def answer_dataset(
    function: Callable[..., Any], able: Any, data: xr.Dataset, options: dict[str, Any]
) -> xr.Dataset:
    """Return what the function answers for the DataFrame that equals the data."""
    parameters = inspect.signature(function).parameters
    if able.pairs:
        return _answer_pairs(function, data, options)
    form = _form(parameters, data, options)
    dim = options.pop("dim", default_of("dim", items=form == "items"))
    used = able.scores or options.get("missing") == "drop"
    layout = able.layout_of(options, form)
    question = Question(function, form, layout, options, dim, used, able.pooled)
    data, question = _checked(data, question)
    if form == "items" and able.pooled:
        _refuse_batch(_read_items(data, question).batch)
    if "data" in question.layout:
        return _rows_of_data(data.compute(), question)
    if not all(data.sizes.values()):
        kept, batch = _with_roles_only(data, question)
        if data.sizes[dim] and not all(data.sizes[d] for d in batch):
            return _of_nothing(kept, batch, question)
    lazy = any(x.chunks is not None for x in data.variables.values())
    if not lazy or "row" in question.layout or not all(data.sizes.values()):
        return _answer(data.compute(), question)[0]
    return _answer_in_blocks(data, question, together=_is_together(able, parameters, options, form))


def _form(parameters: Mapping[str, Any], data: xr.Dataset, options: Mapping[str, Any]) -> str:
    """Return whether the data are rankings, items or queries."""
    if "metrics" in parameters:
        return "queries"
    if "undefined" in parameters and _are_names(options.get("n")):
        return "queries"
    if "seeds" not in parameters:
        return "rankings"
    if "key" not in parameters:
        return "items"
    return form_of(data, options)


def _are_names(n: Any) -> bool:
    """Return whether n contains names of metrics instead of list sizes."""
    return any(isinstance(x, str) for x in as_list(n))


def _is_together(
    able: Any,
    parameters: Mapping[str, inspect.Parameter],
    options: Mapping[str, Any],
    form: str,
) -> bool:
    """Return whether a row depends on several groups, so that one block needs all of them."""
    if able.pooled or options.get("combine"):
        return True
    if form == "queries" and "metrics" not in parameters:  # means over all queries
        return True
    if options.get("average") is not None and form != "items":
        return True
    if "adjust" not in parameters or "adjust_over" not in parameters:
        return False
    usual = parameters["adjust_over"].default
    adjusted = options.get("adjust", parameters["adjust"].default)
    return adjusted is not None and usual == "all" and options.get("adjust_over") != "group"


def _checked(data: xr.Dataset, question: Question) -> tuple[xr.Dataset, Question]:
    """Check the dimensions, and store values given for a role as variables."""
    by, dim, form = question.options.get("by"), question.dim, question.form
    if form == "items":
        refuse_by(by, dim, "domains", "Omit by, or pass a DataFrame.")
        for name in (dim, *_header(question)):
            check_dimension(data, name)
        return data, question
    _check_dim(data, dim)
    if form == "queries":
        refuse_by(by, dim, "queries", "Omit by.")
        if question.options.get("wide"):
            raise ValueError(
                "wide=True applies only to DataFrames. Omit wide, and for paired tests pass"
                " found.rename({'query': 'item', 'measure': 'system'})[['AP']]."
            )
        return data, question
    advice = (
        "Omit by. To add such a dimension, use data.groupby and unstack, which pad smaller groups"
        " with NaN."
    )
    refuse_by(by, dim, "groups", advice)
    return _with_values(data, question)


def _check_dim(data: xr.Dataset, dim: Hashable) -> None:
    """Raise a ValueError unless the Dataset has the candidate dimension."""
    if dim not in data.dims:
        raise ValueError(
            f"dim={dim!r} is not a dimension of data, which has the dimensions"
            f" {listed(data.dims)}. Pass the candidate dimension as dim=..."
        )
    if dim != "candidate" and "candidate" in data.dims:
        raise ValueError(
            f"dim={dim!r}, but data also has a dimension 'candidate', which would be treated"
            " as a batch. Omit dim if 'candidate' is the dimension of the candidates; otherwise"
            " rename 'candidate': data.rename(candidate='batch')."
        )


_GIVEN = ("gold", "key", "label", "groups")
_NAMED = (*_GIVEN, "judged_with")


def _with_values(data: xr.Dataset, question: Question) -> tuple[xr.Dataset, Question]:
    """Store the arrays, Series and DataArrays given for a role as variables."""
    options = question.options
    given = {x: options[x] for x in _GIVEN if options.get(x) is not None}
    if any(are_values(x) for value in given.values() for x in _names_in(value)):
        named = {x: options[x] for x in ("measures", *given) if options.get(x) is not None}
        roles = Roles.of({**named, "dim": question.dim})
        data, roles = with_given_dataset(data, roles)
        options = {**options, **{x: getattr(roles, x) for x in given}}
    rate = options.get("judged_with")
    if are_values(rate):
        if not isinstance(rate, xr.DataArray):
            rate = (question.dim, np.asarray(rate))
        data = data.assign({"judged_with": rate})
        options = {**options, "judged_with": "judged_with"}
    return data, replace(question, options=options)


def _names_in(given: Any) -> list[Any]:
    """Return what is given for a role as a list."""
    if given is None:
        return []
    if isinstance(given, list | set):
        return list(given)
    return [given]


def _header(question: Question) -> list[Any]:
    """Return the dimensions of systems scored on test items: system, and seeds if given."""
    seeds = question.options.get("seeds")
    if seeds is None:
        return ["system"]
    return ["system", seeds]


# -------------------------------------------------------------------------------------------------
# From a Dataset to a frame


@dataclass(frozen=True)
class Reading:
    """Store the frame that equals a Dataset."""

    data: xr.Dataset
    question: Question
    frame: pd.DataFrame
    batch: list[Hashable]  #: dimensions that are groups; the frame numbers the groups
    names: list[Hashable]  #: the measures or systems in order
    options: dict[str, Any]  #: the arguments of the function
    ragged: bool = False  #: whether rows can be missing, so that counts are floats
    kept: Any = None  #: whether each candidate is a row and not padding


def _read(data: xr.Dataset, question: Question) -> Reading:
    if question.form == "items":
        reading = _read_items(data, question)
    else:
        reading = _read_rankings(data, question)
    reading.frame.attrs = {**data.attrs, **reading.frame.attrs}
    return reading


@dataclass(frozen=True)
class _Columns:
    """Store the variables of a Dataset of rankings that become columns."""

    columns: dict[Hashable, xr.Variable]
    golds: list[Hashable]  #: the gold label, or the labels of several annotators
    scores: list[Hashable]
    batch: list[Hashable]
    sources: set[Hashable]  #: the names of these variables in the data


def _ranking_columns(data: xr.Dataset, question: Question) -> _Columns:
    """Find the variables that have a role or may be measures."""
    dim, options = question.dim, question.options
    golds = _golds(data, question)
    roles = [x for role in _NAMED[1:] for x in _names_in(options.get(role))]
    if question.form == "queries" and options.get("key") is None:
        roles.append("document")
    roles = [x for x in roles if x in data.variables and x not in data.xindexes]
    for name in dict.fromkeys([*golds, *roles]):
        if dim not in data[name].dims:
            raise ValueError(
                f"{name!r} has the dimensions {listed(data[name].dims)}, but a variable with a role"
                f" needs the dimension {dim!r}. Pass another variable."
            )
        if "measure" in data[name].dims:
            raise ValueError(
                f"gold={name!r} has the dimension 'measure', but all measures share the gold label."
                " Select one measure, .isel(measure=0), or rename the dimension."
            )
    columns: dict[Hashable, xr.Variable] = {}
    source: dict[Hashable, Hashable] = {}
    for name, variable in data.data_vars.items():
        if dim in variable.dims:
            parts = _parts_of(data, name, "measure" if name not in golds else ANNOTATOR)
            if twice := [x for x in parts if x in columns or (x != name and x in data.data_vars)]:
                raise ValueError(
                    f"measures: the Dataset has several measures named {twice[0]!r}, as variables"
                    " or along the dimension 'measure'. Rename or drop all but one of them."
                )
            columns |= parts
            source |= dict.fromkeys(parts, name)
    for name in [*golds, *roles]:
        if name in data.coords:
            columns[name], source[name] = data[name].variable, name
    labels_of_golds = [x for name in golds for x in columns if source[x] == name]
    scores = []
    if question.scored:
        scores = _score_columns(columns, {*labels_of_golds, *roles}, options)
    meant = [*labels_of_golds, *scores, *roles]
    dims = {d for x in meant for d in columns[x].dims}
    batch = [d for d in data.dims if d in dims and d not in (dim, "measure", ANNOTATOR)]
    columns = {x: v for x, v in columns.items() if {*v.dims} <= {dim, *batch}}
    return _Columns(columns, labels_of_golds, scores, batch, {source[x] for x in meant})


def _golds(data: xr.Dataset, question: Question) -> list[Hashable]:
    """Return the variables that contain the gold label or votes, as far as they are known."""
    given = _names_in(question.options.get("gold"))
    if given:
        return [x for x in given if x in data.variables and x not in data.xindexes]
    along = [x for x, v in data.data_vars.items() if question.dim in v.dims]
    if question.form == "queries" and "grade" in along:
        return ["grade"]
    if "gold" in along:
        return ["gold"]
    flags = [x for x in along if data[x].dtype == bool]
    return flags * (len(flags) == 1)


def _parts_of(data: xr.Dataset, name: Hashable, dim: str) -> dict[Hashable, xr.Variable]:
    """Return one variable for each label along a dimension."""
    variable = data[name].variable
    if dim not in variable.dims:
        return {name: variable}
    names = data[dim].to_numpy().tolist()
    return {label: variable.isel({dim: k}) for k, label in enumerate(names)}


def _score_columns(
    columns: Mapping[Hashable, xr.Variable], taken: set[Hashable], options: Mapping[str, Any]
) -> list[Hashable]:
    """Return the columns that are measures."""
    given = options.get("measures")
    if given is None and options.get("b") is not None:
        given = [options["a"], *_names_in(options["b"])]
    if given is not None:
        named: Sequence[Hashable] = as_names(given, columns)
        return [x for x in named if x in columns]
    out = {*taken, *_names_in(options.get("exclude"))}
    return [x for x, v in columns.items() if is_score(v.dtype) and x not in out]


def _read_rankings(data: xr.Dataset, question: Question) -> Reading:
    """Return one row per candidate, or per query and document."""
    found, options = _ranking_columns(data, question), question.options
    dims = [*found.batch, question.dim]
    shape = [data.sizes[d] for d in dims]
    columns = [_flat(v, dims, shape) for v in found.columns.values()]
    columns += _group_numbers(shape)
    by = found.batch
    if question.form == "queries" and not by:  # the only query also needs a name
        by, columns = [_QUERY], [*columns, np.zeros(shape[-1], dtype=np.int64)]
    index = _index(data, question.dim, shape)
    named = any(question.dim in _names_in(options.get(role)) for role in ("key", "label", "groups"))
    if len(shape) > 1 and question.form == "rankings" and index.nlevels == 1 and not named:
        own = data.indexes.get(question.dim)
        if own is not None and own.is_unique and not own.hasnans:  # each label is hashed once
            codes = np.tile(np.arange(shape[-1]), prod(shape[:-1]))
            each = pd.Categorical.from_codes(codes, categories=own)
            index = pd.CategoricalIndex(each, name=own.name)
    frame = pd.DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = pd.Index([*found.columns, *by], tupleize_cols=False)
    whole = [_is_whole(found.columns[x]) for x in found.golds]
    kept = np.ones(len(frame), dtype=bool)
    if not all(whole):  # padding has neither a gold label nor a score
        places = {name: k for k, name in enumerate(found.columns)}
        judged = [*found.golds, *found.scores]
        kept = ~np.all([frame.iloc[:, places[x]].isna() for x in judged], axis=0)
        if not kept.all():
            frame = frame[kept]
    if by:
        options = {**options, "by": by}
    if len(found.golds) > 1 and not isinstance(options.get("gold"), list):
        options = {**options, "gold": found.golds}
    ragged = options.get("missing") == "drop" or whole != [True]
    ragged = ragged and question.form == "rankings" and not question.pooled
    return Reading(data, question, frame, found.batch, found.scores, options, ragged, kept)


_QUERY = "query"


def _is_whole(variable: xr.Variable) -> bool:
    """Return whether a gold label of this dtype cannot be missing."""
    return isinstance(variable.dtype, np.dtype) and variable.dtype.kind in "bui"


def _flat(variable: xr.Variable, dims: Sequence[Hashable], shape: Sequence[int]) -> Any:
    """Return the values of a variable with one value per row."""
    if isinstance(variable.dtype, ExtensionDtype):
        [own] = variable.dims
        places = np.indices(shape)[list(dims).index(own)].ravel()
        extension: Any = variable.data
        return pd.Series(extension).array.take(places)
    values = variable.transpose(*(d for d in dims if d in variable.dims)).to_numpy()
    within = [variable.sizes.get(d, 1) for d in dims]
    return np.broadcast_to(values.reshape(within), shape).ravel()


def _group_numbers(shape: Sequence[int]) -> list[IntArray]:
    """Return the position of each row along each dimension of the batch."""
    return [np.repeat(x.ravel(), shape[-1]) for x in np.indices(shape[:-1])]


def _index(data: xr.Dataset, dim: Hashable, shape: Sequence[int]) -> pd.Index:
    """Return the labels of the rows."""
    index: pd.Index = data.indexes.get(dim, pd.RangeIndex(shape[-1], name=dim))
    if len(shape) == 1:
        return index
    return index.take(np.tile(np.arange(shape[-1]), prod(shape[:-1])))


def _read_items(data: xr.Dataset, question: Question) -> Reading:
    """Return one row per item, and one column per system, training seed and statistic."""
    dim, options = question.dim, question.options
    header = _header(question)
    beside = [*_names_in(options.get("groups")), *_names_in(options.get("strata"))]
    beside = [x for x in beside if x in data.variables and x not in header]
    for name in beside:
        if data[name].dims != (dim,):
            raise ValueError(
                f"{name!r} has the dimensions {listed(data[name].dims)}: pass a variable whose only"
                f" dimension is {dim!r}."
            )
    statistics = _statistics_in(data, dim, [*beside, *_names_in(options.get("exclude"))])
    used = {d for x in statistics for d in data[x].dims}
    batch = [d for d in data.dims if d in used and d not in (dim, *header)]
    dims = [*batch, dim]
    shape = [data.sizes[d] for d in dims]
    of_header = [data.indexes.get(d, pd.RangeIndex(data.sizes[d])) for d in header]
    parts: list[tuple[tuple[Hashable, ...], Any]] = []
    for places in np.ndindex(*map(len, of_header)):
        names = [index[k] for index, k in zip(of_header, places, strict=True)]
        at = dict(zip(header, places, strict=True))
        for name in statistics:
            variable = data[name].variable.isel(at, missing_dims="ignore")
            parts.append(((*names, name), _flat(variable, dims, shape)))
    others = dict(zip(batch, _group_numbers(shape), strict=True))
    others |= {name: _flat(data[name].variable, dims, shape) for name in beside}
    parts += [((name, *[""] * len(header)), values) for name, values in others.items()]
    if not parts:
        raise ValueError("data has no system, but a comparison needs two systems. Add systems.")
    keys, columns = zip(*parts, strict=True)
    frame = pd.DataFrame(dict(enumerate(columns)), index=_index(data, dim, shape))
    frame.columns = pd.MultiIndex.from_tuples(keys, names=[*header, "statistic"])
    metrics = {data[name].attrs.get("metric") for name in statistics}
    if len(metrics) == 1 and None not in metrics:  # the metric of queries
        frame.attrs["metric"] = metrics.pop()
    systems = of_header[0].tolist()
    options = dict(options)
    if batch:
        options["by"] = batch
    if exclude := _names_in(options.get("exclude")):  # the variables have been left out
        options["exclude"] = [x for x in exclude if x in systems or x not in data.data_vars]
    return Reading(data, question, frame, batch, systems, options)


def _statistics_in(data: xr.Dataset, dim: Hashable, out: Sequence[Hashable]) -> list[Hashable]:
    """Return the variables that are statistics of items."""
    along = [x for x, v in data.data_vars.items() if dim in v.dims and x not in out]
    found = [x for x in along if is_score(data[x].dtype) or data[x].dtype == bool]
    if not found:
        raise ValueError(
            f"data has no numeric variable along {dim!r} (variables: {listed(data.data_vars)})."
            " Pass one variable per statistic of the metric."
        )
    return found


def frame_of(
    data: Any, roles: Mapping[str, Any], form: str = "rankings"
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the DataFrame that a Dataset equals, and its roles; other data are returned as is."""
    options = {name: x for name, x in roles.items() if name != "dim" or not _is_dataset(data)}
    if not _is_dataset(data):
        return data, options
    dim = roles.get("dim", default_of("dim", items=form == "items"))
    question = Question(_unasked, form, (), options, dim, scored=True)
    data, question = _checked(data.compute(), question)
    reading = _read(data, question)
    frame = reading.frame
    lower_levels = [""] * (frame.columns.nlevels - 1)
    for name in reading.batch:
        column: Any = name
        if lower_levels:
            column = (name, *lower_levels)
        if name in data.indexes:
            frame[column] = data.indexes[name].take(frame[column].to_numpy(dtype=int)).to_numpy()
    return frame, reading.options


def _is_dataset(data: object) -> bool:
    return isinstance(data, xr.Dataset)


def _unasked(_: pd.DataFrame) -> None:
    """Stand for a function where only the frame is needed."""


# -------------------------------------------------------------------------------------------------
# From a table to a Dataset

_MEASURES, _SAMPLES = ("measure_a", "measure_b"), ("sample_a", "sample_b")
_SYSTEMS = ("system_a", "system_b")


@dataclass(frozen=True)
class _Axis:
    """Store a dimension of a result."""

    dim: Any
    place: IntArray  #: the position of each row of the table
    labels: Any = None  #: the coordinate, pairs of labels, or the size of a dimension without one
    columns: tuple[Hashable, ...] = ()  #: the columns of the table that become the coordinates
    group: Hashable = None  #: the dimension of the data, if the dimension consists of groups

    @property
    def size(self) -> int:
        """Return the number of positions."""
        if isinstance(self.labels, int):
            return self.labels
        return len(self.labels)

    @property
    def coords(self) -> dict[Hashable, Any]:
        """Return the coordinates along the dimension."""
        if isinstance(self.labels, int):
            return {}
        if self.dim == "pair":
            sides = [labels([pair[k] for pair in self.labels]) for k in (0, 1)]
            return {x: ("pair", v) for x, v in zip(self.columns, sides, strict=True)}
        values = np.asarray(self.labels)
        if self.dim == "metric":
            values = np.array(values.tolist())
        return {self.dim: (self.dim, values)}


def _answer(
    data: xr.Dataset, question: Question, known: Mapping[str, Any] | None = None
) -> tuple[xr.Dataset, list[_Axis]]:
    """Return the answer for data in memory, and its dimensions.

    ``known`` contains labels of dimensions that are known in advance.
    """
    reading = _read(data, question)
    table = _table_of(reading)
    _warn_of_lacking(table, reading)
    if "row" in question.layout:
        return as_rows(_with_labels(table, reading)), []
    axes = _axes(table, reading, known or {})
    return _laid_out(table, axes, reading), axes


def _table_of(reading: Reading) -> pd.DataFrame:
    """Ask the question. List sizes up to the dimension are allowed, even if groups are smaller."""
    question, width = reading.question, None
    if reading.ragged or reading.frame.empty:
        width = reading.data.sizes[question.dim]
    before = WIDTH.set(width)
    try:
        with hushed("by="):  # a Dataset can repeat the scores of a label in all groups
            table: pd.DataFrame = question.function(reading.frame, **reading.options)
    finally:
        WIDTH.reset(before)
    if question.form == "queries" and not reading.batch and table.columns[0] == _QUERY:
        table = table.drop(columns=_QUERY)
    if _SAMPLES[0] in table:
        return _with_samples(table, reading)
    return table


def _warn_of_lacking(table: pd.DataFrame, reading: Reading) -> None:
    """Warn about list sizes that no group reaches."""
    n = reading.options.get("n")
    if n is None or not reading.ragged or _are_shares(n) or "n" not in table:
        return
    sizes = np.asarray(check_n(n))
    lacking = sizes[~np.isin(sizes, table["n"])]
    if len(lacking):
        warn(
            f"n={lacking[0]} exceeds the number of available candidates (excluding padding and, if"
            " missing='drop', missing scores) in every batch, so these rows are NaN. Pass smaller"
            " sizes; a lazy Dataset returns NaN without this warning."
        )


def _of_nothing(data: xr.Dataset, batch: list[Hashable], question: Question) -> xr.Dataset:
    """Return the answer for data without groups, in the shape of the answer for made-up data."""
    sizes = {d: max(n, 1) for d, n in data.sizes.items()}
    grown = {
        name: (v.dims, np.zeros([sizes[d] for d in v.dims], v.dtype), v.attrs)
        for name, v in data.variables.items()
        if 0 in v.shape
    }
    made = _made_up(data.drop_vars(list(grown)).assign(grown).chunk(), question)
    with hushed():
        if "row" in question.layout:
            return as_rows(_table_of(_read(made, question))[:0])
        result, axes = _answer(made, question)
    empty = {x.dim: slice(data.sizes[x.group]) for x in axes if x.group is not None}
    groups = _coords_of_groups(data, axes, result)
    result = result.isel(empty).drop_vars([x for x in groups if x in result.coords])
    return result.assign_coords(groups)


def _group_columns(table: pd.DataFrame, reading: Reading) -> dict[Hashable, Hashable]:
    """Return the column of the table for each dimension of the groups, if there are any."""
    each = [ANNOTATOR] * (reading.options.get("agreement") == "each")
    columns = dict(zip([*each, *reading.batch], table.columns, strict=False))
    if not all(x == d or str(x).endswith(f"by_{d}") for d, x in columns.items()):
        return {}
    return {d: columns[d] for d in [*reading.batch, *each]}


def _with_labels(table: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return the table with the labels of the groups instead of their numbers."""
    named, indexes = table.copy(deep=False), reading.data.indexes
    for dim, column in _group_columns(table, reading).items():
        if dim in indexes:
            named[column] = indexes[dim].take(table[column].to_numpy(dtype=int)).to_numpy()
    return named


def _with_samples(table: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return the table with the labels of samples instead of the numbers of groups."""
    batch, data = reading.batch, reading.data
    names = [data.indexes.get(d, range(data.sizes[d])) for d in batch]
    label_of: dict[Any, Any] = {}
    for place in np.ndindex(*map(len, names)):
        label = tuple(index[k] for index, k in zip(names, place, strict=True))
        if len(batch) == 1:
            label_of[place[0]] = label[0]
        else:
            label_of[place] = label
    columns = [x for x in (*_SAMPLES, "leaning", "better") if x in table]
    named = {x: labels([label_of.get(k, np.nan) for k in table[x]]) for x in columns}
    return table.assign(**named)


def _axes(table: pd.DataFrame, reading: Reading, known: Mapping[str, Any]) -> list[_Axis]:
    """Return the dimensions of a table."""
    axes, data = [], reading.data
    for dim, column in _group_columns(table, reading).items():
        if dim in reading.batch:
            number = table[column].to_numpy(dtype=np.int64)
            axes.append(_Axis(column, number, data.sizes[dim], (column,), dim))
        else:
            votes = _names_in(reading.options["gold"])
            number = pd.Index(votes, tupleize_cols=False).get_indexer(pd.Index(table[column]))
            names = labels(votes)
            if ANNOTATOR in data.coords:
                names = data[ANNOTATOR].to_numpy()
            axes.append(_Axis(ANNOTATOR, number, names, (column,)))
    for word in reading.question.layout:
        axis = _axis(word, table, axes, reading, known)
        if axis is not None:
            axes.append(axis)
    return axes


def _axis(
    word: str,
    table: pd.DataFrame,
    before: Sequence[_Axis],
    reading: Reading,
    known: Mapping[str, Any],
) -> _Axis | None:
    """Return the dimension that a word of the layout names, or None."""
    if word == "n" and "share" in table and _are_shares(reading.options.get("n")):
        word = "share"
    if word == "pair":
        return _pairs(table, before, reading, known)
    if word == "cut":
        return _numbered("cut", table, before, known)
    if word not in table or any(word in x.columns for x in before):
        return None
    if word in known:
        return _labeled(word, table, pd.Index(known[word], tupleize_cols=False))
    if word == "n":
        return _labeled("n", table, _list_sizes(table, reading))
    index: pd.Index = pd.Index(table[word].unique(), tupleize_cols=False)
    if word in ("measure", "system"):
        names = pd.Index(labels(reading.names), tupleize_cols=False)
        if len(index):
            names = names[names.isin(index)]
        index = names
    return _labeled(word, table, index)


def _list_sizes(table: pd.DataFrame, reading: Reading) -> pd.Index:
    """Return the list sizes: the requested sizes first, in their order."""
    there, n = np.unique(table["n"].to_numpy()), reading.options.get("n")
    width = reading.data.sizes[reading.question.dim]
    sizes = None
    if reading.question.form == "rankings" and not _are_names(n):
        sizes = check_n(n)
    first: Any = []
    if isinstance(sizes, np.ndarray):
        first = sizes[reading.ragged | np.isin(sizes, there)]
    if sizes is None and reading.ragged and len(there):  # padding also has a place
        longest = reading.kept.reshape(-1, width).sum(axis=1).max()
        last = int(there[-1]) + width - int(longest)
        there = np.union1d(there, np.arange(there[-1], last + 1))
    every: pd.Index = pd.Index([*first, *np.setdiff1d(there, first)], dtype=np.int64)
    return every


def _are_shares(n: Any) -> bool:
    """Return whether list sizes are shares of the candidates."""
    return isinstance(n, str) or (
        n is not None and any(isinstance(x, float | np.floating) for x in np.ravel(n).tolist())
    )


def _labeled(word: str, table: pd.DataFrame, index: pd.Index) -> _Axis:
    values: Any = table[word]
    return _Axis(word, index.get_indexer(values), index, (word,))


def _numbered(
    word: str, table: pd.DataFrame, before: Sequence[_Axis], known: Mapping[str, Any]
) -> _Axis:
    """Return numbers of the rows with equal labels along all dimensions before."""
    if before:
        number: IntArray = np.asarray(table.groupby([x.place for x in before]).cumcount())
    else:
        number = np.arange(len(table), dtype=np.int64)
    return _Axis(word, number, known.get(word, int(number.max(initial=-1)) + 1))


def _pairs(
    table: pd.DataFrame, before: Sequence[_Axis], reading: Reading, known: Mapping[str, Any]
) -> _Axis | None:
    """Return the pairs: of measures in their order, of samples, or of systems by number."""
    if "system_a" in table:
        return _numbered("pair", table, before, known)
    sides = next((x for x in (_MEASURES, _SAMPLES) if x[0] in table), None)
    if sides is None:
        return None
    pairs = list(zip(*(table[x] for x in sides), strict=True))
    order = {x: k for k, x in enumerate(reading.names)}
    distinct = known.get("pair") or sorted(
        dict.fromkeys(pairs), key=lambda pair: [order.get(x, 0) for x in pair]
    )
    number = {pair: k for k, pair in enumerate(distinct)}
    return _Axis("pair", np.array([number[x] for x in pairs], dtype=int), distinct, sides)


def _laid_out(table: pd.DataFrame, axes: list[_Axis], reading: Reading) -> xr.Dataset:
    """Place the rows of a table in the cells of a Dataset."""
    axes = [*(x for x in axes if x.dim == "size"), *(x for x in axes if x.dim != "size")]
    dims, shape = [x.dim for x in axes], tuple(x.size for x in axes)
    cells: Any = np.zeros(1, dtype=int)
    if axes:
        cells = np.ravel_multi_index([x.place for x in axes], shape)
    if len(cells) == prod(shape) and (cells == np.arange(len(cells))).all():
        cells = None  # the rows are in the order of the cells
    keys = {column for x in axes for column in x.columns}
    variables: dict[Hashable, Any] = {}
    for name in (x for x in table.columns if x not in keys):
        values = table[name].to_numpy()
        if reading.ragged and values.dtype.kind in "iu":
            values = values.astype(float)
        variables[name] = (dims, _in_cells(values, cells, shape))
    result = xr.Dataset(variables, attrs=table.attrs)
    if "share" in dims and "n" in result:
        result["n"] = _without_groups(result["n"], "share")
    if "relation" in result and "pair" in dims:
        result["relation"] = _without_groups(result["relation"], "pair")
    if "n_retrieved" in result and "metric" in dims:
        result = _by_metric(result, axes[-1].labels)
    coords = _coords_of_groups(reading.data, axes, result)
    coords |= {name: x for axis in axes for name, x in axis.coords.items()}
    coords = {x: c for x, c in coords.items() if x in result.dims or x != "metric"}
    return result.assign_coords(coords).set_coords([x for x in _SYSTEMS if x in result])


def _by_metric(result: xr.Dataset, metrics: pd.Index) -> xr.Dataset:
    """Return one variable per metric, and counts of the documents without further dimensions."""
    value = result["value"]
    by_name = {
        str(name): value.isel(metric=k, drop=True).assign_attrs(metric=str(name))
        for k, name in enumerate(metrics)
    }
    positive, each = result["n_positive"].isel(measure=0, drop=True), result["n_retrieved"]
    if len({*map(tuple, map(_GRADES.findall, by_name))}) == 1:
        positive = positive.isel(metric=0, drop=True)
    counts = {
        "n_positive": positive,
        "n_retrieved": each.isel(metric=0, drop=True),
        "n_judged": result["n_judged"].isel(measure=0, metric=0, drop=True),
    }
    others = {x: v for x, v in result.data_vars.items() if x not in ("value", *counts)}
    return xr.Dataset({**by_name, **counts, **others}, attrs=result.attrs)


_GRADES = re.compile(r"rel=[\d.]+")  # the lowest grade of a positive document, as part of a name


def _in_cells(values: AnyArray, cells: IntArray | None, shape: tuple[int, ...]) -> AnyArray:
    """Return the values in their cells; a cell without a row is NaN, 0 or False."""
    if cells is None:
        return values.reshape(shape)
    if values.dtype.kind in "bi":
        result = np.zeros(prod(shape), values.dtype)
    elif values.dtype.kind == "f":
        result = np.full(prod(shape), np.nan, values.dtype)
    else:
        result = np.full(prod(shape), np.nan, dtype=object)
    result[cells] = values
    return result.reshape(shape)


def _without_groups(column: xr.DataArray, dim: str) -> xr.DataArray:
    """Return a column along one dimension if it is equal in all groups."""
    first = column.isel({d: 0 for d in column.dims if d != dim}, drop=True)
    same = (column == first) | column.isnull()  # noqa: PD003
    if column.size and bool(same.all()):
        return first
    return column


def _coords_of_groups(
    data: xr.Dataset, axes: Sequence[_Axis], result: xr.Dataset
) -> dict[Hashable, Any]:
    """Return the coordinates along the groups, with names apart from those of the result."""
    renamed = {x.group: x.dim for x in axes if x.group is not None}
    coords: dict[Hashable, Any] = {}
    for name, coord in data.coords.items():
        if coord.dims and {*coord.dims} <= {*renamed}:
            new = renamed.get(name, name)
            while name not in renamed and new in result.variables:
                new = f"by_{new}"
            moved = {d: renamed[d] for d in coord.dims if renamed[d] != d}
            coords[new] = coord.reset_coords(drop=True).rename(moved).rename(new)
    return coords


# -------------------------------------------------------------------------------------------------
# Tables of pairs of systems, and results that consist of rows of the data


def _answer_pairs(
    function: Callable[..., Any], data: xr.Dataset, options: dict[str, Any]
) -> xr.Dataset:
    """Return the answer for a table of pairs of systems."""
    other = options.get("other")
    if isinstance(other, xr.Dataset):  # the systems on other items
        roles: dict[str, Any] = {}
        roles |= {x: options[x] for x in ("seeds", "groups", "strata", "exclude") if x in options}
        dim = options.get("dim", "item")
        question = Question(function, "items", (), roles, dim, scored=True)
        reading = _read(_checked(other, question)[0].compute(), question)
        _refuse_batch(reading.batch)
        options = {**options, "other": reading.frame}
    if "gain" not in data.variables:
        refused: xr.Dataset = function(pd.DataFrame(columns=list(data.variables)), **options)
        return refused
    groups = [d for d in data["gain"].dims if d != "pair"]
    frame = data.compute().to_dataframe().reset_index().drop(columns="pair", errors="ignore")
    first = [*groups, *(x for x in _SYSTEMS if x in frame)]
    frame = frame[[*first, *(x for x in frame if x not in first)]]
    frame.attrs = dict(data.attrs)
    table = function(frame, **options)
    return as_rows(table)


def _refuse_batch(batch: list[Hashable]) -> None:
    """Raise a ValueError if items have further dimensions."""
    if batch:
        raise ValueError(
            f"the items have the batch dimensions {listed(batch)}, but this method needs a single"
            " table. Select one element, data.isel(...)."
        )


_ROW = "_row"


def _rows_of_data(data: xr.Dataset, question: Question) -> xr.Dataset:
    """Return the rows of the data that the function selects, along ``row``."""
    added = ["list", "rank_a", "rank_b", *["row"] * (question.dim != "row")]
    for name in added:
        if name in {*data.variables, *data.dims}:
            raise ValueError(
                f"data has a column {name!r}, but the result adds a column of the same name."
                f" Rename the column: data.rename({{{name!r}: ...}})."
            )
    reading = _read(data, question)
    sizes = [data.sizes[d] for d in [*reading.batch, question.dim]]
    reading.frame[_ROW] = np.flatnonzero(reading.kept)
    out = [*_names_in(reading.options.get("exclude")), _ROW]
    reading = replace(reading, options={**reading.options, "exclude": out})
    table = _table_of(reading)
    places = np.unravel_index(table.pop(_ROW).to_numpy(), sizes)
    pick = dict(zip([*reading.batch, question.dim], places, strict=True))
    picked = _picked(data, pick)
    beside = {
        name: picked[name].expand_dims(row=len(table))
        for name, variable in picked.variables.items()
        if "row" not in variable.dims
    }
    return picked.assign({**beside, **{x: ("row", table[x].to_numpy()) for x in added[:3]}})


def _picked(data: xr.Dataset, pick: Mapping[Hashable, IntArray]) -> xr.Dataset:
    """Return one row of the data for each position."""
    whole: dict[Hashable, Any] = {}  # xarray can index these dimensions only by slices
    for name, variable in data.variables.items():
        if isinstance(variable.dtype, ExtensionDtype):
            extension: Any = variable.data
            whole[name] = "row", pd.Series(extension).array.take(pick[variable.dims[0]])
    plain = data.drop_vars(list(whole))
    rows = {d: xr.DataArray(x, dims="row") for d, x in pick.items()}
    return plain.isel(rows).reset_coords().assign(whole)[list(data.variables)]


# -------------------------------------------------------------------------------------------------
# Datasets in chunks


@dataclass(frozen=True)
class _Public:
    """Call a public function by its name, so that tasks do not contain the function."""

    module: str
    name: str

    def __call__(self, frame: pd.DataFrame, **options: Any) -> Any:
        return getattr(import_module(self.module), self.name)(frame, **options)


def _answer_in_blocks(data: xr.Dataset, question: Question, *, together: bool) -> xr.Dataset:
    """Return the answer for lazy data, block by block."""
    kept, batch = _with_roles_only(data, question)
    options = question.options
    if exclude := _names_in(options.get("exclude")):
        exclude = [x for x in exclude if x in kept.variables or x not in data.variables]
        question = replace(question, options={**options, "exclude": exclude or None})
    _refuse_unknown_shares(kept, question)
    whole = [d for d in kept.dims if together or d not in batch]
    kept = kept.assign(
        {
            name: variable.chunk({d: -1 for d in whole if d in variable.dims})
            for name, variable in kept.variables.items()
            if variable.chunks is not None
        }
    ).unify_chunks()
    _check_blocks(kept)
    few = {}
    if not together:
        few = {d: slice(2) for d in batch}
    small = _made_up(kept.isel(few), question)
    with hushed():
        shown, axes = _answer(small, question)
    renamed = {x.group: x.dim for x in axes if x.group is not None and x.group != x.dim}
    kept, groups = kept.rename(renamed), [x.dim for x in axes if x.group is not None]
    function = question.function
    asked = replace(question, function=_Public(function.__module__, function.__name__))
    known = {x.dim: x.labels for x in axes if x.group is None}
    choices = {"details": details_wanted(), "progress": SHOWN.get()}
    options = {"question": asked, "known": known, "choices": choices}
    if question.form == "items":  # what tests of systems use depends on the values
        for name in ("ci", "n_resamples"):
            shown.attrs.pop(name, None)
            if question.options.get(name) is not None:
                shown.attrs[name] = question.options[name]
    template = _template(shown, kept, groups)
    result = xr.map_blocks(_block, kept, kwargs=options, template=template)
    result = result[list(template.data_vars)]  # old versions of xarray change the order
    fixed = {
        x: c for x, c in shown.coords.items() if x not in _SYSTEMS and not {*c.dims} & {*groups}
    }
    result = result.assign_coords({**_coords_of_groups(data, axes, shown), **fixed})
    return result.set_coords([x for x in _SYSTEMS if x in result])


def _refuse_unknown_shares(data: xr.Dataset, question: Question) -> None:
    """Raise a ValueError for shares of candidates that lazy labels may mark as padding."""
    if question.form != "rankings" or not _are_shares(question.options.get("n")):
        return
    columns = _ranking_columns(data, question)
    judged = "judged_with" in inspect.signature(question.function).parameters
    if not judged and not all(_is_whole(columns.columns[x]) for x in columns.golds):
        raise ValueError(
            "n is a share of the candidates in a lazy Dataset, but the number of candidates is"
            " unknown because gold labels may be missing. Pass whole numbers, a gold label of dtype"
            " bool, or data.compute()."
        )


def _with_roles_only(data: xr.Dataset, question: Question) -> tuple[xr.Dataset, list[Hashable]]:
    """Return the variables of the data that have a role, and the dimensions of the groups."""
    if question.form == "items":
        found = _read_items(_made_up(data.isel({question.dim: slice(2)}), question), question)
        out = [x for x, v in data.data_vars.items() if question.dim not in v.dims]
        return data.drop_vars(out), found.batch
    columns = _ranking_columns(data, question)
    out = [x for x in data.variables if x not in columns.sources and x not in data.xindexes]
    return data.drop_vars(out), columns.batch


def _check_blocks(data: xr.Dataset) -> None:
    """Raise a MemoryError if the candidates of one block do not fit in memory."""
    numbers = 0
    for variable in data.variables.values():
        chunks = variable.chunks or [(n,) for n in variable.shape]
        numbers += prod(max(along, default=0) for along in chunks)
    check_memory(
        4.0 * numbers,
        "A Dataset in which all candidates of a group, or all groups, form one chunk",
        "Call data.to_dask_dataframe().rankeval, which reads rankings of any size.",
    )


def _template(shown: xr.Dataset, data: xr.Dataset, groups: Sequence[Hashable]) -> xr.Dataset:
    """Return a lazy Dataset without values, in the shape of the answer."""
    import dask.array as da

    variables = {}
    for name in (x for x in shown.variables if x in shown.data_vars or x in _SYSTEMS):
        column = shown[name].variable
        chunks = [
            data.chunks.get(d, (data.sizes[d],)) if d in groups else (n,)
            for d, n in column.sizes.items()
        ]
        shape = [sum(along) for along in chunks]
        values = da.zeros(shape, dtype=column.dtype, chunks=chunks)
        variables[name] = (column.dims, values, column.attrs)
    return xr.Dataset(variables, attrs=shown.attrs)


#: beginnings of warnings about all data, which a block cannot judge
_OF_ALL_DATA = ("gold", "measures:", "The judged candidates", "n=")


def _block(
    part: xr.Dataset, *, question: Question, known: Mapping[str, Any], choices: Mapping[str, Any]
) -> xr.Dataset:
    """Return the answer for one block, without coordinates."""
    with held(**choices), hushed(*_OF_ALL_DATA):
        result, _ = _answer(part, question, known)
    return result.drop_vars([x for x in result.coords if x not in _SYSTEMS]).reset_coords()


def _made_up(data: xr.Dataset, question: Question) -> xr.Dataset:
    """Return data of the same shape in memory, in which lazy values are made up."""
    draws = np.random.default_rng(0)
    made: dict[Hashable, Any] = {}
    of_items = {d: draws.integers(0, 2, n) for d, n in data.sizes.items()}
    for name, variable in data.variables.items():
        if variable.chunks is None:
            continue
        if question.form == "items":  # equal statistics of an item are valid counts
            outer = [xr.Variable(d, of_items[d]) for d in variable.dims]
            values = sum(outer[1:], outer[0]).transpose(*variable.dims).to_numpy() % 2
        else:
            number = np.indices(variable.shape)[variable.dims.index(question.dim)]
            values = _made_up_values(name, number, question, data, draws)
        made[name] = (variable.dims, values.astype(variable.dtype))
    return data.assign(made)


def _made_up_values(
    name: Hashable,
    number: IntArray,
    question: Question,
    data: xr.Dataset,
    draws: np.random.Generator,
) -> AnyArray:
    """Return values of a variable for numbered candidates that suit its role."""
    options = question.options
    if name in _golds(data, question):
        values = true_values(options.get("positive")) or [options.get("min_grade") or 1]
        other = next(x for x in range(len(values) + 1) if x not in values)
        every = labels([*values, other])
        return every[number % len(every)]
    if name in _names_in(options.get("groups")):
        return np.asarray(number % max(2, number.shape[-1] // 3))
    if name in _names_in(options.get("judged_with")):
        return np.full(number.shape, 0.5)
    if name in [*_names_in(options.get("key")), *_names_in(options.get("label")), "document"]:
        return number
    return draws.permuted(number % 100, axis=number.ndim - 1)
