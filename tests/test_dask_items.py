"""Systems scored on items that no machine holds: the numbers of pandas, however they are spread."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd

pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
import dask  # noqa: E402

import rankeval_pd.dask  # noqa: E402
from rankeval_pd.doors import dask as door  # noqa: E402
from rankeval_pd.stats import items as resamples  # noqa: E402
from rankeval_pd.stats import items as test_items  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

ITEMS = 150
DRAWS = {"n_resamples": 1_100}  # two blocks of resamples


def smoothed(sums: np.ndarray) -> np.ndarray:
    """Return a metric that is none of ours."""
    return sums[..., 0] / (sums[..., 1] + 1.0)


@functools.cache
def items(kind: str) -> pd.DataFrame:
    """Real scores, also growing ones; right and wrong; sevenths, on a lattice; counts of F1."""
    rng = np.random.default_rng(0)
    if kind == "real":
        values = rng.normal([0.0, 0.1, 0.2, 0.2], size=(ITEMS, 4))
    elif kind == "right":
        values = (rng.random((ITEMS, 4)) < [0.5, 0.55, 0.6, 0.6]).astype("int8")
    elif kind == "growing":  # the largest are in the last block
        values = rng.normal(size=(ITEMS, 4)) * np.logspace(0, 9, ITEMS)[:, np.newaxis]
    elif kind == "sevenths":
        values = rng.integers(0, 50, (ITEMS, 4)) / 7
    else:
        right = rng.integers(0, 4, (ITEMS, 3))
        more = [right + rng.integers(0, 3, right.shape) for _ in range(2)]
        values = np.stack([right, *more], axis=-1).reshape(ITEMS, -1)
        columns = pd.MultiIndex.from_product([list("abc"), ["correct", "guess", "gold"]])
        return pd.DataFrame(values, columns=columns)
    return pd.DataFrame(values, columns=list("abcd"))


Ask = Callable[[Any], Any]
QUESTIONS: dict[str, tuple[str, Ask]] = {
    "signs": ("real", lambda r: r.paired_bootstrap(**DRAWS)),
    "signs together": ("real", lambda r: r.paired_bootstrap(**DRAWS, adjust="max-t")),
    "draws": ("real", lambda r: r.paired_bootstrap(**DRAWS, event="recentred", adjust="holm")),
    "strict": ("real", lambda r: r.paired_bootstrap(**DRAWS, event="strict", ci="percentile")),
    "draws and signs": ("real", lambda r: r.paired_bootstrap(**DRAWS, event="zero", ci="wild")),
    "one against all": ("real", lambda r: r.paired_bootstrap("b", **DRAWS)),
    "a pair": ("real", lambda r: r.paired_bootstrap("a", "c", **DRAWS, ci="basic")),
    "a baseline": ("real", lambda r: r.paired_permutation(baseline="b", **DRAWS)),
    "families": ("real", lambda r: r.paired_permutation(**DRAWS, families=list("xxyy"))),
    "sums": ("real", lambda r: r(metric="sum").paired_bootstrap(**DRAWS, rng=3)),
    "errors": ("real", lambda r: r(higher_is_better=False).system_ranks(**DRAWS)),
    "exact": ("right", lambda r: r.paired_bootstrap()),
    "exact draws": ("right", lambda r: r.paired_bootstrap(event="recentred")),
    "newcombe": ("right", lambda r: r.paired_bootstrap(ci="newcombe")),
    "ranks": ("right", lambda r: r.system_ranks(**DRAWS)),
    "ranks by draws": ("right", lambda r: r.system_ranks(**DRAWS, ranks="percentile", ci="basic")),
    "growing": ("growing", lambda r: r.paired_bootstrap(**DRAWS, event="recentred")),
    "a lattice": ("sevenths", lambda r: r.paired_permutation(**DRAWS, adjust="max-t")),
    "off a lattice": ("sevenths", lambda r: r.paired_bootstrap(**DRAWS, method="monte-carlo")),
    "f1": ("f1", lambda r: r(metric="f1").paired_bootstrap(**DRAWS)),
    "f1 swapped": ("f1", lambda r: r(metric="f1").paired_permutation(**DRAWS)),
    "f1 ranked": ("f1", lambda r: r(metric="f1").system_ranks(**DRAWS, adjust="holm")),
    "a function": ("f1", lambda r: r(metric=smoothed).paired_bootstrap(**DRAWS)),
}
EVERY_TIME = ("signs", "draws", "exact", "a lattice", "f1", "f1 ranked")


@functools.cache
def expected(name: str) -> pd.DataFrame:
    kind, ask = QUESTIONS[name]
    return ask(items(kind).rankeval)


def same(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    assert found.attrs == wanted.attrs


def slow_but(kept: tuple[str, ...]) -> list[object]:
    """Mark all but a few as long tests."""
    return [x if x in kept else pytest.param(x, marks=pytest.mark.full) for x in QUESTIONS]


@pytest.fixture(autouse=True)
def at_once():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("name", slow_but(EVERY_TIME))
def test_the_numbers_of_pandas(name):
    kind, ask = QUESTIONS[name]
    same(ask(dd.from_pandas(items(kind), npartitions=3).rankeval), expected(name))


@pytest.mark.parametrize("partitions", [1, 7])
@pytest.mark.parametrize("name", slow_but(("signs",)))
def test_any_partitions(name, partitions, monkeypatch):
    """Blocks of a few partitions, or parts of one."""
    kind, ask = QUESTIONS[name]
    monkeypatch.setattr(door, "_BLOCK", 50 * items(kind).shape[1])
    same(ask(dd.from_pandas(items(kind), npartitions=partitions).rankeval), expected(name))


@pytest.mark.parametrize("name", slow_but(("draws",)))
def test_any_order_of_the_rows(name):
    """Draws belong to the items in the order of their labels, wherever they are."""
    kind, ask = QUESTIONS[name]
    shuffled = items(kind).sample(frac=1, random_state=1)
    ddf = dd.from_pandas(shuffled, npartitions=4, sort=False)
    same(ask(ddf.rankeval), expected(name))


def as_dataset(kind: str) -> xr.Dataset:
    df = items(kind)
    if kind != "f1":
        return xr.Dataset({"score": (("item", "system"), df)}, {"system": list(df)})
    values = df.to_numpy().reshape(ITEMS, 3, 3)
    names = ("correct", "guess", "gold")
    return xr.Dataset(
        {name: (("item", "system"), values[..., k]) for k, name in enumerate(names)},
        {"system": list("abc")},
    )


def refuse_to_compute(*_, **__):
    raise AssertionError("computed while the graph was built")


@pytest.mark.parametrize("name", slow_but(("signs", "f1 ranked")))
def test_datasets_in_chunks_of_items(name):
    kind, ask = QUESTIONS[name]
    wanted = ask(as_dataset(kind).rankeval)
    chunked = as_dataset(kind).chunk(item=40, system=2)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = ask(chunked.rankeval)
    found = lazy.compute()
    lacking = set(wanted.attrs) - set(found.attrs)
    assert lacking <= {"interval", "n_items", "n_resamples"}  # known when the items are
    assert set(found.attrs) - set(wanted.attrs) <= {"n_resamples"}  # a law needs no draws
    assert all(found.attrs[k] == wanted.attrs[k] for k in set(found.attrs) & set(wanted.attrs))
    xr.testing.assert_identical(found.drop_attrs(deep=False).assign_attrs(wanted.attrs), wanted)
    assert {k: v.dtype for k, v in found.items()} == {k: v.dtype for k, v in wanted.items()}


def test_labels_of_a_dataset_in_any_order():
    labels = np.random.default_rng(2).permutation(ITEMS)
    ds = as_dataset("real").assign_coords(item=labels)
    found = ds.chunk(item=40).rankeval.paired_bootstrap(**DRAWS).compute()
    wanted = ds.rankeval.paired_bootstrap(**DRAWS)
    xr.testing.assert_equal(found, wanted)


def test_what_one_worker_has_to_hold_is_asked_as_before():
    """Of a Dataset in chunks, which then are put together."""
    ds = as_dataset("real")
    ask = functools.partial(rankeval_pd.paired_bootstrap, n_resamples=99, event="recentred")
    xr.testing.assert_equal(ask(ds.chunk(item=40), ci="bca").compute(), ask(ds, ci="bca"))


@pytest.mark.parametrize("partitions", [3])
def test_counts_that_are_drawn_step_by_step(partitions, monkeypatch):
    """More items than two bytes tell apart, a few resamples at a time."""
    n = 66_000
    df = pd.DataFrame(np.random.default_rng(1).normal(size=(n, 2)), columns=["x", "y"])
    wanted = df.rankeval.paired_bootstrap(n_resamples=7, event="recentred")
    monkeypatch.setattr(resamples, "_DRAWN_BYTES", 2 * n)
    ddf = dd.from_pandas(df, npartitions=partitions)
    same(ddf.rankeval.paired_bootstrap(n_resamples=7, event="recentred"), wanted)


def test_files_that_begin_their_index_anew(tmp_path):
    """The rows are numbered over all files."""
    for number in range(4):
        part = items("real").iloc[40 * number : 40 * (number + 1)]
        part.reset_index(drop=True).to_parquet(tmp_path / f"part{number}.parquet")
    ddf = dd.read_parquet(tmp_path)
    same(ddf.rankeval.paired_bootstrap(**DRAWS), expected("signs"))


def test_text_as_labels():
    df = items("real").set_axis([f"doc {k % 7}, item {k}" for k in range(ITEMS)])
    ddf = dd.from_pandas(df, npartitions=3, sort=False)
    same(ddf.rankeval.system_ranks(**DRAWS), df.rankeval.system_ranks(**DRAWS))


@pytest.mark.parametrize("n", [2, 64])
def test_few_items_are_looked_at_in_every_way(n):
    df = items("real")[:n]
    found = dd.from_pandas(df, npartitions=2).rankeval.paired_bootstrap(**DRAWS)
    same(found, df.rankeval.paired_bootstrap(**DRAWS))


def test_a_column_that_is_no_system():
    df = items("real").assign(segment_id=np.arange(ITEMS), text="said")
    ddf = dd.from_pandas(df, npartitions=3)
    with pytest.warns(rankeval_pd.RankevalWarning, match="segment_id"):
        ddf.rankeval.paired_bootstrap("a", "b", n_resamples=9)
    named = ddf.rankeval(exclude="segment_id").paired_bootstrap(**DRAWS)
    same(named, expected("signs"))


def test_the_graph_is_small_and_holds_no_data():
    n = 200_000
    data = dask.array.zeros((n, 3), chunks=(10_000, 3))
    ds = xr.Dataset({"score": (("item", "system"), data)}, {"system": list("abc")})
    lazy = ds.rankeval.system_ranks(n_resamples=5_000)
    graph = dict(lazy.__dask_graph__())
    assert len(graph) < 5_000
    assert len(pickle.dumps(list(graph))) < 2**20


def refused(**keywords: Any) -> Ask:
    return lambda ddf: ddf.rankeval.paired_bootstrap(n_resamples=9, **keywords)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (refused(by="d"), "Call this method for each domain"),
        (refused(groups="d"), "First sum each cluster"),
        (refused(strata="d"), "items from the same stratum are spread"),
        (refused(seeds="d"), "Average each system over its seeds"),
        (refused(missing="ratio"), r"ddf.dropna\(\)"),
        (refused(ci="bca", event="recentred"), "leaves out one item at a time"),
        (refused(event="studentised"), "Pass event='wild'"),
        (refused(event="recentred", adjust="max-t"), "Pass event='wild'"),
        (refused(a="a", baseline="b"), "baseline"),
        (refused(a="z"), "'z'"),
        (refused(method="exact"), "method='exact'"),
        (refused(metric="f1"), "two-level columns"),
        (lambda ddf: rankeval_pd.gain_by_size(ddf, [20]), "pandas DataFrame"),
    ],
)
def test_what_cannot_be_asked_says_why(ask, message):
    ddf = dd.from_pandas(items("real"), npartitions=3)
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        ask(ddf)


@pytest.mark.parametrize("name", ["gain_by_size", "population_calibration"])
def test_methods_that_are_not_there_say_why(name):
    with pytest.raises(AttributeError, match="does not exist for a Dask DataFrame"):
        getattr(dd.from_pandas(items("real"), npartitions=3).rankeval, name)


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "has no score for 1"), (np.inf, "infinite"), (1e200, "overflows")],
)
def test_items_that_are_incomplete_are_refused_as_in_pandas(value, message):
    df = items("real").copy()
    df.loc[70, "c"] = value
    for data in (df, dd.from_pandas(df, npartitions=3)):
        with pytest.raises(ValueError, match=message):
            data.rankeval.paired_bootstrap(n_resamples=9)


def test_a_system_without_a_score():
    """Nothing guessed: precision is undefined, in resamples too."""
    df = items("f1").copy()
    df[[("b", "correct"), ("b", "guess")]] = 0
    ask = functools.partial(rankeval_pd.system_ranks, metric="precision", **DRAWS)
    same(ask(dd.from_pandas(df, npartitions=3)), ask(df))


@pytest.mark.parametrize("metric", ["mean", "sum"])
@pytest.mark.parametrize("better", [True, False])
def test_signs_that_test_many_items_rank_the_systems_too(monkeypatch, metric, better):
    rng = np.random.default_rng(10)
    skill = np.array([0.0, 0.02, 0.03, 0.3])
    scores = pd.DataFrame(rng.exponential(size=(3_000, 1)) + skill, columns=list("abcd"))
    scores += rng.normal(size=scores.shape)
    roles: dict[str, Any] = {"metric": metric, "higher_is_better": better}
    drawn = scores.rankeval(**roles).system_ranks(details=True)
    monkeypatch.setattr(test_items, "_NORMAL_ITEMS", 1_000)
    signs = scores.rankeval(**roles).system_ranks(details=True)
    np.testing.assert_allclose(signs["p_best"], drawn["p_best"], atol=0.02)
    assert 0.02 < signs["p_best"].median() < 0.98 or signs["p_best"].max() > 0.98
    pd.testing.assert_frame_equal(signs.drop(columns="p_best"), drawn.drop(columns="p_best"))
    lazy = dd.from_pandas(scores, npartitions=3).rankeval(**roles)
    pd.testing.assert_frame_equal(lazy.system_ranks(details=True), signs)
