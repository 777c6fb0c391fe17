"""The simulated experiment: R's values beside ours, and the truth that it was drawn from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, optimize, stats

from rankeval_pd import datasets

TABLE = Path(__file__).parents[1] / "simulations" / "simulated.csv"


@pytest.fixture(scope="module")
def reference() -> pd.DataFrame:
    """What R computed of the same candidates."""
    return pd.read_csv(TABLE, comment="#")


@pytest.fixture(scope="module")
def candidates() -> pd.DataFrame:
    return datasets.simulate_candidates(2000, decimals=1)


def same(ours, wanted, rtol=1e-10):
    np.testing.assert_allclose(np.asarray(ours, dtype=float), wanted, rtol=rtol)


def test_counts_and_intervals_are_those_of_rs_binom_test(candidates, reference):
    found = candidates.rankeval.acceptance_precision({"good": reference["threshold"]})
    same(found["n_accepted"], reference["n_a"], 0)
    same(found["tp"], reference["tp_a"], 0)
    same(found["ci_low"], reference["ci_low"])
    same(found["ci_high"], reference["ci_high"])


@pytest.mark.filterwarnings("ignore:acceptance sets of:rankeval_pd.RankevalWarning")
def test_difference_regions_of_unequal_size_are_those_of_rs_fisher_test(candidates, reference):
    cuts = {name: reference["threshold"].tolist() for name in ("good", "fair")}
    for side in ("two-sided", "greater", "less"):
        found = candidates.rankeval.compare_thresholds(
            "good", "fair", cuts, test="fisher", alternative=side
        )
        for name in ("n_only_a", "tp_only_a", "n_only_b", "tp_only_b", "n_b"):
            same(found[name], reference[name], 0)
        same(found["p_value"], reference[f"p_{side.replace('-', '_')}"])


def test_p_values_of_the_random_model_are_those_of_r(candidates, reference):
    """R's phyper, at the ends of tied blocks."""
    found = candidates.rankeval.random_test(reference["n_a"], measures="good", ties="error")
    same(found["tp"], reference["tp_a"], 0)
    same(found["p_value"], reference["p_random"])
    same(found["log10_p"] * np.log(10), reference["log_p_random"])


def test_the_seed_chooses_the_candidates():
    first = datasets.simulate_candidates(50)
    pd.testing.assert_frame_equal(first, datasets.simulate_candidates(50))
    assert not first.equals(datasets.simulate_candidates(50, rng=1))
    assert list(datasets.simulate_candidates(3, quality={"x": 0.0})) == ["x", "gold"]


def test_decimals_make_ties_and_scores_have_their_correlation():
    df = datasets.simulate_candidates(20_000, correlation=0.8, decimals=1)
    assert df["good"].nunique() < 100
    assert df.loc[~df["gold"], ["good", "fair"]].corr().iloc[0, 1] == pytest.approx(0.8, abs=0.01)
    equal = datasets.simulate_candidates(9, correlation=1.0, quality={"a": 1, "b": 1})
    assert (equal["a"] == equal["b"]).all()


@pytest.mark.parametrize("share", [0.001, 0.9, 0.3])
def test_the_true_precision_is_that_of_integration(share):
    """Of the region above the quantile of the mixture of two normal laws."""
    q, z = 1.3, 0.2

    def density(x: float) -> float:
        return z * stats.norm.pdf(x - q) + (1 - z) * stats.norm.pdf(x)

    def beyond(x: float) -> float:
        return integrate.quad(density, x, 30, epsabs=1e-13)[0] - share

    cut = optimize.brentq(beyond, -9.0, 9.0, xtol=1e-13)
    wanted = z * stats.norm.sf(cut - q) / share
    assert datasets.true_precision(share, quality=q, baseline=z) == pytest.approx(wanted, rel=1e-8)


def test_impossible_experiments_are_refused():
    for keywords, message in (
        ({"n_candidates": 0}, "n_candidates=0"),
        ({"n_candidates": 1.5}, "n_candidates=1.5"),
        ({"baseline": 1.0}, r"baseline=1.0 is outside \(0, 1\)"),
        ({"correlation": -0.1}, "correlation=-0.1"),
        ({"quality": {"gold": 1.0}}, "cannot be 'gold'"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            datasets.simulate_candidates(**keywords)
    for share in (0.0, 1.1, -1):
        with pytest.raises(ValueError, match="share="):
            datasets.true_precision(share, quality=1.0)
