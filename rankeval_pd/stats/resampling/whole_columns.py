"""Columns as whole numbers, whose weighted sums are exact: no order of addition changes them.

Each number is cut into two pieces or more, whole multiples of units that depend on the column's
largest number alone, so small that weighted sums of pieces are whole numbers that float64 holds. A
matrix product then gives the same sums whatever the library, its threads, and the blocks of items
that are added up. What is below 2^-60 of the column's largest number is rounded away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray

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
