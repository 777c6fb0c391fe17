"""Thresholds of which a precision or a recall can be promised after a search over all of them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray
from rankeval_pd.stats.intervals.proportions import clopper_pearson


class Sets(NamedTuple):
    """The acceptance sets of one ranking, the smallest first; none cuts equal scores."""

    threshold: FloatArray
    n: IntArray
    tp: IntArray
    positive: int  #: true positives in all


def sets_of(score: FloatArray, gold: BoolArray) -> Sets:
    """Return the sets that the scores allow, in O(N log N)."""
    order = np.argsort(-score, kind="stable")
    ranked, tp = score[order], np.cumsum(gold[order])
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) if ranked.size else order
    return Sets(ranked[ends], ends + 1, np.asarray(tp[ends], dtype=np.int64), int(gold.sum()))


def precision(sets: Sets, wanted: float, level: float) -> tuple[int | None, float]:
    """Return the largest set whose precision is promised, and the lower limit, or None and NaN.

    Sequences of tests start at the least size that could pass and at twice, four times, ... it;
    each goes on to larger sets until one fails. They share the level.
    """
    if not sets.n.size:
        return None, np.nan
    alpha, most = 1.0 - level, int(sets.n[-1])
    sequences = 1
    while True:  # the least size that could pass depends on how many sequences there are
        least = math.ceil(math.log(alpha / sequences) / math.log(wanted))
        starts = least * 2 ** np.arange(sequences)
        if least * 2**sequences > most:
            break
        sequences += 1
    low = clopper_pearson(sets.tp, sets.n, 1.0 - 2.0 * alpha / sequences)[0]
    passed = low >= wanted
    failures = np.append(np.flatnonzero(~passed), sets.n.size)
    first = np.searchsorted(sets.n, starts)
    last = failures[np.searchsorted(failures, first)] - 1
    reached = last[(last >= first) & (first < sets.n.size)]
    if not reached.size:
        return None, np.nan
    chosen = int(reached.max())
    return chosen, float(low[chosen])


def recall(sets: Sets, wanted: float, level: float) -> tuple[int | None, float]:
    """Return the smallest set whose recall is promised, and the lower limit, or None and NaN.

    Recall falls with the threshold, so that the sets that fail are those before the first that
    passes: one sequence from the largest set down, at the full level.
    """
    if not sets.n.size or not sets.positive:
        return None, np.nan
    total = np.full(sets.tp.shape, sets.positive)
    low = clopper_pearson(sets.tp, total, 2.0 * level - 1.0)[0] if level > 0.5 else sets.tp * 0.0
    passed = np.flatnonzero(low >= wanted)
    if not passed.size:
        return None, np.nan
    return int(passed[0]), float(low[passed[0]])
