"""Bounds and laws of random lists at the ends of what floats can tell."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


def test_beyond_one_half_the_interpolated_band_ends(df):
    band = df.rankeval.random_band(bound="interpolated", p=0.5)
    for name in ("fpr", "tpr"):
        values = band[name].dropna()
        assert values.between(0.0, 1.0).all()


@pytest.mark.parametrize("least", [1e-306, 1e-320, 5e-324])
def test_levels_down_to_the_last_number(df, least):
    bound = df.rankeval.random_bound(least)
    envelope = df.rankeval.random_envelope(least)
    most = np.minimum(bound["n"], df["gold"].sum())
    assert (bound["critical"] == most + 1).all()
    assert not bound["attainable"].any()
    assert not envelope["attainable"].any()  # all forty in one order: 1.6e-11 at least


@pytest.mark.parametrize("least", [1e-300, 5e-324])
def test_bounds_of_every_n_at_the_last_levels(least):
    data = pd.DataFrame({"gold": [True] * 300 + [False] * 300})
    every, some = data.rankeval.random_bound(least), data.rankeval.random_bound(least, n=[200, 290])
    at = every.set_index("n").loc[[200, 290], "critical"]
    assert at.tolist() == some["critical"].tolist()


def test_averages_over_all_orders_have_no_p_above_one():
    data = pd.DataFrame({"x": [1.0] * 15, "gold": [True, False, False] * 5})
    table = data.rankeval.random_test(ties="expected")
    assert table["p_value"].le(1.0).all()
    assert table["log10_p"].le(0.0).all()


def test_distributions_of_many_lists_are_those_of_each(df, monkeypatch):
    monkeypatch.setattr("rankeval_pd.chance.bounds._LISTS_AT_ONCE", 7)
    every = df.rankeval.random_cdf(range(1, 41)).set_index("n")
    for n in (1, 17, 40):
        alone = df.rankeval.random_cdf(n).set_index("n")
        pd.testing.assert_frame_equal(every.loc[[n]], alone, check_exact=True)
