"""Paired tests of shares: SciPy, sizes; odds ratios that start from their neighbors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rankeval_pd.stats import two_by_two as fisher
from rankeval_pd.stats.two_by_two import discordant_test, kosinski_test


def test_predictive_values_without_shared_candidates_are_two_proportions():
    found = kosinski_test((0, 12, 7), (0, 20, 25), "two-sided")
    table = stats.chi2_contingency([[12, 8], [7, 18]], correction=False)
    assert float(found) == pytest.approx(table.pvalue, rel=1e-10)
    assert float(kosinski_test((3, 0, 0), (5, 0, 0), "two-sided")) == 1.0
    assert [float(x) for x in discordant_test(0, 0, "two-sided")] == [1.0, 1.0]


def test_neighbors_say_where_to_start(monkeypatch):
    rng = np.random.default_rng(0)
    n_a, n_b = np.sort(rng.integers(1, 4_000, (2, 800)), axis=1)
    tables = rng.binomial(n_a, 0.3), n_a, rng.binomial(n_b, 0.25), n_b
    alone = fisher.conditional_odds_ratio(*tables, 0.95)
    monkeypatch.setattr(fisher, "_MANY", 10)
    for order in (np.arange(800), rng.permutation(800)):
        some = fisher.conditional_odds_ratio(*(x[order] for x in tables), 0.95)
        for mine, other in zip(some, alone, strict=True):
            assert np.allclose(mine, other[order], rtol=1e-11, atol=0.0, equal_nan=True)
