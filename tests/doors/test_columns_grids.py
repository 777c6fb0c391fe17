"""Lists of many candidates: their grid of n, in bands and in what is judged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd.doors import columns as grids

pytestmark = pytest.mark.filterwarnings("ignore:precision reaches:rankeval_pd.RankevalWarning")


@pytest.fixture
def few(monkeypatch):
    """Return 1,000 candidates, and call more than 100 of them many."""
    monkeypatch.setattr(grids, "_EVERY", 100)
    return rankeval_pd.datasets.simulate_candidates(1_000)


def test_a_grid_of_n_has_the_small_ones_and_the_last(few):
    grid, facts = grids.few_or(None, np.arange(1, 1_000_001))
    assert grid[:50].tolist() == list(range(1, 51))
    assert grid[-1] == 1_000_000
    assert (np.diff(grid) > 0).all()
    assert (grid[1:] / grid[:-1])[200:].max() < 1.02
    assert facts == {"n_grid": grid.size}
    assert grids.few_or(None, np.arange(1, 101)) == (None, {})
    every = np.arange(1, 1_001)
    assert grids.few_or(np.array([3]), every) == (every, {})


@pytest.mark.parametrize("value", ["recall", "difference", "precision"])
def test_bands_say_their_grid(few, value):
    name = "difference_band" if value == "difference" else "precision_band"
    of = {"of": "recall"} if value == "recall" else {}
    found = getattr(few.rankeval, name)(n_resamples=99, **of)
    n = found["n"].unique()
    assert found.attrs["n_grid"] == n.size < 1_000
    assert f"{n.size} values of n" in rankeval_pd.in_words(found)
    asked = getattr(few.rankeval, name)(n=n.tolist(), n_resamples=99, **of)
    assert "n_grid" not in asked.attrs
    assert (found[value] == asked[value]).all()
    # the same law, drawn otherwise: the quantile of 99 draws has some error
    widths = [(x["band_high"] - x["band_low"]).sum() for x in (found, asked)]
    assert widths[0] == pytest.approx(widths[1], rel=0.2)


def test_judged_lists_have_the_grid_and_the_same_numbers(few):
    few = few.assign(gold=few["gold"].astype("boolean").where(np.arange(1_000) % 3 == 0))
    found = few.rankeval.judged_recall(None)
    n = found["n"].unique()
    assert found.attrs["n_grid"] == n.size < 1_000
    assert f"{n.size} values of n" in rankeval_pd.in_words(found)
    pd.testing.assert_frame_equal(found, few.rankeval.judged_recall(n.tolist()))
