"""The table of every method and plot by size of the data, a process for each cell.

    python -m tests.simulations.benchmarks costs.csv

adds the rows that the file lacks, so that a run that was stopped goes on. A cell that takes more
than ``--limit`` seconds of the processor is ended, and larger sizes of it are left out. What is
imported at first use is left out of the seconds; memory is the peak of the process.
"""

import argparse
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

COLUMNS = ("of", "name", "size", "seconds", "megabytes", "bar")
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


def cell(of, name, size, limit):
    """Return the row of one cell, of a process of its own."""

    def bounded():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    asked = [sys.executable, "-m", "tests.simulations.benchmarks", "--one", of, name, str(size)]
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    done = subprocess.run(
        asked, capture_output=True, text=True, check=False, preexec_fn=bounded,
        env={**os.environ, "MPLBACKEND": "Agg", **threads},
    )  # fmt: skip
    row = {"of": of, "name": name, "size": size}
    if done.returncode == 0:
        seconds, megabytes, bar = done.stdout.split()
        return row | {"seconds": float(seconds), "megabytes": float(megabytes), "bar": bar}
    if done.returncode < 0:
        return row | {"bar": f"over {limit} s"}
    return row | {"bar": done.stderr.strip().splitlines()[-1][:100]}


def fill(path, kinds, names, largest, limit):
    """Add the rows that are missing, the small sizes first."""
    found = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=list(COLUMNS))
    known = {(x.of, x.name, int(x.size)) for x in _rows(found)}
    ended = {(x.of, x.name) for x in _rows(found) if pd.isna(x.seconds)}
    for of in kinds:
        for size in (x for x in SIZES[of] if x <= largest):
            for name in (*CELLS[of], *PEERS[of]):
                asked = not names or name in names
                if not asked or (of, name, size) in known or (of, name) in ended:
                    continue
                row = cell(of, name, size, limit)
                if "seconds" not in row:
                    ended.add((of, name))
                table = pd.DataFrame([row], columns=list(COLUMNS)).round(3)
                table.to_csv(path, mode="a", header=not path.exists(), index=False)
                print(*row.values(), flush=True)


def _rows(table):
    return list(table.itertuples(index=False, name="Row"))


def main():
    """Fill the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulations.benchmarks", description=__doc__
    )
    parser.add_argument("csv", type=Path, nargs="?", help="where the rows are, and are added")
    parser.add_argument("--of", nargs="*", choices=SIZES, default=list(SIZES))
    parser.add_argument("--names", nargs="*", help="methods, or peers; all of them by default")
    parser.add_argument("--largest", type=float, default=float("inf"), help="the largest size")
    parser.add_argument("--limit", type=int, default=120, help="seconds of the processor")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one[0], options.one[1], int(options.one[2]))
        return
    if options.csv is None:
        parser.error("name the file of the rows: python -m tests.simulations.benchmarks costs.csv")
    fill(options.csv, options.of, options.names, options.largest, options.limit)


if __name__ == "__main__":
    main()
