"""Curves over all cut-offs: the curves, chance and isolines of the tables, areas, crossovers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal as equal

from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from tests.plotting.seen import named, written, xy


@pytest.mark.parametrize(
    ("space", "x", "y"),
    [("roc", "fpr", "tpr"), ("precision_recall", "recall", "precision"),
     ("lift", "share", "lift"), ("gain", "share", "tpr"), ("det", "fpr", "fnr")],
)  # fmt: skip
def test_curves_bands_and_isolines_are_the_tables(two, space, x, y):
    curve = getattr(two.rankeval, space)()
    band = two.rankeval.random_band(space, [0.05, 0.001])
    together = two.rankeval.random_band(space, 0.05, simultaneous=True)
    lines = two.rankeval.isolines([30, 200], space)
    ax = getattr(plotting, space)(curve, bands=[band, together], isolines=lines)
    for label, table in (
        ("good", curve[curve["measure"] == "good"]),
        ("chance 5% at every n", together),
        ("chance 5% at any single n", band[band["p"] == 0.05]),
        ("chance 0.1% at any single n", band[band["p"] == 0.001]),
        ("_n = 30", lines[lines["n"] == 30]),
        ("_n = 200", lines[lines["n"] == 200]),
    ):
        drawn = table[[x, y]]
        if label.startswith("chance") and space in ("roc", "gain", "det"):
            drawn = drawn.dropna()  # no list beyond these can reach the bound, up to the last
            drawn.loc[len(curve)] = 1.0, {"det": 0.0}.get(space, 1.0)
        equal(xy(ax, label), drawn)
    (field,) = ax.collections  # one field, up to the bound that holds for all n together
    equal(np.isin(together[y], field.get_paths()[0].vertices[:, 1]), together[y].notna())
    assert {"30", "200"} <= set(written(ax))
    side = {"det": "above"}.get(space, "below")
    assert f"95% of random orders stay {side} its outer edge at every n" in caption(ax)
    assert f"99.9% of random orders stay {side} the line at any single n" in caption(ax)
    assert ax.get_xscale() == ("function" if space == "det" else "linear")


@pytest.mark.parametrize(("space", "kind"), [("precision_recall", "ap"), ("roc", "roc")])
def test_keys_have_areas(two, space, kind):
    ax = getattr(two.rankeval.plot, space)()
    table = two.rankeval.area(kind)
    areas = {f"{x:.3f}" for x in table["area"]}
    ends = {f"{a:.3f}–{b:.3f}" for a, b in table[["ci_low", "ci_high"]].to_numpy()}
    assert {"good", "poor", "95% interval"} | areas | ends <= set(named(ax))
    assert "confidence intervals, separately for each measure" in caption(ax)
    assert not areas & set(named(getattr(plotting, space)(getattr(two.rankeval, space)())))


def test_crossovers_are_marked_on_the_curve(two):
    runs = two.rankeval.crossovers([0.05, 1e-6])
    curve = two.rankeval.roc()
    ax = plotting.roc(curve, crossovers=runs)
    first = runs.drop_duplicates(["measure", "p"])
    marks = [x.get_xydata()[0] for x in ax.get_lines() if "crossover" in str(x.get_label())]
    places = first.merge(curve, left_on=["measure", "n_first"], right_on=["measure", "n"])
    equal(marks, places[["fpr", "tpr"]])
    assert "Open marks: the first of 2 successive lists above chance" in caption(ax)
    assert f"n = {first['n_first'].iloc[0]}" in written(ax)


def test_what_is_asked_beside_curves_is_checked(two):
    with pytest.raises(ValueError, match=r"crossovers=True needs .* such as bands=0.05"):
        two.rankeval.plot.gain(crossovers=True)
    with pytest.raises(ValueError, match=r"no columns share, lift.*random_band for lift"):
        plotting.lift(two.rankeval.lift(), bands=two.rankeval.random_band())
    with pytest.raises(TypeError, match=r"area=.*stands beside a table"):
        two.rankeval.plot.gain(area=False)


@pytest.mark.full
def test_random_and_ideal_orders_are_drawn(two):
    share = two["gold"].mean()
    heights = xy(two.rankeval.plot.precision_recall(), "random order")[:, 1]
    assert heights == pytest.approx(share, rel=1e-14)
    x, y = xy(plotting.det(two.rankeval.det()), "random order").T
    equal(y, 1 - x)
    x, y = xy(two.rankeval.plot.gain(), "ideal order").T
    assert y == pytest.approx(np.minimum(x / share, 1.0))
    ax = plotting.gain(two.rankeval.gain(), log=True)
    assert ax.xaxis.get_major_formatter()(0.001, 0) == "0.1%"
