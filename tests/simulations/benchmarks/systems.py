"""How fast is the paired bootstrap of all pairs, beside sacrebleu's paired test in the same run?"""

from __future__ import annotations

import argparse
import platform
import resource
import subprocess
import sys
import time
from importlib import metadata

import numpy as np
import pandas as pd

SYSTEMS, SEGMENTS = 16, 3_000


def texts() -> tuple[list[str], dict[str, list[str]]]:
    """Return references, and hypotheses in which each system keeps another share of the words."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{k}" for k in range(2_000)])
    chance = 1.0 / np.arange(1, words.size + 1)
    chance /= chance.sum()
    lengths = rng.integers(8, 40, SEGMENTS)
    truth = [rng.choice(words, size, p=chance) for size in lengths]
    hypotheses = {}
    for k in range(SYSTEMS):
        kept = 0.70 + 0.005 * k
        hypotheses[f"system {k}"] = [
            " ".join(np.where(rng.random(r.size) < kept, r, rng.choice(words, r.size, p=chance)))
            for r in truth
        ]
    return [" ".join(row) for row in truth], hypotheses


def statistics() -> tuple[pd.DataFrame, float]:
    """Return BLEU's statistics of every system and segment, and the seconds that they took."""
    from sacrebleu.metrics import BLEU

    counted = [f"{kind}_{n}" for kind in ("correct", "total") for n in (1, 2, 3, 4)]
    names = ["sys_len", "ref_len", *counted]
    references, hypotheses = texts()
    start = time.process_time()
    bleu = BLEU(references=[references])
    parts = {
        name: pd.DataFrame(np.array(bleu._extract_corpus_statistics(rows, None)), columns=names)
        for name, rows in hypotheses.items()
    }
    return pd.concat(parts, axis=1), time.process_time() - start


def ours(n_resamples: int) -> tuple[float, float]:
    """Return seconds and peak megabytes of all pairs, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", str(n_resamples)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    took, peak = done.stdout.split()
    return float(took), float(peak)


def one(n_resamples: int) -> None:
    """Time one call on given statistics."""
    import rankeval_pd  # noqa: F401

    data, _ = statistics()
    data.iloc[:50].rankeval(metric="bleu").paired_bootstrap(n_resamples=10)  # first imports
    start = time.process_time()
    data.rankeval(metric="bleu").paired_bootstrap(n_resamples=n_resamples)
    took = time.process_time() - start
    print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def theirs(n_samples: int, systems: int) -> float:
    """Return the seconds of sacrebleu's paired bootstrap against one baseline."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    references, hypotheses = texts()
    named = list(hypotheses.items())[:systems]
    start = time.process_time()
    PairedTest(
        named, {"BLEU": BLEU(references=[references])}, None, test_type="bs", n_samples=n_samples
    )()  # fmt: skip
    return time.process_time() - start


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--million", action="store_true", help="a million resamples too")
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return
    names = ("numpy", "pandas", "scipy", "sacrebleu")
    print(
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {metadata.version(name)}" for name in names)
    )
    pairs = SYSTEMS * (SYSTEMS - 1) // 2
    print(f"\n{SYSTEMS} systems x {SEGMENTS:,} segments x 10 statistics, BLEU, one run:\n")
    print("| work | seconds | peak MB | resamples per second and pair |")
    print("|---|---|---|---|")
    rates = []
    for size in (10_000, 1_000_000) if options.million else (10_000,):
        took, peak = ours(size)
        rates.append(size * pairs / took)
        what = f"ours, all {pairs} pairs, {size:,}"
        print(f"| {what} | {took:.2f} | {peak:,.0f} | {rates[-1]:,.0f} |")
    samples, systems = 1_000, 4
    extraction = statistics()[1] * systems / SYSTEMS
    took = theirs(samples, systems) - extraction
    rate = samples * (systems - 1) / took
    print(
        f"| sacrebleu's paired test, {systems - 1} pairs, {samples:,}, without the extraction of"
        f" statistics ({extraction:.1f} s) | {took:.2f} | | {rate:,.0f} |"
    )
    print(f"\nours / sacrebleu: {', '.join(f'{x / rate:,.0f}' for x in rates)}")


if __name__ == "__main__":
    main()
