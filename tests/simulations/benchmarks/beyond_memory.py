"""The head of a ranking on two workers, beside the same top-k by DuckDB and by Polars.

    python tests/simulations/benchmarks/beyond_memory.py FOLDER --n-max 1e5

FOLDER holds Parquet files as ``examples/beyond_memory.py --folder FOLDER`` writes them. DuckDB and
Polars get what the head needs: of each measure the first candidates, and the counts of all. Each
runs in a process of its own, on two threads; what is printed is wall-clock seconds, processor
seconds, and the largest memory of a process.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

MEASURES = ("strong", "middling", "weak")
OFF = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}


def with_duckdb(folder, count):
    import duckdb

    files = f"read_parquet('{folder}/*.parquet')"
    with duckdb.connect(config={"threads": 2, "memory_limit": "4GB"}) as db:
        for measure in MEASURES:
            db.sql(
                f"SELECT id, gold, {', '.join(MEASURES)} FROM {files} ORDER BY {measure} DESC"
                f" LIMIT {count}"
            ).fetchnumpy()
        db.sql(f"SELECT count(*), sum(gold::INT) FROM {files}").fetchall()


def with_polars(folder, count):
    import polars as pl

    rows = pl.scan_parquet(folder / "*.parquet")
    wanted = [rows.top_k(count, by=measure) for measure in MEASURES]
    counts = rows.select(pl.len(), pl.col("gold").sum())
    pl.collect_all([*wanted, counts], engine="streaming")


def with_rankeval(folder, count):
    import dask
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    import rankeval_pd.dask  # noqa: F401

    with (
        dask.config.set(OFF),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="2GB", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        for again in (False, True):  # the first time, workers import what they need
            before = client.run(_used)
            start = time.perf_counter()
            dd.read_parquet(folder).rankeval(label="id").head(count)
            wall = time.perf_counter() - start
            after = client.run(_used)
            cpu = sum(after[worker][0] - before[worker][0] for worker in after)
            peak = max(used[1] for used in after.values())
            print(f"rankeval_pd{' again' if again else ''}: {_said(wall, cpu, peak)} a worker")


def _used():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def _said(wall, cpu, peak):
    return f"{wall:6.1f} s, {cpu:6.1f} processor s, {peak:6,.0f} MB"


WITH = {"duckdb": with_duckdb, "polars": with_polars, "rankeval_pd": with_rankeval}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--n-max", type=float, default=1e5)
    parser.add_argument("--only", choices=WITH)
    chosen = parser.parse_args()
    count = int(chosen.n_max)
    if chosen.only is None:
        for name in WITH:
            again = [str(chosen.folder), "--n-max", str(count), "--only", name]
            subprocess.run([sys.executable, __file__, *again], check=True)
        return
    start = time.perf_counter()
    WITH[chosen.only](chosen.folder, count)
    if chosen.only != "rankeval_pd":
        print(f"{chosen.only}: {_said(time.perf_counter() - start, *_used())}")


if __name__ == "__main__":
    main()
