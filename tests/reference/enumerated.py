"""Coverage of intervals of a proportion, and sizes of tests of two regions, by enumeration.

Writes enumerated.csv: for each interval and number of candidates the least and the mean coverage
over a grid of precisions, and for each test of two regions of equal size the largest and the mean
probability of p <= .05 over a grid of precisions that are equal; of all outcomes, no draws.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from rankeval_pd.stats.intervals.proportions import INTERVALS
from rankeval_pd.stats.significance.fisher import fisher_test, mcnemar_test
from rankeval_pd.stats.significance.unconditional import barnard, boschloo, score_test

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
    names = ["what", "by", "n", "level", "worst", "mean"]
    pd.DataFrame(rows, columns=names).round(4).to_csv(
        Path(__file__).with_suffix(".csv"), index=False
    )


if __name__ == "__main__":
    main()
