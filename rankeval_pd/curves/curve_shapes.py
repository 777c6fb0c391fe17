"""ROC, precision-recall, DET, gain and lift curves over all cutoffs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, Unpack, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.curves.curve_intervals import RANGE, check_interval, limits, sizes_of
from rankeval_pd.errors import check_share
from rankeval_pd.forms.lazy.outlines import Curves
from rankeval_pd.forms.out import tables
from rankeval_pd.forms.out.averages import Average, check_average, of_curves
from rankeval_pd.forms.rankings.answers import answer
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.kernel_calls import ask_measures
from rankeval_pd.forms.rankings.values import Shares, those
from rankeval_pd.forms.roles.declarations import NO_CONCLUSION, Capabilities, with_roles_and
from rankeval_pd.forms.roles.roles import CurveInterval, ListSizes, RankingRoles, Roles
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.ranking import Ranking

SPACES: dict[str, tuple[str, str]] = {
    "roc": ("fpr", "tpr"),
    "precision_recall": ("precision", "recall"),
    "det": ("fpr", "fnr"),
    "lift": ("share", "lift"),
    "gain": ("share", "tpr"),
}
DEFAULTS = {"ties": "expected"}  # mean over all orders of equal scores, as for areas
_IDLE_ROLES = {
    **dict.fromkeys(("key", "label", "rng"), "Has no effect, except with ties='shared'."),
    "groups": NO_CONCLUSION,
}
_AT_N = ("share", "tpr", "lift")  # gain and lift of given lists share one table
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
    rankings="How good is it overall?", lists=True, any_ties=True, ends=True, clusters=True
)


def _curve(
    data: Data, space: str, roles: RankingRoles, *, n: Any = None, average: Average | None = None,
    interval: str | None = None, level: float = 0.95,
) -> Data:  # fmt: skip
    """Return a row for each list of every measure: n, threshold, both rates, and limits."""
    sizes = sizes_of(n)
    if sizes is None:  # lists of given n follow the accessor's ties
        roles = {**DEFAULTS, **roles}  # type: ignore[typeddict-item]
    chosen = Roles.of(roles)
    ties = chosen.ties
    check_average(average)
    level = check_share("level", level)
    check_interval(interval, average, chosen)
    if average is not None and ties == "blocks":
        raise ValueError(
            f"average={average!r} with ties='blocks': blocks of equal scores end at different n in "
            "each group, and an average needs lists of the same n. Pass ties='expected'."
        )
    listed: tuple[str, ...] = SPACES[space] if sizes is None else _AT_N
    limited: tuple[str, ...] = () if interval is None else ("ci_low", "ci_high")
    names: tuple[str, ...] = ("threshold", *listed, *limited)

    def question(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        given = those(sizes, asked)
        if given is None:
            asked = np.arange(1 if space in _FROM_ONE else 0, asked.size + 1)
        result = ask_measures(
            inner,
            _curve_columns,
            {**dict.fromkeys(("tp", *names) if average else names, float), "exists": bool},
            along={"n": asked},
            beside=[inner["sign"]],
            options={
                "space": space, "ties": ties, "n": given, "interval": interval, "level": level,
                "counted": average is not None, "seed": chosen.draws,
                "alone": inner.attrs["n_groups"] <= 1,
            },
        )  # fmt: skip
        if isinstance(sizes, Shares):  # replaced by the requested share
            result = result.drop_vars("share")
        if average is None:
            return result
        positive = (inner["gold"] & inner["present"]).sum("candidate")
        others = inner["present"].sum("candidate") - positive
        return result.assign(positive=positive, others=others)

    averaged: tuple[str, ...] = ("ci_low", "ci_high", "n_queries", "n_missing")
    shown: list[str] = [x for x in names if x != "share" or not isinstance(sizes, Shares)]
    noted = {"level": level, "interval": interval}
    if interval == "simultaneous":
        noted["range"] = RANGE
    found: Any = answer(
        data, roles, question,
        ("measure", "n", *(shown if average is None else (*names[1:], *averaged))),
        replace(_CURVE, clusters=average is None and interval is None),
        n=sizes,
        combine=None if average is None else of_curves(average, SPACES[space], level),
        attrs={
            "space": space, "ties": ties,
            **({} if average is None else {"average": average, "level": level}),
            **({} if interval is None else noted),
        },
    )  # fmt: skip
    if isinstance(found, pd.DataFrame) and isinstance(sizes, Shares):
        columns = [x for x in found.columns if x != "share"]
        columns.insert(columns.index("threshold") + 1, "share")
        found = found[columns]
    return cast("Data", found)


def _curve_columns(
    ranking: Ranking, sign: FloatArray, *, space: str, ties: str, n: IntArray | None,
    counted: bool, interval: str | None, level: float, seed: int, alone: bool,
) -> tuple[AnyArray, ...]:  # fmt: skip
    size, asked = ranking.size, n
    lists = ranking.nbest(n, ties)
    sizes: AnyArray = np.broadcast_to(ranking.every if n is None else n, lists.tp.shape)
    tp, threshold, exists = lists.tp, lists.threshold, lists.exists
    if ranking.ends and asked is None:  # the curve ends with the list
        exists = exists & (sizes <= ranking.eligible.sum(axis=-1)[..., np.newaxis])
    if asked is None and space not in _FROM_ONE:
        # prepend the empty list, with a threshold above every score
        sizes, tp, threshold, exists = (
            np.concatenate([np.full((*x.shape[:-1], 1), y, dtype=x.dtype), x], axis=-1)
            for x, y in ((sizes, 0), (tp, 0), (threshold, np.inf), (exists, True))
        )
        exists = np.logical_and(exists, (size.total > 0)[..., np.newaxis])
    every = tp, sizes, size.total[..., np.newaxis], size.positive[..., np.newaxis]
    found = rates(space, *every)
    if asked is not None:
        found = (*rates("gain", *every), rates("lift", *every)[1])  # type: ignore[assignment]
    if ranking.ends and (asked is not None or space == "lift"):  # chance among the retrieved
        drawn_from = tuple(x[..., np.newaxis] for x in ranking.retrieved)
        found = (*found[:-1], rates("lift", tp, sizes, *drawn_from)[1])
    columns: tuple[AnyArray, ...] = (threshold * sign[..., np.newaxis] + 0.0, *found)
    if interval is not None:
        columns += limits(
            ranking, sizes.reshape(-1, sizes.shape[-1])[0], exists, space, ties, interval, level,
            seed, alone=alone,
        )  # fmt: skip
    columns += (exists,)
    return (np.asarray(tp, dtype=float), *columns) if counted else columns


def curve_of_turns(space: str) -> Callable[..., pd.DataFrame]:
    """Return the function that computes a curve from the lists at which it turns."""
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
        if space == "lift" and n.size:  # chance among scored candidates, all in the last list
            y = rates(space, tp, n, n[-1], tp[-1])[1]
        rows = (tables.labels([measure] * n.size), n, threshold[asked], x, y)
        for name, values in zip(("measure", "n", "threshold", *SPACES[space]), rows, strict=True):
            columns.setdefault(name, []).append(values)
    return tables.rows_of(columns, attrs={"space": space, "ties": ties})


@_CURVE
@with_roles_and(DEFAULTS, _IDLE_ROLES)
def roc(
    data: Data,
    *,
    average: Average | None = None,
    interval: CurveInterval | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the ROC curve of each measure.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    average : {None, "macro", "micro"}
        One curve for all groups of ``by`` (Dataset: all batch dimensions): at each n the mean of
        their rates ("macro"), or the ratio of the sums ("micro"). A shorter group stays at its last
        point. The area under it differs from :func:`area` with ``average``, which averages areas.
    interval : {None, "pointwise", "simultaneous"}
        Adds ``ci_low`` and ``ci_high``, limits of the height of the curve: of ``tpr`` (``fnr``) at
        this ``fpr``, of ``precision`` at this ``recall``, of ``tpr`` and ``lift`` at this
        ``share``. "pointwise" limits hold at each point alone. "simultaneous" ones hold at all
        points together, from lists with 5 true positives (for ``roc`` and ``det`` also 5 negatives)
        to lists that exclude this many, and are NaN outside this range (``attrs["range"]``). They
        need 30 candidates of each class.
    level : float
        Confidence level of the interval, or of an average over groups.
    **roles
        Column roles, see :func:`nbest_precision`. ``ties="expected"``, the default of curves, is
        the mean over all orders of equal scores: a straight line joins the ends of a block, and the
        area under the curve is :func:`area`. "blocks" has one point per block, as scikit-learn
        does; "best" and "worst" bound the effect of the order, and "shared" is the order of
        :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n, from n = 0 (Dataset: dimensions measure and n; with
        ``ties="blocks"`` the dimension row): ``measure``, ``n``, ``threshold`` (the score of the
        n-th candidate; infinite at n = 0), ``fpr``: the share of the negatives in the list,
        ``tpr``: the share of the positives. NaN without candidates of the class. With ``average``,
        ``threshold`` is left out; ``ci_low``, ``ci_high``: the interval of ``tpr`` over the groups;
        ``n_queries``: the groups used; ``n_missing``: the groups excluded because a class is
        missing.

    Raises
    ------
    ValueError
        If a band is requested with fewer than 30 candidates of a class.

    Notes
    -----
    Limits are Clopper and Pearson's, with a number of candidates that matches the variance of the
    curve, including the threshold's. A band contains the largest deviation over all points with the
    requested probability. In simulations 95% bands covered the curve at least 95% of the time
    (``tests/reference/curve_bands.csv``). Cost: O(N log N), and two microseconds for each interval.

    References
    ----------
    Macskassy (2005), section 3.3, figures 4 to 7. F. Hsieh and B. W. Turnbull (1996), Nonparametric
    and semiparametric estimation of the ROC curve. J. R. Ash and J. M. Hughes-Oliver (2022),
    Confidence bands and hypothesis tests for hit enrichment curves.

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
    return _curve(data, "roc", roles, average=average, interval=interval, level=level)


@_CURVE
@with_roles_and(DEFAULTS, _IDLE_ROLES)
def precision_recall(
    data: Data,
    *,
    average: Average | None = None,
    interval: CurveInterval | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the precision-recall curve of each measure.

    Parameters
    ----------
    data, average, interval, level, **roles
        As in :func:`roc`.

    Returns
    -------
    DataFrame or Dataset
        As in :func:`roc`, from n = 1: ``measure``, ``n``, ``threshold``, ``precision``, ``recall``.
        With ``average``, ``ci_low``, ``ci_high``, ``n_queries``, ``n_missing`` refer to
        ``precision``; a group without true positives counts there, not in ``recall``.

    Notes
    -----
    The curve is not straight between two points: do not integrate it by trapezoids. See
    :func:`area` for average precision, which uses the precision at the end of a block of equal
    scores. Cost: O(N log N).

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
    asked: dict[str, Any] = {"average": average, "interval": interval, "level": level}
    return _curve(data, "precision_recall", roles, **asked)


@_CURVE
@with_roles_and(DEFAULTS, _IDLE_ROLES)
def det(
    data: Data,
    *,
    interval: CurveInterval | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the detection error trade-off (DET) curve of each measure.

    Parameters
    ----------
    data, interval, level, **roles
        As in :func:`roc`.

    Returns
    -------
    DataFrame or Dataset
        As in :func:`roc`: ``measure``, ``n``, ``threshold``, ``fpr``, ``fnr``: the share of the
        true positives missing from the list.

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
    return _curve(data, "det", roles, interval=interval, level=level)


@_CURVE
@with_roles_and(DEFAULTS, _IDLE_ROLES)
def gain(
    data: Data,
    n: ListSizes | Literal["deciles"] = None,
    *,
    interval: CurveInterval | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the gain curve of each measure: recall against the share of candidates.

    Parameters
    ----------
    data, interval, level
        As in :func:`roc`.
    n : int, float, sequence, range or "deciles", optional
        Sizes of lists, or shares of the candidates (1.0 is all of them); "deciles" are the shares
        0.1, 0.2, ..., 1. None means every n. A band holds at all requested n together.
    **roles
        As in :func:`roc`, but at given n ``ties`` is "shared" by default, as for other lists.

    Returns
    -------
    DataFrame or Dataset
        As in :func:`roc`: ``measure``, ``n``, ``threshold``, ``share`` = n / N, ``tpr``. At given n
        one row for each, with ``lift`` too; for shares, ``share`` is the requested one (Dataset:
        dimension share).

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
    return _curve(data, "gain", roles, n=n, interval=interval, level=level)


@_CURVE
@with_roles_and(DEFAULTS, _IDLE_ROLES)
def lift(
    data: Data,
    n: ListSizes | Literal["deciles"] = None,
    *,
    interval: CurveInterval | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the lift of each measure: precision divided by the share of positives.

    Parameters
    ----------
    data, n, interval, level, **roles
        As in :func:`gain`.

    Returns
    -------
    DataFrame or Dataset
        As in :func:`gain`, from n = 1: ``measure``, ``n``, ``threshold``, ``share``, ``lift``, and
        at given n ``tpr``. The lift at 0.01 is the enrichment factor at 1%.

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
      measure   n  threshold  share       tpr      lift
    0      G2   2        9.5    0.1  0.666667  6.666667
    1      G2  10        5.5    0.5  1.000000  2.000000
    """
    return _curve(data, "lift", roles, n=n, interval=interval, level=level)
