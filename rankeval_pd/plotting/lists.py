"""Plot precision, recall and random rankings over list sizes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from rankeval_pd.chance.bounds import random_bound as bound_of
from rankeval_pd.chance.bounds import random_cdf as cdf_of
from rankeval_pd.doors import Data
from rankeval_pd.errors import check_flag, hushed
from rankeval_pd.lists.precision import nbest_precision, precision_band
from rankeval_pd.options import one_reading
from rankeval_pd.plotting.canvas import (
    HAIR,
    SPARSE,
    XLABELS,
    Canvas,
    interval_kind,
    level_before,
    thin_table,
    write,
)
from rankeval_pd.plotting.look import Look, compact, most_text, rate_text, set_ticks
from rankeval_pd.plotting.panels import (
    Levels,
    PrecisionPlot,
    RankingPlot,
    by_name,
    checked,
    curves_of,
    is_log,
    of_data_or_table,
    parted,
    picture,
    positions,
    priors_of,
    roles_in,
    seen_of,
    shown,
    table_of,
    totals_of,
)
from rankeval_pd.roles import CUTTING, Across, ListSizes, PopulationKind, Roles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# -------------------------------------------------------------------------------------------------
# Precision and recall of n-best lists (Evert 2004, figures 1 and 2).
FIRST = 10  # in long tables, shorter lists are too noisy to draw
_JOINT = "simultaneous confidence band, valid jointly at all n"
_BELOW = 0.08  # fraction of the height below the baseline


@picture("measure n precision lift ci_low ci_high", "nbest_precision")
def draw_precision(
    canvas: Canvas,
    table: pd.DataFrame,
    band: pd.DataFrame | None = None,
    *,
    x: str = "n",
    log: bool | None = None,
    mark: Sequence[int] = (),
    relevant: float = 0.0,
    reference: str | Sequence[str] = ("random",),
    intervals: bool | None = None,
    bands: bool | None = None,
) -> None:
    """Draw the precision of n-best lists with its uncertainty and the baseline."""
    if band is not None:
        band = table_of(band, "measure n band_low band_high", "precision_band")
        lists = table[["measure", "n"]].drop_duplicates()
        common = lists.merge(band[["measure", "n"]].drop_duplicates())
        if len(band) > len(common) or set(common["measure"]) != set(lists["measure"]):
            raise ValueError(
                "band and table differ in their measures or n. Pass the precision_band for the same"
                " data, measures and n."
            )
    references, relevant, mark = checked(table, x, mark, relevant, reference)
    logarithmic = x != "recall" and is_log(log, table["n"])
    rows = draw_lists(canvas, table, x, logarithmic, log)
    if mark:
        draw_marks(canvas, rows, mark, x)
    if band is not None and (bands or (bands is None and not intervals)):
        parts = by_name(band)
        wide = {}
        for name, mine in rows.items():
            if name in parts:
                wide[name] = parts[name].merge(mine[["n", "x"]], on="n")
        kind = f"{level_before(band.attrs)}{_JOINT}"
        if (table["precision"] > 0.9).any():
            kind += " (too narrow where precision is above 90%)"
        canvas.uncertainty(wide, "band_low", "band_high", kind)
    if intervals or (intervals is None and (band is None or bands is False)):
        kind = interval_kind(table.attrs, "separately at each n")
        canvas.uncertainty(rows, "ci_low", "ci_high", kind)
    shade_blocks(canvas, table[table["measure"].isin([*rows])], "tied", x)
    draw_references(canvas, table, x, references, relevant)
    canvas.finish(ylabel="precision", xlabel=XLABELS[x])


@of_data_or_table(draw_precision, "n precision lift", nbest_precision)
def precision(
    data: Data,
    n: ListSizes = None,
    *,
    level: float = 0.95,
    simultaneous: bool = True,
    n_resamples: int = 1000,
    x: Across = "n",
    mark: Sequence[int] = (),
    relevant: float = 0.0,
    reference: str | Sequence[str] = ("random",),
    log: bool | None = None,
    intervals: bool | None = None,
    bands: bool | None = None,
    **options: Unpack[PrecisionPlot],
) -> Axes:
    """Draw the precision of n-best lists with intervals or bands, and the baseline.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.nbest_precision` for one group. If you pass a result, you can add
        ``band``, the result of :func:`rankeval_pd.precision_band` for the same measures.
    n, ci, level, target, phi
        Options for data, as in :func:`rankeval_pd.nbest_precision`.
    simultaneous : bool
        Option for data: whether to add a simultaneous band over the visible list sizes.
    n_resamples : int
        Option for data, as in :func:`rankeval_pd.precision_band`.
    x : {"n", "share", "recall"}
        Quantity on the x axis: the size of the list, the list as a fraction of the candidates, or
        the recall of the list.
    mark : sequence of int
        Sizes of lists to mark with a vertical line. With x="recall", each size is marked with a
        tick on each curve.
    relevant : float
        Smallest gain over the baseline that is considered relevant, drawn as a line.
    reference : {"random", "ideal"} or sequence of these
        Reference curves to draw. "random" is a random order, for which the precision is the
        baseline. "ideal" is an order with all true positives first.
    log : bool, optional
        Whether the n axis (or the fraction axis) is logarithmic. By default, the axis is
        logarithmic if the largest n is more than 2,000 times the smallest. In this case, lists
        shorter than 10 are omitted.
    intervals, bands : bool, optional
        Whether to draw pointwise intervals and simultaneous bands. By default, only one of the two
        is drawn (see Notes).
    **look

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
    check_flag("intervals", intervals, none=True)
    check_flag("bands", bands, none=True)
    look, asked = parted(options)
    with one_reading():
        sizes = seen_of(data, n, asked)
        table = nbest_precision(data, sizes, level=level, **asked)
        band = None
        names = list(dict.fromkeys(np.asarray(table["measure"]).tolist()))
        bright = Look(highlight=look.get("highlight")).highlighted or names
        single = len(bright) == 1 and np.unique(table["n"]).size > SPARSE and not intervals
        if simultaneous and (bands or (bands is None and single)):
            roles = roles_in(asked)
            ties = Roles.of(roles).ties
            drawn = shown(table)
            if ties in CUTTING:
                with hushed():  # the caption contains the warning about a narrow band
                    band = precision_band(
                        data, drawn, level=level, n_resamples=n_resamples, **roles
                    )
    return draw_precision(
        table,
        band,
        x=x,
        log=log,
        mark=mark,
        relevant=relevant,
        reference=reference,
        intervals=intervals,
        bands=bands,
        **look,
    )


def draw_lists(
    canvas: Canvas,
    table: pd.DataFrame,
    x: str,
    logarithmic: bool,
    log: bool | None = None,
    y: str = "precision",
) -> dict[Hashable, pd.DataFrame]:
    """Draw the curve of each measure, and return the rows with x positions."""
    rows = by_name(table)
    scores: dict[Hashable, float] = {}
    short = logarithmic and log is None  # if every n were drawn, the first ranks would be too noisy
    for measure, mine in rows.items():
        scores[measure] = float(mine[y].mean())
        if short:
            mine = mine[mine["n"] >= FIRST]
        rows[measure] = mine.assign(x=positions(mine, x))
    drawn = canvas.choose(scores, f"mean {y}")
    canvas.across(x, log=logarithmic)
    for measure in drawn:
        canvas.curve(measure, rows[measure]["x"], rows[measure][y])
    if short and len(table):
        canvas.tell(f"Lists shorter than {FIRST} are omitted.")
    last = float(table["n"].max())
    if x == "n" and np.isfinite(last) and (not short or last >= FIRST):
        if table["n"].nunique() <= SPARSE:  # the last n has an interval
            last *= 1.03
        canvas.limits("x", high=last)  # names are at the ends of lines
    canvas.across(x, log=logarithmic)
    return rows


def shade_blocks(canvas: Canvas, table: pd.DataFrame, column: str, x: str) -> None:
    """Shade list sizes inside ties, where lists depend on the tie-breaking order."""
    if x != "n" or column not in table or table.attrs.get("ties") == "expected":
        return
    inside = (table[column] > 0).groupby(table["n"]).any()
    if not inside.any():
        return
    look = {"color": canvas.ink.gray(0.5), "alpha": 0.12, "linewidth": 0, "zorder": 0.5}
    place = {"step": "mid", "transform": canvas.ax.get_xaxis_transform()}
    canvas.ax.fill_between(inside.index, 0.0, 1.0, where=inside, **place, **look)
    canvas.tell("Shaded: lists that end inside a block of equal scores.")


def draw_references(
    canvas: Canvas, table: pd.DataFrame, x: str, references: Sequence[str], relevant: float = 0.0
) -> None:
    """Draw reference curves for a random and an ideal order, and the relevant gain."""
    ax = canvas.ax
    priors = priors_of(table)
    canvas.upwards()
    if "random" in references and priors:
        prior = min(priors)
        canvas.start_at(prior - _BELOW * (ax.dataLim.y1 - prior), floor=-0.02)
        first, *others = priors
        canvas.rule(first, canvas.random(first))
        for share in others:
            canvas.rule(share)
        canvas.tell("Gray line: random order.")
    if relevant and priors:
        canvas.rule(priors[0] + relevant, f"+{100 * relevant:.3g} points")
        canvas.tell(f"Upper gray line: {100 * relevant:.3g} points above a random order.")
    if "ideal" in references:
        total, positive = totals_of(table)
        n = np.unique(table["n"].to_numpy())
        found = np.minimum(n, positive)
        across = {"n": n, "share": n / total, "recall": found / positive}[x]
        canvas.reference(across, found / n, "ideal order")
    canvas.upwards()


def draw_marks(
    canvas: Canvas, rows: Mapping[Hashable, pd.DataFrame], mark: Sequence[int], x: str
) -> None:
    """Draw a line at each marked n, or a tick on each curve if the x axis is recall."""
    for place, mine in enumerate(rows.values()):
        marked = mine.drop_duplicates("n").set_index("n")
        for n in mark:
            if n not in marked.index:  # this measure has fewer scored candidates
                continue
            point = float(marked["x"][n]), float(marked["precision"][n])
            if x == "recall":
                canvas.ax.plot(*point, "|", markersize=12, color=canvas.ink.plain)
                note = {"ha": "center", "color": canvas.ink.note}
                write(canvas.ax, f"{n:,}", point, (0, 9), **note)
            elif place == 0:
                canvas.upright(point[0], f"{n:,}")


# -------------------------------------------------------------------------------------------------
# Random rankings next to the measures' curves (Macskassy 2005).


@picture("p n expected critical", "random_bound")
def draw_random_bound(
    canvas: Canvas,
    bound: pd.DataFrame,
    precision: pd.DataFrame | None = None,
    envelope: pd.DataFrame | None = None,
    *,
    log: bool | None = None,
) -> None:
    """Draw precision curves and the lowest precision significantly above chance."""
    ax, positive = canvas.ax, np.inf
    logarithmic = is_log(log, bound["n"])
    canvas.across("n", log=logarithmic)
    prior = float(bound["expected"].iloc[0] / bound["n"].iloc[0]) if len(bound) else np.nan
    if precision is not None:
        needed = "measure n precision recall lift"
        curves = table_of(precision, needed, "nbest_precision")
        _, positive = totals_of(curves)
        draw_lists(canvas, curves, "n", logarithmic, log)
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
        look = canvas.look.band(zorder=1.04)
        if place == 0:
            canvas.field(share.index, prior, share, name)
            said = f"Gray area: {below} edge {scope}"
        else:
            canvas.guide(share.index, share, name, **look)
            said = f"Line “{name}”: {below} line {scope}"
        known = share.dropna()
        if len(known):
            canvas.refer(name, float(known.iloc[-1]))
        if place == 0 and held:
            canvas.guide(single.index, single, "_each n separately", HAIR, **look)
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
    canvas.finish(xlabel=XLABELS["n"], ylabel="precision")


@of_data_or_table(draw_random_bound, "p n expected critical", bound_of, clusters=False)
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
        ``random_bound(simultaneous=True)``.
    p, n, population
        Options for data, as in :func:`rankeval_pd.random_bound`.
    simultaneous : bool
        Option for data: whether to add bounds that are simultaneous over all n. This option
        requires a finite population.
    log : bool, optional
        As in :func:`precision`.
    **look

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
        within = None
        if population == "finite":
            within = n = seen_of(data, n, roles)
        table = curves_of(data, within, **roles)
        bound = bound_of(data, p, n, population=population, pool=pool, **roles)
        envelope = None
        levels = [x for x in dict.fromkeys(np.asarray(bound["p"]).tolist()) if x < 1.0]
        if simultaneous and population == "finite" and levels:
            envelope = bound_of(data, levels, n, simultaneous=True, pool=pool, **roles)
    return draw_random_bound(bound, table, envelope, log=log, **look)


def _possible_share(rows: pd.DataFrame, positive: float, first: int) -> pd.Series[Any]:
    """Return counts as precision at each n that allows that many true positives."""
    rows = thin_table(rows[rows["n"] >= first]).set_index("n", drop=False)
    possible = rows["critical"] <= np.minimum(rows["n"], positive) + 1e-6
    if "attainable" in rows:  # without curves, no other line shows the number of true positives
        possible &= rows["attainable"].astype(bool)
    share: pd.Series[Any] = (rows["critical"] / rows["n"]).where(possible)
    return share


_LAWS = ["discrete", "interpolated", "parametric"]


@picture("n tp discrete interpolated parametric", "random_cdf")
def draw_random_cdf(canvas: Canvas, table: pd.DataFrame, bound: pd.DataFrame | None = None) -> None:
    """Draw distribution functions of the number of true positives in a random list."""
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
            ax.axhline(1.0 - p, **canvas.look.band(**canvas.gray))
            values: dict[Hashable, str] = {}
            look = {"markersize": 5, "zorder": 4, "markeredgecolor": canvas.ink.bg}
            for law, at in zip(_LAWS, bounds, strict=True):
                color, label = canvas.color(law), f"_{law}"
                canvas.dots(at, 1.0 - p, color, name=law, label=label, **look)
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


@of_data_or_table(draw_random_cdf, "n tp discrete parametric", cdf_of, clusters=False)
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
