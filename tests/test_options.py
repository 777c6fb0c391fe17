"""Options of a session: as good as keywords in every method and form, and nobody else's."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
import rankeval_pd.dask
from rankeval_pd import errors, plotting
from rankeval_pd.accessors import Accessor, methods_of
from rankeval_pd.options import can, declared
from tests.questions import ARGUMENTS, ASKED, CELLS, FRAME, PARTLY

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

LEVELS = {"level": 0.7, "alpha": 0.4}
ROLES = {"gold": "gold", "measures": ["a", "b", "c"]}
ITEMS = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc")).assign(
    query=np.repeat(list("xyz"), 20)
)
QUESTIONS = {name: question for name, (question, _) in declared(Accessor).items()}
# arguments without levels, and enough resamples for the usual alpha
DATA = FRAME.assign(partly=PARTLY)
OWN: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "summary": (([5, 10],), {}),
    "judged_precision": (([5, 10],), {"gold": "partly"}),
    "judged_recall": (([5, 10],), {"gold": "partly"}),
    "judged_average_precision": ((), {"gold": "partly"}),
    "judged_difference": (("a", "b", [5, 10]), {"gold": "partly"}),
    "gain_by_size": (([10, 18],), {"n_resamples": 999, "event": "zero"}),
    "significant_ranges": (("a", "c"), {"n": range(1, 16)}),
}


def takes(name: str) -> dict[str, float]:
    """Return levels of those keywords that are levels in this method."""
    known = inspect.signature(QUESTIONS[name]).parameters
    return {
        x: LEVELS[x]
        for x in LEVELS
        if x in known and known[x].kind is inspect.Parameter.KEYWORD_ONLY
    }


NAMES = [name for name in QUESTIONS if takes(name) and name != "with_association_measures"]


def asked(name: str) -> tuple[tuple[Any, ...], list[dict[str, Any]]]:
    """Return the arguments of a method, and its keywords with and without adjustment."""
    args, more = OWN.get(name) or ASKED.get(name) or ARGUMENTS[name]
    dropped = {*LEVELS, "families", "adjust", "adjust_over", "relation", "window"}
    more = {k: x for k, x in more.items() if k not in dropped}
    if name in methods_of("items") and "n_resamples" in more:
        more["n_resamples"] = 999
    adjusts = "adjust" in inspect.signature(QUESTIONS[name]).parameters
    usual = {**more, "event": "zero"} if "event" in more else more
    return args, [usual, {**usual, "adjust": "holm"}] if adjusts else [usual]


def forms(name: str) -> Iterator[tuple[str, Any]]:
    if name in methods_of("pairs"):
        yield "frame", ITEMS[list("abc")].rankeval.paired_bootstrap(progress=False).rankeval
    elif name in methods_of("rankings"):
        yield "frame", DATA.rankeval(**ROLES)
        yield "by", DATA.rankeval(**ROLES, by="query")
        ds = DATA[["a", "b", "c", "gold", "other", "partly"]].rename_axis("candidate").to_xarray()
        yield "Dataset", ds.rankeval(**ROLES)
        yield "lazy Dataset", ds.chunk(candidate=-1).rankeval(**ROLES)
        ddf = dd.from_pandas(DATA, npartitions=3)
        yield "Dask", ddf.rankeval(**ROLES)
        yield "Dask by", ddf.rankeval(**ROLES, by="query")
    else:
        scores = ITEMS[list("abc")]
        yield "frame", scores.rankeval
        yield "by", ITEMS.rankeval(by="query")
        ds = xr.Dataset({"score": (("item", "system"), scores)}, coords={"system": list("abc")})
        yield "Dataset", ds.rankeval
        yield "Dask", dd.from_pandas(scores, npartitions=3).rankeval


def equal(found: Any, wanted: Any) -> bool:
    assert found.attrs == wanted.attrs
    return bool(found.equals(wanted))


@pytest.mark.parametrize("name", NAMES)
def test_options_equal_the_keywords_in_every_form(name):
    args, variants = asked(name)
    walked, moved = set(), 0
    for form, accessor in forms(name):
        for keywords in variants:
            try:
                ask = getattr(accessor, name)
                wanted = ask(*args, **keywords, **takes(name))
            except (TypeError, ValueError, AttributeError):
                continue  # this form has no such method, or needs other arguments
            usual = ask(*args, **keywords)
            with rankeval_pd.set_options(**LEVELS):
                found = ask(*args, **keywords)
            assert found.attrs["method"] == name
            assert equal(found, wanted), (form, keywords)
            moved += not wanted.equals(usual)
            walked.add(form)
    able = can(QUESTIONS[name])
    assert {"frame"} | ({"Dask by"} if able.heads or able.by_groups else set()) <= walked
    assert moved or name in ("roc", "precision_recall", "det", "lift", "gain", "gain_threshold")


def level() -> float:
    return float(FRAME.rankeval(**ROLES).area().attrs["level"])


class _Bar:
    """A bar that is noticed."""

    def __init__(self, **labels: Any) -> None:
        BARS.append(labels["desc"])

    def update(self, _: int) -> None:
        pass

    def close(self) -> None:
        pass


BARS: list[str] = []


@pytest.fixture
def bars(monkeypatch):
    """The labels of all bars, which appear without a wait."""
    BARS.clear()
    monkeypatch.setattr(errors, "_bar", lambda: _Bar)
    monkeypatch.setattr(errors, "_DELAY", 0.0)
    return BARS


def walked_forms(name: str, **options: Any) -> list[str]:
    """Ask a method in every form that answers, and return the forms."""
    args, (keywords, *_) = asked(name)
    keywords.pop("progress", None)
    answered = []
    for form, accessor in forms(name):
        try:
            table = getattr(accessor, name)(*args, **keywords, **options)
        except (TypeError, ValueError, AttributeError):
            continue  # this form has no such method, or needs other arguments
        if form.startswith(("lazy", "Dask")) and hasattr(table, "compute"):
            table.compute()
        answered.append(form)
    return answered


@pytest.mark.parametrize("name", [x for x in QUESTIONS if x != "with_association_measures"])
def test_no_bar_appears_where_it_is_off(name, bars):
    forms_of_argument = walked_forms(name, progress=False)
    with rankeval_pd.set_options(progress=False):
        assert walked_forms(name) == forms_of_argument != []
    assert bars == []


@pytest.mark.parametrize("name", ["compare", "difference_band", "summary", "paired_bootstrap"])
def test_bars_that_are_on_are_noticed(name, bars):
    assert walked_forms(name)
    assert bars


def test_an_object_can_be_used_again_and_blocks_nest():
    options = rankeval_pd.set_options(level=0.7)  # in the block of the fixture
    assert level() == 0.7
    with options:
        assert level() == 0.7
    assert level() == 0.95
    for _ in range(2):
        with options:
            with rankeval_pd.set_options(level=0.8):
                assert level() == 0.8
                with options:
                    assert level() == 0.7
                assert level() == 0.8
            assert level() == 0.7
            rankeval_pd.set_options(level=0.6)  # until the end of the block
            assert level() == 0.6
        assert level() == 0.95
    with pytest.raises(KeyError), options:
        raise KeyError
    assert level() == 0.95


def test_options_of_a_session_hold_in_all_threads():
    def session() -> None:
        options = rankeval_pd.set_options(level=0.7)
        try:
            assert level() == 0.7
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(level).result() == 0.7
            with rankeval_pd.set_options(level=0.8):
                options.__exit__()
                assert level() == 0.8
        finally:
            options.__exit__()
        assert level() == 0.95

    with ThreadPoolExecutor(1) as pool:  # outside the block of the fixture
        pool.submit(session).result()


def test_blocks_do_not_leak_between_threads():
    def block(value: float) -> list[float]:
        seen = []
        for _ in range(20):
            with rankeval_pd.set_options(level=value):
                meeting.wait(30)  # all threads are in their blocks
                seen.append(level())
                meeting.wait(30)  # before one of them leaves
        return [*seen, level()]

    values = [0.6, 0.7, 0.8]
    meeting = threading.Barrier(len(values))
    with ThreadPoolExecutor(len(values)) as pool:
        for value, seen in zip(values, pool.map(block, values), strict=True):
            assert seen[:-1] == [value] * 20
    assert level() == 0.95


def test_blocks_do_not_leak_between_tasks():
    async def block(value: float) -> float:
        with rankeval_pd.set_options(level=value):
            await asyncio.sleep(0.01)
            return level()

    async def tasks() -> list[float]:
        return await asyncio.gather(*map(block, [0.6, 0.7, 0.8]))

    assert asyncio.run(tasks()) == [0.6, 0.7, 0.8]
    assert level() == 0.95


def test_no_option_changes_the_scores_of_measures():
    wanted = pd.DataFrame([CELLS] * 3).rankeval.with_association_measures()
    with rankeval_pd.set_options(**LEVELS):
        found = pd.DataFrame([CELLS] * 3).rankeval.with_association_measures()
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)


def test_finished_tables_are_drawn_and_data_obey():
    table = FRAME.rankeval(**ROLES).area()
    with rankeval_pd.set_options(**LEVELS, progress=False):
        assert "95%" in plotting.caption(plotting.area(table))
        assert "70%" in plotting.caption(plotting.area(FRAME, **ROLES))
    plt.close("all")
