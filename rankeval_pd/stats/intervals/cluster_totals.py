"""Intervals from totals of clusters, and from values of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.quantiles import t_of, z_of

# -------------------------------------------------------------------------------------------------
# Candidates that belong together: the variance of n-best lists from the totals of clusters.
#
# Candidates of one document, molecule family or repeat of a study depend on each other, and what
# can be taken as independent are the clusters. To a count that is a sum over the candidates, a
# cluster contributes the total u of its candidates' influences: with the share e of true positives
# at the edge of the list (or, of a region with a fixed threshold, in all of it)
#
#     u = sum over its candidates in the list of (y - e),
#
# so that the variance of the true positives in the list is the sum of u^2 about their mean.
# Clusters of many candidates pull the estimates towards themselves: each total is divided by 1 - h,
# h being the cluster's share of the candidates (which is the jackknife where one ratio is
# estimated). Since few totals have a t-like spread, Student's t is referred to, with the effective
# number of clusters, (sum of sizes)^2 / (sum of squared sizes), less 1 as degrees of freedom: G - 1
# for G clusters of one size, less where sizes differ.
#
# References
# ----------
# E. L. Korn and B. I. Graubard (1998), Confidence intervals for proportions with small expected
# number of positive counts estimated from survey data, Survey Methodology 24. N. A. Obuchowski
# (1997), Nonparametric analysis of clustered ROC curve data, Biometrics 53. L. Kish (1965), Survey
# Sampling: the effective number.

Advance = Callable[[int], object]
_BLOCK = 2_000_000  # lists times clusters in memory together
_NOTHING = 1e-7  # influences as small are rounding


class ClusterSpread(NamedTuple):
    """What a count varies by where whole clusters are drawn; the last axis is n."""

    variance: FloatArray
    freedom: FloatArray  #: degrees of freedom of the variance
    n_groups: IntArray  #: clusters that the count has candidates of
    influence: FloatArray  #: the variance of the observed totals alone

    def quantile(self, level: float) -> FloatArray:
        """Return the two-sided quantile of Student's t."""
        from scipy import special

        known = self.freedom > 0
        result = -special.stdtrit(np.where(known, self.freedom, 1.0), 0.5 * (1.0 - level))
        return np.where(known, result, np.inf)


def _counts(
    weight: FloatArray, first: IntArray, cluster: IntArray, n_lists: int, n_clusters: int
) -> FloatArray:
    """Return the sums of the weights per list and cluster, list k having all first <= k."""
    flat = first * n_clusters + cluster
    sums = np.bincount(flat, weights=weight, minlength=(n_lists + 1) * n_clusters)
    result: FloatArray = np.cumsum(
        sums.reshape(n_lists + 1, n_clusters)[:n_lists], axis=0, dtype=np.float64
    )
    return result


def _blocks(n_lists: int, n_clusters: int) -> Iterator[slice]:
    """Yield the clusters in blocks that fit in memory for all lists."""
    width = max(1, _BLOCK // max(1, n_lists))
    for start in range(0, n_clusters, width):
        yield slice(start, min(start + width, n_clusters))


class ListTotals(NamedTuple):
    """The totals of clusters in the n-best lists of one ranking, or in one and not the other."""

    gold: BoolArray
    ranks: tuple[IntArray, ...]  #: of one ranking, or of two
    cluster: IntArray  #: whole numbers from 0
    n: IntArray  #: rising
    edges: tuple[FloatArray, ...]  #: of each ranking, for each n
    fixed: bool  #: of regions, whose thresholds are fixed, not of n-best lists
    everyone: int | None = None  #: clusters of the whole, of which heads alone are here

    @property
    def size(self) -> int:
        """How many clusters there are."""
        return int(self.cluster.max(initial=-1)) + 1 if self.everyone is None else self.everyone

    def listed(self) -> ListTotals:
        """Return the same of those in a list alone: other clusters have totals of 0."""
        here = np.min(self.ranks, axis=0) <= self.n.max(initial=0)
        return self._replace(
            gold=self.gold[here],
            ranks=tuple(rank[here] for rank in self.ranks),
            cluster=np.unique(self.cluster[here], return_inverse=True)[1],
            everyone=None,
        )

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield totals and sizes, (n, cluster), of block after block of clusters."""
        order = np.argsort(self.cluster, kind="stable")
        cluster = self.cluster[order]
        gold = self.gold[order]
        firsts = [np.searchsorted(self.n, rank[order], side="left") for rank in self.ranks]
        for block in _blocks(self.n.size, self.size):
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
            return _counts(weight, first, cluster, self.n.size, n_clusters)

        one = np.ones_like(gold)
        total = np.zeros((self.n.size, n_clusters))
        size = np.zeros_like(total)
        for sign, first, edge in zip((1.0, -1.0), firsts, self.edges, strict=False):
            listed = counts(one, first)
            total += sign * (counts(gold, first) - edge[:, np.newaxis] * listed)
            size += listed
        if len(firsts) > 1:  # what both lists have is of no difference
            size -= 2.0 * counts(one, np.maximum(*firsts))
        return total, size


def spread(totals: ListTotals, added: FloatArray | float = 0.0) -> ClusterSpread:
    """Return the variance of the sum of the totals; O(lists times clusters).

    ``added`` is the sum of squares of one candidate of either label in each list, which keeps the
    variance above 0 where all have one label; it counts as often as the candidate's cluster, of
    typical size, has candidates.
    """
    everyone, totals = totals.size, totals.listed()
    whole, squared_sizes, n_groups = (np.zeros(totals.n.size) for _ in range(3))
    for _, size in totals.blocks():
        whole += size.sum(axis=1)
        squared_sizes += (size**2).sum(axis=1)
        n_groups += (size > 0).sum(axis=1)
    sums, squares = np.zeros(totals.n.size), np.zeros(totals.n.size)
    for total, size in totals.blocks():
        sums += total.sum(axis=1)
        squares += (_jackknifed(total, size, whole) ** 2).sum(axis=1)
    counted = n_groups if totals.fixed else np.full(totals.n.size, float(everyone))
    some = squared_sizes > 0
    typical = np.where(some, squared_sizes, 1.0) / np.where(some, whole, 1.0)
    freedom = np.where(some, whole**2 / np.where(some, squared_sizes, 1.0), 1.0) - 1.0
    squares = np.maximum(squares - sums**2 / np.maximum(counted, 1.0), 0.0)
    return ClusterSpread(
        squares + added * typical, np.maximum(freedom, 0.0), n_groups.astype(np.int64), squares
    )


def _jackknifed(total: FloatArray, size: FloatArray, whole: FloatArray) -> FloatArray:
    share = size / np.maximum(whole, 1.0)[:, np.newaxis]
    return np.asarray(total / np.maximum(1.0 - share, 0.5 / np.maximum(size, 1.0)))


def effective(n: IntArray, precision: FloatArray, found: ClusterSpread, level: float) -> FloatArray:
    """Return the size of a region of independent candidates whose interval is that of clusters.

    Korn and Graubard's: by the variance, and by the quantile of t in the place of the normal one.
    """
    binomial = n * precision * (1.0 - precision)
    wider = (z_of(level) / found.quantile(level)) ** 2
    size: FloatArray = n * np.minimum(1.0, binomial / np.maximum(found.variance, 1e-300)) * wider
    return np.asarray(np.maximum(size, 1e-6))


def largest(
    totals: ListTotals,
    found: ClusterSpread,
    *,
    n_resamples: int,
    seed: int,
    advance: Advance = lambda _: None,
) -> FloatArray:
    """Return, for each draw of one multiplier per cluster, the largest |Z| over the lists.

    O(draws times lists times clusters), as one product of matrices.
    """
    rng = np.random.default_rng(seed)
    everyone = found.n_groups if totals.fixed else np.full(totals.n.size, totals.size)
    whole, sums = np.zeros(totals.n.size), np.zeros(totals.n.size)
    for total, size in totals.blocks():
        whole += size.sum(axis=1)
        sums += total.sum(axis=1)
    centre = sums / np.maximum(everyone, 1)
    z = np.zeros((n_resamples, totals.n.size))
    for total, size in totals.blocks():
        counted = (size > 0) | (not totals.fixed)
        influence = np.where(counted, _jackknifed(total, size, whole) - centre[:, np.newaxis], 0.0)
        z += rng.standard_normal((n_resamples, total.shape[1])) @ influence.T
    advance(n_resamples)
    scale = np.sqrt(found.influence)
    varies = scale > _NOTHING
    return np.asarray(np.abs(z[:, varies] / scale[varies]).max(axis=-1, initial=0.0))


# -------------------------------------------------------------------------------------------------
# Means over queries and ratios of sums over queries, with intervals: the queries are the sample.
#
# Along the last axis lie the queries; NaN is a query that has no value. Intervals are Student's,
# with as many degrees of freedom as there are queries less one.


class Mean(NamedTuple):
    """A mean and its interval."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    se: FloatArray
    n: IntArray  #: queries that have a value


def mean(values: FloatArray, level: float) -> Mean:
    """Return the mean over queries."""
    return ratio(values, np.where(np.isnan(values), np.nan, 1.0), level)


def ratio(above: FloatArray, below: FloatArray, level: float) -> Mean:
    """Return the sum over queries of one number over the sum of another.

    The standard error is that of the residuals, above - ratio x below (W. Cochran 1977, 6.4).
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
        # what is equal in all queries but for rounding does not vary
        se = np.where(se <= 1e-14 * np.abs(value), 0.0, se)
    half = t_quantile(level, count) * se
    return Mean(value, value - half, value + half, se, count)


def t_quantile(level: float, count: IntArray) -> FloatArray:
    """Return the factor of the standard error, NaN for fewer than two queries."""
    return t_of(np.where(count > 1, count - 1.0, np.nan), level)


def t_test(found: Mean, alternative: str) -> FloatArray:
    """Return the p-value of a mean of 0 that the interval of the mean stands for.

    Where all queries have one and the same difference, Student's p-value would be 0; there it is
    that of all signs alike, 2^-Q.
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
