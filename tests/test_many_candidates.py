"""What is done otherwise where there are many candidates: grids, neighbors, ties, interpolation."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rankeval_pd
from rankeval_pd import errors
from rankeval_pd.doors import candidates as doors
from rankeval_pd.doors import columns as grids
from rankeval_pd.errors import held, progress_bar
from rankeval_pd.stats import bands, swaps
from rankeval_pd.stats import random_model as boundary
from rankeval_pd.stats import ranking as swap_draws
from rankeval_pd.stats import two_by_two as fisher
from tests.stats.test_swaps import plain

pytestmark = pytest.mark.filterwarnings("ignore:precision reaches:rankeval_pd.RankevalWarning")


@pytest.fixture
def few(monkeypatch):
    """Return 1,000 candidates, and call more than 100 of them many."""
    monkeypatch.setattr(grids, "_EVERY", 100)
    return rankeval_pd.datasets.simulate_candidates(1_000)


def test_a_grid_of_n_has_the_small_ones_and_the_last(few):
    grid, facts = grids.few_or(None, np.arange(1, 1_000_001), "shared")
    assert grid[:50].tolist() == list(range(1, 51))
    assert grid[-1] == 1_000_000
    assert (np.diff(grid) > 0).all()
    assert (grid[1:] / grid[:-1])[200:].max() < 1.02
    assert facts == {"n_grid": grid.size}
    assert grids.few_or(None, np.arange(1, 101), "shared") == (None, {})
    every = np.arange(1, 1_001)
    assert grids.few_or(np.array([3]), every, "shared") == (every, {})
    assert grids.few_or(None, np.arange(1, 1_001), "blocks") == (None, {})


@pytest.mark.parametrize(
    ("name", "value"),
    [("precision_band", "precision"), ("recall_band", "recall"), ("difference_band", "difference")],
)
def test_bands_say_their_grid(few, name, value):
    found = getattr(few.rankeval, name)(n_resamples=99)
    n = found["n"].unique()
    assert found.attrs["n_grid"] == n.size < 1_000
    assert f"{n.size} values of n" in rankeval_pd.in_words(found)
    asked = getattr(few.rankeval, name)(n=n.tolist(), n_resamples=99)
    assert "n_grid" not in asked.attrs
    assert (found[value] == asked[value]).all()
    # the same law, drawn otherwise: the quantile of 99 draws has some error
    widths = [(x["band_high"] - x["band_low"]).sum() for x in (found, asked)]
    assert widths[0] == pytest.approx(widths[1], rel=0.2)


@pytest.mark.parametrize("name", ["judged_precision", "judged_recall"])
def test_judged_lists_have_the_grid_and_the_same_numbers(few, name):
    few = few.assign(gold=few["gold"].astype("boolean").where(np.arange(1_000) % 3 == 0))
    found = getattr(few.rankeval, name)(None)
    n = found["n"].unique()
    assert found.attrs["n_grid"] == n.size < 1_000
    assert f"{n.size} values of n" in rankeval_pd.in_words(found)
    pd.testing.assert_frame_equal(found, getattr(few.rankeval, name)(n.tolist()))


def test_a_dataset_has_the_same_grid(few):
    scored = few.rename_axis("candidate").reset_index(drop=True).rename_axis("candidate")
    found = scored.to_xarray().rankeval.precision_band(n_resamples=99)
    expected = few.rankeval.precision_band(n_resamples=99)
    assert found["n"].to_numpy().tolist() == expected["n"].unique().tolist()
    assert found.attrs["n_grid"] == expected.attrs["n_grid"]


def test_a_sum_of_normals_is_one_normal():
    gold = np.arange(600) % 3 == 0
    cells = bands.cells(gold, (np.arange(1, 601),), np.array([5, 100, 400]))
    drawn = cells.multipliers(1, 0, 20_000, at_once=True)
    assert drawn.std(axis=1) == pytest.approx(np.sqrt(cells.size), rel=0.03)
    assert stats.kstest(drawn[0] / np.sqrt(cells.size[0]), "norm").pvalue > 1e-3
    assert np.abs(np.corrcoef(drawn) - np.eye(len(drawn))).max() < 0.04
    parts = [cells.multipliers(1, start, start + 2, at_once=True) for start in range(0, 10, 2)]
    assert (np.concatenate(parts, axis=1) == drawn[:, :10]).all()


def test_coins_begin_anywhere():
    keys = swap_draws.by_position(50)
    whole = swap_draws.coins(keys, 3, 0, 200)
    assert (swap_draws.coins(keys, 3, 70, 150) == whole[:, 70:150]).all()


@pytest.mark.parametrize("most", [3, 10, 25])
def test_sums_of_swapped_ranks(most):
    """Beside swaps one by one, and the lists that they make."""
    rng = np.random.default_rng(most)
    a, b, gold = rng.permutation(25) + 1, rng.permutation(25) + 1, rng.random(25) < 0.4
    keys = swap_draws.by_position(25)
    n = np.arange(1, most + 1)
    weight = np.zeros(26)
    weight[: most + 1] = np.append(
        np.cumsum((1.0 / n)[::-1])[::-1][:1], np.cumsum(1.0 / n[::-1])[::-1]
    )
    found = swaps.Swaps(a, b, gold, keys, n_resamples=70, seed=5).sums(weight, most)
    for draw, swap in enumerate(swap_draws.coins(keys, 5, 0, 70).T.astype(bool)):
        counts = np.array(plain(a, b, gold, swap, n))
        assert found[draw] == pytest.approx(((counts[:, 2] - counts[:, 3]) / n).sum(), abs=1e-12)


def test_neighbors_say_where_to_start(monkeypatch):
    rng = np.random.default_rng(0)
    n_a, n_b = np.sort(rng.integers(1, 4_000, (2, 800)), axis=1)
    tables = rng.binomial(n_a, 0.3), n_a, rng.binomial(n_b, 0.25), n_b
    alone = fisher.conditional_odds_ratio(*tables, 0.95)
    monkeypatch.setattr(fisher, "_MANY", 10)
    for order in (np.arange(800), rng.permutation(800)):
        some = fisher.conditional_odds_ratio(*(x[order] for x in tables), 0.95)
        for mine, other in zip(some, alone, strict=True):
            assert np.allclose(mine, other[order], rtol=1e-11, atol=0.0, equal_nan=True)


@pytest.mark.parametrize("shift", [0.0, 0.2, 1.0, 3.0])
def test_rounded_p_values(monkeypatch, shift):
    """Never below the exact ones, and on the right side of the usual levels."""
    rng = np.random.default_rng(1)
    df = rankeval_pd.datasets.simulate_candidates(400, quality={"a": shift})
    df["a"] += rng.normal(size=400) * 0.1
    exact = df.rankeval.random_test(adjust="envelope")
    assert "p_adjusted" not in exact.attrs
    monkeypatch.setattr(boundary, "EVERY", 300)
    monkeypatch.setattr(boundary, "_LEVELS", 32)
    monkeypatch.setattr(rankeval_pd.chance.random_tests, "EVERY", 300)
    found = df.rankeval.random_test(adjust="envelope")
    assert found.attrs["p_adjusted"] == "rounded up"
    assert "rounded up" in rankeval_pd.in_words(found)
    mine, other = found["p_adjusted"], exact["p_adjusted"]
    assert (mine >= other * (1 - 1e-12)).all()
    assert (mine > other * (1 + 1e-12)).any()
    assert (mine.rank() - other.rank()).abs().max() < 400 / 8
    rising = found.sort_values("p_value")
    assert rising["p_adjusted"].is_monotonic_increasing
    tiny = rising[rising["p_value"] < 1e-6 / 400]  # summed over the lists
    assert (len(tiny) > 20) == (shift == 3.0)
    assert (tiny["p_adjusted"] <= 400 * tiny["p_value"] * (1 + 1e-12)).all()
    for alpha in (0.1, 0.05, 0.01, 0.001):
        assert ((mine <= alpha) == (other <= alpha)).all()
    assert (mine >= found["p_value"]).all()


def test_no_bar_of_nothing(capsys):
    bar = progress_bar(total=0, what="comparing lists", unit="pairs")
    with held(details=False, progress=True), bar as advance:
        advance(0)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("rounded", [0, 1, 9])
def test_orders_of_ties_are_those_of_sorting_anew(rounded):
    """Ranks by other keys, beside a stable sort of all candidates in the order of the keys."""
    from rankeval_pd.lists.regions import Tied
    from rankeval_pd.stats.ranking import Ranking

    rng = np.random.default_rng(rounded)
    score = rng.normal(size=60).round(rounded)
    score[rng.random(60) < 0.1] = np.nan
    everyone = np.ones(60, dtype=bool)
    rank = Ranking.of(score, everyone, everyone).ranks
    tied = Tied.of(score, rank, 60)
    for seed in range(3):
        keys = swap_draws.other_order(swap_draws.by_position(60), seed, 1)
        order = np.argsort(keys)
        again = np.empty(60, dtype=np.int64)
        again[order] = Ranking.of(score[order], everyone, everyone).ranks
        assert tied.ranks(keys).tolist() == again.tolist()


class _Bar:
    """What would be shown."""

    shown: ClassVar[list[str]] = []

    def __init__(self, **asked: Any) -> None:
        self.what, self.total, self.done = asked["desc"], asked["total"], asked["initial"]

    def close(self) -> None:
        self.shown.append(f"{self.what} {self.done} of {self.total}")

    def update(self, by: int) -> None:
        self.done += by


@pytest.fixture
def at_once(monkeypatch):
    """Bars that appear without a wait."""
    monkeypatch.setattr(errors, "_bar", lambda: _Bar)
    monkeypatch.setattr(errors, "_DELAY", 0.0)
    monkeypatch.setattr(_Bar, "shown", [])


@pytest.mark.parametrize("ask", ["nbest_precision", "nbest_recall", "area", "bedroc", "roc"])
def test_measures_of_many_candidates_have_a_bar(monkeypatch, at_once, ask):
    data = rankeval_pd.datasets.simulate_candidates(200).rankeval
    whole = getattr(data, ask)()
    assert _Bar.shown == []  # one block: nothing moves in between
    monkeypatch.setattr(doors, "_TOGETHER", 200)
    pd.testing.assert_frame_equal(getattr(data, ask)(), whole)
    assert _Bar.shown == ["ranking candidates 2 of 2"]


@pytest.mark.parametrize(
    ("choice", "shown"), [(None, ["outer 1 of 2"]), (True, ["outer 1 of 2"]), (False, [])]
)
def test_there_is_one_bar_or_none_if_it_was_declined(at_once, choice, shown):
    outer = progress_bar(total=2, what="outer", unit="draws")
    inner = progress_bar(total=1, what="inner", unit="draws", alone=True)
    with held(details=False, progress=choice), outer as advance, inner as advance_inner:
        advance(1)
        advance_inner(1)
    assert _Bar.shown == shown


@pytest.mark.parametrize(("begun", "shown"), [(None, 0), (1.5, 0), (9.0, 1)])
def test_the_wait_for_a_bar_starts_with_the_outermost_call(monkeypatch, begun, shown):
    monkeypatch.setattr(errors, "_bar", lambda: _Bar)
    monkeypatch.setattr(_Bar, "shown", [])
    since = None if begun is None else time.monotonic() - begun
    token = errors.BEGUN.set(since)
    with progress_bar(total=1, what="inner", unit="draws", alone=True) as advance:
        advance(1)
    errors.BEGUN.reset(token)
    assert len(_Bar.shown) == shown


def test_a_bar_that_appears_late_counts_what_was_done_before(monkeypatch):
    monkeypatch.setattr(errors, "_bar", lambda: _Bar)
    monkeypatch.setattr(_Bar, "shown", [])
    with progress_bar(total=9, what="late", unit="draws") as advance:
        advance(4)
        monkeypatch.setattr(errors, "_DELAY", 0.0)
        advance(2)
        advance(1)
    assert _Bar.shown == ["late 7 of 9"]


@pytest.mark.full
def test_bands_on_a_grid_of_n_cover(few):
    """Bands over the n of the grid hold the truth at all of these n at once."""
    covered, samples = np.zeros(2), 120
    for r in range(samples):
        df = rankeval_pd.datasets.simulate_candidates(
            2_000, baseline=0.1, quality={"a": 1.0, "b": 1.0}, rng=r
        )
        one = df.rankeval(measures=["a"]).precision_band(n_resamples=199)
        truth = rankeval_pd.datasets.true_precision(one["n"] / 2_000, quality=1.0, baseline=0.1)
        two = df.rankeval.difference_band("a", "b", n_resamples=199)
        assert 100 < len(one) < 500
        for k, (table, value) in enumerate(((one, truth), (two, 0.0))):
            covered[k] += (table["band_low"].le(value) & table["band_high"].ge(value)).all()
    assert (covered >= 0.95 * samples - 3.5 * np.sqrt(samples * 0.95 * 0.05)).all()
