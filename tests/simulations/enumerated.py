"""Coverage of intervals of a proportion, and sizes of tests of two proportions, by enumeration.

For each interval and number of candidates the least and the mean coverage over a grid of
precisions, and for each test of two regions of equal size the largest and the mean probability of
p <= .05 over a grid of precisions that are equal; for the paired tests of n items over a grid of
shares that differ, and the power where a is right more often. No draws; half a minute.
"""

from itertools import product

import numpy as np
from scipy import stats

from rankeval_pd.stats import two_by_two
from rankeval_pd.stats.proportions import INTERVALS

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
NAMES = ["what", "by", "n", "level", "worst", "mean"]


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
