"""Sizes of lists as shares of the candidates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import rankeval_pd
from rankeval_pd.doors.columns import check_n, least_n

SHARES = [0.1, 0.25, 0.07]


@given(st.integers(1, 10_000), st.integers(1, 100_000))
def test_the_least_n_of_a_share(part, total):
    """In whole numbers: n is the least with 10,000 n >= part * total."""
    part = min(part, 9_999)
    wanted = max(-(-part * total // 10_000), 1)
    assert least_n(part / 10_000, total) == wanted


def test_seven_of_a_hundred():
    assert least_n(0.07, 100) == 7  # 0.07 * 100 is 7.000000000000001
    assert least_n(0.001, 100) == 1


def test_shares_are_the_n_that_they_mean(frame):
    call = frame.rankeval
    asks = {
        "random_bound": {},
        "precision_band": {"n_resamples": 50},
        "tie_sensitivity": {"a": "a", "b": "b", "n_keys": 2},
        "isolines": {},
        "compare": {},
    }
    for method, given_too in asks.items():
        wanted = getattr(call, method)(n=[3, 8], **given_too)
        found = getattr(call, method)(n=SHARES, **given_too)  # 0.1 and 0.07 of 30: lists of 3
        assert list(found.columns) == [*wanted.columns, "share"]
        for share, n in zip(SHARES, (3, 8, 3), strict=True):
            rows = found[found["share"] == share].drop(columns="share").reset_index(drop=True)
            pd.testing.assert_frame_equal(rows, wanted[wanted["n"] == n].reset_index(drop=True))


@pytest.mark.parametrize("method", ["nbest_precision", "random_bound", "compare"])
def test_shares_are_of_each_group(ragged, method):
    found = getattr(ragged.rankeval(by="query"), method)(n=0.25)
    sizes = {"q1": 3, "q2": 3, "q3": 2}  # of 12, 9 and 5
    assert (found["n"] == found["query"].map(sizes)).all()
    for query, n in sizes.items():
        one = ragged[ragged["query"] == query].drop(columns="query")
        wanted = getattr(one.rankeval, method)(n=n)
        rows = found[found["query"] == query].drop(columns=["query", "share"])
        pd.testing.assert_frame_equal(rows.reset_index(drop=True), wanted)


def test_shares_are_a_dimension_of_a_dataset(frame, ragged):
    data = xr.Dataset.from_dataframe(frame)
    found = data.rankeval.nbest_precision(SHARES)
    assert dict(found.sizes) == {"measure": 3, "share": 3}
    assert found["n"].to_numpy().tolist() == [3, 8, 3]
    xr.testing.assert_identical(data.chunk().rankeval.nbest_precision(SHARES).compute(), found)
    padded = ragged.reset_index(names="candidate").set_index(["query", "candidate"]).to_xarray()
    with pytest.raises(ValueError, match=r"lazy Dataset, .* gold labels may be missing"):
        padded.chunk().rankeval.nbest_precision(0.25)


def test_shares_of_ranges_of_regions_and_of_a_number_of_candidates(frame):
    call = frame.rankeval
    region = call.difference_region("a", "b", 0.1)
    pd.testing.assert_frame_equal(region, call.difference_region("a", "b", 3))
    ranges, same = (
        call.significant_ranges("a", "b", n, alpha=0.99)["n_last"] for n in (SHARES, [3, 8])
    )
    assert ranges.tolist() == same.tolist()
    found = rankeval_pd.random_bound_for(0.05, [0.01, 0.07], n_candidates=100, n_positive=20)
    assert found[["n", "share"]].to_numpy().tolist() == [[1, 0.01], [7, 0.07]]


def test_what_is_no_share(frame, ragged):
    with pytest.raises(TypeError, match="mixes shares"):
        frame.rankeval.nbest_precision([0.1, 5])
    for n in (1.0, 0.0, 5.5, -0.5, np.nan):
        with pytest.raises(TypeError, match=r"share of the candidates \(a float between 0 and 1\)"):
            check_n(n)
    with pytest.raises(ValueError, match=r"combine=True with n=0\.1"):
        ragged.rankeval(by="query").random_test(0.1, combine=True)
    with pytest.raises(ValueError, match="needs a finite number of candidates"):
        rankeval_pd.random_bound_for(0.05, 0.1, prior=0.3, population="infinite")
