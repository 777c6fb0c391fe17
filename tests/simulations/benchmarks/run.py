"""How fast is it, beside the best peer on the same work, and how does the cost grow?

Times are the processor's seconds of one thread: what else the machine does changes them little.
"""

import argparse
import platform
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import rankeval_pd
from rankeval_pd import datasets
from rankeval_pd.stats.distributions import Finite
from rankeval_pd.stats.random_model import bounds, parametric_bound


def seconds(work: Callable[[], object], repeat: int = 3) -> float:
    """Return the processor's seconds of the shortest of some runs."""
    taken = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def extrapolated(one: Callable[[int], object], rows: np.ndarray, total: int) -> float:
    """Return the time of ``total`` calls from that of the calls for the sample ``rows``."""
    start = time.process_time()
    for row in rows:
        one(int(row))
    return (time.process_time() - start) / rows.size * total


def against_peers(n_candidates: int, sample: int) -> list[tuple[str, float, str, float]]:
    """Time every n of ``n_candidates`` candidates: what, ours, the peer's call, the peer's time."""
    df = datasets.simulate_candidates(n_candidates)
    total, positive = len(df), int(df["gold"].sum())
    rows = np.linspace(0, total - 1, sample).astype(int)
    compared = df.rankeval.compare("good", "fair", details=True)
    regions = compared[["tp_only_a", "n_only_a", "tp_only_b", "n_only_b"]].to_numpy()

    def fisher(row: int) -> None:
        tp_a, n_a, tp_b, n_b = regions[row]
        stats.fisher_exact([[tp_a, n_a - tp_a], [tp_b, n_b - tp_b]])

    precision = df.rankeval.nbest_precision(measures="good")
    tp, n = precision["tp"].to_numpy(), precision["n"].to_numpy()
    return [
        (
            "`compare`, whole table",
            seconds(lambda: df.rankeval.compare("good", "fair")),
            f"loop of `scipy.stats.fisher_exact`, p-value only, extrapolated from {sample} sizes",
            extrapolated(fisher, rows, total),
        ),
        (
            "`random_bound`, all columns",
            seconds(lambda: df.rankeval.random_bound(0.05)),
            f"loop of `scipy.stats.hypergeom.ppf`, one column, extrapolated from {sample} sizes",
            extrapolated(
                lambda row: stats.hypergeom.ppf(0.95, total, positive, row + 1), rows, total
            ),
        ),
        (
            "`nbest_precision`, ranking and table",
            seconds(lambda: df.rankeval.nbest_precision(measures="good")),
            "statsmodels' `proportion_confint(method='beta')`, intervals only",
            seconds(lambda: proportion_confint(tp, n, method="beta")),
        ),
    ]


def recursion(total: int, positive: int, p: float) -> np.ndarray:
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


def random_model() -> list[tuple[str, float]]:
    """Time the bounds and envelopes of the random model: what, seconds."""
    million, n = Finite(1e6, 1e5), np.arange(1.0, 1e6 + 1.0)
    found = []
    for p in (0.05, 1e-17):
        found += [
            (
                f"discrete, interpolated, critical: every n of 1,000,000, p={p:g}",
                seconds(lambda p=p: bounds(p, n, million), 1),
            ),
            (
                f"parametric: every n of 1,000,000, p={p:g}",
                seconds(lambda p=p: parametric_bound(p, n, million.prior), 1),
            ),
        ]
    for total, positive in ((5_102, 566), (100_000, 10_000)):
        df = pd.DataFrame({"gold": np.arange(total) < positive})
        found += [
            (
                f"`random_envelope`: every n of {total:,} with {positive:,} positives",
                seconds(lambda df=df: df.rankeval.random_envelope(0.05), 1),
            ),
            (
                f"Macskassy's (2005) recursion, O(N+ N-), one bound: every n of {total:,}",
                seconds(lambda size=(total, positive): recursion(*size, 0.05), 1),
            ),
            (
                f"`random_bound`, the same bound and all other columns: every n of {total:,}",
                seconds(lambda df=df: df.rankeval.random_bound(0.05), 1),
            ),
        ]
    return found


GROWTH = {
    "nbest_precision": lambda df: df.rankeval.nbest_precision(),
    "compare": lambda df: df.rankeval.compare("good", "fair"),
    "random_bound, p = 0.05": lambda df: df.rankeval.random_bound(0.05),
    "random_bound, p = 1e-17": lambda df: df.rankeval.random_bound(1e-17),
    "random_test": lambda df: df.rankeval.random_test(),
    "roc": lambda df: df.rankeval.roc(),
    "crossovers": lambda df: df.rankeval.crossovers(0.05),
}
SIMULTANEOUS = {
    "compare(adjust='max-t'), 999 swaps": lambda df, n: df.rankeval.compare(
        "good", "fair", n, adjust="max-t"
    ),
    "precision_band, 1,000 draws": lambda df, n: df.rankeval(measures="good").precision_band(n),
    "difference_band, 1,000 draws": lambda df, n: df.rankeval.difference_band("good", "fair", n),
    "mean_difference, 9,999 swaps": lambda df, n: df.rankeval.mean_difference("good", "fair", n),
}


def grown(name: str, n_candidates: int) -> tuple[float, float]:
    """Return seconds and peak megabytes of one call in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", name, str(n_candidates)],
        capture_output=True,
        text=True,
        check=True,
    )
    took, peak = done.stdout.split()
    return float(took), float(peak)


def one(name: str, n_candidates: int) -> None:
    """Time one call and print seconds and peak memory."""
    df = datasets.simulate_candidates(n_candidates)
    GROWTH[name](df.head(50))  # what is imported at first use
    took = seconds(lambda: GROWTH[name](df), repeat=1)
    print(took, peak_memory())


def peak_memory() -> float:
    """Return the peak megabytes of this process, without those of the one that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text("utf-8").splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, metavar=("NAME", "N"), help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, default=100_000, help="candidates beside the peers")
    parser.add_argument("--sample", type=int, default=300, help="n on which slow peers are timed")
    options = parser.parse_args()
    if options.one:
        one(options.one[0], int(options.one[1]))
        return
    names = ("numpy", "pandas", "scipy", "statsmodels")
    print(
        f"rankeval_pd {rankeval_pd.__version__}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {metadata.version(name)}" for name in names)
    )
    print(f"\nEvery n of {options.size:,} candidates, one run:\n")
    print("| work | ours | peer | peer's time | times faster |")
    print("|---|---|---|---|---|")
    for what, ours, peer, theirs in against_peers(options.size, options.sample):
        print(f"| {what} | {ours:.2f} s | {peer} | {theirs:.1f} s | {theirs / ours:,.1f} |")
    print("\nThe random model, one run:\n")
    print("| work | time |")
    print("|---|---|")
    for what, taken in random_model():
        print(f"| {what} | {taken:.2f} s |")
    print("\nTwo measures, every n, seconds (and peak memory of the process, MB):\n")
    sizes = (10_000, 100_000, 1_000_000)
    print("| | " + " | ".join(f"N = {size:,}" for size in sizes) + " |")
    print("|---|" + "---|" * len(sizes))
    for name in GROWTH:
        cells = [grown(name, size) for size in sizes]
        print(f"| `{name}` | " + " | ".join(f"{s:.2f} s ({mb:,.0f})" for s, mb in cells) + " |")
    small, large = datasets.simulate_candidates(5_102), datasets.simulate_candidates(100_000)
    grid = np.linspace(100, 100_000, 1_000).astype(int)
    print("\nAll n jointly, seconds:\n")
    print("| | N = 5,102, 1,901 n | N = 100,000, 1,000 n |\n|---|---|---|")
    warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)  # of precise lists
    for name, work in SIMULTANEOUS.items():
        few = seconds(lambda work=work: work(small, range(100, 2001)))
        many = seconds(lambda work=work: work(large, grid), repeat=1)
        print(f"| `{name}` | {few:.2f} s | {many:.1f} s |")
    queries = pd.concat(
        {q: datasets.simulate_candidates(100, rng=q) for q in range(1_000)}, names=["query", None]
    ).reset_index("query")
    taken = seconds(lambda: queries.rankeval(by="query").compare("good", "fair", [5, 10]))
    print(f"\n`compare` at two n in each of 1,000 queries of 100 candidates: {taken:.2f} s")


if __name__ == "__main__":
    main()
