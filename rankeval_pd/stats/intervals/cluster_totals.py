"""Intervals from totals of clusters, and from values of queries, as independent units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import Limits, clopper_pearson, t_of, z_of

# -------------------------------------------------- n-best lists whose candidates come in clusters
#
# Candidates of one document, molecule family or repeat of a study depend on each other; the
# clusters can be taken as independent. To a count that is a sum over candidates, a cluster
# contributes the total u of its candidates' influences. With the share e of true positives at the
# edge of the list (or, for a region with a fixed threshold, in all of it)
#
#     u = sum over its candidates in the list of (y - e),
#
# so the variance of the true positives in the list is the sum of u^2 about their mean. Large
# clusters pull the estimates towards themselves. Therefore each total is divided by a power of
# 1 - h, where h is the cluster's share of the candidates: 1 for a region, whose precision is a
# ratio (the jackknife), and 1/2 for an n-best list, whose size is given (Bell and McCaffrey). Since
# a spread estimated from few totals is uncertain, Student's t is used. Its degrees of freedom are
# Satterthwaite's, of totals that vary as clusters of m candidates are large, (sum m^2)^2 / sum m^4,
# at most k - 1 with k clusters in the list. They are at least 4, since the largest total counts in
# what it is measured by too, but no more than 2 k - 2, and G - 1 of all G. If few totals are far
# larger than the others, their own count holds: 2 (sum u^2)^2 / sum u^4, or again 4.
#
# The totals of a difference of two lists are symmetric if the lists are equally good, and a sum of
# symmetric totals is the less often large by its own spread the more unequal they are. So the
# totals are taken as they are, and the degrees of freedom are those of G clusters, G - 1; with k of
# them in the lists at most 2 k - 1, or few equal totals would reject far too often. If one list is
# better, its gain grows with the true positives, whose number varies between samples of clusters.
# An interval therefore adds a part of that variance at each true difference, as Fieller does.
#
# References: R. M. Bell and D. F. McCaffrey (2002), Bias reduction in standard errors for linear
# regression with multi-stage samples, Survey Methodology 28. C. Franco et al. (2019), Comparative
# study of confidence intervals for proportions in complex sample surveys, Journal of Survey
# Statistics and Methodology 7. E. L. Korn and B. I. Graubard (1998), Confidence intervals for
# proportions with small expected number of positive counts estimated from survey data, Survey
# Methodology 24. F. E. Satterthwaite (1946), An approximate distribution of estimates of variance
# components, Biometrics Bulletin 2. E. H. Simpson (1949), Measurement of diversity, Nature 163.
# N. A. Obuchowski (1997), Nonparametric analysis of clustered ROC curve data, Biometrics 53.

Advance = Callable[[int], object]
_CELLS_AT_ONCE = 2_000_000  # cells (list, cluster) in memory: 16 MB
_LEAST, _LEAST_OF_RECALL = 4.0, 7.0  # degrees of freedom of unequal clusters, in simulations enough
ADDED = 0.1  # of the squares of a candidate, in simulations enough for lists of one label
_TINY = 1e-300
_ROUNDING = 1e-7  # a standard deviation of influences below this is rounding


class ClusterSpread(NamedTuple):
    """The variance of a count if whole clusters are drawn; the last axis is n."""

    variance: FloatArray
    freedom: FloatArray  #: degrees of freedom of the variance
    n_groups: IntArray  #: clusters with candidates in the list
    influence: FloatArray  #: the variance of the observed totals alone
    clusters: int  #: all of them, in the list or not

    def quantile(self, level: float) -> FloatArray:
        """Return the two-sided quantile of Student's t."""
        from scipy import special

        known = self.freedom > 0
        result = -special.stdtrit(np.where(known, self.freedom, 1.0), 0.5 * (1.0 - level))
        return np.where(known, result, np.inf)


def list_counts(
    weight: FloatArray, first: IntArray, cluster: IntArray, n_lists: int, n_clusters: int
) -> FloatArray:
    """Return the sums of weights (list, cluster); list k contains the candidates with first <= k.

    One count of (first list, cluster), then cumulative sums over the lists.
    """
    flat = first * n_clusters + cluster
    sums = np.bincount(flat, weights=weight, minlength=(n_lists + 1) * n_clusters)
    result: FloatArray = np.cumsum(
        sums.reshape(n_lists + 1, n_clusters)[:n_lists], axis=0, dtype=np.float64
    )
    return result


def _cluster_blocks(n_lists: int, n_clusters: int) -> Iterator[slice]:
    """Yield the clusters in blocks that fit in memory for all lists."""
    width = max(1, _CELLS_AT_ONCE // max(1, n_lists))
    for start in range(0, n_clusters, width):
        yield slice(start, min(start + width, n_clusters))


class ListTotals(NamedTuple):
    """The totals of clusters in the n-best lists of one ranking, or in the difference of two."""

    gold: BoolArray
    ranks: tuple[IntArray, ...]  #: of one ranking, or of two
    cluster: IntArray  #: whole numbers from 0
    n: IntArray  #: ascending
    edges: tuple[FloatArray, ...]  #: the share of true positives at the edge, per ranking: (n)
    fixed: bool  #: whether these are regions with fixed thresholds, not n-best lists
    everyone: int | None = None  #: number of clusters in the whole data, if only heads are here

    @property
    def power(self) -> float:
        """The power of 1 - h by which totals are divided, see above."""
        return 0.0 if len(self.ranks) > 1 else 1.0 if self.fixed else 0.5

    @property
    def size(self) -> int:
        """The number of clusters."""
        return int(self.cluster.max(initial=-1)) + 1 if self.everyone is None else self.everyone

    def listed(self) -> ListTotals:
        """Return the totals of clusters in some list alone: the others have totals of 0."""
        here = np.min(self.ranks, axis=0) <= self.n.max(initial=0)
        return self._replace(
            gold=self.gold[here],
            ranks=tuple(rank[here] for rank in self.ranks),
            cluster=np.unique(self.cluster[here], return_inverse=True)[1],
            everyone=None,
        )

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield totals and sizes, (n, cluster), of block after block of clusters."""
        # sort candidates by cluster, so that a block of clusters is a slice of candidates
        order = np.argsort(self.cluster, kind="stable")
        cluster = self.cluster[order]
        gold = self.gold[order]
        # the first list that contains each candidate, for each ranking
        firsts = [np.searchsorted(self.n, rank[order], side="left") for rank in self.ranks]
        for block in _cluster_blocks(self.n.size, self.size):
            low, high = np.searchsorted(cluster, [block.start, block.stop])
            here = slice(low, high)
            yield self._of_block(
                gold[here].astype(float),
                [first[here] for first in firsts],
                cluster[here] - block.start,
                block.stop - block.start,
            )

    def _of_block(
        self, gold: FloatArray, firsts: list[IntArray], cluster: IntArray, n_clusters: int
    ) -> tuple[FloatArray, FloatArray]:
        def counts(weight: FloatArray, first: IntArray) -> FloatArray:
            return list_counts(weight, first, cluster, self.n.size, n_clusters)

        # with two rankings, the first list minus the second: shared candidates cancel
        one = np.ones_like(gold)
        total = np.zeros((self.n.size, n_clusters))
        size = np.zeros_like(total)
        for sign, first, edge in zip((1.0, -1.0), firsts, self.edges, strict=False):
            listed = counts(one, first)
            total += sign * (counts(gold, first) - edge[:, np.newaxis] * listed)
            size += listed
        if len(firsts) > 1:  # shared candidates are not part of the difference
            size -= 2.0 * counts(one, np.maximum(*firsts))
        return total, size


def total_spread(totals: ListTotals, added: FloatArray | float = 0.0) -> ClusterSpread:
    """Return the variance of the sum of the totals; O(lists times clusters).

    ``added`` is the square of a candidate. Times the typical size of a cluster, it keeps the
    variance of a share above 0 if all candidates have one label.
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
    # two passes over the blocks: sizes first, which the leverages need, then totals
    everyone, totals = totals.size, totals.listed()
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
    # subtract the squared mean: over the clusters in the region, or for others over all
    counted = n_groups if totals.power == 1.0 else np.full(totals.n.size, float(everyone))
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


def unequal_freedom(
    second: FloatArray, fourth: FloatArray, listed: FloatArray, everyone: int, least: float
) -> FloatArray:
    """Return Satterthwaite's degrees of freedom, from sums of powers of the clusters' sizes."""
    own = np.minimum(second**2 / np.maximum(fourth, 1.0), listed - 1.0)
    most = np.minimum(2.0 * listed - 2.0, everyone - 1.0)
    return np.asarray(np.minimum(np.maximum(own, least), most))


def between(own: AnyArray | float, most: AnyArray | float) -> FloatArray:
    """Return degrees of freedom between those of own clusters and of all: the harmonic mean.

    Few own clusters give so few that tests and bands are conservative, and all are too many.
    """
    most = np.maximum(own, most)
    return np.asarray(own * 2.0 * most / np.maximum(own + most, _TINY))


def band_freedom(found: ClusterSpread, cluster: IntArray) -> FloatArray:
    """Return the degrees of freedom of the lists in a band.

    They lie between those of the clusters in a list and of all, (sum m^2)^2 / sum m^4.
    """
    everyone = np.inf
    for levels in factors_of(cluster):
        size = np.bincount(levels[levels >= 0]).astype(float)
        own = (size**2).sum() ** 2 / max(float((size**4).sum()), 1.0)
        everyone = min(everyone, own, np.count_nonzero(size) - 1.0)
    return between(found.freedom, np.minimum(everyone, 2.0 * found.n_groups - 2.0))


def rare_label(share: FloatArray, power: int) -> FloatArray:
    """Return the part of the squares of a candidate to add to the squares of the totals.

    Near 0 or 1 few clusters have the rare label, and may be absent by chance.
    """
    return np.maximum(ADDED, (1.0 - 2.0 * share) ** power)


def positives_variance(size: AnyArray, positive: AnyArray) -> float:
    """Return the variance of the number of true positives, relative to its squared mean.

    Whole clusters are drawn. Analysis of variance estimates the intraclass correlation of the
    labels; the sum of the clusters' squared shares times it times (1 - p) / p is the variance.
    """
    size, positive = size[size > 0], positive[size > 0]
    whole, k = float(size.sum()), size.size
    p = float(positive.sum()) / max(whole, 1.0)
    if k < 2 or not 0.0 < p < 1.0:
        return 0.0
    share, squares = positive / size, float((size**2.0).sum())
    apart = float((size * (share - p) ** 2).sum()) / (k - 1.0)
    within = float((positive * (1.0 - share)).sum()) / max(whole - k, 1.0)
    total = apart + ((whole - squares / whole) / (k - 1.0) - 1.0) * within
    alike = min(max((apart - within) / total, 0.0), 1.0) if total > 0.0 else 0.0
    return alike * squares / whole**2 * (1.0 - p) / p


def simpson_number(size: FloatArray) -> FloatArray:
    """Return how many clusters of one size are as likely to have two candidates in one."""
    whole, pairs = size.sum(axis=-1), (size * (size - 1.0)).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        alike = np.where(pairs > 0.0, whole * (whole - 1.0) / pairs, np.inf)
    return np.asarray(np.minimum(alike, (size > 0).sum(axis=-1)))


# Two crossed factors, as verb and particle: variances of the totals of either factor's levels are
# added, and that of the totals of their cells subtracted (A. C. Cameron, J. B. Gelbach and D. L.
# Miller 2011, Robust inference with multiway clustering, Journal of Business and Economic
# Statistics 29). It is no smaller here than the variance of either factor, which also keeps it
# above 0, and Student's t has the degrees of freedom of the factor with fewer levels.

_FACTOR = 2**32  # a cell's number is (1 + level of one factor) times this, + level of the other


def packed(*levels: IntArray) -> IntArray:
    """Return the numbers of clusters, or of the cells of two factors; -1 for none."""
    if len(levels) == 1:
        return levels[0]
    first, second = levels
    return np.where(np.minimum(first, second) < 0, -1, (first + 1) * _FACTOR + second)


def factors_of(cluster: IntArray) -> list[IntArray]:
    """Return the clusters, or for two factors the levels of each and the cells."""
    if cluster.max(initial=0) < _FACTOR:
        return [cluster]
    return [np.unique(x, return_inverse=True)[1] for x in (*np.divmod(cluster, _FACTOR), cluster)]


def of_both_factors(variances: Sequence[FloatArray]) -> FloatArray:
    """Return the variance of two crossed factors, from the variances of factors and cells."""
    one, other, cells = variances
    return np.maximum(one + other - cells, np.maximum(one, other))


class WholeSpread(NamedTuple):
    """The variance of a count that all clusters move, in the list or not; the last axis is n."""

    spread: ClusterSpread
    typical: FloatArray  #: the size of the cluster of a random candidate that counts


def whole_spread(
    totals: ListTotals, of_positive: FloatArray, of_all: FloatArray, *, by_positive: bool
) -> WholeSpread:
    """Return the variance of recall, or of the excess of a list over a random one, as counts.

    To the totals of the list, ``of_positive`` times the true positives of a cluster is subtracted,
    and ``of_all`` times its candidates is added. Clusters are as large as their true positives,
    their share being random as in a region; or as their candidates.
    """
    positive = np.bincount(totals.cluster, totals.gold, totals.size)
    size = np.bincount(totals.cluster, minlength=totals.size).astype(float)
    weight: FloatArray = np.asarray(positive if by_positive else size, dtype=float)
    whole = np.full(totals.n.size, weight.sum())
    squares, n_groups, start = *np.zeros((2, totals.n.size)), 0
    for total, inside in totals.blocks():
        here = slice(start, start := start + total.shape[1])
        moved = total - np.multiply.outer(of_positive, positive[here])
        moved += np.multiply.outer(of_all, size[here])
        power = 1.0 if by_positive else 0.5
        squares += (_jackknifed(moved, weight[np.newaxis, here], whole, power) ** 2).sum(axis=1)
        n_groups += (inside > 0).sum(axis=1)
    freedom = simpson_number(weight) - 1.0
    if by_positive:
        second, fourth = (weight**2).sum(), (weight**4).sum()
        freedom = unequal_freedom(second, fourth, (weight > 0).sum(), weight.size, _LEAST_OF_RECALL)
    freedom = np.full(totals.n.size, freedom)
    spread = ClusterSpread(
        squares, np.maximum(freedom, 0.0), n_groups.astype(np.int64), squares, totals.size
    )
    return WholeSpread(spread, np.asarray((weight**2).sum() / np.maximum(whole, 1.0)))


def _jackknifed(
    total: FloatArray, size: FloatArray, whole: FloatArray, power: float = 1.0
) -> FloatArray:
    """Return total / (1 - h)^power, finite also for a cluster that is the whole list."""
    if not power:
        return total
    share = size / np.maximum(whole, 1.0)[:, np.newaxis]
    rest = np.maximum(1.0 - share, 0.5 / np.maximum(size, 1.0))
    return np.asarray(total / rest**power)


def effective_size(
    n: IntArray, precision: FloatArray, found: ClusterSpread, level: float, most: float = 1.0
) -> FloatArray:
    """Return the size of a region of independent candidates with the same interval.

    Korn and Graubard's effective size: n times the ratio of the binomial to the clusters' variance,
    times the squared ratio of the normal quantile to Student's. It is at most ``most`` times n.
    """
    binomial = n * precision * (1.0 - precision)
    wider = (z_of(level) / found.quantile(level)) ** 2
    size: FloatArray = n * np.minimum(most, binomial / np.maximum(found.variance, _TINY)) * wider
    return np.asarray(np.maximum(size, 1e-6))


def largest_statistics(
    totals: ListTotals,
    found: ClusterSpread,
    *,
    n_resamples: int,
    seed: int,
    advance: Advance = lambda _: None,
) -> FloatArray:
    """Return, for each draw of one normal multiplier per cluster, the largest |Z| over the lists.

    O(draws times lists times clusters), as one matrix product per block: (draw).
    """
    rng = np.random.default_rng(seed)
    power = totals.power
    everyone = found.n_groups if power == 1.0 else np.full(totals.n.size, totals.size)
    whole, sums = np.zeros(totals.n.size), np.zeros(totals.n.size)
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
# The queries are the sample, along the last axis; NaN is a query without a value.


class QueryMean(NamedTuple):
    """A mean and its standard error."""

    value: FloatArray
    se: FloatArray
    n: IntArray  #: queries with a value


def query_ratio(above: FloatArray, below: FloatArray) -> QueryMean:
    """Return the sum of one number over queries, divided by the sum of another.

    The standard error comes from the residuals above - ratio x below (W. Cochran 1977, 6.4).
    """
    known = ~(np.isnan(above) | np.isnan(below))
    count = known.sum(axis=-1)
    over, under = (np.where(known, x, 0.0) for x in (above, below))
    total = under.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(total > 0.0, over.sum(axis=-1) / total, np.nan)
        rest = np.where(known, over - value[..., np.newaxis] * under, 0.0)
        squares = (rest**2).sum(axis=-1)
        se = np.sqrt(np.where(count > 1, count / (count - 1.0), np.nan) * squares) / total
        # a standard error as small as rounding means that all queries are equal
        se = np.where(se <= 1e-14 * np.abs(value), 0.0, se)
    return QueryMean(value, se, count)


def share_limits(value: FloatArray, se: FloatArray, count: IntArray, level: float) -> Limits:
    """Return limits of a mean of shares: Clopper and Pearson's for the effective number.

    As in Korn and Graubard (1998), from the standard error, Student's quantile and the number of
    queries. If all queries are equal, only a share of the others may have another value.
    """
    known = ~np.isnan(value) & (count > 1)
    value = np.where(known, np.clip(value, 0.0, 1.0), 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(se > 0.0, value * (1.0 - value) / se**2, 1.0)
    worth = worth * (z_of(level) / t_of(np.maximum(count - 1.0, 1.0), level)) ** 2
    worth = np.where(known, np.maximum(worth, 1e-6), 1.0)
    low, high = clopper_pearson(value * worth, worth, level)
    share = alike_share(count, level)
    low = np.where(se == 0.0, share * value, low)
    high = np.where(se == 0.0, 1.0 - share * (1.0 - value), high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def alike_share(count: AnyArray, level: float) -> FloatArray:
    """Return the least share of all queries that are equal if ``count`` of ``count`` are.

    It is Clopper and Pearson's lower limit, 1 for infinitely many.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((0.5 - 0.5 * level) ** (1.0 / np.asarray(count, dtype=float)))


def t_test(found: QueryMean, alternative: str) -> FloatArray:
    """Return the p-value of a mean of 0, consistent with the interval of the mean.

    If all Q queries have the same difference, Student's p-value would be 0. The p-value is then
    2^-Q, the p-value of Q equal signs.
    """
    from scipy import special

    freedom = np.where(found.n > 1, found.n - 1.0, np.nan)
    signs = np.exp2(-np.maximum(found.n, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = found.value / found.se
        above = np.where(found.se == 0.0, np.where(found.value > 0.0, signs, 1.0),
                         special.stdtr(freedom, -t))  # fmt: skip
        below = np.where(found.se == 0.0, np.where(found.value < 0.0, signs, 1.0),
                         special.stdtr(freedom, t))  # fmt: skip
    if alternative == "greater":
        return np.asarray(above)
    if alternative == "less":
        return np.asarray(below)
    return np.minimum(1.0, 2.0 * np.minimum(above, below))
