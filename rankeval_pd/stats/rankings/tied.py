"""The random model of a list that ends inside a block of equal scores, whose order is averaged.

Of N candidates in random order of labels, T0 positives stand above the block, t in it. The list
takes j of the m candidates of the block, whose share of positives counts: T0 + j t / m.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray
from rankeval_pd.stats.distributions import hypergeometric
from rankeval_pd.stats.distributions.populations import Infinite, Population


class LogTails(NamedTuple):
    """Logarithms of P(at least as many as observed), and of P(more)."""

    ge: FloatArray
    gt: FloatArray


def averaged_tails(
    above: int, tp_above: int, size: int, tp: int, taken: int, model: Population
) -> LogTails:
    """Return the tails of T0 + j t / m at the observed counts, for one list.

    With T0 m + j t, both sides are whole numbers: no rounding decides what is equal. O(m).
    """
    observed = tp_above * size + taken * tp
    low, high = model.support(np.array([float(size)]))
    in_block = np.arange(low[0], high[0] + 1.0)
    log_weight = model.tails(in_block, np.full_like(in_block, float(size))).pmf
    needed = observed - taken * in_block
    least = np.ceil(needed / size)
    more = np.floor(needed / size) + 1.0
    parts = [
        _given_block(np.array(limit), in_block, float(above), float(size), model)
        for limit in (least, more)
    ]
    return LogTails(*(np.logaddexp.reduce(log_weight + part) for part in parts))


def _given_block(
    limit: FloatArray,
    in_block: FloatArray,
    above: float,
    size: float,
    model: Population,
) -> FloatArray:
    """Return log P(T0 >= limit | t positives in the block)."""
    if isinstance(model, Infinite):
        return model.tails(limit, np.full_like(limit, above)).ge
    return hypergeometric.tails(
        limit,
        np.full_like(limit, max(model.total - size, 1.0)),
        model.positive - in_block,
        np.full_like(limit, above),
    ).ge
