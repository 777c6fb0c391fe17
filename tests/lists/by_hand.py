"""Rates of a list by counting, and SciPy's intervals and tests of them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binomtest, fisher_exact, hypergeom

EQUAL = 1e-7  # tables whose probabilities differ by less, relatively, are equally likely


def limits(tp: int, n: int, ci: str, level: float) -> tuple[float, float]:
    if n == 0:
        return 0.0, 1.0
    if ci == "jeffreys":
        low, high = beta.ppf([(1 - level) / 2, (1 + level) / 2], tp + 0.5, n - tp + 0.5)
        return (low if tp else 0.0), (high if tp < n else 1.0)
    method = "exact" if ci == "clopper-pearson" else "wilson"
    found = binomtest(tp, n).proportion_ci(level, method)
    return found.low, found.high


def check_rates(
    row: pd.Series, chosen: list[dict], rows: list[dict], ci: str, level: float
) -> None:
    """Check tp, precision, recall, lift and limits of a row of the candidates it stands for."""
    n, tp = len(chosen), sum(r["gold"] for r in chosen)
    total, positive = len(rows), sum(r["gold"] for r in rows)
    assert row["tp"] == tp
    assert row["precision"] == pytest.approx(tp / n if n else np.nan, rel=1e-14, nan_ok=True)
    assert row["recall"] == pytest.approx(tp / positive, rel=1e-14)
    lift = tp / n * total / positive if n else np.nan
    assert row["lift"] == pytest.approx(lift, rel=1e-14, nan_ok=True)
    shown = row["ci_low"], row["ci_high"]
    assert shown == pytest.approx(limits(tp, n, ci, level), rel=1e-10, abs=1e-15)


def p_values(tp_a: int, n_a: int, tp_b: int, n_b: int, alternative: str) -> tuple[float, float]:
    """Return Fisher's p-value and its mid-p, by SciPy and by adding up all tables."""
    if n_a == 0 or n_b == 0 or tp_a + tp_b in (0, n_a + n_b):
        return 1.0, 1.0
    exact = fisher_exact([[tp_a, n_a - tp_a], [tp_b, n_b - tp_b]], alternative)
    law = hypergeom(n_a + n_b, tp_a + tp_b, n_a)
    counts = np.arange(max(0, tp_a + tp_b - n_b), min(n_a, tp_a + tp_b) + 1)
    p, seen = law.pmf(counts), law.pmf(tp_a)
    if alternative == "two-sided":
        equal = np.abs(p - seen) <= EQUAL * seen
        mid = p[(p < seen) & ~equal].sum() + p[equal].sum() / 2
    else:
        further = counts > tp_a if alternative == "greater" else counts < tp_a
        mid = p[further].sum() + seen / 2
    return exact.pvalue, mid


def odds(tp_a: int, n_a: int, tp_b: int, n_b: int) -> float:
    above, below = tp_a * (n_b - tp_b), (n_a - tp_a) * tp_b
    return above / below if below else math.inf if above else math.nan
