"""The simulated experiment: R's values beside ours, and the truth that it was drawn from."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import rankeval_pd
from rankeval_pd import datasets

R = pd.read_csv(Path(__file__).parent / "simulations" / "simulated.csv", comment="#")


@pytest.fixture(scope="module")
def candidates() -> pd.DataFrame:
    return datasets.simulate_candidates(2000, decimals=1)


def same(ours, reference, rtol=1e-10):
    np.testing.assert_allclose(np.asarray(ours, dtype=float), reference, rtol=rtol)


def test_counts_and_intervals(candidates):
    """R's binom.test."""
    found = candidates.rankeval.acceptance_precision({"good": R["threshold"]})
    same(found["n_accepted"], R["n_a"], 0)
    same(found["tp"], R["tp_a"], 0)
    same(found["ci_low"], R["ci_low"])
    same(found["ci_high"], R["ci_high"])


@pytest.mark.filterwarnings("ignore:acceptance sets of:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    ("alternative", "column"),
    [("two-sided", "p_two_sided"), ("greater", "p_greater"), ("less", "p_less")],
)
def test_difference_regions(candidates, alternative, column):
    """R's fisher.test, regions of unequal size."""
    cuts = {name: R["threshold"].tolist() for name in ("good", "fair")}
    found = candidates.rankeval.compare("good", "fair", threshold=cuts, alternative=alternative)
    for name in ("n_only_a", "tp_only_a", "n_only_b", "tp_only_b", "n_b"):
        same(found[name], R[name], 0)
    same(found["p_value"], R[column])


def test_random_model(candidates):
    """R's phyper, at the ends of tied blocks."""
    found = candidates.rankeval.random_test(R["n_a"], measures="good", ties="error")
    same(found["tp"], R["tp_a"], 0)
    same(found["p_value"], R["p_random"])
    same(found["log10_p"] * np.log(10), R["log_p_random"])


def test_regions_of_equal_size(candidates):
    """R's fisher.test gives for the equal regions what the published formula does."""
    one = candidates.rankeval.compare("good", "fair", 300).iloc[0]
    k, d = one["tp_only_a"] + one["tp_only_b"], one["n_only_a"]
    larger = max(one["tp_only_a"], one["tp_only_b"])
    same(one["p_value"], min(1.0, 2 * stats.hypergeom.sf(larger - 1, 2 * d, k, d)))


def test_same_seed_same_candidates():
    first = datasets.simulate_candidates(50)
    pd.testing.assert_frame_equal(first, datasets.simulate_candidates(50))
    assert not first.equals(datasets.simulate_candidates(50, rng=1))
    assert list(datasets.simulate_candidates(3, quality={"x": 0.0})) == ["x", "gold"]


def test_ties_and_correlation():
    df = datasets.simulate_candidates(20_000, correlation=0.8, decimals=1)
    assert df["good"].nunique() < 100
    assert df.loc[~df["gold"], ["good", "fair"]].corr().iloc[0, 1] == pytest.approx(0.8, abs=0.01)
    assert (
        datasets.simulate_candidates(9, correlation=1.0, quality={"a": 1, "b": 1})
        .eval("a == b")
        .all()
    )


@pytest.mark.full
@pytest.mark.parametrize("share", [0.001, 0.05, 0.3, 0.9])
def test_truth_by_integration(share):
    """The precision of the region above the quantile, by numerical integration."""
    q, z = 1.3, 0.2
    density = lambda x: z * stats.norm.pdf(x - q) + (1 - z) * stats.norm.pdf(x)  # noqa: E731
    low, high = -20.0, 20.0
    for _ in range(80):
        t = (low + high) / 2
        area = integrate.quad(density, t, 30, epsabs=1e-13)[0]
        low, high = (t, high) if area > share else (low, t)
    expected = z * stats.norm.sf(low - q) / share
    assert datasets.true_precision(share, quality=q, baseline=z) == pytest.approx(
        expected, rel=1e-8
    )


@pytest.mark.full
def test_truth_is_the_average_precision():
    """The mean of 200 experiments, within four standard errors; at every share at once."""
    shares = np.array([0.02, 0.1, 0.5])
    found = [
        datasets.simulate_candidates(2000, quality={"a": 1.5}, rng=seed)
        .rankeval.nbest_precision([40, 200, 1000])["precision"]
        .to_numpy()
        for seed in range(200)
    ]
    error = np.std(found, axis=0) / np.sqrt(len(found))
    truth = datasets.true_precision(shares, quality=1.5)
    assert (np.abs(np.mean(found, axis=0) - truth) < 4 * error).all()


def experiments(size: int, **quality: float):
    """Return 400 seeded experiments in one frame, each a group with labels of its own."""
    samples = {
        seed: datasets.simulate_candidates(size, quality=quality, rng=seed) for seed in range(400)
    }
    frame = pd.concat(samples, names=["sample", None]).reset_index("sample")
    return frame.reset_index(drop=True).rankeval(by="sample")


@pytest.mark.full
def test_coverage_of_the_interval():
    """Of a fixed region, at least 95 % of intervals hold the truth: 400 seeded experiments."""
    truth = datasets.true_precision(0.1, quality=1.5)
    cut = np.quantile(datasets.simulate_candidates(400_000, quality={"a": 1.5}, rng=99)["a"], 0.9)
    found = experiments(500, a=1.5).acceptance_precision(float(cut))
    held = ((found["ci_low"] <= truth) & (truth <= found["ci_high"])).sum()
    # 4 standard errors below the nominal level
    assert held / 400 > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 400)
    assert held < 400


@pytest.mark.full
def test_size_of_the_test():
    """Two equally good measures: Fisher's test at 5 % rejects in at most 5 % of experiments."""
    rejected = experiments(400, a=1.0, b=1.0).compare("a", "b", 60)["significant"].sum()
    assert 0 < rejected / 400 < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"n_candidates": 0}, "n_candidates=0"),
        ({"n_candidates": 1.5}, "n_candidates=1.5"),
        ({"baseline": 1.0}, r"baseline=1.0 is outside \(0, 1\)"),
        ({"correlation": -0.1}, "correlation=-0.1"),
        ({"quality": {"gold": 1.0}}, "'gold' is the name of the label"),
    ],
)
def test_bad_arguments(keywords, message):
    with pytest.raises(ValueError, match=message):
        datasets.simulate_candidates(**keywords)


@pytest.mark.parametrize("share", [0.0, 1.1, -1])
def test_bad_share(share):
    with pytest.raises(ValueError, match="share="):
        datasets.true_precision(share, quality=1.0)


def test_package_is_named_in_the_warning(candidates):
    """The warning points to the line of the caller."""
    with pytest.warns(rankeval_pd.RankevalWarning, match="footnote 13") as caught:
        candidates.rankeval.compare("good", "fair", threshold={"good": 1.0, "fair": 2.0})
    assert caught[0].filename == __file__
