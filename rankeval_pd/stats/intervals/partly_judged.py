"""Numbers of true positives in sets of which a part is judged, and their limits.

What is added up over a set is the last axis: how many candidates, how many of them judged, how
many judged true, and then the same for each stratum, or weighted by the inverse of the
probabilities with which candidates were chosen to be judged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.normal import z_of
from rankeval_pd.stats.intervals.finite import hypergeometric_limits
from rankeval_pd.stats.intervals.proportions import clopper_pearson

_COUNTS = 3
MOST_STRATA = 12  # with more, single probabilities are weights and make no strata


class Total(NamedTuple):
    """An estimated number of true positives, and its limits."""

    estimate: FloatArray  #: NaN where nothing of the set is judged
    low: FloatArray
    high: FloatArray

    def __truediv__(self, size: AnyArray) -> Total:
        with np.errstate(divide="ignore", invalid="ignore"):
            return Total(*(np.asarray(np.true_divide(x, size)) for x in self))


class Design(NamedTuple):
    """How candidates came to be judged, and how what they say is put together."""

    strata: int  #: within each a random sample is judged; 0: single probabilities
    unjudged: str  #: "estimate" or "bounds"
    estimator: str  #: "ratio" or "horvitz-thompson"
    level: float
    heaviest: float = 0.0  #: the largest inverse probability of a candidate that is not judged

    def parts(
        self,
        judged: BoolArray,
        true: BoolArray,
        probability: FloatArray,
        stratum: IntArray,
    ) -> FloatArray:
        """Return what each candidate adds to the sums of a set: (candidate, part)."""
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
        """Return the number of true positives in each set: (..., part) -> (...)."""
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
        """Add the strata up, each with its exact interval (MOVER, Zou and Donner 2008)."""
        size, judged, tp = np.split(sums[..., _COUNTS:], 3, axis=-1)
        low, high = hypergeometric_limits(tp, judged, size, self.level)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(judged > 0, tp / judged, 0.0)
            seen = np.where(judged > 0, size, 0.0)
            others = (share * seen).sum(axis=-1, keepdims=True) / seen.sum(axis=-1, keepdims=True)
            # a stratum without judgements is taken to be as the others of the set
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
        """Return the weighted mean times the size, its interval that of as many as it is worth.

        Clopper and Pearson's interval for the effective number of judgements (Korn and Graubard).
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
    """Return a quantile of the gamma law with this mean and variance; 0 for a mean of 0."""
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore"):
        scale = variance / mean
        quantile = special.gammaincinv(mean / scale, tail) * scale
    return np.where((mean > 0) & (variance > 0), quantile, 0.0)


def difference(a: Total, b: Total) -> Total:
    """Return the difference of the totals of two disjoint sets (MOVER)."""
    # limits hold where nothing is judged too: around the middle of what is possible
    one, other = (
        np.where(np.isnan(x.estimate), 0.5 * (x.low + x.high), x.estimate) for x in (a, b)
    )
    middle = one - other
    return Total(
        a.estimate - b.estimate,
        middle - np.hypot(one - a.low, b.high - other),
        middle + np.hypot(a.high - one, other - b.low),
    )


def share_of(inside: Total, outside: Total) -> Total:
    """Return inside / (inside + outside) of the totals of two disjoint sets.

    Its limits are where those of (1 - r) inside - r outside, put together by MOVER, are 0 (the
    idea of Fieller; Donner and Zou 2012). NaN where there is no true positive.
    """
    middle, rest = (
        np.where(np.isnan(x.estimate), 0.5 * (x.low + x.high), x.estimate)
        for x in (inside, outside)
    )

    def edge(sign: float, near: FloatArray, far: FloatArray) -> FloatArray:
        """Where the lower (-1) or upper (+1) limit of the linear combination changes its sign."""
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
    """Return the least and the largest inside / (inside + outside) that the limits allow."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return (
            inside.low / (inside.low + outside.high),
            inside.high / (inside.high + outside.low),
        )
