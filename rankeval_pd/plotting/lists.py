"""Plot precision, recall and random rankings over list sizes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.chance.bounds import random_bound as bound_of
from rankeval_pd.chance.bounds import random_cdf as cdf_of
from rankeval_pd.doors import Data
from rankeval_pd.errors import hushed
from rankeval_pd.lists.precision import nbest_precision, precision_band
from rankeval_pd.options import one_reading
from rankeval_pd.plotting.canvas import (
    HAIR,
    LENGTH,
    SPARSE,
    Canvas,
    interval_kind,
    level_before,
    thin_table,
)
from rankeval_pd.plotting.look import Look, compact, most_text, rate_text, set_ticks
from rankeval_pd.plotting.panels import (
    Levels,
    by_name,
    curves_of,
    is_log,
    plot_of,
    positives_of,
    priors_of,
    roles_in,
    seen_of,
    shown,
    table_of,
)
from rankeval_pd.roles import CUTTING, ListSizes, PopulationKind, Roles

# -------------------------------------------------------------------------------------------------
# Precision and recall of n-best lists (Evert 2004, figures 1 and 2).
FIRST = 10  # in long tables, shorter lists are too noisy to draw
_JOINT = "simultaneous confidence band, valid jointly at all n"
_BELOW = 0.08  # fraction of the height below the baseline


def _with_band(
    data: Data,
    n: ListSizes = None,
    *,
    level: float = 0.95,
    simultaneous: bool = True,
    n_resamples: int = 1000,
    highlight: Any = None,
    **asked: Any,
) -> tuple[Any, Any]:
    """Return the precision of lists, and for a single name a simultaneous band."""
    with one_reading():
        sizes, roles = seen_of(data, n, asked), roles_in(asked)
        table = nbest_precision(data, sizes, level=level, **asked)
        names = dict.fromkeys(np.asarray(table["measure"]).tolist())
        count = len(Look(highlight=highlight).highlighted or names)
        band = None
        single = count == 1 and np.unique(table["n"]).size > SPARSE
        if simultaneous and single and Roles.of(roles).ties in CUTTING:
            with hushed():  # the caption contains the warning about a narrow band
                band = precision_band(
                    data, shown(table), level=level, n_resamples=n_resamples, **roles
                )
    return table, band


@plot_of(nbest_precision, "measure n precision lift ci_low ci_high", tables=_with_band)
def precision(
    canvas: Canvas,
    table: pd.DataFrame,
    band: pd.DataFrame | None = None,
    /,
    *,
    log: bool | None = None,
) -> None:
    """Draw the precision of n-best lists with intervals or bands, and the baseline.

    Parameters
    ----------
    data : DataFrame or Dataset
        The data for :func:`rankeval_pd.nbest_precision`, or its result. A second table can follow
        a result: that of :func:`rankeval_pd.precision_band` for the same measures.
    simultaneous : bool
        Option for data: whether a single measure gets a simultaneous band over the visible list
        sizes.
    n_resamples : int
        Option for data, as in :func:`rankeval_pd.precision_band`.
    log : bool, optional
        Whether the n axis is logarithmic. By default, the axis is logarithmic if the largest n is
        more than 2,000 times the smallest. In this case, lists shorter than 10 are omitted.

    Notes
    -----
    Each line is the precision of one measure's n-best lists, and the gray line is a random order.
    A single measure has a band, which is simultaneous over all n if available. Two to six measures
    have error bars, which show intervals at a few list sizes, or at every list size if there are
    at most twelve. With more measures, only the best three are in color. For more than 20,000
    candidates, about 4,000 values of n are computed and drawn. Half of these values are evenly
    spaced, and the others are concentrated on short lists. The band then covers up to 2,000
    values. Each group has its own panel, with at most 24 panels.
    :func:`rankeval_pd.plotting.caption` describes the interval.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [4.0, 3.0, 2.0, 1.0], "gold": [True, True, False, False]})
    >>> df.rankeval.plot.precision(simultaneous=False).get_ylabel()
    'precision'
    >>> rankeval_pd.plotting.precision(df.rankeval.nbest_precision()).get_ylabel()
    'precision'
    """
    if band is not None:
        band = table_of(band, "measure n band_low band_high", "precision_band")
        lists = table[["measure", "n"]].drop_duplicates()
        common = lists.merge(band[["measure", "n"]].drop_duplicates())
        if len(band) > len(common) or set(common["measure"]) != set(lists["measure"]):
            raise ValueError(
                "band and table differ in their measures or n. Pass the precision_band for the same"
                " data, measures and n."
            )
    rows = draw_lists(canvas, table, log)
    if band is None:
        kind = interval_kind(table.attrs, "separately at each n")
        canvas.uncertainty(rows, "ci_low", "ci_high", kind)
    else:
        parts = by_name(band)
        wide = {}
        for name, mine in rows.items():
            if name in parts:
                wide[name] = parts[name].merge(mine[["n", "x"]], on="n")
        kind = f"{level_before(band.attrs)}{_JOINT}"
        if (table["precision"] > 0.9).any():
            kind += " (too narrow where precision is above 90%)"
        canvas.uncertainty(wide, "band_low", "band_high", kind)
    shade_blocks(canvas, table[table["measure"].isin([*rows])], "tied")
    priors = priors_of(table)
    canvas.upwards()
    if priors:
        lowest = min(priors)
        canvas.start_at(lowest - _BELOW * (canvas.ax.dataLim.y1 - lowest), floor=-0.02)
        canvas.rule(priors[0], canvas.random(priors[0]))
        for share in priors[1:]:
            canvas.rule(share)
        canvas.tell("Gray line: random order.")
    canvas.upwards()
    canvas.finish(ylabel="precision", xlabel=LENGTH)


def draw_lists(
    canvas: Canvas, table: pd.DataFrame, log: bool | None = None
) -> dict[Hashable, pd.DataFrame]:
    """Draw the curve of each measure, and return the rows with x positions."""
    rows = by_name(table)
    scores: dict[Hashable, float] = {}
    logarithmic = is_log(log, table["n"])
    short = logarithmic and log is None  # if every n were drawn, the first ranks would be too noisy
    for measure, mine in rows.items():
        scores[measure] = float(mine["precision"].mean())
        if short:
            mine = mine[mine["n"] >= FIRST]
        rows[measure] = mine.assign(x=mine["n"])
    drawn = canvas.choose(scores, "mean precision")
    canvas.across("n", log=logarithmic)
    for measure in drawn:
        canvas.curve(measure, rows[measure]["n"], rows[measure]["precision"])
    if short and len(table):
        canvas.tell(f"Lists shorter than {FIRST} are omitted.")
    last = float(table["n"].max())
    if np.isfinite(last) and (not short or last >= FIRST):
        if table["n"].nunique() <= SPARSE:  # the last n has an interval
            last *= 1.03
        canvas.limits("x", high=last)  # names are at the ends of lines
    canvas.across("n", log=logarithmic)
    return rows


def shade_blocks(canvas: Canvas, table: pd.DataFrame, column: str) -> None:
    """Shade list sizes inside ties, where lists depend on the tie-breaking order."""
    if column not in table or table.attrs.get("ties") == "expected":
        return
    inside = (table[column] > 0).groupby(table["n"]).any()
    if not inside.any():
        return
    look = {"color": canvas.ink.gray(0.5), "alpha": 0.12, "linewidth": 0, "zorder": 0.5}
    place = {"step": "mid", "transform": canvas.ax.get_xaxis_transform()}
    canvas.ax.fill_between(inside.index, 0.0, 1.0, where=inside, **place, **look)
    canvas.tell("Shaded: lists that end inside a block of equal scores.")


# -------------------------------------------------------------------------------------------------
# Random rankings next to the measures' curves (Macskassy 2005).


def _with_curves(
    data: Data,
    p: Levels = 0.05,
    n: ListSizes = None,
    *,
    population: PopulationKind = "finite",
    simultaneous: bool = True,
    pool: Any = "all",  # a single bound for all curves
    **roles: Any,
) -> tuple[Any, Any, Any]:
    """Return the bound, the precision of all measures, and the simultaneous bound."""
    finite, within, envelope = population == "finite", None, None
    with one_reading():
        if finite:
            within = n = seen_of(data, n, roles)
        table = curves_of(data, within, **roles)
        bound = bound_of(data, p, n, population=population, pool=pool, **roles)
        levels = [x for x in dict.fromkeys(np.asarray(bound["p"]).tolist()) if x < 1.0]
        if simultaneous and finite and levels:
            envelope = bound_of(data, levels, n, simultaneous=True, pool=pool, **roles)
    return bound, table, envelope


@plot_of(bound_of, "p n expected critical", tables=_with_curves, clusters=False)
def random_bound(
    canvas: Canvas,
    bound: pd.DataFrame,
    precision: pd.DataFrame | None = None,
    envelope: pd.DataFrame | None = None,
    /,
    *,
    log: bool | None = None,
) -> None:
    """Draw precision curves and the lowest precision significantly above chance.

    Parameters
    ----------
    data : DataFrame or Dataset
        The data for :func:`rankeval_pd.random_bound`, or its result. Two tables can follow a
        result: that of :func:`rankeval_pd.nbest_precision`, for the curves (or None), and that of
        ``random_bound(simultaneous=True)``.
    simultaneous : bool
        Option for data: whether to add bounds that are simultaneous over all n, which exist for a
        finite population.
    log : bool, optional
        As in :func:`precision`.

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
    ax, positive = canvas.ax, np.inf
    logarithmic = is_log(log, bound["n"])
    canvas.across("n", log=logarithmic)
    prior = float(bound["expected"].iloc[0] / bound["n"].iloc[0]) if len(bound) else np.nan
    if precision is not None:
        needed = "measure n precision recall lift"
        curves = table_of(precision, needed, "nbest_precision")
        positive = positives_of(curves)
        draw_lists(canvas, curves, log)
    if envelope is not None:
        envelope = table_of(envelope, "p n critical", "random_bound")
    short = FIRST if logarithmic and log is None else 1
    for place, (level, rows) in enumerate(bound.groupby("p", sort=False)):
        p = float(level)  # type: ignore[arg-type]
        single = share = _possible_share(rows, positive, short)
        scope, held = "at any single n", False
        if envelope is not None and (envelope["p"] == p).any():
            outer = envelope[envelope["p"] == p]
            share = _possible_share(outer, positive, short)
            scope, held = "at every n", True
        name, below = f"chance {rate_text(p)}", f"{most_text(p)} of random orders stay below the"
        if place == 0:
            canvas.field(share.index, prior, share, name)
            said = f"Gray area: {below} edge {scope}"
        else:
            canvas.guide(share.index, share, name, zorder=1.04)
            said = f"Line “{name}”: {below} line {scope}"
        known = share.dropna()
        if len(known):
            canvas.refer(name, float(known.iloc[-1]))
        if place == 0 and held:
            canvas.guide(single.index, single, "_each n separately", HAIR, zorder=1.04)
            said += "; the hairline is the bound for a single n"
        canvas.tell(f"{said}.")
    if np.isfinite(prior):
        canvas.upwards()
        canvas.start_at(prior - _BELOW * (ax.dataLim.y1 - prior))
        canvas.rule(prior, canvas.random(prior))
    if precision is None and bound["n"].max() > bound["n"].min():
        canvas.limits("x", high=float(bound["n"].max()))
    canvas.across("n", log=logarithmic)
    canvas.upwards()
    canvas.finish(xlabel=LENGTH, ylabel="precision")


def _possible_share(rows: pd.DataFrame, positive: float, first: int) -> pd.Series[Any]:
    """Return counts as precision at each n that allows that many true positives."""
    rows = thin_table(rows[rows["n"] >= first]).set_index("n", drop=False)
    possible = rows["critical"] <= np.minimum(rows["n"], positive) + 1e-6
    if "attainable" in rows:  # without curves, no other line shows the number of true positives
        possible &= rows["attainable"].astype(bool)
    share: pd.Series[Any] = (rows["critical"] / rows["n"]).where(possible)
    return share


_LAWS = ["discrete", "interpolated", "parametric"]


def _with_bounds(
    data: Data,
    n: int,
    p: Levels = 0.5,
    *,
    population: PopulationKind = "finite",
    **roles: Any,
) -> tuple[Any, Any]:
    """Return the distribution functions, and the bounds at these levels."""
    with one_reading():
        table = cdf_of(data, n, population=population, **roles)
        return table, bound_of(data, p, n, population=population, pool="all", **roles)


@plot_of(cdf_of, "n tp discrete interpolated parametric", tables=_with_bounds, clusters=False)
def random_cdf(canvas: Canvas, table: pd.DataFrame, bound: pd.DataFrame | None = None, /) -> None:
    """Draw distribution functions of the number of true positives in a random list.

    Parameters
    ----------
    data : DataFrame or Dataset
        The data for :func:`rankeval_pd.random_cdf`, or its result for one n. A second table can
        follow a result: that of :func:`rankeval_pd.random_bound`.
    p : float or list of float
        Option for data: levels of :func:`rankeval_pd.random_bound` to mark. For each p, the plot
        shows a line at 1 - p and a mark at its intersection with each distribution function.

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
    sizes = table["n"].drop_duplicates().tolist()
    if len(sizes) > 1:
        raise ValueError(
            f"table has {len(sizes)} list sizes, but a plot shows only one. Choose a size:"
            f" table[table['n'] == {sizes[0]}]."
        )
    ax = canvas.ax
    canvas.look = replace(canvas.look, order=_LAWS)
    for law in _LAWS:
        style = {"discrete": "steps-post"}.get(law, "default")
        canvas.curve(law, table["tp"], table[law], marker="none", drawstyle=style)
    if bound is not None and sizes:
        rows = table_of(bound, "p n discrete interpolated parametric", "random_bound")
        found = rows.loc[rows["n"] == sizes[0], ["p", *_LAWS]].to_numpy(dtype=float)
        for p, *bounds in found:
            ax.axhline(1.0 - p, **canvas.gray)
            values: dict[Hashable, str] = {}
            look = {"markersize": 5, "zorder": 4, "markeredgecolor": canvas.ink.bg}
            for law, at in zip(_LAWS, bounds, strict=True):
                color, label = canvas.color(law), f"_{law}"
                canvas.dots(at, 1.0 - p, color, label=label, **look)
                values[law] = f"{at:.4g}"
            canvas.values(f"bound, {rate_text(p)}", values)
        canvas.tell("Dots: the bounds, where each distribution function reaches 1 − p.")
    label = "true positives among the first"
    if sizes:
        label += f" {sizes[0]:,}"
    canvas.meet = True
    ax.set_ylim(0.0, 1.02)
    canvas.upwards()
    set_ticks(ax.xaxis, compact, 4.0)
    canvas.finish(xlabel=label, ylabel="P(as many or fewer)")
