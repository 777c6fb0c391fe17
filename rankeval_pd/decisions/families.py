"""Families of tests: which rows are adjusted together, and their adjusted p-values and levels."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd import stats
from rankeval_pd.errors import check_needed
from rankeval_pd.stats import FloatArray, IntArray


def _members(families: IntArray) -> list[Any]:
    """Return the rows of each family."""
    if not families.size or (families == families[0]).all():
        return [slice(None)]
    order = np.argsort(families, kind="stable")
    ends = np.flatnonzero(np.diff(families[order])) + 1
    return np.split(order, ends)


def adjusted_p(
    p_values: FloatArray, method: str, families: IntArray, pairs: IntArray
) -> FloatArray:
    """Return p-values adjusted within each family; NaN means no test.

    Parameters
    ----------
    p_values : array (row)
        With "max-t", p-values that are already simultaneous over the list sizes of a pair.
    method
        "max-t" multiplies by the number of pairs in the family, "max-t-stepdown" by Holm's
        step-down factors.
    families, pairs : array (row)
        Numbers of the family, and of the pair within all groups.
    """
    result = np.empty(p_values.shape)
    for rows in _members(families):
        p, pair = p_values[rows], pairs[rows]
        if method == "max-t":
            tested = np.unique(pair[~np.isnan(p)]).size
            result[rows] = np.minimum(tested * p, 1.0)
        elif method == "max-t-stepdown":
            result[rows] = stats.step_down(p, pair)
        else:
            result[rows] = stats.adjust(p, method)
    return result


def family_levels(
    p_values: FloatArray, method: str, families: IntArray, level: float
) -> FloatArray:
    """Return the confidence level of each row's interval, given the adjustment."""
    result = np.empty(p_values.shape)
    for rows in _members(families):
        result[rows] = stats.interval_levels(p_values[rows], method, level)
    return result


def numbered(*columns: stats.AnyArray) -> IntArray:
    """Return one number for each combination of values in the columns."""
    return np.asarray(
        pd.DataFrame(dict(enumerate(columns))).groupby([*range(len(columns))]).ngroup()
    )


def compared_with(a: Any, b: Any) -> Any:
    """Return the measure that is compared with several others, or None."""
    if b is None or isinstance(b, list):
        return a
    return None


def family_of(
    tests: int,
    one: Any = None,
    *,
    pairs: int = 0,
    sizes: int = 1,
    groups: int = 1,
    over: Collection[str] = (),
) -> str:
    """Describe the family of all pairs, or of all comparisons with ``one``.

    ``pairs`` is the number of pairs, which is larger than the number of tests if measures rank all
    candidates identically. ``sizes=0`` means every n. ``over`` contains "n" and "group" if n and
    groups define families.
    """
    who = f"all {tests} pairs"
    if tests == 1:
        who = "1 pair"
    if one is not None:
        who = f"{tests} comparison{'s'[: tests != 1]} with {one}"
    if pairs > tests > 1:
        who = who.removeprefix("all ").replace(f"{tests} ", f"{pairs} ", 1)
        who = f"the {tests} different tests of {who}"
    if sizes == 0 and "n" not in over:
        who += " at every n"
    elif sizes != 1 and "n" in over:
        who += " at each n"
    elif sizes != 1:
        who += f" at {sizes} sizes"
    if groups > 1 and "group" in over:
        who += " in each group"
    elif groups > 1:
        who += f" in all {groups} groups"
    return who


_MOST_SWAPS = 1e15


def enough_draws(n_tests: int, options: Any) -> int:
    """Return the number of draws, and reject numbers too small for significance."""
    if n_tests / options.alpha > _MOST_SWAPS:
        raise ValueError(
            f"alpha={options.alpha:g}: a resampling test would need more than {_MOST_SWAPS:.0e} "
            "draws. Pass a larger alpha."
        )
    if options.n_resamples is None:
        return check_needed(stats.enough_swaps(n_tests, options.alpha), f"alpha={options.alpha!r}")
    needed = stats.least_swaps(n_tests, options.alpha)
    if options.n_resamples < needed:
        what = "pair"
        if n_tests > 1:
            what = "pairs" + " in all groups" * (options.adjust_over == "all")
        raise ValueError(
            f"n_resamples={options.n_resamples} cannot reach alpha={options.alpha:g}: the smallest"
            f" adjusted p-value for {n_tests} {what} is"
            f" {n_tests}/(n_resamples + 1). Pass n_resamples={needed} or more, or omit n_resamples."
        )
    return int(options.n_resamples)
