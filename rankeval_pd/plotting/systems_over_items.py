"""Pictures of systems over test items, from items or a table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Unpack

import pandas as pd
import xarray as xr

from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.roles import (
    AdjustOver,
    AreaKind,
    CalibrationInterval,
    Draw,
    Event,
    FamilyAdjustment,
    GainInterval,
    LawMethod,
    ListSizes,
    RankKind,
    ScoreInterval,
)
from rankeval_pd.plotting.drawing.systems import (
    draw_calibration,
    draw_confidence,
    draw_gain_by_size,
    draw_pairs,
    draw_system_ranks,
)
from rankeval_pd.plotting.keywords import AnyPlot, ItemPlot, of_data_or_table, parted
from rankeval_pd.plotting.measures import of_measures_too, pairs_of_measures
from rankeval_pd.systems import calibration as calibrations
from rankeval_pd.systems import gain_studies as test_set_sizes
from rankeval_pd.systems import system_ranks as ranked
from rankeval_pd.systems.calibration import PAPER_BINS
from rankeval_pd.systems.gain_studies import gain_threshold
from rankeval_pd.systems.paired_tests import paired_bootstrap
from rankeval_pd.systems.system_ranks import Families

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
    n_resamples: int | None = None,
    event: Event = "wild",
    method: LawMethod = "auto",
    ci: GainInterval | None = None,
    families: Families | None = None,
    baseline: Hashable = None,
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    progress: bool | None = None,
    **options: Unpack[ItemPlot],
) -> Axes:
    """Draw the gain of every pair of systems against its confidence, 1 - p.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems over test items; or the result of :func:`rankeval_pd.paired_bootstrap`, and beside
        it as ``thresholds`` that of :func:`rankeval_pd.gain_threshold`: lines, and their
        intervals.
    a, b, n_resamples, event, method, ci, families, baseline
        Of items: as in :func:`rankeval_pd.paired_bootstrap`.
    adjust, adjust_over, alpha, level, progress
        Of items: as there.
    **look
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the threshold lines (``Axes.axvline``), of their intervals, bars at the bottom
        (``Axes.hlines``), and of the points (``Axes.plot``).
    **roles
        Of items: which column is what.

    Returns
    -------
    Axes

    Notes
    -----
    A point is a pair of systems, by its gain in the metric and its confidence, on a scale on which
    .99 and .999 are as far apart as .9 and .99. Lines upwards: the gains that are worth
    reporting, and bars at the bottom their intervals. The dashed line is p = .05.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> df.rankeval.plot.confidence().get_ylabel()
    'confidence (1 − p, one-sided)'
    """
    look, roles = parted(options)
    table = paired_bootstrap(
        data, a, b, n_resamples=n_resamples, event=event, method=method, ci=ci,
        families=families, baseline=baseline, adjust=adjust, adjust_over=adjust_over, alpha=alpha,
        level=level, progress=progress, **roles,
    )  # fmt: skip
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
    n_resamples: int | None = None,
    event: Event = "wild",
    method: LawMethod = "auto",
    ci: GainInterval | None = None,
    families: Families | None = None,
    baseline: Hashable = None,
    adjust: FamilyAdjustment | None = "max-t",
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    progress: bool | None = None,
    **options: Unpack[AnyPlot],
) -> Axes:
    """Draw which systems are better than which: a square for each pair.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems over test items; or the result of :func:`rankeval_pd.paired_bootstrap` or
        :func:`rankeval_pd.paired_permutation`. With n or kind candidates with a score for each
        measure and a gold label; or the result of :func:`rankeval_pd.compare` or
        :func:`rankeval_pd.compare_area`.
    n, kind
        Of candidates: what the measures are compared by, as in :func:`rankeval_pd.measure_ranks`,
        whose tests are drawn. Several n are a panel each.
    a, b, n_resamples, event, method, ci, families, baseline
        Of items: as in :func:`rankeval_pd.paired_bootstrap`.
    adjust, adjust_over, alpha, level, progress
        Of items: as there, adjusted as :func:`system_ranks` is. Of candidates adjust, alpha,
        n_resamples and progress, as in :func:`rankeval_pd.measure_ranks`.
    **look
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the lines between the cells (``Axes.hlines``), of the cells
        (``Axes.pcolormesh``), and of what is written in them (``Axes.text``).
    **roles
        Of data: which column is what.

    Returns
    -------
    Axes

    Notes
    -----
    The systems stand from the one that beats most to the one that beats fewest. The colour of a
    cell is the p-value of its pair, and where there is room its gain (of row over column) and
    stars are written in it. Without room for these, the colour alone speaks, and names too many
    to be written are left out by turns; a figure of its own grows with the systems. Measures by n
    are tested by swaps, whose adjusted p-values are at least pairs / (n_resamples + 1).

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> [tick.get_text() for tick in df.rankeval.plot.pairs().get_yticklabels()]
    ['x', 'y', 'z']
    """
    look, roles = parted(options)
    if n is not None or kind is not None:
        asked = {
            "n": n, "kind": kind, "adjust": adjust, "n_resamples": n_resamples, "alpha": alpha,
            "progress": progress,
        }  # fmt: skip
        items_only = {
            "a": (a, None), "b": (b, None), "event": (event, "wild"), "method": (method, "auto"),
            "ci": (ci, None), "families": (families, None), "baseline": (baseline, None),
            "adjust_over": (adjust_over, "all"), "level": (level, 0.95),
        }  # fmt: skip
        return draw_pairs(pairs_of_measures(data, asked, items_only, roles), **look)
    table = paired_bootstrap(
        data, a, b, n_resamples=n_resamples, event=event, method=method, ci=ci,
        families=families, baseline=baseline, adjust=adjust, adjust_over=adjust_over, alpha=alpha,
        level=level, progress=progress, **roles,
    )  # fmt: skip
    return draw_pairs(table, **look)


@of_data_or_table(
    draw_system_ranks, ("system", "rank", "rank_low", "p_best"), "system_ranks", forms=["items"]
)
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
    **options: Unpack[ItemPlot],
) -> Axes:
    """Draw the ranks of the systems, and how sure they are.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems over test items; or the result of :func:`rankeval_pd.system_ranks`.
    n_resamples, ranks, ci, adjust, adjust_over, alpha, level, progress
        Of items: as in :func:`rankeval_pd.system_ranks`.
    **look
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the grid (``Axes.grid``), of the intervals (``Axes.hlines``), and of the points
        (``Axes.plot``).
    **roles
        Of items: which column is what.

    Returns
    -------
    Axes

    Notes
    -----
    A point is the rank of a system, a bar the ranks that it might as well have had; a full point
    is tied for best. Beside it, where there is room, stand its score and interval. Shaded by
    turns are the clusters: no interval of one overlaps an interval of another.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [1, 1, 1, 0] * 8, "y": [1, 1, 0, 0] * 8, "z": [1, 0, 0, 0] * 8})
    >>> df.rankeval.plot.system_ranks().get_xlabel()
    'rank'
    """
    look, roles = parted(options)
    table = ranked.system_ranks(
        data, n_resamples=n_resamples, ranks=ranks, ci=ci, adjust=adjust,
        adjust_over=adjust_over, alpha=alpha, level=level, progress=progress, **roles,
    )  # fmt: skip
    return draw_system_ranks(table, **look)


@of_data_or_table(
    draw_gain_by_size, ("size", "system_a", "gain", "p_value"), "gain_by_size", forms=["items"]
)
def gain_by_size(
    data: Data,
    sizes: Sequence[int],
    *,
    draw: Draw = "prefix",
    n_resamples: int | None = None,
    event: Event = "wild",
    method: LawMethod = "auto",
    ci: GainInterval | None = None,
    families: Families | None = None,
    baseline: Hashable = None,
    adjust: FamilyAdjustment | None = None,
    adjust_over: AdjustOver = "all",
    alpha: float = 0.05,
    level: float = 0.95,
    progress: bool | None = None,
    **options: Unpack[ItemPlot],
) -> Axes:
    """Draw gains, and the gain that is significant, against the size of the test set.

    Parameters
    ----------
    data : DataFrame or Dataset
        Systems over test items; or the result of :func:`rankeval_pd.gain_by_size`,
        and beside it as ``thresholds`` that of :func:`rankeval_pd.gain_threshold`: lines. Beside
        each stands the square-root law through its largest size.
    sizes : sequence of int
        Of items: numbers of items, see :func:`rankeval_pd.gain_by_size`.
    draw, n_resamples, event, method, ci, families, baseline
        Of items: as in :func:`rankeval_pd.gain_by_size`.
    adjust, adjust_over, alpha, level, progress
        Of items: as there.
    **look
    line_kw, band_kw, marker_kw : mapping, optional
        As in :func:`confidence`; the intervals are bars, ``Axes.vlines``.
    **roles
        Of items: which column is what.

    Returns
    -------
    Axes

    Notes
    -----
    A cross or a dot is a pair of systems on the first items of the set; a line joins the gains
    worth reporting, its bars are their intervals. Both axes are logarithmic: gains of 0 are not
    drawn, and the square-root law is a straight line. Where an interval leaves the panel, or there
    is no threshold at a size, the legend says so.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"x": rng.random(400) < 0.7, "y": rng.random(400) < 0.6})
    >>> df.rankeval.plot.gain_by_size([100, 400]).get_xlabel()
    'test items'
    """
    look, roles = parted(options)
    table = test_set_sizes.gain_by_size(
        data, sizes, draw=draw, n_resamples=n_resamples, event=event, method=method, ci=ci,
        families=families, baseline=baseline, adjust=adjust, adjust_over=adjust_over, alpha=alpha,
        level=level, progress=progress, **roles,
    )  # fmt: skip
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
    """Draw how often gains keep their sign on other data, and how often that is expected.

    Parameters
    ----------
    data : DataFrame or Dataset
        The table of pairs of :func:`rankeval_pd.paired_bootstrap`; or the result of
        :func:`rankeval_pd.calibration` or :func:`rankeval_pd.population_calibration`.
    other : DataFrame or Dataset
        Of a table of pairs: the same systems over other items.
    bins, ci, level, n_resamples
        Of a table of pairs: as in :func:`rankeval_pd.calibration`.
    **look
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the expected agreement (``Axes.plot``), of the intervals (``Axes.vlines``), and
        of the points (``Axes.plot``).
    **roles
        Of the other items: which column is what.

    Returns
    -------
    Axes

    Notes
    -----
    A point is a bin of pairs by their p-value, its bar the interval; above it stands how many
    pairs it has. The dashed line is expected if the other items are of the same kind.

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
