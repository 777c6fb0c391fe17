"""Eight threads at once: the same numbers, and the filters of warnings as they were."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import rankeval_pd  # noqa: F401

PROCESSES = """
import os, sys, threading, warnings
import numpy as np, pandas as pd, xarray
import scipy.sparse, scipy.stats  # these have filters of their own

rng = np.random.default_rng(0)
items = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
candidates = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "y"])
candidates["gold"] = rng.random(60) < 0.4


def ask(number, barrier):
    barrier.wait()
    if number % 2:
        items.rankeval.paired_bootstrap(n_resamples=100)
    else:
        candidates.rankeval.compare("x", "y", [10, 20])


def fresh():
    import rankeval_pd

    before = list(warnings.filters)
    barrier = threading.Barrier(8)
    threads = [threading.Thread(target=ask, args=(number, barrier)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return warnings.filters == before


kept = 0
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if not child:
        os._exit(0 if fresh() else 1)
    kept += os.waitpid(child, 0)[1] == 0
print(kept)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fresh processes by fork")
@pytest.mark.full
@pytest.mark.parametrize("number", [6])  # of eight, five lost them
def test_fresh_processes_of_eight_threads_keep_their_filters(number):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROCESSES, str(number)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(number)


def test_threads_get_the_numbers_of_one():
    rng = np.random.default_rng(1)
    items = pd.DataFrame(rng.normal(size=(50, 4)), columns=list("abcd"))

    def asked(_):
        return items.rankeval.paired_bootstrap(n_resamples=500, adjust="max-t")

    with ThreadPoolExecutor(8) as threads:
        tables = list(threads.map(asked, range(16)))
    for table in tables:
        pd.testing.assert_frame_equal(table, tables[0])
