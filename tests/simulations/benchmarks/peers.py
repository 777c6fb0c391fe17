"""The package beside its best peers on the same work: what, ours, the peer's call, its time.

Times are the processor's seconds of one thread: what else the machine does changes them little.
"""

import resource
import tempfile
import time
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import rankeval_pd
from rankeval_pd import datasets

CANDIDATES, SAMPLE = 100_000, 300  # a slow peer is timed on a sample of the list sizes


def seconds(work, repeat=3):
    """Return the processor's seconds of the shortest of some runs."""
    taken = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def peak_memory():
    """Return the peak megabytes of this process, without those of the one that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text("utf-8").splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def of_lists():
    df = datasets.simulate_candidates(CANDIDATES)
    total, positive = len(df), int(df["gold"].sum())
    rows = np.linspace(0, total - 1, SAMPLE).astype(int)
    compared = df.rankeval.compare("good", "fair", details=True)
    regions = compared[["tp_only_a", "n_only_a", "tp_only_b", "n_only_b"]].to_numpy()
    precision = df.rankeval.nbest_precision(measures="good")
    tp, n = precision["tp"].to_numpy(), precision["n"].to_numpy()

    def fisher():
        for row in rows:
            tp_a, n_a, tp_b, n_b = regions[row]
            stats.fisher_exact([[tp_a, n_a - tp_a], [tp_b, n_b - tp_b]])

    def quantiles():
        for row in rows:
            stats.hypergeom.ppf(0.95, total, positive, row + 1)

    extrapolated, whole = f"extrapolated from {SAMPLE} sizes", total / SAMPLE
    ask = df.rankeval
    return [
        (
            "`compare`, whole table", seconds(lambda: ask.compare("good", "fair")),
            f"loop of `scipy.stats.fisher_exact`, p-value only, {extrapolated}",
            seconds(fisher, 1) * whole,
        ),
        (
            "`random_bound`, all columns", seconds(lambda: ask.random_bound(0.05)),
            f"loop of `scipy.stats.hypergeom.ppf`, one column, {extrapolated}",
            seconds(quantiles, 1) * whole,
        ),
        (
            "`nbest_precision`, ranking and table",
            seconds(lambda: ask.nbest_precision(measures="good")),
            "statsmodels' `proportion_confint(method='beta')`, intervals only",
            seconds(lambda: proportion_confint(tp, n, method="beta")),
        ),
    ]  # fmt: skip


METRICS = ["P@10", "R@100", "RR", "AP", "nDCG", "nDCG@10", "Bpref"]
RUNS, QUERIES, DEPTH, COLLECTION = 17, 100, 1000, 528_155


def trec_files(folder):
    """Write runs and judgments; the runs of a query share most of its documents."""
    rng = np.random.default_rng(8)
    query = np.repeat(np.arange(QUERIES), DEPTH) + 401
    pools = rng.integers(COLLECTION, size=(QUERIES, 3 * DEPTH))
    runs = []
    for k in range(RUNS):
        chosen = np.argsort(rng.random(pools.shape) + 0.2 * np.arange(3 * DEPTH) / DEPTH, axis=1)
        documents = np.take_along_axis(pools, chosen[:, :DEPTH], axis=1).ravel()
        score = np.sort(rng.gamma(3.0, 4.0, (QUERIES, DEPTH)).round(4), axis=1)[:, ::-1].ravel()
        rank, tag = np.tile(np.arange(DEPTH), QUERIES), f"run{k}"
        run = {"query": query, "Q0": "Q0", "document": documents, "rank": rank, "score": score}
        runs.append(_written(folder / f"{tag}.txt", pd.DataFrame(run).assign(tag=tag)))
    judged = pools[:, : DEPTH // 5]
    grade = rng.choice([0, 0, 0, 1, 2], judged.size)
    query = np.repeat(np.arange(QUERIES), judged.shape[1]) + 401
    qrels = {"query": query, "iteration": 0, "document": judged.ravel(), "grade": grade}
    return runs, _written(folder / "qrels.txt", pd.DataFrame(qrels))


def _written(path, frame):
    frame = frame.drop_duplicates(["query", "document"])
    frame = frame.assign(document="FT-" + frame["document"].astype(str))
    frame.to_csv(path, sep=" ", header=False, index=False)
    return str(path)


def of_queries():
    """Time the way from TREC files to metrics of every query."""

    def ours(runs, qrels):
        return rankeval_pd.read_trec(runs, qrels).rankeval.per_query(METRICS)

    def theirs(runs, qrels):
        asked = [ir_measures.parse_measure(name) for name in METRICS]
        evaluator = ir_measures.pytrec_eval.evaluator(asked, ir_measures.read_trec_qrels(qrels))
        return [list(evaluator.iter_calc(ir_measures.read_trec_run(run))) for run in runs]

    with tempfile.TemporaryDirectory() as folder:
        runs, qrels = trec_files(Path(folder))
        ours(runs[:1], qrels)  # what is imported at first use
        took = [seconds(lambda ask=ask: ask(runs, qrels), 1) for ask in (ours, theirs)]
    title = f"{RUNS} runs x {QUERIES} queries x {DEPTH:,}"
    work = f"`read_trec` and `per_query`, {len(METRICS)} metrics, {title}"
    return [(work, took[0], "ir_measures", took[1])]


SYSTEMS, SEGMENTS = 4, 3_000


def texts():
    """Return references, and hypotheses in which each system keeps another share of the words."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{k}" for k in range(2_000)])
    chance = 1.0 / np.arange(1, words.size + 1)
    chance /= chance.sum()
    lengths = rng.integers(8, 40, SEGMENTS)
    truth = [rng.choice(words, size, p=chance) for size in lengths]

    def kept(row, share):
        stays = rng.random(row.size) < share
        return " ".join(np.where(stays, row, rng.choice(words, row.size, p=chance)))

    hypotheses = {
        f"system {k}": [kept(row, 0.70 + 0.005 * k) for row in truth] for k in range(SYSTEMS)
    }
    return [" ".join(row) for row in truth], hypotheses


def of_systems():
    """Time 1,000 resamples of three pairs, both without extraction of BLEU's statistics."""
    counted = [f"{kind}_{n}" for kind in ("correct", "total") for n in (1, 2, 3, 4)]
    references, hypotheses = texts()
    metric, parts = BLEU(references=[references]), {}

    def extract():
        for name, rows in hypotheses.items():
            found = np.array(metric._extract_corpus_statistics(rows, None))
            parts[name] = pd.DataFrame(found, columns=["sys_len", "ref_len", *counted])

    extraction = seconds(extract, 1)
    bleu = pd.concat(parts, axis=1).rankeval(metric="bleu")

    def ours():
        for k in (1, 2, 3):
            bleu.paired_bootstrap("system 0", f"system {k}", n_resamples=1_000, event="recentred")

    def theirs():
        metrics = {"BLEU": BLEU(references=[references])}
        PairedTest([*hypotheses.items()], metrics, None, test_type="bs", n_samples=1_000)()

    ours()
    work = f"`paired_bootstrap`, BLEU, 3 pairs x 1,000 resamples of {SEGMENTS:,} segments"
    peer = "sacrebleu's paired test, without extraction"
    return [(work, seconds(ours), peer, seconds(theirs, 1) - extraction)]
