"""The probability that a random ranking reaches a boundary at any n.

Let X_k be the number of positives among the first k candidates. From k to k + 1, X_k increases by 0
or 1. The recursion of Macskassy (2005, section 2.2, Eqs 12 to 15) computes the distribution of
X_{k+1} from the distribution of X_k. In this module, the probability mass at or above the boundary
is removed at each k, and the sum of the removed masses is the result. All terms are positive, so
the relative error is small even for tiny probabilities.
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
# The recursion is fast for three reasons:
#
# * A random order of N candidates is an infinite random sequence, given that N+ of the first N are
#   positive. The recursion therefore uses constant probabilities (Eqs 17, 18), and each removed
#   mass is weighted by the probability that the rest contains the remaining positives.
# * Very improbable low counts are dropped (see :func:`_lowest_kept`).
# * X_k never decreases, so only the last k before each rise of the boundary is relevant (see
#   :func:`crossing_by_jumps`). The recursion over every k, with boundaries as rows of one array, is
#   used only for many boundaries at very many values of k.

_LOST_SHARE = 1e-13  # largest relative error from dropping low counts
# initial mass instead of 1, so that float64 can represent relative masses down to 1e-500
_START = 2.0**800
# largest growth of the recursion before rescaling: 2^800 2^100 is below 2^1024
_LOG_GROWTH = 100.0 * math.log(2.0)
_BOUNDARIES_AT_ONCE = 256  # number of boundaries, one per p-value, in one call
_CACHED_CELLS = 2**16  # counts in all rows: 512 kB of floats fit into the processor's cache
_CELLS_IN_MEMORY = 2**22  # list sizes k in all rows: 32 MB


def boundary_probability(counts: FloatArray, n: FloatArray, population: Population) -> FloatArray:
    """Return P(X_n >= count at some n) for each row of counts, with ascending n.

    The cost of a row is about ten microseconds per rise of the boundary. For many rows, another
    method is used if it costs less. Its cost per n and row is about ten times the standard
    deviation of X_n. The relative error is about 1e-12, down to 1e-300.
    """
    lowest, highest = population.support(n)
    if not counts.size or (lowest == highest).all():  # X_n is not random
        return (counts <= lowest).any(axis=-1).astype(float)
    # X_n never decreases, so a count that a ranking reaches now is also reached at any later n.
    # Lower the boundary to its minimum over all later n, (row, n)
    path = np.minimum.accumulate(counts[:, ::-1], axis=-1)[:, ::-1]
    sure = (path <= lowest).any(axis=-1)
    path = np.clip(path, 1.0, highest[-1] + 1.0).astype(np.int64)
    prior = population.prior
    # for a finite population, all priors give the same result: use one with an exact 1 - prior
    if isinstance(population, Finite):
        prior = round(prior * 2.0**53) / 2.0**53
    k = n.astype(np.int64)
    # a ranking that reaches the path at any n is still there at the last n before its next rise
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
    """Return whether row-by-row jumps are cheaper than steps for all rows at once."""
    # measured costs: a step takes 6 us, plus 1 ns for each of about sqrt(k) counts per row; a jump
    # takes 8 us, plus 1 ms per boundary
    each = 6e-6 + 1e-9 * math.sqrt(last) * rows
    return 1e-3 * rows + 8e-6 * jumps < last * each


@lru_cache(maxsize=4)  # cached for all boundaries
def _lowest_kept(sizes: bytes, population: Population) -> IntArray:
    """Return the lowest counts that are kept for the list sizes k (int64 as bytes).

    A lower count at some k makes it less likely that a boundary is reached at any n. The reason is
    that orderings of the candidates form a distributive lattice on which high counts are associated
    (Fortuin, Kasteleyn and Ginibre 1971). The relative error is therefore at most the probability
    of a lower count.
    """
    k = np.frombuffer(sizes, dtype=np.int64).astype(float)
    log_p = np.array([math.log(_LOST_SHARE / k.size)])
    negatives = critical_counts(log_p, k, population.opposite)[0]
    lowest: IntArray = np.maximum(k - negatives + 1.0, 0.0).astype(np.int64)
    return lowest


def _crossing_by_steps(
    path: IntArray, k: IntArray, prior: float, population: Population
) -> FloatArray:
    """Return P(X_k >= path at some k) for many boundaries, one candidate at a time."""
    last = int(k[-1])
    # a boundary for every k from 1 to the last: (row, k)
    path = np.repeat(path, np.diff(k, prepend=0), axis=1)
    kept = _lowest_kept(np.arange(1, last + 1).tobytes(), population)
    values = np.zeros(path.shape[0])
    # the widest range of counts kept in a row
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
    """Return ``_START`` times P(an infinite random sequence first reaches the path at k).

    The result is (row, k). The path never decreases, so a sequence's count always equals the path's
    when it gets there.
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
        # a stretch of k that fits into one array: the highest count grows by about a quarter
        room = (top[start] - base) // 4 + 16
        stop = min(int(np.searchsorted(top, top[start] + room, "right")), start + longest, last)
        low = int(kept[start - 1]) if start else 0
        if top[stop - 1] < low:  # no mass is left below the path
            break
        # law (row, count from base): drop counts below ``low`` and add a last column of zeros, so
        # that the shift by one cell below does not leak into the next row
        carried = law[:, low - base : -1] * scale
        base, width = low, int(top[stop - 1]) - low + 2
        law = np.zeros((rows, width))
        law[:, : carried.shape[1]] = carried
        cells = law.reshape(-1)
        # place (k, row): the flat cell on the path, or the empty last column if no cell is near
        place = path[:, start:stop].T - base
        place[(place < 0) | (place >= width)] = width - 1
        place += width * np.arange(rows)
        before, after, risen = cells[:-1], cells[1:], np.empty(cells.size - 1)
        # Eqs 12 to 15 with constant chances, divided by 1 - prior: f(i) + odds f(i - 1)
        for k in range(start, stop):
            np.multiply(before, odds, out=risen)
            np.add(after, risen, out=after)
            reached = place[k - start]
            # "clip" writes to ``out`` without a buffer; all indices are in bounds
            cells.take(reached, out=taken[k], mode="clip")
            cells[reached] = 0.0
        # restore the factors 1 - prior that the recursion omits
        powers = rest ** np.arange(1.0, stop - start + 1.0)
        taken[start:stop] *= powers[:, np.newaxis]
        scale = powers[-1]
        start = stop
    return taken.T


def _completion_factors(path: IntArray, prior: float, population: Finite) -> FloatArray:
    """Return :func:`completion_factor` for the counts on the paths: (row, k)."""
    k, lowest = np.arange(1, path.shape[1] + 1), path.min(axis=0)
    # the rows have few distinct counts at each k: compute each factor once, (count - lowest, k)
    rows = int((path - lowest).max()) + 1
    if rows >= path.shape[0]:
        return completion_factor(path, k, prior, population)
    table = completion_factor(lowest + np.arange(rows)[:, np.newaxis], k, prior, population)
    return np.take_along_axis(table, path - lowest, axis=0)


EVERY = 3_000  #: largest number of list sizes with a separate recursion each
_ALPHAS = (0.1, 0.05, 0.01, 0.001)  # p-values are never rounded across these levels
_LEVELS, _FEWER = 512, 64  # number of p-values computed for up to, and above, 20,000 sizes
_MANY = 20_000
_TINY = 1e-6  # up to this value, the sum of probabilities is accurate enough


def simultaneous_p_values(
    log_p: FloatArray,
    tp: FloatArray,
    n: FloatArray,
    population: Population,
    advance: Callable[[int], object] = lambda _: None,
) -> FloatArray:
    """Return, for each p, the probability that any list size has a p-value <= p.

    Parameters
    ----------
    log_p, tp : array (n)
        Logarithms of P(X_n >= tp), and the counts tp of one ranking.
    n : array
        The list sizes without duplicates. ``advance`` is called with the number of values computed.

    Notes
    -----
    The function computes one boundary for each distinct p. For more than 3,000 list sizes, at most
    about 550 p-values are computed. The remaining p-values are rounded up to the next computed
    value, but never across 0.1, 0.05, 0.01 or 0.001. Values below 1e-6 are rounded up to p times
    the number of list sizes.
    """
    result = np.ones(n.size)
    ascending = np.argsort(n)
    order = np.argsort(log_p, kind="stable")

    def at(rows: IntArray) -> FloatArray:
        counts = critical_counts(log_p[rows], n, population)
        # the observed count must be on its own boundary despite rounding errors
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
            break  # p increases, so the remaining simultaneous p-values are 1 as well
    return np.maximum(result, np.exp(log_p))


def _rounded_up(log_p: FloatArray, at: Callable[[IntArray], FloatArray]) -> FloatArray:
    """Return an increasing function, computed at some points and rounded up elsewhere."""
    levels = np.linspace(log_p[0], log_p[-1], _LEVELS if log_p.size <= _MANY else _FEWER)
    places = np.unique(np.searchsorted(log_p, [*levels, log_p[-1]]))  # first among tied p-values
    values = at(places)
    for alpha in _ALPHAS:  # bisect until all p-values up to alpha are known individually
        while True:
            right = int(np.searchsorted(values, alpha * (1.0 + 1e-12), "right"))
            if right in (0, places.size) or places[right] - places[right - 1] < 2:
                break
            place = np.array([(places[right - 1] + places[right]) // 2])
            places, values = np.insert(places, right, place), np.insert(values, right, at(place))
    first = np.searchsorted(log_p, log_p)  # equal p count once
    result: FloatArray = values[np.searchsorted(places, first)]
    return result


# ---------------------------------------------------------------------- One boundary, rise by rise
#
# X_k never decreases, so only the last list size before each rise of the boundary is relevant.
# Between two of these sizes, the distribution of the count is convolved with the distribution of
# the count among the candidates in between, which is binomial in an infinite sequence. Counts on or
# above the boundary are then removed.
#
# Only counts near the boundary can reach it soon. Counts that are too low to reach the boundary
# within a stretch that contains many rises are propagated through the stretch in one convolution.
# For all higher counts, the stretch is halved. The cost of a boundary with J rises is about J log J
# and does not depend on the width of the distribution.

_SHORTEST_STRETCH = 16  # number of rises in a stretch that is not halved
_SAMPLED_RISES = 1024  # number of rises among which to search for the one most likely to be reached
# limits are tabulated for all lengths up to this multiple of the number of rises
_DENSE_FACTOR = 64


def crossing_by_jumps(
    path: IntArray, k: IntArray, kept: IntArray, prior: float, population: Population
) -> float:
    """Return P(X_k >= path at some k) for one boundary that rises from each k to the next.

    Parameters
    ----------
    path, k : array (rise)
        The counts on the boundary, and for each count the last list size before the next rise.
    kept : array (rise)
        The lowest counts that are kept. Lower counts are dropped.
    prior : float
        The probability of a positive in an infinite sequence.
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
    """Return the log probability that each step is allowed to omit on each side.

    In total, the steps omit at most a fraction ``_LOST_SHARE`` of the probability of reaching the
    path. The result is an integer, so that boundaries with similar levels can share cached values.
    """
    of = slice(None, None, max(k.size // _SAMPLED_RISES, 1))
    best = float(population.tails(path[of].astype(float), k[of].astype(float)).ge.max())
    if best == -math.inf:
        best = float(population.tails(path.astype(float), k.astype(float)).ge.max())
    # omitted: the counts above ``near``, once per rise and level, and both tails at each step
    times = k.size * (_levels(k.size) + 4)
    return best if best == -math.inf else math.floor(best + math.log(_LOST_SHARE / times))


def _levels(rises: int) -> int:
    """Return the number of halvings until a stretch has ``_SHORTEST_STRETCH`` rises."""
    return max(math.ceil(math.log2(max(rises / _SHORTEST_STRETCH, 1.0))), 0)


@lru_cache(maxsize=4)  # cached for boundaries with similar levels
def _largest_counts(rare: float, lengths: bytes, population: Population) -> IntArray:
    """Return the largest counts that are not too rare, for lengths passed as float64 bytes."""
    sizes = np.frombuffer(lengths)
    most = critical_counts(np.array([rare]), sizes, population)[0] - 1.0
    largest: IntArray = np.minimum(most, sizes).astype(np.int64)
    return largest


class _CountLimits:
    """Lower and upper limits for the number of positives in stretches of each length."""

    def __init__(self, lengths: IntArray, rises: int, rare: float, population: Population) -> None:
        last = int(lengths.max())
        self.dense = last <= _DENSE_FACTOR * rises
        self.all = np.arange(1, last + 1) if self.dense else np.unique(lengths)
        key = self.all.astype(float).tobytes()
        self._most = _largest_counts(rare, key, population)
        self._fewest = self.all - _largest_counts(rare, key, population.opposite)

    def most(self, lengths: IntArray) -> IntArray:
        """Return the largest plausible number of positives among this many candidates."""
        return self._most[self._place(lengths)]

    def fewest(self, lengths: IntArray) -> IntArray:
        """Return the smallest plausible number of positives."""
        few: IntArray = np.maximum(self._fewest[self._place(lengths)], 0)
        return few

    def _place(self, lengths: IntArray) -> IntArray:
        return lengths - 1 if self.dense else np.searchsorted(self.all, lengths)


class _Walk:
    """The distribution of the count below a boundary, computed one rise at a time.

    Level 0 has stretches of ``_SHORTEST_STRETCH`` rises. Each higher level has half as many
    stretches, each twice as long, and the highest level has a single stretch.
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
        before = np.append(0, k)  # number of candidates before each rise
        # number of candidates from the start of the stretch to each rise, at every level: (rise)
        since = [k - np.repeat(before[s], np.diff(s, append=k.size)) for s in starts]
        steps = np.diff(k, prepend=0)
        lengths = _CountLimits(np.concatenate([steps, *since]), k.size, rare, population)
        # : lowest count that can reach the path within the stretch, for each level and stretch
        self.near = [
            np.minimum.reduceat(path - lengths.most(m), s).tolist()
            for m, s in zip(since, starts, strict=True)
        ]
        # : rise after the last one in the stretch, for each level and stretch
        self.lasts = [np.append(s[1:], k.size).tolist() for s in starts]
        whole = [np.diff(before[np.append(s, k.size)]) for s in starts]
        laws = _step_laws(np.unique(np.concatenate([steps, *whole])), prior, lengths)
        # (fewest positives, distribution from there up) between rises and for each whole stretch
        self.steps = [laws[m] for m in steps.tolist()]
        self.stretches = [[laws[m] for m in w.tolist()] for w in whole]
        # the removed parts: lowest count, probabilities, and rise
        self.firsts: list[int] = []
        self.weights: list[FloatArray] = []
        self.rises: list[int] = []

    def first_crossings(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return counts at or above the path, list sizes, and first-crossing probabilities."""
        self.cross_stretch(len(self.near) - 1, 0, np.array([_START]), 0)
        # flatten the parts: (part, count) -> (crossing)
        sizes = np.array([x.size for x in self.weights])
        place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        counts = np.repeat(np.array(self.firsts), sizes) + place
        return counts, np.repeat(self.k[self.rises], sizes), np.concatenate(self.weights)

    def cross_stretch(
        self, level: int, stretch: int, law: FloatArray, base: int
    ) -> tuple[FloatArray, int]:
        """Return the distribution and its lowest count after a stretch."""
        # counts that cannot reach the path in this stretch need only one convolution
        far = self.near[level][stretch] - base
        passed, lowest = law[:0], base
        if far > 0:
            fewest, kernel = self.stretches[level][stretch]
            passed, lowest = np.convolve(law[:far], kernel), base + fewest
            law, base = law[far:], base + far
        # all other counts go through both halves, or rise by rise at the lowest level
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
        """Return the distribution after a stretch at level 0; store parts that reach the path."""
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
                if not law.size:  # no mass is left below the path
                    break
        return law, base


def _step_laws(
    lengths: IntArray, prior: float, known: _CountLimits
) -> dict[int, tuple[int, FloatArray]]:
    """Return, for each length, the smallest count and the probabilities from that count on."""
    # compute all distributions in one flat array, (length, count), and then split it
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
    """Return the sum of two distributions that start at their lowest counts."""
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
    """Return the factor by which conditioning on N+ of N changes a count's probability.

    The factor is the probability that the other N - k candidates contain the remaining positives,
    divided by the probability of N+ positives among N, both in an infinite sequence.
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
