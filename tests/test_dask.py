"""Lazy Datasets: the same numbers, nothing computed while the graph is built, bounded memory."""

import itertools
import multiprocessing
import subprocess
import sys
import textwrap
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from rankeval_pd import RankevalWarning, datasets

dask = pytest.importorskip("dask")
pytest.importorskip("dask.callbacks")
pytest.importorskip("dask.array")


def at_length(parameters: object, kept: Collection[object]) -> list[object]:
    """Mark all but a few as long tests."""
    return [x if x in kept else pytest.param(*x, marks=pytest.mark.full) for x in parameters]


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
    real = xr.DataArray(np.arange(60)[None] < [[60], [40], [60], [25], [60], [60]],
                        dims=("query", "candidate"))  # fmt: skip
    return ds.where(real)


QUESTIONS = {
    "nbest_precision": lambda r: r.nbest_precision(),
    "acceptance_precision": lambda r: r.acceptance_precision({"good": [1.0, 2.0], "fair": 1.0}),
    "compare": lambda r: r.compare("good", "fair", adjust="holm"),
    "compare by thresholds": lambda r: r.compare(
        "good", "fair", threshold={"good": [1, 2], "fair": [1, 0.5]}
    ),
    "local_precision": lambda r: r.local_precision(10),
    "nbest_precision of averaged ties": lambda r: r.nbest_precision(ties="expected"),
    "precision_band": lambda r: r.precision_band([5, 10], n_resamples=50),
    "compare by swaps": lambda r: r.compare(
        n=[5, 10], adjust="max-t", adjust_over="group", n_resamples=50
    ),
    "difference_band": lambda r: r.difference_band(n=[5, 10], n_resamples=50),
    "mean_difference": lambda r: r.mean_difference("good", "fair", [5, 10], n_resamples=50),
    "tie_sensitivity": lambda r: r.tie_sensitivity("good", "fair", [5, 10], n_keys=3),
    "repetition": lambda r: r.repetition(n=10),
    "random_bound": lambda r: r.random_bound([0.05, 0.001]),
    "random_test": lambda r: r.random_test([5, 10, 20]),
}
MORE = {
    "random_envelope": lambda r: r.random_envelope(0.2, [3, 9]),
    "random_test, adjusted": lambda r: r.random_test([5, 10, 20], adjust="envelope"),
    "random_test, combined": lambda r: r.random_test([5, 10, 60], combine=True),
    "compare, combined": lambda r: r.compare(n=[5, 10], combine=True, adjust="holm"),
    "compare, averaged": lambda r: r.compare("good", "fair", n=[5, 10], average="macro"),
    "per_query": lambda r: r.per_query(["AP", "P@5"]),
    "roc": lambda r: r.roc(),
    "lift": lambda r: r.lift([5, 20], ties="expected"),
    "random_band": lambda r: r.random_band("lift", [0.05, 0.001]),
    "area": lambda r: r.area(),
    "average precision": lambda r: r.area("ap"),
    "compare_area": lambda r: r.compare_area(adjust="holm"),
}
EVERY_TIME = (
    "nbest_precision", "acceptance_precision", "nbest_precision of averaged ties",
    "precision_band", "compare by swaps", "tie_sensitivity", "repetition", "random_bound",
    "random_test, combined", "compare, combined", "per_query", "area",
)  # fmt: skip
CHUNKS = {
    "one": {},
    "candidate in parts": {"candidate": 17},
    "queries": {"query": 1},
    "both": {"query": 4, "candidate": 25},
}


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:acceptance sets of:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:precision reaches :rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:area. a class has:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:ties=.shared:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    ("name", "chunks"),
    at_length(
        itertools.product([*QUESTIONS, *MORE], CHUNKS),
        [
            *((name, "both") for name in EVERY_TIME),
            *((name, chunks) for name in ("compare", "roc") for chunks in CHUNKS),
        ],
    ),
)
def test_same_numbers_and_nothing_computed_early(queries, name, chunks):
    ask, chunks = {**QUESTIONS, **MORE}[name], CHUNKS[chunks]
    eager = ask(queries.rankeval)
    with dask.config.set(scheduler=raise_on_compute):
        lazy = ask(queries.chunk(chunks).rankeval)
    assert all(v.chunks is not None for name, v in lazy.data_vars.items() if name != "threshold")
    with dask.config.set(scheduler="threads"):
        computed = lazy.compute()
    xr.testing.assert_identical(computed, eager)
    assert {k: v.dtype for k, v in computed.items()} == {k: v.dtype for k, v in eager.items()}


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:acceptance sets of:rankeval_pd.RankevalWarning")
@pytest.mark.filterwarnings("ignore:precision reaches :rankeval_pd.RankevalWarning")
def test_processes(queries):
    """All questions in one pool of processes."""
    spawned = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=spawned) as pool,
        dask.config.set(scheduler="processes", pool=pool),
    ):
        for ask in QUESTIONS.values():
            lazy = ask(queries.chunk(query=3).rankeval)
            xr.testing.assert_identical(lazy.compute(), ask(queries.rankeval))


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
def test_key_and_measure_dimension(queries):
    both = xr.Dataset(
        {
            "score": xr.concat(
                [queries["good"], queries["fair"]], "measure", coords="minimal", compat="override"
            ).assign_coords(measure=["good", "fair"]),
            "gold": queries["gold"],
            "order": ("candidate", np.arange(60)[::-1]),
        }
    )
    keyed = queries.assign(order=both["order"])
    eager = keyed.rankeval.nbest_precision(key="order")
    for data in (both, both.chunk(query=2, candidate=9), keyed.chunk(candidate=7)):
        with dask.config.set(scheduler=raise_on_compute):
            found = data.rankeval.nbest_precision(key="order")
        xr.testing.assert_identical(found.compute(), eager)
    assert not eager.equals(keyed.rankeval.nbest_precision(measures=["good", "fair"]))


def test_repr_counts_nothing_lazy(queries):
    with dask.config.set(scheduler=raise_on_compute):
        assert "not counted because the data are lazy" in repr(queries.chunk().rankeval)


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_tables_of_rows_compute(queries):
    lazy = queries.chunk(query=2)
    for ask in (
        lambda r: r.significant_ranges("good", "fair", alpha=0.5),
        lambda r: r.difference_region("good", "fair", 5),
    ):
        xr.testing.assert_identical(ask(lazy.rankeval).compute(), ask(queries.rankeval))


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
def test_what_is_wrong_with_values_is_said_when_computed(queries, change, message):
    with dask.config.set(scheduler=raise_on_compute):
        lazy = change(queries.chunk(query=2)).rankeval.nbest_precision(5)
    with pytest.raises(ValueError, match=message):
        lazy.compute()


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
def test_frame_gives_the_same(queries):
    lazy = queries.chunk(query=2, candidate=13).rankeval.compare("good", "fair").compute()
    frame = queries.to_dataframe().reset_index().dropna().set_index("candidate")
    expected = (
        frame.assign(gold=frame["gold"].astype(bool)).rankeval(by="query").compare("good", "fair")
    )
    found = lazy.to_dataframe().reset_index().dropna(subset="n_only_a").reset_index(drop=True)
    for name in expected:
        if expected[name].dtype.kind in "if":
            np.testing.assert_array_equal(found[name].astype(float), expected[name].astype(float))
        else:
            assert found[name].astype(object).equals(expected[name].astype(object))


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
        from rankeval_pd.errors import RankevalWarning
        warnings.simplefilter("ignore", RankevalWarning)
        queries, size = 400, 40_000
        one = dask.delayed(np.random.default_rng(0).normal(size=(1, size)))
        parts = [dask.delayed(np.roll)(one, 997 * i, axis=1) for i in range(queries)]
        score = da.concatenate([da.from_delayed(p, (1, size), float) for p in parts])
        gold, other = score > 1, -score
        dims = ("query", "candidate")
        ds = xr.Dataset({{"a": (dims, score), "b": (dims, other), "gold": (dims, gold)}})
        # a thread's stack is data too, and Zarr starts more threads where there are more cores
        zarr.config.set({{"threading.max_workers": 1}})
        n = [10, 1000, 10_000]
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
            pair = stored.isel(query=slice(9)).rankeval.compare("a", "b", n).compute()
        assert found.sizes == {{"query": 400, "measure": 1, "n": 3}}
        assert float(found.precision.sel(measure="a", n=10).min()) == 1.0
        assert (pair.better == "a").all()
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


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_few_tasks_for_each_chunk_and_one_run(queries):
    """A chunk takes one question, two tasks for each variable, and one for each column."""
    many = xr.concat([queries] * 10, "query", join="override")
    many = many.assign_coords(query=range(60)).fillna({"good": 0.0, "fair": 0.0, "gold": 0.0})
    half = many.isel(query=slice(30))
    runs, tasks = [], []
    counted = dask.callbacks.Callback(
        start=lambda *_: runs.append(1), pretask=lambda *_: tasks.append(1)
    )
    asked = {
        **QUESTIONS,
        **MORE,
        "random_cdf": lambda r: r.random_cdf([3]),
        "isolines": lambda r: r.isolines([5]),
        "significant_ranges": lambda r: r.significant_ranges("good", "fair", n=[5, 9], alpha=0.5),
        "difference_region": lambda r: r.difference_region("good", "fair", 5),
        "averaged": lambda r: r.nbest_precision([5, 10], average="macro"),
    }

    def counts(lazy, name):
        runs.clear()
        tasks.clear()
        with counted, dask.config.set(scheduler="synchronous"):
            found = asked[name](lazy.rankeval)
            if name != "difference_region":  # whose columns are chosen when they are asked for
                found = found.compute()
        assert len(runs) == 1, name
        return found, len(tasks)

    more = ("compare", "compare, combined", "compare, averaged", "per_query", "repetition")
    for name in (*more, *list(asked)[-5:]):
        found, ten = counts(half.chunk(query=3), name)
        _, twenty = counts(many.chunk(query=3), name)
        each = 2 + 2 * len(half.data_vars) + len(found.data_vars)
        assert twenty - ten <= 10 * each, name
        assert twenty <= 20 * each + len(found.variables), name
        if name not in QUESTIONS:  # they are compared above
            xr.testing.assert_identical(found.compute(), asked[name](half.rankeval))


def test_warning_when_computed(queries):
    cuts = {"good": 0.5, "fair": 1.0}
    lazy = queries.chunk(query=6).rankeval.compare("good", "fair", threshold=cuts, alpha=0.1)
    with (
        pytest.warns(RankevalWarning, match="footnote 13"),
        dask.config.set(scheduler="synchronous"),
    ):
        lazy.compute()


@pytest.mark.filterwarnings("ignore:ties='shared':rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("name", ["group", "_group", "score", "exists"])
def test_any_name_of_a_batch(queries, name):
    """No name that is used inside is confused with the user's."""
    renamed = queries.rename(query=name)
    expected = queries.rankeval.significant_ranges("good", "fair", alpha=0.5)
    assert len(set(expected["query"].to_numpy())) > 1
    found = renamed.rankeval.significant_ranges("good", "fair", alpha=0.5)
    xr.testing.assert_identical(found.drop_attrs(), expected.rename(query=name).drop_attrs())


ONE = {
    name: QUESTIONS[name]
    for name in (
        "precision_band", "difference_band", "mean_difference",
        "tie_sensitivity", "random_test",
    )
} | {
    "nbest_precision": lambda r: r.nbest_precision([1, 5, 20], target="nbest"),
    "averaged ties": lambda r: r.nbest_precision([1, 5, 20], ties="expected"),
    "odds_ratios": lambda r: r.odds_ratios("good", "fair", [5, 20]),
    "measure_ranks": lambda r: r.measure_ranks([5, 20]),
    "swaps": lambda r: r.compare(n=[5, 20], adjust="max-t", n_resamples=99),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    ("name", "labels"),
    at_length(
        itertools.product(ONE, ["rows", "index", "key", "padded"]),
        [
            *((name, "rows") for name in ("nbest_precision", "averaged ties", "swaps")),
            *(("tie_sensitivity", labels) for labels in ("index", "key", "padded")),
        ],
    ),
)
def test_one_ranking_in_chunks_needs_its_head_alone(name, labels):
    ask = ONE[name]
    df = datasets.simulate_candidates(1_500, baseline=0.3, decimals=1)
    ds = xr.Dataset({name: ("candidate", df[name].to_numpy()) for name in df})
    roles = {"key": "place"} if labels == "key" else {}
    if labels == "index":
        ds = ds.assign_coords(candidate=[f"w{i}" for i in range(1_500)])
    elif labels == "key":
        place = np.random.default_rng(0).permutation(1_500)
        ds = ds.assign(place=("candidate", place), good=ds["good"].astype("float32"))
    elif labels == "padded":
        ds = ds.where(xr.DataArray(np.arange(1_500) % 7 != 3, dims="candidate"))
    with dask.config.set(scheduler=raise_on_compute):
        lazy = ask(ds.chunk(candidate=107).rankeval(**roles))
    chunks = -(-1_500 // 107)
    assert len(dict(lazy.__dask_graph__())) <= 10 * chunks + 2 * len(lazy)
    eager = ask(ds.rankeval(**roles))
    xr.testing.assert_identical(lazy.compute(scheduler="threads"), eager)


def without_draws(table: xr.Dataset) -> xr.Dataset:
    """Return a table whose attrs do not say how many draws there were: lazily none knows yet.

    Nor the order of the variables: that of a store is its own.
    """
    return table.assign_attrs(n_resamples=0, order="")


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
@pytest.mark.parametrize(
    "chunks", [pytest.param(1, marks=pytest.mark.full), 7, pytest.param(60, marks=pytest.mark.full)]
)
def test_one_ranking_in_a_store(tmp_path, chunks):
    pytest.importorskip("zarr")
    df = datasets.simulate_candidates(1_500, baseline=0.3, decimals=1)
    ds = xr.Dataset({name: ("candidate", df[name].to_numpy()) for name in df})
    ds = ds.assign(few=("candidate", (df["good"].to_numpy() > 1).astype("int8")))
    ds = ds.assign(fair=ds["fair"].where(ds["fair"] > -1), ident=("candidate", df.index[::-1]))
    size = -(-1_500 // chunks)
    ds.chunk(candidate=size).to_zarr(tmp_path / "store.zarr", consolidated=False, zarr_format=2)
    stored = xr.open_zarr(tmp_path / "store.zarr", consolidated=False, chunks={})
    roles = {"missing": "last", "label": "ident", "lower_is_better": "few"}
    roles["measures"] = ["good", "fair", "few"]  # the order of a store is its own
    names = ("tie_sensitivity", "nbest_precision", "precision_band")
    for ask in [ONE[name] for name in (names if chunks == 7 else ONE)]:
        found = ask(stored.rankeval(**roles)).compute(scheduler="threads")
        expected = ask(ds.rankeval(**roles))
        for name in expected:
            xr.testing.assert_identical(found[name].drop_attrs(), expected[name].drop_attrs())
        assert without_draws(found).attrs == without_draws(expected).attrs


COUNTED = {
    "random_bound": lambda r: r.random_bound([0.05], [3, 9]),
    "random_envelope": lambda r: r.random_envelope(n=[3, 9]),
    "random_cdf": lambda r: r.random_cdf([3, 9]),
    "random_band": lambda r: r.random_band(n=[3, 9]),
    "isolines": lambda r: r.isolines(n=[3, 9]),
}


@pytest.mark.parametrize("name", COUNTED)
def test_measures_do_not_matter_where_only_labels_are_counted(queries, name):
    """Named measures are not read by methods that need no scores, in any form of data."""
    ask, roles = COUNTED[name], {"gold": "gold", "measures": ["good", "fair"]}
    wanted = ask(queries.rankeval(**roles))
    found = ask(queries.chunk(query=2).rankeval(**roles))
    xr.testing.assert_identical(found.compute(), wanted)
    dd = pytest.importorskip("dask.dataframe")
    import rankeval_pd.dask  # noqa: F401

    frame = queries.isel(query=0).to_dataframe().drop(columns="query")
    ddf = dd.from_pandas(frame, npartitions=3)
    table = ask(ddf.rankeval(**roles))
    pd.testing.assert_frame_equal(table, ask(frame.rankeval(**roles)))


def test_shares_of_padded_lazy_groups(queries):
    """Their sizes depend on labels that are not read yet, so that a share is no number."""
    ask = {
        "nbest_precision": lambda r: r.nbest_precision([0.1, 0.5]),
        "enrichment": lambda r: r.enrichment([0.1, 0.5]),
    }
    for question in ask.values():
        with pytest.raises(ValueError, match="n is a share of the candidates in a lazy Dataset"):
            question(queries.chunk(query=2).rankeval)
    whole = queries.isel(query=[0, 2, 4, 5])
    whole = whole.assign(gold=whole["gold"].astype(bool))
    for question in ask.values():
        found = question(whole.chunk(query=2).rankeval)
        xr.testing.assert_identical(found.compute(), question(whole.rankeval))
