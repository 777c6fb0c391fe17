"""Many rankings in Parquet files, one after the other: two workers beside pandas in one process.

    python tests/simulations/benchmarks/groups.py --rows 1e7

makes files of rankings of 100 candidates and three measures, which begin in one file and end in the
next now and then, and asks for the precision of three lists of each. What pandas takes is to read
the files and to ask. ``--shuffled`` spreads the rankings over all files.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SIZE, FILES = 100, 19
QUALITY = {"a": 1.0, "b": 0.8, "c": 0.5}
ROLES = {"by": "query", "label": "id", "measures": list(QUALITY)}


def write(folder: Path, rows: int, *, shuffled: bool) -> None:
    """Write the files."""
    rng = np.random.default_rng(0)
    gold = rng.random(rows) < 0.1
    columns = {
        "query": np.arange(rows) // SIZE,
        "id": np.arange(rows) % SIZE,
        "gold": gold,
        **{m: (rng.normal(size=rows) + gain * gold).round(3) for m, gain in QUALITY.items()},
    }
    data = pd.DataFrame(columns)
    if shuffled:
        data = data.iloc[rng.permutation(rows)]
    for number, places in enumerate(np.array_split(np.arange(rows), FILES)):
        data.iloc[places].to_parquet(folder / f"part-{number:03d}.parquet", index=False)


def ask(data: Any) -> pd.DataFrame:
    """Ask for the precision of three lists of each ranking."""
    table: pd.DataFrame = data.rankeval(**ROLES).nbest_precision([5, 10, 20])
    return table


def main() -> None:
    """Print the times."""
    import dask
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    import rankeval_pd.dask  # noqa: F401
    from tests.simulations.benchmarks.batches import OFF, _used

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--shuffled", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    with (
        dask.config.set(OFF),
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="2GB", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        few, many = Path(folder) / "few", Path(folder) / "many"
        for path, rows in ((few, 20_000), (many, int(chosen.rows))):
            path.mkdir()
            write(path, rows, shuffled=chosen.shuffled)
        ask(dd.read_parquet(few)), ask(pd.read_parquet(few))  # what is imported at first use
        before, start, own = client.run(_used), time.perf_counter(), time.process_time()
        found = ask(dd.read_parquet(many))
        wall, own = time.perf_counter() - start, time.process_time() - own
        after = client.run(_used)
        workers = [after[worker][0] - before[worker][0] for worker in after]
        peak = max(used[1] for used in after.values())
        print(
            f"two workers: {wall:.1f} s, processor seconds"
            f" {' + '.join(f'{x:.1f}' for x in workers)} and of the client {own:.1f},"
            f" {peak:,.0f} MB a worker",
            flush=True,
        )
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), int(chosen.rows), shuffled=chosen.shuffled)
        before_, start = os.times(), time.perf_counter()
        data = pd.read_parquet(folder)
        read = os.times()
        expected = ask(data)
        wall, done = time.perf_counter() - start, os.times()
    reading = sum(read[:2]) - sum(before_[:2])
    asking = sum(done[:2]) - sum(read[:2])
    print(f"pandas: {wall:.1f} s, processor seconds {reading:.1f} to read and {asking:.1f} to ask")
    longest = max(workers) + own
    print(f"pandas / (the longer worker and the client): {(reading + asking) / longest:.2f}")
    pd.testing.assert_frame_equal(found.astype({"query": expected["query"].dtype}), expected)


if __name__ == "__main__":
    main()
