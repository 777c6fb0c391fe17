"""Forests: rows of values with intervals, ranks and ties; and repeated samples."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal as equal

from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.forests import _lanes
from rankeval_pd.plotting.look import Ink
from rankeval_pd.stats.families import letters
from tests.plotting.seen import (
    check_ranks,
    check_rows,
    columns,
    line,
    rank_texts,
    rows_of,
    written,
)
from tests.questions import candidates

# ------------------------------------------------------------------------------------------- ranks


def test_ranks_of_measures_are_the_table():
    df = candidates().rename(columns={"_z": "z", "$MI^3$": "MI"})
    table = df.rankeval.measure_ranks(40)
    ax = plotting.measure_ranks(table)
    check_ranks(ax, table, "measure")
    assert 0 < table["tied_for_best"].sum() < 5
    ends = (100 * table[["ci_low", "ci_high"]]).to_numpy()
    assert columns(ax) == {
        "precision": [f"{100 * x:.0f}%" for x in table["value"]],
        "95% interval": [f"{a:.0f}–{b:.0f}%" for a, b in ends],
        "rank": rank_texts(table),
        "n.s.": [],
    }
    assert (
        "adjusted for all 10 pairs by max-t within each pair and Bonferroni across pairs"
    ) in caption(ax)
    assert ax.get_xlabel() == "precision, n = 40"
    with pytest.raises(ValueError, match="ranks of measures but no pairs"):
        plotting.pairs(table)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"adjust": None}, "Rank: 95% interval for the rank, unadjusted."),
        ({"adjust": None, "alpha": 0.2}, "Rank: 80% interval for the rank, unadjusted."),
        ({}, "Rank: 95% interval for the rank, adjusted for all 21 pairs by the"),
    ],
)
def test_ranks_of_systems_are_drawn_best_first(seven, options, words):
    table = seven.rankeval.system_ranks(n_resamples=200, **options)
    table = table.sort_values("rank", kind="stable")
    ax = plotting.system_ranks(table)
    check_ranks(ax, table, "system")
    assert words in caption(ax)
    intervals = "Lines: 95% Clopper–Pearson confidence intervals, for all systems"
    assert intervals in caption(ax)


def test_bars_have_dots_where_a_row_between_is_told_apart():
    """A and C are tied, B and C are not: B stands between them."""
    rng = np.random.default_rng(0)
    a, b = (x - x.mean() for x in rng.normal(size=(2, 100)))
    c = b + 0.15 + (lambda x: x - x.mean())(0.2 * rng.normal(size=100))
    table = pd.DataFrame({"A": a + 0.32, "B": b + 0.3, "C": c}).rankeval.system_ranks()
    ax = plotting.system_ranks(table)
    check_ranks(ax, table, "system")
    assert "only the rows with a dot" in caption(ax)


def test_rows_of_names_are_no_logarithms(seven):
    ax = plt.subplots()[1]
    ax.set_yscale("log")
    assert plotting.system_ranks(seven.rankeval.system_ranks(), ax=ax).get_yscale() == "linear"


@pytest.mark.full
@pytest.mark.parametrize("name", ["measure_ranks", "area", "pairs"])
def test_every_panel_names_its_own_rows(name):
    """The order of the rows differs from group to group, and each panel says its own."""
    frame = candidates(names=3).rename(columns={"_z": "z"})
    turned = frame.rename(columns={"G2": "$MI^3$", "$MI^3$": "G2"})
    both = pd.concat([frame, turned[frame.columns]], keys=["here", "there"], names=["part", "row"])
    asked = {"measure_ranks": {"kind": "roc"}, "pairs": {"n": 100}}.get(name, {})
    panels = getattr(both.rankeval(by="part").plot, name)(**asked)
    orders = []
    for panel, part in zip(panels, (frame, turned[frame.columns]), strict=True):
        alone = getattr(part.rankeval.plot, name)(**asked)
        assert (rows_of(panel), panel.get_ylim()) == (rows_of(alone), alone.get_ylim())
        orders.append(rows_of(panel))
    assert orders[0] == orders[1][::-1]


# ----------------------------------------------------------------------------------- bars of ties


@pytest.mark.parametrize(
    ("size", "seed", "share"),
    [(1, 0, 0.5), (6, 1, 0.0), (40, 5, 0.2), (12, 3, 0.3), (30, 4, 0.5)],
)
def test_lanes_hold_the_letters_and_no_bars_overlap(size, seed, share):
    upper = np.triu(np.random.default_rng(seed).random((size, size)) < share, 1)
    told = upper | upper.T
    lanes = _lanes(letters(told))
    for lane in {lane for lane, _ in lanes}:
        ends = sorted((rows[0], rows[-1]) for own, rows in lanes if own == lane)
        assert all(a[1] < b[0] for a, b in itertools.pairwise(ends))
    for i, j in itertools.combinations(range(size), 2):
        assert any({i, j} <= set(rows) for _, rows in lanes) == (not told[i, j])


# ------------------------------------------------------------------------------------------- areas


def test_forest_of_areas_is_the_table():
    df = candidates(names=3)
    table = df.rankeval.area().sort_values("area", ascending=False)
    ax = plotting.area(table, highlight="G2")
    check_rows(ax, table, "area")
    assert columns(ax) == {
        "AUC": [f"{x:.3f}" for x in table["area"]],
        "95% interval": [f"{a:.3f}–{b:.3f}" for a, b in table[["ci_low", "ci_high"]].to_numpy()],
    }
    assert "random 0.500" in written(ax)
    bright = [to_hex(face) == Ink.of(ax).accent for face in ax.collections[1].get_facecolors()]
    assert bright == (table["measure"] == "G2").tolist()
    bare = plotting.area(df.rankeval.area("ap").drop(columns=["ci_low", "ci_high"]))
    assert bare.get_xlabel() == "average precision"
    assert len(bare.collections) == 1


# ------------------------------------------------------------------------------- repeated samples


def test_repetition_draws_a_panel_a_measure(two):
    samples = pd.concat([two.sample(frac=0.5, random_state=s).assign(part=s) for s in range(12)])
    call = samples.reset_index(drop=True).rankeval(by="part")
    panels = call.plot.repetition(n=40)
    table, rows = call.repetition(n=40), call.repetition_samples(n=40)
    assert [panel.get_title(loc="left") for panel in panels] == table["measure"].tolist()
    for panel, (_, row) in zip(panels, table.iterrows(), strict=True):
        found = rows.loc[rows["measure"] == row["measure"], "precision"]
        bins = [panel.patches[0].get_x(), *(x.get_x() + x.get_width() for x in panel.patches)]
        equal([bar.get_height() for bar in panel.patches], np.histogram(found, bins)[0])
        for name, sd in (("expected by the model", "sd_expected"), ("observed", "sd_observed")):
            x, y = line(panel, name).get_data()
            assert x[np.argmax(y)] == pytest.approx(row["precision"], abs=0.01)
            height = 12 * panel.patches[0].get_width() / (row[sd] * np.sqrt(2 * np.pi))
            assert y.max() == pytest.approx(height, rel=0.01)
        ends = f"{row['phi_low']:.1f}–{row['phi_high']:.1f}"
        assert written(panel) == [
            f"12 samples vary by {100 * row['sd_observed']:.1f} points (sd)",
            f"the model expects {100 * row['sd_expected']:.1f} points",
            f"variance {row['phi']:.1f} times the model's ({ends})",
        ]
    _, axes = plt.subplots(1, 2)
    assert list(call.plot.repetition(n=40, ax=axes)) == list(axes)
    with pytest.raises(ValueError, match=r"ax has 1 Axes for 2 measures. Pass one"):
        call.plot.repetition(n=40, ax=plt.subplots()[1])
    with pytest.raises(ValueError, match="samples and table differ in their measures"):
        plotting.repetition(call.repetition(n=20), rows)
