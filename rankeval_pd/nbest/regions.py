"""Which candidates make the difference? The difference region (Evert 2004, section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import unknown_name
from rankeval_pd.forms import tables
from rankeval_pd.forms.answers import check_not_above, size_of
from rankeval_pd.forms.columns import native, with_columns
from rankeval_pd.forms.dask_batches import find_batches
from rankeval_pd.forms.heads import HeadFrame, head_of
from rankeval_pd.forms.measure_pairs import only_pair
from rankeval_pd.forms.n import Shares, Sizes, check_n
from rankeval_pd.forms.rankings import Data, check_data, read_dataset, read_frame, read_part
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles_but
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.rankings import ranking


@with_roles_but("gold", "positive", "min_grade", "groups")
def difference_region(
    data: Data, a: Hashable, b: Hashable, n: int, **roles: Unpack[RankingRoles]
) -> Data:
    """Return the candidates that only one of two n-best lists has.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures
    n : int
        Size of both lists.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        The rows of the input that only one list accepts, in their order and with their index
        (Dataset: dimension row), and ``list`` ("a" or "b"), ``rank_a``, ``rank_b``: the ranks,
        from 1, in the two rankings.

    Notes
    -----
    O(N log N).

    References
    ----------
    Evert (2004), section 3.3: the regions D1 and D2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": [3.0, 2.0, 1.0], "t": [1.0, 2.0, 3.0], "gold": [True, False, False]},
    ...     index=["kick bucket", "take place", "be there"],
    ... )
    >>> df.rankeval.difference_region("G2", "t", 1)[["gold", "list", "rank_a", "rank_b"]]
                  gold list  rank_a  rank_b
    kick bucket   True    a       1       3
    be there     False    b       3       1
    """
    head = head_of(data)
    if head is not None and head.whole.reach < head.whole.total:
        raise ValueError(
            "the rank of a candidate that one list alone accepts may be anything in the other, and"
            " the head does not know it. Ask ddf.rankeval.difference_region(a, b, n), which counts."
        )
    return _of(data, a, b, n, roles)


def region_of_head(
    data: HeadFrame,
    a: Hashable,
    b: Hashable,
    n: int,
    ranks: Callable[[pd.DataFrame], IntArray],
    **roles: Unpack[RankingRoles],
) -> pd.DataFrame:
    """Return the difference region of a head, whose ranks in the whole are counted for it.

    ``ranks`` gives them, (measure, candidate), in the order of the head's measures.
    """
    table = _of(data, a, b, n, roles)
    found = ranks(table.drop(columns=["list", "rank_a", "rank_b"]))
    measures = data.known.measures
    return table.assign(rank_a=found[measures.index(a)], rank_b=found[measures.index(b)])


def _of(data: Data, a: Hashable, b: Hashable, n: int, roles: RankingRoles) -> Data:
    """Return the region, the ranks being those among the candidates that are here."""
    check_data(data)
    sizes = check_n(n)
    if sizes is None or np.size(sizes) != 1:
        raise ValueError(f"n={n!r}: give the size of the two lists, one whole number or share.")
    if b is None or isinstance(b, list):
        raise TypeError(f"b={b!r}: name one measure, whose list is compared with that of a.")
    chosen = Roles.of(only_pair(data, a, b, roles))
    chosen.check_ties()
    frame = isinstance(data, pd.DataFrame)
    present = data.columns if frame else {*data.variables, *data.dims}
    added = ["list", "rank_a", "rank_b"]
    added += [] if frame or chosen.dim == "row" else ["row"]
    for name in added:
        if name in present:
            how = "columns=" if frame else ""
            raise ValueError(
                f"data has a column {name!r}, and so would the result. Rename it:"
                f" data.rename({how}{{{name!r}: ...}})."
            )

    def region(inner: xr.Dataset) -> _Region:
        n_here = sizes.of(size_of(inner)) if isinstance(sizes, Shares) else sizes
        return _region(inner, a=a, b=b, n=n_here, ties=chosen.ties)

    if isinstance(data, xr.Dataset):
        return _dataset_region(data, chosen, sizes, region)
    return _frame_region(data, chosen, sizes, region)


class _Region(NamedTuple):
    """The candidates that only one list has, in the order of the input."""

    rows: IntArray
    list: AnyArray
    rank_a: IntArray
    rank_b: IntArray


_NONE = {
    name: np.zeros(0, dtype=object if name == "list" else np.int64) for name in _Region._fields
}


def _frame_region(
    data: pd.DataFrame, roles: Roles, n: Sizes, region: Callable[[xr.Dataset], _Region]
) -> pd.DataFrame:
    groups = read_frame(data, roles)
    check_not_above(n, groups.largest, groups.whole)
    listed = [
        region(inner.isel({tables.GROUP: position}))
        for inner in groups.members
        for position in range(inner.sizes[tables.GROUP])
    ]
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *(x.rows for x in listed)])
    order = np.argsort(rows)
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(x, name) for x in listed])[order] if listed else []
        for name in _Region._fields[1:]
    }
    return with_columns(native(data).iloc[rows[order]], columns)


def _dataset_region(
    data: xr.Dataset, roles: Roles, n: Sizes, region: Callable[[xr.Dataset], _Region]
) -> xr.Dataset:
    batches = find_batches(data, roles, partial(read_part, scored=True), scored=True)
    inner = read_dataset(data if batches is None else batches.stand_in, roles)
    check_not_above(n, inner.sizes["candidate"])
    batch: list[Hashable] = list(inner.attrs["batch"])
    if batches is None:
        where, joined = _of_cells(inner.compute(), batch, data.sizes, region)
    else:
        parts = batches.collected(batch, partial(_of_chunk, batch=batch, region=region))
        where = np.concatenate([np.array(start) + here for start, (here, _) in parts])
        order = np.lexsort(where.T[::-1])  # stable: the candidates of one ranking stay in order
        where = where[order]
        joined = {
            name: np.concatenate([x[name] for _, (_, x) in parts])[order]
            for name in _Region._fields
        }
    pick = {**dict(zip(batch, where.T, strict=True)), roles.dim: joined.pop("rows")}
    if not len(where):
        data = data.compute()  # Dask does not choose nothing of nothing
    picked = _picked(data, pick)
    of_all = {
        name: picked[name].expand_dims(row=len(where))
        for name, variable in picked.variables.items()
        if "row" not in variable.dims
    }
    return picked.assign({**of_all, **{name: ("row", x) for name, x in joined.items()}})


def _picked(data: xr.Dataset, pick: Mapping[Hashable, IntArray]) -> xr.Dataset:
    """Return the data at these places, a row for each."""
    whole = {  # which xarray takes by slices only
        name: ("row", _taken(variable.data, pick[variable.dims[0]]))
        for name, variable in data.variables.items()
        if isinstance(variable.dtype, pd.api.extensions.ExtensionDtype)
    }
    plain = data.drop_vars(list(whole))
    rows = {d: xr.DataArray(x, dims="row") for d, x in pick.items()}
    return plain.isel(rows).reset_coords().assign(whole)[list(data.variables)]


def _taken(values: Any, places: IntArray) -> Any:
    return pd.Series(values).array.take(places)


def _of_chunk(
    inner: xr.Dataset, *, batch: list[Hashable], region: Callable[[xr.Dataset], _Region]
) -> tuple[IntArray, dict[str, AnyArray]]:
    return _of_cells(inner, batch, inner.sizes, region)


def _of_cells(
    inner: xr.Dataset,
    batch: list[Hashable],
    sizes: Mapping[Hashable, int],
    region: Callable[[xr.Dataset], _Region],
) -> tuple[IntArray, dict[str, AnyArray]]:
    """Return the regions of all rankings, one under the other, and where in the batch each is."""
    cells = list(np.ndindex(*(sizes[d] for d in batch)))
    regions = [
        region(inner.isel({d: i for d, i in zip(batch, cell, strict=True) if d in inner.dims}))
        for cell in cells
    ]
    joined = {
        name: np.concatenate([_NONE[name], *(getattr(x, name) for x in regions)])
        for name in _Region._fields
    }
    of_cell = np.repeat(np.arange(len(cells)), [len(x.rows) for x in regions])
    return np.array(cells, dtype=np.int64).reshape(len(cells), len(batch))[of_cell], joined


def _region(inner: xr.Dataset, *, a: Hashable, b: Hashable, n: IntArray, ties: str) -> _Region:
    measures = inner.indexes["measure"].tolist()
    places = {name: k for k, name in enumerate(measures)}  # pd.NA is equal to nothing
    for role, name in (("a", a), ("b", b)):
        if name not in places:
            raise unknown_name(role, name, measures)
    of_pair = [places[a], places[b]]
    pair = inner.isel(measure=of_pair)
    score = pair["score"].transpose("measure", "candidate").to_numpy()
    present = pair["present"].transpose("measure", "candidate").to_numpy()
    both = np.asarray(present.all(axis=0))
    whole = inner.attrs["whole"]
    whole = None if whole is None else whole.of(np.array(of_pair))
    ranking.nbest(score, inner["gold"].to_numpy(), both, n, ties, whole=whole)  # refuses cut ties
    rank_a, rank_b = ranking.restricted_ranks(ranking.order(score, both), both)
    listed = both & ~np.isnan(score) if inner.attrs["ends"] else both
    in_a, in_b = (np.stack([rank_a, rank_b]) <= n) & listed
    only = np.flatnonzero((in_a != in_b) & (n <= both.sum()))
    rows = inner["row"].to_numpy()[only]
    only = only[np.argsort(rows)]
    names = np.where(in_a, "a", "b").astype(object)
    return _Region(np.sort(rows), names[only], rank_a[only], rank_b[only])
