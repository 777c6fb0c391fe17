"""Progress bars: when they appear, and that there is one."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import errors
from rankeval_pd.doors import candidates as doors
from rankeval_pd.errors import held, progress_bar
from tests.walks import CELLED, METHODS, answered, ask, forms, without

QUIET = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


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


def test_no_bar_of_nothing(capsys):
    bar = progress_bar(total=0, what="comparing lists", unit="pairs")
    with held(details=False, progress=True), bar as advance:
        advance(0)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["nbest_precision", "roc", "area"])
def test_measures_of_many_candidates_have_a_bar(monkeypatch, at_once, name):
    data = rankeval_pd.datasets.simulate_candidates(200).rankeval
    whole = getattr(data, name)()
    assert _Bar.shown == []  # one block: nothing moves in between
    monkeypatch.setattr(doors, "_TOGETHER", 200)
    pd.testing.assert_frame_equal(getattr(data, name)(), whole)
    assert _Bar.shown == ["ranking candidates 2 of 2"]


def test_there_is_one_bar_or_none_if_it_was_declined(at_once):
    for choice in (False, None, True):
        outer = progress_bar(total=2, what="outer", unit="draws")
        inner = progress_bar(total=1, what="inner", unit="draws", alone=True)
        with held(details=False, progress=choice), outer as advance, inner as advance_inner:
            advance(1)
            advance_inner(1)
    assert _Bar.shown == ["outer 1 of 2"] * 2


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


@QUIET
def test_bars_move_as_far_as_they_say(df, items, capfd):
    many = df.assign(**{f"m{k}": df["x"] + k * df["y"] for k in range(4)})
    many.rankeval.compare(n=[3, 5], progress=True)
    many.rankeval.compare_area(progress=True)
    df.rankeval.random_bound(simultaneous=True, progress=True)
    items.rankeval.population_calibration(30, n_test_sets=2, progress=True)
    shown = capfd.readouterr().err
    for said in (
        "comparing lists", "comparing areas", "trying levels", "drawing test sets",
    ):  # fmt: skip
        assert said in shown


@QUIET
@pytest.mark.full
def test_no_bar_appears_where_it_is_off(at_once):
    for name in without(METHODS, CELLED):
        for data, own in [(None, {}), *forms(name)]:
            table = answered(name, data, **own, progress=False)
            if not isinstance(table, Exception):
                getattr(table, "compute", table.copy)()
    assert _Bar.shown == []


@QUIET
@pytest.mark.parametrize("name", ["compare", "difference_band", "summary", "paired_bootstrap"])
def test_bars_that_are_on_are_noticed(name, at_once):
    with rankeval_pd.set_options(progress=False):
        ask(name)
    assert _Bar.shown == []
    ask(name)
    assert _Bar.shown
