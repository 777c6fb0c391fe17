"""Options of a session: as good as keywords in every method and form, and nobody else's."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import pytest

import rankeval_pd
from rankeval_pd import plotting
from tests.walks import (
    CELLED,
    METHODS,
    RANKING,
    answered,
    ask,
    forms,
    keywords,
    of_session,
    without,
)

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

LEVELS = {"level": 0.7, "alpha": 0.4}


@pytest.mark.full
def test_options_equal_the_keywords_in_every_form():
    """Those of frames are walked in test_properties.py."""
    equal = 0
    for name in without(METHODS, CELLED, "with_judgements"):
        levels = of_session(name, LEVELS)
        if keywords(name).keys() & {*levels}:
            continue
        for data, options in forms(name):
            wanted = answered(name, data, **options, **levels)
            with rankeval_pd.set_options(**LEVELS):
                found = answered(name, data, **options)
            if isinstance(wanted, Exception):
                assert str(found) == str(wanted), name
            else:
                assert found.attrs == wanted.attrs, name
                assert found.equals(wanted), name
                equal += 1
    assert equal > 100


def level() -> float:
    return float(ask("area").attrs["level"])


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
    shared = rankeval_pd.set_options(level=0.7)
    shared.__exit__()

    async def again(pause: float) -> list[float]:
        seen = []
        for _ in range(3):
            with shared:
                await asyncio.sleep(pause)
                seen.append(await asyncio.to_thread(level))
            await asyncio.sleep(pause / 2)
            seen.append(level())
        return seen

    async def overlapping() -> list[list[float]]:
        return await asyncio.gather(*map(again, [0.01, 0.017, 0.005]))

    assert asyncio.run(overlapping()) == [[0.7, 0.95] * 3] * 3


def test_finished_tables_are_drawn_and_data_obey():
    table = ask("area")
    with rankeval_pd.set_options(**LEVELS, progress=False):
        assert "95%" in plotting.caption(plotting.area(table))
        assert "70%" in plotting.caption(plotting.area(RANKING, gold="gold", measures=["a"]))
    plt.close("all")
