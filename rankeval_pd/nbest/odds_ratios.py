"""How large is the difference between two difference regions? Odds ratios, exactly."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Unpack

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_share
from rankeval_pd.forms.answers import answer
from rankeval_pd.forms.choices import ListSizes
from rankeval_pd.forms.measure_pairs import PairRanks, ask_pairs, only_pair, pair_names
from rankeval_pd.forms.n import check_n, those
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles, Roles
from rankeval_pd.forms.spelled_out import with_roles
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.intervals.odds_ratio import conditional_odds_ratio, sample_odds_ratio
from rankeval_pd.stats.rankings import ranking

COLUMNS = ("measure_a", "measure_b", "n", "odds_ratio", "odds_ratio_mle", "ci_low", "ci_high")


@with_roles
def odds_ratios(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: ListSizes,
    *,
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the odds ratio of true positives in the two difference regions, with its interval.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures
    n : int, sequence of int, range or None
        Sizes of the n-best lists; None is every n.
    level : float
        Confidence level of the interval.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``, ``n``;
        ``odds_ratio``, the sample's (tp_only_a fp_only_b) / (fp_only_a tp_only_b), 0, inf, or NaN
        for 0/0; ``odds_ratio_mle``, the conditional maximum-likelihood estimate; ``ci_low``,
        ``ci_high``, the exact interval of the latter, from 0 to inf. NaN is the estimate where the
        regions are empty or have no or only true positives.

    Notes
    -----
    Above 1, what only a accepts is better. The conditional estimate is the odds ratio under which
    the observed table is the expected one, given its margins (Fisher's noncentral hypergeometric
    distribution); it is nearer to 1 than the sample's. The interval leaves (1 - level)/2 to either
    side, and so may contain 1 where the two-sided test, which orders tables by their probability,
    is significant, and the other way round. Solved on the logarithm of the odds ratio, to 1e-10 or
    better; R's ``fisher.test`` stops at 1e-4. Thousands of n take a fraction of a second.

    References
    ----------
    Evert (2004), section 3.3. J. Cornfield (1956), A statistical problem arising from
    retrospective studies.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.odds_ratios("good", "fair", [100, 200]).round(2)
      measure_a measure_b    n  odds_ratio  odds_ratio_mle  ci_low  ci_high
    0      good      fair  100        3.98            3.93    1.61    10.28
    1      good      fair  200       10.73           10.63    2.43    97.18
    """
    level = check_share("level", level)
    sizes = check_n(n)
    chosen = Roles.of(roles)

    def question(inner: xr.Dataset, asked: IntArray) -> xr.Dataset:
        return ask_pairs(
            inner,
            pair_names(inner, a, b),
            _columns,
            dict.fromkeys(COLUMNS[3:], float),
            n=those(sizes, asked),
            ties=chosen.ties,
            options={"level": level},
        )

    return answer(
        data,
        only_pair(data, a, b, roles),
        question,
        COLUMNS,
        n=sizes,
        cuts_lists=True,
        any_ends=True,
        any_heads=True,
        attrs={"level": level},
    )


def _columns(lists: PairRanks, n: IntArray, *, level: float) -> tuple[FloatArray, ...]:
    r = ranking.nbest_regions(lists.a, lists.b, lists.gold, n)
    only = n - r.overlap
    tp_a, tp_b = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    there = lists.exists
    values = np.full((3, *only.shape), np.nan)
    values[:, there] = conditional_odds_ratio(
        tp_a[there], only[there], tp_b[there], only[there], level
    )
    return (sample_odds_ratio(tp_a, only, tp_b, only), *values)
