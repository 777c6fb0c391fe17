"""Exact sums of floats that do not depend on the order of addition or on how data are split.

Each number is split into pieces of at most 27 bits, so that float64 represents the sums of the
pieces exactly. These sums are converted to Python integers, and only the final result is rounded.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray

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
        found = np.array([_nearest_float(whole) for whole in self.wholes], dtype=float)
        return np.where(self.undefined, np.nan, found)


def _nearest_float(whole: int) -> float:
    try:
        return float(whole / 2**-_LEAST_EXPONENT)  # dividing two ints in Python rounds only once
    except OverflowError:
        return np.inf if whole > 0 else -np.inf


def exact_sums(values: FloatArray) -> ExactSums:
    """Return the exact sum of each row of (row, number), at about 5 ns per number."""
    rows, count = values.shape
    wholes = np.zeros(rows, dtype=object)
    size = np.maximum(values.max(axis=1, initial=0.0), -values.min(axis=1, initial=0.0))
    undefined = np.asarray(~np.isfinite(size))
    # the unit of the first pieces is 26 bits below the largest number in the row
    top = np.frexp(np.where(undefined, 0.0, size))[1].astype(np.int64) - _PIECE_BITS
    for start in range(0, count, _NUMBERS_EXACT):
        part = values[:, start : start + _NUMBERS_EXACT]
        for level, added in enumerate(_piece_sums(part, undefined, top)):
            # convert a sum of pieces to an integer multiple of the smallest float
            shifts = (_unit_exponent(top, level) - _LEAST_EXPONENT).tolist()
            wholes += np.array(
                [int(x) << shift for x, shift in zip(added.tolist(), shifts, strict=True)],
                dtype=object,
            )
    return ExactSums(wholes, undefined)


def _unit_exponent(top: IntArray, level: int) -> IntArray:
    """Return the exponents of the unit at a level, which decrease by 27 per level: (row)."""
    return np.maximum(top - (_PIECE_BITS + 1) * level, _LEAST_EXPONENT)


def _piece_sums(values: FloatArray, undefined: BoolArray, top: IntArray) -> list[FloatArray]:
    """Return the sums of the pieces at each level: (row)."""
    rows, count = values.shape
    sums: list[FloatArray] = []
    width = max(1, min(count, max(_ROW_WIDTH, _CACHED_NUMBERS // max(rows, 1))))
    height = _CACHED_NUMBERS // width
    for first, start in itertools.product(range(0, rows, height), range(0, count, width)):
        here = slice(first, first + height)
        rest = np.array(values[here, start : start + width], order="C")
        rest[undefined[here]] = 0.0
        # round to multiples of the unit, sum the multiples, and continue with the exact remainder
        level = 0
        while rest.any():
            if level == len(sums):
                sums.append(np.zeros(rows))
            unit = _unit_exponent(top[here], level)[:, np.newaxis]
            far = unit.min() < -1000  # use ldexp, because 2.0**-unit can overflow
            piece = np.ldexp(rest, -unit) if far else rest * 2.0**-unit
            np.rint(piece, out=piece)
            sums[level][here] += piece.sum(axis=1)
            rest -= np.ldexp(piece, unit) if far else np.multiply(piece, 2.0**unit, out=piece)
            level += 1
    return sums


def exact_total(values: FloatArray) -> FloatArray:
    """Return the sums over the last axis, rounded once from the exact sums."""
    rows = np.reshape(values, (math.prod(values.shape[:-1]), values.shape[-1]))
    return exact_sums(np.asarray(rows, dtype=float)).rounded().reshape(values.shape[:-1])
