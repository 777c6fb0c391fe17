"""Which rank does a system have, and how sure is that?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Unpack

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_choice
from rankeval_pd.forms.items.item_answers import Finish, Question, answer
from rankeval_pd.forms.lazy.item_sums import Asked
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.declarations import Capabilities, with_roles
from rankeval_pd.forms.roles.roles import (
    AdjustOver,
    FamilyAdjustment,
    ItemRoles,
    RankKind,
    ScoreInterval,
    as_names,
)
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.rankings.rank_tests import RANKS, SCORE_INTERVALS, Ranks, rank_limits
from rankeval_pd.stats.rankings.rank_tests import system_ranks as system_ranks_of
from rankeval_pd.stats.resampling.test_items import AnyItems, Options
from rankeval_pd.systems.resampled_tables import (
    Made,
    check_size,
    of_all_groups,
    options_of,
    resampling_bar,
)

RANK_COLUMNS = (
    "system", "score", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "p_best",
    "tied_for_best",
)  # fmt: skip
_RANK_DTYPES = (*[float] * 3, *[np.int64] * 3, float, bool, np.int64, float)


@Capabilities(items="Who is best?", sums=True)
@with_roles
def system_ranks(
    data: Data,
    *,
    n_resamples: int | None = None,
    ranks: RankKind = "simultaneous",
    ci: ScoreInterval | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    adjust_over: AdjustOver = "all",
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
    ranks : {"simultaneous", "percentile"}
        What ``rank_low`` and ``rank_high`` are. "simultaneous": from the tests of all pairs, for
        all systems together. "percentile": percentiles of the ranks in the resamples, each system
        alone; of near-equal systems they miss the true rank far too often.
    ci : {None, "wild", "clopper-pearson", "bca", "percentile", "basic"}
        Interval of the score. None is the exact binomial one, "clopper-pearson", where every item
        is right or wrong (0 or 1, without ``groups``), and "wild" elsewhere: the scores that random
        signs of the items do not reject.
    adjust : {None, "holm", "bonferroni", "bh", "by", "max-t"}
        Adjustment of the tests of all pairs. With None, "bh" and "by" the ranks do not hold for all
        systems together.
    adjust_over : {"all", "group"}
        As in :func:`paired_bootstrap`: whether the ranks of all groups hold together, or those of
        each group.
    alpha : float
        Level of these tests: the ranks hold together with confidence 1 - alpha.
    level : float
        Of the intervals of scores, and of percentile ranks.

    Returns
    -------
    DataFrame or Dataset
        One row per system, sorted by rank (Dataset: dimension system, in the order of the data):
        ``system``, ``score``, ``ci_low``, ``ci_high``; ``rank``, 1 being the best, equal scores
        sharing the better rank, an undefined score (NaN) ranking last; ``rank_low``: 1 + the number
        of systems that are significantly better, ``rank_high``: the number of systems less those
        that are significantly worse; ``p_best``: share of the resamples in which the system is
        best, ties shared; ``tied_for_best``: no system is significantly better; ``n_groups``, with
        ``groups``.

    Warns
    -----
    RankevalWarning
        With fewer than 30 items, or 20 groups; where a score has no interval.

    Notes
    -----
    The tests are those of :func:`paired_bootstrap` with the same ``adjust``: of two systems, one
    ranks surely above the other where ``p_adjusted`` ≤ alpha. With a probability of at least
    1 - alpha all true ranks lie between their ``rank_low`` and ``rank_high`` (Mogstad et al.). Few
    items or much alike systems give wide limits, which is what such data say. ``p_best`` is no
    probability that the system is the best of the population. Cost: that of the paired bootstrap
    with its resamples (for ``p_best``), and comparisons systems² x resamples.

    References
    ----------
    M. Mogstad, J. Romano, A. Shaikh, D. Wilhelm (2024), Inference for ranks with applications to
    mobility across neighbourhoods and academic achievement across countries.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> right = {"x": [1] * 36 + [0] * 4, "y": [1] * 35 + [0] * 4 + [1], "z": [0] * 30 + [1] * 10}
    >>> df = pd.DataFrame(right)
    >>> df.rankeval.system_ranks()[["system", "score", "rank", "rank_low", "rank_high"]]
      system  score  rank  rank_low  rank_high
    0      x   0.90     1         1          2
    1      y   0.90     1         1          2
    2      z   0.25     3         3          3
    """
    check_choice("ci", ci, (None, *SCORE_INTERVALS))
    check_choice("ranks", ranks, RANKS)
    options = options_of(
        roles, n_resamples, method="auto", adjust=adjust, alpha=alpha, level=level,
        event="wild", ci=ci or "", keep_order=True,
    )  # fmt: skip
    made = Made(options, roles, ("event", "adjust", "alpha", "level"), adjust_over)
    made.attrs |= {"ranks": ranks} | ({} if ci is None else {"ci": ci})
    with resampling_bar(data, progress, options.n_resamples, "resampling items") as step:

        def ask(items: AnyItems, pairs: IntArray, groups: int) -> Sequence[AnyArray]:
            settled = made.settled(options, len(pairs), groups)
            check_size(system_ranks_of, items, len(pairs), settled)
            computed = system_ranks_of(items, settled, ranks, step)
            made.see(items, settled, np.isfinite(computed.score) & np.isnan(computed.ci_low))
            made.see_interval(ci or ("clopper-pearson" if items.binary else "wild"))
            return computed

        finish = _over_groups(options, ranks) if made.over_all else None
        question = Question(
            ask, Ranks._fields, _RANK_DTYPES, "system", of_pairs=("family_p",), finish=finish,
            spread=lambda n_pairs: Asked(
                made.settled(options, n_pairs, 1), signs=True, ranked=True
            ),
        )  # fmt: skip
        result: Data = answer(data, roles, question, made.columns(RANK_COLUMNS), attrs=made.attrs)
    made.warn()
    return _by_rank(result, as_names(roles.get("by"), getattr(data, "columns", ())))


def _over_groups(options: Options, ranks: str) -> Finish:
    """Return what takes the tests of all groups as one family, and ranks by them."""

    def limits(rank: IntArray, p_values: FloatArray) -> tuple[IntArray, IntArray]:
        return rank_limits(rank, p_values, options.alpha)

    def finish(results: list[xr.Dataset], batch: list[Hashable]) -> list[xr.Dataset]:
        return [
            _ranked(result, p, limits, ranks)
            for result, p in zip(
                results, of_all_groups(results, "family_p", options, batch), strict=True
            )
        ]

    return finish


def _ranked(
    result: xr.Dataset,
    p_values: xr.DataArray,
    limits: Callable[[IntArray, FloatArray], tuple[IntArray, IntArray]],
    ranks: str,
) -> xr.Dataset:
    low, high = xr.apply_ufunc(
        limits,
        result["rank"],
        p_values,
        input_core_dims=[["system"], ["pair"]],
        output_core_dims=[["system"], ["system"]],
        vectorize=True,
        dask="parallelized",
        output_dtypes=[np.int64, np.int64],
    )
    result = result.assign(tied_for_best=low == 1)
    return result.assign(rank_low=low, rank_high=high) if ranks == "simultaneous" else result


def _by_rank(table: Data, by: list[Hashable]) -> Data:
    """Return the rows of a frame sorted by rank, those of each domain together."""
    if not isinstance(table, pd.DataFrame):
        return table
    number = table.groupby(by, sort=False, observed=True).ngroup() if by else np.zeros(len(table))
    order = np.lexsort([table["rank"].to_numpy(), np.asarray(number)])
    return table.iloc[order].reset_index(drop=True)
