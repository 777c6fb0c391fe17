"""The probability that a random ranking reaches a boundary anywhere (Macskassy 2005, section 2.2).

X_k, the positives among the first k candidates, rises by 0 or 1. The paper's recursion (Eqs 12
to 15) carries its law from k to k + 1; here whatever reaches the boundary is taken out on the
way, and the sum of what was taken out is the probability asked for. All terms are positive, so
the relative error stays small however small the probability is.

Three things make it fast. A random order of N candidates is an endless random sequence given
that N+ of the first N are positive: the recursion runs with constant chances (Eqs 17, 18), one
multiplication and one addition for each count, and what is taken out is weighted by the chance
that the rest has the positives that are left. Several boundaries are rows of one array. And
counts so low that hardly any ranking has them are dropped: see :func:`_lowest_kept`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.distributions.binomial import log_pmf
from rankeval_pd.stats.distributions.populations import Finite, Population
from rankeval_pd.stats.random_model.bounds import critical_counts

_DROPPED = 1e-13  # relative error by dropping low counts, at most
_START = 2.0**800  # room for what is 1e-500 of it
_GROWTH = 100.0 * math.log(2.0)  # of the unscaled recursion between two scalings
_EQUAL = 1e-12  # two probabilities are equal up to this relative difference
_ROWS = 8  # levels that a search tries at once
_LISTED = 4096  # so many levels are listed
_TOGETHER = 256  # boundaries of p-values that are computed at once
_CELLS = 2**16  # counts of all rows: they stay in the processor's cache
_MEMORY = 2**22  # k of all rows


def crossing_probability(boundary: FloatArray, population: Population) -> FloatArray:
    """Return P(X_k >= boundary_k for some k), for each row of boundaries.

    Parameters
    ----------
    boundary : array (row, k)
        Counts for k = 1, 2, ...; inf where no count is asked for.
    population : Finite or Infinite

    Returns
    -------
    array (row)

    Notes
    -----
    The cost is that of some ten standard deviations of X_k for every k and row. The relative error
    is about 1e-12, down to 1e-300.
    """
    rows, last = boundary.shape
    k = np.arange(1.0, last + 1.0)
    lowest, highest = population.support(k)
    if not rows or not last or (lowest == highest).all():  # nothing is random
        return (boundary <= lowest).any(axis=-1).astype(float)
    # a count never falls: who has what a later k asks for will have it then
    path = np.minimum.accumulate(boundary[:, ::-1], axis=-1)[:, ::-1]
    sure = path[:, 0] <= 0.0
    asked = np.flatnonzero(np.isfinite(boundary).any(axis=0))
    last = int(asked[-1]) + 1 if asked.size else 0
    if not last:
        return sure.astype(float)
    path = np.clip(path[:, :last], 1.0, highest[-1] + 1.0).astype(np.int64)
    kept = _lowest_kept(last, population)
    prior = population.prior
    if isinstance(population, Finite):  # any prior would do: one of which 1 - prior has no error
        prior = round(prior * 2.0**53) / 2.0**53
    found = np.zeros(rows)
    width = max(int((path - kept).max()), 1)
    together = max(1, min(_CELLS // width, _MEMORY // last))
    for start in range(0, rows, together):
        part = path[start : start + together]
        taken = _taken_out(part, kept, prior)
        if isinstance(population, Finite):
            taken *= _completion(part, prior, population)
        found[start : start + together] = taken.sum(axis=-1) / _START
    return np.where(sure, 1.0, np.minimum(found, 1.0))


@lru_cache(maxsize=4)  # the same for all boundaries
def _lowest_kept(last: int, population: Population) -> IntArray:
    """Return, for k = 1 to ``last``, the lowest count that is carried on.

    To have a lower count at some k makes it less likely to reach a boundary anywhere (orders of
    candidates form a distributive lattice, on which high counts are associated: Fortuin, Kasteleyn
    and Ginibre 1971). So the relative error is at most the probability of having a lower count.
    """
    k = np.arange(1.0, last + 1.0)
    log_p = np.array([math.log(_DROPPED / last)])
    negatives = critical_counts(log_p, k, population.opposite)[0]
    lowest: IntArray = np.maximum(k - negatives + 1.0, 0.0).astype(np.int64)
    return lowest


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


def _completion(path: IntArray, prior: float, population: Finite) -> FloatArray:
    """Return by what factor N+ of N makes the counts on the path likelier than endless chance."""
    k, lowest = np.arange(1, path.shape[1] + 1), path.min(axis=0)
    rows = int((path - lowest).max()) + 1
    if rows >= path.shape[0]:
        return _factor(path, k, prior, population)
    table = _factor(lowest + np.arange(rows)[:, np.newaxis], k, prior, population)
    return np.take_along_axis(table, path - lowest, axis=0)


def _factor(count: IntArray, k: IntArray, prior: float, population: Finite) -> FloatArray:
    total, positive = population.total, population.positive
    possible = (count <= positive) & (k - count <= total - positive) & (count <= k)
    needed: FloatArray = np.where(possible, positive - count, 0.0)
    whole = log_pmf(np.array(positive), np.array(total), np.array(prior))
    return np.where(
        possible,
        np.exp(log_pmf(needed, np.asarray(total - k, dtype=float), np.array(prior)) - whole),
        0.0,
    )


class Envelope(NamedTuple):
    """Counts that a random ranking reaches somewhere with a probability of alpha at the most."""

    counts: FloatArray  #: one for each n
    local_level: float  #: the largest P(X_n >= count)


def envelope(alpha: float, n: FloatArray, population: Population) -> Envelope:
    """Return the envelope of equal local level for the list sizes n, each once, in any order.

    The count at n is min{i: P(X_n >= i) <= t} with one t for all n, the largest t that keeps the
    probability of reaching it anywhere at alpha or below. Below alpha / (number of n) lies no such
    t, and none above alpha; in between, the probability is sought at several t at once.
    """
    if n.size == 0:
        return Envelope(n.copy(), math.nan)
    low, high = math.log(alpha / n.size), math.log(alpha)
    probability: dict[float, float] = {}
    counts: dict[float, FloatArray] = {}
    levels = np.array([low, high])
    while levels.size:
        boundaries = critical_counts(levels, n, population)
        reached = crossing_probability(_dense(boundaries, n), population)
        probability |= dict(zip(levels.tolist(), reached.tolist(), strict=True))
        counts |= dict(zip(levels.tolist(), boundaries, strict=True))
        kept = [t for t, p in probability.items() if p <= alpha * (1.0 + _EQUAL)]
        low = max([low, *kept])
        if low == high:
            break
        high = min(t for t in probability if t > low)
        share = _share_below(alpha, probability[low], probability[high])
        levels = _levels_between(low, high, share, (counts[high], counts[low]), n, population)
    local = population.tails(counts[low], n).ge
    return Envelope(counts[low], float(np.exp(local.max())))


def _dense(counts: FloatArray, n: FloatArray) -> FloatArray:
    """Return the counts as a boundary for every k, inf at those that are no n."""
    boundary = np.full((counts.shape[0], int(n.max(initial=0.0))), np.inf)
    boundary[:, n.astype(np.intp) - 1] = counts
    return boundary


def _share_below(wanted: float, low: float, high: float) -> float:
    """Return where between two probabilities the wanted one lies, in logarithms."""
    return math.log(wanted / low) / math.log(high / low) if low > 0.0 else 0.5


def _levels_between(
    low: float,
    high: float,
    share: float,
    counts: tuple[FloatArray, FloatArray],
    n: FloatArray,
    population: Population,
) -> FloatArray:
    """Return some levels between two, most of them near ``share`` of the way.

    Only the tails of X_n are levels at which the boundary changes: once they are few, they are
    listed, and where there is none left between the two, the search is over.
    """
    lower, upper = counts
    many = (upper - lower).astype(np.int64)
    if many.sum() > _LISTED:
        steps = 5.0 ** -np.arange(1, _ROWS // 2 + 1)
        shares = np.unique(np.clip([share - steps, share + steps], 0.01, 0.99))
        return np.asarray(low + (high - low) * shares, dtype=np.float64)
    first = np.cumsum(many) - many
    between = np.repeat(lower, many) + (np.arange(many.sum()) - np.repeat(first, many))
    tails = np.unique(population.tails(between, np.repeat(n, many)).ge)
    tails = tails[(tails > low + _EQUAL) & (tails < high - _EQUAL)]
    if not tails.size:
        return tails
    tails = tails[np.diff(tails, prepend=-np.inf) > _EQUAL]
    middle = int(np.searchsorted(tails, low + (high - low) * share))
    steps = np.round(tails.size ** (np.arange(_ROWS // 2) / (_ROWS // 2)))
    picked = np.clip([middle - steps, middle + steps - 1.0], 0, tails.size - 1)
    return np.asarray(tails[np.unique(picked).astype(np.intp)])


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
    order = np.argsort(log_p, kind="stable")
    for start in range(0, n.size, _TOGETHER):
        rows = order[start : start + _TOGETHER]
        counts = critical_counts(log_p[rows], n, population)
        # what was observed is on its own boundary, whatever rounding says
        counts[np.arange(rows.size), rows] = np.minimum(
            counts[np.arange(rows.size), rows], tp[rows]
        )
        result[rows] = crossing_probability(_dense(counts, n), population)
        if result[rows].min() >= 1.0 - _DROPPED:
            break  # the larger p are as sure
    return np.maximum(result, np.exp(log_p))
