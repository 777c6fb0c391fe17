"""How fast is it beside its peers, and how does the cost grow?

Every number is of one run of ``tests/simulations/benchmarks``, in the processor's seconds.
"""

import os
import platform
import warnings
from functools import partial
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd
from rankeval_pd.stats.distributions import Finite
from rankeval_pd.stats.random_model import bounds, parametric_bound
from tests.simulations.benchmarks import cells
from tests.simulations.benchmarks import peers as beside_peers
from tests.simulations.benchmarks.peers import seconds
from tests.simulations.paired_sizes import f1_statistics
from tests.simulations.proof.pages import as_table, beside, written

SOME_N = (10, 1_000, 100_000)
SYSTEMS = (2, 8, 32)
RESAMPLES = (1_000, 10_000, 100_000)
SIMULTANEOUS = ((5_102, range(100, 2001)), (100_000, np.linspace(100, 100_000, 1_000).astype(int)))


def _time(taken):
    return f"{taken:.2g} s" if taken < 10 else f"{taken:,.0f} s"


def peers():
    return _beside([
        *beside_peers.of_lists(), *beside_peers.of_queries(), *beside_peers.of_systems()
    ])  # fmt: skip


def calls():
    return _beside(beside_peers.of_calls())


def _beside(rows):
    cells = [
        (work, _time(ours), peer, _time(theirs), f"{theirs / ours:,.1f}")
        for work, ours, peer, theirs in rows
    ]
    return pd.DataFrame(cells, columns=["work", "ours", "peer", "peer's time", "times as fast"])


def growth():
    """Return seconds at three sizes, and the exponent of the power that fits them best."""
    rows = []
    for work, sizes, taken, power in beside_peers.growth():
        row = {"work": work, "sizes": ", ".join(f"{n:,}" for n in sizes)}
        rows.append(row | {"times": ", ".join(map(_time, taken)), "exponent": f"{power:.1f}"})
    return pd.DataFrame(rows)


TOGETHER = {
    "`compare(adjust='max-t')`, 999 swaps": lambda df, n: df.rankeval.compare(
        "good", "fair", n, adjust="max-t"
    ),
    "`precision_band`, 1,000 draws": lambda df, n: df.rankeval(measures="good").precision_band(n),
    "`difference_band`, 1,000 draws": lambda df, n: df.rankeval.difference_band("good", "fair", n),
}


def _growth(head, named):
    """Return a row for each name: the seconds of each work, by the name of its column."""
    return pd.DataFrame(
        {head: name, **{column: _time(seconds(work, 1)) for column, work in works.items()}}
        for name, works in named.items()
    )


def growth_with_lists():
    """Return seconds at so many n of 100,000 candidates."""
    df = rankeval_pd.datasets.simulate_candidates(100_000)
    sizes = {f"{n:,} n": np.linspace(1, 100_000, n).astype(int) for n in SOME_N}
    asked = {
        "`nbest_precision`": df.rankeval.nbest_precision,
        "`compare`": partial(df.rankeval.compare, "good", "fair"),
        "`random_test`": df.rankeval.random_test,
    }
    return _growth(
        "N = 100,000",
        {name: {x: partial(ask, n) for x, n in sizes.items()} for name, ask in asked.items()},
    )


def growth_of_all_together():
    """Return seconds of bands and tests that hold for all n."""
    data = {
        f"N = {size:,}, {len(n):,} n": (rankeval_pd.datasets.simulate_candidates(size), n)
        for size, n in SIMULTANEOUS
    }
    return _growth(
        "all n jointly",
        {name: {x: partial(ask, *y) for x, y in data.items()} for name, ask in TOGETHER.items()},
    )


def growth_with_pairs_and_resamples():
    """Return seconds of all pairs of so many systems, 1,000 items, by so many resamples."""
    values = f1_statistics(np.random.default_rng(0), max(SYSTEMS) // 2, 1_000, 0.6)
    parts = dict(zip(("correct", "guess", "gold"), map(pd.DataFrame, values.T), strict=True))
    data = pd.concat(parts, axis=1).swaplevel(axis=1)
    named = {}
    for count in SYSTEMS:
        ask, pairs = data[list(range(count))].rankeval(metric="f1").paired_bootstrap, comb(count, 2)
        named[f"{count} systems, {pairs} pair{'s' * (pairs > 1)}"] = {
            f"{size:,} resamples": partial(ask, n_resamples=size) for size in RESAMPLES
        }
    return _growth("F1, 1,000 items", named)


def recursion(total, positive, p):
    """Return the bound for every n by Macskassy's recursion, a row of all counts for each n."""
    law = np.zeros(positive + 2)
    law[1] = 1.0
    counts = np.arange(positive + 1.0)
    found = np.empty(total)
    for k in range(1, total + 1):
        left = total - k + 1.0
        negatives = np.maximum(total - positive - (k - 1.0 - counts), 0.0)
        law[1:] = law[:-1] * (positive - counts + 1.0) / left + law[1:] * negatives / left
        found[k - 1] = np.argmax(np.cumsum(law[1:]) > 1.0 - p)
    return found


def random_model():
    """Return seconds of the bounds of the random model."""
    million, n = Finite(1e6, 1e5), np.arange(1.0, 1e6 + 1.0)
    works = {}
    for p in (0.05, 1e-17):
        every = f"every n of 1,000,000, p={p:g}"
        works[f"discrete, interpolated, critical: {every}"] = partial(bounds, p, n, million)
        works[f"parametric: {every}"] = partial(parametric_bound, p, n, million.prior)
    for total, positive in ((5_102, 566), (100_000, 10_000)):
        ask = pd.DataFrame({"gold": np.arange(total) < positive}).rankeval
        every = f"every n of {total:,}"
        name = f"Macskassy's (2005) recursion, O(N+ N-), one bound: {every} with {positive:,}"
        works[f"{name} positives"] = partial(recursion, total, positive, 0.05)
        name = f"`random_bound`, the same bound and all other columns: {every}"
        works[name] = partial(ask.random_bound, 0.05)
    return _growth("random model", {name: {"time": work} for name, work in works.items()})


COSTS = Path(__file__).parents[1] / "benchmarks" / "costs.csv"


def of_every_method(of):
    """Return the rows of ``costs.csv``: a method a row, a size a column."""
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


def _cell(row):
    if pd.isna(row["seconds"]):
        return "> " + str(row["bar"]).removeprefix("over ").removesuffix(" s")
    return _time(row["seconds"]).removesuffix(" s")


def processor():
    try:
        said = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor()
    names = [line.split(":")[1].strip() for line in said.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


TABLES = {
    "Compared with other packages": peers,
    "Calls of notebooks and loops, and large data": calls,
    "Growth": growth,
    "By number of lists": growth_with_lists,
    "Simultaneous bands and tests": growth_of_all_together,
    "Pairs and resamples": growth_with_pairs_and_resamples,
    "The random model": random_model,
    "Every method, by candidate count": partial(of_every_method, "candidates"),
    "Every method, by item count": partial(of_every_method, "items"),
    "Every method, by query count": partial(of_every_method, "queries"),
}


METHODS = [title for title in TABLES if title.startswith("Every method")]


def page():
    warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)  # of precise lists
    machine = f"{processor()}, {os.cpu_count()} cores."
    others = [title for title in TABLES if title not in METHODS]
    return written("performance", processor=machine, sections=_sections(others))


def topics():
    """Return the page of every method, from the times that are committed."""
    return {"methods": beside("performance", "methods", sections=_sections(METHODS))}


def _sections(titles):
    parts = []
    for title in titles:
        found = TABLES[title]()
        right = [c for c in found.columns[1:] if c != "peer"]
        parts.append(f"## {title}\n\n{as_table(found, right)}")
    return "\n\n".join(parts)
