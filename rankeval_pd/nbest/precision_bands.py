"""Compute simultaneous bands for precision curves, and local precision."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Unpack

import numpy as np

from rankeval_pd.doors.pairs import PairRanks, only_pair
from rankeval_pd.doors.rankings import (
    Candidates,
    Rows,
    measure_rows,
    pair_names,
    pair_rows,
    tabulate,
)
from rankeval_pd.errors import check_count, check_share, warn
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.grids import few_or
from rankeval_pd.forms.rankings.values import check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles
from rankeval_pd.forms.roles.roles import ListSizes, ProportionInterval, RankingRoles, Roles
from rankeval_pd.memory import check_draws
from rankeval_pd.nbest import grouped_lists
from rankeval_pd.nbest.precision import IntervalKind
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.intervals.proportions import INTERVALS, z_of
from rankeval_pd.stats.rankings.ranking import Ranking, Whole, nbest_regions
from rankeval_pd.stats.rankings.swap_draws import Keys

# --------------- Simultaneous bands for precision curves and their differences

PRECISION_COLUMNS = ("measure", "n", "precision", "band_low", "band_high")
DIFFERENCE_COLUMNS = ("measure_a", "measure_b", "n", "difference", "band_low", "band_high")
_TOO_PRECISE = 0.9  # above this precision, coverage can fall below the level


@Capabilities(
    rankings="What holds for all n?", lists=True, clusters=True, heads=True, layout="measure n"
)
@with_roles
def precision_band(
    data: Data,
    n: ListSizes = None,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return a simultaneous confidence band for the precision curve.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n up to 20,000 candidates. Larger data sets use a grid
        of about 1,000 sizes (``attrs["n_grid"]``): every n up to about 70, and then steps of 1%.
        Fewer sizes give a narrower band.
    level : float
        Probability that the band contains the average precision of the n-best list at every n.
    n_resamples : int
        Number of random draws, at least level / (1 - level).
    progress : bool, optional
        Whether to show a progress bar. By default, the bar appears after two seconds.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``,
        ``precision``, ``band_low``, ``band_high``.

    Warns
    -----
    RankevalWarning
        If a precision is above 0.9, because coverage can then be below ``level``.

    Notes
    -----
    Candidates are assumed to be a random sample. The band covers the precision of n-best lists.
    Unlike Evert's (2004) interval, the band includes the variance of the threshold. At each n, the
    limits are a Clopper-Pearson interval for an effective list size that matches this variance. The
    level of the interval follows from the largest deviation over all n (sup-t with Gaussian
    multipliers for each candidate's influence). In simulations, coverage of 95% bands was at least
    0.956 (``tests/reference/simultaneous.csv``).

    After sorting, a draw costs O(number of list sizes) if n is None, and O(N) otherwise. A million
    candidates take one second, or two minutes with ``range(1, 1_000_001)``.

    References
    ----------
    Evert (2004), end of section 3.2, identifies the two sources of variance. J. R. Ash and J. M.
    Hughes-Oliver (2022), Confidence bands and hypothesis tests for hit enrichment curves, give the
    influence function of precision at n.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.precision_band([100, 200], measures="good")
      measure    n  precision  band_low  band_high
    0    good  100       0.49  0.374009   0.606785
    1    good  200       0.32  0.252090   0.394029
    """
    level = check_share("level", level)
    draws = enough(n_resamples, level)
    sizes = check_n(n)
    chosen = Roles.of(roles)
    drawing: dict[str, Any] = {"level": level, "n_resamples": draws, "seed": chosen.draws}
    attrs: dict[str, Any] = {"level": level, "band": "sup-t"}

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        few = few_or(sizes, candidates.sizes(n), chosen.ties, attrs)
        kernel = partial(
            _precision_band,
            n=few,
            ties=chosen.ties,
            at_once=few is not None and sizes is None,
            **drawing,
        )
        return rows_of_bands(candidates, kernel, few, draws, progress)

    able = can(precision_band, heads=chosen.groups is None)
    return tabulate(data, roles, question, PRECISION_COLUMNS, able, n=sizes, attrs=attrs)


def rows_of_bands(
    candidates: Candidates,
    kernel: Callable[..., dict[str, AnyArray]],
    n: IntArray | None,
    draws: int,
    progress: bool | None,
) -> Rows:
    """Return the rows of bands that are drawn, with a progress bar."""
    rankings = len(candidates.measures) * len(candidates.group)
    with progress_bar(
        progress, total=rankings * draws, what="drawing multipliers", unit="draws"
    ) as advance:
        along = {"n": candidates.sizes(n)}
        return measure_rows(candidates, partial(kernel, advance=advance), along)


def enough(n_resamples: Any, level: float) -> int:
    """Return the number of draws, and reject numbers too small for the level."""
    draws, needed = check_draws("n_resamples", n_resamples), bands.draws_needed(level)
    if draws < needed:
        raise ValueError(
            f"n_resamples={draws} is too small for level={level!r}: too few draws lie beyond this"
            f" level. Pass n_resamples={needed} or more."
        )
    return draws


def _precision_band(
    ranking: Ranking,
    candidates: Candidates,
    *,
    n: IntArray | None,
    ties: str,
    level: float,
    at_once: bool,
    **drawing: Any,
) -> dict[str, AnyArray]:
    """Return precision and its band: (group, measure, n)."""
    lists = ranking.nbest(n, ties)
    n = ranking.every if n is None else n
    draws = np.broadcast_to(candidates.keys, ranking.score.shape)
    precision = lists.tp / n
    _warn_if_too_precise(precision[lists.exists])
    limits = np.full((2, *precision.shape), np.nan)
    for row in np.ndindex(precision.shape[:-1]):
        exists = lists.exists[row]
        if not exists.any():
            continue
        if candidates.cluster is None:
            best_first = ranking.order[row][: ranking.here[row]]
            ranked, keys = ranking.gold[row][best_first], draws[row][best_first]
            limits[(slice(None), *row, exists)] = _precision_limits(
                ranked, keys, n[exists], level, ranking.whole, at_once=at_once, **drawing
            )
        else:
            one = grouped_lists.ListMembers.of(ranking, row, candidates.cluster[:, np.newaxis])
            rising, back = np.unique(n[exists], return_inverse=True)
            low, high = grouped_lists.band(one, rising, level, **drawing)
            limits[(slice(None), *row, exists)] = low[back], high[back]
    return {
        "precision": precision,
        "band_low": limits[0],
        "band_high": limits[1],
        "exists": lists.exists,
    }


def _precision_limits(
    ranked: BoolArray, keys: Keys, n: IntArray, level: float, whole: Whole | None, **drawing: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the band for one ranking, given the labels in rank order."""
    from scipy import special

    rising, back = np.unique(n, return_inverse=True)
    tp = np.concatenate([[0], np.cumsum(ranked)])
    total = ranked.size if whole is None else whole.total
    spread = bands.nbest_spread(tp, rising, np.array(total))
    share = tp[rising] / rising
    cells = bands.cells(ranked, (np.arange(1, ranked.size + 1),), rising, keys, whole)
    largest = bands.largest(
        cells,
        (spread.edge,),
        (share - spread.edge) * rising / total,
        spread.influence,
        **drawing,
    )
    within = 1.0 - 2.0 * float(special.ndtr(-bands.critical_value(largest, level)))
    size = spread.effective(rising)
    low, high = INTERVALS["clopper-pearson"](size * share, size, within)
    return low[back], high[back]


def _warn_if_too_precise(precision: FloatArray) -> None:
    if (precision > _TOO_PRECISE).any():
        warn(
            f"precision reaches {precision.max():.3g}, and above {_TOO_PRECISE:g} the coverage of"
            " the band may be too low. Pass only larger values of n, or use the intervals at each"
            " n with target='nbest'."
        )


@Capabilities(
    rankings="What holds for all n?", lists=True, clusters=True, heads=True, layout="pair n"
)
@with_roles
def difference_band(
    data: Data,
    a: Hashable = None,
    b: Hashable = None,
    n: ListSizes = None,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return a simultaneous band for the difference between two precision curves.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    a, b : names of measures, optional
        Measures to compare. Pass only ``a`` to compare one measure with every other measure. By
        default all pairs are compared. Each pair has a separate band.
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n, or a grid of sizes as in :func:`precision_band`.
    level : float
        Probability that the band contains the true difference at every n.
    n_resamples : int
        Number of random draws, at least level / (1 - level).
    progress : bool, optional
        Whether to show a progress bar. By default, the bar appears after two seconds.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per pair and n (Dataset: dimensions pair and n, coordinates measure_a and
        measure_b): ``measure_a``, ``measure_b``, ``n``, ``difference`` = precision_a - precision_b,
        ``band_low``, ``band_high``. For identical lists, the difference and its limits are 0.

    Warns
    -----
    RankevalWarning
        If a precision is above 0.9, because coverage can then be below ``level``.

    Notes
    -----
    One measure is better at every n for which the band excludes 0. With probability ``level``, the
    conclusions for all n are correct. The method is the same as in :func:`precision_band`. The two
    rankings use the same multipliers, so shared candidates cancel out. In simulations, the coverage
    of 95% bands ranged from 0.961 to 0.980. ``compare(adjust="max-t")`` tests a stricter null
    hypothesis and can give different results at a few list sizes.

    Each pair takes as long as a measure in :func:`precision_band`, at up to O(N) per draw.

    References
    ----------
    Evert (2004), section 3.3, which makes a claim about all n up to 1250.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> found = df.rankeval.difference_band("good", "fair", range(50, 501))
    >>> found[found["band_low"] > 0]["n"].agg(["min", "max"]).tolist()
    [68, 500]
    """
    level = check_share("level", level)
    draws = enough(n_resamples, level)
    sizes = check_n(n)
    chosen = Roles.of(roles)
    drawing: dict[str, Any] = {"level": level, "n_resamples": draws, "seed": chosen.draws}
    attrs: dict[str, Any] = {"level": level, "band": "sup-t"}

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        pairs = pair_names(candidates.measures, a, b)
        few = few_or(sizes, candidates.sizes(n), chosen.ties, attrs)
        at_once = few is not None and sizes is None and chosen.groups is None
        total = len(pairs) * len(candidates.group) * draws
        with progress_bar(
            progress, total=total, what="drawing multipliers", unit="draws"
        ) as advance:
            kernel = partial(_difference_columns, advance=advance, at_once=at_once, **drawing)
            return pair_rows(candidates, pairs, kernel, few, ties=chosen.ties)

    return tabulate(
        data,
        only_pair(data, a, b, roles),
        question,
        DIFFERENCE_COLUMNS,
        can(difference_band, heads=chosen.groups is None),
        n=sizes,
        attrs=attrs,
    )


def _difference_columns(
    lists: PairRanks, n: IntArray, *, level: float, at_once: bool, **drawing: Any
) -> dict[str, AnyArray]:
    """Return the difference of precision and its band: (group, pair, n)."""
    shape = lists.exists.shape
    difference, margin = np.full(shape, np.nan), np.full(shape, np.nan)
    if at_once:
        drawing["at_once"] = True
    for row in np.ndindex(shape[:-1]):
        exists = lists.exists[row]
        if not exists.any():
            continue
        a, b, gold = lists.of(row)
        r = nbest_regions(a, b, gold, n[exists])
        if lists.cluster is None:
            _warn_if_too_precise(np.maximum(r.tp_a, r.tp_b) / n[exists])
        difference[(*row, exists)] = (r.tp_a - r.tp_b) / n[exists]
        keys, cluster = lists.draws_of(row), lists.clusters_of(row)
        margin[(*row, exists)] = difference_margins(
            a, b, gold, n[exists], [level], keys, lists.whole, cluster, **drawing
        )[0]
    return {
        "difference": difference,
        "band_low": np.maximum(difference - margin, -1.0),
        "band_high": np.minimum(difference + margin, 1.0),
    }


def difference_margins(
    rank_a: IntArray,
    rank_b: IntArray,
    gold: BoolArray,
    n: IntArray,
    levels: list[float],
    keys: Keys,
    whole: Whole | None = None,
    cluster: IntArray | None = None,
    *,
    each: bool = False,
    **drawing: Any,
) -> FloatArray:
    """Return the half-width of a difference band as an array (level, n).

    With ``each``, the width is computed separately for each n, without draws.
    """
    rising, back = np.unique(n, return_inverse=True)
    if cluster is not None:
        margins = grouped_lists.margins(
            rank_a, rank_b, gold, cluster, rising, levels, whole, each=each, **drawing
        )
        return margins[:, back]
    r = nbest_regions(rank_a, rank_b, gold, rising)
    only = rising - r.overlap
    tp_only = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    total = np.array(gold.size if whole is None else whole.total)
    spread = bands.difference_spread(rank_a, rank_b, gold, total, rising, only, tp_only)
    differ = only > 0
    margins = np.zeros((len(levels), rising.size))
    if differ.any():
        deviation = np.sqrt(spread.variance[differ]) / rising[differ]
        factors = [z_of(level) for level in levels]
        if not each and rising.size > 1:
            edges = spread.edge_a[differ], spread.edge_b[differ]
            cells = bands.cells(gold, (rank_a, rank_b), rising[differ], keys, whole)
            largest = bands.largest(
                cells, edges, spread.center[differ], spread.influence[differ], **drawing
            )
            factors = [bands.critical_value(largest, level) for level in levels]
        margins[:, differ] = np.multiply.outer(factors, deviation)
    return margins[:, back]


# --------------------------------------------------- Precision around each rank

LOCAL_COLUMNS = ("measure", "n", "precision", "ci_low", "ci_high")


@Capabilities(rankings="How good is each list?", lists=True, heads=True, layout="measure n")
@with_roles
def local_precision(
    data: Data,
    window: int = 400,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return the precision of the candidates around each rank.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    window : int
        Even number of candidates. The window contains ranks n - window/2 + 1 to n + window/2.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval. See :func:`precision_interval`.
    level : float
        Confidence level of the interval at each n.
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n for which the window fits (Dataset: dimensions measure and n):
        ``measure``, ``n``, ``precision``, ``ci_low``, ``ci_high``.

    Notes
    -----
    The precision of an n-best list describes all candidates up to rank n. Local precision shows
    whether adding more candidates is worthwhile. The cost is O(N log N).

    References
    ----------
    Evert (2004), The UCS toolkit, evaluation graphs.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": range(6, 0, -1), "gold": [True, True, False, True, False, False]})
    >>> df.rankeval.local_precision(4)
      measure  n  precision    ci_low   ci_high
    0      G2  2       0.75  0.194120  0.993691
    1      G2  3       0.50  0.067586  0.932414
    2      G2  4       0.25  0.006309  0.805880
    """
    kind = IntervalKind.of(ci=ci, level=level)
    half = _half(window)
    ties = Roles.of(roles).ties

    def question(candidates: Candidates, _: IntArray | None) -> Rows:
        largest = candidates.sizes(None).size
        reach = min(half, largest + 1)  # the window must not extend beyond the last candidate
        n = np.arange(reach, largest - reach + 1)
        kernel = partial(_local_columns, n=n, half=reach, kind=kind, ties=ties)
        return measure_rows(candidates, kernel, {"n": n})

    attrs = {**kind._asdict(), "window": window}
    result = tabulate(data, roles, question, LOCAL_COLUMNS, can(local_precision), attrs=attrs)
    if not len(result) and len(data) and ties != "blocks":
        raise ValueError(
            f"window={window!r} exceeds the number of candidates. Pass a smaller even number."
        )
    return result


def _half(window: Any) -> int:
    size = check_count("window", window, 2)
    if size % 2:
        raise ValueError(
            f"window={window!r} is odd, but a window needs the same number of candidates on both"
            f" sides of the rank. Pass {size + 1}."
        )
    return size // 2


def _local_columns(
    ranking: Ranking,
    _: Candidates,
    *,
    n: IntArray,
    half: int,
    kind: IntervalKind,
    ties: str,
) -> dict[str, AnyArray]:
    """Return the precision of windows around n: (group, measure, n)."""
    lists = ranking.nbest(None, ties)
    upper = n + half - 1  # the list that ends with the window
    start = np.zeros_like(lists.tp[..., :1])
    up_to = np.concatenate([start, lists.tp], axis=-1)
    tp = up_to[..., n + half] - up_to[..., n - half]
    begins = np.concatenate([start == 0, lists.exists], axis=-1)[..., n - half]
    exists = lists.exists[..., upper] & begins
    limits = np.full((2, *tp.shape), np.nan)
    counts, back = np.unique(tp[exists], return_inverse=True)  # there are few distinct counts
    limits[:, exists] = np.array(kind.limits(counts, np.full(counts.size, 2 * half)))[:, back]
    precision = tp / (2.0 * half)
    return {"precision": precision, "ci_low": limits[0], "ci_high": limits[1], "exists": exists}
