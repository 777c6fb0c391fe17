"""Acceptance sets compared by predictive values and error rates: published data, by hand, SciPy."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

# Weiner et al. (1979), the data of Leisenring, Alonzo and Pepe (2000): exercise test and chest pain
DISEASED, HEALTHY = (473, 29, 81, 25), (22, 46, 44, 151)


def _coronary():
    rows = [
        (a, b, sick)
        for counts, sick in ((DISEASED, True), (HEALTHY, False))
        for (a, b), times in zip(((1, 1), (1, 0), (0, 1), (0, 0)), counts, strict=True)
        for _ in range(times)
    ]
    return pd.DataFrame(rows, columns=["test", "pain", "gold"])


def _by_hand(a, b, right):
    """Kosinski's statistic of the predictive values, candidate by candidate."""
    pooled = (right[a].sum() + right[b].sum()) / (a.sum() + b.sum())
    shared = ((right - pooled) ** 2 * (a & b)).sum() / (a.sum() + b.sum())
    variance = (pooled * (1 - pooled) - 2 * shared) * (1 / a.sum() + 1 / b.sum())
    return (right[a].mean() - right[b].mean()) / np.sqrt(variance)


def test_predictive_values_by_hand():
    df, cuts = _coronary(), {"test": 1, "pain": 1}
    a, b, gold = (df[name].to_numpy() == 1 for name in ("test", "pain", "gold"))
    for asked, z in (
        ({"of": "precision", "test": "kosinski"}, _by_hand(a, b, gold)),
        ({"of": "npv"}, _by_hand(~a, ~b, ~gold)),
    ):
        for side, p in (
            ("two-sided", 2 * stats.norm.sf(abs(z))),
            ("greater", stats.norm.sf(z)),
            ("less", stats.norm.cdf(z)),
        ):
            found = df.rankeval.compare("test", "pain", threshold=cuts, alternative=side, **asked)
            row = found.iloc[0]
            assert row["p_value"] == pytest.approx(p, rel=1e-10)
            assert row["ci_low"] <= row["difference"] <= row["ci_high"]


def test_error_rates_are_tested_as_by_mcnemar():
    for of, (both, a, b, neither) in (("recall", DISEASED), ("specificity", HEALTHY[::-1])):
        asked = {"threshold": {"test": 1, "pain": 1}, "of": of}
        call = _coronary().rankeval(details=True)
        row = call.compare("test", "pain", **asked).iloc[0]
        assert row["difference"] == pytest.approx((a - b) / (both + a + b + neither), abs=1e-12)
        assert row["p_value"] == pytest.approx(stats.binomtest(a, a + b).pvalue, rel=1e-10)
        middle = call.compare("test", "pain", test="midp", **asked).iloc[0]
        below = stats.binomtest(a, a + b).pvalue - stats.binom.pmf(min(a, b), a + b, 0.5)
        assert middle["p_value"] == row["p_mid"] == pytest.approx(below, rel=1e-9)
        assert (row["ci_low"] > 0) == (row["p_value"] <= 0.05 and a > b)


def test_sets_of_unequal_size_are_warned_of_only_where_the_test_rejects():
    rng, warned, cuts = np.random.default_rng(12), 0, {"a": 0.0, "b": 0.0}
    gold, unequal = np.arange(120) < 30, 0
    for _ in range(25):
        scores = rng.normal(size=(2, 120)) + np.where(gold, 0.8, -0.8)
        data = pd.DataFrame({"a": scores[0], "b": scores[1], "gold": gold})
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            row = data.rankeval(details=True).compare("a", "b", threshold=cuts).iloc[0]
        sizes = sorted([row["n_a"], row["n_b"]])
        unequal += (far := sizes[0] < 0.9 * sizes[1])
        assert bool(found) == (far and row["p_value"] <= 0.05)
        assert not (far and isinstance(row["better"], str))
        warned += bool(found)
    assert warned <= 3 < unequal


def test_what_cannot_be_compared():
    ask, cuts = _coronary().rankeval.compare, {"test": 1, "pain": 1}
    for asked, message in (
        ({"n": 100, "of": "npv"}, "of='npv'"),
        ({"threshold": cuts, "of": "recall", "test": "barnard"},
         "paired test must be 'mcnemar' or 'midp'"),
        ({"n": 100, "test": "kosinski"}, "compares acceptance sets"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            ask("test", "pain", **asked)
