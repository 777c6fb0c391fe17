"""Coverage of intervals of the difference of two regions of equal size, by enumeration.

Writes differences.csv: for each size, level and interval the least coverage over a grid of pairs of
proportions (all tables enumerated), where it is, the mean over the grid, and how many tables have
an interval without 0 although Fisher's test does not reject, or with 0 although it does.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom

from rankeval_pd.stats.differences import DIFFERENCE_INTERVALS
from rankeval_pd.stats.proportions import agree_with_test
from rankeval_pd.stats.two_by_two import fisher_test

ENDS = np.array([0.0005, 0.001, 0.002, 0.003, 0.005, 0.007, 0.015, 0.025])
GRID = np.unique(np.concatenate([np.linspace(0.0, 1.0, 101), ENDS, 1.0 - ENDS]))
SIZES = (*range(1, 11), 12, 14, 17, 20, 25, 30, 40, 50, 60, 75, 100)
ROUNDING = 1e-12


def limits(ci: str, size: int, level: float):
    """Return the limits of all tables as compare has them, and Fisher's p-values."""
    a, b = np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij")
    n = np.full(a.shape, size)
    low, high = DIFFERENCE_INTERVALS[ci](a, n, b, n, level)
    p = fisher_test(a, n, b, n, "two-sided").p_value
    if ci == "score":
        low, high = agree_with_test(low, high, p, "two-sided", level)
    return low, high, p


def coverage(low, high, size: int):
    """Return the probability that the interval holds the difference, for each pair on the grid."""
    law = binom.pmf(np.arange(size + 1)[:, np.newaxis], size, GRID)
    found = np.empty((GRID.size, GRID.size))
    for i, a in enumerate(GRID):
        true = a - GRID
        held = (low[..., np.newaxis] - ROUNDING <= true) & (
            true <= high[..., np.newaxis] + ROUNDING
        )
        found[i] = np.einsum("a,bg,abg->g", law[:, i], law, held, optimize=True)
    return found


def main() -> None:
    rows = []
    for level in (0.9, 0.95, 0.99):
        for size in SIZES:
            for ci in DIFFERENCE_INTERVALS:
                low, high, p = limits(ci, size, level)
                held = coverage(low, high, size)
                a, b = np.unravel_index(held.argmin(), held.shape)
                zero = (low <= 0) & (high >= 0)
                rows.append(
                    (level, size, ci, round(held.min(), 4), GRID[a], GRID[b],
                     round(held.mean(), 4), round(float(np.mean(high - low)), 4),
                     int((~zero & (p > 1 - level)).sum()), int((zero & (p <= 1 - level)).sum()))
                )  # fmt: skip
    names = [
        "level", "size", "ci", "least", "at_a", "at_b", "mean", "width", "without_0_not_rejected",
        "with_0_rejected",
    ]  # fmt: skip
    pd.DataFrame(rows, columns=names).to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    main()
