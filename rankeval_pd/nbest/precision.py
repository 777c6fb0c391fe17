"""Compute the precision of n-best lists, with intervals (Evert 2004, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from rankeval_pd.decisions.averages import of_lists
from rankeval_pd.decisions.verdicts import GROUP
from rankeval_pd.doors.rankings import Candidates, Rows, measure_rows, tabulate
from rankeval_pd.errors import (
    brief,
    check_at_least_one,
    check_choice,
    check_share,
    check_together,
    hushed,
    warn,
    warn_of_thresholds,
)
from rankeval_pd.forms.out.averages import Average
from rankeval_pd.forms.rankings.candidates import Data
from rankeval_pd.forms.rankings.values import check_n
from rankeval_pd.forms.roles.declarations import Capabilities, can, with_roles
from rankeval_pd.forms.roles.options import with_options
from rankeval_pd.forms.roles.roles import ListSizes, ProportionInterval, RankingRoles, Roles, Target
from rankeval_pd.nbest.grouped_lists import check_joined, weights
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import bands
from rankeval_pd.stats.intervals.proportions import INTERVALS
from rankeval_pd.stats.rankings.ranking import Ranking, Size
from rankeval_pd.stats.significance.adjust import level_of_each

# -------------------------------------------------------------------------------------------------
# Precision of n-best lists with intervals (Evert 2004, sections 2 and 3.2).

_NBEST_COLUMNS = (
    "threshold",
    "tp",
    "precision",
    "recall",
    "lift",
    "ci_low",
    "ci_high",
    "tied",
)
AVERAGED_COLUMNS = (
    "measure", "n", "tp", "precision", "recall", "lift", "ci_low", "ci_high", "n_queries",
    "n_missing",
)  # fmt: skip


@Capabilities(
    rankings="How good is each list?", lists=True, any_ties=True, ends=True, clusters=True,
    crossed=True, heads=True,
    short="measure n tp precision ci_low ci_high lift tied", layout="measure n")  # fmt: skip
@with_roles
def nbest_precision(
    data: Data,
    n: ListSizes = None,
    *,
    ci: ProportionInterval = "clopper-pearson",
    level: float = 0.95,
    target: Target = "region",
    phi: float = 1.0,
    average: Average | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return precision, recall and lift of n-best lists, with intervals.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label.
    n : int, sequence of int, range or None
        Sizes of the lists. None means every n from 1 to the number of candidates.
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval for precision. See :func:`precision_interval`.
    level : float
        Confidence level of each individual interval.
    target : {"region", "nbest"}
        The quantity that the interval covers. "region" treats the score of the n-th candidate as a
        fixed threshold, as in Evert (2004). "nbest" includes the variance of this threshold. For
        good rankings with n near the number of true positives, "nbest" variances are many times
        larger.
    phi : float
        Overdispersion from :func:`repetition`, at least 1. Larger values widen the interval.
    average : {None, "macro", "micro"}
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
        One row per measure and n (Dataset: dimensions measure and n). Groups and measures with
        fewer than n candidates have no row for n.

        * ``measure``, ``n``: the measure and the size of the list;
        * ``threshold``: score of the n-th candidate;
        * ``tp``: true positives in the list;
        * ``precision``: tp / n; ``recall``: tp / N+; ``lift``: precision / (N+ / N), or NaN without
          true positives;
        * ``ci_low``, ``ci_high``: confidence limits for precision;
        * ``tied``: number of excluded candidates with the score ``threshold``, which is above 0 if
          the list ends inside a tie;
        * ``tp_sd``, with ``ties="expected"`` only: standard deviation of the true positives over
          orders of equal scores (``tp`` is then the mean over the orders);
        * ``n_groups``, with ``groups`` only: number of groups with candidates in the list;
        * ``ci_low_best``, ``ci_high_best``: the interval to report for the best measure at this n,
          simultaneous over all measures (Bonferroni).

        With ``average``, ``tp`` is a sum, ``threshold`` and ``tied`` are omitted, and ``n_queries``
        and ``n_missing`` are the numbers of groups with and without a list of size n.
        ``missing="absent"`` pads short lists with irrelevant candidates, as is usual in search, so
        every group has a list. Use :func:`per_query` to find runs that end early.

    Warns
    -----
    RankevalWarning
        If target="region" and the precision variance for a list of 10 or more candidates is over
        1.6 times the variance for a fixed threshold, or if there are fewer than 10 ``groups``.

    Raises
    ------
    ValueError, TypeError, KeyError
        If a column for a role is missing, a score is missing, or n is not a valid list size.

    Notes
    -----
    With ``groups``, groups rather than individual candidates are assumed to be independent. The
    size of the region is divided by the overdispersion between groups, and the interval uses
    Student's t (Korn and Graubard). The effective size is not an integer, so Wilson's interval
    replaces "clopper-pearson". Grouped intervals cost O(groups) per n.

    Sorting costs O(N log N) per measure. Each interval takes about a microsecond. Intervals for
    every n among a million candidates take one second.

    References
    ----------
    Evert (2004), Eq. 1 (read "numerator" in the text as "denominator"), section 3.2, figures 1, 2.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"G2": [9.1, 7.4, 3.3, 0.2], "gold": [True, False, True, False]})
    >>> df.rankeval.nbest_precision([1, 2])
      measure  n  tp  precision    ci_low   ci_high  lift  tied
    0      G2  1   1        1.0  0.025000  1.000000   2.0     0
    1      G2  2   1        0.5  0.012579  0.987421   1.0     0
    """
    chosen = Roles.of(roles)
    clustered = chosen.groups is not None
    kind = IntervalKind.of(ci=ci, level=level, target=target, phi=phi).of_groups(clustered)
    sizes, ties = check_n(n), chosen.ties
    if clustered and kind.phi > 1.0:
        raise ValueError(
            f"phi={phi:g} with groups: the overdispersion is estimated from the groups. Omit one of"
            " the two."
        )
    columns: tuple[str, ...] = ("measure", "n", *_NBEST_COLUMNS)
    if ties == "expected":
        columns += ("tp_sd",)
    if clustered:
        columns += ("n_groups",)
    columns += ("ci_low_best", "ci_high_best")
    if average is not None:
        only = {"ci": (ci, "clopper-pearson"), "target": (target, "region"), "phi": (phi, 1.0)}
        check_joined(False, average, sizes, only)
        columns = AVERAGED_COLUMNS

    def question(candidates: Candidates, n: IntArray | None) -> Rows:
        kernel = partial(
            _nbest_columns,
            n=n,
            kind=kind,
            ties=ties,
            best=level_of_each(kind.level, len(candidates.measures)),
        )
        rows = measure_rows(candidates, kernel, {"n": candidates.sizes(n)})
        return rows if average is None else _with_pools(rows, candidates)

    noted = {**kind._asdict(), "ties": ties}
    combine = None
    if average is not None:
        noted |= {"average": average, "ci": "korn-graubard"}
        combine = of_lists(average, kind.level)
    # averages do not use the intervals for individual lists
    with nullcontext() if average is None else intervals_unread():
        return tabulate(
            data,
            roles,
            question,
            columns,
            can(nbest_precision, clusters=average is None),
            n=sizes,
            combine=combine,
            attrs=noted,
        )


def _with_pools(rows: Rows, candidates: Candidates) -> Rows:
    """Add N and N+ of each list's pool, for averages over groups."""
    retrieved, positives = candidates.rankings().retrieved, candidates.positives()
    group = np.searchsorted(candidates.group, rows[GROUP])
    at = group, rows["measure"]
    pools = {"total": retrieved.total, "drawn": retrieved.positive, "positive": positives}
    return {**rows, **{name: counts[at] for name, counts in pools.items()}}


def _nbest_columns(
    ranking: Ranking,
    candidates: Candidates,
    *,
    n: IntArray | None,
    kind: IntervalKind,
    ties: str,
    best: float,
) -> dict[str, AnyArray]:
    """Return the columns (group, measure, n) of the n-best lists."""
    lists = ranking.nbest(n, ties)
    every = ranking.every if n is None else n
    sizes = np.broadcast_to(every, lists.tp.shape)
    columns: dict[str, AnyArray] = {}
    weight: FloatArray | float = 1.0
    of_best: FloatArray | float | None = None
    if candidates.cluster is not None:
        cluster = candidates.cluster[:, np.newaxis]
        weight, columns["n_groups"], ratio = weights(
            ranking, cluster, every, lists.exists, target=kind.target, level=kind.level
        )
        with hushed("groups"):
            of_best, *_ = weights(
                ranking, cluster, every, lists.exists, target=kind.target, level=best
            )
    else:
        spread = bands.nbest_spread(ranking.cumulated(ties), every, ranking.size.total)
        if kind.target == "nbest":
            weight = spread.effective(sizes) / sizes
        ratio = spread.ratio
    if kind.target == "region":
        long = lists.exists & (sizes >= LEAST)
        warn_of_thresholds(ratio, sizes, long, "precision of the n-best list")
    shares = partial(
        shares_of,
        lists.tp,
        sizes,
        ranking.size,
        exists=lists.exists,
        drawn_from=ranking.retrieved,
    )
    columns |= shares(kind, weight=weight)
    limits_of_best = columns
    if best != kind.level:
        of_best = weight if of_best is None else of_best
        limits_of_best = shares(kind._replace(level=best), weight=of_best)
    for end in ("ci_low", "ci_high"):
        columns[f"{end}_best"] = limits_of_best[end]
    sign = candidates.sign[:, np.newaxis]
    columns |= {
        "threshold": lists.threshold * sign + 0.0,
        "tp": lists.tp,
        "tied": lists.tied,
        "exists": lists.exists,
    }
    if ties == "expected":
        columns["tp_sd"] = lists.block.tp_sd(every)
    return columns


# --------------------------------------------- Intervals for precision (Evert 2004, section 3.2)

TARGETS = ("region", "nbest")
LEAST = 10  # the variance for shorter lists is unreliable


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
    def of(cls, *, ci: str, level: float, phi: float = 1.0, target: str = "region") -> IntervalKind:
        """Check and return the kind of interval."""
        check_choice("ci", ci, INTERVALS)
        check_choice("target", target, TARGETS)
        return cls(ci, check_share("level", level), check_at_least_one("phi", phi), target)

    def of_groups(self, clustered: bool) -> IntervalKind:
        """Return the kind of interval for a fractional effective number of candidates.

        For grouped candidates, Clopper and Pearson's interval would be wider than Wilson's interval
        without being exact.
        """
        return self._replace(ci="wilson") if clustered and self.ci == "clopper-pearson" else self

    def limits(self, tp: AnyArray, n: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Return limits for precision. Overdispersion reduces the effective list size."""
        return INTERVALS[self.ci](tp / self.phi, n / self.phi, self.level)


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
    ci : {"clopper-pearson", "wilson", "jeffreys", "midp", "blaker"}
        Kind of interval. "clopper-pearson" (as in Evert 2004) and the shorter "blaker" have at
        least the nominal coverage. The average coverage of the other intervals is close to the
        nominal level.
    level : float
        Confidence level, between 0 and 1.
    phi : float
        Overdispersion from :func:`repetition` or :func:`dispersion_for`, at least 1. The interval
        is computed for tp / phi true positives among n / phi candidates.

    Returns
    -------
    Interval
        A named tuple ``(ci_low, ci_high)`` of floats or arrays. If n = 0, the limits are 0 and 1.

    Raises
    ------
    ValueError
        If a count is negative or not an integer, or if tp exceeds n.

    Notes
    -----
    The interval covers the average precision of a *fixed* acceptance region. The last paragraph of
    section 3.2 in Evert (2004) explains the difference from an n-best list. Relative errors are
    below 1e-12, or below 1e-11 for more than a hundred million candidates. Each interval takes
    about a microsecond.

    References
    ----------
    Evert (2004), section 3.2 and footnote 12, which gives 35.7% to 44.4% for this example.

    Examples
    --------
    >>> import rankeval_pd
    >>> low, high = rankeval_pd.precision_interval(200, 500)
    >>> print(f"{low:.12f} {high:.12f}")
    0.356761372060 0.444428200757
    """
    kind = IntervalKind.of(ci=ci, level=level, phi=phi)
    check_together(tp=tp, n=n)
    tp, n = np.broadcast_arrays(tp, n)
    for name, values in (("tp", tp), ("n", n)):
        if (
            values.dtype.kind not in "iuf"
            or not (np.isfinite(values) & (values >= 0) & (values == np.floor(values))).all()
        ):
            raise ValueError(
                f"{name}={brief(values)}: pass counts, which are whole numbers of at least 0."
            )
    # "blaker" takes this many steps; float64 represents all integers up to 2**53
    most = 10**12 if ci == "blaker" else 2**53
    if (n >= most).any():
        raise ValueError(
            f"n={brief(n)}: with ci={ci!r}, n must be below {most:,}. Pass a smaller n."
        )
    if (tp > n).any():
        raise ValueError(
            f"tp={brief(tp)} exceeds n={brief(n)}, but a list cannot contain more true positives"
            " than candidates. Pass tp before n."
        )
    low, high = kind.limits(tp, n)
    return Interval(float(low), float(high)) if np.ndim(low) == 0 else Interval(low, high)


def shares_of(
    tp: FloatArray | IntArray,
    n: IntArray,
    size: Size,
    kind: IntervalKind,
    *,
    exists: BoolArray,
    weight: FloatArray | float = 1.0,
    drawn_from: Size | None = None,
) -> dict[str, FloatArray]:
    """Return precision, recall, lift and limits for precision, NaN if undefined.

    ``weight`` is a candidate's weight in the limits. ``drawn_from`` is the number of candidates
    from which a random list is drawn.
    """
    positive = size.positive[..., np.newaxis]
    pool = [x[..., np.newaxis] for x in drawn_from or size]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.true_divide(tp, n)
        recall = np.true_divide(tp, positive)
        lift = precision / np.true_divide(pool[1], pool[0])
    weight = np.broadcast_to(weight, n.shape)[exists]
    limits = np.full((2, *n.shape), np.nan)
    limits[:, exists] = kind.limits(tp[exists] * weight, n[exists] * weight)
    return {
        "precision": precision,
        "recall": recall,
        "lift": lift,
        "ci_low": limits[0],
        "ci_high": limits[1],
    }


def warn_of_reversed(worse: BoolArray) -> None:
    """Warn about measures that are worse than chance and may need lower_is_better."""
    if worse.any():
        warn(
            f"in {int(worse.sum())} of {worse.size} lists, there are significantly fewer true"
            " positives than in random lists, so the measure may be reversed. List a measure in"
            " lower_is_better only if lower values are better."
        )


@contextmanager
def intervals_unread() -> Iterator[None]:
    """Run a function without computing unneeded intervals."""
    token = _READ.set(False)
    try:
        with hushed("target='region'"):
            yield
    finally:
        _READ.reset(token)


_READ = ContextVar("read", default=True)


def intervals_read() -> bool:
    """Return whether intervals are needed."""
    return _READ.get()
