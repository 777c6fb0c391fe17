"""Plans from a pilot: the power that they promise is averaged over what the pilot leaves open."""

from __future__ import annotations

import warnings
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankeval_pd
from rankeval_pd.judging.annotation import _sample_sizes, _State
from rankeval_pd.stats.two_by_two import Pilot, drawn_laws, fisher_power, fisher_test


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
def test_each_outcome_is_rejected_as_by_scipy_s_test(n_a, n_b, alpha):
    found = fisher_power(np.eye(n_a + 1), n_a, np.eye(n_b + 1), n_b, alpha)
    for i in range(n_a + 1):
        for j in range(n_b + 1):
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


@pytest.mark.parametrize("tp", [(5, 2), (1, 1), (0, 0), (7, 4), (3, 0)])
def test_no_pilot_promises_a_power_for_certain(tp):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        for budget in (None, 60):
            row = _pilot(*tp).rankeval.plan_annotation("a", "b", 200, budget=budget).iloc[0]
            assert 0.0 < row["power"] < 1.0
            assert row["power_low"] < row["power"] < row["power_high"]


def test_a_small_pilot_of_like_precisions_says_that_it_cannot_promise():
    with pytest.warns(rankeval_pd.RankevalWarning, match=r"on average \("):
        row = _pilot(4, 3, size=40).rankeval.plan_annotation("a", "b", 40).iloc[0]
    assert row["n_more"] == 60
    assert row["power"] < 0.8
    given_precisions = _pilot(4, 3).rankeval.plan_annotation("a", "b", 200, precisions=(0.6, 0.2))
    assert given_precisions[["power_low", "power_high"]].isna().all(axis=None)
    assert "power" in rankeval_pd.paper_table(given_precisions, "markdown")


def test_plans_keep_their_promise_on_average():
    """Precisions from the prior, a pilot of 6 each, a budget of 30: within four errors."""
    rng = np.random.default_rng(5)
    size, seen, more, samples = 60, 6, 30, 4_000
    true = rng.binomial(size, rng.beta(0.5, 0.5, (samples, 2)))
    tp = rng.hypergeometric(true, size - true, seen)
    left, new = true - tp, more // 2
    after = tp + rng.hypergeometric(left, size - seen - left, new)
    table = fisher_power(np.eye(seen + new + 1), seen + new, np.eye(seen + new + 1), 21, 0.05)
    promised = np.array(
        [
            [
                _State(size, (seen, seen), (i, j), (0.5, 0.5), True).power(0.05, more)
                for j in range(7)
            ]
            for i in range(7)
        ]
    )[tp[:, 0], tp[:, 1]]
    error = table[after[:, 0], after[:, 1]] - promised
    assert abs(error.mean()) < 4.0 * error.std() / np.sqrt(samples)
    assert abs(error.mean()) < 0.03


def test_lists_planned_from_a_pilot_need_no_certainty():
    sure = rankeval_pd.needed_candidates(0.6, 0.3, 0.5)
    assert list(sure) == ["n", "n_judgements", "power"]
    pilots = [
        rankeval_pd.needed_candidates(0.6, 0.3, 0.5, 40, n_judged=m) for m in (20, 200, 20_000)
    ]
    power = [x["power"][0] for x in pilots]
    exact = rankeval_pd.needed_candidates(0.6, 0.3, 0.5, 40)["power"][0]
    assert power[0] < power[1] < power[2]
    assert power[2] == pytest.approx(exact, abs=0.005)
    width = [(x["power_high"] - x["power_low"])[0] for x in pilots]
    assert width[0] > width[1] > width[2]
    # by SciPy's laws: a fifth of 20 is shared in truth, so that the regions have 10 each
    laws = [
        stats.betabinom.pmf(np.arange(21), 20, 10 * p + 0.5, 10 * (1 - p) + 0.5)
        for p in (0.75, 0.15)
    ]
    wanted = fisher_power(laws[0][np.newaxis], 20, laws[1][np.newaxis], 20, 0.05)[0, 0]
    assert power[0] == pytest.approx(wanted, abs=1e-10)
    with pytest.raises(ValueError, match="n_judged"):
        rankeval_pd.needed_candidates(0.6, 0.3, 0.5, n_judged=0)


def test_regions_of_which_the_top_was_judged_are_warned_of():
    """As judged_precision warns, of the difference and of the plan."""
    top = _pilot(20, 10, seen=40, top=True).rankeval
    for ask in (top.judged_difference, top.plan_annotation):
        with pytest.warns(
            rankeval_pd.RankevalWarning, match="not a random sample of the candidates"
        ):
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


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_six_pilots_of_20_labels():
    """Plans took precisions as true: .80 was promised with 339 to 1,414 labels, and .09 held."""
    size, true = 120, (36, 30)
    rng, real, promised, short = np.random.default_rng(32), [], [], []
    for _ in range(6):
        tp = tuple(int(rng.hypergeometric(x, size - x, 10)) for x in true)
        ask = _pilot(*tp, size=size).rankeval(details=True)
        state = _State(size, (10, 10), tp, tuple(x / size for x in true))
        row = ask.plan_annotation("a", "b", size).iloc[0]
        real.append(state.power(0.05, int(row["n_more"])))
        promised.append(row["power"])
        assert 0.0 < row["power"] < 1.0
        assert row["power_low"] - 1e-9 <= real[-1] <= row["power_high"] + 1e-9
        if tp[0] != tp[1] and min(tp) > 0:
            shares = tuple(x / 10 for x in tp)
            plain = ask.plan_annotation("a", "b", size, precisions=shares).iloc[0]
            short.append((plain["power"], state.power(0.05, int(plain["n_more"]))))
    assert any(power >= 0.8 and now < 0.2 for power, now in short), short
    assert min(real) < 0.2 < max(promised)  # so that a promise needs its range


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_plans_from_20_labels_have_the_power_that_they_promise():
    """.80 was promised from 20 labels, and the true power was .68."""
    size, seen, samples = 60, 10, 40_000

    def held(plans, rates):
        """Return what plans promise and how often their tests reject, of all and from .8 on."""
        rng = np.random.default_rng(8)
        true = rng.binomial(size, rng.beta(*rates, (samples, 2)))
        pilot = rng.hypergeometric(true, size - true, seen)
        more, promised = plans[tuple(pilot.T)].T
        judged = np.array([_sample_sizes(int(x), [seen, seen], size) for x in more])
        left = true - pilot
        tp = pilot + rng.hypergeometric(left, size - seen - left, judged - seen)
        test = fisher_test(tp[:, 0], judged[:, 0], tp[:, 1], judged[:, 1], "two-sided")
        rejected, sure = np.asarray(test.p_value) <= 0.05, promised >= 0.8
        return [(promised[x].mean(), rejected[x].mean()) for x in (promised >= 0.0, sure)]

    plans = np.empty((seen + 1, seen + 1, 2))
    naive = np.empty_like(plans)
    for i, j in combinations_with_replacement(range(seen + 1), 2):
        ask = _pilot(i, j, size=size).rankeval(details=True)
        more, power = ask.plan_annotation("a", "b", size)[["n_more", "power"]].iloc[0]
        # the same judgments, if the precisions of the pilot were the true ones
        state = _State(size, (seen, seen), (i, j), (i / seen, j / seen))
        plans[i, j] = plans[j, i] = more, power
        naive[i, j] = naive[j, i] = more, state.power(0.05, int(more))
    for rates in ((0.5, 0.5), (1.0, 1.0)):
        for promised, power in held(plans, rates):
            assert abs(promised - power) < 0.03, rates
        promised, power = held(naive, rates)[1]
        assert promised - power > 0.03, rates
