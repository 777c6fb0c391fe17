"""Lazy Datasets: the same numbers, nothing computed while the graph is built, bounded memory."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import xarray as xr

from rankeval_pd import RankevalWarning, datasets
from tests.conftest import candidates

dask = pytest.importorskip("dask")
pytest.importorskip("dask.callbacks")
pytest.importorskip("dask.array")

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")


def raise_on_compute(*_, **__):
    raise AssertionError("computed while the graph was built")


@pytest.fixture(scope="module")
def queries() -> xr.Dataset:
    """Six queries of 60 candidates with ties; two are padded."""
    parts = []
    for seed in range(6):
        df = datasets.simulate_candidates(60, baseline=0.3, decimals=1, rng=seed)
        parts.append(df.astype({"gold": float}).rename_axis("candidate").to_xarray())
    ds = xr.concat(parts, "query", join="exact").assign_coords(query=list("abcdef"))
    sizes = xr.DataArray([60, 40, 60, 25, 60, 60], dims="query")
    return ds.where(xr.DataArray(np.arange(60), dims="candidate") < sizes)


# with a special rule; all methods in chunks are compared in tests/test_properties.py
QUESTIONS = {
    "random_test, combined": lambda r: r.random_test([5, 10, 60], combine=True),
    "compare_thresholds": lambda r: r.compare_thresholds(
        "good", "fair", {"good": [1, 2], "fair": [1, 0.5]}
    ),
    "compare by swaps": lambda r: r.compare(
        n=[5, 10], adjust="max-t", adjust_over="group", n_resamples=50
    ),
    "compare, combined": lambda r: r.compare(n=[5, 10], combine=True, adjust="holm"),
    "averaged": lambda r: r.nbest_precision([5, 10], average="macro"),
    "averaged ties": lambda r: r.nbest_precision(ties="expected"),
    "tie_sensitivity": lambda r: r.tie_sensitivity("good", "fair", [5, 10], n_keys=3),
    "repetition": lambda r: r.repetition(n=10),
    "per_query": lambda r: r.per_query(["AP", "P@5"]),
    "average precision": lambda r: r.area("ap"),
    "roc": lambda r: r.roc(),
    "compare": lambda r: r.compare("good", "fair", adjust="holm"),
}
CHUNKS = [{}, {"candidate": 17}, {"query": 1}, {"query": 4, "candidate": 25}]


def check_lazy(ask, lazy: xr.Dataset, eager: xr.Dataset) -> None:
    """Check that the answer is lazy, and that of the data in memory."""
    expected = ask(eager.rankeval)
    with dask.config.set(scheduler=raise_on_compute):
        answer = ask(lazy.rankeval)
    assert all(x.chunks is not None for name, x in answer.data_vars.items() if name != "threshold")
    found = answer.compute(scheduler="threads")
    xr.testing.assert_identical(found, expected)
    assert {k: v.dtype for k, v in found.items()} == {k: v.dtype for k, v in expected.items()}


@pytest.mark.full
@pytest.mark.parametrize("name", QUESTIONS)
def test_nothing_is_computed_while_the_graph_is_built(queries, name):
    for chunks in CHUNKS:
        check_lazy(QUESTIONS[name], queries.chunk(chunks), queries)


def test_chunks_change_no_number(queries):
    for name in ("compare_thresholds", "repetition"):
        check_lazy(QUESTIONS[name], queries.chunk(CHUNKS[-1]), queries)


def test_one_ranking_in_chunks_is_one_chunk():
    df = datasets.simulate_candidates(300, baseline=0.3, decimals=1)
    ds = xr.Dataset({name: ("candidate", df[name].to_numpy()) for name in df})
    ds = ds.where(xr.DataArray(np.arange(300) % 7 != 3, dims="candidate"))
    check_lazy(lambda r: r.compare(n=[5, 20]), ds.chunk(candidate=47), ds)


@pytest.mark.full
def test_processes(queries):
    spawned = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=spawned) as pool,
        dask.config.set(scheduler="processes", pool=pool),
    ):
        for name in ("compare, combined", "tie_sensitivity", "per_query"):
            lazy = QUESTIONS[name](queries.chunk(query=3).rankeval)
            xr.testing.assert_identical(lazy.compute(), QUESTIONS[name](queries.rankeval))


def test_a_key_and_a_dimension_of_measures(queries):
    scores = [queries["good"], queries["fair"]]
    both = xr.Dataset(
        {
            "score": xr.concat(
                scores, "measure", coords="minimal", compat="override"
            ).assign_coords(measure=["good", "fair"]),
            "gold": queries["gold"],
            "order": ("candidate", np.arange(60)[::-1]),
        }
    )
    keyed = queries.assign(order=both["order"])
    eager = keyed.rankeval.nbest_precision(key="order")
    for data in (both.chunk(query=3, candidate=30), keyed.chunk(candidate=30)):
        with dask.config.set(scheduler=raise_on_compute):
            found = data.rankeval.nbest_precision(key="order")
        xr.testing.assert_identical(found.compute(), eager)
    assert not eager.equals(keyed.rankeval.nbest_precision(measures=["good", "fair"]))


def test_tables_of_rows_are_computed(queries):
    for ask in (
        lambda r: r.significant_ranges("good", "fair", alpha=0.5),
        lambda r: r.difference_region("good", "fair", 5),
    ):
        found = ask(queries.chunk(query=2).rankeval).compute()
        xr.testing.assert_identical(found, ask(queries.rankeval))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ds: ds.assign(gold=ds["gold"] * 2), "a gold label is True or False"),
        (lambda ds: ds.assign(good=ds["good"].where(ds["good"] < 2)), "missing='raise'"),
        (
            lambda ds: ds.assign(gold=ds["gold"].where(ds["good"] < 2)),
            r"gold=.gold. is missing for \d+ of \d+ candidates",
        ),
    ],
)
def test_wrong_values_are_refused_when_computed(queries, change, message):
    with dask.config.set(scheduler=raise_on_compute):
        lazy = change(queries.chunk(query=2)).rankeval.nbest_precision(5)
    with pytest.raises(ValueError, match=message):
        lazy.compute()


def test_a_lazy_answer_warns_when_computed(queries):
    cuts = {"good": 0.5, "fair": 1.0}
    call = queries.chunk(query=6).rankeval
    lazy = call.compare_thresholds("good", "fair", cuts, test="fisher", alpha=0.1)
    with pytest.warns(RankevalWarning, match="footnote 13"):
        lazy.compute(scheduler="synchronous")


@pytest.mark.parametrize("name", ["_group", "score", "exists", "group"])
def test_any_name_of_a_batch(queries, name):
    """No name that is used inside is confused with the user's."""
    renamed = queries.rename(query=name)
    expected = queries.rankeval.significant_ranges("good", "fair", alpha=0.5)
    assert len(set(expected["query"].to_numpy())) > 1
    found = renamed.rankeval.significant_ranges("good", "fair", alpha=0.5)
    xr.testing.assert_identical(found.drop_attrs(), expected.rename(query=name).drop_attrs())


def test_shares_of_padded_lazy_groups(queries):
    """Their sizes depend on labels that are not read yet, so that a share is no number."""
    whole = queries.isel(query=[0, 2, 4, 5])
    whole = whole.assign(gold=whole["gold"].astype(bool))
    for name in ("nbest_precision", "enrichment"):
        with pytest.raises(ValueError, match="n is a share of the candidates in a lazy Dataset"):
            getattr(queries.chunk(query=2).rankeval, name)([0.1, 0.5])
        found, expected = (
            getattr(x.rankeval, name)([0.1, 0.5]) for x in (whole.chunk(query=2), whole)
        )
        xr.testing.assert_identical(found.compute(), expected)


@pytest.mark.full
def test_few_tasks_for_each_chunk_and_one_run(queries):
    """A chunk takes one question, two tasks for each variable, and one for each column."""
    many = xr.concat([queries] * 10, "query", join="override")
    many = many.assign_coords(query=range(60)).fillna({"good": 0.0, "fair": 0.0, "gold": 0.0})
    runs, tasks = [], []
    counted = dask.callbacks.Callback(
        start=lambda *_: runs.append(1), pretask=lambda *_: tasks.append(1)
    )
    for name in ("compare", "compare, combined", "averaged", "per_query", "repetition"):
        numbers = []
        for data in (many.isel(query=slice(30)), many):
            runs.clear()
            tasks.clear()
            with counted, dask.config.set(scheduler="synchronous"):
                found = QUESTIONS[name](data.chunk(query=3).rankeval).compute()
            assert len(runs) == 1, name
            numbers.append(len(tasks))
        each = 2 + 2 * len(many.data_vars) + len(found.data_vars)
        assert numbers[1] - numbers[0] <= 10 * each, name
        assert numbers[1] <= 20 * each + len(found.variables), name


@pytest.mark.full
def test_a_store_larger_than_memory(tmp_path):
    """128 MB of scores in a Zarr store; the process may take 100 MB beside what it holds."""
    pytest.importorskip("zarr")
    if not sys.platform.startswith("linux"):
        pytest.skip("the limit of a process's data is Linux's")
    code = textwrap.dedent(
        f"""
        import resource, warnings
        import dask, numpy as np, xarray as xr, zarr, dask.array as da
        import rankeval_pd
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        queries, size = 400, 40_000
        one = dask.delayed(np.random.default_rng(0).normal(size=(1, size)))
        parts = [dask.delayed(np.roll)(one, 997 * i, axis=1) for i in range(queries)]
        score = da.concatenate([da.from_delayed(p, (1, size), float) for p in parts])
        dims = ("query", "candidate")
        ds = xr.Dataset({{"a": (dims, score), "b": (dims, -score), "gold": (dims, score > 1)}})
        # a thread's stack is data too, and Zarr starts more threads where there are more cores
        zarr.config.set({{"threading.max_workers": 1}})
        n = [10, 1000]
        with dask.config.set(scheduler="synchronous"):
            plain = {{name: {{"compressors": None}} for name in ds}}
            ds.to_zarr({str(tmp_path / "store.zarr")!r}, consolidated=False, encoding=plain)
            stored = xr.open_zarr({str(tmp_path / "store.zarr")!r}, consolidated=False)
            assert stored.a.nbytes == 128_000_000
            first = stored.isel(query=[0]).rankeval  # what is imported once is there
            first.nbest_precision(n).compute(), first.compare("a", "b", n).compute()
            with open("/proc/self/status") as status:
                held = next(int(line.split()[1]) for line in status if line.startswith("VmData"))
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            resource.setrlimit(resource.RLIMIT_DATA, (held * 1024 + 100 * 2**20, hard))
            found = stored.rankeval(measures="a").nbest_precision(n).compute()
        assert found.sizes == {{"query": 400, "measure": 1, "n": 2}}
        assert float(found.precision.sel(measure="a", n=10).min()) == 1.0
        try:
            stored.a.load()
        except MemoryError:
            print("bounded")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.strip() == "bounded", done.stderr[-2000:]


# ------------------------------------------------------------------------------------------- items


def test_items_in_chunks_have_the_draws_of_their_labels():
    scores = candidates(0, 150)[["a", "b", "c"]].to_numpy()
    labels = np.random.default_rng(2).permutation(150)
    ds = xr.Dataset(
        {"score": (("item", "system"), scores)}, {"system": list("abc"), "item": labels}
    )
    for options in ({}, {"ci": "basic", "event": "recentred"}):
        with dask.config.set(scheduler=raise_on_compute):
            lazy = ds.chunk(item=40, system=2).rankeval.paired_bootstrap(n_resamples=99, **options)
        expected = ds.rankeval.paired_bootstrap(n_resamples=99, **options)
        xr.testing.assert_equal(lazy.compute(scheduler="synchronous"), expected)


def test_the_graph_of_items_is_small_and_holds_no_data():
    data = dask.array.zeros((200_000, 3), chunks=(10_000, 3))
    ds = xr.Dataset({"score": (("item", "system"), data)}, {"system": list("abc")})
    graph = dict(ds.rankeval.system_ranks(n_resamples=5_000).__dask_graph__())
    assert len(graph) < 5_000
    assert len(pickle.dumps(list(graph))) < 2**20


@pytest.mark.parametrize("value", [2**63, -(10**59)])
def test_a_value_that_the_label_cannot_hold_does_not_occur(value):
    frame = candidates(0, 40).assign(gold=np.arange(40) % 3)
    data = xr.Dataset.from_dataframe(frame.reset_index(drop=True).rename_axis("candidate"))
    for given in (data, data.chunk(candidate=20)):
        with pytest.raises(ValueError, match="positive: no candidate has the value"):
            given.rankeval.area(positive=value, measures="a")
