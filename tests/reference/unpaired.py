"""Size of the test of the areas of two independent samples, and coverage of its interval.

Scores are normal, those of positives higher by ``quality`` (and ``quality`` + .5 in the second
sample, for ``covers_other``); ``roc`` and ``ap`` are the two areas. The truth is that of the
population; of average precision with the prevalence of the samples, and ``..._without`` is the same
without the factor N+ / (N+ - 1) of its influences. Writes unpaired.csv beside itself; a CPU minute.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from average_precision import truth, without
from scipy import special

from rankeval_pd.curves.areas import AreaOptions, compare_samples, sample_area
from rankeval_pd.stats.ranking import Ranking


def run(sizes, quality, kind, repetitions=4_000, seed=1):
    rng = np.random.default_rng(seed)

    def sample(positive, negative, quality):
        gold = np.arange(positive + negative) < positive
        score = gold * quality + rng.normal(size=(repetitions, gold.size))
        return sample_area(Ranking.of(score, gold, np.ones(gold.size, bool)), kind=kind)

    def wanted(positive, negative, quality):
        if kind == "roc":
            return float(special.ndtr(quality / np.sqrt(2.0)))
        return truth(quality, positive / (positive + negative))

    options = AreaOptions(kind, "t", 0.95, "two-sided", adjust=None)
    first, second = sizes
    result = {"first": str(first), "second": str(second), "quality": quality, "kind": kind}

    def asked(name, better):
        a, b = sample(*first, quality), sample(*second, quality + better)
        cells = {column: np.stack([a[column], b[column]]) for column in a}
        found = compare_samples(cells, np.array([[0, 1]]), ["first", "second"], options)
        truly = wanted(*first, quality) - wanted(*second, quality + better)
        result[f"covers{name}"] = ((found["ci_low"] <= truly) & (truly <= found["ci_high"])).mean()
        if not better:
            result[f"errs{name}"] = (found["p_value"] <= 0.05).mean()

    asked("", 0.0)
    asked("_other", 0.5)
    if kind == "ap":
        rng = np.random.default_rng(seed)
        with without("rankeval_pd.stats.areas.influences"):
            asked("_without", 0.0)
    return result


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for sizes in (
        ((5, 50), (5, 50)), ((10, 90), (10, 90)), ((10, 90), (50, 450)), ((30, 30), (30, 30)),
        ((50, 200), (20, 80)),
    ):  # fmt: skip
        for quality in (0.0, 1.0, 2.0):
            rows.extend(run(sizes, quality, kind) for kind in ("roc", "ap"))
            print(rows[-2:], flush=True, file=sys.stderr)
    table = pd.DataFrame(rows).round(4)
    table.to_csv(Path(__file__).with_name("unpaired.csv"), index=False)


if __name__ == "__main__":
    main()
