"""Totals of clusters, their intervals, and the agreement of annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from rankeval_pd.stats._types import (
    Advance,
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    silent_division,
)
from rankeval_pd.stats.proportions import Limits, alike_share, clopper_pearson, t_of, z_of

# ------------------------------------------------------ n-best lists with clustered candidates
#
# Candidates from the same document, molecule family or study are dependent, but their clusters can
# be treated as independent. A cluster contributes the total u of the influences of its candidates
# to a count. With the proportion e of true positives at the edge of the list, or in the whole
# region if the threshold is fixed,
#
#     u = sum over its candidates in the list of (y - e),
#
# and the variance of the number of true positives is the sum of (u - mean u)^2. Large clusters bias
# it downward because they influence the estimates, so each total is divided by a power of 1 - h,
# with the cluster's fraction h of the candidates: 1 for a region (the jackknife), and 1/2 for an
# n-best list (Bell and McCaffrey). Critical values are Student's t. The degrees of freedom are
# Satterthwaite's for totals proportional to the sizes m, (sum m^2)^2 / sum m^4, at most k - 1 for k
# clusters in the list. The minimum is 4, or 2 k - 2 or G - 1 if lower (G clusters in all), because
# the largest total also enters the variance. With a few far larger totals, they are 2 (sum u^2)^2 /
# sum u^4, and again at least 4.
#
# The totals of the difference between two equally good lists are symmetric, so the t statistic is
# conservative if they are unequal. They are therefore not rescaled, and the degrees of freedom are
# G - 1, but at most 2 k - 1, because tests with a few equal totals would reject far too often. If
# one list is better, its gain grows with the number of true positives, which varies between samples
# of clusters. As in Fieller's method, an interval adds a part of this variance at each true
# difference.
#
# References: R. M. Bell and D. F. McCaffrey (2002), Bias reduction in standard errors for linear
# regression with multi-stage samples, Survey Methodology 28. C. Franco et al. (2019), Comparative
# study of confidence intervals for proportions in complex sample surveys, Journal of Survey
# Statistics and Methodology 7. E. L. Korn and B. I. Graubard (1998), Confidence intervals for
# proportions with small expected number of positive counts estimated from survey data, Survey
# Methodology 24. F. E. Satterthwaite (1946), An approximate distribution of estimates of variance
# components, Biometrics Bulletin 2. E. H. Simpson (1949), Measurement of diversity, Nature 163. N.
# A. Obuchowski (1997), Nonparametric analysis of clustered ROC curve data, Biometrics 53.

_CELLS_AT_ONCE = 2_000_000  # cells (list, cluster) in memory: 16 MB
# the smallest with which grouped lists cover in tests/simulations/clusters.csv and dependence.csv
_LEAST, _LEAST_OF_RECALL = 4.0, 7.0  # minimum degrees of freedom
ADDED = 0.1  # fraction of a candidate's square, which lists with one label need
_TINY = 1e-300  # instead of a variance of 0 as a divisor
_ROUNDING = 1e-7  # a smaller standard deviation of influences is a rounding error


class ClusterSpread(NamedTuple):
    """The variance of a count when whole clusters are sampled; the last axis is n."""

    variance: FloatArray
    freedom: FloatArray  #: degrees of freedom of the variance
    n_groups: IntArray  #: number of clusters with candidates in the list
    influence: FloatArray  #: variance of the observed totals, without additions
    clusters: int  #: total number of clusters, in the list or not

    def quantile(self, level: float) -> FloatArray:
        """Return the two-sided quantile of Student's t."""
        known = self.freedom > 0
        return np.where(known, t_of(np.where(known, self.freedom, 1.0), level), np.inf)


def list_counts(
    weight: FloatArray, first: IntArray, cluster: IntArray, n_lists: int, n_clusters: int
) -> FloatArray:
    """Return the sums of weights over the candidates with first <= list: (list, cluster)."""
    flat = first * n_clusters + cluster
    sums = np.bincount(flat, weights=weight, minlength=(n_lists + 1) * n_clusters)
    by_first = sums.reshape(n_lists + 1, n_clusters)[:n_lists]
    return np.cumsum(by_first, axis=0, dtype=float)


class ListTotals(NamedTuple):
    """Cluster totals in the n-best lists of one ranking, or in the difference between two."""

    gold: BoolArray
    ranks: tuple[IntArray, ...]  #: ranks in one ranking, or in two
    cluster: IntArray  #: integers from 0
    n: IntArray  #: ascending
    edges: tuple[FloatArray, ...]  #: proportion of true positives at the edge, per ranking: (n)
    fixed: bool  #: whether these are regions with fixed thresholds instead of n-best lists
    everyone: int | None = None  #: number of clusters in the full data, if only heads are in memory

    @property
    def power(self) -> float:
        """The power of 1 - h by which totals are divided."""
        if len(self.ranks) > 1:
            return 0.0
        if self.fixed:
            return 1.0
        return 0.5

    @property
    def size(self) -> int:
        """The number of clusters."""
        if self.everyone is None:
            return int(self.cluster.max(initial=-1)) + 1
        return self.everyone

    def listed(self) -> ListTotals:
        """Return the totals of clusters in at least one list; all other totals are 0."""
        here = np.min(self.ranks, axis=0) <= self.n.max(initial=0)
        return self._replace(
            gold=self.gold[here],
            ranks=tuple(rank[here] for rank in self.ranks),
            cluster=np.unique(self.cluster[here], return_inverse=True)[1],
            everyone=None,
        )

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield totals and sizes, (n, cluster), for one block of clusters at a time."""
        # sort candidates by cluster, so that each block of clusters is a slice of candidates
        order = np.argsort(self.cluster, kind="stable")
        cluster = self.cluster[order]
        gold = self.gold[order]
        # the first list that contains each candidate, for each ranking
        firsts = [np.searchsorted(self.n, rank[order]) for rank in self.ranks]
        width = max(1, _CELLS_AT_ONCE // max(1, self.n.size))  # clusters in memory for all lists
        for start in range(0, self.size, width):
            shape = self.n.size, min(width, self.size - start)
            here = slice(*np.searchsorted(cluster, [start, start + shape[1]]))
            true = gold[here].astype(float)
            own = cluster[here] - start
            one, (total, size) = np.ones_like(true), np.zeros((2, *shape))
            # for two rankings, subtract the second list from the first; shared candidates cancel
            for sign, first, edge in zip((1.0, -1.0), firsts, self.edges, strict=False):
                listed = list_counts(one, first[here], own, *shape)
                found = list_counts(true, first[here], own, *shape)
                total += sign * (found - edge[:, np.newaxis] * listed)
                size += listed
            if len(firsts) > 1:  # shared candidates are not part of the difference
                size -= 2.0 * list_counts(one, np.maximum(*firsts)[here], own, *shape)
            yield total, size


def total_spread(totals: ListTotals, added: FloatArray | float = 0.0) -> ClusterSpread:
    """Return the variance of the sum of the totals in O(lists times clusters).

    ``added``, the square of a candidate's influence, is multiplied by the typical cluster size. The
    product keeps the variance of a proportion above 0 if all candidates have the same label.
    """
    if len(factors := factors_of(totals.cluster)) > 1:
        one, other, cells = (
            total_spread(totals._replace(cluster=levels, everyone=None), added)
            for levels in factors
        )
        return ClusterSpread(
            of_both_factors([x.variance for x in (one, other, cells)]),
            np.minimum(one.freedom, other.freedom),
            np.minimum(one.n_groups, other.n_groups),
            of_both_factors([x.influence for x in (one, other, cells)]),
            min(one.clusters, other.clusters),
        )
    # two passes over the blocks: first the sizes for the leverages, then the totals
    everyone = totals.size
    totals = totals.listed()
    whole, second, fourth, n_groups = np.zeros((4, totals.n.size))
    for _, size in totals.blocks():
        whole += size.sum(axis=1)
        second += (size**2).sum(axis=1)
        fourth += (size**4).sum(axis=1)
        n_groups += (size > 0).sum(axis=1)
    sums, squares, fourths = np.zeros((3, totals.n.size))
    for total, size in totals.blocks():
        sums += total.sum(axis=1)
        square = _jackknifed(total, size, whole, totals.power) ** 2
        squares += square.sum(axis=1)
        fourths += (square**2).sum(axis=1)
    own = 2.0 * squares**2 / np.maximum(fourths, _TINY)
    # subtract the squared mean: over the clusters in a region, but over all clusters for a list
    counted = np.full(totals.n.size, float(everyone))
    if totals.power == 1.0:
        counted = n_groups
    squares = np.maximum(squares - sums**2 / np.maximum(counted, 1.0), 0.0)
    if totals.power:
        freedom = unequal_freedom(second, fourth, n_groups, everyone, _LEAST)
        freedom = np.minimum(freedom, np.maximum(own, _LEAST))
        variance = squares + added * second / np.maximum(whole, 1.0)
    else:
        freedom = np.minimum(everyone, 2.0 * n_groups) - 1.0
        variance = squares * everyone / max(everyone - 1.0, 1.0)
    return ClusterSpread(
        variance, np.maximum(freedom, 0.0), n_groups.astype(np.int64), squares, everyone
    )


def ratio_gap_spread(
    above: FloatArray, below: FloatArray, cluster: IntArray, *, paired: bool
) -> ClusterSpread:
    """Return the variance for a difference between two ratios of sums: (ratio, candidate).

    The larger of two variances is used: for the observed ratios, and for a common ratio. Totals are
    not rescaled. The denominators of paired ratios are equal.
    """
    whole = below.sum(axis=1, keepdims=True)
    everyone = int(cluster.max(initial=-1)) + 1
    differs = (above[0] != above[1]) | (below[0] != below[1])
    n_groups = np.unique(cluster[differs]).size
    common = (above.sum() + 1.0) / (whole.sum() + 2.0)  # never 0 or 1, as is rarely the truth
    variance, freedom = 0.0, 0.0
    with silent_division():
        for ratio in (above.sum(axis=1, keepdims=True) / whole, common):
            influence = (above - ratio * below) / whole
            squares = np.bincount(cluster, influence[0] - influence[1], everyone) ** 2
            if squares.sum() > variance:
                variance = squares.sum()
                own = 2.0 * variance**2 / (squares**2).sum()
                freedom = min(everyone - 1.0, 2.0 * n_groups - 1.0, max(own, _LEAST))
    if not variance and (paired or n_groups):  # as if one cluster differed in either direction
        counted = np.unique(cluster[below[0] > 0.0]).size
        variance, freedom = 2.0 / max(counted, 1) ** 2, min(counted - 1.0, 3.0)
    scaled = np.array(variance * everyone / max(everyone - 1.0, 1.0))
    influence = np.array(variance)
    return ClusterSpread(scaled, np.array(freedom), np.array(n_groups), influence, everyone)


def unequal_freedom(
    second: FloatArray, fourth: FloatArray, listed: FloatArray, everyone: int, least: float
) -> FloatArray:
    """Return Satterthwaite's degrees of freedom from sums of powers of the cluster sizes."""
    own = np.minimum(second**2 / np.maximum(fourth, 1.0), listed - 1.0)
    most = np.minimum(2.0 * listed - 2.0, everyone - 1.0)
    return np.minimum(np.maximum(own, least), most)


def between(own: AnyArray | float, most: AnyArray | float) -> FloatArray:
    """Return the harmonic mean of degrees of freedom, conservative (listed) and liberal (all)."""
    most = np.maximum(own, most)
    return own * 2.0 * most / np.maximum(own + most, _TINY)


def band_freedom(found: ClusterSpread, cluster: IntArray) -> FloatArray:
    """Return degrees of freedom between those of the clusters in a list and of all clusters."""
    everyone = np.inf
    for levels in factors_of(cluster):
        size = np.bincount(levels[levels >= 0]).astype(float)
        own = (size**2).sum() ** 2 / max(float((size**4).sum()), 1.0)
        everyone = min(everyone, own, np.count_nonzero(size) - 1.0)
    return between(found.freedom, np.minimum(everyone, 2.0 * found.n_groups - 2.0))


def rare_label(share: FloatArray, power: int) -> FloatArray:
    """Return the part of a square to add, as a sample may lack clusters with a rare label."""
    return np.maximum(ADDED, (1.0 - 2.0 * share) ** power)


def positives_variance(size: AnyArray, positive: AnyArray) -> float:
    """Return the variance of the true positives over their squared mean, for whole clusters.

    It is (1 - p) / p times the sum of squared fractions times the intraclass correlation (ANOVA).
    """
    size, positive = size[size > 0], positive[size > 0]
    whole = float(size.sum())
    k = size.size
    p = float(positive.sum()) / max(whole, 1.0)
    if k < 2 or not 0.0 < p < 1.0:
        return 0.0
    share = positive / size
    squares = float((size**2.0).sum())
    apart = float((size * (share - p) ** 2).sum()) / (k - 1.0)
    within = float((positive * (1.0 - share)).sum()) / max(whole - k, 1.0)
    total = apart + ((whole - squares / whole) / (k - 1.0) - 1.0) * within
    alike = 0.0
    if total > 0.0:
        alike = min(max((apart - within) / total, 0.0), 1.0)
    return alike * squares / whole**2 * (1.0 - p) / p


def simpson_number(size: FloatArray) -> FloatArray:
    """Return Simpson's effective number of clusters."""
    whole = size.sum(axis=-1)
    pairs = (size * (size - 1.0)).sum(axis=-1)
    with silent_division():
        alike = np.where(pairs > 0.0, whole * (whole - 1.0) / pairs, np.inf)
    return np.asarray(np.minimum(alike, (size > 0).sum(axis=-1)))


# Two crossed factors, such as verb and particle: the variances for both factors are added, and the
# variance for the cells is subtracted (A. C. Cameron, J. B. Gelbach and D. L. Miller 2011, Robust
# inference with multiway clustering, Journal of Business and Economic Statistics 29). It is at
# least the variance for each factor, with the degrees of freedom of the factor with fewer levels.

_FACTOR = 2**32  # cell number = (1 + level of one factor) times this + level of the other factor


def packed(*levels: IntArray) -> IntArray:
    """Return cluster numbers, or cell numbers for two factors; -1 means none."""
    if len(levels) == 1:
        return levels[0]
    first, second = levels
    return np.where(np.minimum(first, second) < 0, -1, (first + 1) * _FACTOR + second)


def factors_of(cluster: IntArray) -> list[IntArray]:
    """Return the clusters, or for two factors the levels of both factors and the cells."""
    if cluster.max(initial=0) < _FACTOR:
        return [cluster]
    return [np.unique(x, return_inverse=True)[1] for x in (*np.divmod(cluster, _FACTOR), cluster)]


def of_both_factors(variances: Sequence[FloatArray]) -> FloatArray:
    """Return the variance for two crossed factors from the variances for factors and cells."""
    one, other, cells = variances
    return np.maximum(one + other - cells, np.maximum(one, other))


class WholeSpread(NamedTuple):
    """The variance of a count that depends on all clusters; the last axis is n."""

    spread: ClusterSpread
    typical: FloatArray  #: mean over counted candidates of their cluster size


def whole_spread(
    totals: ListTotals, of_positive: FloatArray, of_all: FloatArray, *, by_positive: bool
) -> WholeSpread:
    """Return the variance of the count for recall, or for the excess over a random list.

    ``of_positive`` times the true positives in a cluster is subtracted from the cluster's total,
    and ``of_all`` times the candidates in the cluster is added. The size of a cluster is its number
    of true positives for recall, and its number of candidates otherwise.
    """
    positive = np.bincount(totals.cluster, totals.gold, totals.size)
    size = np.bincount(totals.cluster, minlength=totals.size).astype(float)
    weight, power = size, 0.5
    if by_positive:
        weight = np.asarray(positive, dtype=float)
        power = 1.0
    whole = np.full(totals.n.size, weight.sum())
    squares, n_groups, start = *np.zeros((2, totals.n.size)), 0
    for total, inside in totals.blocks():
        here = slice(start, start := start + total.shape[1])
        moved = total - np.multiply.outer(of_positive, positive[here])
        moved += np.multiply.outer(of_all, size[here])
        squares += (_jackknifed(moved, weight[np.newaxis, here], whole, power) ** 2).sum(axis=1)
        n_groups += (inside > 0).sum(axis=1)
    freedom = simpson_number(weight) - 1.0
    second = (weight**2).sum()
    if by_positive:
        fourth = (weight**4).sum()
        freedom = unequal_freedom(second, fourth, (weight > 0).sum(), weight.size, _LEAST_OF_RECALL)
    freedom = np.full(totals.n.size, freedom)
    spread = ClusterSpread(
        squares, np.maximum(freedom, 0.0), n_groups.astype(np.int64), squares, totals.size
    )
    return WholeSpread(spread, second / np.maximum(whole, 1.0))


def _jackknifed(total: FloatArray, size: FloatArray, whole: FloatArray, power: float) -> FloatArray:
    """Return total / (1 - h)^power, which is finite even for a cluster that fills the list."""
    if not power:
        return total
    share = size / np.maximum(whole, 1.0)[:, np.newaxis]
    rest = np.maximum(1.0 - share, 0.5 / np.maximum(size, 1.0))
    return total / rest**power


def effective_size(
    n: IntArray, precision: FloatArray, found: ClusterSpread, level: float, most: float = 1.0
) -> FloatArray:
    """Return the Korn-Graubard size: the number of independent candidates for the same interval."""
    binomial = n * precision * (1.0 - precision)
    wider = (z_of(level) / found.quantile(level)) ** 2
    size = n * np.minimum(most, binomial / np.maximum(found.variance, _TINY)) * wider
    return np.maximum(size, 1e-6)


def largest_statistics(
    totals: ListTotals,
    found: ClusterSpread,
    *,
    n_resamples: int,
    seed: int,
    advance: Advance = lambda _: None,
) -> FloatArray:
    """Return the largest |Z| over the lists for each draw of one number per cluster: (draw)."""
    rng = np.random.default_rng(seed)
    power = totals.power
    everyone = np.full(totals.n.size, totals.size)
    if power == 1.0:
        everyone = found.n_groups
    whole = np.zeros(totals.n.size)
    sums = np.zeros(totals.n.size)
    for total, size in totals.blocks():
        whole += size.sum(axis=1)
        sums += total.sum(axis=1)
    center = sums / np.maximum(everyone, 1)
    z = np.zeros((n_resamples, totals.n.size))
    for total, size in totals.blocks():
        raised = _jackknifed(total, size, whole, power) - center[:, np.newaxis]
        influence = np.where((size > 0) | (power < 1.0), raised, 0.0)
        z += rng.standard_normal((n_resamples, total.shape[1])) @ influence.T
    advance(n_resamples)
    scale = np.sqrt(found.influence)
    varies = scale > _ROUNDING
    return np.asarray(np.abs(z[:, varies] / scale[varies]).max(axis=-1, initial=0.0))


# ------------------------------------------------------------------- Means and ratios over queries
#
# The queries on the last axis are the sample. NaN marks a query without a value.


class QueryMean(NamedTuple):
    """A mean and its standard error."""

    value: FloatArray
    se: FloatArray
    n: IntArray  #: number of queries with a value


def query_ratio(above: FloatArray, below: FloatArray) -> QueryMean:
    """Return the ratio of two sums over queries, with a residual error (W. Cochran 1977, 6.4)."""
    known = ~(np.isnan(above) | np.isnan(below))
    count = known.sum(axis=-1)
    over, under = (np.where(known, x, 0.0) for x in (above, below))
    total = under.sum(axis=-1)
    with silent_division():
        value = np.where(total > 0.0, over.sum(axis=-1) / total, np.nan)
        rest = np.where(known, over - value[..., np.newaxis] * under, 0.0)
        squares = (rest**2).sum(axis=-1)
        se = np.sqrt(np.where(count > 1, count / (count - 1.0), np.nan) * squares) / total
        # a standard error no larger than a rounding error means that all queries are equal
        se = np.where(se <= 1e-14 * np.abs(value), 0.0, se)
    return QueryMean(value, se, count)


def query_share_limits(value: FloatArray, se: FloatArray, count: IntArray, level: float) -> Limits:
    """Return Clopper-Pearson limits for a mean of proportions (Korn and Graubard 1998).

    If all queries agree, they come from the largest plausible proportion of different queries.
    """
    known = ~np.isnan(value) & (count > 1)
    value = np.where(known, np.clip(value, 0.0, 1.0), 0.5)
    with silent_division():
        worth = np.where(se > 0.0, value * (1.0 - value) / se**2, 1.0)
    worth = worth * (z_of(level) / t_of(np.maximum(count - 1.0, 1.0), level)) ** 2
    worth = np.where(known, np.maximum(worth, 1e-6), 1.0)
    low, high = clopper_pearson(value * worth, worth, level)
    share = alike_share(count, level)
    low = np.where(se == 0.0, share * value, low)
    high = np.where(se == 0.0, 1.0 - share * (1.0 - value), high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def t_test(found: QueryMean, alternative: str) -> FloatArray:
    """Return the p-value for a mean of 0; if all Q differences are equal, 2^-Q (sign test)."""
    freedom = np.where(found.n > 1, found.n - 1.0, np.nan)
    signs = np.exp2(-np.maximum(found.n, 1.0))
    with silent_division():
        t = found.value / found.se
        above, below = (
            np.where(
                found.se == 0.0, np.where(side > 0.0, signs, 1.0), scipy.special.stdtr(freedom, -t)
            )
            for side, t in ((found.value, t), (-found.value, -t))
        )
    if alternative == "greater":
        return above
    if alternative == "less":
        return below
    return np.minimum(1.0, 2.0 * np.minimum(above, below))


# ---------------------------- Combine the labels of several annotators, and measure their agreement
#
# Votes are indexed by (annotator, candidate). Counts are indexed by (candidate, category) and
# contain the number of annotators who chose a label. Every coefficient is 1 - observed / expected
# disagreement. Both disagreements are sums over candidates, so the jackknife over candidates is
# exact and takes O(candidates) time.
#
# References: J. Cohen (1960), A coefficient of agreement for nominal scales. J. L. Fleiss (1971),
# Measuring nominal scale agreement among many raters. K. Krippendorff (2011), Computing
# Krippendorff's alpha-reliability. E. G. Johnson and K. F. Rust (1992), Effective degrees of
# freedom for variance estimates from a complex sample survey.


def agreed(votes: FloatArray, agreement: str) -> FloatArray:
    """Return one label per candidate from votes (..., annotator, candidate); NaN means no vote.

    With "majority", a tied vote gives NaN.
    """
    known = ~np.isnan(votes)
    count = known.sum(axis=-2)
    positive = np.where(known, votes, 0.0).sum(axis=-2)
    if agreement == "any":
        label = (positive > 0).astype(float)
    elif agreement == "all":
        label = (positive == count).astype(float)
    else:
        label = np.where(2 * positive == count, np.nan, np.rint(positive / np.maximum(count, 1)))
    return np.where(count > 0, label, np.nan)


class Agreement(NamedTuple):
    """A coefficient of agreement with its interval."""

    value: float
    ci_low: float
    ci_high: float
    n: int  #: number of candidates used


_RARE = 5.0  # candidates of the rarer label (tests/simulations/annotators.csv)
_NONE = Agreement(np.nan, np.nan, np.nan, 0)
Disagreement = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def cohen_kappa(
    a: IntArray, b: IntArray, level: float, apart: FloatArray | None = None
) -> Agreement:
    """Return Cohen's kappa for two annotators; labels start at 0, and -1 means no label.

    ``apart`` contains the disagreement of each two labels, from 0 to 1; by default, it is 1.
    """
    both = (a >= 0) & (b >= 0)
    a, b = a[both], b[both]
    if apart is None:
        apart = 1.0 - np.eye(int(max(a.max(initial=-1), b.max(initial=-1))) + 1)
    categories = len(apart)
    one = np.eye(categories)
    sums = np.column_stack([apart[a, b], one[a], one[b]])

    def disagreement(s: FloatArray) -> tuple[FloatArray, FloatArray]:
        of_a, of_b = s[..., 1 : 1 + categories], s[..., 1 + categories :]
        n = of_a.sum(axis=-1)
        return s[..., 0] / n, ((of_a @ apart) * of_b).sum(axis=-1) / n**2

    counts = one[a] + one[b]
    alike = np.tile(_rarest(counts), 2)
    return _agreement_with_limits(sums, np.append(0.0, alike), counts, disagreement, level)


def fleiss_kappa(counts: IntArray, level: float) -> Agreement:
    """Return Fleiss' kappa; NaN if candidates with votes differ in their number or have only 1."""
    counts = counts[counts.any(axis=1)]
    votes = counts.sum(axis=1)
    if not votes.size or votes[0] < 2 or (votes != votes[0]).any():
        return _NONE
    m = float(votes[0])

    def disagreement(s: FloatArray) -> tuple[FloatArray, FloatArray]:
        total = s[..., 1:].sum(axis=-1)
        chance = ((s[..., 1:] / total[..., np.newaxis]) ** 2).sum(axis=-1)
        return s[..., 0] * m / total, 1.0 - chance

    alike = np.append(0.0, m * _rarest(counts))
    nominal = 1.0 - np.eye(counts.shape[1])
    return _agreement_with_limits(
        _pairs_apart(counts, m * (m - 1.0), nominal), alike, counts, disagreement, level
    )


def krippendorff_alpha(
    counts: IntArray, level: float, apart: FloatArray | None = None
) -> Agreement:
    """Return Krippendorff's alpha, from candidates with 2 or more votes.

    ``apart`` is as in :func:`cohen_kappa`.
    """
    counts = counts[counts.sum(axis=1) > 1]
    votes = counts.sum(axis=1)
    if apart is None:
        apart = 1.0 - np.eye(counts.shape[1])
    alike = np.append(0.0, votes.max(initial=0) * _rarest(counts))
    of = partial(_disagreement, apart=apart)
    return _agreement_with_limits(
        _pairs_apart(counts, votes - 1.0, apart), alike, counts, of, level
    )


def _disagreement(s: FloatArray, apart: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Krippendorff's observed and expected disagreement from sums over candidates."""
    total = s[..., 1:].sum(axis=-1)
    pairs = ((s[..., 1:] @ apart) * s[..., 1:]).sum(axis=-1)
    return s[..., 0] / total, pairs / (total * (total - 1.0))


def _rarest(counts: AnyArray) -> FloatArray:
    """Return 1.0 for the category with the fewest votes, and 0.0 for all other categories."""
    total = counts.sum(axis=0)
    rarest = np.zeros(counts.shape[1])
    if total.size:
        rarest[total.argmin()] = 1.0
    return rarest


def _agreement_with_limits(
    per_candidate: FloatArray, alike: FloatArray, counts: AnyArray, of: Disagreement, level: float
) -> Agreement:
    """Return the coefficient with its interval, widened for a rare label.

    One is rare if all labels but the commonest together have fewer votes than 5 candidates do. The
    outer limits of this sample and of one with one more candidate of the rarest label are returned.
    """
    found = _with_interval(per_candidate, of, level)
    share = counts.sum(axis=0).max(initial=0) / max(counts.sum(), 1)
    if np.isnan(found.ci_low) or (1.0 - share) * found.n >= _RARE:
        return found
    more = _with_interval(np.vstack([per_candidate, alike]), of, level)
    low = min(found.ci_low, more.ci_low)
    high = max(found.ci_high, more.ci_high)
    return found._replace(ci_low=low, ci_high=high)


def _pairs_apart(counts: IntArray, weight: FloatArray | float, apart: FloatArray) -> FloatArray:
    """Return, for each candidate, the weighted disagreement of its votes, and the counts."""
    pairs = ((counts @ apart) * counts).sum(axis=1)
    return np.column_stack([pairs / weight, counts]).astype(float)


def _with_interval(per_candidate: FloatArray, of: Disagreement, level: float) -> Agreement:
    """Return 1 - observed / expected, and its jackknife interval on the scale of Fisher's z.

    The degrees of freedom come from the squared influences, because few candidates with a rare
    label carry the variance; Satterthwaite's are too low for a jackknife (Johnson and Rust 1992).
    Without disagreement, the lower limit follows from an upper limit on the proportion of
    candidates with it.
    """
    n = len(per_candidate)
    if n < 2:
        return _NONE._replace(n=n)
    total = per_candidate.sum(axis=0)
    observed, expected = of(total)
    if not expected > 0.0:
        return _NONE._replace(n=n)
    if not observed > 0.0:
        apart = 1.0 - float(alike_share(np.array(n), level))
        return Agreement(1.0, max(1.0 - apart / float(expected), -1.0), 1.0, n)
    with silent_division():
        left = of(total - per_candidate)
        ratio = left[0] / left[1]
    # dropping the only candidate with disagreement would leave none, so keep half of it
    known = np.isfinite(ratio) & (ratio > 0.0)
    z = _z(np.where(known, ratio, 0.5 * observed / expected))
    squares = (z - z.mean()) ** 2
    error = np.sqrt((n - 1.0) / n * squares.sum())
    # fewer if few candidates differ; chosen for the coverage in tests/simulations/annotators.csv
    freedom = 1.5 * squares.sum() ** 2 / max((squares**2).sum(), 1e-300) + 2.0
    margin = t_of(min(freedom, n - 1.0), level) * error
    middle = _z(observed / expected)
    low, high = (np.tanh(-0.5 * (middle + sign * margin)) for sign in (1.0, -1.0))
    return Agreement(float(1.0 - observed / expected), float(low), float(high), n)


def _z(ratio: FloatArray) -> FloatArray:
    """Return -2 times Fisher's z for the coefficient 1 - ratio."""
    return np.log(ratio / np.maximum(2.0 - ratio, 1e-12))
