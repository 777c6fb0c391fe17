"""What two published precisions allow, against SciPy and against compare."""

from __future__ import annotations

import pytest
from scipy.stats import fisher_exact

import rankeval_pd


def _every(tp_a, n_a, tp_b, n_b, alternative="two-sided"):
    """The p-values of all overlaps, by SciPy."""
    return [
        fisher_exact(
            [[tp_a - t, n_a - o - tp_a + t], [tp_b - t, n_b - o - tp_b + t]],
            alternative=alternative,
        ).pvalue
        for o in range(min(n_a, n_b) + 1)
        for t in range(min(o, tp_a, tp_b) + 1)
        if o - t <= min(n_a - tp_a, n_b - tp_b)
    ]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("counts", [(5, 9, 2, 9), (4, 12, 3, 7), (0, 5, 0, 5), (6, 6, 1, 6)])
def test_every_overlap(counts, alternative):
    wanted = _every(*counts, alternative)
    found = rankeval_pd.compare_for(*counts, alternative=alternative).iloc[0]
    assert found["difference"] == pytest.approx(counts[0] / counts[1] - counts[2] / counts[3])
    assert found["p_low"] == pytest.approx(min(wanted), rel=1e-9)
    assert found["p_high"] == pytest.approx(max(wanted), rel=1e-9)


def test_regions_that_are_known():
    df = rankeval_pd.datasets.simulate_candidates(1_000)
    row = df.rankeval.compare("good", "fair", 100).iloc[0]
    tp_a, tp_b = round(100 * row["precision_a"]), round(100 * row["precision_b"])
    shared = tp_a - row["tp_only_a"]
    found = rankeval_pd.compare_for(tp_a, 100, tp_b, 100, overlap=(row["overlap"], shared))
    assert found["p_low"][0] == found["p_high"][0] == row["p_value"]
    around = rankeval_pd.compare_for(tp_a, 100, tp_b, 100, overlap=int(row["overlap"])).iloc[0]
    assert around["p_low"] <= row["p_value"] <= around["p_high"]
    apart = rankeval_pd.compare_for(tp_a, 100, tp_b, 100, overlap=0).iloc[0]
    assert apart["p_low"] == apart["p_high"]


def test_rates_are_counts_but_for_rounding():
    assert 0.57 * 100 != 57
    found = rankeval_pd.compare_for(0.57 * 100, 100, 57, 100)
    assert found["difference"].tolist() == [0.0]
    for wrong in (42.3, -1, 101, float("nan")):
        with pytest.raises(ValueError, match="pass a whole number from 0 to 100"):
            rankeval_pd.compare_for(wrong, 100, 30, 100)
    with pytest.raises(TypeError, match="of type str"):
        rankeval_pd.compare_for("42", 100, 30, 100)
    with pytest.raises(ValueError, match="cannot have this overlap"):
        rankeval_pd.compare_for(42, 100, 30, 100, overlap=(10, 11))
    with pytest.raises(ValueError, match="cannot have this overlap"):
        rankeval_pd.compare_for(42, 100, 30, 100, overlap=99)
    with pytest.raises(ValueError, match="or a pair with the numbers of shared"):
        rankeval_pd.compare_for(42, 100, 30, 100, overlap=(1, 2, 3))
