"""Plots that compare systems on test items, drawn from scores or a table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Unpack

import pandas as pd
import xarray as xr

from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.roles import (
    AreaKind,
    CalibrationInterval,
    Draw,
    FamilyAdjustment,
    ListSizes,
    RankKind,
)
from rankeval_pd.plotting.forests import draw_system_ranks
from rankeval_pd.plotting.keywords import (
    AnyPlot,
    ItemPlot,
    PairPlot,
    RankPlot,
    of_data_or_table,
    parted,
)
from rankeval_pd.plotting.matrices import draw_pairs
from rankeval_pd.plotting.measures import of_measures_too, pairs_of_measures
from rankeval_pd.plotting.systems import draw_calibration, draw_confidence, draw_gain_by_size
from rankeval_pd.systems import calibration as calibrations
from rankeval_pd.systems import gain_studies as test_set_sizes
from rankeval_pd.systems import system_ranks as ranked
from rankeval_pd.systems.calibration import PAPER_BINS
from rankeval_pd.systems.gain_studies import gain_threshold
from rankeval_pd.systems.paired_tests import paired_bootstrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@of_data_or_table(
    draw_confidence, ("system_a", "gain", "confidence"), "paired_bootstrap",
    forms=["items", "pairs"],
)  # fmt: skip
def confidence(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    adjust: FamilyAdjustment | None = None,
    **options: Unpack[PairPlot],
) -> Axes:
    """Draw the gain of every pair of systems against the confidence, 1 - p.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or the result of :func:`rankeval_pd.paired_bootstrap`. If
        you pass a result, you can add ``thresholds``, the result of
        :func:`rankeval_pd.gain_threshold`, which is drawn as lines with intervals.
    a, b, n_resamples, event, method, ci, families, baseline
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    adjust, adjust_over, alpha, level, progress
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each dot is a pair of systems. The x axis shows the gain on a logarithmic scale. The y axis
    shows the confidence as one-sided -log10(p), so the distance from 99% to 99.9% is equal to the
    distance from 90% to 99%. A triangle means that no draw contradicted the sign of the gain.
    Vertical lines mark gain thresholds, and bars at the bottom show their intervals. The horizontal
    line marks 95%, and pairs above this line are in color.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> df.rankeval.plot.confidence().get_ylabel()
    'confidence (1 − p, one-sided)'
    """
    look, asked = parted(options)
    table = paired_bootstrap(data, a, b, adjust=adjust, **asked)
    return draw_confidence(table, gain_threshold(table), **look)


@of_measures_too
@of_data_or_table(
    draw_pairs, ("system_a", "system_b", "gain", "p_value"), "paired_bootstrap",
    forms=["rankings", "items", "pairs"],
)  # fmt: skip
def pairs(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    n: ListSizes = None,
    kind: AreaKind | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    **options: Unpack[AnyPlot],
) -> Axes:
    """Draw the significant gains between all pairs of systems as a matrix.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or the result of :func:`rankeval_pd.paired_bootstrap` or
        :func:`rankeval_pd.paired_permutation`. To compare measures, pass candidates with a score
        for each measure and a gold label, together with ``n`` or ``kind``, or the result of
        :func:`rankeval_pd.compare` or :func:`rankeval_pd.compare_area`.
    n, kind
        Option for candidates: the criterion by which measures are compared, as in
        :func:`rankeval_pd.measure_ranks`. Each n has its own panel.
    a, b, n_resamples, event, method, ci, families, baseline
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    adjust, adjust_over, alpha, level, progress
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`, adjusted as in
        :func:`system_ranks`. For candidates, only adjust, alpha, n_resamples and progress are
        available, as in :func:`rankeval_pd.measure_ranks`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    System names are on the diagonal, sorted by the number of other systems that each system beats.
    A colored cell marks a significant difference. A darker color means a larger gain of the row
    over the column. All other cells are pale gray. Gains are printed in cells that are large
    enough. The size of a new figure increases with the number of systems. Measures at a given n
    are compared with swap tests, in which the smallest possible adjusted p-value is pairs
    / (n_resamples + 1).

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> [text.get_text() for text in df.rankeval.plot.pairs().texts[-3:]]
    ['x', 'y', 'z']
    """
    look, asked = parted(options)
    if n is not None or kind is not None:
        table = pairs_of_measures(data, n, kind, adjust, {"a": a, "b": b, **asked})
    else:
        table = paired_bootstrap(data, a, b, adjust=adjust, **asked)
    return draw_pairs(table, **look)


@of_data_or_table(
    draw_system_ranks,
    ("system", "value", "rank_low", "rank_high"),
    "system_ranks",
    forms=["items"],
)
def system_ranks(
    data: Data,
    *,
    ranks: RankKind = "simultaneous",
    adjust: FamilyAdjustment | None = "max-t",
    **options: Unpack[RankPlot],
) -> Axes:
    """Draw the score of each system with its interval and rank.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or the result of :func:`rankeval_pd.system_ranks`.
    n_resamples, ranks, ci, adjust, adjust_over, alpha, level, progress
        Options for items, as in :func:`rankeval_pd.system_ranks`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each dot marks a system's score, and each line shows its unadjusted interval. The
    numbers on the right are the score, the interval and the rank limits. A bar on the right
    connects systems that do not differ significantly. A system is in color if no other system is
    significantly better.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> df.rankeval.plot.system_ranks().get_xlabel()
    'score'
    """
    look, asked = parted(options)
    table = ranked.system_ranks(data, ranks=ranks, adjust=adjust, **asked)
    return draw_system_ranks(table, **look)


@of_data_or_table(
    draw_gain_by_size, ("size", "system_a", "gain", "p_value"), "gain_by_size", forms=["items"]
)
def gain_by_size(
    data: Data,
    sizes: Sequence[int],
    *,
    draw: Draw = "prefix",
    adjust: FamilyAdjustment | None = None,
    **options: Unpack[PairPlot],
) -> Axes:
    """Draw gains and gain thresholds against the size of the test set.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or the result of :func:`rankeval_pd.gain_by_size`. If you
        pass a result, you can add ``thresholds``, the result of :func:`rankeval_pd.gain_threshold`.
        The thresholds are drawn as lines, with the square-root law through the largest size.
    sizes : sequence of int
        Option for items: numbers of items; see :func:`rankeval_pd.gain_by_size`.
    draw, n_resamples, event, method, ci, families, baseline
        Options for items, as in :func:`rankeval_pd.gain_by_size`.
    adjust, adjust_over, alpha, level, progress
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each dot is a pair of systems tested on the first items of the test set. Dots with p ≤ 0.05 are
    in color. The line connects the gain thresholds, and bars show their intervals. The thin gray
    line is the square-root law. Both axes are logarithmic, and gains of 0 are not drawn.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"x": rng.random(400) < 0.7, "y": rng.random(400) < 0.6})
    >>> df.rankeval.plot.gain_by_size([100, 400]).get_xlabel()
    'test items'
    """
    look, asked = parted(options)
    table = test_set_sizes.gain_by_size(data, sizes, draw=draw, adjust=adjust, **asked)
    return draw_gain_by_size(table, gain_threshold(table), **look)


@of_data_or_table(
    draw_calibration, ("p_low", "p_high", "agreement"), "calibration", forms=["pairs"]
)
def calibration(
    data: Data,
    other: pd.DataFrame | xr.Dataset,
    *,
    bins: Sequence[float] = PAPER_BINS,
    ci: CalibrationInterval = "clopper-pearson",
    level: float = 0.95,
    n_resamples: int = 1000,
    **options: Unpack[ItemPlot],
) -> Axes:
    """Draw observed and expected rates of sign agreement with other data.

    Parameters
    ----------
    data : DataFrame or Dataset
        Table of pairs from :func:`rankeval_pd.paired_bootstrap`, or the result of
        :func:`rankeval_pd.calibration` or :func:`rankeval_pd.population_calibration`.
    other : DataFrame or Dataset
        Option for a table of pairs: scores of the same systems on other items.
    bins, ci, level, n_resamples
        Options for a table of pairs, as in :func:`rankeval_pd.calibration`.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each dot is a bin of pairs with similar p-values, and each bar shows the interval for the bin.
    The number above a bin is the number of pairs in the bin. The gray line is the expected
    frequency for other items from the same distribution.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> skill = np.linspace(0.60, 0.70, 20)
    >>> here, there = (pd.DataFrame(rng.random((400, 20)) < skill) for _ in range(2))
    >>> pairs = here.rankeval.paired_bootstrap()
    >>> pairs.rankeval.plot.calibration(there, bins=[0.01, 0.05, 0.2]).get_ylabel()
    'pairs that keep their sign'
    """
    look, roles = parted(options)
    table = calibrations.calibration(
        data, other, bins=bins, ci=ci, level=level, n_resamples=n_resamples, **roles
    )
    return draw_calibration(table, **look)
