"""How do gains and their significance change with the size of the test set?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice
from rankeval_pd.forms.choices import (
    AdjustOver,
    Draw,
    Event,
    FamilyAdjustment,
    GainInterval,
    LawMethod,
)
from rankeval_pd.forms.groups import group_numbers
from rankeval_pd.forms.items import check_items, item_order, item_roles, role_column, settled
from rankeval_pd.forms.pairs import check_sizes, item_labels
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import ItemRoles, Roles, as_names
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.forms.tables import check_names
from rankeval_pd.stats._types import IntArray
from rankeval_pd.stats.resampling import resamples
from rankeval_pd.systems.paired_tests import paired_bootstrap
from rankeval_pd.systems.relations import Families


@with_roles
def gain_by_size(
    data: Data,
    sizes: Sequence[int],
    *,
    draw: Draw = "prefix",
    n_resamples: int | None = None,
    event: Event = "wild",
    method: LawMethod = "auto",
    ci: GainInterval | None = None,
    families: Families | None = None,
    baseline: Hashable = None,
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Test all pairs on test sets of several sizes, parts of the one at hand.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems over test items.
    sizes : sequence of int
        Numbers of items.
    draw : {"prefix", "random"}
        "prefix": the first items, in the order of the rows, as in the paper. "random": a random
        subset, the smaller contained in the larger; prefixes are random samples only if the rows
        are in random order.
    n_resamples, event, method, ci, families, baseline, adjust, adjust_over, alpha, level, progress
        As in :func:`paired_bootstrap`; a family is of one size.
    **roles
        As in :func:`paired_bootstrap`. With ``by``, so many items of each domain: figure 11 is one
        size with ``by``. A domain with fewer items has no rows for that size.

    Returns
    -------
    DataFrame or Dataset
        The columns of :func:`paired_bootstrap` for each size, with the size in the column ``size``
        before them (Dataset: dimension size, which comes first).
        ``.rankeval.gain_threshold()`` gives a threshold for each size.

    References
    ----------
    Berg-Kirkpatrick et al. (2012), section 4.1, figures 9 to 11.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"x": rng.random(400) < 0.7, "y": rng.random(400) < 0.6})
    >>> df.rankeval.gain_by_size([100, 400])[["size", "gain", "p_value", "n_items"]].round(4)
       size  gain  p_value  n_items
    0   100  0.08   0.1456      100
    1   400  0.15   0.0000      400
    """
    check_choice("draw", draw, ("prefix", "random"))
    check_items(data)
    chosen = item_roles(roles)
    by_size = isinstance(data, xr.Dataset)
    by = as_names(chosen.by, getattr(data, "columns", ()))
    check_names("by=", by, ("size",))
    places = _domains(data, by, chosen, draw)
    whole = check_sizes(sizes, max((len(rows) for rows in places), default=0))
    named = settled(data, roles)
    listed = []
    for size in whole:
        rows = np.sort(np.concatenate([p[:size] for p in places if len(p) >= size]))
        part = data.iloc[rows] if isinstance(data, pd.DataFrame) else data.isel({chosen.dim: rows})
        listed.append(
            paired_bootstrap(
                part, n_resamples=n_resamples, event=event, method=method, ci=ci,
                families=families, baseline=baseline, adjust=adjust, adjust_over=adjust_over,
                alpha=alpha, level=level, progress=progress, **named,
            )
        )  # fmt: skip
    joined: Data = _along_size(listed, whole) if by_size else _one_by_one(listed, whole, by)
    return joined


def _one_by_one(found: list[Any], sizes: list[int], by: list[Hashable]) -> Any:
    """Return the tables of all sizes in one, the rows of a domain together."""
    for size, table in zip(sizes, found, strict=True):
        table.insert(len(by), "size", size)
    joined = pd.concat(found, ignore_index=True)
    joined.attrs = dict(found[0].attrs)
    if by:
        number = joined.groupby(by, sort=True, observed=True).ngroup().to_numpy()
        joined = joined.iloc[np.argsort(number, kind="stable")].reset_index(drop=True)
    return joined


def _along_size(found: list[Any], sizes: list[int]) -> Any:
    plain = [part.reset_coords(["system_a", "system_b"]) for part in found]
    joined = xr.concat(plain, pd.Index(sizes, name="size"), data_vars="all", coords="minimal",
                       compat="override", join="override", combine_attrs="override")  # fmt: skip
    order = [name for name in joined["gain"].dims if name != "size"]
    return joined.transpose("size", *order).set_coords(["system_a", "system_b"])


def _domains(data: Any, by: list[Hashable], roles: Roles, draw: str) -> list[IntArray]:
    """Return the rows of each domain in the order in which they are taken."""
    labels = item_labels(data, roles)
    number = np.zeros(len(labels), dtype=np.int64)
    if by and isinstance(data, xr.Dataset):
        raise ValueError(
            f"by={roles.by!r}: in a Dataset, domains are a dimension of their own, and need no by."
            " Leave it out, or give a DataFrame."
        )
    if by:
        number = group_numbers([role_column(data, name, "by") for name in by], by)[1]
    order = np.arange(len(labels))
    if draw == "random":
        order = item_order(labels)
        child = np.random.SeedSequence(resamples.entropy(roles.rng), spawn_key=(0, 2))
        order = order[np.random.default_rng(child).permutation(len(labels))]
    return [order[number[order] == group] for group in range(int(number.max(initial=0)) + 1)]
