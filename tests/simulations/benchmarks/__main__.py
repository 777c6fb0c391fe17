"""Fill the table of every method and plot by size of the data, a process for each cell.

    python -m tests.simulations.benchmarks

adds the rows that ``costs.csv`` lacks, the small sizes first, so that a run that was stopped goes
on. A cell that takes more than 120 seconds of the processor is ended, and larger sizes of it are
left out. What is imported at first use is left out of the seconds; memory is the peak of the
process.
"""

import contextlib
import io
import os
import re
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pandas as pd

from tests.simulations.benchmarks.cells import CELLS, PEERS, data_of
from tests.simulations.benchmarks.peers import peak_memory

COSTS = Path(__file__).with_name("costs.csv")
COLUMNS = ["of", "name", "size", "seconds", "megabytes", "bar"]
LIMIT = 120
SIZES = {
    "candidates": (10_000, 100_000, 1_000_000),
    "items": (1_000, 10_000, 100_000, 1_000_000),
    "queries": (10, 100, 1_000, 10_000),
}
_SMALL = {"candidates": 2_000, "items": 50, "queries": 3}  # for what is imported at first use


def one(of, name, size):
    """Ask once, and print seconds, megabytes, and whether a bar was shown."""
    warnings.simplefilter("ignore")
    ask = {**CELLS[of], **PEERS[of]}[name]
    with contextlib.redirect_stderr(io.StringIO()):
        ask(data_of(of, _SMALL[of]))
    data, shown = data_of(of, size), io.StringIO()
    with contextlib.redirect_stderr(shown):
        start = time.process_time()
        ask(data)
        seconds = time.process_time() - start
    print(seconds, peak_memory(), bool(re.search(r"\[\d+:\d\d[<,]", shown.getvalue())))


def cell(of, name, size):
    """Return seconds, megabytes and bar of one cell, of a process of its own."""
    asked = [sys.executable, "-m", "tests.simulations.benchmarks", of, name, str(size)]
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    done = subprocess.run(
        asked, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
        env={**os.environ, "MPLBACKEND": "Agg", **threads},
    )  # fmt: skip
    if done.returncode == 0:
        seconds, megabytes, bar = done.stdout.split()
        return float(seconds), float(megabytes), bar
    if done.returncode < 0:
        return None, None, f"over {LIMIT} s"
    return None, None, done.stderr.strip().splitlines()[-1][:100]


def fill():
    found = pd.read_csv(COSTS)
    known = set(found[COLUMNS[:3]].itertuples(index=False, name=None))
    ended = set(found.loc[found["seconds"].isna(), COLUMNS[:2]].itertuples(index=False, name=None))
    for of, sizes in SIZES.items():
        for size in sizes:
            for name in (*CELLS[of], *PEERS[of]):
                if (of, name, size) in known or (of, name) in ended:
                    continue
                row = of, name, size, *cell(of, name, size)
                if row[3] is None:
                    ended.add((of, name))
                table = pd.DataFrame([row], columns=COLUMNS).round(3)
                table.to_csv(COSTS, mode="a", header=False, index=False)
                print(*row, flush=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        one(*sys.argv[1:3], int(sys.argv[3]))
    else:
        fill()
