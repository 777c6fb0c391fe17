"""Candidates of one list only, and p-values over orders of equal scores."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import rankdata

import rankeval_pd


def test_difference_region_lists_what_compare_counts(tied):
    rows = tied.to_dict("records")
    a, c = ([r["id"] for r in sorted(rows, key=lambda r, m=m: (-r[m], r["id"]))] for m in "ac")
    for n in (1, 6, len(tied)):
        found = tied.rankeval(key="id").difference_region("a", "c", n)
        pd.testing.assert_frame_equal(
            found[tied.columns], tied[tied["id"].isin(set(a[:n]) ^ set(c[:n]))]
        )
        assert list(found.columns) == [*tied.columns, "list", "rank_a", "rank_b"]
        assert found["list"].tolist() == ["a" if i in a[:n] else "b" for i in found["id"]]
        assert found["rank_a"].tolist() == [a.index(i) + 1 for i in found["id"]]
        assert found["rank_b"].tolist() == [c.index(i) + 1 for i in found["id"]]
        counts = tied.rankeval(key="id").compare("a", "c", n).loc[0]
        assert (found["list"] == "a").sum() == counts["n_only_a"]
        assert found.loc[found["list"] == "b", "gold"].sum() == counts["tp_only_b"]


def test_difference_region_keeps_the_dtypes(frame):
    data = frame.assign(
        word=frame.index, when=pd.Timestamp("2020"), part=pd.Categorical(["x", "y"] * 15)
    )
    found = data.rankeval.difference_region("a", "b", 4)
    assert found.dtypes[data.columns].equals(data.dtypes)
    assert found.index.isin(data.index).all()


@pytest.mark.parametrize("name", ["rank_a", "rank_b", "list"])
def test_difference_region_does_not_hide_a_column(frame, name):
    for data in (frame.assign(**{name: 1}), xr.Dataset.from_dataframe(frame.assign(**{name: 1}))):
        with pytest.raises(ValueError, match=rf"data has a column '{name}'"):
            data.rankeval(measures=["a", "b"]).difference_region("a", "b", 4)


def test_whole_lists_have_the_ranks_of_scipy():
    data = rankeval_pd.datasets.simulate_candidates(200).assign(query=["x", "y"] * 100)
    found = data.rankeval(by="query").difference_region(n=7)
    assert list(found.columns) == [*data.columns, "measure", "rank"]
    for (measure, query), part in found.groupby(["measure", "query"]):
        ranks = rankdata(-data.loc[data["query"] == query, measure], "ordinal")
        ranks = pd.Series(ranks, data.index[data["query"] == query], dtype=int)
        wanted = ranks[ranks <= 7].sort_values()
        pd.testing.assert_series_equal(part["rank"], wanted, check_names=False)
    tp = data.rankeval(by="query").nbest_precision(7)["tp"]
    sums = found.groupby(["query", "measure"], sort=False)["gold"].sum()
    assert sums.tolist() == tp.tolist()
    alone = data.rankeval(by="query").difference_region("good", n=7)
    pd.testing.assert_frame_equal(alone, found[found["measure"] == "good"])


def test_whole_lists_of_tied_missing_and_short_rankings(frame):
    data = pd.DataFrame({"m": [1.0, 1.0, np.nan, 2.0]}, index=list("wxyz"))
    listed = data.rankeval(missing="absent").difference_region(n=4)
    assert "y" not in listed.index
    assert listed["rank"].tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="ties='error'"):
        data.rankeval(ties="error", missing="last").difference_region(n=2)
    short = data.dropna().assign(part=["u", "u", "v"]).rankeval(by="part")
    with pytest.warns(rankeval_pd.RankevalWarning, match="1 of 2 groups have fewer than n=2"):
        assert short.difference_region(n=2)["part"].tolist() == ["u", "u"]
    assert len(short.difference_region(n=0.5)) == 2
    lazily = frame.rename_axis("candidate").to_xarray().rankeval(measures=["a", "b"])
    eager = frame.rankeval(measures=["a", "b"]).difference_region(n=3)
    assert lazily.difference_region(n=3)["rank"].to_numpy().tolist() == eager["rank"].tolist()
    with pytest.raises(ValueError, match="n=None: pass the size"):
        frame.rankeval.difference_region("a")
    with pytest.raises(ValueError, match="data has a column 'rank'"):
        frame.assign(rank=1).rankeval(measures="a").difference_region(n=3)
    with pytest.raises(AttributeError, match=r"difference_region\(n=100\)"):
        frame.rankeval.nbest(3)


def test_lists_need_no_gold_label(frame):
    """Neither without one, nor with several flags, grades, or labels that are missing."""
    bare = frame[["a", "b"]]
    partly = frame["gold"].astype(object).where(np.arange(len(frame)) % 3 == 0)
    several = {"x": True, "y": False}
    for columns in ({}, {"gold": partly}, {"gold": False}, several, {"grade": 2}):
        data = bare.assign(**columns)
        for asked in (("a", "b", 4), ("a", None, 4), (None, None, 4)):
            rows = data.rankeval.difference_region(*asked)
            wanted = frame.rankeval(measures=["a", "b"]).difference_region(*asked)
            pd.testing.assert_frame_equal(rows[["a", "b"]], wanted[["a", "b"]])
            pd.testing.assert_frame_equal(rows.iloc[:, -2:], wanted.iloc[:, -2:])
    two = bare.set_axis(pd.MultiIndex.from_tuples([("m", "a"), ("m", "b")]), axis=1)
    assert len(two.rankeval.difference_region(("m", "a"), n=3)) == 3


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_tie_sensitivity_spans_the_orders(tied):
    """With many orders, the least and the largest p-value of all orders; compare's is between."""
    small = tied.iloc[:5]
    found = small.rankeval.tie_sensitivity("a", "b", [2, 3], n_keys=500)
    orders = pd.concat(
        small.assign(id=np.array(order), number=number)
        for number, order in enumerate(permutations(range(5)))
    )
    roles = {"key": "id", "by": "number"}
    every = orders.rankeval(**roles).compare("a", "b", [2, 3]).groupby("n")["p_value"]
    assert found["p_min"].to_numpy() == pytest.approx(every.min().to_numpy())
    assert found["p_max"].to_numpy() == pytest.approx(every.max().to_numpy())
    own = small.rankeval.compare("a", "b", [2, 3])["p_value"]
    assert ((found["p_min"] <= own) & (own <= found["p_max"])).all()
    lists = small.rankeval.nbest_precision([2, 3], measures=["a", "b"]).groupby("n")["tied"].max()
    assert found["cuts_tie"].tolist() == (lists > 0).tolist()


def test_one_key_is_that_of_compare(tied):
    found = tied.rankeval.tie_sensitivity("a", "b", [5], n_keys=1)
    wanted = tied.rankeval.compare("a", "b", 5)["p_value"].tolist()
    assert found[["p_min", "p_median", "p_max"]].to_numpy().tolist() == [wanted * 3]
    with pytest.raises(ValueError, match="n_keys=0: pass a whole number of at least 1"):
        tied.rankeval.tie_sensitivity("a", "b", 5, n_keys=0)


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_lists_that_cut_ties():
    df = rankeval_pd.datasets.simulate_candidates(60, decimals=0)
    found = df.rankeval.compare("good", "fair").set_index("n")["cuts_tie"]
    for n, cut in found.items():
        wanted = False
        for name in ("good", "fair"):
            ranked = df[name].sort_values(ascending=False).to_numpy()
            wanted |= n < 60 and ranked[n - 1] == ranked[n]
        assert cut == wanted
    assert {True, False} == set(found)
