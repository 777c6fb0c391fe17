"""The outline of a ranking: its true positives, and how many others stand between them.

All that a curve knows of N candidates, in O(N+): the area under the ROC curve and its variance
follow from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.rankings.areas import Spread

_ROUNDING = 1e-14


class Outline(NamedTuple):
    """One ranking; the last axis are the different scores of true positives, the best first."""

    tp: IntArray  #: true positives with each score
    tied: IntArray  #: others with this score
    between: IntArray  #: others above it, and below the one before; last, those below all

    @property
    def positive(self) -> int:
        """N+."""
        return int(self.tp.sum())

    @property
    def negative(self) -> int:
        """The others."""
        return int(self.tied.sum() + self.between.sum())


class Turns(NamedTuple):
    """Lists at which a curve turns: between them the true positives are as many, or on a line."""

    n: IntArray  #: rising from 0
    tp: IntArray


def turns(outline: Outline, ties: str, ranks: IntArray | None = None) -> Turns:
    """Return the lists that end before and behind what has true positives, and the longest.

    What has them is a block of equal scores, of which ``ties="best"`` and ``"worst"`` have an end
    of their own inside; under ``"shared"`` each true positive, whose ``ranks`` are given.
    """
    start, end = _blocks(outline)
    tp = np.cumsum(outline.tp)
    before = tp - outline.tp
    lists = [(start, before), (end, tp)]
    if ties == "best":
        lists.append((start + outline.tp, tp))
    elif ties == "worst":
        lists.append((end - outline.tp, before))
    elif ties == "shared":
        assert ranks is not None
        rank, number = np.sort(ranks), np.arange(ranks.size)
        lists = [(rank - 1, number), (rank, number + 1)]
    lists.append((np.array([0, outline.positive + outline.negative]), np.array([0, tp[-1:].sum()])))
    sizes, counts = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    n, first = np.unique(sizes, return_index=True)
    return Turns(n, counts[first])


def _blocks(outline: Outline) -> tuple[IntArray, IntArray]:
    """Return how many candidates are above each score of true positives, and down to it."""
    size = outline.tp + outline.tied
    end = np.cumsum(outline.between[:-1] + size)
    return end - size, end


def scores_at(n: IntArray, outline: Outline, scores: FloatArray, last: FloatArray) -> FloatArray:
    """Return the score of the n-th candidate, of lists at which a curve turns; -inf where n is 0.

    ``scores`` are those of the true positives, ``last`` those of the last of the others above each
    of them, and below all.
    """
    start, end = _blocks(outline)
    block = np.searchsorted(end, n, side="left")
    inside = n > np.concatenate([start, [np.inf]])[block]
    found = np.where(inside, np.concatenate([scores, [np.nan]])[block], last[block])
    return np.where(n == 0, -np.inf, found)


def area(outline: Outline) -> tuple[float, Spread]:
    """Return the area under the ROC curve, and DeLong's variance with its degrees of freedom.

    As :func:`rankeval_pd.stats.rankings.areas.placements` and ``spread`` have it.
    """
    positive, negative = outline.positive, outline.negative
    above = np.cumsum(outline.between[:-1]) + np.cumsum(outline.tied) - outline.tied
    wrong = int((outline.tp * (2 * above + outline.tied)).sum())
    tp_up_to = np.concatenate([[0], np.cumsum(outline.tp)])
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(1.0 - np.float64(wrong) / (2.0 * positive * negative))
        beaten = 1.0 - 0.5 * (2 * above + outline.tied) / negative
        ahead = 0.5 * np.concatenate([2 * tp_up_to, tp_up_to[1:] + tp_up_to[:-1]]) / positive
        parts = [
            _part(beaten, outline.tp),
            _part(ahead, np.concatenate([outline.between, outline.tied])),
        ]
        total = parts[0] + parts[1]
        sizes = np.float64(positive), np.float64(negative)
        weighted = sum(
            np.float64(part) ** 2 / (size - 1.0) for part, size in zip(parts, sizes, strict=True)
        )
        freedom = np.float64(total**2) / weighted
    least = min(sizes) - 1.0
    return value, Spread(np.array(total), np.array(least if total == 0.0 else freedom))


def _part(placement: FloatArray, times: IntArray) -> float:
    """Return the variance that one class has in it; ``times`` says how often each one occurs."""
    size = float(times.sum())
    if size < 2.0:
        return np.nan
    mean = (placement * times).sum() / size
    far = np.where(times > 0, np.abs(placement - mean), 0.0)
    squares = 0.0 if far.max(initial=0.0) < _ROUNDING else float((times * far**2).sum())
    return squares / (size * (size - 1.0))
