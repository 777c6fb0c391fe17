"""Numbers, p-values and lists of names, as papers print them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rankeval_pd.stats import rejects

_DIGITS = 3  # largest number of significant digits


class Unit(NamedTuple):
    """Store the format of a column: percent or plain numbers, and decimals."""

    percent: bool
    decimals: int

    def number(self, value: float) -> str:
        """Return a number without a unit."""
        if not math.isfinite(value):
            return {math.inf: "∞", -math.inf: "−∞"}.get(value, "–")
        if self.percent:
            value *= 100.0
        text = f"{value:.{self.decimals}f}"
        if not float(text):
            return text.replace("-", "")
        return text.replace("-", "−")

    def value(self, value: float) -> str:
        """Return a value with a unit."""
        return self.number(value) + "%" * self.percent

    def limits(self, low: float, high: float) -> str:
        """Return an interval with a unit. One-sided intervals have one limit."""
        if math.isinf(high) and not math.isinf(low):
            return f"at least {self.value(low)}"
        if math.isinf(low) and not math.isinf(high):
            return f"at most {self.value(high)}"
        return f"{self.value(low)} to {self.value(high)}"

    def gap(self, difference: float) -> str:
        """Return the size of a difference with a unit."""
        return self.number(abs(difference)) + " points" * self.percent

    def gaps(self, low: float, high: float) -> str:
        """Return the interval for a difference."""
        plain = self.limits(low, high).replace("%", "")
        return plain + " points" * self.percent


def unit_of(
    values: Iterable[Any], widths: Iterable[Any], *, percent: bool, digits: int | None = None
) -> Unit:
    """Return the unit of a column, with a last decimal place of at least width / 40.

    Numbers have at most three significant digits, or exactly three if there are no intervals.
    """
    if digits is not None:
        return Unit(bool(percent), digits)
    factor = {True: 100.0, False: 1.0}[percent]
    known, wide = (factor * np.abs(np.asarray(x, dtype=float)) for x in (values, widths))
    known, wide = known[np.isfinite(known)], wide[np.isfinite(wide) & (wide > 0.0)]
    largest = known.max(initial=0.0) or wide.max(initial=0.0) or 1.0
    decimals = most = max(0, _DIGITS - 1 - math.floor(math.log10(largest)))
    if wide.size:
        decimals = math.ceil(-math.log10(float(np.median(wide)) / 40.0))
    return Unit(bool(percent), min(max(decimals, 0), most))


def column_unit(
    frame: pd.DataFrame, name: Any, low: str, *, percent: bool, digits: int | None = None
) -> Unit:
    """Return the unit of a column, given the column with its lower limits, or ""."""
    widths: Any = []
    if low:
        above = frame[low.removesuffix("low") + "high"] - frame[name]
        below = frame[name] - frame[low]
        widths = above + below
        if np.isinf(widths).all():  # a one-sided interval is half of one
            widths = 2.0 * np.fmin(above, below)
    return unit_of(frame[name], widths, percent=percent, digits=digits)


def p_text(p: float, *, least: float = 0.0, alpha: float = 0.05) -> str:
    """Return "p = 0.003", "p < 0.001", or "p ≤ 0.0002" if p cannot be smaller."""
    if math.isnan(p):
        return "no test"
    if least > 0.0 and p <= least * (1.0 + 1e-9):
        return f"p ≤ {_bound_text(least)}"
    if p < 0.001:
        return "p < 0.001"
    decimals = 2 + (p < 0.1)
    while rejects(float(f"{p:.{decimals}f}"), alpha) != rejects(p, alpha) and decimals < 12:
        decimals += 1
    text = f"{p:.{decimals}f}"
    if float(text) >= 1.0 > p + 1e-9:
        return "p > 0.99"
    return f"p = {text}"


def _bound_text(p: float) -> str:
    """Round a bound up to one or two significant digits, whichever is closer."""
    place = -math.floor(math.log10(p))
    if math.ceil(p * 10.0**place * (1.0 - 1e-9)) > 1.01 * p * 10.0**place:
        place += 1
    rounded = math.ceil(p * 10.0**place * (1.0 - 1e-9)) / 10.0**place
    return f"{rounded:.{place}f}".rstrip("0")


def p_cell(p: float, *, least: float = 0.0) -> str:
    """Format a p-value for a column with the header p."""
    if math.isnan(p):
        return ""
    return p_text(p, least=least).removeprefix("p ").removeprefix("= ")


def percent_of(share: float) -> str:
    """Return a level as a percentage, such as 95% or 99.9%."""
    return f"{100.0 * share:.7g}%"


def join(names: Iterable[Any], last: str = "and", *, most: int = 6, noun: str = "others") -> str:
    """Join names for a sentence, or return a count and a noun if there are many."""
    texts = [str(name) for name in names]
    if len(texts) > most:
        return f"{len(texts)} {noun}"
    if len(texts) < 3:
        return f" {last} ".join(texts)
    return f"{', '.join(texts[:-1])}, {last} {texts[-1]}"


def agree(count: float, singular: str, plural: str) -> str:
    """Return the form of a word that agrees with a count."""
    if count == 1:
        return singular
    return plural


def at_sizes(frame: pd.DataFrame) -> str:
    """Return the list sizes of a table, or their count and range if there are many, or ""."""
    if "n" not in frame:
        return ""
    ordered = sorted(frame["n"].unique())
    if len(ordered) > 6:
        return f" at n = {ordered[0]:,} to {ordered[-1]:,} ({len(ordered):,} sizes)"
    return f" at n = {join(f'{size:,}' for size in ordered)}"


def letter_sets(letters: Iterable[Any]) -> list[set[str]]:
    """Return the letters for each row of a compact letter display."""
    texts = [str(text) for text in letters]
    if any(" " in text or len({*text}) < len(text) for text in texts):  # aa ab, ... after z
        return [{*text.split()} for text in texts]
    return [{*text} for text in texts]


def capitalized(text: str, names: Sequence[Any] = ()) -> str:
    """Return a sentence with a capital, unless it begins with one of the names."""
    if any(text.startswith(f"{name} ") for name in names):
        return text
    return f"{text[0].upper()}{text[1:]}"
