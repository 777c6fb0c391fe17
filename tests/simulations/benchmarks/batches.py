"""A Dataset of many rankings on two workers, beside the same Dataset in memory, method by method.

    python tests/simulations/benchmarks/batches.py --queries 2e4 --csv batches.csv

makes a Zarr store of so many rankings, 200 candidates and four measures, in chunks of 1,000
rankings, and asks every method once of each form. What is compared is seconds of the processor:
those of one process that has the Dataset in memory, beside what it takes to read the store there,
and those of both workers and of the client, which read the store, answer, and bring the answer
together. Memory is the largest of a worker; workers may hold 32 MB that they need no more. The
start of the workers, and what is imported at first use, are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

CANDIDATES = 200
CHUNK = 1_000
QUALITY = {"a": 1.0, "b": 0.8, "c": 0.5, "d": 0.2}
N = [5, 10, 50]
FEW = {"n_resamples": 19, "progress": False}
# diagnostics of the cluster, whose cost is one of wall-clock time, and so of what else there runs
OFF: Mapping[str, Any] = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
# else each larger array is asked of the system, and handed back
HELD = {"distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25}

ASK: Mapping[str, Callable[[Any], Any]] = {
    "nbest_precision": lambda r: r.nbest_precision(N),
    "acceptance_precision": lambda r: r.acceptance_precision(
        {"a": [1.0, 2.0], "b": 1.0}, measures=["a", "b"]
    ),
    "local_precision": lambda r: r(measures="a").local_precision(10),
    "nbest_recall": lambda r: r.nbest_recall(N),
    "recall_band": lambda r: r(measures="a").recall_band(N, **FEW),
    "precision_band": lambda r: r(measures="a").precision_band(N, **FEW),
    "choose_threshold": lambda r: r(measures="a").choose_threshold(recall=0.5),
    "compare": lambda r: r.compare(n=N),
    "compare(combine=True)": lambda r: r.compare(n=N, combine=True),
    "compare(adjust='max-t')": lambda r: r.compare(
        "a", "b", n=N, adjust="max-t", adjust_over="group", **FEW
    ),
    "significant_ranges": lambda r: r.significant_ranges("a", "b", n=range(1, 101, 10)),
    "difference_band": lambda r: r.difference_band("a", "b", n=N, **FEW),
    "mean_difference": lambda r: r.mean_difference("a", "b", N, **FEW),
    "odds_ratios": lambda r: r.odds_ratios("a", "b", N),
    "measure_ranks": lambda r: r(measures=["a", "b"]).measure_ranks(10, adjust="holm"),
    "summary": lambda r: r(measures=["a", "b"]).summary(10, adjust="holm"),
    "tie_sensitivity": lambda r: r.tie_sensitivity("a", "b", 10, n_keys=3),
    "difference_region": lambda r: r.difference_region("a", "b", 10),
    "repetition": lambda r: r.repetition(n=10),
    "repetition_samples": lambda r: r.repetition_samples(n=10),
    "judged_precision": lambda r: r(measures="a").judged_precision(10),
    "judged_recall": lambda r: r(measures="a").judged_recall(10),
    "judged_average_precision": lambda r: r(measures="a").judged_average_precision(),
    "judged_difference": lambda r: r.judged_difference("a", "b", 10),
    "random_bound": lambda r: r.random_bound([0.05], N),
    "random_cdf": lambda r: r.random_cdf([5]),
    "random_envelope": lambda r: r.random_envelope(0.05, N),
    "random_test": lambda r: r.random_test(N),
    "random_test(combine=True)": lambda r: r.random_test(N, combine=True),
    "crossovers": lambda r: r.crossovers([0.05], measures="a"),
    # curves of every n are larger than the data
    "roc": lambda r: r.roc().sel(n=N),
    "precision_recall": lambda r: r.precision_recall().sel(n=N),
    "det": lambda r: r.det().sel(n=N),
    "gain": lambda r: r.gain().sel(n=N),
    "lift": lambda r: r.lift([0.1, 0.5]),
    "random_band": lambda r: r.random_band("roc", 0.05, N),
    "isolines": lambda r: r.isolines(N),
    "area": lambda r: r.area(),
    "area('ap')": lambda r: r.area("ap"),
    "compare_area": lambda r: r.compare_area(),
    "partial_area": lambda r: r.partial_area(fpr=0.2),
    "bedroc": lambda r: r.bedroc(),
    "enrichment": lambda r: r.enrichment(0.1),
    "per_query": lambda r: r.per_query(["P@5", "nDCG@10", "AP"]),
    "nbest_precision(average='macro')": lambda r: r.nbest_precision(N, average="macro"),
}
NOT_ASKED = {
    "plan_annotation", "annotation_sheet", "with_judgements",  # of DataFrames
    "unpaired_area",  # of samples of one ranking
    "with_association_measures",  # of 2x2 tables
}  # fmt: skip


class Cost(NamedTuple):
    """What a method costs, in seconds of the processor, and megabytes."""

    read: float
    eager: float
    workers: float
    client: float
    peak: float
    same: bool

    @property
    def of_asking(self) -> float:
        """How many times the seconds of one process that has the data in memory."""
        return (self.workers + self.client) / self.eager

    @property
    def of_both(self) -> float:
        """How many times the seconds of one process that reads the store and asks."""
        return (self.workers + self.client) / (self.read + self.eager)


def write(path: Path, queries: int) -> xr.Dataset:
    """Write the store, and return it lazily, its measures in order."""
    rng = np.random.default_rng(0)
    size = (queries, CANDIDATES)
    gold = rng.random(size) < 0.2
    dims = ("query", "candidate")
    scores = {m: (dims, (rng.normal(size=size) + x * gold).round(1)) for m, x in QUALITY.items()}
    stored = xr.Dataset({**scores, "gold": (dims, gold)})
    stored.chunk(query=CHUNK).to_zarr(path, consolidated=False, zarr_format=2)
    lazy: xr.Dataset = xr.open_zarr(path, consolidated=False, chunks={})[[*QUALITY, "gold"]]
    return lazy


def cost(
    ask: Callable[[Any], Any], lazy: xr.Dataset, eager: xr.Dataset, client: Any, read: float
) -> Cost:
    """Ask both forms once."""
    before, start = client.run(_used), time.process_time()
    found = ask(lazy.rankeval).compute()
    of_client = time.process_time() - start
    after = client.run(_used)
    start = time.process_time()
    expected = ask(eager.rankeval)
    return Cost(
        read,
        time.process_time() - start,
        sum(after[worker][0] - before[worker][0] for worker in after),
        of_client,
        max(peak for _, peak in after.values()),
        found.identical(expected),
    )


def costs(queries: int, asked: Mapping[str, Callable[[Any], Any]] = ASK) -> dict[str, Cost]:
    """Ask each of the methods, on two workers of this machine, and print as it goes."""
    import dask
    from distributed import Client, LocalCluster

    import rankeval_pd  # noqa: F401

    warnings.simplefilter("ignore")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # of workers that end late
    found = {}
    with (
        dask.config.set({**OFF, **HELD}),
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="2GB", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        lazy = write(Path(folder) / "store.zarr", queries)
        few = lazy.isel(query=slice(2 * CHUNK)).isel(query=slice(None, None, CHUNK // 5))
        lazy.compute(scheduler="synchronous")  # what is imported at first use
        start = time.process_time()
        eager = lazy.compute(scheduler="synchronous")
        read = time.process_time() - start
        print(f"to read the store: {read:.2f} s")
        for name, ask in asked.items():
            client.run(_quiet)
            ask(few.rankeval).compute()
            client.run(_trim)
            found[name] = one = cost(ask, lazy, eager, client, read)
            print(
                f"{name:33} {one.eager:6.2f} s, workers {one.workers:6.2f} s, client"
                f" {one.client:5.2f} s, ratio {one.of_asking:5.2f}, reading too {one.of_both:5.2f},"
                f" {one.peak:4.0f} MB"
                f"{'' if one.same else ', OTHER NUMBERS'}",
                flush=True,
            )
    return found


def _quiet() -> None:
    import warnings

    import rankeval_pd  # noqa: F401

    warnings.simplefilter("ignore")


def _trim() -> None:
    """Forget the largest memory so far, where the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _used() -> tuple[float, float]:
    """Return seconds of this process and of those that it started and ended, and megabytes."""
    import os
    import resource

    times = os.times()
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text("utf-8").splitlines() if x.startswith("VmHWM"))
        peak = int(line.split()[1]) / 1024
    else:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return sum(times[:4]), peak


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=float, default=2e4)
    parser.add_argument("--only", nargs="*", choices=ASK)
    parser.add_argument("--csv", type=Path, help="where the table is to be written")
    chosen = parser.parse_args()
    asked = {name: ask for name, ask in ASK.items() if not chosen.only or name in chosen.only}
    found = costs(int(chosen.queries), asked)
    if chosen.csv is not None:
        rows = {name: one._asdict() for name, one in found.items()}
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
        table.round(2).to_csv(chosen.csv, lineterminator="\n")


if __name__ == "__main__":
    main()
