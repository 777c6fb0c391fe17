"""Pictures of what chance reaches, from data or a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from rankeval_pd.chance.bounds import random_bound as bound_of
from rankeval_pd.chance.distribution import random_cdf as cdf_of
from rankeval_pd.chance.envelope import random_envelope
from rankeval_pd.forms.choices import ListSizes, PopulationKind
from rankeval_pd.forms.once import let_in_once
from rankeval_pd.forms.rankings import Data
from rankeval_pd.plotting.asked import (
    Levels,
    RankingPlot,
    curves_of,
    of_data_or_table,
    parted,
    seen_of,
)
from rankeval_pd.plotting.drawing.bounds import draw_random_bound
from rankeval_pd.plotting.drawing.distribution import draw_random_cdf

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@of_data_or_table(draw_random_bound, ("p", "n", "expected", "critical"), "random_bound")
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
    """Draw the precision that is significantly above a random ranking's, and the measures' own.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.random_bound` or :func:`rankeval_pd.random_bound_for`, of one group.
        Beside it as ``precision`` that of :func:`rankeval_pd.nbest_precision`, the curves, and as
        ``envelope`` that of :func:`rankeval_pd.random_envelope`.
    p, n, population
        Of data: as in :func:`rankeval_pd.random_bound`.
    simultaneous : bool
        Of data: whether to add what holds for all n together, :func:`rankeval_pd.random_envelope`
        at alpha = p, of a finite population.
    log : bool, optional
        Whether the axis of n is logarithmic, so that the head of the list can be seen; unless
        given for lists of more than 20,000.
    **look
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the measures' lines, of the bounds' lines (both ``Axes.plot``), and of the
        markers that points get where there are few.
    **roles
        Of data: which column is what.

    Returns
    -------
    Axes

    Notes
    -----
    The bound is the column ``critical``: a count that reaches it is a test of level p, at this n
    alone; to reach the envelope anywhere is one for all n together. Where no count is significant
    no line is drawn. Of more than 20,000 candidates some 4,000 n are computed and drawn, and the
    envelope holds for these n together.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [4.0, 3.0, 2.0, 1.0], "gold": [True, True, False, False]})
    >>> df.rankeval.plot.random_bound(0.2).get_ylabel()
    'precision'
    """
    look, roles = parted(options)
    with let_in_once():
        n = n if population == "infinite" else seen_of(data, n, roles)
        within = None if population == "infinite" else n
        table = curves_of(data, within, **roles)
        bound = bound_of(data, p, n, population=population, **roles)
        envelope = None
        levels = [x for x in dict.fromkeys(np.asarray(bound["p"]).tolist()) if x < 1.0]
        if simultaneous and population == "finite" and levels:
            envelope = random_envelope(data, levels, n, **roles)
    return draw_random_bound(bound, table, envelope, log=log, **look)


@of_data_or_table(draw_random_cdf, ("n", "tp", "discrete", "parametric"), "random_cdf")
def random_cdf(
    data: Data,
    n: int,
    p: Levels = 0.5,
    *,
    population: PopulationKind = "finite",
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw the distribution functions of a random list's true positives, and their bounds.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label; or the result of :func:`rankeval_pd.random_cdf` for one n and
        one group, and beside it as ``bound`` that of :func:`rankeval_pd.random_bound`.
    n : int
        Of data: the size of the list.
    p : float or list of float
        Of data: the bounds of :func:`rankeval_pd.random_bound` at p are marked: a line at 1 - p
        for each p, and a mark where it meets each distribution function.
    population : {"finite", "infinite"}
        Of data: as in :func:`rankeval_pd.random_bound`.
    **look
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the distribution functions, of the lines at 1 - p, and of the marks (all
        ``Axes.plot``).
    **roles
        Of data: which column is what.

    Returns
    -------
    Axes

    Notes
    -----
    Each line is one way to count: the exact steps, the steps joined, and the binomial made
    continuous. A grey line stands at 1 - p, and a mark where it meets each line: the bound; the
    legend gives the three numbers, in the order of the lines.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.plot.random_cdf(20).get_xlabel()
    'true positives among the first 20'
    """
    look, roles = parted(options)
    with let_in_once():
        table = cdf_of(data, n, population=population, **roles)
        bound = bound_of(data, p, n, population=population, **roles)
    return draw_random_cdf(table, bound, **look)
