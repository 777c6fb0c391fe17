"""Plots of two measures over n: curves, strips of significant n, differences, and broken ties."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal as equal
from numpy.testing import assert_equal

from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.look import mixed_color
from tests.plotting.seen import limits, line, segments, written, xy
from tests.questions import candidates


def marked(ax, n) -> dict:
    """Return which n the bars of the strip cover, by row, height and color."""
    found: dict = {}
    for bars in ax.figure.axes[1].collections:
        for path in bars.get_paths():
            (left, low), (right, high) = path.get_extents().get_points()
            key = int((low + high) / 2), round(high - low, 2), to_hex(bars.get_facecolor()[0])
            hits = found.setdefault(key, np.zeros(len(n), dtype=bool))
            hits |= ((n > left) & (n < right)).to_numpy()
    return found


def to_mark(ax, table, *findings, row=None) -> dict:
    """Return what is to be marked: pale bars for each n alone, full ones for all n together."""
    rows: dict = {}
    for kind, hits in enumerate(findings):
        for side, ahead in (("a", table["difference"] > 0), ("b", table["difference"] < 0)):
            color = line(ax, table[f"measure_{side}"].iloc[0]).get_color()
            place = (1 - kind, 0.6) if row is None else (row, (0.6, 0.36)[kind])
            covered = np.asarray(hits) & ahead.to_numpy()
            if covered.any():
                rows[(*place, mixed_color(color, "white", (0.45, 1.0)[kind]))] = covered
    return rows


def test_comparison_draws_the_table(two):
    table = two.rankeval.compare("good", "poor", alpha=0.01, adjust="holm")
    ax = plotting.comparison(table)
    curves, strip, below = ax.figure.axes
    assert curves is ax
    equal(xy(ax, "good"), table[["n", "precision_a"]])
    equal(xy(ax, "poor"), table[["n", "precision_b"]])
    both = table["p_value"] <= 0.01, table["significant"]
    assert 0 < both[1].sum() < both[0].sum()
    bars = to_mark(ax, table, *both)
    assert len(bars) == 2
    assert_equal(marked(ax, table["n"]), bars)
    equal(xy(below, "_difference"), table[["n", "difference"]])
    equal(limits(below), table[["ci_low", "ci_high"]])
    assert written(strip) == ["each n separately", "all n jointly", "good\nbetter"]
    assert "(Fisher's exact test at 1%, separately at each n)" in caption(ax)
    assert "(Holm's method at 1%, simultaneously for all n)" in caption(ax)
    assert "good − poor in percentage points, with the 95% interval, adjusted like" in caption(ax)


def test_n_with_gaps_are_marked_one_by_one(two):
    table = two.rankeval.compare("good", "poor", [50, 100, 300])
    _, strip, below = plotting.comparison(table).figure.axes
    (squares,) = strip.collections
    assert table["significant"].any()
    equal(squares.get_offsets()[:, 0], table.loc[table["significant"], "n"])
    equal(segments(below.collections[0]), table[["n", "ci_low", "ci_high"]])


def test_every_pair_has_a_row(two):
    three = two.assign(third=np.linspace(1.0, 0.0, 600) ** 2)
    table = three.rankeval.compare(n=range(20, 300))
    together = three.rankeval.compare(n=range(20, 300), adjust="max-t", n_resamples=199)
    ax = plotting.comparison(table, together)
    assert [x.get_label() for x in ax.get_lines()] == ["good", "poor", "third"]
    assert written(ax.figure.axes[1]) == ["good : poor", "good : third", "poor : third"]
    bars: dict = {}
    for row, (pair, rows) in enumerate(table.groupby(["measure_a", "measure_b"], sort=False)):
        mine = together.set_index(["measure_a", "measure_b"]).loc[[pair]]
        bars |= to_mark(ax, rows, rows["significant"], mine["significant"], row=2 - row)
    assert len({row for row, *_ in bars}) > 1
    assert_equal(marked(ax, table["n"].iloc[:280]), bars)


@pytest.mark.full
def test_comparison_without_any_significant_n(two):
    ax = two.rankeval.plot.comparison("good", "poor", range(1, 4))
    assert not ax.figure.axes[1].collections
    none = "No list in this plot meets the condition."
    assert f"(Fisher's exact test at 5%, separately at each n). {none}" in caption(ax)
    assert f"method at 5%, simultaneously for all n). {none}" in caption(ax)
    assert "the same list" not in caption(ax)
    twins = two.assign(twin=2 * two["good"])
    ax = twins.rankeval.plot.comparison("good", "twin", range(1, 4))
    assert "good and twin have identical lists at each n shown." in caption(ax)


def test_comparison_with_overlap(two):
    asked = {"overlap": True, "simultaneous": False}
    ax = two.rankeval.plot.comparison("good", "poor", [20, 50, 200], **asked)
    compared = two.rankeval.compare("good", "poor", [20, 50, 200])
    below, right = ax.figure.axes[2:]
    for drawn, values in (
        (xy(right, "_overlap"), compared["overlap"] / compared["n"]),
        (xy(below, "_difference"), compared["difference"]),
    ):
        equal(drawn, np.column_stack([compared["n"], values]))
    assert "(scale on the right): share of candidates in both lists" in caption(ax)


def test_impossible_levels_of_a_picture_are_refused(df):
    for alpha, error in ((0, ValueError), ("x", TypeError)):
        with pytest.raises(error, match=f"alpha={alpha!r}"):
            df.rankeval.plot.comparison("x", "y", [5], alpha=alpha)
    with pytest.raises(MemoryError, match="draws"):
        df.rankeval.plot.comparison("x", "y", [5], alpha=5e-324)


# ------------------------------------------------------------------------------------- broken ties


def test_p_values_of_broken_ties_are_those_of_the_table():
    table = candidates().round(1).rankeval.tie_sensitivity("G2", "_z", [20, 50, 90], n_keys=4)
    ax = plotting.tie_sensitivity(table)
    equal(line(ax, "G2 :  _z").get_xydata(), table[["n", "p_median"]])
    paths = [path for x in ax.collections for path in x.get_paths()]
    heights = np.concatenate([path.vertices[:, 1] for path in paths])
    assert {*table["p_min"], *table["p_max"]} <= {*heights}
