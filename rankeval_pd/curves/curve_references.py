"""Reference lines for curves: bands for random rankings, and lines of equal n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.chance.pools import Pool, able_with, chosen_pool, pool_columns, pool_size
from rankeval_pd.curves.curve_shapes import SPACES, rates
from rankeval_pd.errors import check_choice, check_flag, check_shares
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.rankings.answers import answer, size_now
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.values import check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles_but
from rankeval_pd.forms.roles.roles import Bound, ListSizes, RankingRoles, Space
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.populations import Finite, FiniteEach
from rankeval_pd.stats.random_model import random_counts
from rankeval_pd.stats.random_model.envelope import envelope


@Capabilities(
    rankings="How good is it overall?", scores=False, any_ties=True, ends=True, heads=True,
    counts=True, layout="p n")  # fmt: skip
@with_roles_but(
    "key", "label", "lower_is_better", "ties", "rng",
    measures="Ignored unless missing='drop'.",
)  # fmt: skip
def random_band(
    data: Data,
    space: Space = "roc",
    p: float | Sequence[float] = 0.05,
    n: ListSizes = None,
    *,
    simultaneous: bool = False,
    bound: Bound = "critical",
    pool: Pool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return bounds for a random ranking in the coordinates of a curve.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label. Scores are not used.
    space : {"roc", "precision_recall", "det", "lift", "gain"}
        Curve whose coordinates are returned.
    p : float or list of float
        Levels, 0 < p <= 1.
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n from 1 to the number of candidates.
    simultaneous : bool
        Whether the bounds apply jointly to all requested n, as in :func:`random_envelope` with
        alpha = p. By default, the bounds apply to each n separately, as in :func:`random_bound`.
    bound : {"critical", "discrete", "interpolated", "parametric"}
        Kind of bound for each n. Macskassy's (2005) bound is "discrete".
    pool : {"retrieved", "all"} or int, optional
        Candidates from which a random ranking is drawn (see :func:`random_test`).
    **roles
        Column roles (see :func:`nbest_precision`).

    Returns
    -------
    DataFrame or Dataset
        One row per p and n (Dataset: dimensions p and n), and per ``measure`` with
        pool="retrieved". The columns are ``p``, ``n`` and the two coordinates of a list of size n
        at the bound. If no list of size n can contain that many true positives, the coordinates
        that depend on the true positives are NaN.

    Notes
    -----
    The cost is the same as for :func:`random_bound` or :func:`random_envelope`.

    References
    ----------
    Macskassy (2005), section 3.3, figure 7, which connects the bounds for individual values of n.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.random_band("precision_recall", 0.05, [10, 50])
          p   n  precision  recall
    0  0.05  10        0.5   0.125
    1  0.05  50        0.3   0.375
    """
    check_choice("space", space, SPACES)
    check_choice("bound", bound, random_counts.BOUND_KINDS)
    check_flag("simultaneous", simultaneous)
    if simultaneous and bound != "critical":
        raise ValueError(
            f"bound={bound!r} with simultaneous=True: the envelope consists of critical counts."
            " Omit bound, or pass simultaneous=False."
        )
    levels, pool = check_shares("p", p, one=not simultaneous), chosen_pool(pool, roles)
    names: tuple[str, str] = SPACES[space]

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        columns = xr.apply_ufunc(
            _band_columns,
            *pool_size(inner, pool),
            kwargs={
                "space": space, "p": levels, "n": sizes, "simultaneous": simultaneous,
                "bound": bound,
            },
            input_core_dims=[[], []],
            output_core_dims=[["p", "n"]] * 3,
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {"p": levels.size, "n": sizes.size}},
            output_dtypes=[float, float, bool],
        )  # fmt: skip
        result = tables.as_columns((*names, "exists"), columns)
        return result.assign_coords(p=("p", levels), n=("n", sizes))

    return answer(
        data, roles, question, pool_columns(("p", "n", *names), pool),
        able_with(can(random_band), pool), n=check_n(n),
        attrs={"space": space, "simultaneous": simultaneous, "bound": bound, "pool": pool},
    )  # fmt: skip


def _band_columns(
    total: IntArray, positive: IntArray, *, space: str, p: FloatArray, n: IntArray,
    simultaneous: bool, bound: str,
) -> tuple[AnyArray, ...]:  # fmt: skip
    """Return the curve coordinates of the bounds for groups of these sizes: (..., p, n)."""
    shape = np.shape(total)
    # compute groups of equal size only once: (size)
    (total, positive), back = random_counts.unique_rows(np.ravel(total), np.ravel(positive))
    fits = n <= total[:, np.newaxis]
    if simultaneous or (n.size > random_counts.MOST_SEARCHED and bound != "parametric"):
        counts = _one_by_one(total, positive, p, n, fits, "envelope" if simultaneous else bound)
    else:
        counts = _side_by_side(total, positive, p, n, fits, bound)
    # (size, p, n): impossible counts become NaN
    exists = np.repeat(fits[:, np.newaxis], p.size, axis=1)
    every = [x[:, np.newaxis, np.newaxis].astype(float) for x in (total, positive)]
    fewest, most = FiniteEach(*every).support(n.astype(float))
    counts = np.where((counts >= fewest) & (counts <= most), counts, np.nan)
    x, y = (np.where(exists, one, np.nan) for one in rates(space, counts, n, *every))
    return tuple(one[back].reshape(*shape, *one.shape[1:]) for one in (x, y, exists))


def _side_by_side(
    total: IntArray, positive: IntArray, p: FloatArray, n: IntArray, fits: BoolArray, bound: str
) -> FloatArray:
    """Return counts for many groups at a few list sizes, in one search over all lists."""
    counts = np.full((total.size, p.size, n.size), np.nan)
    group, place = np.nonzero(fits)
    size, of_all, of_gold = (x.astype(float) for x in (n[place], total[group], positive[group]))
    for level in range(p.size if size.size else 0):
        counts[group, level, place] = random_counts.bound_each(
            bound, float(p[level]), size, FiniteEach(of_all, of_gold)
        )
    return counts


def _one_by_one(
    total: IntArray, positive: IntArray, p: FloatArray, n: IntArray, fits: BoolArray, kind: str
) -> FloatArray:
    """Return the counts at many list sizes, or the simultaneous counts, group by group."""
    counts = np.full((total.size, p.size, n.size), np.nan)
    for group in range(total.size):
        model = Finite(float(total[group]), float(positive[group]))
        size = n[fits[group]].astype(float)
        for level in range(p.size if size.size else 0):
            counts[group, level, fits[group]] = (
                envelope(float(p[level]), size, model).counts
                if kind == "envelope"
                else random_counts.bound(kind, float(p[level]), size, model)
            )
    return counts


@Capabilities(
    rankings="How good is it overall?",
    scores=False,
    any_rows=True,
    any_ties=True,
    heads=True,
    layout="row",
)
@with_roles_but(
    "key", "label", "lower_is_better", "ties", "rng",
    measures="Ignored unless missing='drop'.",
)  # fmt: skip
def isolines(data: Data, n: Any, space: str = "roc", **roles: Unpack[RankingRoles]) -> Data:
    """Return the line that contains all lists of size n, in curve coordinates.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label. Scores are not used.
    n : int or sequence of int
        Sizes of the lists.
    space : {"roc", "precision_recall", "det", "lift", "gain"}
        Curve whose coordinates are returned.
    **roles
        Column roles (see :func:`nbest_precision`).

    Returns
    -------
    DataFrame or Dataset
        One row per n and possible number of true positives, in increasing order (Dataset: dimension
        row). The columns are ``n`` and the two coordinates of the curve.

    Notes
    -----
    In ROC space, each line has a slope of -(N - N+) / N+ and crosses a measure's ROC curve at the
    point that represents the measure's n-best list. A lazy Dataset is computed immediately.

    References
    ----------
    Macskassy (2005), section 3.3, figure 5.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 2 + [False] * 8})
    >>> df.rankeval.isolines(4)
       n    fpr  tpr
    0  4  0.500  0.0
    1  4  0.375  0.5
    2  4  0.250  1.0
    """
    check_choice("space", space, SPACES)
    asked = check_n(n)
    if asked is None:
        raise ValueError("n=None: lines for every n would cover the plot. Pass a few list sizes.")
    names: tuple[str, str] = SPACES[space]

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        total, positive = size_now(inner)
        most = int(np.asarray(positive).max(initial=0))
        tp = xr.DataArray(np.arange(most + 1), dims="_point")
        size = xr.DataArray(sizes, dims="n")
        exists = (
            (tp <= np.minimum(size, positive)) & (size - tp <= total - positive) & (size <= total)
        )
        x, y = xr.apply_ufunc(
            lambda *counts: rates(space, *counts),
            tp, size, total, positive, output_core_dims=[[], []],
        )  # fmt: skip
        result = xr.Dataset({names[0]: x, names[1]: y, "exists": exists})
        return result.transpose(*total.dims, "n", "_point").assign_coords(n=("n", sizes))

    attrs = {"space": space}
    return answer(data, roles, question, ("n", *names), can(isolines), n=asked, attrs=attrs)
