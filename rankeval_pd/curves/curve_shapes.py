"""ROC, precision-recall, DET, gain and lift curves over all cutoffs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Unpack, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.curves.curve_intervals import RANGE, check_interval, limits, sizes_of
from rankeval_pd.errors import check_share
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
DEFAULTS = {"ties": "expected"}  # average over all orderings of tied scores, as for areas
_IDLE_ROLES = {
    **dict.fromkeys(("key", "label", "rng"), "Ignored unless ties='shared'."),
    "groups": NO_CONCLUSION,
}
_AT_N = ("share", "tpr", "lift")  # gain and lift at given list sizes return the same table
_FROM_ONE = ("precision_recall", "lift")  # the precision of an empty list is undefined


def rates(
    space: str, tp: AnyArray, n: AnyArray, total: AnyArray | float, positive: AnyArray | float
) -> tuple[FloatArray, FloatArray]:
    """Return the two coordinates of lists with n candidates and tp true positives."""
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
    rankings="How good is it overall?",
    lists=True,
    any_ties=True,
    ends=True,
    clusters=True,
    by_groups=True,
    layout="measure n",
)


def _curve(
    data: Data, space: str, roles: RankingRoles, *, n: Any = None, average: Average | None = None,
    interval: str | None = None, level: float = 0.95,
) -> Data:  # fmt: skip
    """Return a row for each list of each measure: n, threshold, coordinates and limits."""
    sizes = sizes_of(n)
    if sizes is None:  # lists of given sizes use the accessor's tie handling
        roles = {**DEFAULTS, **roles}  # type: ignore[typeddict-item]
    chosen = Roles.of(roles)
    ties = chosen.ties
    check_average(average)
    level = check_share("level", level)
    check_interval(interval, average, chosen)
    if average is not None and ties == "blocks":
        raise ValueError(
            f"average={average!r} with ties='blocks': blocks of equal scores end at different list "
            "sizes in each group, but averaging needs lists of the same size. Pass ties='expected'."
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
        if isinstance(sizes, Shares):  # replace n / N by the requested fraction
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
    if ranking.ends and (asked is not None or space == "lift"):  # chance level: retrieved
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
        Whether to average the curves of all groups of ``by`` (Dataset: all batch dimensions). At
        each n, "macro" averages the groups' rates, and "micro" divides the sum of the numerators by
        the sum of the denominators. A group with fewer than n candidates contributes its last
        point. The area under an averaged curve differs from the average area returned by
        :func:`area`.
    interval : {None, "pointwise", "simultaneous"}
        Whether to add confidence limits ``ci_low`` and ``ci_high`` for the height of the curve. The
        height is ``tpr`` or ``fnr`` at a given ``fpr``, ``precision`` at a given ``recall``, and
        ``tpr`` or ``lift`` at a given ``share``. With "pointwise", ``level`` applies to each point
        separately. With "simultaneous", ``level`` applies jointly to all points. A simultaneous
        band requires 30 candidates in each class. The band starts at lists with 5 true positives
        and ends at lists that exclude 5 true positives. For ``roc`` and ``det``, lists must also
        include and exclude 5 negatives. Limits outside this range (``attrs["range"]``) are NaN.
    level : float
        Confidence level of the limits, for one ranking or for an average over groups.
    **roles
        Column roles (see :func:`nbest_precision`). By default, curves use ``ties="expected"``, the
        mean over all orderings of tied scores. The curve is then a straight line within a block of
        tied scores, and the area under the curve equals :func:`area`. "blocks" gives one point per
        block, as in scikit-learn. "best" and "worst" bound the effect of the order of tied scores,
        and "shared" is the default order of :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n, from n = 0 (Dataset: dimensions measure and n; with
        ``ties="blocks"`` the dimension row). ``threshold`` is the score of the n-th candidate and
        is infinite at n = 0. ``fpr`` is the fraction of all negatives that are in the list, and
        ``tpr`` is the fraction of all positives. A rate is NaN if its class is empty. With
        ``average``, the table has no ``threshold``. ``ci_low`` and ``ci_high`` are then the
        confidence limits for ``tpr`` across the groups, ``n_queries`` is the number of groups used,
        and ``n_missing`` is the number of groups excluded because a class is empty.

    Raises
    ------
    ValueError
        If a simultaneous band is requested and a class has fewer than 30 candidates.

    Notes
    -----
    The limits are Clopper–Pearson limits for an effective number of candidates that matches the
    variance of the curve, including the variance of the threshold. A simultaneous band is
    calibrated to the largest deviation over all points. In simulations, 95% bands covered the whole
    curve at least 95% of the time (``tests/reference/curve_bands.csv``). The cost is O(N log N),
    plus two microseconds per interval.

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
        The columns ``measure``, ``n``, ``threshold``, ``precision``, ``recall``, as in :func:`roc`,
        starting at n = 1. With ``average``, the columns ``ci_low``, ``ci_high``, ``n_queries`` and
        ``n_missing`` refer to ``precision``. A group without true positives is included in the mean
        precision but not in the mean recall.

    Notes
    -----
    The curve is not linear between two points, so do not integrate it with the trapezoidal rule.
    Use :func:`area` for average precision, which uses the precision at the end of each block of
    equal scores. The cost is O(N log N).

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
        The columns ``measure``, ``n``, ``threshold``, ``fpr``, ``fnr``, as in :func:`roc`. ``fnr``
        is the fraction of all true positives that are missing from the list.

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
    """Return the gain curve of each measure: recall as a function of list size.

    Parameters
    ----------
    data, interval, level
        As in :func:`roc`.
    n : int, float, sequence, range or "deciles", optional
        Sizes of the lists, as counts or as fractions of the candidates (1.0 means all candidates).
        "deciles" means the fractions 0.1, 0.2, ..., 1. By default, every n is used. A simultaneous
        band covers all requested n.
    **roles
        As in :func:`roc`, except that ``ties`` is "shared" by default if you pass ``n``.

    Returns
    -------
    DataFrame or Dataset
        The columns ``measure``, ``n``, ``threshold``, ``share`` = n / N, ``tpr``, as in
        :func:`roc`. If you pass ``n``, the table has one row per requested n and an additional
        column, ``lift``. If you pass fractions, ``share`` contains the requested fractions
        (Dataset: dimension share).

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
    """Return the lift of each measure: precision divided by the prevalence.

    Parameters
    ----------
    data, n, interval, level, **roles
        As in :func:`gain`.

    Returns
    -------
    DataFrame or Dataset
        The columns ``measure``, ``n``, ``threshold``, ``share``, ``lift``, as in :func:`gain`,
        starting at n = 1. If you pass ``n``, the table also has ``tpr``. The lift at 0.01 is the
        enrichment factor at 1%.

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
