"""Metrics as functions of summed statistics, and sums independent of the item order."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray
from rankeval_pd.stats.exact_sums import ExactSums, exact_sums

# ------------------------------------------------------- Metrics as functions of summed statistics
#
# A metric is computed from sufficient statistics that are summed over test items (Berg-Kirkpatrick
# et al. 2012, footnote 4). Each function takes the sums ``S[..., statistic]``, with statistics in
# the order of :data:`METRICS`, and returns the scores ``[...]``. A score with a denominator of 0 is
# NaN.

Score = Callable[[AnyArray], FloatArray]


class MetricFormula(NamedTuple):
    """A metric, with the required statistics and a function from their sums to a score."""

    statistics: tuple[str, ...]
    score: Score
    higher_is_better: bool = True
    # : pairs of counts (part, whole), in which the part cannot exceed the whole
    parts: tuple[tuple[str, str], ...] = ()
    most: float = np.inf  #: largest possible score, if scores range from 0 to this value


def _ratio(above: AnyArray, below: AnyArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below == 0.0, np.nan, above / below)


def ratio(sums: AnyArray) -> FloatArray:
    """Return the first sum divided by the second, for means and all other ratios."""
    return _ratio(sums[..., 0], sums[..., 1])


def plain_sum(sums: AnyArray) -> FloatArray:
    """Return the sum."""
    return np.asarray(sums[..., 0], dtype=float)


def f1(sums: AnyArray) -> FloatArray:
    """Return 2 correct / (guess + gold), the harmonic mean of precision and recall."""
    return _ratio(2.0 * sums[..., 0], sums[..., 1] + sums[..., 2])


def aer(sums: AnyArray) -> FloatArray:
    """Return the alignment error rate, 1 - (correct_sure + correct_possible) / (guess + sure)."""
    sure, guess, correct_sure, correct_possible = np.moveaxis(sums, -1, 0)
    return 1.0 - _ratio(correct_sure + correct_possible, guess + sure)


def bleu(sums: AnyArray) -> FloatArray:
    """Return corpus BLEU on a scale of 0 to 100, with sacrebleu's default smoothing.

    The first n-gram order without a match counts as 1/2 match, the next such order as 1/4, and so
    on. BLEU is 0 if there are no matches, or if no hypothesis is long enough for n-grams of every
    order.
    """
    sums = np.asarray(sums, dtype=float)
    # statistics in the order of _BLEU: lengths, then matches and n-grams of orders 1 to 4
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


class RatioForm(NamedTuple):
    """The weights of the statistics in a score that is a ratio of two sums."""

    above: tuple[int, ...]
    below: tuple[int, ...]
    wholes: tuple[int, ...]  #: statistics that count guesses or answers


RATIO_FORMS: dict[Score, RatioForm] = {
    ratio: RatioForm((1, 0), (0, 1), (1,)),
    f1: RatioForm((2, 0, 0), (0, 1, 1), (1, 2)),
    aer: RatioForm((1, 1, -1, -1), (1, 1, 0, 0), (0, 1)),
}

_BETA_SQUARED = 4.0  # recall has twice the weight of precision, as in sacrebleu's default


def chrf(sums: AnyArray) -> FloatArray:
    """Return sacrebleu's corpus chrF (0 to 100), with beta = 2 and effective order.

    The statistics are hyp_1, ref_1, match_1, hyp_2, ..., which are the numbers of n-grams in the
    hypothesis, n-grams in the reference, and matches. Orders without n-grams in the hypothesis or
    the reference are ignored.
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

#: For mean, rouge and accuracy, the second statistic is the number of items by default.
METRICS: dict[str, MetricFormula] = {
    "mean": MetricFormula(("value", "items"), ratio),
    "sum": MetricFormula(("value",), plain_sum),
    "rouge": MetricFormula(("value", "items"), ratio),
    "ratio": MetricFormula(("numerator", "denominator"), ratio),
    "ter": MetricFormula(("numerator", "denominator"), ratio, higher_is_better=False),
    "accuracy": MetricFormula(("correct", "total"), ratio, parts=(("correct", "total"),), most=1.0),
    "precision": MetricFormula(
        ("correct", "guess"), ratio, parts=(("correct", "guess"),), most=1.0
    ),
    "recall": MetricFormula(("correct", "gold"), ratio, parts=(("correct", "gold"),), most=1.0),
    "f1": MetricFormula(
        ("correct", "guess", "gold"),
        f1,
        parts=(("correct", "guess"), ("correct", "gold")),
        most=1.0,
    ),
    "aer": MetricFormula(
        ("sure", "guess", "correct_sure", "correct_possible"),
        aer,
        higher_is_better=False,
        parts=(("correct_sure", "sure"), ("correct_possible", "guess")),
        most=1.0,
    ),
    "bleu": MetricFormula(
        _BLEU, bleu, parts=tuple((f"correct_{i}", f"total_{i}") for i in range(1, 5)), most=100.0
    ),
    "chrf": MetricFormula(("hyp_1", "ref_1", "match_1"), chrf, most=100.0),
}


# : Names of metrics in sentences and on axes.
WRITTEN = {"f1": "F1", "aer": "AER", "bleu": "BLEU", "chrf": "chrF", "rouge": "ROUGE", "ter": "TER"}

# : Metrics with a known direction. Means, sums and ratios are excluded because they can measure
# errors.
DIRECTED_METRICS = frozenset(METRICS) - {"mean", "sum", "ratio"}


def chrf_formula(orders: int) -> MetricFormula:
    """Return the chrF metric with this number of n-gram orders."""
    names = [f"{kind}_{i}" for i in range(1, orders + 1) for kind in ("hyp", "ref", "match")]
    parts = tuple(
        (f"match_{i}", f"{kind}_{i}") for i in range(1, orders + 1) for kind in ("hyp", "ref")
    )
    return MetricFormula(tuple(names), chrf, parts=parts, most=100.0)


# --------------------------------------------------- Columns as integers, for exact weighted sums
#
# Each number is split into two or more pieces. The pieces are integer multiples of units that
# depend only on the largest number in the column. The units are chosen so that float64 represents
# weighted sums of pieces exactly. A matrix product therefore gives the same sums, regardless of the
# library, the number of threads and the blocks of items. Bits below 2^-60 of the largest number in
# the column are rounded away.

_KEPT_BITS = 60  # number of bits kept below the largest number in a column
_EXACT_BITS = 52  # number of bits in a weighted sum of pieces; float64 has 53
_LEAST_EXPONENT = -1022  # 2^-1022 is the smallest float with full precision
_SINGLE_BITS = 24  # number of bits in float32, which has faster products
_PIECES_AT_ONCE = 500_000  # number of pieces computed at a time: 4 MB
_WEIGHTS_AT_ONCE = 4_000_000  # number of weights converted to floats at a time: 32 MB


class PieceUnits(NamedTuple):
    """The units for the pieces of each column."""

    exponents: IntArray  #: (level, column)
    undefined: BoolArray  #: (column,): whether any number is not finite

    @classmethod
    def of(cls, sizes: FloatArray, most: float) -> PieceUnits:
        """Return the units for columns with these largest numbers and weights up to ``most``."""
        # the sum of the weights needs some of the 52 bits, and a piece can use the rest
        undefined = np.asarray(~np.isfinite(sizes))
        bits = _EXACT_BITS - int(np.ceil(np.log2(max(most, 1.0))))
        top = np.frexp(np.where(undefined, 0.0, sizes))[1].astype(np.int64) - bits
        # a remainder is at most half a unit, so each further unit is smaller by bits + 1
        levels = 1 + max(0, -(-(_KEPT_BITS - bits) // (bits + 1)))
        lower = (bits + 1) * np.arange(levels)[:, np.newaxis]
        return cls(np.maximum(top - lower, _LEAST_EXPONENT), undefined)

    def floats(self, sums: FloatArray) -> FloatArray:
        """Combine sums of pieces (level, ..., column) into weighted sums (..., column)."""
        # add the smallest pieces first to minimize rounding errors
        result = np.zeros(sums.shape[1:])
        for added, exponent in zip(sums[::-1], self.exponents[::-1], strict=True):
            result += np.ldexp(added, exponent)
        return np.where(self.undefined, np.nan, result)

    def pieces(self, values: FloatArray) -> FloatArray:
        """Split values (item, column) into integer pieces (level, item, column)."""
        rest = np.where(self.undefined, 0.0, values)
        result = np.empty((len(self.exponents), *rest.shape))
        for level, exponent in enumerate(self.exponents):
            result[level] = np.rint(np.ldexp(rest, -exponent))
            rest -= np.ldexp(result[level], exponent)
        return result


class WholeColumns:
    """Item columns prepared for sums with many sets of weights."""

    def __init__(self, values: FloatArray, sizes: FloatArray, most: float) -> None:
        """Split the columns into pieces.

        Parameters
        ----------
        values : array (item, column)
        sizes : array (column,)
            The largest absolute number in each column over all items, including other blocks.
        most : float
            The largest sum of the weights of all items.
        """
        self.scale = PieceUnits.of(sizes, most)
        levels, columns = self.scale.exponents.shape
        # columns of ones (numbers of items) are equal, so keep only one
        alike = np.flatnonzero((sizes == 1.0) & (values == 1.0).all(axis=0))
        kept = np.setdiff1d(np.arange(columns), alike[1:])
        own = PieceUnits(self.scale.exponents[:, kept], self.scale.undefined[kept])
        step = max(1, _PIECES_AT_ONCE // max(kept.size * levels, 1))
        runs = [slice(start, start + step) for start in range(0, len(values), step)]
        filled: BoolArray = np.zeros((levels, kept.size), dtype=bool)
        bits, largest = 0, 0.0
        # first pass: find the nonzero (level, column), the bits used and the largest piece. Two
        # passes are used because the pieces of all levels need more memory than the kept pieces.
        for run in runs:
            sizes_of_pieces = np.abs(own.pieces(values[run][:, kept]))
            filled |= sizes_of_pieces.any(axis=1)
            bits |= int(np.bitwise_or.reduce(sizes_of_pieces.astype(np.int64), axis=None))
            largest = max(largest, float(sizes_of_pieces.max(initial=0.0)))
        # column in ``_listed``, from 1, for each (level, column); 0 if all pieces are 0
        self._place = np.zeros((levels, columns), dtype=np.int64)
        self._place[:, kept] = np.cumsum(filled).reshape(filled.shape) * filled
        self._place[:, alike] = self._place[:, alike[:1]]
        # bits & -bits is the lowest bit of any piece, so 2^shift divides all pieces. After this
        # division, float32 represents the sums of small pieces exactly
        self.shift = (bits & -bits).bit_length() - 1 if bits else 0
        single = largest * 2.0**-self.shift * max(most, 1.0) < 2.0**_SINGLE_BITS
        self.dtype = np.dtype(np.float32 if single else np.float64)
        # second pass: store the kept pieces, (item, listed column)
        self._listed = np.empty((len(values), int(filled.sum())), dtype=self.dtype)
        for run in runs:
            pieces = np.moveaxis(own.pieces(values[run][:, kept]), 1, 0)
            self._listed[run] = pieces[:, filled] * 2.0**-self.shift

    def __sizeof__(self) -> int:
        """Return the size in bytes, which schedulers use to decide whether to move an object."""
        return object.__sizeof__(self) + self._listed.nbytes

    def sums(self, weights: AnyArray) -> FloatArray:
        """Return the sums of pieces (level, resample, column) for weights (resample, item).

        The results are integers, to which sums over other items can be added.
        """
        return self._summed(len(weights), lambda part: weights[:, part])

    def sums_of_bits(self, packed: AnyArray, places: IntArray) -> FloatArray:
        """Return the sums for weights of 0 and 1, packed eight to a byte (resample, byte).

        ``places`` contains the bit position of each item. See :meth:`sums`.
        """

        def bits(part: slice) -> AnyArray:
            own = places[part]
            # unpack whole bytes for adjacent bits, and single bits otherwise; bit 0 is the highest
            # bit of a byte, as in np.packbits
            if own.size and own[-1] - own[0] == own.size - 1 and (np.diff(own) == 1).all():
                start, stop = own[0] // 8, own[-1] // 8 + 1
                unpacked = np.unpackbits(packed[:, start:stop], axis=1)
                return unpacked[:, own[0] % 8 :][:, : own.size]
            return (packed[:, own // 8] >> (7 - own % 8).astype(np.uint8)) & np.uint8(1)

        return self._summed(len(packed), bits)

    def _summed(self, rows: int, weights: Callable[[slice], AnyArray]) -> FloatArray:
        """Return the sums (level, resample, column); ``weights`` takes a slice of items."""
        # column 0 is always 0, for pieces that are all 0
        result = np.zeros((rows, self._listed.shape[1] + 1))
        step = max(8, _WEIGHTS_AT_ONCE // max(rows, 1) // 8 * 8)
        for start in range(0, len(self._listed), step):
            part = slice(start, start + step)
            result[:, 1:] += weights(part).astype(self.dtype, copy=False) @ self._listed[part]
        result *= 2.0**self.shift
        return np.asarray(np.moveaxis(result[:, self._place], 0, 1))

    def weighted(self, weights: AnyArray) -> FloatArray:
        """Return the sums (resample, column) for weights (resample, item)."""
        return self.scale.floats(self.sums(weights))


# --------------------------------------- Sums, squares and largest values of item contributions
#
# These results do not depend on the order of the items.

_DIFFERENCES_AT_ONCE = 1_000_000  # cells (pair, item) in memory: 8 MB
_ROW_WIDTH = 2**12  # number of items per pair in one block


class ContributionLevel(NamedTuple):
    """The sums and the largest absolute values of the systems' contributions."""

    sums: FloatArray  #: (system,)
    sizes: FloatArray  #: (system,): largest absolute contribution
    weight: float  #: sum of the weights

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray) -> ContributionLevel:
        """Return the sums for contributions (system, drawn) with weights (drawn,)."""
        summed = exact_sums(np.vstack([values, weights])).rounded()
        return cls(summed[:-1], largest_sizes(values), float(summed[-1]))


class ContributionSpread(NamedTuple):
    """Sums of the systems' squared contributions and of the pairs' squared differences."""

    systems: FloatArray  #: (system,)
    pairs: FloatArray  #: (pair,): squares about the mean
    system_cubes: FloatArray  #: (system,): sums of cubes about the mean, see cube_exponents
    cubes: FloatArray  #: (pair,)
    raw: FloatArray  #: (pair,): squares about 0; empty if not requested


def largest_sizes(values: FloatArray) -> FloatArray:
    """Return the largest absolute value of each row; 0 for an empty row, NaN if any is NaN."""
    return np.asarray(np.abs(values).max(axis=1, initial=0.0))


def sums_of_squares(
    values: FloatArray, weights: FloatArray, level: ContributionLevel, pairs: IntArray, *, raw: bool
) -> ExactSums:
    """Return sums of powers of contributions (system, drawn) for ``contribution_spread``.

    ``raw`` adds squares about 0, which are needed for simultaneous intervals.
    """
    # rows with one number (row, 1) are systems, and rows with two numbers (row, 2) are pairs
    own = np.arange(len(values))[:, np.newaxis]
    asked = [(own, 2, True), (pairs, 2, True), (own, 3, True), (pairs, 3, True)]
    asked += [(pairs, 2, False)] if raw else []
    width = min(max(values.shape[1], 1), _ROW_WIDTH)
    height = max(1, _DIFFERENCES_AT_ONCE // width)
    found = []
    for of, power, centered in asked:
        for start in range(0, len(of), height):
            rows = of[start : start + height]
            found.append(_row_powers(values, weights, level, rows, width, power, centered=centered))
    return ExactSums(
        np.concatenate([x.wholes for x in found]), np.concatenate([x.undefined for x in found])
    )


def _row_powers(
    values: FloatArray,
    weights: FloatArray,
    level: ContributionLevel,
    rows: IntArray,
    width: int,
    power: int,
    *,
    centered: bool,
) -> ExactSums:
    """Return the sums of powers for some systems, (row, 1), or some pairs, (row, 2)."""
    gains = _row_values(level.sums, rows)[:, np.newaxis]
    found = None
    for start in range(0, max(values.shape[1], 1), width):
        part = slice(start, start + width)
        numbers = _row_values(values[:, part], rows)
        if centered:
            numbers = numbers - weights[part] / level.weight * gains
        if power == 3:  # if no cube overflows
            numbers = np.ldexp(numbers, -cube_exponents(level, rows)[:, np.newaxis])
        added = exact_sums(numbers**power)
        found = added if found is None else found.plus(added)
    assert found is not None
    return found


def cube_exponents(level: ContributionLevel, rows: IntArray) -> IntArray:
    """Return the powers of two by which the rows are divided before cubing."""
    return np.asarray(np.frexp(level.sizes[rows].max(axis=1))[1], dtype=np.int64)


def leans(
    squares: FloatArray, cubes: FloatArray, level: ContributionLevel, rows: IntArray
) -> FloatArray:
    """Return the skewness divided by the square root of the number of items."""
    squares = np.ldexp(squares, -2 * cube_exponents(level, rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0.0, cubes / squares**1.5, 0.0)


def _row_values(values: FloatArray, rows: IntArray) -> FloatArray:
    """Return the values of systems, or the differences between the two systems of a pair."""
    return values[rows[:, 0]] if rows.shape[1] == 1 else values[rows[:, 0]] - values[rows[:, 1]]


def contribution_spread(summed: ExactSums, systems: int, pairs: int) -> ContributionSpread:
    """Split the sums into squares and cubes for systems and pairs, and raw squares for pairs."""
    return ContributionSpread(
        *np.split(summed.rounded(), np.cumsum([systems, pairs, systems, pairs]))
    )
