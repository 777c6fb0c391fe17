"""Compare published accuracies on the same items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rankeval_pd.errors import check_choice, check_count, check_number, check_share
from rankeval_pd.forms.roles.options import with_options
from rankeval_pd.forms.roles.roles import Alternative
from rankeval_pd.stats._types import FloatArray, IntArray
from rankeval_pd.stats.distributions import binomial
from rankeval_pd.stats.intervals.differences import tango_limits
from rankeval_pd.stats.resampling.gain_tables import reaching
from rankeval_pd.stats.significance.fisher import ALTERNATIVES

_ROUNDING = 1e-9  # tolerance for a printed rate in addition to half a unit in the last digit
_MOST_COUNTS = 200  # largest number of counts to try for one printed rate
_MOST_DIGITS = 15


@with_options
def compare_accuracies(
    correct_a: float,
    correct_b: float,
    n_items: int,
    *,
    both: float | None = None,
    decimals: int | None = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the possible p-values for two published accuracies on the same items.

    Parameters
    ----------
    correct_a, correct_b : int or float
        Number of correct items for each system. A float below 1 is interpreted as a printed rate.
    n_items : int
        Number of test items, the same for both systems.
    both : int or float, optional
        Number or proportion of items that both systems answer correctly. By default, the function
        considers every possible number.
    decimals : int, optional
        Number of decimal places in printed rates, such as 3 for 0.840 or 84.0%. By default, the
        number comes from the rate, such as 2 for 0.84.
    alternative : {"two-sided", "greater", "less"}
        "greater" means that a is better than b.
    level : float
        Confidence level of the interval.

    Returns
    -------
    DataFrame
        One row: ``gain`` of a over b, as a proportion of the items; ``ci_low``, ``ci_high``:
        smallest and largest limits of Tango's intervals; ``p_low``, ``p_high``: smallest and
        largest p-values of McNemar's exact test, which are equal if you pass counts and ``both``.

    Raises
    ------
    ValueError
        If no number of correct items rounds to a printed rate, or if ``both`` is impossible.

    See Also
    --------
    compare_for : Compare two published n-best lists.

    Notes
    -----
    The same gain can be significant if the systems disagree on twelve items, and not significant
    if all errors are on different items. The p-value increases with the number of items on which
    the systems disagree, so the smallest and largest possible numbers give bounds for the p-value.
    All counts that round to the printed rate are considered.

    References
    ----------
    Q. McNemar (1947); T. Tango (1998).

    Examples
    --------
    >>> import rankeval_pd
    >>> rankeval_pd.compare_accuracies(356, 344, 500).round(4)
        gain  ci_low  ci_high   p_low  p_high
    0  0.024 -0.0439   0.0917  0.0005  0.5254
    >>> rankeval_pd.compare_accuracies(0.712, 0.688, 500, both=340).round(4)
        gain  ci_low  ci_high   p_low  p_high
    0  0.024  0.0072   0.0443  0.0118  0.0118
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    n, level = check_count("n_items", n_items), check_share("level", level)
    a = _counts("correct_a", correct_a, n, decimals)
    b = _counts("correct_b", correct_b, n, decimals)
    one, other = (x.ravel() for x in np.meshgrid(a, b, indexing="ij"))
    least, most = np.maximum(0, one + other - n), np.minimum(one, other)
    if both is not None:
        shared = _counts("both", both, n, decimals)
        inside = (shared.max() >= least) & (shared.min() <= most)
        if not inside.any():
            raise ValueError(
                f"both={both!r}: if two systems answer {_said(a)} and {_said(b)} of {n} items"
                f" correctly, they have {least.min()} to {most.max()} correct items in common."
                " Check the counts."
            )
        one, other, least, most = (x[inside] for x in (one, other, least, most))
        least, most = np.maximum(least, shared.min()), np.minimum(most, shared.max())
    only_a, only_b = (np.concatenate([x - least, x - most]) for x in (one, other))
    p_values = _mcnemar(only_a, only_b, alternative)
    tails = 1.0 if alternative != "two-sided" else 2.0
    low, high = tango_limits(only_a, only_b, float(n), 1.0 - 2.0 / tails * (1.0 - level))
    low = np.where(alternative == "less", -np.inf, low)
    high = np.where(alternative == "greater", np.inf, high)
    low, high = reaching((low, high), p_values, level)
    gain = float((_middle(a) - _middle(b)) / n)
    row = gain, low.min(), high.max(), p_values.min(), p_values.max()
    columns = pd.Index(["gain", "ci_low", "ci_high", "p_low", "p_high"])
    result = pd.DataFrame([row], columns=columns)
    result.attrs = {"metric": "accuracy", "n_items": n, "level": level, "alternative": alternative}
    return result


def _mcnemar(only_a: IntArray, only_b: IntArray, alternative: str) -> FloatArray:
    """Return the p-values of McNemar's exact test."""
    up, down = (np.exp(binomial.tails(x, only_a + only_b, 0.5).ge) for x in (only_a, only_b))
    if alternative == "two-sided":
        return np.minimum(1.0, 2.0 * np.minimum(up, down))
    return np.asarray(up if alternative == "greater" else down)


def _counts(argument: str, given: Any, n: int, decimals: int | None) -> IntArray:
    """Return the possible item counts for a count or printed rate."""
    value = check_number(argument, given)
    if value >= 1.0 or isinstance(given, (int, np.integer)):
        nearest = round(value)
        if abs(nearest - value) > _ROUNDING * n or not 0 <= nearest <= n:
            raise ValueError(
                f"{argument}={given!r}: pass a whole number from 0 to {n}, or a rate below 1 (84.2%"
                " is 0.842)."
            )
        return np.array([nearest])
    if value < 0.0:
        raise ValueError(f"{argument}={given!r}: pass a whole number from 0 to {n}, or a rate.")
    digits = _digits(value) if decimals is None else check_count("decimals", decimals)
    half = 0.5 * 10.0**-digits + _ROUNDING / n
    low, high = int(np.ceil((value - half) * n)), int(np.floor((value + half) * n))
    low, high = max(low, 0), min(high, n)
    if low > high:
        nearest = min(max(round(value * n), 0), n)
        raise ValueError(
            f"{argument}={given!r}: no count out of {n} items gives this rate; the nearest is"
            f" {nearest}, {nearest / n:.6g}. Check n_items, or pass decimals=, the number of"
            " printed decimal places."
        )
    if high - low < _MOST_COUNTS:
        return np.arange(low, high + 1)
    return np.unique(np.linspace(low, high, _MOST_COUNTS).round().astype(np.int64))


def _digits(rate: float) -> int:
    """Return the number of decimal places in a rate."""
    text = np.format_float_positional(rate, trim="-")
    return min(len(text.partition(".")[2]), _MOST_DIGITS) or 1


def _said(counts: IntArray) -> str:
    return str(counts[0]) if counts.size == 1 else f"{counts[0]} to {counts[-1]}"


def _middle(counts: IntArray) -> float:
    return float((counts[0] + counts[-1]) / 2.0)
