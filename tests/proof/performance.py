"""How fast is it beside its peers, and how does the cost grow?

Every number is of one run of the benchmarks in ``tests/benchmarks``, in the processor's seconds.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd
from tests.benchmarks import queries, run, systems
from tests.proof.pages import as_table, opening, versions

SIZES = (10_000, 100_000, 1_000_000)
SOME_N = (10, 1_000, 100_000)
SYSTEMS = (2, 8, 32)
RESAMPLES = (1_000, 10_000, 100_000)
SIMULTANEOUS = ((5_102, range(100, 2001)), (100_000, np.linspace(100, 100_000, 1_000).astype(int)))


def _time(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:,.0f} s"


def peers() -> pd.DataFrame:
    """Return our time and a peer's, of the same work."""
    rows = [*run.against_peers(100_000, 300), *_of_queries(), _of_systems()]
    return pd.DataFrame(
        [
            {
                "work": work, "ours": _time(ours), "peer": peer, "peer's time": _time(theirs),
                "times as fast": f"{theirs / ours:,.1f}",
            }
            for work, ours, peer, theirs in rows
        ]
    )  # fmt: skip


def _of_queries() -> list[tuple[str, float, str, float]]:
    title, size = next(iter(queries.SIZES.items()))
    with tempfile.TemporaryDirectory() as folder:
        runs, qrels = queries.make(Path(folder), *size)
        queries.ours(runs[:1], qrels)  # what is imported at first use
        ours = run.seconds(lambda: queries.ours(runs, qrels), 1)
        theirs = run.seconds(lambda: queries.with_ir_measures(runs, qrels), 1)
    work = f"`read_trec` and `per_query`, {len(queries.METRICS)} metrics, {title}"
    return [(work, ours, "ir_measures", theirs)]


def _of_systems() -> tuple[str, float, str, float]:
    """Return the time of 1,000 resamples of three pairs, both without extraction."""
    data, extraction = systems.statistics()
    few = data[[f"system {k}" for k in range(4)]]
    pairs = [("system 0", f"system {k}") for k in (1, 2, 3)]
    bleu = few.rankeval(metric="bleu")

    def ours() -> None:
        for a, b in pairs:
            bleu.paired_bootstrap(a, b, n_resamples=1_000, event="recentred")

    ours()
    start = time.process_time()
    systems.theirs(1_000, 4)
    theirs = time.process_time() - start - extraction * 4 / systems.SYSTEMS
    work = f"`paired_bootstrap`, BLEU, 3 pairs x 1,000 resamples of {systems.SEGMENTS:,} segments"
    return work, run.seconds(ours), "sacrebleu's paired test, extraction taken off", theirs


def growth_with_candidates() -> pd.DataFrame:
    """Return seconds and peak memory at every n of so many candidates."""
    rows = []
    for name in run.GROWTH:
        cells = {f"N = {size:,}": run.grown(name, size) for size in SIZES}
        rows.append(
            {"every n of N": f"`{name}`"}
            | {k: f"{_time(s)} ({mb:,.0f} MB)" for k, (s, mb) in cells.items()}
        )
    return pd.DataFrame(rows)


def growth_with_lists() -> pd.DataFrame:
    """Return seconds at so many n of 100,000 candidates."""
    df = rankeval_pd.datasets.simulate_candidates(100_000)
    asked: dict[str, Callable[[np.ndarray], object]] = {
        "nbest_precision": df.rankeval.nbest_precision,
        "compare": lambda n: df.rankeval.compare("good", "fair", n),
        "random_test": df.rankeval.random_test,
    }
    rows = []
    for name, ask in asked.items():
        row = {"N = 100,000": f"`{name}`"}
        for count in SOME_N:
            n = np.linspace(1, 100_000, count).astype(int)
            row[f"{count:,} n"] = _time(run.seconds(lambda n=n, ask=ask: ask(n), 1))
        rows.append(row)
    return pd.DataFrame(rows)


def growth_of_all_together() -> pd.DataFrame:
    """Return seconds of bands and tests that hold for all n."""
    rows = []
    for name, work in run.SIMULTANEOUS.items():
        call, _, how = name.partition(", ")
        row = {"all n together": f"`{call}`, {how}"}
        for size, n in SIMULTANEOUS:
            df = rankeval_pd.datasets.simulate_candidates(size)
            row[f"N = {size:,}, {len(n):,} n"] = _time(
                run.seconds(lambda df=df, n=n, work=work: work(df, n), 1)
            )
        rows.append(row)
    return pd.DataFrame(rows)


def growth_with_pairs_and_resamples() -> pd.DataFrame:
    """Return seconds of all pairs of so many systems, 1,000 items, by so many resamples."""
    rng = np.random.default_rng(0)
    gold = rng.integers(1, 9, (1_000, 1)).repeat(max(SYSTEMS), axis=1)
    guess = np.maximum(gold + rng.integers(-2, 3, gold.shape), 0)
    correct = rng.binomial(np.minimum(gold, guess), 0.6)
    parts = {"correct": correct, "guess": guess, "gold": gold}
    data = pd.concat({k: pd.DataFrame(v) for k, v in parts.items()}, axis=1).swaplevel(axis=1)
    rows = []
    for count in SYSTEMS:
        items = data[list(range(count))].rankeval(metric="f1")
        row = {"F1, 1,000 items": f"{count} systems, pairs: {count * (count - 1) // 2}"}
        for size in RESAMPLES:
            row[f"{size:,} resamples"] = _time(
                run.seconds(
                    lambda items=items, size=size: items.paired_bootstrap(n_resamples=size), 1
                )
            )
        rows.append(row)
    return pd.DataFrame(rows)


def random_model() -> pd.DataFrame:
    """Return seconds of the bounds of the random model."""
    return pd.DataFrame(
        [{"the random model": what, "time": _time(taken)} for what, taken in run.random_model()]
    )


def processor() -> str:
    """Return the name of the processor, where the system tells it."""
    try:
        said = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor()
    names = [line.split(":")[1].strip() for line in said.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


TABLES = {
    "Beside its peers": peers,
    "With N, the candidates": growth_with_candidates,
    "With n, the lists": growth_with_lists,
    "All n together": growth_of_all_together,
    "With pairs and resamples": growth_with_pairs_and_resamples,
    "The random model": random_model,
}


def page() -> str:
    """Return the page."""
    warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)  # of precise lists
    parts = [
        opening(
            "performance",
            "How fast is it?",
            "All numbers are of one run, in seconds of the processor, one thread. A peer that would"
            " take minutes is timed on a sample of the list sizes, spread evenly, and extrapolated:"
            " the table says so. Memory is the peak of the whole process.",
        ),
        versions("numpy", "pandas", "scipy", "statsmodels", "ir-measures", "sacrebleu"),
        f"{processor()}, {os.cpu_count()} cores.",
    ]
    for title, table in TABLES.items():
        found = table()
        parts += [f"## {title}", as_table(found, [c for c in found.columns[1:] if c != "peer"])]
    return "\n\n".join(parts) + "\n"
