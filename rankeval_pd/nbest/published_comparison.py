"""Is A better than B, by published figures alone?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.errors import check_choice, check_count
from rankeval_pd.forms.choices import Alternative
from rankeval_pd.stats._types import IntArray
from rankeval_pd.stats.significance.fisher import ALTERNATIVES, fisher_test

_ROUNDING = 1e-6  # of a count that came as a rate times a size
_BLOCK = 200_000  # tables tested together


def compare_for(
    tp_a: float,
    n_a: int,
    tp_b: float,
    n_b: int,
    *,
    overlap: int | tuple[int, int] | None = None,
    alternative: Alternative = "two-sided",
) -> pd.DataFrame:
    """Return the p-values of :func:`compare` that two published lists of one ranking task allow.

    Parameters
    ----------
    tp_a, tp_b : number
        True positives in each list, whole numbers; a rate times a size, ``.42 * 100``, is taken to
        the nearest one if it is one but for rounding.
    n_a, n_b : int
        Sizes of the lists.
    overlap : int or pair of int, optional
        Candidates in both lists, or these and the true positives among them. Without it every
        overlap that is possible is tried.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better than b.

    Returns
    -------
    DataFrame
        One row: ``difference`` = tp_a / n_a - tp_b / n_b, and ``p_low`` and ``p_high``, the
        smallest and the largest p-value of Fisher's exact test of the two difference regions. They
        are equal where nothing is left open: with both numbers of the overlap, or with overlap 0.

    Notes
    -----
    What two lists share says nothing about which is better, so that the p-value depends on how
    much that is: on the candidates in both, and on the true positives among them. If p_high is at
    most the level, the difference is significant whatever the overlap; if p_low is above it, it
    cannot be. Every table is tested: up to n_a tp_a of them, some seconds for lists of 1,000.

    References
    ----------
    Evert (2004), section 3.3.

    Examples
    --------
    >>> import rankeval_pd
    >>> rankeval_pd.compare_for(0.3 * 50, 50, 9, 50).round(4)
       difference   p_low  p_high
    0        0.12  0.0022  0.2414
    >>> rankeval_pd.compare_for(42, 100, 30, 100, overlap=(60, 20)).round(4)
       difference   p_low  p_high
    0        0.12  0.0115  0.0115
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    n_a, n_b = check_count("n_a", n_a), check_count("n_b", n_b)
    true_a, true_b = _whole("tp_a", tp_a, n_a), _whole("tp_b", tp_b, n_b)
    low, high = np.inf, -np.inf
    for both, true in _overlaps(true_a, n_a, true_b, n_b, overlap):
        regions = true_a - true, n_a - both, true_b - true, n_b - both
        p_value = fisher_test(*regions, alternative).p_value
        low, high = min(low, p_value.min()), max(high, p_value.max())
    difference = true_a / n_a - true_b / n_b
    return pd.DataFrame({"difference": [difference], "p_low": [low], "p_high": [high]})


def _whole(name: str, value: Any, size: int) -> int:
    """Return a count of true positives, a rate times a size taken to the nearest whole number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(
            f"{name}={value!r} is of type {type(value).__name__}: give the number of true positives"
            " in the list."
        )
    nearest = round(float(value)) if np.isfinite(value) else -1
    if abs(nearest - value) > _ROUNDING or not 0 <= nearest <= size:
        raise ValueError(
            f"{name}={value!r}: give a whole number from 0 to {size}, the size of the list, or a"
            " rate times this size that is one but for rounding. A printed rate such as 42.3 % may"
            " stand for several: try each."
        )
    return nearest


def _overlaps(
    tp_a: int, n_a: int, tp_b: int, n_b: int, overlap: Any
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the sizes of overlaps that are possible and the true positives in each, in blocks."""
    pair = isinstance(overlap, (tuple, list))
    if pair and len(overlap) != 2:
        raise ValueError(
            f"overlap={overlap!r}: give the candidates in both lists, or these and the true"
            " positives among them."
        )
    given = None if overlap is None else check_count("overlap", overlap[0] if pair else overlap, 0)
    sizes = range(min(n_a, n_b) + 1) if given is None else [given]
    listed: list[tuple[IntArray, IntArray]] = []
    for size in sizes:
        least = max(0, size - (n_a - tp_a), size - (n_b - tp_b))
        true = np.arange(least, min(size, tp_a, tp_b) + 1)
        if pair:
            true = true[true == check_count("overlap", overlap[1], 0)]
        listed.append((np.full(true.size, size), true))
        if sum(block.size for _, block in listed) >= _BLOCK:
            yield _joined(listed)
            listed = []
    if not sum(block.size for _, block in listed) and given is not None:
        raise ValueError(
            f"overlap={overlap!r}: lists of {n_a} and {n_b} candidates with {tp_a} and {tp_b} true"
            " positives cannot share so many. Check the counts."
        )
    if listed:
        yield _joined(listed)


def _joined(found: list[tuple[IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    sizes, true = zip(*found, strict=True)
    return np.concatenate(sizes), np.concatenate(true)
