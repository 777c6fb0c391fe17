"""How does it look over all cut-offs? ROC, precision-recall, DET, lift, gain; and chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.candidates import Data, answer, common_size
from rankeval_pd.errors import check_choice, check_n, check_shares
from rankeval_pd.roles import RoleKeywords, Roles
from rankeval_pd.stats import boundary, bounds, ranking
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.populations import Finite

SPACES: dict[str, tuple[str, str]] = {
    "roc": ("fpr", "tpr"),
    "precision_recall": ("precision", "recall"),
    "det": ("fpr", "fnr"),
    "lift": ("share", "lift"),
    "gain": ("share", "tpr"),
}
_FROM_ONE = ("precision_recall", "lift")  # of no candidate there is no precision
_NEARLY = 1e-9  # a share of the candidates that is a whole number but for rounding is that number


def rates(
    space: str, tp: AnyArray, n: AnyArray, total: AnyArray | float, positive: AnyArray | float
) -> tuple[FloatArray, FloatArray]:
    """Return the two coordinates of lists of n with tp true positives; NaN is what is undefined."""
    tp, n, total, positive = np.broadcast_arrays(tp, n, total, positive)
    with np.errstate(divide="ignore", invalid="ignore"):
        every = {
            "fpr": lambda: np.true_divide(n - tp, total - positive),
            "tpr": lambda: np.true_divide(tp, positive),
            "fnr": lambda: np.true_divide(positive - tp, positive),
            "precision": lambda: np.true_divide(tp, n),
            "recall": lambda: np.true_divide(tp, positive),
            "share": lambda: np.true_divide(n, total),
            "lift": lambda: np.true_divide(tp, n) / np.true_divide(positive, total),
        }
        x, y = (every[name]() for name in SPACES[space])
    return x, y


def _curve(data: Any, space: str, roles: RoleKeywords, fractions: Any = None) -> Any:
    """Return a row for each list of every measure: n, threshold, and the two rates."""
    ties = Roles.of(roles).ties
    shares = None if fractions is None else check_shares("fractions", fractions, one=True)
    names = ("threshold", *SPACES[space])
    along, counted = ("n", ()) if shares is None else ("fraction", ("n",))

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        first = 1 if space in _FROM_ONE else 0
        asked = np.arange(first, sizes.size + 1) if shares is None else shares
        found = xr.apply_ufunc(
            _curve_columns,
            inner["score"],
            inner["gold"],
            inner["present"],
            inner["sign"],
            kwargs={"space": space, "ties": ties, "shares": shares},
            input_core_dims=[["candidate"]] * 3 + [[]],
            output_core_dims=[[along]] * (len(counted) + len(names) + 1),
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {along: asked.size}},
            output_dtypes=[*[np.int64] * len(counted), *[float] * 3, bool],
        )
        result = xr.Dataset(dict(zip((*counted, *names, "exists"), found, strict=True)))
        return result.assign_coords({along: (along, asked)})

    return answer(
        data,
        roles,
        question,
        ("measure", "n", *names),
        cuts_lists=shares is None,
        any_ties=True,
        attrs={"space": space, "ties": ties},
    )


def _curve_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    sign: FloatArray,
    *,
    space: str,
    ties: str,
    shares: FloatArray | None,
) -> tuple[AnyArray, ...]:
    score, gold, present = np.broadcast_arrays(score, gold, present)
    size = ranking.size(gold, present)
    if shares is None:
        lists = ranking.nbest(score, gold, present, None, ties)
        n = np.broadcast_to(np.arange(1, score.shape[-1] + 1), lists.tp.shape)
        tp, threshold, exists = lists.tp, lists.threshold, lists.exists
        if space not in _FROM_ONE:  # the empty list, above every score
            n, tp, threshold, exists = (
                np.concatenate([np.full((*x.shape[:-1], 1), y, dtype=x.dtype), x], axis=-1)
                for x, y in ((n, 0), (tp, 0), (threshold, np.inf), (exists, True))
            )
            exists = exists & (size.total > 0)[..., np.newaxis]
    else:
        n, tp, threshold, exists = _at_shares(score, gold, present, shares, ties)
    x, y = rates(space, tp, n, size.total[..., np.newaxis], size.positive[..., np.newaxis])
    columns = (threshold * sign[..., np.newaxis] + 0.0, x, y, exists)
    return columns if shares is None else (n, *columns)


def _at_shares(
    score: FloatArray, gold: BoolArray, present: BoolArray, shares: FloatArray, ties: str
) -> tuple[IntArray, AnyArray, FloatArray, BoolArray]:
    """Return n, true positives and threshold of the smallest lists with these shares."""
    shape = (*score.shape[:-1], shares.size)
    n = np.zeros(shape, dtype=np.int64)
    tp = np.zeros(shape, dtype=float if ties == "expected" else np.int64)
    threshold, exists = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    total = present.sum(axis=-1)
    for row in np.ndindex(shape[:-1]):
        if total[row]:
            n[row] = [max(math.ceil(share * total[row] - _NEARLY), 1) for share in shares]
            lists = ranking.nbest(score[row], gold[row], present[row], n[row], ties)
            tp[row], threshold[row], exists[row] = lists.tp, lists.threshold, True
    return n, tp, threshold, exists


def roc(data: Data, **roles: Unpack[RoleKeywords]) -> Data:
    """Return the ROC curve of each measure.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    **roles
        Which column is what, see :func:`nbest_precision`. With ``ties="blocks"`` there is a point
        for each block of equal scores only, as scikit-learn has it; "expected" joins the ends of
        a block by a straight line, "best" and "worst" bound what an order of equal scores can do.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n, from n = 0 (Dataset: dimensions measure and n; with
        ``ties="blocks"`` the dimension row): ``measure``, ``n``, ``threshold`` (the score of the
        n-th candidate; infinite at n = 0), ``fpr``: the share of the other candidates that the
        list has, ``tpr``: the share of the true positives. NaN where there are none of a kind.

    Notes
    -----
    O(N log N).

    References
    ----------
    Macskassy (2005), section 3.3, figures 4 to 7.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3], "gold": [True, False, True]})
    >>> df.rankeval.roc()
      measure  n  threshold  fpr  tpr
    0      G2  0        inf  0.0  0.0
    1      G2  1        9.1  0.0  0.5
    2      G2  2        7.4  1.0  0.5
    3      G2  3        3.3  1.0  1.0
    """
    return _answered(data, _curve(data, "roc", roles))


def precision_recall(data: Data, **roles: Unpack[RoleKeywords]) -> Data:
    """Return the precision-recall curve of each measure.

    Parameters
    ----------
    data, **roles
        As in :func:`roc`.

    Returns
    -------
    DataFrame or Dataset
        As in :func:`roc`, from n = 1: ``measure``, ``n``, ``threshold``, ``precision``,
        ``recall``.

    Notes
    -----
    Between two points the curve is no straight line: do not integrate it by trapezoids. See
    :func:`area` for average precision. O(N log N).

    References
    ----------
    Macskassy (2005), section 3.3.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3], "gold": [True, False, True]})
    >>> df.rankeval.precision_recall().round(3)
      measure  n  threshold  precision  recall
    0      G2  1        9.1      1.000     0.5
    1      G2  2        7.4      0.500     0.5
    2      G2  3        3.3      0.667     1.0
    """
    return _answered(data, _curve(data, "precision_recall", roles))


def det(data: Data, **roles: Unpack[RoleKeywords]) -> Data:
    """Return the detection error trade-off of each measure: both kinds of error.

    Parameters
    ----------
    data, **roles
        As in :func:`roc`.

    Returns
    -------
    DataFrame or Dataset
        As in :func:`roc`: ``measure``, ``n``, ``threshold``, ``fpr``, ``fnr``: the share of the
        true positives that the list misses.

    Notes
    -----
    O(N log N).

    References
    ----------
    Martin et al. (1997), The DET curve in assessment of detection task performance.
    Macskassy (2005), section 3.3.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3], "gold": [True, False, True]})
    >>> df.rankeval.det()
      measure  n  threshold  fpr  fnr
    0      G2  0        inf  0.0  1.0
    1      G2  1        9.1  0.0  0.5
    2      G2  2        7.4  1.0  0.5
    3      G2  3        3.3  1.0  0.0
    """
    return _answered(data, _curve(data, "det", roles))


def gain(data: Data, **roles: Unpack[RoleKeywords]) -> Data:
    """Return the gain curve of each measure: true positives found against candidates looked at.

    Parameters
    ----------
    data, **roles
        As in :func:`roc`.

    Returns
    -------
    DataFrame or Dataset
        As in :func:`roc`: ``measure``, ``n``, ``threshold``, ``share`` = n / N, ``tpr``.

    Notes
    -----
    O(N log N).

    References
    ----------
    Macskassy (2005), section 3.3.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, False, True, False]})
    >>> df.rankeval.gain()
      measure  n  threshold  share  tpr
    0      G2  0        inf   0.00  0.0
    1      G2  1        9.1   0.25  0.5
    2      G2  2        7.4   0.50  0.5
    3      G2  3        3.3   0.75  1.0
    4      G2  4        0.2   1.00  1.0
    """
    return _answered(data, _curve(data, "gain", roles))


def lift(
    data: Data, fractions: float | Sequence[float] | None = None, **roles: Unpack[RoleKeywords]
) -> Data:
    """Return the lift of each measure: its precision over that of a random choice.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    fractions : float or list of float, optional
        Shares of the candidates, above 0 and at most 1: the lift at 0.01 is known as the
        enrichment factor at 1 %. Of each, the smallest list that has it is taken. None is every n.
    **roles
        As in :func:`roc`.

    Returns
    -------
    DataFrame or Dataset
        As in :func:`roc`, from n = 1, or with one row per fraction (Dataset: dimension fraction):
        ``measure``, ``n``, ``threshold``, ``share`` = n / N, ``lift``.

    Notes
    -----
    O(N log N).

    References
    ----------
    Macskassy (2005), section 3.3.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(20, 0, -1), "gold": [True] * 3 + [False] * 17})
    >>> df.rankeval.lift([0.1, 0.5]).round(3)
      measure   n  threshold  share   lift
    0      G2   2       19.0    0.1  6.667
    1      G2  10       11.0    0.5  2.000
    """
    return _answered(data, _curve(data, "lift", roles, fractions))


def _answered(_: Data, found: Any) -> Data:
    """Return what was found: of the kind of the data."""
    answered: Data = found
    return answered


def random_band(
    data: Data,
    space: str = "roc",
    p: float | Sequence[float] = 0.05,
    n: Any = None,
    *,
    simultaneous: bool = False,
    bound: str = "critical",
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Return what a random ranking does not reach, in the space of a curve.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label; their scores play no part.
    space : {"roc", "precision_recall", "det", "lift", "gain"}
        Whose rates are given.
    p : float or list of float
        Levels, 0 < p <= 1.
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n from 1 to the number of candidates.
    simultaneous : bool
        False: :func:`random_bound`, each n alone. True: :func:`random_envelope` at alpha = p, over
        all the n asked for.
    bound : {"critical", "discrete", "interpolated", "parametric"}
        Which bound, where it is not simultaneous; the paper's is "discrete".
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per p and n (Dataset: dimensions p and n): ``p``, ``n``, and the two rates of the
        space, those of a list of n with as many true positives as the bound. Where no list has as
        many, what depends on them is NaN.

    Notes
    -----
    Costs what the bounds, or the envelope, cost.

    References
    ----------
    Macskassy (2005), section 3.3, figure 7: bounds of single n, joined.

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
    check_choice("bound", bound, bounds.KINDS)
    if simultaneous and bound != "critical":
        raise ValueError(
            f"bound={bound!r} with simultaneous=True: the envelope is made of critical counts."
            " Leave bound out, or take each n alone."
        )
    levels = check_shares("p", p, one=not simultaneous)
    names: tuple[str, str] = SPACES[space]

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        found = xr.apply_ufunc(
            _band_columns,
            *common_size(inner),
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
        result = xr.Dataset(dict(zip((*names, "exists"), found, strict=True)))
        return result.assign_coords(p=("p", levels), n=("n", sizes))

    attrs = {"space": space, "simultaneous": simultaneous, "bound": bound}
    return answer(
        data, roles, question, ("p", "n", *names), n=check_n(n), scored=False, any_ties=True,
        attrs=attrs,
    )  # fmt: skip


def _band_columns(
    total: IntArray,
    positive: IntArray,
    *,
    space: str,
    p: FloatArray,
    n: IntArray,
    simultaneous: bool,
    bound: str,
) -> tuple[AnyArray, ...]:
    total, positive = np.asarray(total), np.asarray(positive)
    x, y = (np.full((*total.shape, p.size, n.size), np.nan) for _ in range(2))
    exists = np.broadcast_to(
        (n <= total[..., np.newaxis])[..., np.newaxis, :], (*total.shape, p.size, n.size)
    )

    @cache  # groups of one size share their bounds
    def counted(model: Finite, level: int) -> FloatArray:
        size = n[n <= model.total].astype(float)
        if simultaneous:
            counts = boundary.envelope(float(p[level]), size, model).counts
        else:
            counts = bounds.bound(bound, float(p[level]), size, model)
        return np.where(counts <= np.minimum(size, model.positive), counts, np.nan)

    for row in np.ndindex(total.shape):
        model = Finite(float(total[row]), float(positive[row]))
        inside = n <= model.total
        for level in range(p.size if model.total else 0):
            where = (*row, level, inside)
            x[where], y[where] = rates(
                space, counted(model, level), n[inside], model.total, model.positive
            )
    return x, y, exists


def isolines(data: Data, n: Any, space: str = "roc", **roles: Unpack[RoleKeywords]) -> Data:
    """Return where all lists of n lie in the space of a curve, whatever their true positives.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label; their scores play no part.
    n : int or sequence of int
        Sizes of the lists.
    space : {"roc", "precision_recall", "det", "lift", "gain"}
        Whose rates are given.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per n and possible number of true positives, the lowest first (Dataset: dimension
        row): ``n`` and the two rates of the space.

    Notes
    -----
    In ROC space the line of n has the slope -(N - N+) / N+ and meets the curve of each measure
    where its n-best list ends. Of a lazy Dataset the lines are computed.

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
        raise ValueError("n=None: a line for every n covers the picture. Give the n of some lists.")
    names: tuple[str, str] = SPACES[space]

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        total, positive = (x.compute() for x in common_size(inner))
        tp = xr.DataArray(np.arange(int(positive.max()) + 1), dims="_point")
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

    return answer(
        data, roles, question, ("n", *names), n=asked, scored=False, rows_only=True, any_ties=True,
        attrs={"space": space},
    )  # fmt: skip
