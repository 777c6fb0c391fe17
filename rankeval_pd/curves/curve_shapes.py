"""Curves over all cut-offs: ROC, precision-recall, DET, gain and lift."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_share, check_shares
from rankeval_pd.forms.lazy.outlines import Curves
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.averages import Average, check_average, of_curves
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import ask_measures
from rankeval_pd.forms.rankings.values import Shares
from rankeval_pd.forms.roles.declarations import NO_CONCLUSION, Capabilities, with_roles_and
from rankeval_pd.forms.roles.roles import RankingRoles, Roles
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.ranking import Ranking

SPACES: dict[str, tuple[str, str]] = {
    "roc": ("fpr", "tpr"),
    "precision_recall": ("precision", "recall"),
    "det": ("fpr", "fnr"),
    "lift": ("share", "lift"),
    "gain": ("share", "tpr"),
}
DEFAULTS = {"ties": "expected"}  # the mean over all orders of equal scores, as for areas
_IDLE_ROLES = {
    **dict.fromkeys(("key", "label", "rng"), "no effect here, but under ties='shared'."),
    "groups": NO_CONCLUSION,
}
_FROM_ONE = ("precision_recall", "lift")  # an empty list has no precision


def rates(
    space: str, tp: AnyArray, n: AnyArray, total: AnyArray | float, positive: AnyArray | float
) -> tuple[FloatArray, FloatArray]:
    """Return the two coordinates of lists of n with tp true positives; NaN if undefined."""
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


_CURVE = Capabilities(
    rankings="How does it look?", lists=True, any_ties=True, ends=True, clusters=True
)


def _curve(
    data: Any,
    space: str,
    roles: RankingRoles,
    fractions: Any = None,
    average: Average | None = None,
    level: float = 0.95,
) -> Any:
    """Return a row for each list of every measure: n, threshold, and the two rates."""
    roles = {**DEFAULTS, **roles}  # type: ignore[typeddict-item]
    ties = Roles.of(roles).ties
    check_average(average)
    level = check_share("level", level)
    if average is not None and ties == "blocks":
        raise ValueError(
            f"average={average!r} with ties='blocks': the blocks of equal scores end elsewhere in"
            " each group, and an average has lists of the same n. Give ties='expected'."
        )
    shares = None if fractions is None else check_shares("fractions", fractions, one=True)
    names = ("threshold", *SPACES[space])
    along, counted = ("n", ()) if shares is None else ("fraction", ("n",))

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        first = 1 if space in _FROM_ONE else 0
        asked = np.arange(first, sizes.size + 1) if shares is None else shares
        result = ask_measures(
            inner,
            _curve_columns,
            {
                **dict.fromkeys(counted, np.int64),
                **dict.fromkeys(("tp", *names) if average else names, float),
                "exists": bool,
            },
            along={along: asked},
            beside=[inner["sign"]],
            options={
                "space": space,
                "ties": ties,
                "shares": shares,
                "counted": average is not None,
            },
        )
        if average is None:
            return result
        positive = (inner["gold"] & inner["present"]).sum("candidate")
        others = inner["present"].sum("candidate") - positive
        return result.assign(positive=positive, others=others)

    averaged = ("ci_low", "ci_high", "n_queries", "n_missing")
    return answer(
        data, roles, question,
        ("measure", "n", *(names if average is None else (*names[1:], *averaged))),
        replace(_CURVE, lists=shares is None, clusters=average is None),
        combine=None if average is None else of_curves(average, SPACES[space], level),
        attrs={
            "space": space, "ties": ties,
            **({} if average is None else {"average": average, "level": level}),
        },
    )  # fmt: skip


def _curve_columns(
    ranking: Ranking,
    sign: FloatArray,
    *,
    space: str,
    ties: str,
    shares: FloatArray | None,
    counted: bool,
) -> tuple[AnyArray, ...]:
    size = ranking.size
    if shares is None:
        lists = ranking.nbest(None, ties)
        n = np.broadcast_to(ranking.every, lists.tp.shape)
        tp, threshold, exists = lists.tp, lists.threshold, lists.exists
        if ranking.ends:  # the curve ends with the list
            exists = exists & (n <= ranking.eligible.sum(axis=-1)[..., np.newaxis])
        if space not in _FROM_ONE:  # prepend the empty list, whose threshold is above every score
            n, tp, threshold, exists = (
                np.concatenate([np.full((*x.shape[:-1], 1), y, dtype=x.dtype), x], axis=-1)
                for x, y in ((n, 0), (tp, 0), (threshold, np.inf), (exists, True))
            )
            exists = np.logical_and(exists, (size.total > 0)[..., np.newaxis])
    else:
        n, tp, threshold, exists = _at_shares(ranking, shares, ties)
    x, y = rates(space, tp, n, size.total[..., np.newaxis], size.positive[..., np.newaxis])
    columns: tuple[AnyArray, ...] = (threshold * sign[..., np.newaxis] + 0.0, x, y, exists)
    if counted:
        columns = (np.asarray(tp, dtype=float), *columns)
    return columns if shares is None else (n, *columns)


def curve_of_turns(space: str) -> Callable[..., pd.DataFrame]:
    """Return the function that makes a curve of rankings from the lists at which it turns."""
    return functools.partial(_shape_of_turns, space)


def _shape_of_turns(space: str, found: Curves, *, ties: str, level: float = 0.95) -> pd.DataFrame:
    check_share("level", level)
    columns: dict[str, list[AnyArray]] = {}
    for measure, lists, threshold in zip(
        found.measures, found.turns, found.thresholds, strict=True
    ):
        asked = lists.n >= (1 if space in _FROM_ONE else 0)
        n, tp = lists.n[asked], lists.tp[asked]
        x, y = rates(space, tp, n, found.total, found.positive)
        rows = (tables.labels([measure] * n.size), n, threshold[asked], x, y)
        for name, values in zip(("measure", "n", "threshold", *SPACES[space]), rows, strict=True):
            columns.setdefault(name, []).append(values)
    return tables.rows_of(columns, attrs={"space": space, "ties": ties})


def _at_shares(
    ranking: Ranking,
    shares: FloatArray,
    ties: str,
) -> tuple[IntArray, AnyArray, FloatArray, BoolArray]:
    """Return n, true positives and threshold of the smallest lists with these shares."""
    shape = (*ranking.here.shape, shares.size)
    n = np.zeros(shape, dtype=np.int64)
    tp = np.zeros(shape, dtype=float if ties == "expected" else np.int64)
    threshold, exists = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    total = ranking.size.total
    for row in np.ndindex(shape[:-1]):
        if total[row]:
            n[row] = Shares(shares).of(int(total[row]))
            lists = ranking.row(row).nbest(n[row], ties)
            tp[row], threshold[row], exists[row] = lists.tp, lists.threshold, True
    return n, tp, threshold, exists


@_CURVE
@with_roles_and(DEFAULTS, _IDLE_ROLES)
def roc(
    data: Data,
    *,
    average: Average | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the ROC curve of each measure.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    average : {None, "macro", "micro"}
        One curve for all groups of ``by`` (of a Dataset, all batch dimensions): at each n the mean
        of their rates ("macro"), or the ratio of the sums ("micro"). A group with fewer
        candidates, or whose list has ended, stays at its last point. The area under it is not that
        of :func:`area` with ``average``, which averages the areas.
    level : float
        Of an average, the confidence level of its intervals.
    **roles
        Which column is what, see :func:`nbest_precision`. ``ties="expected"``, the default of
        curves, is the mean over all orders of equal scores: the ends of a block are joined by a
        straight line, and the area under the curve is :func:`area`. With "blocks" there is a point
        for each block only, as scikit-learn has it; "best" and "worst" bound what an order of
        equal scores can do, and "shared" is the order of the lists of :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n, from n = 0 (Dataset: dimensions measure and n; with
        ``ties="blocks"`` the dimension row): ``measure``, ``n``, ``threshold`` (the score of the
        n-th candidate; infinite at n = 0), ``fpr``: the share of the other candidates that the
        list has, ``tpr``: the share of the true positives. NaN where there are none of a kind.
        With ``average`` there is no ``threshold``; ``ci_low``, ``ci_high``: the interval of
        ``tpr`` over the groups; ``n_queries``: the groups that it is from; ``n_missing``: those
        that have no area, since a kind of candidates is missing; they are left out.

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
    return _as_form(data, _curve(data, "roc", roles, None, average, level))


@_CURVE
@with_roles_and(DEFAULTS, _IDLE_ROLES)
def precision_recall(
    data: Data,
    *,
    average: Average | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the precision-recall curve of each measure.

    Parameters
    ----------
    data, average, level, **roles
        As in :func:`roc`.

    Returns
    -------
    DataFrame or Dataset
        As in :func:`roc`, from n = 1: ``measure``, ``n``, ``threshold``, ``precision``,
        ``recall``. With ``average``, ``ci_low``, ``ci_high``, ``n_queries``, ``n_missing`` are
        those of ``precision``; a group without true positives counts there, and not in ``recall``.

    Notes
    -----
    Between two points the curve is no straight line: do not integrate it by trapezoids. See
    :func:`area` for average precision, which takes precision where a block of equal scores ends.
    O(N log N).

    References
    ----------
    Macskassy (2005), section 3.3.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3], "gold": [True, False, True]})
    >>> df.rankeval.precision_recall()
      measure  n  threshold  precision  recall
    0      G2  1        9.1   1.000000     0.5
    1      G2  2        7.4   0.500000     0.5
    2      G2  3        3.3   0.666667     1.0
    """
    return _as_form(data, _curve(data, "precision_recall", roles, None, average, level))


@_CURVE
@with_roles_and(DEFAULTS, _IDLE_ROLES)
def det(data: Data, **roles: Unpack[RankingRoles]) -> Data:
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
    return _as_form(data, _curve(data, "det", roles))


@_CURVE
@with_roles_and(DEFAULTS, _IDLE_ROLES)
def gain(data: Data, **roles: Unpack[RankingRoles]) -> Data:
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
    return _as_form(data, _curve(data, "gain", roles))


@_CURVE
@with_roles_and(DEFAULTS, _IDLE_ROLES)
def lift(
    data: Data, fractions: float | Sequence[float] | None = None, **roles: Unpack[RankingRoles]
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
    >>> df = pd.DataFrame(
    ...     {"G2": [x / 2 for x in range(20, 0, -1)], "gold": [True] * 3 + [False] * 17}
    ... )
    >>> df.rankeval.lift([0.1, 0.5])
      measure   n  threshold  share      lift
    0      G2   2        9.5    0.1  6.666667
    1      G2  10        5.5    0.5  2.000000
    """
    return _as_form(data, _curve(data, "lift", roles, fractions))


def _as_form(_: Data, found: Any) -> Data:
    """Return a result, typed as the same kind of data."""
    answered: Data = found
    return answered
