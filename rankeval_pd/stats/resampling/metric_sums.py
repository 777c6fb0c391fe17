"""Metrics of summed statistics, and sums that do not depend on the order of items."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.exact_sums import Sums, exact_sums

# -------------------------------------------------------------------------------------------------
# Metrics as functions of sufficient statistics summed over test items (footnote 4 of the paper).
#
# Each function takes the sums ``S[..., statistic]``, its statistics in the order of
# :data:`METRICS`, and returns the scores ``[...]``. A score with a denominator of 0 is NaN.

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


def summed(sums: AnyArray) -> FloatArray:
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
    "sum": Formula(("value",), summed),
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


# -------------------------------------------------------------------------------------------------
# Columns as whole numbers, whose weighted sums are exact: no order of addition changes them.
#
# Each number is cut into two pieces or more, whole multiples of units that depend on the column's
# largest number alone, so small that weighted sums of pieces are whole numbers that float64 holds.
# A matrix product then gives the same sums whatever the library, its threads, and the blocks of
# items that are added up. What is below 2^-60 of the column's largest number is rounded away.

_KEPT = 60  # bits below the largest number of a column
_EXACT = 52  # bits that a sum of pieces may have
_LEAST = -1022  # the exponent of the smallest float that has all its digits
_SINGLE = 24  # the same in float32, which is faster
_CUT = 500_000  # pieces that are cut at a time
_TOGETHER = 4_000_000  # weights that are made floats at a time


class Scale(NamedTuple):
    """The units of the columns' pieces."""

    exponents: IntArray  #: (level, column)
    undefined: BoolArray  #: (column,): whether some number is not finite

    @classmethod
    def of(cls, sizes: FloatArray, most: float) -> Scale:
        """Return the units for columns with these largest numbers, if weights sum to ``most``."""
        undefined = np.asarray(~np.isfinite(sizes))
        bits = _EXACT - int(np.ceil(np.log2(max(most, 1.0))))
        top = np.frexp(np.where(undefined, 0.0, sizes))[1].astype(np.int64) - bits
        levels = 1 + max(0, -(-(_KEPT - bits) // (bits + 1)))
        lower = (bits + 1) * np.arange(levels)[:, np.newaxis]
        return cls(np.maximum(top - lower, _LEAST), undefined)

    def floats(self, sums: FloatArray) -> FloatArray:
        """Return the weighted sums (..., column) from those of pieces (level, ..., column)."""
        result = np.zeros(sums.shape[1:])
        for added, exponent in zip(sums[::-1], self.exponents[::-1], strict=True):
            result += np.ldexp(added, exponent)
        return np.where(self.undefined, np.nan, result)

    def pieces(self, values: FloatArray) -> FloatArray:
        """Return values (item, column) as pieces (level, item, column)."""
        rest = np.where(self.undefined, 0.0, values)
        result = np.empty((len(self.exponents), *rest.shape))
        for level, exponent in enumerate(self.exponents):
            result[level] = np.rint(np.ldexp(rest, -exponent))
            rest -= np.ldexp(result[level], exponent)
        return result


class WholeColumns:
    """Columns of items, ready for sums with many sets of weights."""

    def __init__(self, values: FloatArray, sizes: FloatArray, most: float) -> None:
        """Cut the columns into pieces.

        Parameters
        ----------
        values : array (item, column)
        sizes : array (column,)
            The largest absolute number of each column: of all items, not only of these.
        most : float
            What the weights of all items sum to, at most.
        """
        self.scale = Scale.of(sizes, most)
        levels, columns = self.scale.exponents.shape
        alike = np.flatnonzero((sizes == 1.0) & (values == 1.0).all(axis=0))
        kept = np.setdiff1d(np.arange(columns), alike[1:])  # of ones, one column is enough
        own = Scale(self.scale.exponents[:, kept], self.scale.undefined[kept])
        step = max(1, _CUT // max(kept.size * levels, 1))
        runs = [slice(start, start + step) for start in range(0, len(values), step)]
        filled: BoolArray = np.zeros((levels, kept.size), dtype=bool)
        bits, largest = 0, 0.0
        for run in runs:  # twice, because pieces of all take more memory than what is kept
            sizes_of_pieces = np.abs(own.pieces(values[run][:, kept]))
            filled |= sizes_of_pieces.any(axis=1)
            bits |= int(np.bitwise_or.reduce(sizes_of_pieces.astype(np.int64), axis=None))
            largest = max(largest, float(sizes_of_pieces.max(initial=0.0)))
        self._place = np.zeros((levels, columns), dtype=np.int64)  # 0 for what adds nothing
        self._place[:, kept] = np.cumsum(filled).reshape(filled.shape) * filled
        self._place[:, alike] = self._place[:, alike[:1]]
        self.shift = (bits & -bits).bit_length() - 1 if bits else 0  # 2^shift divides all pieces
        single = largest * 2.0**-self.shift * max(most, 1.0) < 2.0**_SINGLE
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self._listed = np.empty((len(values), int(filled.sum())), dtype=self.dtype)
        for run in runs:
            pieces = np.moveaxis(own.pieces(values[run][:, kept]), 1, 0)
            self._listed[run] = pieces[:, filled] * 2.0**-self.shift

    def __sizeof__(self) -> int:
        """Return the bytes in memory: schedulers ask before they move an object."""
        return object.__sizeof__(self) + self._listed.nbytes

    def sums(self, weights: AnyArray) -> FloatArray:
        """Return the sums of pieces (level, resample, column), for weights (resample, item).

        They are whole numbers, which can be added to those of other items.
        """
        return self._summed(len(weights), lambda part: weights[:, part])

    def sums_of_bits(self, packed: AnyArray, places: IntArray) -> FloatArray:
        """Return the sums for weights 0 and 1, eight to a byte (resample, byte).

        ``places`` says which bit each item has. See :meth:`sums`.
        """

        def bits(part: slice) -> AnyArray:
            own = places[part]
            if own.size and own[-1] - own[0] == own.size - 1 and (np.diff(own) == 1).all():
                start, stop = own[0] // 8, own[-1] // 8 + 1
                unpacked = np.unpackbits(packed[:, start:stop], axis=1)
                return unpacked[:, own[0] % 8 :][:, : own.size]
            return (packed[:, own // 8] >> (7 - own % 8).astype(np.uint8)) & np.uint8(1)

        return self._summed(len(packed), bits)

    def _summed(self, rows: int, weights: Callable[[slice], AnyArray]) -> FloatArray:
        result = np.zeros((rows, self._listed.shape[1] + 1))
        step = max(8, _TOGETHER // max(rows, 1) // 8 * 8)
        for start in range(0, len(self._listed), step):
            part = slice(start, start + step)
            result[:, 1:] += weights(part).astype(self.dtype, copy=False) @ self._listed[part]
        result *= 2.0**self.shift
        return np.asarray(np.moveaxis(result[:, self._place], 0, 1))

    def weighted(self, weights: AnyArray) -> FloatArray:
        """Return the sums (resample, column) for weights (resample, item)."""
        return self.scale.floats(self.sums(weights))


# -------------------------------------------------------------------------------------------------
# What items' contributions add up to: sums, squares and largest ones, whatever their order.

_DIFFERENCES_TOGETHER = 1_000_000  # differences of pairs that are in memory together
_WIDE = 2**12  # of these, as many of each row


class Level(NamedTuple):
    """How large the contributions of systems are."""

    sums: FloatArray  #: (system,)
    sizes: FloatArray  #: (system,): the largest absolute contribution
    weight: float  #: the sum of the weights

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray) -> Level:
        """Return the level of contributions (system, drawn) with these weights (drawn,)."""
        summed = exact_sums(np.vstack([values, weights])).rounded()
        return cls(summed[:-1], sizes_of(values), float(summed[-1]))


class Spread(NamedTuple):
    """Sums of squared contributions: of systems less their mean, and of the pairs' differences."""

    systems: FloatArray  #: (system,)
    pairs: FloatArray  #: (pair,): less their mean
    raw: FloatArray  #: (pair,): as they are; none where they are not asked for


def sizes_of(values: FloatArray) -> FloatArray:
    """Return the largest absolute number of each row, 0 of none, NaN where there is one."""
    return np.asarray(np.abs(values).max(axis=1, initial=0.0))


def squares(
    values: FloatArray, weights: FloatArray, level: Level, pairs: IntArray, *, raw: bool
) -> Sums:
    """Return the sums of squares of contributions (system, drawn): see :func:`spread_of`."""
    own = np.arange(len(values))[:, np.newaxis]
    asked = [(own, True), (pairs, True)] + ([(pairs, False)] if raw else [])
    width = min(max(values.shape[1], 1), _WIDE)
    height = max(1, _DIFFERENCES_TOGETHER // width)
    found = []
    for of, centred in asked:
        for start in range(0, len(of), height):
            rows = of[start : start + height]
            found.append(_squared(values, weights, level, rows, width, centred=centred))
    return Sums(
        np.concatenate([x.wholes for x in found]), np.concatenate([x.undefined for x in found])
    )


def _squared(
    values: FloatArray,
    weights: FloatArray,
    level: Level,
    rows: IntArray,
    width: int,
    *,
    centred: bool,
) -> Sums:
    """Return the sums of squares of some systems, (row, 1), or of some pairs, (row, 2)."""
    gains = _less(level.sums, rows)[:, np.newaxis]
    found = None
    for start in range(0, max(values.shape[1], 1), width):
        part = slice(start, start + width)
        numbers = _less(values[:, part], rows)
        if centred:
            numbers = numbers - weights[part] / level.weight * gains
        added = exact_sums(np.square(numbers))
        found = added if found is None else found.plus(added)
    assert found is not None
    return found


def _less(values: FloatArray, rows: IntArray) -> FloatArray:
    """Return the values of systems, or those of the first of a pair less those of the second."""
    return values[rows[:, 0]] if rows.shape[1] == 1 else values[rows[:, 0]] - values[rows[:, 1]]


def spread_of(summed: Sums, systems: int, pairs: int) -> Spread:
    """Return the sums of squares by what they are of."""
    found = summed.rounded()
    return Spread(found[:systems], found[systems : systems + pairs], found[systems + pairs :])
