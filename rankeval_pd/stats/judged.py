"""Estimates from candidates that are judged in part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats import clusters as cluster_totals
from rankeval_pd.stats import distributions
from rankeval_pd.stats._types import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    silent_division,
    slices,
)
from rankeval_pd.stats.distributions import first_near
from rankeval_pd.stats.proportions import INTERVALS, Limits, clopper_pearson, t_of, z_of

# --------------------------- Estimated numbers of true positives in partly judged sets, with limits
#
# The last axis contains sums over a set: candidates, judged candidates, and judged true positives,
# and then the same per stratum, or sums weighted by inverse probabilities of being judged.

_COUNTS = 3  # candidates, judged candidates, and judged true positives
_HALVINGS = 60  # a bracket of length 1 shrinks to 1e-18, less than a rounding error
_LEAST = 4.0  # clusters that contain positives (tests/simulations/second_audit_rankings.csv)
MOST_STRATA = 12  # with more different probabilities, use weights instead of strata


class Total(NamedTuple):
    """An estimated number of true positives, with limits."""

    estimate: FloatArray  #: NaN if no candidate in the set is judged
    low: FloatArray
    high: FloatArray

    def __truediv__(self, size: AnyArray) -> Total:
        with silent_division():
            return Total(*(np.asarray(np.true_divide(x, size)) for x in self))

    @property
    def middle(self) -> FloatArray:
        """Return the estimate, or the middle of the limits if no candidate is judged."""
        return np.where(np.isnan(self.estimate), 0.5 * (self.low + self.high), self.estimate)


class JudgedSample(NamedTuple):
    """Who was judged, who is true, and how judging was sampled: each (candidate)."""

    judged: BoolArray
    true: BoolArray
    probability: FloatArray  #: of being selected for judging
    stratum: IntArray

    def at(self, which: Any) -> JudgedSample:
        """Return the sample of some of the candidates, in this order."""
        return JudgedSample(*map(itemgetter(which), self))


class Design(NamedTuple):
    """The sampling design for judged candidates, and the estimator."""

    strata: int  #: number of strata, each judged at random, or 0 for individual probabilities
    unjudged: str  #: "estimate" or "bounds"
    level: float

    def parts(self, sample: JudgedSample) -> FloatArray:
        """Return each candidate's contributions to the sums over a set: (candidate, part)."""
        judged, true, probability, stratum = sample
        counts = [np.ones(judged.shape), judged, judged & true]
        if self.strata:
            inside = stratum[:, np.newaxis] == np.arange(self.strata)
            of_strata = [inside * x[:, np.newaxis] for x in counts]
            return np.concatenate([np.stack(counts, axis=-1), *of_strata], axis=-1)
        weight = np.where(judged, 1.0 / probability, 0.0)
        spread = (1.0 - probability) * weight**2
        return np.stack([*counts, weight, weight * true, spread, spread * true], axis=-1)

    def total(self, sums: FloatArray) -> Total:
        """Estimate the number of true positives in each set: (..., part) -> (...)."""
        size, judged, _ = np.moveaxis(sums[..., :_COUNTS], -1, 0)
        sure = possible_totals(sums)
        found = self._stratified(sums) if self.strata else self._weighted(sums)
        if self.unjudged == "bounds":
            found = Total(found.estimate, *sure)
        known = (judged > 0) | (size == 0)
        estimate = np.where(known, found.estimate, np.nan)
        return Total(estimate, np.clip(found.low, *sure), np.clip(found.high, *sure))

    def _stratified(self, sums: FloatArray) -> Total:
        """Sum over strata and combine their exact intervals (MOVER, Zou and Donner 2008)."""
        size, judged, tp = np.split(sums[..., _COUNTS:], 3, axis=-1)
        low, high = hypergeometric_limits(tp, judged, size, self.level)
        with silent_division():
            share = np.where(judged > 0, tp / judged, 0.0)
            seen = np.where(judged > 0, size, 0.0)
            others = (share * seen).sum(axis=-1, keepdims=True) / seen.sum(axis=-1, keepdims=True)
            # a stratum without judgments is assumed to be like the other strata in the set
            share = np.where(judged > 0, share, np.where(np.isnan(others), 0.5, others))
        middle = np.where(judged > 0, tp * size / np.maximum(judged, 1), share * size)
        estimate = middle.sum(axis=-1)
        alone = np.count_nonzero(size, axis=-1) <= 1
        below = estimate - np.sqrt(((middle - low) ** 2).sum(axis=-1))
        above = estimate + np.sqrt(((high - middle) ** 2).sum(axis=-1))
        low = np.where(alone, low.sum(axis=-1), below)
        return Total(estimate, low, np.where(alone, high.sum(axis=-1), above))

    def _weighted(self, sums: FloatArray) -> Total:
        """Return the weighted mean times the size, with Korn and Graubard's effective size."""
        size, judged, _, weight, weighted, spread, of_true = np.moveaxis(sums, -1, 0)
        with silent_division():
            share = weighted / weight
            variance = (of_true * (1.0 - share) ** 2 + (spread - of_true) * share**2) / weight**2
            worth = np.where(variance > 0, share * (1.0 - share) / variance, weight**2 / spread)
        wider = t_of(np.maximum(judged - 1.0, 1.0), self.level) / z_of(self.level)
        known = (judged > 0) & (spread > 0)
        worth = np.where(known, worth / wider**2, 1.0)
        low, high = clopper_pearson(np.where(known, share, 0.5) * worth, worth, self.level)
        least, most = possible_totals(sums)
        low = np.where(known, low * size, least)
        high = np.where(known, high * size, most)
        return Total(share * size, low, high)


def total_difference(a: Total, b: Total) -> Total:
    """Return the difference between the totals of two disjoint sets (MOVER)."""
    one, other = a.middle, b.middle
    middle = one - other
    below = np.hypot(one - a.low, b.high - other)
    above = np.hypot(a.high - one, other - b.low)
    estimate = a.estimate - b.estimate
    # if no candidate in a set is judged, the limits are the most extreme values possible
    unknown = np.isnan(estimate)
    low = np.where(unknown, a.low - b.high, middle - below)
    return Total(estimate, low, np.where(unknown, a.high - b.low, middle + above))


def share_of(inside: Total, outside: Total) -> Total:
    """Return inside / (inside + outside) for disjoint sets; NaN without true positives.

    The limits r are where MOVER limits of (1 - r) inside - r outside are 0 (Donner and Zou 2012).
    """
    middle, rest = inside.middle, outside.middle
    with silent_division():
        estimate = inside.estimate / (inside.estimate + outside.estimate)
        exact = middle / (middle + rest)
    sure = (inside.low == inside.high) & (outside.low == outside.high)
    low = _share_edge(middle, rest, inside.low, outside.high, -1.0)
    high = _share_edge(middle, rest, inside.high, outside.low, 1.0)
    low = np.where(inside.low > 0.0, low, 0.0)
    high = np.where(outside.low > 0.0, high, 1.0)
    return Total(estimate, np.where(sure, exact, low), np.where(sure, exact, high))


def _share_edge(
    middle: FloatArray, rest: FloatArray, near: FloatArray, far: FloatArray, sign: float
) -> FloatArray:
    """Return the r at which the lower (-1) or upper (+1) limit changes sign."""
    low = np.zeros(middle.shape)
    high = np.ones(middle.shape)
    for _ in range(_HALVINGS):
        r = 0.5 * (low + high)
        spread = np.hypot((1.0 - r) * (near - middle), r * (far - rest))
        positive = (1.0 - r) * middle - r * rest + sign * spread > 0.0
        low = np.where(positive, r, low)
        high = np.where(positive, high, r)
    return 0.5 * (low + high)


def possible_totals(sums: FloatArray) -> Limits:
    """Return the fewest and the most true positives possible in each set."""
    size, judged, tp = np.moveaxis(sums[..., :_COUNTS], -1, 0)
    return tp, size - (judged - tp)


def share_bounds(inside: FloatArray, outside: FloatArray) -> Limits:
    """Return the smallest and largest possible inside / (inside + outside), from the sums."""
    least, most = possible_totals(inside)
    rest_least, rest_most = possible_totals(outside)
    with silent_division():
        return least / (least + rest_most), most / (most + rest_least)


# ------------------------------------- Intervals for a finite population with a random sample


def hypergeometric_limits(tp: AnyArray, judged: AnyArray, size: AnyArray, level: float) -> Limits:
    """Return exact limits for the total number of positives, given the sample.

    Both tails of the hypergeometric distribution at ``tp`` of ``judged`` exceed (1 - level) / 2 for
    the totals inside (Buonaccorsi 1987). Without any judged candidate, they are 0 and ``size``.
    """
    tp, judged, size = distributions.broadcast_floats(tp, judged, size)
    low = _least_positives(tp, judged, size, level)
    return low, size - _least_positives(judged - tp, judged, size, level)


def _least_positives(
    tp: FloatArray, judged: FloatArray, size: FloatArray, level: float
) -> FloatArray:
    """Return the smallest total for which ``tp`` or more is probable enough."""
    shape = tp.shape
    tp, judged, size = tp.ravel(), judged.ravel(), size.ravel()
    alpha = 0.5 * (1.0 - level)

    def enough(total: FloatArray, these: IntArray) -> BoolArray:
        tails = distributions.tails(tp[these], size[these], total, judged[these])
        return np.exp(tails.ge) > alpha

    guess = _about_least(tp, np.maximum(judged, 1.0), size, z_of(level))
    return first_near(enough, tp, size - (judged - tp), guess).reshape(shape)


def _about_least(tp: FloatArray, judged: FloatArray, size: FloatArray, z: float) -> FloatArray:
    """Return an approximate limit: Wilson's, corrected for continuity and skewness."""
    worth = judged * np.maximum(size - 1.0, 1.0) / np.maximum(size - judged, 0.5)
    skew = (1.0 - 2.0 * tp / judged) * (size - 2.0 * judged) / judged * (z**2 - 1.0) / 6.0
    share = np.clip((tp - 0.5) / judged, 0.0, 1.0)
    spread = np.sqrt(share * (1.0 - share) / worth + (0.5 * z / worth) ** 2)
    limit = size * (share + 0.5 * z**2 / worth - z * spread) / (1.0 + z**2 / worth)
    return limit - skew


# --------------- Partly judged rankings: sums over lists and regions, and average precision


def up_to(parts: FloatArray, rank: IntArray, listed: BoolArray, n: IntArray) -> FloatArray:
    """Return sums over the listed candidates up to rank n: (candidate, part) -> (n, part)."""
    ends = len(parts) + 1
    at_rank: AnyArray = np.array([np.bincount(rank[listed], x, ends) for x in parts[listed].T])
    return np.cumsum(at_rank, axis=1)[:, np.minimum(n, ends - 1)].T


def apart_share(judged: BoolArray, cluster: IntArray) -> float:
    """Return the unjudged candidates' share in clusters without judged ones, or 1."""
    if judged.all():
        return 1.0
    return float(np.mean(~np.isin(cluster[~judged], cluster[judged])))


# ---------------------------- Limits for sums over partly judged rankings with clustered candidates
#
# Totals are estimated as above, without clusters; their variance comes from cluster totals of the
# judged candidates. A candidate with label y, weight w and judging rate r contributes
#
#     w sqrt(1 - r) (y - p),
#
# where p is the proportion of true positives in its stratum: the error of sampling whole clusters.
# Unjudged candidates of a partly judged cluster add only the error of sampling individual
# candidates. The interval is Wilson's for the effective number of judged candidates.

_BOTH = 1.4  # factor for a region's degrees of freedom (tests/simulations/judged_clusters.csv)

Sets = Sequence[tuple[float, IntArray]]
"""Sets of nested lists: a sign, and for each candidate the first list that contains it."""


class JudgedClusters(NamedTuple):
    """The partly judged candidates of one ranking, with cluster numbers."""

    sample: JudgedSample
    cluster: IntArray
    design: Design
    here: BoolArray  #: positions of these candidates among all candidates

    @classmethod
    def of(
        cls, sample: JudgedSample, cluster: IntArray, here: BoolArray, design: Design
    ) -> JudgedClusters:
        """Return the fields for these candidates, in the same order."""
        number = np.unique(cluster[here], return_inverse=True)[1].astype(np.int64)
        return cls(sample.at(here), number, design, here)

    def limits(
        self,
        lists: Sequence[tuple[IntArray, BoolArray]],
        n: IntArray,
        share: FloatArray,
        whole: FloatArray,
        *,
        recall: bool = False,
    ) -> Limits:
        """Return limits for the precision or the recall of lists of size n.

        ``lists`` holds the rank of every candidate, and whether it can be listed. With a second
        list, the limits are for the candidates that are only in the first list. ``whole`` is the
        denominator: the number of these candidates, or the estimated number of positives.
        """
        low, high = np.empty((2, n.size))
        apart = apart_share(self.sample.judged, self.cluster)
        # blocks of lists whose cluster tables fit in memory
        for block in slices(n.size, int(self.cluster.max(initial=0)) + 1, 2_000_000):
            size = n[block].size
            own = share[block, np.newaxis]
            firsts = []
            first = n[:0]
            for rank, listed in lists:
                first = np.searchsorted(n[block], rank[self.here])
                firsts.append(np.where(listed[self.here], first, size))
            sets = [(1.0, firsts[0])]
            more = 1.0
            if len(firsts) > 1:
                sets = [*sets, (-1.0, np.maximum(*firsts))]
                more = _BOTH
            inside, seen = self.totals(sets, size)
            if not recall:
                left = np.clip(1.0 - seen.sum(axis=1) / whole[block], 0.0, 1.0)
                alone = np.ones(size)
            else:
                outside, _ = self.totals([(1.0, np.zeros_like(first)), (-1.0, first)], size)
                inside = (1.0 - own) * inside - own * outside
                hit = self.sample.judged & self.sample.true
                positive = np.bincount(self.cluster[hit], minlength=seen.shape[1])
                alone = self._fixed_sizes(first, seen.sum(axis=1), share[block])
                seen = np.broadcast_to(positive.astype(float), seen.shape)
                left = np.full(size, 1.0 - self.sample.judged.mean())
            low[block], high[block] = cluster_share_limits(
                share[block],
                np.nan_to_num(inside / whole[block, np.newaxis]),
                seen,
                left,
                self.design.level,
                apart,
                more=more,
                alone=alone,
            )
        return low, high

    def _fixed_sizes(self, first: IntArray, judged: FloatArray, recall: FloatArray) -> FloatArray:
        """Return the variance of recall over the binomial one, given sizes, without clusters."""
        hits = self.sample.judged & self.sample.true
        inside = np.cumsum(np.bincount(first[hits], minlength=judged.size + 1)[: judged.size])
        outside = hits.sum() - inside
        rest = self.sample.judged.sum() - judged
        false = [1.0 - (tp + 2.0) / (n + 4.0) for tp, n in ((inside, judged), (outside, rest))]
        return (1.0 - recall) * false[0] + recall * false[1]

    def totals(self, sets: Sets, n_lists: int) -> tuple[FloatArray, FloatArray]:
        """Return cluster errors and numbers of judged candidates: (list, cluster)."""
        clusters = int(self.cluster.max(initial=-1)) + 1
        error, seen = np.zeros((2, n_lists, clusters))
        strata = self.design.strata
        judged = self.sample.judged.astype(float)
        weight = damped = judged
        if not strata:
            weight = judged / self.sample.probability
            damped = weight * np.sqrt(1.0 - self.sample.probability)
        for number in range(max(strata, 1)):
            here = np.ones(judged.size, dtype=bool)
            if strata > 1:
                here = self.sample.stratum == number
            counted = partial(self._counts, sets, n_lists, clusters, here)
            own = counted(judged)
            seen += own
            total = counted(weight).sum(axis=1)
            every = counted(np.ones(judged.size)).sum(axis=1)
            with silent_division():
                share = counted(weight * self.sample.true).sum(axis=1) / total
                scale = every / total
                if strata:
                    scale = scale * np.sqrt(np.clip(1.0 - own.sum(axis=1) / every, 0.0, 1.0))
            moved = counted(damped * self.sample.true) - share[:, np.newaxis] * counted(damped)
            error += np.nan_to_num(scale)[:, np.newaxis] * np.nan_to_num(moved)
        return error, seen

    def _counts(
        self, sets: Sets, n_lists: int, clusters: int, here: BoolArray, weight: FloatArray
    ) -> FloatArray:
        """Return the sums of the weights over each set and cluster: (list, cluster)."""
        counts = np.zeros((n_lists, clusters))
        for sign, first in sets:
            counts += sign * cluster_totals.list_counts(
                weight[here], first[here], self.cluster[here], n_lists, clusters
            )
        return counts


def cluster_share_limits(
    share: FloatArray,
    error: FloatArray,
    seen: FloatArray,
    left: FloatArray,
    level: float,
    apart: float = 1.0,
    *,
    more: float = 1.0,
    alone: AnyArray | float = 1.0,
) -> Limits:
    """Return limits for a proportion, from the clusters' errors and judged candidates.

    ``left`` is the fraction of unjudged candidates, and ``apart`` the part of them in clusters
    without judged candidates. ``more`` multiplies the degrees of freedom, and ``alone`` the
    binomial variance of individual candidates.
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
    worth = near * (1.0 - near) / np.where(known, variance, np.inf) * (z_of(level) / t) ** 2
    worth = np.maximum(worth, 1e-6)
    return INTERVALS["wilson"](np.clip(np.nan_to_num(share), 0.0, 1.0) * worth, worth, level)
