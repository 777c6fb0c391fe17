"""A grid of list sizes in place of every n, for many candidates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankeval_pd.forms.rankings.values import Sizes, those
from rankeval_pd.stats._types import IntArray

_EVERY = 20_000  # candidates; up to here, every n is computed
_RISE = 0.01  # the step from one n of the grid to the next, as a share


def few_or(sizes: Sizes, asked: IntArray, ties: str, noted: dict[str, Any]) -> IntArray | None:
    """Return the sizes from :func:`those`, or for many candidates a grid in place of every n.

    It has every n up to about 70; from there on each n is about 1% larger than the one before.
    Their number is ``noted``.
    """
    if sizes is not None or asked.size <= _EVERY or ties == "blocks":
        return those(sizes, asked)
    last = float(asked[-1])
    grid = np.geomspace(1.0, last, math.ceil(math.log(last) / _RISE))
    found = np.unique(np.rint(grid).astype(np.int64))
    noted["n_grid"] = max(noted.get("n_grid", 0), found.size)
    return found
