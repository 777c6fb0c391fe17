"""The pictures of systems: what is drawn, what the legend says, and that nothing is cut off."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from rankeval_pd import plotting

mpl.use("Agg")

FAMILIES = ["one", "one", "one", "two", "two", "two", "two"]
ASK = {"n_resamples": 200, "ci": "percentile"}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def items(seed: int, size: int = 300) -> pd.DataFrame:
    """Return seven systems of slightly different skill."""
    rng = np.random.default_rng(seed)
    right = rng.random((size, 7)) < np.linspace(0.6, 0.75, 7)
    return pd.DataFrame(right, columns=[f"system {k}" for k in range(7)])


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return items(0)


DRAWN = {
    "confidence": lambda df, ax: df.rankeval.plot.confidence(families=FAMILIES, ax=ax, **ASK),
    "pairs": lambda df, ax: df.rankeval.plot.pairs(adjust="holm", ax=ax, **ASK),
    "system_ranks": lambda df, ax: df.rankeval.plot.system_ranks(ax=ax, **ASK),
    "gain_by_size": lambda df, ax: df.rankeval.plot.gain_by_size(
        [100, 300], families=FAMILIES, ax=ax, **ASK
    ),
    "calibration": lambda df, ax: df.rankeval.paired_bootstrap(**ASK).rankeval.plot.calibration(
        items(1), ax=ax
    ),
}


def legend(ax) -> str:
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    return "\n".join(names).replace("\n", " ")


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("width", [3.15, 6.4])
def test_everything_lies_inside_and_legend_is_off_the_data(frame, name, width):
    figure, ax = plt.subplots(figsize=(width, 4.6), layout="constrained")
    assert DRAWN[name](frame, ax) is ax
    figure.draw_without_rendering()
    canvas = figure.bbox
    box = ax.get_tightbbox()  # with tick labels and legend
    assert canvas.x0 - 1 <= box.x0 <= box.x1 <= canvas.x1 + 1
    assert canvas.y0 - 1 <= box.y0 <= box.y1 <= canvas.y1 + 1
    below = ax.get_legend().get_window_extent()
    assert not below.overlaps(ax.get_window_extent())
    assert not below.overlaps(ax.xaxis.label.get_window_extent())
    ticks = [x for x in ax.get_xticklabels() if x.get_window_extent().x1 < canvas.x1]
    assert not any(x.get_window_extent().overlaps(below) for x in ticks)


def test_confidence_draws_every_pair_and_the_thresholds(frame):
    table = frame.rankeval.paired_bootstrap(families=FAMILIES, **ASK)
    found = table.rankeval.gain_threshold(window=(0.01, 0.2))
    ax = plotting.confidence(table, found)
    for relation, rows in table.groupby("relation"):
        points = next(x for x in ax.get_lines() if str(x.get_label()).startswith(f"{relation} ("))
        np.testing.assert_array_equal(points.get_xydata(), rows[["gain", "confidence"]])
    lines = {str(x.get_label()): next(iter(x.get_xdata()), None) for x in ax.get_lines()}
    for relation, threshold in found[["relation", "threshold"]].itertuples(index=False):
        assert lines[f"threshold, {relation}: {threshold:.3g}"] == threshold
    assert "95 % (order statistics, pairs as independent)" in legend(ax)
    bare = plotting.confidence(table.drop(columns="relation"))
    assert "pairs of systems (21)" in legend(bare)


def test_sizes_are_drawn_with_the_square_root_law(frame):
    table = frame.rankeval.gain_by_size([100, 300], **ASK)
    found = table.rankeval.gain_threshold(window=(0.01, 0.3))
    ax = plotting.gain_by_size(table, found)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    lines = {str(x.get_label()): x for x in ax.get_lines()}
    np.testing.assert_array_equal(
        lines["threshold"].get_xydata(), found[["size", "threshold"]].to_numpy()
    )
    law = lines["square-root law"].get_ydata()
    assert law[1] == found["threshold"][1]
    assert law[0] == pytest.approx(law[1] * np.sqrt(3))
    drawn = sum(len(lines[f"pairs, one-sided p {x} .05"].get_xdata()) for x in ">≤")
    assert drawn == (table["gain"] > 0).sum()


def test_calibration_draws_observed_and_expected(frame):
    pairs = frame.rankeval.paired_bootstrap(**ASK)
    table = pairs.rankeval.calibration(items(1), bins=[0.001, 0.01, 0.1, 0.5])
    ax = plotting.calibration(table)
    lines = {str(x.get_label()): x for x in ax.get_lines()}
    np.testing.assert_array_equal(lines["observed"].get_ydata(), table["agreement"])
    expected = lines["expected if the items are of the same kind"]
    np.testing.assert_array_equal(expected.get_ydata(), table["expected_agreement"])
    bars = np.array(ax.collections[0].get_segments())
    np.testing.assert_array_equal(bars[:, :, 1], table[["ci_low", "ci_high"]])
    assert "95 % (Clopper-Pearson, pairs as independent)" in legend(ax)


def test_ranks_are_drawn_best_first(frame):
    table = frame.rankeval.system_ranks(**ASK).sort_values("rank", kind="stable")
    ax = plotting.system_ranks(table)
    assert [x.get_text() for x in ax.get_yticklabels()] == table["system"].tolist()
    bars = np.array(ax.collections[0].get_segments())
    np.testing.assert_array_equal(bars[:, :, 0], table[["rank_low", "rank_high"]])
    tied, worse = (np.sort(line.get_xdata()) for line in ax.get_lines()[:2])
    assert tied.tolist() == sorted(table["rank"][table["tied_for_best"]])
    assert worse.tolist() == sorted(table["rank"][~table["tied_for_best"]])
    assert "95 % intervals of ranks, all together" in legend(ax)
    alone = frame.rankeval.system_ranks(**ASK, ranks="percentile")
    assert "95 % interval of ranks, each alone" in legend(plotting.system_ranks(alone))
    alone = frame.rankeval.system_ranks(**ASK, adjust=None)
    assert "ranks that tests at 5 % leave, each alone" in legend(plotting.system_ranks(alone))


@pytest.mark.parametrize("adjust", [None, "holm"])
def test_the_matrix_of_pairs(frame, adjust):
    table = frame.rankeval.paired_bootstrap(adjust=adjust, **ASK)
    ax = plotting.pairs(table)
    names = [x.get_text() for x in ax.get_yticklabels()]
    cells = ax.collections[0].get_array()
    p = table["p_two_sided" if adjust is None else "p_adjusted"]
    for a, b, chance in zip(table["system_a"], table["system_b"], p, strict=True):
        i, j = sorted((names.index(a), names.index(b)))
        assert cells[i, j] == np.searchsorted([0.001, 0.01, 0.05], chance)
    assert cells.mask.sum() == 7 + 21
    written = {text.get_text() for text in ax.texts}
    assert f"{table['gain'][0]:.2g}" in written
    assert ("adjusted (holm)" if adjust else "each alone") in legend(ax)


def test_datasets_give_the_same_points(frame):
    ds = xr.Dataset({"hit": (("item", "system"), frame)}, {"system": list(frame)})
    for name, draw in DRAWN.items():
        lines = [
            [np.asarray(line.get_xydata()) for line in draw(x, plt.figure().gca()).get_lines()]
            for x in (frame, ds)
        ]
        for a, b in zip(*lines, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=name)


def test_keywords_reach_the_artists(frame):
    ax = frame.rankeval.plot.system_ranks(
        band_kw={"linewidth": 9}, marker_kw={"markersize": 11}, **ASK
    )
    assert ax.collections[0].get_linewidth() == 9
    assert ax.get_lines()[0].get_markersize() == 11


@pytest.mark.parametrize("name", DRAWN)
def test_wrong_tables_are_refused(name):
    some = {
        "confidence": ["system_a", "gain"],
        "pairs": ["system_a", "system_b", "gain"],
        "system_ranks": ["system", "rank"],
        "gain_by_size": ["size", "system_a", "gain"],
        "calibration": ["p_low", "p_high"],
    }
    with pytest.raises(ValueError, match=r"table has no columns .*give the result of"):
        getattr(plotting, name)(pd.DataFrame(columns=some[name]))
