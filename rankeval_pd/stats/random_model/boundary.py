"""The probability that a random ranking reaches a boundary anywhere.

X_k, the number of positives among the first k candidates, rises by 0 or 1 from k to k + 1. The
recursion of Macskassy (2005, section 2.2, Eqs 12 to 15) carries its distribution from k to k + 1.
Here, whatever reaches the boundary is taken out on the way, and the sum of the parts taken out is
the probability. All terms are positive, so the relative error stays small however small the
probability is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.distributions.binomial import log_pmf
from rankeval_pd.stats.distributions.populations import Finite, Population
from rankeval_pd.stats.random_model.random_counts import critical_counts

# --------------------------------------------------------------------------------- Many boundaries
#
# Three things make the recursion fast:
#
# * A random order of N candidates is an infinite random sequence, given that N+ of the first N are
#   positive. So the recursion runs with constant chances (Eqs 17, 18), and each part taken out is
#   weighted by the chance that the rest contains the remaining positives.
# * Counts so low that hardly any ranking has them are dropped, see :func:`_lowest_kept`.
# * X_k never falls, so only the last k before each rise of the boundary matters, see
#   :func:`crossing_by_jumps`. The recursion runs k by k, with boundaries as rows of one array, only
#   for many boundaries at very many k.

_LOST_SHARE = 1e-13  # largest relative error from dropping low counts
# the law starts with this mass in place of 1: float64 then holds parts as small as 1e-500 of it
_START = 2.0**800
# largest growth of the unscaled recursion before it is scaled back: 2^800 2^100 is below 2^1024
_LOG_GROWTH = 100.0 * math.log(2.0)
_BOUNDARIES_AT_ONCE = 256  # boundaries, one per p-value, in one call
_CACHED_CELLS = 2**16  # counts of all rows: 512 kB of floats stay in the processor's cache
_CELLS_IN_MEMORY = 2**22  # list sizes k of all rows: 32 MB


def boundary_probability(counts: FloatArray, n: FloatArray, population: Population) -> FloatArray:
    """Return P(X_n >= count for some n), for each row of counts, at ascending n.

    A row costs about ten microseconds for every rise of its boundary; many rows cost about ten
    standard deviations of X_n for every n and row, if this is less. The relative error is about
    1e-12, down to 1e-300.
    """
    lowest, highest = population.support(n)
    if not counts.size or (lowest == highest).all():  # nothing is random
        return (counts <= lowest).any(axis=-1).astype(float)
    # X_n never falls: a ranking that already has the count of a later n reaches it then, so the
    # boundary can be lowered to its minimum over all later n, (row, n)
    path = np.minimum.accumulate(counts[:, ::-1], axis=-1)[:, ::-1]
    sure = (path <= lowest).any(axis=-1)
    path = np.clip(path, 1.0, highest[-1] + 1.0).astype(np.int64)
    prior = population.prior
    # for a finite population any prior gives the same result: take one whose 1 - prior is exact
    if isinstance(population, Finite):
        prior = round(prior * 2.0**53) / 2.0**53
    k = n.astype(np.int64)
    # a ranking that reaches a count still has it at the last n before the next rise
    ends = np.diff(path, append=int(highest[-1]) + 2) > 0
    result, rows = np.ones(path.shape[0]), np.flatnonzero(~sure)
    if _jumps_cost_less(int(ends[rows].sum()), rows.size, int(k[-1])):
        kept = _lowest_kept(k.tobytes(), population)
        for row in rows:
            end = ends[row]
            result[row] = crossing_by_jumps(path[row, end], k[end], kept[end], prior, population)
    elif rows.size:
        result[rows] = _crossing_by_steps(path[rows], k, prior, population)
    return np.minimum(result, 1.0)


def _jumps_cost_less(jumps: int, rows: int, last: int) -> bool:
    """Return whether jumps, one row at a time, cost less than steps of all rows together."""
    # measured, in seconds: a step costs 6 us, and 1 ns for each of some sqrt(k) counts of a row;
    # a jump costs 8 us, and each boundary 1 ms before its first
    each = 6e-6 + 1e-9 * math.sqrt(last) * rows
    return 1e-3 * rows + 8e-6 * jumps < last * each


@lru_cache(maxsize=4)  # shared by all boundaries
def _lowest_kept(sizes: bytes, population: Population) -> IntArray:
    """Return the lowest counts that are carried on, at the list sizes k (int64 as bytes).

    A lower count at some k makes it less likely to reach a boundary anywhere: orders of candidates
    form a distributive lattice, on which high counts are associated (Fortuin, Kasteleyn and
    Ginibre 1971). So the relative error is at most the probability of a lower count.
    """
    k = np.frombuffer(sizes, dtype=np.int64).astype(float)
    log_p = np.array([math.log(_LOST_SHARE / k.size)])
    negatives = critical_counts(log_p, k, population.opposite)[0]
    lowest: IntArray = np.maximum(k - negatives + 1.0, 0.0).astype(np.int64)
    return lowest


def _crossing_by_steps(
    path: IntArray, k: IntArray, prior: float, population: Population
) -> FloatArray:
    """Return P(X_k >= path at some k) of many boundaries, one candidate at a time."""
    last = int(k[-1])
    # a boundary for every k from 1 to the last: (row, k)
    path = np.repeat(path, np.diff(k, prepend=0), axis=1)
    kept = _lowest_kept(np.arange(1, last + 1).tobytes(), population)
    values = np.zeros(path.shape[0])
    # the widest range of counts that a row carries on
    width = max(int((path - kept).max()), 1)
    together = max(1, min(_CACHED_CELLS // width, _CELLS_IN_MEMORY // last))
    for start in range(0, values.size, together):
        part = path[start : start + together]
        taken = _first_crossings(part, kept, prior)
        if isinstance(population, Finite):
            taken *= _completion_factors(part, prior, population)
        values[start : start + together] = taken.sum(axis=-1) / _START
    return values


def _first_crossings(path: IntArray, kept: IntArray, prior: float) -> FloatArray:
    """Return ``_START`` times P(an infinite random sequence first reaches the path at k): (row, k).

    The path does not fall, so it is always reached exactly, in the one count on it.
    """
    rows, last = path.shape
    taken = np.zeros((last, rows))
    top = np.minimum(path.max(axis=0), np.arange(1, last + 1))
    rest = 1.0 - prior
    odds = prior / rest
    longest = max(int(_LOG_GROWTH / -math.log(rest)), 1)
    law, base, scale = np.full((rows, 2), [_START, 0.0]), 0, 1.0
    start = 0
    while start < last:
        # a stretch of k for which one array has room: the highest count grows by a quarter or so
        room = (top[start] - base) // 4 + 16
        stop = min(int(np.searchsorted(top, top[start] + room, "right")), start + longest, last)
        low = int(kept[start - 1]) if start else 0
        if top[stop - 1] < low:  # nothing is left below the path
            break
        # law (row, count from base): counts below ``low`` are dropped, and a last column is added
        # that stays 0, so that the shift by one cell below never leaks into the next row
        carried = law[:, low - base : -1] * scale
        base, width = low, int(top[stop - 1]) - low + 2
        law = np.zeros((rows, width))
        law[:, : carried.shape[1]] = carried
        cells = law.reshape(-1)
        # place (k, row): the flat cell on the path, or the empty last column if none is near
        place = path[:, start:stop].T - base
        place[(place < 0) | (place >= width)] = width - 1
        place += width * np.arange(rows)
        before, after, risen = cells[:-1], cells[1:], np.empty(cells.size - 1)
        # Eqs 12 to 15 with constant chances, divided by 1 - prior: f(i) + odds f(i - 1)
        for k in range(start, stop):
            np.multiply(before, odds, out=risen)
            np.add(after, risen, out=after)
            reached = place[k - start]
            # "clip" writes to ``out`` without a buffer; no place is outside
            cells.take(reached, out=taken[k], mode="clip")
            cells[reached] = 0.0
        # put back the factors 1 - prior that the recursion left out
        powers = rest ** np.arange(1.0, stop - start + 1.0)
        taken[start:stop] *= powers[:, np.newaxis]
        scale = powers[-1]
        start = stop
    return taken.T


def _completion_factors(path: IntArray, prior: float, population: Finite) -> FloatArray:
    """Return :func:`completion_factor` of the counts on the paths: (row, k)."""
    k, lowest = np.arange(1, path.shape[1] + 1), path.min(axis=0)
    # at each k, rows share few counts: compute each factor once, (count from the lowest, k)
    rows = int((path - lowest).max()) + 1
    if rows >= path.shape[0]:
        return completion_factor(path, k, prior, population)
    table = completion_factor(lowest + np.arange(rows)[:, np.newaxis], k, prior, population)
    return np.take_along_axis(table, path - lowest, axis=0)


EVERY = 3_000  #: list sizes of which each has its own recursion
_ALPHAS = (0.1, 0.05, 0.01, 0.001)  # rounding never carries a p-value across one of these
_LEVELS, _FEWER = 512, 64  # p-values that are computed, and those of more than 20,000 list sizes
_MANY = 20_000
_TINY = 1e-6  # up to here, the sum of the chances of all list sizes is near enough


def simultaneous_p_values(
    log_p: FloatArray,
    tp: FloatArray,
    n: FloatArray,
    population: Population,
    advance: Callable[[int], object] = lambda _: None,
) -> FloatArray:
    """Return P(some P(X_m >= random count) <= p) over all list sizes m, for each p.

    Parameters
    ----------
    log_p, tp : array (n)
        Logarithms of P(X_n >= tp), and the counts tp of one ranking.
    n : array
        The list sizes, each once. ``advance`` is called with the number computed.

    Notes
    -----
    It costs one boundary for each different p. For more than 3,000 list sizes, at most
    about 550 p-values are computed. The others are rounded up to the next of them, but never across
    0.1, 0.05, 0.01 or 0.001; those below 1e-6 to p times the number of list sizes.
    """
    result = np.ones(n.size)
    ascending = np.argsort(n)
    order = np.argsort(log_p, kind="stable")

    def at(rows: IntArray) -> FloatArray:
        counts = critical_counts(log_p[rows], n, population)
        # the observed count is on its own boundary, whatever rounding makes of the critical count
        counts[np.arange(rows.size), rows] = np.minimum(
            counts[np.arange(rows.size), rows], tp[rows]
        )
        advance(rows.size)
        return boundary_probability(counts[:, ascending], n[ascending], population)

    if n.size > EVERY:
        tiny = int(np.searchsorted(log_p[order], np.log(_TINY / n.size), "right"))
        few, rest = order[:tiny], order[tiny:]
        result[few] = n.size * np.exp(log_p[few])
        if rest.size:
            result[rest] = _rounded_up(log_p[rest], lambda places: at(rest[places]))
            result[few] = np.minimum(result[few], result[rest[0]])
        return np.maximum(result, np.exp(log_p))
    for start in range(0, n.size, _BOUNDARIES_AT_ONCE):
        rows = order[start : start + _BOUNDARIES_AT_ONCE]
        result[rows] = at(rows)
        if result[rows].min() >= 1.0 - _LOST_SHARE:
            break  # p ascends: the simultaneous p-values of the others are 1 as well
    return np.maximum(result, np.exp(log_p))


def _rounded_up(log_p: FloatArray, at: Callable[[IntArray], FloatArray]) -> FloatArray:
    """Return an increasing function at all places: computed at some, elsewhere its next value."""
    levels = np.linspace(log_p[0], log_p[-1], _LEVELS if log_p.size <= _MANY else _FEWER)
    places = np.unique(np.searchsorted(log_p, [*levels, log_p[-1]]))  # of equal p the first
    values = at(places)
    for alpha in _ALPHAS:  # halve until the p-values at most alpha are known one by one
        while True:
            right = int(np.searchsorted(values, alpha * (1.0 + 1e-12), "right"))
            if right in (0, places.size) or places[right] - places[right - 1] < 2:
                break
            place = np.array([(places[right - 1] + places[right]) // 2])
            places, values = np.insert(places, right, place), np.insert(values, right, at(place))
    first = np.searchsorted(log_p, log_p)  # equal p are one
    result: FloatArray = values[np.searchsorted(places, first)]
    return result


# ----------------------------------------------------------------- One boundary, from rise to rise
#
# X_k never falls, so only the last list size before each rise of the boundary matters. From one of
# these sizes to the next, the law of the count is convolved with that of the candidates between,
# which is binomial in an infinite sequence, and counts on the boundary or above are taken out.
#
# Only counts near the boundary can reach it soon. So all counts too low to reach the boundary
# within a stretch of many rises cross it in one convolution, and the stretch is halved for the
# rest. A boundary with J rises costs some J log J, however wide the law is.

_SHORTEST_STRETCH = 16  # rises of a stretch that is not halved
_SAMPLED_RISES = 1024  # rises among which the likeliest to be reached is sought
# limits are tabulated for every length if the longest is at most this many times the rises
_DENSE_FACTOR = 64


def crossing_by_jumps(
    path: IntArray, k: IntArray, kept: IntArray, prior: float, population: Population
) -> float:
    """Return P(X_k >= path at some k) of one boundary, which rises from each k to the next.

    Parameters
    ----------
    path, k : array (rise)
        Counts on the boundary, and for each the last list size before the boundary rises again.
    kept : array (rise)
        The lowest counts that are carried on; lower ones are dropped.
    prior : float
        The chance of a positive in an infinite sequence.
    population : Finite or Infinite
    """
    rare = _negligible_log_p(path, k, population)
    if rare == -math.inf:  # no count on the path is possible
        return 0.0
    walk = _Walk(path, k, kept, prior, population, rare)
    counts, ends, weights = walk.first_crossings()
    if isinstance(population, Finite):
        weights *= completion_factor(counts, ends, prior, population)
    return float(weights.sum()) / _START


def _negligible_log_p(path: IntArray, k: IntArray, population: Population) -> float:
    """Return the logarithm of a probability that each step may leave out, on either side.

    All steps together leave out a share of ``_LOST_SHARE`` of the probability of reaching the path
    at the best of many k, and so of reaching it at all. The result is a whole number, so boundaries
    of nearly the same level share it.
    """
    of = slice(None, None, max(k.size // _SAMPLED_RISES, 1))
    best = float(population.tails(path[of].astype(float), k[of].astype(float)).ge.max())
    if best == -math.inf:
        best = float(population.tails(path.astype(float), k.astype(float)).ge.max())
    # left out: the counts above ``near``, once a rise and level; both tails of each step's law
    times = k.size * (_levels(k.size) + 4)
    return best if best == -math.inf else math.floor(best + math.log(_LOST_SHARE / times))


def _levels(rises: int) -> int:
    """Return how often all rises are halved until a stretch has ``_SHORTEST_STRETCH`` rises."""
    return max(math.ceil(math.log2(max(rises / _SHORTEST_STRETCH, 1.0))), 0)


@lru_cache(maxsize=4)  # shared by boundaries of nearly the same level
def _largest_counts(rare: float, lengths: bytes, population: Population) -> IntArray:
    """Return the largest counts that are not too rare, for lengths given as bytes of float64."""
    sizes = np.frombuffer(lengths)
    most = critical_counts(np.array([rare]), sizes, population)[0] - 1.0
    largest: IntArray = np.minimum(most, sizes).astype(np.int64)
    return largest


class _CountLimits:
    """The fewest and the most positives, except in rare cases, in stretches of many lengths."""

    def __init__(self, lengths: IntArray, rises: int, rare: float, population: Population) -> None:
        last = int(lengths.max())
        self.dense = last <= _DENSE_FACTOR * rises
        self.all = np.arange(1, last + 1) if self.dense else np.unique(lengths)
        key = self.all.astype(float).tobytes()
        self._most = _largest_counts(rare, key, population)
        self._fewest = self.all - _largest_counts(rare, key, population.opposite)

    def most(self, lengths: IntArray) -> IntArray:
        """Return the most positives among this many candidates."""
        return self._most[self._place(lengths)]

    def fewest(self, lengths: IntArray) -> IntArray:
        """Return the fewest."""
        few: IntArray = np.maximum(self._fewest[self._place(lengths)], 0)
        return few

    def _place(self, lengths: IntArray) -> IntArray:
        return lengths - 1 if self.dense else np.searchsorted(self.all, lengths)


class _Walk:
    """The distribution of the count below a boundary, carried from its first rise to the last.

    Level 0 has stretches of ``_SHORTEST_STRETCH`` rises; each level above has half as many
    stretches, twice as long; the highest has one.
    """

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
        # the first rise of each stretch, for each level
        starts = [
            np.arange(0, k.size, _SHORTEST_STRETCH << level) for level in range(_levels(k.size) + 1)
        ]
        before = np.append(0, k)  # candidates before each rise
        # candidates from the start of its stretch to each rise, at every level: (rise)
        since = [k - np.repeat(before[s], np.diff(s, append=k.size)) for s in starts]
        steps = np.diff(k, prepend=0)
        lengths = _CountLimits(np.concatenate([steps, *since]), k.size, rare, population)
        #: for each level and stretch, the lowest count that may reach the path within it
        self.near = [
            np.minimum.reduceat(path - lengths.most(m), s).tolist()
            for m, s in zip(since, starts, strict=True)
        ]
        #: for each level and stretch, the rise behind its last
        self.lasts = [np.append(s[1:], k.size).tolist() for s in starts]
        whole = [np.diff(before[np.append(s, k.size)]) for s in starts]
        laws = _step_laws(np.unique(np.concatenate([steps, *whole])), prior, lengths)
        # (fewest positives, law from there on): from rise to rise, and of each whole stretch
        self.steps = [laws[m] for m in steps.tolist()]
        self.stretches = [[laws[m] for m in w.tolist()] for w in whole]
        # the parts taken out: their lowest count, their probabilities, and at which rise
        self.firsts: list[int] = []
        self.weights: list[FloatArray] = []
        self.rises: list[int] = []

    def first_crossings(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return counts on the path or above, their list sizes, and how likely they come first."""
        self.cross_stretch(len(self.near) - 1, 0, np.array([_START]), 0)
        # flatten the parts: (part, count) -> (crossing)
        sizes = np.array([x.size for x in self.weights])
        place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        counts = np.repeat(np.array(self.firsts), sizes) + place
        return counts, np.repeat(self.k[self.rises], sizes), np.concatenate(self.weights)

    def cross_stretch(
        self, level: int, stretch: int, law: FloatArray, base: int
    ) -> tuple[FloatArray, int]:
        """Return the distribution, and its lowest count, after a stretch."""
        # counts that cannot reach the path in this stretch cross it in one convolution
        far = self.near[level][stretch] - base
        passed, lowest = law[:0], base
        if far > 0:
            fewest, kernel = self.stretches[level][stretch]
            passed, lowest = np.convolve(law[:far], kernel), base + fewest
            law, base = law[far:], base + far
        # the others go through both halves, or at the lowest level from rise to rise
        if law.size:
            if level:
                for half in (2 * stretch, 2 * stretch + 1):
                    if law.size and half < len(self.near[level - 1]):
                        law, base = self.cross_stretch(level - 1, half, law, base)
            else:
                law, base = self.cross_rises(stretch, law, base)
            passed, lowest = _sum_of_laws(passed, lowest, law, base)
        start = max(self.kept[self.lasts[level][stretch] - 1] - lowest, 0)
        return passed[start:], lowest + start

    def cross_rises(self, stretch: int, law: FloatArray, base: int) -> tuple[FloatArray, int]:
        """Return the distribution after a stretch of level 0; keep parts that reach the path."""
        first, last = stretch * _SHORTEST_STRETCH, self.lasts[0][stretch]
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
                if not law.size:  # nothing is left below the path
                    break
        return law, base


def _step_laws(
    lengths: IntArray, prior: float, known: _CountLimits
) -> dict[int, tuple[int, FloatArray]]:
    """Return for each length the fewest positives, and the probabilities from there on."""
    # all laws are computed as one flat array, (length, count), and then split
    fewest, most = known.fewest(lengths), known.most(lengths)
    sizes = most - fewest + 1
    ends = np.cumsum(sizes)
    counts = np.arange(ends[-1]) - np.repeat(ends - sizes - fewest, sizes)
    law = np.exp(
        log_pmf(counts.astype(float), np.repeat(lengths.astype(float), sizes), np.array(prior))
    )
    laws = zip(fewest.tolist(), np.split(law, ends[:-1]), strict=True)
    return dict(zip(lengths.tolist(), laws, strict=True))


def _sum_of_laws(
    one: FloatArray, lowest: int, other: FloatArray, base: int
) -> tuple[FloatArray, int]:
    """Return the sum of two distributions, each given from its lowest count on."""
    if not one.size:
        return other, base
    if not other.size:
        return one, lowest
    first = min(lowest, base)
    both = np.zeros(max(lowest + one.size, base + other.size) - first)
    both[lowest - first : lowest - first + one.size] = one
    both[base - first : base - first + other.size] += other
    return both, first


def completion_factor(count: IntArray, k: IntArray, prior: float, population: Finite) -> FloatArray:
    """Return the factor by which "N+ of N are positive" changes the chance of a count.

    It is the chance that the other N - k candidates contain the remaining positives, over the
    chance of N+ positives among N, both in an infinite sequence.
    """
    total, positive = population.total, population.positive
    possible = (count <= positive) & (k - count <= total - positive) & (count <= k)
    needed: FloatArray = np.where(possible, positive - count, 0.0)
    whole = log_pmf(np.array(positive), np.array(total), np.array(prior))
    return np.where(
        possible,
        np.exp(log_pmf(needed, np.asarray(total - k, dtype=float), np.array(prior)) - whole),
        0.0,
    )
