"""How good is each n-best list? Precision with its interval (Evert 2004, sections 2 and 3.2)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt
import xarray as xr

from rankeval_pd.candidates import Data, answer
from rankeval_pd.errors import check_choice, check_n, check_share
from rankeval_pd.roles import RoleKeywords
from rankeval_pd.stats import ranking
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import INTERVALS
from rankeval_pd.thresholds import asked_thresholds

NBEST_COLUMNS = (
    "measure", "n", "threshold", "tp", "precision", "recall", "lift", "ci_low", "ci_high", "tied",
)  # fmt: skip
ACCEPTANCE_COLUMNS = (
    "measure", "threshold", "n_accepted", "tp", "precision", "recall", "lift", "ci_low", "ci_high",
)  # fmt: skip


class Interval(NamedTuple):
    """A confidence interval of precision: floats, or arrays of one shape."""

    ci_low: Any
    ci_high: Any


def precision_interval(
    tp: npt.ArrayLike, n: npt.ArrayLike, *, ci: str = "clopper-pearson", level: float = 0.95
) -> Interval:
    """Return the confidence interval of precision for published numbers.

    Parameters
    ----------
    tp : int or array of int
        True positives among the accepted candidates.
    n : int or array of int
        Accepted candidates; broadcasts with ``tp``.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval. Clopper-Pearson is the paper's; its coverage is never below the level,
        nor is that of Blaker's, which is shorter. The coverage of the others is close to the
        level on average.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    Interval
        A named tuple ``(ci_low, ci_high)``, floats for scalars. An empty list, n = 0, has (0, 1).

    Raises
    ------
    ValueError
        If a count is negative, not whole, or if tp is above n.

    Notes
    -----
    The interval is one of the average precision of a *fixed* acceptance region; see Evert's last
    paragraph of section 3.2 for the difference to the n-best list. Errors are below 1e-12
    relative to the limit. About a microsecond for each interval.

    References
    ----------
    S. Evert (2004), section 3.2 and footnote 12, which gives 35.7 % to 44.4 % for this example.

    Examples
    --------
    >>> import rankeval_pd
    >>> low, high = rankeval_pd.precision_interval(200, 500)
    >>> print(f"{low:.15f} {high:.15f}")
    0.356761372060110 0.444428200757038
    """
    check_choice("ci", ci, INTERVALS)
    level = check_share("level", level)
    tp, n = np.broadcast_arrays(tp, n)
    for name, values in (("tp", tp), ("n", n)):
        if (
            values.dtype.kind not in "iuf"
            or not (np.isfinite(values) & (values >= 0) & (values == np.floor(values))).all()
        ):
            raise ValueError(
                f"{name}={values.tolist()!r}: give counts, whole numbers of 0 or more."
            )
    if (tp > n).any():
        raise ValueError(
            f"tp={tp.tolist()!r} is above n={n.tolist()!r}: no list has more true positives than"
            " candidates. Is it tp first, then n?"
        )
    low, high = INTERVALS[ci](tp.astype(float), n.astype(float), level)
    return Interval(float(low), float(high)) if np.ndim(low) == 0 else Interval(low, high)


def nbest_precision(
    data: Data,
    n: Any = None,
    *,
    ci: str = "clopper-pearson",
    level: float = 0.95,
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Return precision, recall and lift of the n-best lists, with intervals.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    n : int, sequence of int, range or None
        Sizes of the lists; None is every n from 1 to the number of candidates.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval of precision, see :func:`precision_interval`.
    level : float
        Confidence level of the interval at each n. It holds for each n alone, not for all
        together, and for the acceptance region whose threshold is the score of the n-th
        candidate.
    **roles
        ``gold``, ``measures``, ``by``, ``key``, ``lower_is_better``, ``ties``, ``missing``,
        ``rng``, ``dim``: which column is what, see the page "Roles of the columns".

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n); none where a group, or with
        ``missing="drop"`` a measure, has fewer than n candidates:

        * ``measure``, ``n``: the measure and the size of the list;
        * ``threshold``: score of the n-th candidate;
        * ``tp``: true positives in the list;
        * ``precision``: tp / n; ``recall``: tp / N+; ``lift``: precision / (N+ / N), NaN without
          true positives;
        * ``ci_low``, ``ci_high``: confidence limits of precision;
        * ``tied``: candidates left out although their score is the threshold.

    Raises
    ------
    ValueError, TypeError, KeyError
        If a role cannot be filled, a score is missing without leave, n is not a size of a list.

    Notes
    -----
    The cost is that of sorting each measure, O(N log N), and about a microsecond for each
    interval: a second for every n of a million candidates is the intervals'.

    References
    ----------
    S. Evert (2004), Eq. 1 (whose text has "numerator" for denominator), section 3.2, figures 1, 2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, False, True, False]})
    >>> df.rankeval.nbest_precision([1, 2])[["measure", "n", "tp", "precision", "recall", "lift"]]
      measure  n  tp  precision  recall  lift
    0      G2  1   1        1.0     0.5   2.0
    1      G2  2   1        0.5     0.5   1.0
    """
    check_choice("ci", ci, INTERVALS)
    level = check_share("level", level)
    strict = roles.get("ties") == "error"

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        names = (*NBEST_COLUMNS[2:], "exists")
        found = xr.apply_ufunc(
            _nbest_columns,
            inner["score"],
            inner["gold"],
            inner["present"],
            inner["sign"],
            kwargs={"n": sizes, "ci": ci, "level": level, "no_ties": strict},
            input_core_dims=[["candidate"], ["candidate"], ["candidate"], []],
            output_core_dims=[["n"]] * len(names),
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {"n": sizes.size}},
            output_dtypes=[float, np.int64, *[float] * 5, np.int64, bool],
        )
        return xr.Dataset(dict(zip(names, found, strict=True))).assign_coords(n=("n", sizes))

    return answer(
        data,
        roles,
        question,
        NBEST_COLUMNS,
        n=check_n(n),
        attrs={"ci": ci, "level": level},
    )


def _nbest_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    sign: FloatArray,
    *,
    n: IntArray,
    ci: str,
    level: float,
    no_ties: bool,
) -> tuple[AnyArray, ...]:
    lists = ranking.nbest(score, gold, present, n)
    if no_ties:
        ranking.refuse_cut_ties(lists, n)
    size = ranking.size(gold, present)
    shares = _shares(lists.tp, np.broadcast_to(n, lists.tp.shape), size, ci=ci, level=level)
    threshold = lists.threshold * sign[..., np.newaxis] + 0.0
    return (threshold, lists.tp, *shares, lists.tied, lists.exists)


def _shares(
    tp: IntArray, n: IntArray, size: ranking.Size, *, ci: str, level: float
) -> tuple[FloatArray, ...]:
    """Return precision, recall, lift and the limits of precision; NaN is what is undefined."""
    total, positive = size.total[..., np.newaxis], size.positive[..., np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.true_divide(tp, n)
        recall = np.true_divide(tp, positive)
        lift = precision / np.true_divide(positive, total)
    low, high = INTERVALS[ci](np.minimum(tp, n), n, level)
    return precision, recall, lift, low, high


def acceptance_precision(
    data: Data,
    threshold: float | Mapping[Hashable, Any],
    *,
    ci: str = "clopper-pearson",
    level: float = 0.95,
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Return precision, recall and lift of the sets that thresholds accept.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    threshold : float or mapping
        A number where one measure is evaluated, else a mapping from measure to a number or a
        list of numbers. A candidate is accepted if its score is at least the threshold; where
        lower is better, at most. A missing score is never accepted.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval of precision, see :func:`precision_interval`.
    level : float
        Confidence level of each interval.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and threshold (Dataset: dimensions measure and cut): ``measure``,
        ``threshold``, ``n_accepted``, ``tp``, ``precision``, ``recall``, ``lift``, ``ci_low``,
        ``ci_high``. An empty set has precision NaN and the interval (0, 1).

    Notes
    -----
    O(N log N) for each measure, whatever the number of thresholds.

    References
    ----------
    S. Evert (2004), section 2: the acceptance set of a threshold.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, False, True, False]})
    >>> found = df.rankeval.acceptance_precision({"G2": [3.3, 100]})
    >>> found[["measure", "threshold", "n_accepted", "tp", "precision"]]
      measure  threshold  n_accepted  tp  precision
    0      G2        3.3           3   2   0.666667
    1      G2      100.0           0   0        NaN
    """
    check_choice("ci", ci, INTERVALS)
    level = check_share("level", level)

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        cuts = asked_thresholds(threshold, inner.indexes["measure"].tolist())
        asked = xr.DataArray(cuts, dims=("measure", "cut"))
        chosen = inner.isel(measure=np.flatnonzero(~np.isnan(cuts).all(axis=1)))
        asked = asked.isel(measure=np.flatnonzero(~np.isnan(cuts).all(axis=1)))
        names = ACCEPTANCE_COLUMNS[2:]
        found = xr.apply_ufunc(
            _acceptance_columns,
            chosen["score"],
            chosen["gold"],
            chosen["present"],
            asked * chosen["sign"].drop_vars("measure"),
            kwargs={"ci": ci, "level": level},
            input_core_dims=[["candidate"], ["candidate"], ["candidate"], ["cut"]],
            output_core_dims=[["cut"]] * len(names),
            dask="parallelized",
            output_dtypes=[np.int64, np.int64, *[float] * 5],
        )
        result = xr.Dataset(dict(zip(names, found, strict=True)))
        exists = xr.ones_like(result["tp"], dtype=bool) & asked.notnull()
        return result.assign(threshold=asked.broadcast_like(exists), exists=exists)

    return answer(data, roles, question, ACCEPTANCE_COLUMNS, attrs={"ci": ci, "level": level})


def _acceptance_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    threshold: FloatArray,
    *,
    ci: str,
    level: float,
) -> tuple[AnyArray, ...]:
    sets = ranking.accepted(score, gold, present, threshold)
    size = ranking.size(gold, present)
    return (sets.size, sets.tp, *_shares(sets.tp, sets.size, size, ci=ci, level=level))
