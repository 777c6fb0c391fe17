"""Plots of random rankings, and of estimates with intervals."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from rankeval_pd.chance.bounds import random_bound as bound_of
from rankeval_pd.chance.bounds import random_cdf as cdf_of
from rankeval_pd.chance.crossovers import random_envelope
from rankeval_pd.curves import ranking_areas
from rankeval_pd.errors import hushed
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.declarations import one_reading
from rankeval_pd.forms.roles.roles import ListSizes, PopulationKind, RecallBand
from rankeval_pd.nbest import odds_ratios as ratios
from rankeval_pd.nbest import ranges as mean_differences
from rankeval_pd.nbest import recall
from rankeval_pd.nbest import tie_sensitivity as sensitivities
from rankeval_pd.nbest.comparison import compare
from rankeval_pd.plotting.forests import draw_area, draw_mean_difference
from rankeval_pd.plotting.keywords import (
    Levels,
    RankingPlot,
    curves_of,
    of_data_or_table,
    parted,
    seen_of,
)
from rankeval_pd.plotting.lists import draw_random_bound, draw_recall_band
from rankeval_pd.plotting.pairs_over_n import (
    draw_odds_ratios,
    draw_random_cdf,
    draw_tie_sensitivity,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# ---------------------------------------------- Plots of random rankings, from data or a table


@of_data_or_table(
    draw_random_bound, ("p", "n", "expected", "critical"), "random_bound", clusters=False
)
def random_bound(
    data: Data,
    p: Levels = 0.05,
    n: ListSizes = None,
    *,
    population: PopulationKind = "finite",
    simultaneous: bool = True,
    log: bool | None = None,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw precision curves and the lowest precision significantly above chance.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.random_bound` or :func:`rankeval_pd.random_bound_for` for one group. If
        you pass a result, you can add ``precision``, the result of
        :func:`rankeval_pd.nbest_precision`, to draw the curves, and ``envelope``, the result of
        :func:`rankeval_pd.random_envelope`.
    p, n, population
        Options for data, as in :func:`rankeval_pd.random_bound`.
    simultaneous : bool
        Option for data: whether to add :func:`rankeval_pd.random_envelope` at alpha = p, which
        is simultaneous over all n. This option requires a finite population.
    log : bool, optional
        Whether the n axis is logarithmic; see :func:`precision`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    The gray area contains a random ranking with probability 1 - p. With an envelope, this
    probability applies jointly to all n, and a thin line shows the pointwise bound. Without an
    envelope, this probability applies to each n separately, and the bound is the column
    ``critical``. Each additional p is drawn as a labeled line. The bound is omitted for list sizes
    at which no count is significant. For more than 20,000 candidates, about 4,000 values of n are
    computed and drawn, and the envelope covers these values.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [4.0, 3.0, 2.0, 1.0], "gold": [True, True, False, False]})
    >>> df.rankeval.plot.random_bound(0.2).get_ylabel()
    'precision'
    """
    look, roles = parted(options)
    pool: Any = "all"  # a single bound for all curves
    with one_reading():
        n = n if population == "infinite" else seen_of(data, n, roles)
        within = None if population == "infinite" else n
        table = curves_of(data, within, **roles)
        bound = bound_of(data, p, n, population=population, pool=pool, **roles)
        envelope = None
        levels = [x for x in dict.fromkeys(np.asarray(bound["p"]).tolist()) if x < 1.0]
        if simultaneous and population == "finite" and levels:
            envelope = random_envelope(data, levels, n, pool=pool, **roles)
    return draw_random_bound(bound, table, envelope, log=log, **look)


@of_data_or_table(
    draw_random_cdf, ("n", "tp", "discrete", "parametric"), "random_cdf", clusters=False
)
def random_cdf(
    data: Data,
    n: int,
    p: Levels = 0.5,
    *,
    population: PopulationKind = "finite",
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw distribution functions of the number of true positives in a random list.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label, or the result of :func:`rankeval_pd.random_cdf` for one n and
        one group. If you pass a result, you can add ``bound``, the result of
        :func:`rankeval_pd.random_bound`.
    n : int
        Option for data: the size of the list.
    p : float or list of float
        Option for data: levels of :func:`rankeval_pd.random_bound` to mark. For each p, the plot
        shows a line at 1 - p and a mark at its intersection with each distribution function.
    population : {"finite", "infinite"}
        Options for data, as in :func:`rankeval_pd.random_bound`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    The lines are the exact step function, its interpolation, and the continuous binomial function.
    Dots mark the bounds at the intersections with the gray line at 1 - p. The values of the bounds
    are written next to the names.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.plot.random_cdf(20).get_xlabel()
    'true positives among the first 20'
    """
    look, roles = parted(options)
    with one_reading():
        table = cdf_of(data, n, population=population, **roles)
        bound = bound_of(data, p, n, population=population, pool="all", **roles)
    return draw_random_cdf(table, bound, **look)


# ------------------------------------ Plots of estimates and their intervals, from data or a table


@of_data_or_table(draw_area, ("measure", "area", "chance"), "area")
def area(
    data: Data,
    kind: Literal["roc", "ap"] = "roc",
    *,
    level: float = 0.95,
    sort: bool = True,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw the area under the curve for each measure, with an interval.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.area`.
    kind, level
        Options for data, as in :func:`rankeval_pd.area`.
    sort : bool
        Whether to sort the measures by area, with the largest area first. If False, the measures
        stay in their original order.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each row is a measure. The dot marks the measure's area, and the line shows the interval.
    Both are printed on the right. The vertical gray line marks the mean area for a random order.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> df.rankeval.plot.area().get_xlabel()
    'area under the ROC curve'
    """
    look, roles = parted(options)
    return draw_area(ranking_areas.area(data, kind, level=level, **roles), sort=sort, **look)


@of_data_or_table(
    draw_recall_band, ("n", "recall", "band_low", "band_high"), "recall_band", clusters=False
)
def recall_band(
    data: Data,
    n: ListSizes = None,
    *,
    ci: RecallBand = "clopper-pearson",
    level: float = 0.95,
    n_resamples: int = 1000,
    log: bool | None = None,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw the recall of n-best lists with a simultaneous band.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.recall_band` for one group.
    n, ci, level, n_resamples
        Options for data, as in :func:`rankeval_pd.recall_band`. By default, ``n`` contains the
        sizes that are visible in the plot.
    log : bool, optional
        Whether the n axis is logarithmic. By default, the axis is logarithmic if the largest n
        is more than 2,000 times the smallest. In this case, lists shorter than 10 are omitted.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each line shows one measure's recall. The band around the line is simultaneous over
    all n. The gray line is the mean recall over random orders.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> df.rankeval.plot.recall_band(range(10, 301, 10), n_resamples=100).get_ylabel()
    'recall'
    """
    look, roles = parted(options)
    with one_reading():
        sizes = seen_of(data, n, roles)
        table = recall.recall_band(
            data, sizes, ci=ci, level=level, n_resamples=n_resamples, details=True, **roles
        )
    return draw_recall_band(table, log=log, **look)


@of_data_or_table(
    draw_odds_ratios, ("measure_a", "n", "odds_ratio", "odds_ratio_mle"), "odds_ratios",
    clusters=False,
)  # fmt: skip
def odds_ratios(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: Any,
    *,
    level: float = 0.95,
    log: bool | None = None,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw the odds ratio between two measures over n, on a logarithmic scale.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.odds_ratios`.
    a, b, n, level
        Options for data, as in :func:`rankeval_pd.odds_ratios`.
    log : bool, optional
        Whether the n axis is logarithmic; see :func:`precision`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    The line is the conditional maximum-likelihood estimate. Bars, or a band for many n, show exact
    pointwise intervals. A triangle at the edge represents a ratio of 0 or infinity. The gray line
    at 1 marks equal odds.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> df.rankeval.plot.odds_ratios("good", "fair", [50, 100, 200]).get_yscale()
    'log'
    """
    look, roles = parted(options)
    table = ratios.odds_ratios(data, a, b, n, level=level, **roles)
    return draw_odds_ratios(table, log=log, **look)


@of_data_or_table(
    draw_tie_sensitivity, ("measure_a", "n", "p_min", "p_median", "p_max"), "tie_sensitivity",
    clusters=False,
)  # fmt: skip
def tie_sensitivity(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: Any,
    *,
    n_keys: int = 20,
    alpha: float = 0.05,
    log: bool | None = None,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw the range of a comparison's p-value over different tie-breaking orders.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.tie_sensitivity`.
    a, b, n, n_keys
        Options for data, as in :func:`rankeval_pd.tie_sensitivity`.
    alpha : float
        Significance level at which to draw the horizontal line.
    log : bool, optional
        Whether the n axis is logarithmic; see :func:`precision`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each dot is the median p-value over several tie-breaking orders, and each bar extends from the
    smallest to the largest p-value. If a bar crosses the gray line, significance depends on the
    tie-breaking order.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500).round(1)
    >>> df.rankeval.plot.tie_sensitivity("good", "fair", [50, 100], n_keys=5).get_ylabel()
    'p-value'
    """
    look, roles = parted(options)
    table = sensitivities.tie_sensitivity(data, a, b, n, n_keys=n_keys, **roles)
    table.attrs.setdefault("n_keys", n_keys)
    return draw_tie_sensitivity(table, alpha=alpha, log=log, **look)


@of_data_or_table(
    draw_mean_difference, ("measure_a", "n_first", "n_last", "difference"), "mean_difference",
    clusters=False,
)  # fmt: skip
def mean_difference(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: Any,
    *,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    n_resamples: int = 9999,
    level: float = 0.95,
    progress: bool | None = None,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw the mean difference between precision curves, and the difference at each n.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.mean_difference`. If you pass a result, you can add ``differences``, the
        result of :func:`rankeval_pd.compare` for the same pair.
    a, b, n, alternative, n_resamples, level, progress
        Options for data, as in :func:`rankeval_pd.mean_difference`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each row is a pair of measures over a range of n. The dot marks the mean difference, and
    the line shows its interval. Both are printed on the right. The ticks below a row mark the
    differences at each n. The vertical line marks 0.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> ax = df.rankeval.plot.mean_difference("good", "fair", range(50, 200), n_resamples=99)
    >>> ax.get_xlabel()
    'mean difference in precision (points), n = 50 to 199'
    """
    look, roles = parted(options)
    with one_reading():
        table = mean_differences.mean_difference(
            data, a, b, n, alternative=alternative, n_resamples=n_resamples, level=level,
            progress=progress, **roles,
        )  # fmt: skip
        with hushed():  # the mean difference has already raised the warning
            curve = compare(data, a, b, _some(n), **roles)
    return draw_mean_difference(table, curve, **look)


def _some(n: Any) -> Any:
    """Return the list sizes to plot."""
    if n is None or not np.iterable(n):
        return n
    sizes = np.asarray(list(n))
    most = min(2000, sizes.size)
    return [int(x) for x in sizes[np.linspace(0, sizes.size - 1, most).astype(int)]]
