"""Plans from a pilot: their power is averaged over what the pilot leaves open."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankeval_pd
from rankeval_pd.judging.annotation import _State
from rankeval_pd.stats.two_by_two import Pilot, drawn_laws, fisher_power


def _pilot(tp_a: int, tp_b: int, seen: int = 10, size: int = 200, *, top: bool = False):
    """Return two lists that share nothing, a few of each judged at random or from the top."""
    rng = np.random.default_rng(3)
    gold = np.full((2, size), np.nan)
    for side, tp in enumerate((tp_a, tp_b)):
        where = np.arange(seen)[:: 1 - 2 * side] if top else rng.permutation(size)[:seen]
        gold[side, size - 1 - where if top and side else where] = np.arange(seen) < tp
    score = np.sqrt(np.arange(2.0 * size))
    return pd.DataFrame({"a": -score, "b": score, "gold": gold.ravel()})


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 60))
def test_new_true_positives_are_beta_binomial(tp, fp, n):
    wanted = stats.betabinom.pmf(np.arange(n + 1), n, tp + 0.5, fp + 0.5)
    assert Pilot(tp, tp + fp).law(n) == pytest.approx(wanted, abs=1e-10)


@given(st.integers(1, 12), st.integers(1, 12), st.sampled_from([0.01, 0.05, 0.3]))
def test_each_outcome_is_rejected_as_by_scipys_test(n_a, n_b, alpha):
    found = fisher_power(np.eye(n_a + 1), n_a, np.eye(n_b + 1), n_b, alpha)
    for i, j in np.ndindex(found.shape):
        p_value = stats.fisher_exact([[i, n_a - i], [j, n_b - j]]).pvalue
        if abs(p_value - alpha) > 1e-9:
            assert found[i, j] == (p_value < alpha)


def test_the_assurance_is_the_mean_of_the_power_over_the_posterior():
    """By SciPy's beta-binomial laws, and as the mean over all numbers of true positives."""
    state, more = _State(14, (3, 2), (2, 0), (0.5, 0.5), pilot=True), 11
    law_a = stats.betabinom.pmf(np.arange(6), 5, 2.5, 1.5)
    law_b = stats.betabinom.pmf(np.arange(7), 6, 0.5, 2.5)
    total = sum(
        law_a[i] * law_b[j]
        for i in range(6)
        for j in range(7)
        if stats.fisher_exact([[2 + i, 6 - i], [j, 8 - j]]).pvalue <= 0.05
    )
    assert state.power(0.05, more) == pytest.approx(total, abs=1e-7)
    mean = sum(
        stats.betabinom.pmf(s, 11, 2.5, 1.5)
        * stats.betabinom.pmf(t, 12, 0.5, 2.5)
        * state._replace(precisions=((2 + s) / 14, t / 14), pilot=False).power(0.05, more)
        for s in range(12)
        for t in range(13)
    )
    assert mean == pytest.approx(total, abs=1e-7)
    assert drawn_laws(5, 11, np.array([8.0]))[0] == pytest.approx(
        stats.hypergeom.pmf(np.arange(6), 11, 8, 5), abs=1e-12
    )


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("tp", [(5, 2), (1, 1), (0, 0), (3, 0), (7, 4)])
def test_no_pilot_promises_a_power_for_certain(tp):
    for budget in (None, 60):
        row = _pilot(*tp).rankeval.plan_annotation("a", "b", 200, budget=budget).iloc[0]
        assert 0.0 < row["power"] < 1.0
        assert row["power_low"] < row["power"] < row["power_high"]


def test_a_small_pilot_of_like_precisions_says_that_it_cannot_promise():
    with pytest.warns(rankeval_pd.RankevalWarning, match=r"on average \("):
        row = _pilot(4, 3, size=25).rankeval.plan_annotation("a", "b", 25).iloc[0]
    assert row["n_more"] == 30
    assert row["power"] < 0.8
    given_precisions = _pilot(4, 3).rankeval.plan_annotation("a", "b", 200, precisions=(0.6, 0.2))
    assert given_precisions[["power_low", "power_high"]].isna().all(axis=None)
    assert "power" in rankeval_pd.paper_table(given_precisions, "markdown")


@pytest.mark.full
def test_plans_keep_their_promise_on_average():
    """Precisions from the prior, a pilot of 6 each, a budget of 30: within four errors."""
    rng = np.random.default_rng(5)
    size, seen, new, samples = 60, 6, 15, 4_000
    true = rng.binomial(size, rng.beta(0.5, 0.5, (samples, 2)))
    tp = rng.hypergeometric(true, size - true, seen)
    after = tp + rng.hypergeometric(true - tp, size - seen - true + tp, new)
    outcomes = np.eye(seen + new + 1)
    rejected = fisher_power(outcomes, seen + new, outcomes, seen + new, 0.05)
    promised = np.empty((seen + 1, seen + 1))
    for pilot in np.ndindex(promised.shape):
        promised[pilot] = _State(size, (seen, seen), pilot, (0.5, 0.5), True).power(0.05, 2 * new)
    error = rejected[after[:, 0], after[:, 1]] - promised[tp[:, 0], tp[:, 1]]
    assert abs(error.mean()) < min(0.03, 4.0 * error.std() / np.sqrt(samples))


def test_lists_planned_from_a_pilot_need_no_certainty():
    sure = rankeval_pd.needed_candidates(0.6, 0.3, 0.5)
    assert list(sure) == ["n", "n_judgements", "power"]
    plan = partial(rankeval_pd.needed_candidates, 0.6, 0.3, 0.5, 40)
    pilots = [plan(n_judged=m) for m in (20, 200, 20_000)]
    power, exact = [x["power"][0] for x in pilots], plan()["power"][0]
    assert power[0] < power[1] < power[2]
    assert power[2] == pytest.approx(exact, abs=0.005)
    width = [(x["power_high"] - x["power_low"])[0] for x in pilots]
    assert width[0] > width[1] > width[2]
    # by SciPy's laws: a fifth of 20 is shared in truth, so that the regions have 10 each
    laws = [stats.betabinom.pmf(np.arange(21), 20, x + 0.5, 10.5 - x) for x in (7.5, 1.5)]
    wanted = fisher_power(laws[0][np.newaxis], 20, laws[1][np.newaxis], 20, 0.05)[0, 0]
    assert power[0] == pytest.approx(wanted, abs=1e-10)
    with pytest.raises(ValueError, match="n_judged"):
        rankeval_pd.needed_candidates(0.6, 0.3, 0.5, n_judged=0)


def test_regions_of_which_the_top_was_judged_are_warned_of():
    """As judged_precision warns, of the difference and of the plan."""
    top = _pilot(20, 10, seen=40, top=True).rankeval
    for ask in (top.judged_difference, top.plan_annotation):
        with pytest.warns(rankeval_pd.RankevalWarning, match="not a random sample of the cand"):
            ask("a", "b", 200)
    with pytest.raises(ValueError, match="not a random sample of the list"):
        top.judged_average_precision()
    assert len(top.judged_average_precision(unjudged="bounds")) == 2
    assert len(top.judged_average_precision(windows=[40])) == 2
    with pytest.raises(ValueError, match="groups"):
        top.plan_annotation("a", "b", 200, groups=np.arange(400))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _pilot(20, 10, seen=40).rankeval.judged_difference("a", "b", 200)


def test_tables_and_sentences_of_plans_show_the_range():
    table = rankeval_pd.needed_candidates(0.6, 0.3, 0.5, n_judged=50)
    low, high = (100 * table[name][0] for name in ("power_low", "power_high"))
    assert f"(from {low:.1f}% to {high:.1f}%)" in rankeval_pd.in_words(table)
    assert f"| {low:.1f} | {high:.1f} |" in rankeval_pd.paper_table(table, "markdown")
