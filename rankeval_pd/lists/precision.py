"""Precision of n-best lists, with intervals and simultaneous bands."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from rankeval_pd import doors, errors, stats
from rankeval_pd.decisions import Average, average_lists
from rankeval_pd.doors import Answer, Candidates, Data, tabulate
from rankeval_pd.errors import check_numbers
from rankeval_pd.lists import groups
from rankeval_pd.lists.groups import ListPair, in_rows, list_weights, of_rows
from rankeval_pd.options import Capabilities, can, with_options, with_roles
from rankeval_pd.roles import BandOf, ListSizes, ProportionInterval, RankingRoles, Roles, Target
from rankeval_pd.stats import (
    INTERVALS,
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    Limits,
    Ranking,
    Size,
    bands,
    silent_division,
)
from rankeval_pd.tables import Columns, Keywords, Options

# ---- Precision of n-best lists with intervals (Evert 2004, sections 2 and 3.2)

LIST_COLUMNS = tuple(
    "measure n threshold tp precision recall lift ci_low ci_high tied tp_sd n_groups".split()
)
AVERAGED_COLUMNS = tuple(
    "measure n tp precision recall lift ci_low ci_high n_queries n_missing".split()
)
#: options that cannot stand together, and what to do instead
REFUSED = (
    *groups.of_all_groups("average", "ci target phi n"),
    ("groups", "phi", "The overdispersion is estimated from the groups: omit phi=."),
)


@Capabilities(
    rankings="How good is each list?",
    any_ties=True,
    ends=True,
    clusters=True,
    crossed=True,
    heads=True,
    short="measure n tp precision ci_low ci_high lift tied",
    details="threshold recall ci_low_best ci_high_best",
    layout="measure n",
    quantity="precision",
)
@with_roles
def nbest_precision(
    data: Data,
    n: ListSizes = None,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    target: Target = "nbest",
    phi: float = 1.0,
    average: Average | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return precision, recall and lift of n-best lists, with intervals.

    Parameters
    ----------
    data
    n
    ci
    level
    target
        The quantity that the interval covers. "nbest" means the precision of the best n / N of the
        candidates, a list whose threshold varies between samples. "region" treats the score of the
        n-th candidate as a fixed threshold, as in Evert (2004). For good rankings with n near the
        number of true positives, its interval is far too narrow for the list.
    phi
    average
        Whether to return one row for all groups in ``by`` (Dataset: all batch dimensions) that
        contain at least n candidates. "macro" averages over groups (recall and lift only over
        groups with positives). "micro" divides summed true positives by summed n. The groups are
        treated as a sample. The interval is Clopper and Pearson's for the effective number of
        candidates, with Student's quantile (Korn and Graubard).
    **roles
        ``gold``, ``measures``, ``by``, ``key``, ``lower_is_better``, ``ties``, ``missing``,
        ``rng``, ``dim``: column roles. See the page "Roles of the columns".

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n), unless there are fewer than n
        candidates: ``measure``, ``n``; ``tp``: true positives in the list; ``precision`` = tp / n,
        with limits ``ci_low``, ``ci_high``; ``lift`` = precision / (N+ / N); ``tied``: excluded
        candidates with the list's last score.

        ``details=True`` adds ``threshold``, the score of the n-th candidate; ``recall`` = tp / N+;
        ``ci_low_best``, ``ci_high_best``: the interval to report for the best measure at this n,
        simultaneous over all measures (Bonferroni). ``ties="expected"`` adds ``tp_sd``, the
        standard deviation of tp over orders of equal scores, and ``groups`` adds ``n_groups``, the
        groups in the list.

        With ``average``, ``tp`` is a sum, and ``n_queries`` and ``n_missing`` are the numbers of
        groups with and without a list of size n. ``missing="absent"`` pads short lists with
        irrelevant candidates, as is usual in search, so every group has a list.

    Warns
    -----
    RankevalWarning
        If there are fewer than 10 ``groups``.

    Notes
    -----
    With "nbest", the size of the list is divided by the ratio of the two variances. If the list
    contains at least 90% of the true positives, its precision also varies with N+, and ``ci_high``
    is at least the precision times the upper limit of the prevalence, over the prevalence.

    With ``groups``, groups rather than individual candidates are assumed to be independent. The
    size of the region is divided by the overdispersion between groups, and the interval uses
    Student's t (Korn and Graubard). The effective size is not an integer, so Wilson's interval
    replaces "clopper-pearson".

    The cost is O(N log N) per measure, and a microsecond per interval.

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, Eq. 1 (read "numerator" in the text as
    "denominator"), section 3.2, figures 1, 2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, False, True, False]})
    >>> df.rankeval.nbest_precision([1, 2])
      measure  n  tp  precision    ci_low   ci_high  lift  tied
    0      G2  1   1        1.0  0.022278  1.000000   2.0     0
    1      G2  2   1        0.5  0.012579  0.987421   1.0     0
    """
    chosen = Roles.of(roles)
    clustered = chosen.groups is not None
    kind = IntervalKind.of(ci, level, phi=phi, target=target, clustered=clustered)
    sizes = doors.check_n(n)
    refuse_options(sizes, kind, average, chosen)
    if average is not None:
        return averaged_lists(data, sizes, kind, average, roles, nbest_precision)
    return tabulate(
        data,
        roles,
        partial(
            doors.measure_rows, kernel=_nbest_columns, kind=kind, ties=chosen.ties, pooled=False
        ),
        (*LIST_COLUMNS, "ci_low_best", "ci_high_best"),
        can(nbest_precision),
        n=sizes,
        attrs={**kind._asdict(), "ties": chosen.ties},
    )


def refuse_options(
    sizes: doors.Sizes, kind: IntervalKind, average: str | None, chosen: Roles
) -> None:
    """Raise an error for options that cannot stand together."""
    passed = {
        "average": average,
        "ci": kind.ci != "clopper-pearson" or None,
        "groups": chosen.groups,
        "n": isinstance(sizes, doors.Shares) or None,  # lists of different sizes in each group
        "phi": kind.phi > 1.0 or None,
        "target": kind.target != "nbest" or None,
    }
    errors.refuse_combinations(passed, REFUSED)


def averaged_lists(
    data: Data,
    sizes: doors.Sizes,
    kind: IntervalKind,
    average: str,
    roles: Keywords,
    method: Any,
) -> Data:
    """Return the averages of n-best lists over groups, with limits of the method's quantity."""
    able = can(method, clusters=False)
    ties = Roles.of(roles).ties
    return tabulate(
        data,
        roles,
        partial(doors.measure_rows, kernel=_nbest_columns, kind=kind, ties=ties, pooled=True),
        AVERAGED_COLUMNS,
        able,
        n=sizes,
        combine=partial(average_lists, average=average, level=kind.level, of=able.quantity),
        attrs={**kind._asdict(), "ties": ties, "average": average, "ci": "korn-graubard"},
    )


def _nbest_columns(
    ranking: Ranking,
    candidates: Candidates,
    *,
    n: IntArray | None,
    kind: IntervalKind,
    ties: str,
    pooled: bool,
) -> Columns:
    """Return the columns (group, measure, n) of the n-best lists."""
    lists = ranking.nbest(n, ties)
    size = ranking.size
    pool = ranking.retrieved
    if n is None:
        n = ranking.every
    columns = columns_of_lists(lists, n, size, pool, candidates.sign, ties)
    if pooled:  # averages use no intervals of individual lists, but N and N+ of each pool
        return {**columns, "total": pool.total, "drawn": pool.positive, "positive": size.positive}
    levels = {"": kind.level, "_best": stats.level_of_each(kind.level, candidates.n_measures)}
    return columns | limits_of_lists(ranking, candidates, lists, n, ties, kind, levels)


def limits_of_lists(
    ranking: Ranking,
    candidates: Candidates,
    lists: stats.NBest,
    n: IntArray,
    ties: str,
    kind: IntervalKind,
    levels: Mapping[str, float],
) -> Columns:
    """Return the limits (group, measure, n) for precision at levels by column ending.

    With clusters, ``n_groups`` counts the groups in each list.
    """
    columns: Columns = {}
    sizes = np.broadcast_to(n, lists.tp.shape)
    exists = lists.exists
    distinct: list[Any] = [*dict.fromkeys(levels.values())]
    weight: dict[Any, Any] = dict.fromkeys(distinct, 1.0)
    if candidates.clusters is not None:
        weigh = partial(list_weights, target=kind.target, levels=distinct)
        weight = of_rows(weigh, ranking, candidates.clusters, n, exists, distinct)
        columns["n_groups"] = weight["n_groups"]
    elif kind.target == "nbest":
        variance = stats.nbest_spread(ranking.cumulated(ties), n, ranking.size.total)
        weight = dict.fromkeys(distinct, variance.effective(sizes) / sizes)
    limits = {}
    for level in distinct:
        own = kind._replace(level=level)
        weights = weight[level]
        low, high = own.columns(lists.tp * weights, sizes * weights, exists).values()
        if kind.target == "nbest":
            design: Any = 1.0
            if candidates.clusters is not None:
                design = weights
            whole = [x[..., np.newaxis] * design for x in ranking.size]
            with silent_division():
                held = lists.tp / ranking.size.positive[..., np.newaxis]
            high = stats.allow_for_positives(high, lists.tp / n, held, whole, own.limits)
        limits[level] = low, high
    for ending, level in levels.items():
        columns[f"ci_low{ending}"], columns[f"ci_high{ending}"] = limits[level]
    return columns


def columns_of_lists(
    lists: stats.NBest, n: IntArray, size: Size, drawn_from: Size, sign: FloatArray, ties: str
) -> Columns:
    """Return the columns (group, measure, n) of n-best lists without intervals."""
    columns = {
        "threshold": lists.threshold * sign[:, np.newaxis] + 0.0,
        "tp": lists.tp,
        "tied": lists.tied,
        "exists": lists.exists,
        **rates_of(lists.tp, n, size, drawn_from),
    }
    if ties == "expected":
        columns["tp_sd"] = lists.block.tp_sd(n)
    return columns


def rates_of(
    tp: FloatArray | IntArray, n: IntArray, size: Size, drawn_from: Size
) -> dict[str, FloatArray]:
    """Return precision, recall and lift, NaN if undefined.

    ``drawn_from`` are the candidates from which a random list is drawn.
    """
    with silent_division():
        precision = np.true_divide(tp, n)
        chance = np.true_divide(drawn_from.positive, drawn_from.total)
        return {
            "precision": precision,
            "recall": np.true_divide(tp, size.positive[..., np.newaxis]),
            "lift": precision / chance[..., np.newaxis],
        }


# --------------------------------------------- Intervals for precision (Evert 2004, section 3.2)


class Interval(NamedTuple):
    """Store confidence limits for precision as floats or arrays of equal shape."""

    ci_low: Any
    ci_high: Any


class IntervalKind(NamedTuple):
    """Store the kind, level and overdispersion of an interval."""

    ci: str
    level: float
    phi: float = 1.0
    target: str = "region"

    @classmethod
    def of(
        cls,
        ci: str,
        level: float,
        *,
        phi: float = 1.0,
        target: str = "region",
        clustered: bool = False,
    ) -> IntervalKind:
        """Check and return the kind of interval.

        For grouped candidates, the effective number of candidates is not an integer. Clopper and
        Pearson's interval would be wider than Wilson's interval without being exact.
        """
        if clustered and ci == "clopper-pearson":
            ci = "wilson"
        return cls(ci, errors.check_share("level", level), errors.check_phi(phi), target)

    def limits(self, tp: AnyArray, n: AnyArray) -> Limits:
        """Return limits for precision. Overdispersion reduces the effective list size."""
        return INTERVALS[self.ci](tp / self.phi, n / self.phi, self.level)

    def columns(self, tp: AnyArray, n: AnyArray, exists: BoolArray) -> dict[str, FloatArray]:
        """Return the columns of limits, NaN where lists do not exist."""
        limits = np.full((2, *exists.shape), np.nan)
        counts = tp[exists] / self.phi, n[exists] / self.phi
        limits[:, exists] = INTERVALS[self.ci](*counts, self.level)
        return {"ci_low": limits[0], "ci_high": limits[1]}


@with_options
def precision_interval(
    tp: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    phi: float = 1.0,
) -> Interval:
    """Return a confidence interval for precision from published numbers.

    Parameters
    ----------
    tp : int or array of int
        True positives among the accepted candidates.
    n : int or array of int
        Number of accepted candidates. ``n`` and ``tp`` are broadcast together.
    ci
    level
    phi : float
        Overdispersion from :func:`repetition` or :func:`dispersion_for`, at least 1. The interval
        is computed for tp / phi true positives among n / phi candidates.

    Returns
    -------
    Interval
        A named tuple ``(ci_low, ci_high)`` of floats or arrays. If n = 0, the limits are 0 and 1.

    Notes
    -----
    The interval covers the average precision of a *fixed* acceptance region. The last paragraph of
    section 3.2 in Evert (2004) explains the difference from an n-best list.

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, section 3.2 and footnote 12, which
    gives 35.7% to 44.4% for this example.

    Examples
    --------
    >>> import rankeval_pd
    >>> low, high = rankeval_pd.precision_interval(200, 500)
    >>> print(f"{low:.12f} {high:.12f}")
    0.356761372060 0.444428200757
    """
    kind = IntervalKind.of(ci, level, phi=phi)
    errors.check_together(tp=tp, n=n)
    tp, n = np.broadcast_arrays(tp, n)
    check_numbers("n", n, 0, whole=True)
    check_numbers("tp", tp, 0, n, whole=True)
    low, high = kind.limits(tp, n)
    if np.ndim(low) == 0:
        return Interval(float(low), float(high))
    return Interval(low, high)


def warn_of_reversed(worse: BoolArray) -> None:
    """Warn about measures that are worse than chance and may need lower_is_better."""
    if worse.any():
        errors.warn(
            f"in {int(worse.sum())} of {worse.size} lists, there are significantly fewer true"
            " positives than in random lists, so the measure may be reversed. Check whether"
            " lower_is_better should list it."
        )


@contextmanager
def intervals_unread(unread: bool = True) -> Iterator[None]:
    """Run a function without computing unneeded intervals."""
    token = INTERVALS_READ.set(not unread)
    try:
        yield
    finally:
        INTERVALS_READ.reset(token)


#: whether intervals are needed
INTERVALS_READ = ContextVar("read", default=True)


# ---- Simultaneous bands for precision curves and their differences

DIFFERENCE_COLUMNS = ("measure_a", "measure_b", "n", "difference", "band_low", "band_high")
_TOO_PRECISE = 0.9  # above this precision, coverage can fall below the level


@Capabilities(
    rankings="What holds for all n?",
    clusters=True,
    heads=True,
    layout="measure n",
    quantity="precision",
    interval="sup-t",
)
@with_roles
def precision_band(
    data: Data,
    n: ListSizes = None,
    *,
    of: BandOf = "precision",
    level: float = 0.95,
    n_resamples: int = 1000,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return a simultaneous confidence band for the curve of precision or recall.

    Parameters
    ----------
    data
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n up to 20,000 candidates. Larger data sets use a grid
        of about 1,000 sizes (``attrs["n_grid"]``): every n up to about 70, and then steps of 1%.
        Fewer sizes give a narrower band.
    of
        Quantity of the band. "recall" means the recall of the population's best n / N.
    level : float
        Probability that the band contains the average precision (or recall) of the n-best list at
        every n.
    n_resamples : int
        Number of random draws, at least level / (1 - level).
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per measure and n (Dataset: dimensions measure and n): ``measure``, ``n``,
        ``precision`` or ``recall``, ``band_low``, ``band_high``. The recall and its band are NaN
        without true positives.

    Warns
    -----
    RankevalWarning
        If a precision is above 0.9, because coverage can then be below ``level``.

    Notes
    -----
    Candidates are assumed to be a random sample. The band covers the precision of n-best lists.
    Unlike Evert's (2004) interval, the band includes the variance of the threshold. At each n, the
    limits are a Clopper-Pearson interval for an effective list size that matches this variance, at
    a level that follows from the largest deviation over all n (sup-t with Gaussian multipliers for
    each candidate's influence). The band for recall uses the interval from :func:`nbest_recall` in
    the same way. In simulations, coverage of 95% bands was at least 0.956
    (``tests/simulations/simultaneous.csv``). A draw costs O(number of list sizes) if n is None, and
    O(N) otherwise.

    References
    ----------
    * Evert (2004), COLING, https://aclanthology.org/C04-1136, end of section 3.2, identifies the
      two sources of variance.
    * Ash and Hughes-Oliver (2022), J. of Cheminformatics 14,
      https://doi.org/10.1186/s13321-022-00629-0, give the influence function of precision at n.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> df.rankeval.precision_band([100, 200], measures="good")
      measure    n  precision  band_low  band_high
    0    good  100       0.49  0.374009   0.606785
    1    good  200       0.32  0.252090   0.394029
    """
    sizes, chosen, drawing = checked_band(n, level, n_resamples, roles)
    able = can(precision_band, heads=chosen.groups is None)
    if of == "recall":
        able = can(precision_band, heads=False, clusters=False)
    return tabulate(
        data,
        roles,
        partial(_rows_of_bands, of=of, ties=chosen.ties, **drawing),
        ("measure", "n", of, "band_low", "band_high"),
        able,
        n=sizes,
        attrs={"quantity": of, "level": drawing["level"], "band": "sup-t"},
    )


def checked_band(
    n: Any, level: float, n_resamples: int, roles: Keywords
) -> tuple[doors.Sizes, Roles, Options]:
    """Return the list sizes, roles and draws of a band, and reject too few draws for the level."""
    level = errors.check_share("level", level)
    draws = errors.check_draws("n_resamples", n_resamples)
    needed = bands.draws_needed(level)
    if draws < needed:
        raise ValueError(
            f"n_resamples={draws} is too small for level={level!r}: too few draws lie beyond this"
            f" level. Pass n_resamples={needed} or more."
        )
    sizes = doors.check_n(n)
    chosen = Roles.of(roles)
    return sizes, chosen, {"level": level, "n_resamples": draws, "seed": chosen.draws}


def _rows_of_bands(
    candidates: Candidates, n: IntArray | None, *, of: str, ties: str, **drawing: Any
) -> Answer:
    """Return the rows of bands that are drawn, and the size of the grid if n is None."""
    few, facts = doors.few_or(n, candidates.sizes(n))
    drawing["at_once"] = n is None and few is not None
    total = len(candidates.measures) * len(candidates.group) * drawing["n_resamples"]
    with errors.progress_bar(total=total, what="drawing multipliers", unit="draws") as advance:
        drawing |= {"of": of, "ties": ties, "advance": advance}
        return doors.measure_rows(candidates, few, _band_columns, **drawing), facts


def _band_columns(
    ranking: Ranking,
    candidates: Candidates,
    *,
    n: IntArray | None,
    of: str,
    ties: str,
    **drawing: Any,
) -> Columns:
    """Return precision or recall, and its band: (group, measure, n)."""
    lists = ranking.nbest(n, ties)
    if n is None:
        n = ranking.every
    value = rates_of(lists.tp, n, ranking.size, ranking.size)[of]
    defined, limits = lists.exists, _precision_limits
    if of == "recall":  # undefined without true positives
        defined = defined & (ranking.size.positive > 0)[..., np.newaxis]
        limits = _recall_limits
    else:
        _warn_if_too_precise(value[lists.exists])
    compute = partial(limits, ranking, candidates, n, **drawing)
    band = in_rows(defined, ("band_low", "band_high"), compute)
    return {of: value, **band, "exists": lists.exists}


def _precision_limits(
    ranking: Ranking,
    candidates: Candidates,
    n: IntArray,
    row: tuple[int, ...],
    there: BoolArray,
    *,
    level: float,
    at_once: bool,
    **drawing: Any,
) -> dict[str, FloatArray]:
    """Return the band of precision for one ranking."""
    from scipy import special

    rising, back = np.unique(n[there], return_inverse=True)
    if candidates.clusters is not None:
        one = groups.ListMembers.of(ranking, row, candidates.clusters)
        low, high = groups.band(one, rising, level, **drawing)
        return {"band_low": low[back], "band_high": high[back]}
    ranked, keys = labels_by_rank(ranking, candidates, row)
    tp = np.append(0, np.cumsum(ranked))
    total = groups.whole_size(ranking.whole, ranked.size)
    spread = stats.nbest_spread(tp, rising, np.array(total))
    share = tp[rising] / rising
    ranks = (np.arange(1, ranked.size + 1),)
    sums = bands.Sums(
        bands.cells(ranked, ranks, rising, keys, ranking.whole),
        (spread.edge,),
        (share - spread.edge) * rising / total,
        spread.influence,
    )
    largest = bands.largest(sums, at_once=at_once, **drawing)
    within = 1.0 - 2.0 * float(special.ndtr(-bands.critical_value(largest, level)))
    size = spread.effective(rising)
    exact = partial(stats.clopper_pearson, level=within)
    low, high = exact(size * share, size)
    whole = [np.array([x]) for x in (total, ranking.size.positive[row])]
    with silent_division():
        held = tp[rising] / whole[1]
    high = stats.allow_for_positives(high, share, held, whole, exact)
    return {"band_low": low[back], "band_high": high[back]}


def labels_by_rank(
    ranking: Ranking, candidates: Candidates, row: tuple[int, ...]
) -> tuple[BoolArray, stats.Keys]:
    """Return the labels and the keys for draws of the candidates in one ranking, best first."""
    best_first = ranking.order[row][: ranking.here[row]]
    keys = np.broadcast_to(candidates.keys, ranking.score.shape)[row][best_first]
    return ranking.gold[row][best_first], keys


def _warn_if_too_precise(precision: FloatArray) -> None:
    if (precision > _TOO_PRECISE).any():
        errors.warn(
            f"precision reaches {precision.max():.3g}, and above {_TOO_PRECISE:g} the coverage of"
            " the band may be too low. Pass only larger values of n, or use the intervals from"
            " nbest_precision() at each n."
        )


def _recall_limits(
    ranking: Ranking,
    candidates: Candidates,
    n: IntArray,
    row: tuple[int, ...],
    there: BoolArray,
    *,
    level: float,
    **drawing: Any,
) -> Columns:
    """Return the band of recall for one ranking."""
    ranked, keys = labels_by_rank(ranking, candidates, row)
    rising, back = np.unique(n[there], return_inverse=True)
    low, high = bands.recall_band(ranked, rising, keys, level, **drawing)
    return {"band_low": low[back], "band_high": high[back]}


@Capabilities(
    rankings="What holds for all n?",
    clusters=True,
    heads=True,
    layout="pair n",
    quantity="precision",
    interval="sup-t",
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
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return a simultaneous band for the difference between two precision curves.

    Parameters
    ----------
    data
    a
    b
    n
        Sizes of the lists. None means every n, or a grid of sizes as in :func:`precision_band`.
    level
        Probability that the band contains the true difference at every n.
    n_resamples
        Number of random draws, at least level / (1 - level).
    **roles
        Column roles. See :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per pair and n (Dataset: dimensions pair and n): ``measure_a``, ``measure_b``,
        ``n``, ``difference`` = precision_a - precision_b, ``band_low``, ``band_high``.

    Warns
    -----
    RankevalWarning
        If a precision is above 0.9, because coverage can then be below ``level``.

    Notes
    -----
    One measure is better at every n for which the band excludes 0. Each pair has a separate band,
    with the method of :func:`precision_band`. The two rankings use the same multipliers, so shared
    candidates cancel out. In simulations, the coverage of 95% bands ranged from 0.961 to 0.98.
    ``compare(adjust="max-t")`` tests a stricter null hypothesis and can give different results at a
    few list sizes.

    References
    ----------
    Evert (2004), COLING, https://aclanthology.org/C04-1136, section 3.3, which makes a claim about
    all n up to 1250.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> found = df.rankeval.difference_band("good", "fair", range(50, 501))
    >>> found[found["band_low"] > 0]["n"].agg(["min", "max"]).tolist()
    [68, 500]
    """
    sizes, chosen, drawing = checked_band(n, level, n_resamples, roles)
    return tabulate(
        data,
        doors.only_pair(data, a, b, roles),
        partial(_rows_of_differences, a=a, b=b, ties=chosen.ties, **drawing),
        DIFFERENCE_COLUMNS,
        can(difference_band, heads=chosen.groups is None),
        n=sizes,
        attrs={"level": drawing["level"], "band": "sup-t"},
    )


def _rows_of_differences(
    candidates: Candidates,
    n: IntArray | None,
    *,
    a: Hashable,
    b: Hashable,
    ties: str,
    **drawing: Any,
) -> Answer:
    """Return one row per pair and n, and the size of the grid if n is None."""
    pairs = doors.pair_names(candidates.measures, a, b)
    few, facts = doors.few_or(n, candidates.sizes(n))
    if n is None and few is not None and candidates.cluster is None:
        drawing["at_once"] = True
    total = len(pairs) * len(candidates.group) * drawing["n_resamples"]
    with errors.progress_bar(total=total, what="drawing multipliers", unit="draws") as advance:
        kernel = partial(_difference_columns, advance=advance, **drawing)
        return doors.pair_rows(candidates, pairs, kernel, few, ties=ties), facts


def _difference_columns(lists: doors.PairRanks, n: IntArray, **drawing: Any) -> Columns:
    """Return the difference of precision and its band: (group, pair, n)."""
    compute = partial(_difference_of_pair, lists, n, **drawing)
    columns = in_rows(lists.exists, ("difference", "margin"), compute)
    difference, margin = columns["difference"], columns["margin"]
    return {
        "difference": difference,
        "band_low": np.maximum(difference - margin, -1.0),
        "band_high": np.minimum(difference + margin, 1.0),
    }


def _difference_of_pair(
    lists: doors.PairRanks,
    n: IntArray,
    row: tuple[int, ...],
    there: BoolArray,
    *,
    level: float,
    **drawing: Any,
) -> dict[str, FloatArray]:
    """Return the difference of precision of one pair, and half the width of its band."""
    pair = ListPair.of(lists, row)
    sizes = n[there]
    r = stats.nbest_regions(pair.rank_a, pair.rank_b, pair.gold, sizes)
    if pair.cluster is None:
        _warn_if_too_precise(np.maximum(r.tp_a, r.tp_b) / sizes)
    margins = difference_margins(pair, sizes, [level], **drawing)
    return {"difference": (r.tp_a - r.tp_b) / sizes, "margin": margins[0]}


def difference_margins(
    pair: ListPair,
    n: IntArray,
    levels: list[float],
    *,
    each: bool = False,
    tested: bool = False,
    **drawing: Any,
) -> FloatArray:
    """Return the half-width of a difference band as an array (level, n).

    With ``each``, the width is computed separately for each n, without draws. ``tested`` means that
    a test of several pairs chose the number of draws. If few of them would exceed the levels, rare
    quantiles are computed, or more draws are made for clusters.
    """
    rare = tested and (drawing["n_resamples"] + 1) * (1.0 - max(levels)) < bands.RARE
    rising, back = np.unique(n, return_inverse=True)
    if pair.cluster is not None:
        if rare:
            drawing["n_resamples"] = math.ceil(bands.RARE / (1.0 - max(levels)))
        return groups.margins(pair, rising, levels, each=each, **drawing)[:, back]
    ranks = (pair.rank_a, pair.rank_b)
    gold = pair.gold
    r = stats.nbest_regions(*ranks, gold, rising)
    only = rising - r.overlap
    tp_only = r.tp_a - r.tp_overlap, r.tp_b - r.tp_overlap
    spread = stats.difference_spread(*ranks, gold, pair.size, rising, only, tp_only)
    differ = only > 0
    margins = np.zeros((len(levels), rising.size))
    if differ.any():
        deviation = np.sqrt(spread.variance[differ]) / rising[differ]
        factors = [stats.z_of(level) for level in levels]
        if not each and rising.size > 1:
            edges = spread.edge_a[differ], spread.edge_b[differ]
            cells = bands.cells(gold, ranks, rising[differ], pair.keys, pair.whole)
            sums = bands.Sums(cells, edges, spread.center[differ], spread.influence[differ])
            if rare:
                factors = [*bands.rare_values(sums, levels, drawing["seed"])]
            else:
                largest = bands.largest(sums, **drawing)
                factors = [bands.critical_value(largest, level) for level in levels]
        margins[:, differ] = np.multiply.outer(factors, deviation)
    return margins[:, back]
