"""Compute a grid of list sizes to use instead of every n for large rankings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankeval_pd.forms.rankings.values import Sizes
from rankeval_pd.stats._types import IntArray

_EVERY = 20_000  # largest number of candidates for which every n is computed
_RISE = 0.01  # relative step between neighboring list sizes in the grid


def few_or(sizes: Sizes, asked: IntArray, ties: str, noted: dict[str, Any]) -> IntArray | None:
    """Return the requested sizes, or a grid of sizes if every n is requested.

    The grid contains every n up to about 70. Above 70, each n is about 1% larger than the previous
    n. The size of the grid is stored in ``noted``.
    """
    if sizes is not None:
        return asked
    if asked.size <= _EVERY or ties == "blocks":
        return None
    last = float(asked[-1])
    grid = np.geomspace(1.0, last, math.ceil(math.log(last) / _RISE))
    found = np.unique(np.rint(grid).astype(np.int64))
    noted["n_grid"] = max(noted.get("n_grid", 0), found.size)
    return found
