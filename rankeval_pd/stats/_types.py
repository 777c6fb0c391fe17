"""Type aliases for arrays, quotients without warnings, and bounds of searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

Advance = Callable[[int], object]  #: called with the number of finished steps

silent_division = partial(np.errstate, divide="ignore", invalid="ignore")
"""A context in which 0/0 is NaN, and any other number / 0 infinite, without a warning."""


def at_most(most: int, search: str) -> Iterator[int]:
    """Yield the steps of a search that ends earlier, and raise an error if it does not."""
    yield from range(most)
    raise ArithmeticError(
        f"The search for {search} did not end within {most} steps. Look for counts or scores of"
        " extreme size; if there are none, report the call to the authors."
    )
