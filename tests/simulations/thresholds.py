"""Size, power and coverage of ``compare(threshold=...)``, default calls, with 2,000 samples each.

Two classifiers score the same candidates; latent scores are normal and correlate by .6 within a
class. ``of`` is compared at thresholds with these true sensitivities and specificities. "peer" is
the share of samples that McNemar's mid-p test rejects (of recall and specificity), or Kosinski's
(of precision; its default is Fisher's test of the regions). ``warned`` is the share of samples in
which the call warns: the sets differ by more than a tenth in size, and the test rejects. Seconds.
"""

from itertools import product

import numpy as np
from scipy import stats

from tests.simulations import study

SAMPLES = 2_000
RHO = 0.6
RATES = (  # sensitivity and specificity of a, then of b
    ((0.8, 0.8), (0.8, 0.8)),
    ((0.6, 0.95), (0.6, 0.95)),
    ((0.9, 0.7), (0.7, 0.7)),
    ((0.8, 0.9), (0.8, 0.75)),
    ((0.85, 0.9), (0.7, 0.8)),
)
ASKED = {
    "recall": {"of": "recall"}, "specificity": {"of": "specificity"}, "npv": {"of": "npv"},
    "precision": {}, "precision, kosinski": {"test": "kosinski"},
}  # fmt: skip


def drawn(rng, n, positive, rates):
    """Return samples of two scores of which those above 0 are accepted."""
    gold = np.arange(n) < positive
    common = rng.standard_normal((SAMPLES, n))
    scores = {}
    for name, (sensitivity, specificity) in zip("ab", rates, strict=True):
        mean = np.where(gold, stats.norm.ppf(sensitivity), -stats.norm.ppf(specificity))
        own = rng.standard_normal(common.shape)
        scores[name] = mean + RHO**0.5 * common + (1 - RHO) ** 0.5 * own
    return study.dataset(scores, gold)


def truth(of, prevalence, sensitivity, specificity):
    tp, fp = prevalence * sensitivity, (1 - prevalence) * (1 - specificity)
    tn, fn = (1 - prevalence) * specificity, prevalence * (1 - sensitivity)
    values = {"recall": sensitivity, "specificity": specificity, "npv": tn / (tn + fn)}
    return values.get(of, tp / (tp + fp))


def rows():
    settings = product(((120, 12), (120, 40), (400, 40), (400, 200)), RATES)
    for number, ((n, positive), rates) in enumerate(settings):
        ask = drawn(np.random.default_rng([32, number]), n, positive, rates).rankeval.compare
        found = {
            name: ask("a", "b", threshold={"a": 0.0, "b": 0.0}, **asked).isel(pair=0, cut=0)
            for name, asked in ASKED.items()
        }
        for name, table in found.items():
            true = truth(name, positive / n, *rates[0]) - truth(name, positive / n, *rates[1])
            significant = table["p_value"] <= 0.05
            peer = table["p_mid"] if name in ("recall", "specificity") else None
            warned = 0.0
            if name.startswith("precision"):
                peer = found["precision, kosinski"]["p_value"]
            if name == "precision":
                most = np.maximum(table["n_a"], table["n_b"])
                unequal = np.abs(table["n_a"] - table["n_b"]) > 0.1 * most
                warned = float((unequal & significant).mean())
            rejected, equal = float(significant.mean()), abs(true) < 1e-12
            yield {
                "of": name, "setting": f"{n} candidates, {positive} positives, rates {rates}",
                "size": rejected if equal else None, "power": None if equal else rejected,
                "peer": None if peer is None else float((peer <= 0.05).mean()),
                "coverage": study.held(table, true), "warned": warned, "samples": SAMPLES,
            }  # fmt: skip
