"""How good is each n-best list? Precision with its interval (Evert 2004, sections 2 and 3.2)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt
import xarray as xr

from rankeval_pd.candidates import Data, answer
from rankeval_pd.errors import (
    check_at_least_one,
    check_choice,
    check_count,
    check_n,
    check_share,
)
from rankeval_pd.roles import RoleKeywords, Roles
from rankeval_pd.stats import bands, ranking
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import INTERVALS
from rankeval_pd.thresholds import asked_thresholds

ACCEPTANCE_COLUMNS = (
    "measure", "threshold", "n_accepted", "tp", "precision", "recall", "lift", "ci_low", "ci_high",
)  # fmt: skip
_NBEST_TYPES: dict[str, type] = {
    "threshold": float, "tp": np.int64, "precision": float, "recall": float, "lift": float,
    "ci_low": float, "ci_high": float, "tied": np.int64,
}  # fmt: skip
LOCAL_COLUMNS = ("measure", "n", "precision", "ci_low", "ci_high")
TARGETS = ("region", "nbest")


class Interval(NamedTuple):
    """A confidence interval of precision: floats, or arrays of one shape."""

    ci_low: Any
    ci_high: Any


class _Kind(NamedTuple):
    """Which interval."""

    ci: str
    level: float
    phi: float = 1.0
    target: str = "region"

    @classmethod
    def of(cls, *, ci: str, level: float, phi: float = 1.0, target: str = "region") -> _Kind:
        check_choice("ci", ci, INTERVALS)
        check_choice("target", target, TARGETS)
        return cls(ci, check_share("level", level), check_at_least_one("phi", phi), target)

    def limits(self, tp: AnyArray, n: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Return the limits of precision; a list that varies more counts as a shorter one."""
        return INTERVALS[self.ci](tp / self.phi, n / self.phi, self.level)


def precision_interval(
    tp: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    ci: str = "clopper-pearson",
    level: float = 0.95,
    phi: float = 1.0,
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
    phi : float
        Overdispersion, 1 or more, as :func:`repetition` and :func:`dispersion_for` give it: the
        interval is that of tp / phi of n / phi.

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
    Evert (2004), section 3.2 and footnote 12, which gives 35.7 % to 44.4 % for this example.

    Examples
    --------
    >>> import rankeval_pd
    >>> low, high = rankeval_pd.precision_interval(200, 500)
    >>> print(f"{low:.15f} {high:.15f}")
    0.356761372060110 0.444428200757038
    """
    kind = _Kind.of(ci=ci, level=level, phi=phi)
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
    low, high = kind.limits(tp, n)
    return Interval(float(low), float(high)) if np.ndim(low) == 0 else Interval(low, high)


def nbest_precision(
    data: Data,
    n: Any = None,
    *,
    ci: str = "clopper-pearson",
    level: float = 0.95,
    target: str = "region",
    phi: float = 1.0,
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
        together.
    target : {"region", "nbest"}
        What the interval is one of. "region" is the paper's: the acceptance region whose threshold
        is the score of the n-th candidate, and stays. "nbest" adds the variance of this threshold.
    phi : float
        Overdispersion, 1 or more, from :func:`repetition`; it widens the interval.
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
        * ``tied``: candidates left out although their score is the threshold; the share of lists
          that cut a tie is the mean of ``tied > 0``;
        * ``tp_sd``, under ``ties="expected"`` only: the standard deviation of the true positives
          over the orders of equal scores, whose mean ``tp`` then is.

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
    Evert (2004), Eq. 1 (whose text has "numerator" for denominator), section 3.2, figures 1, 2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, False, True, False]})
    >>> df.rankeval.nbest_precision([1, 2])[["measure", "n", "tp", "precision", "recall", "lift"]]
      measure  n  tp  precision  recall  lift
    0      G2  1   1        1.0     0.5   2.0
    1      G2  2   1        0.5     0.5   1.0
    """
    kind = _Kind.of(ci=ci, level=level, target=target, phi=phi)
    sizes = check_n(n)
    ties = Roles.of(roles).ties
    types: dict[str, type] = {
        **_NBEST_TYPES,
        **({"tp": float, "tp_sd": float} if ties == "expected" else {}),
    }
    columns = ("measure", "n", *types)

    def question(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        found = xr.apply_ufunc(
            _nbest_columns,
            inner["score"],
            inner["gold"],
            inner["present"],
            inner["sign"],
            kwargs={"n": sizes, "kind": kind, "ties": ties},
            input_core_dims=[["candidate"], ["candidate"], ["candidate"], []],
            output_core_dims=[["n"]] * (len(types) + 1),
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {"n": asked.size}},
            output_dtypes=[*types.values(), bool],
        )
        result = xr.Dataset(dict(zip([*types, "exists"], found, strict=True)))
        return result.assign_coords(n=("n", asked))

    return answer(
        data,
        roles,
        question,
        columns,
        n=sizes,
        cuts_lists=True,
        any_ties=True,
        attrs={**kind._asdict(), "ties": ties},
    )


def _nbest_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    sign: FloatArray,
    *,
    n: IntArray | None,
    kind: _Kind,
    ties: str,
) -> tuple[AnyArray, ...]:
    lists = ranking.nbest(score, gold, present, n, ties)
    asked = np.arange(1, score.shape[-1] + 1) if n is None else n
    size = ranking.size(gold, present)
    whole = np.broadcast_to(asked, lists.tp.shape)
    weight: FloatArray | float = 1.0
    if kind.target == "nbest":
        tp = ranking.cumulated(score, gold, present, ties)
        weight = bands.nbest_spread(tp, asked, size.total).effective(whole) / whole
    shares = _shares(lists.tp, whole, size, kind, exists=lists.exists, weight=weight)
    threshold = lists.threshold * sign[..., np.newaxis] + 0.0
    spread = (lists.block.tp_sd(asked),) if ties == "expected" else ()
    return (threshold, lists.tp, *shares, lists.tied, *spread, lists.exists)


def _shares(
    tp: FloatArray | IntArray,
    n: IntArray,
    size: ranking.Size,
    kind: _Kind,
    *,
    exists: BoolArray,
    weight: FloatArray | float = 1.0,
) -> tuple[FloatArray, ...]:
    """Return precision, recall, lift and the limits of precision; NaN is what is undefined.

    ``weight`` is what a candidate of the list counts for in the limits.
    """
    total, positive = size.total[..., np.newaxis], size.positive[..., np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.true_divide(tp, n)
        recall = np.true_divide(tp, positive)
        lift = precision / np.true_divide(positive, total)
    weight = np.broadcast_to(weight, n.shape)[exists]
    limits = np.full((2, *n.shape), np.nan)
    limits[:, exists] = kind.limits(tp[exists] * weight, n[exists] * weight)
    return precision, recall, lift, *limits


def acceptance_precision(
    data: Data,
    threshold: float | Mapping[Hashable, Any],
    *,
    ci: str = "clopper-pearson",
    level: float = 0.95,
    phi: float = 1.0,
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
    phi : float
        Overdispersion, 1 or more, from :func:`repetition`; it widens the interval.
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
    Evert (2004), section 2: the acceptance set of a threshold.

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
    kind = _Kind.of(ci=ci, level=level, phi=phi)

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
            kwargs={"kind": kind},
            input_core_dims=[["candidate"], ["candidate"], ["candidate"], ["cut"]],
            output_core_dims=[["cut"]] * len(names),
            dask="parallelized",
            output_dtypes=[np.int64, np.int64, *[float] * 5],
        )
        result = xr.Dataset(dict(zip(names, found, strict=True)))
        exists = xr.ones_like(result["tp"], dtype=bool) & asked.notnull()
        return result.assign(threshold=asked.broadcast_like(exists), exists=exists)

    return answer(data, roles, question, ACCEPTANCE_COLUMNS, attrs=kind._asdict())


def _acceptance_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    threshold: FloatArray,
    *,
    kind: _Kind,
) -> tuple[AnyArray, ...]:
    sets = ranking.accepted(score, gold, present, threshold)
    size = ranking.size(gold, present)
    every = np.ones(sets.size.shape, dtype=bool)
    return (sets.size, sets.tp, *_shares(sets.tp, sets.size, size, kind, exists=every))


def local_precision(
    data: Data,
    window: int = 400,
    *,
    ci: str = "clopper-pearson",
    level: float = 0.95,
    **roles: Unpack[RoleKeywords],
) -> Data:
    """Return the precision among the candidates around each rank, rather than up to it.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    window : int
        How many candidates count, an even number: those of rank n - window/2 + 1 to
        n + window/2.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval of precision, see :func:`precision_interval`.
    level : float
        Confidence level of the interval at each n.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n for which the window fits (Dataset: dimensions measure and n):
        ``measure``, ``n``, ``precision``, ``ci_low``, ``ci_high``.

    Notes
    -----
    Where the precision of the n-best list says what has been found so far, this says what going on
    from here brings. O(N log N), and about a microsecond for each interval.

    References
    ----------
    Evert (2004), The UCS toolkit, evaluation graphs.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(6, 0, -1), "gold": [True, True, False, True, False, False]})
    >>> df.rankeval.local_precision(4)[["measure", "n", "precision"]]
      measure  n  precision
    0      G2  2       0.75
    1      G2  3       0.50
    2      G2  4       0.25
    """
    kind = _Kind.of(ci=ci, level=level)
    half = _half(window)
    ties = Roles.of(roles).ties

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        n = np.arange(half, inner.sizes["candidate"] - half + 1)
        found = xr.apply_ufunc(
            _local_columns,
            inner["score"],
            inner["gold"],
            inner["present"],
            kwargs={"n": n, "half": half, "kind": kind, "ties": ties},
            input_core_dims=[["candidate"]] * 3,
            output_core_dims=[["n"]] * 4,
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {"n": n.size}},
            output_dtypes=[float, float, float, bool],
        )
        result = xr.Dataset(dict(zip((*LOCAL_COLUMNS[2:], "exists"), found, strict=True)))
        return result.assign_coords(n=("n", n))

    attrs = {**kind._asdict(), "window": window}
    found = answer(data, roles, question, LOCAL_COLUMNS, cuts_lists=True, attrs=attrs)
    rows = found.sizes.get("n", 1) if isinstance(found, xr.Dataset) else len(found)
    if not rows and len(data) and ties != "blocks":
        raise ValueError(
            f"window={window!r} is above the number of candidates. Give a smaller even number."
        )
    return found


def _half(window: Any) -> int:
    size = check_count("window", window, 2)
    if size % 2:
        raise ValueError(
            f"window={window!r} is odd: it has as many candidates to either side of the rank. Give"
            f" {size + 1}."
        )
    return size // 2


def _local_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    *,
    n: IntArray,
    half: int,
    kind: _Kind,
    ties: str,
) -> tuple[AnyArray, ...]:
    lists = ranking.nbest(score, gold, present, None, ties)
    upper = n + half - 1  # the list that ends where the window ends
    start = np.zeros_like(lists.tp[..., :1])
    up_to = np.concatenate([start, lists.tp], axis=-1)
    tp = up_to[..., n + half] - up_to[..., n - half]
    begins = np.concatenate([start == 0, lists.exists], axis=-1)[..., n - half]
    exists = lists.exists[..., upper] & begins
    limits = np.full((2, *tp.shape), np.nan)
    whole = np.full(np.count_nonzero(exists), 2 * half)
    limits[:, exists] = kind.limits(tp[exists], whole)
    return (tp / (2.0 * half), *limits, exists)
