"""Pictures of many systems: one legible page, the best first and the rest folded."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankeval_pd import plotting
from rankeval_pd.plotting import forests
from rankeval_pd.stats.families import letters
from tests.plotting.seen import laid_out, texts, tied

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
        "tied_for_best": ~apart[0], "letters": letters(apart),
    })  # fmt: skip
    ranks.attrs = {"metric": "accuracy", "level": 0.95, "adjust": "max-t"}
    pairs.attrs = {"metric": "accuracy", "adjust": "max-t", "alpha": 0.05}
    return {"system_ranks": ranks, "critical_difference": pairs, "pairs": pairs}


def legible(ax) -> list[str]:
    """Return the texts of a picture; none is small, outside the figure, or upon another."""
    laid_out(ax.figure)
    assert min(x.get_fontsize() for x in texts([ax])) >= 7.0
    return [x.get_text() for x in texts([ax])]


@pytest.mark.parametrize("count", [200, 60, 20])
@pytest.mark.parametrize("plot", ["critical_difference", "pairs", "system_ranks"])
def test_many_systems_are_one_legible_page(plot, count):
    ax = getattr(plotting, plot)(tables(count)[plot])
    seen = legible(ax)
    assert max(ax.figure.get_size_inches()) <= PAGE
    said = plotting.caption(ax)
    named = list(dict.fromkeys(x for x in seen if x.startswith("team")))
    assert named[:2] == ["team-000-model-v0", "team-001-model-v1"]  # the best first
    folded = list({x for x in seen if x.endswith(" more")})
    if count <= 60:
        assert not folded
        assert len(named) == count
    else:
        assert folded == [f"{count - len(named)} more"]
        assert len(named) >= 40
        assert f"{count - len(named)} more" in said
    if plot != "pairs":
        assert "tied" in seen  # the letters, to copy
        assert ("Ticks in the last row" in said) == (count > 60)
        assert ("Bars on the right" in said) == bool(tied(ax))


@pytest.mark.parametrize("plot", ["system_ranks", "critical_difference"])
def test_a_small_panel_folds_what_has_no_room(plot):
    _, ax = plt.subplots(figsize=(3.4, 2.6), layout="constrained")
    getattr(plotting, plot)(tables(60)[plot], ax=ax, highlight=["team-050-model-v1"])
    seen = legible(ax)
    more = next(x for x in seen if x.endswith(" more"))
    [line] = [x for x in ax.get_lines() if x.get_label() == "_more"]
    assert more == f"{len(line.get_xdata())} more"
    assert any(x.startswith("team-05") for x in seen)  # highlighted: shown


def test_letters_that_follow_each_other_are_short():
    for letters_of, runs in (
        (["a", "ab", "b"], ["a", "a b", "b"]),
        (["abc", "bcd", "acd", "e"], ["a–c", "b–d", "a c d", "e"]),
        (["x y z aa", "z aa ab"], ["x–aa", "z–ab"]),
    ):
        assert forests._letter_runs(letters_of) == runs


def test_the_folded_cells_are_of_the_least_gain():
    table = tables(200)["pairs"]
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
