"""How good is what a threshold accepts? (Evert 2004, section 2)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Unpack

import numpy as np
import xarray as xr

from rankeval_pd.forms import tables
from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.choices import ProportionInterval
from rankeval_pd.forms.heads import refuse_head
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles
from rankeval_pd.forms.spelled_out import with_roles_but
from rankeval_pd.forms.thresholds import asked_thresholds
from rankeval_pd.nbest.precision_intervals import IntervalKind, shares_of
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.rankings import ranking
from rankeval_pd.stats.rankings.ranking import Whole

ACCEPTANCE_COLUMNS = (
    "measure", "threshold", "n_accepted", "tp", "precision", "recall", "lift", "ci_low", "ci_high",
)  # fmt: skip


@with_roles_but("key", "label", "ties", "rng")
def acceptance_precision(
    data: Data,
    threshold: float | Mapping[Hashable, Any],
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    phi: float = 1.0,
    **roles: Unpack[RankingRoles],
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
    kind = IntervalKind.of(ci=ci, level=level, phi=phi)

    def question(inner: xr.Dataset, _: IntArray) -> xr.Dataset:
        cuts = asked_thresholds(threshold, inner.indexes["measure"].tolist())
        asked = xr.DataArray(cuts, dims=("measure", "cut"))
        taken = np.flatnonzero(~np.isnan(cuts).all(axis=1))
        chosen, asked = inner.isel(measure=taken), asked.isel(measure=taken)
        if not taken.size:
            chosen = chosen.compute()  # Dask does not broadcast nothing
        names = ACCEPTANCE_COLUMNS[2:]
        whole: Whole | None = inner.attrs["whole"]
        if whole is not None and (whole.accepted is None or cuts.shape != whole.accepted.shape[1:]):
            refuse_head(data)
        columns = xr.apply_ufunc(
            _acceptance_columns,
            chosen["score"],
            chosen["gold"],
            chosen["present"],
            asked * chosen["sign"].drop_vars("measure"),
            kwargs={"kind": kind, "whole": None if whole is None else whole.of(taken)},
            input_core_dims=[["candidate"], ["candidate"], ["candidate"], ["cut"]],
            output_core_dims=[["cut"]] * len(names),
            dask="parallelized",
            output_dtypes=[np.int64, np.int64, *[float] * 5],
        )
        result = tables.as_columns(names, columns)
        exists = xr.ones_like(result["tp"], dtype=bool) & asked.notnull()
        return result.assign(threshold=asked.broadcast_like(exists), exists=exists)

    return answer(
        data, roles, question, ACCEPTANCE_COLUMNS, any_ends=True, any_heads=True,
        attrs=kind._asdict(),
    )  # fmt: skip


def _acceptance_columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    threshold: FloatArray,
    *,
    kind: IntervalKind,
    whole: Whole | None,
) -> tuple[AnyArray, ...]:
    sets = ranking.accepted(score, gold, present, threshold)
    if whole is not None and whole.accepted is not None:
        sets = ranking.Accepted(*(np.broadcast_to(x, sets.size.shape) for x in whole.accepted))
    size = ranking.size(gold, present, whole)
    every = np.ones(sets.size.shape, dtype=bool)
    return (sets.size, sets.tp, *shares_of(sets.tp, sets.size, size, kind, exists=every))
