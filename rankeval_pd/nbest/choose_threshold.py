"""Which threshold promises a precision, or a recall, after all thresholds have been looked at?"""

from __future__ import annotations

from typing import Unpack

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_share
from rankeval_pd.forms import tables
from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles
from rankeval_pd.forms.spelled_out import with_roles_but
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray
from rankeval_pd.stats.rankings import promises

COLUMNS = ("measure", "threshold", "n_accepted", "tp", "precision", "recall", "ci_low")
_TYPES = (float, np.int64, np.int64, float, float, float)


@with_roles_but("key", "label", "ties", "rng")
def choose_threshold(
    data: Data,
    *,
    precision: float | None = None,
    recall: float | None = None,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Choose the threshold that promises a precision or a recall.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    precision : float, optional
        The precision that the accepted candidates are to have: the lowest threshold is chosen of
        which that can be said, so that most are accepted.
    recall : float, optional
        In its place, the share of the true positives that is to be accepted: the highest threshold
        is chosen of which that can be said.
    level : float
        Confidence with which the promise holds for the chosen threshold.
    **roles
        Which column is what, see :func:`nbest_precision`. Thresholds do not cut equal scores,
        whatever ``ties`` is.

    Returns
    -------
    DataFrame or Dataset
        One row per measure (Dataset: dimension measure): ``measure``, ``threshold``: accepted is
        what has this score or a better one; ``n_accepted``, ``tp``, ``precision`` and ``recall`` in
        the data; ``ci_low``: lower limit of the promised one, at the level that the search leaves
        for it. Where no threshold can be promised to hold, ``threshold`` is NaN and nothing is
        accepted.

    Notes
    -----
    To take the last threshold whose own interval is above the precision asked for is to choose
    among many: it promises too much. Here the sets are tested in a sequence that is fixed
    beforehand, from the smallest set that could pass (29 candidates for .9 at 95 %) on, each at
    the same level, and the first that fails ends it; since a small set rarely passes, sequences
    also start at sets of twice, four times, ... the size, and the K of them share 1 - level
    (multi-start fixed-sequence testing). The precision of larger sets that are reached by passing
    every one before is then known with the confidence of all together. Recall rises with every
    candidate accepted, so that one sequence suffices and ci_low is the ordinary one-sided limit.
    What this costs is power: it takes some dozens of candidates, or more, that are better than the
    precision asked for. How often the promise was broken in simulations, beside the plain choice,
    is in ``tests/reference/choose_threshold.csv``. O(N log N) per measure.

    References
    ----------
    A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei (2021), Learn then test.
    C. J. Clopper and E. S. Pearson (1934).

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(2_000)
    >>> df.rankeval.choose_threshold(recall=0.8).round(2)
      measure  threshold  n_accepted   tp  precision  recall  ci_low
    0    good       0.27         914  178       0.19    0.85     0.8
    1    fair      -0.04        1127  178       0.16    0.85     0.8
    """
    if (precision is None) == (recall is None):
        raise ValueError(
            f"precision={precision!r}, recall={recall!r}: give one of the two, the share that the"
            " accepted candidates are to reach."
        )
    wanted = check_share(*(("precision", precision) if recall is None else ("recall", recall)))
    level = check_share("level", level)

    def question(inner: xr.Dataset, _: AnyArray) -> xr.Dataset:
        columns = xr.apply_ufunc(
            _columns,
            inner["score"],
            inner["gold"],
            inner["present"],
            inner["sign"],
            kwargs={"wanted": wanted, "level": level, "of_recall": recall is not None},
            input_core_dims=[["candidate"], ["candidate"], ["candidate"], []],
            output_core_dims=[[]] * len(_TYPES),
            dask="parallelized",
            output_dtypes=list(_TYPES),
        )
        result = tables.as_columns(COLUMNS[1:], columns)
        return result.assign(exists=xr.ones_like(result["threshold"], dtype=bool))

    attrs = {"precision": precision, "recall": recall, "level": level}
    return answer(data, roles, question, COLUMNS, any_ties=True, attrs=attrs)


def _columns(
    score: FloatArray,
    gold: BoolArray,
    present: BoolArray,
    sign: FloatArray,
    *,
    wanted: float,
    level: float,
    of_recall: bool,
) -> tuple[AnyArray, ...]:
    score, gold, present = np.broadcast_arrays(score, gold, present & ~np.isnan(score))
    shape = score.shape[:-1]
    signs = np.broadcast_to(sign, shape)
    columns = [np.zeros(shape, dtype=dtype) for dtype in _TYPES]
    for row in np.ndindex(shape):
        here = present[row]
        sets = promises.sets_of(score[row][here], gold[row][here])
        promised = promises.recall if of_recall else promises.precision
        chosen, low = promised(sets, wanted, level)
        values: tuple[float, ...] = (np.nan, 0, 0, np.nan, np.nan, np.nan)
        if chosen is not None:
            tp, n = int(sets.tp[chosen]), int(sets.n[chosen])
            threshold = float(sets.threshold[chosen] * signs[row]) + 0.0
            values = (threshold, n, tp, tp / n, tp / max(sets.positive, 1), low)
        for column, value in zip(columns, values, strict=True):
            column[row] = value
    return tuple(columns)
