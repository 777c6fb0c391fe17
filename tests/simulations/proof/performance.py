"""How fast is it beside its peers, and how does the cost grow?

Every number is of one run of the benchmarks in ``tests/simulations/benchmarks``, in the processor's seconds.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd
from tests.simulations.benchmarks import cells, queries, run, systems
from tests.simulations.proof.pages import as_table, beside, led_to, opening, versions

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
    return work, run.seconds(ours), "sacrebleu's paired test, without extraction", theirs


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
        row = {"all n jointly": f"`{call}`, {how}"}
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
        pairs = count * (count - 1) // 2
        row = {"F1, 1,000 items": f"{count} systems, {pairs} pair{'s' * (pairs > 1)}"}
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
        [{"random model": what, "time": _time(taken)} for what, taken in run.random_model()]
    )


COSTS = Path(__file__).parents[1] / "benchmarks" / "costs.csv"


def of_every_method(of: str) -> pd.DataFrame:
    """Return the rows of ``python -m tests.simulations.benchmarks``: a method a row, a size a column."""
    found = pd.read_csv(COSTS)
    ended = found["bar"].astype(str).str.startswith("over")
    found = found[(found["of"] == of) & (found["seconds"].notna() | ended)]
    found = found[~found["name"].str.startswith("plot.")]  # they ask their method, and draw
    rows = []
    for name, part in found.groupby("name", sort=False):
        timed = part.dropna(subset="seconds")
        row = {of: f"`{name}`" if name in cells.CELLS[of] else name}
        if name in cells.BESIDE:
            row[of] += f" (`{cells.BESIDE[name]}`)"
        for size in sorted(found["size"].unique()):
            at = part[part["size"] == size]
            row[f"{size:,}"] = "" if at.empty else _cell(at.iloc[0])
        row["MB"] = f"{timed['megabytes'].iloc[-1]:,.0f}"
        rows.append(row)
    return pd.DataFrame(rows)


def _cell(row: pd.Series) -> str:
    if pd.isna(row["seconds"]):
        return "> " + str(row["bar"]).removeprefix("over ").removesuffix(" s")
    return _time(row["seconds"]).removesuffix(" s")


def processor() -> str:
    """Return the name of the processor, where the system tells it."""
    try:
        said = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor()
    names = [line.split(":")[1].strip() for line in said.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "Compared with other packages": peers,
    "By number of lists": growth_with_lists,
    "Simultaneous bands and tests": growth_of_all_together,
    "Pairs and resamples": growth_with_pairs_and_resamples,
    "The random model": random_model,
    "Every method, by candidate count": partial(of_every_method, "candidates"),
    "Every method, by item count": partial(of_every_method, "items"),
    "Every method, by query count": partial(of_every_method, "queries"),
}


METHODS = [title for title in TABLES if title.startswith("Every method")]
BESIDE = {"methods": "How fast is each method?"}


def page() -> str:
    """Return the page."""
    warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)  # of precise lists
    parts = [
        opening(
            "performance",
            "How fast is the package?",
            "Times are CPU seconds for a single run with one thread. Slow functions from other"
            " packages are timed on evenly spaced list sizes and extrapolated, as"
            " noted in the table.",
            led_to("performance", BESIDE),
        ),
        versions("numpy", "pandas", "scipy", "statsmodels", "ir-measures", "sacrebleu"),
        f"{processor()}, {os.cpu_count()} cores.",
    ]
    parts += [_section(title) for title in TABLES if title not in METHODS]
    return "\n\n".join(parts) + "\n"


def _section(title: str) -> str:
    found = TABLES[title]()
    right = [c for c in found.columns[1:] if c != "peer"]
    return f"## {title}\n\n{as_table(found, right)}"


def topics() -> dict[str, str]:
    """Return the page of every method, from the times that are committed."""
    said = (
        "The tables show CPU seconds for every method with default options. Methods marked > were"
        " stopped after 90 seconds. *MB* is peak process memory at the largest timed size."
        " Functions from other packages come last. The method in parentheses does at least"
        " the same work. Empty cells were not timed."
    )
    parts = [beside("performance", BESIDE["methods"]), said, *map(_section, METHODS)]
    return {"methods": "\n\n".join(parts) + "\n"}
