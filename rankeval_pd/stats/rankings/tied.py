"""The random model of a list that ends inside a block of equal scores, whose order is averaged.

Of N candidates in random order of labels, T0 positives stand above the block, t in it. The list
takes j of the m candidates of the block, whose share of positives counts: T0 + j t / m.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.distributions import hypergeometric
from rankeval_pd.stats.distributions.populations import Infinite, Population

_CELLS = 2**21  # of the arrays that hold a part of the lists
_NOTHING = 45.0  # exp(-45) is nothing to float64, beside 1


class LogTails(NamedTuple):
    """Logarithms of P(at least as many as observed), and of P(more)."""

    ge: FloatArray
    gt: FloatArray


def averaged_tails(
    above: int, tp_above: int, size: int, tp: int, taken: IntArray, model: Population
) -> LogTails:
    """Return the tails of T0 + j t / m at the observed counts, for each number j taken.

    With T0 m + j t, both sides are whole numbers: no rounding decides what is equal. The limits of
    T0 repeat from j to j, so that their tails are some T^2 / 2, T being the possible t, which are
    looked up J T times.
    """
    in_block, log_weight = _likely(above, tp_above, size, tp, model)
    missing = tp - in_block  # T0 m + j t is at least what was observed where T0 makes up for it
    tails_of = _looked_up if taken.size > missing.size else _computed
    lookup = tails_of(missing, in_block, float(above), float(size), model, tp_above)
    ge, gt = np.empty(taken.size), np.empty(taken.size)
    step = max(_CELLS // missing.size, 1)
    for start in range(0, taken.size, step):
        part = slice(start, start + step)
        needed = taken[part, np.newaxis] * missing
        ge[part] = np.logaddexp.reduce(log_weight + lookup(-(-needed // size)), axis=-1)
        gt[part] = np.logaddexp.reduce(log_weight + lookup(needed // size + 1), axis=-1)
    return LogTails(np.minimum(ge, 0.0), np.minimum(gt, 0.0))  # the sum of all may round above 1


def _likely(
    above: int, tp_above: int, size: int, tp: int, model: Population
) -> tuple[IntArray, FloatArray]:
    """Return the counts t of the block that matter, and the logarithms of their probabilities.

    With t as observed, T0 of one more than observed is more whatever j is; or with one more t, T0
    as observed. What is less likely than these, by far, is no part of the sum.
    """
    low, high = model.support(np.array([float(size)]))
    in_block = np.arange(int(low[0]), int(high[0]) + 1)
    whole = in_block.astype(float)
    log_weight = model.tails(whole, np.full_like(whole, float(size))).pmf
    near = np.isin(in_block, (tp, tp + 1))
    t = in_block[near]
    more = log_weight[near] + _given_block(tp_above + tp + 1 - t, t, above, size, model)
    matters = log_weight >= more.max() - _NOTHING - np.log(log_weight.size)
    return in_block[matters], log_weight[matters]


Lookup = Callable[[IntArray], FloatArray]  # (j, t) more than were seen above -> log tails


def _looked_up(
    missing: IntArray, in_block: IntArray, above: float, size: float, model: Population, seen: int
) -> Lookup:
    """Compute every tail that j can ask for: 0 < j <= m asks for no more than is missing."""
    lowest, highest = np.minimum(missing, 0), np.maximum(missing, 0) + 1
    counts = highest - lowest + 1
    first = np.cumsum(counts) - counts - lowest
    limits = np.arange(counts.sum()) - np.repeat(first, counts)
    table = _given_block(limits + seen, np.repeat(in_block, counts), above, size, model)
    return lambda more: table[first + more]


def _computed(
    missing: IntArray, in_block: IntArray, above: float, size: float, model: Population, seen: int
) -> Lookup:
    return lambda more: _given_block(more + seen, in_block, above, size, model)


def _given_block(
    limit: IntArray, in_block: IntArray, above: float, size: float, model: Population
) -> FloatArray:
    """Return log P(T0 >= limit | t positives in the block)."""
    if isinstance(model, Infinite):
        return model.tails(limit.astype(float), np.full(limit.shape, above)).ge
    rest, taken = np.array(max(model.total - size, 1.0)), np.array(above)
    return hypergeometric.tails(limit, rest, model.positive - in_block, taken).ge
