"""From TREC files to the table of seven metrics: CPU seconds beside ir_measures and ranx.

    python tests/simulations/benchmarks/queries.py [folder]

The files are made first, seeded. Each tool reads all of them and computes seven metrics for every
query of every run, in this one process; ranx is asked twice, since its first call compiles.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd

import rankeval_pd

METRICS = ["P@10", "R@100", "RR", "AP", "nDCG", "nDCG@10", "Bpref"]
RANX = ["precision@10", "recall@100", "mrr", "map", "ndcg", "ndcg@10", "bpref"]
SIZES = {"17 runs x 100 queries x 1,000": (17, 100, 1000), "2 x 10,000 x 100": (2, 10_000, 100)}
COLLECTION = 528_155


def make(folder: Path, n_runs: int, n_queries: int, depth: int) -> tuple[list[str], str]:
    """Write runs and judgments; the runs of a query share most of its documents."""
    rng = np.random.default_rng(8)
    query = np.repeat(np.arange(n_queries), depth)
    pools = rng.integers(COLLECTION, size=(n_queries, 3 * depth))
    runs = []
    for k in range(n_runs):
        chosen = np.argsort(rng.random(pools.shape) + 0.2 * np.arange(3 * depth) / depth, axis=1)
        documents = np.take_along_axis(pools, chosen[:, :depth], axis=1).ravel()
        score = np.sort(rng.gamma(3.0, 4.0, (n_queries, depth)).round(4), axis=1)[:, ::-1].ravel()
        frame = pd.DataFrame(
            {
                "query": query + 401, "Q0": "Q0", "document": documents, "score": score,
            }
        ).drop_duplicates(["query", "document"])  # fmt: skip
        frame["document"] = "FT-" + frame["document"].astype(str)
        frame.insert(3, "rank", frame.groupby("query").cumcount() + 1)
        frame["tag"] = f"run{k}"
        runs.append(str(folder / f"run{k}.txt"))
        frame.to_csv(runs[-1], sep=" ", header=False, index=False)
    judged = pools[:, : max(20, depth // 5)]
    frame = pd.DataFrame(
        {
            "query": np.repeat(np.arange(n_queries), judged.shape[1]) + 401, "iteration": 0,
            "document": judged.ravel(), "grade": rng.choice([0, 0, 0, 1, 2], judged.size),
        }
    ).drop_duplicates(["query", "document"])  # fmt: skip
    frame["document"] = "FT-" + frame["document"].astype(str)
    qrels = str(folder / "qrels.txt")
    frame.to_csv(qrels, sep=" ", header=False, index=False)
    return runs, qrels


def ours(runs: list[str], qrels: str) -> float:
    frame = rankeval_pd.read_trec(runs, qrels)
    return float(frame.rankeval.per_query(METRICS)["value"].sum())


def with_ir_measures(runs: list[str], qrels: str) -> float:
    asked = [ir_measures.parse_measure(name) for name in METRICS]
    evaluator = ir_measures.pytrec_eval.evaluator(asked, ir_measures.read_trec_qrels(qrels))
    found = [m for run in runs for m in evaluator.iter_calc(ir_measures.read_trec_run(run))]
    return sum(m.value for m in found)


def with_ranx(runs: list[str], qrels: str) -> float:
    from ranx import Qrels, Run, evaluate

    judged = Qrels.from_file(qrels, kind="trec")
    total = 0.0
    for path in runs:
        run = Run.from_file(path, kind="trec")
        evaluate(judged, run, RANX, make_comparable=True)
        total += sum(v for scores in run.scores.values() for v in scores.values())
    return total


def measure(
    name: str, work: Callable[[list[str], str], float], runs: list[str], qrels: str
) -> None:
    start, wall = time.process_time(), time.perf_counter()
    try:
        total = work(runs, qrels)
    except ImportError as error:
        print(f"{name:<24} not installed ({error})")
        return
    used, passed = time.process_time() - start, time.perf_counter() - wall
    print(f"{name:<24} {used:7.2f} CPU s {passed:7.2f} s   sum of values {total:.6f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?")
    asked = parser.parse_args().folder
    for title, size in SIZES.items():
        with tempfile.TemporaryDirectory(dir=asked) as folder:
            runs, qrels = make(Path(folder), *size)
            print(f"{title}, {len(METRICS)} metrics")
            measure("rankeval_pd", ours, runs, qrels)
            measure("rankeval_pd again", ours, runs, qrels)
            measure("ir_measures", with_ir_measures, runs, qrels)
            measure("ranx", with_ranx, runs, qrels)
            measure("ranx again", with_ranx, runs, qrels)


if __name__ == "__main__":
    main()
