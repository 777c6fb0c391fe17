"""Kappa and alpha: statsmodels, scikit-learn, all pairs of votes, the jackknife, coverage."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from rankeval_pd.stats import clusters as agreement


def alpha_of_pairs(codes):
    """Return alpha from all pairs of votes, as its definition says."""
    units = [column[column >= 0] for column in codes.T]
    units = [u for u in units if u.size > 1]
    observed = sum(
        sum(x != y for x, y in itertools.permutations(u, 2)) / (u.size - 1) for u in units
    )
    votes = np.concatenate(units)
    expected = sum(x != y for x, y in itertools.permutations(votes, 2)) / (votes.size - 1)
    return 1.0 - observed / expected


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 4))
def test_coefficients_equal_statsmodels_and_scikit_learn(seed, annotators, categories):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, 40)
    codes = np.where(
        rng.random((annotators, 40)) < 0.6, truth, rng.integers(0, categories, (annotators, 40))
    )
    counts = np.stack([(codes == k).sum(axis=0) for k in range(categories)], axis=1)
    cohen = agreement.cohen_kappa(codes[0], codes[1], 0.95)
    table = np.zeros((categories, categories))
    np.add.at(table, (codes[0], codes[1]), 1)
    assert cohen.value == pytest.approx(cohen_kappa_score(codes[0], codes[1]), abs=1e-12)
    assert cohen.value == pytest.approx(cohens_kappa(table).kappa, abs=1e-12)
    assert agreement.fleiss_kappa(counts, 0.95).value == pytest.approx(
        fleiss_kappa(counts), abs=1e-12
    )
    holes = np.where(rng.random(codes.shape) < 0.2, -1, codes)
    seen = np.stack([(holes == k).sum(axis=0) for k in range(categories)], axis=1)
    alpha = agreement.krippendorff_alpha(seen, 0.95)
    assert alpha.value == pytest.approx(alpha_of_pairs(holes), abs=1e-12)
    for found in (cohen, alpha):
        assert -1.0 <= found.ci_low <= found.value <= found.ci_high <= 1.0


@pytest.mark.parametrize("share", [0.4, 0.1])
def test_the_interval_is_the_jackknife_of_each_candidate_left_out(share):
    rng = np.random.default_rng(3)
    truth = rng.random(30) < share
    codes = np.where(rng.random((3, 30)) < 0.6 + 0.5 * share, truth, ~truth).astype(int)
    counts = np.stack([(codes == k).sum(axis=0) for k in (0, 1)], axis=1)
    found = agreement.krippendorff_alpha(counts, 0.9)
    left = np.array([agreement.krippendorff_alpha(np.delete(counts, k, 0), 0.9).value
                     for k in range(30)])  # fmt: skip
    squares = (np.arctanh(left) - np.arctanh(left).mean()) ** 2
    error = np.sqrt(29 / 30 * squares.sum())
    freedom = min(1.5 * squares.sum() ** 2 / (squares**2).sum() + 2.0, 29.0)
    half = -special.stdtrit(freedom, 0.05) * error
    z = np.arctanh(found.value)
    assert found.ci_low == pytest.approx(np.tanh(z - half), abs=1e-10)
    assert found.ci_high == pytest.approx(np.tanh(z + half), abs=1e-10)


def test_agreement_at_the_edges():
    same = np.array([0, 1] * 20)
    cohen = agreement.cohen_kappa(same, same, 0.95)
    assert (cohen.value, cohen.ci_high) == (1.0, 1.0)
    # no candidate of 40 apart: the share apart is below 1 - .025^(1/40)
    assert cohen.ci_low == pytest.approx(1 - (1 - 0.025 ** (1 / 40)) / 0.5, abs=1e-12)
    for found in (
        agreement.cohen_kappa(same * 0, same * 0, 0.95),
        agreement.cohen_kappa(same[:1], same[:1], 0.95),
        agreement.fleiss_kappa(np.array([[2, 0], [1, 0]]), 0.95),
        agreement.fleiss_kappa(np.zeros((0, 2), dtype=int), 0.95),
        agreement.krippendorff_alpha(np.zeros((0, 2), dtype=int), 0.95),
    ):
        assert np.isnan([found.value, found.ci_low, found.ci_high]).all()
    lone = same.copy()
    lone[0] = 1
    found = agreement.cohen_kappa(same, lone, 0.95)
    assert -1.0 < found.ci_low < found.value < found.ci_high < 1.0
