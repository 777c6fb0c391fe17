"""Pictures and words of many systems: one legible page, the best first and the rest folded."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from scipy import stats

import rankeval_pd
from rankeval_pd import plotting
from rankeval_pd.plotting import forests
from rankeval_pd.stats.families import letters
from rankeval_pd.stats.items import scores_of
from tests.questions import noted

PAGE = 11.7  # inches, the longer side of A4


def tables(count: int) -> dict[str, pd.DataFrame]:
    """Return ranks and pairs of so many systems, as the methods return them."""
    mean = np.linspace(0.9, 0.4, count)
    names = np.array([f"team-{k:03d}-model-v{k % 7}" for k in range(count)], dtype=object)
    i, j = np.triu_indices(count, 1)
    p = np.minimum(1.0, 100.0 * stats.norm.sf((mean[i] - mean[j]) / 0.014))
    pairs = pd.DataFrame({
        "system_a": names[i], "system_b": names[j], "score_a": mean[i], "score_b": mean[j],
        "gain": mean[i] - mean[j], "p_value": p / 50.0, "p_adjusted": p,
    })  # fmt: skip
    apart = np.zeros((count, count), dtype=bool)
    apart[i, j] = apart[j, i] = p <= 0.05
    better, worse = (np.tril(apart).sum(axis=1), np.triu(apart).sum(axis=1))
    ranks = pd.DataFrame({
        "system": names, "value": mean, "ci_low": mean - 0.03, "ci_high": mean + 0.03,
        "rank": np.arange(1.0, count + 1.0), "rank_low": 1 + better, "rank_high": count - worse,
        "p_best": 0.0, "tied_for_best": ~apart[0], "letters": letters(apart),
    })  # fmt: skip
    ranks.attrs = {"metric": "accuracy", "level": 0.95, "adjust": "max-t", "ranks": "simultaneous"}
    pairs.attrs = {"metric": "accuracy", "adjust": "max-t", "alpha": 0.05}
    return {"system_ranks": ranks, "critical_difference": pairs, "pairs": pairs}


MADE = {count: tables(count) for count in (20, 60, 200)}


def legible(ax) -> list[Text]:
    """Return the texts of a picture: none is small, outside the figure, or upon another."""
    ax.figure.canvas.draw()
    (low, high), ticks = ax.get_xlim(), ax.get_xticklabels()
    unseen = {id(x) for x in ticks if not low <= x.get_position()[0] <= high}
    texts = [x for x in ax.figure.findobj(Text) if x.get_text().strip() and id(x) not in unseen]
    texts = list({x.get_text() + str(x.get_window_extent()): x for x in texts}.values())
    boxes = np.array([x.get_window_extent().extents for x in texts])
    assert min(x.get_fontsize() for x in texts) >= 7.0
    width, height = ax.figure.bbox.size
    assert (boxes[:, :2] >= -1.0).all()
    assert (boxes[:, 2] <= width + 1.0).all()
    assert (boxes[:, 3] <= height + 1.0).all()
    low = np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    share = np.triu((high - low > [1.0, 2.5]).all(axis=-1), 1)  # of lines, ascents may touch
    upon = [(texts[i].get_text(), texts[j].get_text()) for i, j in np.argwhere(share)]
    assert not upon
    return texts


@pytest.mark.parametrize("count", MADE)
@pytest.mark.parametrize("plot", MADE[20])
def test_many_systems_are_one_legible_page(plot, count):
    ax = getattr(plotting, plot)(MADE[count][plot])
    texts = [x.get_text() for x in legible(ax)]
    assert max(ax.figure.get_size_inches()) <= PAGE
    named = list(dict.fromkeys(x for x in texts if x.startswith("team")))
    assert named[:2] == ["team-000-model-v0", "team-001-model-v1"]  # the best first
    folded = list({x for x in texts if x.endswith(" more")})
    if count <= 60:
        assert not folded
        assert len(named) == count
    else:
        assert folded == [f"{count - len(named)} more"]
        assert len(named) >= 40
        assert f"{count - len(named)} more" in plotting.caption(ax)
    if plot != "pairs":
        assert "tied" in texts  # the letters, to copy


@pytest.mark.parametrize("plot", ["system_ranks", "critical_difference"])
def test_a_small_panel_folds_what_has_no_room(plot):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(3.4, 2.6), layout="constrained")
    getattr(plotting, plot)(MADE[60][plot], ax=ax, highlight=["team-050-model-v1"])
    texts = [x.get_text() for x in legible(ax)]
    more = next(x for x in texts if x.endswith(" more"))
    [line] = [x for x in ax.get_lines() if x.get_label() == "_more"]
    assert more == f"{len(line.get_xdata())} more"
    assert any(x.startswith("team-05") for x in texts)  # highlighted: shown


@pytest.mark.parametrize(
    ("letters", "runs"),
    [
        (["a", "ab", "b"], ["a", "a b", "b"]),
        (["abc", "bcd", "acd", "e"], ["a–c", "b–d", "a c d", "e"]),
        (["x y z aa", "z aa ab"], ["x–aa", "z–ab"]),
    ],
)
def test_letters_that_follow_each_other_are_short(letters, runs):
    assert forests._letter_runs(letters) == runs


def test_the_folded_cells_are_of_the_least_gain():
    table = MADE[200]["pairs"]
    ax = plotting.pairs(table)
    named = [x.get_text() for x in ax.texts if x.get_text().startswith("team")]
    rest = ~table["system_b"].isin(named)
    of_each = table[rest & table["system_a"].isin(named)].groupby("system_a", sort=False)
    told = of_each["p_adjusted"].max() <= 0.05
    [cells] = ax.collections
    faces = cells.get_facecolor()
    last = [k for k, x in enumerate(cells.get_paths()) if x.vertices[:, 0].min() > len(named)]
    pale = [np.ptp(faces[k][:3]) < 0.01 for k in last]
    assert pale == (~told).tolist()


def test_short_tables_are_drawn_too():
    rng = np.random.default_rng(4)
    right = pd.DataFrame(rng.random((60, 4)) < [0.5, 0.6, 0.7, 0.9], columns=list("abcd"))
    table = right.rankeval(metric="accuracy").system_ranks(n_resamples=999, details=False)
    assert "p_best" not in table
    ax = plotting.system_ranks(table)
    assert [x.get_text() for x in ax.get_yticklabels()] == table["system"].tolist()


def test_a_hundred_systems_are_no_page_of_names():
    rng = np.random.default_rng(4)
    right = pd.DataFrame(rng.random((300, 100)) < np.linspace(0.5, 0.9, 100)).add_prefix("model-")
    table = right.rankeval(metric="accuracy").system_ranks(n_resamples=999)
    told = rankeval_pd.in_words(table)
    assert told.count("model-") <= 8
    assert len(told) < 500
    assert len(repr(right.rankeval)) < 2000
    short = table[["system", "value", "letters"]].head(10)  # a leaderboard with letters to copy
    assert (short["letters"].str.len() > 0).all()


# -------------------------------------------------------------------------------------------------
# Scores that are equal but for rounding.


def summed(sums):
    """Return the mean of three rates, added from the first to the last."""
    rates = sums[..., :3] / sums[..., 3:]
    return (rates[..., 0] + rates[..., 1] + rates[..., 2]) / 3.0


def three_orders():
    """Return three systems whose rates are .1, .2 and .3 in different orders, and a worse one."""
    columns = {}
    for system, counts in {
        "x": (1, 2, 3),
        "y": (3, 2, 1),
        "z": (2, 3, 1),
        "low": (1, 1, 1),
    }.items():
        for name, count in zip("uvw", counts, strict=True):
            columns[system, name] = np.roll(np.repeat([1, 0], [count, 10 - count]), len(columns))
        columns[system, "n"] = np.ones(10, dtype=int)
    return pd.DataFrame(columns)


def test_scores_that_differ_only_by_rounding_are_equal():
    items = three_orders()
    scores = [summed(items[system].sum().to_numpy()) for system in ("x", "y", "z")]
    assert len(set(scores)) == 2  # 0.2 and 0.20000000000000004
    ranks = items.rankeval.system_ranks(metric=summed, details=True, n_resamples=200)
    assert ranks["rank"].tolist() == [1, 1, 1, 4]
    assert ranks["value"].tolist()[:3] == [min(scores)] * 3
    assert min(scores) == pytest.approx(0.2, rel=1e-15)
    assert "x, y, and z have the highest" in rankeval_pd.in_words(ranks)
    pairs = items.rankeval.paired_bootstrap(metric=summed, n_resamples=200, details=True)
    pairs = pairs[pairs["system_b"] != "low"]
    assert pairs["gain"].tolist() == [0.0] * 3


def test_merged_scores():
    """Neighbors that differ by rounding take the smallest value; NaN and other scores stay."""
    scores = np.array([0.906, 0.5, 0.9059999999999999, np.nan, -3.0, 0.906, 1e-300, 0.90601])
    items = SimpleNamespace(sign=-1.0, score=lambda totals: totals.copy(), totals=-scores)
    wanted = scores.copy()
    wanted[[0, 5]] = 0.9059999999999999
    np.testing.assert_array_equal(scores_of(items), wanted)


def test_every_best_value_is_bold():
    table = pd.DataFrame({"system": list("abc"), "value": [0.906, 0.9059999999999999, 0.906]})
    shown = rankeval_pd.paper_table(noted(table, "system_ranks"), "latex")
    assert shown.count(r"\textbf") == 3
