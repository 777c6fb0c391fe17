"""What several test files share: data, small seeded frames, profiles of hypothesis."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies

import rankeval_pd

CI = os.environ.get("CI") == "true"
WITHOUT_DATA = bool(os.environ.get("RANKEVAL_PD_WITHOUT_DATA"))  # where .ci/run has no data


def pytest_collection_finish() -> None:
    """Leave what is imported, a million objects, out of each later collection of garbage."""
    _property()  # hypothesis looks at its first run who holds its generators, and not among these
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@given(strategies.booleans())
@settings(max_examples=1, database=None)
def _property(_: bool) -> None:
    """Hold."""


_RUN = "RANKEVAL_PD_RUN"  # which run this is; the workers inherit it
_EXAMPLES = {"quick": 0.25, "full": 1.0, "search": 25.0}  # share of a property's examples


def pytest_configure(config: pytest.Config) -> None:
    """Choose the examples of properties: few, all, or, with ``-m search``, new ones."""
    run = {"not full": "quick", "search": "search"}.get(config.option.markexpr, "full")
    os.environ[_RUN] = run
    settings.register_profile(
        "rankeval_pd",
        deadline=None,
        max_examples=examples(40),
        derandomize=run != "search",  # the same examples in every run, on every machine
        database=None,
    )
    settings.load_profile("rankeval_pd")


def examples(number: int) -> int:
    """Return how many examples of a property are tried in this run."""
    return max(10, int(number * _EXAMPLES[os.environ.get(_RUN, "full")]))


@pytest.hookimpl(wrapper=True)  # around the selection by -m and -k
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Let ``-m full`` select all, ``-m search`` the properties; keep a case of each if quick."""
    expression = config.option.markexpr
    for item in items:
        if expression == "full":
            item.add_marker("full")
        function = getattr(item, "obj", None)
        if expression == "search" and getattr(function, "is_hypothesis_test", False):
            item.add_marker("search")
    yield
    if expression == "not full":
        kept = {*{item.nodeid.partition("[")[0]: item for item in items}.values()}
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


@pytest.fixture(scope="session")
def krenn() -> pd.DataFrame:
    """5,102 candidates of Krenn's study, 566 of them collocations (is.colloc)."""
    return pd.read_csv(_file("krenn_ppv.csv"))


@pytest.fixture(scope="session")
def brown() -> pd.DataFrame:
    """24,167 pairs of neighbouring words of the Brown corpus, their 2x2 tables in O11, ..., O22."""
    return pd.read_csv(_file("brown_bigrams.csv"), keep_default_na=False)  # "null" is a word


@pytest.fixture(scope="session")
def wmt22() -> pd.DataFrame:
    """BLEU's statistics of nine systems on 1,984 segments, columns (statistic, system)."""
    long = pd.read_csv(_file("wmt22_de_en_bleu.csv.gz"))
    return long.pivot(index="segment", columns="system")  # noqa: PD010


def _file(name: str) -> Path:
    folder = os.environ.get("RANKEVAL_PD_DATA")
    if folder is None:
        reason = f"RANKEVAL_PD_DATA, the folder of {name}, is not set"
        pytest.fail(reason) if CI and not WITHOUT_DATA else pytest.skip(reason)
    return Path(folder) / name


def candidates(seed: int, size: int) -> pd.DataFrame:
    """Return a frame with many ties, unique labels and a unique column ``id``."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.integers(0, 6, size).astype(float),
            "b": rng.integers(0, 4, size).astype(float),
            "c": rng.normal(size=size).round(1),
            "gold": rng.random(size) < 0.4,
            "id": rng.permutation(size),
        },
        index=pd.Index([f"x{i}" for i in rng.permutation(size)], name="candidate"),
    )


@pytest.fixture(params=range(3))
def tied(request: pytest.FixtureRequest) -> pd.DataFrame:
    """Three frames of 17 to 31 candidates with ties."""
    return candidates(request.param, 17 + 7 * request.param)


@pytest.fixture
def frame() -> pd.DataFrame:
    """30 candidates with the measures a, b, c and gold."""
    return candidates(7, 30).drop(columns="id")


@pytest.fixture(scope="session")
def four_measures() -> pd.DataFrame:
    """300 candidates, 25% of them true, and measures w, x, y, z, each better than the last."""
    rng = np.random.default_rng(14)
    gold = rng.random(300) < 0.25
    common = rng.normal(size=300)
    scores = {
        name: quality * gold + common + rng.normal(size=300)
        for name, quality in zip("wxyz", (0.1, 0.5, 0.9, 1.4), strict=True)
    }
    return pd.DataFrame({**scores, "gold": gold})


@pytest.fixture
def ragged() -> pd.DataFrame:
    """Candidates of three queries of 5, 9 and 12 candidates; labels recur across queries."""
    parts = [
        candidates(seed, size).drop(columns="id").assign(query=query)
        for seed, (query, size) in enumerate({"q2": 9, "q1": 12, "q3": 5}.items())
    ]
    return pd.concat(parts)


@pytest.fixture
def df() -> pd.DataFrame:
    """Forty candidates, two measures."""
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(rng.random((40, 2)), columns=["x", "y"])
    return scores.assign(gold=rng.random(40) < 0.4)


@pytest.fixture
def items() -> pd.DataFrame:
    """Sixty items, three systems, right or wrong."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.integers(0, 2, size=(60, 3)), columns=list("abc"))


@pytest.fixture(autouse=True)
def _all_columns(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give tests all columns of a table, but those of short tables and the examples of users."""
    doctest = request.node.__class__.__name__ == "DoctestItem"
    with rankeval_pd.set_options(details=not doctest):
        yield


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """Close what a test has drawn."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
