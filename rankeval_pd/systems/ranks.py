"""Which rank does a system have, and how sure is that?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from rankeval_pd.errors import check_choice
from rankeval_pd.forms.item_answers import Question, answer
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import ItemRoles
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.stats._types import AnyArray, IntArray
from rankeval_pd.stats.resampling import paired
from rankeval_pd.stats.resampling.bootstrap import INTERVALS
from rankeval_pd.systems.paired_tests import noted, options_of, resampling_bar

RANK_COLUMNS = (
    "system", "score", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "p_best",
    "tied_for_best",
)  # fmt: skip
_RANK_DTYPES = (*[float] * 3, *[np.int64] * 3, float, bool)


@with_roles
def system_ranks(
    data: Data,
    *,
    n_resamples: int = 10_000,
    ci: str = "bca",
    adjust: str | None = "max-t",
    alpha: float = 0.05,
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[ItemRoles],
) -> Data:
    """Rank the systems, with the uncertainty that the choice of test items brings.

    Parameters
    ----------
    data, n_resamples, progress, **roles
        As in :func:`paired_bootstrap`.
    ci : {"bca", "percentile", "basic"}
        Interval of the score.
    adjust : {None, "holm", "bonferroni", "bh", "by", "max-t"}
        Adjustment of the tests of all pairs, for ``tied_for_best``.
    alpha : float
        Level of these tests.
    level : float
        Of the intervals of scores and ranks.

    Returns
    -------
    DataFrame or Dataset
        One row per system in the order of the columns (Dataset: dimension system): ``system``,
        ``score``, ``ci_low``, ``ci_high``; ``rank``, 1 being the best, equal scores sharing the
        better rank, an undefined score (NaN) ranking last; ``rank_low``, ``rank_high``: between
        them the rank is in at least ``level`` of the resamples; ``p_best``: share of the resamples
        in which the system is best, ties shared; ``tied_for_best``: the two-sided paired test does
        not tell it apart from the best one.

    Notes
    -----
    From the same resamples as :func:`paired_bootstrap`. Intervals of ranks are percentiles of
    resampled ranks, each system alone; ``p_best`` is no probability that the system is the best of
    the population. Cost: that of the paired bootstrap, and comparisons systems² x resamples.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1] * 9 + [0], "y": [1] * 8 + [0, 1], "z": [0] * 9 + [1]})
    >>> df.rankeval.system_ranks()[["system", "score", "rank", "rank_low", "rank_high"]]
      system  score  rank  rank_low  rank_high
    0      x    0.9     1         1          2
    1      y    0.9     1         1          2
    2      z    0.1     3         3          3
    """
    check_choice("ci", ci, INTERVALS[:-1])
    options = options_of(
        roles, n_resamples, method="auto", adjust=adjust, alpha=alpha, level=level,
        event="recentred", ci=ci, keep_order=False,
    )  # fmt: skip
    with resampling_bar(data, progress, n_resamples, "resampling items") as step:

        def ask(items: paired.Items, pairs: IntArray) -> Sequence[AnyArray]:
            return paired.system_ranks(items, options, step)

        question = Question(ask, paired.Ranks._fields, _RANK_DTYPES, "system")
        return answer(data, roles, question, RANK_COLUMNS, attrs=noted(options))
