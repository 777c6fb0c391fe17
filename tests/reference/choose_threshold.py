"""How often is the promise of a chosen threshold broken? By simulation.

Scores are normal, those of positives higher by ``quality``; a promise is broken where precision or
recall in the population, above the chosen threshold, is below what was asked for, or Youden's J
below its lower limit. Beside precision the plain choice: the last threshold whose own one-sided
limit is above. ``found``: how often something is promised; else the call warns. Writes
choose_threshold.csv.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special, stats

from rankeval_pd.stats import ranks as rank_tests
from rankeval_pd.stats.ranking import Ranking


def plain(sets: rank_tests.Sets, wanted: float) -> int | None:
    low = stats.beta.ppf(0.05, sets.tp, sets.n - sets.tp + 1)
    passed = np.flatnonzero(low >= wanted)
    return int(passed[-1]) if passed.size else None


def run(total, prevalence, quality, question, wanted, repetitions=2_000):
    rng = np.random.default_rng(2)
    broken = {"chosen": 0, "plain": 0}
    found = 0
    for _ in range(repetitions):
        gold = rng.random(total) < prevalence
        score = rng.normal(size=total) + quality * gold
        sets = rank_tests.sets_of(Ranking.of(score, gold, np.ones(gold.size, dtype=bool)))
        promise = getattr(rank_tests, f"guaranteed_{question}")(sets, wanted, 0.95)
        chosen = promise.chosen
        found += chosen is not None
        others = {"plain": plain(sets, wanted)} if question == "precision" else {}
        for name, position in {"chosen": chosen, **others}.items():
            if position is None:
                continue
            cut = sets.threshold[position]
            recall, fallout = special.ndtr(quality - cut), special.ndtr(-cut)
            tp = prevalence * recall
            truth = {
                "precision": tp / (tp + (1 - prevalence) * fallout), "recall": recall,
                "youden": recall - fallout,
            }[question]  # fmt: skip
            broken[name] += truth < (promise.low if question == "youden" else wanted)
    return {
        "question": question, "wanted": wanted, "n_candidates": total, "prevalence": prevalence,
        "quality": quality, "repetitions": repetitions, "found": found / repetitions,
        "broken": broken["chosen"] / repetitions,
        "plain_broken": broken["plain"] / repetitions if question == "precision" else np.nan,
    }  # fmt: skip


def main() -> None:
    settings = [
        (300, 0.3, 1.5, "precision", 0.9),
        (1_000, 0.3, 1.5, "precision", 0.9),
        (5_000, 0.1, 2.0, "precision", 0.9),
        (1_000, 0.5, 0.0, "precision", 0.501),
        (1_000, 0.3, 1.5, "precision", 0.7),
        (1_000, 0.1, 2.0, "recall", 0.8),
        (300, 0.1, 1.0, "recall", 0.8),
        (1_000, 0.3, 1.5, "recall", 0.95),
        (120, 0.1, 1.5, "youden", 0.0),
        (200, 0.3, 1.0, "youden", 0.0),
        (300, 0.3, 1.5, "youden", 0.0),
        (300, 0.5, 0.0, "youden", 0.0),
        (1_000, 0.1, 1.0, "youden", 0.0),
        (1_000, 0.1, 2.0, "youden", 0.0),
    ]
    table = pd.DataFrame([run(*setting) for setting in settings]).round(4)
    table.to_csv(Path(__file__).with_name("choose_threshold.csv"), index=False)
    print(table.to_string())


if __name__ == "__main__":
    main()
