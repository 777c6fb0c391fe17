"""Reference lines for curves: bands for random rankings, and lines of equal n."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np

from rankeval_pd.chance.pools import Pool, able_with, chosen_pool, in_collection, pool_columns
from rankeval_pd.curves.curve_shapes import SPACES, rates
from rankeval_pd.doors.rankings import Candidates, Rows, rows_of, tabulate
from rankeval_pd.errors import check_choice, check_flag, check_shares
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.values import check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles_but
from rankeval_pd.forms.roles.roles import Bound, ListSizes, RankingRoles, Space
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.populations import Finite, FiniteEach
from rankeval_pd.stats.random_model import random_counts
from rankeval_pd.stats.random_model.envelope import envelope
from rankeval_pd.stats.rankings.ranking import Size


@Capabilities(
    rankings="How good is it overall?",
    scores=False,
    any_ties=True,
    ends=True,
    heads=True,
    counts=True,
    layout="p n",
)
@with_roles_but(
    "key",
    "label",
    "lower_is_better",
    "ties",
    "rng",
    measures="Ignored unless missing='drop'.",
)
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

    def question(candidates: Candidates, sizes: IntArray | None) -> Rows:
        sizes = candidates.sizes(sizes)
        total, positive = _pool_sizes(candidates, pool)  # (group, measure), or (group, 1)
        columns = _band_columns(
            total,
            positive,
            space=space,
            p=levels,
            n=sizes,
            simultaneous=simultaneous,
            bound=bound,
        )
        along = {"p": levels, "n": sizes}
        return rows_of(columns, candidates, "measure", range(total.shape[1]), along)

    return tabulate(
        data,
        roles,
        question,
        pool_columns(("p", "n", *SPACES[space]), pool),
        able_with(can(random_band), pool),
        n=check_n(n),
        attrs={"space": space, "simultaneous": simultaneous, "bound": bound, "pool": pool},
    )


def _pool_sizes(candidates: Candidates, pool: Pool) -> Size:
    """Return N and N+ of the pool: (group, measure), or (group, 1) if all measures agree."""
    if pool == "retrieved":
        return candidates.rankings().retrieved
    size = candidates.common_size()
    if pool != "all":
        size = in_collection(size, int(pool))
    return Size(*(counts[:, np.newaxis] for counts in size))


def _band_columns(
    total: IntArray,
    positive: IntArray,
    *,
    space: str,
    p: FloatArray,
    n: IntArray,
    simultaneous: bool,
    bound: str,
) -> dict[str, AnyArray]:
    """Return the curve coordinates of the bounds for groups of these sizes: (..., p, n)."""
    shape = np.shape(total)
    # compute groups of equal size only once: (size)
    (total, positive), back = random_counts.unique_rows(np.ravel(total), np.ravel(positive))
    fits = n <= total[:, np.newaxis]
    if simultaneous:
        counts = _one_by_one(total, positive, p, n, fits, "envelope")
    elif n.size > random_counts.MOST_SEARCHED and bound != "parametric":
        counts = _one_by_one(total, positive, p, n, fits, bound)
    else:
        counts = _side_by_side(total, positive, p, n, fits, bound)
    # (size, p, n): impossible counts become NaN
    exists = np.repeat(fits[:, np.newaxis], p.size, axis=1)
    every = [x[:, np.newaxis, np.newaxis].astype(float) for x in (total, positive)]
    fewest, most = FiniteEach(*every).support(n.astype(float))
    counts = np.where((counts >= fewest) & (counts <= most), counts, np.nan)
    columns: dict[str, AnyArray] = {"exists": exists}
    for name, x in zip(SPACES[space], rates(space, counts, n, *every), strict=True):
        columns[name] = np.where(exists, x, np.nan)
    return {name: x[back].reshape(*shape, *x.shape[1:]) for name, x in columns.items()}


def _side_by_side(
    total: IntArray, positive: IntArray, p: FloatArray, n: IntArray, fits: BoolArray, bound: str
) -> FloatArray:
    """Return counts for many groups at a few list sizes, in one search over all lists."""
    counts = np.full((total.size, p.size, n.size), np.nan)
    group, place = np.nonzero(fits)
    size, of_all, of_gold = (x.astype(float) for x in (n[place], total[group], positive[group]))
    if not size.size:
        return counts
    for level in range(p.size):
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
        if not size.size:
            continue
        for level in range(p.size):
            if kind == "envelope":
                of_group = envelope(float(p[level]), size, model).counts
            else:
                of_group = random_counts.bound(kind, float(p[level]), size, model)
            counts[group, level, fits[group]] = of_group
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
    "key",
    "label",
    "lower_is_better",
    "ties",
    "rng",
    measures="Ignored unless missing='drop'.",
)
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
    sizes = check_n(n)
    if sizes is None:
        raise ValueError("n=None: lines for every n would cover the plot. Pass a few list sizes.")
    return tabulate(
        data,
        roles,
        partial(_isoline_rows, space=space),
        ("n", *SPACES[space]),
        can(isolines),
        n=sizes,
        attrs={"space": space},
    )


def _isoline_rows(candidates: Candidates, n: IntArray | None, *, space: str) -> Rows:
    """Return one row per group, list size and possible number of true positives."""
    sizes = candidates.sizes(n)
    total, positive = (x[:, np.newaxis, np.newaxis] for x in candidates.common_size())
    tp = np.arange(int(positive.max(initial=0)) + 1)
    size = sizes[:, np.newaxis]  # (group, n, tp)
    exists = (tp <= np.minimum(size, positive)) & (size - tp <= total - positive) & (size <= total)
    columns: dict[str, AnyArray] = {"exists": exists[:, np.newaxis]}
    for name, x in zip(SPACES[space], rates(space, tp, size, total, positive), strict=True):
        columns[name] = x[:, np.newaxis]
    return rows_of(columns, candidates, "measure", [0], {"n": sizes, "_tp": tp})
