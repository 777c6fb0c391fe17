"""Coverage of the intervals of partial areas and BEDROC, by simulation.

Scores are normal, those of positives higher by ``quality``; ``asked`` is the measure, the truth
that of the population with this prevalence. ``covers`` is the interval of the question, ``normal``
value -+ 1.96 se. Writes early.csv beside itself; a CPU minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from rankeval_pd.curves.early_retrieval import bedroc_columns, partial_columns
from rankeval_pd.stats.ranking import Ranking


def partial_truth(quality: float, most: float) -> float:
    """Return the mean true positive rate over false positive rates up to ``most``."""
    fpr = (np.arange(20_000) + 0.5) / 20_000 * most
    return float(special.ndtr(quality + special.ndtri(fpr)).mean())


def bedroc_truth(quality: float, prevalence: float, alpha: float) -> float:
    """Return the mean weight of the positives of a population, from none to the best."""
    score = quality + special.ndtri((np.arange(20_000) + 0.5) / 20_000)
    share = prevalence * special.ndtr(quality - score) + (1 - prevalence) * special.ndtr(-score)
    best = -np.expm1(-alpha * prevalence) / (alpha * prevalence)
    worst = best * np.exp(-alpha * (1.0 - prevalence))
    return float((np.exp(-alpha * share).mean() - worst) / (best - worst))


def run(positives, prevalence, quality, kind, asked, repetitions, seed=1):
    rng = np.random.default_rng(seed)
    total = round(positives / prevalence)
    gold, here = np.arange(total) < positives, np.ones((repetitions, total), bool)
    score = gold * quality + rng.normal(size=here.shape)
    if kind == "fpr":
        wanted = partial_truth(quality, asked)
        found = partial_columns(
            Ranking.of(score, gold, here), limits=(0.0, asked), turned=False, level=0.95
        )
        wanted = 0.5 * (1.0 + (wanted - 0.5 * asked) / (1.0 - 0.5 * asked))
    else:
        wanted = bedroc_truth(quality, positives / total, asked)
        found = bedroc_columns(Ranking.of(score, gold, here), alpha=asked, level=0.95)
    value = found["area" if kind == "fpr" else "value"]
    low, high, error = (found[name] for name in ("ci_low", "ci_high", "se"))
    return {
        "positives": positives, "prevalence": prevalence, "quality": quality,
        "asked": f"{kind}={asked:g}", "repetitions": repetitions,
        "truth": wanted, "mean": value.mean(),
        "covers": ((low <= wanted) & (wanted <= high)).mean(),
        "too_high": (low > wanted).mean(), "too_low": (high < wanted).mean(),
        "normal": (np.abs(value - wanted) <= 1.96 * error).mean(),
    }  # fmt: skip


def main() -> None:
    rows = []
    for positives in (5, 10, 30, 100):
        for prevalence in (0.01, 0.1, 0.5):
            for quality in (0.5, 1.0, 2.0):
                for kind, asked in (("fpr", 0.05), ("fpr", 0.2), ("alpha", 20.0), ("alpha", 80.5)):
                    if kind == "fpr" and positives / prevalence * (1 - prevalence) * asked < 1:
                        continue
                    size = positives / prevalence
                    repetitions = 3_000 if size <= 1_000 else 1_000 if size <= 3_000 else 400
                    rows.append(run(positives, prevalence, quality, kind, asked, repetitions))
                    print(rows[-1], flush=True, file=sys.stderr)
    table = pd.DataFrame(rows).round(4)
    table.to_csv(Path(__file__).with_name("early.csv"), index=False)


if __name__ == "__main__":
    main()
