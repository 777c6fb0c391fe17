"""Apply functions to rankings, group by group.

A question is a function that takes the internal form (see
:mod:`rankeval_pd.forms.rankings.candidates`) and list sizes, and returns a labeled Dataset.
:func:`answer` applies the question to every group of a DataFrame, or to a whole Dataset.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.doors.heads import refuse_head
from rankeval_pd.errors import warn
from rankeval_pd.forms.lazy.batches import (
    Columns,
    chunked_ranking,
    find_batches,
    head_of_chunks,
    stand_in,
    with_heads,
)
from rankeval_pd.forms.lazy.engine import Batches
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.averages import check_groups
from rankeval_pd.forms.rankings.annotators import refuse_each
from rankeval_pd.forms.rankings.candidates import (
    Data,
    Groups,
    check_data,
    read_dataset,
    read_frame,
    read_part,
)
from rankeval_pd.forms.rankings.copied_measures import ORDERS
from rankeval_pd.forms.rankings.values import (
    Shares,
    Sizes,
    check_not_above,
    gold_values,
    lifted,
    longest_list,
)
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import BoolArray, IntArray
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.ranking import Whole

Reading = Callable[..., xr.Dataset]
RankingQuestion = Callable[[xr.Dataset, IntArray], xr.Dataset]
Combination = Callable[[xr.Dataset, list[Hashable]], xr.Dataset]
Finish = Callable[[list[xr.Dataset], list[Hashable]], list[xr.Dataset]]


def answer(
    data: Data,
    roles: Mapping[str, Any],
    question: RankingQuestion,
    columns: Sequence[str],
    able: Capabilities,
    *,
    n: Sizes = None,
    read: Reading | None = read_part,
    combine: Combination | None = None,
    finish: Finish | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Data:
    """Apply the question to every group, and return a result of the data's type.

    Parameters
    ----------
    data : DataFrame or Dataset
    roles : mapping
        The roles given as keywords.
    question : callable
        A function that takes the internal form and list sizes, and returns a Dataset with the
        columns and ``exists``, which has all dimensions of the result. The attribute ``n_groups``
        of the internal form is the total number of groups.
    columns : sequence of str
        The columns of the result, in order.
    able : Capabilities
        The capabilities from ``can(function)``, adjusted for the current call.
    n : array of int, Shares, optional
        List sizes. None means every n. Shares are fractions of the candidates, so list sizes differ
        between groups. If n contains shares, the dimension is ``share`` instead of n, and the
        result has a ``share`` column.
    read : callable, optional
        A function that converts a chunk of a lazy Dataset to the internal form. None means that the
        question uses additional values and needs all rankings at once.
    combine : callable, optional
        A function that takes the answers for all groups and the names of the group dimensions, and
        returns one answer.
    finish : callable, optional
        A function for results that need all groups. The function takes one answer for each group
        size and the names of the group dimensions, and returns the final answers. For a DataFrame,
        one answer can contain all groups unless n contains shares.
    attrs : mapping, optional
        Options to store in the attrs of the result, for readers and plots.
    """
    chosen = Roles.of(roles)
    if not able.any_ties:
        chosen.check_ties()
    if able.scores and not able.ends:
        chosen.check_ends()
    if not (able.clusters and able.crossed):
        chosen.check_groups(crossed=able.clusters)
    if len(chosen.factors) > 1:  # a head contains the number of levels only for a single factor
        able = replace(able, heads=False)
    check_data(data)
    # Datasets of blocks, or with a data-dependent number of rows, get the dimension ``row``
    if combine is not None:
        refuse_each(chosen, "combine=True or average=...")
    as_rows = able.any_rows or (able.lists and n is None and chosen.ties == "blocks")
    call = _Call(question, columns, able, as_rows, n, combine, finish, attrs)
    if isinstance(data, xr.Dataset):
        return _of_dataset(data, chosen, call, read)
    return _of_frame(data, chosen, call)


class _Call(NamedTuple):
    """Apply a question to any type of data. Tasks contain this object but no data."""

    question: RankingQuestion
    columns: Sequence[str]
    able: Capabilities
    as_rows: bool
    n: Sizes
    combine: Combination | None
    finish: Finish | None
    attrs: Mapping[str, Any] | None

    @property
    def of_counts(self) -> bool:
        """Return whether the question needs only N and N+, for groups of any size."""
        return self.able.counts and isinstance(self.n, np.ndarray)


def _of_dataset(data: xr.Dataset, chosen: Roles, call: _Call, read: Reading | None) -> xr.Dataset:
    """Compute the answer for a Dataset, by a method that suits its chunks."""
    data = tables.dims_apart(data, chosen, call.columns)
    able, n = call.able, call.n
    of_heads = able.heads and able.scores and n is not None and call.combine is None
    # n-best lists from one lazy ranking in several chunks need only the head
    if of_heads and not able.any_rows and (columns_of := chunked_ranking(data, chosen)) is not None:
        return _from_head(data, columns_of, call)
    batches: Batches | None = None
    if read is not None:
        batches = find_batches(data, chosen, partial(read, scored=able.scores), scored=able.scores)
    # for large lazy rankings, a chunk keeps only the heads
    if batches is not None and of_heads:
        batches = with_heads(batches, longest_list(n, data.sizes[chosen.dim]), able.n_keys)
    source = data if batches is None else batches.stand_in
    inner = read_dataset(source, chosen, scored=able.scores)
    batch: list[Hashable] = inner.attrs["batch"]
    tables.check_names("the dimension ", batch, call.columns)
    beside = [x for x, c in inner.coords.items() if c.dims and set(c.dims) <= {*batch}]
    tables.check_names("the coordinate ", [x for x in beside if x not in batch], call.columns)
    check_not_above(n, inner.sizes["candidate"])
    # for methods that need only N and N+, lazy chunks are counted but not ranked
    if batches is not None and (able.any_rows or call.of_counts):
        inner, batches = inner.assign(_counted(batches, inner, scored=able.scores)), None
    inner = inner.assign_attrs(n_groups=math.prod(inner.sizes[d] for d in batch))
    # one call handles data in memory, or rankings split across chunks
    if batches is None:
        return _of_batch(inner, call)
    # other lazy rankings need one task per chunk
    return _of_batches(inner, batches, call)


def _of_frame(data: pd.DataFrame, chosen: Roles, call: _Call) -> pd.DataFrame:
    """Compute the answer for a DataFrame, stacking groups of equal size."""
    scored = call.able.scores
    if not call.able.heads:
        refuse_head(data)
    groups = read_frame(data, chosen, scored=scored)
    added = ["share"] if isinstance(call.n, Shares) else []
    groups = replace(groups, keys=tables.keys_apart(groups.keys, [*call.columns, *added]))
    check_not_above(call.n, groups.largest, groups.whole if scored else None)
    if call.able.heads and call.able.n_keys == 1 and scored and isinstance(call.n, np.ndarray):
        groups = groups.head(longest_list(call.n, groups.largest))
    # if there are no rows, return the columns for an empty group
    if len(groups.keys) == 0:
        nothing = read_frame(data, replace(chosen, by=None), scored=scored).members[0]
        return _of_groups(groups, [nothing], call, empty=True)
    # N and N+ do not depend on stacking, so all groups go into one call
    members = [groups.counts] if call.of_counts else groups.members
    return _of_groups(groups, members, call)


def _of_batch(inner: xr.Dataset, call: _Call) -> xr.Dataset:
    """Compute the answer for a Dataset, separately by size if n is a share."""
    parts = _parts(inner, call.n)
    results = [_ask(call.question, part, call.n, total) for part, total in parts]
    return _left(results, parts, inner, call)


def _of_batches(inner: xr.Dataset, batches: Batches, call: _Call) -> xr.Dataset:
    """Compute the answer for a lazy Dataset chunk by chunk."""
    batch: list[Hashable] = inner.attrs["batch"]
    # these values become part of every task
    n_groups, width, ragged = (
        inner.attrs["n_groups"], inner.sizes["candidate"], inner.attrs["ragged"],
    )  # fmt: skip

    def ask(some: xr.Dataset) -> xr.Dataset:
        return _ask(call.question, some.assign_attrs(n_groups=n_groups), call.n, size_of(some))

    def leave(result: xr.Dataset) -> xr.Dataset:
        along = _along_share(result, call.n, width)
        columns = _with_share(call.columns, along)
        return tables.leave_dataset(along, columns, ragged=ragged, attrs=call.attrs)

    parts = _parts(inner, call.n)
    template = _ask(call.question, parts[0][0], call.n, parts[0][1])
    if call.finish is None and call.combine is None and not call.as_rows:
        return batches.filled(leave(template), batch, lambda some: leave(ask(some)))
    results = [batches.filled(template, batch, ask)]
    return _left(results, parts, inner, call)


def _left(
    results: list[xr.Dataset],
    parts: Sequence[tuple[xr.Dataset, int]],
    inner: xr.Dataset,
    call: _Call,
) -> xr.Dataset:
    """Finish and combine the answers for all parts of a Dataset."""
    batch: list[Hashable] = inner.attrs["batch"]
    if results[0]["exists"].chunks is None and (above := _above_all(call.n, results)):
        warn(
            f"{above} in every batch, so these rows are NaN. Pass smaller sizes; a lazy Dataset"
            " returns NaN without this warning."
        )
    if call.finish is not None:
        results = call.finish(results, batch if len(parts) == 1 else [tables.GROUP])
    results = [_along_share(x, call.n, total) for x, (_, total) in zip(results, parts, strict=True)]
    result = results[0] if len(parts) == 1 else _joined(results, inner, call.n)
    columns = _with_share(call.columns, result)
    if call.combine is not None:
        check_groups(batch)
        result = call.combine(_whole_batch(result, batch), batch)
    if call.as_rows:
        return tables.leave_rows(result, columns, attrs=call.attrs)
    return tables.leave_dataset(result, columns, ragged=inner.attrs["ragged"], attrs=call.attrs)


def _of_groups(
    groups: Groups, members: Sequence[xr.Dataset], call: _Call, *, empty: bool = False
) -> pd.DataFrame:
    """Compute the answers for groups of a DataFrame, size by size."""
    n, whole, keys = call.n, groups.whole, groups.keys
    if call.combine is not None:
        check_groups(list(keys.columns))
    sizes = [
        inner.sizes.get("candidate", groups.largest) if whole is None else whole.total
        for inner in members
    ]
    if empty:
        sizes = [0]
    results = [
        _ask(call.question, inner.assign_attrs(n_groups=len(keys)), n, size)
        for inner, size in zip(members, sizes, strict=True)
    ]
    if empty:
        results = [x.assign(exists=xr.zeros_like(x["exists"])) for x in results]
    if above := _above_all(n, results):
        raise ValueError(f"{above}. Pass smaller n.")
    if call.finish is not None:
        results = call.finish(results, [tables.GROUP])
    if isinstance(n, Shares):
        results = [_along_share(x, n, total) for x, total in zip(results, sizes, strict=True)]
    if call.combine is not None:
        lacking = {"exists": False, "tp": 0}  # defaults for sizes that only larger groups reach
        results = [x.drop_vars(ORDERS, errors="ignore") for x in results]
        every = xr.concat(results, tables.GROUP, join="outer", fill_value=lacking)
        one = call.combine(every, [tables.GROUP])
        results = [one.assign({tables.GROUP: xr.zeros_like(one["exists"], dtype=int)})]
        keys = pd.DataFrame(index=[0])
    columns = _with_share(call.columns, results[0])
    return tables.leave_frame(results, keys, columns, attrs=call.attrs)


def _from_head(data: xr.Dataset, columns_of: Columns, call: _Call) -> xr.Dataset:
    """Compute the answer lazily from the head of a ranking in chunks."""
    n, finish = call.n, call.finish
    empty, roles = stand_in(data, columns_of)
    # an empty ranking shows the shape of the answer
    template = answer(
        empty, roles, call.question, call.columns, replace(call.able, heads=False),
        n=n, finish=finish, attrs=call.attrs,
    )  # fmt: skip
    ragged = columns_of.variables[columns_of.request.gold].dtype.kind not in "bui"

    def ask(inner: xr.Dataset) -> xr.Dataset:
        results = [_ask(call.question, inner.assign_attrs(n_groups=1), n, size_of(inner))]
        results = results if finish is None else finish(results, [])
        result = _along_share(results[0], n, size_of(inner))
        return tables.leave_dataset(result, _with_share(call.columns, result), ragged=ragged)

    largest = longest_list(n, empty.sizes["candidate"])
    return head_of_chunks(columns_of, largest, call.able.n_keys).filled(template, [], ask)


def _ask(question: RankingQuestion, inner: xr.Dataset, n: Sizes, total: int) -> xr.Dataset:
    """Compute the answer for groups of one size."""
    if isinstance(n, Shares):
        return question(inner, np.unique(n.of(total)))
    if n is None:
        n = ranking.every(total, inner.attrs["whole"])
    return question(inner, n)


def size_of(inner: xr.Dataset) -> int:
    """Return the number of candidates in the internal form, including padding."""
    whole: Whole | None = inner.attrs["whole"]
    return int(inner.sizes["candidate"]) if whole is None else whole.total


def _along_share(result: xr.Dataset, n: Sizes, total: int) -> xr.Dataset:
    """Replace the dimension n with ``share`` if shares were requested."""
    if not isinstance(n, Shares) or "n" not in result.dims:
        return result
    picked = result.isel(n=np.unique(n.of(total), return_inverse=True)[1])
    asked = picked["n"].to_numpy()
    moved = picked.drop_vars("n").rename(n="share").assign(n=("share", asked))
    return moved.assign_coords(share=("share", n.values))  # noqa: PD011


def _parts(inner: xr.Dataset, n: Sizes) -> list[tuple[xr.Dataset, int]]:
    """Group the batch elements by size if shares are requested.

    Without padding, all batch elements form one part in their original order.
    """
    if not isinstance(n, Shares) or not inner.attrs["padded"]:
        return [(inner, inner.sizes["candidate"])]
    total = _real_sizes(inner)
    if not total.ndim or (total == total.max()).all():
        return [(inner, int(total.max()))]
    batch = list(total.dims)
    flat = inner.stack({tables.GROUP: batch}, create_index=False)  # noqa: PD013
    sizes = total.to_numpy().ravel()
    return [
        (flat.isel({tables.GROUP: np.flatnonzero(sizes == size)}), int(size))
        for size in np.unique(sizes)
    ]


def _real_sizes(inner: xr.Dataset) -> xr.DataArray:
    """Return the number of candidates without padding in each batch element."""
    present = inner["present"]
    if present.chunks is not None:
        raise ValueError(
            "n is a share of the candidates in a lazy Dataset, but the number of candidates is"
            " unknown because gold labels may be missing. Pass whole numbers, a gold label of dtype"
            " bool, or data.compute()."
        )
    here = present.any("measure") if "measure" in present.dims else present
    return here.sum("candidate")


def _joined(parts: list[xr.Dataset], inner: xr.Dataset, n: Sizes) -> xr.Dataset:
    """Join the batch elements of all sizes in their original dimensions."""
    total = _real_sizes(inner)
    batch, sizes = list(total.dims), total.to_numpy().ravel()
    if "share" in parts[0].dims:  # n differs between sizes
        parts = [part.assign(n=part["n"].broadcast_like(part["exists"])) for part in parts]
    parts = [part.drop_vars(ORDERS, errors="ignore") for part in parts]
    joined = xr.concat(parts, tables.GROUP, coords="minimal", compat="override", join="override")
    joined = joined.isel({tables.GROUP: np.argsort(np.argsort(sizes, kind="stable"))})
    levels = pd.MultiIndex.from_product([range(total.sizes[d]) for d in batch], names=batch)
    named = xr.Coordinates.from_pandas_multiindex(levels, tables.GROUP)
    flat = joined.drop_vars(batch, errors="ignore").assign_coords(named)
    back = flat.unstack(tables.GROUP)  # noqa: PD010
    kept = {name: c for name, c in inner.coords.items() if c.dims and set(c.dims) <= set(batch)}
    return back.drop_vars(batch).assign_coords(kept)


def _with_share(columns: Sequence[str], result: xr.Dataset) -> Sequence[str]:
    return (*columns, "share") if "share" in result.dims else columns


def _above_all(n: Sizes, results: Sequence[xr.Dataset]) -> str:
    """Return the error text for list sizes larger than every group."""
    # an empty batch has no answer
    results = [result for result in results if result["exists"].size]
    if isinstance(n, np.ndarray) and n.size and results:
        listed = [r["exists"].any([d for d in r["exists"].dims if d != "n"]) for r in results]
        lacking = n[~np.any([x.to_numpy() for x in listed], axis=0)]
        if lacking.size:
            return (
                f"n={int(lacking.flat[0])} exceeds the number of available candidates (excluding"
                " padding and, if missing='drop', missing scores)"
            )
    return ""


def _whole_batch(result: xr.Dataset, batch: list[Hashable]) -> xr.Dataset:
    """Put the batch into one chunk, so that sums follow NumPy's order."""
    if result["exists"].chunks is None:
        return result
    lazy = {name: x.variable for name, x in result.data_vars.items() if x.chunks is not None}
    sizes: dict[Hashable, Any] = {**dict.fromkeys(batch, -1), "n": "auto"}
    return result.assign(  # values in memory, such as pair names, stay in memory
        {name: x.chunk({d: sizes[d] for d in x.dims if d in sizes}) for name, x in lazy.items()}
    )


def _counted(batches: Batches, inner: xr.Dataset, *, scored: bool) -> xr.Dataset:
    """Count N and N+ in chunks, from the labels alone if possible."""
    batch: list[Hashable] = inner.attrs["batch"]
    if scored or batches.roles.missing == "drop":
        return batches.filled(_sizes(inner), batch, _sizes)
    return replace(batches, read=_count_labels).filled(_sizes(inner), batch, _itself)


def _count_labels(part: xr.Dataset, roles: Roles) -> xr.Dataset:
    """Count N and N+ from the labels in a chunk. Unlabeled rows are padding."""
    gold = part[roles.gold]
    dims = [d for d in gold.dims if d != roles.dim]
    read = partial(gold_values, positive=roles.positive, min_grade=roles.min_grade, all_there=False)
    truth = lifted(read, gold, roles.gold).transpose(*dims, roles.dim).to_numpy()
    counts = (~np.isnan(truth)).sum(axis=-1), (truth == 1.0).sum(axis=-1)
    return xr.Dataset({name: (dims, count) for name, count in zip(_KNOWN, counts, strict=True)})


def _itself(counts: xr.Dataset) -> xr.Dataset:
    return counts


def _sizes(inner: xr.Dataset) -> xr.Dataset:
    """Return N and N+ with the names that :func:`common_size` uses."""
    return xr.Dataset(dict(zip(_KNOWN, common_size(inner), strict=True)))


_KNOWN = ("_n_candidates", "_n_positive")


def size_now(inner: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Compute N and N+ as in :func:`common_size`."""
    total, positive = common_size(inner)
    both = xr.Dataset({"total": total, "positive": positive}).compute()
    return both["total"], both["positive"]


def common_size(inner: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Return N and N+, which must be equal for all measures."""

    def counted(gold: BoolArray, present: BoolArray) -> tuple[IntArray, IntArray]:
        size = ranking.size(gold[..., np.newaxis, :], present, inner.attrs["whole"])
        return _same(size.total), _same(size.positive)

    if _KNOWN[0] in inner:
        return inner[_KNOWN[0]], inner[_KNOWN[1]]
    if "total" in inner:  # all groups are together
        total, positive = (
            xr.DataArray(_same(inner[name].to_numpy()), dims=tables.GROUP)
            for name in ("total", "positive")
        )
        return total.assign_coords(inner[tables.GROUP].coords), positive
    total, positive = xr.apply_ufunc(
        counted,
        inner["gold"],
        inner["present"],
        input_core_dims=[["candidate"], ["measure", "candidate"]],
        output_core_dims=[[], []],
        dask="parallelized",
        output_dtypes=[np.int64, np.int64],
    )
    return total, positive


def _same(counts: IntArray) -> IntArray:
    """Drop the measure axis of counts, which must be equal for all measures."""
    if (counts != counts[..., :1]).any():
        raise ValueError(
            "missing='drop': the measures score different candidates, so there"
            " is no common random model. Pass one measure at a time, measures=..., or"
            " missing='last'."
        )
    return counts[..., 0]
