"""The package beside its best peers on the same work: what, ours, the peer's call, its time.

Times are the processor's seconds of one thread: what else the machine does changes them little.
"""

import math
import resource
import tempfile
import time
from functools import partial
from pathlib import Path

import ir_measures
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats
from sklearn import metrics
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


def of_calls():
    """Time calls of notebooks and loops, and curves and areas of a million candidates."""
    df, large = datasets.simulate_candidates(5_000), datasets.simulate_candidates(1_000_000)
    rng = np.random.default_rng(1)
    items = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"])
    gold, scores = large["gold"].to_numpy(), large["good"].to_numpy()
    one = large[["gold", "good"]].rankeval
    sets = [pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"]) for _ in range(1_000)]
    together = pd.concat(sets, keys=range(1_000), names=["set", "item"])

    def gain(data):
        test = stats.ttest_rel(data["a"], data["b"])
        low, high = test.confidence_interval()
        mean = (data["a"] - data["b"]).mean()
        return {"gain": mean, "ci_low": low, "ci_high": high, "p_value": test.pvalue}

    def gains():
        return pd.DataFrame(map(gain, sets))

    def fisher():
        heads = [df.nlargest(100, name) for name in ("good", "fair")]
        only = [x.drop(y.index, errors="ignore")["gold"] for x, y in (heads, heads[::-1])]
        return stats.fisher_exact([[x.sum(), (~x).sum()] for x in only])

    def proportion():
        return proportion_confint(df.nlargest(100, "good")["gold"].sum(), 100, method="beta")

    def by_hand():
        axes = plt.figure().add_subplot()
        n = np.arange(1, len(df) + 1)
        for name in ("good", "fair"):
            tp = df.sort_values(name, ascending=False)["gold"].to_numpy().cumsum()
            axes.fill_between(n, *proportion_confint(tp, n, method="beta"), alpha=0.2)
            axes.plot(n, tp / n, label=name)
        axes.set_xscale("log")
        axes.legend()
        return axes

    asked = {
        "`compare(n=100)`, 5,000 candidates": (
            lambda: df.rankeval.compare("good", "fair", 100),
            "two `nlargest` and `scipy.stats.fisher_exact`", fisher,
        ),
        "`nbest_precision(100)`, 5,000 candidates": (
            lambda: df.rankeval.nbest_precision(100, measures="good"),
            "`nlargest` and `proportion_confint`", proportion,
        ),
        "`area()`, 5,000 candidates": (
            lambda: df.rankeval.area(measures="good"), "`roc_auc_score`, value only",
            lambda: metrics.roc_auc_score(df["gold"], df["good"]),
        ),
        "`plot.precision()`, 5,000 candidates, with drawing": (
            lambda: drawn(df.rankeval.plot.precision), "Matplotlib by hand",
            lambda: drawn(by_hand),
        ),
        "`nbest_precision(100)`, 1,000,000 candidates, 2 measures": (
            lambda: large.rankeval.nbest_precision(100), "two `argpartition`",
            lambda: [np.argpartition(-large[name].to_numpy(), 100) for name in ("good", "fair")],
        ),
        "`paired_permutation(test='t')`, 100 items": (
            lambda: items.rankeval.paired_permutation(test="t"), "`scipy.stats.ttest_rel`",
            lambda: stats.ttest_rel(items["a"], items["b"]),
        ),
        "1,000 such t tests with `by=`": (
            lambda: together.rankeval(by="set", label="item").paired_permutation(test="t"),
            "`ttest_rel` in a loop, with the interval and a table", gains,
        ),
        "1,000 such t tests in a loop": (
            lambda: pd.concat([x.rankeval.paired_permutation(test="t") for x in sets]),
            "`ttest_rel` in a loop, with the interval and a table", gains,
        ),
        "`roc`, 1,000,000 candidates": (
            one.roc, "`roc_curve`", lambda: metrics.roc_curve(gold, scores)
        ),
        "`precision_recall`, 1,000,000 candidates": (
            one.precision_recall, "`precision_recall_curve`",
            lambda: metrics.precision_recall_curve(gold, scores),
        ),
        "`area()`, 1,000,000 candidates": (
            one.area, "`roc_auc_score`, value only", lambda: metrics.roc_auc_score(gold, scores)
        ),
        "`area('ap')`, 1,000,000 candidates": (
            lambda: one.area("ap"), "`average_precision_score`, value only",
            lambda: metrics.average_precision_score(gold, scores),
        ),
    }  # fmt: skip
    rows = []
    for work, (ours, peer, theirs) in asked.items():
        ours(), theirs()  # what is imported at first use
        rows.append((work, seconds(ours, 7), peer, seconds(theirs, 7)))
    return rows


def drawn(plot):
    """Draw a plot into memory."""
    plot().figure.canvas.draw()
    plt.close("all")


def growth():
    """Return the work, three sizes, their seconds, and the exponent of the fitted power."""
    measures = {f"m{k}": 0.5 + 0.1 * k for k in range(9)}
    df = datasets.simulate_candidates(5_000, quality=measures)

    def first(count, frame=df):
        return frame[["gold", *list(measures)[:count]]].rankeval

    def of_size(n):
        return datasets.simulate_candidates(n).rankeval

    def of_items(n):
        return pd.DataFrame(np.random.default_rng(1).normal(size=(n, 2))).rankeval

    many = 100_000, 300_000, 1_000_000
    asked = {
        "`nbest_precision(100)`, candidates": (
            many, lambda n: partial(of_size(n).nbest_precision, 100)
        ),
        "`compare(n=100)`, candidates": (many, lambda n: partial(of_size(n).compare, n=100)),
        "`roc()`, candidates": (many, lambda n: of_size(n).roc),
        "`precision_recall()`, candidates": (many, lambda n: of_size(n).precision_recall),
        "`area()`, candidates": (many, lambda n: of_size(n).area),
        "`area('ap')`, candidates": (many, lambda n: partial(of_size(n).area, "ap")),
        "`compare_area()`, candidates": (many, lambda n: of_size(n).compare_area),
        "`paired_permutation(test='t')`, items": (
            many, lambda n: partial(of_items(n).paired_permutation, test="t")
        ),
        "`random_test(adjust='envelope')`, 6 measures, list sizes": (
            (300, 1_000, 3_000),
            lambda n: partial(first(6).random_test, range(10, n + 10), adjust="envelope"),
        ),
        "`compare(adjust='max-t')` at 451 n, pairs": (
            (10, 21, 36),
            lambda n: partial(
                first((1 + math.isqrt(8 * n + 1)) // 2).compare, n=range(50, 501), adjust="max-t"
            ),
        ),
        "`summary([50, 100])`, measures": (
            (3, 5, 7),
            lambda n: partial(first(n).summary, [50, 100]),
        ),
        "`compare_for` without overlap, list size": (
            (10_000, 1_000_000, 10_000_000),
            lambda n: partial(rankeval_pd.compare_for, 2 * n // 5, n, 3 * n // 10, n),
        ),
    }  # fmt: skip
    rows = []
    for work, (sizes, call) in asked.items():
        taken = [seconds(call(n), 2) for n in sizes]
        power = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
        rows.append((work, sizes, taken, power))
    return rows
