"""A cluster of two workers: the numbers of pandas, small graphs, and a worker that dies."""

from __future__ import annotations

import itertools
import os
import pickle
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd

pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
from distributed import Client, LocalCluster  # noqa: E402

import rankeval_pd.dask  # noqa: E402

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning"),
    # the cluster's own, when it ends or a worker dies
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N = [10, 100, 400]


@pytest.fixture(scope="module")
def client():
    patient = {f"distributed.comm.timeouts.{name}": "300s" for name in ("connect", "tcp")}
    # a worker that is not there at a moment so long after its death, as it died again, is given up
    patient["distributed.deploy.lost-worker-timeout"] = "600s"
    forked = {"distributed.worker.multiprocessing-method": "forkserver"}  # of what is imported
    with (
        dask.config.set(patient | forked),  # a worker starts anew where everything else runs too
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def df() -> pd.DataFrame:
    return rankeval_pd.datasets.simulate_candidates(20_000, decimals=1)


@pytest.fixture
def ddf(df, tmp_path):
    for number in range(20):
        part = df.iloc[1_000 * number : 1_000 * (number + 1)]
        part.reset_index(drop=True).to_parquet(tmp_path / f"part{number:02d}.parquet")
    return dd.read_parquet(tmp_path)


ASKED = (
    lambda r: r.nbest_precision(N, target="nbest"),
    lambda r: r.compare(n=N, adjust="max-t"),
    lambda r: r.random_test(N),
    lambda r: r.difference_region("good", "fair", 100).reset_index(drop=True),
    lambda r: r.tie_sensitivity("good", "fair", N, n_keys=3),
)


def dies_once(part: pd.DataFrame, seen: str, number: int) -> pd.DataFrame:
    """End the worker when it comes to one of the partitions for the first time."""
    if len(part) and part.index[0] == number and not Path(seen).exists():
        Path(seen).touch()
        os._exit(1)
    return part


@pytest.mark.parametrize("ask", ASKED)
def test_two_workers(client, df, ddf, ask):
    pd.testing.assert_frame_equal(ask(ddf.rankeval), ask(df.rankeval), check_exact=True)


OF_GROUPS = (
    lambda r: r.nbest_precision([5, 10]),
    lambda r: r.compare(n=[5, 10], adjust="holm"),
    lambda r: r.area("ap"),
)


@pytest.mark.parametrize("ask", OF_GROUPS)
def test_groups_on_two_workers(client, df, tmp_path, ask):
    """Workers answer for whole groups; the family is decided where the answers are joined."""
    seen = tmp_path / "seen"
    groups = df.assign(query=np.arange(len(df)) % 300)
    mortal = dd.from_pandas(groups, npartitions=20)
    mortal = mortal.map_partitions(dies_once, str(seen), 15_000, meta=mortal._meta)
    with rankeval_pd.set_options(level=0.9, alpha=0.4):
        found, every = (ask(data.rankeval(by="query")) for data in (mortal, groups))
    assert seen.exists()
    pd.testing.assert_frame_equal(found, every, check_exact=True)
    assert found.attrs["level"] == every.attrs["level"] == 0.9


@pytest.mark.parametrize("kind", ["roc", "ap"])
def test_a_worker_that_dies_between_the_passes(client, df, tmp_path, kind):
    """The true positives stay with the workers from one pass to the next."""
    seen = tmp_path / "seen"
    mortal = dd.from_pandas(df, npartitions=20)
    mortal = mortal.map_partitions(dies_once, str(seen), 15_000, meta=mortal._meta)
    found, every = (data.rankeval.area(kind) for data in (mortal, df))
    assert seen.exists()
    pd.testing.assert_frame_equal(found, every, rtol=1e-11)


@pytest.mark.parametrize("number", [1_000, 15_000])
def test_a_worker_that_dies(client, df, tmp_path, number):
    """In the first round, and in the last, when what the first found may be on it."""
    ddf = dd.from_pandas(df, npartitions=20)
    seen = tmp_path / "seen"
    mortal = ddf.map_partitions(dies_once, str(seen), number, meta=ddf._meta)
    head = mortal.rankeval.head(400)
    assert seen.exists()
    for ask in ASKED[:2]:
        pd.testing.assert_frame_equal(ask(head), ask(df.rankeval), check_exact=True)


def block_dies_once(block: np.ndarray, seen: str, block_info=None) -> np.ndarray:
    """End the worker when it comes to the sixth chunk of rankings for the first time."""
    if block_info and block_info[0]["chunk-location"][0] == 5 and not Path(seen).exists():
        Path(seen).touch()
        os._exit(1)
    return block


OF_RANKINGS = {
    "compare, combined": lambda r: r.compare(n=[5, 10], combine=True),
    "area": lambda r: r.area(),
    "significant_ranges": lambda r: r.significant_ranges("good", "fair", n=[5, 10], alpha=0.5),
    "difference_region": lambda r: r.difference_region("good", "fair", 10),
    "repetition": lambda r: r.repetition(n=10),
}


@pytest.mark.parametrize("names", [["compare, combined"], list(OF_RANKINGS)[1:]])
def test_a_worker_that_dies_among_many_rankings(client, df, tmp_path, names):
    """Whoever asks several questions of the same rankings computes them together.

    The combined comparison alone: Dask 2026.8 does not compute a Dataset as a whole, ours or any
    other, where one variable is made element by element of another; xarray's compute does.
    """
    seen = tmp_path / "seen"
    ds = xr.Dataset(
        {x: (("query", "candidate"), df[x].to_numpy().reshape(200, 100)) for x in df.columns}
    )
    lazy = ds.chunk(query=20)
    mortal = lazy.assign(
        good=lazy["good"].copy(
            data=lazy["good"].data.map_blocks(block_dies_once, str(seen), dtype=float)
        )
    )
    answers = [OF_RANKINGS[name](mortal.rankeval) for name in names]
    answers = dask.compute(*answers) if len(answers) > 1 else [answers[0].compute()]
    assert seen.exists()
    for name, found in zip(names, answers, strict=True):
        xr.testing.assert_identical(found, OF_RANKINGS[name](ds.rankeval))


@pytest.mark.parametrize("order", ["in turn", "shuffled"])
def test_a_worker_that_dies_among_groups(client, df, tmp_path, order):
    """Where partitions hand on their edges, and where all is shuffled."""
    seen = tmp_path / "seen"
    queries = df.assign(query=np.arange(len(df)) // 70)
    spread = queries if order == "in turn" else queries.sample(frac=1.0, random_state=1)
    mortal = dd.from_pandas(spread, npartitions=20, sort=False)
    number = int(mortal.get_partition(15).index.compute()[0])
    mortal = mortal.map_partitions(dies_once, str(seen), number, meta=mortal._meta)
    found = mortal.rankeval(by="query").compare("good", "fair", n=[5, 10])
    assert seen.exists()
    expected = queries.rankeval(by="query").compare("good", "fair", n=[5, 10])
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_a_head_travels(client, df, ddf):
    head = ddf.rankeval.head(400)
    again = pickle.loads(pickle.dumps(head))
    found = client.submit(lambda h: h.compare(n=[10, 100], details=True), again).result()
    pd.testing.assert_frame_equal(found, df.rankeval.compare(n=[10, 100]), check_exact=True)


@pytest.fixture(scope="module")
def items() -> pd.DataFrame:
    """More items than two bytes tell apart: counts of a block of resamples take several steps."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal([0.0, 0.01, 0.02], size=(70_000, 3)), columns=list("xyz"))


OF_ITEMS = (
    lambda r: r.paired_bootstrap(n_resamples=1_100, adjust="max-t"),
    lambda r: r.paired_permutation(n_resamples=300),
    lambda r: r.system_ranks(n_resamples=1_100),
)


@pytest.mark.parametrize(
    ("ask", "sort"), [(OF_ITEMS[0], True), *itertools.product(OF_ITEMS, [False])]
)
def test_items_on_two_workers(client, items, tmp_path, ask, sort):
    """From files, their rows in the order of their labels and in any other."""
    data = items if sort else items.sample(frac=1, random_state=1)
    for number in range(7):
        data.iloc[10_000 * number : 10_000 * (number + 1)].to_parquet(
            tmp_path / f"{number}.parquet"
        )
    ddf = dd.read_parquet(tmp_path)
    if not sort:
        assert not ddf.index.compute().is_monotonic_increasing
    found, wanted = ask(ddf.rankeval), ask(items.rankeval)
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    assert found.attrs == wanted.attrs


def dies_while_drawing(seen: str) -> None:
    """End the worker when it is to draw counts for the second time."""
    from rankeval_pd.stats import items as resamples

    plain, calls = resamples.drawn_counts, []

    def drawn_counts(*given):
        calls.append(None)
        if len(calls) == 2 and not Path(seen).exists():
            Path(seen).touch()
            os._exit(1)
        return plain(*given)

    resamples.drawn_counts = drawn_counts


def test_a_worker_that_dies_between_two_steps_of_drawing(client, items, tmp_path):
    """Blocks of items, counts and generators that it had are made anew."""
    seen = str(tmp_path / "seen")
    client.wait_for_workers(2, timeout=120)  # one may have died in the test before
    [first, _] = client.run(dies_while_drawing, seen)
    ddf = dd.from_pandas(items, npartitions=6)
    found = ddf.rankeval.paired_bootstrap(n_resamples=1_300, event="recentred")
    assert first
    assert Path(seen).exists()
    wanted = items.rankeval.paired_bootstrap(n_resamples=1_300, event="recentred")
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
