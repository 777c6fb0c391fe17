"""Coverage of intervals of a proportion, and sizes of tests of two proportions, by enumeration.

Writes enumerated.csv: for each interval and number of candidates the least and the mean coverage
over a grid of precisions, and for each test of two regions of equal size the largest and the mean
probability of p <= .05 over a grid of precisions that are equal; for the paired tests of n items
over a grid of shares that differ, and the power where a is right more often. No draws.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd.stats.proportions import INTERVALS
from rankeval_pd.stats.two_by_two import (
    barnard,
    boschloo,
    fisher_test,
    mcnemar_test,
    paired_boschloo,
    score_test,
)

P_VALUES = {
    "fisher": lambda *table: fisher_test(*table, "two-sided").p_value,
    "midp": lambda *table: fisher_test(*table, "two-sided").p_mid,
    "mcnemar": lambda *table: mcnemar_test(*table, "two-sided"),
    "boschloo": lambda *table: boschloo(*table, "two-sided"),
    "barnard": lambda *table: barnard(*table, "two-sided"),
    "score": lambda *table: score_test(*table, "two-sided"),
}
SIZES = (5, 10, 20, 50, 100, 500)
REGIONS = (5, 10, 20, 50)
PRECISIONS = np.linspace(0.005, 0.995, 199)


def coverage(ci: str, n: int, level: float, p: np.ndarray) -> np.ndarray:
    """Return the coverage of an interval at each precision, from all counts of n."""
    tp = np.arange(n + 1)
    low, high = INTERVALS[ci](tp, n, level)
    p = p[:, np.newaxis]
    return (stats.binom.pmf(tp, n, p) * ((low <= p) & (p <= high))).sum(axis=1)


def size(test: str, n: int, p: np.ndarray) -> np.ndarray:
    """Return how often two regions of n are found different, from all pairs of counts."""
    tp = np.arange(n + 1)
    a, b = (x.ravel() for x in np.meshgrid(tp, tp, indexing="ij"))
    p_value = np.asarray(P_VALUES[test](a, n, b, n)).reshape(n + 1, n + 1)
    law = stats.binom.pmf(tp, n, p[:, np.newaxis])
    return np.einsum("ki,ij,kj->k", law, p_value <= 0.05, law)


def paired(n: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return all outcomes (only a right, only b right, the rest), and the p-values of the tests."""
    outcomes = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    one_sided = {
        "paired_bootstrap": [paired_boschloo(a, b, n) for a, b, _ in outcomes.tolist()],
        "paired_permutation": stats.binom.sf(outcomes[:, 0] - 1, n - outcomes[:, 2], 0.5),
    }
    return outcomes, {test: 2.0 * np.asarray(p) for test, p in one_sided.items()}


def chance(outcomes: np.ndarray, rejected: np.ndarray, only_a: float, only_b: float) -> float:
    """Return the chance of the rejected outcomes."""
    law = stats.multinomial(int(outcomes[0].sum()), [only_a, only_b, 1.0 - only_a - only_b])
    return float(law.pmf(outcomes[rejected]).sum())


def main() -> None:
    rows = []
    for ci in INTERVALS:
        for n in SIZES:
            for level in (0.9, 0.95, 0.99):
                found = coverage(ci, n, level, PRECISIONS)
                rows.append(("interval", ci, n, level, found.min(), found.mean()))
    for test in P_VALUES:
        for n in REGIONS:
            found = size(test, n, PRECISIONS)
            rows.append(("test", test, n, 0.95, found.max(), found.mean()))
    for n, a, b in ((30, 0.8, 0.5), (50, 0.75, 0.5), (100, 0.68, 0.5)):
        outcomes, p_values = paired(n)
        for test, p in p_values.items():
            rejected = p <= 0.05
            found = [2.0 * chance(outcomes, rejected, d / 2, d / 2) for d in PRECISIONS]
            rows.append(("paired", test, n, 0.95, max(found), np.mean(found)))
            found = chance(outcomes, rejected, a * (1 - b), b * (1 - a))
            rows.append(("power", test, n, 0.95, found, found))
    names = ["what", "by", "n", "level", "worst", "mean"]
    pd.DataFrame(rows, columns=names).round(4).to_csv(
        Path(__file__).with_suffix(".csv"), index=False
    )


if __name__ == "__main__":
    main()
