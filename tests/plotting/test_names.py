"""Names of curves: at their ends, in keys and legends, as they stand, and with room."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.names import EndLabels, Key, spread_apart
from tests.plotting.seen import entries, named, written
from tests.questions import candidates, items

HEIGHTS = st.lists(st.integers(0, 1000).map(float), min_size=1, max_size=12)


@given(HEIGHTS, st.integers(0, 80), st.integers(0, 200), st.integers(0, 1200))
def test_names_stand_as_near_as_they_can(wanted, least, low, room):
    """Order, distance and limits kept, by the least squares of SciPy's isotonic regression."""
    needed = (len(wanted) - 1) * least
    high = float(low + needed + room)
    found = spread_apart(wanted, float(least), float(low), high)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(found[order]) >= least - 1e-9).all()
    assert low - 1e-9 <= found.min() <= found.max() <= high + 1e-9
    steps = np.arange(len(wanted)) * least
    free = isotonic_regression(np.asarray(wanted)[order] - steps).x
    np.testing.assert_allclose(found[order], free.clip(low, low + room) + steps, atol=1e-9)


def test_names_without_room_keep_their_distance():
    assert spread_apart([5.0, 5.0, 5.0], 10.0, 0.0, 12.0).tolist() == [0.0, 10.0, 20.0]


WANTED = ["G2", " _z", r"\$MI^3\$", "random 17%"]


@pytest.mark.parametrize(("layout", "kind"), [("constrained", EndLabels), (None, Key)])
def test_names_stand_at_the_ends_or_in_a_key(layout, kind):
    _, ax = plt.subplots(layout=layout)
    candidates(names=3).rankeval.plot.precision([20, 50], ax=ax)
    assert [type(x) for x in ax.get_children() if isinstance(x, EndLabels | Key)] == [kind]
    assert named(ax) == WANTED
    assert ax.get_legend() is None


def test_a_legend_has_the_names_that_the_ends_have_not():
    ask = candidates(names=3).rankeval.plot.precision
    ax = ask([20, 50], legend=True)
    assert named(ax) == []
    assert entries(ax.get_legend()) == WANTED
    ax = ask([20, 50], legend=False)
    assert (named(ax), ax.get_legend(), ax.figure.legends) == ([], None, [])
    assert "Bars: 95%" in caption(ax)
    with pytest.raises(TypeError, match="legend='left'"):
        ask([20], legend="left")


def test_names_are_written_as_they_stand():
    ax = candidates().rankeval.plot.det(labels={"t": "$t^2$"})
    assert [text.strip() for text in named(ax)[:3]] == ["G2", "_z", r"\$MI^3\$"]
    ax.figure.draw_without_rendering()
    ask = candidates(names=2).rankeval.plot
    assert "$G^2$" in named(ask.det(labels={"G2": "$G^2$"}))


@pytest.mark.parametrize("name", [None, pd.NaT, pd.NA, np.nan])
def test_columns_whose_name_is_missing_or_empty_have_a_name(name):
    ax = candidates(names=2).rename(columns={"G2": ""}).rankeval.plot.gain(legend=True)
    assert entries(ax.get_legend())[0] == "''"
    data = candidates(40, names=2)
    kept = data.set_axis(pd.Index([name, *data.columns[1:]], dtype=object), axis=1)
    assert "nan" in named(plotting.precision(kept))
    first = pd.Index([name, "b", "c"], dtype=object)
    assert "nan" in written(plotting.pairs(items(3).set_axis(first, axis=1)))


def test_a_figure_has_one_legend():
    df = candidates(names=2)
    figure, axes = plt.subplots(1, 2, layout="constrained")
    df.rankeval.plot.roc(ax=axes[0])
    df.rankeval.plot.gain(ax=axes[1], legend=True)
    assert plotting.shared_legend(figure) is not None
    shared = plotting.shared_legend(figure)  # in the place of the first
    assert figure.legends == [shared]
    assert not any(named(ax) or ax.get_legend() for ax in axes)
    assert entries(shared) == ["G2", " _z", "random order", "ideal order"]
    figure.draw_without_rendering()
    assert not any(shared.get_window_extent().overlaps(ax.get_tightbbox()) for ax in axes)
    assert plotting.shared_legend(plt.figure()) is None
