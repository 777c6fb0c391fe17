"""The door: DataFrames and Datasets of candidates come in and become one labelled form.

The form is an :class:`xarray.Dataset`, its candidates in the order of the tie key, with

* ``score`` (..., measure, candidate): larger is better, NaN where there is no score;
* ``gold`` (..., candidate): True for a true positive;
* ``present`` (..., measure, candidate): False for what a measure leaves out, and for padding;
* ``row`` (..., candidate): the position in the data that came in;
* ``sign`` (measure): -1 where smaller scores rank first and were negated.

The leading dimensions are those of a batch: of a Dataset its own, of a DataFrame ``tables.GROUP``.

A question is a function from this form and the list sizes to a labelled Dataset. :func:`answer`
asks it of every group of a DataFrame, or of a whole Dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd import tables
from rankeval_pd.errors import listed, unknown_name
from rankeval_pd.keys import column_order, label_order, value_order
from rankeval_pd.roles import CONTINGENCY, Roles, as_names
from rankeval_pd.stats import ranking
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray

Data = TypeVar("Data", pd.DataFrame, xr.Dataset)
Question = Callable[[xr.Dataset, IntArray], xr.Dataset]
Combination = Callable[[xr.Dataset, list[Hashable]], xr.Dataset]


# --------------------------------------------------------------------------------- the way through


def answer(
    data: Data,
    roles: Mapping[str, Any],
    question: Question,
    columns: Sequence[str],
    *,
    n: IntArray | None = None,
    scored: bool = True,
    cuts_lists: bool = False,
    rows_only: bool = False,
    any_ties: bool = False,
    combine: Combination | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Data:
    """Ask the question of every group of the data; return what came in, a frame or a Dataset.

    Parameters
    ----------
    data : DataFrame or Dataset
    roles : mapping
        The roles given as keywords.
    question : callable
        From the inner form and the list sizes to a Dataset that has the columns, and ``exists``
        with the dimensions of the result.
    columns : sequence of str
        The columns of the result, in order.
    n : array of int, optional
        List sizes; None is every n.
    scored : bool
        Whether the question needs a measure.
    cuts_lists : bool
        Whether there is a row for each list: under ties="blocks" and n=None then only where a
        block ends, and of a Dataset the rows that there are leave along ``row``.
    rows_only : bool
        Whether the number of rows depends on the data: of a Dataset they leave along ``row``.
    any_ties : bool
        Whether the question has an answer for each way of counting ties.
    combine : callable, optional
        From the answers of all groups and the names of their dimensions to one answer.
    attrs : mapping, optional
        How the result was made: the options that its readers and the plots need.
    """
    chosen = Roles.of(roles)
    if not any_ties:
        chosen.check_ties()
    check_data(data)
    if isinstance(data, xr.Dataset):
        inner = read_dataset(data, chosen, scored=scored)
        tables.check_names("the dimension ", inner.attrs["batch"], columns)
        check_not_above(n, inner.sizes["candidate"])
        result = question(inner, _sizes(n, inner))
        if result["exists"].chunks is None:
            _check_rows(n, [result])
        if combine is not None:
            _check_groups(inner.attrs["batch"])
            result = combine(result, inner.attrs["batch"])
        if rows_only or (cuts_lists and n is None and chosen.ties == "blocks"):
            return tables.leave_rows(result, columns, attrs=attrs)
        return tables.leave_dataset(result, columns, ragged=inner.attrs["ragged"], attrs=attrs)
    groups = read_frame(data, chosen, scored=scored)
    tables.check_names("by=", groups.keys.columns, columns)
    check_not_above(n, groups.largest)
    if combine is not None:
        _check_groups(list(groups.keys.columns))
    results = [question(inner, _sizes(n, inner)) for inner in groups.members]
    if not results:  # no rows, no groups: the columns of an empty group
        nothing = read_frame(data, Roles.of({**roles, "by": None}), scored=scored).members[0]
        result = question(nothing, _sizes(n, nothing))
        results = [result.assign(exists=xr.zeros_like(result["exists"]))]
    _check_rows(n, results)
    if combine is not None:
        lacking = {"exists": False, "tp": 0}  # of the n that only larger groups have
        every = xr.concat(results, tables.GROUP, join="outer", fill_value=lacking)
        one = combine(every, [tables.GROUP])
        results = [one.assign({tables.GROUP: xr.zeros_like(one["exists"], dtype=int)})]
        groups = groups._replace(keys=pd.DataFrame(index=[0]))
    return tables.leave_frame(results, groups.keys, columns, attrs=attrs)


def _check_groups(names: Collection[Hashable]) -> None:
    """Raise a ValueError where there are no groups to combine."""
    if len(names) == 0:
        raise ValueError(
            "combine=True combines groups, and there are none. Name the column that holds them,"
            " by=..., or in a Dataset give them a dimension of their own."
        )


def _sizes(n: IntArray | None, inner: xr.Dataset) -> IntArray:
    return np.arange(1, inner.sizes["candidate"] + 1) if n is None else n


def _check_rows(n: IntArray | None, results: Sequence[xr.Dataset]) -> None:
    """Raise a ValueError where no group has a row for a list size that was asked for."""
    if n is not None and n.size:
        found = [r["exists"].any([d for d in r["exists"].dims if d != "n"]) for r in results]
        lacking = n[~np.any([x.to_numpy() for x in found], axis=0)]
        if lacking.size:
            raise ValueError(
                f"n={int(lacking[0])} is above the number of candidates that take part: those that"
                " are no padding and that, with missing='drop', the measures score. Give smaller n."
            )


def check_data(data: object) -> None:
    """Raise a TypeError unless the data are a DataFrame or a Dataset."""
    if not isinstance(data, pd.DataFrame | xr.Dataset):
        raise TypeError(
            f"data is of type {type(data).__name__}: give a pandas DataFrame with one row per"
            " candidate, or an xarray Dataset with a dimension 'candidate'."
        )


def check_not_above(n: IntArray | None, largest: int) -> None:
    """Raise a ValueError where a list size is above the number of candidates."""
    if n is not None and n.size and int(n.max()) > largest:
        allowed = f"whole numbers from 1 to {largest}" if largest else "no n: there is no candidate"
        raise ValueError(
            f"n={int(n.max())} is above the number of candidates, {largest}. Allowed are {allowed},"
            " or None for every n there is."
        )


def common_size(inner: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Return N and N+, which must be the same for all measures."""

    def same(gold: BoolArray, present: BoolArray) -> tuple[IntArray, IntArray]:
        size = ranking.size(gold[..., np.newaxis, :], present)
        if any((counts != counts[..., :1]).any() for counts in size):
            raise ValueError(
                "missing='drop': the measures differ in the candidates that they score, so there"
                " is no one random model for all. Ask one measure at a time: measures=..., or give"
                " missing='last'."
            )
        return size.total[..., 0], size.positive[..., 0]

    total, positive = xr.apply_ufunc(
        same,
        inner["gold"],
        inner["present"],
        input_core_dims=[["candidate"], ["measure", "candidate"]],
        output_core_dims=[[], []],
        dask="parallelized",
        output_dtypes=[np.int64, np.int64],
    )
    return total, positive


# ------------------------------------------------------------------------------------------ frames


class Groups(NamedTuple):
    """The groups of a DataFrame, sorted."""

    keys: pd.DataFrame  #: one row per group, the columns of ``by``
    members: list[xr.Dataset]  #: the inner form, groups of one size along ``tables.GROUP``
    largest: int  #: the most candidates that a measure has in a group


def read_frame(frame: pd.DataFrame, roles: Roles, *, scored: bool = True) -> Groups:
    """Bring a DataFrame, one row per candidate, into the inner form."""
    if roles.dim != "candidate":
        raise ValueError(
            f"dim={roles.dim!r} names a dimension of a Dataset, and data is a DataFrame: leave it"
            " out."
        )
    columns = frame.columns
    by = as_names(roles.by, columns)
    gold = find_gold(frame, roles)
    named = [gold, *by, *([] if roles.key is None else [roles.key])]
    measures = find_measures(frame, roles, named, needed=scored)
    truth = gold_values(frame_column(frame, gold, "gold"), gold)
    missing = roles.missing if measures else "last"
    scores = np.full((max(len(measures), 1), len(frame)), np.nan)  # no measure: no score at all
    for row, measure in enumerate(measures):
        scores[row] = score_values(frame_column(frame, measure, "measures"), measure)
    measures = measures or [None]
    signs = _signs(measures, roles, columns)
    score, true, present = admit(
        scores * signs[:, np.newaxis],
        truth,
        measures=measures,
        gold_name=gold,
        missing=missing,
        padding=False,
    )
    keys, number = _group_numbers(frame, by)
    if roles.key is None:
        order = label_order(frame.index, roles.seed, number)
    else:
        order = column_order(frame_column(frame, roles.key, "key"), roles.key, number)
    # groups of one size are stacked: the cost is that of the sizes that occur, not of the groups
    sizes = np.bincount(number, minlength=len(keys))
    starts = np.cumsum(sizes) - sizes
    members = []
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        rows = order[starts[chosen, np.newaxis] + np.arange(size)]
        members.append(
            xr.Dataset(
                {
                    "score": ((tables.GROUP, "measure", "candidate"), _stack(score, rows)),
                    "gold": ((tables.GROUP, "candidate"), true[rows]),
                    "present": ((tables.GROUP, "measure", "candidate"), _stack(present, rows)),
                    "row": ((tables.GROUP, "candidate"), rows),
                    "sign": ("measure", signs),
                },
                coords={"measure": ("measure", tables.labels(measures)), tables.GROUP: chosen},
            )
        )
    return Groups(keys, members, max(map(_largest, members), default=0))


def _stack(values: AnyArray, rows: IntArray) -> AnyArray:
    """Return (measure, all rows) as (group, measure, candidate)."""
    return np.moveaxis(values[:, rows], 0, 1)


def _largest(inner: xr.Dataset) -> int:
    """Return the most candidates that a measure has."""
    return int(inner["present"].to_numpy().sum(axis=-1).max())


def _group_numbers(frame: pd.DataFrame, by: list[Hashable]) -> tuple[pd.DataFrame, IntArray]:
    """Return the keys of the groups, sorted, and the number of each row's group."""
    if not by:
        return pd.DataFrame(index=[0]), np.zeros(len(frame), dtype=np.int64)
    keys = pd.concat(
        [frame_column(frame, name, "by").reset_index(drop=True) for name in by], axis=1
    )
    missing = keys.isna().to_numpy()
    if missing.any():
        label = by[int(missing.any(axis=0).argmax())]
        raise ValueError(
            f"by={label!r} has {int(missing.any(axis=1).sum())} missing values: every row belongs"
            f" to a group. Fill them, or drop these rows: data.dropna(subset=[{label!r}])."
        )
    number = np.asarray(keys.groupby(by, sort=True, observed=True).ngroup(), dtype=np.int64)
    _, first = np.unique(number, return_index=True)
    return keys.iloc[first], number


def frame_column(frame: pd.DataFrame, name: Hashable, role: str) -> pd.Series:
    """Return a column by its label, or an index level of that name."""
    try:
        found = frame.columns.get_loc(name)
    except (KeyError, TypeError):
        if role in ("by", "groups") and name in frame.index.names:
            level = list(frame.index.names).index(name)
            return frame.index.get_level_values(level).to_series(index=frame.index)
        raise unknown_name(role, name, frame.columns) from None
    if not isinstance(found, int):
        times = int(np.count_nonzero(np.arange(frame.shape[1])[found] + 1))
        if isinstance(found, np.ndarray) and found.dtype == bool:
            times = int(found.sum())
        raise ValueError(
            f"{role}: the name {name!r} stands for {times} columns. Rename or drop all but one of"
            " them; data.columns.duplicated() shows repeated names."
        )
    return frame.iloc[:, found]


# ---------------------------------------------------------------------------------------- datasets


def check_dim(data: xr.Dataset, roles: Roles) -> None:
    """Raise a ValueError unless the Dataset has the dimension of the candidates."""
    if roles.dim not in data.dims:
        raise ValueError(
            f"dim={roles.dim!r} is not a dimension of data, which has {listed(data.dims)}. Name"
            " the dimension along which the candidates lie: dim=..."
        )
    if roles.dim != "candidate" and "candidate" in data.dims:
        raise ValueError(
            f"dim={roles.dim!r}, and data has a dimension 'candidate' too, which would be a batch."
            " Leave dim out if the candidates lie along it, else rename it:"
            " data.rename(candidate='batch')."
        )


def read_dataset(data: xr.Dataset, roles: Roles, *, scored: bool = True) -> xr.Dataset:
    """Bring a Dataset into the inner form, lazily where it is lazy."""
    check_dim(data, roles)
    if as_names(roles.by, ()):
        raise ValueError(
            f"by={roles.by!r}: in a Dataset, groups are a dimension of their own beside"
            f" {roles.dim!r} and need no by. Leave it out; data.groupby and unstack make such a"
            " dimension, padded with NaN where groups differ in size."
        )
    gold = find_gold(data, roles)
    named = [gold, *([] if roles.key is None else [roles.key])]
    measures = find_measures(data, roles, named, needed=scored)
    for name in named:
        if name not in data.variables:
            raise unknown_name("gold" if name == gold else "key", name, data.data_vars)
    dims = {roles.dim: "candidate"}
    truth = _one_chunk(_lift(gold_values, data[gold], gold), roles.dim).rename(dims)
    split = _split_measures(data, roles, named)
    parts = [
        _one_chunk(_lift(score_values, split[name], name), roles.dim).rename(dims)
        for name in measures
    ]
    missing = roles.missing if measures else "last"
    parts = parts or [xr.full_like(truth, np.nan)]  # no measure: no score at all
    measures = measures or [None]
    score = xr.concat(
        xr.broadcast(*parts), "measure", coords="minimal", compat="override", join="override"
    )
    signs = _signs(measures, roles, split)
    score = _one_chunk(score * xr.DataArray(signs, dims="measure"), "measure")
    batch = [
        d
        for d in data.dims
        if d in (*score.dims, *truth.dims) and d != roles.dim and d not in ("measure", "candidate")
    ]
    tables.check_names("the dimension ", batch, ())
    score = score.transpose(*[d for d in batch if d in score.dims], "measure", "candidate")
    score, truth, row = _in_key_order(score, truth, data, roles)
    score, true, present = xr.apply_ufunc(
        admit,
        score,
        truth,
        kwargs={
            "measures": measures,
            "gold_name": gold,
            "missing": missing,
            "padding": True,
        },
        input_core_dims=[["measure", "candidate"], ["candidate"]],
        output_core_dims=[
            ["measure", "candidate"],
            ["candidate"],
            ["measure", "candidate"],
        ],
        dask="parallelized",
        output_dtypes=[float, bool, bool],
        keep_attrs=False,
    )
    inner = xr.Dataset(
        {
            "score": score,
            "gold": true,
            "present": present,
            "row": row,
            "sign": ("measure", signs),
        }
    )
    kept = {name: c for name, c in data.coords.items() if c.dims and set(c.dims) <= set(batch)}
    inner = inner.drop_vars(list(inner.coords)).assign_coords(
        {**kept, "measure": ("measure", tables.labels(measures))}
    )
    # what may be missing for some batch is float, whether or not it is missing
    dtype = data[gold].dtype
    whole = isinstance(dtype, np.dtype) and dtype.kind in "bui"
    ragged = roles.missing == "drop" or not whole
    return inner.assign_attrs(ragged=ragged, batch=batch)


def _split_measures(data: xr.Dataset, roles: Roles, named: list[Hashable]) -> dict[Hashable, Any]:
    """Return the variables that can be measures, those with a dimension ``measure`` in parts."""
    found: dict[Hashable, Any] = {}
    for name, variable in data.data_vars.items():
        if roles.dim not in variable.dims or name in named:
            continue
        if "measure" not in variable.dims:
            found[name] = variable
            continue
        for position, label in enumerate(data["measure"].to_numpy().tolist()):
            if label in found or label in data.data_vars:
                raise ValueError(
                    f"measures: the name {label!r} stands for several measures of the Dataset:"
                    " variables, or positions along the dimension 'measure'. Rename or drop all"
                    " but one of them."
                )
            found[label] = variable.isel(measure=position, drop=True)
    return found


def _lift(function: Callable[..., AnyArray], variable: xr.DataArray, name: Hashable) -> Any:
    """Apply a reading of values to a variable, when it is computed if it is lazy."""
    bare = xr.DataArray(variable.variable)
    if isinstance(bare.dtype, pd.api.extensions.ExtensionDtype):
        return bare.copy(data=function(pd.Series(variable.data), name))
    return xr.apply_ufunc(
        lambda values: function(pd.Series(values.ravel()), name).reshape(values.shape),
        bare,
        dask="parallelized",
        output_dtypes=[float],
        keep_attrs=False,
    )


def _one_chunk(variable: xr.DataArray, dim: Hashable) -> xr.DataArray:
    """Return the variable with its candidates in one chunk: a ranking needs them all."""
    return variable.chunk({dim: -1}) if variable.chunks is not None else variable


def _in_key_order(
    score: xr.DataArray, truth: xr.DataArray, data: xr.Dataset, roles: Roles
) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    if roles.key is None:
        labels = data.indexes.get(roles.dim)
        labels = pd.RangeIndex(data.sizes[roles.dim]) if labels is None else labels
        order = label_order(labels, roles.seed, np.zeros(len(labels), dtype=np.int64))
        row = xr.DataArray(order, dims="candidate")
        return score.isel(candidate=order), truth.isel(candidate=order), row
    key = xr.DataArray(data[roles.key].variable).rename({roles.dim: "candidate"})
    core = ["candidate"]
    row = xr.apply_ufunc(
        value_order,
        _one_chunk(key, "candidate"),
        truth,
        kwargs={"name": roles.key},
        input_core_dims=[core, core],
        output_core_dims=[core],
        dask="parallelized",
        output_dtypes=[np.int64],
    )
    score, truth = (
        xr.apply_ufunc(
            _take_last,
            values,
            row,
            input_core_dims=[core, core],
            output_core_dims=[core],
            dask="parallelized",
            output_dtypes=[float],
        )
        for values in (score, truth)
    )
    return score, truth, row


def _take_last(values: AnyArray, positions: IntArray) -> AnyArray:
    values, positions = np.broadcast_arrays(values, positions)
    return np.take_along_axis(values, positions, axis=-1)


# ------------------------------------------------------------------------------- finding the roles


def _variables(data: pd.DataFrame | xr.Dataset, roles: Roles) -> dict[Hashable, list[Any]]:
    """Return the dtypes of the columns by label, or of the variables that hold candidates."""
    found: dict[Hashable, list[Any]] = {}
    if isinstance(data, pd.DataFrame):
        for label, dtype in zip(data.columns, data.dtypes, strict=True):
            found.setdefault(label, []).append(dtype)
    else:
        for name, variable in data.data_vars.items():
            if roles.dim in variable.dims:
                found[name] = [variable.dtype]
    return found


def _is_score(dtype: Any) -> bool:
    api = pd.api.types
    return (
        api.is_numeric_dtype(dtype)
        and not api.is_bool_dtype(dtype)
        and not api.is_complex_dtype(dtype)
    )


def find_gold(data: pd.DataFrame | xr.Dataset, roles: Roles) -> Hashable:
    """Return the name of the gold label: given, ``gold``, or the only boolean column."""
    for role in ("metric", "groups", "higher_is_better"):
        if getattr(roles, role) is not None:
            raise ValueError(
                f"{role}={getattr(roles, role)!r} belongs to systems over test items, and this is a"
                " method for rankings, candidates with a gold label. Leave it out, or use"
                " paired_bootstrap, paired_permutation, system_ranks or gain_by_size."
            )
    columns = _variables(data, roles)
    if roles.gold is not None:
        if roles.gold in columns or (isinstance(data, xr.Dataset) and roles.gold in data.variables):
            return roles.gold
        raise unknown_name("gold", roles.gold, columns)
    if "gold" in columns:
        return "gold"
    candidates = [name for name, dtypes in columns.items() if pd.api.types.is_bool_dtype(dtypes[0])]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise ValueError(
            f"gold is not given, and it could be any of {listed(candidates)}. Say which column"
            f" marks the true positives: gold={candidates[0]!r}."
        )
    raise ValueError(
        "gold is not given, and no column is named 'gold' or boolean; there are"
        f" {listed(columns)}. Say which column marks the true positives: gold=... A table of"
        " systems over test items has no gold label: its methods are paired_bootstrap,"
        " paired_permutation, system_ranks and gain_by_size."
    )


def find_measures(
    data: pd.DataFrame | xr.Dataset, roles: Roles, taken: list[Hashable], *, needed: bool
) -> list[Hashable]:
    """Return the names of the measures: those given, else every numeric column without a role.

    A question that needs no measure gets none, unless a missing score decides who takes part.
    """
    if not needed and roles.missing != "drop":
        return []
    if isinstance(data, pd.DataFrame):
        columns = _variables(data, roles)
    else:
        columns = {k: [v.dtype] for k, v in _split_measures(data, roles, taken).items()}
    if roles.measures is not None:
        names = list(dict.fromkeys(as_names(roles.measures, columns)))
        for name in names:
            if name == taken[0]:
                raise ValueError(
                    f"measures: {name!r} is the gold label, and a label is no score of its own."
                    " Leave it out."
                )
            if name not in columns:
                raise unknown_name("measures", name, columns)
    else:
        names = [
            name
            for name, dtypes in columns.items()
            if all(map(_is_score, dtypes)) and name not in taken and name not in CONTINGENCY
        ]
    if needed and not names:
        raise ValueError(
            f"measures: no numeric column without another role; there are {listed(columns)}. Give"
            " the scores of each measure as a column of numbers, or name the columns: measures=..."
        )
    return names


def _signs(measures: list[Hashable], roles: Roles, columns: Any) -> FloatArray:
    lower = as_names(roles.lower_is_better, columns)
    for unknown in (name for name in lower if name not in columns):
        raise unknown_name("lower_is_better", unknown, columns)
    return np.array([-1.0 if name in lower else 1.0 for name in measures])


# ------------------------------------------------------------------------------- reading the values

_EXACT = 2.0**53  # up to here, float64 tells all whole numbers apart


def score_values(values: pd.Series, name: Hashable) -> FloatArray:
    """Return scores as float64, NaN where they are missing."""
    if values.dtype == object:
        values = values.infer_objects()
    if not (_is_score(values.dtype) or pd.api.types.is_bool_dtype(values.dtype)) or isinstance(
        values.dtype, pd.CategoricalDtype
    ):
        raise TypeError(
            f"measures: {name!r} has dtype {values.dtype}, and scores are numbers. Convert it,"
            f" as by pd.to_numeric, or name the measures that are meant: measures=..."
        )
    scores = values.to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.is_integer_dtype(values.dtype) and (np.abs(scores) >= _EXACT).any():
        raise ValueError(
            f"measures: {name!r} has whole numbers of 2**53 or more, which cannot be told apart as"
            f" float64 and would be ties. Use their ranks: data[{name!r}].rank()."
        )
    return scores


def gold_values(values: pd.Series, name: Hashable) -> FloatArray:
    """Return the gold label as 1.0, 0.0 and, where it is missing, NaN."""
    if values.dtype == object or isinstance(values.dtype, pd.CategoricalDtype):
        values = pd.Series(values.astype(object).to_numpy(), dtype=object)
        if all(isinstance(x, (bool, np.bool_, int, float, np.number)) for x in values.dropna()):
            values = pd.Series([np.nan if pd.isna(x) else float(x) for x in values], dtype=float)
    api = pd.api.types
    numeric = (
        api.is_numeric_dtype(values.dtype) or api.is_bool_dtype(values.dtype)
    ) and not api.is_complex_dtype(values.dtype)
    truth = values.to_numpy(dtype=np.float64, na_value=np.nan) if numeric else None
    if truth is None or not (np.isnan(truth) | (truth == 0) | (truth == 1)).all():
        found = values.dropna().unique()[:5].tolist()
        raise ValueError(
            f"gold={name!r} holds {listed(found)}, and a gold label is True or False, 1 or 0. Say"
            f" which values are true positives: data.assign(gold=data[{name!r}] == {found[-1]!r})."
        )
    return truth


def admit(
    score: FloatArray,
    gold: FloatArray,
    *,
    measures: Sequence[Hashable],
    gold_name: Hashable,
    missing: str,
    padding: bool,
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return scores, gold and who is present; refuse what is missing without leave.

    score (..., measure, candidate) and gold (..., candidate) broadcast.
    """
    batch = np.broadcast_shapes(score.shape[:-2], gold.shape[:-1])
    score = np.broadcast_to(score, (*batch, *score.shape[-2:]))
    gold = np.broadcast_to(gold, (*batch, gold.shape[-1]))
    unscored = np.isnan(score)
    unlabelled = np.isnan(gold)
    left_out = unlabelled & unscored.all(axis=-2) if padding else np.zeros_like(unlabelled)
    if (unlabelled & ~left_out).any():
        raise ValueError(
            f"gold={gold_name!r} is missing for {int((unlabelled & ~left_out).sum())} of"
            f" {gold.size} candidates: whether a candidate is a true positive must be known. Drop"
            " those that were not judged, or say what they are by fillna(False)."
        )
    present = np.broadcast_to(~left_out[..., np.newaxis, :], score.shape)
    lacking = unscored & present
    if missing == "raise" and lacking.any():
        axes = tuple(i for i in range(score.ndim) if i != score.ndim - 2)
        counts = lacking.sum(axis=axes)
        shown = [
            f"{name!r} ({'all' if count == present[..., i, :].sum() else int(count)})"
            for i, (name, count) in enumerate(zip(measures, counts, strict=True))
            if count
        ]
        raise ValueError(
            f"missing='raise': scores are missing in {', '.join(shown)} of {gold.size} candidates."
            " Give missing='last' to rank them after every score, or missing='drop' to leave them"
            " out of the measures that lack them."
        )
    if missing == "drop":
        present = present & ~unscored
    return score, gold == 1.0, present
