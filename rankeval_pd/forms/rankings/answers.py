"""Apply functions to rankings, group by group.

A question is a function that takes the internal form (see
:mod:`rankeval_pd.forms.rankings.candidates`) and list sizes, and returns a labeled Dataset.
:func:`answer` applies the question to every group of a DataFrame, or to a whole Dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.forms.lazy.heads import refuse_head
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.averages import check_groups
from rankeval_pd.forms.rankings.annotators import refuse_each
from rankeval_pd.forms.rankings.candidates import (
    Data,
    Groups,
    check_data,
    read_frame,
)
from rankeval_pd.forms.rankings.copied_measures import ORDERS
from rankeval_pd.forms.rankings.values import (
    Shares,
    Sizes,
    check_not_above,
    longest_list,
)
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import BoolArray, IntArray
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.ranking import Whole

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
    if combine is not None:
        refuse_each(chosen, "combine=True or average=...")
    call = _Call(question, columns, able, n, combine, finish, attrs)
    return _of_frame(data, chosen, call)


class _Call(NamedTuple):
    """Apply a question to any type of data. Tasks contain this object but no data."""

    question: RankingQuestion
    columns: Sequence[str]
    able: Capabilities
    n: Sizes
    combine: Combination | None
    finish: Finish | None
    attrs: Mapping[str, Any] | None

    @property
    def of_counts(self) -> bool:
        """Return whether the question needs only N and N+, for groups of any size."""
        return self.able.counts and isinstance(self.n, np.ndarray)


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
