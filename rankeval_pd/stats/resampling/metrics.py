"""Metrics as functions of sufficient statistics summed over test items (footnote 4 of the paper).

Each function takes the sums ``S[..., statistic]``, its statistics in the order of :data:`METRICS`,
and returns the scores ``[...]``. A score with a denominator of 0 is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray

Score = Callable[[AnyArray], FloatArray]


class Formula(NamedTuple):
    """A metric: which statistics it needs, and how they become a score."""

    statistics: tuple[str, ...]
    score: Score
    higher_is_better: bool = True
    #: (part, whole): counts of which the one cannot be above the other
    parts: tuple[tuple[str, str], ...] = ()


def _ratio(above: AnyArray, below: AnyArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below == 0.0, np.nan, above / below)


def ratio(sums: AnyArray) -> FloatArray:
    """Return the first sum over the second: means, accuracy, precision, recall, any ratio."""
    return _ratio(sums[..., 0], sums[..., 1])


def total(sums: AnyArray) -> FloatArray:
    """Return the sum itself."""
    return np.asarray(sums[..., 0], dtype=float)


def f1(sums: AnyArray) -> FloatArray:
    """Return 2 correct / (guess + gold), the harmonic mean of precision and recall."""
    return _ratio(2.0 * sums[..., 0], sums[..., 1] + sums[..., 2])


def aer(sums: AnyArray) -> FloatArray:
    """Return the alignment error rate, 1 - (correct_sure + correct_possible) / (guess + sure)."""
    sure, guess, correct_sure, correct_possible = np.moveaxis(sums, -1, 0)
    return 1.0 - _ratio(correct_sure + correct_possible, guess + sure)


def bleu(sums: AnyArray) -> FloatArray:
    """Return BLEU of a corpus, 0 to 100, with the smoothing that sacrebleu applies by default.

    An order without a match counts 1/2 matches, the next such order 1/4, and so on; BLEU is 0
    where nothing matches and where no hypothesis is long enough to have an n-gram of every order.
    """
    sums = np.asarray(sums, dtype=float)
    sys_len, ref_len = sums[..., 0], sums[..., 1]
    correct, possible = sums[..., 2:6], sums[..., 6:10]
    unmatched = correct == 0.0
    smooth = np.exp2(-np.cumsum(unmatched, axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        brevity = np.minimum(1.0 - ref_len / sys_len, 0.0)
        precision = np.log(np.where(unmatched, smooth, correct) / possible)
        score = 100.0 * np.exp(brevity + precision.mean(axis=-1))
    nothing = unmatched.all(axis=-1) | (possible == 0.0).any(axis=-1) | (sys_len == 0.0)
    return np.where(nothing, 0.0, score)


_BETA_SQUARED = 4.0  # recall weighs twice as much as precision, sacrebleu's default


def chrf(sums: AnyArray) -> FloatArray:
    """Return chrF of a corpus, 0 to 100, as sacrebleu does: beta = 2, effective order.

    The statistics are hyp_1, ref_1, match_1, hyp_2, ...: n-grams of the hypothesis, of the
    reference, and matches. Orders that hypothesis or reference lack do not count.
    """
    sums = np.asarray(sums, dtype=float)
    hyp, ref, match = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    counts = (hyp > 0.0) & (ref > 0.0)
    order = np.maximum(counts.sum(axis=-1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(counts, match / hyp, 0.0).sum(axis=-1) / order
        recall = np.where(counts, match / ref, 0.0).sum(axis=-1) / order
        score = (1.0 + _BETA_SQUARED) * precision * recall / (_BETA_SQUARED * precision + recall)
    return np.where(precision + recall > 0.0, 100.0 * score, 0.0)


_BLEU = (
    "sys_len", "ref_len", "correct_1", "correct_2", "correct_3", "correct_4", "total_1", "total_2",
    "total_3", "total_4",
)  # fmt: skip

#: The second statistic of mean, rouge and accuracy is the number of items unless it is given.
METRICS: dict[str, Formula] = {
    "mean": Formula(("value", "items"), ratio),
    "sum": Formula(("value",), total),
    "rouge": Formula(("value", "items"), ratio),
    "ratio": Formula(("numerator", "denominator"), ratio),
    "ter": Formula(("numerator", "denominator"), ratio, higher_is_better=False),
    "accuracy": Formula(("correct", "total"), ratio, parts=(("correct", "total"),)),
    "precision": Formula(("correct", "guess"), ratio, parts=(("correct", "guess"),)),
    "recall": Formula(("correct", "gold"), ratio, parts=(("correct", "gold"),)),
    "f1": Formula(
        ("correct", "guess", "gold"), f1, parts=(("correct", "guess"), ("correct", "gold"))
    ),
    "aer": Formula(
        ("sure", "guess", "correct_sure", "correct_possible"),
        aer,
        higher_is_better=False,
        parts=(("correct_sure", "sure"), ("correct_possible", "guess")),
    ),
    "bleu": Formula(_BLEU, bleu, parts=tuple((f"correct_{i}", f"total_{i}") for i in range(1, 5))),
    "chrf": Formula(("hyp_1", "ref_1", "match_1"), chrf),
}


#: How papers write them, in sentences and on axes.
WRITTEN = {"f1": "F1", "aer": "AER", "bleu": "BLEU", "chrf": "chrF", "rouge": "ROUGE", "ter": "TER"}

#: Metrics that are better one way by what they are; a mean may be one of errors.
DIRECTED = frozenset(METRICS) - {"mean", "sum", "ratio"}


def chrf_formula(orders: int) -> Formula:
    """Return chrF with so many orders of n-grams."""
    names = [f"{kind}_{i}" for i in range(1, orders + 1) for kind in ("hyp", "ref", "match")]
    parts = tuple(
        (f"match_{i}", f"{kind}_{i}") for i in range(1, orders + 1) for kind in ("hyp", "ref")
    )
    return Formula(tuple(names), chrf, parts=parts)
