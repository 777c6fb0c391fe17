"""Plots of per-item differences between systems, and of critical differences."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd
import xarray as xr

from rankeval_pd.doors.datasets import frame_of
from rankeval_pd.forms.items.item_roles import item_roles
from rankeval_pd.forms.items.items import read_frame
from rankeval_pd.forms.items.metric_columns import as_items
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.roles.roles import AreaKind, FamilyAdjustment, ListSizes
from rankeval_pd.plotting.forests import draw_critical_difference
from rankeval_pd.plotting.keywords import TESTS, AnyPlot, PairPlot, of_data_or_table, parted
from rankeval_pd.plotting.measures import of_measures_too, pairs_of_measures
from rankeval_pd.plotting.samples import DIFFERENCES, draw_paired_differences
from rankeval_pd.plotting.tables import tidy
from rankeval_pd.stats.resampling.test_items import Items
from rankeval_pd.systems.paired_tests import paired_bootstrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_PAIRS = 6  # largest number of pairs of systems in one figure, across all groups

# ----------------- Per-item differences, and critical differences


@of_data_or_table(draw_paired_differences, DIFFERENCES, "plot.paired_differences", forms=["items"])
def paired_differences(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    *,
    unit: str | None = None,
    **options: Unpack[PairPlot],
) -> Axes:
    """Draw sorted per-item gains of one system over another, and the overall gain.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items, or values of runs on queries from
        :func:`rankeval_pd.per_query` for one metric; or a table with the columns ``system_a``,
        ``system_b``, ``item`` and ``gain``. If you pass a table, you can add ``whole``, the result
        of :func:`rankeval_pd.paired_bootstrap` for the same pairs.
    a, b : names of systems, optional
        If you pass both, only this pair is drawn. If you pass only ``a``, it is paired with every
        other system. By default, all pairs are drawn. Each pair has a panel, and there can be at
        most six panels.
    n_resamples, event, method, ci, families, baseline, alpha, level, progress
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`.
    adjust_over
        No effect, because each panel shows a single pair.
    unit : str, optional
        Option for items: name for the rows on the axis. By default, the name is "queries" for
        queries and "items" otherwise.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each bar is the gain of the first system over the second on one item. If the metric is not a
    mean, the gain is computed from the statistics of this item alone. Upward bars, in the color of
    the first system, show items on which the first system is better. The dot and the line on the
    right show the gain over all items and the confidence interval.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"x": [0.9, 0.8, 0.4, 0.7], "y": [0.5, 0.6, 0.5, 0.2]})
    >>> df.rankeval.plot.paired_differences("x", "y", unit="queries").get_xlabel()
    'queries, sorted by gain'
    """
    look, asked = parted(options)
    roles = {name: given for name, given in asked.items() if name not in TESTS}
    items: Any = as_items(data)
    if unit is None:
        unit = "queries" if items is not data or _are_queries(data) else "items"
    read = groups_of_items(items, roles)
    _check_panels(read, a, b)
    whole: Any = paired_bootstrap(items, a, b, **asked)
    needed: tuple[str, ...] = ("system_a", "system_b", "gain", "ci_low", "ci_high")
    pairs = tidy(whole, needed, "paired_bootstrap")
    parts = [_of_pairs(*group, pairs) for group in read]
    table = pd.concat([x for part in parts for x in part], ignore_index=True)
    several: bool = len(pairs[["system_a", "system_b"]].drop_duplicates()) > 1
    batch: list[Any] = [name for name in table if name not in DIFFERENCES]
    pairs = pairs[[*batch, *needed]]
    if several:  # one panel per pair
        for rows in (table, pairs):
            names = rows["system_a"].astype(str) + " − " + rows["system_b"].astype(str)
            rows.insert(len(batch), "systems", names)
    table = table[[*batch, *(["systems"] if several else []), *DIFFERENCES]]
    table.attrs = {**whole.attrs, "unit": unit}
    pairs.attrs = dict(whole.attrs)
    return draw_paired_differences(table, pairs, **look)


def _check_panels(groups: list[Any], a: Hashable, b: Hashable) -> None:
    """Raise a ValueError if there are more pairs of systems than panels."""
    systems = max((len(names) for _, _, names, _ in groups), default=0)
    if b is not None:
        return
    pairs = systems - 1 if a is not None else systems * (systems - 1) // 2
    if pairs * len(groups) > _PAIRS:
        raise ValueError(
            f"there are {pairs:,} pairs of systems{' in each group' if len(groups) > 1 else ''}, "
            f"but this plot has at most {_PAIRS} panels. Pass a and b to choose a pair, or draw "
            "all pairs with plot.pairs()."
        )


def _are_queries(data: pd.DataFrame | xr.Dataset) -> bool:
    """Return whether the row names identify queries."""
    return isinstance(data, pd.DataFrame) and "query" in data.index.names


_Group = tuple[Items, dict[Any, Any], list[Hashable], pd.Index]


def groups_of_items(data: Any, roles: Any) -> list[_Group]:
    """Return the items and the key of each group, and the names of systems and items."""
    frame, named = frame_of(data, roles, "items")
    table = read_frame(frame, item_roles(named))
    keys = table.keys.to_dict("records") if table.keys.shape[1] else [{}]
    return [
        (table.items(rows), key, table.systems, table.labels[rows])
        for rows, key in zip(table.members, keys, strict=True)
    ]


def _of_pairs(
    items: Items,
    key: dict[Any, Any],
    names: list[Hashable],
    labels: pd.Index,
    pairs: pd.DataFrame,
) -> list[pd.DataFrame]:
    """Return the gain for each pair of systems on each item."""
    scores = items.sign * items.score(items.statistics)
    listed = []
    for a, b in pairs[["system_a", "system_b"]].drop_duplicates().to_numpy(dtype=object):
        here = pairs[(pairs["system_a"] == a) & (pairs["system_b"] == b)]
        if key and not (here[list(key)] == pd.Series(key)).all(axis=1).any():
            continue
        gain = scores[names.index(a)] - scores[names.index(b)]
        columns = {**key, "system_a": a, "system_b": b, "item": labels, "gain": gain}
        listed.append(pd.DataFrame(columns))
    return listed


@of_measures_too
@of_data_or_table(
    draw_critical_difference,
    ("system_a", "system_b", "score_a", "score_b", "gain"),
    "paired_bootstrap",
    forms=["rankings", "items", "pairs"],
)
def critical_difference(
    data: Data,
    *,
    n: ListSizes = None,
    kind: AreaKind | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    **options: Unpack[AnyPlot],
) -> Axes:
    """Draw systems or measures in order of score, with bars that connect ties.

    Parameters
    ----------
    data : DataFrame or Dataset
        Scores of systems on test items; or the result of :func:`rankeval_pd.paired_bootstrap` or
        :func:`rankeval_pd.paired_permutation` for all pairs. To compare measures, pass candidates
        with a score for each measure and a gold label, together with ``n`` or ``kind``; or the
        result of :func:`rankeval_pd.compare` or :func:`rankeval_pd.compare_area` for all pairs.
    n, kind
        Option for candidates: the criterion by which measures are compared, as in
        :func:`rankeval_pd.measure_ranks`. Each n has its own panel.
    n_resamples, event, method, ci, families, baseline, adjust, adjust_over, level, progress
        Options for items, as in :func:`rankeval_pd.paired_bootstrap`. For candidates, only
        n_resamples, adjust and progress are available, as in :func:`rankeval_pd.measure_ranks`.
    alpha : float
        Significance level of the tests.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each dot is a system's score, with the best system at the top. A vertical bar on the right
    connects systems that do not differ significantly: no pair of them has a two-sided p-value at or
    below alpha (adjusted, if the table has adjusted p-values). If a bar has dots, only rows with a
    dot belong to the bar. The classic diagram is based on mean ranks (J. Demšar, 2006, Journal of
    Machine Learning Research 7). This plot uses paired tests of the scores, adjusted for all
    pairs.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame(rng.random((200, 4)) < [0.9, 0.88, 0.7, 0.5], columns=list("wxyz"))
    >>> ax = df.rankeval.plot.critical_difference(n_resamples=500)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['w', 'x', 'y', 'z']
    """
    look, asked = parted(options)
    alpha = asked.get("alpha", 0.05)
    if n is not None or kind is not None:
        table = pairs_of_measures(data, n, kind, adjust, asked)
    else:
        table = paired_bootstrap(data, adjust=adjust, **asked)
    return draw_critical_difference(table, alpha=alpha, **look)
