"""A cluster of two workers: the numbers of pandas, also if a worker dies."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest

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


@pytest.fixture(scope="module")
def items() -> pd.DataFrame:
    """More items than two bytes tell apart: counts of a block of resamples take several steps."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal([0.0, 0.01, 0.02], size=(70_000, 3)), columns=list("xyz"))


def written(df: pd.DataFrame, folder: Path, files: int, *, index: bool):
    """Return a Dask DataFrame of files."""
    for number, rows in enumerate(np.array_split(np.arange(len(df)), files)):
        part = df.iloc[rows] if index else df.iloc[rows].reset_index(drop=True)
        part.to_parquet(folder / f"part{number:02d}.parquet")
    return dd.read_parquet(folder)


def dies_once(part: pd.DataFrame, seen: str, number: int) -> pd.DataFrame:
    """End the worker when it comes to one of the partitions for the first time."""
    if len(part) and part.index[0] == number and not Path(seen).exists():
        Path(seen).touch()
        os._exit(1)
    return part


def mortal(df: pd.DataFrame, folder: Path, number: int = 15_000):
    """Return 20 partitions, one of which ends the worker."""
    ddf = dd.from_pandas(df, npartitions=20, sort=False)
    return ddf.map_partitions(dies_once, str(folder / "seen"), number, meta=ddf._meta)


def check(ask, found: pd.DataFrame, data: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, ask(data.rankeval), check_exact=True)


OF_LISTS = (
    lambda r: r.nbest_precision([10, 100, 400], target="nbest"),
    lambda r: r.compare(n=[10, 100, 400], adjust="max-t"),
    lambda r: r.random_test([10, 100, 400]),
)


def test_lists_from_files(client, df, tmp_path):
    ddf = written(df, tmp_path, 20, index=False)
    for ask in OF_LISTS:
        check(ask, ask(ddf.rankeval), df)
    head = pickle.loads(pickle.dumps(ddf.rankeval.head(400)))
    found = client.submit(lambda h: h.compare(n=[10, 100], details=True), head).result()
    pd.testing.assert_frame_equal(found, df.rankeval.compare(n=[10, 100]), check_exact=True)


@pytest.mark.parametrize("number", [1_000, 15_000])
def test_a_worker_that_dies_while_a_head_is_collected(client, df, tmp_path, number):
    """In the first round, and in the last, when what the first found may be on it."""
    head = mortal(df, tmp_path, number).rankeval.head(400)
    assert (tmp_path / "seen").exists()
    for ask in OF_LISTS[:2]:
        check(ask, ask(head), df)


def test_a_worker_that_dies_between_the_passes_for_an_area(client, df, tmp_path):
    """The true positives stay with the workers from one pass to the next."""
    found = mortal(df, tmp_path).rankeval.area("ap")
    assert (tmp_path / "seen").exists()
    pd.testing.assert_frame_equal(found, df.rankeval.area("ap"), rtol=1e-11)


def test_a_worker_that_dies_among_groups(client, df, tmp_path):
    """Workers answer for whole groups; the family is decided where the answers are joined."""
    queries = df.assign(query=np.arange(len(df)) % 300)
    spread = queries.sample(frac=1.0, random_state=1)
    lazy = mortal(spread, tmp_path, int(spread.index[len(df) * 3 // 4]))
    with rankeval_pd.set_options(level=0.9, alpha=0.4):
        found, every = (
            x.rankeval(by="query").compare(n=[5, 10], adjust="holm") for x in (lazy, queries)
        )
    assert (tmp_path / "seen").exists()
    pd.testing.assert_frame_equal(found, every, check_exact=True)
    assert found.attrs["level"] == every.attrs["level"] == 0.9


OF_ITEMS = (
    lambda r: r.paired_bootstrap(n_resamples=1_100, adjust="max-t"),
    lambda r: r.system_ranks(n_resamples=1_100),
)


@pytest.mark.parametrize("ask", OF_ITEMS)
def test_items_of_files_in_any_order(client, items, tmp_path, ask):
    ddf = written(items.sample(frac=1, random_state=1), tmp_path, 7, index=True)
    assert not ddf.index.compute().is_monotonic_increasing
    found = ask(ddf.rankeval)
    check(ask, found, items)


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
    client.wait_for_workers(2, timeout=120)  # one may have died in the test before
    [first, _] = client.run(dies_while_drawing, str(tmp_path / "seen"))
    ddf = dd.from_pandas(items, npartitions=6)
    found = ddf.rankeval.paired_bootstrap(n_resamples=1_300, event="recentred")
    assert first
    assert (tmp_path / "seen").exists()
    wanted = items.rankeval.paired_bootstrap(n_resamples=1_300, event="recentred")
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
