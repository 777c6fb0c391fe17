"""Pictures of little, of odd names and at impossible levels."""

from __future__ import annotations

import pandas as pd
import pytest
import xarray as xr


@pytest.mark.parametrize(
    ("alpha", "error", "message"),
    [(0, ValueError, "alpha=0"), ("x", TypeError, "alpha='x'"), (5e-324, MemoryError, "draws")],
)
def test_pictures_at_impossible_levels(df, alpha, error, message):
    with pytest.raises(error, match=message):
        df.rankeval.plot.comparison("x", "y", [5], alpha=alpha)


@pytest.mark.full
def test_pictures_of_lists_that_end_with_blocks():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ds = xr.Dataset(
        {"x": (("query", "candidate"), [[0.0]]), "gold": (("query", "candidate"), [[1]])}
    )
    pyplot.close(ds.rankeval.plot.precision(ties="blocks").figure)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_logarithmic_axes_with_nothing_to_stretch_over():
    """One gain of all but .1, no precision above 0, and counts from 0 on."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, places = pyplot.subplots(1, 3)
    for ax in places:
        ax.set_xscale("log")
        ax.set_yscale("log")
    systems = pd.DataFrame({"y": [0, 1], "id": [1.0, 0.2]})
    systems.rankeval.plot.gain_by_size([2], n_resamples=50, ax=places[0])
    lone = pd.DataFrame({"z": [2.5], "gold": [False]})
    lone.rankeval.plot.random_bound(ax=places[1])
    repeated = pd.DataFrame({"q": range(9), "gold": [True, False, True] * 3, "s": [0, 1, 2] * 3})
    repeated.rankeval.plot.repetition(n=2, measures=["q"], by="s", ax=places[2])
    figure.canvas.draw()
    assert all(0.0 < low < high for low, high in (ax.get_ylim() for ax in places))
    pyplot.close(figure)


@pytest.mark.full
def test_names_with_characters_that_no_font_has(df):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = df.rename(columns={"x": "a\x00b"}).rankeval.plot.roc()
    axes.figure.canvas.draw()
    pyplot.close(axes.figure)
