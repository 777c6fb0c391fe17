"""Compute exact odds ratios for two difference regions."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Unpack

import numpy as np

from rankeval_pd.doors.pairs import PairRanks, only_pair
from rankeval_pd.doors.rankings import Candidates, Rows, pair_names, pair_rows, tabulate
from rankeval_pd.errors import check_share
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.values import check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles
from rankeval_pd.forms.roles.roles import ListSizes, RankingRoles, Roles
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.significance.fisher import conditional_odds_ratio, sample_odds_ratio

_TOGETHER = 20_000  # number of 2x2 tables per progress bar step
COLUMNS = ("measure_a", "measure_b", "n", "odds_ratio", "odds_ratio_mle", "ci_low", "ci_high")


@Capabilities(rankings="Is A better than B?", lists=True, ends=True, heads=True, layout="pair n")
@with_roles
def odds_ratios(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: ListSizes,
    *,
    level: float = 0.95,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the odds ratio for two difference regions, with an exact interval.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures
    n : int, sequence of int, range or None
        Sizes of the n-best lists. None means every n.
    level : float
        Confidence level of the interval.
    progress : bool, optional
        Whether to show a progress bar. By default, the bar appears after two seconds.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``, ``n``;
        ``odds_ratio``: the sample odds ratio (tp_only_a fp_only_b) / (fp_only_a tp_only_b), which
        is NaN for 0/0; ``odds_ratio_mle``: the conditional maximum-likelihood estimate; ``ci_low``,
        ``ci_high``: the exact confidence interval, which can extend to 0 or inf. The estimate is
        NaN if the regions are empty or contain only one class.

    Notes
    -----
    An odds ratio above 1 means that a is better. The conditional estimate is the odds ratio for
    which the expected 2x2 table equals the observed table, given the margins (Fisher's noncentral
    hypergeometric distribution). The interval excludes 1 if Fisher's test in :func:`compare` is
    significant. The time for each n grows with the square root of the region size. All n for a
    million candidates take half a minute in total.

    References
    ----------
    Evert (2004), section 3.3. J. Cornfield (1956), A statistical problem arising from
    retrospective studies.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.odds_ratios("good", "fair", [100, 200])
      measure_a measure_b    n  odds_ratio  odds_ratio_mle    ci_low    ci_high
    0      good      fair  100     3.97500        3.930301  1.607883  10.282152
    1      good      fair  200    10.73494       10.634243  2.432820  97.182094
    """
    level = check_share("level", level)
    sizes = check_n(n)
    chosen = Roles.of(roles)

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        pairs = pair_names(candidates.measures, a, b)
        total = candidates.sizes(n).size * len(candidates.group)
        with progress_bar(progress, total=total, what="odds ratios", unit="lists") as advance:
            kernel = partial(_odds_ratios_of_lists, level=level, advance=advance)
            return pair_rows(candidates, pairs, kernel, n, ties=chosen.ties)

    return tabulate(
        data,
        only_pair(data, a, b, roles),
        question,
        COLUMNS,
        can(odds_ratios),
        n=sizes,
        attrs={"level": level},
    )


def _odds_ratios_of_lists(
    lists: PairRanks, n: IntArray, *, level: float, advance: Callable[[int], object]
) -> dict[str, FloatArray]:
    """Return the odds ratios of the difference regions: (group, pair, n)."""
    r = lists.regions(n)
    only = n - r.overlap
    tp_a, tp_b = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    exists = lists.exists
    values = np.full((3, *only.shape), np.nan)
    of_a, of_b, size = tp_a[exists], tp_b[exists], only[exists]
    parts = []
    for start in range(0, max(size.size, 1), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        n_only = size[some]
        parts.append(conditional_odds_ratio(of_a[some], n_only, of_b[some], n_only, level))
        advance(n_only.size)
    values[:, exists] = np.concatenate(parts, axis=1)
    return {
        "odds_ratio": sample_odds_ratio(tp_a, only, tp_b, only),
        "odds_ratio_mle": values[0],
        "ci_low": values[1],
        "ci_high": values[2],
    }
