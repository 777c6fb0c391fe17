"""Candidates of one list only, and p-values over orders of equal scores."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

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
