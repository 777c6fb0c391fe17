"""The random model of averaged ties: exact laws against fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankeval_pd.stats.distributions import Finite, Infinite
from rankeval_pd.stats.random_model import averaged_tails
from tests.conftest import examples


def _enumerated(scores: list[int], gold: list[bool], n: int) -> tuple[Fraction, Fraction]:
    """Return P(mean count >= observed) and P(> observed) over all ways to place the labels."""

    def mean_count(true: set[int]) -> Fraction:
        last = sorted(scores, reverse=True)[n - 1]
        above = [i for i, s in enumerate(scores) if s > last]
        block = [i for i, s in enumerate(scores) if s == last]
        taken = n - len(above)
        inside = sum(i in true for i in block)
        return sum(i in true for i in above) + Fraction(taken * inside, len(block))

    observed = mean_count({i for i, g in enumerate(gold) if g})
    every = [mean_count(set(c)) for c in combinations(range(len(scores)), sum(gold))]
    at_least = Fraction(sum(x >= observed for x in every), len(every))
    return at_least, Fraction(sum(x > observed for x in every), len(every))


@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@given(st.integers(0, 10_000), st.integers(2, 9))
@settings(max_examples=examples(25))
def test_random_model_of_averaged_ties(seed, size):
    """The exact law against all placements of the labels, in fractions."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({"a": rng.integers(0, 3, size), "gold": rng.random(size) < 0.5})
    df["gold"] = df["gold"].astype(bool)
    found = df.rankeval(ties="expected", measures="a").random_test()
    for row in found.itertuples():
        ge, gt = _enumerated(df["a"].tolist(), df["gold"].tolist(), row.n)
        assert row.p_value == pytest.approx(float(ge), rel=1e-11)
        assert row.p_strict == pytest.approx(float(gt), rel=1e-11, abs=1e-15)
        assert row.p_mid == pytest.approx(float(ge + gt) / 2, rel=1e-11)


def test_random_model_of_averaged_ties_in_an_infinite_population():
    """The sum over two independent binomials."""
    z, above, size, taken = 0.3, 4, 6, 3
    t0, t = np.meshgrid(np.arange(above + 1), np.arange(size + 1), indexing="ij")
    law = stats.binom.pmf(t0, above, z) * stats.binom.pmf(t, size, z)
    for tp_above, tp in ((0, 0), (2, 3), (4, 6), (1, 5)):
        observed = tp_above * size + taken * tp
        found = averaged_tails(above, tp_above, size, tp, np.array([taken]), Infinite(z))
        count = t0 * size + taken * t
        assert np.exp(found[0]) == pytest.approx(law[count >= observed].sum(), rel=1e-12)
        assert np.exp(found[1]) == pytest.approx(law[count > observed].sum(), rel=1e-12, abs=1e-16)


def test_averaged_ties_reach_far_tails():
    """Against exact fractions at 1e-100, and the plain law where the block is taken whole."""
    total, positive, above, size, taken = 2000, 200, 100, 30, 12
    tp_above, tp = 80, 20
    observed = tp_above * size + taken * tp
    exact = Fraction(0)
    for t in range(size + 1):
        for t0 in range(above + 1):
            rest = positive - t - t0
            if t0 * size + taken * t >= observed and rest >= 0:
                exact += (
                    math.comb(size, t)
                    * math.comb(above, t0)
                    * math.comb(total - size - above, rest)
                )
    exact /= math.comb(total, positive)
    found = averaged_tails(above, tp_above, size, tp, np.array([taken]), Finite(total, positive))
    log_exact = math.log(exact.numerator) - math.log(exact.denominator)
    assert log_exact < -150
    assert found[0] == pytest.approx(log_exact, abs=1e-10)
    whole = averaged_tails(above, tp_above, size, tp, np.array([size]), Finite(total, positive))
    plain = Finite(total, positive).tails(np.array([100.0]), np.array([130.0]))
    assert whole[0] == pytest.approx(plain.ge[0], rel=1e-11)


@pytest.mark.parametrize("model", [Finite(60.0, 17.0), Infinite(0.3)])
@pytest.mark.parametrize(
    ("above", "tp_above", "size", "tp"),
    [(0, 0, 60, 17), (9, 3, 40, 12), (20, 0, 7, 7), (5, 5, 12, 0)],
)
def test_all_lists_of_a_block_are_each_of_them(model, above, tp_above, size, tp):
    """Together the tails are looked up, and one list alone computes its own."""
    taken = np.arange(1, size + 1)
    together = averaged_tails(above, tp_above, size, tp, taken, model)
    for place, j in enumerate(taken):
        alone = averaged_tails(above, tp_above, size, tp, np.array([j]), model)
        assert together[0][place] == alone[0][0]
        assert together[1][place] == alone[1][0]


def test_best_and_worst_bound_the_p_value(tied):
    best, shared, worst = (
        tied.rankeval(ties=ties, measures="a").random_test()["p_value"]
        for ties in ("best", "shared", "worst")
    )
    assert (best <= shared * (1 + 1e-12)).all()
    assert (shared <= worst * (1 + 1e-12)).all()
