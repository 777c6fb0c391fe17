"""Ranks of systems: by hand, against the significant pairs, and where scores tie or are missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import rankeval_pd
from rankeval_pd.stats import items as resamples
from rankeval_pd.stats import level_of_each
from rankeval_pd.systems.tests import RANK_COLUMNS

pytestmark = pytest.mark.filterwarnings("ignore:.*No interval:rankeval_pd.errors.RankevalWarning")


def test_ranks_of_all_groups_have_the_letters_of_the_family():
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal([0.0, 0.3, 0.9], 1.0, size=(80, 3)), columns=list("abc"))
    data["domain"] = np.repeat(["x", "y"], 40)
    for over, word in (("all", "in all 2 groups"), ("group", "in each group")):
        ask = {"by": "domain", "adjust_over": over, "details": True, "n_resamples": 9_999}
        ranks = rankeval_pd.system_ranks(data, **ask)
        pairs = rankeval_pd.paired_bootstrap(data, adjust="max-t", **ask)
        assert ranks.attrs["family"] == pairs.attrs["family"] == f"all 3 pairs {word}"
        named = ranks.set_index(["domain", "system"])["letters"]
        for row in pairs.itertuples():
            both = (set(named[row.domain, x]) for x in (row.system_a, row.system_b))
            assert bool(set.intersection(*both)) == (row.p_adjusted > 0.05)


def test_large_tables_of_right_and_wrong_draw_from_the_normal_law(monkeypatch):
    rng = np.random.default_rng(9)
    right = pd.DataFrame(rng.random((3_000, 4)) < [0.6, 0.61, 0.62, 0.64], columns=list("abcd"))
    ask = right.rankeval(metric="accuracy")
    drawn = ask.system_ranks(details=True)
    monkeypatch.setattr(resamples, "_NORMAL_ITEMS", 1_000)
    normal = ask.system_ranks(details=True)
    assert normal["letters"].tolist() == drawn["letters"].tolist()
    pairs = ask.paired_bootstrap(adjust="max-t", details=True)
    monkeypatch.setattr(resamples, "_NORMAL_ITEMS", 10**9)
    again = ask.paired_bootstrap(adjust="max-t", details=True)
    np.testing.assert_allclose(pairs["p_adjusted"], again["p_adjusted"], atol=0.02)
    np.testing.assert_allclose(pairs["ci_low"], again["ci_low"], atol=0.002)


def test_ranks_of_equal_systems_and_where_lower_is_better():
    data = pd.DataFrame({"x": [1, 0, 1] * 5, "y": [1, 0, 1] * 5, "z": [0] * 15})
    found = data.rankeval.system_ranks(n_resamples=200)
    assert list(found.columns) == list(RANK_COLUMNS)
    assert found["rank"].tolist() == [1, 1, 3]
    assert found["tied_for_best"].tolist() == [True, True, False]
    turned = data.rankeval(higher_is_better=False).system_ranks(n_resamples=200)
    assert turned[["system", "rank"]].to_numpy().tolist() == [["z", 1], ["x", 2], ["y", 2]]
    assert (turned["ci_low"] <= turned["value"]).all()
    assert (turned["value"] <= turned["ci_high"]).all()
    constant = pd.DataFrame({"a": [2.5] * 40, "b": [1.5] * 40, "c": [1.5] * 40})
    with pytest.warns(rankeval_pd.RankevalWarning, match="No interval"):
        found = constant.rankeval.system_ranks(n_resamples=200)
    assert found["rank"].tolist() == [1, 2, 2]
    assert found["tied_for_best"].tolist() == [True, False, False]
    assert found[["ci_low", "ci_high"]].isna().all(axis=None)


@pytest.mark.filterwarnings("ignore:A system's ratio is based on:rankeval_pd.RankevalWarning")
def test_a_system_without_a_score_ranks_last():
    def ranks(**correct):
        parts = {
            name: pd.DataFrame({"correct": right, "guess": [int(any(right))] * 6})
            for name, right in correct.items()
        }
        data = pd.concat(parts, axis=1)
        return data.rankeval.system_ranks(metric="precision", n_resamples=200)

    none = [0] * 6
    found = ranks(none=none, less=[1, 0, 0, 1, 0, 0], some=[1, 0, 1, 1, 0, 1])
    assert found["rank"].tolist() == [1, 2, 3]
    assert (found["rank_low"] <= found["rank"]).all()
    assert (found["rank"] <= found["rank_high"]).all()
    last = found.iloc[2]
    assert (last["system"], last["tied_for_best"]) == ("none", False)
    assert np.isnan(last["value"])
    found = ranks(x=none, y=none)
    assert found[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 2]] * 2


def summed(sums):
    """Return the mean of three rates, added from the first to the last."""
    rates = sums[..., :3] / sums[..., 3:]
    return (rates[..., 0] + rates[..., 1] + rates[..., 2]) / 3.0


@pytest.mark.filterwarnings("ignore:10 items. scores or differences are skewed")
def test_scores_that_differ_only_by_rounding_are_equal():
    """Rates of .1, .2 and .3 in different orders, and those of a worse system."""
    columns = {}
    for system, counts in {
        "x": (1, 2, 3),
        "y": (3, 2, 1),
        "z": (2, 3, 1),
        "low": (1, 1, 1),
    }.items():
        for name, count in zip("uvw", counts, strict=True):
            columns[system, name] = np.roll(np.repeat([1, 0], [count, 10 - count]), len(columns))
        columns[system, "n"] = np.ones(10, dtype=int)
    items = pd.DataFrame(columns)
    scores = [summed(items[system].sum().to_numpy()) for system in ("x", "y", "z")]
    assert len(set(scores)) == 2  # 0.2 and 0.20000000000000004
    ranks = items.rankeval.system_ranks(metric=summed, details=True, n_resamples=200)
    assert ranks["rank"].tolist() == [1, 1, 1, 4]
    assert ranks["value"].tolist()[:3] == [min(scores)] * 3
    assert "x, y, and z have the highest" in rankeval_pd.in_words(ranks)
    pairs = items.rankeval.paired_bootstrap(metric=summed, n_resamples=200, details=True)
    assert pairs.loc[pairs["system_b"] != "low", "gain"].tolist() == [0.0] * 3


def test_limits_for_all_systems_are_those_of_one_at_the_shared_level():
    rng = np.random.default_rng(2)
    right = pd.DataFrame(rng.random((60, 3)) < [0.5, 0.6, 0.7], columns=list("abc"))
    found = right.rankeval.system_ranks(details=True)
    alone = right.rankeval.system_ranks(level=level_of_each(0.95, 3), details=True)
    for end in ("low", "high"):
        assert_allclose(found[f"ci_{end}"], alone[f"ci_{end}_alone"], rtol=1e-12)
    assert (found["ci_low"] < found["ci_low_alone"]).all()
