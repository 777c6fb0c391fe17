"""Plot precision, comparisons and random rankings over list sizes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.chance.bounds import random_bound as bound_of
from rankeval_pd.chance.bounds import random_cdf as cdf_of
from rankeval_pd.doors import Data
from rankeval_pd.errors import check_share, hushed
from rankeval_pd.lists import regions
from rankeval_pd.lists.comparison import compare
from rankeval_pd.lists.precision import intervals_unread, nbest_precision, precision_band
from rankeval_pd.options import one_reading
from rankeval_pd.plotting.canvas import (
    BESIDE,
    FEW,
    HAIR,
    LENGTH,
    LINE,
    SPARSE,
    Canvas,
    interval_kind,
    level_before,
    thin_table,
    write,
)
from rankeval_pd.plotting.look import (
    LEAST,
    Look,
    compact,
    cut_text,
    font,
    in_points,
    mixed_color,
    most_text,
    plainly,
    rate_text,
    set_ticks,
    wide,
)
from rankeval_pd.plotting.panels import (
    Levels,
    by_name,
    is_log,
    plot_of,
    positives_of,
    priors_of,
    roles_in,
    seen_of,
    shown,
    size_of,
    table_of,
)
from rankeval_pd.roles import (
    CUTTING,
    FamilyAdjustment,
    ListSizes,
    PopulationKind,
    Roles,
    measures_of,
)
from rankeval_pd.words.numbers import percent_of
from rankeval_pd.words.vocabulary import ADJUSTED, TESTS

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
    """Return the precision of lists, and its simultaneous band if there is a single name."""
    roles = roles_in(asked)
    band = None
    with one_reading():
        table = nbest_precision(data, seen_of(data, n, roles), level=level, **asked)
        names = dict.fromkeys(np.asarray(table["measure"]).tolist())
        count = len(Look(highlight=highlight).highlighted or names)
        single = count == 1 and np.unique(table["n"]).size > SPARSE
        if simultaneous and single and Roles.of(roles).ties in CUTTING:
            drawn = {"level": level, "n_resamples": n_resamples, **roles}
            with hushed():  # the caption contains the warning about a narrow band
                band = precision_band(data, shown(table), **drawn)
    return table, band


@plot_of(
    nbest_precision,
    "measure n precision lift ci_low ci_high",
    tables=_with_band,
    highlights=True,
)
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
        common = band.merge(table[["measure", "n"]].drop_duplicates())
        if len(common) < len(band) or {*band["measure"]} != {*table["measure"]}:
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
    mark_blocks(canvas, rows)
    priors = priors_of(table)
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
    canvas: Canvas, table: pd.DataFrame, log: bool | None
) -> dict[Hashable, pd.DataFrame]:
    """Draw the curve of each measure, and return the rows with x positions."""
    rows = by_name(table.assign(x=table["n"]))
    scores = {}
    logarithmic = is_log(log, table["n"])
    short = logarithmic and log is None  # if every n were drawn, the first ranks would be too noisy
    for measure, mine in rows.items():
        scores[measure] = float(mine["precision"].mean())
        if short:
            rows[measure] = mine[mine["n"] >= FIRST]
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


def mark_blocks(canvas: Canvas, rows: Mapping[Hashable, pd.DataFrame]) -> None:
    """Mark the lists that end inside a tie, which depend on the tie-breaking order."""
    for measure in filter(canvas.stands_out, rows):
        mine = rows[measure]
        if "tied" in mine and mine.attrs.get("ties") != "expected" and mine["tied"].any():
            cut = mine[mine["tied"] > 0]
            pale = mixed_color(canvas.color(measure), canvas.ink.bg, 0.25)
            look = {"markersize": 7, "markeredgewidth": 0, "zorder": 1.6, "label": "_tied"}
            canvas.dots(cut["n"], cut["precision"], pale, **look)
            canvas.tell("Pale edges of a line: lists that end inside a block of equal scores.")


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
    finite = population == "finite"
    within = None
    envelope = None
    with one_reading():
        if finite:
            within = n = seen_of(data, n, roles)
        table = nbest_precision(data, within, **roles)
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
        scope = "at any single n"
        name = alone = f"chance {rate_text(p)}"
        if envelope is not None and (envelope["p"] == p).any():
            outer = envelope[envelope["p"] == p]
            share = _possible_share(outer, positive, short)
            scope = "at every n"
            name, alone = f"{alone}, all n", f"{alone}, each n"
        below = f"{most_text(p)} of random orders stay below the"
        if place == 0:
            canvas.field(share.index, prior, share, name)
            said = f"Gray area: {below} edge, “{name}”, {scope}"
        else:
            canvas.guide(share.index, share, name, zorder=1.04)
            said = f"Line “{name}”: {below} line {scope}"
        lines = {name: share}
        if place == 0 and alone != name:
            lines[alone] = single
            canvas.guide(single.index, single, alone, HAIR, zorder=1.04)
            said += f"; the hairline, “{alone}”, is the bound for a single n"
        for label, line in lines.items():
            known = line.dropna()
            if len(known):
                canvas.refer(label, float(known.iloc[-1]))
        canvas.tell(f"{said}.")
    if np.isfinite(prior):
        canvas.start_at(prior - _BELOW * (ax.dataLim.y1 - prior))
        canvas.rule(prior, canvas.random(prior))
        canvas.tell("Horizontal line: random order.")
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
    return (rows["critical"] / rows["n"]).where(possible)


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
            canvas.rule(1.0 - p)
            values: dict[Hashable, str] = {}
            look = {"markersize": 5, "zorder": 4, "markeredgecolor": canvas.ink.bg}
            for law, at in zip(_LAWS, bounds, strict=True):
                color = canvas.color(law)
                label = f"_{law}"
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


# ---- Precision curves, their difference, and marks for significant differences (Evert 2004)
_HEIGHTS = (3.0, 0.62, 2.2)  # relative heights of the panels: curves, strip, difference
_ROW = 11.0  # height of a row in the strip, in points
_SHARE = 0.40  # fraction of the height used by the strip for all pairs
_GAP = 0.04  # gap between panels, as a fraction of their height
_TALL = 160.0  # minimum height of the difference panel, in points
_CURVE = ["measure", "n", "precision"]
_BUDGET = 1e8  # this product of candidates and resamples takes a few seconds


class _Finding(NamedTuple):
    """The tested rows, whether they are significant, and a description of the test."""

    hits: pd.Series[bool]
    words: str
    together: bool


def _with_simultaneous(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    n: ListSizes = None,
    *,
    alpha: float = 0.05,
    adjust: FamilyAdjustment | None = None,
    n_resamples: int | None = None,
    simultaneous: bool = True,
    **asked: Any,
) -> tuple[Any, Any]:
    """Return the comparison at each n, and the comparison at all n together."""
    if asked.get("of", "precision") != "precision":
        raise ValueError(
            f"of={asked['of']!r}: the plot shows precision. Omit of, or call compare()."
        )
    roles = roles_in(asked)
    asked |= {"alpha": alpha}
    count = len(measures_of(data, roles, every=False))
    pairs = max(count * (count - 1) // 2, 1)
    if b is not None:
        pairs = 1
    elif a is not None:
        pairs = max(count - 1, 1)
    together = None
    joined = asked.get("combine") or asked.get("average") is not None  # one test without draws
    # the plot shades the list sizes at which the order of ties decides
    with one_reading(), intervals_unread(pairs > 1), hushed("ties='shared'"):
        sizes = seen_of(data, n, roles)
        draws = n_resamples
        if draws is None and not joined:  # fast, but enough for the level
            affordable = int(_BUDGET / max(size_of(data) * pairs, 1))
            needed = np.ceil(pairs / check_share("alpha", alpha))
            draws = max(min(999, affordable), int(min(needed, 1e18)) - 1, 99)  # fits in memory
        table = compare(data, a, b, sizes, adjust=adjust, n_resamples=draws, **asked)
        if simultaneous and adjust is None and not joined:
            together = compare(data, a, b, shown(table), adjust="max-t", n_resamples=draws, **asked)
            together.attrs.setdefault("n_resamples", draws)
    return table, together


@plot_of(
    compare,
    "measure_a measure_b n precision_a precision_b difference p_value significant overlap",
    tables=_with_simultaneous,
)
def comparison(
    canvas: Canvas,
    table: pd.DataFrame,
    together: pd.DataFrame | None = None,
    /,
    *,
    log: bool | None = None,
) -> None:
    """Draw the precision of measures, and mark significant differences.

    Parameters
    ----------
    data : DataFrame or Dataset
        The data for :func:`rankeval_pd.compare`, or its result. A second table can follow a
        result: that of :func:`rankeval_pd.compare` with adjusted p-values.
    simultaneous : bool
        Option for data: whether to add a comparison adjusted by "max-t" over the visible list
        sizes. This option applies only if ``adjust`` is None.
    n_resamples : int, optional
        Option for data: the number of resamples, by default 999. For many candidates, the default
        is smaller so that plotting is fast, and the caption shows the number used.
    log : bool, optional
        As in :func:`precision`.

    Notes
    -----
    A single pair has three panels: the curves, a strip that marks significant list sizes, and the
    difference with its band. The bars in the strip have the color of the better measure. Pale bars
    show pointwise tests, and dark bars show simultaneous tests. The strip has one row per pair.
    For more than 20,000 candidates, about 4,000 values of n are tested and drawn, and each bar
    extends halfway to the next n. At most 2,000 are tested simultaneously.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": range(40, 0, -1), "t": range(40), "gold": [True] * 12 + [False] * 28}
    ... )
    >>> df.rankeval.plot.comparison("G2", "t").get_ylabel()
    'precision'
    """
    table = table.sort_values("n", kind="stable", ignore_index=True)
    pairs = [rows for _, rows in table.groupby(["measure_a", "measure_b"], sort=False)]
    findings = _findings(table, together)
    panels = _panels_below(canvas, len(pairs))
    sides = [
        table[[f"measure_{side}", "n", f"precision_{side}"]].set_axis(_CURVE, axis=1)
        for side in "ab"
    ]
    lists = pd.concat(sides).drop_duplicates(["measure", "n"])
    place = pd.factorize(lists["measure"], use_na_sentinel=False)[0]
    lists = lists.iloc[np.lexsort((lists["n"], place))]
    rows = draw_lists(canvas, lists, log)
    if panels:
        _draw_strips(canvas, panels[0], pairs, findings)
    if len(panels) > 1:
        _draw_difference(canvas, panels[1], pairs[0], together, rows)
    canvas.upwards()
    canvas.across("n")
    canvas.finish(ylabel="precision", xlabel=LENGTH)
    if not panels:
        return
    xlabel = LENGTH
    if canvas.size[0] < 283:
        xlabel = "n"
    for panel in (canvas.ax, *panels):  # only the last panel has labels on the x axis
        bottom = panel is panels[-1]
        panel.tick_params(axis="x", labelbottom=bottom, labelsize=font(canvas.ax, "tick"))
        panel.set_xlabel(xlabel * bottom, fontsize=font(canvas.ax, "label"))
    canvas.ax.tick_params(axis="x", length=0)


def _panels_below(canvas: Canvas, count: int) -> list[Any]:
    """Replace a panel with stacked panels that share the x axis; return those below the curves."""
    ax: Any = canvas.ax
    spec = ax.get_subplotspec()
    height = canvas.size[1]
    if spec is None:  # Axes at a position that was set manually
        return []
    share = min(_SHARE, max(count, 2) * _ROW / height)
    heights: Sequence[float] = (1.0 - share, share)
    if count == 1 and height >= _TALL:
        heights = _HEIGHTS
    sub = spec.subgridspec(len(heights), 1, height_ratios=heights, hspace=_GAP)
    ax.set_subplotspec(sub[0])
    return [ax.figure.add_subplot(sub[k], sharex=ax) for k in range(1, len(heights))]


def _findings(table: pd.DataFrame, together: Any) -> list[_Finding]:
    """Return the pointwise findings and the simultaneous findings over all n."""
    alpha = table.attrs.get("alpha")
    adjust = table.attrs.get("adjust")
    alone = table["significant"].astype(bool)
    if alpha and adjust:
        alone = table["p_value"] <= alpha
    test = TESTS.get(str(table.attrs.get("test")), "the test of the table")
    if alpha:
        test += f" at {percent_of(alpha)}"
    listed = [_Finding(alone, f"{test}, separately at each n", together=False)]
    if adjust:
        together = table
    if together is None:
        return listed
    keys = ["measure_a", "measure_b", "n"]
    other = table_of(together, " ".join([*keys, "significant"]), "compare with adjust=...")
    adjust = str(other.attrs.get("adjust"))
    alpha = other.attrs.get("alpha")
    words = ADJUSTED.get(adjust, adjust)
    if alpha:
        words += f" at {percent_of(alpha)}"
    draws = other.attrs.get("n_resamples")
    if adjust == "max-t" and draws is not None and draws < 999:
        words += f" ({draws} resamples)"
    tested = table[keys].reset_index().merge(other[[*keys, "significant"]]).set_index("index")
    words += ", simultaneously for all n"
    return [*listed, _Finding(tested["significant"].astype(bool), words, together=True)]


def _favored(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return the measure favored by each difference, significant or not."""
    ahead = rows["difference"] > 0
    return rows["measure_a"].where(ahead, rows["measure_b"]).to_numpy(dtype=object)


def _draw_strips(
    canvas: Canvas, strip: Any, pairs: list[pd.DataFrame], findings: list[_Finding]
) -> None:
    """Draw bars where differences are significant: a row per test of one pair, or per pair."""
    strip.patch.set_visible(False)
    ink = canvas.out
    single = len(pairs) == 1
    heights = len(findings) if single else len(pairs)
    for k, pair in enumerate(pairs):
        if "tie_decides" in pair and pair["cuts_tie"].any():  # unknown for means over all orders
            cut = _stretches(pair["n"].to_numpy(dtype=float), pair["cuts_tie"].to_numpy() > 0)
            rows = (0, heights) if single else (heights - 1 - k, 1)
            strip.broken_barh(cut, rows, color=ink.gray(0.14), linewidth=0, zorder=0.5)
            canvas.tell("Gray behind the bars: lists that end inside a block of equal scores.")
        if (pair["overlap"] == pair["n"]).all():  # one curve hides the other
            a, b = (canvas.text(pair[f"measure_{s}"].iloc[0]) for s in "ab")
            canvas.tell(f"{a} and {b} have identical lists at each n shown.")
        for number, finding in enumerate(findings):
            row = heights - 1 - (number if single else k)
            high = 0.6 if single or not finding.together else 0.36
            where = row + 0.5 * (1.0 - high), high
            tested = pair[pair.index.isin(finding.hits.index)]
            across = tested["n"].to_numpy(dtype=float)
            for side in "ab":
                measure = pair[f"measure_{side}"].iloc[0]
                better = finding.hits[tested.index].to_numpy() & (_favored(tested) == measure)
                if not better.any():
                    continue
                color = canvas.look.color(canvas.ax, measure)
                shade = color if finding.together else mixed_color(color, ink.bg, 0.45)
                if len(across) > FEW:  # the outline keeps narrow bars visible
                    bars = {"color": shade, "linewidth": 0.5}
                    strip.broken_barh(_stretches(across, better), where, **bars)
                    continue
                middle = np.full(np.count_nonzero(better), where[0] + 0.5 * high)
                look = {"marker": "s", "color": shade, "linewidth": 0}
                strip.scatter(across[better], middle, s=22, **look)
    strip.set_ylim(0, max(heights, 1))
    strip.set_yticks([])
    strip.spines[:].set_visible(False)
    strip.tick_params(length=0, which="both")
    strip.grid(visible=False)
    _name_strip_rows(canvas, strip, pairs, findings)
    for finding in findings:
        caption = "Pale bars: lists for which the measure in this color"
        if finding.together:
            caption = caption.replace("Pale", "Full")
        caption += f" is significantly better ({finding.words})."
        if canvas.alone and not finding.hits.any():
            caption += " No list in this plot meets the condition."
        canvas.tell(caption)


def _stretches(across: Any, hits: Any) -> list[tuple[float, float]]:
    """Return the start and width of each run of hits, extended halfway to both neighbors."""
    if len(across) == 1:
        return [(across[0] - 0.5, 1.0)] * int(hits[0])
    between = 0.5 * (across[1:] + across[:-1])
    ends = 2.0 * across[0] - between[0], 2.0 * across[-1] - between[-1]
    edge = np.concatenate([ends[:1], between, ends[1:]])
    first, after = np.flatnonzero(np.diff(hits, prepend=False, append=False)).reshape(-1, 2).T
    return [*zip(edge[first], edge[after] - edge[first], strict=True)]


def _name_strip_rows(
    canvas: Canvas, strip: Any, pairs: list[pd.DataFrame], findings: list[_Finding]
) -> None:
    """Write the better measure on the left of each row and the kind of test on the right."""
    ink = canvas.out
    size = font(canvas.ax, "note")
    width, height = canvas.size
    beside = {"xycoords": BESIDE, "va": "center", "fontsize": size}
    beside["annotation_clip"] = False
    room = 0.38 * width - 60.0
    texts = []
    for rows in pairs:
        a, b = (canvas.text(rows[f"measure_{s}"].iloc[0]) for s in "ab")
        texts.append(cut_text(f"{a} : {b}", size, room))
    if len(pairs) == 1:
        texts = [("each n separately", "all n jointly")[x.together] for x in findings]
        for k, text in enumerate(texts):
            texts[k] = text * (wide(text, size) < room and bool(findings[k].hits.any()))
    elif min(_SHARE, len(pairs) * _ROW / height) * height < 1.1 * LEAST * len(pairs):
        canvas.tell(f"Each of the {len(pairs)} rows of bars represents a pair, in table order.")
        return
    for k, text in enumerate(texts):
        if text:
            write(strip, text, (1.0, len(texts) - 0.5 - k), (4, 0), color=ink.note, **beside)
    if len(pairs) != 1:
        return
    better: set[Hashable] = set()
    for finding in findings:
        hits = finding.hits[finding.hits].index
        better |= {*_favored(pairs[0].loc[hits])}
    if len(better) == 1:
        name = next(iter(better))
        text = f"{cut_text(canvas.text(name), size, 0.16 * width)}\nbetter"
        beside |= {"color": ink.text(canvas.look.color(canvas.ax, name)), "ha": "right"}
        write(strip, text, (0.0, 0.5 * len(findings)), (-6, 0), **beside)


def _draw_difference(
    canvas: Canvas, low: Any, pair: pd.DataFrame, together: Any, rows: Mapping[Any, pd.DataFrame]
) -> None:
    """Draw the difference between the two curves, with the interval of the main table."""
    a, b = (pair[f"measure_{s}"].iloc[0] for s in "ab")
    found, words = pair, "interval, separately at each n"
    if together is not None and "ci_low" in together:
        found = table_of(together, "measure_a n", "")
        words = "simultaneous band for all n"
        found = found[(found["measure_a"] == a) & (found["measure_b"] == b)]
    elif pair.attrs.get("adjust") is not None:
        words = "interval, adjusted like the test"
    level = level_before(found.attrs)
    short = len(rows[a]) and rows[a]["n"].min() >= FIRST > pair["n"].min()
    if short:
        found = found[found["n"] >= FIRST]
    found = thin_table(found)
    part = Canvas(low, canvas.look, "comparison", alone=False)
    ink = part.ink
    part.rule(0.0)
    across = found["n"].to_numpy(dtype=float)
    if "ci_low" in found and found["ci_low"].notna().any():
        least, most = found[["ci_low", "ci_high"]].to_numpy(dtype=float).T
        draw = part.band if len(found) > FEW else part.bars
        draw(ink.fg, across, least, most)
        name = f"{canvas.text(a)} − {canvas.text(b)}"
        canvas.tell(f"Lower panel: {name} in percentage points, with the {level}{words}.")
        if len(found) > FEW:
            # wide intervals for short lists would flatten the rest
            bottom = min(np.nanquantile(least, 0.03), found["difference"].min())
            top = max(np.nanquantile(most, 0.97), found["difference"].max())
            low.set_ylim(bottom - 0.05 * (top - bottom), top + 0.05 * (top - bottom))
            if min(least.min(), -most.max()) < min(bottom, -top):
                canvas.tell("The band for short lists extends beyond the panel.")
    look = {"color": ink.fg, "linewidth": LINE, "zorder": 3, "label": "_difference"}
    if len(found) <= FEW:
        look |= {"marker": "o", "markersize": 3.5}
    low.plot(across, found["difference"], **look)
    part.frame(ylabel="difference\n(points)")
    set_ticks(low.yaxis, in_points, 4.0)
    set_ticks(low.xaxis, compact, 5.0)
    canvas.ax.figure.align_ylabels([canvas.ax, low])


# ---- Pairs of measures over n: odds ratios, and p-values for several tie-breaking orders
_MANY = 100  # with more values of n per pair, p-values are drawn as a band
_LEAST_P = 1e-5  # smaller p-values are drawn at the bottom edge


def _by_pair(canvas: Canvas, table: pd.DataFrame) -> dict[Hashable, pd.DataFrame]:
    """Return the rows for each pair of measures."""
    named = table[["measure_a", "measure_b"]].drop_duplicates().to_numpy(dtype=object)
    labels = {(a, b): f"{canvas.text(a)} : {canvas.text(b)}" for a, b in named}
    canvas.look = replace(canvas.look, labels=labels, order=list(labels))
    return by_name(table.assign(x=table["n"]), ["measure_a", "measure_b"])


@plot_of(regions.tie_sensitivity, "measure_a measure_b n p_min p_median p_max", clusters=False)
def tie_sensitivity(
    canvas: Canvas, table: pd.DataFrame, *, alpha: float = 0.05, log: bool | None = None
) -> None:
    """Draw the range of a comparison's p-value over different tie-breaking orders.

    Parameters
    ----------
    alpha : float
        Significance level at which to draw the horizontal line.
    log : bool, optional
        Whether the n axis is logarithmic; see :func:`precision`.

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
    ax = canvas.ax
    logarithmic = is_log(log, table["n"])
    p = table[["p_min", "p_max"]].to_numpy(dtype=float)
    least = max(float(np.min(p[p > 0.0], initial=1.0)), _LEAST_P)
    ax.set_yscale("log")
    pairs = _by_pair(canvas, table)
    canvas.choose({pair: -float(rows["p_median"].mean()) for pair, rows in pairs.items()}, "rank")
    canvas.across("n", log=logarithmic)
    for place, (pair, rows) in enumerate(pairs.items()):
        low, middle, high = (rows[f"p_{x}"].clip(lower=least) for x in ("min", "median", "max"))
        if len(rows) > _MANY:
            canvas.band(canvas.color(pair), rows["n"], low, high)
        else:
            ends = rows["n"], low, high
            canvas.bars(canvas.color(pair), *ends, place=place, count=len(pairs))
        size = 2 if len(rows) > _MANY else 4
        dots = {"marker": "o", "markersize": size, "markeredgewidth": 0, "linestyle": "none"}
        canvas.curve(pair, rows["n"], middle, **dots)
    orders = f"{table.attrs.get('n_keys') or 'the'} orders of equal scores"
    bars = "bars: the range from the smallest to the largest"
    canvas.tell(f"Dots: the median p-value over {orders}; {bars}.")
    if (p < least).any():
        canvas.tell(f"Marks at the bottom edge: p below {least:.0e}.")
    canvas.rule(alpha, f"p = {alpha:g}")
    bottom, top = ax.get_ylim()
    canvas.limits("y", bottom, min(top, 1.3))
    canvas.upwards(plainly, 5.0)
    canvas.across("n", log=logarithmic)
    canvas.finish(xlabel=LENGTH, ylabel="p-value")
