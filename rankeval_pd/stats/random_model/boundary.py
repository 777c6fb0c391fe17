"""The probability that a random ranking reaches a boundary anywhere."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.distributions.binomial import log_pmf
from rankeval_pd.stats.distributions.populations import Finite, Population
from rankeval_pd.stats.random_model.random_counts import critical_counts

# -------------------------------------------------------------------------------------------------
# The probability that a random ranking reaches a boundary anywhere (Macskassy 2005, section 2.2).
#
# X_k, the positives among the first k candidates, rises by 0 or 1. The paper's recursion (Eqs 12
# to 15) carries its law from k to k + 1; here whatever reaches the boundary is taken out on the
# way, and the sum of what was taken out is the probability asked for. All terms are positive, so
# the relative error stays small however small the probability is.
#
# Three things make it fast. A random order of N candidates is an endless random sequence given
# that N+ of the first N are positive: the recursion runs with constant chances (Eqs 17, 18), and
# what is taken out is weighted by the chance that the rest has the positives that are left. Counts
# so low that hardly any ranking has them are dropped: see :func:`_lowest_kept`. And as X_k never
# falls, only the last k before the boundary rises matter: see :mod:`.jumps`. Only where many
# boundaries are asked for at very many k do they go on step by step, as rows of one array.

_DROPPED = 1e-13  # relative error by dropping low counts, at most
_START = 2.0**800  # room for what is 1e-500 of it
_GROWTH = 100.0 * math.log(2.0)  # of the unscaled recursion between two scalings
_TOGETHER = 256  # boundaries of p-values that are computed at once
_CELLS = 2**16  # counts of all rows: they stay in the processor's cache
_MEMORY = 2**22  # k of all rows


def reached_somewhere(counts: FloatArray, n: FloatArray, population: Population) -> FloatArray:
    """Return P(X_n >= count for some n), for each row of counts, at ascending n.

    The cost of a row is some ten microseconds for every rise of its boundary; that of many rows
    is some ten standard deviations of X_n for every n and row, where this is less. The relative
    error is about 1e-12, down to 1e-300.
    """
    lowest, highest = population.support(n)
    if not counts.size or (lowest == highest).all():  # nothing is random
        return (counts <= lowest).any(axis=-1).astype(float)
    # a count never falls: who has what a later n asks for will have it then
    path = np.minimum.accumulate(counts[:, ::-1], axis=-1)[:, ::-1]
    sure = (path <= lowest).any(axis=-1)
    path = np.clip(path, 1.0, highest[-1] + 1.0).astype(np.int64)
    prior = population.prior
    if isinstance(population, Finite):  # any prior would do: one of which 1 - prior has no error
        prior = round(prior * 2.0**53) / 2.0**53
    k = n.astype(np.int64)
    # who reaches a count has it at the last n that asks for no more
    ends = np.diff(path, append=int(highest[-1]) + 2) > 0
    result, rows = np.ones(path.shape[0]), np.flatnonzero(~sure)
    if _jumps_cost_less(int(ends[rows].sum()), rows.size, int(k[-1])):
        kept = _lowest_kept(k.tobytes(), population)
        for row in rows:
            end = ends[row]
            result[row] = reached_by_jumps(path[row, end], k[end], kept[end], prior, population)
    elif rows.size:
        result[rows] = _by_steps(path[rows], k, prior, population)
    return np.minimum(result, 1.0)


def _jumps_cost_less(jumps: int, rows: int, last: int) -> bool:
    """Tell whether jumps of one row at a time cost less than steps of all rows: seconds, about."""
    each = 6e-6 + 1e-9 * math.sqrt(last) * rows
    return 1e-3 * rows + 8e-6 * jumps < last * each


@lru_cache(maxsize=4)  # the same for all boundaries
def _lowest_kept(asked: bytes, population: Population) -> IntArray:
    """Return the lowest counts that are carried on, at the k whose int64 are given.

    To have a lower count at some k makes it less likely to reach a boundary anywhere (orders of
    candidates form a distributive lattice, on which high counts are associated: Fortuin, Kasteleyn
    and Ginibre 1971). So the relative error is at most the probability of having a lower count.
    """
    k = np.frombuffer(asked, dtype=np.int64).astype(float)
    log_p = np.array([math.log(_DROPPED / k.size)])
    negatives = critical_counts(log_p, k, population.opposite)[0]
    lowest: IntArray = np.maximum(k - negatives + 1.0, 0.0).astype(np.int64)
    return lowest


def _by_steps(path: IntArray, k: IntArray, prior: float, population: Population) -> FloatArray:
    """Return P(X_k >= path at some k) of many boundaries, one candidate at a time."""
    last = int(k[-1])
    path = np.repeat(path, np.diff(k, prepend=0), axis=1)
    kept = _lowest_kept(np.arange(1, last + 1).tobytes(), population)
    values = np.zeros(path.shape[0])
    width = max(int((path - kept).max()), 1)
    together = max(1, min(_CELLS // width, _MEMORY // last))
    for start in range(0, values.size, together):
        part = path[start : start + together]
        taken = _taken_out(part, kept, prior)
        if isinstance(population, Finite):
            taken *= _completions(part, prior, population)
        values[start : start + together] = taken.sum(axis=-1) / _START
    return values


def _taken_out(path: IntArray, kept: IntArray, prior: float) -> FloatArray:
    """Return ``_START`` times P(an endless random sequence first reaches the path at k): (row, k).

    The path does not fall, so that it is reached in the one count on it.
    """
    rows, last = path.shape
    taken = np.zeros((last, rows))
    top = np.minimum(path.max(axis=0), np.arange(1, last + 1))
    rest = 1.0 - prior
    odds = prior / rest
    longest = max(int(_GROWTH / -math.log(rest)), 1)
    law, base, scale = np.full((rows, 2), [_START, 0.0]), 0, 1.0
    start = 0
    while start < last:
        # a stretch of k on which one array has room for all counts, and a column that stays 0
        room = (top[start] - base) // 4 + 16
        stop = min(int(np.searchsorted(top, top[start] + room, "right")), start + longest, last)
        low = int(kept[start - 1]) if start else 0
        if top[stop - 1] < low:  # nobody is left below the path
            break
        carried = law[:, low - base : -1] * scale
        base, width = low, int(top[stop - 1]) - low + 2
        law = np.zeros((rows, width))
        law[:, : carried.shape[1]] = carried
        cells = law.reshape(-1)
        place = path[:, start:stop].T - base
        place[(place < 0) | (place >= width)] = width - 1
        place += width * np.arange(rows)
        before, after, risen = cells[:-1], cells[1:], np.empty(cells.size - 1)
        for k in range(start, stop):
            np.multiply(before, odds, out=risen)
            np.add(after, risen, out=after)
            reached = place[k - start]
            cells.take(reached, out=taken[k], mode="clip")
            cells[reached] = 0.0
        powers = rest ** np.arange(1.0, stop - start + 1.0)
        taken[start:stop] *= powers[:, np.newaxis]
        scale = powers[-1]
        start = stop
    return taken.T


def _completions(path: IntArray, prior: float, population: Finite) -> FloatArray:
    """Return by what factor N+ of N makes the counts on the path likelier than endless chance."""
    k, lowest = np.arange(1, path.shape[1] + 1), path.min(axis=0)
    rows = int((path - lowest).max()) + 1
    if rows >= path.shape[0]:
        return completion(path, k, prior, population)
    table = completion(lowest + np.arange(rows)[:, np.newaxis], k, prior, population)
    return np.take_along_axis(table, path - lowest, axis=0)


def adjusted(
    log_p: FloatArray, tp: FloatArray, n: FloatArray, population: Population
) -> FloatArray:
    """Return P(some P(X_m >= random count) <= p) over all list sizes m, for each p.

    Parameters
    ----------
    log_p, tp : array (n)
        Logarithms of P(X_n >= tp), and the counts tp of one ranking.
    n : array
        The list sizes, each once.

    Returns
    -------
    array (n)
        The simultaneous p-value at each n, the p-value of the smallest of all p-values.

    Notes
    -----
    One boundary for each different p: the cost of a boundary times their number.
    """
    result = np.ones(n.size)
    ascending = np.argsort(n)
    order = np.argsort(log_p, kind="stable")
    for start in range(0, n.size, _TOGETHER):
        rows = order[start : start + _TOGETHER]
        counts = critical_counts(log_p[rows], n, population)
        # what was observed is on its own boundary, whatever rounding says
        counts[np.arange(rows.size), rows] = np.minimum(
            counts[np.arange(rows.size), rows], tp[rows]
        )
        result[rows] = reached_somewhere(counts[:, ascending], n[ascending], population)
        if result[rows].min() >= 1.0 - _DROPPED:
            break  # the larger p are as sure
    return np.maximum(result, np.exp(log_p))


# -------------------------------------------------------------------------------------------------
# The probability that a random ranking reaches one boundary anywhere, from rise to rise.
#
# As the count of positives never falls, only the last list size before the boundary rises matters.
# From one of them to the next the law of the count is convolved with that of the candidates
# between, which in an endless sequence is binomial, and what is at the boundary or above is taken
# out.
#
# Only counts near the boundary can reach it soon. So a stretch of many rises is walked in one
# convolution by all counts that are too low to reach the boundary within it, and halved for the
# rest: a boundary with J rises costs some J log J, however wide the law is.

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
