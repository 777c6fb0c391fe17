"""Ranks of measures against the tests of all pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from rankeval_pd.stats import ranks as measure_pairs

SAID = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


def _ranks_of(pairs: pd.DataFrame, name: str, better: str) -> tuple[int, int]:
    """Count the significant pairs that a measure wins and loses."""
    mine = pairs[(pairs["measure_a"] == name) | (pairs["measure_b"] == name)]
    found = mine[mine["p_adjusted"] <= 0.05]
    assert found[better].notna().all()
    return 1 + int((found[better] != name).sum()), 4 - int((found[better] == name).sum())


@SAID
def test_ranks_are_those_of_the_pairs(four_measures):
    drawn = {"n": [40, 80], "n_resamples": 599}
    table = four_measures.rankeval.measure_ranks(**drawn)
    pairs = four_measures.rankeval.compare(**drawn, adjust="max-t", adjust_over="n")
    for _, row in table.iterrows():
        of_n = pairs[pairs["n"] == row["n"]]
        assert (row["rank_low"], row["rank_high"]) == _ranks_of(of_n, row["measure"], "better")
        assert row["tied_for_best"] == (row["rank_low"] == 1)
    for over, tests in (("n", 4), ("group", 8)):  # Bonferroni over the measures, or all n too
        ranks = four_measures.rankeval.measure_ranks(**drawn, adjust_over=over)
        for ending, level in (("", 1 - 0.05 / tests), ("_alone", 0.95)):
            precision = four_measures.rankeval.nbest_precision([40, 80], level=level)
            precision = precision.set_index(["measure", "n"])
            mine = ranks.set_index(["measure", "n"]).loc[precision.index]
            assert mine["value"].tolist() == precision["precision"].tolist()
            for limit in ("ci_low", "ci_high"):
                np.testing.assert_allclose(mine[limit + ending], precision[limit])
    assert table["n"].tolist() == [40] * 4 + [80] * 4
    by_value = table.groupby("n")["value"].rank(method="min", ascending=False)
    assert table["rank"].tolist() == by_value.tolist()
    assert table["rank"][:4].is_monotonic_increasing
    assert 0 < table["tied_for_best"].sum() < 8


def test_areas_are_ranked_by_delong(four_measures):
    table = four_measures.rankeval.measure_ranks(kind="roc", adjust="holm")
    for ending, level in (("", 1 - 0.05 / 4), ("_alone", 0.95)):
        area = four_measures.rankeval.area(level=level).set_index("measure").loc[table["measure"]]
        for limit in ("ci_low", "ci_high"):
            np.testing.assert_allclose(table[limit + ending], area[limit], rtol=1e-12)
    pairs = four_measures.rankeval.compare_area(adjust="holm")
    for _, row in table.iterrows():
        wanted = roc_auc_score(four_measures["gold"], four_measures[row["measure"]])
        assert row["value"] == pytest.approx(wanted, rel=1e-12)
        assert (row["rank_low"], row["rank_high"]) == _ranks_of(pairs, row["measure"], "better")


def test_one_measure_and_equal_measures(four_measures):
    one = four_measures.rankeval.measure_ranks(50, measures="x").iloc[0]
    assert one[["rank", "rank_low", "rank_high"]].tolist() == [1, 1, 1]
    same = four_measures[["x", "gold"]].assign(other=four_measures["x"])
    for asked in ({"n": 50}, {"kind": "ap"}, {"kind": "roc"}):
        table = same.rankeval(measures=["x", "other"]).measure_ranks(**asked)
        assert table["rank"].tolist() == [1, 1]
        assert table["rank_high"].tolist() == [2, 2]
        assert table["tied_for_best"].all()


def test_p_values_and_intervals_of_areas_are_those_of_the_largest_difference():
    """As a simulation of Student's joint law has it, from the influences of both classes."""
    rng = np.random.default_rng(3)
    gold = rng.random(400) < 0.3
    influence = rng.normal(size=(3, 400)) + rng.normal(size=400)
    tested = measure_pairs.of_influences(
        np.array([0.8, 0.7, 0.6]), influence, gold, np.ones(400, dtype=bool),
        joint=True, level=0.95,
        score=influence, baseline=None, n_resamples=40_000, most=40_000, seed=1, student=True,
    )  # fmt: skip
    covariance = sum(np.cov(influence[:, x]) / x.sum() for x in (gold, ~gold))
    contrasts = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]])
    error = np.sqrt(np.diag(contrasts @ covariance @ contrasts.T))
    drawn = rng.multivariate_normal(np.zeros(3), covariance, size=400_000) @ contrasts.T
    freedom = min(gold.sum(), (~gold).sum()) - 1
    spread = np.sqrt(rng.chisquare(freedom, size=400_000) / freedom)
    largest = np.abs(drawn / error).max(axis=1) / spread
    observed = np.abs(contrasts @ [0.8, 0.7, 0.6]) / error
    p = [(largest >= z).mean() for z in observed]
    assert tested["p_family"][:, 0] == pytest.approx(p, abs=0.01)
    critical = np.quantile(largest, 0.95)
    assert tested["margin"][:, 0] == pytest.approx(critical * error, rel=0.015)


@SAID
def test_the_family_is_that_of_each_n_or_of_all(four_measures):
    """Bonferroni's factor: six pairs at each n, or at three n together."""
    for over, tests in (("n", 6), ("group", 18)):
        table = four_measures.rankeval(details=True).summary(
            [20, 40, 80], adjust="bonferroni", adjust_over=over
        )
        known = table["p_value"].notna()
        assert known.sum() == 9
        expected = np.minimum(1.0, tests * table["p_value"][known])
        np.testing.assert_allclose(table["p_adjusted"][known], expected, rtol=1e-12)
        assert table.attrs["adjust_over"] == over
    plain = four_measures.rankeval(details=True).summary([20], adjust=None)
    assert "adjust_over" not in plain.attrs
    assert "p_adjusted" not in plain
    assert {"difference_low_alone", "letters"} <= {*table}
    assert "letters" not in four_measures.rankeval(details=True).summary([20], baseline="w")


@SAID
def test_so_many_draws_as_a_pair_needs(four_measures):
    """Six pairs need 119 draws, 6 / 120 being .05."""
    call = four_measures.rankeval(details=True)
    assert len(call.measure_ranks(20, n_resamples=119)) == 4
    with pytest.raises(ValueError, match="n_resamples=118 cannot reach level"):
        call.measure_ranks(20, n_resamples=118)
    assert call.measure_ranks(kind="ap").attrs["n_resamples"] >= 9_999


@SAID
def test_better_than_chance_is_scipys_tail_for_all_measures_and_sizes(four_measures):
    n = [10, 20, 30, 60]
    table = four_measures.rankeval(details=True).summary(n, adjust="holm")
    total, positive = len(four_measures), four_measures["gold"].sum()
    tp = (table["value"] * table["n"]).round()
    p = stats.hypergeom.sf(tp - 1, total, positive, table["n"])
    assert table["better_than_chance"].tolist() == (p * 16 <= 0.05).tolist()
    # the tables of the other corrections, and of more than tp, would differ
    for other in (p * 4, stats.hypergeom.sf(tp, total, positive, table["n"]) * 16):
        assert ((other <= 0.05) != (p * 16 <= 0.05)).any()


@SAID
def test_a_pair_of_average_precisions_has_students_law(four_measures):
    few = four_measures.iloc[np.r_[np.flatnonzero(four_measures["gold"])[:12], 40:200]]
    few = few.drop_duplicates().assign(gold=lambda x: x["gold"] & (x.index < 60))
    table = few.rankeval(details=True).summary().set_index("measure")
    best = table.index[0]
    pairs = few.rankeval(details=True).compare_area(best, kind="ap").set_index("measure_b")
    freedom = min(few["gold"].sum(), (~few["gold"]).sum()) - 1
    p = 2 * stats.t.sf((pairs["difference"] / pairs["se"]).abs(), freedom)
    np.testing.assert_allclose(table["p_value"][pairs.index], p, rtol=1e-10)


def test_ranks_are_of_lists_or_of_a_kind_of_area(four_measures):
    with pytest.raises(ValueError, match="pass exactly one of n="):
        four_measures.rankeval.measure_ranks()
    with pytest.raises(ValueError, match="pass exactly one of n="):
        four_measures.rankeval.measure_ranks(5, kind="ap")
