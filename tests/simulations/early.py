"""Coverage of the intervals of partial areas and BEDROC, by simulation.

Scores are normal, those of positives higher by ``quality``; ``asked`` is the measure, the truth
that of the population with this prevalence. ``covers`` is the interval of the question, ``normal``
value -+ 1.96 se. A CPU minute.
"""

from itertools import product

import numpy as np
from scipy import special

from rankeval_pd.curves.early_retrieval import bedroc_columns, partial_columns
from tests.simulations import study


def partial_truth(quality, most):
    """Return the partial area over false positive rates up to ``most``, McClish's form."""
    fpr = (np.arange(20_000) + 0.5) / 20_000 * most
    mean = float(special.ndtr(quality + special.ndtri(fpr)).mean())
    return 0.5 * (1.0 + (mean - 0.5 * most) / (1.0 - 0.5 * most))


def bedroc_truth(quality, prevalence, alpha):
    """Return the mean weight of the positives of a population, from none to the best."""
    score = quality + special.ndtri((np.arange(20_000) + 0.5) / 20_000)
    share = sum(study.beyond(score, quality, prevalence))
    best = -np.expm1(-alpha * prevalence) / (alpha * prevalence)
    worst = best * np.exp(-alpha * (1.0 - prevalence))
    return float((np.exp(-alpha * share).mean() - worst) / (best - worst))


def run(positives, prevalence, quality, kind, asked, repetitions):
    rng = np.random.default_rng(1)
    total = round(positives / prevalence)
    gold = np.broadcast_to(np.arange(total) < positives, (repetitions, total))
    ranking = study.ranking(gold * quality + rng.normal(size=gold.shape), gold)
    if kind == "fpr":
        wanted = partial_truth(quality, asked)
        found = partial_columns(ranking, limits=(0.0, asked), turned=False, level=0.95)
    else:
        wanted = bedroc_truth(quality, positives / total, asked)
        found = bedroc_columns(ranking, alpha=asked, level=0.95)
    value = found["area" if kind == "fpr" else "value"]
    low, high, error = (found[name] for name in ("ci_low", "ci_high", "se"))
    return {
        "positives": positives, "prevalence": prevalence, "quality": quality,
        "asked": f"{kind}={asked:g}", "repetitions": repetitions,
        "truth": wanted, "mean": value.mean(),
        "covers": study.covers(low, high, wanted).mean(),
        "too_high": (low > wanted).mean(), "too_low": (high < wanted).mean(),
        "normal": (np.abs(value - wanted) <= 1.96 * error).mean(),
    }  # fmt: skip


def rows():
    kinds = (("fpr", 0.05), ("fpr", 0.2), ("alpha", 20.0), ("alpha", 80.5))
    for positives, prevalence, quality, (kind, asked) in product(
        (5, 10, 30, 100), (0.01, 0.1, 0.5), (0.5, 1.0, 2.0), kinds
    ):
        size = positives / prevalence
        if kind == "alpha" or size * (1 - prevalence) * asked >= 1:
            repetitions = 3_000 if size <= 1_000 else 1_000 if size <= 3_000 else 400
            yield run(positives, prevalence, quality, kind, asked, repetitions)
