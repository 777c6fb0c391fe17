"""Gains of one system over another, with skewed differences and training seeds."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankeval_pd.stats import bootstrap, item_gains, items

# ---- The allowance for skewness


@pytest.mark.filterwarnings("ignore:.*differences are skewed:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("seed", range(4))
def test_the_p_value_is_the_larger_one_and_the_interval_holds_both(seed):
    """Twelve items: all signs are enumerated, and SciPy has the skewness and the t distribution."""
    rng = np.random.default_rng(seed)
    d = rng.exponential(size=12) - 0.3 * rng.random()
    data = pd.DataFrame({"a": d, "b": 0.0})
    row = data.rankeval.paired_bootstrap("a", "b", details=True).iloc[0]
    signs = np.array(list(itertools.product((1, -1), repeat=12)))

    def p_value(shift: float, side: int) -> float:
        moved = side * (d - shift)
        by_signs = np.mean(signs @ moved >= moved.sum() - 1e-12)
        t = stats.ttest_1samp(moved, 0.0).statistic
        a = stats.skew(moved) / np.sqrt(12)
        hall = t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6
        return float(max(by_signs, stats.t.sf(hall, 11)))

    assert row["p_one_sided"] == pytest.approx(p_value(0.0, 1), rel=1e-10)
    assert row["p_value"] == pytest.approx(min(1.0, 2.0 * row["p_one_sided"]), rel=1e-12)
    for name, side in (("ci_low", 1), ("ci_high", -1)):
        assert p_value(row[name] + side * 1e-9, side) > 0.025 - 1e-8
        assert p_value(row[name] - side * 1e-9, side) <= 0.025 + 1e-8


def test_what_is_right_or_wrong_needs_no_allowance():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.random(40) < p for name, p in (("a", 0.95), ("b", 0.7))})
    ask = data.rankeval(metric="accuracy").paired_bootstrap
    pd.testing.assert_frame_equal(ask(), ask(skewness=False))


@pytest.mark.filterwarnings("ignore:.*differences are skewed:rankeval_pd.RankevalWarning")
def test_max_t_allows_for_skewness_and_its_interval_agrees():
    rng = np.random.default_rng(5)
    for _ in range(6):
        data = pd.DataFrame(0.9 + 0.05 * rng.normal(size=(40, 5)), columns=list("abcde"))
        data["a"] = (rng.random(40) < 0.8) * 1.0
        plain, found = (
            data.rankeval.paired_bootstrap(
                adjust="max-t", skewness=x, details=True, n_resamples=999
            )
            for x in (False, True)
        )
        assert (found["p_adjusted"] >= plain["p_adjusted"]).all()
        assert (found["p_adjusted"] >= found["p_value"]).all()
        excludes = (found["ci_low"] >= 0.0) | (found["ci_high"] <= 0.0)
        assert (excludes == (found["p_adjusted"] <= 0.05)).all()


# ---- Training seeds


def test_the_seeds_part_of_what_is_drawn_is_normal():
    """Whatever signs the items get: here they add nothing."""
    statistics = np.zeros((2, 30, 2))
    statistics[..., 1] = 1.0
    seeds = items.Seeds(np.array([0.3, 2.0]), np.array([4.0, 4.0]), np.array([5, 5]))
    seeded = items.Items(statistics, None, items.ratio, 1.0, "mean", seeds=seeds)
    options = items.PairOptions(500, "wild", "auto", "wild", None, 0.05, 0.95, 7, True)
    parts = bootstrap.contributions(seeded)
    draws = item_gains.Draws(seeded, np.array([[0, 1]]), options, items.quiet)
    whole = parts.values.sum(axis=1, keepdims=True)  # noqa: PD011 -- no frame
    drawn = parts.unit * (whole - 2.0 * draws.subsets.values)  # noqa: PD011
    for row, error in zip(drawn, seeds.error, strict=True):
        assert stats.kstest(row / error, stats.norm.cdf).pvalue > 1e-3
    assert abs(np.corrcoef(drawn)[0, 1]) < 0.15


@pytest.mark.parametrize("strata", [None, "part"])
def test_rounded_sums_change_no_warning_of_skewness(strata, monkeypatch):
    """Skewness near the limit; systems of equal scores, of huge and of tiny scores."""
    rng = np.random.default_rng(5)
    told = []
    for n, width in itertools.product((12, 31, 60), (0.2, 0.6, 0.8, 1.0, 1.4)):
        drawn = rng.lognormal(sigma=width, size=(n, 2)) - np.exp(width**2 / 2.0)
        part = np.repeat(["x", "y", "z"], [n // 6, n // 3, n - n // 6 - n // 3])
        for scale in (0.0, 1.0, 1e120, 1e-120):
            data = pd.DataFrame(drawn * [1.0, scale], columns=["a", "b"]).assign(part=part)
            said = []
            for most in (item_gains._ROUNDED, 0):
                monkeypatch.setattr(item_gains, "_ROUNDED", most)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    systems = data.rankeval(measures=["a", "b"], strata=strata)
                    if strata is None:
                        systems.paired_permutation(test="t")
                    else:
                        systems.paired_bootstrap(event="recentred", n_resamples=100)
                said.append([str(x.message) for x in caught])
                monkeypatch.undo()
            assert said[0] == said[1]
            told.append(any("skewed" in x for x in said[0]))
    assert 5 < sum(told) < len(told) - 5
