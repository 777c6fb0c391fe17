"""Test items: exact sums, metrics of sums, resamples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray, silent_division

# -------------------------------------------------------------------------------------------------
# Exact sums of floats that do not depend on the order of addition or on how data are split.
#
# Each number is split into pieces of at most 27 bits, so that float64 represents the sums of the
# pieces exactly. These sums are converted to Python integers, and only the final result is rounded.

_PIECE_BITS = 26  # the absolute value of a piece is an integer of at most 2^26
_NUMBERS_EXACT = 2**26  # the sum of this many pieces is at most 2^52, which is exact in float64
_CACHED_NUMBERS = 2**15  # 256 kB of floats fit into the processor's cache
_ROW_WIDTH = 2**10  # largest number of values from one row in a block
_LEAST_EXPONENT = -1074  # 2^-1074 is the smallest float


class ExactSums(NamedTuple):
    """Exact sums for several rows, to which further sums can be added."""

    wholes: np.ndarray[Any, np.dtype[np.object_]]  #: (row,): sums in units of the smallest float
    undefined: BoolArray  #: (row,): whether any number is not finite

    def plus(self, other: ExactSums) -> ExactSums:
        """Return the sums of the numbers in both objects combined."""
        return ExactSums(self.wholes + other.wholes, self.undefined | other.undefined)

    def rounded(self) -> FloatArray:
        """Return the floats nearest to the sums; NaN if undefined."""
        result = np.full(self.wholes.shape, np.nan)
        for row in np.flatnonzero(~self.undefined):
            whole = self.wholes[row]
            try:
                result[row] = whole / 2**-_LEAST_EXPONENT  # dividing two ints rounds only once
            except OverflowError:
                result[row] = np.inf
                if whole < 0:
                    result[row] = -np.inf
        return result


def exact_sums(values: FloatArray) -> ExactSums:
    """Return the exact sum of each row of (row, number), at about 5 ns per number."""
    rows, count = values.shape
    wholes = np.zeros(rows, dtype=object)
    size = np.maximum(values.max(axis=1, initial=0.0), -values.min(axis=1, initial=0.0))
    undefined = np.asarray(~np.isfinite(size))
    # the unit of the first pieces is 26 bits below the largest number in the row
    top = np.frexp(np.where(undefined, 0.0, size))[1].astype(np.int64) - _PIECE_BITS
    width = max(1, min(count, max(_ROW_WIDTH, _CACHED_NUMBERS // max(rows, 1))))
    height = _CACHED_NUMBERS // width
    for first, begin in itertools.product(range(0, rows, height), range(0, count, _NUMBERS_EXACT)):
        here = slice(first, first + height)
        levels: list[tuple[IntArray, FloatArray]] = []  # exponents of the units, sums of pieces
        end = min(begin + _NUMBERS_EXACT, count)
        for start in range(begin, end, width):
            rest = np.array(values[here, start : min(start + width, end)], order="C")
            rest[undefined[here]] = 0.0
            # round to multiples of the unit, sum these, and continue with the exact remainder
            level = 0
            while rest.any():
                if level == len(levels):
                    units = np.maximum(top[here] - (_PIECE_BITS + 1) * level, _LEAST_EXPONENT)
                    levels.append((units, np.zeros(units.size)))
                unit = levels[level][0][:, np.newaxis]
                far = unit.min() < -1000  # use ldexp, because 2.0**-unit can overflow
                piece = np.ldexp(rest, -unit) if far else rest * 2.0**-unit
                np.rint(piece, out=piece)
                np.add(levels[level][1], piece.sum(axis=1), out=levels[level][1])
                rest -= np.ldexp(piece, unit) if far else np.multiply(piece, 2.0**unit, out=piece)
                level += 1
        for units, sums in levels:  # as integer multiples of the smallest float
            shifts = (units - _LEAST_EXPONENT).tolist()
            for row, (sum_, shift) in enumerate(zip(sums.tolist(), shifts, strict=True), first):
                wholes[row] += int(sum_) << shift
    return ExactSums(wholes, undefined)


def exact_total(values: FloatArray) -> FloatArray:
    """Return the sums over the last axis, rounded once from the exact sums."""
    rows = np.reshape(values, (math.prod(values.shape[:-1]), values.shape[-1]))
    return exact_sums(np.asarray(rows, dtype=float)).rounded().reshape(values.shape[:-1])


# -------------------------------------------------------------------------------------------------
# Metrics as functions of summed statistics.
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


def ratio(sums: AnyArray) -> FloatArray:
    """Return the first sum divided by the second, for means and all other ratios."""
    above, below = sums[..., 0], sums[..., 1]
    with silent_division():
        return np.where(below == 0.0, np.nan, above / below)


def plain_sum(sums: AnyArray) -> FloatArray:
    """Return the sum."""
    return np.asarray(sums[..., 0], dtype=float)


def f1(sums: AnyArray) -> FloatArray:
    """Return 2 correct / (guess + gold), the harmonic mean of precision and recall."""
    return ratio(np.stack([2.0 * sums[..., 0], sums[..., 1] + sums[..., 2]], axis=-1))


def macro_f1(sums: AnyArray) -> FloatArray:
    """Return the mean F1 of the classes that occur, each with correct, guess and gold."""
    correct, guess, gold = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, 3), -1, 0)
    return _mean_share(2.0 * correct, guess + gold)


def balanced_accuracy(sums: AnyArray) -> FloatArray:
    """Return the mean recall of the classes that occur, each with correct and gold."""
    return _mean_share(*np.moveaxis(sums.reshape(*sums.shape[:-1], -1, 2), -1, 0))


def _mean_share(above: AnyArray, below: AnyArray) -> FloatArray:
    """Return the mean share over the last axis, without shares of 0."""
    shares = ratio(np.stack([above, below], axis=-1))
    return ratio(np.stack([np.nansum(shares, axis=-1), (below != 0.0).sum(axis=-1)], axis=-1))


def aer(sums: AnyArray) -> FloatArray:
    """Return the alignment error rate, 1 - (correct_sure + correct_possible) / (guess + sure)."""
    sure, guess, correct_sure, correct_possible = np.moveaxis(sums, -1, 0)
    return 1.0 - ratio(np.stack([correct_sure + correct_possible, guess + sure], axis=-1))


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
    with silent_division():
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
    with silent_division():
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
    **{
        name: MetricFormula(("correct", whole), ratio, parts=(("correct", whole),), most=1.0)
        for name, whole in (
            ("accuracy", "total"),
            ("precision", "guess"),
            ("recall", "gold"),
            ("specificity", "gold"),
        )
    },
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
    "macro_f1": MetricFormula(("correct_1", "guess_1", "gold_1"), macro_f1, most=1.0),
    "balanced_accuracy": MetricFormula(("correct_1", "gold_1"), balanced_accuracy, most=1.0),
}


# : Names of metrics in sentences and on axes.
WRITTEN = {
    "f1": "F1",
    "macro_f1": "macro F1",
    "balanced_accuracy": "balanced accuracy",
    "aer": "AER",
    "bleu": "BLEU",
    "chrf": "chrF",
    "rouge": "ROUGE",
    "ter": "TER",
}

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


def numbered_formula(metric: str, statistics: Collection[object]) -> MetricFormula:
    """Return a metric with the n-gram orders or classes for which there are statistics."""
    formula, count = METRICS[metric], 1
    kinds = [name.removesuffix("1") for name in formula.statistics]
    if not kinds[0].endswith("_"):
        return formula
    while {f"{kind}{count + 1}" for kind in kinds} <= {*statistics}:
        count += 1
    if metric == "chrf":
        return chrf_formula(count)
    numbers = range(1, count + 1)
    wholes = [kind for kind in kinds if kind != "correct_"]
    return formula._replace(
        statistics=tuple(f"{kind}{i}" for i in numbers for kind in kinds),
        parts=tuple((f"correct_{i}", f"{kind}{i}") for i in numbers for kind in wholes),
    )


# ---- Columns as integers, for exact weighted sums
#
# Each number is split into two or more pieces. The pieces are integer multiples of units that
# depend only on the largest number in the column. The units are chosen so that float64 represents
# weighted sums of pieces exactly. A matrix product therefore gives the same sums, regardless of the
# library, the number of threads and the blocks of items. Bits below 2^-60 of the largest number in
# the column are rounded away.

_KEPT_BITS = 60  # number of bits kept below the largest number in a column
_EXACT_BITS = 52  # number of bits in a weighted sum of pieces; float64 has 53
_SMALLEST_EXPONENT = -1022  # 2^-1022 is the smallest float with full precision
_SINGLE_BITS = 24  # number of bits in float32, which has faster products
_WEIGHTS_AT_ONCE = 4_000_000  # number of weights converted to floats at a time: 32 MB
_OF_ONE_THREAD = 2**18  # up to this number of multiplications, OpenBLAS uses one thread
_LEAST_ROWS = 8  # with fewer rows, a product is large enough for several threads
_SUBSETS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1)  #: (byte, bit)
_TABLED_PIECES = 2**15  # a table of 32 times as many numbers, 8 MB, is not larger than the caches


class WholeColumns:
    """Item columns as integer pieces, for sums with many sets of weights."""

    def __init__(self, values: FloatArray, most: float, sizes: FloatArray | None = None) -> None:
        """Split the columns of values (item, column) into pieces.

        ``most`` is the largest sum of the weights of all items, and ``sizes`` are the largest
        absolute numbers in each column over all items, if there are other blocks.
        """
        if sizes is None:
            sizes = np.asarray(np.abs(values).max(axis=0, initial=0.0))
        # the sum of the weights needs some of the 52 bits, and a piece can use the rest
        bits = _EXACT_BITS - int(np.ceil(np.log2(max(most, 1.0))))
        defined = np.isfinite(sizes)
        top = np.frexp(np.where(defined, sizes, 0.0))[1] - bits
        # a remainder is at most half a unit, so each further unit is smaller by bits + 1
        levels = 1 + max(0, -(-(_KEPT_BITS - bits) // (bits + 1)))
        lower = (bits + 1) * np.arange(levels)[:, np.newaxis]
        exponents = np.maximum(top - lower, _SMALLEST_EXPONENT)
        #: (level, column); NaN if any number in the column is not finite
        self.units: FloatArray = np.where(defined, np.ldexp(1.0, exponents), np.nan)
        # row of ``_listed``, from 1, for each (level, column); 0 if all pieces are 0
        self._place = np.zeros(self.units.shape, dtype=np.int64)
        # columns of ones (numbers of items) are equal, so keep only one
        alike = np.flatnonzero((sizes == 1.0) & (values == 1.0).all(axis=0))
        kept: list[FloatArray] = []
        used, largest = 0, 0.0
        for column in np.setdiff1d(np.flatnonzero(defined), alike[1:]):
            rest = values[:, column].astype(float)
            for level, unit in enumerate(self.units[:, column]):
                piece = np.rint(rest / unit)
                if not piece.any():
                    continue
                rest -= piece * unit
                kept.append(piece)
                self._place[level, column] = len(kept)
                used |= int(np.bitwise_or.reduce(np.abs(piece).astype(np.int64)))
                largest = max(largest, float(np.abs(piece).max()))
        self._place[:, alike] = self._place[:, alike[:1]]
        # used & -used is the lowest bit of any piece, so 2^shift divides all pieces. After this
        # division, float32 represents the sums of small pieces exactly
        self.shift = max((used & -used).bit_length() - 1, 0)
        single = largest * 2.0**-self.shift * max(most, 1.0) < 2.0**_SINGLE_BITS
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self._listed = np.empty((len(kept), len(values)), dtype=self.dtype)
        for row, piece in enumerate(kept):
            self._listed[row] = piece * 2.0**-self.shift

    def __sizeof__(self) -> int:
        """Return the size in bytes, which schedulers use to decide whether to move an object."""
        return object.__sizeof__(self) + self._listed.nbytes

    def sums(self, weights: AnyArray, places: IntArray | None = None) -> FloatArray:
        """Return the sums of pieces (level, resample, column) for weights (resample, item).

        The results are integers, to which sums over other items can be added. With ``places``, the
        weights are 0 or 1 and packed eight to a byte, (resample, byte), and ``places`` contains the
        bit position of each item.
        """
        rows = len(weights)
        # row 0 is always 0, for pieces that are all 0
        result = np.zeros((len(self._listed) + 1, rows))
        few = self._listed.size <= _TABLED_PIECES and rows >= len(_SUBSETS)
        if few and places is not None and np.array_equal(places, np.arange(self._listed.shape[1])):
            result[1:] = self._subset_sums(weights).T
        else:
            self._add_products(result[1:], weights, places)
        result *= 2.0**self.shift
        return np.asarray(np.moveaxis(result[self._place], 1, 2))

    def _add_products(self, result: FloatArray, weights: AnyArray, places: IntArray | None) -> None:
        """Add the sums of ``_listed``, (row, resample), as products of matrices."""
        listed, rows = self._listed, len(weights)
        step = max(8, _WEIGHTS_AT_ONCE // max(rows, 1) // 8 * 8)
        for start in range(0, listed.shape[1], step):
            pieces = listed[:, start : start + step]
            if places is None:
                own = weights[:, start : start + step]
            else:
                own = _unpacked(weights, places[start : start + step])
            # several threads would spend more time waiting than a small product takes: compute it
            # in blocks that BLAS does not divide among threads
            height = _OF_ONE_THREAD // max(pieces.size, 1)
            if height < _LEAST_ROWS:
                height = max(rows, 1)
            for first in range(0, rows, height):
                block = own[first : first + height].astype(self.dtype, copy=False)
                result[:, first : first + height] += pieces @ block.T

    @cached_property
    def _tables(self) -> FloatArray:
        """The sums over every subset of eight adjacent items, (byte, subset, row)."""
        rows, n_items = self._listed.shape
        filled = np.zeros((-(-n_items // 8) * 8, rows), dtype=self.dtype)
        filled[:n_items] = self._listed.T
        return np.asarray(np.matmul(_SUBSETS.astype(self.dtype), filled.reshape(-1, 8, rows)))

    def _subset_sums(self, packed: AnyArray) -> FloatArray:
        """Return the sums of ``_listed`` over packed subsets, (resample, row).

        For many subsets of few items, a table is faster than a product.
        """
        result: Any = np.zeros((len(packed), len(self._listed)), dtype=self.dtype)
        # bytes and bits after the last item belong to other blocks; the table has zeros for them
        for table, octets in zip(self._tables, packed.T, strict=False):
            result += table.take(octets, axis=0)
        return np.asarray(result)

    def floats(self, sums: FloatArray) -> FloatArray:
        """Combine sums of pieces (level, ..., column) into weighted sums (..., column)."""
        # add the smallest pieces first to minimize rounding errors
        result = np.zeros(sums.shape[1:])
        for added, unit in zip(sums[::-1], self.units[::-1], strict=True):
            result += added * unit
        return result


def _unpacked(packed: AnyArray, places: IntArray) -> AnyArray:
    """Return the bits at these places, (resample, item); bit 0 is the highest bit of a byte."""
    # unpack whole bytes for adjacent bits, and single bits otherwise
    first, last = places[0], places[-1]
    if last - first == places.size - 1 and (np.diff(places) == 1).all():
        unpacked = np.unpackbits(packed[:, first // 8 : last // 8 + 1], axis=1)
        return unpacked[:, first % 8 :][:, : places.size]
    return (packed[:, places // 8] >> (7 - places % 8).astype(np.uint8)) & np.uint8(1)


# ---- Sums, squares and largest values of item contributions
#
# These results do not depend on the order of the items.

_DIFFERENCES_AT_ONCE = 1_000_000  # cells (pair, item) in memory: 8 MB
_ITEMS_IN_BLOCK = 2**12  # number of items per pair in one block


class ContributionLevel(NamedTuple):
    """The sums and the largest absolute values of the systems' contributions."""

    sums: FloatArray  #: (system,)
    sizes: FloatArray  #: (system,): largest absolute contribution
    weight: float  #: sum of the weights
    unit: float = 1.0  #: change in the score per unit of contribution
    room: FloatArray = np.zeros(1)  #: (system,): largest sum that can be a rounding error


class ContributionSpread(NamedTuple):
    """Sums of the systems' squared contributions and of the pairs' squared differences."""

    systems: FloatArray  #: (system,)
    pairs: FloatArray  #: (pair,): squares about the mean
    system_cubes: FloatArray  #: (system,): sums of cubes about the mean, see sums_of_squares
    cubes: FloatArray  #: (pair,)
    raw: FloatArray  #: (pair,): squares about 0; empty if not requested
    room: FloatArray = np.empty(0)  #: (pair,): largest sum that can be a rounding error
    error: FloatArray = np.empty(0)  #: (pair,): standard error of the gain by linearization
    lean: FloatArray = np.empty(0)  #: (pair,): see :func:`leans`


def sums_of_squares(
    values: FloatArray, weights: FloatArray, level: ContributionLevel, pairs: IntArray, *, raw: bool
) -> ExactSums:
    """Return sums of powers of contributions (system, drawn), in the order of ContributionSpread.

    Rows are divided by a power of two before cubing. ``raw`` adds squares about 0, which are needed
    for simultaneous intervals.
    """
    # a system is a pair with a last system, which contributes nothing
    systems = np.arange(len(values))
    every = np.vstack([np.stack([systems, np.full_like(systems, -1)], axis=1), pairs])
    sums, sizes = np.append(level.sums, 0.0), np.append(level.sizes, 0.0)
    kinds = [(every, 2, True), (every, 3, True)]
    if raw:
        kinds.append((pairs, 2, False))
    count = max(values.shape[1], 1)
    width = min(count, _ITEMS_IN_BLOCK)
    height = max(1, _DIFFERENCES_AT_ONCE // width)
    found: list[ExactSums] = []
    for of, power, centered in kinds:
        for first, start in itertools.product(range(0, len(of), height), range(0, count, width)):
            a, b = of[first : first + height].T
            part = slice(start, start + width)
            block = np.vstack([values[:, part], np.zeros_like(weights[part])])
            numbers = block[a] - block[b]
            if centered:
                gains = sums[a] - sums[b]
                numbers = numbers - weights[part] / level.weight * gains[:, np.newaxis]
            if power == 3:  # if no cube overflows
                exponents = np.frexp(np.maximum(sizes[a], sizes[b]))[1]
                numbers = np.ldexp(numbers, -exponents[:, np.newaxis])
            added = exact_sums(numbers**power)
            if start:
                added = found.pop().plus(added)
            found.append(added)
    return ExactSums(*map(np.concatenate, zip(*found, strict=True)))


def leans(
    squares: FloatArray, cubes: FloatArray, level: ContributionLevel, rows: IntArray
) -> FloatArray:
    """Return the skewness divided by the square root of the number of items."""
    squares = np.ldexp(squares, -2 * np.frexp(level.sizes[rows].max(axis=1))[1])
    with silent_division():
        return np.where(squares > 0.0, cubes / squares**1.5, 0.0)


# -------------------------------------------------------------------------------------------------
# Resamples of test items as counts for all systems, and random swaps of two systems.
#
# Draws are generated in blocks of :data:`BLOCK` resamples. Each block has its own child seed, so
# the draws depend only on the seed and the number of items.

BLOCK = 1000  # number of resamples per child seed; changing this number changes all draws
_COUNTS_IN_MEMORY = 8_000_000  # number of cells (resample, item) drawn in one call of the generator
_DRAWN_BYTES = 2**25  # bytes of counts (uint8) per chunk: 32 MB
_CACHED_COUNTS = 2**15  # places of counts (int64) that fit into the processor's cache: 256 kB
_UINT16_ITEMS = 2**16  # up to this number of items, an item number fits into two bytes
_SWAP_KEY = (1,)  # added to the spawn key of a block, because swaps are drawn separately
ENUMERATED = 20  # up to this number of items, all 2^20 swaps are enumerated

Seed = int | Sequence[int]
Step = Callable[[int], object]  #: called with the number of finished resamples


def entropy(rng: int | np.random.Generator | None) -> Seed:
    """Return a seed: the given int, four numbers from a generator, or fresh entropy."""
    if isinstance(rng, np.random.Generator):
        return [int(x) for x in rng.integers(0, 2**32, size=4)]
    if rng is None:
        fresh = np.random.SeedSequence().entropy
        assert isinstance(fresh, int)
        return fresh
    return int(rng)


def count_chunks(
    n_items: int, n_resamples: int, seed: Seed, strata: IntArray | None = None
) -> Iterator[AnyArray]:
    """Yield how often each item occurs in each resample: small integers (resample, item).

    A resample consists of ``n_items`` items drawn with replacement, so its counts are multinomial.
    ``strata`` contains the stratum number of each item, and each stratum is then resampled
    separately.
    """
    if strata is not None:
        # sort items by stratum; for each position, find the start and the size of the stratum
        order, sizes = np.argsort(strata, kind="stable"), np.bincount(strata)
        start, most = np.repeat(np.cumsum(sizes) - sizes, sizes), np.repeat(sizes, sizes)
        for rng, size in _generator_calls(n_items, n_resamples, seed, ()):
            drawn = order[start + rng.integers(0, most, size=(size, n_items))]
            counts = [np.bincount(row, minlength=n_items) for row in drawn]
            yield np.array(counts, dtype=np.float32)
        return
    for block in range(-(-n_resamples // BLOCK)):
        rng = block_generator(seed, block)
        left = min(BLOCK, n_resamples - block * BLOCK)
        for rows in draw_sizes(n_items, left):
            yield drawn_counts(rng, n_items, rows)


def block_generator(seed: Seed, block: int) -> np.random.Generator:
    """Return the generator for the counts of a block of resamples."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))


def draw_sizes(n_items: int, n_resamples: int) -> list[int]:
    """Return how many resamples to draw in each call, with up to 32 MB of counts."""
    most = max(1, _DRAWN_BYTES // n_items)
    # NumPy draws 16-bit integers from 32-bit words and discards the rest of a word at the end of a
    # call. Split only between calls, because otherwise the draws would differ.
    if n_items <= _UINT16_ITEMS:
        step = _call_size(n_items)
        most = max(step, most // step * step)
    return [min(most, n_resamples - start) for start in range(0, n_resamples, most)]


def drawn_counts(rng: np.random.Generator, n_items: int, n_resamples: int) -> AnyArray:
    """Return the counts for the next resamples in a block, (resample, item): 7 ns per draw."""
    # an item is drawn more than 255 times with a probability below 1e-500
    counts = np.zeros((n_resamples, n_items), dtype=np.uint8)
    together = max(1, _CACHED_COUNTS // n_items)  # resamples that fit into the cache
    first = n_items * np.arange(together)[:, np.newaxis]
    dtype: Any = np.uint32
    step = 1
    if n_items <= _UINT16_ITEMS:
        dtype, step = np.uint16, _call_size(n_items)
    for start in range(0, n_resamples, step):
        rows = min(step, n_resamples - start)
        drawn = rng.integers(0, n_items, size=(rows, n_items), dtype=dtype)
        for top in range(0, rows, together):
            # flat positions (resample, item); np.add.at counts repeated positions, unlike +=
            places = drawn[top : top + together] + first[: rows - top]
            own = counts[start + top : start + top + len(places)]
            np.add.at(own.reshape(-1), places.reshape(-1), np.uint8(1))
    return counts


def t_draws(freedom: FloatArray, options: PairOptions) -> FloatArray:
    """Return draws from t distributions, (resample, system), from children (block, 5)."""
    calls = _generator_calls(freedom.size, options.n_resamples, options.seed, (5,))
    return np.concatenate(
        [rng.standard_t(freedom, size=(size, freedom.size)) for rng, size in calls]
    )


def normal_draws(mean: FloatArray, covariance: FloatArray, options: PairOptions) -> FloatArray:
    """Return normal draws, (resample, column), from the same child seeds as :func:`t_draws`."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    calls = _generator_calls(mean.size, options.n_resamples, options.seed, (5,))
    drawn = np.concatenate([rng.standard_normal((size, mean.size)) for rng, size in calls])
    return np.asarray(mean + drawn @ root.T)


def swap_chunks(n_items: int, n_resamples: int, seed: Seed) -> Iterator[AnyArray]:
    """Yield which items are swapped, packed eight items to a byte: chunks (trial, byte)."""
    width, few = -(-n_items // 8), 0
    if n_items > _UINT16_ITEMS:
        few = _DRAWN_BYTES
    together: list[AnyArray] = []
    filled = 0
    for rng, size in _generator_calls(n_items, n_resamples, seed, _SWAP_KEY):
        bits = np.frombuffer(rng.bytes(size * width), dtype=np.uint8).reshape(size, width)
        together.append(bits)
        filled += size * n_items
        if filled >= few:  # matrix products with few rows are slow
            yield np.concatenate(together)
            together, filled = [], 0
    if together:
        yield np.concatenate(together)


def swaps_of(n_items: int, first: int, last: int, block: int, size: int, seed: Seed) -> AnyArray:
    """Return which items from first to last - 1 are swapped in a block's first trials.

    The result contains columns of :func:`swap_chunks`, packed as (trial, byte) with eight items per
    byte, from ``first`` rounded down to a multiple of 8. Draws for all other items are skipped.
    """
    width, step = -(-n_items // 8), _call_size(n_items)
    start, stop = first // 8, -(-last // 8)
    child = np.random.SeedSequence(seed, spawn_key=(block, *_SWAP_KEY))
    drawn = np.empty((size, stop - start), dtype=np.uint8)
    for trial in range(size):
        chunk, row = divmod(trial, step)
        # ``rng.bytes`` consumes whole 4-byte words in each call, and PCG64 can skip 8-byte words
        begun = chunk * 4 * -(-step * width // 4)
        place = begun + row * width + start
        rng = np.random.PCG64(child)
        words = rng.advance(place // 8).random_raw(-(-(place % 8 + stop - start) // 8))
        octets = np.asarray(words, dtype="<u8").view(np.uint8)
        drawn[trial] = octets[place % 8 :][: stop - start]
    return drawn


def swaps_every(n_items: int, method: str) -> bool:
    """Return whether all swaps are enumerated for this number of items."""
    return n_items <= ENUMERATED and method != "monte-carlo"


def all_swaps(n_items: int) -> Iterator[AnyArray]:
    """Yield every subset of the items once, in the same form as :func:`swap_chunks`."""
    total = 2**n_items
    step = max(1, _COUNTS_IN_MEMORY // n_items)
    powers = np.arange(n_items)
    for start in range(0, total, step):
        # the bits of the numbers 0, 1, ... encode the subsets: (trial, item)
        numbers = np.arange(start, min(total, start + step))[:, np.newaxis]
        yield np.packbits((numbers >> powers) & 1, axis=1)


def swapped_sums(
    columns: FloatArray, options: PairOptions, step: Step, *, every: bool
) -> FloatArray:
    """Return sums of the columns (item, column) over subsets of the items: (resample, column).

    The subsets are random, or contain every subset once.
    """
    n_items, size = len(columns), options.n_resamples
    chunks = swap_chunks(n_items, size, options.seed)
    if every:
        size, chunks = 2**n_items, all_swaps(n_items)
    whole, start, places = WholeColumns(columns, n_items), 0, np.arange(n_items)
    result = np.empty((size, columns.shape[1]))
    for swaps in chunks:
        result[start : start + len(swaps)] = whole.floats(whole.sums(swaps, places))
        step(len(swaps))
        start += len(swaps)
    return result


def _generator_calls(
    n_items: int, n_resamples: int, seed: Seed, purpose: tuple[int, ...]
) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield a generator and the number of resamples to draw in the next call."""
    step = _call_size(n_items)
    for block in range(-(-n_resamples // BLOCK)):
        child = np.random.SeedSequence(seed, spawn_key=(block, *purpose))
        rng = np.random.default_rng(child)
        for start in range(0, min(BLOCK, n_resamples - block * BLOCK), step):
            yield rng, min(step, BLOCK - start, n_resamples - block * BLOCK - start)


def _call_size(n_items: int) -> int:
    """Return the number of resamples per call, which depends only on the number of items."""
    return max(1, min(BLOCK, _COUNTS_IN_MEMORY // n_items))


def all_counts(n_items: int, n_resamples: int, seed: Seed) -> IntArray:
    """Return all counts from :func:`count_chunks` as one int64 array (resample, item)."""
    result = np.empty((n_resamples, n_items), dtype=np.int64)
    filled = 0
    for chunk in count_chunks(n_items, n_resamples, seed):
        result[filled : filled + len(chunk)] = chunk
        filled += len(chunk)
    return result


def statistic_columns(values: FloatArray) -> FloatArray:
    """Reshape (system, item, statistic) to (item, column), ordered by system and statistic."""
    return np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)


# ---- Test items, training seeds, strata, and the options for a test


def quiet(count: int) -> None:
    """Show no progress."""


class AnyItems:
    """The data for a test over items, in memory (:class:`Items`) or on workers."""

    score: Score
    sign: float  #: -1 if smaller scores are better
    seeds: Seeds | None  #: variation between training runs
    n_systems: int
    n_items: int
    n_groups: int  #: number of clusters, or 0 if items are drawn one by one
    n_drawn: int  #: number of drawn units: items, or clusters

    totals: FloatArray  #: sums over all items, (system, statistic), with a single rounding
    ratio_form: RatioForm | None  #: the score as a ratio of sums over items drawn one by one
    unit: float | None  #: change in the score per unit of the first statistic, if constant
    binary: bool  #: whether every item is correct or wrong, which allows exact distributions
    most: float = np.inf  #: largest possible score, if scores are known to range from 0 to this

    def both_right(self, pairs: IntArray) -> FloatArray:
        """Return the number of 0/1 items that both systems answer correctly: (pair,)."""
        raise NotImplementedError


@dataclass(eq=False)
class Items(AnyItems):
    """System results on test items, and the scoring function."""

    statistics: FloatArray  #: (system, item, statistic)
    cluster: IntArray | None  #: cluster number of each item
    score: Score
    sign: float  #: -1 if smaller scores are better
    linear: str | None  #: "mean" or "sum" of the first statistic if an exact distribution may exist
    strata: IntArray | None = None  #: stratum number of each item; items are drawn within strata
    seeds: Seeds | None = None  #: variation between training runs
    factors: tuple[IntArray, IntArray] | None = None  #: levels of two crossed factors

    def __post_init__(self) -> None:
        """Count systems and items, and find out which tests the items allow."""
        self.n_systems, self.n_items = self.statistics.shape[:2]
        self.n_groups, self.n_drawn = 0, self.n_items
        if self.cluster is not None:
            self.n_groups = min(int(x.max()) + 1 for x in self.factors or [self.cluster])
            self.n_drawn = self.n_groups
        self.totals = exact_total(np.moveaxis(self.statistics, 1, 2))
        #: statistics of the drawn units, which are items or sums over clusters
        self.drawn = self.statistics
        if self.cluster is not None:
            systems, _, width = self.statistics.shape
            self.drawn = np.zeros((systems, int(self.cluster.max()) + 1, width))
            summed = self.drawn.swapaxes(0, 1)
            np.add.at(summed, self.cluster, self.statistics.swapaxes(0, 1))
        self.ratio_form, self.unit, self.binary = None, None, False
        alone = self.cluster is None and self.strata is None
        if self.linear is None and alone:
            self.ratio_form = RATIO_FORMS.get(self.score)
        if self.linear is None or self.strata is not None or self.seeds is not None:
            return
        if self.linear == "sum":
            self.unit = 1.0
            return
        below = self.statistics[..., 1]
        if below.flat[0] != 0.0 and (below == below.flat[0]).all():
            self.unit = 1.0 / float(self.totals[0, 1])
            if alone and below.flat[0] == 1.0:
                first = self.statistics[..., 0]
                self.binary = bool(((first == 0.0) | (first == 1.0)).all())

    def both_right(self, pairs: IntArray) -> FloatArray:
        """Return the number of 0/1 items that both systems answer correctly: (pair,)."""
        if len(pairs) > self.n_systems or "_both" in self.__dict__:
            return self._both[pairs[:, 0], pairs[:, 1]]
        right = self.statistics[..., 0]
        return np.array([float(right[a] @ right[b]) for a, b in pairs.tolist()])

    @cached_property
    def _both(self) -> FloatArray:
        return sums_of_products(self.statistics[..., 0])

    @property
    def drawn_strata(self) -> IntArray | None:
        """The stratum number of each drawn unit, which is an item or a cluster."""
        if self.cluster is None or self.strata is None:
            return self.strata
        values = np.empty(int(self.cluster.max()) + 1, dtype=np.int64)
        values[self.cluster] = self.strata
        return values


def better_counts(items: AnyItems, pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of 0/1 items on which each system is better: (pair,)."""
    both = items.both_right(pairs)
    one = (items.totals[pairs[:, 0], 0] - both).astype(np.int64)
    other = (items.totals[pairs[:, 1], 0] - both).astype(np.int64)
    if items.sign < 0.0:
        return other, one
    return one, other


_EQUAL = 1e-12  # closer scores, relative to their size, differ only by rounding


def scores_of(items: AnyItems) -> FloatArray:
    """Return each system's score, oriented so that larger is better; equal scores do not differ.

    Scores from sums in different orders can differ in the last digit. Such scores all become the
    smallest of them.
    """
    scores: FloatArray = items.sign * items.score(items.totals)
    order = np.argsort(scores)
    ranked = scores[order]
    near = np.diff(ranked) <= _EQUAL * np.abs(ranked[1:])
    first = np.where(np.append(False, near), 0, np.arange(ranked.size))
    scores[order] = ranked[np.maximum.accumulate(first)]
    return scores


def sums_of_products(right: FloatArray) -> FloatArray:
    """Return the sums of products (system, system) for integers (system, item)."""
    result = np.zeros((len(right), len(right)))
    for start in range(0, right.shape[1], 2**16):
        part = np.ascontiguousarray(right[:, start : start + 2**16])
        result += part @ part.T
    return result


@dataclass
class PairOptions:
    """The options for a test."""

    n_resamples: int  #: number of resamples; 0 means as many as needed, see :func:`paired.settled`
    event: str
    method: str
    ci: str  #: kind of interval; "" is the interval that agrees with the p-value
    adjust: str | None
    alpha: float
    level: float
    seed: Seed
    keep_order: bool  #: whether the order of a pair is fixed even if the gain is negative
    n_alike: int = 1  #: number of groups in the family of tests, including this one
    alternative: str = "two-sided"
    most: int = 0  #: maximum number of draws if a pair in an adjusted family is undecided
    skewness: bool = False  #: whether sign and swap tests and intervals correct for skewness
    tails: int = field(init=False)  #: number of tails of the test
    two_tailed: float = field(init=False)  #: level of the two-sided interval with the same limits
    simultaneous: bool = field(init=False)  #: whether one statistic covers all pairs

    def __post_init__(self) -> None:
        """Derive what the tests ask for from the options."""
        self.tails = 1 + (self.alternative == "two-sided")
        self.two_tailed = max(1.0 - 2.0 / self.tails * (1.0 - self.level), 1e-9)
        self.simultaneous = self.adjust in ("max-t", "max-t-stepdown")


_NORMAL_ITEMS = 100_000  # sums over at least this many items are nearly normal


def nearly_normal(binary: bool, n_items: int, options: PairOptions) -> bool:
    """Return whether sums of 0/1 items are drawn from a normal distribution."""
    return binary and n_items >= _NORMAL_ITEMS and options.method != "monte-carlo"


# ---- Training seeds (crossed with items) and strata (sets of items)


class Seeds(NamedTuple):
    """The variation of the systems' scores between training runs with different seeds.

    If the scores of training runs are normal, the standardized mean of R runs has a t distribution
    with R - 1 degrees of freedom, and draws come from this distribution. Resampled means of R runs
    have only (R - 1)/R of the variance and a normal distribution, which is far too narrow with
    three to five seeds.
    """

    error: FloatArray  #: (system,): standard error of the mean over seeds
    freedom: FloatArray  #: (system,): degrees of freedom; equal if the systems share a variance
    trained: IntArray  #: (system,): number of training runs
    pooled: bool = False

    def freedom_of(self, pairs: IntArray) -> FloatArray:
        """Return the degrees of freedom for the difference between two means: (pair,).

        Welch's formula is used with the smaller number of training runs for both systems. If the
        larger number were used, tests would be liberal when the system with fewer runs varies more.
        """
        if self.pooled:
            return self.freedom[pairs[:, 0]]
        squares = self.error[pairs] ** 2
        total, fourth = squares.sum(axis=1), (squares**2).sum(axis=1)
        equal = np.where(fourth > 0.0, total**2 / np.where(fourth > 0.0, fourth, 1.0), 1.0)
        return np.asarray(equal * self.freedom[pairs].min(axis=1))


def seeds_of(scores: FloatArray, *, pooled: bool = False) -> Seeds:
    """Return the variation of scores (system, seed), which are NaN for missing runs."""
    count = (~np.isnan(scores)).sum(axis=1)
    mean = np.nansum(scores, axis=1, keepdims=True) / count[:, np.newaxis]
    squares, freedom = np.nansum((scores - mean) ** 2, axis=1), count - 1.0
    if pooled:
        squares, freedom = (np.full(count.shape, x.sum()) for x in (squares, freedom))
    return Seeds(np.sqrt(squares / freedom / count), freedom, count, pooled)


def mean_of_strata(score: Score, strata: int) -> Score:
    """Return the mean score over strata from sums (..., stratum x statistic)."""

    def averaged(sums: AnyArray) -> FloatArray:
        return np.asarray(score(sums.reshape(*sums.shape[:-1], strata, -1)).mean(axis=-1))

    return averaged


def mean_of_seeds(score: Score, seeds: int) -> Score:
    """Return the mean score over seeds from sums (..., seed x statistic).

    The last statistic for each seed is positive if the system has a training run with this seed.
    """

    def averaged(sums: AnyArray) -> FloatArray:
        apart = sums.reshape(*sums.shape[:-1], seeds, -1)
        there = apart[..., -1] > 0.0
        result = np.where(there, score(apart[..., :-1]), 0.0)
        return np.asarray(result.sum(axis=-1) / there.sum(axis=-1))

    return averaged


def in_strata(values: FloatArray, strata: IntArray) -> FloatArray:
    """Return statistics (..., item, statistic) with separate columns for each stratum."""
    count, width = int(strata.max()) + 1, values.shape[-1]
    apart = np.zeros((*values.shape[:-1], count, width))
    apart[..., np.arange(strata.size), strata, :] = values
    return apart.reshape(*values.shape[:-1], count * width)


def in_seeds(values: FloatArray, there: BoolArray) -> FloatArray:
    """Return (system, seed, item, statistic) as (system, item, seed x statistic).

    If a training run is missing, all statistics are 0, including the last.
    """
    systems, seeds, items, width = values.shape
    filled = np.zeros((systems, seeds, items, width + 1))
    filled[there, :, :width] = values[there]
    filled[there, :, width] = 1.0
    return np.moveaxis(filled, 1, 2).reshape(systems, items, seeds * (width + 1))


def within_strata(values: FloatArray, weights: FloatArray, strata: IntArray) -> FloatArray:
    """Return contributions (system, drawn) centered within strata, with the same sum.

    Differences between strata are not random if items are drawn within strata. Deviations in a
    stratum of n items are enlarged to correct for n - 1 degrees of freedom. All deviations are
    multiplied by the ratio of two 97.5% quantiles, the t quantile with Welch-Satterthwaite degrees
    of freedom and the normal quantile.
    """
    from scipy.special import ndtri, stdtrit

    sizes = np.bincount(strata).astype(float)
    summed = np.stack([np.bincount(strata, row) for row in values])
    own = summed / np.bincount(strata, weights)
    level = weights * (values.sum(axis=1) / weights.sum())[:, np.newaxis]
    apart = (values - weights * own[:, strata]) * np.sqrt(sizes / (sizes - 1.0))[strata]
    variance = np.bincount(strata, (apart**2).sum(axis=0))
    if not variance.any():
        return np.asarray(level + apart)
    freedom = variance.sum() ** 2 / (variance**2 / (sizes - 1.0)).sum()
    return np.asarray(level + apart * (stdtrit(freedom, 0.975) / ndtri(0.975)))


ADJUSTMENTS = ("holm", "bonferroni", "bh", "by")
