"""Estimates from candidates that are judged in part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import distributions, ranking
from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.areas import ALONE
from rankeval_pd.stats.clusters import simpson_number
from rankeval_pd.stats.distributions import first_near
from rankeval_pd.stats.proportions import INTERVALS, Limits, clopper_pearson, t_of, z_of
from rankeval_pd.stats.ranking import Ranking

# -------------------------------------------------------------------------------------------------
# Sums over partly judged rankings, with limits, and average precision.

# -------------------------------------------------------------------------------------------------
# Estimated numbers of true positives in partly judged sets, with limits.
#
# The last axis contains sums over a set: the numbers of candidates, of judged candidates and of
# judged true positives. Next come the same three numbers for each stratum, or sums weighted by the
# inverse probabilities of being judged.

_COUNTS = 3
_LEAST = 4.0  # clusters that contain positives; sufficient in simulations of average precision
MOST_STRATA = 12  # with more different probabilities, use weights instead of strata


class Total(NamedTuple):
    """An estimated number of true positives, with limits."""

    estimate: FloatArray  #: NaN if no candidate in the set is judged
    low: FloatArray
    high: FloatArray

    def __truediv__(self, size: AnyArray) -> Total:
        with np.errstate(divide="ignore", invalid="ignore"):
            return Total(*(np.asarray(np.true_divide(x, size)) for x in self))


class Design(NamedTuple):
    """The sampling design for judged candidates, and the estimator."""

    strata: int  #: number of strata, each judged at random, or 0 for individual probabilities
    unjudged: str  #: "estimate" or "bounds"
    estimator: str  #: "ratio" or "horvitz-thompson"
    level: float
    heaviest: float = 0.0  #: largest inverse probability of an unjudged candidate

    def parts(
        self, judged: BoolArray, true: BoolArray, probability: FloatArray, stratum: IntArray
    ) -> FloatArray:
        """Return each candidate's contributions to the sums over a set: (candidate, part)."""
        counts = [np.ones(judged.shape), judged, judged & true]
        if self.estimator != "horvitz-thompson" and self.strata:
            inside = stratum[:, np.newaxis] == np.arange(self.strata)
            return np.concatenate(
                [np.stack(counts, axis=-1), *(inside * x[:, np.newaxis] for x in counts)], axis=-1
            )
        weight = np.where(judged, 1.0 / probability, 0.0)
        spread = (1.0 - probability) * weight**2
        return np.stack([*counts, weight, weight * true, spread, spread * true], axis=-1)

    def total(self, sums: FloatArray) -> Total:
        """Estimate the number of true positives in each set: (..., part) -> (...)."""
        size, judged, tp = np.moveaxis(sums[..., :_COUNTS], -1, 0)
        sure = tp, size - (judged - tp)
        if self.estimator == "horvitz-thompson":
            found = self._horvitz_thompson(sums, size - judged)
        elif self.strata:
            found = self._stratified(sums)
        else:
            found = self._weighted(sums)
        if self.unjudged == "bounds":
            found = Total(found.estimate, *sure)
        low, high = (np.clip(x, *sure) for x in (found.low, found.high))
        known = (judged > 0) | (size == 0)
        return Total(np.where(known, found.estimate, np.nan), low, high)

    def _stratified(self, sums: FloatArray) -> Total:
        """Sum over strata and combine their exact intervals (MOVER, Zou and Donner 2008)."""
        size, judged, tp = np.split(sums[..., _COUNTS:], 3, axis=-1)
        low, high = hypergeometric_limits(tp, judged, size, self.level)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(judged > 0, tp / judged, 0.0)
            seen = np.where(judged > 0, size, 0.0)
            others = (share * seen).sum(axis=-1, keepdims=True) / seen.sum(axis=-1, keepdims=True)
            # a stratum without judgments is assumed to be like the other strata in the set
            share = np.where(judged > 0, share, np.where(np.isnan(others), 0.5, others))
        middle = np.where(judged > 0, tp * size / np.maximum(judged, 1), share * size)
        estimate = middle.sum(axis=-1)
        alone = np.count_nonzero(size, axis=-1) <= 1
        below = np.sqrt(((middle - low) ** 2).sum(axis=-1))
        above = np.sqrt(((high - middle) ** 2).sum(axis=-1))
        return Total(
            estimate,
            np.where(alone, low.sum(axis=-1), estimate - below),
            np.where(alone, high.sum(axis=-1), estimate + above),
        )

    def _weighted(self, sums: FloatArray) -> Total:
        """Return the weighted mean times the size, with an interval.

        The interval is Clopper-Pearson for the effective number of judgments (Korn and Graubard).
        """
        from scipy import special

        size, judged, tp, weight, weighted, spread, of_true = np.moveaxis(sums, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = weighted / weight
            variance = (of_true * (1.0 - share) ** 2 + (spread - of_true) * share**2) / weight**2
            worth = np.where(variance > 0, share * (1.0 - share) / variance, weight**2 / spread)
        freedom = np.maximum(judged - 1.0, 1.0)
        wider = special.stdtrit(freedom, 0.5 + 0.5 * self.level) / z_of(self.level)
        known = (judged > 0) & (spread > 0)
        worth = np.where(known, worth / wider**2, 1.0)
        low, high = clopper_pearson(np.where(known, share, 0.5) * worth, worth, self.level)
        return Total(
            share * size,
            np.where(known, low * size, tp),
            np.where(known, high * size, size - (judged - tp)),
        )

    def _horvitz_thompson(self, sums: FloatArray, left: FloatArray) -> Total:
        """Return the sum of inverse probabilities, with gamma limits (Fay and Feuer 1997)."""
        weighted, variance = sums[..., _COUNTS + 1], sums[..., _COUNTS + 3]
        tail = 0.5 * (1.0 - self.level)
        low = np.where(variance > 0, _gamma(tail, weighted, variance), weighted)
        more = np.where(left > 0, self.heaviest, 0.0)
        above = weighted + more, variance + more * np.maximum(more - 1.0, 0.0)
        high = np.where(above[1] > 0, _gamma(1.0 - tail, *above), above[0])
        return Total(weighted, low, high)


def _gamma(tail: float, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the gamma quantile for this mean and variance; 0 for a mean of 0."""
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore"):
        scale = variance / mean
        quantile = special.gammaincinv(mean / scale, tail) * scale
    return np.where((mean > 0) & (variance > 0), quantile, 0.0)


def difference(a: Total, b: Total) -> Total:
    """Return the difference between the totals of two disjoint sets (MOVER)."""
    one, other = (
        np.where(np.isnan(x.estimate), 0.5 * (x.low + x.high), x.estimate) for x in (a, b)
    )
    middle = one - other
    below, above = np.hypot(one - a.low, b.high - other), np.hypot(a.high - one, other - b.low)
    estimate = a.estimate - b.estimate
    # if no candidate in a set is judged, the limits are the most extreme values possible
    unknown = np.isnan(estimate)
    low = np.where(unknown, a.low - b.high, middle - below)
    return Total(estimate, low, np.where(unknown, a.high - b.low, middle + above))


def share_of(inside: Total, outside: Total) -> Total:
    """Return inside / (inside + outside) for the totals of two disjoint sets.

    The limits are the r at which the MOVER limits of (1 - r) inside - r outside are 0, as in
    Fieller's method (Donner and Zou 2012). The result is NaN without true positives.
    """
    middle, rest = (
        np.where(np.isnan(x.estimate), 0.5 * (x.low + x.high), x.estimate)
        for x in (inside, outside)
    )

    def edge(sign: float, near: FloatArray, far: FloatArray) -> FloatArray:
        """Return the r at which the lower (-1) or upper (+1) limit changes sign."""
        low, high = np.zeros(middle.shape), np.ones(middle.shape)
        for _ in range(60):
            r = 0.5 * (low + high)
            spread = np.hypot((1.0 - r) * (near - middle), r * (far - rest))
            positive = (1.0 - r) * middle - r * rest + sign * spread > 0.0
            low, high = np.where(positive, r, low), np.where(positive, high, r)
        return 0.5 * (low + high)

    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = inside.estimate / (inside.estimate + outside.estimate)
        exact = middle / (middle + rest)
    sure = (inside.low == inside.high) & (outside.low == outside.high)
    low = np.where(inside.low > 0.0, edge(-1.0, inside.low, outside.high), 0.0)
    high = np.where(outside.low > 0.0, edge(1.0, inside.high, outside.low), 1.0)
    low, high = (np.where(sure, exact, limit) for limit in (low, high))
    return Total(estimate, low, high)


def share_bounds(inside: Total, outside: Total) -> tuple[FloatArray, FloatArray]:
    """Return the range of inside / (inside + outside) that the limits allow."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return (inside.low / (inside.low + outside.high), inside.high / (inside.high + outside.low))


# ------------------------------------- Intervals for a finite population with a random sample


def hypergeometric_limits(
    tp: AnyArray, judged: AnyArray, size: AnyArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return exact limits for the total number of positives, given the sample.

    The equal-tailed interval contains the numbers of positives among ``size`` candidates for which
    both tails of the hypergeometric distribution at ``tp`` of ``judged`` exceed (1 - level) / 2
    (Buonaccorsi 1987). If all candidates are judged, both limits are the observed number. If no
    candidate is judged, the limits are 0 and the size.
    """
    wide = np.broadcast_arrays(tp, judged, size)
    shape = wide[0].shape
    tp, judged, size = (np.asarray(x, dtype=float).ravel() for x in wide)
    alpha = 0.5 * (1.0 - level)
    low, high = tp, size - (judged - tp)

    def enough(total: FloatArray, these: IntArray) -> BoolArray:
        """Return whether a sample with ``tp`` or more is probable enough for this total."""
        tails = distributions.tails(tp[these], size[these], total, judged[these])
        result: BoolArray = np.exp(tails.ge) > alpha
        return result

    def too_many(total: FloatArray, these: IntArray) -> BoolArray:
        """Return whether a sample with ``tp`` or fewer is too improbable for this total."""
        inside = np.minimum(total, high[these])
        false, all_ = (judged - tp)[these], size[these]
        upper = distributions.tails(false, all_, all_ - inside, judged[these]).ge
        result: BoolArray = (np.exp(upper) <= alpha) | (total > high[these])
        return result

    about, largest_about = _about(tp, judged, size, level)
    least = first_near(enough, low, high, about)
    largest = first_near(too_many, low, high + 1.0, largest_about + 1.0) - 1.0
    return np.clip(least, low, high).reshape(shape), np.clip(largest, low, high).reshape(shape)


def _about(
    tp: FloatArray, judged: FloatArray, size: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return approximate limits by Wilson's method for a sample without replacement.

    The limits use the variance of an equivalent number of judgments with replacement, a continuity
    correction of half a candidate, and the skewness of the distribution (Cornish and Fisher).
    """
    z = z_of(level)
    judged = np.maximum(judged, 1.0)
    worth = judged * np.maximum(size - 1.0, 1.0) / np.maximum(size - judged, 0.5)
    skew = (1.0 - 2.0 * tp / judged) * (size - 2.0 * judged) / judged * (z**2 - 1.0) / 6.0
    ends = []
    for count, sign in ((tp - 0.5, -1.0), (tp + 0.5, 1.0)):
        share = np.clip(count / judged, 0.0, 1.0)
        spread = np.sqrt(share * (1.0 - share) / worth + (0.5 * z / worth) ** 2)
        ends.append(size * (share + 0.5 * z**2 / worth + sign * z * spread) / (1.0 + z**2 / worth))
    return ends[0] - skew, ends[1] - skew


# --------------- Partly judged rankings: sums over lists and regions, and average precision


def up_to(parts: FloatArray, rank: IntArray, listed: BoolArray, n: IntArray) -> FloatArray:
    """Return the sums over ranks 1 to n: (candidate, part) -> (n, part)."""
    sums = np.zeros((parts.shape[0] + 1, parts.shape[1]))
    sums[rank] = np.where(listed[:, np.newaxis], parts, 0.0)  # every candidate has a different rank
    np.cumsum(sums, axis=0, out=sums)
    result: FloatArray = sums[np.minimum(n, parts.shape[0])]
    return result


def shared_up_to(
    parts: FloatArray, ranks: tuple[IntArray, IntArray], listed: BoolArray, n: IntArray
) -> FloatArray:
    """Return the sums over the candidates in both lists of size n."""
    sums = np.zeros((parts.shape[0] + 1, parts.shape[1]))
    np.add.at(sums, np.maximum(*ranks)[listed], parts[listed])
    np.cumsum(sums, axis=0, out=sums)
    result: FloatArray = sums[np.minimum(n, parts.shape[0])]
    return result


def windows_of(score: FloatArray, present: BoolArray, ends: AnyArray) -> IntArray:
    """Return the window that contains each candidate's best rank: (..., measure, candidate).

    The windows end at these ranks, and the last window ends at the last rank.
    """
    rank = Ranking.of(score, present, present).ranks
    best = np.where(present, rank, np.iinfo(np.int64).max).min(axis=-2)
    result: IntArray = np.searchsorted(ends, best, side="left")
    return result


def average_precision(
    score: FloatArray,
    true: BoolArray,
    judged: BoolArray,
    probability: FloatArray,
    stratum: IntArray,
    design: Design,
    cluster: IntArray | None = None,
) -> tuple[float, float, float]:
    """Estimate average precision with limits; candidates are sorted by decreasing score.

    The estimator is inferred average precision (Yilmaz and Aslam 2006) with inverse probability
    weights. At each judged positive, the precision combines the positive itself, counted as 1, with
    an estimate for the rest of the list. With the Horvitz-Thompson estimator, this estimate is the
    sum of the weights in the rest of the list. Equal scores form one block.
    """
    low, high = average_precision_bounds(score, true, judged)
    weights = _sampling_weights(judged, probability, stratum, design)
    if weights is None or not (judged & true).any():
        return np.nan, low, high
    weight, chosen = weights
    end = ranking.blocks(score)[1]
    hit = judged & true
    mass, positive = (_at_ends(weight * x, end) for x in (judged, hit))
    others, seen = positive - weight * hit, mass - weight * judged
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(seen > 0, others / seen, 0.0)
    of_others: FloatArray = share * (end - 1)
    if design.estimator == "horvitz-thompson":
        of_others = others
    precision = (1.0 + of_others) / end
    whole = float((weight * hit).sum())
    value = float((weight * precision)[hit].sum() / whole)
    if design.unjudged == "bounds":
        return value, low, high
    lists = np.where(hit, weight / end, 0.0)
    influence = np.where(hit, precision - value, 0.0)
    if design.estimator == "horvitz-thompson":
        influence = influence + hit * (_from_on(lists, score) - lists)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where((seen > 0) & hit, lists * (end - 1) / seen, 0.0)
        told, taken = (_from_on(x, score) - x for x in (each, each * share))
        influence = influence + np.where(hit, told, 0.0) - taken
    variance = _variance(weight, chosen, influence, judged, stratum, design)
    count = float(hit.sum())
    if cluster is not None:
        of_clusters, many = _judged_cluster_variance(
            weight, chosen, influence, judged, hit, cluster
        )
        part = apart(judged, cluster)
        variance = part * of_clusters + (1.0 - part) * variance
        count = min(count, 1.0 + (many - 1.0) / max(part, 1e-9))
    error, sure = np.sqrt(variance) / whole, (low, high)
    low, high = _judged_limits(value, error, count, sure, design.level)
    if design.estimator != "horvitz-thompson":
        # here each positive also counts among the rest, to the extent that it could have been
        # missed; otherwise the precision of lists with few judgments would be too low
        more = (1.0 - chosen) * weight
        share = (others + more) / np.where(seen + more > 0, seen + more, 1.0)
        second = float((weight * (1.0 + share * (end - 1)) / end)[hit].sum()) / whole
        at = np.nextafter(min(second, 1.0), 0.0)
        ends = _judged_limits(float(at), error, count, sure, design.level)
        low, high = min(low, ends[0]), max(high, ends[1])
    if design.strata != 1:
        # positives that few judgments can miss, and that contribute nothing to the sum
        parts = design.parts(judged, hit, probability, stratum).sum(axis=0)
        every = design.total(parts)
        low = max(sure[0], min(low, value * float(every.estimate / every.high)))
    return value, low, high


def _sampling_weights(
    judged: BoolArray, probability: FloatArray, stratum: IntArray, design: Design
) -> tuple[FloatArray, FloatArray] | None:
    """Return candidate weights and stratum rates; None if a stratum has no judgments."""
    if not design.strata or design.estimator == "horvitz-thompson":
        return 1.0 / probability, probability
    size = np.bincount(stratum, minlength=design.strata)
    seen = np.bincount(stratum[judged], minlength=design.strata)
    if (seen[size > 0] == 0).any():
        return None
    rate = (seen / np.maximum(size, 1))[stratum]
    return 1.0 / rate, rate


def _at_ends(values: FloatArray, end: IntArray) -> FloatArray:
    """Return the sum of the values up to the end of each value's block."""
    result: FloatArray = np.cumsum(values)[end - 1]
    return result


def _from_on(values: FloatArray, score: FloatArray) -> FloatArray:
    """Return the sum of the values from the start of each value's block to the end."""
    start = ranking.blocks(score)[0]
    below = np.cumsum(values[::-1])[::-1]
    result: FloatArray = below[start]
    return result


def _variance(
    weight: FloatArray,
    rate: FloatArray,
    influence: FloatArray,
    judged: BoolArray,
    stratum: IntArray,
    design: Design,
) -> float:
    """Return the weighted influence sum's variance due to sampling individual candidates."""
    drawn = np.where(judged, (1.0 - rate) * (weight * influence) ** 2, 0.0)
    if not design.strata or design.estimator == "horvitz-thompson":
        return float(drawn.sum())
    total = 0.0
    for k in range(design.strata):
        inside = judged & (stratum == k)
        count = int(inside.sum())
        if count > 1:
            squares = float(np.var(influence[inside], ddof=1))
            total += float((1.0 - rate[inside][0]) * weight[inside][0] ** 2) * count * squares
        else:
            total += float(drawn[inside].sum())
    return total


def _judged_cluster_variance(
    weight: FloatArray,
    rate: FloatArray,
    influence: FloatArray,
    judged: BoolArray,
    hit: BoolArray,
    cluster: IntArray,
) -> tuple[float, float]:
    """Return the variance over cluster samples, and the number of positive clusters.

    As in :func:`roc_areas.cluster_spread`, totals are divided by a power of 1 - h. The second
    result is Simpson's effective number of clusters with positives. There are at least 3 degrees
    of freedom, because the largest total enters its own variance.
    """
    number = np.unique(cluster[judged], return_inverse=True)[1]
    sums = np.bincount(number, (np.sqrt(1.0 - rate) * weight * influence)[judged])
    positive = np.bincount(number, hit[judged]).astype(float)
    rest = 1.0 - positive / positive.sum()
    far = (sums - sums.mean()) / np.maximum(rest, 0.5 / np.maximum(positive, 1.0)) ** ALONE
    variance = float((far**2).sum()) * sums.size / max(sums.size - 1.0, 1.0)
    most = 2.0 * np.count_nonzero(positive) - 1.0
    return variance, min(max(float(simpson_number(positive)), _LEAST), most)


def apart(judged: BoolArray, cluster: IntArray) -> float:
    """Return the fraction of unjudged candidates in clusters without judged candidates.

    The fraction is 1 if no cluster is partly judged, and 0 if every cluster has judged candidates.
    """
    if judged.all():
        return 1.0
    return float(np.mean(~np.isin(cluster[~judged], cluster[judged])))


def _judged_limits(
    value: float, error: float, positives: float, sure: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return limits in the possible range, symmetric on the logit scale (Student's t)."""
    from scipy import special

    if not (error > 1e-12 and 0.0 < value < 1.0):  # smaller values are rounding errors
        return sure
    middle = np.log(value / (1.0 - value))
    half = t_of(max(positives - 1.0, 1.0), level) * error / (value * (1.0 - value))
    low, high = special.expit([middle - half, middle + half])
    low, high = np.clip((low, high), *sure)
    return min(float(low), value), max(float(high), value)  # the estimate can be impossible


def average_precision_bounds(
    score: FloatArray, true: BoolArray, judged: BoolArray
) -> tuple[float, float]:
    """Return the possible range of average precision; scores must be descending.

    If k unjudged candidates are positive, average precision is largest if the first k are positive
    and smallest if the last k are positive. The search over all k takes O(N).
    """
    if judged.all():
        value = _judged_average_precision(score, true)
        return value, value
    hit, open_ = judged & true, ~judged
    start, end = ranking.blocks(score)
    inverse = 1.0 / end
    above = _at_ends(hit.astype(float), end)  # judged positives up to the end of the block
    known = float((above * inverse)[hit].sum())
    helped = np.cumsum(np.where(hit, inverse, 0.0)[::-1])[::-1][start]
    count = np.arange(1, int(open_.sum()) + 1)
    positives = int(hit.sum())
    first, last = np.flatnonzero(open_), np.flatnonzero(open_)[::-1]
    # each positive adds its own precision, and 1 / n for every positive at or below its rank
    block = np.concatenate([[True], end[first][1:] != end[first][:-1]])
    of_block = count - np.maximum.accumulate(np.where(block, count, 0))  # chosen before
    most = (above[first] + count) * inverse[first] + helped[first] + of_block * inverse[first]
    added = np.concatenate([[0.0], np.cumsum(inverse[last])[:-1]])
    block = np.concatenate([[True], end[last][1:] != end[last][:-1]])
    of_block = count - np.maximum.accumulate(np.where(block, count, 0))
    least = (above[last] + 1 + of_block) * inverse[last] + helped[last] + added
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = [np.concatenate([[known], known + np.cumsum(x)]) for x in (least, most)]
        low, high = (x / (positives + np.arange(count.size + 1)) for x in sums)
    return float(np.nanmin(low)), float(np.nanmax(high))


def _judged_average_precision(score: FloatArray, true: BoolArray) -> float:
    """Return the average precision of judged candidates, sorted by decreasing score."""
    if not true.any():
        return np.nan
    end = ranking.blocks(score)[1]
    return float((_at_ends(true.astype(float), end) / end)[true].sum() / true.sum())


# -------------------------------------------------------------------------------------------------
# Limits for sums over partly judged rankings with clustered candidates.
#
# Totals are estimated as in ``judged_sums``, which does not use clusters. The variance of a total
# is estimated from cluster totals of the judged candidates. A candidate with label y, weight w and
# judging rate r contributes
#
#     w sqrt(1 - r) (y - p),
#
# where p is the proportion of true positives in the candidate's stratum. This gives the error of
# sampling whole clusters. If a cluster has judged candidates, its unjudged candidates add only the
# error of sampling individual candidates. If all candidates are judged, the error is 0. As in
# ``cluster_totals``, the interval is Wilson's for the effective number of judged candidates, or
# Student's for the Horvitz-Thompson estimator.

_BOTH = 1.4  # factor for a region's degrees of freedom; sufficient in simulations of differences

Sets = Sequence[tuple[float, IntArray]]
"""Sets of nested lists: a sign, and for each candidate the first list that contains it."""


class JudgedClusters(NamedTuple):
    """The candidates of one ranking, a mask of judged candidates, and cluster numbers."""

    judged: BoolArray
    true: BoolArray
    probability: FloatArray
    stratum: IntArray
    cluster: IntArray
    design: Design
    here: BoolArray  #: positions of these candidates among all candidates

    @classmethod
    def of(
        cls, of_each: Sequence[AnyArray], cluster: IntArray, here: BoolArray, design: Design
    ) -> JudgedClusters:
        """Return the fields for these candidates, in the same order."""
        number = np.unique(cluster[here], return_inverse=True)[1].astype(np.int64)
        judged, true, probability, stratum = (x[here] for x in of_each)
        return cls(judged, true, probability, stratum, number, design, here)

    @property
    def everyone(self) -> int:
        """The number of clusters with judged candidates."""
        return int(np.unique(self.cluster[self.judged]).size)

    @property
    def apart(self) -> float:
        """The fraction of unjudged candidates in clusters without judged candidates."""
        return apart(self.judged, self.cluster)

    def list_limits(
        self,
        rank: IntArray,
        listed: BoolArray,
        n: IntArray,
        share: FloatArray,
        whole: FloatArray,
        *,
        recall: bool,
    ) -> Limits:
        """Return limits for the precision or the recall of lists.

        ``whole`` is the denominator: n, or the estimated number of positives.
        """
        low, high = np.empty((2, n.size))
        for block in self._blocks(n):
            first = self._firsts(rank, listed, n[block])
            size = n[block].size
            inside, seen = self.totals([(1.0, first)], size)
            if recall:
                all_of = np.zeros_like(first)
                outside, _ = self.totals([(1.0, all_of), (-1.0, first)], size)
                own = share[block, np.newaxis]
                inside = (1.0 - own) * inside - own * outside
                positive = np.bincount(
                    self.cluster[self.judged & self.true], minlength=seen.shape[1]
                )
                alone = self._fixed_sizes(first, seen.sum(axis=1), share[block])
                seen = np.broadcast_to(positive.astype(float), seen.shape)
                left = np.full(size, 1.0 - self.judged.mean())
            else:
                left = np.clip(1.0 - seen.sum(axis=1) / whole[block], 0.0, 1.0)
                alone = np.ones(size)
            error = np.nan_to_num(inside / whole[block, np.newaxis])
            ratio = recall or self.design.estimator != "horvitz-thompson"
            low[block], high[block] = share_limits(
                share[block],
                error,
                seen,
                left,
                self.design.level,
                self.apart,
                whole=ratio,
                alone=alone,
            )
        return low, high

    def _fixed_sizes(self, first: IntArray, judged: FloatArray, recall: FloatArray) -> FloatArray:
        """Return the variance of recall divided by its binomial variance, ignoring clusters.

        The sizes of the list and of the remaining candidates are fixed, so only the two precisions
        vary.
        """
        hits = self.judged & self.true
        inside = np.cumsum(np.bincount(first[hits], minlength=judged.size + 1)[: judged.size])
        outside, rest = hits.sum() - inside, self.judged.sum() - judged
        false = [1.0 - (tp + 2.0) / (n + 4.0) for tp, n in ((inside, judged), (outside, rest))]
        return np.asarray((1.0 - recall) * false[0] + recall * false[1])

    def region_limits(
        self,
        ranks: tuple[IntArray, IntArray],
        listed: tuple[BoolArray, BoolArray],
        n: IntArray,
        shares: tuple[FloatArray, FloatArray],
    ) -> list[Limits]:
        """Return limits for the precision in each of the two difference regions."""
        limits = np.empty((2, 2, n.size))
        for block in self._blocks(n):
            firsts = [self._firsts(*x, n[block]) for x in zip(ranks, listed, strict=True)]
            both, ratio = np.maximum(*firsts), self.design.estimator != "horvitz-thompson"
            for side, first in enumerate(firsts):
                error, seen = self.totals([(1.0, first), (-1.0, both)], n[block].size)
                size = self._sizes([(1.0, first), (-1.0, both)], n[block].size)
                left = np.clip(1.0 - seen.sum(axis=1) / size, 0.0, 1.0)
                limits[side, :, block] = np.array(
                    share_limits(
                        shares[side][block],
                        error / size[:, np.newaxis],
                        seen,
                        left,
                        self.design.level,
                        self.apart,
                        whole=ratio,
                        more=_BOTH,
                    )
                )
        return [(low, high) for low, high in limits]

    def _sizes(self, sets: Sets, n_lists: int) -> FloatArray:
        """Return the number of candidates in each set, at least 1."""
        size = np.zeros(n_lists)
        for sign, first in sets:
            size += sign * np.cumsum(np.bincount(first, minlength=n_lists + 1)[:n_lists])
        return np.maximum(size, 1.0)

    def _firsts(self, rank: IntArray, listed: BoolArray, n: IntArray) -> IntArray:
        found = np.searchsorted(n, rank[self.here], side="left")
        return np.where(listed[self.here], found, n.size)

    def _blocks(self, n: IntArray) -> Iterator[slice]:
        """Yield blocks of lists whose cluster tables fit in memory."""
        step = max(1, 2_000_000 // (int(self.cluster.max(initial=0)) + 1))
        for start in range(0, n.size, step):
            yield slice(start, start + step)

    def totals(self, sets: Sets, n_lists: int) -> tuple[FloatArray, FloatArray]:
        """Return cluster errors and numbers of judged candidates: (list, cluster)."""
        clusters = int(self.cluster.max(initial=-1)) + 1
        error, seen = np.zeros((2, n_lists, clusters))
        horvitz = self.design.estimator == "horvitz-thompson"
        strata = 0 if horvitz else self.design.strata
        for number in range(max(strata, 1)):
            here = self.stratum == number if strata > 1 else np.ones(self.judged.size, dtype=bool)

            def add(weight: FloatArray, here: BoolArray = here) -> FloatArray:
                cluster = self.cluster[here]
                return np.asarray(
                    sum(
                        sign
                        * cluster_totals.list_counts(
                            weight[here], first[here], cluster, n_lists, clusters
                        )
                        for sign, first in sets
                    )
                )

            judged = self.judged.astype(float)
            size, own = add(np.ones(judged.size)), add(judged)
            seen += own
            weight = judged if strata else judged / self.probability
            damped = judged if strata else weight * np.sqrt(1.0 - self.probability)
            total, every = (x.sum(axis=1) for x in (add(weight), size))
            with np.errstate(divide="ignore", invalid="ignore"):
                share = add(weight * self.true).sum(axis=1) / total
                scale = every / total
                if strata:
                    scale = scale * np.sqrt(np.clip(1.0 - own.sum(axis=1) / every, 0.0, 1.0))
            if horvitz:
                share, scale = np.zeros(n_lists), np.ones(n_lists)
            moved = add(damped * self.true) - share[:, np.newaxis] * add(damped)
            error += np.nan_to_num(scale)[:, np.newaxis] * np.nan_to_num(moved)
        return error, seen


def share_limits(
    share: FloatArray,
    error: FloatArray,
    seen: FloatArray,
    left: FloatArray,
    level: float,
    apart: float = 1.0,
    *,
    whole: bool = True,
    more: float = 1.0,
    alone: AnyArray | float = 1.0,
) -> Limits:
    """Return limits for a proportion, from the clusters' errors and judged candidates.

    ``left`` is the fraction of unjudged candidates. If this fraction is 0, the variance is 0.
    ``apart`` is the fraction of unjudged candidates in clusters without judged candidates.
    ``whole`` is True if the estimate is a proportion of judged candidates. The Horvitz-Thompson
    estimate is not such a proportion, so its interval uses Student's t. ``more`` multiplies the
    degrees of freedom, and ``alone`` multiplies the binomial variance of individual candidates.
    """
    judged = np.maximum(seen.sum(axis=-1), 1.0)
    near = (np.nan_to_num(share) * judged + 2.0) / (judged + 4.0)
    h = seen / judged[..., np.newaxis]
    squares = (error**2 / np.maximum(1.0 - h, 0.5 / np.maximum(seen, 1.0))).sum(axis=-1)
    squares += (
        (near**2 + (1.0 - near) ** 2)
        * left
        * (cluster_totals.rare_label(near, 6) * (seen**2).sum(axis=-1) / judged**3)
    )
    variance = np.maximum(apart * squares, alone * near * (1.0 - near) * left / judged)
    freedom = cluster_totals.simpson_number(seen) - 1.0
    # individual candidates have more degrees of freedom than clusters
    freedom = np.minimum(more * freedom / max(apart, 1e-9), judged - 1.0)
    known = (freedom > 0.0) & (variance > 0.0)
    t = t_of(np.where(known, freedom, 1.0), level)
    if not whole:
        half = np.where(known, t * np.sqrt(variance), np.inf)
        return share - half, share + half
    worth = near * (1.0 - near) / np.where(known, variance, np.inf) * (z_of(level) / t) ** 2
    worth = np.maximum(worth, 1e-6)
    return INTERVALS["wilson"](np.clip(np.nan_to_num(share), 0.0, 1.0) * worth, worth, level)
