"""Coverage of intervals of the difference of two regions of equal size, by enumeration.

For each size, level and interval the least coverage over a grid of pairs of proportions (all tables
enumerated), where it is, the mean over the grid, and how many tables have an interval without 0
although Fisher's test does not reject, or with 0 although it does. Two minutes.
"""

from itertools import product

import numpy as np
from scipy.stats import binom

from rankeval_pd.stats.differences import DIFFERENCE_INTERVALS
from rankeval_pd.stats.proportions import agree_with_test
from rankeval_pd.stats.two_by_two import fisher_test
from tests.simulations import study

FORM = {"digits": None}
ENDS = np.array([0.0005, 0.001, 0.002, 0.003, 0.005, 0.007, 0.015, 0.025])
GRID = np.unique(np.concatenate([np.linspace(0.0, 1.0, 101), ENDS, 1.0 - ENDS]))
SIZES = (*range(1, 11), 12, 14, 17, 20, 25, 30, 40, 50, 60, 75, 100)
NAMES = ["level", "size", "ci", "least", "at_a", "at_b", "mean", "width", "without_0_not_rejected",
         "with_0_rejected"]  # fmt: skip


def limits(ci, size, level):
    """Return the limits of all tables as compare has them, and Fisher's p-values."""
    a, b = np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij")
    n = np.full(a.shape, size)
    low, high = DIFFERENCE_INTERVALS[ci](a, n, b, n, level)
    p = fisher_test(a, n, b, n, "two-sided").p_value
    if ci == "score":
        low, high = agree_with_test(low, high, p, "two-sided", level)
    return low, high, p


def coverage(low, high, size):
    """Return the probability that the interval holds the difference, for each pair on the grid."""
    law = binom.pmf(np.arange(size + 1)[:, np.newaxis], size, GRID)
    found = np.empty((GRID.size, GRID.size))
    for i, a in enumerate(GRID):
        held = study.covers(low[..., np.newaxis], high[..., np.newaxis], a - GRID)
        found[i] = np.einsum("a,bg,abg->g", law[:, i], law, held, optimize=True)
    return found


def rows():
    for level, size, ci in product((0.9, 0.95, 0.99), SIZES, DIFFERENCE_INTERVALS):
        low, high, p = limits(ci, size, level)
        held = coverage(low, high, size)
        a, b = np.unravel_index(held.argmin(), held.shape)
        zero, rejected = (low <= 0) & (high >= 0), p <= 1 - level
        yield (level, size, ci, held.min().round(4), GRID[a], GRID[b], held.mean().round(4),
               np.mean(high - low).round(4),
               int((~zero & ~rejected).sum()), int((zero & rejected).sum()))  # fmt: skip
