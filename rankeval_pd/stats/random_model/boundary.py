"""The probability that a random ranking reaches a boundary anywhere (Macskassy 2005, section 2.2).

X_k, the positives among the first k candidates, rises by 0 or 1. The paper's recursion (Eqs 12
to 15) carries its law from k to k + 1; here whatever reaches the boundary is taken out on the
way, and the sum of what was taken out is the probability asked for. All terms are positive, so
the relative error stays small however small the probability is.

Three things make it fast. A random order of N candidates is an endless random sequence given
that N+ of the first N are positive: the recursion runs with constant chances (Eqs 17, 18), and
what is taken out is weighted by the chance that the rest has the positives that are left. Counts
so low that hardly any ranking has them are dropped: see :func:`_lowest_kept`. And as X_k never
falls, only the last k before the boundary rises matter: see :mod:`.jumps`. Only where many
boundaries are asked for at very many k do they go on step by step, as rows of one array.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.distributions.populations import Finite, Population
from rankeval_pd.stats.random_model.bounds import critical_counts
from rankeval_pd.stats.random_model.jumps import completion, reached_by_jumps

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
