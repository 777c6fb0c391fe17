"""Ranks of measures against the tests of all pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

import rankeval_pd
from rankeval_pd.stats import areas as early
from rankeval_pd.stats import ranks as measure_pairs
from rankeval_pd.stats.ranking import Ranking


@pytest.fixture(scope="module")
def candidates() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    gold = rng.random(600) < 0.2
    common = rng.normal(size=600)
    scores = {
        name: quality * gold + common + rng.normal(size=600)
        for name, quality in [("w", 0.2), ("x", 2.5), ("y", 2.4), ("z", 1.2)]
    }
    return pd.DataFrame({**scores, "gold": gold})


def _ranks_of(pairs: pd.DataFrame, name: str, better: str) -> tuple[int, int]:
    """Count the significant pairs that a measure wins and loses."""
    mine = pairs[(pairs["measure_a"] == name) | (pairs["measure_b"] == name)]
    found = mine[mine["p_adjusted"] <= 0.05]
    assert found[better].notna().all()
    return 1 + int((found[better] != name).sum()), 4 - int((found[better] == name).sum())


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
def test_ranks_are_those_of_the_pairs(candidates):
    table = candidates.rankeval.measure_ranks([60, 100])
    pairs = candidates.rankeval.compare(n=[60, 100], adjust="max-t", adjust_over="n")
    for _, row in table.iterrows():
        of_n = pairs[pairs["n"] == row["n"]]
        assert (row["rank_low"], row["rank_high"]) == _ranks_of(of_n, row["measure"], "better")
        assert row["tied_for_best"] == (row["rank_low"] == 1)
    for over, tests in (("n", 4), ("group", 8)):  # Bonferroni over the measures, or all n too
        ranks = candidates.rankeval.measure_ranks([60, 100], adjust_over=over)
        for ending, level in (("", 1 - 0.05 / tests), ("_alone", 0.95)):
            precision = candidates.rankeval.nbest_precision([60, 100], level=level)
            precision = precision.set_index(["measure", "n"])
            mine = ranks.set_index(["measure", "n"]).loc[precision.index]
            assert mine["value"].tolist() == precision["precision"].tolist()
            for limit in ("ci_low", "ci_high"):
                np.testing.assert_allclose(mine[limit + ending], precision[limit])
    assert table["n"].tolist() == [60] * 4 + [100] * 4
    by_value = table.groupby("n")["value"].rank(method="min", ascending=False)
    assert table["rank"].tolist() == by_value.tolist()
    assert table["rank"][:4].is_monotonic_increasing
    assert set(table.loc[table["tied_for_best"], "measure"]) == {"x", "y"}


def test_areas_are_ranked_by_delong(candidates):
    table = candidates.rankeval.measure_ranks(kind="roc", adjust="holm")
    for ending, level in (("", 1 - 0.05 / 4), ("_alone", 0.95)):
        area = candidates.rankeval.area(level=level).set_index("measure").loc[table["measure"]]
        for limit in ("ci_low", "ci_high"):
            np.testing.assert_allclose(table[limit + ending], area[limit], rtol=1e-12)
    pairs = candidates.rankeval.compare_area(adjust="holm")
    for _, row in table.iterrows():
        wanted = roc_auc_score(candidates["gold"], candidates[row["measure"]])
        assert row["value"] == pytest.approx(wanted, rel=1e-12)
        assert (row["rank_low"], row["rank_high"]) == _ranks_of(pairs, row["measure"], "better")


def test_the_largest_of_all_differences(candidates):
    """Adjusted p-values of areas against SciPy's multivariate t."""
    scores = candidates[["x", "y", "z"]].to_numpy().T
    gold = candidates["gold"].to_numpy()
    here = np.ones(gold.shape, bool)
    found = early.influences(Ranking.of(scores, gold, here))
    tested = measure_pairs.of_influences(
        found.value, found.influence, gold, here, joint=True, level=0.95,
        score=scores, baseline=None, n_resamples=40_000, most=40_000, seed=1,
    )  # fmt: skip
    covariance = sum(np.cov(found.influence[:, part]) / part.sum() for part in (gold, ~gold))
    contrast = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]])
    of_pairs = contrast @ covariance @ contrast.T
    root = np.sqrt(np.diag(of_pairs))
    z = np.abs(contrast @ found.value) / root
    freedom = min(gold.sum(), (~gold).sum()) - 1
    law = stats.multivariate_t(
        shape=of_pairs / np.outer(root, root), df=freedom, allow_singular=True, seed=3
    )
    for value, p in zip(z, tested["p_family"][:, 0], strict=True):
        inside = law.cdf([value] * 3, lower_limit=[-value] * 3)
        assert p == pytest.approx(1 - inside, abs=0.01)


def test_average_precision_is_scikit_learns(candidates):
    table = candidates.rankeval.measure_ranks(kind="ap").set_index("measure")
    for name, row in table.iterrows():
        wanted = average_precision_score(candidates["gold"], candidates[name])
        assert row["value"] == pytest.approx(wanted, rel=1e-12)
        assert row["ci_low"] < wanted < row["ci_high"]


def test_groups_and_datasets(candidates):
    both = pd.concat([candidates, candidates.iloc[:300]], keys=["all", "half"], names=["part", "i"])
    table = both.rankeval.measure_ranks(50, by="part")
    assert table.groupby("part")["rank"].min().tolist() == [1, 1]
    alone = candidates.iloc[:300].rankeval.measure_ranks(50)
    mine = table[table["part"] == "half"].drop(columns="part").reset_index(drop=True)
    assert mine["value"].tolist() == alone["value"].tolist()
    ds = xr.Dataset.from_dataframe(candidates.rename_axis("candidate"))
    found = ds.rankeval.measure_ranks(50)
    frame = candidates.rankeval.measure_ranks(50).set_index("measure")
    assert found["rank_high"].sel(n=50).to_series().to_dict() == frame["rank_high"].to_dict()
    assert found["value"].dims == ("measure", "n")


def test_one_measure_and_equal_measures(candidates):
    one = candidates.rankeval.measure_ranks(50, measures="x").iloc[0]
    assert one[["rank", "rank_low", "rank_high"]].tolist() == [1, 1, 1]
    same = candidates[["x", "gold"]].assign(other=candidates["x"])
    for asked in ({"n": 50}, {"kind": "ap"}, {"kind": "roc"}):
        table = same.rankeval(measures=["x", "other"]).measure_ranks(**asked)
        assert table["rank"].tolist() == [1, 1]
        assert table["rank_high"].tolist() == [2, 2]
        assert table["tied_for_best"].all()


def test_bad_input(candidates):
    with pytest.raises(ValueError, match="pass either"):
        candidates.rankeval.measure_ranks()
    with pytest.raises(ValueError, match="pass either"):
        candidates.rankeval.measure_ranks(5, kind="ap")
    with pytest.raises(ValueError, match="kind='auc' is not one of"):
        candidates.rankeval.measure_ranks(kind="auc")
    with pytest.raises(ValueError, match=r"n_resamples=50 cannot reach level=0\.95"):
        candidates.rankeval.measure_ranks(5, n_resamples=50)


@pytest.mark.full
def test_all_ranks_cover_together():
    """Twelve equal measures, a few samples: a false pair in more than a fifth would be chance no
    more (p < 1e-4 at 5 %).
    """
    rng = np.random.default_rng(8)
    wrong = 0
    for _ in range(40):
        gold = rng.random(300) < 0.3
        scores = {f"m{k}": gold + rng.normal(size=300) for k in range(12)}
        df = pd.DataFrame({**scores, "gold": gold})
        table = rankeval_pd.measure_ranks(df, kind="roc", n_resamples=999)
        wrong += (table["rank_low"] > 1).any()
    assert wrong <= 8


def test_simultaneous_intervals_of_areas_are_those_of_the_largest_difference():
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
    critical = np.quantile(np.abs(drawn / error).max(axis=1) / spread, 0.95)
    assert tested["margin"][:, 0] == pytest.approx(critical * error, rel=0.015)
