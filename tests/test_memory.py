"""What asks for more memory than there is: an answer, or a refusal at once that says how large."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc

import pytest

from rankeval_pd import datasets

# the address space of a process: what is loaded takes two thirds of it
PROCESS = """
import os, resource, sys, warnings
import matplotlib.pyplot
import numpy as np, pandas as pd, xarray, scipy.stats, scipy.special
import rankeval_pd

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)


def ranking(size, measures):
    scores = pd.DataFrame(rng.random((size, measures))).add_prefix("m")
    return scores.assign(gold=rng.random(size) < 0.2)


def said(call):
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    try:
        eval(call)
    except MemoryError as error:
        return "refused" if " is available. " in str(error) else f"died: {error}"
    return "answered"


for call in sys.argv[1:]:
    child = os.fork()
    if not child:
        print(said(call), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
CALLS = {
    "every pair at every n": "ranking(10_000, 50).rankeval.compare()",
    "areas of many measures": "ranking(100_000, 12).rankeval.compare_area()",
    "every distribution": "ranking(5_000, 1).rankeval.random_cdf(None)",
    "every measure at every n": "ranking(1_000_000, 20).rankeval.nbest_precision()",
    "curves of many measures": "ranking(200_000, 20).rankeval.roc()",
    "a picture of them": "ranking(200_000, 20).rankeval.plot.roc()",
    "draws of every pair": (
        "pd.DataFrame(rng.random((100, 1000))).rankeval.paired_permutation("
        "measures=list(range(1000)))"
    ),
    "a thousand systems": (
        "pd.DataFrame(rng.random((100, 1000))).rankeval.system_ranks("
        "measures=list(range(1000)), n_resamples=19, alpha=0.9)"
    ),
}


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What a process of each call said. They share what is imported, and nothing else."""
    run = subprocess.run(
        [sys.executable, "-c", PROCESS, *CALLS.values()],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(CALLS, run.stdout.splitlines(), strict=True))


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize("name", CALLS)
def test_answered_or_refused(said, name):
    assert said[name] in ("refused", "answered")


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "metric"),
    [("area", ["roc"]), ("area", ["ap"]), ("roc", []), ("precision_recall", [])],
)
def test_a_long_ranking_takes_120_bytes_per_candidate(method, metric):
    ranking = datasets.simulate_candidates(300_000)[["gold", "good"]].rankeval
    ask = getattr(ranking, method)
    ask(*metric)  # the first call imports
    tracemalloc.start()
    try:
        ask(*metric)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 120 * 300_000
