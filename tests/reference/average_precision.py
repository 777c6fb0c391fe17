"""Coverage of intervals of average precision, and the size of its paired test, by simulation.

Scores are normal, those of positives higher by ``quality``; the truth is the average precision of
the population with this prevalence, the mean that of samples of this size, which is higher where
positives are few. Writes average_precision.csv beside itself; some CPU minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from rankeval_pd.stats.rankings import average_precision as ap

Z = special.ndtri(0.975)


def truth(quality: float, prevalence: float) -> float:
    """Return the mean precision at the scores of positives, by 20,000 quantiles."""
    score = quality + special.ndtri((np.arange(20_000) + 0.5) / 20_000)
    tp = prevalence * special.ndtr(quality - score)
    fp = (1 - prevalence) * special.ndtr(-score)
    return float((tp / (tp + fp)).mean())


def bootstrap(score, gold, rng, draws=200):
    """Return percentile limits of resampled positives and others, on their own."""
    parts = [np.flatnonzero(gold == label) for label in (True, False)]
    rows = [np.hstack([rng.choice(part, part.size) for part in parts]) for _ in range(draws)]
    rows = np.array(rows)
    values = ap.influences(score[rows], gold[rows], np.ones(rows.shape, bool)).value
    return np.quantile(values, [0.025, 0.975])


def run(positives, prevalence, quality, repetitions, seed, resampled):
    rng = np.random.default_rng(seed)
    total = round(positives / prevalence)
    wanted, gold = truth(quality, positives / total), np.arange(total) < positives
    hits = {"logit": 0, "normal": 0, "bootstrap": 0, "test": 0}
    values, limits = [], []
    for repetition in range(repetitions):
        common = rng.normal(size=total)
        a, b = (gold * quality + np.sqrt(0.5) * (common + rng.normal(size=total)) for _ in range(2))
        here = np.ones(total, bool)
        found, other = (ap.influences(x, gold, here) for x in (a, b))
        error = ap.standard_error(found.influence, gold, here)
        low, high = ap.logit_limits(found.value, error, gold.sum(), 0.95)
        hits["logit"] += low <= wanted <= high
        limits.append((low, high))
        hits["normal"] += abs(found.value - wanted) <= Z * error
        pair = ap.standard_error(found.influence - other.influence, gold, here)
        hits["test"] += ap.p_value(found.value - other.value, pair, gold.sum()) <= 0.05
        values.append(found.value)
        if repetition < resampled:
            low, high = bootstrap(a, gold, rng)
            hits["bootstrap"] += low <= wanted <= high
    rates = {name: hits[name] / repetitions for name in ("logit", "normal", "test")}
    rates["bootstrap"] = hits["bootstrap"] / resampled if resampled else np.nan
    low, high = np.transpose(limits)
    of_mean = (low <= np.mean(values)) & (np.mean(values) <= high)
    return {
        "positives": positives, "prevalence": prevalence, "quality": quality,
        "repetitions": repetitions, "truth": wanted, "mean": np.mean(values),
        "logit_covers_mean": of_mean.mean(), "logit_covers": rates["logit"],
        "normal_covers": rates["normal"],
        "bootstrap_covers": rates["bootstrap"], "test_errs": rates["test"],
    }  # fmt: skip


def main() -> None:
    rows = []
    for positives in (10, 30, 100, 1_000):
        for prevalence in (0.01, 0.1, 0.5):
            for quality in (1.0, 2.0):
                size = positives / prevalence
                repetitions = 2_000 if size <= 3_000 else 500 if size <= 10_000 else 200
                resampled = 200 if size <= 1_000 else 0
                rows.append(run(positives, prevalence, quality, repetitions, 1, resampled))
                print(rows[-1], flush=True, file=sys.stderr)
    pd.DataFrame(rows).round(4).to_csv(
        Path(__file__).with_name("average_precision.csv"), index=False
    )


if __name__ == "__main__":
    main()
