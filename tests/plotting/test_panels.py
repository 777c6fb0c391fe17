"""Panels of groups, and what a plot takes: data, finished tables, Axes and roles."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.testing import assert_array_equal as equal

from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from tests.plotting.seen import entries, named, xy
from tests.questions import items


def test_groups_get_panels(two):
    grouped = two.assign(group=np.arange(600) % 3).rankeval(by="group")
    panels = grouped.plot.precision([10, 20], title="all")
    assert [ax.get_title() for ax in panels] == ["group = 0", "group = 1", "group = 2"]
    figure = panels[0].figure
    assert figure.get_suptitle() == "all"
    assert not any(named(ax) or ax.get_legend() for ax in panels)
    (shared,) = figure.legends
    assert entries(shared)[:2] == ["good", "poor"]
    assert caption(panels).count("Bars: 95% Clopper–Pearson") == 1
    table = grouped.nbest_precision([10, 20])
    for number, ax in enumerate(panels):
        rows = table[(table["group"] == number) & (table["measure"] == "good")]
        equal(xy(ax, "good")[:, 1], rows["precision"])


def test_groups_are_drawn_on_the_axes_that_are_given(two):
    grouped = two.assign(group=np.arange(600) % 3).rankeval(by="group")
    _, given = plt.subplots(1, 3)
    assert list(grouped.plot.roc(ax=given)) == list(given)
    with pytest.raises(ValueError, match=r"ax has 2 Axes for 3 groups. Pass one"):
        grouped.plot.roc(ax=given[:2])


def test_a_dimension_of_a_dataset_gets_panels(two):
    sets = [xr.Dataset({c: ("candidate", two[c].to_numpy()[k::3]) for c in two}) for k in (0, 1)]
    batch = xr.concat(sets, "part").rankeval.plot.roc()
    assert [ax.get_title() for ax in batch] == ["part = 0", "part = 1"]


def test_more_panels_than_can_be_read_are_refused_before_anything_is_drawn(two):
    many = two.assign(group=np.arange(600) // 20).rankeval(by="group")
    with pytest.raises(ValueError, match=r"there are 30 groups of group.*24 panels"):
        many.plot.precision([5])
    scores = pd.DataFrame(np.random.default_rng(1).normal(size=(40, 30))).add_prefix("m")
    parts = scores.assign(gold=np.arange(40) % 3 == 0, part=np.arange(40) % 4)
    with pytest.raises(ValueError, match=r"there are 30 measures.*24 panels.*measures=\["):
        parts.rankeval(by="part").plot.repetition(n=5)
    assert not plt.get_fignums()


# ---------------------------------------------------------------------------------------- tables


def test_what_is_asked_of_a_table_is_for_its_method(two):
    table = two.rankeval.nbest_precision([20, 50])
    for args, options, name in (
        ((), {"gold": "gold"}, "gold"), ((), {"level": 0.9}, "level"), ((20,), {}, "n"),
        ((), {"simultaneous": False}, "simultaneous"),
    ):  # fmt: skip
        match = f"{name}=.* is an argument of nbest_precision.*Pass {name} to nbest_precision"
        with pytest.raises(TypeError, match=match):
            plotting.precision(table, *args, **options)
    with pytest.raises(TypeError, match="Unknown keyword 'levle'"):
        plotting.precision(table, levle=0.9)
    assert table.rankeval.plot.precision().get_lines()


def test_a_finished_table_needs_no_more_arguments(two):
    lists, systems = two.rankeval, items().rankeval
    table = lists.tie_sensitivity("good", "poor", [10, 20])
    assert table.rankeval.plot.tie_sensitivity().get_lines()
    assert systems.gain_by_size([20, 40]).rankeval.plot.gain_by_size().get_lines()
    for plot in (lists.plot.tie_sensitivity, systems.plot.gain_by_size):
        with pytest.raises(TypeError, match=r"must be given: call"):
            plot()
