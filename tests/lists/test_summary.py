"""One table with what a verdict needs, and its sentences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

import rankeval_pd


def test_the_parts_are_those_of_the_single_methods(four_measures):
    table = four_measures.rankeval.summary(100)
    ranks = four_measures.rankeval.measure_ranks(100)
    assert table["measure"].tolist() == ranks["measure"].tolist()
    for name in ("value", "ci_low", "ci_high", "rank_low", "rank_high", "tied_for_best"):
        assert table[name].tolist() == ranks[name].tolist()
    best = table["measure"][0]
    pairs = four_measures.rankeval.compare(n=100, adjust="max-t", target="nbest")
    assert pairs.attrs["n_resamples"] == table.attrs["n_resamples"]
    pairs = pairs.set_index(["measure_a", "measure_b"])
    for _, row in table.iloc[1:].iterrows():
        forth = (row["measure"], best) in pairs.index
        pair = pairs.loc[(row["measure"], best) if forth else (best, row["measure"])]
        sign = 1 if forth else -1
        assert row["difference"] == pytest.approx(sign * pair["difference"])
        assert row["p_adjusted"] == pair["p_adjusted"]
        wanted = (pair["ci_low"], pair["ci_high"]) if forth else (-pair["ci_high"], -pair["ci_low"])
        assert (row["difference_low"], row["difference_high"]) == pytest.approx(wanted)


def test_differences_are_from_the_baseline(four_measures):
    table = four_measures.rankeval.summary(100, baseline="z").set_index("measure")
    assert table.loc["z", "difference"] == 0
    assert np.isnan(table.loc["z", "p_adjusted"])
    value = table["value"]
    assert table["difference"].to_numpy() == pytest.approx((value - value["z"]).to_numpy())
    with pytest.raises(KeyError, match="baseline: no column 'q'"):
        four_measures.rankeval.summary(100, baseline="q")


def test_a_summary_without_n_is_of_average_precision(four_measures):
    for _, row in four_measures.rankeval.summary().iterrows():
        wanted = average_precision_score(four_measures["gold"], four_measures[row["measure"]])
        assert row["value"] == pytest.approx(wanted, rel=1e-12)
        assert row["ci_low"] < wanted < row["ci_high"]


def test_a_summary_of_systems_is_that_of_paired_tests():
    rng = np.random.default_rng(1)
    ease = rng.normal(size=200)
    quality = {"a": 0.0, "b": 1.0, "c": 0.9}
    items = pd.DataFrame({s: ease + q + rng.normal(size=200) for s, q in quality.items()})
    items = items.rename_axis(columns="system")
    table = items.rankeval(metric="mean").summary()
    pairs = items.rankeval.paired_bootstrap(metric="mean", adjust="max-t", progress=False)
    assert table["system"][0] == "b"
    worst = table.set_index("system").loc["a"]
    pair = pairs[(pairs["system_a"] == "b") & (pairs["system_b"] == "a")].iloc[0]
    assert worst["difference"] == -pair["gain"]
    assert worst["p_adjusted"] == pair["p_adjusted"]
    assert worst["difference_low"] == -pair["ci_high"]
    assert worst["difference_high"] == -pair["ci_low"]
    assert rankeval_pd.in_words(table).startswith("b has the highest mean score (")
    with pytest.raises(ValueError, match="have no n-best lists"):
        items.rankeval(metric="mean").summary(5)


def test_ties_that_lists_cut_are_told():
    scores = {"fine": np.sqrt(np.arange(40)), "coarse": np.arange(40) // 10}
    frame = pd.DataFrame({**scores, "gold": np.arange(40) % 3 > 0})
    for table in (frame.rankeval.summary([12, 20]), frame.rankeval.measure_ranks([12, 20])):
        assert "tied" in table
        told = table.set_index(["measure", "n"])["tied"]
        assert told.to_dict() == {
            ("fine", 12): 0, ("coarse", 12): 8, ("fine", 20): 0, ("coarse", 20): 0
        }  # fmt: skip
    assert "tied" not in frame.rankeval.summary()


def test_lists_that_are_worse_than_chance_say_so(four_measures):
    """Distances that nobody turned round look like a measure that fails."""
    distance = four_measures[["z", "gold"]].assign(distance=-four_measures["z"])
    for method, argument in [("summary", 100), ("measure_ranks", 100), ("enrichment", 0.5)]:
        with pytest.warns(
            rankeval_pd.RankevalWarning,
            match="in 1 of 2 lists, there are significantly fewer .*lower_is_",
        ):
            getattr(distance.rankeval, method)(argument)
    turned = distance.rankeval(lower_is_better="distance", measures=["z", "distance"])
    first, second = turned.summary(100)["value"]
    assert first == second
