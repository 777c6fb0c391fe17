"""Determine the pool of candidates from which random lists are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rankeval_pd.doors.rankings import Candidates
from rankeval_pd.errors import check_count, warn
from rankeval_pd.forms.roles.declarations import Capabilities
from rankeval_pd.forms.roles.roles import Roles
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.random_model.random_counts import unique_rows
from rankeval_pd.stats.rankings.ranking import Ranking, Size

Pool = Literal["retrieved", "all"] | int


def chosen_pool(pool: Any, roles: Mapping[str, Any], population: str = "finite") -> Pool:
    """Return the pool, which is "retrieved" by default if rankings are incomplete."""
    ends = Roles.of(roles).ends
    if pool is None:
        return "retrieved" if ends and population == "finite" else "all"
    if isinstance(pool, str):
        if pool not in ("retrieved", "all"):
            raise ValueError(
                f"pool={pool!r}: pass 'retrieved', 'all', or the number of documents in the"
                " collection."
            )
        if pool == "retrieved" and not ends:
            raise ValueError(
                "pool='retrieved' requires that missing scores mean 'not retrieved'. Pass"
                " missing='absent'."
            )
        return "retrieved" if pool == "retrieved" else "all"
    size = check_count("pool", pool)
    if size >= 2**53:
        raise ValueError(
            f"pool={size} is too large to be exact in float64. Pass a number below 2**53, or"
            " population='infinite' for a larger collection."
        )
    if population != "finite":
        raise ValueError(
            f"pool={size} is the size of a finite collection, which contradicts"
            f" population={population!r}. Omit one of the two."
        )
    return size


def able_with(able: Capabilities, pool: Pool) -> Capabilities:
    """Return options for a method whose result depends on the retrieved candidates."""
    if pool != "retrieved":
        return able
    return replace(able, scores=True, ends=True, counts=False)


def pool_columns(columns: tuple[str, ...], pool: Pool) -> tuple[str, ...]:
    """Return the columns, with the measure first if pools differ between measures."""
    return ("measure", *columns) if pool == "retrieved" else columns


def pool_of(ranking: Ranking, pool: Pool) -> Size:
    """Return N and N+ for the pool: (..., measure)."""
    if pool == "retrieved":
        return ranking.retrieved
    return ranking.size if pool == "all" else in_collection(ranking.size, pool)


def pool_sizes(candidates: Candidates, pool: Pool) -> Size:
    """Return N and N+ for the pool: (group, 1), or (group, measure) if the measures differ."""
    if pool == "retrieved":
        return candidates.rankings().retrieved
    size = Size(*(count[:, np.newaxis] for count in candidates.common_size()))
    return size if pool == "all" else in_collection(size, pool)


def of_each_size(
    pools: Size, compute: Callable[[IntArray, IntArray], dict[str, AnyArray]]
) -> dict[str, AnyArray]:
    """Compute columns once for each N and N+, and return them for every pool.

    The columns are (group, measure, ...). ``compute`` takes arrays of N and N+.
    """
    shape = pools.total.shape
    (total, positive), back = unique_rows(pools.total.ravel(), pools.positive.ravel())
    columns = compute(total, positive)
    return {name: x[back].reshape(*shape, *x.shape[1:]) for name, x in columns.items()}


def in_collection(size: Size, collection: int) -> Size:
    """Return the sizes with N replaced by the number of candidates in the collection."""
    largest = int(size.total.max(initial=0))
    if largest > collection:
        raise ValueError(
            f"pool={collection} is smaller than the number of candidates in the data, {largest}."
            " Pass the size of the whole collection, which includes these candidates."
        )
    return size._replace(total=np.full_like(size.total, collection))


def warn_of_whole_lists(retrieved: IntArray, n: IntArray) -> None:
    """Warn if most lists at some n contain all retrieved candidates.

    ``retrieved`` contains the numbers of retrieved candidates, and is broadcast with ``n``.
    """
    sizes, whole = np.broadcast_arrays(n, retrieved <= n)
    for size in np.unique(sizes):
        if (share := whole[sizes == size].mean()) >= 0.5:
            warn(
                f"pool='retrieved': {share:.0%} of the lists at n = {int(size)} contain every"
                " retrieved candidate, so the p-values are 1. Use a smaller n, or pass the number"
                " of documents in the collection, pool=..."
            )
            return
