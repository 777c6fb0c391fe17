"""Which tests are one family, and what adjusts them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from statsmodels.stats import multitest

import rankeval_pd


@pytest.fixture(scope="module")
def queries() -> pd.DataFrame:
    """Queries of two sizes, in which no measure says anything."""
    rng = np.random.default_rng(8)
    sizes = rng.choice([30, 40], 50)
    number = np.repeat(np.arange(50), sizes)
    return pd.DataFrame(
        {
            "query": number,
            "a": rng.normal(size=number.size),
            "b": rng.normal(size=number.size),
            "gold": rng.random(number.size) < 0.4,
        }
    )


@pytest.mark.filterwarnings("ignore:area. a class has:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    ("method", "name"),
    [("bonferroni", "bonferroni"), ("by", "fdr_by"), ("bh", "fdr_bh"), ("holm", "holm")],
)
def test_all_groups_are_one_family_or_each_is_as_in_statsmodels(queries, method, name):
    call = queries[queries["query"] < 10].rankeval(by="query")
    found = call.compare("a", "b", [5, 10, 15], adjust=method)
    wanted = multitest.multipletests(found["p_value"], method=name)[1]
    assert_allclose(found["p_adjusted"], wanted, rtol=1e-12)
    area = call.compare_area("a", "b", adjust=method)
    wanted = multitest.multipletests(area["p_value"], method=name)[1]
    assert_allclose(area["p_adjusted"], wanted, rtol=1e-12)
    alone = call.compare("a", "b", [5, 10, 15], adjust=method, adjust_over="group")
    one = alone[alone["query"] == 7]
    wanted = multitest.multipletests(one["p_value"], method=name)[1]
    assert_allclose(one["p_adjusted"], wanted, rtol=1e-12)


def test_swaps_over_groups_and_pairs(queries):
    few = queries[queries["query"] < 4]
    call = few.rankeval(by="query")
    alone = call.compare("a", "b", [5, 10], adjust="max-t", adjust_over="group")
    found = call.compare("a", "b", [5, 10], adjust="max-t")
    assert found.attrs["n_resamples"] == 999
    ordered = alone.sort_values("p_adjusted", kind="stable")
    last = ordered["query"].drop_duplicates(keep="last").index
    waiting = [np.isin(last, ordered.index[k:]).sum() for k in range(len(ordered))]
    step = np.maximum.accumulate(ordered["p_adjusted"].to_numpy() * waiting).clip(max=1)
    assert max(waiting) == 4
    np.testing.assert_allclose(found["p_adjusted"][ordered.index], step, rtol=1e-12)


def test_as_many_swaps_as_the_family_needs(queries):
    part = queries[queries["query"] < 30]
    found = part.rankeval(by="query").compare("a", "b", 5, adjust="max-t", details=True)
    assert (found["p_adjusted"] == 1.0).all()  # far from alpha: the first swaps decide
    assert found.attrs["n_resamples"] == 999
    gold, first = part["gold"].astype(float), part["query"] == 0
    worst = part.assign(a=part["a"].mask(first, gold), b=part["b"].mask(first, -gold))
    p = worst.rankeval(by="query").compare("a", "b", 5, adjust="max-t")["p_adjusted"].min()
    near = worst.rankeval(by="query").compare("a", "b", 5, adjust="max-t", alpha=p)
    assert p < 1.0
    assert near.attrs["n_resamples"] > 999
    with pytest.raises(ValueError, match=r"30 pairs in all groups.*n_resamples=599"):
        part.rankeval(by="query").compare("a", "b", 5, adjust="max-t", n_resamples=598)


def test_families_in_words():
    df = rankeval_pd.datasets.simulate_candidates(300)
    df["third"], df["part"] = df["good"] + df["fair"], np.arange(300) % 2
    call = df.rankeval(measures=["good", "fair", "third"])
    asked = {"n": [20, 40], "adjust": "holm"}
    assert call.compare(**asked).attrs["family"] == "all 3 pairs at 2 sizes"
    assert "family" not in call.compare(n=[20, 40]).attrs
    found = call.compare(**asked, adjust_over="n", by="part").attrs["family"]
    assert found == "all 3 pairs at each n in all 2 groups"
    found = call.compare("good", ["fair"], **asked, adjust_over="group", by="part")
    assert found.attrs["family"] == "1 comparison with good at 2 sizes in each group"
    assert call.compare("good", "fair", n=None, adjust="bh").attrs["family"] == "1 pair at every n"
    assert call.measure_ranks(20, by="part").attrs["family"] == "all 3 pairs in each group"
