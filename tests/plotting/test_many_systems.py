"""Pictures of many systems: one legible page, the best first and the rest folded."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankeval_pd import plotting
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
    return {"system_ranks": ranks, "pairs": pairs}


def legible(ax) -> list[str]:
    """Return the texts of a picture; none is small, outside the figure, or upon another."""
    laid_out(ax.figure)
    assert min(x.get_fontsize() for x in texts([ax])) >= 7.0
    return [x.get_text() for x in texts([ax])]


@pytest.mark.parametrize("count", [200, 60, 20])
@pytest.mark.parametrize("plot", ["pairs", "system_ranks"])
def test_many_systems_are_one_legible_page(plot, count):
    ax = getattr(plotting, plot)(tables(count)[plot])
    seen = legible(ax)
    assert max(ax.figure.get_size_inches()) <= PAGE
    said = plotting.caption(ax)
    named = list(dict.fromkeys(x for x in seen if x.startswith("team")))
    assert named[:2] == ["team-000-model-v0", "team-001-model-v1"]  # the best first
    folded = list({x for x in seen if x.endswith(" more")})
    left = count - len(named)
    assert len(named) >= 40 or not left
    assert folded == [f"{left} more"] * (left > 0 and plot != "pairs")
    if plot == "pairs":
        assert (f"The {left} systems that beat the fewest" in said) == (left > 0)
    else:
        assert ("'letters' column" in said) == (not tied(ax))
        assert ("Ticks in the last row" in said) == (count > 60)
        assert ("Bars on the right" in said) == bool(tied(ax))


def test_a_small_panel_folds_what_has_no_room():
    _, ax = plt.subplots(figsize=(3.4, 2.6), layout="constrained")
    plotting.system_ranks(tables(60)["system_ranks"], ax=ax, highlight=["team-050-model-v1"])
    seen = legible(ax)
    more = next(x for x in seen if x.endswith(" more"))
    [line] = [x for x in ax.get_lines() if x.get_label() == "_more"]
    assert more == f"{len(line.get_xdata())} more"
    assert any(x.startswith("…50") for x in seen)  # highlighted: shown, and not like the others
