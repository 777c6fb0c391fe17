"""How often intervals of the difference of two acceptance sets cover.

Of each setting, the expected numbers of candidates that both sets accept, only a, only b, and the
precision in these three. "fixed": the numbers are these, and the precisions of the sets are means
by them; "varies": they are Poisson, and the precisions are means by the expected numbers. Writes
sets.csv: the share of 20,000 seeded experiments whose interval holds the difference. Sets of fewer
than two candidates, and pairs of equal sets, are left out.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from rankeval_pd.stats.differences import delta_method, overlap_difference
from rankeval_pd.stats.proportions import agree_with_test
from rankeval_pd.stats.two_by_two import fisher_test

REPEATED = 20_000
LEVEL = 0.95
SETTINGS = (
    ((0, 2, 2), (0.3, 0.5, 0.2)), ((2, 2, 2), (0.5, 0.3, 0.3)), ((2, 1, 1), (0.5, 0.9, 0.1)),
    ((1, 3, 3), (0.5, 0.9, 0.2)), ((0, 3, 3), (0.3, 0.3, 0.3)), ((10, 3, 3), (0.5, 0.4, 0.4)),
    ((10, 3, 3), (0.5, 0.9, 0.1)), ((10, 0, 6), (0.5, 0.4, 0.2)), ((10, 0, 30), (0.7, 0.4, 0.2)),
    ((20, 10, 30), (0.6, 0.3, 0.1)), ((20, 10, 30), (0.9, 0.5, 0.1)),
    ((20, 10, 60), (0.9, 0.5, 0.02)), ((100, 30, 30), (0.4, 0.2, 0.2)),
    ((100, 30, 80), (0.4, 0.3, 0.1)), ((100, 3, 5), (0.4, 0.3, 0.3)),
    ((3, 3, 20), (0.9, 0.9, 0.1)), ((0, 10, 40), (0.5, 0.3, 0.3)), ((4, 0, 4), (1.0, 0.5, 0.7)),
    ((30, 3, 3), (0.95, 0.95, 0.95)), ((200, 100, 400), (0.5, 0.2, 0.05)),
)  # fmt: skip


def main() -> None:
    rng = np.random.default_rng(12)
    rows = []
    for expected, precision in SETTINGS:
        for sizes in ("fixed", "varies"):
            mean = np.array(expected, dtype=float)[:, np.newaxis]
            n = np.broadcast_to(mean, (3, REPEATED)).astype(np.int64)
            n = n if sizes == "fixed" else rng.poisson(n)
            kept = (n[0] + n[1] >= 2) & (n[0] + n[2] >= 2) & (n[1] + n[2] > 0)
            n = n[:, kept]
            tp = rng.binomial(n, np.array(precision)[:, np.newaxis])
            weight = n if sizes == "fixed" else np.broadcast_to(mean, n.shape)
            positive = weight * np.array(precision)[:, np.newaxis]
            true = (positive[0] + positive[1]) / (weight[0] + weight[1])
            true = true - (positive[0] + positive[2]) / (weight[0] + weight[2])
            p = fisher_test(tp[1], n[1], tp[2], n[2], "two-sided").p_value
            size_a, size_b = n[0] + n[1], n[0] + n[2]
            found = (tp[0] + tp[1]) / size_a - (tp[0] + tp[2]) / size_b
            weights = 1 / size_a - 1 / size_b, 1 / size_a, -1 / size_b
            bare = overlap_difference((tp[0], tp[1], tp[2]), (n[0], n[1], n[2]), LEVEL)
            kinds = {
                "delta": delta_method(
                    (tp[0], tp[1], tp[2]), (n[0], n[1], n[2]), weights, found, LEVEL
                ),
                "together": bare,
                "score": agree_with_test(*bare, p, "two-sided", LEVEL),
            }
            for kind, (low, high) in kinds.items():
                held = float(np.mean((low <= true + 1e-12) & (true - 1e-12 <= high)))
                error = np.sqrt(held * (1 - held) / true.size)
                rows.append((*expected, *precision, sizes, kind, round(held, 4), round(error, 4)))
    names = ["both", "only_a", "only_b", "pi_both", "pi_a", "pi_b", "sizes", "ci", "coverage", "se"]
    pd.DataFrame(rows, columns=names).to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    main()
