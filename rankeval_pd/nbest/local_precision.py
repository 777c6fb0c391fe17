"""How good are the candidates around each rank?"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_count
from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.choices import ProportionInterval
from rankeval_pd.forms.measures import ask_measures
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.nbest.precision_intervals import IntervalKind
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.ranking import Whole

LOCAL_COLUMNS = ("measure", "n", "precision", "ci_low", "ci_high")


@with_roles
def local_precision(
    data: Data,
    window: int = 400,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
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
    kind = IntervalKind.of(ci=ci, level=level)
    half = _half(window)
    ties = Roles.of(roles).ties

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        whole: Whole | None = inner.attrs["whole"]
        reach = min(half, sizes.size + 1)  # beyond all candidates there is no window
        n = np.arange(reach, sizes.size - reach + 1)
        return ask_measures(
            inner,
            _local_columns,
            {**dict.fromkeys(LOCAL_COLUMNS[2:], float), "exists": bool},
            along={"n": n},
            options={"n": n, "half": reach, "kind": kind, "ties": ties, "whole": whole},
        )

    attrs = {**kind._asdict(), "window": window}
    result = answer(
        data, roles, question, LOCAL_COLUMNS, cuts_lists=True, any_heads=True, attrs=attrs
    )
    rows = result.sizes.get("n", 1) if isinstance(result, xr.Dataset) else len(result)
    if not rows and len(data) and ties != "blocks":
        raise ValueError(
            f"window={window!r} is above the number of candidates. Give a smaller even number."
        )
    return result


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
    kind: IntervalKind,
    ties: str,
    whole: Whole | None,
) -> tuple[AnyArray, ...]:
    lists = ranking.nbest(score, gold, present, None, ties, whole=whole)
    upper = n + half - 1  # the list that ends where the window ends
    start = np.zeros_like(lists.tp[..., :1])
    up_to = np.concatenate([start, lists.tp], axis=-1)
    tp = up_to[..., n + half] - up_to[..., n - half]
    begins = np.concatenate([start == 0, lists.exists], axis=-1)[..., n - half]
    exists = lists.exists[..., upper] & begins
    limits = np.full((2, *tp.shape), np.nan)
    size = np.full(np.count_nonzero(exists), 2 * half)
    limits[:, exists] = kind.limits(tp[exists], size)
    return (tp / (2.0 * half), *limits, exists)
