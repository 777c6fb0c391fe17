"""The probability that a random ranking reaches one boundary anywhere, from rise to rise.

As the count of positives never falls, only the last list size before the boundary rises matters.
From one of them to the next the law of the count is convolved with that of the candidates
between, which in an endless sequence is binomial, and what is at the boundary or above is taken
out.

Only counts near the boundary can reach it soon. So a stretch of many rises is walked in one
convolution by all counts that are too low to reach the boundary within it, and halved for the
rest: a boundary with J rises costs some J log J, however wide the law is.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.distributions.binomial import log_pmf
from rankeval_pd.stats.distributions.populations import Finite, Population
from rankeval_pd.stats.random_model.bounds import critical_counts

_DROPPED = 1e-13  # relative error by dropping rare counts, at most
_START = 2.0**800  # room for what is 1e-500 of it
_SHORTEST = 16  # rises of a stretch that is not halved
_BEST_OF = 1024  # rises of which the likeliest to be reached is looked for
_DENSE = 64  # all lengths up to the longest are looked up, where they are so many times as many


def reached_by_jumps(
    path: IntArray, k: IntArray, kept: IntArray, prior: float, population: Population
) -> float:
    """Return P(X_k >= path at some k) of one boundary, which rises from each k to the next.

    Parameters
    ----------
    path, k : array (rise)
        Counts, and the last list size at which no more is asked for; both rise strictly.
    kept : array (rise)
        The lowest counts that are carried on; those below are lost.
    prior : float
        The chance of a positive in an endless sequence.
    population : Finite or Infinite
    """
    rare = _rare(path, k, population)
    if rare == -math.inf:  # no count on the path is possible
        return 0.0
    walk = _Walk(path, k, kept, prior, population, rare)
    counts, ends, weights = walk.taken()
    if isinstance(population, Finite):
        weights *= completion(counts, ends, prior, population)
    return float(weights.sum()) / _START


def _rare(path: IntArray, k: IntArray, population: Population) -> float:
    """Return the logarithm of a probability that may be left out, on either side of each step.

    All that is left out is a share of ``_DROPPED`` of the probability to reach the path at the
    best of many k, and so of that to reach it. A whole number, so that boundaries of nearly one
    level have it in common.
    """
    of = slice(None, None, max(k.size // _BEST_OF, 1))
    best = float(population.tails(path[of].astype(float), k[of].astype(float)).ge.max())
    if best == -math.inf:
        best = float(population.tails(path.astype(float), k.astype(float)).ge.max())
    times = k.size * (_levels(k.size) + 4)
    return best if best == -math.inf else math.floor(best + math.log(_DROPPED / times))


def _levels(rises: int) -> int:
    """Return how often all rises are halved until a stretch has ``_SHORTEST`` of them."""
    return max(math.ceil(math.log2(max(rises / _SHORTEST, 1.0))), 0)


@lru_cache(maxsize=4)  # the same for boundaries of nearly one level
def _most(rare: float, lengths: bytes, population: Population) -> IntArray:
    """Return the largest count that is not too rare among so many candidates (float64)."""
    asked = np.frombuffer(lengths)
    most = critical_counts(np.array([rare]), asked, population)[0] - 1.0
    found: IntArray = np.minimum(most, asked).astype(np.int64)
    return found


class _Lengths:
    """The fewest and the most positives, but for rare cases, in stretches of many lengths."""

    def __init__(self, lengths: IntArray, rises: int, rare: float, population: Population) -> None:
        last = int(lengths.max())
        self.dense = last <= _DENSE * rises
        self.all = np.arange(1, last + 1) if self.dense else np.unique(lengths)
        key = self.all.astype(float).tobytes()
        self._most = _most(rare, key, population)
        self._fewest = self.all - _most(rare, key, population.opposite)

    def most(self, lengths: IntArray) -> IntArray:
        """Return the most positives among so many candidates."""
        return self._most[self._place(lengths)]

    def fewest(self, lengths: IntArray) -> IntArray:
        """Return the fewest."""
        few: IntArray = np.maximum(self._fewest[self._place(lengths)], 0)
        return few

    def _place(self, lengths: IntArray) -> IntArray:
        return lengths - 1 if self.dense else np.searchsorted(self.all, lengths)


class _Walk:
    """The law of the count below a boundary, from its first rise to the last."""

    def __init__(
        self,
        path: IntArray,
        k: IntArray,
        kept: IntArray,
        prior: float,
        population: Population,
        rare: float,
    ) -> None:
        self.k, self.path, self.kept = k, path.tolist(), kept.tolist()
        starts = [np.arange(0, k.size, _SHORTEST << level) for level in range(_levels(k.size) + 1)]
        before = np.append(0, k)  # candidates before each rise
        since = [k - np.repeat(before[s], np.diff(s, append=k.size)) for s in starts]
        steps = np.diff(k, prepend=0)
        lengths = _Lengths(np.concatenate([steps, *since]), k.size, rare, population)
        #: at each level and stretch, the lowest count that may reach the path within it
        self.near = [
            np.minimum.reduceat(path - lengths.most(m), s).tolist()
            for m, s in zip(since, starts, strict=True)
        ]
        self.lasts = [np.append(s[1:], k.size).tolist() for s in starts]
        whole = [np.diff(before[np.append(s, k.size)]) for s in starts]
        laws = _laws(np.unique(np.concatenate([steps, *whole])), prior, lengths)
        self.steps = [laws[m] for m in steps.tolist()]
        self.stretches = [[laws[m] for m in w.tolist()] for w in whole]
        self.firsts: list[int] = []
        self.weights: list[FloatArray] = []
        self.rises: list[int] = []

    def taken(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Walk; return counts on the path or above, where, and how often they are its first."""
        self.through(len(self.near) - 1, 0, np.array([_START]), 0)
        sizes = np.array([x.size for x in self.weights])
        place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        counts = np.repeat(np.array(self.firsts), sizes) + place
        return counts, np.repeat(self.k[self.rises], sizes), np.concatenate(self.weights)

    def through(
        self, level: int, stretch: int, law: FloatArray, base: int
    ) -> tuple[FloatArray, int]:
        """Return the law, and its lowest count, behind a stretch."""
        far = self.near[level][stretch] - base
        passed, lowest = law[:0], base
        if far > 0:
            fewest, kernel = self.stretches[level][stretch]
            passed, lowest = np.convolve(law[:far], kernel), base + fewest
            law, base = law[far:], base + far
        if law.size:
            if level:
                for half in (2 * stretch, 2 * stretch + 1):
                    if law.size and half < len(self.near[level - 1]):
                        law, base = self.through(level - 1, half, law, base)
            else:
                law, base = self.from_rise_to_rise(stretch, law, base)
            passed, lowest = _sum(passed, lowest, law, base)
        start = max(self.kept[self.lasts[level][stretch] - 1] - lowest, 0)
        return passed[start:], lowest + start

    def from_rise_to_rise(self, stretch: int, law: FloatArray, base: int) -> tuple[FloatArray, int]:
        """Return the same behind a stretch that is not halved; keep what reaches the path."""
        first, last = stretch * _SHORTEST, self.lasts[0][stretch]
        for rise in range(first, last):
            fewest, kernel = self.steps[rise]
            law = np.convolve(law, kernel)
            base += fewest
            reached = self.path[rise] - base
            if reached < law.size:
                reached = max(reached, 0)
                self.weights.append(law[reached:])
                self.firsts.append(base + reached)
                self.rises.append(rise)
                law = law[:reached]
                if not law.size:  # nobody is left below the path
                    break
        return law, base


def _laws(lengths: IntArray, prior: float, known: _Lengths) -> dict[int, tuple[int, FloatArray]]:
    """Return the laws of the positives among so many candidates, each from its lowest count on."""
    fewest, most = known.fewest(lengths), known.most(lengths)
    sizes = most - fewest + 1
    ends = np.cumsum(sizes)
    counts = np.arange(ends[-1]) - np.repeat(ends - sizes - fewest, sizes)
    law = np.exp(
        log_pmf(counts.astype(float), np.repeat(lengths.astype(float), sizes), np.array(prior))
    )
    laws = zip(fewest.tolist(), np.split(law, ends[:-1]), strict=True)
    return dict(zip(lengths.tolist(), laws, strict=True))


def _sum(one: FloatArray, lowest: int, other: FloatArray, base: int) -> tuple[FloatArray, int]:
    """Return the sum of two laws, each from its lowest count on."""
    if not one.size:
        return other, base
    if not other.size:
        return one, lowest
    first = min(lowest, base)
    both = np.zeros(max(lowest + one.size, base + other.size) - first)
    both[lowest - first : lowest - first + one.size] = one
    both[base - first : base - first + other.size] += other
    return both, first


def completion(count: IntArray, k: IntArray, prior: float, population: Finite) -> FloatArray:
    """Return by what factor N+ of N makes counts of k candidates likelier than endless chance."""
    total, positive = population.total, population.positive
    possible = (count <= positive) & (k - count <= total - positive) & (count <= k)
    needed: FloatArray = np.where(possible, positive - count, 0.0)
    whole = log_pmf(np.array(positive), np.array(total), np.array(prior))
    return np.where(
        possible,
        np.exp(log_pmf(needed, np.asarray(total - k, dtype=float), np.array(prior)) - whole),
        0.0,
    )
