"""Limits for sums over partly judged rankings with clustered candidates.

Totals are estimated as in ``judged_sums``, which does not use clusters. The variance of a total is
estimated from cluster totals of the judged candidates. A candidate with label y, weight w and
judging rate r contributes

    w sqrt(1 - r) (y - p),

where p is the proportion of true positives in the candidate's stratum. This gives the error of
sampling whole clusters. If a cluster has judged candidates, its unjudged candidates add only the
error of sampling individual candidates. If all candidates are judged, the error is 0. As in
``cluster_totals``, the interval is Wilson's for the effective number of judged candidates, or
Student's for the Horvitz-Thompson estimator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals import cluster_totals
from rankeval_pd.stats.intervals.proportions import INTERVALS, Limits, t_of, z_of
from rankeval_pd.stats.rankings.judged_sums import Design, apart

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
        self, rank: IntArray, listed: BoolArray, n: IntArray, share: FloatArray, whole: FloatArray,
        *, recall: bool,
    ) -> Limits:  # fmt: skip
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
                share[block], error, seen, left, self.design.level, self.apart, whole=ratio,
                alone=alone,
            )  # fmt: skip
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
        self, ranks: tuple[IntArray, IntArray], listed: tuple[BoolArray, BoolArray], n: IntArray,
        shares: tuple[FloatArray, FloatArray],
    ) -> list[Limits]:  # fmt: skip
        """Return limits for the precision in each of the two difference regions."""
        limits = np.empty((2, 2, n.size))
        for block in self._blocks(n):
            firsts = [self._firsts(*x, n[block]) for x in zip(ranks, listed, strict=True)]
            both, ratio = np.maximum(*firsts), self.design.estimator != "horvitz-thompson"
            for side, first in enumerate(firsts):
                error, seen = self.totals([(1.0, first), (-1.0, both)], n[block].size)
                size = self._sizes([(1.0, first), (-1.0, both)], n[block].size)
                left = np.clip(1.0 - seen.sum(axis=1) / size, 0.0, 1.0)
                limits[side, :, block] = np.array(share_limits(
                    shares[side][block], error / size[:, np.newaxis], seen, left,
                    self.design.level, self.apart, whole=ratio, more=_BOTH,
                ))  # fmt: skip
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
                return np.asarray(sum(
                    sign * cluster_totals.list_counts(
                        weight[here], first[here], cluster, n_lists, clusters
                    )
                    for sign, first in sets
                ))  # fmt: skip

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
    share: FloatArray, error: FloatArray, seen: FloatArray, left: FloatArray, level: float,
    apart: float = 1.0, *, whole: bool = True, more: float = 1.0, alone: AnyArray | float = 1.0,
) -> Limits:  # fmt: skip
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
