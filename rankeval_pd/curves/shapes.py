"""ROC, precision-recall, DET, lift and gain curves, with random bands and isolines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from rankeval_pd.chance.bounds import UNRANKED, rows_of_pools
from rankeval_pd.chance.random_tests import Pool, able_with, chosen_pool, pool_columns
from rankeval_pd.curves.areas import Columns
from rankeval_pd.decisions import Average, Rows, average_curves
from rankeval_pd.doors import (
    Candidates,
    Data,
    Shares,
    Sizes,
    check_n,
    measure_rows,
    rows_of,
    tabulate,
)
from rankeval_pd.errors import (
    check_share,
    check_shares,
    refuse_combinations,
    warn,
)
from rankeval_pd.options import NO_CONCLUSION, Capabilities, can, with_roles_and
from rankeval_pd.roles import Bound, CurveInterval, ListSizes, RankingRoles, Roles, Space
from rankeval_pd.stats import (
    AnyArray,
    BoolArray,
    CurveLists,
    Finite,
    FloatArray,
    IntArray,
    Limits,
    Ranking,
    bands,
    clopper_pearson,
    edge_precision,
    random_model,
    silent_division,
)

# -------------------------------------------- Pointwise intervals and simultaneous bands for curves

RANGE = (
    f"lists that contain at least {bands.ENDS} candidates of a class and leave out at"
    f" least {bands.ENDS}"
)


def sizes_of(n: Any) -> Sizes:
    """Return the requested list sizes; "deciles" means the fractions 0.1, 0.2, ..., 1."""
    if isinstance(n, str) and n == "deciles":
        return Shares(np.arange(1, 11) / 10.0)
    values = [n]
    if np.iterable(n) and not isinstance(n, str):
        values = list(n)
    several = any(isinstance(x, float | np.floating) and 0.0 < x <= 1.0 for x in values)
    if several and all(x == 1 or check_n(x) is not None for x in values):
        inside = [x for x in values if x != 1]
        check_n(inside or [0.5])
        return Shares(np.array(list(dict.fromkeys(float(x) for x in values))))
    return check_n(n)


def lists_of(ranking: Ranking, n: IntArray, ties: str) -> CurveLists:
    """Return the data for the intervals along one ranking's curve; ``n`` increases from 1."""
    lists = ranking.nbest(n, ties)
    total = int(ranking.here)
    block = lists.block
    cut = (n - block.above < block.size) & (ties == "expected")
    return CurveLists(
        n=n,
        tp=lists.tp,
        edge=edge_precision(ranking.cumulated(ties), n, np.array(total)),
        above=np.where(cut, block.above, n),
        tp_above=np.where(cut, block.tp_above, lists.tp),
        size=np.where(cut, block.size, 1.0),
        tp_block=np.where(cut, block.tp, 0.0),
        total=total,
        positive=int(ranking.size.positive),
    )


class Curve(NamedTuple):
    """The options of a curve, and of the limits for its height."""

    space: str
    ties: str
    interval: str | None = None
    level: float = 0.95
    seed: int = 0


def heights(ranking: Ranking, n: IntArray, exists: BoolArray, curve: Curve) -> Limits:
    """Return the limits for the height of a curve (..., n); NaN if undefined."""
    limits = np.full((2, *exists.shape), np.nan)
    rising, back = np.unique(n, return_inverse=True)
    few = []
    for row in np.ndindex(exists.shape[:-1]):
        positive = int(ranking.size.positive[row])
        total = int(ranking.here[row])
        least = min(positive, total - positive)
        listed = np.isin(rising, n[exists[row]]) & (rising > 0)
        if curve.interval == "simultaneous" and least < bands.LEAST:
            few.append((positive, total - positive))
        elif least and listed.any():
            of_row = _heights_of_one(ranking.row(row), rising, listed, curve)
            limits[slice(None), *row] = of_row[:, back]
    if few:
        positive, others = min(few, key=min)
        warn(
            f"interval='simultaneous': the limits of {len(few)} rankings are NaN, because a band"
            f" needs {bands.LEAST} or more candidates in each class, but there are {positive:,}"
            f" true positives and {others:,} others. Pass interval='pointwise'."
        )
    return limits[0], limits[1]


def _heights_of_one(ranking: Ranking, n: IntArray, listed: BoolArray, curve: Curve) -> FloatArray:
    """Return the limits for one ranking: (2, n)."""
    space = curve.space
    pointwise = curve.interval == "pointwise"
    result = np.full((2, n.size), np.nan)
    lists = every = lists_of(ranking, n[listed], curve.ties)
    at = np.flatnonzero(listed)
    each = curve.level
    if not pointwise:
        inside = bands.covered(space, lists)
        if not inside.any():
            return result
        lists = lists.chosen(inside)
        at = at[inside]
        each = bands.band_level(space, lists, curve.level, curve.seed)
    result[:, at] = bands.curve_limits(space, lists, each, every)
    if space != "precision_recall" and pointwise:
        result[:, n == int(ranking.here)] = 1.0  # the list of all candidates has all positives
    if space == "det":
        result = 1.0 - result[::-1]
    if space == "lift":
        of_all, true = ranking.retrieved
        rarest = clopper_pearson(true, of_all, each)[0]  # the lowest plausible prevalence
        positive = int(ranking.size.positive)
        result = result * (positive * np.divide(of_all, true) / np.maximum(n, 1))
        result = np.minimum(result, 1.0 / rarest)
    return result


# -------------------------------- ROC, precision-recall, DET, gain and lift curves over all cutoffs

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
_UNLIMITED = (
    ("interval", "average", "The average over groups has its own interval. Omit interval."),
    ("interval", "groups", "For limits with groups, see nbest_recall and precision_band."),
    ("interval", "missing", "Lists that end have no later thresholds. Pass missing='last'."),
)


_RATES = {
    "fpr": ("fp", "negative"),
    "fnr": ("missed", "positive"),
    "tpr": ("tp", "positive"),
    "recall": ("tp", "positive"),
    "precision": ("tp", "n"),
    "share": ("n", "total"),
    "lift": ("tp", "n"),  # divided by the prevalence
}
"""The numerator and denominator of a coordinate."""


def rates(
    names: Sequence[str],
    tp: AnyArray,
    n: AnyArray,
    total: AnyArray | float,
    positive: AnyArray | float,
) -> Columns:
    """Return coordinates of lists with n candidates; NaN or infinite if a class is empty."""
    counts = {"tp": tp, "n": n, "total": total, "positive": positive}
    counts["negative"] = total - positive
    if "fpr" in names:
        counts["fp"] = n - tp
    if "fnr" in names:
        counts["missed"] = positive - tp
    shape = np.broadcast_shapes(*(np.shape(x) for x in (tp, n, total, positive)))
    found = {}
    with silent_division():
        for name in names:
            above, below = _RATES[name]
            rate = np.true_divide(counts[above], counts[below])
            if name == "lift":
                rate = rate / np.true_divide(positive, total)
            found[name] = np.broadcast_to(rate, shape)
    return found


#: the quantity on the vertical axis
_HEIGHTS = {
    "roc": "tpr",
    "precision_recall": "precision",
    "det": "fnr",
    "lift": "lift",
    "gain": "tpr",
}
_CURVE = Capabilities(
    rankings="How good is it overall?",
    any_ties=True,
    ends=True,
    clusters=True,
    by_groups=True,
    layout="measure n",
)


def _curve(
    data: Data,
    space: str,
    roles: RankingRoles,
    *,
    n: Any = None,
    average: Average | None = None,
    interval: str | None = None,
    level: float = 0.95,
) -> Data:
    """Return a row for each list of each measure: n, threshold, coordinates and limits."""
    sizes = sizes_of(n)
    if sizes is None:  # lists of given sizes use the accessor's tie handling
        roles = {**DEFAULTS, **roles}  # type: ignore[typeddict-item]
    chosen = Roles.of(roles)
    ties = chosen.ties
    level = check_share("level", level)
    given: dict[str, object] = {"interval": interval, "average": average, "groups": chosen.groups}
    given["missing"] = chosen.ends or None
    refuse_combinations(given, _UNLIMITED)
    columns = ["measure", "n", "threshold", *SPACES[space]]
    if sizes is not None:
        columns[3:] = _AT_N
    if isinstance(sizes, Shares):
        columns.remove("share")
    curve = Curve(space, ties)
    together = None
    kernel: Callable[..., Columns] = _curve_columns
    noted: dict[str, Any] = {"quantity": _HEIGHTS[space], "space": space, "ties": ties}
    if average is not None:
        kernel = _counted_columns
        together = partial(average_curves, average=average, rates=SPACES[space], level=level)
        columns.remove("threshold")
        columns += ["ci_low", "ci_high", "n_queries", "n_missing"]
        noted |= {"average": average, "level": level, "interval": "korn-graubard"}
    if interval is not None:
        curve = Curve(space, ties, interval, level, chosen.draws)
        columns += ["ci_low", "ci_high"]
        law = {"precision_recall": "order-count"}.get(space, "clopper-pearson")
        noted |= {"level": level, "interval": law, "intervals": interval}
    if interval == "simultaneous":
        noted |= {"range": RANGE, **chosen.noted_seed}
    table = tabulate(
        data,
        roles,
        partial(_curve_rows, curve=curve, kernel=kernel),
        columns,
        replace(_CURVE, clusters=average is None and interval is None),
        n=sizes,
        combine=together,
        attrs=noted,
    )
    if isinstance(sizes, Shares):
        table.insert(list(table.columns).index("threshold") + 1, "share", table.pop("share"))
    return table


def _curve_rows(
    candidates: Candidates,
    n: IntArray | None,
    *,
    curve: Curve,
    kernel: Callable[..., Columns],
) -> Rows:
    """Return one row per group, measure and list; a curve can begin with the empty list."""
    sizes = candidates.sizes(n)
    if n is None and curve.space not in _FROM_ONE:
        sizes = np.arange(sizes.size + 1)
    return measure_rows(candidates, n, kernel, {"n": sizes}, curve=curve)


class _Lists(NamedTuple):
    """The lists of a curve: (group, measure, n)."""

    n: IntArray
    tp: AnyArray
    threshold: FloatArray
    exists: BoolArray


def _lists_of_curve(ranking: Ranking, n: IntArray | None, curve: Curve) -> _Lists:
    """Return the lists of these sizes, or all lists of a curve."""
    lists = ranking.nbest(n, curve.ties)
    exists = lists.exists
    sizes = np.broadcast_to(lists.n, lists.tp.shape)
    if n is not None:
        return _Lists(sizes, lists.tp, lists.threshold, exists)
    if ranking.ends:  # the curve ends with the list
        exists = exists & (sizes <= ranking.eligible.sum(axis=-1)[..., np.newaxis])
    every = _Lists(sizes, lists.tp, lists.threshold, exists)
    if curve.space in _FROM_ONE:
        return every
    # prepend the empty list, with a threshold above every score
    longer = []
    for x, first in zip(every, (0, 0, np.inf, True), strict=True):
        empty = np.full((*x.shape[:-1], 1), first, dtype=x.dtype)
        longer.append(np.concatenate([empty, x], axis=-1))
    every = _Lists(*longer)
    return every._replace(exists=every.exists & (ranking.size.total > 0)[..., np.newaxis])


def _curve_columns(
    ranking: Ranking, candidates: Candidates, *, n: IntArray | None, curve: Curve
) -> Columns:
    """Return the columns (group, measure, n) of a curve, or of lists of these sizes."""
    lists = _lists_of_curve(ranking, n, curve)
    total, positive = ranking.size
    names: tuple[str, ...] = SPACES[curve.space]
    if n is not None:
        names = _AT_N
    columns = rates(names, lists.tp, lists.n, total[..., np.newaxis], positive[..., np.newaxis])
    if "lift" in columns and ranking.ends:  # chance level: retrieved
        total, positive = ranking.retrieved
        drawn_from = total[..., np.newaxis], positive[..., np.newaxis]
        columns |= rates(("lift",), lists.tp, lists.n, *drawn_from)
    threshold = lists.threshold * candidates.sign[:, np.newaxis]
    threshold += 0.0  # -0.0 becomes 0.0
    columns |= {"threshold": threshold, "exists": lists.exists}
    if curve.interval is not None:
        sizes = lists.n.max(axis=(0, 1), initial=0)  # all rows have the same sizes
        columns["ci_low"], columns["ci_high"] = heights(ranking, sizes, lists.exists, curve)
    return columns


def _counted_columns(ranking: Ranking, _: Candidates, *, n: None, curve: Curve) -> Columns:
    """Return the counts that an average of curves needs."""
    lists = _lists_of_curve(ranking, n, curve)
    total, positive = ranking.size
    return {
        "tp": lists.tp.astype(float),
        "positive": positive,
        "others": total - positive,
        "exists": lists.exists,
    }


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
    data
    average
        Whether to average the curves of all groups of ``by`` (Dataset: all batch dimensions). At
        each n, "macro" averages the groups' rates, and "micro" divides the sum of the numerators by
        the sum of the denominators. A group with fewer than n candidates contributes its last
        point. The area under an averaged curve differs from the average area returned by
        :func:`area`.
    interval
        Whether to add confidence limits ``ci_low`` and ``ci_high`` for the height of the curve:
        ``tpr`` or ``fnr`` at a given ``fpr``, ``precision`` at a given ``recall``, and ``tpr`` or
        ``lift`` at a given ``share``. ``level`` applies to each point ("pointwise") or jointly to
        all points ("simultaneous"). A simultaneous band is NaN if a class has fewer than 30
        candidates, and outside ``attrs["range"]``: lists must include and exclude 5 true positives
        (``roc``, ``det``: also 5 negatives).
    level
    **roles
        Column roles (see :func:`nbest_precision`). By default, curves use ``ties="expected"``, the
        mean over all orderings of tied scores. The curve is then a straight line within a block of
        tied scores, and the area under the curve equals :func:`area`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n, from n = 0 (Dataset: dimensions measure and n). ``threshold`` is
        the score of the n-th candidate and is infinite at n = 0. ``fpr`` is the fraction of all
        negatives that are in the list, and ``tpr`` is the fraction of all positives. A rate is NaN
        if its class is empty. With ``average``, the table has no ``threshold``, ``ci_low`` and
        ``ci_high`` are the limits for ``tpr`` across the groups, and ``n_queries`` and
        ``n_missing`` count the groups with and without both classes.

    Notes
    -----
    The limits are Clopper–Pearson limits for an effective number of candidates that matches the
    variance of the curve, including the variance of the threshold. Limits for precision combine
    order statistics of the true positives with limits of a count. A simultaneous band is
    calibrated to the largest deviation over all points. In simulations, 95% bands covered the whole
    curve in at least 0.956 of samples (``tests/simulations/curve_bands.csv``). The cost is
    O(N log N), plus two microseconds per interval.

    References
    ----------
    * Macskassy (2005), CeDER Working Paper 05-09, New York University, section 3.3, figures 4 to 7.
    * Hsieh and Turnbull (1996), Annals of Statistics 24, https://doi.org/10.1214/aos/1033066197.
    * Ash and Hughes-Oliver (2022), J. of Cheminformatics 14,
      https://doi.org/10.1186/s13321-022-00629-0.

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
    Macskassy (2005), CeDER Working Paper 05-09, New York University, section 3.3.

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
    return _curve(data, "precision_recall", roles, average=average, interval=interval, level=level)


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
    * Martin et al. (1997), The DET curve in assessment of detection task performance, Eurospeech.
    * Macskassy (2005), CeDER Working Paper 05-09, New York University, section 3.3.

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
    Macskassy (2005), CeDER Working Paper 05-09, New York University, section 3.3.

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
    Macskassy (2005), CeDER Working Paper 05-09, New York University, section 3.3.

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


# ---------------------- Reference lines for curves: bands for random rankings, and lines of equal n


@Capabilities(
    rankings="How good is it overall?",
    scores=False,
    any_ties=True,
    ends=True,
    heads=True,
    counts=True,
    layout="p n",
)
@UNRANKED
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
    data, p, n, pool, **roles
        As in :func:`random_bound`.
    space
        Curve whose coordinates are returned.
    simultaneous : bool
        Whether the bounds apply jointly to all requested n, as in :func:`random_bound`. By default,
        they apply to each n separately.
    bound
        Kind of bound for each n. Macskassy's (2005) bound is "discrete".

    Returns
    -------
    DataFrame or Dataset
        One row per p and n (Dataset: dimensions p and n), and per ``measure`` with
        pool="retrieved". The columns are ``p``, ``n`` and the two coordinates of a list of size n
        at the bound. If no list of size n can contain that many true positives, the coordinates
        that depend on the true positives are NaN.

    Notes
    -----
    The cost is the same as for :func:`random_bound`.

    References
    ----------
    Macskassy (2005), CeDER Working Paper 05-09, New York University, section 3.3, figure 7, which
    connects the bounds for individual values of n.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.random_band("precision_recall", 0.05, [10, 50])
          p   n  precision  recall
    0  0.05  10        0.5   0.125
    1  0.05  50        0.3   0.375
    """
    if simultaneous and bound != "critical":
        raise ValueError(
            f"bound={bound!r} with simultaneous=True: the envelope consists of critical counts."
            " Omit bound, or pass simultaneous=False."
        )
    levels, pool = check_shares("p", p, one=not simultaneous), chosen_pool(pool, roles)

    kind, most = str(bound), float(random_model.MOST_SEARCHED)
    if simultaneous:
        kind, most = "envelope", 0.0
    elif bound == "parametric":  # needs no path from size to size
        most = np.inf

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        along = {"p": levels, "n": candidates.sizes(n)}
        of_lists = partial(_points_at_bound, space=space, kind=kind)
        return rows_of_pools(candidates, along, pool, of_lists, most=most)

    return tabulate(
        data,
        roles,
        question,
        pool_columns(("p", "n", *SPACES[space]), pool),
        able_with(can(random_band), pool),
        n=check_n(n),
        attrs={"space": space, "simultaneous": simultaneous, "bound": bound, "pool": pool},
    )


def _points_at_bound(p: float, n: IntArray, model: Finite, *, space: str, kind: str) -> Columns:
    """Return the curve coordinates of lists at the bound; NaN if no list has this count."""
    size = n.astype(float)
    counts, (fewest, most) = random_model.bound(kind, p, size, model), model.support(size)
    counts = np.where((counts >= fewest) & (counts <= most), counts, np.nan)
    return rates(SPACES[space], counts, n, model.total, model.positive)


@Capabilities(
    rankings="How good is it overall?",
    scores=False,
    any_rows=True,
    any_ties=True,
    heads=True,
    layout="row",
)
@UNRANKED
def isolines(data: Data, n: Any, space: Space = "roc", **roles: Unpack[RankingRoles]) -> Data:
    """Return the line that contains all lists of size n, in curve coordinates.

    Parameters
    ----------
    data, space, **roles
        As in :func:`random_band`.
    n : int or sequence of int
        Sizes of the lists.

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
    Macskassy (2005), CeDER Working Paper 05-09, New York University, section 3.3, figure 5.

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
    total, positive = candidates.common_size()
    total = total[:, np.newaxis, np.newaxis]
    positive = positive[:, np.newaxis, np.newaxis]
    tp = np.arange(int(positive.max(initial=0)) + 1)
    size = sizes[:, np.newaxis]  # (group, n, tp)
    exists = (tp <= np.minimum(size, positive)) & (size - tp <= total - positive) & (size <= total)
    columns = {"exists": exists, **rates(SPACES[space], tp, size, total, positive)}
    columns = {name: x[:, np.newaxis] for name, x in columns.items()}
    return rows_of(columns, candidates, "measure", [0], {"n": sizes, "_tp": tp})
