"""Exact sums of floats: no order of addition, and no cut of the data, changes them.

A number is cut into pieces of at most 27 bits, multiples of one unit, whose sums float64 holds
exactly; sums of pieces are whole numbers of Python, and one rounding ends it.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from rankeval_pd.stats._types import BoolArray, FloatArray, IntArray

_PIECE = 26  # bits of a piece
_MANY = 2**26  # numbers whose pieces float64 adds up exactly
_TOGETHER = 2**15  # numbers in the processor's cache
_WIDE = 2**10  # of a row at once, if it has so many
_LEAST = -1074  # the exponent of the smallest float


class Sums(NamedTuple):
    """Exact sums of several rows, which can be added up further."""

    wholes: np.ndarray[Any, np.dtype[np.object_]]  #: (row,): in units of the smallest float
    undefined: BoolArray  #: (row,): whether some number is not finite

    def plus(self, other: Sums) -> Sums:
        """Return the sums of the numbers of both."""
        return Sums(self.wholes + other.wholes, self.undefined | other.undefined)

    def rounded(self) -> FloatArray:
        """Return the floats nearest to the sums, NaN where they are undefined."""
        found = np.array([_nearest(whole) for whole in self.wholes], dtype=float)
        return np.where(self.undefined, np.nan, found)


def _nearest(whole: int) -> float:
    try:
        return float(whole / 2**-_LEAST)  # Python's division of whole numbers rounds once
    except OverflowError:
        return np.inf if whole > 0 else -np.inf


def exact_sums(values: FloatArray) -> Sums:
    """Return the exact sum of each row, (row, number). O(numbers), some 5 ns each."""
    rows, count = values.shape
    wholes = np.zeros(rows, dtype=object)
    size = np.maximum(values.max(axis=1, initial=0.0), -values.min(axis=1, initial=0.0))
    undefined = np.asarray(~np.isfinite(size))
    top = np.frexp(np.where(undefined, 0.0, size))[1].astype(np.int64) - _PIECE
    for start in range(0, count, _MANY):
        part = values[:, start : start + _MANY]
        for level, added in enumerate(_pieces(part, undefined, top)):
            shifts = (_unit(top, level) - _LEAST).tolist()
            wholes += np.array(
                [int(x) << shift for x, shift in zip(added.tolist(), shifts, strict=True)],
                dtype=object,
            )
    return Sums(wholes, undefined)


def _unit(top: IntArray, level: int) -> IntArray:
    """Return the exponent of the unit of pieces."""
    return np.maximum(top - (_PIECE + 1) * level, _LEAST)


def _pieces(values: FloatArray, undefined: BoolArray, top: IntArray) -> list[FloatArray]:
    """Return the sums of the first pieces, of the second ones, and so on, (row,) each."""
    rows, count = values.shape
    sums: list[FloatArray] = []
    width = max(1, min(count, max(_WIDE, _TOGETHER // max(rows, 1))))
    height = _TOGETHER // width
    for first, start in itertools.product(range(0, rows, height), range(0, count, width)):
        here = slice(first, first + height)
        rest = np.array(values[here, start : start + width], order="C")
        rest[undefined[here]] = 0.0
        level = 0
        while rest.any():
            if level == len(sums):
                sums.append(np.zeros(rows))
            unit = _unit(top[here], level)[:, np.newaxis]
            far = unit.min() < -1000  # where a power of two alone would be infinite, or 0
            piece = np.ldexp(rest, -unit) if far else rest * 2.0**-unit
            np.rint(piece, out=piece)
            sums[level][here] += piece.sum(axis=1)
            rest -= np.ldexp(piece, unit) if far else np.multiply(piece, 2.0**unit, out=piece)
            level += 1
    return sums


def total(values: FloatArray) -> FloatArray:
    """Return the sums over the last axis, each the float nearest to the exact sum."""
    rows = np.reshape(values, (math.prod(values.shape[:-1]), values.shape[-1]))
    return exact_sums(np.asarray(rows, dtype=float)).rounded().reshape(values.shape[:-1])
