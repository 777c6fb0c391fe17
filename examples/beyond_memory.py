"""Evaluate a ranking that need not fit in memory: Parquet files, two workers, one pass.

    python examples/beyond_memory.py --candidates 1e7 --memory 2GB

makes candidates with three measures as Parquet files, a million rows each, evaluates their n-best
lists on a cluster of two workers of this machine, and prints the time and each worker's largest
memory. To use a cluster that is there, give its address: ``--address tcp://scheduler:8786``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

import rankeval_pd.dask  # noqa: F401  (gives Dask DataFrames the accessor)

FILE = 1_000_000  # candidates in a file


def write_candidates(folder: Path, size: int, positive: float = 0.01) -> None:
    """Write candidates with a gold label and three measures of falling quality."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, size, FILE)):
        rng = np.random.default_rng([0, number])
        count = min(FILE, size - start)
        gold = rng.random(count) < positive
        shared = rng.normal(size=count)
        frame = {"id": np.arange(start, start + count), "gold": gold}
        for measure, gain in (("strong", 2.0), ("middling", 1.5), ("weak", 1.0)):
            frame[measure] = (shared + rng.normal(size=count) + gain * gold).round(4)
        pd.DataFrame(frame).to_parquet(folder / f"part-{number:05d}.parquet")


def work() -> tuple[float, float]:
    """Return the processor's seconds and the largest memory, in MB, of this process."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def evaluate(folder: Path, n_max: int, client: Client) -> pd.DataFrame:
    """Compare the measures, in one pass over the files."""
    before = client.run(work)
    start = time.perf_counter()
    head = dd.read_parquet(folder).rankeval(label="id").head(n_max)
    passed = time.perf_counter() - start
    after = client.run(work)
    table = head.compare(n=[n_max // 100, n_max // 10, n_max])
    seconds = sum(after[worker][0] - before[worker][0] for worker in after)
    peaks = ", ".join(f"{peak:,.0f} MB" for _, peak in after.values())
    print(head)
    print(f"one pass: {passed:.1f} s, {seconds:.1f} processor seconds of the workers")
    print(f"largest memory of each worker: {peaks}")
    print(f"all questions of it: {time.perf_counter() - start - passed:.1f} s")
    return table


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Write, evaluate, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=float, default=1e7)
    parser.add_argument("--n-max", type=float, default=1e5)
    parser.add_argument("--memory", default="2GB", help="of each of the two workers")
    parser.add_argument("--folder", type=Path, help="where the files are, or are to be")
    parser.add_argument("--address", help="of a scheduler that is there")
    chosen = parser.parse_args(arguments)
    size = int(chosen.candidates)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary) / "candidates"
        if not folder.exists():
            write_candidates(folder, size)
        if chosen.address:
            with Client(chosen.address) as client:
                table = evaluate(folder, min(int(chosen.n_max), size), client)
        else:
            with (
                LocalCluster(
                    n_workers=2, threads_per_worker=1, memory_limit=chosen.memory,
                    dashboard_address=":0",
                ) as cluster,
                Client(cluster) as client,
            ):  # fmt: skip
                table = evaluate(folder, min(int(chosen.n_max), size), client)
    print(table.to_string(index=False, float_format="{:.4g}".format))
    return table


if __name__ == "__main__":
    main()
