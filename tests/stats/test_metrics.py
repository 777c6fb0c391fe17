"""Metrics from sufficient statistics: sacrebleu's own functions, and definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankeval_pd.stats.items import METRICS, bleu, chrf, chrf_formula


def _bleu_sums(rng: np.random.Generator) -> list[int]:
    sys_len = int(rng.integers(0, 30))
    possible = [max(sys_len - k, 0) for k in range(4)]
    correct = [int(rng.integers(0, t + 1)) for t in possible]
    zero = rng.integers(0, 5)
    correct = [c if k < zero else 0 for k, c in enumerate(correct)]
    return [sys_len, int(rng.integers(1, 40)), *correct, *possible]


def test_bleu_is_sacrebleus():
    """sacrebleu's BLEU.compute_bleu."""
    sacre = pytest.importorskip("sacrebleu.metrics").BLEU
    rng = np.random.default_rng(0)
    sums = np.array([_bleu_sums(rng) for _ in range(500)])
    wanted = [
        sacre.compute_bleu(
            row[2:6].tolist(), row[6:].tolist(), int(row[0]), int(row[1]), "exp"
        ).score
        for row in sums
    ]
    assert np.count_nonzero(wanted) > 200
    np.testing.assert_allclose(bleu(sums), wanted, rtol=1e-12)
    np.testing.assert_array_equal(bleu(sums.reshape(5, 100, 10)), bleu(sums).reshape(5, 100))


def test_chrf_is_sacrebleus():
    """sacrebleu's CHRF, with word bigrams."""
    sacre = pytest.importorskip("sacrebleu.metrics").CHRF(char_order=6, word_order=2)
    rng = np.random.default_rng(1)
    hyp, ref = rng.integers(0, 20, (2, 300, 8))
    match = rng.integers(0, np.minimum(hyp, ref) + 1)
    sums = np.stack([hyp, ref, match], axis=-1).reshape(300, 24)
    wanted = [sacre._compute_f_score(row.tolist()) for row in sums]
    np.testing.assert_allclose(chrf(sums), wanted, rtol=1e-12)
    assert chrf(np.zeros(24)) == 0.0
    assert chrf_formula(2).statistics == ("hyp_1", "ref_1", "match_1", "hyp_2", "ref_2", "match_2")


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_definitions(correct, more_guess, more_gold, sure):
    guess, gold = correct + more_guess, correct + more_gold
    precision = METRICS["precision"].score(np.array([correct, guess]))
    recall = METRICS["recall"].score(np.array([correct, gold]))
    f1 = METRICS["f1"].score(np.array([correct, guess, gold]))
    assert np.isnan(precision) == (guess == 0)
    assert np.isnan(recall) == (gold == 0)
    assert np.isnan(f1) == (guess + gold == 0)
    if correct:
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall), rel=1e-14)
    aer = METRICS["aer"].score(np.array([sure + correct, guess, correct, guess]))
    assert np.isnan(aer) == (guess + sure + correct == 0)


def test_aer_of_och_and_ney():
    """|A & S| = 3 and |A & P| = 5 of |A| = 6 links and |S| = 4 sure ones: 1 - 8/10."""
    assert METRICS["aer"].score(np.array([4, 6, 3, 5])) == pytest.approx(0.2, rel=1e-14)
    assert not METRICS["aer"].higher_is_better


@pytest.mark.parametrize("name", METRICS)
def test_vectorised_over_leading_axes(name):
    width = len(METRICS[name].statistics)
    sums = np.random.default_rng(2).integers(5, 60, (3, 4, width)).astype(float)
    found = METRICS[name].score(sums)
    assert found.shape == (3, 4)
    for at in np.ndindex(3, 4):
        np.testing.assert_array_equal(found[at], METRICS[name].score(sums[at]))
