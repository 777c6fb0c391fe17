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

import contextlib
import inspect
import re
from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib import import_module
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from pandas.api.extensions import ExtensionDtype

from rankeval_pd.doors.columns import (
    WIDTH,
    check_n,
    refuse_absent,
    true_values,
)
from rankeval_pd.errors import (
    BEGUN,
    SHOWN,
    AnyFunction,
    check_known,
    check_memory,
    details_wanted,
    held,
    hushed,
    is_known,
    listed,
    warn,
)
from rankeval_pd.roles import (
    ANNOTATOR,
    SCORED,
    Roles,
    as_names,
    default_of,
    form_of,
    is_score,
    refuse_by,
    variables_by_column,
)
from rankeval_pd.stats import BoolArray, IntArray
from rankeval_pd.tables import Keywords, Options, as_list, as_rows, labels

# -------------------------------------------------------------------------------------------------
# The door: what is asked, and of which kind of data


class Question(NamedTuple):
    """Store what is asked of a Dataset."""

    function: AnyFunction  #: takes a DataFrame, and returns a table
    form: str  #: rankings, items or queries
    options: Options  #: the arguments of the function, without the data
    dim: Hashable  #: the dimension of the candidates or items
    layout: tuple[str, ...] = ()  #: the dimensions of the result after those of the batch
    scored: bool = True  #: whether the function needs scores
    pooled: bool = False  #: whether all groups together make one result

    def named(self, *roles: str) -> list[Any]:
        """Return the names given for some roles."""
        names: list[Any] = []
        for given in map(self.options.get, roles):
            if isinstance(given, list | set):
                names += given
            elif given is not None:
                names.append(given)
        return names

    @property
    def header(self) -> list[Any]:
        """Return the dimensions of systems scored on test items: system, and seeds if given."""
        return ["system", *self.named("seeds")]


def answer_dataset(
    function: AnyFunction, able: Any, args: tuple[Any, ...], keywords: Options
) -> Any:
    """Return what the function answers for the DataFrame that equals the data, its first argument.

    The result has the layout of the function's capabilities.
    """
    parameters = inspect.signature(function).parameters
    options = dict(zip(parameters, args, strict=False))
    if {*options} & {*keywords}:
        return function(*args, **keywords)  # raises Python's error
    options |= keywords
    data: xr.Dataset = options.pop(next(iter(parameters)))
    if able.pairs:
        return _answer_pairs(function, data, options)
    form = _form(parameters, data, options)
    dim = options.pop("dim", default_of("dim", items=form == "items"))
    used = able.scores or options.get("missing") == "drop"
    layout = able.layout_of(options, form)
    question = Question(function, form, options, dim, layout, used, able.pooled)
    _check(data, question)
    if empty := [d for d, size in data.sizes.items() if d != dim and not size]:
        raise ValueError(
            f"data has no group, measure or system along {listed(empty)}. Pass a Dataset with at"
            " least one label along every dimension, or drop these dimensions."
        )
    if "data" in layout:  # rows of the data
        reading = _read(data.compute(), question)
        columns = {d: d for d in reading.batch}
        return as_rows(_with_labels(_table_of(reading), columns, data).reset_index())
    lazy = any(x.chunks is not None for x in data.variables.values())
    if not lazy or "row" in layout or not all(data.sizes.values()):
        return _answer(data.compute(), question)[0]
    together = able.pooled or bool(options.get("combine"))
    together |= form == "queries" and "metrics" not in parameters  # means over all queries
    together |= options.get("average") is not None and form != "items"
    if {"adjust", "adjust_over"} <= {*parameters}:
        adjusted = options.get("adjust", parameters["adjust"].default) is not None
        across = parameters["adjust_over"].default == "all"
        together |= adjusted and across and options.get("adjust_over") != "group"
    return _answer_in_blocks(data, question, together=together)


def _form(parameters: Keywords, data: xr.Dataset, options: Keywords) -> str:
    """Return whether the data are rankings, items or queries."""
    of_metrics = any(isinstance(x, str) for x in as_list(options.get("n")))
    if "metrics" in parameters or ("undefined" in parameters and of_metrics):
        return "queries"
    if "seeds" not in parameters:
        return "rankings"
    if "key" not in parameters:
        return "items"
    return form_of(data, options)


def _check(data: xr.Dataset, question: Question) -> None:
    """Raise an error for roles, dimensions or options that a Dataset does not have."""
    options, dim, form = question.options, question.dim, question.form
    given = {x: options[x] for x in Roles.__dataclass_fields__ if x in options}
    Roles.configured({**given, "dim": dim})
    refuse_by(options.get("by"), dim)
    dims = [dim]
    if form == "items":
        dims += question.header
    for name in dims:
        if not is_known(name, data.dims):
            raise ValueError(
                f"data has no dimension {name!r}, only {listed(data.dims)}. Pass the dimension of"
                " the candidates or items as dim=...; systems scored on test items also have the"
                " dimension 'system', and one variable per statistic."
            )
    if form == "queries" and options.get("wide"):
        raise ValueError(
            "wide=True applies only to DataFrames. Omit wide, and for paired tests pass"
            " found.rename({'query': 'item', 'measure': 'system'})[['AP']]."
        )


# -------------------------------------------------------------------------------------------------
# From a Dataset to a frame


class Columns(NamedTuple):
    """Store the variables of a Dataset that become columns of a frame."""

    variables: list[tuple[Hashable, xr.Variable]]  #: by column
    batch: list[Hashable]  #: dimensions that are groups
    names: list[Hashable]  #: the measures or systems in order
    sources: set[Hashable]  #: the variables of the data that have a role
    golds: Sequence[Hashable] = ()  #: the gold label, or the labels of several annotators


class Reading(NamedTuple):
    """Store the frame that equals a Dataset."""

    data: xr.Dataset
    question: Question  #: with the options for this frame
    frame: pd.DataFrame
    batch: list[Hashable]  #: the frame numbers the groups along these dimensions
    names: list[Hashable]  #: the measures or systems in order
    ragged: bool  #: whether rows can be missing, so that counts are floats
    kept: BoolArray  #: whether each candidate is a row and not padding


_QUERY = "query"


def _read(data: xr.Dataset, question: Question) -> Reading:
    """Return one row per candidate, item, or query and document."""
    dim = question.dim
    form = question.form
    options = dict(question.options)
    columns = _columns_of(data, question)
    dims = [*columns.batch, dim]
    shape = [data.sizes[d] for d in dims]
    width = shape[-1]
    times = prod(shape[:-1])
    keys: list[Any] = [key for key, _ in columns.variables]
    values = [_flat(variable, dims, shape) for _, variable in columns.variables]
    whole = [_is_whole(v) for key, v in columns.variables if key in columns.golds]
    by = columns.batch
    numbers = [np.repeat(x.ravel(), width) for x in np.indices(shape[:-1])]
    if form == "queries" and not by:  # the only query also needs a name
        by = [_QUERY]
        numbers = [np.zeros(width, dtype=np.int64)]
    if by:
        options["by"] = by
    own = data.indexes.get(dim)
    index: pd.Index = own if own is not None else pd.RangeIndex(width, name=dim)
    if len(dims) > 1:
        codes = np.tile(np.arange(width), times)
        # each label is hashed once
        hashed = own is not None and own.nlevels == 1 and own.is_unique and not own.hasnans
        if hashed and form == "rankings" and dim not in question.named("key", "label", "groups"):
            index = pd.CategoricalIndex(pd.Categorical.from_codes(codes, own), name=dim)
        else:
            index = index.take(codes)
    frame = pd.DataFrame(dict(enumerate([*values, *numbers])), index=index, copy=False)
    if form == "items":
        empty = [""] * len(question.header)
        keys = [*keys, *((name, *empty) for name in by)]
        frame.columns = pd.MultiIndex.from_tuples(keys, names=[*question.header, "statistic"])
        metrics = {data[name].attrs.get("metric") for name in columns.sources}
        if len(metrics) == 1 and None not in metrics:  # the metric of queries
            frame.attrs["metric"] = metrics.pop()
    else:
        frame.columns = pd.Index([*keys, *by], tupleize_cols=False)
        if len(columns.golds) > 1 and not isinstance(options.get("gold"), list):
            options["gold"] = columns.golds
    if exclude := question.named("exclude"):  # some variables have been left out
        known = [*columns.names, *keys]
        options["exclude"] = [
            x for x in exclude if is_known(x, known) or not is_known(x, data.data_vars)
        ]
    kept = np.ones(len(frame), dtype=bool)
    if not all(whole):  # padding has neither a gold label nor a score
        judged = [keys.index(x) for x in (*columns.golds, *columns.names)]
        kept = ~np.all([frame.iloc[:, place].isna() for place in judged], axis=0)
        if not kept.all():
            frame = frame[kept]
    ragged = options.get("missing") == "drop" or whole != [True]
    ragged = ragged and form == "rankings" and not question.pooled
    frame.attrs = {**data.attrs, **frame.attrs}
    question = question._replace(options=options)
    return Reading(data, question, frame, columns.batch, columns.names, ragged, kept)


def _columns_of(data: xr.Dataset, question: Question) -> Columns:
    """Find the variables that have a role or may be measures or systems."""
    if question.form == "items":
        return _item_columns(data, question)
    dim, options = question.dim, question.options
    golds = _golds(data, question)
    roles = question.named("key", "label", "groups", "judged_with")
    if question.form == "queries" and options.get("key") is None:
        roles.append("document")
    roles = [x for x in roles if is_known(x, data.variables) and x not in data.xindexes]
    for name in dict.fromkeys([*golds, *roles]):
        if dim not in data[name].dims or "measure" in data[name].dims:
            raise ValueError(
                f"{name!r} has the dimensions {listed(data[name].dims)}, but a variable with a role"
                f" needs the dimension {dim!r}, and not the dimension 'measure'. Pass another"
                " variable, or select one measure, .isel(measure=0)."
            )
    found = variables_by_column(data, dim, golds)
    found |= {x: (x, data[x].variable) for x in (*golds, *roles) if x in data.coords}
    source = {x: name for x, (name, _) in found.items()}
    columns = {x: variable for x, (_, variable) in found.items()}
    golds = [x for name in golds for x in columns if source[x] == name]
    scores = []
    given = options.get("measures")
    if given is None and options.get("b") is not None:
        given = [options.get("a"), *question.named("b")]
    if question.scored and given is not None:
        scores = [x for x in as_names(given, columns) if x in columns]
    elif question.scored:
        excluded = (x for x in question.named("exclude") if is_known(x, columns))
        out = {*golds, *roles, *excluded}
        scores = [x for x, v in columns.items() if is_score(v.dtype) and x not in out]
    if given is None:
        _refuse_own_dims(columns, golds, scores)
    meant = [*golds, *scores, *roles]
    used = {d for x in meant for d in columns[x].dims}
    batch = [d for d in data.dims if d in used and d not in (dim, "measure", ANNOTATOR)]
    variables = [(x, v) for x, v in columns.items() if {*v.dims} <= {dim, *batch}]
    return Columns(variables, batch, scores, {source[x] for x in meant}, golds)


def _refuse_own_dims(
    columns: Mapping[Hashable, xr.Variable], golds: Sequence[Hashable], scores: Sequence[Hashable]
) -> None:
    """Raise an error for a dimension of some of the variables that may be measures."""
    shared = {d for x in golds for d in columns[x].dims}
    for name in scores:
        own = [
            d
            for d in columns[name].dims
            if d not in shared and any(d not in columns[x].dims for x in scores)
        ]
        if own:
            raise ValueError(
                f"{name!r} has the dimension {own[0]!r}, which the gold label and other variables"
                f" lack. Pass exclude={name!r}, select one value, or list the measures:"
                " measures=[...]."
            )


def _golds(data: xr.Dataset, question: Question) -> list[Hashable]:
    """Return the variables that contain the gold label or votes, as far as they are known."""
    if given := question.named("gold"):
        check_known("gold", given, data.variables)
        return [x for x in given if is_known(x, data.variables) and x not in data.xindexes]
    along = [x for x, v in data.data_vars.items() if question.dim in v.dims]
    if question.form == "queries" and "grade" in along:
        return ["grade"]
    if "gold" in along:
        return ["gold"]
    flags = [x for x in along if data[x].dtype == bool]
    return flags * (len(flags) == 1)


def _item_columns(data: xr.Dataset, question: Question) -> Columns:
    """Return one column per system, training seed and statistic, then those of other roles."""
    dim, header = question.dim, question.header
    beside = question.named("groups", "strata")
    beside = [x for x in beside if x in data.variables and x not in header]
    for name in beside:
        if data[name].dims != (dim,):
            raise ValueError(
                f"{name!r} has the dimensions {listed(data[name].dims)}: pass a variable whose only"
                f" dimension is {dim!r}."
            )
    out = {*beside, *question.named("exclude")}
    statistics = [
        x
        for x, v in data.data_vars.items()
        if dim in v.dims and x not in out and (is_score(v.dtype) or v.dtype == bool)
    ]
    if not statistics:
        raise ValueError(
            f"data has no numeric variable along {dim!r} (variables: {listed(data.data_vars)})."
            " Pass one variable per statistic of the metric."
        )
    used = {d for x in statistics for d in data[x].dims}
    batch = [d for d in data.dims if d in used and d not in (dim, *header)]
    if batch and question.pooled:
        raise ValueError(
            f"the items have the batch dimensions {listed(batch)}, but this method needs a single"
            " table. Select one element, data.isel(...)."
        )
    names = [data.indexes.get(d, pd.RangeIndex(data.sizes[d])).tolist() for d in header]
    variables: list[tuple[Hashable, xr.Variable]] = []
    for place, label in zip(np.ndindex(*map(len, names)), product(*names), strict=True):
        at = dict(zip(header, place, strict=True))
        for name in statistics:
            variables.append(((*label, name), data[name].variable.isel(at, missing_dims="ignore")))
    variables += [((x, *[""] * len(header)), data[x].variable) for x in beside]
    if not [*variables, *batch]:
        raise ValueError("data has no system, but a comparison needs two systems. Add systems.")
    return Columns(variables, batch, names[0], {*statistics})


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
    return variable.set_dims(dict(zip(dims, shape, strict=True))).to_numpy().ravel()


def frame_of(data: Any, roles: Keywords, form: str = "rankings") -> tuple[pd.DataFrame, Options]:
    """Return the DataFrame that a Dataset equals, and its roles; other data are returned as is."""
    if not isinstance(data, xr.Dataset):
        return data, dict(roles)
    dim = roles.get("dim", default_of("dim", items=form == "items"))
    options = {name: x for name, x in roles.items() if name != "dim"}
    question = Question(_unasked, form, options, dim)
    _check(data, question)
    reading = _read(data.compute(), question)
    frame = reading.frame
    columns = {d: d for d in reading.batch}
    if frame.columns.nlevels > 1:
        columns = {d: (d, *[""] * (frame.columns.nlevels - 1)) for d in reading.batch}
    return _with_labels(frame, columns, data), reading.question.options


def _with_labels(
    table: pd.DataFrame, columns: Mapping[Hashable, Any], data: xr.Dataset
) -> pd.DataFrame:
    """Return the table with the labels of the groups instead of their numbers."""
    table = table.copy(deep=False)
    for dim, column in columns.items():
        if dim in data.indexes:
            table[column] = data.indexes[dim].take(table[column].to_numpy(dtype=int)).to_numpy()
    return table


# -------------------------------------------------------------------------------------------------
# From a table to a Dataset

_MEASURES, _SAMPLES = ("measure_a", "measure_b"), ("sample_a", "sample_b")
_SYSTEMS = ("system_a", "system_b")
_GRADES = re.compile(r"rel=[\d.]+")  # the lowest grade of a positive document, as part of a name


class _Axis(NamedTuple):
    """Store a dimension of a result."""

    dim: Any
    place: IntArray  #: the position of each row of the table
    labels: Any  #: the coordinate, pairs of labels, or a range if there is no coordinate
    columns: tuple[Hashable, ...] = ()  #: the columns of the table that become the coordinates
    group: Hashable = None  #: the dimension of the data, if the dimension consists of groups

    @property
    def coords(self) -> dict[Hashable, Any]:
        """Return the coordinates along the dimension."""
        if isinstance(self.labels, range):
            return {}
        if self.dim == "pair":
            sides = [labels([pair[k] for pair in self.labels]) for k in (0, 1)]
            return {x: ("pair", v) for x, v in zip(self.columns, sides, strict=True)}
        values = np.asarray(self.labels)
        if self.dim == "metric":
            values = np.array(values.tolist())
        return {self.dim: (self.dim, values)}


def _answer(
    data: xr.Dataset, question: Question, known: Keywords | None = None
) -> tuple[xr.Dataset, list[_Axis]]:
    """Return the answer for data in memory, and its dimensions.

    ``known`` contains labels of dimensions that are known in advance.
    """
    reading = _read(data, question)
    table = _table_of(reading)
    n = reading.question.options.get("n")
    unknown = ["n_candidates", "n_rankings", "n_tied_votes"]  # before an answer is computed
    if question.form == "rankings":
        unknown.append("n_groups")
    for name in unknown:
        table.attrs.pop(name, None)
    if n is not None and reading.ragged and not _are_shares(n) and "n" in table:
        sizes = np.asarray(check_n(n))
        lacking = sizes[~np.isin(sizes, table["n"])]
        if len(lacking):
            warn(
                f"n={lacking[0]} exceeds the number of available candidates (excluding padding and,"
                " if missing='drop', missing scores) in every batch, so these rows are NaN. Pass"
                " smaller sizes; a lazy Dataset returns NaN without this warning."
            )
    if "row" in question.layout:
        return as_rows(_with_labels(table, _group_columns(table, reading), data)), []
    axes = _axes(table, reading, known or {})
    return _laid_out(table, axes, reading), axes


def _table_of(reading: Reading) -> pd.DataFrame:
    """Ask the question. List sizes up to the dimension are allowed, even if groups are smaller."""
    question, data, width = reading.question, reading.data, None
    if reading.ragged or reading.frame.empty:
        width = data.sizes[question.dim]
    before = WIDTH.set(width)
    try:
        table: pd.DataFrame = question.function(reading.frame, **question.options)
    finally:
        WIDTH.reset(before)
    if question.form == "queries" and not reading.batch and table.columns[0] == _QUERY:
        table = table.drop(columns=_QUERY)
    if _SAMPLES[0] in table:  # the labels of samples instead of the numbers of groups
        names = [data.indexes.get(d, range(data.sizes[d])) for d in reading.batch]
        label_of: dict[Any, Any] = {}
        for place in np.ndindex(*map(len, names)):
            label_of[place] = tuple(own[k] for own, k in zip(names, place, strict=True))
        if len(names) == 1:
            label_of = {k: label for (k,), (label,) in label_of.items()}
        for name in (*_SAMPLES, "leaning", "better"):
            if name in table:
                table[name] = labels([label_of.get(k, np.nan) for k in table[name]])
    return table


def _group_columns(table: pd.DataFrame, reading: Reading) -> dict[Hashable, Hashable]:
    """Return the column of the table for each dimension of the groups, if there are any."""
    each = [ANNOTATOR] * (reading.question.options.get("agreement") == "each")
    columns = dict(zip([*each, *reading.batch], table.columns, strict=False))
    if not all(x == d or str(x).endswith(f"by_{d}") for d, x in columns.items()):
        return {}
    return {d: columns[d] for d in [*reading.batch, *each]}


def _axes(table: pd.DataFrame, reading: Reading, known: Keywords) -> list[_Axis]:
    """Return the dimensions of a table: those of the groups, and those of the layout."""
    axes = []
    data = reading.data
    n = reading.question.options.get("n")

    order = {x: k for k, x in enumerate(reading.names)}
    number: Any  # the position of each row
    for dim, column in _group_columns(table, reading).items():
        if dim in reading.batch:
            number = table[column].to_numpy(dtype=np.int64)
            axes.append(_Axis(column, number, range(data.sizes[dim]), (column,), dim))
        else:
            votes = reading.question.named("gold")
            number = pd.Index(votes, tupleize_cols=False).get_indexer(pd.Index(table[column]))
            names = labels(votes)
            if ANNOTATOR in data.coords:
                names = data[ANNOTATOR].to_numpy()
            axes.append(_Axis(ANNOTATOR, number, names, (column,)))
    for word in reading.question.layout:
        if word == "n" and "share" in table and _are_shares(n):
            word = "share"
        sides = next((x for x in (_MEASURES, _SAMPLES) if x[0] in table), None)
        if word == "cut" or (word == "pair" and "system_a" in table):
            # the number of the row among those with equal labels along all dimensions before
            before = _cells(axes, len(table))
            number = pd.Series(before).groupby(before).cumcount().to_numpy(dtype=np.int64)
            cuts = range(int(number.max(initial=-1)) + 1)
            axes.append(_Axis(word, number, known.get(word, cuts)))
        elif word == "pair" and sides is not None:  # pairs of measures in their order, or samples
            both = table[list(sides)]
            number = both.groupby(list(sides), sort=False, dropna=False).ngroup().to_numpy()
            found = list(both[~both.duplicated()].itertuples(index=False, name=None))
            pairs = known.get(word) or sorted(found, key=lambda x: [order.get(k, 0) for k in x])
            rank = {pair: k for k, pair in enumerate(pairs)}
            places = np.array([rank[pair] for pair in found], dtype=int)
            axes.append(_Axis(word, places[number], pairs, sides))
        elif word in table and not any(word in x.columns for x in axes):
            # all labels differ from the labels of a lazy block
            each = 1
            if word == "measure":
                each = _sizes_of_each(table, reading)
            codes, distinct = pd.factorize(table[word][::each], use_na_sentinel=False)
            codes = codes.repeat(each)
            found_labels = pd.Index(distinct, tupleize_cols=False)
            index = found_labels
            if word in known:
                index = pd.Index(known[word], tupleize_cols=False)
            elif word == "n":
                index = _list_sizes(np.sort(np.asarray(distinct)), reading)
            elif word in ("measure", "system"):
                index = pd.Index(labels(reading.names), tupleize_cols=False)
                if len(distinct):
                    index = index[index.isin(found_labels)]
            axes.append(_Axis(word, index.get_indexer(found_labels)[codes], index, (word,)))
    return axes


def _sizes_of_each(table: pd.DataFrame, reading: Reading) -> int:
    """Return how many list sizes each group and measure has if these are the same, or else 1."""
    lines = len(reading.names) * prod(reading.data.sizes[d] for d in reading.batch)
    regular = reading.question.layout == ("measure", "n") and "n" in table
    if not regular or not lines or len(table) % lines:
        return 1
    n = table["n"].to_numpy().reshape(lines, -1)
    if (n != n[:1]).any() or (np.diff(n[:1]) <= 0).any():
        return 1
    return max(n.shape[1], 1)


def _cells(axes: Sequence[_Axis], rows: int) -> IntArray:
    """Return the position of each row among all positions along these dimensions."""
    if not axes:
        return np.zeros(rows, dtype=np.int64)
    return np.ravel_multi_index([x.place for x in axes], [len(x.labels) for x in axes])


def _list_sizes(there: IntArray, reading: Reading) -> pd.Index:
    """Return the list sizes: the requested sizes first, in their order."""
    question = reading.question
    width = reading.data.sizes[reading.question.dim]
    sizes = None
    first = np.empty(0, dtype=np.int64)
    if question.form == "rankings":
        sizes = check_n(question.options.get("n"))
    if isinstance(sizes, np.ndarray):
        first = sizes[reading.ragged | np.isin(sizes, there)]
    if sizes is None and reading.ragged and len(there):  # padding also has a place
        longest = reading.kept.reshape(-1, width).sum(axis=1).max()
        last = int(there[-1]) + width - int(longest)
        there = np.union1d(there, np.arange(there[-1], last + 1))
    return pd.Index(np.append(first, np.setdiff1d(there, first)))


def _are_shares(n: Any) -> bool:
    """Return whether list sizes are shares of the candidates."""
    return isinstance(n, str) or (
        n is not None and any(isinstance(x, float | np.floating) for x in np.ravel(n).tolist())
    )


def _laid_out(table: pd.DataFrame, axes: list[_Axis], reading: Reading) -> xr.Dataset:
    """Place the rows of a table in the cells of a Dataset."""
    axes = sorted(axes, key=lambda axis: axis.dim != "size")  # the size is the first dimension
    dims = [x.dim for x in axes]
    shape = [len(x.labels) for x in axes]
    cells = _cells(axes, len(table))
    in_order = len(cells) == prod(shape) and (cells == np.arange(len(cells))).all()
    keys = {column for x in axes for column in x.columns}
    variables: dict[Hashable, Any] = {}
    for name in (x for x in table.columns if x not in keys):
        values = table[name].to_numpy()
        if reading.ragged and values.dtype.kind in "iu":
            values = values.astype(float)
        if not in_order:  # a cell without a row is NaN, 0 or False
            nothing, dtype = np.nan, values.dtype
            if dtype.kind in "bi":
                nothing = 0
            elif dtype.kind != "f":
                dtype = np.dtype(object)
            placed = np.full(prod(shape), nothing, dtype)
            placed[cells] = values
            values = placed
        variables[name] = xr.Variable(dims, values.reshape(shape))
    for name, dim in (("n", "share"), ("relation", "pair")):
        if name in variables and dim in dims:  # a column along one dimension if groups are equal
            column = variables[name]
            first = column.isel({d: 0 for d in dims if d != dim and column.sizes[d]})
            if column.size and bool(((column == first) | column.isnull()).all()):  # noqa: PD003
                variables[name] = first
    if "n_retrieved" in variables and "metric" in dims:
        values = variables.pop("value")
        names = [str(name) for name in axes[-1].labels]
        by_metric: dict[Hashable, Any] = {}
        for k, name in enumerate(names):
            by_metric[name] = values.isel(metric=k)
            by_metric[name].attrs["metric"] = name
        positive = variables["n_positive"].isel(measure=0)
        if len({*map(tuple, map(_GRADES.findall, names))}) == 1:
            positive = positive.isel(metric=0)
        # counts of the documents have no further dimensions
        by_metric["n_positive"] = positive
        by_metric["n_retrieved"] = variables["n_retrieved"].isel(metric=0)
        by_metric["n_judged"] = variables["n_judged"].isel(measure=0, metric=0)
        variables = {**by_metric, **{x: v for x, v in variables.items() if x not in by_metric}}
        if not any("metric" in v.dims for v in variables.values()):
            axes.pop()
    coords = _coords_of_groups(reading.data, axes, {*variables})
    for axis in axes:
        coords |= axis.coords
    result = xr.Dataset(variables, coords, table.attrs)
    return result.set_coords([x for x in _SYSTEMS if x in result])


def _coords_of_groups(
    data: xr.Dataset, axes: Sequence[_Axis], taken: AbstractSet[Hashable]
) -> dict[Hashable, Any]:
    """Return the coordinates along the groups, with names apart from those of the result."""
    renamed = {x.group: x.dim for x in axes if x.group is not None}
    coords = {}
    for name, coord in data.coords.items():
        if coord.dims and {*coord.dims} <= {*renamed}:
            new = renamed.get(name, name)
            while name not in renamed and new in taken:
                new = f"by_{new}"
            moved = {d: renamed[d] for d in coord.dims if renamed[d] != d}
            coords[new] = coord.reset_coords(drop=True).rename(moved).rename(new)
    return coords


# -------------------------------------------------------------------------------------------------
# Tables of pairs of systems


def _answer_pairs(function: AnyFunction, data: xr.Dataset, options: Options) -> xr.Dataset:
    """Return the answer for a table of pairs of systems."""
    other = options.get("other")
    if isinstance(other, xr.Dataset):  # the systems on other items
        named = "seeds groups strata exclude".split()
        roles = {x: options[x] for x in named if x in options}
        question = Question(function, "items", roles, options.get("dim", "item"), pooled=True)
        _check(other, question)
        options = {**options, "other": _read(other.compute(), question).frame}
    if "gain" not in data.variables:
        refused: xr.Dataset = function(pd.DataFrame(columns=list(data.variables)), **options)
        return refused
    groups = [d for d in data["gain"].dims if d != "pair"]
    frame = data.compute().to_dataframe().reset_index().drop(columns="pair", errors="ignore")
    first = [*groups, *(x for x in _SYSTEMS if x in frame)]
    frame = frame[[*first, *(x for x in frame if x not in first)]]
    frame.attrs = dict(data.attrs)
    return as_rows(function(frame, **options))


# -------------------------------------------------------------------------------------------------
# Datasets in chunks: answers for made-up data show the labels and dtypes of the result


def _answer_in_blocks(data: xr.Dataset, question: Question, *, together: bool) -> xr.Dataset:
    """Return the answer for lazy data, block by block."""
    import dask.array as da

    columns = _columns_of(data, question)
    options = question.options
    kept = _used_variables(data, question, columns)
    if exclude := question.named("exclude"):
        gone = {*data.variables} - {*kept.variables}
        exclude = [x for x in exclude if not is_known(x, gone)]
        options = {**options, "exclude": exclude or None}
    if not question.scored:  # scores are not read
        options = {x: value for x, value in options.items() if x not in SCORED}
    question = question._replace(options=options)
    golds = [v for key, v in columns.variables if key in columns.golds]
    judged = "judged_with" in inspect.signature(question.function).parameters
    shares = question.form == "rankings" and _are_shares(options.get("n", options.get("share")))
    if shares and not judged and not all(map(_is_whole, golds)):
        raise ValueError(
            "n is a share of the candidates in a lazy Dataset, but the number of candidates is"
            " unknown because gold labels may be missing. Pass whole numbers, a gold label of dtype"
            " bool, or data.compute()."
        )
    rechunked = {
        name: v.chunk({d: -1 for d in v.dims if together or d not in columns.batch})
        for name, v in kept.variables.items()
        if v.chunks is not None
    }
    kept = kept.assign(rechunked).unify_chunks()
    numbers = 0
    for v in kept.variables.values():
        sizes = v.chunks or tuple((n,) for n in v.shape)
        numbers += prod(max(along, default=0) for along in sizes)
    check_memory(
        4.0 * numbers,
        "A Dataset in which all candidates of a group, or all groups, form one chunk",
        "Call data.to_dask_dataframe().rankeval, which reads rankings of any size.",
    )
    few = {d: slice(2) for d in columns.batch if not together}
    with hushed():
        shown, axes = _answer(_made_up(kept.isel(few), question), question)
    kept = kept.rename({x.group: x.dim for x in axes if x.group not in (None, x.dim)})
    groups = [x.dim for x in axes if x.group is not None]
    function = question.function
    asked = {
        # tasks contain the name of the public function instead of the function
        "public": (function.__module__, function.__name__),
        "question": question._replace(function=_unasked),
        "known": {x.dim: x.labels for x in axes if x.group is None},
        "choices": {"details": details_wanted(), "progress": SHOWN.get(), "begun": BEGUN.get()},
    }
    if question.form == "items":  # what tests of systems use depends on the values
        for name in ("ci", "interval", "test", "n_groups", "n_items", "n_resamples"):
            if name.startswith("n_") or shown.attrs.get(name) != options.get(name):
                shown.attrs.pop(name, None)
    variables = {}  # of a lazy Dataset without values, in the shape of the answer
    for key in (x for x in shown.variables if x in shown.data_vars or x in _SYSTEMS):
        column = shown[key].variable
        chunks = [
            kept.chunks.get(d, (kept.sizes[d],)) if d in groups else (n,)
            for d, n in column.sizes.items()
        ]
        zeros = da.zeros(list(map(sum, chunks)), dtype=column.dtype, chunks=chunks)
        variables[key] = (column.dims, zeros, column.attrs)
    template = xr.Dataset(variables, attrs=shown.attrs)
    result = xr.map_blocks(_block, kept, kwargs=asked, template=template)
    result = result[list(template.data_vars)]  # old versions of xarray change the order
    fixed = {
        x: c for x, c in shown.coords.items() if x not in _SYSTEMS and not {*c.dims} & {*groups}
    }
    result = result.assign_coords({**_coords_of_groups(data, axes, {*shown.variables}), **fixed})
    return result.set_coords([x for x in _SYSTEMS if x in result])


def _unasked(_: pd.DataFrame) -> None:
    """Stand for a function that is named elsewhere, or where only the frame is needed."""


def _used_variables(data: xr.Dataset, question: Question, columns: Columns) -> xr.Dataset:
    """Return the data without the variables that have no role."""
    if question.form == "items":
        return data.drop_vars([x for x, v in data.data_vars.items() if question.dim not in v.dims])
    used = {*columns.sources, *data.xindexes}
    return data.drop_vars([x for x in data.variables if x not in used])


#: beginnings of warnings about all data, which a block cannot judge
_OF_ALL_DATA = ("gold", "measures:", "The judged candidates", "n=")


def _block(
    part: xr.Dataset,
    *,
    public: tuple[str, str],
    question: Question,
    known: Keywords,
    choices: Keywords,
) -> xr.Dataset:
    """Return the answer for one block, without coordinates."""
    question = question._replace(function=getattr(import_module(public[0]), public[1]))
    with held(**choices), hushed(*_OF_ALL_DATA):
        result, _ = _answer(part, question, known)
    return result.drop_vars([x for x in result.coords if x not in _SYSTEMS]).reset_coords()


def _made_up(data: xr.Dataset, question: Question) -> xr.Dataset:
    """Return data of the same shape in memory, in which lazy values are made up for their role."""
    draws = np.random.default_rng(0)
    options = question.options
    of_items = {d: draws.integers(0, 2, n) for d, n in data.sizes.items()}
    golds: Sequence[Hashable] = ()
    if question.form != "items":
        golds = _golds(data, question)
    names = [*question.named("key", "label"), "document"]
    made: dict[Hashable, Any] = {}
    for name, variable in data.variables.items():
        if variable.chunks is None:
            continue
        values: Any
        if question.form == "items":  # equal statistics of an item are valid counts
            outer = [xr.Variable(d, of_items[d]) for d in variable.dims]
            values = sum(outer[1:], outer[0]).transpose(*variable.dims).to_numpy() % 2
        else:
            number = np.indices(variable.shape)[variable.dims.index(question.dim)]
            if name in golds:
                true = true_values(options.get("positive")) or [options.get("min_grade") or 1]
                for value in true:
                    refuse_absent(int(_fits(value, variable.dtype)), value, name)
                every = labels([*true, next(x for x in range(len(true) + 1) if x not in true)])
                values = every[number % len(every)]
            elif is_known(name, question.named("groups")):
                values = number % max(2, number.shape[-1] // 3)
            elif is_known(name, question.named("judged_with")):
                values = np.full(number.shape, 0.5)
            elif name in names:
                values = number
            else:
                values = draws.permuted(number % 100, axis=number.ndim - 1)
        made[name] = (variable.dims, values.astype(variable.dtype))
    return data.assign(made)


def _fits(value: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether the dtype can contain a value, such as 300 in integers of 8 bits."""
    with contextlib.suppress(OverflowError, TypeError, ValueError):
        return bool(labels([value]).astype(dtype)[0] == value)
    return False
