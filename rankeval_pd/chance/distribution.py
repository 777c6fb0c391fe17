"""How are the true positives of a random list distributed? (Macskassy 2005, figure 1)."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.chance.populations import POPULATIONS
from rankeval_pd.chance.published import METHODS, random_pvalue
from rankeval_pd.errors import check_choice
from rankeval_pd.forms.answers import answer, size_now
from rankeval_pd.forms.memory import check_memory
from rankeval_pd.forms.n import check_n
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles
from rankeval_pd.forms.spelled_out import with_roles_but
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray


@with_roles_but(
    "key", "label", "groups", "lower_is_better", "ties", "rng",
    measures="no effect here, but under missing='drop'.",
)  # fmt: skip
def random_cdf(
    data: Data,
    n: Any,
    *,
    population: str = "finite",
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return how the true positives of a random list are distributed, whole counts and between.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label; their scores play no part.
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n.
    population : {"finite", "infinite"}
        See :func:`random_bound`.
    progress : bool, optional
        A progress bar: True from the start, None after two seconds, False never.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per n and number ``tp`` of true positives (Dataset: dimension row), in steps of a
        twentieth, from -1 or some four standard deviations below the mean to as many above it:
        ``n``, ``tp``, and P(X <= tp): ``discrete``, of the whole counts; ``interpolated`` between
        them; ``parametric``, that of the binomial made continuous.

    Notes
    -----
    :func:`random_bound` at p is where these reach 1 - p. For small tails take
    :func:`random_pvalue`: they are not 1 minus these.

    References
    ----------
    Macskassy (2005), section 2.1, Eqs 6, 8 and 9 (Eq. 8 corrected), figure 1.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> table = df.rankeval.random_cdf(20)
    >>> table[table["tp"].between(3.4, 3.5)].round(4)
         n    tp  discrete  interpolated  parametric
    88  20  3.40    0.4022        0.4942      0.5009
    89  20  3.45    0.4022        0.5057      0.5120
    90  20  3.50    0.4022        0.5172      0.5230
    """
    check_choice("population", population, POPULATIONS)
    asked = check_n(n)

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        total, positive = size_now(inner)
        size = xr.DataArray(asked if isinstance(asked, np.ndarray) else sizes, dims="n")
        count, exists = _grid(size, total, positive)
        if population == "finite":
            exists = exists & (size <= total)
        parts = []
        with progress_bar(
            progress, total=size.size, what="distribution functions", unit="lists"
        ) as advance:
            for start in range(0, max(size.size, 1), _TOGETHER):
                part = {"n": slice(start, start + _TOGETHER)}
                lists = count.isel(part), size.isel(part)
                parts.append(_columns(*lists, total, positive, population))
                advance(parts[-1].sizes["n"])
        columns = parts[0] if len(parts) == 1 else xr.concat(parts, "n", join="exact")
        result = columns.assign(tp=count, exists=exists)
        return result.transpose(*total.dims, "n", "_point").assign_coords(n=("n", size.to_numpy()))

    return answer(
        data,
        roles,
        question,
        ("n", "tp", *METHODS),
        n=None if population == "infinite" and isinstance(asked, np.ndarray) else asked,
        scored=False,
        rows_only=True,
        any_ties=True,
        any_heads=True,
        attrs={"population": population},
    )


_STEPS = 20  # values of a distribution function from one whole count to the next
_DEVIATIONS = 4.0
_TOGETHER = 100  # lists between two moves of the bar


def _columns(
    count: xr.DataArray,
    size: xr.DataArray,
    total: xr.DataArray,
    positive: xr.DataArray,
    population: str,
) -> xr.Dataset:
    """Return the distribution functions of lists of these sizes at counts (..., n, _point)."""
    known = (size, total, positive)
    step = np.arange(count.sizes["_point"])
    # the exact tails at whole counts, of which both others are made
    whole = xr.DataArray(np.arange(step.size // _STEPS + 2), dims="_whole")
    exact = _tail(count.isel(_point=0, drop=True) + whole, *known, "discrete", population)
    at, after = (exact.isel(_whole=xr.DataArray(step // _STEPS + k, dims="_point")) for k in (0, 1))
    rest = xr.DataArray(step % _STEPS / _STEPS, dims="_point")
    return xr.Dataset(
        {
            "discrete": 1.0 - at,
            "interpolated": 1.0 - ((1.0 - rest) * at + rest * after),
            "parametric": 1.0 - _tail(count, *known, "parametric", population),
        }
    )


def _grid(
    n: xr.DataArray, total: xr.DataArray, positive: xr.DataArray
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the counts at which a distribution function is drawn, and which of them exist."""
    prior = positive / np.maximum(total, 1)
    mean = n * prior
    spread = _DEVIATIONS * (mean * (1.0 - prior)) ** 0.5 + 1.0
    first = ((mean - spread) // 1.0).clip(min=-1.0)
    last = (mean + spread) // 1.0 + 1.0
    last = last.where(last < n, n)
    points = int(_STEPS * (last - first).max()) + 1 if n.size and total.size else 1
    check_memory(
        12.0 * points * last.size,  # columns, and what they are computed from
        f"distribution functions of {last.size:,} lists have up to {points:,} points each",
        "Give the sizes of lists that matter, n=...",
    )
    step = xr.DataArray(np.arange(points), dims="_point") / _STEPS
    return step + first, (step <= last - first) & (total > 0)


def _tail(
    count: xr.DataArray,
    n: xr.DataArray,
    total: xr.DataArray,
    positive: xr.DataArray,
    method: str,
    population: str,
) -> xr.DataArray:
    """Return P(X > count) by one of the methods."""
    options = {"method": method, "population": population}
    result: xr.DataArray = xr.apply_ufunc(_strict_tail, count, n, total, positive, kwargs=options)
    return result


def _strict_tail(
    count: FloatArray, n: AnyArray, total: AnyArray, positive: AnyArray, **options: Any
) -> FloatArray:
    total = np.maximum(total, 1)
    inside = np.minimum(n, total) if options["population"] == "finite" else n
    result: FloatArray = random_pvalue(
        count, inside, n_candidates=total, n_positive=positive, strict=True, **options
    )
    return result
