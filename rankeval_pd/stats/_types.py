"""Type aliases for arrays, quotients without warnings, and bounds of searches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

_LONG = 16  # numbers in a row from which adding rows is faster than ``np.cumsum``

Advance = Callable[[int], object]  #: called with the number of finished steps

silent_division = partial(np.errstate, divide="ignore", invalid="ignore")
"""A context in which 0/0 is NaN, and any other number / 0 infinite, without a warning."""


def running_sums(values: Any) -> Any:
    """Return the sums of the rows so far, in place; faster than ``np.cumsum`` for long rows."""
    if values.shape[1] < _LONG:
        return np.cumsum(values, axis=0, out=values)
    step = math.isqrt(len(values)) + 1
    for row in range(1, step):  # within all groups of ``step`` rows at once
        later = values[row::step]
        later += values[row - 1 :: step][: len(later)]
    for start in range(step, len(values), step):
        values[start : start + step] += values[start - 1]
    return values


def slices(rows: int, width: int, cells: int) -> Iterator[slice]:
    """Yield slices of rows with at most so many cells, or of single rows with more cells."""
    height = max(1, cells // max(1, width))
    for start in range(0, rows, height):
        yield slice(start, start + height)


def unended(search: str, most: int) -> ArithmeticError:
    """Return the error for a search that reached the bound of its steps."""
    return ArithmeticError(
        f"The search for {search} did not end within {most} steps. Look for counts or scores of"
        " extreme size; if there are none, report the call to the authors."
    )
