"""Coverage of intervals of a proportion, and sizes of tests of two proportions, by enumeration."""

from itertools import product

import numpy as np
from scipy import stats
from scipy.stats import binom

from rankeval_pd.stats import two_by_two
from rankeval_pd.stats.differences import DIFFERENCE_INTERVALS
from rankeval_pd.stats.proportions import INTERVALS, agree_with_test
from rankeval_pd.stats.two_by_two import fisher_test
from tests.simulations import study

P_VALUES = {
    "fisher": lambda *table: two_by_two.fisher_test(*table).p_value,
    "midp": lambda *table: two_by_two.fisher_test(*table).p_mid,
    "mcnemar": two_by_two.mcnemar_test,
    "boschloo": two_by_two.boschloo,
    "score": two_by_two.score_test,
}
SIZES = (5, 10, 20, 50, 100, 500)
REGIONS = (5, 10, 20, 50)
PRECISIONS = np.linspace(0.005, 0.995, 199)


def coverage(ci, n, level):
    """Return the coverage of an interval at each precision, from all counts of n."""
    tp = np.arange(n + 1)
    low, high = INTERVALS[ci](tp, n, level)
    p = PRECISIONS[:, np.newaxis]
    return (stats.binom.pmf(tp, n, p) * ((low <= p) & (p <= high))).sum(axis=1)


def size(test, n):
    """Return how often two regions of n are found different, from all pairs of counts."""
    tp = np.arange(n + 1)
    a, b = (x.ravel() for x in np.meshgrid(tp, tp, indexing="ij"))
    p_value = np.asarray(P_VALUES[test](a, n, b, n, "two-sided")).reshape(n + 1, n + 1)
    law = stats.binom.pmf(tp, n, PRECISIONS[:, np.newaxis])
    return np.einsum("ki,ij,kj->k", law, p_value <= 0.05, law)


def paired(n):
    """Return all outcomes (only a right, only b right, the rest), and the p-values of the tests."""
    outcomes = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    one_sided = {
        "paired_bootstrap": [two_by_two.paired_boschloo(a, b, n) for a, b, _ in outcomes.tolist()],
        "paired_permutation": stats.binom.sf(outcomes[:, 0] - 1, n - outcomes[:, 2], 0.5),
    }
    return outcomes, {test: 2.0 * np.asarray(p) for test, p in one_sided.items()}


def chance(outcomes, only_a, only_b, n):
    law = stats.multinomial(n, [only_a, only_b, 1.0 - only_a - only_b])
    return float(law.pmf(outcomes).sum())


def rows():
    for ci, n, level in product(INTERVALS, SIZES, (0.9, 0.95, 0.99)):
        found = coverage(ci, n, level)
        yield "interval", ci, n, level, found.min(), found.mean()
    for test, n in product(P_VALUES, REGIONS):
        found = size(test, n)
        yield "test", test, n, 0.95, found.max(), found.mean()
    for n, a, b in ((30, 0.8, 0.5), (50, 0.75, 0.5), (100, 0.68, 0.5)):
        outcomes, p_values = paired(n)
        for test, p in p_values.items():
            rejected = outcomes[p <= 0.05]
            found = [2.0 * chance(rejected, d / 2, d / 2, n) for d in PRECISIONS]
            yield "paired", test, n, 0.95, max(found), np.mean(found)
            found = chance(rejected, a * (1 - b), b * (1 - a), n)
            yield "power", test, n, 0.95, found, found


# -------------------------------------------------------------------------------------- Differences

ENDS = np.array([0.0005, 0.001, 0.002, 0.003, 0.005, 0.007, 0.015, 0.025])
GRID = np.unique(np.concatenate([np.linspace(0.0, 1.0, 101), ENDS, 1.0 - ENDS]))
EQUAL_SIZES = (*range(1, 11), 12, 14, 17, 20, 25, 30, 40, 50, 60, 75, 100)


def limits(ci, size, level):
    """Return the limits of all tables as compare has them, and Fisher's p-values."""
    a, b = np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij")
    n = np.full(a.shape, size)
    low, high = DIFFERENCE_INTERVALS[ci](a, n, b, n, level)
    p = fisher_test(a, n, b, n, "two-sided").p_value
    if ci == "score":
        low, high = agree_with_test(low, high, p, "two-sided", level)
    return low, high, p


def pair_coverage(low, high, size):
    """Return the probability that the interval holds the difference, for each pair on the grid."""
    law = binom.pmf(np.arange(size + 1)[:, np.newaxis], size, GRID)
    found = np.empty((GRID.size, GRID.size))
    for i, a in enumerate(GRID):
        held = study.covers(low[..., np.newaxis], high[..., np.newaxis], a - GRID)
        found[i] = np.einsum("a,bg,abg->g", law[:, i], law, held, optimize=True)
    return found


def differences_rows():
    """Coverage of intervals of the difference of two regions of equal size, by enumeration."""
    for level, size, ci in product((0.9, 0.95, 0.99), EQUAL_SIZES, DIFFERENCE_INTERVALS):
        low, high, p = limits(ci, size, level)
        held = pair_coverage(low, high, size)
        a, b = np.unravel_index(held.argmin(), held.shape)
        zero, rejected = (low <= 0) & (high >= 0), p <= 1 - level
        yield (level, size, ci, held.min().round(4), GRID[a], GRID[b], held.mean().round(4),
               np.mean(high - low).round(4),
               int((~zero & ~rejected).sum()), int((zero & rejected).sum()))  # fmt: skip
