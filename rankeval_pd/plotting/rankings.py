"""Plot the results of rankings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, cast

import numpy as np
import pandas as pd
import xarray as xr

from rankeval_pd.capabilities import one_reading
from rankeval_pd.chance.bounds import random_bound as bound_of
from rankeval_pd.chance.bounds import random_cdf as cdf_of
from rankeval_pd.chance.bounds import random_envelope
from rankeval_pd.curves import areas
from rankeval_pd.doors.candidates import Data
from rankeval_pd.errors import check_flag, check_share, checked_call, hushed
from rankeval_pd.lists import measure_ranks as measure_verdicts
from rankeval_pd.lists import ranges, recall, regions
from rankeval_pd.lists.comparison import compare
from rankeval_pd.lists.measure_ranks import RankCriterion, pairs_tested
from rankeval_pd.lists.precision import intervals_unread, nbest_precision, precision_band
from rankeval_pd.lists.repetition import repetition as repetition_of
from rankeval_pd.lists.repetition import repetition_samples
from rankeval_pd.plotting.canvas import SPARSE
from rankeval_pd.plotting.forests import (
    RANKED,
    draw_area,
    draw_mean_difference,
    draw_measure_ranks,
    draw_repetition,
    what_of,
)
from rankeval_pd.plotting.lists import (
    draw_comparison,
    draw_odds_ratios,
    draw_precision,
    draw_random_bound,
    draw_random_cdf,
    draw_recall_band,
    draw_tie_sensitivity,
)
from rankeval_pd.plotting.look import Look
from rankeval_pd.plotting.panels import (
    TESTS,
    Levels,
    RankingPlot,
    by_n,
    curves_of,
    is_table,
    of_data_or_table,
    parted,
    seen_of,
    shown,
    tidy,
)
from rankeval_pd.roles import (
    CUTTING,
    Across,
    Alternative,
    AreaKind,
    DifferenceInterval,
    FamilyAdjustment,
    ListSizes,
    PopulationKind,
    ProportionInterval,
    RecallBand,
    RegionTest,
    Roles,
    Target,
    measures_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# -------------------------------------------------------------------------------------------------
# Plots of rankings from data or a table: precision, comparisons, samples, ranks.

# --------------- Plots of rankings, from data or a table: precision, comparisons, repeated samples


@of_data_or_table(draw_precision, ("n", "precision", "lift"), "nbest_precision")
def precision(
    data: Data,
    n: ListSizes = None,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    target: Target = "region",
    phi: float = 1.0,
    simultaneous: bool = True,
    n_resamples: int = 1000,
    x: Across = "n",
    mark: Sequence[int] = (),
    relevant: float = 0.0,
    reference: str | Sequence[str] = ("random",),
    log: bool | None = None,
    intervals: bool | None = None,
    bands: bool | None = None,
    **options: Unpack[RankingPlot],
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

    Returns
    -------
    Axes

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
    look, roles = parted(options)
    with one_reading():
        sizes = seen_of(data, n, roles)
        table = nbest_precision(data, sizes, ci=ci, level=level, target=target, phi=phi, **roles)
        band = None
        names = list(dict.fromkeys(np.asarray(table["measure"]).tolist()))
        bright = Look(highlight=look.get("highlight")).highlighted or names
        single = len(bright) == 1 and np.unique(table["n"]).size > SPARSE and not intervals
        wanted = simultaneous and (bands or (bands is None and single))
        if wanted and Roles.of(roles).ties in CUTTING:
            # each measure has its own blocks, so no n is valid for all measures
            asked = sizes if Roles.of(roles).ties == "blocks" else shown(table)
            band = _quietly(
                precision_band, data, asked, level=level, n_resamples=n_resamples, **roles
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


def _quietly(function: Callable[..., Any], *asked: Any, **options: Any) -> Any:
    """Suppress the warning about a narrow band, because the caption contains it."""
    with hushed():
        return function(*asked, **options)


@of_data_or_table(draw_comparison, ("measure_a", "n", "precision_a", "significant"), "compare")
def comparison(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    n: ListSizes = None,
    *,
    test: RegionTest | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    adjust: FamilyAdjustment | None = None,
    n_resamples: int | None = None,
    level: float = 0.95,
    ci: DifferenceInterval = "score",
    target: Target = "region",
    phi: float = 1.0,
    simultaneous: bool = True,
    x: Across = "n",
    mark: Sequence[int] = (),
    relevant: float = 0.0,
    reference: str | Sequence[str] = (),
    overlap: bool = False,
    log: bool | None = None,
    first_run: bool = False,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw the precision of measures, and mark significant differences.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.compare` for any pairs of measures at several n. If you pass a result,
        you can add ``together`` and ``curves``. ``together`` is a result of
        :func:`rankeval_pd.compare` with adjusted p-values, or of
        :func:`rankeval_pd.difference_band`. ``curves`` is the result of
        :func:`rankeval_pd.nbest_precision`, required if ``x`` is not n or ``reference`` is given.
    a, b, n, test, alternative, alpha, adjust, n_resamples, level, ci, target, phi
        Options for data, as in :func:`rankeval_pd.compare`. By default, ``n_resamples`` is 999.
        For many candidates, the default is smaller so that plotting is fast, and the caption shows
        the number used.
    simultaneous : bool
        Option for data: whether to add a comparison adjusted by "max-t" over the visible list
        sizes. This option applies only if ``adjust`` is None.
    x : {"n", "share", "recall"}
        Quantity on the x axis; see :func:`precision`.
    mark : sequence of int
        Sizes of lists to mark; see :func:`precision`.
    relevant : float
        Smallest relevant difference. Smaller differences are not marked.
    reference : {"random", "ideal"} or sequence of these
        Reference curves to draw; see :func:`precision`.
    overlap : bool
        Whether to draw the percentage of shared candidates, with a scale on the right.
    log : bool, optional
        Whether the n axis is logarithmic; see :func:`precision`.
    first_run : bool
        Whether to mark the last n of the first significant range, as in Evert's (2004) figure 3.
        Only available for a single pair.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    A single pair has three panels: the curves, a strip that marks significant list sizes, and the
    difference with its band. The bars in the strip have the color of the better measure. Pale bars
    show pointwise tests, and dark bars show simultaneous tests. The strip has one row per pair.
    Compared lists always have the same size n. With x="recall", a bar is drawn at the recall of
    the better measure. For more than 20,000 candidates, about 4,000 values of n are tested and
    drawn, and each bar extends halfway to the next n. At most 2,000 are tested simultaneously.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame(
    ...     {"G2": range(40, 0, -1), "t": range(40), "gold": [True] * 12 + [False] * 28}
    ... )
    >>> df.rankeval.plot.comparison("G2", "t").get_ylabel()
    'precision'
    """
    look, roles = parted(options)
    asked: dict[str, Any] = {
        "test": test,
        "alternative": alternative,
        "alpha": alpha,
        "level": level,
        "ci": ci,
        "target": target,
        "phi": phi,
        **roles,
    }
    single = b is not None or len(measures_of(data, roles, every=False)) <= 2
    unread = hushed("target='region'") if single else intervals_unread()
    with one_reading(), unread, hushed("ties='shared'"):  # the plot shades these list sizes instead
        sizes = seen_of(data, n, roles)
        draws = n_resamples if n_resamples is not None else _draws(data, a, b, alpha, roles)
        table = compare(data, a, b, sizes, adjust=adjust, n_resamples=draws, **asked)
        together = curves = None
        if simultaneous and adjust is None and phi == 1.0:  # swap tests do not support phi
            together = compare(data, a, b, shown(table), adjust="max-t", n_resamples=draws, **asked)
            together.attrs.setdefault("n_resamples", draws)
        if x != "n" or reference:
            curves = curves_of(data, sizes, **roles)
    return draw_comparison(
        table,
        together,
        curves,
        x=x,
        log=log,
        mark=mark,
        relevant=relevant,
        reference=reference,
        overlap=overlap,
        first_run=first_run,
        **look,
    )


def _draws(data: Any, a: Hashable, b: Hashable, alpha: float, roles: Mapping[str, Any]) -> int:
    """Return a number of resamples that is fast but large enough for the level."""
    alpha = check_share("alpha", alpha)
    size = len(data) if isinstance(data, pd.DataFrame) else max(data.sizes.values(), default=1)
    count = len(measures_of(data, roles, every=False))
    pairs = 1
    if a is None:
        pairs = max(count * (count - 1) // 2, 1)
    elif b is None:
        pairs = max(count - 1, 1)
    affordable = int(_BUDGET / max(size * pairs, 1))
    needed = min(np.ceil(pairs / alpha), 1e18)  # too many to fit in memory
    return max(min(999, affordable), int(needed) - 1, 99)


_BUDGET = 1e8  # this product of candidates and resamples takes a few seconds


@of_data_or_table(
    draw_repetition, ("measure", "sd_expected", "sd_observed"), "repetition", clusters=False
)
def repetition(
    data: Data,
    threshold: float | Mapping[Hashable, float] | None = None,
    n: int | None = None,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    **options: Unpack[RankingPlot],
) -> Any:
    """Draw the distribution of precision over samples, with one panel per measure.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates from several samples, or the result of :func:`rankeval_pd.repetition`. If
        you pass a result, also pass ``samples``, the result of
        :func:`rankeval_pd.repetition_samples` for the same measures.
    threshold, n, ci, level
        Options for data, as in :func:`rankeval_pd.repetition`.
    **look

    Returns
    -------
    array of Axes

    Notes
    -----
    Each panel is a histogram of the precision over samples. The colored curve is a normal
    distribution with the observed standard deviation. The gray curve is a normal distribution with
    the standard deviation of the binomial model (Evert 2004, Eq. 4). All panels have the same
    scales, and each panel shows the ratio of observed to expected variation.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankeval_pd
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"G2": rng.random(900), "gold": rng.random(900) < 0.3})
    >>> df["sample"] = np.arange(900) % 9
    >>> axes = df.rankeval(by="sample").plot.repetition(n=20)
    >>> len(axes)
    1
    """
    look, roles = parted(options)
    with one_reading():
        asked: dict[str, Any] = {"ci": ci, "level": level, **roles}
        table = repetition_of(data, threshold, n, **asked)
        samples = repetition_samples(data, threshold, n, **asked)
    return draw_repetition(table, samples, **look)


# -------------------------------------------------------------------------------------------------
# Plots of measure ranks, and plots that show measures in the same form as systems.

Picture = TypeVar("Picture", bound=Callable[..., Any])
_PAIRS = ("measure_a", "measure_b", "difference", "p_value")


@of_data_or_table(draw_measure_ranks, RANKED, "measure_ranks")
def measure_ranks(
    data: Data,
    n: ListSizes = None,
    *,
    kind: AreaKind | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    n_resamples: int | None = None,
    level: float = 0.95,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw the value of each measure with its interval and rank.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.measure_ranks`, or of :func:`rankeval_pd.summary` for candidates.
    n, kind, adjust, n_resamples, level
        Options for data, as in :func:`rankeval_pd.measure_ranks`. Each n has its own panel.
    **look

    Returns
    -------
    Axes

    Notes
    -----
    Each dot marks a measure's value, and each line shows its unadjusted interval. The numbers
    on the right are the value, the interval and the rank limits. A bar on the right connects
    measures that do not differ significantly and therefore share a letter in the ``letters``
    column. A measure is in color if no other measure is significantly better. Two measures with
    overlapping intervals can still differ significantly, because both rank the same candidates.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> ax = df.rankeval.plot.measure_ranks(50)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.texts][-3:]
    ('precision, n = 50', ['1', '2', 'rank'])
    """
    look, roles = parted(options)
    table = measure_verdicts.measure_ranks(
        data,
        n,
        kind=kind,
        adjust=adjust,
        n_resamples=n_resamples,
        level=level,
        **roles,
    )
    return cast("Axes", draw_measure_ranks(table, **look))


def of_measures_too(picture: Picture) -> Picture:
    """Make a plot function for system pairs also accept measure pairs."""

    @checked_call
    @functools.wraps(picture)
    def drawn(data: Any, *args: Any, **options: Any) -> Any:
        if is_table(data, RANKED):
            raise ValueError(
                "table contains ranks of measures but no pairs. Pass the data with n=... or"
                " kind=..., or the result of compare(adjust='max-t') or compare_area."
            )
        _check_asked(data, options)
        return picture(as_systems(data) if is_table(data, _PAIRS) else data, *args, **options)

    return cast(Picture, drawn)


def _check_asked(data: Any, options: Mapping[str, Any]) -> None:
    """Raise a ValueError if candidates are passed without n or kind."""
    if any(options.get(name) is not None for name in ("n", "kind", "measures")):
        return
    names = getattr(data, "columns", getattr(data, "variables", ()))
    if options.get("gold") is not None or "gold" in names:
        raise ValueError(
            "n=None, kind=None: rankings need a criterion. Pass n=..., the size of the lists, or"
            " kind='ap' or 'roc'; if 'gold' is a system scored on test items, rename it."
        )


def pairs_of_measures(
    data: Any, n: ListSizes, kind: Any, adjust: Any, asked: Mapping[str, Any]
) -> Any:
    """Return tests of all measure pairs in the same form as tests of system pairs.

    ``asked`` contains the column roles and the options for the tests. Only three of these
    options apply to rankings.
    """
    ranked: dict[str, Any] = {"n_resamples": None, "alpha": 0.05}
    roles: dict[str, Any] = {}
    for name, given in asked.items():
        if name not in {*TESTS, "a", "b"}:
            roles[name] = given
        elif name not in ranked and given is not None and given != TESTS.get(name):
            raise ValueError(
                f"{name}={given!r} applies only to systems scored on test items, but n and kind"
                f" apply to rankings. Omit {name}; choose measures with measures=[...]."
            )
        else:
            ranked[name] = given
    options = RankCriterion.of(
        n,
        kind,
        adjust,
        ranked["n_resamples"],
        1.0 - check_share("alpha", ranked["alpha"]),
        None,
    )
    return as_systems(pairs_tested(data, options, roles))


# ------------------------------------------------- Measure pairs in plots that compare systems

# columns for each side of a pair: in tables of pairs, compare and compare_area
_SCORES = ("value", "precision", "area")


def as_systems(table: pd.DataFrame | xr.Dataset) -> pd.DataFrame:
    """Return pairs of measures in the columns for pairs of systems, with n as a group column."""
    needed = ("measure_a", "measure_b", "difference", "p_value")
    frame = tidy(table, needed, "compare, or of compare_area")
    score = next((name for name in _SCORES if f"{name}_a" in frame), None)
    if score is None:
        raise ValueError(
            "table has neither the columns precision_a and precision_b nor area_a and area_b. Pass"
            " the result of compare or compare_area with details=True, or the data."
        )
    frame = by_n(frame, "measure_a")
    kind = frame.attrs.get("kind", "roc" if score == "area" else None)
    before = list(frame.columns[: list(frame.columns).index("measure_a")])
    renamed = {
        "measure_a": "system_a",
        "measure_b": "system_b",
        f"{score}_a": "score_a",
        f"{score}_b": "score_b",
        "difference": "gain",
        "p_value": "p_value",
        **{x: x for x in ("p_adjusted", "ci_low", "ci_high") if x in frame},
    }
    result = frame[[*before, *renamed]].rename(columns=renamed)
    result.attrs = {**frame.attrs, "kind": kind}
    result.attrs["what"] = what_of(result.attrs)
    return result


# -------------------------------------------------------------------------------------------------
# Plots of random rankings, and of estimates with intervals.

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
    return draw_area(areas.area(data, kind, level=level, **roles), sort=sort, **look)


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
    draw_odds_ratios,
    ("measure_a", "n", "odds_ratio", "odds_ratio_mle"),
    "odds_ratios",
    clusters=False,
)
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
    table = ranges.odds_ratios(data, a, b, n, level=level, **roles)
    return draw_odds_ratios(table, log=log, **look)


@of_data_or_table(
    draw_tie_sensitivity,
    ("measure_a", "n", "p_min", "p_median", "p_max"),
    "tie_sensitivity",
    clusters=False,
)
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
    table = regions.tie_sensitivity(data, a, b, n, n_keys=n_keys, **roles)
    table.attrs.setdefault("n_keys", n_keys)
    return draw_tie_sensitivity(table, alpha=alpha, log=log, **look)


@of_data_or_table(
    draw_mean_difference,
    ("measure_a", "n_first", "n_last", "difference"),
    "mean_difference",
    clusters=False,
)
def mean_difference(
    data: Data,
    a: Hashable,
    b: Hashable,
    n: Any,
    *,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    n_resamples: int = 9999,
    level: float = 0.95,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw the mean difference between precision curves, and the difference at each n.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label, or the result of
        :func:`rankeval_pd.mean_difference`. If you pass a result, you can add ``differences``, the
        result of :func:`rankeval_pd.compare` for the same pair.
    a, b, n, alternative, n_resamples, level
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
        table = ranges.mean_difference(
            data,
            a,
            b,
            n,
            alternative=alternative,
            n_resamples=n_resamples,
            level=level,
            **roles,
        )
        with hushed():  # the mean difference has already raised the warning
            curve = compare(data, a, b, _drawn_sizes(n), **roles)
    return draw_mean_difference(table, curve, **look)


def _drawn_sizes(n: Any) -> Any:
    """Return the list sizes to plot."""
    if n is None or not np.iterable(n):
        return n
    sizes = np.asarray(list(n))
    most = min(2000, sizes.size)
    return [int(x) for x in sizes[np.linspace(0, sizes.size - 1, most).astype(int)]]
