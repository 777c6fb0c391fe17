"""How often intervals of the difference of two acceptance sets cover.

Of each setting, the expected numbers of candidates that both sets accept, only a, only b, and the
precision in these three. "fixed": the numbers are these, and the precisions of the sets are means
by them; "varies": they are Poisson, and the precisions are means by the expected numbers. The share
of 20,000 experiments whose interval holds the difference. Sets of fewer than two candidates, and
pairs of equal sets, are left out. A minute.
"""

from itertools import product

import numpy as np

from rankeval_pd.stats.differences import delta_method, overlap_difference
from rankeval_pd.stats.proportions import agree_with_test
from rankeval_pd.stats.two_by_two import fisher_test
from tests.simulations import study

REPEATED = 20_000
LEVEL = 0.95
NAMES = ["both", "only_a", "only_b", "pi_both", "pi_a", "pi_b", "sizes", "ci", "coverage", "se"]
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


def rows():
    rng = np.random.default_rng(12)
    for (expected, precision), sizes in product(SETTINGS, ("fixed", "varies")):
        mean, rate = (np.array(x, dtype=float)[:, np.newaxis] for x in (expected, precision))
        n = np.broadcast_to(mean, (3, REPEATED)).astype(np.int64)
        n = n if sizes == "fixed" else rng.poisson(n)
        n = n[:, (n[0] + n[1] >= 2) & (n[0] + n[2] >= 2) & (n[1] + n[2] > 0)]
        tp = rng.binomial(n, rate)
        weight = n if sizes == "fixed" else np.broadcast_to(mean, n.shape)
        true = difference(weight * rate, weight)
        size_a, size_b = n[0] + n[1], n[0] + n[2]
        p = fisher_test(tp[1], n[1], tp[2], n[2], "two-sided").p_value
        weights = 1 / size_a - 1 / size_b, 1 / size_a, -1 / size_b
        bare = overlap_difference(tuple(tp), tuple(n), LEVEL)
        kinds = {
            "delta": delta_method(tuple(tp), tuple(n), weights, difference(tp, n), LEVEL),
            "together": bare,
            "score": agree_with_test(*bare, p, "two-sided", LEVEL),
        }
        for kind, (low, high) in kinds.items():
            held = float(study.covers(low, high, true).mean())
            yield *expected, *precision, sizes, kind, held, study.error(held, true.size)


def difference(tp, n):
    """Return the difference in precision of two sets: both, only a, only b."""
    return (tp[0] + tp[1]) / (n[0] + n[1]) - (tp[0] + tp[2]) / (n[0] + n[2])
