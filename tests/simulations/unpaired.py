"""Size of the test of the areas of two independent samples, and coverage of its interval.

Scores are normal, those of positives higher by ``quality`` (and ``quality`` + .5 in the second
sample, for ``covers_other``); ``roc`` and ``ap`` are the two areas. The truth is that of the
population; of average precision with the prevalence of the samples, and ``..._without`` is the same
without the factor N+ / (N+ - 1) of its influences. A CPU minute.
"""

import numpy as np
from scipy import special

from rankeval_pd.curves.areas import AreaOptions, compare_samples, sample_area
from tests.simulations import study
from tests.simulations.average_precision import truth, without


def run(sizes, quality, kind, repetitions=4_000):
    options = AreaOptions(
        kind=kind, test="t", adjust=None, alternative="two-sided", alpha=0.05, level=0.95
    )
    first, second = sizes
    result = {"first": str(first), "second": str(second), "quality": quality, "kind": kind}

    def sample(rng, positive, negative, quality):
        gold = np.arange(positive + negative) < positive
        score = gold * quality + rng.normal(size=(repetitions, gold.size))
        return sample_area(study.ranking(score, gold), kind=kind)

    def wanted(positive, negative, quality):
        if kind == "roc":
            return float(special.ndtr(quality / np.sqrt(2.0)))
        return truth(quality, positive / (positive + negative))

    def asked(rng, name, better):
        a, b = sample(rng, *first, quality), sample(rng, *second, quality + better)
        cells = {column: np.stack([a[column], b[column]]) for column in a}
        found = compare_samples(cells, study.PAIR, ["first", "second"], options)
        truly = wanted(*first, quality) - wanted(*second, quality + better)
        result[f"covers{name}"] = study.held(found, truly)
        if not better:
            result[f"errs{name}"] = (found["p_value"] <= 0.05).mean()

    rng = np.random.default_rng(1)
    asked(rng, "", 0.0)
    asked(rng, "_other", 0.5)
    if kind == "ap":
        with without():
            asked(np.random.default_rng(1), "_without", 0.0)
    return result


def rows():
    for sizes in (
        ((5, 50), (5, 50)), ((10, 90), (10, 90)), ((10, 90), (50, 450)), ((30, 30), (30, 30)),
        ((50, 200), (20, 80)),
    ):  # fmt: skip
        for quality in (0.0, 1.0, 2.0):
            for kind in ("roc", "ap"):
                yield run(sizes, quality, kind)
