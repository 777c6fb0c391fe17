"""How often is the promise of a chosen threshold broken? By simulation.

Scores are normal, those of positives higher by ``quality``; a promise is broken where precision or
recall in the population, above the chosen threshold, is below what was asked for, or Youden's J
below its lower limit. Beside precision the plain choice: the last threshold whose own one-sided
limit is above. ``found``: how often something is promised; else the call warns.
"""

import numpy as np
from scipy import special, stats

from rankeval_pd.stats import ranks
from tests.simulations import study

SETTINGS = [
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


def plain(sets, wanted):
    low = stats.beta.ppf(0.05, sets.tp, sets.n - sets.tp + 1)
    passed = np.flatnonzero(low >= wanted)
    return int(passed[-1]) if passed.size else None


def truth(question, cut, quality, prevalence):
    """Return precision, recall or Youden's J of the population above a threshold."""
    tp, fp = study.beyond(cut, quality, prevalence)
    recall, fallout = special.ndtr(quality - cut), special.ndtr(-cut)
    return {"precision": tp / (tp + fp), "recall": recall, "youden": recall - fallout}[question]


def run(total, prevalence, quality, question, wanted, repetitions):
    rng = np.random.default_rng(2)
    broken, found = {"chosen": 0, "plain": 0}, 0
    for _ in range(repetitions):
        gold = rng.random(total) < prevalence
        score = rng.normal(size=total) + quality * gold
        sets = ranks.sets_of(study.ranking(score, gold))
        promise = getattr(ranks, f"guaranteed_{question}")(sets, wanted, 0.95)
        found += promise.chosen is not None
        places = {"chosen": promise.chosen}
        if question == "precision":
            places["plain"] = plain(sets, wanted)
        least = promise.low if question == "youden" else wanted
        for name, place in places.items():
            if place is not None:
                reached = truth(question, sets.threshold[place], quality, prevalence)
                broken[name] += reached < least
    return {
        "question": question, "wanted": wanted, "n_candidates": total, "prevalence": prevalence,
        "quality": quality, "repetitions": repetitions, "found": found / repetitions,
        "broken": broken["chosen"] / repetitions,
        "plain_broken": broken["plain"] / repetitions if question == "precision" else np.nan,
    }  # fmt: skip


def rows(samples=2_000):
    for setting in SETTINGS:
        yield run(*setting, samples)
